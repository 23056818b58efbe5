"""The logs are what the real writers write."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import tbframe
from tbframe.events.messages import message_class

from . import logs, shapes, wire

pytestmark = pytest.mark.benchmark
REAL = Path(__file__).parent.parent / "data" / "logs"


def records(path):
    content, at = path.read_bytes(), 0
    while at < len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        yield content[at : at + 16 + length]
        at += 16 + length


def values(log, member):
    """The records of a real log that hold one value of a kind, parsed, and as they are."""
    for path in sorted((REAL / log).rglob("*tfevents*")):
        for record in records(path):
            event = message_class("Event").FromString(record[12:-4])
            if len(event.summary.value) == 1 and event.summary.value[0].WhichOneof("value") == member:
                yield event, event.summary.value[0], record


def rebuilt(path, event, summary):
    """The record as the benchmarks would write it."""
    with wire.EventFile(path) as file:
        file.add_summary(event.wall_time, event.step, summary)
    return list(records(file.path))[1]


def test_scalars_are_those_of_torch(tmp_path):
    found = list(values("torch", "simple_value"))
    for event, value, record in found[::10]:
        summary = wire.simple_value(value.tag, struct.pack("<f", value.simple_value))
        assert rebuilt(tmp_path, event, summary) == record
    assert len(found) > 100


def test_scalars_are_those_of_tensorflow_2(tmp_path):
    found = [one for one in values("tf2", "tensor") if one[1].metadata.plugin_data.plugin_name == b"scalars"]
    plain = [one for one in found if one[1].tensor.dtype == 1 and not one[1].metadata.summary_description]
    for event, value, record in plain:
        assert rebuilt(tmp_path, event, wire.scalar_tensor(value.tag, value.tensor.tensor_content)) == record
    assert len(plain) > 10


def test_histograms_are_those_of_tensorflow_2(tmp_path):
    found = [one for one in values("tf2", "tensor") if one[1].metadata.plugin_data.plugin_name == b"histograms"]
    plain = [one for one in found if one[1].tensor.tensor_content and not one[1].metadata.summary_description]
    for event, value, record in plain:
        buckets = np.frombuffer(value.tensor.tensor_content).reshape(-1, 3)
        assert rebuilt(tmp_path, event, wire.histogram_tensor(value.tag, buckets)) == record
    assert len(plain) > 10


def test_histograms_are_those_of_torch(tmp_path):
    found = 0
    for event, value, record in values("torch", "histo"):
        histo = value.histo
        statistics = [histo.min, histo.max, histo.num, histo.sum, histo.sum_squares]
        if all(statistics):  # those that are 0 are not written; the benchmark logs have none
            summary = wire.histogram_proto(value.tag, statistics, np.array(histo.bucket_limit), np.array(histo.bucket))
            assert rebuilt(tmp_path, event, summary) == record
            found += 1
    assert found > 10


def test_images_are_those_of_torch(tmp_path):
    found = [one for one in values("torch", "image") if one[1].image.colorspace == 3]
    for event, value, record in found:
        picture = value.image
        summary = wire.image(value.tag, picture.height, picture.width, picture.encoded_image_string)
        assert rebuilt(tmp_path, event, summary) == record
    assert found


@pytest.mark.parametrize("name", logs.RECIPES)
def test_small_logs_hold_what_they_say(name, tmp_path):
    log = logs.make(tmp_path, small=True, only=[name])[name]
    if log.kind == "scalars":
        frame = tbframe.scalars(log.path, damaged="raise")
        assert (len(frame), frame["step"].sum(), frame["value"].sum()) == (
            log.rows,
            log.steps,
            pytest.approx(log.total),
        )
    else:
        ds = tbframe.histograms(log.path, damaged="raise")
        assert int((ds["buckets"] > 0).sum()) == log.rows
        assert float(ds["counts"].sum()) == log.total
    before = Path(log.path).stat().st_mtime_ns
    assert logs.make(tmp_path, small=True, only=[name])[name] == log
    assert Path(log.path).stat().st_mtime_ns == before


def test_a_folder_of_others_is_left_alone(tmp_path):
    (tmp_path / "media").mkdir()
    with pytest.raises(FileExistsError, match="not made by the benchmarks"):
        logs.make(tmp_path, only=["media"])


@pytest.mark.parametrize(
    ("write", "size"),
    [(shapes.many_tags, 50), (shapes.long_tag, 400), (shapes.many_files, 30), (shapes.many_layouts, 1000)],
)
def test_shapes_hold_what_they_say(write, size, tmp_path):
    written = write(tmp_path, size)
    frame = tbframe.scalars(tmp_path, damaged="raise", restarts="keep")
    assert len(frame) == written.rows > size / 2
    assert frame["step"].sum() == written.steps
    assert frame["value"].sum() == pytest.approx(written.total)


def keys(message):
    """The keys of a message in their order, and what the field with a length at each of them holds."""
    at, found = 0, []
    while at < len(message):
        key, size = message[at], {0: 1, 1: 8, 2: 1 + message[at + 1], 5: 4}[message[at] & 7]
        if key & 7 == 0 and message[at + 1] > 127:
            size = 2
        found.append((key, message[at + 2 : at + 1 + size]))
        at += 1 + size
    return found


def test_layouts_are_a_hundred(tmp_path):
    shapes.many_layouts(tmp_path, 1000)
    (path,) = tmp_path.rglob("*tfevents*")
    layouts = set()
    for record in list(records(path))[1:]:
        event = keys(record[12:-4])
        ((_, value),) = keys(dict(event)[0x2A])
        layouts.add((tuple(key for key, _ in event), tuple(key for key, _ in keys(value))))
    assert len(layouts) == 100
