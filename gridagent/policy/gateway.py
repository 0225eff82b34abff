"""The one place where an action is authorised: decide, redeem, settle, answer, hold.

Owns the order of a decision, the live generation, the kill switch, and the only mint of
`AuthorizedAction` in the code base (a test walks the source). One gateway an avatar; called by its
session, and through `redeem` by its backend; synchronous throughout, so nothing can come between a check
and its charge. It reads no clock and has no randomness: instants and tokens are given to it.

Its invariant is the promise of POL-2: no input causes a change of the world without an entry in the
ledger minted here for exactly that action, honoured at most once. Code inside the process is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NoReturn

import msgspec

from gridagent.actions import Action, InDoubt, Outcome, Refused, Resource
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal, Role
from gridagent.errors import AuthorityRefused, InternalError, OperatorError
from gridagent.ids import ApprovalId, EffectKey, Generation
from gridagent.policy.approvals import Approval, ApprovalInput
from gridagent.policy.audit import AuditKind, AuditSink, BudgetMark
from gridagent.policy.authorized import _MINT, AuthorizedAction
from gridagent.policy.budgets import BudgetBook, BudgetSnapshot, Short
from gridagent.policy.canonical import Canonical, canonicalise, effect_key
from gridagent.policy.decisions import (
    AnswerCode,
    ApprovalAnswer,
    Authorized,
    Decision,
    Denied,
    Ended,
    Instant,
    NeedsApproval,
    RedeemRefusal,
)
from gridagent.policy.desk import Answerer, ApprovalDesk
from gridagent.policy.journal import Journal
from gridagent.policy.ledger import EffectRecord, EffectState, Entry, Ledger
from gridagent.policy.policy import Policy
from gridagent.policy.rules import CAPACITY, RULES, Question
from gridagent.policy.status import GatewayStatus

__all__ = ("Gateway",)

_NOTHING_BUSY: Final[frozenset[Resource]] = frozenset()
_TRUSTED: Final = Role.TRUSTED.rank
_DRY: Final = Refused(reason=RedeemRefusal.DRY_RUN.value)
_TURNED_DOWN: Final = Denied(code=DenialCode.APPROVAL_DENIED, rule="approval")
_PASSING: Final = frozenset({DenialCode.HELD, DenialCode.NOT_READY, DenialCode.RESOURCE_BUSY, DenialCode.LEDGER_FULL})
"""Reasons that go away by themselves: a yes that meets one is not used up."""


class Gateway:
    """Decides for one avatar.

    Args:
        policy: what is in force until `replace_policy`.
        tokens: source of ids and nonces: unguessable, at most 64 characters, never the same twice.
        audit: takes each audit row; one that raises stops what was being decided.
        budgets: what earlier runs of this avatar have used up, from `budget_snapshot`.
    """

    __slots__ = (
        "_budgets",
        "_desk",
        "_generation",
        "_held",
        "_journal",
        "_last_generation",
        "_ledger",
        "_policy",
    )

    def __init__(
        self,
        policy: Policy,
        *,
        tokens: Callable[[], str],
        audit: AuditSink,
        budgets: BudgetSnapshot | None = None,
    ) -> None:
        self._policy = policy
        self._journal = Journal(audit, policy.version)
        self._budgets = (
            BudgetBook(policy.budgets, pool_of=policy.roles.pool)
            if budgets is None
            else BudgetBook.restore(policy.budgets, budgets, pool_of=policy.roles.pool)
        )
        self._ledger = Ledger()
        self._desk = ApprovalDesk(tokens, self._journal)
        self._generation: Generation | None = None
        self._last_generation = Generation(0)
        self._held = False

    # --- generations ------------------------------------------------------------------------------

    def open_generation(self, generation: Generation) -> None:
        """Let actions of this connection through from now on (Spec: SUP-5).

        Raises:
            InternalError: another one is live, or this one isn't newer than the last.
        """
        if self._generation is not None or generation <= self._last_generation:
            raise InternalError(
                f"generation {generation} opened after {self._last_generation}, with {self._generation} live"
            )
        self._generation = self._last_generation = generation

    def close_generation(self, generation: Generation, now: Instant) -> tuple[Ended, ...]:
        """Let nothing through any more; unredeemed authorisations die. Waiting approvals stay.

        Returns:
            What was settled by it. Closing a generation that isn't live changes nothing.
        """
        if self._generation != generation:
            return ()
        self._generation = None
        return self._kill(self._ledger.unredeemed(), RedeemRefusal.STALE_GENERATION, now)

    # --- decide -----------------------------------------------------------------------------------

    def decide(self, request: ActionRequest, now: Instant, *, busy: frozenset[Resource] = _NOTHING_BUSY) -> Decision:
        """Answer one request.

        Args:
            request: what is asked for.
            now: both clocks.
            busy: resources that the session knows to be in use.

        Returns:
            Authorised (charged, reserved and recorded), denied, or parked for a person.

        Bounds: a denial leaves budgets and ledger as they were.
        """
        return self._decide(request, now, busy, None)

    def _decide(
        self, request: ActionRequest, now: Instant, busy: frozenset[Resource], approved: Approval | None
    ) -> Decision:
        canonical = canonicalise(request.action)
        if isinstance(canonical, Denied):
            return self._deny(canonical, request, None, now)
        policy = self._policy
        role = policy.roles.role(request.principal, request.origin)
        question = Question(
            request=request,
            canonical=canonical,
            effect=effect_key(request, canonical),
            role=role,
            rank=role.rank,
            withdraws=canonical.verb.withdraws(canonical.action),
            policy=policy,
            ledger=self._ledger,
            live=self._generation,
            held=self._held,
            busy=busy,
        )
        ask = ""
        for rule in RULES:
            finding = rule(question)
            if finding is not None:
                if isinstance(finding, Denied):
                    return self._deny(finding, request, canonical, now)
                ask = ask or finding.rule
        if ask and approved is None and not question.operators_own:
            return self._park(question, ask, now)
        for rule in CAPACITY:
            finding = rule(question)
            if isinstance(finding, Denied):
                return self._deny(finding, request, canonical, now)
        charged = self._charge(question, now, commit=True)
        if isinstance(charged, Short):
            return self._deny(charged.denied, request, canonical, now, charged.marks)
        return self._authorize(question, charged, now, approved)

    def _authorize(
        self, question: Question, charged: tuple[BudgetMark, ...], now: Instant, approved: Approval | None
    ) -> Authorized:
        """Record and mint; nothing here can refuse any more."""
        request, canonical, policy = question.request, question.canonical, self._policy
        rule = policy.cells[request.origin][canonical.verb.capability][1] if approved is None else approved.rule
        entry = Entry(
            effect=question.effect,
            canonical=canonical,
            request=request,
            role=question.role,
            rule=rule,
            handle=AuthorizedAction(_MINT),
            generation=request.generation,
            expires_at=now.monotonic + policy.handle_ttl_s,
        )
        # Recorded before it is reserved: a row that cannot be written stops the action.
        self._journal.decision(
            "authorized",
            now,
            rule=rule,
            request=request,
            canonical=canonical,
            role=question.role,
            marks=charged,
            effect=question.effect,
            approval=approved,
        )
        if policy.dry_run:
            self._ledger.remember_dry(entry, _DRY)
            self._journal.settlement(entry, now)
        else:
            self._ledger.reserve(entry)
        return Authorized(
            handle=entry.handle,
            effect=question.effect,
            action=canonical.action,
            deadline_s=canonical.verb.deadline_s,
            rule=rule,
            dry_run=policy.dry_run,
            correlation=request.correlation,
        )

    def _charge(self, question: Question, now: Instant, *, commit: bool) -> tuple[BudgetMark, ...] | Short:
        canonical = question.canonical
        verb = canonical.verb
        return self._budgets.charge(
            verb.charges(canonical.action, question.request.travel_m),
            now,
            key=question.request.principal.key,
            stranger=question.rank < _TRUSTED,
            peer=getattr(canonical.action, verb.peer) if verb.peer else None,
            commit=commit,
        )

    def _deny(
        self,
        denied: Denied,
        request: ActionRequest,
        canonical: Canonical | None,
        now: Instant,
        marks: tuple[BudgetMark, ...] = (),
    ) -> Denied:
        self._journal.decision(
            denied.code.value,
            now,
            rule=denied.rule,
            request=request,
            canonical=canonical,
            role=self._policy.roles.role(request.principal, request.origin),
            marks=marks,
        )
        return denied

    def _park(self, question: Question, rule: str, now: Instant) -> Decision:
        """Let a request wait for a person, if it could be carried out at all."""
        request, canonical = question.request, question.canonical
        earlier = self._desk.asked_before(question.effect, now)
        if isinstance(earlier, Denied):
            return self._deny(earlier, request, canonical, now)
        if earlier is None:
            short = self._charge(question, now, commit=False)
            if isinstance(short, Short):
                return self._deny(short.denied, request, canonical, now, short.marks)
            if (full := self._desk.room_for(request.principal.key)) is not None:
                return self._deny(full, request, canonical, now)
        approval = earlier or self._desk.open(question, rule, now)
        self._journal.decision(
            "needs_approval",
            now,
            rule=approval.rule,
            request=request,
            canonical=canonical,
            role=question.role,
            effect=approval.effect,
            approval=approval,
        )
        if earlier is None:
            self._desk.park(approval)
        return NeedsApproval(
            approval_id=approval.approval_id,
            rule=approval.rule,
            summary=approval.summary,
            expires_at=approval.expires_at,
        )

    # --- redeem and settle ------------------------------------------------------------------------

    def redeem(self, handle: AuthorizedAction, *, generation: Generation, now: Instant) -> EffectRecord:
        """Use a handle up and return what it stands for; the caller encodes and sends without an await.

        Args:
            handle: recognised by identity; anything but the very object that was minted is refused.
            generation: the connection of the backend that asks.
            now: both clocks.

        Raises:
            AuthorityRefused: with a `RedeemRefusal`. A live handle that is refused dies of it, and its
                effect is settled as refused: nothing was sent.
        """
        if type(handle) is not AuthorizedAction:
            self._refuse(RedeemRefusal.FORGED, generation, now)
        entry = self._ledger.alive(handle)
        if entry is None:
            self._refuse(self._ledger.epitaph(handle), generation, now)
        # Hold, close and a new policy kill their handles at once, so none of them need be asked here.
        if generation != entry.generation:
            self._refuse(RedeemRefusal.STALE_GENERATION, generation, now, entry)
        if now.monotonic >= entry.expires_at:
            self._refuse(RedeemRefusal.EXPIRED, generation, now, entry)
        record = entry.record()
        self._ledger.send(entry)
        return record

    def _refuse(
        self, refusal: RedeemRefusal, generation: Generation, now: Instant, entry: Entry | None = None
    ) -> NoReturn:
        self._journal.refusal(refusal, now, generation=generation, entry=entry)
        if entry is not None:
            self._kill((entry,), refusal, now)
        raise AuthorityRefused(refusal.value)

    def settle(self, effect: EffectKey, outcome: Outcome, now: Instant) -> bool:
        """Take note of how an effect ended; of one in doubt also later, by evidence or by hand.

        Returns:
            Whether it counted. An unknown effect, one that has ended, and a confirmation or doubt of one
            that was never sent change nothing.
        """
        entry = self._ledger.find(effect)
        if entry is None or not self._ledger.settle(entry, outcome):
            return False
        self._journal.settlement(entry, now)
        return True

    def abandon(self, effect: EffectKey, reason: str, now: Instant) -> Outcome | None:
        """Settle an effect nobody waits for any more, by what the ledger knows of it (Fault: 28).

        Args:
            effect: the effect whose worker was cancelled or failed.
            reason: stable code, at most 64 characters.
            now: both clocks.

        Returns:
            Refused when nothing was sent, in doubt when it was; None when it had ended already. What was
            charged stays charged.
        """
        entry = self._ledger.find(effect)
        if entry is None or entry.state not in {EffectState.RESERVED, EffectState.SENT}:
            return None
        outcome: Outcome = Refused(reason=reason) if entry.state is EffectState.RESERVED else InDoubt(reason=reason)
        self.settle(effect, outcome, now)
        return outcome

    def action_in_doubt(self, effect: EffectKey) -> Action | None:
        """Return the action of an effect that is in doubt; None for any other."""
        entry = self._ledger.find(effect)
        return entry.canonical.decode() if entry is not None and entry.state is EffectState.IN_DOUBT else None

    def _kill(self, entries: Iterable[Entry], refusal: RedeemRefusal, now: Instant) -> tuple[Ended, ...]:
        killed = []
        for entry in entries:
            self._ledger.kill(entry, refusal)
            self._journal.settlement(entry, now)
            killed.append(
                Ended(
                    how=refusal.value,
                    correlation=entry.request.correlation,
                    effect=entry.effect,
                    action=entry.canonical.action,
                    outcome=entry.outcome,
                )
            )
        return tuple(killed)

    # --- approvals --------------------------------------------------------------------------------

    def nonce_of(self, approval_id: ApprovalId) -> str | None:
        """Return the nonce of a waiting approval, for the one IM that asks an authorised avatar.

        It must reach nobody else: no observation, no prompt, no log.
        """
        return self._desk.nonce_of(approval_id)

    def answer(
        self,
        approval_id: ApprovalId,
        *,
        allow: bool,
        by: Principal,
        via: Origin,
        nonce: str | None,
        now: Instant,
        busy: frozenset[Resource] = _NOTHING_BUSY,
    ) -> ApprovalAnswer:
        """Take a person's answer; a yes is decided again under today's state (Spec: POL-7).

        Args:
            approval_id: what is answered.
            allow: yes or no.
            by: who answers.
            via: the door it came through: the operator's needs no nonce, direct IM needs one, no other counts.
            nonce: what the IM that asked had in it.
            now: both clocks.
            busy: resources that the session knows to be in use.

        Returns:
            What became of it. Unless it was accepted, nothing changed.
        """
        who = Answerer(by=by, via=via, role=self._policy.roles.role(by, via), nonce=nonce)
        approval = self._desk.receive(approval_id, who, now, self._policy.approvers)
        if isinstance(approval, AnswerCode):
            return ApprovalAnswer(approval_id=approval_id, code=approval)
        # The arguments are taken from the bytes that were shown, whatever became of any copy since.
        live = approval.request.generation if self._generation is None else self._generation
        request = msgspec.structs.replace(approval.request, action=approval.canonical.decode(), generation=live)
        decision: Decision = _TURNED_DOWN
        code, given = AnswerCode.DENIED, ApprovalInput.REFUSE
        if allow:
            decision = self._decide(request, now, busy, approval)
            if isinstance(decision, Denied) and decision.code in _PASSING:
                self._desk.report(approval, AnswerCode.NOT_NOW, who, now)
                return ApprovalAnswer(
                    approval_id=approval_id, code=AnswerCode.NOT_NOW, decision=decision, request=request
                )
            if isinstance(decision, Authorized):
                code, given = AnswerCode.ALLOWED, ApprovalInput.CLAIM
            else:
                code = AnswerCode.REFUSED
        self._desk.answered(approval, given, code, who, now)
        return ApprovalAnswer(approval_id=approval_id, code=code, accepted=True, decision=decision, request=request)

    def cancel_cause(self, cause: str, now: Instant) -> tuple[Ended, ...]:
        """End everything a cancelled turn still has open: approvals, and authorisations nobody redeemed.

        Returns:
            What was ended. What was sent already can't be called back.
        """
        entries = [entry for entry in self._ledger.unredeemed() if entry.request.cause == cause]
        return (*self._desk.end_of_cause(cause, now), *self._kill(entries, RedeemRefusal.CANCELLED, now))

    # --- hold, time, policy -----------------------------------------------------------------------

    @property
    def held(self) -> bool:
        """Whether the kill switch is on."""
        return self._held

    def hold(self, now: Instant) -> tuple[Ended, ...]:
        """Throw the kill switch: nothing passes, and nothing authorised is honoured (Spec: POL-12).

        Returns:
            The authorisations that died of it. Approvals go on waiting.
        """
        if not self._held:
            self._held = True
            self._journal.note(AuditKind.HOLD, "held", now)
        return self._kill(self._ledger.unredeemed(), RedeemRefusal.HELD, now)

    def release(self, now: Instant) -> None:
        """Let the avatar act again; what died of the hold stays dead."""
        if self._held:
            self._held = False
            self._journal.note(AuditKind.HOLD, "released", now)

    def expire(self, now: Instant) -> tuple[Ended, ...]:
        """End every approval and authorisation whose time is up."""
        entries = [entry for entry in self._ledger.unredeemed() if now.monotonic >= entry.expires_at]
        return (*self._desk.end_due(now), *self._kill(entries, RedeemRefusal.EXPIRED, now))

    def next_deadline(self) -> float | None:
        """Return when `expire` has something to do next, in monotonic seconds."""
        due = (self._desk.next_deadline(), self._ledger.next_deadline())
        return min((at for at in due if at is not None), default=None)

    def replace_policy(self, policy: Policy, now: Instant) -> tuple[ApprovalId, ...]:
        """Put another policy in force; what was decided or asked under the old one no longer counts.

        Budgets go on counting what was used.

        Returns:
            The waiting approvals that it superseded.

        Raises:
            OperatorError: it names other avatars; roles never change while a session lives (Spec: SUP-8).
        """
        if policy.roles != self._policy.roles:
            raise OperatorError("roles cannot change while the avatar runs; restart it to authorise other avatars")
        if policy.version == self._policy.version:
            return ()
        self._policy = policy
        self._journal.policy = policy.version
        self._budgets = self._budgets.under(policy.budgets)
        self._journal.note(AuditKind.POLICY, "replaced", now)
        self._kill(self._ledger.unredeemed(), RedeemRefusal.SUPERSEDED, now)
        ended = self._desk.end_all(ApprovalInput.SUPERSEDE, now)
        return tuple(one.approval_id for one in ended if one.approval_id is not None)

    # --- looking ----------------------------------------------------------------------------------

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._policy

    def budget_snapshot(self) -> BudgetSnapshot:
        """Return what a restart must not forget of the budgets."""
        return self._budgets.snapshot()

    def status(self) -> GatewayStatus:
        """Return what an operator may want to know."""
        return GatewayStatus(
            policy=self._policy.version,
            generation=self._generation,
            held=self._held,
            dry_run=self._policy.dry_run,
            budgets=self._budgets.gauges(),
            principals=self._budgets.principals(),
            approvals=self._desk.views(),
            open_effects=self._ledger.open_count(),
            in_doubt=self._ledger.in_doubt(),
            decisions=dict(self._journal.tally),
        )
