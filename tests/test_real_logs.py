"""The scalars of real logs equal what a real TensorBoard serves, in windows of every size."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import expected, log_path

import tbframe

WINDOWS = (1 << 12, 1 << 16, 1 << 20)


def opened(name: str, window_size: int) -> tbframe.LogDir:
    log = tbframe.open(log_path(name))
    log._window_size = window_size
    return log


def scalars(log: tbframe.LogDir, **options) -> dict[tuple[str, str], pd.DataFrame]:
    """By run and tag; the warnings of restarts are tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tbframe.RestartWarning)
        frame = log.scalars(**options)
    return dict(list(frame.groupby(["run", "tag"], observed=True)))


def points(answer: list) -> np.ndarray:
    """TensorBoard's points as (wall_time, step, value); JSON spells NaN and infinities as strings."""
    return np.array([[wall, step, float(value)] for wall, step, value in answer])


def assert_same(frame: pd.DataFrame, answer: list) -> None:
    want = points(answer)
    assert frame["wall_time"].tolist() == want[:, 0].tolist()
    assert frame["step"].tolist() == [point[1] for point in answer]
    # As bits, so that -0.0 and NaN count.
    assert frame["value"].to_numpy().view(np.uint64).tolist() == want[:, 2].copy().view(np.uint64).tolist()


@pytest.mark.parametrize("window_size", WINDOWS)
def test_scalars_equal_the_python_server(log, window_size):
    found = scalars(opened(log, window_size))
    answers = {
        (run, tag): points for run, by_tag in expected(log)["scalars"]["data"].items() for tag, points in by_tag.items()
    }
    assert set(found) == set(answers)
    for (run, tag), answer in answers.items():
        if tag == "bfloat16":  # the server fails on it
            assert "http_error" in answer
            continue
        if run == "restarted" and log in ("torch", "tensorboardx"):  # the server ignores the first START
            assert len(answer) == 70
            answer = answer[:30] + answer[40:]
            assert [point[1] for point in answer] == list(range(60))
        assert_same(found[run, tag], answer)


@pytest.mark.parametrize("window_size", WINDOWS)
def test_latest_equals_the_fast_server(log, window_size):
    found = scalars(opened(log, window_size), restarts="latest")
    for run, by_tag in expected(f"{log}-fast")["scalars"]["data"].items():
        for tag, answer in by_tag.items():
            assert_same(found[run, tag], answer)


@pytest.mark.parametrize("window_size", WINDOWS)
def test_bfloat16_is_read(window_size):
    frame = scalars(opened("tf2", window_size), tags="bfloat16")["summary", "bfloat16"]
    wanted = (np.float32(0.1) * np.arange(12)).astype(np.float32)
    assert frame["step"].tolist() == list(range(12))
    assert np.allclose(frame["value"], wanted, rtol=2**-8)
    # 8 bits of precision: the lower half of each float32 is empty.
    assert not (frame["value"].to_numpy(np.float32).view(np.uint32) & 0xFFFF).any()


@pytest.mark.parametrize("name", ["torch", "tensorboardx"])
def test_keep_returns_every_row_written(name):
    frame = scalars(opened(name, WINDOWS[-1]), restarts="keep", runs="restarted")["restarted", "loss"]
    assert frame["step"].tolist() == [*range(40), *range(30, 60)]
    assert frame["value"].tolist() == [
        *(float(np.float32(1 / (step + 1))) for step in range(40)),
        *(float(np.float32(2 / (step + 1))) for step in range(30, 60)),
    ]


def test_listings_equal_tensorboard(log):
    index = tbframe.index(log_path(log))
    tags = tbframe.tags(log_path(log))
    assert set(index) == set(expected(log)["runs"])
    names = {"mesh": "meshes"}
    for plugin in ("scalars", "histograms", "images", "audio", "text", "pr_curves", "mesh"):
        kind = names.get(plugin, plugin)
        answer = {run: set(by_tag) for run, by_tag in expected(log)[plugin]["tags"].items()}
        assert {run: set(kinds[kind]) for run, kinds in index.items() if kinds[kind]} == answer
        listed = tags[tags["kind"] == kind].groupby("run", observed=True)["tag"].agg(set).to_dict()
        assert listed == answer
    graphs = {run for run, kinds in index.items() if kinds["graph"]}
    assert graphs == {
        run
        for run, info in expected(log)["graphs"]["info"].items()
        if info["run_graph"] or any(tag["conceptual_graph"] or tag["op_graph"] for tag in info["tags"].values())
    }


def test_listings_carry_what_the_metadata_say(log):
    tags = tbframe.tags(log_path(log)).set_index(["run", "tag", "kind"])
    for run, by_tag in expected(log)["scalars"]["tags"].items():
        for tag, info in by_tag.items():
            shown = tags.loc[(run, tag, "scalars")]
            # Where the writer gave none, the server shows the tag; descriptions come rendered.
            assert shown["display_name"] in (info["displayName"], "")
            assert bool(shown["description"]) == bool(info["description"])


def test_counts_and_steps_of_tags_are_those_written(log):
    frame = scalars(opened(log, WINDOWS[-1]), restarts="keep")
    tags = tbframe.tags(log_path(log)).query("kind == 'scalars'").set_index(["run", "tag"])
    assert set(tags.index) == set(frame)
    for series, rows in frame.items():
        assert tags.loc[series, ["count", "first_step", "last_step"]].tolist() == [
            len(rows),
            rows["step"].iloc[0],
            rows["step"].iloc[-1],
        ]


def test_dtypes_of_tags():
    tags = tbframe.tags(log_path("tf2")).query("run == 'summary' and kind == 'scalars'").set_index("tag")
    assert tags["dtype"].to_dict() == {
        "bfloat16": "bfloat16",
        "bool": "bool",
        "float64": "float64",
        "half": "float16",
        "int64": "int64",
        "loss": "float32",
        "uint8": "uint8",
    }


def test_frame_has_the_documented_form(log):
    frame = scalars_frame = opened(log, WINDOWS[-1]).scalars(restarts="latest", damaged="raise")
    assert frame.columns.tolist() == ["run", "tag", "step", "wall_time", "value"]
    assert isinstance(frame.index, pd.RangeIndex)
    assert frame["run"].dtype == "category"
    assert frame["tag"].dtype == "category"
    assert [str(frame[c].dtype) for c in ("step", "wall_time", "value")] == ["int64", "float64", "float64"]
    assert set(frame["run"].cat.categories) == set(frame["run"])
    assert set(frame["tag"].cat.categories) == set(frame["tag"])
    assert scalars_frame["run"].cat.codes.is_monotonic_increasing
    assert frame.groupby("run", observed=True)["tag"].apply(lambda tags: tags.cat.codes.is_monotonic_increasing).all()


pytestmark = pytest.mark.filterwarnings("ignore::tbframe.RestartWarning")
