"""Messages of every layout the wire allows.

A `Part` says how one field of a message is written, a tuple of parts is a layout, and `encode` fills a layout with values: the
same layout gives other values, sizes and widths each time, as the events of a log do.
"""

from __future__ import annotations

import math
import random
import struct
from typing import Any, NamedTuple

from event_bytes import FIXED32, FIXED64, GROUP, LENGTH, VARINT, key, varint
from hypothesis import strategies as st


class Random(NamedTuple):
    """Bytes of no meaning, so many or up to so many."""

    low: int
    high: int | None = None

    def __call__(self, rng: random.Random) -> bytes:
        return rng.randbytes(self.low if self.high is None else rng.randint(self.low, self.high))


class Packed(NamedTuple):
    """A packed list of varints, some wider than they need to be."""

    count: int
    width: int = 1

    def __call__(self, rng: random.Random) -> bytes:
        return b"".join(varint(integer(rng), self.width) for _ in range(self.count))


def integer(rng: random.Random) -> int:
    near = rng.choice((0, 0, 2**7, 2**8, 2**14, 2**15, 2**16, 2**31, 2**32, 2**53, 2**54, 2**56, 2**63, 2**64))
    return rng.choice(
        (near + rng.randint(-2, 2), -near - rng.randint(-2, 2), rng.getrandbits(64) >> rng.randint(0, 63))
    )


def step(rng: random.Random) -> int:
    return rng.choice((rng.randint(0, 300), rng.randint(-5, -1), integer(rng)))


def double(rng: random.Random) -> int:
    some = rng.choice((1.7e9 + rng.random(), rng.gauss(0, 1), 0.0, -0.0, math.inf, -math.inf, math.nan))
    return rng.choice((int.from_bytes(struct.pack("<d", some), "little"), rng.getrandbits(64)))


def single(rng: random.Random) -> int:
    return rng.choice(
        (rng.getrandbits(32), 0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 1, 0x3F800000)
    )


def tag(rng: random.Random) -> bytes:
    names = (
        b"loss",
        b"",
        b"a",
        b"lr",
        b"loss/train",
        b"loss/val",
        b"\xff\xfe",
        "Verlust/gewöhnlich".encode(),
        b"x" * 255,
        b"x" * 256,
    )
    return rng.choice(
        (*names, b"y" * rng.randint(0, 40), rng.randbytes(3), b"z" * 256 + bytes([rng.randint(0, 2)]) * 9)
    )


def long_tag(rng: random.Random) -> bytes:
    return b"q" * rng.choice((0, 7, 8, 9, 255, 256, 257, 264, 3000)) + rng.choice((b"", b"1", b"2"))


def version(rng: random.Random) -> bytes:
    return rng.choice(
        (b"brain.Event:2", b"brain.Event:1", b"brain.Event:x", b"", b"\xff", b"brain.Event:brain.Event:3", b"2e0")
    )


_MAKERS = {maker.__name__: maker for maker in (integer, step, double, single, tag, long_tag, version)}
_MAKERS |= {"flag": lambda rng: rng.choice((0, 1, 1, 1, 2)), "dim": lambda rng: rng.choice((0, 1, 1, 2, -1, 2**40))}


class Part(NamedTuple):
    """How one field is written."""

    number: int
    kind: int
    what: Any
    """A constant (int or bytes), the name of a maker, a maker of bytes, or the layout of a message."""
    width: int = 1
    """Least bytes of the varint that is the value, or its length."""
    key_width: int = 1


Layout = tuple[Part, ...]


def encode(layout: Layout, rng: random.Random) -> bytes:
    """Write a message."""
    return b"".join(_encode_part(part, rng) for part in layout)


def _encode_part(part: Part, rng: random.Random) -> bytes:
    head = key(part.number, part.kind, part.key_width)
    if part.kind == GROUP:
        return head + encode(part.what, rng) + key(part.number, 4)
    if isinstance(part.what, int | bytes):
        value = part.what
    elif isinstance(part.what, str):
        value = _MAKERS[part.what](rng)
    elif callable(part.what):
        value = part.what(rng)
    else:
        value = encode(part.what, rng)
    if part.kind == VARINT:
        return head + varint(value, part.width)
    if part.kind == LENGTH:
        return head + varint(len(value), part.width) + value
    return head + (value % 2 ** (64 if part.kind == FIXED64 else 32)).to_bytes(
        8 if part.kind == FIXED64 else 4, "little"
    )


# Every legal layout ---------------------------------------------------------------------------------------------------

_WIDTHS = st.sampled_from((1, 1, 1, 1, 1, 2, 5))  # protobuf takes keys and lengths of up to 5 bytes ...
_VALUE_WIDTHS = st.sampled_from((1, 1, 1, 1, 2, 9, 10))  # ... and values of up to 10
_ELEMENT = {
    1: 4,
    2: 8,
    3: 4,
    4: 1,
    5: 2,
    6: 1,
    8: 8,
    9: 8,
    10: 1,
    11: 1,
    12: 1,
    13: 4,
    14: 2,
    15: 2,
    16: 2,
    17: 2,
    18: 16,
}
_ELEMENT |= {19: 2, 22: 4, 23: 8, 24: 1, 29: 1}
LISTS = {1: 5, 2: 6, 7: 8, 8: 9, 9: 10, 10: 11, 14: 13, 18: 12, 19: 13, 22: 16, 23: 17, 24: 18}
LISTS |= dict.fromkeys((3, 4, 5, 6, 11, 12, 13, 15, 16, 17, 29), 7)
_LIST_WIDTH = {5: 4, 6: 8, 9: 4, 12: 8}  # the others hold varints, or bytes
NUMBERS = (1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 22, 23)


def _part(number: int, kind: int, what: Any) -> st.SearchStrategy[Part]:
    width = _VALUE_WIDTHS if kind == VARINT else _WIDTHS
    return st.builds(
        Part, st.just(number), st.just(kind), st.just(what), width, _WIDTHS if number == 77 else st.just(1)
    )


def _unknown(*wrong: tuple[int, int], tensor: bool = False) -> st.SearchStrategy[Part]:
    """A field that is not declared, of every wire type; or one that is, with a wire type that is not its own."""
    what = {
        VARINT: "integer",
        FIXED64: "double",
        FIXED32: "single",
        LENGTH: Random(0, 9),
        GROUP: (Part(1, VARINT, "integer"),),
    }
    numbers = (19, 31, 77, 2000, 70000) if tensor else (11, 12, 14, 15, 31, 77, 2000, 70000)
    strange = st.tuples(st.sampled_from(numbers), st.sampled_from(tuple(what)))
    return st.one_of(strange, st.sampled_from(wrong)).flatmap(lambda at: _part(*at, what[at[1]]))


def _some(*choices: st.SearchStrategy[Part], most: int = 6) -> st.SearchStrategy[Layout]:
    return st.lists(st.one_of(*choices), max_size=most).map(tuple)


_SHAPES = st.sampled_from((
    b"", b"\x12\x02\x08\x01", b"\x12\x02\x08\x01\x12\x02\x08\x01", b"\x12\x02\x08\x02", b"\x12\x02\x08\x00",
    b"\x12\x00",
    b"\x18\x01", b"\x18\x00", b"\x12\x0b\x08" + varint(-1), b"\x12\x05\x08\x01\x12\x01n", b"\x12\x04\x08\x81\x80\x00",
    b"\x12\x02\x08\x02" * 2, b"\x12\x02\x08\x01\x78\x05", b"\x12\x04\x08\x02\x08\x01",
))  # fmt: skip


@st.composite
def _list_parts(draw: st.DrawFn, number: int) -> list[Part]:
    """A typed list: packed, unpacked, or both."""
    if number in (8, 18):
        return [Part(number, LENGTH, Random(1)) for _ in range(draw(st.integers(0, 2)))]
    fixed = _LIST_WIDTH.get(number)
    parts = []
    for form in draw(st.lists(st.sampled_from(("packed", "unpacked")), max_size=2)):
        count = draw(st.sampled_from((0, 1, 1, 1, 2)))
        if form == "packed":
            parts.append(
                Part(
                    number,
                    LENGTH,
                    Packed(count, draw(_VALUE_WIDTHS)) if fixed is None else Random(count * fixed),
                    draw(_WIDTHS),
                )
            )
        else:
            kind = VARINT if fixed is None else FIXED64 if fixed == 8 else FIXED32
            parts += [
                Part(number, kind, {VARINT: "integer", FIXED64: "double", FIXED32: "single"}[kind], draw(_VALUE_WIDTHS))
            ] * count
    return parts


@st.composite
def tensors(draw: st.DrawFn) -> Layout:
    """A TensorProto, mostly one number."""
    dtype = draw(st.sampled_from(NUMBERS) | st.sampled_from((*_ELEMENT, 7, 20, 0, 33, 99, 100, 200, 228, 300, -1)))
    number = dtype + draw(st.sampled_from((0, 0, 0, 100))) if dtype in NUMBERS else dtype
    parts = [Part(1, VARINT, number, draw(_VALUE_WIDTHS))] * draw(st.sampled_from((1, 1, 1, 1, 0, 2)))
    parts += [Part(2, LENGTH, draw(_SHAPES)) for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2))))]
    parts += [Part(3, VARINT, "integer")] * draw(st.sampled_from((0, 0, 1)))
    width = _ELEMENT.get(dtype, 4)
    sizes = st.lists(st.sampled_from((width, width, width, 0, 1, 2 * width, 3, 9)), max_size=2)
    parts += [Part(4, LENGTH, Random(size), draw(_WIDTHS)) for size in draw(st.sampled_from(([], [width])) | sizes)]
    for listed in draw(
        st.sampled_from(((), (LISTS.get(dtype, 7),)))
        | st.lists(st.sampled_from((5, 6, 7, 10, 11, 13, 16, 17)), max_size=2)
    ):
        parts += draw(_list_parts(listed))
    wrong = (
        (1, FIXED32),
        (2, VARINT),
        (4, VARINT),
        (5, VARINT),
        (5, FIXED64),
        (6, FIXED32),
        (6, VARINT),
        (7, FIXED32),
        (10, FIXED64),
    )
    parts += draw(st.sampled_from(([], [], [draw(_unknown(*wrong, tensor=True))])))
    return tuple(draw(st.permutations(parts)))


_BUCKETS = (*(Part(n, FIXED64, "double") for n in (1, 2, 3)), Part(6, LENGTH, Random(24)), Part(7, FIXED64, "double"))
METADATA = st.sampled_from((
    (), (Part(1, LENGTH, b"\x0a\x07scalars"),),
    (Part(1, LENGTH, (Part(1, LENGTH, b"hparams"), Part(2, LENGTH, Random(0, 40)))),),
    (Part(2, LENGTH, "tag"), Part(4, VARINT, 1)),
    (Part(4, VARINT, 1), Part(3, LENGTH, Random(3)), Part(15, VARINT, "integer")),
))  # fmt: skip


def _member() -> st.SearchStrategy[Part]:
    """What a value holds."""
    return st.one_of(
        _part(2, FIXED32, "single"),
        tensors().flatmap(lambda layout: _part(8, LENGTH, layout)),
        st.sampled_from((
            Part(3, LENGTH, Random(0, 5)), Part(4, LENGTH, (Part(1, VARINT, 3), Part(4, LENGTH, Random(0, 30)))),
            Part(5, LENGTH, _BUCKETS), Part(5, LENGTH, ()),
            Part(6, LENGTH, (Part(1, FIXED32, "single"), Part(4, LENGTH, Random(9)))),
        )),
    )  # fmt: skip


@st.composite
def summary_values(draw: st.DrawFn) -> Layout:
    """A Summary.Value: mostly a tag and a member, in any order, with anything before, between and behind."""
    some = lambda *counts: draw(st.sampled_from(counts))  # noqa: E731
    parts = [
        Part(1, LENGTH, draw(st.sampled_from(("tag", "tag", "tag", "long_tag"))), draw(_WIDTHS))
        for _ in range(some(1, 1, 1, 1, 0, 2))
    ]
    parts += [draw(_member()) for _ in range(some(1, 1, 1, 1, 1, 0, 2))]
    parts += [Part(9, LENGTH, draw(METADATA), draw(_WIDTHS)) for _ in range(some(0, 0, 1, 1, 2))]
    parts += [Part(7, LENGTH, Random(4))] * some(0, 0, 0, 1)
    parts += [
        draw(_unknown((1, VARINT), (2, VARINT), (8, FIXED64), (9, VARINT), (4, FIXED32)))
        for _ in range(some(0, 0, 0, 1, 2))
    ]
    return tuple(draw(st.permutations(parts)))


def summaries() -> st.SearchStrategy[Part]:
    """The summary of an event, with one to three values, or none."""
    value = st.builds(lambda layout, width: Part(1, LENGTH, layout, width), summary_values(), _WIDTHS)
    return st.builds(
        lambda some, more, width: Part(5, LENGTH, (*some, *more), width),
        st.lists(value, max_size=3),
        st.sampled_from(((), (), ())) | _some(_unknown((1, VARINT), (1, FIXED32)), most=1),
        _WIDTHS,
    )


_OTHERS = st.sampled_from((
    Part(3, LENGTH, "version"),
    Part(4, LENGTH, Random(0, 30)),
    Part(6, LENGTH, (Part(1, VARINT, 20), Part(2, LENGTH, Random(3)))),
    Part(7, LENGTH, (Part(1, VARINT, "flag"),)),
    Part(7, LENGTH, (Part(1, VARINT, "flag"), Part(1, VARINT, "flag"), Part(2, LENGTH, b"c"))),
    Part(8, LENGTH, (Part(1, LENGTH, "tag"), Part(2, LENGTH, Random(0, 9)), Part(1, LENGTH, "tag"))),
    Part(9, LENGTH, Random(7)),
))  # fmt: skip


@st.composite
def events(draw: st.DrawFn) -> Layout:
    """The layout of an Event: any that protobuf accepts."""
    some = lambda *counts: draw(st.sampled_from(counts))  # noqa: E731
    parts = [Part(1, FIXED64, "double")] * some(1, 1, 1, 1, 0, 2)
    parts += [Part(2, VARINT, "step", draw(_VALUE_WIDTHS), some(1, 1, 1, 1, 2))] * some(1, 1, 1, 0, 2)
    parts += [draw(summaries()) for _ in range(some(1, 1, 1, 1, 1, 1, 0, 2))]
    parts += [draw(_OTHERS) for _ in range(some(0, 0, 0, 0, 0, 1, 2))]
    parts += [Part(10, LENGTH, (Part(1, LENGTH, b"writer"),))] * some(0, 0, 0, 1)
    parts += [draw(_unknown((1, VARINT), (2, FIXED64), (5, VARINT), (3, FIXED32))) for _ in range(some(0, 0, 0, 1, 2))]
    return tuple(draw(st.permutations(parts)))
