"""The session's decisions, sans-IO: inputs in, state and effects out.

Owns one avatar's agent state, its link (`gridagent.session.link`) and its table of work in flight.
`gridagent.session.actor` feeds it controls, grid events and results, and performs its effects; the gateway
decides on actions, the mind proposes them. Waits for nothing and reads no clock: the shell sets the time
before each input.

Invariants: at most one generation is live, and the next opens only after the last was fenced and cleaned
up (Spec: SUP-5, BND-5); what an ended generation still delivers settles its own effect and nothing else
(Spec: EFX-2); every control gets exactly one reply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

import msgspec

from gridagent.actions import Action, FollowAvatar, InDoubt, Outcome, Refused, Resource, WalkTo, action_name
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal
from gridagent.controls import ControlReply
from gridagent.events import (
    BackendReady,
    BalanceChanged,
    DisconnectCause,
    GridEvent,
    ImReceived,
    PartDegraded,
    PartRecovered,
    PostureChanged,
    RegionEntered,
    SelfMoved,
    TeleportFinished,
    TransportUp,
)
from gridagent.ids import CorrelationId, EffectKey, Generation
from gridagent.mind import Mind, Moment, Proposal
from gridagent.observations import (
    ActionDecided,
    ActionSettled,
    AgentState,
    AgentStateChanged,
    ApprovalClosed,
    ApprovalOpened,
    Diagnostic,
    EventSeen,
    GenerationClosed,
    Observation,
    ObservationBody,
    SafeModeChanged,
    Verdict,
    WorkFenced,
)
from gridagent.policy import Authorized, Decision, Denied, Gateway, Instant, NeedsApproval
from gridagent.policy.decisions import Ended
from gridagent.policy.summary import summarise_for_approval
from gridagent.session.approvers import ApproverTalk, answer_of, without_nonce
from gridagent.session.doubts import Doubts
from gridagent.session.effects import CancelWork, Effect, Finish, Perform
from gridagent.session.hosting import MindHost
from gridagent.session.lifecycle import AGENT, AgentInput, LinkInput
from gridagent.session.link import Link
from gridagent.session.settings import OnBackendFailure, SessionSettings
from gridagent.session.surroundings import Whereabouts

__all__ = ("InFlight", "SessionCore")

_OPERATOR: Final = Principal(client="operator")


class InFlight(msgspec.Struct, frozen=True, kw_only=True):
    """One authorised action that has not ended."""

    action: Action
    correlation: CorrelationId
    proposal: Proposal | None
    cause: str


class SessionCore:
    """Decides for one avatar.

    Args:
        settings: bounds and habits.
        gateway: decides on every action; belongs to this session.
        mind: proposes actions.
        rng: seeded stream for the jitter of back-off.
        observe: takes each observation; must not block or raise.
    """

    def __init__(
        self,
        *,
        settings: SessionSettings,
        gateway: Gateway,
        mind: Mind,
        rng: Random,
        observe: Callable[[Observation], None],
    ) -> None:
        self.settings = settings
        self.gateway = gateway
        self.where = Whereabouts(gateway)
        self.host = MindHost(self, mind)
        self.agent: AgentState = AGENT.initial
        self.last_error = ""
        self.inflight: dict[EffectKey, InFlight] = {}  # bounded by the gateway's open effects
        self.approvers = ApproverTalk(self)
        self.doubts = Doubts(self, settings.doubts_settle_s)
        self._observe = observe
        self._effects: list[Effect] = []  # emptied by the shell after every batch
        self._seq = 0
        self._causes = 0
        self._now = Instant(wall=0.0, monotonic=0.0)
        self._fenced_events = 0
        self.link = Link(
            settings=settings,
            gateway=gateway,
            where=self.where,
            rng=rng,
            publish=self.publish,
            perform=self.add_effect,
            fenced=self.host.fence,
        )

    # --- what the shell asks ----------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the agent is in a terminal state."""
        return self.agent in AGENT.terminal

    @property
    def generation(self) -> Generation:
        """Number of the newest generation; 0 is none yet."""
        return Generation(self.link.fence.number)

    def timer(self) -> float | None:
        """When `on_timer` wants to be called, in monotonic seconds."""
        waits = (
            self.link.retry_at,
            self.gateway.next_deadline(),
            self.host.due(),
            self.doubts.due,
            self.approvers.due,
        )
        due = [at for at in waits if at is not None]
        return min(due, default=None)

    @property
    def wants(self) -> bool:
        """Whether something is to be performed."""
        return bool(self._effects)

    def take_effects(self) -> list[Effect]:
        """Hand over what is to be performed, in order."""
        effects, self._effects = self._effects, []
        return effects

    def add_effect(self, effect: Effect) -> None:
        """Queue an effect behind those already wanted (controls use it)."""
        self._effects.append(effect)

    def at(self, now: Instant) -> None:
        """Set the time for the inputs that follow."""
        self._now = now
        self.host.at(Moment(now.wall, now.monotonic))

    @property
    def now(self) -> Instant:
        """The time of the input being handled."""
        return self._now

    def publish(self, body: ObservationBody) -> None:
        """Tell whoever watches."""
        self._seq += 1
        self._observe(
            Observation(
                seq=self._seq,
                avatar=self.settings.key,
                generation=self.generation,
                at=self._now.monotonic,
                body=body,
            )
        )

    # --- life -------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Take up work: connect now or after the configured pause, unless told to wait for `Connect`."""
        if not self.settings.connect_at_start:
            return
        if self.settings.start_after_s:
            self.link.want_after(self.settings.start_after_s, self._now)
        else:
            self.link.want()

    def tell_recovered(self, ended: Sequence[Ended]) -> None:
        """Say what a restart ended: effects nobody knows the end of, approvals and grants that are over."""
        for each in ended:
            if each.approval_id is not None:
                self.publish(ApprovalClosed(approval_id=each.approval_id, how=each.how[:64]))
            elif isinstance(each.outcome, InDoubt):
                self.publish(
                    Diagnostic(
                        code="effect_in_doubt",
                        fields=(("effect", f"{each.effect}"), ("action", summarise_for_approval(each.action))),
                    )
                )

    def on_storage(self, fault: str | None) -> None:
        """Enter or leave safe mode: talk yes, pay and give no (Spec: EFX-4)."""
        if fault is None:
            self.gateway.leave_safe_mode(self._now)
        else:
            self.last_error = fault
            self.gateway.enter_safe_mode(self._now)
        self.publish(SafeModeChanged(active=fault is not None, code=(fault or "")[:64]))

    def end_connection(self) -> None:
        """Fence the live generation because somebody asked for it; without one, drop what waits for it."""
        self.link.end(DisconnectCause.REQUESTED, self._now)

    def step_agent(self, given: AgentInput, code: str = "") -> None:
        """Move the agent and say so when it changed."""
        was, self.agent = self.agent, AGENT.step(self.agent, given)
        if was is not self.agent:
            self.publish(AgentStateChanged(state=self.agent, was=was, code=code))

    def stop(self, code: str) -> None:
        """Begin the one orderly end; asked again, it changes nothing (Spec: SUP-2)."""
        if not AGENT.allows(self.agent, AgentInput.STOP):
            return
        self.step_agent(AgentInput.STOP, code)
        self.link.step(LinkInput.SHUT_DOWN)
        self.end_connection()
        if self.link.fence.retired():
            self._stopped()

    def resume(self) -> None:
        """Come back from a pause."""
        self.step_agent(AgentInput.RESUME if self.link.ever_ready else AgentInput.RESUME_UNREADY)
        self.link.want()

    def fail(self, code: str) -> None:
        """Give the agent up; its connection is ended first where one is live."""
        self.last_error = code
        self.step_agent(AgentInput.FAIL, code)
        if self.link.allows(LinkInput.LOST_FOR_GOOD):
            self.link.step(LinkInput.LOST_FOR_GOOD)
        self.link.end(DisconnectCause.BACKEND_FAULT, self._now)
        if self.link.fence.retired():
            self._finish()

    def _stopped(self) -> None:
        self.link.step(LinkInput.CLEANED)
        self.step_agent(AgentInput.STOPPED)
        self._finish()

    def _finish(self) -> None:
        if self.link.allows(LinkInput.CLEANED):
            self.link.step(LinkInput.CLEANED)
        self.add_effect(Finish())

    def on_connection_ended(self, number: int, *, cause: DisconnectCause, logged_out: bool) -> None:
        """Take note that a connection is over and cleaned up; decide what follows."""
        self.doubts.disconnected()
        ended_itself = self.link.cleaned_up(number, cause, self._now)
        self.publish(GenerationClosed(cause=self.link.end_cause or cause, logged_out=logged_out))
        if self.agent is AgentState.STOPPING:
            self._stopped()
        elif self.over:
            self._finish()
        elif ended_itself:
            self._lost(cause)
        elif self.link.wanted:
            self.link.want()

    def _lost(self, cause: DisconnectCause) -> None:
        """Decide what a connection that ended by itself leads to (Spec: SUP-1)."""
        self.last_error = cause.value
        if self.settings.on_backend_failure is OnBackendFailure.RECONNECT:
            if not self.link.plan_after(cause, self._now):
                self.fail("restart_intensity")
            return
        self.link.step(LinkInput.LOST_FOR_GOOD, cause=cause)
        if cause is DisconnectCause.GRID_CLOSED:
            self.stop(cause.value)
        else:
            self.fail(cause.value)

    def on_timer(self) -> None:
        """Do what is due."""
        if self.link.due(self._now):
            self.link.want()
        self.doubts.on_timer()
        self.approvers.on_timer()
        for ended in self.gateway.expire(self._now):
            if ended.approval_id is not None:
                self.publish(ApprovalClosed(approval_id=ended.approval_id, how="expired"))
        self.host.on_time()

    # --- events -----------------------------------------------------------------------------------

    def on_event(self, number: int, event: GridEvent) -> None:
        """Take one event of generation ``number``; of an ended one, only count it (Spec: SUP-5)."""
        if not self.link.fence.admits(number):
            self._fenced_events += 1
            return
        answer = answer_of(event)
        if answer is not None and isinstance(event, ImReceived):
            self.publish(EventSeen(event=without_nonce(event)))
            self.approvers.answer(event, answer)
            return
        heard = self.approvers.masked(event)
        self.publish(EventSeen(event=heard))
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)
        self.doubts.hear(event)
        if self.agent is AgentState.RUNNING:
            self.host.hear(heard)

    def end_of_batch(self) -> None:
        """Say how many late events were fenced since the last batch."""
        if self._fenced_events:
            count, self._fenced_events = self._fenced_events, 0
            self.publish(WorkFenced(what="event", of_generation=self.generation, count=count))

    def _on_transport_up(self, event: TransportUp) -> None:
        self.where.self_id, self.where.name = event.avatar_id, event.name
        self.link.transport_up()

    def _on_ready(self, event: BackendReady) -> None:
        self.where.self_id, self.where.name = event.avatar_id, event.name
        self.where.region, self.where.position = event.region, event.position
        self.where.profile, self.where.generation = event.profile, int(self.generation)
        self.link.ready(self._now)
        self.step_agent(AgentInput.READY)
        self.doubts.connected()
        self.approvers.ask_again()

    def _on_part_degraded(self, event: PartDegraded) -> None:
        self.link.part_sick(event.part)

    def _on_part_recovered(self, event: PartRecovered) -> None:
        self.link.part_well(event.part)

    def _on_place(self, event: RegionEntered | SelfMoved | TeleportFinished) -> None:
        self.where.region, self.where.position = event.region, event.position

    def _on_posture(self, event: PostureChanged) -> None:
        self.where.posture = event.posture

    def _on_balance(self, event: BalanceChanged) -> None:
        self.where.balance = event.balance

    # --- actions ----------------------------------------------------------------------------------

    def next_cause(self) -> str:
        """Name a cause that has no id of its own (a control)."""
        self._causes += 1
        return f"control-{self.generation}-{self._causes}"

    def propose(self, proposal: Proposal) -> None:
        """Put what the mind would like to the gateway."""
        # An utterance's id is unique in its connection only, and it is never heard again: a later one with the
        # same id is another cause. Goals and schedules name causes of their own, which come again on purpose.
        heard = proposal.origin in {Origin.PUBLIC_CHAT, Origin.DIRECT_IM}
        cause = f"{self.generation}.{proposal.cause}" if heard else proposal.cause
        request = ActionRequest(
            action=proposal.action,
            principal=proposal.principal,
            origin=proposal.origin,
            generation=self.generation,
            correlation=CorrelationId(cause[:64]),
            cause=cause[:64],
            ordinal=proposal.ordinal,
            conversation=proposal.conversation[:64],
            tainted=proposal.tainted,
            target_provenance=proposal.target_provenance,
            travel_m=self._way(proposal.action),
        )
        self._ask(request, proposal)

    def ask_as_operator(self, action: Action) -> Decision:
        """Put an operator's action to the gateway, like anything else."""
        cause = self.next_cause()
        request = ActionRequest(
            action=action,
            principal=_OPERATOR,
            origin=Origin.OPERATOR_CONSOLE,
            generation=self.generation,
            correlation=CorrelationId(cause),
            cause=cause,
            verbatim=True,
            travel_m=self._way(action),
        )
        return self._ask(request, None)

    def _way(self, action: Action) -> float | None:
        """Return how far a walk goes in metres, straight; None where that cannot be told."""
        here = self.where.position
        if here is None:
            return None
        if isinstance(action, WalkTo):
            return here.distance_to(action.position)
        if isinstance(action, FollowAvatar):
            for avatar in self.where.avatars():
                if avatar.avatar_id == action.avatar_id:
                    return here.distance_to(avatar.position)
        return None

    def _ask(self, request: ActionRequest, proposal: Proposal | None) -> Decision:
        decision = self.gateway.decide(request, self._now, busy=self.busy())
        if proposal is not None:
            self.host.decided(proposal, decision)
        self.dispose(decision, request, proposal)
        return decision

    def busy(self) -> frozenset[Resource]:
        """Return what of the body is in use."""
        return frozenset(
            work.action.spec.resource for work in self.inflight.values() if work.action.spec.resource is Resource.BODY
        )

    def dispose(self, decision: Decision, request: ActionRequest, proposal: Proposal | None) -> None:
        """Report a decision, and perform what it authorises."""
        match decision:
            case Denied(code=code, rule=rule):
                self._report(request, Verdict.DENIED, rule, code)
            case NeedsApproval():
                self._report(request, Verdict.NEEDS_APPROVAL, decision.rule)
                self.publish(
                    ApprovalOpened(
                        approval_id=decision.approval_id,
                        action=action_name(request.action),
                        summary=decision.summary,
                        principal=request.principal.key[:64],
                        expires_in_s=max(0.0, decision.expires_at - self._now.monotonic),
                    )
                )
                if self.settings.ask_over_im:
                    self.approvers.ask(decision, request)
            case Authorized():
                self._report(request, Verdict.AUTHORIZED, decision.rule)
                self._perform(decision, request, proposal)

    def _report(self, request: ActionRequest, verdict: Verdict, rule: str, code: DenialCode | None = None) -> None:
        self.publish(
            ActionDecided(
                action=action_name(request.action),
                summary=summarise_for_approval(request.action),
                origin=request.origin,
                principal=request.principal.key[:64],
                verdict=verdict,
                code=code,
                rule=rule[:64],
                correlation=request.correlation,
            )
        )

    def _perform(self, authorized: Authorized, request: ActionRequest, proposal: Proposal | None) -> None:
        action = authorized.action
        live = self.link.fence.current
        if authorized.dry_run or live is None:
            never = Refused(reason="dry_run")
            self._settle(authorized.effect, action, never, request.correlation, dry_run=True)
            if proposal is not None:
                self.host.learn(proposal, never)
            return
        if action.spec.preempts:
            for effect, work in self.inflight.items():
                if work.action.spec.resource is action.spec.resource:
                    self._effects.append(CancelWork(effect=effect, reason="preempted"))
        self.inflight[authorized.effect] = InFlight(
            action=action, correlation=request.correlation, proposal=proposal, cause=request.cause
        )
        self.doubts.began(authorized.effect, action)
        self._effects.append(Perform(generation=live, authorized=authorized))

    def on_action_ended(self, number: int, effect: EffectKey, outcome: Outcome) -> None:
        """Settle one effect; of an ended generation, that and nothing else (Spec: SUP-5, EFX-2)."""
        self.approvers.ended(effect, outcome)
        work = self.inflight.pop(effect, None)
        if work is None:
            return
        if not self.link.fence.admits(number):
            self.gateway.settle(effect, outcome, self._now)
            self.publish(WorkFenced(what="result", of_generation=Generation(number)))
            self.doubts.ended(effect, outcome)
            return
        self._settle(effect, work.action, outcome, work.correlation, dry_run=False)
        self.doubts.ended(effect, outcome)
        if work.proposal is not None:
            self.host.learn(work.proposal, outcome)

    def _settle(
        self, effect: EffectKey, action: Action, outcome: Outcome, correlation: CorrelationId, *, dry_run: bool
    ) -> None:
        self.gateway.settle(effect, outcome, self._now)
        self.publish(
            ActionSettled(
                action=action_name(action), effect=effect, outcome=outcome, correlation=correlation, dry_run=dry_run
            )
        )

    def reply(self, *, accepted: bool, code: str, message: str = "") -> ControlReply:
        """Build a reply whose sentence fits its bound."""
        return ControlReply(accepted=accepted, code=code[:64], message=message[:256])


_HANDLERS: Final[dict[type[GridEvent], Callable[..., None]]] = {
    TransportUp: SessionCore._on_transport_up,  # noqa: SLF001 - the table belongs to the class
    BackendReady: SessionCore._on_ready,  # noqa: SLF001
    PartDegraded: SessionCore._on_part_degraded,  # noqa: SLF001
    PartRecovered: SessionCore._on_part_recovered,  # noqa: SLF001
    RegionEntered: SessionCore._on_place,  # noqa: SLF001
    SelfMoved: SessionCore._on_place,  # noqa: SLF001
    TeleportFinished: SessionCore._on_place,  # noqa: SLF001
    PostureChanged: SessionCore._on_posture,  # noqa: SLF001
    BalanceChanged: SessionCore._on_balance,  # noqa: SLF001
}
