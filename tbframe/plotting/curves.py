"""Curves of scalars: a panel for each tag, a colour for each run or group of runs."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TypeAlias

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogFormatterMathtext, MaxNLocator

from tbframe.plotting.curve_caption import EMPTY_NAME, caption
from tbframe.plotting.curve_colors import Groups, group_series
from tbframe.plotting.curve_data import Curve, CurveData, curve_data
from tbframe.plotting.curve_key import draw_key
from tbframe.plotting.style import inches, name_axis
from tbframe.verbs.frames import by_series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = ["CurvesFigure", "curves"]

Floats: TypeAlias = npt.NDArray[np.float64]
LogAxes: TypeAlias = Literal["", "x", "y", "xy"]

_MOST_PANELS: Final = 100
_NARROWEST: Final = 1.55
"""Inches that a panel is wide at least."""
_CROWD: Final = 8
"""Of more curves in a panel each is drawn thinner."""
_POINTS_PER_INCH: Final = 200
"""So many points of a curve the eye can follow: more are thinned."""
_MOST_POINTS: Final = 60_000
"""So many points of all curves in a panel can be told apart; each curve keeps `_FEWEST_POINTS`."""
_FEWEST_POINTS: Final = 200
_PLAIN: Final = (1e-3, 1e4)
"""Between them numbers on logarithmic axes are written in full."""
_DECADES: Final = (1.5, 0.4)
"""On logarithmic axes of fewer powers of ten, some and all numbers between the powers are written, too."""
_TICK_ROOM: Final = (0.36, 0.22)
"""Inches of the x axis, and of the y axis, that a tick and its label take at least."""
_FONTS: Final[dict[Any, Any]] = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}
"""TrueType in PDF and text in SVG: letters that journals accept and readers can search."""
_LOOK: Final[dict[Any, Any]] = {
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "axes.formatter.offset_threshold": 6,
}
_MARKERS: Final[dict[str, Callable[[Floats], npt.NDArray[np.bool_]]]] = {
    "x": np.isnan,
    "^": np.isposinf,
    "v": np.isneginf,
}


class CurvesFigure(Figure):
    """A figure that knows what it shows. It lives outside pyplot and needs no closing."""

    _caption: str = ""

    def caption(self) -> str:
        """Say in words what was drawn: runs, estimator and band, smoothing, thinning, and what is not to be seen."""
        return self._caption

    def savefig(self, fname: str | os.PathLike[str] | IO[bytes], **options: Any) -> None:  # noqa: ANN401 - Figure's
        """Write the figure to a file, with letters as letters: see ``matplotlib.figure.Figure.savefig``."""
        with mpl.rc_context(_FONTS):
            super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png", dpi=144)
        return png.getvalue()


def curves(
    frame: pd.DataFrame,
    *,
    x: str = "step",
    color: str = "run",
    smooth: float = 0.0,
    log: LogAxes = "",
    ignore_outliers: bool = False,
    width: float = 6.8,
) -> CurvesFigure:
    """Draw the curves of a scalars frame: a panel for each tag, a colour for each run.

    Parameters
    ----------
    frame : DataFrame
        With run, tag, value, and step or wall_time as `x` needs it; rows of a series in the order logged. Columns low
        and high, as `aggregate` gives them, become bands.
    x : str
        What lies on the x axis: ``"step"``; ``"relative"``, the time since the run's first value in the frame (or the
        frame's column of that name); ``"wall"``, the date in UTC; a tag, such as Lightning's ``"epoch"``, whose value
        at the same run and step is taken, or interpolated between the steps it has; or a column of numbers.
    color : str
        What tells colours apart: ``"run"``, or a column with one value for each series, such as a hyperparameter.
        Colours of numbers follow their order.
    smooth : float
        The weight of TensorBoard's smoothing, 0 ... 1. The curve before smoothing stays, pale, behind the smoothed one.
    log : {"", "x", "y", "xy"}
        Which axes are logarithmic.
    ignore_outliers : bool
        Let the y axes span the values between the 5th and the 95th percentile, as TensorBoard does when it ignores
        outliers. By default they span all.
    width : float
        Of the figure, in inches. Columns of journals are some 3.3 and 6.8 wide; letters have 7 and 8 points at any
        width.

    Returns
    -------
    CurvesFigure
        A matplotlib Figure outside pyplot, with ``caption()``. Its ``axes`` come first, in the order of the tags.

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    ValueError
        If an argument is none of the above, or there is no row, or there are more than 100 tags.
    TypeError
        If a column that should hold numbers does not.

    Notes
    -----
    Values that are NaN are marked with crosses, infinite ones with triangles, at the height of the last value before.
    Curves of more points than the eye can follow are thinned, after smoothing, to the smallest and the largest value of
    short stretches.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": "loss", "step": range(4), "value": [4.0, 2.0, 1.0, 0.5]})
    >>> curves(frame, width=3.3).caption()
    'loss against the step for 1 run (a).'
    """
    _check(log, width)
    rows = by_series(frame, "curves", "value")
    groups = group_series(frame, rows, color)
    columns = max(1, min(len(rows.tag.names), int(width / _NARROWEST)))
    crowd = int(np.bincount(rows.tag.code[rows.first]).max(initial=1))
    points = min(int(_POINTS_PER_INCH * width / columns), max(_FEWEST_POINTS, _MOST_POINTS // crowd))
    data = curve_data(frame, rows, x=x, smooth=smooth, log=log, ignore_outliers=ignore_outliers, points=points)
    if not data.panels:
        but = f" but those of {x!r}" if len(frame) else ""
        raise ValueError(f"curves() found nothing to draw: the frame has no rows{but}")
    if len(data.panels) > _MOST_PANELS:
        raise ValueError(
            f"curves() draws a panel for each tag, and the frame has {len(data.panels)}; at most {_MOST_PANELS} fit. "
            "df.tb.select(tags=...) chooses some"
        )
    with mpl.rc_context(_LOOK):
        figure = CurvesFigure(layout="constrained")
        axes = _panels(figure, data, min(columns, len(data.panels)), width)
        for ax, (tag, of_tag) in zip(axes, data.panels.items(), strict=True):
            for curve in of_tag:
                _draw(ax, curve, groups, crowded=len(of_tag) > _CROWD)
            _finish(ax, tag, data, log)
            _tick_x(ax, data, log)
        figure.supxlabel(" ", fontsize=8).set(parse_math=False, usetex=False, text=data.x_label)
        draw_key(figure, axes, groups, [groups.of_row[c.row] for panel in data.panels.values() for c in panel])
    figure._caption = caption(frame, data, groups, x=x, smooth=smooth, log=log)
    return figure


def _check(log: str, width: float) -> None:
    if log not in ("", "x", "y", "xy"):
        raise ValueError(f"log={log!r}: expected '', 'x', 'y' or 'xy'")
    if not (width >= 1 and math.isfinite(width)):
        raise ValueError(f"width={width!r}: expected inches, 1 or more")


def _panels(figure: CurvesFigure, data: CurveData, columns: int, width: float) -> list[Axes]:
    """Lay out the panels; they share the x axis where their curves span about the same."""
    rows = -(-len(data.panels) // columns)
    height = 0.2 + rows * min(2.6, 0.35 + 0.72 * width / columns)
    figure.set_size_inches(width, height)
    axes = figure.subplots(rows, columns, squeeze=False, sharex=_spans_agree(data))
    flat: list[Axes] = list(axes.flat)
    for ax in flat[len(data.panels) :]:
        ax.remove()
    for ax in flat[: len(data.panels)][-columns:]:
        ax.tick_params(labelbottom=True)  # also above a cell that is empty
    return flat[: len(data.panels)]


def _spans_agree(data: CurveData) -> bool:
    spans = [
        (min(_finite_min(c.x) for c in panel), max(-_finite_min(-c.x) for c in panel)) for panel in data.panels.values()
    ]
    low, high = min(span[0] for span in spans), max(span[1] for span in spans)
    return all(span[1] - span[0] >= 0.5 * (high - low) for span in spans)


def _finite_min(x: Floats) -> float:
    return float(np.min(x, initial=np.inf, where=np.isfinite(x)))


def _draw(ax: Axes, curve: Curve, groups: Groups, *, crowded: bool) -> None:
    """Draw one curve: its band, what it was before smoothing, itself, and marks where there is no value."""
    group = groups.of_row[curve.row]
    colour, dashes = groups.colour(group), groups.dashes(group)
    if curve.low is not None and curve.high is not None:
        ax.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0, zorder=1)
    if curve.raw is not None:
        ax.plot(*curve.raw, color=colour, alpha=0.1 if crowded else 0.25, linewidth=0.7, zorder=2)
    line_width = 0.7 if crowded else 1.1
    ax.plot(curve.x, curve.y, color=colour, linestyle=dashes, linewidth=line_width, zorder=3, label=curve.run)
    there = np.isfinite(curve.y)
    alone = there & ~np.append(False, there[:-1]) & ~np.append(there[1:], False)
    if alone.any():
        ax.plot(curve.x[alone], curve.y[alone], color=colour, linestyle="none", marker="o", markersize=2.5, zorder=3)
    for marker, matches in _MARKERS.items():
        marked = matches(curve.marks.value)
        if marked.any():
            at = curve.marks.x[marked], curve.marks.y[marked]
            ax.plot(*at, color=colour, linestyle="none", marker=marker, markersize=4, zorder=4)


def _finish(ax: Axes, tag: str, data: CurveData, log: str) -> None:
    """Set scales, limits and the title of a panel."""
    if "x" in log:
        ax.set_xscale("log")
        _label_powers(ax.xaxis)
    if "y" in log:
        ax.set_yscale("log")
        _label_powers(ax.yaxis)
    else:
        most = int(np.clip(inches(ax)[1] / _TICK_ROOM[1], 3, 6))
        ax.yaxis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    if tag in data.limits:
        low, high = data.limits[tag]
        if "y" in log:
            margin = (high / low) ** 0.05 if high > low else 1.1
            ax.set_ylim(low / margin, high * margin)
        else:
            margin = 0.05 * (high - low) or 0.05 * abs(high) or 0.05
            ax.set_ylim(low - margin, high + margin)
    ax.margins(x=0.02)
    name_axis(ax, tag or EMPTY_NAME, "title")


class _PowerLabels(LogFormatterMathtext):
    """Numbers in full on an axis of a few powers of ten; matplotlib writes 0.2 as a product."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        text = str(super().__call__(x, pos))
        low, high = sorted(self.axis.get_view_interval())  # type: ignore[union-attr]
        return f"{x:g}" if text and low >= _PLAIN[0] and high <= _PLAIN[1] else text


def _label_powers(axis: Axis) -> None:
    for set_formatter in (axis.set_major_formatter, axis.set_minor_formatter):
        set_formatter(_PowerLabels(minor_thresholds=_DECADES))


def _tick_x(ax: Axes, data: CurveData, log: str) -> None:
    """Set few enough ticks for a narrow panel."""
    if data.dates:
        locator = AutoDateLocator(tz="UTC", minticks=2, maxticks=4)  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_locator(locator)
        formatter = ConciseDateFormatter(locator, tz="UTC", show_offset=False)  # type: ignore[no-untyped-call]
        ax.xaxis.set_major_formatter(formatter)
    elif "x" not in log:
        whole = data.x_label == "step"
        most = int(np.clip(inches(ax)[0] / _TICK_ROOM[0], 2, 5))
        ax.xaxis.set_major_locator(MaxNLocator(most, integer=whole, min_n_ticks=1, steps=[1, 2, 2.5, 5, 10]))
        if whole:
            ax.xaxis.set_major_formatter(EngFormatter(sep=""))
