"""One connection of one account, led by hand: what a session is to a backend, with a memory.

Owns a live backend, a policy gateway that lets its operator do what the check does and nothing more, and the newest
`REMEMBERED_MAX` events. Every action goes the whole way: decided, minted, redeemed, sent, proved (Spec: POL-1, EFX-1).
Made by `live_grid.check.course`. Invariant: a visit ends by `leave` or by `vanish`, and either lets go of the network.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeVar, final

import trio

from gridagent.actions import Action, Confirmed, Outcome, Refused
from gridagent.authority import ActionRequest, Origin, Principal, Provenance
from gridagent.config.policy import METER_CEILINGS, Budget, BudgetScope, Meter, PolicySection
from gridagent.errors import BackendError
from gridagent.events import BackendReady, DisconnectCause, GridEvent
from gridagent.grid.base import RedeemedAction
from gridagent.ids import CorrelationId, Generation
from gridagent.policy import Authorized, AuthorizedAction, Gateway, Instant, Policy
from gridagent.runtime.ports import Ports
from live_grid.backend import LiveAccount, LiveBackend, LiveSettings
from live_grid.check.report import StepFailed

__all__ = ("REMEMBERED_MAX", "Visit")

REMEMBERED_MAX: Final = 4_096
_GENERATION: Final = Generation(1)
_WAY_M: Final = 32.0
"""What a walk of the check is charged with: none is longer."""
_METERS: Final = frozenset(Meter) - {Meter.LINDEN, Meter.UPLOADS, Meter.CALLS_MONEY, Meter.CALLS_UPLOAD}
"""What a check may use up; it pays nobody and uploads nothing."""

E = TypeVar("E", bound=GridEvent)


@lru_cache(maxsize=1)
def _policy() -> Policy:
    budgets: dict[Meter, tuple[Budget, ...]] = {
        meter: (Budget(per=BudgetScope.GLOBAL, limit=min(1_000, METER_CEILINGS[meter]), window_s=60),)
        for meter in _METERS
    }
    return Policy(PolicySection(budgets=budgets))


@final
class Visit:
    """One account's stay.

    Args:
        account: who.
        settings: how to reach the grid.
        ports: clock and ids.
    """

    __slots__ = ("_asked", "_changed", "_events", "_gateway", "_ports", "_scope", "_seen", "backend", "detail", "ended")

    def __init__(self, account: LiveAccount, settings: LiveSettings, *, ports: Ports) -> None:
        self._ports = ports
        self._gateway = Gateway(_policy(), tokens=ports.ids.uuid, audit=lambda _: None)
        self._gateway.open_generation(_GENERATION)
        self._events: deque[GridEvent] = deque(maxlen=REMEMBERED_MAX)
        self._seen = 0
        self._asked = 0
        self._changed = trio.Event()
        self._scope = trio.CancelScope()
        self.ended: DisconnectCause | None = None
        self.detail = ""
        """The grid's own words about the end: for a log, not for the report."""
        self.backend = LiveBackend(account, settings, redeem=self._redeem, new_id=ports.ids.uuid)

    # --- arriving and leaving ---------------------------------------------------------------------
    async def enter(self, nursery: trio.Nursery) -> BackendReady:
        """Log in and wait until we are in the world.

        Raises:
            StepFailed: we did not get there.
        """
        nursery.start_soon(self._run)
        while True:
            ready = self.newest(BackendReady)
            if ready is not None:
                return ready
            if self.ended is not None:
                raise StepFailed(self.ended.value)
            await self._change()

    async def leave(self) -> None:
        """Log out and let go of the network.

        Cancellation: the grid has been told.
        """
        self._scope.cancel()
        await self.backend.logout()

    async def vanish(self) -> None:
        """Let go of the network without a word, as a killed process does.

        Cancellation: done all the same.
        """
        self._scope.cancel()
        connection = self.backend.connection
        if connection is not None:
            connection.udp.close()
            with trio.CancelScope(shield=True):
                await connection.web.aclose()

    async def wait_for_end(self) -> DisconnectCause:
        """Wait until the connection is over; return why."""
        while self.ended is None:
            await self._change()
        return self.ended

    async def _run(self) -> None:
        try:
            with self._scope:
                await self.backend.run(self)
        except BackendError as error:
            self.ended, self.detail = DisconnectCause(error.cause), error.detail
        else:
            self.ended = DisconnectCause.GRID_CLOSED
        self._changed.set()

    # --- acting -----------------------------------------------------------------------------------
    async def act(self, action: Action) -> Outcome:
        """Ask the policy for an action and perform it.

        Raises:
            StepFailed: the policy refused, which is a fault of the check.
        """
        self._asked += 1
        request = ActionRequest(
            action=action,
            principal=Principal(client="live check"),
            origin=Origin.OPERATOR_CONSOLE,
            generation=_GENERATION,
            correlation=CorrelationId("live check"),
            cause=f"step {self._asked}",
            target_provenance=Provenance.CONFIGURATION,
            verbatim=True,
            travel_m=_WAY_M,
        )
        decision = self._gateway.decide(request, self._now())
        if not isinstance(decision, Authorized):
            raise StepFailed(f"policy: {decision.rule}")
        outcome = await self.backend.apply(decision.handle)
        self._gateway.settle(decision.effect, outcome, self._now())
        return outcome

    async def do(self, action: Action) -> str:
        """Perform an action that has to work; return what proved it.

        Raises:
            StepFailed: it did not work, or nothing proved it.
        """
        outcome = await self.act(action)
        if isinstance(outcome, Confirmed):
            return outcome.evidence.value
        word = "refused" if isinstance(outcome, Refused) else "in doubt"
        name = str(type(action).__struct_config__.tag)
        raise StepFailed(f"{name} {word}: {outcome.reason}")

    def _now(self) -> Instant:
        return Instant(self._ports.clock.wall(), self._ports.clock.monotonic())

    def _redeem(self, handle: AuthorizedAction) -> RedeemedAction:
        return self._gateway.redeem(handle, generation=_GENERATION, now=self._now())

    # --- perceiving -------------------------------------------------------------------------------
    @property
    def mark(self) -> int:
        """This moment, for `told`."""
        return self._seen

    async def told(
        self, kind: type[E], fits: Callable[[E], bool] = lambda _: True, *, since: int, within_s: float
    ) -> E:
        """Wait for an event.

        Args:
            kind: of it.
            fits: tells whether it is the one.
            since: a `mark`; what came earlier does not count.
            within_s: how long to wait.

        Raises:
            StepFailed: it did not come in time, or the connection ended.
        """
        with trio.move_on_after(within_s):
            while True:
                for event in self.events(since):
                    if isinstance(event, kind) and fits(event):
                        return event
                if self.ended is not None:
                    raise StepFailed(f"connection ended: {self.ended.value}")
                await self._change()
        raise StepFailed(f"no {kind.__struct_config__.tag} within {within_s:g} s")

    def events(self, since: int = 0) -> list[GridEvent]:
        """Return what was told since a mark, as far as it is remembered."""
        count = min(self._seen - since, len(self._events))
        return list(self._events)[len(self._events) - count :]

    def newest(self, kind: type[E]) -> E | None:
        """Return the newest event of a kind."""
        return next((event for event in reversed(self._events) if isinstance(event, kind)), None)

    async def _change(self) -> None:
        self._changed = trio.Event()
        await self._changed.wait()

    # --- what the backend puts events into --------------------------------------------------------
    async def send(self, event: GridEvent) -> None:
        """Take one event."""
        await self.send_many((event,))

    async def send_many(self, events: Sequence[GridEvent]) -> None:
        """Take some events."""
        await trio.lowlevel.checkpoint()
        self._events.extend(events)
        self._seen += len(events)
        self._changed.set()
