"""Event files put together byte by byte, with framing and checksums of our own; and what is told of the events in them."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import google_crc32c

from tbframe.events import values
from tbframe.events.files import EventFile
from tbframe.events.interning import Interner
from tbframe.events.loading import load
from tbframe.events.messages import message_class
from tbframe.events.rows import COLUMNS, Rows
from tbframe.storage import Source

VARINT, FIXED64, LENGTH, GROUP, FIXED32 = 0, 1, 2, 3, 5


# Framing --------------------------------------------------------------------------------------------------------------


def checksum(data: bytes) -> bytes:
    """The masked CRC-32C of some bytes as it is stored."""
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) % 2**32)


def record(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    return length + checksum(length) + payload + checksum(payload)


def stream(payloads: Iterable[bytes]) -> bytes:
    return b"".join(map(record, payloads))


def serial_walk(data: bytes) -> tuple[list[tuple[int, int]], int, bool]:
    """Start and payload length of the whole records in turn, where the walk ends, and whether there is no header there."""
    found, at = [], 0
    while len(data) - at >= 12:
        (length,) = struct.unpack_from("<Q", data, at)
        if data[at + 8 : at + 12] != checksum(data[at : at + 8]) or length > 2**31 - 1:
            return found, at, True
        if at + length + 16 > len(data):
            break
        found.append((at, length))
        at += length + 16
    return found, at, False


# The wire -------------------------------------------------------------------------------------------------------------


def varint(value: int, width: int = 1) -> bytes:
    """A varint of at least so many bytes: more than it needs are legal."""
    value &= 2**64 - 1
    width = max(width, -(-value.bit_length() // 7))
    groups = [value >> 7 * i & 0x7F for i in range(width)]
    return bytes([group | 0x80 for group in groups[:-1]] + groups[-1:])


def key(number: int, kind: int, width: int = 1) -> bytes:
    return varint(number << 3 | kind, width)


def field(number: int, payload: bytes, width: int = 1) -> bytes:
    return key(number, LENGTH) + varint(len(payload), width) + payload


def scalar_event(step: int, value: float, tag: bytes = b"loss", wall_time: float = 1.7e9) -> bytes:
    """An event as PyTorch writes it."""
    body = field(1, tag) + key(2, FIXED32) + struct.pack("<f", value)
    return timed(step, field(5, field(1, body)), wall_time)


def timed(step: int, rest: bytes, wall_time: float = 1.7e9) -> bytes:
    """Wall time and step, and what follows them."""
    return b"\x09" + struct.pack("<d", wall_time) + (b"\x10" + varint(step) if step else b"") + rest


def tensor_event(step: int, tensor: bytes, tag: bytes = b"loss", metadata: bytes | None = None) -> bytes:
    """An event as TensorFlow 2 writes it."""
    body = field(1, tag) + field(8, tensor) + (b"" if metadata is None else field(9, metadata))
    return timed(step, field(5, field(1, body)))


def metadata_of(plugin: bytes) -> bytes:
    return field(1, field(1, plugin))


START = field(7, b"\x08\x01")
VERSION = timed(0, field(3, b"brain.Event:2"))


# What is told of events -----------------------------------------------------------------------------------------------


def number_bits(number: float) -> bytes:
    """What tells numbers apart: every NaN is the same, the zeros are not."""
    return b"NaN" if math.isnan(number) else struct.pack("<d", number)


_CLASSES = {
    values.IMAGE: "Summary.Image",
    values.HISTO: "HistogramProto",
    values.AUDIO: "Summary.Audio",
    values.TENSOR: "TensorProto",
    values.NUMBER: "TensorProto",
    values.SESSION_LOG: "SessionLog",
    values.LOG_MESSAGE: "LogMessage",
    values.RUN_METADATA: "TaggedRunMetadata",
}


def canonical(name: str | None, data: bytes) -> bytes:
    """One form for all spellings of a message."""
    return data if name is None else message_class(name).FromString(data).SerializeToString(deterministic=True)


def canonical_member(what: int, data: bytes) -> bytes:
    return canonical(_CLASSES.get(what), data)


def canonical_metadata(data: bytes | None) -> bytes | None:
    return None if data is None else canonical("SummaryMetadata", data)


class Loaded(NamedTuple):
    """What `load` found in one file."""

    file: EventFile
    rows: Rows
    tags: Interner

    def column(self, name: str) -> list[Any]:
        return self.rows[name].tolist()

    def table(self) -> list[tuple[Any, ...]]:
        """The rows without where their members lie: offset, step, wall time, tag, what, dtype, number."""
        names = ("record", "step", "wall_time", "tag", "what", "dtype", "number")
        assert set(names) | {"file", "at", "extent"} == set(COLUMNS)
        return [
            (record, step, number_bits(time), self.tags.names[tag], what, dtype, number_bits(number))
            for record, step, time, tag, what, dtype, number in zip(*map(self.column, names), strict=True)
        ]


def load_bytes(path: Path, data: bytes, window_size: int = 1 << 20) -> Loaded:
    """Write a file and load it."""
    path.write_bytes(data)
    found = Loaded(EventFile(Source(str(path)), ".", 0), Rows(), Interner())
    load([found.file], found.rows, found.tags, window_size=window_size)
    return found


def load_more(found: Loaded, window_size: int = 1 << 20) -> Loaded:
    """Read on in a file that changed."""
    load([found.file], found.rows, found.tags, window_size=window_size)
    return found
