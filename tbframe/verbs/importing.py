"""Read scalars from CSV: TensorBoard's downloads, and tbframe's own."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath
from typing import Final

import numpy as np
import pandas as pd

from tbframe.verbs.exporting import HEADER
from tbframe.verbs.frames import categorical, name_column
from tbframe.verbs.safe_names import names_of

__all__ = ["read_csv"]

_COLUMNS: Final = {"run": "category", "tag": "category", "step": "int64", "wall_time": "float64", "value": "float64"}
_WHOLE: Final = re.compile(r"-?(0|[1-9]\d{0,17})")
_REAL: Final = re.compile(r"-?((0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?|inf)|nan")


def read_csv(path: str | os.PathLike[str], *, run: str | None = None, tag: str | None = None) -> pd.DataFrame:
    r"""Read scalars from CSV files of TensorBoard or tbframe.

    Parameters
    ----------
    path : str or path
        A file that TensorBoard's page offered for download, a tidy file of `to_csv`, or a folder of such files (those
        ending in .csv, at any depth).
    run, tag : str, optional
        The names of the one series in a file of TensorBoard, which does not hold them. By default they come from the
        name of the file: ``run-RUN-tag-TAG.csv``, as TensorBoard's page calls it, else ``TAG.csv`` of run ``"."``. In a
        folder they come from the path, ``run/tag.csv``, as `to_csv` writes it.

    Returns
    -------
    DataFrame
        A scalars frame: run and tag (category), step (int64), wall_time (float64, seconds), value (float64), and the
        further columns of tidy files, as numbers and booleans where all of them are, else as str. Rows in the order of
        the file; of a folder, runs and tags in natural order.

    Raises
    ------
    FileNotFoundError
        If `path` does not exist, or a folder holds no CSV file.
    ValueError
        If a file is neither, a cell holds no number where one belongs, or names are given for something else than one
        file of TensorBoard.

    See Also
    --------
    to_csv : Write such files.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "run-007-tag-loss.csv"
    >>> _ = file.write_text("Wall time,Step,Value\n10.0,0,0.5\n")
    >>> read_csv(file)
       run   tag  step  wall_time  value
    0  007  loss     0       10.0    0.5
    """
    place = Path(path).expanduser()
    if not place.is_dir():
        return _as_scalars(_read_file(place, PurePath(place.name), run, tag))
    if run is not None or tag is not None:
        raise ValueError(f"run= and tag= name the series of one file, and {str(place)!r} is a folder")
    files = {file.relative_to(place): file for file in place.rglob("*.csv") if file.is_file()}
    if not files:
        raise FileNotFoundError(f"the folder {str(place)!r} holds no file that ends in .csv")
    parts = [_read_file(file, below, None, None) for below, file in files.items()]
    frame = _as_scalars(pd.concat(parts, ignore_index=True))
    return frame.sort_values(["run", "tag"], kind="stable", ignore_index=True)


def _read_file(path: Path, below: PurePath, run: str | None, tag: str | None) -> pd.DataFrame:
    """Read one file of either style; its names are str yet."""
    try:
        cells = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8-sig")
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"{str(path)!r} is no CSV file: {error}") from error
    found = list(cells.columns)
    if found == list(HEADER):
        names = names_of(below)
        cells.columns = pd.Index(["wall_time", "step", "value"])
        cells.insert(0, "run", names[0] if run is None else run)
        cells.insert(1, "tag", names[1] if tag is None else tag)
        cells = cells[list(_COLUMNS)]
    elif not set(_COLUMNS) <= set(found):
        raise ValueError(
            f"{str(path)!r} is no CSV of scalars: expected the header {','.join(HEADER)} or the columns "
            f"{','.join(_COLUMNS)}, found {','.join(found)}"
        )
    elif run is not None or tag is not None:
        raise ValueError(f"run= and tag= name the series of a file that does not, and {str(path)!r} has both columns")
    for column in cells.columns.difference(["run", "tag"]):
        cells[column] = _typed(cells[column], _COLUMNS.get(column), path)
    return cells


def _typed(cells: pd.Series, dtype: str | None, path: Path) -> pd.Series:
    """Turn the text of one column into numbers or booleans, exactly."""
    text = cells.to_numpy(object)
    if dtype is None:
        unique = [str(cell) for cell in pd.unique(cells)]
        if not unique or not all(unique):
            return cells
        if all(map(_WHOLE.fullmatch, unique)):
            dtype = "int64"
        elif all(map(_REAL.fullmatch, unique)):
            dtype = "float64"
        elif set(unique) <= {"True", "False"}:
            return cells == "True"
        else:
            return cells
    try:
        # Python's own conversion is exact; the parsers of pandas are so only with options that differ by version.
        return pd.Series(text.astype(dtype), cells.index)
    except (ValueError, OverflowError):
        row = next(i for i, cell in enumerate(text) if not _is_number(cell, dtype))
        raise ValueError(
            f"{str(path)!r}: row {row} of the column {cells.name!r} is {text[row]!r}; expected a number of {dtype}"
        ) from None


def _is_number(cell: str, dtype: str) -> bool:
    try:
        np.array([cell], object).astype(dtype)
    except (ValueError, OverflowError):
        return False
    return True


def _as_scalars(cells: pd.DataFrame) -> pd.DataFrame:
    """Make run and tag categories, in natural order."""
    return cells.assign(**{column: categorical(name_column(cells, column)) for column in ("run", "tag")})
