"""Acks that are owed."""

from __future__ import annotations

from live_grid.circuit.acks import AckQueue
from live_grid.limits import ACKS_PENDING_MAX


def test_acks_are_taken_oldest_first_and_once() -> None:
    """A number owed twice is sent once."""
    acks = AckQueue(0.2)
    for number in (7, 8, 7, 9):
        acks.owe(number, 1.0)
    assert len(acks) == 3
    assert acks.take(0) == ()
    assert acks.take(2) == (7, 8)
    assert acks.take(5) == (9,)
    assert acks.take(5) == ()


def test_acks_are_due_before_they_are_late() -> None:
    """The deadline is that of the first one, and stands while any is left."""
    acks = AckQueue(0.2)
    assert acks.due_at() is None
    acks.owe(1, 10.0)
    acks.owe(2, 10.1)
    assert acks.due_at() == 10.2
    acks.take(1)
    assert acks.due_at() == 10.2
    acks.take(1)
    assert acks.due_at() is None


def test_a_packet_full_of_acks_is_due_at_once() -> None:
    """Waiting for a ride gains nothing then."""
    acks = AckQueue(0.2)
    for number in range(200):
        acks.owe(number, 10.0)
    assert acks.due_at() == 10.0


def test_acks_are_bounded() -> None:
    """At the ceiling no more is taken on. Spec: LIV-2."""
    acks = AckQueue(0.2)
    for number in range(ACKS_PENDING_MAX):
        assert not acks.full
        acks.owe(number, 0.0)
    assert acks.full
