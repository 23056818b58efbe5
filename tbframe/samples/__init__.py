"""Small real logs that ship with the package.

``logs`` was written by PyTorch's SummaryWriter (runs ``adam-1e-2`` and ``adam-1e-3`` with their sub-runs: a small classifier
trained on scikit-learn's digits, every kind of summary that the writer has), ``logs_tf1`` by TensorFlow 1's FileWriter (runs
``train`` and ``eval``: the same task, with graph, run metadata, images, audio and text), ``logs_sweep`` by TensorFlow 2 with
TensorBoard's hparams API (an experiment and three sessions).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, TypeAlias

__all__ = ["SampleName", "sample_logs"]

SampleName: TypeAlias = Literal["torch", "tensorflow1", "sweep"]

_FOLDERS: Final[dict[str, str]] = {"torch": "logs", "tensorflow1": "logs_tf1", "sweep": "logs_sweep"}


def sample_logs(name: SampleName = "torch") -> Path:
    """Return the path of small real logs that ship with the package.

    Parameters
    ----------
    name : {"torch", "tensorflow1", "sweep"}
        Which: two runs of PyTorch with every kind of summary it writes; training and evaluation with TensorFlow 1, with the
        graph and the time and memory of its nodes; a sweep of three sessions with TensorFlow 2.

    Returns
    -------
    pathlib.Path
        A log directory.

    Raises
    ------
    ValueError
        If there are no logs of that name.

    Examples
    --------
    >>> import tbframe
    >>> sorted(p.name for p in tbframe.sample_logs().iterdir())
    ['adam-1e-2', 'adam-1e-3']
    >>> tbframe.runs(tbframe.sample_logs("sweep"))["run"].tolist()
    ['.', 'session-0', 'session-1', 'session-2']
    """
    if name not in _FOLDERS:
        raise ValueError(f"name={name!r}: expected one of {', '.join(map(repr, _FOLDERS))}")
    return Path(__file__).parent / _FOLDERS[name]
