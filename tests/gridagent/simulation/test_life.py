"""Claims about one life of the service: it ends in every way, in every state, and recovers in the calm."""

from __future__ import annotations

import pytest
import trio

from gridagent.grid.simulated.grid import open_simulated_grid
from gridagent.grid.simulated.scenario import load_shipped
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.observations import AgentState, LinkState
from gridagent.runtime.deterministic import run_deterministic, simulated_ports
from gridagent.simulation import life as life_module
from gridagent.simulation.counters import Sometimes
from gridagent.simulation.life import ENDINGS, Aim, Life
from gridagent.simulation.operator import Operator
from gridagent.simulation.oracle import Oracle
from gridagent.simulation.stage import Stage
from gridagent.simulation.world import WatchedWorld

PLAZA = load_shipped("plaza-8")


def live(seed: int = 0, **asked: object):
    """Live one life and return its stage."""
    fields = {"lasts_s": 20.0, "calm": False, "aim": LinkState.ONLINE, "ending": "leave", **asked}
    ports = simulated_ports(seed)
    rng = ports.randomness.stream("simulation.world")
    world = build_world(PLAZA, rng=rng, ids=ports.ids.uuid, make=WatchedWorld)
    stage = Stage(PLAZA, world, ports, Oracle(seed=seed, clock=trio.current_time), Sometimes())

    async def run() -> None:
        async with open_simulated_grid(stage.world, ports=stage.ports) as grid:
            await Life(stage, grid, **fields).live()

    run_deterministic(run, seed=seed)
    return stage


def rules(stage: Stage) -> list[str]:
    """Name the rules that were broken."""
    return [violation.rule for violation in stage.oracle.violations]


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_way_to_end_leaves_nothing(ending: str) -> None:
    """Leaving, shutting down, closing and being cancelled. Spec: SUP-2, SUP-3, SUP-9."""
    stage = live(ending=ending)
    assert rules(stage) == []
    assert stage.agents[0].generation > 0


@pytest.mark.parametrize("aim", [*AgentState, *LinkState])
def test_a_service_is_shut_down_in_every_state(aim: Aim) -> None:
    """Whatever state it is in, it ends in order. Spec: SUP-1, SUP-3, SUP-4."""
    stage = live(aim=aim, lasts_s=0.0 if aim is AgentState.STARTING else 10.0)
    assert rules(stage) == []
    counts = stage.sometimes.snapshot()
    assert sum(count for name, count in counts.items() if name.startswith("shutdown_in_agent")) == len(stage.agents)


def test_after_the_calm_it_answers() -> None:
    """Faults stop, and every avatar is back and answers. Spec: SIM-4."""
    stage = live(lasts_s=60.0, calm=True)
    assert rules(stage) == []
    assert stage.sometimes.snapshot()["recovered_after_calm"] == len(stage.agents)


def test_whoever_stays_silent_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An avatar that nobody brings back, after it was told to stay away, does not answer. Spec: SIM-4."""

    async def gone(self, policy: bytes) -> None:
        await self.handle.shut_down()

    monkeypatch.setattr(Operator, "bring_back", gone)
    stage = live(calm=True)
    assert "back and answering after the calm" in rules(stage)


def test_what_never_ends_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that waits for ever is cancelled in the end, and named. Spec: SUP-3, BND-4."""

    async def wait(self, control) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(Operator, "send", wait)
    monkeypatch.setattr(life_module, "_REACH_WITHIN_S", 1.0)
    assert rules(live()) == ["no task is left"]


def test_a_task_too_many_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """More tasks after than before are a violation. Spec: BND-4."""
    counts = iter((5, 6))
    monkeypatch.setattr(life_module, "_count_tasks", lambda: next(counts))
    assert rules(live()) == ["no task is left"]
