"""The bytes of an image to an array of its pixels."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tbframe.kinds.image_headers import read_header
from tbframe.kinds.parts import reader_of

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["TooManyPixelsError", "decode_pixels"]

Pixels = npt.NDArray[Any]

_AS_THEY_ARE = ("L", "LA", "RGB", "RGBA")
_SIXTEEN_BITS = ("I;16", "I;16L", "I;16B", "I")
# What Pillow raises on images that are cut off or damaged.
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError, struct.error)


class TooManyPixelsError(ValueError):
    """An image would take more memory than its bytes suggest."""


def decode_pixels(data: bytes) -> Pixels:
    """Decode an image.

    Parameters
    ----------
    data : bytes
        A PNG, JPEG, GIF, BMP or WebP image.

    Returns
    -------
    ndarray of uint8, shape (height, width, channels)
        With 1 channel for grey, 2 for grey with opacity, 3 for colours and 4 for colours with opacity; palettes are
        looked up. Of an animation all frames, shape (frames, height, width, channels). Grey of 16 bits is uint16; colours
        of 16 bits are rounded to 8.

    Raises
    ------
    TooManyPixelsError
        If all frames together have more pixels than ``PIL.Image.MAX_IMAGE_PIXELS`` allows.
    ValueError
        If it is no such image, or cannot be decoded.
    """
    from PIL import Image

    header = read_header(reader_of(data), len(data))
    if not header.format:
        raise ValueError(f"the {len(data)} bytes are no PNG, JPEG, GIF, BMP or WebP image")
    _refuse_large(header.width or 0, header.height or 0, 1)
    try:
        # Only the decoder that the bytes ask for: Pillow has some that run other programs.
        with Image.open(io.BytesIO(data), formats=[header.format]) as image:
            frames = int(getattr(image, "n_frames", 1))
            _refuse_large(*image.size, frames)
            return _still(image) if frames == 1 else _animation(image, frames)
    except TooManyPixelsError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooManyPixelsError(str(error)) from error
    except _BROKEN as error:
        raise ValueError(f"the {header.format} image cannot be decoded: {error}") from error


def _refuse_large(width: int, height: int, frames: int) -> None:
    from PIL import Image

    if Image.MAX_IMAGE_PIXELS is not None and width * height * frames > Image.MAX_IMAGE_PIXELS:
        several = f" in {frames:,} frames" if frames > 1 else ""
        raise TooManyPixelsError(
            f"the image has {width:,} × {height:,} pixels{several}, more than PIL.Image.MAX_IMAGE_PIXELS = "
            f"{Image.MAX_IMAGE_PIXELS:,} allows: set that higher if you trust the log"
        )


def _still(image: Image) -> Pixels:
    if image.mode in _SIXTEEN_BITS:
        return np.asarray(image).astype(np.uint16)[..., np.newaxis]
    transparent = image.mode in ("P", "PA") and ("transparency" in image.info or image.mode == "PA")
    mode = image.mode if image.mode in _AS_THEY_ARE else "L" if image.mode == "1" else "RGBA" if transparent else "RGB"
    pixels = np.asarray(image if mode == image.mode else image.convert(mode))
    return pixels.reshape(*pixels.shape[:2], -1)


def _animation(image: Image, frames: int) -> Pixels:
    stacked = np.empty((frames, image.height, image.width, 4), np.uint8)
    for i in range(frames):
        image.seek(i)
        stacked[i] = np.asarray(image.convert("RGBA"))
    opaque = bool((stacked[..., 3] == 255).all())
    return stacked[..., :3].copy() if opaque else stacked
