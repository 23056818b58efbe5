"""The part of the .proto language that the declarations beside this file use: text -> FileDescriptorProto.

One statement on a line: `syntax`, `package`, `import`, `message`, `enum`, `oneof`, `map`, `repeated`, `optional` (in
proto2 only) and `//` comments; no options, services or reserved numbers. Names of types are left as written: the
descriptor pool resolves them by scope.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

__all__ = ["parse"]

_STATEMENT = re.compile(
    r"""
    (?P<block>message|enum|oneof) [ ] (?P<block_name>\w+) [ ] \{
    | (?P<end> \} )
    | ((?P<repeated>repeated) [ ] | optional [ ])? (map<(?P<key>\w+),[ ](?P<value>[\w.]+)> | (?P<type>[\w.]+))
      [ ] (?P<field>\w+) [ ] = [ ] (?P<number>\d+) ;
    | (?P<constant>\w+) [ ] = [ ] (?P<constant_number>\d+) ;
    | package [ ] (?P<package>[\w.]+) ;
    | import [ ] "(?P<imported>[\w.]+)" ;
    | syntax [ ] = [ ] "(?P<syntax>proto[23])" ;
    """,
    re.VERBOSE,
)
_SCALARS = {
    kind.removeprefix("TYPE_").lower(): number
    for kind, number in FieldDescriptorProto.Type.items()
    if kind not in {"TYPE_MESSAGE", "TYPE_ENUM", "TYPE_GROUP"}
}


class _Scope(NamedTuple):
    """An open block: the file, message or enum that gets its statements and, inside a oneof, the oneof's index."""

    descriptor: Any
    oneof: int | None = None


def parse(name: str, text: str) -> FileDescriptorProto:
    r"""Parse one file of declarations.

    Parameters
    ----------
    name : str
        The file's name, as other files import it.
    text : str
        Its content.

    Returns
    -------
    FileDescriptorProto
        For a DescriptorPool that knows the files it imports.

    Raises
    ------
    SyntaxError
        If a line is not a statement of the subset described above, or braces do not match.

    Examples
    --------
    >>> file = parse("a.proto", "message M {\n  repeated int32 x = 7;\n}")
    >>> file.message_type[0].field[0].number
    7
    """
    file = FileDescriptorProto(name=name)
    scopes = [_Scope(file)]
    for number, line in enumerate(text.splitlines(), 1):
        statement = line.partition("//")[0].strip()
        if not statement:
            continue
        match = _STATEMENT.fullmatch(statement)
        if match is None or (match["end"] and len(scopes) == 1):
            raise SyntaxError(f"{name}, line {number}: {statement!r} is not a statement of the subset read here")
        if match["block"]:
            scopes.append(_open(match["block"], match["block_name"], scopes[-1]))
        elif match["end"]:
            scopes.pop()
        elif match["field"]:
            _add_field(match, scopes[-1])
        elif match["constant"]:
            scopes[-1].descriptor.value.add(name=match["constant"], number=int(match["constant_number"]))
        elif match["package"]:
            file.package = match["package"]
        elif match["imported"]:
            file.dependency.append(match["imported"])
        elif match["syntax"]:
            file.syntax = match["syntax"]
    if len(scopes) > 1:
        raise SyntaxError(f"{name}: {len(scopes) - 1} of the blocks opened are not closed")
    return file


def _open(block: str, name: str, scope: _Scope) -> _Scope:
    parent = scope.descriptor
    if block == "oneof":
        parent.oneof_decl.add(name=name)
        return _Scope(parent, len(parent.oneof_decl) - 1)
    if block == "enum":
        return _Scope(parent.enum_type.add(name=name))
    messages = parent.message_type if isinstance(parent, FileDescriptorProto) else parent.nested_type
    return _Scope(messages.add(name=name))


def _add_field(match: re.Match[str], scope: _Scope) -> None:
    kind = match["type"] or _map_entry(match, scope.descriptor)
    many = match["repeated"] or match["key"]
    field = scope.descriptor.field.add(
        name=match["field"],
        number=int(match["number"]),
        label=FieldDescriptorProto.LABEL_REPEATED if many else FieldDescriptorProto.LABEL_OPTIONAL,
    )
    _set_type(field, kind)
    if scope.oneof is not None:
        field.oneof_index = scope.oneof


def _map_entry(match: re.Match[str], parent: DescriptorProto) -> str:
    # A map is a repeated message {key = 1, value = 2}; protobuf wants it named after the field, in camel case.
    name = match["field"].title().replace("_", "") + "Entry"
    entry = parent.nested_type.add(name=name)
    entry.options.map_entry = True
    for number, (role, kind) in enumerate((("key", match["key"]), ("value", match["value"])), 1):
        field = entry.field.add(name=role, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
        _set_type(field, kind)
    return name


def _set_type(field: FieldDescriptorProto, kind: str) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type_name = kind
