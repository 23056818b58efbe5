"""One file into the window: reading on, passing over large payloads, going on after damage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from tbframe.events.files import EventFile
from tbframe.events.framing import FOOTER, HEADER, LONGEST, frame, next_record, whole_record
from tbframe.events.large import DATA_CHECKSUM
from tbframe.events.windows import Window

__all__ = ["FileReader", "fill"]

_LENGTH_CHECKSUM: Final = "the length checksum of a record does not match"

_FIRST_READ: Final = 1 << 16
_READ_AFTER_HOP: Final = 1 << 12
_HEAD: Final = 1 << 8
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
        # A large file may begin with images: the first read shows. A small one is read in one go.
        self.chunk = _FIRST_READ if self.size > 4 * _FIRST_READ else max(self.size, 1)
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
                if window.count:
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
            length = int.from_bytes(window.buffer.view[self.at : self.at + 8], "little")
            if length > window.hop:
                self.chunk = _READ_AFTER_HOP
                return self._pass_over(length)
        self.chunk = min(self.chunk * 4, window.buffer.capacity)
        return True

    def _pass_over(self, length: int) -> bool:
        """Keep the head of a large record and pass over the rest. False if the file does not hold it whole."""
        window, start, after = self.window, self.offset, self.offset + HEADER + length + FOOTER
        if after > self.size:
            self.size = self.file.source.size(self.stream)
            if after > self.size:
                return False
        end = self.at + _HEAD
        if window.have < end <= window.buffer.capacity:
            window.have += self.stream.readinto(window.buffer.view[window.have : end])  # type: ignore[attr-defined]
        window.add_head(self.at, length, min(end, window.have))
        self.file.unchecked.add(start)
        self.file.records += 1
        self.at = min(end, window.have)
        self._go_on_at(after)
        return True

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
        last = self.window.last(self.file)
        if last is not None:
            at, length, offset = last
            if offset + HEADER + length + FOOTER != self.offset or whole_record(self._pread, offset, length, self.size):
                return None
            self.window.drop_last()
            self.file.records -= 1
            self.file.unchecked.discard(offset)
            self.at = at
            return offset
        if self.file.damage and sum(self.file.damage[-1][:2]) == self.offset:
            return self.file.damage.pop().offset
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

    def stop(self) -> None:
        """Keep what was found before an error: it must not be read again."""
        self.file.offset = self.offset
        self.window.have = self.at

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
        reader = None
        try:
            with file.source.open() as stream:
                reader = FileReader(window, file, stream)
                for _ in reader.fill():
                    yield window
                    window.clear()
            file.error = ""
        except OSError as error:
            file.error = error.strerror or str(error)
            if reader is not None:
                reader.stop()
    if window.count:
        yield window
    window.clear()
    window.have = 0
