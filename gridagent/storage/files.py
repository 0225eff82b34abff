"""The few things done to files beside the database, as a port: markers, backups, directory entries.

Owns the protocol and its real side; decides nothing. `gridagent.storage.simulated_disk` is the other side,
where power cuts can be had. All of it blocks, so it runs inside the blocking port.

Invariant: the database file itself is never opened here while a connection may have it open, since closing
any descriptor of a file drops its locks (POSIX).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Protocol

__all__ = ("Files", "SystemFiles")

PRIVATE_FILE: Final = 0o600
PRIVATE_DIRECTORY: Final = 0o700
COPIED_AT_ONCE_BYTES: Final = 1 << 20


class Files(Protocol):
    """Files as storage needs them. Paths are absolute; errors are `OSError`."""

    @property
    def vfs(self) -> str:
        """Name of the SQLite VFS that opens the same files; empty is SQLite's own."""
        ...

    def size(self, path: str) -> int | None:
        """Return a file's size in bytes; None when there is none."""
        ...

    def names(self, directory: str) -> tuple[str, ...]:
        """Return what is in a directory, sorted; nothing when there is no such directory."""
        ...

    def read(self, path: str, *, max_bytes: int) -> bytes | None:
        """Return at most ``max_bytes`` of a file; None when there is none."""
        ...

    def prepare(self, path: str) -> None:
        """Make an empty file that only its owner may open, and its directory, unless they are there; durably."""
        ...

    def write_durably(self, path: str, data: bytes) -> None:
        """Replace a file: afterwards, also after a power cut, it holds all of the old or all of the new."""
        ...

    def move_durably(self, source: str, target: str) -> None:
        """Rename a complete, synced file over ``target``, and make that survive a power cut."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Write a file's content into another, prepared one."""
        ...

    def sync(self, path: str) -> None:
        """Make a file's content survive a power cut."""
        ...

    def sync_directory(self, directory: str) -> None:
        """Make the entries of a directory survive a power cut."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file if it is there."""
        ...


class SystemFiles:
    """Files of this machine."""

    __slots__ = ()

    @property
    def vfs(self) -> str:
        """SQLite's own."""
        return ""

    def size(self, path: str) -> int | None:
        """Return a file's size in bytes; None when there is none."""
        try:
            return Path(path).stat().st_size
        except FileNotFoundError:
            return None

    def names(self, directory: str) -> tuple[str, ...]:
        """Return what is in a directory, sorted."""
        try:
            return tuple(sorted(os.listdir(directory)))  # noqa: PTH208 - names, not paths
        except FileNotFoundError:
            return ()

    def read(self, path: str, *, max_bytes: int) -> bytes | None:
        """Return at most ``max_bytes`` of a file; None when there is none."""
        try:
            with Path(path).open("rb") as file:
                return file.read(max_bytes)
        except FileNotFoundError:
            return None

    def prepare(self, path: str) -> None:
        """Make an empty file that only its owner may open, and its directory, unless they are there."""
        Path(path).parent.mkdir(PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        if self.size(path) is None:
            os.close(os.open(path, flags | os.O_EXCL, PRIVATE_FILE))
            self.sync_directory(str(Path(path).parent))

    def write_durably(self, path: str, data: bytes) -> None:
        """Replace a file by way of a synced neighbour."""
        beside = f"{path}.new"
        self.remove(beside)
        self.prepare(beside)
        with Path(beside).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self.move_durably(beside, path)

    def move_durably(self, source: str, target: str) -> None:
        """Rename a complete, synced file over ``target``, and make that survive a power cut."""
        Path(source).replace(target)
        self.sync_directory(str(Path(target).parent))

    def copy(self, source: str, target: str) -> None:
        """Write a file's content into another, prepared one."""
        with Path(source).open("rb") as read, Path(target).open("r+b") as written:
            while part := read.read(COPIED_AT_ONCE_BYTES):
                written.write(part)

    def sync(self, path: str) -> None:
        """Make a file's content survive a power cut."""
        descriptor = os.open(path, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def sync_directory(self, directory: str) -> None:
        """Make the entries of a directory survive a power cut, where the platform can say so."""
        if hasattr(os, "O_DIRECTORY"):
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def remove(self, path: str) -> None:
        """Remove a file if it is there."""
        Path(path).unlink(missing_ok=True)
