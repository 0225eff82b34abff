"""What waits for our answer: friendships, lures, gifts, script dialogs and requests for permissions.

Owns the structs that hold what an answer needs, and the bounded table they wait in. An offer is named by a number of
ours: a sender's own id could repeat another's and take its place (Spec: LIV-6; Fault: 15).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final, TypeAlias

import msgspec

from live_grid.world.bounds import OFFERS_MAX

__all__ = (
    "PERMISSIONS",
    "TEXT_BOX",
    "Dialog",
    "Friendship",
    "Gift",
    "Lure",
    "Offer",
    "OfferKind",
    "Offers",
    "Permissions",
    "permission_bits",
    "permission_words",
)

TEXT_BOX: Final = "!!llTextBox!!"
"""The button that asks for free text."""

PERMISSIONS: Final[dict[str, int]] = {
    "debit": 0x2,
    "take_controls": 0x4,
    "remap_controls": 0x8,
    "trigger_animation": 0x10,
    "attach": 0x20,
    "release_ownership": 0x40,
    "change_links": 0x80,
    "change_joints": 0x100,
    "change_permissions": 0x200,
    "track_camera": 0x400,
    "control_camera": 0x800,
    "teleport": 0x1000,
    "experience": 0x2000,
    "silent_estate_management": 0x4000,
    "override_animations": 0x8000,
}
"""Our words for what a script can ask, and the bit of each."""


def permission_words(bits: int) -> tuple[str, ...]:
    """Name the permissions in a mask, unknown bits left out."""
    return tuple(word for word, bit in PERMISSIONS.items() if bits & bit)


def permission_bits(words: tuple[str, ...]) -> int:
    """Make the mask of permissions; a word nobody knows has no bit."""
    return sum(PERMISSIONS.get(word, 0) for word in set(words))


class OfferKind(Enum):
    """What kind of answer an offer takes."""

    FRIENDSHIP = "friendship"
    LURE = "lure"
    GIFT = "gift"
    DIALOG = "dialog"
    PERMISSIONS = "permissions"


class _Offer(msgspec.Struct, frozen=True, kw_only=True):
    offer_id: str
    source_id: bytes
    """Avatar, or object, that offers."""
    name: str
    """Display text of the source."""


class Friendship(_Offer, frozen=True, kw_only=True):
    """Somebody wants to be a friend."""

    transaction_id: bytes
    message: str


class Lure(_Offer, frozen=True, kw_only=True):
    """Somebody invites us to come."""

    lure_id: bytes
    message: str
    god: bool = False


class Gift(_Offer, frozen=True, kw_only=True):
    """Somebody, or an object, gives us something."""

    transaction_id: bytes
    item_name: str
    asset_type: int
    item_id: bytes
    """Nil where it is not said."""
    from_object: bool = False
    owner_id: bytes
    """Owner of the object; the giver where there is none."""


class Dialog(_Offer, frozen=True, kw_only=True):
    """A script shows buttons, or asks for text."""

    owner_id: bytes
    owner_name: str
    text: str
    buttons: tuple[str, ...]
    """As they are shown: cleaned and cut."""
    labels: tuple[bytes, ...]
    """The same as the script wrote them, which is how it wants them back."""
    channel: int

    @property
    def wants_text(self) -> bool:
        """Whether any text is an answer."""
        return TEXT_BOX in self.buttons


class Permissions(_Offer, frozen=True, kw_only=True):
    """A script asks what it may do to us."""

    item_id: bytes
    owner_name: str
    bits: int


Offer: TypeAlias = Friendship | Lure | Gift | Dialog | Permissions


class Offers:
    """Open offers, oldest first."""

    __slots__ = ("_count", "_open")

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, Offer] = {}

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Offer]:
        return iter(self._open.values())

    def next_id(self, kind: OfferKind) -> str:
        """Make the name of the next offer."""
        self._count += 1
        return f"{kind.value}-{self._count}"

    def put(self, offer: Offer) -> Offer | None:
        """Keep an offer.

        Returns:
            The oldest one, if it made room.
        """
        lapsed = None
        if len(self._open) >= OFFERS_MAX:
            lapsed = self._open.pop(next(iter(self._open)))
        self._open[offer.offer_id] = offer
        return lapsed

    def get(self, offer_id: str) -> Offer | None:
        """Look an offer up."""
        return self._open.get(offer_id)

    def take(self, offer_id: str) -> Offer | None:
        """Take an offer out: it is answered."""
        return self._open.pop(offer_id, None)
