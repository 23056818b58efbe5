"""Fewer points with the same outline, for drawing: largest triangles, or each bucket's minimum and maximum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbframe.series.arguments import check_size
from tbframe.series.grouping import batches, ragged_ranges
from tbframe.series.sampling import even_rows

__all__ = ["first_largest", "lttb_rows", "minmax_rows"]


def lttb_rows(
    x: NDArray[np.int64] | NDArray[np.float64],
    y: NDArray[np.float64],
    size: int,
    bounds: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Choose the points that keep the outline of each series: largest triangle, three buckets.

    The rule (Steinarsson, "Downsampling Time Series for Visual Representation", 2013): the first and the last point
    stay, the others are cut into ``size - 2`` buckets of equal count, and of each bucket stays the point that spans the
    largest triangle with the point kept before and the mean of the next bucket.

    Parameters
    ----------
    x : ndarray of int64 or float64, shape (rows,)
        Steps or times.
    y : ndarray of float64, shape (rows,)
        Values. Those that are not finite are kept only at the ends, or where a bucket holds nothing else.
    size : int
        At most so many points per series, at least 1. With 1 or 2 only the ends are kept.
    bounds : ndarray of int64, shape (series + 1,), optional
        Series i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded. By default all rows are one series.

    Returns
    -------
    ndarray of int64, shape (rows kept,)
        Ascending row numbers; a series of up to `size` points is kept whole.

    Raises
    ------
    TypeError, ValueError
        If `size` is not an integer of at least 1.

    Examples
    --------
    >>> lttb_rows(np.arange(8), np.array([0, 0, 9.0, 0, 0, 0, -9, 0]), 4)
    array([0, 2, 6, 7])
    """
    check_size(size)
    bounds = np.array([0, len(y)], np.int64) if bounds is None else bounds
    if size < 3:
        return even_rows(bounds, size)
    lengths = np.diff(bounds)
    long = lengths > size
    whole = ragged_ranges(bounds[:-1][~long], lengths[~long])
    first, last = bounds[:-1][long], bounds[1:][long] - 1
    if not len(first):
        return whole
    edges = _edges(lengths[long] - 2, size - 2) + 1 + first[:, None]
    picked = _largest_triangles(np.asarray(x, np.float64), *_comparable(y, bounds), first, last, edges)
    return np.sort(np.concatenate([whole, first, picked.ravel(), last]))


def minmax_rows(y: NDArray[np.float64], size: int, bounds: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Choose the first and the last point of each series, and the smallest and the largest of each bucket between.

    Parameters
    ----------
    y : ndarray of float64, shape (rows,)
        Values. Those that are not finite are kept only at the ends.
    size : int
        At most so many points per series, at least 1: ``(size - 2) // 2`` buckets. Up to 3 are as `even_rows` has them.
    bounds : ndarray of int64, shape (series + 1,), optional
        Series i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded. By default all rows are one series.

    Returns
    -------
    ndarray of int64, shape (rows kept,)
        Ascending row numbers; a series of up to `size` points is kept whole.

    Raises
    ------
    TypeError, ValueError
        If `size` is not an integer of at least 1.

    Examples
    --------
    >>> minmax_rows(np.array([0, 0, 9.0, 0, 0, 0, -9, 0]), 4)
    array([0, 2, 6, 7])
    """
    check_size(size)
    bounds = np.array([0, len(y)], np.int64) if bounds is None else bounds
    buckets = (size - 2) // 2
    if buckets < 1:
        return even_rows(bounds, size)
    kept = [rows.start + _extremes(y[rows], size, buckets, of_rows) for rows, of_rows in batches(bounds)]
    return np.concatenate([np.empty(0, np.int64), *kept])


def _extremes(y: NDArray[np.float64], size: int, buckets: int, bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    lengths = np.diff(bounds)
    long = lengths > size
    whole = ragged_ranges(bounds[:-1][~long], lengths[~long])
    first, last = bounds[:-1][long], bounds[1:][long] - 1
    if not len(first):
        return whole
    edges = _edges(lengths[long] - 2, buckets) + 1 + first[:, None]
    rows = ragged_ranges(edges[:, 0], edges[:, -1] - edges[:, 0])
    counts = np.diff(edges, axis=1).ravel()
    starts = np.cumsum(counts) - counts
    inner = y[rows]
    finite = np.isfinite(inner)
    extremes = [
        rows[first_largest(np.where(finite, signed, -np.inf), starts, counts, finite)] for signed in (inner, -inner)
    ]
    return np.sort(np.concatenate([whole, np.unique(np.concatenate([first, last, *extremes]))]))


def _edges(counts: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    """Cut each count into buckets that differ by at most 1: shape (series, buckets + 1), from 0 to the count."""
    edges: NDArray[np.int64] = counts[:, None] * np.arange(buckets + 1) // buckets
    return edges


def first_largest(
    height: NDArray[np.float64] | NDArray[np.int64],
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    allowed: NDArray[np.bool_] | None = None,
) -> NDArray[np.int64]:
    """Find where each bucket is highest, the first of equals.

    Parameters
    ----------
    height : ndarray of float64 or int64, shape (rows,)
        Without NaN; where `allowed` is false, no higher than anything else in the bucket.
    starts, counts : ndarray of int64, shape (buckets,)
        Where each bucket starts, and how many rows it has: at least one. The buckets follow each other without gaps.
    allowed : ndarray of bool, shape (rows,), optional
        The rows that may be chosen; a bucket without one has no row in the result.

    Returns
    -------
    ndarray of int64
        Ascending row numbers.

    Examples
    --------
    >>> first_largest(np.array([1.0, 3.0, 3.0, 2.0]), np.array([0, 3]), np.array([3, 1]))
    array([1, 3])
    """
    if not len(starts):
        return np.empty(0, np.int64)
    highest = height == np.repeat(np.maximum.reduceat(height, starts), counts)
    at = np.flatnonzero(highest if allowed is None else highest & allowed)
    bucket = np.searchsorted(starts, at, side="right")
    first_of_bucket: NDArray[np.int64] = at[np.diff(bucket, prepend=-1) != 0]
    return first_of_bucket


def _comparable(y: NDArray[np.float64], bounds: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the values scaled to -1 ... 1 per series, gaps filled by the finite value before, and which are finite."""
    finite = np.isfinite(y)
    lengths = np.diff(bounds)
    filled = bounds[:-1][lengths > 0]
    magnitude = np.maximum.reduceat(np.where(finite, np.abs(y), 0.0), filled) if len(filled) else np.empty(0)
    scaled = np.where(finite, y, 0.0) / np.repeat(np.where(magnitude > 0, magnitude, 1.0), lengths[lengths > 0])
    if not finite.all():
        start = np.repeat(bounds[:-1], lengths)
        before = np.maximum.accumulate(np.where(finite, np.arange(len(y)), -1))
        scaled = np.where(before >= start, scaled[before], 0.0)
    return scaled, finite


def _largest_triangles(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    finite: NDArray[np.bool_],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    edges: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Pick one row per bucket, for all series at once: a turn per bucket, since each pick depends on the one before."""
    series, buckets = len(first), edges.shape[1] - 1
    counts = np.diff(edges, axis=1).T
    # Bucket by bucket, the series side by side, so that each turn works on one slice.
    rows = ragged_ranges(edges[:, :-1].T.ravel(), counts.ravel())
    cells = np.cumsum(counts.ravel()) - counts.ravel()
    xs, ys, finites = x[rows], y[rows], finite[rows]
    mean_x, mean_y = (np.add.reduceat(part, cells).reshape(buckets, series) / counts for part in (xs, ys))
    mean_x, mean_y = np.vstack([mean_x, x[last]]), np.vstack([mean_y, y[last]])
    cells = np.append(cells, len(rows)).astype(np.int64)
    picked = np.empty((buckets, series), np.int64)
    at_x, at_y = x[first], y[first]
    for k in range(buckets):
        here = slice(cells[k * series], cells[(k + 1) * series])
        starts = cells[k * series : (k + 1) * series] - cells[k * series]
        to_mean_x, to_mean_y = at_x - mean_x[k + 1], mean_y[k + 1] - at_y
        from_x, from_y, lever_x, lever_y = (np.repeat(side, counts[k]) for side in (at_x, at_y, to_mean_x, to_mean_y))
        twice_area = np.abs(lever_x * (ys[here] - from_y) - (from_x - xs[here]) * lever_y)
        best = first_largest(np.where(finites[here], twice_area, -1.0), starts, counts[k])
        picked[k] = rows[here][best]
        at_x, at_y = x[picked[k]], y[picked[k]]
    return picked
