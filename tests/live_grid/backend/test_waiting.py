"""Who waits for which evidence."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.actions import Confirmed, EvidenceKind, InDoubt
from gridagent.events import Delivered
from gridagent.grid.evidence import EvidenceContext
from gridagent.limits import OPEN_EFFECTS_MAX
from live_grid.backend.waiting import Wait, Waits
from tests.live_grid.backend.hands import BEN, text

ME = text(bytes(15) + b"\x01")


async def test_one_piece_of_evidence_settles_one_wait() -> None:
    """The oldest that it fits; the rest goes on waiting until all is over. Spec: EFX-1."""
    waits = Waits(EvidenceContext(me=ME))
    one, other = (Wait(asked.SendIm(to=text(BEN), text="hi"), reference) for reference in ("r1", "r2"))
    waits.add(one)
    waits.add(other)
    waits.judge(Delivered(reference="r2"))
    assert other.outcome == Confirmed(evidence=EvidenceKind.DELIVERED, detail="delivered")
    assert not one.settled.is_set()
    assert waits.has("r1")
    assert not waits.has("r2")
    waits.remove(other)
    waits.settle_all()
    assert one.outcome == InDoubt(reason="connection_lost")
    assert not waits.full


async def test_waits_are_bounded() -> None:
    """One over the ceiling is not let in by whoever asks. Spec: BND-1."""
    waits = Waits(EvidenceContext(me=ME))
    for number in range(OPEN_EFFECTS_MAX):
        assert not waits.full
        waits.add(Wait(asked.StandUp(), str(number)))
    assert waits.full
