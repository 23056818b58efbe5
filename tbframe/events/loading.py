"""Event files into rows: every window is verified, decoded and appended."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import BinaryIO, Final, NamedTuple

import numpy as np

from tbframe.events import values
from tbframe.events.checksums import wrong_records
from tbframe.events.file_reader import fill
from tbframe.events.files import EventFile, Metadata
from tbframe.events.framing import FOOTER, HEADER
from tbframe.events.interning import Interner
from tbframe.events.large import DATA_CHECKSUM, parse_event, read_large
from tbframe.events.rows import Rows
from tbframe.events.singly import SingleEvent
from tbframe.events.values import Values
from tbframe.events.windows import WINDOW, Window
from tbframe.events.wire import Bools, Ints

__all__ = ["load"]

_KEEP_PAGES: Final = (1 << 25) - (1 << 16)
"""Just below the greatest block of which glibc learns."""
_MOST_EXPECTED: Final = 1 << 22


def load(
    files: Iterable[EventFile],
    rows: Rows,
    tags: Interner,
    *,
    window_size: int = WINDOW,
    progress: Callable[[EventFile, int], None] | None = None,
) -> None:
    """Read what is new in event files.

    Parameters
    ----------
    files : iterable of EventFile
        In the order in which their rows are to stand. They are brought up to date.
    rows : Rows
        The new rows are appended.
    tags : Interner
        Numbers the tags.
    window_size : int
        Bytes read and decoded at a time.
    progress : callable, optional
        Called after every window with its last file and how far that has been read, in bytes.
    """
    files = list(files)
    unread = sum(file.expected_size() - file.offset for file in files)
    if unread > _KEEP_PAGES:
        # Freed at once: from then on the allocator keeps pages that are freed for the arrays to come.
        np.empty(_KEEP_PAGES, np.uint8)
    for window in fill(files, Window(window_size)):
        first = not rows.count
        _Decoding(window, tags).append_to(rows)
        if first:
            rows.expect(min(int(1.1 * unread / max(window.have, 1) * rows.count), _MOST_EXPECTED))
        if progress is not None and window.spans:
            progress(window.spans[-1].file, window.spans[-1].shift + window.have)


class _Single(NamedTuple):
    """An event decoded by itself, and the number of its record in the window."""

    record: int
    file: EventFile
    offset: int
    event: SingleEvent


class _Decoding:
    """The records of one window on their way into rows."""

    def __init__(self, window: Window, tags: Interner) -> None:
        self.window, self.tags = window, tags
        self.start, self.length = window.records()
        self.known: Ints | None = None
        """Up to where the bytes of each record are there, if not all of them are whole."""
        if window.heads:
            self.known = np.full(len(self.start), np.iinfo(np.int64).max)
            self.known[list(window.heads)] = list(window.heads.values())
        # For each record its file, by place among those of the window, and its offset there.
        self.files = list(dict.fromkeys(span.file for span in window.spans))
        place = {file: i for i, file in enumerate(self.files)}
        per_span = window.per_span()
        self.file = np.repeat([place[span.file] for span in window.spans], per_span)
        self.offset = self.start + np.repeat([span.shift for span in window.spans], per_span)

    def append_to(self, rows: Rows) -> None:
        """Verify, decode and append."""
        self._drop_wrong()
        buffer = self.window.buffer
        wall_time, step, decoded, odd = values.decode(buffer, self.start, self.length, self.tags, self.known)
        if self.known is not None:
            decoded = self._without_needed(decoded, odd)
        singles = self._parse_odd(np.flatnonzero(odd))
        self._note_times(wall_time, ~odd)
        self._note_metadata(decoded)
        columns = self._columns(wall_time, step, decoded)
        if singles:
            columns = self._merged(columns, decoded.record, singles)
        rows.append(**columns)

    def _drop_wrong(self) -> None:
        """Report and forget the records with a wrong checksum. Heads have none."""
        if self.known is None:
            wrong = wrong_records(self.window.buffer, self.start, self.length)
        else:
            wrong = np.zeros(len(self.start), bool)
            whole = np.ones(len(self.start), bool)
            whole[list(self.window.heads)] = False
            wrong[whole] = wrong_records(self.window.buffer, self.start[whole], self.length[whole])
        if not wrong.any():
            return
        for record in np.flatnonzero(wrong).tolist():
            self._report(record, DATA_CHECKSUM)
        self.start, self.length, self.file = self.start[~wrong], self.length[~wrong], self.file[~wrong]
        self.offset = self.offset[~wrong]
        if self.known is not None:
            self.known = self.known[~wrong]

    def _report(self, record: int, reason: str) -> None:
        file = self.files[self.file[record]]
        file.report(int(self.offset[record]), HEADER + int(self.length[record]) + FOOTER, reason)
        file.records -= 1

    def _without_needed(self, decoded: Values, odd: Bools) -> Values:
        """Leave heads that hold something that scalars need to those who verify them."""
        assert self.known is not None
        head = np.flatnonzero(self.known[decoded.record] < np.iinfo(np.int64).max)
        what = decoded.what[head]
        needed = head[(what == values.SIMPLE) | (what == values.NUMBER)].tolist()
        for row in head[decoded.metadata_size[head] >= 0].tolist():
            tag = self.tags.names[decoded.tag[row]]
            if tag not in self.files[self.file[decoded.record[row]]].verified_tags:
                needed.append(row)
        odd[decoded.record[needed]] = True
        return decoded.where(~odd[decoded.record])

    def _parse_odd(self, odd: Ints) -> list[_Single]:
        view, singles = self.window.buffer.view, []
        with ExitStack() as stack:
            streams: dict[int, BinaryIO] = {}
            for record in odd.tolist():
                begin, length, offset = (
                    int(self.start[record]) + HEADER,
                    int(self.length[record]),
                    int(self.offset[record]),
                )
                which = int(self.file[record])
                file = self.files[which]
                event: SingleEvent | None = None
                if self.known is not None and self.known[record] < begin + length:
                    try:
                        if which not in streams:
                            streams[which] = stack.enter_context(file.source.open())
                        event = read_large(file, streams[which], offset, length)
                    except OSError as error:  # the file is gone, or its disk
                        self._report(record, f"cannot be read: {error.strerror or error}")
                else:
                    try:
                        event = parse_event(view[begin : begin + length].tobytes())
                    except ValueError as error:
                        self._report(record, str(error))
                if event is not None:
                    singles.append(_Single(record, file, offset, event))
        return singles

    def _note_times(self, wall_time: np.ndarray, sound: Bools) -> None:
        """Widen the times of the files by those of the records decoded as arrays."""
        sound &= ~np.isnan(wall_time)
        wall_time, which = wall_time[sound], self.file[sound]
        if not len(which):
            return
        first = np.flatnonzero(np.diff(which, prepend=-1))
        lows, highs = np.minimum.reduceat(wall_time, first), np.maximum.reduceat(wall_time, first)
        for place, low, high in zip(which[first].tolist(), lows.tolist(), highs.tolist(), strict=True):
            _widen(self.files[place], low, high)

    def _note_metadata(self, decoded: Values) -> None:
        """Keep the first metadata of each tag in each file; nearly all that come are repetitions."""
        having = np.flatnonzero(decoded.metadata_size >= 0)
        if not len(having):
            return
        which = self.file[decoded.record[having]]
        bounds = [0, *(np.flatnonzero(np.diff(which)) + 1).tolist(), len(which)]
        for begin, end in itertools.pairwise(bounds):
            file = self.files[which[begin]]
            rows = having[begin:end]
            rows = rows[~file.knows_metadata(len(self.tags))[decoded.tag[rows]]]
            for row in rows[np.unique(decoded.tag[rows], return_index=True)[1]].tolist():
                at, size = int(decoded.metadata_at[row]), int(decoded.metadata_size[row])
                content = self.window.buffer.view[at : at + size].tobytes()
                _note(
                    file,
                    int(decoded.tag[row]),
                    Metadata(int(self.offset[decoded.record[row]]), content),
                    len(self.tags),
                )

    def _columns(self, wall_time: np.ndarray, step: Ints, decoded: Values) -> dict[str, np.ndarray]:
        record = decoded.record
        codes = np.array([file.code for file in self.files], np.int32)
        return {
            "file": codes[self.file[record]],
            "record": self.offset[record],
            "step": step[record],
            "wall_time": wall_time[record],
            "number": decoded.number,
            "tag": decoded.tag,
            "what": decoded.what,
            "dtype": decoded.dtype,
            "at": decoded.at,
            "extent": decoded.extent,
        }

    def _merged(self, columns: dict[str, np.ndarray], key: Ints, singles: list[_Single]) -> dict[str, np.ndarray]:
        """Put the rows of single events where they belong among the others."""
        keys: list[int] = []
        extra: dict[str, list[float]] = {name: [] for name in columns}
        for single in singles:
            for row in self._note_single(single):
                keys.append(single.record)
                for name, value in zip(extra, row, strict=True):
                    extra[name].append(value)
        order = np.argsort(np.concatenate([key, np.array(keys, np.int64)]), kind="stable")
        return {
            name: np.concatenate([column, np.array(extra[name], column.dtype)])[order]
            for name, column in columns.items()
        }

    def _note_single(self, single: _Single) -> Iterable[tuple[float, ...]]:
        """Bring the file up to date with one event, and give its rows, in the order of the columns."""
        file, event = single.file, single.event
        _widen(file, event.wall_time, event.wall_time)
        if event.version is not None:
            file.versions.append((single.offset, event.version))
        if event.starts:
            file.starts.append((single.offset, event.step))
        for row in event.rows:
            tag = self.tags.code(row.tag)
            if row.metadata is not None:
                _note(file, tag, Metadata(single.offset, row.metadata), len(self.tags))
            yield (
                file.code, single.offset, event.step, event.wall_time, row.number,
                tag, row.what, row.dtype, row.at, row.extent,
            )  # fmt: skip


def _widen(file: EventFile, low: float, high: float) -> None:
    # Comparisons with NaN are false: such a time is no time.
    if low < file.first_time:
        file.first_time = low
    if high > file.last_time:
        file.last_time = high


def _note(file: EventFile, tag: int, metadata: Metadata, tags: int) -> None:
    known = file.metadata.get(tag)
    if known is None or metadata.offset < known.offset:
        file.metadata[tag] = metadata
        file.knows_metadata(tags)[tag] = True
