"""tbframe: TensorBoard event logs as pandas and xarray.

``tbframe.scalars(logdir)`` returns a tidy DataFrame; every other kind of summary has its reader too.
"""

from __future__ import annotations

import tbframe.accessors  # noqa: F401 - registers .tb
from tbframe.errors import (
    AccessorError,
    DamagedFileWarning,
    EventFileError,
    NoEventFilesError,
    RestartWarning,
    TbframeError,
    UndecodableValueWarning,
    UnknownNameError,
)
from tbframe.logdir import LogDir
from tbframe.plotting.charts import Chart, ridgelines
from tbframe.readers import histograms, index, open, runs, scalars, tags
from tbframe.samples import sample_logs
from tbframe.verbs.importing import read_csv
from tbframe.verbs.writing import write

__all__ = [
    "AccessorError",
    "Chart",
    "DamagedFileWarning",
    "EventFileError",
    "LogDir",
    "NoEventFilesError",
    "RestartWarning",
    "TbframeError",
    "UndecodableValueWarning",
    "UnknownNameError",
    "histograms",
    "index",
    "open",
    "read_csv",
    "ridgelines",
    "runs",
    "sample_logs",
    "scalars",
    "tags",
    "write",
]

__version__ = "0.1.0"
