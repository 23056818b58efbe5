"""Tensors of one element as numbers: every dtype and form, with values known beforehand."""

from __future__ import annotations

import contextlib
import struct

import event_bytes as eb
import event_layouts as el
import numpy as np
import pytest
from event_bytes import FIXED32, FIXED64, VARINT, field, key, varint
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tbframe.events import numbers, singly, through_protobuf, values
from tbframe.events.wire import Buffer

MANY = 48
"""So many tensors of a layout are decoded as arrays."""

_I31, _I63 = 2**31 - 1, 2**63 - 1
CONTENTS = [
    (1, struct.pack("<f", 0.1), 0.10000000149011612), (1, b"\1\0\x80\x7f", np.nan), (2, struct.pack("<d", 0.1), 0.1),
    (3, struct.pack("<i", -7), -7), (4, b"\xff", 255), (5, struct.pack("<h", -2), -2), (6, b"\xff", -1),
    (9, struct.pack("<q", -(2**62)), -(2.0**62)),
    (10, b"\0", 0), (10, b"\2", 1), (11, b"\x80", -128), (12, b"\x80", 128), (13, struct.pack("<i", _I31), _I31),
    (14, b"\x80\x3f", 1),
    (14, b"\1\x7f", np.float32(2**127 * (1 + 1 / 128))), (14, b"\x81\x7f", np.nan), (15, b"\0\x80", -32768),
    (16, b"\0\x80", 32768), (17, b"\xff\xff", 65535),
    (19, b"\0\x3c", 1), (19, b"\1\0", 2**-24), (19, b"\1\x7c", np.nan), (22, b"\xff" * 4, 2**32 - 1),
    (23, struct.pack("<Q", 2**63), 2.0**63),
]  # fmt: skip
LISTS = [
    (1, 5, [struct.pack("<f", 0.1)], 0.10000000149011612), (1, 5, [b"\1\0\x80\x7f"], np.nan),
    (2, 6, [struct.pack("<d", 0.1)], 0.1),
    (3, 7, [-7], -7), (3, 7, [_I31], _I31), (3, 7, [2**31], -(2**31)), (3, 7, [2**32 + 5], 5), (4, 7, [255], 255),
    (4, 7, [300], 44), (4, 7, [-1], 255),
    (5, 7, [-2], -2), (5, 7, [40000], 40000 - 65536), (6, 7, [-1], -1), (6, 7, [128], -128),
    (9, 10, [-(2**62)], -(2.0**62)), (9, 10, [-1], -1),
    (10, 11, [0], 0), (10, 11, [1], 1), (10, 11, [2], 1), (10, 11, [2**32], 1), (11, 7, [-1], -1), (11, 7, [255], -1),
    (12, 7, [-1], 255),
    (13, 7, [2**31], -(2**31)), (14, 13, [0x3F80], 1), (14, 13, [0x1_3F80], 1), (14, 13, [0xC000], -2),
    (15, 7, [32768], -32768), (16, 7, [-1], 65535),
    (17, 7, [65536], 0), (19, 13, [0x3C00], 1), (19, 13, [-0x4000], -2), (22, 16, [2**32 - 1], 2**32 - 1),
    (23, 17, [-1], 2.0**64),
]  # fmt: skip


def _forms(number: int, entries: list) -> list[bytes]:
    """A list of one entry, packed, packed wider than need be, unpacked."""
    (entry,) = entries
    if isinstance(entry, bytes):
        return [
            field(number, entry),
            field(number, entry, 2),
            key(number, FIXED32 if len(entry) == 4 else FIXED64) + entry,
        ]
    return [
        field(number, varint(entry)),
        field(number, varint(entry, 10)),
        key(number, VARINT) + varint(entry),
        key(number, VARINT) + varint(entry, 9),
    ]


ONE_ELEMENT = [
    b"",
    field(2, b""),
    field(2, b"\x12\x02\x08\x01"),
    field(2, b"\x12\x02\x08\x01" * 2),
    field(2, b"\x12\x04\x08\x01\x12\x00"),
]
NOT_ONE = [
    field(2, b"\x12\x02\x08\x02"),
    field(2, b"\x12\x02\x08\x00"),
    field(2, b"\x12\x00"),
    field(2, b"\x18\x01"),
    field(2, b"\x12\x0b\x08" + varint(-1)),
]


def numbers_of(tensor: bytes) -> set[tuple]:
    """Every answer about one tensor: among many like it, by itself, and through protobuf."""
    buffer = Buffer(len(tensor) * MANY)
    buffer.view[: len(tensor) * MANY] = tensor * MANY
    odd = np.zeros(MANY, bool)
    found = numbers.one_element(buffer, np.arange(MANY) * len(tensor), np.full(MANY, len(tensor)), odd)
    assert odd.all() or not odd.any()
    what = np.where(found.single, values.NUMBER, values.TENSOR)
    answers = zip(what.tolist(), found.dtype.tolist(), found.number.tolist(), strict=True) if not odd.any() else ()
    payload = eb.tensor_event(1, tensor)
    events = [through_protobuf.parse(payload)]
    with contextlib.suppress(singly.Odd):
        events.append(singly.parse(lambda at, n: payload[at : at + n], len(payload)))
    rows = [(row.what, row.dtype, row.number) for event in events for row in event.rows]
    return {(what, dtype, eb.number_bits(number)) for what, dtype, number in (*answers, *rows)}


@pytest.mark.parametrize(("dtype", "content", "expected"), CONTENTS)
def test_numbers_in_content(dtype, content, expected):
    for number in (dtype, dtype + 100):
        for shape in ONE_ELEMENT:
            tensor = b"\x08" + varint(number) + shape + field(4, content)
            assert numbers_of(tensor) == {(values.NUMBER, dtype, eb.number_bits(float(expected)))}
    for shape in NOT_ONE:
        assert numbers_of(b"\x08" + varint(dtype) + shape + field(4, content)) == {
            (values.TENSOR, dtype, eb.number_bits(0.0))
        }
    for wrong in (content * 2, content[:-1], content + b"\0"):
        if wrong:
            assert numbers_of(b"\x08" + varint(dtype) + field(4, wrong)) == {
                (values.TENSOR, dtype, eb.number_bits(0.0))
            }


@pytest.mark.parametrize(("dtype", "number", "entries", "expected"), LISTS)
def test_numbers_in_lists(dtype, number, entries, expected):
    rounded = numbers.ROUNDED if dtype == 23 else 0
    for listed in _forms(number, entries):
        for shape in ONE_ELEMENT[:3]:
            tensor = b"\x08" + varint(dtype) + shape + listed
            assert numbers_of(tensor) == {(values.NUMBER, dtype | rounded, eb.number_bits(float(expected)))}
        two = b"\x08" + varint(dtype) + listed + listed
        assert numbers_of(two) == {(values.TENSOR, dtype, eb.number_bits(0.0))}


@pytest.mark.parametrize("dtype", el.NUMBERS)
def test_an_empty_list_stands_for_zero(dtype):
    """So does the list of another dtype, and a list with a wire type that is not its own, which is an unknown field."""
    own = next(number for number in (5, 6, 7, 10, 11, 13, 16, 17) if number == el.LISTS[dtype])
    for number in (5, 6, 7, 10, 11, 13, 16, 17):
        packed = field(number, bytes(8) if number != own else b"")
        kinds = [FIXED32 if number == 6 else FIXED64 if number == 5 else VARINT] if number != own else []
        wrong = {5: (VARINT, FIXED64), 6: (VARINT, FIXED32)}.get(number, (FIXED32, FIXED64))
        body = {VARINT: b"\1", FIXED32: b"\1\0\0\0", FIXED64: b"\1" + bytes(7)}
        for rest in (b"", field(4, b""), packed, *(key(number, kind) + body[kind] for kind in (*kinds, *wrong))):
            assert numbers_of(b"\x08" + varint(dtype) + rest) == {(values.NUMBER, dtype, eb.number_bits(0.0))}


@pytest.mark.parametrize(
    ("dtype", "tensor"),
    [
        (7, b"\x08\x07" + field(8, b"text")), (8, b"\x08\x08" + field(9, bytes(8))),
        (18, b"\x08\x12" + field(4, bytes(16))),
        (24, b"\x08\x18" + field(18, b"\1")), (29, b"\x08\x1d" + field(7, b"\1")), (20, b"\x08\x14"),
        (99, b"\x08\x63"), (100, b"\x08\x64"),
        (0, b""), (0, field(5, bytes(4))), (0, b"\x08" + varint(-1)), (0, b"\x08" + varint(300)),
    ],
)  # fmt: skip
def test_other_dtypes_are_no_numbers(dtype, tensor):
    assert numbers_of(tensor) == {(values.TENSOR, dtype, eb.number_bits(0.0))}


def test_the_last_dtype_counts_and_its_upper_bits_do_not():
    content = field(4, struct.pack("<i", 3))
    three = {(values.NUMBER, 3, eb.number_bits(3.0))}
    assert numbers_of(b"\x08\x01\x08\x03" + content) == three
    assert numbers_of(b"\x08" + varint(2**32 + 3) + content) == three


@given(
    st.integers(-(2**63), 2**63 - 1)
    | st.integers(-1024, 1024).map(lambda i: i + 2**53)
    | st.integers(0, 1023).map(lambda i: 2**63 - 1 - i)
)
@settings(deadline=None, max_examples=80)
@example(2**53)
@example(2**53 + 1)
@example(-(2**53) - 1)
@example(-(2**63))
@example(2**63 - 1)
@example(0)
def test_integers_that_float64_does_not_hold_are_marked(value):
    for number, bits in ((value, np.array([value])), (value % 2**64, np.array([value]).view(np.uint64))):
        inexact = int(float(number)) != number
        assert numbers.rounds(bits).tolist() == [inexact]
        dtype = 23 if bits.dtype == np.uint64 else 9
        assert numbers_of(b"\x08" + varint(dtype) + field(4, bits.tobytes())) == {
            (values.NUMBER, dtype | (numbers.ROUNDED if inexact else 0), eb.number_bits(float(number)))
        }
