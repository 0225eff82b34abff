"""Rules between keys, on configurations made by hand."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.config.known_grids import KnownGrid
from gridagent.config.model import (
    AvatarConfig,
    Backend,
    Config,
    ControlConfig,
    GridConfig,
    HealthConfig,
    LiveGridConfig,
    LlmConfig,
    LlmProvider,
)
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.config.rules import check_rules
from gridagent.config.secrets import EndpointUrl
from gridagent.config.tracing import TracingSection

HTTPS = EndpointUrl("https://grid.example/")
HTTP = EndpointUrl("http://grid.example/")
LOCAL = EndpointUrl("http://127.0.0.1:9000/")


def _paths(config: Config, unsound: str = "") -> list[str]:
    return [
        problem.path
        for problem in check_rules(config, is_sound=lambda path: not unsound or not path.startswith(unsound))
    ]


def _live(**fields: object) -> Config:
    avatars = {"ada": AvatarConfig(first_name="Ada", password_file="/p")}
    grid = GridConfig(backend=Backend.LIVE, live=LiveGridConfig(**fields))  # type: ignore[arg-type]
    return Config(avatars=avatars, grid=grid)  # type: ignore[arg-type]


def test_the_defaults_keep_every_rule() -> None:
    """A configuration nobody wrote is a good one. Spec: CFG-1."""
    assert _paths(Config()) == []


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({"login_url": HTTPS}, []),
        ({"login_url": LOCAL}, []),
        ({"login_url": HTTP}, ["$.grid.live.login_url"]),
        ({"login_url": HTTP, "allow_plain_http": True}, []),
        ({}, ["$.grid.live.login_url"]),
        ({"grid": KnownGrid.SECONDLIFE}, []),
        ({"grid": KnownGrid.OSGRID}, ["$.grid.live.grid"]),
        ({"grid": KnownGrid.OSGRID, "allow_plain_http": True}, []),
        ({"grid": KnownGrid.SECONDLIFE, "login_url": HTTPS}, ["$.grid.live.grid"]),
    ],
)
def test_a_live_login_is_encrypted_unless_the_operator_says_otherwise(
    fields: dict[str, object], problems: list[str]
) -> None:
    """What the login sends is as good as the password; loopback needs no encryption."""
    assert _paths(_live(**fields)) == problems


def test_simulated_settings_conflict_with_a_live_grid() -> None:
    """One world at a time. Spec: CFG-1."""
    config = _live(login_url=HTTPS)
    grid = msgspec.structs.replace(config.grid, simulated=msgspec.structs.replace(config.grid.simulated, seed=7))
    assert _paths(msgspec.structs.replace(config, grid=grid)) == ["$.grid.simulated"]


@pytest.mark.parametrize(
    ("llm", "problems"),
    [
        (LlmConfig(provider=LlmProvider.ANTHROPIC, endpoint=HTTPS), []),
        (LlmConfig(provider=LlmProvider.CHAT_COMPLETIONS, endpoint=LOCAL), []),
        (LlmConfig(provider=LlmProvider.CHAT_COMPLETIONS, endpoint=HTTP), ["$.llm.endpoint"]),
        (LlmConfig(provider=LlmProvider.CHAT_COMPLETIONS, endpoint=HTTP, allow_plain_http=True), []),
        (LlmConfig(provider=LlmProvider.CHAT_COMPLETIONS), ["$.llm.endpoint"]),
        (LlmConfig(endpoint=HTTPS, api_key_file="/k"), ["$.llm.endpoint", "$.llm.api_key_file"]),
    ],
)
def test_a_model_and_its_endpoint_belong_together(llm: LlmConfig, problems: list[str]) -> None:
    """Conversations and keys go nowhere unencrypted, and nowhere at all offline."""
    assert _paths(Config(llm=llm)) == problems


@pytest.mark.parametrize(
    "path",
    [
        "session.logout_timeout_s",
        "reconnect.backoff_base_s",
        "reconnect.short_wait_s",
        "llm.connect_timeout_s",
        "llm.read_timeout_s",
        "llm.request_timeout_s",
    ],
)
def test_what_is_part_of_something_does_not_last_longer(path: str) -> None:
    """Each time that lies inside another is compared with it."""
    section, key = path.split(".")
    changed = msgspec.structs.replace(getattr(Config(), section), **{key: 3_000.0})
    config = msgspec.structs.replace(Config(), **{section: changed})
    assert f"$.{path}" in _paths(config)
    assert _paths(config, unsound=f"$.{path}") == [found for found in _paths(config) if found != f"$.{path}"]


def test_avatars_share_no_account() -> None:
    """Grids ignore case in names."""
    avatars = {
        "a": AvatarConfig(first_name="Ada"),
        "b": AvatarConfig(first_name="ada"),
        "c": AvatarConfig(first_name="Ada", last_name="Other"),
    }
    assert _paths(Config(avatars=avatars)) == ["$.avatars.b"]  # type: ignore[arg-type]


@pytest.mark.parametrize(("home", "found"), [("last", ["$.avatars.a.home"]), ("home", []), ("Plaza/1/2/3", [])])
def test_a_home_is_a_place(home: str, found: list[str]) -> None:
    """Where an avatar was last is no home. Spec: CFG-1."""
    assert _paths(Config(avatars={"a": AvatarConfig(first_name="Ada", home=home)})) == found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("control", "health", "found"),
    [
        (ControlConfig(port=9_000), HealthConfig(enabled=True, port=9_000), ["$.health.port"]),
        (ControlConfig(port=9_000), HealthConfig(enabled=False, port=9_000), []),
        (ControlConfig(port=9_000, enabled=False), HealthConfig(enabled=True, port=9_000), []),
        (ControlConfig(port=0), HealthConfig(enabled=True, port=0), []),
        (ControlConfig(port=9_000), HealthConfig(enabled=True, host="127.0.0.2", port=9_000), []),
        (ControlConfig(port=9_000), HealthConfig(enabled=True), []),
    ],
)
def test_two_endpoints_do_not_share_a_port(control: ControlConfig, health: HealthConfig, found: list[str]) -> None:
    """What would fail when both listen is said before anything runs. Spec: CFG-1, OPS-3."""
    assert _paths(Config(control=control, health=health)) == found


def test_an_avatars_own_policy_and_roles_are_judged() -> None:
    """Overrides keep the same rules as the sections they take the place of. Spec: BND-14."""
    own = AvatarConfig(first_name="Ada", roles=RolesSection(owners=("*",)), policy=PolicySection())
    assert _paths(Config(avatars={"ada": own})) == ["$.avatars.ada.roles.owners[0]"]  # type: ignore[arg-type]


@pytest.mark.parametrize("unsound", ["$.grid", "$.llm", "$.avatars.ada"])
def test_rules_leave_out_what_is_wrong_already(unsound: str) -> None:
    """A rule about a broken key would only repeat the mistake."""
    avatar = AvatarConfig(first_name="Ada", password_file="/p")
    config = Config(
        avatars={"ada": avatar},  # type: ignore[arg-type]
        grid=GridConfig(live=LiveGridConfig(login_url=HTTPS)),
        llm=LlmConfig(endpoint=HTTPS),
    )
    everything = ["$.grid.live.login_url", "$.avatars.ada.password_file", "$.llm.endpoint"]
    assert _paths(config) == everything
    left = _paths(config, unsound=unsound)
    assert left == [
        path for path in everything if not path.startswith(unsound) and (unsound != "$.grid" or "avatars" not in path)
    ]


@pytest.mark.parametrize(
    ("tracing", "found"),
    [
        ({}, []),
        ({"enabled": True}, ["$.tracing.endpoint"]),
        ({"enabled": True, "file": "/t"}, []),
        ({"enabled": True, "endpoint": LOCAL, "token_file": "/t"}, []),
        ({"enabled": True, "endpoint": LOCAL, "file": "/t"}, ["$.tracing.file"]),
        ({"enabled": True, "endpoint": HTTP}, ["$.tracing.endpoint"]),
        ({"enabled": True, "endpoint": HTTP, "allow_plain_http": True}, []),
        ({"enabled": True, "endpoint": HTTPS}, []),
        ({"token_file": "/t"}, ["$.tracing.token_file"]),
    ],
)
def test_traces_go_to_one_place_and_their_token_over_no_open_line(tracing: dict[str, object], found: list[str]) -> None:
    """What could not be handed over, or would give the token away, is said before anything runs. Spec: CFG-1, OPS-2."""
    config = Config(tracing=TracingSection(**tracing))  # type: ignore[arg-type]
    assert _paths(config) == found
    assert _paths(config, "$.tracing") == []
