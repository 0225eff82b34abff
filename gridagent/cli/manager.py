"""What ``run`` tells the service manager: ready, reloading, stopping, one line of state, and signs of life.

Owns the order of these words. *Ready* means that the service is up, its endpoints too, and not that avatars are in the
world: a login may take long, or wait for an operator. A sign of life is sent only while `gridagent.service.progress`
proves progress; where it is withheld the log says why, since the manager will end the process for it. The protocol is
`gridagent.cli.notify`'s.

Invariant: without a manager nothing is sent and nothing else changes; no sign of life comes from a timer alone
(Spec: OPS-3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import trio

from gridagent.cli.notify import Notifier, monotonic_usec
from gridagent.observability import Log
from gridagent.observations import AgentState, LinkState
from gridagent.service.api import PartState, Progress, SessionHandle

__all__ = ("ServiceManager",)

_NAMED_MAX: Final = 4
"""Avatars that are named in the line of state; more are counted."""
_LOOK_S: Final = 5.0
"""Seconds between two looks at what announces no change of its own: storage, and what is stuck."""
_USEC: Final = 1_000_000


class ServiceManager:
    """Tells the manager about one run.

    Args:
        notifier: sends.
        watchdog_s: within how many seconds a sign of life is wanted each time; None wants none.
        log: told why a sign of life is withheld.
    """

    __slots__ = ("_log", "_notifier", "_reloads", "_said", "_stage", "_watchdog")

    def __init__(self, notifier: Notifier, *, watchdog_s: float | None, log: Log) -> None:
        self._notifier = notifier
        self._watchdog = watchdog_s
        self._log = log
        self._said = ""
        self._stage = ""
        self._reloads = 0

    @property
    def heard(self) -> bool:
        """Whether there is a manager that listens."""
        return self._notifier.heard

    async def run(self, handles: Sequence[SessionHandle], progress: Progress) -> None:
        """Say that the service is up; then tell its state and give signs of life, until cancelled.

        Cancellation: safe.
        """
        if not self._stage:  # a reason to end may have come first
            self._stage = "running"
            self._notifier.send(READY=1)
        async with trio.open_nursery(strict_exception_groups=True) as nursery:
            if self._watchdog is not None:
                nursery.start_soon(self._live, progress, self._watchdog)
            for handle in handles:
                nursery.start_soon(self._follow, handle, handles, progress)
            while True:
                self._tell(handles, progress)
                await trio.sleep(_LOOK_S)

    async def _follow(self, handle: SessionHandle, handles: Sequence[SessionHandle], progress: Progress) -> None:
        """Tell each change of one connection as it happens."""
        link: LinkState | None = None
        while handle.link is not link:
            link = handle.link
            self._tell(handles, progress)
            await handle.wait_link(*(state for state in LinkState if state is not link))

    def _tell(self, handles: Sequence[SessionHandle], progress: Progress) -> None:
        status = f"{self._stage}: {_in_one_line(handles, progress)}"
        if status != self._said:
            self._said = status
            self._notifier.send(STATUS=status)

    async def _live(self, progress: Progress, within_s: float) -> None:
        withheld = False
        while True:
            alive = progress.alive
            if alive:
                self._notifier.send(WATCHDOG=1)
            elif not withheld:
                stalled = [f"{part.kind} {part.name}" for part in progress.parts() if part.state is PartState.STALLED]
                self._log.error("watchdog_withheld", stalled=stalled)
            withheld = not alive
            # one that recovers is not to be lost for want of a few seconds
            await trio.sleep(within_s / (2 if alive else 8))

    @contextmanager
    def reloading(self) -> Iterator[None]:
        """Tell the beginning and the end of a reload; of several at once, the beginning of each and one end."""
        if self._stage != "running":
            yield
            return
        self._reloads += 1
        self._notifier.send(RELOADING=1, MONOTONIC_USEC=monotonic_usec())
        try:
            yield
        finally:
            self._reloads -= 1
            if self._reloads == 0 and self._stage == "running":
                self._notifier.send(READY=1)

    def stopping(self, within_s: float) -> None:
        """Tell that the end has begun, and how long it may take; the first time counts.

        Args:
            within_s: the manager waits at least so long before it kills.
        """
        if self._stage != "stopping":
            self._stage = "stopping"
            self._notifier.send(STOPPING=1, STATUS=self._stage, EXTEND_TIMEOUT_USEC=int(within_s * _USEC))


def _in_one_line(handles: Sequence[SessionHandle], progress: Progress) -> str:
    words = [(handle.key, "failed" if handle.agent is AgentState.FAILED else handle.link.value) for handle in handles]
    if len(words) <= _NAMED_MAX:
        said = [f"{key} {word}" for key, word in words]
    else:
        counts = Counter(word for _, word in words)
        said = [f"{len(words)} avatars"] + [f"{count} {word}" for word, count in counts.most_common()]
    trouble = {PartState.STALLED: "stalled", PartState.SAFE_MODE: "in safe mode"}
    said += [f"{part.kind} {part.name} {trouble[part.state]}" for part in progress.parts() if part.state in trouble]
    return ", ".join(said)
