"""Which points of a series to keep: TensorBoard's reservoir, or points spread evenly."""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tbframe.series.arguments import check_size

__all__ = ["RESERVOIR_SIZES", "even_indices", "even_rows", "reservoir_indices", "reservoir_rows", "rows_at"]

RESERVOIR_SIZES: Final = MappingProxyType(
    {
        "scalars": 1000,
        "histograms": 500,
        "images": 10,
        "audio": 10,
        "text": 10,
        "tensors": 10,
        "meshes": 10,
        "hparams": 10,
        "custom_scalars": 10,
        "pr_curves": 100,
        "graphs": 10,
    }
)
"""How many points per tag TensorBoard's Python server keeps of each kind by default (``--samples_per_plugin``)."""

_WORD_BITS = 32
_BLOCK = 4096


def reservoir_indices(length: int, size: int, seed: int = 0) -> NDArray[np.int64]:
    """Choose the points that TensorBoard's Python server keeps of one series.

    TensorBoard's rule: a reservoir of `size` points with a Mersenne Twister of its own for every tag. The last point is
    kept always, the first ``size - 1`` with probability size / length, all others with (size - 1) / length; series of
    equal length keep the same indices.

    Parameters
    ----------
    length : int
        Number of points of the series, below 2**32.
    size : int
        Capacity of the reservoir, at least 1; `RESERVOIR_SIZES` holds TensorBoard's.
    seed : int
        Seed of the generator. TensorBoard's is 0.

    Returns
    -------
    ndarray of int64, shape (min(length, size),)
        Ascending positions in the series.

    Raises
    ------
    ValueError
        If `length` is negative or too large, or `size` less than 1.
    TypeError
        If `size` is not an integer.

    Examples
    --------
    >>> reservoir_indices(1200, 10)
    array([ 225,  304,  352,  505,  668,  789,  818,  929, 1035, 1199])
    """
    check_size(size)
    if not 0 <= length < 2**_WORD_BITS:
        raise ValueError(f"length={length!r}: expected a number of points from 0 to {2**_WORD_BITS - 1}")
    return next(_reservoirs([length], size, seed))


def even_indices(length: int, size: int) -> NDArray[np.int64]:
    """Choose points spread evenly over one series, its first and last among them.

    Parameters
    ----------
    length : int
        Number of points of the series.
    size : int
        How many to keep, at least 1; if it is 1, the last is kept.

    Returns
    -------
    ndarray of int64, shape (min(length, size),)
        Ascending positions in the series: the distinct values of a rounded ``linspace``.

    Raises
    ------
    ValueError
        If `length` is negative, or `size` less than 1.
    TypeError
        If `size` is not an integer.

    Examples
    --------
    >>> even_indices(100, 5)
    array([ 0, 25, 50, 74, 99])
    """
    check_size(size)
    if length < 0:
        raise ValueError(f"length={length!r}: expected a number of points, 0 or more")
    if size >= length:
        return np.arange(length, dtype=np.int64)
    if size == 1:
        return np.array([length - 1], np.int64)
    return np.unique(np.round(np.linspace(0, length - 1, size)).astype(np.int64))


def reservoir_rows(bounds: NDArray[np.int64], size: int, seed: int = 0) -> NDArray[np.int64]:
    """Choose what `reservoir_indices` keeps, for many series that lie one behind the other.

    Parameters
    ----------
    bounds : ndarray of int64, shape (series + 1,)
        Series i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded.
    size, seed : int
        As for `reservoir_indices`; every series starts with the same seed, as every tag in TensorBoard does.

    Returns
    -------
    ndarray of int64, shape (rows kept,)
        Ascending row numbers.

    Examples
    --------
    >>> reservoir_rows(np.array([0, 20, 40]), 4)
    array([ 1,  2,  5, 19, 21, 22, 25, 39])
    """
    check_size(size)
    lengths = np.unique(np.diff(bounds))
    return rows_at(bounds, dict(zip(lengths.tolist(), _reservoirs(lengths.tolist(), size, seed), strict=True)))


def even_rows(bounds: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Choose what `even_indices` keeps, for many series that lie one behind the other.

    Parameters
    ----------
    bounds : ndarray of int64, shape (series + 1,)
        Series i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded.
    size : int
        As for `even_indices`.

    Returns
    -------
    ndarray of int64, shape (rows kept,)
        Ascending row numbers.

    Examples
    --------
    >>> even_rows(np.array([0, 9, 11]), 3)
    array([ 0,  4,  8,  9, 10])
    """
    lengths: list[int] = np.unique(np.diff(bounds)).tolist()
    return rows_at(bounds, {length: even_indices(length, size) for length in lengths})


def rows_at(bounds: NDArray[np.int64], kept: dict[int, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Turn positions within series, one choice per length of series, into row numbers.

    Parameters
    ----------
    bounds : ndarray of int64, shape (series + 1,)
        Series i is rows ``bounds[i]`` to ``bounds[i + 1]``, the latter excluded.
    kept : dict of int to ndarray of int64
        For every length that occurs, the positions to keep.

    Returns
    -------
    ndarray of int64, shape (rows kept,)
        Ascending row numbers.

    Examples
    --------
    >>> rows_at(np.array([0, 2, 4, 5]), {1: np.array([0]), 2: np.array([1])})
    array([1, 3, 4])
    """
    starts, lengths = bounds[:-1], np.diff(bounds)
    order = np.argsort(lengths, kind="stable")
    found, first = np.unique(lengths[order], return_index=True)
    # One turn per distinct length: the series of one length share their choice.
    groups = zip(found.tolist(), np.split(starts[order], first[1:]), strict=False)
    rows = [(of_length[:, None] + kept[length]).ravel() for length, of_length in groups]
    return np.sort(np.concatenate([np.empty(0, np.int64), *rows]))


def _reservoirs(lengths: list[int], size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the reservoir after each of the ascending `lengths` points.

    The generator does not depend on the length, so that one pass serves all. Only draws below `size` move points about;
    any other point takes the place of the last one, which is why the last item is always the point before.
    """
    draws = _draws(max(0, max(lengths, default=0) - size), size + 1, seed)
    hits = np.flatnonzero(draws < size)
    arrivals: list[int] = (hits + size).tolist()
    places: list[int] = draws[hits].tolist()
    items, done = list(range(min(size, max(lengths, default=0)))), 0
    for length in lengths:
        if length <= size:
            yield np.arange(length, dtype=np.int64)
            continue
        until = int(np.searchsorted(hits, length - size))
        for arrival, place in zip(arrivals[done:until], places[done:until], strict=True):
            items[-1] = arrival - 1
            del items[place]
            items.append(arrival)
        done = until
        items[-1] = length - 1
        yield np.array(items, np.int64)


def _draws(count: int, first: int, seed: int) -> NDArray[np.int64]:
    """Return ``random.Random(seed).randrange(n)`` for n = first, first + 1, ..., `count` of them in a row.

    CPython takes the upper bits of one 32-bit word, as many as n has, and tries the next word while they are n or more.
    Which word serves which n therefore depends on all refusals before. Within a short block that dependence is weak:
    start from no refusals, count them, and repeat until the count agrees with itself.
    """
    state = random.Random(seed).getstate()[1]
    words = np.random.MT19937()
    words.state = {"bit_generator": "MT19937", "state": {"key": np.array(state[:-1], np.uint32), "pos": state[-1]}}
    drawn, filled = np.empty(count, np.int64), 0
    while filled < count:
        bits = (first + filled).bit_length()
        # All n of a block have as many bits, and a block is at most an eighth of such n.
        block = min(_BLOCK, 2 ** max(bits - 4, 0), 2**bits - (first + filled))
        block_words = words.random_raw(block)
        high = (np.asarray(block_words) >> np.uint64(_WORD_BITS - bits)).astype(np.int64)
        taken = np.arange(block, dtype=np.int64)
        while True:
            accepted = high < first + filled + taken
            before: NDArray[np.int64] = np.cumsum(accepted) - accepted
            if np.array_equal(before, taken):
                break
            taken = before
        new = high[accepted][: count - filled]
        drawn[filled : filled + len(new)] = new
        filled += len(new)
    return drawn
