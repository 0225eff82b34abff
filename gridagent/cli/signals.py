"""Signals, where the platform has them (Spec: OPS-4, OPS-7).

Owns which signal means what: SIGINT and SIGTERM drain, the second one ends at once; SIGUSR1 is the kill
switch of every avatar (Spec: POL-12); SIGHUP reloads the configuration file. Only the command ``run``
listens. A platform without one of them goes without.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from enum import StrEnum
from typing import Final

import trio

__all__ = ("Summons", "attend", "signals_here")


class Summons(StrEnum):
    """What a signal asks for."""

    INTERRUPT = "interrupt"
    TERMINATE = "terminate"
    HOLD = "hold"
    RELOAD = "reload"


_MEANING: Final = (
    ("SIGINT", Summons.INTERRUPT),
    ("SIGTERM", Summons.TERMINATE),
    ("SIGUSR1", Summons.HOLD),
    ("SIGHUP", Summons.RELOAD),
)


def signals_here() -> dict[int, Summons]:
    """Return the signals this platform has, and what each asks for."""
    return {int(number): summons for name, summons in _MEANING if (number := getattr(signal, name, None)) is not None}


async def attend(
    on: Callable[[Summons], None],
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Call ``on`` for every signal until cancelled.

    Args:
        on: sees to what was asked, without waiting.
        task_status: told when signals are attended to.
    """
    here = signals_here()
    with trio.open_signal_receiver(*here) as received:
        task_status.started()
        async for number in received:
            on(here[number])
