"""Numbers of runs and connections only grow."""

from __future__ import annotations

from gridagent.ids import AvatarKey, Generation
from gridagent.storage.records import GenerationUsed


def test_a_connection_number_is_used_once(ledger, make) -> None:
    """A number applies when it is higher than any before, and the last one comes back at start. Spec: SUP-5."""
    use = [GenerationUsed(avatar=make.robin, number=Generation(number)) for number in (1, 2, 2, 1, 7)]
    assert ledger.write([use]) == [(True, True, False, False, True)]
    assert ledger.open_avatar(make.robin, 1.0).generation == 7


def test_each_opening_is_a_run_of_its_own(ledger, make) -> None:
    """Runs count up for each avatar apart, and a new avatar has had no connection."""
    runs = [ledger.open_avatar(AvatarKey(who), 1.0) for who in ("robin", "robin", "wren")]
    assert [each.run for each in runs] == [1, 2, 1]
    assert [each.generation for each in runs] == [0, 0, 0]
