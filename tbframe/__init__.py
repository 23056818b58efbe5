"""tbframe: TensorBoard event logs as pandas and xarray.

``tbframe.scalars(logdir)`` returns a tidy DataFrame; every other kind of summary has its reader too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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
from tbframe.readers.listing import index, open, runs, tags
from tbframe.readers.scalars import scalars
from tbframe.samples import sample_logs

if TYPE_CHECKING:
    from tbframe.kinds.graph import Graph
    from tbframe.plotting.charts import Chart, ridgelines
    from tbframe.readers.datasets import meshes, pr_curves
    from tbframe.readers.frames import audio, custom_scalars, embeddings, hparams, images, node_stats, tensors, text
    from tbframe.readers.graphs import graph
    from tbframe.readers.histograms import histograms
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

# The others are imported when they are first asked for: the main job need not wait for them.
_WHERE = {
    "Chart": "plotting.charts",
    "Graph": "kinds.graph",
    "audio": "readers.frames",
    "custom_scalars": "readers.frames",
    "embeddings": "readers.frames",
    "graph": "readers.graphs",
    "histograms": "readers.histograms",
    "hparams": "readers.frames",
    "images": "readers.frames",
    "meshes": "readers.datasets",
    "node_stats": "readers.frames",
    "pr_curves": "readers.datasets",
    "read_csv": "verbs.importing",
    "ridgelines": "plotting.charts",
    "tensors": "readers.frames",
    "text": "readers.frames",
    "write": "verbs.writing",
}


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'tbframe' has no attribute {name!r}")
    found = getattr(import_module(f"tbframe.{_WHERE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
