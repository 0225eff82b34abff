"""One seed, one run: the whole service in a simulated world where everything goes wrong (Spec: SIM-3).

Owns the run: a world from a scenario, and one life of the service after another in it, long ones with a
storm and a calm, short ones for the shutdown of their states. Decides nothing about right and wrong: that is
the oracle's. `run_trial` is called by the command, by the process runner and by tests.

Invariant: everything follows from scenario, seed and length; the same three take the same steps (Spec: SIM-2).
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Final

import msgspec
import trio
import trio.testing

from gridagent.errors import OperatorError
from gridagent.grid.simulated.grid import SimulatedGrid, open_simulated_grid
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.grid.simulated.scenario_format import Scenario
from gridagent.grid.simulated.scenario_timeline import set_timeline
from gridagent.observations import AgentState, LinkState
from gridagent.runtime.deterministic import run_deterministic, simulated_ports
from gridagent.simulation.counters import Sometimes
from gridagent.simulation.life import ENDINGS, Aim, Life, LifeFailed
from gridagent.simulation.machine import Machine, draw_crash
from gridagent.simulation.oracle import Oracle, Violation
from gridagent.simulation.stage import Stage
from gridagent.simulation.world import WatchedWorld

__all__ = ("TrialResult", "run_trial")

_AIMS: Final[tuple[Aim, ...]] = (
    AgentState.STARTING,
    LinkState.ONLINE,
    LinkState.BACKOFF,
    LinkState.SHUTTING_DOWN,
    LinkState.AUTHENTICATION_BLOCKED,
    LinkState.CONNECTING,
    AgentState.FAILED,
    LinkState.PAUSED,
    LinkState.DEGRADED,
    LinkState.STOPPED,
    AgentState.STOPPED,
)
_SHORT_S: Final = (5.0, 60.0)
_LONG_S: Final = (240.0, 900.0)
_CRASH_CHANCE: Final = 0.5
"""Of a life to be cut off, if what its crash waits for comes."""
_SAME_POLICY_CHANCE: Final = 0.75
"""After a crash: nobody edits the configuration each time the power comes back."""
_SHORT_LIVES: Final = 2
"""Short lives after each long one."""
_STILL_STEPS: Final = 20_000
"""More steps in one moment than any flood needs."""
_LIFT_S: Final = 600.0
_COLLECT_EVERY_S: Final = 3_600.0
"""The collector is off while a seeded run lasts; a pass costs as much as some minutes of simulation."""


class TrialResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one seed came to."""

    seed: int
    hours: float
    steps: int
    step_hash: str
    violations: tuple[Violation, ...]
    sometimes: dict[str, int]
    checked: int
    """Facts the oracle judged."""
    lives: int
    """Times the service was started."""


def run_trial(
    scenario: Scenario,
    seed: int,
    hours: float,
    *,
    crashes: bool = True,
    on_progress: Callable[[float], None] | None = None,
) -> TrialResult:
    """Run one seed.

    Args:
        scenario: the world.
        seed: decides everything else.
        hours: simulated hours.
        crashes: keep everything on a simulated disk, and kill the process or cut the power now and then.
        on_progress: told the simulated hours that have passed, after each life of the service.

    Raises:
        OperatorError: the scenario has no account for an agent.
    """
    if not scenario.agents():
        raise OperatorError(f"scenario {scenario.name} has no avatar without a character; add one for the agent")
    trial = _Trial(scenario, seed, hours, on_progress, crashes=crashes)
    gc.collect()
    gc.freeze()  # what was there before need not be looked at again each time
    try:
        run = run_deterministic(trial.run, seed=f"simulate/{scenario.name}/{seed}")
    finally:
        gc.unfreeze()
    return TrialResult(
        seed=seed,
        hours=hours,
        steps=run.steps,
        step_hash=run.step_hash,
        violations=tuple(trial.oracle.violations),
        sometimes=trial.sometimes.snapshot(),
        checked=trial.oracle.checked,
        lives=trial.lives,
    )


class Stillness(trio.abc.Instrument):
    """Notices a loop that turns without end: simulated time moves only while everybody waits.

    Args:
        give_up: called in the middle of the loop, again and again while it turns.
    """

    def __init__(self, give_up: Callable[[], None]) -> None:
        self._give_up = give_up
        self._steps = 0
        self._since = -1.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:  # noqa: ARG002 - the instrument's signature
        """Count; look at the time now and then."""
        self._steps += 1
        if self._steps % _STILL_STEPS == 0:
            now = trio.current_time()
            if now == self._since:
                self._give_up()
            self._since = now


class _Trial:
    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        hours: float,
        on_progress: Callable[[float], None] | None,
        *,
        crashes: bool = False,
    ) -> None:
        self.sometimes = Sometimes(crashes=crashes)
        self.oracle = Oracle(seed=seed, clock=trio.current_time)
        self.lives = 0
        self._scenario = scenario
        self._until = hours * 3600.0
        self._on_progress = on_progress
        self._ports = simulated_ports(f"{scenario.name}/{seed}")
        self._aims: list[Aim] = list(_AIMS)
        self._crashes = crashes
        self._collect_at = _COLLECT_EVERY_S

    async def run(self) -> None:
        """Live one life of the service after another until the time is up, or stands still."""
        with trio.CancelScope() as scope:

            def give_up() -> None:
                self.oracle.breach("service", "time goes on", f"{_STILL_STEPS} steps in one moment")
                scope.cancel(reason="time stands still")
                clock = trio.lowlevel.current_clock()
                if isinstance(clock, trio.testing.MockClock):
                    clock.jump(_LIFT_S)  # every bounded wait ends, and with it what holds the cancellation up

            trio.lowlevel.add_instrument(Stillness(give_up))
            await self._live()

    async def _live(self) -> None:
        scenario, ports = self._scenario, self._ports
        rng = ports.randomness.stream("simulation.world")
        world = build_world(scenario, rng=rng, ids=ports.ids.uuid, make=WatchedWorld)
        assert isinstance(world, WatchedWorld)  # noqa: S101 - it was made so
        stage = Stage(scenario, world, ports, self.oracle, self.sometimes)
        stage.draw.shuffle(self._aims)
        machine = Machine(ports.randomness.stream("simulation.machine"), ports) if self._crashes else None
        try:
            async with open_simulated_grid(world, ports=ports) as grid:
                set_timeline(scenario, world, grid.hands, now=grid.now())
                await self._lives(stage, grid, machine)
                self.sometimes.faults(grid.counts.snapshot())
        finally:
            if machine is not None:
                machine.close()

    async def _lives(self, stage: Stage, grid: SimulatedGrid, machine: Machine | None) -> None:
        crashed = False
        while (now := trio.current_time()) < self._until:
            long = self.lives % (_SHORT_LIVES + 1) == 0
            aim = self._next_aim(long=long)
            storm_s = stage.draw.uniform(*(_LONG_S if long else _SHORT_S))
            lasts_s = 0.0 if aim is AgentState.STARTING else min(storm_s, self._until - now)
            ending, crash, again = stage.draw.choice(ENDINGS), None, False
            if machine is not None:
                crash = draw_crash(stage.draw, lasts_s) if stage.draw.random() < _CRASH_CHANCE else None
                again = stage.draw.random() < (_SAME_POLICY_CHANCE if crashed else _SAME_POLICY_CHANCE / 2)
            self.lives += 1
            life = Life(
                stage,
                grid,
                machine=machine,
                lasts_s=lasts_s,
                calm=long,
                aim=aim,
                ending=ending,
                crash=crash,
                again=again,
            )
            try:
                await life.live()
            except LifeFailed as error:
                self.oracle.breach("service", "the service starts and ends as it should", str(error))
                return
            crashed = life.crashed
            self._collect(trio.current_time())
            if self._on_progress is not None:
                self._on_progress(min(trio.current_time(), self._until) / 3600.0)
        if machine is not None:
            later = sum(agent.history.questions.used_later for agent in stage.agents)
            self.sometimes.saw("approval_answered_after_restart", later)

    def _collect(self, now: float) -> None:
        """Collect garbage now and then: between two lives nothing waits for a finaliser, so no step changes."""
        if now >= self._collect_at:
            self._collect_at = now + _COLLECT_EVERY_S
            gc.collect()

    def _next_aim(self, *, long: bool) -> Aim:
        """Take the state whose turn it is; nobody is starting any more after a storm."""
        which = -2 if long and self._aims[-1] is AgentState.STARTING else -1
        aim = self._aims.pop(which)
        self._aims.insert(0, aim)
        return aim
