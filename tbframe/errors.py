"""The exceptions and warnings of tbframe, and how a warning is raised so that it names the caller's line."""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Iterable

__all__ = [
    "AccessorError",
    "DamagedFileWarning",
    "EventFileError",
    "NoEventFilesError",
    "RestartWarning",
    "TbframeError",
    "UndecodableValueWarning",
    "UnknownNameError",
]


class TbframeError(Exception):
    """Base of every error that tbframe raises itself (wrong arguments are plain ValueError or TypeError)."""


class EventFileError(TbframeError, ValueError):
    """An event file is damaged or is none.

    Attributes
    ----------
    path : str
        The file.
    offset : int
        Byte offset of the damage in the file.
    reason : str
        What is wrong there.
    """

    def __init__(self, path: str, offset: int, reason: str) -> None:
        super().__init__(f"{path}: at byte {offset}: {reason}")
        self.path, self.offset, self.reason = path, offset, reason

    def __reduce__(self) -> tuple[type[EventFileError], tuple[str, int, str]]:
        return type(self), (self.path, self.offset, self.reason)


class NoEventFilesError(TbframeError, FileNotFoundError):
    """A directory exists but holds no event file."""


class UnknownNameError(TbframeError, KeyError):
    """A run or tag of that name does not exist; the message lists near misses."""

    def __str__(self) -> str:
        # KeyError shows repr(message), which turns a readable text into one quoted line.
        return str(self.args[0]) if self.args else ""

    @classmethod
    def of(cls, what: str, name: str, known: Iterable[str], hint: str = "") -> UnknownNameError:
        """Build the error for a name that is not among the known ones.

        Parameters
        ----------
        what : str
            What the name should have been: "run", "tag", ...
        name : str
            The name asked for.
        known : iterable of str
            The names that exist.
        hint : str
            A further sentence, if the caller knows where the name does exist.

        Returns
        -------
        UnknownNameError
            With near misses, or the first names that exist.
        """
        names = list(dict.fromkeys(known))
        near = difflib.get_close_matches(name, names, n=5, cutoff=0.6)
        near += [n for n in names if n not in near and name and (name.lower() in n.lower() or n.endswith("/" + name))][
            :5
        ]
        if hint:
            rest = hint
        elif near:
            rest = "Did you mean " + " or ".join(repr(n) for n in near[:5]) + "?"
        elif names:
            rest = (
                f"There {'is 1' if len(names) == 1 else f'are {len(names)}'}: "
                + ", ".join(repr(n) for n in names[:10])
                + (", ..." if len(names) > 10 else "")
            )
        else:
            rest = f"There is no {what} at all."
        return cls(f"no {what} {name!r}. {rest}")


class AccessorError(TbframeError, AttributeError, ValueError):
    """The ``.tb`` accessor was used on an object that is not of the kind a verb needs."""


class DamagedFileWarning(UserWarning):
    """Part of an event file could not be read; the good records before and after the damage were."""


class RestartWarning(UserWarning):
    """Rows were dropped because a later start of the run wrote over them, or steps still go back or repeat."""


class UndecodableValueWarning(UserWarning):
    """Some logged values of a tag could not be decoded; the rest were."""


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the first line outside the package.

    Parameters
    ----------
    message : str
        The text.
    category : type
        A subclass of Warning.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
