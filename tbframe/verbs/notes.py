"""What was done to the values of a frame, noted in its attrs, so that the caption of a figure can say it."""

from __future__ import annotations

from typing import TypeAlias

import pandas as pd

__all__ = ["Note", "add_note", "notes"]

Note: TypeAlias = "dict[str, str | float | None]"
"""A verb, under "verb", and its settings: plain JSON types."""

_ATTRS = "tbframe"
_NOTES = "made"


def add_note(frame: pd.DataFrame, before: pd.DataFrame, verb: str, **settings: str | float | None) -> None:
    """Note what a verb made of a frame, behind what was noted there. No verb depends on it.

    Parameters
    ----------
    frame : DataFrame
        What the verb returns: its attrs change.
    before : DataFrame
        What it was called on.
    verb : str
        Its name.
    **settings : str, float or None
        What a reader of the result should know.

    Examples
    --------
    >>> frame = pd.DataFrame({"value": [1.0]})
    >>> add_note(frame, frame, "smooth", weight=0.6)
    >>> frame.attrs
    {'tbframe': {'made': [{'verb': 'smooth', 'weight': 0.6}]}}
    """
    there = frame.attrs.get(_ATTRS)
    there = there if isinstance(there, dict) else {}
    frame.attrs = {**frame.attrs, _ATTRS: {**there, _NOTES: [*notes(before), {"verb": verb, **settings}]}}


def notes(frame: pd.DataFrame) -> list[Note]:
    """Return what was noted, in the order in which it was done.

    Parameters
    ----------
    frame : DataFrame
        Any.

    Returns
    -------
    list of dict
        What is no note is passed over: attrs are the user's.

    Examples
    --------
    >>> notes(pd.DataFrame())
    []
    """
    there = frame.attrs.get(_ATTRS)
    found = there.get(_NOTES) if isinstance(there, dict) else None
    return [note for note in found if isinstance(note, dict) and "verb" in note] if isinstance(found, list) else []
