"""A session under more than it can take: nothing owed is forgotten, and nothing grows."""

from __future__ import annotations

import pytest

from benchmarks.bench_live import LOOPBACK, PACKETS, PING_EVERY, RELIABLE_EVERY, Answers, a_session, burst, storm
from live_grid.io.client import EVENTS_AT_ONCE
from live_grid.io.udp import BATCH_MAX

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
OWED = {number for number in range(1, PACKETS + 1) if number % PING_EVERY and number % RELIABLE_EVERY == 0}


def answers_to(packets: list[bytes], *, events_at_once: int) -> Answers:
    """Give a session packets in batches as a socket does, and collect what it answers."""
    address, answers = (LOOPBACK, 9), Answers()
    session = a_session(address, 0.0)
    for first in range(0, PACKETS + 2 * PACKETS, BATCH_MAX):
        now = first / PACKETS
        for data in packets[first : first + BATCH_MAX]:
            session.receive_datagram_untrusted(data, address, now)
        session.handle_timer(now)
        for _ in range(events_at_once):
            session.next_event(now)
        for data, _ in session.datagrams_to_send(now):
            answers.take(data)
    return answers


def test_twenty_thousand_packets_in_a_second_lose_no_ack_and_no_ping() -> None:
    """With events handed out as the client does it. Spec: LIV-2, LIV-9."""
    answers = answers_to(burst(), events_at_once=EVENTS_AT_ONCE)
    assert len(OWED) > 4_000
    assert answers.acks == OWED
    assert len(answers.pings) == PACKETS // PING_EVERY


def test_pings_are_answered_when_nobody_takes_an_event() -> None:
    """What there is no room for is lost as on the wire and comes again: never acknowledged unread. Fault: 6."""
    answers = answers_to(burst(), events_at_once=0)
    assert len(answers.pings) == PACKETS // PING_EVERY
    assert answers.acks
    assert answers.acks < OWED


def test_a_storm_of_objects_does_not_grow_memory() -> None:
    """Thrice as many new objects as fit need no more than the first third did. Spec: BND-1, LIV-9. Fault: 6."""
    first, *_, last = storm(10_000)
    assert last < 32.0
    assert last < first * 1.25
