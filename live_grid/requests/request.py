"""What a request is: the messages that ask, who asks, and what would confirm that it was done.

Owns the two structs that every family beside it uses, and the vocabulary of confirmations. "Sent" and "acknowledged"
are never "done": each request names the evidence that is, and whoever sends it waits for that (Spec: LIV-7, EFX-1).
"""

from __future__ import annotations

from enum import Enum

import msgspec

from live_grid.errors import LocalProtocolError
from live_grid.messages import Message, wire_text
from live_grid.messages.notation import AgentSession

__all__ = ("Confirmation", "Identity", "Request", "text_field")

TEXT_MAX_BYTES = 1_023
"""Chat and instant messages, without their closing NUL."""
NAME_MAX_BYTES = 254
"""A text with a length of one byte, without its closing NUL."""


class Confirmation(Enum):
    """What shows that a request was done."""

    DELIVERED = "delivered"
    """The ack; the protocol has no stronger answer."""
    OWN_CHAT = "own_chat"
    """Our words come back as chat."""
    OWN_MOTION = "own_motion"
    """Our position or heading, as the region tells it."""
    OWN_POSTURE = "own_posture"
    """Our avatar's parent, or its animations."""
    SEAT_GIVEN = "seat_given"
    """The simulator offers the seat, to be taken."""
    ANIMATIONS = "animations"
    """The list of what we play."""
    TELEPORT = "teleport"
    """Arrival, or a refusal."""
    MAP = "map"
    """Rows of the map."""
    NAMES = "names"
    FRIENDS = "friends"
    """The friends list changes."""
    GIFT_ANSWERED = "gift_answered"
    """The receiver takes it or not."""
    BALANCE = "balance"
    """A balance with this transaction in it."""
    PRICE = "price"
    PARCEL = "parcel"
    OBJECT = "object"
    """The object is seen, or described, as wanted."""
    OBJECT_GONE = "object_gone"
    ITEM = "item"
    """The inventory item comes."""
    FOLDER = "folder"
    """The folder's contents come."""
    REGION = "region"
    """The region says what it is."""
    MOVEMENT_COMPLETE = "movement_complete"
    """The region says we are present."""
    LOGOUT_REPLY = "logout_reply"
    """The grid has saved us; often it does not say so."""
    NOTHING = "nothing"
    """Sent again and again; no single one is missed."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks. The session id is a secret."""

    agent_id: bytes
    session_id: bytes
    circuit_code: int
    name: str

    def __repr__(self) -> str:
        return f"Identity(agent_id={self.agent_id.hex()}, …)"

    @property
    def session(self) -> AgentSession:
        """The block that most messages start with."""
        return AgentSession(self.agent_id, self.session_id)


class Request(msgspec.Struct, frozen=True):
    """Messages to send in this order."""

    messages: tuple[Message, ...]
    confirmed_by: Confirmation
    reliable: bool = True


def text_field(text: str, most: int = NAME_MAX_BYTES) -> bytes:
    """Write a text, if it fits.

    Raises:
        LocalProtocolError: it is longer than ``most`` bytes, its closing NUL left out.
    """
    raw = wire_text(text)
    if len(raw) > most + 1:
        raise LocalProtocolError(f"a text of {len(raw) - 1} bytes where {most} fit")
    return raw
