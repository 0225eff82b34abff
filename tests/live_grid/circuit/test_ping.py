"""Pings, both ways."""

from __future__ import annotations

import pytest

from live_grid.circuit.ping import Pings


def test_the_peers_pings_are_answered_once() -> None:
    """The same id owed twice is answered once; ids are one byte, so 256 at most wait."""
    pings = Pings(every=5.0, now=0.0)
    for number in (1, 2, 1):
        pings.owe(number)
    assert pings.take_owed() == (1, 2)
    assert pings.take_owed() == ()


def test_answers_tell_how_far_it_is() -> None:
    """Smoothed; an answer to nothing, or that comes twice, says nothing."""
    pings = Pings(every=5.0, now=0.0)
    assert pings.next_at == 5.0
    first = pings.start(5.0)
    assert pings.next_at == 10.0
    pings.complete(first, 5.1)
    assert pings.round_trip == pytest.approx(0.1)
    pings.complete(first, 9.0)
    pings.complete(77, 9.0)
    assert pings.round_trip == pytest.approx(0.1)
    second = pings.start(10.0)
    pings.complete(second, 10.6)
    assert pings.round_trip == pytest.approx(0.2)


def test_ids_wrap() -> None:
    """After 255 comes zero, and an id that is used again stands for the newer ping."""
    pings = Pings(every=5.0, now=0.0)
    ids = [pings.start(float(number)) for number in range(257)]
    assert ids[:2] == [0, 1]
    assert ids[255:] == [255, 0]
    pings.complete(0, 256.5)
    assert pings.round_trip == pytest.approx(0.5)
