"""The ledger admits a call once, within its limits, and ends it exactly once."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from gridagent.actions import Capability, EffectClass, StopMoving
from gridagent.errors import IllegalTransition
from gridagent.limits import TOOL_CALLS_PER_SESSION_MAX
from gridagent.tools.codes import ResultCode
from gridagent.tools.descriptor import Tool
from gridagent.tools.ledger import CALL, CallInput, CallLedger, CallRecord, CallState
from gridagent.tools.validated import RefusedCall, ValidatedToolCall
from gridagent.tools.work import Act

NUMBERS = itertools.count()
SUCCEED, FAIL, REFUSE = CallInput.SUCCEED, CallInput.FAIL, CallInput.REFUSE


def tool(name: str = "peek", effect: EffectClass | None = None, **changes: object) -> Tool:
    """Make a tool."""
    idempotent = effect in {None, EffectClass.REPEATABLE}
    plain: dict = {"name": name, "description": "", "schema": b"{}", "capability": Capability.OBSERVE}
    return Tool(**{**plain, "effect": effect, "idempotent": idempotent, **changes})


def call(given: Tool, arguments: str = "", call_id: str = "") -> ValidatedToolCall:
    """Make a valid call; the work in it plays no part here."""
    return ValidatedToolCall(
        call_id=call_id or f"c{next(NUMBERS)}",
        tool=given,
        arguments=arguments.encode(),
        key=f"{given.name}/{arguments}",
        work=Act(StopMoving()),
    )


PEEK, PUSH, GIVE = tool(), tool("push", EffectClass.EPHEMERAL), tool("give", EffectClass.ONCE)
HALT = tool("halt", EffectClass.REPEATABLE)


def run(
    ledger: CallLedger,
    given: Tool,
    end: CallInput | None = SUCCEED,
    code: ResultCode = ResultCode.DONE,
    arguments: str = "",
) -> CallRecord:
    """Propose a call, let it run and end it."""
    record = ledger.propose(call(given, arguments))
    if record.code is None and end is not None and ledger.start(record, given):
        ledger.end(record, end, code)
    return record


def test_a_call_goes_its_way_and_ends_once() -> None:
    """Proposed, admitted, running, succeeded; a second end is illegal. Spec: MND-5, MND-7."""
    ledger = CallLedger()
    record = ledger.propose(call(PEEK))
    assert (record.state, record.over, record.ordinal) == (CallState.ADMITTED, False, 0)
    assert ledger.start(record, PEEK)
    assert (record.state, record.started) == (CallState.RUNNING, True)
    ledger.end(record, SUCCEED, ResultCode.DONE)
    assert (record.state, record.over, record.code) == (CallState.SUCCEEDED, True, ResultCode.DONE)
    for given in CallInput:
        with pytest.raises(IllegalTransition):
            ledger.end(record, given, ResultCode.CANCELLED)
    assert ledger.records == [record]


def test_no_state_but_running_leads_to_success() -> None:
    """Nothing is a success that was not started. Spec: MND-7."""
    assert [state for state in CallState if CALL.allows(state, SUCCEED)] == [CallState.RUNNING]
    assert {state for state in CallState if CALL.allows(state, CallInput.CANCEL)} == set(CallState) - CALL.terminal
    assert {state for state in CallState if CALL.allows(state, CallInput.SUPERSEDE)} == set(CallState) - CALL.terminal


def test_a_refused_call_is_recorded_as_such() -> None:
    """What was no good ends where it began. Spec: MND-7."""
    ledger = CallLedger()
    record = ledger.propose(RefusedCall(call_id="c", name="nothing", code=ResultCode.UNKNOWN_TOOL))
    assert (record.state, record.code, record.tool) == (CallState.REFUSED, ResultCode.UNKNOWN_TOOL, None)


def test_the_same_look_is_a_duplicate_until_something_has_changed() -> None:
    """A second look without a change in between has the first one's answer. Spec: MND-5."""
    ledger = CallLedger()
    assert run(ledger, PEEK).code is ResultCode.DONE
    assert run(ledger, PEEK).code is ResultCode.DUPLICATE
    assert run(ledger, PEEK, arguments="other").code is ResultCode.DONE
    assert run(ledger, PUSH, REFUSE, ResultCode.DENIED).code is ResultCode.DENIED
    assert run(ledger, PEEK).code is ResultCode.DUPLICATE  # what was denied has changed nothing
    assert run(ledger, PUSH).code is ResultCode.DONE
    assert run(ledger, PEEK).code is ResultCode.DONE


def test_the_same_call_under_way_is_refused() -> None:
    """Siblings in one reply do not run twice. Spec: MND-5."""
    for given in (PEEK, PUSH, GIVE):
        ledger = CallLedger()
        first, second = ledger.propose(call(given)), ledger.propose(call(given))
        assert (first.code, second.code) == (None, ResultCode.IN_FLIGHT)
        assert ledger.start(first, given)
        assert ledger.propose(call(given)).code is ResultCode.IN_FLIGHT


@pytest.mark.parametrize("given", [PUSH, HALT])
def test_a_passing_act_may_be_repeated_after_something_else(given: Tool) -> None:
    """To walk there and back again is no duplicate; to walk there twice is. Spec: MND-5."""
    ledger = CallLedger()
    assert run(ledger, given, arguments="a").code is ResultCode.DONE
    assert run(ledger, given, arguments="a").code is ResultCode.DUPLICATE
    assert run(ledger, given, arguments="b").code is ResultCode.DONE
    assert run(ledger, given, arguments="a").code is ResultCode.DONE


@pytest.mark.parametrize(
    ("end", "code", "again"),
    [
        (SUCCEED, ResultCode.DONE, ResultCode.DUPLICATE),
        (CallInput.TIME_OUT, ResultCode.IN_DOUBT, ResultCode.OUTCOME_UNKNOWN),
        (FAIL, ResultCode.IN_DOUBT, ResultCode.OUTCOME_UNKNOWN),
        (CallInput.CANCEL, ResultCode.IN_DOUBT, ResultCode.OUTCOME_UNKNOWN),
        (CallInput.SUPERSEDE, ResultCode.IN_DOUBT, ResultCode.OUTCOME_UNKNOWN),
        (REFUSE, ResultCode.NEEDS_APPROVAL, ResultCode.DUPLICATE),
        (REFUSE, ResultCode.REFUSED, ResultCode.DONE),
        (REFUSE, ResultCode.DENIED, ResultCode.DONE),
    ],
)
def test_what_cannot_be_undone_is_never_repeated_blindly(end: CallInput, code: ResultCode, again: ResultCode) -> None:
    """A gift that was or may have been given isn't given again, whatever happens between. Spec: EFX-3, MND-5."""
    ledger = CallLedger()
    assert run(ledger, GIVE, end, code).code is code
    run(ledger, PUSH)
    assert run(ledger, GIVE).code is again
    assert run(ledger, GIVE, arguments="another").code is ResultCode.DONE


def test_an_act_that_never_began_may_be_made_again() -> None:
    """What was cancelled while it waited has not happened. Spec: EFX-3."""
    ledger = CallLedger()
    waiting = ledger.propose(call(GIVE))
    ledger.end(waiting, CallInput.CANCEL, ResultCode.CANCELLED)
    assert run(ledger, GIVE).code is ResultCode.DONE


def test_a_failed_look_may_be_tried_again_until_it_failed_too_often() -> None:
    """After three failures the tool leaves the turn's list, and other tools stay. Spec: MND-5."""
    ledger = CallLedger()
    for _ in range(3):
        assert ledger.withdrawn == frozenset()
        assert run(ledger, PEEK, FAIL, ResultCode.TOOL_FAILED).code is ResultCode.TOOL_FAILED
    assert ledger.withdrawn == {"peek"}
    assert run(ledger, PEEK, arguments="x").code is ResultCode.TOOL_WITHDRAWN
    assert run(ledger, PUSH).code is ResultCode.DONE


def test_a_tool_can_be_withdrawn_sooner() -> None:
    """Each tool has its own limit of failures. Spec: MND-5."""
    brittle = tool("brittle", failures_max=1)
    ledger = CallLedger()
    run(ledger, brittle, CallInput.TIME_OUT, ResultCode.TIMED_OUT)
    assert ledger.withdrawn == {"brittle"}


def test_malformed_calls_count_as_failures_of_their_tool() -> None:
    """A model that cannot write the arguments stops trying. Spec: MND-5, MND-7."""
    ledger = CallLedger()
    for number in range(3):
        bad = RefusedCall(call_id=f"b{number}", name="peek", code=ResultCode.BAD_NUMBER, tool=PEEK)
        assert ledger.propose(bad).code is ResultCode.BAD_NUMBER
    assert ledger.withdrawn == {"peek"}


@pytest.mark.parametrize(
    "code",
    [ResultCode.NEEDS_APPROVAL, ResultCode.NOT_FOUND, ResultCode.DUPLICATE, ResultCode.TOO_MANY_CALLS],
)
def test_what_is_not_the_tools_fault_is_no_failure(code: ResultCode) -> None:
    """Waiting for a person, seeing nothing and asking twice withdraw no tool. Spec: MND-5."""
    ledger = CallLedger()
    for number in range(4):
        run(ledger, PUSH, REFUSE, code, arguments=str(number))
    assert ledger.withdrawn == frozenset()


def test_waiting_calls_of_a_withdrawn_tool_do_not_start() -> None:
    """The third failure in one reply stops the fourth call. Spec: MND-5."""
    ledger = CallLedger()
    records = [ledger.propose(call(PUSH, str(number))) for number in range(4)]
    for record in records[:3]:
        assert ledger.start(record, PUSH)
        ledger.end(record, FAIL, ResultCode.IN_DOUBT)
    assert not ledger.start(records[3], PUSH)
    assert (records[3].code, records[3].started) == (ResultCode.TOOL_WITHDRAWN, False)


def test_each_tool_has_its_own_limit_of_calls() -> None:
    """One tool's limit leaves the others alone, and is reserved before anything starts. Spec: MND-5, BND-11."""
    few = tool("few", EffectClass.EPHEMERAL, calls_max=2)
    ledger = CallLedger()
    codes = [ledger.propose(call(few, str(number))).code for number in range(3)]
    assert codes == [None, None, ResultCode.TOOL_CALLS_SPENT]
    assert ledger.propose(call(PEEK)).code is None


def test_a_prerequisite_must_have_succeeded() -> None:
    """Having been asked for, or having failed, is not enough. Spec: MND-5."""
    drop = tool("drop", EffectClass.ONCE, prerequisites=("peek",))
    ledger = CallLedger()
    assert run(ledger, drop).code is ResultCode.PREREQUISITE_MISSING
    run(ledger, PEEK, FAIL, ResultCode.TOOL_FAILED)
    assert run(ledger, drop, arguments="b").code is ResultCode.PREREQUISITE_MISSING
    run(ledger, PEEK)
    assert run(ledger, drop, arguments="c").code is ResultCode.DONE


def test_a_call_id_is_used_once() -> None:
    """Results go to the call they belong to, so no two calls share an id. Spec: MND-7."""
    ledger = CallLedger()
    ledger.propose(call(PEEK, "a", "same"))
    assert ledger.propose(call(PEEK, "b", "same")).code is ResultCode.DUPLICATE_CALL_ID


def test_a_turn_has_room_for_so_many_calls_and_no_more() -> None:
    """The ceiling can be lowered and not raised, and a reply fits whole or not at all. Spec: BND-11."""
    ledger = CallLedger(calls_max=3)
    run(ledger, PEEK)
    assert ledger.has_room(2)
    assert not ledger.has_room(3)
    assert not CallLedger(calls_max=10_000).has_room(TOOL_CALLS_PER_SESSION_MAX + 1)


def test_a_ledger_holds_nothing_that_can_act() -> None:
    """Records say what became of a call; the work itself isn't in them. Spec: MND-18."""
    ledger = CallLedger()
    record = run(ledger, PEEK)
    assert not any(isinstance(getattr(record, name), msgspec.Struct | Act) for name in ("key", "call_id", "code"))
    assert not hasattr(record, "work")
