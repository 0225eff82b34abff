"""Fault knobs of the wire: what may happen to datagrams, HTTP answers and replies, how often, and what did.

Owns the knobs, the counts, and the decisions drawn from a seeded stream; moves no byte itself. Chances are per
datagram or per answer, so that one seed gives one story over the in-memory wire. The world behind the wire has its
own knobs (`gridagent.grid.simulated.faults`) and stays perfect under these (Spec: LIV-15, SIM-3).

Invariant: a fault is counted when it really happened, never when it was only drawn.
"""

from __future__ import annotations

import heapq
import random
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.errors import OperatorError
from gridagent.events import DisconnectCause
from gridagent.limits import Bounded
from live_grid.circuit import Address
from live_grid.simulator.http1 import HttpResponse
from live_grid.simulator.limits import DATAGRAMS_HELD_MAX

__all__ = ("Air", "HttpFate", "WireFaultCounts", "WireFaultKind", "WireFaults", "draw_http")

Chance: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
SecondsRange: TypeAlias = tuple[float, float]

_REORDERED_S: Final = (0.05, 0.5)
_PAGE: Final = b"<!DOCTYPE html><html><head><title>Sorry</title></head><body>The grid is resting.</body></html>"


class WireFaultKind(StrEnum):
    """What went wrong on the wire."""

    DATAGRAM_LOST = "datagram_lost"
    DATAGRAM_DOUBLED = "datagram_doubled"
    DATAGRAM_REORDERED = "datagram_reordered"
    DATAGRAM_DELAYED = "datagram_delayed"
    HTTP_502 = "http_502"
    HTTP_404 = "http_404"
    HTTP_HTML = "http_html"
    """A page for people where a program expected an answer, with status 200."""
    HTTP_LATE = "http_late"
    HTTP_MISSING = "http_missing"
    """The connection closed instead of an answer."""
    LOGIN_REFUSED = "login_refused"
    LOGOUT_REPLY_MISSING = "logout_reply_missing"
    TELEPORT_FINISH_MISSING = "teleport_finish_missing"
    EVENT_REPEATED = "event_repeated"
    """An answer of the event queue came twice, with one id."""
    SIGHT_LOST = "sight_lost"
    """An update of an avatar or an object was never sent, and the region thinks that it was."""
    QUEUE_MUTE = "queue_mute"
    """A poll of the event queue was never answered."""
    DEAD_STREAM = "dead_stream"
    """A client that was gone was sent what it had not acknowledged."""


class WireFaults(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the wire misbehaves; the defaults are a perfect one."""

    datagram_lost: Chance = 0.0
    """In each direction."""
    datagram_doubled: Chance = 0.0
    datagram_reordered: Chance = 0.0
    delay_s: SecondsRange = (0.0, 0.0)
    """Shortest and longest way of a datagram, in seconds; order is kept unless it is reordered."""
    http_502: Chance = 0.0
    http_404: Chance = 0.0
    http_html: Chance = 0.0
    http_late: Chance = 0.0
    http_late_s: SecondsRange = (1.0, 10.0)
    http_missing: Chance = 0.0
    login_refused: Chance = 0.0
    login_causes: Annotated[tuple[DisconnectCause, ...], Meta(min_length=1, max_length=7)] = (
        DisconnectCause.MAINTENANCE,
    )
    """Why a refused login is refused; one of them is drawn."""
    logout_reply_missing: Chance = 0.0
    teleport_finish_missing: Chance = 0.0
    """Of the event that says where a teleport goes on."""
    event_repeated: Chance = 0.0
    sight_lost: Chance = 0.0
    """Of each time that a region shows what has changed, or what it was asked for."""
    queue_mute: Chance = 0.0
    """Of each poll of an event queue."""
    dead_stream: Chance = 0.0
    """Of a circuit whose client is gone being resent to for a while."""

    def __post_init__(self) -> None:
        """Check what one field cannot say alone.

        Raises:
            OperatorError: a range runs backwards or below zero.
        """
        super().__post_init__()
        for field in ("delay_s", "http_late_s"):
            low, high = getattr(self, field)
            if not 0.0 <= low <= high:
                raise OperatorError(
                    f"fault knob {field} runs from {low:g} to {high:g}; put the smaller number of seconds first"
                )


class WireFaultCounts:
    """How often each fault really happened."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[WireFaultKind, int] = dict.fromkeys(WireFaultKind, 0)

    def add(self, kind: WireFaultKind) -> None:
        """Count one."""
        self._counts[kind] += 1

    def __getitem__(self, kind: WireFaultKind) -> int:
        return self._counts[kind]

    def snapshot(self) -> dict[str, int]:
        """Return every count by name, zeros too."""
        return {kind.value: count for kind, count in self._counts.items()}


Flight: TypeAlias = tuple[int, bytes, Address]
"""Which region's socket, what, and the address at the other end."""


class Air:
    """The way of datagrams in one direction: loss, doubling, delay, reordering.

    Args:
        rng: the only source of chance.
        counts: where to count.
    """

    __slots__ = ("_counts", "_flying", "_last_due", "_number", "_rng", "faults")

    def __init__(self, rng: random.Random, counts: WireFaultCounts, faults: WireFaults) -> None:
        self._rng = rng
        self._counts = counts
        self.faults = faults
        self._flying: list[tuple[float, int, Flight]] = []  # bounded in `_fly`
        self._number = 0
        self._last_due = 0.0

    def put(self, flight: Flight, now: float) -> list[Flight]:
        """Send a datagram on its way.

        Returns:
            What arrives at once: itself, twice, or nothing because it is lost or delayed.
        """
        if self._strikes(self.faults.datagram_lost, WireFaultKind.DATAGRAM_LOST):
            return []
        copies = 2 if self._strikes(self.faults.datagram_doubled, WireFaultKind.DATAGRAM_DOUBLED) else 1
        return [flight for _ in range(copies) if self._fly(flight, now)]

    def _fly(self, flight: Flight, now: float) -> bool:
        """Tell whether a datagram arrives at once; hold it otherwise."""
        if len(self._flying) >= DATAGRAMS_HELD_MAX:
            return True
        low, high = self.faults.delay_s
        due = now + (self._rng.uniform(low, high) if high > 0 else 0.0)
        if self._strikes(self.faults.datagram_reordered, WireFaultKind.DATAGRAM_REORDERED):
            due += self._rng.uniform(*_REORDERED_S)
        else:
            if due > now:
                self._counts.add(WireFaultKind.DATAGRAM_DELAYED)
            due = self._last_due = max(due, self._last_due)
        if due <= now:
            return True
        self._number += 1
        heapq.heappush(self._flying, (due, self._number, flight))
        return False

    def next_due(self) -> float | None:
        """Tell when the next held datagram arrives, if any."""
        return self._flying[0][0] if self._flying else None

    def arrived(self, now: float) -> list[Flight]:
        """Take every held datagram that arrives by now, in the order of arrival."""
        found = []
        while self._flying and self._flying[0][0] <= now:
            found.append(heapq.heappop(self._flying)[2])
        return found

    def _strikes(self, chance: float, kind: WireFaultKind) -> bool:
        # No draw for a knob that is off: turning one knob does not reshuffle the others' story.
        if chance <= 0 or self._rng.random() >= chance:
            return False
        self._counts.add(kind)
        return True


class HttpFate(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one HTTP answer."""

    instead: HttpResponse | None = None
    """Sent in place of the answer, which is lost."""
    missing: bool = False
    """Nothing is sent, and the connection closes."""
    delay_s: float = 0.0


def draw_http(faults: WireFaults, rng: random.Random, counts: WireFaultCounts) -> HttpFate:
    """Draw what becomes of one HTTP answer, and count it."""
    pages = (
        (faults.http_502, WireFaultKind.HTTP_502, HttpResponse(status=502, close=True)),
        (faults.http_404, WireFaultKind.HTTP_404, HttpResponse(status=404, close=True)),
        (faults.http_html, WireFaultKind.HTTP_HTML, HttpResponse(body=_PAGE)),
    )
    for chance, kind, page in pages:
        if chance > 0 and rng.random() < chance:
            counts.add(kind)
            return HttpFate(instead=page)
    if faults.http_missing > 0 and rng.random() < faults.http_missing:
        counts.add(WireFaultKind.HTTP_MISSING)
        return HttpFate(missing=True)
    if faults.http_late > 0 and rng.random() < faults.http_late:
        counts.add(WireFaultKind.HTTP_LATE)
        return HttpFate(delay_s=rng.uniform(*faults.http_late_s))
    return HttpFate()
