"""Records to one row per summary value: record, step, wall time, tag, what it holds and where that lies.

Every value is classified, whatever its kind, so that no kind needs a second pass over the file.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tbframe.events.interning import Interner
from tbframe.events.numbers import FLOAT, one_element
from tbframe.events.wire import Bools, Buffer, Ints, walk

__all__ = [
    "AUDIO",
    "EMPTY",
    "GRAPH",
    "HISTO",
    "IMAGE",
    "LOG_MESSAGE",
    "META_GRAPH",
    "NOTHING",
    "NUMBER",
    "RUN_METADATA",
    "SESSION_LOG",
    "SIMPLE",
    "TENSOR",
    "VERSION",
    "Values",
    "decode",
    "place_of_index",
]

# What a row holds: the field number of the member of Summary.Value ...
NOTHING: Final = 0
SIMPLE: Final = 2
OLD_HISTOGRAM: Final = 3
IMAGE: Final = 4
HISTO: Final = 5
AUDIO: Final = 6
TENSOR: Final = 8
NUMBER: Final = 18
"""A tensor that is one number: the row has its value."""
# ... or 64 plus that of the member of Event.
VERSION: Final = 64 + 3
GRAPH: Final = 64 + 4
EMPTY: Final = 64 + 5
"""A summary without a value. It counts where TensorBoard compares the steps of successive summaries."""
LOG_MESSAGE: Final = 64 + 6
SESSION_LOG: Final = 64 + 7
RUN_METADATA: Final = 64 + 8
META_GRAPH: Final = 64 + 9


def place_of_index(index: int) -> int:
    """Give the `at` of a value whose place is unknown: it is read through protobuf, by its number in the event.

    Parameters
    ----------
    index : int
        The number of the value in its event, or what `place_of_index` returned for it: the function is its own inverse.

    Returns
    -------
    int
        A negative number, or the number of the value.
    """
    return -1 - index


class Values(NamedTuple):
    """Rows in the order written: columns of one length."""

    record: Ints
    """Which record."""
    tag: npt.NDArray[np.int32]
    """Code of the tag."""
    what: npt.NDArray[np.uint8]
    """What the row holds, one of the constants of this module."""
    dtype: npt.NDArray[np.uint8]
    """Number of the tensor's dtype, see `numbers`."""
    number: npt.NDArray[np.float64]
    """The value of SIMPLE and NUMBER rows, else 0."""
    at: npt.NDArray[np.int32]
    """Where the member's bytes start in the record's payload; negative: see `place_of_index`."""
    extent: npt.NDArray[np.int32]
    """How many bytes the member has."""
    metadata_at: Ints
    """Where the metadata start in the buffer."""
    metadata_size: Ints
    """How many bytes the metadata have; -1 without."""

    def where(self, rows: Bools) -> Values:
        """Return some of the rows.

        Parameters
        ----------
        rows : ndarray of bool, shape (n,)
            Which.

        Returns
        -------
        Values
            These.
        """
        return Values(*(column[rows] for column in self))  # type: ignore[arg-type]  # columns of several dtypes


def decode(
    buffer: Buffer, start: Ints, length: Ints, tags: Interner, known: Ints | None = None
) -> tuple[npt.NDArray[np.float64], Ints, Values, Bools]:
    """Decode records.

    Parameters
    ----------
    buffer : Buffer
        Where they lie.
    start, length : ndarray of int64, shape (n,)
        Where each record starts, and the length of its payload.
    tags : Interner
        Numbers the tags.
    known : ndarray of int64, shape (n,), optional
        Up to where the bytes of each record are there, see `wire.walk`. Default: they are whole.

    Returns
    -------
    wall_time : ndarray of float64, shape (n,)
        Seconds since the epoch, of each record.
    step : ndarray of int64, shape (n,)
        Of each record.
    values : Values
        The rows of the records that are not odd.
    odd : ndarray of bool, shape (n,)
        The records that are left to protobuf: rare shapes, layouts that few share, events without a summary.
    """
    n = len(start)
    odd = np.zeros(n, bool)
    wall_time, step = np.zeros(n), np.zeros(n, np.int64)
    summary_at, summary_size = np.zeros(n, np.int64), np.full(n, -1)
    payload = start + 12
    for key, ids, at, size in walk(buffer, payload, payload + length, odd, known):
        if key == 0x09:
            wall_time[ids] = buffer.f8[at]
        elif key == 0x10:
            step[ids] = at
        elif key == 0x2A:
            odd[ids[summary_size[ids] >= 0]] = True  # two summaries are merged
            summary_at[ids], summary_size[ids] = at, size
        elif key in _OTHER_MEMBERS:
            odd[ids] = True
    owner, value_at, value_end = _split_summaries(buffer, summary_at, summary_size, odd, known)
    known_values = None if known is None else known[owner]
    values, odd_values = _decode_values(buffer, value_at, value_end, tags, known_values)
    values = values._replace(
        record=owner, at=np.where(values.what == NOTHING, 0, values.at - payload[owner]).astype(np.int32)
    )
    if odd_values.any():
        odd[owner[odd_values]] = True
    if odd.any():
        sound = ~odd[values.record]
        values = values.where(sound)
    return wall_time, step, values, odd


_OTHER_MEMBERS: Final = frozenset(field << 3 | 2 for field in (3, 4, 6, 7, 8, 9))
"""The members of Event other than a summary: few in any log."""


def _split_summaries(buffer: Buffer, at: Ints, size: Ints, odd: Bools, known: Ints | None) -> tuple[Ints, Ints, Ints]:
    """Find the values in the summaries: the record of each, its start and its end."""
    owners = np.flatnonzero((size >= 0) & ~odd)
    bad = np.zeros(len(owners), bool)
    begin = at[owners]
    parts = [
        (field.ids, field.at, field.size)
        for field in walk(buffer, begin, begin + size[owners], bad, None if known is None else known[owners])
        if field.key == 0x0A
    ]
    if not parts:
        odd[owners] = True
        return owners[:0], owners[:0], owners[:0]
    ids, start, length = (
        parts[0] if len(parts) == 1 else (np.concatenate(column) for column in zip(*parts, strict=True))
    )
    if len(parts) > 1:
        order = np.argsort(start, kind="stable")
        ids, start, length = ids[order], start[order], length[order]
    bad |= np.bincount(ids, minlength=len(owners)) == 0
    odd[owners[bad]] = True
    return owners[ids], start, start + length


def _decode_values(buffer: Buffer, start: Ints, end: Ints, tags: Interner, known: Ints | None) -> tuple[Values, Bools]:
    """Decode values, whose record is not known here; their places are those in the buffer."""
    n = len(start)
    odd = np.zeros(n, bool)
    what = np.zeros(n, np.uint8)
    at, extent = np.zeros(n, np.int64), np.zeros(n, np.int64)
    tag_at, tag_size = np.zeros(n, np.int64), np.zeros(n, np.int64)
    metadata_at, metadata_size = np.zeros(n, np.int64), np.full(n, -1)
    for key, ids, place, size in walk(buffer, start, end, odd, known):
        if key == 0x0A:
            tag_at[ids], tag_size[ids] = place, size
        elif key in _MEMBERS:
            odd[ids[what[ids] != 0]] = True  # of two members the last wins, of two equal ones they are merged
            what[ids] = key >> 3
            at[ids], extent[ids] = place, size if len(size) else 4
        elif key == 0x4A:
            odd[ids[metadata_size[ids] >= 0]] = True
            metadata_at[ids], metadata_size[ids] = place, size
    if known is not None:
        odd |= (tag_at + tag_size > known) | (metadata_at + metadata_size > known)
    number, dtype = np.zeros(n), np.zeros(n, np.uint8)
    simple = what == SIMPLE
    if simple.all():
        with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
            number[:] = buffer.f4[at]
        dtype[:] = FLOAT
    else:
        with np.errstate(invalid="ignore"):
            number[simple] = buffer.f4[at[simple]]
        dtype[simple] = FLOAT
        rows = np.flatnonzero((what == TENSOR) & ~odd)
        if len(rows):
            bad = np.zeros(len(rows), bool)
            found = one_element(buffer, at[rows], extent[rows], bad, None if known is None else known[rows])
            odd[rows[bad]] = True
            number[rows], dtype[rows] = found.number, found.dtype
            what[rows[found.single]] = NUMBER
    codes = tags.codes(buffer, tag_at, np.where(odd, 0, tag_size) if odd.any() else tag_size)
    return Values(start, codes, what, dtype, number, at, extent.astype(np.int32), metadata_at, metadata_size), odd  # type: ignore[arg-type]


_MEMBERS: Final = frozenset(
    (SIMPLE << 3 | 5, *(field << 3 | 2 for field in (OLD_HISTOGRAM, IMAGE, HISTO, AUDIO, TENSOR)))
)
