"""Colours of curves: which runs share one, and the key that says so."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.colors import to_hex

from tbframe.names import natural_order
from tbframe.plotting.style import ramp
from tbframe.verbs.frames import SeriesRows

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = ["Groups", "group_series"]

Dashes: TypeAlias = Literal["solid"] | tuple[float, Sequence[float]]

_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
"""Okabe and Ito's, which most colour-blind readers tell apart, without the yellow that white paper swallows."""
_DASHES: Final[tuple[Dashes, ...]] = ("solid", (0, (4, 1.5)), (0, (1, 1.2)))
_MISSING: Final = "#B0B0B0"
_MOST_NAMED: Final = len(_COLOURS) * len(_DASHES)
"""Beyond so many groups a ramp of colours says which are early and which late."""


class Groups(NamedTuple):
    """Which series are drawn alike."""

    names: list[str]
    """Labels, in order."""
    of_row: dict[int, int]
    """The group of each series, by its first row in the frame; -1 where it is missing."""
    title: str
    """The column, or "" if the runs are the groups."""
    is_ramp: bool
    """Whether colours follow an order, rather than telling names apart."""

    def colour(self, group: int) -> str:
        """Return the colour of a group."""
        if group < 0:
            return _MISSING
        if self.is_ramp:
            return _ramp_colours(len(self.names))[group]
        return _COLOURS[group % len(_COLOURS)]

    def dashes(self, group: int) -> Dashes:
        """Return the line style of a group."""
        return "solid" if self.is_ramp or group < 0 else _DASHES[group // len(_COLOURS)]

    def handles(self, groups: Sequence[int]) -> list[Line2D]:
        """Make a short line of each of some groups, for a legend."""
        from matplotlib.lines import Line2D

        return [Line2D([], [], color=self.colour(g), linestyle=self.dashes(g), linewidth=1.6) for g in groups]


@functools.lru_cache(8)
def _ramp_colours(count: int) -> list[str]:
    return [to_hex(colour) for colour in ramp(np.linspace(0.0, 1.0, count))]


def group_series(frame: pd.DataFrame, rows: SeriesRows, color: str) -> Groups:
    """Group the series of a frame by what gives them their colour.

    Parameters
    ----------
    frame : DataFrame
        A scalars frame.
    rows : SeriesRows
        Its series.
    color : str
        "run", or a column with one value in each series.

    Returns
    -------
    Groups
        Names in natural order, or that of the categories; numbers ascending.

    Raises
    ------
    ValueError
        If there is no such column, or it varies within a series.
    """
    first = rows.first
    if color == "run":
        names, code = rows.run.names, rows.run.code[first]
        return Groups(names, dict(zip(first.tolist(), code.tolist(), strict=True)), "", len(names) > _MOST_NAMED)
    if color not in frame.columns:
        raise ValueError(f"color={color!r}: expected 'run' or a column of the frame, which are {[*frame.columns]}")
    column = frame[color]
    code, values = _codes(column)
    same = rows.arranged(code) == np.repeat(code[first], np.diff(rows.bounds))
    if not same.all():
        at = int(np.searchsorted(rows.bounds, np.argmin(same), side="right")) - 1
        run, tag = rows.run.names[rows.run.code[first[at]]], rows.tag.names[rows.tag.code[first[at]]]
        raise ValueError(f"color={color!r}: the column varies within run {run!r}, tag {tag!r}; a curve has one colour")
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    names = [f"{value:g}" if numeric else str(value) for value in values]
    of_row = dict(zip(first.tolist(), code[first].tolist(), strict=True))
    return Groups(names, of_row, color, (numeric and len(names) > 2) or len(names) > _MOST_NAMED)


def _codes(column: pd.Series) -> tuple[npt.NDArray[np.int64], list[object]]:
    """Assign numbers to the values of a column, in their order; -1 where they are missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        return column.cat.codes.to_numpy().astype(np.int64), list(column.cat.categories)
    code, found = pd.factorize(column)
    values = list(found)
    if all(isinstance(value, str) for value in values):
        place = {name: i for i, name in enumerate(natural_order(values))}
        order = np.array([place[name] for name in values], np.int64)
    else:
        order = np.argsort(np.argsort(np.asarray(values, object), kind="stable"), kind="stable")
    ordered = [values[i] for i in np.argsort(order, kind="stable").tolist()]
    return np.append(order, -1)[code].astype(np.int64), ordered
