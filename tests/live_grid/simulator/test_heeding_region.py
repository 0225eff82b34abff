"""What a client asks of regions: presence, parcels, the map, and to be elsewhere."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.grid.simulated import Land, World
from live_grid.messages import NIL, text_of, wire_text
from live_grid.messages.circuits import AgentMovementComplete, CompleteAgentMovement
from live_grid.messages.parcels import (
    ParcelAccessListReply,
    ParcelAccessListRequest,
    ParcelDwellReply,
    ParcelDwellRequest,
    ParcelPropertiesRequest,
)
from live_grid.messages.regions import (
    MapBlockReply,
    MapBlockRequest,
    MapNameRequest,
    RegionHandleRequest,
    RegionIDAndHandleReply,
    RegionInfo,
    RequestRegionInfo,
)
from live_grid.messages.travel import (
    TeleportFailed,
    TeleportLandmarkRequest,
    TeleportLocal,
    TeleportLocationRequest,
    TeleportRequest,
    TeleportStart,
)
from live_grid.simulator.ids import derived_id, wire_id
from live_grid.simulator.puppet import Puppet, Table

PLAZA = 256_000 << 32 | 256_000
ANNEX = 256_256 << 32 | 256_000


def go(puppet: Puppet, handle: int, position: tuple[float, float, float] = (20.0, 30.0, 22.0)) -> None:
    """Ask for a teleport by handle."""
    info = TeleportLocationRequest.Info(handle, position, (1.0, 0.0, 0.0))
    puppet.say(TeleportLocationRequest(agent_data=puppet.session, info=info))


def failures(puppet: Puppet) -> list[str]:
    """Return why teleports failed."""
    return [text_of(one.info.reason) for one in puppet.saw(TeleportFailed)]


def test_presence_needs_the_circuits_own_code(table: Table) -> None:
    """Asked for with another code, it is not given; asked twice, it is answered twice. Spec: LIV-7, LIV-15."""
    ada = table.puppet("Ada Actor")
    ada.log_in()
    ada.open_circuit(0)
    wrong = CompleteAgentMovement.AgentData(ada.agent_id, ada.session.session_id, 5)
    ada.say(CompleteAgentMovement(agent_data=wrong), 0)
    assert ada.saw(AgentMovementComplete) == []
    ada.ask_presence(0)
    ada.ask_presence(0)
    assert [one.data.position for one in ada.saw(AgentMovementComplete)] == [(100.0, 100.0, 22.0)] * 2


def test_estate_facts_are_told(ada: Puppet) -> None:
    """On request. Spec: LIV-5."""
    ada.say(RequestRegionInfo(agent_data=ada.session))
    assert text_of(ada.saw(RegionInfo)[0].region_info.sim_name) == "Plaza"


def test_a_parcel_is_described_by_the_event_queue(world: World, table: Table, ada: Puppet) -> None:
    """Under the sequence number of the request; a corner that is none is no question. Spec: LIV-5, LIV-15."""
    world.add_parcel("Plaza", owner_id=world.avatars()[1], land=Land(name="Stall", x=200.0, width=10.0, depth=10.0))
    for west in (205.0, 5.0, float("nan")):
        data = ParcelPropertiesRequest.ParcelData(9, west, 5.0, west, 5.0, True)
        ada.say(ParcelPropertiesRequest(agent_data=ada.session, parcel_data=data))
    told = [body["ParcelData"][0] for body in ada.told("ParcelProperties")]
    assert [(one["Name"], one["SequenceID"], one["SnapSelection"]) for one in told] == [
        ("Stall", 9, True),
        ("Plaza", 9, True),
    ]


def test_who_is_banned_is_told(world: World, ada: Puppet) -> None:
    """One empty row where nobody is; of no parcel, nothing. Spec: LIV-5."""
    banned = tuple(world.avatars()[1:3])
    world.add_parcel("Plaza", owner_id=world.avatars()[0], land=Land(name="Home", banned=banned, x=200.0))
    for flags, local_id in ((2, 2), (1, 2), (2, 1), (2, 9), (2, 0)):
        data = ParcelAccessListRequest.Data(4, flags, local_id)
        ada.say(ParcelAccessListRequest(agent_data=ada.session, data=data))
    lists = [[one.id for one in reply.list] for reply in ada.saw(ParcelAccessListReply)]
    assert lists == [[*map(wire_id, banned)], [NIL], [NIL]]


def test_traffic_is_told_of_a_parcel_that_is(world: World, ada: Puppet) -> None:
    """With the parcel's id. Spec: LIV-5."""
    for local_id in (1, 7):
        ada.say(ParcelDwellRequest(agent_data=ada.session, data=ParcelDwellRequest.Data(local_id, NIL)))
    (reply,) = ada.saw(ParcelDwellReply)
    assert reply.data.parcel_id == wire_id(world.regions()[0].parcels[0].parcel_id)


@pytest.mark.parametrize(("name", "found"), [("pla", ["Plaza"]), ("ANNEX", ["Annex"]), ("x", []), ("", [])])
def test_regions_are_found_by_the_beginning_of_their_name(name: str, found: list[str], ada: Puppet) -> None:
    """With an end mark after them. Spec: LIV-5, LIV-15."""
    head = MapNameRequest.AgentData(ada.agent_id, ada.session.session_id, 2, 0, False)
    ada.say(MapNameRequest(agent_data=head, name_data=MapNameRequest.NameData(wire_text(name))))
    (reply,) = ada.saw(MapBlockReply)
    assert [text_of(one.name) for one in reply.data if one.access != 255] == found
    assert [text_of(one.name) for one in reply.data if one.access == 255] == [name]


def test_regions_are_found_by_a_rectangle_and_by_id(table: Table, ada: Puppet) -> None:
    """Without an end mark; an id that no region has finds none. Spec: LIV-5."""
    head = MapBlockRequest.AgentData(ada.agent_id, ada.session.session_id, 2, 0, False)
    ada.say(MapBlockRequest(agent_data=head, position_data=MapBlockRequest.PositionData(1_000, 1_001, 1_000, 1_000)))
    assert [text_of(one.name) for one in ada.saw(MapBlockReply)[0].data] == ["Plaza", "Annex"]
    for region_id in (table.stage.places[1].region_id, NIL):
        ada.say(RegionHandleRequest(request_block=RegionHandleRequest.RequestBlock(region_id)))
    assert [one.reply_block.region_handle for one in ada.saw(RegionIDAndHandleReply)] == [ANNEX]


def test_a_teleport_within_the_region_is_local(world: World, table: Table, ada: Puppet) -> None:
    """Started, and done by UDP alone. Spec: LIV-7, LIV-15."""
    go(ada, PLAZA)
    table.pass_time(5.0)
    assert [one.info.teleport_flags for one in ada.saw(TeleportStart)] == [16]
    (done,) = ada.saw(TeleportLocal)
    assert (done.info.position, done.info.teleport_flags) == ((20.0, 30.0, 22.0), 16)
    assert ada.told("TeleportFinish") == []
    assert world.position(world.avatars()[0]) == Position(x=20.0, y=30.0, z=22.0)


def test_a_handle_may_name_a_square_of_a_large_region(world: World, table: Table, ada: Puppet) -> None:
    """The position counts from there. Spec: LIV-5, LIV-7."""
    go(ada, (256_256 + 256) << 32 | 256_000 + 256)
    table.pass_time(5.0)
    assert world.position(world.avatars()[0]) == Position(x=276.0, y=286.0, z=22.0)


@pytest.mark.parametrize("position", [(20.0, 30.0, 22.0), (float("nan"), 1.0, 1.0)])
def test_a_teleport_to_nowhere_fails_over_udp(position: tuple[float, float, float], ada: Puppet) -> None:
    """And nothing comes by the event queue. Spec: LIV-7, LIV-15."""
    go(ada, 5 if position[0] == 20.0 else PLAZA, position)
    assert failures(ada) == ["The region you tried to teleport to was not found."]
    assert ada.saw(TeleportStart) == []
    assert [event.name for _, event in ada.events] == []


@pytest.mark.parametrize(
    ("why", "words"),
    [("down", "is not available."), ("full", "is full."), ("banned", "Not allowed at destination")],
)
def test_a_region_that_does_not_take_us_says_why(why: str, words: str, world: World, ada: Puppet) -> None:
    """In words that clients know. Spec: LIV-7, LIV-15."""
    annex = world.regions()[1]
    annex.up = why != "down"
    annex.capacity = 0 if why == "full" else 100
    if why == "banned":
        world.add_parcel("Annex", owner_id=world.avatars()[1], land=Land(name="No", banned=(world.avatars()[0],)))
    go(ada, ANNEX)
    assert words in failures(ada)[0]


def test_a_second_teleport_at_once_is_refused(table: Table, ada: Puppet) -> None:
    """The first goes on. Spec: LIV-7, LIV-15."""
    go(ada, PLAZA)
    go(ada, PLAZA, (50.0, 50.0, 22.0))
    table.pass_time(5.0)
    assert failures(ada) == ["Agent is already in transit."]
    assert [one.info.position[0] for one in ada.saw(TeleportLocal)] == [20.0]


def test_regions_are_reached_by_id_and_home_by_no_landmark(world: World, table: Table, ada: Puppet) -> None:
    """Home is where the account says. Spec: LIV-7, LIV-15."""
    info = TeleportRequest.Info(table.stage.places[0].region_id, (1.0, 2.0, 22.0), (1.0, 0.0, 0.0))
    ada.say(TeleportRequest(agent_data=ada.session, info=info))
    table.pass_time(5.0)
    landmark = TeleportLandmarkRequest.Info(ada.agent_id, ada.session.session_id, NIL)
    ada.say(TeleportLandmarkRequest(info=landmark))
    table.pass_time(5.0)
    assert [(one.info.position[:2], one.info.teleport_flags) for one in ada.saw(TeleportLocal)] == [
        ((1.0, 2.0), 16),
        ((100.0, 100.0), 32),
    ]
    bad = TeleportRequest.Info(table.stage.places[0].region_id, (float("inf"), 2.0, 22.0), (1.0, 0.0, 0.0))
    ada.say(TeleportRequest(agent_data=ada.session, info=bad))
    assert len(failures(ada)) == 1


@pytest.mark.parametrize(
    ("text", "arrives"),
    [
        ("Plaza 7.0 8.0 22.0", True),
        ("Nowhere 1.0 1.0 1.0", False),
        ("Plaza x y z", False),
        ("Plaza 1.0 1.0 nan", False),
    ],
)
def test_a_landmark_leads_where_it_was_made(
    text: str, *, arrives: bool, world: World, table: Table, ada: Puppet
) -> None:
    """If that still is somewhere. Spec: LIV-7, LIV-8."""
    me = world.avatars()[0]
    world.give(me, name="Not it", kind="landmark", text="Plaza 1.0 1.0 22.0")
    item = world.give(me, name="There", kind="landmark", text=text)
    wanted = TeleportLandmarkRequest.Info(ada.agent_id, ada.session.session_id, derived_id("asset", item))
    ada.say(TeleportLandmarkRequest(info=wanted))
    table.pass_time(5.0)
    assert [one.info.position[:2] for one in ada.saw(TeleportLocal)] == ([(7.0, 8.0)] if arrives else [])
    assert len(failures(ada)) == (not arrives)


def test_an_unknown_landmark_leads_nowhere(ada: Puppet) -> None:
    """And says so. Spec: LIV-7."""
    wanted = TeleportLandmarkRequest.Info(ada.agent_id, ada.session.session_id, b"x" * 16)
    ada.say(TeleportLandmarkRequest(info=wanted))
    assert len(failures(ada)) == 1


def test_a_seated_avatar_stands_when_it_teleports(world: World, table: Table, ada: Puppet) -> None:
    """It is shown standing where it arrives. Spec: LIV-7."""
    world.perform(world.avatars()[0], asked.SitOnGround(), world.now)
    go(ada, PLAZA)
    table.pass_time(5.0)
    assert world.avatar(world.avatars()[0]).body.posture.value == "standing"
    assert len(ada.saw(TeleportLocal)) == 1
