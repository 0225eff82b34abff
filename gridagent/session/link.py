"""The link of one avatar to its grid: one generation after another, never two.

Owns the link's state, the generation fence, the retry timer, back-off and the parts that are sick; sans-IO.
The core tells it what happened and what is wanted; it says when to open the next connection. Its
invariant: the fence falls before any clean-up, and the next generation opens only after the last one was
cleaned up (Spec: SUP-5, BND-5).
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from gridagent.events import DisconnectCause
from gridagent.ids import Generation
from gridagent.observations import Diagnostic, GenerationOpened, LinkState, LinkStateChanged, ObservationBody
from gridagent.policy import Gateway, Instant
from gridagent.runtime.generation import GenerationFence
from gridagent.runtime.restart import Backoff, RestartDecision, RestartWindow
from gridagent.session.effects import Effect, OpenConnection
from gridagent.session.lifecycle import LINK, LinkInput
from gridagent.session.reconnect import RECONNECT, Retry
from gridagent.session.settings import SessionSettings
from gridagent.session.surroundings import Whereabouts

__all__ = ("Link",)

_SICK_PARTS_MAX: Final = 16


class Link:
    """Decides when there is a connection.

    Args:
        settings: delays and intensities.
        gateway: told of every generation that opens and closes.
        where: cleared when a generation ends.
        rng: seeded stream for the jitter of back-off.
        publish: takes observations.
        perform: takes effects.
        fenced: called when a generation was ended, before it is cleaned up.
    """

    def __init__(
        self,
        *,
        settings: SessionSettings,
        gateway: Gateway,
        where: Whereabouts,
        rng: Random,
        publish: Callable[[ObservationBody], None],
        perform: Callable[[Effect], None],
        fenced: Callable[[], None],
    ) -> None:
        delays = settings.delays
        self.state: LinkState = LINK.initial
        self.fence = GenerationFence(settings.last_generation, name=f"{settings.key} generation")
        self.backoff = Backoff(delays.backoff_base_s, delays.backoff_cap_s, delays.healthy_after_s)
        self.retry_at: float | None = None
        """When the next attempt is due, in monotonic seconds."""
        self.wanted = False
        """A connection is wanted as soon as the last one is cleaned up."""
        self.ever_ready = False
        """Some generation has been in the world."""
        self.end_cause: DisconnectCause | None = None
        """Why the generation being cleaned up was ended."""
        self.sick: set[str] = set()  # at most _SICK_PARTS_MAX names
        self._delays = delays
        self._faults = RestartWindow(settings.fault_intensity)
        self._gateway = gateway
        self._where = where
        self._rng = rng
        self._publish = publish
        self._perform = perform
        self._fenced = fenced

    @property
    def connected(self) -> bool:
        """Whether a generation is live."""
        return self.fence.current is not None

    def allows(self, given: LinkInput) -> bool:
        """Tell whether the link can move so now."""
        return LINK.allows(self.state, given)

    def step(self, given: LinkInput, *, cause: DisconnectCause | None = None, retry_in_s: float | None = None) -> None:
        """Move, and say so when the state changed."""
        was, self.state = self.state, LINK.step(self.state, given)
        if was is not self.state:
            self._publish(LinkStateChanged(state=self.state, was=was, cause=cause, retry_in_s=retry_in_s))

    # --- wanting and ending -------------------------------------------------------------------------

    def want(self) -> None:
        """Connect now, or as soon as the last generation is cleaned up."""
        self.retry_at = None
        if not self.fence.retired():
            self.wanted = True
            return
        self.wanted = False
        self.end_cause = None
        self.step(LinkInput.CONNECT)
        generation = self.fence.open()
        self._gateway.open_generation(Generation(generation.number))
        self._publish(GenerationOpened())
        self._perform(OpenConnection(generation=generation))

    def want_after(self, delay_s: float, now: Instant) -> None:
        """Connect after a pause."""
        self.retry_at = now.monotonic + delay_s

    def due(self, now: Instant) -> bool:
        """Tell whether the next attempt is due."""
        return self.retry_at is not None and now.monotonic >= self.retry_at

    def end(self, cause: DisconnectCause, now: Instant) -> None:
        """Fence the live generation, then let it be cleaned up; nothing more is wanted."""
        self.wanted = False
        self.retry_at = None
        live = self.fence.current
        if live is None:
            return
        self.end_cause = cause
        self.fence.invalidate()
        self._gateway.close_generation(Generation(live.number), now)
        self.backoff.note_down(now.monotonic)
        self.sick.clear()
        self._where.clear()
        self._fenced()

    def cleaned_up(self, number: int, cause: DisconnectCause, now: Instant) -> bool:
        """Take note that a generation is over and nothing of it is left.

        Returns:
            Whether it ended by itself; if so, somebody has to say what follows.
        """
        ended_itself = self.connected and self.fence.number == number
        if ended_itself:
            self.end(cause, now)
        self.fence.retire()
        return ended_itself

    def plan_after(self, cause: DisconnectCause, now: Instant) -> bool:
        """Decide whether and when to connect again after a connection that ended by itself (Spec: SUP-6).

        Returns:
            False when it broke too often and is given up (Spec: SUP-7).
        """
        retry = RECONNECT[cause]
        if retry is Retry.NEVER:
            self.step(LinkInput.LOST_BLOCKED, cause=cause)
            self._publish(Diagnostic(code="authentication_blocked", fields=(("cause", cause.value),)))
            return True
        if retry is Retry.FAULT and self._faults.record(now.monotonic) is RestartDecision.ESCALATE:
            self.step(LinkInput.LOST_FOR_GOOD, cause=cause)
            return False
        fixed = self._delays.fixed(retry)
        delay = self.backoff.next_delay(self._rng) if fixed is None else fixed
        if retry is Retry.STAY_AWAY:
            self._publish(Diagnostic(code="staying_away", fields=(("cause", cause.value),)))
        self.step(LinkInput.LOST, cause=cause, retry_in_s=delay)
        self.want_after(delay, now)
        return True

    # --- what the grid says ---------------------------------------------------------------------------

    def transport_up(self) -> None:
        """Logged in; the world is not known yet."""
        if self.state is LinkState.CONNECTING:
            self.step(LinkInput.TRANSPORT_UP)

    def ready(self, now: Instant) -> None:
        """In world."""
        self.transport_up()
        self.step(LinkInput.READY)
        self.ever_ready = True
        self.backoff.note_up(now.monotonic)

    def part_sick(self, part: str) -> None:
        """A part of the connection fell ill."""
        if len(self.sick) < _SICK_PARTS_MAX:
            self.sick.add(part)
        if self.allows(LinkInput.PART_SICK):
            self.step(LinkInput.PART_SICK)

    def part_well(self, part: str) -> None:
        """A part of the connection is well again; online once every one is."""
        self.sick.discard(part)
        if not self.sick and self._where.position is not None and self.state is LinkState.DEGRADED:
            self.step(LinkInput.READY)
