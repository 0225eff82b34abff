"""The two server families as data."""

from __future__ import annotations

import msgspec

from live_grid.simulator.profiles import OPENSIM, PROFILES, SECOND_LIFE


def test_each_family_is_found_by_its_name() -> None:
    """Profiles are chosen by the name they bear. Spec: LIV-15."""
    assert {"opensim": OPENSIM, "secondlife": SECOND_LIFE} == PROFILES


def test_the_families_differ_where_they_are_known_to_differ() -> None:
    """How polls are held and acknowledged, sizes, numbers, failures and stored messages. Spec: LIV-15."""
    one, other = msgspec.structs.asdict(OPENSIM), msgspec.structs.asdict(SECOND_LIFE)
    same = {name for name in one if one[name] == other[name]}
    assert same == {"answers_balance"}  # both do; it can be turned off for either
    assert OPENSIM.poll_hold_s > 50 > SECOND_LIFE.poll_hold_s
    assert "EventQueueGet" in OPENSIM.capabilities
    assert "EventQueueGet" in SECOND_LIFE.capabilities
