"""Series side by side in a Dataset: a cube of run, tag and step for kinds that hold arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tbframe.errors import RestartWarning, warn
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.names import NameFilter

__all__ = ["Coords", "Grid", "SeriesRows", "make_grid", "refuse_padding", "series_rows", "time_coords"]

Ints = npt.NDArray[np.int64]
Coords = dict[str, tuple[tuple[str, ...], npt.NDArray[Any]]]

_LARGE: Final = 1 << 27
"""Numbers in one array (1 GiB of float64) from which on it must not be mostly padding."""
_FILLED: Final = 0.1


class SeriesRows(NamedTuple):
    """Rows and their series, in the order of a selection.

    Attributes
    ----------
    runs, tags : list of str
        Names, in order.
    run, tag : ndarray of int64, shape (n,)
        Places in these of each row.
    step : ndarray of int64, shape (n,)
        Step of each row.
    """

    runs: list[str]
    tags: list[str]
    run: Ints
    tag: Ints
    step: Ints

    def take(self, rows: npt.NDArray[Any]) -> SeriesRows:
        """Return some of the rows.

        Parameters
        ----------
        rows : ndarray of int or bool
            Which.

        Returns
        -------
        SeriesRows
            With all names.
        """
        return self._replace(run=self.run[rows], tag=self.tag[rows], step=self.step[rows])


def series_rows(catalog: Catalog, selection: Selection) -> SeriesRows:
    """Tell the series and the step of each selected row.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        Those wanted.

    Returns
    -------
    SeriesRows
        In the order of the selection.
    """
    size = selection.series_size
    run, tag = (np.repeat(which, size).astype(np.int64) for which in (selection.series_run, selection.series_tag))
    return SeriesRows(selection.runs, selection.tags, run, tag, catalog.table["step"][selection.rows])


class Grid(NamedTuple):
    """Where each row lies in the cube.

    Attributes
    ----------
    kind : str
        The name of the reader.
    dims : tuple of str
        Those of run, tag and step that are dimensions.
    shape : tuple of int
        Their lengths.
    rows : ndarray of int64, shape (n,)
        The rows that are kept.
    cells : ndarray of int64, shape (n,)
        The place of each in the raveled cube.
    coords : dict
        Dimensions and values of the coordinates run, tag and step, as far as they are known.
    repeats : int
        How many rows gave way to a later one of the same run, tag and step.
    """

    kind: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    rows: Ints
    cells: Ints
    coords: Coords
    repeats: int

    def fill(self, values: npt.NDArray[Any], padding: float | bool) -> npt.NDArray[Any]:
        """Put what each row holds into the cube.

        Parameters
        ----------
        values : ndarray, shape (all rows, ...)
            Of any dtype and further dimensions.
        padding : float or bool
            What stands for rows that were not logged.

        Returns
        -------
        ndarray, shape (*shape, ...)
            Of the dtype of `values`.

        Raises
        ------
        ValueError
            If it would be very large and mostly padding.
        """
        shape = (math.prod(self.shape), *values.shape[1:])
        refuse_padding(
            self.kind, dict(zip(self.dims, self.shape, strict=True)), shape, len(self.rows) / max(shape[0], 1)
        )
        if len(values) == shape[0] and np.array_equal(self.cells, np.arange(shape[0])):  # one series
            return values.reshape(*self.shape, *values.shape[1:])
        result = np.full(shape, padding, values.dtype)
        result[self.cells] = values[self.rows]
        return result.reshape(*self.shape, *values.shape[1:])


def refuse_padding(kind: str, sizes: dict[str, int], shape: Sequence[int], filled: float, hint: str = "") -> None:
    """Refuse an array that would be very large and mostly padding.

    Parameters
    ----------
    kind : str
        The name of the reader.
    sizes : dict of str to int
        The lengths of the dimensions that make it so, for the message.
    shape : sequence of int
        The shape of the whole array.
    filled : float
        Which part of it was logged, 0 ... 1.
    hint : str
        What else can be done, for the message.

    Raises
    ------
    ValueError
        If it would.
    """
    if math.prod(shape) >= _LARGE and filled < _FILLED:
        lengths = " × ".join(f"{name} {size:,}" for name, size in sizes.items())
        raise ValueError(
            f"{kind}: an array of {lengths} would hold {math.prod(shape):,} numbers, of which {filled:.1%} were logged: "
            f"read fewer runs and tags at a time (runs=..., tags=...){hint}"
        )


def make_grid(kind: str, rows: SeriesRows, runs: NameFilter, tags: NameFilter) -> Grid:
    """Find the dimensions of the cube, and the place of each row in it.

    A name gives a scalar coordinate, as does None where there is just one; anything else a dimension. One series keeps all
    its rows in the order written. Of several, steps are joined, ascending; of equal steps in one series the last is kept.

    Parameters
    ----------
    kind : str
        The name of the reader.
    rows : SeriesRows
        What is to be put there.
    runs, tags : str, iterable of str, re.Pattern or None
        What the reader was asked for.

    Returns
    -------
    Grid
        The places.

    Warns
    -----
    RestartWarning
        If steps repeat in a series of several.
    """
    dims: list[str] = []
    shape: list[int] = []
    coords: Coords = {}
    series = np.zeros(len(rows.step), np.int64)
    for name, names, code, wanted in (("run", rows.runs, rows.run, runs), ("tag", rows.tags, rows.tag, tags)):
        there, place = np.unique(code, return_inverse=True)
        found = [names[i] for i in there.tolist()]
        if isinstance(wanted, str) or (wanted is None and len(found) == 1):
            coords[name] = (), _strings(wanted if isinstance(wanted, str) else found[0])
            continue
        coords[name] = (name,), _strings(found)
        dims.append(name)
        shape.append(len(found))
        series = series * len(found) + place
    if math.prod(shape) <= 1:
        kept, at, steps = np.arange(len(rows.step)), np.arange(len(rows.step)), rows.step
    else:
        steps, at = np.unique(rows.step, return_inverse=True)
        kept = _last_of_equals(series * len(steps) + at)
        _say_repeats(kind, len(at) - len(kept))
    coords["step"] = ("step",), steps
    cells = (series * len(steps) + at)[kept]
    return Grid(kind, (*dims, "step"), (*shape, len(steps)), kept, cells, coords, len(at) - len(kept))


def time_coords(catalog: Catalog, rows: Ints, places: Ints, grid: Grid, *, mark: bool = False) -> Coords:
    """Return when what lies in the cube was logged.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    rows, places : ndarray of int64, shape (all rows,)
        As in `Selection`, of the rows that the grid was made of.
    grid : Grid
        Their cube.
    mark : bool
        Whether to add ``session`` and ``superseded``.

    Returns
    -------
    dict
        ``wall_time`` (float64, seconds since the epoch; NaN where nothing was logged); with `mark` also ``session`` (int64,
        -1 where nothing was logged) and ``superseded`` (bool).
    """
    coords: Coords = {"wall_time": (grid.dims, grid.fill(catalog.table["wall_time"][rows], np.nan))}
    if mark:
        coords["session"] = grid.dims, grid.fill(catalog.session[places], -1)
        coords["superseded"] = grid.dims, grid.fill(catalog.superseded[places], False)
    return coords


def _strings(names: str | list[str]) -> npt.NDArray[np.object_]:
    """Of object dtype, which saves to netCDF and Zarr."""
    return np.array(names, object)


def _last_of_equals(key: Ints) -> Ints:
    _, from_the_end = np.unique(key[::-1], return_index=True)
    return np.sort(len(key) - 1 - from_the_end)


def _say_repeats(kind: str, repeats: int) -> None:
    if repeats:
        warn(
            f"{kind}: {repeats:,} values were left out whose step is logged again in the same run and tag: of equal steps "
            "the last is kept where several series are joined. Name one run and one tag to keep all",
            RestartWarning,
        )
