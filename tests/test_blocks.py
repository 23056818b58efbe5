"""Values read many at a time are those that are read one by one, whatever the buffer holds."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import log_path
from event_bytes import VERSION, field, record, scalar_event, stream, timed
from hypothesis import given, settings
from hypothesis import strategies as st

import tbframe
from tbframe.events import blocks as module
from tbframe.events.blocks import blocks
from tbframe.events.payloads import payloads

SIZES = (64, 1000, 4096, 1 << 16, 1 << 20)


def opened(path):
    """The rows of a log and its files by code."""
    catalog = tbframe.open(path)._resolved("ignore", None)
    return catalog.table, {file.code: file for file in catalog.files}


def in_blocks(files, rows, which, size):
    """What `payloads` returns, from blocks."""
    found = [None] * len(which)
    for block in blocks(files, rows, which, size):
        assert len(block.places) == len(block.at) == len(block.size)
        for place, at, n in zip(block.places.tolist(), block.at.tolist(), block.size.tolist(), strict=True):
            assert found[place] is None
            found[place] = block.buffer.view[at : at + n].tobytes()
    return found


@pytest.mark.parametrize("size", SIZES)
def test_all_values_of_a_log(log, size):
    rows, files = opened(log_path(log))
    which = np.arange(len(rows))
    assert in_blocks(files, rows, which, size) == payloads(files, rows, which)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_some_values_in_any_order(data):
    rows, files = opened(log_path("torch"))
    which = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=40, unique=True))
    which = np.array(which, np.int64)
    size = data.draw(st.sampled_from(SIZES))
    assert in_blocks(files, rows, which, size) == payloads(files, rows, which)


def value(tag: bytes, member: bytes) -> bytes:
    return field(1, field(1, tag) + member)


def histogram_event(step: int, *members: bytes) -> bytes:
    return timed(step, field(5, b"".join(value(b"h%d" % i, field(5, m)) for i, m in enumerate(members))))


@pytest.mark.parametrize("size", SIZES)
def test_several_values_of_an_event_and_values_of_every_size(tmp_path, size):
    rng = np.random.default_rng(0)
    events = [VERSION]
    members = []
    for step in range(200):
        event = [rng.bytes(int(n)) for n in rng.choice((0, 1, 40, 700, 9000), int(rng.integers(1, 4)))]
        members += event
        events += [histogram_event(step, *event), scalar_event(step, 1.0)]
    for run in "ab":
        (tmp_path / run).mkdir()
        (tmp_path / run / "tfevents").write_bytes(stream(events))
    rows, files = opened(tmp_path)
    which = np.flatnonzero(rows["what"] == 5)
    assert in_blocks(files, rows, which, size) == members * 2
    assert in_blocks(files, rows, which[::-1], size) == (members * 2)[::-1]


@pytest.mark.parametrize("size", SIZES)
def test_values_that_protobuf_merges(tmp_path, size):
    """Of a member that is there twice nobody knows the place: the two are merged."""
    odd = timed(1, field(5, value(b"h", field(5, b"\x09" + b"\3" * 8) + field(5, b"\x11" + b"\1" * 8))))
    plain = histogram_event(2, b"\x19" + b"\2" * 8)
    (tmp_path / "tfevents").write_bytes(stream([VERSION, plain, odd, plain]))
    rows, files = opened(tmp_path)
    which = np.flatnonzero(rows["what"] == 5)
    plain = b"\x19" + b"\2" * 8
    assert in_blocks(files, rows, which, size) == [plain, b"\x09" + b"\3" * 8 + b"\x11" + b"\1" * 8, plain]


@pytest.mark.parametrize("size", SIZES)
def test_records_that_were_damaged_since(tmp_path, size):
    path = tmp_path / "tfevents"
    members = [bytes([i]) * 50 for i in range(9)]
    events = [histogram_event(i + 1, member) for i, member in enumerate(members)]
    path.write_bytes(stream([VERSION, *events]))
    rows, files = opened(tmp_path)
    which = np.flatnonzero(rows["what"] == 5)
    starts = rows["record"][which]
    data = bytearray(path.read_bytes())
    data[int(starts[2]) + 30] ^= 1  # in the payload
    data[int(starts[4])] ^= 0x40  # a length that leads into the next record
    data[int(starts[6]) + 7] ^= 0x80  # a length beyond all bounds
    path.write_bytes(bytes(data[:-3]))  # and the last one is cut
    found = in_blocks(files, rows, which, size)
    assert found == [None if i in (2, 4, 6, 8) else member for i, member in enumerate(members)]
    (file,) = files.values()
    assert sorted(damage.offset for damage in file.damage) == starts[[2, 4, 6, 8]].tolist()
    assert {damage.reason for damage in file.damage} == {"the data checksum of a record does not match"}


def test_a_value_never_reaches_beyond_its_record(tmp_path):
    """A file written anew may have another record where one was: what is not verified is not returned."""
    path = tmp_path / "tfevents"
    path.write_bytes(stream([VERSION, histogram_event(1, b"\1" * 90), histogram_event(2, b"\2" * 90)]))
    rows, files = opened(tmp_path)
    which = np.flatnonzero(rows["what"] == 5)
    start = int(rows["record"][which[0]])
    data = path.read_bytes()
    path.write_bytes(data[:start] + record(b"\7" * 60) + data[start + 76 :])
    assert in_blocks(files, rows, which[:1], 1 << 12) == [b"\7" * (60 - int(rows["at"][which[0]]))]


def test_records_passed_over_are_verified(tmp_path):
    big = [bytes([i]) * 100_000 for i in range(4)]
    (tmp_path / "tfevents").write_bytes(stream([VERSION, *(histogram_event(i + 1, m) for i, m in enumerate(big))]))
    rows, files = opened(tmp_path)
    which = np.flatnonzero(rows["what"] == 5)
    (file,) = files.values()
    unchecked = set(file.unchecked)
    assert unchecked
    assert in_blocks(files, rows, which[1:2], 1 << 12) == big[1:2]
    assert unchecked - file.unchecked == {int(rows["record"][which[1]])} & unchecked
    assert in_blocks(files, rows, which, 1 << 12) == big
    assert not file.unchecked


def test_what_lies_between_is_not_read(tmp_path, monkeypatch):
    """One tag of many is read without the others."""
    events = [timed(s, field(5, value(b"h%d" % (s % 10), field(5, bytes([s]) * 9000)))) for s in range(1, 101)]
    (tmp_path / "tfevents").write_bytes(stream([VERSION, *events]))
    rows, files = opened(tmp_path)
    which = np.flatnonzero((rows["what"] == 5) & (rows["step"] % 10 == 3))
    read = []
    inner = module._Filling._read_into

    def counted(self, stream, offset, n):
        read.append(n)
        return inner(self, stream, offset, n)

    monkeypatch.setattr(module._Filling, "_read_into", counted)
    assert in_blocks(files, rows, which, 1 << 20) == [bytes([s]) * 9000 for s in range(3, 101, 10)]
    assert sum(read) < 11 * 10_000


def test_nothing_asked_for(tmp_path):
    (tmp_path / "tfevents").write_bytes(stream([VERSION]))
    rows, files = opened(tmp_path)
    assert list(blocks(files, rows, np.zeros(0, np.int64))) == []
