"""The protobuf messages of event files, declared in a descriptor pool of tbframe's own.

Generated classes register themselves in protobuf's default pool, where two declarations of one message clash and each
generator demands its own runtime version. Here the .proto files beside this module are read, at first use, into a
private pool, so that tbframe shares a process with any TensorFlow, TensorBoard or protobuf.

The declarations follow TensorFlow and TensorBoard in every name and number, as text output shows them. Where they
differ the file says so: the text fields of events are bytes.
"""

from __future__ import annotations

import difflib
import functools
import threading
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

__all__ = ["message_class"]

# In the order they are looked through, so that events, which are wanted most, need not wait for graphs.
_FILES = ("event", "tensor", "hparams", "plugins", "graph", "run_metadata", "projector", "debug_info", "struct")


def message_class(name: str) -> type[Any]:
    r"""Return the class of a protobuf message.

    Parameters
    ----------
    name : str
        The message's name without its package: "Event", "Summary.Value", "GraphDef", "HParamsPluginData", ...

    Returns
    -------
    type
        A subclass of google.protobuf.message.Message, always the same one for a name. (Typed as Any: its fields are not
        known to a type checker.)

    Raises
    ------
    ValueError
        If no message has that name.

    Examples
    --------
    >>> message_class("Event").FromString(b"\x10\x07").step
    7
    """
    with _lock:  # classes built twice would be two types whose messages do not mix
        return _build(name)


_lock = threading.Lock()


@functools.cache
def _build(name: str) -> type[Any]:
    from google.protobuf.message_factory import GetMessageClass

    for file in _FILES:
        if name in (messages := _load(file)):
            return GetMessageClass(_pool().FindMessageTypeByName(messages[name]))
    near = difflib.get_close_matches(name, [known for file in _FILES for known in _load(file)])
    raise ValueError(
        f"no message {name!r} is declared" + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "")
    )


@functools.cache
def _pool() -> DescriptorPool:
    from google.protobuf.descriptor_pool import DescriptorPool

    return DescriptorPool()


@functools.cache
def _load(file: str) -> dict[str, str]:
    """Add a file and what it imports to the pool; the full names of its messages by their names without package."""
    from tbframe.events.messages import schema

    text = resources.files(__name__).joinpath(f"{file}.proto").read_text(encoding="utf-8")
    parsed = schema.parse(f"{file}.proto", text)
    for imported in parsed.dependency:
        _load(imported.removesuffix(".proto"))
    _pool().AddSerializedFile(parsed.SerializeToString())
    return {name: f"{parsed.package}.{name}" for name in _message_names(parsed.message_type)}


def _message_names(messages: Iterable[DescriptorProto], scope: str = "") -> Iterator[str]:
    for message in messages:
        if not message.options.map_entry:
            yield scope + message.name
            yield from _message_names(message.nested_type, f"{scope}{message.name}.")
