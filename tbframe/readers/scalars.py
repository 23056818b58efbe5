"""The main job: scalars."""

from __future__ import annotations

import pandas as pd

from tbframe.discovery import LogDirLike
from tbframe.log_files import DamagePolicy
from tbframe.logdir import LogDir
from tbframe.names import NameFilter
from tbframe.restarts import Policy

__all__ = ["scalars"]


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
    adam-1e-2    0.219
    adam-1e-3    1.853
    Name: value, dtype: float64
    """
    return LogDir(logdir).scalars(runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress)
