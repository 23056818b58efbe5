"""WAV files: what their header says, and their samples as numbers; and what a clip is if it is no WAV.

The header's bytes come through a function, so that of a clip in a file only the header is read.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tbframe.events.singly import Read

__all__ = ["WavHeader", "read_header", "samples", "sniff"]

PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE

_MOST_CHUNKS: Final = 1024
_MAGIC: Final = (
    (0, b"OggS", "ogg"),
    (0, b"fLaC", "flac"),
    (0, b"ID3", "mp3"),
    (0, b"FORM", "aiff"),
    (0, b".snd", "au"),
    (0, b"\x1a\x45\xdf\xa3", "webm"),
    (4, b"ftyp", "mp4"),
)
_ENCODINGS: Final = {2: "ADPCM", 6: "A-law", 7: "µ-law", 0x11: "IMA ADPCM", 0x55: "MP3"}
_INTEGERS: Final = (8, 16, 24, 32)
_FLOATS: Final = (32, 64)


class WavHeader(NamedTuple):
    """What the chunks of a WAV file say.

    Attributes
    ----------
    encoding : int
        Microsoft's number of it: 1 for integers, 3 for floats. That within an extensible format, if it is one.
    channels : int
        How many.
    rate : int
        Frames per second.
    width : int
        Bytes of a frame, which is one number for each channel.
    bits : int
        Of a number.
    at, size : int
        Where the samples begin, and how many bytes there are of them.
    """

    encoding: int
    channels: int
    rate: int
    width: int
    bits: int
    at: int
    size: int

    @property
    def frames(self) -> int | None:
        """How many frames there are; None if they have no fixed width."""
        return self.size // self.width if self.width and self.encoding in (PCM, FLOAT, 6, 7) else None


def sniff(read: Read) -> str:
    r"""Tell the format of a clip.

    Parameters
    ----------
    read : callable
        ``read(at, n)`` gives up to n bytes from this place in the clip.

    Returns
    -------
    str
        "wav", "mp3", "ogg", "flac", "aac", "aiff", "au", "mp4", "webm"; "" for anything else.

    Examples
    --------
    >>> sniff(lambda at, n: b"fLaC\0\0\0\x22"[at : at + n])
    'flac'
    """
    head = read(0, 12)
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "wav"
    for at, magic, name in _MAGIC:
        if head[at : at + len(magic)] == magic:
            return name
    if head[:1] == b"\xff" and len(head) > 1:
        if head[1] & 0xF6 == 0xF0:  # twelve bits of synchronisation, and layer 0
            return "aac"
        if head[1] & 0xE0 == 0xE0 and head[1] & 0x06:
            return "mp3"
    return ""


def read_header(read: Read, size: int) -> WavHeader:
    """Read the header of a WAV file.

    Parameters
    ----------
    read : callable
        ``read(at, n)`` gives up to n bytes from this place in the clip.
    size : int
        How many bytes the clip has.

    Returns
    -------
    WavHeader
        Of no more samples than there are: a header that was written before its clip may claim any number.

    Raises
    ------
    ValueError
        If it is no WAV file, or the chunk of the format or that of the samples is missing.
    """
    head = read(0, 12)
    if head[:4] != b"RIFF" or head[8:12] != b"WAVE":
        raise ValueError(f"the {size} bytes are no WAV file")
    form, at = b"", 12
    for _ in range(_MOST_CHUNKS):
        head = read(at, 8)
        if len(head) < 8:
            break
        name, length = head[:4], int.from_bytes(head[4:], "little")
        if name == b"fmt ":
            form = read(at + 8, min(length, 40))
        elif name == b"data":
            if len(form) < 16:
                raise ValueError("the WAV file does not tell its format before its samples")
            return _header(form, at + 8, min(length, size - at - 8))
        at += 8 + length + length % 2
    raise ValueError("the WAV file holds no samples")


def _header(form: bytes, at: int, size: int) -> WavHeader:
    encoding, channels = (int.from_bytes(form[i : i + 2], "little") for i in (0, 2))
    width, bits = (int.from_bytes(form[i : i + 2], "little") for i in (12, 14))
    if encoding == EXTENSIBLE and len(form) >= 26:
        encoding = int.from_bytes(form[24:26], "little")
    return WavHeader(encoding, channels, int.from_bytes(form[4:8], "little"), width, bits, at, size)


def samples(data: bytes) -> npt.NDArray[np.float64]:
    """Decode the samples of a WAV file.

    Parameters
    ----------
    data : bytes
        The file: integers of 8, 16, 24 or 32 bits, or floats of 32 or 64.

    Returns
    -------
    ndarray of float64, shape (frames, channels)
        Integers as fractions of full scale, from -1 up to less than 1; floats as they are.

    Raises
    ------
    ValueError
        If it is no such file.
    """
    header = read_header(lambda at, n: data[at : at + n], len(data))
    known = {PCM: _INTEGERS, FLOAT: _FLOATS}.get(header.encoding, ())
    if header.bits not in known or header.width != header.channels * header.bits // 8 or not header.width:
        name = {PCM: "integers", FLOAT: "floats"}.get(header.encoding)
        name = name or _ENCODINGS.get(header.encoding, f"encoding {header.encoding}")
        raise ValueError(
            f"the WAV file holds {name} of {header.bits} bits in frames of {header.width} bytes for {header.channels} "
            "channels: expected integers of 8, 16, 24 or 32 bits, or floats of 32 or 64"
        )
    held = data[header.at : header.at + header.size // header.width * header.width]
    values = _floats(held, header.bits) if header.encoding == FLOAT else _fractions(held, header.bits)
    return values.reshape(-1, header.channels)


def _floats(held: bytes, bits: int) -> npt.NDArray[np.float64]:
    stored: npt.NDArray[np.floating] = np.frombuffer(held, f"<f{bits // 8}")
    return stored.astype(np.float64)


def _fractions(held: bytes, bits: int) -> npt.NDArray[np.float64]:
    if bits == 8:  # the only ones without a sign
        return np.frombuffer(held, np.uint8) / np.float64(128) - 1
    if bits == 24:  # the upper three bytes of 32 bits
        wide = np.zeros((len(held) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(held, np.uint8).reshape(-1, 3)
        held, bits = wide.tobytes(), 32
    stored: npt.NDArray[np.signedinteger] = np.frombuffer(held, f"<i{bits // 8}")
    fractions = stored.astype(np.float64)
    fractions /= 2.0 ** (bits - 1)
    return fractions
