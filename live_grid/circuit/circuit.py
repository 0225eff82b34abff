"""One circuit: the conversation with one simulator (or one viewer) over datagrams, without a socket.

Owns what the two ends promise each other: reliable messages arrive once or are reported lost, everything
reliable is acknowledged, pings are answered at once, silence ends the circuit. Five verbs, as in aioquic:
`receive_datagram_untrusted`, `datagrams_to_send`, `get_timer`, `handle_timer`, `next_event`; and `send`. The shell
feeds datagrams and time, and sends what comes out; it takes no decision. Times are seconds on one clock.

Invariant: no datagram makes a buffer grow past its limit in `live_grid.limits`, or raises (Spec: LIV-2, LIV-3, LIV-9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Final, cast

from live_grid.circuit.config import Address, CircuitConfig, Role
from live_grid.circuit.events import (
    CircuitEnd,
    CircuitEnded,
    CircuitEvent,
    CircuitStatistics,
    Counters,
    MessageDelivered,
    MessageLost,
)
from live_grid.circuit.inbox import Inbox
from live_grid.circuit.sending import Sender
from live_grid.circuit.sequence import ANCIENT, DUPLICATE, DuplicateWindow
from live_grid.circuit.shedding import patience_for
from live_grid.circuit.state import CIRCUIT_TABLE, CircuitInput, CircuitState
from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.messages import BY_NUMBER, NIL, Message, header_of
from live_grid.messages.circuits import CloseCircuit, CompletePingCheck, PacketAck, StartPingCheck
from live_grid.messages.table import SESSION_FIRST
from live_grid.packet import RELIABLE, Packet, decode_packet_untrusted, read_message_untrusted

__all__ = ("Circuit",)

_SESSION_BYTES: Final = 32


class Circuit:
    """One end of a circuit.

    Args:
        peer: where the other end is; datagrams from elsewhere are dropped unread.
        now: seconds.
        role: which end we are.
        session: our agent and session id, sixteen bytes each; messages that name another session are dropped.
            None leaves that check out.
        wanted: the messages somebody handles; all others are acknowledged and not read. None wants every
            message that has a layout.
        config: throttle, resends, pauses.
    """

    __slots__ = (
        "_counters",
        "_dead_after",
        "_handlers",
        "_heard_at",
        "_inbox",
        "_patience",
        "_peer",
        "_refused",
        "_role",
        "_sender",
        "_session",
        "_window",
        "state",
    )

    def __init__(
        self,
        peer: Address,
        *,
        now: float,
        role: Role = Role.VIEWER,
        session: tuple[bytes, bytes] | None = None,
        wanted: Iterable[type[Message]] | None = None,
        config: CircuitConfig | None = None,
    ) -> None:
        config = CircuitConfig() if config is None else config
        self.state = CIRCUIT_TABLE.initial
        self._peer = peer
        self._role = role
        self._session = b"".join(session) if session is not None else b""
        self._dead_after = config.dead_after_s
        self._heard_at = now
        self._counters = Counters()
        self._window = DuplicateWindow()
        self._sender = Sender(config=config, counters=self._counters, now=now)
        self._inbox = Inbox(self._counters)
        self._handlers: MappingProxyType[int, Callable[[Message, float], None]] = MappingProxyType(
            {
                header_of(PacketAck).number: self._handle_acks,
                header_of(StartPingCheck).number: self._handle_ping,
                header_of(CompletePingCheck).number: self._handle_pong,
                header_of(CloseCircuit).number: self._handle_close,
            }
        )
        self._refused = frozenset(
            number
            for number, header in BY_NUMBER.items()
            if header.event_queue_only or (header.trusted and role is Role.SIMULATOR)
        )
        self._patience = patience_for(None if wanted is None else [header_of(kind).number for kind in wanted])
        for number in (*self._handlers, *self._refused):
            self._patience.pop(number, None)

    # --- in ------------------------------------------------------------------------------------
    def receive_datagram_untrusted(self, data: bytes, address: Address, now: float) -> None:
        """Take a datagram from outside. It never raises: what is wrong is dropped and counted.

        Args:
            data: the datagram.
            address: where it came from.
            now: seconds.

        Bounds: one that comes while its class of message is shed, or while too many acks are owed, is treated as
            lost on the wire (Fault: 1, 2, 3, 5, 6).
        """
        counters = self._counters
        if address != self._peer:
            counters.foreign += 1
            return
        if self.state is not CircuitState.OPEN:
            counters.late += 1
            return
        try:
            packet = decode_packet_untrusted(data)
        except RemoteProtocolError:
            counters.malformed += 1
            return
        counters.packets_in += 1
        counters.bytes_in += len(data)
        self._heard_at = now
        if packet.acks:
            self._acknowledged(packet.acks, now)
        number = packet.number
        patience = self._patience.get(number)
        if patience is not None:
            if not self._inbox.has_room(patience):
                counters.shed += 1
                return
            if self._session and number in SESSION_FIRST and not self._is_ours(packet):
                return
        if self._repeats(packet, now):
            return
        if patience is not None:
            self._inbox.put_packet(packet)
        else:
            self._handle(packet, now)

    def _repeats(self, packet: Packet, now: float) -> bool:
        """Note the ack that is owed; tell whether the packet is to be dropped."""
        counters = self._counters
        reliable = packet.flags & RELIABLE
        if reliable and self._sender.acks.full:
            counters.shed += 1
            return True
        verdict = self._window.admit(packet.sequence)
        if verdict == ANCIENT:
            counters.ancient += 1
            return True
        if reliable:
            self._sender.acks.owe(packet.sequence, now)
        if verdict == DUPLICATE:
            counters.duplicates += 1
            return True
        if packet.extra_bytes:
            counters.extra_headers += 1
        return False

    def _is_ours(self, packet: Packet) -> bool:
        """Tell whether a message that begins with agent and session id means us (Fault: 2).

        Simulators leave the session id of messages from other avatars empty.
        """
        try:
            named = packet.body()[:_SESSION_BYTES]
        except RemoteProtocolError:
            named = b""
        if len(named) < _SESSION_BYTES:
            self._counters.malformed += 1
            return False
        if named == self._session or (self._role is Role.VIEWER and named[len(NIL) :] == NIL):
            return True
        self._counters.other_session += 1
        return False

    def _handle(self, packet: Packet, now: float) -> None:
        """Deal with a message nobody else gets."""
        handler = self._handlers.get(packet.number)
        if handler is None:
            if packet.number in self._refused:
                self._counters.refused_over_udp += 1
            else:
                self._counters.skipped += 1
            return
        try:
            message = read_message_untrusted(packet)
        except RemoteProtocolError:
            self._counters.malformed += 1
            return
        handler(message, now)

    def _handle_acks(self, message: Message, now: float) -> None:
        self._acknowledged([packet.id for packet in cast("PacketAck", message).packets], now)

    def _handle_ping(self, message: Message, _: float) -> None:
        self._sender.pings.owe(cast("StartPingCheck", message).ping_id.ping_id)

    def _handle_pong(self, message: Message, now: float) -> None:
        self._sender.pings.complete(cast("CompletePingCheck", message).ping_id.ping_id, now)

    def _handle_close(self, _: Message, __: float) -> None:
        self._end(CircuitInput.PEER_CLOSED, CircuitEnd.CLOSED_BY_PEER)

    def _acknowledged(self, sequences: Iterable[int], now: float) -> None:
        for sent in self._sender.reliability.acknowledge(sequences, now):
            self._inbox.put_outcome(MessageDelivered(sent.token, sent.message))

    # --- out -----------------------------------------------------------------------------------
    def send(self, message: Message, *, reliable: bool = False) -> int:
        """Accept a message for sending; it leaves with `datagrams_to_send`, in order and as the throttle allows.

        Args:
            message: what to send.
            reliable: whether to resend it until it is acknowledged, and to report its outcome.

        Returns:
            A token that names the message in its outcome.

        Raises:
            LocalProtocolError: the circuit is not open, or the message cannot be written.
            LimitReached: too much is on its way; take the outcomes, and send less or later.
        """
        if self.state is not CircuitState.OPEN:
            raise LocalProtocolError("the circuit is not open")
        return self._sender.send(message, reliable=reliable, outcomes_untaken=self._inbox.outcomes)

    def close(self) -> None:
        """End the circuit: a farewell leaves with the next `datagrams_to_send`. Closing twice does nothing."""
        if self.state is CircuitState.OPEN:
            self.state = CIRCUIT_TABLE.step(self.state, CircuitInput.CLOSE)

    def datagrams_to_send(self, now: float) -> list[tuple[bytes, Address]]:
        """Take what is to leave now, each with its address."""
        if self.state is CircuitState.OPEN:
            return [(data, self._peer) for data in self._sender.datagrams(now)]
        if self.state is CircuitState.CLOSING:
            farewell = self._sender.farewell(CloseCircuit())
            self._end(CircuitInput.FAREWELL_SENT, CircuitEnd.CLOSED_BY_US)
            return [(farewell, self._peer)]
        return []

    # --- time ----------------------------------------------------------------------------------
    def get_timer(self) -> float | None:
        """Tell when to call `handle_timer` and then `datagrams_to_send`, if ever."""
        if self.state is not CircuitState.OPEN:
            return None
        return min(self._sender.timer(), self._heard_at + self._dead_after)

    def handle_timer(self, now: float) -> None:
        """Take notice of the time: give up what is lost, and the circuit itself after too long a silence (Fault: 7)."""
        if self.state is not CircuitState.OPEN:
            return
        for sent in self._sender.expire(now):
            self._inbox.put_outcome(MessageLost(sent.token, sent.message))
        # As `get_timer` says it: a difference would round otherwise, and be looked at again and again at one moment.
        if now >= self._heard_at + self._dead_after:
            self._end(CircuitInput.SILENCE, CircuitEnd.SILENCE)

    # --- events --------------------------------------------------------------------------------
    def next_event(self) -> CircuitEvent | None:
        """Take the next event, if any. Messages are read here, by whoever wants them; malformed ones are counted."""
        return self._inbox.take()

    def _end(self, given: CircuitInput, end: CircuitEnd) -> None:
        self.state = CIRCUIT_TABLE.step(self.state, given)
        for token, message in self._sender.give_up():
            self._inbox.put_outcome(MessageLost(token, message))
        self._inbox.put_end(CircuitEnded(end))

    def statistics(self) -> CircuitStatistics:
        """Take the figures of this moment (Spec: LIV-12)."""
        sender = self._sender
        counts = {name: getattr(self._counters, name) for name in Counters.__slots__}
        return CircuitStatistics(
            **counts,
            unacked=len(sender.reliability),
            unacked_bytes=sender.reliability.bytes_open,
            waiting=sender.waiting,
            inbox=len(self._inbox),
            inbox_peak=max(self._inbox.peak, len(self._inbox)),
            acks_owed=len(sender.acks),
            round_trip_s=sender.pings.round_trip,
            ack_time_s=sender.reliability.round_trip.smoothed,
            heard_at=self._heard_at,
        )
