"""Heatmaps: the histograms of all steps as an image."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.colors import ListedColormap

from tbframe.plotting.style import Times, inches, label_times

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Colormap

__all__ = ["cell_edges", "draw_heatmap"]

_BAR = 0.6  # inches that a colour bar and its labels take


def cell_edges(at: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return edges half-way between points, and as far outside the first and the last.

    Parameters
    ----------
    at : float64 array (n,)
        Rising points, at least one.

    Returns
    -------
    float64 array (n + 1,)

    Examples
    --------
    >>> cell_edges([0.0, 2.0, 6.0])
    array([-1.,  1.,  4.,  8.])
    >>> cell_edges([3.0])
    array([2.5, 3.5])
    """
    points = np.asarray(at, np.float64)
    if points.size == 1:
        return np.concatenate([points - 0.5, points + 0.5])
    middle = (points[:-1] + points[1:]) / 2
    edges: npt.NDArray[np.float64] = np.concatenate(
        (2 * points[:1] - middle[:1], middle, 2 * points[-1:] - middle[-1:])
    )
    return edges


def draw_heatmap(
    ax: Axes,
    edges: npt.ArrayLike,
    values: npt.ArrayLike,
    at: Times,
    *,
    label: str,
    cmap: str | Colormap | None = None,
    most: float | None = None,
) -> QuadMesh:
    """Draw counts or densities over step and value.

    Parameters
    ----------
    ax : Axes
        To draw on; a colour bar is put beside it.
    edges : float64 array (bin + 1,)
        The edges of the bins.
    values : float64 array (step, bin)
        What the colours show. Empty bins stay blank.
    at : Times
        Where each step lies, at least one. Of steps at the same place the last one is drawn.
    label : str
        What the values are.
    cmap : str, Colormap or None
        Colours from little to much; None is light to dark, which prints in grey.
    most : float or None
        The value of the last colour; None is the greatest there is.

    Returns
    -------
    QuadMesh
    """
    order = np.argsort(at.at, kind="stable")
    places = at.at[order]
    last = np.append(np.diff(places) > 0, True)
    cells = np.asarray(values, np.float64)[order][last].T
    mesh = ax.pcolormesh(
        cell_edges(places[last]),
        np.asarray(edges, np.float64),
        np.ma.masked_invalid(np.ma.masked_equal(cells, 0.0)),
        cmap=ListedColormap(colormaps["YlGnBu"](np.linspace(0.12, 1.0, 256))) if cmap is None else cmap,
        vmin=0.0,
        vmax=most,
    )
    width = inches(ax)[0]
    label_times(ax.xaxis, at.at, at.label, at.dates, max(1 - _BAR / width, 0.3))
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(mesh, ax=ax, label=label)
    return mesh
