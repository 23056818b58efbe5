"""A log directory with the readers as methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd
import xarray as xr

from tbframe import discovery
from tbframe.kinds import overview, scalars
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.frames import count_repeats
from tbframe.log_files import DamagePolicy, LogFiles, say_restarts
from tbframe.names import NameFilter
from tbframe.restarts import Policy

if TYPE_CHECKING:
    from tbframe.buckets import Edges
    from tbframe.kinds.graph import Graph
    from tbframe.kinds.session_metrics import How

# Kinds other than scalars are imported by the methods that ask for them: `import tbframe` stays cheap.
__all__ = ["LogDir"]

Result = TypeVar("Result", pd.DataFrame, xr.Dataset)


class LogDir(LogFiles):
    """A log directory, read once and kept.

    `tbframe.open` returns one. Its methods are the readers of the package; what was read is kept, so that a second reader, or
    another kind, does not read the files again. `refresh` reads what was added since.

    Parameters
    ----------
    logdir : str, os.PathLike, mapping or iterable
        See `tbframe.scalars`.

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or (`NoEventFilesError`) no event file is below it.

    Examples
    --------
    >>> import tbframe
    >>> log = tbframe.open(tbframe.sample_logs())
    >>> len(log.scalars(tags="lr")), len(log.scalars(tags="loss/train"))
    (120, 120)
    """

    def __repr__(self) -> str:
        from tbframe.kinds import showing

        return showing.as_text(self._resolved("ignore", None), discovery.describe(self._logdir))

    def _repr_html_(self) -> str:
        from tbframe.kinds import showing

        return showing.as_html(self._resolved("ignore", None), discovery.describe(self._logdir))

    def runs(self) -> pd.DataFrame:
        """Return the runs, one row each. See `tbframe.runs`."""
        return overview.runs_frame(self._resolved("warn", None))

    def tags(self) -> pd.DataFrame:
        """Return the tags, one row per run, tag and kind. See `tbframe.tags`."""
        return overview.tags_frame(self._resolved("warn", None))

    def index(self) -> dict[str, dict[str, Any]]:
        """Return the tags of each kind, by run. See `tbframe.index`."""
        return overview.index(self._resolved("warn", None))

    def scalars(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """Return the scalars, one row per value. See `tbframe.scalars`."""
        catalog, selection = self._select("scalars", runs, tags, restarts, damaged, progress)
        frame = scalars.frame(catalog, selection, mark=restarts == "mark")
        return self._finished(frame, selection, restarts, damaged)

    def histograms(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
        edges: Edges = "clipped",
    ) -> xr.Dataset:
        """Return the histograms, step × bin. See `tbframe.histograms`."""
        from tbframe.buckets import check_edges
        from tbframe.kinds import histograms

        check_edges(edges)
        catalog, selection = self._select("histograms", runs, tags, restarts, damaged, progress)
        result = histograms.dataset(catalog, selection, runs, tags, edges=edges, mark=restarts == "mark")
        return self._finished(result, selection, restarts, damaged, _repeats_of(result))

    def histograms_each(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
        edges: Edges = "clipped",
    ) -> Iterator[tuple[str, str, xr.Dataset]]:
        """Return the histograms of one series after the other.

        For logs whose series together would be very large: unlike `histograms`, this needs no more memory than the largest of
        them.

        Parameters
        ----------
        runs, tags, restarts, damaged, progress, edges
            See `tbframe.histograms`.

        Returns
        -------
        iterator of (str, str, Dataset)
            Run, tag and the histograms (step, bin) of each series, by run and then by tag, in natural order. Each is read when
            its turn comes.

        Raises
        ------
        UnknownNameError, EventFileError, ValueError, TypeError
            As `tbframe.histograms`.

        Examples
        --------
        >>> import tbframe
        >>> log = tbframe.open(tbframe.sample_logs())
        >>> [(run, tag, ds.sizes["step"]) for run, tag, ds in log.histograms_each(tags="0.weight")]
        [('adam-1e-2', '0.weight', 7)]
        """
        from tbframe.buckets import check_edges
        from tbframe.kinds import histograms

        check_edges(edges)
        catalog, selection = self._select("histograms", runs, tags, restarts, damaged, progress)
        step = catalog.table["step"][selection.rows]
        repeats = count_repeats(step, selection.series_size)
        say_restarts(selection.dropped, selection.dropped_runs, repeats, restarts)
        attrs = {"logdir": discovery.describe(self._logdir), "restarts": restarts}

        def series() -> Iterator[tuple[str, str, xr.Dataset]]:
            for run, tag, one in histograms.each(catalog, selection, edges=edges, mark=restarts == "mark"):
                self._say_damage_of_payloads(damaged)
                yield run, tag, one.assign_attrs(attrs)

        return series()

    def images(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
        data: bool = True,
    ) -> pd.DataFrame:
        """Return the images, one row each. See `tbframe.images`."""
        from tbframe.kinds import images

        catalog, selection = self._select("images", runs, tags, restarts, damaged, progress)
        frame = images.frame(catalog, selection, data=data, mark=restarts == "mark")
        return self._finished(frame, selection, restarts, damaged)

    def audio(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
        data: bool = True,
    ) -> pd.DataFrame:
        """Return the audio clips, one row each. See `tbframe.audio`."""
        from tbframe.kinds import audio

        catalog, selection = self._select("audio", runs, tags, restarts, damaged, progress)
        frame = audio.frame(catalog, selection, data=data, mark=restarts == "mark")
        return self._finished(frame, selection, restarts, damaged)

    def text(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """Return the texts, one row per string. See `tbframe.text`."""
        from tbframe.kinds import text

        catalog, selection = self._select("text", runs, tags, restarts, damaged, progress)
        frame = text.frame(catalog, selection, mark=restarts == "mark")
        return self._finished(frame, selection, restarts, damaged)

    def tensors(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """Return the other tensors, one row each. See `tbframe.tensors`."""
        from tbframe.kinds import tensors

        catalog, selection = self._select("tensors", runs, tags, restarts, damaged, progress)
        frame = tensors.frame(catalog, selection, mark=restarts == "mark")
        return self._finished(frame, selection, restarts, damaged)

    def pr_curves(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
    ) -> xr.Dataset:
        """Return the precision-recall curves, step × threshold. See `tbframe.pr_curves`."""
        from tbframe.kinds import pr_curves

        catalog, selection = self._select("pr_curves", runs, tags, restarts, damaged, progress)
        result = pr_curves.dataset(catalog, selection, runs, tags, mark=restarts == "mark")
        return self._finished(result, selection, restarts, damaged, _repeats_of(result))

    def meshes(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
    ) -> xr.Dataset:
        """Return the meshes: vertices, faces and colours of each step. See `tbframe.meshes`."""
        from tbframe.kinds import meshes

        catalog, selection = self._select("meshes", runs, tags, restarts, damaged, progress)
        result = meshes.dataset(catalog, selection, runs, tags, mark=restarts == "mark")
        return self._finished(result, selection, restarts, damaged, _repeats_of(result))

    def hparams(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
        metrics: How = "last",
        fold: bool = False,
    ) -> pd.DataFrame:
        """Return hyperparameters and metrics, one row per session. See `tbframe.hparams`."""
        from tbframe.kinds import hparams

        catalog = self._resolved(damaged, progress)
        frame = hparams.frame(catalog, runs=runs, tags=tags, restarts=restarts, metrics=metrics, fold=fold)
        frame.attrs["tbframe"] |= {"logdir": discovery.describe(self._logdir), "restarts": restarts}
        say_restarts(frame.attrs["tbframe"]["dropped"], (), 0, restarts)
        self._say_damage_of_payloads(damaged)
        return frame

    def custom_scalars(
        self,
        *,
        runs: NameFilter = None,
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """Return the charts of TensorBoard's custom scalars. See `tbframe.custom_scalars`."""
        from tbframe.kinds import custom_scalars

        catalog, selection = self._select("custom_scalars", runs, None, "keep", damaged, progress)
        frame = custom_scalars.frame(catalog, selection)
        frame.attrs["tbframe"]["logdir"] = discovery.describe(self._logdir)
        self._say_damage_of_payloads(damaged)
        return frame

    def graph(self, *, run: str | None = None, tag: str | None = None, step: int | None = None) -> Graph:
        """Return a graph. See `tbframe.graph`."""
        from tbframe.kinds import graphs

        graph = graphs.read(self._resolved("warn", None), run, tag, step)
        self._say_damage_of_payloads("warn")
        return graph

    def node_stats(
        self,
        *,
        runs: NameFilter = None,
        tags: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """Return time and memory of every execution of every node. See `tbframe.node_stats`."""
        from tbframe.kinds import node_stats

        catalog, selection = self._select("node_stats", runs, tags, restarts, damaged, progress)
        frame = node_stats.frame(catalog, selection, mark=restarts == "mark")
        return self._finished(frame, selection, restarts, damaged)

    def run_metadata(self, *, run: str, tag: str) -> list[Any]:
        """Return the RunMetadata messages of one tag, for those who want more than `node_stats` has.

        Parameters
        ----------
        run, tag : str
            Where they were logged.

        Returns
        -------
        list of protobuf message
            One for each value, in the order logged.

        Raises
        ------
        UnknownNameError
            If the run or tag does not exist.
        EventFileError
            If one of them is damaged.
        """
        from tbframe.kinds import node_stats

        catalog, selection = self._select("node_stats", run, tag, "keep", "warn", None)
        return node_stats.run_metadata(catalog, selection)

    def embeddings(self, *, runs: NameFilter = None, tags: NameFilter = None, data: bool = True) -> pd.DataFrame:
        """Return the projector's embeddings beside the event files. See `tbframe.embeddings`."""
        from tbframe.kinds import embeddings

        frame = embeddings.frame(self._resolved("warn", None), runs=runs, tags=tags, data=data)
        frame.attrs["tbframe"]["logdir"] = discovery.describe(self._logdir)
        return frame

    def _select(
        self,
        kind: str,
        runs: NameFilter,
        tags: NameFilter,
        restarts: Policy,
        damaged: DamagePolicy,
        progress: bool | None,
    ) -> tuple[Catalog, Selection]:
        catalog = self._resolved(damaged, progress)
        return catalog, catalog.select(kind, runs, tags, restarts)

    def _finished(
        self, result: Result, selection: Selection, restarts: Policy, damaged: DamagePolicy, repeats: int = 0
    ) -> Result:
        """Say where a result comes from, and what was dropped or found damaged on the way to it."""
        origin = {"logdir": discovery.describe(self._logdir), "restarts": restarts}
        if isinstance(result, pd.DataFrame):
            attrs = result.attrs.setdefault("tbframe", {})
            attrs |= {"dropped": selection.dropped, **origin}
            repeats = attrs.get("repeats", 0)
        else:
            result.attrs |= origin
        say_restarts(selection.dropped, selection.dropped_runs, repeats, restarts)
        self._say_damage_of_payloads(damaged)
        return result


def _repeats_of(ds: xr.Dataset) -> int:
    """Count the steps that repeat or go back. Where several series are joined, they rise."""
    return count_repeats(ds.indexes["step"].to_numpy(), [ds.sizes["step"]])
