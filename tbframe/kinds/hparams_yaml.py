"""``hparams.yaml`` beside event files, as PyTorch Lightning writes it."""

from __future__ import annotations

import datetime as dt
import functools
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from tbframe.errors import UndecodableValueWarning, warn
from tbframe.events.files import EventFile
from tbframe.kinds.assets import read_asset, run_directories
from tbframe.kinds.param_columns import Value

if TYPE_CHECKING:
    import yaml

__all__ = ["read_yaml"]

_NAME: Final = "hparams.yaml"
_MOST_BYTES: Final = 1 << 20
_MOST_PARAMS: Final = 10_000
"""An alias lets a small file stand for a huge structure."""
_MOST_DEPTH: Final = 50


def read_yaml(files: Iterable[EventFile]) -> dict[str, dict[str, Value]]:
    """Read the hyperparameters beside the event files of each run.

    Parameters
    ----------
    files : iterable of EventFile
        Of all runs.

    Returns
    -------
    dict
        Run -> name -> value. The names of nested parameters are joined by ``/``, lists are JSON.

    Warns
    -----
    UndecodableValueWarning
        If a file cannot be read, or there are some and PyYAML is not installed.
    """
    found: dict[str, dict[str, Value]] = {}
    unread = []
    for run, directory in run_directories(files).items():
        try:
            source = directory.find(_NAME)
            if source is not None:
                found[run] = _parse(read_asset(source, _MOST_BYTES))
        except ImportError:
            unread.append(run)
        except (OSError, ValueError) as error:
            warn(f"hparams: run {run!r}: {_NAME} could not be read: {error}", UndecodableValueWarning)
    if unread:
        warn(
            f"hparams: {_NAME} beside {len(unread)} runs was not read, the first is {unread[0]!r}: "
            "it takes PyYAML (pip install 'tbframe[yaml]')",
            UndecodableValueWarning,
        )
    return found


def _parse(data: bytes) -> dict[str, Value]:
    import yaml

    try:
        content = yaml.load(data, _loader())
    except yaml.YAMLError as error:
        raise ValueError(f"it is no YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ValueError(f"it holds a {type(content).__name__}, expected a mapping of names to values")
    found: dict[str, Value] = {}
    for name, value in _flat("", content, _MOST_DEPTH):
        found[name] = value
        if len(found) > _MOST_PARAMS:
            raise ValueError(f"it stands for more than {_MOST_PARAMS:,} parameters")
    return found


@functools.cache
def _loader() -> type[yaml.SafeLoader]:
    """Make a loader that builds no Python objects: of a tag like ``!!python/object`` only the plain value is taken."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def plain(loader: Any, suffix: str, node: yaml.Node) -> Any:  # noqa: ANN401 - what YAML can hold
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_scalar(node) or suffix

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", plain)
    Loader.add_multi_constructor("!", plain)
    return Loader


def _flat(prefix: str, content: dict[Any, Any], depth: int) -> Iterator[tuple[str, Value]]:
    if not depth:
        raise ValueError(f"it is nested more than {_MOST_DEPTH} deep")
    for key, value in content.items():
        if isinstance(value, dict) and value:
            yield from _flat(f"{prefix}{key}/", value, depth - 1)
        else:
            yield f"{prefix}{key}", _value(value)


def _value(value: Any) -> Value:  # noqa: ANN401 - what YAML can hold
    if value is None or isinstance(value, bool | str | float):
        return value
    if isinstance(value, int):
        return float(value) if abs(value) < 1 << 1000 else str(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    return _as_json(value)


def _as_json(value: Any) -> str:  # noqa: ANN401 - what YAML can hold
    parts, size = [], 0
    try:
        for part in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(value):
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise ValueError(f"a list in it stands for more than {_MOST_BYTES:,} characters")
    except (TypeError, RecursionError) as error:
        raise ValueError(f"a list in it cannot be written as JSON: {error}") from error
    return "".join(parts)
