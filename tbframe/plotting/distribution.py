"""Distributions: percentiles of the histograms over time, as bands around the median."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from matplotlib.colors import to_hex, to_rgb

from tbframe.plotting.style import Times, label_times

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["draw_distribution", "opacities"]

_MEDIAN = 5000
_DRAWN = {668: 228, 9332: 9772}  # TensorBoard's page takes its percentiles for these when it picks opacities


def opacities(bps: npt.ArrayLike) -> list[float]:
    """Return how opaque the bands between percentiles are.

    TensorBoard's rule: the part that a band holds, over a quarter of all.

    Parameters
    ----------
    bps : float64 array (m,)
        Ascending basis points.

    Returns
    -------
    list of float
        One less than `bps`, each at most 1.

    Examples
    --------
    >>> [round(x, 4) for x in opacities([0, 668, 1587, 3085, 5000])]
    [0.0912, 0.5436, 0.5992, 0.766]
    """
    parts = np.array([_DRAWN.get(int(part), float(part)) for part in np.asarray(bps, np.float64)])
    return [float(part) for part in np.clip(np.diff(parts) / 2500, 0.0, 1.0)]


def draw_distribution(
    ax: Axes, at: Times, values: npt.ArrayLike, bps: npt.ArrayLike, *, color: str | None = None
) -> list[Artist]:
    """Draw percentiles over time: a band between neighbours, and a line for the median.

    Parameters
    ----------
    ax : Axes
        To draw on.
    at : Times
        Where each step lies. A single step is drawn with a width of its own.
    values : float64 array (step, m)
        The percentiles.
    bps : float64 array (m,)
        Which they are, in 1/10000.
    color : str or None
        Of bands and line; None is the next of the Axes' cycle.

    Returns
    -------
    list of Artist
        The bands from the lowest to the highest, then the median's line if 5000 is among `bps`.
    """
    parts = np.asarray(bps, np.float64)
    order, column = np.argsort(at.at, kind="stable"), np.argsort(parts, kind="stable")
    x, y, parts = at.at[order], np.asarray(values, np.float64)[order][:, column], parts[column]
    if x.size == 1:
        x, y = x[0] + np.array([-0.5, 0.5]), np.repeat(y, 2, axis=0)
    paint = _next_color(ax) if color is None else color
    artists: list[Artist] = [
        ax.fill_between(x, y[:, i], y[:, i + 1], color=paint, alpha=alpha, linewidth=0)
        for i, alpha in enumerate(opacities(parts))
    ]
    if _MEDIAN in parts:
        darker = tuple(0.6 * part for part in to_rgb(paint))  # to stand out from bands of its own colour, in grey too
        artists += ax.plot(x, y[:, int(np.flatnonzero(parts == _MEDIAN)[0])], color=darker, linewidth=1.2)
    ax.margins(x=0)
    if x.size:
        label_times(ax.xaxis, at.at, at.label, at.dates)
    return artists


def _next_color(ax: Axes) -> str:
    """Take the next colour of the cycle, as a line would."""
    [line] = ax.plot([], [])
    line.remove()
    return to_hex(line.get_color())
