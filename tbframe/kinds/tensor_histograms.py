"""Tensors of rows (left, right, count), many at a time: the histograms of TensorFlow 2 and Keras."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from tbframe import buckets
from tbframe.events.wire import Buffer, read_varint
from tbframe.kinds.filling import Filling
from tbframe.kinds.histogram_rows import Decoded

__all__ = ["decode_tensors"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_FLOAT64: Final = 0x0208
"""The field dtype, as it is for doubles."""
_SHAPE, _CONTENT, _DIM = 0x12, 0x22, 0x12
"""The keys of tensor_shape and tensor_content, and of a dimension in a shape."""
_SIZE: Final = 0x08
_OF_THREE: Final = 0x03080212
"""The last dimension of the shape: 3."""
_ROW: Final = 24


def decode_tensors(
    buffer: Buffer, at: Ints, size: Ints, filling: Filling, failed: Callable[[int, str], None]
) -> Iterator[Decoded]:
    """Decode tensors that lie in a buffer.

    Parameters
    ----------
    buffer : Buffer
        Where they lie.
    at, size : ndarray of int64, shape (n,)
        Where each starts, and how many bytes it has.
    filling : Filling
        Counts what tensors claim beyond their bytes.
    failed : callable
        Called with the number of each that cannot be decoded, and the reason.

    Yields
    ------
    Decoded
        Those that can, those with the same number of buckets together.
    """
    begin, length, odd = _contents(buffer, at, at + size)
    sizes = np.where(odd, -1, length // _ROW)
    for k in np.unique(sizes[~odd]).tolist():
        which = np.flatnonzero(sizes == k)
        rows = buffer.gather(begin[which], 3 * k).view("<f8").reshape(len(which), k, 3)
        yield Decoded(which, rows[..., 0], rows[..., 1], rows[..., 2], np.full(len(which), k), None)
    if odd.any():
        yield _singly(buffer, at, size, np.flatnonzero(odd), filling, failed)


def _contents(buffer: Buffer, at: Ints, end: Ints) -> tuple[Ints, Ints, Bools]:
    """Find the content of tensors as TensorFlow 2 writes them: float64, shape [k, 3], content. Others are odd."""
    data = buffer.bytes
    odd = (buffer.u4[at] & 0xFFFFFF) != (_SHAPE << 16 | _FLOAT64)
    shape_size = np.minimum(data[at + 3], np.maximum(end - at - 4, 0))
    shape, after = at + 4, at + 4 + shape_size
    # [k, 3]: a dimension, of which k is all there is, and one of 3.
    k, width = read_varint(buffer, shape + 3)
    odd |= (shape_size != 3 + width + 4) | (buffer.u4[shape + 3 + width] != _OF_THREE)
    odd |= (data[shape] != _DIM) | (data[shape + 1] != 1 + width) | (data[shape + 2] != _SIZE)
    length, width = read_varint(buffer, after + 1)
    begin = after + 1 + width
    odd |= (after >= end) | (data[after] != _CONTENT) | (length != end - begin)
    odd |= (length % _ROW != 0) | (k != length // _ROW)  # not k * 24: a claim near 2**63 would wrap round
    return begin, length, odd


def _singly(
    buffer: Buffer, at: Ints, size: Ints, which: Ints, filling: Filling, failed: Callable[[int, str], None]
) -> Decoded:
    good, arrays = [], []
    for number in which.tolist():
        try:
            data = buffer.view[int(at[number]) : int(at[number] + size[number])].tobytes()
            arrays.append(_rows(filling.to_array(data)))
            good.append(number)
        except ValueError as error:
            failed(number, str(error))
    sizes = np.array([len(array) for array in arrays], np.int64)
    flat = np.concatenate([np.zeros((0, 3)), *arrays])
    left, right, counts = (buckets.pad(flat[:, i], sizes, fill) for i, fill in enumerate((np.nan, np.nan, 0.0)))
    return Decoded(np.array(good, np.int64), left, right, counts, sizes, None)


def _rows(array: npt.NDArray[np.generic]) -> Floats:
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "fiu":
        raise ValueError(
            f"expected rows of 3 numbers (left, right, count), found {array.dtype} of shape {list(array.shape)}"
        )
    return array.astype(np.float64)
