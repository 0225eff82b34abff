"""How one life of the service is cut off, and what is reckoned afterwards.

Owns the moment at which the machine goes down: the process is dead before anything else runs, nothing of it reaches
the world or the disk, and what its remains still say is told to nobody. Afterwards it lets the machine come back and
holds what the disk knows against what happened. Made by `gridagent.simulation.life`, one a life (Fault: 38).

Invariant: first everything outside is out of reach, then the tasks are cancelled; so no clean-up can mend what a
crash breaks.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Final

import trio

from gridagent.grid.simulated.grid import SimulatedGrid
from gridagent.simulation.machine import Crash, Machine, Moment
from gridagent.simulation.stage import Stage, let_pass
from gridagent.storage.store import SqliteStore

__all__ = ("GONE_WITHIN_S", "Downfall")

GONE_WITHIN_S: Final = 600.0
"""Every task is gone so long after it was asked to stop: the largest bounds, summed."""


class Downfall:
    """The end that one life may come to.

    Args:
        stage: the set.
        grid: where the avatars are.
        machine: what the service runs on.
        crash: how it is cut off, if what that waits for comes.
    """

    def __init__(self, stage: Stage, grid: SimulatedGrid, machine: Machine, crash: Crash | None) -> None:
        self.happened = False
        """It was cut off."""
        self._stage = stage
        self._grid = grid
        self._machine = machine
        self._crash = crash

    def store(self, patience: trio.CancelScope, outer: trio.Nursery) -> AbstractAsyncContextManager[SqliteStore]:
        """Return the store of this life, to be opened.

        Args:
            patience: bounds how long the remains may take to go.
            outer: the nursery of everything that belongs to the life; cancelled by a crash.
        """
        stage = self._stage

        def on_down() -> None:
            self.happened = stage.down = True
            stage.oracle.note("service", "crash")
            for agent in stage.agents:
                agent.account.die(stage.oracle.deaf())
                self._grid.abandon(agent.avatar_id)
            patience.deadline = trio.current_time() + GONE_WITHIN_S
            outer.cancel_scope.cancel(reason="the machine is down")

        if self._crash is not None:
            self._plan(self._crash, outer)
        return self._machine.store(on_down, stage.on_error)

    def _plan(self, crash: Crash, outer: trio.Nursery) -> None:
        """Arrange that the machine goes down when what the crash waits for has come."""
        machine = self._machine

        async def go_down_later() -> None:
            await trio.sleep(crash.after_s)
            machine.go_down(power=crash.power)

        start = partial(outer.start_soon, go_down_later, name="simulation.crash")
        left = crash.skip

        def on_moment(moment: Moment) -> None:
            nonlocal left
            if moment is not crash.moment:
                return
            left -= 1
            if left == -1 and crash.after_s == 0.0:
                machine.go_down(power=crash.power)
            elif left == -1:
                start()

        if crash.moment is Moment.WRITE:
            machine.cut_at_a_write()
        elif crash.moment is Moment.TIME:
            start()
        else:
            self._stage.on_moment = on_moment

    def reckon(self) -> None:
        """Let the machine come back, and hold what its disk knows against what happened."""
        stage, machine, counts = self._stage, self._machine, self._stage.sometimes
        stage.on_moment = let_pass
        torn, lost = machine.disk.counts.sectors_torn, machine.disk.counts.sectors_lost
        if self.happened:
            counts.saw("power_cut" if machine.power_is_off else "process_killed")
            machine.come_back()
            stage.down = False
        found = machine.look()
        if found.problem:
            stage.oracle.breach("service", "the database is whole", found.problem)
            return
        reckonings = [agent.history.confront(found.avatar(agent.key), crashed=self.happened) for agent in stage.agents]
        counts.saw("torn_write", machine.disk.counts.sectors_torn - torn)
        if machine.disk.counts.sectors_lost > lost and any(each.rows_lost for each in reckonings):
            counts.saw("lost_unsynced_commit")
        counts.saw("crash_between_sent_and_confirmed", sum(each.sent for each in reckonings))
        counts.saw("effect_lost_unsent", sum(each.lost for each in reckonings))
