"""The logs that ship with the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import log_path

import tbframe

ORIGINS = {"torch": ("torch", "."), "tensorflow1": ("tf1", "."), "sweep": ("tf2", "sweep")}


def files(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("name", list(ORIGINS))
def test_samples_are_the_real_logs(name):
    log, directory = ORIGINS[name]
    whole = files(log_path(log) / directory)
    found = files(tbframe.sample_logs(name))
    assert found
    assert found.items() <= whole.items()


def test_samples_are_small_and_without_damage():
    paths = [tbframe.sample_logs(name) for name in ORIGINS]
    assert sum(len(data) for path in paths for data in files(path).values()) < 700_000
    for path in paths:
        runs = tbframe.runs(path)
        assert not runs[["truncated", "damaged", "restarts", "repeats"]].to_numpy().any()


def test_the_default_is_pytorch():
    assert tbframe.sample_logs() == tbframe.sample_logs("torch") == tbframe.sample_logs(name="torch")


def test_an_unknown_sample():
    with pytest.raises(ValueError, match=r"name='keras': expected one of 'torch', 'tensorflow1', 'sweep'"):
        tbframe.sample_logs("keras")
