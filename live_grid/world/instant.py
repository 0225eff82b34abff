"""What instant messages do to our world: words, and the many dialogs that travel as one.

Owns the table dialog number → reader. A number without a row is counted as unknown and dropped. Who sends is the
agent id of the message, which the simulator fills in; for objects it is their owner, and the object stands elsewhere.
Everything that waits for an answer becomes an offer under an id of ours (Spec: LIV-6; Fault: 15, 16).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from live_grid.messages import NIL
from live_grid.messages.speech import ImprovedInstantMessage
from live_grid.world.bounds import LONG_MAX_CHARACTERS, URL_MAX_CHARACTERS
from live_grid.world.events import (
    AlertShown,
    FriendshipAnswered,
    GiftAnswered,
    GroupImSeen,
    ImReceived,
    LureAnswered,
    SourceKind,
    TeleportAsked,
    TypingShown,
    UrlShown,
    WorldEvent,
)
from live_grid.world.offers import Friendship, Gift, Lure, OfferKind
from live_grid.world.people import change_friend
from live_grid.world.speech import keep_offer
from live_grid.world.state import Region, World
from live_grid.world.text import clean_name, clean_text

__all__ = ("DIALOGS", "reduce_instant_message")

Events = tuple[WorldEvent, ...]
Reader = Callable[[World, ImprovedInstantMessage], Events]

_UUID_BYTES: Final = 16


def _source(world: World, message: ImprovedInstantMessage) -> SourceKind:
    """Tell who sends: a person, or the grid itself, which has no id."""
    sender = message.agent_data.agent_id
    if sender == NIL:
        return SourceKind.SYSTEM
    return SourceKind.SELF if sender == world.agent_id else SourceKind.AVATAR


def _name(message: ImprovedInstantMessage) -> str:
    return clean_name(message.message_block.from_agent_name)


def _note(message: ImprovedInstantMessage) -> str:
    return clean_text(message.message_block.message, LONG_MAX_CHARACTERS)


def _words(message: ImprovedInstantMessage, kind: SourceKind, source_id: bytes, *, automatic: bool) -> Events:
    block = message.message_block
    text = clean_text(block.message)
    if not text:
        return ()
    sender = message.agent_data.agent_id
    return (ImReceived(kind, source_id, sender, _name(message), text, bool(block.offline), automatic, block.timestamp),)


def _message(world: World, message: ImprovedInstantMessage) -> Events:
    if message.message_block.from_group:
        return _group(world, message)
    return _words(message, _source(world, message), message.agent_data.agent_id, automatic=False)


def _busy(world: World, message: ImprovedInstantMessage) -> Events:
    return _words(message, _source(world, message), message.agent_data.agent_id, automatic=True)


def _from_object(world: World, message: ImprovedInstantMessage) -> Events:
    del world
    return _words(message, SourceKind.OBJECT, message.message_block.id, automatic=False)


def _alert(world: World, message: ImprovedInstantMessage) -> Events:
    del world
    text = _note(message)
    return (AlertShown(text, "", True),) if text else ()


def _group(world: World, message: ImprovedInstantMessage) -> Events:
    """Count what a group or conference says: the bucket holds its name."""
    del world
    block = message.message_block
    return (GroupImSeen(clean_name(block.binary_bucket) or _name(message)),)


def _group_notice(world: World, message: ImprovedInstantMessage) -> Events:
    del world
    return (GroupImSeen(_name(message)),)


def _gift(world: World, message: ImprovedInstantMessage) -> Events:
    block = message.message_block
    bucket = block.binary_bucket
    sender = message.agent_data.agent_id
    return keep_offer(
        world,
        Gift(
            offer_id=world.offers.next_id(OfferKind.GIFT),
            source_id=sender,
            name=_name(message),
            owner_id=sender,
            transaction_id=block.id,
            item_name=clean_name(block.message),
            asset_type=bucket[0] if bucket else 0,
            item_id=bucket[1:17] if len(bucket) > _UUID_BYTES else NIL,
        ),
    )


def _object_gift(world: World, message: ImprovedInstantMessage) -> Events:
    block = message.message_block
    sender = message.agent_data.agent_id
    return keep_offer(
        world,
        Gift(
            offer_id=world.offers.next_id(OfferKind.GIFT),
            source_id=sender,
            name=_name(message),
            owner_id=sender,
            transaction_id=block.id,
            item_name=clean_name(block.message),
            asset_type=block.binary_bucket[0] if block.binary_bucket else 0,
            item_id=NIL,
            from_object=True,
        ),
    )


def _gift_answer(*, accepted: bool) -> Reader:
    def read(world: World, message: ImprovedInstantMessage) -> Events:
        del world
        return (GiftAnswered(message.agent_data.agent_id, message.message_block.id, accepted),)

    return read


def _lure(*, god: bool) -> Reader:
    def read(world: World, message: ImprovedInstantMessage) -> Events:
        return keep_offer(
            world,
            Lure(
                offer_id=world.offers.next_id(OfferKind.LURE),
                source_id=message.agent_data.agent_id,
                name=_name(message),
                lure_id=message.message_block.id,
                message=_note(message),
                god=god,
            ),
        )

    return read


def _lure_answer(*, accepted: bool) -> Reader:
    def read(world: World, message: ImprovedInstantMessage) -> Events:
        del world
        return (LureAnswered(message.agent_data.agent_id, accepted),)

    return read


def _asks_to_come(world: World, message: ImprovedInstantMessage) -> Events:
    del world
    return (TeleportAsked(message.agent_data.agent_id, _name(message), _note(message)),)


def _friendship(world: World, message: ImprovedInstantMessage) -> Events:
    return keep_offer(
        world,
        Friendship(
            offer_id=world.offers.next_id(OfferKind.FRIENDSHIP),
            source_id=message.agent_data.agent_id,
            name=_name(message),
            transaction_id=message.message_block.id,
            message=_note(message),
        ),
    )


def _friendship_accepted(world: World, message: ImprovedInstantMessage) -> Events:
    sender = message.agent_data.agent_id
    return FriendshipAnswered(sender, True), *change_friend(world, sender, friend=True, online=True)


def _friendship_declined(world: World, message: ImprovedInstantMessage) -> Events:
    del world
    return (FriendshipAnswered(message.agent_data.agent_id, False),)


def _typing(*, typing: bool) -> Reader:
    def read(world: World, message: ImprovedInstantMessage) -> Events:
        if _source(world, message) is not SourceKind.AVATAR:
            return ()
        return (TypingShown(message.agent_data.agent_id, typing),)

    return read


def _url(world: World, message: ImprovedInstantMessage) -> Events:
    del world
    block = message.message_block
    url = clean_name(block.binary_bucket, URL_MAX_CHARACTERS)
    return (UrlShown(block.id, message.agent_data.agent_id, _name(message), _note(message), url),)


DIALOGS: Final[Mapping[int, Reader]] = MappingProxyType(
    {
        0: _message,
        1: _alert,  # a message box
        3: _group_notice,  # an invitation to a group: joining one is no errand of ours
        4: _gift,
        5: _gift_answer(accepted=True),
        6: _gift_answer(accepted=False),
        9: _object_gift,
        13: _group,  # somebody was added to a conference
        15: _group,
        16: _group,
        17: _group,
        18: _group,
        19: _from_object,
        20: _busy,
        22: _lure(god=False),
        23: _lure_answer(accepted=True),
        24: _lure_answer(accepted=False),
        25: _lure(god=True),
        26: _asks_to_come,
        28: _url,
        31: _alert,  # from a script, to be shown as an alert
        32: _group_notice,
        38: _friendship,
        39: _friendship_accepted,
        40: _friendship_declined,
        41: _typing(typing=True),
        42: _typing(typing=False),
    }
)
"""What each dialog number means. Left out are 10, 11, 33 to 36: only we send them."""


def reduce_instant_message(world: World, region: Region, message: ImprovedInstantMessage) -> Events:
    """Take an instant message to us; one to somebody else, or of an unknown kind, is nothing."""
    del region
    block = message.message_block
    read = DIALOGS.get(block.dialog)
    if read is None or (block.to_agent_id not in {world.agent_id, NIL} and not block.from_group):
        return ()
    return read(world, message)
