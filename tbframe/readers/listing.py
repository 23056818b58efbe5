"""What is there: runs, tags, the index; and a log directory that is kept open."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tbframe.discovery import LogDirLike
from tbframe.logdir import LogDir

__all__ = ["index", "open", "runs", "tags"]


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
        ``display_name``, ``description`` (str). Embeddings, which lie beside the event files, are listed by their names,
        each as one value of no bytes at step 0.

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
    19  adam-1e-2  scalars     60         59
    32  adam-1e-3  scalars     60         59
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
        sorted tags, of ``embeddings`` the names; ``graph`` tells whether the run has any graph.

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
