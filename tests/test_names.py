"""Names of runs and tags: their natural order, and how a reader chooses among them."""

from __future__ import annotations

import os
import re

import numpy as np
import pandas as pd
import pytest
from event_bytes import scalar_event, stream
from hypothesis import given, settings
from hypothesis import strategies as st

import tbframe
from tbframe.errors import UnknownNameError
from tbframe.names import choose, natural_key, natural_order

NAMES = st.text(max_size=12) | st.text(alphabet="ab01279/_.", max_size=8)
relaxed = settings(deadline=None, max_examples=100)


@pytest.mark.parametrize(
    "names",
    [
        ["a", "version_2", "version_10"], ["0", "1", "2", "10", "a"],
        ["epoch=1", "epoch=2", "epoch=10/a", "epoch=10/b"],
        ["layer2/b1", "layer2/b10", "layer10/b1"], ["", "1", "a"], [".", "a", "a/1", "a/2/x", "a/10"],
        ["x1y2", "x1y10", "x2y1"], ["a", "a1", "ab"],
        ["run", "run01", "run1", "run2"], ["1.2", "1.10", "2.1"], ["-1", "-2"], ["x²", "x٣", "x१"],
    ],
)  # fmt: skip
def test_natural_order(names):
    assert natural_order(reversed(names)) == names


@given(st.lists(NAMES, max_size=20, unique=True), st.randoms())
@relaxed
def test_the_order_is_one_and_whole(names, random):
    ordered = natural_order(names)
    assert sorted(ordered) == sorted(names)
    random.shuffle(names)
    assert natural_order(names) == ordered
    assert len({repr(natural_key(name)) for name in names}) == len(names)


@given(
    st.text(alphabet="abc/_", max_size=5),
    st.integers(0, 10**30),
    st.integers(0, 10**30),
    st.text(alphabet="abc/_", max_size=5),
)
@relaxed
def test_numbers_count_as_numbers(before, one, other, behind):
    names = [f"{before}{one}{behind}", f"{before}{other}{behind}"]
    assert natural_order(names) == [name for _, name in sorted(zip((one, other), names, strict=True))]


def test_numbers_of_any_length():
    """Python refuses to turn more than 4300 digits into an int, and a log may hold any tag."""
    huge = "9" * 5000
    names = ["run", "run1", f"run{huge[1:]}", f"run{huge}"]
    assert natural_order(names[::-1]) == names
    zeros = ["a" + "0" * 5000 + "1", "a1", "a2"]
    assert natural_order(zeros[::-1]) == zeros


def test_equal_names_stay_both():
    assert natural_order(["b", "a", "b"]) == ["a", "b", "b"]


# Choosing -------------------------------------------------------------------------------------------------------------

KNOWN = ("loss/train", "loss/val", "lr", "Loss", "")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (None, [0, 1, 2, 3, 4]), ("lr", [2]), ("", [4]), ([], []), (["lr", "loss/train"], [0, 2]),
        (("lr", "lr"), [2]), ({"Loss", "lr"}, [2, 3]),
        (re.compile("^l"), [0, 1, 2]), (re.compile("LOSS", re.IGNORECASE), [0, 1, 3]), (re.compile("val$"), [1]),
        (re.compile("nothing"), []), (re.compile(""), [0, 1, 2, 3, 4]),
        (pd.Index(["lr"]), [2]), (pd.Series(["lr", "loss/val"]), [1, 2]), (np.array(["lr"]), [2]),
        (pd.Categorical(["lr"]), [2]), ({"lr": 1}, [2]), (np.str_("lr"), [2]),
    ],
)  # fmt: skip
def test_choose(wanted, expected):
    assert choose(KNOWN, wanted, "tag") == expected


def test_choose_takes_an_iterator():
    assert choose(KNOWN, iter(["lr", "Loss"]), "tag") == [2, 3]
    assert choose(KNOWN, (name for name in KNOWN), "tag") == [0, 1, 2, 3, 4]


@given(st.lists(NAMES, max_size=12, unique=True), st.data())
@relaxed
def test_the_order_is_that_of_the_known_names(known, data):
    wanted = data.draw(st.lists(st.sampled_from(known), max_size=12) if known else st.just([]))
    assert choose(known, wanted, "tag") == [i for i, name in enumerate(known) if name in wanted]
    text = data.draw(st.text(alphabet="ab01", max_size=2))
    assert choose(known, re.compile(re.escape(text)), "tag") == [i for i, name in enumerate(known) if text in name]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("loss/trian", r"no tag 'loss/trian'. Did you mean 'loss/train'"),
        (["lr", "LR"], r"no tag 'LR'. Did you mean 'lr'"),
        ("train", r"no tag 'train'. Did you mean 'loss/train'"),
        ("zzz", r"no tag 'zzz'. There are 5: 'loss/train', 'loss/val', 'lr', 'Loss', ''"),
    ],
)
def test_an_unknown_name_lists_near_misses(wanted, message):
    with pytest.raises(UnknownNameError, match=message):
        choose(KNOWN, wanted, "tag")
    with pytest.raises(KeyError):
        choose(KNOWN, wanted, "tag")


def test_an_unknown_name_where_there_is_none():
    with pytest.raises(UnknownNameError, match=r"no run 'a'. There is no run at all."):
        choose([], "a", "run")


def test_a_hint_says_where_the_name_is():
    with pytest.raises(UnknownNameError, match=r"no tag 'images'. It is elsewhere: images"):
        choose(KNOWN, "images", "tag", lambda name: f"It is elsewhere: {name}")
    with pytest.raises(UnknownNameError, match=r"no tag 'lrr'. Did you mean 'lr'"):
        choose(KNOWN, "lrr", "tag", lambda name: "")


@pytest.mark.parametrize("wanted", [5, 1.5, b"lr", True, re])
def test_what_is_no_name(wanted):
    with pytest.raises(
        TypeError, match=r"tags=.*: expected a name, an iterable of names, a compiled regular expression or None"
    ):
        choose(KNOWN, wanted, "tag")


@pytest.mark.parametrize("wanted", [[5], ["lr", None], [b"lr"], [["lr"]], {1: 2}, np.array([1])])
def test_what_holds_no_names(wanted):
    with pytest.raises(TypeError, match=r"tags: expected names of type str, found .* of type"):
        choose(KNOWN, wanted, "tag")


def test_a_pattern_of_bytes():
    with pytest.raises(TypeError, match=r"runs=re.compile\(b'l'\): the pattern must be of str, not of bytes"):
        choose(KNOWN, re.compile(b"l"), "run")


# Names of directories -------------------------------------------------------------------------------------------------


def test_directories_whose_names_are_not_utf8_are_runs_with_escaped_names(tmp_path):
    (tmp_path / "a").mkdir()
    try:
        os.mkdir(os.fsencode(tmp_path) + b"/run\xff")
    except OSError:
        pytest.skip("a file system that takes only UTF-8")
    for directory in (b"/a", b"/run\xff"):
        with open(os.fsencode(tmp_path) + directory + b"/tfevents", "wb") as file:
            file.write(stream([scalar_event(1, 0.5), scalar_event(2, 0.25)]))
    frame = tbframe.scalars(tmp_path)
    assert frame["run"].tolist() == ["a", "a", "run\\xff", "run\\xff"]
    assert frame["step"].tolist() == [1, 2, 1, 2]
    assert tbframe.scalars(tmp_path, runs="run\\xff")["value"].tolist() == [0.5, 0.25]


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
def test_links_that_lead_to_themselves_are_passed_over(tmp_path):
    (tmp_path / "tfevents").write_bytes(stream([scalar_event(1, 0.5)]))
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "up").symlink_to(tmp_path)
    assert tbframe.scalars(tmp_path)["run"].tolist() == ["."]
    (tmp_path / "tfevents.loop").symlink_to("tfevents.loop")
    with pytest.warns(tbframe.DamagedFileWarning, match=r"tfevents.loop is a symbolic link to 'tfevents.loop'"):
        assert tbframe.scalars(tmp_path)["value"].tolist() == [0.5]
