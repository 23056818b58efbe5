"""Time since a run's start, and wall times as dates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tbframe import series
from tbframe.verbs.frames import by_series, tidy
from tbframe.verbs.scalar_columns import numbers

__all__ = ["Starts", "elapsed", "utc_times"]

Starts: TypeAlias = "float | Mapping[str, float] | pd.Series | pd.DataFrame | None"
"""What `elapsed` counts from: one wall time, one per run, a frame with the columns run and start, or None."""

_NANOSECONDS = 1_000_000_000


def elapsed(frame: pd.DataFrame, since: Starts = None) -> pd.DataFrame:
    """Add the time since the start of each run.

    Parameters
    ----------
    frame : DataFrame
        With the columns run, tag and wall_time.
    since : float, mapping, Series or DataFrame, optional
        Wall times in seconds to count from: one for all runs, one per run (by run name), or a frame with the columns
        run and start, such as ``tbframe.runs(logdir)``. By default the earliest wall time of each run in the frame.

    Returns
    -------
    DataFrame
        The same rows with the columns `relative` (float64, seconds since the start), `active` (float64, the same
        without pauses: a gap over 10 times the run's median interval between values of a tag counts as one such
        interval) and `time` (datetime64[ns, UTC]; NaT where the wall time is not finite or beyond the years 1678 to
        2261).

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    ValueError
        If `since` has no start for a run of the frame, or several.
    TypeError
        If `since` is none of the above.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": "loss", "wall_time": [100.0, 101.0, 102.0, 500.0]})
    >>> elapsed(frame)[["relative", "active"]].to_numpy().tolist()
    [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [400.0, 3.0]]
    """
    rows = by_series(frame, "elapsed", "wall_time")
    wall_time = numbers(frame["wall_time"])
    run, runs = rows.run.code, len(rows.run.names)
    starts = _first_times(wall_time, run, runs) if since is None else _given_starts(since, rows.run.names)
    with np.errstate(invalid="ignore"):
        relative = wall_time - starts[run]
    tag_count = max(1, len(rows.tag.names))
    typical = series.typical_intervals(wall_time, run, run * tag_count + rows.tag.code, runs)
    active = relative - series.pauses(relative, run, typical)
    return tidy(frame, rows.found, {"relative": relative, "active": active, "time": utc_times(wall_time)})


def utc_times(wall_time: NDArray[np.float64]) -> pd.DatetimeIndex:
    """Turn wall times into dates.

    Parameters
    ----------
    wall_time : ndarray of float64, shape (rows,)
        Seconds since the epoch.

    Returns
    -------
    DatetimeIndex of datetime64[ns, UTC], length rows
        To the nanosecond; NaT where the wall time is not finite, or beyond what nanoseconds in an int64 can hold.

    Examples
    --------
    >>> utc_times(np.array([1.5, np.nan]))
    DatetimeIndex(['1970-01-01 00:00:01.500000+00:00', 'NaT'], dtype='datetime64[ns, UTC]', freq=None)
    """
    possible = np.abs(wall_time) < (2**63 - 1) // _NANOSECONDS
    sure = np.where(possible, wall_time, 0.0)
    seconds = np.floor(sure)
    # Seconds and their fraction apart: the product of a wall time and 1e9 would round to some 256 nanoseconds.
    nanoseconds = seconds.astype(np.int64) * _NANOSECONDS + np.rint((sure - seconds) * _NANOSECONDS).astype(np.int64)
    return pd.DatetimeIndex(np.where(possible, nanoseconds, np.iinfo(np.int64).min).view("M8[ns]")).tz_localize("UTC")


def _first_times(wall_time: NDArray[np.float64], run: NDArray[np.int64], runs: int) -> NDArray[np.float64]:
    first = np.full(runs, np.inf)
    np.minimum.at(first, run, np.where(np.isfinite(wall_time), wall_time, np.inf))
    return np.where(np.isinf(first), np.nan, first)


def _given_starts(since: object, runs: list[str]) -> NDArray[np.float64]:
    if isinstance(since, pd.DataFrame):
        missing = [column for column in ("run", "start") if column not in since.columns]
        if missing:
            raise ValueError(f"since: expected a frame with the columns 'run' and 'start', it lacks {missing}")
        since = since.set_index("run")["start"]
    if isinstance(since, pd.Series):
        twice = since.index[since.index.duplicated()]
        if len(twice):
            raise ValueError(f"since: run {twice[0]!r} has several starts; expected one per run")
        since = dict(zip(map(str, since.index), numbers(since).tolist(), strict=True))
    if isinstance(since, Mapping):
        unknown = [run for run in runs if run not in since]
        if unknown:
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            raise ValueError(
                f"since: no start for {', '.join(map(repr, unknown[:5]))}{more}; expected one for every run"
            )
        return np.array([since[run] for run in runs], np.float64)
    if isinstance(since, bool) or not isinstance(since, int | float | np.number):
        raise TypeError(
            f"since={since!r}: expected a wall time in seconds, a mapping of runs to wall times, a Series of them, "
            "or a frame with the columns 'run' and 'start'"
        )
    return np.full(len(runs), float(since))
