"""All rows of a log directory in order, with their run and kind: what every reader chooses from.

Kinds, metadata and restarts are worked out last, over whole runs, because late metadata, a restart in a new file and the
growth of an earlier file all change what earlier rows mean.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tbframe import restarts
from tbframe.events import payloads as members
from tbframe.events import values
from tbframe.events.files import EventFile
from tbframe.events.metadata import NO_METADATA, SCALAR_CLASS, TagMetadata, decode_text, mesh_name, parse_metadata
from tbframe.events.rows import Rows
from tbframe.kinds.kind import NAMES, NO_KIND, by_member, code_of, of_plugin
from tbframe.names import NameFilter, choose, natural_order

__all__ = ["Catalog", "Selection", "stable_order"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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


class Catalog:
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
        self.runs, self.files, self.table = list(runs), list(files), rows
        names = [decode_text(tag) for tag in tags]
        self._mesh_of = _mesh_names(files, names)
        self.tags = natural_order({*names, *self._mesh_of.values()})
        rank = {name: i for i, name in enumerate(self.tags)}
        self._tag_rank = np.array([rank[name] for name in names], np.int32)
        place = np.zeros(max((file.code for file in files), default=-1) + 1, np.int32)
        place[[file.code for file in files]] = np.arange(len(files))
        run_rank = {run: i for i, run in enumerate(self.runs)}
        self._run_of_place = np.array([run_rank[file.run] for file in files], np.int32)
        # Rows come in long stretches of one file.
        file = rows["file"]
        first = np.flatnonzero(np.diff(file, prepend=-1))
        stretch, size = place[file[first]], np.diff(first, append=len(file))
        # A file that grew after a later one was read has its new rows last: they belong further up.
        in_order = bool((stretch[1:] >= stretch[:-1]).all())
        self._order = None if in_order else np.argsort(np.repeat(stretch, size), kind="stable")
        if not in_order:
            by_place = np.argsort(stretch, kind="stable")
            stretch, size = stretch[by_place], size[by_place]
        self._place = np.repeat(stretch, size)
        self.run = np.repeat(self._run_of_place[stretch], size)
        """Place of each row's run in `runs`."""

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of the table in the order of the streams: run by run, file by file, as written."""
        column = self.table[name]
        return column if self._order is None else column[self._order]

    @functools.cached_property
    def logged_tag(self) -> npt.NDArray[np.int32]:
        """Place in `tags` of the tag that each row was logged under."""
        tag: npt.NDArray[np.int32] = self._tag_rank[self.column("tag")]
        return tag

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
                key = run, int(self._tag_rank[code])
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
    def row_bounds(self) -> Ints:
        """Where the rows of each run begin, and where the last ends."""
        return np.searchsorted(self.run, np.arange(len(self.runs) + 1))

    def _rows_before(self, run: int, marks: str) -> tuple[list[int], list[float]]:
        """Return the STARTs or versions of a run: how many of its rows were written before each, and what each says."""
        begin = int(self.row_bounds[run])
        where, said = [], []
        record = self.column("record")
        for place in np.flatnonzero(self._run_of_place == run).tolist():
            first, last = np.searchsorted(self._place, [place, place + 1])
            for offset, what in getattr(self.files[place], marks):
                where.append(int(first + np.searchsorted(record[first:last], offset)) - begin)
                said.append(what)
        return where, said

    @functools.cached_property
    def starts(self) -> dict[int, tuple[list[int], list[float]]]:
        """Of each run with a SessionLog.START: how many of its rows were written before each, and the step of each."""
        runs = {run for run, file in zip(self._run_of_place.tolist(), self.files, strict=True) if file.starts}
        return {run: self._rows_before(run, "starts") for run in sorted(runs)}

    @functools.cached_property
    def superseded(self) -> Bools:
        """Whether a restart superseded each row: by a SessionLog.START, or by steps alone where the log is that old."""
        result = np.zeros(len(self.run), bool)
        step = self.column("step")
        for run, (where, said) in self.starts.items():
            rows = slice(*self.row_bounds[run : run + 2])
            result[rows] |= restarts.superseded_by_start(step[rows], np.array(where), np.array(said, np.int64))
        for run in self._runs_with_steps_going_back(step):
            rows = slice(*self.row_bounds[run : run + 2])
            applies = self._step_rule_applies(run)
            if applies.any():
                result[rows] |= self._superseded_by_step_rule(rows, applies)
        return result

    def _runs_with_steps_going_back(self, step: Ints) -> list[int]:
        back = np.flatnonzero((step[1:] < step[:-1]) & (self.run[1:] == self.run[:-1]))
        runs: list[int] = np.unique(self.run[back]).tolist()
        return runs

    def _step_rule_applies(self, run: int) -> Bools:
        """Tell for each row of a run whether the last version record before it is older than 2, or there was none."""
        size = int(self.row_bounds[run + 1] - self.row_bounds[run])
        where, said = self._rows_before(run, "versions")
        applies = np.ones(size, bool)
        for row, version in zip(where, said, strict=True):
            applies[row:] = version < 2
        # A record that was damaged may have been the version record: no row is dropped on its account.
        first = next(file for file, of in zip(self.files, self._run_of_place.tolist(), strict=True) if of == run)
        if first.damage and first.damage[0].offset == 0 and not first.versions:
            applies[: min(where, default=size)] = False
        return applies

    def _superseded_by_step_rule(self, rows: slice, applies: Bools) -> Bools:
        what, step = self.column("what")[rows], self.column("step")[rows]
        summary = (what < values.VERSION) | (what == values.EMPTY)
        event = np.cumsum(
            (np.diff(self.column("record")[rows], prepend=-1) != 0) | (np.diff(self._place[rows], prepend=-1) != 0)
        )
        tag = np.where(what == values.EMPTY, -1, self.logged_tag[rows])
        result = np.zeros(len(what), bool)
        result[summary] = restarts.superseded_by_step_rule(
            step[summary], tag[summary], event[summary], applies[summary]
        )
        return result

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
            series = key if self.tag is self.logged_tag else self.run[rows] * np.int64(len(self.tags)) + self.logged_tag[rows]
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
