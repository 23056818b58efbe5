"""Events as arrays, one by one and through protobuf: three ways to the same rows, for every layout the wire allows."""

from __future__ import annotations

import math
import random
import struct
from pathlib import Path

import event_bytes as eb
import event_layouts as el
import numpy as np
import pytest
from event_bytes import FIXED32, FIXED64, LENGTH, VARINT, field, key, timed, varint
from event_layouts import Part
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tbframe.events import singly, through_protobuf, values
from tbframe.events.files import Metadata
from tbframe.events.interning import Interner
from tbframe.events.messages import message_class
from tbframe.events.metadata import NO_METADATA, TagMetadata, parse_metadata
from tbframe.events.wire import Buffer

MANY = 48
"""So many events of a layout are decoded as arrays."""
WINDOWS = (4096, 65536, 1 << 20)
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


# The three ways, told alike -------------------------------------------------------------------------------------------


def told(event: singly.SingleEvent, payload: bytes) -> tuple:
    """What an event says, with the bytes of its members instead of their places."""
    rows = [
        (
            row.tag,
            row.what,
            row.dtype,
            eb.number_bits(row.number),
            eb.canonical_metadata(row.metadata),
            member(payload, row.what, row.at, row.extent),
        )
        for row in event.rows
    ]
    version = None if event.version is None else eb.number_bits(event.version)
    return eb.number_bits(event.wall_time), event.step, rows, version, event.starts


def member(payload: bytes, what: int, at: int, extent: int) -> bytes | None:
    """The bytes of a member, found as readers find them."""
    if what in (values.NOTHING, values.EMPTY, values.SIMPLE):
        return None
    if at < 0:
        return eb.canonical_member(what, through_protobuf.member_bytes(payload, what, values.place_of_index(at)))
    assert 0 <= at <= at + extent <= len(payload)
    return eb.canonical_member(what, payload[at : at + extent])


def through_arrays(payloads: list[bytes]) -> list[singly.SingleEvent | None]:
    """Decode events together; None for those left to the other ways."""
    data = eb.stream(payloads)
    buffer = Buffer(len(data))
    buffer.view[: len(data)] = data
    places, _, _ = eb.serial_walk(data)
    start, length = np.array(places, np.int64).T.copy()
    tags = Interner()
    wall_time, step, found, odd = values.decode(buffer, start, length, tags)
    assert not odd[found.record].any()
    rows: list[list[singly.Row]] = [[] for _ in payloads]
    for record, code, what, dtype, number, at, extent, m_at, m_size in zip(
        *(column.tolist() for column in found), strict=True
    ):
        metadata = None if m_size < 0 else data[m_at : m_at + m_size]
        rows[record].append(singly.Row(tags.names[code], what, dtype, number, at, extent, metadata))
    assert (np.diff(found.record) >= 0).all()
    return [
        None if left else singly.SingleEvent(*event)
        for left, *event in zip(odd.tolist(), wall_time.tolist(), step.tolist(), rows, strict=True)
    ]


def from_protobuf(payload: bytes) -> tuple:
    """What protobuf itself says of an event, apart from what a tensor amounts to: written anew here."""
    event = message_class("Event").FromString(payload)
    member = event.WhichOneof("what")
    code = {
        "file_version": 3,
        "graph_def": 4,
        "log_message": 6,
        "session_log": 7,
        "tagged_run_metadata": 8,
        "meta_graph_def": 9,
    }
    rows = []
    if member == "summary":
        for value in event.summary.value:
            name = value.WhichOneof("value")
            held = None if name in (None, "simple_value") else getattr(value, name)
            what = {
                None: 0,
                "simple_value": 2,
                "obsolete_old_style_histogram": 3,
                "image": 4,
                "histo": 5,
                "audio": 6,
                "tensor": 8,
            }[name]
            metadata = value.metadata.SerializeToString(deterministic=True) if value.HasField("metadata") else None
            rows.append((value.tag, what, metadata, serialized(held), value.simple_value))
        rows = rows or [(b"", values.EMPTY, None, None, 0.0)]
    elif member:
        tag = {"graph_def": b"__run_graph__", "tagged_run_metadata": event.tagged_run_metadata.tag}.get(member, b"")
        rows.append((tag, 64 + code[member], None, serialized(getattr(event, member)), 0.0))
    return event.wall_time, event.step, rows, member == "session_log" and event.session_log.status == 1


def serialized(held: object) -> bytes | None:
    return held if held is None or isinstance(held, bytes) else held.SerializeToString(deterministic=True)


def check_against_protobuf(payload: bytes, event: singly.SingleEvent) -> tuple:
    """Compare what tbframe reads through protobuf with what protobuf says, and return it."""
    wall_time, step, rows, starts = from_protobuf(payload)
    found = told(event, payload)
    assert found[:2] == (eb.number_bits(wall_time), step)
    assert event.starts == starts
    assert len(rows) == len(event.rows)
    for (tag, what, metadata, held, number), row in zip(rows, found[2], strict=True):
        assert (tag, metadata, held) == (row[0], row[4], row[5])
        assert what == (values.TENSOR if row[1] == values.NUMBER else row[1])
        if row[1] != values.NUMBER:
            assert row[3] == eb.number_bits(number)
    return found


# Generated events -----------------------------------------------------------------------------------------------------

plain = el.events()


@given(layouts=st.lists(plain, min_size=1, max_size=3), seed=st.integers(0, 2**32))
@settings(relaxed, max_examples=60)
def test_three_ways_to_the_same_rows(layouts, seed):
    rng = random.Random(seed)
    payloads = [el.encode(layout, rng) for _ in range(MANY) for layout in layouts]
    for payload, by_arrays in zip(payloads, through_arrays(payloads), strict=True):
        expected = check_against_protobuf(payload, through_protobuf.parse(payload))
        if by_arrays is not None:
            assert told(by_arrays, payload) == expected
        try:
            one = singly.parse(lambda at, n, data=payload: data[at : at + n], len(payload))
        except singly.Odd:
            continue
        assert told(one, payload) == expected


@given(layout=el.tensors(), seed=st.integers(0, 2**32))
@settings(relaxed, max_examples=80)
def test_three_ways_to_the_same_tensors(layout, seed):
    rng = random.Random(seed)
    payloads = [eb.tensor_event(i, el.encode(layout, rng)) for i in range(MANY)]
    for payload, by_arrays in zip(payloads, through_arrays(payloads), strict=True):
        expected = check_against_protobuf(payload, through_protobuf.parse(payload))
        if by_arrays is not None:
            assert told(by_arrays, payload) == expected
        try:
            one = singly.parse(lambda at, n, data=payload: data[at : at + n], len(payload))
        except singly.Odd:
            continue
        assert told(one, payload) == expected


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("decoding")


def told_of_file(payloads: list[bytes], offsets: list[int]) -> tuple:
    """What `load` has to find in a file of these events, read through protobuf."""
    table, members, metadata, versions, starts = [], [], {}, [], []
    times = [np.inf, -np.inf]
    for offset, payload in zip(offsets, payloads, strict=True):
        event = through_protobuf.parse(payload)
        where = offset, event.step, eb.number_bits(event.wall_time)
        for row in event.rows:
            table.append((*where, row.tag, row.what, row.dtype, eb.number_bits(row.number)))
            members.append(member(payload, row.what, row.at, row.extent))
            if row.metadata is not None:
                metadata.setdefault(row.tag, (offset, row.metadata))
        versions += [(offset, eb.number_bits(event.version))] if event.version is not None else []
        starts += [(offset, event.step)] if event.starts else []
        if not math.isnan(event.wall_time):
            times = [min(times[0], event.wall_time), max(times[1], event.wall_time)]
    return table, members, metadata, versions, starts, times


def check_windows(path: Path, payloads: list[bytes]) -> None:
    data = eb.stream(payloads)
    offsets = [at for at, _ in eb.serial_walk(data)[0]]
    table, members, metadata, versions, starts, times = told_of_file(payloads, offsets)
    payload_at = dict(zip(offsets, payloads, strict=True))
    for size in WINDOWS:
        found = eb.load_bytes(path, data, size)
        assert found.table() == table
        places = zip(*map(found.column, ("record", "what", "at", "extent")), strict=True)
        assert [member(payload_at[offset], *place) for offset, *place in places] == members
        file = found.file
        assert [(offset, eb.number_bits(version)) for offset, version in file.versions] == versions
        assert file.starts == starts
        names = found.tags.names
        first = {names[code]: (m.offset, eb.canonical_metadata(m.content)) for code, m in file.metadata.items()}
        assert first == metadata
        assert [file.first_time, file.last_time] == times
        assert (file.records, file.damage) == (len(payloads), [])
        assert (file.offset, file.size, file.truncated) == (len(data), len(data), False)


@given(
    groups=st.lists(st.tuples(plain, st.sampled_from((1, 3, 31, 40, 70))), min_size=1, max_size=4),
    shuffled=st.booleans(),
    seed=st.integers(0, 2**32),
)
@settings(relaxed, max_examples=30)
def test_windows_of_any_size_give_what_protobuf_gives(folder, groups, shuffled, seed):
    rng = random.Random(seed)
    payloads = [el.encode(layout, rng) for layout, count in groups for _ in range(count)]
    if shuffled:
        rng.shuffle(payloads)
    check_windows(folder / "tfevents", payloads)


@given(layout=plain, size=st.sampled_from((2100, 17000)), place=st.integers(0, 3), seed=st.integers(0, 2**32))
@settings(relaxed, max_examples=40)
def test_large_events_are_no_different(folder, layout, size, place, seed):
    """Those of which only the head is kept, and the keys behind it are read where they lie."""
    rng = random.Random(seed)
    small = [el.encode(layout, rng) for _ in range(3)]
    large = swollen(layout, size, place, rng)
    payloads = [el.encode(large, rng) for _ in range(MANY)]
    check_windows(folder / "tfevents", [*small, *payloads, *small])


_DOWN = (5, 1, 8)
"""The fields that lead from an event to its summary, to a value of it and to its tensor."""


def swollen(layout: el.Layout, size: int, depth: int, rng: random.Random, level: int = 0) -> el.Layout:
    """The same layout with many bytes more somewhere: in the event, its summary, one of its values, or a tensor."""
    inner = [i for i, part in enumerate(layout) if level < depth and (part.number, part.kind) == (_DOWN[level], LENGTH)]
    if inner:
        i = rng.choice(inner)
        part = layout[i]._replace(what=swollen(layout[i].what, size, depth, rng, level + 1))
        return (*layout[:i], part, *layout[i + 1 :])
    i = rng.randint(0, len(layout))
    number = 4 if level == len(_DOWN) else 11  # the content of a tensor; elsewhere an unknown field
    return (*layout[:i], Part(number, LENGTH, bytes(size)), *layout[i:])


@given(
    layouts=st.lists(plain, min_size=1, max_size=2),
    large=st.sampled_from((0, 0, 2100, 17000)),
    seed=st.integers(0, 2**32),
)
@settings(relaxed, max_examples=50)
def test_malformed_events_are_reported_and_change_no_other(folder, layouts, large, seed):
    """Bytes changed under right checksums: what protobuf can read is read, the rest never does more than be reported."""
    rng = random.Random(seed)
    if large:
        layouts = [swollen(layout, large, rng.randint(0, 3), rng) for layout in layouts]
    payloads = [spoilt(el.encode(layout, rng), rng) for layout in layouts for _ in range(MANY)]
    sound = b"".join(eb.record(eb.scalar_event(step, step / 2)) for step in range(MANY))
    data = eb.stream(payloads) + sound
    offsets = [at for at, _ in eb.serial_walk(data)[0]]
    expected = {}
    for offset, payload in zip(offsets, payloads, strict=False):
        try:
            event = through_protobuf.parse(payload)
        except ValueError:
            continue
        expected[offset] = [
            (event.step, eb.number_bits(event.wall_time), row.tag, row.what, row.dtype, eb.number_bits(row.number))
            for row in event.rows
        ]
    found = eb.load_bytes(folder / "tfevents", data, rng.choice(WINDOWS))
    told_of: dict[int, list] = {offset: [] for offset in expected}
    for offset, *row in found.table():
        told_of.setdefault(offset, []).append(tuple(row))
    assert {offset: told_of[offset] for offset in expected} == expected
    assert found.column("number")[-MANY:] == [step / 2 for step in range(MANY)]
    reported = {damage.offset for damage in found.file.damage}
    assert reported.isdisjoint(expected)
    assert found.file.records == len(offsets) - len(reported)


def spoilt(payload: bytes, rng: random.Random) -> bytes:
    """A payload with a byte or two changed, taken out, put in, or its end missing."""
    data = bytearray(payload)
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(data) + 1)
        match rng.choice(("change", "change", "flip", "take", "put", "cut")):
            case "change" if at < len(data):
                data[at] = rng.choice((0, 1, 8, 9, 10, 0x12, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            case "flip" if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case "take":
                del data[at : at + 1]
            case "put":
                data.insert(at, rng.choice((0, 0x80, 0xFF, 0x0B, 0x0C, rng.randrange(256))))
            case "cut":
                del data[at:]
    return bytes(data)


# What arrays must take ------------------------------------------------------------------------------------------------

_TAG, _SIMPLE = Part(1, LENGTH, "tag"), Part(2, FIXED32, "single")
_TIME, _STEP = Part(1, FIXED64, "double"), Part(2, VARINT, "step")


def _event(*value: Part, before: tuple = (_TIME, _STEP), behind: tuple = ()) -> tuple:
    return (*before, Part(5, LENGTH, (Part(1, LENGTH, value),)), *behind)


_TENSOR = (Part(1, VARINT, 1), Part(2, LENGTH, ()), Part(4, LENGTH, el.Random(4)))
_SCALARS = Part(9, LENGTH, (Part(1, LENGTH, b"\x0a\x07scalars"), Part(4, VARINT, 1)))
_STRING, _STRANGE = Part(8, LENGTH, el.Random(3)), Part(11, LENGTH, el.Random(3))
COMMON = {
    "PyTorch": _event(_TAG, _SIMPLE),
    "any order": _event(_SIMPLE, _TAG, before=(), behind=(_STEP, _TIME)),
    "no wall time": _event(_TAG, _SIMPLE, before=(_STEP,)),
    "no step": _event(_TAG, _SIMPLE, before=(_TIME,)),
    "no tag": _event(_SIMPLE),
    "a tag and nothing": _event(_TAG),
    "CatBoost": _event(_TAG, _SIMPLE, Part(7, LENGTH, el.Random(5))),
    "R": _event(_TAG, _SIMPLE, _SCALARS),
    "TensorFlow 2": _event(_TAG, Part(8, LENGTH, _TENSOR), _SCALARS),
    "metadata first": _event(_SCALARS, Part(8, LENGTH, _TENSOR), _TAG),
    "PyTorch, new style": _event(_TAG, Part(8, LENGTH, (Part(1, VARINT, 1), Part(5, LENGTH, el.Random(4)))), _SCALARS),
    "integers in a list": _event(_TAG, Part(8, LENGTH, (Part(1, VARINT, 9), Part(10, LENGTH, el.Packed(1))))),
    "strings": _event(_TAG, Part(8, LENGTH, (Part(1, VARINT, 7), Part(8, LENGTH, el.Random(0, 9)), _STRING))),
    "histograms": _event(_TAG, Part(5, LENGTH, (Part(1, FIXED64, "double"), Part(6, LENGTH, el.Random(16))))),
    "images": _event(_TAG, Part(4, LENGTH, (Part(1, VARINT, 2), Part(4, LENGTH, el.Random(0, 50))))),
    "unknown fields": _event(_TAG, Part(15, FIXED64, "double"), _SIMPLE, Part(14, VARINT, "integer"), behind=(_STRANGE,)),
    "three values": (_TIME, _STEP, Part(5, LENGTH, (Part(1, LENGTH, (_TAG, _SIMPLE)),) * 3)),
    "source": _event(_TAG, _SIMPLE, behind=(Part(10, LENGTH, (Part(1, LENGTH, b"writer"),)),)),
    "nothing but a time": (_TIME,),
    "nothing": (),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMON)
def test_what_writers_write_is_decoded_as_arrays(name):
    rng = random.Random(7)
    payloads = [el.encode(COMMON[name], rng) for _ in range(200)]
    found = through_arrays(payloads)
    assert None not in found
    for payload, event in zip(payloads, found, strict=True):
        assert told(event, payload) == check_against_protobuf(payload, through_protobuf.parse(payload))


def test_the_rows_of_several_values_keep_their_order():
    value = lambda tag, number: field(1, field(1, tag) + key(2, FIXED32) + struct.pack("<f", number))  # noqa: E731
    payloads = [timed(1 + i, field(5, value(b"a", i) + value(b"b", -i) + value(b"a", 0.5))) for i in range(MANY)]
    for i, event in enumerate(through_arrays(payloads)):
        assert [(row.tag, row.number) for row in event.rows] == [(b"a", i), (b"b", -i), (b"a", 0.5)]


# Malformed, by hand ---------------------------------------------------------------------------------------------------

MALFORMED = {
    "shape": eb.tensor_event(0, b"\x08\x01" + field(2, b"\x12\x05") + field(4, bytes(4))),
    "shape with a name that is not UTF-8": eb.tensor_event(
        0, b"\x08\x01" + field(2, b"\x12\x03\x12\x01\xff") + field(4, bytes(4))
    ),
    "length near 2**63": b"\x2a" + varint(2**63 - 1) + b"\x0a",
    "length of 2**64 - 1": b"\x2a" + varint(2**64 - 1) + b"\x0a",
    "length that wraps round": timed(1, b"\x2a" + varint(2**64 - 11)),
    "value beyond its summary": timed(1, field(5, b"\x0a\x7f\x15\0\0\0\0")),
    "tag beyond its value": timed(1, field(5, field(1, b"\x0a\x10loss"))),
    "simple value cut": timed(1, field(5, field(1, b"\x0a\x04loss\x15\0\0"))),
    "wall time cut": b"\x09\0\0\0",
    "varint of eleven bytes": b"\x10" + b"\xff" * 10 + b"\x01",
    "varint without an end": b"\x10\xff\xff",
    "field number 0": b"\x00\x01",
    "group without an end": b"\x0b\x08\x01",
    "end of a group": b"\x0c",
    "wire type 6": b"\x0e",
    "a key only": b"\x2a",
    "a session log cut": field(7, b"\x08"),
    "run metadata cut": field(8, b"\x0a\x09tag"),
    "zeros": bytes(40),
}


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("count", [1, MANY])
@pytest.mark.parametrize("padding", [0, 5000, 17000])
def test_malformed_events_are_reported_each(tmp_path, name, count, padding):
    """Also where they lie in a payload so large that only its keys are read."""
    bad = field(11, bytes(padding)) * bool(padding) + MALFORMED[name]
    with pytest.raises(ValueError, match="no Event message"):
        through_protobuf.parse(bad)
    good = [eb.scalar_event(step, 0.5) for step in range(60)]
    data = eb.stream([*good, *[bad] * count, *good])
    for size in WINDOWS:
        found = eb.load_bytes(tmp_path / "tfevents", data, size)
        begin = len(eb.stream(good))
        assert found.column("step") == [*range(60), *range(60)]
        assert [damage[:2] for damage in found.file.damage] == [
            (begin + i * (len(bad) + 16), len(bad) + 16) for i in range(count)
        ]
        assert all("no Event message" in damage.reason for damage in found.file.damage)
        assert found.file.records == 120


# Odds and ends --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (b"brain.Event:2", 2), (b"brain.Event:1", 1), (b"x brain.Event:1 brain.Event:3", 3), (b"brain.Event:", -1), (b"", -1),
        (b"2.5", 2.5), (b"brain.Event:\xff", -1),
    ],
)  # fmt: skip
def test_versions(text, version):
    assert singly.parse_version(text) == version
    payload = field(3, text)
    assert singly.parse(lambda at, n: payload[at : at + n], len(payload)).version == version
    assert through_protobuf.parse(payload).version == version


def test_metadata_that_repeat_are_merged_and_garbage_says_nothing():
    whole = field(1, field(1, b"scalars") + field(2, b"\1")) + field(2, b"name") + field(3, b"text \xff") + b"\x20\x01"
    assert parse_metadata(whole) == TagMetadata("scalars", b"\1", 1, "name", "text \\xff")
    pieces = (
        field(1, field(1, b"scalars"))
        + field(1, field(2, b"\1"))
        + field(2, b"no")
        + field(2, b"name")
        + field(3, b"text \xff")
        + b"\x20\x02\x20\x01"
    )
    assert parse_metadata(pieces) == parse_metadata(whole)
    assert parse_metadata(b"") == parse_metadata(b"\x0a\x09") == NO_METADATA


@given(layout=el.METADATA, seed=st.integers(0, 2**32))
@settings(relaxed, max_examples=30)
def test_metadata_are_what_protobuf_reads(layout, seed):
    data = el.encode(layout, random.Random(seed))
    message = message_class("SummaryMetadata").FromString(data)
    found = parse_metadata(data)
    assert (found.plugin, found.content) == (message.plugin_data.plugin_name.decode(), message.plugin_data.content)
    assert found.data_class == message.data_class
    assert found.display_name == message.display_name.decode("utf-8", "backslashreplace")


@pytest.mark.parametrize("size", WINDOWS)
def test_the_first_metadata_of_each_tag_is_kept(tmp_path, size):
    tensor = b"\x08\x01" + field(4, bytes(4))
    payloads = [
        eb.tensor_event(i, tensor, b"ab"[i % 2 : i % 2 + 1], eb.metadata_of(b"plugin%d" % i) if i >= 10 else None)
        for i in range(300)
    ]
    payloads[5] = payloads[5] + b"\x92\x01\x00"  # a key of two bytes: read by itself, and still in its place
    found = eb.load_bytes(tmp_path / "tfevents", eb.stream(payloads), size)
    length = [len(eb.record(payload)) for payload in payloads]
    assert found.file.metadata == {
        found.tags.names.index(b"a"): Metadata(sum(length[:10]), eb.metadata_of(b"plugin10")),
        found.tags.names.index(b"b"): Metadata(sum(length[:11]), eb.metadata_of(b"plugin11")),
    }


def test_a_value_without_a_member_lies_nowhere():
    payload = timed(1, field(5, field(1, field(1, b"_hparams_/experiment") + field(9, eb.metadata_of(b"hparams")))))
    for event in (*through_arrays([payload] * MANY), singly.parse(lambda at, n: payload[at : at + n], len(payload))):
        (row,) = event.rows
        assert (row.what, row.extent, row.metadata) == (values.NOTHING, 0, eb.metadata_of(b"hparams"))
        assert 0 <= row.at <= len(payload)


def test_a_session_that_is_said_to_start_and_then_not():
    for payload, starts in (
        (field(7, b"\x08\x01\x08\x02"), False),
        (field(7, b"\x08\x02\x08\x01"), True),
        (field(7, b""), False),
    ):
        assert singly.parse(lambda at, n, data=payload: data[at : at + n], len(payload)).starts == starts
        assert through_protobuf.parse(payload).starts == starts


def test_starts_and_versions_are_told_in_the_order_of_the_file(tmp_path):
    """Also where one lies in a large record, that was not in the window with the others."""
    large = field(11, bytes(3000))
    payloads = [timed(i, eb.START + (large if i % 3 == 1 else b"")) for i in range(9)]
    payloads += [field(3, b"brain.Event:%d" % i) + (large if i % 3 == 1 else b"") for i in range(9)]
    for size in WINDOWS:
        found = eb.load_bytes(tmp_path / "tfevents", eb.stream(payloads), size)
        assert [step for _, step in found.file.starts] == list(range(9))
        assert [version for _, version in found.file.versions] == list(range(9))
