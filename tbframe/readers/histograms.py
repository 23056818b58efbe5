"""The reader of histograms."""

from __future__ import annotations

import xarray as xr

from tbframe.buckets import Edges
from tbframe.discovery import LogDirLike
from tbframe.log_files import DamagePolicy
from tbframe.logdir import LogDir
from tbframe.names import NameFilter
from tbframe.restarts import Policy

__all__ = ["histograms"]


def histograms(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
    edges: Edges = "clipped",
) -> xr.Dataset:
    """Read the histograms of a log directory.

    Parameters
    ----------
    logdir : str, os.PathLike, mapping or iterable
        See `scalars`.
    runs, tags : str, iterable of str or re.Pattern, optional
        A name, names, or a compiled regular expression that is searched. Default: all. A name gives a coordinate without a
        dimension, as ``.sel`` does; names and a pattern keep the dimension even if there is just one, None only if there are
        several.
    restarts : {"purge", "latest", "keep", "mark"}, default "purge"
        See `scalars`. ``"mark"`` adds the coordinates ``session`` (int64, -1 where nothing was logged) and ``superseded``
        (bool).
    damaged : {"warn", "raise", "ignore"}, default "warn"
        See `scalars`.
    progress : bool, optional
        See `scalars`.
    edges : {"clipped", "logged"}, default "clipped"
        Of histograms that are stored as bucket limits (PyTorch, tensorboardX, TensorFlow 1). ``"clipped"`` is the form that
        TensorBoard shows, in float64: the empty buckets at both ends are dropped, and the outer edges are the minimum and
        maximum of the data. ``"logged"`` keeps every bucket and limit as written; the first left edge, which is not written,
        is -inf. TensorFlow 2's histograms are the same in both.

    Returns
    -------
    xarray.Dataset
        Dimensions ``step`` and ``bin``, before them ``run`` and ``tag`` where there are several:

        * ``counts`` (..., step, bin): float64, may be fractional;
        * ``left``, ``right`` (..., step, bin): coordinates, the edges of each bucket, float64. They differ from step to step:
          `ds.tb.rebin` gives all steps the same;
        * ``buckets`` (..., step): int64, how many buckets were logged. Behind them is padding, with NaN edges and count 0;
        * ``value_min``, ``value_max``, ``num``, ``value_sum``, ``value_sum_squares`` (..., step): float64, what the writer
          says of the data; NaN from TensorFlow 2, which does not;
        * ``step`` (int64), ``wall_time`` (float64, seconds since the epoch), ``run``, ``tag`` (str as objects): coordinates.

        One series keeps its steps as written. Of several, steps are joined and ascending; what a series did not log is NaN, and
        0 in ``buckets``; of equal steps in a series the last is kept. ``attrs`` count the values ``dropped`` after restarts, and
        those that gave way to later ones because their step ``repeats``.

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or (`NoEventFilesError`) no event file is below it.
    UnknownNameError
        If a run or tag of that name does not exist; the message lists near misses.
    EventFileError
        If a file is damaged and ``damaged="raise"``.
    ValueError
        If `edges`, `restarts` or `damaged` is unknown, if two paths hold runs of one name, or if the series joined would be very
        large and mostly padding: see `LogDir.histograms_each`.
    TypeError
        If `logdir`, `runs` or `tags` is of another type.

    Warns
    -----
    DamagedFileWarning
        For each damaged file: path, byte offset, reason, and how many bytes were passed over.
    RestartWarning
        If values were dropped, or steps still repeat or go back.
    UndecodableValueWarning
        For each run and tag with values that are no histogram.

    Examples
    --------
    >>> import tbframe
    >>> ds = tbframe.histograms(tbframe.sample_logs(), runs="adam-1e-2", tags="0.weight")
    >>> ds.counts.dims, ds.counts.sum("bin").values[-1].item()
    (('step', 'bin'), 2048.0)
    >>> ds.tb.compress().sel(bps=5000).round(3).values  # the medians
    array([-0.004,  0.003,  0.01 ,  0.012,  0.013,  0.012,  0.014])
    """
    return LogDir(logdir).histograms(
        runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress, edges=edges
    )
