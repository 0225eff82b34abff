"""XML from outside as a stream of bounded events; the one place that meets an XML parser.

Owns what every XML document here must keep to: a size, a depth, a number of elements, UTF-8, and no document
type (so no entities of its own). It builds no tree: what a document costs is what its handler keeps.
Used by LLSD-XML, by the XML-RPC of the login, and by grid information.

Invariant: any bytes end in events and a return, or in `RemoteProtocolError` (Fault: 12, 13).
"""

from __future__ import annotations

from typing import Final, Protocol
from xml.parsers import expat

from live_grid.errors import RemoteProtocolError

__all__ = ("XmlHandler", "read_xml_untrusted")

_BLANKS: Final = " \t\r\n"


class XmlHandler(Protocol):
    """What a reader of XML does at each end of an element."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take notice of an element; raise `RemoteProtocolError` if it may not stand here."""

    def end(self, tag: str, text: str) -> None:
        """Take an element that holds ``text`` and no elements, or elements and no text."""


class _Stream:
    __slots__ = ("depth", "depth_max", "nodes_left", "take_end", "take_start", "text", "what")

    def __init__(self, handler: XmlHandler, *, what: str, depth_max: int, nodes_max: int) -> None:
        self.take_start = handler.start
        self.take_end = handler.end
        self.what = what
        self.depth = 0
        self.depth_max = depth_max
        self.nodes_left = nodes_max
        self.text: list[str] = []

    def refuse_doctype(self, *_: object) -> None:
        raise RemoteProtocolError(f"{self.what} declares a document type")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > self.depth_max:
            raise RemoteProtocolError(f"{self.what} nests deeper than {self.depth_max}")
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise RemoteProtocolError(f"{self.what} holds more elements than allowed")
        if self.text:
            if "".join(self.text).strip(_BLANKS):
                raise RemoteProtocolError(f"{self.what} mixes text and elements")
            self.text.clear()
        self.take_start(tag, attributes)

    def end(self, tag: str) -> None:
        self.depth -= 1
        text = ""
        if self.text:
            text = "".join(self.text)
            self.text.clear()
        self.take_end(tag, text)


def read_xml_untrusted(
    data: bytes, handler: XmlHandler, *, what: str, size_max: int, depth_max: int, nodes_max: int
) -> None:
    """Feed a document to a handler, element by element.

    Args:
        data: a whole document from outside; taken for UTF-8 whatever it declares.
        handler: gets each start and each end; text after a closing tag inside a container reaches its end.
        what: how errors call the document.
        size_max: most bytes.
        depth_max: deepest nesting of elements.
        nodes_max: most elements.

    Raises:
        RemoteProtocolError: it is too long, too deep, not well formed, has a document type, or the handler says so.
    """
    if len(data) > size_max:
        raise RemoteProtocolError(f"{what} of {len(data)} bytes is over the {size_max} allowed")
    if b"\0" in data:
        raise RemoteProtocolError(f"{what} is not UTF-8")  # the parser would take UTF-16 by its mark
    stream = _Stream(handler, what=what, depth_max=depth_max, nodes_max=nodes_max)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = stream.refuse_doctype
    parser.StartElementHandler = stream.start
    parser.EndElementHandler = stream.end
    parser.CharacterDataHandler = stream.text.append
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise RemoteProtocolError(f"{what} is not well-formed XML (line {error.lineno})") from None
