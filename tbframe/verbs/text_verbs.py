"""Verbs on frames of text."""

from __future__ import annotations

import pandas as pd

from tbframe.verbs.frames import require

__all__ = ["tables"]


def tables(frame: pd.DataFrame) -> pd.DataFrame:
    """Put text arrays back into tables, as TensorBoard shows them.

    Parameters
    ----------
    frame : DataFrame
        Texts: columns run, tag, step, index and value.

    Returns
    -------
    DataFrame of str
        One row per row of a table, with run, tag, step and row as index; one column for each of the longest. A list has one
        column, a text alone one cell. What a table lacks is missing.

    Raises
    ------
    AccessorError
        If a column is missing.
    ValueError
        If an array has more than two dimensions, or a step repeats within a run and tag.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": "b", "step": 3, "index": [(0, 0), (0, 1)], "value": ["lr", "0.1"]})
    >>> tables(frame).loc[("a", "b", 3)]
    column   0    1
    row
    0       lr  0.1
    """
    require(frame, ["run", "tag", "step", "index", "value"], "tables")
    places = frame["index"].tolist()
    deepest = max(map(len, places), default=0)
    if deepest > 2:
        raise ValueError(
            f"tables(): a text array of {deepest} dimensions is no table: select by the column 'index' first, and keep two "
            "of its numbers"
        )
    cells = frame.assign(
        row=[place[0] if place else 0 for place in places],
        column=[place[1] if len(place) == 2 else 0 for place in places],
    )
    keys = ["run", "tag", "step", "row"]
    if cells.duplicated([*keys, "column"]).any():
        raise ValueError(
            "tables(): a step repeats within a run and tag. Keep one of each first: "
            "df.drop_duplicates(['run', 'tag', 'step', 'index'], keep='last')"
        )
    return cells.pivot(index=keys, columns="column", values="value")
