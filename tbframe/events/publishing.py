"""Event files in the making: written under another name, and given theirs when they are whole."""

from __future__ import annotations

import os
import re
import secrets
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

__all__ = ["NewFiles"]

_MARK = "tfevents"
"""What makes a file an event file: this in its name."""
_STANDARD = re.compile(r"events\.out\.tfevents\.(\d{10})\.")


class NewFiles:
    """Files that appear under their names when the block that writes them ends; none if the block fails.

    Until then they lie in the directories they belong to, under names that no reader takes for event files. Each
    becomes the last event file of its directory in the order of names, which is the order in which readers chain them,
    and never replaces one that exists.

    Attributes
    ----------
    paths : list of Path
        The files, once the block has ended.
    """

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self._hidden: list[Path] = []
        self._stream: BinaryIO | None = None

    def __enter__(self) -> NewFiles:
        return self

    def start(self, directory: Path) -> BinaryIO:
        """Open the next file; the one before it is done.

        Parameters
        ----------
        directory : Path
            Where it is to appear. It is created if it does not exist.

        Returns
        -------
        BinaryIO
            To write to.
        """
        self._finish()
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f".tbframe-{secrets.token_hex(8)}.tmp"
        self._stream = path.open("xb")
        self._hidden.append(path)
        return self._stream

    def _finish(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._finish()
            if kind is None:
                self.paths += [_publish(path) for path in self._hidden]
        finally:
            for path in self._hidden:
                path.unlink(missing_ok=True)


def _publish(hidden: Path) -> Path:
    """Give a file the name of the last event file of its directory, without ever replacing one."""
    while True:
        newest = max((name for name in os.listdir(hidden.parent) if _MARK in name), default="")
        path = hidden.with_name(_name_after(newest))
        try:
            _rename_to_new(hidden, path)
        except FileExistsError:  # another writer took the name in between
            continue
        return path


def _rename_to_new(old: Path, new: Path) -> None:
    """Rename a file, or raise FileExistsError."""
    try:
        os.link(old, new)  # unlike a rename, a link never replaces
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if new.exists():
            raise FileExistsError(new) from None
        old.rename(new)
    else:
        old.unlink()


def _name_after(newest: str) -> str:
    """Make a standard name that sorts after the newest one, whatever clock that one was named by."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    host = re.sub(r"[^\w.-]", "_", socket.gethostname())
    tail = f"{host}.{os.getpid()}.{nanoseconds:09d}"
    name = f"events.out.{_MARK}.{seconds:010d}.{tail}"
    if name > newest:
        return name
    standard = _STANDARD.match(newest)
    later = f"events.out.{_MARK}.{int(standard[1]) + 1:010d}.{tail}" if standard else ""
    return later if later > newest else f"{newest}.{nanoseconds:09d}"
