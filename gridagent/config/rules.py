"""What must hold between keys: modes that exclude each other, times that contain each other, accounts once only.

Owns one function a subject, each pure; a type can't say what stands here. Knows the model, reads nothing. The
loader runs them on what was built, and each leaves out what is known to be wrong already.

Invariant: a configuration without problems starts; what would fail after the start is refused here (Spec: CFG-1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from gridagent.config.model import AvatarConfig, Backend, Config, LiveGridConfig, LlmProvider, SimulatedGridConfig
from gridagent.config.policy_check import policy_problems, roles_problems
from gridagent.config.wall_time import zone_of
from gridagent.errors import ConfigProblem

__all__ = ("check_rules",)

Found: TypeAlias = Iterator[tuple[str, str, str]]
"""Path, what is wrong, how to mend it."""
IsSound: TypeAlias = Callable[[str], bool]


def check_rules(config: Config, *, is_sound: IsSound = lambda _: True) -> tuple[ConfigProblem, ...]:
    """List everything that is wrong between well-formed keys.

    Args:
        config: what was built; where something was wrong, its default stands.
        is_sound: tells whether nothing at, below or above a path was wrong; rules about what was are left out.
    """
    rules = (_grid, _accounts, _llm, _endpoints, _tracing, _times, _zones)
    found = (each for rule in rules for each in rule(config, is_sound))
    problems = [ConfigProblem(path=path, what=what, shape="", mend=mend) for path, what, mend in found]
    problems += policy_problems(config.policy, path="$.policy")
    problems += roles_problems(config.roles, path="$.roles")
    for key, avatar in config.avatars.items():
        if avatar.policy is not None:
            problems += policy_problems(avatar.policy, path=f"$.avatars.{key}.policy")
        if avatar.roles is not None:
            problems += roles_problems(avatar.roles, path=f"$.avatars.{key}.roles")
    return tuple(problems)


def _grid(config: Config, is_sound: IsSound) -> Found:
    grid = config.grid
    if not is_sound("$.grid"):
        return
    if grid.backend is Backend.SIMULATED:
        for key, what in (("grid", "a grid is named"), ("login_url", "a login address is set")):
            if getattr(grid.live, key) is not None:
                yield (
                    f"$.grid.live.{key}",
                    f"{what}, but grid.backend is simulated",
                    "set grid.backend to live, or remove this key",
                )
        return
    yield from _live(grid.live)
    if grid.simulated != SimulatedGridConfig():
        yield (
            "$.grid.simulated",
            "settings of the simulated grid are changed, but grid.backend is live",
            "set grid.backend to simulated, or remove this section",
        )


def _live(live: LiveGridConfig) -> Found:
    url = live.address
    where = "$.grid.live.login_url" if live.grid is None else "$.grid.live.grid"
    if live.grid is not None and live.login_url is not None:
        yield where, "names a grid, but grid.live.login_url is set too", "keep one of the two keys"
    if url is None:
        yield where, "is missing for a live grid", "set it to the grid's login URL, or name the grid in grid.live.grid"
    elif not (url.is_encrypted or url.is_loopback or live.allow_plain_http):
        yield (
            where,
            "would send the login unencrypted to another machine",
            "use https://, or set grid.live.allow_plain_http to true and accept the risk",
        )


def _accounts(config: Config, is_sound: IsSound) -> Found:
    known = is_sound("$.grid.backend")
    live = config.grid.backend is Backend.LIVE
    seen: dict[tuple[str, str], str] = {}
    for key, avatar in config.avatars.items():
        path = f"$.avatars.{key}"
        if not is_sound(path):
            continue
        if known and live and avatar.password_file is None:
            yield f"{path}.password_file", "is missing for a live grid", "name the file that holds the password"
        if known and not live and avatar.password_file is not None:
            yield (
                f"{path}.password_file",
                "a password is given, but grid.backend is simulated",
                "set grid.backend to live, or remove this key",
            )
        if avatar.home == "last":
            yield (
                f"{path}.home",
                "names the last place, which is nowhere to be sent to",
                "write a place as Region/x/y/z, or null for the home that the grid has for it",
            )
        account = _account(avatar)
        if account in seen:
            yield path, f"is the same account as $.avatars.{seen[account]}", "give each avatar an account of its own"
        seen.setdefault(account, key)


def _account(avatar: AvatarConfig) -> tuple[str, str]:
    # Grids compare account names without regard to case.
    return avatar.first_name.casefold(), avatar.last_name.casefold()


def _llm(config: Config, is_sound: IsSound) -> Found:
    llm = config.llm
    if not is_sound("$.llm"):
        return
    if llm.provider is LlmProvider.OFFLINE:
        for key in ("endpoint", "api_key_file"):
            if getattr(llm, key) is not None:
                yield (
                    f"$.llm.{key}",
                    "is set, but llm.provider is offline",
                    "set llm.provider to chat_completions or anthropic, or remove this key",
                )
        return
    if llm.endpoint is None:
        yield "$.llm.endpoint", f"is missing for llm.provider {llm.provider.value}", "set it to the exact URL"
    elif not (llm.endpoint.is_encrypted or llm.endpoint.is_loopback or llm.allow_plain_http):
        yield (
            "$.llm.endpoint",
            "would send conversations and the key unencrypted to another machine",
            "use https://, or set llm.allow_plain_http to true and accept the risk",
        )


def _endpoints(config: Config, is_sound: IsSound) -> Found:
    control, health = config.control, config.health
    both = control.enabled and health.enabled and health.port > 0
    if both and (control.host, control.port) == (health.host, health.port) and is_sound("$.control"):
        yield (
            "$.health.port",
            f"is the port of the control endpoint too ({health.port})",
            "set control.port to 0, or give each a port of its own",
        )


def _tracing(config: Config, is_sound: IsSound) -> Found:
    tracing = config.tracing
    if not is_sound("$.tracing"):
        return
    endpoint = tracing.endpoint
    if endpoint is None:
        if tracing.enabled and tracing.file is None:
            yield (
                "$.tracing.endpoint",
                "is missing for traces",
                "set it to the collector's URL, or name a file in tracing.file",
            )
        if tracing.token_file is not None:
            yield (
                "$.tracing.token_file",
                "is set, but there is no tracing.endpoint",
                "set the endpoint, or remove this key",
            )
        return
    if tracing.file is not None:
        yield "$.tracing.file", "is set, but tracing.endpoint is set too", "keep one of the two keys"
    if not (endpoint.is_encrypted or endpoint.is_loopback or tracing.allow_plain_http):
        yield (
            "$.tracing.endpoint",
            "would send traces and the token unencrypted to another machine",
            "use https://, or set tracing.allow_plain_http to true and accept the risk",
        )


def _zones(config: Config, is_sound: IsSound) -> Found:
    sections = {"$.presence": config.presence}
    sections |= {f"$.avatars.{key}.presence": each.presence for key, each in config.avatars.items() if each.presence}
    for path, section in sections.items():
        where = f"{path}.time_zone"
        if is_sound(where) and zone_of(section.time_zone) is None:
            yield (
                where,
                "names a time zone that this machine does not know",
                "write an IANA name such as Europe/Zurich (capitals count), install the system's tzdata, or use UTC",
            )


_NOT_LONGER: Final = (
    ("session", "logout_timeout_s", "shutdown_timeout_s"),
    ("reconnect", "backoff_base_s", "backoff_cap_s"),
    ("reconnect", "short_wait_s", "long_wait_s"),
    ("llm", "connect_timeout_s", "request_timeout_s"),
    ("llm", "read_timeout_s", "request_timeout_s"),
    ("llm", "request_timeout_s", "answer_timeout_s"),
)
"""In one section, the first may not be longer than the second."""


def _times(config: Config, is_sound: IsSound) -> Found:
    for section, inner, outer in _NOT_LONGER:
        part = getattr(config, section)
        short, long = getattr(part, inner), getattr(part, outer)
        if short > long and is_sound(f"$.{section}.{inner}") and is_sound(f"$.{section}.{outer}"):
            yield (
                f"$.{section}.{inner}",
                f"is longer ({short:g} s) than {section}.{outer} ({long:g} s)",
                f"lower it to {long:g} or less, or raise {section}.{outer}",
            )
