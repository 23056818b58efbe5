"""Verbs on histogram Datasets in every shape that a log can give, and on what users make of them."""

from __future__ import annotations

import gc

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tbframe.accessors.dataset  # noqa: F401  (registers .tb)
from tbframe import buckets, series
from tbframe.errors import AccessorError
from tbframe.verbs import histogram_steps, histograms

NAN, INF = float("nan"), float("inf")
START = 1.7e9


def build(rows, steps, run=None, tag=None):
    """One series, as the reader gives it: a list of [left, right, count] rows per step."""
    sizes = [len(h) for h in rows]
    flat = np.array([row for h in rows for row in h], float).reshape(-1, 3)
    arrays = [buckets.pad(flat[:, i], sizes, fill) for i, fill in enumerate([NAN, NAN, 0.0])]
    steps = np.asarray(steps, np.int64)
    ds = xr.Dataset(
        {
            "counts": (("step", "bin"), arrays[2]),
            "buckets": ("step", np.array(sizes, np.int64)),
            "value_min": ("step", np.array([min((r[0] for r in h), default=NAN) for h in rows])),
            "num": ("step", np.array([float(sum(r[2] for r in h)) for h in rows])),
        },
        {
            "step": steps,
            "wall_time": ("step", START + steps / 8),
            "left": (("step", "bin"), arrays[0]),
            "right": (("step", "bin"), arrays[1]),
        },
        {"edges": "clipped"},
    )
    for name, value in (("run", run), ("tag", tag)):
        if value is not None:
            ds = ds.assign_coords({name: ((), np.array(value, object))})
    return ds


def join(grid, runs, tags):
    """Several series {(run, tag): Dataset} with the dimensions run and tag; what was not logged is NaN."""
    steps = np.unique(np.concatenate([ds.step.values for ds in grid.values()]))
    width = max(ds.sizes["bin"] for ds in grid.values())
    shape = (len(runs), len(tags), steps.size)
    names = {"value_min": NAN, "num": NAN, "buckets": 0, "wall_time": NAN}
    flat = {name: np.full(shape, fill) for name, fill in names.items()}
    deep = {name: np.full((*shape, width), NAN) for name in ("counts", "left", "right")}
    for (run, tag), ds in grid.items():
        at = (runs.index(run), tags.index(tag), np.searchsorted(steps, ds.step.values))
        for name, array in flat.items():
            array[at] = ds[name].values
        for name, array in deep.items():
            array[at] = (
                ds[name].pad(bin=(0, width - ds.sizes["bin"]), constant_values=0 if name == "counts" else NAN).values
            )
    lead = ("run", "tag", "step")
    return xr.Dataset(
        {"counts": ((*lead, "bin"), deep["counts"]), **{n: (lead, flat[n]) for n in ("value_min", "num", "buckets")}},
        {
            "run": np.array(runs, object),
            "tag": np.array(tags, object),
            "step": steps,
            "wall_time": (lead, flat["wall_time"]),
            "left": ((*lead, "bin"), deep["left"]),
            "right": ((*lead, "bin"), deep["right"]),
        },
    )


def random_rows(n, k, seed):
    rng = np.random.default_rng(seed)
    edges = np.sort(rng.normal(size=(n, k + 1)), axis=1)
    counts = rng.poisson(4, (n, k))
    return [[[a, b, c] for a, b, c in zip(e[:-1], e[1:], n, strict=True)] for e, n in zip(edges, counts, strict=True)]


ONE = [[[0, 1, 4], [1, 2, 0]], [[0, 2, 2], [2, 4, 6], [4, 4, 3]], []]


@pytest.fixture
def one():
    return build(ONE, [0, 10, 20], "train", "w")


@pytest.fixture
def many():
    grid = {
        ("a", "w"): build(random_rows(6, 5, 0), range(0, 60, 10)),
        ("a", "b"): build(random_rows(6, 3, 1), range(0, 60, 10)),
        ("b", "w"): build(random_rows(4, 7, 2), [0, 5, 10, 15]),
        ("b", "b"): build([], []),
    }
    return join(grid, ["a", "b"], ["b", "w"])


def shapes():
    """Every shape: (name, Dataset)."""
    plain = build(ONE, [0, 10, 20], "train", "w")
    grid = {(run, "w"): build(random_rows(4, 5, i), [0, 1, 2 + i, 7]) for i, run in enumerate("ab")}
    joined = join(grid, ["a", "b"], ["w"])
    return {
        "one series": plain,
        "without names": plain.drop_vars(["run", "tag"]),
        "runs": joined.isel(tag=0),
        "runs and tags": joined,
        "one run kept": joined.isel(run=[0], tag=0),
        "ragged": build([random_rows(1, k, k)[0] for k in (3, 1, 9)], [3, 4, 5], "r", "t"),
        "repeated steps": build(ONE + ONE, [0, 10, 20, 0, 10, 10], "r", "t"),
        "no steps": plain.isel(step=[]),
        "no bins": build([[], []], [0, 1], "r", "t"),
        "one step": plain.isel(step=[1]),
        "no step dimension": plain.isel(step=1),
    }


every_shape = pytest.mark.parametrize("ds", [pytest.param(ds, id=name) for name, ds in shapes().items()])


# --- rebin ---------------------------------------------------------------------------------------------------------


def test_rebin_gives_shared_bins(one):
    before = one.copy(deep=True)
    result = one.tb.rebin(4)
    xr.testing.assert_identical(one, before)
    assert result["counts"].dims == ("step", "bin")
    assert result["left"].dims == result["right"].dims == ("bin",)
    np.testing.assert_array_equal(result["bin"], [0.5, 1.5, 2.5, 3.5])
    np.testing.assert_array_equal(result["left"], [0, 1, 2, 3])
    np.testing.assert_array_equal(result["right"], [1, 2, 3, 4])
    np.testing.assert_array_equal(result["counts"], [[4, 0, 0, 0], [1, 1, 3, 6], [0, 0, 0, 0]])
    np.testing.assert_array_equal(result["buckets"], [4, 4, 4])
    for name in ("value_min", "num", "wall_time", "step", "run", "tag"):
        xr.testing.assert_identical(result[name].drop_vars(["left", "right"], errors="ignore"), one[name])
    assert result.attrs == {"edges": "clipped", "left_out_buckets": 0, "left_out_counts": 0.0}


@every_shape
def test_rebin_keeps_totals_in_every_shape(ds):
    result = ds.tb.rebin(7)
    assert result.sizes["bin"] == 7
    assert result["counts"].dims[-1] == "bin"
    assert set(result["counts"].dims) == set(ds["counts"].dims)
    np.testing.assert_allclose(
        result["counts"].sum("bin"), ds["counts"].sum("bin").transpose(*result["counts"].dims[:-1])
    )
    again = result.tb.rebin(result)
    np.testing.assert_array_equal(again["counts"], result["counts"])


def test_rebin_tells_empty_from_not_logged(many):
    counts = many.tb.rebin(5)["counts"]
    logged = many["wall_time"].notnull()
    np.testing.assert_array_equal(counts.notnull().all("bin"), logged)
    assert not counts.sel(run="b", tag="b").notnull().any()
    np.testing.assert_array_equal(many.tb.rebin(5)["buckets"], np.where(logged, 5, 0))


def test_rebin_without_wall_times(many):
    bare = many.drop_vars("wall_time")
    np.testing.assert_array_equal(bare.tb.rebin(5)["counts"], many.tb.rebin(5)["counts"])


def test_rebin_per_series(many):
    result = many.tb.rebin(6, shared=False)
    assert result["left"].dims == result["right"].dims == ("run", "tag", "bin")
    np.testing.assert_array_equal(result["bin"], np.arange(6))
    for run, tag in [("a", "w"), ("a", "b"), ("b", "w")]:
        alone = many.sel(run=run, tag=tag).tb.rebin(6)
        np.testing.assert_array_equal(result["left"].sel(run=run, tag=tag), alone["left"])
        np.testing.assert_array_equal(result["counts"].sel(run=run, tag=tag), alone["counts"])
    tags = many.isel(run=0, drop=True).tb.rebin(6, shared=False)
    assert tags["left"].dims == ("tag", "bin")
    single = many.isel(run=0, tag=1).tb.rebin(6, shared=False)
    assert single["left"].dims == ("bin",)


def test_rebin_onto_given_edges(one):
    edges = [0, 0.5, 4]
    result = one.tb.rebin(edges)
    np.testing.assert_array_equal(result["counts"], [[2, 2], [0.5, 10.5], [0, 0]])
    np.testing.assert_array_equal(result["bin"], [0.25, 2.25])
    xr.testing.assert_identical(one.tb.rebin(np.array(edges)), result)
    xr.testing.assert_identical(one.tb.rebin(result), result)
    xr.testing.assert_identical(one.tb.rebin(result["counts"]), result)


def test_rebin_onto_a_range(one):
    with pytest.raises(ValueError, match=r"counts lie outside the edges 0\.0 \.\.\. 2\.0: 0\.0 below and 9\.0 above"):
        one.tb.rebin(2, (0, 2))
    np.testing.assert_array_equal(one.tb.rebin(2, (0, 2), outside="drop")["counts"], [[4, 0], [1, 1], [0, 0]])
    np.testing.assert_array_equal(one.tb.rebin(2, (0, 2), outside="clip")["counts"], [[4, 0], [1, 10], [0, 0]])


def test_rebin_counts_what_is_left_out():
    ds = build([[[-INF, 0, 3], [0, 1, 5]], [[0, 1, NAN], [NAN, 1, 2]]], [0, 1])
    result = ds.tb.rebin(1)
    np.testing.assert_array_equal(result["counts"], [[5], [0]])
    assert result.attrs["left_out_buckets"] == 3
    assert result.attrs["left_out_counts"] == 5.0
    assert result.tb.rebin(1).attrs["left_out_buckets"] == 3


def test_rebin_then_reduce_and_compare(many):
    even = many.tb.rebin(6)
    mean = even.mean("run").tb.rebin(even)
    np.testing.assert_array_equal(mean["counts"], even["counts"].mean("run"))
    change = even.isel(step=3, run=0) - even.isel(step=0, run=0)
    assert change["left"].dims == ("bin",)
    assert change.tb.rebin(3)["counts"].dims == ("tag", "bin")
    whole = even.sum("step")["counts"]
    assert whole.tb.density().dims == ("run", "tag", "bin")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda ds: ds.mean("step"), "has lost its edges 'left' .* ds.tb.rebin\\(\\), then reduce or compare"),
        (lambda ds: ds.isel(step=1) - ds.isel(step=0), "has lost its edges"),
        (lambda ds: ds.mean("bin"), "no 'bin', which this verb needs. Select with isel"),
        (lambda ds: ds.isel(bin=0), "no 'bin'"),
        (lambda ds: ds.drop_vars("counts"), "no histogram Dataset.*'buckets', 'value_min', 'num'"),
        (lambda ds: xr.Dataset(), "no histogram Dataset.*variables here are: none"),
        (lambda ds: ds.drop_vars("right"), "lost its edges 'right'"),
    ],
)
def test_verbs_say_what_is_missing(one, make, message):
    ds = make(one)
    for verb in ("rebin", "compress", "density", "to_frame", "ridgeline", "distribution", "heatmap"):
        with pytest.raises(AccessorError, match=message):
            getattr(ds.tb, verb)()
    with pytest.raises(AccessorError, match=message):
        ds.tb.downsample(2)


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ({"bins": 0}, ValueError, "bins=0: expected at least 1 bin"),
        ({"bins": -3}, ValueError, "bins=-3: expected at least 1 bin"),
        ({"bins": True}, TypeError, "bins=True: expected a number of bins"),
        (
            {"bins": 2.5},
            TypeError,
            "bins=2.5: expected a number of bins, their edges, or a rebinned Dataset, found float",
        ),
        ({"bins": "auto"}, TypeError, "bins='auto'.*found str"),
        ({"bins": None}, TypeError, "bins=None.*found NoneType"),
        ({"bins": [0, 2, 1]}, ValueError, "rise strictly"),
        ({"bins": [0, 4], "range": (0, 4)}, ValueError, r"range=\(0, 4\) goes with a number of bins"),
        ({"bins": [0, 4], "shared": False}, ValueError, "shared=False goes with a number of bins"),
        ({"range": (0, 4), "shared": False}, ValueError, "sets it for all"),
        ({"range": (4, 0)}, ValueError, r"range=\(4, 0\): expected two finite numbers, the lower one first"),
        ({"range": (0, INF)}, ValueError, "expected two finite numbers"),
        ({"range": (0, 1, 2)}, ValueError, "expected two finite numbers"),
        ({"bins": 3, "outside": "keep"}, ValueError, "outside='keep'"),
    ],
)
def test_rebin_refuses_arguments(one, args, error, message):
    with pytest.raises(error, match=message):
        one.tb.rebin(**args)


def test_rebin_refuses_edges_that_are_not_shared(one, many):
    for other in (one, many.tb.rebin(4, shared=False), one.drop_vars("left")):
        with pytest.raises(ValueError, match=r"do not share finite edges.*ds\.tb\.rebin\(other\.tb\.rebin\(30\)\)"):
            one.tb.rebin(other)


# --- compress and density ------------------------------------------------------------------------------------------


@every_shape
def test_compress_in_every_shape(ds):
    result = ds.tb.compress()
    assert result.name == "value"
    assert result.dims == (*(d for d in ds["counts"].dims if d != "bin"), "bps")
    assert result["bps"].values.tolist() == [0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000]
    assert "left" not in result.coords
    for name in ("step", "wall_time", "run", "tag"):
        assert (name in result.coords) == (name in ds.coords)
    expected = buckets.compress(ds["left"], ds["right"], ds["counts"])
    expected[~ds["wall_time"].notnull().values] = NAN
    np.testing.assert_array_equal(result, expected)


def test_compress_of_rebinned(one):
    values = one.tb.rebin(4).tb.compress([5000], leak=False)
    np.testing.assert_allclose(values[:2, 0], [0.5, 3 + 1 / 12])
    assert np.isnan(values[2, 0])
    assert one.tb.compress([5000])[2, 0] == 0


def test_compress_of_steps_whose_edges_are_nan():
    ds = build([[[0, 1, 1], [1, 2, 1]], [[NAN, NAN, 0], [NAN, NAN, 0]]], [0, 1])
    np.testing.assert_array_equal(ds.tb.compress([5000]), [[1.0], [NAN]])
    half = ds / 2  # arithmetic on a Dataset changes `buckets` too
    np.testing.assert_array_equal(half.tb.compress([5000]), [[1.0], [NAN]])


def test_density_integrates_to_one(many):
    even = many.tb.rebin(9)
    area = (even.tb.density() * (even["right"] - even["left"])).sum("bin")
    np.testing.assert_allclose(area, np.where(even["counts"].sum("bin") > 0, 1, 0))
    raw = many.tb.density()
    assert raw.name == "density"
    assert raw.dims == many["counts"].dims
    np.testing.assert_array_equal(raw.isnull(), many["left"].isnull())


# --- downsample ----------------------------------------------------------------------------------------------------


def long(n, **names):
    return build([[[0, 1, i]] for i in range(n)], np.arange(n) * 3, **names)


def test_downsample_is_tensorboards_reservoir():
    result = long(1200).tb.downsample(10)
    assert (result["step"] // 3).values.tolist() == [225, 304, 352, 505, 668, 789, 818, 929, 1035, 1199]
    xr.testing.assert_identical(result, long(1200).isel(step=result["step"].values // 3))
    assert not result.equals(long(1200).tb.downsample(10, seed=1))
    xr.testing.assert_identical(long(9).tb.downsample(10), long(9))


def test_downsample_evenly():
    result = long(100).tb.downsample(5, "even")
    assert (result["step"] // 3).values.tolist() == [0, 25, 50, 74, 99]


@pytest.mark.parametrize("method", ["reservoir", "even"])
def test_downsample_keeps_as_many_of_each_series(method):
    grid = {("a", "w"): long(50), ("b", "w"): long(30), ("a", "b"): long(50), ("b", "b"): long(2)}
    ds = join(grid, ["a", "b"], ["b", "w"])
    result = ds.tb.downsample(8, method)
    of = series.reservoir_indices if method == "reservoir" else series.even_indices
    for (run, tag), alone in grid.items():
        kept = result.sel(run=run, tag=tag)
        logged = kept.isel(step=kept["wall_time"].notnull().values)
        expected = alone.isel(step=of(alone.sizes["step"], 8))
        assert logged["step"].values.tolist() == expected["step"].values.tolist()
        np.testing.assert_array_equal(logged["counts"], expected["counts"])
        blank = kept.isel(step=kept["wall_time"].isnull().values)
        assert blank["counts"].isnull().all()
        assert blank["left"].isnull().all()
        assert (blank["buckets"] == 0).all()
    assert result["buckets"].dtype == np.int64
    assert list(result["counts"].dims) == list(ds["counts"].dims)
    xr.testing.assert_identical(result.tb.downsample(50, method), result)


@every_shape
def test_downsample_in_every_shape(ds):
    if "step" not in ds.dims:
        with pytest.raises(AccessorError, match=r"no dimension 'step' to downsample; select .* isel\(step=\[i\]\)"):
            ds.tb.downsample(2)
        return
    result = ds.tb.downsample(2)
    assert set(result.variables) == set(ds.variables)
    assert (result["wall_time"].notnull().sum("step") <= 2).all()


def test_downsample_refuses_arguments(one):
    with pytest.raises(ValueError, match=r"method='random': expected 'reservoir' .* or 'even'"):
        one.tb.downsample(2, "random")
    with pytest.raises(ValueError, match="n=0: expected at least 1"):
        one.tb.downsample(0)


# --- to_frame ------------------------------------------------------------------------------------------------------


def test_to_frame_has_a_row_per_bucket(one):
    frame = one.tb.to_frame()
    expected = pd.DataFrame(
        {
            "run": pd.Categorical(["train"] * 5),
            "tag": pd.Categorical(["w"] * 5),
            "step": [0, 0, 10, 10, 10],
            "wall_time": START + np.array([0, 0, 1.25, 1.25, 1.25]),
            "bin": [0, 1, 0, 1, 2],
            "left": [0.0, 1, 0, 2, 4],
            "right": [1.0, 2, 2, 4, 4],
            "counts": [4.0, 0, 2, 6, 3],
        }
    )
    pd.testing.assert_frame_equal(frame, expected, check_categorical=False)
    assert list(frame["run"].cat.categories) == ["train"]


@every_shape
def test_to_frame_in_every_shape(ds):
    frame = ds.tb.to_frame()
    names = [name for name in ("run", "tag", "step", "wall_time") if name in ds.coords]
    assert list(frame) == [*names, "bin", "left", "right", "counts"]
    assert len(frame) == int(ds["left"].notnull().sum())
    assert frame["counts"].sum() == float(ds["counts"].sum())
    assert frame["bin"].dtype == frame["step"].dtype == np.int64


def test_to_frame_of_several_series(many):
    many = many.assign_coords(rate=("run", [0.1, 0.2]))
    frame = many.tb.to_frame()
    assert list(frame) == ["run", "tag", "step", "wall_time", "rate", "bin", "left", "right", "counts"]
    part = frame[(frame["run"] == "b") & (frame["tag"] == "w")]
    assert part["step"].unique().tolist() == [0, 5, 10, 15]
    assert (part["rate"] == 0.2).all()
    assert len(part) == 4 * 7
    assert list(many.isel(run=[1]).tb.to_frame()["tag"].cat.categories) == ["w"]  # b/b logged nothing
    even = many.tb.rebin(3).tb.to_frame()
    assert len(even) == 3 * (6 + 6 + 4)


def test_to_frame_orders_names_naturally():
    grid = {(run, "w"): long(1) for run in ("v10", "v9")}
    frame = join(grid, ["v10", "v9"], ["w"]).tb.to_frame()
    assert frame["run"].tolist() == ["v10", "v9"]
    assert list(frame["run"].cat.categories) == ["v9", "v10"]


# --- the accessors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("obj", [xr.Dataset(), xr.DataArray(0), xr.Dataset({"a": 1}), xr.DataArray([1], dims="x")])
def test_accessors_never_raise_when_made(obj):
    assert hasattr(obj, "tb")
    dir(obj.tb)
    with pytest.raises(AccessorError):
        obj.tb.rebin()


def test_verbs_on_the_counts_alone(many):
    counts = many["counts"]
    xr.testing.assert_identical(counts.tb.rebin(4), many.tb.rebin(4)["counts"])
    xr.testing.assert_identical(counts.tb.rebin(4, shared=False), many.tb.rebin(4, shared=False)["counts"])
    xr.testing.assert_identical(counts.tb.compress([5000]), many.tb.compress([5000]))
    xr.testing.assert_identical(counts.tb.density(), many.tb.density())
    xr.testing.assert_identical(counts.tb.downsample(2), many.tb.downsample(2)["counts"])
    pd.testing.assert_frame_equal(counts.tb.to_frame(), many.tb.to_frame())


def test_methods_are_their_functions(one):
    xr.testing.assert_identical(one.tb.rebin(3), histograms.rebin(one, 3))
    xr.testing.assert_identical(one.tb.compress(leak=False), histograms.compress(one, leak=False))
    xr.testing.assert_identical(one.tb.downsample(2, "even"), histogram_steps.downsample(one, 2, "even"))


def test_shapes_hold_after_selecting_and_arithmetic(many):
    picked = many.sel(run="a", tag=["w"]).isel(step=slice(1, None))
    assert picked.tb.rebin(3)["counts"].dims == ("tag", "step", "bin")
    turned = many.transpose("bin", "step", ...)
    xr.testing.assert_allclose(turned.tb.rebin(3).transpose(*many.tb.rebin(3)["counts"].dims), many.tb.rebin(3))
    np.testing.assert_array_equal(turned.tb.compress().transpose("run", "tag", "step", "bps"), many.tb.compress())
    twice = many["counts"] * 2
    np.testing.assert_allclose(twice.tb.rebin(3), many["counts"].tb.rebin(3) * 2)
    first = many.isel(bin=slice(0, 2))
    np.testing.assert_allclose(first.tb.rebin(4)["counts"].sum("bin"), first["counts"].sum("bin"))


# --- files ---------------------------------------------------------------------------------------------------------


def derived(ds):
    results = {"itself": ds, "rebin": ds.tb.rebin(4), "compress": ds.tb.compress(), "density": ds.tb.density()}
    if "step" in ds.dims:
        results["downsample"] = ds.tb.downsample(2)
    return results


@every_shape
def test_everything_saves_to_netcdf(ds, tmp_path):
    pytest.importorskip("netCDF4")  # which may warn about the NumPy it was built with
    for name, result in derived(ds).items():
        result.to_netcdf(tmp_path / f"{name}.nc", engine="netcdf4")
        load = xr.load_dataarray if isinstance(result, xr.DataArray) else xr.load_dataset
        again = load(tmp_path / f"{name}.nc", engine="netcdf4")
        xr.testing.assert_equal(again, result)
        if name == "itself":
            xr.testing.assert_equal(again.tb.rebin(4), ds.tb.rebin(4))
            again.tb.rebin(4).to_netcdf(tmp_path / "again.nc", engine="netcdf4")
    gc.collect()


@pytest.mark.parametrize("name", ["one series", "runs and tags", "no steps", "no step dimension"])
def test_everything_saves_to_zarr(name, tmp_path):
    zarr = pytest.importorskip("zarr")
    year, month = (int(part) for part in xr.__version__.split(".")[:2])
    if zarr.__version__ >= "3" and (year, month) < (2024, 10):
        pytest.skip("this xarray does not know zarr 3")
    ds = shapes()[name]
    for kind, result in derived(ds).items():
        whole = result.to_dataset() if isinstance(result, xr.DataArray) else result
        whole.to_zarr(tmp_path / f"{kind}.zarr", consolidated=False)
        again = xr.open_zarr(tmp_path / f"{kind}.zarr", consolidated=False, chunks=None).load()
        xr.testing.assert_equal(again, whole)
