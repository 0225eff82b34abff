"""What the replies of a turn took, added up."""

from __future__ import annotations

from gridagent.language import LlmReply, Usage
from gridagent.turn.tally import Tally


def test_tokens_and_money_are_added() -> None:
    """Sums are of everything, and of money only while every reply said what it cost. Spec: MND-12."""
    tally = Tally()
    tally.add(LlmReply(usage=Usage(input_tokens=3, cached_tokens=1, output_tokens=2, reported=True), cost_micros=5))
    tally.add(LlmReply(usage=Usage(input_tokens=4, output_tokens=1, reported=True), cost_micros=6))
    assert tally.usage == Usage(input_tokens=7, cached_tokens=1, output_tokens=3, reported=True)
    assert tally.cost_micros == 11
    tally.add(LlmReply())
    tally.add(LlmReply(cost_micros=1))
    assert not tally.usage.reported
    assert tally.cost_micros is None
