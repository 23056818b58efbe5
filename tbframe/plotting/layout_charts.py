"""The charts of a custom scalars layout, drawn from a frame of scalars."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.font_manager import FontProperties

from tbframe.errors import warn
from tbframe.kinds.custom_scalars import merged
from tbframe.plotting.style import AxesLike, as_axes, grid, name_axis
from tbframe.verbs.frames import by_series, quoted, require

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["draw_layout", "matching_tags"]

_STYLES: Final = ("-", "--", ":", "-.")
_MOST_KEYS: Final = 12

Floats = npt.NDArray[np.float64]


class _Line(NamedTuple):
    run: str
    tag: str
    step: npt.NDArray[np.int64]
    value: Floats


def draw_layout(layout: pd.DataFrame, scalars: pd.DataFrame, *, ax: AxesLike | None = None) -> list[Axes]:
    """Draw the charts that a layout declares.

    Parameters
    ----------
    layout : DataFrame
        As ``tbframe.custom_scalars`` returns it, or some of its rows. Layouts of several runs are merged.
    scalars : DataFrame
        With run, tag, step and value; rows of a series in the order logged.
    ax : Axes or array of Axes, optional
        One for each chart; default is a new figure.

    Returns
    -------
    list of Axes
        One for each chart: of a multiline chart a line for every run and every tag that one of its expressions matches
        from the tag's start; of a margin chart, for every run and series, the value between its bounds, at the steps that
        all three of them have.

    Raises
    ------
    AccessorError
        If a frame lacks a column.
    ValueError
        If an expression is no regular expression, or `ax` are too few or too many.

    Warns
    -----
    UserWarning
        If steps of a margin chart are left out (TensorBoard then shows nothing at all).
    """
    require(layout, ["run", "category", "closed", "chart", "kind", "tags"], "draw_layout")
    charts = merged(layout)
    charts = charts[charts["chart"].notna()]
    lines = _lines(scalars)
    if not len(charts):
        return []
    columns = math.ceil(math.sqrt(len(charts)))
    panels = grid(math.ceil(len(charts) / columns), columns, len(charts)) if ax is None else as_axes(ax, len(charts))
    runs = list(dict.fromkeys(line.run for line in lines))
    for panel, chart in zip(panels, charts.itertuples(index=False), strict=True):
        draw = _draw_margin if chart.kind == "margin" else _draw_multiline
        keys = draw(panel, chart, lines, runs)
        name_axis(panel, f"{chart.category}: {chart.chart}", "title")
        panel.set_xlabel("step")
        if keys:
            _draw_key(panel, keys)
        else:
            panel.text(0.5, 0.5, "no scalars for this chart", transform=panel.transAxes, ha="center", va="center")
    return panels


def matching_tags(tags: Iterable[str], expressions: Iterable[str]) -> list[str]:
    """Find the tags that a multiline chart shows.

    Parameters
    ----------
    tags : iterable of str
        The tags that exist.
    expressions : iterable of str
        Regular expressions. One that matches the beginning of a tag is enough: TensorBoard's rule.

    Returns
    -------
    list of str
        In the order of `tags`.

    Raises
    ------
    ValueError
        If one is no regular expression.

    Examples
    --------
    >>> matching_tags(["loss", "loss/test", "my loss"], ["loss"])
    ['loss', 'loss/test']
    """
    patterns = []
    for expression in expressions:
        try:
            patterns.append(re.compile(expression))
        except re.error as error:
            raise ValueError(
                f"the chart's tags hold {expression!r}, which is no regular expression: {error}"
            ) from error
    return [tag for tag in tags if any(pattern.match(tag) for pattern in patterns)]


def _lines(scalars: pd.DataFrame) -> list[_Line]:
    series = by_series(scalars, "draw_layout", "step", "value")
    step = series.arranged(scalars["step"].to_numpy(np.int64))
    value = series.arranged(scalars["value"].to_numpy(np.float64))
    bounds = series.bounds.tolist()
    names = [(series.run.names[series.run.code[row]], series.tag.names[series.tag.code[row]]) for row in series.first]
    return [
        _Line(run, tag, step[begin:end], value[begin:end])
        for (run, tag), begin, end in zip(names, bounds[:-1], bounds[1:], strict=True)
    ]


def _draw_multiline(panel: Axes, chart: Any, lines: list[_Line], runs: list[str]) -> list[tuple[Artist, str]]:  # noqa: ANN401 - a row
    tags = matching_tags(dict.fromkeys(line.tag for line in lines), chart.tags)
    keys: list[tuple[Artist, str]] = []
    for line in lines:
        if line.tag not in tags:
            continue
        colour, style = (runs.index(line.run), tags.index(line.tag)) if len(runs) > 1 else (tags.index(line.tag), 0)
        (artist,) = panel.plot(
            line.step, line.value, color=f"C{colour % 10}", linestyle=_STYLES[style % 4], linewidth=1.2
        )
        keys.append((artist, _label(line.run, line.tag, runs)))
    return keys


def _draw_margin(panel: Axes, chart: Any, lines: list[_Line], runs: list[str]) -> list[tuple[Artist, str]]:  # noqa: ANN401 - a row
    by_name = {(line.run, line.tag): line for line in lines}
    keys: list[tuple[Artist, str]] = []
    for run in runs:
        for place, tags in enumerate(chart.tags):
            three = [by_name.get((run, tag)) for tag in tags]
            if any(line is None for line in three):
                continue
            step, (value, lower, upper), left_out = _aligned([line for line in three if line is not None])
            if left_out:
                what = f"{left_out} steps that not all of {quoted(dict.fromkeys(tags))} have"
                warn(f"margin chart {chart.chart!r}, run {run!r}: {what} are left out", UserWarning)
            colour = f"C{(runs.index(run) if len(runs) > 1 else place) % 10}"
            style = _STYLES[place % 4 if len(runs) > 1 else 0]
            (artist,) = panel.plot(step, value, color=colour, linestyle=style, linewidth=1.2)
            panel.fill_between(step, lower, upper, color=colour, alpha=0.2, linewidth=0)
            keys.append((artist, _label(run, tags[0], runs)))
    return keys


def _aligned(lines: list[_Line]) -> tuple[npt.NDArray[np.int64], list[Floats], int]:
    """Keep the steps that all lines have, of each the last value; and count the others."""
    steps, values = [], []
    for line in lines:
        some, last = np.unique(line.step[::-1], return_index=True)
        steps.append(some)
        values.append(line.value[::-1][last])
    common = functools.reduce(np.intersect1d, steps)
    kept = [value[np.searchsorted(some, common)] for some, value in zip(steps, values, strict=True)]
    return common, kept, len(np.unique(np.concatenate(steps))) - len(common)


def _label(run: str, tag: str, runs: list[str]) -> str:
    return f"{run}: {tag}" if len(runs) > 1 else tag


def _draw_key(panel: Axes, keys: list[tuple[Artist, str]]) -> None:
    shown = keys[:_MOST_KEYS]
    # Matplotlib leaves out labels that begin with an underscore, and reads others as mathematics.
    key = panel.legend([artist for artist, _ in shown], ["."] * len(shown), fontsize=7, frameon=False)
    for text, (_, label) in zip(key.get_texts(), shown, strict=True):
        text.set_parse_math(False)
        text.set_text(label)
    if len(keys) > len(shown):
        key.set_title(f"{len(shown)} of {len(keys)} lines", prop=FontProperties(size=7))
