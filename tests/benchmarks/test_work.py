"""The verbs and the writer: as right as the others, and faster by what is claimed."""

from __future__ import annotations

import pytest

import tbframe

from . import shapes
from .measuring import Subject
from .subjects import WORK

pytestmark = pytest.mark.benchmark


@pytest.fixture
def compared(log, bench, figure, tmp_path):
    """Measure a piece of work, and hold it to its claim once the results have been compared."""

    def compare(name):
        work = WORK[name]
        logs = {work.log: log(work.log)} if work.log else {}
        found = bench.best(work.subjects(logs, tmp_path), touch=logs[work.log].path if work.log else None)
        if work.peer_name not in found:
            pytest.skip(f"the Python of --peers-python lacks {bench.missing[work.peer]}")
        return found["tbframe"], found[work.peer_name]

    def faster(name, own, other):
        ratio = other.seconds / own.seconds
        figure(f"{name}: {own.seconds:.3f} s; {WORK[name].peer_name} {ratio:.0f}×")
        assert ratio >= WORK[name].at_least

    compare.faster = faster
    return compare


def test_rebin(compared):
    own, other = compared("rebin")
    assert own.rows == other.rows == 20_000
    assert own.facts["edges"] == pytest.approx(other.facts["edges"], rel=1e-12)
    assert own.facts["sums"] == pytest.approx(other.facts["sums"], rel=1e-9)
    compared.faster("rebin", own, other)


def test_compress(compared):
    own, other = compared("compress")
    assert own.rows == other.rows == 20_000
    assert own.facts["sums"] == pytest.approx(other.facts["sums"], rel=1e-9)
    compared.faster("compress", own, other)


def test_wide(compared, log):
    own, other = compared("wide")
    assert own.rows == other.rows == log("scalars-one").rows
    assert own.facts["total"] == pytest.approx(other.facts["total"], rel=1e-9)
    assert own.facts["total"] == pytest.approx(log("scalars-one").total, rel=1e-9)
    compared.faster("wide", own, other)


def test_write(compared):
    own, other = compared("write")
    assert own.rows == other.rows == 1_000_000
    frame = tbframe.scalars(own.facts["folder"]).sort_values(["tag", "step"], ignore_index=True)
    theirs = tbframe.scalars(other.facts["folder"]).sort_values(["tag", "step"], ignore_index=True)
    assert len(frame) == 1_000_000
    assert (frame == theirs).all(axis=None)
    compared.faster("write", own, other)


@pytest.mark.parametrize(("name", "arguments"), [("smooth", []), ("select", ["tags=['train/loss','valid/lr']"])])
def test_on_a_million_rows(name, arguments, log, bench, figure):
    of = log("scalars-one")
    subject = Subject("own.verb", (of.path, name, *arguments))
    found = bench.best({name: subject})[name]
    assert found.rows == (200_000 if name == "select" else 1_000_000)
    figure(f"{name}() of 1,000,000 rows: {found.seconds:.3f} s")
    assert found.seconds <= 0.1


@pytest.mark.parametrize(
    ("name", "arguments", "rows"),
    [
        ("downsample", ["n=1000", "method='reservoir'"], 100_000),
        ("downsample", ["n=1000", "method='lttb'"], 100_000),
        ("aggregate", [r"by=r'^(?P<lr>\w+)/'"], 20_000),
        ("aggregate", [r"by=r'^(?P<lr>\w+)/'", "estimator='iqm'"], 20_000),
    ],
)
def test_on_a_hundred_runs(name, arguments, rows, bench, figure, tmp_path):
    shapes.many_seeds(tmp_path, 100, 10_000)
    subject = Subject("own.verb", (str(tmp_path), name, *arguments))
    found = bench.best({name: subject})[name]
    assert found.rows == rows
    figure(f"{name}({', '.join(arguments)}) of 100 runs × 10,000 steps: {found.seconds:.3f} s")
    assert found.seconds <= 1
