"""Which rows a restart superseded: arithmetic on steps in the order written."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

__all__ = [
    "POLICIES",
    "Policy",
    "later_minimum",
    "superseded_by_next_step",
    "superseded_by_start",
    "superseded_by_step_rule",
]

Policy: TypeAlias = Literal["purge", "latest", "keep", "mark"]
POLICIES: Final[tuple[str, ...]] = get_args(Policy)

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_NEVER: Final = np.iinfo(np.int64).max


def later_minimum(step: Ints, series: npt.NDArray[np.integer]) -> Ints:
    """Find, for each row, the lowest step of the later rows of its series.

    Parameters
    ----------
    step : ndarray of int64, shape (n,)
        Steps in the order written.
    series : ndarray of int, shape (n,)
        Which series each row belongs to: small non-negative numbers, in any order.

    Returns
    -------
    ndarray of int64, shape (n,)
        The greatest int64 where no later row is.

    Examples
    --------
    >>> later_minimum(np.array([0, 1, 2, 1, 2]), np.zeros(5, int))[:4]
    array([1, 1, 1, 2])
    """
    n = len(step)
    result = np.full(n, _NEVER)
    if n < 2:
        return result
    # Ranks, so that series can be told apart by adding an offset: one running minimum then serves all of them.
    ranks, distinct = _ranks(step)
    order = np.argsort(series, kind="stable")
    grouped = series[order]
    # Read backwards, the series come in falling order, so each must lie below all that were read before it.
    group = np.cumsum(np.diff(grouped, prepend=grouped[0]) != 0)
    lifted = ranks[order] + group * np.int64(len(distinct) + 1)
    lowest = np.minimum.accumulate(lifted[::-1])[::-1]
    same = grouped[1:] == grouped[:-1]
    after = np.flatnonzero(same)
    result[order[after]] = distinct[lowest[after + 1] - group[after] * np.int64(len(distinct) + 1)]
    return result


def _ranks(step: Ints) -> tuple[Ints, Ints]:
    distinct, ranks = np.unique(step, return_inverse=True)
    return ranks.reshape(-1).astype(np.int64), distinct


def superseded_by_next_step(step: Ints, series: npt.NDArray[np.integer]) -> Bools:
    """Tell which rows a later row of their series wrote over: one with a step no higher.

    What is left has strictly rising steps in each series, as TensorBoard's default server shows it.

    Parameters
    ----------
    step, series : ndarray, shape (n,)
        See `later_minimum`.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where a later row has a step less than or equal to the row's own.

    Examples
    --------
    >>> superseded_by_next_step(np.array([0, 1, 2, 1, 2]), np.zeros(5, int))
    array([False,  True,  True, False, False])
    """
    if np.all((series[1:] > series[:-1]) | ((series[1:] == series[:-1]) & (step[1:] > step[:-1]))):
        return np.zeros(len(step), bool)  # rows in order of series, steps rising: nearly every log
    later = later_minimum(step, series)
    return (later <= step) & _has_later(series)


def _has_later(series: npt.NDArray[np.integer]) -> Bools:
    """Tell which rows are not the last of their series."""
    last = np.zeros(len(series), bool)
    last[len(series) - 1 - np.unique(series[::-1], return_index=True)[1]] = True
    return ~last


def superseded_by_start(step: Ints, start_row: Ints, start_step: Ints) -> Bools:
    """Tell which rows of a run a SessionLog.START orphaned: rows at or after its step, logged before it.

    Parameters
    ----------
    step : ndarray of int64, shape (n,)
        Steps of all rows of the run, in the order written.
    start_row : ndarray of int64, shape (m,)
        How many of the rows were written before each START, ascending.
    start_step : ndarray of int64, shape (m,)
        The step of each START.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where a later START has a step less than or equal to the row's own.

    Examples
    --------
    >>> superseded_by_start(np.array([0, 1, 2, 1, 2]), np.array([3]), np.array([1]))
    array([False,  True,  True, False, False])
    """
    if not len(start_row):
        return np.zeros(len(step), bool)
    lowest = np.minimum.accumulate(start_step[::-1])[::-1]
    following = np.searchsorted(start_row, np.arange(len(step)), side="right")
    some = following < len(start_row)
    result = np.zeros(len(step), bool)
    result[some] = lowest[following[some]] <= step[some]
    return result


def superseded_by_step_rule(step: Ints, tag: npt.NDArray[np.integer], event: Ints, applies: Bools) -> Bools:
    """Tell which rows of a run TensorBoard drops by steps alone, as it does for files older than ``brain.Event:2``.

    TensorBoard's rule: when the step of a summary is below that of the summary before it, the rows of the tags *in that
    summary* at or after its step are dropped.

    Parameters
    ----------
    step, tag : ndarray, shape (n,)
        Step and tag of every value of the run, in the order written; a summary without a value is a row with tag -1.
    event : ndarray of int64, shape (n,)
        A number that differs between successive events.
    applies : ndarray of bool, shape (n,)
        Whether the rule held when the row was written.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where the row is dropped.

    Examples
    --------
    >>> steps, tags = np.array([0, 1, 2, 1]), np.array([0, 0, 1, 0])
    >>> superseded_by_step_rule(steps, tags, np.arange(4), np.ones(4, bool))
    array([False,  True, False, False])
    """
    n = len(step)
    opens = np.ones(n, bool)
    opens[1:] = np.diff(event) != 0
    number = np.cumsum(opens) - 1
    steps = step[opens]
    back = np.zeros(len(steps), bool)
    back[1:] = steps[1:] < steps[:-1]
    purges = back[number] & applies
    if not purges.any():
        return np.zeros(n, bool)
    # A row is dropped by a purge in a later event: purges count as rows at the beginning of their event, others never purge.
    reach = np.where(purges, step, _NEVER)
    key = np.concatenate([2 * number + 1, 2 * number])
    order = np.argsort(key, kind="stable")
    both = later_minimum(np.concatenate([np.full(n, _NEVER), reach])[order], np.concatenate([tag, tag])[order] + 1)
    later = np.empty(2 * n, np.int64)
    later[order] = both
    dropped: Bools = (later[:n] <= step) & (later[:n] != _NEVER)
    return dropped
