"""One row per run and tag: the last, or the best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tbframe import series
from tbframe.errors import UnknownNameError, warn
from tbframe.verbs.frames import SeriesRows, by_series, quoted, take
from tbframe.verbs.scalar_columns import integers, numbers

__all__ = ["Mode", "best", "last"]

Mode: TypeAlias = Literal["min", "max"]


def last(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the last row of each run and tag.

    Parameters
    ----------
    frame : DataFrame
        With the columns run and tag; rows of a run and tag in the order logged.

    Returns
    -------
    DataFrame
        One row per run and tag, with its index label.

    Raises
    ------
    AccessorError
        If the frame lacks a column.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": ["loss", "loss", "lr"], "value": [3.0, 2.0, 0.1]})
    >>> last(frame).value.tolist()
    [2.0, 0.1]
    """
    rows = by_series(frame, "last")
    return take(frame, rows.rows(rows.bounds[1:] - 1), rows)


def best(frame: pd.DataFrame, mode: Mode | Mapping[str, Mode] = "min", *, of: str | None = None) -> pd.DataFrame:
    """Keep the row of each run and tag where its value, or that of one tag, is best.

    Parameters
    ----------
    frame : DataFrame
        With the columns run, tag and value (and step, if `of` is given); rows of a run and tag in the order logged.
    mode : {"min", "max"} or mapping of tag to these
        What is best, for all tags or for each. NaN is never best; of equals the first is.
    of : str, optional
        A tag: take every tag at the step where this one is best in the run. A tag without a value at that step gives
        its latest before it (its column step says so); of several rows at one step the last counts.

    Returns
    -------
    DataFrame
        One row per run and tag, with its index label: of a series of NaN its last row. With `of`, runs in which that
        tag has no number are left out, and a warning counts them; so are tags that have nothing up to that step.

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    UnknownNameError
        If there is no tag `of`.
    ValueError
        If `mode` is none of the above, or lacks a tag.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"run": "a", "tag": ["loss", "loss", "acc", "acc"], "step": [0, 1, 0, 1], "value": [2.0, 3.0, 0.5, 0.6]}
    ... )
    >>> best(frame, {"loss": "min", "acc": "max"}).value.tolist()
    [2.0, 0.6]
    >>> best(frame, of="loss").value.tolist()
    [2.0, 0.5]
    """
    rows = by_series(frame, "best", "value", *(["step"] if of is not None else []))
    tags = rows.tag.names
    if of is not None and of not in tags:
        raise UnknownNameError.of("tag", of, tags)
    signs = _signs(mode, tags if of is None else [of])
    values = rows.arranged(numbers(frame["value"]))
    if of is None:
        chosen = rows.bounds[1:] - 1
        sign = np.array([signs[tag] for tag in tags])[rows.tag.code[rows.first]]
        at, which = _best_places(values * np.repeat(sign, np.diff(rows.bounds)), rows.bounds)
        chosen[which] = at
        return take(frame, rows.rows(chosen), rows)
    steps = rows.arranged(integers(frame["step"]))
    return take(frame, rows.rows(_places_of(of, signs[of], values, steps, rows)), rows)


def _signs(mode: object, tags: list[str]) -> dict[str, float]:
    """Return for each tag 1 if its largest value is best, -1 if its smallest."""
    if isinstance(mode, Mapping):
        missing = [tag for tag in tags if tag not in mode]
        if missing:
            raise ValueError(f"mode: says nothing about {quoted(missing, 5)}; it has {quoted(mode, 5)}")
        modes = {tag: mode[tag] for tag in tags}
    else:
        modes = dict.fromkeys(tags, mode)
    for tag, wanted in modes.items():
        if wanted not in ("min", "max"):
            raise ValueError(f"mode={wanted!r} for tag {tag!r}: expected 'min' or 'max', or a mapping of tags to these")
    return {tag: 1.0 if wanted == "max" else -1.0 for tag, wanted in modes.items()}


def _best_places(height: NDArray[np.float64], bounds: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return where each series is highest, first of equals, and which series have such a place: NaN is none."""
    known = ~np.isnan(height)
    at = series.first_largest(np.where(known, height, -np.inf), bounds[:-1], np.diff(bounds), known)
    return at, np.searchsorted(bounds, at, side="right") - 1


def _places_of(
    of: str, sign: float, values: NDArray[np.float64], steps: NDArray[np.int64], rows: SeriesRows
) -> NDArray[np.int64]:
    """Return for each series its last place with the latest step up to where the tag `of` is best in the run."""
    starts, counts = rows.bounds[:-1], np.diff(rows.bounds)
    run, tag = rows.run.code[rows.first], rows.tag.code[rows.first]
    at, which = _best_places(values * sign, rows.bounds)
    leading = tag[which] == rows.tag.names.index(of)
    at, which = at[leading], which[leading]
    limit, known = np.zeros(len(rows.run.names), np.int64), np.zeros(len(rows.run.names), bool)
    limit[run[which]], known[run[which]] = steps[at], True
    if not known.all():
        left = [name for name, there in zip(rows.run.names, known.tolist(), strict=True) if not there]
        warn(
            f"best(of={of!r}) leaves out {len(left)} of {len(known)} runs: no number of that tag in {quoted(left, 5)}",
            UserWarning,
        )
    in_time = np.repeat(known[run], counts) & (steps <= np.repeat(limit[run], counts))
    # Backwards, the first of equals is the last.
    height = np.where(in_time, steps, np.iinfo(np.int64).min)[::-1]
    ends = len(steps) - rows.bounds[:0:-1]
    found = len(steps) - 1 - series.first_largest(height, ends, counts[::-1], in_time[::-1])[::-1]
    is_of = tag == rows.tag.names.index(of)
    others = found[~is_of[np.searchsorted(starts, found, side="right") - 1]]
    return np.concatenate([others, at])
