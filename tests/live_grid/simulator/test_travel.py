"""The way between regions, as OpenSimulator and as Second Life go it."""

from __future__ import annotations

import math

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.events import AvatarLeft, AvatarSeen, ChatHeard, DisconnectCause
from gridagent.grid.simulated import World
from gridagent.grid.simulated.witness import Witness
from live_grid.event_queue import QueueState, TeleportFinished, read_region_event_untrusted
from live_grid.messages import text_of, wire_text
from live_grid.messages.avatars import AgentUpdate
from live_grid.messages.circuits import AgentMovementComplete, DisableSimulator, KickUser
from live_grid.messages.objects import ObjectUpdate
from live_grid.messages.regions import CoarseLocationUpdate, RegionHandshake
from live_grid.messages.speech import ChatFromSimulator, ChatFromViewer, GenericMessage
from live_grid.messages.travel import TeleportFailed, TeleportLocal, TeleportLocationRequest, TeleportStart
from live_grid.simulator import core as core_module
from live_grid.simulator import travel
from live_grid.simulator.faults import WireFaultKind, WireFaults
from live_grid.simulator.profiles import OPENSIM, SECOND_LIFE
from live_grid.simulator.puppet import Puppet, Table

PLAZA, ANNEX, FAR = 256_000 << 32 | 256_000, 256_256 << 32 | 256_000, 300_032 << 32 | 256_000


def go(puppet: Puppet, handle: int, spot: tuple[float, float, float] = (20.0, 30.0, 22.0)) -> None:
    """Ask for a teleport, and wait as long as the world takes."""
    info = TeleportLocationRequest.Info(handle, spot, (1.0, 0.0, 0.0))
    puppet.say(TeleportLocationRequest(agent_data=puppet.session, info=info), root_of(puppet))
    puppet._table.pass_time(5.0)


def root_of(puppet: Puppet) -> int:
    """Return the number of the region the server takes for this client's root."""
    (agent,) = [one for one in puppet._table.core._agents.values() if one.agent_id == puppet.agent_id]
    return agent.root.place.number


def finish_of(puppet: Puppet) -> TeleportFinished:
    """Return the last word on where a teleport goes on."""
    return [read_region_event_untrusted(one) for _, one in puppet.events if one.name == "TeleportFinish"][-1]


def follow(puppet: Puppet) -> int:
    """Go where the last teleport goes on."""
    finish = finish_of(puppet)
    number = puppet.number_of(finish.address)
    puppet.arrive(number, finish.seed)
    puppet._table.pass_time(1.0)
    return number


def look(
    puppet: Puppet, keys: int = 0, *, far: float = 128.0, rotation: tuple[float, float, float] = (0, 0, 0)
) -> None:
    """Say which keys are down and how far is looked."""
    zero, ids = (0.0, 0.0, 0.0), (puppet.agent_id, puppet.session.session_id)
    data = AgentUpdate.AgentData(*ids, rotation, rotation, 0, zero, zero, zero, zero, far, keys, 0)
    puppet.say(AgentUpdate(agent_data=data), root_of(puppet), reliable=False)


def say(puppet: Puppet, text: str) -> None:
    """Say something where the server takes us to be."""
    data = ChatFromViewer.ChatData(wire_text(text), 1, 0)
    puppet.say(ChatFromViewer(agent_data=puppet.session, chat_data=data), root_of(puppet))


# --- teleports -----------------------------------------------------------------------------------


def test_a_teleport_goes_on_where_the_event_queue_says(world: World, table: Table, ada: Puppet, ben: Witness) -> None:
    """Start by UDP, finish by the old region's queue, presence and scene in the new one. Spec: LIV-7, LIV-15."""
    go(ada, FAR)
    assert [one.info.teleport_flags for one in ada.saw(TeleportStart, 0)] == [16]
    finish = finish_of(ada)
    assert (finish.region_handle, finish.address, finish.teleport_flags) == (FAR, ("127.0.0.1", 9_002), 16)
    assert ben.saw(AvatarLeft)
    assert follow(ada) == 2
    assert [text_of(one.region_info.sim_name) for one in ada.saw(RegionHandshake, 2)] == ["Far"]
    (present,) = ada.saw(AgentMovementComplete, 2)
    assert (present.data.position, present.data.region_handle) == ((20.0, 30.0, 22.0), FAR)
    assert [block.full_id for one in ada.saw(ObjectUpdate, 2) for block in one.object_data] == [ada.agent_id]
    assert [body["ParcelData"][0]["Name"] for body in ada.told("ParcelProperties", 2)] == ["Far"]
    say(ada, "here I am")
    assert [one.chat_data.position for one in ada.saw(ChatFromSimulator, 2)] == [(20.0, 30.0, 22.0)]


def test_a_region_that_is_no_neighbour_closes_its_circuit(table: Table, ada: Puppet) -> None:
    """After a while, by UDP and by the queue; nothing of it stays. Spec: LIV-7, LIV-15."""
    go(ada, FAR)
    follow(ada)
    table.pass_time(OPENSIM.leave_child_s)
    assert len(ada.saw(DisableSimulator, 0)) == 1
    assert ada.queues[0].state is QueueState.GONE
    table.pass_time(10.0)
    figures = table.core.statistics()
    assert (figures.agents, figures.circuits) == (1, 1)


def test_there_and_back_three_times(table: Table, ada: Puppet, ben: Witness) -> None:
    """On one circuit with each neighbour, whose numbers go on counting; both are heard each time. Spec: LIV-7."""
    for turn in range(3):
        go(ada, ANNEX)
        assert follow(ada) == 1
        go(ada, PLAZA, (101.0, 101.0, 22.0))
        ada.messages.clear()
        assert follow(ada) == 0
        assert len(ada.saw(RegionHandshake, 0)) == 1
        say(ada, f"back {turn}")
        assert ben.saw(ChatHeard)[-1].text == f"back {turn}"
        shown = {block.full_id for one in ada.saw(ObjectUpdate, 0) for block in one.object_data}
        assert len(shown) == 6
    assert ada.saw(DisableSimulator) == []


def test_an_opener_that_repeats_itself_changes_nothing(table: Table, ada: Puppet) -> None:
    """A client may send its code again on a circuit that stands. Spec: LIV-7, LIV-15."""
    look(ada)
    table.pass_time(1.0)
    ready = [one for _, one in ada.events if one.name == "EstablishAgentCommunication"]
    ada.open_circuit(1)
    ada.ask_seed(1, str(ready[0].body["seed-capability"]))
    table.pass_time(1.0)
    handshakes = len(ada.saw(RegionHandshake, 1))
    go(ada, ANNEX)
    assert finish_of(ada).seed == str(ready[0].body["seed-capability"])
    follow(ada)
    assert handshakes == 1
    assert len(ada.saw(RegionHandshake, 1)) == 2


def test_a_client_that_does_not_follow_is_put_back(world: World, table: Table, ada: Puppet, ben: Witness) -> None:
    """In time, told over UDP in OpenSimulator's words, and can act again. Spec: LIV-7, LIV-15; Fault: 9."""
    go(ada, FAR)
    assert world.avatar(world.avatars()[0]).body.region.name == "Far"
    say(ada, "lost words")
    assert ada.saw(ChatFromSimulator) == []
    table.pass_time(OPENSIM.arrival_s)
    (failed,) = ada.saw(TeleportFailed)
    assert text_of(failed.info.reason).startswith("Problems connecting to destination Far, reason: Connection between")
    assert world.position(world.avatars()[0]) == Position(x=100.0, y=100.0, z=22.0)
    assert ben.saw(AvatarSeen)[-1].avatar.avatar_id == world.avatars()[0]
    say(ada, "still here")
    assert ben.saw(ChatHeard)[-1].text == "still here"
    assert table.core.statistics().circuits == 1


def test_a_region_that_was_never_reached_closes_its_circuit(table: Table, ada: Puppet) -> None:
    """Neighbour or not, as recorded. Spec: LIV-7, LIV-15."""
    go(ada, ANNEX)
    ada.open_circuit(1)
    table.pass_time(OPENSIM.arrival_s)
    assert len(ada.saw(TeleportFailed)) == 1
    assert len(ada.saw(DisableSimulator, 1)) == 1
    table.pass_time(10.0)
    assert table.core.statistics().circuits == 1


def test_presence_without_having_come_is_ignored(table: Table, ada: Puppet) -> None:
    """A child that claims it is no root. Spec: LIV-7; Fault: 9."""
    look(ada)
    table.pass_time(1.0)
    ada.open_circuit(1)
    ada.ask_presence(1)
    assert ada.saw(AgentMovementComplete, 1) == []
    assert root_of(ada) == 0


def test_a_teleport_while_one_is_under_way_is_refused(table: Table, ada: Puppet) -> None:
    """The client has not arrived yet. Spec: LIV-7, LIV-15."""
    go(ada, FAR)
    info = TeleportLocationRequest.Info(PLAZA, (1.0, 1.0, 22.0), (1.0, 0.0, 0.0))
    ada.say(TeleportLocationRequest(agent_data=ada.session, info=info), 0)
    assert [text_of(one.info.reason)[:27] for one in ada.saw(TeleportFailed)] == ["Previous teleport process i"]
    follow(ada)
    assert root_of(ada) == 2


def test_somebody_who_is_ejected_on_the_way_goes_on_from_there(world: World, table: Table, ada: Puppet) -> None:
    """Sent on by hand: back to where the client is, or to a third region with the old way back. Spec: LIV-7, LIV-15."""
    me = world.avatars()[0]
    go(ada, FAR)
    world.perform(me, asked.TeleportTo(region="Annex", position=Position(x=5.0, y=5.0)), table.now)
    table.pass_time(5.0)
    assert finish_of(ada).region_handle == ANNEX
    (agent,) = table.core._agents.values()
    assert agent.journey.came_from == Position(x=100.0, y=100.0, z=22.0)
    world.perform(me, asked.TeleportTo(region="Plaza", position=Position(x=7.0, y=8.0)), table.now)
    table.pass_time(OPENSIM.arrival_s + 5.0)
    assert len(ada.saw(TeleportLocal)) == 1
    assert ada.saw(TeleportFailed) == []
    assert world.position(me) == Position(x=7.0, y=8.0, z=22.0)
    say(ada, "round trip")
    assert len(ada.saw(ChatFromSimulator)) == 1


def test_a_region_whose_circuit_has_just_closed_can_be_gone_back_to(
    table: Table, ada: Puppet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a new seed and a new circuit, while the old one still lingers; a client's own goodbye changes nothing.

    Spec: LIV-7, LIV-15.
    """
    monkeypatch.setattr(core_module, "_LINGER_S", 60.0)
    go(ada, FAR)
    follow(ada)
    table.pass_time(OPENSIM.leave_child_s)
    ada.circuits.pop(0).close()
    ada.caps.pop(0)
    old = ada._seeds[0]
    go(ada, PLAZA)
    assert finish_of(ada).seed != old
    assert follow(ada) == 0
    say(ada, "again")
    assert len(ada.saw(ChatFromSimulator, 0)) == 1


def test_a_goodbye_on_a_circuit_that_was_closed_changes_nothing(table: Table, ada: Puppet) -> None:
    """The client closes what the server has closed already. Spec: LIV-2, LIV-15."""
    go(ada, FAR)
    follow(ada)
    table.pass_time(OPENSIM.leave_child_s - 1.0)
    ada.circuits[0].close()
    table.settle()
    say(ada, "still there")
    assert len(ada.saw(ChatFromSimulator, 2)) == 1


def test_a_border_is_not_crossed_twice(table: Table, ada: Puppet) -> None:
    """Nor by somebody who is on the way already. Spec: LIV-7."""
    go(ada, FAR)
    (agent,) = table.core._agents.values()
    travel.cross_border(agent, (256_257.0, 256_100.0), table.now)
    assert agent.journey.goal.place.region.name == "Far"


def test_a_client_whose_way_back_is_closed_is_lost(world: World, table: Table, ada: Puppet) -> None:
    """The region it came from is down by then: the login ends. Spec: LIV-7, LIV-15."""
    go(ada, FAR)
    world.regions()[0].up = False
    table.pass_time(OPENSIM.arrival_s)
    assert not world.avatar(world.avatars()[0]).online
    assert table.core.statistics().agents == 0


def test_a_client_that_leaves_on_the_way_is_lost(world: World, table: Table, ada: Puppet) -> None:
    """It has closed the circuit it came from and never arrives. Spec: LIV-7, LIV-15."""
    go(ada, FAR)
    ada.circuits[0].close()
    table.settle()
    assert world.avatar(world.avatars()[0]).online
    table.pass_time(OPENSIM.arrival_s + 1.0)
    assert not world.avatar(world.avatars()[0]).online


def test_a_login_that_ends_on_the_way_stays_ended(world: World, table: Table, ada: Puppet) -> None:
    """Kicked while it teleports: nothing is put back. Spec: LIV-7."""
    go(ada, FAR)
    world.kick(world.avatars()[0], table.now, reason="out")
    table.pass_time(OPENSIM.arrival_s + 1.0)
    assert not world.avatar(world.avatars()[0]).online
    assert [text_of(one.user_info.reason) for one in ada.saw(KickUser)] == ["out"]


def test_a_finish_can_go_missing(world: World) -> None:
    """The fault of faults: the client is never told, and is put back. Spec: LIV-15; Fault: 9."""
    table = Table(world, faults=WireFaults(teleport_finish_missing=1.0))
    ada = table.puppet("Ada Actor")
    ada.enter()
    go(ada, FAR)
    assert ada.told("TeleportFinish") == []
    assert table.stage.counts[WireFaultKind.TELEPORT_FINISH_MISSING] == 1
    table.pass_time(OPENSIM.arrival_s)
    assert len(ada.saw(TeleportFailed)) == 1


def test_a_world_of_too_many_visits_loses_the_client(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a ceiling on circuits, and past it no way on. Spec: LIV-15."""
    table = Table(world)
    ada = table.puppet("Ada Actor")
    ada.enter()
    monkeypatch.setattr(core_module, "VISITS_MAX", 1)
    go(ada, FAR)
    assert not world.avatar(world.avatars()[0]).online


def test_a_region_without_an_address_is_never_reached(world: World, table: Table, ada: Puppet) -> None:
    """One added after the grid went on the wire: the client hears nothing of it. Spec: LIV-15."""
    world.add_region("Late", x_m=0, y_m=0)
    world.perform(world.avatars()[0], asked.TeleportTo(region="Late", position=Position(x=1.0, y=1.0)), table.now)
    table.pass_time(5.0)
    assert ada.told("TeleportFinish") == []
    assert table.core._agents


def test_second_life_announces_the_target_and_takes_a_new_socket(world: World) -> None:
    """Neighbour, seed, then the finish; the handshake comes with the circuit, once. Spec: LIV-7, LIV-15."""
    table = Table(world, profile=SECOND_LIFE)
    ada = table.puppet("Ada Actor")
    ada.enter()
    ada.forget()
    go(ada, FAR)
    assert [event.name for _, event in ada.events] == [
        "EnableSimulator",
        "EstablishAgentCommunication",
        "TeleportFinish",
    ]
    follow(ada)
    assert len(ada.saw(RegionHandshake, 2)) == 1
    go(ada, 5)
    assert [body["Info"][0]["Reason"] for body in ada.told("TeleportFailed")] == [
        "The region you tried to teleport to was not found."
    ]
    assert ada.saw(TeleportFailed) == []
    ada.forget()
    ada.open_circuit(2, address=("127.0.0.1", 51_111))
    table.pass_time(1.0)
    ada.ask_presence(2)
    table.pass_time(1.0)
    assert len(ada.saw(AgentMovementComplete, 2)) == 1
    say(ada, "from a new socket")
    assert len(ada.saw(ChatFromSimulator)) == 1


def test_opensimulator_ends_a_circuit_that_is_opened_from_a_new_socket(table: Table, ada: Puppet) -> None:
    """Recorded: both are dead, the old socket is told twice, and the teleport fails. Spec: LIV-15."""
    go(ada, ANNEX)
    follow(ada)
    go(ada, PLAZA)
    old, ada.address = ada.address, ("127.0.0.1", 51_111)
    kept = ada.circuits.pop(0)
    ada.forget()
    ada.open_circuit(0)
    ada.ask_presence(0)
    table.pass_time(2.0)
    assert ada.saw(AgentMovementComplete) == []
    assert ada.queues[0].state is QueueState.GONE
    ada.address = old
    ada.circuits[0] = kept
    table.pass_time(OPENSIM.arrival_s)
    assert len(ada.saw(TeleportFailed, 1)) == 1


# --- neighbours and crossings --------------------------------------------------------------------


def test_neighbours_are_announced_to_a_client_that_looks(table: Table, ada: Puppet) -> None:
    """Only once it has said how far, only what touches, only once. Spec: LIV-7, LIV-15."""
    look(ada, far=0.0)
    assert ada.told("EnableSimulator") == []
    look(ada)
    look(ada)
    assert [event.name for _, event in ada.events] == ["EnableSimulator", "EstablishAgentCommunication"]
    assert ada.told("EstablishAgentCommunication")[0]["sim-ip-and-port"] == "127.0.0.1:9001"


def test_a_neighbour_that_is_down_is_not_announced(world: World, table: Table, ada: Puppet) -> None:
    """There is nobody to talk to. Spec: LIV-7."""
    world.regions()[1].up = False
    look(ada)
    assert ada.told("EnableSimulator") == []


def test_a_child_is_greeted_and_sees_where_people_are(table: Table, ada: Puppet) -> None:
    """Without itself among them, and no objects. Spec: LIV-5, LIV-7, LIV-15."""
    look(ada)
    table.pass_time(1.0)
    ada.open_circuit(1)
    table.pass_time(6.0)
    assert len(ada.saw(RegionHandshake, 1)) == 1
    assert {one.index.you for one in ada.saw(CoarseLocationUpdate, 1)} == {-1}
    assert ada.saw(ObjectUpdate, 1) == []


@pytest.mark.parametrize("child", [True, False])
def test_walking_over_the_border_goes_on_beyond(
    *, child: bool, world: World, table: Table, ada: Puppet, ben: Witness
) -> None:
    """By key, into the neighbour; with a child circuit there is no second handshake. Spec: LIV-7, LIV-15."""
    world.perform(world.avatars()[0], asked.WalkTo(position=Position(x=250.0, y=100.0)), world.now)
    table.pass_time(60.0)
    look(ada)
    table.pass_time(1.0)
    seed = str(ada.told("EstablishAgentCommunication")[0]["seed-capability"])
    if child:
        ada.open_circuit(1)
        ada.ask_seed(1, seed)
        table.pass_time(1.0)
    look(ada, 0x1)
    table.pass_time(5.0)
    (crossed,) = ada.told("CrossedRegion")
    assert crossed["RegionData"][0]["SeedCapability"] == seed
    assert crossed["Info"][0]["Position"] == pytest.approx([1.5, 100.0, 22.0])
    assert world.avatar(world.avatars()[0]).body.region.name == "Annex"
    assert ben.saw(AvatarLeft)
    ada.forget()
    ada.arrive(1, seed)
    table.pass_time(1.0)
    assert len(ada.saw(AgentMovementComplete, 1)) == 1
    assert len(ada.saw(RegionHandshake, 1)) == (not child)
    assert ada.saw(ObjectUpdate, 1)
    assert root_of(ada) == 1
    look(ada, 0x1)
    table.pass_time(2.0)
    assert world.position(world.avatars()[0]).x > 6.0


def test_an_autopilot_crosses_the_border_too(world: World, table: Table, ada: Puppet) -> None:
    """On the straight way to its goal. Spec: LIV-7, LIV-15."""
    world.perform(world.avatars()[0], asked.WalkTo(position=Position(x=250.0, y=100.0)), world.now)
    table.pass_time(60.0)
    head = GenericMessage.AgentData(ada.agent_id, ada.session.session_id, bytes(16))
    goal = tuple(GenericMessage.ParamList(wire_text(one)) for one in ("256300", "256100", "22"))
    method = GenericMessage.MethodData(wire_text("autopilot"), bytes(16))
    ada.say(GenericMessage(agent_data=head, method_data=method, param_list=goal))
    table.pass_time(5.0)
    assert len(ada.told("CrossedRegion")) == 1


def test_a_border_with_nothing_beyond_stops_the_walk(world: World, table: Table, ada: Puppet) -> None:
    """Southwards lies the void. Spec: LIV-7."""
    look(ada, 0x1, rotation=(0.0, 0.0, -math.sqrt(0.5)))
    table.pass_time(60.0)
    assert world.position(world.avatars()[0]).y == pytest.approx(0.5)
    assert ada.told("CrossedRegion") == []


def test_a_region_that_lets_nobody_in_is_not_crossed_into(world: World, table: Table, ada: Puppet) -> None:
    """The walk ends at the border, and nothing is told. Spec: LIV-7."""
    world.regions()[1].capacity = 0
    look(ada, 0x1)
    table.pass_time(60.0)
    assert world.avatar(world.avatars()[0]).body.region.name == "Plaza"
    assert ada.told("CrossedRegion") == []
    (agent,) = table.core._agents.values()
    assert agent.journey is None


def test_a_crossing_past_the_ceiling_of_circuits_ends_the_login(
    world: World, table: Table, ada: Puppet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no circuit to go on with. Spec: LIV-15."""
    monkeypatch.setattr(core_module, "VISITS_MAX", 1)
    look(ada, 0x1)
    table.pass_time(60.0)
    assert not world.avatar(world.avatars()[0]).online


def test_a_client_that_does_not_follow_a_crossing_is_put_back(world: World, table: Table, ada: Puppet) -> None:
    """To the border it came from, without a word of teleports. Spec: LIV-7; Fault: 9."""
    look(ada, 0x1)
    table.pass_time(60.0 + OPENSIM.arrival_s)
    assert world.avatar(world.avatars()[0]).body.region.name == "Plaza"
    assert world.position(world.avatars()[0]).x == pytest.approx(255.5)
    assert ada.saw(TeleportFailed) == []


def test_a_key_released_before_the_border_means_no_crossing(world: World, table: Table, ada: Puppet) -> None:
    """The walk ends where it is. Spec: LIV-7."""
    look(ada, 0x1)
    table.pass_time(10.0)
    look(ada)
    table.pass_time(60.0)
    assert world.position(world.avatars()[0]).x == pytest.approx(132.0)


def test_a_client_that_vanishes_is_given_up(world: World, table: Table, ada: Puppet) -> None:
    """After a minute of silence its avatar leaves the world. Spec: LIV-2, LIV-15; Fault: 7."""
    ada.vanish()
    table.pass_time(70.0)
    assert not world.avatar(world.avatars()[0]).online
    assert world.sessions.recent()[-1].ended_by == DisconnectCause.CIRCUIT_LOST.value
