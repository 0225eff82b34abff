"""The table as a whole: what it leaves out, what recorded sessions come to, and what hostile bytes do."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.captures import NAMES, SIMULATOR_PORTS, datagrams
from live_grid.circuit import Circuit, MessageReceived
from live_grid.errors import RemoteProtocolError
from live_grid.messages import LAYOUTS, header_of
from live_grid.messages.circuits import DisableSimulator
from live_grid.world import WANTED, Region, World, reduce_message
from live_grid.world.bounds import AVATARS_MAX, NAMES_ASKED_MAX, NAMES_MAX, OBJECTS_MAX, OFFERS_MAX
from live_grid.world.events import ChatHeard, ImReceived, MovementCompleted, TeleportEndedHere, WorldEvent
from live_grid.world.reduce import REDUCERS

PEER = ("127.0.0.1", 9000)
BOT, GUEST, OWNER = (bytes(15) + bytes([number]) for number in (0xBB, 0xCC, 0xAA))

HANDLED_BY_THE_CIRCUIT = {"PacketAck", "StartPingCheck", "CompletePingCheck", "CloseCircuit"}
HANDLED_BY_THE_HANDOVER = {"DisableSimulator"}
BY_THE_QUEUE_ONLY = {"EnableSimulator", "CrossedRegion", "TeleportFinish"}
OF_NO_USE_TO_A_BOT = {
    # terrain, time, load, looks and clothes
    *(
        "LayerData",
        "ParcelOverlay",
        "SimulatorViewerTimeMessage",
        "SimStats",
        "AvatarAppearance",
        "AgentWearablesUpdate",
    ),
    # answers to questions we don't ask
    *(
        "ParcelDwellReply",
        "ParcelAccessListReply",
        "RegionIDAndHandleReply",
        "AvatarPickerReply",
        "AvatarPropertiesReply",
    ),
}


def test_every_message_is_reduced_or_left_out_on_purpose() -> None:
    """Each message that a simulator may send has a row, or stands on a list that says why not. Spec: LIV-5, LIV-6."""
    trusted = {layout.header.name for layout in LAYOUTS.values() if layout.header.trusted}
    rows = {header_of(kind).name for kind in REDUCERS}
    left_out = trusted - rows
    assert left_out == HANDLED_BY_THE_HANDOVER | OF_NO_USE_TO_A_BOT | BY_THE_QUEUE_ONLY
    assert rows - trusted == {"AgentMovementComplete", "ImprovedInstantMessage", "RegionInfo", "TerminateFriendship"}
    assert not HANDLED_BY_THE_CIRCUIT & rows
    assert set(WANTED) == {*REDUCERS, DisableSimulator}


def replay(name: str, agent_id: bytes, ports: set[int]) -> tuple[dict[int, Region], list[tuple[int, WorldEvent]]]:
    """Feed what simulators sent to these ports through circuits into one world; entering is by the simulator's word."""
    world = World(agent_id)
    circuits: dict[tuple[int, int], Circuit] = {}
    regions: dict[int, Region] = {}
    events: list[tuple[int, WorldEvent]] = []
    for one in datagrams(name):
        if not one.from_simulator or one.target not in ports:
            continue
        key = one.source, one.target
        circuit = circuits.setdefault(key, Circuit(PEER, now=one.time, wanted=WANTED))
        region = regions.setdefault(one.source, Region())
        circuit.receive_datagram_untrusted(one.data, PEER, one.time)
        while (found := circuit.next_event()) is not None:
            assert isinstance(found, MessageReceived)
            for event in reduce_message(world, region, found.message):
                if isinstance(event, MovementCompleted):
                    world.enter(region)
                events.append((one.source, event))
    assert all(circuit.statistics().malformed == 0 for circuit in circuits.values())
    return regions, events


def words(events: list[tuple[int, WorldEvent]]) -> list[tuple[str, str]]:
    """What was said, and by whom."""
    return [(event.name, event.text) for _, event in events if isinstance(event, ChatHeard | ImReceived)]


def places(events: list[tuple[int, WorldEvent]]) -> list[tuple[int, tuple[int, ...]]]:
    """Where we arrived: region by port, and whole metres."""
    return [
        (port, tuple(map(round, event.position)))
        for port, event in events
        if isinstance(event, MovementCompleted | TeleportEndedHere)
    ]


def test_the_guest_of_two_clients(world: World) -> None:
    """Who was there, what was said, and where the guest went and stayed. Spec: LIV-5, LIV-6, LIV-7."""
    regions, events = replay("two_clients", GUEST, {45581, 49581})
    assert words(events) == [
        ("Bot Avatar", "hello"),
        ("Guest Visitor", "hi Bot, guest here"),
        ("Bot Avatar", "im reply: im from guest"),
    ]
    assert places(events) == [(9000, (128, 128, 26)), (9000, (100, 110, 25)), (9001, (60, 60, 25))]
    nextland = regions[9001]
    assert (nextland.name, nextland.handle) == ("Nextland", 256256 << 32 | 256000)
    assert {one.name for one in nextland.avatars.values()} == {"Guest Visitor", "Bot Avatar"}
    assert len(regions[9000].objects) == 3


def test_the_bot_of_two_clients_comes_back() -> None:
    """There and back again on one socket, and heard afterwards; the guest was seen to leave. Spec: LIV-7."""
    regions, events = replay("two_clients", BOT, {57725})
    assert words(events) == [
        ("Bot Avatar", "hello"),
        ("Guest Visitor", "hi Bot, guest here"),
        ("Guest Visitor", "im from guest"),
        ("Bot Avatar", "hello after teleport"),
    ]
    assert [port for port, _ in places(events)] == [9000, 9000, 9001, 9000]
    testland = regions[9000]
    assert list(testland.avatars) == [BOT]
    assert tuple(map(round, testland.avatars[BOT].motion.position)) == (128, 128, 26)


def test_a_crossing_on_foot() -> None:
    """The neighbour is known before it is entered, and no second handshake comes. Spec: LIV-5, LIV-7."""
    regions, events = replay("crossing_on_foot", BOT, {59080})
    assert words(events) == [("Bot Avatar", "hello after crossing")]
    assert places(events) == [(9000, (128, 128, 26)), (9000, (245, 128, 30)), (9001, (1, 128, 5))]
    assert regions[9001].name == "Nextland"
    assert regions[9000].avatars[BOT].motion.position[0] == pytest.approx(255.5, abs=0.1)
    assert regions[9001].avatars[BOT].motion.position[0] == pytest.approx(108.9, abs=0.1)


def test_a_teleport_that_fails_after_its_time() -> None:
    """The failure of the recording that restarts its numbers is told once, however often it is resent. Spec: LIV-7."""
    _, events = replay("return_teleport_reused_sequence", GUEST, {32918})
    assert Counter(type(event).__name__ for _, event in events)["TeleportRefused"] == 1


@pytest.mark.slow
def test_every_recording_is_reduced_within_the_bounds() -> None:
    """Nothing in any recording is malformed."""
    for name in NAMES:
        for port in {one.target for one in datagrams(name)} - SIMULATOR_PORTS:
            regions, _ = replay(name, OWNER, {port})
            assert all(len(region.objects) <= 3 for region in regions.values())


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(sorted(LAYOUTS)), st.binary(max_size=400)), max_size=20))
def test_no_message_makes_the_world_raise_or_grow(packets: list[tuple[int, bytes]]) -> None:
    """Whatever can be read can be reduced, and every table keeps its ceiling. Spec: LIV-3. Fault: 5, 6."""
    world = World(BOT)
    region = world.here
    for number, body in packets:
        try:
            message = LAYOUTS[number].read(body)
        except RemoteProtocolError:
            continue
        assert isinstance(reduce_message(world, region, message), tuple)
    assert len(region.objects) <= OBJECTS_MAX
    assert len(region.avatars) <= AVATARS_MAX
    assert len(world.names) <= NAMES_MAX
    assert len(world.names_wanted) <= NAMES_ASKED_MAX
    assert len(world.offers) <= OFFERS_MAX
