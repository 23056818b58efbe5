"""What all tests share: the real logs and a real TensorBoard's answers about them."""

from __future__ import annotations

import functools
import gzip
import json
import shutil
from pathlib import Path

import pytest

collect_ignore = ["data", "benchmarks"]
DATA = Path(__file__).parent / "data"
LOGS = ("torch", "tensorboardx", "tf1", "tf2")


@functools.cache
def expected(name: str) -> dict:
    """What TensorBoard answers about a log: NAME the Python server, NAME-fast the Rust server."""
    with gzip.open(DATA / "expected" / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def log_path(name: str) -> Path:
    return DATA / "logs" / name


@pytest.fixture(params=LOGS)
def log(request) -> str:
    """The name of each real log in turn."""
    return request.param


@pytest.fixture
def copy_of(tmp_path):
    """Copy a real log to where it may be changed."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(log_path(name), tmp_path / name))

    return copy


@pytest.fixture(autouse=True)
def _no_figure_left_open():
    yield
    import sys

    if "matplotlib.pyplot" in sys.modules:
        plt = sys.modules["matplotlib.pyplot"]
        left = plt.get_fignums()
        plt.close("all")
        assert not left, f"figures left open: {left}"
