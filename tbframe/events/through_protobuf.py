"""Events through protobuf: the shapes for which it has rules of its own, and members whose place nobody found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tbframe.events import numbers, values
from tbframe.events.messages import message_class
from tbframe.events.singly import RUN_GRAPH_TAG, Row, SingleEvent, parse_version
from tbframe.events.tensors import element_count, to_array

__all__ = ["member_bytes", "parse"]

_VALUE_MEMBERS: Final = {
    "simple_value": values.SIMPLE,
    "obsolete_old_style_histogram": values.OLD_HISTOGRAM,
    "image": values.IMAGE,
    "histo": values.HISTO,
    "audio": values.AUDIO,
    "tensor": values.TENSOR,
}
_EVENT_MEMBERS: Final = {
    "file_version": values.VERSION,
    "graph_def": values.GRAPH,
    "log_message": values.LOG_MESSAGE,
    "session_log": values.SESSION_LOG,
    "tagged_run_metadata": values.RUN_METADATA,
    "meta_graph_def": values.META_GRAPH,
}
_NAMES: Final = {code: name for members in (_VALUE_MEMBERS, _EVENT_MEMBERS) for name, code in members.items()}
_NAMES[values.NUMBER] = "tensor"


def parse(data: bytes) -> SingleEvent:
    """Decode the payload of one record.

    Parameters
    ----------
    data : bytes
        A serialized Event.

    Returns
    -------
    SingleEvent
        With the rows of its values, each with its number in the event as place.

    Raises
    ------
    ValueError
        If it is no Event.
    """
    event = _event(data)
    member = event.WhichOneof("what")
    if member is None:
        return SingleEvent(event.wall_time, event.step, [])
    if member == "summary":
        rows = list(_value_rows(event.summary)) or [Row(b"", values.EMPTY, 0, 0.0, values.place_of_index(0), 0, None)]
        return SingleEvent(event.wall_time, event.step, rows)
    tag = RUN_GRAPH_TAG if member == "graph_def" else b""
    if member == "tagged_run_metadata":
        tag = event.tagged_run_metadata.tag
    version = parse_version(event.file_version) if member == "file_version" else None
    starts = member == "session_log" and event.session_log.status == 1
    held = getattr(event, member)
    size = len(held) if isinstance(held, bytes) else held.ByteSize()
    row = Row(tag, _EVENT_MEMBERS[member], 0, 0.0, values.place_of_index(0), size, None)
    return SingleEvent(event.wall_time, event.step, [row], version, starts)


def _event(data: bytes) -> Any:  # noqa: ANN401 - a protobuf message
    from google.protobuf.message import DecodeError

    try:
        return message_class("Event").FromString(data)
    except DecodeError as error:
        raise ValueError("the record holds no Event message though its checksum is right") from error


def _value_rows(summary: Any) -> Iterator[Row]:  # noqa: ANN401 - a protobuf message
    for index, value in enumerate(summary.value):
        member = value.WhichOneof("value")
        what = _VALUE_MEMBERS[member] if member else values.NOTHING
        number, dtype, size = 0.0, 0, 0
        if what == values.SIMPLE:
            number, dtype, size = value.simple_value, numbers.FLOAT, 4
        elif what == values.OLD_HISTOGRAM:
            size = len(value.obsolete_old_style_histogram)
        elif member:
            size = getattr(value, member).ByteSize()
        if what == values.TENSOR:
            what, dtype, number = _tensor(value.tensor)
        metadata = value.metadata.SerializeToString() if value.HasField("metadata") else None
        yield Row(value.tag, what, dtype, number, values.place_of_index(index), size, metadata)


def _tensor(tensor: Any) -> tuple[int, int, float]:  # noqa: ANN401 - a protobuf message
    """Tell what a tensor is, its dtype, and its number if it is just one."""
    dtype = tensor.dtype - 100 if tensor.dtype > 100 else tensor.dtype
    if not 0 < dtype < 0x80:
        return values.TENSOR, 0, 0.0
    if dtype not in numbers.DTYPES or element_count(tensor.tensor_shape.SerializeToString()) != 1:
        return values.TENSOR, dtype, 0.0
    try:
        array = to_array(tensor).reshape(1)
    except ValueError:
        return values.TENSOR, dtype, 0.0  # whoever asks for the tensor itself is told why
    if array.dtype in (np.int64, np.uint64) and numbers.rounds(array)[0]:
        dtype |= numbers.ROUNDED
    return values.NUMBER, dtype, float(array[0])


def member_bytes(data: bytes, what: int, index: int) -> bytes:
    """Return the bytes of one member of an event.

    Parameters
    ----------
    data : bytes
        A serialized Event.
    what : int
        What the row holds, see `values`.
    index : int
        The number of the value in the event's summary.

    Returns
    -------
    bytes
        The serialized member.

    Raises
    ------
    ValueError
        If `data` is no Event.
    """
    event = _event(data)
    holder = event if what >= values.VERSION else event.summary.value[index]
    member = getattr(holder, _NAMES[what])
    return member if isinstance(member, bytes) else bytes(member.SerializeToString())
