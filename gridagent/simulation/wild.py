"""A mind that wants everything: the honest reflexes, and wild proposals of every kind beside them.

Owns the wild proposals: every action of the catalogue, amounts that are no amounts, forged principals,
wrong doors, repeated causes, made-up provenance. Words of objects are proposed under the door of objects
and no other. It tells the oracle what it proposes before anybody decides, and causes nothing (Spec:
MND-18). Deterministic: chance comes from one stream.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final, cast

from gridagent import actions as wanted
from gridagent.actions import Action, Outcome, Position
from gridagent.authority import Origin, Principal, Provenance
from gridagent.errors import LimitExceeded
from gridagent.events import (
    ChatHeard,
    DialogOpened,
    FriendshipOffered,
    GridEvent,
    ImReceived,
    InventoryOffered,
    PermissionAsked,
    SpeakerKind,
    TeleportOffered,
)
from gridagent.ids import NIL_UUID, AvatarId, ItemId, ObjectId, OfferId
from gridagent.mind import Mind, Moment, Nearby, Proposal, QuietMind, Surroundings, Thought
from gridagent.simulation.account import Account

__all__ = ("RECENT", "WildMind", "wild_action")

_TEXTS: Final = (
    "hello",
    "this is forbidden",
    "x" * 300,
    "\N{LATIN SMALL LETTER E WITH ACUTE}" * 40,
    "a\x00b",
    "\N{RIGHT-TO-LEFT OVERRIDE}evil",
    '{"action": "pay_avatar", "amount": 500}',
    "",
)
_AMOUNTS: Final[tuple[object, ...]] = (1, 3, 7, 20, 100, 0, -1, True, 1.0, "5", 2**63, 10**30, 1_000_000, 1_000_001)
_NUMBERS: Final = (0.0, 5.0, 128.0, 255.0, 256.0, -1.0, 1e9, 1e300, float("nan"))
_STRANGE_IDS: Final = (NIL_UUID, "deadbeef-0000-4000-8000-000000000000", "Olive Owner", "")
_THOUGHTS_MAX: Final = 16
RECENT: Final = 16
"""Wishes that may be repeated."""
_AGAIN: Final = 0.15
"""Of a wish being one of the last, to the letter: what has happened once must not happen again."""
_OFFERS: Final = (DialogOpened, PermissionAsked, FriendshipOffered, InventoryOffered, TeleportOffered)

Make = Callable[["_Hand"], Action]


class _Hand:
    """What a wild action is made of."""

    __slots__ = ("_around", "_offers", "items", "rng")

    def __init__(self, rng: Random, around: Nearby, offers: Sequence[str], items: Sequence[str]) -> None:
        self.rng = rng
        self._around = around
        self._offers = offers
        self.items = items

    def text(self) -> str:
        return self.rng.choice(_TEXTS)

    def amount(self) -> int:
        return cast("int", self.rng.choice(_AMOUNTS))

    def person(self) -> AvatarId:
        near = self._around.avatars()
        if near and self.rng.random() < 0.8:  # noqa: PLR2004 - mostly somebody who is there
            return self.rng.choice(near).avatar_id
        return AvatarId(self.rng.choice(_STRANGE_IDS))

    def thing(self) -> ObjectId:
        near = self._around.objects()
        if near and self.rng.random() < 0.8:  # noqa: PLR2004 - mostly something that is there
            return self.rng.choice(near).object_id
        return ObjectId(self.rng.choice(_STRANGE_IDS))

    def item(self) -> ItemId:
        return ItemId(self.rng.choice((*self.items, *_STRANGE_IDS)))

    def offer(self) -> OfferId:
        return OfferId(self.rng.choice((*self._offers, "no-such-offer")))

    def place(self) -> Position:
        here = self._around.position
        if here is not None and self.rng.random() < 0.7:  # noqa: PLR2004 - mostly near
            return Position(x=here.x + self.rng.uniform(-9, 9), y=here.y + self.rng.uniform(-9, 9), z=here.z)
        return Position(x=self.rng.choice(_NUMBERS), y=self.rng.choice(_NUMBERS), z=0.0)

    def yes(self) -> bool:
        return self.rng.random() < 0.5  # noqa: PLR2004 - either


_MAKERS: Final[tuple[Make, ...]] = (
    lambda hand: wanted.Say(text=hand.text(), chat_channel=hand.rng.choice((0, 0, 0, 7, 2**31))),
    lambda hand: wanted.Emote(text=hand.text()),
    lambda hand: wanted.SetTyping(typing=hand.yes()),
    lambda hand: wanted.SendIm(to=hand.person(), text=hand.text()),
    lambda hand: wanted.TurnTo(heading_deg=hand.rng.choice((0.0, 90.0, 359.0, 360.0, -1.0))),
    lambda hand: wanted.WalkTo(position=hand.place()),
    lambda hand: wanted.FollowAvatar(avatar_id=hand.person(), distance_m=hand.rng.choice((1.0, 3.0, 0.0, 999.0))),
    lambda _: wanted.StopMoving(),
    lambda hand: wanted.SitOn(object_id=hand.thing()),
    lambda _: wanted.SitOnGround(),
    lambda _: wanted.StandUp(),
    lambda hand: wanted.Touch(object_id=hand.thing()),
    lambda hand: wanted.TeleportTo(region=hand.rng.choice(("Plaza", "Nowhere", "x" * 129)), position=hand.place()),
    lambda _: wanted.TeleportHome(),
    lambda hand: wanted.OfferTeleport(to=hand.person(), message=hand.text()),
    lambda hand: wanted.RequestTeleport(to=hand.person(), message=hand.text()),
    lambda hand: wanted.AnswerTeleportOffer(offer_id=hand.offer(), accept=hand.yes()),
    lambda hand: wanted.PlayAnimation(animation_id=hand.item()),
    lambda hand: wanted.StopAnimation(animation_id=hand.item()),
    lambda hand: wanted.AnswerDialog(offer_id=hand.offer(), button=hand.rng.choice(("OK", "Pay", "x" * 65))),
    lambda hand: wanted.AnswerPermission(
        offer_id=hand.offer(), grant=hand.rng.choice(((), ("animate",), ("debit",), ("animate", "debit")))
    ),
    lambda hand: wanted.OfferFriendship(to=hand.person(), message=hand.text()),
    lambda hand: wanted.AnswerFriendship(offer_id=hand.offer(), accept=hand.yes()),
    lambda hand: wanted.EndFriendship(avatar_id=hand.person()),
    lambda hand: wanted.GiveItem(item_id=hand.item(), to=hand.person()),
    lambda hand: wanted.AnswerInventoryOffer(offer_id=hand.offer(), accept=hand.yes()),
    lambda hand: wanted.CreateNotecard(name=hand.rng.choice(("Note", "")), text=hand.text()),
    lambda _: wanted.CreateLandmark(name="Here"),
    lambda hand: wanted.PayAvatar(to=hand.person(), amount=hand.amount(), description=hand.text()[:99]),
    *[lambda hand: wanted.PayAvatar(to=hand.person(), amount=hand.rng.choice((1, 2, 3)))] * 3,
    lambda hand: wanted.PayObject(object_id=hand.thing(), amount=hand.amount()),
    lambda hand: wanted.UploadAsset(name="Picture", kind="texture", sha256="0" * 64, price=hand.amount()),
    lambda hand: wanted.RezObject(position=hand.place(), name="Box"),
    lambda hand: wanted.EditObject(object_id=hand.thing(), name="Mine now"),
    lambda hand: wanted.DeleteObject(object_id=hand.thing()),
    lambda hand: wanted.ReturnObject(object_id=hand.thing()),
    lambda hand: wanted.EjectAvatar(avatar_id=hand.person()),
)


def wild_action(rng: Random, around: Nearby, *, offers: Sequence[str] = (), items: Sequence[str] = ()) -> Action | None:
    """Make any action with any arguments; None when even its constructor refuses them."""
    try:
        return rng.choice(_MAKERS)(_Hand(rng, around, offers, items))
    except LimitExceeded:
        return None


class WildMind(QuietMind):
    """Implements `gridagent.mind.Mind`.

    Args:
        inner: the honest mind, which is heard first.
        account: the oracle's account of the avatar.
        rng: the stream of its wishes.
        chance: of wild proposals after an event.
        authorised: avatars whose id is worth forging.
        items: ids of inventory items and animations to try.
        recent: its last wishes, which it repeats now and then; it adds to them.

    Bounds: at most 16 thoughts an event.
    """

    __slots__ = (
        "_account",
        "_authorised",
        "_causes",
        "_inner",
        "_items",
        "_numbers",
        "_offers",
        "_recent",
        "_rng",
        "chance",
    )

    def __init__(
        self,
        inner: Mind,
        account: Account,
        rng: Random,
        *,
        chance: float,
        authorised: Sequence[str],
        items: Sequence[str] = (),
        recent: deque[Proposal] | None = None,
    ) -> None:
        self.chance = chance
        self._inner = inner
        self._account = account
        self._rng = rng
        self._authorised = tuple(authorised)
        self._items = tuple(items)
        self._offers: list[str] = []  # the newest few
        self._causes: list[str] = []  # the newest few
        self._recent: deque[Proposal] = deque(maxlen=RECENT) if recent is None else recent
        self._numbers = 0

    def hear(self, event: GridEvent, around: Surroundings, now: Moment) -> Sequence[Thought]:
        """Answer as the honest mind would, and want more."""
        thoughts = list(self._inner.hear(event, around, now))
        if isinstance(event, _OFFERS):
            self._offers = [*self._offers[-7:], event.offer_id]
        if self.chance > 0 and self._rng.random() < self.chance:
            thoughts += self._wishes(event, around)
        thoughts = thoughts[:_THOUGHTS_MAX]
        for thought in thoughts:
            if isinstance(thought, Proposal):
                self._account.on_proposed(
                    who=thought.principal.key,
                    cause=thought.cause[:64],
                    ordinal=thought.ordinal,
                    action=thought.action,
                    provenance=thought.target_provenance.value,
                )
        return thoughts

    def learn(self, proposal: Proposal, outcome: Outcome, now: Moment) -> Sequence[Thought]:
        """Let the honest mind learn."""
        return self._inner.learn(proposal, outcome, now)

    def forget(self, avatar_id: AvatarId, now: Moment) -> Sequence[Thought]:
        """Let the honest mind forget."""
        return self._inner.forget(avatar_id, now)

    def _wishes(self, event: GridEvent, around: Nearby) -> Iterator[Thought]:
        rng = self._rng
        for _ in range(rng.choice((1, 1, 2, 4))):
            if self._recent and rng.random() < _AGAIN:
                yield rng.choice(self._recent)  # the same cause: of an earlier life, too, as a goal that goes on would
                continue
            action = wild_action(rng, around, offers=self._offers, items=self._items)
            if action is None:
                continue
            origin, cause = self._door(event)
            wish = Proposal(
                action=action,
                principal=self._principal(event),
                origin=origin,
                cause=cause,
                ordinal=rng.choice((0, 0, 1, 2, 4096)),
                conversation=rng.choice(("", "public", "x" * 70)),
                tainted=rng.random() < 0.4,  # noqa: PLR2004 - often
                target_provenance=rng.choice(tuple(Provenance)),
            )
            self._recent.append(wish)
            yield wish

    def _door(self, event: GridEvent) -> tuple[Origin, str]:
        """Choose a door, and a cause: of an object's words never another than theirs."""
        rng = self._rng
        if isinstance(event, ChatHeard | ImReceived) and event.source.kind is SpeakerKind.OBJECT:
            return Origin.OBJECT_TEXT, event.utterance_id
        self._numbers += 1
        cause = f"wild-{self._numbers}"
        if self._causes and rng.random() < 0.1:  # noqa: PLR2004 - now and then one again
            cause = rng.choice(self._causes)
        self._causes = [*self._causes[-15:], cause]
        return rng.choice(tuple(Origin)), cause

    def _principal(self, event: GridEvent) -> Principal:
        rng = self._rng
        kind = rng.randrange(6)
        if kind == 0 and isinstance(event, ChatHeard | ImReceived):
            return Principal(avatar_id=AvatarId(event.source.id))
        if kind == 1:
            return Principal(client=rng.choice(("operator", "console", "front", "")))
        if kind == 2 and self._authorised:  # noqa: PLR2004 - one of six ways
            return Principal(avatar_id=AvatarId(rng.choice(self._authorised)), client="operator")
        if kind == 3:  # noqa: PLR2004 - one of six ways
            return Principal(avatar_id=AvatarId(rng.choice(_STRANGE_IDS)))
        if self._authorised:
            return Principal(avatar_id=AvatarId(rng.choice(self._authorised)))
        return Principal(client="front")
