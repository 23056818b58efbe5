"""``df.tb``: the verbs of a scalars frame, as methods."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pandas as pd
import xarray as xr

from tbframe.accessors.media import MediaMethods
from tbframe.documenting import documented_by
from tbframe.errors import AccessorError
from tbframe.names import NameFilter
from tbframe.series import RESERVOIR_SIZES, Alignment, Band, Estimator
from tbframe.verbs import (
    aggregating,
    best,
    checking,
    exporting,
    extracting,
    image_verbs,
    joining,
    reshaping,
    sampling,
    selecting,
    smoothing,
    timing,
    writing,
)
from tbframe.verbs.best import Mode
from tbframe.verbs.frames import quoted
from tbframe.verbs.grouping import By
from tbframe.verbs.repeats import Keep
from tbframe.verbs.sampling import Method
from tbframe.verbs.selecting import NewNames
from tbframe.verbs.timing import Starts

if TYPE_CHECKING:
    from tbframe.plotting.curves import CurvesFigure

__all__ = ["FrameAccessor"]


class FrameAccessor(MediaMethods):
    """Verbs for a frame that has the columns run or tag.

    Every method is a plain function of `tbframe.verbs` with the frame as its first argument. None changes the frame.

    Parameters
    ----------
    frame : DataFrame
        A frame of tbframe, filtered, sorted, concatenated or with further columns.

    Raises
    ------
    AccessorError
        If the frame has neither a column run nor a column tag.

    Examples
    --------
    >>> import tbframe.accessors.frame
    >>> frame = pd.DataFrame({"run": "a", "tag": ["loss", "lr", "loss"], "value": [3.0, 0.1, 2.0]})
    >>> frame.tb.select(tags="loss").tb.last().value.tolist()
    [2.0]
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        if "run" not in frame.columns and "tag" not in frame.columns:
            in_index = [name for name in ("run", "tag") if name in frame.index.names]
            raise AccessorError(
                "df.tb needs a column 'run' or 'tag', as the frames that tbframe reads have. "
                f"This one has {quoted(frame.columns) or 'no columns'}."
                + (f" {quoted(in_index)} in the index: use reset_index()." if in_index else "")
            )
        self._frame = frame

    @documented_by(selecting.select)
    def select(self, *, runs: NameFilter = None, tags: NameFilter = None) -> pd.DataFrame:
        """Keep the rows of some runs and tags."""
        return selecting.select(self._frame, runs=runs, tags=tags)

    @documented_by(selecting.rename)
    def rename(
        self, *, runs: NewNames = None, tags: NewNames = None, errors: Literal["raise", "ignore"] = "raise"
    ) -> pd.DataFrame:
        """Give runs and tags other names; several may become one."""
        return selecting.rename(self._frame, runs=runs, tags=tags, errors=errors)

    @documented_by(extracting.extract)
    def extract(self, pattern: str | re.Pattern[str]) -> pd.DataFrame:
        """Add what a regular expression finds in the names of the runs as columns."""
        return extracting.extract(self._frame, pattern)

    @documented_by(joining.join)
    def join(self, hparams: pd.DataFrame) -> pd.DataFrame:
        """Add the columns of each run's hyperparameter session."""
        return joining.join(self._frame, hparams)

    @documented_by(reshaping.wide)
    def wide(
        self, values: str = "value", index: str | Sequence[str] = ("run", "step"), *, keep: Keep | None = None
    ) -> pd.DataFrame:
        """Put the tags side by side, a column for each."""
        return reshaping.wide(self._frame, values, index, keep=keep)

    @documented_by(reshaping.to_xarray)
    def to_xarray(self, *, keep: Keep | None = None) -> xr.Dataset | xr.DataArray:
        """Put the scalars into a cube of run, tag and step.

        Of a frame of images of one size: their pixels into an array (step, sample, y, x, channel).
        """
        if "width" in self._frame.columns and "value" not in self._frame.columns:
            return image_verbs.to_xarray(self._frame)
        return reshaping.to_xarray(self._frame, keep=keep)

    @documented_by(smoothing.smooth)
    def smooth(
        self,
        weight: float = smoothing.DEFAULT_WEIGHT,
        *,
        half_life_steps: float | None = None,
        half_life_seconds: float | None = None,
    ) -> pd.DataFrame:
        """Replace the values of each run and tag by TensorBoard's debiased moving average of them."""
        return smoothing.smooth(
            self._frame, weight, half_life_steps=half_life_steps, half_life_seconds=half_life_seconds
        )

    @documented_by(sampling.downsample)
    def downsample(
        self, n: int = RESERVOIR_SIZES["scalars"], method: Method = "reservoir", *, seed: int = 0
    ) -> pd.DataFrame:
        """Keep at most `n` rows of each run and tag."""
        return sampling.downsample(self._frame, n, method, seed=seed)

    @documented_by(timing.elapsed)
    def elapsed(self, since: Starts = None) -> pd.DataFrame:
        """Add the time since the start of each run."""
        return timing.elapsed(self._frame, since)

    @documented_by(aggregating.aggregate)
    def aggregate(
        self,
        by: By = None,
        *,
        estimator: Estimator = "mean",
        band: Band | None = "ci",
        align: Alignment = "exact",
        level: float = 0.95,
        resamples: int = 1000,
        seed: int = 0,
    ) -> pd.DataFrame:
        """Average runs that belong together, at each step of each tag."""
        return aggregating.aggregate(
            self._frame, by, estimator=estimator, band=band, align=align, level=level, resamples=resamples, seed=seed
        )

    @documented_by(best.last)
    def last(self) -> pd.DataFrame:
        """Keep the last row of each run and tag."""
        return best.last(self._frame)

    @documented_by(best.best)
    def best(self, mode: Mode | Mapping[str, Mode] = "min", *, of: str | None = None) -> pd.DataFrame:
        """Keep the row of each run and tag where its value, or that of one tag, is best."""
        return best.best(self._frame, mode, of=of)

    @documented_by(checking.check)
    def check(self, by: By = None) -> pd.DataFrame:
        """Tabulate what is odd about the series of a frame."""
        return checking.check(self._frame, by)

    def curves(
        self,
        *,
        x: str = "step",
        color: str = "run",
        smooth: float = 0.0,
        log: Literal["", "x", "y", "xy"] = "",
        ignore_outliers: bool = False,
        width: float = 6.8,
    ) -> CurvesFigure:
        """Draw a panel for each tag, with a colour for each run. See `tbframe.plotting.curves.curves`.

        Parameters
        ----------
        x : str
            ``"step"``, ``"relative"`` (time since the run's first value), ``"wall"`` (date in UTC), a tag such as
            ``"epoch"``, or a column of numbers.
        color : str
            ``"run"``, or a column with one value for each series.
        smooth : float
            The weight of TensorBoard's smoothing, 0 ... 1; the curve before smoothing stays, pale.
        log : {"", "x", "y", "xy"}
            Which axes are logarithmic.
        ignore_outliers : bool
            Whether the y axes span the 5th to the 95th percentile, as TensorBoard does when it ignores outliers.
        width : float
            Of the figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure
            Outside pyplot, with ``caption()``: in words what was drawn.

        Raises
        ------
        ValueError, AccessorError
            If the frame lacks a column that is needed, or an argument cannot be.
        """
        from tbframe.plotting.curves import curves

        return curves(
            self._frame, x=x, color=color, smooth=smooth, log=log, ignore_outliers=ignore_outliers, width=width
        )

    @documented_by(exporting.to_csv)
    def to_csv(
        self, path: str | os.PathLike[str], *, style: Literal["tensorboard", "tidy"] = "tensorboard"
    ) -> list[Path]:
        """Write the scalars as CSV, in TensorBoard's form or tidy."""
        return exporting.to_csv(self._frame, path, style=style)

    @documented_by(writing.write)
    def write(self, logdir: str | os.PathLike[str], *, dtype: Literal["float32"] | None = None) -> list[Path]:
        """Write the scalars back to event files that TensorBoard opens."""
        return writing.write(self._frame, logdir, dtype=dtype)
