"""Averages over runs, such as the seeds of one setting, with bands around them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tbframe.series import Alignment, Band, Estimator, align, mixed_key, stable_order, summarise
from tbframe.verbs.frames import categorical, name_column, require
from tbframe.verbs.grouping import By, Groups, group_runs
from tbframe.verbs.notes import add_note
from tbframe.verbs.repeats import repeat_error
from tbframe.verbs.scalar_columns import Names, integers, numbers

__all__ = ["aggregate"]

_MADE = ("tag", "step", "wall_time", "value", "low", "high", "n")


def aggregate(
    frame: pd.DataFrame,
    by: By = None,
    *,
    estimator: Estimator = "mean",
    band: Band | None = "ci",
    align: Alignment = "exact",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Average runs that belong together, at each step of each tag.

    Parameters
    ----------
    frame : DataFrame
        With the columns run, tag, step, wall_time and value.
    by : str, sequence of str, re.Pattern, callable, mapping, DataFrame or None
        Which runs belong together: those that agree in a column (or several) of the frame; in the named groups of a
        regular expression searched in the run name; in what a function of the run name returns, or a mapping from it
        holds; in all columns ``params.*`` of an hparams frame (drop that of the seed). None: all of them.
    estimator : {"mean", "median", "iqm"}
        "iqm" is the interquartile mean: the mean without the ``n // 4`` smallest and largest of n values.
    band : {"ci", "std", "se", "minmax", "quantile"} or None
        What `low` and `high` are: percentile bootstrap interval of the estimate at `level`; the estimate plus and minus
        the standard deviation (n - 1), or the standard error; smallest and largest value; the middle `level` of the
        values; or nothing. NaN where one run does not define it.
    align : {"exact", "interp", "nearest"}
        How runs count at a step: those that have it; or, between a run's first and last step, its linear interpolation
        or its nearest step, at all steps of the group.
    level : float
        Between 0 and 1.
    resamples : int
        Bootstrap samples for more than 6 runs; of fewer runs all samples there are count.
    seed : int
        Seed of the bootstrap: equal seeds give equal bands.

    Returns
    -------
    DataFrame
        A scalars frame, one row per group, tag and step: run (category, the group's label), tag (category), step
        (int64), wall_time (float64, the mean), value, low, high (float64; not if `band` is None), n (int64, how many
        runs have a number there: NaN is none), and the columns that tell the groups apart.

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    ValueError
        If rows of a run repeat a tag and step, an argument is none of the above, or a grouping column is called as one
        of the result.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": ["a/0", "a/1"], "tag": "loss", "step": 10, "wall_time": 0.0, "value": [1.0, 3.0]})
    >>> aggregate(frame, r"^(?P<model>\w+)/", band="minmax").drop(columns="wall_time")
      run   tag  step  value  low  high  n model
    0   a  loss    10    2.0  1.0   3.0  2     a
    """
    require(frame, ["run", "tag", "step", "wall_time", "value"], "aggregate")
    groups = group_runs(frame, by, "aggregate")
    tag = name_column(frame, "tag")
    for column in groups.columns.columns:
        if column in _MADE:
            raise ValueError(
                f"aggregate(by=...): the result has a column {column!r} of its own; rename the grouping column"
            )
    cell, step, measured, bounds = _cells(frame, groups, tag, align)
    value, wall_time = measured[:, 0], measured[:, 1]
    summary = summarise(value, bounds, estimator, band, level=level, resamples=resamples, seed=seed)
    group, tag_code = np.divmod(cell, max(1, len(tag.names)))
    with np.errstate(invalid="ignore"):
        mean_time = np.add.reduceat(wall_time, bounds[:-1]) / np.diff(bounds) if len(cell) else np.empty(0)
    result = pd.DataFrame(
        {
            "run": categorical(Names(groups.labels, group)),
            "tag": categorical(Names(tag.names, tag_code)),
            "step": step,
            "wall_time": mean_time,
            "value": summary.centre,
        }
    )
    if band is not None:
        result["low"], result["high"] = summary.low, summary.high
    result["n"] = summary.n
    for column in groups.columns.columns.drop("run", errors="ignore"):
        result[column] = groups.columns[column].array.take(group)
    add_note(result, frame, "aggregate", estimator=estimator, band=band, level=level)
    return result


def _cells(
    frame: pd.DataFrame, groups: Groups, tag: Names, method: Alignment
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Bring the rows of one group, tag and step together, one row per run, after aligning the runs.

    Returns group and tag of each cell as one number, its step, the rows' values and wall times, and the cells' bounds.
    """
    rows = np.flatnonzero(groups.code >= 0)
    run, steps = name_column(frame, "run").code[rows], integers(frame["step"])[rows]
    in_group = groups.code[rows] * max(1, len(tag.names)) + tag.code[rows]
    series = run * (int(in_group.max(initial=0)) + 1) + in_group
    key = mixed_key(series, steps)
    if len(key) and not (key[1:] > key[:-1]).all():
        order = stable_order(key)
        repeated = np.flatnonzero(np.diff(key[order]) == 0)
        if len(repeated):
            kept = frame.iloc[rows]
            raise repeat_error(kept, key, order[repeated + 1], key=["run", "tag", "step"], verb="aggregate")
        rows, series, steps, in_group = rows[order], series[order], steps[order], in_group[order]
    measured = np.stack([numbers(frame[column])[rows] for column in ("value", "wall_time")], axis=1)
    starts = np.flatnonzero(np.diff(series, prepend=-1) != 0)
    steps, measured, bounds = align(steps, measured, np.append(starts, len(series)), in_group[starts], method)
    cells = np.repeat(in_group[starts], np.diff(bounds))
    key = mixed_key(cells, steps)
    order = stable_order(key)
    firsts = np.flatnonzero(np.diff(key[order], prepend=-1) != 0)
    return cells[order][firsts], steps[order][firsts], measured[order], np.append(firsts, len(key))
