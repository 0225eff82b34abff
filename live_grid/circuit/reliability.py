"""When a packet is resent, and when it is given up for lost.

Owns the reliable messages that wait for their ack, the estimate of how long one takes, and the deadlines made
of it. The estimate learns only from packets that were sent once: an ack of a resent one may be for either
copy. It does not send: the circuit asks what is due.

Invariant: each message recorded here ends exactly once, delivered or lost.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Final

from live_grid.messages.notation import Message
from live_grid.packet import Payload

__all__ = ("Reliability", "RoundTrip", "Sent")

_FIRST_TIMEOUT_S: Final = 1.5
SHORTEST_TIMEOUT_S: Final = 1.0
"""OpenSimulator acknowledges in batches up to 0.55 s late: anything shorter resends for nothing."""
LONGEST_TIMEOUT_S: Final = 8.0
_GAIN: Final = 0.125
_SPREAD_GAIN: Final = 0.25
_SPREADS: Final = 4
_HEAP_SLACK: Final = 64


class RoundTrip:
    """A running estimate of the time from sending to ack, as TCP keeps it."""

    __slots__ = ("_spread", "smoothed")

    def __init__(self) -> None:
        self.smoothed: float | None = None
        """Seconds; None before the first sample."""
        self._spread = 0.0

    def learn(self, took: float) -> None:
        """Take a sample, in seconds."""
        if self.smoothed is None:
            self.smoothed = took
            self._spread = took / 2
            return
        self._spread += _SPREAD_GAIN * (abs(took - self.smoothed) - self._spread)
        self.smoothed += _GAIN * (took - self.smoothed)

    def timeout(self, attempts: int) -> float:
        """Tell how long to wait for the ack of a packet that was sent ``attempts`` times."""
        base = _FIRST_TIMEOUT_S if self.smoothed is None else self.smoothed + _SPREADS * self._spread
        return min(max(base, SHORTEST_TIMEOUT_S) * 2.0 ** (attempts - 1), LONGEST_TIMEOUT_S)


class Sent:
    """A reliable message on its way."""

    __slots__ = ("attempts", "message", "payload", "sent_at", "sequence", "token")

    def __init__(self, *, token: int, message: Message, payload: Payload, sequence: int, now: float) -> None:
        self.token = token
        self.message = message
        self.payload = payload
        self.sequence = sequence
        self.sent_at = now
        self.attempts = 1


class Reliability:
    """The reliable messages of one circuit that wait for their ack.

    Args:
        resends_max: how often one is sent again before it is given up.

    Bounds: the caller keeps the number of messages within its limit; everything here is in proportion to it.
    """

    __slots__ = ("_deadlines", "_open", "_resends_max", "bytes_open", "round_trip")

    def __init__(self, *, resends_max: int) -> None:
        self._resends_max = resends_max
        self._open: dict[int, Sent] = {}
        self._deadlines: list[tuple[float, int]] = []  # a heap; entries of acknowledged packets are skipped
        self.bytes_open = 0
        self.round_trip = RoundTrip()

    def __len__(self) -> int:
        return len(self._open)

    def oldest(self) -> int | None:
        """Name the oldest sequence number that is still open, if any."""
        return next(iter(self._open), None)

    def record(self, sent: Sent) -> None:
        """Wait for the ack of a message that was just sent for the first time."""
        self._open[sent.sequence] = sent
        self.bytes_open += len(sent.payload.data)
        self._arm(sent)

    def resent(self, sent: Sent, now: float) -> None:
        """Wait anew for the ack of a message that was just sent again."""
        sent.attempts += 1
        sent.sent_at = now
        self._arm(sent)

    def is_open(self, sent: Sent) -> bool:
        """Tell whether a message still waits for its ack."""
        return self._open.get(sent.sequence) is sent

    def _arm(self, sent: Sent) -> None:
        deadlines = self._deadlines
        heapq.heappush(deadlines, (sent.sent_at + self.round_trip.timeout(sent.attempts), sent.sequence))
        if len(deadlines) > 2 * len(self._open) + _HEAP_SLACK:
            self._deadlines = [entry for entry in deadlines if entry[1] in self._open]
            heapq.heapify(self._deadlines)

    def _close(self, sequence: int) -> Sent | None:
        sent = self._open.pop(sequence, None)
        if sent is not None:
            self.bytes_open -= len(sent.payload.data)
        return sent

    def acknowledge(self, sequences: Iterable[int], now: float) -> Iterator[Sent]:
        """Take acks; yield each message that is delivered by them. Acks of nothing we wait for are ignored."""
        for sequence in sequences:
            sent = self._close(sequence)
            if sent is not None:
                if sent.attempts == 1:
                    self.round_trip.learn(max(0.0, now - sent.sent_at))
                yield sent

    def next_deadline(self) -> float | None:
        """Tell when the next message is due to be resent or given up, if any waits."""
        deadlines = self._deadlines
        while deadlines and deadlines[0][1] not in self._open:
            heapq.heappop(deadlines)
        return deadlines[0][0] if deadlines else None

    def expire(self, now: float) -> Iterator[tuple[Sent, bool]]:
        """Yield each message whose ack is overdue, and whether it is lost; the others are to be resent."""
        while (deadline := self.next_deadline()) is not None and deadline <= now:
            sent = self._open[heapq.heappop(self._deadlines)[1]]
            lost = sent.attempts > self._resends_max
            if lost:
                self._close(sent.sequence)
            yield sent, lost

    def give_up(self) -> Iterator[Sent]:
        """Yield everything that still waits, as lost: the circuit is over."""
        given_up = tuple(self._open.values())
        self._open.clear()
        self.bytes_open = 0
        yield from given_up
