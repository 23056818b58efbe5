"""What all of the arithmetic on histograms shares: the shape of the arrays, what counts as padding, density."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Floats", "Ints", "as_arrays", "density", "is_left_out", "is_padding", "is_usable", "pad", "within"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def pad(values: npt.ArrayLike, lengths: npt.ArrayLike, fill: float = np.nan) -> Floats:
    """Lay rows of unequal length, given end to end, out as one array.

    Parameters
    ----------
    values : float64 array (sum of lengths,)
        The rows, one after the other.
    lengths : int64 array (n,)
        The length of each row.
    fill : float
        What stands behind the end of a row.

    Returns
    -------
    float64 array (n, longest length)

    Examples
    --------
    >>> pad([1.0, 2.0, 3.0], [1, 0, 2])
    array([[ 1., nan],
           [nan, nan],
           [ 2.,  3.]])
    """
    sizes = np.asarray(lengths, np.int64)
    padded = np.full((sizes.size, int(sizes.max(initial=0))), fill)
    padded[within(sizes, padded.shape[1])] = values
    return padded


def within(lengths: Ints, width: int) -> Bools:
    """Mark, in rows of one width, the elements before each row's length."""
    return np.arange(width) < lengths[:, np.newaxis]


def is_left_out(left: npt.ArrayLike, right: npt.ArrayLike, counts: npt.ArrayLike) -> Bools:
    """Find the buckets that hold something but cannot be placed: a count, or an edge, that is not finite.

    Parameters
    ----------
    left, right, counts : float64 array (..., bin)
        Histograms.

    Returns
    -------
    bool array (..., bin)

    Examples
    --------
    >>> is_left_out([-float("inf"), 0.0, 1.0], [0.0, 1.0, 2.0], [3.0, 4.0, float("nan")])
    array([ True, False,  True])
    """
    low, high, n = as_arrays(left, right, counts)
    left_out: Bools = (n != 0) & ~is_usable(low, high, n) & ~is_padding(low, high, n)
    return left_out


def density(left: npt.ArrayLike, right: npt.ArrayLike, counts: npt.ArrayLike) -> Floats:
    """Divide counts by the total of their histogram and the width of their bucket.

    Parameters
    ----------
    left, right, counts : float64 array (..., bin)
        Histograms.

    Returns
    -------
    float64 array (..., bin)
        Integrates to 1 over each histogram, as ``np.histogram(density=True)`` does. 0 for empty buckets, infinite for
        others without width, NaN for padding and for buckets that run backwards.

    Examples
    --------
    >>> density([0.0, 1.0], [1.0, 3.0], [4.0, 4.0])
    array([0.5 , 0.25])
    """
    low, high, n = as_arrays(left, right, counts)
    padding = is_padding(low, high, n)
    total = np.where(padding, 0.0, n).sum(axis=-1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        half = high / 2 - low / 2  # the whole width of +-1.8e308 is no float64
        result = n / np.where(total == 0, 1.0, total) / half / 2
    result = np.where((n == 0) & (half >= 0), 0.0, result)
    return np.where(padding | (half < 0), np.nan, result)


def as_arrays(left: npt.ArrayLike, right: npt.ArrayLike, counts: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return the three as float64 arrays of the shape of `counts`; shared edges are repeated without a copy."""
    n = np.asarray(counts, np.float64)
    if n.ndim == 0:
        raise ValueError("counts: expected an array whose last axis runs over buckets, found a single number")
    return (
        np.broadcast_to(np.asarray(left, np.float64), n.shape),
        np.broadcast_to(np.asarray(right, np.float64), n.shape),
        n,
    )


def is_usable(left: Floats, right: Floats, counts: Floats) -> Bools:
    """Mark the buckets that hold something and can be placed."""
    usable: Bools = (counts != 0) & np.isfinite(left) & np.isfinite(right) & np.isfinite(counts)
    return usable


def is_padding(left: Floats, right: Floats, counts: Floats) -> Bools:
    """Mark what stands behind the last bucket of a histogram, and steps that were not logged at all (NaN counts)."""
    padding: Bools = np.isnan(left) & np.isnan(right) & ((counts == 0) | np.isnan(counts))
    return padding
