"""The way of answers to the clients of HTTP."""

from __future__ import annotations

import pytest

from live_grid.simulator import delivery as delivery_module
from live_grid.simulator.delivery import Delivery
from live_grid.simulator.faults import WireFaultKind, WireFaults
from live_grid.simulator.http1 import HttpRequest, HttpResponse
from live_grid.simulator.puppet import Table


def test_an_answer_can_go_missing(table: Table) -> None:
    """The connection is to be closed instead. Spec: LIV-15."""
    table.core.set_faults(WireFaults(http_missing=1.0))
    answers = []
    table.ask(HttpRequest(method="GET", target="/get_grid_info"), answers.append)
    assert [answer.status for answer in answers] == [0]
    assert table.stage.counts[WireFaultKind.HTTP_MISSING] == 1


def test_late_answers_come_later_and_only_so_many_wait(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more than the ceiling comes at once. Spec: LIV-15."""
    monkeypatch.setattr(delivery_module, "HTTP_HELD_MAX", 1)
    table.core.set_faults(WireFaults(http_late=1.0, http_late_s=(3.0, 3.0)))
    answers = []
    for _ in range(2):
        table.ask(HttpRequest(method="GET", target="/get_grid_info"), answers.append)
    assert len(answers) == 1
    table.pass_time(4.0)
    assert len(answers) == 2


def test_an_end_hands_over_what_was_held(table: Table) -> None:
    """At once, and once. Spec: LIV-15."""
    table.core.set_faults(WireFaults(http_late=1.0, http_late_s=(3.0, 3.0)))
    delivery, answers = Delivery(table.stage), []
    delivery.deliver(answers.append, HttpResponse(status=204))
    assert answers == []
    assert delivery.get_timer() == table.stage.world.now + 3.0
    delivery.close()
    delivery.close()
    assert [answer.status for answer in answers] == [204]
    assert delivery.get_timer() is None
