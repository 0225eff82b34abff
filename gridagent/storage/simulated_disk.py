"""A disk in memory that real SQLite runs on, whose power can be cut at any write (Spec: SIM-3).

Owns what a disk promises and no more: what was synced stays; of what was not, each 512-byte sector is kept,
lost or torn, and each new or removed name is there or not, as the seed says. Used by tests and the simulator;
it stands behind the same `Files` and VFS that the real disk does. It can also lie about syncs, run full, and
fail, so that each of these is seen to be survived, or seen not to be.

Invariant: the same seed and the same operations give the same disk. (SQLite draws salts for its log from the
system, so the bytes of the log differ between processes; which sectors survive does not depend on them.)
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from random import Random
from typing import Literal, TypeAlias

import apsw
import msgspec

from gridagent.storage.simulated_vfs import SECTOR_BYTES, Image, SimulatedVfs, cut, put

__all__ = ("DiskCounts", "DiskFailure", "SimulatedDisk")

_KEPT, _TORN = 0.45, 0.15
"""How likely an unsynced sector is kept whole, and torn; else it is lost."""

DiskFailure: TypeAlias = Literal["full", "io_error", "sync_error"]
"""Writes that don't fit, writes that fail, syncs that fail."""


def _nothing() -> None:
    """Tell nobody."""


class DiskCounts(msgspec.Struct, kw_only=True):
    """What really happened, so that a run can show that it tested what it claims."""

    operations: int = 0
    syncs: int = 0
    cuts: int = 0
    kills: int = 0
    sectors_kept: int = 0
    sectors_lost: int = 0
    sectors_torn: int = 0
    names_lost: int = 0
    syncs_lied: int = 0


class SimulatedDisk:
    """One disk; registers a VFS of its own until `close`.

    Args:
        rng: decides what survives a power cut.
        name: of the VFS; unlike that of any other disk in use in this process.
        lies: report syncs as done without doing them.
        powersafe: tell SQLite, as its own VFS does, that a torn write harms no byte beside it.
    """

    __slots__ = (
        "_cut_at",
        "_failure",
        "_files",
        "_lies",
        "_names",
        "_rng",
        "_temporary",
        "_vfs",
        "counts",
        "dead",
        "on_down",
        "powersafe",
    )

    def __init__(self, rng: Random, *, name: str, lies: bool = False, powersafe: bool = True) -> None:
        self._rng = rng
        self._lies = lies
        self.powersafe = powersafe
        self._files: dict[str, Image] = {}  # a database, its log, and what lies beside it
        self._names: dict[str, Image] = {}
        """The names that survive a power cut."""
        self._cut_at: int | None = None
        self._failure: DiskFailure | None = None
        self.dead = False
        """The power is off, or whoever used it died; everything fails until `reboot` or `go_on`."""
        self.on_down: Callable[[], None] = _nothing
        """Called at the very moment it goes dead; must not touch the disk."""
        self.counts = DiskCounts()
        self._temporary = 0
        self._vfs = SimulatedVfs(self, name)

    # --- faults -----------------------------------------------------------------------------------

    def cut_after(self, operations: int) -> None:
        """Cut the power at the n-th write, sync, truncation or change of a name from now; 1 is the next."""
        self._cut_at = self.counts.operations + operations

    def cut_now(self) -> None:
        """Cut the power."""
        if not self.dead:
            self.counts.cuts += 1
            self.dead = True
            self.on_down()

    def kill(self) -> None:
        """Let whoever uses it die with the power on: nothing reaches it any more until `go_on`."""
        if not self.dead:
            self.counts.kills += 1
            self.dead = True
            self.on_down()

    def go_on(self) -> None:
        """Let somebody else use it after `kill`: whatever was written is there, safe or not. Nothing may be open."""
        for image in self._files.values():
            image.holder = None
        self.dead = False

    def twin(self, *, name: str) -> SimulatedDisk:
        """Return a disk that holds the same files, to look at while this one stays as it is.

        Args:
            name: of its VFS.
        """
        other = SimulatedDisk(self._rng, name=name, powersafe=self.powersafe)
        for path, image in self._files.items():
            same = Image()
            same.now, same.safe = bytearray(image.now), bytearray(image.now)
            other._files[path] = other._names[path] = same
        return other

    def fail(self, failure: DiskFailure) -> None:
        """Fail from now on, with the power on, until `heal`."""
        self._failure = failure

    def heal(self) -> None:
        """Work again."""
        self._failure = None

    def reboot(self) -> None:
        """Switch the power on again: what was not safe is kept, lost or torn. Nothing may have a file open."""
        self.cut_now()
        kept: dict[str, Image] = {}
        for name in sorted(self._files | self._names):
            now, safe = self._files.get(name), self._names.get(name)
            image = now if now is safe or self._rng.random() < 1 / 2 else safe
            if image is not now:
                self.counts.names_lost += 1
            if image is not None:
                kept[name] = image
        for image in {id(each): each for each in kept.values()}.values():
            self._settle(image)
            image.holder = None
        self._files = dict(kept)
        self._names = dict(kept)
        self._cut_at = None
        self._failure = None
        self.dead = False

    def _settle(self, image: Image) -> None:
        for offset, data in image.unsynced:
            if data is None:
                if self._rng.random() < 1 / 2:
                    cut(image.safe, offset)
                continue
            for at in range(0, len(data), SECTOR_BYTES):
                part = data[at : at + SECTOR_BYTES]
                lot = self._rng.random()
                if lot < _KEPT:
                    self.counts.sectors_kept += 1
                elif lot < _KEPT + _TORN:
                    self.counts.sectors_torn += 1
                    part = part[: self._rng.randrange(len(part))]
                else:
                    self.counts.sectors_lost += 1
                    continue
                put(image.safe, part, offset + at)
        image.unsynced.clear()
        image.now = bytearray(image.safe)

    def flip(self, path: str, offset: int) -> None:
        """Damage one byte, also where it is safe."""
        image = self._files[path]
        for content in (image.now, image.safe):
            content[offset] ^= 0xFF

    def close(self) -> None:
        """Take the VFS away; the files stay readable through this object."""
        self._vfs.unregister()

    def erase(self) -> None:
        """Let go of every file: disk and VFS refer to each other, so whoever waits for the collector keeps them."""
        self._files.clear()
        self._names.clear()

    # --- what the VFS does ------------------------------------------------------------------------

    @property
    def takes_writes(self) -> bool:
        """Whether a write reaches the disk at all: also the one at which the power goes off, in part."""
        return not self.dead and self._failure in {None, "sync_error"}

    def tick(self, *, syncs: bool = False) -> None:
        """Count one operation; fail if the disk does.

        Raises:
            apsw.IOError: the power is off or the disk fails.
            apsw.FullError: the disk is full.
        """
        self.counts.operations += 1
        if self._cut_at is not None and self.counts.operations >= self._cut_at:
            self.cut_now()
        if self.dead:
            raise apsw.IOError("the power is off")
        if self._failure == "full" and not syncs:
            raise apsw.FullError("no space is left")
        if self._failure == "io_error" or (self._failure == "sync_error" and syncs):
            raise apsw.IOError("the disk failed")

    def open_image(self, path: str) -> Image:
        """Return a file, made when it isn't there."""
        image = self._files.get(path)
        if image is None:
            self.tick()
            image = self._files[path] = Image()
        return image

    def temporary_name(self) -> str:
        """Return a name that no file has."""
        self._temporary += 1
        return f"temporary-{self._temporary}"

    def sync_image(self, path: str, image: Image, *, with_name: bool) -> None:
        """Make a file safe, and its name if SQLite would."""
        self.tick(syncs=True)
        self.counts.syncs += 1
        if self._lies:
            self.counts.syncs_lied += 1
            return
        image.sync()
        if with_name and self._files.get(path) is image:
            self._names[path] = image

    def forget(self, path: str, *, durably: bool) -> None:
        """Remove a name."""
        if path in self._files:
            self.tick()
            del self._files[path]
            if durably:
                self._names.pop(path, None)

    # --- files ------------------------------------------------------------------------------------

    @property
    def vfs(self) -> str:
        """Name of the VFS of this disk."""
        return self._vfs.name

    def size(self, path: str) -> int | None:
        """Return a file's size in bytes; None when there is none."""
        image = self._files.get(path)
        return None if image is None else len(image.now)

    def names(self, directory: str) -> tuple[str, ...]:
        """Return what is in a directory, sorted."""
        return tuple(sorted(posixpath.basename(each) for each in self._files if posixpath.dirname(each) == directory))

    def read(self, path: str, *, max_bytes: int) -> bytes | None:
        """Return at most ``max_bytes`` of a file; None when there is none."""
        image = self._files.get(path)
        return None if image is None else bytes(image.now[:max_bytes])

    def prepare(self, path: str) -> None:
        """Make an empty file unless it is there."""
        if path not in self._files:
            with _AsOsError():
                self.open_image(path)
            self.sync_directory(posixpath.dirname(path))

    def write_durably(self, path: str, data: bytes) -> None:
        """Replace a file by way of a synced neighbour."""
        beside = f"{path}.new"
        with _AsOsError():
            self.forget(beside, durably=False)
            image = self.open_image(beside)
            image.write(data, 0)
            self.tick()
        self.sync(beside)
        self.move_durably(beside, path)

    def move_durably(self, source: str, target: str) -> None:
        """Rename a file over ``target``, and make that survive a power cut."""
        with _AsOsError():
            self.tick()
        self._files[target] = self._files.pop(source)
        self.sync_directory(posixpath.dirname(target))

    def copy(self, source: str, target: str) -> None:
        """Write a file's content into another."""
        with _AsOsError():
            self.tick()
        self._files[target].write(bytes(self._files[source].now), 0)

    def sync(self, path: str) -> None:
        """Make a file's content safe."""
        with _AsOsError():
            self.sync_image(path, self._files[path], with_name=False)

    def sync_directory(self, directory: str) -> None:
        """Make the names in a directory safe."""
        with _AsOsError():
            self.tick(syncs=True)
        if self._lies:
            self.counts.syncs_lied += 1
            return
        for path in sorted(self._files | self._names):
            if posixpath.dirname(path) == directory:
                if path in self._files:
                    self._names[path] = self._files[path]
                else:
                    del self._names[path]

    def remove(self, path: str) -> None:
        """Remove a file if it is there."""
        with _AsOsError():
            self.forget(path, durably=False)


class _AsOsError:
    """What SQLite is told as its own errors, programs are told as `OSError`."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, apsw.Error):
            raise OSError(5, str(error)) from error
