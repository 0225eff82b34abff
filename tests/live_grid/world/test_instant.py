"""Instant messages and the dialogs that travel as one."""

from __future__ import annotations

import pytest

from live_grid.messages import NIL
from live_grid.messages.notation import AgentSession
from live_grid.messages.speech import ImprovedInstantMessage
from live_grid.world import Region, SourceKind, World, WorldEvent, reduce_message
from live_grid.world.events import (
    AlertShown,
    FriendChanged,
    FriendshipAnswered,
    GiftAnswered,
    GroupImSeen,
    ImReceived,
    LureAnswered,
    OfferMade,
    TeleportAsked,
    TypingShown,
    UrlShown,
)
from live_grid.world.instant import DIALOGS
from live_grid.world.offers import Friendship, Gift, Lure, Offer

BEN = bytes(15) + b"\x02"
NUMBER = bytes(15) + b"\x99"
ITEM = bytes(15) + b"\x1e"


def im(
    world: World,
    dialog: int,
    text: bytes = b"hello\0",
    *,
    sender: bytes = BEN,
    to: bytes | None = None,
    bucket: bytes = b"",
    offline: int = 0,
    group: bool = False,
) -> tuple[WorldEvent, ...]:
    """Let an instant message arrive."""
    message = ImprovedInstantMessage(
        agent_data=AgentSession(sender, NIL),
        message_block=ImprovedInstantMessage.MessageBlock(
            group, world.agent_id if to is None else to, 1, NIL, (0.0, 0.0, 0.0), offline, dialog, NUMBER, 77,
            b"Ben Boat\0", text, bucket,
        ),
        estate_block=ImprovedInstantMessage.EstateBlock(0),
    )  # fmt: skip
    return reduce_message(world, world.here, message)


def offered(world: World, events: tuple[WorldEvent, ...]) -> Offer:
    """The one offer that was made."""
    (made,) = events
    assert isinstance(made, OfferMade)
    offer = world.offers.get(made.offer_id)
    assert offer is not None
    return offer


def test_words_come_with_who_and_when(world: World) -> None:
    """A person's words, live or stored while we were away. Spec: LIV-6. Fault: 16."""
    assert im(world, 0) == (ImReceived(SourceKind.AVATAR, BEN, BEN, "Ben Boat", "hello", False, False, 77),)
    assert im(world, 0, offline=1) == (ImReceived(SourceKind.AVATAR, BEN, BEN, "Ben Boat", "hello", True, False, 77),)
    assert im(world, 0, b"\0") == ()


def test_senders_are_told_apart(world: World) -> None:
    """The grid has no id, an object stands in another field, a machine's answer is marked. Fault: 15, 16."""
    kinds = []
    for events in (im(world, 0, sender=NIL), im(world, 0, sender=world.agent_id), im(world, 19), im(world, 20)):
        (event,) = events
        assert isinstance(event, ImReceived)
        kinds.append((event.kind, event.source_id, event.automatic))
    assert kinds == [
        (SourceKind.SYSTEM, NIL, False),
        (SourceKind.SELF, world.agent_id, False),
        (SourceKind.OBJECT, NUMBER, False),
        (SourceKind.AVATAR, BEN, True),
    ]


def test_groups_are_counted_and_never_heard(world: World) -> None:
    """Whatever dialog a group speaks in, its words are dropped; its name is told."""
    assert im(world, 17, bucket=b"Gardeners\0") == (GroupImSeen("Gardeners"),)
    assert im(world, 0, group=True, to=BEN) == (GroupImSeen("Ben Boat"),)
    assert im(world, 32, bucket=b"\0\1") == (GroupImSeen("Ben Boat"),)
    assert im(world, 3) == (GroupImSeen("Ben Boat"),)


def test_notices_are_shown(world: World) -> None:
    """Message boxes and alerts from scripts are alerts; without words they are nothing."""
    assert im(world, 1) == (AlertShown("hello", "", True),)
    assert im(world, 31, b"\0") == ()


def test_gifts_wait_for_an_answer(world: World) -> None:
    """From a person with the item, from an object without, and from one that says nothing of it."""
    gift = offered(world, im(world, 4, b"A rose\0", bucket=b"\x06" + ITEM))
    assert isinstance(gift, Gift)
    assert (gift.source_id, gift.item_name, gift.asset_type, gift.item_id) == (BEN, "A rose", 6, ITEM)
    assert gift.transaction_id == NUMBER
    assert not gift.from_object
    thing = offered(world, im(world, 9, b"'A key'\0", bucket=b"\x0a"))
    assert isinstance(thing, Gift)
    assert (thing.from_object, thing.asset_type, thing.item_id) == (True, 10, NIL)
    for dialog in (4, 9):
        bare = offered(world, im(world, dialog))
        assert isinstance(bare, Gift)
        assert (bare.asset_type, bare.item_id) == (0, NIL)


@pytest.mark.parametrize(("dialog", "accepted"), [(5, True), (6, False)])
def test_our_gifts_are_answered(world: World, *, dialog: int, accepted: bool) -> None:
    """The answer names the transaction it was given under."""
    assert im(world, dialog) == (GiftAnswered(BEN, NUMBER, accepted),)


@pytest.mark.parametrize(("dialog", "god"), [(22, False), (25, True)])
def test_lures_wait_for_an_answer(world: World, *, dialog: int, god: bool) -> None:
    """An invitation to come, also from whoever may move us anyway."""
    lure = offered(world, im(world, dialog, b"Join me\0"))
    assert isinstance(lure, Lure)
    assert (lure.source_id, lure.lure_id, lure.message, lure.god) == (BEN, NUMBER, "Join me", god)


def test_our_lures_are_answered(world: World) -> None:
    """Taken and declined."""
    assert im(world, 23) == (LureAnswered(BEN, True),)
    assert im(world, 24) == (LureAnswered(BEN, False),)


def test_friendships_are_offered_and_answered(world: World) -> None:
    """An offer waits; an accepted one makes a friend."""
    offer = offered(world, im(world, 38, b"Friends?\0"))
    assert isinstance(offer, Friendship)
    assert (offer.transaction_id, offer.message) == (NUMBER, "Friends?")
    assert im(world, 40) == (FriendshipAnswered(BEN, False),)
    assert im(world, 39) == (FriendshipAnswered(BEN, True), FriendChanged(BEN, True, True))
    assert world.friends == {BEN: True}


def test_the_smaller_dialogs_are_told(world: World) -> None:
    """Somebody asks to come, types, or suggests a page. Fault: 20."""
    assert im(world, 26, b"May I?\0") == (TeleportAsked(BEN, "Ben Boat", "May I?"),)
    assert im(world, 41) == (TypingShown(BEN, True),)
    assert im(world, 42) == (TypingShown(BEN, False),)
    assert im(world, 41, sender=NIL) == ()
    assert im(world, 28, bucket=b"http://example.com\0") == (
        UrlShown(NUMBER, BEN, "Ben Boat", "hello", "http://example.com"),
    )


def test_what_is_for_somebody_else_or_unknown_is_nothing(world: World, here: Region) -> None:
    """A message to another avatar, and a number nobody knows."""
    assert im(world, 0, to=BEN) == ()
    assert im(world, 250) == ()
    assert not here.avatars


def test_the_table_holds_everything_a_viewer_receives() -> None:
    """Left out on purpose: numbers only we send, and those no grid sends any more."""
    sent_by_us_only = {10, 11, 33, 34, 35, 36}
    out_of_use = {2, 7, 8, 12, 14, 21, 27, 29, 30, 37}
    assert set(DIALOGS) == set(range(43)) - sent_by_us_only - out_of_use
