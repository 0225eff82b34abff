"""Items: giving, accepting, and writing notecards and landmarks.

Owns those rows of the catalogue. Uploading is left out: it names a file that only the operator has prepared
(Spec: MND-13; see `gridagent.tools.catalogue.NOT_TOOLS`).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import AnswerInventoryOffer, CreateLandmark, CreateNotecard, GiveItem
from gridagent.tools.native import act

__all__ = ("ITEMS",)

ITEMS: Final = (
    act(
        GiveItem,
        "Give an item of your inventory to an avatar. It cannot be taken back.",
        {"item_id": "UUID of the item.", "to": "UUID of the avatar."},
    ),
    act(
        AnswerInventoryOffer,
        "Accept or decline an item that somebody offers.",
        {"offer_id": "Id of the open offer.", "accept": "true to accept, false to decline."},
    ),
    act(
        CreateNotecard,
        "Write a notecard into your inventory.",
        {"name": "Title of the notecard.", "text": "What stands on it."},
    ),
    act(
        CreateLandmark,
        "Keep this place as a landmark in your inventory.",
        {"name": "Name of the landmark."},
    ),
)
"""The tools about items."""
