"""Event files into rows: every window is verified, decoded and appended."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from tbframe.events import values
from tbframe.events.checksums import wrong_records
from tbframe.events.file_reader import DATA_CHECKSUM, fill, parse_event
from tbframe.events.files import EventFile, Metadata
from tbframe.events.framing import FOOTER, HEADER
from tbframe.events.interning import Interner
from tbframe.events.rows import Rows
from tbframe.events.singly import SingleEvent
from tbframe.events.values import Values
from tbframe.events.windows import WINDOW, Window
from tbframe.events.wire import Bools, Ints

__all__ = ["load"]


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
    for window in fill(files, Window(window_size)):
        _Decoding(window, tags).append_to(rows)
        if progress is not None and window.spans:
            progress(window.spans[-1].file, window.spans[-1].shift + window.have)


class _Single(NamedTuple):
    """An event decoded by itself, and where it stands among the records of the window."""

    key: int
    file: EventFile
    offset: int
    event: SingleEvent


class _Decoding:
    """The records of one window on their way into rows."""

    def __init__(self, window: Window, tags: Interner) -> None:
        self.window, self.tags = window, tags
        self.start, self.length = window.records()
        # For each record: the span it is in, and with it the file and the offset there.
        per_span = window.per_span()
        self.span = np.repeat(np.arange(len(per_span)), per_span)
        self.offset = self.start + np.array([span.shift for span in window.spans], np.int64)[self.span]
        self.number = np.arange(len(self.start))

    def append_to(self, rows: Rows) -> None:
        """Verify, decode and append."""
        self._drop_wrong()
        wall_time, step, decoded, odd = values.decode(self.window.buffer, self.start, self.length, self.tags)
        singles = [_Single(2 * hop.before - 1, hop.file, hop.offset, hop.event) for hop in self.window.hopped]
        singles += self._parse_odd(np.flatnonzero(odd))
        singles.sort(key=lambda single: single.key)
        self._note_times(wall_time, ~odd)
        self._note_metadata(decoded)
        columns = self._columns(wall_time, step, decoded)
        if singles:
            columns = self._merged(columns, 2 * self.number[decoded.record], singles)
        rows.append(**columns)

    def _drop_wrong(self) -> None:
        wrong = wrong_records(self.window.buffer, self.start, self.length)
        for record in np.flatnonzero(wrong).tolist():
            self._report(record, DATA_CHECKSUM)
        if wrong.any():
            self._keep(~wrong)

    def _keep(self, which: Bools) -> None:
        self.start, self.length, self.span = self.start[which], self.length[which], self.span[which]
        self.offset, self.number = self.offset[which], self.number[which]

    def _report(self, record: int, reason: str) -> None:
        file = self.window.spans[self.span[record]].file
        file.report(int(self.offset[record]), HEADER + int(self.length[record]) + FOOTER, reason)
        file.records -= 1

    def _parse_odd(self, odd: Ints) -> list[_Single]:
        view, singles = self.window.buffer.view, []
        for record in odd.tolist():
            begin = int(self.start[record]) + HEADER
            try:
                event = parse_event(view[begin : begin + int(self.length[record])].tobytes())
            except ValueError as error:
                self._report(record, str(error))
                continue
            file = self.window.spans[self.span[record]].file
            singles.append(_Single(2 * int(self.number[record]), file, int(self.offset[record]), event))
        return singles

    def _note_times(self, wall_time: np.ndarray, sound: Bools) -> None:
        """Widen the times of the files by those of the records decoded as arrays."""
        wall_time, span = wall_time[sound], self.span[sound]
        known = ~np.isnan(wall_time)
        wall_time, span = wall_time[known], span[known]
        if not len(span):
            return
        first = np.flatnonzero(np.diff(span, prepend=-1))
        lows, highs = np.minimum.reduceat(wall_time, first), np.maximum.reduceat(wall_time, first)
        for which, low, high in zip(span[first].tolist(), lows.tolist(), highs.tolist(), strict=True):
            _widen(self.window.spans[which].file, low, high)

    def _note_metadata(self, decoded: Values) -> None:
        """Keep the first metadata of each tag in each file; nearly all that come are repetitions."""
        having = np.flatnonzero(decoded.metadata_size >= 0)
        if not len(having):
            return
        span = self.span[decoded.record[having]]
        bounds = [0, *(np.flatnonzero(np.diff(span)) + 1).tolist(), len(span)]
        for begin, end in itertools.pairwise(bounds):
            file = self.window.spans[span[begin]].file
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
        codes = np.array([span.file.code for span in self.window.spans], np.int32)
        return {
            "file": codes[self.span[record]],
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
                keys.append(single.key)
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
