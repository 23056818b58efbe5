"""Verbs on the steps of histogram Datasets: keep some, or write them out as a table."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from tbframe import buckets, series
from tbframe.errors import AccessorError
from tbframe.names import natural_order
from tbframe.verbs.histogram_parts import SERIES_DIMS, is_logged, take_apart

__all__ = ["downsample", "to_frame"]


def downsample(ds: xr.Dataset, n: int, method: Literal["reservoir", "even"] = "reservoir", seed: int = 0) -> xr.Dataset:
    """Keep at most `n` steps of each series.

    Parameters
    ----------
    ds : Dataset
        Histograms with the dimension step.
    n : int
        How many steps to keep per run and tag.
    method : {"reservoir", "even"}
        "reservoir" is TensorBoard's choice: a random one that is the same for all series of equal length, and keeps the
        last. "even" spreads the steps evenly by position and keeps the first and the last.
    seed : int
        Of the reservoir; TensorBoard's is 0.

    Returns
    -------
    Dataset
        With the steps that at least one series keeps; where others keep them, a series is as if it had not logged them.

    Raises
    ------
    ValueError
        If `n` is less than 1, or `method` unknown.
    AccessorError
        If there are no histograms, or no dimension step.

    Examples
    --------
    >>> ds = xr.Dataset(
    ...     {"counts": (("step", "bin"), np.ones((100, 1)))},
    ...     {"step": np.arange(100), "left": ("bin", [0.0]), "right": ("bin", [1.0])},
    ... )
    >>> downsample(ds, 5, "even").step.values
    array([ 0, 25, 50, 74, 99])
    """
    if method not in ("reservoir", "even"):
        raise ValueError(f"method={method!r}: expected 'reservoir' (TensorBoard's) or 'even'")
    dims = take_apart(ds).dims
    if "step" not in dims:
        raise AccessorError(
            "there is no dimension 'step' to downsample; select one step with isel(step=[i]) to keep it"
        )
    axis = dims.index("step")
    logged = np.moveaxis(is_logged(ds), axis, -1)
    shape, width = logged.shape[:-1], logged.shape[-1]
    logged = logged.reshape(int(np.prod(shape)), width)
    bounds = np.concatenate([[0], np.cumsum(logged.sum(axis=1))])
    rows = series.reservoir_rows(bounds, n, seed) if method == "reservoir" else series.even_rows(bounds, n)
    keep = np.zeros(logged.shape, bool)
    keep.reshape(-1)[np.flatnonzero(logged)[rows]] = True
    steps = keep.any(axis=0)
    result = ds.isel(step=np.flatnonzero(steps))
    if (keep[:, steps] == logged[:, steps]).all():
        return result
    mask = np.moveaxis(keep[:, steps].reshape(*shape, -1), -1, axis)
    return _blank(result, xr.DataArray(mask, dims=dims))


def _blank(ds: xr.Dataset, keep: xr.DataArray) -> xr.Dataset:
    """Make the rest look as it does where a series did not log a step: NaN, and 0 for whole numbers."""
    blanked: dict[Hashable, xr.DataArray] = {}
    for name, variable in ds.variables.items():
        if "step" in variable.dims and set(keep.dims) <= set(variable.dims):
            fill = np.zeros((), variable.dtype)[()] if variable.dtype.kind in "iub" else np.nan
            blanked[name] = xr.DataArray(variable).where(keep, fill).transpose(*variable.dims)
    data = {name: array.variable for name, array in blanked.items() if name in ds.data_vars}
    coords = {name: array.variable for name, array in blanked.items() if name in ds.coords}
    return ds.assign(data).assign_coords(coords)


def to_frame(ds: xr.Dataset) -> pd.DataFrame:
    """Turn histograms into a table with one row per bucket.

    Parameters
    ----------
    ds : Dataset
        Histograms.

    Returns
    -------
    DataFrame
        The columns run and tag (category), step (int64), wall_time (float64 seconds) and any further coordinate, as
        far as they are there; then bin (int64, the bucket's position in its histogram), left, right and counts
        (float64). Padding has no rows.

    Raises
    ------
    AccessorError
        If this is no histogram Dataset, or has lost its edges.

    Examples
    --------
    >>> ds = xr.Dataset({"counts": ("bin", [4.0, 6.0])}, {"left": ("bin", [0.0, 1.0]), "right": ("bin", [1.0, 3.0])})
    >>> to_frame(ds)
       bin  left  right  counts
    0    0   0.0    1.0     4.0
    1    1   1.0    3.0     6.0
    """
    left, right, counts, dims = take_apart(ds)
    left, right = np.broadcast_to(left, counts.shape), np.broadcast_to(right, counts.shape)
    real = ~buckets.is_padding(left, right, counts) & is_logged(ds)[..., np.newaxis]
    *where, position = np.nonzero(real)
    at = dict(zip(dims, where, strict=True))
    columns: dict[Hashable, object] = {}
    names = [name for name in ("run", "tag", "step", "wall_time") if name in ds.coords]
    for name in [*names, *[name for name in ds.coords if name not in names]]:
        coord = ds.coords[name]
        if not set(coord.dims) <= set(dims):
            continue
        if coord.ndim:
            values = np.asarray(coord)[tuple(at[dim] for dim in coord.dims)]
        else:
            values = np.full(position.size, coord.item(), coord.dtype)
        columns[name] = _categories(values) if name in SERIES_DIMS else values
    columns |= {"bin": position, "left": left[real], "right": right[real], "counts": counts[real]}
    return pd.DataFrame(columns)


def _categories(values: npt.NDArray[np.object_]) -> pd.Categorical:
    codes, found = pd.factorize(values)
    categories = natural_order(str(name) for name in found)
    place = {name: i for i, name in enumerate(categories)}
    order = np.array([place[str(name)] for name in found], np.intp)
    dtype = pd.CategoricalDtype(categories)
    return pd.Categorical.from_codes(order[codes] if len(found) else codes, dtype=dtype)
