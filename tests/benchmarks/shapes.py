"""Logs whose shape could make a reader slow: many tags, a long one, many files, many layouts. Each of any size."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from .logs import TAGS, Written, write_table
from .wire import EventFile, double, field, simple_value, varint

LONG_TAG = b"net/" + b"x" * 1_996


def many_tags(path: Path, tags: int) -> Written:
    """One run with ten values of each tag."""
    return write_table(path / "run", [f"layer_{i // 100}/unit_{i}/activation".encode() for i in range(tags)], 10)


def long_tag(path: Path, rows: int, tag: bytes = LONG_TAG) -> Written:
    """Rows of ten tags, and one in their midst with another tag."""
    written = Written()
    with EventFile(path / "run") as file:
        for i, value in enumerate(np.random.default_rng(0).standard_normal(rows).astype("<f4")):
            name = tag if i == rows // 2 else TAGS[i % len(TAGS)]
            file.add_summary(1.7e9 + i, i // len(TAGS), simple_value(name, value.tobytes()))
            written.add(np.array([i // len(TAGS)]), value[None])
    return written


def many_files(path: Path, files: int) -> Written:
    """Runs of one file with ten events each."""
    written = Written()
    for i in range(files):
        written.include(write_table(path / f"trial_{i}", TAGS[:2], 5))
    return written


def many_layouts(path: Path, events: int) -> Written:
    """Events of a hundred layouts in turn: fields in other orders, and among them some that no reader knows."""
    written, orders = Written(), list(itertools.permutations(range(4)))[::2][:10]
    values, steps = np.random.default_rng(0).standard_normal(events).astype("<f4"), np.arange(events) // 100
    written.add(steps, values)
    with EventFile(path / "run") as file:
        for i, (step, value) in enumerate(zip(steps.tolist(), values, strict=True)):
            parts = [field(1, b"loss"), b"\x15" + value.tobytes(), field(7, b"node"), varint(12 << 3) + b"\x05"]
            body = b"".join(parts[k] for k in orders[i % 10])
            parts = [double(1, 1.7e9 + i), b"\x10" + varint(step), field(5, field(1, body)), varint(13 << 3) + b"\x07"]
            file.add(b"".join(parts[k] for k in orders[i // 10 % 10]))
    return written


SHAPES = {
    "tags in one run, ten values each": (many_tags, 10_000),
    "rows, one of them with a tag of 2,000 bytes": (long_tag, 100_000),
    "files of ten events": (many_files, 3_000),
    "events of 100 different layouts": (many_layouts, 100_000),
}
"""What writes each shape, and the size at which it is measured."""


def many_seeds(path: Path, runs: int, steps: int) -> Written:
    """Runs of one tag each, of two settings in turn."""
    written = Written()
    for i in range(runs):
        written.include(write_table(path / f"lr_{i % 2}" / f"seed_{i // 2}", [b"loss"], steps))
    return written
