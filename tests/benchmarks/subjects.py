"""What is compared with what, and what is claimed of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .logs import Log
from .measuring import Subject

PEERS = {
    "Rust server": "peers.rust_server",
    "tbparse": "peers.tbparse",
    "EventAccumulator": "peers.event_accumulator",
    "protobuf loop": "peers.protobuf",
    "maidr": "peers.maidr",
}
LIMIT = "compiled limit"
LIMITED = ("scalars-one", "scalars-mixed", "scalars-merged", "scalars-runs", "media")
"""The logs that the compiled limit can read."""

AT_LEAST: dict[str, dict[str, float]] = {
    "scalars-one": {"Rust server": 6, "tbparse": 50},
    "scalars-tf2": {"Rust server": 4.5},
    "scalars-mixed": {"Rust server": 4.5},
    "scalars-merged": {"Rust server": 4},
    "scalars-runs": {"Rust server": 3.5},
    "media": {"Rust server": 3, "tbparse": 200},
    "hist-tf2": {"Rust server": 3, "maidr": 4},
    "hist-torch": {"Rust server": 4, "maidr": 4},
}
"""How many times faster tbframe is than a reader, by log."""
WITHIN_LIMIT = 6.5
"""How many times the compiled limit tbframe takes at most, on `scalars-one`."""


def readers(log: Log, peers: list[str] | None = None) -> dict[str, Subject]:
    """Return tbframe and the other readers of a log, by name. maidr is compared for histograms."""
    chosen = PEERS if peers is None else peers
    others = {name: Subject(PEERS[name], (log.path, log.kind)) for name in chosen}
    if peers is None and log.kind == "scalars":
        del others["maidr"]
    return {"tbframe": Subject("own.read", (log.path, log.kind)), **others}


@dataclass(frozen=True)
class Work:
    """Something done with what was read, or with a frame."""

    title: str
    own: str
    peer: str
    peer_name: str
    log: str | None
    """The log it works on; None: it writes a million values."""
    at_least: float
    """How many times faster tbframe is."""

    def subjects(self, logs: dict[str, Log], folder: Path) -> dict[str, Subject]:
        """Return tbframe's and the other's."""
        arguments = (str(folder), "100000") if self.log is None else (logs[self.log].path,)
        return {"tbframe": Subject(self.own, arguments), self.peer_name: Subject(self.peer, arguments)}


WORK = {
    "rebin": Work(
        "`ds.tb.rebin()` of 20,000 histograms of 30 buckets", "own.rebin", "peers.maidr_rebin", "maidr `rebin`", "hist-tf2", 50
    ),
    "compress": Work(
        "`ds.tb.compress()` of 20,000 histograms of 30 buckets",
        "own.compress",
        "peers.tensorboard_compress",
        "TensorBoard `compress_histogram`",
        "hist-tf2",
        20,
    ),
    "wide": Work(
        "from a log of 1,000,000 scalars to one column per tag",
        "own.wide",
        "peers.tbparse_pivot",
        "tbparse `pivot=True`",
        "scalars-one",
        50,
    ),
    "write": Work(
        "write 1,000,000 scalars to event files", "own.write", "peers.tensorboardx_write", "tensorboardX", None, 10
    ),
}
