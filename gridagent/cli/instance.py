"""One service a runtime directory, and one a avatar: locks that are held for life (Spec: OPS-4).

Owns the advisory locks and the sentence that names their holder. The lock is the kernel's and goes with
the process, however it ends; the file beneath it only says who holds it. The command ``run`` takes the
locks before anything else and keeps them.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from gridagent.errors import OperatorError
from gridagent.fronts.control.rendezvous import RuntimeDirectory

__all__ = ("AlreadyRunning", "Holder", "InstanceLocks", "holder_of")

SERVICE_LOCK: Final = "service.lock"
_HOLDER_MAX_BYTES: Final = 1_024


class AlreadyRunning(OperatorError):
    """Somebody else holds the lock."""

    code = "already_running"


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds a lock."""

    pid: int
    since: str
    """Wall clock, as a person reads it."""


_HOLDER: Final = msgspec.json.Decoder(Holder)


class InstanceLocks:
    """The locks of one process; a context manager.

    Args:
        holder: who takes them.
    """

    __slots__ = ("_descriptors", "_holder")

    def __init__(self, holder: Holder) -> None:
        self._holder = holder
        self._descriptors: list[int] = []  # one a lock

    def take_service(self, directory: RuntimeDirectory) -> None:
        """Lock a runtime directory.

        Raises:
            AlreadyRunning: a service holds it.
        """
        self._take(
            directory,
            SERVICE_LOCK,
            f"a service runs already in {directory.path}",
            "stop it with: gridagent stop, or set paths.runtime_dir to another directory",
        )

    def take_avatars(self, directory: RuntimeDirectory, keys: Iterable[str]) -> None:
        """Lock every avatar, in the directory that holds what survives of them.

        Raises:
            AlreadyRunning: another service runs one of them.
        """
        for key in keys:
            self._take(
                directory,
                f"{key}.lock",
                f"the avatar {key} is being run already",
                "stop that service first, or set paths.state_dir to another directory",
            )

    def _take(self, directory: RuntimeDirectory, name: str, what: str, mend: str) -> None:
        try:
            import fcntl  # noqa: PLC0415 - absent on some platforms
        except ImportError as error:
            raise OperatorError("this platform has no file locks, so two services could run one avatar") from error
        try:
            descriptor = directory.open_file(name, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            code = errno.errorcode.get(error.errno or 0, "unknown error")
            raise OperatorError(f"the lock {directory.path / name} cannot be opened ({code}); remove it") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            held_by = _read_holder(descriptor)
            os.close(descriptor)
            raise AlreadyRunning(f"{what}, {held_by}; {mend}") from error
        self._descriptors.append(descriptor)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(self._holder) + b"\n", 0)

    def release(self) -> None:
        """Let go of every lock; the files stay, since removing one would let two hold "it". Idempotent."""
        while self._descriptors:
            os.close(self._descriptors.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()


def _read_holder(descriptor: int) -> str:
    try:
        holder = _HOLDER.decode(os.pread(descriptor, _HOLDER_MAX_BYTES, 0))
    except (msgspec.MsgspecError, OSError):
        return "by a process that did not say which"
    return f"by process {holder.pid} since {holder.since}"


def holder_of(path: Path) -> str | None:
    """Say who holds a lock; None when nobody does. Makes nothing, and holds nothing afterwards.

    Raises:
        OSError: the file is there and cannot be looked at.
    """
    try:
        import fcntl  # noqa: PLC0415 - absent on some platforms
    except ImportError:
        return None  # a service does not start there
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_holder(descriptor)
    finally:
        os.close(descriptor)
    return None


def avatar_locks_directory(state_dir: Path) -> Path:
    """Return where the locks of avatars are kept."""
    return state_dir / "avatars"
