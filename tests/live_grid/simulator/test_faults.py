"""Knobs of the wire, and that what they turn really happens."""

from __future__ import annotations

import random

import pytest

from gridagent.errors import OperatorError
from live_grid.simulator import faults
from live_grid.simulator.faults import Air, HttpFate, WireFaultCounts, WireFaultKind, WireFaults, draw_http
from live_grid.simulator.limits import DATAGRAMS_HELD_MAX

AT = ("127.0.0.1", 5)


def air(**knobs) -> tuple[Air, WireFaultCounts]:
    """Return a way with knobs turned."""
    counts = WireFaultCounts()
    return Air(random.Random(3), counts, WireFaults(**knobs)), counts


def carry(way: Air, many: int, *, step: float = 0.01) -> list[int]:
    """Send numbered datagrams one after the other; return their numbers in the order of arrival."""
    arrived = []
    for number in range(many):
        now = number * step
        arrived += [flight[0] for flight in way.arrived(now)]
        arrived += [flight[0] for flight in way.put((number, b"", AT), now)]
    assert way.next_due() is None or way.next_due() > (many - 1) * step
    arrived += [flight[0] for flight in way.arrived(1e9)]
    assert way.next_due() is None
    return arrived


def test_a_perfect_wire_changes_nothing_and_draws_nothing() -> None:
    """Everything arrives once, at once and in order, and no chance is used up. Spec: LIV-15."""
    way, counts = air()
    before = way._rng.getstate()
    assert carry(way, 100) == list(range(100))
    assert way._rng.getstate() == before
    assert set(counts.snapshot().values()) == {0}


def test_lost_datagrams_are_lost_and_counted() -> None:
    """About the share asked for never arrives. Spec: LIV-15."""
    way, counts = air(datagram_lost=0.3)
    arrived = carry(way, 1_000)
    assert 1_000 - len(arrived) == counts[WireFaultKind.DATAGRAM_LOST]
    assert 200 < counts[WireFaultKind.DATAGRAM_LOST] < 400


def test_doubled_datagrams_come_twice() -> None:
    """And are counted once each. Spec: LIV-15."""
    way, counts = air(datagram_doubled=0.3)
    assert len(carry(way, 1_000)) == 1_000 + counts[WireFaultKind.DATAGRAM_DOUBLED]
    assert counts[WireFaultKind.DATAGRAM_DOUBLED] > 200


def test_delayed_datagrams_keep_their_order() -> None:
    """However the delays are drawn. Spec: LIV-15."""
    way, counts = air(delay_s=(0.05, 0.5))
    assert carry(way, 500) == list(range(500))
    assert counts[WireFaultKind.DATAGRAM_DELAYED] == 500


def test_reordered_datagrams_are_overtaken() -> None:
    """They all arrive, but not in order. Spec: LIV-15."""
    way, counts = air(datagram_reordered=0.2)
    arrived = carry(way, 500)
    assert sorted(arrived) == list(range(500))
    assert arrived != sorted(arrived)
    assert counts[WireFaultKind.DATAGRAM_REORDERED] > 50


def test_a_way_holds_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more passes at once. Spec: LIV-15."""
    monkeypatch.setattr(faults, "DATAGRAMS_HELD_MAX", 10)
    way, _ = air(delay_s=(5.0, 5.0))
    passed = [number for number in range(12) if way.put((number, b"", AT), 0.0)]
    assert passed == [10, 11]
    assert DATAGRAMS_HELD_MAX > 1_000


def test_one_seed_gives_one_story() -> None:
    """Drawn twice from one seed, the same datagrams suffer the same. Spec: SIM-2."""
    knobs = {"datagram_lost": 0.1, "datagram_doubled": 0.1, "datagram_reordered": 0.1, "delay_s": (0.0, 0.2)}
    assert carry(air(**knobs)[0], 300) == carry(air(**knobs)[0], 300)


@pytest.mark.parametrize(
    ("knobs", "kind", "check"),
    [
        ({"http_502": 1.0}, WireFaultKind.HTTP_502, lambda fate: fate.instead.status == 502),
        ({"http_404": 1.0}, WireFaultKind.HTTP_404, lambda fate: fate.instead.status == 404),
        ({"http_html": 1.0}, WireFaultKind.HTTP_HTML, lambda fate: b"<html>" in fate.instead.body),
        ({"http_missing": 1.0}, WireFaultKind.HTTP_MISSING, lambda fate: fate.missing),
        ({"http_late": 1.0, "http_late_s": (2.0, 3.0)}, WireFaultKind.HTTP_LATE, lambda fate: 2 <= fate.delay_s <= 3),
    ],
)
def test_each_fate_of_an_answer_can_be_had(knobs: dict, kind: WireFaultKind, check) -> None:
    """Pages instead, nothing at all, or later; each is counted. Spec: LIV-15; Fault: 11."""
    counts = WireFaultCounts()
    fate = draw_http(WireFaults(**knobs), random.Random(1), counts)
    assert check(fate)
    assert counts[kind] == 1
    assert sum(counts.snapshot().values()) == 1


def test_most_answers_pass_when_faults_are_rare() -> None:
    """A chance is a chance."""
    counts = WireFaultCounts()
    knobs = WireFaults(http_502=0.1, http_missing=0.1, http_late=0.1)
    rng = random.Random(1)
    fates = [draw_http(knobs, rng, counts) for _ in range(500)]
    assert fates.count(HttpFate()) == 500 - sum(counts.snapshot().values())
    assert 300 < fates.count(HttpFate()) < 450


@pytest.mark.parametrize("knob", ["delay_s", "http_late_s"])
def test_a_range_that_runs_backwards_is_refused(knob: str) -> None:
    """One sentence says which knob and how to mend it."""
    with pytest.raises(OperatorError, match=f"{knob} runs from 3 to 1; put the smaller"):
        WireFaults(**{knob: (3.0, 1.0)})
