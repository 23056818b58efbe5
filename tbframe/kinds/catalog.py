"""All rows of a log directory in order, with their run and kind: what every reader chooses from.

Kinds and metadata are worked out last, over whole runs, because late metadata and the growth of an earlier file change what
earlier rows mean.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tbframe import restarts
from tbframe.events import payloads as members
from tbframe.events import values
from tbframe.events.files import EventFile
from tbframe.events.metadata import NO_METADATA, SCALAR_CLASS, TagMetadata, decode_text, mesh_name, parse_metadata
from tbframe.events.rows import Rows
from tbframe.kinds.kind import NAMES, NO_KIND, by_member, code_of, of_plugin
from tbframe.kinds.streams import Bools, Ints, Streams
from tbframe.names import NameFilter, choose, natural_order

__all__ = ["Catalog", "Selection", "stable_order"]


@dataclass(frozen=True)
class Selection:
    """Rows of one kind in the order of a frame: by run, then by tag, then as written."""

    runs: list[str]
    """The runs that occur, in natural order."""
    tags: list[str]
    """The tags that occur, in natural order."""
    rows: Ints
    """Row numbers in the table."""
    places: Ints
    """Where they stand in the streams, as `Catalog.column` has them."""
    series_run: Ints
    """For each series, ascending: the place of its run in `runs`."""
    series_tag: Ints
    """For each series: the place of its tag in `tags`."""
    series_size: Ints
    """How many rows each series has."""
    dropped: int = 0
    """How many rows a restart superseded, that are left out."""
    dropped_runs: tuple[str, ...] = ()
    """The runs they were in."""


def stable_order(key: npt.NDArray[np.integer], bound: int) -> Ints:
    """Sort small numbers stably, in linear time.

    Parameters
    ----------
    key : ndarray of int, shape (n,)
        Numbers from 0 up to, not including, `bound`.
    bound : int
        The bound.

    Returns
    -------
    ndarray of int64, shape (n,)
        As ``argsort(kind="stable")``.
    """
    if bound <= 1 << 16:
        return np.argsort(key.astype(np.uint16, copy=False), kind="stable")  # a radix sort
    order = np.argsort((key & 0xFFFF).astype(np.uint16), kind="stable")
    return order[stable_order(key[order] >> 16, (bound >> 16) + 1)]


class Catalog(Streams):
    """The rows of all files, resolved.

    Parameters
    ----------
    runs : sequence of str
        Every run, in natural order.
    files : sequence of EventFile
        Every file, in the order of its run and within it.
    rows : Rows
        Their rows, those of one file in order.
    tags : list of bytes
        The tag of each code.
    """

    def __init__(self, runs: Sequence[str], files: Sequence[EventFile], rows: Rows, tags: Sequence[bytes]) -> None:
        names = [decode_text(tag) for tag in tags]
        self._mesh_of = _mesh_names(files, names)
        self.tags = natural_order({*names, *self._mesh_of.values()})
        rank = {name: i for i, name in enumerate(self.tags)}
        super().__init__(runs, files, rows, [rank[name] for name in names])

    @functools.cached_property
    def tag(self) -> npt.NDArray[np.int32]:
        """Place in `tags` of the name that readers know each row by: of a part of a mesh that of the mesh."""
        if not self._mesh_of:
            return self.logged_tag
        place = {name: i for i, name in enumerate(self.tags)}
        named = np.arange(len(self.tags), dtype=np.int32)
        for logged, mesh in self._mesh_of.items():
            named[place[logged]] = place[mesh]
        return np.where(self.kind == code_of("meshes"), named[self.logged_tag], self.logged_tag)

    @functools.cached_property
    def metadata(self) -> dict[tuple[int, int], TagMetadata]:
        """What the metadata say, by run and tag: the first that name a plugin or data class, else the first of all."""
        found: dict[tuple[int, int], TagMetadata] = {}
        for file, run in zip(self.files, self._run_of_place.tolist(), strict=True):
            for code, raw in file.metadata.items():
                key = run, int(self._tag_place[code])
                if key not in found or not (found[key].plugin or found[key].data_class):
                    found[key] = parse_metadata(raw.content)
        return found

    def metadata_of(self, run: int, tag: int) -> TagMetadata:
        """Return what the metadata of a series say.

        Parameters
        ----------
        run, tag : int
            Places in `runs` and `tags`.

        Returns
        -------
        TagMetadata
            Of a mesh, those of any of its parts; empty if there are none.
        """
        found = self.metadata.get((run, tag))
        if found is None and self.tags[tag] in self._mesh_of.values():
            parts = (i for i, name in enumerate(self.tags) if self._mesh_of.get(name) == self.tags[tag])
            found = next((self.metadata[run, part] for part in parts if (run, part) in self.metadata), None)
        return found or NO_METADATA

    def payloads(self, selection: Selection) -> list[bytes | None]:
        """Read the bytes of selected values.

        Parameters
        ----------
        selection : Selection
            Which.

        Returns
        -------
        list of bytes or None
            The serialized member of each value; None where its record turned out to be damaged, which is reported to its file.
        """
        return members.payloads({file.code: file for file in self.files}, self.table, selection.rows)

    def heads(self, selection: Selection, most: int) -> list[bytes]:
        """Read the first bytes of selected values, without reading the rest or verifying the records.

        Parameters
        ----------
        selection : Selection
            Which.
        most : int
            How many bytes of each.

        Returns
        -------
        list of bytes
            The beginning of the serialized member of each value.
        """
        return members.heads({file.code: file for file in self.files}, self.table, selection.rows, most)

    def opened(self, selection: Selection) -> Iterator[tuple[int, members.Member]]:
        """Open selected values one after the other, to read parts of them without verifying their records.

        Parameters
        ----------
        selection : Selection
            Which.

        Yields
        ------
        place : int
            Which value, as a place in the selection; in the order of the files.
        member : Member
            Its bytes, until the next one is taken.
        """
        yield from members.opened({file.code: file for file in self.files}, self.table, selection.rows)

    @functools.cached_property
    def kind(self) -> npt.NDArray[np.uint8]:
        """Kind of each row."""
        what = self.column("what")
        kind: npt.NDArray[np.uint8] = by_member()[what]
        tensor = np.flatnonzero((what == values.NUMBER) | (what == values.TENSOR) | (what == values.NOTHING))
        if len(tensor):
            kind[tensor] = self._kind_of_tensors(tensor, what[tensor])
        return kind

    def _kind_of_tensors(self, rows: Ints, what: npt.NDArray[np.generic]) -> npt.NDArray[np.uint8]:
        """Tell the kind of tensors, and of values without a member, from the metadata of their tag in their run."""
        key = self.run[rows].astype(np.int64) * len(self.tags) + self.logged_tag[rows]
        known = {run * len(self.tags) + tag: _kind_of(metadata) for (run, tag), metadata in self.metadata.items()}
        scalars, tensors = code_of("scalars"), code_of("tensors")
        # A tag without metadata whose other values are plain numbers is a scalar, as it is for TensorBoard.
        for other in self._keys_of_simple(set(key[~np.isin(key, list(known))].tolist())):
            known[other] = scalars
        keys = np.array(sorted(known), np.int64)
        kinds = np.array([known[k] for k in keys.tolist()], np.uint8)
        if len(keys):
            at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            kind = np.where(keys[at] == key, kinds[at], tensors).astype(np.uint8)
        else:
            kind = np.full(len(key), tensors, np.uint8)
        kind[(kind == scalars) & (what == values.TENSOR)] = tensors  # more than one number, or none
        kind[(what == values.NOTHING) & (kind != code_of("hparams"))] = NO_KIND
        return kind

    def _keys_of_simple(self, wanted: set[int]) -> set[int]:
        if not wanted:
            return set()
        simple = self.column("what") == values.SIMPLE
        return wanted & set(
            np.unique(self.run[simple].astype(np.int64) * len(self.tags) + self.logged_tag[simple]).tolist()
        )

    @functools.cached_property
    def session(self) -> npt.NDArray[np.int64]:
        """Number of the writer's session in each run: a new one begins with each START, and each file, that follows values."""
        opens = np.zeros(len(self.run) + 1, bool)
        opens[1:-1] = np.diff(self._place) != 0
        for run, (where, _) in self.starts.items():
            opens[self.row_bounds[run] + np.array(where)] = True
        held = np.flatnonzero(self.kind != NO_KIND)
        stretch, run_of = np.cumsum(opens[:-1])[held], self.run[held]
        number = np.cumsum(np.diff(stretch, prepend=-1) != 0)
        first = np.flatnonzero(np.diff(run_of, prepend=-1))
        result = np.zeros(len(self.run), np.int64)
        result[held] = number - np.repeat(number[first], np.diff(first, append=len(held)))
        return result

    def restarts_of(self, run: int) -> int:
        """Count the SessionLog.START of a run that follow values.

        Parameters
        ----------
        run : int
            Its place in `runs`.

        Returns
        -------
        int
            How many.
        """
        where, _ = self.starts.get(run, ([], []))
        held = np.flatnonzero(self.kind[slice(*self.row_bounds[run : run + 2])] != NO_KIND)
        return int(np.count_nonzero(np.array(where) > held[0])) if len(held) else 0

    def tags_of(self, kind: str) -> list[str]:
        """Return the tags that have values of a kind, in natural order."""
        some = np.zeros(len(self.tags), bool)
        some[self.tag[self.kind == code_of(kind)]] = True
        return [self.tags[i] for i in np.flatnonzero(some)]

    def select(self, kind: str, runs: NameFilter, tags: NameFilter, policy: restarts.Policy) -> Selection:
        """Choose rows of one kind.

        Parameters
        ----------
        kind : str
            The name of the kind.
        runs, tags : str, iterable of str, re.Pattern or None
            See `tbframe.names.choose`.
        policy : {"purge", "latest", "keep", "mark"}
            What happens to rows that a restart superseded.

        Returns
        -------
        Selection
            In the order of a frame.

        Raises
        ------
        UnknownNameError
            If a run or tag does not exist.
        """
        if policy not in restarts.POLICIES:
            raise ValueError(f"restarts={policy!r}: expected one of {', '.join(map(repr, restarts.POLICIES))}")
        wanted = self.kind == code_of(kind)
        if runs is not None:
            wanted &= _mask(len(self.runs), choose(self.runs, runs, "run"))[self.run]
        if tags is not None:
            known = self.tags_of(kind)
            chosen = {known[i] for i in choose(known, tags, "tag", lambda name: self._where_else(name, kind))}
            wanted &= np.array([tag in chosen for tag in self.tags], bool)[self.tag] if self.tags else wanted
        dropped = np.zeros(0, np.int64)
        if policy == "purge" and self.superseded.any():
            dropped = np.flatnonzero(wanted & self.superseded)
            wanted &= ~self.superseded
        rows = None if wanted.all() else np.flatnonzero(wanted)  # None: all, without a copy of every column
        bound = len(self.runs) * len(self.tags) + 1
        key = (self.run if rows is None else self.run[rows]) * np.int64(len(self.tags))
        key += self.tag if rows is None else self.tag[rows]
        if bound <= 1 << 16:
            key = key.astype(np.uint16)
        order = stable_order(key, bound)
        rows, key = order if rows is None else rows[order], key[order]
        if policy == "latest":
            # The parts of a mesh share their steps: each is a series of its own.
            series = (
                key
                if self.tag is self.logged_tag
                else self.run[rows] * np.int64(len(self.tags)) + self.logged_tag[rows]
            )
            late = restarts.superseded_by_next_step(self.column("step")[rows], series)
            dropped, rows, key = rows[late], rows[~late], key[~late]
        return self._grouped(rows, key, dropped)

    def _grouped(self, rows: Ints, key: Ints, dropped: Ints) -> Selection:
        opens = np.ones(len(key), bool)
        opens[1:] = key[1:] != key[:-1]
        first = np.flatnonzero(opens)
        size = np.diff(first, append=len(key))
        run, tag = np.divmod(key[first].astype(np.int64), max(len(self.tags), 1))
        some_runs, series_run = np.unique(run, return_inverse=True)
        some_tags, series_tag = np.unique(tag, return_inverse=True)
        return Selection(
            [self.runs[i] for i in some_runs],
            [self.tags[i] for i in some_tags],
            rows if self._order is None else self._order[rows],
            rows,
            series_run,
            series_tag,
            size,
            len(dropped),
            tuple(self.runs[i] for i in np.unique(self.run[dropped])),
        )

    def _where_else(self, tag: str, kind: str) -> str:
        """Say of which kinds a tag is, if it is not of the one asked for."""
        if tag not in self.tags:
            return ""
        kinds = np.unique(self.kind[self.tag == self.tags.index(tag)])
        others = [NAMES[k] for k in kinds.tolist() if k != NO_KIND]
        if not others:
            return ""
        readers = " and ".join(f"tbframe.{name}()" for name in others)
        return f"There is a tag of that name, but it holds no {kind}: read it with {readers}."


def _mesh_names(files: Sequence[EventFile], names: Sequence[str]) -> dict[str, str]:
    """Return the name of the mesh that each tag is a part of.

    The vertices, faces and colours of a mesh are logged under a tag each; TensorBoard shows them under the name that stands
    in their metadata.
    """
    found: dict[str, str] = {}
    for file in files:
        for code, raw in file.metadata.items():
            if b"mesh" in raw.content and (metadata := parse_metadata(raw.content)).plugin == "mesh":
                name = mesh_name(metadata.content)
                if name:
                    found[names[code]] = name
    return found


def _kind_of(metadata: TagMetadata) -> int:
    if not metadata.plugin and metadata.data_class == SCALAR_CLASS:
        return code_of("scalars")
    return of_plugin(metadata.plugin)


def _mask(size: int, which: list[int]) -> Bools:
    mask = np.zeros(size, bool)
    mask[which] = True
    return mask
