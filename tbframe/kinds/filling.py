"""What a few bytes may stand for: a tensor may list one value for a shape of any size.

Each is small enough to be decoded by itself; a log of many would take all memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tbframe.events.tensors import Array, to_array

if TYPE_CHECKING:
    from google.protobuf.message import Message

__all__ = ["Filling"]

_MOST: Final = 1 << 26
_WIDEST: Final = 8
"""Bytes that one byte of a list can become: a small number among int64."""
_STRING: Final = 1 << 8
"""Bytes that a string takes as a row of a frame."""


class Filling:
    """Counts what is filled in for one reader, all values together.

    Parameters
    ----------
    most : int
        How many bytes may be filled in.

    Examples
    --------
    >>> filling = Filling(2000)
    >>> filling.take_strings(6, (7,))
    >>> filling.take_strings(6, (7,))
    Traceback (most recent call last):
    ...
    ValueError: the tensor's shape [7] claims 6 strings that are not there: not more than 2,000 bytes are filled in altogether
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most, self._left = most, most

    def _take(self, size: int, what: str) -> None:
        if size > self._left:
            raise ValueError(f"{what}: not more than {self._most:,} bytes are filled in altogether")
        self._left -= size

    def take_strings(self, count: int, shape: tuple[int, ...]) -> None:
        """Count strings that stand in a tensor's shape, but not in its list.

        Parameters
        ----------
        count : int
            How many.
        shape : tuple of int
            The tensor's shape, for the message.

        Raises
        ------
        ValueError
            If they are too many.
        """
        self._take(count * _STRING, f"the tensor's shape {list(shape)} claims {count} strings that are not there")

    def to_array(self, tensor: bytes | Message) -> Array:
        """Decode a tensor, and count what it takes beyond its bytes.

        Parameters
        ----------
        tensor : bytes or message
            A TensorProto, serialized or parsed.

        Returns
        -------
        ndarray
            See `tbframe.events.tensors.to_array`.

        Raises
        ------
        ValueError
            If it cannot be decoded, or too much had to be filled in.
        """
        array = to_array(tensor)
        size = len(tensor) if isinstance(tensor, bytes) else tensor.ByteSize()
        self._take(
            max(array.nbytes - _WIDEST * size, 0), f"the tensor of shape {list(array.shape)} stands in {size:,} bytes"
        )
        return array
