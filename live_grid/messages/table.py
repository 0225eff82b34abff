"""The table of layouts: from a number or a class to reader and writer.

Owns which messages have a layout, and when it is compiled (on first use, once). The codec
(`live_grid.packet`) asks here; a number without a row here has a name in `live_grid.messages.names` and
no more, and is acknowledged and skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from live_grid.errors import LocalProtocolError
from live_grid.messages import avatars, circuits, holdings, making, objects, parcels, people, regions, speech, travel
from live_grid.messages.compiling import compile_reader, compile_writer, first_fields_of
from live_grid.messages.names import BY_NAME, Header
from live_grid.messages.notation import Message

__all__ = ("LAYOUTS", "SESSION_FIRST", "Layout", "header_of", "layout_of")


class Layout:
    """One message that can be read and written."""

    __slots__ = ("_read", "_write", "header", "message")

    def __init__(self, message: type[Message]) -> None:
        self.message = message
        self.header: Header = BY_NAME[message.__name__]
        self._read: Callable[[bytes], Message] | None = None
        self._write: Callable[[Message], bytes] | None = None

    @property
    def read(self) -> Callable[[bytes], Message]:
        """Reader of the expanded body after the number; see `compile_reader`."""
        if self._read is None:
            self._read = compile_reader(self.message)
        return self._read

    @property
    def write(self) -> Callable[[Message], bytes]:
        """Writer of the body after the number; see `compile_writer`."""
        if self._write is None:
            self._write = compile_writer(self.message)
        return self._write


def _messages() -> Iterator[type[Message]]:
    for family in (avatars, circuits, holdings, making, objects, parcels, people, regions, speech, travel):
        for name in family.__all__:
            yield getattr(family, name)


LAYOUTS: Final[dict[int, Layout]] = {layout.header.number: layout for layout in map(Layout, _messages())}
"""Layouts by number; one entry a class of the families."""

_BY_CLASS: Final[dict[type[Message], Layout]] = {layout.message: layout for layout in LAYOUTS.values()}

SESSION_FIRST: Final[frozenset[int]] = frozenset(
    number for number, layout in LAYOUTS.items() if first_fields_of(layout.message)[:2] == ("agent_id", "session_id")
)
"""Numbers of the messages whose body begins with agent and session id."""


def layout_of(message: Message) -> Layout:
    """Find the layout of a message.

    Raises:
        LocalProtocolError: its class is no row of the table.
    """
    layout = _BY_CLASS.get(type(message))
    if layout is None:
        raise LocalProtocolError(f"{type(message).__name__} has no layout")
    return layout


def header_of(kind: type[Message]) -> Header:
    """Find name, number and marks of a message class.

    Raises:
        LocalProtocolError: the class is no row of the table.
    """
    layout = _BY_CLASS.get(kind)
    if layout is None:
        raise LocalProtocolError(f"{kind.__name__} has no layout")
    return layout.header
