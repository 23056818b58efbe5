"""The arrays of a histogram Dataset, checked, and what their shape says."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import xarray as xr

from tbframe.errors import AccessorError

__all__ = ["SERIES_DIMS", "Histograms", "along", "is_logged", "shared_edges", "take_apart", "without_bins"]

SERIES_DIMS: Final = ("run", "tag")
_EDGES = ("left", "right")


class Histograms(NamedTuple):
    """The arrays of a histogram Dataset.

    Attributes
    ----------
    left, right, counts : float64 array (..., bin)
        `left` and `right` may lack leading axes, but broadcast against `counts`.
    dims : tuple
        The names of the leading axes.
    """

    left: npt.NDArray[np.float64]
    right: npt.NDArray[np.float64]
    counts: npt.NDArray[np.float64]
    dims: tuple[Hashable, ...]


def take_apart(ds: xr.Dataset) -> Histograms:
    """Check that a Dataset holds histograms and return their arrays.

    Parameters
    ----------
    ds : Dataset
        With ``counts`` (..., bin) and its edges ``left`` and ``right``.

    Returns
    -------
    Histograms

    Raises
    ------
    AccessorError
        If something is missing.
    """
    if "counts" not in ds.variables:
        found = ", ".join(repr(str(name)) for name in ds.data_vars) or "none"
        raise AccessorError(
            "this is no histogram Dataset: it has no variable 'counts'. The verbs of .tb need what "
            f"tbframe.histograms() returns, or a part of it; the variables here are: {found}"
        )
    counts = ds["counts"]
    if "bin" not in counts.dims:
        raise AccessorError(
            f"'counts' has the dimensions {list(map(str, counts.dims))} but no 'bin', which this verb needs. "
            "Select with isel(bin=[i]) to keep it, and reduce over 'bin' last"
        )
    for name in _EDGES:
        if name not in ds.variables or "bin" not in ds[name].dims:
            raise AccessorError(
                f"'counts' has lost its edges {name!r} (xarray drops them when histograms with different buckets are "
                "combined or reduced). Give all steps the same bins first: ds.tb.rebin(), then reduce or compare"
            )
    dims = tuple(dim for dim in counts.dims if dim != "bin")
    left, right = (along(ds[name], (*dims, "bin")) for name in _EDGES)
    return Histograms(left, right, np.asarray(counts.transpose(*dims, "bin"), np.float64), dims)


def along(array: xr.DataArray, dims: tuple[Hashable, ...]) -> npt.NDArray[np.float64]:
    """Return the values with their axes in the order of `dims`, of length 1 where the array does not have one.

    Parameters
    ----------
    array : DataArray
        With some of the dimensions.
    dims : tuple
        All dimensions.

    Returns
    -------
    float64 array
        With as many axes as there are `dims`.
    """
    values = np.asarray(array.transpose(*[dim for dim in dims if dim in array.dims]), np.float64)
    return values[tuple(slice(None) if dim in array.dims else np.newaxis for dim in dims)]


def is_logged(ds: xr.Dataset) -> npt.NDArray[np.bool_]:
    """Tell the steps that were logged from those that only other series of the Dataset logged.

    Parameters
    ----------
    ds : Dataset
        Histograms.

    Returns
    -------
    bool array
        With all axes of ``counts`` but bin, in their order.
    """
    dims = tuple(dim for dim in ds["counts"].dims if dim != "bin")
    if "wall_time" in ds.coords:
        logged = along(ds["wall_time"].notnull(), dims) != 0
    else:
        logged = along(ds["counts"].notnull().any("bin"), dims) != 0
    return np.broadcast_to(logged, tuple(ds.sizes[dim] for dim in dims))


def shared_edges(ds: xr.Dataset | xr.DataArray) -> npt.NDArray[np.float64] | None:
    """Return the edges that all steps share.

    Parameters
    ----------
    ds : Dataset or DataArray
        With the coordinates ``left`` and ``right``.

    Returns
    -------
    float64 array (..., bin + 1) or None
        With further axes where each run or tag has edges of its own; None where the edges depend on the step, are not
        finite, do not rise, or leave gaps.
    """
    if any(name not in ds.coords or not {"bin"} <= set(ds[name].dims) <= {*SERIES_DIMS, "bin"} for name in _EDGES):
        return None
    left, right = (np.asarray(ds[name].transpose(..., "bin"), np.float64) for name in _EDGES)
    if not left.size or left.shape != right.shape:
        return None
    edges = np.concatenate([left, right[..., -1:]], axis=-1)
    rises = bool(np.isfinite(edges).all() and (np.diff(edges) > 0).all())
    return edges if rises and np.array_equal(left[..., 1:], right[..., :-1]) else None


def without_bins(ds: xr.Dataset | xr.DataArray) -> dict[Hashable, xr.Variable]:
    """Return the coordinates that do not run over bins.

    Parameters
    ----------
    ds : Dataset or DataArray
        Histograms.

    Returns
    -------
    dict of Variable
    """
    return {name: coord.variable for name, coord in ds.coords.items() if "bin" not in coord.dims}
