"""A wire that misbehaves in every way at once, and what is so two minutes after it stopped."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
import trio

from gridagent.actions import Confirmed, Position, Say, SendIm, TeleportTo, WalkTo
from gridagent.controls import RequestAction
from gridagent.events import ChatHeard, DisconnectCause
from gridagent.observations import ActionSettled, GenerationClosed, GenerationOpened, LinkState
from live_grid.simulator import OPENSIM, SECOND_LIFE, WireFaults
from tests.live_grid.whole.life import ADA, CLEO, OLIVE, Life, a_life
from tests.live_grid.whole.oracle import judge_logins

STORM_S = 180.0
RECOVERY_S = 120.0
SEEDS = int(os.environ.get("MIXES", "16"))
"""How many mixes; a campaign sets MIXES."""
SOFT = (DisconnectCause.ALREADY_LOGGED_IN,)
"""What a grid may refuse a login for and have us back within two minutes."""


def a_mix(rng: random.Random) -> WireFaults:
    """Some of the knobs, each turned as far as chance has it."""

    def maybe(most: float) -> float:
        return rng.uniform(0.0, most) if rng.random() < 0.6 else 0.0

    slow = maybe(0.8)
    return WireFaults(
        datagram_lost=1.0 if rng.random() < 0.15 else maybe(0.5),
        datagram_doubled=maybe(0.3),
        datagram_reordered=maybe(0.3),
        delay_s=(slow / 4, slow),
        http_502=maybe(0.3),
        http_404=maybe(0.2),
        http_html=maybe(0.2),
        http_late=maybe(0.4),
        http_missing=maybe(0.3),
        login_refused=maybe(0.5),
        login_causes=SOFT,
        logout_reply_missing=maybe(1.0),
        teleport_finish_missing=maybe(1.0),
        event_repeated=maybe(0.5),
        dead_stream=maybe(1.0),
    )


async def live_through(life: Life, rng: random.Random) -> None:
    """Be kept busy, cut off, carried about, while the mix changes every half minute."""
    until = trio.current_time() + STORM_S
    while trio.current_time() < until:
        life.server.set_faults(a_mix(rng))
        for _ in range(6):
            spot = Position(x=rng.uniform(20.0, 230.0), y=rng.uniform(20.0, 230.0), z=22.0)
            wanted = rng.choice(
                (
                    Say(text=f"Still here, {rng.random():.6f}."),
                    SendIm(to=OLIVE, text="Are you there?"),
                    WalkTo(position=spot),
                    TeleportTo(region=rng.choice(("Plaza", "Annex", "Far")), position=spot),
                )
            )
            with trio.move_on_after(5.0):
                await life.handle.control(RequestAction(action=wanted))
            await trio.sleep(rng.uniform(1.0, 6.0))
        if rng.random() < 0.3:
            life.world.restart_region(rng.choice(("Plaza", "Annex")), life.grid.now(), notice_s=5.0, down_s=20.0)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_two_minutes_after_the_faults_it_is_in_world_and_answers(tmp_path, autojump_clock, seed) -> None:
    """In world, heard by its owner and by nobody twice; one logout a generation. Spec: SIM-4, SUP-5, SUP-9, LIV-3."""
    rng = random.Random(f"mix/{seed}")
    profile = OPENSIM if seed % 2 else SECOND_LIFE
    async with a_life(tmp_path, seed=seed, profile=profile) as life:
        await life.online()
        await live_through(life, rng)
        life.server.set_faults(WireFaults())
        await trio.sleep(RECOVERY_S)
        assert life.handle.status().link is LinkState.ONLINE
        assert life.where() == life.handle.status().region
        cleo = life.witness(CLEO)
        body = life.world.avatar(ADA).body
        life.world.perform(CLEO, TeleportTo(region=body.region.name, position=body.position), life.grid.now())
        await trio.sleep(15.0)
        assert isinstance(await life.act(Say(text="After the storm.")), Confirmed)
        assert [each.text for each in cleo.saw(ChatHeard)].count("After the storm.") == 1
    assert_in_order(life)
    assert judge_logins([each for each in life.world.sessions.recent() if each.avatar_id == ADA]) == []
    assert sum(life.server.statistics().faults.values()) > 100


def assert_in_order(life: Life) -> None:
    """Every generation ended once, every effect settled once, and no login was logged out of twice."""
    opened = {each.generation for each in life.seen if isinstance(each.body, GenerationOpened)}
    closed = [each.generation for each in life.seen if isinstance(each.body, GenerationClosed)]
    assert closed == sorted({1, *opened})
    assert max(Counter(each.effect for each in life.bodies(ActionSettled)).values()) == 1
    assert all(each.logouts <= 1 for each in life.world.sessions.recent() if each.avatar_id == ADA)
    assert not [code for code, _ in life.errors if code not in {"backend_ended", "logout_timed_out"}]
