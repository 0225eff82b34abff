"""The IM that asks an authorised avatar for a yes, and what counts as an answer to it (Spec: POL-7).

Owns both texts and the form of a nonce; knows no approval and decides nothing: the gateway compares the
nonce with those it made, in constant time, and locks out whoever guesses. Pure; the session sends and
receives. Its invariants: only a text that is an answer from its first letter to its last is one; the words
of the request come after the instructions, in quotes, so that they can't pass for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Final

import msgspec

from gridagent.limits import CHAT_MAX_BYTES, clip_bytes

__all__ = ("ImAnswer", "approval_text", "mask_nonces", "nonce_from", "parse_answer")

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Base 32 without I, L, O and U: nothing in it is taken for something else, or reads as a word."""
NONCE_LETTERS: Final = 12
"""Sixty bits: with five tries for each approval, nobody guesses one."""
ANSWER_MAX: Final = 64
"""Characters; whatever is longer is talk."""

_NONCE: Final = "-".join([f"[{ALPHABET}]{{4}}"] * (NONCE_LETTERS // 4))
_ANSWER: Final = re.compile(rf"[ \t\r\n]*((?i:allow|deny))[ \t]+({_NONCE})[ \t\r\n]*")


_GROUP: Final = f"[{ALPHABET}{ALPHABET.lower()}]{{4}}"
_BETWEEN: Final = r"[\s_.\u2010-\u2015-]{0,3}"
_QUOTED: Final = re.compile(rf"(?<!\w)({_GROUP}){_BETWEEN}{_GROUP}{_BETWEEN}{_GROUP}(?!\w)")
"""A nonce as somebody may quote it: in small letters, with other dashes, or with spaces for them."""
_LOOKED_AT_MAX: Final = 16
"""Forms in one text of which is asked whether they are nonces."""


class ImAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody answered, before anybody looked whether it counts."""

    allow: bool
    nonce: str


def nonce_from(token: str) -> str:
    """Return the nonce that an unguessable token stands for, in a form that people can copy: ``4F7K-9QXM-2TBD``."""
    number = int.from_bytes(sha256(token.encode()).digest()[:8], "big")
    letters = "".join(ALPHABET[number >> (5 * place) & 31] for place in range(NONCE_LETTERS))
    return "-".join(letters[start : start + 4] for start in range(0, NONCE_LETTERS, 4))


def approval_text(*, summary: str, principal: str, nonce: str, expires_in_s: float) -> str:
    """Return the IM that asks.

    Args:
        summary: the exact arguments in one line, from `NeedsApproval`; safe to show.
        principal: key of whoever asked for it.
        nonce: from `Gateway.nonce_of`; this text is the only place it ever goes to.
        expires_in_s: seconds left to answer.

    Returns:
        At most `CHAT_MAX_BYTES` bytes; what doesn't fit of the summary is cut, and shows as cut.
    """
    head = (
        f"I was asked to do something that needs your yes. To answer, reply with one line and nothing else,"
        f" within {max(0, int(expires_in_s))} seconds.\n"
        f"allow {nonce}\n"
        f"deny {nonce}\n"
        f"Asked for by {principal}, and this is all of it:\n"
    )
    return head + clip_bytes(summary, CHAT_MAX_BYTES - len(head.encode()))


def parse_answer(text: str) -> ImAnswer | None:
    """Return the answer that a text is, from its first letter to its last; None for any other text.

    ``allow`` and ``deny`` may be written large or small, as telephones do; the nonce must be exact.
    """
    # Only ASCII: `(?i:…)` would take U+017F and U+212A for letters.
    found = _ANSWER.fullmatch(text) if len(text) <= ANSWER_MAX and text.isascii() else None
    if found is None:
        return None
    return ImAnswer(allow=found[1].lower() == "allow", nonce=found[2])


def mask_nonces(text: str, *, is_nonce: Callable[[str], bool], mask: str) -> str:
    """Return a text with every nonce in it masked, however it is quoted.

    Args:
        text: what somebody wrote.
        is_nonce: tells of a nonce in its own form whether it is one that counts now.
        mask: stands in its place; no longer than a nonce.

    Bounds: asks of at most `_LOOKED_AT_MAX` forms in a text.
    """
    parts = []
    begin = at = 0
    for _ in range(_LOOKED_AT_MAX):
        found = _QUOTED.search(text, at)
        if found is None:
            break
        letters = "".join(each for each in found[0].upper() if each in ALPHABET)
        if is_nonce("-".join(letters[start : start + 4] for start in range(0, NONCE_LETTERS, 4))):
            parts += [text[begin : found.start()], mask]
            begin = at = found.end()
        else:
            at = found.end(1)  # a word before it may look like its first group
    return "".join([*parts, text[begin:]])
