"""Ridgelines: the histograms of many steps, one behind the other or one over the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import ListedColormap, Normalize

from tbframe.plotting.style import Times, inches, label_times, label_values, ramp

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

__all__ = ["Mode", "Order", "draw_ridgeline", "ridge_heights"]

Floats: TypeAlias = npt.NDArray[np.float64]
Mode: TypeAlias = Literal["offset", "overlay"]
Order: TypeAlias = Literal["back", "bottom"]

_LEAST_RISE, _MOST_RISE = (1.3, 2.5), 0.28  # of the tallest ridge: in distances of 10 and of 50 ridges; of all
_MANY = 512  # ridges; for more, who hides whom is not looked at


def draw_ridgeline(
    ax: Axes,
    edges: npt.ArrayLike,
    counts: npt.ArrayLike,
    at: Times,
    *,
    mode: Mode = "offset",
    order: Order = "back",
    peak: float | None = None,
    cmap: str | Colormap | None = None,
) -> PolyCollection | LineCollection:
    """Draw histograms over shared bins as ridges.

    Parameters
    ----------
    ax : Axes
        To draw on.
    edges : float64 array (bin + 1,)
        The edges of the bins. Ridges run through the bins' centres; where bins differ in width, they show counts per
        width.
    counts : float64 array (step, bin)
        What to draw.
    at : Times
        Where each step lies.
    mode : {"offset", "overlay"}
        "offset" puts the foot of each ridge at its step, "overlay" draws all on one foot.
    order : {"back", "bottom"}
        In mode "offset", where the earliest step is: at the back (the top, as TensorBoard draws it) or at the bottom.
    peak : float or None
        The count (per width, relative to the mean width) that gets the full height; None is the greatest there is.
    cmap : str, Colormap or None
        Colours from the earliest to the latest; None is dark to light.

    Returns
    -------
    PolyCollection or LineCollection
        One path per step; in mode "offset" from the back to the front.

    Raises
    ------
    ValueError
        If `mode` or `order` is unknown.
    """
    if mode not in ("offset", "overlay"):
        raise ValueError(f"mode={mode!r}: expected 'offset' (one behind the other) or 'overlay' (one over the other)")
    if order not in ("back", "bottom"):
        raise ValueError(
            f"order={order!r}: expected 'back' (the earliest step at the back) or 'bottom' (at the bottom)"
        )
    bounds, heights = np.asarray(edges, np.float64), np.asarray(counts, np.float64)
    heights, even = ridge_heights(bounds, heights), _are_even(bounds)
    painted = np.argsort(at.at, kind="stable")
    if mode == "offset" and order == "bottom":
        painted = painted[::-1]
    heights, places = heights[painted], at.at[painted]
    colours = ramp(_parts(places), cmap)
    ridges: PolyCollection | LineCollection
    if mode == "overlay":
        ridges = _overlay(ax, bounds, heights, places, colours, at, "count" if even else "count per width", cmap)
    else:
        ridges = _offset(ax, bounds, heights, places, colours, at, order, peak)
    label_values(ax.xaxis, *sorted(ax.get_xlim()))
    return ridges


def ridge_heights(edges: npt.ArrayLike, counts: npt.ArrayLike) -> Floats:
    """Return how high ridges are: the counts, or per width (relative to the mean width) where bins are not equal.

    Parameters
    ----------
    edges : float64 array (bin + 1,)
        The edges of the bins.
    counts : float64 array (step, bin)
        The counts.

    Returns
    -------
    float64 array (step, bin)

    Examples
    --------
    >>> ridge_heights([0.0, 1.0, 4.0], [[3.0, 3.0]])
    array([[6., 2.]])
    """
    bounds, heights = np.asarray(edges, np.float64), np.asarray(counts, np.float64)
    widths = np.diff(bounds / 2)
    return heights if _are_even(bounds) else heights * (widths.mean() / widths)


def _are_even(edges: Floats) -> bool:
    widths = np.diff(edges / 2)
    return bool(np.ptp(widths) <= 1e-6 * widths.mean())


def _parts(places: Floats) -> Floats:
    low, high = np.min(places, initial=np.inf), np.max(places, initial=-np.inf)
    return (places - low) / (high - low) if low < high else np.zeros(places.size)


def _paths(edges: Floats, feet: Floats, tops: Floats) -> Floats:
    """Return (step, bin + 2, 2): from the foot at the first edge over the bins' centres to the foot at the last."""
    x = np.concatenate([edges[:1], edges[:-1] / 2 + edges[1:] / 2, edges[-1:]])
    foot = feet[:, np.newaxis]
    y = np.concatenate([foot, tops, foot], axis=1)
    return np.stack([np.broadcast_to(x, y.shape), y], axis=-1)


def _offset(
    ax: Axes,
    edges: Floats,
    heights: Floats,
    places: Floats,
    colours: Floats,
    at: Times,
    order: Order,
    peak: float | None,
) -> PolyCollection:
    up = 1.0 if order == "bottom" else -1.0
    most = np.nanmax(heights, initial=0.0) if peak is None else peak
    share = np.nan_to_num(heights / most) if most > 0 else np.zeros(heights.shape)
    tops = places[:, np.newaxis] + up * _rise(share, places) * share
    # An edge around each ridge: white keeps neighbours apart, also in grey.
    ridges = PolyCollection(
        list(_paths(edges, places, tops)),
        facecolors=colours,
        edgecolors="white",
        linewidths=_line_width(ax, places.size),
    )
    ax.add_collection(ridges)
    ax.margins(x=0, y=0.02)
    if up < 0 and not ax.yaxis_inverted():
        ax.invert_yaxis()
    ax.autoscale_view()
    if places.size:
        label_times(ax.yaxis, places, at.label, at.dates)
    return ridges


def _rise(share: Floats, places: Floats) -> float:
    """Return the height of the tallest ridge: large, but so that no ridge hides the peak of one behind it.

    Steps that lie close together may leave no room for that; ridges then keep a height at which their shape shows.
    """
    span, n = float(np.ptp(places)) if places.size else 0.0, places.size
    if span == 0:
        return 1.0
    least = float(np.interp(n, [10, 50], _LEAST_RISE)) * span / (min(n, 50) - 1)
    most = _MOST_RISE * span
    if n > _MANY or least >= most:
        return max(least, most)
    top = share.argmax(axis=1)
    # Row i: how much higher than the peak of ridge i the others are above it, and how far lower their feet lie.
    peaks = share[np.arange(n), top][:, np.newaxis]
    above = share[:, top].T - peaks
    below = np.abs(places - places[:, np.newaxis])
    front = np.triu(np.ones((n, n), bool), 1) & (above > 0) & (peaks > 0)
    limit = np.min(below[front] / above[front], initial=np.inf)
    return max(least, min(most, float(limit)))


def _line_width(ax: Axes, n: int) -> float:
    room = 72 * inches(ax)[1] / max(n, 1)
    return min(room / 6, 0.8) if room > 1 else 0.0  # between many ridges the lines would be all there is to see


def _overlay(
    ax: Axes,
    edges: Floats,
    heights: Floats,
    places: Floats,
    colours: Floats,
    at: Times,
    label: str,
    cmap: str | Colormap | None,
) -> LineCollection:
    lines = LineCollection(
        list(_paths(edges, np.zeros(places.size), heights)),
        colors=colours,
        linewidths=1.0 if places.size <= 12 else 0.7,
    )
    ax.add_collection(lines)
    ax.margins(x=0)
    ax.autoscale_view()
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]) if np.nanmin(heights, initial=0.0) < 0 else 0.0)
    ax.set_ylabel(label)
    figure = ax.get_figure()
    if figure is not None and np.unique(places).size > 1:
        colour = ScalarMappable(
            Normalize(places.min(), places.max()), ListedColormap(ramp(np.linspace(0, 1, 256), cmap))
        )
        bar = figure.colorbar(colour, ax=ax)
        label_times(bar.ax.yaxis, places, at.label, at.dates)
    return lines
