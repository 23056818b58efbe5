"""What the names of runs say: named groups of a regular expression as typed columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from tbframe.names import natural_order
from tbframe.verbs.frames import name_column, quoted, require, tidy

__all__ = ["extract", "named_groups"]

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def extract(frame: pd.DataFrame, pattern: str | re.Pattern[str]) -> pd.DataFrame:
    r"""Add what a regular expression finds in the names of the runs as columns.

    Parameters
    ----------
    frame : DataFrame
        With the column run.
    pattern : str or re.Pattern
        Searched in each run name, once per run; its named groups become columns.

    Returns
    -------
    DataFrame
        The same rows with a column for each named group: int64 if it found whole numbers in all runs, float64 if
        numbers (NaN for runs where it found nothing), else category.

    Raises
    ------
    AccessorError
        If the frame lacks the column.
    ValueError
        If the pattern has no named group, is no regular expression, is found in no run, or names a column that exists.
    TypeError
        If it is none of the above.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": ["ppo/lr=0.1/seed=7", "dqn/lr=0.01/seed=8"], "value": [1.0, 2.0]})
    >>> extract(frame, r"^(?P<agent>\w+)/lr=(?P<lr>[^/]+)/seed=(?P<seed>\d+)")[["agent", "lr", "seed"]]
      agent    lr  seed
    0   ppo  0.10     7
    1   dqn  0.01     8
    """
    require(frame, ["run"], "extract")
    run = name_column(frame, "run")
    table = named_groups(run.names, pattern)
    for column in table.columns:
        if column in frame.columns:
            raise ValueError(
                f"extract(): the frame has a column {column!r} already; call the group otherwise, or drop it"
            )
    return tidy(frame, {"run": run}, {column: table[column].array.take(run.code) for column in table.columns})


def named_groups(runs: Sequence[str], pattern: str | re.Pattern[str]) -> pd.DataFrame:
    r"""Search a pattern in names and tabulate its named groups.

    Parameters
    ----------
    runs : sequence of str
        The names.
    pattern : str or re.Pattern
        With named groups.

    Returns
    -------
    DataFrame
        One row per name, one typed column per group.

    Raises
    ------
    TypeError, ValueError
        As `extract`.

    Examples
    --------
    >>> named_groups(["s1", "s2"], r"s(?P<seed>\d+)").seed.tolist()
    [1, 2]
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
    if not isinstance(compiled.pattern, str):
        raise TypeError(f"pattern={pattern!r}: expected a regular expression of str, not of bytes")
    if not compiled.groupindex:
        raise ValueError(f"pattern {compiled.pattern!r} has no named group; write (?P<name>...) for each column")
    found = [compiled.search(run) for run in runs]
    if runs and not any(found):
        raise ValueError(f"pattern {compiled.pattern!r} is found in none of the {len(runs)} runs: {quoted(runs, 5)}")
    return pd.DataFrame(
        {name: _typed([each[name] if each else None for each in found]) for name in compiled.groupindex}
    )


def _typed(texts: list[str | None]) -> pd.Series:
    """Read texts as numbers, if all of them that are there are, else as categories."""
    there = [text for text in texts if text is not None]
    if there and all(_INTEGER.fullmatch(text) for text in there):
        whole = [int(text) for text in there]
        # A float64, which holds NaN, and an int64 end somewhere; longer numbers are names.
        if max(map(abs, whole)) < (2**63 if len(there) == len(texts) else 2**53):
            return pd.Series(whole if len(there) == len(texts) else [np.nan if t is None else float(t) for t in texts])
    elif there and all(_NUMBER.fullmatch(text) for text in there):
        return pd.Series([np.nan if text is None else float(text) for text in texts], dtype=np.float64)
    return pd.Series(pd.Categorical(texts, categories=natural_order(set(there))))
