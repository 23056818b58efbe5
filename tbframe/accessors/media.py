"""``df.tb`` of frames that do not hold scalars: images, clips, texts, layouts, node statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.documenting import documented_by
from tbframe.verbs import audio_verbs, image_verbs, node_stats, text_verbs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tbframe.kinds.graph import Graph
    from tbframe.plotting.style import AxesLike

__all__ = ["MediaMethods"]


class MediaMethods:
    """Methods of `FrameAccessor` for frames of other kinds than scalars."""

    _frame: pd.DataFrame

    def decode(self) -> pd.Series[Any]:
        """Decode images to pixels, or audio clips to samples.

        Returns
        -------
        Series of ndarray
            With the index of the frame. Of images "pixels": uint8 (height, width, channels), or (frames, height, width,
            channels) of an animation; grey of 16 bits is uint16. Of clips "samples": float64 (frames, channels), from -1 up
            to less than 1 for integers. None where the bytes cannot be decoded.

        Raises
        ------
        AccessorError
            If the frame lacks a column, as one read with ``data=False`` does.
        ValueError
            If an image has more pixels than Pillow deems safe.

        Warns
        -----
        UndecodableValueWarning
            For each run and tag with bytes that cannot be decoded.
        """
        verb = audio_verbs.decode if "sample_rate" in self._frame.columns else image_verbs.decode
        return verb(self._frame)

    def show(
        self, *, max_images: int | None = 48, columns: int | None = None, ax: AxesLike | None = None
    ) -> Axes | npt.NDArray[np.object_]:
        """Draw images in a grid, each labelled with its step and sample. See `tbframe.plotting.images.show`.

        Parameters
        ----------
        max_images : int or None
            Draw at most so many, evenly spread by position with the first and the last kept; None draws all.
        columns : int or None
            How many in a row; None puts the samples of a step in a row, else 8.
        ax : Axes, array of Axes or None
            Where to draw, one for each image; None makes a figure.

        Returns
        -------
        Axes or array of Axes
            One for each image.

        Raises
        ------
        AccessorError
            If the frame lacks a column, as one read with ``data=False`` does.
        """
        from tbframe.plotting.images import show

        return show(self._frame, max_images=max_images, columns=columns, ax=ax)

    @documented_by(text_verbs.tables)
    def tables(self) -> pd.DataFrame:
        """Put texts that were logged as tables into tables."""
        return text_verbs.tables(self._frame)

    @documented_by(node_stats.by_scope)
    def by_scope(
        self, depth: int | None = 1, *, rule: node_stats.Rule = "sum", graph: Graph | None = None
    ) -> pd.DataFrame:
        """Add up the time and memory of the nodes in each scope."""
        return node_stats.by_scope(self._frame, depth, rule=rule, graph=graph)

    def slowest(self, depth: int | None = None, *, n: int = 20, ax: AxesLike | None = None) -> list[Axes]:
        """Draw the nodes or scopes that take the most time, and the most memory.

        Parameters
        ----------
        depth : int or None
            How many scopes deep; None shows nodes.
        n : int
            How many bars, at most.
        ax : array of two Axes, optional
            To draw on; default is a new figure.

        Returns
        -------
        list of Axes
            Time, memory.

        Raises
        ------
        AccessorError
            If the frame lacks a column.
        """
        from tbframe.plotting.node_stats import draw_node_stats

        return draw_node_stats(self._frame, depth, n=n, ax=ax)

    def charts(self, scalars: pd.DataFrame, *, ax: AxesLike | None = None) -> list[Axes]:
        """Draw the charts of a layout, as `tbframe.custom_scalars` returns it.

        Parameters
        ----------
        scalars : DataFrame
            With run, tag, step and value.
        ax : Axes or array of Axes, optional
            One for each chart; default is a new figure.

        Returns
        -------
        list of Axes
            One for each chart.

        Raises
        ------
        AccessorError
            If a frame lacks a column.
        ValueError
            If an expression of the layout is no regular expression.
        """
        from tbframe.plotting.layout_charts import draw_layout

        return draw_layout(self._frame, scalars, ax=ax)
