"""Series of one group brought onto the same steps."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tbframe.series.grouping import mixed_key, ragged_ranges

__all__ = ["ALIGNMENTS", "Alignment", "align"]

Alignment: TypeAlias = Literal["exact", "interp", "nearest"]

ALIGNMENTS: Final = ("exact", "interp", "nearest")
"""The ways to bring series onto the same steps."""


def align(
    steps: NDArray[np.int64],
    values: NDArray[np.float64],
    bounds: NDArray[np.int64],
    group: NDArray[np.int64],
    method: Alignment = "interp",
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Give every series a value at all steps of its group, from its own first to its own last.

    Parameters
    ----------
    steps : ndarray of int64, shape (rows,)
        Rising strictly within each series.
    values : ndarray of float64, shape (rows, columns)
        What to align; NaN and infinities spread to the steps that lie next to them.
    bounds : ndarray of int64, shape (series + 1,)
        Series i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded, and at least one row.
    group : ndarray of int64, shape (series,)
        Not negative: series with the same number share their steps.
    method : {"exact", "interp", "nearest"}
        Leave the series as they are; interpolate linearly between their neighbouring steps; or take the nearest
        step, of two equally near ones the earlier.

    Returns
    -------
    steps : ndarray of int64, shape (rows out,)
        For each series those steps of its group, ascending, that its own steps enclose.
    values : ndarray of float64, shape (rows out, columns)
        The values there. Nothing is extrapolated.
    bounds : ndarray of int64, shape (series + 1,)
        As before, of the rows out.

    Raises
    ------
    ValueError
        If `method` is unknown.

    Examples
    --------
    >>> steps, values = np.array([0, 10, 0, 5, 10]), np.array([[0.0], [1.0], [3.0], [3.0], [3.0]])
    >>> aligned = align(steps, values, np.array([0, 2, 5]), np.array([0, 0]))
    >>> aligned[0], aligned[1][:, 0]
    (array([ 0,  5, 10,  0,  5, 10]), array([0. , 0.5, 1. , 3. , 3. , 3. ]))
    """
    if method not in ALIGNMENTS:
        raise ValueError(f"align={method!r}: expected one of {', '.join(map(repr, ALIGNMENTS))}")
    lengths = np.diff(bounds)
    if method == "exact" or not len(lengths):
        return steps, values, bounds
    series = np.repeat(np.arange(len(lengths)), lengths)
    of_group, first_row = np.unique(mixed_key(group[series], steps), return_index=True)
    grid = steps[first_row]
    key = mixed_key(group[series], steps)
    low = np.searchsorted(of_group, key[bounds[:-1]])
    high = np.searchsorted(of_group, key[bounds[1:] - 1]) + 1
    wanted = ragged_ranges(low, high - low)
    new_bounds = np.concatenate([[0], np.cumsum(high - low)])
    # A series' own steps are among the wanted ones: counting them finds the one at or before each.
    own = np.zeros(len(wanted), np.int64)
    own[np.repeat(new_bounds[:-1] - low, lengths) + np.searchsorted(of_group, key)] = 1
    before = np.cumsum(own) - 1
    after = before + (own == 0)
    at = grid[wanted]
    past, ahead = _gap(at, steps[before]), _gap(steps[after], at)
    if method == "nearest":
        return at, values[np.where(past <= ahead, before, after)], new_bounds
    with np.errstate(invalid="ignore"):
        share = (past / np.where(own == 1, 1.0, past + ahead))[:, None]
        between = values[before] * (1.0 - share) + values[after] * share
    return at, np.where(own[:, None] == 1, values[before], between), new_bounds


def _gap(later: NDArray[np.int64], earlier: NDArray[np.int64]) -> NDArray[np.float64]:
    # As unsigned numbers the difference of any two int64 is exact.
    return (later.view(np.uint64) - earlier.view(np.uint64)).astype(np.float64)
