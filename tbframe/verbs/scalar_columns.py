"""The columns of a scalars frame as arrays, checked, whatever dtype users gave them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["Names", "ScalarColumns", "integers", "names", "numbers", "scalar_columns"]


class Names(NamedTuple):
    """A column of names."""

    names: list[str]
    """Those that occur, without duplicates."""
    code: npt.NDArray[np.int64]
    """Which of them, shape (n,)."""


class ScalarColumns(NamedTuple):
    """The five columns of a scalars frame."""

    run: Names
    tag: Names
    step: npt.NDArray[np.int64]
    """Shape (n,)."""
    wall_time: npt.NDArray[np.float64]
    """Seconds since the epoch, shape (n,)."""
    value: npt.NDArray[np.float64]
    """Shape (n,)."""


def scalar_columns(frame: pd.DataFrame) -> ScalarColumns:
    """Take the columns run, tag, step, wall_time and value out of a frame.

    Parameters
    ----------
    frame : DataFrame
        With these columns: run and tag as category or str, numbers of any dtype, any index.

    Returns
    -------
    ScalarColumns
        In the order of the rows.

    Raises
    ------
    TypeError
        If a column holds something else than names or numbers.
    ValueError
        If a name or step is missing, or a step is no int64.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": "loss", "step": [0, 1], "wall_time": 0.0, "value": [3.0, 2.0]})
    >>> scalar_columns(frame).run
    Names(names=['a'], code=array([0, 0]))
    """
    run, tag = names(frame["run"]), names(frame["tag"])
    return ScalarColumns(run, tag, integers(frame["step"]), numbers(frame["wall_time"]), numbers(frame["value"]))


def names(column: pd.Series) -> Names:
    """Assign a number to each name in a column.

    Parameters
    ----------
    column : Series of category, str or object
        The names.

    Returns
    -------
    Names
        In the order of the categories, else of first occurrence.

    Raises
    ------
    TypeError
        If one is no str.
    ValueError
        If one is missing.

    Examples
    --------
    >>> names(pd.Series(["b", "a", "b"]))
    Names(names=['b', 'a'], code=array([0, 1, 0]))
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        code, unique = column.cat.codes.to_numpy().astype(np.int64), list(column.cat.categories)
        occurs = np.bincount(code + 1, minlength=len(unique) + 1)[1:] > 0
        if not occurs.all():
            unique = [name for name, there in zip(unique, occurs.tolist(), strict=True) if there]
            code = np.append(np.cumsum(occurs) - 1, -1)[code]
    else:
        code, unique = _factorize(column)
    if len(code) and code.min() < 0:
        at = int(np.argmin(code))
        label = column.index[at]
        raise ValueError(f"{column.name}: row {at} (label {label!r}) has no {column.name}; drop or name such rows")
    for name in unique:
        if not isinstance(name, str):
            found = f"{name!r} of type {type(name).__name__}"
            raise TypeError(f"{column.name}: expected names of type str, found {found}; use .astype(str)")
    return Names(unique, code.astype(np.int64, copy=False))


def _factorize(column: pd.Series) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Assign a number to each name in the order in which they occur; -1 where one is missing."""
    if isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow":
        code, index = pd.factorize(column)
        return code.astype(np.int64, copy=False), list(index)
    # pandas 2 takes strings for equal that differ only behind a NUL, unless something else than strings is among them.
    code, unique = pd.factorize(np.append(column.to_numpy(object), np.array([None])))
    return code[:-1].astype(np.int64, copy=False), unique.tolist()


def numbers(column: pd.Series) -> npt.NDArray[np.float64]:
    """Take a column of numbers as float64.

    Parameters
    ----------
    column : Series
        Of any real dtype, nullable ones included.

    Returns
    -------
    ndarray of float64, shape (n,)
        Missing ones are NaN. Integers beyond 2**53 are rounded.

    Raises
    ------
    TypeError
        If they are no real numbers.

    Examples
    --------
    >>> numbers(pd.Series([1, None], dtype="Int64"))
    array([ 1., nan])
    """
    if not (pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)):
        raise TypeError(f"{column.name}: expected numbers, found dtype {column.dtype}; use pandas.to_numeric")
    return column.to_numpy(np.float64, na_value=np.nan)


def integers(column: pd.Series) -> npt.NDArray[np.int64]:
    """Take a column of whole numbers as int64.

    Parameters
    ----------
    column : Series
        Of any real dtype, nullable ones included.

    Returns
    -------
    ndarray of int64, shape (n,)
        The numbers.

    Raises
    ------
    TypeError
        If they are no real numbers.
    ValueError
        If one is missing, has a fraction or is beyond int64.

    Examples
    --------
    >>> integers(pd.Series([1.0, 2.0]))
    array([1, 2])
    """
    if pd.api.types.is_signed_integer_dtype(column) and not column.hasnans:
        return column.to_numpy(np.int64)
    if pd.api.types.is_unsigned_integer_dtype(column) and not column.hasnans:
        unsigned = column.to_numpy(np.uint64)
        wrong = unsigned > np.uint64(2**63 - 1)
        whole = unsigned.view(np.int64)
    else:
        real = numbers(column)
        wrong = ~((real == np.floor(real)) & (real >= -(2.0**63)) & (real < 2.0**63))
        whole = np.where(wrong, 0, real).astype(np.int64)
    if wrong.any():
        at = int(np.argmax(wrong))
        found = f"row {at} (label {column.index[at]!r}) is {column.iloc[at]!r}"
        raise ValueError(f"{column.name}: expected whole numbers of 64 bits, and {found}")
    return whole
