"""JSON from a provider: decoded into structs, or one typed failure.

Owns the guards that a decoder alone does not give: a bound on containers before they become objects, depth, and
telling a web page and a cut-off document from a wrong one. Both codecs use it; it knows no provider.

Invariant: `decode_untrusted` returns or raises `LlmFailure`, whatever the bytes (Spec: MND-2, Fault: 21, 22).
"""

from __future__ import annotations

import re
from typing import Final, TypeVar

import msgspec

from gridagent.language import BadReply, FailureKind, LlmFailure

__all__ = (
    "CONTAINERS_MAX",
    "REPLY_BODY_MAX_BYTES",
    "decode_untrusted",
    "json_object_text",
    "json_text",
    "sendable",
    "unusable",
)

REPLY_BODY_MAX_BYTES: Final = 2 * 1024 * 1024
"""One document: a reply of 256 KiB, escaped, with as much reasoning beside it. Under BND-7's ceiling."""
CONTAINERS_MAX: Final = 32_768
"""Objects and lists of one document. Each costs some 60 bytes once decoded, and three on the wire."""
_COUNT_FROM_BYTES: Final = 3 * CONTAINERS_MAX
_UNSENDABLE: Final = re.compile(r"[^A-Za-z0-9_-]")
_STRINGS: Final = msgspec.json.Decoder(str)
_OBJECTS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])

T = TypeVar("T")


def unusable(bad_reply: BadReply) -> LlmFailure:
    """Return the failure for a reply of no use."""
    return LlmFailure(FailureKind.BAD_REPLY, bad_reply=bad_reply)


def decode_untrusted(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """Decode one document from outside.

    Raises:
        LlmFailure: it is none, too large, too deep, or of another shape.
    """
    if len(data) > REPLY_BODY_MAX_BYTES:
        raise unusable(BadReply.TOO_LONG)
    if len(data) > _COUNT_FROM_BYTES and data.count(b"{") + data.count(b"[") > CONTAINERS_MAX:
        raise unusable(BadReply.TOO_LONG)
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        bad = BadReply.WRONG_SHAPE
    except (msgspec.DecodeError, ValueError):
        bad = BadReply.NOT_JSON
        lead = data[:64].lstrip(b" \t\r\n\xef\xbb\xbf")[:1]
        if lead == b"<":
            bad = BadReply.HTML
        elif lead in {b"{", b"["} and data.rstrip()[-1:] not in {b"}", b"]"}:
            bad = BadReply.TRUNCATED
    except RecursionError:
        bad = BadReply.TOO_DEEP
    raise unusable(bad)


def json_text(raw: msgspec.Raw) -> str:
    """Return a value that should be a JSON text in a string, and that some servers send as the value itself."""
    data = bytes(raw)
    if not data or data == b"null":
        return ""
    return decode_untrusted(_STRINGS, data) if data[:1] == b'"' else data.decode("utf-8", "replace")


def json_object_text(arguments: str) -> bytes:
    """Return arguments fit to be sent back: as they are if they are one JSON object, and an empty one otherwise.

    Servers that parse the arguments of earlier calls refuse the whole request over one that a model misspelt.
    The result of such a call says what was wrong with it.
    """
    data = arguments.encode("utf-8", "replace")
    try:
        _OBJECTS.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return b"{}"
    return data


def sendable(name: str) -> str:
    """Return a name or id of an earlier call in the letters that every provider takes back."""
    return name if name.isalnum() and name.isascii() else _UNSENDABLE.sub("_", name) or "_"
