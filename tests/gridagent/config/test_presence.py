"""The section ``presence`` (Spec: PRS-1 … PRS-5)."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.config.model import AvatarConfig, Config
from gridagent.config.presence import PresenceSection
from gridagent.config.reload import diff_for_reload
from gridagent.errors import LimitExceeded

SOMEBODY = "00000000-0000-4000-8000-00000000000a"


def test_by_default_an_avatar_only_speaks_when_spoken_to() -> None:
    """Joining in, moderation by a model and disclosure are the operator's choice. Spec: PRS-1, PRS-5."""
    section = PresenceSection()
    assert section.ambient_probability == 0.0
    assert not section.moderate_by_model
    assert not section.disclose


@pytest.mark.parametrize(
    "given",
    [
        {"ambient_probability": 1.1},
        {"ambient_per_hour": 0},
        {"turns_per_bot": -1},
        {"turns_per_person": 1_001},
        {"quiet_max_s": float("inf")},
        {"speech_parts_max": 0},
        {"muted": ["Robin Resident"]},
        {"muted": [SOMEBODY] * 257},
        {"ambient": True},
    ],
)
def test_no_key_takes_what_is_out_of_bounds(given: dict[str, object]) -> None:
    """Rates are finite, lists are bounded, people are UUIDs, and an unknown key is refused. Spec: PRS-2, POL-4."""
    with pytest.raises((msgspec.ValidationError, LimitExceeded)):
        msgspec.convert(given, PresenceSection)


def test_presence_changes_while_the_service_runs() -> None:
    """Both the shared section and an avatar's own are taken over live. Spec: SUP-8."""
    own = AvatarConfig(first_name="Robin", presence=PresenceSection(quiet_s=60.0))
    new = Config(avatars={"robin": own}, presence=PresenceSection(hearing_m=10.0))
    plan = diff_for_reload(Config(), new)
    assert set(plan.live) == {"avatars.robin.presence", "presence.hearing_m"}
    assert not plan.refused
    assert plan.config == new
