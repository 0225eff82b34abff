"""One login and one logout, to learn whether an account gets into its grid.

Owns one short life of a backend: it is run until it is in the world, or until the connection ends or its time is up,
and is logged out. Nothing is authorised, so nothing can be done in the world. Called by `gridagent.cli.doctor` where
an operator asked for it (Spec: LIV-1, OPS-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import trio

from gridagent.cli.doctor_checks import InWorld, Tried
from gridagent.errors import BackendError, InternalError
from gridagent.events import BackendReady, DisconnectCause, GridEvent
from gridagent.grid.base import BackendFactory, GridBackend, RedeemedAction
from gridagent.ids import Generation
from gridagent.policy.authorized import AuthorizedAction

__all__ = ("try_login",)

_FIRST: Final = Generation(1)


def _redeem_nothing(_: AuthorizedAction) -> RedeemedAction:
    raise InternalError("an action was to be performed while only a login is tried")


class _Watch:
    """Takes what the grid tells, and keeps how the login went; implements `gridagent.grid.base.EventSink`."""

    __slots__ = ("over", "tried")

    def __init__(self) -> None:
        self.tried: Tried = None
        self.over = trio.Event()

    def ends(self, tried: Tried) -> None:
        """Keep the first that is known."""
        if not self.over.is_set():
            self.tried = tried
            self.over.set()

    async def send(self, event: GridEvent) -> None:
        """Look at one event."""
        await self.send_many((event,))

    async def send_many(self, events: Sequence[GridEvent]) -> None:
        """Look at several events."""
        await trio.lowlevel.checkpoint()
        for event in events:
            if isinstance(event, BackendReady):
                self.ends(InWorld(event.region))


async def try_login(make: BackendFactory, *, timeout_s: float, logout_s: float) -> Tried:
    """Log in and out again.

    Args:
        make: the account's backends.
        timeout_s: until it is in the world.
        logout_s: until the grid has been told that it leaves.

    Returns:
        Where it was in the world, else why it was not; None where neither was known in time.

    Cancellation: the grid is told all the same, within ``logout_s``.
    """
    watch = _Watch()
    backend = make(generation=_FIRST, redeem=_redeem_nothing)
    try:
        with trio.move_on_after(timeout_s):
            async with trio.open_nursery() as tasks:
                tasks.start_soon(_live, backend, watch)
                await watch.over.wait()
                tasks.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + logout_s):
            await backend.logout()
    return watch.tried


async def _live(backend: GridBackend, watch: _Watch) -> None:
    try:
        await backend.run(watch)
    except BackendError as error:
        watch.ends(DisconnectCause(error.cause))  # its detail is text from outside: it is not shown
    else:
        watch.ends(DisconnectCause.GRID_CLOSED)
