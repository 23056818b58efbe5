"""Custom scalars: the layout against TensorBoard's answer, and the charts it describes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import expected, log_path
from event_bytes import VERSION, field, record, timed

import tbframe
from tbframe.events.messages import message_class
from tbframe.kinds.custom_scalars import merged


def read(logdir) -> pd.DataFrame:
    return tbframe.custom_scalars(logdir)


def layout_event(*categories: dict, step: int = 0) -> bytes:
    return raw_event(message_class("Layout")(category=categories).SerializeToString(), step)


def raw_event(content: bytes, step: int = 0) -> bytes:
    tensor = b"\x08\x07" + field(8, content)
    metadata = field(1, field(1, b"custom_scalars"))
    body = field(1, b"custom_scalars__config__") + field(8, tensor) + field(9, metadata)
    return timed(step, field(5, field(1, body)))


def write(directory: Path, *payloads: bytes) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "events.out.tfevents.1700000000.x").write_bytes(b"".join(map(record, (VERSION, *payloads))))
    return directory


def lines(title: str, *tags: str) -> dict:
    return {"title": title, "multiline": {"tag": tags}}


def as_json(layout: pd.DataFrame) -> dict:
    """TensorBoard's answer, from the frame."""
    if not len(layout):
        return {}
    categories = []
    for title, rows in merged(layout).groupby("category", sort=False):
        charts = []
        for row in rows[rows.chart.notna()].itertuples():
            if row.kind == "multiline":
                content = {"multiline": {"tag": row.tags}}
            else:
                series = [dict(zip(("value", "lower", "upper"), one, strict=True)) for one in row.tags]
                content = {"margin": {"series": series}}
            charts.append({"title": row.chart, **content})
        categories.append({"title": title, "closed": bool(rows.closed.iloc[0]), "chart": charts})
    return {"version": 0, "category": categories}


@pytest.mark.parametrize("server", ["", "-fast"])
def test_tensorboards_layout_can_be_rebuilt(log, server):
    assert as_json(read(log_path(log))) == expected(log + server)["custom_scalars"]["layout"]


def test_the_frame():
    frame = read(log_path("torch"))
    assert frame.columns.tolist() == ["run", "category", "closed", "chart", "kind", "tags"]
    assert list(frame.itertuples(index=False, name=None)) == [
        ("adam-1e-2", "Losses", False, "train vs test", "multiline", ["loss/train", "loss/test"]),
        ("adam-1e-2", "Losses", False, "band", "margin", [("loss/test", "loss/train", "accuracy/test")]),
    ]


@pytest.mark.parametrize("log", ["torch", "tf1"])
def test_types(log):
    assert [str(dtype) for dtype in read(log_path(log)).dtypes] == [
        "category",
        "object",
        "bool",
        "object",
        "object",
        "object",
    ]


def test_the_last_layout_of_each_run_counts(tmp_path):
    write(tmp_path / "r10", layout_event({"title": "new", "closed": True, "chart": [lines("c", "x")]}))
    write(
        tmp_path / "r2",
        layout_event({"title": "old", "chart": [lines("c", "x")]}),
        layout_event({"title": "empty"}, {"title": "c", "chart": [{"title": "bare"}]}, step=1),
    )
    frame = read(tmp_path)
    assert frame.run.tolist() == ["r2", "r2", "r10"]
    assert frame.category.tolist() == ["empty", "c", "new"]
    assert frame.chart.tolist() == [None, "bare", "c"]
    assert frame.kind.tolist() == ["", "", "multiline"]
    assert frame.tags.tolist() == [[], [], ["x"]]
    assert frame.closed.tolist() == [False, False, True]


def test_layouts_of_several_runs_are_merged(tmp_path):
    write(
        tmp_path / "a", layout_event({"title": "one", "chart": [lines("c", "x"), lines("c", "x")]}, {"title": "none"})
    )
    write(
        tmp_path / "b",
        layout_event(
            {"title": "two", "chart": [lines("d", "x")]},
            {"title": "one", "closed": True, "chart": [lines("c", "x"), lines("c", "y")]},
        ),
    )
    write(
        tmp_path / "c",
        layout_event(
            {"title": "two", "chart": [lines("d", "x"), lines("e", "x")]}, {"title": "none", "chart": [lines("f", "z")]}
        ),
    )

    def shown(title: str, tag: str) -> dict:
        return {"title": title, "multiline": {"tag": [tag]}}

    assert as_json(read(tmp_path))["category"] == [
        {"title": "one", "closed": False, "chart": [shown("c", "x"), shown("c", "x"), shown("c", "y")]},
        {"title": "none", "closed": False, "chart": [shown("f", "z")]},
        # TensorBoard loses the second of these: what a third run adds to a category that the second one declared.
        {"title": "two", "closed": False, "chart": [shown("d", "x"), shown("e", "x")]},
    ]


FLOAT = (
    field(1, b"custom_scalars__config__")
    + field(8, b"\x08\x01\x2a\x04" + bytes(4))
    + field(9, field(1, field(1, b"custom_scalars")))
)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (raw_event(b"\xff", 4), "no Layout"),
        (timed(4, field(5, field(1, FLOAT))), "expected a tensor of one string, found float32"),
    ],
)
def test_what_is_no_layout(tmp_path, payload, reason):
    write(tmp_path / "bad", payload)
    write(tmp_path / "good", layout_event({"title": "t", "chart": [lines("c", "x")]}))
    with pytest.warns(
        tbframe.UndecodableValueWarning, match=f"run 'bad'.*1 value could not be decoded, first at step 4: .*{reason}"
    ):
        frame = read(tmp_path)
    assert frame.run.tolist() == ["good"]
    assert frame.run.cat.categories.tolist() == ["good"]


# The charts -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def charts():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from tbframe.plotting import layout_charts

    yield layout_charts
    plt.close("all")


def layout(*rows: tuple, **columns) -> pd.DataFrame:
    frame = pd.DataFrame(
        [("r", "cat", False, *row) for row in rows], columns=["run", "category", "closed", "chart", "kind", "tags"]
    )
    return frame.assign(**columns)


def scalars(**series: list) -> pd.DataFrame:
    """Rows of run__tag=[(step, value), ...]."""
    rows = [(*name.split("__"), step, value) for name, points in series.items() for step, value in points]
    return pd.DataFrame(rows, columns=["run", "tag", "step", "value"])


def test_tags_match_from_their_beginning(charts):
    tags = ["loss", "loss/a", "my/loss", "acc", "a.c"]
    assert charts.matching_tags(tags, ["loss"]) == ["loss", "loss/a"]
    assert charts.matching_tags(tags, [".*loss$", "acc"]) == ["loss", "my/loss", "acc"]
    assert charts.matching_tags(tags, []) == []
    with pytest.raises(ValueError, match=r"the chart's tags hold '\[', which is no regular expression"):
        charts.matching_tags(tags, ["["])


def test_a_multiline_chart(charts):
    frame = scalars(
        a__loss=[(0, 1.0), (5, 2.0)], a__lr=[(0, 3.0)], b__loss=[(0, 4.0), (2, np.nan)], b__other=[(0, 1.0)]
    )
    (ax,) = charts.draw_layout(layout(("$c_1$", "multiline", ["lo", "lr"])), frame)
    shown = {(line.get_color(), line.get_linestyle()): line.get_xydata().tolist() for line in ax.lines}
    assert list(shown) == [("C0", "-"), ("C0", "--"), ("C1", "-")]
    assert shown["C0", "-"] == [[0, 1], [5, 2]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a: loss", "a: lr", "b: loss"]
    assert ax.get_title() == "cat: $c_1$"
    ax.figure.canvas.draw()


def test_lines_of_one_run_differ_by_colour(charts):
    frame = scalars(a___x=[(0, 1.0)], a__loss2=[(0, 3.0)]).assign(tag=["_x", "loss$"])
    (ax,) = charts.draw_layout(layout(("c", "multiline", ["_", "l"])), frame)
    assert [line.get_color() for line in ax.lines] == ["C0", "C1"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["_x", "loss$"]


def test_a_margin_chart(charts):
    points = [(0, 1.0), (1, 2.0), (1, 2.5), (2, 3.0)]
    frame = scalars(
        a__v=points, a__lo=[(s, v - 1) for s, v in points], a__hi=[(s, v + 2) for s, v in points], b__v=points
    )
    (ax,) = charts.draw_layout(layout(("c", "margin", [("v", "lo", "hi"), ("v", "lo", "gone")])), frame)
    (line,) = ax.lines
    assert line.get_xydata().tolist() == [[0, 1], [1, 2.5], [2, 3]]  # of two values at a step the last
    (band,) = ax.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert corners == {(0, 0), (1, 1.5), (2, 2), (0, 3), (1, 4.5), (2, 5)}


def test_a_margin_chart_of_steps_that_differ(charts):
    frame = scalars(a__v=[(0, 1.0), (1, 2.0)], a__lo=[(1, 0.0), (2, 0.0)], a__hi=[(1, 9.0)])
    with pytest.warns(
        UserWarning, match=r"margin chart 'c', run 'a': 2 steps that not all of 'v', 'lo', 'hi' have are left out"
    ):
        (ax,) = charts.draw_layout(layout(("c", "margin", [("v", "lo", "hi")])), frame)
    assert ax.lines[0].get_xydata().tolist() == [[1, 2]]


def test_charts_without_scalars(charts):
    axes = charts.draw_layout(
        layout(("c", "multiline", ["no"]), ("d", "", []), (None, "", [])), scalars(a__v=[(0, 1.0)])
    )
    assert [[text.get_text() for text in ax.texts] for ax in axes] == [["no scalars for this chart"]] * 2
    assert charts.draw_layout(layout((None, "", [])), scalars(a__v=[(0, 1.0)])) == []


def test_many_lines(charts):
    frame = scalars(**{f"a__t{i}": [(0, float(i))] for i in range(20)})
    (ax,) = charts.draw_layout(layout(("c", "multiline", ["t"])), frame)
    assert len(ax.lines) == 20
    assert len(ax.get_legend().get_texts()) == 12
    assert ax.get_legend().get_title().get_text() == "12 of 20 lines"


def test_real_charts_on_axes_that_are_given(charts):
    from matplotlib.figure import Figure

    frame = tbframe.scalars(log_path("torch"), restarts="keep")
    given = Figure().subplots(1, 2)
    with pytest.warns(UserWarning, match="53 steps"):
        axes = charts.draw_layout(read(log_path("torch")), frame, ax=given)
    assert axes == list(given)
    assert len(axes[0].lines) == 4
    with pytest.raises(ValueError, match="ax: 1 Axes for 2 panels"):
        charts.draw_layout(read(log_path("torch")), frame, ax=given[0])
    with pytest.raises(tbframe.AccessorError, match="needs the column 'tags'"):
        charts.draw_layout(read(log_path("torch")).drop(columns="tags"), frame)
