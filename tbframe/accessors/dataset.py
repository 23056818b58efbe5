"""The ``.tb`` of histogram Datasets, and of a DataArray of their counts: one line each over the verbs and plots."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import pandas as pd
import xarray as xr

from tbframe.buckets import BASIS_POINTS, Outside
from tbframe.documenting import documented_by
from tbframe.plotting import histograms as plots
from tbframe.verbs import histogram_steps, histograms, pr_verbs, writing
from tbframe.verbs.histograms import Bins

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

    from tbframe.plotting.histograms import Drawn
    from tbframe.plotting.ridgeline import Mode, Order
    from tbframe.plotting.style import AxesLike, TimeAxis

Object = TypeVar("Object", xr.Dataset, xr.DataArray)

__all__ = ["DataArrayAccessor", "DatasetAccessor"]


class _Accessor(Generic[Object]):
    """What Datasets and DataArrays share. Never raises when made: ``hasattr(ds, "tb")`` must hold for any object."""

    def __init__(self, obj: Object) -> None:
        self._obj: Object = obj

    def _histograms(self) -> xr.Dataset:
        raise NotImplementedError

    @documented_by(histograms.compress)
    def compress(self, bps: Sequence[float] = BASIS_POINTS, *, leak: bool = True) -> xr.DataArray:
        """Find percentiles of each histogram."""
        return histograms.compress(self._histograms(), bps, leak=leak)

    @documented_by(histograms.density)
    def density(self) -> xr.DataArray:
        """Divide counts by the step's total and the bucket's width."""
        return histograms.density(self._histograms())

    @documented_by(histogram_steps.to_frame)
    def to_frame(self) -> pd.DataFrame:
        """Turn histograms into one row per bucket."""
        return histogram_steps.to_frame(self._histograms())

    @documented_by(plots.ridgeline)
    def ridgeline(
        self,
        *,
        mode: Mode = "offset",
        x: TimeAxis = "step",
        max_steps: int | None = 51,
        bins: int | None = None,
        order: Order = "back",
        ax: AxesLike | None = None,
        cmap: str | Colormap | None = None,
    ) -> Drawn:
        """Draw the histograms as ridges."""
        return plots.ridgeline(
            self._histograms(), mode=mode, x=x, max_steps=max_steps, bins=bins, order=order, ax=ax, cmap=cmap
        )

    @documented_by(plots.distribution)
    def distribution(
        self,
        *,
        x: TimeAxis = "step",
        bps: Sequence[float] = BASIS_POINTS,
        leak: bool = True,
        ax: AxesLike | None = None,
        color: str | None = None,
    ) -> Drawn:
        """Draw percentiles over time."""
        return plots.distribution(self._histograms(), x=x, bps=bps, leak=leak, ax=ax, color=color)

    @documented_by(plots.heatmap)
    def heatmap(
        self,
        *,
        x: TimeAxis = "step",
        bins: int | None = None,
        show: str = "counts",
        ax: AxesLike | None = None,
        cmap: str | Colormap | None = None,
    ) -> Drawn:
        """Draw counts or densities over step and value."""
        return plots.heatmap(self._histograms(), x=x, bins=bins, show=show, ax=ax, cmap=cmap)

    def write(self, logdir: str | os.PathLike[str]) -> list[Path]:
        """Write histograms back to event files that TensorBoard opens: see `tbframe.write`.

        Parameters
        ----------
        logdir : str or path
            The directory to write to.

        Returns
        -------
        list of Path
            The new files, one for each run.

        Raises
        ------
        AccessorError
            If this is no histogram Dataset.
        ValueError
            If a run does not name a directory, a step is no int64, or a wall time is not finite.
        """
        return writing.write(self._histograms(), logdir)


class DatasetAccessor(_Accessor[xr.Dataset]):
    """Verbs on histogram Datasets (what `tbframe.histograms` returns)."""

    def _histograms(self) -> xr.Dataset:
        return self._obj

    @documented_by(histograms.rebin)
    def rebin(
        self,
        bins: Bins = 30,
        range: tuple[float, float] | None = None,
        *,
        outside: Outside = "error",
        shared: bool = True,
    ) -> xr.Dataset:
        """Count histograms again in bins that all steps share."""
        return histograms.rebin(self._obj, bins, range, outside=outside, shared=shared)

    @documented_by(histogram_steps.downsample)
    def downsample(self, n: int, method: Literal["reservoir", "even"] = "reservoir", seed: int = 0) -> xr.Dataset:
        """Keep at most `n` steps of each series."""
        return histogram_steps.downsample(self._obj, n, method, seed)

    def pr(
        self,
        *,
        step: int | Iterable[int] | None = None,
        ax: AxesLike | None = None,
        cmap: str | Colormap | None = None,
    ) -> Drawn:
        """Draw precision over recall of a Dataset that `tbframe.pr_curves` returned.

        Parameters
        ----------
        step : int, iterable of int or None
            Draw the last curve that each run logged at this step or before; None is the last there is.
        ax : Axes, array of Axes or None
            Where to draw, one for each tag; None makes a figure.
        cmap : str, Colormap or None
            Colours from the first to the last of several steps.

        Returns
        -------
        Axes or array of Axes
            One Axes; or, of several tags, an array of them.

        Raises
        ------
        AccessorError
            If these are no precision-recall curves.
        """
        from tbframe.plotting.pr_curve import pr

        return pr(self._obj, step=step, ax=ax, cmap=cmap)

    @documented_by(pr_verbs.trim)
    def trim(self) -> xr.Dataset:
        """Cut precision-recall curves where TensorBoard does."""
        return pr_verbs.trim(self._obj)


class DataArrayAccessor(_Accessor[xr.DataArray]):
    """Verbs on the counts of histograms, ``ds["counts"]``, which carry their edges as coordinates."""

    def _histograms(self) -> xr.Dataset:
        return self._obj.to_dataset(name="counts")

    @documented_by(histograms.rebin)
    def rebin(
        self,
        bins: Bins = 30,
        range: tuple[float, float] | None = None,
        *,
        outside: Outside = "error",
        shared: bool = True,
    ) -> xr.DataArray:
        """Count histograms again in bins that all steps share."""
        return histograms.rebin(self._histograms(), bins, range, outside=outside, shared=shared)["counts"]

    @documented_by(histogram_steps.downsample)
    def downsample(self, n: int, method: Literal["reservoir", "even"] = "reservoir", seed: int = 0) -> xr.DataArray:
        """Keep at most `n` steps of each series."""
        return histogram_steps.downsample(self._histograms(), n, method, seed)["counts"]
