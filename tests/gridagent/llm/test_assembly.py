"""A reply is put together within its bounds, under ids that are its own, without the thinking before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.language import (
    AssistantTurn,
    BadReply,
    FinishReason,
    LlmFailure,
    LlmRequest,
    ToolCall,
    ToolTurn,
    Usage,
    UserTurn,
)
from gridagent.limits import TOOL_CALLS_PER_REPLY_MAX
from gridagent.llm.assembly import ReplyAssembly, ThinkFilter

ASK = LlmRequest(turns=(UserTurn(text="hi"),))


def filtered(*pieces: str) -> str:
    """Return what of the pieces is shown, in the end."""
    think = ThinkFilter()
    return "".join(think.feed(piece) for piece in pieces) + think.rest()


THINKING = {
    "<think>hm</think>Hello": "Hello",
    "\n <think>\nhm\n</think>\n\nHello": "Hello",
    "<thinking>a < b</thinking>Hello": "Hello",
    "<reasoning>x</reasoning><think>y</think> Hello": "Hello",
    "<think>never ends": "",
    "<think></think>": "",
    "Hello <think>not first</think>": "Hello <think>not first</think>",
    "<thimble>": "<thimble>",
    "<th": "<th",
    "<": "<",
    "  Hello": "Hello",
    " ": "",
    "": "",
    " " * 300 + "x": "x",
}


@pytest.mark.parametrize("text", THINKING)
def test_thinking_in_front_is_left_out(text: str) -> None:
    """Whole, cut anywhere and letter by letter; only in front, and only whole tags."""
    assert filtered(text) == THINKING[text]
    assert filtered(*text).strip() == THINKING[text]
    for at in range(len(text)):
        assert filtered(text[:at], text[at:]).strip() == THINKING[text]


def test_a_filter_keeps_little() -> None:
    """Neither endless blanks nor endless thinking pile up."""
    blank, block = ThinkFilter(), ThinkFilter()
    for _ in range(1_000):
        blank.feed(" ")
    block.feed("<think>")
    for _ in range(1_000):
        assert block.feed("x" * 100) == ""
    assert len(blank._kept) < 300
    assert len(block._kept) < 300


@given(st.lists(st.sampled_from(["<", "think", ">", "</think>", "a", " ", "<think>"]), max_size=12))
def test_where_text_is_cut_does_not_matter(pieces: list[str]) -> None:
    """What is shown is the same but for blanks, cut or whole."""
    assert "".join(filtered(*pieces).split()) == "".join(filtered("".join(pieces)).split())


def test_bytes_are_counted_as_they_come() -> None:
    """Text, names and arguments count together, in bytes. Spec: BND-17. Fault: 21."""
    assembly = ReplyAssembly(LlmRequest(turns=ASK.turns, max_reply_bytes=20))
    assembly.add_text("éééé")
    number = assembly.begin_call("1", "look")
    assembly.add_to_call(number, arguments="12345678")
    with pytest.raises(LlmFailure) as caught:
        assembly.add_to_call(number, arguments="9")
    assert caught.value.bad_reply is BadReply.TOO_LONG


def test_one_call_too_many_refuses_all() -> None:
    """The reply is refused as a whole. Spec: BND-8. Fault: 22."""
    assembly = ReplyAssembly(ASK)
    for number in range(TOOL_CALLS_PER_REPLY_MAX):
        assembly.begin_call(str(number), "look")
    with pytest.raises(LlmFailure) as caught:
        assembly.begin_call("x", "look")
    assert caught.value.bad_reply is BadReply.TOO_MANY_CALLS


def test_every_call_has_an_id_of_its_own() -> None:
    """Empty, repeated, over-long and already used ids are replaced; good ones stay."""
    history = AssistantTurn(
        tool_calls=(ToolCall(id="old", name="x", arguments=""), ToolCall(id="call00001", name="x", arguments=""))
    )
    turns = (history, ToolTurn(call_id="old", name="x", text=""), ToolTurn(call_id="call00001", name="x", text=""))
    assembly = ReplyAssembly(LlmRequest(turns=turns))
    for call_id in ("", "good", "good", "old", "x" * 65, "call00003"):
        assembly.begin_call(call_id, "look")
    ids = [call.id for call in assembly.finish(None, None).tool_calls]
    assert ids == ["call00002", "good", "call00004", "call00005", "call00006", "call00003"]


def test_an_over_long_name_matches_no_tool() -> None:
    """It is cut with a mark, so that the pipeline calls it unknown. Fault: 25."""
    assembly = ReplyAssembly(ASK)
    assembly.begin_call("1", "look" * 50)
    (call,) = assembly.finish(None, None).tool_calls
    assert len(call.name) == 64
    assert call.name.endswith("…")


@pytest.mark.parametrize(
    ("reason", "calls", "finish"),
    [
        (None, 0, FinishReason.STOP),
        (None, 1, FinishReason.TOOL_CALLS),
        (FinishReason.LENGTH, 1, FinishReason.LENGTH),
        (FinishReason.LENGTH, 0, FinishReason.LENGTH),
    ],
)
def test_what_is_there_says_why_it_stopped(reason, calls: int, finish: FinishReason) -> None:
    """Only being cut off is taken from what the provider said."""
    assembly = ReplyAssembly(ASK)
    for number in range(calls):
        assembly.begin_call(str(number), "look")
    assert assembly.finish(reason, None).finish is finish


def test_usage_is_estimated_from_above_where_nobody_reports_it() -> None:
    """Tokens that nobody counted are counted high. Spec: MND-12."""
    assembly = ReplyAssembly(ASK)
    assembly.add_text("x" * 30)
    estimated = assembly.finish(None, None).usage
    assert (estimated.reported, estimated.output_tokens) == (False, 10)
    assert estimated.input_tokens >= 1
    reported = Usage(input_tokens=1, output_tokens=2, reported=True)
    assert assembly.finish(None, reported).usage is reported
