"""Audio: clips as logged, with what their header tells, and their labels, which TensorBoard drops."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

import numpy as np
import pandas as pd

from tbframe.events import values
from tbframe.events.messages import message_class
from tbframe.events.metadata import decode_text
from tbframe.events.singly import Odd, Read, fields
from tbframe.kinds import wav
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.filling import Filling
from tbframe.kinds.parts import decode_each, frame_of_parts, objects, position, reader_of
from tbframe.kinds.string_tensors import find_strings

__all__ = ["frame"]

_RATE, _CHANNELS, _FRAMES, _ENCODED, _CONTENT_TYPE = 0x0D, 0x10, 0x18, 0x22, 0x2A


class _Clip(NamedTuple):
    rate: float
    """Hz; NaN where it is not known."""
    channels: int | None
    frames: int | None
    label: str
    format: str
    data: bytes


def frame(catalog: Catalog, selection: Selection, *, data: bool = True, mark: bool = False) -> pd.DataFrame:
    """Build the frame of audio clips.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The clips wanted.
    data : bool
        Whether to return the bytes. Without them only the headers are read, and checksums are not verified.
    mark : bool
        Whether to add the columns ``session`` and ``superseded``.

    Returns
    -------
    pandas.DataFrame
        One row per clip: columns ``run``, ``tag`` (category), ``step`` (int64), ``wall_time`` (float64, seconds since
        the epoch), ``sample`` (int64: its number in the batch), ``sample_rate`` (float64, Hz), ``channels``, ``frames``
        (Int64), ``label`` (object: str, "" without), ``format`` (object: "wav", "mp3", ..., "" for unknown bytes) and,
        if asked for, ``data`` (object: bytes, untouched); with `mark` also ``session`` (int64) and ``superseded``
        (bool). Rate, channels and frames are those of the WAV header; of other clips those that were logged with them,
        if any.

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with values that hold no clips.
    """
    what, filling = catalog.table["what"][selection.rows], Filling()

    def decode(place: int, read: Read, size: int) -> list[_Clip]:
        return [_legacy(read, size, data)] if what[place] == values.AUDIO else _batch(read, size, data, filling)

    found = decode_each("audio", catalog, selection, decode, whole=data)
    counts = [len(clips or ()) for clips in found]
    clips = [clip for clips in found for clip in clips or ()]
    columns = {
        "sample": position(counts),
        "sample_rate": np.array([clip.rate for clip in clips], np.float64),
        "channels": pd.array([clip.channels for clip in clips], dtype="Int64"),
        "frames": pd.array([clip.frames for clip in clips], dtype="Int64"),
        "label": objects([clip.label for clip in clips]),
        "format": objects([clip.format for clip in clips]),
    }
    if data:
        columns["data"] = objects([clip.data for clip in clips])
    return frame_of_parts("audio", catalog, selection, counts, columns, mark=mark)


def _clip(read: Read, begin: int, size: int, data: bool, label: str = "") -> _Clip:
    def part(at: int, n: int) -> bytes:
        return read(begin + at, min(n, max(size - at, 0)))

    found = _Clip(math.nan, None, None, label, wav.sniff(part), read(begin, size) if data else b"")
    if found.format != "wav":
        return found
    try:
        header = wav.read_header(part, size)
    except ValueError:  # cut off: the bytes are still what was logged
        return found
    return found._replace(rate=float(header.rate), channels=header.channels, frames=header.frames)


def _legacy(read: Read, size: int, data: bool) -> _Clip:
    """Take the clip out of a Summary.Audio."""
    begin, length, rate, channels, frames, content_type = 0, 0, math.nan, None, None, b""
    try:
        for key, at, value in fields(read, 0, size):
            if key == _ENCODED:
                begin, length = at, value
            elif key == _RATE:
                (rate,) = struct.unpack("<f", read(at, 4))
            elif key == _CHANNELS:
                channels = value
            elif key == _FRAMES:
                frames = value
            elif key == _CONTENT_TYPE:
                content_type = read(at, value)
    except Odd:
        held = _rewritten(read(0, size))
        return _legacy(reader_of(held), len(held), data)
    clip = _clip(read, begin, length, data)
    name = clip.format or decode_text(content_type).removeprefix("audio/")
    if math.isnan(clip.rate):
        clip = clip._replace(rate=rate, channels=channels, frames=frames)
    return clip._replace(format=name)


def _rewritten(data: bytes) -> bytes:
    """Write a message as protobuf understands it."""
    from google.protobuf.message import DecodeError

    try:
        return bytes(message_class("Summary.Audio").FromString(data).SerializeToString())
    except DecodeError as error:
        raise ValueError(f"the {len(data)} bytes are no Summary.Audio message: {error}") from error


def _batch(read: Read, size: int, data: bool, filling: Filling) -> list[_Clip]:
    """Take the clips out of a tensor: [k], or [k, 2] with a label behind each. A wrong k does not make clips."""
    strings = find_strings(read, size)
    listed = strings.listed(filling)
    stride = math.prod(strings.shape[1:])
    if not stride:
        return []
    nothing = [(0, 0)] * len(listed)
    pairs = list(zip(listed[::stride], listed[1::stride] + nothing if stride > 1 else nothing, strict=False))
    # One string may stand for many: its bytes are taken once.
    labels = {span: decode_text(strings.read(*span)) for span in {label for _, label in pairs}}
    found = {pair: _clip(strings.read, *pair[0], data, labels[pair[1]]) for pair in dict.fromkeys(pairs)}
    return [found[pair] for pair in pairs]
