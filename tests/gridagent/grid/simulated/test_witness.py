"""An avatar moved by hand."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.actions import Confirmed, InDoubt, Position, Refused
from gridagent.events import DisconnectCause, SelfMoved
from gridagent.grid.simulated import World
from gridagent.grid.simulated.witness import REMEMBERED_MAX, Witness


def test_doing_waits_for_the_evidence_and_no_longer(world: World, ada: Witness) -> None:
    """A walk takes its time, words take none, and what nothing proves takes the deadline.

    Spec: EFX-1
    """
    began = world.now
    assert isinstance(ada.do(asked.Say(text="hello")), Confirmed)
    assert world.now == began
    assert isinstance(ada.do(asked.WalkTo(position=Position(x=116.0, y=100.0))), Confirmed)
    assert world.now == began + 5.0
    item = world.give(ada.avatar_id, name="Poem", kind="notecard")
    assert ada.do(asked.GiveItem(item_id=item, to=world.avatars()[2])) == InDoubt(reason="no_evidence")
    assert world.now == began + 125.0


def test_a_timer_after_the_deadline_is_not_waited_for(world: World, ada: Witness) -> None:
    """The witness gives up at the deadline, also when something is due later."""
    world.call_at(world.now + 1_000.0, lambda: None)
    item = world.give(ada.avatar_id, name="Poem", kind="notecard")
    began = world.now
    ada.do(asked.GiveItem(item_id=item, to=world.avatars()[2]))
    assert world.now == began + 120.0


def test_a_witness_remembers_the_newest_events_and_how_it_ended(world: World, ada: Witness) -> None:
    """Memory is bounded, and the end has a cause.

    Spec: BND-1
    """
    for _ in range(REMEMBERED_MAX + 1):
        ada.do(asked.TurnTo(heading_deg=1.0))
    assert len(ada.events) == REMEMBERED_MAX
    assert len(ada.saw(SelfMoved)) == REMEMBERED_MAX
    assert ada.do(asked.SendIm(to="00000000-0000-4000-8000-0000000000ff", text="x")) == Refused(reason="unknown_avatar")
    world.kick(ada.avatar_id, world.now)
    assert ada.ended_by is DisconnectCause.KICKED
