"""Claims about how a life is cut off: at which moment, how thoroughly, and that it is reckoned with."""

from __future__ import annotations

import pytest
import trio

from gridagent.grid.simulated.grid import open_simulated_grid
from gridagent.grid.simulated.scenario import load_shipped
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.observations import LinkState
from gridagent.runtime.deterministic import run_deterministic, simulated_ports
from gridagent.simulation.counters import Sometimes
from gridagent.simulation.life import Life, LifeFailed
from gridagent.simulation.machine import Crash, Machine, Moment
from gridagent.simulation.oracle import Oracle
from gridagent.simulation.stage import Stage
from gridagent.simulation.world import WatchedWorld
from gridagent.storage.base import LedgerRefused

PLAZA = load_shipped("plaza-8")


def live(*crashes: Crash | None, seed: int = 0, lasts_s: float = 60.0, harm=None) -> tuple[Stage, list[bool]]:
    """Live one life a crash on one machine; return the stage, and which were cut off."""
    ports = simulated_ports(seed)
    rng = ports.randomness.stream("simulation.world")
    world = build_world(PLAZA, rng=rng, ids=ports.ids.uuid, make=WatchedWorld)
    stage = Stage(PLAZA, world, ports, Oracle(seed=seed, clock=trio.current_time), Sometimes())
    machine = Machine(ports.randomness.stream("machine"), ports)
    cut: list[bool] = []

    async def run() -> None:
        async with open_simulated_grid(stage.world, ports=stage.ports) as grid:
            for number, crash in enumerate(crashes):
                life = Life(
                    stage,
                    grid,
                    machine=machine,
                    lasts_s=lasts_s,
                    calm=False,
                    aim=LinkState.ONLINE,
                    ending="leave",
                    crash=crash,
                    again=number > 0,
                )
                await life.live()
                cut.append(life.crashed)
                if harm is not None:
                    harm(machine)

    try:
        run_deterministic(run, seed=seed)
    finally:
        machine.close()
    return stage, cut


@pytest.mark.parametrize("power", [True, False])
def test_a_life_is_cut_off_and_the_next_goes_on(*, power: bool) -> None:
    """Nothing of it is left, no rule is broken, and it is counted as what it was. Spec: SIM-3. Fault: 38."""
    stage, cut = live(Crash(moment=Moment.TIME, power=power, after_s=20.0), None)
    counts = stage.sometimes.snapshot()
    assert [violation.rule for violation in stage.oracle.violations] == []
    assert cut == [True, False]
    assert (counts["power_cut"], counts["process_killed"]) == ((1, 0) if power else (0, 1))
    assert counts["budget_restored"] > 0
    assert not stage.down


def test_the_power_goes_off_at_a_write_of_some_life() -> None:
    """However often it takes."""
    _, cut = live(*[Crash(moment=Moment.WRITE, power=True, after_s=0.0)] * 4)
    assert any(cut)


@pytest.mark.parametrize(("after_s", "skip"), [(0.0, 0), (0.5, 0), (0.0, 1)])
def test_a_crash_waits_for_its_moment(after_s: float, skip: int) -> None:
    """At the moment or a little later; some moments pass first."""
    stage, cut = live(*[Crash(moment=Moment.HELD, power=True, after_s=after_s, skip=skip)] * 6, lasts_s=900.0)
    assert any(cut)
    assert stage.oracle.violations == []


def test_a_moment_that_never_comes_cuts_nothing_off() -> None:
    """It ends in order, then."""
    _, cut = live(Crash(moment=Moment.PAID, power=True, after_s=0.0, skip=10_000), lasts_s=20.0)
    assert cut == [False]


def test_a_database_that_cannot_be_opened_ends_the_run() -> None:
    """There is nothing that could follow. Spec: EFX-4."""

    def break_in(machine: Machine) -> None:
        for offset in range(32):
            machine.disk.flip("/state/gridagent.db", offset)

    with pytest.raises(LifeFailed, match="damaged") as caught:
        live(None, None, lasts_s=5.0, harm=break_in)
    assert isinstance(caught.value.__cause__, LedgerRefused)


def test_a_database_that_is_not_whole_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The examiner's word counts. Spec: POL-10."""
    look = Machine.look

    def worried(self):
        found = look(self)
        found.problem = "a segment is missing"
        return found

    monkeypatch.setattr(Machine, "look", worried)
    stage, _ = live(None, lasts_s=5.0)
    assert [violation.rule for violation in stage.oracle.violations] == ["the database is whole"]
