"""The simulated grid's side of the grid port: one connection, one generation.

Owns the way of events from the world (which calls and does not wait) to the session's sink (which makes
wait), and of actions with their evidence. Every action is redeemed and performed without an await in
between (Spec: POL-1); then its evidence is waited for, and what confirms it goes to the sink as well
(Spec: EFX-1, SUP-12). Made by `SimulatedGrid.backend_factory`. Invariant: every handle that was redeemed
gets exactly one outcome, and at most `SimulatedGrid.events_max` events wait for the sink.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

import trio

from gridagent.actions import Action, InDoubt, Outcome, Position, Refused, TeleportTo
from gridagent.errors import BackendError, LocalProtocolError, ResourceClosed
from gridagent.events import AvatarView, DisconnectCause, GridEvent, ObjectView, PartHealth
from gridagent.grid.base import REFERENCE_CHARS, EventSink, Redeem, Traces
from gridagent.grid.buffer import EventBuffer
from gridagent.grid.evidence import EvidenceContext, judge
from gridagent.grid.homing import sent_home
from gridagent.grid.simulated.faults import FaultKind
from gridagent.grid.simulated.link import Link
from gridagent.ids import AvatarId
from gridagent.limits import OPEN_EFFECTS_MAX, Label
from gridagent.policy.authorized import AuthorizedAction
from gridagent.tools.ports import InventoryFound, RegionFound

if TYPE_CHECKING:
    from gridagent.grid.simulated.grid import SimulatedGrid

__all__ = ("MAP_S", "SimulatedBackend")

MAP_S: Final = 0.3
"""What a look at the map takes, in seconds."""


class _Wait:
    """One action that waits for its evidence."""

    __slots__ = ("action", "outcome", "reference", "settled")

    def __init__(self, action: Action, reference: Label) -> None:
        self.action = action
        self.reference = reference
        self.outcome: Outcome | None = None
        self.settled = trio.Event()

    def settle(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.settled.set()


@final
class SimulatedBackend:
    """One connection to the simulated grid; see `gridagent.grid.base.GridBackend`."""

    __slots__ = (
        "_avatar_id",
        "_buffer",
        "_cause",
        "_context",
        "_grid",
        "_heeded",
        "_home",
        "_link",
        "_redeem",
        "_waits",
        "_wake",
    )

    def __init__(
        self,
        grid: SimulatedGrid,
        avatar_id: AvatarId,
        redeem: Redeem,
        *,
        home: TeleportTo | None = None,
        heeded: frozenset[str] = frozenset(),
    ) -> None:
        self._grid = grid
        self._heeded = heeded
        self._home = home
        self._avatar_id = avatar_id
        self._redeem = redeem
        self._link: Link | None = None
        self._cause: DisconnectCause | None = None
        self._buffer = EventBuffer(grid.events_max, heeded)
        self._wake = trio.Event()
        self._waits: list[_Wait] = []  # bounded in `apply`
        self._context = EvidenceContext(me=avatar_id, where=self._where)

    async def run(self, sink: EventSink) -> None:
        """Log in, then put events until the connection ends; returns when the grid closed it in order.

        Raises:
            BackendError: the login was refused, or the connection ended otherwise.
            LocalProtocolError: called a second time.

        Cancellation: safe; the avatar stays in the world until `logout`.
        """
        if self._link is not None:
            raise LocalProtocolError("a backend runs once; make a new one for a new generation")
        link = self._link = self._grid.open_link(self._avatar_id, self._on_event, self._on_end, heeded=self._heeded)
        try:
            await trio.sleep(link.login_delay())
            link.open(self._grid.now())
            await self._forward(sink)
        except ResourceClosed:
            # The session fenced this generation; ending quietly is what it wants.
            await trio.lowlevel.cancel_shielded_checkpoint()
        finally:
            self._settle_all()

    async def _forward(self, sink: EventSink) -> None:
        while True:
            batch = self._buffer.drain()
            if batch:
                await sink.send_many(batch)
            elif self._cause is None:
                self._wake = trio.Event()
                await self._wake.wait()
            elif self._cause is DisconnectCause.GRID_CLOSED:
                return
            else:
                raise BackendError(self._cause)

    async def apply(self, authorized: AuthorizedAction) -> Outcome:
        """Redeem the handle, perform the action, and wait for its evidence until its deadline.

        Raises:
            AuthorityRefused: the handle is not honoured; nothing was sent.

        Bounds: at most `OPEN_EFFECTS_MAX` actions wait at once; one more is refused unsent.

        Cancellation: may have acted.
        """
        redeemed = self._redeem(authorized)
        action, reference = sent_home(redeemed.action, self._home), redeemed.effect[:REFERENCE_CHARS]
        link = self._link
        if link is None or not link.live:
            return await _unsent("not_connected")
        if len(self._waits) >= OPEN_EFFECTS_MAX:
            return await _unsent("too_many_actions")
        wait = _Wait(action, reference)
        self._waits.append(wait)
        try:
            link.perform(action, self._grid.now(), reference)
            with trio.move_on_after(action.spec.deadline_s):
                await wait.settled.wait()
        finally:
            if wait in self._waits:
                self._waits.remove(wait)
        return InDoubt(reason="no_evidence") if wait.outcome is None else wait.outcome

    async def logout(self) -> None:
        """Take the avatar out of the world; what still waits for evidence is in doubt.

        Cancellation: the logout has been asked for already.
        """
        link = self._link
        if link is not None:
            link.close(self._grid.now())
            self._grid.forget_link(link)
        self._settle_all()
        await trio.lowlevel.checkpoint()

    def halt(self) -> None:
        """Cease walking and following."""
        if self._link is not None and self._link.live:
            self._grid.world.halt(self._avatar_id, self._grid.now())

    def avatars(self) -> Sequence[AvatarView]:
        """Return who is near now, nearest first; nobody before the login and after the end."""
        return self._grid.world.avatars_near(self._avatar_id) if self._is_live() else ()

    def objects(self) -> Sequence[ObjectView]:
        """Return what is near now, nearest first; nothing before the login and after the end."""
        return self._grid.world.objects_near(self._avatar_id) if self._is_live() else ()

    def vitals(self) -> Sequence[PartHealth]:
        """Return nothing: there is no wire that could be ill."""
        return ()

    def traces(self, reference: Label) -> Traces:
        """Return what the grid still shows of a deed; nothing before the login and after the end."""
        return self._grid.world.traces(self._avatar_id, reference) if self._is_live() else Traces()

    async def find_region(self, region: str) -> RegionFound | None:
        """Return a region by its name; None where the map has none, or the avatar is not in the world.

        Cancellation: safe.
        """
        await trio.sleep(MAP_S)
        wanted = region.casefold()
        for each in self._grid.world.regions() if self._is_live() else ():
            if each.name.casefold() == wanted:
                return RegionFound(region=each.name, online=each.up, avatars=len(each.avatars))
        return None

    async def search(self, *, words: str, kind: str, limit: int) -> InventoryFound | None:
        """Return items whose name holds the words, of a kind or of any; None while the avatar is not in the world.

        Cancellation: safe.
        """
        await trio.lowlevel.checkpoint()
        if not self._is_live():
            return None
        wanted = words.casefold()
        found = [
            item
            for item in self._grid.world.inventory(self._avatar_id)
            if wanted in item.name.casefold() and kind in {"", item.kind}
        ]
        return InventoryFound(items=tuple(found[:limit]), more=max(0, len(found) - limit))

    # --- called by the link, synchronously -------------------------------------------------------

    def _on_event(self, event: GridEvent) -> None:
        for wait in self._waits:
            verdict = judge(wait.action, wait.reference, event, self._context)
            if verdict is not None:
                # One piece of evidence settles one action, the oldest that it fits.
                self._waits.remove(wait)
                wait.settle(verdict)
                break
        if not self._buffer.put(event) and self._link is not None:
            self._link.disconnect(FaultKind.OVERFLOW)
        self._wake.set()

    def _on_end(self, cause: DisconnectCause) -> None:
        self._cause = cause
        self._settle_all()
        self._wake.set()

    def _settle_all(self) -> None:
        waits, self._waits = self._waits, []
        for wait in waits:
            wait.settle(InDoubt(reason="connection_lost"))

    def _is_live(self) -> bool:
        return self._link is not None and self._link.live

    def _where(self, avatar_id: AvatarId) -> Position | None:
        return self._grid.world.position(avatar_id)


async def _unsent(reason: Label) -> Refused:
    await trio.lowlevel.checkpoint()
    return Refused(reason=reason)
