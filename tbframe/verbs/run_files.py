"""What the event file of each run is to hold: data taken apart into runs, and the form that each value is stored in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from tbframe import series
from tbframe.errors import AccessorError, warn
from tbframe.events.writing import Histograms, Scalars, encode_histograms, encode_scalars
from tbframe.verbs.frames import require
from tbframe.verbs.scalar_columns import ScalarColumns, integers, scalar_columns

__all__ = ["RunFiles", "histogram_files", "scalar_files"]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

_SERIES: Final = ("run", "tag", "step")
_STATISTICS: Final = ("value_min", "value_max", "num", "value_sum", "value_sum_squares")
_EXACT: Final = 2.0**53
"""Below it float64 holds every whole number."""


class RunFiles(NamedTuple):
    """What the files of some runs are to hold."""

    runs: list[str]
    starts: list[float]
    """The first wall time of each, which TensorBoard takes as the run's start."""
    pieces: Iterator[tuple[int, Bytes]]
    """Which run, and some of its records: all of a run follow each other, in their order."""


def scalar_files(frame: pd.DataFrame, *, rounded: bool) -> RunFiles:
    """Sort the rows of a scalars frame into runs.

    Parameters
    ----------
    frame : DataFrame
        With run, tag, step, wall_time and value.
    rounded : bool
        Whether to store every value in float32. Otherwise those that it does not hold exactly become float64 tensors.

    Returns
    -------
    RunFiles
        The rows of each run in their order.

    Raises
    ------
    ValueError
        If a wall time is not finite; as `scalar_columns`.
    TypeError, AccessorError
        As `scalar_columns`.
    """
    require(frame, ScalarColumns._fields, "write")
    columns = scalar_columns(frame)
    _check_times(columns.wall_time)
    if pd.api.types.is_integer_dtype(frame["value"]) and (large := np.abs(columns.value) >= _EXACT).any():
        warn(f"{np.count_nonzero(large)} whole numbers from 2**53 on were rounded to what float64 holds", UserWarning)
    scalars = _in_float32(columns) if rounded else _exactly(columns)
    order = series.stable_order(columns.run.code)
    bounds = np.searchsorted(columns.run.code[order], np.arange(len(columns.run.names) + 1))
    scalars = scalars.at(order)
    starts = np.minimum.reduceat(scalars.wall_time, bounds[:-1]).tolist() if len(order) else []
    return RunFiles(columns.run.names, starts, _pieces(scalars, bounds))


def _pieces(scalars: Scalars, bounds: Ints) -> Iterator[tuple[int, Bytes]]:
    """Encode the rows of all runs together, and cut what comes where a run ends."""
    before = 0
    for records in encode_scalars(scalars):
        rows = len(records.end)
        end = np.append(0, records.end).tolist()
        first, last = np.searchsorted(bounds, [before + 1, before + rows]).tolist()
        for run in range(first - 1, last):
            start, stop = max(bounds[run] - before, 0), min(bounds[run + 1] - before, rows)
            yield run, records.data[end[start] : end[stop]]
        before += rows


def histogram_files(data: xr.Dataset | xr.DataArray) -> RunFiles:
    """Sort the series of histograms into runs.

    Parameters
    ----------
    data : Dataset or DataArray
        counts over bin and, unless they are scalar, step, run and tag, with left, right and wall_time (of a DataArray
        as coordinates). The number of buckets and the statistics are used where they are there.

    Returns
    -------
    RunFiles
        The histograms of each run, one tag after the other.

    Raises
    ------
    AccessorError
        If a variable is missing or counts has other dimensions.
    ValueError
        If a wall time is not finite (a step that one of several series did not log has none, and is left out).
    """
    dataset = data.to_dataset(name="counts") if isinstance(data, xr.DataArray) else data
    _check_variables(dataset)
    by_run: dict[str, list[Histograms]] = {}
    unkept = 0
    for run, histograms in _each_series(dataset):
        _check_times(histograms.wall_time)
        by_run.setdefault(run, []).append(histograms)
        unkept += int(np.count_nonzero(~histograms.proto & np.isfinite(histograms.statistics[:, 2])))
    if unkept:
        warn(
            f"the statistics (num, value_sum, ...) of {unkept} histograms were not written: their edges are no longer "
            "those of a HistogramProto, and the tensor that stores them holds no statistics",
            UserWarning,
        )
    starts = [min(float(histograms.wall_time.min()) for histograms in several) for several in by_run.values()]
    encoded = ((i, encode_histograms(one).data) for i, several in enumerate(by_run.values()) for one in several)
    return RunFiles(list(by_run), starts, encoded)


def _check_times(wall_time: Floats) -> None:
    wrong = ~np.isfinite(wall_time)
    if wrong.any():
        raise ValueError(
            f"wall_time: {np.count_nonzero(wrong)} of {len(wrong)} are not finite (the first: {wall_time[wrong][0]}), "
            "and TensorBoard's default server gives up a file over one. Use .fillna(0.0), or drop what has no time"
        )


def _encoded(tags: Iterable[str]) -> list[bytes]:
    try:
        return [tag.encode() for tag in tags]
    except UnicodeEncodeError as error:
        raise ValueError(f"tag {error.object!r} has no form in UTF-8; df.tb.rename(tags=...) renames it") from None


def _as_scalars(columns: ScalarColumns, value: Floats, double: Bools) -> Scalars:
    return Scalars(_encoded(columns.tag.names), columns.tag.code, columns.step, columns.wall_time, value, double)


def _in_float32(columns: ScalarColumns) -> Scalars:
    """Store all values as float32."""
    with np.errstate(over="ignore"):
        value = columns.value.astype(np.float32).astype(np.float64)
    lost = np.count_nonzero(np.isinf(value) & np.isfinite(columns.value))
    if lost:
        warn(f"{lost} of {len(value)} values are beyond float32 and were written as infinities", UserWarning)
    return _as_scalars(columns, value, np.zeros(len(value), bool))


def _exactly(columns: ScalarColumns) -> Scalars:
    """Store each value as float32 if that holds it, else as float64."""
    value = columns.value
    with np.errstate(over="ignore"):
        double = (value.astype(np.float32) != value) & ~np.isnan(value)
    if double.any():
        counts = np.bincount(columns.tag.code[double], minlength=len(columns.tag.names))
        first = columns.tag.names[int(np.argmax(counts > 0))]
        warn(
            f"{np.count_nonzero(double)} of {len(value)} values ({np.count_nonzero(counts)} tags, as {first!r}) are "
            "not exact in float32 and were written as float64 tensors, which TensorBoard's default server does not "
            "show (--load_fast=false does); dtype='float32' rounds them",
            UserWarning,
        )
    return _as_scalars(columns, value, double)


def _check_variables(dataset: xr.Dataset) -> None:
    need = ["counts", "left", "right", "step", "wall_time", "tag"]
    missing = [name for name in need if name not in dataset.variables]
    if missing:
        raise AccessorError(
            f"write needs {need}, and the Dataset lacks {missing}. It has {[*map(str, dataset.variables)]}. "
            "tbframe.histograms() gives them; .assign_coords(wall_time=0.0) or (tag='name') adds what is unknown"
        )
    for name in _SERIES:
        if name in dataset.variables and dataset[name].dims not in ((), (name,)):
            over = [*map(str, dataset[name].dims)]
            raise AccessorError(f"write expects {name} as a scalar or a dimension, and found {name} over {over}")
    dims = [*map(str, dataset["counts"].dims)]
    if set(dims) != {*_SERIES, "bin"} & set(dataset.dims) or "bin" not in dims:
        raise AccessorError(
            f"write expects counts over bin and over all of run, tag and step that are dimensions of the Dataset, and "
            f"found counts over {dims}"
        )


def _each_series(dataset: xr.Dataset) -> Iterator[tuple[str, Histograms]]:
    """Take the series of a Dataset apart: each with the steps it logged."""
    if "run" not in dataset.variables:
        dataset = dataset.assign_coords(run=".")
    lacking = [dim for dim in _SERIES if dim not in dataset["counts"].dims]
    joined = not {"run", "tag"} <= set(lacking)
    whole = dataset.expand_dims(lacking)

    def full(name: str, *dims: str) -> Floats:
        like = whole["counts"] if "bin" in dims else whole["counts"].sum("bin")
        return np.asarray(whole[name].broadcast_like(like).transpose(*dims).values, np.float64)

    left, right, counts = (full(name, *_SERIES, "bin") for name in ("left", "right", "counts"))
    wall_time = full("wall_time", *_SERIES)
    buckets = np.full(wall_time.shape, whole.sizes["bin"])
    if "buckets" in whole.variables:
        buckets = full("buckets", *_SERIES).astype(np.int64)
    statistics = np.full((*wall_time.shape, 5), np.nan)
    for i, name in enumerate(_STATISTICS):
        if name in whole.variables:
            statistics[..., i] = full(name, *_SERIES)
    step = integers(pd.Series(whole["step"].values, name="step"))
    tags = _encoded(whole["tag"].values.tolist())
    for i, run in enumerate(whole["run"].values.tolist()):
        for j, tag in enumerate(tags):
            # Of several series, those that did not log a step have no wall time there.
            at = ~np.isnan(wall_time[i, j]) if joined else np.ones(len(step), bool)
            if at.any():
                edges = left[i, j, at], right[i, j, at], counts[i, j, at], buckets[i, j, at], statistics[i, j, at]
                # One form for all of a tag: behind a HistogramProto, TensorBoard's default server shows no tensor.
                proto = np.full(np.count_nonzero(at), _fit_proto(*edges).all())
                yield run, Histograms(tag, step[at], wall_time[i, j, at], *edges, proto)


def _fit_proto(left: Floats, right: Floats, counts: Floats, buckets: Ints, statistics: Floats) -> Bools:
    """Tell which histograms read back the same, statistics included, from a HistogramProto."""
    known = np.isfinite(statistics[:, 2])
    if not left.shape[1]:
        return known
    last = (np.arange(len(left)), np.maximum(buckets - 1, 0))
    beyond = np.arange(1, left.shape[1]) >= buckets[:, None]
    contiguous = ((left[:, 1:] == right[:, :-1]) | beyond).all(axis=1)
    clipped = (left[:, 0] == statistics[:, 0]) & (right[last] == statistics[:, 1])
    clipped &= (counts[:, 0] > 0) & (counts[last] > 0)
    fits: Bools = known & ((contiguous & (clipped | (left[:, 0] == -np.inf))) | (buckets == 0))
    return fits
