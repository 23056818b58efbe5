"""`curves`, by what its artists show: positions, colours, order, marks, labels and the caption."""

from __future__ import annotations

import io
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tbframe import series
from tbframe.errors import AccessorError
from tbframe.plotting.curves import CurvesFigure, curves

BLUE, RED, GREEN = "#0072b2", "#d55e00", "#009e73"


def scalars(runs=("a", "b"), tags=("loss",), steps=20, seed=0, **columns):
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product([runs, tags, range(steps)], names=["run", "tag", "step"])
    frame = index.to_frame(index=False)
    frame["wall_time"] = 1.7e9 + frame["step"] * 60.0
    frame["value"] = rng.normal(size=len(frame)) + 3
    return frame.assign(**columns)


def panels(figure):
    return {ax.get_title().replace("\n", ""): ax for ax in figure.axes}


def lines(ax, *, raw=False):
    """Return the curves of a panel: {run: line}."""
    drawn = [line for line in ax.lines if line.get_linestyle() != "None" and (line.get_alpha() is not None) == raw]
    return drawn if raw else {line.get_label(): line for line in drawn}


def marks(ax, marker):
    found = [line for line in ax.lines if line.get_marker() == marker]
    return [tuple(map(float, point)) for line in found for point in line.get_xydata()]


def legend(figure):
    [key] = figure.legends
    handles = [to_hex(handle.get_color()) for handle in key.legend_handles]
    return dict(zip([text.get_text() for text in key.get_texts()], handles, strict=True))


# ---------------------------------------------------------------------------------------------------- what is drawn


def test_a_panel_for_each_tag_and_a_colour_for_each_run():
    frame = scalars(["v10", "v2"], ["z", "a/b"]).astype({"run": "object", "tag": "object"})
    figure = curves(frame)
    assert isinstance(figure, CurvesFigure)
    assert isinstance(figure, Figure)
    assert list(panels(figure)) == ["a/b", "z"]
    for tag, ax in panels(figure).items():
        assert list(lines(ax)) == ["v2", "v10"]
        assert [to_hex(line.get_color()) for line in lines(ax).values()] == [BLUE, RED]
        for run, line in lines(ax).items():
            mine = frame[(frame.run == run) & (frame.tag == tag)]
            np.testing.assert_array_equal(line.get_xydata(), mine[["step", "value"]].to_numpy(float))
    assert legend(figure) == {"v2": BLUE, "v10": RED}
    assert figure.caption() == "a/b, z against the step for 2 runs (v2, v10)."


def test_the_order_of_categories_is_kept_and_the_frame_left_alone():
    frame = scalars(["a", "b", "c"], ["x", "y"])
    frame["run"] = pd.Categorical(frame["run"], ["zz", "c", "b", "a"])
    frame["tag"] = pd.Categorical(frame["tag"], ["y", "x"])
    shuffled = frame.sample(frac=1, random_state=0).sort_values("step", kind="stable").set_index("wall_time")
    before = shuffled.copy()
    figure = curves(shuffled)
    assert list(panels(figure)) == ["y", "x"]
    assert list(lines(figure.axes[0])) == ["c", "b", "a"]
    pd.testing.assert_frame_equal(shuffled, before)


def test_smoothing_is_that_of_tensorboard_with_the_raw_curve_pale_behind():
    frame = scalars(["a"], steps=50)
    [ax] = curves(frame, smooth=0.9).axes
    smoothed, [raw] = lines(ax)["a"], lines(ax, raw=True)
    np.testing.assert_array_equal(smoothed.get_ydata(), series.smooth(frame["value"].to_numpy(), 0.9))
    np.testing.assert_array_equal(raw.get_ydata(), frame["value"])
    assert raw.get_zorder() < smoothed.get_zorder()
    assert raw.get_alpha() < 0.5
    assert raw.get_color() == smoothed.get_color()


def test_bands_of_an_aggregated_frame():
    frame = scalars(["adam", "sgd"], n=5)
    frame = frame.assign(low=frame.value - 1, high=frame.value + 2)
    figure = curves(frame)
    [ax] = figure.axes
    assert [to_hex(band.get_facecolor()[0]) for band in ax.collections] == [BLUE, RED]
    corners = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (corners.min(), corners.max()) == (frame.low[:20].min(), frame.high[:20].max())
    assert (
        "for 2 groups of runs (adam, sgd). Lines show the estimate over 5 runs, bands the columns" in figure.caption()
    )
    made = {"verb": "aggregate", "estimator": "iqm", "band": "ci", "level": 0.9}
    frame.attrs["tbframe"] = {"made": [made]}
    told = "Lines show the interquartile mean over 1 to 5 runs, bands its 90 % bootstrap interval."
    assert told in curves(frame.assign(n=frame["step"].clip(1, 5))).caption()
    assert "Lines show the interquartile mean over 5 runs." in curves(frame.drop(columns=["low", "high"])).caption()


def test_the_caption_tells_what_verbs_did_before():
    frame = scalars(["a/0", "a/1", "b/0", "b/1"])
    kept = frame.tb.downsample(9, "lttb").tb.smooth(0.5).tb.smooth(0)
    assert kept.tb.curves(smooth=0.8).caption() == (
        "loss against the step for 4 runs (a/0, a/1, b/0, b/1). At most 9 values of each run and tag were kept, those of "
        "the largest triangles. Values were smoothed with TensorBoard's debiased moving average (weight 0.5). Curves are "
        "smoothed with TensorBoard's debiased moving average (weight 0.8); what was there before smoothing is pale."
    )
    mean = frame.tb.smooth(half_life_seconds=90).tb.aggregate(r"(?P<group>\w)/", band="minmax").tb.smooth(0.9)
    assert mean.tb.curves().caption() == (
        "loss against the step for 2 groups of runs (a, b). Values were smoothed with a moving average whose weights halve "
        "every 90 seconds. Lines show the mean over 2 runs, bands the smallest and the largest value. Lines were smoothed "
        "with TensorBoard's debiased moving average (weight 0.9), bands were not."
    )


def test_bands_are_smoothed_with_the_curve():
    frame = scalars(["a"])
    frame = frame.assign(low=frame.value - 1, high=frame.value + 1)
    [ax] = curves(frame, smooth=0.5).axes
    corners = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert corners.max() == pytest.approx(series.smooth(frame["high"].to_numpy(), 0.5).max())


# ---------------------------------------------------------------------------------------------------- the x axis


def test_relative_counts_from_the_first_value_of_the_run():
    frame = scalars(["a", "b"], ["x", "y"], steps=200)
    frame.loc[frame.run == "b", "wall_time"] += 1000
    frame.loc[frame.tag == "y", "wall_time"] += 60
    figure = curves(frame, x="relative")
    for tag, start in (("x", 0.0), ("y", 1 / 60)):
        for line in lines(panels(figure)[tag]).values():
            np.testing.assert_allclose(line.get_xdata(), start + np.arange(200) / 60, atol=1e-9)
    assert figure.get_supxlabel() == "time (h)"
    assert "against the time since the run's first value" in figure.caption()
    own = curves(frame.assign(relative=np.arange(len(frame)) * 0.1), x="relative")
    assert own.get_supxlabel() == "time (s)"
    assert lines(own.axes[0])["a"].get_xdata()[1] == 0.1


def test_wall_is_a_date_in_utc():
    frame = scalars(["a"], steps=200)
    figure = curves(frame, x="wall")
    [ax] = figure.axes
    np.testing.assert_array_equal(lines(ax)["a"].get_xdata(), frame["wall_time"] / 86400)
    assert figure.get_supxlabel() == "wall time (2023-11-14 … 2023-11-15, UTC)"
    figure.draw_without_rendering()
    assert "Nov-15" in [label.get_text() for label in ax.get_xticklabels()]


def test_another_tag_is_an_x_axis():
    frame = scalars(["a", "b"], ["epoch", "loss"], steps=10)
    epoch = frame.tag == "epoch"
    frame.loc[epoch, "value"] = frame.step[epoch] / 3 + (frame.run[epoch] == "b") * 100
    extra = frame[epoch & (frame.run == "a") & (frame.step == 8)].assign(value=7.0)  # logged again
    frame = frame[~epoch | (frame.step % 2 == 0)]  # between the steps it has, it is interpolated
    figure = curves(pd.concat([frame, extra]), x="epoch")
    assert list(panels(figure)) == ["loss"]
    drawn = lines(figure.axes[0])
    np.testing.assert_allclose(drawn["b"].get_xdata()[:9], 100 + np.arange(9) / 3)
    np.testing.assert_allclose(drawn["a"].get_xdata()[[6, 7, 8]], [2, (2 + 7) / 2, 7])
    assert np.isnan(drawn["a"].get_ydata()[9])
    assert figure.get_supxlabel() == "epoch"
    assert figure.caption().endswith("2 points without a place on the x axis are left out.")


def test_a_column_is_an_x_axis():
    frame = scalars(["a"]).assign(active=lambda f: f.step * 2.5)
    figure = curves(frame, x="active")
    np.testing.assert_array_equal(lines(figure.axes[0])["a"].get_xdata(), frame["active"])
    assert figure.get_supxlabel() == "active"


def test_panels_share_the_x_axis_where_they_span_about_the_same():
    frame = scalars(["a"], ["x", "y"])
    first, second = curves(frame).axes
    assert first.get_shared_x_axes().joined(first, second)
    frame.loc[frame.tag == "y", "step"] *= 1000
    first, second = curves(frame).axes
    assert not first.get_shared_x_axes().joined(first, second)


# ---------------------------------------------------------------------------------------------------- scales


def test_log_scales_leave_out_what_is_not_positive_and_say_so():
    frame = scalars(["a"]).assign(value=lambda f: np.where(f.step == 5, -1.0, f.value + 1))
    figure = curves(frame, log="y")
    [ax] = figure.axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
    assert np.isnan(lines(ax)["a"].get_ydata()).tolist() == (frame.step == 5).tolist()
    assert "The y axis is logarithmic, without 1 point not above 0." in figure.caption()
    both = curves(frame, log="xy")
    assert both.axes[0].get_xscale() == "log"
    assert "Both axes are logarithmic, without 2 points not above 0." in both.caption()
    [raw] = lines(curves(frame, log="y", smooth=0.3).axes[0], raw=True)
    assert np.isnan(raw.get_ydata()[5])


def texts(axis):
    """Return the labels of an axis that are to be seen, as they are read."""
    axis.figure.draw_without_rendering()
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    seen = [tick.label1.get_text() for tick in ticks if low <= tick.get_loc() <= high]
    return [text.replace("$", "") for text in seen if text]


def test_ticks_are_steps_and_numbers_as_people_write_them():
    frame = scalars(["a"], steps=2000).assign(value=lambda f: 0.2 + f.step / 1000)
    [ax] = curves(frame, log="y").axes
    assert {"0.2", "0.4", "1", "2"} <= set(texts(ax.yaxis))
    assert texts(ax.xaxis) == ["0", "500", "1k", "1.5k", "2k"]
    [ax] = curves(frame.assign(value=lambda f: f.value * 1e-6), log="y").axes
    assert all("10^" in text for text in texts(ax.yaxis))
    [ax] = curves(frame[frame.step == 7]).axes
    assert texts(ax.xaxis) == ["7"]
    narrow = curves(frame.assign(step=frame.step * 10**9), width=1.5).axes[0]
    assert texts(narrow.xaxis) == ["0", "1T", "2T"]


def test_the_tag_without_a_name_is_written_so():
    figure = curves(scalars(["a"], ["", "loss"]))
    assert list(panels(figure)) == ['""', "loss"]
    assert figure.caption() == '"", loss against the step for 1 run (a).'


def test_outliers_are_ignored_as_tensorboard_does():
    frame = scalars(["a", "b"], ["x", "y"], steps=50)
    frame.loc[frame.step == 25, "value"] = 1e6
    frame.loc[3, "value"] = np.nan
    figure = curves(frame, ignore_outliers=True)
    outside = 0
    for tag, ax in panels(figure).items():
        ordered = np.sort(frame.value[(frame.tag == tag) & np.isfinite(frame.value)])
        last = len(ordered) - 1
        low, high = ordered[int(np.ceil(0.05 * last))], ordered[int(np.floor(0.95 * last))]
        margin = 0.05 * (high - low)
        assert ax.get_ylim() == pytest.approx((low - margin, high + margin))
        outside += np.count_nonzero((ordered < low) | (ordered > high))
    assert (
        f"5th to the 95th percentile of the values, as TensorBoard's do when it ignores outliers; {outside} values are"
        in (figure.caption())
    )
    assert curves(frame).axes[0].get_ylim()[1] > 1e6
    log = curves(frame, ignore_outliers=True, log="y").axes[0]
    assert 0 < log.get_ylim()[0] < log.get_ylim()[1] < 1e3


@pytest.mark.parametrize("value", [[2.0] * 20, [0.0] * 20, [1.0, 2.0]])
def test_outliers_of_constant_and_short_series(value):
    frame = scalars(["a"], steps=len(value)).assign(value=value)
    low, high = curves(frame, ignore_outliers=True).axes[0].get_ylim()
    assert low < min(value) <= max(value) < high


# ---------------------------------------------------------------------------------------------------- what is no number


def test_nan_and_infinities_are_marked_and_break_the_curve():
    value = np.array([np.nan, 1.0, np.nan, 3.0, np.inf, 5.0, -np.inf, 7.0, 8.0, np.nan])
    figure = curves(scalars(["a"], steps=10).assign(value=value))
    [ax] = figure.axes
    assert marks(ax, "x") == [(0, 1), (2, 1), (9, 8)]
    assert marks(ax, "^") == [(4, 3)]
    assert marks(ax, "v") == [(6, 5)]
    assert marks(ax, "o") == [(1, 1), (3, 3), (5, 5)]
    np.testing.assert_array_equal(lines(ax)["a"].get_ydata(), np.where(np.isfinite(value), value, np.nan))
    assert "Crosses mark 3 values that are NaN. Triangles mark 2 infinite values." in figure.caption()


def test_a_series_without_a_number_and_a_single_point():
    frame = pd.concat([scalars(["a"], steps=3).assign(value=np.nan), scalars(["b"], steps=1)])
    figure = curves(frame)
    [ax] = figure.axes
    assert len(marks(ax, "o")) == 1
    assert marks(ax, "x") == []
    assert "Crosses mark 3 values that are NaN." in figure.caption()
    figure.savefig(io.BytesIO(), format="png")


def test_wall_times_that_are_no_time_are_counted():
    frame = scalars(["a"]).assign(wall_time=lambda f: np.where(f.step < 3, np.nan, f.wall_time))
    for x in ("wall", "relative"):
        figure = curves(frame, x=x)
        assert "3 points without a place on the x axis are left out." in figure.caption()
        figure.savefig(io.BytesIO(), format="png")


# ---------------------------------------------------------------------------------------------------- thinning


def test_long_curves_are_thinned_after_smoothing_without_losing_extremes():
    frame = scalars(["a", "b"], steps=20_000)
    frame.loc[7_777, "value"] = 99.0
    frame.loc[12_000:12_100, "value"] = np.nan
    figure = curves(frame, width=3.3, smooth=0.5)
    [ax] = figure.axes
    smoothed = series.smooth(frame["value"][:20_000].to_numpy(), 0.5)
    line = lines(ax)["a"]
    points = int(200 * 3.3)
    assert len(line.get_xdata()) <= points + 1
    at = line.get_xdata().astype(int)
    kept = np.isfinite(line.get_ydata())
    np.testing.assert_allclose(line.get_ydata()[kept], smoothed[at][kept], rtol=1e-12)
    assert (at[0], at[-1]) == (0, 19_999)
    assert np.nanmax(line.get_ydata()) == pytest.approx(np.nanmax(smoothed), rel=1e-12)
    assert np.nanmin(line.get_ydata()) == pytest.approx(np.nanmin(smoothed), rel=1e-12)
    assert 12_000 in at[~kept]
    assert 99.0 in lines(ax, raw=True)[0].get_ydata()
    assert len(marks(ax, "x")) == 20
    assert (
        "2 curves of more than 660 points were thinned for drawing, after smoothing, to the extremes"
        in figure.caption()
    )
    assert "thinned" not in curves(frame[frame.step < 600]).caption()


def test_many_curves_are_thinned_more():
    runs = [f"r{i}" for i in range(120)]
    steps = 1500
    frame = pd.DataFrame(
        {"run": np.repeat(runs, steps), "tag": "loss", "step": np.tile(range(steps), 120), "value": 0.0}
    ).assign(value=lambda f: np.sin(f.step / 50.0))
    [ax] = curves(frame).axes[:1]
    assert {len(line.get_xdata()) for line in lines(ax).values()} == {500}
    assert "120 curves of more than 500 points were thinned" in curves(frame).caption()


def test_the_values_of_bands_are_kept_when_thinned():
    frame = scalars(["a"], steps=5000).assign(low=lambda f: f.value - 1, high=lambda f: f.value + 1)
    frame.loc[2222, "high"] = 50.0
    frame.loc[3333, "low"] = -50.0
    [ax] = curves(frame).axes
    corners = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (corners.min(), corners.max()) == (-50.0, 50.0)


# ---------------------------------------------------------------------------------------------------- colours and keys


def test_a_column_gives_colours():
    frame = scalars(["a", "b", "c"]).assign(optimizer=lambda f: f.run.map({"a": "sgd", "b": "adam", "c": "sgd"}))
    figure = curves(frame, color="optimizer")
    assert {run: to_hex(line.get_color()) for run, line in lines(figure.axes[0]).items()} == {
        "a": RED,
        "b": BLUE,
        "c": RED,
    }
    assert legend(figure) == {"adam": BLUE, "sgd": RED}
    assert figure.legends[0].get_title().get_text() == "optimizer"
    assert "Colours stand for optimizer (adam, sgd)." in figure.caption()


def test_numbers_get_colours_in_their_order_and_missing_ones_grey():
    lr = {"a": 0.1, "b": 0.001, "c": 0.01, "d": np.nan}
    figure = curves(scalars(list(lr)).assign(lr=lambda f: f.run.map(lr)), color="lr")
    assert list(legend(figure)) == ["0.001", "0.01", "0.1", "missing"]
    assert legend(figure)["missing"] == "#b0b0b0"
    luminance = [int(colour[1:3], 16) + 2 * int(colour[3:5], 16) for colour in list(legend(figure).values())[:3]]
    assert luminance == sorted(luminance)


def test_booleans_and_categories_give_colours():
    frame = scalars(["a", "b"]).assign(
        flag=lambda f: f.run == "a", size=lambda f: pd.Categorical(f.run, ["b", "x", "a"])
    )
    assert list(legend(curves(frame, color="flag"))) == ["False", "True"]
    assert list(legend(curves(frame, color="size"))) == ["b", "a"]


def test_many_runs_differ_in_colour_and_dashes_and_very_many_get_a_scale():
    some = curves(scalars([f"r{i}" for i in range(21)], steps=2))
    looks = {(to_hex(line.get_color()), str(line._dash_pattern)) for line in lines(some.axes[0]).values()}
    assert len(looks) == 21
    assert len(legend(some)) == 21
    many = curves(scalars([f"r{i}" for i in range(22)], steps=2))
    assert len({to_hex(line.get_color()) for line in lines(many.axes[0]).values()}) == 22
    assert many.legends == []
    bar = many.axes[-1]
    many.draw_without_rendering()
    assert [label.get_text() for label in bar.get_xticklabels()] == ["r0", "r21"]
    assert bar.get_xlabel() == "runs (22)"
    assert many.caption() == "loss against the step for 22 runs."


def test_a_single_run_has_no_legend():
    assert curves(scalars(["a"])).legends == []


def test_names_are_shown_as_they_are():
    runs = ["exp/$x^2$", "exp/_hidden", "exp/100%"]
    figure = curves(scalars(runs, ["$loss_{1}$"]))
    figure.savefig(io.BytesIO(), format="png")
    assert set(legend(figure)) == {"$x^2$", "_hidden", "100%"}
    assert figure.legends[0].get_title().get_text() == "runs in exp"
    title = figure.axes[0].title
    assert (title.get_text(), title.get_parse_math()) == ("$loss_{1}$", False)
    assert not any(text.get_parse_math() for text in figure.legends[0].get_texts())


@pytest.mark.parametrize("width", [3.3, 6.8])
@pytest.mark.parametrize("runs", [2, 7, 40])
@pytest.mark.parametrize("tags", [1, 3])
def test_the_key_covers_no_panel_and_nothing_leaves_the_figure(width, runs, tags):
    names = [f"experiments/of/some/length/optimizer=adam,lr=0.{i:03d},batch=64" for i in range(runs)]
    figure = curves(scalars(names, [f"validation/some_metric_{i}" for i in range(tags)], steps=5), width=width)
    figure.draw_without_rendering()
    assert figure.get_figwidth() == width
    boxes = [ax.get_window_extent() for ax in figure.axes[:tags]]
    assert all(box.height > 0.5 * figure.dpi for box in boxes)
    inside = figure.bbox.padded(1)
    for artist in [*figure.legends, *figure.axes, figure._supxlabel]:
        box = artist.get_tightbbox() if hasattr(artist, "lines") else artist.get_window_extent()
        assert box.x0 >= inside.x0
        assert box.x1 <= inside.x1
        assert box.y0 >= inside.y0
        assert box.y1 <= inside.y1
    for key in figure.legends:
        assert not any(key.get_window_extent().overlaps(ax.get_tightbbox()) for ax in figure.axes)
    for ax in figure.axes[:tags]:
        spans = [
            label.get_window_extent() for label in ax.get_xticklabels() if label.get_visible() and label.get_text()
        ]
        assert all(not a.overlaps(b) for a, b in pairwise(spans))


# ---------------------------------------------------------------------------------------------------- files


def test_letters_are_letters_in_pdf_and_svg(tmp_path):
    figure = curves(scalars(["run-one", "run-two"]))
    figure.savefig(tmp_path / "x.svg")
    assert ">run-one</text>" in re.sub(r"\s*\n\s*", "", (tmp_path / "x.svg").read_text())
    figure.savefig(tmp_path / "x.pdf")
    pdf = (tmp_path / "x.pdf").read_bytes()
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf
    assert figure._repr_png_().startswith(b"\x89PNG")


# ---------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"smooth": 2}, r"weight=2: expected a number from 0 \(no smoothing\) to 1"),
        ({"log": "z"}, "log='z': expected '', 'x', 'y' or 'xy'"),
        ({"width": 0}, "width=0: expected inches, 1 or more"),
        ({"width": float("nan")}, "width=nan: expected inches"),
        (
            {"x": "stpe"},
            r"x='stpe': expected 'step', 'relative', 'wall', a column of numbers or a tag\. Did you mean 'step'",
        ),
        ({"x": "run"}, "x='run': expected 'step'"),
        ({"color": "lr"}, r"color='lr': expected 'run' or a column of the frame, which are \['run', "),
        ({"color": "value"}, "color='value': the column varies within run 'a', tag 'loss'; a curve has one colour"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        curves(scalars(), **arguments)


def test_frames_that_cannot_be_drawn():
    with pytest.raises(AccessorError, match=r"curves\(\) needs the column 'value'"):
        curves(scalars().drop(columns="value"))
    with pytest.raises(AccessorError, match=r"curves\(\) needs the column 'wall_time'"):
        curves(scalars().drop(columns="wall_time"), x="relative")
    with pytest.raises(AccessorError, match=r"curves\(\) needs the column 'step'"):
        curves(scalars().drop(columns="step"))
    with pytest.raises(TypeError, match="value: expected numbers"):
        curves(scalars(value="x"))
    with pytest.raises(ValueError, match=r"nothing to draw: the frame has no rows$"):
        curves(scalars().iloc[:0])
    with pytest.raises(ValueError, match=r"nothing to draw: the frame has no rows but those of 'loss'"):
        curves(scalars(), x="loss")
    with pytest.raises(ValueError, match=r"the frame has 101; at most 100 fit\. df\.tb\.select"):
        curves(scalars(["a"], [f"t{i}" for i in range(101)], steps=1))
