"""The line between one client and the simulated grid, where things go wrong.

Owns latency, loss, duplication, reordering, stalls, floods and the incidents that strike one connection;
the world behind it stays perfect. Sans-IO like the world: moments come from the world's timers and chance
from the avatar's own random stream, so that one seed gives one story and one avatar's faults never
reshuffle another's (Spec: SIM-1, SIM-2). Used by the simulated backend only, one link a generation.
Invariant: `on_end` is called at most once, and nothing is delivered after it.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from gridagent.actions import Action, AnswerTeleportOffer, PayAvatar, PayObject, Position, TeleportHome, TeleportTo
from gridagent.errors import BackendError
from gridagent.events import ActionRefused, DisconnectCause, GridEvent, TeleportFailed, TransportUp
from gridagent.grid.buffer import EventBuffer, EventClass, class_of
from gridagent.grid.evidence import EvidenceContext, judge
from gridagent.grid.simulated.faults import FLOOD_PER_S_MAX, FaultCounts, FaultKind, Faults
from gridagent.grid.simulated.flood import Flood
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.sessions import OnEnd, OnEvent, Session
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId
from gridagent.limits import GRID_EVENT_QUEUE_MAX, Label

__all__ = ("GHOST_S", "KICK_REASON", "Link")

GHOST_S: Final = 90.0
"""The grid gives up a silent client after so long."""
KICK_REASON: Final = "You have been disconnected by an administrator."
_FLOOD_TICK_S: Final = 0.1
_REORDER_S: Final = (0.05, 1.0)
_HIDDEN_MAX: Final = 256

Cancel = Callable[[], None]


class Link:
    """One connection of one avatar.

    Args:
        world: what is at the other end.
        avatar_id: whose connection it is.
        faults: how it misbehaves.
        counts: where faults that happened are counted.
        rng: the avatar's own stream.
        on_event: takes each event that arrives, synchronously.
        on_end: told once when the connection ends, and why.
    """

    __slots__ = (
        "_cancels",
        "_context",
        "_counts",
        "_faults",
        "_flight",
        "_floods",
        "_flown",
        "_heeded",
        "_held",
        "_hidden",
        "_last_due",
        "_on_end",
        "_on_event",
        "_over",
        "_rng",
        "_world",
        "avatar_id",
        "session",
    )

    def __init__(
        self,
        world: World,
        avatar_id: AvatarId,
        *,
        faults: Faults,
        counts: FaultCounts,
        rng: random.Random,
        on_event: OnEvent,
        on_end: OnEnd,
        heeded: frozenset[str] = frozenset(),
    ) -> None:
        self.avatar_id = avatar_id
        self.session: Session | None = None
        """The login of this link, from a successful `open` on."""
        self._world = world
        self._faults = faults
        self._counts = counts
        self._rng = rng
        self._on_event = on_event
        self._on_end = on_end
        self._over = False
        self._context = EvidenceContext(me=avatar_id, where=self._where)
        self._hidden: deque[tuple[float, Action, Label]] = deque(maxlen=_HIDDEN_MAX)
        self._flight: list[tuple[float, int, GridEvent]] = []  # bounded in `_send`
        self._flown = 0
        self._last_due = 0.0
        self._heeded = heeded
        self._held: EventBuffer | None = None
        self._floods = 0
        self._cancels: dict[str, Cancel] = {}  # one a kind of timer

    @property
    def live(self) -> bool:
        """Whether actions can be sent."""
        return self.session is not None and not self._over

    def login_delay(self) -> float:
        """Draw how long this login takes, in seconds."""
        return self._rng.uniform(*self._faults.login_s)

    def open(self, now: float) -> None:
        """Log in and begin to deliver.

        Raises:
            BackendError: the grid, or a fault, refused the login.
        """
        if self._strikes(self._faults.login_refused):
            self._counts.add(FaultKind.LOGIN_REFUSED)
            raise BackendError(self._rng.choice(self._faults.login_causes))
        self.session = self._world.login(self.avatar_id, now)
        self._arm_incidents()
        self._world.attach(self.avatar_id, self._from_world, self._ended_by_grid, now=now)

    def perform(self, action: Action, now: float, reference: Label) -> None:
        """Send one action; synchronous up to what the world makes of it."""
        faults = self._faults
        if self._strikes(faults.request_lost):
            self._counts.add(FaultKind.REQUEST_LOST)
            return
        if isinstance(action, PayAvatar | PayObject) and self._strikes(faults.money_refused):
            self._counts.add(FaultKind.MONEY_REFUSED)
            self._send(ActionRefused(reference=reference, reason=Refusal.MONEY_SERVICE_DOWN.value))
            return
        if _is_teleport(action) and self._strikes(faults.teleport_failed):
            self._counts.add(FaultKind.TELEPORT_FAILED)
            self._send(TeleportFailed(reason=Refusal.INTERRUPTED.value))
            return
        if self._strikes(faults.evidence_lost):
            self._hidden.append((now + 2 * action.spec.deadline_s, action, reference))
        if self._strikes(faults.disconnect_mid_action):
            due = now + self._rng.random()
            self._arm("mid_action", due, partial(self.disconnect, FaultKind.DISCONNECT_MID_ACTION))
        self._world.perform(self.avatar_id, action, now, reference)

    def close(self, now: float) -> None:
        """Log out, if this link ever logged in; counted also when it gets lost on the way."""
        session = self.session
        self._finish()
        if session is None:
            return
        if session.live and self._strikes(self._faults.logout_lost):
            self._counts.add(FaultKind.LOGOUT_LOST)
            self._world.sessions.count_logout(session)
            self._become_ghost(session)
            return
        self._world.logout(self.avatar_id, now, session)

    def end_in_order(self, cause: DisconnectCause) -> None:
        """End the connection because the grid itself goes; the avatar can still log out."""
        if not self._over:
            self._ended_by_grid(cause)

    # --- faults, by chance or by hand ------------------------------------------------------------

    def set_faults(self, faults: Faults) -> None:
        """Change the knobs; incidents are drawn anew."""
        self._faults = faults
        if self.live:
            self._arm_incidents()

    def disconnect(self, kind: FaultKind | None = FaultKind.DISCONNECT) -> bool:
        """Break the circuit: what is under way is lost, and the grid does not notice for a while.

        Args:
            kind: how it is counted; None for an end that is no fault.
        """
        session = self.session
        if session is None or self._over:
            return False
        if kind is not None:
            self._counts.add(kind)
        self._end(DisconnectCause.CIRCUIT_LOST)
        self._become_ghost(session)
        return True

    def abandon(self) -> None:
        """Let the client vanish without a word: nothing it still does reaches the world, which notices later."""
        session, live = self.session, self.live
        self.session = None
        self._finish()
        if session is not None and live:
            self._become_ghost(session)

    def kick(self, reason: str = KICK_REASON) -> bool:
        """Let the grid's operators end the session."""
        if not self.live or not self._world.kick(self.avatar_id, self._world.now, reason=reason):
            return False
        self._counts.add(FaultKind.KICK)
        return True

    def restart(self) -> bool:
        """Restart the region the avatar is in."""
        body = self._world.avatar(self.avatar_id).body
        if not self.live or body is None:
            return False
        faults = self._faults
        if not self._world.restart_region(
            body.region.name, self._world.now, notice_s=faults.restart_notice_s, down_s=faults.restart_down_s
        ):
            return False
        self._counts.add(FaultKind.REGION_RESTART)
        return True

    def stall(self, for_s: float) -> bool:
        """Let nothing arrive for a while; what comes meanwhile is held, within the queue's bound."""
        if not self.live:
            return False
        self._counts.add(FaultKind.STALL)
        if self._held is None:
            self._held = EventBuffer(heeded=self._heeded)
        self._arm("stall", self._world.now + for_s, self._release)
        return True

    def flood(self, per_s: float, for_s: float, senders: int | None = None) -> bool:
        """Let hostile words arrive, so many a second, at most `FLOOD_PER_S_MAX`."""
        if not self.live:
            return False
        self._counts.add(FaultKind.FLOOD)
        self._floods += 1
        flood = Flood(self._rng, senders or self._faults.flood_senders, self._floods)
        self._pour(flood, min(per_s, FLOOD_PER_S_MAX), self._world.now, self._world.now + for_s, 0)
        return True

    # --- delivery --------------------------------------------------------------------------------

    def _from_world(self, event: GridEvent) -> None:
        if self._hidden and self._hides(event):
            return
        self._send(event)
        if self._strikes(self._faults.event_duplicated):
            self._counts.add(FaultKind.EVENT_DUPLICATED)
            self._send(event)

    def _hides(self, event: GridEvent) -> bool:
        """Tell whether this is the evidence of an action whose evidence is to be lost."""
        now = self._world.now
        while self._hidden and self._hidden[0][0] < now:
            self._hidden.popleft()
        for _, action, reference in self._hidden:
            if judge(action, reference, event, self._context) is not None:
                self._counts.add(FaultKind.EVIDENCE_LOST)
                return True
        return False

    def _send(self, event: GridEvent) -> None:
        """Put an event on its way."""
        now = self._world.now
        if isinstance(event, TransportUp):
            # It stands for the answer to the login, whose way has been waited for: whoever is logged in
            # must know it at once, or a login that is cut off here would never be logged out.
            self._land(event)
            return
        shortest, longest = self._faults.latency_s
        late = self._strikes(self._faults.event_reordered)
        if longest <= 0 and not late and self._last_due <= now:
            self._land(event)
            return
        due = now + self._rng.uniform(shortest, longest)
        if late:
            self._counts.add(FaultKind.EVENT_REORDERED)
            due += self._rng.uniform(*_REORDER_S)
        else:
            due = self._last_due = max(due, self._last_due)
        if len(self._flight) >= GRID_EVENT_QUEUE_MAX:
            self._overflow(event)
            return
        self._flown += 1
        heapq.heappush(self._flight, (due, self._flown, event))
        self._arm("flight", self._flight[0][0], self._land_due)

    def _land_due(self) -> None:
        now = self._world.now
        while self._flight and self._flight[0][0] <= now:
            self._land(heapq.heappop(self._flight)[2])
        if self._flight:
            self._arm("flight", self._flight[0][0], self._land_due)

    def _land(self, event: GridEvent) -> None:
        if self._over:
            return
        if self._held is None:
            self._on_event(event)
        elif not self._held.put(event):
            self._overflow(event)

    def _overflow(self, event: GridEvent) -> None:
        """Shed what may be shed; a connection that would lose more ends."""
        if class_of(event)[0] is EventClass.KEEP:
            self.disconnect(FaultKind.OVERFLOW)

    def _release(self) -> None:
        held, self._held = self._held, None
        while held is not None and (batch := held.drain()):
            for event in batch:
                self._land(event)

    # --- the end ---------------------------------------------------------------------------------

    def _ended_by_grid(self, cause: DisconnectCause) -> None:
        if self._over:
            return
        self._release()
        for _, _, event in sorted(self._flight, key=lambda entry: entry[:2]):
            self._land(event)
        self._end(cause)

    def _end(self, cause: DisconnectCause) -> None:
        self._finish()
        self._on_end(cause)

    def _finish(self) -> None:
        self._over = True
        self._flight.clear()
        self._held = None
        for cancel in self._cancels.values():
            cancel()
        self._cancels.clear()

    def _become_ghost(self, session: Session) -> None:
        due = self._world.now + GHOST_S
        self._world.call_at(due, partial(self._world.drop, session, due))

    # --- chance ----------------------------------------------------------------------------------

    def _strikes(self, chance: float) -> bool:
        return chance > 0 and self._rng.random() < chance

    def _arm(self, kind: str, due: float, callback: Callable[[], object]) -> None:
        """Set the one timer of a kind anew."""
        cancel = self._cancels.get(kind)
        if cancel is not None:
            cancel()
        self._cancels[kind] = self._world.call_at(due, callback)

    def _arm_incidents(self) -> None:
        faults = self._faults
        for kind, per_hour, strike in (
            ("disconnect", faults.disconnects_per_hour, self.disconnect),
            ("kick", faults.kicks_per_hour, self.kick),
            ("restart", faults.restarts_per_hour, self.restart),
            ("stalls", faults.stalls_per_hour, lambda: self.stall(self._rng.uniform(*self._faults.stall_s))),
            (
                "floods",
                faults.floods_per_hour,
                lambda: self.flood(self._faults.flood_per_s, self._rng.uniform(*self._faults.flood_s)),
            ),
        ):
            cancel = self._cancels.pop(kind, None)
            if cancel is not None:
                cancel()
            if per_hour > 0:
                self._arm_incident(kind, per_hour, strike)

    def _arm_incident(self, kind: str, per_hour: float, strike: Callable[[], bool]) -> None:
        due = self._world.now + self._rng.expovariate(per_hour / 3600.0)
        self._arm(kind, due, partial(self._incident, kind, per_hour, strike))

    def _incident(self, kind: str, per_hour: float, strike: Callable[[], bool]) -> None:
        strike()
        if self.live:
            self._arm_incident(kind, per_hour, strike)

    def _pour(self, flood: Flood, per_s: float, began: float, until: float, poured: int) -> None:
        now = self._world.now
        wanted = round((min(now + _FLOOD_TICK_S, until) - began) * per_s)
        for _ in range(poured, wanted):
            self._send(flood.next())
            if self._over:
                return
        if now + _FLOOD_TICK_S < until:
            step = partial(self._pour, flood, per_s, began, until, wanted)
            self._arm("pour", now + _FLOOD_TICK_S, step)

    def _where(self, avatar_id: AvatarId) -> Position | None:
        return self._world.position(avatar_id)


def _is_teleport(action: Action) -> bool:
    return isinstance(action, TeleportTo | TeleportHome) or (isinstance(action, AnswerTeleportOffer) and action.accept)
