"""A one-for-one supervisor: runs children in a nursery, restarts them, gives up, stops them in order.

Owns the tasks of its children and when each runs; `gridagent.runtime.restart` owns the rules. May
not know what a child does. The only place that catches `Exception` on purpose: everything else a
child raises (`trio.Cancelled`, `KeyboardInterrupt`, `SystemExit`) is no failure and goes up.

Stopping is one named policy, whether one child is stopped, the block is left or a failure escalates:
ask → wait ``shutdown_s`` → cancel → wait until it is gone → report. Several children stop one after
the other in reverse start order; an outer cancellation reaches them this way only.

Invariant: no child's task outlives the ``async with`` (Spec: SUP-2, SUP-3, SUP-7, BND-4).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import Enum
from math import isfinite
from random import Random
from typing import Final, Self

import attrs
import msgspec
import trio

from gridagent.errors import GridAgentError, LimitExceeded, OperatorError, ResourceBusy, ResourceClosed
from gridagent.runtime.ports import Clock
from gridagent.runtime.restart import (
    CHILD_TABLE,
    Backoff,
    ChildInput,
    ChildState,
    RestartClass,
    RestartDecision,
    RestartIntensity,
    RestartWindow,
    restarts_after,
)

__all__ = (
    "CHILDREN_MAX",
    "ChildExit",
    "ChildSpec",
    "EscalationError",
    "ExitReason",
    "Supervisor",
    "SupervisorStatistics",
    "open_supervisor",
)

CHILDREN_MAX: Final = 1_024
"""Living children of one supervisor."""


class EscalationError(GridAgentError):
    """A child failed more often than its intensity allows; the others were stopped. Its last error is the cause."""

    code = "escalated"

    def __init__(self, supervisor: str, child: str, intensity: RestartIntensity) -> None:
        self.supervisor = supervisor
        self.child = child
        self.intensity = intensity
        super().__init__(
            f"{supervisor}: {child} needed more than {intensity.max_restarts} restarts in {intensity.window_s:g} s"
        )


class ExitReason(Enum):
    """How one run of a child ended."""

    FINISHED = "finished"
    """It returned."""
    FAILED = "failed"
    """It raised an `Exception`."""
    STOPPED = "stopped"
    """It was asked to stop, and ended by itself in time."""
    CANCELLED = "cancelled"
    """It was asked to stop, and had to be cancelled (or had nothing to be asked with)."""
    INTERRUPTED = "interrupted"
    """It raised something that is no failure (`KeyboardInterrupt`), which goes up."""


class ChildExit(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a child is over."""

    name: str
    reason: ExitReason
    error: Exception | None
    """What it raised; it may carry text from outside, so it goes to the redacted log only (Spec: SUP-10)."""
    ran_s: float
    """Seconds on the trio clock."""
    restart_in_s: float | None
    """Seconds until it runs again, or None."""
    state: ChildState
    """The child's state after this."""


@attrs.frozen(kw_only=True)
class ChildSpec:
    """What a supervisor needs to know of a child.

    Raises:
        ValueError: the name is empty, or ``shutdown_s`` is negative or endless.
    """

    name: str
    """Unique among the supervisor's living children."""
    run: Callable[[], Awaitable[object]]
    """One run, from start to end; called anew for each restart. Its shielded clean-up needs a deadline of its own."""
    restart: RestartClass
    shutdown_s: float
    """Seconds between being asked to stop and being cancelled."""
    ask: Callable[[], None] | None = None
    """Asks the child to end soon, synchronously; without it a stop cancels at once."""
    intensity: RestartIntensity | None = None
    """The supervisor's own if None."""

    def __attrs_post_init__(self) -> None:
        if not self.name:
            raise ValueError("a child has a name")
        if not (isfinite(self.shutdown_s) and self.shutdown_s >= 0):
            raise ValueError(f"{self.name}: shutdown_s is a number of seconds from 0, not {self.shutdown_s}")


class SupervisorStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """A supervisor at one moment."""

    name: str
    children: tuple[tuple[str, ChildState], ...]
    """The living ones in start order."""
    started: int
    """Children ever started; restarts are not counted."""
    restarts: int
    failures: int
    """Runs that raised an `Exception`."""
    stopped: int
    """Children that ended because they were asked to."""
    escalated: bool


class _Child:
    """One living child."""

    __slots__ = ("ask_error", "asked", "backoff", "gone", "intensity", "scope", "spec", "state", "window")

    def __init__(self, spec: ChildSpec, intensity: RestartIntensity, backoff: Backoff) -> None:
        self.spec = spec
        self.intensity = intensity
        self.window = RestartWindow(intensity)
        self.backoff = backoff
        self.state = CHILD_TABLE.initial
        # Shielded: an outer cancellation reaches children through the supervisor, in order. One scope
        # a run and one a wait, so that what a run raises has shed its own Cancelled before it is judged.
        self.scope = trio.CancelScope(shield=True)
        self.gone = trio.Event()
        self.asked = False
        self.ask_error: Exception | None = None

    def renew_scope(self) -> None:
        self.scope = trio.CancelScope(shield=True)

    def step(self, given: ChildInput) -> None:
        self.state = CHILD_TABLE.step(self.state, given)

    def never_again(self) -> None:
        """See to it that the child is not restarted. Idempotent."""
        if self.state is not ChildState.STOPPING:
            self.step(ChildInput.STOP)


class Supervisor:
    """Starts and stops children. Made by `open_supervisor` only."""

    __slots__ = (
        "_backoff",
        "_body",
        "_children",
        "_clock",
        "_closing",
        "_empty",
        "_escalation",
        "_failures",
        "_intensity",
        "_nursery",
        "_on_exit",
        "_restarts",
        "_rng",
        "_started",
        "_stopped",
        "name",
    )

    def __init__(
        self,
        name: str,
        *,
        intensity: RestartIntensity,
        clock: Clock,
        rng: Random,
        backoff: Backoff,
        on_exit: Callable[[ChildExit], None],
    ) -> None:
        self.name = name
        self._nursery: trio.Nursery
        self._intensity = intensity
        self._clock = clock
        self._rng = rng
        self._backoff = backoff
        self._on_exit = on_exit
        self._body = trio.CancelScope()
        self._children: dict[str, _Child] = {}
        self._empty = trio.lowlevel.ParkingLot()
        self._closing = False
        self._escalation: EscalationError | None = None
        self._started = 0
        self._restarts = 0
        self._failures = 0
        self._stopped = 0

    def __repr__(self) -> str:
        return f"<Supervisor {self.name}: {len(self._children)} children>"

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[Self]:
        """Be open for one block; see `open_supervisor`, which calls it."""
        failure: BaseException | None = None
        raised: BaseException | None = None
        try:
            async with trio.open_nursery(strict_exception_groups=True) as self._nursery:
                try:
                    try:
                        with self._body:
                            yield self
                    finally:
                        await self._stop_all()
                except BaseException as error:
                    failure = error
                    raise
        except BaseExceptionGroup as group:
            # The nursery wraps the block's own error too; who wrote the block wants it as it was raised.
            raised = failure if len(group.exceptions) == 1 and group.exceptions[0] is failure else group
        if raised is None:
            if self._escalation is not None:
                raise self._escalation
        elif self._escalation is None:
            raise raised
        else:
            raise BaseExceptionGroup(f"{self.name} escalated, and more went wrong", [self._escalation, raised])

    def start(self, spec: ChildSpec) -> None:
        """Start a child; it first runs at the caller's next checkpoint.

        Raises:
            ResourceBusy: a living child has this name.
            ResourceClosed: the supervisor is stopping.
            LimitExceeded: there are `CHILDREN_MAX` living children.
        """
        if self._closing or self._escalation is not None:
            raise ResourceClosed(self.name)
        if spec.name in self._children:
            raise ResourceBusy(f"{self.name}: child {spec.name}", "it still runs under this name")
        if len(self._children) >= CHILDREN_MAX:
            raise LimitExceeded(f"children of {self.name}", allowed=CHILDREN_MAX)
        child = _Child(spec, spec.intensity or self._intensity, self._backoff.fresh())
        self._children[spec.name] = child
        self._started += 1
        self._nursery.start_soon(self._keep, child, name=f"{self.name}/{spec.name}")

    async def stop(self, name: str) -> None:
        """Stop a child for good: ask → wait ``shutdown_s`` → cancel → wait until it is gone.

        Raises:
            OperatorError: there is no living child of this name.

        Cancellation: may have acted: the child was asked, if it can be, and never runs again. Stop may
        be called again to see it end: it does not ask twice, waits ``shutdown_s`` anew, then cancels.
        """
        child = self._children.get(name)
        if child is None:
            raise OperatorError(f"{self.name} has no running child {name!r}; it ended, or was never started")
        await self._stop(child)

    async def wait_empty(self) -> None:
        """Wait until no child lives.

        Cancellation: safe.
        """
        await trio.lowlevel.checkpoint()
        while self._children:
            await self._empty.park()

    def state(self, name: str) -> ChildState | None:
        """Return the state of a living child, or None."""
        child = self._children.get(name)
        return None if child is None else child.state

    def statistics(self) -> SupervisorStatistics:
        """Return the counts."""
        return SupervisorStatistics(
            name=self.name,
            children=tuple((name, child.state) for name, child in self._children.items()),
            started=self._started,
            restarts=self._restarts,
            failures=self._failures,
            stopped=self._stopped,
            escalated=self._escalation is not None,
        )

    async def _stop(self, child: _Child) -> None:
        resting = child.state is ChildState.BACKOFF
        child.never_again()
        if not resting and not child.scope.cancel_called and self._ask(child):
            with trio.move_on_after(child.spec.shutdown_s):
                await child.gone.wait()
        child.scope.cancel(reason=f"{self.name} stops {child.spec.name}")
        await child.gone.wait()

    def _ask(self, child: _Child) -> bool:
        """Ask once; tell whether waiting for an answer makes sense."""
        if child.spec.ask is None or child.ask_error is not None:
            return False
        if not child.asked:
            child.asked = True
            try:
                child.spec.ask()
            except Exception as error:  # noqa: BLE001 - reported with the child's end; the cancel below still stops it
                child.ask_error = error
                return False
        return True

    async def _stop_all(self) -> None:
        """Stop every child in reverse start order, whatever is cancelled outside."""
        self._closing = True
        try:
            with trio.CancelScope(shield=True):
                while self._children:
                    await self._stop(next(reversed(self._children.values())))
        finally:
            # Only a KeyboardInterrupt comes here with children left: patience is over, and as they
            # are shielded nobody else can end them.
            for child in self._children.values():
                child.never_again()
                child.scope.cancel(reason=f"{self.name} was interrupted while stopping")

    async def _keep(self, child: _Child) -> None:
        """Be the task of one child through all its runs."""
        try:
            while (delay_s := await self._run_once(child)) is not None:
                child.renew_scope()
                with child.scope:
                    await trio.sleep(delay_s)
                if child.state is ChildState.STOPPING:
                    self._end(child, ChildInput.GONE, ExitReason.STOPPED, error=None, ran_s=0.0)
                    return
                child.step(ChildInput.RUN)
                child.renew_scope()
        finally:
            self._forget(child)

    async def _run_once(self, child: _Child) -> float | None:
        """Run a child to its end, decide what follows, report it; return the wait before its next run."""
        began = self._clock.monotonic()
        child.backoff.note_up(began)
        error: Exception | None = None
        try:
            with child.scope:
                if not child.scope.cancel_called:
                    await child.spec.run()
        except Exception as caught:  # noqa: BLE001 - a supervisor's one job
            error = caught
            self._failures += 1
        except BaseException:
            given = ChildInput.GONE if child.state is ChildState.STOPPING else ChildInput.FINISH
            self._end(child, given, ExitReason.INTERRUPTED, error=None, ran_s=self._clock.monotonic() - began)
            raise
        now = self._clock.monotonic()
        child.backoff.note_down(now)
        reason = self._reason(child, error)
        given = self._decide(child, now, failed=error is not None)
        if given is ChildInput.RESTART:
            self._restarts += 1
            delay_s = child.backoff.next_delay(self._rng)
            child.step(given)
            self._report(child, reason, error=error, ran_s=now - began, restart_in_s=delay_s)
            return delay_s
        if given is ChildInput.ESCALATE:
            self._escalation = EscalationError(self.name, child.spec.name, child.intensity)
            self._escalation.__cause__ = error
            self._body.cancel(reason=f"{child.spec.name} escalated")
        self._end(child, given, reason, error=error, ran_s=now - began)
        return None

    @staticmethod
    def _reason(child: _Child, error: Exception | None) -> ExitReason:
        if error is not None:
            return ExitReason.FAILED
        if child.state is ChildState.STOPPING:
            return ExitReason.CANCELLED if child.scope.cancel_called else ExitReason.STOPPED
        return ExitReason.FINISHED

    def _decide(self, child: _Child, now: float, *, failed: bool) -> ChildInput:
        """Say what the end of a run means for its child."""
        if child.state is ChildState.STOPPING:
            return ChildInput.GONE
        if self._closing or self._escalation is not None or not restarts_after(child.spec.restart, failed=failed):
            return ChildInput.FINISH
        if child.window.record(now) is RestartDecision.ESCALATE:
            return ChildInput.ESCALATE
        return ChildInput.RESTART

    def _end(
        self, child: _Child, given: ChildInput, reason: ExitReason, *, error: Exception | None, ran_s: float
    ) -> None:
        """Close a child's life: its name is free before anyone hears of it."""
        child.step(given)
        if given is ChildInput.GONE:
            self._stopped += 1
        self._forget(child)
        self._report(child, reason, error=error or child.ask_error, ran_s=ran_s)

    def _report(
        self,
        child: _Child,
        reason: ExitReason,
        *,
        error: Exception | None,
        ran_s: float,
        restart_in_s: float | None = None,
    ) -> None:
        self._on_exit(
            ChildExit(
                name=child.spec.name,
                reason=reason,
                error=error,
                ran_s=ran_s,
                restart_in_s=restart_in_s,
                state=child.state,
            )
        )

    def _forget(self, child: _Child) -> None:
        """Let the name go and wake who waits for it. Idempotent, also after the name was taken anew."""
        if self._children.get(child.spec.name) is child:
            del self._children[child.spec.name]
        child.gone.set()
        self._empty.unpark_all()


def open_supervisor(
    intensity: RestartIntensity,
    *,
    clock: Clock,
    rng: Random,
    backoff: Backoff,
    on_exit: Callable[[ChildExit], None],
    name: str = "supervisor",
) -> AbstractAsyncContextManager[Supervisor]:
    """Open a supervisor; leaving the block stops every child in reverse start order.

    Args:
        intensity: of each child whose spec names none.
        clock: measures runs and windows.
        rng: draws the waits.
        backoff: its times are taken by every child; it is not changed itself.
        on_exit: told of each end of a run, synchronously, so that no failure goes unseen; what it
            raises stops the supervisor.
        name: how errors and tasks call it.

    Raises:
        EscalationError: a child failed too often; if the block fails as well, both come in a group.
        BaseExceptionGroup: a child raised something that is no failure, or ``on_exit`` raised.

    Cancellation: cancels the block at once, then stops the children as above, shielded: at most the
    sum of their ``shutdown_s``, and as long as a cancelled child needs to clean up.
    """
    return Supervisor(name, intensity=intensity, clock=clock, rng=rng, backoff=backoff, on_exit=on_exit).opened()
