"""Percentile bootstrap intervals of one estimate, for many small samples of equal size at once."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["bootstrap_interval"]

_ENUMERABLE = 5
_SMALL = 2**18
"""Multiplications in a product that stays in cache, and which BLAS does not share out: where other cores are busy, waiting
for them takes many times as long as the product."""


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
    the sorted values, the same for all samples: a matrix product. Of up to 5 values all resamples are counted with
    their probabilities, without chance; of more, `resamples` are drawn (their estimates in float32: the ends of the
    interval are exact to 6 digits of its width).

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
    enumerated = count <= _ENUMERABLE
    weights, chance = _all_resamples(order_weights) if enumerated else _drawn(order_weights, resamples, seed)
    size = max(1, _SMALL // weights.size)
    for start in range(0, len(finite), size):
        rows = finite[start : start + size]
        # Deviations from the estimate: equal values give no band at all, and a large offset costs no digits.
        centre = (ranked[rows] @ order_weights)[:, None]
        deviations = ranked[rows] - centre
        scale = np.abs(deviations).max(axis=1, keepdims=True)
        estimates = (deviations / np.where(scale > 0, scale, 1.0)).astype(weights.dtype) @ weights
        ends = _sorted_quantiles(estimates, level) if chance is None else _weighted_quantiles(estimates, chance, level)
        low[rows], high[rows] = (centre + scale * ends).T
    return low, high


def _drawn(order_weights: NDArray[np.float64], resamples: int, seed: int) -> tuple[NDArray[np.floating], None]:
    """Return what each sorted value weighs in the estimate of each resample, shape (values, resamples)."""
    count = len(order_weights)
    drawn = np.sort(np.random.default_rng(seed).integers(0, count, (resamples, count)), axis=1)
    return _resample_weights(drawn, order_weights).astype(np.float32), None


def _all_resamples(order_weights: NDArray[np.float64]) -> tuple[NDArray[np.floating], NDArray[np.float64]]:
    """Return the weights of every possible resample, as `_drawn`, and how probable each is."""
    count = len(order_weights)
    drawn = np.array(list(itertools.combinations_with_replacement(range(count), count)))
    repeats = (drawn[:, :, None] == np.arange(count)).sum(axis=1)
    factorial = np.array([math.factorial(i) for i in range(count + 1)])
    return _resample_weights(drawn, order_weights), factorial[count] / factorial[repeats].prod(axis=1) / count**count


def _resample_weights(drawn: NDArray[np.int64], order_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    resamples, count = drawn.shape
    place = drawn + np.arange(resamples)[:, None] * count
    weights = np.broadcast_to(order_weights, drawn.shape).ravel()
    summed = np.bincount(place.ravel(), weights, resamples * count).astype(np.float64, copy=False)
    return summed.reshape(resamples, count).T.copy()


def _sorted_quantiles(estimates: NDArray[np.floating], level: float) -> NDArray[np.float64]:
    """Return both ends, as `numpy.quantile` does: shape (samples, 2). Sorts in place: faster than partitioning."""
    estimates.sort(axis=1)
    at = np.array([1 - level, 1 + level]) / 2 * (estimates.shape[1] - 1)
    below = np.floor(at).astype(np.intp)
    above = np.minimum(below + 1, estimates.shape[1] - 1)
    share = at - below
    ends: NDArray[np.float64] = estimates[:, below] * (1.0 - share) + estimates[:, above] * share
    return ends


def _weighted_quantiles(
    estimates: NDArray[np.floating], chance: NDArray[np.float64], level: float
) -> NDArray[np.float64]:
    """Return both ends: the smallest estimates that are not exceeded with the chance asked for, shape (samples, 2)."""
    order = np.argsort(estimates, axis=1)
    reached = np.cumsum(chance[order], axis=1)
    # The tolerance keeps rounding in the sum from passing over an estimate that reaches the chance exactly.
    first = [np.argmax(reached >= (1 + side * level) / 2 - 1e-12, axis=1) for side in (-1, 1)]
    at = np.take_along_axis(order, np.stack(first, axis=1), axis=1)
    ends: NDArray[np.float64] = np.take_along_axis(estimates, at, axis=1).astype(np.float64, copy=False)
    return ends
