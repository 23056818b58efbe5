"""A caption that says in words what curves show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from tbframe.plotting.curve_colors import Groups
from tbframe.plotting.curve_data import CurveData
from tbframe.verbs.notes import Note, notes

__all__ = ["EMPTY_NAME", "caption"]

EMPTY_NAME: Final = '""'
"""How the tag without a name is written."""
_MOST_NAMES: Final = 6
_PLACES: Final = {"step": "the step", "wall": "the date", "relative": "the time since the run's first value"}
_ESTIMATORS: Final = {"mean": "mean", "median": "median", "iqm": "interquartile mean"}
_BANDS: Final = {
    "ci": "its {level:.3g} % bootstrap interval",
    "std": "one standard deviation to either side",
    "se": "one standard error to either side",
    "minmax": "the smallest and the largest value",
    "quantile": "the middle {level:.3g} % of the values",
}

_SAMPLES: Final = {
    "reservoir": ", a uniform sample",
    "even": ", evenly spread",
    "lttb": ", those of the largest triangles",
    "minmax": ", the extremes of short stretches",
}


def caption(frame: pd.DataFrame, data: CurveData, groups: Groups, *, x: str, smooth: float, log: str) -> str:
    """Say what was drawn.

    Parameters
    ----------
    frame : DataFrame
        What was drawn; what verbs noted in its attrs says how values and bands were made.
    data : CurveData
        Its curves.
    groups : Groups
        Their colours.
    x : str
        What lies on the x axis.
    smooth : float
        TensorBoard's smoothing weight.
    log : {"", "x", "y", "xy"}
        Which axes are logarithmic.

    Returns
    -------
    str
        Some sentences.
    """
    runs = list(dict.fromkeys(curve.run for panel in data.panels.values() for curve in panel))
    summary = _about_verbs(frame)
    groups_of_runs = {"low", "high"} <= set(frame.columns) or any(n["verb"] == "aggregate" for n in notes(frame))
    names = f" ({_listed(runs)})" if len(runs) <= _MOST_NAMES else ""
    what = _count(len(runs), "group") + " of runs" if groups_of_runs else _count(len(runs), "run")
    sentences = [f"{_listed(list(data.panels))} against {_PLACES.get(x, x)} for {what}{names}."]
    if groups.title:
        sentences.append(f"Colours stand for {groups.title} ({_listed(groups.names)}).")
    sentences += summary
    if smooth:
        sentences.append(
            f"Curves are smoothed with TensorBoard's debiased moving average (weight {smooth:g}); "
            "what was there before smoothing is pale."
        )
    if data.thinned:
        curves, were = _count(data.thinned, "curve"), "was" if data.thinned == 1 else "were"
        sentences.append(
            f"{curves} of more than {data.points:,} points {were} thinned for drawing"
            f"{', after smoothing,' if smooth else ''} to the extremes of short stretches."
        )
    return " ".join(sentences + _about_values(data, log))


def _about_verbs(frame: pd.DataFrame) -> list[str]:
    """Say what was done to the values of a frame before they were drawn, in order."""
    has_band = {"low", "high"} <= set(frame.columns)
    told = notes(frame)
    sentences = []
    averaged = False
    for note in told:
        if note["verb"] == "aggregate":
            averaged = True
            sentences.append(_about_average(frame, note, has_band))
        elif note["verb"] == "smooth" and note.get("weight") != 0:
            what = "Lines" if averaged else "Values"
            sentences.append(
                f"{what} were smoothed with {_average(note)}{', bands were not' * (averaged and has_band)}."
            )
        elif note["verb"] == "downsample":
            kept = _SAMPLES.get(str(note.get("method")), "")
            sentences.append(f"At most {note.get('n'):,} values of each run and tag were kept{kept}.")
    if has_band and not averaged:
        sentences.append(_about_average(frame, {}, has_band))
    return sentences


def _average(note: Note) -> str:
    if "weight" in note:
        return f"TensorBoard's debiased moving average (weight {note['weight']:g})"
    return f"a moving average whose weights halve every {note.get('half_life'):g} {note.get('unit')}"


def _about_average(frame: pd.DataFrame, note: Note, has_band: bool) -> str:
    """Say what values and bands of an aggregated frame are."""
    counts = frame["n"].dropna() if "n" in frame.columns else frame["value"].iloc[:0]
    over = ""
    if len(counts):
        least, most = int(counts.min()), int(counts.max())
        over = f" over {_count(most, 'run')}" if least == most else f" over {least} to {most} runs"
    estimate = _ESTIMATORS.get(str(note.get("estimator")), "estimate")
    level = note.get("level")
    band = _BANDS.get(str(note.get("band")), "the columns low and high").format(level=100 * float(level or 0.95))
    return f"Lines show the {estimate}{over}, bands {band}." if has_band else f"Lines show the {estimate}{over}."


def _about_values(data: CurveData, log: str) -> list[str]:
    """Say which values are not where one would look for them."""
    sentences = []
    if count := data.not_finite.get("NaN"):
        sentences.append(f"Crosses mark {_count(count, 'value')} that {_be(count)} NaN.")
    if count := data.not_finite.get("infinite"):
        sentences.append(f"Triangles mark {_count(count, 'infinite value')}.")
    if log:
        scales = "Both axes are" if log == "xy" else f"The {log} axis is"
        gone = f", without {_count(data.not_positive, 'point')} not above 0" if data.not_positive else ""
        sentences.append(f"{scales} logarithmic{gone}.")
    if data.limits:
        sentences.append(
            "The y axes span the 5th to the 95th percentile of the values, as TensorBoard's do when it ignores "
            f"outliers; {_count(data.outside, 'value')} {_be(data.outside)} outside."
        )
    if data.without_x:
        count = data.without_x
        sentences.append(f"{_count(count, 'point')} without a place on the x axis {_be(count)} left out.")
    return sentences


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    shown = [name or EMPTY_NAME for name in names[:_MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
