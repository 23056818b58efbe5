"""Where bytes come from: local files, and anything that fsspec opens."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

__all__ = ["MARK", "Found", "Source", "find", "is_url", "join_path", "source_of"]

MARK = "tfevents"
"""What the name of every event file has in it."""


class Fingerprint(NamedTuple):
    """What tells a file that grew from one that was replaced."""

    device: int
    inode: int


class Source:
    """One file that can be opened for reading.

    Parameters
    ----------
    path : str
        The path or URL, as messages name it.
    filesystem : fsspec.AbstractFileSystem, optional
        What opens it; None for a local file.
    """

    __slots__ = ("filesystem", "path")

    def __init__(self, path: str, filesystem: Any = None) -> None:  # noqa: ANN401 - fsspec has no types
        self.path, self.filesystem = path, filesystem

    def __repr__(self) -> str:
        return f"Source({self.path!r})"

    def open(self) -> BinaryIO:
        """Open the file, unbuffered where that can be.

        Returns
        -------
        BinaryIO
            With readinto, seek and tell.

        Raises
        ------
        OSError
            If it cannot be opened, or is no regular file.
        """
        if self.filesystem is not None:
            stream: BinaryIO = self.filesystem.open(self.path, "rb", cache_type="readahead")
            return stream
        # O_NONBLOCK: a FIFO would block here until somebody writes to it.
        descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            os.close(descriptor)
            raise OSError(f"{_file_type(mode)}, not a regular file")
        return io.FileIO(descriptor, "rb", closefd=True)

    def size(self, stream: BinaryIO) -> int:
        """Return the present size of the open file.

        Parameters
        ----------
        stream : BinaryIO
            What `open` returned. Its position is kept.

        Returns
        -------
        int
            In bytes.
        """
        if self.filesystem is None:
            return os.fstat(stream.fileno()).st_size
        here = stream.tell()
        end = stream.seek(0, io.SEEK_END)
        stream.seek(here)
        return end

    def present_size(self) -> int:
        """Return the present size of the file, without opening it.

        Returns
        -------
        int
            In bytes.

        Raises
        ------
        OSError
            If there is no such file.
        """
        return os.stat(self.path).st_size if self.filesystem is None else int(self.filesystem.size(self.path))

    def fingerprint(self, stream: BinaryIO) -> Fingerprint | None:
        """Return what changes when another file takes this one's name; None where that is not known.

        Parameters
        ----------
        stream : BinaryIO
            What `open` returned.

        Returns
        -------
        Fingerprint or None
            Device and inode of a local file.
        """
        if self.filesystem is not None:
            return None
        status = os.fstat(stream.fileno())
        return Fingerprint(status.st_dev, status.st_ino)


def _file_type(mode: int) -> str:
    for test, name in (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    ):
        if test(mode):
            return name
    return "a special file"


@dataclass(frozen=True)
class Found:
    """One directory in which event files lie."""

    directory: str
    """Below the root, with ``/`` between its parts; ``"."`` for the root itself."""
    sources: list[Source]
    """Its event files, in the order of their names."""
    problems: list[tuple[str, str]]
    """Paths named like event files that are none, and what they are."""


def is_url(path: str) -> bool:
    """Tell whether a path is a URL that fsspec opens.

    Parameters
    ----------
    path : str
        A path.

    Returns
    -------
    bool
        True for ``scheme://...``.

    Examples
    --------
    >>> is_url("memory://logs"), is_url("/tmp/logs")
    (True, False)
    """
    scheme, separator, _ = path.partition("://")
    return bool(separator) and scheme.replace("+", "").replace("-", "").replace("::", "").isalnum() and len(scheme) > 1


def _filesystem(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise ImportError(f"reading {url!r} needs fsspec: pip install 'tbframe[remote]'") from error
    filesystem, path = fsspec.core.url_to_fs(url)
    return filesystem, path


def source_of(path: str) -> Source | None:
    """Return the file at a path.

    Parameters
    ----------
    path : str
        A local path or a URL.

    Returns
    -------
    Source or None
        None if there is a directory.

    Raises
    ------
    FileNotFoundError
        If there is nothing.
    """
    if is_url(path):
        filesystem, inside = _filesystem(path)
        if not filesystem.exists(inside):
            raise FileNotFoundError(f"no such directory or event file: {path!r}")
        return None if filesystem.isdir(inside) else Source(inside, filesystem)
    if not os.path.exists(path):
        raise FileNotFoundError(f"no such directory or event file: {path!r}{_nearest_parent(path)}")
    return None if os.path.isdir(path) else Source(path)


def _nearest_parent(path: str) -> str:
    """Say down to where a missing path exists."""
    if os.path.islink(path):
        return f" (a symbolic link to {os.readlink(path)!r}, which does not exist)"
    parent = os.path.abspath(path)
    while parent != os.path.dirname(parent) and not os.path.exists(parent):
        parent = os.path.dirname(parent)
    return (
        f" (looked for in the current directory {os.getcwd()!r}; {parent!r} exists)"
        if not os.path.isabs(path)
        else (f" ({parent!r} exists)")
    )


def join_path(directory: str, name: str) -> str:
    """Join the parts of a run's name.

    Parameters
    ----------
    directory, name : str
        Relative to the logdir; ``"."`` is the logdir itself.

    Returns
    -------
    str
        With ``/`` between the parts.

    Examples
    --------
    >>> join_path(".", "train"), join_path("a", "."), join_path("a", "b")
    ('train', 'a', 'a/b')
    """
    return name if directory == "." else directory if name == "." else f"{directory}/{name}"


def find(root: str) -> list[Found]:
    """Find every directory below a root that holds event files: names that contain ``tfevents``.

    Parameters
    ----------
    root : str
        A local directory or a URL.

    Returns
    -------
    list of Found
        In the order of the walk.

    Raises
    ------
    OSError
        If the root itself cannot be listed.
    """
    if is_url(root):
        return _find_remote(root)
    status = os.stat(root)
    return list(_walk(root, ".", ((status.st_dev, status.st_ino),)))


def _walk(path: str, name: str, ancestors: tuple[tuple[int, int], ...]) -> Iterator[Found]:
    """Walk directories, through links too. Only a link to an ancestor is a loop: two names of one directory are two runs."""
    sources, problems, below = [], [], []
    try:
        with os.scandir(path) as entries:
            listing = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        if name == ".":
            raise
        yield Found(name, [], [(path, f"cannot be listed ({error.strerror})")])
        return
    for entry in listing:
        marked = MARK in entry.name
        identity = _directory(entry)
        if identity is not None:
            found = []
            if identity not in ancestors:
                found = list(_walk(entry.path, join_path(name, _readable(entry.name)), (*ancestors, identity)))
            below += found
            if marked and not any(f.sources for f in found):
                problems.append((entry.path, "a directory named like an event file, without event files in it"))
        elif marked and os.path.isfile(entry.path):
            sources.append(Source(entry.path))
        elif marked:
            problems.append((entry.path, _what_is(entry)))
    if sources or problems:
        yield Found(name, sources, problems)
    yield from below


def _directory(entry: os.DirEntry[str]) -> tuple[int, int] | None:
    """Return device and inode of a directory; None for all else: links that lead nowhere, what was deleted just now."""
    try:
        if not entry.is_dir():
            return None
        status = os.stat(entry.path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _readable(name: str) -> str:
    """Show what is not UTF-8 in the name of a directory as backslash escapes: pandas and Arrow take no other text."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _what_is(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink() and not os.path.exists(entry.path):
        return f"a symbolic link to {os.readlink(entry.path)!r}, which does not exist"
    try:
        return f"{_file_type(os.stat(entry.path).st_mode)}, not a regular file"
    except OSError as error:
        return f"something that cannot be looked at ({error.strerror})"


def _find_remote(url: str) -> list[Found]:
    filesystem, root = _filesystem(url)
    root = root.rstrip("/")
    directories: dict[str, list[Source]] = {}
    for path in sorted(filesystem.find(root)):
        parent, _, base = path.rpartition("/")
        if MARK in base:
            name = parent[len(root) :].strip("/") or "."
            directories.setdefault(name, []).append(Source(path, filesystem))
    return [Found(name, sources, []) for name, sources in directories.items()]
