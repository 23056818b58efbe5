"""Accessor methods that carry the documentation of the functions behind them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["documented_by"]

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
