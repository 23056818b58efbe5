"""Precision-recall curves and meshes as Datasets: what TensorBoard serves, every shape, and the plot."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from conftest import expected, log_path
from hypothesis import given, settings
from hypothesis import strategies as st
from media_logs import Value, read, start, strings, tensor, write

from tbframe import AccessorError, RestartWarning, UndecodableValueWarning
from tbframe.events.messages import message_class
from tbframe.kinds.pr_curves import _joined_thresholds
from tbframe.kinds.stacking import SeriesRows, make_grid
from tbframe.plotting.pr_curve import draw_pr_curve, pr
from tbframe.verbs.pr_verbs import at_step, trim

NAN = float("nan")
COUNTS = {"tp": "true_positives", "fp": "false_positives", "tn": "true_negatives", "fn": "false_negatives"}


def curve(step: int, rows, tag: str = "pr", **form) -> Value:
    return tensor(step, np.asarray(rows, np.float32), tag, "pr_curves", **form)


def some_curve(n: int, scale: float = 1.0) -> np.ndarray:
    """Six rows of numbers that tell where they belong."""
    return (np.arange(6)[:, np.newaxis] * 100.0 + np.arange(n)) * scale


# What TensorBoard serves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("server", ["", "-fast"])
def test_every_curve_that_tensorboard_serves(log, server):
    answer = expected(log + server)["pr_curves"]
    runs = {(run, tag) for run, tags in answer["tags"].items() for tag in tags}
    seen = 0
    for run, tag in runs:
        ds = read("pr_curves", log_path(log), runs=run, tags=tag)
        served = answer["data"][run][tag][run]
        assert ds["step"].values.tolist() == [point["step"] for point in served]
        assert ds["wall_time"].values.tolist() == [point["wall_time"] for point in served]
        for i, point in enumerate(served):
            one = ds.isel(step=i)
            # TensorBoard cuts the end, where int(tp) + int(fp) is 0, and makes counts whole.
            n = max(1, np.flatnonzero(one["tp"].values.astype(int) + one["fp"].values.astype(int))[-1] + 1)
            assert one["threshold"].values[:n].tolist() == point["thresholds"]
            for name, key in COUNTS.items():
                assert one[name].values[:n].astype(int).tolist() == point[key]
            for name in ("precision", "recall"):
                assert one[name].values[:n].tolist() == point[name]
            assert np.count_nonzero(trim(one)["precision"].notnull()) == n
            seen += 1
    assert seen == {"torch": 7, "tensorboardx": 7, "tf1": 36, "tf2": 0}[log]


def test_curves_are_not_cut():
    assert read("pr_curves", log_path("torch")).sizes == {"step": 7, "threshold": 21}
    assert read("pr_curves", log_path("tf1")).sizes == {"run": 2, "step": 30, "threshold": 11}
    assert not read("pr_curves", log_path("torch")).isnull().any().to_array().any()


def test_rows_are_named_in_their_order(tmp_path):
    ds = read("pr_curves", write(tmp_path, curve(4, some_curve(3))))
    for i, name in enumerate(("tp", "fp", "tn", "fn", "precision", "recall")):
        assert ds[name].dtype == np.float64
        assert ds[name].dims == ("step", "threshold")
        assert ds[name].values.tolist() == [[100.0 * i, 100.0 * i + 1, 100.0 * i + 2]]
    assert ds["threshold"].values.tolist() == [0.0, 0.5, 1.0]
    assert (ds["run"].item(), ds["tag"].item(), ds["run"].dtype) == ("run", "pr", object)
    assert ds["wall_time"].values.tolist() == [1000.0]
    assert all(type(value) in (str, int) for value in ds.attrs.values())


def test_counts_below_one(tmp_path):
    """Weighted counts may be fractions, which TensorBoard takes for 0."""
    rows = np.array(
        [[0.5, 0.25, 0.125, 0], [0.5, 0.25, 0, 0], [0, 1, 1, 1], [0, 1, 1, 1], [0.5, 0.5, 1, 0], [1, 0.5, 0.25, 0]]
    )
    ds = read("pr_curves", write(tmp_path, curve(0, rows))).isel(step=0)
    assert ds["tp"].values.tolist() == [0.5, 0.25, 0.125, 0.0]
    trimmed = trim(ds)
    assert trimmed["precision"].fillna(-1).values.tolist() == [0.5, 0.5, 1.0, -1.0]
    assert trimmed["tn"].isnull().values.tolist() == [False, False, False, True]


def test_typed_lists_and_other_types(tmp_path):
    shape = {"dim": [{"size": 6}, {"size": 2}]}
    listed = Value(0, "pr", {"tensor": {"dtype": 1, "tensor_shape": shape, "float_val": [0.1] * 12}}, "pr_curves")
    splat = Value(1, "pr", {"tensor": {"dtype": 1, "tensor_shape": shape, "float_val": [3.0]}}, "pr_curves")
    wide = tensor(2, np.full((6, 2), 0.1), "pr", "pr_curves")
    whole = tensor(3, np.full((6, 2), 5, np.int64), "pr", "pr_curves")
    ds = read("pr_curves", write(tmp_path, listed, splat, wide, whole))
    assert ds["recall"].values.tolist() == [[float(np.float32(0.1))] * 2, [3.0] * 2, [0.1] * 2, [5.0] * 2]


def test_values_that_are_no_curve(tmp_path):
    good = curve(99, some_curve(2))
    bad = [
        (curve(5, np.zeros((5, 3))), r"expected 6 rows of numbers \(tp, fp, .*\), found float32 of shape \[5, 3\]"),
        (curve(5, np.zeros(6)), r"found float32 of shape \[6\]"),
        (curve(5, 1.0), r"found float32 of shape \[\]"),
        (strings(5, [b"x"] * 6, [6, 1], "pr_curves", "pr"), r"found object of shape \[6, 1\]"),
        (Value(5, "pr", {"tensor": {"dtype": 1, "tensor_content": b"xxx"}}, "pr_curves"), "does not fit float32"),
    ]
    for i, (value, reason) in enumerate(bad):
        with pytest.warns(
            UndecodableValueWarning, match=f"pr_curves: run 'run', tag 'pr': 1 value .* step 5: .*{reason}"
        ):
            ds = read("pr_curves", write(tmp_path / str(i), value, good))
        assert ds["step"].values.tolist() == [99]


# Shapes of the cube ---------------------------------------------------------------------------------------------------


@pytest.fixture
def sweep(tmp_path):
    """Two runs with two tags, steps that differ."""
    write(tmp_path, curve(0, some_curve(3)), curve(5, some_curve(3, 2)), curve(0, some_curve(3, 3), "other"), run="a")
    return write(tmp_path, curve(5, some_curve(3, 4)), curve(7, some_curve(3, 5)), run="b")


def test_names_squeeze_and_lists_do_not(sweep):
    assert read("pr_curves", sweep).sizes == {"run": 2, "tag": 2, "step": 3, "threshold": 3}
    assert read("pr_curves", sweep, tags="pr").sizes == {"run": 2, "step": 3, "threshold": 3}
    assert read("pr_curves", sweep, tags=["pr"]).sizes == {"run": 2, "tag": 1, "step": 3, "threshold": 3}
    assert read("pr_curves", sweep, runs="a", tags="pr").sizes == {"step": 2, "threshold": 3}
    assert read("pr_curves", sweep, runs="b").sizes == {"step": 2, "threshold": 3}
    assert read("pr_curves", sweep, runs=["b"]).sizes == {"run": 1, "step": 2, "threshold": 3}


def test_series_are_joined_by_step(sweep):
    ds = read("pr_curves", sweep)
    assert ds["step"].values.tolist() == [0, 5, 7]
    assert ds["tp"].dims == ("run", "tag", "step", "threshold")
    found = ds["fp"].sel(threshold=0.5).transpose("run", "tag", "step")
    want = [[[303, NAN, NAN], [101, 202, NAN]], [[NAN, NAN, NAN], [NAN, 404, 505]]]
    assert ds["tag"].values.tolist() == ["other", "pr"]
    assert np.array_equal(found, want, equal_nan=True)
    assert np.array_equal(ds["wall_time"].notnull(), found.notnull())
    each = read("pr_curves", sweep, runs="b", tags="pr")
    joined = ds.sel(run="b", tag="pr").dropna("step", subset=["wall_time"])
    assert each.drop_attrs().equals(joined.drop_attrs())


def test_steps_that_repeat(tmp_path):
    values = [curve(step, some_curve(2, scale)) for step, scale in [(3, 1), (1, 2), (3, 3), (3, 4)]]
    with pytest.warns(RestartWarning, match="in 2 rows the step repeats or goes back"):
        alone = read("pr_curves", write(tmp_path, *values, run="a"))
    assert alone["step"].values.tolist() == [3, 1, 3, 3]
    assert alone["fp"].isel(threshold=0).values.tolist() == [100, 200, 300, 400]
    write(tmp_path, curve(1, some_curve(2)), run="b")
    with pytest.warns(
        RestartWarning, match=r"pr_curves: 2 values were left out whose step is logged again .* Name one run"
    ):
        both = read("pr_curves", tmp_path)
    assert both["step"].values.tolist() == [1, 3]
    assert both["fp"].isel(threshold=0).sel(run="a").values.tolist() == [200, 400]
    assert both.attrs["repeats"] == 2


def test_steps_that_fall(tmp_path):
    for run in "ab":
        write(tmp_path, curve(7, some_curve(2, 7)), curve(2, some_curve(2, 2)), run=run)
    ds = read("pr_curves", tmp_path)
    assert ds["step"].values.tolist() == [2, 7]
    assert ds["fp"].isel(threshold=0).values.tolist() == [[200, 700]] * 2


def test_thresholds_of_several_lengths(tmp_path):
    lengths = [3, 11, 21, 1, 0]
    ds = read("pr_curves", write(tmp_path, *[curve(i, some_curve(n)) for i, n in enumerate(lengths)]))
    assert ds.sizes == {"step": 5, "threshold": 21}
    assert np.array_equal(ds["threshold"], np.linspace(0, 1, 21))
    for i, n in enumerate(lengths):
        at = np.linspace(0, 20, n).astype(int)
        assert np.array_equal(np.flatnonzero(ds["tn"].isel(step=i).notnull()), at)
        assert ds["tn"].isel(step=i, threshold=at).values.tolist() == some_curve(n)[2].tolist()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=3))
def test_thresholds_that_are_equal_are_one(lengths):
    thresholds, places = _joined_thresholds(sorted(set(lengths)))
    assert len(thresholds) == len({Fraction(i, max(n - 1, 1)) for n in lengths for i in range(n)})
    assert (np.diff(thresholds) > 0).all()
    for n, at in zip(sorted(set(lengths)), places, strict=True):
        assert np.allclose(thresholds[at], np.linspace(0, 1, n), rtol=0, atol=1e-15)
    if len(set(lengths)) == 1:
        assert thresholds.tolist() == np.linspace(0, 1, lengths[0]).tolist()


def test_restarts(tmp_path):
    log = write(tmp_path, curve(0, some_curve(2)), curve(1, some_curve(2)), start(1), curve(1, some_curve(2, 3)))
    with pytest.warns(RestartWarning):
        assert read("pr_curves", log)["fp"].isel(threshold=0).values.tolist() == [100, 300]
    marked = read("pr_curves", log, restarts="mark")
    assert marked["superseded"].values.tolist() == [False, True, False]
    assert marked["session"].values.tolist() == [0, 0, 1]
    write(tmp_path, curve(5, some_curve(2)), run="z")
    with pytest.warns(RestartWarning):
        joined = read("pr_curves", tmp_path, restarts="mark")
    assert joined["session"].values.tolist() == [[0, 1, -1], [-1, -1, 0]]
    assert joined["superseded"].dtype == bool


@pytest.mark.parametrize("kind", ["pr_curves", "meshes"])
def test_a_log_without_any(kind):
    ds = read(kind, log_path("tf2" if kind == "pr_curves" else "tf1"))
    assert ds.sizes["step"] == 0
    full = read(kind, log_path("torch"))
    assert set(ds.variables) == set(full.variables)
    assert {name: ds[name].dtype for name in ds.variables} == {name: full[name].dtype for name in ds.variables}


@pytest.mark.parametrize("kind", ["pr_curves", "meshes"])
@pytest.mark.parametrize("engine", ["netcdf4", "zarr"])
@pytest.mark.filterwarnings("ignore:Consolidated metadata", "ignore:The codec", "ignore:.*Zarr format 3")
def test_saving_and_loading(kind, engine, tmp_path):
    if engine == "zarr":
        zarr = pytest.importorskip("zarr")
        if zarr.__version__ >= "3" and tuple(map(int, xr.__version__.split(".")[:2])) < (2024, 10):
            pytest.skip("this xarray does not know zarr 3")
    for log in ("torch", "tf1" if kind == "pr_curves" else "tf2"):
        ds = read(kind, log_path(log))
        if engine == "zarr":
            ds.to_zarr(tmp_path / log)
            loaded = xr.open_zarr(tmp_path / log).load()
        else:
            ds.to_netcdf(tmp_path / f"{log}.nc")
            loaded = xr.load_dataset(tmp_path / f"{log}.nc")
        assert loaded.equals(ds)
        assert loaded.attrs == ds.attrs


def test_a_cube_that_is_mostly_padding_is_refused():
    n = 3000
    rows = SeriesRows([f"r{i}" for i in range(n)], ["t"], np.arange(n), np.zeros(n, np.int64), np.arange(n))
    grid = make_grid("pr_curves", rows, None, None)
    assert grid.fill(np.ones(n), np.nan).shape == (n, n)
    message = (
        r"run 3,000 × step 3,000 would hold 180,000,000 numbers, of which 0.0% were logged: read fewer runs and tags"
    )
    with pytest.raises(ValueError, match=message):
        grid.fill(np.broadcast_to(1.0, (n, 20)), np.nan)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(-2, 3)), max_size=12), st.booleans())
def test_every_row_lies_where_it_belongs(rows, named):
    rows.sort(key=lambda row: row[:2])
    run, tag, step = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    if named and len(set(tag.tolist())) > 1:
        named = False
    values = np.arange(1.0, len(rows) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RestartWarning)
        grid = make_grid(
            "x", SeriesRows(["a", "b", "c"], ["s", "t"], run, tag, step), None, "t" if named else ["s", "t"]
        )
    cube = xr.DataArray(grid.fill(values, NAN), grid.coords, grid.dims)
    last = {(r, t, s): value for (r, t, s), value in zip(rows, values.tolist(), strict=True)}
    several = len({row[:2] for row in rows}) > 1
    assert sorted(cube.values[~np.isnan(cube.values)].tolist()) == sorted(last.values() if several else values.tolist())
    if several:
        for (r, t, s), value in last.items():
            where = {"run": "abc"[r], "tag": "st"[t], "step": s}
            assert cube.sel({dim: where[dim] for dim in cube.dims}).item() == value
    assert grid.repeats == (len(rows) - len(last) if several else 0)


# One step -------------------------------------------------------------------------------------------------------------


def test_the_last_curve_at_a_step_or_before(sweep):
    ds = read("pr_curves", sweep, tags="pr")
    last = at_step(ds)
    assert last["step"].values.tolist() == [5, 7]
    assert last["fp"].isel(threshold=0).values.tolist() == [200, 500]
    assert at_step(ds, 6)["step"].values.tolist() == [5, 5]
    early = at_step(ds, 4)
    assert early["fp"].isel(threshold=0).fillna(-1).values.tolist() == [100, -1]
    one = at_step(read("pr_curves", sweep, runs="b"), 5)
    assert (one["step"].item(), one["fp"].values[0]) == (5, 400)
    with pytest.raises(ValueError, match=r"step=-1: no curve was logged up to there; the Dataset has steps 0 ... 7"):
        at_step(ds, -1)
    with pytest.raises(ValueError, match="no steps"):
        at_step(ds.isel(step=slice(0)))


def test_foreign_datasets():
    ds = xr.Dataset({"counts": ("bin", [1.0])})
    for verb in (trim, at_step, pr):
        with pytest.raises(
            AccessorError, match=rf"{verb.__name__}\(\) needs the variable '.*' over 'threshold', .*: 'counts'"
        ):
            verb(ds)
    with pytest.raises(AccessorError, match="needs the dimension 'step'"):
        at_step(read("pr_curves", log_path("torch")).isel(step=0))


# The plot -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def closing():
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.usefixtures("closing")
def test_the_plot_of_one_series():
    ds = read("pr_curves", log_path("torch"))
    ax = pr(ds)
    (line,) = ax.lines
    last = trim(ds.isel(step=-1)).dropna("threshold")
    assert 0 < last.sizes["threshold"] < 21
    assert np.array_equal(line.get_xdata(), last["recall"])
    assert np.array_equal(line.get_ydata(), last["precision"])
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(), legend(ax)) == (
        "recall",
        "precision",
        "is_three",
        ["step 59"],
    )
    (line,) = pr(ds, step=15).lines
    assert np.array_equal(line.get_xdata(), trim(ds.sel(step=10)).dropna("threshold")["recall"])
    (line,) = pr(ds.isel(step=0)).lines
    assert line.get_label() == "step 0"


@pytest.mark.usefixtures("closing")
def test_the_plot_of_several_runs():
    ax = pr(read("pr_curves", log_path("tf1")))
    assert legend(ax) == ["eval · step 25", "train · step 29"]
    assert len({line.get_color() for line in ax.lines}) == 2


@pytest.mark.usefixtures("closing")
def test_the_plot_of_several_steps():
    ds = read("pr_curves", log_path("torch"))
    ax = pr(ds, step=[0, 30, 59], cmap="magma")
    assert legend(ax) == ["step 0", "step 30", "step 59"]
    lightness = [sum(line.get_color()[:3]) for line in ax.lines]
    assert lightness == sorted(lightness)
    assert lightness[0] < lightness[-1]
    many = pr(read("pr_curves", log_path("tf1"), runs="train"), step=range(30))
    assert len(many.lines) == 30
    assert len(legend(many)) == 10
    both = pr(read("pr_curves", log_path("tf1")), step=[5, 10])
    assert [line.get_linestyle() for line in both.lines] == ["-", "--", "-", "--"]


@pytest.mark.usefixtures("closing")
def test_the_plot_of_several_tags(sweep):
    from matplotlib import pyplot as plt

    ds = read("pr_curves", sweep)
    axes = pr(ds)
    assert [ax.get_title() for ax in axes] == ["other", "pr"]
    assert [len(ax.lines) for ax in axes] == [1, 2]
    own = plt.subplots(1, 2)[1]
    assert pr(ds, ax=own).tolist() == own.tolist()
    with pytest.raises(ValueError, match="ax: 1 Axes for 2 panels"):
        pr(ds, ax=own[0])


@pytest.mark.usefixtures("closing")
def test_names_are_no_mathematics(tmp_path):
    write(tmp_path, curve(0, some_curve(3), "$t_1$"), run="$x$")
    ax = pr(read("pr_curves", write(tmp_path, curve(0, some_curve(3), "$t_1$"), run="b")))
    assert ax.get_title() == "$t_1$"
    assert not any(text.get_parse_math() for text in (ax.title, *ax.get_legend().get_texts()))


@pytest.mark.usefixtures("closing")
def test_an_array_that_is_drawn():
    from matplotlib import pyplot as plt

    ax = plt.subplots()[1]
    line = draw_pr_curve(ax, [1.0, NAN, 0.5], [0.2, 0.3, 1.0], color="red", label="a")
    assert line.get_xdata().tolist() == [1.0, 0.5]
    assert (line.get_color(), line.get_label(), line.get_marker()) == ("red", "a", ".")
    assert draw_pr_curve(ax, np.linspace(0, 1, 200), np.ones(200)).get_marker() == ""


def test_what_cannot_be_drawn():
    ds = read("pr_curves", log_path("torch"))
    with pytest.raises(ValueError, match=r"step=\[\]: expected at least one step"):
        pr(ds, step=[])
    with pytest.raises(ValueError, match="step=-5: no curve was logged up to there"):
        pr(ds, step=-5)
    with pytest.raises(
        AccessorError, match=r"pr\(\) cannot draw the dimension 'fold': select with isel\(fold=0\) first"
    ):
        pr(ds.expand_dims(fold=2))
    with pytest.raises(ValueError, match="no curve was logged"):
        pr(read("pr_curves", log_path("tf2")))
    empty = ds.isel(step=0).copy(deep=True)
    empty["precision"] *= NAN
    with pytest.raises(ValueError, match="0 tags to draw"):
        pr(empty)


# Meshes ---------------------------------------------------------------------------------------------------------------


def part(step: int, name: str, kind: int, array: np.ndarray, config: str = "", suffix: str = "") -> Value:
    fields = {"name": name, "content_type": kind, "json_config": config, "components": 14}
    content = message_class("MeshPluginData")(**fields).SerializeToString()
    suffix = suffix or {1: "VERTEX", 2: "FACE", 3: "COLOR"}.get(kind, "ODD")
    return tensor(step, array, f"{name}_{suffix}", "mesh", content)


def points(n: int, batch: int = 1, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((batch, n, 3)).astype(np.float32)


@pytest.mark.parametrize("server", ["", "-fast"])
def test_every_mesh_that_tensorboard_lists(log, server):
    tags = expected(log + server)["mesh"]["tags"]
    served = {(run, name): info["samples"] for run, names in tags.items() for name, info in names.items()}
    found = {}
    for run, name in served:
        ds = read("meshes", log_path(log), runs=run, tags=name)
        found[run, name] = ds.sizes["sample"]
        assert ds["vertices"].shape == (1 if log != "tf2" else 3, 1, 12, 3)
        assert not ds["vertices"].isnull().any()
        assert set(np.unique(ds["colors"])) <= set(range(256))
        assert ds["faces"].size == 0
        assert ds["config"].item() == ("null" if log == "tensorboardx" else "{}")
    assert found == served
    assert read("meshes", log_path(log)).sizes["step"] == (0 if log == "tf1" else 1 if log != "tf2" else 3)


def test_parts_are_joined_by_the_name_in_their_metadata(tmp_path):
    vertices, faces, colors = (
        points(4),
        np.array([[[0, 1, 2], [1, 2, 3]]], np.int32),
        np.arange(12, dtype=np.uint8).reshape(1, 4, 3),
    )
    log = write(
        tmp_path,
        part(3, "ball", 1, vertices, '{"camera": 1}', "anything"),
        part(3, "ball", 2, faces, suffix="else"),
        part(3, "ball", 3, colors),
    )
    ds = read("meshes", log)
    assert ds["tag"].item() == "ball"
    assert np.array_equal(ds["vertices"], vertices[np.newaxis].astype(np.float64))
    assert np.array_equal(ds["faces"], faces[np.newaxis])
    assert np.array_equal(ds["colors"], colors[np.newaxis])
    assert ds["config"].item() == '{"camera": 1}'
    assert ds["wall_time"].values.tolist() == [1000.0]
    assert [ds[name].dtype for name in ("vertices", "faces", "colors", "config")] == [
        np.float64,
        np.int64,
        np.float64,
        object,
    ]
    assert ds["faces"].dims == ("step", "sample", "face", "corner")
    assert ds["colors"].dims == ("step", "sample", "vertex", "channel")
    assert ds["axis"].values.tolist() == ["x", "y", "z"]
    assert read("meshes", log, tags="ball").equals(ds)


def test_faces_and_colours_as_floats(tmp_path):
    """PyTorch writes whole numbers as floats."""
    faces = np.array([[[0, 1, 2]]], np.float32)
    colors = np.full((1, 3, 3), 254.5, np.float32)
    ds = read("meshes", write(tmp_path, part(0, "m", 1, points(3)), part(0, "m", 2, faces), part(0, "m", 3, colors)))
    assert ds["faces"].values.tolist() == [[[[0, 1, 2]]]]
    assert ds["faces"].dtype == np.int64
    assert (ds["colors"] == 254.5).all()


def test_meshes_of_several_sizes(tmp_path):
    log = write(
        tmp_path,
        part(0, "m", 1, points(2, batch=2)),
        part(0, "m", 2, np.zeros((1, 1, 3), np.int64)),
        part(1, "m", 3, np.full((1, 5, 3), 9, np.int32)),
        part(2, "m", 1, points(3)),
        part(2, "m", 2, np.ones((1, 4, 3), np.int64)),
    )
    ds = read("meshes", log)
    assert ds.sizes == {"step": 3, "sample": 2, "vertex": 5, "axis": 3, "face": 4, "corner": 3, "channel": 3}
    assert ds["vertices"].notnull().sum(["sample", "vertex", "axis"]).values.tolist() == [12, 0, 9]
    assert (ds["faces"] != -1).sum(["sample", "face", "corner"]).values.tolist() == [3, 0, 12]
    assert ds["colors"].notnull().sum(["sample", "vertex", "channel"]).values.tolist() == [0, 15, 0]
    assert np.array_equal(ds["vertices"].isel(step=2, sample=0, vertex=slice(3)), points(3)[0])


def test_a_step_that_repeats_joins_in_order(tmp_path):
    values = [part(5, "m", 1, points(2, seed=i)) for i in range(2)] + [
        part(5, "m", 3, np.full((1, 2, 3), i, np.uint8)) for i in range(2)
    ]
    with pytest.warns(RestartWarning, match="in 1 row the step repeats"):
        ds = read("meshes", write(tmp_path, *values))
    assert ds["step"].values.tolist() == [5, 5]
    assert ds["colors"].isel(sample=0, vertex=0, channel=0).values.tolist() == [0, 1]
    assert np.array_equal(ds["vertices"].isel(step=1, sample=0), points(2, seed=1)[0])


def test_meshes_of_several_runs(tmp_path):
    write(
        tmp_path,
        part(0, "m", 1, points(2), "{}"),
        part(4, "m", 1, points(2, seed=1)),
        part(0, "n", 1, points(3)),
        run="a",
    )
    write(tmp_path, part(4, "m", 1, points(1), '{"b": 1}'), run="b")
    ds = read("meshes", tmp_path)
    assert ds["vertices"].dims == ("run", "tag", "step", "sample", "vertex", "axis")
    assert ds["vertices"].shape == (2, 2, 2, 1, 3, 3)
    assert ds["config"].values.tolist() == [["{}", ""], ['{"b": 1}', ""]]
    assert ds["wall_time"].notnull().values.tolist() == [[[True, True], [True, False]], [[False, True], [False, False]]]
    assert np.array_equal(ds["vertices"].sel(run="a", tag="m", step=4).values[0, :2], points(2, seed=1)[0])
    assert read("meshes", tmp_path, tags="m")["config"].values.tolist() == ["{}", '{"b": 1}']


def test_colours_that_nobody_logged_take_no_memory(tmp_path):
    ds = read("meshes", write(tmp_path, part(0, "m", 1, points(3))))
    assert ds["colors"].isnull().all()
    assert set(ds["colors"].values.strides) == {0}


def test_restarts_of_meshes(tmp_path):
    log = write(
        tmp_path, *[part(step, "m", 1, points(2)) for step in (0, 1)], start(1), part(1, "m", 1, points(2, seed=7))
    )
    with pytest.warns(RestartWarning):
        assert np.array_equal(read("meshes", log)["vertices"][1, 0], points(2, seed=7)[0])
    marked = read("meshes", log, restarts="mark")
    assert marked["superseded"].values.tolist() == [False, True, False]
    assert marked["session"].values.tolist() == [0, 0, 1]


def test_values_that_are_no_part_of_a_mesh(tmp_path):
    good = part(99, "m", 1, points(2))
    bad = [
        (part(5, "m", 0, points(2)), "its metadata do not say whether it is vertices, faces or colours"),
        (
            part(5, "m", 1, np.zeros((2, 3))),
            r"expected vertices as numbers of shape \[batch, n, 3\], found float64 of shape \[2, 3\]",
        ),
        (part(5, "m", 3, np.zeros((1, 2, 4))), r"expected colors as numbers of shape \[batch, n, 3\]"),
        (
            part(5, "m", 2, np.full((1, 1, 3), 0.5)),
            "expected faces to be numbers of vertices, found others than whole numbers",
        ),
        (part(5, "m", 2, np.full((1, 1, 3), np.nan)), "expected faces to be numbers of vertices"),
        (Value(5, "m", {"tensor": {"dtype": 1}}, "mesh", b"\x12\x02\xff\xff\x18\x01"), "its metadata do not say"),
    ]
    for i, (value, reason) in enumerate(bad):
        with pytest.warns(
            UndecodableValueWarning, match=f"meshes: run 'run', tag '.*': 1 value .* at step 5: .*{reason}"
        ):
            ds = read("meshes", write(tmp_path / str(i), value, good))
        assert ds["step"].values.tolist() == [99]
