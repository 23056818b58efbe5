"""Scalars side by side: a column per tag, or a cube of run, tag and step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionDtype

from tbframe.series import number_keys
from tbframe.verbs.frames import name_column, refuse_unknown_columns, require
from tbframe.verbs.repeats import Keep, check_keep, place_rows
from tbframe.verbs.scalar_columns import integers, numbers

__all__ = ["to_xarray", "wide"]

_LARGE = 2**27
"""Cells of a table (1 GiB of float64) from which on it must not be mostly padding."""

_FILLED = 0.1

_MEASURES = ("value", "wall_time", "relative", "active", "time", "low", "high", "n")


def wide(
    frame: pd.DataFrame,
    values: str = "value",
    index: str | Sequence[str] = ("run", "step"),
    *,
    keep: Keep | None = None,
) -> pd.DataFrame:
    """Put the tags side by side, a column for each.

    Parameters
    ----------
    frame : DataFrame
        With the columns tag, `values` and those of `index`.
    values : str
        The column that fills the table.
    index : str or sequence of str
        The columns that tell its rows apart.
    keep : {"first", "last"}, optional
        Which row to take where several belong in one cell; nothing is averaged. By default that is refused.

    Returns
    -------
    DataFrame
        One row per combination of `index` that occurs, ascending (runs and other categories in their order); one column
        per tag (a plain Index of str). What was not logged is missing.

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    ValueError
        If rows share a cell and `keep` is not given, an argument is none of the above, or the table would be very large
        and mostly empty.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"run": "a", "tag": ["acc", "loss", "loss"], "step": [0, 0, 1], "value": [0.5, 2.0, 1.5]}
    ... )
    >>> wide(frame)
    tag       acc  loss
    run step
    a   0     0.5   2.0
        1     NaN   1.5
    """
    check_keep(keep)
    by = [index] if isinstance(index, str) else list(index)
    if not by:
        raise ValueError("index=(): expected at least one column, such as 'step'")
    require(frame, ["tag"], "wide")
    refuse_unknown_columns(frame, [values], "values")
    refuse_unknown_columns(frame, by, "index")
    require(frame, [values, *by], "wide")
    tags, tag = name_column(frame, "tag")
    row, labels = _row_labels(frame, by)
    _refuse_padding(len(tags) * len(labels), len(frame), f"wide(): {len(labels)} rows × {len(tags)} tags")
    cell = tag * len(labels) + row
    source = place_rows(frame, cell, len(tags) * len(labels), key=[*by, "tag"], keep=keep, verb="wide")
    columns = pd.Index(tags, name="tag") if tags else pd.Index([], dtype="str", name="tag")
    return _table(frame[values], source.reshape(len(tags), len(labels)), labels, columns)


def to_xarray(frame: pd.DataFrame, *, keep: Keep | None = None) -> xr.Dataset:
    """Put the scalars into a cube of run, tag and step.

    Parameters
    ----------
    frame : DataFrame
        With the columns run, tag, step, value and wall_time.
    keep : {"first", "last"}, optional
        Which row to take where a run, tag and step occurs several times. By default that is refused.

    Returns
    -------
    Dataset
        `value` and `wall_time` (float64, seconds) over run, tag and step, and, where the frame has them, relative,
        active, low, high, n (float64) and time (datetime64[ns], UTC without a zone). Steps ascend; NaN, or NaT, where
        nothing was logged. Runs and tags are of object dtype, which saves to netCDF and Zarr.

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    ValueError
        If rows share a run, tag and step and `keep` is not given, or the cube would be very large and mostly empty.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": "loss", "step": [0, 5], "wall_time": 0.0, "value": [2.0, 1.0]})
    >>> to_xarray(frame).value.sel(run="a", tag="loss", step=5).item()
    1.0
    """
    check_keep(keep)
    require(frame, ["run", "tag", "step", "value", "wall_time"], "to_xarray")
    run, tag = name_column(frame, "run"), name_column(frame, "tag")
    steps, step = np.unique(integers(frame["step"]), return_inverse=True)
    shape = (len(run.names), len(tag.names), len(steps))
    sizes = " × ".join(f"{size} {what}" for size, what in zip(shape, ("runs", "tags", "steps"), strict=True))
    _refuse_padding(int(np.prod(shape)), len(frame), f"to_xarray(): {sizes}")
    cell = (run.code * shape[1] + tag.code) * shape[2] + step
    source = place_rows(frame, cell, int(np.prod(shape)), key=["run", "tag", "step"], keep=keep, verb="to_xarray")
    dims = ("run", "tag", "step")
    measures = [name for name in _MEASURES if name in frame.columns and _is_measure(frame[name])]
    return xr.Dataset(
        {name: (dims, _measure(frame[name], source).reshape(shape)) for name in measures},
        coords={"run": np.array(run.names, object), "tag": np.array(tag.names, object), "step": steps},
    )


def _row_labels(frame: pd.DataFrame, by: list[str]) -> tuple[NDArray[np.int64], pd.Index]:
    """Return which row of the table each row of the frame belongs to, and the labels of those rows."""
    codes, levels = zip(*(_codes(frame, column) for column in by), strict=True)
    # Missing labels, of code -1, come last.
    distinct, row = number_keys(
        [np.where(code < 0, len(level), code) for code, level in zip(codes, levels, strict=True)]
    )
    if len(by) == 1:
        level = levels[0].insert(len(levels[0]), np.nan) if (codes[0] < 0).any() else levels[0]
        return row, level.take(distinct[0])
    places: Any = [np.where(code == len(level), -1, code) for code, level in zip(distinct, levels, strict=True)]
    return row, pd.MultiIndex(levels, places, names=by, verify_integrity=False)


def _codes(frame: pd.DataFrame, column: str) -> tuple[NDArray[np.int64], pd.Index]:
    if column in ("run", "tag"):
        names, code = name_column(frame, column)
        return code, pd.Index(names, name=column) if names else pd.Index([], dtype="str", name=column)
    label = pd.Series(integers(frame[column])) if column == "step" else frame[column]
    found, level = pd.factorize(label, sort=True)
    if isinstance(level, pd.CategoricalIndex):
        level = level.astype(level.categories.dtype)
    return found.astype(np.int64), pd.Index(level, name=column)


def _table(column: pd.Series, source: NDArray[np.int64], labels: pd.Index, tags: pd.Index) -> pd.DataFrame:
    if column.dtype == np.float64:
        values = column.to_numpy()
        filled = np.where(source < 0, np.nan, values[source] if len(values) else np.nan)
        return pd.DataFrame(filled.T, index=labels, columns=tags)
    values = column.array if isinstance(column.dtype, ExtensionDtype) else column.to_numpy()
    taken = [pd.api.extensions.take(values, rows, allow_fill=True) for rows in source]
    table = pd.DataFrame(dict(enumerate(taken)), index=labels)
    table.columns = tags
    return table


def _is_measure(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) or isinstance(column.dtype, pd.DatetimeTZDtype)


def _measure(column: pd.Series, source: NDArray[np.int64]) -> NDArray[Any]:
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        times = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return np.asarray(pd.api.extensions.take(times, source, allow_fill=True))
    return np.asarray(pd.api.extensions.take(numbers(column), source, allow_fill=True))


def _refuse_padding(cells: int, rows: int, what: str) -> None:
    if cells > _LARGE and rows < _FILLED * cells:
        raise ValueError(
            f"{what} would be {cells:,} cells ({cells * 8 / 2**30:.1f} GiB), of which {rows:,} hold a value. "
            "Select fewer runs or tags, or downsample() first."
        )
