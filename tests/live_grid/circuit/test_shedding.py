"""Which message puts up with how much."""

from __future__ import annotations

from live_grid.circuit.shedding import patience_for
from live_grid.limits import EVENTS_CHATTER_MAX, EVENTS_CONTROL_MAX, EVENTS_MAX
from live_grid.messages import LAYOUTS, header_of
from live_grid.messages.circuits import KickUser
from live_grid.messages.objects import ImprovedTerseObjectUpdate
from live_grid.messages.speech import ChatFromSimulator


def test_chatter_goes_before_speech_and_speech_before_control() -> None:
    """Three classes of patience. Spec: LIV-9."""
    patience = patience_for(None)
    assert patience.keys() == LAYOUTS.keys()
    assert patience[header_of(ImprovedTerseObjectUpdate).number] == EVENTS_CHATTER_MAX
    assert patience[header_of(ChatFromSimulator).number] == EVENTS_MAX
    assert patience[header_of(KickUser).number] == EVENTS_CONTROL_MAX


def test_only_what_is_wanted_has_patience() -> None:
    """A message nobody handles never gets into the inbox."""
    assert patience_for([header_of(KickUser).number]) == {header_of(KickUser).number: EVENTS_CONTROL_MAX}
    assert patience_for([]) == {}
