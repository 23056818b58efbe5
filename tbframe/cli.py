"""The tbframe command: what a log directory holds, and a demonstration on the logs that ship with the package."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd

from tbframe.errors import DamagedFileWarning, TbframeError
from tbframe.logdir import LogDir
from tbframe.samples import sample_logs

__all__ = ["main"]

_DEMO = "demo"
_LONGEST = 48
_EPILOG = """examples:
  tbframe runs/            what is there: runs, tags, what is damaged
  tbframe demo             the same for the logs that ship with tbframe, and figures in ./tbframe-demo
  tbframe ./demo           a log directory that is itself called "demo"
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Returns
    -------
    int
        Exit status: 0, or 1 if the logdir cannot be read.
    """
    parser = argparse.ArgumentParser(
        "tbframe",
        description="Print what a TensorBoard log directory holds.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("logdir", help="a log directory or event file, or the word 'demo'")
    parser.add_argument("--out", default="tbframe-demo", help="where demo writes its figures (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        if options.logdir == _DEMO:
            _demo(Path(options.out))
        else:
            _describe(LogDir(options.logdir))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, TbframeError) as error:
        print(f"tbframe: {error}", file=sys.stderr)
        return 1
    return 0


def _describe(log: LogDir) -> None:
    """Print runs, tags and damage."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DamagedFileWarning)
        runs, tags = log.runs(), log.tags()
    shown = runs.assign(
        start=[_date(time) for time in runs["start"]], duration=[_span(s) for s in runs["end"] - runs["start"]]
    )
    columns = ["run", "files", "events", "bytes", "start", "duration"]
    # Columns that say something only where something is wrong.
    columns += [name for name in ("truncated", "damaged", "restarts", "repeats") if runs[name].any()]
    _print_table("Runs (times in UTC)", shown[columns])
    _print_table("Tags", tags[["run", "tag", "kind", "dtype", "count", "first_step", "last_step", "bytes"]])
    damage = [warning.message for warning in caught if issubclass(warning.category, DamagedFileWarning)]
    print(f"{len(damage)} damaged files:" if damage else "No file is damaged.")
    for message in damage:
        print(f"  {message}")


def _date(time: float) -> str:
    """Write seconds since the epoch as a date; nothing where they are none."""
    try:
        return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError, OSError):  # NaN, or a number that is no time
        return ""


def _span(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds))) if abs(seconds) < 1e12 else ""


def _print_table(title: str, table: pd.DataFrame) -> None:
    print(f"{title}: {len(table)}")
    shown: dict[str, list[str]] = {}
    for name, column in table.items():
        number = pd.api.types.is_integer_dtype(column.dtype)
        texts = [str(name), *(f"{value:,}" if number else _shortened(str(value)) for value in column)]
        width = max(map(len, texts))
        shown[str(name)] = [text.rjust(width) if number else text.ljust(width) for text in texts]
    for row in zip(*shown.values(), strict=True):
        print("  ".join(row).rstrip())
    print()


def _shortened(name: str) -> str:
    """Show a name in one line of bounded length."""
    name = name.encode("unicode_escape").decode() if not name.isprintable() else name
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2 - 1]}…{name[-_LONGEST // 2 :]}"


def _demo(out: Path) -> None:
    """Describe the sample logs, print their scalars as a table, and draw."""
    from tbframe.plotting.charts import ridgelines
    from tbframe.plotting.curves import curves

    log = LogDir(sample_logs())
    _describe(log)
    frame = log.scalars(runs=["adam-1e-2", "adam-1e-3"], tags=["loss/train", "loss/test", "accuracy/test"])
    print("tbframe.scalars(tbframe.sample_logs(), runs=..., tags=...)")
    print(frame.to_string(max_rows=10), end="\n\n")
    out.mkdir(parents=True, exist_ok=True)
    figure = curves(frame, smooth=0.6)
    for suffix in ("png", "pdf"):
        path = out / f"curves.{suffix}"
        figure.savefig(path, **({"dpi": 200} if suffix == "png" else {}))
        print(f"wrote {path}")
    for chart in ridgelines(sample_logs(), runs="adam-1e-2", tags=["0.weight", "2.weight"]):
        path = out / f"ridgeline-{chart.tag}.png"
        chart.save(path, dpi=200)
        print(f"wrote {path}")


if __name__ == "__main__":
    sys.exit(main())
