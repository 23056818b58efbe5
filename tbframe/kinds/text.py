"""Text: the strings as logged, Markdown left alone, each with its place in the array that was logged."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tbframe.events.metadata import decode_text
from tbframe.events.singly import Read
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.filling import Filling
from tbframe.kinds.parts import decode_each, frame_of_parts, objects
from tbframe.kinds.string_tensors import find_strings

__all__ = ["frame"]

_MOST_DIMENSIONS = 32  # as NumPy has always had


def frame(catalog: Catalog, selection: Selection, *, mark: bool = False) -> pd.DataFrame:
    """Build the frame of texts.

    A text array of rank 2, which TensorBoard shows as a table, has a row for each cell.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The texts wanted.
    mark : bool
        Whether to add the columns ``session`` and ``superseded``.

    Returns
    -------
    pandas.DataFrame
        One row per string: columns ``run``, ``tag`` (category), ``step`` (int64), ``wall_time`` (float64, seconds since
        the epoch), ``index`` (object: tuple of int, the place in the text array; of a text alone the empty tuple) and
        ``value`` (object: str; bytes that are not UTF-8 as backslash escapes); with `mark` also ``session`` (int64) and
        ``superseded`` (bool).

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with values that hold no text array.
    """
    shapes: list[tuple[int, ...]] = [()] * len(selection.rows)
    filling = Filling()

    def decode(place: int, read: Read, size: int) -> list[str]:
        strings = find_strings(read, size)
        shapes[place] = strings.shape
        spans = strings.by_shape(filling)
        if len(strings.shape) > _MOST_DIMENSIONS:
            raise ValueError(f"the text array has {len(strings.shape)} dimensions, more than {_MOST_DIMENSIONS}")
        found = {span: decode_text(strings.read(*span)) for span in dict.fromkeys(spans)}  # one may stand for many
        return [found[span] for span in spans]

    found = decode_each("text", catalog, selection, decode)
    counts = [len(texts or ()) for texts in found]
    pairs = [(shape, texts) for shape, texts in zip(shapes, found, strict=True) if texts]
    places = {shape: list(np.ndindex(shape)) for shape in {shape for shape, _ in pairs}}
    columns = {
        "index": objects([index for shape, _ in pairs for index in places[shape]]),
        "value": objects([text for _, texts in pairs for text in texts]),
    }
    return frame_of_parts("text", catalog, selection, counts, columns, mark=mark)
