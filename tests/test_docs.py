"""The snippets of the guide run, and show what the guide says they do."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd

import tbframe

DOCS = Path(__file__).parent.parent / "docs"


def run_snippets(page: str) -> dict[str, object]:
    """Run the Python blocks of a page, one after the other, and return what they define."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        line = text[: block.start()].count("\n") + 1
        exec(compile("\n" * line + block[1], str(DOCS / page), "exec"), names)
    return names


def make_figures():
    spec = importlib.util.spec_from_file_location("make_figures", DOCS / "make_figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_scalars_for_papers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_snippets("scalars.md")
    quoted = " ".join(re.findall(r"^> (.*)", (DOCS / "scalars.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert names["figure"].caption() == quoted
    assert (tmp_path / "seeds.pdf").stat().st_size > 1000
    # The figures of the page are made of the runs that its first snippet writes.
    drawn = make_figures().seeds()
    drawn["value"] = drawn["value"].astype(np.float32).astype(float)
    keys = ["run", "tag", "step"]
    written = names["df"].astype({"run": str, "tag": str}).sort_values(keys, ignore_index=True)
    expected = drawn.astype({"run": str, "tag": str}).sort_values(keys, ignore_index=True)
    pd.testing.assert_frame_equal(written, expected[list(written.columns)], check_exact=True)
    pd.testing.assert_frame_equal(tbframe.read_csv("csv"), names["df"], check_exact=True)
    assert len(names["best"]) == 20


def test_every_figure_of_the_guide_is_made_by_its_script():
    figures = make_figures().figures()
    shown = re.findall(r"\(images/(.*?)\.png\)", (DOCS / "scalars.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(figures)
    assert {figure.get_figwidth() for figure in figures.values()} == {3.3, 6.8}
    assert all((DOCS / "images" / f"{name}.png").is_file() for name in shown)
