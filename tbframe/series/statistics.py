"""Estimates over runs, and bands around them, for many steps at once."""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tbframe.series.arguments import check_number
from tbframe.series.bootstrap import bootstrap_interval
from tbframe.series.grouping import ragged_ranges

__all__ = ["BANDS", "ESTIMATORS", "Band", "Estimator", "Summary", "order_weights", "summarise"]

Estimator: TypeAlias = Literal["mean", "median", "iqm"]
Band: TypeAlias = Literal["ci", "std", "se", "minmax", "quantile"]

ESTIMATORS: Final = ("mean", "median", "iqm")
"""What `summarise` can put in the middle."""

BANDS: Final = ("ci", "std", "se", "minmax", "quantile")
"""What `summarise` can put around it."""


class Summary(NamedTuple):
    """One estimate per cell, each array of shape (cells,)."""

    centre: NDArray[np.float64]
    """The estimate; NaN where a cell holds no number."""
    low: NDArray[np.float64]
    """Lower end of the band; NaN where it is not defined."""
    high: NDArray[np.float64]
    """Upper end of the band."""
    n: NDArray[np.int64]
    """How many numbers each cell holds; NaN is none."""


def summarise(
    values: NDArray[np.float64],
    bounds: NDArray[np.int64],
    estimator: Estimator = "mean",
    band: Band | None = "ci",
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Summary:
    """Estimate the middle of each cell's values and a band around it.

    Parameters
    ----------
    values : ndarray of float64, shape (rows,)
        The values, one cell behind the other. NaN does not count.
    bounds : ndarray of int64, shape (cells + 1,)
        Cell i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded.
    estimator : {"mean", "median", "iqm"}
        "iqm" is the interquartile mean: the mean without the ``n // 4`` smallest and largest of n values (Agarwal et
        al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice", 2021).
    band : {"ci", "std", "se", "minmax", "quantile"} or None
        "ci": percentile bootstrap interval of the estimate at `level`. "std", "se": the estimate plus and minus the
        sample standard deviation (n - 1), or that over the root of n. "minmax": smallest and largest value. "quantile":
        the middle `level` of the values. Of one value "ci", "std" and "se" are NaN.
    level : float
        Between 0 and 1; of "ci" and "quantile".
    resamples : int
        Number of bootstrap samples of cells with more than 6 values, at least 1; of fewer values all are counted.
    seed : int
        Seed of the bootstrap; cells of equal n share their draws.

    Returns
    -------
    Summary
        centre, low, high and n per cell.

    Raises
    ------
    ValueError, TypeError
        If an argument is none of the above.

    Examples
    --------
    >>> summarise(np.array([1.0, 3.0, 2.0, np.nan]), np.array([0, 2, 4]), band="minmax")
    Summary(centre=array([2., 2.]), low=array([1., 2.]), high=array([3., 2.]), n=array([2, 1]))
    """
    _check(estimator, band, level, resamples)
    counted = ~np.isnan(values)
    if not counted.all():
        bounds = np.concatenate([[0], np.cumsum(counted)])[bounds]
        values = values[counted]
    n = np.diff(bounds)
    centre, low, high = np.full((3, len(n)), np.nan)
    # One turn per distinct number of values: cells of equal n are one matrix.
    for count in np.unique(n[n > 0]).tolist():
        cells = np.flatnonzero(n == count)
        rows = ragged_ranges(bounds[cells], n[cells])
        ranked = np.sort(values[rows].reshape(len(cells), count), axis=1)
        # Infinities are values like any other; what is undefined between them is NaN.
        with np.errstate(invalid="ignore", over="ignore"):
            centre[cells] = _estimate(ranked, estimator)
            if band == "ci":
                low[cells], high[cells] = bootstrap_interval(
                    ranked, order_weights(count, estimator), level=level, resamples=resamples, seed=seed
                )
            elif band is not None:
                low[cells], high[cells] = _spread(ranked, centre[cells], band, level)
    return Summary(centre, low, high, n.astype(np.int64))


def order_weights(count: int, estimator: Estimator) -> NDArray[np.float64]:
    """Return how much each of `count` sorted values weighs in an estimate.

    Parameters
    ----------
    count : int
        Number of values, at least 1.
    estimator : {"mean", "median", "iqm"}
        All of them are weighted sums of the sorted values.

    Returns
    -------
    ndarray of float64, shape (count,)
        Weights that add up to 1.

    Examples
    --------
    >>> order_weights(4, "iqm")
    array([0. , 0.5, 0.5, 0. ])
    """
    cut = {"mean": 0, "median": (count - 1) // 2, "iqm": count // 4}[estimator]
    weights = np.zeros(count)
    weights[cut : count - cut] = 1.0 / (count - 2 * cut)
    return weights


def _check(estimator: str, band: str | None, level: float, resamples: int) -> None:
    if estimator not in ESTIMATORS:
        raise ValueError(f"estimator={estimator!r}: expected one of {', '.join(map(repr, ESTIMATORS))}")
    if band is not None and band not in BANDS:
        raise ValueError(f"band={band!r}: expected one of {', '.join(map(repr, BANDS))}, or None")
    check_number("level", level, "a number between 0 and 1, such as 0.95")
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: expected a number between 0 and 1, such as 0.95")
    if isinstance(resamples, bool) or not isinstance(resamples, int | np.integer):
        raise TypeError(f"resamples={resamples!r}: expected a whole number, found {type(resamples).__name__}")
    if resamples < 1:
        raise ValueError(f"resamples={resamples!r}: expected at least 1 bootstrap sample")


def _estimate(ranked: NDArray[np.float64], estimator: Estimator) -> NDArray[np.float64]:
    used = np.flatnonzero(order_weights(ranked.shape[1], estimator))
    return np.asarray(ranked[:, used[0] : used[-1] + 1].mean(axis=1))


def _spread(
    ranked: NDArray[np.float64], centre: NDArray[np.float64], band: Band, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if band == "minmax":
        return ranked[:, 0], ranked[:, -1]
    if band == "quantile":
        low, high = np.quantile(ranked, [(1 - level) / 2, (1 + level) / 2], axis=1)
        return low, high
    count = ranked.shape[1]
    if count == 1:
        return np.full(len(ranked), np.nan), np.full(len(ranked), np.nan)
    half = ranked.std(axis=1, ddof=1) / (math.sqrt(count) if band == "se" else 1.0)
    return centre - half, centre + half
