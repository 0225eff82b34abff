"""What actions act with: the session, its world, the way to send, and a place for what is evident at once.

Owns no decision; gives the families of actions one narrow thing to hold instead of the backend itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from gridagent.events import GridEvent
from live_grid.backend.pending import Pending
from live_grid.backend.telling import Teller
from live_grid.backend.views import raw
from live_grid.handover import GridSession
from live_grid.requests import Identity, Request
from live_grid.world import Thing, Vector, World

__all__ = ("Stage",)

EVIDENT_MAX = 64


class Stage:
    """What actions act with.

    Args:
        session: the session.
        pending: what is under way.
        teller: tells what is so already.
        send: sends a request and names it.
        nudge: has the session looked at again.
        now: seconds.
        new_id: makes ids nobody else has.
    """

    __slots__ = ("_evident", "_new_id", "_now", "_nudge", "pending", "send", "session", "teller")

    def __init__(
        self,
        session: GridSession,
        pending: Pending,
        teller: Teller,
        *,
        send: Callable[[Request], int],
        nudge: Callable[[], None],
        now: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self.session = session
        self.pending = pending
        self.teller = teller
        self.send = send
        self._nudge = nudge
        self._now = now
        self._new_id = new_id
        self._evident: deque[GridEvent] = deque(maxlen=EVIDENT_MAX)

    @property
    def me(self) -> Identity:
        """Who acts."""
        return self.session.me

    @property
    def world(self) -> World:
        """What is known."""
        return self.session.world

    def now(self) -> float:
        """Tell the time, and that the session is to be looked at: something of it is about to change."""
        self._nudge()
        return self._now()

    def new_id(self) -> bytes:
        """Make an id."""
        return raw(self._new_id())

    def thing(self, object_id: str) -> Thing | None:
        """Find an object that can be named on the wire."""
        thing = self.world.here.objects.get(raw(object_id))
        return thing if thing is not None and thing.local_id else None

    def inside(self, position: Vector) -> bool:
        """Tell whether a point lies in the region we are in."""
        here = self.world.here
        return 0.0 <= position[0] <= here.size_x and 0.0 <= position[1] <= here.size_y

    def show(self, *events: GridEvent) -> None:
        """Note what is evident at once: the grid has told it before."""
        self._evident.extend(events)

    def take_evident(self) -> list[GridEvent]:
        """Take what was noted."""
        found = list(self._evident)
        self._evident.clear()
        return found
