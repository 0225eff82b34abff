"""The tools a request offers, as the offline model uses them: found by what they do, filled in by their schema.

Owns the names that tools of each purpose may have, and which argument means what. Calls nothing. A tool whose
schema asks for something the model cannot know is left alone.

Invariant: a call that is proposed names an offered tool and fills in every argument its schema requires
(Spec: MND-5, MND-13).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from gridagent.language import LlmRequest, ToolCall, ToolDescriptor

__all__ = ("Purpose", "Toolbox")


class Purpose(StrEnum):
    """What a tool is for."""

    LOOK = "look"
    WALK = "walk"
    FOLLOW = "follow"
    STOP = "stop"
    SIT = "sit"
    SIT_ON_GROUND = "sit_on_ground"
    STAND = "stand"
    HOME = "home"
    EMOTE = "emote"
    PAY = "pay"
    BALANCE = "balance"
    TIME = "time"


_NAMES: Final[dict[Purpose, tuple[str, ...]]] = {
    Purpose.LOOK: ("look_around", "surroundings", "look_surroundings", "look"),
    Purpose.WALK: ("walk_to", "walk"),
    Purpose.FOLLOW: ("follow_avatar", "follow"),
    Purpose.STOP: ("stop_moving", "stop"),
    Purpose.SIT: ("sit_on", "sit"),
    Purpose.SIT_ON_GROUND: ("sit_on_ground",),
    Purpose.STAND: ("stand_up", "stand"),
    Purpose.HOME: ("teleport_home", "go_home"),
    Purpose.EMOTE: ("emote",),
    Purpose.PAY: ("pay_avatar", "pay"),
    Purpose.BALANCE: ("balance", "look_balance", "get_balance", "check_balance"),
    Purpose.TIME: ("clock", "look_clock", "get_time", "time"),
}
_MEANT: Final[dict[str, str]] = {
    # argument → what it means
    **dict.fromkeys(("avatar_id", "to", "target", "target_id", "avatar", "payee"), "person"),
    **dict.fromkeys(("object_id", "object"), "thing"),
    **dict.fromkeys(("amount", "amount_linden", "linden"), "amount"),
    **dict.fromkeys(("text", "message"), "text"),
    **{name: name for name in ("position", "x", "y", "z")},
}


class _Schema(msgspec.Struct):
    properties: dict[str, msgspec.Raw] = {}
    required: list[str] = []


_SCHEMAS: Final = msgspec.json.Decoder(_Schema)
_ENCODER: Final = msgspec.json.Encoder()


class Toolbox:
    """What can be called now.

    Args:
        request: its tools are the box.
    """

    __slots__ = ("_number", "_tools")

    def __init__(self, request: LlmRequest) -> None:
        self._tools = {tool.name: tool for tool in request.tools}
        self._number = len(request.turns)

    def name_for(self, purpose: Purpose) -> str | None:
        """Return the offered tool of a purpose."""
        return next((name for name in _NAMES[purpose] if name in self._tools), None)

    def was_called(self, purpose: Purpose, called: tuple[str, ...]) -> bool:
        """Tell whether a tool of this purpose was called already."""
        return any(name in called for name in _NAMES[purpose])

    def call(self, purpose: Purpose, known: Mapping[str, object] | None = None) -> ToolCall | None:
        """Return a call, or None where there is no such tool or not all it requires is known.

        Args:
            purpose: what it is for.
            known: what each meaning stands for now: person, thing, position, x, y, z, amount, text.
        """
        name = self.name_for(purpose)
        if name is None:
            return None
        arguments = _arguments(self._tools[name], known or {})
        if arguments is None:
            return None
        return ToolCall(id=f"c{self._number:04}{purpose.value[:4]}", name=name, arguments=arguments)


def _arguments(tool: ToolDescriptor, known: Mapping[str, object]) -> str | None:
    try:
        schema = _SCHEMAS.decode(tool.schema)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    filled = {
        name: known[meaning]
        for name in schema.properties
        if (meaning := _MEANT.get(name)) is not None and meaning in known
    }
    if any(name not in filled for name in schema.required):
        return None
    return _ENCODER.encode(filled).decode()
