"""What wants an answer, said to a client: offers, dialogs of scripts, their questions and pages.

Owns the ids under which an answer finds its offer again. `live_grid.simulator.hearing` calls these by its table
(Spec: LIV-6, LIV-15).
"""

from __future__ import annotations

from gridagent import events as told
from gridagent.events import SpeakerKind
from gridagent.ids import AvatarId
from live_grid.messages import NIL
from live_grid.messages.speech import LoadURL, ScriptDialog, ScriptQuestion
from live_grid.simulator import dialogs, holdings
from live_grid.simulator.agent import Agent
from live_grid.simulator.ids import conversation_id, wire_id
from live_grid.simulator.instant import im
from live_grid.simulator.wording import short_text

__all__ = (
    "dialog_opened",
    "friendship_offered",
    "inventory_offered",
    "permission_asked",
    "teleport_asked",
    "teleport_offered",
    "url_shown",
)


def friendship_offered(agent: Agent, event: told.FriendshipOffered) -> None:
    """Say that somebody wants to be a friend."""
    agent.say(im(agent, event.source, dialogs.FRIENDSHIP_OFFERED, event.message, id=wire_id(event.offer_id)))


def teleport_offered(agent: Agent, event: told.TeleportOffered) -> None:
    """Say that somebody invites, and where to."""
    sender = agent.stage.world.avatar(AvatarId(event.source.id))
    bucket = b""
    if sender.body is not None:
        here = sender.body.position_at(agent.stage.world.now)
        x_m, y_m = sender.body.region.x_m, sender.body.region.y_m
        bucket = short_text(f"{x_m}|{y_m}|{here.x:.0f}|{here.y:.0f}|{here.z:.0f}|1|0|0|PG")
    agent.say(im(agent, event.source, dialogs.LURE, event.message, id=wire_id(event.offer_id), bucket=bucket))


def teleport_asked(agent: Agent, event: told.TeleportAsked) -> None:
    """Say that somebody would like to be invited."""
    conversation = conversation_id(wire_id(event.source.id), agent.agent_id)
    agent.say(im(agent, event.source, dialogs.TELEPORT_REQUEST, event.message, id=conversation))


def inventory_offered(agent: Agent, event: told.InventoryOffered) -> None:
    """Say that somebody or something gives an item."""
    offer = wire_id(event.offer_id)
    number = holdings.ASSET_TYPES.get(event.kind, holdings.ASSET_TYPES["object"])
    if event.source.kind is SpeakerKind.OBJECT:
        message = im(agent, event.source, dialogs.TASK_GIFT, event.name, id=offer, bucket=bytes((number,)))
    else:
        message = im(agent, event.source, dialogs.GIFT, event.name, id=offer, bucket=bytes((number,)) + offer)
    agent.say(message)


def dialog_opened(agent: Agent, event: told.DialogOpened) -> None:
    """Show the question of a script with its buttons."""
    object_id, channel = wire_id(event.object_id), dialogs.channel_of(event.offer_id)
    agent.dialogs.put((object_id, channel), event.offer_id)
    owner = agent.stage.world.avatar(event.owner_id)
    first, _, last = owner.name.partition(" ")
    agent.say(
        ScriptDialog(
            data=ScriptDialog.Data(
                object_id=object_id,
                first_name=short_text(first),
                last_name=short_text(last),
                object_name=short_text(event.object_name),
                message=dialogs.dialog_text(event.text),
                chat_channel=channel,
                image_id=NIL,
            ),
            buttons=tuple(ScriptDialog.Buttons(dialogs.button_text(label)) for label in event.buttons),
            owner_data=(ScriptDialog.OwnerData(wire_id(event.owner_id)),),
        )
    )


def permission_asked(agent: Agent, event: told.PermissionAsked) -> None:
    """Show what a script would like to be allowed."""
    item = wire_id(event.offer_id)
    agent.permissions.put(item, (event.offer_id, event.permissions))
    owner = agent.stage.world.avatar(event.owner_id)
    agent.say(
        ScriptQuestion(
            data=ScriptQuestion.Data(
                task_id=wire_id(event.object_id),
                item_id=item,
                object_name=short_text(event.object_name),
                object_owner=short_text(owner.name),
                questions=dialogs.bits_of(event.permissions),
            ),
            experience=ScriptQuestion.Experience(NIL),
        )
    )


def url_shown(agent: Agent, event: told.UrlShown) -> None:
    """Show a page that an object names."""
    thing = agent.avatar.body.region.objects.get(event.object_id) if agent.avatar.body is not None else None
    agent.say(
        LoadURL(
            data=LoadURL.Data(
                object_name=short_text(event.object_name),
                object_id=wire_id(event.object_id),
                owner_id=NIL if thing is None else wire_id(thing.owner_id),
                owner_is_group=False,
                message=short_text("Have a look at this page."),
                url=short_text(event.url),
            )
        )
    )
