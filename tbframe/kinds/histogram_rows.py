"""Histograms of many values, a row each, in arrays that are filled block by block."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tbframe.kinds.stacking import refuse_padding

__all__ = ["EACH", "STATISTICS", "Decoded", "HistogramRows"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

STATISTICS: Final = ("value_min", "value_max", "num", "value_sum", "value_sum_squares")
"""What a HistogramProto says of the data, in the order of its fields."""
EACH: Final = ", or one series after the other with tbframe.open(logdir).histograms_each()"
"""What to do where the series together are too large."""
_PADDING: Final = (np.nan, np.nan, 0.0)


class Decoded(NamedTuple):
    """The histograms of some values."""

    which: Ints
    """Which of the values given could be decoded, n of them."""
    left: Floats
    """Edges and counts, shape (n, k), padded with NaN edges and count 0."""
    right: Floats
    counts: Floats
    buckets: Ints
    """How many buckets of each are no padding."""
    statistics: Floats | None
    """Shape (n, 5), see `STATISTICS`; None where the form has none."""


class HistogramRows:
    """Arrays with a row for each value.

    Parameters
    ----------
    bounds : ndarray of int64, shape (n,)
        About how many buckets each value has at most.

    Attributes
    ----------
    good : ndarray of bool, shape (n,)
        Which rows were put.
    buckets : ndarray of int64, shape (n,)
        How many buckets each has.
    statistics : ndarray of float64, shape (n, 5)
        NaN where there are none.
    """

    def __init__(self, bounds: Ints) -> None:
        n = len(bounds)
        self.good: Bools = np.zeros(n, bool)
        self.buckets: Ints = np.zeros(n, np.int64)
        self.statistics: Floats = np.full((n, len(STATISTICS)), np.nan)
        self._bounds = bounds
        self._arrays: list[Floats] = [np.empty((n, 0)) for _ in _PADDING]

    def put(self, places: Ints, decoded: Decoded) -> None:
        """Put what some values hold into their rows.

        Parameters
        ----------
        places : ndarray of int64, shape (m,)
            The row of each of those that could be decoded.
        decoded : Decoded
            What they hold.

        Raises
        ------
        ValueError
            If the arrays would be very large and mostly padding.
        """
        width = decoded.left.shape[1]
        if width > self._arrays[0].shape[1]:
            self._widen(width)
        self.good[places] = True
        self.buckets[places] = decoded.buckets
        if decoded.statistics is not None:
            self.statistics[places] = decoded.statistics
        parts = (decoded.left, decoded.right, decoded.counts)
        for array, part, padding in zip(self._arrays, parts, _PADDING, strict=True):
            array[places, :width] = part
            array[places, width:] = padding

    def _widen(self, width: int) -> None:
        n, before = self._arrays[0].shape
        filled = float(np.minimum(self._bounds, width).sum()) / (n * width)
        refuse_padding("histograms", {"histogram": n, "bin": width}, (n, width), filled, EACH)
        # A little room: what comes next may have a few more.
        room = max(width, min(int(self._bounds.max()), width + width // 8))
        put = np.flatnonzero(self.good)  # what was not put yet is not touched yet
        for i, padding in enumerate(_PADDING):
            wider = np.empty((n, room))
            wider[put, :before] = self._arrays[i][put]
            wider[put, before:] = padding
            self._arrays[i] = wider

    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Return the rows that were put.

        Returns
        -------
        left, right, counts : ndarray of float64, shape (m, k)
            As wide as the row with the most buckets.
        """
        width = int(self.buckets.max(initial=0))
        left, right, counts = (
            array[:, :width] if self.good.all() else array[self.good, :width] for array in self._arrays
        )
        return left, right, counts
