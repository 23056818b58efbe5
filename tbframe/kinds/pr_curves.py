"""Precision and recall over thresholds, as logged: nothing trimmed, fractional counts kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import xarray as xr

from tbframe.events.singly import Read
from tbframe.events.tensors import Array
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.datasets import plain_dataset
from tbframe.kinds.filling import Filling
from tbframe.kinds.parts import decode_each
from tbframe.kinds.stacking import make_grid, series_rows, time_coords
from tbframe.names import NameFilter

__all__ = ["dataset"]

Floats = npt.NDArray[np.float64]

_ROWS: Final = ("tp", "fp", "tn", "fn", "precision", "recall")
"""What the rows of the tensor are."""
_MEANING: Final = {
    "tp": "true positives",
    "fp": "false positives",
    "tn": "true negatives",
    "fn": "false negatives",
    "wall_time": "seconds since the epoch",
}


def dataset(
    catalog: Catalog, selection: Selection, runs: NameFilter = None, tags: NameFilter = None, *, mark: bool = False
) -> xr.Dataset:
    """Build the Dataset of precision-recall curves.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The curves wanted.
    runs, tags : str, iterable of str, re.Pattern or None
        What was asked for: see `tbframe.kinds.stacking.make_grid`.
    mark : bool
        Whether to add the coordinates ``session`` and ``superseded``.

    Returns
    -------
    xarray.Dataset
        Dimensions ``step`` and ``threshold``, before them ``run`` and ``tag`` where there are several: ``tp``, ``fp``,
        ``tn``, ``fn`` (counts, perhaps fractional), ``precision``, ``recall`` (all float64, float32 widened exactly; NaN
        where nothing was logged). Coordinates ``step`` (int64), ``threshold`` (float64, 0 ... 1), ``wall_time`` (float64,
        seconds since the epoch), ``run``, ``tag`` (object: str); with `mark` also ``session`` (int64, -1 where nothing was
        logged) and ``superseded`` (bool).

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with values that are no curve.
    RestartWarning
        If a step repeats in a series that is joined with others.
    """
    filling = Filling()

    def decode(_: int, read: Read, size: int) -> Floats:
        return _curve(filling.to_array(read(0, size)))

    found = decode_each("pr_curves", catalog, selection, decode)
    good = np.array([curve is not None for curve in found], bool)
    curves = [curve for curve in found if curve is not None]
    grid = make_grid("pr_curves", series_rows(catalog, selection).take(good), runs, tags)
    thresholds, stacked = _stack(curves)
    stacked = grid.fill(stacked, np.nan)
    variables = {name: ((*grid.dims, "threshold"), stacked[..., i, :]) for i, name in enumerate(_ROWS)}
    coords = grid.coords | time_coords(catalog, selection.rows[good], selection.places[good], grid, mark=mark)
    coords["threshold"] = ("threshold",), thresholds
    attrs = {"kind": "pr_curves", "dropped": selection.dropped, "repeats": grid.repeats}
    return plain_dataset(variables, coords, attrs, _MEANING)


def _curve(array: Array) -> Floats:
    if array.ndim != 2 or len(array) != len(_ROWS) or array.dtype.kind not in "fiub":
        raise ValueError(
            f"expected 6 rows of numbers (tp, fp, tn, fn, precision, recall), found {array.dtype} of shape "
            f"{list(array.shape)}"
        )
    return array.astype(np.float64)


def _stack(curves: list[Floats]) -> tuple[Floats, Floats]:
    """Return the thresholds that any curve has, and all curves over them, shape (n, 6, thresholds)."""
    lengths = sorted({curve.shape[1] for curve in curves})
    thresholds, places = _joined_thresholds(lengths)
    stacked = np.full((len(curves), len(_ROWS), len(thresholds)), np.nan)
    for length, at in zip(lengths, places, strict=True):
        which = np.array([i for i, curve in enumerate(curves) if curve.shape[1] == length])
        rows = np.arange(len(_ROWS))
        stacked[which[:, np.newaxis, np.newaxis], rows[:, np.newaxis], at] = np.stack([curves[i] for i in which])
    return thresholds, stacked


def _joined_thresholds(lengths: Iterable[int]) -> tuple[Floats, list[npt.NDArray[np.int64]]]:
    """Join the thresholds of curves of some lengths; for each length the places of its thresholds among them.

    TensorBoard's rule: n thresholds are ``linspace(0, 1, n)``. What linspace rounds differently for different n is the same
    threshold if the quotients i / (n - 1) are equal.
    """
    quotients = [np.arange(n) / max(n - 1, 1) for n in lengths]
    values = [np.linspace(0.0, 1.0, len(quotient)) for quotient in quotients]
    joined, first = np.unique(np.concatenate([*quotients, np.zeros(0)]), return_index=True)
    thresholds = np.concatenate([*values, np.zeros(0)])[first]
    return thresholds, [np.searchsorted(joined, quotient) for quotient in quotients]
