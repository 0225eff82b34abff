"""Which accounts want a one-time code, and how long what it proved is honoured.

Owns the codes and the proofs that were given out, a bounded number an account; a code is taken as often as it is right,
since a test cannot wait for the next one. As Second Life does it: no code and no proof that holds is a challenge; a
wrong code is answered like a wrong password; a right one gives a proof that spares the code for thirty days (Spec:
LIV-1, LIV-15). Called by the login service, after the password.
"""

from __future__ import annotations

import hmac
from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final

import msgspec

from gridagent.ids import AvatarId

__all__ = ("PROOF_LASTS_S", "SecondFactors", "Verdict")

PROOF_LASTS_S: Final = 30 * 86_400.0
_PROOFS_MAX: Final = 16
"""Machines of one account that are remembered; the oldest goes."""


class Verdict(Enum):
    """What a login's code and proof come to."""

    PASSED = "passed"
    CHALLENGED = "challenged"
    WRONG = "wrong"


class _Proof(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    until: float


class SecondFactors:
    """The second factors of a world's accounts.

    Args:
        codes: the code of each account that wants one of its own.
        new_id: makes ids nobody else has.
        everybodys: the code of all others; None wants none.
    """

    __slots__ = ("_codes", "_everybodys", "_given", "_new_id")

    def __init__(
        self, codes: Mapping[AvatarId, str], *, new_id: Callable[[], str], everybodys: str | None = None
    ) -> None:
        self._codes = dict(codes)
        self._everybodys = everybodys
        self._new_id = new_id
        self._given: dict[AvatarId, deque[_Proof]] = {}  # one an account

    def judge(self, avatar_id: AvatarId, *, code: str, proof: str, now: float) -> tuple[Verdict, str]:
        """Judge one login.

        Args:
            avatar_id: whose password was right.
            code: as the client sent it; empty is none.
            proof: same.
            now: seconds.

        Returns:
            The verdict, and the proof that goes with it; empty is none.
        """
        wanted = self._codes.get(avatar_id, self._everybodys)
        if wanted is None:
            return Verdict.PASSED, ""
        if code:
            if not _same(code, wanted):
                return Verdict.WRONG, ""
            made = _Proof(text=f"{self._new_id()}.{int(now)}", until=now + PROOF_LASTS_S)
            self._given.setdefault(avatar_id, deque(maxlen=_PROOFS_MAX)).append(made)
            return Verdict.PASSED, made.text
        if proof and any(_same(proof, each.text) and now < each.until for each in self._given.get(avatar_id, ())):
            return Verdict.PASSED, proof
        return Verdict.CHALLENGED, ""

    def forget_proofs(self) -> None:
        """Honour no proof that was given out so far: they have expired."""
        self._given.clear()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())
