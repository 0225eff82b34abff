"""The world's refusals in the words that simulators use."""

from __future__ import annotations

import pytest

from gridagent.events import ActionRefused
from gridagent.grid.simulated.refusals import Refusal
from live_grid.messages import text_of
from live_grid.messages.holdings import MoneyBalanceReply
from live_grid.messages.speech import AgentAlertMessage
from live_grid.messages.travel import TeleportFailed
from live_grid.simulator.puppet import Puppet, Table
from live_grid.simulator.refusing import QUIET, teleport_words, tell_refusal


def refuse(table: Table, verb: str, reason: Refusal) -> None:
    """Let the world refuse something."""
    (agent,) = table.core._agents.values()
    tell_refusal(agent, ActionRefused(reference=f"{verb}-7", reason=reason.value))
    table.settle()


def test_every_refusal_has_words() -> None:
    """For teleports too, none is told by its bare code. Spec: LIV-15."""
    words = [teleport_words(refusal.value) for refusal in Refusal]
    assert all(text.endswith(".") and "_" not in text for text in words)


@pytest.mark.parametrize("verb", sorted(QUIET))
def test_some_refusals_are_told_by_no_simulator(verb: str, table: Table, ada: Puppet) -> None:
    """Walking into nowhere says nothing. Spec: LIV-15."""
    refuse(table, verb, Refusal.SUPERSEDED)
    assert len(ada.messages) == 0


def test_each_refusal_goes_the_way_of_its_kind(table: Table, ada: Puppet) -> None:
    """Payments by a reply, teleports that never began by a failure, the rest by an alert. Spec: LIV-15."""
    refuse(table, "pay", Refusal.NOT_PAYABLE)
    refuse(table, "teleport", Refusal.IN_TRANSIT)
    refuse(table, "teleport", Refusal.REGION_FULL)
    refuse(table, "sit", Refusal.SEAT_TAKEN)
    (reply,), (failed,), (alert,) = ada.saw(MoneyBalanceReply), ada.saw(TeleportFailed), ada.saw(AgentAlertMessage)
    assert text_of(reply.transaction_info.item_description) == "The grid refused: not payable."
    assert text_of(failed.info.reason) == "Agent is already in transit."
    assert text_of(alert.alert_data.message) == "Sorry, this seat is taken."
