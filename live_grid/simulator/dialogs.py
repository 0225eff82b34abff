"""The numbers that instant messages and scripts go by: dialogs, channels of open questions, permission bits.

Owns the numbers and the small codings around them; knows no world and no circuit (Spec: LIV-6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from gridagent.ids import OfferId
from gridagent.limits import clip_bytes
from live_grid.messages import wire_text
from live_grid.simulator.ids import wire_id

__all__ = (
    "FRIENDSHIP_ACCEPTED",
    "FRIENDSHIP_DECLINED",
    "FRIENDSHIP_OFFERED",
    "FROM_OBJECT",
    "GIFT",
    "GIFT_ACCEPTED",
    "GIFT_DECLINED",
    "LURE",
    "LURE_DECLINED",
    "MESSAGE",
    "SESSION_SEND",
    "TASK_GIFT",
    "TASK_GIFT_ACCEPTED",
    "TASK_GIFT_DECLINED",
    "TELEPORT_REQUEST",
    "TYPING_ENDS",
    "TYPING_STARTS",
    "bits_of",
    "button_text",
    "channel_of",
    "dialog_text",
    "permissions_of",
)

MESSAGE: Final = 0
GIFT, GIFT_ACCEPTED, GIFT_DECLINED = 4, 5, 6
TASK_GIFT, TASK_GIFT_ACCEPTED, TASK_GIFT_DECLINED = 9, 10, 11
SESSION_SEND: Final = 17
FROM_OBJECT: Final = 19
LURE, LURE_DECLINED = 22, 24
TELEPORT_REQUEST: Final = 26
FRIENDSHIP_OFFERED, FRIENDSHIP_ACCEPTED, FRIENDSHIP_DECLINED = 38, 39, 40
TYPING_STARTS, TYPING_ENDS = 41, 42

_PERMISSIONS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "debit": 1 << 1,
        "control": 1 << 2,
        "animate": 1 << 4,
        "attach": 1 << 5,
        "track_camera": 1 << 10,
        "control_camera": 1 << 11,
        "teleport": 1 << 12,
        "override_animations": 1 << 15,
    }
)
_UNKNOWN_BIT: Final = 1 << 30
_DIALOG_MAX_BYTES: Final = 512
_BUTTON_MAX_BYTES: Final = 64
_WORD: Final = re.compile(r"[^a-z]+")


def _bit_of(permission: str) -> int:
    return _PERMISSIONS.get(_WORD.sub("_", permission.casefold()).strip("_"), _UNKNOWN_BIT)


def bits_of(permissions: Iterable[str]) -> int:
    """Write permissions as bits; one the wire has no bit for shares a bit that nothing else uses."""
    bits = 0
    for permission in permissions:
        bits |= _bit_of(permission)
    return bits


def permissions_of(bits: int, asked: Iterable[str]) -> tuple[str, ...]:
    """Read which of the permissions asked for a client grants."""
    return tuple(permission for permission in asked if bits & _bit_of(permission))


def channel_of(offer_id: OfferId) -> int:
    """Return the negative chat channel on which a script waits for an answer."""
    return -1 - (int.from_bytes(wire_id(offer_id)[:4], "big") & 0x7FFF_FFFE)


def dialog_text(text: str) -> bytes:
    """Write a dialog's text, as long as scripts can show one."""
    return wire_text(clip_bytes(text, _DIALOG_MAX_BYTES))


def button_text(label: str) -> bytes:
    """Write a button's label."""
    return wire_text(clip_bytes(label, _BUTTON_MAX_BYTES))
