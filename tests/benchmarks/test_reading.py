"""tbframe against the other readers, each in a fresh process, in turn: right, and faster by what is claimed."""

from __future__ import annotations

import pytest

from .logs import RECIPES
from .measuring import compile_limit, run_limit
from .subjects import AT_LEAST, WITHIN_LIMIT, readers

pytestmark = pytest.mark.benchmark


@pytest.mark.parametrize("name", RECIPES)
def test_faster_than_others(name, benchmark_log, bench, figure):
    of, claims = benchmark_log(name), AT_LEAST[name]
    found = bench.best(readers(of, list(claims)), touch=of.path)
    own = found["tbframe"]
    assert (own.rows, own.facts["steps"]) == (of.rows, of.steps)
    assert own.facts["total"] == pytest.approx(of.total, rel=1e-9)
    if found.keys() == {"tbframe"}:
        pytest.skip(f"the Python of --peers-python lacks {', '.join(sorted(set(bench.missing.values())))}")
    assert {reader: measured.rows for reader, measured in found.items()} == dict.fromkeys(found, of.rows)
    ratios = {reader: found[reader].seconds / own.seconds for reader in claims if reader in found}
    figure(f"{name}: {own.seconds:.3f} s; " + ", ".join(f"{reader} {ratio:.1f}×" for reader, ratio in ratios.items()))
    short = {reader: ratio for reader, ratio in ratios.items() if ratio < claims[reader]}
    assert not short, f"at least {claims}"


def test_close_to_compiled_code(benchmark_log, bench, figure, tmp_path):
    program = compile_limit(tmp_path)
    if program is None:
        pytest.skip("no C compiler")
    of = benchmark_log("scalars-one")
    own = bench.best(readers(of, []), touch=of.path)["tbframe"]
    limit = run_limit(program, of.path, bench.repeat)
    assert own.rows == limit.rows == of.rows
    figure(f"scalars-one: {own.seconds / limit.seconds:.1f} times the compiled limit of {limit.seconds:.3f} s")
    assert own.seconds <= WITHIN_LIMIT * limit.seconds
