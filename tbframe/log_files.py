"""The files of a log directory: found, read, kept, and read on when they grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, Self, TypeAlias, get_args

from tbframe import discovery
from tbframe.errors import DamagedFileWarning, EventFileError, RestartWarning, warn
from tbframe.events import payloads
from tbframe.events.files import EventFile
from tbframe.events.interning import Interner
from tbframe.events.loading import load
from tbframe.events.rows import Rows
from tbframe.events.windows import WINDOW
from tbframe.kinds.catalog import Catalog
from tbframe.restarts import Policy

__all__ = ["DamagePolicy", "LogFiles", "say_restarts"]

DamagePolicy: TypeAlias = Literal["warn", "raise", "ignore"]

_BAR_AFTER_SECONDS = 1.0
_BAR_ABOVE_BYTES = 1 << 28


class LogFiles:
    """What has been read of a log directory.

    Parameters
    ----------
    logdir : str, os.PathLike, mapping or iterable
        See `tbframe.scalars`.

    Raises
    ------
    FileNotFoundError
        If a path does not exist, or (`NoEventFilesError`) no event file is below it.
    """

    def __init__(self, logdir: discovery.LogDirLike) -> None:
        # An iterator would be used up by the first listing.
        self._logdir = logdir if isinstance(logdir, str) or hasattr(logdir, "__fspath__") else _kept(logdir)
        self._listing = discovery.list_runs(self._logdir)
        self._files: dict[tuple[str, str], EventFile] = {}
        self._rows = Rows()
        self._tags = Interner()
        self._codes = 0
        self._catalog: Catalog | None = None
        self._read = False
        self._said: set[tuple[str, object]] = set()
        self._window_size = WINDOW

    def refresh(self) -> Self:
        """Look for new runs and files, and read what was added to the known ones.

        What the readers return afterwards equals what they return for the directory opened anew. A file that was replaced,
        cut or rewritten is read again; one that was deleted is forgotten.

        Returns
        -------
        LogDir
            Itself.

        Raises
        ------
        FileNotFoundError
            If the directory is gone.
        """
        self._listing = discovery.list_runs(self._logdir)
        if self._read:
            self._load(None)
        return self

    def verify(self) -> Self:
        """Verify the records that were passed over whole, by reading them.

        Large payloads that no reader asked for are not read, so that their checksums stay unverified (``unchecked`` in
        `runs`). Damage that is found is warned of, and counted in `runs`.

        Returns
        -------
        LogDir
            Itself.

        Warns
        -----
        DamagedFileWarning
            For each damaged file.
        """
        self._resolved("ignore", None)
        for file in self._files.values():
            if file.unchecked:
                payloads.verify(file)
        self._say_damage("warn")
        return self

    def _resolved(self, damaged: DamagePolicy, progress: bool | None) -> Catalog:
        """Read the files if that was not done, and say what is damaged."""
        if damaged not in get_args(DamagePolicy):
            raise ValueError(f"damaged={damaged!r}: expected one of {', '.join(map(repr, get_args(DamagePolicy)))}")
        if not self._read:
            self._load(progress)
        if damaged != "ignore":
            self._say_damage(damaged)
        if self._catalog is None:
            self._catalog = Catalog(list(self._listing.runs), list(self._files.values()), self._rows, self._tags.names)
        return self._catalog

    def _load(self, progress: bool | None) -> None:
        """Bring the files in line with the listing, and read what is new."""
        files: dict[tuple[str, str], EventFile] = {}
        for run, sources in self._listing.runs.items():
            for source in sources:
                known = self._files.get((run, source.path))
                if known is None or known.was_replaced():
                    known = EventFile(source, run, self._codes)
                    self._codes += 1
                files[run, source.path] = known
        gone = {file.code for file in self._files.values()} - {file.code for file in files.values()}
        if gone:
            self._rows.drop_files(gone)
        changed = [file for file in files.values() if file.has_news()]
        self._files = files
        self._catalog = None
        with _progress_bar(changed, progress) as tick:
            load(changed, self._rows, self._tags, window_size=self._window_size, progress=tick)
        self._read = True

    def _say_damage_of_payloads(self, damaged: DamagePolicy) -> None:
        """Say what was found damaged while the values were read."""
        if damaged != "ignore":
            self._say_damage(damaged)

    def _say_damage(self, damaged: DamagePolicy) -> None:
        """Warn of each file that is damaged, once, or raise for the first."""
        for path, problem in self._listing.problems:
            if damaged == "raise":
                raise EventFileError(path, 0, problem)
            self._warn_once(path, problem, f"{path} is {problem}; it was passed over")
        for file in self._files.values():
            if file.error:
                if damaged == "raise":
                    raise EventFileError(file.path, file.offset, f"cannot be read: {file.error}")
                self._warn_once(
                    file.path, file.error, f"{file.path}: cannot be read from byte {file.offset} on: {file.error}"
                )
            if not file.damage:
                continue
            first = min(file.damage)
            if damaged == "raise":
                raise EventFileError(file.path, first.offset, first.reason)
            self._warn_once(file.path, tuple(file.damage), _describe_damage(file))

    def _warn_once(self, path: str, what: object, message: str) -> None:
        if (path, what) not in self._said:
            self._said.add((path, what))
            warn(message, DamagedFileWarning)


def _kept(logdir: discovery.LogDirLike) -> discovery.LogDirLike:
    if isinstance(logdir, dict):
        return dict(logdir)
    return list(logdir) if hasattr(logdir, "__iter__") and not hasattr(logdir, "items") else logdir  # type: ignore[arg-type]


def _describe_damage(file: EventFile) -> str:
    first = min(file.damage)
    passed_over = sum(damage.passed_over for damage in file.damage)
    more = f" (the first of {len(file.damage)} damaged places)" if len(file.damage) > 1 else ""
    good = (
        "no record" if not file.records else "1 good record" if file.records == 1 else f"{file.records:,} good records"
    )
    return (
        f"{file.path}: at byte {first.offset}: {first.reason}{more}. "
        f"{passed_over:,} bytes were passed over; {good} read"
    )


def say_restarts(dropped: int, dropped_runs: tuple[str, ...], repeats: int, policy: Policy) -> None:
    """Say once what a restart dropped, and that steps still go back or repeat.

    Parameters
    ----------
    dropped : int
        How many rows were dropped.
    dropped_runs : tuple of str
        In which runs, as far as that is known.
    repeats : int
        In how many rows that are left the step is not above that of the row before.
    policy : {"purge", "latest", "keep", "mark"}
        What was asked for.

    Warns
    -----
    RestartWarning
        If there is anything to say.
    """
    said = []
    if dropped:
        runs = ", in " + ", ".join(repr(run) for run in dropped_runs[:3]) if dropped_runs else ""
        more = f" and {len(dropped_runs) - 3} more" if len(dropped_runs) > 3 else ""
        said.append(
            f"{_rows(dropped)} that a later start of the run wrote over {'was' if dropped == 1 else 'were'} dropped{runs}{more} "
            f"(restarts='keep' returns them, restarts='mark' marks them)"
        )
    if repeats and policy == "purge":
        said.append(
            f"in {_rows(repeats)} the step repeats or goes back within its run and tag "
            f"(restarts='latest' keeps the last value written for a step, as TensorBoard shows it)"
        )
    if said:
        warn("; ".join(said), RestartWarning)


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


@contextmanager
def _progress_bar(files: list[EventFile], progress: bool | None) -> Iterator[Callable[[EventFile, int], None] | None]:
    """Show how much has been read: always, never, or (None) in a terminal or notebook if it takes long."""
    total = sum(file.expected_size() for file in files) if progress is not False else 0
    if progress is False or (progress is None and total < _BAR_ABOVE_BYTES):
        yield None
        return
    from tqdm.auto import tqdm

    before = sum(file.offset for file in files)
    done: dict[str, int] = {}
    with tqdm(
        total=total - before,
        unit="B",
        unit_scale=True,
        desc="reading events",
        disable=None if progress is None else False,
        delay=_BAR_AFTER_SECONDS if progress is None else 0,
        leave=False,
    ) as bar:
        begun = {file.path: file.offset for file in files}

        def tick(file: EventFile, offset: int) -> None:
            reached = offset - begun[file.path]
            bar.update(max(reached - done.get(file.path, 0), 0))
            done[file.path] = max(reached, done.get(file.path, 0))

        yield tick
