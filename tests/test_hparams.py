"""Hyperparameters and metrics: against TensorBoard's answers, and the cases it gets wrong."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import LOGS, expected, log_path
from event_bytes import VERSION, field, record, scalar_event, timed

import tbframe
from tbframe.events.messages import message_class
from tbframe.kinds.param_columns import value_of

TYPES = {"float": "DATA_TYPE_FLOAT64", "str": "DATA_TYPE_STRING", "bool": "DATA_TYPE_BOOL"}


def frame_of(logdir, **options) -> pd.DataFrame:
    return tbframe.hparams(logdir, **options)


def event(tag: str, **data) -> bytes:
    """An event without a value, as PyTorch logs hyperparameters."""
    content = message_class("HParamsPluginData")(**data).SerializeToString()
    return raw_event(tag, content)


def raw_event(tag: str, content: bytes, step: int = 0) -> bytes:
    metadata = field(1, field(1, b"hparams") + field(2, content))
    return timed(step, field(5, field(1, field(1, tag.encode()) + field(9, metadata))))


def started(params: dict[str, object], **more) -> bytes:
    values = {}
    for name, value in params.items():
        kind = "bool_value" if isinstance(value, bool) else "string_value" if isinstance(value, str) else "number_value"
        values[name] = message_class("Value")(**{kind: value}) if isinstance(value, bool | str | float | int) else value
    return event("_hparams_/session_start_info", session_start_info={"hparams": values, **more})


def ended(**more) -> bytes:
    return event("_hparams_/session_end_info", session_end_info=more)


def declared(**more) -> bytes:
    return event("_hparams_/experiment", experiment=more)


def write(directory: Path, *events: bytes) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    data = b"".join(record(one) for one in (VERSION, *events))
    (directory / "events.out.tfevents.1700000000.x").write_bytes(data)
    return directory


# TensorBoard's answers ------------------------------------------------------------------------------------------------


def last_values(log: str) -> dict[tuple[str, str], tuple[int, float]]:
    """Step and wall time of the last value of each run and tag."""
    scalars = tbframe.scalars(log_path(log), restarts="keep")
    rows = scalars.groupby(["run", "tag"], observed=True).tail(1)
    return {(row.run, row.tag): (row.step, row.wall_time) for row in rows.itertuples()}


def metric_values(frame: pd.DataFrame, row: int, log: str, shown: list[dict]) -> list[dict]:
    """The metricValues of a session: those of the metrics that the experiment TensorBoard goes by declares."""
    at = last_values(log)
    found = []
    for column, (group, tag) in frame.attrs["tbframe"]["metrics"].items():
        if {"group": group, "tag": tag} in [info["name"] for info in shown] and not math.isnan(frame[column][row]):
            run = f"{frame.run[row]}/{group}" if group else frame.run[row]
            step, wall_time = at[run, tag]
            name = {"group": group, "tag": tag}
            found.append({"name": name, "trainingStep": step, "value": frame[column][row], "wallTimeSecs": wall_time})
    return found


def experiment_answer(experiment: dict) -> dict:
    params = []
    for info in sorted(experiment["params"], key=lambda info: info["name"]):
        domain = {"domainDiscrete": info["values"]} if "values" in info else {}
        if "min" in info:
            domain = {"domainInterval": {"minValue": info["min"], "maxValue": info["max"]}}
        params.append(
            {
                "name": info["name"],
                "displayName": info["display_name"],
                "description": info["description"],
                "type": TYPES[info["type"]],
                "differs": False,
                **domain,
            }
        )
    metrics = [
        {
            "name": {"group": info["group"], "tag": info["tag"]},
            "displayName": info["display_name"],
            "description": info["description"],
            "datasetType": "DATASET_" + (info["dataset"].upper() or "UNKNOWN"),
        }
        for info in experiment["metrics"]
    ]
    return {
        "name": experiment["name"],
        "description": experiment["description"],
        "user": experiment["user"],
        "timeCreatedSecs": 0.0 if math.isnan(experiment["time_created"]) else experiment["time_created"],
        "hparamInfos": params,
        "metricInfos": metrics,
    }


@pytest.mark.parametrize("server", ["", "-fast"])
def test_tensorboards_experiment_can_be_rebuilt(log, server):
    answer = expected(log + server)["hparams"]["experiment"]
    experiments = frame_of(log_path(log)).attrs["tbframe"]["experiments"]
    if not experiments:
        assert log == "tf1"
        assert answer["hparamInfos"] == answer["metricInfos"] == []
        return
    # TensorBoard shows one of them and drops the rest; which one is arbitrary.
    assert answer in [experiment_answer(experiment) for experiment in experiments]


@pytest.mark.parametrize("server", ["", "-fast"])
def test_tensorboards_session_groups_can_be_rebuilt(log, server):
    answer = expected(log + server)["hparams"]
    frame = frame_of(log_path(log))
    groups = []
    for group in pd.unique(frame["group"]):
        rows = np.flatnonzero(frame["group"] == group)
        sessions = []
        for row in rows.tolist():
            start, end = frame.start_time[row], frame.end_time[row]
            sessions.append(
                {
                    "name": frame.run[row],
                    "status": "STATUS_" + frame.status[row],
                    "startTimeSecs": 0.0 if math.isnan(start) else start,
                    "endTimeSecs": 0.0 if math.isnan(end) else end,
                    "modelUri": "",
                    "monitorUrl": "",
                    "metricValues": metric_values(frame, row, log, answer["experiment"]["metricInfos"]),
                }
            )
        assert len(sessions) == 1  # so that the group's metrics are the session's
        params = frame.filter(regex=r"^params\.").iloc[rows[0]].dropna()
        groups.append(
            {
                "name": group,
                "hparams": {name.removeprefix("params."): value for name, value in params.items()},
                "metricValues": sessions[0]["metricValues"],
                "monitorUrl": "",
                "sessions": sessions,
            }
        )
    assert {"sessionGroups": groups, "totalSize": len(groups)} == answer["session_groups"]


@pytest.mark.parametrize(("log", "bias"), [("torch", "float64"), ("tensorboardx", "boolean")])
def test_booleans_that_pytorch_stores_as_numbers(log, bias):
    frame = frame_of(log_path(log))
    assert str(frame["params.bias"].dtype) == bias
    assert frame["params.bias"].tolist() == [1.0, 1.0]
    assert frame.run.tolist() == ["adam-1e-2/hp", "adam-1e-3/hp"]


# Types ----------------------------------------------------------------------------------------------------------------


def test_columns_and_types(tmp_path):
    write(tmp_path / "s2", started({"lr": 0.1, "deep": True, "opt": "sgd", "width": 32, "only": 1}))
    write(tmp_path / "s10", started({"lr": math.nan, "deep": False, "opt": "adam", "width": "auto"}, group_name="g"))
    frame = frame_of(tmp_path)
    assert frame.columns.tolist() == [
        "run", "group", "status", "start_time", "end_time",
        "params.deep", "params.lr", "params.only", "params.opt", "params.width",
    ]  # fmt: skip
    assert frame.run.tolist() == ["s2", "s10"]
    assert frame.run.cat.categories.tolist() == ["s2", "s10"]
    assert frame.group.tolist() == ["s2", "g"]
    assert [str(dtype) for dtype in frame.dtypes] == [
        "category", "object", "object", "float64", "float64", "boolean", "float64", "float64", "object", "object",
    ]  # fmt: skip
    assert frame["params.deep"].tolist() == [True, False]
    np.testing.assert_array_equal(frame["params.lr"], [0.1, math.nan])
    assert frame["params.width"].tolist() == ["32", "auto"]
    np.testing.assert_array_equal(frame["params.only"], [1.0, math.nan])
    assert isinstance(frame.index, pd.RangeIndex)


def test_infinite_and_structured_hyperparameters_are_kept(tmp_path):
    value = message_class("Value")
    layers = value(list_value={"values": [value(number_value=8), value(string_value="x"), value(null_value=0)]})
    nested = value(struct_value={"fields": {"a": value(bool_value=True), "b": layers}})
    write(tmp_path, started({"inf": -math.inf, "layers": layers, "nested": nested, "none": value(null_value=0)}))
    frame = frame_of(tmp_path)
    assert frame["params.inf"].tolist() == [-math.inf]
    assert frame["params.layers"].tolist() == ['[8.0, "x", null]']
    assert frame["params.nested"].tolist() == ['{"a": true, "b": [8.0, "x", null]}']
    assert frame["params.none"].isna().tolist() == [True]
    assert value_of(value()) is None


def test_no_sessions():
    for fold in (False, True):
        frame = frame_of(log_path("tf1"), fold=fold)
        assert len(frame) == 0
        assert frame.columns.drop("session", errors="ignore").tolist() == [
            "run", "group", "status", "start_time", "end_time",
        ]  # fmt: skip
        assert [str(dtype) for dtype in frame.drop(columns="session", errors="ignore").dtypes] == [
            "category", "object", "object", "float64", "float64",
        ]  # fmt: skip


def test_status_and_times(tmp_path):
    write(tmp_path / "a", started({"x": 1}, start_time_secs=5.5), ended(status=2, end_time_secs=7.25))
    write(tmp_path / "b", started({"x": 1}), ended(status=3))
    write(tmp_path / "c", started({"x": 1}, model_uri="m", monitor_url="u"), ended(status=9))
    write(tmp_path / "d", ended(status=1))  # no session without a start
    frame = frame_of(tmp_path)
    assert frame.status.tolist() == ["FAILURE", "RUNNING", "9"]
    np.testing.assert_array_equal(frame.start_time, [5.5, math.nan, math.nan])
    np.testing.assert_array_equal(frame.end_time, [7.25, math.nan, math.nan])
    assert frame.model_uri.tolist() == ["", "", "m"]
    assert frame.monitor_url.tolist() == ["", "", "u"]


# Metrics --------------------------------------------------------------------------------------------------------------


def scalars(tag: str, *values: float, first: int = 0) -> list[bytes]:
    return [scalar_event(first + step, value, tag.encode()) for step, value in enumerate(values)]


def test_metrics_belong_to_the_nearest_session(tmp_path):
    write(tmp_path / "s", started({"x": 1}), *scalars("loss", 3, 2))
    write(tmp_path / "s/eval", *scalars("loss", 5))
    write(tmp_path / "s/eval/deep", *scalars("loss", 6))
    write(tmp_path / "s/inner", started({"x": 2}), *scalars("loss", 7))
    write(tmp_path / "s/inner/eval", *scalars("loss", 8))
    write(tmp_path / "sibling", *scalars("loss", 9))
    write(tmp_path / "s2", *scalars("loss", 10))
    frame = frame_of(tmp_path)
    assert frame.run.tolist() == ["s", "s/inner"]
    assert frame.columns[6:].tolist() == ["metrics.eval/deep/loss", "metrics.eval/loss", "metrics.loss"]
    assert frame["metrics.loss"].tolist() == [2.0, 7.0]
    assert frame["metrics.eval/loss"].tolist() == [5.0, 8.0]
    np.testing.assert_array_equal(frame["metrics.eval/deep/loss"], [6.0, math.nan])
    # A session that is left out keeps its runs.
    assert frame_of(tmp_path, runs="s").filter(like="metrics.").iloc[0].to_dict() == {
        "metrics.loss": 2.0, "metrics.eval/loss": 5.0, "metrics.eval/deep/loss": 6.0,
    }  # fmt: skip


def test_sessions_of_the_root_run(tmp_path):
    # TensorBoard looks for the scalars of the root in a run "./.", and never matches its sub-runs.
    write(tmp_path, started({"x": 1}), *scalars("loss", 1))
    write(tmp_path / "eval/all", *scalars("loss", 2))
    frame = frame_of(tmp_path)
    assert frame.run.tolist() == ["."]
    assert frame.group.tolist() == ["."]
    assert frame["metrics.loss"].tolist() == [1.0]
    assert frame["metrics.eval/all/loss"].tolist() == [2.0]


@pytest.mark.parametrize(
    ("how", "of_numbers", "of_some", "of_none"),
    [
        ("last", 2.0, math.nan, math.nan),
        ("min", 1.0, 4.0, math.nan),
        ("max", 6.0, 8.0, math.nan),
        ("mean", 3.0, 6.0, math.nan),
    ],
)
def test_which_value_of_a_metric_is_taken(tmp_path, how, of_numbers, of_some, of_none):
    nan = math.nan
    write(tmp_path, started({}), *scalars("a", 1, 6, 2), *scalars("b", nan, 4, 8, nan), *scalars("c", nan, nan))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = frame_of(tmp_path, metrics=how)
    np.testing.assert_array_equal(
        frame[["metrics.a", "metrics.b", "metrics.c"]].iloc[0], [of_numbers, of_some, of_none]
    )


def test_an_unknown_aggregate(tmp_path):
    write(tmp_path, started({}))
    with pytest.raises(ValueError, match=r"metrics='best': expected one of 'last', 'min', 'max', 'mean'"):
        frame_of(tmp_path, metrics="best")


def test_tags_and_runs_choose(tmp_path):
    write(tmp_path / "a", started({"x": 1}), *scalars("loss", 1), *scalars("acc", 2))
    write(tmp_path / "b", started({"y": 1}), *scalars("loss", 3))
    assert frame_of(tmp_path, tags="loss").columns[-1:].tolist() == ["metrics.loss"]
    assert frame_of(tmp_path, runs=["b"]).columns[5:].tolist() == ["params.y", "metrics.loss"]
    with pytest.raises(tbframe.UnknownNameError, match=r"no tag 'los'. Did you mean 'loss'"):
        frame_of(tmp_path, tags="los")
    with pytest.raises(tbframe.UnknownNameError, match=r"no run 'c'"):
        frame_of(tmp_path, runs="c")


def test_metrics_that_would_share_a_name(tmp_path):
    write(tmp_path / "s", started({}), *scalars("eval/loss", 1), *scalars("eval//loss", 2))
    write(tmp_path / "s/eval", *scalars("loss", 3))
    frame = frame_of(tmp_path)
    assert frame.columns.is_unique
    assert {name: frame[name][0] for name in frame.attrs["tbframe"]["metrics"]} == {
        "metrics.eval/loss": 1.0, "metrics.eval//loss": 2.0, "metrics.eval///loss": 3.0,
    }  # fmt: skip
    assert frame.attrs["tbframe"]["metrics"]["metrics.eval///loss"] == ["eval", "loss"]


def test_restarts_decide_which_values_count(tmp_path):
    start = timed(2, field(7, b"\x08\x01"))
    write(tmp_path / "s", started({}), *scalars("loss", 5, 6, 1, 9), start, *scalars("loss", 7, first=2))
    write(tmp_path / "other", *scalars("loss", 1, 2, 3), start)
    with pytest.warns(tbframe.RestartWarning, match="2 rows that a later start"):
        frame = frame_of(tmp_path, metrics="min")
    assert frame["metrics.loss"].tolist() == [5.0]
    assert frame.attrs["tbframe"]["dropped"] == 2  # those of the session, not of the other run
    assert frame_of(tmp_path, metrics="min", restarts="keep")["metrics.loss"].tolist() == [1.0]


def test_several_experiments(tmp_path):
    value = message_class("Value")
    info = {"name": "lr", "type": 3, "domain_interval": {"min_value": 0.1, "max_value": 2}}
    choice = {"name": "opt", "type": 1, "domain_discrete": {"values": [value(string_value="a")]}}
    metric = {"name": {"group": "g", "tag": "t"}, "display_name": "T", "dataset_type": 2}
    write(tmp_path / "a", declared(name="one", hparam_infos=[info, choice], time_created_secs=3.0), started({"lr": 1}))
    write(tmp_path / "b", declared(name="two", metric_infos=[metric], user="me", description="what"))
    write(tmp_path / "b/1", started({"lr": 2}))
    write(tmp_path / "c", started({"lr": 3}))  # without any
    frame = frame_of(tmp_path)
    assert frame.run.tolist() == ["a", "b/1", "c"]
    one, two = frame.attrs["tbframe"]["experiments"]
    assert (one["run"], one["name"], one["time_created"]) == ("a", "one", 3.0)
    common = {"display_name": "", "description": ""}
    assert one["params"] == [
        {"name": "lr", "type": "float", "min": 0.1, "max": 2.0, **common},
        {"name": "opt", "type": "str", "values": ["a"], **common},
    ]
    assert (two["run"], two["user"], two["description"]) == ("b", "me", "what")
    assert two["metrics"] == [
        {"group": "g", "tag": "t", "display_name": "T", "description": "", "dataset": "validation"},
    ]


# Damage ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x1a\x09xx", "the metadata hold no HParamsPluginData"),
        (message_class("HParamsPluginData")(version=1).SerializeToString(), "version 1 of the plugin is not known"),
        (b"", "expected session_start_info, found nothing"),
        (message_class("HParamsPluginData")(session_end_info={}).SerializeToString(), "found session_end_info"),
    ],
)
def test_messages_that_cannot_be_read(tmp_path, content, reason):
    write(tmp_path / "bad", raw_event("_hparams_/session_start_info", content, 4))
    write(tmp_path / "good", started({"x": 1}))
    with pytest.warns(
        tbframe.UndecodableValueWarning, match=f"run 'bad', tag '_hparams_/session_start_info'.*4: .*{reason}"
    ):
        frame = frame_of(tmp_path)
    assert frame.run.tolist() == ["good"]


def test_tags_of_other_names_are_no_sessions(tmp_path):
    write(tmp_path, raw_event("_hparams_/something", b"\xff"), started({"x": 1}))
    assert len(frame_of(tmp_path)) == 1


# fold -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", ["torch", "tensorboardx"])
def test_fold_takes_sub_runs_for_the_run_above(log):
    plain, frame = frame_of(log_path(log)), frame_of(log_path(log), fold=True)
    assert frame.run.tolist() == ["adam-1e-2", "adam-1e-3"]
    assert frame.session.tolist() == plain.run.tolist()
    last = tbframe.scalars(log_path(log), restarts="keep").groupby(["run", "tag"], observed=True).value.last()
    assert frame["metrics.loss/train"].tolist() == [last["adam-1e-2", "loss/train"], last["adam-1e-3", "loss/train"]]
    separator = "_" if log == "torch" else "/"
    assert frame["metrics.both/test"][0] == last[f"adam-1e-2/both{separator}test", "both"]
    assert frame.attrs["tbframe"]["metrics"]["metrics.both/test"] == [f"both{separator}test", "both"]
    # What a session has itself is the same as without.
    common = [name for name in plain.columns if name.startswith(("params.", "metrics."))]
    pd.testing.assert_frame_equal(frame[common], plain[common])
    # And it can be taken back.
    back = frame.assign(run=frame.session.astype(plain.run.dtype)).drop(columns="session")[plain.columns]
    pd.testing.assert_frame_equal(back, plain)


def test_fold_of_several_sessions_of_one_run(tmp_path):
    whole = [declared(), started({"lr": 1}), ended(status=1)]
    write(tmp_path / "m", *scalars("loss", 1, 2), *scalars("hp", 7))
    write(tmp_path / "m/1700000000.5", *whole, *scalars("hp", 3))
    write(tmp_path / "m/1700000009.5", *whole, *scalars("hp", 4))
    write(tmp_path / "other/x", *whole, *scalars("hp", 5))  # "other" is no run
    write(tmp_path / "sweep/1", started({"lr": 2}))  # nor is this how PyTorch writes it
    write(tmp_path / "sweep", declared())
    frame = frame_of(tmp_path, fold=True)
    assert frame.run.tolist() == ["m", "m", "other/x", "sweep/1"]
    assert frame.session.tolist() == ["m/1700000000.5", "m/1700000009.5", "other/x", "sweep/1"]
    np.testing.assert_array_equal(frame["metrics.hp"], [3, 4, 5, math.nan])
    np.testing.assert_array_equal(frame["metrics.loss"], [2, 2, math.nan, math.nan])


def test_join_takes_the_frame():
    from tbframe.verbs.joining import join

    scalars = tbframe.scalars(log_path("torch"), tags="loss/train", restarts="keep")
    scalars = scalars[scalars.run.astype(str).str.startswith("adam")]
    for fold in (False, True):
        params = frame_of(log_path("torch"), fold=fold)[["run", "params.lr"]]
        joined = join(scalars, params)
        assert joined.groupby("run", observed=True)["params.lr"].unique().to_dict() == {
            "adam-1e-2": [0.01], "adam-1e-3": [0.001],
        }  # fmt: skip


# Lightning ------------------------------------------------------------------------------------------------------------


def with_yaml(directory: Path, text: str, *events: bytes) -> Path:
    write(directory, *events)
    (directory / "hparams.yaml").write_text(text, encoding="utf-8")
    return directory


def test_lightnings_file_beside_the_events(tmp_path):
    text = "lr: 0.1\nbatch: 32\nname: résumé\nbias: true\nnothing: null\nwhen: 2024-05-01\nmodel:\n  layers: [8, x]\n  drop: .5\n"
    with_yaml(tmp_path / "version_0", text, *scalars("loss", 2))
    with_yaml(tmp_path / "version_10", "{}\n", *scalars("loss", 1))  # Lightning writes this when there are none
    with_yaml(tmp_path / "version_2", "", *scalars("loss", 1))
    frame = frame_of(tmp_path)
    assert frame.run.tolist() == ["version_0"]
    assert frame.status.tolist() == ["UNKNOWN"]
    assert {name: value for name, value in frame.iloc[0].items() if name.startswith("params.")} == {
        "params.lr": 0.1, "params.batch": 32.0, "params.name": "résumé", "params.bias": True,
        "params.nothing": pytest.approx(math.nan, nan_ok=True),
        "params.when": "2024-05-01", "params.model/layers": '[8, "x"]', "params.model/drop": 0.5,
    }  # fmt: skip
    assert frame["metrics.loss"].tolist() == [2.0]


def test_events_win_over_the_file(tmp_path):
    with_yaml(tmp_path, "lr: 0.1\nextra: 5\n", started({"lr": 0.2}, group_name="g"))
    frame = frame_of(tmp_path)
    assert frame.group.tolist() == ["g"]
    assert frame["params.lr"].tolist() == [0.2]
    assert frame["params.extra"].tolist() == [5.0]


def test_python_objects_are_not_built(tmp_path):
    text = (
        "bad: !!python/object/apply:os.system ['touch /tmp/x']\nact: !!python/name:torch.nn.ReLU ''\n"
        "args: !!python/object:argparse.Namespace {lr: 1}\nown: !Thing abc\n"
    )
    frame = frame_of(with_yaml(tmp_path, text))
    assert frame["params.bad"].tolist() == ['["touch /tmp/x"]']
    assert frame["params.act"].tolist() == ["name:torch.nn.ReLU"]
    assert frame["params.args/lr"].tolist() == [1.0]
    assert frame["params.own"].tolist() == ["abc"]


def bomb(leaf: str, container: str) -> str:
    lines = [f"a0: &a0 {leaf}"]
    for i in range(1, 10):
        inner = ", ".join(f"k{j}: *a{i - 1}" if container == "{}" else f"*a{i - 1}" for j in range(9))
        lines.append(f"a{i}: &a{i} {container[0]}{inner}{container[1]}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [1", "it is no YAML"),
        ("- 1\n- 2", "it holds a list, expected a mapping"),
        (bomb("{x: 1}", "{}"), "it stands for more than 10,000 parameters"),
        (bomb("[lol, lol]", "[]"), "stands for more than 1,048,576 characters"),
        ("a: &a [*a]", "Circular reference"),
        ("a: &a {b: *a}", "nested more than 50 deep"),
        ("a: " + "[" * 5000 + "]" * 5000, "nested too deeply|it is no YAML|as JSON"),
        ("a: [{[1]: 2}]", "it is no YAML"),
        ("# " + "x" * (1 << 20), "it has 1,048,578 bytes, more than the 1,048,576 that are read"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, text, reason):
    with_yaml(tmp_path / "bad", text, *scalars("loss", 1))
    write(tmp_path / "good", started({"x": 1}))
    with pytest.warns(
        tbframe.UndecodableValueWarning, match=f"(?s)run 'bad': hparams.yaml could not be read: .*({reason})"
    ):
        assert frame_of(tmp_path).run.tolist() == ["good"]


def test_a_file_that_lies_elsewhere(tmp_path):
    write(tmp_path / "logs/run", *scalars("loss", 1))
    (tmp_path / "secret.yaml").write_text("password: 1")
    (tmp_path / "logs/run/hparams.yaml").symlink_to(tmp_path / "secret.yaml")
    with pytest.warns(tbframe.UndecodableValueWarning, match="leads out of the run's directory"):
        assert len(frame_of(tmp_path / "logs")) == 0


def test_without_pyyaml(tmp_path, monkeypatch):
    with_yaml(tmp_path / "a", "lr: 1")
    with_yaml(tmp_path / "b", "lr: 1", started({"x": 1}))
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.warns(
        tbframe.UndecodableValueWarning, match=r"beside 2 runs was not read, the first is 'a': .*pip install"
    ):
        assert frame_of(tmp_path).columns.tolist()[5:] == ["params.x"]


@pytest.mark.filterwarnings("ignore:hparams")
def test_a_file_in_a_remote_directory(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    source = with_yaml(tmp_path, "lr: 0.5", *scalars("loss", 1))
    for path in source.iterdir():
        memory.pipe(f"/hparams-test/run/{path.name}", path.read_bytes())
    try:
        assert frame_of("memory://hparams-test")["params.lr"].tolist() == [0.5]
    finally:
        memory.rm("/hparams-test", recursive=True)


def test_all_logs_have_plain_attributes():
    import json

    for log in LOGS:
        json.dumps(frame_of(log_path(log)).attrs)
