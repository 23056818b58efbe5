"""What a log directory holds: its runs, its tags, and TensorBoard's index of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from tbframe.events.tensors import dtype_name
from tbframe.kinds.catalog import Catalog, stable_order
from tbframe.kinds.embeddings import names_by_run
from tbframe.kinds.kind import NAMES, NO_KIND
from tbframe.names import natural_order

__all__ = ["index", "runs_frame", "tags_frame"]


def runs_frame(catalog: Catalog) -> pd.DataFrame:
    """Build the table of runs.

    Parameters
    ----------
    catalog : Catalog
        All rows and files.

    Returns
    -------
    pandas.DataFrame
        See `tbframe.runs`.
    """
    columns: dict[str, list[Any]] = {
        name: []
        for name in ("run", "files", "bytes", "events", "start", "end", "truncated", "damaged", "unchecked", "restarts")
    }
    by_run: dict[str, list[Any]] = {run: [] for run in catalog.runs}
    for file in catalog.files:
        by_run[file.run].append(file)
    for place, (run, files) in enumerate(by_run.items()):
        first, last = min(file.first_time for file in files), max(file.last_time for file in files)
        known = first <= last
        values = (
            run,
            len(files),
            sum(file.size for file in files),
            sum(file.records for file in files),
            first if known else math.nan,
            last if known else math.nan,
            any(file.truncated for file in files),
            sum(len(file.damage) + bool(file.error) for file in files),
            sum(len(file.unchecked) for file in files),
            catalog.restarts_of(place),
        )
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    result = pd.DataFrame(columns)
    result["run"] = pd.Categorical(columns["run"], categories=catalog.runs)
    result["repeats"] = _repeats(catalog)
    return result


def _series_key(catalog: Catalog, tag: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order the rows that readers return by run, tag and kind: their places, and the key of each."""
    places = np.flatnonzero(catalog.kind != NO_KIND)
    tags = len(catalog.tags)
    key = (catalog.run[places].astype(np.int64) * tags + tag[places]) * len(NAMES) + catalog.kind[places]
    order = stable_order(key, max(len(catalog.runs) * tags * len(NAMES), 1))
    return places[order], key[order]


def _repeats(catalog: Catalog) -> np.ndarray:
    """Count, for each run, the rows whose step is not above that of the row before in their series."""
    places, key = _series_key(catalog, catalog.logged_tag)  # the parts of a mesh share their steps
    step = catalog.column("step")[places]
    back = places[1:][(key[1:] == key[:-1]) & (step[1:] <= step[:-1])]
    return np.bincount(catalog.run[back], minlength=len(catalog.runs))


def tags_frame(catalog: Catalog) -> pd.DataFrame:
    """Build the table of tags.

    Parameters
    ----------
    catalog : Catalog
        All rows.

    Returns
    -------
    pandas.DataFrame
        See `tbframe.tags`.
    """
    places, key = _series_key(catalog, catalog.tag)
    first = np.flatnonzero(np.diff(key, prepend=-1))
    size = np.diff(first, append=len(key))
    series, kind = np.divmod(key[first], len(NAMES))
    run, tag = np.divmod(series, max(len(catalog.tags), 1))
    step, extent = catalog.column("step")[places], catalog.column("extent")[places]
    metadata = [catalog.metadata_of(*pair) for pair in zip(run.tolist(), tag.tolist(), strict=True)]
    kinds = [NAMES[k] for k in kind.tolist()]
    sums = np.add.reduceat(extent, first, dtype=np.int64) if len(first) else np.zeros(0, np.int64)
    frame = pd.DataFrame(
        {
            "run": _categorical(catalog.runs, run),
            "tag": _categorical(catalog.tags, tag),
            "kind": pd.Categorical(kinds, categories=[name for name in NAMES if name in set(kinds)]),
            "plugin": np.array([m.plugin for m in metadata], dtype=object),
            "dtype": np.array(_dtypes(catalog.column("dtype")[places], first, size), dtype=object),
            "count": size,
            "first_step": step[first],
            "last_step": step[first + size - 1],
            "bytes": sums,
            "display_name": np.array([m.display_name for m in metadata], dtype=object),
            "description": np.array([m.description for m in metadata], dtype=object),
        }
    )
    beside = names_by_run(catalog)
    return _with_embeddings(frame, beside, catalog.runs) if beside else frame


def _with_embeddings(tags: pd.DataFrame, beside: dict[str, list[str]], runs: list[str]) -> pd.DataFrame:
    """Add the rows of embeddings, which have no steps, to the table of tags."""
    pairs = [(run, name) for run, names in beside.items() for name in names]
    added = pd.DataFrame(pairs, columns=["run", "tag"]).assign(
        kind="embeddings", plugin="projector", dtype="", count=1, first_step=0, last_step=0, bytes=0,
        display_name="", description="",
    )  # fmt: skip
    whole = pd.concat([tags.astype(dict.fromkeys(("run", "tag", "kind"), object)), added], ignore_index=True)
    for name, order in (("run", runs), ("tag", natural_order(set(whole["tag"]))), ("kind", NAMES)):
        whole[name] = pd.Categorical(whole[name], categories=pd.Index(order)).remove_unused_categories()
    return whole.sort_values(["run", "tag", "kind"], kind="stable", ignore_index=True)


def _categorical(names: list[str], codes: np.ndarray) -> Any:  # noqa: ANN401 - a Categorical, whose type has changed
    """Build a column whose categories are just the names that occur."""
    some, which = np.unique(codes, return_inverse=True)
    index = pd.Index([names[i] for i in some], dtype=None if len(some) else object)
    return pd.Categorical.from_codes(which, dtype=pd.CategoricalDtype(index))


def _dtypes(dtype: np.ndarray, first: np.ndarray, size: np.ndarray) -> list[str]:
    """Name the dtype of each series: "" if it has none, several joined by commas."""
    number = dtype & 0x7F
    if not len(first):
        return []
    low, high = np.minimum.reduceat(number, first), np.maximum.reduceat(number, first)
    found = []
    for begin, length, least, most in zip(first.tolist(), size.tolist(), low.tolist(), high.tolist(), strict=True):
        codes = [least] if least == most else np.unique(number[begin : begin + length]).tolist()
        found.append([dtype_name(code) for code in codes if code])
    return [", ".join(names) for names in found]


def index(catalog: Catalog) -> dict[str, dict[str, Any]]:
    """Build TensorBoard's index.

    Parameters
    ----------
    catalog : Catalog
        All rows.

    Returns
    -------
    dict
        See `tbframe.index`.
    """
    result: dict[str, dict[str, Any]] = {
        run: {**{name: [] for name in NAMES if name != "graph"}, "graph": False} for run in catalog.runs
    }
    for run_name, names in names_by_run(catalog).items():
        result[run_name]["embeddings"] += names
    _, key = _series_key(catalog, catalog.tag)
    for series in np.unique(key).tolist():
        pair, kind = divmod(series, len(NAMES))
        run, tag = divmod(pair, len(catalog.tags))
        by_kind = result[catalog.runs[run]]
        if NAMES[kind] == "graph":
            by_kind["graph"] = True
        else:
            by_kind[NAMES[kind]].append(catalog.tags[tag])
    for by_kind in result.values():
        for tags in by_kind.values():
            if isinstance(tags, list):
                tags.sort()
    return result
