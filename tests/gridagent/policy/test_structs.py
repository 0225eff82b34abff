"""What leaves the policy can't be changed and is built by name; what is written down keeps its words."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import msgspec
import pytest

import gridagent.policy
from gridagent.policy.approvals import ApprovalInput, ApprovalState
from gridagent.policy.audit import AuditKind
from gridagent.policy.changes import Change
from gridagent.policy.grants import GrantInput, GrantState
from gridagent.policy.ledger import EffectInput, EffectState
from gridagent.policy.pins import PinVerdict

MUTABLE = {"Entry"}
"""The ledger's own record, which nobody else holds."""
POSITIONAL = {"Ask", "BudgetMark", "Canonical", "Instant", "Payer", "Short"}
"""Made for every decision, of few fields."""
UNTRACKED = {"AuditRecord", "BudgetMark", "Canonical", "EffectRecord", "Entry", "Payer", "Question"}
"""Made for every decision; they hold no reference back to themselves, so the collector need not look at them."""
BY_IDENTITY = {"Canonical", "Entry", "Question"}
"""Nobody compares them."""
CLOSED = {"GrantTerms"}
"""Written by a person, who is told of a name that isn't known."""


def structs() -> dict[str, type[msgspec.Struct]]:
    """Collect every struct of the policy but for the reference's."""
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.iter_modules(gridagent.policy.__path__, "gridagent.policy.")
    ]
    return {
        name: each
        for module in modules
        for name, each in vars(module).items()
        if inspect.isclass(each) and issubclass(each, msgspec.Struct) and each.__module__ == module.__name__
    }


@pytest.mark.parametrize("name", sorted(structs()))
def test_a_struct_of_the_policy_is_what_it_should_be(name) -> None:
    """Frozen, built by name, compared by value, unless there is a reason. Spec: POL-3, POL-1."""
    each = structs()[name]
    config = each.__struct_config__
    by_name = all(
        parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in inspect.signature(each).parameters.values()
    )
    assert config.frozen is (name not in MUTABLE)
    assert by_name is (name not in POSITIONAL)
    assert config.gc is (name not in UNTRACKED)
    assert config.eq is (name not in BY_IDENTITY)
    assert config.forbid_unknown_fields is (name in CLOSED)


WORDS = {
    ApprovalState: "pending allowed claimed denied expired cancelled superseded",
    ApprovalInput: "allow claim refuse expire cancel supersede",
    EffectState: "reserved sent confirmed refused in_doubt",
    EffectInput: "send confirm refuse doubt",
    GrantState: "active revoked expired superseded",
    GrantInput: "revoke expire supersede",
    AuditKind: "decision redeem_refused approval grant settlement hold policy safe_mode",
    PinVerdict: "same unpinned changed",
}


@pytest.mark.parametrize("kind", WORDS)
def test_words_that_are_written_down_are_stable(kind) -> None:
    """A database and an audit trail outlive the version that wrote them. Spec: POL-10, EFX-4."""
    assert [each.value for each in kind] == WORDS[kind].split()


def test_changes_keep_their_tags() -> None:
    """What was kept by one version is folded by the next. Spec: EFX-2, EFX-4."""
    tags = [(each.__struct_config__.tag_field, each.__struct_config__.tag) for each in Change.__args__]
    names = """effect_reserved effect_sent effect_settled approval_opened approval_moved approval_tried grant_given
        grant_ended budgets_replaced generation_opened hold_changed"""
    assert tags == [("change", name) for name in names.split()]
