"""Plots of histograms, by the artists they consist of."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import dates as mdates
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

import tbframe.accessors.dataset  # noqa: F401  (registers .tb)
from tbframe import buckets
from tbframe.errors import AccessorError
from tbframe.plotting import style
from tbframe.plotting.charts import draw_ridgelines

mpl.use("agg")
START = 1.7e9


@pytest.fixture(autouse=True)
def closed():
    """Close what a test drew; a figure that the code itself leaves open in pyplot is found by the tests."""
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def series(n=7, k=10, steps=None, run="train", tag="weights", spread=1.0):
    """Histograms whose peak moves from left to right."""
    steps = np.arange(n) * 10 if steps is None else np.asarray(steps)
    edges = np.linspace(0, k, k + 1)
    place = np.linspace(1, k - 1, n)
    counts = np.round(100 * np.exp(-(((edges[:-1] + 0.5 - place[:, np.newaxis]) / spread) ** 2)))
    left, right = np.broadcast_to(edges[:-1], counts.shape), np.broadcast_to(edges[1:], counts.shape)
    return xr.Dataset(
        {"counts": (("step", "bin"), counts), "buckets": ("step", np.full(n, k))},
        {
            "step": steps,
            "wall_time": ("step", START + 60.0 * np.arange(n)),
            "left": (("step", "bin"), left),
            "right": (("step", "bin"), right),
            "run": ((), np.array(run, object)),
            "tag": ((), np.array(tag, object)),
        },
    )


def several(runs=("a", "b"), tags=("w", "bias")):
    even = [[series(run=run, tag=tag).tb.rebin(10) for run in runs] for tag in tags]
    return xr.concat([xr.concat(row, "run") for row in even], "tag")


def ridges(ax):
    [collection] = [c for c in ax.collections if isinstance(c, PolyCollection)]
    return [path.vertices[:-1] for path in collection.get_paths()]  # the last one closes the path


def feet(ax):
    return [float(vertices[0, 1]) for vertices in ridges(ax)]


# --- ridgelines ----------------------------------------------------------------------------------------------------


def test_ridgeline_draws_the_earliest_at_the_back(ax):
    ds = series()
    assert ds.tb.ridgeline(ax=ax, bins=10) is ax
    paths = ridges(ax)
    assert feet(ax) == [0, 10, 20, 30, 40, 50, 60]  # painted from the back to the front
    assert ax.yaxis_inverted()
    counts = ds["counts"].values
    heights = np.array([path[0, 1] - path[:, 1].min() for path in paths])
    np.testing.assert_allclose(heights / heights.max(), counts.max(axis=1) / counts.max())
    for path, row in zip(paths, counts, strict=True):
        assert path[0].tolist()[0] == 0
        np.testing.assert_allclose(path[1:11, 0], np.arange(10) + 0.5)
        assert path[11, 0] == 10
        assert path[11, 1] == path[0, 1]
        top = int(np.argmin(path[1:11, 1]))
        assert top == int(np.argmax(row))
    assert ax.get_xlabel() == "weights"
    assert ax.get_ylabel() == "step"
    assert ax.get_title() == "train"


def test_ridgeline_from_the_bottom(ax):
    series().tb.ridgeline(ax=ax, order="bottom")
    assert feet(ax) == [60, 50, 40, 30, 20, 10, 0]  # the topmost is painted first
    assert not ax.yaxis_inverted()
    assert all((path[:, 1] >= path[0, 1] - 1e-9).all() for path in ridges(ax))
    assert all(path[:, 1].max() > path[0, 1] for path in ridges(ax))


def test_every_ridge_lies_within_the_axes(ax):
    for order in ("back", "bottom"):
        ax.clear()
        series().tb.ridgeline(ax=ax, order=order)
        low, high = sorted(ax.get_ylim())
        every = np.concatenate(ridges(ax))
        assert low <= every[:, 1].min()
        assert every[:, 1].max() <= high
        assert ax.get_xlim() == (0, 10)


def test_ridges_stand_at_their_numeric_step(ax):
    series(5, steps=[0, 1, 100, 100, 1000]).tb.ridgeline(ax=ax)
    assert feet(ax) == [0, 1, 100, 100, 1000]
    ticks = ax.get_yticks()
    assert (ticks >= 0).all()
    assert (ticks <= 1000).all()
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"{tick:.0f}" for tick in ticks]


def test_steps_that_go_back_are_placed_all_the_same(ax):
    series(4, steps=[20, 30, 0, 10]).tb.ridgeline(ax=ax)
    assert feet(ax) == [0, 10, 20, 30]
    tops = [float(path[np.argmin(path[1:-1, 1]) + 1, 0]) for path in ridges(ax)]
    assert tops[0] > tops[2]  # the step written third is the earliest


def test_colours_run_from_dark_to_light(ax):
    series().tb.ridgeline(ax=ax)
    colours = ax.collections[0].get_facecolor()
    grey = colours[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(grey) > 0.02).all()
    assert grey[-1] < 0.85  # still shows on white
    ax.clear()
    series().tb.ridgeline(ax=ax, cmap="Reds")
    np.testing.assert_allclose(ax.collections[0].get_facecolor()[-1], mpl.colormaps["Reds"](1.0))


@settings(max_examples=30, deadline=None)
@given(st.integers(11, 40), st.floats(1.0, 2.0), st.sampled_from(["back", "bottom"]))
def test_no_ridge_hides_the_peak_of_another(n, spread, order):
    ax = Figure().subplots()
    series(n, 30, spread=3 * spread).tb.ridgeline(ax=ax, order=order)
    up = 1 if order == "bottom" else -1
    paths = np.array(ridges(ax))
    for i in range(n - 1):
        peak = int(np.argmax(up * paths[i, :, 1]))
        assert up * paths[i, peak, 1] >= (up * paths[i + 1 :, peak, 1]).max() - 1e-6


def test_at_most_51_steps_are_drawn(ax):
    ds = series(200)
    ds.tb.ridgeline(ax=ax)
    drawn = np.array(feet(ax))
    np.testing.assert_array_equal(drawn, 10 * np.round(np.linspace(0, 199, 51)))
    for most, n in ((2, 2), (10, 10), (None, 200), (500, 200)):
        ax.clear()
        ds.tb.ridgeline(ax=ax, max_steps=most)
        assert len(ridges(ax)) == n
        assert (min(feet(ax)), max(feet(ax))) == (0, 1990)


def test_many_ridges_are_drawn_without_outlines(ax):
    series(1000).tb.ridgeline(ax=ax, max_steps=None)
    assert ax.collections[0].get_linewidth() == [0.0]
    ax.clear()
    series(51).tb.ridgeline(ax=ax)
    assert 0.1 < ax.collections[0].get_linewidth()[0] <= 0.8


@pytest.mark.parametrize("n", [51, 120, 400])
def test_many_ridges_keep_a_height_that_shows(ax, n):
    series(n).tb.ridgeline(ax=ax, max_steps=None)
    tallest = max(ridge[0, 1] - ridge[:, 1].min() for ridge in ridges(ax))
    assert tallest >= 0.05 * np.ptp(feet(ax))


def test_bins(ax):
    ds = series()
    for bins, n in ((None, 30), (5, 5)):
        ax.clear()
        ds.tb.ridgeline(ax=ax, bins=bins)
        assert {len(path) for path in ridges(ax)} == {n + 2}
    ax.clear()
    ds.tb.rebin(13).tb.ridgeline(ax=ax)
    assert {len(path) for path in ridges(ax)} == {15}


def test_the_range_is_that_of_the_steps_drawn(ax):
    ds = series(3)
    right = ds["right"].values.copy()
    right[1, -1] = 500.0
    ds.assign_coords(right=(("step", "bin"), right)).tb.ridgeline(ax=ax, max_steps=2)
    assert ax.get_xlim() == (0, 10)


def test_unequal_bins_are_drawn_per_width(ax):
    ds = series(2).tb.rebin([0, 1, 10])
    ds["counts"].values[:] = [[10, 90], [10, 45]]
    ds.tb.ridgeline(ax=ax)
    first, second = ridges(ax)
    assert first[1, 1] - first[0, 1] == pytest.approx(first[2, 1] - first[0, 1])
    assert (second[1, 1] - second[0, 1]) == pytest.approx(2 * (second[2, 1] - second[0, 1]))


def test_overlay_draws_counts(ax):
    ds = series()
    ds.tb.ridgeline(ax=ax, bins=10, mode="overlay")
    [lines] = [c for c in ax.collections if isinstance(c, LineCollection)]
    segments = lines.get_segments()
    assert len(segments) == 7
    np.testing.assert_allclose([s[1:-1, 1] for s in segments], ds["counts"])
    assert all(s[0, 1] == s[-1, 1] == 0 for s in segments)
    assert ax.get_ylabel() == "count"
    assert ax.get_ylim()[0] == 0
    [bar] = [other for other in ax.figure.axes if other is not ax]
    assert bar.get_ylabel() == "step"
    assert bar.get_ylim() == (0, 60)


def test_overlay_of_one_step_has_no_colour_bar(ax):
    series().isel(step=2).tb.ridgeline(ax=ax, mode="overlay")
    assert ax.figure.axes == [ax]


def test_time_axes(ax):
    ds = series()
    ds.tb.ridgeline(ax=ax, x="relative")
    assert feet(ax) == [0, 1, 2, 3, 4, 5, 6]
    assert ax.get_ylabel() == "time (min)"
    ax = Figure(layout="constrained").subplots()
    ds.tb.ridgeline(ax=ax, x="wall")
    np.testing.assert_allclose(mdates.date2num(np.datetime64(int(START), "s")), feet(ax)[0])
    assert ax.get_ylabel() == "wall time (2023-11-14, UTC)"
    ax.figure.draw_without_rendering()
    assert "22:15" in [label.get_text() for label in ax.get_yticklabels()]
    with pytest.raises(ValueError, match="x='wall' needs the coordinate 'wall_time'"):
        ds.drop_vars("wall_time").tb.ridgeline(ax=ax, x="wall")


@pytest.mark.parametrize(
    ("seconds", "unit", "last"),
    [(0, "s", 0), (100, "s", 100), (120, "min", 2), (7199, "min", 7199 / 60), (7200, "h", 2), (172800, "days", 2)],
)
def test_relative_times_have_a_unit_that_fits(seconds, unit, last):
    times = style.times([0, 1], [START, START + seconds], "relative")
    assert times.label == f"time ({unit})"
    np.testing.assert_allclose(times.at, [0, last])


def test_dates_of_several_days():
    assert style.times([0, 1], [START, START + 172800], "wall").label == "wall time (2023-11-14 … 2023-11-16, UTC)"
    assert style.times([], [], "wall").label == "wall time (UTC)"


@pytest.mark.parametrize(("step", "text"), [(20000, "20000"), (3_000_000, "3M"), (2_500_000_000, "2.5G"), (-4, "-4")])
def test_steps_are_written_out_as_far_as_legible(ax, step, text):
    series(1, steps=[step]).tb.ridgeline(ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == [text]


def test_one_step_and_none(ax):
    series().isel(step=[3]).tb.ridgeline(ax=ax)
    assert feet(ax) == [30]
    for mode in ("offset", "overlay"):
        for ds in (series().isel(step=3), series().isel(step=[]), series() * 0):
            one = Figure().subplots()
            ds.tb.ridgeline(ax=one, mode=mode)
            one.figure.draw_without_rendering()


def test_steps_that_were_not_logged_are_not_drawn(ax):
    ds = several()
    ds["wall_time"] = ds["wall_time"].broadcast_like(ds["counts"].isel(bin=0)).copy()
    ds["wall_time"].values[0, 0, 2] = np.nan
    axes = ds.tb.ridgeline()
    assert feet(axes[0, 0]) == [0, 10, 30, 40, 50, 60]
    assert feet(axes[1, 1]) == [0, 10, 20, 30, 40, 50, 60]


# --- panels --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["ridgeline", "distribution", "heatmap"])
def test_panels_for_runs_and_tags(verb):
    ds = several(("a", "b", "c"))
    axes = getattr(ds.tb, verb)()
    assert axes.shape == (2, 3)
    named = "get_xlabel" if verb == "ridgeline" else "get_ylabel"
    assert [[ax.get_title() for ax in row] for row in axes] == [["a", "b", "c"]] * 2
    assert [[getattr(ax, named)() for ax in row] for row in axes] == [["w"] * 3, ["bias"] * 3]
    one_tag = getattr(ds.isel(tag=0).tb, verb)()
    assert one_tag.shape == (3,)
    one_run = getattr(ds.isel(run=0).tb, verb)()
    assert one_run.shape == (2,)
    single = getattr(ds.isel(run=[0], tag=0).tb, verb)()
    assert isinstance(single, Axes)


def test_panels_in_given_axes():
    ds = several()
    axes = Figure().subplots(2, 2)
    result = ds.tb.ridgeline(ax=axes)
    assert (result == axes).all()
    with pytest.raises(ValueError, match=r"1 Axes for 4 panels.*Give an array of 4 Axes.*ds\.sel\(run=\.\.\., tag"):
        ds.tb.ridgeline(ax=axes[0, 0])
    with pytest.raises(TypeError, match="ax: expected matplotlib Axes, found Figure"):
        series().tb.ridgeline(ax=Figure())


def test_empty_cells_of_the_grid_are_removed():
    axes = several(("a", "b", "c", "d"), ("w",)).isel(tag=0).tb.distribution()
    assert axes.shape == (4,)
    assert len(axes[0].figure.axes) == 4


def test_runs_of_a_tag_share_bins_and_scale():
    ds = several(tags=("w",)).isel(tag=0)
    ds["counts"] = ds["counts"] * xr.DataArray([1.0, 0.5], dims="run")
    first, second = ds.tb.ridgeline()
    rise = [max(path[0, 1] - path[:, 1].min() for path in ridges(ax)) for ax in (first, second)]
    assert first.get_xlim() == second.get_xlim()
    assert rise[1] < 0.75 * rise[0]


def test_bins_per_series_are_kept():
    left, right = several(tags=("w",)).isel(tag=0).tb.rebin(8, shared=False).tb.ridgeline()
    assert {len(path) for ax in (left, right) for path in ridges(ax)} == {10}


def test_too_many_panels_and_other_dimensions():
    ds = series().tb.rebin(4)
    many = ds.drop_vars("tag").expand_dims(tag=np.array([f"t{i}" for i in range(101)], object))
    with pytest.raises(ValueError, match=r"101 panels for \{'tag': 101\}: expected 1 to 100\. Select .*ridgelines"):
        many.tb.heatmap()
    with pytest.raises(ValueError, match=r"0 panels"):
        many.isel(tag=[]).tb.heatmap()
    with pytest.raises(ValueError, match=r"no plot for the dimension 'seed': select with isel\(seed=0\) or reduce"):
        ds.expand_dims(seed=3).tb.ridgeline()


def test_a_figure_is_made_for_pyplot():
    from matplotlib import pyplot as plt

    ax = series().tb.ridgeline()
    assert plt.gcf() is ax.figure


# --- distributions -------------------------------------------------------------------------------------------------


def test_distribution_has_tensorboards_bands(ax):
    ds = series()
    assert ds.tb.distribution(ax=ax) is ax
    bands = [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert [round(band.get_alpha(), 4) for band in bands] == [
        0.0912, 0.5436, 0.5992, 0.766, 0.766, 0.5992, 0.5436, 0.0912,
    ]  # fmt: skip
    values = ds.tb.compress().values
    for i, band in enumerate(bands):
        y = band.get_paths()[0].vertices
        for x, low, high in zip(ds["step"].values, values[:, i], values[:, i + 1], strict=True):
            at = y[y[:, 0] == x, 1]
            assert at.min() == pytest.approx(low)
            assert at.max() == pytest.approx(high)
    [median] = ax.lines
    np.testing.assert_array_equal(median.get_xdata(), ds["step"])
    np.testing.assert_array_equal(median.get_ydata(), values[:, 4])
    assert ax.get_ylabel() == "weights"
    assert ax.get_xlabel() == "step"
    assert ax.get_title() == "train"
    assert ax.get_xlim() == (0, 60)


def test_distribution_of_other_percentiles(ax):
    series().tb.distribution(ax=ax, bps=[1000, 9000], color="black")
    [band] = ax.collections
    assert band.get_alpha() == 1.0
    assert not ax.lines
    np.testing.assert_allclose(band.get_facecolor()[0, :3], 0)


def test_distributions_over_each_other_differ_in_colour(ax):
    series().tb.distribution(ax=ax)
    series().tb.distribution(ax=ax)
    colours = {tuple(c.get_facecolor()[0, :3]) for c in ax.collections}
    assert len(colours) == 2


def test_distribution_of_steps_that_go_back(ax):
    ds = series(4, steps=[20, 30, 0, 10])
    ds.tb.distribution(ax=ax, bps=[5000, 10000])
    assert ax.lines[0].get_xdata().tolist() == [0, 10, 20, 30]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), ds.tb.compress([5000]).values[[2, 3, 0, 1], 0])


def test_distribution_of_one_step_has_a_width(ax):
    series().isel(step=3).tb.distribution(ax=ax)
    assert ax.lines[0].get_xdata().tolist() == [29.5, 30.5]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["30"]


# --- heatmaps ------------------------------------------------------------------------------------------------------


def test_heatmap_shows_counts(ax):
    ds = series(steps=[0, 10, 20, 40, 50, 60, 70])
    assert ds.tb.heatmap(ax=ax, bins=10) is ax
    [mesh] = ax.collections
    shown = mesh.get_array()
    np.testing.assert_array_equal(shown.filled(0), ds["counts"].T)
    np.testing.assert_array_equal(shown.mask, ds["counts"].T == 0)
    corners = mesh.get_coordinates()
    np.testing.assert_array_equal(corners[0, :, 0], [-5, 5, 15, 30, 45, 55, 65, 75])
    np.testing.assert_allclose(corners[:, 0, 1], np.arange(11))
    assert ax.get_xlabel() == "step"
    assert ax.get_ylabel() == "weights"
    assert ax.figure.axes[1].get_ylabel() == "counts"
    assert mesh.get_clim() == (0, ds["counts"].max())


def test_heatmap_of_densities(ax):
    ds = series()
    ds.tb.heatmap(ax=ax, bins=10, show="density")
    np.testing.assert_allclose(ax.collections[0].get_array().filled(0), ds.tb.rebin(10).tb.density().T)
    with pytest.raises(ValueError, match="show='log': expected 'counts' or 'density'"):
        ds.tb.heatmap(ax=ax, show="log")


def test_heatmap_draws_the_last_of_equal_steps(ax):
    ds = series(4, steps=[0, 10, 10, 20])
    ds.tb.heatmap(ax=ax, bins=10)
    np.testing.assert_array_equal(ax.collections[0].get_array().filled(0), ds["counts"].isel(step=[0, 2, 3]).T)


def test_heatmap_of_one_step_none_and_nothing():
    for ds in (series().isel(step=3), series().isel(step=[]), series().assign(counts=series()["counts"] * 0)):
        ax = Figure().subplots()
        ds.tb.heatmap(ax=ax)
        ax.figure.draw_without_rendering()
        assert all(mesh.get_clim()[0] == 0 < mesh.get_clim()[1] for mesh in ax.collections)
        ds.tb.distribution(ax=Figure().subplots())


# --- names ---------------------------------------------------------------------------------------------------------

LONG = "model/encoder/layer.11/attention/self/query/weight/and/so/on/for/quite/a/while/until/nothing/fits/any/more"
NAMES = [LONG, LONG.replace("/", "é"), "größe/σ²/λ", r"$\frac{x", "100% a_b^c #1 & {", "x" * 300, " ", ""]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("verb", ["ridgeline", "distribution", "heatmap"])
def test_names_fit_and_are_written_as_they_are(verb, name):
    figure = Figure(figsize=(3.3, 2.6), layout="constrained")
    ax = figure.subplots()
    getattr(series(run=name, tag=name).tb, verb)(ax=ax)
    figure.draw_without_rendering()
    label = ax.xaxis.label if verb == "ridgeline" else ax.yaxis.label
    page = figure.bbox
    for text in (label, ax.title):
        assert text.get_text().replace("\n", "")[:9] == name[:9]
        box = text.get_window_extent()
        if name.strip():
            assert page.x0 - 1 <= box.x0
            assert box.x1 <= page.x1 + 1
            assert page.y0 - 1 <= box.y0
            assert box.y1 <= page.y1 + 1


def test_names_may_be_missing(ax):
    series().drop_vars(["run", "tag"]).tb.ridgeline(ax=ax)
    assert ax.get_xlabel() == "value"
    assert ax.get_title() == ""


@settings(max_examples=100, deadline=None)
@given(st.text("ab/._漢é\u0301", max_size=200), st.floats(0.5, 6), st.floats(5, 14))
def test_labels_are_broken_to_fit(text, inches, points):
    result = style.fit_label(text, inches, points)
    lines = result.split("\n")
    room = max(4, int(72 * inches / (0.62 * points)))
    widths = [sum({"漢": 2, "\u0301": 0}.get(letter, 1) for letter in line) for line in lines]
    assert len(lines) <= 3
    assert max(widths) <= room
    whole = result.replace("\n", "")
    if "…" in whole:
        begin, end = whole.split("…")
        assert text.startswith(begin)
        assert text.endswith(end)
    else:
        assert whole == text


def test_labels_are_broken_at_marks_but_not_inside_numbers():
    name = "version_3/lr=0.001,bs=256,wd=0.05/fold-7"
    for points in (6, 8, 10, 12):
        lines = style.fit_label(name, 1.5, points).split("\n")
        assert len(lines) > 1
        assert not any(a.endswith(".") and b[0].isdigit() for a, b in pairwise(lines))


def drawn_ticks(axis, upright=False):
    """Where the tick labels lie that are seen, as (begin, end) in inches."""
    axis.figure.draw_without_rendering()
    low, high = sorted(axis.get_view_interval())
    seen = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high and tick.label1.get_text()]
    boxes = [tick.label1.get_window_extent() for tick in seen]
    ends = [(box.y0, box.y1) if upright else (box.x0, box.x1) for box in boxes]
    return sorted((a / axis.figure.dpi, b / axis.figure.dpi) for a, b in ends)


@pytest.mark.parametrize("x", ["step", "relative", "wall"])
@pytest.mark.parametrize("verb", ["ridgeline", "distribution", "heatmap"])
@pytest.mark.parametrize("unit", [0.001, 1.0, 7e7])
@pytest.mark.parametrize("width", [1.6, 3.3])
def test_tick_labels_do_not_touch_at_paper_size(verb, x, unit, width):
    """Labels of any length, at the width of a column and of half of one."""
    ds = series(12, steps=np.arange(12) * int(1e5 * unit) + 1)
    ds = ds.assign_coords(
        wall_time=START + unit * (ds["wall_time"] - START), left=unit * (ds["left"] - 5), right=unit * (ds["right"] - 5)
    )
    with mpl.rc_context({"font.size": 8}):
        ax = Figure((width, 2.4), layout="constrained").subplots()
        getattr(ds.tb, verb)(ax=ax, x=x)
        for axis in (ax.xaxis, ax.yaxis):
            ticks = drawn_ticks(axis, upright=axis is ax.yaxis)
            assert len(ticks) >= (2 if width > 3 else 1) or x == "wall"  # its label tells the days
            assert all(b - a > 0.02 for (_, a), (b, _) in pairwise(ticks)), ticks


# --- arguments -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"mode": "stack"}, "mode='stack': expected 'offset' .* or 'overlay'"),
        ({"order": "front"}, "order='front': expected 'back' .* or 'bottom'"),
        ({"x": "time"}, "x='time': expected 'step', 'relative' .* or 'wall'"),
        ({"max_steps": 1}, "max_steps=1: expected at least 2"),
        ({"bins": 0}, "bins=0: expected at least 1 bin"),
    ],
)
def test_ridgeline_refuses_arguments(ax, args, message):
    with pytest.raises(ValueError, match=message):
        series().tb.ridgeline(ax=ax, **args)


def test_plots_of_something_else(ax):
    with pytest.raises(AccessorError, match="no histogram Dataset"):
        xr.Dataset({"a": 1}).tb.ridgeline(ax=ax)
    with pytest.raises(AccessorError, match="rebin"):
        series().mean("step").tb.heatmap(ax=ax)


def test_plots_of_the_counts_alone(ax):
    series()["counts"].tb.ridgeline(ax=ax)
    assert len(ridges(ax)) == 7


def test_accessors_do_not_import_matplotlib():
    code = "import sys, tbframe.accessors.dataset; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- charts --------------------------------------------------------------------------------------------------------


def test_charts_are_drawn_from_the_bottom_outside_pyplot(tmp_path):
    from matplotlib import pyplot as plt

    ds = series(60)
    charts = draw_ridgelines([("a", "w", ds), ("b", "bias", ds)], bins=12)
    assert [(chart.run, chart.tag) for chart in charts] == [("a", "w"), ("b", "bias")]
    assert plt.get_fignums() == []
    [ax] = charts[1].figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("bias", "step", "b")
    np.testing.assert_array_equal(feet(ax)[::-1], 10 * np.round(np.linspace(0, 59, 51)))
    assert {len(path) for path in ridges(ax)} == {14}
    for ending in ("png", "pdf", "svg"):
        charts[0].save(tmp_path / f"chart.{ending}")
        assert (tmp_path / f"chart.{ending}").stat().st_size > 1000


def test_charts_count_again_what_was_rebinned_over_the_steps_drawn():
    ds = series(3).tb.rebin(np.linspace(-100, 100, 401))
    [chart] = draw_ridgelines([("a", "w", ds)], bins=5, max_steps=None)
    assert {len(path) for path in ridges(chart.figure.axes[0])} == {7}
    assert chart.figure.axes[0].get_xlim() == (0, 10)


def test_charts_leave_out_what_is_empty():
    empty = series().assign(counts=series()["counts"] * 0)
    with pytest.warns(UserWarning, match="no ridgeline of tag 'w' of run 'a': all its 7 histograms are empty"):
        charts = draw_ridgelines([("a", "w", empty), ("b", "w", series())])
    assert [chart.run for chart in charts] == ["b"]
    assert draw_ridgelines([]) == []


def test_charts_refuse_arguments():
    with pytest.raises(ValueError, match="bins=0: expected at least 1 bin"):
        draw_ridgelines([], bins=0)
    with pytest.raises(ValueError, match="max_steps=1: expected at least 2"):
        draw_ridgelines([], max_steps=1)


def test_a_chart_is_frozen_and_itself():
    first, second = draw_ridgelines([("a", "w", series()), ("a", "w", series())])
    assert first != second
    assert first == first
    assert repr(first) == "Chart(tag='w', run='a')"
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.tag = "x"


def test_a_ridge_holds_what_rebin_counts(ax):
    rng = np.random.default_rng(0)
    ds = series(5, 40)
    ds["counts"].values[:] = rng.poisson(20, (5, 40))
    ds.tb.ridgeline(ax=ax, bins=9)
    low, high = buckets.value_range(ds["left"], ds["right"], ds["counts"])
    counts = buckets.rebin(ds["left"], ds["right"], ds["counts"], buckets.equal_edges(low, high, 9))
    heights = np.array([path[0, 1] - path[1:-1, 1] for path in ridges(ax)])
    np.testing.assert_allclose(heights / heights.max(), counts / counts.max())
