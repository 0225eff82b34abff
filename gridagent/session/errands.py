"""The errands of one session's mind: who is out, who waits for a place, and how each came back.

Owns the places and the waiting; knows nothing of what an errand is. Runs inside the connection's nursery, so no
errand outlives its generation. Its invariants: at most ``limit`` out at once (Spec: BND-4) and `WAITING_MAX`
waiting; whatever happens to an errand, one end of it is reported, and only its place is given back when that was
read, so that reporting never waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec
import trio

from gridagent.errors import GridAgentError
from gridagent.mind import ErrandFailed
from gridagent.session.connection import Connection, LogError
from gridagent.session.effects import RunErrand
from gridagent.session.faculties import Faculties

__all__ = ("ErrandEnd", "Errands")

WAITING_MAX: Final = 1_024


class ErrandEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What one errand brought."""

    generation: int
    number: int
    answer: object
    """`ErrandFailed` where it brought nothing."""


class _Waiting(msgspec.Struct, frozen=True):
    work: RunErrand
    until: float
    """On the trio clock."""


class Errands:
    """The places, the waiting and the going.

    Args:
        limit: most errands out at once.
        name: how their tasks are called.
        faculties: answer them.
        report: takes each one's end; must not block or raise.
        log_error: takes a stable code and the error.
    """

    __slots__ = ("_faculties", "_log_error", "_name", "_out", "_places", "_report", "_waiting")

    def __init__(
        self,
        *,
        limit: int,
        name: str,
        faculties: Faculties,
        report: Callable[[ErrandEnd], None],
        log_error: LogError,
    ) -> None:
        self._faculties = faculties
        self._name = name
        self._report = report
        self._log_error = log_error
        self._places = limit
        self._waiting: deque[_Waiting] = deque(maxlen=WAITING_MAX)
        self._out: dict[int, trio.CancelScope] = {}  # at most ``limit``

    def __len__(self) -> int:
        return len(self._out)

    @property
    def startable(self) -> bool:
        """Whether somebody waits and there is a place."""
        return bool(self._waiting) and self._places > 0

    def put(self, work: RunErrand) -> ErrandEnd | None:
        """Let an errand wait for a place.

        Returns:
            Its end, if too many wait already.
        """
        if len(self._waiting) >= WAITING_MAX:
            return _end(work, ErrandFailed(code="busy"))
        self._waiting.append(_Waiting(work, trio.current_time() + work.errand.timeout_s))
        return None

    def start_next(self, connection: Connection | None) -> ErrandEnd | None:
        """Send out the one that waited longest.

        Returns:
            Its end, if it could not be sent because its connection is gone.
        """
        waited = self._waiting.popleft()
        work = waited.work
        scope = trio.CancelScope(deadline=waited.until)
        if (
            connection is None
            or connection.generation is not work.generation
            or not connection.start(partial(self._go, connection, work, scope), self._name)
        ):
            return _end(work, ErrandFailed(code="refused"))
        self._places -= 1
        self._out[work.number] = scope
        return None

    def end_was_read(self) -> None:
        """Give a place back: the coordinator has read one errand's end."""
        self._places += 1

    def give_up(self, number: int) -> None:
        """Cancel an errand; its end is reported all the same where it was out."""
        scope = self._out.get(number)
        if scope is not None:
            scope.cancel(reason="given up")
            return
        for waited in self._waiting:
            if waited.work.number == number:
                self._waiting.remove(waited)
                return

    async def _go(self, connection: Connection, work: RunErrand, scope: trio.CancelScope) -> None:
        answer: object = ErrandFailed(code="timeout")  # or cancelled, and then nobody reads it
        try:
            with scope:
                answer = await self._ask(connection, work)
        finally:
            del self._out[work.number]
            self._report(_end(work, answer))

    async def _ask(self, connection: Connection, work: RunErrand) -> object:
        try:
            return await self._faculties.perform(work.errand.what, connection.backend)
        except GridAgentError as error:
            return ErrandFailed(code="refused", error=error)
        except Exception as error:  # noqa: BLE001 - what cannot be looked up ends one errand, not the session
            self._log_error("errand_failed", error)
            return ErrandFailed(code="broke")


def _end(work: RunErrand, answer: object) -> ErrandEnd:
    return ErrandEnd(generation=work.generation.number, number=work.number, answer=answer)
