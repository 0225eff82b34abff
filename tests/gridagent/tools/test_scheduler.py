"""One reply's calls: what runs at once, in which order results stand, and that each call has one."""

from __future__ import annotations

import json

import msgspec
import pytest

from gridagent.actions import Capability, Confirmed, EvidenceKind, PayAvatar
from gridagent.authority import DenialCode, Origin, Role
from gridagent.config.policy import PolicySection
from gridagent.errors import InternalError
from gridagent.events import GridProfile
from gridagent.language import AssistantTurn, ToolCall, UserTurn, pairing_problem
from gridagent.limits import TOOL_CALLS_PER_REPLY_MAX
from gridagent.policy import Denied, Policy
from gridagent.tools import (
    Access,
    CallInput,
    CallLedger,
    Registry,
    ResultCode,
    Start,
    ToolBatch,
    ToolOutcome,
    TurnMode,
)
from gridagent.tools.catalogue import CATALOGUE
from gridagent.tools.descriptor import Port, Tool
from gridagent.tools.envelope import Acted, Answered, Broke, Decided, TimedOut
from gridagent.tools.ports import Balance, TimeTold
from gridagent.tools.scheduler import plan
from gridagent.tools.work import Act

WHO = "00000000-0000-4000-8000-00000000000a"
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
TOOLS = {native.tool.name: native.tool for native in CATALOGUE}
TIME = TimeTold(utc="2026-11-18T11:06:40Z", weekday="Wednesday")


def calls(*asked: tuple[str, object]) -> list[ToolCall]:
    """Write a reply's calls."""
    return [
        ToolCall(id=f"c{number}", name=name, arguments=json.dumps(arguments))
        for number, (name, arguments) in enumerate(asked)
    ]


def batch(*asked: tuple[str, object], ledger: CallLedger | None = None) -> ToolBatch:
    """Open a reply."""
    return ToolBatch(calls(*asked), EVERYTHING, CallLedger() if ledger is None else ledger)


def proved(tool: Tool) -> ToolOutcome:
    """Bring back the evidence of an act."""
    return Acted(Confirmed(evidence=tool.evidence))


def positions(started: tuple[Start, ...]) -> list[int]:
    """Say which calls of a reply were started."""
    return [start.position for start in started]


def codes(reply: ToolBatch) -> list[ResultCode]:
    """Say how the calls ended, in call order."""
    return [result.code for result in reply.results()]


PAY = ("pay_avatar", {"to": WHO, "amount": 5})
TIME_CALL = ("get_time", {})
BALANCE_CALL = ("check_balance", {})
LOOK_CALL = ("look_around", {})


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        ([], ()),
        (["get_time"], ((0,),)),
        (["get_time", "check_balance", "look_around"], ((0, 1, 2),)),
        (["get_time", "say", "check_balance", "look_around"], ((0,), (1,), (2, 3))),
        (["say", "say"], ((0,), (1,))),
        (["find_region", "find_region"], ((0,), (1,))),
        (["find_region", "get_time", "search_inventory", "find_region"], ((0, 1, 2), (3,))),
        (["recall_memory", "remember", "recall_memory"], ((0,), (1,), (2,))),
        (["look_at_object", "delete_object"], ((0,), (1,))),
        (["get_time", None, "check_balance"], ((0, 2),)),
        ([None, None], ()),
    ],
)
def test_only_a_contiguous_run_of_compatible_looks_is_parallel(names: list, groups: tuple) -> None:
    """Everything else stands alone, in order, behind a barrier. Spec: MND-6."""
    assert plan([None if name is None else TOOLS[name] for name in names]) == groups


def test_a_tool_of_unknown_resources_runs_beside_nothing() -> None:
    """Nobody knows what it touches. Spec: MND-6."""
    unknown = msgspec.structs.replace(TOOLS["get_time"], name="odd", reads=(), occupies=("unknown",))
    assert plan([TOOLS["get_time"], unknown, unknown, TOOLS["get_time"]]) == ((0,), (1,), (2,), (3,))


def test_looks_run_at_once_and_acts_wait() -> None:
    """Nothing behind a barrier starts before all in front of it have ended. Spec: MND-6."""
    reply = batch(TIME_CALL, BALANCE_CALL, PAY, LOOK_CALL)
    assert positions(reply.next_effects()) == [0, 1]
    assert reply.next_effects() == ()
    assert reply.apply(1, Answered(answer=Balance(balance=9)))
    assert reply.next_effects() == ()
    assert reply.apply(0, Answered(answer=TIME))
    (pay,) = reply.next_effects()
    assert (pay.position, pay.ordinal, pay.timeout_s) == (2, 2, TOOLS["pay_avatar"].timeout_s)
    assert pay.call.work == Act(PayAvatar(to=WHO, amount=5))
    assert reply.next_effects() == ()
    reply.apply(2, proved(TOOLS["pay_avatar"]))
    assert positions(reply.next_effects()) == [3]
    assert not reply.done
    reply.apply(3, Answered(answer=None))
    assert reply.done
    assert reply.next_effects() == ()
    assert codes(reply) == [ResultCode.DONE, ResultCode.DONE, ResultCode.DONE, ResultCode.NOT_FOUND]
    assert [result.call_id for result in reply.results()] == ["c0", "c1", "c2", "c3"]


def test_results_stand_in_call_order_and_pair_with_their_calls() -> None:
    """Any order of ending gives results in call order, and a conversation providers take. Spec: MND-4, MND-6."""
    reply = batch(TIME_CALL, ("nothing", {}), BALANCE_CALL, PAY)
    reply.next_effects()
    reply.apply(2, Answered(answer=Balance(balance=9)))
    reply.apply(0, TimedOut())
    reply.next_effects()
    reply.apply(3, Decided(Denied(code=DenialCode.BUDGET_SPENT, rule="x")))
    assert codes(reply) == [ResultCode.TIMED_OUT, ResultCode.UNKNOWN_TOOL, ResultCode.DONE, ResultCode.DENIED]
    asked = calls(TIME_CALL, ("nothing", {}), BALANCE_CALL, PAY)
    turns = [UserTurn(text="x"), AssistantTurn(tool_calls=tuple(asked)), *(each.as_turn() for each in reply.results())]
    assert pairing_problem(turns) is None


def test_nothing_starts_before_every_call_of_the_reply_has_been_judged() -> None:
    """Opening a reply checks and admits all of it; only then is anything handed out. Spec: MND-5, BND-11."""
    ledger = CallLedger()
    reply = batch(TIME_CALL, PAY, ("say", {"text": 5}), ledger=ledger)
    assert [record.code for record in ledger.records] == [None, None, ResultCode.INVALID_ARGUMENTS]
    assert not any(record.started for record in ledger.records)
    reply.next_effects()
    assert [record.started for record in ledger.records] == [True, False, False]


@pytest.mark.parametrize("asked", [65, 128, 10_000])
def test_a_reply_with_too_many_calls_runs_none_of_them(asked: int) -> None:
    """The whole reply is refused, with one result for each call. Spec: BND-8. Fault: 22."""
    ledger = CallLedger()
    reply = ToolBatch(calls(*[TIME_CALL] * asked), EVERYTHING, ledger)
    assert reply.next_effects() == ()
    assert codes(reply) == [ResultCode.TOO_MANY_CALLS] * asked
    assert reply.done
    assert ledger.records == []
    assert reply.cancel() == ()


def test_a_reply_of_as_many_calls_as_allowed_runs() -> None:
    """The ceiling itself is allowed. Spec: BND-8."""
    reply = batch(*[("recall_memory", {"words": str(number)}) for number in range(TOOL_CALLS_PER_REPLY_MAX)])
    assert len(reply.next_effects()) == TOOLS["recall_memory"].calls_max
    assert len(reply.cancel()) == TOOLS["recall_memory"].calls_max
    assert codes(reply)[TOOLS["recall_memory"].calls_max :] == [ResultCode.TOOL_CALLS_SPENT] * 32


def test_the_turns_budget_is_taken_for_the_whole_reply_or_not_at_all() -> None:
    """A reply that would overrun what is left starts nothing, however its calls would end. Spec: BND-11."""
    ledger = CallLedger(calls_max=3)
    first = batch(TIME_CALL, BALANCE_CALL, ledger=ledger)
    first.next_effects()
    first.cancel()
    second = batch(LOOK_CALL, ("look_at_parcel", {}), ledger=ledger)
    assert second.next_effects() == ()
    assert codes(second) == [ResultCode.TOO_MANY_CALLS] * 2
    third = ToolBatch([ToolCall(id="fits", name="look_around", arguments="")], EVERYTHING, ledger)
    assert positions(third.next_effects()) == [0]


def test_siblings_that_ask_for_the_same_run_once() -> None:
    """Two equal payments in one reply are one payment. Spec: MND-5, EFX-3."""
    reply = batch(PAY, PAY, ("pay_avatar", {"amount": 5, "to": WHO}))
    assert positions(reply.next_effects()) == [0]
    reply.apply(0, proved(TOOLS["pay_avatar"]))
    assert reply.next_effects() == ()
    assert codes(reply) == [ResultCode.DONE, ResultCode.IN_FLIGHT, ResultCode.IN_FLIGHT]


def test_what_was_done_in_an_earlier_reply_is_not_done_again() -> None:
    """A turn's ledger remembers over its replies. Spec: EFX-3."""
    ledger = CallLedger()
    first = batch(PAY, ledger=ledger)
    first.next_effects()
    first.apply(0, TimedOut())
    again = ToolBatch([ToolCall(id="later", name=PAY[0], arguments=json.dumps(PAY[1]))], EVERYTHING, ledger)
    assert again.next_effects() == ()
    assert codes(again) == [ResultCode.OUTCOME_UNKNOWN]


def test_a_prerequisite_in_the_same_reply_counts_once_it_has_succeeded() -> None:
    """Look first, then delete; without a successful look nothing is deleted. Spec: MND-5, MND-6."""
    look, delete = ("look_at_object", {"object_id": WHO}), ("delete_object", {"object_id": WHO})
    for outcome, expected in ((Broke(), ResultCode.PREREQUISITE_MISSING), (None, None)):
        reply = batch(look, delete, ("get_time", {}))
        reply.next_effects()
        if outcome is not None:
            reply.apply(0, outcome)
            assert positions(reply.next_effects()) == [2]  # the one in between was refused
            reply.apply(2, Answered(answer=TIME))
            assert codes(reply)[1] is expected
        else:
            assert reply.cancel() == (0,)


def test_cancelling_gives_every_open_call_a_result_and_keeps_those_that_have_one() -> None:
    """What has ended stays as it is, what ran may have happened, and what waited has not. Spec: MND-7."""
    reply = batch(TIME_CALL, ("say", {"text": "hi"}), PAY)
    reply.next_effects()
    reply.apply(0, Answered(answer=TIME))
    reply.next_effects()
    assert reply.cancel() == (1,)
    assert codes(reply) == [ResultCode.DONE, ResultCode.IN_DOUBT, ResultCode.CANCELLED]
    assert reply.next_effects() == ()
    assert reply.cancel() == ()


def test_a_reply_that_was_superseded_says_so() -> None:
    """A newer message ends the calls of the older turn. Spec: MND-11, MND-7."""
    reply = batch(TIME_CALL, PAY)
    reply.next_effects()
    assert reply.cancel(CallInput.SUPERSEDE) == (0,)
    assert codes(reply) == [ResultCode.SUPERSEDED, ResultCode.SUPERSEDED]


def test_a_late_outcome_changes_nothing_and_is_counted() -> None:
    """After the end of a call its outcome is dropped, also a second one. Spec: MND-7, SUP-5."""
    reply = batch(TIME_CALL, BALANCE_CALL)
    reply.next_effects()
    reply.cancel()
    before = reply.results()
    assert not reply.apply(0, Answered(answer=TIME))
    assert not reply.apply(0, Answered(answer=TIME))
    assert reply.late == 2
    assert reply.results() == before


def test_one_answer_touches_its_own_call_only() -> None:
    """Others that wait go on waiting, and are not started again. Spec: MND-7."""
    reply = batch(TIME_CALL, BALANCE_CALL, LOOK_CALL)
    assert positions(reply.next_effects()) == [0, 1, 2]
    reply.apply(1, Answered(answer=Balance(balance=1)))
    assert reply.next_effects() == ()
    assert reply.cancel() == (0, 2)
    assert codes(reply) == [ResultCode.CANCELLED, ResultCode.DONE, ResultCode.CANCELLED]


def test_an_outcome_for_what_was_never_started_is_a_mistake_of_ours() -> None:
    """Nobody can succeed by bringing an outcome for a call that waits. Spec: MND-7."""
    reply = batch(("say", {"text": "hi"}), PAY)
    with pytest.raises(InternalError, match="not started"):
        reply.apply(0, proved(TOOLS["say"]))
    reply.next_effects()
    with pytest.raises(InternalError, match="not started"):
        reply.apply(1, proved(TOOLS["pay_avatar"]))
    with pytest.raises(InternalError, match="2 calls have no result"):
        reply.settled()


def test_calls_with_one_id_do_not_share_a_result() -> None:
    """The second call of an id is refused, and both have their result. Spec: MND-7."""
    two = [ToolCall(id="same", name="get_time", arguments=""), ToolCall(id="same", name="check_balance", arguments="")]
    reply = ToolBatch(two, EVERYTHING, CallLedger())
    assert positions(reply.next_effects()) == [0]
    reply.apply(0, Answered(answer=TIME))
    assert codes(reply) == [ResultCode.DONE, ResultCode.DUPLICATE_CALL_ID]


def test_a_tool_that_fails_three_times_leaves_the_turns_list() -> None:
    """It is refused from then on, and no longer shown. Spec: MND-5."""
    ledger = CallLedger()
    for number in range(3):
        asked = [ToolCall(id=f"f{number}", name="get_time", arguments="")]
        reply = ToolBatch(asked, EVERYTHING, ledger)
        (start,) = reply.next_effects()
        reply.apply(start.position, Broke())
    assert "get_time" not in {shown.name for shown in EVERYTHING.shown(ledger.withdrawn)}
    last = ToolBatch([ToolCall(id="f3", name="get_time", arguments="")], EVERYTHING, ledger)
    assert codes(last) == [ResultCode.TOOL_WITHDRAWN]


def test_an_empty_reply_is_done_at_once() -> None:
    """No calls, no results."""
    reply = batch()
    assert reply.done
    assert reply.results() == ()


def test_where_a_refusal_lies_is_in_the_result() -> None:
    """A model that can mend its call learns where; the evidence kind proves the rest. Spec: MND-7."""
    reply = batch(("pay_avatar", {"to": WHO, "amount": 0}))
    (result,) = reply.results()
    assert json.loads(result.for_model())["at"] == "properties/amount/minimum"
    assert TOOLS["pay_avatar"].evidence is EvidenceKind.BALANCE
