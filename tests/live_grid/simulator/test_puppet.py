"""The viewer moved by hand that these tests stand on."""

from __future__ import annotations

import pytest

from live_grid.messages.circuits import CompleteAgentMovement
from live_grid.simulator.puppet import Puppet, Table


def test_a_puppet_remembers_what_it_heard_by_region(ada: Puppet, table: Table) -> None:
    """Messages by kind and region, events by name and region; both can be forgotten. Spec: LIV-15."""
    table.pass_time(10.0)
    assert ada.messages
    assert ada.saw(CompleteAgentMovement) == []
    assert ada.told("Nothing", 0) == []
    ada.forget()
    assert not ada.messages


def test_a_puppet_says_clearly_what_its_mover_forgot(table: Table) -> None:
    """It is for tests: what cannot be is an assertion."""
    puppet = table.puppet("Ada Actor")
    with pytest.raises(AssertionError, match="has not logged in"):
        _ = puppet.session
    with pytest.raises(AssertionError, match="was not let in"):
        puppet.enter(password="wrong")
    puppet.enter()
    with pytest.raises(AssertionError, match="the answer is held"):
        puppet.queues.clear()
        puppet.fetch(puppet.caps[0]["EventQueueGet"], b"")


def test_a_puppet_that_keeps_on_talking_is_noticed(table: Table, ada: Puppet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client and a server that never come to rest are a bug, and no endless test."""
    monkeypatch.setattr(Puppet, "work", lambda self: True)
    with pytest.raises(AssertionError, match="never come to rest"):
        table.settle()
