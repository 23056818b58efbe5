"""A log directory at a glance, as text and as HTML: what kinds it holds, how many tags and values, which runs."""

from __future__ import annotations

import html
from collections.abc import Iterable

import pandas as pd

from tbframe.kinds.catalog import Catalog
from tbframe.kinds.kind import NAMES
from tbframe.kinds.overview import runs_frame, tags_frame

__all__ = ["as_html", "as_text", "size_text"]

_MOST_RUNS = 12
_LINE = 120  # letters
_CELL = 60


def size_text(size: float) -> str:
    """Write a number of bytes with three digits and a decimal unit.

    Parameters
    ----------
    size : float
        Bytes.

    Returns
    -------
    str
        As file managers do.

    Examples
    --------
    >>> size_text(28), size_text(401_158_610)
    ('28 B', '401 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _by_kind(catalog: Catalog) -> pd.DataFrame:
    """Count runs, tags, values and bytes of every kind that is there."""
    tags = tags_frame(catalog)
    kinds = tags.groupby(tags["kind"].astype(str), sort=False)
    table = kinds.agg(runs=("run", "nunique"), tags=("tag", "nunique"), values=("count", "sum"), bytes=("bytes", "sum"))
    table["names"] = pd.Series({kind: list(dict.fromkeys(some)) for kind, some in kinds["tag"]}, dtype=object)
    return table.loc[[name for name in NAMES if name in table.index]]


def _first_of(names: Iterable[str], room: int) -> str:
    """List as many names as there is room for, and the first in any case."""
    shown: list[str] = []
    used = len(", …")
    for name in names:
        readable = name if name and name.isprintable() else repr(name)
        used += len(readable) + len(", ")
        if shown and used > room:
            return ", ".join([*shown, "…"])
        shown.append(readable if len(readable) <= room else readable[: room - 1] + "…")
    return ", ".join(shown)


def _headline(catalog: Catalog, name: str) -> str:
    runs = runs_frame(catalog)
    files, events, size = (int(runs[column].sum()) for column in ("files", "events", "bytes"))
    parts = [_counted(len(runs), "run"), _counted(files, "file"), _counted(events, "event")]
    damaged = int((runs["damaged"] > 0).sum())
    if damaged:
        parts.append(f"{_counted(damaged, 'run')} damaged")
    return f"{name!r}: {', '.join(parts)}, {size_text(size)}"


def as_text(catalog: Catalog, name: str) -> str:
    """Describe a log directory in a few lines.

    Parameters
    ----------
    catalog : Catalog
        What was read of it.
    name : str
        Its path.

    Returns
    -------
    str
        A headline, and a line for each kind with the first of its tags.
    """
    lines = [f"<tbframe.LogDir {_headline(catalog, name)}>"]
    table = _by_kind(catalog)
    width = max(map(len, table.index), default=0)
    for kind, row in table.iterrows():
        counts = (
            f"{_counted(row['tags'], 'tag'):>10}  {_counted(row['values'], 'value'):>14}  {size_text(row['bytes']):>8}"
        )
        line = f"  {kind!s:<{width}}{counts}  in {_counted(int(row['runs']), 'run')}: "
        lines.append(line + _first_of(row["names"], _LINE - len(line)))
    return "\n".join(lines)


def as_html(catalog: Catalog, name: str) -> str:
    """Describe a log directory as HTML, for notebooks.

    Parameters
    ----------
    catalog : Catalog
        What was read of it.
    name : str
        Its path.

    Returns
    -------
    str
        A headline, a table of kinds, and the runs to unfold.
    """
    kinds = _by_kind(catalog)
    kinds["bytes"] = [size_text(size) for size in kinds["bytes"]]
    kinds["names"] = [_first_of(names, _CELL) for names in kinds["names"]]
    runs = runs_frame(catalog)[["run", "files", "events", "bytes", "truncated", "damaged"]]
    runs["bytes"] = [size_text(size) for size in runs["bytes"]]
    hidden = len(runs) - _MOST_RUNS
    more = f"<p>… and {hidden:,} more: see <code>.runs()</code></p>" if hidden > 0 else ""
    with pd.option_context("display.max_colwidth", None):
        tables = [table.to_html(index=False, border=0) for table in (kinds.reset_index(), runs.head(_MOST_RUNS))]
    return (
        f"<div><p><b>tbframe.LogDir</b> {html.escape(_headline(catalog, name))}</p>"
        f"{tables[0]}"
        f"<details><summary>{len(runs):,} runs</summary>"
        f"{tables[1]}{more}</details></div>"
    )
