"""`to_csv` and `read_csv`: TensorBoard's downloads byte for byte, the tidy form, and names that files do not take."""

from __future__ import annotations

import gzip
import json
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbframe.errors import AccessorError
from tbframe.verbs.exporting import to_csv
from tbframe.verbs.importing import read_csv
from tbframe.verbs.safe_names import names_of, safe_paths

EXPECTED = Path(__file__).parent / "data" / "expected"
LOGS = sorted(path.name.removesuffix(".json.gz") for path in EXPECTED.glob("*.json.gz"))
FIRST = ["run", "tag", "step", "wall_time", "value"]


def answers(log):
    """Return what TensorBoard answers of a log's scalars: {(run, tag): points}, {(run, tag): CSV}."""
    scalars = json.loads(gzip.decompress((EXPECTED / f"{log}.json.gz").read_bytes()))["scalars"]
    points = {(run, tag): data for run, tags in scalars["data"].items() for tag, data in tags.items()}
    # TensorBoard fails on bfloat16, and prints integer and boolean tensors as such: the frame's values are float64.
    points = {name: data for name, data in points.items() if isinstance(data, list) and is_float(data)}
    return points, {(run, tag): scalars["csv"][run][tag].encode() for run, tag in points}


def is_float(data):
    return all(isinstance(value, float) or value in ("NaN", "Infinity", "-Infinity") for *_, value in data)


def frame_of(points):
    rows = [(run, tag, step, wall, float(value)) for (run, tag), data in points.items() for wall, step, value in data]
    frame = pd.DataFrame(rows, columns=["run", "tag", "step", "wall_time", "value"])
    return frame.astype({"step": "int64", "wall_time": "float64", "value": "float64"})


def sorted_categories(frame):
    """Return the frame as the readers would: categories, series by series."""
    frame = frame.assign(**{c: pd.Categorical(frame[c], sorted(frame[c].unique())) for c in ("run", "tag")})
    return frame.sort_values(["run", "tag"], kind="stable", ignore_index=True)


def simple(**columns):
    return pd.DataFrame({"run": "a", "tag": "loss", "step": [0, 1], "wall_time": 10.0, "value": [0.1, 2.0]} | columns)


# ------------------------------------------------------------------------------------------------ TensorBoard's style


@pytest.mark.parametrize("log", LOGS)
def test_every_file_is_what_tensorboard_offers_for_download(log, tmp_path):
    points, csv = answers(log)
    assert points
    frame = frame_of(points)
    interleaved = frame.loc[frame.groupby(["run", "tag"]).cumcount().sort_values(kind="stable").index]
    paths = to_csv(interleaved, tmp_path)
    assert len(paths) == len(csv)
    assert sorted(path.read_bytes() for path in paths) == sorted(csv.values())
    for path in paths:
        assert path.read_bytes() == csv[names_of(path.relative_to(tmp_path))]
    back = read_csv(tmp_path)
    pd.testing.assert_frame_equal(back.sort_values(["run", "tag"], kind="stable"), back)
    pd.testing.assert_frame_equal(sorted_categories(back.astype({"run": str, "tag": str})), sorted_categories(frame))


def test_one_series_is_one_file(tmp_path):
    assert to_csv(simple(), tmp_path / "loss.csv") == [tmp_path / "loss.csv"]
    assert (tmp_path / "loss.csv").read_bytes() == b"Wall time,Step,Value\r\n10.0,0,0.1\r\n10.0,1,2.0\r\n"
    to_csv(simple(value=[3.0, 4.0]), tmp_path / "loss.csv")
    assert read_csv(tmp_path / "loss.csv")["value"].tolist() == [3.0, 4.0]
    assert to_csv(simple(), tmp_path) == [tmp_path / "a" / "loss.csv"]


def test_several_series_take_a_folder(tmp_path):
    frame = simple(run=[".", "a/b"], tag=["x/y", "z"])
    paths = to_csv(frame, str(tmp_path / "new" / "folder"))
    assert [path.relative_to(tmp_path / "new" / "folder").as_posix() for path in paths] == ["x%2Fy.csv", "a/b/z.csv"]
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"file' is a file, and the 2 series .* folder: .* or use style='tidy'"):
        to_csv(frame, tmp_path / "file")


def test_the_names_of_one_file(tmp_path):
    csv = b"Wall time,Step,Value\r\n10.0,0,nan\r\n"
    for name, run, tag in [
        ("run-007-tag-nan.csv", "007", "nan"),
        ("run-.-tag-.csv", ".", ""),
        ("train%2Floss.csv", ".", "train/loss"),
        ("anything", ".", "anything"),
    ]:
        (tmp_path / name).write_bytes(csv)
        frame = read_csv(tmp_path / name)
        assert (frame["run"].tolist(), frame["tag"].tolist()) == ([run], [tag])
        assert np.isnan(frame["value"][0])
    named = read_csv(str(tmp_path / "anything"), run="1", tag="2")
    assert (named["run"].tolist(), named["tag"].tolist()) == (["1"], ["2"])
    with pytest.raises(ValueError, match=r"run= and tag= name the series of one file, and .* is a folder"):
        read_csv(tmp_path, tag="x")


def test_no_rows(tmp_path):
    empty = simple().iloc[:0]
    for style, path in [("tensorboard", tmp_path / "a"), ("tidy", tmp_path / "b")]:
        to_csv(empty, path, style=style)
        back = read_csv(path)
        assert list(back.columns) == FIRST
        assert len(back) == 0
        assert list(back.dtypes.astype(str)) == ["category", "category", "int64", "float64", "float64"]
    assert (tmp_path / "a").read_bytes() == b"Wall time,Step,Value\r\n"


# ---------------------------------------------------------------------------------------------------- the tidy style

CELLS = st.tuples(
    st.sampled_from([".", "007", "a/b", "nan", "None", "1e5"]),
    st.sampled_from(
        [
            "",
            "nan",
            "NA",
            "x,y",
            'a"b',
            "a\nb",
            "a\r\nb",
            "a\rb",
            "\r",
            "\ufeff",
            "#x",
            " blank ",
            "日本語",
        ]
    )
    | st.text(max_size=3),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.floats(),
)


@given(rows=st.lists(CELLS, max_size=8))
@settings(max_examples=80, deadline=None)
def test_the_tidy_style_reads_back_equal(rows, tmp_path_factory):
    rows = [row for row in rows if encodable(row[1]) and "\0" not in row[1]]  # pandas 2 ends a cell at NUL
    frame = pd.DataFrame(rows, columns=FIRST).astype({"step": "int64", "wall_time": "float64", "value": "float64"})
    frame = frame.astype({"run": object, "tag": object})
    path = tmp_path_factory.mktemp("tidy") / "all.csv"
    to_csv(frame, path, style="tidy")
    back = read_csv(path)
    assert list(back["run"]) == [row[0] for row in rows]
    assert list(back["tag"]) == [row[1] for row in rows]
    assert back["step"].tolist() == [row[2] for row in rows]
    for column in ("wall_time", "value"):
        np.testing.assert_array_equal(back[column], frame[column])
        finite = ~np.isnan(frame[column].to_numpy())
        assert (np.signbit(back[column]) == np.signbit(frame[column]))[finite].all()


def encodable(text):
    try:
        return bool(text.encode()) or not text
    except UnicodeEncodeError:
        return False


def test_further_columns_keep_their_types(tmp_path):
    further = {
        "session": [0, 12],
        "superseded": [True, False],
        "low": [0.5, np.nan],
        "high": [1e300, -np.inf],
        "seed": ["007", "008"],
        "note": ["", "x"],
        "big": ["99999999999999999999", "1"],
        "label": ["infinity", "1_000"],
    }
    frame = simple(**further)
    to_csv(frame.set_index(pd.Index([5, 6], name="odd")), tmp_path / "new" / "x.csv", style="tidy")
    back = read_csv(tmp_path / "new" / "x.csv")
    assert list(back.columns) == list(frame.columns)
    for column, values in further.items():
        expected = [float(v) for v in values] if column == "big" else values
        pd.testing.assert_series_equal(back[column], pd.Series(expected, name=column), check_exact=True)
    assert list(back[["session", "superseded", "low"]].dtypes.astype(str)) == ["int64", "bool", "float64"]


def test_a_folder_of_several_styles_and_a_byte_order_mark(tmp_path):
    (tmp_path / "deep").mkdir()
    to_csv(simple(run="v10"), tmp_path / "deep" / "tidy.csv", style="tidy")
    (tmp_path / "run-v2-tag-x.csv").write_bytes(b"\xef\xbb\xbfWall time,Step,Value\n1.5,-3,inf\n")
    (tmp_path / "notes.txt").write_text("not a table")
    back = read_csv(tmp_path)
    assert list(back["run"]) == ["v2", "v10", "v10"]
    assert list(back["run"].cat.categories) == ["v2", "v10"]
    assert list(back["step"]) == [-3, 0, 1]
    assert back.index.tolist() == [0, 1, 2]


def test_the_frame_is_left_alone_and_may_be_of_any_make(tmp_path):
    frame = simple(run=pd.Categorical(["b", "b"], ["a", "b"]), step=pd.array([0, 1], "Int64"))
    before = frame.copy()
    [path] = to_csv(frame, tmp_path / "x")
    assert path.read_bytes() == b"Wall time,Step,Value\r\n10.0,0,0.1\r\n10.0,1,2.0\r\n"
    pd.testing.assert_frame_equal(frame, before)


# ---------------------------------------------------------------------------------------------------- what is refused


def test_wrong_arguments(tmp_path):
    with pytest.raises(ValueError, match="style='wide': expected 'tensorboard' or 'tidy'"):
        to_csv(simple(), tmp_path / "x", style="wide")
    with pytest.raises(AccessorError, match=r"to_csv\(\) needs the column 'value'"):
        to_csv(simple().drop(columns="value"), tmp_path / "x", style="tidy")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n", r"x.csv' is no CSV of scalars: expected the header Wall time,Step,Value or .*, found a,b"),
        ("", r"x.csv' is no CSV file: No columns"),
        (
            "Wall time,Step,Value\n1,0,1\n1,x,1\n",
            r"x.csv': row 1 of the column 'step' is 'x'; expected a number of int64",
        ),
        ("Wall time,Step,Value\n,0,1\n", r"row 0 of the column 'wall_time' is ''; expected a number of float64"),
        ("Wall time,Step,Value\n1,99999999999999999999,1\n", r"row 0 of the column 'step' is '99999999999999999999'"),
        ("Wall time,Step,Value\n1,0,1,7,8\n2,1\n3,4,5,6,7,8\n", r"x.csv' is no CSV file: "),
    ],
)
def test_files_that_are_no_scalars(tmp_path, content, message):
    (tmp_path / "x.csv").write_text(content)
    for path in (tmp_path, tmp_path / "x.csv"):
        with pytest.raises(ValueError, match=message):
            read_csv(path)


def test_files_that_are_not_there_and_names_that_do_not_belong(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_csv(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"the folder .* holds no file that ends in \.csv"):
        read_csv(tmp_path)
    to_csv(simple(), tmp_path / "x.csv", style="tidy")
    with pytest.raises(
        ValueError, match=r"run= and tag= name the series of a file that does not, and .*x.csv' has both"
    ):
        read_csv(tmp_path / "x.csv", run="b")


# ---------------------------------------------------------------------------------------------------- names of files

PARTS = st.sampled_from(
    [".", "..", "", "a.csv", "con", "NUL.txt", "x.", "y ", "%2F", "%", "run-a-tag-b", "A", "a", "É", "é"]
)
NAMES = st.lists(PARTS | st.text(max_size=4), min_size=1, max_size=3).map("/".join)


@given(series=st.sets(st.tuples(NAMES | st.just("."), NAMES), max_size=12))
@settings(max_examples=300, deadline=None)
def test_paths_are_safe_distinct_and_give_the_names_back(series):
    paths = safe_paths(series)
    assert set(paths) == series
    assert all(names_of(path) == name for name, path in paths.items())
    assert len({path.as_posix().casefold() for path in paths.values()}) == len(series)
    folders = {parent.as_posix().casefold() for path in paths.values() for parent in path.parents}
    for path in paths.values():
        assert path.as_posix().casefold() not in folders
        for part in path.parts:
            assert part not in (".", "..")
            assert not set(part) & set('<>:"\\|?*/')
            assert not any(ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 for c in part)
            assert not part.endswith((".", " "))
            assert part.split(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


def test_paths_are_readable():
    names = [
        (".", "loss"),
        ("a/b", "train/loss"),
        ("v1.2", "Verlust ü"),
        ("a", "Loss"),
        ("a", "run-x-tag-y"),
        ("..", ""),
    ]
    assert [path.as_posix() for path in safe_paths(names).values()] == [
        "loss.csv",
        "a/b/train%2Floss.csv",
        "v1.2/Verlust ü.csv",
        "a/%4Coss.csv",
        "a/%72un-x-tag-y.csv",
        "%2E%2E/%.csv",
    ]
    with pytest.raises(ValueError, match=r"is too long for the name of a file; style='tidy'"):
        safe_paths([("a", "x" * 252)])
    assert names_of(PurePosixPath("run-a-tag-b-tag-c.csv")) == ("a", "b-tag-c")
