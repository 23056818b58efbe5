"""What reading costs in memory, for checksums, for looking only, and for reading again; what importing costs."""

from __future__ import annotations

import pytest

from .logs import TAGS, write_table
from .measuring import Subject

pytestmark = pytest.mark.benchmark
MB = 1_000_000


def needed(measured):
    """The peak above the imports, if this system tells it."""
    if measured.peak is None:
        pytest.skip("this system does not tell the peak memory of a process")
    return measured.peak


def test_memory_for_a_million(benchmark_log, bench, figure):
    of = benchmark_log("scalars-one")
    found = bench.best({"read": Subject("own.read", (of.path, "scalars"))})["read"]
    assert found.rows == of.rows
    peak = needed(found)
    figure(f"memory for 1,000,000 scalars: {peak / MB:.0f} MB, of which the frame {found.facts['size'] / MB:.0f} MB")
    assert peak <= 150 * MB


def test_memory_grows_with_the_rows_only(bench, figure, tmp_path):
    steps = {name: 50_000 * times for name, times in {"once": 1, "twice": 2}.items()}
    for name, many in steps.items():
        write_table(tmp_path / name / "run", TAGS, many)
    found = bench.best({name: Subject("own.read", (str(tmp_path / name), "scalars")) for name in steps})
    assert found["twice"].rows == 2 * found["once"].rows == 1_000_000
    per_row = (needed(found["twice"]) - needed(found["once"])) / found["once"].rows
    fixed = needed(found["once"]) - per_row * found["once"].rows
    figure(f"memory: {fixed / MB:.0f} MB and {per_row:.0f} bytes a scalar")
    assert fixed <= 20 * MB


def test_memory_does_not_grow_with_what_is_passed_over(benchmark_log, bench, figure):
    of = benchmark_log("media")
    found = bench.best({"read": Subject("own.read", (of.path, "scalars"))})["read"]
    assert found.rows == of.rows
    peak = needed(found)
    figure(f"memory for 20,000 scalars beside 380 MB of images: {peak / MB:.0f} MB")
    assert peak <= 30 * MB


def test_listing_costs_no_more_than_reading(benchmark_log, bench, figure):
    of = benchmark_log("scalars-one")
    subjects = {name: Subject(f"own.{name}", (of.path,)) for name in ("tags", "runs")}
    found = bench.best({"scalars": Subject("own.read", (of.path, "scalars")), **subjects}, touch=of.path)
    assert (found["tags"].rows, found["runs"].rows) == (of.rows, of.rows + 1)
    seconds = {name: measured.seconds for name, measured in found.items()}
    figure("; ".join(f"{name}() {value:.3f} s" for name, value in seconds.items()))
    assert max(seconds["tags"], seconds["runs"]) <= 1.2 * seconds["scalars"]


def test_checksums(benchmark_log, bench, figure):
    of = benchmark_log("scalars-one")
    found = bench.best({"read": Subject("own.checksums", (of.path,))}, touch=of.path)["read"]
    assert found.rows == of.rows
    share = found.facts["checksums"] / found.seconds
    figure(f"checksums of 1,000,000 records: {found.facts['checksums']:.3f} s of {found.seconds:.3f} s, {share:.0%}")
    assert 0 < share < 0.3


def test_reading_again(benchmark_log, bench, figure):
    of = benchmark_log("scalars-one")
    found = bench.best({"again": Subject("own.again", (of.path,))}, touch=of.path)["again"]
    assert found.rows == of.rows
    figure(f"scalars() a second time: {found.seconds:.3f} s after {found.facts['first']:.3f} s")
    assert found.seconds <= 0.25 * found.facts["first"]


def test_refreshing(benchmark_log, bench, figure, tmp_path):
    of = benchmark_log("scalars-one")
    found = bench.best({"refresh": Subject("own.refresh", (of.path, str(tmp_path)))})["refresh"]
    assert found.rows == 1000
    share = found.seconds / found.facts["first"]
    figure(
        f"refresh() after 1,000 appended values: {found.seconds:.4f} s, {share:.1%} of the first read "
        f"({found.facts['first']:.3f} s); scalars() then: {found.facts['scalars_after']:.3f} s"
    )
    assert share <= 0.02


def test_importing(bench, figure):
    found = bench.best({"import": Subject("own.importing")})["import"]
    figure(f"import tbframe beyond pandas and xarray: {found.seconds:.3f} s")
    assert found.seconds <= 0.1
