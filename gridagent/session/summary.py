"""One line of plain text for an action: what a person reads before allowing it.

Owns the wording in observations, approvals and terminals; pure.
"""

from __future__ import annotations

from typing import Final

import msgspec

from gridagent.actions import Action, Position, action_name
from gridagent.limits import clip

__all__ = ("summarise",)

_MOST: Final = 256
_TEXT_MOST: Final = 120


def summarise(action: Action) -> str:
    """Return e.g. ``pay_avatar to=… amount=5``; at most 256 characters, control characters escaped."""
    parts = [action_name(action)]
    for field in action.__struct_fields__:
        value = getattr(action, field)
        if value is None or value in ("", ()):
            continue
        parts.append(f"{field}={_shown(value)}")
    return clip(" ".join(parts), _MOST)


def _shown(value: object) -> str:
    if isinstance(value, Position):
        return f"({value.x:.1f}, {value.y:.1f}, {value.z:.1f})"
    if isinstance(value, str):
        text = clip(str(value), _TEXT_MOST)
        return msgspec.json.encode(text).decode() if any(c.isspace() or not c.isprintable() for c in text) else text
    return str(value).lower() if isinstance(value, bool) else str(value)
