"""TensorBoard's debiased moving average, and its half-life forms, over many series at once."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from tbframe.series.arguments import check_number
from tbframe.series.grouping import batches

__all__ = ["linear_recurrence", "smooth", "smooth_half_life"]

_SERIAL = 64
_BLOCK = 512


def smooth(
    values: NDArray[np.float64], weight: float = 0.6, bounds: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Smooth series as TensorBoard's scalar charts do.

    TensorBoard's rule: s = weight * s + (1 - weight) * value from s = 0, divided by 1 - weight**n after n finite values
    (by 1 if weight is 1). Values that are not finite pass through and leave s alone; a constant series stays as it is.

    Parameters
    ----------
    values : ndarray of float64, shape (rows,)
        The series, one behind the other, each in the order logged.
    weight : float
        From 0 (no smoothing) to 1.
    bounds : ndarray of int64, shape (series + 1,), optional
        Series i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded. By default all rows are one series.

    Returns
    -------
    ndarray of float64, shape (rows,)
        The smoothed values.

    Raises
    ------
    ValueError, TypeError
        If `weight` is not a number from 0 to 1.

    Examples
    --------
    >>> smooth(np.array([0.0, 10.0, np.nan, 10.0]), weight=0.5)
    array([0.        , 6.66666667,        nan, 8.57142857])
    """
    check_number("weight", weight, "a number from 0 to 1")
    if not 0 <= weight <= 1:
        raise ValueError(f"weight={weight!r}: expected a number from 0 (no smoothing) to 1")
    values, bounds = _series(values, bounds)
    smoothed = np.empty(len(values))
    for rows, of_rows in batches(bounds):
        smoothed[rows] = _smooth(values[rows], weight, of_rows)
    return smoothed


def smooth_half_life(
    values: NDArray[np.float64],
    positions: NDArray[np.int64] | NDArray[np.float64],
    half_life: float,
    bounds: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Smooth series by a weight that halves over a distance in steps or seconds, however unevenly they were logged.

    Each value is the average of all finite values so far, weighted by 2**(-distance / half_life). At even spacing this
    is `smooth` with ``weight = 2**(-spacing / half_life)``; pandas calls it ``ewm(halflife=, times=).mean()``.

    Parameters
    ----------
    values : ndarray of float64, shape (rows,)
        The series, one behind the other, each in the order logged.
    positions : ndarray of int64 or float64, shape (rows,)
        Step, or wall time in seconds, of each row. Where it goes back or is not finite, no distance is counted.
    half_life : float
        Distance over which a weight halves, in the unit of `positions`; above 0.
    bounds : ndarray of int64, shape (series + 1,), optional
        Series i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded. By default all rows are one series.

    Returns
    -------
    ndarray of float64, shape (rows,)
        The smoothed values. Values that are not finite pass through; a constant series stays as it is.

    Raises
    ------
    ValueError, TypeError
        If `half_life` is not a finite number above 0.

    Examples
    --------
    >>> smooth_half_life(np.array([0.0, 10.0, 10.0]), np.array([0, 1, 101]), half_life=1)
    array([ 0.        ,  6.66666667, 10.        ])
    """
    check_number("half_life", half_life, "a number above 0")
    if not (half_life > 0 and math.isfinite(half_life)):
        raise ValueError(f"half_life={half_life!r}: expected a finite number above 0")
    values, bounds = _series(values, bounds)
    rows, starts, _ = _finite(values, bounds)
    points = values if rows is None else values[rows]
    decay = np.exp2(-_distances(positions if rows is None else positions[rows]) / half_life)
    decay[starts] = 0.0
    total_weight = linear_recurrence(decay, np.ones(len(points)))
    # A new value's share of the average; as a blend of two averages nothing can overflow.
    share = 1.0 / total_weight
    blend = 1.0 - share
    blend[starts] = 0.0
    return _with_constants(values, bounds, linear_recurrence(blend, share * points), rows)


def linear_recurrence(decay: NDArray[np.float64], gain: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ``s[i] = decay[i] * s[i - 1] + gain[i]`` from s = 0, without a loop over i.

    The rows are cut into blocks that advance side by side, a row of each per turn; what each block passes on to the
    next is again such a recurrence, over the blocks. No power of `decay` is ever divided by, so that nothing overflows,
    and the rounding errors are those of the plain loop.

    Parameters
    ----------
    decay, gain : ndarray of float64, shape (rows,)
        The coefficients. A `decay` of 0 starts anew, which is how several series share one call.

    Returns
    -------
    ndarray of float64, shape (rows,)
        s.

    Examples
    --------
    >>> linear_recurrence(np.array([0.0, 0.5, 0.5]), np.array([8.0, 0.0, 1.0]))
    array([8., 4., 3.])
    """
    rows = len(gain)
    if rows <= _SERIAL:
        pairs = zip(decay.tolist(), gain.tolist(), strict=True)
        states = itertools.accumulate(pairs, lambda state, pair: pair[0] * state + pair[1], initial=0.0)
        return np.array(list(states)[1:], np.float64)
    height = min(_BLOCK, math.isqrt(rows))
    blocks = rows // height
    whole = blocks * height
    # Blocks become columns, so that one turn reads and writes contiguous memory.
    carried = decay[:whole].reshape(blocks, height).T.copy()
    state = gain[:whole].reshape(blocks, height).T.copy()
    step = np.empty(blocks)
    for i in range(1, height):
        state[i] += np.multiply(carried[i], state[i - 1], out=step)
        carried[i] *= carried[i - 1]
    ends = linear_recurrence(carried[-1], state[-1])
    carried[:, 1:] *= ends[:-1]
    state[:, 1:] += carried[:, 1:]
    out = np.empty(rows)
    out[:whole].reshape(blocks, height)[:] = state.T
    last_decay, last_gain = decay[whole:].copy(), gain[whole:].copy()
    if whole < rows:
        last_gain[0] += last_decay[0] * ends[-1]
        out[whole:] = linear_recurrence(last_decay, last_gain)
    return out


def _smooth(values: NDArray[np.float64], weight: float, bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    rows, starts, count = _finite(values, bounds)
    points = values if rows is None else values[rows]
    decay = np.full(len(points), float(weight))
    decay[starts] = 0.0
    smoothed = linear_recurrence(decay, (1.0 - weight) * points)
    if weight != 1:
        correction = _debias(weight, int(count.max(initial=0)))
        smoothed /= correction[np.minimum(count, len(correction)) - 1]
    return _with_constants(values, bounds, smoothed, rows)


def _series(
    values: NDArray[np.float64], bounds: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    values = np.asarray(values, np.float64)
    return values, np.array([0, len(values)], np.int64) if bounds is None else bounds


def _finite(
    values: NDArray[np.float64], bounds: NDArray[np.int64]
) -> tuple[NDArray[np.intp] | None, NDArray[np.int64], NDArray[np.int64]]:
    """Return the finite rows (None: all), where each series starts among them, and the number of each, from 1."""
    finite = np.isfinite(values)
    if finite.all():
        rows, ends = None, bounds
    else:
        rows = np.flatnonzero(finite)
        ends = np.searchsorted(rows, bounds).astype(np.int64)
    lengths = np.diff(ends)
    first = ends[:-1][lengths > 0]
    number = np.arange(1, ends[-1] + 1) - np.repeat(first, lengths[lengths > 0])
    return rows, first, number


def _with_constants(
    values: NDArray[np.float64],
    bounds: NDArray[np.int64],
    smoothed: NDArray[np.float64],
    rows: NDArray[np.intp] | None,
) -> NDArray[np.float64]:
    """Put the smoothed points among the rows, except in constant series."""
    if rows is None:
        out = smoothed
    else:
        out = values.copy()
        out[rows] = smoothed
    lengths = np.diff(bounds)
    starts = bounds[:-1][lengths > 0]
    lengths = lengths[lengths > 0]
    if len(starts):
        constant = np.logical_and.reduceat(values == np.repeat(values[starts], lengths), starts)
        if constant.any():
            out = np.where(np.repeat(constant, lengths), values, out)
    return out


def _debias(weight: float, count: int) -> NDArray[np.float64]:
    """Return 1 - weight**n for n = 1 to `count`, or to where it rounds to 1.

    As the recurrence itself over ones it keeps its digits for weights close to 1, where the subtraction loses them.
    """
    if weight > 0:
        count = min(count, math.ceil(math.log(np.finfo(np.float64).eps / 4) / math.log(weight)))
    decay = np.full(count if weight > 0 else min(count, 1), float(weight))
    return linear_recurrence(decay, np.full(len(decay), 1.0 - weight))


def _distances(positions: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each row lies after the one before it: 0 where positions go back or are not finite."""
    if positions.dtype.kind == "f":
        known = np.isfinite(positions)
        if not known.all():
            latest = np.maximum.accumulate(np.where(known, np.arange(len(positions)), -1))
            positions = np.where(latest < 0, np.nan, positions[latest])
        distance = np.diff(positions, prepend=positions[:1])
        return np.where(distance > 0, distance, 0.0)
    # Steps may lie further apart than an int64 holds: as float64 the difference is only rounded.
    ahead = np.diff(positions, prepend=positions[:1]).astype(np.float64)
    wide = np.diff(positions.astype(np.float64), prepend=positions[:1].astype(np.float64))
    return np.where(np.abs(wide) > 2.0**62, np.maximum(wide, 0.0), np.maximum(ahead, 0.0))
