"""What a real TensorBoard, started here on loopback and asked over HTTP, makes of what tbframe writes.

    pytest -m tensorboard

Everything is asked of its Python server and of its default one, which is written in Rust.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from tbframe.verbs.exporting import to_csv
from tbframe.verbs.sampling import downsample
from tbframe.verbs.writing import write

pytestmark = [
    pytest.mark.tensorboard,
    pytest.mark.skipif(
        importlib.util.find_spec("tensorboard") is None,
        reason=f"the package tensorboard is not installed for {sys.executable}",
    ),
]
SERVERS = [
    pytest.param("false", id="python"),
    pytest.param(
        "true",
        id="rust",
        marks=pytest.mark.skipif(
            importlib.util.find_spec("tensorboard_data_server") is None,
            reason=f"the package tensorboard-data-server is not installed for {sys.executable}",
        ),
    ),
]
EVERYTHING = "--samples_per_plugin=scalars=1000000,histograms=1000000"
PATIENCE = 60
FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Server:
    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}/"

    def ask(self, route, **query):
        url = self.base + route + ("?" + urllib.parse.urlencode(query) if query else "")
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.read()

    def json(self, route, **query):
        return json.loads(self.ask(route, **query))

    def points(self, plugin, run, tag):
        return self.json(f"data/plugin/{plugin}/{plugin}", run=run, tag=tag)

    def series(self, plugin):
        """List (run, tag) once the server has read all runs."""
        return {(run, tag) for run, tags in self.json(f"data/plugin/{plugin}/tags").items() for tag in tags}


@contextlib.contextmanager
def tensorboard(logdir, load_fast, *options):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tensorboard.main", f"--logdir={logdir}", f"--port={port}", "--host=127.0.0.1"]
    command += ["--reload_interval=1", f"--load_fast={load_fast}", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield Server(port)
    finally:
        process.terminate()
        process.wait(20)


def eventually(ask, wanted):
    """Ask until the server has started and read everything; return the last answer."""
    answer, end = None, time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            answer = ask()
            if answer == wanted:
                break
        time.sleep(0.2)
    return answer


def scalars():
    """Return a frame whose values are all exact in float32."""
    rng = np.random.default_rng(0)
    parts = []
    for run in (".", "a/b", "Läufe/ü=1"):
        for tag in ("train/loss", "", "nan", "日本語 tag"):
            n = 30
            value = rng.normal(size=n).astype(np.float32).astype(float)
            value[[3, 5, 7, 9]] = np.nan, np.inf, -np.inf, -0.0
            step = np.cumsum(rng.integers(1, 2**40, n)) - 2**40
            time_ = 1.7e9 + np.cumsum(rng.random(n))
            parts.append(pd.DataFrame({"run": run, "tag": tag, "step": step, "wall_time": time_, "value": value}))
    return pd.concat(parts, ignore_index=True)


def as_answered(frame):
    """Return a frame's points as TensorBoard's JSON has them."""
    words = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    value = [words.get(repr(value), value) for value in frame["value"].tolist()]
    return [list(point) for point in zip(frame["wall_time"].tolist(), frame["step"].tolist(), value, strict=True)]


@pytest.mark.parametrize("load_fast", SERVERS)
def test_scalars_come_back_equal(tmp_path, load_fast):
    frame = scalars()
    write(frame, tmp_path / "log")
    series = frame.groupby(["run", "tag"])
    with tensorboard(tmp_path / "log", load_fast, EVERYTHING) as server:
        assert eventually(lambda: server.series("scalars"), set(series.groups)) == set(series.groups)
        for (run, tag), rows in series:
            expected = as_answered(rows)
            answer = eventually(lambda run=run, tag=tag: server.points("scalars", run, tag), expected)
            assert answer == expected
            assert [math.copysign(1, FLOATS.get(v, v)) for *_, v in answer][9] == -1
            [csv] = to_csv(rows, tmp_path / "one.csv")
            assert csv.read_bytes() == server.ask("data/plugin/scalars/scalars", run=run, tag=tag, format="csv")


def test_float64_is_exact_in_the_python_server_and_hidden_by_the_default_one(tmp_path):
    value = np.random.default_rng(1).normal(size=20)
    value[3] = 0.5  # exact in float32: written as such
    frame = pd.DataFrame({"run": "a", "tag": "loss", "step": np.arange(20), "wall_time": 1.7e9, "value": value})
    with pytest.warns(UserWarning, match=r"19 of 20 values .* default server does not show"):
        write(frame, tmp_path / "exact")
    write(frame, tmp_path / "rounded", dtype="float32")
    expected = as_answered(frame)
    with tensorboard(tmp_path / "exact", "false") as server:
        assert eventually(lambda: server.points("scalars", "a", "loss"), expected) == expected
    if importlib.util.find_spec("tensorboard_data_server") is None:
        pytest.skip("tensorboard-data-server is not installed: no default server to ask")
    with tensorboard(tmp_path / "exact", "true") as server:
        assert eventually(lambda: server.points("scalars", "a", "loss"), [expected[3]]) == [expected[3]]
    rounded = as_answered(frame.assign(value=value.astype(np.float32).astype(float)))
    with tensorboard(tmp_path / "rounded", "true") as server:
        assert eventually(lambda: server.points("scalars", "a", "loss"), rounded) == rounded


def histograms(statistics):
    rng = np.random.default_rng(2)
    edges = np.sort(rng.normal(size=(4, 8)).astype(np.float32), axis=1).astype(float)
    counts = rng.integers(1, 100, (4, 7)).astype(float)
    dataset = xr.Dataset(
        {"counts": (("step", "bin"), counts), "buckets": ("step", np.full(4, 7))},
        {
            "step": [0, 10, 20, 30],
            "wall_time": ("step", 1.7e9 + np.arange(4.0)),
            "left": (("step", "bin"), edges[:, :-1]),
            "right": (("step", "bin"), edges[:, 1:]),
            "run": "a/b",
            "tag": "weights",
        },
    )
    known = {"value_min": edges[:, 0], "value_max": edges[:, -1], "num": counts.sum(1)}
    known |= {"value_sum": counts.sum(1), "value_sum_squares": counts.sum(1)}
    return dataset.assign({name: ("step", values) for name, values in known.items()}) if statistics else dataset


@pytest.mark.parametrize("load_fast", SERVERS)
@pytest.mark.parametrize("statistics", [False, True], ids=["tensor", "proto"])
def test_histograms_come_back_equal(tmp_path, load_fast, statistics):
    dataset = histograms(statistics)
    write(dataset, tmp_path)
    buckets = np.stack([dataset[name].values for name in ("left", "right", "counts")], axis=2)
    expected = [[1.7e9 + i, 10 * i, buckets[i].tolist()] for i in range(4)]
    with tensorboard(tmp_path, load_fast, EVERYTHING) as server:
        answer = eventually(lambda: server.points("histograms", "a/b", "weights"), expected)
    assert answer == expected


@pytest.mark.parametrize("load_fast", SERVERS)
def test_histograms_of_which_some_fit_a_proto_are_all_shown(tmp_path, load_fast):
    dataset = histograms(statistics=True).isel(step=[2, 0, 1, 3]).assign_coords(step=[0, 10, 20, 30])
    dataset["value_min"][1:] -= 1  # as after rebinning: the outer edges are no longer those of the data
    with pytest.warns(UserWarning, match=r"the statistics .* of 4 histograms were not written"):
        write(dataset, tmp_path)
    with tensorboard(tmp_path, load_fast, EVERYTHING) as server:
        steps = eventually(
            lambda: [point[1] for point in server.points("histograms", "a/b", "weights")], [0, 10, 20, 30]
        )
    assert steps == [0, 10, 20, 30]


def test_a_running_server_reads_a_second_file(tmp_path):
    frame = scalars()
    first = frame[(frame["run"] == "a/b") & (frame["tag"] == "nan")]
    second = first.assign(step=first["step"] + 2**50, wall_time=first["wall_time"] + 3600)
    write(first, tmp_path)
    with tensorboard(tmp_path, "false") as server:
        assert eventually(lambda: server.points("scalars", "a/b", "nan"), as_answered(first)) == as_answered(first)
        write(second, tmp_path)
        both = as_answered(pd.concat([first, second]))
        assert eventually(lambda: server.points("scalars", "a/b", "nan"), both) == both


def test_downsample_keeps_what_tensorboard_keeps(tmp_path):
    """The reservoir of a Python server that reads a log once."""
    sizes = {"long": 1234, "other": 1234, "short": 30, "middle": 61}
    parts = [
        pd.DataFrame({"run": "r", "tag": tag, "step": np.arange(n), "wall_time": 1.7e9, "value": np.arange(n) / 4})
        for tag, n in sizes.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    write(frame, tmp_path)
    kept = downsample(frame, 60)
    with tensorboard(tmp_path, "false", "--samples_per_plugin=scalars=60") as server:
        for tag in sizes:
            expected = as_answered(kept[kept["tag"] == tag])
            assert eventually(lambda tag=tag: server.points("scalars", "r", tag), expected) == expected
