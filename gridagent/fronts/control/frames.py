"""One JSON text a line, bounded in both directions, and decoded strictly.

Owns cutting a byte stream into lines, the strict reading of one line (UTF-8, bounded nesting, no key
twice, no number beyond reason; Fault: 23), and the encoding of replies within the bound of a frame. Knows
the words, not the order in which they may come (that is `gridagent.fronts.control.conversation`). Pure.

Invariant: whatever the bytes, only `LimitExceeded` and `RemoteProtocolError` are raised, memory stays
under one frame and one chunk, and no frame that is sent is longer than the bound (Spec: BND-7).
"""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from gridagent.config.document import BadNumber, Node, Problems, parse
from gridagent.errors import LimitExceeded, RemoteProtocolError
from gridagent.fronts.control.words import Hello, Observed, Omitted, Refused, Reply, Request
from gridagent.limits import clip
from gridagent.observations import observation_name

__all__ = (
    "LineBuffer",
    "decode_hello",
    "decode_reply",
    "decode_request",
    "decode_strictly",
    "encode_reply",
    "encode_request",
)

_ENCODER: Final = msgspec.json.Encoder()
_HELLO: Final = msgspec.json.Decoder(Hello)
_REQUEST: Final = msgspec.json.Decoder(Request)
_REPLY: Final = msgspec.json.Decoder(Reply)

T = TypeVar("T")


class LineBuffer:
    """Cuts what comes in into lines.

    Args:
        max_bytes: the longest line, its line break included.
    """

    __slots__ = ("_held", "_max_bytes", "_searched")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held = bytearray()
        self._searched = 0

    def __len__(self) -> int:
        return len(self._held)

    def feed(self, data: bytes) -> None:
        """Take what was received; ask `next_line` until it has none before the next call."""
        self._held += data

    def next_line(self) -> bytes | None:
        """Return the next line without its line break, or None when it has not come in full.

        Raises:
            LimitExceeded: the line is over its bound, whether its end has come or not.
        """
        end = self._held.find(b"\n", self._searched, self._max_bytes)
        if end < 0:
            if len(self._held) >= self._max_bytes:
                raise LimitExceeded("bytes of a control frame", allowed=self._max_bytes)
            self._searched = len(self._held)
            return None
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        self._searched = 0
        return line


def decode_hello(line: bytes) -> Hello:
    """Read the first request of a connection.

    Raises:
        RemoteProtocolError: it is none.
    """
    return decode_strictly(_HELLO, line, subject="the frame")


def decode_request(line: bytes) -> Request:
    """Read a later request; unknown keys, wrong types and values over their bounds are refused.

    Raises:
        RemoteProtocolError: it is none; the sentence names the place.
    """
    return decode_strictly(_REQUEST, line, subject="the frame")


def decode_strictly(decoder: msgspec.json.Decoder[T], text: bytes, *, subject: str) -> T:
    """Decode JSON that a person or a program wrote, refusing what JSON allows and nobody means.

    Args:
        decoder: of the wanted type.
        text: the JSON.
        subject: how the error calls it.

    Raises:
        RemoteProtocolError: it is no JSON, has a key twice or a number beyond reason, or is not of the type.
    """
    problems = Problems()
    tree = parse(text, problems)
    if tree is None:
        raise RemoteProtocolError(f"{subject} {problems.listed()[0].what}")
    flaw = _flaw(tree)
    if flaw:
        raise RemoteProtocolError(f"{subject} {flaw}")
    try:
        return decoder.decode(text)
    except msgspec.DecodeError as error:
        raise RemoteProtocolError(f"{subject} is not as it must be: {clip(str(error), 160)}") from None


def _flaw(node: Node) -> str:
    """Find what JSON allows and nobody means."""
    if node.repeated:
        return "has a key twice in one object"
    if isinstance(node.value, BadNumber):
        return "has a number beyond any range"
    inner: list[Node] = []
    if isinstance(node.value, dict):
        inner = list(node.value.values())
    elif isinstance(node.value, list):
        inner = node.value
    return next((found for each in inner if (found := _flaw(each))), "")


def decode_reply(line: bytes) -> Reply:
    """Read a reply, on the client's side; unknown keys are ignored.

    Raises:
        RemoteProtocolError: it is none.
    """
    try:
        return _REPLY.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RemoteProtocolError("the service sent a reply this version does not understand") from error


def encode_request(request: Hello | Request, max_bytes: int) -> bytes:
    """Write a request as one line.

    Raises:
        LimitExceeded: it does not fit into a frame.
    """
    line = _ENCODER.encode(request) + b"\n"
    if len(line) > max_bytes:
        raise LimitExceeded("bytes of a control frame", allowed=max_bytes, seen=len(line))
    return line


def encode_reply(reply: Reply, max_bytes: int) -> bytes:
    """Write a reply as one line; what does not fit into a frame, or into UTF-8, is named instead."""
    try:
        line = _ENCODER.encode(reply) + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, from a grid that does not check
        line = b""
    if line and len(line) <= max_bytes:
        return line
    return _ENCODER.encode(_instead_of(reply)) + b"\n"


def _instead_of(reply: Reply) -> Reply:
    if isinstance(reply, Observed):
        seen = reply.observation
        return Omitted(id=reply.id, avatar=seen.avatar, seq=seen.seq, kind=observation_name(seen.body))
    return Refused(id=reply.id, code="reply_too_large", message="the reply does not fit into a frame; ask for less")
