"""Which runs belong together: by a column, by what their names say, by a function or by their hyperparameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tbframe.errors import warn
from tbframe.names import natural_order
from tbframe.series import number_keys
from tbframe.verbs.extracting import named_groups
from tbframe.verbs.frames import name_column, quoted, require
from tbframe.verbs.joining import sessions_by_run

__all__ = ["By", "Groups", "group_runs"]

By: TypeAlias = (
    "str | Sequence[str] | re.Pattern[str] | Callable[[str], object] | Mapping[str, object] | pd.DataFrame | None"
)
"""What tells groups of runs apart: see `tbframe.verbs.aggregating.aggregate`."""


class Groups(NamedTuple):
    """Groups of rows."""

    labels: list[str]
    """What each group is called."""
    columns: pd.DataFrame
    """One row per group: what its rows have in common."""
    code: NDArray[np.int64]
    """Group of each row of the frame; -1 for none."""


def group_runs(frame: pd.DataFrame, by: By, verb: str) -> Groups:
    r"""Find the group of each row.

    Parameters
    ----------
    frame : DataFrame
        With the column run.
    by : str, sequence of str, re.Pattern, callable, mapping, DataFrame or None
        A column or several; a regular expression with named groups; a function of the run name, or a mapping from it;
        an hparams frame, whose columns ``params.*`` then count; None for one group of all.
    verb : str
        What needs the groups, for messages.

    Returns
    -------
    Groups
        In ascending order of the columns. Rows with a missing value in one of them are in no group; a warning counts
        their runs.

    Raises
    ------
    AccessorError
        If the frame lacks the column run.
    TypeError, ValueError
        If `by` is none of the above.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": ["sgd/0", "sgd/1", "adam/0"]})
    >>> group_runs(frame, r"^(?P<optimizer>\w+)/", "aggregate").labels
    ['adam', 'sgd']
    """
    require(frame, ["run"], verb)
    run = name_column(frame, "run")
    if by is None:
        return Groups(["all"], pd.DataFrame(index=[0]), np.zeros(len(frame), np.int64))
    columns = _columns_of(frame, by, verb)
    if columns is not None:
        code, table = _number_rows(columns)
    else:
        code, table = _number_rows(_columns_by_run(run.names, by, verb))
        code = code[run.code]
    left = code < 0
    if left.any():
        names = [run.names[i] for i in np.unique(run.code[left]).tolist()]
        warn(f"{verb}(): {len(names)} of {len(run.names)} runs have rows in no group: {quoted(names, 5)}", UserWarning)
    labels = _labels(table)
    if len(set(labels)) < len(labels):
        raise ValueError(f"{verb}(by=...): different groups would have the same label: {quoted(sorted(labels))}")
    return Groups(labels, table, code)


def _columns_of(frame: pd.DataFrame, by: object, verb: str) -> pd.DataFrame | None:
    """Return the columns of the frame that `by` names; None if it is something else."""
    if isinstance(by, str):
        if by not in frame.columns and "(?P<" in by:
            return None
        wanted = [by]
    elif isinstance(by, Sequence):
        wanted = list(by)
    else:
        return None
    unknown = [column for column in wanted if column not in frame.columns]
    if unknown or not wanted:
        raise ValueError(
            f"{verb}(by={by!r}): the frame has no column {quoted(unknown)}. It has {quoted(frame.columns)}. "
            "A regular expression needs named groups: (?P<name>...)"
        )
    return frame[wanted]


def _columns_by_run(runs: list[str], by: object, verb: str) -> pd.DataFrame:
    if isinstance(by, str | re.Pattern):
        return named_groups(runs, by)
    if isinstance(by, pd.DataFrame):
        params = [column for column in by.columns if str(column).startswith("params.")]
        if not params:
            raise ValueError(f"{verb}(by=...): the hparams have no column params.*. They have {quoted(by.columns)}.")
        return sessions_by_run(runs, by[["run", *params]] if "run" in by.columns else by, verb)
    if isinstance(by, Mapping):
        return pd.DataFrame({"group": [by.get(run) for run in runs]})
    if callable(by):
        return pd.DataFrame({"group": [by(run) for run in runs]})
    raise TypeError(
        f"{verb}(by={by!r}): expected a column or several, a regular expression with named groups, a function or a "
        "mapping of run names, or the frame of tbframe.hparams()"
    )


def _number_rows(columns: pd.DataFrame) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """Count the distinct rows in ascending order, and tabulate them. A row with something missing has the number -1."""
    factors = {name: _factorize(columns[name]) for name in columns.columns}
    whole = np.logical_and.reduce([code >= 0 for code, _ in factors.values()])
    distinct, number = number_keys([code[whole] for code, _ in factors.values()])
    code = np.full(len(columns), -1, np.int64)
    code[whole] = number
    taken = zip(factors.items(), distinct, strict=True)
    return code, pd.DataFrame({name: level.take(places) for (name, (_, level)), places in taken})


def _factorize(column: pd.Series) -> tuple[NDArray[np.int64], pd.Index]:
    code, level = pd.factorize(column)
    values = list(level)
    if isinstance(level, pd.CategoricalIndex):
        level = level.remove_unused_categories()
        order = np.argsort(level.codes, kind="stable")
    elif all(isinstance(value, str) for value in values):
        place = {name: i for i, name in enumerate(natural_order(values))}
        order = np.argsort([place[value] for value in values], kind="stable").astype(np.intp)
    else:
        try:
            order = np.array(sorted(range(len(values)), key=values.__getitem__), np.intp)
        except TypeError:
            # Values of several types have no order but that in which they occur.
            order = np.arange(len(values))
    rank = np.empty(len(order) + 1, np.int64)
    rank[order], rank[-1] = np.arange(len(order)), -1
    return rank[code], pd.Index(level).take(order)


def _labels(table: pd.DataFrame) -> list[str]:
    """Name the groups: text as it is, anything else as name=value, several with commas."""
    parts = [
        [
            value if isinstance(value, str) else f"{str(name).removeprefix('params.')}={_text(value)}"
            for value in table[name]
        ]
        for name in table.columns
    ]
    return [", ".join(words) for words in zip(*parts, strict=True)]


def _text(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float | np.floating) else str(value)
