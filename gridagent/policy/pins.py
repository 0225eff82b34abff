"""Which definition of a foreign tool the operator agreed to, and whether it is still the same.

Owns the pins: one hash of the whole definition for each tool of each server. Native tools are static and
need none. The registry asks before a foreign tool enters a tool list and before each call (Spec: POL-9).
Its invariant: a tool whose definition ever differed from its pin is denied until somebody pins it anew,
also when the old definition comes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import TypeAlias

import msgspec

from gridagent.errors import LimitExceeded
from gridagent.limits import TOOLS_MAX

__all__ = ("DescriptorPins", "PinVerdict", "ToolKey", "definition_hash")

ToolKey: TypeAlias = tuple[str, str]
"""Server and tool name; equal names of two servers are two tools."""


class PinVerdict(StrEnum):
    """What a definition is, measured by its pin."""

    SAME = "same"
    UNPINNED = "unpinned"
    """Nobody agreed to this tool yet; denied."""
    CHANGED = "changed"
    """It is or once was another definition than the one agreed to; denied."""


def definition_hash(definition: object) -> str:
    """Hash a whole tool definition: name, description, schema, annotations, whatever is in it.

    Args:
        definition: decoded JSON; the order of its keys makes no difference, anything else does.
    """
    return sha256(msgspec.json.encode(definition, order="sorted")).hexdigest()


class DescriptorPins:
    """The pins of one avatar.

    Args:
        pinned: hashes agreed to earlier.

    Bounds: `TOOLS_MAX` pins.

    Raises:
        LimitExceeded: there are more.
    """

    __slots__ = ("_changed", "_pins")

    def __init__(self, pinned: Mapping[ToolKey, str] | None = None) -> None:
        self._pins: dict[ToolKey, str] = dict(pinned or {})
        self._changed: set[ToolKey] = set()  # of pinned tools only
        if len(self._pins) > TOOLS_MAX:
            raise LimitExceeded("pinned foreign tools", allowed=TOOLS_MAX, seen=len(self._pins))

    def check(self, tool: ToolKey, definition: object) -> PinVerdict:
        """Measure the definition a server shows now by the one agreed to."""
        pin = self._pins.get(tool)
        if pin is None:
            return PinVerdict.UNPINNED
        if pin != definition_hash(definition):
            self._changed.add(tool)
        return PinVerdict.CHANGED if tool in self._changed else PinVerdict.SAME

    def pin(self, tool: ToolKey, definition: object) -> str:
        """Agree to a definition; only an operator's act leads here.

        Returns:
            The hash, to be kept.

        Raises:
            LimitExceeded: there are too many pins already.
        """
        if tool not in self._pins and len(self._pins) >= TOOLS_MAX:
            raise LimitExceeded("pinned foreign tools", allowed=TOOLS_MAX)
        self._changed.discard(tool)
        self._pins[tool] = definition_hash(definition)
        return self._pins[tool]

    def pins(self) -> dict[ToolKey, str]:
        """Return a copy of what was agreed to."""
        return dict(self._pins)
