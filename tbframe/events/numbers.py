"""One-element numeric tensors as numbers, many at once: how TensorFlow 2 stores scalars."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tbframe.events.interning import Interner
from tbframe.events.tensors import element_count
from tbframe.events.wire import Bools, Buffer, Ints, Words, read_varint, walk

__all__ = ["BFLOAT16", "BOOL", "DTYPES", "FLOAT", "HALF", "ROUNDED", "Numbers", "one_element", "rounds"]

FLOAT: Final = 1
HALF: Final = 19
BFLOAT16: Final = 14
BOOL: Final = 10
_INT64: Final = 9
_UINT64: Final = 23
_REFERENCE: Final = 100
"""Reference types have the number of their type plus this."""
ROUNDED: Final = 0x80
"""Set in the dtype of an integer that float64 does not hold exactly."""

DTYPES: Final = {
    1: 4,
    2: 8,
    3: 4,
    4: 1,
    5: 2,
    6: 1,
    9: 8,
    10: 1,
    11: 1,
    12: 1,
    13: 4,
    14: 2,
    15: 2,
    16: 2,
    17: 2,
    19: 2,
    22: 4,
    23: 8,
}
"""Bytes of an element, by dtype number: the dtypes that are numbers. Complex, string and the 8-bit floats are not here."""
_SIGNED: Final = {3, 5, 6, 9, 11, 13, 15}
_LIST: Final = {
    1: 5,
    2: 6,
    3: 7,
    4: 7,
    5: 7,
    6: 7,
    9: 10,
    10: 11,
    11: 7,
    12: 7,
    13: 7,
    14: 13,
    15: 7,
    16: 7,
    17: 7,
    19: 13,
    22: 16,
    23: 17,
}
"""The field that lists the values of a dtype. Those of 22 and 23 have keys of two bytes: protobuf reads them."""
_LIST_KEYS: Final = frozenset(
    (0x2D, 0x2A, 0x31, 0x32, *(field << 3 | kind for field in (7, 10, 11, 13) for kind in (0, 2)))
)
"""Those of single entries and of packed lists. With another wire type a field is unknown."""


class Numbers(NamedTuple):
    """What tensors hold, one row each."""

    dtype: npt.NDArray[np.uint8]
    """The dtype's number, reference types as their type, with `ROUNDED` where the number is not exact."""
    number: npt.NDArray[np.float64]
    """The value, where there is one."""
    single: Bools
    """Whether the tensor is one number."""


class _Tensors:
    """Where the parts of many TensorProtos lie."""

    def __init__(self, buffer: Buffer, at: Ints, size: Ints, odd: Bools, known: Ints | None) -> None:
        n = len(at)
        self.buffer = buffer
        self.dtype = np.zeros(n, np.int64)
        self.shape_at, self.shape_size = np.zeros(n, np.int64), np.full(n, -1)
        self.content_at, self.content_size = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.list_key, self.list_at, self.list_size = (
            np.zeros(n, np.uint8),
            np.zeros(n, np.int64),
            np.zeros(n, np.int64),
        )
        for key, ids, start, length in walk(buffer, at, at + size, odd, known):
            if key == 0x08:
                self.dtype[ids] = start.astype(np.int32)  # as protobuf keeps an enum
            elif key == 0x12:
                odd[ids[self.shape_size[ids] >= 0]] = True  # two shapes are merged
                self.shape_at[ids], self.shape_size[ids] = start, length
            elif key == 0x22:
                self.content_at[ids], self.content_size[ids] = start, length
            elif key in _LIST_KEYS:
                odd[ids[self.list_key[ids] != 0]] = True  # a list in several pieces
                self.list_key[ids], self.list_at[ids] = key, start
                if key & 7 in (0, 2):
                    self.list_size[ids] = length
        if known is not None:
            for begin, length in (
                (self.shape_at, self.shape_size),
                (self.content_at, np.minimum(self.content_size, 8)),
                (self.list_at, np.minimum(self.list_size, 10)),
            ):
                odd[begin + length > known] = True

    def one_element(self, odd: Bools) -> Bools:
        """Tell which shapes have exactly one element; those that are malformed make their tensors odd."""
        one = self.shape_size <= 0  # absent, or no dimension
        dims = np.flatnonzero(~(one | odd))
        if len(dims):
            shapes = Interner()
            codes = shapes.codes(self.buffer, self.shape_at[dims], self.shape_size[dims])
            counts = np.array([_clipped_count(shape) for shape in shapes.names])[codes]
            one[dims] = counts == 1
            odd[dims[counts < 0]] = True
        return one


def _clipped_count(shape: bytes) -> int:
    """Count the elements of a shape: 0 stands for all numbers but 1, -1 for a shape that is malformed."""
    try:
        return int(element_count(shape) == 1)
    except ValueError:
        return -1


def rounds(value: npt.NDArray[np.int64] | Words) -> Bools:
    """Tell which integers float64 does not hold exactly.

    Parameters
    ----------
    value : ndarray of int64 or uint64
        The integers.

    Returns
    -------
    ndarray of bool
        True where more than 53 bits lie between the highest and the lowest that are set.
    """
    magnitude = value if value.dtype == np.uint64 else np.where(value < 0, -value, value).view(np.uint64)
    lowest = magnitude & (~magnitude + np.uint64(1))
    result: Bools = magnitude >> np.uint64(53) >= np.maximum(lowest, np.uint64(1))
    return result


def one_element(buffer: Buffer, at: Ints, size: Ints, odd: Bools, known: Ints | None = None) -> Numbers:
    """Decode the tensors that are one number.

    Parameters
    ----------
    buffer : Buffer
        Where they lie.
    at, size : ndarray of int64, shape (n,)
        The bytes of each serialized TensorProto.
    odd : ndarray of bool, shape (n,)
        Set for tensors that are left to protobuf.
    known : ndarray of int64, shape (n,), optional
        Up to where the bytes of each are there, see `wire.walk`.

    Returns
    -------
    Numbers
        One row per tensor. Content wins over a list, as in TensorFlow; an empty list means 0.
    """
    tensors = _Tensors(buffer, at, size, odd, known)
    dtype = np.where(tensors.dtype > _REFERENCE, tensors.dtype - _REFERENCE, tensors.dtype)
    odd[(dtype < 0) | (dtype > 0x7F)] = True
    one = tensors.one_element(odd) & ~odd
    result = Numbers(np.where(odd, 0, dtype).astype(np.uint8), np.zeros(len(at)), np.zeros(len(at), bool))
    for kind in np.flatnonzero(np.bincount(dtype[one], minlength=1)).tolist():
        if kind in DTYPES:
            _decode(tensors, kind, np.flatnonzero(one & (dtype == kind)), result)
    return result


def _decode(tensors: _Tensors, dtype: int, rows: Ints, result: Numbers) -> None:
    """Decode the numbers of one dtype, from wherever each tensor holds it."""
    has_content = tensors.content_size[rows] > 0
    content, listed = rows[has_content], rows[~has_content]
    fits = tensors.content_size[content] == DTYPES[dtype]
    content = content[fits]
    if len(content):
        _store(result, content, dtype, _from_content(tensors.buffer, tensors.content_at[content], dtype))
    if len(listed):
        field = _LIST[dtype]
        key = tensors.list_key[listed]
        empty = (key >> 3 != field) | ((key & 7 == 2) & (tensors.list_size[listed] == 0))
        result.single[listed[empty]] = True
        for kind in (0, 1, 2, 5):
            some = listed[(key == field * 8 + kind) & ~empty]
            if len(some):
                _from_list(tensors, some, dtype, kind, result)


def _from_content(buffer: Buffer, at: Ints, dtype: int) -> npt.NDArray[np.generic]:
    if dtype == FLOAT:
        return buffer.f4[at]
    if dtype == 2:
        return buffer.f8[at]
    return _from_low_bytes(buffer.u8[at], dtype)


def _from_low_bytes(word: Words, dtype: int) -> npt.NDArray[np.generic]:
    """Read the low bytes of words as an element of this dtype."""
    unused = np.uint64(64 - 8 * DTYPES[dtype])
    word = word << unused
    bits = (word.view(np.int64) >> unused.astype(np.int64)) if dtype in _SIGNED else word >> unused
    if dtype == HALF:
        return bits.astype(np.uint16).view(np.float16)
    if dtype == BFLOAT16:
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return bits != 0 if dtype == BOOL else bits


def _from_list(tensors: _Tensors, rows: Ints, dtype: int, kind: int, result: Numbers) -> None:
    """Decode the values of lists with one entry; longer ones are no single number."""
    at, size, buffer = tensors.list_at[rows], tensors.list_size[rows], tensors.buffer
    if dtype in (FLOAT, 2):
        width = DTYPES[dtype]
        if kind == 2:
            rows, at = rows[size == width], at[size == width]
        _store(result, rows, dtype, buffer.f4[at] if dtype == FLOAT else buffer.f8[at])
        return
    if kind == 2:
        value, taken = read_varint(buffer, at)
        rows, value = rows[taken == size], value[taken == size]
    else:
        value = at
    # Integers too wide for the dtype wrap, as in C; any but 0 is true.
    _store(result, rows, dtype, value != 0 if dtype == BOOL else _from_low_bytes(value.view(np.uint64), dtype))


def _store(result: Numbers, rows: Ints, dtype: int, values: npt.NDArray[np.generic]) -> None:
    with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
        result.number[rows] = values
    result.single[rows] = True
    if dtype in (_INT64, _UINT64):
        inexact = rounds(values)  # type: ignore[arg-type]
        result.dtype[rows[inexact]] |= ROUNDED
