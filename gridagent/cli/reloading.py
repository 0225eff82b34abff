"""What of a new configuration one running avatar takes over, and doing so (Spec: SUP-8, PRS-6).

Owns which live keys a session of this version takes over without a restart: policy, persona, presence, log level;
what else differs is named. A persona file is read anew each time, so that new text under an old path counts. A
configuration or persona that cannot be used changes nothing. Called in the avatar's own session, between two events.

Invariant: what is in force is what the last accepted configuration said, key by key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from gridagent.cli.minds import PreparedMind, prepare_mind
from gridagent.config.load import parse_config
from gridagent.config.model import Config, LogLevel
from gridagent.config.reload import diff_for_reload
from gridagent.errors import ConfigError
from gridagent.ids import AvatarKey
from gridagent.policy import Policy
from gridagent.session import Reloaded

if TYPE_CHECKING:
    from gridagent.thinking import Thinker

__all__ = ("Reloading", "SetLevel", "policy_of")

SetLevel: TypeAlias = Callable[[LogLevel], None]


def policy_of(config: Config, key: str) -> Policy:
    """Return what an avatar may do under a configuration."""
    avatar = config.avatars[AvatarKey(key)]
    section = avatar.policy or config.policy
    if avatar.dry_run:
        section = msgspec.structs.replace(section, dry_run=True)
    return Policy(section, avatar.roles or config.roles)


class Reloading:
    """Reads a new configuration for one avatar and says what of it holds from now on.

    Args:
        config: in force so far.
        mind: made of it.
        environ: where variables are looked up.
        base: directory that relative paths begin at.
        set_level: changes the level of the log.
    """

    __slots__ = ("_base", "_config", "_environ", "_key", "_mind", "_set_level", "_thinker")

    def __init__(
        self,
        config: Config,
        mind: PreparedMind,
        *,
        environ: Mapping[str, str],
        base: Path | None,
        set_level: SetLevel,
    ) -> None:
        self._config = config
        self._key = mind.key
        self._mind = mind
        self._environ = environ
        self._base = base
        self._set_level = set_level
        self._thinker: Thinker | None = None

    def know(self, thinker: Thinker) -> None:
        """Take note of the mind that changes are for, once it is made."""
        self._thinker = thinker

    def __call__(self, data: bytes) -> Reloaded:
        """Take over what can change live; see `gridagent.config.reload.RULES`."""
        try:
            new = parse_config(data, self._environ, base=self._base)
            plan = diff_for_reload(self._config, new)
            mind = prepare_mind(plan.config, self._key, plan.config.avatars[self._key])
        except ConfigError as error:
            more = len(error.problems) - 1
            return Reloaded(problem=f"{error.problems[0]}" + (f" (and {more} more)" if more else ""))
        taken = [path for path in plan.live if self._is_mine(path) and self._takes(path)]
        left = [path for path in plan.live if self._is_mine(path) and not self._takes(path)]
        self._config = plan.config
        if "log.level" in taken:
            self._set_level(plan.config.log.level)
        policy = policy_of(plan.config, self._key) if any(map(self._is_policy, taken)) else None
        self._change_mind(mind)
        refused = [path for path, _ in plan.refused if self._is_mine(path)]
        return Reloaded(policy=policy, refused=tuple(refused + left))

    def _change_mind(self, mind: PreparedMind) -> None:
        """Let the mind be who it is now, and feel spoken to as it is to."""
        before, self._mind = self._mind, mind
        changed = (before.persona, before.names, before.section) != (mind.persona, mind.names, mind.section)
        if changed and self._thinker is not None:
            self._thinker.take_over(mind.persona, mind.names, mind.section)

    def _is_mine(self, path: str) -> bool:
        return not path.startswith("avatars.") or path.split(".")[1] == self._key

    def _takes(self, path: str) -> bool:
        """Tell whether a session of this version can take the change over without a restart."""
        keys = path.removeprefix(f"avatars.{self._key}.").split(".")
        return self._is_policy(path) or path == "log.level" or keys[0] in _MIND

    def _is_policy(self, path: str) -> bool:
        mine = f"avatars.{self._key}"
        return path in {"policy", f"{mine}.policy", f"{mine}.dry_run"}


_MIND = frozenset({"persona", "persona_file", "aliases", "presence"})
