"""A live grid for the composition root: found, checked, and asked for one factory an avatar.

Owns the step from a configuration to a `LiveGrid`: the installed backend, the passwords, and every problem that can
be known before anything connects. Knows no protocol: the backend comes through the entry point ``live``
(Spec: LIV-14). `gridagent.cli.compose` calls it.

Invariant: after `find_live_grid` returned, making a factory cannot fail on the configuration any more (Spec: CFG-1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol, cast

import attrs

from gridagent import __version__
from gridagent.cli.entry_points import BACKENDS, NotInstalled, load_entry_point
from gridagent.config.files import read_file
from gridagent.config.load import secret_from
from gridagent.config.model import AvatarConfig, Config, LiveGridConfig
from gridagent.config.secrets import Secrets, SecretStr
from gridagent.errors import ConfigError, ConfigProblem
from gridagent.grid.base import BackendFactory
from gridagent.grid.second_factor import SecondFactor
from gridagent.limits import SECRET_FILE_MAX_BYTES
from gridagent.runtime.ports import Blocking, Ports

__all__ = ("LiveGrid", "MakeBackends", "find_live_grid", "read_passwords")

_UNREAD: Final = SecretStr("unread")
"""Stands for a password where a configuration is only checked: nothing connects with it."""


class MakeBackends(Protocol):
    """What the entry point ``live`` is: makes the factory of one avatar's backends."""

    def __call__(
        self,
        avatar: AvatarConfig,
        grid: LiveGridConfig,
        *,
        password: SecretStr,
        new_id: Callable[[], str],
        version: str,
        return_after_s: float,
        blocking: Blocking | None,
        second_factor: SecondFactor | None,
        heeded: frozenset[str],
    ) -> BackendFactory:
        """Return the factory.

        Raises:
            ConfigError: something is missing, or cannot be used.
        """
        ...


@attrs.frozen(kw_only=True, eq=False)
class LiveGrid:
    """A grid that an installed backend can reach, and the accounts that log in to it."""

    make: MakeBackends
    config: Config
    passwords: Mapping[str, SecretStr] = attrs.field(repr=False)
    """By configuration path of the file; empty where a configuration is only checked."""

    @property
    def in_words(self) -> str:
        """Where the avatars live, as people are told."""
        return f"in the live grid at {self.config.grid.live.address}"

    def backend_factory(
        self,
        key: str,
        new_id: Callable[[], str],
        blocking: Blocking | None = None,
        second_factor: SecondFactor | None = None,
    ) -> BackendFactory:
        """Return what makes this avatar's backends, one a generation."""
        avatar = self.config.avatars[key]  # type: ignore[index]  # keys are plain texts here
        roles = avatar.roles or self.config.roles
        return self.make(
            avatar,
            self.config.grid.live,
            password=self.passwords[_path_of(key)],
            new_id=new_id,
            version=__version__,
            return_after_s=self.config.reconnect.return_after_s,
            blocking=blocking,
            second_factor=second_factor,
            heeded=frozenset((*roles.owners, *roles.trusted)),
        )

    def factories(self, ports: Ports, factors: Mapping[str, SecondFactor] | None = None) -> dict[str, BackendFactory]:
        """Return the factory of every avatar; ``factors`` are what accounts have besides their passwords."""
        own = factors or {}
        return {
            key: self.backend_factory(key, ports.ids.uuid, ports.blocking, own.get(key)) for key in self.config.avatars
        }


def _path_of(key: str) -> str:
    return f"avatars.{key}.password_file"


def find_live_grid(config: Config, secrets: Mapping[str, SecretStr] | None) -> LiveGrid:
    """Find the backend of a live grid and let it look at every avatar.

    Args:
        config: as it was loaded.
        secrets: every password by the configuration path of its file; None where nothing is going to connect.

    Raises:
        ConfigError: with every problem.
    """
    try:
        make = cast("MakeBackends", load_entry_point(BACKENDS, config.grid.backend.value, extra="live"))
    except NotInstalled as error:
        problem = ConfigProblem(path="$.grid.backend", what=f"cannot be used: {error.what}", shape="", mend=error.mend)
        raise ConfigError((problem,)) from error
    passwords = {_path_of(key): _UNREAD for key in config.avatars} if secrets is None else dict(secrets)
    grid = LiveGrid(make=make, config=config, passwords=passwords)
    problems: list[ConfigProblem] = []
    for key in config.avatars:
        try:
            grid.backend_factory(key, str)
        except ConfigError as error:
            said = {str(each) for each in problems}  # what is wrong with the grid is wrong for every avatar
            problems += (each for each in error.problems if str(each) not in said)
    if problems:
        raise ConfigError(tuple(problems))
    return grid


def read_passwords(config: Config) -> Secrets:
    """Read the password files of a configuration that was not loaded from a file (an embedder's).

    Raises:
        ConfigError: with every file that cannot be used.
    """
    found: dict[str, SecretStr] = {}
    problems: list[ConfigProblem] = []
    for key, avatar in config.avatars.items():
        where = f"$.{_path_of(key)}"
        if avatar.password_file is None:
            problems.append(ConfigProblem(path=where, what="is missing", shape="", mend="name the password's file"))
            continue
        try:
            content = read_file(
                Path(avatar.password_file), max_bytes=SECRET_FILE_MAX_BYTES, holds_secret=True, where=where
            )
        except ConfigError as error:
            problems += error.problems
            continue
        secret = secret_from(content.data)
        if isinstance(secret, SecretStr):
            found[_path_of(key)] = secret
        else:
            problems.append(ConfigProblem(path=where, what=f"the file {secret[0]}", shape="", mend=secret[1]))
    if problems:
        raise ConfigError(tuple(problems))
    return Secrets(found)
