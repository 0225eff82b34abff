"""Reading a file the operator named, without being led anywhere else (Spec: CFG-2).

Owns the walk from the root to the file, one directory descriptor at a time, none of them a link; the checks on
the open descriptor; and the size cap while reading. May not decide what a file means. The loader calls it for
the configuration and for every secret file, the composition root for the log file it appends to; `config.new_files`
writes where `open_directory` leads.

Invariant: what is read is what was checked (nothing is looked up twice by name), and no error holds content.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TextIO

import msgspec

from gridagent.config import acl
from gridagent.errors import ConfigError, ConfigProblem

__all__ = (
    "FileContent",
    "absolute_path",
    "open_directory",
    "open_for_append",
    "platform_gaps",
    "read_file",
    "shown_path",
)

_CHUNK_BYTES: Final = 16 * 1024
_OTHERS: Final = 0o077
_MORE_THAN_GROUP_READS: Final = 0o037
_WORLD_WRITABLE: Final = 0o002


class FileContent(msgspec.Struct, frozen=True, kw_only=True):
    """What was read, and whether others may read it too."""

    data: bytes
    private: bool
    """Nobody but its owner, and this user, has any permission on it."""

    def __repr__(self) -> str:
        return f"FileContent({len(self.data)} bytes, private={self.private})"


class _Refused(Exception):
    """A check failed: ``what`` and ``mend`` become a `ConfigProblem`."""

    def __init__(self, what: str, mend: str, shape: str = "") -> None:
        super().__init__(what)
        self.problem = (what, mend, shape)


def platform_gaps() -> tuple[str, ...]:
    """Name what this platform lacks to open files without following links; empty where all is there."""
    gaps = [flag for flag in ("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC") if not hasattr(os, flag)]
    if os.open not in os.supports_dir_fd:
        gaps.append("open relative to a directory")
    if not hasattr(os, "geteuid"):
        gaps.append("file owners")
    return tuple(gaps)


def absolute_path(text: str, *, base: Path, environ: Mapping[str, str]) -> Path | None:
    """Turn a path as the operator wrote it into an absolute one, looking at no file.

    Args:
        text: absolute, relative to ``base``, or beginning with ``~/``.
        base: an absolute directory, usually the configuration file's.
        environ: where ``HOME`` (or ``USERPROFILE``) is looked up for ``~/``.

    Returns:
        The path with ``.`` and ``..`` taken out, or None when ``~`` cannot be resolved.
    """
    if text.startswith("~"):
        home = environ.get("HOME") or environ.get("USERPROFILE")
        if not home or not text.startswith("~/"):
            return None
        text = home + text[1:]
    return Path(os.path.normpath(base / text))


def read_file(path: Path, *, max_bytes: int, holds_secret: bool, where: str) -> FileContent:
    """Read a regular file of this user's without following a single link.

    Args:
        path: absolute.
        max_bytes: the most that is read, whatever size the file claims.
        holds_secret: refuse a file on which anybody but its owner has a permission.
        where: configuration path named in an error.

    Raises:
        ConfigError: with the one reason why this file isn't read.
    """
    try:
        return _read(path, max_bytes=max_bytes, holds_secret=holds_secret)
    except _Refused as why:
        refused = why.problem
    # Raised outside the handler: no frame and no context that could have held content goes along.
    source = "secret file" if holds_secret else shown_path(path)
    raise ConfigError((_problem(where, refused),), source=source)


def open_for_append(path: Path, *, where: str) -> TextIO:
    """Open a file of this user's to add text to, making it (mode 600) if it isn't there; no link is followed.

    Args:
        path: absolute; its directory exists.
        where: configuration path named in an error.

    Raises:
        ConfigError: with the one reason why it isn't opened.
    """
    try:
        return _append(path)
    except _Refused as why:
        refused = why.problem
    raise ConfigError((_problem(where, refused),), source=shown_path(path))


def open_directory(path: Path, *, where: str) -> int:
    """Open a directory to work in, no link on the way to it followed; the caller closes it.

    Args:
        path: absolute.
        where: configuration path named in an error.

    Returns:
        Its descriptor.

    Raises:
        ConfigError: with the one reason why it isn't opened.
    """
    try:
        _check_platform(path)
        return _open_without_links(path, os.O_RDONLY | os.O_DIRECTORY)
    except _Refused as why:
        refused = why.problem
    raise ConfigError((_problem(where, refused),), source=shown_path(path))


def _problem(where: str, refused: tuple[str, str, str]) -> ConfigProblem:
    what, mend, shape = refused
    return ConfigProblem(path=where, what=what, shape=shape, mend=mend)


def shown_path(path: Path) -> str:
    """Return a path fit for one line of output: at most 256 characters, nothing unprintable."""
    text = str(path)
    clean = "".join(char if char.isprintable() else "?" for char in text)
    return clean if len(clean) <= 256 else f"{clean[:255]}…"  # noqa: PLR2004 - stated in the docstring


def _append(path: Path) -> TextIO:
    _check_platform(path)
    descriptor = _open_without_links(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        _check(descriptor, holds_secret=False, max_bytes=sys.maxsize)
    except _Refused:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "a", encoding="utf-8")


def _check_platform(path: Path) -> None:
    gaps = platform_gaps()
    if gaps:
        raise _Refused(
            f"this platform ({sys.platform}) cannot open files safely: it lacks {', '.join(gaps)}",
            "run on a system that has them (Linux, macOS, BSD)",
        )
    if not path.is_absolute() or "\0" in str(path):
        raise _Refused("the file's path is not a full path", "give the full path of the file")


def _read(path: Path, *, max_bytes: int, holds_secret: bool) -> FileContent:
    _check_platform(path)
    descriptor = _open_without_links(path, os.O_RDONLY, quote=not holds_secret)
    try:
        private = _check(descriptor, holds_secret=holds_secret, max_bytes=max_bytes)
        before = os.fstat(descriptor)
        data = _read_capped(descriptor, max_bytes)
        after = os.fstat(descriptor)
    except OSError as error:
        raise _Refused(*_sentence(error, "the file")) from None
    finally:
        os.close(descriptor)
    size = len(data)
    if size > max_bytes:
        del data
        raise _too_large(max_bytes)
    if size != before.st_size or (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        del data
        raise _Refused("the file changed while it was being read", "write the file completely, then try again")
    return FileContent(data=data, private=private)


def _open_without_links(path: Path, how: int, *, quote: bool = True) -> int:
    """Open each directory from the root down, then the file; O_NOFOLLOW alone guards only the last name.

    Args:
        path: absolute.
        how: flags for the file itself.
        quote: name the part that fails; a secret written where its file should be named must not be quoted.
    """
    # O_PATH needs no read permission on a directory, only the right to pass through it.
    through = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
    last = how | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
    parts = path.parts if len(path.parts) > 1 else (*path.parts, ".")
    descriptor = None
    opened = 0
    try:
        descriptor = os.open(parts[0], through)
        for name in parts[1:-1]:
            opened += 1
            inner = _open_at(name, through, descriptor)
            os.close(descriptor)
            descriptor = inner
        opened = len(parts) - 1
        return _open_at(parts[-1], last, descriptor)
    except OSError as error:
        part = repr(shown_path(Path(parts[opened]))) if quote else f"part {opened}"
        raise _Refused(*_sentence(error, f"{part} of the file's path")) from None
    except UnicodeEncodeError:
        raise _Refused("the file's path cannot be written in this system's encoding", "rename the file") from None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open_at(name: str, flags: int, directory: int) -> int:
    try:
        return os.open(name, flags, 0o600, dir_fd=directory)
    except OSError as error:
        # ELOOP and ENOTDIR both come for links, EMLINK on some BSDs: look (only to word the refusal).
        try:
            linked = stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
        except OSError:
            linked = False
        raise OSError(errno.ELOOP if linked else error.errno, "") from None


def _sentence(error: OSError, part: str) -> tuple[str, str]:
    reasons = {
        errno.ELOOP: (f"{part} is a symbolic link", "give the real path, without links"),
        errno.ENOENT: (f"{part} does not exist", "create it or correct the path"),
        errno.ENOTDIR: (f"{part} is not a directory", "correct the path"),
        errno.EACCES: (f"{part} may not be opened by this user", "give this user access to it"),
        errno.ENXIO: (f"{part} is a socket or device, not a regular file", "name a regular file"),
        errno.ENAMETOOLONG: ("a name in the file's path is too long", "correct the path"),
    }
    code = errno.errorcode.get(error.errno or 0, "unknown")
    return reasons.get(error.errno or 0, (f"the file cannot be read ({code})", "check the file and its disk"))


def _check(descriptor: int, *, holds_secret: bool, max_bytes: int) -> bool:
    """Judge the open descriptor; returns whether the file is private."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise _Refused("this is not a regular file", "name a regular file", _kind(status.st_mode))
    if status.st_uid not in {os.geteuid(), 0}:
        raise _Refused(
            "the file belongs to another user",
            "make the user that runs gridagent its owner (chown)",
            f"owner {status.st_uid}",
        )
    if status.st_nlink != 1:
        raise _Refused("the file has other names (hard links)", "use a file with one name", f"{status.st_nlink} links")
    mode = stat.S_IMODE(status.st_mode)
    private = not mode & _OTHERS or _is_lent_to_us(descriptor, mode)
    if holds_secret and not private:
        raise _Refused("others may read or change this secret", "run chmod 600 on the file", f"mode {mode:03o}")
    if mode & _WORLD_WRITABLE:
        raise _Refused("anybody may change this file", "run chmod o-w on the file", f"mode {mode:03o}")
    if status.st_size > max_bytes:
        raise _too_large(max_bytes, status.st_size)
    return private


def _is_lent_to_us(descriptor: int, mode: int) -> bool:
    """Tell whether what looks like a group's right to read is only this user's, as of a credential from systemd."""
    read_attribute = getattr(os, "getxattr", None)
    if read_attribute is None or mode & _MORE_THAN_GROUP_READS:
        return False
    try:
        return not acl.grants_others(read_attribute(descriptor, acl.ATTRIBUTE), os.geteuid())
    except OSError:
        return False  # no list: the bits mean what they say


def _too_large(max_bytes: int, size: int | None = None) -> _Refused:
    return _Refused(
        f"the file is larger than {max_bytes} bytes",
        "make it smaller",
        "more than that" if size is None else f"{size} bytes",
    )


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    )
    return next((name for test, name in kinds if test(mode)), "a special file")


def _read_capped(descriptor: int, max_bytes: int) -> bytes:
    """Read to the end or one byte past the cap, whichever is first."""
    chunks = bytearray()
    while len(chunks) <= max_bytes:
        chunk = os.read(descriptor, min(_CHUNK_BYTES, max_bytes + 1 - len(chunks)))
        if not chunk:
            break
        chunks += chunk
    return bytes(chunks)
