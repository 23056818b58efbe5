"""Embeddings: what the projector shows. They are configured in a file beside the events; no event holds them."""

from __future__ import annotations

import io
import posixpath
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.errors import UndecodableValueWarning, warn
from tbframe.events.messages import message_class
from tbframe.kinds.assets import RunDirectory, read_asset, run_directories
from tbframe.kinds.catalog import Catalog
from tbframe.kinds.frames import categories
from tbframe.names import NameFilter, choose

__all__ = ["frame", "names_by_run"]

_CONFIG: Final = "projector_config.pbtxt"
_PLACES: Final = ("", "plugins/org_tensorflow_tensorboard_projector")
"""Where the configuration may lie below a run's directory. What it names lies beside it."""
_MOST_CONFIG: Final = 1 << 24
_MOST_ASSET: Final = 1 << 31
_MOST_CELLS: Final = 1 << 20
"""Of a table whose file has not even a byte for each, because its rows are shorter than its header."""
_PATHS: Final = ("tensor_path", "metadata_path", "sprite_path", "bookmarks_path", "checkpoint_path")
_DATA: Final = ("tensor", "metadata", "sprite")


def frame(catalog: Catalog, *, runs: NameFilter = None, tags: NameFilter = None, data: bool = True) -> pd.DataFrame:
    """Build the frame of embeddings.

    Parameters
    ----------
    catalog : Catalog
        All rows; only the files' paths are used.
    runs : str, iterable of str, re.Pattern or None
        The runs wanted.
    tags : str, iterable of str, re.Pattern or None
        The names of embeddings wanted.
    data : bool
        Whether to read the points and what belongs to them.

    Returns
    -------
    pandas.DataFrame
        One row per embedding, in the order configured: ``run`` (category), ``name`` (str), ``shape`` (tuple of int: points,
        dimensions; None if unknown), ``tensor_path``, ``metadata_path``, ``sprite_path``, ``bookmarks_path``,
        ``checkpoint_path`` (str as configured, "" without), ``sprite_size`` (tuple of int: width and height of an image in
        the sprite, in pixels). With `data` also ``tensor`` (float32 ndarray of that shape), ``metadata`` (DataFrame of str,
        a row per point; a file of one column has no header, the column is then called ``label``) and ``sprite`` (bytes of
        an image); None where there is none or it cannot be read.

    Raises
    ------
    UnknownNameError
        If a run or name does not exist.

    Warns
    -----
    UndecodableValueWarning
        If a configuration cannot be read, or a file it names is missing, malformed or outside the run's directory.
    """
    wanted = {catalog.runs[i] for i in choose(catalog.runs, runs, "run")}
    found = [
        (run, directory, below, config.model_checkpoint_path, embedding)
        for run, directory in run_directories(catalog.files).items()
        if run in wanted
        for below, config in _configs(run, directory)
        for embedding in config.embeddings
    ]
    names = [_name(embedding) for *_, embedding in found]
    known = list(dict.fromkeys(names))
    chosen = {known[i] for i in choose(known, tags, "embedding")}
    rows = [_row(*one, name, data) for one, name in zip(found, names, strict=True) if name in chosen]
    order = [run for run in catalog.runs if run in {row["run"] for row in rows}]
    codes = np.array([order.index(row["run"]) for row in rows], np.int64)
    columns: dict[str, Any] = {"run": categories(order, np.ones(len(rows), np.int64), codes)}
    for column in ("name", "shape", *_PATHS, "sprite_size", *(_DATA if data else ())):
        columns[column] = pd.Series([row[column] for row in rows], dtype=object)
    result = pd.DataFrame(columns)
    result.attrs["tbframe"] = {"kind": "embeddings"}
    return result


def names_by_run(catalog: Catalog) -> dict[str, list[str]]:
    """List the embeddings that are configured.

    Parameters
    ----------
    catalog : Catalog
        All rows; only the files' paths are used.

    Returns
    -------
    dict
        Run -> names, of the runs that have some. A configuration that cannot be read has none: `frame` says why.
    """
    found = {
        run: [_name(embedding) for _, config in _configs(run, directory, say=False) for embedding in config.embeddings]
        for run, directory in run_directories(catalog.files).items()
    }
    return {run: list(dict.fromkeys(names)) for run, names in found.items() if names}


def _name(embedding: Any) -> str:  # noqa: ANN401 - a protobuf message
    return str(embedding.tensor_name) or posixpath.basename(embedding.tensor_path)


def _configs(run: str, directory: RunDirectory, *, say: bool = True) -> Iterator[tuple[str, Any]]:
    """Read the configurations of a run, each with the directory below the run's where it lies."""
    for below in _PLACES:
        try:
            config = _config(directory, below)
        except (OSError, ValueError) as error:
            if say:
                warn(f"embeddings: run {run!r}: {_CONFIG} could not be read: {error}", UndecodableValueWarning)
            continue
        if config is not None:
            yield below, config


def _config(directory: RunDirectory, below: str) -> Any:  # noqa: ANN401 - a protobuf message
    """Read a configuration; None if there is none."""
    source = directory.find(_CONFIG, below)
    if source is None:
        return None
    text = read_asset(source, _MOST_CONFIG).decode()
    from google.protobuf import text_format

    try:
        return text_format.Parse(text, message_class("ProjectorConfig")(), allow_unknown_field=True)
    except text_format.ParseError as error:
        raise ValueError(str(error)) from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _row(
    run: str,
    directory: RunDirectory,
    below: str,
    checkpoint: str,
    embedding: Any,  # noqa: ANN401 - a protobuf message
    name: str,
    data: bool,
) -> dict[str, Any]:
    shape = tuple(embedding.tensor_shape)
    row = {
        "run": run,
        "name": name,
        "tensor_path": embedding.tensor_path,
        "metadata_path": embedding.metadata_path,
        "sprite_path": embedding.sprite.image_path,
        "bookmarks_path": embedding.bookmarks_path,
        "checkpoint_path": checkpoint,
        "sprite_size": tuple(embedding.sprite.single_image_dim),
    }
    if data:
        readers: dict[str, Callable[[bytes], Any]] = {
            "tensor": lambda content: _tensor(content, shape),
            "metadata": _metadata,
            "sprite": bytes,
        }
        for column, read in readers.items():
            try:
                row[column] = _read(directory, row[f"{column}_path"], below, read)
            except (OSError, ValueError) as error:
                row[column] = None
                warn(f"embeddings: run {run!r}, {name!r}: {column}_path: {error}", UndecodableValueWarning)
        tensor = row["tensor"]
        shape = shape if tensor is None else tensor.shape
        if tensor is not None and row["metadata"] is not None and len(row["metadata"]) != len(tensor):
            problem = f"the metadata have {len(row['metadata']):,} rows for {len(tensor):,} points"
            warn(f"embeddings: run {run!r}, {name!r}: {problem}", UndecodableValueWarning)
    row["shape"] = shape or None
    return row


def _read(directory: RunDirectory, path: str, below: str, read: Callable[[bytes], Any]) -> Any:  # noqa: ANN401
    if not path:
        return None
    source = directory.find(path, below)
    if source is None:
        raise ValueError(f"there is no file {path!r}")
    try:
        return read(read_asset(source, _MOST_ASSET))
    except ValueError as error:
        raise ValueError(f"{path!r} could not be read: {error}") from error


def _tensor(content: bytes, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Read points: lines of numbers between tabs, or, if that is no text, float32 numbers of the shape configured."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return _binary_tensor(content, shape)
    if not text.strip():
        raise ValueError("it holds no numbers")
    # By way of float64, so that each number is the float32 nearest to what is written.
    return np.loadtxt(io.StringIO(text), delimiter="\t", comments=None, ndmin=2).astype(np.float32)


def _binary_tensor(content: bytes, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    if len(shape) != 2 or len(content) != 4 * shape[0] * shape[1]:
        raise ValueError(f"it is no text, and its {len(content):,} bytes are no float32 numbers of shape {list(shape)}")
    return np.frombuffer(content, "<f4").reshape(shape).copy()


def _metadata(content: bytes) -> pd.DataFrame:
    rows = [line.rstrip("\r").split("\t") for line in content.decode().split("\n") if line.strip()]
    if not rows:
        raise ValueError("it is empty")
    header = rows.pop(0) if len(rows[0]) > 1 else ["label"]
    if len(header) * len(rows) > max(_MOST_CELLS, len(content)):
        raise ValueError(
            f"a table of {len(rows):,} rows × {len(header):,} columns cannot stand in {len(content):,} bytes"
        )
    widest = max((len(row) for row in rows), default=0)
    if widest > len(header):
        raise ValueError(f"a row has {widest} columns, the header {len(header)}")
    columns = [pd.Series([row[i] if i < len(row) else "" for row in rows], dtype=object) for i in range(len(header))]
    table = pd.concat(columns, axis=1)
    table.columns = pd.Index(header, dtype=object)
    return table
