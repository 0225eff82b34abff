"""Reads LLSD-XML, as capabilities and the event queue speak it.

Owns the grammar on top of `live_grid.llsd.xml_stream`. Tolerates a missing XML declaration and blanks between
elements, as OpenSimulator and Second Life write; nothing else (Spec: LIV-4, Fault: 12).
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, cast

from live_grid.errors import RemoteProtocolError
from live_grid.limits import HTTP_BODY_MAX_BYTES, LLSD_DEPTH_MAX, LLSD_NODES_MAX
from live_grid.llsd.values import (
    LlsdValue,
    Uri,
    date_of_text,
    integer_of_text,
    put_key,
    real_of_text,
    uuid_of_text,
)
from live_grid.llsd.xml_stream import read_xml_untrusted

__all__ = ("read_llsd_xml_untrusted",)

_ROOT: Final = "llsd"
_KEY: Final = "key"
_BLANKS: Final = str.maketrans("", "", " \t\r\n")


def _undef(text: str) -> None:
    if text:
        raise RemoteProtocolError("LLSD undef holds something")


def _boolean(text: str) -> bool:
    if text in {"1", "true"}:
        return True
    if text in {"", "0", "false"}:
        return False
    raise RemoteProtocolError("LLSD boolean is neither true nor false")


def binary_of_base64(text: str) -> bytes:
    """Read strict base64 with blanks in it."""
    try:
        return binascii.a2b_base64(text.translate(_BLANKS).encode("ascii"), strict_mode=True)
    except ValueError:  # binascii.Error and UnicodeEncodeError are both of its kind
        raise RemoteProtocolError("LLSD binary is not base64") from None


_SCALARS: Final[Mapping[str, Callable[[str], LlsdValue]]] = MappingProxyType(
    {
        "undef": _undef,
        "boolean": _boolean,
        "integer": lambda text: integer_of_text(text.strip()),
        "real": lambda text: real_of_text(text.strip()),
        "uuid": lambda text: uuid_of_text(text.strip()),
        "string": lambda text: text,
        "binary": binary_of_base64,
        "date": lambda text: date_of_text(text.strip()),
        "uri": Uri,
    }
)


class _Reader:
    """Turns element events into one value.

    ``target`` is the innermost open container; around it all stands a list that takes the one value.
    """

    __slots__ = ("key", "leaf", "open", "rooted", "target")

    def __init__(self) -> None:
        self.target: list[LlsdValue] | dict[str, LlsdValue] = []
        self.key: str | None = None  # the key that waits for its value in the innermost container
        self.open: list[tuple[list[LlsdValue] | dict[str, LlsdValue], str | None]] = []
        self.leaf = ""  # the scalar or key that is open
        self.rooted = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.leaf:
            raise RemoteProtocolError("LLSD scalar holds an element")
        if isinstance(self.target, dict):
            if (tag == _KEY) is (self.key is not None):
                raise RemoteProtocolError("LLSD map does not alternate keys and values")
            if self.key is None:
                self.leaf = tag
                return
        elif not self.open and self._takes_root(tag):
            return
        if tag in _SCALARS:
            if attributes and attributes.get("encoding", "base64") != "base64":
                raise RemoteProtocolError("LLSD binary is in a coding we do not read")
            self.leaf = tag
        elif tag in {"map", "array"}:
            self.open.append((self.target, self.key))
            self.target = {} if tag == "map" else []
            self.key = None
        else:
            raise RemoteProtocolError("LLSD holds an element of no known type")

    def _takes_root(self, tag: str) -> bool:
        """Open the document with its root element; tell whether this was it."""
        if self.rooted:
            if self.target:
                raise RemoteProtocolError("LLSD document holds more than one value")
            return False
        if tag != _ROOT:
            raise RemoteProtocolError("the document is no LLSD")
        self.rooted = True
        return True

    def end(self, tag: str, text: str) -> None:
        value: LlsdValue
        if self.leaf:
            self.leaf = ""
            if tag == _KEY:
                self.key = text
                return
            value = _SCALARS[tag](text)
        else:
            if text and not text.isspace():
                raise RemoteProtocolError("LLSD container holds text")
            if not self.open:
                return
            if self.key is not None:
                raise RemoteProtocolError("LLSD map ends after a key")
            value = self.target
            self.target, self.key = self.open.pop()
        if isinstance(self.target, list):
            self.target.append(value)
            return
        put_key(self.target, cast("str", self.key), value)  # `start` let no value in without its key
        self.key = None

    def result(self) -> LlsdValue:
        """Take the one value; a document without any is undef."""
        found = cast("list[LlsdValue]", self.target)
        return found[0] if found else None


def read_llsd_xml_untrusted(data: bytes, *, size_max: int = HTTP_BODY_MAX_BYTES) -> LlsdValue:
    """Read an LLSD-XML document from outside.

    Args:
        data: the whole body of a request or response.
        size_max: most bytes; a caller may lower it.

    Raises:
        RemoteProtocolError: it is malformed or passes a bound (Fault: 12).
    """
    reader = _Reader()
    # One level for the root element, and one more for the scalars inside the deepest container.
    read_xml_untrusted(
        data, reader, what="LLSD", size_max=size_max, depth_max=LLSD_DEPTH_MAX + 2, nodes_max=2 * LLSD_NODES_MAX
    )
    return reader.result()
