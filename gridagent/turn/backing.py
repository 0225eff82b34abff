"""Whether anything stands behind what a reply claims to have done.

Owns the comparison of a claim with evidence: the tool, whom it was done to, and the amount. Pure.

Invariant: a claim is backed only by a successful call of a tool that does it, to whom it was said to be done and
for the amount that was named, or, of what leaves no evidence, by a claim of our own that was backed then
(Spec: MND-7, MND-9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Protocol

import msgspec
from msgspec import Meta

from gridagent.turn.claims import Claim
from gridagent.turn.deeds import AIMED, BACKED_BY, KEPT, Deed

__all__ = ("Proof", "is_backed")

_SURE: Final = frozenset({Deed.PAY, Deed.GIVE, Deed.MESSAGE, Deed.INVITE, Deed.BEFRIEND})
"""Deeds that somebody would come back about: told as done to whoever listens, no other time excuses them."""


class Proof(Protocol):
    """What may stand behind a claim: evidence of this turn, or a finding of an earlier one."""

    @property
    def tool(self) -> str:
        """Canonical name."""
        ...

    @property
    def arguments(self) -> bytes:
        """Canonical JSON."""
        ...

    @property
    def subjects(self) -> tuple[str, ...]:
        """UUIDs that it is about."""
        ...


class _Amount(msgspec.Struct):
    amount: Annotated[int, Meta(ge=0)] = -1


_AMOUNTS: Final = msgspec.json.Decoder(_Amount)


def is_backed(
    claim: Claim,
    now: Iterable[Proof],
    *,
    earlier: Iterable[Proof] = (),
    said: frozenset[Deed] = frozenset(),
    speaker: str = "",
    people: Mapping[str, str] | None = None,
    foreign: bool = False,
) -> bool:
    """Tell whether anything stands behind a claim.

    Args:
        claim: one of `claims_in`.
        now: evidence of this turn.
        earlier: findings of earlier turns; they stand behind no claim that says ``just now``.
        said: deeds that we claimed earlier, in words that passed then.
        speaker: UUID of whoever is spoken to, where known.
        people: words of names we know, each with the UUID it belongs to.
        foreign: a foreign tool succeeded in this turn; nobody knows what it does.
    """
    if foreign:
        return True
    strict = claim.to_you and not claim.deeds.isdisjoint(_SURE)
    if claim.elsewhere and not strict:
        return True
    if not claim.outspoken and not (claim.deeds & KEPT) and not claim.deeds.isdisjoint(said):
        return True
    proofs = [*now] if claim.outspoken else [*now, *earlier]
    return any(_stands(claim, each, speaker, people or {}) for each in proofs)


def _stands(claim: Claim, proof: Proof, speaker: str, people: Mapping[str, str]) -> bool:
    if not any(proof.tool in BACKED_BY[deed] for deed in claim.deeds):
        return False
    if proof.tool not in AIMED:
        return claim.amount is None or proof.tool not in BACKED_BY[Deed.PAY] or _amount(proof) == claim.amount
    meant = {people[name] for name in claim.names if name in people}
    if claim.to_you and not meant and speaker and speaker not in proof.subjects:
        return False
    if meant and meant.isdisjoint(proof.subjects):
        return False
    return claim.amount is None or proof.tool != "pay_avatar" or _amount(proof) == claim.amount


def _amount(proof: Proof) -> int | None:
    try:
        return _AMOUNTS.decode(proof.arguments).amount
    except (msgspec.MsgspecError, ValueError):
        return None
