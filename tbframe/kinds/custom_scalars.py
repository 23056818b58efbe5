"""Custom scalars: the layout of charts that a log declares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.frames import categories
from tbframe.kinds.graphs import parsed, string_of
from tbframe.kinds.undecodable import Undecodable

__all__ = ["frame", "merged"]

_COLUMNS = ("category", "closed", "chart", "kind", "tags")


def frame(catalog: Catalog, selection: Selection) -> pd.DataFrame:
    """Build the frame of charts: the last layout of each run.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The layouts wanted.

    Returns
    -------
    pandas.DataFrame
        One row per run and chart, in the order declared: ``run`` (category), ``category`` (str), ``closed`` (bool: whether
        TensorBoard shows the category folded), ``chart`` (str: the title), ``kind`` (str: "multiline", "margin", or "" for
        a chart without content), ``tags``: of a multiline chart a list of str, regular expressions that TensorBoard matches
        from the start of a tag; of a margin chart a list of tuples (value, lower, upper) of tags. A category without charts
        has one row, whose ``chart`` is None.

    Warns
    -----
    UndecodableValueWarning
        If something logged is no layout.
    """
    undecodable = Undecodable("custom_scalars")
    found: dict[int, list[tuple[Any, ...]]] = {}
    run, tag = (
        np.repeat(which, selection.series_size).tolist() for which in (selection.series_run, selection.series_tag)
    )
    steps = catalog.table["step"][selection.rows].tolist()
    for i, data in enumerate(catalog.payloads(selection)):
        if data is None:
            continue
        try:
            layout = parsed("Layout", string_of(data))
        except ValueError as error:
            undecodable.add(selection.runs[run[i]], selection.tags[tag[i]], steps[i], str(error))
        else:
            found[run[i]] = list(_rows(layout))  # a later one replaces it
    undecodable.say()
    rows = [row for some in found.values() for row in some]
    owners = np.array(list(found), np.int64)
    result = pd.DataFrame(
        {
            "run": categories(selection.runs, np.array([len(some) for some in found.values()], np.int64), owners),
            **{name: pd.Series([row[i] for row in rows], dtype=object) for i, name in enumerate(_COLUMNS)},
        }
    ).astype({"closed": bool})
    result["run"] = result["run"].cat.remove_unused_categories()
    result.attrs["tbframe"] = {"kind": "custom_scalars"}
    return result


def _rows(layout: Any) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - a protobuf message
    for category in layout.category:
        if not category.chart:
            yield category.title, category.closed, None, "", []
        for chart in category.chart:
            kind = chart.WhichOneof("content") or ""
            tags: list[Any] = []
            if kind == "multiline":
                tags = list(chart.multiline.tag)
            elif kind == "margin":
                tags = [(series.value, series.lower, series.upper) for series in chart.margin.series]
            yield category.title, category.closed, chart.title, kind, tags


def merged(layout: pd.DataFrame) -> pd.DataFrame:
    """Merge the layouts of several runs into one, as TensorBoard does.

    Parameters
    ----------
    layout : pandas.DataFrame
        What `frame` returns, or some of its rows.

    Returns
    -------
    pandas.DataFrame
        The charts of each category together, in the order in which categories first occur, without the column ``run``.
        A chart that another run declared in the same way is there once. (TensorBoard loses what a third run adds to a
        category that the second one declared first.)

    Examples
    --------
    >>> charts = [["a", "loss", "acc"], ["b", "lr", "lr"], ["c", "loss", "acc"], ["c", "loss", "f1"]]
    >>> layout = pd.DataFrame(charts, columns=["run", "category", "chart"])
    >>> merged(layout.assign(closed=False, kind="multiline", tags=[["x"]] * 4))[["category", "chart"]].to_numpy().tolist()
    [['loss', 'acc'], ['loss', 'f1'], ['lr', 'lr']]
    """
    found: dict[str, list[tuple[Any, ...]]] = {}
    for _, rows in layout.groupby("run", sort=False, observed=True):
        added = [tuple(row) for row in rows[list(_COLUMNS)].itertuples(index=False)]
        known = {category: list(charts) for category, charts in found.items()}
        for row in added:
            # Without its first two members, the category and whether it is folded: these are the first run's.
            if not any(row[2:] == other[2:] for other in known.get(row[0], ())):
                found.setdefault(row[0], []).append(row)
    charts = [row for rows in found.values() for row in rows if row[2] is not None or len(rows) == 1]
    columns = {name: pd.Series([row[i] for row in charts], dtype=object) for i, name in enumerate(_COLUMNS)}
    return pd.DataFrame(columns).astype({"closed": bool})
