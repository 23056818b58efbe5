"""What `write` writes is read back byte by byte: framing, a bitwise CRC-32C and a plain walk over the wire format."""

from __future__ import annotations

import itertools
import math
import os
import struct
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import log_path
from hypothesis import given, settings
from hypothesis import strategies as st

import tbframe
from tbframe.errors import AccessorError
from tbframe.events import publishing, writing
from tbframe.events.messages import message_class
from tbframe.events.publishing import NewFiles
from tbframe.verbs.writing import write

# ---------------------------------------------------------------------------------------------------- a plain reader


def _crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def _masked(data):
    crc = _crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def read_payloads(path):
    data, at, payloads = path.read_bytes(), 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8) == (_masked(data[at : at + 8]),)
        payload = data[at + 12 : at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length) == (_masked(payload),)
        payloads.append(payload)
        at += 16 + length
    return payloads


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return number, at


def fields(data):
    """Return the fields of a message in order, by number."""
    at, found = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            value, at = data[at : at + (8 if kind == 1 else 4)], at + (8 if kind == 1 else 4)
        assert key >> 3 not in found
        found[key >> 3] = value
    assert at == len(data)
    return found


def number(data):
    return struct.unpack("<d" if len(data) == 8 else "<f", data)[0]


def read_values(path):
    """Return (tag, step, wall_time, fields of the value) of each event behind the version record."""
    version, *payloads = read_payloads(path)
    assert fields(version)[3] == b"brain.Event:2"
    rows = []
    for payload in payloads:
        event = fields(payload)
        assert set(event) <= {1, 2, 5}
        step = event.get(2, 0)
        value = fields(fields(event[5])[1])
        rows.append((value[1].decode(), step - (step >> 63 << 64), number(event[1]), value))
    return rows


def scalar(value):
    if 2 in value:
        assert set(value) == {1, 2}
        return number(value[2]), False
    assert set(value) == {1, 8, 9}
    tensor = fields(value[8])
    assert tensor == {1: 2, 2: b"", 4: tensor[4]}
    metadata = fields(value[9])
    assert fields(metadata[1]) == {1: b"scalars"}
    assert metadata[4] == 1
    return number(tensor[4]), True


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def frame_of(value, **columns):
    n = len(value)
    given = {"run": "a", "tag": "loss", "step": np.arange(n), "wall_time": 1.7e9 + np.arange(n), "value": value}
    return pd.DataFrame(given | columns)


# ---------------------------------------------------------------------------------------------------- scalars

ROWS = st.lists(
    st.tuples(
        st.sampled_from([".", "a", "a/b", "Läufe/1"]),
        st.sampled_from(["loss", "", "nan", "ein langer Name " * 12])
        | st.text(st.characters(codec="utf-8"), max_size=4),
        st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 200),
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats() | st.floats(width=32),
    ),
    max_size=40,
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return (tmp_path_factory.mktemp("written") for _ in itertools.count())


@given(rows=ROWS, block=st.sampled_from([1, 7, 32768]))
@settings(max_examples=60, deadline=None)
def test_every_row_is_written_once_and_exactly(rows, block, folders, monkeypatch_module):
    monkeypatch_module.setattr(writing, "_ROWS", block)
    frame = pd.DataFrame(rows, columns=["run", "tag", "step", "wall_time", "value"])
    frame = frame.astype({"run": object, "tag": object, "step": "int64", "wall_time": "float64", "value": "float64"})
    logdir = next(folders)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that some are float64 is expected here
        paths = write(frame, logdir)
    by_run = {run: [row for row in rows if row[0] == run] for run in dict.fromkeys(row[0] for row in rows)}
    assert [path.parent for path in paths] == [logdir / run for run in by_run]
    for path, expected in zip(paths, by_run.values(), strict=True):
        assert number(fields(read_payloads(path)[0])[1]) == min(row[3] for row in expected)
        found = read_values(path)
        assert [(tag, step, wall) for tag, step, wall, _ in found] == [row[1:4] for row in expected]
        for (*_, value), (*_, logged) in zip(found, expected, strict=True):
            stored, double = scalar(value)
            assert same(stored, logged)
            with np.errstate(over="ignore"):
                assert double == (not math.isnan(logged) and float(np.float32(logged)) != logged)


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.mark.parametrize("step", [-(2**63), -1, 0, 1, 127, 128, 2**35, 2**56, 2**62, 2**63 - 1])
def test_records_are_those_of_protobuf(tmp_path, step):
    [path] = write(frame_of([0.5], step=[step], tag="train/loss"), tmp_path)
    event = message_class("Event")(wall_time=1.7e9, step=step)
    event.summary.value.add(tag=b"train/loss", simple_value=0.5)
    assert read_payloads(path)[1] == event.SerializeToString()


def test_float64_tensors_are_those_of_protobuf(tmp_path):
    with pytest.warns(UserWarning, match="not exact in float32"):
        [path] = write(frame_of([0.1]), tmp_path)
    event = message_class("Event")(wall_time=1.7e9)
    value = event.summary.value.add(tag=b"loss")
    value.tensor.dtype = 2
    value.tensor.tensor_shape.SetInParent()
    value.tensor.tensor_content = struct.pack("<d", 0.1)
    value.metadata.plugin_data.plugin_name = b"scalars"
    value.metadata.data_class = 1
    assert read_payloads(path)[1] == event.SerializeToString()


def test_the_warning_says_how_many_are_hidden_and_the_remedy(tmp_path):
    frame = frame_of([0.5, 0.1, 0.2], tag=["exact", "b", "c"])
    with pytest.warns(
        UserWarning, match=r"2 of 3 values \(2 tags, as 'b'\) are not exact.*default server.*dtype='float32'"
    ):
        write(frame, tmp_path)


def test_float32_rounds_without_a_warning_and_says_what_overflows(tmp_path):
    [path] = write(frame_of([0.1, np.nan, -0.0]), tmp_path, dtype="float32")
    found = [scalar(value) for *_, value in read_values(path)]
    assert found[0] == (float(np.float32(0.1)), False)
    assert math.isnan(found[1][0])
    assert same(found[2][0], -0.0)
    with pytest.warns(UserWarning, match="1 of 2 values are beyond float32 and were written as infinities"):
        [path] = write(frame_of([1e300, np.inf]), tmp_path / "second", dtype="float32")
    assert [scalar(value)[0] for *_, value in read_values(path)] == [np.inf, np.inf]


def test_large_integers_are_said_to_be_rounded(tmp_path):
    with pytest.warns(UserWarning, match=r"1 whole numbers from 2\*\*53 on were rounded"):
        write(frame_of(np.array([2**60, 3])), tmp_path)


def test_any_index_dtypes_and_further_columns(tmp_path):
    rows = frame_of([3.0, 1.0, 2.0, 4.0], run=["b", "a", "b", "a"], tag=["y", "x", "x", "y"])
    [b, a] = write(rows, tmp_path / "plain")
    expected = [[row[:3] for row in read_values(path)] for path in (a, b)]
    categories = rows.assign(
        run=pd.Categorical(rows["run"], ["zz", "a", "b"]),
        tag=pd.Categorical(rows["tag"], ["y", "unused", "x"]),
        step=rows["step"].astype("Int64"),
        value=rows["value"].astype("Float64"),
        wall_time=rows["wall_time"],
        seed=1,
    ).set_index(pd.Index([9, 9, 8, 7], name="odd"))
    before = categories.copy()
    paths = write(categories, tmp_path / "categories")
    assert [path.parent.name for path in paths] == ["a", "b"]
    assert [[row[:3] for row in read_values(path)] for path in paths] == expected
    pd.testing.assert_frame_equal(categories, before)
    unsigned = rows.assign(step=rows["step"].astype("uint64"), value=rows["value"].astype("float32"))
    assert len(write(unsigned, tmp_path / "unsigned")) == 2


def test_an_empty_frame_writes_nothing(tmp_path):
    assert write(frame_of([]), tmp_path / "log") == []
    assert not (tmp_path / "log").exists()


def test_a_run_gets_a_second_file_behind_the_first(tmp_path):
    for value in (1.0, 2.0, 3.0):
        write(frame_of([value]), tmp_path)
    files = sorted((tmp_path / "a").iterdir())
    assert [scalar(read_values(path)[0][3])[0] for path in files] == [1.0, 2.0, 3.0]


# ---------------------------------------------------------------------------------------------------- where files go


@pytest.mark.parametrize(
    "run", ["", "..", "../x", "a/../../x", "a/..", "/abs", "a//b", "./a", "a/", "a/./b", "nul\0", "/"]
)
def test_a_run_that_names_no_directory_below_the_logdir_is_refused(tmp_path, run):
    with pytest.raises(ValueError, match=r"does not name a directory below the logdir; df\.tb\.rename"):
        write(frame_of([1.0, 2.0], run=["good", run]), tmp_path / "log")
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_leads_out_is_refused(tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "log" / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(ValueError, match=r"run 'link/x': '.*link/x' is a link that leads out of the logdir"):
        write(frame_of([1.0], run="link/x"), tmp_path / "log")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_names_are_standard_and_the_home_directory_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    [path] = write(frame_of([1.0], run="."), "~/log")
    assert path.parent == tmp_path / "log"
    events, out, mark, seconds, *_ = path.name.split(".")
    assert (events, out, mark) == ("events", "out", "tfevents")
    assert abs(int(seconds) - time.time()) < 60
    assert len(seconds) == 10
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize(
    "existing",
    [
        "events.out.tfevents.1700000000.host",
        "events.out.tfevents.4000000000.host.1.0.v2",
        "events.out.tfevents.9999999999.zzz",
        "events.out.tfevents",
        "zz.tfevents.profile-empty",
        "events.out.tfevents.99999999999999",
    ],
)
def test_the_new_file_sorts_last_and_no_file_changes(tmp_path, existing):
    (tmp_path / existing).write_bytes(b"theirs")
    (tmp_path / "zzz.txt").write_bytes(b"no event file")
    [path] = write(frame_of([1.0], run="."), tmp_path)
    assert "tfevents" in path.name
    assert not path.name.endswith("profile-empty")
    assert path.name > existing
    assert (tmp_path / existing).read_bytes() == b"theirs"
    assert len(list(tmp_path.iterdir())) == 3
    [second] = write(frame_of([2.0], run="."), tmp_path)
    assert second.name > path.name


def test_a_name_that_another_writer_takes_is_left_to_it(tmp_path, monkeypatch):
    taken = tmp_path / "x.tfevents.1"
    names = iter([taken.name, "x.tfevents.2"])
    monkeypatch.setattr(publishing, "_name_after", lambda newest: next(names))
    taken.write_bytes(b"theirs")
    assert write(frame_of([1.0], run="."), tmp_path) == [tmp_path / "x.tfevents.2"]
    assert taken.read_bytes() == b"theirs"


def test_file_systems_without_hard_links(tmp_path, monkeypatch):
    def no_links(old, new):
        raise PermissionError("no links here")

    names = iter(["x.tfevents.1", "x.tfevents.2"])
    monkeypatch.setattr(publishing, "_name_after", lambda newest: next(names))
    monkeypatch.setattr(os, "link", no_links)
    (tmp_path / "x.tfevents.1").write_bytes(b"theirs")
    [path] = write(frame_of([1.0], run="."), tmp_path)
    assert path == tmp_path / "x.tfevents.2"
    assert len(read_payloads(path)) == 2
    assert len(list(tmp_path.iterdir())) == 2


def test_nothing_appears_before_all_is_written_nor_after_a_failure(tmp_path):
    new = NewFiles()

    def fill_the_disk():
        with new:
            new.start(tmp_path / "a").write(b"x")
            new.start(tmp_path / "b").write(b"y")
            hidden = [path for path in tmp_path.rglob("*") if path.is_file()]
            assert len(hidden) == 2
            assert not any("tfevents" in path.name for path in hidden)
            raise RuntimeError("full disk")

    with pytest.raises(RuntimeError, match="full disk"):
        fill_the_disk()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert new.paths == []


# ---------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"step": [0.5]}, ValueError, r"step: expected whole numbers of 64 bits, and row 0 \(label 0\) is .*0.5"),
        ({"step": [np.nan]}, ValueError, "step: expected whole numbers"),
        ({"step": pd.array([None], "Int64")}, ValueError, "step: expected whole numbers"),
        ({"step": np.array([2**63], np.uint64)}, ValueError, "step: expected whole numbers"),
        ({"step": [1e300]}, ValueError, "step: expected whole numbers"),
        ({"step": ["one"]}, TypeError, "step: expected numbers, found dtype"),
        ({"value": [1j]}, TypeError, "value: expected numbers, found dtype complex128; use pandas.to_numeric"),
        ({"wall_time": [np.nan]}, ValueError, r"wall_time: 1 of 1 are not finite \(the first: nan\), .*default server"),
        ({"wall_time": [np.inf]}, ValueError, r"wall_time: 1 of 1 are not finite \(the first: inf\)"),
        ({"run": [None]}, ValueError, r"run: row 0 \(label 0\) has no run; drop or name such rows"),
        ({"tag": pd.Categorical([None], ["a"])}, ValueError, r"tag: row 0 \(label 0\) has no tag"),
        ({"run": [7]}, TypeError, r"run: expected names of type str, found 7 of type int; use .astype\(str\)"),
        ({"tag": pd.Categorical([7])}, TypeError, "tag: expected names of type str, found 7 of type int"),
        ({"tag": pd.Series(["\ud800"], dtype=object)}, ValueError, r"tag '\\ud800' has no form in UTF-8; df.tb.rename"),
    ],
)
def test_rows_that_cannot_be_written(tmp_path, columns, error, message):
    with pytest.raises(error, match=message):
        write(frame_of([1.0]).assign(**columns), tmp_path / "log")
    assert not (tmp_path / "log").exists()


def test_what_is_no_scalars_frame(tmp_path):
    with pytest.raises(AccessorError, match=r"write\(\) needs the columns 'wall_time', 'value'. The frame has 'run'"):
        write(pd.DataFrame(columns=["run", "tag", "step"]), tmp_path)
    with pytest.raises(TypeError, match="expected a scalars DataFrame or a Dataset of histograms, found list"):
        write([1.0], tmp_path)
    with pytest.raises(ValueError, match=r"dtype='float16': expected None .* or 'float32'"):
        write(frame_of([1.0]), tmp_path, dtype="float16")
    with pytest.raises(ValueError, match="logdir='gs://b/x': expected a local directory"):
        write(frame_of([1.0]), "gs://b/x")


# ---------------------------------------------------------------------------------------------------- histograms


def histograms(steps=3, buckets=4, statistics=False, **coords):
    """Return a Dataset of one series, as `tbframe.histograms` gives it."""
    rng = np.random.default_rng(steps * 100 + buckets)
    edges = np.sort(rng.normal(size=(steps, buckets + 1)), axis=1)
    counts = rng.integers(1, 9, (steps, buckets)).astype(float)
    dataset = xr.Dataset(
        {"counts": (("step", "bin"), counts), "buckets": ("step", np.full(steps, buckets))},
        {
            "step": np.arange(steps) * 100 - 100,
            "left": (("step", "bin"), edges[:, :-1]),
            "right": (("step", "bin"), edges[:, 1:]),
            "wall_time": ("step", 1.7e9 + np.arange(steps)),
        }
        | {"run": "a", "tag": "weights"}
        | coords,
    )
    known = {"value_min": edges[:, 0], "value_max": edges[:, -1], "num": counts.sum(1), "value_sum": edges.sum(1)}
    known["value_sum_squares"] = (edges**2).sum(1)
    empty = np.full(steps, np.nan)
    return dataset.assign({name: ("step", known[name] if statistics else empty) for name in known})


def decode(value):
    """Return [k, 3] buckets, and the statistics of a HistogramProto."""
    if 8 in value:
        tensor, metadata = fields(value[8]), fields(value[9])
        assert fields(metadata[1]) == {1: b"histograms"}
        assert metadata[4] == 2
        assert tensor[1] == 2
        content = np.frombuffer(tensor.get(4, b""), "<f8").reshape(-1, 3)
        sizes = tensor[2]
        assert sizes == b"\x12" + bytes([len(k := _dim(len(content)))]) + k + b"\x12\x02\x08\x03"
        return content, None
    proto = fields(value[5])
    limits, counts = (np.frombuffer(proto.get(i, b""), "<f8") for i in (6, 7))
    return np.stack([np.append(-np.inf, limits[:-1])[: len(limits)], limits, counts], 1), [
        number(proto[i]) for i in range(1, 6)
    ]


def _dim(size):
    out = b""
    while size > 0x7F:
        out, size = out + bytes([size & 0x7F | 0x80]), size >> 7
    return b"\x08" + out + bytes([size]) if size or out else b""


@pytest.mark.parametrize("buckets", [0, 1, 2, 30, 200])
def test_histograms_without_statistics_are_exact_tensors(tmp_path, buckets):
    dataset = histograms(3, buckets)
    [path] = write(dataset, tmp_path)
    rows = read_values(path)
    assert [(tag, step, wall) for tag, step, wall, _ in rows] == [
        ("weights", s, 1.7e9 + s / 100 + 1) for s in (-100, 0, 100)
    ]
    assert path.parent == tmp_path / "a"
    for i, (*_, value) in enumerate(rows):
        expected = np.stack([dataset[name].values[i] for name in ("left", "right", "counts")], 1)
        np.testing.assert_array_equal(decode(value)[0], expected)
        assert 8 in value


def test_tensors_are_those_of_protobuf(tmp_path):
    dataset = histograms(1, 2)
    [path] = write(dataset, tmp_path)
    event = message_class("Event")(wall_time=1.7e9, step=-100)
    value = event.summary.value.add(tag=b"weights")
    value.tensor.dtype = 2
    for size in (2, 3):
        value.tensor.tensor_shape.dim.add(size=size)
    parts = [dataset[name].values[0] for name in ("left", "right", "counts")]
    value.tensor.tensor_content = np.stack(parts, 1).astype("<f8").tobytes()
    value.metadata.plugin_data.plugin_name = b"histograms"
    value.metadata.data_class = 2
    assert read_payloads(path)[1] == event.SerializeToString()


@pytest.mark.parametrize("edges", ["clipped", "logged"])
def test_histograms_with_statistics_are_protos(tmp_path, edges):
    dataset = histograms(3, 5, statistics=True)
    if edges == "logged":
        left = dataset["left"].values.copy()
        left[:, 0] = -np.inf
        dataset = dataset.assign_coords(left=(("step", "bin"), left))
    [path] = write(dataset, tmp_path)
    for i, (*_, value) in enumerate(read_values(path)):
        buckets, statistics = decode(value)
        np.testing.assert_array_equal(buckets[:, 1], dataset["right"].values[i])
        np.testing.assert_array_equal(buckets[:, 2], dataset["counts"].values[i])
        names = ("value_min", "value_max", "num", "value_sum", "value_sum_squares")
        assert statistics == [float(dataset[name][i]) for name in names]
    event = message_class("Event").FromString(read_payloads(path)[1])
    assert event.summary.value[0].WhichOneof("value") == "histo"
    assert event.SerializeToString() == read_payloads(path)[1]


def test_statistics_that_no_form_holds_are_said_to_be_lost(tmp_path):
    dataset = histograms(3, 5, statistics=True)
    rebinned = dataset.assign_coords(left=("bin", np.arange(5.0)), right=("bin", np.arange(1.0, 6.0)))
    with pytest.warns(UserWarning, match=r"the statistics \(num, value_sum, ...\) of 3 histograms were not written"):
        [path] = write(rebinned, tmp_path)
    for i, (*_, value) in enumerate(read_values(path)):
        expected = np.stack([np.arange(5.0), np.arange(1.0, 6.0), dataset["counts"].values[i]], 1)
        np.testing.assert_array_equal(decode(value)[0], expected)


def test_several_series_leave_out_padding_and_what_they_did_not_log(tmp_path):
    a = histograms(3, 4, tag="w").assign_coords(bin=range(4))
    b = histograms(2, 2, tag="b", step=[0, 50]).assign_coords(bin=range(2))
    joined = xr.concat([a, b], dim="tag", join="outer", data_vars="all", coords="all", compat="equals").assign_coords(
        run="a"
    )
    joined = joined.assign(buckets=joined["buckets"].fillna(0).astype(int), counts=joined["counts"].fillna(0))
    second = joined.assign_coords(run="r")
    both = xr.concat([joined.expand_dims("run"), second.expand_dims("run")], "run", coords="minimal", compat="override")
    paths = write(both.transpose("bin", "step", "tag", "run", ...), tmp_path)
    assert [path.parent.name for path in paths] == ["a", "r"]
    for path in paths:
        rows = read_values(path)
        assert [(tag, step) for tag, step, *_ in rows] == [("w", -100), ("w", 0), ("w", 100), ("b", 0), ("b", 50)]
        assert [len(decode(value)[0]) for *_, value in rows] == [4, 4, 4, 2, 2]


def test_a_single_step_a_dataarray_and_a_dataset_without_buckets(tmp_path):
    dataset = histograms(3, 4)
    [path] = write(dataset.isel(step=1), tmp_path / "one")
    assert [row[1] for row in read_values(path)] == [0]
    [other] = write(dataset["counts"], tmp_path / "array")
    assert [row[1] for row in read_values(other)] == [-100, 0, 100]
    [third] = write(dataset.drop_vars(["buckets", "run"]), tmp_path / "bare")
    assert third.parent == tmp_path / "bare"
    assert read_payloads(third) == read_payloads(other)


def test_datasets_that_cannot_be_written(tmp_path):
    dataset = histograms()
    with pytest.raises(AccessorError, match=r"the Dataset lacks \['wall_time', 'tag'\]. It has .*assign_coords"):
        write(dataset.drop_vars(["tag", "wall_time"]), tmp_path)
    with pytest.raises(
        AccessorError,
        match=r"over all of run, tag and step that .* and found counts over \['seed', 'step', 'bin'\]",
    ):
        write(dataset.expand_dims("seed"), tmp_path)
    with pytest.raises(AccessorError, match=r"write expects tag as a scalar or a dimension, .* over \['step'\]"):
        write(dataset.assign_coords(tag=("step", ["a", "b", "c"])), tmp_path)
    with pytest.raises(AccessorError, match=r"found counts over \['step'\]"):
        write(dataset.assign(counts=dataset["num"]), tmp_path)
    with pytest.raises(AccessorError, match=r"found counts over \['step', 'bin'\]"):
        write(dataset.assign(num=dataset["num"].expand_dims(tag=["a"])).assign_coords(tag=["a"]), tmp_path)
    with pytest.raises(ValueError, match="wall_time: 3 of 3 are not finite"):
        write(dataset.assign_coords(wall_time=("step", np.full(3, np.nan))), tmp_path)
    with pytest.raises(ValueError, match="dtype='float32' is for scalars"):
        write(dataset, tmp_path, dtype="float32")


# ---------------------------------------------------------------------------------------------------- there and back


def test_real_logs_come_back_equal(log, tmp_path):
    frame = tbframe.scalars(log_path(log), restarts="keep")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some values are float64
        write(frame, tmp_path)
    back = tbframe.scalars(tmp_path, restarts="keep")
    pd.testing.assert_frame_equal(back, frame, check_exact=True)
    np.testing.assert_array_equal(np.signbit(back["value"]), np.signbit(frame["value"]))
    assert len(frame) > 20


def test_a_second_write_is_read_behind_the_first(tmp_path):
    frame = frame_of([1.0, 2.0])
    write(frame, tmp_path)
    write(frame.assign(step=[2, 3]), tmp_path)
    assert tbframe.scalars(tmp_path)["step"].tolist() == [0, 1, 2, 3]
    runs = tbframe.runs(tmp_path)
    assert runs["files"].tolist() == [2]
    assert runs["start"].tolist() == [1.7e9]


@pytest.mark.parametrize("edges", ["clipped", "logged"])
def test_real_histograms_come_back_equal(log, edges, tmp_path):
    dataset = tbframe.histograms(log_path(log), edges=edges, restarts="keep")
    paths = dataset.tb.write(tmp_path)
    assert len(paths) == dataset.sizes["run"] == 2
    back = tbframe.histograms(tmp_path, edges=edges, restarts="keep")
    assert back.equals(dataset)
    assert float(dataset["counts"].sum()) > 1000


def test_results_go_back_to_tensorboard(tmp_path):
    logs = tbframe.sample_logs()
    rebinned = tbframe.histograms(logs, tags="0.weight", runs="adam-1e-2").tb.rebin(12)
    with pytest.warns(UserWarning, match=r"the statistics .* of 7 histograms were not written"):
        rebinned.tb.write(tmp_path / "rebinned")
    back = tbframe.histograms(tmp_path / "rebinned")
    np.testing.assert_array_equal(back["counts"], rebinned["counts"])
    np.testing.assert_array_equal(back["left"], np.broadcast_to(rebinned["left"], back["left"].shape))
    rebinned["counts"].tb.write(tmp_path / "array")
    np.testing.assert_array_equal(tbframe.histograms(tmp_path / "array")["counts"], rebinned["counts"])
    frame = tbframe.scalars(logs).tb.select(tags="accuracy/test")
    mean = frame.tb.aggregate(lambda run: "lr " + run.removeprefix("adam-"), band=None)
    with pytest.warns(UserWarning, match="not exact in float32"):
        mean.tb.smooth(0.5).tb.write(tmp_path / "mean")
    expected = mean.tb.smooth(0.5)[["run", "tag", "step", "wall_time", "value"]]
    pd.testing.assert_frame_equal(tbframe.scalars(tmp_path / "mean"), expected, check_exact=True)
