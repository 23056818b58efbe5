"""What the frames of all kinds share: their first columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.kinds.catalog import Catalog, Selection

__all__ = ["categories", "common_columns", "run_and_tag"]


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
