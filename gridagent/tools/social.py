"""People: friendship and invitations.

Owns those rows of the catalogue. Accepting an invitation teleports, and so needs that capability; the policy
sees to it (Spec: MND-13, POL-4).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import (
    AnswerFriendship,
    AnswerTeleportOffer,
    EndFriendship,
    OfferFriendship,
    OfferTeleport,
    RequestTeleport,
)
from gridagent.tools.native import act

__all__ = ("SOCIAL",)

_TO: Final = "UUID of the avatar."
_MESSAGE: Final = "A few words with it; may be empty."
_ACCEPT: Final = "true to accept, false to decline."

SOCIAL: Final = (
    act(OfferTeleport, "Invite an avatar to come to where you are.", {"to": _TO, "message": _MESSAGE}, calls_max=4),
    act(
        RequestTeleport,
        "Ask an avatar for an invitation to where they are.",
        {"to": _TO, "message": _MESSAGE},
        calls_max=4,
    ),
    act(
        AnswerTeleportOffer,
        "Accept an invitation and go there, or decline it.",
        {"offer_id": "Id of the open invitation.", "accept": _ACCEPT},
        calls_max=4,
    ),
    act(OfferFriendship, "Ask an avatar to be a friend.", {"to": _TO, "message": _MESSAGE}, calls_max=4),
    act(
        AnswerFriendship,
        "Accept or decline somebody's offer of friendship.",
        {"offer_id": "Id of the open offer.", "accept": _ACCEPT},
    ),
    act(EndFriendship, "Take an avatar off your friends list.", {"avatar_id": _TO}),
)
"""The tools about people."""
