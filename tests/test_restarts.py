"""Restarts: arithmetic on whole columns against loops that do what TensorBoard does, event by event."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tbframe.restarts import (
    POLICIES,
    later_minimum,
    superseded_by_next_step,
    superseded_by_start,
    superseded_by_step_rule,
)

LOWEST, HIGHEST = -(2**63), 2**63 - 1
STEPS = st.integers(-3, 6) | st.sampled_from((LOWEST, LOWEST + 1, HIGHEST - 1, HIGHEST)) | st.integers(LOWEST, HIGHEST)
relaxed = settings(deadline=None, max_examples=100)


def column(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


ROWS = st.lists(st.tuples(STEPS, st.integers(0, 3)), max_size=40)


# One series -----------------------------------------------------------------------------------------------------------


@given(ROWS, st.sampled_from((np.int64, np.int32, np.int8)))
@relaxed
def test_the_lowest_later_step_of_the_series(rows, dtype):
    expected = [
        min((s for s, other in rows[i + 1 :] if other == series), default=HIGHEST) for i, (_, series) in enumerate(rows)
    ]
    found = later_minimum(column([s for s, _ in rows]), np.array([series for _, series in rows], dtype))
    assert found.dtype == np.int64
    assert found.tolist() == expected


@given(ROWS, st.booleans())
@relaxed
@example([(HIGHEST, 0), (HIGHEST, 0)], False)
@example([(HIGHEST, 0)], False)
@example([(0, 0), (1, 0), (0, 1), (1, 1)], False)
def test_a_row_is_superseded_by_a_later_step_of_its_series_that_is_no_higher(rows, grouped):
    """When a point arrives, all trailing points of its tag with a step at or above its own go."""
    if grouped:
        rows.sort(key=lambda row: row[1])
    kept: dict[int, list[tuple[int, int]]] = {}
    for i, (s, series) in enumerate(rows):
        points = kept.setdefault(series, [])
        while points and points[-1][1] >= s:
            points.pop()
        points.append((i, s))
    survivors = {i for points in kept.values() for i, _ in points}
    found = superseded_by_next_step(column([s for s, _ in rows]), column([series for _, series in rows]))
    assert found.tolist() == [i not in survivors for i in range(len(rows))]
    for points in kept.values():
        assert [s for _, s in points] == sorted({s for _, s in points})


# SessionLog.START -----------------------------------------------------------------------------------------------------


@given(st.lists(STEPS, max_size=30), st.lists(st.tuples(st.integers(0, 30), STEPS), max_size=6))
@relaxed
def test_a_start_drops_what_was_logged_before_it_at_its_step_or_above(steps, starts):
    starts = sorted(((min(where, len(steps)), s) for where, s in starts), key=lambda start: start[0])
    stored: list[int] = []
    for i in range(len(steps) + 1):
        for where, s in starts:
            if where == i:
                stored = [j for j in stored if steps[j] < s]
        if i < len(steps):
            stored.append(i)
    found = superseded_by_start(column(steps), column([where for where, _ in starts]), column([s for _, s in starts]))
    assert found.dtype == np.bool_
    assert found.tolist() == [j not in stored for j in range(len(steps))]


# The rule of old versions ---------------------------------------------------------------------------------------------

EVENTS = st.lists(st.tuples(STEPS, st.lists(st.integers(0, 3), max_size=3), st.booleans()), max_size=25)


@given(EVENTS)
@relaxed
@example([(5, [0], True), (0, [2], True), (3, [0], True)])
def test_a_summary_below_the_one_before_drops_rows_of_its_tags(events):
    stored: list[tuple[int, int, int]] = []
    most_recent = -1
    rows = []
    for number, (s, tags, old) in enumerate(events):
        if old and s < most_recent:
            stored = [row for row in stored if row[1] not in tags or row[2] < s]
        most_recent = s
        for tag in tags or [-1]:  # a summary without a value still counts
            stored.append((len(rows), tag, s))
            rows.append((s, tag, number, old))
    survivors = {i for i, tag, _ in stored if tag >= 0}
    steps, tags, numbers, old = zip(*rows, strict=True) if rows else ((), (), (), ())
    found = superseded_by_step_rule(
        column(list(steps)), np.array(tags, np.int32), column(list(numbers)), np.array(old, bool)
    )
    assert np.flatnonzero(~found & (np.array(tags, np.int32) >= 0)).tolist() == sorted(survivors)


def test_the_number_of_an_event_need_not_rise():
    """It only differs from that of the event before, as offsets in several files do."""
    steps, tags = column([0, 1, 2, 1, 0]), np.zeros(5, np.int32)
    rising = superseded_by_step_rule(steps, tags, column([0, 1, 2, 3, 4]), np.ones(5, bool))
    assert rising.tolist() == [True, True, True, True, False]
    assert (
        superseded_by_step_rule(steps, tags, column([90, 10, 90, 10, 90]), np.ones(5, bool)).tolist() == rising.tolist()
    )


def test_two_values_of_one_event_do_not_drop_each_other():
    steps, events, old = column([5, 3, 3]), column([0, 1, 1]), np.ones(3, bool)
    assert superseded_by_step_rule(steps, np.array([0, 0, 0]), events, old).tolist() == [True, False, False]


# The table of what real servers do ------------------------------------------------------------------------------------

# File 1: tag 0 at steps 0..4, tag 1 at 3 and 4; file 2 begins at 2 and writes tag 0 at 2 and 3.
STEP = column([0, 1, 2, 3, 3, 4, 4, 2, 3])
TAG = np.array([0, 0, 0, 0, 1, 0, 1, 0, 0])


def kept(dropped: np.ndarray, tag: int) -> list[int]:
    return STEP[~dropped & (tag == TAG)].tolist()


def test_what_tensorboard_keeps_of_a_restarted_run():
    both = superseded_by_start(STEP, column([0, 7]), column([0, 2]))
    only_second = superseded_by_start(STEP, column([7]), column([2]))
    for dropped in (both, only_second):
        assert (kept(dropped, 0), kept(dropped, 1)) == ([0, 1, 2, 3], [])
    by_next = superseded_by_next_step(STEP, TAG)
    assert (kept(by_next, 0), kept(by_next, 1)) == ([0, 1, 2, 3], [3, 4])
    by_rule = superseded_by_step_rule(STEP, TAG, np.array([0, 1, 2, 3, 3, 4, 4, 5, 6]), np.ones(9, bool))
    assert (kept(by_rule, 0), kept(by_rule, 1)) == ([0, 1, 2, 3], [3, 4])
    assert not superseded_by_step_rule(STEP, TAG, np.arange(9), np.zeros(9, bool)).any()


def test_equal_steps_are_kept_but_where_only_the_latest_is_wanted():
    steps, tags = column([3, 3, 3]), np.zeros(3, np.int32)
    assert superseded_by_next_step(steps, tags).tolist() == [True, True, False]
    assert not superseded_by_step_rule(steps, tags, np.arange(3), np.ones(3, bool)).any()
    assert not superseded_by_start(steps, column([]), column([])).any()


@pytest.mark.parametrize("n", [0, 1])
def test_next_to_no_rows(n):
    steps, zeros, old = column([7] * n), np.zeros(n, np.int32), np.ones(n, bool)
    assert later_minimum(steps, zeros).tolist() == [HIGHEST] * n
    for found in (
        superseded_by_next_step(steps, zeros),
        superseded_by_start(steps, column([]), column([])),
        superseded_by_step_rule(steps, zeros, np.arange(n), old),
    ):
        assert found.tolist() == [False] * n


def test_inputs_stay_as_they_are():
    steps, tags, events, old = STEP.copy(), TAG.copy(), np.arange(9), np.ones(9, bool)
    for array in (steps, tags, events, old):
        array.flags.writeable = False
    later_minimum(steps, tags)
    superseded_by_next_step(steps, tags)
    superseded_by_start(steps, events[3:5], steps[3:5])
    superseded_by_step_rule(steps, tags, events, old)


def test_many_rows_take_little_time_each():
    """Nothing here is a loop over rows: a million of them, over ten thousand series."""
    rng = np.random.default_rng(1)
    steps, series = rng.integers(0, 1000, 10**6), rng.integers(0, 10**4, 10**6)
    found = superseded_by_next_step(steps, series)
    some = np.flatnonzero(series == 77)
    later = [bool((steps[some[i + 1 :]] <= steps[some[i]]).any()) for i in range(len(some))]
    assert found[some].tolist() == later


def test_the_policies():
    assert POLICIES == ("purge", "latest", "keep", "mark")
