"""``df.tb``: on which frames it exists, and that each method is its function."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tbframe.accessors.frame
from tbframe.accessors.frame import FrameAccessor
from tbframe.documenting import documented_by
from tbframe.errors import AccessorError
from tbframe.verbs import (
    aggregating,
    best,
    checking,
    extracting,
    joining,
    reshaping,
    sampling,
    selecting,
    smoothing,
    timing,
)

FUNCTIONS = {
    "select": selecting.select,
    "rename": selecting.rename,
    "extract": extracting.extract,
    "join": joining.join,
    "wide": reshaping.wide,
    "to_xarray": reshaping.to_xarray,
    "smooth": smoothing.smooth,
    "downsample": sampling.downsample,
    "elapsed": timing.elapsed,
    "aggregate": aggregating.aggregate,
    "last": best.last,
    "best": best.best,
    "check": checking.check,
}

ARGUMENTS = {
    "select": {"runs": "a", "tags": re.compile("o")},
    "rename": {"runs": {"a": "x"}, "tags": str.upper},
    "extract": {"pattern": r"(?P<letter>\w)"},
    "join": {"hparams": pd.DataFrame({"run": ["a", "b"], "params.lr": [0.1, 0.2]})},
    "wide": {"values": "wall_time", "index": ["run", "step"], "keep": "last"},
    "to_xarray": {"keep": "first"},
    "smooth": {"half_life_steps": 3},
    "downsample": {"n": 3, "method": "even", "seed": 1},
    "elapsed": {"since": 5.0},
    "aggregate": {"by": {"a": "g", "b": "g"}, "estimator": "iqm", "band": "quantile", "align": "nearest", "level": 0.5},
    "last": {},
    "best": {"mode": "max", "of": "loss"},
    "check": {"by": "run"},
}


def make_frame():
    steps = np.tile(np.arange(10), 4)
    return pd.DataFrame(
        {
            "run": np.repeat(["a", "b"], 20),
            "tag": np.tile(np.repeat(["loss", "accuracy"], 10), 2),
            "step": steps,
            "wall_time": steps * 1.5,
            "value": np.random.default_rng(0).normal(size=40),
        }
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_method_is_its_function(name):
    frame = make_frame()
    result = getattr(frame.tb, name)(**ARGUMENTS[name])
    expected = FUNCTIONS[name](frame, **ARGUMENTS[name])
    if isinstance(expected, xr.Dataset):
        xr.testing.assert_identical(result, expected)
    else:
        pd.testing.assert_frame_equal(result, expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_method_takes_and_tells_what_its_function_does(name):
    method, function = getattr(FrameAccessor, name), FUNCTIONS[name]
    taken, expected = (list(inspect.signature(each).parameters.values())[1:] for each in (method, function))
    assert [(each.name, each.kind, each.default) for each in taken] == [
        (each.name, each.kind, each.default) for each in expected
    ]
    assert method.__doc__.splitlines()[0] == inspect.cleandoc(function.__doc__).splitlines()[0]
    assert "frame : DataFrame" not in method.__doc__
    assert "Examples" not in method.__doc__
    for parameter in expected:
        assert parameter.name in method.__doc__


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"run": ["a"]}),
        pd.DataFrame({"tag": ["x"], "data": [b""]}),
        make_frame().iloc[:0],
        make_frame().assign(more=1)[["more", "tag", "run"]],
    ],
)
def test_frames_with_runs_or_tags_have_it(frame):
    assert hasattr(frame, "tb")
    assert "tb" in dir(frame)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"loss": [1.0]}), r"df\.tb needs a column 'run' or 'tag'.* This one has 'loss'\.$"),
        (pd.DataFrame(), "This one has no columns"),
        (make_frame().set_index(["run", "tag"]), "'run', 'tag' in the index: use reset_index"),
    ],
)
def test_other_frames_do_not(frame, message):
    with pytest.raises(AccessorError, match=message):
        _ = frame.tb
    assert not hasattr(frame, "tb")
    # pandas looks at every accessor for this.
    assert "loss" in dir(frame) or "loss" not in frame.columns


def test_a_method_says_which_column_it_needs():
    with pytest.raises(AccessorError, match=r"smooth\(\) needs the column 'value'"):
        make_frame().drop(columns="value").tb.smooth()


def test_methods_chain():
    table = make_frame().tb.select(tags="loss").tb.smooth().tb.aggregate().tb.wide(index="step")
    assert list(table.columns) == ["loss"]
    assert table.index.name == "step"


def test_importing_it_imports_neither_matplotlib_nor_protobuf():
    code = (
        "import sys, tbframe.accessors.frame; "
        "print([m for m in ('matplotlib', 'google.protobuf', 'scipy') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_documentation_of_a_function_without_any():
    def bare(frame):
        return frame

    @documented_by(bare)
    def method(self):
        """Do nothing."""

    assert method.__doc__ == "Do nothing."
    assert tbframe.accessors.frame.FrameAccessor is FrameAccessor
