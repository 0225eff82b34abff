"""One question to a server that costs nothing and tells no secret: does it answer, and what time is it there?

Owns the bytes of a ``HEAD`` request without credentials or query, and the words for each way in which it fails. Opens
connections through the network port alone. What comes back is text from outside: a number and a time are taken from it,
and nothing else is ever shown. Called by `gridagent.cli.doctor` (Spec: OPS-1, CFG-3).
"""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

import trio

from gridagent.cli.doctor_checks import Reached, Unreached
from gridagent.cli.safe_text import shown
from gridagent.config.secrets import EndpointUrl
from gridagent.llm.transport import encrypted
from gridagent.runtime.ports import Network

__all__ = ("REACH_S", "reach")

REACH_S: Final = 10.0
"""Longest a server is waited for, the look-up of its name included."""
_HEAD_MAX_BYTES: Final = 32_768
_CAUSES_MAX: Final = 8
_WHY_MAX_CHARS: Final = 120
_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: |\r?\n)")
_DATE: Final = re.compile(rb"\ndate:[ \t]*([^\r\n]{1,64})", re.IGNORECASE)


async def reach(url: EndpointUrl, network: Network) -> Reached | Unreached:
    """Ask a server whether it is there.

    Args:
        url: its query is left out: it may be a key.
        network: how it is connected to.

    Bounds: `REACH_S`, and 32 KiB of what it says.

    Cancellation: safe; the connection is closed.
    """
    with trio.move_on_after(REACH_S):
        return await _ask(url, network)
    return Unreached(f"no answer within {REACH_S:g} s")


async def _ask(url: EndpointUrl, network: Network) -> Reached | Unreached:
    parts = urlsplit(url.reveal())
    host = parts.hostname or ""
    try:
        stream = await network.connect_tcp(host, parts.port or (443 if url.is_encrypted else 80), timeout_s=REACH_S)
    except trio.TooSlowError:
        return Unreached(f"nobody answered within {REACH_S:g} s")
    except UnicodeError:  # a host that cannot be a name is known by nobody
        return Unreached("its host cannot be the name of a machine")
    except OSError as error:
        return Unreached(f"no connection ({_reason(error)})")
    if url.is_encrypted:
        stream = encrypted(stream, host)
    lines = (
        f"HEAD {parts.path or '/'} HTTP/1.1",
        f"Host: {parts.netloc}",
        "User-Agent: gridagent",
        "Connection: close",
    )
    asked = "\r\n".join((*lines, "", ""))
    try:
        await stream.send_all(asked.encode("ascii"))
        head = await _head(stream)
    except trio.BrokenResourceError as error:
        return Unreached(f"the connection broke ({_reason(error)})")
    finally:
        await trio.aclose_forcefully(stream)
    return _read(head)


async def _head(stream: trio.abc.Stream) -> bytes:
    head = b""
    while len(head) < _HEAD_MAX_BYTES and b"\r\n\r\n" not in head:
        piece = await stream.receive_some(4_096)
        if not piece:
            break
        head += piece
    return head


def _read(head: bytes) -> Reached | Unreached:
    status = _STATUS.match(head)
    if status is None:
        return Unreached("what answers there is no web server")
    date = _DATE.search(head.partition(b"\r\n\r\n")[0])
    return Reached(int(status[1]), None if date is None else _moment(date[1].decode("ascii", "replace")))


def _moment(text: str) -> float | None:
    try:
        when = parsedate_to_datetime(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None  # a server that cannot tell its time tells none


def _reason(error: BaseException) -> str:
    """Return what the system says of a failure, from the innermost cause that has words."""
    found = ""
    for _ in range(_CAUSES_MAX):
        # A certificate's error has its reason in a field of its own.
        said = getattr(error, "verify_message", None) or getattr(error, "strerror", None)
        found = str(said) if said else found
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif error.__cause__ is not None:
            error = error.__cause__
        else:
            break
    return shown(found, _WHY_MAX_CHARS) or "it was closed"
