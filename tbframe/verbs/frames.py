"""What all verbs of a frame share: the columns they need, its series, and names as categories that occur."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from tbframe.errors import AccessorError
from tbframe.names import natural_order
from tbframe.series import group_rows
from tbframe.verbs.scalar_columns import Names, names

__all__ = [
    "SeriesRows",
    "by_series",
    "categorical",
    "name_column",
    "quoted",
    "refuse_unknown_columns",
    "require",
    "take",
    "tidy",
]

Column: TypeAlias = "NDArray[np.generic] | pd.Index | ExtensionArray"
"""A new column, in the order of the rows."""

Scalar = TypeVar("Scalar", bound=np.generic)


class SeriesRows(NamedTuple):
    """The rows of each series, one (run, tag) after the other."""

    run: Names
    """Run of each row."""
    tag: Names
    """Tag of each row."""
    order: NDArray[np.int64] | None
    """Row numbers that bring the rows of each series together, in their order; None if they already are."""
    bounds: NDArray[np.int64]
    """Series i is rows ``order[bounds[i]:bounds[i + 1]]``."""

    @property
    def found(self) -> dict[str, Names]:
        """Both columns of names, for `tidy`."""
        return {"run": self.run, "tag": self.tag}

    @property
    def first(self) -> NDArray[np.int64]:
        """Row number of the first row of each series."""
        return self.bounds[:-1] if self.order is None else self.order[self.bounds[:-1]]

    def arranged(self, column: NDArray[Scalar]) -> NDArray[Scalar]:
        """Bring a column into the order of the series."""
        return column if self.order is None else column[self.order]

    def rows(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Turn places in the order of the series into row numbers."""
        return places if self.order is None else self.order[places]


def require(frame: pd.DataFrame, columns: Iterable[str], verb: str) -> None:
    """Refuse a frame without the columns a verb uses.

    Parameters
    ----------
    frame : DataFrame
        What the verb was called on.
    columns : iterable of str
        The columns it uses.
    verb : str
        Its name, for the message.

    Raises
    ------
    AccessorError
        If a column is missing, or there twice.

    Examples
    --------
    >>> require(pd.DataFrame({"run": ["a"]}), ["run", "tag"], "last")
    Traceback (most recent call last):
    ...
    tbframe.errors.AccessorError: last() needs the column 'tag'. The frame has 'run'.
    """
    there = list(frame.columns)
    needed = list(dict.fromkeys(columns))
    missing = [name for name in needed if name not in there]
    if missing:
        in_index = [name for name in missing if name in frame.index.names]
        hint = f" {quoted(in_index)} in the index: use reset_index()." if in_index else ""
        raise AccessorError(
            f"{verb}() needs the column{'s' * (len(missing) > 1)} {quoted(missing)}. "
            f"The frame has {quoted(there) or 'no columns'}.{hint}"
        )
    twice = [name for name in needed if there.count(name) > 1]
    if twice:
        raise AccessorError(f"{verb}() needs one column {twice[0]!r}; the frame has {there.count(twice[0])}")


def refuse_unknown_columns(frame: pd.DataFrame, columns: Iterable[str], argument: str) -> None:
    """Refuse columns that the user named and the frame lacks.

    Parameters
    ----------
    frame : DataFrame
        What a verb was called on.
    columns : iterable of str
        The columns named.
    argument : str
        The argument they were named in, for the message.

    Raises
    ------
    ValueError
        If one does not exist.
    """
    for column in columns:
        if column not in frame.columns:
            raise ValueError(f"{argument}: the frame has no column {column!r}. It has {quoted(list(frame.columns))}.")


def name_column(frame: pd.DataFrame, column: str) -> Names:
    """Take the runs or the tags of a frame as the names that occur, and which of them each row has.

    Parameters
    ----------
    frame : DataFrame
        With the column.
    column : str
        "run" or "tag", as category, str or object.

    Returns
    -------
    Names
        Names in the order of the categories, if the column has some, else in natural order.

    Raises
    ------
    TypeError, ValueError
        If a name is not a str, or missing.

    Examples
    --------
    >>> name_column(pd.DataFrame({"run": ["v10", "v2", "v10"]}), "run")
    Names(names=['v2', 'v10'], code=array([1, 0, 1]))
    """
    found = names(frame[column])
    if isinstance(frame[column].dtype, pd.CategoricalDtype):
        return found
    ordered = natural_order(found.names)
    place = {name: i for i, name in enumerate(ordered)}
    moved = np.array([place[name] for name in found.names], np.int64)
    return Names(ordered, moved[found.code])


def categorical(found: Names, ordered: bool = False) -> pd.Categorical:
    """Make names a categorical column of those that occur.

    Parameters
    ----------
    found : Names
        Names and codes; names no row has are left out.
    ordered : bool
        Whether the categories have an order of their own.

    Returns
    -------
    Categorical
        As long as the codes.

    Examples
    --------
    >>> list(categorical(Names(["a", "b"], np.array([1, 1]))).categories)
    ['b']
    """
    occurs = np.zeros(len(found.names), bool)
    occurs[found.code] = True
    kept = [name for name, there in zip(found.names, occurs.tolist(), strict=True) if there]
    code = (np.cumsum(occurs) - 1)[found.code] if kept else found.code
    dtype: Any = pd.CategoricalDtype(kept if kept else pd.Index([], dtype="str"), ordered=ordered)
    made: pd.Categorical = pd.Categorical.from_codes(code, dtype=dtype)
    return made


def by_series(frame: pd.DataFrame, verb: str, *columns: str) -> SeriesRows:
    """Find the rows of each (run, tag).

    Parameters
    ----------
    frame : DataFrame
        With the columns run and tag.
    verb : str
        What needs them, for messages.
    *columns : str
        Further columns that the verb needs.

    Returns
    -------
    SeriesRows
        The series, each with its rows in the order of the frame.

    Raises
    ------
    AccessorError
        If a column is missing.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": ["x", "y", "x"]})
    >>> by_series(frame, "smooth").order
    array([0, 2, 1])
    """
    require(frame, ("run", "tag", *columns), verb)
    run, tag = name_column(frame, "run"), name_column(frame, "tag")
    return SeriesRows(run, tag, *group_rows(run.code * max(1, len(tag.names)) + tag.code))


def tidy(
    frame: pd.DataFrame, found: Mapping[str, Names] | None = None, columns: Mapping[str, Column] | None = None
) -> pd.DataFrame:
    """Return the frame with run and tag as categories that occur, and with new columns; everything else stays.

    Parameters
    ----------
    frame : DataFrame
        With the columns run, tag, both or none.
    found : mapping of "run" or "tag" to Names, optional
        Their names and codes, where the caller has them or wants other ones.
    columns : mapping of str to array, optional
        Columns to add or replace, in the order of the rows.

    Returns
    -------
    DataFrame
        New, with the same index.

    Examples
    --------
    >>> tidy(pd.DataFrame({"run": ["a"], "tag": ["b"], "x": [1]})).dtypes["run"]
    CategoricalDtype(categories=['a'], ordered=False, categories_dtype=...)
    """
    # Without arguments assign() is the cheapest safe copy that each version of pandas has.
    new = frame.assign()
    for column in ("run", "tag"):
        if column in frame.columns:
            ordered = isinstance(frame[column].dtype, pd.CategoricalDtype) and bool(frame[column].cat.ordered)
            known = None if found is None else found.get(column)
            new[column] = categorical(name_column(frame, column) if known is None else known, ordered)
    added = {}
    for name, values in (columns or {}).items():
        if name in frame.columns:
            new[name] = values
        else:
            added[name] = values
    if added:
        # All at once: a hundred columns one by one would leave the frame in a hundred pieces.
        new = pd.concat([new, pd.DataFrame(added, index=frame.index)], axis=1)
        new.attrs = dict(frame.attrs)
    return new


def take(frame: pd.DataFrame, rows: NDArray[np.int64], series: SeriesRows) -> pd.DataFrame:
    """Return some rows of a frame, in the order of the frame, with names as categories that occur.

    Parameters
    ----------
    frame : DataFrame
        With the columns run and tag.
    rows : ndarray of int64, shape (rows kept,)
        Row numbers, ascending or not.
    series : SeriesRows
        The frame's, for the names.

    Returns
    -------
    DataFrame
        New, with the index labels and columns of those rows.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": ["x", "y", "x"]})
    >>> take(frame, np.array([2, 0]), by_series(frame, "last")).index.tolist()
    [0, 2]
    """
    rows = np.sort(rows)
    return tidy(frame.take(rows), {column: Names(each.names, each.code[rows]) for column, each in series.found.items()})


def quoted(names: Iterable[str], limit: int = 20) -> str:
    """Write names for a message.

    Parameters
    ----------
    names : iterable of str
        Names of any kind.
    limit : int
        How many to write out.

    Returns
    -------
    str
        The names between quotes, with commas; how many more there are.

    Examples
    --------
    >>> quoted(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    listed = list(names)
    more = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return ", ".join(map(repr, listed[:limit])) + more
