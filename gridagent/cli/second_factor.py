"""An account's one-time code, and the proof of an old one, for as long as the grid honours it.

Owns the file of each proof: in the state directory, for its owner alone, named after the account and the login address,
so that what one grid gave is never shown to another. The code is in memory until the next login has taken it, or an
operator gives a newer one. Called by the composition root; an adapter reaches it through
`gridagent.grid.second_factor`.

Invariant: neither goes anywhere before the log's redactor knows it, and a file that cannot be used costs nothing but
another code (Spec: CFG-3, LIV-1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import attrs

from gridagent.config.files import read_file
from gridagent.config.load import secret_from
from gridagent.config.model import AvatarConfig
from gridagent.config.secrets import EndpointUrl, SecretStr, derived_forms
from gridagent.errors import ConfigError, ConfigProblem, OutcomeUnknown
from gridagent.ids import AvatarKey
from gridagent.limits import SECRET_FILE_MAX_BYTES
from gridagent.runtime.ports import Blocking
from gridagent.storage.files import Files, SystemFiles

__all__ = ("AccountFactor", "SecondFactors")

DIRECTORY: Final = "second-factor"
_DIGEST_CHARS: Final = 32

Learn: TypeAlias = Callable[[str, Iterable[str]], None]
LogError: TypeAlias = Callable[[str, BaseException], None]


def _learn_nothing(name: str, forms: Iterable[str]) -> None:
    """Have no log that must not show it."""


def _log_nowhere(code: str, error: BaseException) -> None:
    """Have no log."""


@attrs.frozen(kw_only=True, eq=False)
class SecondFactors:
    """Makes the second factor of every avatar of one run."""

    state_dir: Path | None = None
    """Where proofs are kept; None keeps each for this process only."""
    blocking: Blocking | None = None
    """Where files are read and written; None does it at once."""
    learn: Learn = _learn_nothing
    """Told of every secret, under a name, before it is used."""
    log_error: LogError = _log_nowhere
    files: Files = attrs.field(factory=SystemFiles)

    def of(self, key: AvatarKey, avatar: AvatarConfig, login_url: EndpointUrl) -> AccountFactor:
        """Return the second factor of one account at one login address."""
        name = f"{avatar.first_name} {avatar.last_name}".casefold()
        told = f"{login_url.reveal()}\n{name}".encode()
        place = f"{key}-{hashlib.sha256(told).hexdigest()[:_DIGEST_CHARS]}"
        file = None if self.state_dir is None else self.state_dir.absolute() / DIRECTORY / place
        return AccountFactor(key, file, self)


class AccountFactor:
    """The second factor of one account; see `gridagent.grid.second_factor.SecondFactor`.

    Args:
        key: of the avatar.
        file: of its proof; None keeps it in memory.
        common: what all of a run share.
    """

    __slots__ = ("_code", "_common", "_file", "_key", "_proof")

    def __init__(self, key: AvatarKey, file: Path | None, common: SecondFactors) -> None:
        self._key = key
        self._file = file
        self._common = common
        self._code: SecretStr | None = None
        self._proof: SecretStr | None = None

    def give(self, code: SecretStr) -> None:
        """Take a code from the operator, in the place of one that no login took."""
        self._learn("code", code)
        self._code = code

    def take_code(self) -> SecretStr | None:
        """Return the code, once."""
        code, self._code = self._code, None
        return code

    async def remembered(self) -> SecretStr | None:
        """Return the proof of an earlier code; None where there is none, or its file cannot be used."""
        if self._file is None or self._proof is not None:
            return self._proof
        try:
            self._proof = await self._do(partial(self._read, self._file))
        except (ConfigError, OSError, OutcomeUnknown) as error:
            self._common.log_error("second_factor_unread", error)
        if self._proof is not None:
            self._learn("proof", self._proof)
        return self._proof

    async def remember(self, proof: SecretStr | None) -> None:
        """Keep a proof, or forget the last one; what cannot be written is said in the log and kept in memory."""
        self._proof = proof
        if proof is not None:
            self._learn("proof", proof)
        if self._file is None:
            return
        try:
            await self._do(partial(self._write, self._file, proof))
        except (OSError, OutcomeUnknown) as error:
            self._common.log_error("second_factor_unkept", error)

    async def _do(self, what: Callable[[], SecretStr | None]) -> SecretStr | None:
        blocking = self._common.blocking
        return what() if blocking is None else await blocking.run(what, name="second_factor")

    def _learn(self, what: str, secret: SecretStr) -> None:
        self._common.learn(f"avatars.{self._key}.{what}", derived_forms(secret.reveal()))

    def _read(self, file: Path) -> SecretStr | None:
        if self._common.files.size(str(file)) is None:
            return None
        where = f"the file of the one-time code's proof of {self._key}"
        content = read_file(file, max_bytes=SECRET_FILE_MAX_BYTES, holds_secret=True, where=where)
        secret = secret_from(content.data)
        if isinstance(secret, SecretStr):
            return secret
        problem = ConfigProblem(path=where, what=f"the file {secret[0]}", shape="", mend="remove it")
        raise ConfigError((problem,))

    def _write(self, file: Path, proof: SecretStr | None) -> None:
        if proof is None:
            self._common.files.remove(str(file))
        else:
            self._common.files.write_durably(str(file), proof.reveal().encode() + b"\n")
