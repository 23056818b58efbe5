"""The metrics of hyperparameter sessions: one number for each scalar series that belongs to a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.stacking import refuse_padding
from tbframe.names import NameFilter, natural_key
from tbframe.restarts import Policy

__all__ = ["How", "Metrics", "Owner", "metric_columns", "owners"]

How: TypeAlias = Literal["last", "min", "max", "mean"]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


class Metrics(NamedTuple):
    """The metrics of some sessions."""

    columns: dict[str, Floats]
    """``metrics.<tag>`` or ``metrics.<group>/<tag>``: a number of each session, NaN where it has none."""
    names: dict[str, tuple[str, str]]
    """The group and the tag of each column."""
    dropped: int
    """How many values a restart superseded."""


class Owner(NamedTuple):
    """That the scalars of a run are metrics of a session."""

    run: str
    session: int
    """Its row."""
    group: str
    """TensorBoard's group of metrics: the path from the session to the run."""


def owners(runs: Sequence[str], sessions: Sequence[str], parents: Sequence[str | None]) -> list[Owner]:
    """Tell which session each run belongs to: the nearest above it.

    Parameters
    ----------
    runs : sequence of str
        All runs.
    sessions : sequence of str
        The runs that are sessions.
    parents : sequence of str or None
        A run that each session stands for: the runs nearest to that belong to the session, too.

    Returns
    -------
    list of Owner
        First what sessions have by their parents, then what is their own.

    Examples
    --------
    >>> owners(["a", "a/eval", "b"], ["a"], [None])
    [Owner(run='a', session=0, group=''), Owner(run='a/eval', session=0, group='eval')]
    """
    own = {session: [row] for row, session in enumerate(sessions)}
    stood_for: dict[str, list[int]] = {}
    for row, parent in enumerate(parents):
        if parent is not None:
            stood_for.setdefault(parent, []).append(row)
    found: list[Owner] = []
    for roots in (stood_for, own):
        for run in runs:
            above: str | None = run
            while above is not None and above not in own and above not in roots:
                above = _above(above)
            if above in roots:
                found += [Owner(run, row, _relative(run, above)) for row in roots[above]]
    return found


def _above(run: str) -> str | None:
    return None if run == "." else run.rpartition("/")[0] or "."


def _relative(run: str, above: str) -> str:
    return "" if run == above else run if above == "." else run[len(above) + 1 :]


def metric_columns(
    catalog: Catalog, owned: Sequence[Owner], sessions: int, *, tags: NameFilter, restarts: Policy, how: How, fold: bool
) -> Metrics:
    """Find the metrics of sessions.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    owned : sequence of Owner
        The runs whose scalars are metrics. Of two that give one metric of one session the later counts.
    sessions : int
        How many sessions there are.
    tags : str, iterable of str, re.Pattern or None
        The tags wanted.
    restarts : {"purge", "latest", "keep", "mark"}
        Which values count.
    how : {"last", "min", "max", "mean"}
        Which value of a series is taken.
    fold : bool
        Whether a sub-run of ``add_scalars`` gives ``metrics.<tag>/<name>``.

    Returns
    -------
    Metrics
        Columns in natural order.

    Raises
    ------
    UnknownNameError
        If a tag does not exist.
    ValueError
        If `how` is none of the above, or there are so many metrics that differ from session to session that the table
        would be very large and mostly padding.
    """
    if how not in get_args(How):
        raise ValueError(f"metrics={how!r}: expected one of {', '.join(map(repr, get_args(How)))}")
    selection = catalog.select("scalars", {owner.run for owner in owned}, tags, restarts)
    number = catalog.table["number"][selection.rows]
    first = np.cumsum(selection.series_size) - selection.series_size
    value = _AGGREGATES[how](number, first, selection.series_size) if len(first) else np.zeros(0)
    groups = sorted({owner.group for owner in owned})
    pair, row, series = _cells(selection, owned, groups)
    some, column = np.unique(pair, return_inverse=True)
    refuse_padding(
        "hparams", {"metric": len(some), "session": sessions}, (len(some), sessions),
        len(row) / max(len(some) * sessions, 1),
    )  # fmt: skip
    matrix = np.full((len(some), sessions), np.nan)
    matrix[column, row] = value[series]  # in their order: the last one stays
    tag_count = len(selection.tags)
    names = [(groups[p // tag_count], selection.tags[p % tag_count]) for p in some.tolist()]
    named = _column_names(names, fold)
    order = sorted(range(len(named)), key=lambda i: natural_key(named[i]))
    return Metrics({named[i]: matrix[i] for i in order}, {named[i]: names[i] for i in order}, selection.dropped)


def _last(number: Floats, first: Ints, size: Ints) -> Floats:
    result: Floats = number[first + size - 1]
    return result


def _mean(number: Floats, first: Ints, size: Ints) -> Floats:
    missing = np.isnan(number)
    count = np.add.reduceat(~missing, first, dtype=np.int64)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = np.add.reduceat(np.where(missing, 0.0, number), first) / count
    return result


_AGGREGATES: Final[dict[str, Callable[[Floats, Ints, Ints], Floats]]] = {
    "last": _last,
    "mean": _mean,
    "min": lambda number, first, size: np.asarray(np.fmin.reduceat(number, first)),
    "max": lambda number, first, size: np.asarray(np.fmax.reduceat(number, first)),
}


def _cells(selection: Selection, owned: Sequence[Owner], groups: list[str]) -> tuple[Ints, Ints, Ints]:
    """Tell for each session and each of its series: the number of group and tag, the session, and the series."""
    place = {run: i for i, run in enumerate(selection.runs)}
    group_of = {group: i for i, group in enumerate(groups)}
    run, row, group = (
        np.array(
            [(place[owner.run], owner.session, group_of[owner.group]) for owner in owned if owner.run in place],
            np.int64,
        )
        .reshape(-1, 3)
        .T
    )
    bounds = np.searchsorted(selection.series_run, np.arange(len(selection.runs) + 1))
    size = bounds[run + 1] - bounds[run]
    series = np.arange(size.sum()) + np.repeat(bounds[run] - (np.cumsum(size) - size), size)
    pair = np.repeat(group, size) * len(selection.tags) + selection.series_tag[series]
    return pair, np.repeat(row, size), series


def _column_names(pairs: list[tuple[str, str]], fold: bool) -> list[str]:
    """Name the column of each group and tag; where two would have one name, that with a group gets a second slash."""
    taken: set[str] = set()
    names = []
    for group, tag in pairs:
        before, after = (tag, _key_of_scalars(group, tag)) if fold and _key_of_scalars(group, tag) else (group, tag)
        slash = "/" if before else ""
        while (name := f"metrics.{before}{slash}{after}") in taken:
            slash += "/"
        taken.add(name)
        names.append(name)
    return names


def _key_of_scalars(group: str, tag: str) -> str:
    """Return the key of a sub-run of ``add_scalars``, called ``<tag>_<key>``, by tensorboardX ``<tag>/<key>``."""
    for prefix in (f"{tag}/", f"{tag.replace('/', '_')}_"):
        if group.startswith(prefix):
            return group.removeprefix(prefix)
    return ""
