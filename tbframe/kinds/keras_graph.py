"""The JSON of a Keras model as a graph of its layers, as TensorBoard draws it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tbframe.events.messages import message_class
from tbframe.events.tensors import dtype_name

__all__ = ["keras_graph"]

_DTYPES: Final = {dtype_name(number): number for number in (*range(1, 20), 22, 23)} | {
    "half": 19,
    "float": 1,
    "double": 2,
}


class _Reference(NamedTuple):
    """An output of a layer that another layer takes."""

    layer: str
    output: int


def keras_graph(text: str | bytes) -> Any:  # noqa: ANN401 - a protobuf message
    """Turn a Keras model into a graph: a node for each layer, named after the models it is in.

    TensorBoard's rules, with three edges more that it loses: those of models written by Keras 2, those of layers called
    with keyword arguments, and those between two models, or into a model of several inputs, inside a model.

    Parameters
    ----------
    text : str or bytes
        What ``model.to_json()`` returns, of Keras 2 or 3.

    Returns
    -------
    message
        A GraphDef. Nodes have no op, but the attributes ``keras_class`` and, if it is the name of one, ``dtype``.

    Raises
    ------
    ValueError
        If it is no JSON of a model.
    """
    try:
        model = json.loads(text)
        builder = _Builder()
        builder.add(model, "")
    except RecursionError as error:
        raise ValueError("the model's JSON is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"the model is no JSON: {error}") from error
    return builder.graph


class _Builder:
    """Adds layers in their order."""

    def __init__(self) -> None:
        self.graph: Any = message_class("GraphDef")()
        self._outputs: dict[str, list[_Reference]] = {}
        """What a model inside another one gives out."""
        self._inputs: dict[str, str] = {}
        """What a layer takes that is the input of its model."""
        self._previous: str | None = None
        """The layer before: in a sequential model its successor takes what it gives out."""

    def add(self, layer: Any, scope: str) -> None:  # noqa: ANN401 - what JSON can hold
        """Add a layer, or a model and the layers in it."""
        config = layer.get("config") if isinstance(layer, dict) else None
        name = config.get("name") if isinstance(config, dict) else None
        if not isinstance(config, dict) or not isinstance(name, str):
            raise ValueError(
                f"the model's JSON has a layer without a config or name{f' in {scope!r}' if scope else ''}"
            )
        whole = f"{scope}/{name}" if scope else name
        if isinstance(config.get("layers"), list):
            self._add_model(whole, scope, layer)
        else:
            self._add_layer(whole, scope, layer)

    def _add_model(self, name: str, scope: str, model: dict[str, Any]) -> None:
        config = model["config"]
        layers = config["layers"]
        taken = [self._resolve(scope, reference) for reference in _references(model.get("inbound_nodes"))]
        inputs, outputs = (_ends(config.get(key)) for key in ("input_layers", "output_layers"))
        if inputs and outputs:
            sources = taken or ([self._previous] if self._previous is not None and len(inputs) == 1 else [])
            for to, source in zip(inputs, sources, strict=False):  # a model may be called more than once
                self._inputs[f"{name}/{to.layer}"] = source
            self._outputs[name] = [_Reference(f"{name}/{output.layer}", output.output) for output in outputs]
        else:
            if taken:
                self._previous = taken[0]
            if layers and isinstance(layers[-1], dict):
                last = layers[-1].get("config", {}).get("name")
                self._outputs[name] = [_Reference(f"{name}/{last}", 0)]
        for layer in layers:
            self.add(layer, name)

    def _add_layer(self, name: str, scope: str, layer: dict[str, Any]) -> None:
        node = self.graph.node.add(name=name)
        if layer.get("class_name") is not None:
            node.attr["keras_class"].s = str(layer["class_name"]).encode()
        dtype = layer["config"].get("dtype")
        if isinstance(dtype, dict):  # a policy
            dtype = dtype.get("config", {}).get("name")
        if isinstance(dtype, str) and dtype in _DTYPES:
            node.attr["dtype"].type = _DTYPES[dtype]
        if layer.get("inbound_nodes") is not None:
            node.input.extend(self._resolve(scope, reference) for reference in _references(layer["inbound_nodes"]))
        elif self._previous is not None:
            node.input.append(self._previous)
        if name in self._inputs:
            node.input.append(self._inputs[name])
        self._previous = name

    def _resolve(self, scope: str, reference: _Reference) -> str:
        """Find the layer that gives out what a reference names, which may be a model."""
        name, output = f"{scope}/{reference.layer}" if scope else reference.layer, reference.output
        while name in self._outputs:
            # The number of an output may belong to another call of the model than the one whose outputs are listed.
            some = self._outputs[name]
            name, output = some[output] if output < len(some) else some[-1]
        return name


def _ends(layers: Any) -> list[_Reference]:  # noqa: ANN401 - what JSON can hold
    """Return the layers at one end of a model, listed as references or by name."""
    by_name = [_Reference(layer, 0) for layer in layers if isinstance(layer, str)] if isinstance(layers, list) else []
    return list(_references(layers)) or by_name


def _references(inbound: Any) -> Iterator[_Reference]:  # noqa: ANN401 - what JSON can hold
    """Find references in what a layer is called with: Keras 3 wraps each in a tensor's config, Keras 2 lists it."""
    if isinstance(inbound, dict):
        config = inbound.get("config")
        history = config.get("keras_history") if isinstance(config, dict) else None
        if isinstance(history, list) and _is_reference(history):
            yield _Reference(history[0], history[2])
        else:
            for value in inbound.values():
                yield from _references(value)
    elif isinstance(inbound, list):
        if _is_reference(inbound):
            yield _Reference(inbound[0], inbound[2])
            inbound = inbound[3:]  # Keras 2 has the keyword arguments here
        for value in inbound:
            yield from _references(value)


def _is_reference(value: list[Any]) -> bool:
    """Tell whether a list is [layer, call, output, ...]."""
    return [type(part) for part in value[:3]] == [str, int, int]
