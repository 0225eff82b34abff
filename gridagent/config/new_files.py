"""Writing files that only their owner may read, all of them or none, and without being led anywhere else.

Owns the steps: the directory is opened once, no link on the way; each file is written whole under a name of its own
beside its place, and only when all are on the disk are they put there, in the order given. May not decide what is
written. `gridagent init` calls it.

Invariant: whoever reads finds a whole file, the old or the new one; an error or an interrupt before the last file is
in its place leaves no half-written one, and takes back what had been put where nothing was (Spec: CFG-2).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from gridagent.config.files import open_directory, shown_path
from gridagent.errors import OperatorError

__all__ = ("names_taken", "write_private_files")

_PRIVATE: Final = 0o600


def names_taken(directory: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Tell which of some names something stands at already, a dangling link included.

    Raises:
        ConfigError: the directory cannot be opened.
        OperatorError: no file can have such a name there.
    """
    descriptor = open_directory(directory, where="$")
    at = ""
    taken: list[str] = []
    try:
        for at in names:
            if _is_there(at, descriptor):
                taken.append(at)
        return tuple(taken)
    except OSError as error:
        raise _refusal(error, directory / at) from error
    finally:
        os.close(descriptor)


def write_private_files(directory: Path, contents: Mapping[str, bytes], *, replace: bool) -> None:
    """Write files that only this user may read (mode 600) into one directory; blocks.

    Args:
        directory: absolute; it exists.
        contents: of each file, by its name; the one that names the others comes last.
        replace: put them in the place of files that are there.

    Raises:
        ConfigError: the directory cannot be opened.
        OperatorError: something stands at one of the names, or a file cannot be written; nothing new is there then.
    """
    descriptor = open_directory(directory, where="$")
    staged: list[str] = []
    placed: list[str] = []
    at = ""
    try:
        for at, data in contents.items():
            staged.append(_beside(at))
            _stage(_beside(at), data, descriptor)
        for at in contents:
            if replace:
                os.rename(_beside(at), at, src_dir_fd=descriptor, dst_dir_fd=descriptor)
            else:
                # Unlike a rename, a link never takes the place of what is there.
                os.link(_beside(at), at, src_dir_fd=descriptor, dst_dir_fd=descriptor, follow_symlinks=False)
                placed.append(at)
        os.fsync(descriptor)
        placed.clear()
    except OSError as error:
        raise _refusal(error, directory / at) from error
    finally:
        for name in (*placed, *staged):
            with suppress(OSError):  # what is gone need not be removed
                os.unlink(name, dir_fd=descriptor)
        os.close(descriptor)


def _beside(name: str) -> str:
    return f".{name}.new"


def _stage(name: str, data: bytes, directory: int) -> None:
    """Write one file under its name for the meantime; what an earlier, killed writer left there goes."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, _PRIVATE, dir_fd=directory), "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def _is_there(name: str, directory: int) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _refusal(error: OSError, path: Path) -> OperatorError:
    where = shown_path(path)
    if error.errno == errno.EEXIST:
        return OperatorError(f"there is a file at {where} already; name another, or add --force to replace it")
    why = os.strerror(error.errno) if error.errno else "unknown error"
    return OperatorError(f"{where} cannot be written ({why}); name a file in a directory of yours")
