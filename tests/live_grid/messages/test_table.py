"""The table of layouts."""

from __future__ import annotations

import pytest

from live_grid.errors import LocalProtocolError
from live_grid.messages import LAYOUTS, Message, header_of, layout_of
from live_grid.messages.avatars import AgentUpdate
from live_grid.messages.circuits import AgentMovementComplete, CloseCircuit
from live_grid.messages.objects import KillObject
from live_grid.messages.regions import MapBlockReply
from live_grid.messages.table import SESSION_FIRST
from live_grid.messages.travel import TeleportLandmarkRequest


def test_every_layout_is_named_in_the_template_once() -> None:
    """122 layouts, each under its own number."""
    assert len(LAYOUTS) == 122
    assert all(layout.header.number == number for number, layout in LAYOUTS.items())
    assert header_of(CloseCircuit).number == 0xFFFF_FFFD


def test_readers_are_compiled_once() -> None:
    """A second use takes the same function."""
    layout = layout_of(CloseCircuit())
    assert layout.read is layout.read
    assert layout.write is layout.write


def test_a_class_outside_the_table_has_no_layout() -> None:
    """A message we do not know cannot be sent."""

    class Stray(Message, frozen=True):
        pass

    with pytest.raises(LocalProtocolError, match="Stray has no layout"):
        layout_of(Stray())
    with pytest.raises(LocalProtocolError, match="Stray has no layout"):
        header_of(Stray)


def test_messages_that_begin_with_a_session_are_known() -> None:
    """The check that drops packets of another session looks at these."""
    assert header_of(AgentMovementComplete).number in SESSION_FIRST
    assert header_of(AgentUpdate).number in SESSION_FIRST
    assert header_of(TeleportLandmarkRequest).number in SESSION_FIRST
    assert not {header_of(kind).number for kind in (CloseCircuit, MapBlockReply, KillObject)} & SESSION_FIRST
