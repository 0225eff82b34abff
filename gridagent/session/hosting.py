"""How a session feeds its mind and carries its thoughts out.

Owns the way in (events, rulings, outcomes, answers of errands, the time) and the way out: each thought becomes an
observation, a request to the gateway or an effect for the shell. Called by the core; decides nothing about actions.
Pure.

Invariants: thoughts are carried out in order, and what one leads to comes behind those that wait already; however
a mind behaves, one input leads to at most `THOUGHTS_MAX` of them; what an ended generation still brings reaches no
mind (Spec: SUP-5, MND-18). A mind that raises loses its turns, and one that does so too often its avatar
(`gridagent.session.mind_guard`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from gridagent.actions import Outcome
from gridagent.events import GridEvent
from gridagent.ids import AvatarId, Generation
from gridagent.mind import Attention, Errand, ErrandFailed, GiveUp, Mind, Moment, Proposal, Ruling, Thought
from gridagent.observations import AttentionDecided, Diagnostic, WorkFenced
from gridagent.policy import Authorized, Decision
from gridagent.session.effects import CancelErrand, ReportFault, RunErrand
from gridagent.session.mind_guard import MindGuard

if TYPE_CHECKING:
    from gridagent.session.core import SessionCore

__all__ = ("MindHost",)

MIND_FAILED: Final = "mind_failed"
THOUGHTS_MAX: Final = 4_096
ERRANDS_MAX: Final = 2_048
"""Errands of one mind that are out or wait."""


class MindHost:
    """Where a mind lives.

    Args:
        core: whose gateway decides, and which performs.
        mind: thinks.
    """

    __slots__ = ("_busy", "_core", "_guard", "_left", "_names", "_now", "_number", "_numbers", "_waiting", "mind")

    def __init__(self, core: SessionCore, mind: Mind) -> None:
        self.mind = mind
        self._core = core
        self._guard = MindGuard(mind, core.settings.fault_intensity, report=self._report, escalate=self._escalate)
        self._waiting: deque[Thought] = deque(maxlen=THOUGHTS_MAX)
        self._busy = False
        self._left = 0
        self._now = Moment(0.0, 0.0)
        self._number = 0
        self._numbers: dict[str, int] = {}  # at most ERRANDS_MAX
        self._names: dict[int, str] = {}  # the same, the other way round

    def at(self, now: Moment) -> None:
        """Set the time for the inputs that follow."""
        self._now = now

    # --- in ---------------------------------------------------------------------------------------

    def hear(self, event: GridEvent) -> None:
        """Let the mind hear an event."""
        self._think(lambda: self.mind.hear(event, self._core.where, self._now))

    def decided(self, proposal: Proposal, decision: Decision) -> None:
        """Tell the mind what became of a proposal of its own; never how to redeem it."""
        refused = None if isinstance(decision, Authorized) else decision
        self._think(lambda: self.mind.decided(proposal, Ruling(refused=refused), self._now))

    def learn(self, proposal: Proposal, outcome: Outcome) -> None:
        """Tell the mind how a proposal of its own ended."""
        self._think(lambda: self.mind.learn(proposal, outcome, self._now))

    def returned(self, generation: int, number: int, answer: object) -> None:
        """Give the mind what an errand brought, unless it was given up or its generation is over."""
        if not self._core.link.fence.admits(generation):
            self._core.publish(WorkFenced(what="errand", of_generation=Generation(generation)))
            return
        errand_id = self._names.pop(number, None)
        if errand_id is not None:
            del self._numbers[errand_id]
            self._think(lambda: self.mind.returned(errand_id, answer, self._now))

    def due(self) -> float | None:
        """Return when the mind wants to be called, in monotonic seconds."""
        broke = self._guard.broke
        due = self._guard.due(self._now)
        if self._guard.broke > broke:
            self._drop_turns()
        return due

    def on_time(self) -> None:
        """Let the mind do what is due."""
        due = self.due()
        if due is not None and self._now.monotonic >= due:
            self._think(lambda: self.mind.on_time(self._now))

    def fence(self) -> None:
        """Tell the mind that the connection is over; the shell cancels its errands with the generation."""
        self._numbers.clear()
        self._names.clear()
        if thoughts := self._guard.end_turns(self._now):
            self._carry_out(thoughts)

    def stop_turn(self) -> None:
        """Have every turn end."""
        self._think(lambda: self.mind.stop_turn(self._now))

    def forget(self, avatar_id: AvatarId) -> bool:
        """Have everything about an avatar dropped; tell whether the mind did."""
        return self._think(lambda: self.mind.forget(avatar_id, self._now))

    # --- when it breaks ---------------------------------------------------------------------------

    def _think(self, call: Callable[[], Sequence[Thought]]) -> bool:
        """Carry out what the mind thinks of something; tell whether it thought at all."""
        thoughts = self._guard.think(call, self._now)
        if thoughts is None:
            self._drop_turns()
            return False
        if thoughts:
            self._carry_out(thoughts)
        return True

    def _report(self, error: Exception) -> None:
        core = self._core
        core.last_error = MIND_FAILED
        core.add_effect(ReportFault(code=MIND_FAILED, error=error))
        core.publish(Diagnostic(code=MIND_FAILED, fields=(("error", type(error).__name__[:64]),)))

    def _escalate(self) -> None:
        if not self._core.over:
            self._core.fail(MIND_FAILED)

    def _drop_turns(self) -> None:
        """Let a mind that broke begin again without what was under way; what it had sent out comes back to nobody."""
        if self._core.over:
            return  # the end of the connection has dropped them
        self._waiting.clear()
        for number in self._names:
            self._core.add_effect(CancelErrand(number=number))
        self.fence()

    # --- out --------------------------------------------------------------------------------------

    def _carry_out(self, thoughts: Sequence[Thought]) -> None:
        if not self._busy:
            self._left = THOUGHTS_MAX
        if len(thoughts) > self._left:
            self._core.publish(Diagnostic(code="mind_overran", fields=(("dropped", str(len(thoughts))),)))
            return
        self._left -= len(thoughts)
        self._waiting.extend(thoughts)
        if self._busy:
            return
        self._busy = True
        try:
            while self._waiting:
                self._one(self._waiting.popleft())
        finally:
            self._busy = False
            self._waiting.clear()

    def _one(self, thought: Thought) -> None:
        match thought:
            case Attention():
                self._core.publish(
                    AttentionDecided(utterance_id=thought.utterance_id, answers=thought.answers, code=thought.code)
                )
            case Proposal():
                self._core.propose(thought)
            case Errand():
                self._send_out(thought)
            case GiveUp(errand_id=errand_id):
                number = self._numbers.pop(errand_id, None)
                if number is not None:
                    del self._names[number]
                    self._core.add_effect(CancelErrand(number=number))
            case _:
                self._core.publish(thought)

    def _send_out(self, errand: Errand) -> None:
        live = self._core.link.fence.current
        if live is None or errand.errand_id in self._numbers or len(self._numbers) >= ERRANDS_MAX:
            failed = ErrandFailed(code="refused" if live is None else "busy")
            self._think(lambda: self.mind.returned(errand.errand_id, failed, self._now))
            return
        self._number += 1
        self._numbers[errand.errand_id] = self._number
        self._names[self._number] = errand.errand_id
        self._core.add_effect(RunErrand(generation=live, number=self._number, errand=errand))
