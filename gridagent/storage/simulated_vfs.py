"""The simulated disk as SQLite sees it: a VFS, its open files, and the images behind them.

Owns the translation of SQLite's calls and the content of one file (what programs see, what is safe, and the writes
in between); what survives a power cut is decided by `gridagent.storage.simulated_disk`, which alone uses this.
Invariant: every write, sync, truncation and change of a name passes the disk's one counter, where faults are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import apsw

if TYPE_CHECKING:
    from gridagent.storage.simulated_disk import SimulatedDisk

__all__ = ("SECTOR_BYTES", "Image", "SimulatedVfs", "cut", "put")

SECTOR_BYTES: Final = 512


class Image:
    """One file: what programs see, what is safe, and the writes in between, in order."""

    __slots__ = ("holder", "now", "safe", "unsynced")

    def __init__(self) -> None:
        self.now = bytearray()
        self.safe = bytearray()
        self.unsynced: list[tuple[int, bytes | None]] = []  # emptied by every sync
        self.holder: object | None = None

    def write(self, data: bytes, offset: int) -> None:
        """Write, not safely."""
        put(self.now, data, offset)
        self.unsynced.append((offset, data))

    def truncate(self, size: int) -> None:
        """Set the size, not safely."""
        cut(self.now, size)
        self.unsynced.append((size, None))

    def sync(self) -> None:
        """Make everything safe."""
        for offset, data in self.unsynced:
            if data is None:
                cut(self.safe, offset)
            else:
                put(self.safe, data, offset)
        self.unsynced.clear()


def put(image: bytearray, data: bytes, offset: int) -> None:
    """Write into an image, with zeros where it was shorter."""
    if len(image) < offset + len(data):
        image.extend(bytes(offset + len(data) - len(image)))
    image[offset : offset + len(data)] = data


def cut(image: bytearray, size: int) -> None:
    """Set an image's size, with zeros where it was shorter."""
    del image[size:]
    image.extend(bytes(size - len(image)))


_Name: TypeAlias = "str | apsw.URIFilename | None"


class SimulatedVfs(apsw.VFS):
    """The disk as SQLite sees it."""

    def __init__(self, disk: SimulatedDisk, name: str) -> None:
        self.name = name
        self._disk = disk
        super().__init__(name, base="")

    def xOpen(self, name: _Name, flags: list[int]) -> _File:  # noqa: N802 - SQLite's name
        """Open or make a file."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name or self._disk.temporary_name()
        flags[1] = flags[0]
        return _File(self._disk, path, flags[0])

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: ARG002, N802 - SQLite's name
        """Tell whether a file is there."""
        return self._disk.size(pathname) is not None

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: FBT001, N802 - SQLite's name
        """Remove a file."""
        self._disk.forget(filename, durably=syncdir)

    def xFullPathname(self, name: str) -> str:  # noqa: N802 - SQLite's name
        """Paths are full already."""
        return name


class _File(apsw.VFSFile):
    """One open file as SQLite sees it."""

    __slots__ = ("_disk", "_image", "_level", "_passing", "_path", "_syncs_name")

    def __init__(self, disk: SimulatedDisk, path: str, flags: int) -> None:  # no file of this machine is opened
        self._disk = disk
        self._path = path
        self._image = disk.open_image(path)
        self._level: int = apsw.SQLITE_LOCK_NONE
        self._passing = bool(flags & apsw.SQLITE_OPEN_DELETEONCLOSE)
        # SQLite's own VFS syncs the directory of a new log or journal with the file, and of nothing else.
        self._syncs_name = bool(flags & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL))

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        """Read what programs see."""
        return bytes(self._image.now[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        """Write; a write at which the power goes off may be there in part."""
        if self._disk.takes_writes:
            self._image.write(bytes(data), offset)
        self._disk.tick()

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        """Set the size."""
        self._disk.tick()
        self._image.truncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: ARG002, N802 - SQLite's name
        """Make the content safe."""
        self._disk.sync_image(self._path, self._image, with_name=self._syncs_name)

    def xFileSize(self) -> int:  # noqa: N802 - SQLite's name
        """Return the size."""
        return len(self._image.now)

    def xLock(self, level: int) -> None:  # noqa: N802 - SQLite's name
        """Take the file; whoever has any lock has it alone."""
        if self._image.holder not in {None, self}:
            raise apsw.BusyError("the file is locked")
        self._image.holder = self
        self._level = level

    def xUnlock(self, level: int) -> None:  # noqa: N802 - SQLite's name
        """Give the file back."""
        self._level = level
        if level == apsw.SQLITE_LOCK_NONE and self._image.holder is self:
            self._image.holder = None

    def xCheckReservedLock(self) -> bool:  # noqa: N802 - SQLite's name
        """Tell whether anybody is about to write: while nobody is, a journal that is there is hot."""
        return self._image.holder is self and self._level >= apsw.SQLITE_LOCK_RESERVED

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: ARG002, N802 - SQLite's name
        """Nothing beyond the ordinary."""
        return False

    def xClose(self) -> None:  # noqa: N802 - SQLite's name
        """Remove what is there only while it is open; SQLite gave its locks back before."""
        if self._passing and not self._disk.dead:
            self._disk.forget(self._path, durably=False)

    def xSectorSize(self) -> int:  # noqa: N802 - SQLite's name
        """Return how much is written at once."""
        return SECTOR_BYTES

    def xDeviceCharacteristics(self) -> int:  # noqa: N802 - SQLite's name
        """Return what the disk promises."""
        return apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE if self._disk.powersafe else 0
