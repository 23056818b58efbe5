"""Arithmetic on histograms, against slow and obvious references, TensorBoard's own answers and exact values."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbframe import buckets

EXPECTED = Path(__file__).parent / "data" / "expected"
NAN, INF = float("nan"), float("inf")
MAX = float(np.finfo(np.float64).max)

few = settings(max_examples=60, deadline=None)


# --- slow references -----------------------------------------------------------------------------------------------


def slow_clip(limits, counts, low, high):
    """TensorBoard's rule for one HistogramProto (reference 4.2), row by row."""
    positive = [i for i, c in enumerate(counts) if c > 0]
    if not positive:
        return []
    first, last = positive[0], positive[-1]
    inner = list(limits[first:last])
    return [list(row) for row in zip([low, *inner], [*inner, high], counts[first : last + 1], strict=True)]


def slow_rebin(rows, edges):
    """Share each bucket of one histogram out, bin by bin."""
    result = [0.0] * (len(edges) - 1)
    for left, right, count in rows:
        if count == 0 or not np.isfinite([left, right, count]).all():
            continue
        for j in range(len(result)):
            low, high, is_last = edges[j], edges[j + 1], j == len(result) - 1
            if left < right:
                result[j] += count * max(0.0, min(right, high) - max(left, low)) / (right - left)
            elif low <= left < high or (is_last and left == high):
                result[j] += count
    return result


def slow_compress(rows, bps):
    """TensorBoard's sweep over one histogram (reference 4.5)."""
    if not rows:
        return [0.0] * len(bps)
    total = sum(c for _, _, c in rows) or 1.0
    running, sums = 0.0, []
    for _, _, c in rows:
        running += c * 10000 / total
        sums.append(running)
    least, most = rows[0][0], rows[-1][1]
    values = []
    for p in bps:
        i = next((i for i, w in enumerate(sums) if w > p), None)
        if i is None:
            values.append(most)
            continue
        before = sums[i - 1] if i else 0.0
        low = max(rows[i - 1][1], least) if i and before else least
        high = min(rows[i][1], most)
        values.append(low + (p - before) * (high - low) / (sums[i] - before))
    return values


def padded(histograms):
    """Lists of [left, right, count] rows -> left, right, counts."""
    sizes = [len(h) for h in histograms]
    flat = np.array([row for h in histograms for row in h], np.float64).reshape(-1, 3)
    return (
        buckets.pad(flat[:, 0], sizes),
        buckets.pad(flat[:, 1], sizes),
        buckets.pad(flat[:, 2], sizes, 0.0),
    )


@st.composite
def contiguous(draw, least=0.0, most=50.0, whole=False):
    """One histogram: edges that rise or stay, and counts."""
    k = draw(st.integers(0, 8))
    steps = draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.5]), min_size=k, max_size=k))
    start = draw(st.sampled_from([-7.5, -1.0, 0.0, 2.0]))
    edges = start + np.concatenate([[0.0], np.cumsum(steps)])
    number = st.integers(int(least), int(most)).map(float) if whole else st.floats(least, most, allow_subnormal=False)
    counts = draw(st.lists(st.one_of(st.just(0.0), number), min_size=k, max_size=k))
    return [[float(left), float(right), c] for left, right, c in zip(edges[:-1], edges[1:], counts, strict=True)]


# --- padding -------------------------------------------------------------------------------------------------------


def test_pad_lays_rows_out():
    np.testing.assert_array_equal(buckets.pad([1, 2, 3], [2, 0, 1], 0.0), [[1, 2], [0, 0], [3, 0]])
    assert buckets.pad([], []).shape == (0, 0)
    assert buckets.pad([], [0, 0]).shape == (2, 0)


# --- HistogramProto ------------------------------------------------------------------------------------------------


def protos(*messages, edges="clipped"):
    limits, counts, low, high = zip(*messages, strict=True)
    return buckets.from_protos(
        np.concatenate([np.asarray(x, float) for x in limits]), [len(x) for x in limits],
        np.concatenate([np.asarray(x, float) for x in counts]), [len(x) for x in counts],
        low, high, edges,
    )  # fmt: skip


def rows_of(b, i):
    k = b.buckets[i]
    assert np.isnan(b.left[i, k:]).all()
    assert np.isnan(b.right[i, k:]).all()
    assert (b.counts[i, k:] == 0).all()
    return np.stack([b.left[i, :k], b.right[i, :k], b.counts[i, :k]], axis=-1).tolist()


# The example of the reference (4.1): TensorFlow 1 writes [-1e5, 0, 1, 2, 3e-13, 0].
TF1 = ([-102894.8, -93540.8, 0, 1e-12, 0.917, 1.009, 1.966, 2.163, MAX], [0, 1, 0, 3, 0, 1, 0, 1, 0], -1e5, 2.0)


def test_clipped_is_tensorboards_form():
    b = protos(TF1)
    assert rows_of(b, 0) == [
        [-1e5, -93540.8, 1], [-93540.8, 0, 0], [0, 1e-12, 3], [1e-12, 0.917, 0], [0.917, 1.009, 1], [1.009, 1.966, 0],
        [1.966, 2.0, 1],
    ]  # fmt: skip
    assert b.buckets.tolist() == [7]
    assert b.decodable.all()


def test_logged_keeps_every_bucket_and_limit():
    b = protos(TF1, ([1.0], [4.0], 0.5, 0.75), edges="logged")
    assert rows_of(b, 0) == [
        [left, right, count] for left, right, count in zip([-INF, *TF1[0][:-1]], TF1[0], TF1[1], strict=True)
    ]
    assert rows_of(b, 1) == [[-INF, 1.0, 4.0]]
    assert b.buckets.tolist() == [9, 1]


def test_logged_keeps_bits():
    limits = np.array([0.1, np.nextafter(0.1, 1), 5e-324, MAX])
    b = protos((limits, [0.1, -0.0, NAN, 3], 0, 0), edges="logged")
    assert b.right[0].tobytes() == limits.tobytes()
    assert b.counts[0].tobytes() == np.array([0.1, -0.0, NAN, 3]).tobytes()


@pytest.mark.parametrize("edges", ["clipped", "logged"])
def test_many_protos_are_like_one_each(edges):
    messages = [TF1, ([], [], 0, 0), ([1, 2], [0, 0], 0, 0), ([1, 2, 3], [0, 5, 0], 1.5, 1.75), TF1, ([7], [2], 6, 7)]
    together = protos(*messages, edges=edges)
    for i, message in enumerate(messages):
        assert rows_of(together, i) == rows_of(protos(message, edges=edges), 0)


@few
@given(st.data())
def test_clipped_agrees_with_the_slow_rule(data):
    messages = []
    for _ in range(data.draw(st.integers(1, 5))):
        rows = data.draw(contiguous())
        limits = [r for _, r, _ in rows]
        counts = [c - data.draw(st.sampled_from([0, 0, 60])) for _, _, c in rows]  # some are negative
        positive = [i for i, c in enumerate(counts) if c > 0] or [0]
        left, right = ([-9.0, *limits][positive[0]], limits[positive[-1]]) if rows else (0.0, 0.0)
        messages.append((limits, counts, left, right))
    b = protos(*messages)
    for i, message in enumerate(messages):
        assert rows_of(b, i) == slow_clip(*message)


@pytest.mark.parametrize(
    ("message", "rows"),
    [
        (([], [], 0, 0), []),
        (([1, 2], [0, 0], 0.5, 1.5), []),
        (([1, 2], [-3, NAN], 0.5, 1.5), []),  # neither is greater than 0
        (([0, 1, 2], [0, 3, 0], 0.25, 0.75), [[0.25, 0.75, 3]]),
        (([7, 7], [0, 3], 7, 7), [[7, 7, 3]]),
        (([1, 2, 3], [1, -5, 1], 0, 3), [[0, 1, 1], [1, 2, -5], [2, 3, 1]]),
        (([1e9, 1e9 + 1, MAX], [0, 16777217, 0], 1e9, 1e9 + 1), [[1e9, 1e9 + 1, 16777217]]),  # no rounding to float32
        (([0, INF], [1, 1], -INF, INF), [[-INF, 0, 1], [0, INF, 1]]),
        # min and max never filled: they would run backwards, so the limits are kept
        (([1, 2, 3], [0, 5, 6], 0, 0), [[1, 2, 5], [2, 3, 6]]),
        (([-3, -2, -1], [5, 6, 7], 0, 0), [[-3, -3, 5], [-3, -2, 6], [-2, -1, 7]]),
        (([1, 2, 3], [0, 5, 0], 9, 8), [[1, 2, 5]]),
        (([1, 2], [5, 0], 3, 0.5), [[1, 1, 5]]),
        # limits out of order
        (([3, 1, 4], [1, 1, 1], 0, 5), [[0, 3, 1], [1, 3, 1], [1, 5, 1]]),
        # unequal lengths: surplus limits do not matter, nor a last one that is missing
        (([1, 2, 3, 4], [1, 1], 0, 2), [[0, 1, 1], [1, 2, 1]]),
        (([1], [1, 1], 0, 2), [[0, 1, 1], [1, 2, 1]]),
        (([1], [1, 1, 0, 0], 0, 2), [[0, 1, 1], [1, 2, 1]]),
        (([1], [1, 1], 5, 0), [[1, 1, 1], [1, 1, 1]]),
    ],
)
def test_clipped_edge_cases(message, rows):
    b = protos(message)
    assert b.decodable.tolist() == [True]
    assert not (b.left > b.right).any()
    np.testing.assert_array_equal(np.array(rows_of(b, 0)).reshape(-1, 3), np.array(rows, float).reshape(-1, 3))


def test_too_few_limits_are_told():
    for edges in ("clipped", "logged"):
        b = protos(([1], [1, 1, 1], 0, 3), ([1], [2], 0, 1), edges=edges)
        assert b.decodable.tolist() == [False, True]
        assert b.buckets.tolist() == [0, 1]
        assert b.counts.tolist() == [[0], [2]]


def test_logged_with_unequal_lengths():
    b = protos(([1], [1, 1], 0, 3), ([1, 2, 3], [4], 0, 1), edges="logged")
    assert rows_of(b, 0) == [[-INF, 1, 1], [1, INF, 1]]
    assert rows_of(b, 1) == [[-INF, 1, 4]]


def test_unknown_edges():
    with pytest.raises(ValueError, match=r"edges='raw': expected 'clipped' .* or 'logged'"):
        protos(TF1, edges="raw")


def test_more_protos_than_fit_a_block_are_like_one_each():
    rng = np.random.default_rng(0)
    lengths = np.where(rng.random(2000) < 0.1, 0, rng.integers(0, 90, 2000))
    limits, counts = rng.normal(size=lengths.sum()), rng.poisson(0.3, lengths.sum()).astype(float)
    starts = np.cumsum(lengths) - lengths
    for edges in ("clipped", "logged"):
        together = buckets.from_protos(limits, lengths, counts, lengths, lengths * -1.0, lengths, edges)
        for i in [*range(0, 2000, 97), 1999]:
            part, n = slice(starts[i], starts[i] + lengths[i]), [lengths[i]]
            alone = buckets.from_protos(limits[part], n, counts[part], n, [-n[0]], n, edges)
            assert rows_of(together, i) == rows_of(alone, 0)


# --- ranges and edges ----------------------------------------------------------------------------------------------


def test_range_of_finite_buckets_that_are_not_empty():
    left = [[-INF, 0, 1, 5], [-9, 0, 2, NAN]]
    right = [[0, 1, 2, 9], [-8, 2, 2, NAN]]
    counts = [[3, 1, 1, 0], [NAN, 0, -1, 0]]
    assert [float(x) for x in buckets.value_range(left, right, counts)] == [0, 2]
    low, high = buckets.value_range(left, right, counts, axis=-1)
    assert (low.tolist(), high.tolist()) == ([0, 2], [2, 2])
    assert np.isnan(buckets.value_range([0.0], [1.0], [0.0])).all()
    assert [float(x) for x in buckets.value_range([2.0], [1.0], [1.0])] == [1, 2]  # backwards


@few
@given(
    st.floats(-MAX, MAX), st.one_of(st.just(0.0), st.floats(0, MAX)), st.integers(1, 40)
)  # fmt: skip
def test_equal_edges_rise_and_cover(low, width, bins):
    high = min(low + width, MAX) if low + width > low else low
    edges = buckets.equal_edges(low, high, bins)
    assert edges.shape == (bins + 1,)
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    assert edges[0] <= low <= high <= edges[-1]


@pytest.mark.parametrize(
    ("low", "high", "bins", "edges"),
    [
        (0, 3, 3, [0, 1, 2, 3]),
        (1e9, 1e9 + 1, 2, [1e9, 1e9 + 0.5, 1e9 + 1]),
        (-20, -20, 2, [-20.5, -20, -19.5]),  # TensorBoard loses such counts
        (NAN, NAN, 1, [-0.5, 0.5]),
        (-MAX, MAX, 2, [-MAX, 0, MAX]),
    ],
)
def test_equal_edges(low, high, bins, edges):
    assert buckets.equal_edges(low, high, bins).tolist() == edges


def test_equal_edges_of_several_ranges():
    assert buckets.equal_edges([0, 5], [1, 5], 2).tolist() == [[0, 0.5, 1], [4.5, 5, 5.5]]


def test_no_bins():
    with pytest.raises(ValueError, match="bins=0: expected at least 1 bin"):
        buckets.equal_edges(0, 1, 0)


# --- rebin ---------------------------------------------------------------------------------------------------------


@few
@given(st.lists(contiguous(-20.0), min_size=1, max_size=5), st.integers(1, 9))
def test_rebin_agrees_with_the_slow_rule_and_keeps_totals(histograms, bins):
    arrays = padded(histograms)
    edges = buckets.equal_edges(*buckets.value_range(*arrays), bins)
    result = buckets.rebin(*arrays, edges)
    np.testing.assert_allclose(result, [slow_rebin(h, edges) for h in histograms], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(result.sum(axis=-1), arrays[2].sum(axis=-1), rtol=1e-12, atol=1e-9)


@few
@given(st.lists(contiguous(), min_size=1, max_size=5), st.integers(1, 9))
def test_rebin_is_never_negative(histograms, bins):
    arrays = padded(histograms)
    assert (buckets.rebin(*arrays, buckets.equal_edges(*buckets.value_range(*arrays), bins)) >= 0).all()


@few
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9, unique=True), st.data())
def test_rebin_onto_its_own_edges_is_the_identity(edges, data):
    edges = np.sort(edges)
    counts = data.draw(st.lists(st.floats(-1e9, 1e9), min_size=edges.size - 1, max_size=edges.size - 1))
    np.testing.assert_array_equal(buckets.rebin(edges[:-1], edges[1:], counts, edges), counts)


def test_rebin_outside_agrees_with_the_slow_rule():
    rows = [[-4.0, -2.0, 6.0], [-2.0, 1.0, 9.0], [1.0, 5.0, 8.0], [7.0, 7.0, 2.0], [3.0, 3.0, 4.0], [-1.0, -1.0, 5.0]]
    edges = [-1.0, 0.0, 3.0]
    result = buckets.rebin(*np.array(rows).T, edges, outside="drop")
    np.testing.assert_allclose(result, slow_rebin(rows, edges))
    np.testing.assert_allclose(result, [3 + 5, 3 + 4 + 4])
    clipped = buckets.rebin(*np.array(rows).T, edges, outside="clip")
    np.testing.assert_allclose(clipped, [8 + 6 + 3, 11 + 4 + 2])
    assert clipped.sum() == pytest.approx(34)


def test_rebin_refuses_counts_outside():
    with pytest.raises(
        ValueError, match=r"outside the edges 0\.0 \.\.\. 1\.0: 2\.0 below and 3\.0 above.*outside='drop'"
    ):
        buckets.rebin([-2.0, 1.0], [0.0, 2.0], [2.0, 3.0], [0.0, 1.0])
    assert buckets.rebin([-2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [0.0, 1.0]).tolist() == [3]  # an empty one may lie there


@pytest.mark.parametrize(
    ("row", "edges", "counts"),
    [
        ([2, 2, 7], [0, 1, 2, 3], [0, 0, 7]),  # without width, on an inner edge: right-hand bin
        ([3, 3, 7], [0, 1, 2, 3], [0, 0, 7]),  # on the last edge: last bin
        ([0, 0, 7], [0, 1, 2, 3], [7, 0, 0]),
        ([2, 1, 7], [0, 1, 2, 3], [0, 0, 7]),  # backwards: where its left edge lies
        ([3, 1, 7], [0, 1, 2, 3], [0, 0, 7]),
        ([0, 3, -6], [0, 1, 2, 3], [-2, -2, -2]),
        ([0, 3, 0.3], [0, 2, 3], [0.2, 0.1]),
        ([1e9, 1e9 + 1, 4], [1e9, 1e9 + 0.25, 1e9 + 1], [1, 3]),
        ([-MAX, MAX, 8], [-MAX, -MAX / 2, 0, MAX], [2, 2, 4]),
        ([0, 5e-324, 8], [-1, 0, 1], [0, 8]),
        ([-INF, 1, 8], [0, 1], [0]),
        ([0, INF, 8], [0, 1], [0]),
        ([NAN, 1, 8], [0, 1], [0]),
        ([0, 1, NAN], [0, 1], [0]),
        ([0, 1, INF], [0, 1], [0]),
    ],
)
def test_rebin_edge_cases(row, edges, counts):
    np.testing.assert_allclose(buckets.rebin(*np.array([row], float).T, edges), counts, rtol=1e-15)


def test_rebin_is_exact_where_wide_and_narrow_buckets_meet():
    left, right, counts = [-MAX, 0.0, 1.0], [0.0, 1.0, MAX], [4.0, 2.0, 0.0]
    edges = [-MAX, -MAX / 2, 0.0, 0.5, 1.0]
    assert buckets.rebin(left, right, counts, edges).tolist() == [2, 2, 1, 1]


def test_rebin_of_many_axes_and_of_edges_per_series():
    rng = np.random.default_rng(0)
    edges = np.sort(rng.normal(size=(2, 3, 40, 6)), axis=-1)
    counts = rng.poisson(3, (2, 3, 40, 5)).astype(float)
    left, right = edges[..., :-1], edges[..., 1:]
    shared = buckets.equal_edges(*buckets.value_range(left, right, counts), 7)
    together = buckets.rebin(left, right, counts, shared)
    assert together.shape == (2, 3, 40, 7)
    np.testing.assert_array_equal(
        together[1, 2, 30], buckets.rebin(left[1, 2, 30], right[1, 2, 30], counts[1, 2, 30], shared)
    )
    own = buckets.equal_edges(*buckets.value_range(left, right, counts, axis=(2, 3)), 7)
    apart = buckets.rebin(left, right, counts, own[:, :, np.newaxis, :])
    for i in range(2):
        for j in range(3):
            one = buckets.rebin(left[i, j], right[i, j], counts[i, j], own[i, j])
            np.testing.assert_array_equal(apart[i, j], one)
    np.testing.assert_allclose(apart.sum(-1), counts.sum(-1))


def test_rebin_of_more_than_a_chunk_is_the_same():
    rng = np.random.default_rng(1)
    edges = np.sort(rng.normal(size=(5000, 31)), axis=1)
    counts = rng.poisson(3, (5000, 30)).astype(float)
    shared = np.linspace(-5, 5, 31)
    whole = buckets.rebin(edges[:, :-1], edges[:, 1:], counts, shared, outside="clip")
    parts = [buckets.rebin(edges[i:j, :-1], edges[i:j, 1:], counts[i:j], shared, outside="clip")
             for i, j in [(0, 999), (999, 5000)]]  # fmt: skip
    np.testing.assert_array_equal(whole, np.concatenate(parts))


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0), (0, 4, 2), (2, 0, 3)])
def test_nothing_to_rebin(shape):
    nothing = np.zeros(shape)
    assert buckets.rebin(nothing, nothing, nothing, [0, 1, 2]).tolist() == np.zeros((*shape[:-1], 2)).tolist()
    assert buckets.compress(nothing, nothing, nothing).shape == (*shape[:-1], 9)
    assert buckets.density(nothing, nothing, nothing).shape == shape


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([0, 2, 1], r"rise strictly; found \[2\.0, 1\.0\] at position 1"),
        ([0, 0], r"rise strictly; found \[0\.0, 0\.0\] at position 0"),
        ([0, 1, INF], r"must be finite"),
        ([0, 1, NAN], r"found \[1\.0, nan\] at position 1"),
        ([0], r"expected at least 2 edges, found an array of shape \(1,\)"),
        (3, r"expected at least 2 edges"),
    ],
)
def test_rebin_refuses_edges(edges, message):
    with pytest.raises(ValueError, match=message):
        buckets.rebin([0.0], [1.0], [1.0], edges)


def test_rebin_refuses_words():
    with pytest.raises(ValueError, match="outside='ignore': expected 'error', 'drop' or 'clip'"):
        buckets.rebin([0.0], [1.0], [1.0], [0, 1], outside="ignore")
    with pytest.raises(ValueError, match="found a single number"):
        buckets.rebin(0.0, 1.0, 1.0, [0, 1])


def test_left_out():
    left, right = [0, -INF, 0, NAN, NAN, NAN, 0, -INF], [1, 0, 1, NAN, NAN, NAN, 1, 0]
    counts = [1, 1, NAN, 1, 0, NAN, INF, 0]
    expected = [False, True, True, True, False, False, True, False]
    assert buckets.is_left_out(left, right, counts).tolist() == expected


# --- compress ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["torch", "tensorboardx", "tf1", "tf2"])
def test_compress_gives_tensorboards_distributions(name):
    answers = json.loads(gzip.decompress((EXPECTED / f"{name}.json.gz").read_bytes()))
    compared = 0
    for run, tags in answers["histograms"]["data"].items():
        for tag, points in tags.items():
            at = {
                step: [value for _, value in values] for _, step, values in answers["distributions"]["data"][run][tag]
            }
            arrays = padded([rows for _, _, rows in points])
            np.testing.assert_array_equal(buckets.compress(*arrays), [at[step] for _, step, _ in points])
            compared += len(points)
    assert compared >= 12


@few
@given(st.lists(contiguous(whole=True), min_size=1, max_size=5), st.lists(st.integers(0, 10000), max_size=6))
def test_compress_agrees_with_the_slow_rule(histograms, bps):
    expected = np.array([slow_compress(h, bps) for h in histograms]).reshape(len(histograms), len(bps))
    np.testing.assert_allclose(buckets.compress(*padded(histograms), bps), expected, rtol=1e-13, atol=1e-13)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0.1, 0.7, 2.5, 1.0]), max_size=20), min_size=2, max_size=4))
def test_padding_does_not_change_the_last_bit(counts):
    """Sums of fractions depend on their order, and whether a running total passes a part on the last bit."""
    histograms = [[[float(i), i + 1.0, c] for i, c in enumerate(row)] for row in counts]
    together = buckets.compress(*padded(histograms))
    np.testing.assert_array_equal(together, [buckets.compress(*padded([h]))[0] for h in histograms])


@few
@given(st.lists(contiguous(), min_size=1, max_size=5), st.booleans())
def test_compress_is_monotone_and_inside(histograms, leak):
    left, right, counts = padded(histograms)
    values = buckets.compress(left, right, counts, [0, 1, 668, 5000, 9999, 10000], leak=leak)
    some = counts.sum(axis=-1) > 0
    assert np.isnan(values[~some]).all() == (not leak or some.all())
    assert (np.diff(values[some], axis=-1) >= 0).all()
    where = np.isfinite(left) if leak else counts > 0
    least = np.min(left, axis=-1, where=where, initial=INF)[some]
    most = np.max(right, axis=-1, where=where, initial=-INF)[some]
    assert (least <= values[some, 0]).all()
    assert (values[some, -1] <= most).all()


BPS = [0, 668, 5000, 6915, 10000]


@pytest.mark.parametrize(
    ("rows", "values"),
    [
        ([], [0, 0, 0, 0, 0]),
        ([[0, 0, 0]] * 30, [0, 0, 0, 0, 0]),  # TensorFlow 2, empty input
        ([[0, 1, 0], [1, 2, 0]], [2, 2, 2, 2, 2]),
        ([[5, 5, 8]], [5, 5, 5, 5, 5]),
        ([[5, 5, 0]] * 29 + [[5, 5, 8]], [5, 5, 5, 5, 5]),  # TensorFlow 2, constant input
        ([[0, 1, 0], [1, 2, 10]], [0, 0.1336, 1.0, 1.383, 2]),  # leaks into the empty bucket
        ([[0, 1, 10], [1, 2, 0]], [0, 0.0668, 0.5, 0.6915, 2]),
        ([[0, 1, 5], [5, 6, 5]], [0, 0.1336, 1.0, 2.915, 6]),  # leaks into the gap
        ([[0, 1, 5], [1, 2, 0], [2, 3, 5]], [0, 0.1336, 2.0, 2.383, 3]),
        ([[NAN, NAN, 1], [NAN, NAN, 2]], [NAN] * 5),
        ([[0, 1, 1], [1, 2, NAN]], [NAN] * 5),
        ([[-MAX, MAX, 2]], [-MAX, -MAX + MAX * 0.0668 * 2, 0, MAX * 0.383, MAX]),
        ([[1e9, 1e9 + 1, 2]], [1e9, 1e9 + 0.0668, 1e9 + 0.5, 1e9 + 0.6915, 1e9 + 1]),
        ([[0, 1, 0.25], [1, 2, 0.25]], [0, 0.1336, 1.0, 1.383, 2]),
    ],
)
def test_compress_edge_cases(rows, values):
    result = buckets.compress(*padded([rows, [[0, 1, 1]] * 40]), BPS)[0]  # the second row pads the first
    np.testing.assert_allclose(result, values, rtol=1e-14)


def test_compress_with_infinite_edges():
    values = buckets.compress([0.0, 1.0], [1.0, INF], [1.0, 1.0], [0, 2500, 5000, 7500, 10000])
    np.testing.assert_array_equal(values, [0, 0.5, NAN, INF, INF])


def test_compress_of_negative_counts_finds_tensorboards_bucket():
    # Running totals 20000, -10000, 10000: computed with TensorBoard 2.21's compress_histogram.
    values = buckets.compress([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, -3.0, 2.0], [0, 5000, 10000])
    np.testing.assert_allclose(values, [2.5, 2.75, 3.0])


def test_compress_without_edges_and_counts():
    """NaN edges with count 0 look like padding; only the number of buckets tells them apart."""
    nothing = np.full((2, 3), NAN)
    values = buckets.compress(nothing, nothing, np.zeros((2, 3)), [5000], buckets=[3, 0])
    np.testing.assert_array_equal(values, [[NAN], [0]])


@pytest.mark.parametrize(
    ("rows", "values"),
    [
        ([], [NAN] * 5),
        ([[0, 1, 0], [1, 2, 0]], [NAN] * 5),
        ([[0, 1, 0], [1, 2, 10]], [1, 1.0668, 1.5, 1.6915, 2]),
        ([[0, 1, 10], [1, 2, 0]], [0, 0.0668, 0.5, 0.6915, 1]),
        ([[0, 1, 5], [5, 6, 5]], [0, 0.1336, 5, 5.383, 6]),
        ([[5, 5, 0]] * 29 + [[5, 5, 8]], [5, 5, 5, 5, 5]),
    ],
)
def test_compress_without_leak(rows, values):
    result = buckets.compress(*padded([rows, [[0, 1, 1]] * 40]), BPS, leak=False)[0]
    np.testing.assert_allclose(result, values, rtol=1e-14)


@pytest.mark.parametrize("bps", [[-1], [10001], [NAN], 5000, [[0]]])
def test_compress_refuses_parts(bps):
    with pytest.raises(ValueError, match="expected a list of basis points from 0 to 10000"):
        buckets.compress([0.0], [1.0], [1.0], bps)


# --- density -------------------------------------------------------------------------------------------------------


def test_density_is_numpys():
    values = np.random.default_rng(0).normal(size=500)
    edges = np.array([-5, -1, 0, 0.5, 5.0])
    counts, _ = np.histogram(values, edges)
    expected, _ = np.histogram(values, edges, density=True)
    np.testing.assert_allclose(buckets.density(edges[:-1], edges[1:], counts), expected, rtol=1e-14)


def test_density_edge_cases():
    left, right = [0.0, 1.0, 1.0, 3.0, -MAX, NAN], [1.0, 1.0, 1.0, 2.0, MAX, NAN]
    result = buckets.density(left, right, [2.0, 0.0, 1.0, 1.0, 4.0, 0.0])
    np.testing.assert_allclose(result, [0.25, 0, INF, NAN, 0.5 / MAX / 2, NAN])
    np.testing.assert_array_equal(buckets.density([0.0], [1.0], [0.0]), [0.0])
