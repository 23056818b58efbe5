"""Many values that were found before in one buffer: read where they lie, verified record by record.

`payloads` gives each value as bytes of its own. Where there are thousands of small ones, of which all that is wanted are the
numbers in them, they stay in the buffer, to be decoded as arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final, NamedTuple

import numpy as np

from tbframe.events import through_protobuf, values
from tbframe.events.checksums import wrong_records
from tbframe.events.files import EventFile
from tbframe.events.framing import FOOTER, HEADER, LONGEST
from tbframe.events.large import DATA_CHECKSUM
from tbframe.events.rows import Rows
from tbframe.events.wire import Buffer, Ints

__all__ = ["Block", "blocks"]

_SIZE: Final = 1 << 21
_NEAR: Final = 1 << 16
"""Records this close to one another are read together."""
_BEHIND: Final = 1 << 9
"""So many bytes are read behind a value: its metadata, and the record's checksum."""


class Block(NamedTuple):
    """Some values in a buffer, which is used again for the next block."""

    places: Ints
    """Which of the values asked for."""
    buffer: Buffer
    at: Ints
    """Where the serialized member of each starts."""
    size: Ints
    """How many bytes it has."""


def blocks(files: Mapping[int, EventFile], rows: Rows, which: Ints, size: int = _SIZE) -> Iterator[Block]:
    """Read some values, as many at a time as a buffer holds.

    Parameters
    ----------
    files : mapping of int to EventFile
        By code. What is found damaged is reported to them.
    rows : Rows
        The table.
    which : ndarray of int64, shape (n,)
        Row numbers, in any order.
    size : int
        Bytes of the buffer; it grows for a record that is longer.

    Yields
    ------
    Block
        Some of the values, ascending in their file. Those whose record is damaged are in none.
    """
    columns = {name: rows[name][which] for name in ("file", "record", "what", "at", "extent")}
    order = np.lexsort((columns["record"], columns["file"]))
    file, record, what, at, extent = (column[order] for column in columns.values())
    first = np.flatnonzero((np.diff(file, prepend=-1) != 0) | (np.diff(record, prepend=-1) != 0))
    counts = np.diff(first, append=len(order))
    ends = record + HEADER + np.maximum(at, 0) + extent + FOOTER + _BEHIND
    wanted = _Records(file[first], record[first], np.maximum.reduceat(ends, first) if len(first) else ends)
    for found in _verified(files, wanted, size):
        counted = counts[found.which]
        local = np.repeat(np.arange(len(found.which)), counted)
        value = np.arange(len(local)) + np.repeat(first[found.which] - (np.cumsum(counted) - counted), counted)
        known = at[value] >= 0
        if not known.all():
            odd = np.flatnonzero(~known)
            yield _through_protobuf(found, order[value[odd]], local[odd], what[value[odd]], at[value[odd]])
            value, local = value[known], local[known]
        begin = at[value].astype(np.int64)
        within = np.minimum(extent[value], found.length[local] - begin)  # never beyond the record that was verified
        yield Block(order[value], found.buffer, found.start[local] + HEADER + begin, within)


class _Records(NamedTuple):
    """Records to be read, ascending in their file."""

    file: Ints
    offset: Ints
    end: Ints
    """Where each probably ends."""


class _Verified(NamedTuple):
    """Whole records in a buffer, whose checksums are right."""

    which: Ints
    buffer: Buffer
    start: Ints
    length: Ints


def _through_protobuf(found: _Verified, places: Ints, local: Ints, what: Ints, at: Ints) -> Block:
    """Lay out values whose place in their record nobody found."""
    view = found.buffer.view
    held = []
    for record, member, index in zip(local.tolist(), what.tolist(), at.tolist(), strict=True):
        begin = int(found.start[record]) + HEADER
        data = view[begin : begin + int(found.length[record])].tobytes()
        held.append(through_protobuf.member_bytes(data, member, values.place_of_index(index)))
    size = np.array([len(data) for data in held], np.int64)
    buffer = Buffer(int(size.sum()))
    buffer.view[: int(size.sum())] = b"".join(held)
    return Block(places, buffer, np.cumsum(size) - size, size)


def _verified(files: Mapping[int, EventFile], wanted: _Records, size: int) -> Iterator[_Verified]:
    """Read records, as many at a time as the buffer holds, and leave out those whose checksum is wrong."""
    filling = _Filling(size)
    code = -1
    stream: BinaryIO | None = None
    ends, stretches = _stretches(wanted)
    try:
        at = 0
        while at < len(wanted.file):
            if wanted.file[at] != code:
                if stream is not None:
                    stream.close()
                code = int(wanted.file[at])
                stream = files[code].source.open()
            assert stream is not None
            taken = filling.read(files[code], stream, wanted.offset[at : stretches[at]], ends[at : stretches[at]], at)
            if not taken and filling.have:
                yield filling.emptied(files, wanted)
            at += taken
    finally:
        if stream is not None:
            stream.close()
    if filling.have:
        yield filling.emptied(files, wanted)


def _stretches(wanted: _Records) -> tuple[Ints, Ints]:
    """Return where each record ends at most, and the number of the record behind the last that lies near it."""
    ends = wanted.end.copy()
    same = wanted.file[1:] == wanted.file[:-1]
    ends[:-1][same] = np.minimum(ends[:-1], wanted.offset[1:])[same]
    breaks = np.flatnonzero(~same | (wanted.offset[1:] - ends[:-1] > _NEAR)) + 1
    bounds = np.append(breaks, len(ends))
    return ends, bounds[np.searchsorted(breaks, np.arange(len(ends)), side="right")]


class _Filling:
    """A buffer that is filled with whole records, and emptied.

    Attributes
    ----------
    have : int
        How many bytes it holds.
    """

    def __init__(self, size: int) -> None:
        self.buffer = Buffer(size)
        self._clear()

    def _clear(self) -> None:
        self.have = 0
        self._which: list[Ints] = []
        self._start: list[Ints] = []
        self._length: list[Ints] = []

    def read(self, file: EventFile, stream: BinaryIO, offset: Ints, end: Ints, number: int) -> int:
        """Read records that lie near one another.

        Parameters
        ----------
        file : EventFile
            The file they are in.
        stream : BinaryIO
            It, open.
        offset, end : ndarray of int64, shape (n,)
            Where each starts, and probably ends.
        number : int
            Of the first of them.

        Returns
        -------
        int
            How many were taken, or found damaged; 0 if the buffer must be emptied first.
        """
        begin = int(offset[0])
        n = int(np.searchsorted(end, begin + self.buffer.capacity - self.have, side="right"))
        if n:
            got = self._read_into(stream, begin, int(end[n - 1]) - begin)
            taken = self._take(offset[:n] - begin + self.have, got, number)
            if taken:
                return taken
        elif self.have:
            return 0
        # The first one is longer than was thought, or than the buffer is; or its header is not what it was.
        length = self._length_at(stream, begin)
        if length is None or begin + HEADER + length + FOOTER > file.source.size(stream):
            file.report_once(begin, int(end[0]) - begin, DATA_CHECKSUM)
            return 1
        whole = HEADER + length + FOOTER
        if self.have + whole > self.buffer.capacity:
            if self.have:
                return 0
            self.buffer = Buffer(whole)
        return self._take(np.array([self.have]), self._read_into(stream, begin, whole), number)

    def _read_into(self, stream: BinaryIO, offset: int, n: int) -> int:
        """Read so many bytes behind those that are there, fewer where the file ends."""
        stream.seek(offset)
        got = 0
        while got < n:
            now = stream.readinto(self.buffer.view[self.have + got : self.have + n])  # type: ignore[attr-defined]
            if not now:
                break
            got += now
        return got

    def _length_at(self, stream: BinaryIO, offset: int) -> int | None:
        stream.seek(offset)
        length = int.from_bytes(stream.read(8), "little")
        return length if length <= LONGEST else None

    def _take(self, start: Ints, got: int, number: int) -> int:
        """Keep the records that were read whole."""
        have = self.have + got
        start = start[start + HEADER <= have]
        length = np.minimum(self.buffer.u8[start], np.uint64(LONGEST + 1)).astype(np.int64)
        whole = start + HEADER + length + FOOTER <= have
        n = len(start) if whole.all() else int(np.argmin(whole))
        if n:
            self._which.append(np.arange(number, number + n))
            self._start.append(start[:n])
            self._length.append(length[:n])
            self.have = int(start[n - 1] + HEADER + length[n - 1] + FOOTER)
        return n

    def emptied(self, files: Mapping[int, EventFile], wanted: _Records) -> _Verified:
        """Verify the records, and empty the buffer; the bytes stay.

        Parameters
        ----------
        files : mapping of int to EventFile
            By code.
        wanted : _Records
            What is read.

        Returns
        -------
        _Verified
            Those that are right. The others are reported.
        """
        which, start, length = (np.concatenate(parts) for parts in (self._which, self._start, self._length))
        wrong = wrong_records(self.buffer, start, length)
        for i in np.flatnonzero(wrong).tolist():
            whole = HEADER + int(length[i]) + FOOTER
            files[int(wanted.file[which[i]])].report_once(int(wanted.offset[which[i]]), whole, DATA_CHECKSUM)
        for code in np.unique(wanted.file[which]).tolist():
            if files[code].unchecked:
                files[code].unchecked.difference_update(wanted.offset[which][wanted.file[which] == code].tolist())
        self._clear()
        good = ~wrong
        return _Verified(which[good], self.buffer, start[good], length[good])
