"""Values -> event records: many at a time, as rows of a byte matrix, with their checksums.

Records whose fields have the same widths share a layout, so that one matrix holds them all: the bytes that are the same
in each are broadcast, the others (wall time, step, tag, value) are copied in as columns. A CRC is linear: the checksum
of such a record is that of the layout with zeros in its columns, XORed with what each byte of a column adds there.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import google_crc32c
import numpy as np
import numpy.typing as npt

from tbframe.events.checksums import masked
from tbframe.events.wire import Bools, Ints

__all__ = ["Histograms", "Records", "Scalars", "encode_histograms", "encode_scalars", "encode_version"]

Floats: TypeAlias = npt.NDArray[np.float64]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Message: TypeAlias = "list[bytes | Bytes]"
"""The fields of many messages of one layout: bytes that all of them share, and matrices with a row for each of them."""

# Keys of the fields, as they stand on the wire: number * 8 + wire type.
_WALL_TIME, _STEP, _FILE_VERSION, _SUMMARY, _SOURCE = b"\x09", b"\x10", 0x1A, 0x2A, 0x52
_VALUE, _TAG, _SIMPLE_VALUE, _HISTO, _TENSOR, _METADATA = 0x0A, 0x0A, b"\x15", 0x2A, 0x42, 0x4A
_SHAPE, _CONTENT = 0x12, 0x22
_DOUBLE_DTYPE = b"\x08\x02"
_SCALARS: Final = b"\x0a\x09\x0a\x07scalars\x20\x01"
"""SummaryMetadata: plugin "scalars", data class SCALAR."""
_HISTOGRAMS: Final = b"\x0a\x0c\x0a\x0ahistograms\x20\x02"
"""SummaryMetadata: plugin "histograms", data class TENSOR."""

_ROWS: Final = 1 << 15
"""So many rows are encoded at a time: what they need stays in the cache."""
_NARROW: Final = 96
"""Up to so many differing bytes a record, table look-ups beat a call per record."""
_HEADER, _FOOTER = 12, 4


class Records(NamedTuple):
    """Some records, one behind the other."""

    data: Bytes
    """Their bytes."""
    end: Ints
    """Where each of them ends, in the order of the rows they come from."""


class Scalars(NamedTuple):
    """Scalars as columns, in the order in which they are to be written."""

    tags: Sequence[bytes]
    """The tags, in UTF-8."""
    code: Ints
    """Which tag, shape (n,)."""
    step: Ints
    """Shape (n,)."""
    wall_time: Floats
    """Seconds since the epoch, shape (n,)."""
    value: Floats
    """Shape (n,)."""
    double: Bools
    """Whether to store the value as a float64 tensor rather than as a float32 number, shape (n,)."""

    def at(self, rows: slice | Ints) -> Scalars:
        """Take some of the rows."""
        code, step, wall_time = self.code[rows], self.step[rows], self.wall_time[rows]
        return Scalars(self.tags, code, step, wall_time, self.value[rows], self.double[rows])


class Histograms(NamedTuple):
    """The histograms of one tag."""

    tag: bytes
    """In UTF-8."""
    step: Ints
    """Shape (n,)."""
    wall_time: Floats
    """Seconds since the epoch, shape (n,)."""
    left: Floats
    """Left edges, shape (n, k)."""
    right: Floats
    """Right edges, shape (n, k)."""
    counts: Floats
    """Shape (n, k)."""
    buckets: Ints
    """How many of the k each step has, shape (n,)."""
    statistics: Floats
    """Minimum, maximum, number, sum and sum of squares of the data, shape (n, 5)."""
    proto: Bools
    """Whether to write a HistogramProto (right edges, counts, statistics) rather than a [k, 3] tensor, shape (n,)."""


def encode_version(wall_time: float) -> bytes:
    """Encode the record that opens an event file.

    Parameters
    ----------
    wall_time : float
        Seconds since the epoch; TensorBoard takes it as the start of the run.

    Returns
    -------
    bytes
        A whole record: the version ``brain.Event:2`` and who wrote the file.

    Examples
    --------
    >>> encode_version(0.0)[23:36]
    b'brain.Event:2'
    """
    event: Message = [_WALL_TIME, np.array([wall_time], "<f8").view(np.uint8)[None]]
    event += _field(_FILE_VERSION, [b"brain.Event:2"])
    event += _field(_SOURCE, _field(0x0A, [b"tbframe"]))
    return _frame(event, 1).tobytes()


def encode_scalars(scalars: Scalars) -> Iterator[Records]:
    """Encode scalars, an event with one value for each.

    Parameters
    ----------
    scalars : Scalars
        The columns.

    Yields
    ------
    Records
        Of the next rows; together they are those of all rows, in order.
    """
    tags = _Tags(scalars.tags)
    for start in range(0, len(scalars.code), _ROWS):
        yield _encode_scalars(scalars.at(slice(start, start + _ROWS)), tags)


def encode_histograms(histograms: Histograms) -> Records:
    """Encode histograms, an event with one value for each.

    Parameters
    ----------
    histograms : Histograms
        Of one tag.

    Returns
    -------
    Records
        One for each step, in order.
    """
    layout = (histograms.buckets * 11 + _varint_sizes(histograms.step)) * 2 + histograms.proto
    groups = []
    for key in np.unique(layout):
        rows = np.flatnonzero(layout == key)
        k = int(histograms.buckets[rows[0]])
        left, right, counts = histograms.left[rows, :k], histograms.right[rows, :k], histograms.counts[rows, :k]
        value = _field(_TAG, [histograms.tag])
        if histograms.proto[rows[0]]:
            value += _field(_HISTO, _histogram_proto(histograms.statistics[rows], right, counts))
        else:
            value += _field(_TENSOR, _histogram_tensor(left, right, counts)) + _field(_METADATA, [_HISTOGRAMS])
        event = _event(histograms.wall_time[rows], histograms.step[rows], value)
        groups.append((rows, _frame(event, len(rows))))
    return _in_order(len(layout), groups)


class _Tags:
    """The bytes of tags, those of one length together."""

    def __init__(self, tags: Sequence[bytes]) -> None:
        self.length = np.array([len(tag) for tag in tags], np.int64)
        self.place = np.zeros(len(tags), np.int64)
        self.bytes: dict[int, Bytes] = {}
        for length in np.unique(self.length).tolist():
            which = np.flatnonzero(self.length == length)
            self.place[which] = np.arange(len(which))
            joined = b"".join(tags[i] for i in which.tolist())
            self.bytes[length] = np.frombuffer(joined, np.uint8).reshape(len(which), length)


def _encode_scalars(scalars: Scalars, tags: _Tags) -> Records:
    """Encode the scalars of one block, those of each layout together."""
    layout = (tags.length[scalars.code] * 11 + _varint_sizes(scalars.step)) * 2 + scalars.double
    keys, group = np.unique(layout, return_inverse=True)
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(keys) + 1))
    groups = []
    for g, key in enumerate(keys.tolist()):
        rows = order[bounds[g] : bounds[g + 1]] if len(keys) > 1 else slice(None)
        tag = tags.bytes[key // 22][tags.place[scalars.code[rows]]]
        value = _field(_TAG, [tag])
        if key % 2:
            content = _field(_CONTENT, [_as_bytes(scalars.value[rows])])
            value += _field(_TENSOR, [_DOUBLE_DTYPE, *_field(_SHAPE, []), *content]) + _field(_METADATA, [_SCALARS])
        else:
            value += [_SIMPLE_VALUE, _as_bytes(scalars.value[rows].astype("<f4"))]
        event = _event(scalars.wall_time[rows], scalars.step[rows], value)
        groups.append((rows, _frame(event, len(tag))))
    return _in_order(len(layout), groups)


def _histogram_tensor(left: Floats, right: Floats, counts: Floats) -> Message:
    """Lay out TensorProtos of shape [k, 3], as TensorFlow 2 writes them."""
    k = left.shape[1]
    size = b"\x08" + _varint(k) if k else b""
    tensor: Message = [_DOUBLE_DTYPE, *_field(_SHAPE, [*_field(0x12, [size]), *_field(0x12, [b"\x08\x03"])])]
    return tensor + _field(_CONTENT, [_as_bytes(np.stack([left, right, counts], axis=2))]) if k else tensor


def _histogram_proto(statistics: Floats, limits: Floats, counts: Floats) -> Message:
    """Lay out HistogramProtos: minimum, maximum, number, sum, sum of squares, right edges, counts."""
    message: Message = []
    for i, key in enumerate(b"\x09\x11\x19\x21\x29"):
        message += [bytes([key]), _as_bytes(statistics[:, i])]
    if limits.shape[1]:
        message += _field(0x32, [_as_bytes(limits)]) + _field(0x3A, [_as_bytes(counts)])
    return message


def _event(wall_time: Floats, step: Ints, value: Message) -> Message:
    """Lay out Events; all steps take the same number of bytes. The default step 0 takes none, as proto3 has it."""
    event: Message = [_WALL_TIME, _as_bytes(wall_time)]
    size = int(_varint_sizes(step[:1])[0])
    if size:
        shifts = np.arange(0, 7 * size, 7, dtype=np.uint64)
        varint = ((step.view(np.uint64)[:, None] >> shifts) & np.uint64(0x7F)).astype(np.uint8)
        varint[:, :-1] |= np.uint8(0x80)
        event += [_STEP, varint]
    return event + _field(_SUMMARY, _field(_VALUE, value))


def _field(key: int, message: Message) -> Message:
    """Lay out a field that holds a message (or a string) and says how long it is."""
    return [bytes([key]) + _varint(_width(message)), *message]


def _width(message: Message) -> int:
    return sum(len(part) if isinstance(part, bytes) else part.shape[1] for part in message)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


_VARINT_BOUNDS = np.array([1, *(1 << 7 * i for i in range(1, 10))], np.uint64)


def _varint_sizes(step: Ints) -> Ints:
    """Count the bytes of each step as a varint; none for 0, which is not written."""
    return np.searchsorted(_VARINT_BOUNDS, step.view(np.uint64), side="right").astype(np.int64)


def _as_bytes(numbers: npt.NDArray[np.number]) -> Bytes:
    """View numbers as the little-endian bytes of each row."""
    little = np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<"))
    return little.view(np.uint8).reshape(len(numbers), -1)


def _frame(message: Message, n: int) -> Bytes:
    """Frame n messages of one layout as records, with both checksums."""
    length = _width(message)
    header = length.to_bytes(8, "little")
    template = b"".join(part if isinstance(part, bytes) else bytes(part.shape[1]) for part in message)
    records = np.empty((n, _HEADER + length + _FOOTER), np.uint8)
    records[:] = np.frombuffer(
        header + masked(google_crc32c.value(header)).to_bytes(4, "little") + template + bytes(_FOOTER), np.uint8
    )
    at, columns = _HEADER, []
    for part in message:
        if not isinstance(part, bytes):
            records[:, at : at + part.shape[1]] = part
            columns += list(range(at, at + part.shape[1]))
        at += len(part) if isinstance(part, bytes) else part.shape[1]
    if len(columns) <= _NARROW:
        tables = _contributions(1 << length.bit_length())  # few sizes, so that few are kept
        crc = np.full(n, google_crc32c.value(template), np.uint32)
        for column in columns:
            crc ^= tables[at - 1 - column][records[:, column]]
    else:
        payloads = np.ascontiguousarray(records[:, _HEADER:at])
        crc = np.array([google_crc32c.value(payload) for payload in payloads], np.uint32)
    stored = ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(masked(0))
    records[:, at:] = _as_bytes(stored)
    return records


@functools.cache
def _contributions(length: int) -> npt.NDArray[np.uint32]:
    """Tabulate what a byte contributes to the checksum of a message in which k bytes follow it, for all k < length."""
    zero = google_crc32c.value(b"\0")
    last = np.array([google_crc32c.value(bytes([byte])) ^ zero for byte in range(256)], np.uint32)
    tables = np.empty((length, 256), np.uint32)
    tables[0] = last
    for k in range(1, length):
        tables[k] = (tables[k - 1] >> np.uint32(8)) ^ last[tables[k - 1] & np.uint32(0xFF)]
    return tables


def _in_order(n: int, groups: Sequence[tuple[Ints | slice, Bytes]]) -> Records:
    """Bring the records of several layouts into the order of the n rows they come from."""
    size = np.empty(n, np.int64)
    for rows, records in groups:
        size[rows] = records.shape[1]
    end = np.cumsum(size)
    if len(groups) == 1:
        return Records(groups[0][1].reshape(-1), end)
    data = np.empty(int(end[-1]) if n else 0, np.uint8)
    for rows, records in groups:
        width = records.shape[1]
        # Element i of the view is the record that starts at byte i: all are copied in one assignment.
        places = np.ndarray(len(data) - width + 1, f"V{width}", buffer=data, strides=(1,))
        places[end[rows] - width] = records.view(f"V{width}")[:, 0]
    return Records(data, end)
