"""Every way a connection ends over the wire, and what the avatar does about it."""

from __future__ import annotations

import pytest
import trio

from gridagent.actions import Confirmed, Position, Say
from gridagent.controls import Connect, ForceReconnect, RequestAction
from gridagent.errors import BackendError, ResourceBusy
from gridagent.events import DisconnectCause
from gridagent.grid.simulated.witness import Witness
from gridagent.observations import Diagnostic, LinkState, LinkStateChanged
from live_grid.simulator import OPENSIM, SECOND_LIFE, WireFaults
from tests.live_grid.whole.life import ADA, HERE, Life, a_life

KINDS = pytest.mark.parametrize("profile", [OPENSIM, SECOND_LIFE], ids=["opensim", "secondlife"])


async def speaks(life: Life, words: str = "Here I am.") -> bool:
    """Tell whether the avatar can be heard."""
    return isinstance(await life.act(Say(text=words)), Confirmed)


def waits(life: Life) -> list[float]:
    """The pauses before every further attempt."""
    return [each.retry_in_s for each in life.bodies(LinkStateChanged) if each.retry_in_s is not None]


async def test_a_wrong_password_is_tried_once(tmp_path, autojump_clock) -> None:
    """Blocked until an operator acts; a day later nothing was tried again. Spec: SUP-6, SUP-7, LIV-1; Fault: 13."""
    async with a_life(tmp_path, password="not that one") as life:
        await life.until(lambda: life.handle.status().link is LinkState.AUTHENTICATION_BLOCKED)
        await trio.sleep(86_400.0)
        assert life.handle.status().link is LinkState.AUTHENTICATION_BLOCKED
        assert life.ends() == [("bad_credentials", False)]
        assert [each.code for each in life.bodies(Diagnostic)] == ["authentication_blocked"]
        assert life.world.sessions.totals(ADA).logins == 0
        assert (await life.handle.control(Connect())).accepted
        await life.until(lambda: len(life.ends()) == 2)
        assert life.ends()[-1] == ("bad_credentials", False)


@pytest.mark.parametrize(
    ("cause", "state", "pause"),
    [
        (DisconnectCause.BANNED, "authentication-blocked", None),
        (DisconnectCause.TERMS_NOT_ACCEPTED, "authentication-blocked", None),
        (DisconnectCause.MFA_REQUIRED, "authentication-blocked", None),
        (DisconnectCause.MAINTENANCE, "backoff", 300.0),
    ],
)
async def test_each_refusal_has_its_plan(tmp_path, autojump_clock, cause, state, pause) -> None:
    """What only an operator can mend is not tried again; the rest after its wait. Spec: SUP-6, LIV-1."""
    faults = WireFaults(login_refused=1.0, login_causes=(cause,))
    async with a_life(tmp_path, faults=faults) as life:
        await life.until(life.ends)
        assert life.ends() == [(cause.value, False)]
        await life.until(lambda: life.links()[-1:] == [state])
        assert waits(life) == ([] if pause is None else [pause])
        life.server.set_faults(WireFaults())
        if pause is not None:
            await life.online(within_s=pause + 60.0)


@KINDS
async def test_a_ghost_of_ours_is_waited_out(tmp_path, autojump_clock, profile) -> None:
    """The grid says we are in already and throws the stale session out; the next try works. Spec: SUP-6; Fault: 1."""
    async with a_life(tmp_path, profile=profile) as life:
        ghost = Witness(life.world, ADA, life.grid.now())
        await life.online(within_s=10.0)
        assert ghost.ended_by is DisconnectCause.KICKED
        assert life.ends() == []
        assert life.world.sessions.totals(ADA).refused == 1
        assert await speaks(life)


async def test_a_ghost_that_stays_is_asked_for_seldom(tmp_path, autojump_clock) -> None:
    """After three tries the short wait of the configuration, each time. Spec: SUP-6; Fault: 1."""
    faults = WireFaults(login_refused=1.0, login_causes=(DisconnectCause.ALREADY_LOGGED_IN,))
    async with a_life(tmp_path, faults=faults, reconnect={"short_wait_s": 20.0}) as life:
        await life.until(lambda: len(waits(life)) == 2)
        assert set(life.ends()) == {("already_logged_in", False)}
        assert waits(life) == [20.0, 20.0]
        assert life.server.statistics().faults["login_refused"] == 6
        life.server.set_faults(WireFaults())
        await life.online(within_s=30.0)


@KINDS
async def test_kicked_it_stays_away_and_says_so(tmp_path, autojump_clock, profile) -> None:
    """An hour, whatever was configured to be shorter; then it comes back. Spec: SUP-6; Fault: 5."""
    async with a_life(tmp_path, profile=profile) as life:
        await life.online()
        assert life.grid.kick(ADA, "Enough.") or life.world.kick(ADA, life.grid.now(), reason="Enough.")
        await life.until(lambda: waits(life))
        assert life.ends() == [("kicked", True)]
        assert "staying_away" in [each.code for each in life.bodies(Diagnostic)]
        assert waits(life) == [3600.0]
        await trio.sleep(3_500.0)
        assert life.where() == ""
        await life.online(within_s=200.0)
        assert await speaks(life)
        assert "Enough." not in str(life.bodies(Diagnostic))
    assert life.left_once()


async def test_somebody_else_on_our_account_is_left_alone(tmp_path, autojump_clock) -> None:
    """Thrown out by another login, it stays away: two programs on one account don't chase each other. Spec: SUP-6."""
    async with a_life(tmp_path) as life:
        await life.online()
        with pytest.raises(BackendError):
            Witness(life.world, ADA, life.grid.now())  # refused once, and the session that is in is ended
        other = Witness(life.world, ADA, life.grid.now())
        await life.until(lambda: waits(life))
        await trio.sleep(1_800.0)
        assert life.ends() == [("kicked", True)]
        assert waits(life) == [3600.0]
        assert other.ended_by is None


@KINDS
async def test_a_region_restart_is_survived(tmp_path, autojump_clock, profile) -> None:
    """It is taken as what it is, and a moment later the avatar is in world again. Spec: SUP-6; Fault: 6."""
    async with a_life(tmp_path, profile=profile) as life:
        await life.online()
        assert life.world.restart_region("Plaza", life.grid.now(), notice_s=30.0, down_s=60.0)
        await life.until(life.ends)
        assert life.ends() == [("region_restart", True)]
        await life.online(within_s=60.0)
        assert await speaks(life)


@KINDS
async def test_it_flees_from_a_restart_and_goes_back(tmp_path, autojump_clock, profile) -> None:
    """To the configured fallback at once, and back to its place when the region is up again. Spec: SUP-6; Fault: 6."""
    flight = {"avatar": {"fallbacks": ["Far/40/50/22"]}, "reconnect": {"return_after_s": 100.0}}
    async with a_life(tmp_path, profile=profile, **flight) as life:
        await life.online()
        life.world.restart_region("Plaza", life.grid.now(), notice_s=30.0, down_s=60.0)
        await life.until(lambda: life.where() == "Far")
        await life.online(within_s=10.0)
        assert life.world.position(ADA).distance_to(Position(x=40.0, y=50.0, z=22.0)) < 3.0
        await life.until(lambda: life.where() == "Plaza")
        await life.online(within_s=30.0)
        assert life.world.position(ADA).distance_to(HERE) < 30.0
        assert life.ends() == [("region_restart", True), ("requested", True)]
        await trio.sleep(1_000.0)
        assert len(life.ends()) == 2
        assert await speaks(life)
    assert life.left_once()


async def test_with_nowhere_to_flee_the_grid_decides_and_it_goes_back(tmp_path, autojump_clock) -> None:
    """Without a fallback it is put somewhere, and does not stay there. Spec: SUP-6."""
    async with a_life(tmp_path, reconnect={"return_after_s": 30.0}) as life:
        await life.online()
        life.world.restart_region("Plaza", life.grid.now(), notice_s=30.0, down_s=120.0)
        await life.until(lambda: life.where() == "Annex")
        await life.until(lambda: life.where() == "Plaza", within_s=400.0)
        await life.online(within_s=30.0)
        assert life.ends()[0] == ("region_restart", True)
        assert set(life.ends()[1:]) == {("requested", True)}


@KINDS
async def test_a_circuit_that_is_cut_is_lost_and_comes_back(tmp_path, autojump_clock, profile) -> None:
    """Two minutes without a network: lost after the silence, back within two of its return. Spec: SUP-6, SIM-4."""
    async with a_life(tmp_path, profile=profile) as life:
        await life.online()
        life.server.set_faults(WireFaults(datagram_lost=1.0, http_missing=1.0))
        await trio.sleep(120.0)
        assert life.ends()[0] == ("circuit_lost", True)
        assert life.handle.status().link is not LinkState.ONLINE
        life.server.set_faults(WireFaults())
        await life.online(within_s=120.0)
        assert await speaks(life)


@KINDS
@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.5, 1.5, 2.5, 4.0])
async def test_a_login_that_is_cut_off_is_undone(tmp_path, autojump_clock, profile, after_s) -> None:
    """Wherever it stands: the next one gets in, and none is left twice. Spec: SUP-5, SUP-9, BND-5."""
    slow = WireFaults(http_late=1.0, http_late_s=(1.0, 2.0), delay_s=(0.1, 0.3))
    async with a_life(tmp_path, profile=profile, faults=slow) as life:
        for _ in range(3):
            await trio.sleep(after_s)
            await life.handle.control(ForceReconnect())
        life.server.set_faults(WireFaults())
        await life.online(within_s=60.0)
        assert await speaks(life)
    assert [cause for cause, _ in life.ends() if cause not in {"requested", "already_logged_in"}] == []
    assert all(each.logouts <= 1 for each in life.world.sessions.recent())


async def test_a_farewell_that_is_not_answered_is_bounded(tmp_path, autojump_clock) -> None:
    """It is said once, waited for as long as configured, and then left. Spec: SUP-9; Fault: 3."""
    async with a_life(tmp_path, faults=WireFaults(logout_reply_missing=1.0)) as life:
        await life.online()
        before = trio.current_time()
        await life.handle.control(ForceReconnect())
        await life.until(life.ends)
        assert trio.current_time() - before < 6.0
        await life.online()
    assert life.ends() == [("requested", True)] * 2
    assert all(each.logouts == 1 for each in life.world.sessions.recent())


async def test_what_a_grid_says_reaches_no_observation(tmp_path, autojump_clock) -> None:
    """Observers get a cause; the grid's own words go to the log. Spec: SUP-10."""
    async with a_life(tmp_path, password="not that one") as life:
        await life.until(life.ends)
        shown = " ".join(repr(each.body) for each in life.seen)
        [(code, error)] = life.errors
        assert code == "backend_ended"
        assert error.detail
        assert error.detail not in shown


async def test_what_only_looks_waits_for_the_world_and_what_acts_is_refused(tmp_path, autojump_clock) -> None:
    """Kept out by maintenance: looks wait up to the bound, an action is not ready, and the looks are answered later.

    Spec: BND-6, SUP-6.
    """
    faults = WireFaults(login_refused=1.0, login_causes=(DisconnectCause.MAINTENANCE,))
    limits = {"reconnect": {"offline_work_capacity": 2}}
    seen: list[str] = []

    async def look() -> None:
        seen.append((await life.handle.look()).region)

    async with a_life(tmp_path, faults=faults, **limits) as life, trio.open_nursery() as nursery:
        await life.until(lambda: life.handle.status().link is LinkState.BACKOFF)
        nursery.start_soon(look)
        nursery.start_soon(look)
        await trio.sleep(1.0)
        with pytest.raises(ResourceBusy, match="not_ready, and 2 look-ups wait already"):
            await life.handle.look()
        assert (await life.handle.control(RequestAction(action=Say(text="Too early.")))).code == "not_ready"
        assert seen == []
        life.server.set_faults(WireFaults())
        await life.online(within_s=400.0)
        await life.until(lambda: len(seen) == 2)
        assert seen == ["Plaza", "Plaza"]
        assert life.world.sessions.totals(ADA).logins == 1
