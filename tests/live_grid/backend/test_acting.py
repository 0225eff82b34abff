"""Carrying out: refusals, one body, the map, and what we built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Position
from gridagent.events import ActionRefused, TeleportFailed
from live_grid.backend.acting import ACTORS
from live_grid.backend.pending import Built, Journey, Payment
from live_grid.backend.views import OURS
from live_grid.handover.tables import TravelState
from live_grid.messages.objects import ObjectDeselect, ObjectName
from live_grid.world.events import ObjectChanged, RegionFound, RegionsFound
from live_grid.world.packed import Motion
from tests.live_grid.backend.hands import BEN, BOX, CLEO, Hands, text

PLACE = Position(x=20.0, y=20.0, z=25.0)
FAR = 300_032 << 32 | 256_000


@pytest.fixture
def hands() -> Hands:
    """Somebody in a region."""
    return Hands()


def test_every_action_of_the_catalogue_has_a_row() -> None:
    """Nothing can be authorised that nobody can carry out or refuse. Spec: MND-13, LIV-7."""
    assert set(ACTORS) == set(ACTIONS)


def test_the_reference_tells_of_every_action_and_every_refusal() -> None:
    """Each stands in its page as the wire and the audit trail write it. Spec: EFX-1."""
    root = Path(__file__).parents[3]
    page = set(re.findall(r"`(\w+)`", (root / "docs/reference/live-grid.md").read_text(encoding="utf-8")))
    sources = [path.read_text(encoding="utf-8") for path in (root / "live_grid/backend").glob("acting*.py")]
    words = set(re.findall(r'(?:return|refused =) "(\w+)"', "".join(sources)))
    assert {action.__struct_config__.tag for action in ACTORS} <= page
    assert "unknown_offer" in words
    assert words <= page


def test_what_cannot_be_sent_is_refused_with_a_word_of_ours(hands: Hands) -> None:
    """Too long for the wire, and too much on its way. Spec: EFX-1."""
    long = asked.OfferTeleport(to=text(BEN), message="é" * 200)
    assert hands.perform(long) == "unsendable"
    refusals = [hands.perform(asked.Say(text="x" * 1_000)) for _ in range(2_000)]
    assert refusals[-1] == "too_much_on_its_way"


def test_a_new_errand_ends_the_one_that_is_waited_for(hands: Hands) -> None:
    """One that nobody waits for any more is not told of. Spec: LIV-7."""
    hands.perform(asked.WalkTo(position=PLACE), "r1")
    assert hands.perform(asked.SitOnGround(), "r2") == []
    hands.waiting.add("r2")
    superseded = ActionRefused(reference="r2", reason="superseded")
    assert superseded in hands.perform(asked.WalkTo(position=PLACE), "r3")
    hands.waiting.add("r3")
    assert hands.perform(asked.FollowAvatar(avatar_id=text(BEN)), "r4") == "not_here"
    assert hands.pending.body == "r3"


def test_a_payment_that_nobody_waits_for_makes_room(hands: Hands) -> None:
    """In doubt for good: the next one may fly. Spec: EFX-5."""
    hands.pending.payment = Payment(reference="r1", counterpart_id=BEN, amount=5, balance=None)
    hands.waiting.add("r1")
    hands.perform(asked.StopMoving())
    assert hands.pending.payment is not None
    hands.waiting.clear()
    hands.perform(asked.StopMoving())
    assert hands.pending.payment is None


def test_a_teleport_waits_for_the_map(hands: Hands) -> None:
    """The exact name is taken, of whatever case; without one the region does not exist. Spec: LIV-7."""
    row = RegionFound("Far", FAR, 13, 0)
    assert hands.actor.on_regions_found(RegionsFound((row,), "Far")) == []
    assert hands.perform(asked.TeleportTo(region="FAR", position=PLACE)) == []
    assert hands.actor.on_regions_found(RegionsFound((RegionFound("Farther", FAR, 13, 0),))) == []
    assert hands.actor.on_regions_found(RegionsFound((RegionFound("Farther", FAR, 13, 0), row), "far")) == []
    assert hands.session.travel.state is TravelState.ASKED
    assert [type(message).__name__ for message in hands.sent()] == ["MapNameRequest", "TeleportLocationRequest"]
    assert hands.perform(asked.TeleportTo(region="Far", position=PLACE)) == "in_transit"
    assert hands.actor.on_regions_found(RegionsFound((row,), "Far")) == []
    other = Hands()
    other.perform(asked.TeleportTo(region="Nowhere", position=PLACE))
    assert other.actor.on_regions_found(RegionsFound((), "Somebody else's question")) == []
    assert other.actor.on_regions_found(RegionsFound((), "Nowhere")) == [TeleportFailed(reason="region_not_found")]
    assert other.pending.journey is None


def test_a_teleport_that_cannot_set_off_has_failed(hands: Hands) -> None:
    """When the map answers after we were sent elsewhere."""
    hands.pending.journey = Journey(reference="r1", region="Far")
    hands.session.log_out(hands.grid.now)
    found = RegionsFound((RegionFound("Far", FAR, 13, 0),), "Far")
    assert hands.actor.on_regions_found(found) == [TeleportFailed(reason="interrupted")]


def test_what_we_built_is_recognised_named_and_asked_about(hands: Hands) -> None:
    """Ours, new, and where we put it; anything else is not. Spec: EFX-1."""
    hands.actor.on_object(ObjectChanged(BOX, False))
    hands.pending.built.append(Built(reference="r1", position=(20.5, 19.5, 25.0), name="Lamp"))
    thing = hands.thing(flags=OURS)
    hands.actor.on_object(ObjectChanged(BOX, True))  # it has said already what it is
    thing.details = None
    thing.flags = 0
    hands.actor.on_object(ObjectChanged(BOX, False))
    thing.flags = OURS
    thing.motion = Motion((25.0, 20.0, 25.0))
    hands.actor.on_object(ObjectChanged(BOX, False))
    assert hands.pending.built[0].object_id is None
    thing.motion = Motion((20.0, 20.0, 25.0))
    hands.actor.on_object(ObjectChanged(BOX, False))
    hands.actor.on_object(ObjectChanged(BOX, False))
    assert hands.pending.built[0].object_id == BOX
    assert BOX in hands.world.here.wanted
    assert [type(message) for message in hands.sent()] == [ObjectName, ObjectDeselect]


def test_what_has_a_name_keeps_it_and_what_cannot_be_named_stays(hands: Hands) -> None:
    """An item has one; on the way nothing can be sent."""
    hands.pending.built.append(Built(reference="r1", position=(20.0, 20.0, 25.0), name=""))
    hands.thing(flags=OURS).details = None
    hands.actor.on_object(ObjectChanged(BOX, False))
    assert hands.sent() == []
    hands.pending.built.append(Built(reference="r2", position=(20.0, 20.0, 25.0), name="Lamp"))
    hands.thing(CLEO, flags=OURS, local=6).details = None
    hands.session.log_out(hands.grid.now)
    hands.actor.on_object(ObjectChanged(CLEO, False))
    assert hands.pending.built[1].object_id == CLEO
