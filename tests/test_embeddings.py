"""Embeddings: the projector's files beside the events."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import log_path
from event_bytes import VERSION, record, scalar_event

import tbframe

PATHS = ["tensor_path", "metadata_path", "sprite_path", "bookmarks_path", "checkpoint_path"]
COLUMNS = ["run", "name", "shape", *PATHS, "sprite_size", "tensor", "metadata", "sprite"]


def read(logdir, **options) -> pd.DataFrame:
    return tbframe.embeddings(logdir, **options)


def write(directory: Path, config: str | bytes | None = None, **files: str | bytes) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "events.out.tfevents.1700000000.x").write_bytes(record(VERSION) + record(scalar_event(0, 1.0)))
    for name, content in {"projector_config.pbtxt": config, **files}.items():
        if content is not None:
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return directory


def entry(**fields: object) -> str:
    return "embeddings {\n" + "\n".join(f"  {name}: {value!r}" for name, value in fields.items()) + "\n}\n"


def test_embeddings_are_listed(tmp_path):
    write(tmp_path / "a", entry(tensor_name="x", tensor_path="x.tsv") + entry(tensor_path="sub/y.tsv"))
    write(tmp_path / "b", "embeddings {")
    write(tmp_path / "c")
    log = tbframe.open(tmp_path)
    assert {run: kinds["embeddings"] for run, kinds in log.index().items()} == {"a": ["x", "y.tsv"], "b": [], "c": []}
    tags = log.tags()
    assert tags[["run", "tag", "kind"]].to_numpy().tolist() == [
        ["a", "loss", "scalars"],
        ["a", "x", "embeddings"],
        ["a", "y.tsv", "embeddings"],
        ["b", "loss", "scalars"],
        ["c", "loss", "scalars"],
    ]
    without = tbframe.tags(write(tmp_path / "without"))
    assert tags.columns.equals(without.columns)
    assert tags.dtypes.drop(["run", "tag", "kind"]).equals(without.dtypes.drop(["run", "tag", "kind"]))
    assert "embeddings" in repr(log)
    with pytest.warns(tbframe.UndecodableValueWarning, match=r"run 'b': projector_config.pbtxt could not be read"):
        assert log.embeddings(data=False)["name"].tolist() == ["x", "y.tsv"]


@pytest.mark.parametrize("log", ["torch", "tensorboardx"])
def test_what_add_embedding_writes(log):
    frame = read(log_path(log))
    assert frame.columns.tolist() == COLUMNS
    row = frame.iloc[0]
    assert (len(frame), row["run"], row["name"], row["shape"]) == (1, "adam-1e-2", "digits:00000", (10, 64))
    assert row.tensor_path == "00000/digits/tensors.tsv"
    lines = (log_path(log) / "adam-1e-2" / row.tensor_path).read_text().splitlines()
    plain = np.array([[float(text) for text in line.split("\t")] for line in lines], np.float32)
    np.testing.assert_array_equal(row.tensor, plain, strict=True)
    assert row.metadata.label.tolist() == (log_path(log) / "adam-1e-2" / row.metadata_path).read_text().split()
    assert row.sprite is None
    assert row.checkpoint_path == ""


@pytest.mark.parametrize("data", [True, False])
def test_columns_of_nothing(data):
    frame = read(log_path("tf1"), data=data)
    assert frame.columns.tolist() == (COLUMNS if data else COLUMNS[:-3])
    assert [str(dtype) for dtype in frame.dtypes] == ["category"] + ["object"] * (len(frame.columns) - 1)
    assert len(frame) == 0


def test_everything_a_configuration_says(tmp_path):
    config = 'model_checkpoint_path: "model.ckpt"\nsome_new_field: 3\n' + entry(
        tensor_path="t.tsv", metadata_path="m.tsv", bookmarks_path="b.json"
    )
    config += (
        'embeddings { tensor_name: "w" tensor_shape: [5, 3] sprite { image_path: "s.png" single_image_dim: [8, 9] } }'
    )
    files = {"t.tsv": "1\t2\n\n3.5\tnan\n", "m.tsv": "name\tclass\r\na b\t1\r\n\r\nüß\t2\r\n", "s.png": b"\x89PNG\xff"}
    write(tmp_path, config, **files)
    frame = read(tmp_path)
    first, second = frame.to_dict("records")
    assert frame.name.tolist() == ["t.tsv", "w"]
    np.testing.assert_array_equal(first["tensor"], np.array([[1, 2], [3.5, np.nan]], np.float32), strict=True)
    assert first["shape"] == (2, 2)
    assert first["metadata"].to_dict("list") == {"name": ["a b", "üß"], "class": ["1", "2"]}
    assert [str(dtype) for dtype in first["metadata"].dtypes] == ["object"] * 2
    assert first["bookmarks_path"] == "b.json"
    assert (second["shape"], second["tensor"], second["metadata"]) == ((5, 3), None, None)
    assert (second["sprite_path"], second["sprite_size"], second["sprite"]) == ("s.png", (8, 9), b"\x89PNG\xff")
    assert frame.checkpoint_path.tolist() == ["model.ckpt"] * 2
    # Without data nothing but the configuration is read.
    listed = read(tmp_path, data=False)
    assert listed["shape"].tolist() == [None, (5, 3)]
    assert listed["tensor_path"].tolist() == ["t.tsv", ""]


def test_names_and_runs_choose(tmp_path):
    write(tmp_path / "r2", entry(tensor_name="a", tensor_path="t.tsv") + entry(tensor_name="b"), **{"t.tsv": "1"})
    write(tmp_path / "r10", entry(tensor_name="b"))
    assert read(tmp_path).run.tolist() == ["r2", "r2", "r10"]
    assert read(tmp_path).run.cat.categories.tolist() == ["r2", "r10"]
    assert read(tmp_path, tags="b").run.tolist() == ["r2", "r10"]
    assert read(tmp_path, runs="r2").name.tolist() == ["a", "b"]
    assert read(tmp_path, tags="a")["shape"].tolist() == [(1, 1)]
    with pytest.raises(tbframe.UnknownNameError, match=r"no embedding 'c'. There are 2: 'a', 'b'"):
        read(tmp_path, tags="c")
    with pytest.raises(tbframe.UnknownNameError, match="no run 'r3'"):
        read(tmp_path, runs="r3")


def test_the_plugins_own_directory(tmp_path):
    place = "plugins/org_tensorflow_tensorboard_projector"
    write(
        tmp_path,
        None,
        **{f"{place}/projector_config.pbtxt": entry(tensor_name="x", tensor_path="t.tsv"), f"{place}/t.tsv": "1\t2"},
    )
    np.testing.assert_array_equal(read(tmp_path).tensor[0], [[1, 2]])


def test_numbers_are_the_nearest_float32(tmp_path):
    texts = ["0.1", "1e-46", "16777217", "1.00000005960464477539062501", "3.4e38", "inf", "-nan"]
    write(tmp_path, entry(tensor_path="t.tsv"), **{"t.tsv": "\t".join(texts)})
    np.testing.assert_array_equal(read(tmp_path).tensor[0], np.array([[float(text) for text in texts]], np.float32))


def test_a_binary_tensor(tmp_path):
    values = np.array([[1, -np.nan], [3, 4], [5, 6]], "<f4")
    config = 'embeddings { tensor_path: "t.bytes" tensor_shape: 3 tensor_shape: 2 }'
    write(tmp_path, config, **{"t.bytes": values.tobytes()})
    np.testing.assert_array_equal(read(tmp_path).tensor[0], values, strict=True)


SECRET = "1\t2\t3"


@pytest.mark.parametrize(
    "path", ["../secret.tsv", "sub/../../secret.tsv", "{root}/secret.tsv", "link.tsv", "linked/secret.tsv"]
)
@pytest.mark.parametrize("field", ["tensor_path", "metadata_path"])
def test_paths_that_lead_out_of_the_log_directory(tmp_path, path, field):
    (tmp_path / "secret.tsv").write_text(SECRET)
    run = write(tmp_path / "run", entry(tensor_name="x", **{field: path.format(root=tmp_path)}), **{"sub/x": ""})
    (run / "link.tsv").symlink_to(tmp_path / "secret.tsv")
    (run / "linked").symlink_to(tmp_path)
    with pytest.warns(
        tbframe.UndecodableValueWarning, match=rf"run '.', 'x': {field}: the path .* leads out of the run's directory"
    ):
        frame = read(run)
    assert frame[field.removesuffix("_path")].tolist() == [None]


def test_absolute_paths_inside_are_read(tmp_path):
    write(tmp_path / "run", entry(tensor_path=str(tmp_path / "run/t.tsv")), **{"t.tsv": "7"})
    assert read(tmp_path).tensor[0].tolist() == [[7]]


def test_a_configuration_that_lies_elsewhere(tmp_path):
    (tmp_path / "config").write_text(entry(tensor_name="x"))
    run = write(tmp_path / "run")
    (run / "projector_config.pbtxt").symlink_to(tmp_path / "config")
    with pytest.warns(tbframe.UndecodableValueWarning, match="projector_config.pbtxt could not be read: .*leads out"):
        assert len(read(tmp_path)) == 0


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("embeddings {", "1:|expected|Expected"),
        (b"\xff\xfe", "codec can't decode"),
        ("unknown {" * 5000 + "}" * 5000, "nested too deeply|too deep"),
    ],
)
def test_configurations_that_cannot_be_read(tmp_path, config, reason):
    write(tmp_path / "bad", config)
    write(tmp_path / "good", entry(tensor_name="x"))
    with pytest.warns(
        tbframe.UndecodableValueWarning, match=f"run 'bad': projector_config.pbtxt could not be read: .*({reason})"
    ):
        assert read(tmp_path).run.tolist() == ["good"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "tensor_path: there is no file 't.tsv'"),
        ({"t.tsv/x": ""}, "there is no file 't.tsv'"),
        ({"t.tsv": ""}, "'t.tsv' could not be read: it holds no numbers"),
        ({"t.tsv": "1\tx"}, "could not be read: could not convert string 'x'"),
        ({"t.tsv": "1\t2\n3"}, "could not be read: .*number of columns changed"),
        ({"t.tsv": b"\xff\xff\xff\xff"}, r"it is no text, and its 4 bytes are no float32 numbers of shape \[\]"),
        ({"t.tsv": "1\n2", "m.tsv": ""}, "metadata_path: 'm.tsv' could not be read: it is empty"),
        ({"t.tsv": "1\n2", "m.tsv": "a\tb\n1\t2\t3"}, "a row has 3 columns, the header 2"),
        ({"t.tsv": "1\n2", "m.tsv": b"\xff"}, "codec can't decode"),
        ({"t.tsv": "1\n2", "m.tsv": "a\nb\nc"}, "the metadata have 3 rows for 2 points"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, files, reason):
    metadata = {"metadata_path": "m.tsv"} if "m.tsv" in files else {}
    write(tmp_path, entry(tensor_name="x", tensor_path="t.tsv", **metadata), **files)
    with pytest.warns(tbframe.UndecodableValueWarning, match=f"embeddings: run '.', 'x': .*{reason}"):
        assert len(read(tmp_path)) == 1


def test_metadata_with_gaps(tmp_path):
    write(tmp_path, entry(tensor_path="t.tsv", metadata_path="m.tsv"), **{"t.tsv": "1\n2", "m.tsv": 'a\ta\n"x\ty\nz\n'})
    metadata = read(tmp_path).metadata[0]
    assert metadata.columns.tolist() == ["a", "a"]
    assert metadata.to_numpy().tolist() == [['"x', "y"], ["z", ""]]


@pytest.mark.skipif(os.name == "nt", reason="POSIX only")
def test_a_fifo_is_no_file(tmp_path):
    run = write(tmp_path, entry(tensor_name="x", tensor_path="pipe"))
    os.mkfifo(run / "pipe")
    with pytest.warns(tbframe.UndecodableValueWarning, match="there is no file 'pipe'"):
        read(run)


def test_remote_directories(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    config = entry(tensor_name="x", tensor_path="t.tsv") + entry(tensor_name="out", tensor_path="../secret.tsv")
    source = write(tmp_path, config, **{"t.tsv": "1\t2"})
    for path in source.iterdir():
        memory.pipe(f"/embeddings-test/run/{path.name}", path.read_bytes())
    memory.pipe("/embeddings-test/secret.tsv", SECRET.encode())
    try:
        with pytest.warns(
            tbframe.UndecodableValueWarning, match="'out': tensor_path: the path '../secret.tsv' leads out"
        ):
            frame = read("memory://embeddings-test")
        assert frame.tensor[0].tolist() == [[1, 2]]
        assert frame.tensor[1] is None
    finally:
        memory.rm("/embeddings-test", recursive=True)
