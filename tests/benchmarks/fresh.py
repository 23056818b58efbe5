"""Time one subject in this process, which is a fresh one, and print what it took as JSON.

    python fresh.py peers.tbparse LOGDIR scalars

A subject is a function in `own` or `peers`. It imports and sets up what users have before they start, and returns the part that
is timed and a function that describes what that returned. Nothing of the benchmarks stays on the path of the readers.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
import warnings
from pathlib import Path


class Watch:
    """What a subject can say about its measurement."""

    def __init__(self) -> None:
        self.waited = 0.0
        """Seconds that passed without work; they are not charged."""
        self.elsewhere = 0
        """Peak memory of other processes, in bytes."""

    def add_process(self, process: int) -> None:
        """Charge the memory of another process, while it runs."""
        self.elsewhere += memory("VmHWM", str(process)) or 0


def memory(key: str, process: str = "self") -> int | None:
    """Return what Linux says of a process's memory (``VmRSS`` now, ``VmHWM`` at its peak), in bytes."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":")), None)


def forget_peak() -> bool:
    """Let the peak of this process's memory start from now. (That of `getrusage` cannot, and a child inherits it.)"""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def main(subject: str, *arguments: str) -> dict[str, object]:
    """Run a subject, `module.function`."""
    home = Path(__file__).parent
    sys.path[:] = [entry for entry in sys.path if entry != str(home)]
    module, _, name = subject.partition(".")
    watch = Watch()
    try:
        timed, describe = runpy.run_path(str(home / f"{module}.py"))[name](watch, *arguments)
    except ModuleNotFoundError as error:
        return {"missing": error.name}
    before = memory("VmRSS") if forget_peak() else None
    start = time.perf_counter()
    result = timed()
    seconds = time.perf_counter() - start - watch.waited
    peak = memory("VmHWM")
    above = None if before is None or peak is None else peak - before + watch.elsewhere
    return {"seconds": seconds, "peak": above, **describe(result)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(*sys.argv[1:])))
