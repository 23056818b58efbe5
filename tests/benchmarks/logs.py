"""The eight benchmark logs, byte for byte what the real writers write. Made in a quarter of a minute, kept for the next time.

============== ==================================================================================================
scalars-one    1 run, 10 tags × 100,000 steps, as PyTorch writes them
scalars-tf2    1 run, 10 tags × 50,000 steps, as TensorFlow 2 writes them: tensors, with metadata each
scalars-mixed  1 run, 31 tags at irregular steps: some at every step, some at every 10th, some at every 100th; 400,000 values
scalars-merged 1 run, 25,000 events of 20 values each, as TensorFlow 1's merged summaries are
scalars-runs   400 runs × 5 tags × 500 steps: many small files
media          1 run, 20,000 scalars among 2,000 images of 200 kB
hist-tf2       1 run, 10 tags × 2,000 steps × 30 buckets, as TensorFlow 2 writes them
hist-torch     1 run, 10 tags × 500 steps, in the sparse default buckets of PyTorch, a few hundred each
============== ==================================================================================================
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from .wire import (
    MARK,
    EventFile,
    around,
    histogram_proto,
    histogram_tensor,
    image,
    scalar_tensor,
    simple_value,
)

_VERSION = 1
"""Logs kept by another version of this module are made again."""
_SMALL = 10
"""A small log has this many times fewer values."""

TAGS = [f"{part}/{name}".encode() for part in ("train", "valid") for name in
        ("loss", "accuracy", "lr", "grad_norm", "perplexity")]  # fmt: skip
LAYERS = [f"net/layer_{i}/{'b' if i % 3 == 0 else 'weight'}/norm".encode() for i in range(20)]


@dataclass(frozen=True)
class Log:
    """A log, and what a reader must find in it."""

    path: str
    """The logdir."""
    kind: str
    """scalars or histograms."""
    rows: int
    """How many of them."""
    steps: int
    """The sum of their steps."""
    total: float
    """The sum of the values, or of all counts."""


@dataclass
class Written:
    """What was written so far."""

    rows: int = 0
    steps: int = 0
    total: float = 0.0

    def add(self, step: np.ndarray, value: np.ndarray) -> None:
        """Count values and the step of each, in arrays of equal shape; values count as the float32 that they become."""
        self.rows += value.size
        self.steps += int(step.sum())
        self.total += float(value.astype("<f4").astype("f8").sum())

    def include(self, other: Written) -> None:
        """Count what was written elsewhere."""
        self.rows, self.steps, self.total = self.rows + other.rows, self.steps + other.steps, self.total + other.total


def make(folder: Path, *, small: bool = False, only: list[str] | None = None) -> dict[str, Log]:
    """Make the logs that are not there yet.

    Parameters
    ----------
    folder : Path
        Where to keep them: 620 MB.
    small : bool
        Make a tenth of everything.
    only : list of str, optional
        Names of the logs. Default: all.

    Returns
    -------
    dict of str to Log
        In the order of the table.
    """
    return {name: _kept(folder, name, small) for name in RECIPES if only is None or name in only}


def _kept(folder: Path, name: str, small: bool) -> Log:
    path, note = folder / name, folder / f"{name}.json"
    state = {"version": _VERSION, "small": small}
    if note.exists():
        known = json.loads(note.read_text())
        if known.pop("state") == state and path.is_dir():
            return Log(**known | {"path": str(path)})
        note.unlink()
        shutil.rmtree(path, ignore_errors=True)
    elif path.exists():
        raise FileExistsError(f"{path} is there, but was not made by the benchmarks: give another folder")
    kind, write = RECIPES[name]
    written = write(path, _SMALL if small else 1)
    log = Log(str(path), kind, written.rows, written.steps, written.total)
    note.write_text(json.dumps(asdict(log) | {"state": state}))
    return log


def _times(shape: tuple[int, ...]) -> np.ndarray:
    """Wall times of events, a millisecond from each to the next."""
    return 1.7e9 + 1e-3 * np.arange(1, np.prod(shape) + 1).reshape(shape)


def write_table(
    run: Path, tags: list[bytes], steps: int, value: Callable[[bytes, bytes], bytes] = simple_value
) -> Written:
    """Write a value of each tag at each step, an event each.

    Parameters
    ----------
    run : Path
        The directory of the run.
    tags : list of bytes
        The tags.
    steps : int
        How many steps.
    value : callable
        Makes the summary of a tag and the four bytes of a number.

    Returns
    -------
    Written
        What a reader must find.
    """
    written, shape = Written(), (steps, len(tags))
    values = np.random.default_rng(0).standard_normal(shape)
    written.add(np.broadcast_to(np.arange(steps)[:, None], shape), values)
    with EventFile(run) as file:
        file.add_scalars([around(value(tag, MARK)) for tag in tags], _times(shape), values)
    return written


def _one(path: Path, divisor: int) -> Written:
    return write_table(path / "run", TAGS, 100_000 // divisor)


def _tf2(path: Path, divisor: int) -> Written:
    return write_table(path / "run", TAGS, 50_000 // divisor, scalar_tensor)


def _mixed(path: Path, divisor: int) -> Written:
    written, random = Written(), np.random.default_rng(0)
    step, wall_time = 0, 1.7e9
    with EventFile(path / "run") as file:
        while written.rows < 400_000 // divisor:
            tags = TAGS[:5] + TAGS[5:] * (step % 10 == 0) + LAYERS * (step % 100 == 0)
            tags += [b"rare/event"] * (random.random() < 0.02)
            values = random.standard_normal(len(tags)).astype("<f4")
            written.add(np.full(len(tags), step), values)
            for tag, value in zip(tags, values, strict=True):
                wall_time += 1e-3
                file.add_summary(wall_time, step, simple_value(tag, value.tobytes()))
            step += 1
    return written


def _merged(path: Path, divisor: int) -> Written:
    steps, written = 25_000 // divisor, Written()
    values = np.random.default_rng(0).standard_normal((steps, len(LAYERS))).astype("<f4")
    written.add(np.broadcast_to(np.arange(steps)[:, None], values.shape), values)
    with EventFile(path / "run") as file:
        for step, wall_time in enumerate(_times((steps,)).tolist()):
            row = zip(LAYERS, values[step], strict=True)
            file.add_summary(wall_time, step, b"".join(simple_value(tag, value.tobytes()) for tag, value in row))
    return written


def _runs(path: Path, divisor: int) -> Written:
    written, random = Written(), np.random.default_rng(0)
    columns = [around(simple_value(tag, MARK)) for tag in TAGS[:5]]
    times = _times((500, 5))
    for run in range(400 // divisor):
        values = random.standard_normal((500, 5))
        written.add(np.broadcast_to(np.arange(500)[:, None], (500, 5)), values)
        with EventFile(path / f"sweep-{run // 20:02d}" / f"seed-{run % 20:02d}", run) as file:
            file.add_scalars(columns, times, values)
    return written


def _media(path: Path, divisor: int) -> Written:
    written, random = Written(), np.random.default_rng(0)
    picture = image(b"sample/image", 64, 64, random.integers(0, 256, 200_000, np.uint8).tobytes())
    wall_time = 1.7e9
    with EventFile(path / "run") as file:
        for step in range(2_000 // divisor):
            values = random.standard_normal(len(TAGS)).astype("<f4")
            written.add(np.full(len(TAGS), step), values)
            file.add_summary(wall_time, step, picture)
            for tag, value in zip(TAGS, values, strict=True):
                wall_time += 1e-3
                file.add_summary(wall_time, step, simple_value(tag, value.tobytes()))
    return written


def _hist_tf2(path: Path, divisor: int) -> Written:
    written, random = Written(), np.random.default_rng(0)
    wall_time = 1.7e9
    with EventFile(path / "run") as file:
        for step in range(2_000 // divisor):
            for tag in TAGS:
                counts, edges = np.histogram(random.standard_normal(256) + step * 1e-3, 30)
                wall_time += 1e-3
                file.add_summary(wall_time, step, histogram_tensor(tag, np.stack([edges[:-1], edges[1:], counts], 1)))
                _add_histogram(written, step, counts)
    return written


def _hist_torch(path: Path, divisor: int) -> Written:
    written, random = Written(), np.random.default_rng(0)
    positive = 1e-12 * 1.1 ** np.arange(774)  # up to 1e20, as tensorboard's summary module has them
    limits = np.concatenate([-positive[::-1], [0.0], positive])
    wall_time = 1.7e9
    with EventFile(path / "run") as file:
        for step in range(500 // divisor):
            for tag in TAGS:
                data = random.standard_normal(2_000) * 0.1
                counts = np.histogram(data, limits)[0].astype("f8")
                first, last = np.flatnonzero(counts)[[0, -1]]
                statistics = [data.min(), data.max(), float(data.size), data.sum(), (data * data).sum()]
                # An empty bucket comes first, for the left edge of the next.
                kept = np.concatenate([[0.0], counts[first : last + 1]])
                wall_time += 1e-3
                file.add_summary(wall_time, step, histogram_proto(tag, statistics, limits[first : last + 2], kept))
                _add_histogram(written, step, counts)
    return written


def _add_histogram(written: Written, step: int, counts: np.ndarray) -> None:
    written.rows += 1
    written.steps += step
    written.total += float(counts.sum())


RECIPES: dict[str, tuple[str, Callable[[Path, int], Written]]] = {
    "scalars-one": ("scalars", _one),
    "scalars-tf2": ("scalars", _tf2),
    "scalars-mixed": ("scalars", _mixed),
    "scalars-merged": ("scalars", _merged),
    "scalars-runs": ("scalars", _runs),
    "media": ("scalars", _media),
    "hist-tf2": ("histograms", _hist_tf2),
    "hist-torch": ("histograms", _hist_torch),
}
