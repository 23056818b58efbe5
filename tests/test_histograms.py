"""Histograms from log to Dataset: the values TensorBoard serves and the writer logged, in every shape, from every form."""

from __future__ import annotations

import functools
import re
import struct
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
from conftest import expected, log_path
from event_bytes import key, serial_walk, varint
from hypothesis import given, settings
from hypothesis import strategies as st
from media_logs import Value, start, tensor, write

import tbframe
from tbframe import buckets
from tbframe.errors import DamagedFileWarning, EventFileError, RestartWarning, UndecodableValueWarning, UnknownNameError
from tbframe.events.blocks import blocks
from tbframe.events.messages import message_class
from tbframe.events.wire import Buffer
from tbframe.kinds import histograms as module
from tbframe.kinds import stacking
from tbframe.kinds.filling import Filling
from tbframe.kinds.histogram_rows import STATISTICS
from tbframe.kinds.proto_histograms import decode_protos
from tbframe.kinds.tensor_histograms import decode_tensors

NAN, INF = float("nan"), float("inf")
MOST = 1.7976931348623157e308
quiet = pytest.mark.filterwarnings("ignore::tbframe.RestartWarning")


def proto(step, limits=(), counts=(), tag="w", **statistics) -> Value:
    """A histogram as PyTorch logs it."""
    return Value(step, tag, {"histo": {"bucket_limit": limits, "bucket": counts, **statistics}})


def rows(step, *rows, tag="w") -> Value:
    """A histogram as TensorFlow 2 logs it."""
    return tensor(step, np.array(rows, np.float64).reshape(-1, 3), tag, "histograms")


def told(ds: xr.Dataset) -> list[list[float]]:
    """The rows [left, right, count] of one histogram."""
    n = int(ds["buckets"])
    assert np.isnan(ds["left"].values[n:]).all()
    assert np.isnan(ds["right"].values[n:]).all()
    assert (ds["counts"].values[n:] == 0).all()
    return np.stack([ds["left"], ds["right"], ds["counts"]], axis=-1)[:n].tolist()


def one(directory, *values, **options) -> list[list[float]]:
    """The rows of a log of one histogram."""
    ds = tbframe.histograms(write(directory, *values), **options)
    assert ds["counts"].dims == ("step", "bin")
    return told(ds.isel(step=0))


# The real logs --------------------------------------------------------------------------------------------------------


def series_of(log: str, server: str = "") -> list[tuple[str, str, list, list]]:
    """Run, tag, histograms and distributions that a real TensorBoard serves."""
    served, drawn = expected(log + server)["histograms"]["data"], expected(log + server)["distributions"]["data"]
    return [(run, tag, points, drawn[run][tag]) for run, by_tag in served.items() for tag, points in by_tag.items()]


def numbers(listed) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in listed]).reshape(-1, 3)


@quiet
@pytest.mark.parametrize("size", [1 << 12, 1 << 16, 1 << 20])
def test_clipped_is_what_tensorboard_shows(log, size, monkeypatch):
    monkeypatch.setattr(module, "blocks", functools.partial(blocks, size=size))
    opened = tbframe.open(log_path(log))
    for run, tag, points, _ in series_of(log):
        ds = opened.histograms(runs=run, tags=tag, restarts="latest")
        assert [[t, s] for t, s in zip(ds["wall_time"].values, ds["step"].values, strict=True)] == [
            p[:2] for p in points
        ]
        for i, (_, _, served) in enumerate(points):
            wanted, found = numbers(served), np.array(told(ds.isel(step=i))).reshape(-1, 3)
            np.testing.assert_allclose(found[:, :2], wanted[:, :2], rtol=1e-6, atol=0)  # float32 there
            np.testing.assert_array_equal(found[:, 2], wanted[:, 2])
            assert found[:, 2].sum() == wanted[:, 2].sum()


def test_tensors_are_served_exactly():
    for run, tag, points, _ in series_of("tf2", "-fast"):
        ds = tbframe.histograms(log_path("tf2"), runs=run, tags=tag, restarts="latest")
        assert [told(ds.isel(step=i)) for i in range(len(points))] == [
            numbers(served).tolist() for *_, served in points
        ]


@quiet
def test_compress_is_what_tensorboard_draws(log):
    opened = tbframe.open(log_path(log))
    for run, tag, _, drawn in series_of(log):
        found = opened.histograms(runs=run, tags=tag, restarts="latest").tb.compress()
        assert found["bps"].values.tolist() == [bps for bps, _ in drawn[0][2]]
        wanted = np.array([[float(value) for _, value in points] for *_, points in drawn])
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-6 * scale)


def events_of(log: str, run: str):
    for path in sorted((log_path(log) / run).glob("*tfevents*")):
        data = path.read_bytes()
        for at, length in serial_walk(data)[0]:
            yield message_class("Event").FromString(data[at + 12 : at + 12 + length])


@quiet
def test_logged_is_what_was_written_bit_by_bit(log):
    opened = tbframe.open(log_path(log))
    seen = 0
    for run, tag, *_ in series_of(log):
        ds = opened.histograms(runs=run, tags=tag, edges="logged", restarts="keep")
        logged = [
            (event, value)
            for event in events_of(log, run)
            for value in event.summary.value
            if value.tag == tag.encode()
        ]
        assert ds["step"].values.tolist() == [event.step for event, _ in logged]
        for i, (event, value) in enumerate(logged):
            at = ds.isel(step=i)
            assert at["wall_time"].item() == event.wall_time
            left, right, counts = (at[name].values[: int(at["buckets"])] for name in ("left", "right", "counts"))
            if value.HasField("histo"):
                histo = value.histo
                assert right.tobytes() == np.array(histo.bucket_limit).tobytes()
                assert left.tobytes() == np.array([-INF, *histo.bucket_limit[:-1]]).tobytes()
                assert counts.tobytes() == np.array(histo.bucket).tobytes()
                fields = (histo.min, histo.max, histo.num, histo.sum, histo.sum_squares)
                assert tuple(at[name].item() for name in STATISTICS) == fields
            else:
                found = np.stack([left, right, counts], axis=1)
                assert found.tobytes() == value.tensor.tensor_content
                assert all(np.isnan(at[name]) for name in STATISTICS)
            seen += 1
    assert seen == sum(len(points) for _, _, points, _ in series_of(log))


@quiet
def test_totals_are_those_of_the_data(log):
    if log == "tf2":
        pytest.skip("its histograms have no statistics")
    for _, tag, ds in tbframe.open(log_path(log)).histograms_each():
        if tag == "wide":  # some of its values lie outside of all buckets
            assert (ds["num"] > ds["counts"].sum("bin")).all()
        else:
            np.testing.assert_array_equal(ds["counts"].sum("bin"), ds["num"])


# Both forms against protobuf ------------------------------------------------------------------------------------------


def doubles(values) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
anything = st.floats(width=64)


@st.composite
def proto_bytes(draw) -> bytes:
    """A HistogramProto as known writers put it, or in any other legal way, or cut."""
    limits = (
        sorted(draw(st.lists(finite, max_size=12))) if draw(st.booleans()) else draw(st.lists(anything, max_size=12))
    )
    odd = draw(st.integers(-2, 2)) if draw(st.integers(0, 5)) == 0 else 0
    some = st.sampled_from((0.0, 0.0, 1.0, 2.5, -1.0, NAN, 1e300)) if draw(st.booleans()) else st.just(3.0)
    counts = draw(st.lists(some, min_size=max(len(limits) + odd, 0), max_size=max(len(limits) + odd, 0)))
    parts = [key(number, 1) + doubles([draw(anything)]) for number in range(1, 6) if draw(st.integers(0, 3))]
    form = draw(st.sampled_from(("packed", "packed", "packed", "unpacked", "wide", "halves")))
    for number, values in ((6, limits), (7, counts)):
        if form == "unpacked":
            parts += [key(number, 1) + doubles([value]) for value in values]
        elif form == "halves":
            half = len(values) // 2
            parts += [key(number, 2) + varint(8 * len(v)) + doubles(v) for v in (values[:half], values[half:])]
        elif values or draw(st.booleans()):
            width = 3 if form == "wide" else 1
            parts.append(key(number, 2) + varint(8 * len(values), width) + doubles(values))
    if draw(st.integers(0, 5)) == 0:
        parts = draw(st.permutations(parts))
    if draw(st.integers(0, 7)) == 0:
        parts.insert(
            draw(st.integers(0, len(parts))), draw(st.sampled_from((b"\x40\x05", b"\xf8\x07\x01", b"\x32\x07")))
        )
    data = b"".join(parts)
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data


def in_buffer(messages) -> tuple[Buffer, np.ndarray, np.ndarray]:
    size = np.array([len(message) for message in messages], np.int64)
    buffer = Buffer(3 + int(size.sum()))
    at = 3 + np.cumsum(size) - size
    buffer.view[3 : 3 + int(size.sum())] = b"".join(messages)
    return buffer, at, size


def gathered(decoded, n) -> list:
    """For each message its buckets as bytes, and its statistics; None where it could not be decoded."""
    found = [None] * n
    for part in decoded:
        for i, number in enumerate(part.which.tolist()):
            k = int(part.buckets[i])
            assert found[number] is None
            assert np.isnan(part.left[i, k:]).all()
            assert not part.counts[i, k:].any()
            statistics = b"" if part.statistics is None else bits(part.statistics[i])
            found[number] = (*(bits(array[i, :k]) for array in (part.left, part.right, part.counts)), statistics)
    return found


def bits(values) -> bytes:
    """What tells numbers apart: every NaN is the same, the zeros are not."""
    return np.where(np.isnan(values), NAN, np.asarray(values, np.float64)).tobytes()


def by_protobuf(data: bytes, edges) -> tuple | None:
    from google.protobuf.message import DecodeError

    try:
        message = message_class("HistogramProto").FromString(data)
    except DecodeError:
        return None
    limits, counts = list(message.bucket_limit), list(message.bucket)
    b = buckets.from_protos(limits, [len(limits)], counts, [len(counts)], [message.min], [message.max], edges)
    if not b.decodable[0]:
        return None
    fields = [message.min, message.max, message.num, message.sum, message.sum_squares]
    return (*(bits(array[0]) for array in (b.left, b.right, b.counts)), bits(fields))


@settings(max_examples=150, deadline=None)
@given(st.lists(proto_bytes(), min_size=1, max_size=8), st.sampled_from(("clipped", "logged")))
def test_protos_are_decoded_as_protobuf_does(messages, edges):
    failed = {}
    with np.errstate(invalid="ignore"):
        found = gathered(decode_protos(*in_buffer(messages), edges, failed.__setitem__), len(messages))
    assert found == [by_protobuf(message, edges) for message in messages]
    assert sorted(failed) == [i for i, one in enumerate(found) if one is None]


@st.composite
def tensor_bytes(draw) -> bytes:
    """A TensorProto as TensorFlow 2 writes histograms, or nearly."""
    k = draw(st.sampled_from((0, 1, 2, 2, 2, 30, 130)))
    columns = draw(st.sampled_from((3, 3, 3, 3, 3, 2, 4)))
    dtype = draw(st.sampled_from((2, 2, 2, 2, 1, 9, 7)))
    message = message_class("TensorProto")(dtype=dtype)
    for size in draw(st.sampled_from(((k, columns), (k, columns), (k, columns), (k * columns,), (1, k, columns)))):
        message.tensor_shape.dim.add(size=size)
    values = draw(st.lists(anything, min_size=3, max_size=3)) * (k * columns // 3 + 1)
    values = values[: k * columns - draw(st.sampled_from((0, 0, 0, 0, 1)))] if k else []
    form = draw(st.sampled_from(("content", "content", "content", "listed", "none")))
    if dtype == 7:
        message.string_val.extend([b"1"] * len(values))
    elif dtype == 9:
        message.tensor_content = b"".join(struct.pack("<q", i) for i in range(len(values)))
    elif form == "content":
        message.tensor_content = np.array(values, {1: "<f4", 2: "<f8"}[dtype]).tobytes()
    elif form == "listed":
        (message.float_val if dtype == 1 else message.double_val).extend(np.float32(values) if dtype == 1 else values)
    if draw(st.integers(0, 5)) == 0:
        message.version_number = 1
    data = message.SerializeToString()
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data


def by_to_array(data: bytes) -> tuple | None:
    from tbframe.events.tensors import to_array

    try:
        array = to_array(data)
    except ValueError:
        return None
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype == object:
        return None
    return (*(bits(array[:, i].astype(np.float64)) for i in range(3)), b"")


@settings(max_examples=150, deadline=None)
@given(st.lists(tensor_bytes(), min_size=1, max_size=8))
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_tensors_are_decoded_as_one_by_one(messages):
    failed = {}
    with np.errstate(over="ignore"):
        found = gathered(decode_tensors(*in_buffer(messages), Filling(), failed.__setitem__), len(messages))
        assert found == [by_to_array(message) for message in messages]
    assert sorted(failed) == [i for i, one in enumerate(found) if one is None]


@pytest.mark.parametrize("claim", [b"\xff" * 9 + b"\x01", varint(2**63 - 1), varint(2**63), varint(2**64 - 24)])
def test_lengths_beyond_all_bounds(claim):
    """None of them wraps round into a place that exists."""
    failed = {}
    assert not any(
        gathered(decode_protos(*in_buffer([b"\x32" + claim + b"12345678"]), "logged", failed.__setitem__), 1)
    )
    shape = (
        b"\x08\x02\x12"
        + varint(7 + len(claim))
        + b"\x12"
        + varint(1 + len(claim))
        + b"\x08"
        + claim
        + b"\x12\x02\x08\x03"
    )
    assert not any(
        gathered(decode_tensors(*in_buffer([shape + b"\x22\x18" + b"\0" * 24]), Filling(), failed.__setitem__), 1)
    )
    assert list(failed) == [0]


# Edge cases of the reference, from log to Dataset ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "clipped"),
    [
        (proto(0, [], []), []),
        (proto(0, [1.0, 2.0], [0.0, 0.0], min=5.0, max=6.0), []),
        (proto(0, [0.0, 1.0, 2.0, 3.0], [0, 4, 2, 0], min=0.25, max=1.5), [[0.25, 1.0, 4.0], [1.0, 1.5, 2.0]]),
        # Constant data: all of it in one bucket, which has no width.
        (proto(0, [6.0, 7.5], [0, 9], min=7.0, max=7.0), [[7.0, 7.0, 9.0]]),
        # TensorFlow 1: bare limits at both ends.
        (
            proto(0, [-MOST, -1.0, 1.0, MOST], [0, 1, 0, 2], min=-3.0, max=8.0),
            [[-3.0, -1.0, 1.0], [-1.0, 1.0, 0.0], [1.0, 8.0, 2.0]],
        ),
        # Limits that float32 cannot tell apart.
        (
            proto(0, [1e9, 1e9 + 1, 1e9 + 2], [0, 1, 2], min=1e9, max=1e9 + 1.5),
            [[1e9, 1e9 + 1, 1.0], [1e9 + 1, 1e9 + 1.5, 2.0]],
        ),
        (proto(0, [0.0, 1.0, 2.0], [0.5, -1.0, 0.25], min=-1.0, max=2.0), [[-1.0, 0.0, 0.5], [0.0, 1.0, -1.0], [1.0, 2.0, 0.25]]),
        # A count beyond what float32 holds.
        (proto(0, [0.0, 1.0], [0.0, 16777217.0], min=0.0, max=1.0), [[0.0, 1.0, 16777217.0]]),
        # One limit less than buckets: the maximum bounds the last.
        (proto(0, [1.0, 2.0], [1.0, 2.0, 3.0], min=0.0, max=5.0), [[0.0, 1.0, 1.0], [1.0, 2.0, 2.0], [2.0, 5.0, 3.0]]),
        # More limits than buckets.
        (proto(0, [1.0, 2.0, 3.0, 4.0], [1.0, 2.0], min=0.0, max=2.0), [[0.0, 1.0, 1.0], [1.0, 2.0, 2.0]]),
        # A minimum and a maximum that nobody filled in.
        (proto(0, [2.0, 3.0, 4.0], [0.0, 1.0, 1.0]), [[2.0, 3.0, 1.0], [3.0, 4.0, 1.0]]),
        (proto(0, [1.0, 2.0], [1.0, 1.0], min=-INF, max=INF), [[-INF, 1.0, 1.0], [1.0, INF, 1.0]]),
        (rows(0), []),
        (rows(0, *[[0.0, 0.0, 0.0]] * 30), [[0.0, 0.0, 0.0]] * 30),
        (rows(0, *[[7.0, 7.0, 0.0]] * 29, [7.0, 7.0, 5.0]), [[7.0, 7.0, 0.0]] * 29 + [[7.0, 7.0, 5.0]]),
        (rows(0, [6.5, 7.5, 4.0]), [[6.5, 7.5, 4.0]]),
        (rows(0, [-INF, 0.0, 1.0], [0.0, INF, 2.5]), [[-INF, 0.0, 1.0], [0.0, INF, 2.5]]),
        (rows(0, [0.0, 1.0, -2.0], [3.0, 4.0, 0.5]), [[0.0, 1.0, -2.0], [3.0, 4.0, 0.5]]),
    ],
)  # fmt: skip
def test_edge_cases_of_the_clipped_form(tmp_path, value, clipped):
    assert one(tmp_path, value) == clipped


def test_nan_edges_are_kept(tmp_path):
    ds = tbframe.histograms(write(tmp_path, rows(0, [NAN, NAN, 0.0], [NAN, NAN, 3.0]), rows(1, [0, 1, 1])))
    assert ds["buckets"].values.tolist() == [2, 1]
    assert np.isnan(ds["left"].values[0]).all()
    np.testing.assert_array_equal(ds["counts"], [[0, 3], [1, 0]])
    assert ds.tb.rebin(4).attrs["left_out_counts"] == 3.0


@pytest.mark.parametrize(
    ("value", "logged"),
    [
        (proto(0, [], []), []),
        (proto(0, [0.0, 1.0, 2.0], [0, 4, 0], min=0.25, max=0.75), [[-INF, 0.0, 0.0], [0.0, 1.0, 4.0], [1.0, 2.0, 0.0]]),
        (proto(0, [-MOST, MOST], [0, 1], min=2.0, max=2.0), [[-INF, -MOST, 0.0], [-MOST, MOST, 1.0]]),
        (proto(0, [1.0, 2.0], [1.0, 2.0, 3.0]), [[-INF, 1.0, 1.0], [1.0, 2.0, 2.0], [2.0, INF, 3.0]]),
        (proto(0, [3.0, 1.0], [1.0, 2.0]), [[-INF, 3.0, 1.0], [3.0, 1.0, 2.0]]),
        (rows(0, [6.5, 7.5, 4.0], [7.5, 9.0, 0.0]), [[6.5, 7.5, 4.0], [7.5, 9.0, 0.0]]),
    ],
)  # fmt: skip
def test_edge_cases_of_the_logged_form(tmp_path, value, logged):
    assert one(tmp_path, value, edges="logged") == logged


def test_statistics_are_the_writers(tmp_path):
    value = proto(3, [0.0, 1.0], [0.0, 2.0], min=0.5, max=0.75, num=7.0, sum=1.25, sum_squares=0.8125)
    ds = tbframe.histograms(write(tmp_path, value))
    assert [ds[name].item() for name in STATISTICS] == [0.5, 0.75, 7.0, 1.25, 0.8125]
    assert ds["counts"].sum().item() == 2.0  # the other five lie outside of all buckets


def test_tensors_of_other_types(tmp_path):
    """Lists instead of content, a list that is filled up, float32 and integers."""
    shape = {"dim": [{"size": 2}, {"size": 3}]}
    listed = Value(
        0, "w", {"tensor": {"dtype": 2, "tensor_shape": shape, "double_val": [0, 1, 0.1, 1, 2, 3]}}, "histograms"
    )
    splat = Value(1, "w", {"tensor": {"dtype": 1, "tensor_shape": shape, "float_val": [2.0]}}, "histograms")
    single = tensor(2, np.array([[0, 1, 0.1]], np.float32), "w", "histograms")
    whole = tensor(3, np.array([[0, 1, 4]], np.int64), "w", "histograms")
    ds = tbframe.histograms(write(tmp_path, listed, splat, single, whole))
    assert told(ds.isel(step=0)) == [[0, 1, 0.1], [1, 2, 3]]
    assert told(ds.isel(step=1)) == [[2, 2, 2]] * 2
    assert told(ds.isel(step=2)) == [[0, 1, float(np.float32(0.1))]]
    assert told(ds.isel(step=3)) == [[0, 1, 4]]


def test_values_that_are_no_histogram(tmp_path):
    form = r"expected rows of 3 numbers \(left, right, count\), "
    bad = [
        (tensor(5, np.zeros((4, 2)), "w", "histograms"), form + r"found float64 of shape \[4, 2\]"),
        (tensor(5, np.zeros(3), "w", "histograms"), r"found float64 of shape \[3\]"),
        (tensor(5, np.float64(1.0), "w", "histograms"), r"found float64 of shape \[\]"),
        (tensor(5, np.ones((1, 3), bool), "w", "histograms"), "found bool"),
        (Value(5, "w", {"tensor": {"dtype": 2, "tensor_content": b"xxx"}}, "histograms"), "does not fit float64"),
        (proto(5, [1.0], [1.0, 2.0, 3.0]), "3 buckets have only 1 limits, so that it is not known where they lie"),
    ]  # fmt: skip
    for i, (value, reason) in enumerate(bad):
        log = write(tmp_path / str(i), value, value, rows(9, [0, 1, 2]))
        with pytest.warns(
            UndecodableValueWarning, match=f"histograms: run 'run', tag 'w': 2 values .* step 5: .*{reason}"
        ):
            ds = tbframe.histograms(log)
        assert ds["step"].values.tolist() == [9]
        assert told(ds.isel(step=0)) == [[0, 1, 2]]


# Shapes ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def several(tmp_path):
    """Two runs and two tags, of both forms, of which run b logs one at other steps."""
    write(
        tmp_path,
        proto(0, [0, 1], [0, 3], "w", min=0.5, max=1),
        rows(0, [0, 2, 1], [2, 4, 5], tag="bias"),
        proto(9, [1, 2], [0, 4], "w", min=1, max=2),
        run="a",
    )
    write(tmp_path, rows(4, [1, 2, 8], [2, 3, 0], [3, 4, 7], tag="w"), rows(9, [0, 1, 2], tag="w"), run="b")
    return tmp_path  # fmt: skip


def test_several_series_are_joined(several):
    ds = tbframe.histograms(several)
    assert ds["counts"].dims == ("run", "tag", "step", "bin")
    assert dict(ds.sizes) == {"run": 2, "tag": 2, "step": 3, "bin": 3}
    assert [ds[name].values.tolist() for name in ("run", "tag", "step")] == [["a", "b"], ["bias", "w"], [0, 4, 9]]
    assert told(ds.sel(run="a", tag="w", step=0)) == [[0.5, 1, 3]]
    assert told(ds.sel(run="a", tag="w", step=9)) == [[1, 2, 4]]
    assert told(ds.sel(run="a", tag="bias", step=0)) == [[0, 2, 1], [2, 4, 5]]
    assert told(ds.sel(run="b", tag="w", step=4)) == [[1, 2, 8], [2, 3, 0], [3, 4, 7]]
    absent = ds.sel(run="b", tag="bias")
    for name in ("counts", "left", "right", "wall_time", *STATISTICS):
        assert ds[name].dims == (
            ("run", "tag", "step", "bin") if name in ("counts", "left", "right") else ("run", "tag", "step")
        )
        assert absent[name].isnull().all(), name
    assert absent["buckets"].values.tolist() == [0, 0, 0]
    assert ds["wall_time"].sel(run="a", tag="w").fillna(-1).values.tolist() == [1000, -1, 1002]
    assert ds["value_min"].sel(run="a", tag="w").fillna(-1).values.tolist() == [0.5, -1, 1.0]


@pytest.mark.parametrize(
    ("runs", "tags", "dims"),
    [
        (None, None, ("run", "tag")),
        ("a", None, ("tag",)),
        ("b", None, ()),
        (None, "w", ("run",)),
        (None, "bias", ()),
        ("a", "w", ()),
        (["a"], "w", ("run",)),
        ("a", ["w"], ("tag",)),
        (["b"], ["w"], ("run", "tag")),
        (re.compile("^b"), "w", ("run",)),
        (re.compile("^b"), re.compile("."), ("run", "tag")),
        ("a", re.compile("nothing"), ("tag",)),
        (iter(["a", "b"]), iter(["w"]), ("run", "tag")),
    ],
)
def test_a_name_squeezes_and_names_keep(several, runs, tags, dims):
    ds = tbframe.histograms(several, runs=runs, tags=tags)
    assert ds["counts"].dims == (*dims, "step", "bin")
    for name, asked in (("run", runs), ("tag", tags)):
        assert ds[name].dims == ((name,) if name in dims else ())
        assert ds[name].dtype == object
        if isinstance(asked, str):
            assert ds[name].item() == asked


def test_types_are_those_documented(several):
    for ds in (tbframe.histograms(several), tbframe.histograms(several, tags=re.compile("nothing"))):
        whole = ("step", "buckets")
        assert {name: str(ds[name].dtype) for name in ds.variables} == {
            **dict.fromkeys(ds.variables, "float64"),
            **dict.fromkeys(whole, "int64"),
            "run": "object",
            "tag": "object",
        }
        assert set(ds.coords) == {"run", "tag", "step", "left", "right", "wall_time"}
        assert set(ds.data_vars) == {"counts", "buckets", *STATISTICS}
        assert all(type(value) in (str, int, float) for value in ds.attrs.values())
        assert not any(callable(getattr(xr.Dataset, name, None)) for name in ds.variables)


def test_a_log_without_histograms(tmp_path):
    ds = tbframe.histograms(write(tmp_path, Value(0, "loss", {"simple_value": 1.0})))
    assert dict(ds.sizes) == {"run": 0, "tag": 0, "step": 0, "bin": 0}
    assert set(ds.data_vars) == {"counts", "buckets", *STATISTICS}
    assert len(ds.tb.to_frame()) == 0


def test_one_series_keeps_its_steps_as_written(tmp_path):
    log = write(tmp_path, *(rows(step, [0, 1, i]) for i, step in enumerate([0, 10, 5, 5])))
    with pytest.warns(RestartWarning, match="in 2 rows the step repeats or goes back"):
        ds = tbframe.histograms(log)
    assert ds["step"].values.tolist() == [0, 10, 5, 5]
    assert ds["counts"].values.ravel().tolist() == [0, 1, 2, 3]
    with pytest.warns(RestartWarning, match="2 rows that a later start"):
        assert tbframe.histograms(log, restarts="latest")["counts"].values.ravel().tolist() == [0, 3]


def test_of_equal_steps_the_last_is_kept_where_series_are_joined(tmp_path):
    values = [rows(step, [0, 1, i]) for i, step in enumerate([0, 10, 5, 5])]
    log = write(tmp_path, *values, rows(10, [0, 1, 9], tag="b"))
    with pytest.warns(RestartWarning, match="1 values were left out whose step is logged again"):
        ds = tbframe.histograms(log)
    assert ds["step"].values.tolist() == [0, 5, 10]
    assert ds["counts"].sel(tag="w").values.ravel().tolist() == [0, 3, 1]
    assert ds.attrs["repeats"] == 1


def test_restarts(tmp_path):
    log = write(tmp_path, rows(0, [0, 1, 1]), rows(5, [0, 1, 2]), start(3), rows(3, [0, 1, 3]), rows(7, [0, 1, 4]))
    with pytest.warns(RestartWarning, match="1 row that a later start of the run wrote over was dropped, in 'run'"):
        ds = tbframe.histograms(log)
    assert ds["step"].values.tolist() == [0, 3, 7]
    assert (ds.attrs["dropped"], ds.attrs["restarts"]) == (1, "purge")
    marked = tbframe.histograms(log, restarts="mark")
    assert marked["step"].values.tolist() == [0, 5, 3, 7]
    assert marked["session"].values.tolist() == [0, 0, 1, 1]
    assert marked["superseded"].values.tolist() == [False, True, False, False]
    joined = tbframe.histograms(log, restarts="mark", tags=["w"], runs=["run"])
    assert joined["session"].dims == ("run", "tag", "step")


def test_both_forms_in_one_series(tmp_path):
    """A writer that changed: TensorBoard takes both for the same."""
    values = [
        proto(0, [0, 1], [0, 3], min=0.5, max=1, num=3),
        rows(1, [0, 2, 1], [2, 4, 5]),
        proto(2, [0, 1, 2], [0, 1, 1], min=0, max=2, num=2),
    ]
    ds = tbframe.histograms(write(tmp_path, *values))  # fmt: skip
    assert [told(ds.isel(step=i)) for i in range(3)] == [[[0.5, 1, 3]], [[0, 2, 1], [2, 4, 5]], [[0, 1, 1], [1, 2, 1]]]
    assert ds["num"].fillna(-1).values.tolist() == [3, -1, 2]


def test_more_buckets_from_block_to_block(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "blocks", functools.partial(blocks, size=256))
    sizes = [1, 3, 2, 9, 0, 30, 31, 4, 100, 1]
    wanted = [[[float(j), float(j + 1), float(10 * i + j)] for j in range(n)] for i, n in enumerate(sizes)]
    ds = tbframe.histograms(write(tmp_path, *(rows(i, *histogram) for i, histogram in enumerate(wanted))))
    assert ds["buckets"].values.tolist() == sizes
    assert [told(ds.isel(step=i)) for i in range(len(sizes))] == wanted


def test_very_large_and_mostly_padding_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(stacking, "_LARGE", 1000)
    monkeypatch.setattr(stacking, "_FILLED", 0.11)
    values = [rows(step, [0, 1, 1], tag=f"t{step % 10}") for step in range(100)]
    log = tbframe.open(write(tmp_path / "steps", *values))
    with pytest.raises(
        ValueError, match=r"tag 10 × step 100 × bin 1 would hold 1,000 numbers, of which 10.0% .*histograms_each"
    ):
        log.histograms()
    assert log.histograms(tags=["t1", "t2"]).sizes["step"] == 20
    assert len(list(log.histograms_each())) == 10
    wide = write(tmp_path / "bins", *(rows(step, *[[0, 1, 1]] * (1 if step else 90)) for step in range(20)))
    with pytest.raises(ValueError, match=r"histogram 20 × bin 90 would hold 1,800 numbers, of which 6.1% were logged"):
        tbframe.histograms(wide)


def test_changes_of_a_dataset_do_not_reach_the_log(several):
    log = tbframe.open(several)
    before = log.histograms()
    log.histograms()["counts"][:] = -1.0
    xr.testing.assert_identical(log.histograms(), before)


# After reading --------------------------------------------------------------------------------------------------------


def test_shapes_hold_after_selecting_and_arithmetic(several):
    ds = tbframe.histograms(several)
    halved = ds.assign(counts=ds["counts"] / 2)
    assert told(halved.sel(run="b", tag="w", step=4))[0] == [1, 2, 4]
    later = ds.isel(step=slice(1, None)).sel(tag="w")
    rebinned = later.tb.rebin(6)
    assert rebinned["counts"].dims == ("run", "step", "bin")
    totals = rebinned["counts"].sum("bin", skipna=False)
    np.testing.assert_array_equal(totals, later["counts"].sum("bin", min_count=1))
    assert ds.transpose("bin", "step", ...).tb.compress().sizes == {"step": 3, "run": 2, "tag": 2, "bps": 9}


def derived(ds):
    yield "raw", ds
    yield "rebinned", ds.tb.rebin(5)
    yield "compressed", ds.tb.compress()
    yield "density", ds.tb.density()
    yield "some", ds.isel(step=slice(1, 3))


@pytest.mark.parametrize("which", ["tf1", "torch", "tf2", "empty"])
def test_everything_saves_and_loads_back_equal(which, tmp_path):
    log = write(tmp_path / "log", Value(0, "loss", {"simple_value": 1.0})) if which == "empty" else log_path(which)
    for name, ds in derived(tbframe.histograms(log, restarts="latest")):
        path = tmp_path / f"{name}.nc"
        ds.to_netcdf(path)
        with (xr.open_dataarray if isinstance(ds, xr.DataArray) else xr.open_dataset)(path) as loaded:
            assert loaded.attrs == ds.attrs
            xr.testing.assert_equal(loaded.load(), ds)


def test_zarr(several, tmp_path):
    zarr = pytest.importorskip("zarr")
    if zarr.__version__ >= "3" and tuple(map(int, xr.__version__.split(".")[:2])) < (2024, 10):
        pytest.skip("this xarray does not know zarr 3")
    for name, result in derived(tbframe.histograms(several)):
        whole = result if isinstance(result, xr.Dataset) else result.to_dataset()
        whole.to_zarr(tmp_path / f"{name}.zarr", consolidated=False)
        again = xr.open_zarr(tmp_path / f"{name}.zarr", consolidated=False, chunks=None)
        xr.testing.assert_equal(again.load(), whole)


def test_written_histograms_are_read_back(log, tmp_path):
    for run, tag, ds in tbframe.open(log_path(log)).histograms_each(restarts="latest"):
        where = tmp_path / run / tag
        tbframe.write(ds, where)
        again = tbframe.histograms(where, runs=run, tags=tag)
        for name in ("counts", "left", "right", "buckets", "wall_time", *STATISTICS):
            np.testing.assert_array_equal(again[name], ds[name], err_msg=f"{run} {tag} {name}")


# Every way in ---------------------------------------------------------------------------------------------------------


@quiet
def test_every_way_in_gives_the_same(log, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    path = log_path(log)
    wanted = tbframe.histograms(path, restarts="latest").drop_attrs()
    assert wanted.sizes["step"]
    memory = fsspec.filesystem("memory")
    memory.put(str(path), "/histograms", recursive=True)
    ways = {
        "str": tbframe.histograms(str(path), restarts="latest"),
        "open": tbframe.open(path).histograms(restarts="latest"),
        "refreshed": tbframe.open(path).refresh().histograms(restarts="latest"),
        "memory": tbframe.histograms("memory://histograms", restarts="latest"),
    }
    memory.rm("/histograms", recursive=True)
    for way, ds in ways.items():
        xr.testing.assert_identical(ds.drop_attrs(), wanted), way


def test_one_file_and_named_paths():
    path = log_path("tf1")
    (file,) = (path / "train").glob("*tfevents*")
    ds = tbframe.histograms(file, tags="layer1/w1")
    assert ds["run"].item() == "."
    named = tbframe.histograms({"x": path / "train", "y": path / "eval"}, tags="layer1/w1")
    assert named["run"].values.tolist() == ["x", "y"]
    assert told(named.sel(run="x", step=7)) == told(ds.sel(step=7))


def test_each_series_is_that_of_the_whole(several):
    log = tbframe.open(several)
    each = list(log.histograms_each())
    assert [(run, tag) for run, tag, _ in each] == [("a", "bias"), ("a", "w"), ("b", "w")]
    for run, tag, ds in each:
        xr.testing.assert_identical(ds, log.histograms(runs=run, tags=tag))
    assert [(run, tag) for run, tag, _ in log.histograms_each(runs=["b"])] == [("b", "w")]
    logged = {ds.attrs["edges"] for *_, ds in log.histograms_each(edges="logged")}
    assert logged == {"logged"}


def test_refresh_reads_what_is_new(tmp_path):
    log = tbframe.open(write(tmp_path, rows(0, [0, 1, 1])))
    assert log.histograms()["step"].values.tolist() == [0]
    write(tmp_path, rows(0, [0, 1, 1]), rows(1, [0, 1, 2], [1, 2, 3]))
    assert log.refresh().histograms()["buckets"].values.tolist() == [1, 2]


def test_reading_does_not_import_dask():
    pytest.importorskip("dask")
    code = "import sys, tbframe; tbframe.histograms(tbframe.sample_logs()); print('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# What is refused and said ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [lambda log: log.histograms, lambda log: log.histograms_each])
def test_wrong_arguments(several, read):
    method = read(tbframe.open(several))
    with pytest.raises(ValueError, match=r"edges='cut': expected 'clipped' \(TensorBoard's form\) or 'logged'"):
        method(edges="cut")
    with pytest.raises(UnknownNameError, match="no tag 'W'"):
        method(tags="W")
    with pytest.raises(UnknownNameError, match="no run 'c'"):
        method(runs=["c"])
    with pytest.raises(ValueError, match="restarts='all'"):
        method(restarts="all")
    with pytest.raises(ValueError, match="damaged='no'"):
        method(damaged="no")


def test_a_tag_of_another_kind():
    with pytest.raises(UnknownNameError, match=r"holds no histograms: read it with tbframe.scalars\(\)"):
        tbframe.histograms(log_path("torch"), tags="loss/train")


@pytest.mark.parametrize("each", [False, True])
def test_damage_that_shows_only_when_values_are_read(tmp_path, each):
    """Large payloads are passed over while the log is read."""
    big = [rows(step, *[[i, i + 1, step] for i in range(5000)]) for step in range(5)]
    path = write(tmp_path, *big) / "run" / "events.out.tfevents.1.host"
    data = bytearray(path.read_bytes())
    data[-60_000] ^= 1
    path.write_bytes(bytes(data))

    def read(**options):
        log = tbframe.open(tmp_path)
        return next(log.histograms_each(**options))[2] if each else log.histograms(**options)

    with pytest.warns(DamagedFileWarning, match="the data checksum of a record does not match"):
        ds = read()
    assert ds["step"].values.tolist() == [0, 1, 2, 3]
    with pytest.raises(EventFileError, match="data checksum"):
        read(damaged="raise")
    assert read(damaged="ignore")["step"].values.tolist() == [0, 1, 2, 3]


# Charts ---------------------------------------------------------------------------------------------------------------


def names(charts):
    return [(chart.tag, chart.run) for chart in charts]


def test_a_chart_for_each_tag_and_run(several):
    charts = tbframe.ridgelines(several)
    assert names(charts) == [("bias", "a"), ("w", "a"), ("w", "b")]
    assert names(tbframe.ridgelines(several, tags=["w", "bias"])) == [("w", "a"), ("w", "b"), ("bias", "a")]
    assert names(tbframe.ridgelines(several, tags=iter(["w", "bias", "w"]))) == [("w", "a"), ("w", "b"), ("bias", "a")]
    assert names(tbframe.ridgelines(several, tags="w", runs="b")) == [("w", "b")]
    assert names(tbframe.ridgelines(several, tags=re.compile("^b"))) == [("bias", "a")]


def test_steps_of_charts(tmp_path):
    log = write(tmp_path, *(rows(step, [0, 1, 1 + step]) for step in range(100)))
    (chart,) = tbframe.ridgelines(log)
    assert len(chart.figure.axes[0].collections[0].get_paths()) == 51
    (chart,) = tbframe.ridgelines(log, max_steps=None)
    assert len(chart.figure.axes[0].collections[0].get_paths()) == 100
    (chart,) = tbframe.ridgelines(log, max_steps=2, bins=3)
    paths = chart.figure.axes[0].collections[0].get_paths()
    assert sorted(path.vertices[0, 1] for path in paths) == [0, 99]
    chart.save(tmp_path / "ridges.pdf")
    assert (tmp_path / "ridges.pdf").read_bytes().startswith(b"%PDF")


def test_charts_that_cannot_be(tmp_path, several):
    with pytest.raises(FileNotFoundError):
        tbframe.ridgelines(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no event files"):
        tbframe.ridgelines(tmp_path / "empty")
    with pytest.raises(ValueError, match="bins=0: expected at least 1 bin"):
        tbframe.ridgelines(several, bins=0)
    with pytest.raises(ValueError, match="max_steps=1: expected at least 2"):
        tbframe.ridgelines(several, max_steps=1)
    with pytest.raises(UnknownNameError):
        tbframe.ridgelines(several, tags="none")
    write(tmp_path / "zero", rows(0, [0, 1, 0], tag="z"), rows(0, [0, 1, 2], tag="y"))
    with pytest.warns(UserWarning, match="no ridgeline of tag 'z' of run 'run': all its 1 histograms are empty"):
        assert names(tbframe.ridgelines(tmp_path / "zero")) == [("y", "run")]
