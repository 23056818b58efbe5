"""Numbers for byte strings: equal strings, and only those, have equal codes, however their hashes fall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tbframe.events import interning
from tbframe.events.interning import Interner
from tbframe.events.wire import Buffer

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def place(strings: list[bytes]) -> tuple[Buffer, np.ndarray, np.ndarray]:
    """Lay strings one behind the other, between bytes that must not count."""
    data = b"\xee".join([b"", *strings, b"\xee" * 3])
    buffer = Buffer(len(data))
    buffer.bytes[:] = 0xEE
    buffer.view[: len(data)] = data
    size = np.array([len(string) for string in strings], np.int64)
    return buffer, np.cumsum(size + 1) - size, size


def codes_of(interner: Interner, strings: list[bytes]) -> list[int]:
    codes = interner.codes(*place(strings))
    assert codes.dtype == np.int32
    return codes.tolist()


@pytest.fixture(params=["hashed", "all collide", "the words collide"])
def hashing(request, monkeypatch):
    """The hash as it is, one that is the same for all strings, and one that sees their lengths only."""
    if request.param == "all collide":
        monkeypatch.setattr(interning, "_MIX", np.zeros_like(interning._MIX))
    elif request.param == "the words collide":
        mix = np.zeros_like(interning._MIX)
        mix[-1] = 1
        monkeypatch.setattr(interning, "_MIX", mix)
    return request.param


SIZES = (0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 255, 256, 257, 300, 3000)
NAMES = [b"", b"\0", b"\0\0", b"a", b"a\0", b"b", b"loss", b"Loss", b"loss/train", b"loss/trail"]
NAMES += (
    [b"x" * size for size in SIZES]
    + [b"x" * (size - 1) + b"y" for size in SIZES[1:]]
    + [b"y" + b"x" * (size - 1) for size in SIZES[1:]]
)
NAMES = list(dict.fromkeys(NAMES))
STRINGS = st.sampled_from(NAMES) | st.binary(max_size=20)


@given(batches=st.lists(st.lists(STRINGS, max_size=60), max_size=5))
@settings(relaxed, max_examples=60)
def test_codes_are_those_of_a_dictionary(hashing, batches):
    interner = Interner()
    code: dict[bytes, int] = {}
    for batch in batches:
        found = codes_of(interner, batch)
        assert [interner.names[i] for i in found] == batch
        for string, i in zip(batch, found, strict=True):
            assert code.setdefault(string, i) == i
    assert len(interner.names) == len(set(interner.names)) == len(interner)
    assert set(interner.names) == {string for batch in batches for string in batch}


def test_a_short_string_first_and_long_ones_that_collide_with_it_later(hashing):
    """The words to compare with need not exist for as many as the longer string has."""
    interner = Interner()
    assert codes_of(interner, [b"a"]) == [0]
    strings = [b"a", b"a longer string", b"a" * 200, b"a longer strinG"]
    assert [interner.names[i] for i in codes_of(interner, strings * 3)] == strings * 3


@pytest.mark.parametrize("count", [1, 15, 16, 17, 33, 1000])
def test_as_many_strings_as_there_are(hashing, count):
    interner = Interner()
    strings = [b"tag %d" % i for i in range(count)]
    assert sorted(codes_of(interner, strings)) == list(range(count))
    first = codes_of(interner, strings)
    assert codes_of(interner, strings[::-1]) == first[::-1]
    assert [interner.names[i] for i in first] == strings


def test_strings_met_one_by_one_and_together_share_codes(hashing):
    interner = Interner()
    loss = interner.code(b"loss")
    assert codes_of(interner, [b"lr", b"loss", b"lr"]) == [1, loss, 1]
    assert interner.code(b"lr") == 1
    assert interner.code(b"x" * 400) == 2
    assert codes_of(interner, [b"x" * 400, b"x" * 400]) == [2, 2]


def test_without_collisions_codes_follow_the_order_in_which_strings_are_met():
    interner = Interner()
    assert codes_of(interner, [b"b", b"a", b"b", b"c", b"a"]) == [0, 1, 0, 2, 1]
    assert codes_of(interner, [b"d", b"a"]) == [3, 1]
    assert interner.names == [b"b", b"a", b"c", b"d"]


def test_nothing_to_number():
    assert codes_of(Interner(), []) == []


def test_what_lies_behind_a_string_does_not_count():
    interner = Interner()
    buffer = Buffer(64)
    for rest in (0x00, 0x41, 0xFF):
        buffer.bytes[:] = rest
        buffer.view[10:14] = b"loss"
        assert interner.codes(buffer, np.array([10] * 3), np.array([4] * 3)).tolist() == [0, 0, 0]
        assert interner.codes(buffer, np.array([12]), np.array([0])).tolist() == [interner.code(b"")]
