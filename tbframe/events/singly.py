"""One event at a time, field by field: few-of-a-kind events, and large ones of which only the keys are read.

The bytes come through a function, so that walking a large record reads only where its keys lie. Shapes for which protobuf has
rules of its own (a member given twice, malformed messages) raise `Odd`, and protobuf decides.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from tbframe.events import numbers, values
from tbframe.events.tensors import element_count

__all__ = ["RUN_GRAPH_TAG", "Odd", "Read", "Row", "SingleEvent", "fields", "parse", "parse_version"]

Read: TypeAlias = Callable[[int, int], bytes]
"""``read(at, n)``: up to n bytes from this place in the payload."""

RUN_GRAPH_TAG: Final = b"__run_graph__"
"""TensorBoard's tag for the graph of a run, which is logged without one."""


class Odd(Exception):
    """The event has a shape that is left to protobuf."""


class Row(NamedTuple):
    """One row of `values.Values`, with its tag and metadata as bytes."""

    tag: bytes
    what: int
    dtype: int
    number: float
    at: int
    extent: int
    metadata: bytes | None


class SingleEvent(NamedTuple):
    """One decoded event."""

    wall_time: float
    step: int
    rows: list[Row]
    version: float | None = None
    """The version that the event states."""
    starts: bool = False
    """Whether it says that a session starts."""


_EVENT_MEMBERS: Final = {field << 3 | 2: 64 + field for field in (3, 4, 5, 6, 7, 8, 9)}
_VALUE_MEMBERS: Final = {field << 3 | 2: field for field in (3, 4, 5, 6, 8)} | {0x15: values.SIMPLE}
_STEP_MODULUS: Final = 1 << 64
_ENUM: Final = (1 << 32) - 1
"""The bits that protobuf keeps of an enum."""


def parse(read: Read, end: int) -> SingleEvent:
    """Decode an event by walking its keys.

    Parameters
    ----------
    read : callable
        Gives the payload's bytes.
    end : int
        The length of the payload in bytes.

    Returns
    -------
    SingleEvent
        With a row for every value, and where each lies.

    Raises
    ------
    Odd
        If protobuf must decide.
    """
    wall_time, step, member = 0.0, 0, (0, 0, 0)
    for key, at, size in fields(read, 0, end):
        if key == 0x09:
            (wall_time,) = struct.unpack("<d", read(at, 8))
        elif key == 0x10:
            step = _signed(size)
        elif key in _EVENT_MEMBERS:
            if member[0]:
                raise Odd
            member = _EVENT_MEMBERS[key], at, size
    what, at, size = member
    if what == values.EMPTY:
        rows = list(_value_rows(read, at, at + size)) or [Row(b"", values.EMPTY, 0, 0.0, at, size, None)]
        return SingleEvent(wall_time, step, rows)
    if not what:
        return SingleEvent(wall_time, step, [])
    version, starts, tag = None, False, RUN_GRAPH_TAG if what == values.GRAPH else b""
    if what == values.VERSION:
        version = parse_version(read(at, size))
    elif what == values.SESSION_LOG:
        for key, _, value in fields(read, at, at + size):
            if key == 0x08:
                starts = value & _ENUM == 1
    elif what == values.RUN_METADATA:
        for key, start, length in fields(read, at, at + size):
            if key == 0x0A:
                tag = read(start, length)
    return SingleEvent(wall_time, step, [Row(tag, what, 0, 0.0, at, size, None)], version, starts)


def parse_version(text: bytes) -> float:
    """Read the number behind ``brain.Event:``, as TensorBoard does.

    Parameters
    ----------
    text : bytes
        The file_version of an event.

    Returns
    -------
    float
        The version, -1 if there is no number.
    """
    try:
        return float(text.rpartition(b"brain.Event:")[2])
    except ValueError:
        return -1.0


def _signed(value: int) -> int:
    return value - _STEP_MODULUS if value >> 63 else value


def fields(read: Read, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Walk one message.

    Parameters
    ----------
    read : callable
        Gives the bytes.
    at, end : int
        Where the message lies.

    Yields
    ------
    key, at, size : int
        Field number * 8 + wire type, where the value starts and how many bytes it has; of a varint its value instead.

    Raises
    ------
    Odd
        If it is malformed.
    """
    while at < end:
        head = read(at, 20)
        key, n = _varint(head, 0)
        kind = key & 7
        at += n
        if key < 8:
            raise Odd
        if kind == 2 or kind == 0:
            value, used = _varint(head, n)
            at += used
            if kind == 0:
                size, step = value & (_STEP_MODULUS - 1), 0
            else:
                size = step = value
        elif kind == 1 or kind == 5:
            size = step = 8 if kind == 1 else 4
        else:
            raise Odd
        if at + step > end:
            raise Odd
        yield key, at, size
        at += step


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a varint: its value and how many bytes it takes."""
    value = 0
    for n, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * n
        if byte < 0x80:
            return value, n + 1
    raise Odd


def _value_rows(read: Read, start: int, end: int) -> Iterator[Row]:
    for key, at, size in fields(read, start, end):
        if key == 0x0A:
            yield _value_row(read, at, at + size)


def _value_row(read: Read, start: int, end: int) -> Row:
    tag, what, place, extent, metadata = b"", values.NOTHING, 0, 0, None
    for key, at, size in fields(read, start, end):
        if key == 0x0A:
            tag = read(at, size)
        elif key in _VALUE_MEMBERS:
            if what:
                raise Odd
            what, place, extent = _VALUE_MEMBERS[key], at, size
        elif key == 0x4A:
            if metadata is not None:
                raise Odd
            metadata = read(at, size)
    number, dtype = 0.0, 0
    if what == values.SIMPLE:
        (number,) = struct.unpack("<f", read(place, 4))
        dtype = numbers.FLOAT
    elif what == values.TENSOR:
        what, dtype, number = _tensor(read, place, place + extent)
    return Row(tag, what, dtype, number, place, extent, metadata)


def _is_one_element(shape: bytes) -> bool:
    try:
        return element_count(shape) == 1
    except ValueError as error:
        raise Odd from error


_LISTS: Final = frozenset((5, 6, 7, 10, 11, 13, 16, 17))
_CONTENT: Final = {
    1: "<f",
    2: "<d",
    3: "<i",
    4: "<B",
    5: "<h",
    6: "<b",
    9: "<q",
    10: "<?",
    11: "<b",
    12: "<B",
    13: "<i",
    15: "<h",
    16: "<H",
    17: "<H",
    19: "<e",
    22: "<I",
    23: "<Q",
}
"""How tensor_content stores a number, by dtype; bfloat16 has no code."""


def _tensor(read: Read, start: int, end: int) -> tuple[int, int, float]:
    """Tell what a tensor is, its dtype, and its number if it is just one."""
    dtype, shape, content, lists = 0, None, (0, 0), False
    for key, at, size in fields(read, start, end):
        if key == 0x08:
            dtype = size & _ENUM
        elif key == 0x12:
            if shape is not None:
                raise Odd
            shape = read(at, size)
        elif key == 0x22:
            content = at, size
        elif key >> 3 in _LISTS:
            lists = True
    dtype -= 100 if dtype > 100 else 0
    if not 0 < dtype < 0x80:
        return values.TENSOR, 0, 0.0
    if dtype not in numbers.DTYPES or content[1] > 8 or (shape and not _is_one_element(shape)):
        return values.TENSOR, dtype, 0.0
    if not content[1]:
        if lists:
            raise Odd  # typed lists have as many forms as protobuf allows
        return values.NUMBER, dtype, 0.0
    data = read(*content)
    if len(data) != numbers.DTYPES[dtype]:
        return values.TENSOR, dtype, 0.0
    if dtype == numbers.BFLOAT16:
        return values.NUMBER, dtype, float(struct.unpack("<f", b"\0\0" + data)[0])
    (value,) = struct.unpack(_CONTENT[dtype], data)
    exact = not isinstance(value, int) or float(value) == value
    return values.NUMBER, dtype if exact else dtype | numbers.ROUNDED, float(value)
