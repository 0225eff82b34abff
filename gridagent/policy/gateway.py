"""The one place where an action is authorised: decide, answer, restore; what follows is its `Custody`.

Owns the order of a decision and the only mint of `AuthorizedAction` in the code base (a test walks the
source). One gateway an avatar; called by its session, and through `redeem` by its backend; synchronous
throughout, so nothing can come between a check and its charge. It reads no clock and has no randomness:
instants and tokens are given to it.

Its invariant is the promise of POL-2: no input causes a change of the world without an entry in the
ledger minted here for exactly that action, honoured at most once. Code inside the process is trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gridagent.actions import Refused, Resource
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal
from gridagent.errors import OperatorError
from gridagent.ids import ApprovalId
from gridagent.policy.approval_im import ImAnswer
from gridagent.policy.approvals import Approval
from gridagent.policy.audit import AuditKind, AuditSink, BudgetMark
from gridagent.policy.authorized import _MINT, AuthorizedAction
from gridagent.policy.budgets import BudgetBook, BudgetSnapshot, Short
from gridagent.policy.canonical import Canonical, canonicalise, effect_key, request_to_keep
from gridagent.policy.changes import (
    BudgetsReplaced,
    ChangeSink,
    GatewaySnapshot,
)
from gridagent.policy.custody import Custody
from gridagent.policy.decisions import (
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
from gridagent.policy.grant_desk import GrantDesk
from gridagent.policy.grants import GrantBook, GrantUse
from gridagent.policy.journal import Journal
from gridagent.policy.ledger import Entry
from gridagent.policy.policy import Policy
from gridagent.policy.revival import Revival, stored_effects
from gridagent.policy.rules import CAPACITY, RULES, Question
from gridagent.policy.status import GatewayStatus
from gridagent.policy.verbs import Charges

__all__ = ("Gateway",)

_NOTHING_BUSY: Final[frozenset[Resource]] = frozenset()
_DRY: Final = Refused(reason=RedeemRefusal.DRY_RUN.value)
_TURNED_DOWN: Final = Denied(code=DenialCode.APPROVAL_DENIED, rule="approval")


class Gateway(Custody):
    """Decides for one avatar.

    Args:
        policy: what is in force until `replace_policy`.
        tokens: source of ids and nonces: unguessable, at most 64 characters, never the same twice.
        audit: takes each audit row; one that raises stops what was being decided.
        budgets: what earlier runs of this avatar have used up, from `budget_snapshot`.
        changes: takes each change that a restart must not forget, before it can be seen from outside.
        intents: honour a handle of what costs something only after `intend` was called for it.
    """

    __slots__ = ("_budgets", "_desk", "_grants", "_policy", "grants")

    def __init__(
        self,
        policy: Policy,
        *,
        tokens: Callable[[], str],
        audit: AuditSink,
        budgets: BudgetSnapshot | None = None,
        changes: ChangeSink | None = None,
        intents: bool = False,
    ) -> None:
        super().__init__(Journal(audit, policy.version, changes), intents=intents)
        self._policy = policy
        self._budgets = (
            BudgetBook(policy.budgets, pool_of=policy.roles.pool)
            if budgets is None
            else BudgetBook.restore(policy.budgets, budgets, pool_of=policy.roles.pool)
        )
        self._desk = ApprovalDesk(tokens, self._journal)
        self._grants = GrantBook(self._budgets.clock)
        self.grants = GrantDesk(self._grants, tokens, self._journal, lambda: self._policy)
        """Where the operator gives schedule grants and takes them back (Spec: POL-8)."""

    @classmethod
    def restore(
        cls,
        policy: Policy,
        snapshot: GatewaySnapshot,
        now: Instant,
        *,
        tokens: Callable[[], str],
        audit: AuditSink,
        changes: ChangeSink | None = None,
        intents: bool = False,
    ) -> tuple[Gateway, tuple[Ended, ...]]:
        """Return a gateway that goes on where an earlier one ended or was cut off (Spec: EFX-2, POL-7).

        Args:
            policy: what is in force now; it may be another one.
            snapshot: from `Gateway.snapshot` or `gridagent.policy.history.History`.
            now: both clocks.
            tokens: as for a new gateway; also never the same as before the restart.
            audit: takes a row for everything that the restart ended.
            changes: takes each change, beginning with what the restart changed.
            intents: as for a new gateway.

        Returns:
            The gateway, and what the restart ended: effects that were never sent (``not_sent``), effects in
            doubt (``crashed``), approvals and grants that are over. Somebody should be told.

        Raises:
            OperatorError: an open effect is not what its key says.
            LimitExceeded: the budgets name more principals than there may be.
        """
        self = cls(policy, tokens=tokens, audit=audit, budgets=snapshot.budgets, changes=changes, intents=intents)
        self._last_generation, self._held = snapshot.generation, snapshot.held
        self._budgets.clock.advance(now)
        self._journal.keep(BudgetsReplaced(budgets=self._budgets.snapshot()))
        revival = Revival(now, self._budgets.clock, ledger=self._ledger, journal=self._journal)
        cut_off = revival.effects(snapshot)
        revival.approvals(snapshot.approvals, self._desk)
        revival.grants(snapshot.grants, self._grants)
        stale = self._desk.end_stale(policy.version, now)
        return self, (*cut_off, *stale, *self.expire(now), *self.grants.end_forbidden(now))

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

    def _decide(  # noqa: C901, PLR0911 - one step a rule, and no call more than must be
        self,
        request: ActionRequest,
        now: Instant,
        busy: frozenset[Resource],
        approved: Approval | None,
        by: str = "",
    ) -> Decision:
        canonical = canonicalise(request.action)
        if isinstance(canonical, Denied):
            return self._deny(canonical, request, None, now)
        if self._journal.keeps:
            kept = request_to_keep(request, canonical)
            if isinstance(kept, Denied):
                return self._deny(kept, request, canonical, now)
            request = kept
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
            grants=self._grants,
            now=now,
            live=self._generation,
            held=self._held,
            safe_mode=self._safe_mode,
            busy=busy,
        )
        ask = ""
        for rule in RULES:
            finding = rule(question)
            if finding is not None:
                if isinstance(finding, Denied):
                    return self._deny(finding, request, canonical, now)
                ask = ask or finding.rule
        # A grant that got here was found to match in every point.
        if ask and approved is None and request.grant is None and not question.operators_own:
            return self._park(question, ask, now)
        for rule in CAPACITY:
            finding = rule(question)
            if isinstance(finding, Denied):
                return self._deny(finding, request, canonical, now)
        charges = canonical.verb.charges(canonical.action, request.travel_m)
        charged = self._budgets.charge(charges, now, question.payer)
        if isinstance(charged, Short):
            return self._deny(charged.denied, request, canonical, now, charged.marks)
        return self._authorize(question, charges, charged, now, approved, by)

    def _authorize(
        self,
        question: Question,
        charges: Charges,
        charged: tuple[BudgetMark, ...],
        now: Instant,
        approved: Approval | None,
        by: str,
    ) -> Authorized:
        """Record and mint; nothing here can refuse any more."""
        request, canonical, policy = question.request, question.canonical, self._policy
        rule = policy.cells[request.origin][canonical.verb.capability][1] if approved is None else approved.rule
        use: GrantUse | None = None
        if request.grant is not None:
            rule, use = "grant", self._grants.count(request.grant, now)
        handle = AuthorizedAction(_MINT)
        entry = Entry(
            effect=question.effect,
            canonical=canonical,
            request=request,
            role=question.role,
            rule=rule,
            handle=handle,
            generation=request.generation,
            at=now.wall,
            expires_at=now.monotonic + policy.handle_ttl_s,
        )
        # Recorded before it is reserved: a row or a change that cannot be written stops the action.
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
        if approved is not None:
            self._desk.allow(approved, by, now)
        if self._journal.keeps:
            budgets = self._budgets.charged(charges, question.payer)
            self._journal.reserved(
                entry, now, charge=charges, budgets=budgets, approval=approved, grant=use, dry_run=policy.dry_run
            )
        if approved is not None:
            self._desk.claimed(approved)
        if policy.dry_run:
            self._ledger.remember_dry(entry)
            self._journal.settlement(entry, _DRY, now)
        else:
            self._ledger.reserve(entry)
        return Authorized(
            handle=handle,
            effect=question.effect,
            action=canonical.action,
            deadline_s=canonical.verb.deadline_s,
            rule=rule,
            dry_run=policy.dry_run,
            correlation=request.correlation,
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
        earlier = self._desk.asked_before(question.effect, now, self._policy)
        if isinstance(earlier, Denied):
            return self._deny(earlier, request, canonical, now)
        if earlier is None:
            charges = canonical.verb.charges(canonical.action, request.travel_m)
            short = self._budgets.charge(charges, now, question.payer, commit=False)
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

    # --- approvals --------------------------------------------------------------------------------

    def nonce_of(self, approval_id: ApprovalId) -> str | None:
        """Return the nonce of a waiting approval, for the one IM that asks an authorised avatar.

        It must reach nobody else: no observation, no prompt, no log.
        """
        return self._desk.nonce_of(approval_id)

    def is_nonce(self, nonce: str) -> bool:
        """Tell whether a nonce is that of a waiting approval, so that it can be kept from whoever it is not for."""
        return self._desk.is_nonce(nonce)

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
        approval = self._desk.receive(approval_id, who, now, self._policy)
        return self._conclude(approval, who, now, busy, allow=allow)

    def answer_im(
        self, answer: ImAnswer, *, by: Principal, now: Instant, busy: frozenset[Resource] = _NOTHING_BUSY
    ) -> ApprovalAnswer:
        """Take an answer that came over direct IM, where the nonce alone says what is answered.

        Args:
            answer: from `gridagent.policy.approval_im.parse_answer`.
            by: the avatar that sent the IM, by the UUID that the grid gave.
            now: both clocks.
            busy: resources that the session knows to be in use.

        Returns:
            What became of it; its id is empty when the nonce is nobody's. A wrong nonce counts for every
            approval that this avatar may answer, and after five of them only the operator can.
        """
        role = self._policy.roles.role(by, Origin.DIRECT_IM)
        who = Answerer(by=by, via=Origin.DIRECT_IM, role=role, nonce=answer.nonce)
        approval = self._desk.receive_im(answer.nonce, who, now, self._policy)
        return self._conclude(approval, who, now, busy, allow=answer.allow)

    def claim(
        self, approval_id: ApprovalId, now: Instant, *, busy: frozenset[Resource] = _NOTHING_BUSY
    ) -> ApprovalAnswer:
        """Use up a yes that was given before a restart and that nothing was done about (Spec: POL-7).

        Returns:
            As for `answer`. Status shows what can be claimed; where nobody has said yes, it is ``unknown``.
        """
        approval = self._desk.allowed_earlier(approval_id, now, self._policy)
        return self._conclude(approval, None, now, busy, allow=True)

    def _conclude(
        self,
        approval: Approval | ApprovalAnswer,
        who: Answerer | None,
        now: Instant,
        busy: frozenset[Resource],
        *,
        allow: bool,
    ) -> ApprovalAnswer:
        if isinstance(approval, ApprovalAnswer):
            return approval
        by = approval.by if who is None else who.by.key
        request = self._desk.request_now(approval, self._generation)
        decision = self._decide(request, now, busy, approval, by) if allow else _TURNED_DOWN
        return self._desk.conclude(approval, request, decision, who, now, allow=allow)

    def cancel_cause(self, cause: str, now: Instant) -> tuple[Ended, ...]:
        """End everything a cancelled turn still has open: approvals, and authorisations nobody redeemed.

        Returns:
            What was ended. What was sent already can't be called back.
        """
        entries = [entry for entry in self._ledger.unredeemed() if entry.request.cause == cause]
        dead = self._ledger.strike(entries, RedeemRefusal.CANCELLED)
        return (*self._desk.end_of_cause(cause, now), *self._journal.deaths(dead, now))

    # --- hold, time, policy -----------------------------------------------------------------------

    def expire(self, now: Instant) -> tuple[Ended, ...]:
        """End every approval, authorisation and grant whose time is up."""
        entries = [entry for entry in self._ledger.unredeemed() if now.monotonic >= entry.expires_at]
        dead = self._ledger.strike(entries, RedeemRefusal.EXPIRED)
        return (*self._desk.end_due(now), *self._journal.deaths(dead, now), *self.grants.end_due(now))

    def next_deadline(self) -> float | None:
        """Return when `expire` has something to do next, in monotonic seconds; grants need no such care."""
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
        budgets = self._budgets.under(policy.budgets)
        dead = self._ledger.strike(self._ledger.unredeemed(), RedeemRefusal.SUPERSEDED)
        self._policy, self._budgets = policy, budgets
        self._journal.policy = policy.version
        self._journal.note(AuditKind.POLICY, "replaced", now)
        self._journal.keep(BudgetsReplaced(budgets=budgets.snapshot()))
        self._journal.deaths(dead, now)
        self.grants.end_forbidden(now)
        ended = self._desk.end_stale(policy.version, now)
        return tuple(one.approval_id for one in ended if one.approval_id is not None)

    # --- looking ----------------------------------------------------------------------------------

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._policy

    def budget_snapshot(self) -> BudgetSnapshot:
        """Return what a restart must not forget of the budgets."""
        return self._budgets.snapshot()

    def snapshot(self) -> GatewaySnapshot:
        """Return all that a restart must not forget; handles and nonces are not among it."""
        return GatewaySnapshot(
            generation=self._last_generation,
            held=self._held,
            budgets=self._budgets.snapshot(),
            open_effects=stored_effects(self._ledger),
            ended_once=self._ledger.ended(once=True),
            ended_light=self._ledger.ended(once=False),
            approvals=self._desk.stored(),
            grants=self.grants.stored(),
        )

    def status(self) -> GatewayStatus:
        """Return what an operator may want to know."""
        return GatewayStatus(
            policy=self._policy.version,
            generation=self._generation,
            held=self._held,
            dry_run=self._policy.dry_run,
            safe_mode=self._safe_mode,
            budgets=self._budgets.gauges(),
            principals=self._budgets.principals(),
            approvals=self._desk.views(),
            grants=self.grants.views(),
            open_effects=self._ledger.open_count(),
            in_doubt=self._ledger.in_doubt(),
            decisions=dict(self._journal.tally),
        )
