"""The tbframe command."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import log_path
from event_bytes import record, scalar_event

from tbframe.cli import main


def test_a_logdir_is_described(capsys):
    assert main([str(log_path("torch"))]) == 0
    out = capsys.readouterr().out
    assert "Runs (times in UTC): 10\n" in out
    (tags,) = (line for line in out.splitlines() if line.startswith("Tags: "))
    assert tags == "Tags: 50"
    (line,) = (line.split() for line in out.splitlines() if line.startswith("restarted") and "scalars" in line)
    assert line == ["restarted", "loss", "scalars", "float32", "70", "0", "59", "280"]
    assert "No file is damaged." in out
    # restarts and repeats are shown because something is there
    assert "restarts" in out
    assert "repeats" in out


def test_damage_is_listed(tmp_path, capsys):
    (tmp_path / "tfevents.1").write_bytes(record(scalar_event(0, 1.0)) + bytes(64))
    (tmp_path / "tfevents.2").write_bytes(b"no event file, but a text of some length")
    assert main([str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "2 damaged files:" in out
    assert "zeros to the end of the file" in out
    assert "no event file: it holds text" in out


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -1e300, 1e300, 0.0])
def test_odd_times_and_names_are_shown_in_one_line(time, tmp_path, capsys):
    tag = "a\nb" + "x" * 200
    (tmp_path / "tfevents").write_bytes(record(scalar_event(2**62, 1.0, tag.encode(), wall_time=time)))
    assert main([str(tmp_path)]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "scalars" in line)
    assert "a\\nbxxx" in line
    assert "…" in line
    assert f"{2**62:,}" in line


def test_a_logdir_that_cannot_be_read_is_an_error_message(tmp_path, capsys):
    assert main([str(tmp_path / "nowhere")]) == 1
    assert "tbframe: no such directory or event file" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 1
    assert "no event files below" in capsys.readouterr().err


def test_the_demo_prints_tables_and_writes_figures(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "Runs (times in UTC): 8" in out
    assert "loss/train" in out
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert {"curves.pdf", "curves.png"} <= set(written)
    assert (tmp_path / "out" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "curves.pdf").read_bytes().startswith(b"%PDF")
    for name in written:
        assert f"wrote {tmp_path / 'out' / name}" in out


def test_a_pipe_that_closes_early_is_no_error():
    command = f"{sys.executable} -m tbframe.cli {log_path('torch')} | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("Runs")
    assert done.stderr == ""
