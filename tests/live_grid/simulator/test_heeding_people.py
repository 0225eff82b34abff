"""What a client asks of people."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.events import FriendChanged, OfferClosed, TeleportOffered
from gridagent.grid.simulated import World
from gridagent.grid.simulated.witness import Witness
from live_grid.messages import NIL, text_of, wire_text
from live_grid.messages.avatars import (
    AgentDataUpdate,
    AgentDataUpdateRequest,
    AgentWearablesRequest,
    AgentWearablesUpdate,
)
from live_grid.messages.people import (
    AcceptFriendship,
    AvatarPickerReply,
    AvatarPickerRequest,
    AvatarPropertiesReply,
    AvatarPropertiesRequest,
    DeclineFriendship,
    OfflineNotification,
    OnlineNotification,
    TerminateFriendship,
    UUIDNameReply,
    UUIDNameRequest,
)
from live_grid.messages.speech import ImprovedInstantMessage
from live_grid.messages.travel import StartLure, TeleportFailed, TeleportLocal, TeleportLureRequest, TeleportStart
from live_grid.simulator.ids import derived_id, wire_id
from live_grid.simulator.puppet import Puppet, Table

ADA = "00000000-0000-4000-8000-000000000001"


def test_a_client_learns_its_own_names_and_what_it_wears(ada: Puppet) -> None:
    """On request, each. Spec: LIV-6, LIV-10."""
    ada.say(AgentDataUpdateRequest(agent_data=ada.session))
    ada.say(AgentWearablesRequest(agent_data=ada.session))
    (names,), (worn,) = ada.saw(AgentDataUpdate), ada.saw(AgentWearablesUpdate)
    assert (text_of(names.agent_data.first_name), text_of(names.agent_data.last_name)) == ("Ada", "Actor")
    assert [one.wearable_type for one in worn.wearable_data] == list(range(6))


def test_names_are_told_in_packets_and_unknown_ids_left_out(world: World, ada: Puppet) -> None:
    """Sixteen a packet; who has one name is a Resident. Spec: LIV-6."""
    ids = [wire_id(one) for one in world.avatars()] * 4 + [derived_id("nobody")]
    ada.say(UUIDNameRequest(uuid_name_block=tuple(map(UUIDNameRequest.UUIDNameBlock, ids))))
    replies = ada.saw(UUIDNameReply)
    assert [len(reply.uuid_name_block) for reply in replies] == [16, 4]
    names = [(text_of(one.first_name), text_of(one.last_name)) for one in replies[0].uuid_name_block]
    assert names[0] == ("Ada", "Actor")
    assert names[4] == ("Eve", "Resident")


def test_people_are_found_by_a_part_of_their_name(ada: Puppet) -> None:
    """Without regard to case; nothing finds nobody. Spec: LIV-6."""
    for wanted in ("DIST", ""):
        head = AvatarPickerRequest.AgentData(ada.agent_id, ada.session.session_id, b"q" * 16)
        ada.say(AvatarPickerRequest(agent_data=head, data=AvatarPickerRequest.Data(wire_text(wanted))))
    found, nothing = ada.saw(AvatarPickerReply)
    assert [text_of(one.first_name) for one in found.data] == ["Dan"]
    assert (found.agent_data.query_id, nothing.data) == (b"q" * 16, ())


def test_a_profile_is_shown_of_those_who_exist(world: World, ada: Puppet) -> None:
    """With the mark of a registered bot. Spec: LIV-6, PRS-5."""
    world.avatar(world.avatars()[1]).scripted_agent = True
    for wanted in (*map(wire_id, world.avatars()[:2]), derived_id("nobody")):
        data = AvatarPropertiesRequest.AgentData(ada.agent_id, ada.session.session_id, wanted)
        ada.say(AvatarPropertiesRequest(agent_data=data))
    abouts = [text_of(one.properties_data.about_text) for one in ada.saw(AvatarPropertiesReply)]
    assert abouts == ["A resident of the simulated grid.", "A registered bot."]


def test_a_friendship_is_accepted(world: World, ada: Puppet, ben: Witness) -> None:
    """Both are friends, both are told; the acceptor hears no acceptance of its own. Spec: LIV-6, LIV-15."""
    ben.do(asked.OfferFriendship(to=world.avatars()[0], message="friends?"))
    ada._table.settle()
    (offer,) = ada.saw(ImprovedInstantMessage)
    assert (offer.message_block.dialog, text_of(offer.message_block.message)) == (38, "friends?")
    ada.forget()
    ada.say(
        AcceptFriendship(
            agent_data=ada.session, transaction_block=AcceptFriendship.TransactionBlock(offer.message_block.id)
        )
    )
    assert ben.saw(FriendChanged)[-1].friend
    assert len(ada.saw(OnlineNotification)) == 1
    assert ada.saw(ImprovedInstantMessage) == []


def test_an_accepted_offer_is_told_to_whoever_made_it(world: World, table: Table, ada: Puppet, ben: Witness) -> None:
    """In the new friend's name; comings and goings follow. Spec: LIV-6, LIV-15."""
    world.perform(world.avatars()[0], asked.OfferFriendship(to=ben.avatar_id), world.now)
    offer = world._state.offers.open_to(ben.avatar_id)[0]
    ben.do(asked.AnswerFriendship(offer_id=offer.offer_id, accept=True))
    table.settle()
    (told,) = ada.saw(ImprovedInstantMessage)
    assert (told.message_block.dialog, told.agent_data.agent_id) == (39, wire_id(ben.avatar_id))
    ben.leave()
    table.settle()
    assert [one.agent_block[0].agent_id for one in ada.saw(OfflineNotification)] == [wire_id(ben.avatar_id)]


def test_a_friendship_is_declined_or_ended(world: World, ada: Puppet, ben: Witness) -> None:
    """A declined offer is closed; an ended friendship is told to both. Spec: LIV-6, LIV-15."""
    ben.do(asked.OfferFriendship(to=world.avatars()[0]))
    ada._table.settle()
    transaction = ada.saw(ImprovedInstantMessage)[0].message_block.id
    ada.say(
        DeclineFriendship(agent_data=ada.session, transaction_block=DeclineFriendship.TransactionBlock(transaction))
    )
    assert world._state.offers.open_to(world.avatars()[0]) == ()
    world.befriend(world.avatars()[0], ben.avatar_id)
    other = TerminateFriendship.ExBlock(wire_id(ben.avatar_id))
    ada.say(TerminateFriendship(agent_data=ada.session, ex_block=other))
    assert not ben.saw(FriendChanged)[-1].friend
    assert [one.ex_block.other_id for one in ada.saw(TerminateFriendship)] == [wire_id(ben.avatar_id)]


def test_an_invitation_is_sent_and_taken_up(world: World, table: Table, ada: Puppet, ben: Witness) -> None:
    """By lure, both ways: Ben is invited; Ada goes where Ben stands. Spec: LIV-6, LIV-7, LIV-15."""
    lure = StartLure.Info(0, wire_text("come"))
    target = StartLure.TargetData(wire_id(ben.avatar_id))
    ada.say(StartLure(agent_data=ada.session, info=lure, target_data=(target,)))
    assert [event.message for event in ben.saw(TeleportOffered)] == ["come"]
    world.perform(ben.avatar_id, asked.OfferTeleport(to=world.avatars()[0], message="here"), world.now)
    table.settle()
    offer = ada.saw(ImprovedInstantMessage)[-1].message_block
    assert (offer.dialog, text_of(offer.message)) == (22, "here")
    info = TeleportLureRequest.Info(ada.agent_id, ada.session.session_id, offer.id, 4)
    ada.say(TeleportLureRequest(info=info))
    table.pass_time(6.0)
    assert [one.info.teleport_flags for one in ada.saw(TeleportStart)] == [4]
    assert len(ada.saw(TeleportLocal)) == 1
    assert ben.saw(OfferClosed) == []


def test_a_lure_that_is_none_fails_in_words(ada: Puppet) -> None:
    """The teleport that began is told to have failed. Spec: LIV-7, LIV-15."""
    info = TeleportLureRequest.Info(ada.agent_id, ada.session.session_id, NIL, 4)
    ada.say(TeleportLureRequest(info=info))
    assert [text_of(one.info.reason) for one in ada.saw(TeleportFailed)] == ["Teleport failed: unknown offer."]
