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
from tbframe.kinds.graph import Graph
from tbframe.logdir import LogDir
from tbframe.plotting.charts import Chart, ridgelines
from tbframe.readers import (
    audio,
    custom_scalars,
    embeddings,
    graph,
    histograms,
    hparams,
    images,
    index,
    meshes,
    node_stats,
    open,
    pr_curves,
    runs,
    scalars,
    tags,
    tensors,
    text,
)
from tbframe.samples import sample_logs
from tbframe.verbs.importing import read_csv
from tbframe.verbs.writing import write

__all__ = [
    "AccessorError",
    "Chart",
    "DamagedFileWarning",
    "EventFileError",
    "Graph",
    "LogDir",
    "NoEventFilesError",
    "RestartWarning",
    "TbframeError",
    "UndecodableValueWarning",
    "UnknownNameError",
    "audio",
    "custom_scalars",
    "embeddings",
    "graph",
    "histograms",
    "hparams",
    "images",
    "index",
    "meshes",
    "node_stats",
    "open",
    "pr_curves",
    "read_csv",
    "ridgelines",
    "runs",
    "sample_logs",
    "scalars",
    "tags",
    "tensors",
    "text",
    "write",
]

__version__ = "0.1.0"
