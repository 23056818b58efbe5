"""The examples of the guide to every kind."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "kinds.md"


def test_the_examples_of_the_guide(tmp_path, monkeypatch):
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    text = PAGE.read_text(encoding="utf-8").replace("```\n", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    said: list[str] = []
    failed, attempted = doctest.DocTestRunner(optionflags=options).run(test, out=said.append)
    plt.close("all")
    assert attempted > 25
    if failed:
        pytest.fail("".join(said))


def test_every_picture_and_every_page_that_is_named_exists():
    import re

    for name in ("kinds.md", "differences.md"):
        text = (PAGE.parent / name).read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", text):
            assert (PAGE.parent / link).is_file(), link
