"""Time and memory of nodes, added up by scope."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from tbframe.kinds.graph import Graph
from tbframe.kinds.graph_overview import is_folded, shown_at, strict_names
from tbframe.verbs.frames import require, tidy

__all__ = ["Rule", "by_scope"]

Rule: TypeAlias = Literal["sum", "tensorboard"]

_DEVICE: Final = re.compile(r"device:[^:]+:[0-9]+$")
"""The devices that TensorBoard shows at first: no streams and copies beside them."""
_NEEDED: Final = ("run", "tag", "step", "device", "node", "start_nanos", "compute", "total", "bytes")
_KEYS: Final = ["run", "tag", "step", "scope"]


def by_scope(
    frame: pd.DataFrame, depth: int | None = 1, *, rule: Rule = "sum", graph: Graph | None = None
) -> pd.DataFrame:
    """Add up the time and memory of the nodes in each scope.

    Parameters
    ----------
    frame : DataFrame
        As ``tbframe.node_stats`` returns it, or some of its rows.
    depth : int or None
        How many scopes deep; None gives every node. A node that is in no scope stands for itself.
    rule : {"sum", "tensorboard"}
        ``"sum"`` adds up every execution on every device. ``"tensorboard"`` computes what the graph page shows: devices
        like ``device:GPU:0`` only; the bytes of a node are the most that one of its executions took; its time reaches
        from the first start to the last end, in whole microseconds; that of a scope, too, so that it counts gaps.
    graph : Graph, optional
        With ``"tensorboard"``, which leaves out what is no node of the graph it shows, such as constants and the nodes
        of an optimised graph. Default: every node counts.

    Returns
    -------
    DataFrame
        One row per run, tag, step and scope, the largest total first: ``nodes``, ``executions`` (int64), ``start``
        (float64, seconds since the epoch), ``span`` (float64, seconds from the first start to the last end), ``compute``,
        ``total`` (float64, seconds), ``bytes`` and ``bytes.<allocator>`` (int64). With ``"tensorboard"``, ``total`` is its
        time (NaN if nothing took a microsecond), and there are no ``span``, ``compute`` and ``bytes.<allocator>``.

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    ValueError
        If `depth` is less than 1, `rule` is none of the above, or `graph` is given with another rule.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {
    ...         "run": "a", "tag": "t", "step": 1, "device": "/device:CPU:0", "node": ["net/x", "net/y", "loss"],
    ...         "start_nanos": [0, 5_000, 20_000], "compute": [2e-6, 3e-6, 1e-6], "total": [4e-6, 5e-6, 1e-6],
    ...         "bytes": [10, 20, 0],
    ...     }
    ... )
    >>> by_scope(frame)[["scope", "nodes", "span", "total", "bytes"]]
      scope  nodes      span     total  bytes
    0   net      2  0.000010  0.000009     30
    1  loss      1  0.000001  0.000001      0
    """
    require(frame, _NEEDED, "by_scope")
    if rule not in get_args(Rule):
        raise ValueError(f"rule={rule!r}: expected one of {', '.join(map(repr, get_args(Rule)))}")
    if depth is not None and depth < 1:
        raise ValueError(f"depth={depth!r}: expected at least 1, the scopes at the top, or None for every node")
    if graph is not None and rule != "tensorboard":
        raise ValueError(f"graph=... goes with rule='tensorboard', not with rule={rule!r}")
    result = _sums(frame, depth) if rule == "sum" else _as_tensorboard(frame, depth, graph)
    # Groups come in the order in which they first occur; the sort keeps that of runs, tags and steps.
    order = result.groupby(_KEYS[:3], sort=False, observed=True).ngroup()
    rows = np.lexsort((-result["total"].fillna(-1.0).to_numpy(), order.to_numpy()))
    return tidy(result.take(rows).reset_index(drop=True))


def _scopes(nodes: pd.Series, depth: int | None) -> pd.Series:
    """Return the scope of each node, of each distinct name once."""
    names = nodes.unique()
    shown = {name: name if depth is None else shown_at(name, depth) for name in names}
    return nodes.map(shown).astype(object)


def _sums(frame: pd.DataFrame, depth: int | None) -> pd.DataFrame:
    allocators = [name for name in frame.columns if isinstance(name, str) and name.startswith("bytes.")]
    total = frame["total"].to_numpy(np.float64)
    work = frame[["run", "tag", "step", "node", "start_nanos", "compute", "total", "bytes", *allocators]].assign(
        scope=_scopes(frame["node"], depth), end_nanos=frame["start_nanos"] + np.rint(total * 1e9).astype(np.int64)
    )
    groups = work.groupby(_KEYS, sort=False, observed=True)
    sums = groups[["compute", "total", "bytes", *allocators]].sum()
    first, last = groups["start_nanos"].min(), groups["end_nanos"].max()
    counts = pd.DataFrame({"nodes": groups["node"].nunique(), "executions": groups.size()})
    times = pd.DataFrame({"start": first / 1e9, "span": (last - first) / 1e9})
    return pd.concat([counts, times, sums], axis=1).reset_index()


def _as_tensorboard(frame: pd.DataFrame, depth: int | None, graph: Graph | None) -> pd.DataFrame:
    """Compute TensorBoard's own numbers: per node, then per scope."""
    devices = frame["device"].unique()
    shown = frame["device"].isin([device for device in devices if _DEVICE.search(device)])
    names = _strict_names_of(graph) if graph is not None else None
    node = frame["node"] if names is None else frame["node"].map(names)
    work = frame.loc[shown & node.notna(), ["run", "tag", "step", "start_nanos", "total", "bytes"]]
    work = work.assign(node=node)
    # TensorFlow logs whole microseconds beside the nanoseconds: both ends cut off, and what lies between them.
    end = (work["start_nanos"] + np.rint(work["total"] * 1e9).astype(np.int64)) // 1000
    start = work["start_nanos"] // 1000
    work = work.assign(first=start.where(end > start), last=end.where(end > start))
    per_node = work.groupby(["run", "tag", "step", "node"], sort=False, observed=True)
    nodes = per_node.agg(
        executions=("bytes", "size"), bytes=("bytes", "max"), first=("first", "min"), last=("last", "max")
    ).reset_index()
    scopes = nodes.assign(scope=_scopes(nodes["node"], depth)).groupby(_KEYS, sort=False, observed=True)
    result = scopes.agg(
        nodes=("node", "size"),
        executions=("executions", "sum"),
        first=("first", "min"),
        last=("last", "max"),
        bytes=("bytes", "sum"),
    ).reset_index()
    times = {"start": result["first"] / 1e6, "total": (result["last"] - result["first"]) / 1e6}
    return result.assign(**times)[[*_KEYS, "nodes", "executions", "start", "total", "bytes"]]


def _strict_names_of(graph: Graph) -> dict[str, str]:
    """Map the names of nodes that TensorBoard shows to what it calls them."""
    names = graph.nodes["name"][~is_folded(graph.nodes["op"])]
    return dict(zip(names, strict_names(names), strict=True))
