"""What a running service takes over from a changed configuration, and what it refuses (Spec: SUP-8).

Owns the table `RULES` (key → live, or why not) and the comparison. Applies nothing: the service hands the sections
of `ReloadPlan.config` to whom they concern. Authorised avatars, secrets, queues and the grid never change live.

Invariant: every key of the model has a rule; a key the table forgot is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from gridagent.config.model import Config

__all__ = ("RULES", "ReloadPlan", "diff_for_reload", "rule_for")

LIVE: Final = ""
_RESTART = "restart the service to change it"
_AUTHORITY = "who is authorised never changes while avatars run; restart the service"
_SECRET = "secrets and where they are sent never change while avatars run; restart the service"  # noqa: S105 - a sentence
_ACCOUNT = "an avatar is added, removed or renamed only by a restart of the service"
_QUEUE = "queues are made once, at the start; restart the service"
_GRID = "the grid is chosen once, at the start; restart the service"

RULES: Final[Mapping[str, str]] = {
    "avatars.*.first_name": _ACCOUNT,
    "avatars.*.last_name": _ACCOUNT,
    "avatars.*.password_file": _SECRET,
    "avatars.*.persona": LIVE,
    "avatars.*.persona_file": LIVE,
    "avatars.*.aliases": LIVE,
    "avatars.*.start": LIVE,
    "avatars.*.home": LIVE,
    "avatars.*.fallbacks": LIVE,
    "avatars.*.policy": LIVE,
    "avatars.*.roles": _AUTHORITY,
    "avatars.*.presence": LIVE,
    "avatars.*.dry_run": LIVE,
    "avatars": _ACCOUNT,
    "grid": _GRID,
    "session.on_backend_failure": _RESTART,
    "session.shutdown_timeout_s": LIVE,
    "session.logout_timeout_s": LIVE,
    "session.healthy_after_s": LIVE,
    "session.max_restarts": LIVE,
    "session.restart_window_s": LIVE,
    "session.login_stagger_s": LIVE,
    "session.doubts_settle_s": LIVE,
    "queues": _QUEUE,
    "reconnect.offline_work_capacity": _QUEUE,
    "reconnect": LIVE,
    "llm.provider": _RESTART,
    "llm.endpoint": _SECRET,
    "llm.allow_plain_http": _SECRET,
    "llm.api_key_file": _SECRET,
    "llm.max_concurrent_requests": _QUEUE,
    "llm": LIVE,
    "policy": LIVE,
    "roles": _AUTHORITY,
    "presence": LIVE,
    "conversation": "conversations are taken up once, at the start; restart the service",
    "control": "commands would lose the service; restart it",
    "health.token_file": _SECRET,
    "health": "collectors and probes would lose the service; restart it",
    "tracing.endpoint": _SECRET,
    "tracing.allow_plain_http": _SECRET,
    "tracing.token_file": _SECRET,
    "tracing": "traces are opened once, at the start; restart the service",
    "paths": "files that are open stay where they are; restart the service",
    "storage": "the database is opened once, at the start; restart the service",
    "log.level": LIVE,
    "log": "the log is opened once, at the start; restart the service",
}
"""For each key, or each section with all its keys: "" where it changes live, else why it doesn't. ``*`` is any
avatar; the longest match counts. An avatar's policy is one value: what it brings is compared as a whole."""

_WHOLE: Final = frozenset({"avatars.*.policy", "avatars.*.roles", "policy", "roles"})
"""Sections that are taken over, or refused, as one value."""


class ReloadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What changed, sorted by what may be done about it."""

    live: tuple[str, ...]
    """Paths that change now."""
    refused: tuple[tuple[str, str], ...]
    """Paths that keep their old value, each with the reason."""
    config: Config
    """The configuration in force from now on: the old one with the live changes in it."""


def rule_for(path: str) -> str:
    """Return why a changed key is refused, or "" where it changes live.

    Args:
        path: dotted, without ``$``; an avatar's key stands as itself.
    """
    keys = _pattern(path).split(".")
    for length in range(len(keys), 0, -1):
        rule = RULES.get(".".join(keys[:length]))
        if rule is not None:
            return rule
    return _RESTART


def diff_for_reload(old: Config, new: Config) -> ReloadPlan:
    """Compare two valid configurations and say what becomes of each difference."""
    live: list[str] = []
    refused: list[tuple[str, str]] = []
    merged = _merge(old, new, "", live, refused)
    assert isinstance(merged, Config)  # noqa: S101 - merging keeps the type of the old value
    return ReloadPlan(live=tuple(live), refused=tuple(refused), config=merged)


def _pattern(path: str) -> str:
    keys = path.split(".")
    return ".".join("*" if index == 1 and keys[0] == "avatars" else key for index, key in enumerate(keys))


def _merge(old: object, new: object, path: str, live: list[str], refused: list[tuple[str, str]]) -> object:
    """Return what is in force, noting each difference."""
    if _pattern(path) not in _WHOLE:
        if isinstance(old, msgspec.Struct) and isinstance(new, msgspec.Struct):
            merged = {
                name: _merge(getattr(old, name), getattr(new, name), _join(path, name), live, refused)
                for name in old.__struct_fields__
            }
            return msgspec.structs.replace(old, **merged)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return dict(_merge_maps(old, new, path, live, refused))
    if old == new:
        return old
    rule = rule_for(path)
    if rule:
        refused.append((path, rule))
        return old
    live.append(path)
    return new


def _merge_maps(
    old: Mapping[object, object],
    new: Mapping[object, object],
    path: str,
    live: list[str],
    refused: list[tuple[str, str]],
) -> Iterator[tuple[object, object]]:
    """Merge what both have; entries cannot come or go."""
    for key, value in old.items():
        here = _join(path, str(key))
        if key in new:
            yield key, _merge(value, new[key], here, live, refused)
        else:
            refused.append((here, rule_for(path)))
            yield key, value
    refused.extend((_join(path, str(key)), rule_for(path)) for key in new if key not in old)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
