"""Large records: of most only the keys are read, where they lie; what decides about scalars is read whole and verified."""

from __future__ import annotations

from typing import BinaryIO, Final

import google_crc32c

from tbframe.events import singly, through_protobuf, values
from tbframe.events.checksums import masked
from tbframe.events.files import EventFile
from tbframe.events.framing import FOOTER, HEADER

__all__ = ["DATA_CHECKSUM", "parse_event", "read_large"]

DATA_CHECKSUM: Final = "the data checksum of a record does not match"
_BLOCK: Final = 1 << 10


def read_large(file: EventFile, stream: BinaryIO, offset: int, length: int) -> singly.SingleEvent | None:
    """Decode a large record, of which as little is read as may be.

    Parameters
    ----------
    file : EventFile
        What is damaged is reported to it; if the record is verified, it is no longer among the unchecked.
    stream : BinaryIO
        The open file.
    offset, length : int
        Where the record starts, and the length of its payload.

    Returns
    -------
    SingleEvent or None
        None if it is damaged.
    """
    try:
        event = singly.parse(_payload_reader(stream, offset + HEADER), length)
        if not _is_needed(event, file):
            return event
    except singly.Odd:
        pass  # protobuf needs it whole
    file.unchecked.discard(offset)
    stream.seek(offset + HEADER)
    data = stream.read(length + FOOTER)
    payload = data[:length]
    reason = DATA_CHECKSUM
    if masked(google_crc32c.value(payload)) == int.from_bytes(data[length:], "little"):
        try:
            event = parse_event(payload)
        except ValueError as error:
            reason = str(error)
        else:
            file.verified_tags.update(row.tag for row in event.rows if row.metadata is not None)
            return event
    file.report(offset, HEADER + length + FOOTER, reason)
    file.records -= 1
    return None


def _payload_reader(stream: BinaryIO, offset: int) -> singly.Read:
    """Read a payload in small blocks, where it is asked for."""
    blocks: dict[int, bytes] = {}

    def read(at: int, n: int) -> bytes:
        if n > _BLOCK:
            stream.seek(offset + at)
            return stream.read(n)
        first = at - at % _BLOCK
        if first not in blocks:
            blocks.clear()
            stream.seek(offset + first)
            blocks[first] = stream.read(2 * _BLOCK)
        return blocks[first][at - first : at - first + n]

    return read


def _is_needed(event: singly.SingleEvent, file: EventFile) -> bool:
    """Tell whether anything in an event decides about scalars, so that it must be verified."""
    if event.version is not None or event.starts:
        return True
    for row in event.rows:
        if row.what in (values.SIMPLE, values.NUMBER):
            return True
        if row.metadata is not None and row.tag not in file.verified_tags:
            return True
    return False


def parse_event(data: bytes) -> singly.SingleEvent:
    """Decode one event, by its keys or through protobuf.

    Parameters
    ----------
    data : bytes
        The payload of a record whose checksum is right.

    Returns
    -------
    SingleEvent
        The event.

    Raises
    ------
    ValueError
        If it is no Event.
    """
    try:
        return singly.parse(lambda at, n: data[at : at + n], len(data))
    except singly.Odd:
        return through_protobuf.parse(data)
