"""TFRecord framing: where the records in a buffer start, with both checksums; where the next whole one after damage is.

Each record starts where the last one ends, which looks serial. It need not be: places are proposed where a header and the
beginning of an Event may be, those whose length has the checksum that is stored are kept, and then the chain is verified for
all of them at once. A verified chain from a known start is exactly the serial answer; where it breaks, one header is read and
the chain is joined again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, NamedTuple

import google_crc32c
import numpy as np

from tbframe.events.checksums import length_checksums, masked
from tbframe.events.wire import Buffer, Ints

__all__ = ["FOOTER", "HEADER", "LONGEST", "Framing", "frame", "next_record"]

HEADER: Final = 12
FOOTER: Final = 4
LONGEST: Final = 2**31 - 1
"""No protobuf message is longer; a greater length is damage even if its checksum fits."""

_LONG: Final = 300
"""Above so many bytes a record, walking from header to header costs less than scanning every byte."""
_SHORT: Final = 1 << 12
"""Up to so many bytes, arrays cost more than they save."""
_SAMPLE: Final = 8
_FIRST_BLOCK: Final = 1 << 12
_LAST_BLOCK: Final = 1 << 20
"""So many bytes are searched at a time: few at first, because where one byte is wrong the next record is near."""
_header = struct.Struct("<QI").unpack_from
_checksum_of: dict[int, int] = {}
"""Of lengths met before; they are few."""


class Framing(NamedTuple):
    """The whole records found in a stretch of a buffer."""

    start: Ints
    length: Ints
    end: int
    """Where the next header should be, or go on."""
    bad: bool
    """Whether what stands there is no header."""


def _is_header(buffer: Buffer, at: int, length: int, stored: int) -> bool:
    """Tell whether a length may be, and its checksum is right."""
    right = length <= LONGEST and masked(google_crc32c.value(buffer.view[at : at + 8].tobytes())) == stored
    if right and len(_checksum_of) < 1 << 16:
        _checksum_of[length] = stored
    return right


def frame(buffer: Buffer, at: int, end: int, trusted: int = -1) -> Framing:
    """Find the whole records that follow one another in a stretch of a buffer.

    Parameters
    ----------
    buffer : Buffer
        Holds the bytes.
    at, end : int
        The stretch; a header is at its beginning.
    trusted : int
        A place whose header is taken though the checksum of its length is wrong; -1 for none.

    Returns
    -------
    Framing
        Up to the first record that the stretch does not hold whole, or to the first place without a header.
    """
    if end - at <= _SHORT:
        walked, sizes, at, bad = _step(buffer, at, end, trusted, _SHORT)
        return Framing(np.array(walked, np.int64), np.array(sizes, np.int64), at, bad)
    starts: list[Ints] = []
    lengths: list[Ints] = []
    proposals = None
    bad = False
    while end - at >= HEADER:
        most = _SAMPLE if proposals is None else 1
        walked, sizes, at, bad = _step(buffer, at, end, trusted, most)
        starts.append(np.array(walked, np.int64))
        lengths.append(np.array(sizes, np.int64))
        if bad or len(walked) < most:
            break
        if proposals is None:
            if sum(sizes) > _LONG * len(sizes):
                continue
            proposals = _propose(buffer, at, end)
        first, last = proposals.chain(at)
        if last > first:
            starts.append(proposals.start[first:last])
            lengths.append(proposals.length[first:last])
            at = int(proposals.after[last - 1])
    return Framing(_joined(starts), _joined(lengths), at, bad)


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _step(buffer: Buffer, at: int, end: int, trusted: int, most: int) -> tuple[list[int], list[int], int, bool]:
    """Walk from header to header."""
    starts: list[int] = []
    sizes: list[int] = []
    while len(starts) < most and end - at >= HEADER:
        length, stored = _header(buffer.view, at)
        if _checksum_of.get(length) != stored and not _is_header(buffer, at, length, stored) and at != trusted:
            return starts, sizes, at, True
        after = at + HEADER + length + FOOTER
        if after > end:
            break
        starts.append(at)
        sizes.append(length)
        at = after
    return starts, sizes, at, False


class _Proposals(NamedTuple):
    """Places in a stretch where whole records with a right length checksum may start, ascending."""

    start: Ints
    length: Ints
    after: Ints
    breaks: Ints
    """The proposals that are not followed, at their end, by the next proposal."""

    def chain(self, at: int) -> tuple[int, int]:
        """Return the range of the proposals that follow one another from a place on."""
        first = int(np.searchsorted(self.start, at))
        if first == len(self.start) or self.start[first] != at:
            return 0, 0
        return first, int(self.breaks[np.searchsorted(self.breaks, first)]) + 1


def _propose(buffer: Buffer, at: int, end: int) -> _Proposals:
    data = buffer.bytes
    n = max(end - at - HEADER - FOOTER + 1, 0)
    # Payloads that open with a wall time; others are walked.
    start = np.flatnonzero(data[at + HEADER : at + HEADER + n] == 9)
    start += at
    header = buffer.gather(start, 2)
    fits = header[:, 0] <= np.minimum(end - HEADER - FOOTER - start, LONGEST).astype(np.uint64)
    start, stored = start[fits], header[fits, 1].astype(np.uint32)
    length = header[fits, 0].astype(np.int64)
    sound = length_checksums(length) == stored
    if not sound.all():
        start, length = start[sound], length[sound]
    after = start + (HEADER + FOOTER) + length
    broken = np.ones(len(start), bool)
    np.not_equal(after[:-1], start[1:], out=broken[:-1])
    return _Proposals(start, length, after, np.flatnonzero(broken))


def next_record(read: Callable[[int, int], bytes], at: int, size: int, most: int) -> int | None:
    """Find the next place in a file at which a whole record with both checksums starts.

    Parameters
    ----------
    read : callable
        ``read(at, n)`` gives n bytes of the file.
    at : int
        Where the search begins, in bytes from the beginning of the file.
    size : int
        The size of the file in bytes.
    most : int
        How many bytes to search at most.

    Returns
    -------
    int or None
        The place, None if there is none.
    """
    block = _FIRST_BLOCK
    stop = min(size - HEADER - FOOTER, at + most)
    while at <= stop:
        buffer = Buffer(block + HEADER)
        data = read(at, block + HEADER)
        buffer.view[: len(data)] = data
        n = min(len(data) - HEADER, stop - at) + 1
        places = np.flatnonzero(buffer.u4[4 : 4 + n] == 0) if n > 0 else np.zeros(0, np.int64)
        length = buffer.u4[places].astype(np.int64)
        fits = (length <= min(LONGEST, size)) & (length_checksums(length) == buffer.u4[places + 8])
        for place, claimed in zip((places[fits] + at).tolist(), length[fits].tolist(), strict=True):
            if whole_record(read, place, claimed, size):
                return int(place)
        at += max(n, 1)
        block = min(4 * block, _LAST_BLOCK)
    return None


def whole_record(read: Callable[[int, int], bytes], at: int, length: int, size: int) -> bool:
    """Tell whether a record with the right data checksum lies at a place.

    Parameters
    ----------
    read : callable
        ``read(at, n)`` gives n bytes of the file.
    at : int
        Where the record starts.
    length : int
        The length of its payload. Nothing is read, or allocated, of what the file cannot hold.
    size : int
        The size of the file.

    Returns
    -------
    bool
        Whether it does.
    """
    if not 0 <= length <= min(LONGEST, size - at - HEADER - FOOTER):
        return False
    data = read(at + HEADER, length + FOOTER)
    stored = int.from_bytes(data[length:], "little")
    return len(data) == length + FOOTER and masked(google_crc32c.value(data[:length])) == stored
