"""What thinking costs is rounded up, and estimated from above."""

from __future__ import annotations

from gridagent.language import AssistantTurn, LlmRequest, ToolCall, ToolDescriptor, ToolTurn, Usage, UserTurn
from gridagent.llm.prices import Prices, Spend, cost_of, estimate_input_tokens, estimate_tokens, most_of

PRICES = Prices(input_micros=3_000_000, output_micros=15_000_000, cached_micros=300_000)


def test_prices_round_up() -> None:
    """No fraction of a charge is lost. Spec: MND-12."""
    assert cost_of(Usage(input_tokens=1_000_000, output_tokens=1_000_000), PRICES) == 18_000_000
    assert cost_of(Usage(input_tokens=10, cached_tokens=10), PRICES) == 3
    assert cost_of(Usage(input_tokens=10, cached_tokens=99), PRICES) == 3
    assert cost_of(Usage(input_tokens=10, cached_tokens=10), Prices(input_micros=3_000_000, output_micros=0)) == 30
    assert cost_of(Usage(output_tokens=1), Prices(input_micros=0, output_micros=1)) == 1
    assert cost_of(Usage(), PRICES) == 0


def test_a_request_is_estimated_from_above() -> None:
    """Every text that is sent counts, in bytes, and so does what stands around it. Spec: MND-12."""
    bare = LlmRequest(turns=(UserTurn(text="x" * 300),))
    assert estimate_input_tokens(bare) >= 100
    assert estimate_input_tokens(LlmRequest(turns=(UserTurn(text="é" * 300),))) >= 200
    calls = AssistantTurn(text="y" * 30, tool_calls=(ToolCall(id="1", name="look", arguments="z" * 300),))
    turns = (*bare.turns, calls, ToolTurn(call_id="1", name="look", text=""))
    more = LlmRequest(turns=turns, tools=(ToolDescriptor(name="look", description="d" * 30, schema=b"s" * 300),))
    assert estimate_input_tokens(more) >= 100 + 10 + 100 + 10 + 100
    assert estimate_tokens(1) == 1
    most = most_of(bare, PRICES)
    assert most.tokens == estimate_input_tokens(bare) + 1_024
    assert most.micros == cost_of(Usage(input_tokens=estimate_input_tokens(bare), output_tokens=1_024), PRICES)
    assert most_of(bare, None).micros == 0


def test_amounts_add_up() -> None:
    """Tokens and money apart."""
    assert Spend(tokens=1, micros=2) + Spend(tokens=3, micros=4) == Spend(tokens=4, micros=6)
