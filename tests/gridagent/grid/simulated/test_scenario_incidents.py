"""The timeline's words."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from gridagent.grid.simulated.scenario_incidents import Flood, Incident, Kick, RegionRestart, Stall

KINDS = get_args(Incident)


def test_every_incident_has_a_kind_of_its_own_and_a_moment() -> None:
    """Kick, restart, disconnect, stall, flood, alert and group notice can stand in a timeline. Spec: SIM-1."""
    tags = [kind.__struct_config__.tag for kind in KINDS]
    assert tags == ["kick", "region_restart", "disconnect", "stall", "flood", "alert", "group_im"]
    assert all("at_s" in kind.__struct_fields__ and "every_s" in kind.__struct_fields__ for kind in KINDS)


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        (Kick, {"kind": "kick", "at_s": -1, "avatar": "a"}),
        (Kick, {"kind": "kick", "at_s": 1, "every_s": 1, "avatar": "a"}),
        (RegionRestart, {"kind": "region_restart", "at_s": 1, "region": "r", "notice_s": 1e9}),
        (Stall, {"kind": "stall", "at_s": 1, "avatar": "a", "for_s": 0}),
        (Flood, {"kind": "flood", "at_s": 1, "avatar": "a", "messages": 1_000_000}),
        (Flood, {"kind": "flood", "at_s": 1, "avatar": "a", "over_s": 0}),
        (Kick, {"kind": "kick", "at_s": 1, "avatar": "a", "who": "b"}),
    ],
)
def test_incidents_are_bounded_and_closed(kind: type, raw: dict[str, object]) -> None:
    """Moments, pauses and sizes have ceilings; unknown keys are refused. Spec: SIM-1."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(raw, kind)
