"""Costs grow as the log does, whatever its shape."""

from __future__ import annotations

import pytest

from . import shapes
from .measuring import Subject

pytestmark = pytest.mark.benchmark


def read(paths, bench):
    return bench.best({name: Subject("own.read", (str(path), "scalars")) for name, path in paths.items()})


@pytest.mark.parametrize("what", shapes.SHAPES)
def test_twice_the_log_takes_twice_the_time(what, bench, figure, tmp_path):
    write, size = shapes.SHAPES[what]
    written = {times: write(tmp_path / str(times), times * size) for times in (1, 2)}
    found = read({times: tmp_path / str(times) for times in written}, bench)
    for times, expected in written.items():
        assert (found[times].rows, found[times].facts["steps"]) == (expected.rows, expected.steps)
        assert found[times].facts["total"] == pytest.approx(expected.total, rel=1e-9)
    once, twice = found[1].seconds, found[2].seconds
    figure(f"{size:,} {what}: {once:.3f} s, twice as many: {twice:.3f} s ({twice / once:.2f}×)")
    assert twice <= 2.5 * once


def test_one_long_tag_costs_the_other_rows_nothing(bench, figure, tmp_path):
    shapes.long_tag(tmp_path / "long", 100_000)
    shapes.long_tag(tmp_path / "short", 100_000, b"net/x")
    found = read({"long": tmp_path / "long", "short": tmp_path / "short"}, bench)
    assert found["long"].rows == found["short"].rows == 100_000
    figure(f"100,000 rows: {found['short'].seconds:.3f} s, with one long tag {found['long'].seconds:.3f} s")
    assert found["long"].seconds <= 1.2 * found["short"].seconds
