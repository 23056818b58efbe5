"""Verbs on Datasets of precision-recall curves."""

from __future__ import annotations

import numpy as np
import xarray as xr

from tbframe.errors import AccessorError

__all__ = ["at_step", "require_curves", "trim"]


def require_curves(ds: xr.Dataset, verb: str, *names: str) -> None:
    """Refuse a Dataset that does not hold precision-recall curves.

    Parameters
    ----------
    ds : Dataset
        What the verb was called on.
    verb : str
        Its name.
    *names : str
        The variables it needs.

    Raises
    ------
    AccessorError
        If a variable is missing, or has no dimension ``threshold``.
    """
    for name in names:
        if name not in ds.data_vars or "threshold" not in ds[name].dims:
            found = ", ".join(repr(str(known)) for known in ds.data_vars) or "none"
            raise AccessorError(
                f"{verb}() needs the variable {name!r} over 'threshold', as tbframe.pr_curves() returns it; the variables "
                f"here are: {found}"
            )


def trim(ds: xr.Dataset) -> xr.Dataset:
    """Blank the end of each curve where nothing is predicted positive any more, so that precision means nothing.

    Parameters
    ----------
    ds : Dataset
        Curves: variables tp, fp, precision and recall over threshold.

    Returns
    -------
    Dataset
        With all variables over threshold NaN beyond the last threshold with tp + fp > 0; the first threshold stays.
        TensorBoard's rule, except that it takes fractional counts below 1 for 0.

    Raises
    ------
    AccessorError
        If a variable is missing.

    Examples
    --------
    >>> curve = {name: ("threshold", [2.0, 1.0, 0.0]) for name in ("tp", "fp", "precision", "recall")}
    >>> trim(xr.Dataset(curve)).precision.values
    array([ 2.,  1., nan])
    """
    require_curves(ds, "trim", "tp", "fp", "precision", "recall")
    positive = (ds["tp"] + ds["fp"]).transpose(..., "threshold")
    some = (positive > 0).values
    kept = np.flip(np.logical_or.accumulate(np.flip(some, -1), -1), -1)
    kept[..., :1] = True
    curves = [name for name in ds.data_vars if "threshold" in ds[name].dims]
    return ds.assign({name: ds[name].where(positive.copy(data=kept)) for name in curves})


def at_step(ds: xr.Dataset, step: int | None = None) -> xr.Dataset:
    """Take one curve of each run and tag: the last that was logged, at a step or before.

    Parameters
    ----------
    ds : Dataset
        Curves: precision over step and threshold.
    step : int or None
        The step; None is the last there is.

    Returns
    -------
    Dataset
        Without the dimension step; the coordinate step tells which was taken. NaN where a run and tag logged none.

    Raises
    ------
    AccessorError
        If there is no precision over step and threshold.
    ValueError
        If no curve was logged up to this step.
    """
    require_curves(ds, "at_step", "precision")
    if "step" not in ds["precision"].dims:
        raise AccessorError("at_step() needs the dimension 'step': this Dataset holds one step, or has lost it")
    there = ds["precision"].notnull().any("threshold")
    if "wall_time" in ds.coords and "step" in ds["wall_time"].dims:  # a curve without thresholds was logged, too
        there |= ds["wall_time"].notnull()
    if step is not None:
        there &= ds["step"] <= step
    if not there.any():
        steps = ds["step"].values
        found = f"steps {steps.min()} ... {steps.max()}" if steps.size else "no steps"
        raise ValueError(f"step={step!r}: no curve was logged up to there; the Dataset has {found}")
    last = ds.sizes["step"] - 1 - there.isel(step=slice(None, None, -1)).argmax("step")
    logged = there.any("step")
    taken = (ds.reset_index("step").reset_coords("step") if "step" in ds.coords else ds).isel(step=last)
    curves = [name for name in taken.data_vars if "threshold" in taken[name].dims]
    return taken.assign({name: taken[name].where(logged) for name in curves}).set_coords(
        ["step"] if "step" in ds.coords else []
    )
