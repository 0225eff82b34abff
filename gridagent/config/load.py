"""Loading the configuration: file, environment and options into one `Config`, or one error with every problem.

Owns the order of steps: read the file safely, parse, lay the environment over it, build, check rules between
keys, read the secret files. Performs no network and starts nothing. The command line and embedders call it.

Invariant: the only exception is `ConfigError`; it lists all problems of all steps, and neither it nor any frame of
its traceback holds a value from the file, the environment or a secret (Spec: CFG-1, CFG-3).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from gridagent.config.annotations import read_type
from gridagent.config.build import Builder
from gridagent.config.document import Node, Problems, parse
from gridagent.config.environment import lay_over
from gridagent.config.files import absolute_path, read_file, shown_path
from gridagent.config.model import Config
from gridagent.config.rules import check_rules
from gridagent.config.secrets import SECRET_MIN_CHARS, EndpointUrl, Secrets, SecretStr
from gridagent.errors import ConfigError
from gridagent.limits import CONFIG_FILE_MAX_BYTES, SECRET_FILE_MAX_BYTES

__all__ = ("LoadedConfig", "Loading", "begin_loading", "load_config", "load_config_and_secrets", "parse_config")

_NO_OPTIONS: Final[Mapping[str, str]] = {}


class LoadedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration that can be used, and the secrets it names."""

    config: Config
    secrets: Secrets


def load_config(
    file: Path | None, environ: Mapping[str, str], options: Mapping[str, str] = _NO_OPTIONS, *, cwd: Path | None = None
) -> Config:
    """Load the configuration without opening the secret files it names.

    Args:
        file: the configuration file; None for defaults and environment alone.
        environ: the environment; names beginning with ``GRIDAGENT_`` count. Whoever prints tracebacks with locals
            keeps it in no variable of a calling frame either.
        options: values by dotted path that win over everything, such as ``{"log.level": "debug"}``.
        cwd: directory that relative paths on the command line and in variables start from.

    Raises:
        ConfigError: with every problem.
    """
    loading = begin_loading(file, environ, options, cwd)
    del environ, options
    return loading.finish().config


def load_config_and_secrets(
    file: Path | None, environ: Mapping[str, str], options: Mapping[str, str] = _NO_OPTIONS, *, cwd: Path | None = None
) -> LoadedConfig:
    """Load the configuration and every secret file it names; see `load_config`.

    Raises:
        ConfigError: with every problem, of the configuration and of all secret files.
    """
    loading = begin_loading(file, environ, options, cwd)
    # The environment may hold any secret: it is on no frame from which an error is raised.
    del environ, options
    loading.read_secrets()
    return loading.finish()


def parse_config(
    data: bytes,
    environ: Mapping[str, str] = _NO_OPTIONS,
    options: Mapping[str, str] = _NO_OPTIONS,
    *,
    base: Path | None = None,
) -> Config:
    """Take a configuration that is in memory already (a reload), as `load_config` takes a file.

    Args:
        data: JSON of at most 64 KiB; lines that begin with ``//`` are comments.
        environ: as in `load_config`.
        options: as in `load_config`.
        base: directory that relative paths start from.

    Raises:
        ConfigError: with every problem.
    """
    loading = Loading(base, environ)
    loading.parse(data)
    loading.build(environ, options)
    del data, environ, options
    return loading.finish().config


def begin_loading(
    file: Path | None, environ: Mapping[str, str], options: Mapping[str, str], cwd: Path | None
) -> Loading:
    """Take every step that needs the environment; raises nothing.

    For callers that raise from a frame of their own: they delete the environment from it first, then `finish`.
    """
    loading = Loading(cwd, environ)
    loading.read(file)
    loading.build(environ, options)
    return loading


class Loading:
    """One load, step by step; every step notes problems and goes on."""

    __slots__ = (
        *("_base", "_config", "_cwd", "_endpoints", "_home", "_private"),
        *("_problems", "_secret_files", "_secrets", "_tree", "source"),
    )

    def __init__(self, cwd: Path | None, environ: Mapping[str, str]) -> None:
        self._cwd = cwd or Path.cwd()
        self._base = self._cwd
        self._home = {name: environ[name] for name in ("HOME", "USERPROFILE") if name in environ}
        self._private = True
        self._problems = Problems()
        self._tree: Node | None = Node({})
        self._config = Config()
        self._secret_files: dict[str, str] = {}
        self._endpoints: dict[str, EndpointUrl] = {}
        self._secrets: dict[str, SecretStr] = {}
        self.source = "configuration"

    def read(self, file: Path | None) -> None:
        """Read and parse the file, if there is one."""
        if file is None:
            return
        path = absolute_path(str(file), base=self._cwd, environ=self._home)
        if path is None:
            self._problems.add(
                "$", "the file's path begins with ~, and no home directory is known", "give the full path"
            )
            return
        self.source = shown_path(path)
        self._base = path.parent
        try:
            content = read_file(path, max_bytes=CONFIG_FILE_MAX_BYTES, holds_secret=False, where="$")
        except ConfigError as error:
            self._problems.add_news(error.problems)
            return
        self._private = content.private
        self.parse(content.data)

    def parse(self, data: bytes) -> None:
        """Parse the document; nothing is built from one that isn't JSON."""
        if len(data) > CONFIG_FILE_MAX_BYTES:
            self._tree = None
            self._problems.add(
                "$", f"is larger than {CONFIG_FILE_MAX_BYTES} bytes", "make it smaller", f"{len(data)} bytes"
            )
            return
        self._tree = parse(data, self._problems, comments=True)
        if self._tree is not None and not isinstance(self._tree.value, dict):
            self._problems.add("$", "must be an object {…}", "write the whole configuration as one object")
            self._tree = None

    def build(self, environ: Mapping[str, str], options: Mapping[str, str]) -> None:
        """Lay environment and options over the tree and build the configuration."""
        tree = self._tree or Node({})
        lay_over(tree, environ, options, defaults=_default_values(), problems=self._problems)
        builder = Builder(self._problems, self._resolve)
        config = builder.build(tree, read_type(Config), "$")
        assert isinstance(config, Config)  # noqa: S101 - every key has a default that stands in for what is wrong
        self._config = config
        self._secret_files = builder.secret_files
        self._endpoints = builder.endpoints
        self._problems.add_news(check_rules(config, is_sound=lambda path: not self._problems.touch(path)))
        self._check_privacy(builder.endpoints_in_file)

    def _resolve(self, text: str, origin: str) -> str | None:
        path = absolute_path(text, base=self._cwd if origin else self._base, environ=self._home)
        return None if path is None else str(path)

    def _check_privacy(self, endpoints: Mapping[str, EndpointUrl]) -> None:
        """A URL's query may be a key: then the file is a secret file."""
        for path, endpoint in endpoints.items():
            if endpoint.has_query and not self._private:
                self._problems.add(
                    path,
                    "its query may be a key, and others may read the configuration file",
                    "run chmod 600 on the file",
                    str(endpoint),
                )

    def read_secrets(self) -> None:
        """Read every secret file that is named well."""
        found: dict[str, SecretStr] = {}
        for where, file in self._secret_files.items():
            secret = _read_secret(Path(file), where, self._problems)
            if secret is not None:
                found[where.removeprefix("$.")] = secret
        self._secrets = found

    def finish(self) -> LoadedConfig:
        """Return what was loaded.

        Raises:
            ConfigError: something was noted.
        """
        if len(self._problems):
            raise ConfigError(self._problems.listed(), source=self.source)
        return LoadedConfig(config=self._config, secrets=Secrets(self._secrets, self._endpoints))


def _default_values() -> Mapping[str, object]:
    values: dict[str, object] = msgspec.to_builtins(Config())
    return values


def _read_secret(path: Path, where: str, problems: Problems) -> SecretStr | None:
    try:
        content = read_file(path, max_bytes=SECRET_FILE_MAX_BYTES, holds_secret=True, where=where)
    except ConfigError as error:
        problems.add_news(error.problems)
        return None
    secret = secret_from(content.data)
    if isinstance(secret, SecretStr):
        return secret
    problems.add(where, f"the secret file {secret[0]}", secret[1], f"{len(content.data)} bytes")
    return None


def secret_from(data: bytes) -> SecretStr | tuple[str, str]:
    """Take the one line of a secret file; a line end after it is not part of it.

    Returns:
        The secret, or what is wrong with the file and how to mend it.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "is not UTF-8", "save it as UTF-8"
    line = text.removesuffix("\n").removesuffix("\r")
    if line.startswith("\ufeff"):
        return "begins with a byte order mark", "save it without one"
    if any(char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" for char in line):
        return "has more than one line, or a control character", "put the secret alone on one line"
    if len(line) < SECRET_MIN_CHARS:
        return f"holds fewer than {SECRET_MIN_CHARS} characters", "put the secret into it, alone on one line"
    return SecretStr(line)
