"""Names of runs and tags: their natural order, and how a reader's `runs=` and `tags=` choose among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from tbframe.errors import UnknownNameError

__all__ = ["NameFilter", "choose", "natural_key", "natural_order"]

NameFilter: TypeAlias = "str | Iterable[str] | re.Pattern[str] | None"
"""What `runs=` and `tags=` take: a name, names, a compiled regular expression (searched), or None for all."""

_DIGITS = re.compile(r"(\d+)", re.ASCII)


def natural_key(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sort key under which ``version_2`` comes before ``version_10``.

    Parameters
    ----------
    name : str
        A run or tag.

    Returns
    -------
    tuple
        Comparable with the keys of other names; distinct names have distinct keys.

    Examples
    --------
    >>> sorted(["version_10", "version_2", "a"], key=natural_key)
    ['a', 'version_2', 'version_10']
    """
    parts = [_number_key(part) if i % 2 else (1, 0, part) for i, part in enumerate(_DIGITS.split(name)) if part]
    return parts, name


def _number_key(digits: str) -> tuple[int, int, str]:
    # Not as an int: of those, Python reads no more than 4300 digits.
    significant = digits.lstrip("0")
    return 0, len(significant), significant


def natural_order(names: Iterable[str]) -> list[str]:
    """Return the names in natural order.

    Parameters
    ----------
    names : iterable of str
        Runs or tags.

    Returns
    -------
    list of str
        Sorted by `natural_key`.
    """
    return sorted(names, key=natural_key)


def choose(
    known: Sequence[str], wanted: NameFilter, what: str, hint: Callable[[str], str] = lambda name: ""
) -> list[int]:
    """Find the positions of the names that a reader was asked for.

    Parameters
    ----------
    known : sequence of str
        The names that exist, without duplicates.
    wanted : str, iterable of str, re.Pattern or None
        A name, several names, a compiled regular expression that is searched in each name, or None for all.
    what : str
        What the names are ("run", "tag"), for messages.
    hint : callable
        Given a name that does not exist, a sentence that says where it does, or "".

    Returns
    -------
    list of int
        Positions in `known`: in the order of `known`, whatever the order asked for.

    Raises
    ------
    UnknownNameError
        If a name does not exist. A pattern that matches nothing gives an empty list instead.
    TypeError
        If `wanted` is none of the above.

    Examples
    --------
    >>> choose(["loss", "lr"], re.compile("^l"), "tag")
    [0, 1]
    """
    if wanted is None:
        return list(range(len(known)))
    if isinstance(wanted, re.Pattern):
        if not isinstance(wanted.pattern, str):
            raise TypeError(f"{what}s={wanted!r}: the pattern must be of str, not of bytes")
        return [i for i, name in enumerate(known) if wanted.search(name)]
    given: object = wanted  # whatever the annotations allow
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise TypeError(
            f"{what}s={wanted!r}: expected a name, an iterable of names, a compiled regular expression or None"
        )
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    at = {name: i for i, name in enumerate(known)}
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what}s: expected names of type str, found {name!r} of type {type(name).__name__}")
        if name not in at:
            raise UnknownNameError.of(what, name, known, hint(name))
    return sorted({at[name] for name in names})
