"""Datasets of plain NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt
import pandas as pd
import xarray as xr

__all__ = ["Variables", "plain_dataset"]

Variables = Mapping[str, tuple[tuple[str, ...], npt.NDArray[Any]]]
"""Dimensions and values of each."""


def plain_dataset(
    variables: Variables, coords: Variables, attrs: dict[str, Any], meaning: Mapping[str, str] | None = None
) -> xr.Dataset:
    """Build a Dataset without asking whether its arrays are plain.

    Where dask is installed, xarray imports all of it to see whether an array is one of dask's. That takes longer than
    reading most logs.

    Parameters
    ----------
    variables, coords : mapping of str to (tuple of str, ndarray)
        Dimensions and values of each. Text is of object dtype.
    attrs : dict
        Of the Dataset.
    meaning : mapping of str to str, optional
        The ``long_name`` of variables.

    Returns
    -------
    xarray.Dataset

    Examples
    --------
    >>> import numpy as np
    >>> steps = {"step": (("step",), np.array([3, 4]))}
    >>> plain_dataset({"value": (("step",), np.array([0.5, 0.25]))}, steps, {}).value.sel(step=4).item()
    0.25
    """
    names = meaning or {}

    def variable(name: str, dims: tuple[str, ...], values: npt.NDArray[Any]) -> xr.Variable:
        about = {"long_name": names[name]} if name in names else None
        if dims == (name,):
            index = pd.Index(values, dtype=values.dtype)
            return xr.IndexVariable(dims, index, about, fastpath=True)  # type: ignore[no-untyped-call]
        return xr.Variable(dims, values, about, fastpath=True)

    data, labels = ({name: variable(name, *held) for name, held in given.items()} for given in (variables, coords))
    return xr.Dataset(data, labels, attrs)
