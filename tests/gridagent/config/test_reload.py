"""What changes live and what is refused by name."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from gridagent.config import Config, diff_for_reload
from gridagent.config.annotations import fields_of
from gridagent.config.model import AvatarConfig, GridConfig, LlmConfig, LogConfig, LogFormat, LogLevel, QueuesConfig
from gridagent.config.policy import PolicySection, Preset, RolesSection
from gridagent.config.reload import RULES, rule_for
from gridagent.config.secrets import EndpointUrl

ADA = "01234567-89ab-4cde-8f01-23456789abcd"


def _keys_of(struct: type[msgspec.Struct], path: str = "") -> Iterator[str]:
    for name, field in fields_of(struct).items():
        here = f"{path}.{name}" if path else name
        if here == "avatars":
            yield from _keys_of(AvatarConfig, "avatars.robin")
        elif field.type.is_struct and isinstance(field.type.type, type):
            yield from _keys_of(field.type.type, here)
        else:
            yield here


KEYS = list(_keys_of(Config))


def _listed(path: str) -> bool:
    parts = path.replace("avatars.robin", "avatars.*").split(".")
    return any(".".join(parts[:length]) in RULES for length in range(1, len(parts) + 1))


@pytest.mark.parametrize("path", KEYS)
def test_every_key_has_a_rule(path: str) -> None:
    """Whoever adds a key decides whether it changes live. Spec: SUP-8."""
    assert _listed(path)


def test_every_rule_is_about_something() -> None:
    """A renamed key leaves no rule behind."""
    known = {path.replace("avatars.robin", "avatars.*") for path in KEYS}
    prefixes = {".".join(path.split(".")[:length]) for path in known for length in range(1, 8)}
    assert set(RULES) <= prefixes


@pytest.mark.parametrize(
    "path",
    [
        "roles.owners",
        "avatars.robin.roles",
        "avatars.robin.password_file",
        "llm.api_key_file",
        "llm.endpoint",
        "queues.controls",
        "grid.backend",
        "grid.live.login_url",
        "nothing.of.the.kind",
    ],
)
def test_what_never_changes_live_says_why(path: str) -> None:
    """Authorised avatars, secrets, queues and the grid; and what the table does not know. Spec: SUP-8."""
    assert "restart" in rule_for(path)


@pytest.mark.parametrize(
    "path", ["policy.budgets", "policy.preset", "log.level", "avatars.robin.aliases", "reconnect.stay_away_s"]
)
def test_what_may_change_live(path: str) -> None:
    """Policy, presence and waiting times follow the operator. Spec: SUP-8."""
    assert rule_for(path) == ""


def test_equal_configurations_need_nothing() -> None:
    """No difference, no plan."""
    plan = diff_for_reload(Config(), Config())
    assert (plan.live, plan.refused, plan.config) == ((), (), Config())


def test_a_mixed_change_is_sorted_and_merged() -> None:
    """The configuration in force has the live changes and the old values of the rest. Spec: SUP-8."""
    old = Config(avatars={"robin": AvatarConfig(first_name="Robin")})  # type: ignore[arg-type]
    new = Config(
        avatars={"robin": AvatarConfig(first_name="Robin", aliases=("Rob",), roles=RolesSection(owners=(ADA,)))},  # type: ignore[arg-type]
        policy=PolicySection(preset=Preset.GUIDE),
        roles=RolesSection(trusted=(ADA,)),
        queues=QueuesConfig(controls=5),
        log=LogConfig(level=LogLevel.DEBUG, format=LogFormat.CONSOLE),
    )
    plan = diff_for_reload(old, new)
    assert plan.live == ("avatars.robin.aliases", "policy", "log.level")
    assert [path for path, _ in plan.refused] == ["avatars.robin.roles", "queues.controls", "roles", "log.format"]
    assert plan.config == Config(
        avatars={"robin": AvatarConfig(first_name="Robin", aliases=("Rob",))},  # type: ignore[arg-type]
        policy=PolicySection(preset=Preset.GUIDE),
        log=LogConfig(level=LogLevel.DEBUG),
    )


def test_avatars_neither_come_nor_go_live() -> None:
    """Both are refused by name, and the old ones stay. Spec: SUP-8."""
    old = Config(avatars={"ada": AvatarConfig(first_name="Ada")})  # type: ignore[arg-type]
    new = Config(avatars={"bob": AvatarConfig(first_name="Bob")})  # type: ignore[arg-type]
    plan = diff_for_reload(old, new)
    assert [path for path, _ in plan.refused] == ["avatars.ada", "avatars.bob"]
    assert plan.config == old


def test_an_avatars_policy_may_come_live() -> None:
    """An override is one value: it comes and goes as a whole. Spec: SUP-8."""
    avatar = AvatarConfig(first_name="Ada")
    with_policy = msgspec.structs.replace(avatar, policy=PolicySection(preset=Preset.GREETER))
    plan = diff_for_reload(Config(avatars={"ada": avatar}), Config(avatars={"ada": with_policy}))  # type: ignore[arg-type]
    assert plan.live == ("avatars.ada.policy",)
    assert plan.config.avatars == {"ada": with_policy}


def test_a_plan_shows_no_endpoint() -> None:
    """A changed address is refused without being printed. Spec: CFG-3."""
    old = Config(llm=LlmConfig(endpoint=EndpointUrl("https://a/?key=canary-one")))
    new = Config(llm=LlmConfig(endpoint=EndpointUrl("https://a/?key=canary-two")), grid=GridConfig())
    plan = diff_for_reload(old, new)
    assert [path for path, _ in plan.refused] == ["llm.endpoint"]
    assert "canary" not in repr(plan)
