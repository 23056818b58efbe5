"""What a careful reader of scalars would notice before drawing them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tbframe import series
from tbframe.verbs.frames import SeriesRows, by_series, categorical
from tbframe.verbs.grouping import By, group_runs
from tbframe.verbs.scalar_columns import Names, integers, numbers

__all__ = ["FINDINGS", "check"]

FINDINGS: Final = (
    "nan",
    "infinite",
    "step repeats",
    "step goes back",
    "gap in time",
    "flat",
    "diverging",
    "ends early",
)
"""What `check` looks for."""

_FEW = 3
_DIVERGING = 10.0


class _Finding(NamedTuple):
    """What was found in some series, each array of shape (series found,)."""

    name: str
    where: NDArray[np.intp]
    rows: NDArray[np.int64]
    step: NDArray[np.int64]
    detail: list[str]


class _Rows(NamedTuple):
    """All rows in the order of their series."""

    bounds: NDArray[np.int64]
    of: NDArray[np.int64]
    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]


def check(frame: pd.DataFrame, by: By = None) -> pd.DataFrame:
    """Tabulate what is odd about the series of a frame.

    Parameters
    ----------
    frame : DataFrame
        With the columns run, tag, step, wall_time and value; rows of a run and tag in the order logged.
    by : optional
        Which runs should be equally long, such as the seeds of one setting: as for `aggregate`. By default all.

    Returns
    -------
    DataFrame
        One row per run, tag and finding; none if all is well. run, tag, finding (category), count (int64, how many
        rows), step (int64, the first of them), detail (str). The findings:

        ``"nan"``, ``"infinite"``
            Values that are no numbers, or infinite.
        ``"step repeats"``, ``"step goes back"``
            Compared with all rows before, and with the row before.
        ``"gap in time"``
            Over 10 times the series' median interval.
        ``"flat"``
            At least 3 values, all equal.
        ``"diverging"``
            The series ends in values that are not finite, or the median magnitude of its last tenth (of at least 10
            values) is over 10 times the largest magnitude in its first half.
        ``"ends early"``
            Another run of the group has later steps of the tag.

    Raises
    ------
    AccessorError
        If the frame lacks a column.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"run": "a", "tag": "loss", "step": [0, 1, 1], "wall_time": [0.0, 1.0, 2.0], "value": [2.0, 1.0, np.nan]}
    ... )
    >>> check(frame)[["finding", "count", "step", "detail"]]
            finding  count  step                         detail
    0           nan      1     1                    1 of 3 rows
    1  step repeats      1     1                    1 of 3 rows
    2     diverging      1     1  not finite from step 1 to end
    """
    found = by_series(frame, "check", "step", "wall_time", "value")
    rows = _Rows(
        bounds=found.bounds,
        of=np.repeat(np.arange(len(found.bounds) - 1), np.diff(found.bounds)),
        step=found.arranged(integers(frame["step"])),
        wall_time=found.arranged(numbers(frame["wall_time"])),
        value=found.arranged(numbers(frame["value"])),
    )
    group = group_runs(frame, by, "check").code[found.first]
    findings = [*_row_findings(rows), _flat(rows), _diverging(rows), _early(rows, found, group)]
    return _table(findings, found)


def _row_findings(rows: _Rows) -> Iterator[_Finding]:
    """Find rows that are odd by themselves or beside the row before."""
    inside = rows.of[1:] == rows.of[:-1]
    back = np.append(False, inside & (rows.step[1:] < rows.step[:-1]))[: len(rows.of)]
    key = series.mixed_key(rows.of, rows.step)
    order = series.stable_order(key)
    repeats = np.zeros(len(key), bool)
    repeats[order[1:][np.diff(key[order]) == 0]] = True
    yield _of_rows("nan", rows, np.isnan(rows.value))
    yield _of_rows("infinite", rows, np.isinf(rows.value))
    yield _of_rows("step repeats", rows, repeats)
    yield _of_rows("step goes back", rows, back)
    with np.errstate(invalid="ignore"):
        interval = np.diff(rows.wall_time, prepend=np.nan)[: len(rows.of)]
    counts = np.append(False, inside)[: len(rows.of)] & (interval > 0) & np.isfinite(interval)
    usual = series.group_medians(interval[counts], rows.of[counts], len(rows.bounds) - 1)
    gap = counts & (interval > series.LONG_GAP * usual[rows.of])
    finding = _of_rows("gap in time", rows, gap)
    longest = np.zeros(len(usual))
    np.maximum.at(longest, rows.of[gap], interval[gap])
    detail = [f"up to {longest[i]:.4g} s; usually {usual[i]:.4g} s" for i in finding.where.tolist()]
    yield finding._replace(detail=detail)


def _of_rows(name: str, rows: _Rows, odd: NDArray[np.bool_]) -> _Finding:
    at = np.flatnonzero(odd)
    where, first, count = np.unique(rows.of[at], return_index=True, return_counts=True)
    lengths = np.diff(rows.bounds)[where]
    detail = [f"{some} of {all_rows} rows" for some, all_rows in zip(count.tolist(), lengths.tolist(), strict=True)]
    return _Finding(name, where, count.astype(np.int64), rows.step[at[first]], detail)


def _flat(rows: _Rows) -> _Finding:
    starts, lengths = rows.bounds[:-1], np.diff(rows.bounds)
    if not len(starts):
        return _Finding("flat", starts, starts, starts, [])
    same = np.isfinite(rows.value) & (rows.value == np.repeat(rows.value[starts], lengths))
    where = np.flatnonzero(np.logical_and.reduceat(same, starts) & (lengths >= _FEW))
    detail = [f"always {value!r}" for value in rows.value[starts[where]].tolist()]
    return _Finding("flat", where, lengths[where], rows.step[starts[where]], detail)


def _diverging(rows: _Rows) -> _Finding:
    """Find series that end in NaN or infinities, or far beyond where they were."""
    starts, ends, lengths = rows.bounds[:-1], rows.bounds[1:], np.diff(rows.bounds)
    finite = np.isfinite(rows.value)
    last_finite = np.full(len(starts), -1, np.int64)
    last_finite[rows.of[finite]] = np.flatnonzero(finite)
    from_row = np.maximum(last_finite + 1, starts)
    broken = from_row < ends
    magnitude = np.where(finite, np.abs(rows.value), 0.0)
    place = np.arange(len(rows.of)) - starts[rows.of]
    early = np.zeros(len(starts))
    np.maximum.at(early, rows.of, np.where(2 * place < lengths[rows.of], magnitude, 0.0))
    late = 10 * (place + 1) > 9 * lengths[rows.of]
    final = series.group_medians(magnitude[late], rows.of[late], len(starts))
    grown = ~broken & (lengths >= 10) & (early > 0) & (final > _DIVERGING * early)
    where = np.flatnonzero(broken | grown)
    first = np.where(broken, from_row, starts + lengths * 9 // 10)[where]
    detail = [
        f"not finite from step {step} to end" if ends_broken else f"{ratio:.3g} times the largest of its first half"
        for step, ends_broken, ratio in zip(
            rows.step[first].tolist(),
            broken[where].tolist(),
            (final[where] / np.where(early[where] > 0, early[where], 1.0)).tolist(),
            strict=True,
        )
    ]
    return _Finding("diverging", where, ends[where] - first, rows.step[first], detail)


def _early(rows: _Rows, found: SeriesRows, group: NDArray[np.int64]) -> _Finding:
    """Find series whose tag goes on in another run of their group."""
    starts = rows.bounds[:-1]
    if not len(starts):
        return _Finding("ends early", starts, starts, starts, [])
    end = np.maximum.reduceat(rows.step, starts)
    # Rows in no group have the code -1.
    together = (group + 1) * len(found.tag.names) + found.tag.code[found.first]
    furthest = np.full(int(together.max()) + 1, np.iinfo(np.int64).min)
    np.maximum.at(furthest, together, end)
    where = np.flatnonzero((end < furthest[together]) & (group >= 0))
    detail = [
        f"ends at step {step}, others at {far}" for step, far in zip(end[where], furthest[together][where], strict=True)
    ]
    return _Finding("ends early", where, np.diff(rows.bounds)[where], end[where], detail)


def _table(findings: list[_Finding], found: SeriesRows) -> pd.DataFrame:
    where = np.concatenate([each.where for each in findings]).astype(np.int64)
    kind = np.repeat(np.arange(len(findings)), [len(each.where) for each in findings])
    run, tag = (names.code[found.first][where] for names in (found.run, found.tag))
    order = np.lexsort((kind, tag, run))
    details = np.array([text for each in findings for text in each.detail], object)
    return pd.DataFrame(
        {
            "run": categorical(Names(found.run.names, run[order])),
            "tag": categorical(Names(found.tag.names, tag[order])),
            "finding": categorical(Names([each.name for each in findings], kind[order])),
            "count": np.concatenate([each.rows for each in findings])[order],
            "step": np.concatenate([each.step for each in findings])[order],
            "detail": pd.Series(details[order], dtype="str"),
        }
    )
