"""Some runs and tags of a frame, and other names for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from tbframe.errors import UnknownNameError
from tbframe.names import NameFilter, choose, natural_order
from tbframe.verbs.frames import name_column, require, tidy
from tbframe.verbs.scalar_columns import Names

__all__ = ["NewNames", "rename", "select"]

NewNames: TypeAlias = "Mapping[str, str] | Callable[[str], str] | None"
"""What `rename` takes: a mapping from old to new names, a function of the old name, or None for no change."""


def select(frame: pd.DataFrame, *, runs: NameFilter = None, tags: NameFilter = None) -> pd.DataFrame:
    """Keep the rows of some runs and tags.

    Parameters
    ----------
    frame : DataFrame
        With the column run, tag or both, as far as they are asked for.
    runs, tags : str, iterable of str, re.Pattern or None
        As for the readers: a name, several names, or a compiled regular expression that is searched; None keeps all.

    Returns
    -------
    DataFrame
        The rows with their index labels, in their order; run and tag are categories of the names left.

    Raises
    ------
    AccessorError
        If the frame lacks the column.
    UnknownNameError
        If the frame has no such run or tag. A pattern that matches nothing gives an empty frame.
    TypeError
        If an argument is none of the above.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": ["loss", "lr", "loss"], "value": [3.0, 0.1, 2.0]})
    >>> select(frame, tags="loss")
      run   tag  value
    0   a  loss    3.0
    2   a  loss    2.0
    """
    filters = {column: wanted for column, wanted in (("run", runs), ("tag", tags)) if wanted is not None}
    require(frame, filters, "select")
    found = {column: name_column(frame, column) for column in ("run", "tag") if column in frame.columns}
    kept = np.ones(len(frame), bool)
    for column, wanted in filters.items():
        names, code = found[column]
        chosen = np.zeros(len(names), bool)
        chosen[choose(names, wanted, column, partial(_elsewhere, column=column, found=found))] = True
        kept &= chosen[code]
    if kept.all():
        return tidy(frame, found)
    rows = np.flatnonzero(kept)
    return tidy(frame.take(rows), {column: Names(each.names, each.code[rows]) for column, each in found.items()})


def rename(
    frame: pd.DataFrame,
    *,
    runs: NewNames = None,
    tags: NewNames = None,
    errors: Literal["raise", "ignore"] = "raise",
) -> pd.DataFrame:
    """Give runs and tags other names; several may become one.

    Parameters
    ----------
    frame : DataFrame
        With the column run, tag or both, as far as they are renamed.
    runs, tags : mapping of str to str, callable, or None
        New names by old name, or a function of the old name, called once per name. What a mapping lacks keeps its name.
    errors : {"raise", "ignore"}
        What to do about names in a mapping that the frame does not have.

    Returns
    -------
    DataFrame
        The same rows; renamed columns are categories in natural order.

    Raises
    ------
    AccessorError
        If the frame lacks the column.
    UnknownNameError
        If a mapping holds a name that the frame does not have, unless `errors` is "ignore".
    TypeError
        If an argument is none of the above, or a new name is not a str.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": ["seed0", "seed1"], "tag": "val_loss", "value": [3.0, 2.0]})
    >>> rename(frame, runs={"seed0": "ours", "seed1": "ours"}, tags=lambda tag: tag.replace("_", "/"))
        run       tag  value
    0  ours  val/loss    3.0
    1  ours  val/loss    2.0
    """
    if errors not in ("raise", "ignore"):
        raise ValueError(f"errors={errors!r}: expected 'raise' or 'ignore'")
    changes = {column: change for column, change in (("run", runs), ("tag", tags)) if change is not None}
    require(frame, changes, "rename")
    renamed: dict[str, Names] = {}
    for column, change in changes.items():
        names, code = name_column(frame, column)
        new = _new_names(names, change, column, errors)
        distinct = natural_order(set(new))
        place = {name: i for i, name in enumerate(distinct)}
        renamed[column] = Names(distinct, np.array([place[name] for name in new], np.int64)[code])
    return tidy(frame, renamed)


def _new_names(names: list[str], change: object, column: str, errors: str) -> list[str]:
    if isinstance(change, Mapping):
        for name in change:
            if errors == "raise" and name not in names:
                error = UnknownNameError.of(column, name, names)
                raise UnknownNameError(f"{column}s: {error} With errors='ignore' such names are passed over.")
        new = [change.get(name, name) for name in names]
    elif callable(change):
        new = [change(name) for name in names]
    else:
        raise TypeError(f"{column}s={change!r}: expected a mapping of old to new names, or a function of the old name")
    for old, name in zip(names, new, strict=True):
        if not isinstance(name, str):
            raise TypeError(
                f"{column}s: the new name of {old!r} must be a str, not {name!r} of type {type(name).__name__}"
            )
    return new


def _elsewhere(name: str, column: str, found: dict[str, Names]) -> str:
    """Say that a name that is no run is a tag, or the other way round."""
    for other, each in found.items():
        if other != column and name in each.names:
            return f"It is a {other}: use {other}s={name!r}."
    return ""
