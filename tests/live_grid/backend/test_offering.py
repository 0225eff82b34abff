"""Offers as the grid port shows them."""

from __future__ import annotations

from gridagent import events as told
from gridagent.events import SpeakerKind
from gridagent.ids import NIL_UUID
from live_grid.backend.offering import offer_event
from live_grid.world.offers import Dialog, Friendship, Gift, Lure, Permissions
from tests.live_grid.backend.hands import BEN, BOX, ITEM, NOTHING, text


def test_each_kind_of_offer_has_its_event() -> None:
    """Who offers is who the grid says; a script's words stay the script's. Spec: LIV-6, SUP-12. Fault: 15."""
    base = {"offer_id": "x-1", "source_id": BEN, "name": "Ben Boat"}
    friendship = offer_event(Friendship(**base, transaction_id=ITEM, message="Friends?"))
    assert isinstance(friendship, told.FriendshipOffered)
    assert (friendship.source.id, friendship.message) == (text(BEN), "Friends?")
    lure = offer_event(Lure(**base, lure_id=ITEM, message="Come"))
    assert isinstance(lure, told.TeleportOffered)
    gift = {"transaction_id": ITEM, "item_name": "Rose", "asset_type": 6, "item_id": NOTHING, "owner_id": BEN}
    given = offer_event(Gift(**base, **gift))
    assert isinstance(given, told.InventoryOffered)
    assert (given.source.kind, given.source.id, given.kind) == (SpeakerKind.AVATAR, text(BEN), "object")
    vended = offer_event(Gift(**base, **gift, from_object=True))
    assert isinstance(vended, told.InventoryOffered)
    assert (vended.source.kind, vended.source.id, vended.source.owner_id) == (SpeakerKind.OBJECT, NIL_UUID, text(BEN))
    script = base | {"source_id": BOX}
    dialog = offer_event(
        Dialog(
            **script, owner_id=BEN, owner_name="Ben", text="?" * 2_000, buttons=("x" * 64,), labels=(b"x",), channel=1
        )
    )
    assert isinstance(dialog, told.DialogOpened)
    assert (dialog.object_id, dialog.owner_id, len(dialog.text)) == (text(BOX), text(BEN), 1_024)
    asked = offer_event(Permissions(**script, item_id=ITEM, owner_name="Ben", bits=0x12))
    assert isinstance(asked, told.PermissionAsked)
    assert asked.permissions == ("debit", "trigger_animation")
    assert asked.owner_id == NIL_UUID
