"""A one-time code over the wire: asked for once, then spared by what it proved."""

from __future__ import annotations

import pytest

from gridagent.cli.second_factor import SecondFactors
from gridagent.controls import Connect, ForceReconnect
from gridagent.observations import Diagnostic, LinkState
from live_grid.simulator import OPENSIM, SECOND_LIFE
from tests.live_grid.whole.life import ADA, Life, a_life

CODE = "246810"
KINDS = pytest.mark.parametrize("profile", [OPENSIM, SECOND_LIFE], ids=["opensim", "secondlife"])


async def blocked(life: Life, ends: int) -> None:
    """Wait until so many attempts ended, and the avatar tries no more."""
    await life.until(lambda: len(life.ends()) == ends)
    await life.until(lambda: life.handle.status().link is LinkState.AUTHENTICATION_BLOCKED)


@KINDS
async def test_a_code_is_asked_for_once_and_spared_afterwards(tmp_path, autojump_clock, profile) -> None:
    """Let in by the code, later by its proof; that one withdrawn, it is asked again. Spec: LIV-1, SUP-6, SUP-8."""
    async with a_life(tmp_path, profile=profile, code=CODE, second_factors=SecondFactors(state_dir=tmp_path)) as life:
        await blocked(life, 1)
        assert life.ends() == [("mfa_required", False)]
        assert (await life.handle.control(Connect(code=CODE))).accepted
        await life.online()
        assert dict(life.bodies(Diagnostic)[0].fields) == {"cause": "mfa_required"}
        for _ in range(2):
            assert (await life.handle.control(ForceReconnect())).accepted
            logins = life.world.sessions.totals(ADA).logins
            await life.until(lambda logins=logins: life.world.sessions.totals(ADA).logins > logins)
            await life.online()
        life.server.forget_proofs()
        await life.handle.control(ForceReconnect())
        await blocked(life, 4)
        assert life.ends()[-1] == ("mfa_required", False)
        assert list((tmp_path / "second-factor").iterdir()) == []
        assert CODE not in repr(life.seen)
    assert life.left_once()


async def test_a_wrong_code_is_told_from_a_wanted_one(tmp_path, autojump_clock) -> None:
    """It is tried once; the next one that is given gets in. Spec: LIV-1, SUP-6; Fault: 13."""
    async with a_life(tmp_path, code=CODE) as life:
        await blocked(life, 1)
        await life.handle.control(Connect(code="000000"))
        await blocked(life, 2)
        assert life.ends()[-1] == ("mfa_refused", False)
        await life.handle.control(Connect())
        await blocked(life, 3)
        assert life.ends()[-1] == ("mfa_required", False)
        await life.handle.control(Connect(code=CODE))
        await life.online()


async def test_a_proof_is_kept_in_a_file_and_observed_by_nobody(tmp_path, autojump_clock) -> None:
    """What the grid gave stands there, and in nothing that anybody is told. Spec: LIV-1, CFG-3."""
    kept = SecondFactors(state_dir=tmp_path)
    async with a_life(tmp_path, code=CODE, second_factors=kept) as life:
        await blocked(life, 1)
        await life.handle.control(Connect(code=CODE))
        await life.online()
    [file] = (tmp_path / "second-factor").iterdir()
    proof = file.read_text(encoding="utf-8").strip()
    assert proof
    assert proof not in repr(life.seen)
