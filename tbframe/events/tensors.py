"""TensorProto -> ndarray, one by one or many of one dtype and shape at once.

The rule is TensorFlow's: content bytes if there are any, else the one list of values that belongs to the dtype; a list
that is too short is filled up with its last value, an empty one stands for zeros.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tbframe.events.messages import message_class

if TYPE_CHECKING:
    from google.protobuf.message import Message

__all__ = ["dtype_name", "element_count", "shape_of", "stack", "to_array"]

Array = npt.NDArray[Any]


class _DType(NamedTuple):
    name: str
    """As NumPy or ml_dtypes spell it; quantised types as TensorFlow does."""
    field: str
    """The list of TensorProto that holds values of this type."""
    stored: str
    """The NumPy type of an element in `tensor_content`."""


_DTYPES: Final = {
    1: _DType("float32", "float_val", "<f4"),
    2: _DType("float64", "double_val", "<f8"),
    3: _DType("int32", "int_val", "<i4"),
    4: _DType("uint8", "int_val", "u1"),
    5: _DType("int16", "int_val", "<i2"),
    6: _DType("int8", "int_val", "i1"),
    7: _DType("string", "string_val", "O"),
    8: _DType("complex64", "scomplex_val", "<c8"),
    9: _DType("int64", "int64_val", "<i8"),
    10: _DType("bool", "bool_val", "u1"),
    11: _DType("qint8", "int_val", "i1"),
    12: _DType("quint8", "int_val", "u1"),
    13: _DType("qint32", "int_val", "<i4"),
    14: _DType("bfloat16", "half_val", "<u2"),
    15: _DType("qint16", "int_val", "<i2"),
    16: _DType("quint16", "int_val", "<u2"),
    17: _DType("uint16", "int_val", "<u2"),
    18: _DType("complex128", "dcomplex_val", "<c16"),
    19: _DType("float16", "half_val", "<f2"),
    22: _DType("uint32", "uint32_val", "<u4"),
    23: _DType("uint64", "uint64_val", "<u8"),
    24: _DType("float8_e5m2", "float8_val", "u1"),
    25: _DType("float8_e4m3fn", "float8_val", "u1"),
    26: _DType("float8_e4m3fnuz", "float8_val", "u1"),
    27: _DType("float8_e4m3b11fnuz", "float8_val", "u1"),
    28: _DType("float8_e5m2fnuz", "float8_val", "u1"),
    29: _DType("int4", "int_val", "i1"),
    30: _DType("uint4", "int_val", "u1"),
    31: _DType("int2", "int_val", "i1"),
    32: _DType("uint2", "int_val", "u1"),
    33: _DType("float4_e2m1fn", "float8_val", "u1"),
}
_WITHOUT_VALUES: Final = {0: "invalid", 20: "resource", 21: "variant"}
_REFERENCE: Final = 100  # a reference to a tensor has the number of its type plus this
_BITS: Final = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}  # the low bits of a byte count

_FILL_LIMIT: Final = 2**28
"""A shape may claim any size. So many bytes, and no more, are filled in for values that are not there."""

_DIM: Final = re.compile(rb"\x12(?:\x00|([\x02-\x0b])\x08([\x80-\xff]{0,9}[\x00-\x7f]))")
"""A dimension without a name, as every known writer puts it."""


def dtype_name(number: int) -> str:
    """Name the data type of a tensor.

    Parameters
    ----------
    number : int
        TensorFlow's DataType; reference types (+100) are named as their type.

    Returns
    -------
    str
        "float32", "bfloat16", "string", "qint8", ...; "unknown (99)" for a number that TensorFlow does not declare.

    Examples
    --------
    >>> [dtype_name(number) for number in (1, 14, 107)]
    ['float32', 'bfloat16', 'string']
    """
    base = number - _REFERENCE if number > _REFERENCE else number
    return _DTYPES[base].name if base in _DTYPES else _WITHOUT_VALUES.get(base, f"unknown ({number})")


def shape_of(shape: bytes) -> tuple[int, ...] | None:
    r"""Read the shape of a tensor.

    Parameters
    ----------
    shape : bytes
        A serialized TensorShapeProto; nothing at all is rank 0.

    Returns
    -------
    tuple of int or None
        The dimensions; None if the rank or a dimension is unknown.

    Raises
    ------
    ValueError
        If the bytes are no TensorShapeProto.

    Examples
    --------
    >>> shape_of(b"\x12\x02\x08\x1e\x12\x02\x08\x03")
    (30, 3)
    """
    sizes, at = [], 0
    while at < len(shape):
        match = _DIM.match(shape, at)
        if match is None or (match[1] and match[1][0] != 1 + len(match[2])):
            return _known(_parse("TensorShapeProto", shape))
        sizes.append(_varint(match[2]) if match[1] else 0)
        at = match.end()
    return tuple(sizes) if all(size >= 0 for size in sizes) else None


def element_count(shape: bytes) -> int:
    r"""Count the elements of a tensor.

    Parameters
    ----------
    shape : bytes
        A serialized TensorShapeProto; nothing at all is rank 0, which has one element.

    Returns
    -------
    int
        The product of the dimensions, of any size; -1 if the rank or a dimension is unknown.

    Raises
    ------
    ValueError
        If the bytes are no TensorShapeProto.

    Examples
    --------
    >>> element_count(b""), element_count(b"\x12\x02\x08\x1e\x12\x02\x08\x03"), element_count(b"\x18\x01")
    (1, 90, -1)
    """
    sizes = shape_of(shape)
    return -1 if sizes is None else math.prod(sizes)


def to_array(tensor: bytes | Message) -> Array:
    r"""Decode a tensor.

    Parameters
    ----------
    tensor : bytes or message
        A TensorProto, serialized or parsed.

    Returns
    -------
    ndarray
        A new array of the tensor's shape and dtype. Strings are bytes in an object array, quantised types the integers
        they are stored as. bfloat16, float8, float4 and the integers of 2 and 4 bits have the dtypes of ml_dtypes if
        that is installed; without it, bfloat16 becomes float32 and the small integers int8 or uint8, which hold them
        exactly.

    Raises
    ------
    ValueError
        If the tensor has a type without values or a shape that is not fully known, if its content does not have the
        size of its shape, if it lists more values than its shape has elements or so few that more than 256 MiB would
        have to be filled in, if it is a float of 4 or 8 bits and ml_dtypes is missing, or if the bytes are no
        TensorProto.

    Examples
    --------
    >>> to_array(b"\x08\x03\x12\x04\x12\x02\x08\x03\x3a\x02\x07\x09")  # int32, shape [3], int_val [7, 9]
    array([7, 9, 9], dtype=int32)
    """
    message: Any = _parse("TensorProto", tensor) if isinstance(tensor, bytes) else tensor
    dtype, shape = _dtype(message.dtype), _known(message.tensor_shape)
    if shape is None:
        sizes = "unknown rank" if message.tensor_shape.unknown_rank else [dim.size for dim in message.tensor_shape.dim]
        raise ValueError(f"the tensor's shape is not fully known: {sizes}")
    count = math.prod(shape)
    if message.tensor_content:
        return _from_content(message.tensor_content, dtype, shape)
    listed = _listed(getattr(message, dtype.field), dtype)
    return _loaded(_filled(listed, count, shape), dtype).reshape(shape)


def stack(contents: Sequence[bytes], dtype: int, shape: tuple[int, ...]) -> Array:
    r"""Decode the contents of many tensors of one dtype and shape.

    Parameters
    ----------
    contents : sequence of bytes, length n
        The `tensor_content` of each. (A packed list of float32, float64 or complex values has the same form.)
    dtype : int
        TensorFlow's DataType, of a type with elements of fixed width.
    shape : tuple of int
        The shape of each.

    Returns
    -------
    ndarray, shape (n, *shape)
        With the dtypes of `to_array`.

    Raises
    ------
    ValueError
        If a content does not have the size of the shape, or the dtype is no type of fixed width.

    Examples
    --------
    >>> stack([b"\x01\x02", b"\x03\x04"], 6, (2,))
    array([[1, 2],
           [3, 4]], dtype=int8)
    """
    kind = _dtype(dtype)
    expected = _content_size(kind, shape)
    sizes = np.fromiter(map(len, contents), np.int64, len(contents))
    wrong = np.flatnonzero(sizes != expected)
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"the contents of {len(wrong)} of {len(contents)} tensors do not fit {kind.name} of shape {list(shape)}: "
            f"expected {expected} bytes each, found {sizes[at]} at index {at}"
        )
    return _loaded(np.frombuffer(bytearray().join(contents), kind.stored), kind).reshape(len(contents), *shape)


def _parse(name: str, data: bytes) -> Any:  # noqa: ANN401 - a protobuf message
    from google.protobuf.message import DecodeError

    try:
        return message_class(name).FromString(data)
    except DecodeError as error:
        raise ValueError(f"the {len(data)} bytes are no {name} message: {error}") from error


def _varint(data: bytes) -> int:
    value = sum((byte & 0x7F) << 7 * i for i, byte in enumerate(data)) & (2**64 - 1)
    return value - 2**64 if value >> 63 else value


def _known(shape: Any) -> tuple[int, ...] | None:  # noqa: ANN401 - a protobuf message
    sizes = tuple(dim.size for dim in shape.dim)
    return None if shape.unknown_rank or min(sizes, default=0) < 0 else sizes


def _dtype(number: int) -> _DType:
    found = _DTYPES.get(number - _REFERENCE if number > _REFERENCE else number)
    if found is None:
        raise ValueError(f"the tensor's dtype {dtype_name(number)} holds no values that can be decoded")
    return found


def _content_size(dtype: _DType, shape: tuple[int, ...]) -> int:
    if dtype.name == "string":
        raise ValueError("a tensor of strings has no content of fixed width: its values are in string_val")
    return math.prod(shape) * np.dtype(dtype.stored).itemsize


def _from_content(content: bytes, dtype: _DType, shape: tuple[int, ...]) -> Array:
    expected = _content_size(dtype, shape)
    if len(content) != expected:
        raise ValueError(
            f"the tensor's content does not fit {dtype.name} of shape {list(shape)}: "
            f"expected {expected} bytes, found {len(content)}"
        )
    return _loaded(np.frombuffer(bytearray(content), dtype.stored), dtype).reshape(shape)


def _listed(values: Any, dtype: _DType) -> Array:  # noqa: ANN401 - bytes or a repeated field
    """Bring the listed values into the form that content has."""
    n = len(values)
    if dtype.field == "string_val":
        strings = np.empty(n, object)
        strings[:] = list(values)
        return strings
    if dtype.field == "float8_val":
        return np.frombuffer(bytearray(values), dtype.stored)
    if dtype.field == "half_val":  # the bits, as integers
        return np.fromiter(values, np.int32, n).astype("<u2").view(dtype.stored)
    if dtype.field in ("scomplex_val", "dcomplex_val"):  # real and imaginary parts in turn
        if n % 2:
            raise ValueError(f"the tensor lists {n} parts of complex numbers: a real part has no imaginary one")
        return np.fromiter(values, "<f4" if dtype.name == "complex64" else "<f8", n).view(dtype.stored)
    wide = np.int32 if dtype.field == "int_val" else np.dtype(dtype.stored)
    return np.fromiter(values, wide, n).astype(dtype.stored, copy=False)


def _filled(values: Array, count: int, shape: tuple[int, ...]) -> Array:
    n = len(values)
    if n == count:
        return values
    if n > max(count, 1):
        raise ValueError(f"the tensor lists {n} values: too many for shape {list(shape)} of {count} elements")
    if count * values.itemsize > _FILL_LIMIT:
        raise ValueError(
            f"the tensor's shape {list(shape)} claims {count} elements of which {n} are there: "
            f"not more than {_FILL_LIMIT} bytes are filled in"
        )
    result = np.empty(count, values.dtype)
    result[:n] = values[:count]
    result[n:] = values[-1] if n else (b"" if values.dtype == object else 0)
    return result


def _loaded(stored: Array, dtype: _DType) -> Array:
    """Turn elements as they are stored into the dtype that stands for them."""
    name = dtype.name
    if name == "bool":
        return stored.astype(np.bool_)
    if name in _BITS and dtype.field == "int_val":
        unused = 8 - _BITS[name]
        stored = stored << unused >> unused  # arithmetic: the sign comes along
        extended = _extended(name)
        return stored if extended is None else stored.astype(extended)
    if name == "bfloat16":
        extended = _extended(name)
        return (stored.astype("<u4") << 16).view("<f4") if extended is None else stored.view(extended)
    if dtype.field == "float8_val":
        extended = _extended(name)
        if extended is None:
            raise ValueError(
                f"the tensor's dtype {name} needs the package ml_dtypes: install it (pip install 'tbframe[dtypes]')"
            )
        return (stored & 0x0F if name in _BITS else stored).view(extended)
    return stored


def _extended(name: str) -> np.dtype[Any] | None:
    try:
        import ml_dtypes
    except ImportError:
        return None
    scalar = getattr(ml_dtypes, name, None)  # older versions lack the youngest types
    return None if scalar is None else np.dtype(scalar)
