"""The slowest and the largest nodes or scopes as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from matplotlib.ticker import EngFormatter, FuncFormatter, MaxNLocator

from tbframe.plotting.style import AxesLike, as_axes, fit_label
from tbframe.verbs.frames import require
from tbframe.verbs.node_stats import by_scope

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_node_stats"]

_COMPUTE, _REST, _MEMORY = "#3b6ea5", "#b9cde0", "#8a6d3b"
_LABEL: Final = 1.2  # inches; of a longer name the middle is left out
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def draw_node_stats(
    frame: pd.DataFrame, depth: int | None = None, *, n: int = 20, ax: AxesLike | None = None
) -> list[Axes]:
    """Draw the nodes or scopes that take the most time, and those that take the most memory.

    Parameters
    ----------
    frame : DataFrame
        As ``tbframe.node_stats`` returns it, or some of its rows. Executions of several steps are added up.
    depth : int or None
        How many scopes deep; None shows nodes.
    n : int
        How many bars, at most.
    ax : array of two Axes, optional
        To draw on; default is a new figure.

    Returns
    -------
    list of Axes
        Time and memory. The dark part of a bar is the time computed; the rest is what else an execution took.

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    ValueError
        If `n` or `depth` is less than 1, or `ax` are not two.
    """
    if n < 1:
        raise ValueError(f"n={n!r}: expected at least 1 bar")
    require(frame, ["run", "tag", "step"], "draw_node_stats")
    sums = by_scope(frame.assign(run="", tag="", step=0), depth)
    if ax is None:
        from matplotlib import pyplot as plt

        high = max(2.0, 0.24 * min(n, len(sums)) + 0.8)
        _, pair = plt.subplots(1, 2, figsize=(10, high), layout="constrained")
        panels = list(pair)
    else:
        panels = as_axes(ax, 2)
    slowest = sums.head(n)
    _draw_bars(panels[0], slowest["scope"], slowest["total"], _REST)
    _draw_bars(panels[0], slowest["scope"], slowest["compute"], _COMPUTE)
    panels[0].set_xlabel("time (dark: compute)")
    panels[0].xaxis.set_major_formatter(EngFormatter("s"))
    panels[0].xaxis.set_major_locator(MaxNLocator(4))
    largest = sums[sums["bytes"] > 0].sort_values("bytes", ascending=False, kind="stable").head(n)
    _draw_bars(panels[1], largest["scope"], largest["bytes"], _MEMORY)
    panels[1].set_xlabel("memory")
    panels[1].xaxis.set_major_formatter(FuncFormatter(lambda value, _: _binary(value)))
    most = float(sums["bytes"].max()) if len(sums) else 0.0
    unit, _ = _unit(most)
    panels[1].set_xticks(np.asarray(MaxNLocator(4).tick_values(0.0, max(most, 1.0) / unit)) * unit)
    panels[1].set_xlim(0, max(most, 1.0) * 1.05)
    for panel, shown in ((panels[0], slowest), (panels[1], largest)):
        if not len(shown):
            panel.text(0.5, 0.5, "nothing was logged", transform=panel.transAxes, ha="center", va="center")
    return panels


def _draw_bars(panel: Axes, names: pd.Series, lengths: pd.Series, colour: str) -> None:
    places = np.arange(len(names))
    panel.barh(places, lengths.to_numpy(np.float64), color=colour, height=0.75)
    panel.set_yticks(places, [fit_label(name, _LABEL, 7.0).replace("\n", "") for name in names])
    for label in panel.get_yticklabels():
        label.set_parse_math(False)
    panel.tick_params(axis="y", labelsize=7, length=0)
    panel.set_ylim(max(len(names), 1) - 0.5, -0.5)
    panel.spines[["top", "right"]].set_visible(False)


def _binary(value: float) -> str:
    """Write a number of bytes as TensorBoard does: in units of 1024, to three digits."""
    return f"{value / _unit(value)[0]:.3g} {_unit(value)[1]}"


def _unit(value: float) -> tuple[int, str]:
    place = min(int(np.log2(abs(value)) // 10), len(_UNITS) - 1) if abs(value) >= 1 else 0
    return 1024**place, _UNITS[place]
