"""What a client asks of people: names, profiles, friendships, invitations.

Owns the handlers of the family (Spec: LIV-6, LIV-15).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import AnswerFriendship, AnswerTeleportOffer, EndFriendship, OfferTeleport
from gridagent.ids import AvatarId, OfferId
from gridagent.limits import clip
from live_grid.login.request import split_name
from live_grid.messages import NIL, text_of
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
    TerminateFriendship,
    UUIDNameReply,
    UUIDNameRequest,
)
from live_grid.messages.travel import StartLure, TeleportLureRequest
from live_grid.simulator import travel
from live_grid.simulator.agent import Agent
from live_grid.simulator.ids import derived_id, text_id, wire_id
from live_grid.simulator.visit import Visit
from live_grid.simulator.wording import long_text, name_from_wire, short_text

__all__ = (
    "accept_friendship",
    "agent_data",
    "agent_wearables",
    "decline_friendship",
    "names",
    "picker",
    "properties",
    "start_lure",
    "teleport_lure",
    "terminate_friendship",
)

_NAMES_PER_REPLY: Final = 16
_NAMES_MAX: Final = 255
_FOUND_MAX: Final = 10
_LURES_MAX: Final = 16
_NOTE_MAX_CHARACTERS: Final = 256
_WEARABLES: Final = 6


def agent_data(agent: Agent, visit: Visit, message: AgentDataUpdateRequest, now: float) -> None:
    """Tell a client its avatar's own names."""
    del message, now
    first, last = split_name(agent.avatar.name)
    visit.say(
        AgentDataUpdate(
            agent_data=AgentDataUpdate.AgentData(
                agent_id=agent.agent_id,
                first_name=short_text(first),
                last_name=short_text(last),
                group_title=short_text(""),
                active_group_id=NIL,
                group_powers=0,
                group_name=short_text(""),
            )
        )
    )


def agent_wearables(agent: Agent, visit: Visit, message: AgentWearablesRequest, now: float) -> None:
    """Tell a client what its avatar wears: the same six things as everybody."""
    del message, now
    worn = tuple(
        AgentWearablesUpdate.WearableData(
            derived_id("wearable", agent.avatar_id, str(number)), derived_id("wearable", str(number)), number
        )
        for number in range(_WEARABLES)
    )
    head = AgentWearablesUpdate.AgentData(agent.agent_id, agent.session_id, 0)
    visit.say(AgentWearablesUpdate(agent_data=head, wearable_data=worn))


def names(agent: Agent, visit: Visit, message: UUIDNameRequest, now: float) -> None:
    """Tell the names of avatars; ids that nobody has are left out."""
    del now
    world = agent.stage.world
    known = frozenset(world.avatars())
    found = []
    for block in message.uuid_name_block[:_NAMES_MAX]:
        avatar_id = AvatarId(text_id(block.id))
        if avatar_id in known:
            first, last = split_name(world.avatar(avatar_id).name)
            found.append(UUIDNameReply.UUIDNameBlock(block.id, short_text(first), short_text(last)))
    for start in range(0, len(found), _NAMES_PER_REPLY):
        visit.say(UUIDNameReply(uuid_name_block=tuple(found[start : start + _NAMES_PER_REPLY])))


def picker(agent: Agent, visit: Visit, message: AvatarPickerRequest, now: float) -> None:
    """Find avatars whose name holds the words asked for."""
    del now
    world, wanted = agent.stage.world, name_from_wire(message.data.name).casefold()
    data: list[AvatarPickerReply.Data] = []
    for avatar_id in world.avatars():
        name = world.avatar(avatar_id).name
        if wanted and wanted in name.casefold() and len(data) < _FOUND_MAX:
            first, last = split_name(name)
            data.append(AvatarPickerReply.Data(wire_id(avatar_id), short_text(first), short_text(last)))
    head = AvatarPickerReply.AgentData(agent.agent_id, message.agent_data.query_id)
    visit.say(AvatarPickerReply(agent_data=head, data=tuple(data)))


def properties(agent: Agent, visit: Visit, message: AvatarPropertiesRequest, now: float) -> None:
    """Show the profile of an avatar that exists."""
    del now
    world, wanted = agent.stage.world, AvatarId(text_id(message.agent_data.avatar_id))
    if wanted not in world.avatars():
        return
    about = "A registered bot." if world.avatar(wanted).scripted_agent else "A resident of the simulated grid."
    visit.say(
        AvatarPropertiesReply(
            agent_data=AvatarPropertiesReply.AgentData(agent.agent_id, message.agent_data.avatar_id),
            properties_data=AvatarPropertiesReply.PropertiesData(
                image_id=NIL,
                fl_image_id=NIL,
                partner_id=NIL,
                about_text=long_text(about),
                fl_about_text=short_text(""),
                born_on=short_text("1/1/2026"),
                profile_url=short_text(""),
                charter_member=b"\0",
                flags=0x10,
            ),
        )
    )


def accept_friendship(agent: Agent, visit: Visit, message: AcceptFriendship, now: float) -> None:
    """Accept an offer of friendship."""
    del visit
    agent.answers_friendship = True
    offer_id = OfferId(text_id(message.transaction_block.transaction_id))
    agent.do("friend", AnswerFriendship(offer_id=offer_id, accept=True), now)
    agent.answers_friendship = False


def decline_friendship(agent: Agent, visit: Visit, message: DeclineFriendship, now: float) -> None:
    """Decline an offer of friendship."""
    del visit
    offer_id = OfferId(text_id(message.transaction_block.transaction_id))
    agent.do("friend", AnswerFriendship(offer_id=offer_id, accept=False), now)


def terminate_friendship(agent: Agent, visit: Visit, message: TerminateFriendship, now: float) -> None:
    """End a friendship."""
    del visit
    agent.do("unfriend", EndFriendship(avatar_id=AvatarId(text_id(message.ex_block.other_id))), now)


def start_lure(agent: Agent, visit: Visit, message: StartLure, now: float) -> None:
    """Invite people to where the avatar is."""
    del visit
    note = clip(text_of(message.info.message), _NOTE_MAX_CHARACTERS)
    for block in message.target_data[:_LURES_MAX]:
        agent.do("lure", OfferTeleport(to=AvatarId(text_id(block.target_id)), message=note), now)


def teleport_lure(agent: Agent, visit: Visit, message: TeleportLureRequest, now: float) -> None:
    """Take up an invitation."""
    del visit
    travel.start_teleport(agent, travel.VIA_LURE)
    agent.do("teleport", AnswerTeleportOffer(offer_id=OfferId(text_id(message.info.lure_id)), accept=True), now)
