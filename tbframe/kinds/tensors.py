"""Tensors that no other reader returns: of any dtype and shape, strings included."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tbframe.events.singly import Read
from tbframe.events.tensors import Array, dtype_name
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.filling import Filling
from tbframe.kinds.parts import decode_each, frame_of_parts, objects

__all__ = ["frame"]

_DTYPE = 0x7F


def frame(catalog: Catalog, selection: Selection, *, mark: bool = False) -> pd.DataFrame:
    """Build the frame of tensors.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The tensors wanted.
    mark : bool
        Whether to add the columns ``session`` and ``superseded``.

    Returns
    -------
    pandas.DataFrame
        One row per tensor: columns ``run``, ``tag`` (category), ``step`` (int64), ``wall_time`` (float64, seconds since
        the epoch), ``plugin`` (object: str, "" without), ``dtype`` (object: str, TensorFlow's name of what was logged:
        "float32", "bfloat16", "string", ...), ``shape`` (object: tuple of int) and ``value`` (object: ndarray of that
        shape; strings are bytes in an object array); with `mark` also ``session`` (int64) and ``superseded`` (bool).

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with tensors of a type without values, or that do not fit their shape.
    """
    filling = Filling()

    def decode(_: int, read: Read, size: int) -> Array:
        return filling.to_array(read(0, size))

    found = decode_each("tensors", catalog, selection, decode)
    good = np.array([array is not None for array in found], bool)
    arrays = [array for array in found if array is not None]
    numbers = (catalog.table["dtype"][selection.rows[good]] & _DTYPE).tolist()
    names = {number: dtype_name(number) for number in set(numbers)}
    firsts = selection.places[np.cumsum(selection.series_size) - selection.series_size]
    series_run, series_tag = catalog.run[firsts].tolist(), catalog.tag[firsts].tolist()
    plugins = [catalog.metadata_of(run, tag).plugin for run, tag in zip(series_run, series_tag, strict=True)]
    series = np.repeat(np.arange(len(plugins)), selection.series_size)[good]
    columns = {
        "plugin": objects([plugins[i] for i in series.tolist()]),
        "dtype": objects([names[number] for number in numbers]),
        "shape": objects([array.shape for array in arrays]),
        "value": objects(arrays),
    }
    return frame_of_parts("tensors", catalog, selection, good.tolist(), columns, mark=mark)
