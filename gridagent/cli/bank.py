"""The simulated bank's book on disk, so that simulated money outlives the process as real money does.

Owns the file: one JSON line a payment, written before anybody in the world is told of it. Read when a world begins,
whose balances and history then go on from there (`gridagent.grid.simulated.book`). Opened by the composition root where
``grid.simulated.book_file`` names one. It is the world's own memory and no ledger of the service, which never reads it.

Invariant: the book says from when on it misses nothing, and never passes for whole beyond that (Spec: EFX-2, SIM-1).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from gridagent.errors import OperatorError
from gridagent.grid.simulated.book import Movement
from gridagent.grid.simulated.world import World

__all__ = ("BOOK_FILE_MAX_BYTES", "keep_bank")

LogError = Callable[[str, BaseException], None]

BOOK_FILE_MAX_BYTES: Final = 32 * 1024 * 1024
_PRIVATE: Final = 0o600


class _Since(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line that says from when on nothing is missing: the first, and one after each loss."""

    since: float
    """Wall clock, in seconds."""


_encode: Final = msgspec.json.Encoder().encode
_movement: Final = msgspec.json.Decoder(Movement).decode
_mark: Final = msgspec.json.Decoder(_Since).decode


@contextmanager
def keep_bank(file: str | None, world: World, *, wall: float, log_error: LogError) -> Iterator[None]:
    """Let a world's money go on from a book, and be written into it for as long as the block lasts.

    Args:
        file: absolute path; begun where there is none. None keeps nothing.
        world: was just built; nobody has paid yet.
        wall: when it is now.
        log_error: takes a stable code and the error when a payment could not be written.

    Raises:
        OperatorError: the file is no book, is too long, belongs to somebody else, or does not fit the world.
    """
    if file is None:
        yield
        return
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, _PRIVATE)
    except OSError as error:
        raise OperatorError(
            f"the bank's book {file} cannot be opened ({error.strerror}); set grid.simulated.book_file to one of yours"
        ) from error
    try:
        movements, since = _read(file, descriptor, wall)
        world.recall_book(movements, since=since)
        world.book.on_movement = _Pen(descriptor, log_error).write
        yield
    finally:
        os.close(descriptor)


def _read(file: str, descriptor: int, wall: float) -> tuple[list[Movement], float]:
    """Return who paid whom, and from when on nothing is missing; a new or torn book begins now."""
    size = os.fstat(descriptor).st_size
    if size > BOOK_FILE_MAX_BYTES:
        raise OperatorError(
            f"the bank's book {file} is over {BOOK_FILE_MAX_BYTES} bytes; move it aside to begin a new one"
        )
    lines = os.pread(descriptor, size, 0).splitlines(keepends=True)
    torn = bool(lines) and not lines[-1].endswith(b"\n")
    if torn:
        os.ftruncate(descriptor, size - len(lines.pop()))
    since = None
    movements = []
    for number, line in enumerate(lines, 1):
        try:
            if line.startswith(b'{"since"'):
                since = _mark(line).since
            else:
                movements.append(_movement(line))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise OperatorError(
                f"line {number} of the bank's book {file} is no payment; move the file aside to begin a new one"
            ) from error
    if since is None or torn:
        since = wall
        os.write(descriptor, _encode(_Since(since)) + b"\n")
    return movements, since


class _Pen:
    """Writes one line a payment; from the first failure on, nothing more."""

    __slots__ = ("_broken", "_descriptor", "_log_error")

    def __init__(self, descriptor: int, log_error: LogError) -> None:
        self._descriptor = descriptor
        self._log_error = log_error
        self._broken = False

    def write(self, movement: Movement) -> None:
        """Write a payment down."""
        if self._broken:
            return
        line = _encode(movement) + b"\n"
        error: OSError | None = None
        try:
            if os.write(self._descriptor, line) < len(line):
                error = OSError("only a part of the line was written")
        except OSError as failed:
            error = failed
        if error is not None:
            self._broken = True
            self._log_error("bank_book", error)
            # Taking a byte away needs no room: the next reader finds the last line torn, and knows that some miss.
            os.ftruncate(self._descriptor, max(0, os.fstat(self._descriptor).st_size - 1))
