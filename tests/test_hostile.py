"""Logs made to do harm: what few bytes claim takes little memory and time, and is refused or said; the rest is read."""

from __future__ import annotations

import re
import struct
import tracemalloc
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from event_bytes import field, timed
from media_logs import Value, image, strings, write
from test_hparams import started

import tbframe
from tbframe.events.messages import message_class
from tbframe.kinds.graph import Graph

MB = 1 << 20
MESH = message_class("MeshPluginData")(name="strings", content_type=1).SerializeToString()


@contextmanager
def at_most(megabytes: int) -> Iterator[None]:
    """Fail if more memory is taken at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * MB
    finally:
        tracemalloc.stop()


def claiming(kind: str, step: int, *sizes: int) -> Value:
    """A tensor of one number that claims a shape."""
    shape = {"dim": [{"size": size} for size in sizes]}
    tensor = {"tensor": {"dtype": 1, "tensor_shape": shape, "float_val": [1.0]}}
    plugin = {"pr_curves": "pr_curves", "meshes": "mesh", "tensors": "", "histograms": "histograms"}[kind]
    return Value(step, "strings", tensor, plugin, MESH if kind == "meshes" else b"")


def graph_of(*nodes: tuple[str, ...]) -> Graph:
    message = message_class("GraphDef")()
    for name, *inputs in nodes:
        message.node.add(name=name, op="MatMul", input=inputs)
    return Graph(message)


# Tensors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text", "images", "audio"])
def test_one_string_that_stands_for_many_is_there_once(kind, tmp_path):
    log = write(tmp_path, *[strings(step, [b"x" * MB], [20_000], kind) for step in range(2)])
    with at_most(60):
        frame = getattr(tbframe, kind)(log)
    assert len(frame) == (2 * 19_998 if kind == "images" else 2 * 20_000)
    values = frame["value" if kind == "text" else "data"]
    assert len({id(value) for value in values}) == 2
    assert {len(value) for value in values} == {MB}


@pytest.mark.parametrize("kind", ["text", "images", "audio"])
def test_many_values_that_claim_many_strings(kind, tmp_path):
    log = write(tmp_path, *[strings(step, [b"x"], [30_000], kind) for step in range(100)])
    with at_most(200), pytest.warns(tbframe.UndecodableValueWarning) as caught:
        frame = getattr(tbframe, kind)(log)
    assert 200_000 < len(frame) < 300_000
    (message,) = [str(warning.message) for warning in caught]
    assert re.search(r"9\d values .* step \d: .* claims 29999 strings that are not there: not more than", message)


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("tensors", (5_000_000,)),
        ("pr_curves", (6, 800_000)),
        ("meshes", (1, 1_600_000, 3)),
        ("histograms", (1_600_000, 3)),
    ],
)
def test_many_values_that_claim_many_numbers(kind, sizes, tmp_path):
    log = write(tmp_path, *[claiming(kind, step, *sizes) for step in range(20)])
    with (
        at_most(1000 if kind == "histograms" else 500),  # of three edges and counts each, in float64
        pytest.warns(tbframe.UndecodableValueWarning, match="17 values could not .* filled in altogether"),
    ):
        found = getattr(tbframe, kind)(log)
    assert (found.sizes["step"] if kind != "tensors" else len(found)) == 3


@pytest.mark.parametrize("kind", ["text", "images", "audio", "tensors", "pr_curves", "meshes"])
def test_shapes_beyond_all_memory(kind, tmp_path):
    of_strings = kind in ("text", "images", "audio")
    huge = [(2**40,), (2**62, 2**62), (2**31, 2**31, 3)]
    some = {"images": [2], "audio": [1], "text": [1], "tensors": (2,), "pr_curves": (6, 2), "meshes": (1, 2, 3)}[kind]
    values = [
        strings(i, [b"x"], list(shape), kind) if of_strings else claiming(kind, i, *shape)
        for i, shape in enumerate(huge)
    ]
    good = strings(9, [b"", b"", b"x"], [3], kind) if of_strings else claiming(kind, 9, *some)
    log = write(tmp_path, *values, good)
    with at_most(50), pytest.warns(tbframe.UndecodableValueWarning):
        found = getattr(tbframe, kind)(log)
    assert 9 in found["step"].to_numpy().tolist()


def test_text_of_a_hundred_dimensions(tmp_path):
    log = write(tmp_path, strings(0, [b"x"], [1] * 100, "text"), strings(1, [b"y"], [1], "text"))
    with pytest.warns(tbframe.UndecodableValueWarning, match="has 100 dimensions, more than 32"):
        assert tbframe.text(log)["value"].tolist() == ["y"]


# Images ---------------------------------------------------------------------------------------------------------------


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def test_a_compressed_text_in_an_image(tmp_path):
    head, pixels = struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0), zlib.compress(b"\0\1\2" * 2)
    note = b"k\0\0" + zlib.compress(bytes(200 * MB))
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(*part) for part in ((b"IHDR", head), (b"zTXt", note), (b"IDAT", pixels), (b"IEND", b""))
    )
    frame = tbframe.images(write(tmp_path, image(0, data)))
    assert frame[["width", "height"]].to_numpy().tolist() == [[2, 2]]
    with (
        at_most(50),
        pytest.warns(tbframe.UndecodableValueWarning, match="(?i)cannot be decoded: decompressed data too large"),
    ):
        assert frame.tb.decode()[0] is None


# Graphs ---------------------------------------------------------------------------------------------------------------


def test_a_name_of_very_many_scopes():
    name = "a/" * 100_000 + "x"
    graph = graph_of((name,), ("a",), ("b", name))
    with at_most(50):
        boxes = graph.collapse(1).nodes
    assert boxes["name"].tolist() == ["a", "b"]
    assert boxes["ops"].tolist() == [2, 1]
    assert graph.nodes["depth"].tolist() == [100_000, 0, 0]


def test_a_graph_that_is_one_cycle():
    graph = graph_of(*((f"s{i % 100}/n{i}", f"s{(i + 1) % 20_000 % 100}/n{(i + 1) % 20_000}") for i in range(20_000)))
    overview = graph.collapse(1)
    assert len(overview.nodes) == len(overview.edges) == 100
    assert overview.edges["edges"].tolist() == [200] * 100
    pytest.importorskip("networkx")
    assert graph.to_networkx().number_of_edges() == 20_000


def test_more_edges_than_can_be_drawn():
    pytest.importorskip("networkx")
    graph = graph_of(*((f"n{i}", *(f"n{j}" for j in range(i))) for i in range(100)))
    with pytest.raises(ValueError, match=r"plot\(\): 4,950 edges between 100 boxes cannot be told apart"):
        graph.plot()


def test_functions_in_functions_without_end(tmp_path):
    attribute = b""
    for _ in range(1000):
        attribute = field(10, field(1, b"f") + field(2, field(1, b"k") + field(2, attribute)))
    node = field(1, field(1, b"n") + field(5, field(1, b"k") + field(2, attribute)))
    log = write(tmp_path, timed(0, field(4, node)))
    with pytest.raises(tbframe.EventFileError, match="no GraphDef, or one that is nested too deeply"):
        tbframe.graph(log)
    assert tbframe.index(log)["run"]["graph"]


def test_many_constants_that_claim_much():
    message = message_class("GraphDef")()
    for i in range(200):
        tensor = message.node.add(name=f"c{i}", op="Const").attr["value"].tensor
        tensor.dtype = 1
        tensor.tensor_shape.dim.add(size=1_000_000)
        tensor.float_val.extend([1.0, 2.0] if i % 2 else [3.0])
    with at_most(200):
        values = [attributes["value"] for attributes in Graph(message).nodes["attributes"]]
    assert all(value.shape == (1_000_000,) and value[-1] == 3.0 for value in values[::2])
    assert values[1][:3].tolist() == [1.0, 2.0, 2.0]
    assert values[-1].startswith("<float32 [1000000]: ")


# Frames with many columns ---------------------------------------------------------------------------------------------


def test_an_allocator_for_every_node(tmp_path):
    message = message_class("RunMetadata")()
    device = message.step_stats.dev_stats.add(device="/device:CPU:0")
    for i in range(7000):
        device.node_stats.add(node_name=f"n{i}").memory.add(allocator_name=f"a{i}", total_bytes=1)
    log = write(tmp_path, timed(0, field(8, field(1, b"t") + field(2, message.SerializeToString()))))
    with (
        at_most(100),
        pytest.raises(ValueError, match=r"node_stats: .* allocator 7,000 .* take LogDir.run_metadata\(\)"),
    ):
        tbframe.node_stats(log)
    assert tbframe.open(log).run_metadata(run="run", tag="t") == [message]


def test_sessions_that_have_no_hyperparameter_or_metric_in_common(tmp_path, monkeypatch):
    monkeypatch.setattr("tbframe.kinds.stacking._LARGE", 10_000)
    for run in range(20):
        write(tmp_path / "params", started({f"p{run}_{i}": 1.0 for i in range(50)}), run=f"s{run}")
        metrics = [
            timed(0, field(5, field(1, field(1, f"m{run}_{i}".encode()) + b"\x15" + bytes(4)))) for i in range(50)
        ]
        write(tmp_path / "metrics", started({}), *metrics, run=f"s{run}")
    with pytest.raises(ValueError, match=r"hparams: .* hyperparameter 1,000 × session 20 .* read fewer runs"):
        tbframe.hparams(tmp_path / "params")
    assert tbframe.hparams(tmp_path / "params", runs="s7").shape == (1, 55)
    with pytest.raises(ValueError, match=r"hparams: .* metric 1,000 × session 20 .* read fewer runs"):
        tbframe.hparams(tmp_path / "metrics")
    assert tbframe.hparams(tmp_path / "metrics", tags=["m3_0", "m4_0"]).shape == (20, 7)


# Files beside the events ----------------------------------------------------------------------------------------------


def test_metadata_of_embeddings_that_are_mostly_missing(tmp_path):
    write(tmp_path, image(0, b""))
    config = 'embeddings { tensor_name: "a" metadata_path: "m.tsv" }'
    (tmp_path / "run/projector_config.pbtxt").write_text(config)
    (tmp_path / "run/m.tsv").write_text("h" + "\th" * 100_000 + "\n" + "x\n" * 100_000)
    with (
        at_most(100),
        pytest.warns(tbframe.UndecodableValueWarning, match="100,000 rows × 100,001 columns cannot stand"),
    ):
        assert tbframe.embeddings(tmp_path)["metadata"].tolist() == [None]


@pytest.mark.parametrize("path", ["../secret.tsv", "/outside/secret.tsv", "sub/../../../outside/secret.tsv"])
def test_remote_paths_that_lead_out_of_the_run(path):
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe_file("/hostile/run/events.tfevents.1", b"")
    files.pipe_file("/hostile/secret.tsv", b"1\t2\n")
    files.pipe_file("/outside/secret.tsv", b"1\t2\n")
    config = f'embeddings {{ tensor_name: "a" tensor_path: "{path}" }}'
    files.pipe_file("/hostile/run/projector_config.pbtxt", config.encode())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = tbframe.embeddings("memory://hostile")
    assert frame["tensor"].tolist() == [None]
    assert any("leads out of the run's directory" in str(warning.message) for warning in caught)
