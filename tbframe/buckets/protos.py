"""HistogramProto messages (TensorFlow 1, PyTorch, tensorboardX) as arrays of edges and counts."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from tbframe.buckets.arrays import Bools, Floats, Ints, within

__all__ = ["Buckets", "Edges", "check_edges", "from_protos"]

Edges: TypeAlias = Literal["clipped", "logged"]


class Buckets(NamedTuple):
    """Padded histograms.

    Attributes
    ----------
    left, right, counts : float64 array (n, k)
        Edges and counts, padded with NaN edges and count 0.
    buckets : int64 array (n,)
        How many buckets of each row are no padding.
    decodable : bool array (n,)
        Whether the row's limits and counts could be matched at all. A row that could not has no buckets.
    """

    left: Floats
    right: Floats
    counts: Floats
    buckets: Ints
    decodable: Bools


def from_protos(
    limits: npt.ArrayLike,
    limit_lengths: npt.ArrayLike,
    counts: npt.ArrayLike,
    count_lengths: npt.ArrayLike,
    minimum: npt.ArrayLike,
    maximum: npt.ArrayLike,
    edges: Edges = "clipped",
) -> Buckets:
    """Turn the fields of many HistogramProto messages into edges and counts.

    Parameters
    ----------
    limits, counts : float64 array
        ``bucket_limit`` and ``bucket`` of all messages, end to end.
    limit_lengths, count_lengths : int64 array (n,)
        How many of them each message holds.
    minimum, maximum : float64 array (n,)
        The messages' ``min`` and ``max``.
    edges : {"clipped", "logged"}
        "clipped" is TensorBoard's form, in float64: the buckets from the first to the last with a positive count, the
        two outer edges replaced by `minimum` and `maximum`. Where that would make an outer bucket run backwards (a
        writer that never filled them), its own limits are kept; limits out of order are put in order. "logged" keeps
        every bucket and limit as written; the first left edge, which is not written, is -inf, and so is +inf a last
        right edge that is missing.

    Returns
    -------
    Buckets
        `decodable` is False where too few limits were written for the counts that matter.

    Raises
    ------
    ValueError
        If `edges` is neither.

    Examples
    --------
    >>> b = from_protos([-1, 0, 1, 2], [4], [0, 3, 0, 1], [4], [-0.5], [1.5])
    >>> b.left, b.right, b.counts
    (array([[-0.5,  0. ,  1. ]]), array([[0. , 1. , 1.5]]), array([[3., 0., 1.]]))
    """
    check_edges(edges)
    some_limits, some_counts = np.asarray(limits, np.float64), np.asarray(counts, np.float64)
    n_limits, n_counts = np.asarray(limit_lengths, np.int64), np.asarray(count_lengths, np.int64)
    limit_starts, count_starts = np.cumsum(n_limits) - n_limits, np.cumsum(n_counts) - n_counts
    if edges == "clipped":
        first, last = _positive(some_counts, count_starts, n_counts)
        low, high = np.asarray(minimum, np.float64), np.asarray(maximum, np.float64)
    else:
        first, last = np.zeros(n_counts.size, np.int64), n_counts - 1
        low, high = np.full(n_counts.size, -np.inf), np.full(n_counts.size, np.inf)
        closed = np.flatnonzero((n_counts > 0) & (last < n_limits))
        high[closed] = some_limits[(limit_starts + last)[closed]]
    decodable = n_limits >= last
    size = np.where(decodable, last - first + 1, 0)
    rows, width, begin = np.flatnonzero(size), int(size.max(initial=0)), np.where(size > 0, first, 0)
    padded = _laid_out(some_counts, count_starts + begin, size, width, 0.0)
    right = _laid_out(some_limits, limit_starts + begin, np.maximum(size - 1, 0), width, np.nan)
    left = np.concatenate([np.full((size.size, 1), np.nan), right[:, :-1]], axis=1)[:, :width]
    if rows.size:
        left[rows, 0], right[rows, size[rows] - 1] = low[rows], high[rows]
    if rows.size and edges == "clipped":
        _mend_outer(left, right, rows, some_limits, limit_starts, n_limits, first, last)
        backwards = left > right  # limits out of order
        if backwards.any():
            left[backwards], right[backwards] = right[backwards], left[backwards]
    return Buckets(left, right, padded, size, decodable)


def check_edges(edges: str) -> None:
    """Refuse what is no form of edges.

    Parameters
    ----------
    edges : str
        See `from_protos`.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if edges not in get_args(Edges):
        raise ValueError(f"edges={edges!r}: expected 'clipped' (TensorBoard's form) or 'logged' (limits as written)")


def _positive(counts: Floats, starts: Ints, n_counts: Ints) -> tuple[Ints, Ints]:
    """Return the positions of the first and the last positive count of each row; 0 and -1 where there is none."""
    first, last = np.zeros(n_counts.size, np.int64), np.full(n_counts.size, -1, np.int64)
    positive = np.flatnonzero(counts > 0)
    begin, end = np.searchsorted(positive, starts), np.searchsorted(positive, starts + n_counts)
    some = np.flatnonzero(begin < end)
    first[some] = positive[begin[some]] - starts[some]
    last[some] = positive[end[some] - 1] - starts[some]
    return first, last


def _laid_out(values: Floats, starts: Ints, lengths: Ints, width: int, fill: float) -> Floats:
    """Lay out stretches of an array, whose starts ascend, as rows of one width."""
    # Whole rows are copied, each with what follows it: that is many times faster than element by element.
    last = values.size - width
    rows = np.empty((starts.size, width)) if last < 0 else sliding_window_view(values, width)[np.minimum(starts, last)]
    short = int(np.searchsorted(starts, last, side="right"))
    if short < starts.size:  # too little follows these
        begin = int(starts[short])
        rest = np.concatenate([values[begin:], np.zeros(width)])
        rows[short:] = sliding_window_view(rest, width)[starts[short:] - begin]
    shortest = int(lengths.min(initial=width))
    rows[:, shortest:][~within(lengths - shortest, width - shortest)] = fill
    return rows


def _mend_outer(
    left: Floats, right: Floats, rows: Ints, limits: Floats, starts: Ints, n_limits: Ints, first: Ints, last: Ints
) -> None:
    """Give back their limits, in place, to those of the `rows` whose min and max cannot be the data's."""
    end = (last - first)[rows]
    rows = rows[(left[rows, 0] > right[rows, 0]) | (left[rows, end] > right[rows, end])]
    starts, first, last = starts[rows], first[rows], last[rows]
    end = last - first
    has_left, has_right = first > 0, last < n_limits[rows]
    left[rows[has_left], 0] = limits[(starts + first - 1)[has_left]]
    right[rows[has_right], end[has_right]] = limits[(starts + last)[has_right]]
    # What no limit bounds keeps the statistic, or has no width if that lies on the wrong side.
    left[rows, 0] = np.where(has_left, left[rows, 0], np.fmin(left[rows, 0], right[rows, 0]))
    right[rows, end] = np.where(has_right, right[rows, end], np.fmax(left[rows, end], right[rows, end]))
