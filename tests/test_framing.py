"""Framing: the chain of records against a serial walk, the next record after damage, reading on in files that grow."""

from __future__ import annotations

import io
import random
import struct
import time
from pathlib import Path

import event_bytes as eb
import numpy as np
import pytest
from event_bytes import field, record, scalar_event, serial_walk, stream, timed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tbframe.events import values
from tbframe.events.files import EventFile
from tbframe.events.framing import LONGEST, frame, next_record, whole_record
from tbframe.events.interning import Interner
from tbframe.events.loading import load
from tbframe.events.payloads import verify
from tbframe.events.rows import Rows
from tbframe.events.wire import Buffer
from tbframe.storage import Source

WINDOWS = (4096, 65536, 1 << 20)
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def framed(
    data: bytes, at: int = 0, end: int | None = None, trusted: int = -1, before: bytes = b""
) -> tuple[list[tuple[int, int]], int, bool]:
    """What `frame` finds in a stretch, with places counted from its beginning."""
    buffer = Buffer(len(before) + len(data) + 50)
    buffer.bytes[:] = 9
    buffer.view[: len(before) + len(data)] = before + data
    shift = len(before)
    found = frame(buffer, shift + at, shift + (len(data) if end is None else end), trusted)
    assert found.start.dtype == found.length.dtype == np.int64
    return list(zip((found.start - shift).tolist(), found.length.tolist(), strict=True)), found.end - shift, found.bad


# Streams --------------------------------------------------------------------------------------------------------------


def fake_header(length: int) -> bytes:
    """A header in a payload, with what opens an event behind it."""
    head = struct.pack("<Q", length)
    return head + eb.checksum(head) + b"\x09"


def payloads_of(kind: str, rng: random.Random) -> bytes:
    match kind:
        case "scalar":
            return scalar_event(rng.randint(0, 2**20), rng.random())
        case "empty":
            return b""
        case "no wall time":
            return scalar_event(3, 0.5)[9:]
        case "nines":
            return b"\x09" * rng.randint(1, 300)
        case "zeros":
            return bytes(rng.randint(0, 60))
        case "fake headers":
            inside = b"".join(
                fake_header(rng.choice((0, 1, 20, 44, 200))) + bytes(rng.randint(0, 40))
                for _ in range(rng.randint(1, 4))
            )
            return timed(1, field(11, bytes(rng.randint(0, 9)) + inside))
        case "whole records inside":
            return timed(1, field(11, stream(scalar_event(i, 0.5) for i in range(rng.randint(1, 5)))))
        case "large":
            return scalar_event(1, 0.5) + field(11, bytes(rng.choice((2030, 2100, 5000, 20000))))
        case "start":
            return timed(rng.randint(0, 9), eb.START)
        case "long":
            return timed(1, field(11, rng.randbytes(rng.randint(300, 2000))))
        case _:
            size = 2**16 + rng.randint(-3, 3) - len(timed(1, b"")) - 4
            return timed(1, field(11, rng.choice((bytes, rng.randbytes))(size), 3))


KINDS = (
    "scalar",
    "empty",
    "no wall time",
    "nines",
    "zeros",
    "fake headers",
    "whole records inside",
    "long",
    "about 2**16",
)
MIXES = st.lists(st.sampled_from(KINDS[:-1]) | st.just("scalar"), min_size=1, max_size=5)


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    rng = random.Random(draw(st.integers(0, 2**32)))
    parts = draw(st.lists(st.tuples(MIXES, st.integers(1, 40)), min_size=1, max_size=4))
    kinds = [rng.choice(mix) for mix, count in parts for _ in range(count)]
    if draw(st.integers(0, 5)) == 0:
        kinds.insert(rng.randint(0, len(kinds)), "about 2**16")
    return stream(payloads_of(kind, rng) for kind in kinds)


@given(streams(), st.data())
@settings(relaxed, max_examples=80)
def test_the_chain_is_the_serial_walk(data, draw):
    assert framed(data) == serial_walk(data)
    places, end, _ = serial_walk(data)
    assert end == len(data)
    # From any record on, up to any byte, wherever it lies in the buffer.
    first = draw.draw(st.integers(0, len(places) - 1))
    cut = draw.draw(st.integers(places[first][0], len(data)) | st.integers(max(places[-1][0], 0), len(data)))
    expected = [place for place in places[first:] if sum(place) + 16 <= cut]
    after = sum(expected[-1]) + 16 if expected else places[first][0]
    assert framed(data, places[first][0], cut, before=b"\x09" * draw.draw(st.integers(0, 20))) == (
        expected,
        after,
        False,
    )


@given(streams(), st.data())
@settings(relaxed, max_examples=80)
def test_the_chain_ends_where_a_header_is_wrong(data, draw):
    places = serial_walk(data)[0]
    which = draw.draw(st.integers(0, len(places) - 1))
    changed = bytearray(data)
    changed[places[which][0] + draw.draw(st.integers(0, 11))] ^= 1 << draw.draw(st.integers(0, 7))
    assert framed(bytes(changed)) == serial_walk(bytes(changed)) == (places[:which], places[which][0], True)


@given(st.binary(max_size=300), st.integers(0, 40))
@settings(relaxed, max_examples=80)
def test_rubbish_behind_the_records_is_no_header(rubbish, count):
    data = stream(scalar_event(i, 0.5) for i in range(count)) + rubbish
    assert framed(data) == serial_walk(data)
    if len(rubbish) >= 12 and rubbish[8:12] != eb.checksum(rubbish[:8]):
        assert framed(data)[2]


@pytest.mark.parametrize("around", [2**16, 2**24])
def test_lengths_around_which_a_header_gets_another_byte(around):
    opening = timed(1, b"")
    payloads = [scalar_event(i, 0.5) for i in range(20)]
    for size in (around - 1, around, around + 1):
        payloads += [opening + bytes(size - len(opening)), *(scalar_event(i, 0.5) for i in range(20))]
        if around == 2**24:
            break
    # `frame` checks no payload, and computing the checksums of so many bytes takes its time.
    data = b"".join(record(p)[:12] + p + bytes(4) for p in payloads)
    places = np.cumsum([0, *(len(p) + 16 for p in payloads)])
    assert framed(data) == (list(zip(places[:-1].tolist(), map(len, payloads), strict=True)), len(data), False)


@pytest.mark.parametrize("length", [LONGEST + 1, 2**32, 2**32 + 44, 2**63, 2**64 - 1])
def test_no_record_is_that_long(length):
    data = stream(scalar_event(i, 0.5) for i in range(20)) + fake_header(length) + bytes(100)
    assert framed(data) == serial_walk(data)
    assert framed(data)[2]


def test_a_record_that_the_stretch_does_not_hold_whole_is_left():
    data = stream([scalar_event(1, 0.5)])
    for cut in range(len(data)):
        assert framed(data, end=cut) == ([], 0, False)
    assert framed(data + fake_header(LONGEST)[:12]) == ([(0, len(data) - 16)], len(data), False)


def test_a_trusted_header_is_followed():
    payloads = [scalar_event(i, 0.5) for i in range(40)]
    data = bytearray(stream(payloads))
    places = serial_walk(bytes(data))[0]
    data[places[20][0] + 9] ^= 1
    assert framed(bytes(data)) == (places[:20], places[20][0], True)
    assert framed(bytes(data), trusted=places[20][0]) == (places, len(data), False)
    assert framed(bytes(data), at=places[20][0], trusted=places[20][0]) == (places[20:], len(data), False)


# The next record ------------------------------------------------------------------------------------------------------


def reading(data: bytes):
    return lambda at, n: data[at : at + n]


@given(st.binary(max_size=200), streams(), st.integers(0, 2**32))
@settings(relaxed, max_examples=60)
def test_the_next_record_is_the_next_whole_one(rubbish, data, seed):
    rng = random.Random(seed)
    changed = bytearray(rubbish + data)
    for place in rng.sample(range(len(changed)), min(len(changed), rng.randint(0, 3))):
        changed[place] ^= 1 << rng.randrange(8)
    at = rng.choice((0, 1, len(rubbish), rng.randrange(len(changed))))
    data = bytes(changed)
    # Slowly: at every byte, whether a header and a payload with their checksums stand there.
    expected = None
    for start in range(at, len(data) - 15):
        length = int.from_bytes(data[start : start + 8], "little")
        if (
            start + length + 16 <= len(data)
            and record(data[start + 12 : start + 12 + length]) == data[start : start + length + 16]
        ):
            expected = start
            break
    assert next_record(reading(data), at, len(data), len(data)) == expected
    if expected is not None:
        assert next_record(reading(data), at, len(data), expected - at) == expected
        if expected > at:
            assert next_record(reading(data), at, len(data), expected - at - 1) is None


@pytest.mark.parametrize("gap", [(1 << 20) - 13, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
@pytest.mark.parametrize("filling", [0, 0xA5])
def test_the_next_record_may_lie_far_off(gap, filling):
    data = bytes([filling]) * gap + record(scalar_event(1, 0.5))
    assert next_record(reading(data), 0, len(data), len(data)) == gap
    assert next_record(reading(data), gap + 1, len(data), len(data)) is None


def test_the_search_ends_at_the_end_of_the_file():
    for data in (b"", bytes(11), bytes(15), bytes(16), bytes(1000)):
        assert next_record(reading(data), 0, len(data), 1000) is None


def test_what_a_record_claims_is_not_read_beyond_the_file():
    asked = []

    def read(at: int, n: int) -> bytes:
        asked.append(n)
        return b""

    for length in (-1, 100, 2**40, LONGEST, LONGEST + 1):
        assert not whole_record(read, 0, length, 50)
    assert asked == []
    payload = scalar_event(1, 0.5)
    data = record(payload)
    assert whole_record(reading(data), 0, len(payload), len(data))
    assert not whole_record(reading(data[:-1]), 0, len(payload), len(data))  # cut in the meantime
    assert not whole_record(reading(data), 0, len(payload) - 1, len(data))


# Files that grow ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("framing")


GROWING = ("scalar", "empty", "no wall time", "fake headers", "long", "large", "start")


def told(found: eb.Loaded) -> tuple:
    file = found.file
    return (
        found.table(),
        file.records,
        file.offset,
        file.size,
        file.truncated,
        sorted(file.damage),
        file.starts,
        file.versions,
        file.first_time,
        file.last_time,
    )


@given(
    st.lists(st.sampled_from(GROWING), min_size=1, max_size=60),
    st.integers(0, 2**32),
    st.sampled_from(WINDOWS),
    st.integers(1, 6),
)
@settings(relaxed, max_examples=60)
def test_a_file_that_grows_is_read_exactly_once(folder, kinds, seed, window, pieces):
    rng = random.Random(seed)
    payloads = [payloads_of(kind, rng) for kind in kinds]
    data = stream(payloads)
    whole = eb.load_bytes(folder / "tfevents", data, 1 << 20)
    assert len(whole.rows) == sum(kind in ("scalar", "no wall time", "large", "start") for kind in kinds)
    assert (whole.file.records, whole.file.damage) == (len(payloads), [])
    cuts = sorted(rng.randint(0, len(data)) for _ in range(pieces))
    found = eb.load_bytes(folder / "tfevents", data[: cuts[0]], window)
    for cut in [*cuts[1:], len(data)]:
        ends = [at + length + 16 for at, length in serial_walk(data)[0]]
        assert found.file.truncated == (found.file.size not in (0, *ends))
        (folder / "tfevents").write_bytes(data[:cut])
        eb.load_more(found, window)
    assert told(found) == told(whole)


@pytest.mark.xfail(
    strict=True, reason="bytes lost from a record, and a record of records still being written, look alike"
)
def test_a_record_that_holds_records_is_not_opened_while_it_grows(folder):
    data = record(payloads_of("whole records inside", random.Random(0)))
    found = eb.load_bytes(folder / "tfevents", data[:-4])
    assert found.file.truncated
    assert not found.file.damage
    assert not len(found.rows)


@pytest.mark.parametrize("window", WINDOWS)
def test_several_files_share_windows_and_keep_their_rows(folder, window):
    rng = random.Random(3)
    files, contents = [], []
    for code in range(40):
        steps = [rng.randint(0, 1000) for _ in range(rng.choice((0, 1, 5, 300)))]
        payloads = [scalar_event(step, step) + field(11, bytes(rng.choice((0, 0, 0, 3000)))) for step in steps]
        path = folder / f"tfevents.{code}"
        path.write_bytes(stream(payloads) + record(scalar_event(1, 1))[: rng.choice((0, 5, 20))])
        files.append(EventFile(Source(str(path)), ".", code))
        contents.append(steps)
    rows = Rows()
    load(files, rows, Interner(), window_size=window)
    assert rows["file"].tolist() == [code for code, steps in enumerate(contents) for _ in steps]
    assert rows["step"].tolist() == [step for steps in contents for step in steps]
    assert [file.records for file in files] == list(map(len, contents))
    assert [file.truncated for file in files] == [file.size > file.offset for file in files]


class Failing(io.BytesIO):
    """A stream that fails once, behind so many bytes."""

    fails_at: int | None

    def readinto(self, buffer):
        if self.fails_at is not None and self.tell() + len(buffer) > self.fails_at:
            raise OSError(5, "Input/output error")
        return super().readinto(buffer)


class FailingSource(Source):
    __slots__ = ("data", "fails_at")

    def __init__(self, data: bytes, fails_at: int | None) -> None:
        super().__init__("broken/tfevents")
        self.data, self.fails_at = data, fails_at

    def open(self):
        stream = Failing(self.data)
        stream.fails_at = self.fails_at
        return stream

    def size(self, stream):
        return len(self.data)

    def fingerprint(self, stream):
        return None


@pytest.mark.parametrize("window", WINDOWS)
def test_after_an_error_of_the_disk_every_record_is_read_once(window):
    payloads = [scalar_event(i, i) for i in range(9000)]
    source = FailingSource(stream(payloads), 300_000)
    found = eb.Loaded(EventFile(source, ".", 0), Rows(), Interner())
    other = EventFile(FailingSource(stream(payloads[:7]), None), ".", 1)
    load([found.file, other], found.rows, found.tags, window_size=window)
    assert found.file.error == "Input/output error"
    assert other.records == 7
    before = sum(code == 0 for code in found.column("file"))
    assert found.rows["step"][-7:].tolist() == list(range(7))
    assert found.file.records == before
    source.fails_at = None
    eb.load_more(found, window)
    assert found.file.error == ""
    assert found.rows["step"][found.rows["file"] == 0].tolist() == list(range(9000))
    assert found.file.records == 9000


# Damage ---------------------------------------------------------------------------------------------------------------


def flipped(data: bytes, place: int, bit: int = 0) -> bytes:
    changed = bytearray(data)
    changed[place] ^= 1 << bit
    return bytes(changed)


SIZES = {"scalar": 0, "no wall time": 0, "long": 400, "large": 5000, "larger": 17000}


def scalars_of(kinds: list[str], rng: random.Random) -> list[bytes]:
    """Scalars at steps 1, 2, ..., small and large: the value comes first or last."""
    payloads = []
    for step, kind in enumerate(kinds, 1):
        bulk = field(11, bytes(SIZES[kind])) if SIZES[kind] else b""
        scalar = scalar_event(step, 0.5)[9 * (kind == "no wall time") :]
        payloads.append(rng.choice((scalar + bulk, bulk + scalar)))
    return payloads


def sound_table(found: eb.Loaded) -> list[tuple]:
    """The rows that remain when the records that were passed over whole are verified too.

    A bit that is flipped in the head of a large record may make a scalar look like something nobody asked for.
    """
    verify(found.file)
    damaged = {damage.offset for damage in found.file.damage if damage.passed_over}
    return [row for row in found.table() if row[0] not in damaged]


def covered(found: eb.Loaded) -> list[list[int]]:
    """The stretches of the file that are damaged: where each begins and ends."""
    stretches: list[list[int]] = []
    for damage in found.file.damage:
        if stretches and stretches[-1][1] == damage.offset:
            stretches[-1][1] += damage.passed_over
        elif damage.passed_over:
            stretches.append([damage.offset, damage.offset + damage.passed_over])
    return stretches


@given(
    st.lists(st.sampled_from(tuple(SIZES)), min_size=2, max_size=70), st.integers(0, 2**32), st.sampled_from(WINDOWS)
)
@settings(relaxed, max_examples=60)
def test_any_flipped_bit_is_reported_and_costs_no_other_record(folder, kinds, seed, window):
    rng = random.Random(seed)
    payloads = scalars_of(kinds, rng)
    data = stream(payloads)
    places = serial_walk(data)[0]
    which = rng.randrange(len(places))
    at, length = places[which]
    parts = rng.randrange(12), rng.randrange(12, length + 12), rng.randrange(length + 12, length + 16)
    place = at + rng.choice(parts)
    found = eb.load_bytes(folder / "tfevents", flipped(data, place, rng.randrange(8)), window)
    kept = 8 <= place - at < 12  # the checksum of the length: the data's own says that they are right
    steps = [step for _, step, *_ in sound_table(found)]
    assert steps == [i + 1 for i in range(len(payloads)) if kept or i != which]
    (damage,) = found.file.damage
    assert damage[:2] == (at, 0 if kept else length + 16)
    assert found.file.records == len(found.rows)


@given(
    st.lists(st.sampled_from(tuple(SIZES)), min_size=2, max_size=70),
    st.integers(2, 8),
    st.booleans(),
    st.integers(0, 2**32),
    st.sampled_from(WINDOWS),
)
@settings(relaxed, max_examples=80)
def test_whatever_is_damaged_the_sound_records_are_read(folder, kinds, count, together, seed, window):
    """Also where records side by side are."""
    rng = random.Random(seed)
    payloads = scalars_of(kinds, rng)
    data = bytearray(stream(payloads))
    places = serial_walk(bytes(data))[0]
    first = rng.randrange(len(places))
    hit = set(range(first, min(first + count, len(places))))
    if not together:
        hit = {rng.randrange(len(places)) for _ in range(count)}
    for which in hit:
        at, length = places[which]
        place = rng.choice((rng.randrange(8), rng.randrange(12, length + 12), rng.randrange(length + 12, length + 16)))
        data[at + place] ^= 1 << rng.randrange(8)
    found = eb.load_bytes(folder / "tfevents", bytes(data), window)
    assert [step for _, step, *_ in sound_table(found)] == [i + 1 for i in range(len(places)) if i not in hit]
    expected: list[list[int]] = []
    for i in sorted(hit):
        at, length = places[i]
        if expected and expected[-1][1] == at:
            expected[-1][1] = at + length + 16
        else:
            expected.append([at, at + length + 16])
    assert covered(found) == expected
    assert found.file.records == len(found.rows)
    assert found.file.offset == len(data) or found.file.dead_end
    # And read on: nothing more, and nothing twice.
    before = told(found)
    assert told(eb.load_more(found, window)) == before


def mangled(data: bytes, rng: random.Random) -> bytes:
    """A file with bytes flipped, zeroed, lost, put in, doubled, or written over by others of its own."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed) + 1)
        n = rng.choice((1, 2, 8, 12, 16, 40, 200, 3000))
        match rng.choice(("flip", "flip", "zero", "lose", "put in", "double", "overwrite", "swap header")):
            case "flip" if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case "zero":
                changed[at : at + n] = bytes(len(changed[at : at + n]))
            case "lose":
                del changed[at : at + n]
            case "put in":
                changed[at:at] = rng.choice((bytes(n), rng.randbytes(n), record(scalar_event(7, 0.5))))
            case "double":
                changed[at:at] = changed[at : at + n]
            case "overwrite":
                other = rng.randrange(len(changed) + 1)
                piece = changed[other : other + n]
                changed[at : at + len(piece)] = piece
            case "swap header":
                changed[at:at] = fake_header(rng.choice((0, 30, 5000, 10**6, LONGEST)))
    return bytes(changed)


@given(st.lists(st.sampled_from(tuple(SIZES)), min_size=1, max_size=70), st.integers(0, 2**32))
@settings(relaxed, max_examples=60)
def test_whatever_happened_to_a_file_all_windows_tell_the_same_and_only_what_is_sound(folder, kinds, seed):
    rng = random.Random(seed)
    data = mangled(stream(scalars_of(kinds, rng)), rng)
    answers = []
    for window in WINDOWS:
        found = eb.load_bytes(folder / "tfevents", data, window)
        before = told(found)
        assert told(eb.load_more(found, window)) == before
        rows = sound_table(found)
        end, sizes = 0, 0
        for offset, *_ in rows:
            length = int.from_bytes(data[offset : offset + 8], "little")
            assert offset >= end
            end = offset + length + 16
            sizes += length + 16
            assert data[end - 4 : end] == eb.checksum(data[offset + 12 : end - 4])
        sizes += sum(damage.passed_over for damage in found.file.damage)
        assert sizes == (len(data) if found.file.dead_end else found.file.offset)
        answers.append((rows, covered(found), found.file.dead_end, found.file.truncated))
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("tail", [b"\0" * 40, b"rubbish of more than twelve bytes"])
def test_damage_at_the_end_is_forgotten_when_good_records_follow_and_other_damage_is_not(folder, window, tail):
    good = stream(scalar_event(i, 0.5) for i in range(60))
    at, length = serial_walk(good)[0][40]
    broken = flipped(good, at + 30)
    found = eb.load_bytes(folder / "tfevents", broken + tail, window)
    assert sorted(damage.offset for damage in found.file.damage) == [at, len(good)]
    (folder / "tfevents").write_bytes(broken + good)
    eb.load_more(found, window)
    assert [damage.offset for damage in found.file.damage] == [at]
    assert found.file.records == len(found.rows) == 119
    (folder / "tfevents").write_bytes(broken + good + tail + good)
    eb.load_more(found, window)
    assert sorted(damage[:2] for damage in found.file.damage) == [(at, length + 16), (2 * len(good), len(tail))]
    assert found.file.records == len(found.rows) == 179


@pytest.mark.parametrize("window", WINDOWS)
def test_metadata_come_from_verified_records_only(folder, window):
    """Also where the first large record of a tag, which is verified for its metadata, is the damaged one."""
    text = b"\x08\x07" + field(8, bytes(30000))
    first, second, third = (record(eb.tensor_event(i, text, metadata=eb.metadata_of(b"text"))) for i in range(3))
    place = first.index(b"text")
    data = flipped(first, place) + flipped(second, second.index(b"text")) + third
    found = eb.load_bytes(folder / "tfevents", data, window)
    (metadata,) = found.file.metadata.values()
    assert metadata == (len(first + second), eb.metadata_of(b"text"))
    assert [damage.offset for damage in found.file.damage] == [0, len(first)]


@pytest.mark.parametrize("window", WINDOWS)
def test_large_payloads_that_nobody_asked_for_are_passed_over(folder, window):
    image = b"\x08\x01" + field(4, bytes(1 << 17))
    value = field(1, field(1, b"picture") + field(4, image))
    payloads = [timed(i // 2, field(5, value)) if i % 2 else scalar_event(i // 2, 0.5) for i in range(20)]
    data = stream(payloads)
    found = eb.load_bytes(folder / "tfevents", data, window)
    assert found.column("what") == [values.SIMPLE, values.IMAGE] * 10
    assert found.column("step") == [i // 2 for i in range(20)]
    places = serial_walk(data)[0]
    if window < 1 << 17:
        assert found.file.unchecked == {at for at, _ in places[1::2]}
    for offset, at, extent in list(zip(*map(found.column, ("record", "at", "extent")), strict=True))[1::2]:
        assert data[offset + 12 + at :][:extent] == image


@pytest.mark.parametrize("window", WINDOWS)
def test_damage_in_many_places_is_passed_over_in_time(folder, window):
    """The search behind each of them must not read a megabyte to find what lies 50 bytes on."""
    payloads = [scalar_event(i, 0.5) for i in range(6000)]
    data = bytearray(stream(payloads))
    places = serial_walk(bytes(data))[0]
    for at, _ in places[5::10]:
        data[at + 1] ^= 1
    begin = time.process_time()
    found = eb.load_bytes(folder / "tfevents", bytes(data), window)
    seconds = time.process_time() - begin
    assert found.column("step") == [i for i in range(6000) if i % 10 != 5]
    assert [damage.offset for damage in found.file.damage] == [at for at, _ in places[5::10]]
    assert seconds < 2


def test_a_path_that_is_none_is_an_error_of_the_file(tmp_path: Path):
    found = eb.Loaded(EventFile(Source(str(tmp_path / "tfevents")), ".", 0), Rows(), Interner())
    load([found.file], found.rows, found.tags)
    assert found.file.error == "No such file or directory"
    assert not len(found.rows)


def test_a_file_that_goes_while_it_is_read_loses_the_large_records_that_were_to_be_read_by_themselves(folder):
    payloads = [scalar_event(i, 0.5) + (field(11, bytes(20000)) if i == 200 else b"") for i in range(300)]
    data = stream(payloads)
    path = folder / "tfevents.gone"
    path.write_bytes(data)
    found = eb.Loaded(EventFile(Source(str(path)), ".", 0), Rows(), Interner())
    load([found.file], found.rows, found.tags, window_size=4096, progress=lambda *_: path.unlink(missing_ok=True))
    assert found.column("step") == [i for i in range(300) if i != 200]
    at, length = serial_walk(data)[0][200]
    assert found.file.damage == [(at, length + 16, "cannot be read: No such file or directory")]
    assert found.file.records == 299
