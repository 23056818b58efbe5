"""The percentiles of histograms: what TensorBoard's distributions page draws."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tbframe.buckets.arrays import Bools, Floats, Ints, as_arrays, is_padding

__all__ = ["BASIS_POINTS", "compress"]

BASIS_POINTS: tuple[int, ...] = (0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000)
"""The parts that TensorBoard draws, in 1/10000: those of a normal distribution at -inf, -1.5, -1, -0.5, 0
... +inf standard deviations."""

_CHUNK = 1 << 16  # elements worked on at a time: what is touched then stays in the processor's cache


def compress(
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    counts: npt.ArrayLike,
    bps: npt.ArrayLike = BASIS_POINTS,
    *,
    buckets: npt.ArrayLike | None = None,
    leak: bool = True,
) -> Floats:
    """Find the values below which given parts of each histogram lie.

    TensorBoard's rule for its distributions: in the first bucket at which the running total passes the part asked
    for, interpolate linearly between the previous bucket's right edge and its own. A histogram without buckets has
    the value 0, one whose counts are all 0 its last right edge.

    Parameters
    ----------
    left, right, counts : float64 array (..., bin)
        Histograms.
    bps : float64 array (m,)
        The parts, in 1/10000 of the total (basis points).
    buckets : int64 array (...) or None
        How many buckets each histogram has, where the arrays do not show it (buckets without edges or counts).
    leak : bool
        Whether values may lie in empty buckets and gaps before the bucket they belong to, as TensorBoard's do.
        False interpolates within the bucket's own edges, and gives NaN where a histogram holds nothing.

    Returns
    -------
    float64 array (..., m)

    Raises
    ------
    ValueError
        If a part is not between 0 and 10000.

    Examples
    --------
    >>> compress([0.0, 1.0], [1.0, 2.0], [0.0, 10.0], [0, 5000, 10000])
    array([0., 1., 2.])
    >>> compress([0.0, 1.0], [1.0, 2.0], [0.0, 10.0], [0, 5000, 10000], leak=False)
    array([1. , 1.5, 2. ])
    """
    parts = np.asarray(bps, np.float64)
    if parts.ndim != 1 or not ((parts >= 0) & (parts <= 10000)).all():
        raise ValueError(f"bps={bps!r}: expected a list of basis points from 0 to 10000 (5000 is the median)")
    low, high, n = as_arrays(left, right, counts)
    shape, width = n.shape[:-1], n.shape[-1]
    if width == 0:
        return np.full((*shape, parts.size), 0.0 if leak else np.nan)
    rows = int(np.prod(shape))
    low, high, n = low.reshape(rows, width), high.reshape(rows, width), n.reshape(rows, width)
    logged = np.broadcast_to(np.asarray(0 if buckets is None else buckets) > 0, shape).reshape(rows)
    values = np.empty((rows, parts.size))
    chunk = max(1, _CHUNK // width)
    for at in range(0, rows, chunk):
        part = slice(at, at + chunk)
        values[part] = _percentiles(low[part], high[part], n[part], logged[part], parts, leak)
    return values.reshape(*shape, parts.size)


def _percentiles(left: Floats, right: Floats, counts: Floats, logged: Bools, parts: Floats, leak: bool) -> Floats:
    padding = is_padding(left, right, counts)
    if padding.any():
        size = _lengths(~padding)
        counts = np.where(padding, 0.0, counts)
    else:
        size = np.full(counts.shape[0], counts.shape[1])
    last = _lengths(counts != 0) - 1 if not leak else size - 1
    row = np.arange(counts.shape[0])[:, np.newaxis]
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        total = _totals(counts, size)[:, np.newaxis]
        running = np.cumsum(counts * 10000 / np.where(total == 0, 1.0, total), axis=1)
        bucket = _passed(running, size, parts)
        beyond = bucket >= size[:, np.newaxis]
        bucket = np.minimum(bucket, counts.shape[1] - 1)
        before = np.where(bucket > 0, running[row, bucket - 1], 0.0)
        end = right[row[:, 0], last][:, np.newaxis]
        hi, lo = right[row, bucket], left[row, bucket]
        if leak:
            start, previous = left[:, :1], right[row, bucket - 1]
            lo = np.where((bucket == 0) | (before == 0), start, np.where(start > previous, start, previous))
            hi = np.where(end < hi, end, hi)
        value = _interpolate(parts, before, running[row, bucket], lo, hi)
    value = np.where(beyond, end, value)
    value[size == 0] = np.where(logged[size == 0, np.newaxis], np.nan, 0.0)  # buckets without edges or counts
    if not leak:
        value[last < 0] = np.nan
    return value


def _totals(counts: Floats, size: Ints) -> Floats:
    """Add up each row, with the rounding that NumPy has for as many numbers as are no padding.

    Where a running total of fractions meets a part exactly, its last bit decides in which bucket the part lies.
    """
    total: Floats = counts.sum(axis=1)
    padded = np.flatnonzero(size < counts.shape[1])
    padded = padded[(counts[padded] != np.floor(counts[padded])).any(axis=1)]
    for length in np.unique(size[padded]).tolist():
        rows = padded[size[padded] == length]
        total[rows] = counts[rows, :length].sum(axis=1)
    return total


def _interpolate(x: Floats, x0: Floats, x1: Floats, y0: Floats, y1: Floats) -> Floats:
    span = y1 - y0
    value = y0 + (x - x0) * span / (x1 - x0)
    huge = np.isinf(span) & np.isfinite(y0) & np.isfinite(y1)
    if huge.any():
        part = (x - x0) / (x1 - x0)
        value = np.where(huge, y0 * (1 - part) + y1 * part, value)
    # Rounding may carry the sum past the end by one unit in the last place.
    return np.clip(value, np.minimum(y0, y1), np.maximum(y0, y1))


def _passed(running: Floats, size: Ints, parts: Floats) -> Ints:
    """Find, in each row, the first bucket whose running total exceeds each part, or the row's size.

    A binary search, like TensorBoard's: where counts are negative and the totals do not rise, the same bucket is found.
    """
    row = np.arange(size.size)[:, np.newaxis]
    low = np.zeros((size.size, parts.size), np.int64)
    high = np.broadcast_to(size[:, np.newaxis], low.shape)
    for _ in range(running.shape[1].bit_length()):
        middle = (low + high) >> 1
        ahead = (low < high) & (running[row, np.minimum(middle, running.shape[1] - 1)] <= parts)
        low, high = np.where(ahead, middle + 1, low), np.where(ahead, high, middle)
    return low


def _lengths(some: Bools) -> Ints:
    """Return how long each row is up to its last True."""
    width = some.shape[1]
    return np.where(some.any(axis=1), width - np.argmax(some[:, ::-1], axis=1), 0)
