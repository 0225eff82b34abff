"""The log's file: private to its owner, and never larger than was said however long the service runs.

Owns opening it, setting it aside when it is full (``gridagent.log`` becomes ``gridagent.log.1`` and so on), and
beginning again where somebody else has moved it away. Knows nothing of records. Used by `gridagent.cli.run`.

Invariant: a record is in one file whole, and what cannot be set aside is written to all the same: bounds give way
before records do, and that is said (Spec: CFG-2, BND-16).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO

import attrs

from gridagent.config.files import shown_path
from gridagent.config.model import LogConfig, LogDestination
from gridagent.errors import ConfigError, ConfigProblem
from gridagent.observability import TextStream

__all__ = ("LOG", "FilePurpose", "LogFile", "log_stream", "open_log_file")

_PRIVATE: Final = 0o600


@attrs.frozen
class FilePurpose:
    """What a file is for, as an error says it."""

    name: str
    key: str
    """Configuration path that names the file."""
    mend: str


LOG: Final = FilePurpose(
    name="log",
    key="$.paths.log_file",
    mend="set it to a file that this user may write, or set log.destination to stderr",
)


def open_log_file(path: Path, purpose: FilePurpose = LOG) -> TextIO:
    """Open a file to append to, made when it is missing, never through a link.

    Raises:
        ConfigError: it cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _open(path)
    except OSError as error:
        problem = ConfigProblem(
            path=purpose.key,
            what=f"the {purpose.name} {shown_path(path)} cannot be opened ({error.strerror})",
            shape="",
            mend=purpose.mend,
        )
        raise ConfigError((problem,)) from error


def _open(path: Path) -> TextIO:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.fdopen(os.open(path, flags, _PRIVATE), "a", encoding="utf-8", errors="backslashreplace")


def log_stream(settings: LogConfig, path: Path, stderr: TextStream) -> AbstractContextManager[TextStream]:
    """Return where the configuration has the log written, to be closed by whoever opened it.

    Raises:
        ConfigError: the file cannot be opened.
    """
    if settings.destination is LogDestination.STDERR:
        return nullcontext(stderr)
    return LogFile(path, max_bytes=settings.max_bytes, keep=settings.keep_files, complain=stderr.write)


class LogFile:
    """A log that is set aside when it is full.

    Args:
        path: of the file that is written; older ones lie beside it.
        max_bytes: size beyond which it is set aside; a single record may be larger.
        keep: how many are kept that were set aside; the oldest goes.
        complain: told in one sentence when one cannot be set aside.
        purpose: what it holds; the log, or what is bounded like it.

    Raises:
        ConfigError: it cannot be opened.

    Bounds: all files together hold ``max_bytes * (keep + 1)`` bytes and a record each.
    """

    __slots__ = ("_complain", "_file", "_keep", "_max", "_path", "_purpose", "_stuck_at")

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int,
        keep: int,
        complain: Callable[[str], object],
        purpose: FilePurpose = LOG,
    ) -> None:
        self._path = path
        self._max = max_bytes
        self._keep = keep
        self._complain = complain
        self._stuck_at = 0
        self._purpose = purpose
        self._file = open_log_file(path, purpose)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close it; idempotent."""
        self._file.close()

    def write(self, text: str) -> None:
        """Write one record, whole.

        Raises:
            OSError: it was not written.
        """
        self._look_after(len(text.encode("utf-8", "backslashreplace")))
        self._file.write(text)

    def flush(self) -> None:
        """Hand it to the system.

        Raises:
            OSError: the system would not take it.
        """
        self._file.flush()

    def _look_after(self, more: int) -> None:
        """Begin a new file where this one is full, or is no longer the one of its name."""
        ours = os.fstat(self._file.fileno())
        if not self._is_there(ours):
            self._begin_again()
        elif ours.st_size and ours.st_size + more > self._max and ours.st_size >= self._stuck_at:
            self._set_aside(ours.st_size)

    def _is_there(self, ours: os.stat_result) -> bool:
        try:
            return os.path.samestat(ours, os.lstat(self._path))
        except OSError:
            return False

    def _set_aside(self, size: int) -> None:
        try:
            for number in range(self._keep, 0, -1):
                older = self._aside(number - 1)
                if older.exists():
                    older.replace(self._aside(number))
        except OSError as error:
            # Looked at again when it has grown by as much once more.
            self._stuck_at = size + self._max
            self._complain(
                f"gridagent: the {self._purpose.name} {shown_path(self._path)} is full and cannot be set aside "
                f"({error.strerror}); it grows on until its directory can be written to\n"
            )
            return
        self._stuck_at = 0
        self._begin_again()

    def _begin_again(self) -> None:
        new = _open(self._path)
        self._file.close()
        self._file = new

    def _aside(self, number: int) -> Path:
        return self._path if number == 0 else self._path.with_name(f"{self._path.name}.{number}")
