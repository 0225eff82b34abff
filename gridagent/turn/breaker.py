"""Telling a turn that goes on from one that goes round.

Owns the memory of what each call brought in this turn: a round of calls that brings nothing new, call by call, is no
progress. Keeps digests alone. Pure.

Invariant: bounded by the calls of a turn, and a round with one new call or one new result is progress
(Spec: MND-12).
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from gridagent.tools.scheduler import Settled

__all__ = ("Breaker",)


class Breaker:
    """What the calls of one turn brought."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: set[bytes] = set()  # one a call of the turn

    def progressed(self, settled: Iterable[Settled], arguments: Iterable[str]) -> bool:
        """Take in a reply's calls; tell whether any of them was new, or brought something new.

        Args:
            settled: in call order.
            arguments: of each, as the model wrote them.
        """
        found = {_digest(each, raw) for each, raw in zip(settled, arguments, strict=True)}
        fresh = found - self._seen
        self._seen |= found
        return bool(fresh)


def _digest(settled: Settled, raw: str) -> bytes:
    result, call = settled.result, settled.call
    asked = raw.encode("utf-8", "replace") if call is None else call.arguments
    parts = (result.name.encode("utf-8", "replace"), asked, result.for_model().encode("utf-8", "replace"))
    hashed = sha256()
    for each in parts:
        hashed.update(b"%d:" % len(each) + each)
    return hashed.digest()
