"""The event queue's word on parcels."""

from __future__ import annotations

from uuid import UUID

import pytest

from benchmarks.captures import exchanges
from live_grid.errors import RemoteProtocolError
from live_grid.event_queue import QueueEvent
from live_grid.event_queue.answer import read_answer_untrusted
from live_grid.world import Region, World, reduce_queue_event
from live_grid.world.events import ParcelDescribed

OWNER = UUID("00000000-0000-0000-0000-0000000000aa")


def recorded() -> QueueEvent:
    """A parcel of a real simulator."""
    for one in exchanges("two_clients"):
        if one.path.startswith("/CE/"):
            for event in read_answer_untrusted(one.status, one.body).events:
                if event.name == "ParcelProperties":
                    return event
    raise AssertionError


def parcel(**fields: object) -> QueueEvent:
    """The recorded parcel with other fields."""
    (block,) = recorded().body["ParcelData"]  # type: ignore[union-attr, misc]
    return QueueEvent(name="ParcelProperties", body={"ParcelData": [block | fields]})  # type: ignore[operator]


def test_a_recorded_parcel_is_read(world: World, here: Region) -> None:
    """Name, owner and flags of a real simulator's parcel. Spec: LIV-5."""
    assert reduce_queue_event(world, here, recorded()) == (ParcelDescribed(True),)
    found = world.parcel
    assert found is not None
    assert (found.name, found.owner_id, found.local_id, found.area) == ("Your Parcel", OWNER.bytes, 1, 65536)
    assert found.flags == int.from_bytes(b"(\x00 K", "big")


@pytest.mark.parametrize("flags", [0x2800_204B, (0x2800_204B).to_bytes(4, "big")])
def test_numbers_come_in_two_writings(world: World, here: Region, flags: int | bytes) -> None:
    """Unsigned numbers as integers and as binary mean the same. Spec: LIV-5."""
    reduce_queue_event(world, here, parcel(ParcelFlags=flags, Name=7))
    assert world.parcel is not None
    assert (world.parcel.flags, world.parcel.name) == (0x2800_204B, "")


def test_notices_about_other_parcels_are_told_as_such(world: World, here: Region, beside: Region) -> None:
    """Negative numbers are collisions and selections; a neighbour's parcel is not under us."""
    assert reduce_queue_event(world, here, parcel(SequenceID=-50_000)) == (ParcelDescribed(False),)
    assert reduce_queue_event(world, beside, parcel()) == (ParcelDescribed(False),)
    assert reduce_queue_event(world, here, parcel(RequestResult=-1)) == ()
    assert world.parcel is None


def test_a_parcel_of_nobody_is_malformed(world: World, here: Region) -> None:
    """What does not say whose it is, is refused. Spec: LIV-3."""
    with pytest.raises(RemoteProtocolError):
        reduce_queue_event(world, here, parcel(OwnerID="me"))
    assert reduce_queue_event(world, here, QueueEvent(name="AgentStateUpdate", body={})) == ()
