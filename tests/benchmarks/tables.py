"""What was measured, as Markdown."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import math
import os
import platform
import subprocess
from pathlib import Path

from .logs import Log
from .measuring import Bench, Measured
from .subjects import LIMIT, PEERS, WORK

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

_OWN_PACKAGES = ("pandas", "xarray", "numpy", "google-crc32c")
_PEER_PACKAGES = ("tensorboard", "tensorboard-data-server", "tbparse", "tensorboardX", "maidr", "protobuf")


def document(
    bench: Bench,
    logs: dict[str, Log],
    reading: dict[str, dict[str, Measured]],
    work: dict[str, dict[str, Measured]],
    costs: dict[str, Measured],
    growth: dict[str, tuple[Measured, Measured]],
) -> str:
    """Put the tables together.

    Parameters
    ----------
    bench : Bench
        What measured them.
    logs : dict of str to Log
        By name.
    reading, work : dict of str to dict of str to Measured
        By log, or name of the work, and reader.
    costs : dict of str to Measured
        By what it is.
    growth : dict of str to (Measured, Measured)
        By the shape of a log: it, and one twice as large.

    Returns
    -------
    str
        Markdown.
    """
    parts = [_circumstances(bench)]
    if reading:
        parts.append(_reading_table(logs, reading))
    if work:
        parts.append(_work_table(work))
    if costs:
        parts.append(_costs_table(costs))
    if growth:
        parts.append(_growth_table(growth))
    return "\n\n".join(parts) + "\n"


def put(text: str, path: Path) -> None:
    """Write the tables to a file: between the marks if it has them, else in its place."""
    if path.exists() and BEGIN in (page := path.read_text(encoding="utf-8")):
        before, _, rest = page.partition(BEGIN)
        _, _, after = rest.partition(END)
        text = f"{before}{BEGIN}\n\n{text}\n{END}{after}"
    path.write_text(text, encoding="utf-8")


def _circumstances(bench: Bench) -> str:
    own = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _OWN_PACKAGES)
    code = f"""
import importlib.metadata, json
found = {{}}
for name in {_PEER_PACKAGES}:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""
    told = subprocess.run([bench.peers_python, "-c", code], capture_output=True, text=True, check=True).stdout
    peers = ", ".join(f"{name} {version}" for name, version in json.loads(told).items())
    return (
        f"{datetime.date.today().isoformat()}, {_processor()}, {os.cpu_count()} cores, {platform.system()}; "
        f"Python {platform.python_version()}, {own}. "
        + (f"The others: {peers}. " if peers else "")
        + f"Best of {bench.repeat}"
        + (f"; what took more than {bench.patience:.0f} s ran once." if math.isfinite(bench.patience) else ".")
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.1f} ms"


def _memory(peak: int | None) -> str:
    return "" if peak is None else f", {peak / 1e6:.0f} MB"


def _cell(measured: Measured | None, own: Measured) -> str:
    """Seconds, how many times those of tbframe, and memory."""
    if measured is None:
        return "–"
    ratio = measured.seconds / own.seconds
    times = f"{ratio:.0f}×" if ratio >= 20 else f"{ratio:.1f}×" if ratio >= 1 else f"{ratio:.2f}×"
    return _seconds(measured.seconds) + ("" if measured is own else f", **{times}**") + _memory(measured.peak)


def _reading_table(logs: dict[str, Log], reading: dict[str, dict[str, Measured]]) -> str:
    columns = ["tbframe", *[name for name in (*PEERS, LIMIT) if any(name in found for found in reading.values())]]
    rows = []
    for name, found in reading.items():
        own = found["tbframe"]
        size = sum(path.stat().st_size for path in Path(logs[name].path).rglob("*tfevents*"))
        rows.append([
            f"`{name}`: {logs[name].rows:,} {logs[name].kind}, {size / 1e6:.0f} MB",
            *[_cell(found.get(column), own) for column in columns],
        ])  # fmt: skip
    return _table(["log", *columns], rows)


def _work_table(work: dict[str, dict[str, Measured]]) -> str:
    rows = []
    for name, found in work.items():
        own, other = found["tbframe"], found.get(WORK[name].peer_name)
        rows.append([WORK[name].title, f"{own.rows:,}", _cell(own, own), WORK[name].peer_name, _cell(other, own)])
    return _table(["work", "how many", "tbframe", "compared with", "takes"], rows)


def _costs_table(costs: dict[str, Measured]) -> str:
    first = next(iter(costs.values()))
    rows = []
    for title, measured in costs.items():
        seconds = measured.facts.get("checksums", measured.seconds)
        rows.append([title, _seconds(seconds), f"{seconds / first.seconds:.1%}"])
    return _table([f"{first.rows:,} scalars (`scalars-one`)", "takes", "of `scalars()`"], rows)


def _growth_table(growth: dict[str, tuple[Measured, Measured]]) -> str:
    rows = [
        [what, _seconds(once.seconds), _seconds(twice.seconds), f"{twice.seconds / once.seconds:.2f}×"]
        for what, (once, twice) in growth.items()
    ]
    return _table(["log", "takes", "twice as large", "ratio"], rows)
