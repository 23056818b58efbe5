"""Text, with its place in the array that was logged; and tensors of every dtype and shape."""

from __future__ import annotations

import html
import re
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import expected, log_path
from event_bytes import field, metadata_of, timed
from hypothesis import given, settings
from hypothesis import strategies as st
from media_logs import Value, read, start, strings, tensor, write

from tbframe import AccessorError, RestartWarning, UndecodableValueWarning
from tbframe.events.messages import message_class
from tbframe.kinds.parts import reader_of
from tbframe.kinds.string_tensors import find_strings
from tbframe.verbs.text_verbs import tables

COLUMNS = ["run", "tag", "step", "wall_time", "index", "value"]


def texts(step: int, values: list[bytes], shape: list[int] | None, tag: str = "note") -> Value:
    return strings(step, values, shape, "text", tag)


# What TensorBoard serves ----------------------------------------------------------------------------------------------


def markdown(text: str) -> str:
    """As much Markdown as the logs hold: bold type, paragraphs, and tables with bars."""
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html.escape(text, quote=False))
    blocks = []
    for block in text.split("\n\n"):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.split("\n")]
        if len(rows) > 1 and set(rows[1][0]) == {"-"}:
            head = "".join(f"<th>{cell}</th>" for cell in rows[0])
            body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[2:])
            blocks.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        else:
            blocks.append(f"<p>{block}</p>")
    return "".join(blocks)


def rendered(cells: pd.Series) -> str:
    """A text array as TensorBoard shows it: a text alone as it is, a list as a table of one column, a table as a table."""
    if list(cells.index) == [()]:
        return markdown(cells.iloc[0])
    rows: dict[int, str] = {}
    for place, text in cells.items():
        rows[place[0]] = rows.get(place[0], "") + f"<td>{markdown(text)}</td>"
    return "<table><tbody>" + "".join(f"<tr>{row}</tr>" for row in rows.values()) + "</tbody></table>"


@pytest.mark.parametrize("server", ["", "-fast"])
def test_every_text_that_tensorboard_serves(log, server):
    answer = expected(log + server)["text"]
    served = {
        (run, tag, row["step"], row["wall_time"]): row["text"].replace("\n", "")
        for run, by_tag in answer["data"].items()
        for tag, rows in by_tag.items()
        for row in rows
    }
    frame = read("text", log_path(log))
    values = frame.groupby(["run", "tag", "step", "wall_time"], observed=True)
    assert {key: rendered(group.set_index("index")["value"]) for key, group in values} == served


def test_texts_are_left_alone():
    frame = read("text", log_path("torch"))
    assert frame["value"].tolist() == ["**lr** = 0.01\n\n| a | b |\n|---|---|\n| 1 | 2 |"]
    assert frame["index"].tolist() == [(0,)]
    table = read("text", log_path("tf2"), tags="table")
    assert table["index"].tolist() == [(0, 0), (0, 1), (1, 0), (1, 1)] * 3
    assert table["value"].tolist() == ["a", "b", "c", "0", "a", "b", "c", "1", "a", "b", "c", "2"]


def test_columns():
    frame = read("text", log_path("tf2"))
    assert frame.columns.tolist() == COLUMNS
    assert frame.dtypes.astype(str).tolist() == ["category", "category", "int64", "float64", "object", "object"]
    assert frame.attrs["tbframe"]["kind"] == "text"


def test_a_log_without_texts(tmp_path):
    frame = read("text", write(tmp_path, tensor(0, np.zeros((2, 2)), "matrix")))
    assert frame.columns.tolist() == COLUMNS
    assert frame.dtypes.drop(["run", "tag"]).equals(read("text", log_path("tf2")).dtypes.drop(["run", "tag"]))


# Traps ----------------------------------------------------------------------------------------------------------------


def test_text_of_every_rank_that_is_no_utf_8(tmp_path):
    odd = [b"caf\xe9", "日本語 ü".encode(), b"\x00\xff", b""]
    log = write(
        tmp_path,
        texts(0, odd[:1], None),
        texts(1, odd[:1], []),
        texts(2, odd, [4]),
        texts(3, odd, [2, 2]),
        texts(4, odd, [2, 1, 2]),
        texts(5, odd, [1, 1, 4, 1]),
    )
    frame = read("text", log)
    want = ["caf\\xe9", "日本語 ü", "\x00\\xff", ""]
    found = frame.groupby("step")[["index", "value"]].agg(list)
    assert found["value"].tolist() == [want[:1], want[:1], want, want, want, want]
    assert found["index"].tolist() == [
        [()], [()], [(0,), (1,), (2,), (3,)], [(0, 0), (0, 1), (1, 0), (1, 1)], [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)],
        [(0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 2, 0), (0, 0, 3, 0)],
    ]  # fmt: skip


def test_lists_that_are_shorter_than_their_shape(tmp_path):
    log = write(tmp_path, texts(0, [b"a"], [3]), texts(1, [b"a", b"b"], [2, 2]), texts(2, [], [2]), texts(3, [], []))
    found = read("text", log).groupby("step")["value"].agg(list)
    assert found.tolist() == [["a", "a", "a"], ["a", "b", "b", "b"], ["", ""], [""]]


def test_arrays_without_texts(tmp_path):
    assert len(read("text", write(tmp_path, texts(0, [], [0]), texts(1, [], [2, 0])))) == 0


def test_values_that_hold_no_texts(tmp_path):
    good = texts(99, [b"x"], None, "t")
    bad = [
        (texts(5, [b"a", b"b", b"c"], [2], "t"), "the tensor lists 3 strings: too many for shape [2] of 2"),
        (texts(5, [b"a"], [0], "t"), "the tensor lists 1 strings: too many for shape [0] of 0"),
        (texts(5, [b"a"], [2**30, 2**30], "t"), "claims 1152921504606846975 strings that are not there"),
        (texts(5, [b"a"], [-1], "t"), "the shape of the tensor of strings is not fully known"),
        (tensor(5, np.float32(1), "t", "text"), "expected a tensor of strings, found float32 of shape []"),
        (Value(5, "t", {"tensor": {"dtype": 20}}, "text"), "expected a tensor of strings, found resource of shape []"),
    ]
    for i, (value, reason) in enumerate(bad):
        with pytest.warns(UndecodableValueWarning) as caught:
            frame = read("text", write(tmp_path / str(i), value, value, good), restarts="keep")
        assert frame["value"].tolist() == ["x"]
        (message,) = [str(warning.message) for warning in caught]
        assert message.startswith("text: run 'run', tag 't': 2 values could not be decoded, first at step 5: ")
        assert reason in message


def test_a_tag_without_any_text_does_not_occur(tmp_path):
    log = write(tmp_path, tensor(0, np.float32(1), "bad", "text"), texts(0, [b"x"], None, "good"))
    with pytest.warns(UndecodableValueWarning):
        frame = read("text", log)
    assert frame["tag"].cat.categories.tolist() == ["good"]


def test_broken_messages(tmp_path):
    broken = b"\x08\x07\x42\x7fx"
    with pytest.raises(ValueError, match="the 5 bytes are no TensorProto message"):
        find_strings(reader_of(broken), len(broken))
    value = field(1, b"t") + field(8, b"\x08\x07" + field(2, b"\x12\x7f")) + field(9, metadata_of(b"text"))
    with pytest.warns(
        UndecodableValueWarning, match=r"1 value could not be decoded, .*: the 2 bytes are no TensorShapeProto"
    ):
        frame = read("text", write(tmp_path, timed(1, field(5, field(1, value))), texts(2, [b"x"], None, "t")))
    assert frame["value"].tolist() == ["x"]


def test_restarts(tmp_path):
    log = write(tmp_path, texts(0, [b"a", b"b"], [2]), texts(1, [b"c"], None), start(1), texts(1, [b"d"], None))
    with pytest.warns(RestartWarning):
        assert read("text", log)["value"].tolist() == ["a", "b", "d"]
    marked = read("text", log, restarts="mark")
    assert marked["superseded"].tolist() == [False, False, True, False]
    assert marked["session"].tolist() == [0, 0, 0, 1]
    assert read("text", log, restarts="keep")["value"].tolist() == ["a", "b", "c", "d"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=6), st.data())
def test_strings_are_found_as_protobuf_finds_them(values, data):
    message = message_class("TensorProto")(
        dtype=data.draw(st.sampled_from([7, 107])), string_val=values, version_number=3
    )
    message.tensor_shape.dim.add(size=len(values), name=data.draw(st.sampled_from(["", "batch"])))
    serialized = message.SerializeToString()
    if data.draw(st.booleans()):  # a shape in two parts
        serialized = field(2, b"\x12\x02\x08\x01") + serialized
        message.tensor_shape.dim.insert(0, message_class("TensorShapeProto.Dim")(size=1))
    found = find_strings(reader_of(serialized), len(serialized))
    assert found.shape == tuple(dim.size for dim in message.tensor_shape.dim)
    assert [found.read(*span) for span in found.spans] == values


# Tables ---------------------------------------------------------------------------------------------------------------


def test_tables_are_tables():
    found = tables(read("text", log_path("tf2"), tags="table"))
    assert found.index.names == ["run", "tag", "step", "row"]
    assert found.loc[("summary", "table", 1)].to_numpy().tolist() == [["a", "b"], ["c", "1"]]
    assert len(found) == 6


def test_lists_and_texts_as_tables(tmp_path):
    log = write(tmp_path, texts(0, [b"alone"], None), texts(1, [b"a", b"b"], [2]), texts(2, [b"c", b"d"], [1, 2]))
    found = tables(read("text", log))
    assert found.columns.tolist() == [0, 1]
    assert found[0].tolist() == ["alone", "a", "b", "c"]
    assert found[1].isna().tolist() == [True, True, True, False]
    assert tables(read("text", log).iloc[:0]).empty


def test_what_is_no_table(tmp_path):
    deep = write(tmp_path / "deep", texts(0, [b"a"], [1, 1, 1]))
    with pytest.raises(ValueError, match="a text array of 3 dimensions is no table"):
        tables(read("text", deep))
    twice = write(tmp_path / "twice", texts(0, [b"a"], [1]), texts(0, [b"b"], [1]))
    with pytest.raises(
        ValueError, match=r"a step repeats within a run and tag. Keep one of each first: df.drop_duplicates"
    ):
        tables(read("text", twice, restarts="keep"))
    with pytest.raises(AccessorError, match=r"tables\(\) needs the column 'index'"):
        tables(read("text", deep).drop(columns="index"))


# Tensors --------------------------------------------------------------------------------------------------------------


def raw(step: int, tag: str, plugin: str = "", **fields) -> Value:
    return Value(step, tag, {"tensor": fields}, plugin)


def shape(*sizes: int) -> dict:
    return {"dim": [{"size": size} for size in sizes]}


def test_real_tensors():
    frame = read("tensors", log_path("tf2"))
    assert frame.columns.tolist() == ["run", "tag", "step", "wall_time", "plugin", "dtype", "shape", "value"]
    assert frame.dtypes.astype(str).tolist()[2:] == ["int64", "float64", "object", "object", "object", "object"]
    assert frame["step"].tolist() == [0, 1, 2]
    assert frame["dtype"].tolist() == ["float64"] * 3
    assert frame["shape"].tolist() == [(2, 3)] * 3
    # Found in the file as they stand there: 48 bytes behind the key and length of tensor_content.
    content = next(log_path("tf2").glob("summary/*")).read_bytes()
    places = [match.end() for match in re.finditer(rb"raw/matrix.{1,20}?\"\x30", content, re.DOTALL)]
    want = [np.frombuffer(content[at : at + 48], "<f8").reshape(2, 3) for at in places]
    assert len(want) == 3
    assert all(np.array_equal(value, array) for value, array in zip(frame["value"], want, strict=True))


def test_a_log_without_tensors():
    frame = read("tensors", log_path("torch"))
    assert len(frame) == 0
    assert frame.dtypes.drop(["run", "tag"]).equals(read("tensors", log_path("tf2")).dtypes.drop(["run", "tag"]))


def test_tensors_of_every_type(tmp_path):
    half = [0x3C00, 0xC000]  # 1, -2
    brain = [0x3F80, 0xC000]
    log = write(
        tmp_path,
        raw(0, "float32", dtype=1, tensor_shape=shape(2), float_val=[0.5, -2.0]),
        raw(1, "int8", dtype=6, tensor_shape=shape(2, 1), int_val=[-1, 5]),
        raw(2, "string", dtype=7, tensor_shape=shape(2), string_val=[b"a", b"\xff"]),
        raw(3, "complex64", dtype=8, tensor_shape=shape(2), scomplex_val=[1, 2, 3, 4]),
        raw(4, "int64", dtype=9, tensor_shape=shape(2), int64_val=[2**60, -1]),
        raw(5, "bool", dtype=10, tensor_shape=shape(3), bool_val=[True, False]),
        raw(6, "qint8", dtype=11, tensor_shape=shape(2), int_val=[-1, 5]),
        raw(7, "float16", dtype=19, tensor_shape=shape(2), half_val=half),
        raw(8, "uint64", dtype=23, tensor_shape=shape(2), uint64_val=[2**63, 1]),
        raw(9, "bfloat16", dtype=14, tensor_shape=shape(2), half_val=brain),
        raw(10, "empty", dtype=1, tensor_shape=shape(0, 3)),
        raw(11, "zeros", dtype=2, tensor_shape=shape(2, 2)),
        raw(12, "reference", dtype=101, tensor_shape=shape(2), float_val=[7.0]),
    )
    frame = read("tensors", log).set_index("tag")
    want = {
        "float32": np.array([0.5, -2], np.float32),
        "int8": np.array([[-1], [5]], np.int8),
        "string": np.array([b"a", b"\xff"], object),
        "complex64": np.array([1 + 2j, 3 + 4j], np.complex64),
        "int64": np.array([2**60, -1]),
        "bool": np.array([True, False, False]),
        "qint8": np.array([-1, 5], np.int8),
        "float16": np.array([1, -2], np.float16),
        "uint64": np.array([2**63, 1], np.uint64),
        "empty": np.zeros((0, 3), np.float32),
        "zeros": np.zeros((2, 2)),
        "reference": np.array([7, 7], np.float32),
    }
    assert frame.loc["bfloat16", "value"].astype(np.float64).tolist() == [1.0, -2.0]
    for tag, array in want.items():
        found = frame.loc[tag]
        assert found["value"].dtype == array.dtype
        assert np.array_equal(found["value"], array)
        assert found["shape"] == array.shape
    names = frame["dtype"].to_dict()
    assert {names.pop("empty"), names.pop("reference")} == {"float32"}
    assert names.pop("zeros") == "float64"
    assert all(tag == name for tag, name in names.items())


def test_single_numbers_and_plugins(tmp_path):
    log = write(
        tmp_path,
        tensor(0, np.float32(3), "one", "tensor"),  # PyTorch's add_tensor
        tensor(1, np.arange(3), "many", "tensor"),
        tensor(2, np.arange(3), "own", "my_plugin"),
        tensor(3, np.int64(2**53 + 1), "bare"),
        tensor(4, np.zeros((1, 1), np.float32), "bare"),
        tensor(5, np.arange(2.0), "not a scalar", "scalars"),
    )
    frame = read("tensors", log)
    assert dict(zip(frame["tag"], frame["plugin"], strict=True)) == {
        "one": "tensor", "many": "tensor", "own": "my_plugin", "bare": "", "not a scalar": "scalars",
    }  # fmt: skip
    frame = frame.set_index("step")
    assert frame.loc[0, "value"].shape == ()
    assert frame.loc[3, "value"] == 2**53 + 1  # which a float cannot hold
    assert frame.loc[3, "dtype"] == "int64"
    assert frame.loc[4, "shape"] == (1, 1)


def test_tensors_that_cannot_be_decoded(tmp_path):
    good = raw(99, "t", dtype=1, tensor_shape=shape(2), float_val=[0.5, -2.0])
    bad = [
        (raw(5, "t", dtype=1, tensor_shape=shape(2), float_val=[1.0, 2.0, 3.0]), "too many for shape"),
        (raw(5, "t", dtype=1, tensor_shape=shape(2), tensor_content=b"123"), "expected 8 bytes, found 3"),
        (raw(5, "t", dtype=21), "the tensor's dtype variant holds no values"),
        (raw(5, "t", dtype=99, tensor_shape=shape(2)), "unknown"),
        (raw(5, "t", dtype=1, tensor_shape={"unknown_rank": True}), "unknown rank"),
        (raw(5, "t", dtype=1, tensor_shape=shape(2**40)), "not more than 268435456 bytes are filled in"),
    ]
    for i, (value, reason) in enumerate(bad):
        log = write(tmp_path / str(i), value, value, good)
        with pytest.warns(
            UndecodableValueWarning, match=f"tensors: .*: 2 values could not .* first at step 5: .*{reason}"
        ):
            frame = read("tensors", log, restarts="keep")
        assert frame["step"].tolist() == [99]
        assert frame["value"][0].tolist() == [0.5, -2.0]


def test_floats_of_8_bits_need_ml_dtypes(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    log = write(tmp_path, raw(0, "t", dtype=24, tensor_shape=shape(2), float8_val=b"ab"))
    with pytest.warns(UndecodableValueWarning, match=r"float8_e5m2 needs the package ml_dtypes: .*tbframe\[dtypes\]"):
        assert len(read("tensors", log)) == 0


def test_tensors_of_several_runs_and_restarts(tmp_path):
    values = [raw(step, "t", "p", dtype=1, tensor_shape=shape(2), float_val=[step]) for step in range(3)]
    write(tmp_path, *values[:2], start(1), values[1], run="a")
    write(tmp_path, raw(9, "t", "q", dtype=7, string_val=[b"x"]), run="b")
    with pytest.warns(RestartWarning):
        frame = read("tensors", tmp_path)
    assert frame[["run", "step", "plugin", "dtype"]].to_numpy().tolist() == [
        ["a", 0, "p", "float32"], ["a", 1, "p", "float32"], ["b", 9, "q", "string"],
    ]  # fmt: skip
    assert read("tensors", tmp_path, restarts="mark")["superseded"].tolist() == [False, True, False, False]
    assert read("tensors", tmp_path, runs="b")["value"][0].item() == b"x"
