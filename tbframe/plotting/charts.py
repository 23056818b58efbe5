"""Charts for reports: one figure for every run and tag, outside pyplot."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from tbframe import buckets, series
from tbframe.discovery import LogDirLike
from tbframe.errors import warn
from tbframe.logdir import LogDir
from tbframe.names import NameFilter, natural_order
from tbframe.plotting.histograms import ridgeline
from tbframe.verbs.histogram_parts import take_apart
from tbframe.verbs.histograms import rebin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Chart", "draw_ridgelines", "ridgelines"]


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure of one tag of one run.

    Attributes
    ----------
    tag, run : str
        What it shows.
    figure : matplotlib Figure
        Outside pyplot: it needs no closing.
    """

    tag: str
    run: str
    figure: Figure = field(repr=False)

    def save(self, path: str | os.PathLike[str], *, dpi: float = 300) -> None:
        """Write the figure to a file.

        Parameters
        ----------
        path : str or path
            Its ending says the format: .pdf, .png, .svg ...
        dpi : float
            Dots per inch of formats made of dots.
        """
        self.figure.savefig(path, dpi=dpi)


def ridgelines(
    logdir: LogDirLike,
    *,
    tags: NameFilter = None,
    runs: NameFilter = None,
    bins: int = 30,
    max_steps: int | None = 51,
) -> list[Chart]:
    """Draw a ridgeline of every tag of every run of a log directory that holds histograms.

    Parameters
    ----------
    logdir : str, os.PathLike, mapping or iterable
        See `tbframe.scalars`.
    tags, runs : str, iterable of str or re.Pattern, optional
        A name, names, or a compiled regular expression that is searched. Default: all.
    bins : int
        How many bins of equal width, over all that the steps drawn logged: each step is counted again in them.
    max_steps : int or None
        Draw at most so many steps, evenly spread by position with the first and the last kept; None draws all.

    Returns
    -------
    list of Chart
        One for each tag and run, the earliest step at the bottom: by tag, in the order given or else in natural order, then by
        run in natural order.

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or (`NoEventFilesError`) no event file is below it.
    UnknownNameError
        If a run or tag of that name does not exist.
    ValueError
        If `bins` is less than 1 or `max_steps` less than 2.

    Warns
    -----
    UserWarning
        For each tag and run whose every histogram is empty: it gets no chart.

    Examples
    --------
    >>> import tbframe
    >>> tbframe.ridgelines(tbframe.sample_logs(), tags=["2.weight", "0.weight"])
    [Chart(tag='2.weight', run='adam-1e-2'), Chart(tag='0.weight', run='adam-1e-2')]
    """
    _check(bins, max_steps)
    if tags is not None and not isinstance(tags, str | re.Pattern):
        tags = list(tags)
    charts = draw_ridgelines(LogDir(logdir).histograms_each(runs=runs, tags=tags), bins=bins, max_steps=max_steps)
    given = tags if isinstance(tags, list) else natural_order({chart.tag for chart in charts})
    place = {tag: i for i, tag in reversed(list(enumerate(given)))}
    return sorted(charts, key=lambda chart: place[chart.tag])


def draw_ridgelines(
    histograms: Iterable[tuple[str, str, xr.Dataset]], *, bins: int = 30, max_steps: int | None = 51
) -> list[Chart]:
    """Draw a ridgeline of every series that holds something, the earliest step at the bottom.

    Parameters
    ----------
    histograms : iterable of (str, str, Dataset)
        Run, tag and the histograms (step, bin) of one series each.
    bins : int
        How many bins of equal width, over all that the steps drawn logged.
    max_steps : int or None
        Draw at most so many steps, evenly spread by position with the first and the last kept; None draws all.

    Returns
    -------
    list of Chart
        In the order given, without series whose every histogram is empty: these are warned about.

    Raises
    ------
    ValueError
        If `bins` is less than 1 or `max_steps` less than 2.

    Examples
    --------
    >>> ds = xr.Dataset(
    ...     {"counts": (("step", "bin"), [[4.0, 1.0], [2.0, 6.0]])},
    ...     {"step": [0, 10], "left": ("bin", [0.0, 1.0]), "right": ("bin", [1.0, 2.0])},
    ... )
    >>> draw_ridgelines([("train", "weights", ds)])
    [Chart(tag='weights', run='train')]
    """
    _check(bins, max_steps)
    charts = []
    for run, tag, ds in histograms:
        n = ds.sizes["step"]
        drawn = ds if max_steps is None else ds.isel(step=series.even_indices(n, max_steps))
        left, right, counts, _ = take_apart(drawn)
        if np.isnan(buckets.value_range(left, right, counts)[0]):
            warn(f"no ridgeline of tag {tag!r} of run {run!r}: all its {n} histograms are empty", UserWarning)
            continue
        charts.append(_chart(run, tag, rebin(drawn, bins)))
    return charts


def _check(bins: int, max_steps: int | None) -> None:
    if bins < 1:
        raise ValueError(f"bins={bins!r}: expected at least 1 bin")
    if max_steps is not None and max_steps < 2:
        raise ValueError(f"max_steps={max_steps!r}: expected at least 2 (the first and the last), or None for all")


def _chart(run: str, tag: str, ds: xr.Dataset) -> Chart:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    ridgeline(ds.assign_coords(run=run, tag=tag), order="bottom", max_steps=None, ax=figure.subplots())
    return Chart(tag, run, figure)
