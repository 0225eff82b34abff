"""A section laid over its preset, and the whole matrix walked against an expectation of its own."""

from __future__ import annotations

import itertools
import re

import msgspec
import pytest

from gridagent.actions import Capability
from gridagent.authority import DenialCode, Origin, Role
from gridagent.config.policy import Admission, PolicySection, Preset, RolesSection
from gridagent.errors import ConfigError
from gridagent.policy import Denied, Policy
from gridagent.policy.policy import merge, preset_section

RANKS = {"object": 0, "stranger": 1, "trusted": 2, "front": 2, "owner": 3, "operator": 4}
NEEDED = {"anyone": 1, "trusted": 2, "owner": 3, "deny": 99}


def section(**written) -> PolicySection:
    """Decode a section as the loader does."""
    return msgspec.convert(written, PolicySection)


@pytest.mark.parametrize("preset", list(Preset))
def test_the_whole_matrix_of_every_preset(preset) -> None:
    """Each origin, capability and role is let through exactly when the written cell says so. Spec: POL-4, OPS-9."""
    policy = Policy(section(preset=preset))
    written = msgspec.to_builtins(preset_section(preset).matrix)
    for origin, capability, role in itertools.product(Origin, Capability, Role):
        cell = "deny" if origin == "object_text" else written.get(origin.value, {}).get(capability.value, "deny")
        assert policy.admits(origin, capability, role) is (RANKS[role.value] >= NEEDED[cell])


@pytest.mark.parametrize(("origin", "capability"), list(itertools.product(Origin, Capability)))
@pytest.mark.parametrize("cell", list(Admission))
def test_one_cell_opens_one_door_for_one_capability(origin, capability, cell) -> None:
    """A written cell changes itself and no other; what is not listed is denied; objects never pass. Spec: POL-4."""
    if origin is Origin.OBJECT_TEXT and cell is not Admission.DENY:
        with pytest.raises(ConfigError):
            Policy(section(matrix={origin: {capability: cell}}))
        return
    policy = Policy(section(matrix={origin: {capability: cell}}))
    base = Policy()
    for other_origin, other, role in itertools.product(Origin, Capability, Role):
        if (other_origin, other) == (origin, capability):
            passes = RANKS[role.value] >= NEEDED[cell.value] and origin is not Origin.OBJECT_TEXT
            assert policy.admits(origin, capability, role) is passes
        else:
            assert policy.admits(other_origin, other, role) is base.admits(other_origin, other, role)


def test_object_text_passes_no_cell_even_when_one_was_written_past_the_check() -> None:
    """The compiled row of object text is closed whatever a section holds. Spec: POL-4. Fault: 15."""
    full = Policy().cells[Origin.OBJECT_TEXT]
    assert all(least > RANKS["operator"] for least, _ in full.values())


def test_an_observer_does_nothing_for_anybody_but_the_operator() -> None:
    """The default policy lets only looking through, and the operator's own requests. Spec: OPS-9."""
    policy = Policy()
    for origin, capability, role in itertools.product(Origin, Capability, Role):
        if policy.admits(origin, capability, role):
            assert capability is Capability.OBSERVE or origin is Origin.OPERATOR_CONSOLE


@pytest.mark.parametrize("preset", list(Preset))
def test_dangerous_capabilities_need_approval_in_every_preset(preset) -> None:
    """Money, inventory, upload, build and land ask by default. Spec: POL-14."""
    asks = Policy(section(preset=preset)).asks
    assert {"inventory", "money", "upload", "build", "land"} <= {capability.value for capability in asks}


@pytest.mark.parametrize("preset", list(Preset))
def test_what_is_dangerous_is_zero_until_configured(preset) -> None:
    """L$, uploads, items, prims and metres have no budget unless a preset opens one. Spec: BND-13."""
    opened = {
        Preset.OBSERVER: set(),
        Preset.GREETER: set(),
        Preset.GUIDE: {"metres"},
        Preset.SHOPKEEPER: {"metres", "items", "linden"},
        Preset.BUILDER: {"metres", "items", "prims", "uploads"},
    }[preset]
    budgets = {meter.value for meter in Policy(section(preset=preset)).budgets}
    assert budgets & {"metres", "items", "prims", "uploads", "linden"} == opened


def test_a_section_is_laid_over_its_preset_cell_by_cell() -> None:
    """Cells, patterns and meters are replaced one by one; times and switches are the section's own. Spec: OPS-9."""
    guide = preset_section(Preset.GUIDE)
    policy = Policy(
        section(
            preset="guide",
            matrix={"public_chat": {"move": "deny"}, "mcp": {"speak": "trusted"}},
            budgets={"metres": [{"per": "global", "limit": 5, "window_s": 60}], "ims": []},
            patterns={"script-permissions": {"then": "off"}},
            approvals={"money": "not_required"},
            tainted={"money": "allow"},
            handle_ttl_s=3.0,
            dry_run=True,
        )
    )
    full = policy.section
    assert full.matrix[Origin.PUBLIC_CHAT] == {**guide.matrix[Origin.PUBLIC_CHAT], Capability.MOVE: Admission.DENY}
    assert full.matrix[Origin.DIRECT_IM] == guide.matrix[Origin.DIRECT_IM]
    assert full.budgets["calls.move"] == guide.budgets["calls.move"]
    assert [budget.limit for budget in policy.budgets["metres"]] == [5]
    assert policy.budgets["ims"] == ()
    assert policy.patterns == {}
    assert Capability.MONEY not in policy.asks
    assert Capability.MONEY not in policy.tainted
    assert (policy.handle_ttl_s, policy.dry_run, policy.approval_ttl_s) == (3.0, True, 300.0)


def test_laying_nothing_over_a_section_changes_no_rule() -> None:
    """An empty section on top leaves every rule below it."""
    guide = preset_section(Preset.GUIDE)
    merged = merge(guide, PolicySection())
    assert (merged.matrix, merged.budgets, merged.patterns) == (guide.matrix, guide.budgets, guide.patterns)


def test_the_version_tells_policies_apart() -> None:
    """Equal policies have one version, any difference gives another, roles included. Spec: POL-7."""
    owner = "00000000-0000-4000-8000-00000000000a"
    versions = [
        Policy().version,
        Policy(section(preset="guide")).version,
        Policy(section(approval_ttl_s=301.0)).version,
        Policy(section(), RolesSection(owners=(owner,))).version,
        Policy(section(), RolesSection(trusted=(owner,))).version,
        Policy(section(matrix={"mcp": {"speak": "trusted"}})).version,
    ]
    assert len(set(versions)) == len(versions)
    assert Policy(section()).version == Policy().version


def test_a_section_with_problems_is_never_compiled() -> None:
    """All problems of both sections are listed at once. Spec: CFG-1."""
    with pytest.raises(ConfigError) as caught:
        Policy(
            section(
                matrix={"object_text": {"speak": "anyone"}},
                budgets={"linden": [{"per": "global", "limit": 10**9, "window_s": 60}]},
            ),
            RolesSection(owners=("*",)),
        )
    assert [problem.path for problem in caught.value.problems] == [
        "policy.matrix.object_text.speak",
        "policy.budgets.linden[0].limit",
        "roles.owners[0]",
    ]


@pytest.mark.parametrize(
    ("origin", "role_needed", "who", "code"),
    [
        ("public_chat", "deny", "owner", DenialCode.ORIGIN_MAY_NOT),
        ("public_chat", "owner", "trusted", DenialCode.ROLE_TOO_LOW),
        ("public_chat", "trusted", "stranger", DenialCode.ROLE_TOO_LOW),
        ("direct_im", "owner", "stranger", DenialCode.ROLE_TOO_LOW),
    ],
)
def test_a_closed_door_and_a_low_role_are_told_apart(bench, people, origin, role_needed, who, code) -> None:
    """The code says whether nobody may or only this person may not, and the rule names the cell. Spec: POL-3, POL-4."""
    world = bench(matrix={origin: {"speak": role_needed}})
    denied = world.ask(who=people[who], origin=Origin(origin))
    assert denied == Denied(code=code, rule=f"matrix.{origin}.speak")


def test_a_version_is_short_enough_to_be_read_and_long_enough_to_differ(wide) -> None:
    """Sixteen letters of a hash, in every audit row. Spec: POL-10."""
    assert re.fullmatch(r"[0-9a-f]{16}", wide().version)
