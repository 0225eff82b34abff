"""The catalogue: every tool of our own, one file a family, gathered here in the order a model is shown them.

Owns the order and the list of actions that are no tools, each with its reason. Read by the registry and by the
reference page. Its invariant: every action of `gridagent.actions` is a tool or stands in `NOT_TOOLS`, never
both, and no name stands twice (Spec: MND-13, MND-17, BND-12).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import Action, AnswerPermission, SetTyping, UploadAsset
from gridagent.tools.build import BUILD
from gridagent.tools.interact import INTERACT
from gridagent.tools.items import ITEMS
from gridagent.tools.look import LOOK
from gridagent.tools.money import MONEY
from gridagent.tools.move import MOVE
from gridagent.tools.native import Native
from gridagent.tools.social import SOCIAL
from gridagent.tools.speak import SPEAK

__all__ = ("CATALOGUE", "FAMILIES", "NOT_TOOLS")

FAMILIES: Final[dict[str, tuple[Native, ...]]] = {
    "look": LOOK,
    "speak": SPEAK,
    "move": MOVE,
    "interact": INTERACT,
    "social": SOCIAL,
    "items": ITEMS,
    "money": MONEY,
    "build": BUILD,
}
"""The tools by the file they stand in."""

CATALOGUE: Final[tuple[Native, ...]] = tuple(native for family in FAMILIES.values() for native in family)

NOT_TOOLS: Final[dict[type[Action], str]] = {
    SetTyping: "shown while an answer is on its way, without anybody asking for it",
    AnswerPermission: "a script may ask for the right to take money; an operator answers",
    UploadAsset: "names a file that only the operator has prepared, by its hash",
}
"""Actions no model can ask for, and why."""
