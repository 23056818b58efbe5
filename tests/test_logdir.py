"""What a logdir argument may be, and a log directory that is kept open while it is written."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from conftest import log_path
from event_bytes import START, VERSION, record, scalar_event, timed

import tbframe

TORCH = log_path("torch")


def assert_fresh(log: tbframe.LogDir, logdir: Path) -> None:
    """What an open log returns equals what a new one returns."""
    for restarts in ("keep", "mark", "latest"):
        pd.testing.assert_frame_equal(
            log.scalars(restarts=restarts, damaged="ignore"),
            tbframe.scalars(logdir, restarts=restarts, damaged="ignore"),
        )
    fresh = tbframe.open(logdir)
    pd.testing.assert_frame_equal(log.tags(), fresh.tags())
    pd.testing.assert_frame_equal(log.runs(), fresh.runs())
    assert log.index() == fresh.index()


def write(path: Path, steps, tag=b"loss", head: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + b"".join(record(scalar_event(step, step / 4, tag)) for step in steps))
    return path


# What a logdir may be -------------------------------------------------------------------------------------------------


def test_a_path_a_string_and_an_open_log_give_the_same(tmp_path, monkeypatch):
    frame = tbframe.scalars(TORCH, restarts="latest")
    pd.testing.assert_frame_equal(tbframe.scalars(str(TORCH), restarts="latest"), frame)
    pd.testing.assert_frame_equal(tbframe.open(TORCH).scalars(restarts="latest"), frame)
    monkeypatch.setenv("HOME", str(TORCH.parent))
    pd.testing.assert_frame_equal(tbframe.scalars("~/torch", restarts="latest"), frame)


def test_one_event_file_is_the_run_dot():
    file = next((TORCH / "adam-1e-3").glob("*tfevents*"))
    frame = tbframe.scalars(file)
    assert frame["run"].unique().tolist() == ["."]
    whole = tbframe.scalars(TORCH, runs="adam-1e-3")
    pd.testing.assert_frame_equal(frame.drop(columns="run"), whole.drop(columns="run"))


def test_the_logdir_itself_is_the_run_dot():
    assert tbframe.runs(TORCH / "adam-1e-3")["run"].tolist() == [".", "both_test", "both_train", "hp"]


def test_a_mapping_names_the_runs():
    runs = tbframe.runs({"a": TORCH / "adam-1e-3", "b/c": str(TORCH / "odd")})["run"].tolist()
    assert runs == ["a", "a/both_test", "a/both_train", "a/hp", "b/c"]
    with pytest.raises(TypeError, match="expected names of type str that are not empty, found ''"):
        tbframe.runs({"": TORCH})


def test_several_paths_are_one_log_and_colliding_names_an_error():
    runs = tbframe.runs(path for path in (log_path("tf1"), log_path("tf2") / "sweep"))["run"].tolist()
    assert runs == [".", "eval", "restarted", "session-0", "session-1", "session-2", "several", "train"]
    with pytest.raises(ValueError, match=re.escape("run '.' is in") + ".*give the paths names"):
        tbframe.runs([TORCH / "odd", TORCH / "adam-1e-3"])


def test_a_filesystem_of_fsspec(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(str(TORCH), "/logs/torch", recursive=True)
    try:
        log = tbframe.open("memory://logs/torch")
        pd.testing.assert_frame_equal(log.scalars(restarts="latest"), tbframe.scalars(TORCH, restarts="latest"))
        pd.testing.assert_frame_equal(log.tags(), tbframe.tags(TORCH))
        (name,) = (path for path in memory.find("/logs/torch/odd"))
        assert tbframe.runs(f"memory://{name}")["run"].tolist() == ["."]
        with memory.open(name, "ab") as file:
            file.write(record(scalar_event(7, 0.5, b"steps")))
        assert log.refresh().scalars(tags="steps", restarts="keep")["step"].tolist()[-1] == 7
        with pytest.raises(FileNotFoundError, match="memory://nowhere"):
            tbframe.runs("memory://nowhere")
    finally:
        memory.rm("/logs", recursive=True)


def test_a_missing_directory_says_what_was_looked_for(tmp_path, monkeypatch):
    with pytest.raises(
        FileNotFoundError, match=re.escape(f"{str(tmp_path / 'no' / 'where')!r} ({str(tmp_path)!r} exists)")
    ):
        tbframe.scalars(tmp_path / "no" / "where")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=re.escape(f"current directory {str(tmp_path)!r}")):
        tbframe.scalars("nowhere")
    (tmp_path / "link").symlink_to("gone")
    with pytest.raises(FileNotFoundError, match="symbolic link to 'gone'"):
        tbframe.scalars(tmp_path / "link")


def test_a_directory_without_event_files_is_an_error_of_its_own(tmp_path):
    (tmp_path / "notes.txt").write_text("no log")
    with pytest.raises(tbframe.NoEventFilesError, match=f"no event files below {str(tmp_path)!r}") as caught:
        tbframe.scalars(tmp_path)
    assert isinstance(caught.value, FileNotFoundError)
    (tmp_path / "tfevents").mkdir()
    with pytest.raises(tbframe.NoEventFilesError, match="a directory named like an event file"):
        tbframe.scalars(tmp_path)


@pytest.mark.parametrize("logdir", [3, None, b"logs", [3], {"a": 3}, [b"logs"]])
def test_anything_else_is_a_type_error(logdir):
    with pytest.raises(TypeError, match="logdir"):
        tbframe.scalars(logdir)


def test_no_path_at_all_is_an_error():
    with pytest.raises(ValueError, match="names no path"):
        tbframe.scalars([])


# Runs and files -------------------------------------------------------------------------------------------------------


def test_runs_are_found_as_tensorboard_finds_them(tmp_path):
    write(tmp_path / "version_10" / "events.out.tfevents.1", [0])
    write(tmp_path / "version_2" / "events.out.tfevents.1", [0])
    write(tmp_path / "version_2" / "deep" / "er" / "a.tfevents", [0])
    write(tmp_path / ".hidden" / "x.tfevents.1.v2", [0])
    write(tmp_path / "version_2" / "not" / "events.out", [0])
    write(tmp_path / "version_2" / "not" / "E.TFEVENTS.1", [0])
    (tmp_path / "link").symlink_to(tmp_path / "version_10", target_is_directory=True)
    (tmp_path / "version_10" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert tbframe.runs(tmp_path)["run"].tolist() == [".hidden", "link", "version_2", "version_2/deep/er", "version_10"]


def test_files_of_a_run_are_one_stream_in_the_order_of_their_names(tmp_path):
    write(tmp_path / "tfevents.9", [4, 5])
    write(tmp_path / "tfevents.10", [0, 1])  # sorts before 9: by code points, not by numbers
    assert tbframe.scalars(tmp_path, restarts="keep")["step"].tolist() == [0, 1, 4, 5]
    assert tbframe.runs(tmp_path)["files"].tolist() == [2]


def test_runs_and_tags_come_in_natural_order(tmp_path):
    for run in ("b10", "b9"):
        write(tmp_path / run / "tfevents", [0], b"t10")
        with (tmp_path / run / "tfevents").open("ab") as file:
            file.write(record(scalar_event(0, 1.0, b"t9")))
    frame = tbframe.scalars(tmp_path)
    assert frame[["run", "tag"]].astype(str).values.tolist() == [
        ["b9", "t9"],
        ["b9", "t10"],
        ["b10", "t9"],
        ["b10", "t10"],
    ]
    assert frame["tag"].cat.categories.tolist() == ["t9", "t10"]


# Selection ------------------------------------------------------------------------------------------------------------


def test_runs_and_tags_select():
    names = lambda **options: tbframe.scalars(TORCH, restarts="latest", **options)[["run", "tag"]].astype(str)  # noqa: E731
    whole = names()
    pd.testing.assert_frame_equal(names(tags="lr"), whole[whole["tag"] == "lr"].reset_index(drop=True))
    both = names(tags=["lr", "loss/train"], runs=iter(["adam-1e-3", "adam-1e-2"]))
    assert both.drop_duplicates().values.tolist() == [
        [run, tag] for run in ("adam-1e-2", "adam-1e-3") for tag in ("loss/train", "lr")
    ]
    found = names(tags=re.compile("^loss"), runs=re.compile("3$"))
    assert found.drop_duplicates().values.tolist() == [["adam-1e-3", "loss/test"], ["adam-1e-3", "loss/train"]]
    none = tbframe.scalars(TORCH, tags=re.compile("nothing"))
    assert none.empty
    assert none.dtypes.astype(str).tolist() == ["category", "category", "int64", "float64", "float64"]
    assert not len(none["tag"].cat.categories)


def test_unknown_names_list_near_misses():
    with pytest.raises(tbframe.UnknownNameError, match=r"no tag 'loss/trian'. Did you mean 'loss/train'"):
        tbframe.scalars(TORCH, tags="loss/trian")
    with pytest.raises(KeyError, match=r"no run 'adam-1e2'. Did you mean 'adam-1e-2'"):
        tbframe.scalars(TORCH, runs=["adam-1e2"])
    with pytest.raises(
        tbframe.UnknownNameError, match=re.escape("it holds no scalars: read it with tbframe.histograms()")
    ) as caught:
        tbframe.scalars(TORCH, tags="0.weight")
    assert "\\n" not in str(caught.value)
    with pytest.raises(TypeError, match="tags=3: expected a name"):
        tbframe.scalars(TORCH, tags=3)


# Restarts -------------------------------------------------------------------------------------------------------------


def test_purge_says_what_it_dropped_and_mark_marks_it():
    with pytest.warns(tbframe.RestartWarning, match="10 rows that a later start .* dropped, in 'restarted'") as caught:
        purged = tbframe.scalars(TORCH, runs="restarted")
    assert len(caught) == 1
    assert purged.attrs["tbframe"]["dropped"] == 10
    marked = tbframe.scalars(TORCH, runs="restarted", restarts="mark")
    assert marked.columns.tolist()[-2:] == ["session", "superseded"]
    assert marked["session"].tolist() == [0] * 40 + [1] * 30
    pd.testing.assert_frame_equal(
        marked[~marked["superseded"]].drop(columns=["session", "superseded"]).reset_index(drop=True),
        purged,
        check_flags=False,
    )
    assert tbframe.runs(TORCH).set_index("run").loc["restarted", "restarts"] == 1


def test_steps_that_still_repeat_are_said_and_latest_is_named():
    with pytest.warns(tbframe.RestartWarning, match="in 2 rows the step repeats .*restarts='latest'"):
        frame = tbframe.scalars(TORCH, runs="odd", tags="steps")
    # 2**40, 3, 3: one goes back, one repeats
    assert frame.attrs["tbframe"]["repeats"] == 2


def test_the_first_start_purges_too_and_only_tags_that_were_logged_before_it(tmp_path):
    head = record(VERSION)
    path = write(tmp_path / "tfevents.1", range(5), head=head)
    with path.open("ab") as file:
        file.write(record(timed(2, START)))
        file.write(b"".join(record(scalar_event(step, 9.0, b"other")) for step in (2, 3)))
    with pytest.warns(tbframe.RestartWarning, match="3 rows"):
        frame = tbframe.scalars(tmp_path)
    assert frame.loc[frame["tag"] == "loss", "step"].tolist() == [0, 1]
    assert frame.loc[frame["tag"] == "other", "step"].tolist() == [2, 3]


@pytest.mark.parametrize(
    ("version", "kept"),
    [(b"", [0, 1, 2, 3]), (b"brain.Event:1", [0, 1, 2, 3]), (b"brain.Event:2", [0, 1, 2, 3, 4, 2, 3])],
)
def test_old_logs_are_purged_by_steps(version, kept, tmp_path):
    from event_bytes import field

    head = record(timed(0, field(3, version))) if version else b""
    write(tmp_path / "tfevents.1", [0, 1, 2, 3, 4, 2, 3], head=head)
    with pytest.warns(tbframe.RestartWarning):
        assert tbframe.scalars(tmp_path)["step"].tolist() == kept


def test_an_unknown_policy_is_an_error():
    with pytest.raises(ValueError, match="restarts='drop': expected one of 'purge', 'latest', 'keep', 'mark'"):
        tbframe.scalars(TORCH, restarts="drop")


# Live logs ------------------------------------------------------------------------------------------------------------


def test_refresh_equals_a_fresh_read_at_every_stage(tmp_path):
    parts = [record(VERSION)] + [record(scalar_event(step, step / 8)) for step in range(90)]
    parts[60:60] = [record(timed(40, START))]
    data = b"".join(parts)
    path = write(tmp_path / "run" / "tfevents.1", [])
    log = tbframe.open(tmp_path)
    for cut in [*range(0, len(data), 293), len(data)]:
        path.write_bytes(data[:cut]) if cut == 0 else _append(path, data[path.stat().st_size : cut])
        assert_fresh(log.refresh(), tmp_path)
    assert len(log.scalars(restarts="keep")) == 90


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_refresh_sees_new_runs_files_and_growth_of_an_earlier_file(tmp_path):
    first = write(tmp_path / "b" / "tfevents.1", range(3), head=record(VERSION))
    write(tmp_path / "b" / "tfevents.2", range(6, 9), head=record(VERSION))
    log = tbframe.open(tmp_path)
    assert log.scalars()["step"].tolist() == [0, 1, 2, 6, 7, 8]
    _append(first, b"".join(record(scalar_event(step, 1.0)) for step in (3, 4, 5)))
    write(tmp_path / "b" / "tfevents.0", [100], b"early")
    write(tmp_path / "a" / "tfevents", range(2))
    assert log.refresh().scalars(tags="loss", runs="b")["step"].tolist() == list(range(9))
    assert_fresh(log, tmp_path)


def test_refresh_reads_replaced_cut_and_rewritten_files_again(tmp_path):
    path = write(tmp_path / "r" / "tfevents.1", range(50))
    other = write(tmp_path / "s" / "tfevents.1", range(5))
    log = tbframe.open(tmp_path)
    assert len(log.scalars()) == 55
    write(path, range(100, 160))  # the same inode, other bytes, longer
    assert_fresh(log.refresh(), tmp_path)
    write(path, range(3))  # shorter
    assert_fresh(log.refresh(), tmp_path)
    write(tmp_path / "new", range(7, 90))
    os.replace(tmp_path / "new", path)
    assert_fresh(log.refresh(), tmp_path)
    shutil.rmtree(tmp_path / "r")
    assert_fresh(log.refresh(), tmp_path)
    assert log.scalars()["run"].unique().tolist() == ["s"]
    other.unlink()
    with pytest.raises(tbframe.NoEventFilesError):
        log.refresh()


def test_late_metadata_turn_earlier_tensors_into_scalars(tmp_path):
    from event_bytes import metadata_of, tensor_event

    number = b"\x08\x01\x12\x00\x22\x04\x00\x00\x80\x3f"
    path = write(tmp_path / "tfevents.1", [])
    _append(path, b"".join(record(tensor_event(step, number)) for step in range(40)))
    log = tbframe.open(tmp_path)
    assert log.scalars().empty
    assert log.tags()["kind"].tolist() == ["tensors"]
    (tmp_path / "tfevents.2").write_bytes(record(tensor_event(40, number, metadata=metadata_of(b"scalars"))))
    assert log.refresh().scalars()["step"].tolist() == list(range(41))
    assert_fresh(log, tmp_path)


def test_reading_again_does_not_read_the_files_again(copy_of, monkeypatch):
    log = tbframe.open(copy_of("torch"))
    log.scalars(restarts="latest")
    original = tbframe.storage.Source.open

    def unless_events(source):  # the configuration of embeddings beside them is small
        return pytest.fail("opened again") if "tfevents" in source.path else original(source)

    monkeypatch.setattr(tbframe.storage.Source, "open", unless_events)
    log.scalars(restarts="keep", tags="lr")
    log.tags()
    log.runs()
    log.index()


def test_damage_at_the_end_is_looked_at_again_when_the_file_grows(tmp_path):
    path = write(tmp_path / "tfevents.1", range(3))
    _append(path, bytes(64))
    log = tbframe.open(tmp_path)
    with pytest.warns(tbframe.DamagedFileWarning, match="zeros"):
        log.scalars()
    _append(path, record(scalar_event(3, 1.0)))
    with pytest.warns(tbframe.DamagedFileWarning, match="64 bytes were passed over"):
        assert log.refresh().scalars()["step"].tolist() == [0, 1, 2, 3]
    assert log.runs()["damaged"].tolist() == [1]


def test_integers_beyond_2_to_the_53_are_rounded_and_counted(tmp_path):
    from event_bytes import metadata_of, tensor_event

    numbers = [2**53, 2**53 + 1, -(2**62) - 1, 2**60]
    events = (
        tensor_event(
            step,
            b"\x08\x09\x12\x00\x22\x08" + number.to_bytes(8, "little", signed=True),
            metadata=metadata_of(b"scalars"),
        )
        for step, number in enumerate(numbers)
    )
    (tmp_path / "tfevents").write_bytes(b"".join(map(record, events)))
    frame = tbframe.scalars(tmp_path)
    assert frame["value"].tolist() == [float(number) for number in numbers]
    assert frame.attrs["tbframe"]["rounded"] == 2


def test_attrs_are_plain_json():
    import json

    attrs = tbframe.scalars(TORCH, restarts="latest").attrs["tbframe"]
    assert json.loads(json.dumps(attrs)) == attrs
    assert attrs["logdir"] == str(TORCH)


def test_the_progress_bar_shows_and_can_be_switched_off(capsys):
    tbframe.scalars(TORCH, restarts="latest", progress=False)
    assert capsys.readouterr().err == ""
    tbframe.scalars(TORCH, restarts="latest", progress=True)
    assert "reading events" in capsys.readouterr().err


def test_an_open_log_shows_what_it_holds():
    lines = repr(tbframe.open(TORCH)).splitlines()
    assert lines[0] == f"<tbframe.LogDir {str(TORCH)!r}: 10 runs, 11 files, 502 events, 392 kB>"
    assert [line.split()[0] for line in lines[1:4]] == ["scalars", "histograms", "images"]
    counts, names = lines[1].split(": ")
    assert counts.split()[1:] == ["13", "tags", "390", "values", "1.62", "kB", "in", "10", "runs"]
    assert names == "accuracy/test, loss/test, loss/train, lr, both, …"
    assert max(map(len, lines[1:])) <= 120


def test_names_of_tags_that_are_shown_are_on_one_line(tmp_path):
    values = [scalar_event(0, 1.0, tag) for tag in (b"", b"a\nb", b"x" * 300)]
    path = tmp_path / "tfevents"
    path.write_bytes(b"".join(map(record, values)))
    _, line = repr(tbframe.open(tmp_path)).splitlines()
    assert line.split(": ")[1] == "'', 'a\\nb', …"


def test_an_open_log_shows_what_it_holds_in_notebooks(tmp_path):
    for run in range(14):
        write(tmp_path / f"<b>{run}" / "tfevents", [0])
    html = tbframe.open(tmp_path)._repr_html_()
    assert "<td>scalars</td>" in html
    assert "&lt;b&gt;0" in html
    assert "<b>0" not in html
    assert "and 2 more: see" in html


pytestmark = pytest.mark.filterwarnings("ignore::tbframe.RestartWarning")
