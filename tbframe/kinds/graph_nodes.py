"""A GraphDef as two frames: its nodes, and its edges."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from tbframe.events.tensors import dtype_name, to_array
from tbframe.kinds.filling import Filling

__all__ = ["edges_frame", "nodes_frame", "shape_of_message"]

_OUTPUT: Final = re.compile(r"(.*?)(?::\w+)?:(\d+)", re.DOTALL)
"""A node's output: ``name:0``; between the nodes of a function ``name:argument:0``."""
_CONTROL_SLOT: Final = -1
_MANY_ELEMENTS: Final = 1 << 12
"""Of a constant that claims more elements than this, and lists one, only that one is made."""


def nodes_frame(graph: Any) -> pd.DataFrame:  # noqa: ANN401 - a protobuf message
    """Tabulate the nodes of a graph.

    Parameters
    ----------
    graph : message
        A GraphDef.

    Returns
    -------
    pandas.DataFrame
        In the order of the graph: ``name``, ``op``, ``device``, ``scope`` (str: the name up to its last ``/``),
        ``depth`` (int64: how many scopes the node is in) and ``attributes`` (dict of str to bool, int, float, str,
        bytes, tuple for a shape, ndarray for a tensor, dict for a function, or a list of these).
    """
    nodes, attributes = graph.node, _Attributes()
    names = [node.name for node in nodes]
    return pd.DataFrame(
        {
            "name": pd.Series(names, dtype=object),
            "op": pd.Series([node.op for node in nodes], dtype=object),
            "device": pd.Series([node.device for node in nodes], dtype=object),
            "scope": pd.Series([name.rpartition("/")[0] for name in names], dtype=object),
            "depth": np.array([name.count("/") for name in names], np.int64),
            "attributes": pd.Series([attributes.read(node.attr) for node in nodes], dtype=object),
        }
    )


def edges_frame(graph: Any, *, merged: bool = False) -> pd.DataFrame:  # noqa: ANN401 - a protobuf message
    """Tabulate the inputs of all nodes of a graph.

    Parameters
    ----------
    graph : message
        A GraphDef.
    merged : bool
        Whether TensorBoard's ``graph_<i>/`` was put before every name, also before the ``^`` of a control input.

    Returns
    -------
    pandas.DataFrame
        One row per input, in the order of the graph: ``source`` (str: the node it comes from, which need not exist),
        ``output`` (int64: which output of it; -1 for a control input, as TensorFlow numbers it), ``target`` (str),
        ``position`` (int64: place among the target's inputs), ``control`` (bool).
    """
    inputs = [list(node.input) for node in graph.node]
    size = np.array([len(some) for some in inputs], np.int64)
    target = np.array([*(node.name for node in graph.node), ""], dtype=object)[:-1]  # an array even of none
    texts = [text for some in inputs for text in some]
    if merged:
        texts = ["^" + text.replace("/^", "/", 1) if "/^" in text else text for text in texts]
    control = np.array([text.startswith("^") for text in texts], bool)
    source, output = [], np.zeros(len(texts), np.int64)
    for i, text in enumerate(texts):
        name = text
        if control[i]:
            name, output[i] = text[1:], _CONTROL_SLOT
        elif ":" in text and (match := _OUTPUT.fullmatch(text)):
            name, output[i] = match[1], int(match[2])
        source.append(name)
    return pd.DataFrame(
        {
            "source": pd.Series(source, dtype=object),
            "output": output,
            "target": pd.Series(np.repeat(target, size), dtype=object),
            "position": np.arange(len(texts)) - np.repeat(np.cumsum(size) - size, size),
            "control": control,
        }
    )


class _Attributes:
    """Reads the attributes of nodes, and counts what short constants are filled up with."""

    def __init__(self) -> None:
        self._filling = Filling()
        self._read = {**_READ, "tensor": self._tensor, "func": self._function}

    def read(self, attributes: Any) -> dict[str, Any]:  # noqa: ANN401 - a protobuf map
        """Turn a map of attributes into plain values."""
        return {name: self._one(attributes[name]) for name in sorted(attributes)}  # a map has no order of its own

    def _one(self, value: Any) -> Any:  # noqa: ANN401 - a protobuf message, and what it can hold
        member = value.WhichOneof("value")
        if member is None:
            return None
        held = getattr(value, member)
        if member == "list":
            return [self._read[field.name](item) for field, items in held.ListFields() for item in items]
        return self._read[member](held)

    def _function(self, function: Any) -> dict[str, Any]:  # noqa: ANN401 - a protobuf message
        return {"name": function.name, "attributes": self.read(function.attr)}

    def _tensor(self, tensor: Any) -> Any:  # noqa: ANN401 - a protobuf message, and an array or what is known of it
        """Decode a tensor; of a large one that is filled with one value no element is made but that."""
        shape = shape_of_message(tensor.tensor_shape)
        count = 0 if shape is None else math.prod(shape)
        try:
            one = _one_value(tensor) if count > max(_MANY_ELEMENTS, tensor.ByteSize()) else None
            return self._filling.to_array(tensor) if one is None else np.broadcast_to(one, shape or ())
        except ValueError as error:
            return f"<{dtype_name(tensor.dtype)} {list(shape) if shape else 'tensor'}: {error}>"


def _one_value(tensor: Any) -> Any:  # noqa: ANN401 - a protobuf message, and an array
    """Return the value that a tensor is filled with, or None if it lists several."""
    value = type(tensor)()
    value.CopyFrom(tensor)
    value.tensor_shape.Clear()
    try:
        return to_array(value)
    except ValueError:  # says the same of the whole tensor
        return None


def _same(value: Any) -> Any:  # noqa: ANN401 - a number or text
    return value


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def shape_of_message(shape: Any) -> tuple[int, ...] | None:  # noqa: ANN401 - a protobuf message
    """Read a shape.

    Parameters
    ----------
    shape : message
        A TensorShapeProto.

    Returns
    -------
    tuple of int or None
        The dimensions, -1 where one is unknown; None if the rank is.
    """
    return None if shape.unknown_rank else tuple([dim.size for dim in shape.dim])


_READ: Final[dict[str, Callable[[Any], Any]]] = {
    "s": _text,
    "i": _same,
    "f": _same,
    "b": _same,
    "type": dtype_name,
    "shape": shape_of_message,
    "placeholder": _same,
}
