"""Write scalars and histograms back to event files."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Literal

import pandas as pd
import xarray as xr

from tbframe.events.publishing import NewFiles
from tbframe.events.writing import encode_version
from tbframe.verbs.run_files import RunFiles, histogram_files, scalar_files

__all__ = ["write"]


def write(
    data: pd.DataFrame | xr.Dataset | xr.DataArray,
    logdir: str | os.PathLike[str],
    *,
    dtype: Literal["float32"] | None = None,
) -> list[Path]:
    """Write scalars or histograms as event files that TensorBoard opens.

    Each run gets one new file, behind those it has. The files appear under their names only when all of them are whole,
    and never replace one.

    Parameters
    ----------
    data : DataFrame, Dataset or DataArray
        A scalars frame (run, tag, step, wall_time and value; further columns are not written), or histograms (left,
        right and counts over bin and, unless scalar, step, run and tag).
    logdir : str or path
        The directory to write to; it is created if need be. Run ``"."`` is the directory itself, ``"a/b"`` lies two
        below.
    dtype : "float32", optional
        Round all scalars to float32. Without it, values that float32 holds exactly (all that came out of ordinary
        event files) are written as such, and others as float64 tensors.

    Returns
    -------
    list of Path
        The new files.

    Raises
    ------
    TypeError, AccessorError
        If `data` is neither, or lacks columns or variables.
    ValueError
        If a run's name would lead out of the logdir or does not name one directory, a step is no int64, or a wall time
        is not finite (TensorBoard's default server gives up a file over one).

    Warns
    -----
    UserWarning
        If float64 tensors were written, which TensorBoard's default server does not show; if `dtype` made values
        infinite; if the statistics of histograms could not be written (see Notes).

    Notes
    -----
    Rows are written in their order, one event each. Restarts are not marked: of steps that repeat or go back,
    TensorBoard's default server shows the last ones.

    The histograms of a tag are written as ``HistogramProto``, with the writer's own statistics, if they have them and
    the edges of each can be stored that way: neighbouring buckets share their edge, and the outer edges are the data's
    minimum and maximum (``edges="clipped"``) or the first one is -inf (``edges="logged"``). Others, as those of
    TensorFlow 2 or rebinned ones, become float64 tensors of shape [k, 3], which keep edges and counts exactly but hold
    no statistics.

    Examples
    --------
    >>> import tempfile
    >>> frame = pd.DataFrame({"run": "a", "tag": "loss", "step": [0, 1], "wall_time": 10.0, "value": [0.5, 0.25]})
    >>> paths = write(frame, tempfile.mkdtemp())
    >>> [path.parent.name for path in paths]
    ['a']
    """
    if dtype not in (None, "float32"):
        raise ValueError(f"dtype={dtype!r}: expected None (each value exactly) or 'float32' (rounded)")
    if "://" in (place := os.fspath(logdir)):
        raise ValueError(f"logdir={place!r}: expected a local directory; write there, then copy the files")
    if isinstance(data, pd.DataFrame):
        return _write_files(scalar_files(data, rounded=dtype is not None), Path(place).expanduser())
    if not isinstance(data, (xr.Dataset, xr.DataArray)):
        raise TypeError(f"expected a scalars DataFrame or a Dataset of histograms, found {type(data).__name__}")
    if dtype is not None:
        raise ValueError(f"dtype={dtype!r} is for scalars; histograms are float64")
    return _write_files(histogram_files(data), Path(place).expanduser())


def _write_files(files: RunFiles, logdir: Path) -> list[Path]:
    """Write the files of all runs, and let them appear together."""
    directories = [_directory(logdir, run) for run in files.runs]  # all are checked before anything is written
    with NewFiles() as new:
        for run, pieces in itertools.groupby(files.pieces, key=lambda piece: piece[0]):
            stream = new.start(directories[run])
            stream.write(encode_version(files.starts[run]))
            for _, records in pieces:
                stream.write(records.data)
    return new.paths


def _directory(logdir: Path, run: str) -> Path:
    """Find the directory of a run, which must lie in the logdir."""
    if run == ".":
        return logdir
    parts = run.split("/")
    if Path(run).parts != tuple(parts) or ".." in parts or "\0" in run:
        raise ValueError(f"run {run!r} does not name a directory below the logdir; df.tb.rename(runs=...) gives it one")
    directory = logdir / run
    if not directory.resolve().is_relative_to(logdir.resolve()):
        raise ValueError(f"run {run!r}: {str(directory)!r} is a link that leads out of the logdir {str(logdir)!r}")
    return directory
