"""What the plots of histograms share: colours, labels that fit, axes for steps and times, and grids of panels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps, ticker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap
    from matplotlib.text import Text

__all__ = [
    "AxesLike",
    "TimeAxis",
    "Times",
    "as_axes",
    "fit_label",
    "grid",
    "inches",
    "label_times",
    "label_values",
    "name_axis",
    "ramp",
    "times",
]

Floats: TypeAlias = npt.NDArray[np.float64]
TimeAxis: TypeAlias = Literal["step", "relative", "wall"]
AxesLike: TypeAlias = "Axes | Sequence[Axes] | npt.NDArray[np.object_]"

_SECONDS_A_DAY = 86400.0
_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (_SECONDS_A_DAY, "days"))
_EM = 0.62  # mean width of a character of a sans-serif face, in units of its size
_GAP, _TIME_OF_DAY = 1.0, 4.0  # between two tick labels; of one, with the gap
_STEPS = (1, 2, 2.5, 5, 10)
_BREAK = re.compile(r"[/_\- ,=]|\.(?!\d)")
_MOST_LINES = 3


class Times(NamedTuple):
    """Where the steps of a plot lie on its axis of time.

    Attributes
    ----------
    at : float64 array (step,)
        Steps, or times in the unit of the label; days since 1970 for dates.
    label : str
        The axis label.
    dates : bool
        Whether `at` are dates.
    """

    at: Floats
    label: str
    dates: bool


def times(steps: npt.ArrayLike, wall_times: npt.ArrayLike | None, x: TimeAxis, start: float | None = None) -> Times:
    """Place steps on the axis asked for.

    Parameters
    ----------
    steps : int64 array (step,)
        The steps.
    wall_times : float64 array (step,) or None
        Seconds since 1970, which "relative" and "wall" need.
    x : {"step", "relative", "wall"}
        By step, by the time since the start, or by date.
    start : float or None
        The time from which "relative" counts; None is the first.

    Returns
    -------
    Times

    Raises
    ------
    ValueError
        If `x` is none of these, or needs wall times and there are none.

    Examples
    --------
    >>> times([1, 2], [100.0, 7300.0], "relative")
    Times(at=array([0., 2.]), label='time (h)', dates=False)
    """
    if x not in ("step", "relative", "wall"):
        raise ValueError(f"x={x!r}: expected 'step', 'relative' (time since the start) or 'wall' (date)")
    if x == "step":
        return Times(np.asarray(steps, np.float64), "step", False)
    if wall_times is None:
        raise ValueError(f"x={x!r} needs the coordinate 'wall_time', which is not there; x='step' does without")
    seconds = np.asarray(wall_times, np.float64)
    if x == "wall":
        return Times(seconds / _SECONDS_A_DAY, f"wall time ({_days(seconds)}UTC)", True)
    seconds = seconds - (np.min(seconds, initial=np.inf) if start is None else start)
    span = np.max(seconds, initial=0.0)
    size, name = next((unit for unit in reversed(_UNITS) if span >= 2 * unit[0]), _UNITS[0])
    return Times(seconds / size, f"time ({name})", False)


def _days(seconds: Floats) -> str:
    """Return the first and the last day, as far as there are any, with a comma behind."""
    found = np.unique(
        (np.array([seconds.min(), seconds.max()]) if seconds.size else seconds).astype("M8[s]").astype("M8[D]")
    )
    return " … ".join(str(day) for day in found) + ", " * bool(found.size)


def label_times(axis: Axis, at: Floats, label: str, dates: bool, share: float = 1.0) -> None:
    """Label an axis of time; ticks stand only where there are steps, and only as many as their labels leave room for.

    Parameters
    ----------
    axis : matplotlib Axis
        To set ticks and label of.
    at : float64 array (step,)
        Where the steps lie.
    label : str
        The axis label.
    dates : bool
        Whether they are dates.
    share : float
        How much of its present length the axis will keep.
    """
    axis.set_label_text(label)
    if dates:
        from matplotlib import dates as mdates

        most = int(np.clip(_room(axis, share) / _TIME_OF_DAY, 2, 8))
        locator = mdates.AutoDateLocator(tz="UTC", minticks=min(most, 3), maxticks=most)  # type: ignore[no-untyped-call]
        axis.set_major_locator(locator)
        axis.set_major_formatter(mdates.ConciseDateFormatter(locator, tz="UTC", show_offset=False))  # type: ignore[no-untyped-call]
        return
    if label == "step":
        axis.set_major_formatter(ticker.FuncFormatter(_whole))
    _, ticks = _ticks_that_fit(axis, float(at.min()), float(at.max()), 6, share, whole=label == "step")
    axis.set_major_locator(ticker.FixedLocator(ticks))


def label_values(axis: Axis, low: float, high: float) -> None:
    """Give an axis of values only as many ticks as their labels leave room for.

    Parameters
    ----------
    axis : matplotlib Axis
        To set ticks of.
    low, high : float
        From where to where it reaches.
    """
    n, _ = _ticks_that_fit(axis, low, high, 8, 1.0)
    axis.set_major_locator(ticker.MaxNLocator(n, steps=_STEPS))


def _ticks_that_fit(
    axis: Axis, low: float, high: float, most: int, share: float, *, whole: bool = False
) -> tuple[int, list[float]]:
    """Find ticks within a range, the fewer the wider their labels are; and into how many parts they cut it at most."""
    n, ticks = most, [low]
    while low < high:
        found = ticker.MaxNLocator(n, integer=whole, steps=_STEPS, min_n_ticks=1).tick_values(low, high)
        slack = 1e-9 * (high - low)
        ticks = [tick for tick in np.asarray(found).tolist() if low - slack <= tick <= high + slack]
        letters = max((len(text) for text in axis.get_major_formatter().format_ticks(ticks)), default=0)
        if n == 1 or len(ticks) * (_EM * letters + _GAP) <= _room(axis, share):
            break
        n -= 1
    return n, ticks


def _room(axis: Axis, share: float = 1.0) -> float:
    """Return how long an axis is, in the size of its tick labels (in four times that upright, where they take less)."""
    points = axis.get_major_ticks(1)[0].label1.get_fontsize()
    upright = axis is axis.axes.yaxis
    return share * (4 if upright else 1) * 72 * inches(axis.axes)[upright] / float(points)


def _whole(value: float, _: int | None = None) -> str:
    """Write a step out as far as that is legible: 20000, but 3M and 2.5G."""
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.0f}"


def ramp(parts: npt.ArrayLike, cmap: str | Colormap | None = None) -> Floats:
    """Pick colours that show an order, in grey too.

    Parameters
    ----------
    parts : float64 array (n,)
        Where in the ramp, 0 ... 1.
    cmap : str, Colormap or None
        A colour map; None is the part of "viridis" that shows on white paper: early dark, late light.

    Returns
    -------
    float64 array (n, 4)
        Red, green, blue and opacity, 0 ... 1.
    """
    at = np.asarray(parts, np.float64)
    colours = colormaps["viridis"](0.08 + 0.78 * at) if cmap is None else colormaps.get_cmap(cmap)(at)
    return np.asarray(colours, np.float64)


def fit_label(text: str, inches: float, points: float) -> str:
    r"""Break a long name into lines that fit.

    Parameters
    ----------
    text : str
        A run or tag.
    inches : float
        The room there is.
    points : float
        The size of the type.

    Returns
    -------
    str
        Broken after slashes and the like where there are some. What does not fit into three lines is left out of its
        middle.

    Examples
    --------
    >>> fit_label("encoder/layer/0/attention/query/kernel", 2.0, 10)
    'encoder/layer/0/\nattention/query/kernel'
    """
    room = max(4, int(72 * inches / (_EM * points)))
    most = int(0.8 * _MOST_LINES * room)
    if _width(text) > most:
        begin = _fitting(text, most // 2)
        text = f"{text[:begin]}…{text[len(text) - _fitting(text[::-1], most - most // 2 - 1) :]}"
    lines = _broken(text, room, at_marks=True)
    return "\n".join(lines if len(lines) <= _MOST_LINES else _broken(text, room, at_marks=False))


def _broken(text: str, room: int, *, at_marks: bool) -> list[str]:
    """Break a text after the last mark that fits, or anywhere if that is far from the end of the line."""
    lines: list[str] = []
    while _width(text) > room:
        end = _fitting(text, room)
        at = max((mark.end() for mark in _BREAK.finditer(text) if mark.end() <= end), default=0) if at_marks else 0
        cut = at if at > end // 3 else end
        lines.append(text[:cut])
        text = text[cut:]
    return [*lines, text]


def _width(text: str) -> int:
    return sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    return 0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _fitting(text: str, room: int) -> int:
    """Return how many letters fit into the room, at least one."""
    widths = np.cumsum([_cells(letter) for letter in text])
    return max(1, int(np.searchsorted(widths, room, side="right")))


def name_axis(ax: Axes, text: str, where: Literal["x", "y", "title"]) -> Text:
    """Write a run or tag on an Axes as it is: broken where too long, and never read as mathematics or TeX.

    Parameters
    ----------
    ax : Axes
        To write on.
    text : str
        A run or tag.
    where : {"x", "y", "title"}
        As the label of an axis or as the title.

    Returns
    -------
    matplotlib Text
    """
    width, height = inches(ax)
    label = {"x": ax.xaxis.label, "y": ax.yaxis.label, "title": ax.title}[where]
    label.set_parse_math(False)
    label.set_usetex(False)
    # A title may not be wider than an Axes that gives way to what stands beside it.
    room = {"x": width, "y": height, "title": 0.9 * width}[where]
    label.set_text(fit_label(text, room, float(label.get_fontsize())))
    return label


def inches(ax: Axes) -> tuple[float, float]:
    """Return the size of an Axes before any layout.

    Parameters
    ----------
    ax : Axes
        On a figure.

    Returns
    -------
    width, height : float
        In inches.
    """
    return ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi


def grid(rows: int, columns: int, panels: int) -> list[Axes]:
    """Make a figure of panels, through pyplot so that notebooks show it.

    Parameters
    ----------
    rows, columns : int
        The grid.
    panels : int
        How many of its cells are used, row by row.

    Returns
    -------
    list of Axes
    """
    from matplotlib import pyplot as plt

    width, height = plt.rcParams["figure.figsize"]
    size = (width, height) if panels == 1 else (max(width, 3.2 * columns), max(height * 0.6, 2.6) * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    flat = list(axes.flat)
    for ax in flat[panels:]:
        figure.delaxes(ax)
    return flat[:panels]


def as_axes(ax: AxesLike, panels: int) -> list[Axes]:
    """Check the Axes that were given to draw into.

    Parameters
    ----------
    ax : Axes or array of Axes
        As given.
    panels : int
        How many are needed.

    Returns
    -------
    list of Axes

    Raises
    ------
    ValueError
        If there are more or fewer.
    TypeError
        If they are no Axes.
    """
    from matplotlib.axes import Axes

    given = np.ravel(np.asarray(ax, dtype=object)).tolist()
    for one in given:
        if not isinstance(one, Axes):
            raise TypeError(f"ax: expected matplotlib Axes, found {type(one).__name__}")
    if len(given) != panels:
        raise ValueError(
            f"ax: {len(given)} Axes for {panels} panels, one for each run and tag. Give an array of {panels} Axes, or "
            "select one series: ds.sel(run=..., tag=...)"
        )
    return list(given)
