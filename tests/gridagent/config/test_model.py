"""The model: usable as it is, documented key by key, and never above a ceiling."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import msgspec
import pytest

from gridagent.config import model, parse_config
from gridagent.config.annotations import TypeInfo, fields_of, read_type
from gridagent.config.model import Backend, Config, FailureRule, GridConfig, LlmProvider, SessionConfig
from gridagent.errors import ConfigError
from gridagent.limits import HARD_LIMITS, HardLimit

SECTIONS = [
    value
    for value in vars(model).values()
    if isinstance(value, type) and issubclass(value, msgspec.Struct) and value.__module__ == model.__name__
]


def _type_at(key: str) -> TypeInfo:
    info = read_type(Config)
    for name in key.split("."):
        assert isinstance(info.type, type)
        info = fields_of(info.type)[name].type
    return info


def test_the_defaults_need_no_network_and_no_secret() -> None:
    """One avatar in the simulated plaza, thinking offline. Spec: CFG-1."""
    config = Config()
    assert list(config.avatars) == ["robin"]
    assert config.avatars["robin"].password_file is None  # type: ignore[index]
    assert config.grid.backend is Backend.SIMULATED
    assert config.grid.simulated.scenario == "plaza"
    assert config.llm.provider is LlmProvider.OFFLINE
    assert config.control.host == "127.0.0.1"


@pytest.mark.parametrize(
    ("backend", "rule", "result"),
    [
        (Backend.SIMULATED, FailureRule.AUTO, FailureRule.FAIL),
        (Backend.LIVE, FailureRule.AUTO, FailureRule.RECONNECT),
        (Backend.SIMULATED, FailureRule.RECONNECT, FailureRule.RECONNECT),
        (Backend.LIVE, FailureRule.FAIL, FailureRule.FAIL),
    ],
)
def test_the_rule_for_failures_follows_the_grid_unless_it_is_set(
    backend: Backend, rule: FailureRule, result: FailureRule
) -> None:
    """Offline a failure ends the avatar; live it reconnects. Spec: SUP-1."""
    config = Config(grid=GridConfig(backend=backend), session=SessionConfig(on_backend_failure=rule))
    assert config.failure_rule is result


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_key_is_documented(section: type[msgspec.Struct]) -> None:
    """The reference is generated from the text under each key. Spec: CFG-1."""
    source = ast.parse(Path(model.__file__).read_text(encoding="utf-8"))
    node = next(node for node in source.body if isinstance(node, ast.ClassDef) and node.name == section.__name__)
    documented = {
        before.target.id
        for before, after in zip(node.body, node.body[1:], strict=False)
        if isinstance(before, ast.AnnAssign)
        and isinstance(before.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
    }
    assert set(section.__struct_fields__) == documented
    assert ast.get_docstring(node)


LOWERING = [row for row in HARD_LIMITS if row.key and row.key != "roles" and not row.key.startswith("policy.budgets")]
BUDGETS = [row for row in HARD_LIMITS if row.key.startswith("policy.budgets.")]


@pytest.mark.parametrize("row", LOWERING, ids=lambda row: row.key)
def test_a_key_that_lowers_a_ceiling_cannot_raise_it(row: HardLimit) -> None:
    """Each configurable limit exists as a key with that maximum. Spec: BND-1, BND-2, BND-3, BND-6, BND-10."""
    assert _type_at(row.key).bound("le", "max_length") == row.ceiling


@pytest.mark.parametrize("row", BUDGETS, ids=lambda row: row.key)
def test_a_budget_cannot_be_raised_over_its_ceiling(row: HardLimit) -> None:
    """The ceiling itself is allowed, one more is refused with both numbers. Spec: BND-13, CFG-1."""
    meter = row.key.removeprefix("policy.budgets.")

    def configured(limit: int) -> bytes:
        budget = {"per": "global", "limit": limit, "window_s": 60}
        return json.dumps({"policy": {"budgets": {meter: [budget]}}}).encode()

    assert parse_config(configured(row.ceiling)).policy.budgets
    with pytest.raises(ConfigError) as caught:
        parse_config(configured(row.ceiling + 1))
    assert str(row.ceiling) in str(caught.value)
    assert str(row.ceiling + 1) in str(caught.value)


def test_durations_and_sizes_carry_their_unit_in_the_name() -> None:
    """A number with a fraction is a time in seconds, and says so."""
    for section in SECTIONS:
        for name, field in fields_of(section).items():
            if field.type.type is float:
                assert name.endswith("_s"), f"{section.__name__}.{name}"
