"""The arithmetic on steps and values, each function against an obvious slow one."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbframe import series

SLOW = settings(max_examples=40, deadline=None)
VALUES = st.floats(-1e6, 1e6)
ODD_VALUES = VALUES | st.sampled_from([np.nan, np.inf, -np.inf])


def bounds_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


# --- sampling -------------------------------------------------------------------------------------------------------


def slow_reservoir(length, size, seed=0):
    generator, items = random.Random(seed), []
    for item in range(length):
        if len(items) < size:
            items.append(item)
            continue
        place = generator.randint(0, item)
        if place < size:
            del items[place]
            items.append(item)
        else:
            items[-1] = item
    return items


def test_reservoir_keeps_what_tensorboard_keeps():
    # The vectors of TensorBoard's Python server.
    assert series.reservoir_indices(1200, 10).tolist() == [225, 304, 352, 505, 668, 789, 818, 929, 1035, 1199]
    assert series.reservoir_indices(20, 10).tolist() == [1, 2, 3, 4, 8, 9, 10, 11, 13, 19]


@SLOW
@given(st.integers(0, 6000), st.integers(1, 300), st.integers(0, 5))
def test_reservoir_equals_the_plain_loop(length, size, seed):
    kept = series.reservoir_indices(length, size, seed)
    assert kept.dtype == np.int64
    assert kept.tolist() == slow_reservoir(length, size, seed)


@pytest.mark.parametrize("length", [1000, 1001, 4096, 65535, 65536, 70001])
def test_reservoir_of_tensorboards_size_across_powers_of_two(length):
    assert series.reservoir_indices(length, 1000).tolist() == slow_reservoir(length, 1000)


def test_reservoir_is_uniform_but_for_the_ends():
    counts = np.zeros(50)
    for seed in range(3000):
        kept = series.reservoir_indices(50, 5, seed)
        counts[kept] += 1
    # 5 of 50 for the first four, 4 of 50 for the others, 1 for the last; standard deviations 16 and 15.
    expected = 3000 * np.array([5] * 4 + [4] * 45 + [50]) / 50
    assert np.abs(counts - expected).max() < 55
    assert counts[-1] == 3000


@SLOW
@given(st.lists(st.integers(0, 40), max_size=8), st.integers(1, 20))
def test_rows_of_many_series_are_those_of_each(lengths, size):
    bounds = bounds_of(lengths)
    for many, one in (
        (series.reservoir_rows, series.reservoir_indices),
        (series.even_rows, series.even_indices),
    ):
        each = [start + one(length, size) for start, length in zip(bounds[:-1], lengths, strict=True)]
        assert many(bounds, size).tolist() == np.concatenate([*each, []]).tolist()


@pytest.mark.parametrize(
    ("length", "size", "kept"),
    [
        (0, 3, []),
        (1, 1, [0]),
        (5, 1, [4]),
        (5, 2, [0, 4]),
        (6, 3, [0, 2, 5]),
        (5, 9, [0, 1, 2, 3, 4]),
        (100, 5, [0, 25, 50, 74, 99]),
    ],
)
def test_even_indices(length, size, kept):
    assert series.even_indices(length, size).tolist() == kept


@SLOW
@given(st.integers(2, 3000), st.integers(2, 3000))
def test_even_indices_keep_the_ends_and_differ_by_one_at_most(length, size):
    kept = series.even_indices(length, size)
    assert len(kept) == min(length, size)
    assert (kept[0], kept[-1]) == (0, length - 1)
    gaps = np.diff(kept)
    assert gaps.min() >= 1
    assert gaps.max() - gaps.min() <= 1


@pytest.mark.parametrize("choose", [series.reservoir_indices, series.even_indices])
def test_a_wrong_size_is_refused(choose):
    with pytest.raises(ValueError, match="n=0: expected at least 1 point"):
        choose(10, 0)
    with pytest.raises(TypeError, match=r"n=2\.5: expected a whole number of points to keep per series, found float"):
        choose(10, 2.5)
    with pytest.raises(TypeError, match="n=True"):
        choose(10, True)
    with pytest.raises(ValueError, match="length=-1: expected a number of points"):
        choose(-1, 3)


def test_reservoir_refuses_lengths_its_generator_does_not_reach():
    with pytest.raises(ValueError, match="length=4294967296"):
        series.reservoir_indices(2**32, 10)


def test_reservoir_sizes_are_those_of_tensorboard():
    assert {
        kind: series.RESERVOIR_SIZES[kind] for kind in ("scalars", "histograms", "images", "audio", "pr_curves")
    } == {
        "scalars": 1000,
        "histograms": 500,
        "images": 10,
        "audio": 10,
        "pr_curves": 100,
    }
    with pytest.raises(TypeError):
        series.RESERVOIR_SIZES["scalars"] = 1


# --- shapes ---------------------------------------------------------------------------------------------------------


def slow_lttb(x, y, size):
    count = len(y)
    if count <= size:
        return list(range(count))
    if size < 3:
        return [0, count - 1][2 - size :]
    edges = [k * (count - 2) // (size - 2) + 1 for k in range(size - 1)] + [count]
    kept = [0]
    for k in range(size - 2):
        mean_x, mean_y = np.mean(x[edges[k + 1] : edges[k + 2]]), np.mean(y[edges[k + 1] : edges[k + 2]])
        ax, ay = x[kept[-1]], y[kept[-1]]
        areas = [abs((ax - mean_x) * (y[i] - ay) - (ax - x[i]) * (mean_y - ay)) for i in range(edges[k], edges[k + 1])]
        kept.append(edges[k] + areas.index(max(areas)))
    return [*kept, count - 1]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 50])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 60, 501])
def test_lttb_equals_the_plain_loop(length, size):
    rng = np.random.default_rng(length)
    x, y = np.cumsum(rng.integers(1, 9, length)), np.cumsum(rng.normal(size=length))
    assert series.lttb_rows(x, y, size).tolist() == slow_lttb(x, y, size)


def test_lttb_of_many_series_is_that_of_each():
    rng = np.random.default_rng(0)
    lengths = [0, 1, 12, 100, 101, 7, 350]
    bounds = bounds_of(lengths)
    x, y = np.cumsum(rng.integers(1, 9, bounds[-1])), rng.normal(size=bounds[-1])
    each = [
        start + np.array(slow_lttb(x[start:end], y[start:end], 11), int)
        for start, end in itertools.pairwise(bounds.tolist())
    ]
    assert series.lttb_rows(x, y, 11, bounds).tolist() == np.concatenate(each).tolist()


def test_lttb_and_minmax_pass_over_what_is_not_finite():
    y = np.zeros(1000)
    y[[100, 500]] = np.nan, np.inf
    y[[101, 700]] = 5.0, -7.0
    for kept in (series.lttb_rows(np.arange(1000), y, 30), series.minmax_rows(y, 30)):
        assert {101, 700} <= set(kept.tolist())
        assert not {100, 500} & set(kept.tolist())
        assert len(kept) <= 30


def test_lttb_of_nothing_finite_keeps_a_row_per_bucket():
    assert len(series.lttb_rows(np.arange(100), np.full(100, np.nan), 10)) == 10


def test_lttb_does_not_overflow():
    y = np.zeros(1000)
    y[333] = 1.7e308
    y[444] = -1.7e308
    assert {333, 444} <= set(series.lttb_rows(np.arange(1000), y, 30).tolist())


@SLOW
@given(st.lists(ODD_VALUES, max_size=200), st.integers(1, 50))
def test_minmax_keeps_ends_and_extremes(values, size):
    y = np.array(values, float)
    kept = series.minmax_rows(y, size)
    assert (np.diff(kept) > 0).all()
    if len(y) <= size:
        assert kept.tolist() == list(range(len(y)))
        return
    assert len(kept) <= size
    assert kept[-1] == len(y) - 1
    if size >= 4:
        assert kept[0] == 0
        inner = y[1:-1][np.isfinite(y[1:-1])]
        if len(inner):
            assert {inner.min(), inner.max()} <= set(y[kept].tolist())


@pytest.mark.parametrize("size", [1, 2, 3])
def test_minmax_of_few_points_spreads_them_evenly(size):
    for length in range(6):
        assert series.minmax_rows(np.arange(float(length)), size).tolist() == series.even_indices(length, size).tolist()


def test_first_largest_takes_the_first_of_equals():
    found = series.first_largest(np.array([1, 5, 5, 2, 2, 0]), np.array([0, 3, 5]), np.array([3, 2, 1]))
    assert found.tolist() == [1, 3, 5]
    assert series.first_largest(np.array([]), np.array([], np.int64), np.array([], np.int64)).tolist() == []


# --- smoothing ------------------------------------------------------------------------------------------------------


def slow_smooth(values, weight):
    """TensorBoard's recurrence."""
    if all(value == values[0] for value in values):
        return list(values)
    smoothed, last, count = [], 0.0, 0
    for value in values:
        if not np.isfinite(value):
            smoothed.append(value)
            continue
        last = last * weight + (1 - weight) * value
        count += 1
        smoothed.append(last / (1 if weight == 1 else 1 - weight**count))
    return smoothed


def assert_close_to(values, smoothed, weight):
    expected = np.array(slow_smooth(values.tolist(), weight), float)
    finite = np.isfinite(values)
    np.testing.assert_array_equal(smoothed[~finite], values[~finite])
    if finite.any():
        np.testing.assert_allclose(
            smoothed[finite], expected[finite], rtol=0, atol=1e-12 * np.abs(values[finite]).max()
        )


def random_walk(length, odd=True, seed=0):
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(size=length))
    if odd and length > 5:
        walk[rng.integers(0, length, length // 5)] = rng.choice([np.nan, np.inf, -np.inf], length // 5)
    return walk


@pytest.mark.parametrize("weight", [0, 1e-300, 0.01, 0.6, 0.9, 0.999, 0.9999, 1])
@pytest.mark.parametrize("length", [0, 1, 2, 64, 65, 100, 1000, 5003])
def test_smooth_equals_tensorboards_recurrence(length, weight):
    for odd in (True, False):
        walk = random_walk(length, odd)
        assert_close_to(walk, series.smooth(walk, weight), weight)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_smooth_neither_overflows_nor_underflows(scale):
    walk = random_walk(3000) * scale
    for weight in (0.6, 0.999):
        assert_close_to(walk, series.smooth(walk, weight), weight)


@SLOW
@given(
    st.lists(st.lists(ODD_VALUES, max_size=150), max_size=6), st.sampled_from([0, 0.6, 0.999, 1]) | st.floats(0, 0.9999)
)
def test_smooth_of_many_series_is_that_of_each(lists, weight):
    bounds = bounds_of([len(each) for each in lists])
    smoothed = series.smooth(np.array(list(itertools.chain(*lists)), float), weight, bounds)
    for values, start, end in zip(lists, bounds[:-1], bounds[1:], strict=True):
        assert_close_to(np.array(values, float), smoothed[start:end], weight)


def test_smooth_close_to_one_keeps_its_digits():
    # 1 - weight**n itself is wrong in the seventh digit here; the smoothed value is the plain mean to nine.
    walk = random_walk(100, odd=False)
    means = np.cumsum(walk) / np.arange(1, 101)
    np.testing.assert_allclose(series.smooth(walk, 1 - 1e-12), means, rtol=0, atol=1e-9)


@pytest.mark.parametrize("weight", [0, 0.3, 0.6, 0.999, 1])
def test_smooth_leaves_constants_and_what_is_not_finite_alone(weight):
    for constant in (0.1, -3e307, np.inf, np.nan):
        values = np.full(300, constant)
        np.testing.assert_array_equal(series.smooth(values, weight), values)


def test_smooth_with_weight_one_is_zero_but_for_constants():
    # TensorBoard's rule, taken literally: nothing of any value enters, and nothing is divided.
    assert series.smooth(np.array([1.0, 2.0, np.nan, 3.0]), 1)[[0, 1, 3]].tolist() == [0, 0, 0]


def test_smooth_does_not_change_its_input():
    walk = random_walk(500)
    before = walk.copy()
    series.smooth(walk, 0.6)
    np.testing.assert_array_equal(walk, before)


@pytest.mark.parametrize("weight", [2, -0.1, np.nan])
def test_a_weight_outside_is_refused(weight):
    with pytest.raises(ValueError, match=r"weight=.*: expected a number from 0 \(no smoothing\) to 1"):
        series.smooth(np.zeros(3), weight)


@SLOW
@given(st.lists(st.tuples(st.floats(-2, 2), st.floats(-1, 2)), max_size=300))
def test_linear_recurrence_equals_the_plain_loop(pairs):
    decay, gain = np.array(pairs, float).reshape(-1, 2).T / 2
    state, states = 0.0, []
    for factor, term in zip(decay, gain, strict=True):
        state = factor * state + term
        states.append(state)
    np.testing.assert_allclose(series.linear_recurrence(decay, gain), states, rtol=1e-9, atol=1e-12)


def test_half_life_at_even_spacing_is_a_weight():
    walk = random_walk(2000)
    by_half_life = series.smooth_half_life(walk, np.arange(2000) * 10, 50)
    expected = np.array(slow_smooth(walk.tolist(), 2 ** (-10 / 50)))
    # Rows that are not finite pass on their distance: only without them are both the same.
    whole = random_walk(2000, odd=False)
    np.testing.assert_allclose(
        series.smooth_half_life(whole, np.arange(2000) * 10, 50), slow_smooth(whole.tolist(), 2**-0.2), atol=1e-10
    )
    np.testing.assert_array_equal(np.isfinite(by_half_life), np.isfinite(expected))


def test_half_life_equals_pandas_on_uneven_times():
    rng = np.random.default_rng(0)
    times, values = np.cumsum(rng.integers(1, 10**6, 3000)) / 1e3, rng.normal(size=3000)
    dates = pd.to_datetime((times * 1e9).round().astype(np.int64))
    reference = pd.Series(values).ewm(halflife=pd.Timedelta("900s"), times=dates).mean()
    np.testing.assert_allclose(series.smooth_half_life(values, times, 900.0), reference, atol=1e-9)


def test_half_life_counts_no_distance_backwards_or_at_unknown_times():
    values = np.array([1.0, 0.0, 0.0, 0.0, 5.0])
    times = np.array([np.nan, 10.0, np.inf, 3.0, 3.0])
    # No time passes at all: plain means.
    np.testing.assert_allclose(
        series.smooth_half_life(values, times, 1.0), np.cumsum(values) / np.arange(1, 6), rtol=1e-14
    )
    assert series.smooth_half_life(np.array([0.0, 1.0]), np.array([-(2**63), 2**63 - 1]), 1.0).tolist() == [0.0, 1.0]


def test_half_life_neither_overflows_nor_leaks_between_series():
    values = np.array([1.5e308, 1.7e308, 1.0, 3.0])
    smoothed = series.smooth_half_life(values, np.array([0, 0, 0, 0]), 1.0, np.array([0, 2, 4]))
    np.testing.assert_allclose(smoothed, [1.5e308, 1.6e308, 1.0, 2.0])


@pytest.mark.parametrize("half_life", [0, -1, np.nan, np.inf])
def test_a_half_life_of_no_length_is_refused(half_life):
    with pytest.raises(ValueError, match=r"half_life=.*: expected a finite number above 0"):
        series.smooth_half_life(np.zeros(3), np.arange(3), half_life)


# --- grouping -------------------------------------------------------------------------------------------------------


@SLOW
@given(st.lists(st.integers(0, 2**60) | st.integers(0, 5), max_size=200))
def test_stable_order_and_groups(keys):
    key = np.array(keys, np.int64)
    assert series.stable_order(key).tolist() == sorted(range(len(keys)), key=keys.__getitem__)
    order, bounds = series.group_rows(key)
    rows = np.arange(len(key)) if order is None else order
    parts = [rows[start:end].tolist() for start, end in itertools.pairwise(bounds.tolist())]
    expected = {value: [i for i, other in enumerate(keys) if other == value] for value in keys}
    assert {keys[part[0]]: part for part in parts} == expected
    assert len(parts) == len(expected)


def test_groups_that_lie_together_are_not_sorted():
    assert series.group_rows(np.array([7, 7, 3, 9]))[0] is None
    assert series.group_rows(np.array([7, 3, 7]))[0] is not None


@SLOW
@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 20))
def test_batches_are_whole_series_in_order(lengths, size):
    bounds = np.cumsum([0, *lengths])
    found = list(series.batches(bounds, size))
    assert [row for rows, _ in found for row in range(rows.start, rows.stop)] == list(range(sum(lengths)))
    assert [length for _, of_rows in found for length in np.diff(of_rows)] == (lengths if sum(lengths) else [])
    for rows, of_rows in found:
        assert of_rows[0] == 0
        assert of_rows[-1] == rows.stop - rows.start < size + max(lengths)


def test_what_is_done_in_batches_is_that_of_each_series():
    length = 100_000
    values = np.random.default_rng(0).normal(size=7 * length)
    bounds = np.arange(0, 7 * length + 1, length)
    assert len(list(series.batches(bounds))) > 1
    parts = np.split(values, 7)
    np.testing.assert_allclose(
        series.smooth(values, 0.9, bounds),
        np.concatenate([series.smooth(part, 0.9) for part in parts]),
        rtol=0,
        atol=1e-13,
    )
    kept = [series.minmax_rows(part, 50) + i * length for i, part in enumerate(parts)]
    assert series.minmax_rows(values, 50, bounds).tolist() == np.concatenate(kept).tolist()


STEPS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


@SLOW
@given(st.lists(st.tuples(st.integers(0, 4), STEPS), max_size=60))
def test_mixed_keys_sort_as_their_columns(pairs):
    major, minor = (np.array([pair[i] for pair in pairs], np.int64) for i in (0, 1))
    key = series.mixed_key(major, minor)
    for (a, left), (b, right) in itertools.product(zip(pairs, key, strict=True), repeat=2):
        assert (a < b, a == b) == (left < right, left == right)


@SLOW
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**40), st.integers(0, 2)), max_size=60))
def test_number_keys(rows):
    distinct, number = series.number_keys([np.array([row[i] for row in rows], np.int64) for i in range(3)])
    assert list(zip(*(each.tolist() for each in distinct), strict=True)) == sorted(set(rows))
    assert [sorted(set(rows))[i] for i in number.tolist()] == rows


# --- alignment ------------------------------------------------------------------------------------------------------


def slow_align(runs, method):
    """Align runs, each a dict of step to value, one by one."""
    grid = sorted(set().union(*runs))
    aligned = []
    for run in runs:
        steps = sorted(run)
        inside = [step for step in grid if steps[0] <= step <= steps[-1]]
        if method == "interp":
            values = np.interp(inside, steps, [run[step] for step in steps]).tolist()
        elif method == "nearest":
            values = [run[min(steps, key=lambda own: (abs(own - step), own))] for step in inside]
        else:
            inside, values = steps, [run[step] for step in steps]
        aligned.append((inside, values))
    return aligned


RUNS = st.lists(st.dictionaries(st.integers(-50, 50), VALUES, min_size=1, max_size=15), min_size=1, max_size=5)


@SLOW
@given(RUNS, RUNS, st.sampled_from(series.ALIGNMENTS))
def test_align_equals_numpy_run_by_run(first, second, method):
    runs = first + second
    ordered = [sorted(run.items()) for run in runs]
    steps, values = (np.array([pair[i] for run in ordered for pair in run]) for i in (0, 1))
    group = np.array([0] * len(first) + [1] * len(second))
    at, aligned, bounds = series.align(steps, values[:, None], bounds_of([len(run) for run in runs]), group, method)
    expected = slow_align(first, method) + slow_align(second, method)
    for i, (own_steps, own_values) in enumerate(expected):
        part = slice(bounds[i], bounds[i + 1])
        assert at[part].tolist() == own_steps
        np.testing.assert_allclose(aligned[part, 0], own_values, rtol=1e-9, atol=1e-6)


def test_interp_keeps_own_values_beside_what_is_not_finite():
    steps = np.array([0, 2, 4, 1, 3])
    values = np.array([1.0, np.nan, 5.0, 0.0, 0.0])[:, None]
    at, aligned, _ = series.align(steps, values, np.array([0, 3, 5]), np.array([0, 0]), "interp")
    assert at[:5].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(aligned[:5, 0], [1.0, np.nan, np.nan, np.nan, 5.0])


def test_align_survives_the_widest_steps():
    low, high = -(2**63), 2**63 - 1
    steps = np.array([low, high, low, 0, high])
    values = np.array([0.0, 1.0, 7.0, 7.0, 7.0])[:, None]
    _, aligned, _ = series.align(steps, values, np.array([0, 2, 5]), np.array([0, 0]), "interp")
    assert aligned[:3, 0].tolist() == [0.0, 0.5, 1.0]


def test_an_unknown_alignment_is_refused():
    with pytest.raises(ValueError, match="align='linear': expected one of 'exact', 'interp', 'nearest'"):
        series.align(np.array([0]), np.zeros((1, 1)), np.array([0, 1]), np.array([0]), "linear")


# --- statistics -----------------------------------------------------------------------------------------------------


def slow_estimate(values, estimator):
    values = sorted(values)
    if estimator == "iqm":
        cut = len(values) // 4
        values = values[cut : len(values) - cut]
    return float(np.median(values) if estimator == "median" else np.mean(values))


CELLS = st.lists(st.lists(VALUES | st.just(np.nan), max_size=9), max_size=8)


@SLOW
@given(CELLS, st.sampled_from(series.ESTIMATORS), st.sampled_from(["std", "se", "minmax", "quantile", None]))
def test_estimates_and_bands_equal_numpy_cell_by_cell(cells, estimator, band):
    summary = series.summarise(
        np.array(list(itertools.chain(*cells)), float),
        bounds_of([len(cell) for cell in cells]),
        estimator,
        band,
        level=0.8,
    )
    for i, cell in enumerate(cells):
        known = [value for value in cell if not np.isnan(value)]
        assert summary.n[i] == len(known)
        if not known:
            assert np.isnan([summary.centre[i], summary.low[i], summary.high[i]]).all()
            continue
        centre = slow_estimate(known, estimator)
        low = high = np.nan
        if band == "minmax":
            low, high = min(known), max(known)
        elif band == "quantile":
            low, high = np.quantile(known, [0.1, 0.9])
        elif band in ("std", "se") and len(known) > 1:
            half = np.std(known, ddof=1) / (len(known) ** 0.5 if band == "se" else 1)
            low, high = centre - half, centre + half
        np.testing.assert_allclose(
            [summary.centre[i], summary.low[i], summary.high[i]], [centre, low, high], rtol=1e-9, atol=1e-6
        )


@pytest.mark.parametrize("estimator", series.ESTIMATORS)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_intervals_of_few_values_count_all_resamples(count, estimator):
    values = np.random.default_rng(count).normal(size=count)
    samples = np.sort(np.array(list(itertools.product(values, repeat=count))), axis=1)
    everything = np.sort(samples @ series.order_weights(count, estimator))
    for level in (0.5, 0.8, 0.95):
        summary = series.summarise(values, np.array([0, count]), estimator, "ci", level=level)
        for end, chance in ((summary.low[0], (1 - level) / 2), (summary.high[0], (1 + level) / 2)):
            at = int(np.ceil(chance * len(everything) - 1e-6)) - 1
            assert end == pytest.approx(everything[at], abs=1e-12)


@pytest.mark.parametrize("estimator", series.ESTIMATORS)
@pytest.mark.parametrize("count", [7, 13, 40])
def test_intervals_of_more_values_equal_a_plain_bootstrap(count, estimator):
    values = np.sort(np.random.default_rng(count).normal(5e3, 1.0, size=count))
    # The same draws: ranks of sorted values.
    draws = np.random.default_rng(7).integers(0, count, (400, count))
    estimates = [slow_estimate(values[draw], estimator) for draw in draws]
    low, high = np.quantile(estimates, [0.05, 0.95])
    summary = series.summarise(values[::-1], np.array([0, count]), estimator, "ci", level=0.9, resamples=400, seed=7)
    np.testing.assert_allclose([summary.low[0], summary.high[0]], [low, high], rtol=0, atol=1e-6 * (high - low))


@pytest.mark.parametrize("level", [0.05, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("estimator", series.ESTIMATORS)
@pytest.mark.parametrize("count", [7, 12])
def test_resamples_that_are_left_out_change_no_interval(count, estimator, level):
    """Of many cells only those resamples are looked at that can be an end; of a single one, all of them."""
    rng = np.random.default_rng(count)
    cells = np.concatenate(
        [rng.normal(size=(400, count)), rng.integers(0, 3, (400, count)), rng.pareto(1, (400, count))]
    )
    settings = {"estimator": estimator, "band": "ci", "level": level, "resamples": 90}
    together = series.summarise(cells.ravel(), np.arange(0, cells.size + 1, count), **settings)
    for i in range(0, len(cells), 40):
        alone = series.summarise(cells[i], np.array([0, count]), **settings)
        ends = [together.low[i], together.high[i]]
        np.testing.assert_allclose(ends, [alone.low[0], alone.high[0]], rtol=1e-5, atol=1e-6)


def test_intervals_hold_the_true_mean_about_as_often_as_they_say():
    cells = np.random.default_rng(0).normal(size=(2000, 30))
    summary = series.summarise(cells.ravel(), np.arange(0, 60001, 30), "mean", "ci", level=0.9)
    covered = np.mean((summary.low <= 0) & (summary.high >= 0))
    # The percentile bootstrap of 30 values covers a little less than its level.
    assert 0.85 < covered < 0.91


def test_intervals_are_seeded_and_do_not_depend_on_the_neighbours():
    values = np.random.default_rng(0).normal(size=(50, 10))
    bounds = np.arange(0, 501, 10)
    together = series.summarise(values.ravel(), bounds, "mean", "ci", seed=3)
    again = series.summarise(values.ravel(), bounds, "mean", "ci", seed=3)
    other = series.summarise(values.ravel(), bounds, "mean", "ci", seed=4)
    alone = series.summarise(values[7], np.array([0, 10]), "mean", "ci", seed=3)
    np.testing.assert_array_equal(together.low, again.low)
    assert (together.low != other.low).any()
    assert alone.low[0] == pytest.approx(together.low[7], rel=1e-6)


@pytest.mark.parametrize("count", [3, 12])
def test_intervals_of_equal_values_have_no_width_and_of_infinities_no_ends(count):
    equal = series.summarise(np.full(count, 0.1), np.array([0, count]), "mean", "ci")
    assert equal.low[0] == equal.high[0] == pytest.approx(0.1, rel=1e-15)
    odd = series.summarise(np.append(np.zeros(count - 1), np.inf), np.array([0, count]), "median", "ci")
    assert odd.centre[0] == 0.0
    assert np.isnan([odd.low[0], odd.high[0]]).all()


def test_one_value_has_no_interval():
    for band in ("ci", "std", "se"):
        summary = series.summarise(np.array([3.0]), np.array([0, 1]), "mean", band)
        assert (summary.centre[0], summary.n[0]) == (3.0, 1)
        assert np.isnan([summary.low[0], summary.high[0]]).all()


@pytest.mark.parametrize("count", range(1, 20))
@pytest.mark.parametrize("estimator", series.ESTIMATORS)
def test_order_weights_are_the_estimators(count, estimator):
    values = np.sort(np.random.default_rng(count).normal(size=count))
    weights = series.order_weights(count, estimator)
    assert weights.sum() == pytest.approx(1)
    assert weights @ values == pytest.approx(slow_estimate(values, estimator))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"estimator": "mode"}, "estimator='mode': expected one of 'mean', 'median', 'iqm'"),
        ({"band": "sd"}, "band='sd': expected one of 'ci', 'std', 'se', 'minmax', 'quantile', or None"),
        ({"level": 95}, "level=95: expected a number between 0 and 1"),
        ({"resamples": 0}, "resamples=0: expected at least 1"),
    ],
)
def test_wrong_statistics_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        series.summarise(np.array([1.0]), np.array([0, 1]), **wrong)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda one: series.smooth(one, "0.6"), r"weight='0.6': expected a number from 0 to 1, found str$"),
        (lambda one: series.smooth(one, True), "weight=True: .* found bool"),
        (
            lambda one: series.smooth_half_life(one, one, None),
            "half_life=None: expected a number above 0, found NoneType",
        ),
        (lambda one: series.summarise(one, np.array([0, 1]), level="95 %"), "level='95 %': expected a number between"),
        (lambda one: series.summarise(one, np.array([0, 1]), resamples=1e3), r"resamples=1000\.0: .* found float"),
    ],
)
def test_what_is_no_number_is_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call(np.array([1.0]))


# --- timing ---------------------------------------------------------------------------------------------------------


@SLOW
@given(st.lists(st.tuples(st.integers(0, 4), VALUES), max_size=60))
def test_group_medians_equal_numpy(pairs):
    group, values = (np.array([pair[i] for pair in pairs], kind) for i, kind in ((0, np.int64), (1, float)))
    expected = [np.median(values[group == i]) if (group == i).any() else np.nan for i in range(5)]
    np.testing.assert_allclose(series.group_medians(values, group, 5), expected, rtol=1e-12, atol=1e-322)


def test_typical_interval_counts_within_tags_and_only_forwards():
    times = np.array([0.0, 0.001, 1.0, 1.001, 2.0, 2.001, 2.0, np.nan, 9.0])
    run, tag = np.zeros(9, np.int64), np.array([0, 1, 0, 1, 0, 1, 0, 0, 1])
    # Tag 0: 1, 1, 0, unknown; tag 1: 1, 1, 6.999. A second run has none.
    assert series.typical_intervals(times, run, tag, 2).tolist() == pytest.approx([1.0, np.nan], nan_ok=True)


def test_pauses_are_what_goes_beyond_an_interval():
    relative = np.array([0.0, 101.0, 1.0, 500.0, 510.0, np.nan, 0.0, 1.0])
    run = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    # Run 0 in time: 0, 1, 101 (pause of 99), 500 (398), 510 (no pause: exactly 10 intervals).
    assert series.pauses(relative, run, np.array([1.0, 1.0])).tolist() == [0, 99, 0, 497, 497, 0, 0, 0]
    assert series.pauses(relative, run, np.array([np.nan, 1.0])).tolist() == [0] * 8
    # Time before the first value is an interval, too.
    assert series.pauses(np.array([50.0, 51.0]), np.zeros(2, np.int64), np.array([1.0])).tolist() == [49, 49]
