"""What is known of one event file: how far it has been read, what was found on the way."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tbframe.storage import Fingerprint, Source

__all__ = ["Damage", "EventFile", "Metadata"]


class Damage(NamedTuple):
    """A stretch of a file that could not be read."""

    offset: int
    """Where it begins, in bytes."""
    passed_over: int
    """How many bytes were passed over; 0 where only a checksum was wrong and the data are right."""
    reason: str


class Metadata(NamedTuple):
    """The first SummaryMetadata of a tag in a file."""

    offset: int
    """Of the record it came in."""
    content: bytes
    """The serialized message."""


@dataclass(eq=False)
class EventFile:
    """One event file of a run."""

    source: Source
    run: str
    code: int
    """Its number among all files of the logdir; the rows carry it."""
    offset: int = 0
    """Where reading goes on: everything before was taken or passed over."""
    fingerprint: Fingerprint | None = None
    edge: bytes = b""
    """The last bytes before `offset`: a file whose bytes there change was not appended to but rewritten."""
    size: int = 0
    records: int = 0
    truncated: bool = False
    """Whether it ends in the middle of a record."""
    damage: list[Damage] = field(default_factory=list)
    """By offset, whatever the order in which it was met."""
    dead_end: bool = False
    """Whether the last damage reaches to the end, so that it is looked at again when the file grows."""
    unchecked: set[int] = field(default_factory=set)
    """Offsets of records passed over whole, whose data checksum was not verified."""
    starts: list[tuple[int, int]] = field(default_factory=list)
    """Offset and step of every SessionLog.START."""
    versions: list[tuple[int, float]] = field(default_factory=list)
    """Offset and number of every version record."""
    metadata: dict[int, Metadata] = field(default_factory=dict)
    """By code of the tag."""
    with_metadata: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    """For each tag code whether `metadata` has it."""
    first_time: float = math.inf
    """The lowest and highest wall time of its events, in seconds since the epoch."""
    last_time: float = -math.inf
    verified_tags: set[bytes] = field(default_factory=set)
    """Tags of large records with metadata, one record of each was verified."""
    error: str = ""
    """Why it could not be opened or read on."""

    @property
    def path(self) -> str:
        """Its path or URL."""
        return self.source.path

    def report(self, offset: int, passed_over: int, reason: str) -> None:
        """Note damage.

        Parameters
        ----------
        offset, passed_over : int
            Where it begins, and how many bytes it has.
        reason : str
            What is wrong.
        """
        bisect.insort(self.damage, Damage(offset, passed_over, reason))

    def report_once(self, offset: int, passed_over: int, reason: str) -> None:
        """Note damage that another reader may have met before.

        Parameters
        ----------
        offset, passed_over, reason
            See `report`.
        """
        if not any(damage.offset == offset for damage in self.damage):
            self.report(offset, passed_over, reason)

    def knows_metadata(self, tags: int) -> np.ndarray:
        """Return, for each of so many tag codes, whether metadata are known.

        Parameters
        ----------
        tags : int
            How many codes there are.

        Returns
        -------
        ndarray of bool, shape (at least tags,)
            To be written to as well.
        """
        if len(self.with_metadata) < tags:
            grown = np.zeros(max(tags, 2 * len(self.with_metadata)), bool)
            grown[: len(self.with_metadata)] = self.with_metadata
            self.with_metadata = grown
        return self.with_metadata

    def was_replaced(self) -> bool:
        """Tell whether the file is another one than that which was read: shorter, rewritten, or moved here."""
        if not self.offset or self.error:
            return False
        try:
            with self.source.open() as stream:
                if self.source.size(stream) < self.offset or self.source.fingerprint(stream) != self.fingerprint:
                    return True
                stream.seek(self.offset - len(self.edge))
                return stream.read(len(self.edge)) != self.edge
        except OSError:
            return False  # reading on will say what is wrong

    def expected_size(self) -> int:
        """Return the present size in bytes, 0 if it cannot be told."""
        try:
            return self.source.present_size()
        except OSError:
            return 0

    def has_news(self) -> bool:
        """Tell whether there is something to read."""
        return not self.fingerprint or self.error != "" or self.expected_size() != self.size
