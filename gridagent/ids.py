"""Typed identifiers and their one printed form.

Owns parsing of UUIDs from outside: one canonical form (lower case, hyphenated, not nil), compared as
text. Names are display text and never identity (Spec: POL-4). May import only L0 below it.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, NewType

from msgspec import Meta

__all__ = (
    "NIL_UUID",
    "ApprovalId",
    "AvatarId",
    "AvatarKey",
    "CorrelationId",
    "EffectKey",
    "Generation",
    "GrantId",
    "ItemId",
    "ObjectId",
    "OfferId",
    "ParcelId",
    "is_canonical_uuid",
    "parse_avatar_id",
)

UUID_PATTERN: Final = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
NIL_UUID: Final = "00000000-0000-0000-0000-000000000000"
# `$` also matches before a last line break, so every use of the pattern has its exact length beside it; a pattern
# without one fixed length ends in `\Z` (a test walks them all).
_CANONICAL = re.compile(UUID_PATTERN[:-1] + r"\Z")

AvatarId = NewType("AvatarId", Annotated[str, Meta(pattern=UUID_PATTERN, max_length=36)])
"""UUID of an avatar in its grid; the only thing a role is granted to."""
ObjectId = NewType("ObjectId", Annotated[str, Meta(pattern=UUID_PATTERN, max_length=36)])
"""UUID of an object in a region."""
ItemId = NewType("ItemId", Annotated[str, Meta(pattern=UUID_PATTERN, max_length=36)])
"""UUID of an inventory item, animation or asset."""
ParcelId = NewType("ParcelId", Annotated[str, Meta(pattern=UUID_PATTERN, max_length=36)])
"""UUID of a parcel of land."""
OfferId = NewType("OfferId", Annotated[str, Meta(max_length=64)])
"""The grid's id of an offer that waits for an answer: lure, friendship, inventory, dialog, permission."""
AvatarKey = NewType("AvatarKey", Annotated[str, Meta(max_length=64, pattern=r"^[a-z0-9][a-z0-9_-]{0,63}\Z")])
"""The operator's own short name of one configured avatar."""
Generation = NewType("Generation", int)
"""Number of one connection attempt of one avatar, counting up from 1; 0 is "none yet"."""
CorrelationId = NewType("CorrelationId", Annotated[str, Meta(max_length=64)])
"""Joins everything one cause led to, from the first event to the audit row (Spec: MND-14)."""
ApprovalId = NewType("ApprovalId", Annotated[str, Meta(max_length=64)])
"""One pending approval."""
GrantId = NewType("GrantId", Annotated[str, Meta(max_length=64)])
"""One schedule grant."""
EffectKey = NewType("EffectKey", Annotated[str, Meta(max_length=64)])
"""Hash of what an effect is (Spec: EFX-2); two honest equal gifts differ, a re-run of one cause does not."""


def is_canonical_uuid(text: str) -> bool:
    """Tell whether ``text`` is a lower-case hyphenated UUID and not the nil one."""
    return _CANONICAL.match(text) is not None and text != NIL_UUID


def parse_avatar_id(text: str) -> AvatarId:
    """Take an avatar UUID from outside in its one canonical form.

    Raises:
        ValueError: not canonical, or nil. `uuid.UUID` would accept braces, URNs and misplaced hyphens.
    """
    if not is_canonical_uuid(text):
        raise ValueError("an avatar id is a lower-case hyphenated UUID and not nil")
    return AvatarId(text)
