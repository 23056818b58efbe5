"""The rows of a log directory: one per summary value, in columns that grow."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["COLUMNS", "Rows"]

COLUMNS: Final[dict[str, str]] = {
    "file": "i4",  # EventFile.code
    "record": "i8",  # offset of the record in the file
    "step": "i8",
    "wall_time": "f8",
    "number": "f8",  # see values.Values for the rest
    "tag": "i4",
    "what": "u1",
    "dtype": "u1",
    "at": "i4",
    "extent": "i4",
}


class Rows:
    """A table whose columns are arrays.

    Attributes
    ----------
    count : int
        How many rows there are.
    """

    def __init__(self) -> None:
        self.count = 0
        self._columns: dict[str, npt.NDArray[np.generic]] = {
            name: np.empty(0, dtype) for name, dtype in COLUMNS.items()
        }

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return one column, without copying it."""
        return self._columns[name][: self.count]

    def __len__(self) -> int:
        return self.count

    def append(self, **columns: npt.NDArray[np.generic]) -> None:
        """Append rows.

        Parameters
        ----------
        **columns : ndarray, shape (n,)
            Every column.
        """
        before, after = self.count, self.count + len(columns["file"])
        if after > len(self._columns["file"]):
            self._reserve(max(after, before + before // 2, 1 << 12))
        for name, column in self._columns.items():
            column[before:after] = columns[name]
        self.count = after

    def expect(self, more: int) -> None:
        """Make room for rows to come, so that the columns need not grow by copying. Room that is not used costs no memory.

        Parameters
        ----------
        more : int
            How many are expected; a guess.
        """
        if self.count + more > len(self._columns["file"]):
            self._reserve(self.count + more)

    def _reserve(self, capacity: int) -> None:
        for name, column in self._columns.items():
            grown = np.empty(capacity, column.dtype)
            grown[: self.count] = column[: self.count]
            self._columns[name] = grown

    def drop_files(self, codes: set[int]) -> None:
        """Forget the rows of some files.

        Parameters
        ----------
        codes : set of int
            The files' numbers.
        """
        stay = ~np.isin(self["file"], list(codes))
        for name in self._columns:
            self._columns[name] = self[name][stay]
        self.count = len(self._columns["file"])
