"""Methods and readers that carry the documentation of the functions behind them: what is said once is said right."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

__all__ = ["documented_by", "reader_of"]

P = ParamSpec("P")
T = TypeVar("T")


def documented_by(function: Callable[..., object]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Give a method the sections of a function's docstring, so that ``help(df.tb.smooth)`` tells all.

    Parameters
    ----------
    function : callable
        What the method calls with its frame or dataset first; its docstring is numpydoc.

    Returns
    -------
    callable
        A decorator. It keeps the method's first line and adds the function's sections without the first parameter and
        the examples, which call the function.

    Examples
    --------
    >>> from tbframe.verbs.best import last
    >>> @documented_by(last)
    ... def method(self): "Keep the last row."
    >>> method.__doc__.splitlines()[:4]
    ['Keep the last row.', '', 'Returns', '-------']
    """
    text = inspect.cleandoc(function.__doc__ or "")
    text = re.sub(r"\n+Examples\n-+\n.*", "", text, flags=re.DOTALL)
    # The first parameter is what the accessor sits on: its line, and the indented lines below it.
    text = re.sub(r"(Parameters\n-+\n)\w+ : .*\n(?:[ \t]+.*\n)*", r"\1", text)
    text = re.sub(r"Parameters\n-+\n\n", "", text)
    sections = text[text.index("\n\n") :] if "\n\n" in text else ""

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        method.__doc__ = inspect.cleandoc(method.__doc__ or "") + sections
        return method

    return decorate


_COMMON: Final = {
    "logdir": """logdir : str, os.PathLike, mapping or iterable
    See `tbframe.scalars`.""",
    "runs": """runs, tags : str, iterable of str or re.Pattern, optional
    A name, names, or a compiled regular expression that is searched. Default: all.""",
    "restarts": """restarts : {"purge", "latest", "keep", "mark"}, default "purge"
    What happens to values that a later start of the same run wrote over: see `tbframe.scalars`.""",
    "damaged": """damaged : {"warn", "raise", "ignore"}, default "warn"
    What happens when part of a file cannot be read: see `tbframe.scalars`.""",
    "progress": """progress : bool, optional
    Whether to show a progress bar. Default: for large logs, in a terminal or notebook.""",
}
_RAISES: Final = """FileNotFoundError
    If a path does not exist, or (`NoEventFilesError`) no event file is below it.
UnknownNameError
    If a run or tag of that name does not exist; the message lists near misses.
EventFileError
    If a file is damaged and ``damaged="raise"``.
ValueError, TypeError
    If an argument is none of the above, or two paths hold runs of one name."""
_WARNS: Final = """DamagedFileWarning
    For each damaged file: path, byte offset, reason, and how many bytes were passed over.
RestartWarning
    If values were dropped because of a restart, or steps still repeat or go back."""


def reader_of(function: Callable[..., object]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Give a reader the documentation of the function that builds its result.

    Parameters
    ----------
    function : callable
        What builds the frame or Dataset of one kind; its docstring is numpydoc.

    Returns
    -------
    callable
        A decorator. The reader keeps its first lines, and its sections *Parameters* (where a name means something of its own)
        and *Examples*. What all readers share is added, and what `function` says of its other parameters, *Returns*, *Raises*
        and *Warns*.
    """
    built = _sections(function)

    def decorate(reader: Callable[P, T]) -> Callable[P, T]:
        own = _sections(reader)
        described = {**_entries(built.get("Parameters", "")), **_COMMON, **_entries(own.get("Parameters", ""))}
        parameters_of = inspect.signature(reader).parameters
        parameters = [described[name] for name in parameters_of if name in described]
        raises = {**_entries(_RAISES), **_entries(built.get("Raises", ""))}
        warns = {**_entries(_WARNS), **_entries(built.get("Warns", ""))}
        if "restarts" not in parameters_of:
            warns.pop("RestartWarning", None)
        sections = {
            "Parameters": "\n".join(parameters),
            "Returns": built["Returns"].replace("with `mark`", 'with ``restarts="mark"``'),
            "Raises": "\n".join(raises.values()),
            "Warns": "\n".join(warns.values()),
            "Examples": own["Examples"],
        }
        texts = [own[""], *(f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items())]
        reader.__doc__ = "\n\n".join(texts) + "\n"
        return reader

    return decorate


def _sections(function: Callable[..., object]) -> dict[str, str]:
    """Take a numpydoc docstring apart: what comes before the first section is under ""."""
    parts = re.split(r"\n\n(\w+)\n-+\n", inspect.cleandoc(function.__doc__ or ""))
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def _entries(section: str) -> dict[str, str]:
    """Take a section apart into its entries, by name; several names of one entry by the first."""
    entries = re.findall(r"(?m)^\S.*(?:\n[ \t]+.*|\n(?=\n[ \t]))*", section)
    return {re.match(r"[\w.]+", entry)[0]: entry for entry in entries if re.match(r"[\w.]+", entry)}  # type: ignore[index]
