"""A whole avatar whose connection has one sick part after the other, over the wire, in virtual time."""

from __future__ import annotations

import pytest
import trio

from gridagent.actions import Confirmed, Say
from gridagent.events import PartDegraded, PartRecovered
from gridagent.observations import LinkState
from live_grid.simulator import OPENSIM, SECOND_LIFE, WireFaults
from tests.live_grid.whole.life import Life, a_life

KINDS = pytest.mark.parametrize("profile", [OPENSIM, SECOND_LIFE], ids=["opensim", "secondlife"])
RECOVERY_S = 120.0


async def answers(life: Life) -> None:
    """It is online within two minutes after the fault, and is heard."""
    life.server.set_faults(WireFaults())
    await life.online(within_s=RECOVERY_S)
    assert isinstance(await life.act(Say(text="Here I am.")), Confirmed)


def treated(life: Life, part: str) -> list[str]:
    """What was done for a part."""
    return [each.remedy for each in life.events(PartDegraded) if each.part == part and each.remedy]


async def test_a_circuit_that_falls_silent_for_a_while_is_sick_and_well_again(tmp_path, autojump_clock) -> None:
    """Shorter than a minute it is not given up. Spec: LIV-12, SUP-7."""
    async with a_life(tmp_path) as life:
        await life.online()
        life.server.set_faults(WireFaults(datagram_lost=1.0))
        await life.until(lambda: PartDegraded(part="circuit") in life.events(PartDegraded), within_s=30.0)
        assert life.handle.status().link is LinkState.DEGRADED
        assert life.handle.status().sick == ("circuit",)
        await answers(life)
        assert life.handle.status().sick == ()
        assert life.ends() == []
        assert PartRecovered(part="circuit") in life.events(PartRecovered)


@KINDS
async def test_a_mute_event_queue_is_renewed_and_the_avatar_stays(tmp_path, autojump_clock, profile) -> None:
    """Its polls are never answered; another queue takes its place. Spec: LIV-12, SUP-7; Fault: 11."""
    async with a_life(tmp_path, profile=profile) as life:
        await life.online()
        life.server.set_faults(WireFaults(queue_mute=1.0))
        await life.until(lambda: treated(life, "event_queue"), within_s=300.0)
        assert treated(life, "event_queue") == ["renewed"]
        assert life.handle.status().link is LinkState.DEGRADED
        await answers(life)
        assert life.ends() == []


async def test_an_event_queue_that_stays_mute_ends_the_connection(tmp_path, autojump_clock) -> None:
    """After three more queues; the next connection is well. Spec: LIV-12, SUP-7; Fault: 11."""
    async with a_life(tmp_path) as life:
        await life.online()
        life.server.set_faults(WireFaults(queue_mute=1.0))
        await life.until(life.ends, within_s=1_200.0)
        assert life.ends() == [("circuit_lost", True)]
        assert treated(life, "event_queue") == ["renewed"] * 3 + ["reconnect"]
        await answers(life)


@KINDS
async def test_a_region_that_shows_nothing_is_asked_and_then_left(tmp_path, autojump_clock, profile) -> None:
    """Not even the avatar itself, since the login: asked three times, then another connection. Spec: LIV-12, SUP-7."""
    async with a_life(tmp_path, profile=profile, faults=WireFaults(sight_lost=1.0)) as life:
        await life.until(life.ends, within_s=300.0)
        assert life.ends()[0] == ("circuit_lost", True)
        await life.until(lambda: life.handle.status().retry_in_s is not None)
        assert treated(life, "world") == ["asked_again"] * 3 + ["reconnect"]
        await answers(life)


async def test_a_region_that_ceases_to_show_is_noticed(tmp_path, autojump_clock) -> None:
    """It answered when it was asked before; asked again, it shows all when it can. Spec: LIV-12, SUP-7."""
    async with a_life(tmp_path) as life:
        await life.online()
        await trio.sleep(300.0)
        assert treated(life, "world") == []
        life.server.set_faults(WireFaults(sight_lost=1.0))
        await life.until(lambda: treated(life, "world"), within_s=300.0)
        await answers(life)
        assert life.ends() == []
