"""Checksums: known vectors, and every kind of damage found by the arithmetic that many records share."""

from __future__ import annotations

import random
import struct

import event_bytes as eb
import google_crc32c
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbframe.events import checksums
from tbframe.events.checksums import length_checksums, masked, wrong_records
from tbframe.events.wire import Buffer

relaxed = settings(deadline=None)


def wrong_in(data: bytes, places: list[tuple[int, int]]) -> list[int]:
    """Which records `wrong_records` finds."""
    buffer = Buffer(len(data))
    buffer.view[: len(data)] = data
    start, length = np.array(places, np.int64).reshape(-1, 2).T.copy()
    found = wrong_records(buffer, start, length)
    assert found.shape == (len(places),)
    return np.flatnonzero(found).tolist()


def records(sizes: list[int], seed: int = 0) -> tuple[bytearray, list[tuple[int, int]]]:
    rng = random.Random(seed)
    data = eb.stream(rng.randbytes(size) for size in sizes)
    return bytearray(data), eb.serial_walk(data)[0]


# Vectors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0xA282EAD8), (bytes(8), 0x07980329), (struct.pack("<Q", 24), 0x224B7FA3),
        (b"\x1a\x11CRC test, one two", 0x5794D08A),
        (bytes.fromhex("090000803899d6d7411a0d") + b"brain.Event:2", 0xAB364B12),
    ],
)  # fmt: skip
def test_masked_checksums(data, expected):
    assert masked(google_crc32c.value(data)) == expected


def test_plain_checksums():
    assert google_crc32c.value(b"123456789") == 0xE3069283
    assert google_crc32c.value(bytes(32)) == 0x8A9136AA


@given(st.integers(0, 2**32 - 1))
@settings(relaxed, max_examples=100)
def test_masks_can_be_taken_off(crc):
    constant_off = (masked(crc) - 0xA282EAD8) % 2**32
    assert (constant_off << 15 | constant_off >> 17) % 2**32 == crc


@given(
    st.lists(
        st.integers(0, 2**63 - 1) | st.integers(0, 70000) | st.integers(0, 62).map(lambda bit: 1 << bit), max_size=20
    )
)
@settings(relaxed, max_examples=80)
def test_checksums_of_many_lengths(lengths):
    found = length_checksums(np.array(lengths, np.int64))
    assert found.dtype == np.uint32
    assert found.tobytes() == b"".join(eb.checksum(struct.pack("<Q", length)) for length in lengths)


def test_every_length_of_two_bytes():
    found = length_checksums(np.arange(1 << 16))
    assert found.tobytes() == b"".join(eb.checksum(struct.pack("<Q", length)) for length in range(1 << 16))


# Records --------------------------------------------------------------------------------------------------------------

FEW, SHORT = 48, 512
"""About where records begin to share calls, and to have one each: the tests hold on both sides wherever that is."""
SIZES = [1, 3, 7, 8, 9, 15, 16, 17, 44, 64, 100, 511, 512]


@pytest.mark.parametrize("size", [0, *SIZES, 513, 700])
@pytest.mark.parametrize("count", [1, 2, 47, 48, 49, 50, 63, 64, 65, 81, 100, 121, 143, 144, 200])
def test_sound_records_are_sound(size, count):
    data, places = records([size] * count)
    assert wrong_in(bytes(data), places) == []


def test_no_records_at_all():
    assert wrong_in(b"", []) == []


@given(st.lists(st.sampled_from([0, 1, 8, 44, 45, 511, 512, 513, 600]), max_size=400), st.integers(0, 2**32))
@settings(relaxed, max_examples=40)
def test_of_records_of_many_lengths_exactly_the_damaged_are_found(sizes, seed):
    rng = random.Random(seed)
    data, places = records(sizes, seed)
    damaged = sorted(rng.sample(range(len(sizes)), rng.randint(0, len(sizes))))
    for i in damaged:
        at, length = places[i]
        data[at + 12 + rng.randrange(length + 4)] ^= 1 << rng.randrange(8)
    assert wrong_in(bytes(data), places) == damaged


@pytest.mark.parametrize(("size", "count"), [(1, 48), (8, 49), (9, 63), (21, 64), (44, 110), (512, 50)])
def test_any_flipped_bit_is_found_and_only_its_record(size, count):
    data, places = records([size] * count)
    buffer = Buffer(len(data))
    buffer.view[: len(data)] = data
    start, length = np.array(places, np.int64).T.copy()
    rng = random.Random(size)
    bits = [(i, bit) for i in range(count) for bit in range(8 * (size + 4))]
    for i, bit in bits if len(bits) < 1500 else rng.sample(bits, 1500):
        place = places[i][0] + 12 + bit // 8
        buffer.bytes[place] ^= 1 << bit % 8
        assert np.flatnonzero(wrong_records(buffer, start, length)).tolist() == [i]
        buffer.bytes[place] ^= 1 << bit % 8


@pytest.mark.parametrize("count", [48, 49, 64, 81])
def test_any_pair_of_equal_flips_is_found(count):
    """What two records have in common cancels where their XOR is taken: in one direction at most."""
    data, places = records([24] * count)
    buffer = Buffer(len(data))
    buffer.view[: len(data)] = data
    start, length = np.array(places, np.int64).T.copy()
    rng = random.Random(count)
    for i in range(count):
        for j in range(i):
            bit = rng.randrange(8 * (24 + 4))
            for k in (i, j):
                buffer.bytes[places[k][0] + 12 + bit // 8] ^= 1 << bit % 8
            assert np.flatnonzero(wrong_records(buffer, start, length)).tolist() == [j, i]
            for k in (i, j):
                buffer.bytes[places[k][0] + 12 + bit // 8] ^= 1 << bit % 8


@pytest.mark.parametrize("count", [48, 56, 63, 64, 72, 81, 90, 96, 100, 110, 121, 132, 144, 400])
@pytest.mark.parametrize("every", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12])
def test_the_same_change_to_many_records_is_found_in_all(count, every):
    """As a program leaves it that replaces a word in a binary file: the changes must not cancel."""
    data, places = records([44] * count)
    for phase in range(every):
        changed = bytearray(data)
        damaged = list(range(phase, count, every))
        for i in damaged:
            changed[places[i][0] + 12 + 20] ^= 0x20
        assert wrong_in(bytes(changed), places) == damaged


@given(st.integers(48, 300), st.data())
@settings(relaxed, max_examples=80)
def test_the_same_change_to_successive_records_is_found_in_all(count, data):
    begin = data.draw(st.integers(0, count - 1))
    end = data.draw(st.integers(begin + 1, count))
    changed, places = records([44] * count)
    for i in range(begin, end):
        changed[places[i][0] + 12 + 20] ^= 0x20
    assert wrong_in(bytes(changed), places) == list(range(begin, end))


@given(st.integers(48, 160), st.floats(0.02, 0.98), st.integers(0, 2**32))
@settings(relaxed, max_examples=80)
def test_the_same_change_to_any_records_is_found_in_all(count, share, seed):
    """Were only the rows and columns that disagree looked at, a quarter of so many would pass."""
    rng = random.Random(seed)
    damaged = [i for i in range(count) if rng.random() < share]
    changed, places = records([44] * count)
    for i in damaged:
        changed[places[i][0] + 12 + 20] ^= 0x20
    assert wrong_in(bytes(changed), places) == damaged


def test_records_that_changed_places_with_their_checksums_are_sound_and_without_them_not():
    payloads = [bytes([i]) * 30 for i in range(64)]
    swapped = [*payloads[1:], payloads[0]]
    data = eb.stream(payloads)
    places = eb.serial_walk(data)[0]
    moved = b"".join(eb.record(old)[:12] + new + eb.checksum(old) for old, new in zip(payloads, swapped, strict=True))
    assert wrong_in(eb.stream(swapped), places) == []
    assert wrong_in(moved, places) == list(range(64))


def test_what_lies_behind_the_records_does_not_count():
    data, places = records([10] * 64)
    size = len(data)
    buffer = Buffer(size + 100)
    buffer.bytes[:] = 0xAB
    buffer.view[:size] = data
    start, length = np.array(places, np.int64).T.copy()
    assert not wrong_records(buffer, start, length).any()
    assert checksums.__all__
