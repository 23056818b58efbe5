"""Event files put together byte by byte, as the writers serialize them and independent of tbframe."""

from __future__ import annotations

import struct
from pathlib import Path
from types import TracebackType

import google_crc32c
import numpy as np

VERSION = b"brain.Event:2"
MARK = b"\xfa\xce\xfe\xed"
"""Stands for the four bytes of a value in the bytes around it."""


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number: int, data: bytes) -> bytes:
    """A string, a bytes or a message field."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def checksum(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


# The fields of a Summary.Value: tag 1, simple_value 2, image 4, histo 5, tensor 8, metadata 9.


def simple_value(tag: bytes, value: bytes) -> bytes:
    """A scalar of PyTorch or TensorFlow 1."""
    return field(1, field(1, tag) + b"\x15" + value)


def scalar_tensor(tag: bytes, value: bytes) -> bytes:
    """A scalar of TensorFlow 2: a float32 tensor without dimensions, and metadata with each value."""
    return field(1, field(1, tag) + field(8, b"\x08\x01\x12\x00" + field(4, value)) + metadata(b"scalars"))


def metadata(plugin: bytes) -> bytes:
    return field(9, field(1, field(1, plugin)))


def histogram_tensor(tag: bytes, buckets: np.ndarray) -> bytes:
    """A histogram of TensorFlow 2: left edge, right edge and count of each bucket, shape (k, 3)."""
    shape = b"".join(field(2, b"\x08" + varint(size)) for size in buckets.shape)
    tensor = b"\x08\x02" + field(2, shape) + field(4, buckets.astype("<f8").tobytes())
    return field(1, field(1, tag) + field(8, tensor) + metadata(b"histograms"))


def histogram_proto(tag: bytes, statistics: list[float], limits: np.ndarray, counts: np.ndarray) -> bytes:
    """A histogram of PyTorch or TensorFlow 1: statistics, right edges and counts."""
    histogram = b"".join(double(i, value) for i, value in enumerate(statistics, 1))
    histogram += field(6, limits.astype("<f8").tobytes()) + field(7, counts.astype("<f8").tobytes())
    return field(1, field(1, tag) + field(5, histogram))


def image(tag: bytes, height: int, width: int, data: bytes) -> bytes:
    head = b"\x08" + varint(height) + b"\x10" + varint(width) + b"\x18\x03"
    return field(1, field(1, tag) + field(4, head + field(4, data)))


def around(summary: bytes) -> tuple[bytes, bytes]:
    """What stands before and after the `MARK` in a summary that has no other field of an event behind it."""
    before, mark, after = field(5, summary).partition(MARK)
    assert mark
    return before, after


class EventFile:
    """An event file being written.

    Parameters
    ----------
    folder : Path
        The directory of the run; it is created.
    number : int
        Tells the files of a log apart.
    """

    def __init__(self, folder: Path, number: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"events.out.tfevents.{1_700_000_000 + number}.host.1.{number}"
        self._stream = self.path.open("wb", buffering=1 << 22)
        self._headers: dict[int, bytes] = {}
        self.add(double(1, 1.7e9) + field(3, VERSION))

    def __enter__(self) -> EventFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def add(self, event: bytes) -> None:
        """Add a record."""
        header = self._headers.get(len(event))
        if header is None:
            length = struct.pack("<Q", len(event))
            header = self._headers[len(event)] = length + checksum(length)
        self._stream.write(header + event + checksum(event))

    def add_summary(self, wall_time: float, step: int, summary: bytes) -> None:
        """Add an event; like every writer, without a step of 0."""
        self.add(double(1, wall_time) + (b"\x10" + varint(step) if step else b"") + field(5, summary))

    def add_scalars(self, columns: list[tuple[bytes, bytes]], wall_times: np.ndarray, values: np.ndarray) -> None:
        """Add events of one value each, step by step.

        Parameters
        ----------
        columns : list of (bytes, bytes)
            For each tag what stands `around` the value.
        wall_times, values : ndarray, shape (steps, tags)
            In seconds, and the values.
        """
        times, numbers = wall_times.astype("<f8").tobytes(), values.astype("<f4").tobytes()
        i = 0
        for step in range(len(values)):
            middle = b"\x10" + varint(step) if step else b""
            for before, after in columns:
                value = numbers[4 * i : 4 * i + 4]
                self.add(b"\x09" + times[8 * i : 8 * i + 8] + middle + before + value + after)
                i += 1
