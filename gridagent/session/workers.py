"""The workers of one session: each applies one authorised action and reports one end.

Owns who is working, who waits for a place, and how an action that was cut off ended. Runs inside the
connection's nursery, so no worker outlives its generation. Its invariants: at most ``limit`` at once
(Spec: BND-4); whatever happens to a worker, its effect gets exactly one end, and never a guess: sent and
cut off is in doubt, not sent is refused (Spec: EFX-1, EFX-2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import msgspec
import trio

from gridagent.actions import InDoubt, Outcome, Refused, Resource
from gridagent.errors import AuthorityRefused
from gridagent.ids import EffectKey
from gridagent.limits import OPEN_EFFECTS_MAX
from gridagent.session.connection import Connection, LogError
from gridagent.session.effects import CancelWork, Perform

__all__ = ("ActionEnd", "Workers")

_BODY_STOPPED: Final = frozenset({"preempted", "stopped"})


class ActionEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How one action ended."""

    generation: int
    effect: EffectKey
    outcome: Outcome


class _Worker:
    """One action being applied."""

    __slots__ = ("cut_off", "scope", "sent")

    def __init__(self) -> None:
        self.scope = trio.CancelScope()
        self.sent = False
        """The handle was redeemed: from here on it may have happened."""
        self.cut_off = "stale_generation"
        """Why it ended early, if it does."""


class Workers:
    """The places, the waiting and the working.

    Args:
        limit: most actions applied at once.
        name: how their tasks are called.
        prepare: awaited before an action is applied; an outcome it returns is the end, and nothing is sent.
        report: takes each worker's end; must not block or raise.
        log_error: takes a stable code and the error.
    """

    __slots__ = ("_log_error", "_name", "_places", "_prepare", "_report", "_waiting", "_working")

    def __init__(
        self,
        *,
        limit: int,
        name: str,
        prepare: Callable[[Perform], Awaitable[Refused | None]],
        report: Callable[[ActionEnd], None],
        log_error: LogError,
    ) -> None:
        self._prepare = prepare
        self._name = name
        self._report = report
        self._log_error = log_error
        self._places = limit
        self._waiting: deque[Perform] = deque(maxlen=OPEN_EFFECTS_MAX)  # the ledger admits no more open effects
        self._working: dict[EffectKey, _Worker] = {}  # at most ``limit``

    def __len__(self) -> int:
        return len(self._working)

    @property
    def startable(self) -> bool:
        """Whether somebody waits and there is a place."""
        return bool(self._waiting) and self._places > 0

    def put(self, work: Perform) -> None:
        """Let an action wait for a place."""
        self._waiting.append(work)

    def start_next(self, connection: Connection | None) -> ActionEnd | None:
        """Start the action that waited longest.

        Returns:
            Its end, if it could not be started because its connection is gone.
        """
        work = self._waiting.popleft()
        worker = _Worker()
        live = connection is not None and connection.generation is work.generation
        if (
            connection is None
            or not live
            or not connection.start(partial(self._work, connection, work, worker), self._name)
        ):
            return _refused(work, "stale_generation")
        self._places -= 1
        self._working[work.authorized.effect] = worker
        return None

    def end_was_read(self) -> None:
        """Give a place back: the coordinator has read one worker's end."""
        self._places += 1

    def note_sent(self, effect: EffectKey) -> None:
        """Take note that an effect's handle was redeemed."""
        worker = self._working.get(effect)
        if worker is not None:
            worker.sent = True

    def cut_off(self, order: CancelWork) -> list[ActionEnd]:
        """Cancel one effect's worker, or all.

        Returns:
            The ends of those that had not begun; workers report their own.
        """
        for key, worker in self._working.items():
            if order.effect in {None, key}:
                worker.cut_off = order.reason
                worker.scope.cancel(reason=order.reason)
        never = [work for work in self._waiting if order.effect in {None, work.authorized.effect}]
        for work in never:
            self._waiting.remove(work)
        return [_refused(work, order.reason) for work in never]

    async def _work(self, connection: Connection, work: Perform, worker: _Worker) -> None:
        outcome: Outcome | None = None
        try:
            with worker.scope:
                outcome = await self._apply(connection, work, worker)
        finally:
            del self._working[work.authorized.effect]
            self._report(_end(work, _cut_short(work, worker) if outcome is None else outcome))

    async def _apply(self, connection: Connection, work: Perform, worker: _Worker) -> Outcome | None:
        try:
            refused = await self._prepare(work)
            if refused is not None:
                return refused
            # From here to the backend's redeem there is no await: what was made durable is what is sent.
            return await connection.backend.apply(work.authorized.handle)
        except AuthorityRefused as error:
            return Refused(reason=error.reason)
        except Exception as error:  # noqa: BLE001 - a backend's fault ends one action, not the session
            self._log_error("apply_failed", error)
            worker.cut_off = "backend_fault"
            return None


def _end(work: Perform, outcome: Outcome) -> ActionEnd:
    return ActionEnd(generation=work.generation.number, effect=work.authorized.effect, outcome=outcome)


def _refused(work: Perform, reason: str) -> ActionEnd:
    return _end(work, Refused(reason=reason))


def _cut_short(work: Perform, worker: _Worker) -> Outcome:
    """Say how an action ended that was cut off, by what is known: never a guess."""
    if not worker.sent:
        return Refused(reason=worker.cut_off)
    if work.authorized.action.spec.resource is Resource.BODY and worker.cut_off in _BODY_STOPPED:
        return Refused(reason=worker.cut_off)  # the walk did not arrive, and is being stopped
    return InDoubt(reason=worker.cut_off)
