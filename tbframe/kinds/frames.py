"""What the frames of all kinds share: their first columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.kinds.catalog import Catalog, Selection

__all__ = ["categories", "common_columns", "count_repeats", "run_and_tag"]


def categories(names: list[str], size: npt.NDArray[np.integer], which: npt.NDArray[np.integer]) -> pd.Categorical:
    """Build a categorical column of rows that come series by series.

    Parameters
    ----------
    names : list of str
        The categories, in order.
    size : ndarray of int, shape (n,)
        How many rows each series has.
    which : ndarray of int, shape (n,)
        The place of each series' name in `names`.

    Returns
    -------
    pandas.Categorical
        Unordered, with codes as narrow as may be.
    """
    narrow = np.int8 if len(names) < 1 << 7 else np.int16 if len(names) < 1 << 15 else np.int32
    codes = np.repeat(which.astype(narrow), size)
    dtype = pd.CategoricalDtype(pd.Index(names, dtype=object if not names else None))
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)


def run_and_tag(selection: Selection) -> dict[str, pd.Categorical]:
    """Return the columns that name the series of each row.

    Parameters
    ----------
    selection : Selection
        The rows.

    Returns
    -------
    dict
        Columns ``run`` and ``tag``, category.
    """
    return {
        "run": categories(selection.runs, selection.series_size, selection.series_run),
        "tag": categories(selection.tags, selection.series_size, selection.series_tag),
    }


def common_columns(catalog: Catalog, selection: Selection) -> dict[str, Any]:
    """Return the columns that the frames of all kinds begin with.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        Those wanted.

    Returns
    -------
    dict
        ``run``, ``tag`` (category), ``step`` (int64), ``wall_time`` (float64, seconds since the epoch).
    """
    table, rows = catalog.table, selection.rows
    return {**run_and_tag(selection), "step": table["step"][rows], "wall_time": table["wall_time"][rows]}


def count_repeats(step: npt.NDArray[np.int64], series_size: npt.ArrayLike) -> int:
    """Count the rows whose step repeats or goes back within its series.

    Parameters
    ----------
    step : ndarray of int64, shape (n,)
        Steps, series by series.
    series_size : ndarray of int64
        How many rows each series has.

    Returns
    -------
    int
        How many are not above the step before.

    Examples
    --------
    >>> count_repeats(np.array([0, 1, 1, 0, 5, 2]), [3, 3])
    2
    """
    back = np.zeros(len(step), bool)
    back[1:] = step[1:] <= step[:-1]
    back[np.cumsum(series_size, dtype=np.int64)[:-1]] = False
    return int(np.count_nonzero(back))
