"""Resending and giving up."""

from __future__ import annotations

import pytest

from live_grid.circuit.reliability import LONGEST_TIMEOUT_S, Reliability, RoundTrip, Sent
from live_grid.messages.circuits import CloseCircuit
from live_grid.packet import Payload


def sent(sequence: int, now: float) -> Sent:
    """A message that was just sent."""
    return Sent(token=sequence * 10, message=CloseCircuit(), payload=Payload(0, b"1234"), sequence=sequence, now=now)


def test_the_timeout_follows_the_acks() -> None:
    """Before any, a second and a half; then what acks take and how they spread, within bounds, doubling."""
    trip = RoundTrip()
    assert [trip.timeout(attempts) for attempts in (1, 2, 3, 4, 9)] == [1.5, 3.0, 6.0, 8.0, LONGEST_TIMEOUT_S]
    trip.learn(0.1)
    assert trip.timeout(1) == 1.0
    trip.learn(2.0)
    assert trip.smoothed == pytest.approx(0.1 + 0.125 * 1.9)
    assert 1.5 < trip.timeout(1) < 4.0


def test_an_ack_delivers_once() -> None:
    """A second ack, or one for nothing, is ignored."""
    reliability = Reliability(resends_max=2)
    reliability.record(sent(1, 0.0))
    reliability.record(sent(2, 0.0))
    assert (len(reliability), reliability.bytes_open, reliability.oldest()) == (2, 8, 1)
    assert [one.token for one in reliability.acknowledge([1, 1, 99], 0.3)] == [10]
    assert (len(reliability), reliability.bytes_open, reliability.oldest()) == (1, 4, 2)
    assert reliability.round_trip.smoothed == pytest.approx(0.3)


def test_what_is_not_acknowledged_is_resent_and_then_lost() -> None:
    """With growing pauses, so often as allowed, and reported once. Spec: LIV-2."""
    reliability = Reliability(resends_max=2)
    reliability.record(sent(1, 0.0))
    moments = []
    while (deadline := reliability.next_deadline()) is not None:
        assert list(reliability.expire(deadline - 0.01)) == []
        for one, lost in reliability.expire(deadline):
            moments.append((deadline, lost))
            if not lost:
                assert reliability.is_open(one)
                reliability.resent(one, deadline)
    assert moments == [(1.5, False), (4.5, False), (10.5, True)]
    assert (len(reliability), reliability.bytes_open, reliability.oldest()) == (0, 0, None)


def test_acks_of_resent_messages_teach_nothing() -> None:
    """Nobody knows which copy they are for."""
    reliability = Reliability(resends_max=2)
    reliability.record(sent(1, 0.0))
    (one, _), *_ = reliability.expire(1.5)
    reliability.resent(one, 1.5)
    assert [done.sequence for done in reliability.acknowledge([1], 1.6)] == [1]
    assert not reliability.is_open(one)
    assert reliability.round_trip.smoothed is None
    assert reliability.next_deadline() is None


def test_deadlines_of_the_delivered_do_not_pile_up() -> None:
    """Ten thousand messages delivered at once leave a bounded heap behind. Spec: LIV-2."""
    reliability = Reliability(resends_max=2)
    for number in range(10_000):
        reliability.record(sent(number, 0.0))
        assert len(list(reliability.acknowledge([number], 0.0))) == 1
    assert len(reliability._deadlines) <= 66


def test_the_end_gives_everything_up() -> None:
    """Each open message is reported once, oldest first."""
    reliability = Reliability(resends_max=2)
    for number in (3, 4):
        reliability.record(sent(number, 0.0))
    assert [one.token for one in reliability.give_up()] == [30, 40]
    assert (list(reliability.give_up()), reliability.bytes_open) == ([], 0)
