"""The machine that the simulated service runs on: its disk, and the ways in which it goes down.

Owns the disk of one run, which outlives every life of the service; when a life is cut off, by a kill or by the power
going off at a write; and the examiner's look at the disk afterwards (Spec: SIM-3; Fault: 38). What follows from
going down is the life's business (`gridagent.simulation.life`), what must be there afterwards the history's.

Invariant: between going down and coming back nothing reaches the disk, and what the examiner reads is what the next
life finds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import Enum
from random import Random
from typing import Final

import msgspec

from gridagent.runtime.ports import Ports
from gridagent.simulation.examination import Found, examine
from gridagent.storage.database import Holder
from gridagent.storage.settings import StorageSettings
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.store import Report, SqliteStore, open_store

__all__ = ("Crash", "Machine", "Moment", "draw_crash")

PATH: Final = "/state/gridagent.db"
_HOLDER: Final = Holder(pid=1, since="simulated")
_OPERATIONS: Final = (12, 60, 400, 2_000)
"""Writes until the power goes off: in the start, soon after it, or in the middle of things."""


class Moment(Enum):
    """What a crash may wait for."""

    TIME = "time"
    WRITE = "write"
    """A write to the disk: only the power can go off in the middle of one."""
    PAID = "paid"
    """The world has just moved L$, and nobody knows yet."""
    ASKED = "asked"
    """A person has just been asked for a yes."""
    ANSWERED = "answered"
    """A person has just said yes."""
    HELD = "held"
    """The kill switch has just been thrown."""


_MOMENTS: Final = (
    Moment.TIME,
    *[Moment.WRITE] * 2,
    *[Moment.PAID] * 3,
    *[Moment.ASKED] * 3,
    Moment.ANSWERED,
    Moment.HELD,
)
"""What is rare in itself is waited for more often."""


class Crash(msgspec.Struct, kw_only=True):
    """How one life is to be cut off."""

    moment: Moment
    power: bool
    """Whether the power goes off; else only the process dies, and what was written stays."""
    after_s: float
    """Seconds from the moment on; 0 is at once."""
    skip: int = 0
    """Moments that pass without a crash."""


def draw_crash(rng: Random, lasts_s: float) -> Crash:
    """Draw how a life is cut off, if what that waits for comes at all.

    Args:
        rng: the stream of the draws.
        lasts_s: seconds of the life's storm.
    """
    moment = rng.choice(_MOMENTS)
    after_s = rng.choice((0.0, 0.0, rng.uniform(0.0, 0.02), rng.uniform(0.0, 2.0)))
    if moment is Moment.TIME:
        after_s = rng.uniform(0.0, max(lasts_s, 1.0))
    return Crash(moment=moment, power=rng.random() < 0.6, after_s=after_s, skip=rng.choice((0, 0, 1, 4)))  # noqa: PLR2004 - mostly


class Machine:
    """One disk and whoever runs on it.

    Args:
        rng: the stream of its fate.
        ports: clock and blocking port of the run.
    """

    def __init__(self, rng: Random, ports: Ports) -> None:
        self.disk = SimulatedDisk(rng, name="simulation.disk")
        self._rng = rng
        self._ports = ports
        self._cuts = 0

    @property
    def up(self) -> bool:
        """Whether it runs."""
        return not self.disk.dead

    @property
    def power_is_off(self) -> bool:
        """Whether it went down because the power went off."""
        return self.disk.counts.cuts > self._cuts

    @asynccontextmanager
    async def store(self, on_down: Callable[[], None], report: Report) -> AsyncIterator[SqliteStore]:
        """Open the database for one life.

        Args:
            on_down: called at the very moment the machine goes down.
            report: takes the errors of the store.

        Raises:
            LedgerRefused, StorageFailed: it cannot be opened.
        """
        self.disk.on_down = on_down
        settings = StorageSettings(
            linger_s=self._rng.choice((0.0, 0.05, 0.05, 1.0)),
            rows_per_commit_max=self._rng.choice((16, 1_024)),
            wal_pages=self._rng.choice((16, 64, 1_000)),
            audit_segment_rows=self._rng.choice((16, 256, 4_096)),
            audit_keep_rows=4_096,
            effects_keep_rows=8_192,
            tend_every_s=self._rng.choice((10.0, 300.0)),
        )
        async with open_store(
            PATH, ports=self._ports, holder=_HOLDER, settings=settings, files=self.disk, report=report
        ) as store:
            yield store

    def go_down(self, *, power: bool) -> None:
        """Go down now; the disk tells the life."""
        if power:
            self.disk.cut_now()
        else:
            self.disk.kill()

    def cut_at_a_write(self) -> None:
        """Let the power go off at some write from now on."""
        self.disk.cut_after(1 + self._rng.randrange(self._rng.choice(_OPERATIONS)))

    def come_back(self) -> None:
        """Be switched on again, or just go on."""
        if self.power_is_off:
            self._cuts = self.disk.counts.cuts
            self.disk.reboot()
        else:
            self.disk.go_on()

    def look(self) -> Found:
        """Let the examiner read a twin of the disk."""
        twin = self.disk.twin(name="simulation.twin")
        try:
            return examine(PATH, twin.vfs, wall=self._ports.clock.wall())
        finally:
            twin.close()
            twin.erase()

    def close(self) -> None:
        """Take the disk away."""
        self.disk.close()
        self.disk.erase()
