"""The simulated world, watched: what was really done for an agent, and what it was truly told.

Owns the tap between the world and the connection that misbehaves: it sees each action as it is performed,
with what it changed, and each event before a fault can lose, double or delay it. Changes nothing. The
oracle's only source about the world (Spec: SIM-3). Built by `gridagent.simulation.trial` in the place of
`World`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Protocol

import msgspec

from gridagent.actions import Action
from gridagent.events import GridEvent
from gridagent.grid.simulated.sessions import OnEnd, OnEvent, Session
from gridagent.grid.simulated.state import WorldSettings
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId
from gridagent.limits import Label

__all__ = ("Changed", "WatchedWorld", "WorldWatcher")


class Changed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one action changed at once."""

    balance: int
    """L$ gained; negative when they were spent."""
    items: int
    """Inventory items gained."""


class WorldWatcher(Protocol):
    """Who is told."""

    def on_performed(self, avatar_id: AvatarId, action: Action, reference: Label, changed: Changed) -> None:
        """Take note of an action that was performed for an agent."""
        ...

    def on_told(self, avatar_id: AvatarId, event: GridEvent) -> None:
        """Take note of what the world told an agent."""
        ...

    def on_login(self, session: Session) -> None:
        """Take note of a login of an agent."""
        ...


class WatchedWorld(World):
    """A world whose agents are watched."""

    __slots__ = ("_agents", "_watcher")

    def __init__(self, rng: random.Random, ids: Callable[[], str], *, settings: WorldSettings | None = None) -> None:
        super().__init__(rng, ids, settings=settings)
        self._agents: frozenset[AvatarId] = frozenset()
        self._watcher: WorldWatcher | None = None

    def watch(self, agents: frozenset[AvatarId], watcher: WorldWatcher) -> None:
        """Watch these accounts from now on."""
        self._agents = agents
        self._watcher = watcher

    def login(self, avatar_id: AvatarId, now: float) -> Session:
        """See `World.login`."""
        session = super().login(avatar_id, now)
        if self._watcher is not None and avatar_id in self._agents:
            self._watcher.on_login(session)
        return session

    def attach(self, avatar_id: AvatarId, on_event: OnEvent, on_end: OnEnd | None = None, *, now: float) -> None:
        """See `World.attach`."""
        if self._watcher is not None and avatar_id in self._agents:
            on_event = partial(self._pass_on, avatar_id, on_event)
        super().attach(avatar_id, on_event, on_end, now=now)

    def perform(self, avatar_id: AvatarId, action: Action, now: float, reference: Label = "") -> None:
        """See `World.perform`."""
        if self._watcher is None or avatar_id not in self._agents:
            super().perform(avatar_id, action, now, reference)
            return
        self.advance(now)  # what others do until now is not this action's doing
        avatar = self.avatar(avatar_id)
        balance, items = avatar.balance, len(avatar.inventory)
        super().perform(avatar_id, action, now, reference)
        changed = Changed(balance=avatar.balance - balance, items=len(avatar.inventory) - items)
        self._watcher.on_performed(avatar_id, action, reference, changed)

    def _pass_on(self, avatar_id: AvatarId, on_event: OnEvent, event: GridEvent) -> None:
        if self._watcher is not None:
            self._watcher.on_told(avatar_id, event)
        on_event(event)
