"""Cut, flipped, zeroed and foreign bytes: the good records are read, the damage is named, nothing crashes."""

from __future__ import annotations

import gzip
import os
import random
import struct
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import LOGS, log_path
from event_bytes import checksum, metadata_of, record, scalar_event, tensor_event

import tbframe

FILES = sorted(path for name in LOGS for path in log_path(name).rglob("*tfevents*"))
SMALL = [path for path in FILES if path.stat().st_size < 7000]
COLUMNS = ["record", "step", "wall_time", "number", "what", "dtype"]


def records(data: bytes) -> list[tuple[int, int]]:
    """Start and end of every record, by walking."""
    found, at = [], 0
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at : at + 8], "little")
        found.append((at, end))
        at = end
    assert at == len(data)
    return found


def rows(log: tbframe.LogDir) -> pd.DataFrame:
    """Every value of every kind, with its record."""
    frame = pd.DataFrame({name: log._rows[name] for name in COLUMNS})
    return frame.assign(tag=np.array([log._tags.names[code] for code in log._rows["tag"]], dtype=object))


def read(directory: Path) -> tuple[tbframe.LogDir, list[str]]:
    log = tbframe.open(directory)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        log.scalars(restarts="keep")
    said = [str(w.message) for w in caught if issubclass(w.category, tbframe.DamagedFileWarning)]
    return log, said


def file_of(directory: Path, data: bytes) -> Path:
    path = directory / "events.out.tfevents.1"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("path", SMALL[::4], ids=lambda path: "-".join(path.relative_to(path.parents[2]).parts[:-1]))
def test_any_cut_leaves_the_whole_records_before_it(path, tmp_path):
    data = path.read_bytes()
    ends = [0, *(end for _, end in records(data))]
    file_of(tmp_path, data)
    whole = rows(read(tmp_path)[0])
    for cut in range(0, len(data), 1 if len(data) < 700 else 19):
        file_of(tmp_path, data[:cut])
        log, said = read(tmp_path)
        assert not said
        good = max(end for end in ends if end <= cut)
        pd.testing.assert_frame_equal(rows(log), whole[whole["record"] < good])
        assert log.runs()["truncated"].tolist() == [cut not in ends]


@pytest.mark.parametrize("path", FILES, ids=lambda path: "-".join(path.relative_to(path.parents[2]).parts[:-1]))
def test_any_flipped_byte_costs_at_most_its_record(path, tmp_path):
    data = path.read_bytes()
    spans = records(data)
    file_of(tmp_path, data)
    whole = rows(read(tmp_path)[0])
    dice = random.Random(str(path.name))
    # Headers and footers are few bytes of many: they are hit as often as payloads.
    places = [dice.randrange(len(data)) for _ in range(12)]
    places += [dice.choice(spans)[0] + dice.randrange(12) for _ in range(12)]
    places += [dice.choice(spans)[1] - 1 - dice.randrange(4) for _ in range(6)]
    for place in places:
        hit = next(span for span in spans if span[0] <= place < span[1])
        changed = bytearray(data)
        changed[place] ^= 1 << dice.randrange(8)
        damaged = file_of(tmp_path, bytes(changed))
        log, said = read(tmp_path)
        found = rows(log)
        pd.testing.assert_frame_equal(
            found[found["record"] != hit[0]].reset_index(drop=True),
            whole[whole["record"] != hit[0]].reset_index(drop=True),
        )
        if said:
            assert len(said) == 1
            assert f"{damaged}: at byte {hit[0]}: the " in said[0]
            assert "checksum of a record does not match" in said[0]
            assert log.runs()["damaged"].tolist() == [1]
            with pytest.raises(tbframe.EventFileError, match="checksum") as caught:
                tbframe.scalars(tmp_path, damaged="raise")
            assert (caught.value.path, caught.value.offset) == (str(damaged), hit[0])
        else:
            # Harmless: a payload that nobody asked for. Asked, it says so.
            assert log.runs()["unchecked"].sum() > 0
            with pytest.warns(tbframe.DamagedFileWarning, match="data checksum"):
                log.verify()
            assert log.runs()["unchecked"].sum() == 0


def test_a_wrong_length_checksum_alone_loses_nothing(tmp_path):
    data = bytearray(SMALL[0].read_bytes())
    file_of(tmp_path, bytes(data))
    whole = rows(read(tmp_path)[0])
    data[records(bytes(data))[2][0] + 9] ^= 1
    file_of(tmp_path, bytes(data))
    log, said = read(tmp_path)
    pd.testing.assert_frame_equal(rows(log), whole)
    assert "and they are kept. 0 bytes were passed over" in said[0]


@pytest.mark.parametrize("name", ["torch", "tensorboardx"])
def test_a_damaged_version_record_costs_no_row(name, tmp_path):
    """Without a version TensorBoard's rule for old files would drop rows; a damaged one counts as new."""
    path = next(path for path in (log_path(name) / "restarted").iterdir() if path.suffix == ".a")
    first = path.read_bytes()
    data = first + next(p for p in path.parent.iterdir() if p.suffix == ".b").read_bytes()
    start = records(data)
    changed = bytearray(data)
    changed[20] ^= 1
    file_of(tmp_path, bytes(changed))
    with pytest.warns(tbframe.DamagedFileWarning, match="at byte 0"):
        frame = tbframe.open(tmp_path).scalars(restarts="keep")
    assert len(frame) == 70
    # Steps go back at the second writer's beginning; its START drops rows, the old rule must not.
    assert start[0][0] == 0
    with pytest.warns(tbframe.RestartWarning):
        assert tbframe.scalars(tmp_path, damaged="ignore")["step"].tolist() == list(range(60))


def test_a_value_whose_only_metadata_were_hit_goes_to_tensors(tmp_path):
    """TensorFlow 1 writes the metadata of a tag with its first value only."""
    half, quarter = (b"\x08\x01\x12\x00\x22\x04" + struct.pack("<f", value) for value in (0.5, 0.25))
    first = record(tensor_event(0, half, metadata=metadata_of(b"scalars")))
    second = record(tensor_event(1, quarter))
    file_of(tmp_path, first + second)
    assert tbframe.scalars(tmp_path)["value"].tolist() == [0.5, 0.25]
    broken = bytearray(first)
    broken[-6] ^= 1
    file_of(tmp_path, bytes(broken) + second)
    with pytest.warns(tbframe.DamagedFileWarning, match="at byte 0"):
        assert tbframe.scalars(tmp_path).empty
    with pytest.warns(tbframe.DamagedFileWarning):
        assert tbframe.tags(tmp_path)["kind"].tolist() == ["tensors"]


@pytest.mark.parametrize("zeros", [12, 13, 100, 5000, 3 << 20])
def test_a_zero_filled_tail_is_called_that(zeros, tmp_path):
    data = SMALL[0].read_bytes()
    file_of(tmp_path, data)
    whole = rows(read(tmp_path)[0])
    file_of(tmp_path, data + bytes(zeros))
    log, said = read(tmp_path)
    assert len(said) == 1
    assert f"at byte {len(data)}: zeros to the end of the file" in said[0]
    assert f"{zeros:,} bytes were passed over" in said[0]
    pd.testing.assert_frame_equal(rows(log), whole)


@pytest.mark.parametrize("path", SMALL[:6])
def test_rubbish_in_the_middle_leaves_the_records_before_and_after(path, tmp_path):
    data = path.read_bytes()
    spans = records(data)
    dice = random.Random(7)
    for _ in range(20):
        place = dice.randrange(len(data))
        lost = dice.choice([0, 1, 50, 100])
        changed = data[:place] + dice.randbytes(dice.choice([100, 1, 0, 1000])) + data[place + lost :]
        file_of(tmp_path, changed)
        log, said = read(tmp_path)
        good = sum(end <= place or begin >= place + lost for begin, end in spans)
        assert log.runs()["events"].sum() >= good
        assert len(said) <= 1


def test_rubbish_names_the_place_and_how_much_was_passed_over(tmp_path):
    data = SMALL[0].read_bytes()
    begin = records(data)[3][0]
    file_of(tmp_path, data[:begin] + b"\xa5" * 100 + data[begin:])
    log, said = read(tmp_path)
    assert f"at byte {begin}: the length checksum of a record does not match. 100 bytes were passed over" in said[0]
    assert f"{len(records(data))} good records read" in said[0]
    assert log.runs()["damaged"].tolist() == [1]


def test_a_claim_of_2_to_the_60_bytes_allocates_nothing(tmp_path):
    data = SMALL[0].read_bytes()
    length = (1 << 60).to_bytes(8, "little")
    file_of(tmp_path, data + length + checksum(length) + b"x" * 50 + data)
    tracemalloc.start()
    log, said = read(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20
    assert log.runs()["events"].tolist() == [2 * len(records(data))]
    assert f"at byte {len(data)}" in said[0]


FOREIGN = {
    "text": (b"hello, this is no event file at all\n" * 10, "it holds text that begins with b'hello"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "a Git LFS pointer"),
    "gzip": (gzip.compress(FILES[0].read_bytes()), "gzip-compressed data"),
    "noise": (random.Random(1).randbytes(3 << 20), "it holds data that begins with"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_named_and_the_others_are_read(what, tmp_path):
    data, reason = FOREIGN[what]
    (tmp_path / "good").mkdir()
    file_of(tmp_path / "good", SMALL[0].read_bytes())
    (tmp_path / "bad").mkdir()
    bad = file_of(tmp_path / "bad", data)
    log, said = read(tmp_path)
    assert len(said) == 1
    assert f"{bad}: at byte 0: no event file: " in said[0]
    assert reason in said[0]
    assert set(rows(log)["record"]) == {begin for begin, _ in records(SMALL[0].read_bytes())}


def test_an_empty_file_is_a_run_without_events(tmp_path):
    file_of(tmp_path, b"")
    log, said = read(tmp_path)
    assert not said
    assert log.runs()[["run", "events", "truncated"]].values.tolist() == [[".", 0, False]]
    assert log.scalars().empty
    assert log.scalars().dtypes.astype(str).tolist() == ["category", "category", "int64", "float64", "float64"]


def test_what_only_has_the_name_of_an_event_file_is_named(tmp_path):
    file_of(tmp_path, SMALL[0].read_bytes())
    (tmp_path / "tfevents.d").mkdir()
    (tmp_path / "tfevents.link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "tfevents.fifo")
    log, said = read(tmp_path)
    assert sorted(text.removeprefix(f"{tmp_path}{os.sep}").split(";")[0] for text in said) == [
        "tfevents.d is a directory named like an event file, without event files in it",
        "tfevents.fifo is a FIFO, not a regular file",
        "tfevents.link is a symbolic link to 'nowhere', which does not exist",
    ]
    assert len(log.scalars(restarts="keep"))
    with pytest.raises(tbframe.EventFileError, match=r"FIFO|directory|symbolic"):
        tbframe.scalars(tmp_path, damaged="raise")


def test_a_run_directory_may_be_named_like_an_event_file(tmp_path):
    (tmp_path / "my_tfevents").mkdir()
    file_of(tmp_path / "my_tfevents", SMALL[0].read_bytes())
    log, said = read(tmp_path)
    assert not said
    assert log.runs()["run"].tolist() == ["my_tfevents"]


def test_an_unreadable_file_is_named_and_the_others_are_read(tmp_path, monkeypatch):
    from tbframe import storage

    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        file_of(tmp_path / run, SMALL[0].read_bytes())
    opened = storage.Source.open

    def refuse(self):
        if f"{os.sep}a{os.sep}" in self.path:
            raise PermissionError(13, "Permission denied")
        return opened(self)

    monkeypatch.setattr(storage.Source, "open", refuse)
    log, said = read(tmp_path)
    assert len(said) == 1
    assert "cannot be read from byte 0 on: Permission denied" in said[0]
    assert set(log.scalars(restarts="keep")["run"]) == {"b"}
    with pytest.raises(tbframe.EventFileError, match="Permission denied"):
        tbframe.scalars(tmp_path, damaged="raise")


def test_damage_is_said_once_for_an_open_log_and_not_at_all_when_ignored(tmp_path):
    data = bytearray(SMALL[0].read_bytes())
    data[30] ^= 1
    file_of(tmp_path, bytes(data))
    log = tbframe.open(tmp_path)
    with pytest.warns(tbframe.DamagedFileWarning):
        log.scalars(restarts="keep")
    log.scalars(restarts="keep")
    tbframe.scalars(tmp_path, damaged="ignore", restarts="keep")
    with pytest.raises(ValueError, match="damaged='maybe': expected one of 'warn', 'raise', 'ignore'"):
        log.scalars(damaged="maybe")


def test_a_tag_that_is_not_utf8_is_escaped(tmp_path):
    file_of(tmp_path, record(scalar_event(0, 1.5, tag=b"caf\xe9")))
    frame = tbframe.scalars(tmp_path)
    assert frame["tag"].tolist() == ["caf\\xe9"]
    assert np.array_equal(frame["value"], [1.5])


pytestmark = pytest.mark.filterwarnings("ignore::tbframe.RestartWarning")
