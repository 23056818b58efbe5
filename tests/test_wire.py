"""The wire format over arrays: varints and cursors against slow readings of the same bytes."""

from __future__ import annotations

import numpy as np
import pytest
from event_bytes import FIXED32, FIXED64, GROUP, LENGTH, VARINT, field, key, varint
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tbframe.events.messages import message_class
from tbframe.events.wire import FEW, Buffer, read_varint, walk

relaxed = settings(deadline=None)


def buffer_of(data: bytes, spare: int = 0) -> Buffer:
    buffer = Buffer(len(data) + spare)
    buffer.view[: len(data)] = data
    return buffer


def signed(value: int) -> int:
    value %= 2**64
    return value - 2**64 if value >> 63 else value


# Buffers --------------------------------------------------------------------------------------------------------------


def test_numbers_start_at_any_byte_and_may_start_at_the_last():
    data = bytes(range(1, 41))
    buffer = buffer_of(data)
    for at in range(len(data)):
        padded = data[at:] + bytes(8)
        assert buffer.u8[at] == int.from_bytes(padded[:8], "little")
        assert buffer.u4[at] == int.from_bytes(padded[:4], "little")
        assert buffer.f8[at] == np.frombuffer(padded[:8], "<f8")[0]
        assert buffer.f4[at] == np.frombuffer(padded[:4], "<f4")[0]
    buffer.view[3] = 0xAA
    assert buffer.bytes[3] == buffer.u8[3] & 0xFF == 0xAA


# Varints --------------------------------------------------------------------------------------------------------------

VALUES = st.integers(0, 2**64 - 1) | st.integers(0, 63).map(lambda bit: 1 << bit) | st.integers(-3, 300)


@given(st.lists(st.tuples(VALUES, st.integers(1, 10)), min_size=1, max_size=40))
@settings(relaxed, max_examples=100)
@example([(-1, 1), (2**63, 1), (2**63 - 1, 1), (2**56, 1), (2**56 - 1, 1), (0, 10), (1, 9), (127, 8)])
def test_varints_of_every_width(varints):
    pieces = [varint(value, width) for value, width in varints]
    buffer = buffer_of(b"".join(pieces))
    at = np.cumsum([0, *map(len, pieces[:-1])])
    value, size = read_varint(buffer, at)
    assert value.dtype == size.dtype == np.int64
    assert value.tolist() == [signed(value) for value, _ in varints]
    assert size.tolist() == list(map(len, pieces))
    one, taken = read_varint(buffer, at[-1:])
    assert (one[0], taken[0]) == (value[-1], size[-1])


@pytest.mark.parametrize("data", [b"\xff" * 10, b"\x80" * 10, b"\x81" * 64])
def test_ten_bytes_without_an_end_are_no_varint(data):
    buffer = buffer_of(data + b"\x05")
    assert read_varint(buffer, np.array([0]))[1].tolist() == [0]
    value, size = read_varint(buffer, np.array([0, len(data)]))
    assert (value[1], size.tolist()) == (5, [0, 1])


@pytest.mark.parametrize("tenth", [0, 1, 2, 0x7E, 0x7F])
def test_bits_beyond_the_64th_do_not_count(tenth):
    """As protobuf has it."""
    data = b"\x85" + b"\x80" * 8 + bytes([tenth])
    value, size = read_varint(buffer_of(data), np.array([0]))
    assert (value[0], size[0]) == (message_class("Event").FromString(b"\x10" + data).step, 10)


def test_no_varints_at_all():
    value, size = read_varint(buffer_of(b"\x05"), np.zeros(0, np.int64))
    assert (value.tolist(), size.tolist()) == ([], [])


# Cursors --------------------------------------------------------------------------------------------------------------


def slow_fields(data: bytes) -> list[tuple[int, object]] | None:
    """Key and value of every field of a message with keys of one byte; None if it is none."""
    found, at = [], 0

    def number() -> int | None:
        nonlocal at
        for n in range(10):
            if at + n >= len(data):
                return None
            if data[at + n] < 0x80:
                value = sum((byte & 0x7F) << 7 * i for i, byte in enumerate(data[at : at + n + 1]))
                at += n + 1
                return value
        return None

    while at < len(data):
        head = data[at]
        at += 1
        if not 8 <= head < 0x80 or head & 7 not in (VARINT, FIXED64, LENGTH, FIXED32):
            return None
        if head & 7 == VARINT:
            value = number()
            if value is None:
                return None
            found.append((head, signed(value)))
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(head & 7) or number()
        if size is None and head & 7 == LENGTH:
            return None
        if size is None or at + size > len(data):
            return None
        found.append((head, data[at : at + size]))
        at += size
    return found


def walked(messages: list[bytes]) -> list[list[tuple[int, object]] | None]:
    """The same from arrays; None for the messages that are left to protobuf."""
    data = b"".join(messages)
    buffer = buffer_of(data)
    end = np.cumsum(list(map(len, messages)))
    start = end - np.array(list(map(len, messages)))
    odd = np.zeros(len(messages), bool)
    found: list[list[tuple[int, object]]] = [[] for _ in messages]
    for step, ids, at, size in walk(buffer, start, end, odd):
        assert len(np.unique(ids)) == len(ids)
        assert len(at) == len(ids)
        assert (len(size) == 0) == (step & 7 in (FIXED64, FIXED32))
        for j, i in enumerate(ids.tolist()):
            width = {FIXED64: 8, FIXED32: 4}.get(step & 7)
            place = int(at[j])
            value: object = place if step & 7 == VARINT else data[place : place + (width or int(size[j]))]
            found[i].append((step, value))
    return [None if left else fields for left, fields in zip(odd.tolist(), found, strict=True)]


FIELDS = st.one_of(
    st.builds(
        lambda n, v, w: key(n, VARINT) + varint(v, w), st.integers(1, 15), VALUES, st.sampled_from((1, 1, 2, 10))
    ),
    st.builds(lambda n, v: key(n, LENGTH) + varint(len(v)) + v, st.integers(1, 15), st.binary(max_size=20)),
    st.builds(lambda n, v: key(n, FIXED64) + v, st.integers(1, 15), st.binary(min_size=8, max_size=8)),
    st.builds(lambda n, v: key(n, FIXED32) + v, st.integers(1, 15), st.binary(min_size=4, max_size=4)),
)
MESSAGES = st.lists(FIELDS, max_size=5).map(b"".join)


@given(st.lists(MESSAGES, min_size=1, max_size=4), st.integers(0, 2**32))
@settings(relaxed, max_examples=60)
def test_messages_of_several_layouts_are_walked_field_by_field(layouts, seed):
    messages = layouts * FEW
    np.random.default_rng(seed).shuffle(messages)
    for message, fields in zip(messages, walked(messages), strict=True):
        assert fields == slow_fields(message)


@given(st.lists(MESSAGES | st.binary(max_size=12), min_size=1, max_size=3), st.data())
@settings(relaxed, max_examples=100)
def test_what_is_no_message_is_odd_and_disturbs_no_other(layouts, data):
    bad = data.draw(st.sampled_from(layouts))
    cut = data.draw(st.integers(0, len(bad)))
    layouts = [*layouts, bad[:cut], bad[:cut] + data.draw(st.binary(max_size=11))]
    messages = layouts * FEW
    for message, fields in zip(messages, walked(messages), strict=True):
        assert fields == slow_fields(message)


@pytest.mark.parametrize(
    "message",
    [
        b"\x00", b"\x07", b"\x0b\x0c", b"\x0c", b"\x0e", b"\x0f", b"\x80\x01\x05", b"\xff", b"\x08", b"\x08\x80",
        b"\x0a", b"\x0a\x01", b"\x0a\x80",
        b"\x09" + bytes(7), b"\x0d" + bytes(3), b"\x08" + b"\xff" * 10, b"\x08" + b"\xff" * 10 + b"\x01",
        b"\x0a" + varint(2**63 - 1), b"\x0a" + varint(2**63),
        b"\x0a" + varint(-1), b"\x0a" + varint(-20), b"\x0a" + b"\xff" * 10, b"\x0a" + varint(2**32), key(20, GROUP),
    ],
)  # fmt: skip
def test_malformed_and_rare_messages_are_odd(message):
    good = field(1, b"name") + key(2, VARINT) + varint(-3)
    found = walked([good, message] * FEW)
    assert found[1::2] == [None] * FEW
    assert found[::2] == [[(0x0A, b"name"), (0x10, -3)]] * FEW
    behind = walked([good, good + message] * FEW)
    assert behind[1::2] == [None] * FEW
    assert behind[::2] == [[(0x0A, b"name"), (0x10, -3)]] * FEW


def test_layouts_that_few_share_are_odd():
    common, rare = field(1, b"a"), field(2, b"b")
    found = walked([common] * FEW + [rare] * (FEW - 1))
    assert found == [[(0x0A, b"a")]] * FEW + [None] * (FEW - 1)
    assert walked([b""] * 3) == [[]] * 3


def test_the_number_of_steps_is_that_of_layouts_not_of_messages():
    messages = [
        field(1, b"x" * (i % 7)) + key(2, VARINT) + varint(i) + (key(3, FIXED32) + bytes(4)) * (i % 2)
        for i in range(2000)
    ]
    buffer = buffer_of(b"".join(messages))
    end = np.cumsum(list(map(len, messages)))
    odd = np.zeros(2000, bool)
    assert sum(1 for _ in walk(buffer, end - np.array(list(map(len, messages))), end, odd)) == 3
    assert not odd.any()
