"""Scalars: numbers, however they are stored."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tbframe.events.numbers import ROUNDED
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.frames import common_columns

__all__ = ["frame"]


def frame(catalog: Catalog, selection: Selection, *, mark: bool = False) -> pd.DataFrame:
    """Build the frame of scalars.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The scalars wanted.
    mark : bool
        Whether to add the columns ``session`` and ``superseded``.

    Returns
    -------
    pandas.DataFrame
        Columns ``run``, ``tag`` (category), ``step`` (int64), ``wall_time`` (float64, seconds since the epoch), ``value``
        (float64); with `mark` also ``session`` (int64) and ``superseded`` (bool).
    """
    columns = common_columns(catalog, selection)
    columns["value"] = catalog.table["number"][selection.rows]
    if mark:
        columns["session"] = catalog.session[selection.places]
        columns["superseded"] = catalog.superseded[selection.places]
    result = pd.DataFrame(columns, copy=False)
    step = result["step"].to_numpy()
    back = np.zeros(len(step), bool)
    back[1:] = step[1:] <= step[:-1]
    back[np.cumsum(selection.series_size)[:-1]] = False
    inexact = catalog.table["dtype"] & ROUNDED
    rounded = inexact[selection.rows] if inexact.any() else inexact[:0]
    result.attrs["tbframe"] = {
        "kind": "scalars",
        "dropped": selection.dropped,
        "repeats": int(np.count_nonzero(back)),
        "rounded": int(np.count_nonzero(rounded)),
    }
    return result
