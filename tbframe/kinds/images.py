"""Images: the bytes as logged, with the size and format that the bytes themselves tell."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from tbframe.events import values
from tbframe.events.messages import message_class
from tbframe.events.singly import Odd, Read, fields
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.filling import Filling
from tbframe.kinds.image_headers import ImageHeader, read_header
from tbframe.kinds.parts import decode_each, frame_of_parts, objects, position, reader_of
from tbframe.kinds.string_tensors import find_strings

__all__ = ["frame"]

_ENCODED = 0x22
_BEFORE_IMAGES = 2
"""A tensor of images begins with their width and height as text, which need not be true."""


class _Image(NamedTuple):
    header: ImageHeader
    data: bytes


def frame(catalog: Catalog, selection: Selection, *, data: bool = True, mark: bool = False) -> pd.DataFrame:
    """Build the frame of images.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The images wanted.
    data : bool
        Whether to return the bytes. Without them only the headers are read, and checksums are not verified.
    mark : bool
        Whether to add the columns ``session`` and ``superseded``.

    Returns
    -------
    pandas.DataFrame
        One row per image: columns ``run``, ``tag`` (category), ``step`` (int64), ``wall_time`` (float64, seconds since
        the epoch), ``sample`` (int64: its number in the batch), ``width``, ``height`` (Int64, pixels; missing where the
        bytes do not tell), ``format`` (object: "png", "jpeg", "gif", "bmp", "webp", or "" for other bytes) and, if
        asked for, ``data`` (object: bytes, untouched); with `mark` also ``session`` (int64) and ``superseded`` (bool).

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with values that hold no list of images.
    """
    what, filling = catalog.table["what"][selection.rows], Filling()

    def decode(place: int, read: Read, size: int) -> list[_Image]:
        read, spans = _legacy(read, size) if what[place] == values.IMAGE else _batch(read, size, filling)
        # One string may stand for many: the bytes are taken once.
        found = {span: _image(read, *span, data) for span in dict.fromkeys(spans)}
        return [found[span] for span in spans]

    found = decode_each("images", catalog, selection, decode, whole=data)
    counts = [len(images or ()) for images in found]
    images = [image for images in found for image in images or ()]
    columns = {
        "sample": position(counts),
        "width": pd.array([image.header.width for image in images], dtype="Int64"),
        "height": pd.array([image.header.height for image in images], dtype="Int64"),
        "format": objects([image.header.format for image in images]),
    }
    if data:
        columns["data"] = objects([image.data for image in images])
    return frame_of_parts("images", catalog, selection, counts, columns, mark=mark)


def _image(read: Read, begin: int, size: int, data: bool) -> _Image:
    header = read_header(lambda at, n: read(begin + at, min(n, max(size - at, 0))), size)
    return _Image(header, read(begin, size) if data else b"")


def _legacy(read: Read, size: int) -> tuple[Read, list[tuple[int, int]]]:
    """Find the image in a Summary.Image; that message's own width and height need not be the image's."""
    span = 0, 0
    try:
        for key, at, length in fields(read, 0, size):
            if key == _ENCODED:
                span = at, length
    except Odd:
        held = _through_protobuf(read(0, size))
        return reader_of(held), [(0, len(held))]
    return read, [span]


def _through_protobuf(data: bytes) -> bytes:
    from google.protobuf.message import DecodeError

    try:
        return bytes(message_class("Summary.Image").FromString(data).encoded_image_string)
    except DecodeError as error:
        raise ValueError(f"the {len(data)} bytes are no Summary.Image message: {error}") from error


def _batch(read: Read, size: int, filling: Filling) -> tuple[Read, list[tuple[int, int]]]:
    """Find the images in a tensor: the list as it is, since a wrong shape does not make images."""
    strings = find_strings(read, size)
    listed = strings.listed(filling)
    if len(strings.shape) != 1 or len(listed) < _BEFORE_IMAGES:
        raise ValueError(
            f"expected a list of width, height and images, found {len(listed)} strings of shape {list(strings.shape)}"
        )
    return strings.read, listed[_BEFORE_IMAGES:]
