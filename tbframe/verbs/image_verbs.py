"""Verbs on frames of images: pixels, one by one or as one array."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from tbframe.errors import AccessorError
from tbframe.kinds.parts import objects
from tbframe.kinds.undecodable import Undecodable
from tbframe.verbs.frames import name_column, require
from tbframe.verbs.pixels import Pixels, TooManyPixelsError, decode_pixels
from tbframe.verbs.scalar_columns import integers

__all__ = ["decode", "require_data", "to_xarray"]

Ints = npt.NDArray[np.int64]


def require_data(frame: pd.DataFrame, verb: str, reader: str) -> None:
    """Refuse a frame without bytes.

    Parameters
    ----------
    frame : DataFrame
        What the verb was called on.
    verb, reader : str
        The names of the verb and of the reader that gives such frames.

    Raises
    ------
    AccessorError
        If it lacks a column that names the values, or their bytes.
    """
    if "data" not in frame.columns and "format" in frame.columns:
        raise AccessorError(
            f"{verb}() needs the column 'data', the bytes of the {reader}: read them with tbframe.{reader}(logdir, data=True)"
        )
    require(frame, ["run", "tag", "step", "data"], verb)


def decode(frame: pd.DataFrame) -> pd.Series:
    """Decode images.

    Parameters
    ----------
    frame : DataFrame
        Images: columns run, tag, step and data.

    Returns
    -------
    Series of ndarray
        Named "pixels", with the index of the frame: uint8 of shape (height, width, channels), where channels is 1 for
        grey, 2 for grey with opacity, 3 for colours and 4 for colours with opacity; an animation has the shape (frames,
        height, width, channels). Grey of 16 bits is uint16. None where the bytes are no image.

    Raises
    ------
    AccessorError
        If a column is missing.
    ValueError
        If an image, all its frames together, has more pixels than ``PIL.Image.MAX_IMAGE_PIXELS``.

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with bytes that are no image that Pillow decodes.

    Examples
    --------
    >>> data = bytes.fromhex("424d1e000000000000001a0000000c00000001000100010018000000ff00")  # one red pixel, BMP
    >>> frame = pd.DataFrame({"run": "a", "tag": "b", "step": [0], "data": [data]})
    >>> decode(frame)[0]
    array([[[255,   0,   0]]], dtype=uint8)
    """
    require_data(frame, "decode", "images")
    undecodable = Undecodable("images")
    found: list[Pixels | None] = []
    for run, tag, step, data in zip(frame["run"], frame["tag"], frame["step"], frame["data"], strict=True):
        try:
            found.append(decode_pixels(data))
        except TooManyPixelsError as error:
            raise ValueError(f"images: run {run!r}, tag {tag!r}, step {step}: {error}") from error
        except ValueError as error:
            undecodable.add(str(run), str(tag), int(step), str(error))
            found.append(None)
    undecodable.say()
    return objects(found).set_axis(frame.index).rename("pixels")


def to_xarray(frame: pd.DataFrame) -> xr.DataArray:
    """Stack images of one size.

    Parameters
    ----------
    frame : DataFrame
        Images: columns run, tag, step, sample and data; wall_time if there is one.

    Returns
    -------
    DataArray
        ``pixels`` (step, sample, y, x, channel), uint8 (uint16 for grey of 16 bits), row 0 at the top; of animations
        (step, sample, frame, y, x, channel). Before them the dimensions run and tag where there are several, else these are
        scalar coordinates (object: str). Coordinates step (int64), sample (int64), wall_time (float64, seconds since the
        epoch).

    Raises
    ------
    AccessorError
        If a column is missing.
    ValueError
        If the images differ in size or channels, cannot all be decoded, or steps, runs or tags differ in the number of
        their images.

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with bytes that are no image.

    Examples
    --------
    >>> data = bytes.fromhex("424d1e000000000000001a0000000c00000001000100010018000000ff00")  # one red pixel, BMP
    >>> frame = pd.DataFrame({"run": "a", "tag": "b", "step": [0, 5], "sample": 0, "data": [data, data]})
    >>> to_xarray(frame).sizes
    Frozen({'step': 2, 'sample': 1, 'y': 1, 'x': 1, 'channel': 3})
    """
    require_data(frame, "to_xarray", "images")
    require(frame, ["sample"], "to_xarray")
    pixels = _of_one_shape(decode(frame))
    dims, shape, coords, cells = _places(frame)
    inner = ("frame", "y", "x", "channel")[-(pixels.ndim - 1) :]
    stacked = np.empty_like(pixels)
    stacked[cells] = pixels
    if "wall_time" in frame.columns:
        times = np.empty(len(frame), np.float64)
        times[cells] = frame["wall_time"].to_numpy(np.float64)
        coords["wall_time"] = dims[:-1], times.reshape(shape)[..., 0]
    return xr.DataArray(stacked.reshape(*shape, *pixels.shape[1:]), coords, (*dims, *inner), "pixels")


def _of_one_shape(decoded: pd.Series) -> Pixels:
    arrays = decoded.tolist()
    kinds = Counter("no image" if array is None else _describe(array) for array in arrays)
    if len(kinds) > 1 or "no image" in kinds:
        found = ", ".join(f"{kind} ({count:,})" for kind, count in kinds.most_common(5))
        raise ValueError(
            f"to_xarray() needs images of one size, found {found}{' and others' if len(kinds) > 5 else ''}: select some by "
            "the columns run, tag, width and height first, or use decode()"
        )
    return np.stack(arrays) if arrays else np.empty((0, 0, 0, 0), np.uint8)


def _describe(array: Pixels) -> str:
    *frames, height, width, channels = array.shape
    animated = "".join(f"{n} frames of " for n in frames)
    return f"{animated}{width} × {height} × {channels} {array.dtype}"


def _places(frame: pd.DataFrame) -> tuple[tuple[str, ...], tuple[int, ...], dict[str, Any], Ints]:
    """Return dimensions, lengths, coordinates, and the place of each image."""
    dims: list[str] = []
    shape: list[int] = []
    coords: dict[str, Any] = {}
    cells = np.zeros(len(frame), np.int64)
    for name in ("run", "tag"):
        found = name_column(frame, name)
        there, place = np.unique(found.code, return_inverse=True)
        names = np.array([found.names[i] for i in there.tolist()], object)
        coords[name] = ((), names.reshape(())) if len(names) == 1 else ((name,), names)
        if len(names) != 1:
            dims.append(name)
            shape.append(len(names))
            cells = cells * len(names) + place
    step, sample = integers(frame["step"]), integers(frame["sample"])
    keys = pd.DataFrame({"series": cells, "step": step, "sample": sample})
    keys["repeat"] = keys.groupby(["series", "step", "sample"]).cumcount()
    if dims and keys["repeat"].any():
        raise ValueError(
            "to_xarray(): a step repeats within a run and tag. Keep one of each first: "
            "df.drop_duplicates(['run', 'tag', 'step', 'sample'], keep='last')"
        )
    group = keys.groupby(["step", "repeat"], sort=bool(dims)).ngroup().to_numpy(np.int64)
    samples, sample_place = np.unique(sample, return_inverse=True)
    steps = np.empty(group.max(initial=-1) + 1, np.int64)
    steps[group] = step
    coords |= {"step": ("step", steps), "sample": ("sample", samples)}
    lengths = (*shape, len(steps), len(samples))
    if np.prod(lengths) != len(frame):
        raise ValueError(
            f"to_xarray(): {len(frame):,} images do not fill "
            f"{' × '.join(f'{name} {n}' for name, n in zip((*dims, 'step', 'sample'), lengths, strict=True))}: "
            "select runs, tags, steps and samples that all have an image"
        )
    return (*dims, "step", "sample"), lengths, coords, (cells * len(steps) + group) * len(samples) + sample_place
