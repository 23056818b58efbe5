"""Graphs: which of those logged is asked for, and how to get at its GraphDef."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tbframe.errors import EventFileError, UnknownNameError
from tbframe.events import values
from tbframe.events.messages import message_class
from tbframe.events.payloads import payloads
from tbframe.events.tensors import to_array
from tbframe.kinds.catalog import Catalog
from tbframe.kinds.graph import Graph
from tbframe.kinds.keras_graph import keras_graph
from tbframe.names import choose

__all__ = ["parsed", "read", "string_of"]

_OP_GRAPHS_AND_STATS: Final = "graph_run_metadata"
_KERAS: Final = "graph_keras_model"


class _Candidate(NamedTuple):
    """A row that holds a graph."""

    run: str
    tag: str
    step: int
    place: int
    """Where it stands in the stream of its run."""
    row: int
    """Its number in the table."""
    what: int
    plugin: str


def read(catalog: Catalog, run: str | None = None, tag: str | None = None, step: int | None = None) -> Graph:
    """Read a graph.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    run : str, optional
        Its run; needed if several have graphs.
    tag : str, optional
        The tag of a traced function's graphs (of several, TensorBoard puts ``graph_<i>/`` before the names of each) or
        of a Keras model; ``"__run_graph__"`` for the run's graph, ``""`` for that in a MetaGraphDef. Default: the run's
        graph, else that in its MetaGraphDef, else the only tag.
    step : int, optional
        Its step. Default: the highest.

    Returns
    -------
    Graph
        Of several at one step the last written. Empty if the log holds no graph at all and none was named.

    Raises
    ------
    UnknownNameError
        If there is no such run or tag, or it has no graph.
    ValueError
        If several runs or tags have graphs and none was named, or there is none at that step.
    EventFileError
        If what was logged is no graph.
    """
    candidates = _candidates(catalog)
    if run is not None:
        choose(catalog.runs, run, "run")
    if not candidates and run is None and tag is None and step is None:
        return Graph(message_class("GraphDef")())
    run = _named("run", "run with a graph", run, list(dict.fromkeys(candidate.run for candidate in candidates)))
    some = [candidate for candidate in candidates if candidate.run == run]
    tags = list(dict.fromkeys(candidate.tag for candidate in some))
    preferred = [
        candidate.tag for what in (values.GRAPH, values.META_GRAPH) for candidate in some if candidate.what == what
    ]
    if tag is None and preferred:
        tag = preferred[0]
    tag = _named("tag", f"graph in run {run!r} of tag", tag, tags)
    some = [candidate for candidate in some if candidate.tag == tag]
    if step is not None:
        steps = sorted({candidate.step for candidate in some})
        some = [candidate for candidate in some if candidate.step == step]
        if not some:
            raise ValueError(f"step={step!r}: run {run!r}, tag {tag!r} has graphs at the steps {steps}")
    return _load(catalog, max(some, key=lambda candidate: (candidate.step, candidate.place)))


def _named(what: str, described: str, wanted: str | None, known: list[str]) -> str:
    """Return the name asked for, or the only one there is."""
    if wanted is None and len(known) == 1:
        return known[0]
    if wanted is None:
        names = ", ".join(map(repr, known[:10])) + (", ..." if len(known) > 10 else "")
        raise ValueError(f"{len(known)} {what}s have graphs: name one of them, {what}=... {names}")
    if not isinstance(wanted, str):
        raise TypeError(f"{what}={wanted!r}: expected a name, found {type(wanted).__name__}")
    if wanted not in known:
        raise UnknownNameError.of(described, wanted, known)
    return wanted


def _candidates(catalog: Catalog) -> list[_Candidate]:
    """List every row that holds a graph."""
    found = []
    for kind in ("graph", "node_stats"):
        selection = catalog.select(kind, None, None, "keep")
        what, step = (catalog.table[name][selection.rows].tolist() for name in ("what", "step"))
        for i, (row, place) in enumerate(zip(selection.rows.tolist(), selection.places.tolist(), strict=True)):
            run, tag = int(catalog.run[place]), int(catalog.tag[place])
            plugin = catalog.metadata_of(run, tag).plugin
            if kind == "graph" or plugin == _OP_GRAPHS_AND_STATS:
                found.append(_Candidate(catalog.runs[run], catalog.tags[tag], step[i], place, row, what[i], plugin))
    return found


def _load(catalog: Catalog, candidate: _Candidate) -> Graph:
    """Read the bytes of a graph and parse them."""
    row = candidate.row
    file = next(file for file in catalog.files if file.code == catalog.table["file"][row])
    (data,) = payloads({file.code: file}, catalog.table, np.array([row]))
    offset = int(catalog.table["record"][row])
    where = f"the graph of run {candidate.run!r}, tag {candidate.tag!r}, step {candidate.step}"
    if data is None:
        raise EventFileError(file.path, offset, f"{where} is in a damaged record")
    try:
        message, merged = _parse(data, candidate)
    except ValueError as error:
        raise EventFileError(file.path, offset, f"{where} cannot be read: {error}") from error
    wall_time = float(catalog.table["wall_time"][row])
    return Graph(message, candidate.run, candidate.tag, candidate.step, wall_time, merged=merged)


def _parse(data: bytes, candidate: _Candidate) -> tuple[Any, bool]:
    """Get the GraphDef out of what was logged, and tell whether it was merged from several."""
    if candidate.what == values.GRAPH:
        return parsed("GraphDef", data), False
    if candidate.what == values.META_GRAPH:
        return parsed("MetaGraphDef", data).graph_def, False
    content = string_of(data)
    if candidate.plugin == _KERAS:
        return keras_graph(content), False
    graphs = [functions.pre_optimization_graph for functions in parsed("RunMetadata", content).function_graphs]
    return _merged(graphs), len(graphs) > 1


def string_of(data: bytes) -> bytes:
    """Return the string that TensorFlow's graph plugins log: a tensor of one.

    Parameters
    ----------
    data : bytes
        A serialized TensorProto.

    Returns
    -------
    bytes
        The string.

    Raises
    ------
    ValueError
        If the tensor is no string, or several.
    """
    array = to_array(data)
    if array.dtype != object or array.size != 1:
        raise ValueError(f"expected a tensor of one string, found {array.dtype} of shape {list(array.shape)}")
    content: bytes = array.reshape(-1)[0]
    return content


def parsed(name: str, data: bytes) -> Any:  # noqa: ANN401 - a protobuf message
    """Parse a message.

    Parameters
    ----------
    name : str
        Its class, see `tbframe.events.messages`.
    data : bytes
        The serialized message.

    Returns
    -------
    message
        The message.

    Raises
    ------
    ValueError
        If the bytes are no such message.
    """
    from google.protobuf.message import DecodeError

    try:
        return message_class(name).FromString(data)
    except DecodeError as error:
        raise ValueError(f"the {len(data):,} bytes are no {name}, or one that is nested too deeply") from error


def _merged(graphs: list[Any]) -> Any:  # noqa: ANN401 - protobuf messages
    """Put the graphs of a trace into one.

    TensorBoard's rule: ``graph_<i>/`` before the names of nodes and inputs, ``graph_<i>_`` before those of functions.
    It refuses graphs of different versions; here the first one's is kept.
    """
    if len(graphs) == 1:
        return graphs[0]
    whole = message_class("GraphDef")()
    if graphs and graphs[0].versions.producer:
        whole.versions.CopyFrom(graphs[0].versions)
    for i, graph in enumerate(graphs, 1):
        for node in graph.node:
            added = whole.node.add()
            added.CopyFrom(node)
            added.name = f"graph_{i}/{node.name}"
            added.input[:] = [f"graph_{i}/{name}" for name in node.input]
            if node.op == "PartitionedCall" and "f" in node.attr:
                added.attr["f"].func.name = f"graph_{i}_{node.attr['f'].func.name}"
        for function in graph.library.function:
            whole.library.function.add().CopyFrom(function)
            whole.library.function[-1].signature.name = f"graph_{i}_{function.signature.name}"
        for gradient in graph.library.gradient:
            names = gradient.function_name, gradient.gradient_func
            whole.library.gradient.add(function_name=f"graph_{i}_{names[0]}", gradient_func=f"graph_{i}_{names[1]}")
    return whole
