"""A window: whole records of one or many files in one reused buffer.

Everything stays in the processor's cache, memory use is constant, and any stream that can seek is read by the same code.
Small files share a window. A record that is cut by the end of a window is carried to the front of the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tbframe.events.files import EventFile
from tbframe.events.framing import FOOTER, HEADER
from tbframe.events.wire import Buffer, Ints

__all__ = ["WINDOW", "Span", "Window"]

WINDOW: Final = 1 << 21
"""Bytes of a window: few enough for the processor's cache, enough for thousands of scalars."""
_HOP: Final = 1 << 14


@dataclass(frozen=True)
class Span:
    """Records of one file that lie in the buffer as they lie in the file."""

    file: EventFile
    first: int
    """The number of its first record in the window."""
    shift: int
    """What to add to a place in the buffer to get the offset in the file."""


class Window:
    """A buffer that is filled with records, and emptied.

    Parameters
    ----------
    size : int
        Bytes of the buffer.

    Attributes
    ----------
    buffer : Buffer
        Holds the bytes.
    have : int
        How many it holds.
    hop : int
        Of records longer than this only the head is kept when they do not lie in the buffer whole.
    spans : list of Span
        Ascending; several where the file changes or bytes were passed over.
    heads : dict of int to int
        Of each record of which only the head lies in the buffer: its number, and where the head ends.
    count : int
        How many records lie in the buffer.
    """

    def __init__(self, size: int = WINDOW) -> None:
        self.buffer = Buffer(size)
        self.hop = min(_HOP, size // 2 - HEADER - FOOTER)
        self.have = 0
        self.clear()

    def clear(self) -> None:
        """Forget the records; the bytes stay."""
        self._starts: list[Ints] = []
        self._lengths: list[Ints] = []
        self.count = 0
        self.spans: list[Span] = []
        self.heads: dict[int, int] = {}

    @property
    def room(self) -> int:
        """How many bytes can be read into it."""
        return self.buffer.capacity - self.have

    def begin_span(self, file: EventFile, shift: int) -> None:
        """Say that the records to come are of this file, and lie in it so many bytes further on.

        Parameters
        ----------
        file : EventFile
            The file.
        shift : int
            Offset in the file minus place in the buffer.
        """
        if self.spans and self.spans[-1].first == self.count:
            self.spans.pop()
        self.spans.append(Span(file, self.count, shift))

    def add(self, start: Ints, length: Ints) -> None:
        """Add records of the present span.

        Parameters
        ----------
        start, length : ndarray of int64, shape (n,)
            Where each starts in the buffer, and the length of its payload.
        """
        if len(start):
            self._starts.append(start)
            self._lengths.append(length)
            self.count += len(start)

    def add_head(self, start: int, length: int, end: int) -> None:
        """Add a record of the present span of which only the head lies in the buffer.

        Parameters
        ----------
        start, length : int
            Where it starts in the buffer, and the length of its payload.
        end : int
            Where the head ends.
        """
        self.heads[self.count] = end
        self.add(np.array([start]), np.array([length]))

    def last(self, file: EventFile) -> tuple[int, int, int] | None:
        """Return the last record, if it is of this file.

        Parameters
        ----------
        file : EventFile
            The file.

        Returns
        -------
        start, length, offset : int
            Where it starts in the buffer, the length of its payload, and its offset in the file. None if there is none.
        """
        span = next((span for span in reversed(self.spans) if span.first < self.count), None)
        if span is None or span.file is not file:
            return None
        start, length = int(self._starts[-1][-1]), int(self._lengths[-1][-1])
        return start, length, start + span.shift

    def drop_last(self) -> None:
        """Take the last record back."""
        self._starts[-1], self._lengths[-1] = self._starts[-1][:-1], self._lengths[-1][:-1]
        self.count -= 1
        self.heads.pop(self.count, None)
        while self.spans[-1].first > self.count:  # it was of the span before
            self.spans.pop()
        if not len(self._starts[-1]):
            self._starts.pop()
            self._lengths.pop()

    def records(self) -> tuple[Ints, Ints]:
        """Return start and length of all records."""
        if not self._starts:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return np.concatenate(self._starts), np.concatenate(self._lengths)

    def per_span(self) -> Ints:
        """Return how many records each span has."""
        bounds = np.array([*(span.first for span in self.spans), self.count], np.int64)
        sizes: Ints = bounds[1:] - bounds[:-1]
        return sizes

    def carry(self, at: int) -> None:
        """Move the bytes from a place on to the front.

        Parameters
        ----------
        at : int
            Place in the buffer.
        """
        rest = self.have - at
        self.buffer.bytes[:rest] = self.buffer.bytes[at : self.have].copy()
        self.have = rest
