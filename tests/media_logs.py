"""Logs of images, clips, texts, tensors, curves and meshes, written value by value; and how tests read them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from event_bytes import record
from PIL import Image

import tbframe
from tbframe.events.messages import message_class


def read(kind: str, log: Any, **options: Any) -> Any:
    """What the public reader of a kind returns of a log directory, or of an open one."""
    options = {"damaged": "ignore", **options}
    return getattr(log, kind)(**options) if isinstance(log, tbframe.LogDir) else getattr(tbframe, kind)(log, **options)


class Value(NamedTuple):
    """One summary value in an event of its own."""

    step: int
    tag: str
    member: dict[str, Any]
    plugin: str = ""
    content: bytes = b""


def event(value: Value, wall_time: float) -> bytes:
    message = message_class("Event")(wall_time=wall_time, step=value.step)
    logged = message.summary.value.add(tag=value.tag.encode(), **value.member)
    if value.plugin:
        logged.metadata.plugin_data.plugin_name = value.plugin.encode()
        logged.metadata.plugin_data.content = value.content
    return message.SerializeToString()


def write(directory: Path, *values: Value | bytes, run: str = "run") -> Path:
    """Write values, or events as they are, to a log; their wall times are 1000, 1001, ..."""
    events = [value if isinstance(value, bytes) else event(value, 1000.0 + i) for i, value in enumerate(values)]
    version = message_class("Event")(wall_time=999.0, file_version=b"brain.Event:2").SerializeToString()
    (directory / run).mkdir(parents=True, exist_ok=True)
    path = directory / run / "events.out.tfevents.1.host"
    path.write_bytes(b"".join(map(record, [version, *events])))
    return directory


def start(step: int) -> bytes:
    """The event of a writer that starts again at a step."""
    return message_class("Event")(wall_time=1.0, step=step, session_log={"status": 1}).SerializeToString()


def image(step: int, data: bytes, tag: str = "photo") -> Value:
    """An image as TensorFlow 1 and PyTorch log it; the size in the message is wrong."""
    return Value(step, tag, {"image": {"width": 7, "height": 9, "colorspace": 3, "encoded_image_string": data}})


def clip(step: int, tag: str = "sound", **fields: Any) -> Value:
    """A clip as TensorFlow 1 and PyTorch log it."""
    return Value(step, tag, {"audio": fields})


def strings(step: int, values: list[bytes], shape: list[int] | None, plugin: str, tag: str = "strings") -> Value:
    """A tensor of strings, whose shape may say something else; None is no shape."""
    tensor = {"dtype": 7, "string_val": values}
    if shape is not None:
        tensor["tensor_shape"] = {"dim": [{"size": size} for size in shape]}
    return Value(step, tag, {"tensor": tensor}, plugin)


_DTYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int64": 9, "bool": 10}


def tensor(step: int, array: np.ndarray, tag: str, plugin: str = "", content: bytes = b"") -> Value:
    """A tensor of numbers, as TensorFlow 2 writes it."""
    array = np.asarray(array)
    shape = {"dim": [{"size": size} for size in array.shape]}
    return Value(
        step,
        tag,
        {"tensor": {"dtype": _DTYPES[array.dtype.name], "tensor_shape": shape, "tensor_content": array.tobytes()}},
        plugin,
        content,
    )


def encoded(array: np.ndarray, form: str = "png", **options: Any) -> bytes:
    """An image file, by Pillow."""
    file = io.BytesIO()
    Image.fromarray(array).save(file, form, **options)
    return file.getvalue()


def pixels(height: int, width: int, *channels: int, seed: int = 0) -> np.ndarray:
    """Pixels of no meaning."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, *channels), dtype=np.uint8)
