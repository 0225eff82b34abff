"""Whether an action that is said to have happened did: the oracle's own reading of what the world told (Spec: EFX-1).

Owns the account of one authorised effect, and which of the world's words each action needs. Shares no code
with the matchers of `gridagent.grid.evidence`: those look at what arrived, this at what was truly done and
told before a fault could touch it. Used by `gridagent.simulation.account`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from gridagent.actions import EvidenceKind
from gridagent.simulation.rulebook import Rulebook
from gridagent.simulation.views import AuditView

__all__ = ("MONEY", "REFERENCE_CHARS", "Grant", "unproved")

REFERENCE_CHARS: Final = 16
"""Characters of the effect key that the world carries as the action's nonce."""
ON_ITS_WAY_S: Final = 25.0
"""A state can be told, held by a stall, and still confirm an equal action that was sent meanwhile."""
MONEY: Final = ("pay_avatar", "pay_object")
_MADE: Final = ("create_notecard", "create_landmark", "upload_asset")
_ACKNOWLEDGED: Final = ("emote", "send_im")
_TOLD_FOR: Final = {
    EvidenceKind.POSITION: "self_moved",
    EvidenceKind.POSTURE: "posture_changed",
    EvidenceKind.ARRIVED: "teleport_finished",
    EvidenceKind.ANIMATION: "animation_changed",
    EvidenceKind.FRIENDSHIP: "friend_changed",
    EvidenceKind.OFFER_CLOSED: "offer_closed",
    EvidenceKind.GIFT_ANSWERED: "gift_answered",
    EvidenceKind.OBJECT_GONE: "object_gone",
    EvidenceKind.AVATAR_GONE: "avatar_left",
}
"""Evidence that names a state and no action: the world must have told of such a state."""
_STATE_ACTIONS: Final = {
    EvidenceKind.POSITION: ("turn_to", "walk_to", "follow_avatar", "stop_moving"),
    EvidenceKind.POSTURE: ("sit_on", "sit_on_ground", "stand_up"),
    EvidenceKind.ARRIVED: ("teleport_to", "teleport_home"),
    EvidenceKind.ANIMATION: ("play_animation", "stop_animation"),
    EvidenceKind.FRIENDSHIP: ("end_friendship",),
    EvidenceKind.OFFER_CLOSED: (
        "answer_teleport_offer",
        "answer_dialog",
        "answer_permission",
        "answer_friendship",
        "answer_inventory_offer",
    ),
    EvidenceKind.GIFT_ANSWERED: ("give_item",),
    EvidenceKind.OBJECT_GONE: ("delete_object", "return_object"),
    EvidenceKind.AVATAR_GONE: ("eject_avatar",),
}


class Grant(msgspec.Struct, kw_only=True):
    """One authorised effect."""

    row: AuditView
    book: Rulebook
    at: float
    operators_own: bool
    provenance: str
    redeemed_at: float | None = None
    performed_at: float | None = None
    balance: int = 0
    """L$ gained by it."""
    items: int = 0
    outcome: str = ""
    cut_off: str = ""
    """State in which a crash left it, until it is settled."""


def unproved(grant: Grant, told: Mapping[str, float], references: Mapping[str, float]) -> str:
    """Say why a confirmed effect did not happen as far as the world knows; empty when it did.

    Args:
        grant: the effect.
        told: when the world last told the avatar of each kind of event.
        references: when the world last carried each reference.
    """
    row = grant.row
    event = next((_TOLD_FOR[kind] for kind, names in _STATE_ACTIONS.items() if row.action in names), "")
    why = ""
    if grant.redeemed_at is None:
        why = "was never sent"
    elif event:
        if told.get(event, -ON_ITS_WAY_S) < grant.redeemed_at - ON_ITS_WAY_S:
            why = f"and no {event} was told"
    elif grant.performed_at is None:
        why = "was never performed"
    elif row.action in MONEY and grant.balance >= 0:
        why = f"changed the balance by {grant.balance}"
    elif row.action in _MADE and grant.items <= 0:
        why = "brought nothing into the inventory"
    elif row.action in _ACKNOWLEDGED and (row.effect or "")[:REFERENCE_CHARS] not in references:
        why = "was not acknowledged by the world"
    return f"{row.action} {why}" if why else ""
