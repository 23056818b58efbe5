"""Log directories through xarray's engine."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from conftest import log_path

import tbframe
from tbframe.backend import TbframeBackendEntrypoint
from tbframe.errors import UnknownNameError

ENGINE = TbframeBackendEntrypoint


@pytest.mark.filterwarnings("ignore::tbframe.RestartWarning")
@pytest.mark.parametrize(
    ("engine_takes", "function_takes"),
    [
        ({}, {}),
        ({"edges": "logged"}, {"edges": "logged"}),
        ({"restarts": "mark"}, {"restarts": "mark"}),
        ({"damaged": "ignore"}, {"damaged": "ignore"}),
        ({"run": re.compile(".")}, {"runs": re.compile(".")}),
    ],
)
def test_the_engine_is_the_reader(log, engine_takes, function_takes):
    path = log_path(log)
    with xr.open_dataset(path, engine=ENGINE, **engine_takes) as ds:
        xr.testing.assert_identical(ds.load(), tbframe.histograms(path, **function_takes))


def test_names_choose_as_the_reader_does():
    path = str(log_path("tf1"))
    ds = xr.open_dataset(path, engine=ENGINE, run="train", tag=["layer1/w1"])
    assert ds["counts"].dims == ("tag", "step", "bin")
    assert ds["run"].item() == "train"
    with pytest.raises(UnknownNameError, match="no tag 'w1'"):
        xr.open_dataset(path, engine=ENGINE, tag="w1")
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(path + "/nowhere", engine=ENGINE)


def test_one_file_and_named_paths():
    (file,) = (log_path("tf1") / "train").glob("*tfevents*")
    ds = xr.open_dataset(file, engine=ENGINE, tag="layer1/w1")
    xr.testing.assert_identical(ds.load(), tbframe.histograms(file, tags="layer1/w1"))
    named = xr.open_dataset({"x": file}, engine=ENGINE, tag="layer1/w1")
    assert named["run"].item() == "x"


def test_what_is_opened_is_a_histogram_dataset():
    ds = xr.open_dataset(log_path("tf1"), engine=ENGINE, run="train", tag="layer1/w1")
    np.testing.assert_allclose(ds.tb.rebin(5).counts.sum("bin"), ds["num"], rtol=1e-12)
    assert ds.isel(step=3).tb.compress().dims == ("bps",)


def test_variables_are_dropped():
    for names in ("num", ["num", "value_sum", "what is not there"]):
        ds = xr.open_dataset(log_path("tf1"), engine=ENGINE, drop_variables=names)
        assert "num" not in ds
        assert "counts" in ds


def test_chunks(monkeypatch):
    pytest.importorskip("dask")
    ds = xr.open_dataset(log_path("tf1"), engine=ENGINE, run="train", tag="layer1/w1", chunks={"step": 10})
    assert ds["counts"].chunks[0] == (10, 10, 10)
    xr.testing.assert_equal(ds.compute(), tbframe.histograms(log_path("tf1"), runs="train", tags="layer1/w1"))


def test_few_things_are_taken_for_event_files(tmp_path):
    guess = TbframeBackendEntrypoint().guess_can_open
    run = log_path("tf1") / "train"
    (file,) = run.glob("*tfevents*")
    assert guess(file)
    assert guess(str(file))
    assert guess("s3://bucket/run/events.out.tfevents.1.host")
    assert guess(run)
    assert not guess(log_path("tf1"))  # a directory of runs
    (tmp_path / "events.out.tfevents.directory").mkdir()
    (tmp_path / "data.nc").touch()
    for other in (
        tmp_path,
        tmp_path / "data.nc",
        "https://tfevents.org/data.nc",
        "nowhere",
        5,
        None,
        b"tfevents",
        file.open("rb"),
    ):
        assert not guess(other), other
        if hasattr(other, "close"):
            other.close()
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o000)
    assert not guess(locked)
    locked.chmod(0o700)


def test_the_entry_point_leads_to_the_engine():
    root = Path(tbframe.__file__).parents[1]
    if not (root / "pyproject.toml").exists():
        pytest.skip("not in a checkout")
    declared = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["xarray.backends"]
    entry = importlib.metadata.EntryPoint("tbframe", declared["tbframe"], "xarray.backends")
    assert entry.load() is TbframeBackendEntrypoint


def test_the_engine_is_found_where_the_package_is_installed():
    if "tbframe" not in {entry.name for entry in importlib.metadata.entry_points(group="xarray.backends")}:
        pytest.skip("the package is on the path but not installed")
    assert isinstance(xr.backends.list_engines()["tbframe"], TbframeBackendEntrypoint)
    run = log_path("tf1") / "train"
    (file,) = run.glob("*tfevents*")
    xr.testing.assert_identical(xr.open_dataset(run, engine="tbframe").load(), tbframe.histograms(run))
    xr.testing.assert_identical(xr.open_dataset(file).load(), tbframe.histograms(file))  # by its name
