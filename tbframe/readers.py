"""The public readers: each opens a log directory and asks it once."""

from __future__ import annotations

from typing import Any

import pandas as pd
import xarray as xr

from tbframe.buckets import Edges
from tbframe.discovery import LogDirLike
from tbframe.logdir import DamagePolicy, LogDir
from tbframe.names import NameFilter
from tbframe.restarts import Policy

__all__ = ["histograms", "index", "open", "runs", "scalars", "tags"]


def open(logdir: LogDirLike) -> LogDir:
    """Open a log directory and keep what is read of it.

    Parameters
    ----------
    logdir : str, os.PathLike, mapping or iterable
        See `scalars`.

    Returns
    -------
    LogDir
        With the readers as methods, and `LogDir.refresh`, which reads only what is new.

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or (`NoEventFilesError`) no event file is below it.

    Examples
    --------
    >>> import tbframe
    >>> tbframe.open(tbframe.sample_logs()).refresh().runs().run.tolist()[:1]
    ['adam-1e-2']
    """
    return LogDir(logdir)


def scalars(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Read the scalars of a log directory.

    A scalar is a scalar however it is stored: as `simple_value`, or as a tensor of one number of any numeric dtype whose tag
    belongs to TensorBoard's plugin ``scalars``.

    Parameters
    ----------
    logdir : str, os.PathLike, mapping or iterable
        What ``--logdir`` takes: a directory (``~`` is expanded), below which every directory with a file named
        ``*tfevents*`` is a run. Or one event file (run ``"."``), a ``{name: path}`` mapping (runs ``name``, ``name/sub``),
        several paths, or a URL that fsspec opens.
    runs, tags : str, iterable of str or re.Pattern, optional
        A name, names, or a compiled regular expression that is searched. Default: all.
    restarts : {"purge", "latest", "keep", "mark"}, default "purge"
        What happens to rows that a later start of the same run wrote over. ``"purge"`` drops rows at or after the step of a
        `SessionLog.START` that were logged before it, and, in logs older than ``brain.Event:2``, what TensorBoard drops by
        steps alone. ``"latest"`` drops a row if a later row of its tag has a step no higher, so that steps rise
        strictly, as TensorBoard shows them. ``"keep"`` keeps every row. ``"mark"`` keeps every row and adds the columns
        ``session`` (int64) and ``superseded`` (bool, what ``"purge"`` would drop).
    damaged : {"warn", "raise", "ignore"}, default "warn"
        What happens when part of a file cannot be read. The good records before and after are read. A file that ends in the
        middle of a record is still being written: that is no damage.
    progress : bool, optional
        Whether to show a progress bar. Default: for large logs, in a terminal or notebook.

    Returns
    -------
    pandas.DataFrame
        One row per value: ``run``, ``tag`` (category, in natural order), ``step`` (int64; may repeat or go back),
        ``wall_time`` (float64, seconds since the epoch), ``value`` (float64; float32 widened exactly, NaN and infinities
        kept). Within a run and tag in the order written. ``attrs["tbframe"]`` counts the rows ``dropped``, those whose step
        ``repeats`` or goes back, and the integers that float64 ``rounded``.

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or (`NoEventFilesError`) no event file is below it.
    UnknownNameError
        If a run or tag of that name does not exist; the message lists near misses.
    EventFileError
        If a file is damaged and ``damaged="raise"``.
    ValueError
        If two paths hold runs of one name, or `restarts` or `damaged` is unknown.
    TypeError
        If `logdir`, `runs` or `tags` is of another type.

    Warns
    -----
    DamagedFileWarning
        For each damaged file: path, byte offset, reason, and how many bytes were passed over.
    RestartWarning
        If rows were dropped, or steps still repeat or go back.

    Examples
    --------
    >>> import tbframe
    >>> df = tbframe.scalars(tbframe.sample_logs(), tags="loss/train")
    >>> df.groupby("run", observed=True)["value"].last().round(3)
    run
    adam-1e-2    0.204
    adam-1e-3    1.384
    Name: value, dtype: float64
    """
    return LogDir(logdir).scalars(runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress)


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


def runs(logdir: LogDirLike) -> pd.DataFrame:
    """List the runs of a log directory.

    Parameters
    ----------
    logdir : str, os.PathLike, mapping or iterable
        See `scalars`.

    Returns
    -------
    pandas.DataFrame
        One row per run, in natural order: ``run`` (category), ``files``, ``bytes``, ``events`` (int64: good records),
        ``start``, ``end`` (float64, lowest and highest wall time in seconds since the epoch, NaN without events),
        ``truncated`` (bool: a file ends in the middle of a record), ``damaged`` (int64: places that could not be read),
        ``unchecked`` (int64: records passed over whole, whose checksum was not verified), ``restarts`` (int64: how many
        `SessionLog.START` follow data), ``repeats`` (int64: rows whose step is not above that of the row before in
        their tag).

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or (`NoEventFilesError`) no event file is below it.

    Examples
    --------
    >>> import tbframe
    >>> tbframe.runs(tbframe.sample_logs())[["run", "events"]].head(1)
             run  events
    0  adam-1e-2     224
    """
    return LogDir(logdir).runs()


def tags(logdir: LogDirLike) -> pd.DataFrame:
    """List the tags of a log directory.

    Parameters
    ----------
    logdir : str, os.PathLike, mapping or iterable
        See `scalars`.

    Returns
    -------
    pandas.DataFrame
        One row per run, tag and kind: ``run``, ``tag`` (category), ``kind`` (category: the name of the reader), ``plugin``
        (str, as in the metadata), ``dtype`` (str, of the tensors), ``count`` (int64, values written), ``first_step``,
        ``last_step`` (int64, of the first and last value written), ``bytes`` (int64, size of the values),
        ``display_name``, ``description`` (str).

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or (`NoEventFilesError`) no event file is below it.

    Examples
    --------
    >>> import tbframe
    >>> tags = tbframe.tags(tbframe.sample_logs())
    >>> tags[tags["tag"] == "lr"][["run", "kind", "count", "last_step"]]
              run     kind  count  last_step
    18  adam-1e-2  scalars     60         59
    31  adam-1e-3  scalars     60         59
    """
    return LogDir(logdir).tags()


def index(logdir: LogDirLike) -> dict[str, dict[str, Any]]:
    """List the tags of each kind by run, as TensorBoard's index does.

    Parameters
    ----------
    logdir : str, os.PathLike, mapping or iterable
        See `scalars`.

    Returns
    -------
    dict
        ``{run: {"scalars": [tags], "histograms": [tags], ..., "graph": bool}}``: the names of the readers, each with its
        sorted tags; ``graph`` tells whether the run has any graph.

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or (`NoEventFilesError`) no event file is below it.

    Examples
    --------
    >>> import tbframe
    >>> tbframe.index(tbframe.sample_logs())["adam-1e-3"]["scalars"]
    ['accuracy/test', 'loss/test', 'loss/train', 'lr']
    """
    return LogDir(logdir).index()
