"""The log of a command: one file, private to its owner, redacted.

Owns what is written besides what rooms log themselves: every audit record, what libraries log, and the full
text of an error whose place in the terminal is one sentence (Spec: SUP-10, CFG-3).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import msgspec

from gridagent.cli.log_file import open_log_file
from gridagent.cli.places import find_places
from gridagent.config.files import shown_path
from gridagent.config.load import LoadedConfig, load_config_and_secrets
from gridagent.config.model import Config
from gridagent.config.secrets import Secrets
from gridagent.errors import ConfigError
from gridagent.ids import AvatarKey
from gridagent.observability import LibraryLogs, Log, Redactor, TextStream, open_log
from gridagent.policy import AuditRecord
from gridagent.runtime.ports import Clock
from gridagent.runtime.system import SystemClock

__all__ = ("audit_sink", "library_logs_into", "open_journal", "record_failure")


def open_journal(config: Config, redactor: Redactor, *, stream: TextStream, stderr: TextIO, clock: Clock) -> Log:
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
