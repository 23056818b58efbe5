"""A graph: its nodes and edges as frames, and what else can be made of it."""

from __future__ import annotations

import functools
import gzip
import importlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, overload

import pandas as pd

from tbframe.errors import UnknownNameError
from tbframe.events.messages import message_class
from tbframe.kinds.graph_nodes import edges_frame, nodes_frame
from tbframe.kinds.graph_overview import collapse

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

__all__ = ["Graph", "Overview"]

_ARGUMENT: Final = "input_arg"
"""The op of a node that stands for a function's argument, as TensorBoard calls it."""


class Graph:
    """A graph of operations, or of the layers of a Keras model.

    `tbframe.graph` returns one.

    Parameters
    ----------
    message : message
        A GraphDef.
    run, tag : str
        Where it was logged.
    step : int
        Its step.
    wall_time : float
        When it was logged, seconds since the epoch.
    merged : bool
        Whether several graphs were put into one, see `tbframe.graph`.

    Examples
    --------
    >>> message = message_class("GraphDef")()
    >>> for name, *inputs in (("net/x",), ("net/y", "net/x"), ("loss", "net/y:1", "^net/x")):
    ...     _ = message.node.add(name=name, input=inputs)
    >>> graph = Graph(message)
    >>> graph.edges[["source", "output", "target", "control"]]
      source  output target  control
    0  net/x       0  net/y    False
    1  net/y       1   loss    False
    2  net/x      -1   loss     True
    >>> graph.collapse(1).edges[["source", "target", "edges", "control"]]
      source target  edges  control
    0    net   loss      1        1
    """

    def __init__(
        self,
        message: Any,  # noqa: ANN401 - a protobuf message
        run: str = "",
        tag: str = "",
        step: int = 0,
        wall_time: float = math.nan,
        *,
        merged: bool = False,
    ) -> None:
        self._message, self._merged = message, merged
        self.run, self.tag, self.step, self.wall_time = run, tag, step, wall_time

    def __repr__(self) -> str:
        where = f" of run {self.run!r}, tag {self.tag!r}" if self.run else ""
        return f"<tbframe.Graph{where}: {len(self._message.node):,} nodes, {len(self.edges):,} edges>"

    @functools.cached_property
    def nodes(self) -> pd.DataFrame:
        """The nodes in the order logged.

        ``name``, ``op``, ``device``, ``scope`` (str, the name up to its last ``/``), ``depth`` (int64, how many scopes it
        is in), ``attributes`` (dict: bool, int, float, str, bytes, a tuple for a shape, an ndarray for a tensor, a dict for
        a function, or a list of these).
        """
        return nodes_frame(self._message)

    @functools.cached_property
    def edges(self) -> pd.DataFrame:
        """The inputs of all nodes in the order logged, also those whose source does not exist.

        ``source`` (str), ``output`` (int64: which output of the source; -1 for a control input), ``target`` (str),
        ``position`` (int64: place among the target's inputs), ``control`` (bool).
        """
        return edges_frame(self._message, merged=self._merged)

    @property
    def functions(self) -> list[str]:
        """The names of the functions in the graph's library."""
        return [function.signature.name for function in self._message.library.function]

    def function(self, name: str) -> Graph:
        """Return the body of a function of the graph's library.

        Parameters
        ----------
        name : str
            One of `functions`.

        Returns
        -------
        Graph
            Its arguments (nodes of the op ``input_arg``) and its nodes.

        Raises
        ------
        UnknownNameError
            If there is no function of that name.
        """
        for function in self._message.library.function:
            if function.signature.name == name:
                break
        else:
            raise UnknownNameError.of("function", name, self.functions)
        body = message_class("GraphDef")()
        for argument in function.signature.input_arg:
            body.node.add(name=argument.name, op=_ARGUMENT)
        body.node.extend(function.node_def)
        return Graph(body, self.run, self.tag, self.step, self.wall_time)

    def to_bytes(self) -> bytes:
        """Return the serialized GraphDef.

        Returns
        -------
        bytes
            For ``tf.compat.v1.GraphDef.FromString``.
        """
        return bytes(self._message.SerializeToString(deterministic=True))

    @overload
    def to_pbtxt(self, *, gzipped: Literal[False] = ...) -> str: ...
    @overload
    def to_pbtxt(self, *, gzipped: Literal[True]) -> bytes: ...
    def to_pbtxt(self, *, gzipped: bool = False) -> str | bytes:
        """Write the GraphDef in protobuf's text format, as TensorBoard serves it.

        Parameters
        ----------
        gzipped : bool
            Whether to compress it.

        Returns
        -------
        str or, with `gzipped`, bytes
            What TensorBoard's graph page takes as a file.
        """
        from google.protobuf import text_format

        text: str = text_format.MessageToString(self._message)
        return gzip.compress(text.encode(), mtime=0) if gzipped else text

    def collapse(self, depth: int = 1, *, fold: bool = True) -> Overview:
        """Collapse scopes, as TensorBoard's overview does.

        Parameters
        ----------
        depth : int
            How many scopes deep the result goes: at 1, every scope at the top is one box.
        fold : bool
            TensorBoard's rule for constants and summaries: a ``Const`` belongs to the nodes that take it, a
            ``...Summary`` to the node that it shows; neither counts as an operation, and the edges into them go on to
            those nodes. False counts every node.

        Returns
        -------
        Overview
            Its boxes and the edges between them. Several inputs in a row from one node are one edge, as in TensorBoard;
            edges that begin nowhere, and those inside a box, are left out.

        Raises
        ------
        ValueError
            If `depth` is less than 1.
        """
        if isinstance(depth, bool) or not isinstance(depth, int):
            raise TypeError(f"depth={depth!r}: expected an int, found {type(depth).__name__}")
        if depth < 1:
            raise ValueError(f"depth={depth!r}: expected at least 1, the scopes at the top")
        return Overview(*collapse(self.nodes, self.edges, depth, fold=fold))

    def to_networkx(self) -> nx.MultiDiGraph:
        """Convert the graph for NetworkX.

        Returns
        -------
        networkx.MultiDiGraph
            Nodes by name, with ``op``, ``device`` and ``attributes`` where the node exists; edges with ``output``,
            ``position`` and ``control``.

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        graph = _networkx("to_networkx()").MultiDiGraph()
        columns = ["op", "device", "attributes"]
        graph.add_nodes_from(zip(self.nodes["name"], self.nodes[columns].to_dict("records"), strict=True))
        columns = ["output", "position", "control"]
        graph.add_edges_from(
            zip(self.edges["source"], self.edges["target"], self.edges[columns].to_dict("records"), strict=True)
        )
        return graph

    def plot(self, depth: int = 1, *, fold: bool = True, ax: Axes | None = None) -> Axes:
        """Draw the overview.

        Parameters
        ----------
        depth, fold
            See `collapse`.
        ax : matplotlib Axes, optional
            To draw on; default is a new figure of a size that fits.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If networkx, which places the boxes, is not installed.
        ValueError
            If there are too many boxes to be told apart.
        """
        return self.collapse(depth, fold=fold).plot(ax=ax)


@dataclass(frozen=True, eq=False)
class Overview:
    """The scopes of a graph as boxes.

    Attributes
    ----------
    nodes : pandas.DataFrame
        The boxes: ``name`` (str), ``op`` (str, "" for a scope), ``scope`` (str), ``depth`` (int64), ``ops`` (int64, how
        many operations it holds), ``op_counts``, ``devices`` (dict of str to int, most first). A node that is called like
        a scope, ``A``, is there as ``A/(A)``.
    edges : pandas.DataFrame
        ``source``, ``target`` (str), ``edges``, ``control``, ``references`` (int64: how many edges of data and of control
        there are, and how many go to a variable that the target changes), ``size`` (float64: how many elements the
        tensors have that flow there, an unknown dimension counted as 1).
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame

    def to_networkx(self) -> nx.DiGraph:
        """Convert the overview for NetworkX.

        Returns
        -------
        networkx.DiGraph
            With the columns of `nodes` and `edges` as attributes.

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        graph = _networkx("to_networkx()").DiGraph()
        nodes, edges = self.nodes.drop(columns="name"), self.edges.drop(columns=["source", "target"])
        graph.add_nodes_from(zip(self.nodes["name"], nodes.to_dict("records"), strict=True))
        graph.add_edges_from(zip(self.edges["source"], self.edges["target"], edges.to_dict("records"), strict=True))
        return graph

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the overview: see `Graph.plot`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            To draw on; default is a new figure of a size that fits.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If networkx, which places the boxes, is not installed.
        ValueError
            If there are too many boxes to be told apart.
        """
        _networkx("plot()")
        # Drawing lies above: it is looked up by name, as pandas looks up its plotting backend.
        drawn: Axes = importlib.import_module("tbframe.plotting.graph").draw_overview(self.nodes, self.edges, ax=ax)
        return drawn


def _networkx(verb: str) -> Any:  # noqa: ANN401 - a module that need not be there
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError(f"{verb} of a graph needs networkx: pip install 'tbframe[graph]'") from error
    return nx
