"""Every kind through each way in: the function, an open log, a single file, a Path, a mapping, several paths, a URL of fsspec."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import log_path

import tbframe

# Of each kind a run of a real log that has it, and how many rows, or steps, it has.
KINDS = {
    "scalars": ("torch", "adam-1e-2", 134),
    "histograms": ("tf2", "summary", 12),
    "images": ("torch", "adam-1e-2", 14),
    "audio": ("tf1", "eval", 6),
    "text": ("tf2", "summary", 15),
    "tensors": ("tf2", "summary", 3),
    "pr_curves": ("torch", "adam-1e-2", 7),
    "meshes": ("tf2", "summary", 3),
    "hparams": ("torch", "adam-1e-2/hp", 1),
    "graph": ("tf1", "train", 193),
    "node_stats": ("tf1", "train", 330),
    "custom_scalars": ("torch", "adam-1e-2", 2),
    "embeddings": ("torch", "adam-1e-2", 1),
}
WAYS = ["str", "Path", "open", "several", "mapping", "file", "Path of a file", "open file", "url", "url of a file"]


def in_memory(kind: str, directory: Path) -> str:
    """Copy a directory into fsspec's memory."""
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    for path in directory.rglob("*"):
        if path.is_file():
            files.pipe_file(f"/ways/{kind}/{path.relative_to(directory).as_posix()}", path.read_bytes())
    return f"memory://ways/{kind}"


def logdir_of(way: str, kind: str, directory: Path) -> Any:
    (file,) = directory.glob("*tfevents*")
    return {
        "str": lambda: str(directory),
        "Path": lambda: directory,
        "open": lambda: tbframe.open(directory),
        "several": lambda: [directory],
        "mapping": lambda: {"name": directory},
        "file": lambda: str(file),
        "Path of a file": lambda: file,
        "open file": lambda: tbframe.open(file),
        "url": lambda: in_memory(kind, directory),
        "url of a file": lambda: f"{in_memory(kind, directory)}/{file.name}",
    }[way]()


def read(logdir: Any, kind: str, run: str) -> Any:
    named = {"run": run} if kind == "graph" else {"runs": run}
    if isinstance(logdir, tbframe.LogDir):
        return getattr(logdir, kind)(**named)
    return getattr(tbframe, kind)(logdir, **named)


def plain(value: Any) -> Any:
    """What can be compared with ==, arrays and frames inside frames included; without the names of run and logdir."""
    if isinstance(value, tbframe.Graph):
        return plain(value.nodes), plain(value.edges), value.tag, value.step, value.wall_time, value.to_bytes()
    if isinstance(value, xr.Dataset):
        variables = {str(name): plain(value[name].values) for name in value.variables if name != "run"}
        return variables, {str(name): value[name].dims for name in value.variables}
    if isinstance(value, pd.DataFrame):
        kept = value.drop(columns=[name for name in ("run", "group") if name in value.columns])
        return {name: (str(column.dtype), plain(column.tolist())) for name, column in kept.items()}
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return "missing" if value is pd.NA or value != value else value


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_through_each_way_in(kind, way):
    log, run, size = KINDS[kind]
    reference = read(tbframe.open(log_path(log)), kind, run)
    found = read(logdir_of(way, kind, log_path(log) / run), kind, "name" if way == "mapping" else ".")
    rows = len(found.nodes) if kind == "graph" else found.sizes["step"] if isinstance(found, xr.Dataset) else len(found)
    assert rows == size
    assert plain(found) == plain(reference)


@pytest.mark.parametrize("way", ["file", "url of a file"])
def test_files_beside_a_single_file_are_found(way):
    """What belongs to a run lies beside its events, also where only these were named."""
    found = read(logdir_of(way, "embeddings", log_path("torch") / "adam-1e-2"), "embeddings", ".")
    assert found["tensor"][0].shape == (10, 64)
    assert len(found["metadata"][0]) == 10


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "graph"])
def test_every_kind_says_which_log_and_what_it_left_out(kind):
    found = read(str(log_path("tf1")), kind, "eval")
    attrs = found.attrs["tbframe"] if isinstance(found, pd.DataFrame) else found.attrs
    assert (attrs["kind"], attrs["logdir"]) == (kind, str(log_path("tf1")))
    if kind not in ("custom_scalars", "embeddings"):
        assert (attrs["dropped"], attrs["restarts"]) == (0, "purge")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "graph"])
def test_every_kind_refuses_names_that_do_not_exist(kind):
    with pytest.raises(tbframe.UnknownNameError, match=r"no run 'trian'\. Did you mean 'train'\?"):
        read(str(log_path("tf1")), kind, "trian")
    found = getattr(tbframe, kind)(log_path("tf1"), runs=re.compile("nothing"))
    assert (found.sizes["step"] if isinstance(found, xr.Dataset) else len(found)) == 0


def test_a_warning_names_the_line_of_the_caller():
    with pytest.warns(tbframe.RestartWarning) as caught:
        tbframe.scalars(log_path("torch"), runs="restarted")
    assert [warning.filename for warning in caught] == [__file__]
