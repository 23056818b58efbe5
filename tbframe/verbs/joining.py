"""Hyperparameters beside the values of their runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tbframe.errors import warn
from tbframe.names import natural_key
from tbframe.verbs.frames import name_column, quoted, require, tidy
from tbframe.verbs.scalar_columns import names

__all__ = ["join", "session_of_each_run", "sessions_by_run"]

_ROOT = "."


def join(frame: pd.DataFrame, hparams: pd.DataFrame) -> pd.DataFrame:
    """Add the columns of each run's hyperparameter session.

    A run has the session of its own name, else that of the nearest directory above it, else that of the directory below
    it, as ``add_hparams`` of PyTorch and tensorboardX write one (of several the last, if they agree in all parameters).

    Parameters
    ----------
    frame : DataFrame
        With the column run.
    hparams : DataFrame
        As ``tbframe.hparams`` returns it, or some of its columns: run, and any others; one row per run.

    Returns
    -------
    DataFrame
        The same rows with all columns of `hparams` but run: text as category, the others as they are; missing where a
        run has no session. A warning says how many runs have none.

    Raises
    ------
    AccessorError
        If the frame lacks the column.
    TypeError, ValueError
        If `hparams` is no frame with one row per run, or has a column that the frame has too.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": ["a/train", "a/eval"], "value": [1.0, 2.0]})
    >>> join(frame, pd.DataFrame({"run": ["a"], "params.lr": [0.1]}))
           run  value  params.lr
    0  a/train    1.0        0.1
    1   a/eval    2.0        0.1
    """
    require(frame, ["run"], "join")
    run = name_column(frame, "run")
    table = sessions_by_run(run.names, hparams, "join")
    for column in table.columns:
        if column in frame.columns:
            raise ValueError(f"join(): both frames have a column {column!r}; drop or rename one of them")
    return tidy(frame, {"run": run}, {column: table[column].array.take(run.code) for column in table.columns})


def sessions_by_run(runs: list[str], hparams: pd.DataFrame, verb: str) -> pd.DataFrame:
    """Tabulate the session of each run, and warn of runs without one.

    Parameters
    ----------
    runs : list of str
        The runs.
    hparams : DataFrame
        As for `join`.
    verb : str
        What needs the sessions, for messages.

    Returns
    -------
    DataFrame
        One row per run, the columns of `hparams` but run; texts as category.

    Raises
    ------
    TypeError, ValueError
        If `hparams` is no frame with one row per run.

    Examples
    --------
    >>> sessions_by_run(["a/b"], pd.DataFrame({"run": ["a"], "params.opt": ["sgd"]}), "join")["params.opt"].tolist()
    ['sgd']
    """
    if not isinstance(hparams, pd.DataFrame):
        raise TypeError(f"{verb}(): expected the frame of tbframe.hparams(), found {type(hparams).__name__}")
    if "run" not in hparams.columns:
        raise ValueError(f"{verb}(): the hparams have no column 'run'. They have {quoted(hparams.columns)}.")
    found = names(hparams["run"])
    sessions = [found.names[code] for code in found.code.tolist()]
    if len(found.names) < len(sessions):
        twice = hparams["run"][hparams["run"].duplicated()].iloc[0]
        raise ValueError(f"{verb}(): the hparams have several rows of run {twice!r}; expected one row per run")
    columns = hparams.drop(columns="run").reset_index(drop=True)
    rows = session_of_each_run(runs, sessions, columns.filter(regex=r"^params\."))
    missing = [run for run, row in zip(runs, rows.tolist(), strict=True) if row < 0]
    if missing:
        warn(f"{verb}(): {len(missing)} of {len(runs)} runs have no hyperparameters: {quoted(missing, 5)}", UserWarning)
    # A label that does not exist gives a row of missing values, in the dtype that each column then needs.
    table = columns.reindex(np.where(rows < 0, len(columns), rows))
    return pd.DataFrame({name: _compact(table[name]) for name in table.columns}).reset_index(drop=True)


def session_of_each_run(runs: list[str], sessions: list[str], params: pd.DataFrame) -> NDArray[np.int64]:
    """Find which session each run belongs to.

    Parameters
    ----------
    runs : list of str
        Runs that have values.
    sessions : list of str
        Runs that have hyperparameters.
    params : DataFrame
        Their parameters, one row per session.

    Returns
    -------
    ndarray of int64, shape (runs,)
        Number of the session, -1 for none.

    Examples
    --------
    >>> session_of_each_run(["a/b/c", "d", "e"], ["a", "d/1700000000.5"], pd.DataFrame(index=[0, 1]))
    array([ 0,  1, -1])
    """
    at = {session: row for row, session in enumerate(sessions)}
    below: dict[str, list[int]] = {}
    for session, row in sorted(at.items(), key=lambda item: natural_key(item[0])):
        below.setdefault(_parent(session), []).append(row)
    found = np.full(len(runs), -1, np.int64)
    for i, run in enumerate(runs):
        above: str | None = run
        while above is not None and above not in at:
            above = _parent(above) if above != _ROOT else None
        candidates = below.get(run, [])
        if above is not None:
            found[i] = at[above]
        elif candidates and len(params.iloc[candidates].drop_duplicates()) <= 1:
            found[i] = candidates[-1]
    return found


def _parent(run: str) -> str:
    """Return the directory above a run; above the first level that is the logdir itself, and so it is above that."""
    return run.rpartition("/")[0] or _ROOT


def _compact(column: pd.Series) -> pd.Series:
    """Make a column of texts one of categories, which is small and fast for millions of rows."""
    texts = column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype) or not len(texts):
        return column
    return column.astype("category") if all(isinstance(text, str) for text in texts) else column
