"""Any calls, in any order of ending, with any end: results in order, one each, and never two that conflict at once."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridagent.actions import Capability, Confirmed, EffectClass, EvidenceKind, InDoubt, Refused
from gridagent.authority import DenialCode, Origin, Role
from gridagent.config.policy import PolicySection
from gridagent.events import GridProfile
from gridagent.language import AssistantTurn, ToolCall, pairing_problem
from gridagent.policy import Denied, Policy
from gridagent.tools import Access, CallInput, CallLedger, Registry, ResultCode, Start, ToolBatch, TurnMode
from gridagent.tools.catalogue import CATALOGUE
from gridagent.tools.descriptor import Port
from gridagent.tools.envelope import Acted, Answered, Broke, Decided, ForeignReply, TimedOut
from gridagent.tools.ledger import CallState
from gridagent.tools.ports import Balance, Remembered, TimeTold
from gridagent.tools.scheduler import plan

OPEN = Policy(
    msgspec.convert(
        {"preset": "builder", "matrix": {"public_chat": {each.value: "anyone" for each in Capability}}}, PolicySection
    )
)
EVERYTHING = Access(
    Registry(),
    mode=TurnMode.ADDRESSED,
    origin=Origin.PUBLIC_CHAT,
    role=Role.TRUSTED,
    policy=OPEN,
    profile=GridProfile(grid="test"),
    ports=frozenset(Port),
)
WHO = "00000000-0000-4000-8000-00000000000a"
GOOD = [
    ("get_time", {}),
    ("check_balance", {}),
    ("look_around", {}),
    ("look_at_object", {"object_id": WHO}),
    ("find_region", {"region": "Plaza"}),
    ("find_region", {"region": "Beach"}),
    ("search_inventory", {}),
    ("recall_memory", {"words": "tea"}),
    ("remember", {"text": "tea"}),
    ("say", {"text": "hi"}),
    ("stop_moving", {}),
    ("walk_to", {"position": {"x": 1, "y": 1}}),
    ("pay_avatar", {"to": WHO, "amount": 5}),
    ("delete_object", {"object_id": WHO}),
]
ASKED = st.one_of(
    st.sampled_from(GOOD).map(lambda each: (each[0], json.dumps(each[1]))),
    st.sampled_from(GOOD).map(lambda each: (each[0], json.dumps(each[1]))),
    st.tuples(st.sampled_from(["say", "pay_avatar", "nothing", "__class__", "look_around"]), st.text(max_size=12)),
)
OUTCOMES = st.one_of(
    st.sampled_from(
        [
            Answered(answer=None),
            Answered(answer=Balance(balance=5)),
            Answered(answer=TimeTold(utc="x", weekday="y")),
            Answered(answer=Remembered(new=True)),
            Decided(Denied(code=DenialCode.TAINTED, rule="x")),
            Acted(Refused(reason="no_money")),
            Acted(InDoubt(reason="no_evidence")),
            ForeignReply(text="x"),
            TimedOut(),
            Broke(),
        ]
    ),
    st.sampled_from(EvidenceKind).map(lambda kind: Acted(Confirmed(evidence=kind))),
)


def together(running: list[Start]) -> None:
    """Check that what runs at once may run at once."""
    tools = [start.call.tool for start in running]
    if len(tools) < 2:
        return
    for place, tool in enumerate(tools):
        assert tool.parallel
        assert not any(tool.conflicts_with(other) for other in tools[:place])


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.lists(ASKED, max_size=8), min_size=1, max_size=4), st.data())
def test_every_call_ends_with_exactly_one_result_in_call_order(replies: list, data: st.DataObject) -> None:
    """Any replies of one turn, any outcomes in any order, cancelled anywhere. Spec: MND-5, MND-6, MND-7."""
    ledger, number = CallLedger(), 0
    begun: list[str] = []
    for asked in replies:
        calls = []
        for name, arguments in asked:
            calls.append(ToolCall(id=f"c{number}", name=name, arguments=arguments))
            number += 1
        reply = ToolBatch(calls, EVERYTHING, ledger)
        running: list[Start] = []
        highest = -1
        while not reply.done:
            started = list(reply.next_effects())
            assert all(start.position > highest for start in started), "started out of order, or twice"
            highest = max([highest, *(start.position for start in started)])
            assert not (started and running), "started behind a barrier"
            running += started
            begun += [start.call.key for start in started if start.call.tool.effect is EffectClass.ONCE]
            together(running)
            if reply.done:
                break
            if not running or data.draw(st.integers(0, 11)) == 0:
                assert running, "stuck"
                given_up = reply.cancel(data.draw(st.sampled_from([CallInput.CANCEL, CallInput.SUPERSEDE])))
                assert sorted(given_up) == sorted(start.position for start in running)
                break
            ended = running.pop(data.draw(st.integers(0, len(running) - 1)))
            assert reply.apply(ended.position, data.draw(OUTCOMES))
        results = reply.results()
        assert [(each.call_id, each.name) for each in results] == [(each.id, each.name) for each in calls]
        turn = AssistantTurn(tool_calls=tuple(calls))
        assert pairing_problem([turn, *(each.as_turn() for each in results)]) is None
        for late in running:
            assert not reply.apply(late.position, TimedOut())
        assert reply.results() == results
    assert all(record.over and record.code is not None for record in ledger.records)
    assert all((record.state is CallState.SUCCEEDED) == (record.code is ResultCode.DONE) for record in ledger.records)
    for record in ledger.records:
        if record.tool is not None and record.tool.effect is EffectClass.ONCE and record.state is not CallState.REFUSED:
            assert not record.started or begun.count(record.key) <= 1 + sum(
                other.key == record.key and other.started and other.state is CallState.REFUSED
                for other in ledger.records
            )


@given(st.lists(st.none() | st.sampled_from([native.tool for native in CATALOGUE]), max_size=24))
def test_a_plan_holds_every_call_once_and_no_group_conflicts(tools: list) -> None:
    """Groups are in order, contiguous but for what does not run, and compatible. Spec: MND-6."""
    groups = plan(tools)
    assert [position for group in groups for position in group] == [
        position for position, tool in enumerate(tools) if tool is not None
    ]
    for group in groups:
        for place, position in enumerate(group):
            assert len(group) == 1 or tools[position].parallel
            assert not any(tools[position].conflicts_with(tools[other]) for other in group[:place])
