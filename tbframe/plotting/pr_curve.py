"""Precision over recall."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import xarray as xr

from tbframe.errors import AccessorError
from tbframe.plotting.style import AxesLike, as_axes, grid, name_axis, ramp
from tbframe.verbs.pr_verbs import at_step, require_curves, trim

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.lines import Line2D

__all__ = ["draw_pr_curve", "pr"]

_MOST_PANELS = 100
_MOST_MARKED = 60  # points of a curve that are drawn as such
_MOST_NAMED = 10  # steps in a legend


class _Curve(NamedTuple):
    run: str
    tag: str
    step: int | None
    recall: npt.NDArray[np.float64]
    precision: npt.NDArray[np.float64]


def pr(
    ds: xr.Dataset,
    *,
    step: int | Iterable[int] | None = None,
    ax: AxesLike | None = None,
    cmap: str | Colormap | None = None,
) -> Axes | npt.NDArray[np.object_]:
    """Draw precision over recall: a panel for each tag, in it a line for each run and step.

    Parameters
    ----------
    ds : Dataset
        Curves, as `tbframe.pr_curves` returns them.
    step : int, iterable of int or None
        Draw the last curve that each run logged at this step or before; None is the last there is. Of several steps the
        lines of a run go from dark to light.
    ax : Axes, array of Axes or None
        Where to draw, one for each tag; None makes a figure.
    cmap : str, Colormap or None
        Colours from the first to the last of several steps.

    Returns
    -------
    Axes or array of Axes
        One Axes; or, of several tags, an array of them.

    Raises
    ------
    AccessorError
        If this is no Dataset of curves.
    ValueError
        If no curve was logged up to a step, there are none at all or too many panels, or the number of Axes does not fit.

    Notes
    -----
    The end of a curve, where nothing is predicted positive any more, is left out, as TensorBoard does.
    """
    require_curves(ds, "pr", "precision", "recall", "tp", "fp")
    extra = [str(dim) for dim in ds["precision"].dims if dim not in ("run", "tag", "step", "threshold")]
    if extra:
        raise AccessorError(f"pr() cannot draw the dimension {extra[0]!r}: select with isel({extra[0]}=0) first")
    steps = [step] if step is None or isinstance(step, int | np.integer) else list(step)
    if not steps:
        raise ValueError("step=[]: expected at least one step, or None for the last")
    several = len(steps) > 1
    by_tag = _by_tag([curve for one in steps for curve in _curves(ds, one)])
    if not 0 < len(by_tag) <= _MOST_PANELS:
        raise ValueError(
            f"pr(): {len(by_tag)} tags to draw; expected 1 to {_MOST_PANELS}: select some with isel or sel"
        )
    axes = grid(-(-len(by_tag) // 3), min(3, len(by_tag)), len(by_tag)) if ax is None else as_axes(ax, len(by_tag))
    for one, (tag, curves) in zip(axes, by_tag.items(), strict=True):
        _draw_panel(one, tag, curves, ramp(np.linspace(0, 1, len(steps)), cmap) if several else None)
    return axes[0] if len(axes) == 1 else np.array(axes, object)


def draw_pr_curve(
    ax: Axes,
    recall: npt.ArrayLike,
    precision: npt.ArrayLike,
    *,
    color: object = None,
    label: str | None = None,
    linestyle: str = "-",
) -> Line2D:
    """Draw one curve.

    Parameters
    ----------
    ax : Axes
        To draw on.
    recall, precision : float64 array (threshold,)
        0 ... 1; NaN is left out.
    color : colour or None
        Of the line; None is the next of the colour cycle.
    label : str or None
        For the legend.
    linestyle : str
        As matplotlib has it.

    Returns
    -------
    Line2D
    """
    x, y = np.asarray(recall, np.float64), np.asarray(precision, np.float64)
    there = np.isfinite(x) & np.isfinite(y)
    marker = "." if np.count_nonzero(there) <= _MOST_MARKED else ""
    (line,) = ax.plot(x[there], y[there], marker=marker, color=color, label=label, linestyle=linestyle)
    return line


def _curves(ds: xr.Dataset, step: int | None) -> Iterator[_Curve]:
    """Take one curve of each run and tag that has one."""
    one = trim(at_step(ds, step) if "step" in ds["precision"].dims else ds)
    for dim in ("run", "tag"):
        if dim not in one["precision"].dims:
            one = one.expand_dims(dim)
    one = one.transpose("run", "tag", ...)
    for i in range(one.sizes["run"]):
        for j in range(one.sizes["tag"]):
            curve = one.isel(run=i, tag=j)
            if not curve["precision"].isnull().all():
                run, tag = (str(curve[name].item()) if name in curve.coords else "" for name in ("run", "tag"))
                taken = int(curve["step"].item()) if "step" in curve.coords else None
                yield _Curve(run, tag, taken, curve["recall"].values, curve["precision"].values)


def _by_tag(curves: Iterable[_Curve]) -> dict[str, list[_Curve]]:
    found: dict[str, list[_Curve]] = {}
    for curve in curves:
        found.setdefault(curve.tag, []).append(curve)
    return found


def _draw_panel(ax: Axes, tag: str, curves: list[_Curve], colours: npt.NDArray[np.float64] | None) -> None:
    runs = list(dict.fromkeys(curve.run for curve in curves))
    drawn: dict[str, int] = dict.fromkeys(runs, 0)
    for curve in curves:
        part = drawn[curve.run]
        drawn[curve.run] += 1
        at = "" if curve.step is None else f"step {curve.step}"
        label = " · ".join(word for word in (curve.run if len(runs) > 1 else "", at) if word)
        color = f"C{runs.index(curve.run) % 10}" if colours is None else colours[part]
        style = ("-", "--", ":", "-.")[runs.index(curve.run) % 4] if colours is not None else "-"
        draw_pr_curve(ax, curve.recall, curve.precision, color=color, label=label or None, linestyle=style)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="recall", ylabel="precision")
    name_axis(ax, tag, "title")
    handles = list(ax.lines)
    if len(handles) > _MOST_NAMED:
        handles = [handles[i] for i in np.unique(np.linspace(0, len(handles) - 1, _MOST_NAMED).round().astype(int))]
    if any(curve.step is not None for curve in curves) or len(runs) > 1:
        legend = ax.legend(handles=handles, loc="best", fontsize="small")
        for text in legend.get_texts():
            text.set_parse_math(False)
