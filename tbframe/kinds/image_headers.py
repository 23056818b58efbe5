"""What an image is and how large, from its first bytes: PNG, JPEG, GIF, BMP and WebP.

The bytes come through a function, so that of an image in a file only the header is read.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from tbframe.events.singly import Read

__all__ = ["ImageHeader", "read_header"]

_Order: TypeAlias = Literal["big", "little"]

_OPENING: Final = 32
"""Bytes that hold the size in every format but JPEG."""

_MOST_SEGMENTS: Final = 1024
"""A JPEG may have any number of segments before that which tells its size; those of cameras have some dozens."""

_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG's markers for the start of a frame."""
_ALONE: Final = frozenset((0x01, *range(0xD0, 0xD9)))
"""JPEG's markers without a length."""
_SCAN, _END = 0xDA, 0xD9


class ImageHeader(NamedTuple):
    """What the first bytes of an image say.

    Attributes
    ----------
    format : str
        "png", "jpeg", "gif", "bmp", "webp"; "" for anything else.
    width, height : int or None
        In pixels; None where that is not known.
    """

    format: str
    width: int | None = None
    height: int | None = None


def read_header(read: Read, size: int) -> ImageHeader:
    r"""Tell the format and the size of an image.

    Parameters
    ----------
    read : callable
        ``read(at, n)`` gives up to n bytes from this place in the image.
    size : int
        How many bytes the image has.

    Returns
    -------
    ImageHeader
        Without a size if the bytes end too early, without a format if they are none of these.

    Examples
    --------
    >>> gif = b"GIF89a\x05\x00\x03\x00"
    >>> read_header(lambda at, n: gif[at : at + n], len(gif))
    ImageHeader(format='gif', width=5, height=3)
    """
    head = read(0, _OPENING)
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return _sized("png", head, 16, 20, 4, "big") if head[12:16] == b"IHDR" else ImageHeader("png")
    if head.startswith((b"GIF87a", b"GIF89a")):
        return _sized("gif", head, 6, 8, 2, "little")
    if head.startswith(b"\xff\xd8\xff"):
        return _jpeg(read, size)
    if head.startswith(b"BM"):
        return _bmp(head)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _webp(head)
    return ImageHeader("")


def _sized(name: str, head: bytes, width: int, height: int, n: int, order: _Order) -> ImageHeader:
    """Read width and height, n bytes each, at their places."""
    if len(head) < height + n:
        return ImageHeader(name)
    return ImageHeader(
        name, int.from_bytes(head[width : width + n], order), int.from_bytes(head[height : height + n], order)
    )


def _bmp(head: bytes) -> ImageHeader:
    old = int.from_bytes(head[14:18], "little") == 12
    header = _sized("bmp", head, 18, 20, 2, "little") if old else _sized("bmp", head, 18, 22, 4, "little")
    if old or header.height is None or header.height < 1 << 31:
        return header
    return header._replace(height=(1 << 32) - header.height)  # negative: its rows run from the top


def _webp(head: bytes) -> ImageHeader:
    kind = head[12:16]
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        found = _sized("webp", head, 26, 28, 2, "little")
        return found if found.width is None or found.height is None else _webp_of(found.width, found.height, 14, 0)
    if kind == b"VP8L" and head[20:21] == b"\x2f" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        return _webp_of(bits, bits >> 14, 14, 1)
    if kind == b"VP8X" and len(head) >= 30:
        return _webp_of(int.from_bytes(head[24:27], "little"), int.from_bytes(head[27:30], "little"), 24, 1)
    return ImageHeader("webp")


def _webp_of(width: int, height: int, bits: int, less: int) -> ImageHeader:
    mask = (1 << bits) - 1
    return ImageHeader("webp", (width & mask) + less, (height & mask) + less)


def _jpeg(read: Read, size: int) -> ImageHeader:
    at = 2
    for _ in range(_MOST_SEGMENTS):
        head = read(at, 9)
        if at >= size or head[:1] != b"\xff" or len(head) < 2:
            break
        marker = head[1]
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in _ALONE:
            at += 2
        elif marker in (_SCAN, _END):
            break
        elif marker in _FRAMES:
            found = _sized("jpeg", head, 7, 5, 2, "big") if len(head) == 9 else ImageHeader("jpeg")
            # A height of 0 stands behind the first scan instead.
            return found if found.height else ImageHeader("jpeg")
        else:
            at += 2 + max(int.from_bytes(head[2:4], "big"), 2)
    return ImageHeader("jpeg")
