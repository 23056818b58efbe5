"""Values that hold several things, each of which gets a row: images of a batch, clips, texts of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.events.singly import Read
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.frames import common_columns, count_repeats
from tbframe.kinds.undecodable import Undecodable

__all__ = ["Decode", "decode_each", "frame_of_parts", "name_of", "objects", "position", "reader_of"]

Part = TypeVar("Part")
Decode = Callable[[int, Read, int], Part]
"""``decode(place, read, size)``: the place of a value in the selection, its bytes and how many they are."""


def reader_of(data: bytes) -> Read:
    """Make a function of some bytes that gives parts of them.

    Parameters
    ----------
    data : bytes
        All.

    Returns
    -------
    callable
        ``read(at, n)``: up to n bytes from this place.

    Examples
    --------
    >>> reader_of(b"abcd")(1, 2)
    b'bc'
    """
    return lambda at, n: data[at : at + n]


def decode_each(
    kind: str, catalog: Catalog, selection: Selection, decode: Decode[Part], *, whole: bool = True
) -> list[Part | None]:
    """Decode the selected values one by one; what cannot be decoded is said, once for each run and tag.

    Parameters
    ----------
    kind : str
        The name of the reader.
    catalog : Catalog
        All rows.
    selection : Selection
        Those wanted.
    decode : callable
        Decodes one value, or raises ValueError with the reason why not.
    whole : bool
        Whether to read and verify the records; else only the bytes that `decode` asks for are read, unverified.

    Returns
    -------
    list
        What each value holds; None where it could not be decoded, or its record is damaged.
    """
    found: list[Part | None] = [None] * len(selection.rows)
    undecodable = Undecodable(kind)
    for place, read, size in (_whole if whole else _opened)(catalog, selection):
        try:
            found[place] = decode(place, read, size)
        except ValueError as error:
            undecodable.add(*name_of(catalog, selection, place), str(error))
    undecodable.say()
    return found


def _whole(catalog: Catalog, selection: Selection) -> Iterator[tuple[int, Read, int]]:
    payloads = catalog.payloads(selection)
    for place, payload in enumerate(payloads):
        if payload is not None:
            payloads[place] = None  # what was taken out of it is a copy: both at once would double the memory
            yield place, reader_of(payload), len(payload)


def _opened(catalog: Catalog, selection: Selection) -> Iterator[tuple[int, Read, int]]:
    for place, member in catalog.opened(selection):
        yield place, member.read, member.size


def name_of(catalog: Catalog, selection: Selection, place: int) -> tuple[str, str, int]:
    """Return run, tag and step of a value.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        Some of them.
    place : int
        Which of these.

    Returns
    -------
    run, tag : str
        Its series.
    step : int
        Its step.
    """
    series = int(np.searchsorted(np.cumsum(selection.series_size), place, side="right"))
    run, tag = selection.runs[selection.series_run[series]], selection.tags[selection.series_tag[series]]
    return run, tag, int(catalog.table["step"][selection.rows[place]])


def frame_of_parts(
    kind: str,
    catalog: Catalog,
    selection: Selection,
    counts: Iterable[int],
    columns: dict[str, Any],
    *,
    mark: bool = False,
) -> pd.DataFrame:
    """Build a frame with a row for each part of each value.

    Parameters
    ----------
    kind : str
        The name of the reader.
    catalog : Catalog
        All rows.
    selection : Selection
        Those wanted.
    counts : iterable of int
        How many parts each value has: none if it could not be decoded.
    columns : dict of str to array
        What is told of the parts, in order.
    mark : bool
        Whether to add the columns ``session`` and ``superseded``.

    Returns
    -------
    pandas.DataFrame
        Columns ``run``, ``tag`` (category), ``step`` (int64), ``wall_time`` (float64), then those given; with `mark`
        also ``session`` (int64) and ``superseded`` (bool).
    """
    rows = np.repeat(np.arange(len(selection.rows)), np.fromiter(counts, np.int64, len(selection.rows)))
    common = {name: column.take(rows) for name, column in common_columns(catalog, selection).items()}
    for name in ("run", "tag"):  # a name whose values could not be decoded does not occur
        common[name] = common[name].remove_unused_categories()
    if mark:
        places = selection.places[rows]
        columns = columns | {"session": catalog.session[places], "superseded": catalog.superseded[places]}
    frame = pd.DataFrame(common | columns, copy=False)
    repeats = count_repeats(catalog.table["step"][selection.rows], selection.series_size)
    frame.attrs["tbframe"] = {"kind": kind, "dropped": selection.dropped, "repeats": repeats}
    return frame


def position(counts: Sequence[int]) -> npt.NDArray[np.int64]:
    """Count the parts of each value up from 0.

    Parameters
    ----------
    counts : sequence of int
        How many parts each value has.

    Returns
    -------
    ndarray of int64, shape (sum of counts,)
        0, 1, ... within each value.

    Examples
    --------
    >>> position([2, 0, 3])
    array([0, 1, 0, 1, 2])
    """
    sizes = np.asarray(counts, np.int64)
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def objects(values: Sequence[Any]) -> pd.Series:
    """Make a column of Python objects, str among them, that no version of pandas turns into anything else.

    Parameters
    ----------
    values : sequence
        Of any objects: tuples and arrays stay whole.

    Returns
    -------
    pandas.Series
        Of object dtype.

    Examples
    --------
    >>> objects([(1, 2), (3, 4)]).tolist()
    [(1, 2), (3, 4)]
    """
    return pd.Series(np.fromiter(values, object, len(values)), dtype=object)
