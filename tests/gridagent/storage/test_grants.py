"""Schedule grants are used within their bounds, and each use counts before it leads to anything."""

from __future__ import annotations

import pytest

from gridagent.ids import EffectKey, GrantId
from gridagent.limits import SCHEDULE_GRANTS_MAX
from gridagent.storage import grants
from gridagent.storage.records import GrantRevoked, GrantRow, GrantUsed


def _used(effect: str, at: float, key: str = "grant-1"):
    return GrantUsed(grant_id=GrantId(key), effect=EffectKey(effect), at=at)


def _find(ledger, key="grant-1"):
    return ledger.read(lambda connection: grants.find(connection, GrantId(key)))


def test_a_grant_is_read_back_as_it_was_written(ledger, make) -> None:
    """What was allowed, for how long and how often survives a restart. Spec: POL-8."""
    record = make.given()
    assert ledger.write([(record, record)]) == [(True, False)]
    row = _find(ledger)
    assert row == GrantRow(given=record)
    assert row.grant_id == "grant-1"
    assert ledger.open_avatar(make.robin, 101.0).grants == (row,)


def test_each_use_counts_once_and_within_bounds(ledger, make) -> None:
    """Not before it is due, not more often than allowed, and the same effect counts once. Spec: POL-8."""
    uses = (_used("e1", 100.0), _used("e1", 100.0), _used("e2", 105.0), _used("e2", 110.0), _used("e3", 120.0))
    assert ledger.write([(make.given(), *uses)]) == [(True, True, True, False, True, False)]
    row = _find(ledger)
    assert (row.used, row.last_used_at, row.last_effect) == (2, 110.0, "e2")
    assert ledger.open_avatar(make.robin, 120.0).grants == ()
    assert ledger.write([(_used("e", 1.0, "unknown"),)]) == [(False,)]


@pytest.mark.parametrize("at", [99.0, 1_100.0])
def test_a_grant_counts_while_it_is_valid(ledger, make, at) -> None:
    """Before and after its time it allows nothing. Spec: POL-8."""
    assert ledger.write([(make.given(), _used("e", at))]) == [(True, False)]


def test_a_grant_that_was_taken_back_allows_nothing(ledger, make) -> None:
    """Revoking counts once and at once, and only for a grant there is. Spec: POL-8."""
    revoke = GrantRevoked(grant_id=GrantId("grant-1"), by="operator", at=150.0)
    unknown = GrantRevoked(grant_id=GrantId("unknown"), by="operator", at=150.0)
    records = (make.given(), revoke, revoke, unknown, _used("e", 200.0))
    assert ledger.write([records]) == [(True, True, False, False, False)]
    assert (_find(ledger).revoked_at, _find(ledger).revoked_by) == (150.0, "operator")
    assert _find(ledger).over(0.0)


def test_there_is_room_for_so_many_grants(ledger, make) -> None:
    """One more than may be is refused until one is over. Spec: BND-12."""
    many = [make.given(f"grant-{number}") for number in range(SCHEDULE_GRANTS_MAX + 1)]
    applied = ledger.write([many])[0]
    assert applied[:-1] == (True,) * SCHEDULE_GRANTS_MAX
    assert applied[-1] is False
    ledger.write([(GrantRevoked(grant_id=GrantId("grant-0"), by="operator", at=100.0),)])
    assert ledger.write([(many[-1], make.given("hers", avatar="wren"))]) == [(True, True)]


def test_grants_that_are_over_go(ledger, make) -> None:
    """A grant goes once it has been over for long enough. Spec: BND-16."""
    ledger.write([(make.given("a"), make.given("b"))])
    ledger.write([(GrantRevoked(grant_id=GrantId("a"), by="operator", at=150.0),)])
    connection = ledger.database.connection
    assert grants.drop_over(connection, before=150.0, most=10) == 0
    assert grants.drop_over(connection, before=151.0, most=10) == 1
    assert _find(ledger, "a") is None
    assert grants.drop_over(connection, before=1_101.0, most=10) == 1
