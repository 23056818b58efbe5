"""Write scalars as CSV: as TensorBoard's page offers them, or as one tidy table."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from tbframe.verbs.frames import require
from tbframe.verbs.safe_names import safe_paths
from tbframe.verbs.scalar_columns import ScalarColumns, scalar_columns

__all__ = ["HEADER", "to_csv"]

HEADER = ("Wall time", "Step", "Value")
"""The header of TensorBoard's CSV."""


def to_csv(
    frame: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    style: Literal["tensorboard", "tidy"] = "tensorboard",
) -> list[Path]:
    r"""Write a scalars frame as CSV.

    Files of the same names are replaced.

    Parameters
    ----------
    frame : DataFrame
        With run, tag, step, wall_time and value.
    path : str or path
        The file; the folder, for several series in TensorBoard's style.
    style : {"tensorboard", "tidy"}
        ``"tensorboard"``: byte for byte what TensorBoard's page offers for download, ``Wall time,Step,Value`` of one
        series. A frame of one series becomes the file `path` (unless that is a folder), several become
        ``path/run/tag.csv``; what a system may not allow in the names of files is written as in URLs. ``"tidy"``: one
        file with all columns of the frame, further ones too; NaN is ``nan``.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ValueError
        If `style` is neither, several series are to go into an existing file, or a name is too long for a file.
    AccessorError, TypeError
        If the frame lacks a column, or one holds something else than names or numbers.

    See Also
    --------
    read_csv : Read both styles back.

    Notes
    -----
    Numbers have the fewest digits that give the same float64 back. ``DataFrame.to_parquet`` also keeps dtypes.

    Examples
    --------
    >>> import tempfile
    >>> frame = pd.DataFrame({"run": "a", "tag": "loss", "step": [0, 1], "wall_time": 10.0, "value": [0.1, np.nan]})
    >>> [path] = to_csv(frame, Path(tempfile.mkdtemp()) / "loss.csv")
    >>> path.read_bytes()
    b'Wall time,Step,Value\r\n10.0,0,0.1\r\n10.0,1,nan\r\n'
    """
    if style not in ("tensorboard", "tidy"):
        raise ValueError(f"style={style!r}: expected 'tensorboard' or 'tidy'")
    require(frame, ScalarColumns._fields, "to_csv")
    columns = scalar_columns(frame)
    place = Path(path).expanduser()
    if style == "tidy":
        place.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(place, index=False, na_rep="nan", lineterminator="\r\n")  # quotes either of the two in a name
        return [place]
    return _write_series(columns, place)


def _write_series(columns: ScalarColumns, place: Path) -> list[Path]:
    """Write a file for each series."""
    pair, series = np.unique(columns.run.code * len(columns.tag.names) + columns.tag.code, return_inverse=True)
    if len(pair) < 2 and not place.is_dir():
        paths = [place]
    elif place.is_file():
        raise ValueError(
            f"{str(place)!r} is a file, and the {len(pair)} series of the frame take a folder: give another path, "
            "select one series, or use style='tidy'"
        )
    else:
        keys = [divmod(code, len(columns.tag.names)) for code in pair.tolist()]
        names = [(columns.run.names[run], columns.tag.names[tag]) for run, tag in keys]
        below = safe_paths(names)
        paths = [place / below[name] for name in names]
    order = np.argsort(series, kind="stable")
    table = [column[order].tolist() for column in (columns.wall_time, columns.step, columns.value)]
    bounds = np.searchsorted(series[order], np.arange(len(paths) + 1)).tolist()
    for i, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(HEADER)
            writer.writerows(zip(*(column[bounds[i] : bounds[i + 1]] for column in table), strict=True))
    return paths
