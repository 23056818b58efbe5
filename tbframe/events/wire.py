"""The protobuf wire format over arrays: one field of many messages at a time.

Messages are read by a cursor each. Those whose next key is the same advance together, as arrays; where keys differ the group
splits. The number of Python steps is then the number of distinct layouts, not of messages, and the order of fields, unknown
fields and nested messages need no special case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["FIXED32", "FIXED64", "LENGTH", "VARINT", "Bools", "Buffer", "Field", "Ints", "read_varint", "walk"]

VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
FIXED32: Final = 5

FEW: Final = 32
"""So few messages cost more as arrays than one by one through protobuf."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

_PADDING = 64
_KEY_AND_VARINT = 11
_CONTINUES = np.uint64(0x8080808080808080)


class Buffer:
    """A block of bytes, and over it the numbers that start at any of its bytes.

    Parameters
    ----------
    capacity : int
        How many bytes it holds. Some zero bytes follow them, so that a number may start at the last one.

    Attributes
    ----------
    bytes : ndarray of uint8
        The bytes themselves.
    view : memoryview
        The same, to read into.
    u8, f8, u4, f4 : ndarray
        Element i is the little-endian number of that type that starts at byte i.
    """

    __slots__ = ("bytes", "capacity", "f4", "f8", "u4", "u8", "view")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.bytes = np.zeros(capacity + _PADDING, np.uint8)
        self.view = memoryview(self.bytes)  # type: ignore[arg-type]  # NumPy 2.4 stubs on Python 3.11
        shape = (capacity + _PADDING - 8,)
        self.u8: Words = np.ndarray(shape, "<u8", buffer=self.bytes, strides=(1,))
        self.f8: npt.NDArray[np.float64] = np.ndarray(shape, "<f8", buffer=self.bytes, strides=(1,))
        self.u4: npt.NDArray[np.uint32] = np.ndarray(shape, "<u4", buffer=self.bytes, strides=(1,))
        self.f4: npt.NDArray[np.float32] = np.ndarray(shape, "<f4", buffer=self.bytes, strides=(1,))

    def gather(self, at: Ints, words: int) -> Words:
        """Copy so many words from each of many places: for several words far cheaper than one by one.

        Parameters
        ----------
        at : ndarray of int64, shape (n,)
            Where each starts. The last may end in the zero bytes behind the buffer, and not beyond.
        words : int
            How many.

        Returns
        -------
        ndarray of uint64, shape (n, words)
            The words.
        """
        n = max(len(self.bytes) - 8 * words + 1, 0)
        pieces: npt.NDArray[np.void] = np.ndarray((n,), f"V{8 * words}", buffer=self.bytes, strides=(1,))
        return pieces[at].view("<u8").reshape(len(at), words)


class Field(NamedTuple):
    """The next field of some messages, and where it lies in each."""

    key: int
    """Field number and wire type as they stand in the byte before the value: number * 8 + type."""
    ids: Ints
    """Which messages."""
    at: Ints
    """Where the value starts; of a varint, its value."""
    size: Ints
    """How many bytes a length-delimited value has; of a varint, how many it takes; empty for fixed widths."""


_NO_SIZE: Ints = np.zeros(0, np.int64)


def read_varint(buffer: Buffer, at: Ints) -> tuple[Ints, Ints]:
    """Read the varints that start at many places.

    Parameters
    ----------
    buffer : Buffer
        Where they lie.
    at : ndarray of int64, shape (n,)
        Where each starts.

    Returns
    -------
    value, size : ndarray of int64, shape (n,)
        The values modulo 2**64 as signed numbers, and how many bytes each takes; size 0 where ten bytes hold no whole varint.
    """
    first = buffer.bytes[at]
    if int(first.max(initial=0)) < 0x80:  # lengths mostly; single bytes are gathered five times faster than words
        return first.astype(np.int64), np.ones(len(at), np.int64)
    word = buffer.u8[at]
    ends = ~word & _CONTINUES
    # All bits up to the lowest clear continuation bit; every bit where there is none.
    mask = ((ends & (~ends + np.uint64(1))) << np.uint64(1)) - np.uint64(1)
    size = np.bitwise_count(mask).astype(np.int64) >> 3
    word &= mask
    value = word & np.uint64(0x7F)
    for k in range(1, int(size.max(initial=0))):
        value |= (word >> np.uint64(k)) & np.uint64(0x7F << 7 * k)
    long = ends == 0
    if long.any():
        ninth, tenth = buffer.bytes[at[long] + 8], buffer.bytes[at[long] + 9]
        high = (ninth & np.uint8(0x7F)).astype(np.uint64) << np.uint64(56)
        top = np.where(ninth > 0x7F, tenth.astype(np.uint64) << np.uint64(63), np.uint64(0))
        value[long] |= high | top
        size[long] = np.where(ninth <= 0x7F, 9, np.where(tenth <= 0x7F, 10, 0))
    return value.view(np.int64), size


def walk(buffer: Buffer, start: Ints, end: Ints, odd: Bools, known: Ints | None = None) -> Iterator[Field]:
    """Walk many messages together.

    Parameters
    ----------
    buffer : Buffer
        Where they lie.
    start, end : ndarray of int64, shape (n,)
        The bytes of each.
    odd : ndarray of bool, shape (n,)
        Set for the messages that are left to protobuf: malformed ones, keys of two bytes, layouts that few share. What was
        yielded of them must not be used.
    known : ndarray of int64, shape (n,), optional
        Up to where the bytes of each are there; messages with a key behind that are odd. A value may end behind it.

    Yields
    ------
    Field
        One field of the messages that share a layout up to there. Within a message the fields come in order.
    """
    groups = [(np.arange(len(start)), start, end)]
    while groups:
        ids, at, end = groups.pop()
        while len(ids):
            inside = at < end
            if not inside.all():
                odd[ids[at > end]] = True  # the last value ran past the message
                ids, at, end = ids[inside], at[inside], end[inside]
                continue
            if known is not None and (hidden := at + _KEY_AND_VARINT > known[ids]).any():
                odd[ids[hidden]] = True
                ids, at, end = ids[~hidden], at[~hidden], end[~hidden]
                continue
            if len(ids) < FEW:
                odd[ids] = True
                break
            keys = buffer.bytes[at]
            key = int(keys[0])
            same = keys == keys[0]
            if not same.all():
                other = ~same
                groups.append((ids[other], at[other], end[other]))
                ids, at, end = ids[same], at[same], end[same]
                continue
            kind = key & 7
            if not 8 <= key <= 0x7F or kind not in (VARINT, FIXED64, LENGTH, FIXED32):
                odd[ids] = True
                break
            field, at = _next_field(buffer, key, ids, at + 1, end)
            yield field


def _next_field(buffer: Buffer, key: int, ids: Ints, at: Ints, end: Ints) -> tuple[Field, Ints]:
    """Read the value behind a key; a value that cannot be is followed by a place past the end of its message."""
    kind = key & 7
    if kind == FIXED64:
        return Field(key, ids, at, _NO_SIZE), at + 8
    if kind == FIXED32:
        return Field(key, ids, at, _NO_SIZE), at + 4
    value, size = read_varint(buffer, at)
    after = at + size
    sound = size > 0
    if kind == VARINT:
        return Field(key, ids, value, size), after if sound.all() else np.where(sound, after, end + 1)
    # Compared by subtraction: a claimed length near 2**63 must not wrap round.
    sound &= (value >= 0) & (value <= end - after)
    if sound.all():
        return Field(key, ids, after, value), after + value
    return Field(key, ids, np.where(sound, after, at), np.where(sound, value, 0)), np.where(
        sound, after + value, end + 1
    )
