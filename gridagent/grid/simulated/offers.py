"""Open offers: friendships, lures, gifts, script dialogs and permission requests that wait for an answer.

Owns which offer waits for whom and the event that shows it; answers nothing. A receiver has at most
`OFFERS_MAX` open offers: one more is refused to its sender, so that nobody can push somebody else's
offer out (Spec: BND-1). Offers to somebody who is away wait until they log in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import attrs

from gridagent.events import (
    DialogOpened,
    FriendshipOffered,
    GridEvent,
    InventoryOffered,
    PermissionAsked,
    Speaker,
    TeleportOffered,
)
from gridagent.grid.simulated.avatars import Place
from gridagent.ids import AvatarId, ItemId, ObjectId, OfferId
from gridagent.limits import Label

__all__ = (
    "OFFERS_MAX",
    "DialogOffer",
    "Friendship",
    "Gift",
    "Lure",
    "ObjectGift",
    "Offer",
    "Offers",
    "PermissionOffer",
)

OFFERS_MAX: Final = 64
"""Open offers of one receiver."""


@attrs.frozen(eq=False, kw_only=True)
class _Offer:
    """Base: every offer has an id, a receiver and the event that shows it."""

    offer_id: OfferId
    to: AvatarId
    shown: GridEvent


@attrs.frozen(eq=False, kw_only=True)
class Friendship(_Offer):
    """Somebody wants to be a friend."""

    sender: AvatarId


@attrs.frozen(eq=False, kw_only=True)
class Lure(_Offer):
    """Somebody invites the receiver to where they stood."""

    sender: AvatarId
    place: Place


@attrs.frozen(eq=False, kw_only=True)
class Gift(_Offer):
    """Somebody offers an item of theirs."""

    sender: AvatarId
    item_id: ItemId
    reference: Label = ""
    """Nonce of the deed that offered it."""


@attrs.frozen(eq=False, kw_only=True)
class ObjectGift(_Offer):
    """An object offers an item of its making."""

    object_id: ObjectId
    name: str
    kind: str


@attrs.frozen(eq=False, kw_only=True)
class DialogOffer(_Offer):
    """A script shows buttons."""

    object_id: ObjectId
    buttons: tuple[str, ...]


@attrs.frozen(eq=False, kw_only=True)
class PermissionOffer(_Offer):
    """A script asks for permissions."""

    object_id: ObjectId
    permissions: tuple[str, ...]


Offer: TypeAlias = Friendship | Lure | Gift | ObjectGift | DialogOffer | PermissionOffer
"""Any open offer."""


class Offers:
    """Every open offer of a world, by receiver.

    Args:
        ids: source of new offer ids.
    """

    __slots__ = ("_by_receiver", "_ids")

    def __init__(self, ids: Callable[[], str]) -> None:
        self._ids = ids
        self._by_receiver: dict[AvatarId, dict[OfferId, Offer]] = {}

    def room_for(self, to: AvatarId) -> bool:
        """Tell whether the receiver can get one more offer."""
        return len(self._by_receiver.get(to, ())) < OFFERS_MAX

    def find(self, to: AvatarId, offer_id: OfferId) -> Offer | None:
        """Return an open offer to this receiver, or None."""
        return self._by_receiver.get(to, {}).get(offer_id)

    def open_to(self, to: AvatarId) -> tuple[Offer, ...]:
        """Return the receiver's open offers, oldest first."""
        return tuple(self._by_receiver.get(to, {}).values())

    def close(self, offer: Offer) -> None:
        """Take an offer away."""
        waiting = self._by_receiver[offer.to]
        del waiting[offer.offer_id]
        if not waiting:
            del self._by_receiver[offer.to]

    def of_object(self, object_id: ObjectId) -> tuple[Offer, ...]:
        """Return the open offers of one object."""
        return tuple(
            offer
            for waiting in self._by_receiver.values()
            for offer in waiting.values()
            if isinstance(offer, ObjectGift | DialogOffer | PermissionOffer) and offer.object_id == object_id
        )

    def _keep(self, offer: Offer) -> Offer:
        self._by_receiver.setdefault(offer.to, {})[offer.offer_id] = offer
        return offer

    def friendship(self, to: AvatarId, sender: AvatarId, source: Speaker, message: str) -> Offer:
        """Open a friendship offer."""
        offer_id = OfferId(self._ids())
        shown = FriendshipOffered(offer_id=offer_id, source=source, message=message)
        return self._keep(Friendship(offer_id=offer_id, to=to, shown=shown, sender=sender))

    def lure(self, to: AvatarId, sender: AvatarId, source: Speaker, message: str, place: Place) -> Offer:
        """Open an invitation to a place."""
        offer_id = OfferId(self._ids())
        shown = TeleportOffered(offer_id=offer_id, source=source, message=message)
        return self._keep(Lure(offer_id=offer_id, to=to, shown=shown, sender=sender, place=place))

    def gift(
        self,
        to: AvatarId,
        sender: AvatarId,
        source: Speaker,
        item_id: ItemId,
        name: str,
        kind: str,
        reference: Label = "",
    ) -> Offer:
        """Open an offer of somebody's item."""
        offer_id = OfferId(self._ids())
        shown = InventoryOffered(offer_id=offer_id, source=source, name=name, kind=kind)
        gift = Gift(offer_id=offer_id, to=to, shown=shown, sender=sender, item_id=item_id, reference=reference)
        return self._keep(gift)

    def object_gift(self, to: AvatarId, object_id: ObjectId, source: Speaker, name: str, kind: str) -> Offer:
        """Open an offer of an object's item."""
        offer_id = OfferId(self._ids())
        shown = InventoryOffered(offer_id=offer_id, source=source, name=name, kind=kind)
        return self._keep(ObjectGift(offer_id=offer_id, to=to, shown=shown, object_id=object_id, name=name, kind=kind))

    def dialog(self, to: AvatarId, object_id: ObjectId, source: Speaker, text: str, buttons: tuple[str, ...]) -> Offer:
        """Open a script dialog."""
        assert source.owner_id is not None  # noqa: S101 - objects always name their owner
        offer_id = OfferId(self._ids())
        shown = DialogOpened(
            offer_id=offer_id,
            object_id=object_id,
            object_name=source.name,
            owner_id=source.owner_id,
            text=text,
            buttons=buttons,
        )
        return self._keep(DialogOffer(offer_id=offer_id, to=to, shown=shown, object_id=object_id, buttons=buttons))

    def permission(self, to: AvatarId, object_id: ObjectId, source: Speaker, permissions: tuple[str, ...]) -> Offer:
        """Open a permission request."""
        assert source.owner_id is not None  # noqa: S101 - objects always name their owner
        offer_id = OfferId(self._ids())
        shown = PermissionAsked(
            offer_id=offer_id,
            object_id=object_id,
            object_name=source.name,
            owner_id=source.owner_id,
            permissions=permissions,
        )
        return self._keep(
            PermissionOffer(offer_id=offer_id, to=to, shown=shown, object_id=object_id, permissions=permissions)
        )
