"""The mind of one avatar: it hears, decides whether it is spoken to, thinks, wants, and answers.

Owns the order in which presence, conversations, turns and speech come together, and holds all that is under way; each
of them decides for itself in its own room. The session calls it and carries its thoughts out: actions go to the
gateway, what takes time is an errand. Pure: it waits for nothing, reads no clock and performs nothing.

Invariants: each message that is answered is answered by exactly one turn, and what that turn says is proposed once
(Spec: MND-11, MND-15); principal, origin and system prompt of a turn follow from who spoke and what the operator
configured, never from any text (Spec: MND-4, POL-4); when a connection or a turn ends, nothing of it is left under
way (Spec: MND-7, SUP-5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias

import attrs

from gridagent.actions import Outcome, SetTyping
from gridagent.authority import Provenance
from gridagent.config.model import NewerMessage
from gridagent.config.presence import PresenceSection
from gridagent.conversation.changes import ConversationChange
from gridagent.conversation.entries import Said, Used
from gridagent.conversation.keys import ConversationKey, PersonKey
from gridagent.conversation.store import ConversationStore
from gridagent.events import BackendReady, ChatHeard, GridEvent, ImReceived, ParcelSeen, ParcelView, SpeakerKind
from gridagent.ids import AvatarId, AvatarKey, CorrelationId
from gridagent.language import BadReply, FailureKind, LlmFailure, LlmReply
from gridagent.mind import (
    Attention,
    Errand,
    ErrandFailed,
    GiveUp,
    Moment,
    Proposal,
    Ruling,
    Surroundings,
    Thought,
)
from gridagent.observations import ReplyComposed, ToolEnded, TurnEnded, TurnStarted
from gridagent.presence.chain import PresenceChain
from gridagent.presence.persona import Persona
from gridagent.presence.reflex import ReflexMind
from gridagent.thinking.beginning import begin, heard_as
from gridagent.thinking.lanes import Asked, Batch, Lane, Lanes, joined
from gridagent.thinking.mouth import Mouth, Speech, Spoken
from gridagent.thinking.provenance import provenance_of
from gridagent.thinking.running import Out, Running
from gridagent.thinking.settings import ThinkerSettings
from gridagent.thinking.sight import ALWAYS
from gridagent.thinking.timers import Timers
from gridagent.thinking.words import Purse, Think
from gridagent.tools.descriptor import Port
from gridagent.tools.envelope import Acted, Answered, Broke, Decided, TimedOut, ToolOutcome
from gridagent.tools.registry import Registry
from gridagent.tools.work import Act, Answer, Ask
from gridagent.turn import AskModel, Perform, StopReason, TurnResult
from gridagent.turn import GiveUp as EndTurn

__all__ = ("Thinker",)

_NOT_TYPING: Final = SetTyping(typing=False)
SUPERSEDED_MAX: Final = 4
"""After so many newer messages in a row, further ones wait: somebody who never stops typing is answered too."""
_FAILED: Final = {
    "timeout": FailureKind.TIMEOUT,
    "busy": FailureKind.OVERLOADED,
    "refused": FailureKind.CANCELLED,
}

Due: TypeAlias = "_Late | Running | Spoken"


@attrs.frozen
class _Late:
    """A call whose time is over."""

    running: Running
    ordinal: int


class Thinker:
    """Implements `gridagent.mind.Mind`.

    Args:
        avatar: whose mind it is.
        settings: bounds and habits.
        persona: who the avatar is.
        chain: decides whom it answers.
        mouth: how it speaks.
        reflex: answers offers and payments, which need no thinking.
        conversations: what was said.
        registry: the tools there are.
        ports: what can answer questions besides what the session knows.
        purse: what thinking may cost; None is anything.
        keep: takes each change of conversations, in order; never raises or waits.

    Bounds: `settings.turns_max` turns under way; `gridagent.thinking.lanes.LANES_MAX` conversations with something to
        do, `settings.waiting_max` turns waiting in each.
    """

    def __init__(
        self,
        *,
        avatar: AvatarKey,
        settings: ThinkerSettings,
        persona: Persona,
        chain: PresenceChain,
        mouth: Mouth,
        reflex: ReflexMind,
        conversations: ConversationStore,
        registry: Registry,
        ports: frozenset[Port] = frozenset(),
        purse: Purse | None = None,
        keep: Callable[[ConversationChange], object] | None = None,
    ) -> None:
        self.persona = persona
        self._avatar = avatar
        self._settings = settings
        self._chain = chain
        self._mouth = mouth
        self._reflex = reflex
        self._conversations = conversations
        self._registry = registry
        self._ports = ALWAYS | ports
        self._purse = purse
        self._keep = keep
        self._around: Surroundings | None = None
        self._parcel: ParcelView | None = None
        self._lanes: Lanes[Running] = Lanes()
        self._running: dict[CorrelationId, Running] = {}  # at most settings.turns_max
        self._calls: dict[tuple[str, int], tuple[Running, int]] = {}  # proposals of calls that have not ended
        self._errands: dict[str, Out] = {}  # what is out, over all turns
        self._timers: Timers[Due] = Timers()
        self._errands_made = 0

    def take_over(self, persona: Persona, names: Iterable[str], section: PresenceSection) -> None:
        """Be who the changed configuration says, from the next turn and the next utterance on (Spec: PRS-6, SUP-8).

        Args:
            persona: who the avatar is now; what it said as another is no longer shown as its own.
            names: what it answers to now.
            section: when it feels spoken to, and how it speaks.
        """
        self.persona = persona
        self._chain.configure(section, names)
        self._mouth.section = section

    # --- in: the world ------------------------------------------------------------------------------

    def hear(self, event: GridEvent, around: Surroundings, now: Moment) -> Sequence[Thought]:
        """Answer one event."""
        self._around = around
        match event:
            case ChatHeard() | ImReceived():
                return tuple(self._on_words(event, around, now))
            case ParcelSeen(parcel=parcel):
                self._parcel = parcel
            case BackendReady():
                self._parcel = None
            case _:
                pass
        self._chain.notice(event)
        return self._reflex.hear(event, around, now)

    def _on_words(self, event: ChatHeard | ImReceived, around: Surroundings, now: Moment) -> Iterator[Thought]:
        decision = self._chain.judge(event, around, now.monotonic, now.wall)
        if event.source.kind is SpeakerKind.SELF:
            return
        code = decision.code.value
        answers = decision.answers
        thoughts: Iterable[Thought] = ()
        if decision.mode is not None:
            key, asked = heard_as(event, decision, avatar=self._avatar, around=around, now=now)
            for change in self._conversations.hear(key, asked.heard, now.monotonic):
                self._kept(change)
            if around.held:
                code, answers = "quiet:held", False
            else:
                found = self._put(key, asked, now)
                if found is None:
                    code, answers = "quiet:too_many_wait", False
                else:
                    thoughts = found
        yield Attention(utterance_id=event.utterance_id, answers=answers, code=code)
        yield from thoughts

    # --- in: what became of it ------------------------------------------------------------------------

    def decided(self, proposal: Proposal, ruling: Ruling, now: Moment) -> Sequence[Thought]:
        """Take what became of a proposal; a call that was refused has ended."""
        if ruling.refused is None:
            return ()
        return self._call_ended(proposal, Decided(ruling.refused), now)

    def learn(self, proposal: Proposal, outcome: Outcome, now: Moment) -> Sequence[Thought]:
        """Take how an action ended."""
        return self._call_ended(proposal, Acted(outcome), now)

    def _call_ended(self, proposal: Proposal, outcome: ToolOutcome, now: Moment) -> Sequence[Thought]:
        found = self._calls.pop((proposal.cause, proposal.ordinal), None)
        if found is None:
            return ()  # speech, an offer, or a call whose turn is over
        running, ordinal = found
        self._tell(running, ordinal, outcome)
        return tuple(self._advance(running, now))

    def returned(self, errand_id: str, answer: object, now: Moment) -> Sequence[Thought]:
        """Take what an errand brought."""
        out = self._errands.pop(errand_id, None)
        if out is None:
            return ()
        running = out.running
        del running.errands[errand_id]
        if not out.is_request:
            self._tell(running, out.number, _looked_up(answer))
            return tuple(self._advance(running, now))
        reply = answer if isinstance(answer, LlmReply) else None
        self._settle(out, reply, now)
        if reply is not None:
            running.turn.model_replied(out.number, reply)
        else:
            running.turn.model_failed(out.number, _failure(answer))
        return tuple(self._advance(running, now))

    def _tell(self, running: Running, ordinal: int, outcome: ToolOutcome) -> None:
        self._timers.take_back(running.late.pop(ordinal, 0))
        running.turn.call_ended(ordinal, outcome)

    # --- in: time and the operator --------------------------------------------------------------------

    def due(self) -> float | None:
        """Return when something is late, to be said, or to be tidied up."""
        at, tidy = self._timers.due(), self._conversations.due()
        return tidy if at is None else at if tidy is None else min(at, tidy)

    def on_time(self, now: Moment) -> Sequence[Thought]:
        """Do what is due."""
        thoughts: list[Thought] = []
        while (what := self._timers.pop(now.monotonic)) is not None:
            match what:
                case Spoken(proposal=proposal):
                    thoughts.append(proposal)
                case Running():
                    thoughts += self._end(what, EndTurn.DEADLINE, now)
                case _:
                    self._calls.pop((what.running.cause, what.ordinal), None)
                    self._tell(what.running, what.ordinal, TimedOut())
                    thoughts += self._advance(what.running, now)
        tidy = self._conversations.due()
        if tidy is not None and tidy <= now.monotonic:
            for change in self._conversations.tend(now.monotonic).changes:
                self._kept(change)
        return thoughts

    def fence(self, now: Moment) -> Sequence[Thought]:
        """End everything: the connection is over."""
        self._parcel = None
        self._chain.fence()
        thoughts, _ = self._stopped(now)
        return thoughts

    def stop_turn(self, now: Moment) -> Sequence[Thought]:
        """End every turn and fall silent; what waits is not answered any more, and the typing sign goes."""
        thoughts, unsaid = self._stopped(now)
        signs = [each.proposal for each in unsaid if each.proposal.action == _NOT_TYPING]
        return [*thoughts, *signs[-1:]]

    def _stopped(self, now: Moment) -> tuple[list[Thought], list[Spoken]]:
        """End everything under way; return what follows, and what is not said any more."""
        for key in self._lanes.busy():
            self._lanes.drop(key)
        thoughts: list[Thought] = []
        for running in tuple(self._running.values()):
            thoughts += self._end(running, EndTurn.CANCEL, now)
        left = self._timers.clear()
        self._mouth.hush()
        return thoughts, [each for each in left if isinstance(each, Spoken)]

    def forget(self, avatar_id: AvatarId, now: Moment) -> Sequence[Thought]:
        """Drop everything remembered about an avatar, and end what is under way for it."""
        thoughts: list[Thought] = []
        for key in self._lanes.busy():
            if isinstance(key, PersonKey) and key.peer == avatar_id:
                self._lanes.drop(key)
        for running in tuple(self._running.values()):
            if running.principal.avatar_id == avatar_id:
                thoughts += self._end(running, EndTurn.CANCEL, now)
        self._chain.forget(avatar_id)
        self._reflex.forget(avatar_id, now)
        if self._purse is not None:
            self._purse.forget(avatar_id)
        for change in self._conversations.forget(avatar_id):
            self._kept(change)
        return thoughts

    # --- waiting ------------------------------------------------------------------------------------

    def _put(self, key: ConversationKey, asked: Asked, now: Moment) -> Iterable[Thought] | None:
        """Let a message wait for its turn; None where too much waits."""
        lane = self._lanes.open(key)
        if lane is None:
            return None
        newer = self._settings.newer
        if newer is NewerMessage.QUEUE:
            if len(lane.waiting) >= self._settings.waiting_max:
                return None
            lane.waiting.append((asked,))
            self._lanes.settle(key)
            return self._begin_ready(now)
        return self._put_newer(key, lane, asked, now)

    def _put_newer(self, key: ConversationKey, lane: Lane[Running], asked: Asked, now: Moment) -> Iterable[Thought]:
        """Let a message take the place of what has not been acted on yet, or join what waits."""
        before = lane.waiting.popleft() if lane.waiting else ()
        running = lane.running
        if running is not None and not running.acted and lane.superseded < SUPERSEDED_MAX:
            lane.superseded += 1
            lane.waiting.append(self._newest(joined(running.batch, before), asked))
            return tuple(self._end(running, EndTurn.SUPERSEDE, now))  # and so begin the next
        lane.waiting.append(self._newest(before, asked))
        self._lanes.settle(key)
        return self._begin_ready(now)

    def _newest(self, before: Batch, asked: Asked) -> Batch:
        return joined(before, (asked,)) if self._settings.newer is NewerMessage.JOIN else (asked,)

    def _begin_ready(self, now: Moment) -> Iterator[Thought]:
        """Begin as many turns as there are places."""
        while len(self._running) < self._settings.turns_max:
            found = self._lanes.next_ready()
            if found is None:
                return
            key, lane = found
            running = self._made(key, lane.waiting.popleft(), now)
            lane.running = running
            self._lanes.settle(key)
            self._running[running.correlation] = running
            yield TurnStarted(correlation=running.correlation, mode=running.mode.value)
            yield from self._advance(running, now)

    def _made(self, key: ConversationKey, batch: Batch, now: Moment) -> Running:
        around = self._around
        assert around is not None  # noqa: S101 - a message was heard
        running = begin(
            batch,
            key=key,
            around=around,
            now=now,
            persona=self.persona,
            limits=self._settings.turns,
            registry=self._registry,
            ports=self._ports,
            parcel=lambda: self._parcel,
            read=partial(self._conversations.project, key, now.monotonic),
        )
        running.deadline = self._timers.put(running.ends_at, running)
        return running

    # --- thinking -----------------------------------------------------------------------------------

    def _advance(self, running: Running, now: Moment) -> Iterator[Thought]:
        """Perform what a turn wants until it waits or is over."""
        turn = running.turn
        while not turn.done:
            effects = turn.next_effects(running.ends_at - now.monotonic)
            if not effects:
                break
            for effect in effects:
                if isinstance(effect, AskModel):
                    yield from self._ask_model(running, effect, now)
                else:
                    yield from self._perform(running, effect, now)
        if turn.done and self._running.get(running.correlation) is running:
            yield from self._finish(running, now)

    def _ask_model(self, running: Running, effect: AskModel, now: Moment) -> Iterator[Thought]:
        held = None
        if self._purse is not None:
            held = self._purse.reserve(
                turn=running.correlation,
                person=running.principal.key,
                request=effect.request,
                now=now.monotonic,
            )
            if held is None:
                running.turn.model_failed(effect.number, LlmFailure(FailureKind.SPENT))
                return
        out = Out(running, effect.number, is_request=True, held=held)
        yield self._sent(out, Think(effect.request), effect.request.deadline_s)

    def _perform(self, running: Running, effect: Perform, now: Moment) -> Iterator[Thought]:
        start = effect.start
        match start.call.work:
            case Act(action=action):
                running.acted = running.acted or not start.call.tool.read_only
                self._calls[running.cause, start.ordinal] = (running, start.ordinal)
                running.late[start.ordinal] = self._timers.put(
                    now.monotonic + start.timeout_s, _Late(running, start.ordinal)
                )
                assert self._around is not None  # noqa: S101 - a message was heard
                yield Proposal(
                    action=action,
                    principal=running.principal,
                    origin=running.origin,
                    cause=running.cause,
                    ordinal=start.ordinal,
                    conversation=running.key.text,
                    tainted=effect.tainted,
                    target_provenance=provenance_of(
                        action,
                        speaker=running.principal.avatar_id,
                        authorised=running.authorised,
                        said=[each.heard.text for each in running.batch],
                        near=self._around,
                    ),
                )
            case Ask(query=query):
                found = running.sight.ask(query, now.wall, tainted=effect.tainted)
                if isinstance(found, Answered | Broke):
                    running.turn.call_ended(start.ordinal, found)
                    return
                out = Out(running, start.ordinal, is_request=False)
                yield self._sent(out, found, start.timeout_s)
            case _:
                running.turn.call_ended(start.ordinal, Broke())  # no servers of foreign tools yet

    def _sent(self, out: Out, what: object, timeout_s: float) -> Errand:
        self._errands_made += 1
        errand_id = f"e{self._errands_made}"
        self._errands[errand_id] = out.running.errands[errand_id] = out
        return Errand(errand_id=errand_id, what=what, timeout_s=timeout_s)

    # --- the end ------------------------------------------------------------------------------------

    def _end(self, running: Running, why: EndTurn, now: Moment) -> Iterator[Thought]:
        """End a turn now."""
        running.turn.give_up(why)
        yield from self._finish(running, now)

    def _finish(self, running: Running, now: Moment) -> Iterator[Thought]:
        """Leave nothing of a turn under way, keep what it leaves, say what it says, and let the next begin."""
        result = running.turn.result()
        del self._running[running.correlation]
        yield from self._let_go(running, now)
        for each in result.settled:
            code = each.result.code
            yield ToolEnded(correlation=running.correlation, tool=each.result.name, ok=each.result.ok, code=code.value)
        reply = result.reply
        if reply and any(each.disclose for each in running.batch) and self.persona.disclosure:
            reply = f"{self.persona.disclosure} {reply}"
        for entry in result.entries(now.wall):
            if isinstance(entry, Said):
                self._all_kept(self._conversations.say(running.key, entry, now.monotonic))
            elif isinstance(entry, Used):
                self._all_kept(self._conversations.use(running.key, entry, now.monotonic))
        if reply:
            yield ReplyComposed(correlation=running.correlation, text=reply)
        yield _ended(running.correlation, result)
        if reply:
            yield from self._speak(running, reply, now, tainted=result.tainted)
        lane = self._lanes.find(running.key)
        if lane is not None:
            lane.running = None
            if result.stop is not StopReason.SUPERSEDED:
                lane.superseded = 0
            self._lanes.settle(running.key)
        yield from self._begin_ready(now)

    def _let_go(self, running: Running, now: Moment) -> Iterator[Thought]:
        self._timers.take_back(running.deadline)
        for timer in running.late.values():
            self._timers.take_back(timer)
        for ordinal in running.late:
            self._calls.pop((running.cause, ordinal), None)
        running.late.clear()
        for errand_id, out in running.errands.items():
            del self._errands[errand_id]
            self._settle(out, None, now)
            yield GiveUp(errand_id)
        running.errands.clear()
        if self._purse is not None:
            self._purse.end_turn(running.correlation)

    def _settle(self, out: Out, reply: LlmReply | None, now: Moment) -> None:
        if out.held is not None and self._purse is not None:
            self._purse.settle(out.held, reply, now=now.monotonic)

    def _speak(self, running: Running, reply: str, now: Moment, *, tainted: bool) -> Iterator[Thought]:
        peer = running.batch[-1].peer
        self._chain.replied(peer, reply, running.origin, now.monotonic)
        speech = Speech(
            text=reply,
            to=peer,
            origin=running.origin,
            cause=running.cause,
            conversation=running.key.text,
            tainted=tainted,
            provenance=Provenance.AUTHORISED_WORDS if running.authorised else Provenance.MODEL,
        )
        for spoken in self._mouth.plan(speech, now.monotonic):
            if spoken.at <= now.monotonic:
                yield spoken.proposal
            else:
                self._timers.put(spoken.at, spoken)

    def _kept(self, change: ConversationChange) -> None:
        if self._keep is not None:
            self._keep(change)

    def _all_kept(self, changes: Iterable[ConversationChange]) -> None:
        for change in changes:
            self._kept(change)


def _ended(correlation: CorrelationId, result: TurnResult) -> TurnEnded:
    """Say how a turn ended, and what its requests took together."""
    return TurnEnded(
        correlation=correlation,
        stop=result.stop.value,
        model_turns=result.model_turns,
        input_tokens=result.usage.input_tokens,
        cached_tokens=result.usage.cached_tokens,
        output_tokens=result.usage.output_tokens,
        cost_micros=result.cost_micros,
        corrections=result.corrections,
        fallback=result.fallback,
    )


def _failure(answer: object) -> LlmFailure:
    if isinstance(answer, ErrandFailed):
        if isinstance(answer.error, LlmFailure):
            return answer.error
        return LlmFailure(_FAILED.get(answer.code, FailureKind.SERVER_ERROR))
    return LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.WRONG_SHAPE)


def _looked_up(answer: object) -> ToolOutcome:
    match answer:
        case ErrandFailed(code="timeout"):
            return TimedOut()
        case None | Answer():
            return Answered(answer=answer)
        case _:
            return Broke()
