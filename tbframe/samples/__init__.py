"""Small real logs that ship with the package.

Written by PyTorch's SummaryWriter (runs ``adam-1e-2`` and ``adam-1e-3`` with their sub-runs: a small classifier trained on
scikit-learn's digits, every kind of summary that the writer has).
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["sample_logs"]


def sample_logs() -> Path:
    """Return the path of the small real logs that ship with the package.

    Returns
    -------
    pathlib.Path
        A log directory.

    Examples
    --------
    >>> import tbframe
    >>> sorted(p.name for p in tbframe.sample_logs().iterdir())
    ['adam-1e-2', 'adam-1e-3']
    """
    return Path(__file__).parent / "logs"
