"""HistogramProto messages (TensorFlow 1, PyTorch, tensorboardX) as arrays of edges and counts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tbframe.buckets.arrays import Bools, Floats, Ints, within

__all__ = ["Buckets", "Edges", "check_edges", "from_protos"]

Edges: TypeAlias = Literal["clipped", "logged"]

_CHUNK = 1 << 16  # elements worked on at a time: what is touched then stays in the processor's cache


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
    limit_starts = np.cumsum(n_limits) - n_limits
    if edges == "clipped":
        first, last = _positive(some_counts, n_counts)
        low, high = np.asarray(minimum, np.float64), np.asarray(maximum, np.float64)
    else:
        first, last = np.zeros(n_counts.size, np.int64), n_counts - 1
        low, high = np.full(n_counts.size, -np.inf), np.full(n_counts.size, np.inf)
        closed = np.flatnonzero((n_counts > 0) & (last < n_limits))
        high[closed] = some_limits[(limit_starts + last)[closed]]
    decodable = n_limits >= last
    size = np.where(decodable, last - first + 1, 0)
    left, right, padded = _fill(some_limits, n_limits, some_counts, n_counts, first, size)
    rows = np.flatnonzero(size)
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


def _positive(counts: Floats, n_counts: Ints) -> tuple[Ints, Ints]:
    """Return the positions of the first and the last positive count of each row; 0 and -1 where there is none."""
    first, last = np.zeros(n_counts.size, np.int64), np.full(n_counts.size, -1, np.int64)
    for rows, part in _blocks(n_counts):
        starts = np.cumsum(n_counts[rows]) - n_counts[rows]
        positive = np.flatnonzero(counts[part] > 0)
        begin, end = np.searchsorted(positive, starts), np.searchsorted(positive, starts + n_counts[rows])
        some = np.flatnonzero(begin < end)
        first[rows][some] = positive[begin[some]] - starts[some]
        last[rows][some] = positive[end[some] - 1] - starts[some]
    return first, last


def _fill(
    limits: Floats, n_limits: Ints, counts: Floats, n_counts: Ints, first: Ints, size: Ints
) -> tuple[Floats, Floats, Floats]:
    """Lay out `size` counts of each row from `first` on, and the limits between them; the outer edges stay NaN."""
    shape, inner = (size.size, int(size.max(initial=0))), np.maximum(size - 1, 0)
    left, right, padded = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape)
    for rows, part in _blocks(n_counts):
        padded[rows][within(size[rows], shape[1])] = counts[part][_spans(n_counts[rows], first[rows], size[rows])]
    for rows, part in _blocks(n_limits):
        between = limits[part][_spans(n_limits[rows], first[rows], inner[rows])]
        right[rows][within(inner[rows], shape[1])] = between
        left[rows, 1:] = right[rows, :-1]
    return left, right, padded


def _blocks(lengths: Ints) -> Iterator[tuple[slice, slice]]:
    """Yield slices of rows, and of the elements in them, that are small enough for the processor's cache."""
    ends = np.cumsum(lengths)
    bounds = np.unique(np.searchsorted(ends, np.arange(0, ends[-1] + _CHUNK, _CHUNK))) if ends.size else ends
    bounds = np.unique(np.append(bounds, [0, ends.size]))
    for begin, end in itertools.pairwise(bounds.tolist()):
        yield slice(begin, end), slice(int(ends[begin] - lengths[begin]), int(ends[end - 1]))


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


def _spans(lengths: Ints, first: Ints, size: Ints) -> Bools:
    """Mark, in rows of the given lengths that lie end to end, `size` elements from `first` on."""
    before = np.where(size > 0, first, 0)
    stretches = np.stack([before, size, lengths - before - size], axis=1).ravel()
    return np.repeat(np.tile(np.array([False, True, False]), lengths.size), stretches)
