"""Counting histograms again in other bins."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tbframe.buckets.arrays import Floats, Ints, as_arrays, is_usable

__all__ = ["Outside", "equal_edges", "rebin", "value_range"]

Outside: TypeAlias = Literal["error", "drop", "clip"]

_CHUNK = 1 << 16  # elements worked on at a time: what is touched then stays in the processor's cache


def value_range(
    left: npt.ArrayLike, right: npt.ArrayLike, counts: npt.ArrayLike, axis: int | tuple[int, ...] | None = None
) -> tuple[Floats, Floats]:
    """Find the least and the greatest edge of the buckets that are finite and not empty.

    Parameters
    ----------
    left, right, counts : float64 array (..., bin)
        Histograms.
    axis : int, tuple of int or None
        The axes to go over; None is all of them.

    Returns
    -------
    low, high : float64 array
        Without the axes gone over; NaN where there is no such bucket.

    Examples
    --------
    >>> low, high = value_range([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [0.0, 5.0, 1.0])
    >>> float(low), float(high)
    (1.0, 3.0)
    """
    low, high, n = as_arrays(left, right, counts)
    used = is_usable(low, high, n)
    least = np.min(np.minimum(low, high), axis=axis, where=used, initial=np.inf)
    most = np.max(np.maximum(low, high), axis=axis, where=used, initial=-np.inf)
    none = least > most
    return np.where(none, np.nan, least), np.where(none, np.nan, most)


def equal_edges(low: npt.ArrayLike, high: npt.ArrayLike, bins: int) -> Floats:
    """Divide ranges into bins of equal width.

    Parameters
    ----------
    low, high : float64 array (...)
        The ranges. One without width is widened by 0.5 on either side (more where float64 cannot tell such edges
        apart); NaN (no data) stands for -0.5 ... 0.5.
    bins : int
        How many, at least 1.

    Returns
    -------
    float64 array (..., bins + 1)
        Strictly increasing, with `low` first and `high` last.

    Raises
    ------
    ValueError
        If `bins` is less than 1.

    Examples
    --------
    >>> equal_edges(0.0, 1.0, 4)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> equal_edges(7.0, 7.0, 2)
    array([6.5, 7. , 7.5])
    """
    if bins < 1:
        raise ValueError(f"bins={bins!r}: expected at least 1 bin")
    lo, hi = (np.array(x, np.float64) for x in np.broadcast_arrays(low, high))
    empty = np.isnan(lo) | np.isnan(hi)
    lo[empty], hi[empty] = -0.5, 0.5
    # Two neighbouring edges must differ by more than the rounding of either.
    least = 8.0 * bins * np.spacing(np.maximum(np.abs(lo), np.abs(hi)) / 2)  # of the greatest float64 it overflows
    half = np.where(lo == hi, np.maximum(0.5, least / 2), least / 2)
    narrow = (lo == hi) | (hi / 2 - lo / 2 < least / 2)
    limit = np.finfo(np.float64).max
    centre = np.clip(lo / 2 + hi / 2, half - limit, limit - half)
    lo, hi = np.where(narrow, centre - half, lo)[..., np.newaxis], np.where(narrow, centre + half, hi)[..., np.newaxis]
    part = np.arange(bins + 1) / bins
    with np.errstate(over="ignore", invalid="ignore"):
        span = hi - lo
        edges = np.where(np.isinf(span), lo * (1 - part) + hi * part, lo + part * span)
    edges[..., -1:] = hi
    return edges


def rebin(
    left: npt.ArrayLike, right: npt.ArrayLike, counts: npt.ArrayLike, edges: npt.ArrayLike, outside: Outside = "error"
) -> Floats:
    """Count histograms again in other bins.

    A bucket is shared out among the bins it overlaps, in proportion to the overlap. One without width, or that runs
    backwards, goes whole into the bin that holds its left edge: the right-hand one of two, the last at the end. What
    `is_left_out` marks is left out.

    Parameters
    ----------
    left, right, counts : float64 array (..., bin)
        Histograms.
    edges : float64 array (n + 1,) or (..., n + 1)
        Strictly increasing edges of the new bins: shared, or per histogram with the leading axes of `counts`.
    outside : {"error", "drop", "clip"}
        What to do with counts outside the edges: refuse, leave them out, or count them in the outermost bin.

    Returns
    -------
    float64 array (..., n)
        The total of each histogram is kept, but for what was left out.

    Raises
    ------
    ValueError
        If the edges do not rise, if counts lie outside them and `outside` is "error", or if `outside` is unknown.

    Examples
    --------
    >>> rebin([0.0, 1.0], [1.0, 3.0], [4.0, 6.0], [0.0, 2.0, 3.0])
    array([7., 3.])
    """
    if outside not in ("error", "drop", "clip"):
        raise ValueError(f"outside={outside!r}: expected 'error', 'drop' or 'clip'")
    low, high, n = as_arrays(left, right, counts)
    bounds = _checked_edges(edges)
    width, bins = n.shape[-1], bounds.shape[-1] - 1
    rows = int(np.prod(n.shape[:-1]))
    low, high, n = low.reshape(rows, width), high.reshape(rows, width), n.reshape(rows, width)
    if bounds.ndim > 1:
        bounds = np.broadcast_to(bounds, (*np.shape(counts)[:-1], bins + 1)).reshape(rows, bins + 1)
    result = np.empty((rows, bins + 2))
    chunk = max(1, _CHUNK // (width + bins))
    for at in range(0, rows, chunk):
        part = slice(at, at + chunk)
        result[part] = _shared_out(low[part], high[part], n[part], bounds if bounds.ndim == 1 else bounds[part])
    if outside == "error":
        _refuse_outside(result, bounds)
    elif outside == "clip":
        result[:, 1] += result[:, 0]
        result[:, -2] += result[:, -1]
    return np.ascontiguousarray(result[:, 1:-1]).reshape(*np.shape(counts)[:-1], bins)


def _shared_out(left: Floats, right: Floats, counts: Floats, edges: Floats) -> Floats:
    """Return counts (rows, 1 + bins + 1): below the edges, in each bin, above the edges."""
    rows, bins = counts.shape[0], edges.shape[-1] - 1
    used = is_usable(left, right, counts)
    row = np.repeat(np.arange(rows), np.count_nonzero(used, axis=1))
    low, high, n = left[used], right[used], counts[used]
    first = _search(edges, low, row, "right")
    last = _search(edges, high, row, "left")
    point = ~(low < high)
    top = edges[-1] if edges.ndim == 1 else edges[row, -1]
    first -= point & (low == top)  # the last bin holds its right edge
    last = np.where(point, first, last)
    # From here one entry per bucket and bin it overlaps; `below` is the part of the bucket below the bin's right edge.
    overlaps = last - first + 1
    end = np.cumsum(overlaps)
    of = np.repeat(np.arange(n.size), overlaps)
    target = np.arange(of.size) - np.repeat(end - overlaps - first, overlaps)
    inner = np.minimum(target, bins)
    below = _fraction(edges[inner] if edges.ndim == 1 else edges[row[of], inner], low, high, of)
    below[end - 1] = 1.0
    share = np.diff(below, prepend=0.0)
    share[end[:-1]] = below[end[:-1]]
    cell = row[of] * (bins + 2) + target
    total = np.bincount(cell, weights=n[of] * share, minlength=rows * (bins + 2))
    return total.astype(np.float64, copy=False).reshape(rows, bins + 2)


def _fraction(at: Floats, low: Floats, high: Floats, of: Ints) -> Floats:
    """Return (at - low) / (high - low) of the buckets `of`, also where the width is more than a float64 holds."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        width = high - low
        if not np.isinf(width).any():
            return (at - low[of]) / width[of]
        scale = np.where(np.isinf(width), 0.5, 1.0)[of]
        low, high = low[of] * scale, high[of] * scale
        return (at * scale - low) / (high - low)


def _search(values: Floats, keys: Floats, row: Ints, side: Literal["left", "right"]) -> Ints:
    """Binary search as `np.searchsorted` does it, in one sorted array or in the key's own row of many."""
    if values.ndim == 1:
        return np.searchsorted(values, keys, side=side)
    low, high = np.zeros(keys.size, np.int64), np.full(keys.size, values.shape[-1])
    for _ in range(values.shape[-1].bit_length()):
        middle = (low + high) // 2
        at = values[row, np.minimum(middle, values.shape[-1] - 1)]
        ahead = (low < high) & ((at <= keys) if side == "right" else (at < keys))
        low, high = np.where(ahead, middle + 1, low), np.where(ahead, high, middle)
    return low


def _checked_edges(edges: npt.ArrayLike) -> Floats:
    bounds = np.asarray(edges, np.float64)
    if bounds.ndim == 0 or bounds.shape[-1] < 2:
        raise ValueError(f"edges={edges!r}: expected at least 2 edges, found an array of shape {bounds.shape}")
    rises = np.diff(bounds, axis=-1) > 0
    if not (rises.all() and np.isfinite(bounds).all()):
        where = int(np.argmin(rises.reshape(-1, rises.shape[-1]).all(axis=0)))
        pair = bounds.reshape(-1, bounds.shape[-1])[:, where : where + 2].tolist()[0]
        raise ValueError(f"edges must be finite and rise strictly; found {pair} at position {where}. Sort them first")
    return bounds


def _refuse_outside(result: Floats, edges: Floats) -> None:
    below, above = result[:, 0], result[:, -1]
    if (below == 0).all() and (above == 0).all():
        return
    ends = f"{float(edges.min())!r} ... {float(edges.max())!r}"
    raise ValueError(
        f"counts lie outside the edges {ends}: {float(below.sum())!r} below and {float(above.sum())!r} above. "
        "Give wider edges, or outside='drop' to leave them out or 'clip' to count them in the outermost bins"
    )
