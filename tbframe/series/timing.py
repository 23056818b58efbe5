"""Time as people count it: without the nights in which nothing ran."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tbframe.series.grouping import group_rows, stable_order

__all__ = ["LONG_GAP", "group_medians", "pauses", "typical_intervals"]

LONG_GAP: Final = 10.0
"""A gap over so many times the run's typical interval is a pause."""


def typical_intervals(
    times: NDArray[np.float64], run: NDArray[np.int64], series: NDArray[np.int64], runs: int
) -> NDArray[np.float64]:
    """Compute each run's median interval between one value of a tag and the next.

    Parameters
    ----------
    times : ndarray of float64, shape (rows,)
        Wall times in seconds. Those that are not finite do not count.
    run, series : ndarray of int64, shape (rows,)
        Which run, and which (run, tag), each row belongs to.
    runs : int
        How many runs there are.

    Returns
    -------
    ndarray of float64, shape (runs,)
        Seconds, over all tags of the run; intervals of no time and backwards do not count. NaN where there is none.

    Examples
    --------
    >>> typical_intervals(np.array([0.0, 1.0, 3.0, 3.5]), np.zeros(4, int), np.zeros(4, int), 1)
    array([1.])
    """
    order, _ = group_rows(series)
    if order is not None:
        times, run, series = times[order], run[order], series[order]
    with np.errstate(invalid="ignore"):
        interval = np.diff(times)
    counts = (series[1:] == series[:-1]) & (interval > 0) & np.isfinite(interval)
    return group_medians(interval[counts], run[1:][counts], runs)


def group_medians(values: NDArray[np.float64], group: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    """Compute the median of each group.

    Parameters
    ----------
    values : ndarray of float64, shape (rows,)
        Without NaN.
    group : ndarray of int64, shape (rows,)
        From 0 to `groups` - 1.
    groups : int
        How many groups there are.

    Returns
    -------
    ndarray of float64, shape (groups,)
        NaN for groups without a row.

    Examples
    --------
    >>> group_medians(np.array([1.0, 9.0, 4.0, 2.0]), np.array([0, 0, 2, 0]), 3)
    array([ 2., nan,  4.])
    """
    order = np.argsort(values)
    order = order[stable_order(group[order])]
    counts = np.bincount(group, minlength=groups)
    starts = np.cumsum(counts) - counts
    medians = np.full(groups, np.nan)
    some = counts > 0
    lower, upper = (values[order[starts[some] + place[some]]] for place in ((counts - 1) // 2, counts // 2))
    # Halves first: the sum of two large numbers may be no number.
    medians[some] = np.where(lower == upper, lower, lower / 2 + upper / 2)
    return medians


def pauses(relative: NDArray[np.float64], run: NDArray[np.int64], typical: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute how much time went by in pauses before each row.

    Parameters
    ----------
    relative : ndarray of float64, shape (rows,)
        Seconds since the start of the run. What is not finite has no pauses before it.
    run : ndarray of int64, shape (rows,)
        Which run each row belongs to.
    typical : ndarray of float64, shape (runs,)
        Each run's typical interval. Of a gap over `LONG_GAP` times as long, what goes beyond one interval is a pause;
        NaN: the run has no pauses.

    Returns
    -------
    ndarray of float64, shape (rows,)
        Seconds.

    Examples
    --------
    >>> pauses(np.array([0.0, 1.0, 101.0]), np.zeros(3, int), np.array([1.0]))
    array([ 0.,  0., 99.])
    """
    lost = np.zeros(len(relative))
    rows = np.flatnonzero(np.isfinite(relative))
    rows = rows[np.argsort(relative[rows])]
    rows = rows[stable_order(run[rows])]
    times, of_run = relative[rows], run[rows]
    starts = np.flatnonzero(np.diff(of_run, prepend=-1) != 0)
    gap = np.diff(times, prepend=0.0)
    # Before its first row every run has the time since its start.
    gap[starts] = times[starts]
    usual = typical[of_run]
    passed = np.cumsum(np.where(gap > LONG_GAP * usual, gap - usual, 0.0))
    before = np.concatenate([[0.0], passed])[starts]
    lost[rows] = passed - np.repeat(before, np.diff(np.append(starts, len(rows))))
    return lost
