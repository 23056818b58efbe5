"""Files that lie beside the event files of a run, none of which may lie outside its directory."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable
from typing import Any, NamedTuple

from tbframe.events.files import EventFile
from tbframe.storage import Source

__all__ = ["RunDirectory", "read_asset", "run_directories"]


class RunDirectory(NamedTuple):
    """The directory in which the event files of a run lie."""

    path: str
    filesystem: Any
    """What fsspec has for it; None if it is local."""

    def find(self, path: str, below: str = "") -> Source | None:
        """Find a file in the directory or below it.

        Parameters
        ----------
        path : str
            Relative to `below`, or absolute.
        below : str
            A directory relative to this one.

        Returns
        -------
        Source or None
            None if there is no such file.

        Raises
        ------
        ValueError
            If the path leads out of the directory, by ``..``, as an absolute path or through a symbolic link.
        """
        if self.filesystem is not None:
            whole = posixpath.normpath(posixpath.join(self.path, below, path))
            inside = whole.startswith(self.path.rstrip("/") + "/")
            there = inside and self.filesystem.isfile(whole)
        else:
            whole = os.path.join(self.path, below, path)
            if not (os.path.isabs(path) or ".." in path or os.path.lexists(whole)):
                return None  # most runs have none of the files that are looked for: a tenth of the time
            root, whole = os.path.realpath(self.path), os.path.realpath(whole)
            inside = whole.startswith(os.path.join(root, ""))
            there = inside and os.path.isfile(whole)
        if not inside:
            raise ValueError(f"the path {path!r} leads out of the run's directory {self.path!r}")
        return Source(whole, self.filesystem) if there else None


def run_directories(files: Iterable[EventFile]) -> dict[str, RunDirectory]:
    """Return the directory of each run.

    Parameters
    ----------
    files : iterable of EventFile
        Of all runs.

    Returns
    -------
    dict
        By run, in the order of the files.
    """
    found: dict[str, RunDirectory] = {}
    for file in files:
        if file.run not in found:
            filesystem = file.source.filesystem
            name = os.path.dirname(file.path) if filesystem is None else posixpath.dirname(file.path)
            found[file.run] = RunDirectory(name, filesystem)
    return found


def read_asset(source: Source, most: int) -> bytes:
    """Read a file whole.

    Parameters
    ----------
    source : Source
        The file.
    most : int
        The most bytes it may have.

    Returns
    -------
    bytes
        Its content.

    Raises
    ------
    ValueError
        If it is larger.
    OSError
        If it cannot be read.
    """
    with source.open() as stream:
        size = source.size(stream)
        if size > most:
            raise ValueError(f"it has {size:,} bytes, more than the {most:,} that are read")
        return stream.read()
