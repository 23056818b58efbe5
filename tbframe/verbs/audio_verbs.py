"""Verbs on frames of audio clips."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.kinds import wav
from tbframe.kinds.parts import objects, reader_of
from tbframe.kinds.undecodable import Undecodable
from tbframe.verbs.image_verbs import require_data

__all__ = ["decode"]


def decode(frame: pd.DataFrame) -> pd.Series:
    r"""Decode audio clips.

    Parameters
    ----------
    frame : DataFrame
        Clips: columns run, tag, step and data.

    Returns
    -------
    Series of ndarray
        Named "samples", with the index of the frame: float64 of shape (frames, channels), integers as fractions of full
        scale from -1 up to less than 1, floats as they are. None where the clip is no WAV file of integers or floats.

    Raises
    ------
    AccessorError
        If a column is missing.

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with other clips.

    Examples
    --------
    >>> header = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\4\0\0\0"
    >>> frame = pd.DataFrame({"run": "a", "tag": "b", "step": [0], "data": [header + b"\0\x40\0\x80"]})
    >>> decode(frame)[0]
    array([[ 0.5],
           [-1. ]])
    """
    require_data(frame, "decode", "audio")
    undecodable = Undecodable("audio")
    found: list[npt.NDArray[np.float64] | None] = []
    for run, tag, step, data in zip(frame["run"], frame["tag"], frame["step"], frame["data"], strict=True):
        try:
            found.append(wav.samples(data))
        except ValueError as error:
            kind = wav.sniff(reader_of(data))
            reason = (
                str(error) if kind in ("wav", "") else f"{kind} needs a decoder of its own; the column 'data' has it"
            )
            undecodable.add(str(run), str(tag), int(step), reason)
            found.append(None)
    undecodable.say()
    return objects(found).set_axis(frame.index).rename("samples")
