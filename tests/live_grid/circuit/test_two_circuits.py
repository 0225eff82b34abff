"""Two circuits over a wire that drops, doubles and reorders: each reliable message once, or reported lost."""

from __future__ import annotations

import heapq
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live_grid.circuit import (
    Circuit,
    CircuitConfig,
    CircuitEnded,
    MessageDelivered,
    MessageLost,
    MessageReceived,
    Role,
)
from live_grid.circuit.sequence import SEQUENCE_MASK
from live_grid.errors import LimitReached
from live_grid.limits import (
    ACKS_PENDING_MAX,
    EVENTS_CONTROL_MAX,
    OUTBOX_MAX_PACKETS,
    SENDS_OPEN_MAX,
    SENDS_OPEN_MAX_BYTES,
)
from live_grid.messages.objects import KillObject

ENDS = (("198.51.100.1", 40000), ("203.0.113.9", 9000))


class Wire:
    """Two circuits, the datagrams between them, and a clock that jumps from one thing to the next."""

    def __init__(self, random: Random, *, drop: float, double: float, delay: float, first: int = 1) -> None:
        self.random = random
        self.drop, self.double, self.delay = drop, double, delay
        self.now = 0.0
        self.flying: list[tuple[float, int, int, bytes]] = []
        self.count = 0
        config = CircuitConfig(send_rate_bytes_s=20_000.0, send_burst_bytes=4_000.0)
        self.ends = (
            Circuit(ENDS[1], now=0.0, role=Role.VIEWER, config=config),
            Circuit(ENDS[0], now=0.0, role=Role.SIMULATOR, config=config),
        )
        for circuit in self.ends:
            circuit._sender.sequence.upcoming = first
            circuit._refused = frozenset()
            circuit._patience.update(Circuit(ENDS[0], now=0.0)._patience)
        self.sent: list[dict[int, int]] = [{}, {}]
        self.outcomes: list[dict[int, str]] = [{}, {}]
        self.received: list[list[int]] = [[], []]
        self.over = 0
        self.resent = 0

    def send(self, end: int, name: int, *, reliable: bool) -> None:
        """Send a message that can be told from all others."""
        try:
            token = self.ends[end].send(KillObject((KillObject.ObjectData(name),)), reliable=reliable)
        except LimitReached:
            return
        if reliable:
            self.sent[end][token] = name

    def flush(self) -> None:
        """Let everything leave that may, take all events, and look at the bounds."""
        for end, circuit in enumerate(self.ends):
            for data, target in circuit.datagrams_to_send(self.now):
                assert target == ENDS[1 - end]
                copies = 0 if self.random.random() < self.drop else 1 + (self.random.random() < self.double)
                for _ in range(copies):
                    self.count += 1
                    arrival = self.now + 0.01 + self.random.random() * self.delay
                    heapq.heappush(self.flying, (arrival, self.count, 1 - end, data))
            while (event := circuit.next_event()) is not None:
                self.take(end, event)
            figures = circuit.statistics()
            assert figures.unacked + figures.waiting <= SENDS_OPEN_MAX + OUTBOX_MAX_PACKETS
            assert figures.unacked_bytes <= SENDS_OPEN_MAX_BYTES
            assert figures.acks_owed <= ACKS_PENDING_MAX
            assert figures.inbox <= EVENTS_CONTROL_MAX

    def take(self, end: int, event: object) -> None:
        """Keep the books."""
        match event:
            case MessageReceived(message=KillObject(object_data=(one,))):
                self.received[end].append(one.id)
            case MessageDelivered(token=token) | MessageLost(token=token):
                assert token not in self.outcomes[end]
                self.outcomes[end][token] = "lost" if isinstance(event, MessageLost) else "delivered"
            case CircuitEnded():
                self.over += 1

    def advance(self, until: float) -> None:
        """Go from one arrival or timer to the next."""
        self.flush()
        while True:
            timers = [timer for circuit in self.ends if (timer := circuit.get_timer()) is not None]
            upcoming = min([*timers, *(arrival for arrival, *_ in self.flying[:1])], default=until)
            if upcoming >= until:
                self.now = until
                return
            self.now = max(self.now, upcoming)
            while self.flying and self.flying[0][0] <= self.now:
                _, _, end, data = heapq.heappop(self.flying)
                self.ends[end].receive_datagram_untrusted(data, ENDS[1 - end], self.now)
            for circuit in self.ends:
                circuit.handle_timer(self.now)
            self.flush()

    def check(self) -> None:
        """Every reliable message has one outcome; what was delivered arrived once, what was lost at most once."""
        for end in (0, 1):
            arrived = self.received[1 - end]
            assert len(arrived) == len(set(arrived))
            assert self.outcomes[end].keys() == self.sent[end].keys()
            for token, name in self.sent[end].items():
                if self.outcomes[end][token] == "delivered":
                    assert name in arrived


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("first", [1, SEQUENCE_MASK - 40], ids=["start", "wrap"])
def test_a_bad_wire_delivers_each_message_once_or_reports_it(seed: int, first: int) -> None:
    """A third dropped, a fifth doubled, up to 1.5 s late: across the wrap of sequence numbers too. Spec: LIV-2."""
    random = Random(seed)
    wire = Wire(random, drop=0.3, double=0.2, delay=1.5, first=first)
    for name in range(1, 161):
        wire.send(name % 2, name, reliable=random.random() < 0.7)
        wire.advance(wire.now + random.random() * 0.2)
    wire.advance(wire.now + 45.0)
    wire.check()
    assert sum(list(found.values()).count("delivered") for found in wire.outcomes) > 80
    assert all(circuit.statistics().resent > 0 and circuit.statistics().duplicates > 0 for circuit in wire.ends)
    assert all(circuit.statistics().malformed == 0 for circuit in wire.ends)
    if first > 1:
        assert all(circuit._sender.sequence.upcoming < first for circuit in wire.ends)


def test_a_good_wire_loses_and_repeats_nothing() -> None:
    """Without faults there is no resend, and acks ride or leave within their delay."""
    wire = Wire(Random(1), drop=0.0, double=0.0, delay=0.05)
    for name in range(1, 301):
        wire.send(name % 2, name, reliable=True)
        wire.advance(wire.now + 0.02)
    wire.advance(wire.now + 10.0)
    wire.check()
    assert [sorted(names) for names in wire.received] == [list(range(1, 301, 2)), list(range(2, 301, 2))]
    assert all(set(found.values()) == {"delivered"} for found in wire.outcomes)
    for circuit in wire.ends:
        figures = circuit.statistics()
        assert (figures.resent, figures.lost, figures.duplicates) == (0, 0, 0)
        assert figures.ack_time_s is not None
        assert figures.ack_time_s < 0.4
        assert figures.round_trip_s is not None


def test_a_cut_wire_ends_both_circuits_and_reports_everything() -> None:
    """Both ends notice the silence, and no message stays without an outcome. Fault: 7."""
    wire = Wire(Random(2), drop=1.0, double=0.0, delay=0.0)
    for name in range(1, 2001):
        wire.send(name % 2, name, reliable=True)
    wire.advance(200.0)
    wire.check()
    assert wire.over == 2
    assert all(set(found.values()) == {"lost"} for found in wire.outcomes)
    assert [len(sent) for sent in wire.sent] == [SENDS_OPEN_MAX, SENDS_OPEN_MAX]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    drop=st.floats(0.0, 0.9),
    double=st.floats(0.0, 1.0),
    delay=st.floats(0.0, 5.0),
    steps=st.lists(st.tuples(st.integers(0, 1), st.booleans(), st.floats(0.0, 3.0)), max_size=40),
)
def test_any_wire_and_any_pattern_keep_the_promise(seed, drop, double, delay, steps) -> None:
    """However bad the wire, each reliable message ends exactly once, and nothing is handled twice. Spec: LIV-2."""
    wire = Wire(Random(seed), drop=drop, double=double, delay=delay, first=SEQUENCE_MASK - 5)
    for name, (end, reliable, pause) in enumerate(steps):
        wire.send(end, name, reliable=reliable)
        wire.advance(wire.now + pause)
    wire.advance(wire.now + 120.0)
    wire.check()
