"""What a restart does to each thing that was kept: nothing lost, nothing twice, nothing lengthened.

Owns the way from a snapshot into a new gateway's books; decides nothing. `gridagent.policy.gateway` calls
it before anything else. Its invariants (Spec: EFX-2, POL-6, POL-7): an effect that was reserved is refused,
for nothing was sent; one that was sent is in doubt and never sent again; an approval waits no longer than
it would have; what is read back is believed only as far as its own bytes bear it out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from gridagent.actions import Action, InDoubt, Refused
from gridagent.errors import OperatorError
from gridagent.policy.approvals import APPROVAL, Approval, ApprovalInput
from gridagent.policy.canonical import Canonical, canonicalise, effect_key
from gridagent.policy.changes import (
    ApprovalMoved,
    GatewaySnapshot,
    GrantEnded,
    StoredApproval,
    StoredEffect,
    StoredGrant,
)
from gridagent.policy.decisions import Ended, Instant
from gridagent.policy.desk import ApprovalDesk
from gridagent.policy.grants import GRANT, Grant, GrantBook, GrantState
from gridagent.policy.journal import Journal
from gridagent.policy.ledger import EffectState, Entry, Ledger
from gridagent.policy.summary import summarise_for_approval
from gridagent.policy.windows import MICROSECONDS, BudgetClock

__all__ = ("CRASHED", "NOT_SENT", "Revival", "stored_effects")

NOT_SENT: Final = Refused(reason="not_sent")
"""The last run ended before it was sent."""
CRASHED: Final = InDoubt(reason="crashed")
"""The last run ended after it was sent and before evidence came."""

_DECODE: Final = msgspec.json.Decoder(Action).decode


def stored_effects(ledger: Ledger) -> tuple[StoredEffect, ...]:
    """Return every effect of a ledger that has not ended, as it is kept."""
    return tuple(
        StoredEffect(
            effect=entry.effect,
            effect_class=entry.canonical.verb.effect,
            canonical=entry.canonical.raw,
            request=msgspec.structs.replace(entry.request, action=entry.canonical.decode()),
            generation=entry.generation,
            role=entry.role,
            rule=entry.rule,
            at=entry.at,
            state=EffectState.SENT if entry.intended and entry.state is EffectState.RESERVED else entry.state,
        )
        for entry in ledger.unsettled()
    )


class Revival:
    """One restart.

    Args:
        now: both clocks.
        clock: the budget clock, which has seen ``now``: what waits is measured by the highest wall clock it saw.
        ledger: of the new gateway, empty.
        journal: takes a row and a change for everything that is settled.
    """

    __slots__ = ("_journal", "_ledger", "_now", "_wall")

    def __init__(self, now: Instant, clock: BudgetClock, *, ledger: Ledger, journal: Journal) -> None:
        self._now = now
        self._wall = clock.wall_high_us / MICROSECONDS
        self._ledger = ledger
        self._journal = journal

    def effects(self, snapshot: GatewaySnapshot) -> tuple[Ended, ...]:
        """Remember every effect, and settle what the last run left open.

        Raises:
            OperatorError: an open effect is not what its key says, or of a kind that this version doesn't know.
        """
        for once, ends in ((True, snapshot.ended_once), (False, snapshot.ended_light)):
            for effect in ends:
                self._ledger.recall_end(effect, once=once)
        cut_off: list[tuple[Entry, InDoubt | Refused]] = []
        for kept in snapshot.open_effects:
            entry = self._entry(kept)
            if entry.state is EffectState.IN_DOUBT:
                self._ledger.recall(entry)
            else:
                outcome = NOT_SENT if entry.state is EffectState.RESERVED else CRASHED
                self._ledger.settle(entry, outcome)
                cut_off.append((entry, outcome))
        return self._journal.deaths(cut_off, self._now)

    def _entry(self, kept: StoredEffect) -> Entry:
        canonical = _known(kept.canonical)
        if canonical is None or effect_key(kept.request, canonical) != kept.effect:
            raise OperatorError(
                f"the ledger's effect {kept.effect[:64]} cannot be read: its action is not what its key says, or"
                " unknown to this version; run the version that wrote it, or restore a backup"
            )
        return Entry(
            effect=kept.effect,
            canonical=canonical,
            request=kept.request,
            generation=kept.generation,
            role=kept.role,
            rule=kept.rule,
            handle=None,
            at=kept.at,
            expires_at=self._now.monotonic,
            state=kept.state,
        )

    def approvals(self, stored: Iterable[StoredApproval], desk: ApprovalDesk) -> None:
        """Let what waited go on waiting, for no longer than was left; remember how the rest ended."""
        waiting = []
        for kept in stored:
            approval, over = self._approval(kept), kept.state in APPROVAL.terminal
            if approval is not None and over:
                desk.recall(approval)
            elif approval is not None:
                waiting.append(approval)
            elif not over:
                given = (ApprovalInput.SUPERSEDE,)
                self._journal.keep(ApprovalMoved(approval_id=kept.opened.approval_id, given=given, at=self._now.wall))
        for approval in sorted(waiting, key=lambda each: each.expires_at):
            desk.recall(approval)

    def _approval(self, kept: StoredApproval) -> Approval | None:
        """Return an approval as it waits now; None when its arguments are not what its effect says."""
        opened = kept.opened
        canonical = _known(opened.canonical)
        if canonical is None or effect_key(opened.request, canonical) != opened.effect:
            return None
        # Never longer than it was opened for, whatever the clock says; a clock set back gives no time.
        left = min(opened.expires_at - opened.opened_at, opened.expires_at - self._wall)
        return Approval(
            approval_id=opened.approval_id,
            nonce=None,
            nonce_hash=opened.nonce_hash,
            request=opened.request,
            canonical=canonical,
            effect=opened.effect,
            rule=opened.rule,
            summary=summarise_for_approval(canonical.action),
            expires_at=self._now.monotonic + left,
            opened_wall=opened.opened_at,
            expires_wall=opened.expires_at,
            policy_version=opened.policy_version,
            state=kept.state,
            wrong_nonces=kept.wrong_nonces,
            by=kept.by,
        )

    def grants(self, stored: Iterable[StoredGrant], book: GrantBook) -> None:
        """Remember every grant; one of which the actions can't be read any more is superseded."""
        for kept in stored:
            state = kept.state
            if state not in GRANT.terminal and not all(_known(raw) for raw in kept.grant.allowed):
                state = GrantState.SUPERSEDED
                self._journal.keep(GrantEnded(grant_id=kept.grant.grant_id, state=state, at=self._now.wall))
            book.put(Grant(kept.grant, state=state, use=kept.use))


def _known(raw: bytes) -> Canonical | None:
    """Return the canonical form that bytes are; None when they are none, or of a verb nobody knows any more."""
    try:
        canonical = canonicalise(_DECODE(raw))
    except msgspec.MsgspecError:
        return None
    return canonical if isinstance(canonical, Canonical) and canonical.raw == raw else None
