"""Money: paying an avatar, and paying through an object.

Owns two rows of the catalogue. Both occupy the one payment an avatar may have in flight and run at most a few
times in a turn, whatever the budgets allow (Spec: MND-13, EFX-5, POL-14).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import PayAvatar, PayObject
from gridagent.tools.native import act

__all__ = ("MONEY",)

MONEY: Final = (
    act(
        PayAvatar,
        "Pay L$ to an avatar. It cannot be taken back, and is done only when the result says so.",
        {
            "to": "UUID of the avatar.",
            "amount": "How many L$, a whole number.",
            "description": "What it is for; may be empty.",
        },
        calls_max=2,
    ),
    act(
        PayObject,
        "Pay L$ through an object, such as a vendor or a tip jar. It cannot be taken back.",
        {"object_id": "UUID of the object.", "amount": "How many L$, a whole number; exactly the price."},
        calls_max=2,
    ),
)
"""The paying tools."""
