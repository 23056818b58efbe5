"""The other readers, each as its users call it. See `fresh` for what a subject is.

They may live in an environment without tbframe, so this module imports nothing of it. Where a reader keeps a sample by default
(TensorBoard), it is told to keep everything. tbparse and maidr read all there is by default, and do so here.
"""

from __future__ import annotations

import struct
import time
from pathlib import Path


def _files(logdir):
    return sorted(path for path in Path(logdir).rglob("*tfevents*") if path.is_file())


def _rows(rows):
    return {"rows": rows}


def tbparse(watch, logdir, kind):
    from tbparse import SummaryReader

    def read():
        reader = SummaryReader(logdir, extra_columns={"dir_name", "wall_time"})
        # Without TensorFlow, the values of TensorFlow 2 come as tensors.
        return len(getattr(reader, kind)) + len(reader.tensors)

    return read, _rows


def tbparse_pivot(watch, logdir):
    from tbparse import SummaryReader

    def describe(frame):
        values = frame.drop(columns="step")
        return {"rows": int(values.count().sum()), "total": float(values.sum().sum())}

    return lambda: SummaryReader(logdir, pivot=True).scalars, describe


def maidr(watch, logdir, kind):
    import matplotlib

    matplotlib.use("Agg")
    from maidr.tensorboard import load_histograms, load_scalars

    load = {"scalars": load_scalars, "histograms": load_histograms}[kind]
    return lambda: sum(len(series) for runs in load(logdir).values() for series in runs.values()), _rows


def event_accumulator(watch, logdir, kind):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def read():
        rows = 0
        for run in sorted({str(path.parent) for path in _files(logdir)}):
            events = EventAccumulator(run, {"scalars": 0, "histograms": 0, "tensors": 0, "images": 1})
            events.Reload()
            get = {"scalars": events.Scalars, "histograms": events.Histograms}[kind]
            tags = events.Tags()
            rows += sum(len(get(tag)) for tag in tags[kind]) + sum(len(events.Tensors(tag)) for tag in tags["tensors"])
        return rows

    return read, _rows


def rust_server(watch, logdir, kind):
    """TensorBoard's default server, asked through its own Python client, as the plugins ask it."""
    from tensorboard import context
    from tensorboard.data import server_ingester
    from tensorboard.util import grpc_util

    server = _spawned_by(server_ingester)

    def read():
        ingester = server_ingester.SubprocessServerDataIngester(
            server_binary=server_ingester.get_server_binary(),
            logdir=logdir,
            reload_interval=0,
            channel_creds_type=grpc_util.ChannelCredsType.LOCAL,
            samples_per_plugin={"scalars": 10**9, "histograms": 10**9},
        )
        ingester.start()
        data, request = ingester.data_provider, context.RequestContext()
        list_series, read_series = (
            (data.list_scalars, data.read_scalars) if kind == "scalars" else (data.list_tensors, data.read_tensors)
        )

        def state():
            listed = list_series(request, experiment_id="", plugin_name=kind)
            return [(tag.max_step, tag.max_wall_time) for run in listed.values() for tag in run.values()]

        watch.waited += _wait_until_still(state)
        runs = read_series(request, experiment_id="", plugin_name=kind, downsample=10**9)
        watch.add_process(server[0].pid)
        return sum(len(series) for run in runs.values() for series in run.values())

    def describe(rows):
        server[0].kill()
        server[0].wait()
        return {"rows": rows}

    return read, describe


def _spawned_by(ingester_module):
    """Return a list that will hold the server's process, and spare its users a needless wait.

    The ingester looks for the server's port after 10 milliseconds, and then every half second. Here it goes on when it is there.
    """
    import subprocess
    from types import SimpleNamespace

    spawned, port_files = [], []

    def spawn(command, **kwargs):
        port_files.extend(Path(word.partition("=")[2]) for word in command if word.startswith("--port-file="))
        spawned.append(subprocess.Popen(command, **kwargs))
        return spawned[-1]

    def sleep(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (port_files[0].exists() and port_files[0].read_text().endswith("\n")):
            time.sleep(0.002)

    ingester_module.subprocess = SimpleNamespace(Popen=spawn, PIPE=subprocess.PIPE)
    ingester_module.time = SimpleNamespace(sleep=sleep)
    return spawned


def _wait_until_still(state, still=0.5, pause=0.005):
    """Wait until the server has loaded everything, which it does not tell, and return for how long nothing had changed."""
    last, changed = None, time.perf_counter()
    while not last or time.perf_counter() - changed < still:
        now = state()
        if now != last:
            last, changed = now, time.perf_counter()
        time.sleep(pause)
    return time.perf_counter() - changed


def _events(logdir):
    from tensorboard.compat.proto.event_pb2 import Event

    for path in _files(logdir):
        content, at, name = path.read_bytes(), 0, str(path)
        while at < len(content):
            (length,) = struct.unpack_from("<Q", content, at)
            yield name, Event.FromString(content[at + 12 : at + 12 + length])
            at += length + 16


def protobuf(watch, logdir, kind):
    """A loop with one protobuf object per event, into a frame."""
    import numpy as np
    import pandas as pd
    import tensorboard.compat.proto.event_pb2  # noqa: F401 - imports are not timed

    def number(value):
        tensor = value.WhichOneof("value") == "tensor"
        return struct.unpack("<f", value.tensor.tensor_content)[0] if tensor else value.simple_value

    def buckets(value):
        if value.WhichOneof("value") == "tensor":
            return np.frombuffer(value.tensor.tensor_content).reshape(-1, 3)
        return np.stack([value.histo.bucket_limit, value.histo.bucket])

    member, get = {"scalars": ("simple_value", number), "histograms": ("histo", buckets)}[kind]

    def read():
        rows = []
        for path, event in _events(logdir):
            for value in event.summary.value:
                if value.WhichOneof("value") in (member, "tensor"):
                    rows.append((path, value.tag, event.step, event.wall_time, get(value)))
        return pd.DataFrame(rows, columns=["run", "tag", "step", "wall_time", "value"])

    return read, lambda frame: {"rows": len(frame)}


# Work on what was read ------------------------------------------------------------------------------------------------


def _tensors(logdir):
    """The histograms of TensorFlow 2 by tag, as tbframe orders them, each with shape (k, 3)."""
    import numpy as np

    found = {}
    for _, event in _events(logdir):
        for value in event.summary.value:
            found.setdefault(value.tag, []).append(np.frombuffer(value.tensor.tensor_content).reshape(-1, 3))
    return [histogram for tag in sorted(found) for histogram in found[tag]]


def maidr_rebin(watch, logdir):
    import matplotlib

    matplotlib.use("Agg")
    from maidr.tensorboard.histograms import rebin

    histograms = _tensors(logdir)
    return (
        lambda: rebin(histograms, 30),
        lambda result: {"rows": len(result[1]), "edges": result[0].tolist(), "sums": result[1].sum(axis=0).tolist()},
    )


def tensorboard_compress(watch, logdir):
    from tensorboard.plugins.distribution.compressor import compress_histogram

    histograms = _tensors(logdir)

    def describe(result):
        return {
            "rows": len(result),
            "sums": [sum(value for _, value in column) for column in zip(*result, strict=True)],
        }

    return lambda: [compress_histogram(histogram) for histogram in histograms], describe


def tensorboardx_write(watch, folder, steps):
    import tempfile

    import numpy as np
    from tensorboardX import SummaryWriter

    tags = [f"{part}/{name}" for part in ("train", "valid") for name in "abcde"]
    values = np.random.default_rng(0).standard_normal((int(steps), len(tags))).astype("f4").tolist()

    place = tempfile.mkdtemp(dir=folder)

    def write():
        with SummaryWriter(place) as writer:
            for step, row in enumerate(values):
                for tag, value in zip(tags, row, strict=True):
                    writer.add_scalar(tag, value, step, walltime=1.7e9 + step)

    return write, lambda _: {"rows": int(steps) * len(tags), "total": sum(map(sum, values)), "folder": place}
