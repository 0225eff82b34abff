"""What a client says: chat, instant messages with all their dialogs, answers to scripts.

Owns the handlers of the family and the table dialog → handler. Words are cut to what the world takes; what names an
offer that is not open is refused by the world, as it must be (Spec: LIV-6, LIV-15).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from gridagent.actions import (
    AnswerDialog,
    AnswerInventoryOffer,
    AnswerPermission,
    AnswerTeleportOffer,
    GiveItem,
    OfferFriendship,
    RequestTeleport,
    Say,
    SendIm,
    SetTyping,
    Volume,
)
from gridagent.ids import AvatarId, ItemId, OfferId
from gridagent.limits import clip
from live_grid.messages import text_of
from live_grid.messages.speech import (
    ChatFromViewer,
    ImprovedInstantMessage,
    RetrieveInstantMessages,
    ScriptAnswerYes,
    ScriptDialogReply,
)
from live_grid.simulator import dialogs
from live_grid.simulator.agent import Agent
from live_grid.simulator.ids import text_id
from live_grid.simulator.visit import Visit
from live_grid.simulator.wording import chat_from_wire, label_from_wire

__all__ = (
    "chat_from_viewer",
    "instant_message",
    "retrieve_instant_messages",
    "script_answer",
    "script_dialog_reply",
)

_VOLUMES: Final = MappingProxyType({0: Volume.WHISPER, 1: Volume.SAY, 2: Volume.SHOUT})
_TYPING: Final = MappingProxyType({4: True, 5: False})
_NOTE_MAX_CHARACTERS: Final = 256
_ITEM_BUCKET_BYTES: Final = 17


def chat_from_viewer(agent: Agent, visit: Visit, message: ChatFromViewer, now: float) -> None:
    """Speak, or show that somebody types."""
    del visit
    data = message.chat_data
    typing = _TYPING.get(data.type)
    if typing is not None:
        agent.do("typing", SetTyping(typing=typing), now)
        return
    text, volume = chat_from_wire(data.message), _VOLUMES.get(data.type)
    if text and volume is not None:
        agent.do("say", Say(text=text, volume=volume, chat_channel=data.channel), now)


def script_dialog_reply(agent: Agent, visit: Visit, message: ScriptDialogReply, now: float) -> None:
    """Press a button of an open dialog."""
    del visit
    data = message.data
    offer_id = agent.dialogs.get((data.object_id, data.chat_channel))
    if offer_id is not None:
        button = label_from_wire(data.button_label)
        agent.do("dialog", AnswerDialog(offer_id=offer_id, button=button), now)


def script_answer(agent: Agent, visit: Visit, message: ScriptAnswerYes, now: float) -> None:
    """Grant permissions, or none."""
    del visit
    asked = agent.permissions.take(message.data.item_id)
    if asked is None:
        return
    offer_id, permissions = asked
    grant = dialogs.permissions_of(message.data.questions, permissions)
    agent.do("permission", AnswerPermission(offer_id=offer_id, grant=grant), now)


def retrieve_instant_messages(agent: Agent, visit: Visit, message: RetrieveInstantMessages, now: float) -> None:
    """Hand over what was said while the avatar was away, where a family does so over UDP."""
    del visit, message, now
    if not agent.stage.profile.stored_ims_over_udp:
        return
    stored, agent.stored_ims = agent.stored_ims, []
    for one in stored:
        agent.say(one)


# --- instant messages ----------------------------------------------------------------------------

_Block = ImprovedInstantMessage.MessageBlock
Handler = Callable[[Agent, _Block, AvatarId, float], None]


def _note(block: _Block) -> str:
    return clip(text_of(block.message), _NOTE_MAX_CHARACTERS)


def _words(agent: Agent, block: _Block, to: AvatarId, now: float) -> None:
    text = chat_from_wire(block.message)
    if text:
        agent.do("im", SendIm(to=to, text=text), now)


def _gift(agent: Agent, block: _Block, to: AvatarId, now: float) -> None:
    if len(block.binary_bucket) < _ITEM_BUCKET_BYTES:
        return
    item_id = ItemId(text_id(block.binary_bucket[1:_ITEM_BUCKET_BYTES]))
    agent.gifts.put((item_id, to), block.id)
    agent.do("give", GiveItem(item_id=item_id, to=to), now)


def _gift_answer(*, accept: bool) -> Handler:
    def answer(agent: Agent, block: _Block, to: AvatarId, now: float) -> None:
        del to
        agent.do("gift", AnswerInventoryOffer(offer_id=OfferId(text_id(block.id)), accept=accept), now)

    return answer


def _lure_declined(agent: Agent, block: _Block, to: AvatarId, now: float) -> None:
    del to
    agent.do("decline", AnswerTeleportOffer(offer_id=OfferId(text_id(block.id)), accept=False), now)


def _teleport_request(agent: Agent, block: _Block, to: AvatarId, now: float) -> None:
    agent.do("request", RequestTeleport(to=to, message=_note(block)), now)


def _friendship(agent: Agent, block: _Block, to: AvatarId, now: float) -> None:
    agent.do("friend", OfferFriendship(to=to, message=_note(block)), now)


_DIALOGS: Final[Mapping[int, Handler]] = MappingProxyType(
    {
        dialogs.MESSAGE: _words,
        dialogs.GIFT: _gift,
        dialogs.GIFT_ACCEPTED: _gift_answer(accept=True),
        dialogs.GIFT_DECLINED: _gift_answer(accept=False),
        dialogs.TASK_GIFT_ACCEPTED: _gift_answer(accept=True),
        dialogs.TASK_GIFT_DECLINED: _gift_answer(accept=False),
        dialogs.LURE_DECLINED: _lure_declined,
        dialogs.TELEPORT_REQUEST: _teleport_request,
        dialogs.FRIENDSHIP_OFFERED: _friendship,
    }
)
"""What each dialog number asks for; the others (typing, groups, sessions) ask for nothing here."""


def instant_message(agent: Agent, visit: Visit, message: ImprovedInstantMessage, now: float) -> None:
    """Do what an instant message asks for."""
    del visit
    block = message.message_block
    handle = _DIALOGS.get(block.dialog)
    if handle is not None and not block.from_group:
        handle(agent, block, AvatarId(text_id(block.to_agent_id)), now)
