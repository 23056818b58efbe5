"""tbframe, as its users call it. See `fresh` for what a subject is."""

from __future__ import annotations

import contextlib
import json
import shutil
import struct
import time
from pathlib import Path


def _scalars(frame):
    return {"rows": len(frame), "steps": int(frame["step"].sum()), "total": float(frame["value"].sum())}


def _histograms(ds):
    logged = ds["num"].size if "tag" not in ds.dims else int((ds["buckets"] > 0).sum())
    steps = int((ds["step"] * (ds["buckets"] > 0)).sum())
    return {"rows": logged, "steps": steps, "total": float(ds["counts"].sum())}


def _import_dask():
    """Import what xarray imports, where it is installed, once it first needs to know what it holds. Imports are not timed."""
    with contextlib.suppress(ImportError):
        import dask.array  # noqa: F401


# Reading --------------------------------------------------------------------------------------------------------------


def read(watch, logdir, kind):
    import tbframe

    if kind == "scalars":
        return lambda: tbframe.scalars(logdir), lambda frame: {
            "size": int(frame.memory_usage().sum()),
            **_scalars(frame),
        }
    _import_dask()
    return lambda: tbframe.histograms(logdir), lambda ds: {"size": int(ds.nbytes), **_histograms(ds)}


def importing(watch):
    """Import tbframe where pandas and xarray are imported."""
    import pandas  # noqa: F401
    import xarray  # noqa: F401

    def load():
        import tbframe

        return tbframe

    return load, lambda module: {"rows": len(module.__all__)}


def tags(watch, logdir):
    import tbframe

    return lambda: tbframe.tags(logdir), lambda frame: {"rows": int(frame["count"].sum())}


def runs(watch, logdir):
    import tbframe

    return lambda: tbframe.runs(logdir), lambda frame: {"rows": int(frame["events"].sum())}


def checksums(watch, logdir):
    """Read, and say how long the data checksums took."""
    import tbframe
    from tbframe.events import loading

    spent, verify = [0.0], loading.wrong_records

    def timed(*args):
        start = time.perf_counter()
        result = verify(*args)
        spent[0] += time.perf_counter() - start
        return result

    loading.wrong_records = timed
    return lambda: tbframe.scalars(logdir), lambda frame: {"checksums": spent[0], **_scalars(frame)}


def again(watch, logdir):
    """Read scalars a second time."""
    import tbframe

    log = tbframe.open(logdir)
    start = time.perf_counter()
    log.scalars()
    first = time.perf_counter() - start
    return log.scalars, lambda frame: {"first": first, **_scalars(frame)}


def refresh(watch, logdir, folder):
    """Read what was appended to a copy of a log of one file: 1,000 values."""
    import tempfile

    import google_crc32c

    import tbframe

    def record(data):
        length = struct.pack("<Q", len(data))
        return b"".join((length, masked(length), data, masked(data)))

    def masked(data):
        crc = google_crc32c.value(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    copy = Path(tempfile.mkdtemp(dir=folder)) / "copy"
    shutil.copytree(logdir, copy)
    log = tbframe.open(copy)
    start = time.perf_counter()
    before = log.scalars()
    first = time.perf_counter() - start
    value = b"\x0a\x0dappended/loss\x15" + struct.pack("<f", 0.5)
    summary = b"\x0a" + bytes([len(value)]) + value
    (path,) = copy.rglob("*tfevents*")
    with path.open("ab") as file:
        for step in range(1000):
            body = b"\x09" + struct.pack("<d", 1.8e9) + b"\x10" + bytes([step & 127 | 128, step >> 7])
            file.write(record(body + b"\x2a" + bytes([len(summary)]) + summary))

    def describe(_):
        start = time.perf_counter()
        new = len(log.scalars()) - len(before)
        seconds = time.perf_counter() - start
        shutil.rmtree(copy)
        return {"first": first, "rows": new, "scalars_after": seconds}

    return log.refresh, describe


# Work on what was read ------------------------------------------------------------------------------------------------


def wide(watch, logdir):
    """Read into one column per tag."""
    import tbframe

    def describe(frame):
        return {"rows": int(frame.count().sum()), "total": float(frame.sum().sum())}

    return lambda: tbframe.scalars(logdir).tb.wide(), describe


def verb(watch, logdir, name, arguments):
    """Call a verb of a scalars frame, with the keyword arguments of a JSON object."""
    import tbframe

    frame = tbframe.scalars(logdir)
    method, keywords = getattr(frame.tb, name), json.loads(arguments)
    return lambda: method(**keywords), lambda result: {"rows": len(result)}


def rebin(watch, logdir):
    import tbframe

    _import_dask()
    ds = tbframe.histograms(logdir)

    def describe(result):
        edges = [*result["left"].values.tolist(), float(result["right"][-1])]
        counts = result["counts"].values.reshape(-1, result.sizes["bin"])
        return {"rows": len(counts), "edges": edges, "sums": counts.sum(axis=0).tolist()}

    return lambda: ds.tb.rebin(30), describe


def compress(watch, logdir):
    import tbframe

    _import_dask()
    ds = tbframe.histograms(logdir)

    def describe(result):
        values = result.values.reshape(-1, result.sizes["bps"])
        return {"rows": len(values), "sums": values.sum(axis=0).tolist()}

    return ds.tb.compress, describe


def write(watch, folder, steps):
    """Write ten tags; the folder gets a directory of its own for each run."""
    import tempfile

    import numpy as np
    import pandas as pd

    import tbframe

    names = [f"{part}/{name}" for part in ("train", "valid") for name in "abcde"]
    values = np.random.default_rng(0).standard_normal((int(steps), len(names))).astype("f4").astype("f8")
    step, tag = np.indices(values.shape).reshape(2, -1)
    frame = pd.DataFrame({
        "run": pd.Categorical.from_codes(np.zeros(values.size, "i1"), ["."]),
        "tag": pd.Categorical.from_codes(tag, names),
        "step": step,
        "wall_time": 1.7e9 + step,
        "value": values.ravel(),
    })  # fmt: skip
    place = tempfile.mkdtemp(dir=folder)
    facts = {"rows": len(frame), "total": float(frame["value"].sum()), "folder": place}
    return lambda: tbframe.write(frame, place), lambda _: facts
