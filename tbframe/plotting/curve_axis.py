"""The x axis of curves: steps, times, a column, or another tag."""

from __future__ import annotations

import difflib
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.plotting.style import times
from tbframe.verbs.frames import SeriesRows, require
from tbframe.verbs.scalar_columns import integers, numbers

__all__ = ["PlacedRows", "place_rows"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


class PlacedRows(NamedTuple):
    """Where the rows of a frame lie on the x axis."""

    at: Floats | Ints
    """In the order of `rows`; NaN where a row has no place."""
    label: str
    dates: bool
    """Whether `at` counts days since 1970."""
    rows: SeriesRows
    """The series that are curves: all but those of the tag that is the axis."""


def place_rows(frame: pd.DataFrame, rows: SeriesRows, x: str) -> PlacedRows:
    """Place the rows of a frame on the x axis.

    Parameters
    ----------
    frame : DataFrame
        A scalars frame.
    rows : SeriesRows
        Its series.
    x : str
        "step", "relative" or "wall"; or a column of numbers; or a tag, whose value at the row's run and step is taken.

    Returns
    -------
    PlacedRows

    Raises
    ------
    AccessorError
        If the column that "step", "relative" or "wall" needs is missing.
    ValueError
        If `x` is nothing of that kind.
    """
    if x == "step":
        require(frame, ["step"], "curves")
        return PlacedRows(rows.arranged(integers(frame["step"])), "step", False, rows)
    if x in ("relative", "wall"):
        at, label = _placed_by_time(frame, rows, x)
        return PlacedRows(at, label, x == "wall", rows)
    if x in rows.tag.names:
        require(frame, ["step"], "curves")
        own = rows.tag.code[rows.first] == rows.tag.names.index(x)
        at, lengths = _placed_by_tag(frame, rows, own), np.diff(rows.bounds)
        curves = np.flatnonzero(np.repeat(~own, lengths))
        rest = rows._replace(order=rows.rows(curves), bounds=np.cumsum(np.append(0, lengths[~own])))
        return PlacedRows(at[curves], x, False, rest)
    if x in frame.columns and pd.api.types.is_numeric_dtype(frame[x]):
        return PlacedRows(rows.arranged(numbers(frame[x])), x, False, rows)
    near = difflib.get_close_matches(str(x), ["step", "relative", "wall", *rows.tag.names], n=3)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise ValueError(f"x={x!r}: expected 'step', 'relative', 'wall', a column of numbers or a tag.{hint}")


def _placed_by_time(frame: pd.DataFrame, rows: SeriesRows, x: str) -> tuple[Floats, str]:
    """Place rows by date, or by the time since their run's first row (or as the column `relative` says)."""
    if x == "relative" and "relative" in frame.columns:
        seconds = rows.arranged(numbers(frame["relative"]))
    else:
        require(frame, ["wall_time"], "curves")
        seconds = rows.arranged(numbers(frame["wall_time"]))
        if x == "relative":
            seconds = seconds - _starts(seconds, rows)
    known = np.isfinite(seconds)
    placed = times([], seconds[known], "wall" if x == "wall" else "relative", 0.0)
    at = np.full(len(seconds), np.nan)
    at[known] = placed.at
    return at, placed.label


def _starts(seconds: Floats, rows: SeriesRows) -> Floats:
    """Find the first wall time of each row's run; NaN if it has none."""
    if not len(seconds):
        return seconds
    first = np.minimum.reduceat(np.where(np.isfinite(seconds), seconds, np.inf), rows.bounds[:-1])
    run = rows.run.code[rows.first]
    starts = np.full(len(rows.run.names), np.inf)
    np.minimum.at(starts, run, first)
    starts[np.isinf(starts)] = np.nan
    return np.repeat(starts[run], np.diff(rows.bounds))


def _placed_by_tag(frame: pd.DataFrame, rows: SeriesRows, own: npt.NDArray[np.bool_]) -> Floats:
    """Place rows by the value of a tag in their run: at their step, or linearly between the steps it has."""
    step = rows.arranged(integers(frame["step"])).astype(np.float64)
    value = rows.arranged(numbers(frame["value"]))
    at = np.full(len(step), np.nan)
    run = rows.run.code[rows.first]
    scales = {}
    for i in np.flatnonzero(own).tolist():
        mine = slice(*rows.bounds[i : i + 2].tolist())
        finite = np.isfinite(value[mine])
        order = np.argsort(step[mine][finite], kind="stable")
        steps, values = step[mine][finite][order], value[mine][finite][order]
        last = np.append(steps[1:] != steps[:-1], True)[: len(steps)]  # of equal steps the value logged last
        scales[int(run[i])] = steps[last], values[last]
    for i in np.flatnonzero(~own).tolist():
        mine = slice(*rows.bounds[i : i + 2].tolist())
        steps, values = scales.get(int(run[i]), (np.empty(0), np.empty(0)))
        if len(steps):
            at[mine] = np.interp(step[mine], steps, values, left=np.nan, right=np.nan)
    return at
