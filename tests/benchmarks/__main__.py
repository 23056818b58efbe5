"""Measure every reader on every log, and print the tables that docs/benchmarks.md carries.

docs/benchmarks.md says what is measured, and how.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path

from . import logs, shapes, tables
from .measuring import Bench, Measured, Subject, compile_limit, default_folder, run_limit
from .subjects import AT_LEAST, LIMIT, LIMITED, WITHIN_LIMIT, WORK, readers

COSTS = {
    "`scalars()`": "own.read",
    "of which data checksums": "own.checksums",
    "`tags()`": "own.tags",
    "`runs()`": "own.runs",
    "`scalars()` again on an open `LogDir`": "own.again",
    "`refresh()` after 1,000 appended values": "own.refresh",
    "`import tbframe` beyond pandas and xarray": "own.importing",
}


def _arguments() -> argparse.Namespace:
    names = [*logs.RECIPES, *WORK, "costs", "growth"]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__, add_help=True)
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--repeat", type=int, default=5, help="runs of each reader, of which the best counts (5)")
    parser.add_argument("--patience", type=float, default=math.inf, help="what took more seconds is not run again")
    parser.add_argument("--small", action="store_true", help="a tenth of every log")
    parser.add_argument("--logs", type=Path, default=default_folder(), help="where to keep the logs (%(default)s)")
    parser.add_argument("--peers-python", default=sys.executable, help="the Python that has the other readers")
    parser.add_argument("--out", type=Path, help="write the tables there; between the marks, if the file has any")
    return parser.parse_args()


def _read(bench: Bench, log: logs.Log, name: str, limit: Path | None) -> dict[str, Measured]:
    """Measure the readers of one log, and compare what they found."""
    found = bench.best(readers(log), touch=log.path)
    if limit is not None and name in LIMITED:
        found[LIMIT] = run_limit(limit, log.path, bench.repeat)
    for reader, measured in found.items():
        if measured.rows != log.rows:
            raise SystemExit(f"{name}: {reader} found {measured.rows:,} rows, the log holds {log.rows:,}")
    return found


def _misses(name: str, found: dict[str, Measured]) -> list[str]:
    own = found["tbframe"].seconds
    claims = AT_LEAST.get(name, {}) or ({WORK[name].peer_name: WORK[name].at_least} if name in WORK else {})
    ratios = {peer: (found[peer].seconds / own, least) for peer, least in claims.items() if peer in found}
    misses = [
        f"{name}: {ratio:.1f}× {peer}, at least {least}×" for peer, (ratio, least) in ratios.items() if ratio < least
    ]
    if name == "scalars-one" and LIMIT in found and own > WITHIN_LIMIT * found[LIMIT].seconds:
        misses.append(f"{name}: {own / found[LIMIT].seconds:.1f} times the {LIMIT}, at most {WITHIN_LIMIT}")
    return misses


class _Report:
    """What was measured so far."""

    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self.bench = Bench(options.peers_python, options.repeat, options.patience)
        needed = [*options.only, *(WORK[name].log for name in options.only if name in WORK)]
        needed += ["scalars-one"] * ("costs" in options.only)
        self.logs = logs.make(options.logs, small=options.small, only=needed)
        self.scratch, self.limit = scratch, compile_limit(scratch)
        self.reading: dict[str, dict[str, Measured]] = {}
        self.work: dict[str, dict[str, Measured]] = {}
        self.costs: dict[str, Measured] = {}
        self.growth: dict[str, tuple[Measured, Measured]] = {}
        self.misses: list[str] = []

    def measure(self, name: str) -> None:
        """Measure one of the things that can be asked for."""
        if name in logs.RECIPES:
            self.reading[name] = _read(self.bench, self.logs[name], name, self.limit)
            self.misses += _misses(name, self.reading[name])
        elif name in WORK:
            self.work[name] = self.bench.best(WORK[name].subjects(self.logs, self.scratch))
            self.misses += _misses(name, self.work[name])
        elif name == "costs":
            self.costs = self._costs()
        else:
            self.growth = self._growth()

    def _costs(self) -> dict[str, Measured]:
        path = self.logs["scalars-one"].path
        arguments = {"own.read": (path, "scalars"), "own.refresh": (path, str(self.scratch)), "own.importing": ()}
        subjects = {what: Subject(name, arguments.get(name, (path,))) for what, name in COSTS.items()}
        return self.bench.best(subjects, touch=path)

    def _growth(self) -> dict[str, tuple[Measured, Measured]]:
        growth = {}
        for i, (what, (write, size)) in enumerate(shapes.SHAPES.items()):
            places = {times: self.scratch / f"{i}-{times}" for times in ("once", "twice")}
            write(places["once"], size)
            write(places["twice"], 2 * size)
            found = self.bench.best(
                {times: Subject("own.read", (str(path), "scalars")) for times, path in places.items()}
            )
            growth[f"{size:,} {what}"] = found["once"], found["twice"]
        return growth

    def text(self) -> str:
        """Return the tables."""
        return tables.document(self.bench, self.logs, self.reading, self.work, self.costs, self.growth)


def main() -> None:
    """Measure what was asked for."""
    options = _arguments()
    with tempfile.TemporaryDirectory() as scratch:
        report = _Report(options, Path(scratch))
        for name in options.only:
            print(f"measuring {name}", file=sys.stderr, flush=True)
            report.measure(name)
    print(report.text())
    for miss in [] if options.small else report.misses:
        print(f"below its target: {miss}", file=sys.stderr)
    if options.out is not None:
        tables.put(report.text(), options.out)


if __name__ == "__main__":
    main()
