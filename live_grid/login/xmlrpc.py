"""XML-RPC, as far as the login needs it: one call out, one answer back.

Owns the grammar on top of `live_grid.llsd.xml_stream`, which bounds size, depth and number and refuses document
types (Fault: 13). Text goes out with entities: OpenSimulator faults on CDATA.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias, cast

import msgspec

from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.limits import HTTP_BODY_MAX_BYTES, LLSD_NODES_MAX, LOGIN_DEPTH_MAX
from live_grid.llsd.values import integer_of_text, real_of_text
from live_grid.llsd.xml_reader import binary_of_base64
from live_grid.llsd.xml_stream import read_xml_untrusted

__all__ = ("RpcFault", "RpcGiven", "RpcValue", "read_response_untrusted", "write_call", "write_response")

RpcValue: TypeAlias = "bool | int | float | str | bytes | list[RpcValue] | dict[str, RpcValue] | None"
RpcGiven: TypeAlias = "bool | int | float | str | Sequence[RpcGiven] | Mapping[str, RpcGiven]"

_UNSAYABLE: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INSIDE: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "": frozenset({"methodResponse"}),
        "methodResponse": frozenset({"params", "fault"}),
        "params": frozenset({"param"}),
        "param": frozenset({"value"}),
        "fault": frozenset({"value"}),
        "struct": frozenset({"member"}),
        "member": frozenset({"name", "value"}),
        "array": frozenset({"data"}),
        "data": frozenset({"value"}),
    }
)
"""What may stand in what; a value holds a scalar, a struct, an array, or its text alone."""


class RpcFault(msgspec.Struct, frozen=True, kw_only=True):
    """The other side could not carry the call out."""

    code: int
    text: str
    """From outside, at most 1,024 characters."""


def _boolean(text: str) -> bool:
    if text in {"0", "1", "true", "false"}:
        return text in {"1", "true"}
    raise RemoteProtocolError("XML-RPC boolean is neither true nor false")


def _nothing(_: str) -> None:
    return None


_SCALARS: Final[Mapping[str, Callable[[str], RpcValue]]] = MappingProxyType(
    {
        "string": lambda text: text,
        "int": lambda text: integer_of_text(text.strip()),
        "i4": lambda text: integer_of_text(text.strip()),
        "boolean": lambda text: _boolean(text.strip()),
        "double": lambda text: real_of_text(text.strip()),
        "dateTime.iso8601": lambda text: text,
        "base64": binary_of_base64,
        "nil": _nothing,
    }
)
_IN_VALUE: Final = frozenset({*_SCALARS, "struct", "array"})


class _Reader:
    """Turns element events into the one value of an answer.

    ``parts`` keeps, for each open element, what has been read inside it.
    """

    __slots__ = ("fault", "open", "parts", "result", "values")

    def __init__(self) -> None:
        self.open: list[str] = [""]
        self.parts: list[list[RpcValue]] = [[]]
        self.fault = False
        self.values = 0
        self.result: RpcValue = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the stream gives both
        around = self.open[-1]
        allowed = _IN_VALUE if around == "value" else _INSIDE.get(around, frozenset())
        if tag not in allowed:
            raise RemoteProtocolError("XML-RPC element where it may not stand")
        if around == "value" and self.parts[-1]:
            raise RemoteProtocolError("XML-RPC value holds two things")
        if around == "member" and (tag == "name") is bool(self.parts[-1]):
            raise RemoteProtocolError("XML-RPC member is no name followed by its value")
        self.open.append(tag)
        self.parts.append([])

    def end(self, tag: str, text: str) -> None:
        self.open.pop()
        inside = self.parts.pop()
        if tag in _SCALARS:
            self.parts[-1].append([_SCALARS[tag](text)])
        elif tag == "name":
            self.parts[-1].append(text)
        elif tag == "value":
            self._value(inside, text)
        elif text.strip():
            raise RemoteProtocolError("XML-RPC container holds text")
        elif tag == "struct":
            self.parts[-1].append([_struct(inside)])
        elif tag in {"data", "member"}:
            self.parts[-1].append(inside)
        elif tag == "array":
            self.parts[-1].append([inside[0] if inside else []])
        elif tag == "fault":
            self.fault = True

    def _value(self, inside: list[RpcValue], text: str) -> None:
        value: RpcValue
        if inside:
            if text.strip():
                raise RemoteProtocolError("XML-RPC container holds text")
            value = cast("list[RpcValue]", inside[0])[0]
        else:
            value = text
        if self.open[-1] in {"param", "fault"}:
            self.values += 1
            self.result = value
        self.parts[-1].append(value)


def _struct(members: list[RpcValue]) -> dict[str, RpcValue]:
    """Make a struct of its members, each a list of name and value."""
    result: dict[str, RpcValue] = {}
    for member in members:
        match member:
            case [str(name), value] if name not in result:
                result[name] = value
            case _:
                raise RemoteProtocolError("XML-RPC member has no name of its own and one value")
    return result


def read_response_untrusted(data: bytes) -> RpcValue | RpcFault:
    """Read the answer to a call.

    Raises:
        RemoteProtocolError: it is malformed, passes a bound, or holds other than one value (Fault: 13).
    """
    reader = _Reader()
    read_xml_untrusted(
        data,
        reader,
        what="login reply",
        size_max=HTTP_BODY_MAX_BYTES,
        depth_max=LOGIN_DEPTH_MAX,
        nodes_max=4 * LLSD_NODES_MAX,
    )
    if reader.values != 1:
        raise RemoteProtocolError("XML-RPC answer holds other than one value")
    if not reader.fault:
        return reader.result
    match reader.result:
        case {"faultCode": int(code), "faultString": str(text)}:
            return RpcFault(code=code, text=text[:1024])
        case _:
            raise RemoteProtocolError("XML-RPC fault without code and text")


def _escaped(text: str) -> str:
    if _UNSAYABLE.search(text):
        raise LocalProtocolError("XML cannot carry a character of this text")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def _write(value: RpcGiven, out: list[str]) -> None:
    match value:
        case bool():
            out.append(f"<value><boolean>{value:d}</boolean></value>")
        case int():
            out.append(f"<value><int>{value}</int></value>")
        case float():
            out.append(f"<value><double>{value!r}</double></value>")
        case str():
            out.append(f"<value><string>{_escaped(value)}</string></value>")
        case Mapping():
            out.append("<value><struct>")
            for name, member in value.items():
                out.append(f"<member><name>{_escaped(name)}</name>")
                _write(member, out)
                out.append("</member>")
            out.append("</struct></value>")
        case _:
            out.append("<value><array><data>")
            for member in value:
                _write(member, out)
            out.append("</data></array></value>")


def write_call(method: str, argument: Mapping[str, RpcGiven]) -> bytes:
    """Write a call with one struct for its argument.

    Raises:
        LocalProtocolError: a text holds a character that XML cannot carry.
    """
    out = [f'<?xml version="1.0"?><methodCall><methodName>{_escaped(method)}</methodName><params><param>']
    _write(argument, out)
    out.append("</param></params></methodCall>")
    return "".join(out).encode()


def write_response(value: Mapping[str, RpcGiven]) -> bytes:
    """Write the answer to a call: what a simulated grid sends.

    Raises:
        LocalProtocolError: a text holds a character that XML cannot carry.
    """
    out = ['<?xml version="1.0" encoding="utf-8"?><methodResponse><params><param>']
    _write(value, out)
    out.append("</param></params></methodResponse>")
    return "".join(out).encode()
