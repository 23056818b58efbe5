"""The bytes of values that were found before: read where they lie, verified record by record."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final

import google_crc32c
import numpy as np

from tbframe.events import through_protobuf, values
from tbframe.events.checksums import masked
from tbframe.events.files import EventFile
from tbframe.events.framing import FOOTER, HEADER
from tbframe.events.large import DATA_CHECKSUM
from tbframe.events.rows import Rows
from tbframe.events.wire import Ints

__all__ = ["Member", "heads", "opened", "payloads", "verify"]

_BLOCK: Final = 1 << 20
_PART: Final = 1 << 8
"""Of a value that is read in parts, so many bytes at least are read at once."""
_NEAR: Final = 1 << 16
"""Records this close to one another are read together."""


def payloads(files: Mapping[int, EventFile], rows: Rows, which: Ints) -> list[bytes | None]:
    """Read the bytes of some values.

    Parameters
    ----------
    files : mapping of int to EventFile
        By code. What is found damaged is reported to them.
    rows : Rows
        The table.
    which : ndarray of int64, shape (n,)
        Row numbers, in any order.

    Returns
    -------
    list of bytes or None
        The serialized member of each value; None where its record is damaged.
    """
    found: list[bytes | None] = [None] * len(which)
    columns = [rows[name][which] for name in ("file", "record", "what", "at", "extent")]
    order = np.lexsort((columns[1], columns[0]))
    file_code, record, what, at, extent = (column[order].tolist() for column in columns)
    places = order.tolist()
    bounds = [0, *(np.flatnonzero(np.diff(columns[0][order])) + 1).tolist(), len(places)]
    for begin, end in itertools.pairwise(bounds):
        if begin == end:
            continue
        file = files[file_code[begin]]
        data: bytes | None = None
        last = -1
        with file.source.open() as stream:
            records = _records(file, stream, record[begin:end])
            for i in range(begin, end):
                if record[i] != last:  # several values of one event
                    data, last = next(records), record[i]
                if data is None:
                    continue
                if at[i] < 0:
                    found[places[i]] = through_protobuf.member_bytes(data, what[i], values.place_of_index(at[i]))
                else:
                    found[places[i]] = data[at[i] : at[i] + extent[i]]
    return found


def _records(file: EventFile, stream: BinaryIO, offsets: list[int]) -> Iterator[bytes | None]:
    """Read and verify the records at ascending offsets, each once; records near one another in one go."""
    distinct = list(dict.fromkeys(offsets))
    block, begin = b"", 0
    for i, offset in enumerate(distinct):
        inside = offset - begin
        if not 0 <= inside <= len(block) - HEADER:
            near = i + 1 < len(distinct) and distinct[i + 1] - offset < _NEAR
            stream.seek(offset)
            block, begin, inside = stream.read(_BLOCK if near else _NEAR // 16), offset, 0
        length = int.from_bytes(block[inside : inside + 8], "little")
        end = inside + HEADER + length + FOOTER
        if end <= len(block):
            whole = block[inside + HEADER : end]
        else:
            stream.seek(offset + HEADER)
            whole = stream.read(min(length, max(file.size - offset, 0)) + FOOTER)
        payload = whole[:length]
        file.unchecked.discard(offset)
        if len(whole) != length + FOOTER or masked(google_crc32c.value(payload)) != int.from_bytes(
            whole[length:], "little"
        ):
            file.report_once(offset, HEADER + length + FOOTER, DATA_CHECKSUM)
            yield None
            continue
        yield payload


def heads(files: Mapping[int, EventFile], rows: Rows, which: Ints, most: int) -> list[bytes]:
    """Read the first bytes of some values, without reading or verifying the rest.

    Parameters
    ----------
    files, rows, which
        See `payloads`.
    most : int
        How many bytes of each.

    Returns
    -------
    list of bytes
        The beginning of the serialized member of each value.
    """
    found = [b""] * len(which)
    for place, member in opened(files, rows, which):
        found[place] = member.read(0, most)
    return found


class Member:
    """The bytes of one value where they lie, of which a few are read at a time.

    Parameters
    ----------
    stream : BinaryIO
        What they are in.
    begin, size : int
        Where they begin, and how many they are.
    """

    __slots__ = ("_at", "_begin", "_block", "_stream", "size")

    def __init__(self, stream: BinaryIO, begin: int, size: int) -> None:
        self.size = size
        self._stream, self._begin = stream, begin
        self._at, self._block = 0, b""

    def read(self, at: int, n: int) -> bytes:
        """Read some bytes.

        Parameters
        ----------
        at, n : int
            From which place in the value on, and how many.

        Returns
        -------
        bytes
            Fewer where the value ends.
        """
        end = min(at + n, self.size)
        if at < self._at or end > self._at + len(self._block):
            self._stream.seek(self._begin + at)
            self._block, self._at = self._stream.read(max(min(max(n, _PART), self.size - at), 0)), at
        return self._block[at - self._at : max(end, at) - self._at]


def opened(files: Mapping[int, EventFile], rows: Rows, which: Ints) -> Iterator[tuple[int, Member]]:
    """Open some values one after the other, to read parts of them without verifying their records.

    Parameters
    ----------
    files, rows, which
        See `payloads`.

    Yields
    ------
    place : int
        Which value, as a place in `which`; in the order of the files.
    member : Member
        Its bytes, until the next one is taken.
    """
    columns = [rows[name][which] for name in ("file", "record", "what", "at", "extent")]
    order = np.lexsort((columns[1], columns[0]))
    stream: BinaryIO | None = None
    code = -1
    try:
        for place, file, record, what, at, extent in zip(
            order.tolist(), *(column[order].tolist() for column in columns), strict=True
        ):
            if file != code:
                if stream is not None:
                    stream.close()
                stream, code = files[file].source.open(), file
            assert stream is not None
            if at < 0:
                stream.seek(record)
                header = stream.read(HEADER)
                data = stream.read(int.from_bytes(header[:8], "little"))
                held = through_protobuf.member_bytes(data, what, values.place_of_index(at))
                yield place, Member(io.BytesIO(held), 0, len(held))
            else:
                yield place, Member(stream, record + HEADER + at, extent)
    finally:
        if stream is not None:
            stream.close()


def verify(file: EventFile) -> None:
    """Read and verify the records of a file that were passed over whole; what is damaged is reported to it.

    Parameters
    ----------
    file : EventFile
        The file.

    Raises
    ------
    OSError
        If it cannot be opened.
    """
    with file.source.open() as stream:
        for _ in _records(file, stream, sorted(file.unchecked)):
            pass
