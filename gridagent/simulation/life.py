"""One life of the service in a simulated world: start, storm, calm, and a shutdown in a chosen state.

Owns what happens when, and how long each part may take. The calm is the liveness check (Spec: SIM-4): faults
stop, the operator mends what only an operator can, and each avatar must be back and answer. Decides
nothing about right and wrong otherwise. `gridagent.simulation.trial` lives one after another.

Invariant: when `live` returns, nothing of the service is left; if something is, that is a violation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Final

import msgspec
import trio

from gridagent.actions import SendIm
from gridagent.controls import ForceReconnect, Hold
from gridagent.errors import BackendError
from gridagent.events import DisconnectCause
from gridagent.grid.simulated.faults import Faults
from gridagent.grid.simulated.grid import SimulatedGrid
from gridagent.ids import AvatarId
from gridagent.limits import GRID_EVENT_QUEUE_MAX
from gridagent.observations import AgentState, LinkState
from gridagent.presence import ReflexMind
from gridagent.service import AuditTrail, AvatarSpec, Service, open_service
from gridagent.simulation.bounds import calm_policy, draw_faults, draw_policy, draw_settings, vary_policy
from gridagent.simulation.downfall import GONE_WITHIN_S, Downfall
from gridagent.simulation.hostile import HostileFactory, Hostility
from gridagent.simulation.machine import Crash, Machine
from gridagent.simulation.operator import Operator
from gridagent.simulation.stage import OTHER_ROLES, Agent, Near, Stage
from gridagent.simulation.watching import check_queues, watch_at_once, watch_slowly
from gridagent.simulation.wild import WildMind

__all__ = ("ANSWER_WITHIN_S", "ENDINGS", "Aim", "Life", "LifeFailed")

Aim = AgentState | LinkState
"""State in which the first avatar is to be shut down."""
ANSWER_WITHIN_S: Final = 120.0
"""Spec: SIM-4."""
ENDINGS: Final = ("leave", "handle", "close", "service", "cancel")
"""Ways to end a service (Spec: SUP-2)."""
_REACH_WITHIN_S: Final = 150.0
_STALLED_AT_MOST_S: Final = 25.0
_LOOK_EVERY_S: Final = 30.0
_ASK_EVERY_S: Final = 3.0
_MOODS_S: Final = (5.0, 20.0, 60.0)
_WISHES: Final = (0.0, 0.05, 0.2)
_EVENTS_MAX: Final = (16, 64, GRID_EVENT_QUEUE_MAX, GRID_EVENT_QUEUE_MAX)
_FLOODS_PER_HOUR: Final = 30.0
_FLOOD_PER_S: Final = 250.0
"""Where the buffer is short there are floods, or a flood that is shed would be a rare coincidence."""
_VERY_HOSTILE: Final = 0.2


class LifeFailed(Exception):
    """The service could not be started, or ended by itself with an error; nothing can follow."""


class _Part:
    """One avatar's part in one life."""

    def __init__(self, agent: Agent, backend: HostileFactory, mind: WildMind) -> None:
        self.agent = agent
        self.backend = backend
        self.mind = mind
        self.operator: Operator


class Life:
    """One run of the service.

    Args:
        stage: the set.
        grid: where it is.
        machine: what it runs on; None for a service that keeps nothing and is never cut off.
        lasts_s: seconds of storm; 0 for none.
        calm: whether a calm follows, in which it must recover.
        aim: the state in which it is shut down.
        ending: one of `ENDINGS`.
        crash: how it is cut off, if what that waits for comes.
        again: it goes on where a crash ended the life before, under the same policies.
    """

    def __init__(
        self,
        stage: Stage,
        grid: SimulatedGrid,
        *,
        machine: Machine | None = None,
        lasts_s: float,
        calm: bool,
        aim: Aim,
        ending: str,
        crash: Crash | None = None,
        again: bool = False,
    ) -> None:
        self._stage = stage
        self._grid = grid
        self._downfall = None if machine is None else Downfall(stage, grid, machine, crash)
        self._lasts_s = lasts_s
        self._calm_wanted = calm
        self._aim = aim
        self._ending = ending
        self._again = again
        self._parts: list[_Part] = []
        self._asked = 0

    @property
    def crashed(self) -> bool:
        """Whether it was cut off."""
        return self._downfall is not None and self._downfall.happened

    async def live(self) -> None:
        """Run the service from its start to its end, and judge what is left."""
        stage = self._stage
        before = _count_tasks()
        self._grid.events_max = stage.draw.choice(_EVENTS_MAX)
        faults = draw_faults(stage.draw, wild=self._lasts_s > 0)
        if self._lasts_s > 0 and self._grid.events_max == _EVENTS_MAX[0]:
            faults = msgspec.structs.replace(faults, floods_per_hour=_FLOODS_PER_HOUR, flood_per_s=_FLOOD_PER_S)
        self._grid.set_faults(faults)
        specs = [self._spec(agent) for agent in stage.agents]
        try:
            await self._run(specs)
        except Exception as error:  # noqa: BLE001 - of a dead process nobody cares what becomes of its remains
            if not self.crashed:
                cause = _alone(error)
                raise LifeFailed(f"{type(cause).__name__}: {cause}") from cause
        after = _count_tasks()
        if after != before:
            stage.oracle.breach("service", "no task is left", f"{after} tasks, {before} before the service ran")
        stage.judge_logins(crashed=self.crashed)
        if not self.crashed:
            for agent in stage.agents:
                agent.account.end()
        if self._downfall is not None:
            self._downfall.reckon()
        for agent in stage.agents:
            agent.generation = agent.history.generation

    async def _run(self, specs: list[AvatarSpec]) -> None:
        stage = self._stage
        audit = AuditTrail(stage.on_row, keep=1)
        with trio.CancelScope() as patience:
            async with trio.open_nursery() as outer:
                store = nullcontext() if self._downfall is None else self._downfall.store(patience, outer)
                with trio.CancelScope() as scope:
                    async with (
                        store as kept,
                        open_service(
                            specs, ports=stage.ports, log_error=stage.on_error, audit=audit, store=kept
                        ) as service,
                    ):
                        await self._go_on(service, outer)
                        await self._end(service, scope)
                patience.deadline = trio.current_time() + GONE_WITHIN_S
        if patience.cancelled_caught:
            stage.oracle.breach("service", "no task is left", f"something waits {GONE_WITHIN_S:g} s after the end")

    async def _go_on(self, service: Service, outer: trio.Nursery) -> None:
        for part in self._parts:
            self._watch(service, part, outer)
            if self._again:
                outer.start_soon(part.operator.catch_up, name="simulation.catch_up")
            if self._downfall is not None and any(
                budget.used for budget in service.avatar(part.agent.key).status().gateway.budgets
            ):
                self._stage.sometimes.saw("budget_restored")
        if self._lasts_s > 0:
            await self._storm(service, outer)
        if self._calm_wanted:
            await self._calm(service)
        await self._approach(service)

    # --- the start ----------------------------------------------------------------------------------

    def _spec(self, agent: Agent) -> AvatarSpec:
        stage = self._stage
        draw = stage.draw
        settings = draw_settings(draw, agent.key, last_generation=agent.generation, starts_connected=self._lasts_s == 0)
        agent.begin_life(stage, remembers=self._downfall is not None)
        account = agent.account
        if not self._again:
            agent.policy = draw_policy(draw, None if self._downfall is None else agent.policy)
        very = draw.random() < _VERY_HOSTILE
        backend = HostileFactory(
            self._grid.backend_factory(agent.avatar_id),
            account,
            agent.tricks,
            Hostility(replay=0.5, late=0.3, keep=0.3, fail=0.1) if very else Hostility(),
            partial(stage.sometimes.saw, "old_sink_refused"),
        )
        authorised = tuple(AvatarId(each) for each in (*stage.roles.owners, *stage.roles.trusted))
        first = agent.name.partition(" ")[0]
        mind = WildMind(
            ReflexMind((first, agent.name), frozenset(authorised)),
            account,
            agent.wishes,
            chance=draw.choice(_WISHES),
            authorised=authorised,
            items=tuple(item.item_id for item in stage.world.inventory(agent.avatar_id)[:8]),
            recent=agent.recent_wishes if self._downfall is not None else None,
        )
        self._parts.append(_Part(agent, backend, mind))
        return AvatarSpec(
            settings=settings,
            policy=stage.policy_of(agent, agent.policy.written()),
            mind=mind,
            backend=backend,
            reload=partial(stage.reload, agent),
        )

    def _another_policy(self, agent: Agent) -> bytes:
        """Write something to reload: mostly a policy, sometimes what must be refused."""
        varied = vary_policy(agent.orders, agent.policy)
        chosen: bytes = agent.orders.choice((OTHER_ROLES, b"{", *[varied.written()] * 6))
        agent.offered[chosen] = varied
        return chosen

    def _watch(self, service: Service, part: _Part, outer: trio.Nursery) -> None:
        stage, agent = self._stage, part.agent
        handle = service.avatar(agent.key)
        part.operator = Operator(
            handle,
            agent.account,
            agent.orders,
            near=Near(stage.world, agent.avatar_id),
            policies=partial(self._another_policy, agent),
            known=(stage.inspector, *(each.avatar_id for each in stage.agents)),
            open_approvals=agent.open_approvals,
        )
        part.backend.on_ambush = partial(
            outer.start_soon, part.operator.send, ForceReconnect(), name="simulation.ambush"
        )
        part.backend.on_betrayal = partial(outer.start_soon, part.operator.send, Hold(), name="simulation.betrayal")
        quick, slow = handle.observe("oracle"), handle.observe("slow", limit=stage.draw.choice((1, 3, 16)))
        counts, account = stage.sometimes, agent.account
        outer.start_soon(watch_at_once, quick, account, counts, part.operator, name="simulation.watch")
        outer.start_soon(watch_slowly, slow, account, counts, agent.reading, name="simulation.slow")

    # --- the storm ----------------------------------------------------------------------------------

    async def _storm(self, service: Service, outer: trio.Nursery) -> None:
        every_s = self._stage.draw.choice(_MOODS_S)
        with trio.move_on_after(self._lasts_s):
            async with trio.open_nursery() as nursery:
                for part in self._parts:
                    nursery.start_soon(part.operator.storm, every_s, outer, name="simulation.operator")
                while True:
                    await trio.sleep(_LOOK_EVERY_S)
                    self._look_at_queues(service)
        self._look_at_queues(service)

    def _look_at_queues(self, service: Service) -> None:
        for part in self._parts:
            check_queues(service.avatar(part.agent.key), part.agent.account, self._stage.sometimes)

    # --- the calm -----------------------------------------------------------------------------------

    async def _calm(self, service: Service) -> None:
        """Let every fault stop; then each avatar must be back and answer (Spec: SIM-4)."""
        stage = self._stage
        self._grid.calm()
        self._grid.events_max = GRID_EVENT_QUEUE_MAX
        for part in self._parts:
            part.backend.hostility.calm()
            part.mind.chance = 0.0
        await self._faults_over()
        alive = [part for part in self._parts if _state(service, part)[0] is not AgentState.FAILED]
        began = trio.current_time()
        with trio.move_on_after(ANSWER_WITHIN_S):
            async with trio.open_nursery() as nursery:
                for part in alive:
                    nursery.start_soon(self._help, part, name="simulation.help")
                async with self._inspection():
                    while any(self._silent(part, began) for part in alive):
                        for part in alive:
                            self._greet(part)
                        await trio.sleep(_ASK_EVERY_S)
        for part in alive:
            if self._silent(part, began):
                agent, link = _state(service, part)
                part.agent.account.breach(
                    "back and answering after the calm",
                    f"not within {ANSWER_WITHIN_S:g} s: agent {agent.value}, link {link.value}",
                )
            else:
                stage.sometimes.saw("recovered_after_calm")
        self._look_at_queues(service)

    async def _faults_over(self) -> None:
        """Wait until what was announced or begun has passed."""
        regions = self._stage.world.regions()
        await trio.sleep(_STALLED_AT_MOST_S)
        while any(region.restarting for region in regions):  # noqa: ASYNC110 - the world has no signal for it
            await trio.sleep(_ASK_EVERY_S)

    async def _help(self, part: _Part) -> None:
        """Mend what only an operator can, twice: a control may still be on its way the first time."""
        for pause_s in (0.0, 10.0):
            await trio.sleep(pause_s)
            await part.operator.bring_back(calm_policy(part.agent.policy).written())
            await part.backend.recover()

    @asynccontextmanager
    async def _inspection(self) -> AsyncIterator[None]:
        """Let the inspector be in the world."""
        stage, grid = self._stage, self._grid
        session = None
        while session is None:
            try:
                session = stage.world.login(stage.inspector, grid.now())
            except BackendError:
                await trio.sleep(_ASK_EVERY_S)
        stage.world.attach(stage.inspector, stage.on_inspector_event, now=grid.now())
        try:
            yield
        finally:
            stage.world.logout(stage.inspector, grid.now(), session)

    def _greet(self, part: _Part) -> None:
        self._asked += 1
        hello = SendIm(to=part.agent.avatar_id, text=f"hello, number {self._asked}")
        self._stage.world.perform(self._stage.inspector, hello, self._grid.now())

    def _silent(self, part: _Part, since: float) -> bool:
        return self._stage.heard.get(part.agent.avatar_id, -1.0) < since

    # --- the end ------------------------------------------------------------------------------------

    async def _approach(self, service: Service) -> None:
        """Bring the first avatar into the state in which it is to be shut down."""
        aim, part, grid = self._aim, self._parts[0], self._grid
        if aim is LinkState.AUTHENTICATION_BLOCKED:
            grid.set_faults(Faults(login_refused=1.0, login_causes=(DisconnectCause.BAD_CREDENTIALS,)))
        if aim is LinkState.DEGRADED:
            grid.calm()
            part.backend.fall_ill = True
        part.backend.force_crash = aim is AgentState.FAILED
        part.backend.hostility.slow_logout = 1.0 if aim is LinkState.SHUTTING_DOWN else 0.2
        with trio.move_on_after(_REACH_WITHIN_S):
            await part.operator.reach(aim, partial(grid.disconnect, part.agent.avatar_id))
        for each in self._parts:
            agent, link = _state(service, each)
            self._stage.sometimes.shut_down_in(agent.value, link.value)

    async def _end(self, service: Service, scope: trio.CancelScope) -> None:
        handle = service.avatar(self._parts[0].agent.key)
        if self._ending == "handle":
            await handle.shut_down()
            await handle.shut_down()  # asked again, it changes nothing
        elif self._ending == "close":
            handle.close()
            handle.close()
        elif self._ending == "service":
            await service.shut_down()
        elif self._ending == "cancel":
            scope.cancel(reason="the simulated owner is cancelled")


def _alone(error: Exception) -> Exception:
    """Return the one error that nurseries have wrapped, if it is one."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _state(service: Service, part: _Part) -> tuple[AgentState, LinkState]:
    status = service.avatar(part.agent.key).status()
    return status.agent, status.link


def _count_tasks() -> int:
    """Count every task of the run."""
    root = trio.lowlevel.current_root_task()
    count, waiting = 0, [] if root is None else [root]
    while waiting:
        task = waiting.pop()
        count += 1
        waiting += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
    return count
