"""A frame with fewer rows per run and tag."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import pandas as pd

from tbframe import series
from tbframe.verbs.frames import by_series, take
from tbframe.verbs.notes import add_note
from tbframe.verbs.scalar_columns import integers, numbers

__all__ = ["METHODS", "Method", "downsample"]

Method: TypeAlias = Literal["reservoir", "even", "lttb", "minmax"]

METHODS: Final = ("reservoir", "even", "lttb", "minmax")
"""How `downsample` can choose rows."""


def downsample(
    frame: pd.DataFrame, n: int = series.RESERVOIR_SIZES["scalars"], method: Method = "reservoir", *, seed: int = 0
) -> pd.DataFrame:
    """Keep at most `n` rows of each run and tag.

    Parameters
    ----------
    frame : DataFrame
        With the columns run and tag ("lttb" also needs step and value, "minmax" value); rows of a run and tag in the
        order logged.
    n : int
        How many rows to keep, at least 1. By default the 1000 that TensorBoard keeps of scalars.
    method : {"reservoir", "even", "lttb", "minmax"}
        "reservoir" is TensorBoard's sampling (its Python server's): a uniform sample and the last row; equally long
        series keep the same rows. "even": rows spread evenly, the first and the last among them. "lttb" (largest
        triangle, three buckets) and "minmax" (the smallest and the largest of each bucket) keep the shape of the curve,
        for drawing.
    seed : int
        Of the reservoir; TensorBoard's is 0.

    Returns
    -------
    DataFrame
        The rows kept, with their index labels, in their order.

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    TypeError, ValueError
        If `n` is not an integer of at least 1, or `method` is unknown.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": "loss", "step": range(1200), "value": 0.0})
    >>> downsample(frame, 5).step.tolist()
    [304, 668, 784, 929, 1199]
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r}: expected one of {', '.join(map(repr, METHODS))}")
    needed = {"lttb": ("step", "value"), "minmax": ("value",)}.get(method, ())
    rows = by_series(frame, "downsample", *needed)
    if method == "reservoir":
        kept = series.reservoir_rows(rows.bounds, n, seed)
    elif method == "even":
        kept = series.even_rows(rows.bounds, n)
    elif method == "lttb":
        step, value = rows.arranged(integers(frame["step"])), rows.arranged(numbers(frame["value"]))
        kept = series.lttb_rows(step, value, n, rows.bounds)
    else:
        kept = series.minmax_rows(rows.arranged(numbers(frame["value"])), n, rows.bounds)
    result = take(frame, rows.rows(kept), rows)
    add_note(result, frame, "downsample", n=int(n), method=method)
    return result
