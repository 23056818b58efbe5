"""The overview of a graph: its scopes down to some depth, how many operations each has, and the edges between them."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["collapse", "is_folded", "shown_at", "strict_names"]

_FOLDED_INTO_CONSUMERS: Final = "Const"
_FOLDED_INTO_PRODUCERS: Final = r"[a-zA-Z]+Summary"
_REFERENCES: Final = frozenset(
    ("Assign", "AssignAdd", "AssignSub", "ScatterAdd", "ScatterSub", "ScatterUpdate", "assign", "assign_add")
) | frozenset(("assign_sub", "count_up_to", "scatter_add", "scatter_sub", "scatter_update"))
"""Operations whose first input is a variable they change."""


def collapse(nodes: pd.DataFrame, edges: pd.DataFrame, depth: int, *, fold: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Collapse the scopes of a graph.

    Parameters
    ----------
    nodes, edges : pandas.DataFrame
        See `tbframe.kinds.graph_nodes`.
    depth : int
        How many scopes deep the result goes.
    fold : bool
        Whether constants and summaries are no nodes of their own.

    Returns
    -------
    nodes : pandas.DataFrame
        ``name`` (str), ``op`` (str, "" for a scope), ``scope`` (str), ``depth`` (int64), ``ops`` (int64: how many
        operations it holds), ``op_counts``, ``devices`` (dict of str to int, most first).
    edges : pandas.DataFrame
        ``source``, ``target`` (str), ``edges``, ``control``, ``references`` (int64: how many edges of data, of control,
        and of variables that are changed), ``size`` (int64: elements of the tensors).
    """
    used = np.ones(len(nodes), bool)
    base = _distinct_inputs(edges)
    if fold:
        used = ~is_folded(nodes["op"])
        base = _reattached(base, set(nodes["name"][~used]))
    main = nodes[used]
    strict = strict_names(main["name"])
    shown = pd.Series([shown_at(name, depth) for name in strict], index=main.index, dtype=object)
    return _boxes(main, shown, strict), _arrows(main, shown, base)


def is_folded(ops: pd.Series) -> npt.NDArray[np.bool_]:
    """Tell which nodes TensorBoard draws as parts of others: constants and summaries.

    Parameters
    ----------
    ops : pandas.Series
        The operation of each node.

    Returns
    -------
    ndarray of bool, shape (nodes,)
        True for those.

    Examples
    --------
    >>> is_folded(pd.Series(["Const", "MatMul", "ScalarSummary", "TensorSummaryV2"])).tolist()
    [True, False, True, False]
    """
    folded = (ops == _FOLDED_INTO_CONSUMERS) | ops.str.fullmatch(_FOLDED_INTO_PRODUCERS)
    return folded.to_numpy(bool)


def strict_names(names: pd.Series) -> list[str]:
    """Rename nodes that are called like a scope: TensorBoard calls ``A`` then ``A/(A)``.

    Parameters
    ----------
    names : pandas.Series
        The names of the nodes.

    Returns
    -------
    list of str
        Their names as TensorBoard has them.

    Examples
    --------
    >>> strict_names(pd.Series(["a/b", "a/b/c"]))
    ['a/b/(b)', 'a/b/c']
    """
    # No set of all scopes: a name of many parts has as many, each nearly as long as itself.
    order = sorted(names)

    def is_scope(name: str) -> bool:
        at = bisect.bisect_left(order, f"{name}/")
        return bool(name) and at < len(order) and order[at].startswith(f"{name}/")

    return [f"{name}/({name.rpartition('/')[2]})" if is_scope(name) else name for name in names]


def _distinct_inputs(edges: pd.DataFrame) -> pd.DataFrame:
    """Take successive inputs of a node from one source for one edge, and number those that are left."""
    same = (edges["source"] == edges["source"].shift()) & (edges["target"] == edges["target"].shift())
    first = edges[~(same & (edges["position"] > 0))]
    return first.assign(position=first.groupby("target", sort=False, observed=True).cumcount())


def _reattached(edges: pd.DataFrame, folded: set[str]) -> pd.DataFrame:
    """Give the inputs of what is folded to the nodes that take what it gives out."""
    from_folded = edges["source"].isin(folded)
    inner = edges.loc[edges["target"].isin(folded), ["source", "target", "control"]]
    outer = edges.loc[from_folded & ~edges["target"].isin(folded), ["source", "target", "position"]]
    moved = outer.merge(inner, left_on="source", right_on="target", suffixes=("_folded", ""))
    moved = moved.assign(target=moved["target_folded"])[["source", "target", "position", "control"]]
    kept = edges.loc[~from_folded & ~edges["target"].isin(folded), ["source", "target", "position", "control"]]
    return pd.concat([kept, moved], ignore_index=True)


def shown_at(name: str, depth: int) -> str:
    """Name the box that a node is in.

    Parameters
    ----------
    name : str
        Of the node.
    depth : int
        How many scopes deep the boxes go.

    Returns
    -------
    str
        A scope, or the name itself if it is in fewer scopes.

    Examples
    --------
    >>> shown_at("a/b/c", 1), shown_at("a/b/c", 2), shown_at("a", 2)
    ('a', 'a/b', 'a')
    """
    return "/".join(name.split("/", depth)[:depth])


def _boxes(main: pd.DataFrame, shown: pd.Series, strict: list[str]) -> pd.DataFrame:
    names = list(dict.fromkeys(shown))
    rows = main.groupby(shown.to_numpy(), sort=False, observed=True).indices
    op, device = main["op"].to_numpy(object), main["device"].to_numpy(object)
    alone = dict(zip(strict, op.tolist(), strict=True))
    return pd.DataFrame(
        {
            "name": pd.Series(names, dtype=object),
            "op": pd.Series([alone.get(name, "") for name in names], dtype=object),
            "scope": pd.Series([name.rpartition("/")[0] for name in names], dtype=object),
            "depth": np.array([name.count("/") for name in names], np.int64),
            "ops": np.array([len(rows[name]) for name in names], np.int64),
            "op_counts": pd.Series([_counts(op[rows[name]]) for name in names], dtype=object),
            "devices": pd.Series([_counts(device[rows[name]]) for name in names], dtype=object),
        }
    )


def _counts(values: npt.NDArray[np.object_]) -> dict[str, int]:
    return dict(Counter(value for value in values.tolist() if value).most_common())


def _arrows(main: pd.DataFrame, shown: pd.Series, base: pd.DataFrame) -> pd.DataFrame:
    # Of nodes of one name the last counts, as in TensorBoard's table of them.
    at = dict(zip(main["name"], range(len(main)), strict=True))
    source = base["source"].map(at).fillna(-1).to_numpy(np.int64)
    target = base["target"].map(at).fillna(-1).to_numpy(np.int64)
    between = (source >= 0) & (target >= 0) & (source != target)
    base, source, target = base[between], source[between], target[between]
    names = shown.to_numpy(object)
    control = base["control"].to_numpy(bool)
    changes = np.array([op in _REFERENCES for op in main["op"]], bool)
    sizes = np.array([_size(attributes) for attributes in main["attributes"]], np.float64)
    single = pd.DataFrame(
        {
            "source": pd.Series(names[source], dtype=object),
            "target": pd.Series(names[target], dtype=object),
            "edges": (~control).astype(np.int64),
            "control": control.astype(np.int64),
            "references": (changes[target] & (base["position"].to_numpy(np.int64) == 0)).astype(np.int64),
            "size": sizes[source],
        }
    )
    single = single[single["source"] != single["target"]]
    grouped = single.groupby(["source", "target"], sort=False, observed=True, as_index=False).sum()
    return grouped.astype({"source": object, "target": object})


def _size(attributes: dict[str, Any]) -> float:
    """Count the elements of all outputs of a node; an unknown dimension, or outputs nobody noted, count as one."""
    shapes = attributes.get("_output_shapes")
    if not isinstance(shapes, list) or not shapes:
        return 1.0
    return sum(math.prod((1 if size < 0 else size for size in shape or ()), start=1.0) for shape in shapes)
