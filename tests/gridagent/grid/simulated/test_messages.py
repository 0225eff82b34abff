"""Instant messages, online and offline."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.actions import Refused
from gridagent.events import ImReceived
from gridagent.grid.simulated import World
from gridagent.grid.simulated.witness import Witness


def test_a_message_reaches_somebody_wherever_they_are(ada: Witness, dan: Witness) -> None:
    """Distance and region do not matter to an instant message.

    Spec: SIM-1
    """
    ada.do(asked.SendIm(to=dan.avatar_id, text="psst"))
    assert [(event.text, event.source.id, event.offline) for event in dan.saw(ImReceived)] == [
        ("psst", ada.avatar_id, False)
    ]


def test_messages_for_somebody_away_wait_capped_and_marked(world: World, ada: Witness) -> None:
    """The store keeps 25 messages; the 26th is refused, and all come at login marked offline, once.

    Spec: SIM-1, BND-1
    """
    cleo = world.avatars()[2]
    outcomes = [ada.do(asked.SendIm(to=cleo, text=f"message {number}")) for number in range(26)]
    assert [type(outcome).__name__ for outcome in outcomes[:25]] == ["Confirmed"] * 25
    assert outcomes[25] == Refused(reason="offline_store_full")
    received = Witness(world, cleo)
    messages = received.saw(ImReceived)
    assert [event.text for event in messages] == [f"message {number}" for number in range(25)]
    assert all(event.offline for event in messages)
    received.leave()
    assert Witness(world, cleo).saw(ImReceived) == []
