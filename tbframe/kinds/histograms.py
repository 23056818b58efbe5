"""Histograms: edges and counts of every step, whichever way they are stored."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import xarray as xr

from tbframe import buckets
from tbframe.events import values
from tbframe.events.blocks import blocks
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.datasets import plain_dataset
from tbframe.kinds.filling import Filling
from tbframe.kinds.histogram_rows import EACH, STATISTICS, HistogramRows
from tbframe.kinds.parts import name_of
from tbframe.kinds.proto_histograms import decode_protos
from tbframe.kinds.stacking import Grid, make_grid, refuse_padding, series_rows
from tbframe.kinds.tensor_histograms import decode_tensors
from tbframe.kinds.undecodable import Undecodable
from tbframe.names import NameFilter

__all__ = ["dataset", "each"]

_PROTO_BYTES, _TENSOR_BYTES = 16, 24
"""What a bucket takes: a limit and a count, or a row of three."""
_MEANING: Final = {
    "counts": "values in the bucket",
    "buckets": "buckets logged",
    "left": "left edge of the bucket",
    "right": "right edge of the bucket",
    "wall_time": "seconds since the epoch",
    "value_min": "minimum",
    "value_max": "maximum",
    "num": "number of values",
    "value_sum": "sum of the values",
    "value_sum_squares": "sum of the squared values",
}


def dataset(
    catalog: Catalog,
    selection: Selection,
    runs: NameFilter = None,
    tags: NameFilter = None,
    *,
    edges: buckets.Edges = "clipped",
    mark: bool = False,
) -> xr.Dataset:
    """Build the Dataset of histograms.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The histograms wanted.
    runs, tags : str, iterable of str, re.Pattern or None
        What was asked for: see `tbframe.kinds.stacking.make_grid`.
    edges : {"clipped", "logged"}
        See `tbframe.buckets.from_protos`.
    mark : bool
        Whether to add the coordinates ``session`` and ``superseded``.

    Returns
    -------
    xarray.Dataset
        Dimensions ``step`` and ``bin``, before them ``run`` and ``tag`` where there are several: ``counts`` (float64, NaN
        where nothing was logged) with the coordinates ``left`` and ``right``, its edges (float64); without bin ``buckets``
        (int64) and the writer's statistics (float64). Coordinates ``step`` (int64), ``wall_time`` (float64, seconds since the
        epoch), ``run``, ``tag`` (object: str); with `mark` also ``session`` (int64, -1 where nothing was logged) and
        ``superseded`` (bool).

    Raises
    ------
    ValueError
        If `edges` is neither, or the arrays would be very large and mostly padding.

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with values that are no histogram.
    RestartWarning
        If a step repeats in a series that is joined with others.
    """
    buckets.check_edges(edges)
    rows = _decode(catalog, selection, edges)
    grid = make_grid("histograms", series_rows(catalog, selection).take(rows.good), runs, tags)
    left, right, counts = rows.arrays()
    logged = rows.buckets[rows.good]
    shape = (*grid.shape, counts.shape[1])
    sizes = dict(zip((*grid.dims, "bin"), shape, strict=True))
    refuse_padding("histograms", sizes, shape, float(logged.sum()) / max(math.prod(shape), 1), EACH)
    variables: dict[str, tuple[tuple[str, ...], npt.NDArray[Any]]] = {
        "counts": ((*grid.dims, "bin"), grid.fill(counts, np.nan)),
        "buckets": (grid.dims, grid.fill(logged, 0)),
    }
    for name, column in zip(STATISTICS, rows.statistics[rows.good].T, strict=True):
        variables[name] = grid.dims, grid.fill(column, np.nan)
    coords = grid.coords | _times(catalog, selection, rows.good, grid, mark)
    for name, edge in (("left", left), ("right", right)):
        coords[name] = (*grid.dims, "bin"), grid.fill(edge, np.nan)
    attrs = {"kind": "histograms", "edges": edges, "dropped": selection.dropped, "repeats": grid.repeats}
    return plain_dataset(variables, coords, attrs, _MEANING)


def each(
    catalog: Catalog, selection: Selection, *, edges: buckets.Edges = "clipped", mark: bool = False
) -> Iterator[tuple[str, str, xr.Dataset]]:
    """Build a Dataset of each series, one after the other.

    Parameters
    ----------
    catalog, selection, edges, mark
        See `dataset`.

    Yields
    ------
    run, tag : str
        The series.
    Dataset
        Its histograms (step, bin).
    """
    ends = np.cumsum(selection.series_size)
    for i, end in enumerate(ends.tolist()):
        of_series = slice(end - int(selection.series_size[i]), end)
        name = selection.runs[selection.series_run[i]], selection.tags[selection.series_tag[i]]
        one = replace(
            selection,
            runs=[name[0]],
            tags=[name[1]],
            rows=selection.rows[of_series],
            places=selection.places[of_series],
            series_run=np.zeros(1, np.int64),
            series_tag=np.zeros(1, np.int64),
            series_size=selection.series_size[i : i + 1],
        )
        yield *name, dataset(catalog, one, *name, edges=edges, mark=mark)


def _decode(catalog: Catalog, selection: Selection, edges: buckets.Edges) -> HistogramRows:
    """Read and decode all values; what cannot be decoded is said."""
    what, extent = catalog.table["what"][selection.rows], catalog.table["extent"][selection.rows]
    is_proto = what == values.HISTO
    rows = HistogramRows(extent.astype(np.int64) // np.where(is_proto, _PROTO_BYTES, _TENSOR_BYTES))
    undecodable, filling = Undecodable("histograms"), Filling()
    for block in blocks({file.code: file for file in catalog.files}, catalog.table, selection.rows):
        protos = is_proto[block.places]
        for some, of_protos in ((protos, True), (~protos, False)):
            if not some.any():
                continue
            places, at, size = block.places[some], block.at[some], block.size[some]

            def failed(number: int, reason: str, places: npt.NDArray[np.int64] = places) -> None:
                undecodable.add(*name_of(catalog, selection, int(places[number])), reason)

            decoded = (
                decode_protos(block.buffer, at, size, edges, failed)
                if of_protos
                else decode_tensors(block.buffer, at, size, filling, failed)
            )
            for part in decoded:
                rows.put(places[part.which], part)
    undecodable.say()
    return rows


def _times(
    catalog: Catalog, selection: Selection, good: npt.NDArray[np.bool_], grid: Grid, mark: bool
) -> dict[str, tuple[tuple[str, ...], npt.NDArray[Any]]]:
    """Return when each histogram was logged."""
    rows, places = selection.rows[good], selection.places[good]
    coords = {"wall_time": (grid.dims, grid.fill(catalog.table["wall_time"][rows], np.nan))}
    if mark:
        coords["session"] = grid.dims, grid.fill(catalog.session[places], -1)
        coords["superseded"] = grid.dims, grid.fill(catalog.superseded[places], False)
    return coords
