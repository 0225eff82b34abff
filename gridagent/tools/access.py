"""Which tools one turn sees, and what is said of the others.

Owns the modes of a turn and the capabilities of each, and cutting the list down by grid, ports, policy, privacy and
prerequisites. Made once a turn by whoever runs it; the same object answers what the model is shown and what it
may call, so the two cannot differ. Decides nothing about a single action: that is the gateway's.

Invariant: a tool that isn't shown is refused by name, however a model came to know it (Spec: MND-13, MND-16,
POL-4, LIV-11, Fault: 25).
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Final

from gridagent.actions import Capability
from gridagent.authority import Origin, Role
from gridagent.events import GridProfile
from gridagent.language import ToolDescriptor
from gridagent.policy.policy import Policy
from gridagent.tools.codes import ResultCode
from gridagent.tools.descriptor import Need, Port, Tool
from gridagent.tools.registry import Registered, Registry

__all__ = ("MODES", "SILENT_MODES", "Access", "TurnMode")


class TurnMode(StrEnum):
    """Why a turn is held."""

    ADDRESSED = "addressed"
    """Somebody spoke to the avatar."""
    AMBIENT = "ambient"
    """The avatar overheard something and may join in."""
    MODERATION = "moderation"
    """Somebody's behaviour is judged; nothing is said."""
    GOAL = "goal"
    """A step of a goal."""
    SCHEDULE = "schedule"
    """Something planned is due."""
    FRONT = "front"
    """A client of a front asks."""


_ALL: Final = frozenset(Capability)

MODES: Final[dict[TurnMode, frozenset[Capability]]] = {
    TurnMode.ADDRESSED: _ALL,
    # Whoever merely overhears may look and take part in the talk, and goes nowhere and spends nothing.
    TurnMode.AMBIENT: frozenset({Capability.OBSERVE, Capability.SPEAK, Capability.ANIMATE}),
    TurnMode.MODERATION: frozenset({Capability.OBSERVE, Capability.LAND}),
    TurnMode.GOAL: _ALL,
    TurnMode.SCHEDULE: _ALL,
    TurnMode.FRONT: _ALL,
}
"""What the tools of a mode may need the right to do."""

SILENT_MODES: Final = frozenset({TurnMode.MODERATION})
"""Modes whose turns say nothing, whatever the model writes."""


class Access:
    """The tools of one turn.

    Args:
        registry: what there is.
        mode: why the turn is held.
        origin: the door its cause came through.
        role: who caused it.
        policy: what that door lets through.
        profile: what the connected grid can do; None while the avatar is not in the world.
        ports: what can answer questions.
    """

    __slots__ = ("_registry", "_visible", "mode")

    def __init__(
        self,
        registry: Registry,
        *,
        mode: TurnMode,
        origin: Origin,
        role: Role,
        policy: Policy,
        profile: GridProfile | None,
        ports: AbstractSet[Port],
    ) -> None:
        self.mode = mode
        self._registry = registry
        there = _needs_met(profile)
        allowed = {each for each in MODES[mode] if policy.admits(origin, each, role)}
        visible = {
            each.tool.name: each
            for each in registry.tools()
            if each.tool.capability in allowed
            and (not each.tool.private or role.rank >= Role.TRUSTED.rank)
            and there.issuperset(each.tool.needs)
            and (each.tool.port is None or each.tool.port in ports)
            and registry.is_as_agreed(each.tool)
        }
        while lame := [name for name, each in visible.items() if not visible.keys() >= set(each.tool.prerequisites)]:
            for name in lame:  # nobody could ever use it
                del visible[name]
        self._visible: dict[str, Registered] = visible

    def tools(self, withdrawn: AbstractSet[str] = frozenset()) -> tuple[Tool, ...]:
        """Return the tools that can be called now.

        Args:
            withdrawn: names of those that failed too often in this turn.
        """
        return tuple(each.tool for each in self._callable(withdrawn))

    def shown(self, withdrawn: AbstractSet[str] = frozenset()) -> tuple[ToolDescriptor, ...]:
        """Return `tools` as a model is shown them."""
        return tuple(each.shown for each in self._callable(withdrawn))

    def _callable(self, withdrawn: AbstractSet[str]) -> Iterator[Registered]:
        for name, each in self._visible.items():
            if name not in withdrawn and self._registry.is_as_agreed(each.tool):
                yield each

    def find(self, name: str) -> Registered | ResultCode:
        """Return the tool with exactly this name, or why it cannot be called."""
        seen = self._visible.get(name)
        if seen is None:
            return ResultCode.UNKNOWN_TOOL if self._registry.find(name) is None else ResultCode.HIDDEN_TOOL
        return seen if self._registry.is_as_agreed(seen.tool) else ResultCode.TOOL_CHANGED


def _needs_met(profile: GridProfile | None) -> frozenset[Need]:
    if profile is None:
        return frozenset()
    there = (
        (Need.WORLD, True),
        (Need.MONEY, profile.has_money),
        (Need.INVENTORY, profile.has_inventory),
        (Need.BUILD, profile.has_build),
    )
    return frozenset(need for need, met in there if met)
