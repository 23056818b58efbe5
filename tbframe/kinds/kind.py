"""The kinds of summary, and which rows belong to which: one line a kind."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tbframe.events import values

__all__ = ["KINDS", "NAMES", "NO_KIND", "Kind", "by_member", "code_of", "of_plugin"]


class Kind(NamedTuple):
    """A kind of summary: what a public reader returns."""

    name: str
    """The reader's name."""
    members: tuple[int, ...] = ()
    """What rows of this kind hold whatever their metadata say, see `events.values`."""
    plugins: tuple[str, ...] = ()
    """The plugins whose tensors are of this kind."""


KINDS: Final = (
    Kind("scalars", (values.SIMPLE,), ("scalars",)),
    Kind("histograms", (values.HISTO,), ("histograms",)),
    Kind("images", (values.IMAGE,), ("images",)),
    Kind("audio", (values.AUDIO,), ("audio",)),
    Kind("text", (), ("text",)),
    Kind("tensors"),
    Kind("pr_curves", (), ("pr_curves",)),
    Kind("hparams", (), ("hparams",)),
    Kind("meshes", (), ("mesh",)),
    Kind("graph", (values.GRAPH, values.META_GRAPH), ("graph_run_metadata_graph", "graph_keras_model")),
    Kind("node_stats", (values.RUN_METADATA,), ("graph_run_metadata",)),
    Kind("custom_scalars", (), ("custom_scalars",)),
    Kind("embeddings"),  # of which no event tells: they lie beside the event files
)
NAMES: Final = tuple(kind.name for kind in KINDS)
NO_KIND: Final = 255
"""Of rows that no reader returns: version records, session logs, empty summaries."""


def code_of(name: str) -> int:
    """Return the number of a kind.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    int
        Its place in `KINDS`.
    """
    return NAMES.index(name)


def of_plugin(plugin: str) -> int:
    """Return the kind of a plugin's tensors.

    Parameters
    ----------
    plugin : str
        Its name, "" for none.

    Returns
    -------
    int
        The number of the kind; that of "tensors" for a plugin without a reader of its own.
    """
    return next((code for code, kind in enumerate(KINDS) if plugin in kind.plugins), code_of("tensors"))


def by_member() -> np.ndarray:
    """Return the kind of each member of `events.values`.

    Returns
    -------
    ndarray of uint8, shape (256,)
        `NO_KIND` where the metadata decide, or no reader is.
    """
    table = np.full(256, NO_KIND, np.uint8)
    for code, kind in enumerate(KINDS):
        table[list(kind.members)] = code
    return table
