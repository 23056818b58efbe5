"""The verbs of a scalars frame: on every shape of frame that users make, against slow references."""

from __future__ import annotations

import functools
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from tbframe import series
from tbframe.errors import AccessorError, UnknownNameError
from tbframe.verbs.aggregating import aggregate
from tbframe.verbs.best import best, last
from tbframe.verbs.checking import check
from tbframe.verbs.extracting import extract
from tbframe.verbs.joining import join
from tbframe.verbs.reshaping import to_xarray, wide
from tbframe.verbs.sampling import downsample
from tbframe.verbs.selecting import rename, select
from tbframe.verbs.smoothing import smooth
from tbframe.verbs.timing import elapsed

RUNS = ["base/lr=0.1/seed=2", "base/lr=0.1/seed=10", "ours/lr=0.01/seed=2", "ours/lr=0.01/seed=10"]
TAGS = ["acc", "loss", "lr"]


def make_frame(runs=RUNS, tags=TAGS, length=48) -> pd.DataFrame:
    """A frame as the reader gives it; the tags log every 1, 2 and 4 steps, the runs stop at different steps."""
    return cached_frame(tuple(runs), tuple(tags), length).copy()


@functools.cache
def cached_frame(runs, tags, length):
    parts = []
    for i, run in enumerate(runs):
        for k, tag in enumerate(tags):
            step = np.arange(0, length - 8 * (i % 2) * (length > 20), 2**k)
            value = np.cumsum(np.random.default_rng(10 * i + k).normal(size=len(step)))
            value[3::17] = np.nan
            value[5::23] = np.inf if k else -np.inf
            times = 1.7e9 + 1000 * i + step * 0.5 + 300.0 * (step > 30)
            parts.append(pd.DataFrame({"run": run, "tag": tag, "step": step, "wall_time": times, "value": value}))
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(run=pd.Categorical(frame["run"], runs), tag=pd.Categorical(frame["tag"], tags))


def parquet_and_back(frame):
    pytest.importorskip("pyarrow")
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return pd.read_parquet(buffer)


def filtered(frame):
    others = pd.concat([frame, make_frame(["another", *RUNS[:2]], ["aaa", "zzz"]), frame.assign(run="zzz")])
    others = others.astype({"run": "category", "tag": "category"})
    others = others.assign(run=others["run"].cat.reorder_categories([*RUNS, "another", "zzz"]))
    return others[others["tag"].isin(TAGS) & (others["run"] != "zzz")]


def concatenated(frame):
    first, rest = frame[frame["run"] == RUNS[0]], frame[frame["run"] != RUNS[0]]
    return pd.concat([part.assign(run=part["run"].cat.remove_unused_categories()) for part in (first, rest)])


SHAPES = {
    "as read": lambda frame: frame,
    "filtered": filtered,
    "shuffled back": lambda frame: frame.sample(frac=1, random_state=0).sort_index(),
    "by step": lambda frame: frame.sort_values("step", kind="stable"),
    "by tag": lambda frame: frame.sort_values("tag", kind="stable"),
    "str": lambda frame: frame.astype({"run": str, "tag": str}),
    "object": lambda frame: frame.astype({"run": object, "tag": object}),
    "concatenated": concatenated,
    "parquet": parquet_and_back,
    "foreign index": lambda frame: frame.set_index(pd.Index([f"row {i % 7}" for i in range(len(frame))])),
    "extra columns": lambda frame: frame.assign(note="x", when=pd.Timestamp("2024-01-01"), **{"params.other": 0.1}),
    "other dtypes": lambda frame: frame.astype({"step": "Int64", "wall_time": "Float64"}).assign(
        step=lambda f: f["step"].astype("int32")
    ),
    "columns turned": lambda frame: frame[["value", "tag", "wall_time", "run", "step"]],
}

HPARAMS = pd.DataFrame(
    {
        "run": ["base/lr=0.1", "ours/lr=0.01/seed=2", "ours/lr=0.01/seed=10"],
        "status": ["SUCCESS", "FAILURE", "SUCCESS"],
        "params.lr": [0.1, 0.01, 0.01],
        "params.flag": [True, False, True],
    }
)

ROW_VERBS = {
    "select": lambda frame: select(frame, runs=re.compile("ours"), tags=["loss", "acc"]),
    "rename": lambda frame: rename(frame, runs=lambda run: run.split("/")[0], tags={"acc": "accuracy"}),
    "extract": lambda frame: extract(frame, r"^(?P<method>\w+)/lr=(?P<rate>[^/]+)/seed=(?P<seed>\d+)"),
    "join": lambda frame: join(frame, HPARAMS),
    "smooth": smooth,
    "smooth 0.999": lambda frame: smooth(frame, 0.999),
    "smooth by steps": lambda frame: smooth(frame, half_life_steps=5),
    "smooth by seconds": lambda frame: smooth(frame, half_life_seconds=5),
    "reservoir": lambda frame: downsample(frame, 7),
    "even": lambda frame: downsample(frame, 7, "even"),
    "lttb": lambda frame: downsample(frame, 7, "lttb"),
    "minmax": lambda frame: downsample(frame, 7, "minmax"),
    "elapsed": elapsed,
    "elapsed since": lambda frame: elapsed(frame, 1.6e9),
    "last": last,
    "best": best,
    "best of": lambda frame: best(frame, "max", of="loss"),
}

TABLE_VERBS = {
    "wide": wide,
    "wide by step": lambda frame: wide(frame[frame["run"] == RUNS[2]], index="step"),
    "aggregate": lambda frame: aggregate(frame, r"^(?P<method>\w+)/", band="std"),
    "aggregate ci": lambda frame: aggregate(frame, band="ci", resamples=50),
    "aggregate interp": lambda frame: aggregate(frame, lambda run: run[:4], align="interp"),
    "aggregate hparams": lambda frame: aggregate(frame, HPARAMS[["run", "params.lr"]]),
    "check": check,
    "to_xarray": lambda frame: to_xarray(frame).to_dataframe(),
}


def assert_same(left, right):
    """Compare two frames; pandas alone compares categories row by row in Python."""
    assert list(left.columns) == list(right.columns)
    plain = []
    for frame in (left, right):
        categories = frame.select_dtypes("category").columns
        for column in categories:
            assert list(left[column].cat.categories) == list(right[column].cat.categories)
            assert left[column].cat.ordered == right[column].cat.ordered
        plain.append(frame.assign(**{column: frame[column].cat.codes for column in categories}))
    pd.testing.assert_frame_equal(*plain, rtol=1e-12)


@pytest.mark.parametrize("verb", ROW_VERBS)
@pytest.mark.parametrize("shape", SHAPES)
def test_verbs_that_keep_rows_do_the_same_on_every_shape(shape, verb):
    canonical = make_frame().assign(id=lambda frame: np.arange(len(frame)))
    frame = SHAPES[shape](canonical.drop(columns="id"))
    # Which row of the canonical frame each row is.
    keys = pd.MultiIndex.from_frame(canonical[["run", "tag", "step"]].astype({"run": object, "tag": object}))
    own = pd.MultiIndex.from_frame(
        frame[["run", "tag", "step"]].astype({"run": object, "tag": object, "step": "int64"})
    )
    frame = frame.assign(id=keys.get_indexer(own))
    before = frame.copy(deep=True)
    result, expected = ROW_VERBS[verb](frame), ROW_VERBS[verb](canonical)

    assert_same(frame, before)
    assert list(result.columns[: len(frame.columns)]) == list(frame.columns)
    # Rows stay in the order of the frame, with their labels and extra columns.
    place = {row: i for i, row in enumerate(frame["id"])}
    places = [place[row] for row in result["id"]]
    assert places == sorted(places)
    assert result.index.equals(frame.index[places])
    for column in set(frame.columns) - {"run", "tag", "value"}:
        pd.testing.assert_series_equal(result[column], frame[column].iloc[places])
    # Names are categories of those that occur, and everything is what the canonical frame gives.
    for column in ("run", "tag"):
        assert isinstance(result[column].dtype, pd.CategoricalDtype)
        assert set(result[column].cat.categories) == set(result[column].unique())
    made = [column for column in expected.columns if column not in ("step", "wall_time")]
    assert_same(*(each[made].sort_values("id").reset_index(drop=True) for each in (result, expected)))


@pytest.mark.parametrize("verb", TABLE_VERBS)
@pytest.mark.parametrize("shape", SHAPES)
def test_verbs_that_make_tables_do_the_same_on_every_shape(shape, verb):
    frame = SHAPES[shape](make_frame())
    before = frame.copy(deep=True)
    result = TABLE_VERBS[verb](frame)
    assert_same(frame, before)
    assert_same(result, TABLE_VERBS[verb](make_frame()))


@pytest.mark.parametrize("verb", {**ROW_VERBS, **TABLE_VERBS})
@pytest.mark.parametrize("rows", [0, 1])
def test_verbs_on_no_row_and_on_one(rows, verb):
    frame = make_frame(["ours/lr=0.01/seed=2"], ["loss"]).iloc[:rows]
    if rows == 0 and verb == "best of":
        with pytest.raises(UnknownNameError, match="There is no tag at all"):
            {**ROW_VERBS, **TABLE_VERBS}[verb](frame)
        return
    if verb == "rename":
        result = rename(frame, runs=lambda run: run[:4])
    elif verb == "select":
        result = select(frame, runs=re.compile("ours"))
    else:
        result = {**ROW_VERBS, **TABLE_VERBS}[verb](frame)
    assert len(result) == (0 if verb == "check" else rows)
    assert result.dtypes.get("value", np.dtype(float)) == np.float64


def test_an_empty_frame_keeps_its_columns_and_dtypes():
    frame = make_frame().iloc[:0]
    for verb in (smooth, downsample, last, best, elapsed):
        result = verb(frame)
        assert list(result.columns)[:5] == list(frame.columns)
        assert [str(dtype) for dtype in result.dtypes.iloc[2:5]] == ["int64", "float64", "float64"]
    result = aggregate(frame)
    assert list(result.columns) == ["run", "tag", "step", "wall_time", "value", "low", "high", "n"]
    assert [str(dtype) for dtype in result.dtypes] == ["category", "category", "int64", *["float64"] * 4, "int64"]
    assert wide(frame).shape == (0, 0)
    assert dict(to_xarray(frame).sizes) == {"run": 0, "tag": 0, "step": 0}


def test_attrs_stay():
    frame = make_frame()
    frame.attrs["tbframe"] = {"purged": 3}
    for verb in (last, elapsed, select):
        assert verb(frame).attrs == {"tbframe": {"purged": 3}}
    assert extract(frame, r"^(?P<method>\w+)").attrs == {"tbframe": {"purged": 3}}


def test_what_was_done_to_values_is_noted():
    frame = make_frame()
    frame.attrs["tbframe"] = {"purged": 3}
    smoothed = smooth(downsample(frame, 20, "even"), half_life_steps=2)
    made = [
        {"verb": "downsample", "n": 20, "method": "even"},
        {"verb": "smooth", "half_life": 2, "unit": "steps"},
    ]
    assert smoothed.attrs == {"tbframe": {"purged": 3, "made": made}}
    assert frame.attrs == {"tbframe": {"purged": 3}}
    mean = smooth(aggregate(smoothed, band="se"))
    made += [
        {"verb": "aggregate", "estimator": "mean", "band": "se", "level": 0.95},
        {"verb": "smooth", "weight": 0.6},
    ]
    assert mean.attrs == {"tbframe": {"made": made}}
    assert json.loads(json.dumps(mean.attrs)) == mean.attrs
    for attrs in ({"tbframe": 5}, {"tbframe": {"made": "x"}}, {"tbframe": {"made": [1]}}):
        frame.attrs = attrs
        assert smooth(frame).attrs["tbframe"]["made"] == made[-1:]


def test_ordered_categories_keep_their_order():
    frame = make_frame()
    frame["run"] = frame["run"].cat.reorder_categories(RUNS[::-1], ordered=True)
    result = select(frame, runs=RUNS[1:])
    assert list(result["run"].cat.categories) == RUNS[:0:-1]
    assert result["run"].cat.ordered
    assert wide(frame).index.get_level_values("run").unique().tolist() == RUNS[::-1]


@pytest.mark.parametrize("dtype", [object, "str", "string"])
def test_names_may_hold_a_nul(dtype):
    frame = pd.DataFrame({"run": ["", "\0", "a\0b", "a", "a\0c"], "tag": "x", "value": range(5)}).astype({"run": dtype})
    assert last(frame)["value"].tolist() == [0, 1, 2, 3, 4]
    assert list(last(frame)["run"]) == ["", "\0", "a\0b", "a", "a\0c"]


def test_names_that_are_no_categories_are_ordered_naturally():
    frame = make_frame(["v10", "v2", "v1"]).astype({"run": str})
    assert list(last(frame)["run"].cat.categories) == ["v1", "v2", "v10"]
    assert wide(frame).index.get_level_values("run").unique().tolist() == ["v1", "v2", "v10"]


# --- what verbs need ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "column"),
    [
        ("smooth", "value"),
        ("smooth by steps", "step"),
        ("smooth by seconds", "wall_time"),
        ("select", "tag"),
        ("extract", "run"),
        ("lttb", "step"),
        ("minmax", "value"),
        ("elapsed", "wall_time"),
        ("last", "tag"),
        ("best of", "step"),
        ("wide", "tag"),
        ("aggregate", "wall_time"),
        ("check", "step"),
        ("to_xarray", "value"),
    ],
)
def test_a_frame_without_a_column_is_refused(verb, column):
    frame = make_frame().drop(columns=column)
    with pytest.raises(
        AccessorError,
        match=rf"{verb.split()[0] if verb not in ('lttb', 'minmax') else 'downsample'}\(\) needs the column '{column}'",
    ):
        {**ROW_VERBS, **TABLE_VERBS}[verb](frame)


def test_verbs_need_only_what_they_use():
    frame = make_frame()
    for verb, columns in (
        (smooth, ["run", "tag", "value"]),
        (downsample, ["run", "tag"]),
        (last, ["tag", "run"]),
        (lambda f: select(f, runs=RUNS[0]), ["run"]),
        (lambda f: select(f, tags="loss"), ["tag"]),
        (lambda f: extract(f, r"^(?P<method>\w+)"), ["run"]),
        (lambda f: wide(f, "value", "step", keep="last"), ["tag", "step", "value"]),
    ):
        assert set(columns) <= set(verb(frame[columns]).columns) or verb(frame[columns]).columns.name == "tag"


def test_columns_in_the_index_or_there_twice_are_named():
    frame = make_frame()
    with pytest.raises(
        AccessorError, match=r"needs the columns 'run', 'tag'\. .* 'run', 'tag' in the index: use reset_index"
    ):
        smooth(frame.set_index(["run", "tag"]))
    twice = pd.concat([frame, frame["run"]], axis=1)
    with pytest.raises(AccessorError, match=r"needs one column 'run'; the frame has 2"):
        smooth(twice)
    with pytest.raises(AccessorError, match="The frame has no columns"):
        smooth(pd.DataFrame())


def test_missing_and_wrong_names_are_refused():
    frame = make_frame().astype({"run": object})
    frame.loc[5, "run"] = None
    with pytest.raises(ValueError, match="row 5"):
        smooth(frame)
    with pytest.raises(TypeError, match="expected names of type str, found 3"):
        smooth(frame.assign(run=3))
    with pytest.raises(TypeError, match="value"):
        smooth(make_frame().assign(value="text"))


# --- select, rename -------------------------------------------------------------------------------------------------


def test_select_takes_what_the_readers_take():
    frame = make_frame()
    assert select(frame, runs=RUNS[0])["run"].unique().tolist() == [RUNS[0]]
    assert select(frame, tags=iter(["lr", "acc"]))["tag"].unique().tolist() == ["acc", "lr"]
    assert len(select(frame, tags=re.compile("^nothing"))) == 0
    assert select(frame, tags=re.compile("^nothing"))["tag"].dtype == "category"
    pd.testing.assert_frame_equal(select(frame), frame)


def test_select_says_what_there_is():
    frame = make_frame()
    with pytest.raises(UnknownNameError, match=r"no tag 'los'\. Did you mean 'loss'"):
        select(frame, tags="los")
    with pytest.raises(UnknownNameError, match=r"no run 'loss'. It is a tag: use tags='loss'."):
        select(frame, runs="loss")
    with pytest.raises(UnknownNameError, match=r"no run 'x'. There are 4: 'base"):
        select(frame, runs="x")
    with pytest.raises(TypeError, match="tags=3"):
        select(frame, tags=3)


def test_select_does_not_know_names_that_no_row_has():
    frame = make_frame()
    with pytest.raises(UnknownNameError):
        select(frame[frame["tag"] != "loss"], tags="loss")


def test_rename_many_to_one():
    frame = make_frame()
    result = rename(frame, runs=lambda run: run.split("/")[0], tags={"acc": "metric", "lr": "metric"})
    assert list(result["run"].cat.categories) == ["base", "ours"]
    assert result["run"].astype(str).tolist() == [run.split("/")[0] for run in frame["run"]]
    assert result["tag"].astype(str).tolist() == ["loss" if tag == "loss" else "metric" for tag in frame["tag"]]


def test_rename_orders_new_names_naturally():
    result = rename(make_frame(["c", "b", "a"]), runs={"c": "v10", "b": "v9", "a": "v1"})
    assert list(result["run"].cat.categories) == ["v1", "v9", "v10"]


def test_rename_refuses_what_it_cannot_do():
    frame = make_frame()
    with pytest.raises(UnknownNameError, match=r"tags: no tag 'accu'. Did you mean 'acc'\? With errors='ignore'"):
        rename(frame, tags={"accu": "accuracy"})
    assert rename(frame, tags={"accu": "accuracy"}, errors="ignore")["tag"].equals(frame["tag"])
    with pytest.raises(ValueError, match="errors='warn'"):
        rename(frame, tags={}, errors="warn")
    with pytest.raises(TypeError, match="the new name of 'acc' must be a str, not 1 of type int"):
        rename(frame, tags={"acc": 1})
    with pytest.raises(TypeError, match="runs=5: expected a mapping"):
        rename(frame, runs=5)


# --- extract, join --------------------------------------------------------------------------------------------------


def test_extract_types_what_it_finds():
    runs = ["a/lr=0.1/seed=2/x", "b/lr=1e-3/seed=-10/7", "c/lr=5/seed=+3/y"]
    frame = make_frame(runs, ["loss"])
    result = extract(frame, r"(?P<name>\w)/lr=(?P<rate>[^/]+)/seed=(?P<seed>[-+\d]+)/(?P<kind>.)")
    assert [str(result[column].dtype) for column in ("name", "rate", "seed", "kind")] == [
        "category",
        "float64",
        "int64",
        "category",
    ]
    table = result.drop_duplicates("run")
    assert table["rate"].tolist() == [0.1, 0.001, 5.0]
    assert table["seed"].tolist() == [2, -10, 3]
    assert table["kind"].tolist() == ["x", "7", "y"]


def test_extract_leaves_runs_that_do_not_match_empty():
    result = extract(make_frame(["s1", "s2", "other"], ["loss"]), r"s(?P<seed>\d)(?P<more>x)?").drop_duplicates("run")
    np.testing.assert_array_equal(result["seed"], [1.0, 2.0, np.nan])
    assert result["more"].isna().all()


def test_extract_keeps_long_numbers_whole():
    many = extract(make_frame(["id9007199254740993", "other"], ["loss"]), r"id(?P<id>\d+)").drop_duplicates("run")
    assert many["id"].tolist()[0] == "9007199254740993"
    one = extract(make_frame(["id9007199254740993"], ["loss"]), r"id(?P<id>\d+)")
    assert one["id"].iloc[0] == 9007199254740993
    assert extract(make_frame(["id" + "9" * 30], ["loss"]), r"id(?P<id>\d+)")["id"].iloc[0] == "9" * 30


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r"seed=(\d+)", "has no named group; write"),
        (r"(?P<a>x", "is no regular expression"),
        (r"(?P<a>nothing)", "is found in none of the 4 runs: 'base"),
        (r"(?P<step>\d+)", "has a column 'step' already"),
    ],
)
def test_extract_refuses_patterns(pattern, message):
    with pytest.raises(ValueError, match=message):
        extract(make_frame(), pattern)
    with pytest.raises(TypeError, match="not of bytes"):
        extract(make_frame(), re.compile(rb"(?P<a>x)"))


def joined(runs, hparams):
    frame = make_frame(runs, ["loss"], 2)
    return join(frame, hparams).drop_duplicates("run").set_index("run")


def test_join_finds_the_session_of_each_run():
    hparams = pd.DataFrame({"run": ["a", "a/b", "c/1700000000.5"], "params.lr": [1.0, 2.0, 3.0]})
    with pytest.warns(UserWarning, match=r"join\(\): 2 of 7 runs have no hyperparameters: 'd', 'c/train'"):
        result = joined(["a", "a/b", "a/b/c", "a/x", "c", "d", "c/train"], hparams)
    np.testing.assert_array_equal(result["params.lr"], [1.0, 2.0, 2.0, 1.0, 3.0, np.nan, np.nan])


def test_join_takes_the_root_for_all_below_and_its_sub_run_for_the_root():
    assert (
        joined([".", "train", "train/x"], pd.DataFrame({"run": ["."], "params.lr": [1.0]}))["params.lr"].tolist()
        == [1.0] * 3
    )
    assert joined(["."], pd.DataFrame({"run": ["1700000000.5"], "params.lr": [2.0]}))["params.lr"].tolist() == [2.0]


def test_join_takes_no_sub_run_if_several_disagree():
    hparams = pd.DataFrame({"run": ["a/10", "a/9"], "metrics.loss": [0.5, 0.7], "params.lr": [1.0, 1.0]})
    assert joined(["a"], hparams)["metrics.loss"].tolist() == [0.5]
    with pytest.warns(UserWarning, match="1 of 1 runs have no hyperparameters"):
        assert joined(["a"], hparams.assign(**{"params.lr": [1.0, 2.0]}))["params.lr"].isna().all()


def test_join_keeps_dtypes_and_makes_texts_categories():
    hparams = pd.DataFrame(
        {
            "run": ["a", "b"],
            "group": ["", ""],
            "status": ["SUCCESS", "UNKNOWN"],
            "start_time": [1.0, np.nan],
            "end_time": [2.0, np.nan],
            "params.flag": [True, False],
            "params.opt": ["sgd", None],
            "params.lr": [0.1, 0.2],
        }
    )
    result = joined(["a", "b"], hparams)
    kinds = {column: str(result[column].dtype) for column in hparams.columns[1:]}
    assert kinds == {
        "group": "category",
        "status": "category",
        "start_time": "float64",
        "end_time": "float64",
        "params.flag": "bool",
        "params.opt": "category",
        "params.lr": "float64",
    }
    assert result["params.flag"].tolist() == [True, False]


def test_join_of_many_columns_is_in_one_piece():
    hparams = pd.DataFrame({"run": ["a"], **{f"params.p{i}": [float(i)] for i in range(300)}})
    assert joined(["a"], hparams)["params.p299"].tolist() == [299.0]


def test_join_refuses_what_is_no_table_of_sessions():
    frame = make_frame()
    with pytest.raises(TypeError, match=r"expected the frame of tbframe.hparams"):
        join(frame, {"run": ["a"]})
    with pytest.raises(ValueError, match=r"the hparams have no column 'run'. They have 'x'"):
        join(frame, pd.DataFrame({"x": [1]}))
    with pytest.raises(ValueError, match="several rows of run 'base'"):
        join(frame, pd.DataFrame({"run": ["base", "base"], "params.lr": [1, 2]}))
    with pytest.raises(ValueError, match="both frames have a column 'value'"):
        join(frame, pd.DataFrame({"run": ["base", "ours"], "value": [1, 2]}))


# --- wide, to_xarray ------------------------------------------------------------------------------------------------


def test_wide_equals_pandas_pivot():
    frame = make_frame()
    result = wide(frame)
    reference = frame.astype({"run": object, "tag": object}).pivot(index=["run", "step"], columns="tag", values="value")
    reference = reference.loc[RUNS]
    pd.testing.assert_frame_equal(result, reference[TAGS], check_index_type=False, check_column_type=False)
    assert type(result.columns) is pd.Index
    assert result.columns.name == "tag"
    assert result.index.names == ["run", "step"]
    assert not isinstance(result.index.levels[0], pd.CategoricalIndex)
    result["new"] = 1


def test_wide_by_other_columns_and_of_other_values():
    frame = extract(make_frame(), r"^(?P<method>\w+)/.*seed=(?P<seed>\d+)").assign(
        count=lambda f: f["step"] * 2, text="x"
    )
    result = wide(last(frame), "count", ["method", "seed"])
    assert result.index.tolist() == [("base", 2), ("base", 10), ("ours", 2), ("ours", 10)]
    assert result["acc"].tolist() == [94, 78, 94, 78]
    assert result["acc"].dtype == np.int64
    assert wide(frame, "count")["lr"].dtype == np.float64
    assert set(wide(frame, "text")["acc"]) == {"x"}


def test_wide_keeps_rows_whose_label_is_missing():
    frame = make_frame(["s1", "x"], ["loss"], 1)
    result = wide(extract(frame, r"s(?P<seed>\d)"), index="seed")
    np.testing.assert_array_equal(result.index, [1.0, np.nan])
    assert result["loss"].tolist() == frame["value"].tolist()
    result = wide(extract(frame, r"s(?P<seed>\d)"), index=["seed", "step"])
    np.testing.assert_array_equal(result.index.get_level_values("seed"), [1.0, np.nan])
    assert result["loss"].tolist() == frame["value"].tolist()


def repeated_frame():
    frame = make_frame(["a (1)"], ["loss"], 3)
    return pd.concat([frame, frame.iloc[1:].assign(value=[7.0, 8.0])], ignore_index=True)


@pytest.mark.parametrize("verb", [wide, to_xarray])
def test_repeated_rows_are_refused_or_chosen(verb):
    frame = repeated_frame()
    message = (
        r"2 of 5 rows repeat the \(.*\) of another, such as\n"
        rf"  run='a \(1\)', .*: value {frame['value'][1]}, 7\.0\n(.|\n)*"
        rf"Keep one of each: {verb.__name__}\(keep='last'\) or keep='first', or read with restarts='latest'"
    )
    with pytest.raises(ValueError, match=message):
        verb(frame)
    for keep, expected in (("last", [frame["value"][0], 7.0, 8.0]), ("first", frame["value"][:3].tolist())):
        result = verb(frame, keep=keep)
        values = result["loss"] if verb is wide else result["value"].to_numpy().ravel()
        assert list(values) == expected
    with pytest.raises(ValueError, match="keep='mean': expected 'first', 'last', or None"):
        verb(frame, keep="mean")


def test_to_xarray_takes_nullable_numbers_and_passes_over_texts():
    frame = make_frame(["a"], ["loss"], 2).assign(n=pd.array([3, None], dtype="Int64"), low="text")
    dataset = to_xarray(frame)
    np.testing.assert_array_equal(dataset["n"].to_numpy().ravel(), [3.0, np.nan])
    assert list(dataset.data_vars) == ["value", "wall_time", "n"]


def test_wide_refuses_unknown_columns_and_no_index():
    with pytest.raises(ValueError, match=r"values: the frame has no column 'loss'. It has 'run', 'tag'"):
        wide(make_frame(), "loss")
    with pytest.raises(ValueError, match="index: the frame has no column 'epoch'"):
        wide(make_frame(), index=["run", "epoch"])
    with pytest.raises(ValueError, match=r"index=\(\): expected at least one column"):
        wide(make_frame(), index=[])


def test_tables_that_would_be_padding_are_refused(monkeypatch):
    monkeypatch.setattr("tbframe.verbs.reshaping._LARGE", 100)
    frame = pd.concat(
        [make_frame([f"r{i}"], [f"t{i}"], 3).assign(step=[3 * i, 3 * i + 1, 3 * i + 2]) for i in range(30)]
    )
    with pytest.raises(
        ValueError, match=r"wide\(\): 90 rows × 30 tags would be 2,700 cells \(0.0 GiB\), of which 90 hold"
    ):
        wide(frame)
    with pytest.raises(ValueError, match=r"to_xarray\(\): 30 runs × 30 tags × 90 steps would be 81,000 cells"):
        to_xarray(frame)
    # Large, but full.
    assert wide(make_frame(length=200)).shape[1] == 3


def test_to_xarray_holds_every_row_and_saves(tmp_path):
    frame = elapsed(make_frame())
    dataset = to_xarray(frame)
    assert dataset["value"].dims == ("run", "tag", "step")
    assert dataset["run"].dtype == dataset["tag"].dtype == object
    assert dataset["step"].dtype == np.int64
    assert dataset["time"].dtype.kind == "M"
    for row in frame.sample(20, random_state=0).itertuples():
        cell = dataset.sel(run=row.run, tag=row.tag, step=row.step)
        np.testing.assert_equal(cell["value"].item(), row.value)
        assert cell["wall_time"].item() == row.wall_time
        assert pd.Timestamp(cell["time"].item(), tz="UTC") == row.time
    assert int(dataset["wall_time"].notnull().sum()) == len(frame)
    pytest.importorskip("netCDF4")
    import xarray as xr

    dataset.to_netcdf(tmp_path / "scalars.nc")
    with xr.open_dataset(tmp_path / "scalars.nc") as back:
        np.testing.assert_array_equal(back["value"], dataset["value"])
        assert back["run"].to_numpy().tolist() == RUNS


# --- smooth ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [0, 0.6, 0.999, 1])
def test_smooth_is_that_of_each_series(weight):
    frame = make_frame()
    result = smooth(frame, weight)
    for _, rows in frame.groupby(["run", "tag"], observed=True):
        alone = series.smooth(rows["value"].to_numpy(), weight)
        np.testing.assert_allclose(result.loc[rows.index, "value"], alone, rtol=0, atol=1e-13)
    assert smooth(frame)["value"].equals(smooth(frame, 0.6)["value"])


def test_smooth_follows_row_order_and_may_be_assigned():
    frame = make_frame(["a"], ["loss"]).iloc[::-1]
    result = frame.assign(s=smooth(frame)["value"])
    np.testing.assert_array_equal(result["s"], series.smooth(frame["value"].to_numpy()))


def test_smooth_by_half_life_takes_steps_or_seconds():
    frame = make_frame(["a"], ["loss"])
    values, step, time = (frame[column].to_numpy() for column in ("value", "step", "wall_time"))
    np.testing.assert_array_equal(smooth(frame, half_life_steps=3)["value"], series.smooth_half_life(values, step, 3))
    np.testing.assert_array_equal(smooth(frame, half_life_seconds=9)["value"], series.smooth_half_life(values, time, 9))


def test_smooth_takes_one_setting():
    with pytest.raises(
        ValueError, match="expected a weight or one half-life, found half_life_steps=1 and half_life_seconds=2"
    ):
        smooth(make_frame(), half_life_steps=1, half_life_seconds=2)
    with pytest.raises(ValueError, match=r"found weight=0.9 and half_life_steps=1"):
        smooth(make_frame(), 0.9, half_life_steps=1)
    with pytest.raises(ValueError, match="weight=2: expected a number from 0"):
        smooth(make_frame(), 2)
    with pytest.raises(ValueError, match="half_life=0"):
        smooth(make_frame(), half_life_seconds=0)


# --- downsample -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["reservoir", "even", "lttb", "minmax"])
def test_downsample_is_that_of_each_series(method):
    frame = make_frame()
    result = downsample(frame, 9, method, seed=3)
    one = {
        "reservoir": lambda rows: series.reservoir_indices(len(rows), 9, 3),
        "even": lambda rows: series.even_indices(len(rows), 9),
        "lttb": lambda rows: series.lttb_rows(rows["step"].to_numpy(), rows["value"].to_numpy(), 9),
        "minmax": lambda rows: series.minmax_rows(rows["value"].to_numpy(), 9),
    }[method]
    kept = [rows.index[one(rows)] for _, rows in frame.groupby(["run", "tag"], observed=True)]
    assert result.index.tolist() == sorted(np.concatenate(kept).tolist())


def test_downsample_by_default_is_tensorboards():
    frame = make_frame(["a"], ["loss"], 1200)
    assert downsample(frame)["step"].tolist() == series.reservoir_indices(1200, 1000).tolist()
    assert downsample(frame, 10)["step"].tolist() == [225, 304, 352, 505, 668, 789, 818, 929, 1035, 1199]


def test_downsample_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="method='random': expected one of 'reservoir', 'even', 'lttb', 'minmax'"):
        downsample(make_frame(), 5, "random")
    with pytest.raises(ValueError, match="n=0"):
        downsample(make_frame(), 0)


# --- elapsed --------------------------------------------------------------------------------------------------------


def test_elapsed_counts_from_each_runs_first_value():
    frame = make_frame()
    result = elapsed(frame)
    first = frame.groupby("run", observed=True)["wall_time"].transform("min")
    np.testing.assert_allclose(result["relative"], frame["wall_time"] - first)
    # Tag acc every 0.5 s, loss 1 s, lr 2 s: typically 0.5 s. The pause of 300.5 s counts as 0.5 s.
    late = frame["step"] > 30
    np.testing.assert_allclose(result["active"], result["relative"] - np.where(late, 300.0, 0.0))
    assert str(result["time"].dtype) == "datetime64[ns, UTC]"
    assert result["time"].iloc[0] == pd.Timestamp(1.7e9, unit="s", tz="UTC")


def test_elapsed_where_the_wall_time_is_no_time():
    frame = make_frame(["a"], ["loss"], 6)
    frame["wall_time"] = [np.nan, 5.25, np.inf, -np.inf, 1e12, 5.5]
    result = elapsed(frame)
    assert result["time"].isna().tolist() == [True, False, True, True, True, False]
    assert result["time"].iloc[1] == pd.Timestamp("1970-01-01 00:00:05.25", tz="UTC")
    np.testing.assert_array_equal(result["relative"], [np.nan, 0, np.inf, -np.inf, 1e12 - 5.25, 0.25])
    assert result["active"].iloc[5] == 0.25
    assert elapsed(frame.assign(wall_time=np.nan))["relative"].isna().all()


def test_elapsed_dates_are_exact_to_the_nanosecond():
    wall_time = 1795983116.9473243
    date = elapsed(make_frame(["a"], ["loss"], 1).assign(wall_time=wall_time))["time"].iloc[0]
    whole, fraction = divmod(wall_time, 1)
    assert date.value == int(whole) * 10**9 + round(fraction * 1e9)


def test_elapsed_since():
    frame = make_frame(["a", "b"], ["loss"], 4)
    starts = {"a": 1.7e9 - 10, "b": 1.7e9, "c": 0.0}
    expected = frame["wall_time"] - frame["run"].astype(object).map(starts).astype(float)
    for since in (
        starts,
        pd.Series(starts),
        pd.DataFrame({"run": pd.Categorical(list(starts)), "start": list(starts.values()), "files": 1}),
    ):
        np.testing.assert_allclose(elapsed(frame, since)["relative"], expected)
    np.testing.assert_allclose(elapsed(frame, 1.6e9)["relative"], frame["wall_time"] - 1.6e9)
    # The wait before the first value is a pause, too.
    assert elapsed(frame, 1.6e9)["active"].iloc[0] == pytest.approx(0.5)


def test_elapsed_refuses_starts_it_cannot_use():
    frame = make_frame(["a", "b"], ["loss"], 4)
    with pytest.raises(ValueError, match="since: no start for 'b'; expected one for every run"):
        elapsed(frame, {"a": 0.0})
    with pytest.raises(ValueError, match="since: run 'a' has several starts"):
        elapsed(frame, pd.Series([0.0, 1.0], index=["a", "a"]))
    with pytest.raises(ValueError, match=r"it lacks \['start'\]"):
        elapsed(frame, pd.DataFrame({"run": ["a"]}))
    with pytest.raises(TypeError, match="since='monday': expected a wall time in seconds"):
        elapsed(frame, "monday")


# --- last, best -----------------------------------------------------------------------------------------------------


def test_last_is_the_last_row_not_the_last_step():
    frame = make_frame(["a"], ["loss"], 4).assign(step=[5, 9, 2, 3])
    assert last(frame)["step"].tolist() == [3]


@pytest.mark.parametrize("mode", ["min", "max"])
def test_best_equals_pandas(mode):
    frame = make_frame()
    groups = frame.groupby(["run", "tag"], observed=True)["value"]
    labels = groups.idxmin() if mode == "min" else groups.idxmax()
    assert best(frame, mode).index.tolist() == sorted(labels)


def test_best_takes_the_first_of_equals_and_the_last_of_nothing():
    frame = make_frame(["a"], ["x", "y"], 4)
    frame = frame[frame["tag"] == "x"].assign(value=[2.0, 1.0, 1.0, np.nan])
    assert best(frame)["step"].tolist() == [1]
    assert best(frame.assign(value=np.nan))["step"].tolist() == [3]


def test_best_by_tag():
    frame = make_frame(["a"], ["acc", "loss"], 4).assign(value=[0.1, 0.9, 0.5, 0.2, 3.0, 1.0])
    assert best(frame, {"acc": "max", "loss": "min", "other": "min"})["value"].tolist() == [0.9, 1.0]
    with pytest.raises(ValueError, match="mode: says nothing about 'loss'; it has 'acc'"):
        best(frame, {"acc": "max"})
    with pytest.raises(ValueError, match="mode='lowest' for tag 'acc': expected 'min' or 'max'"):
        best(frame, "lowest")


def test_best_of_a_tag_takes_every_tag_at_that_step():
    rows = [
        ("loss", 0, 3.0),
        ("loss", 10, 1.0),
        ("loss", 20, 2.0),
        ("acc", 0, 0.1),
        ("acc", 10, 0.5),
        ("acc", 10, 0.6),
        ("acc", 20, 0.9),
        ("lr", 5, 0.01),
        ("lr", 15, 0.02),
        ("late", 15, 1.0),
    ]
    frame = pd.DataFrame(rows, columns=["tag", "step", "value"]).assign(run="a")
    result = best(frame, of="loss").set_index("tag")
    # The last row at the step; what was not logged there, before it; what came later only, not at all.
    assert result["value"].to_dict() == {"loss": 1.0, "acc": 0.6, "lr": 0.01}
    assert result["step"].to_dict() == {"loss": 10, "acc": 10, "lr": 5}
    assert best(frame, {"loss": "max"}, of="loss")["step"].tolist() == [0, 0]


def test_best_of_a_tag_keeps_the_best_row_itself_where_its_step_repeats():
    frame = pd.DataFrame({"run": "a", "tag": "loss", "step": [1, 1, 2], "value": [0.5, 0.9, 0.8]})
    assert best(frame, of="loss")["value"].tolist() == [0.5]


def test_best_of_a_tag_some_runs_lack():
    frame = make_frame(["a", "b"], ["acc", "loss"], 4)
    frame = frame[(frame["run"] == "a") | (frame["tag"] == "acc")]
    with pytest.warns(UserWarning, match="leaves out 1 of 2 runs: no number of that tag in 'b'"):
        assert best(frame, of="loss")["run"].unique().tolist() == ["a"]
    with pytest.raises(UnknownNameError, match=r"no tag 'losss'. Did you mean 'loss'"):
        best(frame, of="losss")


# --- aggregate ------------------------------------------------------------------------------------------------------


def slow_aggregate(frame, group_of, method="exact"):
    """Mean, standard deviation and count per group, tag and step, run by run."""
    rows = {}
    for (run, tag), part in frame.groupby(["run", "tag"], observed=True):
        rows.setdefault((group_of(run), tag), []).append(dict(zip(part["step"], part["value"], strict=True)))
    out = []
    for (group, tag), runs in rows.items():
        for step in sorted(set().union(*runs)):
            if method == "interp":
                at = [
                    np.interp(step, sorted(run), [run[s] for s in sorted(run)])
                    for run in runs
                    if min(run) <= step <= max(run)
                ]
            else:
                at = [run[step] for run in runs if step in run]
            known = [value for value in at if not np.isnan(value)]
            with np.errstate(invalid="ignore"):
                centre = np.mean(known) if known else np.nan
                spread = np.std(known, ddof=1) if len(known) > 1 else np.nan
            out.append((group, tag, step, centre, spread, len(known)))
    return pd.DataFrame(out, columns=["run", "tag", "step", "value", "std", "n"])


@pytest.mark.parametrize("method", ["exact", "interp"])
def test_aggregate_equals_the_plain_loop(method):
    frame = make_frame().replace({"value": {np.inf: 3.0, -np.inf: 2.0, np.nan: 1.0 if method == "interp" else np.nan}})
    frame["step"] += frame["run"].cat.codes % 2 * 3
    result = aggregate(frame, lambda run: run.split("/")[0], band="std", align=method)
    reference = slow_aggregate(frame, lambda run: run.split("/")[0], method)
    assert result["run"].astype(str).tolist() == reference["run"].tolist()
    assert result["tag"].astype(str).tolist() == reference["tag"].tolist()
    assert result["step"].tolist() == reference["step"].tolist()
    assert result["n"].tolist() == reference["n"].tolist()
    np.testing.assert_allclose(result["value"], reference["value"], rtol=1e-9)
    np.testing.assert_allclose(result["low"], reference["value"] - reference["std"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result["high"], reference["value"] + reference["std"], rtol=1e-9, atol=1e-12)


def test_aggregate_makes_a_scalars_frame_that_goes_on():
    result = aggregate(make_frame(), r"^(?P<method>\w+)/lr=(?P<rate>[\d.]+)")
    assert list(result.columns) == ["run", "tag", "step", "wall_time", "value", "low", "high", "n", "method", "rate"]
    assert list(result["run"].cat.categories) == ["base, rate=0.1", "ours, rate=0.01"]
    assert result["rate"].dtype == np.float64
    assert isinstance(result.index, pd.RangeIndex)
    assert wide(smooth(result)).shape[1] == 3
    assert len(last(result)) == 6


GROUPINGS = {
    "column": lambda frame: (extract(frame, r"^(?P<method>\w+)"), "method"),
    "columns": lambda frame: (extract(frame, r"^(?P<method>\w+)/lr=(?P<rate>[\d.]+)"), ["method"]),
    "pattern": lambda frame: (frame, re.compile(r"^(?P<method>\w+)")),
    "text": lambda frame: (frame, r"^(?P<method>\w+)"),
    "function": lambda frame: (frame, lambda run: run.split("/")[0]),
    "mapping": lambda frame: (frame, {run: run.split("/")[0] for run in RUNS}),
    "hparams": lambda frame: (
        frame,
        pd.DataFrame({"run": RUNS, "params.method": [run[:4] for run in RUNS], "metrics.loss": range(4)}),
    ),
}


@pytest.mark.parametrize("kind", GROUPINGS)
def test_aggregate_groups_in_every_way(kind):
    frame, by = GROUPINGS[kind](make_frame())
    result = aggregate(frame, by, band=None)
    assert list(result["run"].cat.categories) == ["base", "ours"]
    reference = slow_aggregate(frame, lambda run: run.split("/")[0])
    np.testing.assert_allclose(result["value"], reference["value"], rtol=1e-12)
    name = {"function": "group", "mapping": "group", "hparams": "params.method"}.get(kind, "method")
    assert list(result.columns) == ["run", "tag", "step", "wall_time", "value", "n", name]
    assert result[name].astype(str).tolist() == result["run"].astype(str).tolist()


def test_aggregate_of_all_and_by_run():
    frame = make_frame()
    assert aggregate(frame)["run"].unique().tolist() == ["all"]
    alone = aggregate(frame, "run", band="ci")
    assert alone["low"].isna().all()
    assert alone["high"].isna().all()
    assert set(alone["n"]) == {0, 1}
    assert list(alone["run"].cat.categories) == RUNS
    assert list(alone.columns) == ["run", "tag", "step", "wall_time", "value", "low", "high", "n"]


def test_aggregate_orders_and_labels_groups_by_their_values():
    frame = make_frame(["s1", "s2", "s3"], ["loss"], 2)
    by_number = aggregate(frame, {"s1": 0.1, "s2": 2e-5, "s3": 10}, band=None)
    assert list(by_number["run"].cat.categories) == ["group=2e-05", "group=0.1", "group=10"]
    by_name = aggregate(frame, {"s1": "v10", "s2": "v9", "s3": "v9"}, band=None)
    assert list(by_name["run"].cat.categories) == ["v9", "v10"]
    mixed = aggregate(frame, {"s1": "x", "s2": 3, "s3": True}, band=None)
    assert list(mixed["run"].cat.categories) == ["x", "group=3", "group=True"]
    flags = aggregate(
        join(frame, pd.DataFrame({"run": ["s1", "s2", "s3"], "params.a": [True, False, True]})), "params.a"
    )
    assert list(flags["run"].cat.categories) == ["a=False", "a=True"]


def test_aggregate_leaves_out_runs_without_a_group_and_says_so():
    frame = make_frame(["s1", "s2", "other"], ["loss"], 2)
    with pytest.warns(UserWarning, match=r"aggregate\(\): 1 of 3 runs have rows in no group: 'other'"):
        result = aggregate(frame, r"(?P<letter>s)\d", band=None)
    assert result["n"].tolist() == [2, 2]


def test_aggregate_groups_rows_by_a_column_that_changes_within_a_run():
    frame = make_frame(["a", "b"], ["loss"], 8).assign(phase=lambda f: np.where(f["step"] < 4, "warm-up", "training"))
    result = aggregate(frame, "phase", band=None)
    assert result.groupby("run", observed=True)["step"].max().to_dict() == {"warm-up": 3, "training": 7}


def test_aggregate_refuses_repeated_rows():
    with pytest.raises(
        ValueError, match=r"aggregate\(\): 2 of 5 rows repeat the \(run, tag, step\) of another(.|\n)*drop_duplicates"
    ):
        aggregate(repeated_frame())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"by": "seed"}, ValueError, "the frame has no column 'seed'. It has 'run', 'tag'"),
        ({"by": ["run", "seed"]}, ValueError, "no column 'seed'"),
        ({"by": []}, ValueError, "the frame has no column"),
        ({"by": 3}, TypeError, "expected a column or several, a regular expression"),
        ({"by": re.compile("x")}, ValueError, "has no named group"),
        ({"by": pd.DataFrame({"run": RUNS})}, ValueError, r"the hparams have no column params\.\*"),
        ({"by": pd.DataFrame({"params.x": [1]})}, ValueError, "the hparams have no column 'run'"),
        ({"by": "step"}, ValueError, "the result has a column 'step' of its own"),
        (
            {"by": dict(zip(RUNS, ["group=1", 1, 1, 1], strict=True))},
            ValueError,
            "different groups would have the same label",
        ),
        ({"estimator": "mode"}, ValueError, "estimator='mode'"),
        ({"band": "sd"}, ValueError, "band='sd'"),
        ({"align": "linear"}, ValueError, "align='linear'"),
        ({"level": 2}, ValueError, "level=2"),
        ({"resamples": 0}, ValueError, "resamples=0"),
    ],
)
def test_aggregate_refuses_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        aggregate(make_frame(), **arguments)


# --- check ----------------------------------------------------------------------------------------------------------


def tidy_series(run, tag, **columns):
    length = max(len(values) for values in columns.values())
    base = {"step": np.arange(length), "wall_time": np.arange(length) * 2.0, "value": np.sin(np.arange(length))}
    return pd.DataFrame({"run": run, "tag": tag, **base, **columns})


def findings(*parts, by=None):
    result = check(pd.concat(parts, ignore_index=True), by)
    assert list(result.columns) == ["run", "tag", "finding", "count", "step", "detail"]
    return list(result.drop(columns="run").itertuples(index=False, name=None))


def test_check_finds_nothing_in_a_good_series():
    assert findings(tidy_series("a", "x", step=np.arange(50))) == []


def test_check_finds_numbers_that_are_none():
    value = np.sin(np.arange(20.0))
    value[[3, 5, 7]] = np.nan, np.nan, np.inf
    assert findings(tidy_series("a", "x", value=value)) == [
        ("x", "nan", 2, 3, "2 of 20 rows"),
        ("x", "infinite", 1, 7, "1 of 20 rows"),
    ]
    value[17:] = np.nan
    assert ("x", "diverging", 3, 17, "not finite from step 17 to end") in findings(tidy_series("a", "x", value=value))


def test_check_finds_steps_that_repeat_or_go_back():
    assert findings(tidy_series("a", "x", step=[0, 5, 6, 6, 5, 7, 8])) == [
        ("x", "step repeats", 2, 6, "2 of 7 rows"),
        ("x", "step goes back", 1, 5, "1 of 7 rows"),
    ]


def test_check_finds_gaps_flat_and_growing_series():
    assert findings(tidy_series("a", "x", wall_time=[0.0, 1, 2, 3, 103, 104, 125])) == [
        ("x", "gap in time", 2, 4, "up to 100 s; usually 1 s")
    ]
    assert findings(tidy_series("a", "x", value=[2.5, 2.5, 2.5])) == [("x", "flat", 3, 0, "always 2.5")]
    assert findings(tidy_series("a", "x", value=[2.5, 2.5])) == []
    grown = np.append(np.sin(np.arange(90.0)), np.full(10, 50.0))
    (finding,) = findings(tidy_series("a", "x", value=grown))
    assert finding[:4] == ("x", "diverging", 10, 90)
    assert finding[4].endswith("times the largest of its first half")
    assert findings(tidy_series("a", "x", value=np.linspace(1, 20, 100))) == []


def test_check_compares_lengths_within_groups():
    parts = [
        tidy_series("a/0", "x", step=np.arange(9)),
        tidy_series("a/1", "x", step=np.arange(5)),
        tidy_series("b/0", "x", step=np.arange(7)),
    ]
    assert findings(*parts) == [
        ("x", "ends early", 5, 4, "ends at step 4, others at 8"),
        ("x", "ends early", 7, 6, "ends at step 6, others at 8"),
    ]
    assert findings(*parts, by=lambda run: run[0]) == [("x", "ends early", 5, 4, "ends at step 4, others at 8")]


def test_check_orders_by_run_tag_and_finding():
    value = [1.0, np.nan, 1.0, 2.0, np.inf]
    result = check(pd.concat([tidy_series(run, tag, value=value) for run in ("v10", "v2") for tag in ("y", "x")]))
    assert result["run"].tolist() == ["v2"] * 6 + ["v10"] * 6
    assert result["tag"].tolist() == (["x"] * 3 + ["y"] * 3) * 2
    assert result["finding"].tolist() == ["nan", "infinite", "diverging"] * 4


# --- size -----------------------------------------------------------------------------------------------------------


def test_many_series_need_no_loop_over_them():
    # 20,000 series of 3 rows: anything that loops over series in Python takes many seconds here.
    count = 20_000
    runs = [f"run{i}" for i in range(count)]
    frame = pd.DataFrame(
        {
            "run": pd.Categorical.from_codes(np.repeat(np.arange(count), 3), runs),
            "tag": pd.Categorical.from_codes(np.zeros(3 * count, int), ["loss"]),
            "step": np.tile([0, 1, 2], count),
            "wall_time": np.tile([0.0, 1.0, 2.0], count),
            "value": np.arange(3 * count) % 7.0,
        }
    )
    assert len(smooth(frame)) == 3 * count
    assert len(downsample(frame, 2, "lttb")) == len(downsample(frame, 2)) == 2 * count
    assert len(best(frame, of="loss")) == len(last(frame)) == count
    assert len(aggregate(frame, band="std")) == 3
    assert elapsed(frame)["active"].max() == 2.0
    assert wide(frame).shape == (3 * count, 1)
    assert check(frame).empty
