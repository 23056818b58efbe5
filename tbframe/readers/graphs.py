"""The reader of graphs."""

from __future__ import annotations

from tbframe.discovery import LogDirLike
from tbframe.documenting import reader_of
from tbframe.kinds import graphs as graph_kind
from tbframe.kinds.graph import Graph
from tbframe.logdir import LogDir

__all__ = ["graph"]


@reader_of(graph_kind.read)
def graph(logdir: LogDirLike, *, run: str | None = None, tag: str | None = None, step: int | None = None) -> Graph:
    """Read a graph: nodes and edges as frames.

    Examples
    --------
    >>> import tbframe
    >>> graph = tbframe.graph(tbframe.sample_logs())
    >>> len(graph.nodes), len(graph.edges)
    (9, 12)
    """
    return LogDir(logdir).graph(run=run, tag=tag, step=step)
