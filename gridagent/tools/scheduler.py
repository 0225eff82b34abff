"""The calls of one reply: which may run now, what came of them, and their results in call order.

Owns the plan (what runs beside what) and a reply's course from its first call to its last result, as a sans-IO
loop: `next_effects` says what to perform, `apply` takes what came of it, `cancel` ends it early. Whoever runs the
turn performs, under each call's own time-out, and asks the policy gateway before any action.

Invariant: only a contiguous run of calls that read, may be repeated, wait for nothing and touch nothing in
common run at once; everything else runs alone and in order; and whatever happens, each call ends with exactly
one result (Spec: MND-6, MND-7, BND-8, BND-11, Fault: 22).
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import msgspec

from gridagent.errors import InternalError
from gridagent.language import ToolCall
from gridagent.limits import TOOL_CALLS_PER_REPLY_MAX
from gridagent.tools.access import Access
from gridagent.tools.codes import ResultCode
from gridagent.tools.descriptor import Delivery, Tool
from gridagent.tools.envelope import Judgement, ToolOutcome, ToolResult, ended_early, judge
from gridagent.tools.ledger import CallInput, CallLedger, CallRecord
from gridagent.tools.validated import RefusedCall, ValidatedToolCall, validate

__all__ = ("Settled", "Start", "ToolBatch", "plan")


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """Perform this call now, and bring its outcome back under the same position."""

    position: int
    """In its reply, from 0."""
    ordinal: int
    """Among all calls of the turn, from 0; tells equal actions of one cause apart."""
    call: ValidatedToolCall
    timeout_s: float
    """Seconds until the outcome is `TimedOut`."""


@attrs.frozen
class Settled:
    """A call that has ended."""

    result: ToolResult
    call: ValidatedToolCall | None
    """None for a call that was no good."""


def plan(tools: Sequence[Tool | None]) -> tuple[tuple[int, ...], ...]:
    """Return what runs at once, as positions, group after group; None stands for a call that does not run.

    A call that does not run parts nothing: there is nothing that it could be ordered against.
    """
    groups: list[tuple[int, ...]] = []
    beside: list[Tool] = []  # the tools of the last group, while it can grow
    for position, tool in enumerate(tools):
        if tool is None:
            continue
        if tool.parallel and beside and not any(tool.conflicts_with(other) for other in beside):
            groups[-1] = (*groups[-1], position)
            beside.append(tool)
        else:
            groups.append((position,))
            beside = [tool] if tool.parallel else []
    return tuple(groups)


@attrs.define(eq=False)
class _Slot:
    """One call of the reply."""

    asked: ToolCall
    call: ValidatedToolCall | None = None
    record: CallRecord | None = None
    result: ToolResult | None = None


class ToolBatch:
    """One reply's calls.

    Args:
        calls: as the model wrote them, in order.
        access: what the turn may use.
        ledger: the turn's; its budget for all of them is taken before any starts.

    Bounds: `TOOL_CALLS_PER_REPLY_MAX` calls, and what is left of the turn's; with one more, none of them runs.
    """

    __slots__ = ("_groups", "_ledger", "_next", "_slots", "late")

    def __init__(self, calls: Sequence[ToolCall], access: Access, ledger: CallLedger) -> None:
        self._ledger = ledger
        self._slots = [_Slot(call) for call in calls]
        self._next = 0
        self.late = 0
        """Outcomes that came for calls that had ended, and were dropped."""
        self._groups: tuple[tuple[int, ...], ...] = ()
        if len(calls) > TOOL_CALLS_PER_REPLY_MAX or not ledger.has_room(len(calls)):
            for slot in self._slots:
                slot.result = _result(slot, Judgement(CallInput.REFUSE, ResultCode.TOO_MANY_CALLS))
            return
        for slot in self._slots:
            self._propose(slot, access)
        self._groups = plan([slot.call.tool if slot.call and slot.result is None else None for slot in self._slots])

    def next_effects(self) -> tuple[Start, ...]:
        """Return the calls to be performed now; each is returned once.

        While any of them runs, nothing behind it starts.
        """
        while not self._running() and self._next < len(self._groups):
            group = self._groups[self._next]
            self._next += 1
            started = [start for position in group if (start := self._start(position)) is not None]
            if started:
                return tuple(started)
        return ()

    def apply(self, position: int, outcome: ToolOutcome) -> bool:
        """Take what came of a call.

        Returns:
            False where the call had ended already: its outcome is dropped and counted.

        Raises:
            InternalError: the call was never started.
        """
        slot = self._slots[position]
        if slot.result is not None:
            self.late += 1
            return False
        if slot.record is None or slot.call is None or not slot.record.started:
            raise InternalError(f"call {position} has an outcome and was not started")
        self._end(slot, slot.record, judge(slot.call, outcome))
        return True

    def cancel(self, given: CallInput = CallInput.CANCEL) -> tuple[int, ...]:
        """End every call that has not ended; what has a result keeps it.

        Args:
            given: `CallInput.CANCEL` or `CallInput.SUPERSEDE`.

        Returns:
            Positions of those that were running: whoever performs them has to give them up.
        """
        running = self._running()
        for slot in self._slots:
            if slot.result is None and slot.record is not None:
                tool = slot.record.tool
                self._end(slot, slot.record, ended_early(tool, given, started=slot.record.started))
        return running

    @property
    def done(self) -> bool:
        """Whether every call has its result."""
        return all(slot.result is not None for slot in self._slots)

    def settled(self) -> tuple[Settled, ...]:
        """Return every call's result in call order.

        Raises:
            InternalError: a call has none yet; `cancel` gives it one.
        """
        found = [Settled(slot.result, slot.call) for slot in self._slots if slot.result is not None]
        if len(found) != len(self._slots):
            raise InternalError(f"{len(self._slots) - len(found)} calls have no result yet")
        return tuple(found)

    def results(self) -> tuple[ToolResult, ...]:
        """Return the results alone, as `settled` does."""
        return tuple(each.result for each in self.settled())

    # --- one call ---------------------------------------------------------------------------------

    def _propose(self, slot: _Slot, access: Access) -> None:
        checked = validate(slot.asked, access)
        slot.record = self._ledger.propose(checked)
        if isinstance(checked, RefusedCall):
            slot.result = _result(slot, Judgement(CallInput.REFUSE, checked.code), at=checked.at)
            return
        slot.call = checked
        self._refused(slot, slot.record)

    def _start(self, position: int) -> Start | None:
        slot = self._slots[position]
        if slot.call is None or slot.record is None or slot.result is not None:
            return None
        tool = slot.call.tool
        if not self._ledger.start(slot.record, tool):
            self._refused(slot, slot.record)
            return None
        return Start(position=position, ordinal=slot.record.ordinal, call=slot.call, timeout_s=tool.timeout_s)

    def _refused(self, slot: _Slot, record: CallRecord) -> None:
        """Give a call that the ledger refused its result."""
        if record.code is not None:
            slot.result = _result(slot, Judgement(CallInput.REFUSE, record.code))

    def _end(self, slot: _Slot, record: CallRecord, judgement: Judgement) -> None:
        self._ledger.end(record, judgement.given, judgement.code)
        slot.result = _result(slot, judgement)

    def _running(self) -> tuple[int, ...]:
        return tuple(
            position
            for position, slot in enumerate(self._slots)
            if slot.result is None and slot.record is not None and slot.record.started
        )


def _result(slot: _Slot, judgement: Judgement, *, at: str = "") -> ToolResult:
    return ToolResult(
        call_id=slot.asked.id,
        name=slot.asked.name,
        code=judgement.code,
        delivery=Delivery.MODEL if slot.call is None else slot.call.tool.delivery,
        data=judgement.data,
        reason=judgement.reason,
        at=at,
        tainted=judgement.tainted,
    )
