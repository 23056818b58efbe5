"""What the arithmetic on series refuses of its arguments."""

from __future__ import annotations

import numbers

import numpy as np

__all__ = ["check_number", "check_size"]


def check_number(name: str, value: object, expected: str) -> None:
    """Refuse what is no real number.

    Parameters
    ----------
    name : str
        What the argument is called.
    value : object
        What was given.
    expected : str
        What it should be, for the message.

    Raises
    ------
    TypeError
        If it is no real number, or a bool.

    Examples
    --------
    >>> check_number("weight", "0.6", "a number from 0 to 1")
    Traceback (most recent call last):
    ...
    TypeError: weight='0.6': expected a number from 0 to 1, found str
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r}: expected {expected}, found {type(value).__name__}")


def check_size(size: int) -> None:
    """Refuse a number of points that is no whole number, or below 1.

    Parameters
    ----------
    size : int
        How many points to keep.

    Raises
    ------
    TypeError, ValueError
        If it is not an integer, or less than 1.

    Examples
    --------
    >>> check_size(0)
    Traceback (most recent call last):
    ...
    ValueError: n=0: expected at least 1 point to keep per series
    """
    if isinstance(size, bool) or not isinstance(size, int | np.integer):
        raise TypeError(
            f"n={size!r}: expected a whole number of points to keep per series, found {type(size).__name__}"
        )
    if size < 1:
        raise ValueError(f"n={size!r}: expected at least 1 point to keep per series")
