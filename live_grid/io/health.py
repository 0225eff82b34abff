"""How a session is doing: the figures of its parts in one struct, and which parts are sick.

Owns the choice of figures and the watchdog's thresholds; measures nothing itself (Spec: LIV-12).
"""

from __future__ import annotations

from typing import Final

import msgspec

from live_grid.handover import SessionStatistics

__all__ = ("Health",)

QUIET_S: Final = 15.0
"""Simulators ping every few seconds."""
RESENT_SHARE: Final = 0.25
RESENT_FROM: Final = 50
"""Shares of fewer packets say nothing."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of a session. Seconds; None where there is nothing to measure."""

    round_trip_s: float | None
    silent_s: float | None
    """Since anything was heard from the region we are in."""
    queue_silent_s: float | None
    """Since its event queue said anything sensible."""
    packets_in: int
    packets_out: int
    resent: int
    lost: int
    duplicates: int
    malformed: int
    shed: int
    foreign: int
    unacked: int
    events_waiting: int
    links: int
    refused_regions: int
    unsent: int
    web_requests: int
    web_failures: int

    @classmethod
    def of(cls, figures: SessionStatistics, *, now: float, unsent: int, web_requests: int, web_failures: int) -> Health:
        """Put the figures of all parts together.

        Args:
            figures: of the session.
            now: seconds.
            unsent: datagrams the system would not take.
            web_requests: made so far.
            web_failures: of those.
        """
        circuit, queue = figures.circuit, figures.queue
        return cls(
            round_trip_s=None if circuit is None else circuit.round_trip_s,
            silent_s=None if circuit is None else now - circuit.heard_at,
            queue_silent_s=None if queue is None else now - queue.answered_at,
            packets_in=0 if circuit is None else circuit.packets_in,
            packets_out=0 if circuit is None else circuit.packets_out,
            resent=0 if circuit is None else circuit.resent,
            lost=0 if circuit is None else circuit.lost,
            duplicates=0 if circuit is None else circuit.duplicates,
            malformed=figures.malformed_events + (0 if circuit is None else circuit.malformed),
            shed=0 if circuit is None else circuit.shed,
            foreign=figures.foreign,
            unacked=0 if circuit is None else circuit.unacked,
            events_waiting=figures.events_waiting,
            links=figures.links,
            refused_regions=figures.refused_regions,
            unsent=unsent,
            web_requests=web_requests,
            web_failures=web_failures,
        )

    def since(self, earlier: Health) -> Health:
        """Return this moment with what was sent, and sent again, counted from an earlier one on.

        A connection lives for months: what was lost last week says nothing of today, and an hour's loss is nothing in a
        month. A circuit that is younger than the earlier moment counts from its own beginning.
        """
        out, resent = self.packets_out - earlier.packets_out, self.resent - earlier.resent
        if out < 0 or resent < 0:
            return self
        return msgspec.structs.replace(self, packets_out=out, resent=resent)

    @property
    def sick(self) -> tuple[str, ...]:
        """Name the parts that are not well, of those that nobody else watches and tells of (event queue, world)."""
        found = []
        if self.silent_s is not None and self.silent_s > QUIET_S:
            found.append("circuit")
        if self.packets_out >= RESENT_FROM and self.resent > RESENT_SHARE * self.packets_out:
            found.append("wire")
        return tuple(found)
