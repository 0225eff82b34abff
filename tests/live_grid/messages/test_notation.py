"""The notation of layouts, and text on the wire."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.messages.circuits import CloseCircuit, StartPingCheck
from live_grid.messages.notation import NIL, AgentSession, text_of, wire_text


@given(st.text().filter(lambda text: not text.endswith("\0")))
def test_text_survives_the_wire(text: str) -> None:
    """What is written as text is read as the same text, lone surrogates apart."""
    assert text_of(wire_text(text)) == text.encode("utf-8", "replace").decode()


def test_text_that_is_no_utf8_is_marked_and_not_refused() -> None:
    """Bad bytes become replacement characters; the closing NUL goes."""
    assert text_of(b"a\xff\0") == "a\ufffd"
    assert wire_text("\ud800x") == b"?x\0"


def test_messages_are_immutable_values() -> None:
    """Equal contents are equal messages, and nothing can be assigned."""
    ping = StartPingCheck(StartPingCheck.PingID(ping_id=1, oldest_unacked=2))
    assert ping == StartPingCheck(ping_id=StartPingCheck.PingID(1, 2))
    assert CloseCircuit() == CloseCircuit(absent=0, extra=b"")
    with pytest.raises(AttributeError):
        ping.extra = b"x"  # type: ignore[misc]
    assert AgentSession(NIL, NIL).agent_id == bytes(16)
