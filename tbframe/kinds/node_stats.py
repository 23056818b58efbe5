"""Time and memory of every node: one row for each execution that a RunMetadata tells of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.errors import EventFileError
from tbframe.events import values
from tbframe.events.tensors import dtype_name
from tbframe.kinds.catalog import Catalog, Selection
from tbframe.kinds.frames import common_columns, count_repeats
from tbframe.kinds.graph_nodes import shape_of_message
from tbframe.kinds.graphs import parsed, string_of
from tbframe.kinds.parts import name_of
from tbframe.kinds.stacking import refuse_padding
from tbframe.kinds.undecodable import Undecodable
from tbframe.names import natural_order

__all__ = ["frame", "run_metadata"]

_OP: Final = re.compile(r".*? = ([^ (]+)\(", re.DOTALL)
"""How the label of an execution on the timeline names its operation: ``name = Op(inputs)``."""
_MEMORY: Final = {"bytes": "total_bytes", "peak_bytes": "peak_bytes", "live_bytes": "live_bytes"}
"""Columns for each allocator, and the fields of AllocatorMemoryUsed that they show."""

Ints = npt.NDArray[np.int64]


def frame(catalog: Catalog, selection: Selection, *, mark: bool = False) -> pd.DataFrame:
    """Build the frame of executions.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The run metadata wanted.
    mark : bool
        Whether to add the columns ``session`` and ``superseded``.

    Returns
    -------
    pandas.DataFrame
        One row per device, node and execution, in the order logged: ``run``, ``tag`` (category), ``step`` (int64),
        ``wall_time`` (float64, seconds since the epoch), ``device`` (str), ``thread`` (int64), ``thread_name``, ``node``,
        ``op``, ``label`` (str); ``start`` (float64, seconds since the epoch), ``start_nanos`` (int64, the same exactly),
        ``wait`` (from being scheduled to the start, NaN if unknown), ``compute`` and ``total`` time (float64, seconds);
        ``bytes`` (int64, of all allocators, as TensorBoard counts them: what is negative is left out);
        ``bytes.<allocator>``, ``peak_bytes.<allocator>``, ``live_bytes.<allocator>`` (int64, 0 where a node used none);
        ``output_bytes``, ``temp_bytes``, ``persistent_bytes`` (int64); ``output_shapes`` (list of tuples of int, None for
        an unknown rank), ``output_dtypes`` (list of str); with `mark` also ``session`` (int64) and ``superseded`` (bool).

    Raises
    ------
    ValueError
        If there are so many allocators that the frame would be very large and mostly zeros.

    Warns
    -----
    UndecodableValueWarning
        If something logged is no RunMetadata.
    """
    common = pd.DataFrame(common_columns(catalog, selection), copy=False)
    undecodable = Undecodable("node_stats")
    what = catalog.table["what"][selection.rows].tolist()
    devices: list[Any] = []
    owner: list[int] = []
    for i, data in enumerate(catalog.payloads(selection)):
        if data is None:
            continue
        try:
            found = _run_metadata(data, what[i]).step_stats.dev_stats
        except ValueError as error:
            row = common.iloc[i]
            undecodable.add(row["run"], row["tag"], int(row["step"]), str(error))
            continue
        devices += found
        owner += [i] * len(found)
    undecodable.say()
    size = np.array([len(device.node_stats) for device in devices], np.int64)
    rows = np.repeat(np.array(owner, np.int64), size)
    stats = [stat for device in devices for stat in device.node_stats]
    columns = {name: common[name].array.take(rows) for name in common.columns}
    which = np.repeat(np.arange(len(devices)), size).tolist()
    threads = [dict(device.thread_names) for device in devices]
    columns["device"] = _texts([devices[d].device for d in which])
    columns["thread"] = np.array([stat.thread_id for stat in stats], np.int64)
    columns["thread_name"] = _texts([threads[d].get(stat.thread_id, "") for d, stat in zip(which, stats, strict=True)])
    result = pd.DataFrame({**columns, **_stat_columns(stats)})
    for name in ("run", "tag"):
        result[name] = result[name].cat.remove_unused_categories()
    if mark:
        places = selection.places[rows]
        result["session"], result["superseded"] = catalog.session[places], catalog.superseded[places]
    repeats = count_repeats(catalog.table["step"][selection.rows], selection.series_size)
    result.attrs["tbframe"] = {"kind": "node_stats", "repeats": repeats}
    return result


def _run_metadata(data: bytes, what: int) -> Any:  # noqa: ANN401 - a protobuf message
    """Parse a RunMetadata, from an event of its own or from a tensor of the plugin ``graph_run_metadata``."""
    content = parsed("TaggedRunMetadata", data).run_metadata if what == values.RUN_METADATA else string_of(data)
    return parsed("RunMetadata", content)


def run_metadata(catalog: Catalog, selection: Selection) -> list[Any]:
    """Read run metadata whole.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    selection : Selection
        The run metadata wanted.

    Returns
    -------
    list of message
        A RunMetadata for each.

    Raises
    ------
    EventFileError
        If one is in a damaged record, or no RunMetadata.
    """
    what = catalog.table["what"][selection.rows].tolist()
    found = []
    for i, data in enumerate(catalog.payloads(selection)):
        try:
            if data is None:
                raise ValueError("it is in a damaged record")
            found.append(_run_metadata(data, what[i]))
        except ValueError as error:
            row = selection.rows[i]
            path = next(file.path for file in catalog.files if file.code == catalog.table["file"][row])
            run, tag, step = name_of(catalog, selection, i)
            reason = f"the run metadata of run {run!r}, tag {tag!r}, step {step} cannot be read: {error}"
            raise EventFileError(path, int(catalog.table["record"][row]), reason) from error
    return found


def _texts(texts: Sequence[str]) -> pd.Series:
    return pd.Series(texts, dtype=object)


def _stat_columns(stats: list[Any]) -> dict[str, Any]:
    """Tabulate what NodeExecStats say."""
    start = _nanos(stats, "all_start")
    scheduled = _nanos(stats, "scheduled")
    labels = [stat.timeline_label for stat in stats]
    matches = [_OP.match(label) for label in labels]
    descriptions = [[output.tensor_description for output in stat.output] for stat in stats]
    return {
        "node": _texts([stat.node_name for stat in stats]),
        "op": _texts([match[1] if match else "" for match in matches]),
        "label": _texts(labels),
        "start": start / 1e9,
        "start_nanos": start,
        "wait": np.where(scheduled != 0, start - scheduled, np.nan) / 1e9,
        "compute": (_nanos(stats, "op_end_rel") - _nanos(stats, "op_start_rel")) / 1e9,
        "total": _nanos(stats, "all_end_rel") / 1e9,
        **_memory_columns(stats),
        "output_bytes": np.array(
            [sum(d.allocation_description.requested_bytes for d in some) for some in descriptions], np.int64
        ),
        "temp_bytes": np.array([stat.memory_stats.temp_memory_size for stat in stats], np.int64),
        "persistent_bytes": np.array([stat.memory_stats.persistent_memory_size for stat in stats], np.int64),
        "output_shapes": pd.Series([[shape_of_message(d.shape) for d in some] for some in descriptions], dtype=object),
        "output_dtypes": pd.Series([[dtype_name(d.dtype) for d in some] for some in descriptions], dtype=object),
    }


def _nanos(stats: list[Any], name: str) -> Ints:
    """Return a time in nanoseconds; from the microseconds where an old TensorFlow logged only those."""
    nanos, micros = (
        np.array([getattr(stat, f"{name}_{unit}") for stat in stats], np.int64) for unit in ("nanos", "micros")
    )
    return np.where(nanos != 0, nanos, micros * 1000)


def _memory_columns(stats: list[Any]) -> dict[str, Ints]:
    """Add up what each node used of each allocator."""
    used = [(row, memory) for row, stat in enumerate(stats) for memory in stat.memory]
    row = np.array([row for row, _ in used], np.int64)
    names = natural_order({memory.allocator_name for _, memory in used})
    shape = len(_MEMORY), len(names), len(stats)
    refuse_padding(
        "node_stats",
        {"column": shape[0], "allocator": shape[1], "execution": shape[2]},
        shape,
        len(used) / max(len(names) * len(stats), 1),
        ", or take LogDir.run_metadata()",
    )
    place = {name: i for i, name in enumerate(names)}
    allocator = np.array([place[memory.allocator_name] for _, memory in used], np.int64)
    total = np.array([memory.total_bytes for _, memory in used], np.int64)
    columns = {"bytes": np.zeros(len(stats), np.int64)}
    np.add.at(columns["bytes"], row, np.maximum(total, 0))
    for column, field in _MEMORY.items():
        amount = np.array([getattr(memory, field) for _, memory in used], np.int64)
        table = np.zeros((len(names), len(stats)), np.int64)
        np.add.at(table, (allocator, row), amount)
        columns |= {f"{column}.{name}": table[i] for i, name in enumerate(names)}
    return columns
