"""What `curves` draws, as arrays: the points of each series, smoothed and thinned, and what a caption says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe import series
from tbframe.plotting.curve_axis import place_rows
from tbframe.verbs.frames import SeriesRows
from tbframe.verbs.scalar_columns import numbers

__all__ = ["Curve", "CurveData", "curve_data"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

_OUTSIDE: Final = 0.05
"""The share of the values that TensorBoard takes for outliers, at either end."""
_MOST_MARKS: Final = 20
"""So many marks of values that are not finite are drawn on a curve."""
_MOST_BREAKS: Final = 100
"""So many breaks of a curve survive thinning."""


class Marks(NamedTuple):
    """Where values are that no curve can show, at the height of the last value before."""

    x: Floats
    y: Floats
    value: Floats
    """NaN or infinite."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One series as it is drawn."""

    row: int
    """The first row of the series in the frame."""
    run: str
    x: Floats
    y: Floats
    """NaN where the curve breaks."""
    raw: tuple[Floats, Floats] | None
    """x and y before smoothing."""
    low: Floats | None
    high: Floats | None
    marks: Marks


@dataclass(eq=False)
class CurveData:
    """All curves, and what the caption says about how they came about."""

    x_label: str
    dates: bool
    """Whether x counts days since 1970."""
    panels: dict[str, list[Curve]] = field(default_factory=dict)
    """By tag."""
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Of y without outliers, by tag."""
    points: int = 0
    """So many points a curve of more was thinned to."""
    thinned: int = 0
    """How many curves were."""
    not_finite: dict[str, int] = field(default_factory=dict)
    """How many values are "NaN" or "infinite"."""
    without_x: int = 0
    """How many points have no place on the x axis."""
    not_positive: int = 0
    """How many finite values a logarithmic axis leaves out."""
    outside: int = 0
    """How many values lie outside of the limits."""


class _Rows(NamedTuple):
    """Columns in the order of the series."""

    x: Floats | Ints
    y: Floats
    """What is drawn: smoothed, NaN where the axes have no place for it."""
    gone: Bools | None
    """Where y is NaN; None if it is nowhere."""
    raw: Floats | None
    """Before smoothing."""
    low: Floats | None
    high: Floats | None


def curve_data(
    frame: pd.DataFrame, rows: SeriesRows, *, x: str, smooth: float, log: str, ignore_outliers: bool, points: int
) -> CurveData:
    """Prepare the curves of a scalars frame.

    Parameters
    ----------
    frame : DataFrame
        With run, tag, value, what `x` needs, and low and high if there are bands.
    rows : SeriesRows
        Its series.
    x : str
        What lies on the x axis, as for `curves`.
    smooth : float
        TensorBoard's smoothing weight, 0 ... 1; 0 leaves the values alone.
    log : {"", "x", "y", "xy"}
        Which axes are logarithmic.
    ignore_outliers : bool
        Whether to find limits of y as TensorBoard does when it ignores outliers.
    points : int
        Curves of more points are thinned to about so many.

    Returns
    -------
    CurveData
        Panels in the order of the tags, curves in that of the runs.

    Raises
    ------
    AccessorError, TypeError, ValueError
        If columns are missing or hold no numbers, or `x` or `smooth` is wrong.
    """
    placed = place_rows(frame, rows, x)
    rows = placed.rows
    value = rows.arranged(numbers(frame["value"]))
    data = CurveData(placed.label, placed.dates, points=points)
    columns = _smoothed(frame, rows, placed.at, value, smooth)
    columns = columns._replace(gone=_find_gone(columns, value, log, data))
    if columns.gone is not None:
        columns = columns._replace(y=np.where(columns.gone, np.nan, columns.y))
    if columns.raw is not None and "y" in log:
        columns = columns._replace(raw=np.where(columns.raw > 0, columns.raw, np.nan))
    if ignore_outliers:
        _find_limits(rows, columns.y, data)
    _fill_panels(rows, columns, value, data)
    return data


def _smoothed(frame: pd.DataFrame, rows: SeriesRows, x: Floats | Ints, value: Floats, weight: float) -> _Rows:
    bands: list[Floats | None] = [None, None]
    if {"low", "high"} <= set(frame.columns):
        bands = [rows.arranged(numbers(frame[column])) for column in ("low", "high")]
    if weight == 0:
        return _Rows(x, value, None, None, *bands)
    bands = [None if band is None else series.smooth(band, weight, rows.bounds) for band in bands]
    return _Rows(x, series.smooth(value, weight, rows.bounds), None, value, *bands)


def _find_gone(columns: _Rows, value: Floats, log: str, data: CurveData) -> Bools | None:
    """Find the points that have no place on the axes, and count them by reason."""
    gone = ~np.isfinite(value)
    if gone.any():
        counts = {"NaN": np.count_nonzero(np.isnan(value)), "infinite": np.count_nonzero(np.isinf(value))}
        data.not_finite = {name: int(count) for name, count in counts.items() if count}
    if columns.x.dtype.kind == "f" and (nowhere := ~np.isfinite(columns.x)).any():
        data.without_x = int(np.count_nonzero(nowhere & ~gone))
        gone |= nowhere
    for axis, numbers_on_it in (("x", columns.x), ("y", columns.y)):
        if axis in log:
            beyond = ~gone & (numbers_on_it <= 0)
            data.not_positive += int(np.count_nonzero(beyond))
            gone |= beyond
    return gone if gone.any() else None


def _find_limits(rows: SeriesRows, y: Floats, data: CurveData) -> None:
    """Find y limits as TensorBoard does when it ignores outliers.

    TensorBoard's rule: of the n > 2 values of a chart in order, those at ceil(0.05 (n - 1)) and floor(0.95 (n - 1)).
    """
    tag_of = rows.tag.code[rows.first]
    for code, tag in enumerate(rows.tag.names):
        mine = [y[a:b] for a, b in _spans(rows.bounds, np.flatnonzero(tag_of == code))]
        values = np.concatenate([*mine, np.empty(0)])
        values = values[np.isfinite(values)]
        if len(values) > 2:
            last = len(values) - 1
            at = [int(np.ceil(_OUTSIDE * last)), int(np.floor((1 - _OUTSIDE) * last))]
            low, high = np.partition(values, at)[at].tolist()
            data.limits[tag] = (low, high)
            data.outside += int(np.count_nonzero((values < low) | (values > high)))


def _spans(bounds: Ints, which: Ints) -> list[tuple[int, int]]:
    return list(zip(bounds[which].tolist(), bounds[which + 1].tolist(), strict=True))


def _fill_panels(rows: SeriesRows, columns: _Rows, value: Floats, data: CurveData) -> None:
    """Thin all series, and put them into panels."""
    bounds = rows.bounds
    lengths = np.diff(bounds)
    data.thinned = int(np.count_nonzero(lengths > data.points))
    breaks = _breaks(columns.gone, bounds)
    kept = _thin([columns.y, columns.low, columns.high], breaks, bounds, data.points)
    kept_raw = None if columns.raw is None else _thin([columns.raw], breaks, bounds, data.points)
    marks = _marked(columns, value, bounds) if data.not_finite else (np.empty(0, np.int64), Marks(*np.empty((3, 0))))
    first, order = rows.first, np.lexsort((rows.run.code[rows.first], rows.tag.code[rows.first]))
    for i in order.tolist():
        at = _within(kept, bounds, i)
        raw = None
        if kept_raw is not None and columns.raw is not None:
            at_raw = _within(kept_raw, bounds, i)
            raw = columns.x[at_raw].astype(np.float64), columns.raw[at_raw]
        low, high = (None if band is None else band[at] for band in (columns.low, columns.high))
        run, tag = rows.run.names[rows.run.code[first[i]]], rows.tag.names[rows.tag.code[first[i]]]
        curve = Curve(
            int(first[i]),
            run,
            columns.x[at].astype(np.float64),
            columns.y[at],
            raw,
            low,
            high,
            _marks_of(marks, bounds, i),
        )
        data.panels.setdefault(tag, []).append(curve)


def _within(kept: Ints, bounds: Ints, i: int) -> Ints:
    return kept[np.searchsorted(kept, bounds[i]) : np.searchsorted(kept, bounds[i + 1])]


def _thin(shapes: Sequence[Floats | None], breaks: Ints, bounds: Ints, points: int) -> Ints:
    """Choose the rows that keep the shape of curves, bands and their breaks."""
    kept = [series.minmax_rows(shape, points, bounds) for shape in shapes if shape is not None]
    return np.unique(np.concatenate([*kept, breaks])) if len(kept) > 1 or len(breaks) else kept[0]


def _breaks(gone: Bools | None, bounds: Ints) -> Ints:
    """Find the first row of each stretch that is not drawn; of many in one series, some."""
    if gone is None:
        return np.empty(0, np.int64)
    rows = np.flatnonzero(gone)
    rows = rows[np.diff(rows, prepend=-2) > 1]
    return rows[series.even_rows(np.searchsorted(rows, bounds), _MOST_BREAKS)]


def _marked(columns: _Rows, value: Floats, bounds: Ints) -> tuple[Ints, Marks]:
    """Choose the values to mark, and the height to mark them at: that of the last point before, else of the next."""
    rows = np.flatnonzero(~np.isfinite(value) & np.isfinite(columns.x))
    rows = rows[series.even_rows(np.searchsorted(rows, bounds), _MOST_MARKS)]
    drawn = np.flatnonzero(~np.isnan(columns.y))
    place = np.searchsorted(drawn, rows)
    in_series = np.searchsorted(bounds, rows, side="right")
    start, end = np.searchsorted(drawn, bounds[in_series - 1]), np.searchsorted(drawn, bounds[in_series])
    shown = end > start
    neighbour = drawn[np.clip(np.where(place > start, place - 1, place), 0, max(0, len(drawn) - 1))[shown]]
    rows = rows[shown]
    return rows, Marks(columns.x[rows].astype(np.float64), columns.y[neighbour], value[rows])


def _marks_of(marked: tuple[Ints, Marks], bounds: Ints, i: int) -> Marks:
    rows, marks = marked
    mine = slice(*np.searchsorted(rows, bounds[i : i + 2]).tolist())
    return Marks(marks.x[mine], marks.y[mine], marks.value[mine])
