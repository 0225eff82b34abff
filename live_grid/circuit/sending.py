"""The sending half of a circuit: in which order what leaves, and what rides along.

Owns our sequence numbers, the throttle, the messages that wait for it, and those that wait for their ack. What
leaves goes in this order: answers to pings, our ping, resends, messages; acks ride on each of them, and
leave on their own when they are due. Called by `live_grid.circuit.circuit` only.

Invariant: accepted messages that have not ended yet stay within `SENDS_OPEN_MAX` and its bytes (Spec: LIV-2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from live_grid.circuit.acks import AckQueue
from live_grid.circuit.config import CircuitConfig
from live_grid.circuit.events import Counters
from live_grid.circuit.outbox import Outbox, Waiting
from live_grid.circuit.ping import Pings
from live_grid.circuit.reliability import Reliability, Sent
from live_grid.circuit.sequence import Sequence
from live_grid.circuit.throttle import TokenBucket
from live_grid.errors import LimitReached
from live_grid.limits import ACKS_APPENDED_MAX, DATAGRAM_OUT_MAX_BYTES, SENDS_OPEN_MAX, SENDS_OPEN_MAX_BYTES
from live_grid.messages import Message
from live_grid.messages.circuits import CompletePingCheck, PacketAck, StartPingCheck
from live_grid.packet import RELIABLE, RESENT, Payload, assemble, encode_message
from live_grid.packet.codec import HEADER_BYTES

__all__ = ("Sender",)

_ROOM_BYTES: Final = DATAGRAM_OUT_MAX_BYTES - HEADER_BYTES - 1
_ACK_BYTES: Final = 4


class Sender:
    """What one circuit sends.

    Args:
        config: throttle, resends, pauses.
        counters: where to count.
        now: seconds.
    """

    __slots__ = (
        "_bucket",
        "_counters",
        "_next_token",
        "_outbox",
        "_overdue",
        "acks",
        "pings",
        "reliability",
        "sequence",
    )

    def __init__(self, *, config: CircuitConfig, counters: Counters, now: float) -> None:
        self._counters = counters
        self._bucket = TokenBucket(rate=config.send_rate_bytes_s, burst=config.send_burst_bytes, now=now)
        self._outbox = Outbox()
        self._overdue: deque[Sent] = deque(maxlen=SENDS_OPEN_MAX)
        self._next_token = 1
        self.sequence = Sequence()
        self.acks = AckQueue(config.ack_delay_s)
        self.pings = Pings(every=config.ping_every_s, now=now)
        self.reliability = Reliability(resends_max=config.resends_max)

    @property
    def waiting(self) -> int:
        """How many messages wait for the throttle."""
        return len(self._outbox)

    def send(self, message: Message, *, reliable: bool, outcomes_untaken: int) -> int:
        """Accept a message for sending.

        Args:
            message: what to send.
            reliable: whether to resend it until it is acknowledged.
            outcomes_untaken: outcomes of earlier messages that the owner has not taken yet.

        Returns:
            A token that names the message in its outcome.

        Raises:
            LocalProtocolError: the message cannot be written.
            LimitReached: too much is open or waiting; send less, or later.
        """
        payload = encode_message(message)
        if reliable:
            if len(self.reliability) + self._outbox.reliable + outcomes_untaken >= SENDS_OPEN_MAX:
                raise LimitReached("reliable messages without an outcome", allowed=SENDS_OPEN_MAX)
            if self.reliability.bytes_open + len(payload.data) > SENDS_OPEN_MAX_BYTES:
                raise LimitReached("bytes of reliable messages without an outcome", allowed=SENDS_OPEN_MAX_BYTES)
        token = self._next_token
        self._outbox.put(Waiting(token, message, payload, reliable))
        self._next_token += 1
        return token

    def datagrams(self, now: float) -> Iterator[bytes]:
        """Yield everything that may leave now."""
        for ping_id in self.pings.take_owed():
            yield self._fresh(CompletePingCheck(CompletePingCheck.PingID(ping_id)))
        if now >= self.pings.next_at:
            yield self._ping(now)
        yield from self._resends(now)
        while self._outbox and self._bucket.open(now):
            yield self._first_send(self._outbox.take(), now)
        due = self.acks.due_at()
        if due is not None and due <= now:
            while self.acks:
                packets = tuple(map(PacketAck.Packets, self.acks.take(ACKS_APPENDED_MAX)))
                yield self._fresh(PacketAck(packets))

    def timer(self) -> float:
        """Tell when something of ours is due: a ping, an ack, a resend, or a message the throttle lets go."""
        moments = [self.pings.next_at]
        if (due := self.acks.due_at()) is not None:
            moments.append(due)
        if (deadline := self.reliability.next_deadline()) is not None:
            moments.append(deadline)
        if self._outbox or self._overdue:
            moments.append(self._bucket.open_at())
        return min(moments)

    def expire(self, now: float) -> Iterator[Sent]:
        """Queue what is overdue for resending; yield what is lost."""
        for sent, lost in self.reliability.expire(now):
            if lost:
                self._counters.lost += 1
                yield sent
            else:
                self._overdue.append(sent)

    def give_up(self) -> Iterator[tuple[int, Message]]:
        """Yield token and message of everything that will not be delivered any more: the circuit is over."""
        for sent in self.reliability.give_up():
            self._counters.lost += 1
            yield sent.token, sent.message
        while self._outbox:
            waiting = self._outbox.take()
            if waiting.reliable:
                self._counters.lost += 1
                yield waiting.token, waiting.message

    def farewell(self, message: Message) -> bytes:
        """Frame the last message, past everything that waits."""
        return self._fresh(message)

    def _resends(self, now: float) -> Iterator[bytes]:
        while self._overdue and self._bucket.open(now):
            sent = self._overdue.popleft()
            if self.reliability.is_open(sent):
                self._counters.resent += 1
                self.reliability.resent(sent, now)
                self._charge(sent.payload)
                yield self._frame(sent.payload, RELIABLE | RESENT, sent.sequence)

    def _first_send(self, waiting: Waiting, now: float) -> bytes:
        sequence = self.sequence.take()
        self._charge(waiting.payload)
        if not waiting.reliable:
            return self._frame(waiting.payload, 0, sequence)
        self.reliability.record(
            Sent(token=waiting.token, message=waiting.message, payload=waiting.payload, sequence=sequence, now=now)
        )
        return self._frame(waiting.payload, RELIABLE, sequence)

    def _charge(self, payload: Payload) -> None:
        self._bucket.charge(HEADER_BYTES + len(payload.data))

    def _ping(self, now: float) -> bytes:
        oldest = self.reliability.oldest()
        if oldest is None:
            oldest = self.sequence.upcoming
        return self._fresh(StartPingCheck(StartPingCheck.PingID(self.pings.start(now), oldest)))

    def _fresh(self, message: Message) -> bytes:
        return self._frame(encode_message(message), 0, self.sequence.take())

    def _frame(self, payload: Payload, flags: int, sequence: int) -> bytes:
        acks: tuple[int, ...] = ()
        if self.acks:
            room = (_ROOM_BYTES - len(payload.data)) // _ACK_BYTES
            acks = self.acks.take(max(0, min(room, ACKS_APPENDED_MAX)))
        data = assemble(payload, flags, sequence, acks)
        self._counters.packets_out += 1
        self._counters.bytes_out += len(data)
        return data
