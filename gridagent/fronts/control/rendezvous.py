"""The files by which a client finds a running service: where it listens, and the token.

Owns the runtime directory: made and kept for its owner alone (0700), entered without following a link;
``control.token`` and ``control.json`` (0600) are made new at the start and removed at the stop. The
server's side writes, the client's side reads; who may use the directory at all is the instance lock of
the command line.

Invariant: everything is done relative to the one descriptor that was checked, so nothing can be swapped
in between, and no error or representation holds the token (Spec: OPS-6, CFG-2).
"""

from __future__ import annotations

import errno
import os
import stat
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from gridagent.config.files import platform_gaps, read_file, shown_path
from gridagent.config.load import secret_from
from gridagent.config.secrets import SecretStr
from gridagent.errors import ConfigError, OperatorError
from gridagent.limits import Label

__all__ = ("Endpoint", "RuntimeDirectory", "find_endpoint")

TOKEN_FILE: Final = "control.token"  # noqa: S105 - the name of a file
ENDPOINT_FILE: Final = "control.json"
_NEW: Final = ".new"
_FILE_MAX_BYTES: Final = 4_096
_PRIVATE_DIRECTORY: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_OTHERS: Final = 0o077
_NO_DIRECTORY: Final = frozenset({errno.EEXIST, errno.ELOOP, errno.ENOTDIR})


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a service listens."""

    host: Annotated[str, Meta(max_length=64)]
    port: Annotated[int, Meta(ge=1, le=65_535)]
    pid: int
    started_at: float
    """Wall clock, in seconds."""
    protocol: int
    instance: Label
    """Told again in the welcome: whoever answers on the port without knowing it did not write this file."""


_ENDPOINT: Final = msgspec.json.Decoder(Endpoint)


class RuntimeDirectory:
    """The directory, held open by its descriptor; a context manager.

    Args:
        path: absolute; made when it is missing, its parents too.

    Raises:
        OperatorError: it cannot be made, is a link, belongs to somebody else, or others may enter it.
    """

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path) -> None:
        gaps = platform_gaps()
        if gaps:
            raise OperatorError(
                f"this platform cannot protect the runtime directory (it lacks {', '.join(gaps)}); "
                "set control.enabled to false"
            )
        self.path = path
        self._descriptor = _open_private(path)

    def __repr__(self) -> str:
        return f"<RuntimeDirectory {shown_path(self.path)}>"

    def open_file(self, name: str, flags: int) -> int:
        """Open a file of the directory, never through a link, for its owner alone; returns a descriptor.

        Raises:
            OSError: it cannot be opened.
        """
        mode = flags | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, mode, _PRIVATE_FILE, dir_fd=self._descriptor)

    def create(self, name: str, data: bytes) -> None:
        """Make a file of this directory anew; one that an earlier run left is removed first.

        Raises:
            OSError: it cannot be made.
        """
        self.remove(name)
        descriptor = self.open_file(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        try:
            os.unlink(name, dir_fd=self._descriptor)
        except FileNotFoundError:
            return

    def publish(self, endpoint: Endpoint, token: str) -> None:
        """Write the token, then the endpoint; a client never sees half of either.

        Raises:
            OperatorError: the files cannot be written.
        """
        try:
            self.create(TOKEN_FILE, token.encode() + b"\n")
            self.create(ENDPOINT_FILE + _NEW, msgspec.json.encode(endpoint) + b"\n")
            os.rename(ENDPOINT_FILE + _NEW, ENDPOINT_FILE, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except OSError as error:
            raise OperatorError(
                f"the control endpoint cannot be announced in {shown_path(self.path)} ({_code(error)}); "
                "free space there, or set paths.runtime_dir to another directory"
            ) from error

    def withdraw(self) -> None:
        """Remove both files; idempotent, and good from any exit path."""
        for name in (ENDPOINT_FILE, ENDPOINT_FILE + _NEW, TOKEN_FILE):
            self.remove(name)

    def close(self) -> None:
        """Let go of the directory; idempotent."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _open_private(path: Path) -> int:
    shown = shown_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=_PRIVATE_DIRECTORY, exist_ok=True)
        # O_NOFOLLOW refuses a link as the last name; what stands before it is the operator's own choice.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        why = "it is a link or no directory" if error.errno in _NO_DIRECTORY else _code(error)
        raise OperatorError(
            f"the runtime directory {shown} cannot be used ({why}); set paths.runtime_dir to another one"
        ) from error
    flaw = _flaw(os.fstat(descriptor), shown)
    if flaw:
        os.close(descriptor)
        raise OperatorError(flaw)
    return descriptor


def _flaw(status: os.stat_result, shown: str) -> str:
    if status.st_uid != os.geteuid():
        return f"the runtime directory {shown} belongs to another user; set paths.runtime_dir to one of your own"
    if stat.S_IMODE(status.st_mode) & _OTHERS:
        return f"others may enter the runtime directory {shown}; run chmod 700 on it"
    return ""


def _code(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "unknown error")


def find_endpoint(directory: Path) -> tuple[Endpoint, SecretStr] | None:
    """Read what a running service left in its runtime directory.

    Returns:
        The endpoint and the token, or None when no service has announced itself there.

    Raises:
        OperatorError: the files are there and cannot be trusted or read.
    """
    # The directory's own path may lead through links (macOS, a linked home); its files may not.
    real = Path(os.path.realpath(directory))
    if not os.path.lexists(real / ENDPOINT_FILE):
        return None
    try:
        endpoint = _ENDPOINT.decode(_read(real / ENDPOINT_FILE))
        if not ip_address(endpoint.host).is_loopback:
            raise msgspec.ValidationError("the token is never sent to another machine")
        token = secret_from(_read(real / TOKEN_FILE))
    except ConfigError as error:
        problem = error.problems[0]
        raise OperatorError(
            f"the control endpoint's file in {shown_path(directory)} cannot be used: {problem.what}; {problem.mend}"
        ) from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise OperatorError(
            f"the file {ENDPOINT_FILE} in {shown_path(directory)} is damaged; restart the service, which writes it anew"
        ) from error
    if not isinstance(token, SecretStr):
        raise OperatorError(
            f"the file {TOKEN_FILE} in {shown_path(directory)} {token[0]}; restart the service, which writes it anew"
        )
    return endpoint, token


def _read(path: Path) -> bytes:
    return read_file(path, max_bytes=_FILE_MAX_BYTES, holds_secret=True, where=path.name).data
