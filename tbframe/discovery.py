"""What a `logdir` argument names: its runs, and the event files of each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tbframe import storage
from tbframe.errors import NoEventFilesError
from tbframe.names import natural_order

__all__ = ["Listing", "LogDirLike", "describe", "list_runs"]

LogDirLike: TypeAlias = (
    "str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | Iterable[str | os.PathLike[str]]"
)
"""A directory, an event file, a URL, a mapping of names to those, or several of them."""


@dataclass(frozen=True)
class Listing:
    """The runs of a logdir."""

    runs: dict[str, list[storage.Source]]
    """In natural order; the files of each in the order in which they form its stream."""
    problems: list[tuple[str, str]]
    """Paths named like event files that are none, and what they are."""


def describe(logdir: LogDirLike) -> str:
    """Name a logdir in messages and in `attrs`.

    Parameters
    ----------
    logdir : path, mapping or iterable
        What a reader was given.

    Returns
    -------
    str
        As ``--logdir`` or ``--logdir_spec`` would have it.
    """
    if isinstance(logdir, Mapping):
        return ",".join(f"{name}:{os.fspath(path)}" for name, path in logdir.items())
    if isinstance(logdir, str | os.PathLike):
        return os.fspath(logdir)
    return ",".join(os.fspath(path) for path in logdir)


def list_runs(logdir: LogDirLike) -> Listing:
    """Find the runs of a logdir and their event files.

    Parameters
    ----------
    logdir : path, mapping or iterable
        See `tbframe.scalars`.

    Returns
    -------
    Listing
        Runs in natural order.

    Raises
    ------
    FileNotFoundError
        If a path does not exist.
    NoEventFilesError
        If there is no event file.
    ValueError
        If two paths have runs of the same name, or none was given.
    TypeError
        If `logdir` is none of the above.
    """
    roots = _roots(logdir)
    runs: dict[str, list[storage.Source]] = {}
    origin: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    for name, root in roots:
        for found in _look(root):
            problems += found.problems
            run = found.directory if name is None else storage.join_path(name, found.directory)
            if not found.sources:
                continue
            if run in runs:
                names = f"{{'a': {origin[run]!r}, 'b': {root!r}}}"
                raise ValueError(
                    f"run {run!r} is in {origin[run]!r} and in {root!r}: give the paths names, as in {names}"
                )
            runs[run], origin[run] = found.sources, root
    if not runs:
        what = "; ".join(f"{path} is {problem}" for path, problem in problems[:3])
        places = ", ".join(repr(root) for _, root in roots)
        raise NoEventFilesError(
            f"no event files below {places}: no file there has 'tfevents' in its name" + (f" ({what})" if what else "")
        )
    return Listing({run: runs[run] for run in natural_order(runs)}, problems)


def _roots(logdir: LogDirLike) -> list[tuple[str | None, str]]:
    """Return the paths, each with the name that its runs go under."""
    if isinstance(logdir, bytes):
        raise TypeError(f"logdir={logdir!r}: expected str, not bytes")
    if isinstance(logdir, str | os.PathLike):
        return [(None, _expand(logdir))]
    named: list[tuple[str | None, str]]
    if isinstance(logdir, Mapping):
        named = [(_checked_name(name), _expand(path)) for name, path in logdir.items()]
    elif isinstance(logdir, Iterable):
        named = [(None, _expand(path)) for path in logdir]
    else:
        raise TypeError(f"logdir={logdir!r}: expected a path, a {{name: path}} mapping or several paths")
    if not named:
        raise ValueError(f"logdir={logdir!r} names no path")
    return named


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError(f"logdir: expected names of type str that are not empty, found {name!r}")
    return name


def _expand(path: object) -> str:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"logdir: expected a path, found {path!r} of type {type(path).__name__}")
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"logdir={text!r}: expected str, not bytes")
    return text if storage.is_url(text) else os.path.expanduser(text)


def _look(root: str) -> list[storage.Found]:
    source = storage.source_of(root)
    return storage.find(root) if source is None else [storage.Found(".", [source], [])]
