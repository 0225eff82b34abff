"""The streams of a terminal or pipe, read and written without ever holding the avatars up.

Owns `Output` and `Input`: both wait for the descriptor, not in it, so a reader that is slow delays what is
written and nothing else. What is written has passed `gridagent.cli.safe_text` before (Spec: OPS-7).
"""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator
from typing import Final, Protocol, TextIO

import trio

__all__ = ("CLOSE_SCREEN", "OPEN_SCREEN", "Input", "Output", "TextSource", "is_terminal")

OPEN_SCREEN: Final = "\x1b[?1049h\x1b[2J"
"""Change to the terminal's other screen, so that what was there comes back at the end."""
CLOSE_SCREEN: Final = "\x1b[?1049l"
_CHUNK_BYTES: Final = 4_096
"""What a pipe takes at once when it says that it is writable."""
LINE_MAX_BYTES: Final = 8_192
_READER_GONE: Final = frozenset({None, errno.EPIPE, errno.EBADF, errno.EIO, errno.ECONNRESET})
"""A pipe without a reader, a closed stream, a terminal that was hung up."""


def is_terminal(stream: object) -> bool:
    """Tell whether a stream is a terminal."""
    asked = getattr(stream, "isatty", None)
    try:
        return bool(asked is not None and asked())
    except ValueError:  # closed
        return False


def _descriptor(stream: object) -> int | None:
    """Return the descriptor of a stream that has one that can be waited for."""
    asked = getattr(stream, "fileno", None)
    if asked is None or os.name == "nt":
        return None
    try:
        number = asked()
    except (OSError, ValueError):  # in memory, or closed
        return None
    return number if isinstance(number, int) else None


class Output:
    """Writes text to a stream without blocking the loop.

    Args:
        stream: an open text stream; one without a descriptor is written to directly.
    """

    __slots__ = ("_descriptor", "_lock", "_stream", "closed", "lost")

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._descriptor = _descriptor(stream)
        self._lock = trio.Lock()
        self.closed = trio.Event()
        """Whoever read it is gone; what is written from now on is dropped."""
        self.lost = 0
        """Texts that could not be written although somebody may still read: a full disk, for one."""

    async def write(self, text: str) -> None:
        """Write text in order; never raises because of the reader.

        Cancellation: a part may have been written.
        """
        async with self._lock:
            if self.closed.is_set():
                return
            try:
                if self._descriptor is None:
                    self._stream.write(text)
                    self._stream.flush()
                else:
                    await self._write_to(self._descriptor, text.encode("utf-8", "backslashreplace"))
            except (OSError, ValueError) as error:
                self._note(error)

    def _note(self, error: OSError | ValueError) -> None:
        if isinstance(error, OSError) and error.errno not in _READER_GONE:
            self.lost += 1
        else:
            self.closed.set()

    async def _write_to(self, descriptor: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            await _ready(trio.lowlevel.wait_writable, descriptor)
            try:
                rest = rest[os.write(descriptor, rest[:_CHUNK_BYTES]) :]
            except BlockingIOError:  # somebody else made the descriptor non-blocking
                await trio.sleep(0.01)

    def write_now(self, text: str) -> None:
        """Write a last text at once, waiting if need be; for the way out."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._note(error)


class _Wait(Protocol):
    async def __call__(self, descriptor: int, /) -> None: ...


async def _ready(wait: _Wait, descriptor: int) -> None:
    """Wait for a descriptor; files and devices that cannot be waited for are always ready."""
    try:
        await wait(descriptor)
    except (OSError, ValueError):
        await trio.lowlevel.checkpoint()


class TextSource(Protocol):
    """What an open text file has and `Input` needs."""

    def readline(self, size: int = -1, /) -> str:
        """Return the next line, with its line break."""
        ...


class Input:
    """Reads lines from a stream without blocking the loop; an async iterator of lines without line breaks.

    Args:
        stream: an open text stream; one without a descriptor is read directly.

    Bounds: a line over `LINE_MAX_BYTES` comes out as None, so that it can be refused.
    """

    __slots__ = ("_descriptor", "_stream")

    def __init__(self, stream: TextSource) -> None:
        self._stream = stream
        self._descriptor = _descriptor(stream)

    async def __aiter__(self) -> AsyncIterator[str | None]:
        """Yield lines until the end."""
        if self._descriptor is None:
            while line := self._stream.readline(LINE_MAX_BYTES):
                await trio.lowlevel.checkpoint()
                yield line.rstrip("\r\n")
            return
        held = bytearray()
        too_long = False
        while True:
            await _ready(trio.lowlevel.wait_readable, self._descriptor)
            try:
                data = os.read(self._descriptor, _CHUNK_BYTES)
            except BlockingIOError:
                await trio.sleep(0.01)
                continue
            except OSError:  # the terminal went away
                return
            held += data
            while (end := held.find(b"\n")) >= 0:
                yield None if too_long else held[:end].decode("utf-8", "replace").rstrip("\r")
                del held[: end + 1]
                too_long = False
            if not data:
                if held and not too_long:
                    yield held.decode("utf-8", "replace")
                return
            if len(held) > LINE_MAX_BYTES:
                held.clear()
                too_long = True
