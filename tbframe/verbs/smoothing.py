"""A frame with its values smoothed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tbframe import series
from tbframe.verbs.frames import by_series, tidy
from tbframe.verbs.notes import add_note
from tbframe.verbs.scalar_columns import integers, numbers

__all__ = ["DEFAULT_WEIGHT", "smooth"]

DEFAULT_WEIGHT = 0.6
"""TensorBoard's smoothing when a page is opened."""


def smooth(
    frame: pd.DataFrame,
    weight: float = DEFAULT_WEIGHT,
    *,
    half_life_steps: float | None = None,
    half_life_seconds: float | None = None,
) -> pd.DataFrame:
    """Replace the values of each run and tag by TensorBoard's debiased moving average of them.

    TensorBoard's rule: s = weight * s + (1 - weight) * value, divided by 1 - weight**n after n finite values; NaN and
    infinities pass through, constant series stay as they are. Here it runs over all rows, not over a sample of them.

    Parameters
    ----------
    frame : DataFrame
        With the columns run, tag and value; rows of a run and tag in the order logged.
    weight : float
        TensorBoard's smoothing, from 0 (none) to 1.
    half_life_steps : float, optional
        Instead of a weight: the number of steps over which a value's weight halves. Needs the column step.
    half_life_seconds : float, optional
        Instead of a weight: the number of seconds over which it halves. Needs the column wall_time.

    Returns
    -------
    DataFrame
        The same rows, with `value` (float64) smoothed.

    Raises
    ------
    AccessorError
        If the frame lacks a column.
    ValueError, TypeError
        If `weight` is not a number from 0 to 1, a half-life not one above 0, or more than one of the three is given.

    Examples
    --------
    >>> frame = pd.DataFrame({"run": "a", "tag": "loss", "step": [0, 1, 2], "value": [0.0, 10.0, 10.0]})
    >>> smooth(frame, 0.5).value.round(3).tolist()
    [0.0, 6.667, 8.571]
    """
    given = {
        f"weight={weight!r}": weight != DEFAULT_WEIGHT,
        f"half_life_steps={half_life_steps!r}": half_life_steps is not None,
        f"half_life_seconds={half_life_seconds!r}": half_life_seconds is not None,
    }
    if sum(given.values()) > 1:
        found = " and ".join(setting for setting, there in given.items() if there)
        raise ValueError(f"smooth(): expected a weight or one half-life, found {found}")
    distance = [] if half_life_steps is None else ["step"]
    distance += [] if half_life_seconds is None else ["wall_time"]
    rows = by_series(frame, "smooth", "value", *distance)
    values = rows.arranged(numbers(frame["value"]))
    if half_life_steps is not None:
        smoothed = series.smooth_half_life(values, rows.arranged(integers(frame["step"])), half_life_steps, rows.bounds)
    elif half_life_seconds is not None:
        times = rows.arranged(numbers(frame["wall_time"]))
        smoothed = series.smooth_half_life(values, times, half_life_seconds, rows.bounds)
    else:
        smoothed = series.smooth(values, weight, rows.bounds)
    if rows.order is not None:
        in_frame_order = np.empty_like(smoothed)
        in_frame_order[rows.order] = smoothed
        smoothed = in_frame_order
    result = tidy(frame, rows.found, {"value": smoothed})
    if half_life_steps is None and half_life_seconds is None:
        add_note(result, frame, "smooth", weight=float(weight))
    else:
        unit, half_life = ("steps", half_life_steps) if half_life_steps is not None else ("seconds", half_life_seconds)
        add_note(result, frame, "smooth", half_life=half_life, unit=unit)
    return result
