"""Claims about the machine under the simulated service: how it goes down, and what it comes back with."""

from __future__ import annotations

from random import Random

import pytest

from gridagent.ids import AvatarKey
from gridagent.runtime.deterministic import simulated_ports
from gridagent.simulation.machine import Machine, Moment, draw_crash
from gridagent.storage.base import StorageFailed


@pytest.fixture
def machine():
    """A machine of the test's own."""
    machine = Machine(Random(1), simulated_ports(1))
    yield machine
    machine.close()


def nothing() -> None:
    """Be told of nothing."""


async def live(machine: Machine, downs: list[str], *, power: bool | None) -> None:
    """Open the store for somebody, and go down if told."""
    async with machine.store(lambda: downs.append("down"), lambda *_: None) as store:
        await store.open_avatar(AvatarKey("robin"))
        if power is not None:
            machine.go_down(power=power)
            with pytest.raises(StorageFailed):
                await store.open_avatar(AvatarKey("robin"))


@pytest.mark.parametrize("power", [True, False])
async def test_it_goes_down_once_and_comes_back(machine, autojump_clock, *, power: bool) -> None:
    """Whoever is to know is told at that moment; nothing that was acknowledged is lost. Fault: 38."""
    downs: list[str] = []
    await live(machine, downs, power=power)
    assert (downs, machine.up, machine.power_is_off) == (["down"], False, power)
    machine.come_back()
    assert machine.up
    assert "robin" in machine.look().avatars
    await live(machine, downs, power=None)
    assert downs == ["down"]


async def test_the_power_goes_off_at_a_write(machine, autojump_clock) -> None:
    """Some lives later at the latest."""
    downs: list[str] = []
    for _ in range(200):
        machine.cut_at_a_write()
        try:
            await live(machine, downs, power=None)
        except StorageFailed:
            break
    assert (downs, machine.power_is_off) == (["down"], True)


def test_every_kind_of_crash_is_drawn() -> None:
    """Each moment, with the power on and off, at once and later."""
    drawn = [draw_crash(Random(seed), 60.0) for seed in range(200)]
    assert {crash.moment for crash in drawn} == set(Moment)
    assert {crash.power for crash in drawn} == {True, False}
    assert any(crash.after_s == 0.0 for crash in drawn)
    assert all(0.0 <= crash.after_s <= 60.0 for crash in drawn)
