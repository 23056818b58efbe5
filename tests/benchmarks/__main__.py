"""Measure every reader on every log, and print the tables that docs/benchmarks.md carries.

    python -m tests.benchmarks --peers-python PATH [--only scalars-one rebin] [--repeat 5] [--out docs/benchmarks.md]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from . import logs, tables
from .measuring import Bench, Measured, Subject, compile_limit, default_folder, run_limit
from .subjects import AT_LEAST, LIMIT, LIMITED, WITHIN_LIMIT, WORK, readers

COSTS = {
    "`scalars()`": Subject("own.read"),
    "of which data checksums": Subject("own.checksums"),
    "`tags()`": Subject("own.tags"),
    "`runs()`": Subject("own.runs"),
    "`scalars()` again on an open `LogDir`": Subject("own.again"),
    "`refresh()` after 1,000 appended values": Subject("own.refresh"),
}


def _arguments() -> argparse.Namespace:
    names = [*logs.RECIPES, *WORK, "costs"]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__, add_help=True)
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--repeat", type=int, default=5, help="runs of each reader, of which the best counts (5)")
    parser.add_argument("--patience", type=float, default=float("inf"), help="readers that took more seconds run once")
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
    misses = [f"{name}: {ratio:.1f}× {peer}, at least {least}×" for peer, (ratio, least) in ratios.items() if ratio < least]
    if name == "scalars-one" and LIMIT in found and own > WITHIN_LIMIT * found[LIMIT].seconds:
        misses.append(f"{name}: {own / found[LIMIT].seconds:.1f} times the {LIMIT}, at most {WITHIN_LIMIT}")
    return misses


def main() -> None:
    """Measure what was asked for."""
    options = _arguments()
    bench = Bench(options.peers_python, options.repeat, options.patience)
    known = logs.make(options.logs, small=options.small)
    reading: dict[str, dict[str, Measured]] = {}
    work: dict[str, dict[str, Measured]] = {}
    costs: dict[str, Measured] = {}
    misses = []
    with tempfile.TemporaryDirectory() as scratch:
        limit = compile_limit(Path(scratch))
        for name in options.only:
            print(f"measuring {name}", file=sys.stderr, flush=True)
            if name in logs.RECIPES:
                found = reading[name] = _read(bench, known[name], name, limit)
            elif name in WORK:
                found = work[name] = bench.best(WORK[name].subjects(known, Path(scratch)))
            else:
                one = known["scalars-one"].path
                more = {"own.read": ("scalars",), "own.refresh": (scratch,)}
                chosen = {
                    title: Subject(cost.function, (one, *more.get(cost.function, ()))) for title, cost in COSTS.items()
                }
                costs = bench.best(chosen, touch=one)
                continue
            misses += _misses(name, found)
    text = tables.document(bench, known, reading, work, costs)
    print(text)
    for miss in misses:
        print(f"below its target: {miss}", file=sys.stderr)
    if options.out is not None:
        tables.put(text, options.out)


if __name__ == "__main__":
    main()
