"""Hostile words by the thousand."""

from __future__ import annotations

import random

from gridagent.events import ChatHeard, ImReceived, SpeakerKind
from gridagent.grid.simulated.flood import Flood
from gridagent.ids import is_canonical_uuid


def test_a_flood_comes_from_many_accounts_by_chat_and_message() -> None:
    """Every event is from a stranger with an id of their own, half chat and half IM, each with its own id.

    Fault: 17, 18
    """
    flood = Flood(random.Random(1), 50, 1)
    events = [flood.next() for _ in range(1_000)]
    assert all(isinstance(event, ChatHeard | ImReceived) for event in events)
    assert sum(isinstance(event, ImReceived) for event in events) == 500
    senders = {event.source.id for event in events}
    assert len(senders) == 50
    assert all(map(is_canonical_uuid, senders))
    assert {event.source.kind for event in events} == {SpeakerKind.AVATAR}
    assert len({event.utterance_id for event in events}) == 1_000


def test_the_same_seed_sends_the_same_flood() -> None:
    """Floods are part of the story a seed tells.

    Spec: SIM-2
    """
    one, other = (Flood(random.Random(3), 5, 1) for _ in range(2))
    assert [one.next() for _ in range(20)] == [other.next() for _ in range(20)]
