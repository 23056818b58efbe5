"""SummaryMetadata: which plugin a tag belongs to."""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

from tbframe.events import singly

__all__ = ["NO_METADATA", "SCALAR_CLASS", "TagMetadata", "decode_text", "mesh_name", "parse_metadata"]

SCALAR_CLASS: Final = 1
"""The data class SCALAR."""


class TagMetadata(NamedTuple):
    """What the metadata of a tag say."""

    plugin: str = ""
    content: bytes = b""
    data_class: int = 0
    display_name: str = ""
    description: str = ""


NO_METADATA: Final = TagMetadata()


def decode_text(data: bytes) -> str:
    r"""Decode a name or text; what is not UTF-8 is shown as backslash escapes.

    Parameters
    ----------
    data : bytes
        The bytes as logged.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> decode_text(b"loss"), decode_text(b"\xff")
    ('loss', '\\xff')
    """
    return data.decode("utf-8", "backslashreplace")


@functools.lru_cache(maxsize=1024)
def parse_metadata(data: bytes) -> TagMetadata:
    """Decode a SummaryMetadata.

    Parameters
    ----------
    data : bytes
        The serialized message.

    Returns
    -------
    TagMetadata
        What it says; empty if it is malformed.
    """
    plugin, content, data_class = b"", b"", 0
    texts = {0x12: b"", 0x1A: b""}
    read = _reader(data)
    try:
        for key, at, size in singly.fields(read, 0, len(data)):
            if key == 0x0A:
                for inner, begin, length in singly.fields(read, at, at + size):
                    if inner == 0x0A:
                        plugin = data[begin : begin + length]
                    elif inner == 0x12:
                        content = data[begin : begin + length]
            elif key in texts:
                texts[key] = data[at : at + size]
            elif key == 0x20:
                data_class = size
    except singly.Odd:
        return NO_METADATA
    return TagMetadata(decode_text(plugin), content, data_class, decode_text(texts[0x12]), decode_text(texts[0x1A]))


def mesh_name(content: bytes) -> str:
    """Return the name of the mesh that a tag of TensorBoard's plugin ``mesh`` is a part of.

    Parameters
    ----------
    content : bytes
        The plugin's content in the metadata, a serialized MeshPluginData.

    Returns
    -------
    str
        The name, "" if there is none.
    """
    try:
        named = [
            content[at : at + size] for key, at, size in singly.fields(_reader(content), 0, len(content)) if key == 0x12
        ]
    except singly.Odd:
        return ""
    return decode_text(named[-1]) if named else ""


def _reader(data: bytes) -> singly.Read:
    return lambda at, n: data[at : at + n]
