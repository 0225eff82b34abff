"""What the world tells an avatar, said to its client."""

from __future__ import annotations

import struct

import pytest

from gridagent import actions as asked
from gridagent.actions import Position, Volume
from gridagent.events import (
    EVENTS,
    AvatarLeft,
    ChatHeard,
    DisconnectCause,
    Speaker,
    SpeakerKind,
    TeleportFailed,
)
from gridagent.grid.simulated import World
from gridagent.grid.simulated.characters import ObjectIm, ObjectSay
from gridagent.grid.simulated.scripts import act
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import ObjectId
from live_grid.llsd import read_llsd_untrusted
from live_grid.messages import text_of
from live_grid.messages.circuits import KickUser
from live_grid.messages.objects import ImprovedTerseObjectUpdate, KillObject, ObjectUpdate
from live_grid.messages.people import OnlineNotification
from live_grid.messages.speech import (
    AgentAlertMessage,
    AlertMessage,
    ChatFromSimulator,
    ImprovedInstantMessage,
)
from live_grid.simulator import hearing
from live_grid.simulator.ids import conversation_id, wire_id
from live_grid.simulator.profiles import SECOND_LIFE
from live_grid.simulator.puppet import Puppet, Table

ADA = "00000000-0000-4000-8000-000000000001"
BELL = ObjectId("00000000-0000-4000-8000-0000000000b1")


def test_every_event_is_said_or_named_as_meaning_nothing() -> None:
    """No event of the catalogue is forgotten. Spec: LIV-15."""
    assert set(hearing._TABLE) | hearing.UNSPOKEN == set(EVENTS)
    assert not set(hearing._TABLE) & hearing.UNSPOKEN


def test_somebody_who_comes_walks_and_goes_is_seen(table: Table, world: World, ada: Puppet) -> None:
    """In full once, then tersely, then gone. Spec: LIV-5, LIV-15."""
    ben = Witness(world, world.avatars()[1])
    table.settle()
    (full,) = [block for one in ada.saw(ObjectUpdate) for block in one.object_data]
    assert full.full_id == wire_id(ben.avatar_id)
    world.perform(ben.avatar_id, asked.WalkTo(position=Position(x=132.0, y=100.0)), world.now)
    table.pass_time(11.0)
    moved = [block.data for one in ada.saw(ImprovedTerseObjectUpdate) for block in one.object_data]
    assert struct.unpack_from("<I", moved[-1]) == (full.id,)
    assert struct.unpack_from("<f", moved[-1], 22)[0] == pytest.approx(132.0)
    assert len(moved) > 4
    ben.leave()
    table.settle()
    assert [block.id for one in ada.saw(KillObject) for block in one.object_data] == [full.id]


def test_words_of_people_and_things_say_whose_they_are(world: World, table: Table, ada: Puppet, ben: Witness) -> None:
    """Source, owner, kind and place. Spec: LIV-6; Fault: 15."""
    bell = world.regions()[0].objects[BELL]
    act(world._state, bell, ObjectSay(text="Ding!", volume=Volume.SHOUT))
    ben.do(asked.Say(text="It rings."))
    table.settle()
    thing, person = (one.chat_data for one in ada.saw(ChatFromSimulator))
    assert (text_of(thing.message), thing.source_type, thing.chat_type) == ("Ding!", 2, 2)
    assert (thing.source_id, thing.owner_id, thing.position) == (
        wire_id(BELL),
        wire_id(ben.avatar_id),
        (102.0, 100.0, 22.0),
    )
    assert (text_of(person.message), person.source_type, person.source_id) == ("It rings.", 1, wire_id(ben.avatar_id))


def test_typing_travels_as_chat(table: Table, ada: Puppet, ben: Witness) -> None:
    """Kinds 4 and 5, without words. Spec: LIV-6."""
    ben.do(asked.SetTyping(typing=True))
    ben.do(asked.SetTyping(typing=False))
    table.settle()
    assert [one.chat_data.chat_type for one in ada.saw(ChatFromSimulator)] == [4, 5]


def test_messages_name_the_conversation_or_the_object(world: World, table: Table, ada: Puppet, ben: Witness) -> None:
    """From people by both ids, from things by the thing, under its owner. Spec: LIV-6."""
    ben.do(asked.SendIm(to=ADA, text="psst"))
    act(world._state, world.regions()[0].objects[BELL], ObjectIm(to=ADA, text="ding"))
    table.settle()
    person, thing = ada.saw(ImprovedInstantMessage)
    assert (person.message_block.dialog, person.message_block.id) == (
        0,
        conversation_id(wire_id(ben.avatar_id), ada.agent_id),
    )
    assert (thing.message_block.dialog, thing.message_block.id) == (19, wire_id(BELL))
    assert thing.agent_data.agent_id == wire_id(ben.avatar_id)
    assert text_of(thing.message_block.from_agent_name) == "Bell"


def test_groups_alerts_and_invitations_arrive(world: World, table: Table, ada: Puppet, ben: Witness) -> None:
    """Each in its own form. Spec: LIV-6."""
    world.group_im(ADA, "Friends of the Plaza", table.now)
    world.alert(ADA, "Mind the gap.", table.now, modal=True)
    ben.do(asked.RequestTeleport(to=ADA, message="may I?"))
    table.settle()
    group, request = ada.saw(ImprovedInstantMessage)
    assert (group.message_block.dialog, group.message_block.from_group) == (17, True)
    assert text_of(group.message_block.binary_bucket) == "Friends of the Plaza"
    assert (request.message_block.dialog, text_of(request.message_block.message)) == (26, "may I?")
    (alert,) = ada.saw(AgentAlertMessage)
    assert (text_of(alert.alert_data.message), alert.alert_data.modal) == ("Mind the gap.", True)


def test_a_restart_is_announced_in_the_familys_way(world: World) -> None:
    """In words alone, or with a key that programs read; then everybody is thrown out. Spec: LIV-6, LIV-15; Fault: 8."""
    for profile in (None, SECOND_LIFE):
        table = Table(world) if profile is None else Table(world, profile=profile)
        ada = table.puppet("Ada Actor")
        ada.enter()
        world.restart_region("Plaza", table.now, notice_s=60.0, down_s=5.0)
        table.pass_time(1.0)
        (alert,) = ada.saw(AlertMessage)
        assert text_of(alert.alert_data.message) == "Region Plaza will restart in 60 seconds."
        keys = [(text_of(one.message), read_llsd_untrusted(one.extra_params)) for one in alert.alert_info]
        assert keys == ([] if profile is None else [("RegionRestartSeconds", {"NAME": "Plaza", "SECONDS": 60})])
        table.pass_time(60.0)
        assert [text_of(one.user_info.reason) for one in ada.saw(KickUser)] == ["The simulator is going down."]
        assert not world.avatar(world.avatars()[0]).online
        table.pass_time(10.0)


def test_friends_who_are_here_are_named_at_the_beginning(world: World, table: Table, ben: Witness) -> None:
    """Whoever is online, and nobody's new friendship. Spec: LIV-6."""
    world.befriend(world.avatars()[0], ben.avatar_id)
    ada = table.puppet("Ada Actor")
    ada.enter()
    assert [one.agent_block[0].agent_id for one in ada.saw(OnlineNotification)] == [wire_id(ben.avatar_id)]
    assert ada.saw(ImprovedInstantMessage) == []


def test_somebody_who_is_ejected_goes_on_elsewhere(world: World, table: Table, enter) -> None:
    """An alert, and the way of a teleport nobody asked for. Spec: LIV-7, LIV-15."""
    cleo = enter(table, "Cleo Collector")
    ada = Witness(world, world.avatars()[0])
    ada.do(asked.EjectAvatar(avatar_id=world.avatars()[2]))
    table.settle()
    assert "ejected" in text_of(cleo.saw(AgentAlertMessage)[0].alert_data.message)
    assert len(cleo.told("TeleportFinish")) == 1


def test_words_from_nowhere_come_from_nowhere(table: Table, ada: Puppet) -> None:
    """A source that is not in the region has no place; what goes before the scene is not missed. Spec: LIV-6."""
    (agent,) = table.core._agents.values()
    stranger = Speaker(kind=SpeakerKind.AVATAR, id="00000000-0000-4000-8000-00000000dead", name="Echo")
    hearing.hear(agent, ChatHeard(utterance_id="u", source=stranger, text="hello"))
    agent.root.scene_shown = False
    hearing.hear(agent, AvatarLeft(avatar_id="00000000-0000-4000-8000-00000000dead"))
    agent.root.scene_shown = True
    table.settle()
    assert [one.chat_data.position for one in ada.saw(ChatFromSimulator)] == [(0.0, 0.0, 0.0)]


def test_a_failure_without_a_root_goes_nowhere(world: World) -> None:
    """By the queue of no region. Spec: LIV-15."""
    table = Table(world, profile=SECOND_LIFE)
    ada = table.puppet("Ada Actor")
    ada.enter()
    (agent,) = table.core._agents.values()
    agent.root = None
    hearing.hear(agent, TeleportFailed(reason="region_down"))
    table.settle()
    assert ada.told("TeleportFailed") == []


def test_a_client_that_is_gone_hears_nothing(world: World, table: Table, ada: Puppet) -> None:
    """Words to a login without a root go nowhere, and harm nothing. Spec: LIV-15."""
    (agent,) = table.core._agents.values()
    agent.root = None
    agent.avatar.body.seat = None
    act(world._state, world.regions()[0].objects[BELL], ObjectSay(text="Ding!"))
    table.settle()
    assert ada.saw(ChatFromSimulator) == []
    assert agent.ended is not DisconnectCause.KICKED
