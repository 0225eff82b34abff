"""What travels by the event queue, read by the client's own readers."""

from __future__ import annotations

import pytest

from benchmarks.captures import exchanges
from gridagent.actions import Position
from gridagent.grid.simulated import Land, World
from live_grid.event_queue import (
    NeighbourFound,
    NeighbourReady,
    QueueEvent,
    RegionCrossed,
    TeleportFinished,
    read_region_event_untrusted,
)
from live_grid.llsd import read_llsd_xml_untrusted, write_llsd_xml
from live_grid.simulator import queue_events
from live_grid.simulator.ids import wire_id
from live_grid.simulator.places import Place, Places
from live_grid.simulator.profiles import OPENSIM, SECOND_LIFE, WireProfile

SEED = "http://127.0.0.1:9000/CAPS/x"


@pytest.fixture
def annex(world: World) -> Place:
    """Return the larger region."""
    return Places(world.regions(), [("127.0.0.1", 9_000 + number) for number in range(3)])[1]


def travelled(name: str, body: queue_events.Body) -> object:
    """Write and read an event as it travels."""
    return read_region_event_untrusted(QueueEvent(name=name, body=read_llsd_xml_untrusted(write_llsd_xml(body))))


@pytest.mark.parametrize(("profile", "size"), [(OPENSIM, 512), (SECOND_LIFE, 256)])
def test_handovers_are_read_as_they_were_meant(profile: WireProfile, size: int, world: World, annex: Place) -> None:
    """Neighbour, seed, teleport and crossing; sizes where the family names them. Spec: LIV-4, LIV-7, LIV-15."""
    ada, at, session = world.avatars()[0], ("127.0.0.1", 9_001), bytes(range(16))
    assert travelled("EnableSimulator", queue_events.enable_simulator(annex, profile)) == NeighbourFound(
        address=at, region_handle=annex.handle, size_x=size, size_y=size
    )
    body = queue_events.establish_communication(ada, annex, SEED)
    assert travelled("EstablishAgentCommunication", body) == NeighbourReady(
        agent_id=wire_id(ada), address=at, seed=SEED
    )
    body = queue_events.teleport_finish(ada, annex, SEED, 16, profile)
    assert travelled("TeleportFinish", body) == TeleportFinished(
        agent_id=wire_id(ada),
        address=at,
        region_handle=annex.handle,
        seed=SEED,
        sim_access=13,
        teleport_flags=16,
        size_x=size,
        size_y=size,
    )
    body = queue_events.crossed_region(ada, session, annex, SEED, Position(x=1.0, y=2.0, z=3.0), profile)
    assert travelled("CrossedRegion", body) == RegionCrossed(
        agent_id=wire_id(ada),
        session_id=session,
        address=at,
        region_handle=annex.handle,
        seed=SEED,
        position=(1.0, 2.0, 3.0),
        look_at=(1.0, 0.0, 0.0),
        size_x=size,
        size_y=size,
    )


def test_a_parcel_is_described_with_its_rights_and_its_shape(world: World) -> None:
    """Bounds, flags, owner, prims, and the squares that belong to it. Spec: LIV-5, LIV-15."""
    plaza, ben = world.regions()[0], world.avatars()[1]
    world.add_parcel(
        "Plaza", owner_id=ben, land=Land(name="Stall", x=8.0, y=4.0, width=4.0, depth=8.0, anybody_builds=True)
    )
    stall = plaza.parcels[1]
    body = queue_events.parcel_properties(plaza, stall, sequence_id=7, profile=OPENSIM, snap=True)
    (data,) = body["ParcelData"]
    assert (data["LocalID"], data["Name"], data["SequenceID"], data["SnapSelection"]) == (2, "Stall", 7, True)
    assert (data["AABBMin"], data["AABBMax"], data["Area"]) == ([8.0, 4.0, 0.0], [12.0, 12.0, 0.0], 32)
    assert int.from_bytes(data["ParcelFlags"], "big") == 0x1 | 0x2 | 0x8 | 0x40
    bits = int.from_bytes(data["Bitmap"], "little")
    assert {at for at in range(64 * 64) if bits >> at & 1} == {1 * 64 + 2, 2 * 64 + 2}
    assert data["AuctionID"] == 0
    annex = world.regions()[1]
    (whole,) = queue_events.parcel_properties(annex, annex.parcels[0], sequence_id=0, profile=OPENSIM)["ParcelData"]
    assert whole["Bitmap"] == b"\xff" * (128 * 128 // 8)
    second = queue_events.parcel_properties(plaza, plaza.parcels[0], sequence_id=0, profile=SECOND_LIFE)
    assert second["ParcelData"][0]["AuctionID"] == bytes(4)


def test_a_parcel_without_scripts_or_in_a_huge_region_says_so(world: World) -> None:
    """No script bit; and no map of squares where it would be too large. Spec: LIV-5."""
    huge = world.add_region("Huge", x_m=0, y_m=0, size_m=2_048, land=Land(name="Huge", runs_scripts=False))
    (data,) = queue_events.parcel_properties(huge, huge.parcels[0], sequence_id=0, profile=OPENSIM)["ParcelData"]
    assert int.from_bytes(data["ParcelFlags"], "big") == 0x1 | 0x8
    assert (data["Bitmap"], data["Area"]) == (b"", 2_048 * 2_048)


def test_a_failed_teleport_can_be_told_by_the_queue(world: World) -> None:
    """As Second Life tells it. Spec: LIV-15."""
    body = queue_events.teleport_failed(world.avatars()[0], "no")
    assert read_llsd_xml_untrusted(write_llsd_xml(body))["Info"][0]["Reason"] == "no"


def test_a_parcel_has_the_fields_a_recorded_server_gave(world: World) -> None:
    """All of them and no others, so that no client looks for one in vain. Spec: LIV-4, LIV-15."""
    region = world.regions()[0]
    body = queue_events.parcel_properties(region, region.parcels[0], sequence_id=0, profile=OPENSIM)
    recorded = next(
        event["body"]
        for exchange in exchanges("two_clients")
        if b"<string>ParcelProperties</string>" in exchange.body
        for event in read_llsd_xml_untrusted(exchange.body)["events"]
        if event["message"] == "ParcelProperties"
    )
    assert {name: set(rows[0]) for name, rows in body.items()} == {
        name: set(rows[0]) for name, rows in recorded.items()
    }
