"""Tensors of strings, which hold the images, clips and texts of TensorFlow 2: where each string lies in the message.

Strings may be images of megabytes: they are found by walking the keys of the message, and only read when asked for.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from tbframe.events.messages import message_class
from tbframe.events.singly import Odd, Read, fields
from tbframe.events.tensors import dtype_name, shape_of
from tbframe.kinds.filling import Filling
from tbframe.kinds.parts import reader_of

__all__ = ["Strings", "find_strings"]

_STRING: Final = 7
_DTYPE, _SHAPE, _CONTENT, _STRING_VAL = 0x08, 0x12, 0x22, 0x42


class Strings(NamedTuple):
    """The strings of a tensor.

    Attributes
    ----------
    shape : tuple of int
        As logged.
    spans : list of (int, int)
        Where each string that is there begins in the message, and how many bytes it has.
    read : callable
        ``read(at, n)`` gives up to n bytes of the message.
    """

    shape: tuple[int, ...]
    spans: list[tuple[int, int]]
    read: Read

    def listed(self, filling: Filling) -> list[tuple[int, int]]:
        """Return the strings as they are there, whatever the shape says; but one alone stands for as many as it says.

        Parameters
        ----------
        filling : Filling
            Counts those that are not there.

        Returns
        -------
        list of (int, int)
            Spans.

        Raises
        ------
        ValueError
            If one string stands for too many.
        """
        return self._filled(filling) if len(self.spans) == 1 else self.spans

    def by_shape(self, filling: Filling) -> list[tuple[int, int]]:
        """Return as many strings as the shape says: where too few are there, the last stands for the rest.

        Parameters
        ----------
        filling : Filling
            Counts those that are not there.

        Returns
        -------
        list of (int, int)
            Spans. TensorFlow's rule: with none at all, every string is empty.

        Raises
        ------
        ValueError
            If there are more than the shape says, or the last stands for too many.
        """
        count = math.prod(self.shape)
        if len(self.spans) > count:
            raise ValueError(
                f"the tensor lists {len(self.spans)} strings: too many for shape {list(self.shape)} of {count}"
            )
        return self._filled(filling)

    def _filled(self, filling: Filling) -> list[tuple[int, int]]:
        missing = math.prod(self.shape) - len(self.spans)
        if missing < 0:
            return self.spans[:missing]
        filling.take_strings(missing, self.shape)
        return self.spans + [self.spans[-1] if self.spans else (0, 0)] * missing


def find_strings(read: Read, size: int) -> Strings:
    r"""Find the strings of a tensor.

    Parameters
    ----------
    read : callable
        ``read(at, n)`` gives up to n bytes of a serialized TensorProto.
    size : int
        How many bytes it has.

    Returns
    -------
    Strings
        Where they are.

    Raises
    ------
    ValueError
        If it is no TensorProto, holds no strings, or has a shape that is not fully known.

    Examples
    --------
    >>> tensor = b"\x08\x07\x12\x04\x12\x02\x08\x02\x42\x01a\x42\x02bc"  # string, shape [2], string_val
    >>> find_strings(lambda at, n: tensor[at : at + n], len(tensor))[:2]
    ((2,), [(10, 1), (13, 2)])
    """
    try:
        return _walk(read, size)
    except Odd:
        held = _rewritten(read(0, size))
        return _walk(reader_of(held), len(held))


def _walk(read: Read, size: int) -> Strings:
    dtype, shape, content, spans = 0, b"", 0, []
    shapes = 0
    for key, at, length in fields(read, 0, size):
        if key == _STRING_VAL:
            spans.append((at, length))
        elif key == _DTYPE:
            dtype = length
        elif key == _SHAPE:
            shape, shapes = read(at, length), shapes + 1
        elif key == _CONTENT:
            content = length
    if shapes > 1:  # to be merged
        raise Odd
    name, sizes = dtype_name(dtype), shape_of(shape)
    if name != dtype_name(_STRING):
        raise ValueError(
            f"expected a tensor of strings, found {name}" + ("" if sizes is None else f" of shape {list(sizes)}")
        )
    if sizes is None:
        raise ValueError("the shape of the tensor of strings is not fully known")
    if content and not spans:
        raise ValueError("the tensor of strings has content of fixed width instead of a list of strings")
    return Strings(sizes, spans, read)


def _rewritten(data: bytes) -> bytes:
    """Write a message as protobuf understands it: what is given twice is merged."""
    from google.protobuf.message import DecodeError

    try:
        return bytes(message_class("TensorProto").FromString(data).SerializeToString())
    except DecodeError as error:
        raise ValueError(f"the {len(data)} bytes are no TensorProto message: {error}") from error
