"""What came of a call: the outcomes that are brought back, and the one result a call ends with.

Owns the words of an outcome, judging one against the call it belongs to, and the envelope a model is shown. An
outcome that does not fit its call is a failure, never a success. Pure.

Invariant: a result is a success only on an answer of the promised shape, or on the evidence the action names; it
is bounded; and an error holds codes and sentences of ours and no text from anywhere else (Spec: MND-3, MND-7,
MND-8, EFX-1).
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.actions import Confirmed, InDoubt, Outcome, Refused
from gridagent.language import ToolTurn
from gridagent.limits import KIB, Bounded, Label, clip_bytes
from gridagent.policy.decisions import Denied, NeedsApproval
from gridagent.tools.codes import ResultCode, error_text, safe_reason
from gridagent.tools.descriptor import Delivery, Tool
from gridagent.tools.ledger import CallInput
from gridagent.tools.validated import ValidatedToolCall
from gridagent.tools.work import Act, Answer, Ask, CallForeign

__all__ = (
    "Acted",
    "Answered",
    "Broke",
    "Decided",
    "ForeignReply",
    "Judgement",
    "TimedOut",
    "ToolOutcome",
    "ToolResult",
    "ended_early",
    "judge",
)

RESULT_MAX_BYTES: Final = 32 * KIB
FOREIGN_TEXT_MAX_BYTES: Final = 16 * KIB

ResultData: TypeAlias = Annotated[bytes, Meta(max_length=RESULT_MAX_BYTES)]


# --- outcomes: what is brought back -----------------------------------------------------------------


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A port answered; None says that there is no such thing to be seen now."""

    answer: Answer | None
    tainted: bool = False
    """The answer holds words of somebody without authority, beyond what the tool says of itself."""


class Decided(msgspec.Struct, frozen=True):
    """The gateway did not let an action through."""

    decision: Denied | NeedsApproval


class Acted(msgspec.Struct, frozen=True):
    """An action that was let through has ended."""

    outcome: Outcome


class ForeignReply(msgspec.Struct, frozen=True, kw_only=True):
    """A server's tool returned."""

    text: str
    """What it said, whole; cut to `FOREIGN_TEXT_MAX_BYTES` in the result."""
    is_error: bool = False
    """It said that it failed; its text is dropped."""


class TimedOut(msgspec.Struct, frozen=True):
    """The call's own time-out passed."""


class Broke(msgspec.Struct, frozen=True):
    """Performing the call raised; what was raised stays in the log."""


ToolOutcome: TypeAlias = Answered | Decided | Acted | ForeignReply | TimedOut | Broke


# --- the result -------------------------------------------------------------------------------------


class ToolResult(Bounded, frozen=True, kw_only=True):
    """How one call ended; every call has exactly one."""

    call_id: Annotated[Label, Meta(min_length=1)]
    name: Label
    """As the model wrote it."""
    code: ResultCode
    delivery: Delivery = Delivery.MODEL
    data: ResultData = b""
    """JSON text of what a success brought; empty otherwise."""
    reason: Label = ""
    """A stable code beside the result's own: the policy's, or the grid's where it is one of the known ones."""
    at: Annotated[str, Meta(max_length=128)] = ""
    tainted: bool = False
    """Whoever reads it has read words of somebody without authority."""

    @property
    def ok(self) -> bool:
        """Whether it may be said that it was done."""
        return self.code is ResultCode.DONE

    def for_model(self) -> str:
        """Return the JSON text a model is shown: of a world result, that it is done and nothing more."""
        if not self.ok:
            return error_text(self.code, reason=self.reason, at=self.at)
        if self.delivery is Delivery.WORLD or not self.data:
            return '{"ok":true,"status":"done"}'
        return f'{{"ok":true,"status":"done","data":{self.data.decode()}}}'

    def for_world(self) -> str | None:
        """Return the JSON text for whoever watches, or None where it is for the model alone or no success."""
        return self.data.decode() if self.ok and self.delivery is not Delivery.MODEL else None

    def as_turn(self) -> ToolTurn:
        """Return it as the turn that answers the call."""
        return ToolTurn(call_id=self.call_id, name=self.name, text=self.for_model())


class Judgement(msgspec.Struct, frozen=True):
    """What an outcome means for its call."""

    given: CallInput
    code: ResultCode
    data: bytes = b""
    reason: str = ""
    tainted: bool = False


class _Proof(msgspec.Struct):
    evidence: str


class _Text(msgspec.Struct):
    text: str
    truncated: bool


def judge(call: ValidatedToolCall, outcome: ToolOutcome) -> Judgement:  # noqa: PLR0911 - one table, a row a return
    """Judge an outcome by what the call may bring.

    What changes something and ended without a clear answer is in doubt, not failed: it may have happened.
    """
    match call.work, outcome:
        case _, TimedOut():
            return Judgement(CallInput.TIME_OUT, _unclear(call.tool, ResultCode.TIMED_OUT))
        case _, Broke():
            return Judgement(CallInput.FAIL, _unclear(call.tool, ResultCode.TOOL_FAILED))
        case Ask(query), Answered(answer=answer, tainted=tainted):
            return _answered(call.tool, query.answer, answer, tainted=tainted)
        case Act() | CallForeign(), Decided(Denied(code=denial)):
            return Judgement(CallInput.REFUSE, ResultCode.DENIED, reason=denial.value)
        case Act() | CallForeign(), Decided(NeedsApproval()):
            return Judgement(CallInput.REFUSE, ResultCode.NEEDS_APPROVAL)
        case Act(), Acted(end):
            return _acted(call.tool, end)
        case CallForeign(), ForeignReply(is_error=True):
            return Judgement(CallInput.FAIL, ResultCode.TOOL_FAILED)
        case CallForeign(), ForeignReply(text=text):
            return _foreign(text)
        case _:
            return _malformed(call.tool)


def ended_early(tool: Tool | None, given: CallInput, *, started: bool) -> Judgement:
    """Return how a call ends that was cancelled or superseded.

    Args:
        tool: its tool, where there is one.
        given: `CallInput.CANCEL` or `CallInput.SUPERSEDE`.
        started: whether it was handed to whoever performs.
    """
    code = ResultCode.CANCELLED if given is CallInput.CANCEL else ResultCode.SUPERSEDED
    return Judgement(given, _unclear(tool, code) if started and tool is not None else code)


def _unclear(tool: Tool, code: ResultCode) -> ResultCode:
    return code if tool.read_only else ResultCode.IN_DOUBT


def _malformed(tool: Tool) -> Judgement:
    return Judgement(CallInput.FAIL, _unclear(tool, ResultCode.MALFORMED_RESULT))


def _acted(tool: Tool, outcome: Outcome) -> Judgement:
    match outcome:
        case Confirmed(evidence=evidence) if evidence is tool.evidence:
            return Judgement(CallInput.SUCCEED, ResultCode.DONE, msgspec.json.encode(_Proof(evidence.value)))
        case Refused(reason=reason):
            return Judgement(CallInput.REFUSE, ResultCode.REFUSED, reason=safe_reason(reason))
        case InDoubt(reason=reason):
            return Judgement(CallInput.TIME_OUT, ResultCode.IN_DOUBT, reason=safe_reason(reason))
        case _:
            return Judgement(CallInput.FAIL, ResultCode.IN_DOUBT)  # proof of something else proves nothing


def _answered(tool: Tool, expected: type[Answer], answer: Answer | None, *, tainted: bool) -> Judgement:
    if answer is None:
        return Judgement(CallInput.REFUSE, ResultCode.NOT_FOUND)
    try:
        data = msgspec.json.encode(answer)
        if len(data) > RESULT_MAX_BYTES:
            return Judgement(CallInput.FAIL, ResultCode.RESULT_TOO_LARGE)
        if type(answer) is not expected or msgspec.json.decode(data, type=expected) != answer:
            return _malformed(tool)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return _malformed(tool)
    return Judgement(CallInput.SUCCEED, ResultCode.DONE, data, tainted=tool.taints or tainted)


def _foreign(text: str) -> Judgement:
    clipped = clip_bytes(text, FOREIGN_TEXT_MAX_BYTES)
    data = msgspec.json.encode(_Text(clipped, len(clipped) < len(text)))
    if len(data) > RESULT_MAX_BYTES:  # escapes took the room
        return Judgement(CallInput.FAIL, ResultCode.RESULT_TOO_LARGE)
    return Judgement(CallInput.SUCCEED, ResultCode.DONE, data, tainted=True)
