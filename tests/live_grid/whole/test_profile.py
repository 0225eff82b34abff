"""What a grid can do decides which tools a mind is offered there, from the wire to the model's request."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.actions import SendIm
from gridagent.controls import ForceReconnect
from gridagent.language import FinishReason, LlmReply, LlmRequest, ToolCall, ToolTurn
from gridagent.llm.offline import model as offline
from live_grid.simulator import OPENSIM, SECOND_LIFE
from tests.live_grid.whole.life import ADA, OLIVE, Life, a_life

KINDS = pytest.mark.parametrize("profile", [OPENSIM, SECOND_LIFE], ids=["opensim", "secondlife"])
MONEY = {"check_balance", "pay_avatar", "pay_object"}
PAY = ToolCall(id="c1", name="pay_avatar", arguments=f'{{"to":"{OLIVE}","amount":1}}')


@pytest.fixture
def requests(monkeypatch) -> list[LlmRequest]:
    """What the model is asked; it first wants to pay, whatever it is offered, then says no more."""
    seen: list[LlmRequest] = []

    def answer(request: LlmRequest) -> LlmReply:
        seen.append(request)
        if len(seen) % 2:
            return LlmReply(tool_calls=(PAY,), finish=FinishReason.TOOL_CALLS)
        return LlmReply(text="So be it.")

    monkeypatch.setattr(offline, "answer", answer)
    return seen


async def offered(life: Life, requests: list[LlmRequest], words: str) -> set[str]:
    """The tools in the first request of the turn that the owner's words begin."""
    before = len(requests)
    life.world.perform(OLIVE, SendIm(to=ADA, text=words), life.grid.now())
    await life.until(lambda: len(requests) > before)
    return {tool.name for tool in requests[before].tools}


@KINDS
async def test_a_grid_without_money_has_no_tools_for_it(tmp_path, autojump_clock, profile, requests) -> None:
    """Not offered, refused by name when called all the same, and there after a login where money answers.

    Spec: LIV-11, MND-13. Fault: 25.
    """
    poor = msgspec.structs.replace(profile, answers_balance=False)
    async with a_life(tmp_path, profile=poor, policy={"preset": "shopkeeper"}) as life:
        await life.online()
        life.witness(OLIVE)
        without = await offered(life, requests, "Pay me.")
        assert "look_around" in without
        assert not MONEY & without
        await life.until(lambda: len(requests) > 1)
        told = requests[1].turns[-1]
        assert isinstance(told, ToolTurn)
        assert (told.name, '"code":"hidden_tool"' in told.text) == ("pay_avatar", True)
        assert life.world.avatar(ADA).balance == 100
        status = life.handle.status().profile
        assert status is not None
        assert not status.has_money
        life.server.core.stage.profile = profile
        assert (await life.handle.control(ForceReconnect())).accepted
        await life.until(lambda: (now := life.handle.status().profile) is not None and now.has_money)
        await life.online()
        assert await offered(life, requests, "Pay me now.") >= without | MONEY
