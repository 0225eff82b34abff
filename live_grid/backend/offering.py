"""Offers as the grid port shows them: one event for each kind.

Owns the translation of what waits for an answer. The source is who the grid says it is; a script's words never
become its owner's (Spec: LIV-6, SUP-12; Fault: 15).
"""

from __future__ import annotations

from gridagent import events as told
from gridagent.events import GridEvent
from gridagent.ids import NIL_UUID, AvatarId, ObjectId, OfferId
from live_grid.backend.views import kind_word, label, name_of, short, speaker, text_id
from live_grid.messages import NIL
from live_grid.world import Offer, SourceKind
from live_grid.world.offers import Dialog, Friendship, Gift, Lure, permission_words

__all__ = ("offer_event",)

DIALOG_MAX_CHARACTERS = 1_024


def _gift(offer: Gift) -> GridEvent:
    # The grid names the owner of an object that gives, and not the object.
    if offer.from_object:
        source = speaker(SourceKind.OBJECT, NIL, offer.owner_id, offer.name)
    else:
        source = speaker(SourceKind.AVATAR, offer.source_id, NIL, offer.name)
    return told.InventoryOffered(
        offer_id=OfferId(offer.offer_id),
        source=source,
        name=name_of(offer.item_name),
        kind=kind_word(offer.asset_type),
    )


def offer_event(offer: Offer) -> GridEvent:
    """Show an offer."""
    offer_id = OfferId(offer.offer_id)
    if isinstance(offer, Gift):
        return _gift(offer)
    if isinstance(offer, Friendship):
        source = speaker(SourceKind.AVATAR, offer.source_id, NIL, offer.name)
        return told.FriendshipOffered(offer_id=offer_id, source=source, message=short(offer.message))
    if isinstance(offer, Lure):
        source = speaker(SourceKind.AVATAR, offer.source_id, NIL, offer.name)
        return told.TeleportOffered(offer_id=offer_id, source=source, message=short(offer.message))
    thing, name = ObjectId(text_id(offer.source_id)), name_of(offer.name)
    if isinstance(offer, Dialog):
        return told.DialogOpened(
            offer_id=offer_id,
            object_id=thing,
            object_name=name,
            owner_id=AvatarId(text_id(offer.owner_id)),
            text=offer.text[:DIALOG_MAX_CHARACTERS],
            buttons=tuple(label(button) for button in offer.buttons),
        )
    return told.PermissionAsked(
        offer_id=offer_id,
        object_id=thing,
        object_name=name,
        owner_id=AvatarId(NIL_UUID),  # the grid tells the owner's name only, which is no identity
        permissions=permission_words(offer.bits),
    )
