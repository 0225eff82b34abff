"""The trio shell of the simulated grid: one pump that lets the world move on, and doors for backends.

Owns the pump task and the links of the connections that are open; decides nothing about the world. The
pump sleeps until the world's next timer and is woken when something sooner is set: nothing polls, so
simulated hours cost what happens in them (Spec: SIM-1, SIM-2). Made by the composition root and by tests
with `open_simulated_grid`. Invariant: at most one link an avatar is open; leaving the context ends them
all with ``grid_closed`` and leaves no task.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, final

import trio

from gridagent.events import DisconnectCause
from gridagent.grid.base import BackendFactory, GridBackend, Redeem
from gridagent.grid.homing import home_of
from gridagent.grid.simulated.backend import SimulatedBackend
from gridagent.grid.simulated.faults import FLOOD_PER_S_MAX, FaultCounts, FaultKind, Faults, without_faults
from gridagent.grid.simulated.link import KICK_REASON, Link
from gridagent.grid.simulated.sessions import OnEnd, OnEvent
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId, Generation
from gridagent.limits import GRID_EVENT_QUEUE_MAX
from gridagent.runtime.ports import Clock, Ports

__all__ = ("Hands", "SimulatedGrid", "open_simulated_grid")

_SHORTEST_FLOOD_S: Final = 0.1


@final
class SimulatedGrid:
    """A running simulated grid; made by `open_simulated_grid`."""

    __slots__ = ("_clock", "_faults", "_links", "_streams", "_wake", "counts", "events_max", "world")

    def __init__(self, world: World, clock: Clock, faults: Faults) -> None:
        self.world = world
        """The world itself, for reading and for building while it runs; pass ``now()`` where it asks."""
        self.counts = FaultCounts()
        """How often each fault really happened."""
        self.events_max = GRID_EVENT_QUEUE_MAX
        """Events that may wait between a connection and its session, for connections made from now on."""
        self._clock = clock
        self._faults = faults
        self._links: dict[AvatarId, Link] = {}  # one an avatar
        self._streams: dict[AvatarId, random.Random] = {}  # one an avatar
        self._wake = trio.Event()

    def now(self) -> float:
        """Return the moment on the service's monotonic clock."""
        return self._clock.monotonic()

    # --- connections -----------------------------------------------------------------------------

    def backend_factory(
        self, avatar_id: AvatarId, *, home: str | None = None, heeded: frozenset[str] = frozenset()
    ) -> BackendFactory:
        """Return what makes this avatar's backends, one a generation.

        Args:
            avatar_id: whose.
            home: where it goes that is sent home, as ``Region/x/y/z``; None leaves that to the grid.
            heeded: avatars whose words a flood of others' cannot push out, by UUID.

        Raises:
            OperatorError: the world has no such account.
        """
        self.world.avatar(avatar_id)
        place = home_of(home)

        def make(*, generation: Generation, redeem: Redeem) -> GridBackend:
            del generation  # a link has no need of it: the session fences what comes late
            return SimulatedBackend(self, avatar_id, redeem, home=place, heeded=heeded)

        return make

    def open_link(
        self, avatar_id: AvatarId, on_event: OnEvent, on_end: OnEnd, *, heeded: frozenset[str] = frozenset()
    ) -> Link:
        """Return a link that has not logged in; the avatar's earlier one is broken off if it is live still."""
        earlier = self._links.pop(avatar_id, None)
        if earlier is not None:
            earlier.disconnect(None)
        rng = self._streams.get(avatar_id)
        if rng is None:
            rng = self._streams[avatar_id] = self.world.stream(f"link/{avatar_id}")
        link = Link(
            self.world,
            avatar_id,
            faults=self._faults,
            counts=self.counts,
            rng=rng,
            on_event=on_event,
            on_end=on_end,
            heeded=heeded,
        )
        self._links[avatar_id] = link
        return link

    def forget_link(self, link: Link) -> None:
        """Let go of a link that is closed."""
        if self._links.get(link.avatar_id) is link:
            del self._links[link.avatar_id]

    # --- faults by hand --------------------------------------------------------------------------

    @property
    def faults(self) -> Faults:
        """The knobs in force."""
        return self._faults

    def set_faults(self, faults: Faults) -> None:
        """Change the knobs for every connection, open ones too."""
        self._faults = faults
        self._catch_up()
        for link in self._links.values():
            link.set_faults(faults)

    def calm(self) -> None:
        """Let nothing go wrong from now on; the pace stays (Spec: SIM-4)."""
        self.set_faults(without_faults(self._faults))

    def disconnect(self, avatar_id: AvatarId) -> bool:
        """Break an avatar's circuit; tell whether there was one."""
        link = self._live(avatar_id)
        return link is not None and link.disconnect()

    def abandon(self, avatar_id: AvatarId) -> None:
        """Let an avatar's client vanish, as when its machine dies: what it still tries reaches nobody."""
        link = self._links.pop(avatar_id, None)
        if link is not None:
            link.abandon()

    def kick(self, avatar_id: AvatarId, reason: str = KICK_REASON) -> bool:
        """End an avatar's session by an administrator's hand; tell whether there was one."""
        link = self._live(avatar_id)
        return link is not None and link.kick(reason)

    def restart_region(self, name: str, *, notice_s: float = 30.0, down_s: float = 60.0) -> bool:
        """Announce and carry out a restart; tell whether none was under way already.

        Raises:
            OperatorError: the map has no such region.
        """
        if not self.world.restart_region(name, self.now(), notice_s=notice_s, down_s=down_s):
            return False
        self.counts.add(FaultKind.REGION_RESTART)
        return True

    def stall(self, avatar_id: AvatarId, for_s: float) -> bool:
        """Let nothing reach an avatar for a while; tell whether it has an open connection."""
        link = self._live(avatar_id)
        return link is not None and link.stall(for_s)

    def flood(self, avatar_id: AvatarId, per_s: float, for_s: float, *, senders: int | None = None) -> bool:
        """Pour hostile words over an avatar; tell whether it has an open connection.

        Args:
            avatar_id: the victim.
            per_s: utterances a second.
            for_s: seconds it lasts.
            senders: accounts they come from; the knob's number by default.
        """
        link = self._live(avatar_id)
        return link is not None and link.flood(per_s, for_s, senders)

    def _live(self, avatar_id: AvatarId) -> Link | None:
        self._catch_up()
        link = self._links.get(avatar_id)
        return link if link is not None and link.live else None

    @property
    def hands(self) -> Hands:
        """The connections as a scenario's timeline wants them."""
        return Hands(self)

    def _catch_up(self) -> None:
        self.world.advance(self.now())

    # --- the pump --------------------------------------------------------------------------------

    async def pump(self) -> None:
        """Let the world move on until cancelled.

        Cancellation: safe; what was due has happened, what was not waits.
        """
        self.world.on_sooner(self._on_sooner)
        try:
            while True:
                self._catch_up()
                self._wake = trio.Event()
                due = self.world.next_timer()
                if due is None:
                    await self._wake.wait()
                else:
                    with trio.move_on_after(max(0.0, due - self.now())):
                        await self._wake.wait()
        finally:
            self.world.on_sooner(None)

    def _on_sooner(self) -> None:
        self._wake.set()

    def close(self) -> None:
        """End every connection in order."""
        for link in tuple(self._links.values()):
            link.end_in_order(DisconnectCause.GRID_CLOSED)


@final
class Hands:
    """What breaks connections for a scenario's timeline; an avatar without a connection is left alone."""

    __slots__ = ("_grid",)

    def __init__(self, grid: SimulatedGrid) -> None:
        self._grid = grid

    def disconnect(self, avatar_id: AvatarId) -> None:
        """Let the avatar's connection break without a word."""
        self._grid.disconnect(avatar_id)

    def stall(self, avatar_id: AvatarId, for_s: float) -> None:
        """Let the avatar's connection carry nothing for a while."""
        self._grid.stall(avatar_id, for_s)

    def flood(self, avatar_id: AvatarId, messages: int, senders: int, over_s: float) -> None:
        """Let strangers send the avatar many words."""
        lasts_s = max(over_s, messages / FLOOD_PER_S_MAX, _SHORTEST_FLOOD_S)
        self._grid.flood(avatar_id, messages / lasts_s, lasts_s, senders=senders)


@asynccontextmanager
async def open_simulated_grid(
    world: World, *, ports: Ports, faults: Faults | None = None
) -> AsyncIterator[SimulatedGrid]:
    """Run a world until the block is left.

    Args:
        world: built with its own seeded randomness and ids, e.g. from a scenario.
        ports: the clock by which it runs.
        faults: knobs for every connection; by default nothing goes wrong.
    """
    grid = SimulatedGrid(world, ports.clock, faults or Faults())
    world.book.begin(ports.clock.wall())
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(grid.pump)
            try:
                yield grid
            finally:
                grid.close()
                nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # The nursery is ours, not the caller's: what one of the two raised comes out as it was raised.
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from group.exceptions[0].__cause__
        raise
