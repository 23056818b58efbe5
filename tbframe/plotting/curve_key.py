"""The key of a figure of curves: a legend above the panels, or a scale where there are too many names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize

from tbframe.plotting.curve_colors import Groups
from tbframe.plotting.style import fit_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = ["draw_key"]

_POINTS: Final = 7.0
_HANDLE: Final = 0.4
"""Inches that the line before a name and the gap after it take."""
_EM: Final = 0.6
"""Mean width of a character, in units of its size."""


def draw_key(figure: Figure, axes: list[Axes], groups: Groups, drawn: Iterable[int]) -> None:
    """Draw what says which colour is which, outside of the panels. A single run needs none.

    Parameters
    ----------
    figure : Figure
        With constrained layout.
    axes : list of Axes
        Its panels.
    groups : Groups
        The colours.
    drawn : iterable of int
        The groups that have curves.
    """
    present = sorted(set(drawn))
    if len(present) < 2 and not groups.title:
        return
    if groups.is_ramp and len(groups.names) > 7:
        _draw_scale(figure, axes, groups)
    else:
        _draw_legend(figure, groups, [*(g for g in present if g >= 0), *(g for g in present if g < 0)])


def _draw_legend(figure: Figure, groups: Groups, present: list[int]) -> None:
    """Draw a legend above the panels, in as many columns as its names leave room for."""
    names, prefix = _without_prefix([groups.names[g] if g >= 0 else "missing" for g in present])
    title = groups.title or (f"runs in {prefix}" if prefix else "")
    width = float(figure.get_size_inches()[0])
    longest = max(len(name) for name in names) * _EM * _POINTS / 72
    columns = int(np.clip(width / (longest + _HANDLE), 1, len(names)))
    legend = figure.legend(
        groups.handles(present),
        ["-"] * len(present),  # set below: matplotlib drops names that begin with _
        loc="outside upper center",
        ncols=columns,
        frameon=False,
        title=" " if title else None,
        title_fontsize=_POINTS,
        handlelength=1.6,
        columnspacing=1.2,
        handletextpad=0.5,
        labelspacing=0.3,
    )
    fitted = [fit_label(name, width / columns - _HANDLE, _POINTS) for name in names]
    for text, name in zip(legend.get_texts(), fitted, strict=True):
        _write(text, name)
    if title:
        _write(legend.get_title(), fit_label(title, width, _POINTS))
    lines = max(name.count("\n") + 1 for name in fitted) * -(-len(names) // columns) + bool(title)
    _make_room(figure, 0.15 * lines + 0.1)


def _draw_scale(figure: Figure, axes: list[Axes], groups: Groups) -> None:
    """Draw a scale of all colours that names the first and the last."""
    count = len(groups.names)
    colours = ListedColormap([groups.colour(g) for g in range(count)])
    mappable = ScalarMappable(Normalize(-0.5, count - 0.5), colours)
    bar = figure.colorbar(mappable, ax=axes, location="top", aspect=50, fraction=0.05, pad=0.02)
    bar.outline.set_visible(False)
    room = 0.4 * float(figure.get_size_inches()[0])
    ends = [fit_label(groups.names[i], room, _POINTS) for i in (0, -1)]
    bar.set_ticks([0, count - 1], labels=ends, minor=False)
    first, last = bar.ax.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    for text in (first, last):
        _write(text, text.get_text())
    bar.ax.tick_params(length=0)
    bar.set_label(f"{groups.title or 'runs'} ({count})", fontsize=_POINTS)
    _make_room(figure, 0.4)


def _make_room(figure: Figure, inches: float) -> None:
    """Make a figure higher, so that a key does not squeeze the panels."""
    figure.set_figheight(figure.get_figheight() + inches)


def _without_prefix(names: list[str]) -> tuple[list[str], str]:
    """Take off the folders that all names begin with."""
    parts = [name.split("/") for name in names]
    shared = 0
    while len(names) > 1 and all(len(p) > shared + 1 and p[: shared + 1] == parts[0][: shared + 1] for p in parts):
        shared += 1
    return ["/".join(p[shared:]) for p in parts], "/".join(parts[0][:shared])


def _write(text: Text, name: str) -> None:
    """Write a name as it is, never as mathematics or TeX."""
    text.set_parse_math(False)
    text.set_usetex(False)
    text.set_text(name)
