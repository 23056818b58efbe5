"""Rows that claim the same place: refused with the first few, or all but one of them left out."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["Keep", "check_keep", "place_rows", "repeat_error"]

Keep: TypeAlias = Literal["first", "last"]
"""Which of the rows of one place to keep, in the order of the frame."""

_SHOWN = 3


def check_keep(keep: str | None) -> None:
    """Refuse what is no way to choose among repeated rows.

    Parameters
    ----------
    keep : {"first", "last"} or None
        What the user gave.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if keep not in (None, "first", "last"):
        raise ValueError(f"keep={keep!r}: expected 'first', 'last', or None to refuse repeated rows")


def place_rows(
    frame: pd.DataFrame, place: NDArray[np.int64], places: int, *, key: list[str], keep: Keep | None, verb: str
) -> NDArray[np.int64]:
    """Find the row that belongs in each place of a table.

    Parameters
    ----------
    frame : DataFrame
        The rows, for the message.
    place : ndarray of int64, shape (rows,)
        Where each row belongs, from 0 to `places` - 1.
    places : int
        How many places there are.
    key : list of str
        The columns that make up a place, for the message.
    keep : {"first", "last"} or None
        Which of several rows to take; None refuses them.
    verb : str
        What places the rows, for the message.

    Returns
    -------
    ndarray of int64, shape (places,)
        Row numbers; -1 where no row belongs.

    Raises
    ------
    ValueError
        If `keep` is None and rows share a place.

    Examples
    --------
    >>> frame = pd.DataFrame({"step": [5, 5]})
    >>> place_rows(frame, np.array([1, 1]), 3, key=["step"], keep="last", verb="wide")
    array([-1,  1, -1])
    """
    rows = np.arange(len(place))
    found = np.full(places, -1, np.int64)
    # Of equal places NumPy keeps what is assigned last.
    if keep == "first":
        found[place[::-1]] = rows[::-1]
    else:
        found[place] = rows
    if keep is None:
        repeated = np.flatnonzero(found[place] != rows)
        if len(repeated):
            raise repeat_error(frame, place, repeated, key=key, verb=verb, keep_works=True)
    return found


def repeat_error(
    frame: pd.DataFrame,
    place: NDArray[np.int64],
    repeated: NDArray[np.intp],
    *,
    key: list[str],
    verb: str,
    keep_works: bool = False,
) -> ValueError:
    """Build the error about repeated rows.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    place : ndarray of int64, shape (rows,)
        Rows of equal numbers repeat each other.
    repeated : ndarray of int64
        Row numbers: of each place all rows but one.
    key : list of str
        The columns that make up a place.
    verb : str
        What refuses them.
    keep_works : bool
        Whether the verb takes ``keep=``.

    Returns
    -------
    ValueError
        It shows the first few and says what to do.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": "x", "step": [5, 5], "value": [1.0, 2.0]})
    >>> print(repeat_error(frame, np.array([0, 0]), np.array([0]), key=["run", "tag", "step"], verb="aggregate"))
    aggregate(): 1 of 2 rows repeat the (run, tag, step) of another, such as
      run='a', tag='x', step=5: value 1.0, 2.0
    Keep one of each: frame.drop_duplicates(['run', 'tag', 'step'], keep='last'), or read with restarts='latest'.
    """
    lines = []
    shown = list(dict.fromkeys(place[repeated[:1000]].tolist()))[:_SHOWN]
    for each in shown:
        rows = frame.iloc[np.flatnonzero(place == each)[:_SHOWN]]
        first = ", ".join(f"{column}={rows[column].tolist()[0]!r}" for column in key)
        values = f": value {', '.join(map(str, rows['value'].tolist()))}" if "value" in rows.columns else ""
        lines.append(f"  {first}{values}")
    remedy = f"{verb}(keep='last') or keep='first'" if keep_works else f"frame.drop_duplicates({key}, keep='last')"
    count = len(repeated)
    return ValueError(
        f"{verb}(): {count} of {len(frame)} rows repeat the ({', '.join(key)}) of another, such as\n"
        + "\n".join(lines)
        + f"\nKeep one of each: {remedy}, or read with restarts='latest'."
    )
