"""Plots of histogram Datasets: one panel for each run and tag, drawn by the functions for arrays.

Importing this module does not import matplotlib, so that the accessors can take their documentation from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import xarray as xr

from tbframe import buckets
from tbframe.verbs.histogram_parts import is_logged, shared_edges, take_apart
from tbframe.verbs.histogram_steps import downsample
from tbframe.verbs.histograms import compress, density, rebin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

    from tbframe.plotting.ridgeline import Mode, Order
    from tbframe.plotting.style import AxesLike, TimeAxis, Times

__all__ = ["distribution", "heatmap", "in_shared_bins", "ridgeline"]

Drawn: TypeAlias = "Axes | npt.NDArray[np.object_]"
"""What the plots return: the Axes, or an array of them with the axes tag and run, as far as the Dataset has them."""

_PANEL_DIMS = ("tag", "run")
_MOST_PANELS = 100
_BINS = 30


class _Panel(NamedTuple):
    ax: Axes
    ds: xr.Dataset
    """Histograms with the dimensions step and bin, only steps that were logged."""

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """Edges (bin + 1,) of a panel whose steps share them."""
        return np.append(self.ds["left"], self.ds["right"][-1:])

    def times(self, x: TimeAxis) -> Times:
        """Return where the steps lie on the axis asked for."""
        from tbframe.plotting.style import times

        wall = self.ds["wall_time"].values if "wall_time" in self.ds.coords else None
        steps = self.ds["step"].values if "step" in self.ds.coords else np.arange(self.ds.sizes["step"])
        return times(steps, wall, x)


def ridgeline(
    ds: xr.Dataset,
    *,
    mode: Mode = "offset",
    x: TimeAxis = "step",
    max_steps: int | None = 51,
    bins: int | None = None,
    order: Order = "back",
    ax: AxesLike | None = None,
    cmap: str | Colormap | None = None,
) -> Drawn:
    """Draw the histograms of each run and tag as ridges, as TensorBoard's histograms page does.

    Parameters
    ----------
    ds : Dataset
        Histograms. Raw ones are counted again in bins that the runs of a tag share; the height is normalised over
        them, too.
    mode : {"offset", "overlay"}
        The foot of each ridge at its step, or all on one foot.
    x : {"step", "relative", "wall"}
        Place ridges by step, by the time since the first, or by date.
    max_steps : int or None
        Draw at most so many steps, evenly spread by position with the first and the last kept; None draws all.
    bins : int or None
        How many bins; None keeps the bins of a rebinned Dataset, and takes 30 for a raw one.
    order : {"back", "bottom"}
        Where the earliest step is in mode "offset": at the back, as TensorBoard draws it, or at the bottom.
    ax : Axes, array of Axes or None
        Where to draw; None makes a figure.
    cmap : str, Colormap or None
        Colours from the earliest to the latest step.

    Returns
    -------
    Axes or array of Axes
        One Axes; or, of several runs or tags, an array of them, with tags along the first axis.

    Raises
    ------
    ValueError
        If an argument is not one of those above, or the number of Axes does not fit.
    AccessorError
        If this is no histogram Dataset, or has lost its edges.
    """
    from tbframe.plotting.ridgeline import draw_ridgeline, ridge_heights

    if max_steps is not None and max_steps < 2:
        raise ValueError(f"max_steps={max_steps!r}: expected at least 2 (the first and the last), or None for all")

    def binned(one: xr.Dataset) -> xr.Dataset:
        if max_steps is not None and "step" in one["counts"].dims:
            one = downsample(one, max_steps, "even")
        return in_shared_bins(one, bins)

    axes, shape, groups = _panels(ds, ax, binned)
    for panels in groups:
        tops = [float(np.max(ridge_heights(panel.edges, panel.ds["counts"]), initial=0.0)) for panel in panels]
        one_scale = all(np.array_equal(panel.edges, panels[0].edges) for panel in panels)
        for panel, top in zip(panels, tops, strict=True):
            peak = max(tops) if one_scale else top
            at = panel.times(x)
            draw_ridgeline(panel.ax, panel.edges, panel.ds["counts"], at, mode=mode, order=order, peak=peak, cmap=cmap)
            _name(panel, "x")
    return _as_drawn(axes, shape)


def distribution(
    ds: xr.Dataset,
    *,
    x: TimeAxis = "step",
    bps: Sequence[float] = buckets.BASIS_POINTS,
    leak: bool = True,
    ax: AxesLike | None = None,
    color: str | None = None,
) -> Drawn:
    """Draw percentiles of each run and tag over time, as TensorBoard's distributions page does.

    Parameters
    ----------
    ds : Dataset
        Histograms.
    x : {"step", "relative", "wall"}
        The horizontal axis: step, the time since the first, or date.
    bps : sequence of float
        The percentiles between which to draw bands, in 1/10000. Default: TensorBoard's nine.
    leak : bool
        As for `compress`.
    ax : Axes, array of Axes or None
        Where to draw; None makes a figure.
    color : str or None
        Of bands and median; None is the next of the colour cycle.

    Returns
    -------
    Axes or array of Axes
        One Axes; or, of several runs or tags, an array of them, with tags along the first axis.

    Raises
    ------
    ValueError
        If an argument is not one of those above, or the number of Axes does not fit.
    AccessorError
        If this is no histogram Dataset, or has lost its edges.
    """
    from tbframe.plotting.distribution import draw_distribution

    axes, shape, groups = _panels(ds, ax, lambda one: one)
    for panel in (panel for panels in groups for panel in panels):
        values = compress(panel.ds, bps, leak=leak)
        draw_distribution(panel.ax, panel.times(x), np.asarray(values), np.asarray(bps), color=color)
        _name(panel, "y")
    return _as_drawn(axes, shape)


def heatmap(
    ds: xr.Dataset,
    *,
    x: TimeAxis = "step",
    bins: int | None = None,
    show: str = "counts",
    ax: AxesLike | None = None,
    cmap: str | Colormap | None = None,
) -> Drawn:
    """Draw counts or densities of each run and tag over step and value.

    Parameters
    ----------
    ds : Dataset
        Histograms. Raw ones are counted again in bins that the runs of a tag share.
    x : {"step", "relative", "wall"}
        The horizontal axis: step, the time since the first, or date.
    bins : int or None
        How many bins; None keeps the bins of a rebinned Dataset, and takes 30 for a raw one.
    show : {"counts", "density"}
        What the colours show.
    ax : Axes, array of Axes or None
        Where to draw; None makes a figure.
    cmap : str, Colormap or None
        Colours from little to much.

    Returns
    -------
    Axes or array of Axes
        One Axes; or, of several runs or tags, an array of them, with tags along the first axis.

    Raises
    ------
    ValueError
        If an argument is not one of those above, or the number of Axes does not fit.
    AccessorError
        If this is no histogram Dataset, or has lost its edges.
    """
    from tbframe.plotting.heatmap import draw_heatmap

    if show not in ("counts", "density"):
        raise ValueError(f"show={show!r}: expected 'counts' or 'density'")
    axes, shape, groups = _panels(ds, ax, lambda one: in_shared_bins(one, bins))
    for panels in groups:
        ready = [
            (panel, np.asarray(density(panel.ds) if show == "density" else panel.ds["counts"])) for panel in panels
        ]
        most = max((float(np.max(values, initial=0.0)) for _, values in ready), default=0.0)
        for panel, values in ready:
            if len(values):
                draw_heatmap(panel.ax, panel.edges, values, panel.times(x), label=show, cmap=cmap, most=most or 1.0)
            _name(panel, "y")
    return _as_drawn(axes, shape)


def in_shared_bins(ds: xr.Dataset, bins: int | None) -> xr.Dataset:
    """Rebin a Dataset, unless no number of bins is asked for and the steps of each series share their edges already.

    Parameters
    ----------
    ds : Dataset
        Histograms.
    bins : int or None
        How many bins; None is 30 where there are no shared ones.

    Returns
    -------
    Dataset
    """
    # One step as it was logged has nobody to share its edges with; that it was rebinned shows by its bins' centres.
    several = "step" in ds["counts"].dims or "bin" in ds.coords
    if bins is None and several and shared_edges(ds) is not None:
        return ds
    return rebin(ds, _BINS if bins is None else bins)


def _panels(
    ds: xr.Dataset, ax: AxesLike | None, prepare: Callable[[xr.Dataset], xr.Dataset]
) -> tuple[list[Axes], tuple[int, ...], Iterator[list[_Panel]]]:
    """Return Axes, the shape to return them in, and the panels of one tag after the other, prepared tag by tag."""
    from tbframe.plotting.style import as_axes, grid

    counts = take_apart(ds)
    other = [str(dim) for dim in counts.dims if dim not in (*_PANEL_DIMS, "step")]
    if other:
        raise ValueError(
            f"no plot for the dimension {other[0]!r}: select with isel({other[0]}=0) or reduce over it first"
        )
    dims = [dim for dim in _PANEL_DIMS if dim in counts.dims]
    shape = tuple(ds.sizes[dim] for dim in dims)
    n = int(np.prod(shape))
    if not 0 < n <= _MOST_PANELS:
        raise ValueError(
            f"{n} panels for {dict(zip(dims, shape, strict=True))}: expected 1 to {_MOST_PANELS}. Select some runs and "
            "tags with isel or sel, or draw one figure each with tbframe.ridgelines()"
        )
    columns = shape[1] if len(shape) == 2 else min(3, n)
    axes = grid(-(-n // columns), columns, n) if ax is None else as_axes(ax, n)

    def groups() -> Iterator[list[_Panel]]:
        free = iter(axes)
        for i in range(shape[0] if "tag" in dims else 1):
            one = prepare(ds.isel(tag=i) if "tag" in dims else ds)
            runs = [one.isel(run=j) for j in range(one.sizes["run"])] if "run" in dims else [one]
            yield [_Panel(next(free), _logged_steps(run)) for run in runs]

    return axes, shape, groups()


def _logged_steps(ds: xr.Dataset) -> xr.Dataset:
    if "step" not in ds["counts"].dims:
        ds = ds.expand_dims("step")
    return ds.transpose("step", "bin", ...).isel(step=np.flatnonzero(is_logged(ds)))


def _name(panel: _Panel, axis: str) -> None:
    from tbframe.plotting.style import name_axis

    names = {name: str(panel.ds[name].item()) for name in _PANEL_DIMS if name in panel.ds.coords}
    name_axis(panel.ax, names.get("tag", "value"), "x" if axis == "x" else "y")
    if "run" in names:
        name_axis(panel.ax, names["run"], "title")


def _as_drawn(axes: list[Axes], shape: tuple[int, ...]) -> Drawn:
    if len(axes) == 1:
        return axes[0]
    array = np.empty(len(axes), object)
    array[:] = axes
    return array.reshape(shape)
