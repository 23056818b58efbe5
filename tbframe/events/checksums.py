"""CRC-32C as event files use it: of one record, of many lengths at once, of many records at once.

A CRC is linear: the XOR of several payloads of one length has, up to a constant of the length, the XOR of their checksums. So
records of one length are laid out as a grid, its rows and its columns are XORed as words, and only those few results are
checksummed. Only if a row or a column does not agree are the records looked at one by one. Damage to one record shows in its
row and its column; the same change to two records cancels in at most one of them.
"""

from __future__ import annotations

import math
from typing import Final

import google_crc32c
import numpy as np
import numpy.typing as npt

from tbframe.events.wire import Bools, Buffer, Ints

__all__ = ["length_checksums", "masked", "wrong_records"]

_DELTA: Final = 0xA282EAD8
_FOOTER: Final = 4
_SHORT: Final = 512
"""Records up to this many bytes share calls; above it a call costs less than the arithmetic that saves it."""
_FEW: Final = 48
"""So few records of one length are checked one by one."""


def masked(crc: int) -> int:
    """Mask a CRC-32C as TFRecord files store it.

    Parameters
    ----------
    crc : int
        The plain checksum.

    Returns
    -------
    int
        Rotated right by 15 bits, plus a constant, modulo 2**32.

    Examples
    --------
    >>> hex(masked(0))
    '0xa282ead8'
    """
    return (((crc >> 15) | (crc << 17)) + _DELTA) & 0xFFFFFFFF


def _byte_tables() -> npt.NDArray[np.uint32]:
    """Tabulate what each value of each of eight bytes contributes to the checksum of those eight bytes."""
    zero = google_crc32c.value(bytes(8))
    bits = [google_crc32c.value((1 << i).to_bytes(8, "little")) ^ zero for i in range(64)]
    by_byte = np.array(bits, np.uint32).reshape(8, 8)
    tables = np.zeros((8, 256), np.uint32)
    for bit in range(8):
        tables[:, 1 << bit : 2 << bit] = tables[:, : 1 << bit] ^ by_byte[:, bit, None]
    tables[0] ^= np.uint32(zero)
    return tables


_TABLES = _byte_tables()


def length_checksums(length: Ints) -> npt.NDArray[np.uint32]:
    """Compute the masked checksums of many record lengths.

    Parameters
    ----------
    length : ndarray of int64, shape (n,)
        Lengths in bytes, none negative. A header stores each in 8 bytes, little-endian.

    Returns
    -------
    ndarray of uint32, shape (n,)
        What stands in the 4 bytes after each.
    """
    crc = _TABLES[0][length & 0xFF]
    top = int(length.max(initial=0))
    for byte in range(1, (top.bit_length() + 7) // 8):
        crc ^= _TABLES[byte][(length >> 8 * byte) & 0xFF]
    return _all_masked(crc)


def _all_masked(crc: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    rotated: npt.NDArray[np.uint32] = (crc >> np.uint32(15)) | (crc << np.uint32(17))
    return rotated + np.uint32(_DELTA)


def wrong_records(buffer: Buffer, start: Ints, length: Ints) -> Bools:
    """Find the records whose payload does not have the checksum that is stored behind it.

    Parameters
    ----------
    buffer : Buffer
        Where they lie, whole.
    start, length : ndarray of int64, shape (n,)
        Where each record starts (its header has 12 bytes), and the length of its payload.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where the checksum is wrong.
    """
    wrong = np.zeros(len(start), bool)
    capped = np.minimum(length, _SHORT + 1).astype(np.uint16)
    order = np.argsort(capped, kind="stable")
    counts = np.bincount(capped, minlength=_SHORT + 2)
    after = 0
    for size in np.flatnonzero(counts).tolist():
        before, after = after, after + int(counts[size])
        which = order[before:after]
        if 0 < size <= _SHORT and len(which) >= _FEW:
            wrong[which] = _wrong_in_grid(buffer, start[which] + 12, size)
        else:
            wrong[which] = _wrong_singly(buffer, start[which] + 12, length[which])
    return wrong


def _wrong_singly(buffer: Buffer, at: Ints, length: Ints) -> Bools:
    data, value = buffer.bytes, google_crc32c.value
    found = [value(data[a : a + n]) for a, n in zip(at.tolist(), length.tolist(), strict=True)]
    differs: Bools = _all_masked(np.array(found, np.uint32)) != buffer.u4[at + length]
    return differs


def _wrong_in_grid(buffer: Buffer, at: Ints, size: int) -> Bools:
    """Check payloads of one size, laid out as a grid that is about square."""
    n = len(at)
    # An odd number: then the same change to all, to every so-many-th or to successive ones cancels in no whole row.
    columns = math.isqrt(n) | 1
    rows = -(-n // columns)
    words = (size + _FOOTER + 7) // 8
    # What the grid has left over stays zero, and changes no XOR.
    grid, stored = np.zeros((rows * columns, words), np.uint64), np.zeros(rows * columns, np.uint32)
    grid[:n] = buffer.gather(at, words)
    masks = grid.view(np.uint8)[:n, size : size + _FOOTER].copy().view(np.uint32)[:, 0] - np.uint32(_DELTA)
    stored[:n] = (masks >> np.uint32(17)) | (masks << np.uint32(15))
    shaped, sums = grid.reshape(rows, columns, words), stored.reshape(rows, columns)
    in_row = np.minimum(n - columns * np.arange(rows), columns)
    in_column = rows - (np.arange(columns) >= n - columns * (rows - 1))
    wrong_rows = _xors_differ(_fold(shaped), size, in_row, np.bitwise_xor.reduce(sums, axis=1))
    by_column = np.bitwise_xor.reduce(shaped, axis=0)
    wrong_columns = _xors_differ(by_column, size, in_column, np.bitwise_xor.reduce(sums, axis=0))
    if wrong_rows.any() or wrong_columns.any():
        # All of them: of many that changed alike, some cancel both in their row and in their column.
        return _wrong_singly(buffer, at, np.full(n, size))
    return np.zeros(n, bool)


def _fold(grid: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """XOR the columns of a grid: halves upon halves, which the processor does many words at a time."""
    left = grid.shape[1]
    while left > 1:
        half = left // 2
        folded = grid[:, :half] ^ grid[:, half : 2 * half]
        if left % 2:
            folded[:, 0] ^= grid[:, left - 1]
        grid, left = folded, half
    return grid[:, 0]


def _xors_differ(words: npt.NDArray[np.uint64], size: int, count: Ints, stored: npt.NDArray[np.uint32]) -> Bools:
    """Tell which XORs of `count` payloads do not have the XOR of their stored checksums."""
    data, value = words.view(np.uint8)[:, :size].tobytes(), google_crc32c.value
    found = np.array([value(data[i : i + size]) for i in range(0, len(data), size)], np.uint32)
    constant = np.uint32(value(bytes(size)))  # it cancels in pairs, so that an odd number of payloads keeps one
    differs: Bools = (found ^ np.where(count % 2 == 0, constant, np.uint32(0))) != stored
    return differs
