"""The tables that the docs carry."""

from __future__ import annotations

import pytest

from . import tables
from .logs import Log
from .measuring import Bench, Measured

pytestmark = pytest.mark.benchmark


def measured(seconds, peak=None, **facts):
    return Measured(seconds, peak, {"rows": 1000, **facts})


def test_tables_show_seconds_ratios_and_memory(tmp_path):
    logs = {"media": Log(str(tmp_path), "scalars", 1000, 0, 0.0)}
    reading = {
        "media": {"tbframe": measured(0.05, 20_000_000), "tbparse": measured(20.0), "compiled limit": measured(0.025)}
    }
    costs = {"`scalars()`": measured(0.5), "of which data checksums": measured(0.6, checksums=0.1)}
    growth = {"10 tags": (measured(1.0), measured(2.0))}
    lines = tables.document(Bench(), logs, reading, {}, costs, growth).splitlines()
    assert lines[2] == "| log | tbframe | tbparse | compiled limit |"
    assert lines[4] == "| `media`: 1,000 scalars, 0 MB | 50.0 ms, 20 MB | 20.0 s, **400×** | 25.0 ms, **0.50×** |"
    assert "| of which data checksums | 0.10 s | 20.0% |" in lines
    assert "| 10 tags | 1.00 s | 2.00 s | 2.00× |" in lines


def test_readers_that_are_missing_are_left_out(tmp_path):
    found = {"hist-tf2": {"tbframe": measured(0.05), "maidr": measured(0.1)}, "media": {"tbframe": measured(0.05)}}
    logs = dict.fromkeys(found, Log(str(tmp_path), "scalars", 1000, 0, 0.0))
    text = tables.document(Bench(), logs, found, {}, {}, {})
    assert "| log | tbframe | maidr |" in text
    assert text.rstrip().endswith("| 50.0 ms | – |")


def test_tables_go_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n")
    tables.put("new", page)
    tables.put("newer", page)
    assert page.read_text() == f"before\n{tables.BEGIN}\n\nnewer\n{tables.END}\nafter\n"
    tables.put("alone", tmp_path / "other.md")
    assert (tmp_path / "other.md").read_text() == "alone"
