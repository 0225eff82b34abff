"""What a turn took, as whoever watches is told (Spec: OPS-2, MND-12)."""

from gridagent.language import FailureKind, LlmFailure, LlmReply, ToolCall, Usage
from gridagent.observations import TurnEnded


def test_the_end_of_a_turn_says_what_all_its_requests_took_together(bench):
    """Spec: OPS-2 — requests, tokens and cost of both replies, and that the model itself answered."""
    b = bench()
    b.say("Robin, who is here?")
    call = ToolCall(id="c1", name="look_around", arguments="{}")
    usage = Usage(input_tokens=100, cached_tokens=60, output_tokens=7, reported=True)
    b.reply(LlmReply(tool_calls=(call,), usage=usage, cost_micros=40))
    b.reply(LlmReply(text="Ann Visitor is here.", usage=usage, cost_micros=2))
    (ended,) = b.of(TurnEnded)
    assert ended.stop == "answered"
    assert (ended.model_turns, ended.input_tokens, ended.cached_tokens, ended.output_tokens) == (2, 200, 120, 14)
    assert ended.cost_micros == 42
    assert not ended.fallback


def test_a_cost_that_nobody_knows_is_not_nothing(bench):
    """Spec: MND-12 — without a price the cost stays unknown, and a line of the persona's is told as such."""
    b = bench()
    b.say("Robin, hello there")
    b.reply(LlmReply(text="Hello.", usage=Usage(input_tokens=5, output_tokens=1)))
    b.say("Robin, and now something else")
    b.reply(LlmFailure(FailureKind.TIMEOUT))
    first, second = b.of(TurnEnded)
    assert first.cost_micros is None
    assert (first.input_tokens, first.output_tokens) == (5, 1)
    assert (first.fallback, second.fallback) == (False, True)
