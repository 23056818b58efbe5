"""Percentile bootstrap intervals of one estimate, for many small samples of equal size at once."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["bootstrap_interval"]

_ENUMERABLE = 6
_SMALL = 2**18
"""Multiplications in a product that stays in cache, and which BLAS does not share out: where other cores are busy, waiting
for them takes many times as long as the product."""
_COMPARABLE = 2**12
"""So many resamples are compared with each other at most: a matrix of all pairs then takes 16 MB."""
_PLACE = 2**9 - 1
"""The bits of a float64 that hold the number of a resample: there are 462 of 6 values."""
_ROUNDING = 1e-12
"""Keeps rounding in sums of probabilities from passing over an estimate that reaches a probability exactly."""


class _Resamples(NamedTuple):
    """Those resamples among which the ends of the interval are, whatever the sample."""

    weights: NDArray[np.floating]
    """What each sorted value weighs in the estimate of each, shape (values, resamples)."""
    chance: NDArray[np.float64] | None
    """How probable each is; None if all are equally so."""


def bootstrap_interval(
    ranked: NDArray[np.float64],
    order_weights: NDArray[np.float64],
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the percentile bootstrap interval of an estimate that is a weighted sum of sorted values.

    A resample of sorted values is a sample of ranks, so that the estimate of each resample is one fixed weighted sum of
    the sorted values, the same for all samples: a matrix product. Of up to 6 values all resamples are counted with
    their probabilities, without chance; of more, `resamples` are drawn (their estimates in float32: the ends of the
    interval are then exact to 6 digits of its width).

    Parameters
    ----------
    ranked : ndarray of float64, shape (samples, values)
        Each row ascending.
    order_weights : ndarray of float64, shape (values,)
        How much each sorted value weighs in the estimate.
    level : float
        Share of the resamples that the interval holds, between 0 and 1.
    resamples, seed : int
        How many resamples are drawn, and from which seed: the same for every sample.

    Returns
    -------
    low, high : ndarray of float64, shape (samples,)
        NaN for samples of one value, and for those that hold infinities.

    Examples
    --------
    >>> bootstrap_interval(np.array([[1.0, 2.0]]), np.array([0.5, 0.5]))
    (array([1.]), array([2.]))
    """
    samples, count = ranked.shape
    low, high = np.full((2, samples), np.nan)
    finite = np.flatnonzero(np.isfinite(ranked[:, 0]) & np.isfinite(ranked[:, -1]))
    if count == 1 or not len(finite):
        return low, high
    if count <= _ENUMERABLE:
        possible = _all_resamples(order_weights, level)
    else:
        possible = _drawn(order_weights, level, resamples, seed, len(finite))
    size = max(1, _SMALL // possible.weights.size)
    for start in range(0, len(finite), size):
        rows = finite[start : start + size]
        # Deviations from the estimate: equal values give no band at all, and a large offset costs no digits.
        centre = (ranked[rows] @ order_weights)[:, None]
        deviations = ranked[rows] - centre
        scale = np.abs(deviations).max(axis=1, keepdims=True)
        scaled = (deviations / np.where(scale > 0, scale, 1.0)).astype(possible.weights.dtype)
        estimates = scaled @ possible.weights
        if possible.chance is None:
            ends = _sorted_quantiles(estimates, (1 - level) / 2 * (resamples - 1))
        else:
            ends = _weighted_quantiles(estimates, possible.chance, (1 - level) / 2)
        low[rows], high[rows] = (centre + scale * ends).T
    return low, high


def _drawn(order_weights: NDArray[np.float64], level: float, resamples: int, seed: int, samples: int) -> _Resamples:
    """Draw resamples; those that can be no end of an interval are left out where finding them out is worth it."""
    count = len(order_weights)
    drawn = np.sort(np.random.default_rng(seed).integers(0, count, (resamples, count)), axis=1)
    weights = _resample_weights(drawn, order_weights).astype(np.float32)
    # Comparing all resamples takes about as long as sorting the estimates of so many samples.
    if resamples <= _COMPARABLE and samples > count * resamples:
        below = _surely_below(weights)
        most = math.floor((1 - level) / 2 * (resamples - 1)) + 1
        weights = weights[:, (below.sum(axis=0) <= most) | (below.sum(axis=1) <= most)]
    return _Resamples(weights, None)


def _all_resamples(order_weights: NDArray[np.float64], level: float) -> _Resamples:
    """List every possible resample and how probable it is, without those that can be no end of an interval."""
    count = len(order_weights)
    drawn = np.array(list(itertools.combinations_with_replacement(range(count), count)))
    repeats = (drawn[:, :, None] == np.arange(count)).sum(axis=1)
    factorial = np.array([math.factorial(i) for i in range(count + 1)])
    chance = factorial[count] / factorial[repeats].prod(axis=1) / count**count
    weights = _resample_weights(drawn, order_weights)
    below = _surely_below(weights)
    most = (1 - level) / 2 + _ROUNDING
    possible = (chance @ below <= most) | (below @ chance <= most)
    return _Resamples(weights[:, possible], chance[possible])


def _resample_weights(drawn: NDArray[np.int64], order_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each sorted value weighs in the estimate of each resample, shape (values, resamples)."""
    resamples, count = drawn.shape
    place = drawn + np.arange(resamples)[:, None] * count
    weights = np.broadcast_to(order_weights, drawn.shape).ravel()
    summed = np.bincount(place.ravel(), weights, resamples * count).astype(np.float64, copy=False)
    return summed.reshape(resamples, count).T.copy()


def _surely_below(weights: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Tell which resamples cannot have the larger estimate of two, whatever the sample: shape (resamples, resamples).

    As the values ascend, an estimate is their smallest plus the gaps between them, each times the weight of all values
    above it. The estimate of which no such weight is the larger one is not the larger one. Where those surely below a
    resample reach the lower end of an interval without it, it need not be looked at, and likewise for those above. Of
    equal ones the earlier counts as below.
    """
    weight_above = np.cumsum(weights[:0:-1], axis=0, dtype=np.float64).round(6).astype(np.float32)
    resamples = weights.shape[1]
    below = np.ones((resamples, resamples), bool)
    for of_gap in weight_above:
        below &= of_gap[:, None] <= of_gap
    equal = below & below.T
    below &= ~equal | np.tri(resamples, k=-1, dtype=bool).T
    return below


def _sorted_quantiles(estimates: NDArray[np.floating], at: float) -> NDArray[np.float64]:
    """Return what lies so many places from either end, between two as `numpy.quantile` does: shape (samples, 2)."""
    # In place: faster than partitioning.
    estimates.sort(axis=1)
    last = estimates.shape[1] - 1
    outer, share = math.floor(at), at - math.floor(at)
    inner = min(outer + 1, last)
    places = [outer, last - outer], [inner, last - inner]
    ends: NDArray[np.float64] = estimates[:, places[0]] * (1.0 - share) + estimates[:, places[1]] * share
    return ends


def _weighted_quantiles(
    estimates: NDArray[np.float64], chance: NDArray[np.float64], outside: float
) -> NDArray[np.float64]:
    """Return the smallest estimates that are not exceeded with a chance of `outside`, and of 1 - `outside`."""
    # Sorting numbers takes a third of the time of sorting their places: each estimate carries its place in the last bits.
    marked = (estimates.view(np.int64) & ~_PLACE | np.arange(len(chance))).view(np.float64)
    marked.sort(axis=1)
    place = marked.view(np.int64) & _PLACE
    ordered = chance[place]
    first = np.argmax(np.cumsum(ordered, axis=1) > outside - _ROUNDING, axis=1)
    # Not exceeded with a chance of 1 - outside: those above have no more than the rest.
    last = len(chance) - 1 - np.argmax(np.cumsum(ordered[:, ::-1], axis=1) > outside + _ROUNDING, axis=1)
    at = np.take_along_axis(place, np.stack([first, last], axis=1), axis=1)
    return np.take_along_axis(estimates, at, axis=1)
