"""The words of the sections ``policy`` and ``roles``."""

from __future__ import annotations

import msgspec
import pytest

from gridagent import limits
from gridagent.actions import Capability
from gridagent.config.policy import (
    METER_CEILINGS,
    PEER_METERS,
    Admission,
    BudgetScope,
    Meter,
    PolicySection,
    RolesSection,
)


def decode(text: str) -> PolicySection:
    """Decode a section as the loader does."""
    return msgspec.json.decode(text, type=PolicySection)


def test_an_empty_section_is_the_safest() -> None:
    """Nothing written means the observer, with approvals and times at their defaults, and nobody authorised."""
    section = decode("{}")
    assert section == PolicySection()
    assert (section.preset.value, section.dry_run, section.approvers.value) == ("observer", False, "owner")
    assert (section.matrix, section.budgets, section.patterns) == ({}, {}, {})
    assert RolesSection() == RolesSection(owners=(), trusted=())


def test_two_sections_share_no_default() -> None:
    """Each section has its own empty tables."""
    assert PolicySection().matrix is not PolicySection().matrix


@pytest.mark.parametrize(
    "text",
    [
        '{"presets": "guide"}',
        '{"preset": "god"}',
        '{"matrix": {"front_door": {"speak": "anyone"}}}',
        '{"matrix": {"public_chat": {"shout": "anyone"}}}',
        '{"matrix": {"public_chat": {"speak": "everyone"}}}',
        '{"matrix": {"public_chat": {"speak": true}}}',
        '{"approvals": {"money": "never"}}',
        '{"tainted": {"money": "maybe"}}',
        '{"target_from": {"money": ["hearsay"]}}',
        '{"target_from": {"money": ["model", "model", "model", "model"]}}',
        '{"budgets": {"gold": []}}',
        '{"budgets": {"linden": [{"per": "global", "limit": -1, "window_s": 60}]}}',
        '{"budgets": {"linden": [{"per": "global", "limit": 1.5, "window_s": 60}]}}',
        '{"budgets": {"linden": [{"per": "global", "limit": 1, "window_s": 0}]}}',
        '{"budgets": {"linden": [{"per": "global", "limit": 1, "window_s": 2678401}]}}',
        '{"budgets": {"linden": [{"per": "global", "limit": 1}]}}',
        '{"budgets": {"linden": [' + ",".join(['{"per": "global", "limit": 1, "window_s": 60}'] * 5) + "]}}",
        '{"patterns": {"": {"then": "off"}}}',
        '{"patterns": {"' + "n" * 49 + '": {"then": "off"}}}',
        '{"patterns": {"x": {"action": "say", "argument": "text", "regex": ".*", "then": "deny"}}}',
        '{"handle_ttl_s": 0}',
        '{"handle_ttl_s": 301}',
        '{"approval_ttl_s": 86401}',
        '{"dry_run": 1}',
        '{"approvers": "anyone"}',
    ],
)
def test_words_that_are_not_in_the_vocabulary_are_refused(text) -> None:
    """Unknown fields, cells, meters, matchers and values out of bounds fail at once. Spec: CFG-1, POL-14."""
    with pytest.raises(msgspec.ValidationError):
        decode(text)


def test_the_ceilings_hold_when_a_section_is_built_by_hand() -> None:
    """More authorised avatars than there may be cannot even be constructed. Spec: BND-14."""
    with pytest.raises(limits.LimitExceeded):
        RolesSection(owners=("x",) * (limits.AUTHORISED_AVATARS_MAX + 1))


def test_every_meter_has_a_ceiling() -> None:
    """No budget can be without a numeric hard ceiling. Spec: BND-13."""
    assert set(METER_CEILINGS) == set(Meter)
    assert all(ceiling > 0 for ceiling in METER_CEILINGS.values())
    assert METER_CEILINGS[Meter.LINDEN] == limits.BUDGET_LINDEN_MAX
    assert set(Meter) > PEER_METERS


def test_every_acting_capability_has_a_meter_of_its_calls() -> None:
    """Calls are budgeted per capability; looking has none, because looking causes nothing. Spec: POL-6."""
    calls = {meter.value.removeprefix("calls.") for meter in Meter if meter.value.startswith("calls.")}
    assert calls == {capability.value for capability in Capability} - {"observe"}


def test_cells_are_ordered_from_nobody_to_everybody() -> None:
    """The words of a cell and of a scope are these, in this order."""
    assert [cell.value for cell in Admission] == ["deny", "owner", "trusted", "anyone"]
    assert [scope.value for scope in BudgetScope] == ["principal", "peer", "strangers", "global"]
