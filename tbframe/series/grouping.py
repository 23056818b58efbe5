"""Which rows belong together: rows of one key made neighbours, in the order they had."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["batches", "group_rows", "mixed_key", "number_keys", "ragged_ranges", "stable_order"]

_DIGIT_BITS = 16
_BATCH = 2**18
"""Rows that arithmetic takes at a time: what it makes of them stays in the cache, in memory that was used before."""


def group_rows(key: NDArray[np.int64]) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Find the rows of each key, without sorting where they are neighbours already.

    Parameters
    ----------
    key : ndarray of int64, shape (rows,)
        Not negative.

    Returns
    -------
    order : ndarray of int64, shape (rows,), or None
        Row numbers that bring equal keys together, earlier rows first; None if they already are.
    bounds : ndarray of int64, shape (keys + 1,)
        Rows ``order[bounds[i]:bounds[i + 1]]`` have one key.

    Examples
    --------
    >>> group_rows(np.array([1, 0, 1]))
    (array([1, 0, 2]), array([0, 1, 3]))
    >>> group_rows(np.array([1, 1, 0]))
    (None, array([0, 2, 3]))
    """
    bounds = _bounds(key)
    firsts = key[bounds[:-1]]
    if len(np.unique(firsts)) == len(firsts):
        return None, bounds
    order = stable_order(key)
    return order, _bounds(key[order])


def stable_order(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort by a key, rows of equal key in the order they have.

    Parameters
    ----------
    key : ndarray of int64, shape (rows,)
        Not negative.

    Returns
    -------
    ndarray of int64, shape (rows,)
        Row numbers.

    Examples
    --------
    >>> stable_order(np.array([70000, 3, 70000, 1]))
    array([3, 1, 0, 2])
    """
    # NumPy sorts 16-bit integers by counting them; wider ones, by comparison, take several times as long.
    top = int(key.max(initial=0))
    order = np.argsort((key & (2**_DIGIT_BITS - 1)).astype(np.uint16), kind="stable")
    for shift in range(_DIGIT_BITS, top.bit_length(), _DIGIT_BITS):
        digit = (key >> shift & (2**_DIGIT_BITS - 1)).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order.astype(np.int64, copy=False)


def mixed_key(major: NDArray[np.int64], minor: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join two columns into one key that sorts as both do.

    Parameters
    ----------
    major : ndarray of int64, shape (rows,)
        Not negative; codes that count from 0 without large gaps.
    minor : ndarray of int64, shape (rows,)
        Any integers, such as steps.

    Returns
    -------
    ndarray of int64, shape (rows,)
        Equal where both are, and ascending by `major`, then `minor`. Not negative.

    Examples
    --------
    >>> mixed_key(np.array([0, 0, 1]), np.array([-5, 7, -5]))
    array([ 0, 12, 13])
    """
    if not len(minor):
        return np.empty(0, np.int64)
    low, width = int(minor.min()), int(minor.max()) - int(minor.min()) + 1
    if width * (int(major.max()) + 1) < 2**63:
        return major * width + (minor - low)
    distinct, rank = np.unique(minor, return_inverse=True)
    return major * len(distinct) + rank


def number_keys(codes: Sequence[NDArray[np.int64]]) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Count the combinations of several columns that occur, and say which each row has.

    Parameters
    ----------
    codes : sequence of ndarray of int64, each of shape (rows,)
        The columns, the most significant first; each counts from 0.

    Returns
    -------
    distinct : list of ndarray of int64, each of shape (combinations,)
        The codes of each combination.
    number : ndarray of int64, shape (rows,)
        Which combination each row has; they count up in ascending order.

    Examples
    --------
    >>> number_keys([np.array([1, 0, 1]), np.array([4, 2, 4])])
    ([array([0, 1]), array([2, 4])], array([1, 0, 1]))
    """
    number = np.zeros(len(codes[0]), np.int64)
    for code in codes:
        number = _ranks(mixed_key(number, code))
    row = np.empty(int(number.max(initial=-1)) + 1, np.int64)
    row[number] = np.arange(len(number))
    return [code[row] for code in codes], number


def ragged_ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count up from each start, one range behind the other.

    Parameters
    ----------
    starts, lengths : ndarray of int64, shape (ranges,)
        Where each range starts and how many numbers it has.

    Returns
    -------
    ndarray of int64, shape (lengths.sum(),)
        The numbers.

    Examples
    --------
    >>> ragged_ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def batches(bounds: NDArray[np.int64], size: int = _BATCH) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Cut many series that lie one behind the other into batches of whole series.

    Parameters
    ----------
    bounds : ndarray of int64, shape (series + 1,)
        Series i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded.
    size : int
        About how many rows a batch has, unless a series has more.

    Yields
    ------
    rows : slice
        The rows of the next series.
    bounds : ndarray of int64, shape (series in the batch + 1,)
        The bounds of these, counted from the first of these rows.

    Examples
    --------
    >>> [(rows.start, rows.stop, of.tolist()) for rows, of in batches(np.array([0, 2, 4, 9]), 4)]
    [(0, 4, [0, 2, 4]), (4, 9, [0, 5])]
    """
    marks = np.searchsorted(bounds, np.arange(int(bounds[0]), int(bounds[-1]), size))
    cuts = np.unique(np.append(marks, len(bounds) - 1)).tolist()
    for first, last in itertools.pairwise(cuts):
        part = bounds[first : last + 1]
        yield slice(int(part[0]), int(part[-1])), part - part[0]


def _ranks(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank of each key among the distinct ones."""
    top = int(key.max(initial=0))
    if top > 8 * len(key) + 1000:
        return np.unique(key, return_inverse=True)[1]
    occurs = np.zeros(top + 1, bool)
    occurs[key] = True
    ranks: NDArray[np.int64] = (np.cumsum(occurs) - 1)[key]
    return ranks


def _bounds(key: NDArray[np.int64]) -> NDArray[np.int64]:
    changes = np.flatnonzero(key[1:] != key[:-1]) + 1
    return np.concatenate([[0], changes, [len(key)]]) if len(key) else np.zeros(1, np.int64)
