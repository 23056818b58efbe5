"""Time and memory of nodes: against TensorBoard's answers, and its aggregation against a slow one."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import expected, log_path
from event_bytes import VERSION, field, record, timed

import tbframe
from tbframe.events.messages import message_class
from tbframe.verbs.node_stats import by_scope

COLUMNS = [
    "run", "tag", "step", "wall_time", "device", "thread", "thread_name", "node", "op", "label", "start", "start_nanos",
    "wait", "compute", "total", "bytes", "output_bytes", "temp_bytes", "persistent_bytes", "output_shapes", "output_dtypes",
]  # fmt: skip
DTYPES = [
    "category", "category", "int64", "float64", "object", "int64", "object", "object", "object", "object", "float64", "int64",
    "float64", "float64", "float64", "int64", "int64", "int64", "int64", "object", "object",
]  # fmt: skip


def read(logdir, tags=None) -> pd.DataFrame:
    return tbframe.node_stats(logdir, tags=tags)


def parse(text: str):
    from google.protobuf import text_format

    return text_format.Parse(text, message_class("RunMetadata")())


def metadata(*stats: dict, device: str = "/job:a/device:CPU:0", **more):
    message = message_class("RunMetadata")()
    added = message.step_stats.dev_stats.add(device=device, **more)
    for stat in stats:
        added.node_stats.add(**stat)
    return message


def event(message, step: int = 0, tag: bytes = b"t") -> bytes:
    return timed(step, field(8, field(1, tag) + field(2, message.SerializeToString())))


def write(directory: Path, *payloads: bytes) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "events.out.tfevents.1700000000.x").write_bytes(b"".join(map(record, (VERSION, *payloads))))
    return directory


# TensorBoard's answers ------------------------------------------------------------------------------------------------


def answers(log: str) -> dict[tuple[str, str], object]:
    return {
        (run, tag): parse(text)
        for run, by_tag in expected(log)["graphs"]["run_metadata"].items()
        for tag, text in by_tag.items()
    }


@pytest.mark.parametrize("server", ["", "-fast"])
@pytest.mark.parametrize("log", ["torch", "tensorboardx", "tf1"])
def test_the_run_metadata_that_tensorboard_serves(log, server):
    opened = tbframe.open(log_path(log))
    found = 0
    for (run, tag), answer in answers(log + server).items():
        (message,) = opened.run_metadata(run=run, tag=tag)
        assert message == answer
        found += 1
    assert found == (3 if log == "tf1" else 1)


def test_every_execution_of_a_real_log():
    frame = read(log_path("tf1"))
    assert frame.columns.tolist() == [
        *COLUMNS[:16], "bytes.mklcpu", "peak_bytes.mklcpu", "live_bytes.mklcpu", *COLUMNS[16:],
    ]  # fmt: skip
    at = 0
    for (run, tag), message in answers("tf1").items():
        for device in message.step_stats.dev_stats:
            for stat in device.node_stats:
                row = frame.loc[at]
                assert (row.run, row.tag, row.step, row.device) == (run, tag, int(tag[4:]), device.device)
                assert (row.node, row.label, row.thread) == (stat.node_name, stat.timeline_label, stat.thread_id)
                assert f"{stat.node_name} = {row.op}(" in stat.timeline_label
                assert row.start_nanos == stat.all_start_nanos
                assert row.start == stat.all_start_nanos / 1e9
                assert round(row.wait * 1e9) == stat.all_start_nanos - stat.scheduled_nanos
                assert round(row.compute * 1e9) == stat.op_end_rel_nanos - stat.op_start_rel_nanos
                assert round(row.total * 1e9) == stat.all_end_rel_nanos
                memory = stat.memory[0] if stat.memory else message_class("AllocatorMemoryUsed")()
                assert row.bytes == row["bytes.mklcpu"] == memory.total_bytes
                assert row["peak_bytes.mklcpu"] == memory.peak_bytes
                assert row["live_bytes.mklcpu"] == memory.live_bytes
                assert row.temp_bytes == stat.memory_stats.temp_memory_size
                assert row.persistent_bytes == stat.memory_stats.persistent_memory_size
                tensors = [output.tensor_description for output in stat.output]
                assert row.output_shapes == [tuple(dim.size for dim in tensor.shape.dim) for tensor in tensors]
                assert len(row.output_dtypes) == len(tensors)
                assert row.output_bytes == sum(tensor.allocation_description.requested_bytes for tensor in tensors)
                # From what the frame has, the microseconds that TensorFlow logs beside can be had too.
                end = row.start_nanos + round(row.total * 1e9)
                assert end // 1000 - row.start_nanos // 1000 == stat.all_end_rel_micros
                at += 1
    assert at == len(frame) == 330


@pytest.mark.parametrize("log", ["torch", "tf2"])
def test_logs_without_executions(log):
    frame = read(log_path(log))
    assert len(frame) == 0
    assert frame.columns.tolist() == COLUMNS
    assert [str(dtype) for dtype in frame.dtypes] == DTYPES
    assert len(by_scope(frame)) == 0
    assert len(by_scope(frame, rule="tensorboard")) == 0


# Traps ----------------------------------------------------------------------------------------------------------------


def test_times_in_nanoseconds_only_and_in_microseconds_only(tmp_path):
    nanos = {
        "all_start": 5_000_000_123,
        "op_start_rel": 50,
        "op_end_rel": 450,
        "all_end_rel": 900,
        "scheduled": 5_000_000_023,
    }
    micros = {"all_start": 7, "op_start_rel": 1, "op_end_rel": 3, "all_end_rel": 4}
    stats = [{f"{name}_nanos": n for name, n in nanos.items()}, {f"{name}_micros": n for name, n in micros.items()}]
    write(tmp_path, event(metadata(*stats)))
    frame = read(tmp_path)
    np.testing.assert_array_equal(frame.start_nanos, [5_000_000_123, 7000])
    np.testing.assert_array_equal(frame.start, [5.000000123, 7e-6])
    np.testing.assert_array_equal(frame.compute, [400e-9, 2e-6])
    np.testing.assert_array_equal(frame.total, [900e-9, 4e-6])
    np.testing.assert_array_equal(frame.wait, [100e-9, math.nan])


def test_columns_of_allocators_threads_and_outputs(tmp_path):
    description = message_class("TensorDescription")()
    description.dtype = 9
    description.shape.unknown_rank = True
    description.allocation_description.requested_bytes = 6
    stats = [
        {"node_name": "a", "timeline_label": "a = Mul(b, c (d = e(f)))", "thread_id": 3,
         "output": [{"slot": 0, "tensor_description": description}],
         "memory": [{"allocator_name": "gpu", "total_bytes": 8, "peak_bytes": 9, "live_bytes": 1},
                    {"allocator_name": "cpu", "total_bytes": -5, "live_bytes": -5},
                    {"allocator_name": "gpu", "total_bytes": 2}],
         "memory_stats": {"temp_memory_size": 11, "persistent_memory_size": 12}},
        {"node_name": "b", "timeline_label": "MemcpyHtoD", "thread_id": 4},
    ]  # fmt: skip
    write(tmp_path, event(metadata(*stats, thread_names={3: "worker"}), 7))
    frame = read(tmp_path)
    assert frame.op.tolist() == ["Mul", ""]
    assert frame.thread_name.tolist() == ["worker", ""]
    assert frame.bytes.tolist() == [10, 0]  # TensorBoard leaves out what is negative
    assert {name: frame[name].tolist() for name in frame.columns if "." in name} == {
        "bytes.cpu": [-5, 0], "bytes.gpu": [10, 0], "peak_bytes.cpu": [0, 0], "peak_bytes.gpu": [9, 0],
        "live_bytes.cpu": [-5, 0], "live_bytes.gpu": [1, 0],
    }  # fmt: skip
    assert (frame.temp_bytes[0], frame.persistent_bytes[0], frame.output_bytes[0]) == (11, 12, 6)
    assert frame.output_shapes.tolist() == [[None], []]
    assert frame.output_dtypes.tolist() == [["int64"], []]
    assert frame.step.tolist() == [7, 7]


def test_the_profile_of_a_trace(tmp_path):
    content = metadata({"node_name": "a", "all_end_rel_nanos": 5}).SerializeToString()
    tensor = b"\x08\x07" + field(8, content)
    about = field(1, field(1, b"graph_run_metadata") + field(2, b"1"))
    write(tmp_path, timed(4, field(5, field(1, field(1, b"trace") + field(8, tensor) + field(9, about)))))
    frame = read(tmp_path)
    assert (frame.tag[0], frame.step[0], frame.node[0], frame.total[0]) == ("trace", 4, "a", 5e-9)


def test_run_metadata_that_cannot_be_read(tmp_path):
    bad = [timed(step, field(8, field(1, b"bad") + field(2, b"\xff"))) for step in (3, 4)]
    write(tmp_path, *bad, event(metadata({"node_name": "a"}), 5, b"good"))
    with pytest.warns(
        tbframe.UndecodableValueWarning,
        match=r"tag 'bad': 2 values could not be decoded, first at step 3: .*no RunMetadata",
    ):
        frame = read(tmp_path)
    assert frame.node.tolist() == ["a"]
    assert frame.tag.cat.categories.tolist() == ["good"]


def test_run_metadata_in_a_record_that_was_damaged_since(tmp_path):
    last = event(metadata({"node_name": "b" * 1000}), 1)
    write(tmp_path, event(metadata({"node_name": "a"})), last)
    log = tbframe.open(tmp_path)
    assert log.tags()["kind"].tolist() == ["node_stats"]
    path = next(tmp_path.iterdir())
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.warns(tbframe.DamagedFileWarning, match="data checksum"):
        assert log.node_stats().node.tolist() == ["a"]
    with pytest.raises(
        tbframe.EventFileError, match=r"the run metadata of run '\.', tag 't', step 1 .*: it is in a damaged record"
    ) as raised:
        log.run_metadata(run=".", tag="t")
    assert raised.value.path == str(path)
    assert data[raised.value.offset :].startswith(record(last)[:12])


# by_scope -------------------------------------------------------------------------------------------------------------


def slow_tensorboard(message, graph, depth: int | None) -> dict[str, tuple[int, float | None]]:
    """Bytes and time in microseconds by scope, one entry at a time, from the message itself."""
    folded = [row.op == "Const" or bool(re.fullmatch("[a-zA-Z]+Summary", row.op)) for row in graph.nodes.itertuples()]
    names = [name for name, out in zip(graph.nodes.name, folded, strict=True) if not out]
    scopes = {name[: match.start()] for name in names for match in re.finditer("/", name)}
    strict = {name: f"{name}/({name.split('/')[-1]})" if name in scopes else name for name in names}
    nodes: dict[str, list] = {}
    for device in message.step_stats.dev_stats:
        if not re.search(r"device:[^:]+:[0-9]+$", device.device):
            continue
        for stat in device.node_stats:
            if stat.node_name not in strict:
                continue
            node = nodes.setdefault(strict[stat.node_name], [0, None, None])
            node[0] = max(node[0], sum(max(memory.total_bytes, 0) for memory in stat.memory))
            if stat.all_end_rel_micros > 0:
                begin, end = stat.all_start_micros, stat.all_start_micros + stat.all_end_rel_micros
                node[1] = begin if node[1] is None else min(node[1], begin)
                node[2] = end if node[2] is None else max(node[2], end)
    groups: dict[str, list] = {}
    for name, (size, begin, end) in nodes.items():
        group = groups.setdefault(name if depth is None else "/".join(name.split("/")[:depth]), [0, None, None])
        group[0] += size
        if begin is not None:
            group[1] = begin if group[1] is None else min(group[1], begin)
            group[2] = end if group[2] is None else max(group[2], end)
    return {name: (size, None if begin is None else end - begin) for name, (size, begin, end) in groups.items()}


@pytest.mark.parametrize("depth", [1, 2, None])
def test_tensorboards_aggregation_of_a_real_log(depth):
    graph = tbframe.graph(log_path("tf1"))
    found = by_scope(read(log_path("tf1")), depth, rule="tensorboard", graph=graph)
    for (run, tag), message in answers("tf1").items():
        rows = found[(found.run == run) & (found.tag == tag)]
        times = [None if math.isnan(total) else round(total * 1e6) for total in rows.total]
        assert dict(zip(rows.scope, zip(rows.bytes, times, strict=True), strict=True)) == slow_tensorboard(
            message, graph, depth
        )
        assert rows.total.fillna(-1).is_monotonic_decreasing


def test_tensorboards_aggregation_of_several_devices(tmp_path):
    message = metadata(
        {
            "node_name": "s/a",
            "all_start_micros": 100,
            "all_end_rel_micros": 10,
            "memory": [{"allocator_name": "x", "total_bytes": 5}],
        },
        {
            "node_name": "s/a",
            "all_start_micros": 150,
            "all_end_rel_micros": 5,
            "memory": [{"allocator_name": "x", "total_bytes": 3}],
        },
        {"node_name": "s/b", "all_start_micros": 90, "memory": [{"allocator_name": "x", "total_bytes": 7}]},
        {"node_name": "other", "all_start_micros": 1, "all_end_rel_micros": 1},
    )
    second = message.step_stats.dev_stats.add(device="/device:GPU:0")
    second.node_stats.add(node_name="s/a", all_start_micros=170, all_end_rel_micros=30)
    second = message.step_stats.dev_stats.add(device="/device:GPU:0/stream:all")
    second.node_stats.add(node_name="s/a", all_start_micros=0, all_end_rel_micros=1000)
    write(tmp_path, event(message, 2))
    frame = read(tmp_path)
    found = by_scope(frame, rule="tensorboard")
    assert found.drop(columns="start").to_dict("records") == [
        {"run": ".", "tag": "t", "step": 2, "scope": "s", "nodes": 2, "executions": 4, "total": 100e-6, "bytes": 12},
        {"run": ".", "tag": "t", "step": 2, "scope": "other", "nodes": 1, "executions": 1, "total": 1e-6, "bytes": 0},
    ]
    assert found.start.tolist() == [100e-6, 1e-6]
    by_node = by_scope(frame, None, rule="tensorboard").set_index("scope")
    assert by_node.bytes.to_dict() == {"s/a": 5, "s/b": 7, "other": 0}
    assert by_node.total["s/a"] == 100e-6
    assert math.isnan(by_node.total["s/b"])
    summed = by_scope(frame).set_index("scope")
    assert summed.executions.to_dict() == {"s": 5, "other": 1}
    assert summed.total.to_dict() == {"s": pytest.approx(1045e-6), "other": 1e-6}
    assert summed.bytes.to_dict() == {"s": 15, "other": 0}
    assert summed["bytes.x"].to_dict() == {"s": 15, "other": 0}
    assert summed.span["s"] == 1000e-6


def test_sums_against_a_slow_reading():
    frame = read(log_path("tf1"))
    shuffled = frame.sample(frac=1, random_state=0).assign(extra=1)
    for one in (frame, shuffled, shuffled.astype({"run": str, "tag": str})):
        found = by_scope(one, 2).set_index(["tag", "scope"])
        for (tag, scope), rows in frame.groupby(
            [frame.tag.astype(str), frame.node.map(lambda name: "/".join(name.split("/")[:2]))]
        ):
            row = found.loc[tag, scope]
            assert (row.nodes, row.executions, row.bytes) == (rows.node.nunique(), len(rows), rows.bytes.sum())
            assert row.total == pytest.approx(rows.total.sum(), rel=1e-12)
            assert row.compute == pytest.approx(rows.compute.sum(), rel=1e-12)
            ends = rows.start_nanos + (rows.total * 1e9).round().astype(int)
            assert row.span == (ends.max() - rows.start_nanos.min()) / 1e9
        assert (
            len(found)
            == frame.groupby(["tag", frame.node.map(lambda name: "/".join(name.split("/")[:2]))], observed=True).ngroups
        )


def test_sums_are_in_order():
    found = by_scope(read(log_path("tf1")))
    assert found.step.is_monotonic_increasing
    assert all(rows.total.is_monotonic_decreasing for _, rows in found.groupby("step"))
    assert isinstance(found.index, pd.RangeIndex)
    assert found.tag.cat.categories.tolist() == ["step009", "step019", "step029"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "mean"}, "rule='mean': expected one of 'sum', 'tensorboard'"),
        ({"depth": 0}, "depth=0: expected at least 1"),
        ({"graph": object()}, "graph=... goes with rule='tensorboard', not with rule='sum'"),
    ],
)
def test_arguments_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        by_scope(read(log_path("tf1")), **options)


def test_a_frame_that_lacks_columns():
    with pytest.raises(tbframe.AccessorError, match=r"by_scope\(\) needs the column 'node'"):
        by_scope(read(log_path("tf1")).drop(columns="node"))


# The picture ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def draw():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from tbframe.plotting.node_stats import draw_node_stats

    yield draw_node_stats
    plt.close("all")


def names(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_picture(draw):
    frame = read(log_path("tf1"), "step009")
    time, memory = draw(frame, 1, n=5)
    sums = by_scope(frame)
    assert names(time) == sums.scope[:5].tolist()
    assert [bar.get_width() for bar in time.patches] == [*sums.total[:5], *sums.compute[:5]]
    largest = sums.sort_values("bytes", ascending=False)[:5]
    assert names(memory) == largest.scope.tolist()
    assert [bar.get_width() for bar in memory.patches] == largest.bytes.tolist()
    assert time.get_ylim() == (4.5, -0.5)  # the first is at the top
    assert time.get_xlabel() == "time (dark: compute)"
    labels = [memory.xaxis.get_major_formatter()(tick, 0) for tick in (0, 512, 20480, 3 * 2**30)]
    assert labels == ["0 B", "512 B", "20 KiB", "3 GiB"]


def test_the_picture_of_several_steps_adds_them_up(draw):
    frame = read(log_path("tf1"))
    time, _ = draw(frame, n=1)
    by_node = frame.groupby("node").total.sum()
    assert names(time) == [by_node.idxmax()]
    assert time.patches[0].get_width() == pytest.approx(by_node.max())


def test_the_picture_of_names_that_are_long_or_look_like_mathematics(draw):
    frame = read(log_path("tf1"))[:2].assign(node=["$x_1$", "scope/" + "y" * 200])
    time, _ = draw(frame)
    time.figure.canvas.draw()
    assert names(time)[0] in ("$x_1$",) or names(time)[1] == "$x_1$"
    assert max(map(len, names(time))) < 60


def test_the_picture_of_nothing(draw):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = draw(read(log_path("torch")))
    assert [[text.get_text() for text in ax.texts] for ax in axes] == [["nothing was logged"]] * 2


def test_the_picture_on_axes_that_are_given(draw):
    from matplotlib.figure import Figure

    pair = Figure().subplots(1, 2)
    frame = read(log_path("tf1"))
    assert draw(frame, ax=pair) == list(pair)
    with pytest.raises(ValueError, match="ax: 1 Axes for 2 panels"):
        draw(frame, ax=pair[0])
    with pytest.raises(ValueError, match="n=0: expected at least 1 bar"):
        draw(frame, n=0)
