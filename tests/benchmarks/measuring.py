"""Subjects in fresh processes, in turn, and the best of what they took."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Subject:
    """Something to be measured: a function of `own` or `peers`, and what it is given."""

    function: str
    arguments: tuple[str, ...] = ()


@dataclass
class Measured:
    """The runs of one subject."""

    seconds: float = float("inf")
    """Of the fastest."""
    peak: int | None = None
    """Memory of the most modest above what the imports took, in bytes."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the fastest said of its result."""

    def add(self, found: dict[str, Any]) -> None:
        """Count a run."""
        if found["seconds"] < self.seconds:
            self.seconds, self.facts = found["seconds"], found
        if found["peak"] is not None:
            self.peak = found["peak"] if self.peak is None else min(found["peak"], self.peak)

    @property
    def rows(self) -> int:
        """How many rows it found."""
        return self.facts["rows"]


class Bench:
    """Measures subjects.

    Parameters
    ----------
    peers_python : str
        The Python that has the other readers.
    repeat : int
        How often each subject runs.
    patience : float
        A subject that took more seconds is not run again. That flatters tbframe, whose best run it is compared with:
        nothing that is near its claim may be so slow.
    """

    def __init__(self, peers_python: str = sys.executable, repeat: int = 5, patience: float = float("inf")) -> None:
        self.peers_python, self.repeat, self.patience = peers_python, repeat, patience
        self.missing: dict[str, str] = {}
        """The subjects that could not run, and the module that they lack."""

    def best(self, subjects: dict[str, Subject], *, touch: str | None = None) -> dict[str, Measured]:
        """Run subjects in turn, as often as they are to be repeated.

        Parameters
        ----------
        subjects : dict of str to Subject
            By the names to be used in the result.
        touch : str, optional
            A directory whose files are to be in the page cache.

        Returns
        -------
        dict of str to Measured
            Without those whose modules are not installed.
        """
        if touch is not None:
            for path in Path(touch).rglob("*tfevents*"):
                path.read_bytes()
        measured: dict[str, Measured] = {}
        for _ in range(self.repeat):
            for name, subject in subjects.items():
                if subject.function in self.missing or (name in measured and measured[name].seconds > self.patience):
                    continue
                found = self.once(subject)
                if "missing" in found:
                    self.missing[subject.function] = found["missing"]
                else:
                    measured.setdefault(name, Measured()).add(found)
        return measured

    def once(self, subject: Subject) -> dict[str, Any]:
        """Run a subject in a fresh process, and return what it printed."""
        own = subject.function.startswith("own.")
        environment = dict(os.environ)
        if own:  # the checkout, installed or not
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
        command = [sys.executable if own else self.peers_python, str(HERE / "fresh.py"), subject.function]
        done = subprocess.run([*command, *subject.arguments], env=environment, cwd=HERE, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{subject} failed:\n{done.stderr[-4000:]}")
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        if own and "missing" in found:
            raise RuntimeError(f"{subject} lacks the module {found['missing']!r}")
        return found


def compile_limit(folder: Path) -> Path | None:
    """Compile `limit.c`, if there is a C compiler."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return None
    program = folder / "limit"
    subprocess.run([compiler, "-O3", "-o", str(program), str(HERE / "limit.c")], check=True)
    return program


def run_limit(program: Path, logdir: str, repeat: int) -> Measured:
    """Run the compiled limit on a log."""
    files = sorted(str(path) for path in Path(logdir).rglob("*tfevents*"))
    best = Measured()
    for _ in range(repeat):
        words = subprocess.run([str(program), *files], capture_output=True, text=True, check=True).stdout.split()
        best.add({"rows": int(words[1]), "seconds": float(words[5]), "peak": None})
    return best


def default_folder() -> Path:
    """Return where the logs are kept unless another folder is given."""
    return Path(tempfile.gettempdir()) / "tbframe-benchmarks"
