"""Claims about who waits for whom."""

import pytest

from gridagent.authority import Origin, TextSource
from gridagent.conversation.entries import Heard
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.thinking import lanes as lanes_module
from gridagent.thinking.lanes import JOINED_MAX, Asked, Lanes, joined
from gridagent.tools.access import TurnMode


def key(number):
    """Build a conversation."""
    return PersonKey(
        avatar="robin", grid="g", peer=f"00000000-0000-4000-8000-{number + 1:012x}", channel=Channel.PUBLIC
    )


def asked(text):
    """Build a message."""
    heard = Heard(who="A", source=TextSource.STRANGER, text=text, at=0.0, tainted=True)
    return Asked(
        heard=heard, cause=text, peer=key(0).peer, mode=TurnMode.ADDRESSED, origin=Origin.PUBLIC_CHAT, disclose=False
    )


def test_lanes_take_turns_in_the_order_in_which_they_became_ready():
    """Spec: MND-15 — a lane is next when it waited longest; one under way is not ready, an idle one is gone."""
    lanes = Lanes()
    for number in (2, 0, 1):
        lanes.open(key(number)).waiting.append((asked("x"),))
        lanes.settle(key(number))
        lanes.settle(key(number))
    found, lane = lanes.next_ready()
    assert found == key(2)
    lane.waiting.clear()
    lane.running = "turn"
    lanes.settle(found)
    assert lanes.find(found) is lane
    lane.running = None
    lanes.settle(found)
    assert lanes.find(found) is None
    lanes.settle(found)
    assert [lanes.next_ready()[0], lanes.next_ready()[0], lanes.next_ready()] == [key(0), key(1), None]


def test_a_lane_whose_waiting_is_dropped_is_no_longer_ready():
    """What waits can be forgotten; a turn that is under way keeps its lane."""
    lanes = Lanes()
    for number in (0, 1):
        lane = lanes.open(key(number))
        lane.waiting.append((asked("x"),))
        lane.running = "turn" if number else None
        lanes.settle(key(number))
        lanes.drop(key(number))
    lanes.drop(key(5))
    assert lanes.busy() == (key(1),)
    assert (len(lanes), lanes.next_ready()) == (1, None)


def test_there_are_only_so_many_lanes(monkeypatch):
    """Spec: BND-9 — one more conversation than the bound gets none; one that has a lane keeps it."""
    monkeypatch.setattr(lanes_module, "LANES_MAX", 2)
    lanes = Lanes()
    first = lanes.open(key(0))
    assert lanes.open(key(1)) is not None
    assert lanes.open(key(2)) is None
    assert lanes.open(key(0)) is first


@pytest.mark.parametrize("sizes", [(1, 1), (10, 10), (0, 3), (40, 1)])
def test_joined_messages_are_the_newest_in_order(sizes):
    """Spec: MND-11 — one turn answers a bounded number of messages, and the last is always among them."""
    batches = [tuple(asked(f"{batch}.{number}") for number in range(size)) for batch, size in enumerate(sizes)]
    whole = [each.heard.text for batch in batches for each in batch]
    assert [each.heard.text for each in joined(*batches)] == whole[-JOINED_MAX:]
