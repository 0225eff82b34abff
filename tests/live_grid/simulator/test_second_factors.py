"""One-time codes and what they prove."""

from __future__ import annotations

from itertools import count

from gridagent.ids import AvatarId
from live_grid.simulator.second_factors import PROOF_LASTS_S, SecondFactors, Verdict

ADA, BEN = AvatarId("ada"), AvatarId("ben")


def factors(**more: object) -> SecondFactors:
    """One account with a code of its own, the others as given."""
    numbers = count()
    return SecondFactors({ADA: "246810"}, new_id=lambda: f"id-{next(numbers)}", **more)


def test_an_account_without_a_code_is_asked_for_none() -> None:
    """Whatever it sends. Spec: LIV-15."""
    assert factors().judge(BEN, code="1", proof="x", now=0.0) == (Verdict.PASSED, "")


def test_a_code_proves_for_thirty_days() -> None:
    """A right code is taken, a wrong one is not, and the proof holds until it is too old. Spec: LIV-1, LIV-15."""
    some = factors()
    assert some.judge(ADA, code="", proof="", now=0.0) == (Verdict.CHALLENGED, "")
    assert some.judge(ADA, code="000000", proof="", now=0.0) == (Verdict.WRONG, "")
    verdict, proof = some.judge(ADA, code="246810", proof="", now=5.0)
    assert (verdict, proof) == (Verdict.PASSED, "id-0.5")
    assert some.judge(ADA, code="", proof=proof, now=5.0 + PROOF_LASTS_S - 1.0) == (Verdict.PASSED, proof)
    assert some.judge(ADA, code="", proof=proof, now=5.0 + PROOF_LASTS_S) == (Verdict.CHALLENGED, "")
    assert some.judge(ADA, code="", proof="made up", now=6.0) == (Verdict.CHALLENGED, "")


def test_a_proof_is_its_accounts_alone_and_can_be_withdrawn() -> None:
    """Nobody else gets in by it, and once forgotten nobody at all. Spec: LIV-15."""
    some = factors(everybodys="135791")
    _, proof = some.judge(ADA, code="246810", proof="", now=0.0)
    assert some.judge(BEN, code="", proof=proof, now=0.0) == (Verdict.CHALLENGED, "")
    assert some.judge(BEN, code="135791", proof="", now=0.0)[0] is Verdict.PASSED
    some.forget_proofs()
    assert some.judge(ADA, code="", proof=proof, now=0.0) == (Verdict.CHALLENGED, "")
