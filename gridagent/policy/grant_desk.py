"""The desk where the operator gives schedule grants and takes them back (Spec: POL-8).

Owns who may give one and what one may allow; authorises nothing. Held by the gateway, called by the session.
Its invariants: only the operator gives grants; nothing is granted that the policy would not let through with
a person's yes; a change of policy ends each grant it no longer permits, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from gridagent.actions import Action, action_name
from gridagent.authority import DenialCode, Origin, Principal, Role
from gridagent.ids import GrantId
from gridagent.policy.audit import AuditKind
from gridagent.policy.canonical import Canonical, canonicalise
from gridagent.policy.changes import GrantEnded, GrantGiven, StoredGrant
from gridagent.policy.decisions import Denied, Ended, GrantAnswer, GrantCode, Instant
from gridagent.policy.grants import (
    GRANT_BYTES_MAX,
    GRANT_VALID_MAX_S,
    Grant,
    GrantBook,
    GrantInput,
    GrantRecord,
    GrantState,
    GrantTerms,
    GrantView,
)
from gridagent.policy.journal import Journal
from gridagent.policy.policy import Policy
from gridagent.policy.summary import summarise_for_approval

__all__ = ("GrantDesk",)

_DECODE: Final = msgspec.json.Decoder(Action).decode


class GrantDesk:
    """All grants of one avatar.

    Args:
        book: where they are kept.
        tokens: source of ids.
        journal: takes a row and a change for every step.
        policy: returns the policy in force.
    """

    __slots__ = ("_book", "_journal", "_policy", "_tokens")

    def __init__(
        self, book: GrantBook, tokens: Callable[[], str], journal: Journal, policy: Callable[[], Policy]
    ) -> None:
        self._book = book
        self._tokens = tokens
        self._journal = journal
        self._policy = policy

    def give(self, terms: GrantTerms, *, by: Principal, via: Origin, now: Instant) -> GrantAnswer:
        """Allow something to recur.

        Args:
            terms: what, for whom, how often, from when until when.
            by: who gives it; only the operator may.
            via: the door it came through; only the console counts.
            now: both clocks.

        Returns:
            The grant's id, or why there is none; then nothing changed.

        Bounds: `SCHEDULE_GRANTS_MAX` usable grants; one more is refused.
        """
        if not self._is_operator(by, via):
            return self._turned_away(GrantCode.WRONG_PERSON, by, via, now)
        checked = _checked(terms)
        if isinstance(checked, str):
            return GrantAnswer(code=GrantCode.INVALID, problem=checked)
        kept, forms = checked
        policy = self._policy()
        denied = _forbids(policy, kept.principal, (form.action for form in forms))
        if denied is not None:
            return GrantAnswer(code=GrantCode.DENIED, denied=denied)
        if not self._book.has_room():
            return GrantAnswer(code=GrantCode.FULL)
        grant = Grant(
            GrantRecord(
                grant_id=GrantId(self._tokens()),
                principal=kept.principal,
                action=forms[0].verb.name,
                allowed=tuple(form.raw for form in forms),
                summary=_summary(forms),
                times=kept.times,
                window_s=kept.window_s,
                valid_from=kept.valid_from,
                valid_until=kept.valid_until,
                given_by=by.key,
                given_at=now.wall,
                policy_version=policy.version,
            )
        )
        grant_id = grant.record.grant_id
        self._note(GrantCode.GIVEN.value, grant_id, by, via, now)
        self._journal.keep(GrantGiven(grant=grant.record))
        self._book.put(grant)
        return GrantAnswer(code=GrantCode.GIVEN, grant_id=grant_id)

    def revoke(self, grant_id: GrantId, *, by: Principal, via: Origin, now: Instant) -> GrantAnswer:
        """Take a grant back: from now on it admits nothing. What it led to already goes on."""
        if not self._is_operator(by, via):
            return self._turned_away(GrantCode.WRONG_PERSON, by, via, now)
        grant = self._book.find(grant_id)
        if grant is None:
            return self._turned_away(GrantCode.UNKNOWN, by, via, now)
        if grant.state is not GrantState.ACTIVE:
            return GrantAnswer(code=GrantCode.ENDED, grant_id=grant_id)
        self._end(grant, GrantInput.REVOKE, now, (by, via))
        return GrantAnswer(code=GrantCode.REVOKED, grant_id=grant_id)

    def views(self) -> tuple[GrantView, ...]:
        """Return the usable grants as status shows them."""
        return self._book.views()

    # --- what the gateway tells it ----------------------------------------------------------------

    def end_due(self, now: Instant) -> tuple[Ended, ...]:
        """End every grant whose time is up."""
        return self._end_each(self._book.over(now), GrantInput.EXPIRE, now)

    def end_forbidden(self, now: Instant) -> tuple[Ended, ...]:
        """End every grant that the policy in force no longer permits."""
        policy = self._policy()
        gone = [
            grant
            for grant in self._book.active()
            if _forbids(policy, grant.record.principal, map(_DECODE, grant.record.allowed)) is not None
        ]
        return self._end_each(gone, GrantInput.SUPERSEDE, now)

    def stored(self) -> tuple[StoredGrant, ...]:
        """Return every grant that is remembered, as it is kept."""
        return tuple(StoredGrant(grant=grant.record, state=grant.state, use=grant.use) for grant in self._book.all())

    # --- within -----------------------------------------------------------------------------------

    def _is_operator(self, by: Principal, via: Origin) -> bool:
        return via is Origin.OPERATOR_CONSOLE and self._policy().roles.role(by, via) is Role.OPERATOR

    def _turned_away(self, code: GrantCode, by: Principal, via: Origin, now: Instant) -> GrantAnswer:
        self._note(code.value, None, by, via, now)
        return GrantAnswer(code=code)

    def _note(self, code: str, grant_id: GrantId | None, by: Principal, via: Origin, now: Instant) -> None:
        role = self._policy().roles.role(by, via)
        self._journal.note(AuditKind.GRANT, code, now, by=by, via=via, role=role, grant_id=grant_id)

    def _end_each(self, grants: Iterable[Grant], given: GrantInput, now: Instant) -> tuple[Ended, ...]:
        ended = []
        for grant in grants:
            self._end(grant, given, now)
            ended.append(
                Ended(how=grant.state.value, grant_id=grant.record.grant_id, action=_DECODE(grant.record.allowed[0]))
            )
        return tuple(ended)

    def _end(self, grant: Grant, given: GrantInput, now: Instant, who: tuple[Principal, Origin] | None = None) -> None:
        self._book.move(grant, given)
        grant_id, code = grant.record.grant_id, grant.state.value
        by = "" if who is None else who[0].key
        self._journal.keep(GrantEnded(grant_id=grant_id, state=grant.state, by=by, at=now.wall))
        if who is None:
            self._journal.note(AuditKind.GRANT, code, now, grant_id=grant_id)
        else:
            self._note(code, grant_id, *who, now)


def _checked(terms: GrantTerms) -> tuple[GrantTerms, tuple[Canonical, ...]] | str:  # noqa: PLR0911 - one line a problem
    """Return a strict copy of the terms and the canonical form of each action, or what is wrong with them."""
    try:
        kept = msgspec.json.decode(msgspec.json.encode(terms), type=GrantTerms)
    except (msgspec.MsgspecError, AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        return f"the terms are not valid: {error}"
    forms = []
    for action in kept.actions:
        form = canonicalise(action)
        if isinstance(form, Denied):
            return f"{action_name(action)} has no valid arguments ({form.code.value})"
        forms.append(form)
    if len({form.verb for form in forms}) > 1:
        return "a grant is for one verb; give another grant for another one"
    if len({form.raw for form in forms}) < len(forms):
        return "an action is listed twice"
    if sum(len(form.raw) for form in forms) > GRANT_BYTES_MAX:
        return f"the actions of a grant have at most {GRANT_BYTES_MAX} bytes together"
    if not 0.0 <= kept.valid_from < kept.valid_until <= kept.valid_from + GRANT_VALID_MAX_S:
        return f"a grant is valid for some time, and for at most {GRANT_VALID_MAX_S} seconds"
    return kept, tuple(forms)


def _forbids(policy: Policy, principal: Principal, actions: Iterable[Action]) -> Denied | None:
    """Say why a policy would deny one of the actions to the principal's schedule whatever a person said."""
    role = policy.roles.role(principal, Origin.SCHEDULE)
    for action in actions:
        capability = action.spec.capability
        if not policy.admits(Origin.SCHEDULE, capability, role):
            return Denied(code=DenialCode.ROLE_TOO_LOW, rule=policy.cells[Origin.SCHEDULE][capability][1])
        for pattern in policy.patterns.get(type(action), ()):
            if not pattern.ask and pattern.matches(action):
                return pattern.denied
    return None


def _summary(forms: tuple[Canonical, ...]) -> str:
    more = f" or {len(forms) - 1} more" if len(forms) > 1 else ""
    return summarise_for_approval(forms[0].action) + more
