"""Schedule grants come back with their uses, and what ended stays ended."""

from __future__ import annotations

from gridagent.policy.changes import StoredGrant
from gridagent.policy.grants import GrantState
from gridagent.storage import grants


def test_a_grant_is_read_back_with_its_last_use(keep, snapshot, make) -> None:
    """A use goes along with the effect it leads to, or not at all. Spec: POL-8."""
    change = make.given()
    assert keep(change, change) == (True, False)
    assert snapshot().grants == (StoredGrant(grant=change.grant, state=GrantState.ACTIVE),)
    keep(make.reserved("a", grant=make.used(1)), make.reserved("b", grant=make.used(2)))
    assert keep(make.reserved("a", grant=make.used(9)), run=2) == (False,)
    assert snapshot().grants[0].use == make.used(2)


def test_a_grant_ends_once(keep, snapshot, make) -> None:
    """What ended stays ended, however it ended first. Spec: POL-8."""
    keep(make.given())
    again = make.ended(state=GrantState.EXPIRED)
    assert keep(make.ended(), again, make.ended("unknown")) == (True, False, False)
    assert snapshot().grants[0].state is GrantState.REVOKED


def test_usable_ones_come_behind_ended_ones(keep, snapshot, make, monkeypatch) -> None:
    """Usable ones all, the oldest first; of the ended ones the newest, as there is room. Spec: BND-12."""
    keep(*(make.given(key) for key in "abcd"))
    keep(make.ended("c"), make.ended("a"))
    assert [each.grant.grant_id for each in snapshot().grants] == ["c", "a", "b", "d"]
    monkeypatch.setattr(grants, "SCHEDULE_GRANTS_MAX", 3)
    assert [each.grant.grant_id for each in snapshot().grants] == ["a", "b", "d"]


def test_ended_grants_go(ledger, keep, snapshot, make) -> None:
    """A grant goes once it has been over for long enough. Spec: BND-16."""
    keep(make.given("a"), make.given("b"), make.ended("a", at=150.0))
    connection = ledger.database.connection
    assert grants.drop_ended(connection, before=150.0, most=10) == 0
    assert grants.drop_ended(connection, before=151.0, most=10) == 1
    assert [each.grant.grant_id for each in snapshot().grants] == ["b"]
