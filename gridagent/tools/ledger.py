"""What became of every call of one turn: who may run, how often, and how each ended.

Owns the table of a call's states and the rules of admission: the same call twice, one under way, limits of the
turn and of each tool, prerequisites, and a tool that failed too often. Used by `gridagent.tools.scheduler`; holds
no executor and no result text (Spec: MND-18). Pure: nothing here knows the time.

Invariant: a call moves by the table only, and ends exactly once (Spec: MND-5, MND-7, BND-11, EFX-3).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import attrs

from gridagent.actions import EffectClass
from gridagent.limits import TOOL_CALLS_PER_SESSION_MAX
from gridagent.state_table import StateTable
from gridagent.tools.codes import ResultCode
from gridagent.tools.descriptor import Tool
from gridagent.tools.validated import Checked, RefusedCall

__all__ = ("CALL", "CallInput", "CallLedger", "CallRecord", "CallState")


class CallState(StrEnum):
    """Where one tool call is."""

    PROPOSED = "proposed"
    """A model asked for it."""
    ADMITTED = "admitted"
    """It is good, within limits, and waits for its turn."""
    RUNNING = "running"
    """It was handed to whoever performs."""
    SUCCEEDED = "succeeded"
    """There is an answer or evidence."""
    FAILED = "failed"
    """It broke, or what came back is unusable."""
    REFUSED = "refused"
    """It did not run, or the policy or the grid said no."""
    TIMED_OUT = "timed_out"
    """No answer or evidence in time."""
    CANCELLED = "cancelled"
    """The turn was ended."""
    SUPERSEDED = "superseded"
    """A newer message took the turn's place."""


class CallInput(StrEnum):
    """What moves a tool call."""

    ADMIT = "admit"
    """It makes sense and is within its limits."""
    REFUSE = "refuse"
    """It is no good, or the ledger, the policy or the grid says no."""
    START = "start"
    """Everything in front of it has ended."""
    SUCCEED = "succeed"
    """The promised answer, or the evidence that the action names."""
    FAIL = "fail"
    """Performing it raised, or what came back is something else."""
    TIME_OUT = "time_out"
    """Its time-out passed, or evidence did not come in time."""
    CANCEL = "cancel"
    """The turn was stopped."""
    SUPERSEDE = "supersede"
    """The turn gave way to a newer message."""


_S, _I = CallState, CallInput

CALL: Final = StateTable(
    "tool call",
    initial=_S.PROPOSED,
    transitions={
        (_S.PROPOSED, _I.ADMIT): _S.ADMITTED,
        (_S.PROPOSED, _I.REFUSE): _S.REFUSED,
        (_S.PROPOSED, _I.CANCEL): _S.CANCELLED,
        (_S.PROPOSED, _I.SUPERSEDE): _S.SUPERSEDED,
        (_S.ADMITTED, _I.START): _S.RUNNING,
        # What comes before it in the same reply may withdraw its tool or leave a prerequisite missing.
        (_S.ADMITTED, _I.REFUSE): _S.REFUSED,
        (_S.ADMITTED, _I.CANCEL): _S.CANCELLED,
        (_S.ADMITTED, _I.SUPERSEDE): _S.SUPERSEDED,
        (_S.RUNNING, _I.SUCCEED): _S.SUCCEEDED,
        (_S.RUNNING, _I.FAIL): _S.FAILED,
        (_S.RUNNING, _I.REFUSE): _S.REFUSED,
        (_S.RUNNING, _I.TIME_OUT): _S.TIMED_OUT,
        (_S.RUNNING, _I.CANCEL): _S.CANCELLED,
        (_S.RUNNING, _I.SUPERSEDE): _S.SUPERSEDED,
    },
    terminal=frozenset({_S.SUCCEEDED, _S.FAILED, _S.REFUSED, _S.TIMED_OUT, _S.CANCELLED, _S.SUPERSEDED}),
)

_NO_FAILURE: Final = frozenset(
    {
        # A person has to answer, the turn is over, or another call has the result: none is the tool's failure.
        *(ResultCode.DONE, ResultCode.NEEDS_APPROVAL, ResultCode.CANCELLED, ResultCode.SUPERSEDED),
        *(ResultCode.DUPLICATE, ResultCode.IN_FLIGHT, ResultCode.DUPLICATE_CALL_ID, ResultCode.TOO_MANY_CALLS),
        *(ResultCode.TOOL_CALLS_SPENT, ResultCode.TOOL_WITHDRAWN, ResultCode.NOT_FOUND),
    }
)


@attrs.define(eq=False)
class CallRecord:
    """One call in the ledger; only the ledger changes it."""

    ordinal: int
    """Position among all calls of the turn, from 0."""
    call_id: str
    tool: Tool | None
    key: str
    state: CallState = CALL.initial
    code: ResultCode | None = None
    """How it ended; None while it hasn't."""
    started: bool = False
    changes_before: int = 0
    """How many calls had changed something when it started."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in CALL.terminal


class CallLedger:
    """The calls of one turn.

    Args:
        calls_max: how many there may be.

    Bounds: one record a call; whoever asks for more than `calls_max` is refused.
    """

    __slots__ = (
        "_admitted",
        "_calls_max",
        "_changes",
        "_failures",
        "_ids",
        "_last",
        "_once",
        "_succeeded",
        "_withdrawn",
        "records",
    )

    def __init__(self, *, calls_max: int = TOOL_CALLS_PER_SESSION_MAX) -> None:
        self._calls_max = min(calls_max, TOOL_CALLS_PER_SESSION_MAX)
        self.records: list[CallRecord] = []
        """Every call in the order it was proposed; those of a reply that had too many are not in it."""
        self._last: dict[str, CallRecord] = {}  # by key, the last one admitted
        self._once: dict[str, CallRecord] = {}  # by key, the one that may have taken effect for good
        self._admitted: dict[str, int] = {}  # by tool
        self._failures: dict[str, int] = {}  # by tool
        self._succeeded: set[str] = set()
        self._withdrawn: set[str] = set()
        self._ids: set[str] = set()
        self._changes = 0

    def has_room(self, calls: int) -> bool:
        """Tell whether a whole reply's calls fit into what is left of the turn."""
        return len(self.records) + calls <= self._calls_max

    def propose(self, checked: Checked) -> CallRecord:
        """Enter a call and admit or refuse it; called for a whole reply before any of it starts.

        The caller has made sure that there `has_room`.
        """
        record = CallRecord(
            ordinal=len(self.records),
            call_id=checked.call_id,
            tool=checked.tool,
            key="" if isinstance(checked, RefusedCall) else checked.key,
        )
        self.records.append(record)
        code = checked.code if isinstance(checked, RefusedCall) else self._against(record, checked.tool)
        self._ids.add(checked.call_id)
        if code is not None or checked.tool is None:
            self.end(record, CallInput.REFUSE, code or ResultCode.UNKNOWN_TOOL)
            return record
        name = checked.tool.name
        self._step(record, CallInput.ADMIT)
        self._admitted[name] = self._admitted.get(name, 0) + 1
        self._last[record.key] = record
        return record

    def start(self, record: CallRecord, tool: Tool) -> bool:
        """Let an admitted call run, or refuse it where what it waited for did not come."""
        code: ResultCode | None = None
        if tool.name in self._withdrawn:
            code = ResultCode.TOOL_WITHDRAWN
        elif not self._succeeded.issuperset(tool.prerequisites):
            code = ResultCode.PREREQUISITE_MISSING
        if code is not None:
            self.end(record, CallInput.REFUSE, code)
            return False
        self._step(record, CallInput.START)
        record.started = True
        record.changes_before = self._changes
        return True

    def end(self, record: CallRecord, given: CallInput, code: ResultCode) -> None:
        """End a call.

        Raises:
            IllegalTransition: it has ended, or cannot end like this from where it is.
        """
        self._step(record, given)
        record.code = code
        tool = record.tool
        if tool is None:
            return
        if record.state is CallState.SUCCEEDED:
            self._succeeded.add(tool.name)
        elif code not in _NO_FAILURE:
            self._failures[tool.name] = self._failures.get(tool.name, 0) + 1
            if self._failures[tool.name] >= tool.failures_max:
                self._withdrawn.add(tool.name)
        if record.started and not tool.read_only and record.state is not CallState.REFUSED:
            self._changes += 1
            if tool.effect is EffectClass.ONCE:
                self._once[record.key] = record

    @property
    def withdrawn(self) -> frozenset[str]:
        """Names of the tools that failed too often in this turn."""
        return frozenset(self._withdrawn)

    def _step(self, record: CallRecord, given: CallInput) -> None:
        record.state = CALL.step(record.state, given)

    def _against(self, record: CallRecord, tool: Tool) -> ResultCode | None:
        """Say what speaks against admitting a valid call."""
        if record.call_id in self._ids:
            return ResultCode.DUPLICATE_CALL_ID
        if tool.name in self._withdrawn:
            return ResultCode.TOOL_WITHDRAWN
        if self._admitted.get(tool.name, 0) >= tool.calls_max:
            return ResultCode.TOOL_CALLS_SPENT
        return self._repeated(record.key, tool)

    def _repeated(self, key: str, tool: Tool) -> ResultCode | None:
        """Say what speaks against making the same call again.

        What cannot be undone is never made twice in a turn, nor again while nobody knows how it ended. Anything
        else may be made again once something has changed, or when it came to nothing.
        """
        once = self._once.get(key)
        if once is not None:
            done = once.state is CallState.SUCCEEDED
            return ResultCode.DUPLICATE if done else ResultCode.OUTCOME_UNKNOWN
        last = self._last.get(key)
        if last is None:
            return None
        if not last.over:
            return ResultCode.IN_FLIGHT
        if last.code is ResultCode.NEEDS_APPROVAL:
            return ResultCode.DUPLICATE
        own = not tool.read_only  # what it changed itself is no change since
        if last.state is CallState.SUCCEEDED and self._changes - last.changes_before <= own:
            return ResultCode.DUPLICATE
        return None
