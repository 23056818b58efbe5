"""What the benchmarks share: the logs, the other readers' Python, and figures shown at the end."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from . import logs
from .measuring import Bench, default_folder

_FIGURES = pytest.StashKey[list[str]]()


def pytest_addoption(parser):
    group = parser.getgroup("benchmarks")
    peers = os.environ.get("TBFRAME_PEERS_PYTHON", sys.executable)
    group.addoption("--peers-python", default=peers, help="the Python that has the other readers")
    group.addoption("--repeat", type=int, default=5, help="runs of each reader, of which the best counts")
    group.addoption("--logs", type=Path, default=default_folder(), help="where the benchmark logs are kept")


def pytest_configure(config):
    config.stash[_FIGURES] = []


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[_FIGURES]:
        terminalreporter.section("figures")
        for line in config.stash[_FIGURES]:
            terminalreporter.write_line(line)


@pytest.fixture
def figure(request):
    """Show a line at the end."""
    return request.config.stash[_FIGURES].append


@pytest.fixture(scope="session")
def bench(request):
    """Only what is far beyond its claim (tbparse on media and pivoting, tensorboardX) takes longer than this patience."""
    return Bench(request.config.getoption("--peers-python"), request.config.getoption("--repeat"), patience=40)


@pytest.fixture
def benchmark_log(request):
    """Return a benchmark log by its name."""
    folder = request.config.getoption("--logs")
    return lambda name: logs.make(folder, only=[name])[name]
