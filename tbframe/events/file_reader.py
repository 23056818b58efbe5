"""One file into the window: reading on, passing over large payloads, going on after damage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

import google_crc32c

from tbframe.events import singly, through_protobuf, values
from tbframe.events.checksums import masked
from tbframe.events.files import EventFile
from tbframe.events.framing import FOOTER, HEADER, LONGEST, frame, next_record, whole_record
from tbframe.events.windows import Hopped, Window

__all__ = ["DATA_CHECKSUM", "FileReader", "fill", "parse_event"]

DATA_CHECKSUM: Final = "the data checksum of a record does not match"
_LENGTH_CHECKSUM: Final = "the length checksum of a record does not match"

_FIRST_READ: Final = 1 << 16
_READ_AFTER_HOP: Final = 1 << 12
_BLOCK: Final = 1 << 10
_EDGE: Final = 16
_SEARCH: Final = 1 << 24
"""So far a file without one good record, and a cut tail, are searched for one."""


class FileReader:
    """Read one file on from its offset.

    Parameters
    ----------
    window : Window
        Receives the records.
    file : EventFile
        Is brought up to date.
    stream : BinaryIO
        The open file.
    """

    def __init__(self, window: Window, file: EventFile, stream: BinaryIO) -> None:
        self.window, self.file, self.stream = window, file, stream
        self.size = file.source.size(stream)
        self.at = window.have
        """Place of the next header in the buffer."""
        self.shift = 0
        self.trusted = -1
        """Offset of a record whose length is right though its checksum is not."""
        self.chunk = _FIRST_READ
        if file.dead_end:  # perhaps the file has grown into something good
            file.damage.pop()
            file.dead_end = False
        self._go_on_at(file.offset)

    @property
    def offset(self) -> int:
        """Offset of the next header in the file."""
        return self.at + self.shift

    def fill(self) -> Iterator[None]:
        """Fill the window, as often as the file does.

        Yields
        ------
        None
            When the window is to be decoded and cleared.
        """
        window = self.window
        more = True
        while more:
            if window.room < window.buffer.capacity // 4:
                if not window.empty:
                    yield
                window.carry(self.at)
                self._place(0)
            got = self.stream.readinto(window.buffer.view[window.have : window.have + min(self.chunk, window.room)])  # type: ignore[attr-defined]
            window.have += got or 0
            more = (bool(got) and self._frame()) or self._search_tail()
        self._finish()

    def _place(self, at: int) -> None:
        """Note that the next header is now at another place in the buffer."""
        self.shift += self.at - at
        self.at = at
        self.window.begin_span(self.file, self.shift)

    def _go_on_at(self, offset: int) -> None:
        """Go on reading at another offset; what was read beyond the last record is forgotten."""
        self.stream.seek(offset)
        self.window.have = self.at
        self.shift = offset - self.at
        self.window.begin_span(self.file, self.shift)

    def _pread(self, offset: int, n: int) -> bytes:
        """Read elsewhere; the caller goes on with `_go_on_at` or has read to the end."""
        self.stream.seek(offset)
        return self.stream.read(n)

    def _frame(self) -> bool:
        """Find the records in what was read. False if the file has no more for now."""
        window = self.window
        while True:
            framing = frame(window.buffer, self.at, window.have, self.trusted - self.shift)
            window.add(framing.start, framing.length)
            self.file.records += len(framing.start)
            self.at = framing.end
            if not framing.bad:
                break
            if not self._resynchronise():
                return False
        if window.have - self.at >= HEADER:
            length = int(window.buffer.u8[self.at])
            if length > window.hop:
                self.chunk = _READ_AFTER_HOP
                return self._hop(length)
        self.chunk = min(self.chunk * 4, window.buffer.capacity)
        return True

    def _hop(self, length: int) -> bool:
        """Pass over a large record, of which only the keys are read. False if the file does not hold it whole."""
        start, after = self.offset, self.offset + HEADER + length + FOOTER
        if after > self.size:
            self.size = self.file.source.size(self.stream)
            if after > self.size:
                return False
        try:
            event = singly.parse(self._payload_reader(start + HEADER), length)
            needed = self._is_needed(event)
        except singly.Odd:
            needed = True
        if needed:
            verified = self._read_whole(start, length)
        else:
            verified = event
            self.file.unchecked.add(start)
        if verified is not None:
            self.window.hopped.append(Hopped(self.file, start, length, verified, self.window.count))
            self.file.records += 1
        self._go_on_at(after)
        return True

    def _payload_reader(self, offset: int) -> singly.Read:
        """Read a payload where it is asked for: from the buffer, then in small blocks from the file."""
        window, begin = self.window, self.at + HEADER
        blocks: dict[int, bytes] = {}

        def read(at: int, n: int) -> bytes:
            if begin + at + n <= window.have:
                return window.buffer.view[begin + at : begin + at + n].tobytes()
            if n > _BLOCK:
                return self._pread(offset + at, n)
            first = at - at % _BLOCK
            if first not in blocks:
                blocks.clear()
                blocks[first] = self._pread(offset + first, 2 * _BLOCK)
            return blocks[first][at - first : at - first + n]

        return read

    def _is_needed(self, event: singly.SingleEvent) -> bool:
        """Tell whether anything in a record decides about scalars, so that it must be verified."""
        if event.version is not None or event.starts:
            return True
        for row in event.rows:
            if row.what in (values.SIMPLE, values.NUMBER):
                return True
            if row.metadata is not None and row.tag not in self.file.verified_tags:
                self.file.verified_tags.add(row.tag)
                return True
        return False

    def _read_whole(self, start: int, length: int) -> singly.SingleEvent | None:
        """Read and verify a large record. None if it is damaged, which is reported."""
        data = self._pread(start + HEADER, length + FOOTER)
        payload = data[:length]
        if masked(google_crc32c.value(payload)) != int.from_bytes(data[length:], "little"):
            self.file.report(start, HEADER + length + FOOTER, DATA_CHECKSUM)
            return None
        try:
            return parse_event(payload)
        except ValueError as error:
            self.file.report(start, HEADER + length + FOOTER, str(error))
            return None

    def _resynchronise(self) -> bool:
        """Go on after a place where a header should be and is none. False if nothing good follows."""
        start, reason = self.offset, _LENGTH_CHECKSUM
        behind = self._damaged_before()
        if behind is not None:
            start, reason = behind, DATA_CHECKSUM
        else:
            length = int.from_bytes(self._pread(start, 8), "little")
            if whole_record(self._pread, start, length, self.size):
                self.file.report(start, 0, _LENGTH_CHECKSUM + "; the data's does, and they are kept")
                self.trusted = start
                self.stream.seek(self.shift + self.window.have)
                return True
        foreign = self.file.records == 0
        found = next_record(self._pread, start + 1, self.size, _SEARCH if foreign else self.size)
        if found is None:
            self.file.report(start, self.size - start, self._describe(start, reason, foreign))
            self.file.dead_end = True
            self._go_on_at(start)
            return False
        self.file.report(start, found - start, reason)
        self._go_on_at(found)
        return True

    def _search_tail(self) -> bool:
        """Look for whole records in what seems a cut record at the end. False if there are none: the file may still grow.

        Where bytes were lost in the middle of a record, the length in its header leads past good records.
        """
        end = self.offset
        if self.file.dead_end or end >= self.size:
            return False
        behind = self._damaged_before()
        start = end if behind is None else behind
        found = next_record(self._pread, start + 1, self.size, _SEARCH)
        if found is not None:
            self.file.report(start, found - start, DATA_CHECKSUM)
        elif behind is not None:
            self.file.report(start, end - start, DATA_CHECKSUM)
        self._go_on_at(end if found is None else found)
        return found is not None

    def _damaged_before(self) -> int | None:
        """Return where the record before begins if its data are damaged: then its length need not be right either."""
        last = self.window.last()
        if last is not None:
            at, length = last
            if whole_record(self._pread, at + self.shift, length, self.size):
                return None
            self.window.drop_last()
            self.file.records -= 1
            self.at = at
            return self.offset
        if self.file.damage and sum(self.file.damage[-1][:2]) == self.offset:
            return self.file.damage.pop().offset
        hopped = self.window.hopped[-1] if self.window.hopped else None
        if (
            hopped is not None
            and hopped.file is self.file
            and hopped.offset + HEADER + hopped.length + FOOTER == self.offset
        ):
            if whole_record(self._pread, hopped.offset, hopped.length, self.size):
                return None
            self.window.hopped.pop()
            self.file.unchecked.discard(hopped.offset)
            self.file.records -= 1
            return hopped.offset
        return None

    def _describe(self, start: int, reason: str, foreign: bool) -> str:
        """Say what is there instead of records, up to the end of the file."""
        head = self._pread(start, 64)
        if not any(head) and self._zeros_to_the_end(start):
            return "zeros to the end of the file, as an interrupted write or a preallocated file leaves them"
        if not foreign or start:
            length = int.from_bytes(head[:8], "little")
            claim = f"; it claims {length} bytes" if length > LONGEST else ""
            return f"{reason}, and no whole record follows{claim}"
        if head.startswith(b"version https://git-lfs"):
            return "no event file: a Git LFS pointer (`git lfs pull` fetches the file itself)"
        if head.startswith(b"\x1f\x8b"):
            return "no event file: gzip-compressed data (decompress it first)"
        kind = (
            "text"
            if head.isascii()
            and head.decode("ascii").replace("\n", " ").replace("\r", " ").replace("\t", " ").isprintable()
            else "data"
        )
        return f"no event file: it holds {kind} that begins with {head[:24]!r}, and no record"

    def _zeros_to_the_end(self, start: int) -> bool:
        step = 1 << 20
        return not any(any(self._pread(at, step)) for at in range(start, self.size, step))

    def _finish(self) -> None:
        """Bring the file up to date; a cut tail is left for the next time."""
        file = self.file
        tail = self.window.have - self.at
        file.offset = self.offset
        file.size = max(self.size, file.offset + tail)
        file.truncated = file.offset < file.size and not file.dead_end
        self.window.have = self.at
        edge = min(_EDGE, file.offset)
        file.edge = self._pread(file.offset - edge, edge)
        file.fingerprint = file.source.fingerprint(self.stream)


def parse_event(data: bytes) -> singly.SingleEvent:
    """Decode one event, by its keys or through protobuf.

    Parameters
    ----------
    data : bytes
        The payload of a record whose checksum is right.

    Returns
    -------
    SingleEvent
        The event.

    Raises
    ------
    ValueError
        If it is no Event.
    """
    try:
        return singly.parse(lambda at, n: data[at : at + n], len(data))
    except singly.Odd:
        return through_protobuf.parse(data)


def fill(files: Iterable[EventFile], window: Window) -> Iterator[Window]:
    """Read what is new in the files, window by window.

    Parameters
    ----------
    files : iterable of EventFile
        They are read on from their offsets, and brought up to date.
    window : Window
        An empty one; it is filled again and again.

    Yields
    ------
    Window
        The same one, with records to decode.
    """
    for file in files:
        try:
            with file.source.open() as stream:
                for _ in FileReader(window, file, stream).fill():
                    yield window
                    window.clear()
            file.error = ""
        except OSError as error:
            file.error = error.strerror or str(error)
    if not window.empty:
        yield window
    window.clear()
    window.have = 0
