"""The rows of all files in order, run by run, and which of them a restart superseded.

Restarts are worked out last, over whole runs, because a restart in a new file and the growth of an earlier file change what
earlier rows mean.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tbframe import restarts
from tbframe.events import values
from tbframe.events.files import EventFile
from tbframe.events.rows import Rows

__all__ = ["Bools", "Ints", "Streams"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Streams:
    """The rows of each run as one stream: file after file in the order of their names, as written.

    Parameters
    ----------
    runs : sequence of str
        Every run, in natural order.
    files : sequence of EventFile
        Every file, in the order of its run and within it.
    rows : Rows
        Their rows, those of one file in order.
    tag_places : sequence of int
        For each tag code, the number that stands for the tag.
    """

    def __init__(self, runs: Sequence[str], files: Sequence[EventFile], rows: Rows, tag_places: Sequence[int]) -> None:
        self.runs, self.files, self.table = list(runs), list(files), rows
        self._ordered: dict[str, npt.NDArray[Any]] = {}
        self._tag_place = np.array(tag_places, np.int32)
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
        sizes = np.bincount(stretch, weights=size, minlength=len(files)).astype(np.int64)
        self._place_bounds = np.concatenate([[0], np.cumsum(sizes)])
        self.run = np.repeat(self._run_of_place[stretch], size)
        """Place of each row's run in `runs`."""

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of the table in the order of the streams: run by run, file by file, as written."""
        if self._order is None:
            return self.table[name]
        if name not in self._ordered:
            self._ordered[name] = self.table[name][self._order]
        return self._ordered[name]

    @functools.cached_property
    def logged_tag(self) -> npt.NDArray[np.int32]:
        """Place in `tags` of the tag that each row was logged under."""
        tag: npt.NDArray[np.int32] = self._tag_place[self.column("tag")]
        return tag

    @functools.cached_property
    def row_bounds(self) -> Ints:
        """Where the rows of each run begin, and where the last ends."""
        return np.searchsorted(self.run, np.arange(len(self.runs) + 1))

    def _rows_before(self, run: int, marks: str) -> tuple[list[int], list[float]]:
        """Return the STARTs or versions of a run: how many of its rows were written before each, and what each says."""
        begin = int(self.row_bounds[run])
        where, said = [], []
        record = self.column("record")
        for place in range(*np.searchsorted(self._run_of_place, [run, run + 1]).tolist()):
            first, last = self._place_bounds[place : place + 2].tolist()
            for offset, what in getattr(self.files[place], marks):
                where.append(first + int(np.searchsorted(record[first:last], offset)) - begin)
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
