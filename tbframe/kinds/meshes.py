"""Meshes and point clouds: vertices, faces and colours, which are logged under a tag each, together again."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from tbframe.events.messages import message_class
from tbframe.events.singly import Read
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.datasets import plain_dataset
from tbframe.kinds.filling import Filling
from tbframe.kinds.parts import decode_each
from tbframe.kinds.stacking import Grid, SeriesRows, make_grid, refuse_padding, series_rows, time_coords
from tbframe.names import NameFilter

__all__ = ["dataset"]

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

_NO_VERTEX: Final = -1


class _Part(NamedTuple):
    name: str
    """Of the variable."""
    dims: tuple[str, ...]
    """Of one value."""
    dtype: type[np.float64] | type[np.int64]
    padding: float


_PARTS: Final = {
    1: _Part("vertices", ("sample", "vertex", "axis"), np.float64, np.nan),
    2: _Part("faces", ("sample", "face", "corner"), np.int64, _NO_VERTEX),
    3: _Part("colors", ("sample", "vertex", "channel"), np.float64, np.nan),
}
"""By the content type in the metadata."""


class _Content(NamedTuple):
    """What the metadata of a tag say."""

    part: int
    config: str


def dataset(
    catalog: Catalog, selection: Selection, runs: NameFilter = None, tags: NameFilter = None, *, mark: bool = False
) -> xr.Dataset:
    """Build the Dataset of meshes.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The parts of the meshes wanted.
    runs, tags : str, iterable of str, re.Pattern or None
        What was asked for: see `tbframe.kinds.stacking.make_grid`.
    mark : bool
        Whether to add the coordinates ``session`` and ``superseded``.

    Returns
    -------
    xarray.Dataset
        ``vertices`` (step, sample, vertex, axis), float64, NaN where nothing was logged; ``faces`` (step, sample, face,
        corner), int64, the numbers of three vertices, -1 where nothing was logged; ``colors`` (step, sample, vertex,
        channel), float64 as logged (mostly 0 ... 255), NaN where nothing was logged; before the others the dimensions
        ``run`` and ``tag`` where there are several; and ``config`` (object: str, the JSON configuration of the mesh, ""
        without) for each run and tag. Coordinates ``step`` (int64), ``wall_time`` (float64, seconds since the epoch, of the
        first part that was logged), ``axis``, ``channel``, ``run``, ``tag`` (object: str); with `mark` also ``session``
        (int64, -1 where nothing was logged) and ``superseded`` (bool).

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with values that are no part of a mesh.
    RestartWarning
        If a step repeats in a series that is joined with others.
    """
    contents, filling = _contents(catalog, selection), Filling()

    def decode(place: int, read: Read, size: int) -> Array:
        return _part(contents[place], filling.to_array(read(0, size)))

    found = decode_each("meshes", catalog, selection, decode)
    good = np.array([part is not None for part in found], bool)
    arrays = [part for part in found if part is not None]
    kept = [content for content, part in zip(contents, found, strict=True) if content is not None and part is not None]
    rows = series_rows(catalog, selection).take(good)
    part = np.array([content.part for content in kept], np.int64)
    mesh, first = _meshes(rows, part)
    meshes = rows.take(first)
    grid = make_grid("meshes", meshes, runs, tags)
    variables: dict[str, tuple[tuple[str, ...], Array]] = {}
    for number, shape in _shapes(arrays, part).items():
        which, kind = np.flatnonzero(part == number), _PARTS[number]
        if len(which):
            stacked = grid.fill(_stack(kind, [arrays[i] for i in which], mesh[which], len(first), shape), kind.padding)
        else:  # takes no memory
            stacked = np.broadcast_to(np.array(kind.padding, kind.dtype), (*grid.shape, *shape))
        variables[kind.name] = (*grid.dims, *kind.dims), stacked
    dims = tuple(dim for dim in grid.dims if dim != "step")
    variables["config"] = dims, _configs(grid, dims, meshes, [kept[i].config for i in first])
    rows_of, places = (column[good][first] for column in (selection.rows, selection.places))
    coords = grid.coords | _labels() | time_coords(catalog, rows_of, places, grid, mark=mark)
    attrs = {"kind": "meshes", "dropped": selection.dropped, "repeats": grid.repeats}
    return plain_dataset(variables, coords, attrs, {"wall_time": "seconds since the epoch"})


def _contents(catalog: Catalog, selection: Selection) -> list[_Content | None]:
    """Read from its metadata what each row is; None where they do not say."""
    pairs = catalog.run[selection.places].astype(np.int64) * len(catalog.tags) + catalog.logged_tag[selection.places]
    some, which = np.unique(pairs, return_inverse=True)
    known = [_content(catalog.metadata_of(*divmod(pair, len(catalog.tags))).content) for pair in some.tolist()]
    return [known[i] for i in which.tolist()]


def _content(data: bytes) -> _Content | None:
    from google.protobuf.message import DecodeError

    try:
        message = message_class("MeshPluginData").FromString(data)
    except DecodeError:
        return None
    return _Content(message.content_type, message.json_config) if message.content_type in _PARTS else None


def _part(content: _Content | None, array: Array) -> Array:
    if content is None:
        raise ValueError("its metadata do not say whether it is vertices, faces or colours of a mesh")
    part = _PARTS[content.part]
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"expected {part.name} as numbers of shape [batch, n, 3], found {array.dtype} of shape {list(array.shape)}"
        )
    with np.errstate(invalid="ignore"):  # of NaN among faces, which the comparison finds
        cast = array.astype(part.dtype)
    if part.dtype is np.int64 and not np.array_equal(cast, array):
        raise ValueError(f"expected {part.name} to be numbers of vertices, found others than whole numbers")
    return cast


def _meshes(rows: SeriesRows, part: Ints) -> tuple[Ints, Ints]:
    """Join the parts of each step: the mesh of each row, and the first row of each mesh.

    Where a step repeats, the second vertices belong with the second faces.
    """
    table = pd.DataFrame({"run": rows.run, "tag": rows.tag, "step": rows.step, "part": part})
    table["repeat"] = table.groupby(["run", "tag", "step", "part"]).cumcount()
    mesh = np.asarray(table.groupby(["run", "tag", "step", "repeat"], sort=False).ngroup(), np.int64)
    return mesh, np.unique(mesh, return_index=True)[1].astype(np.int64)


def _shapes(arrays: list[Array], part: Ints) -> dict[int, tuple[int, ...]]:
    """Return the shape that all values of each part fit in: vertices and colours share their numbers, all their batch."""
    sizes = np.array([array.shape[:2] for array in arrays], np.int64).reshape(-1, 2)
    batch = int(sizes[:, 0].max(initial=0))
    faces = part == 2
    vertex, face = (int(sizes[which, 1].max(initial=0)) for which in (~faces, faces))
    return {number: (batch, face if number == 2 else vertex, 3) for number in _PARTS}


def _stack(part: _Part, arrays: list[Array], mesh: Ints, meshes: int, shape: tuple[int, ...]) -> Array:
    logged = sum(array.size for array in arrays)
    whole = (meshes, *shape)
    refuse_padding("meshes", {"mesh": meshes, part.dims[1]: shape[1]}, whole, logged / max(math.prod(whole), 1))
    stacked = np.full(whole, part.padding, part.dtype)
    for at, array in zip(mesh.tolist(), arrays, strict=True):
        stacked[at, : array.shape[0], : array.shape[1]] = array
    return stacked


def _configs(grid: Grid, dims: tuple[str, ...], meshes: SeriesRows, configs: list[str]) -> Array:
    """Return the configuration of each series: that of its first mesh."""
    places = [np.unique(code, return_inverse=True)[1] for code in (meshes.run, meshes.tag)]
    at = tuple(place for place, name in zip(places, ("run", "tag"), strict=True) if name in dims)
    result = np.full(grid.shape[:-1], "", object)
    for i in reversed(range(len(configs))):
        result[tuple(int(place[i]) for place in at)] = configs[i]
    return result


def _labels() -> dict[str, tuple[tuple[str, ...], Array]]:
    return {
        "axis": (("axis",), np.array(list("xyz"), object)),
        "channel": (("channel",), np.array(list("rgb"), object)),
    }
