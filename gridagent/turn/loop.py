"""One turn, from its brief to its result, as a loop without IO.

Owns when the model is asked, what becomes of its reply, and when it is over. Whoever runs it calls `next_effects`
until it is done, performs what that returns, and brings back what came of it; late and unasked answers are dropped
and counted. Nothing here performs, waits or reads a clock.

Invariant: whatever comes back in whatever order, every call ends with exactly one result, the model is asked a
bounded number of times, a request is always paired, and what is said passed every gate or is the persona's own line
(Spec: MND-3, MND-4, MND-7, MND-9, MND-10, MND-11, MND-12, MND-16, BND-8, BND-11).
"""

from __future__ import annotations

import zlib
from typing import Final

from gridagent.errors import InternalError
from gridagent.language import (
    AssistantTurn,
    CacheUse,
    FailureKind,
    FinishReason,
    LlmFailure,
    LlmReply,
    LlmRequest,
    ToolCall,
    ToolDescriptor,
)
from gridagent.limits import clip_bytes
from gridagent.tools.access import SILENT_MODES, TurnMode
from gridagent.tools.codes import ResultCode
from gridagent.tools.envelope import ToolOutcome, ToolResult
from gridagent.tools.evidence import evidence_for_later, evidence_now
from gridagent.tools.ledger import CallInput, CallLedger
from gridagent.tools.scheduler import Settled, ToolBatch
from gridagent.turn.assembly import Assembly, result_turn
from gridagent.turn.breaker import Breaker
from gridagent.turn.brief import AskModel, Brief, GiveUp, Perform, StopReason, TurnEffect, TurnLimits, TurnResult
from gridagent.turn.gates import Draft, refused_by
from gridagent.turn.labels import sound
from gridagent.turn.prompts import Correction, note_for
from gridagent.turn.sanitise import sanitised
from gridagent.turn.silence import says_nothing
from gridagent.turn.states import TURN, TurnInput, TurnState
from gridagent.turn.tally import Tally

__all__ = ("Turn",)


_READ_PER_SPOKEN: Final = 2
_AWAITED: Final = frozenset({TurnMode.ADDRESSED, TurnMode.FRONT})
"""Modes in which somebody waits for an answer, and hears a line of the persona's when there is none."""
_UNHEARD: Final = frozenset({StopReason.CANCELLED, StopReason.SUPERSEDED, StopReason.SILENT})
"""Ends after which nothing is said, whoever waits."""
_GIVEN_UP: Final[dict[GiveUp, StopReason]] = {
    GiveUp.CANCEL: StopReason.CANCELLED,
    GiveUp.SUPERSEDE: StopReason.SUPERSEDED,
    GiveUp.DEADLINE: StopReason.DEADLINE,
}


class Turn:
    """One turn.

    Args:
        brief: what it is begun with.
        limits: what it may take.

    Bounds: the limits; and one ready-made piece of text for each entry of the brief's history that can be shown.
    """

    __slots__ = (
        "_assembly",
        "_batch",
        "_breaker",
        "_brief",
        "_calls",
        "_closed",
        "_codes",
        "_corrections",
        "_ledger",
        "_limits",
        "_offered",
        "_open",
        "_reply",
        "_result",
        "_settled",
        "_shrunk",
        "_tally",
        "late",
        "model_turns",
        "state",
        "tainted",
    )

    def __init__(self, brief: Brief, limits: TurnLimits | None = None) -> None:
        self._brief = brief
        self._limits = TurnLimits() if limits is None else limits
        self._assembly = Assembly(brief, self._limits)
        self._ledger = CallLedger(calls_max=self._limits.tool_calls_max)
        self._breaker = Breaker()
        self._batch: ToolBatch | None = None
        self._calls: tuple[ToolCall, ...] = ()  # of the batch
        self._reply = ""  # words beside the calls, for the model alone
        self._open: dict[int, int] = {}  # ordinal → position of the calls that run
        self._settled: list[Settled] = []
        self._corrections: list[Correction] = []
        self._codes: list[str] = []
        self._closed: StopReason | None = None  # why no tool is offered any more
        self._offered: tuple[ToolDescriptor, ...] = ()  # of the last request
        self._shrunk = False
        self._tally = Tally()
        self._result: TurnResult | None = None
        self.state = TURN.initial
        self.model_turns = 0
        """How often the model was asked."""
        self.late = 0
        """Answers that came for nothing that is open, and were dropped."""
        self.tainted = brief.tainted or any(
            each.tainted for part in (brief.history, brief.recalled, brief.now_said) for each in part
        )
        """Whether it has read words of somebody without authority; only ever becomes true (Spec: POL-5)."""

    # --- what is to be done -------------------------------------------------------------------------

    def next_effects(self, left_s: float | None = None) -> tuple[TurnEffect, ...]:
        """Return what is to be performed now; each effect is returned once.

        Args:
            left_s: seconds left of the turn's deadline, where the caller knows; with none left it ends.
        """
        if left_s is not None and left_s <= 0:
            self.give_up(GiveUp.DEADLINE)
        if self.state is TurnState.ACTING:
            return self._performed(left_s)
        if self.state is TurnState.READY:
            return self._asked(left_s)
        return ()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._result is not None

    @property
    def asking(self) -> int | None:
        """Number of the request that is out."""
        return self.model_turns - 1 if self.state is TurnState.ASKING else None

    @property
    def running(self) -> tuple[int, ...]:
        """Ordinals of the calls that run."""
        return tuple(self._open)

    def result(self) -> TurnResult:
        """Return what it leaves.

        Raises:
            InternalError: it has not ended; `give_up` ends it.
        """
        if self._result is None:
            raise InternalError(f"a turn that is {self.state.value} has no result yet")
        return self._result

    # --- what came of it ------------------------------------------------------------------------------

    def model_replied(self, number: int, reply: LlmReply) -> bool:
        """Take the whole reply to a request.

        Returns:
            False where that request is not open: the reply is dropped and counted.
        """
        if self.asking != number:
            self.late += 1
            return False
        self._tally.add(reply)
        calls = self._assembly.fresh_ids(reply.tool_calls)
        if calls:
            self._take_calls(calls, reply)
        elif reply.finish is FinishReason.LENGTH and not reply.text.strip():
            self._end(StopReason.MODEL_FAILED)  # it was cut off before its first word
        else:
            self._take_words(reply)
        return True

    def model_failed(self, number: int, failure: LlmFailure) -> bool:
        """Take that a request came to nothing.

        One layer has retried already; here only what can be asked differently is asked again, once each.

        Returns:
            False where that request is not open.
        """
        if self.asking != number:
            self.late += 1
            return False
        self._codes.append(f"model_{failure.kind.value}")
        match failure.kind:
            case FailureKind.SPENT:
                self._end(StopReason.SPENT)
            case FailureKind.TOOLS_UNSUPPORTED if self._offered and self._closed is None:
                self._closed = StopReason.MODEL_FAILED
                self._step(TurnInput.AGAIN)
            case FailureKind.TOO_LARGE if not self._shrunk and self._assembly.shrink(self._offered):
                self._shrunk = True
                self._step(TurnInput.AGAIN)
            case FailureKind.TOO_LARGE:
                self._end(StopReason.TOO_LARGE)
            case _:
                self._end(StopReason.MODEL_FAILED)
        return True

    def call_ended(self, ordinal: int, outcome: ToolOutcome) -> bool:
        """Take what came of a call.

        Args:
            ordinal: of its start.
            outcome: what came of it.

        Returns:
            False where that call does not run: the outcome is dropped and counted.
        """
        position = self._open.pop(ordinal, None)
        if position is None or self._batch is None:
            self.late += 1
            return False
        self._batch.apply(position, outcome)
        return True

    def give_up(self, why: GiveUp) -> tuple[int, ...]:
        """End the turn now; every open call gets its result, and what has one keeps it.

        Returns:
            Ordinals of the calls that were running: whoever performs them gives them up.
        """
        running = self.running
        if not self.done:
            self._end(_GIVEN_UP[why], superseded=why is GiveUp.SUPERSEDE)
        return running

    # --- asking ---------------------------------------------------------------------------------------

    def _asked(self, left_s: float | None) -> tuple[TurnEffect, ...]:
        limits = self._limits
        if self.model_turns >= limits.model_turns_max:
            self._end(StopReason.MODEL_TURNS_SPENT)
            return ()
        if self._closed is None:
            if self.model_turns == limits.model_turns_max - 1 and self._settled:
                self._closed = StopReason.MODEL_TURNS_SPENT
            elif not self._ledger.has_room(1):
                self._closed = StopReason.TOOL_CALLS_SPENT
        tools = () if self._closed is not None else self._brief.access.shown(self._ledger.withdrawn)
        turns = self._assembly.request(tools, note_for(self._corrections, last=self._closed is not None))
        if turns is None:
            self._end(StopReason.TOO_LARGE)
            return ()
        self._offered = tools
        deadline_s = limits.request_deadline_s if left_s is None else min(limits.request_deadline_s, left_s)
        request = LlmRequest(
            turns=turns,
            tools=tools,
            require_tool=bool(tools) and self._corrections[-1:] == [Correction.STALE],
            max_request_bytes=limits.request_max_bytes,
            max_reply_bytes=limits.reply_max_bytes,
            max_reply_tokens=limits.reply_max_tokens,
            temperature=limits.temperature,
            deadline_s=deadline_s,
            correlation=self._brief.correlation,
            cache=CacheUse.BYPASS if self._corrections else CacheUse.HINT,
        )
        self._step(TurnInput.ASK)
        self.model_turns += 1
        return (AskModel(number=self.model_turns - 1, request=request),)

    # --- calls ----------------------------------------------------------------------------------------

    def _take_calls(self, calls: tuple[ToolCall, ...], reply: LlmReply) -> None:
        if not self._offered:
            self._settled += _refused(calls, ResultCode.TOO_MANY_CALLS)
            self._end(self._closed or StopReason.NO_PROGRESS)
            return
        self._step(TurnInput.CALL)
        self._calls, self._reply = calls, reply.text
        if reply.finish is FinishReason.LENGTH:  # nobody can tell which arguments are whole
            self._settle(_refused(calls, ResultCode.CUT_OFF))
            return
        self._batch = ToolBatch(calls, self._brief.access, self._ledger)

    def _performed(self, left_s: float | None) -> tuple[TurnEffect, ...]:
        """Return the calls that may start now; when there is none left, go on to the model."""
        batch = self._batch
        assert batch is not None  # noqa: S101 - only a batch leads to ACTING
        starts = batch.next_effects()
        for start in starts:
            self._open[start.ordinal] = start.position
        if starts:
            return tuple(Perform(start=start, tainted=self.tainted) for start in starts)
        if not batch.done:
            return ()
        self._settle(list(batch.settled()))
        return self._asked(left_s)

    def _settle(self, settled: list[Settled]) -> None:
        """Put a reply's calls and results behind each other, and tell whether that was any progress."""
        self._keep(settled)
        results = [result_turn(each.result.as_turn()) for each in settled]
        self._assembly.add([AssistantTurn(text=self._reply, tool_calls=self._calls), *results])
        if not self._breaker.progressed(settled, [call.arguments for call in self._calls]):
            self._closed = self._closed or StopReason.NO_PROGRESS
            self._codes.append(StopReason.NO_PROGRESS.value)
        self._batch, self._calls = None, ()
        self._step(TurnInput.SETTLE)

    def _keep(self, settled: list[Settled]) -> None:
        self._settled += settled
        self.tainted = self.tainted or any(each.result.tainted for each in settled)

    # --- words ----------------------------------------------------------------------------------------

    def _take_words(self, reply: LlmReply) -> None:
        brief, most = self._brief, self._limits.spoken_max_bytes
        # More than this is never said, so it need not be judged.
        text = sound(clip_bytes(reply.text, _READ_PER_SPOKEN * most))
        if brief.mode in SILENT_MODES or says_nothing(text):
            self._end(StopReason.SILENT)
            return
        correction = self._refused_by(text)
        if correction is None:
            names = (brief.persona.name, brief.self_name, *brief.persona.aliases)
            cut = reply.finish is FinishReason.LENGTH
            cleaned = sanitised(text, names, max_bytes=most, cut=cut)
            # Taking something out of a text can turn round what it says, so what is left is judged again.
            correction = self._refused_by(cleaned.text) if cleaned.text not in {"", text} else None
            if not cleaned.text and Correction.COMMAND_IN_PROSE not in self._corrections and self._may_correct():
                correction = Correction.COMMAND_IN_PROSE  # it told in brackets what only a call does
            if correction is None:
                self._codes += cleaned.codes
                self._end(StopReason.ANSWERED if cleaned.text else StopReason.SILENT, reply=cleaned.text)
                return
        self._correct(correction)

    def _refused_by(self, text: str) -> Correction | None:
        return refused_by(Draft.of(text, self._brief, evidence_now(self._settled)))

    def _may_correct(self) -> bool:
        used, limits = len(self._corrections), self._limits
        return used < limits.corrections_max and self.model_turns < limits.model_turns_max

    def _correct(self, correction: Correction) -> None:
        """Ask again, once for each gate; after that, a line of the persona's takes the reply's place."""
        self._codes.append(correction.value)
        if correction in self._corrections or not self._may_correct():
            self._end(StopReason.UNFOUNDED)
            return
        self._corrections.append(correction)
        self._step(TurnInput.AGAIN)

    # --- the end --------------------------------------------------------------------------------------

    def _end(self, stop: StopReason, *, reply: str = "", superseded: bool = False) -> None:
        self._step(TurnInput.END)
        if self._batch is not None:
            self._batch.cancel(CallInput.SUPERSEDE if superseded else CallInput.CANCEL)
            self._keep(list(self._batch.settled()))
            self._batch = None
        self._open.clear()
        line = "" if stop is StopReason.ANSWERED else self._line(stop)
        self._result = TurnResult(
            stop=stop,
            reply=reply or line,
            fallback=bool(line),
            settled=tuple(self._settled),
            evidence=evidence_for_later(self._settled),
            tainted=self.tainted,
            persona=self._brief.persona.digest,
            model_turns=self.model_turns,
            usage=self._tally.usage,
            cost_micros=self._tally.cost_micros,
            corrections=len(self._corrections),
            codes=tuple(self._codes),
        )

    def _line(self, stop: StopReason) -> str:
        """Return what the persona says instead of an answer; empty where nobody waits for one."""
        persona = self._brief.persona
        if stop in _UNHEARD or self._brief.mode not in _AWAITED:
            return ""
        if stop is StopReason.SPENT:
            return persona.tired_line
        lines = persona.fallback_lines
        return lines[zlib.crc32(self._brief.correlation.encode("utf-8", "replace")) % len(lines)] if lines else ""

    def _step(self, given: TurnInput) -> None:
        self.state = TURN.step(self.state, given)


def _refused(calls: tuple[ToolCall, ...], code: ResultCode) -> list[Settled]:
    return [Settled(ToolResult(call_id=call.id, name=call.name, code=code), None) for call in calls]
