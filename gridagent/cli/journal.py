"""The log of a command: one file, private to its owner, redacted.

Owns opening the file and what is written besides what rooms log themselves: every audit record, what
libraries log, and the full text of an error whose place in the terminal is one sentence (Spec: SUP-10, CFG-3).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

import msgspec

from gridagent.cli.places import find_places
from gridagent.config.files import shown_path
from gridagent.config.load import LoadedConfig, load_config_and_secrets
from gridagent.config.model import Config
from gridagent.config.secrets import Secrets
from gridagent.errors import ConfigError, ConfigProblem
from gridagent.ids import AvatarKey
from gridagent.observability import LibraryLogs, Log, Redactor, open_log
from gridagent.policy import AuditRecord
from gridagent.runtime.ports import Clock
from gridagent.runtime.system import SystemClock

__all__ = ("audit_sink", "library_logs_into", "open_journal", "open_log_file", "record_failure")

_PRIVATE: Final = 0o600


def open_log_file(path: Path) -> TextIO:
    """Open a log to append to, made when it is missing, never through a link.

    Raises:
        ConfigError: it cannot be opened.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, flags, _PRIVATE)
    except OSError as error:
        problem = ConfigProblem(
            path="$.paths.log_file",
            what=f"the log {shown_path(path)} cannot be opened ({error.strerror})",
            shape="",
            mend="set it to a file that this user may write, or set log.destination to stderr",
        )
        raise ConfigError((problem,)) from error
    return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")


def open_journal(config: Config, redactor: Redactor, *, stream: TextIO, stderr: TextIO, clock: Clock) -> Log:
    """Make the log that the configuration asks for."""
    return open_log(
        stream,
        redactor,
        level=config.log.level,
        format=config.log.format,
        clock=clock.wall,
        complain=stderr.write,
    )


@contextmanager
def library_logs_into(log: Log) -> Iterator[None]:
    """Lead what libraries log by themselves into this log, and nowhere else; restored afterwards (Spec: CFG-3)."""
    root = logging.getLogger()
    before = root.handlers[:]
    root.handlers[:] = [LibraryLogs(log)]
    try:
        yield
    finally:
        root.handlers[:] = before


def audit_sink(log: Log, avatar: AvatarKey, record: AuditRecord) -> None:
    """Write one audit record; it holds a digest of the arguments and no text of people."""
    fields: dict[str, object] = msgspec.to_builtins(record)
    told = {name: value for name, value in fields.items() if value not in ("", None, [], False)}
    log.info("audit", avatar=avatar, **{name: value for name, value in told.items() if name != "at"})


def record_failure(error: BaseException, *, config: Path | None, environ: Mapping[str, str]) -> str:
    """Write an error that never should have happened to the log, and say in words where it is.

    Works as far as it can while the configuration is broken; never raises because of it.
    """
    loaded = _as_far_as_possible(config, environ)
    path = find_places(loaded.config.paths).log_file
    try:
        with open_log_file(path) as file:
            log = open_log(file, Redactor(loaded.secrets.forms()), clock=SystemClock().wall)
            log.error("internal_error", exc_info=error)
    except (ConfigError, OSError):
        return "and the log cannot be written"
    return f"the whole of it is in {shown_path(path)}"


def _as_far_as_possible(config: Path | None, environ: Mapping[str, str]) -> LoadedConfig:
    for file in (config, None):
        try:
            return load_config_and_secrets(file, environ)
        except ConfigError:
            continue  # without its file the environment may still say where the log is
    return LoadedConfig(config=Config(), secrets=Secrets())
