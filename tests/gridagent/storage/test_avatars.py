"""Numbers of runs and connections only grow, and a restart does not release what was held."""

from __future__ import annotations

from gridagent.ids import AvatarKey
from gridagent.policy.changes import GatewaySnapshot


def test_a_connection_number_is_used_once(keep, snapshot, make) -> None:
    """A number applies when it is higher than any before, and the last one comes back. Spec: SUP-5."""
    assert keep(*map(make.generation, (1, 2, 2, 1, 7))) == (True, True, False, False, True)
    assert snapshot().generation == 7


def test_each_opening_is_a_run_of_its_own(ledger) -> None:
    """Runs count up for each avatar apart, and of a new avatar nothing is known."""
    opened = [ledger.open_avatar(AvatarKey(who)) for who in ("robin", "robin", "wren")]
    assert [each.run for each in opened] == [1, 2, 1]
    assert {each.snapshot for each in opened} == {GatewaySnapshot()}


def test_held_stays_held(keep, snapshot, make) -> None:
    """The kill switch outlives the process until somebody releases it. Spec: POL-12."""
    assert keep(make.hold(True)) == (True,)
    assert snapshot().held
    assert not snapshot("wren").held
    keep(make.hold(False))
    assert not snapshot().held
