"""XML-RPC calls from outside: the method's name and its one argument.

Owns the server's half of the grammar; the client's half is `live_grid.login.xmlrpc`, whose values these are. The stream
below it bounds size, depth and number and refuses document types (Fault: 13). Called by the login service.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from live_grid.errors import RemoteProtocolError
from live_grid.llsd.values import integer_of_text, real_of_text
from live_grid.llsd.xml_stream import read_xml_untrusted
from live_grid.simulator.limits import REQUEST_MAX_BYTES

__all__ = ("RpcArgument", "RpcCall", "read_call_untrusted")

RpcArgument: TypeAlias = "bool | int | float | str | list[RpcArgument] | dict[str, RpcArgument]"

_DEPTH_MAX: Final = 32
_ELEMENTS_MAX: Final = 4_096
_NAME_MAX_CHARACTERS: Final = 64
_CONTAINERS: Final = frozenset({"methodCall", "params", "param", "struct", "member", "array", "data", "value"})
_SCALARS: Final = frozenset({"string", "int", "i4", "boolean", "double", "dateTime.iso8601", "base64"})
_TEXTS: Final = frozenset({"methodName", "name"})


class RpcCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call: what is asked for, and with what."""

    method: str
    argument: Mapping[str, RpcArgument]
    """The members of the first argument, or nothing if that is no struct."""


def _scalar(tag: str, text: str) -> RpcArgument:
    if tag in {"int", "i4"}:
        return integer_of_text(text.strip())
    if tag == "boolean":
        return text.strip() in {"1", "true"}
    if tag == "double":
        return real_of_text(text.strip())
    return text


class _Reader:
    """Turns element events into a call; ``parts`` keeps, for each open element, what was read inside it."""

    __slots__ = ("argument", "method", "parts", "tags")

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.parts: list[list[RpcArgument]] = [[]]
        self.method = ""
        self.argument: dict[str, RpcArgument] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the stream gives both
        if (not self.tags) is not (tag == "methodCall") or tag not in _CONTAINERS | _SCALARS | _TEXTS:
            raise RemoteProtocolError("an XML-RPC call with an element where it may not stand")
        self.tags.append(tag)
        self.parts.append([])

    def end(self, tag: str, text: str) -> None:
        self.tags.pop()
        inside = self.parts.pop()
        if tag == "methodName":
            self.method = text.strip()[:_NAME_MAX_CHARACTERS]
        elif tag == "name":
            self.parts[-1].append(text)
        elif tag in _SCALARS:
            self.parts[-1].append(_scalar(tag, text))
        elif tag == "value":
            self.parts[-1].append(inside[0] if inside else text)
        elif tag == "struct":
            self.parts[-1].append(_struct(inside))
        elif tag == "param":
            self._param(inside)
        elif tag == "array":
            self.parts[-1].append(inside[0] if inside else [])
        else:
            self.parts[-1].append(inside)

    def _param(self, inside: list[RpcArgument]) -> None:
        if inside and isinstance(inside[0], dict) and not self.argument:
            self.argument = inside[0]


def _struct(members: list[RpcArgument]) -> dict[str, RpcArgument]:
    found: dict[str, RpcArgument] = {}
    for member in members:
        match member:
            case [str(name), value] if name not in found:
                found[name] = value
            case _:
                raise RemoteProtocolError("an XML-RPC member that is no name of its own with one value")
    return found


def read_call_untrusted(data: bytes) -> RpcCall:
    """Read a call.

    Raises:
        RemoteProtocolError: it is malformed, passes a bound, or names no method.
    """
    reader = _Reader()
    read_xml_untrusted(
        data,
        reader,
        what="XML-RPC call",
        size_max=REQUEST_MAX_BYTES,
        depth_max=_DEPTH_MAX,
        nodes_max=_ELEMENTS_MAX,
    )
    if not reader.method:
        raise RemoteProtocolError("an XML-RPC call of no method")
    return RpcCall(method=reader.method, argument=reader.argument)
