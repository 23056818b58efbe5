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
        title="`ds.tb.rebin()`, histograms of 30 buckets",
        own="own.rebin",
        peer="peers.maidr_rebin",
        peer_name="maidr `rebin`",
        log="hist-tf2",
        at_least=50,
    ),
    "compress": Work(
        title="`ds.tb.compress()`, histograms of 30 buckets",
        own="own.compress",
        peer="peers.tensorboard_compress",
        peer_name="TensorBoard `compress_histogram`",
        log="hist-tf2",
        at_least=20,
    ),
    "wide": Work(
        title="`tbframe.scalars(logdir).tb.wide()`, scalars of 10 tags",
        own="own.wide",
        peer="peers.tbparse_pivot",
        peer_name="tbparse `pivot=True`",
        log="scalars-one",
        at_least=50,
    ),
    "write": Work(
        title="`tbframe.write(frame, logdir)`, scalars of 10 tags",
        own="own.write",
        peer="peers.tensorboardx_write",
        peer_name="tensorboardX `add_scalar`",
        log=None,
        at_least=10,
    ),
}
