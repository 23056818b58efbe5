"""The public readers: each opens a log directory and asks it once."""

from __future__ import annotations

from tbframe.readers.datasets import histograms, meshes, pr_curves
from tbframe.readers.frames import audio, custom_scalars, embeddings, hparams, images, node_stats, tensors, text
from tbframe.readers.graphs import graph
from tbframe.readers.listing import index, open, runs, tags
from tbframe.readers.scalars import scalars

__all__ = [
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
    "runs",
    "scalars",
    "tags",
    "tensors",
    "text",
]
