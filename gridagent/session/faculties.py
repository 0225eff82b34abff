"""What a session needs of whoever answers its mind's errands: one awaited call, and a twin that can do nothing.

Owns the protocol; knows no model, no store and no grid of its own. The composition root makes the real one. Called
by `gridagent.session.errands`, in a worker of its own for each errand.

Invariant: answering an errand causes nothing in the world (Spec: MND-18).
"""

from __future__ import annotations

from typing import Protocol

import trio

from gridagent.grid.base import GridBackend
from gridagent.mind import ErrandFailed

__all__ = ("Faculties", "NoFaculties")


class Faculties(Protocol):
    """Answers a mind's errands. Several tasks use one at once."""

    async def perform(self, what: object, backend: GridBackend) -> object:
        """Return what an errand brings.

        Args:
            what: as the mind put it.
            backend: the live connection, to look things up by; nothing is sent through it that changes anything.

        Raises:
            GridAgentError: it cannot be had, and why; the mind is told.

        Cancellation: safe.
        """
        ...


class NoFaculties:
    """Can answer nothing: for a mind that sends nobody."""

    async def perform(self, what: object, backend: GridBackend) -> object:  # noqa: ARG002 - a protocol's shape
        """Refuse."""
        await trio.lowlevel.checkpoint()
        return ErrandFailed(code="refused")
