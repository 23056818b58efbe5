"""Verbs on histogram Datasets: labels around the arithmetic of `tbframe.buckets`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import xarray as xr

from tbframe import buckets
from tbframe.verbs.histogram_parts import (
    SERIES_DIMS,
    Histograms,
    along,
    is_logged,
    shared_edges,
    take_apart,
    without_bins,
)

__all__ = ["Bins", "compress", "density", "rebin"]

Bins: TypeAlias = "int | Sequence[float] | npt.NDArray[np.float64] | xr.Dataset | xr.DataArray"
"""What `rebin` takes: a number of bins, their edges, or something rebinned that has such edges."""


def rebin(
    ds: xr.Dataset,
    bins: Bins = 30,
    range: tuple[float, float] | None = None,
    *,
    outside: buckets.Outside = "error",
    shared: bool = True,
) -> xr.Dataset:
    """Count histograms again in bins that all steps share.

    A bucket is shared out among the bins it overlaps, in proportion to the overlap; one without width goes whole into
    its bin. The total of each step is kept, but for buckets whose edges or count are not finite.

    Parameters
    ----------
    ds : Dataset
        Histograms.
    bins : int, sequence of float, Dataset or DataArray
        How many bins of equal width, or their n + 1 edges, or something rebinned whose edges to take.
    range : (float, float) or None
        From where to where a number of bins reaches; None is the range of the finite buckets that are not empty.
    outside : {"error", "drop", "clip"}
        What to do with counts outside given edges or a given range: refuse, leave them out, or count them in the
        outermost bin.
    shared : bool
        Whether all runs and tags share the bins. False divides the range of each run and tag by itself.

    Returns
    -------
    Dataset
        ``counts`` (..., bin), with the edges ``left`` and ``right`` (bin) and ``bin``, their centres. With
        ``shared=False`` the edges have the dimensions run and tag too, and bin is a position. What has no bins is kept
        as it was, but for ``buckets``. ``attrs`` count what was left out: ``left_out_buckets`` and, as far as it is
        finite, ``left_out_counts``.

    Raises
    ------
    ValueError
        If the edges do not rise strictly, if counts lie outside them, or if there is less than one bin.
    TypeError
        If `bins` is something else.
    AccessorError
        If this is no histogram Dataset, or has lost its edges.

    Examples
    --------
    >>> ds = xr.Dataset(
    ...     {"counts": (("step", "bin"), [[4.0, 0.0], [2.0, 6.0]])},
    ...     {"left": (("step", "bin"), [[0, 1], [0, 2]]), "right": (("step", "bin"), [[1, 2], [2, 4]])},
    ... )
    >>> rebin(ds, 2).counts.values
    array([[4., 0.],
           [2., 6.]])
    >>> rebin(ds, [0, 1, 4]).counts.values
    array([[4., 0.],
           [1., 7.]])
    """
    histograms = take_apart(ds)
    dims = histograms.dims
    edges = _edges(bins, range, histograms, shared)
    n, apart = edges.shape[-1] - 1, edges.ndim > 1
    result = buckets.rebin(histograms.left, histograms.right, histograms.counts, edges, outside)
    logged = is_logged(ds)
    result[~logged] = np.nan
    data = {"counts": xr.Variable((*dims, "bin"), result)} | {
        name: variable.variable for name, variable in ds.data_vars.items() if "bin" not in variable.dims
    }
    if "buckets" in data:
        data["buckets"] = xr.Variable(dims, np.where(logged, n, 0))
    edge_dims = (*[dim for dim in dims if dim in SERIES_DIMS and apart], "bin")
    bounds = edges.reshape(*[ds.sizes[dim] for dim in edge_dims[:-1]], n + 1)
    coords = without_bins(ds) | {
        "left": xr.Variable(edge_dims, bounds[..., :-1]),
        "right": xr.Variable(edge_dims, bounds[..., 1:]),
        "bin": xr.Variable("bin", np.arange(n) if apart else edges[:-1] / 2 + edges[1:] / 2),
    }
    return xr.Dataset(data, coords, {**ds.attrs, **_left_out(histograms, ds.attrs)})


def _left_out(histograms: Histograms, before: Mapping[str, float]) -> dict[str, float]:
    """Count what cannot be placed, on top of what earlier rebinning left out."""
    left_out = buckets.is_left_out(histograms.left, histograms.right, histograms.counts)
    lost = histograms.counts[left_out]
    return {
        "left_out_buckets": int(before.get("left_out_buckets", 0)) + lost.size,
        "left_out_counts": float(before.get("left_out_counts", 0.0)) + float(lost[np.isfinite(lost)].sum()),
    }


def _edges(
    bins: Bins, range: tuple[float, float] | None, histograms: Histograms, shared: bool
) -> npt.NDArray[np.float64]:
    """Return the edges asked for: (n + 1,), or per series with axes of length 1 for all others but the last."""
    dims = (*histograms.dims, "bin")
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer):
        if range is not None:
            raise ValueError(f"range={range!r} goes with a number of bins; the edges given have their own")
        if not shared:
            raise ValueError("shared=False goes with a number of bins; given edges are shared by all runs and tags")
        return _given_edges(bins)
    if range is not None and not shared:
        raise ValueError(f"shared=False finds the range of each run and tag; range={range!r} sets it for all")
    if range is not None:
        if len(range) != 2 or not np.isfinite(range).all() or not range[0] < range[1]:
            raise ValueError(f"range={range!r}: expected two finite numbers, the lower one first")
        return buckets.equal_edges(range[0], range[1], int(bins))
    axis = None if shared else tuple(i for i, dim in enumerate(dims) if dim not in SERIES_DIMS)
    low, high = buckets.value_range(histograms.left, histograms.right, histograms.counts, axis)
    edges = buckets.equal_edges(low, high, int(bins))
    if edges.ndim == 1:
        return edges
    return np.expand_dims(edges, [i for i in axis or () if i < len(dims) - 1])


def _given_edges(bins: object) -> npt.NDArray[np.float64]:
    if isinstance(bins, xr.Dataset | xr.DataArray):
        edges = shared_edges(bins)
        if edges is None or edges.ndim > 1:
            raise ValueError(
                "bins: the histograms given do not share finite edges that rise without gaps. Rebin them first "
                "and give the result: ds.tb.rebin(other.tb.rebin(30))"
            )
        return edges
    if isinstance(bins, str | bytes | bool | Mapping) or not np.iterable(bins):
        raise TypeError(
            f"bins={bins!r}: expected a number of bins, their edges, or a rebinned Dataset, found {type(bins).__name__}"
        )
    return np.asarray(bins, np.float64)


def compress(ds: xr.Dataset, bps: Sequence[float] = buckets.BASIS_POINTS, *, leak: bool = True) -> xr.DataArray:
    """Find percentiles of each histogram, as TensorBoard's distributions page does.

    Parameters
    ----------
    ds : Dataset
        Histograms.
    bps : sequence of float
        The parts of the total, in 1/10000 (basis points; 5000 is the median). Default: TensorBoard's nine.
    leak : bool
        Whether values may lie in empty buckets before the one they belong to, as TensorBoard's do; then an empty
        histogram has the values 0. False keeps values within their bucket, and gives NaN for an empty histogram.

    Returns
    -------
    DataArray
        ``value`` (..., bps), NaN where a series did not log the step.

    Raises
    ------
    ValueError
        If a part is not between 0 and 10000.
    AccessorError
        If this is no histogram Dataset, or has lost its edges.

    Examples
    --------
    >>> ds = xr.Dataset({"counts": ("bin", [0.0, 2.0])}, {"left": ("bin", [0.0, 1.0]), "right": ("bin", [1.0, 3.0])})
    >>> compress(ds, [2500, 5000], leak=False).values
    array([1.5, 2. ])
    """
    left, right, counts, dims = take_apart(ds)
    logged = is_logged(ds)
    # A step whose edges are all NaN looks like one without buckets; `buckets` is what tells them apart.
    known = ds["buckets"] if "buckets" in ds.data_vars and set(ds["buckets"].dims) <= set(dims) else None
    parts = np.asarray(bps)
    number = None if known is None else np.broadcast_to(along(known, dims), logged.shape)
    values = buckets.compress(left, right, counts, parts, buckets=number, leak=leak)
    values[~logged] = np.nan
    coords = without_bins(ds["counts"])
    coords["bps"] = xr.Variable("bps", parts)
    return xr.DataArray(values, coords, (*dims, "bps"), name="value")


def density(ds: xr.Dataset) -> xr.DataArray:
    """Divide counts by the step's total and the width of their bucket.

    Parameters
    ----------
    ds : Dataset
        Histograms.

    Returns
    -------
    DataArray
        ``density`` (..., bin): the area under each histogram is 1. NaN for padding, and infinite where buckets without
        width hold something.

    Raises
    ------
    AccessorError
        If this is no histogram Dataset, or has lost its edges.

    Examples
    --------
    >>> ds = xr.Dataset({"counts": ("bin", [4.0, 4.0])}, {"left": ("bin", [0.0, 1.0]), "right": ("bin", [1.0, 3.0])})
    >>> density(ds).values
    array([0.5 , 0.25])
    """
    left, right, counts, dims = take_apart(ds)
    values = buckets.density(left, right, counts)
    values[~is_logged(ds)] = np.nan
    coords = {name: coord.variable for name, coord in ds["counts"].coords.items()}
    return xr.DataArray(values, coords, (*dims, "bin"), name="density")
