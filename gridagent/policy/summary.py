"""The one line in which a person is shown exactly what they would allow.

Owns that line; called when an approval is opened. Its invariant: nothing in it can change how the rest
is shown. Texts are quoted, and characters that cannot be seen (line breaks, text direction, joiners)
are written out, so an argument cannot pass for another one.
"""

from __future__ import annotations

from typing import Final

import msgspec

from gridagent.actions import Action, action_name
from gridagent.limits import clip

__all__ = ("summarise_for_approval",)

SUMMARY_MAX_CHARACTERS: Final = 256


def summarise_for_approval(action: Action) -> str:
    """Return the action's name and its arguments, shortest first, so that long text is what gets cut."""
    shown = [f"{name}={_show(getattr(action, name))}" for name in action.__struct_fields__]
    shown.sort(key=len)
    return clip(" ".join((action_name(action), *shown)), SUMMARY_MAX_CHARACTERS)


def _show(value: object) -> str:
    if isinstance(value, msgspec.Struct):
        return "(" + " ".join(_show(getattr(value, name)) for name in value.__struct_fields__) + ")"
    if isinstance(value, str):
        return repr(str(value))
    return repr(value)
