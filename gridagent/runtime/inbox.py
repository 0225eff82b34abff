"""Several bounded lanes, one reader: how one task owns a state that many others talk to.

Owns the order in which lanes are served and the wake-up of their reader. May not look into what
travels. A lane is an `Overflow.WAIT` channel and its `Sender` is all its writers see.

Policy: strict priority in the order the lanes were opened. A batch holds every waiting item of a
higher lane before the first of a lower one. A full higher lane can therefore hold lower lanes back;
how long is bounded by its writers, so the first lanes are for rare, small and important items, have
small limits, and their writers wait when they are full. The reader never does.

Invariant: the reader sleeps only while every lane is empty (Spec: BND-1, BND-2).
"""

from __future__ import annotations

from types import TracebackType
from typing import Final, Generic, Self, TypeVar

import trio

from gridagent.errors import LimitExceeded, ResourceBusy, ResourceClosed
from gridagent.limits import DRAIN_BATCH_MAX
from gridagent.runtime.channels import ChannelStatistics, Overflow, Receiver, Sender, open_channel

__all__ = ("LANES_MAX", "Inbox")

LANES_MAX: Final = 16
"""Open lanes an inbox may have."""

T = TypeVar("T")


class Inbox(Generic[T]):
    """A reader of several lanes; the earlier a lane was opened, the sooner it is served.

    Args:
        name: how errors and statistics call it; a lane is ``name.lane``.
    """

    __slots__ = ("_bell", "_closed", "_lanes", "_name", "_reading")

    def __init__(self, name: str) -> None:
        self._name = name
        self._lanes: list[Receiver[T]] = []
        self._bell = trio.lowlevel.ParkingLot()
        self._reading = False
        self._closed = False

    def __repr__(self) -> str:
        return f"<Inbox {self._name}: {len(self._lanes)} lanes>"

    def open_lane(self, name: str, limit: int) -> Sender[T]:
        """Add a lane below those that are open.

        Args:
            name: the lane's own name.
            limit: most items that may wait in it.

        Returns:
            The lane's writing end. When it is closed, the lane drains and is gone.

        Raises:
            LimitExceeded: too many lanes, or ``limit`` over the ceiling of a channel.
            ValueError: ``limit`` is under 1.
            ResourceClosed: the inbox was closed.
        """
        if self._closed:
            raise ResourceClosed(self._name)
        if len(self._lanes) >= LANES_MAX:
            raise LimitExceeded(f"lanes of {self._name}", allowed=LANES_MAX)
        sender: Sender[T]
        receiver: Receiver[T]
        sender, receiver = open_channel(limit, overflow=Overflow.WAIT, name=f"{self._name}.{name}", on_ready=self._ring)
        self._lanes.append(receiver)
        return sender

    async def receive_batch(self, most: int = DRAIN_BATCH_MAX) -> list[T]:
        """Wait for an item in any lane, then take what waits, higher lanes first.

        The checkpoint comes before anything is taken, so what arrived during it is served in order too.

        Args:
            most: length of the longest list wanted, from 1.

        Raises:
            trio.EndOfChannel: every lane was closed and read, or none was ever opened.
            ResourceBusy: another task is reading.
            ResourceClosed: the inbox was closed, before or while waiting.

        Cancellation: safe; a cancelled call has taken nothing.
        """
        if self._reading:
            raise ResourceBusy(self._name, "an inbox has one reader")
        self._reading = True
        try:
            await trio.lowlevel.checkpoint()
            while not (batch := self.drain_nowait(most)):
                await self._bell.park()
            return batch
        finally:
            self._reading = False

    def drain_nowait(self, most: int = DRAIN_BATCH_MAX) -> list[T]:
        """Take what waits, higher lanes first; at most ``most`` items and possibly none.

        Raises:
            trio.EndOfChannel: every lane was closed and read, or none was ever opened.
            ResourceClosed: the inbox was closed.
        """
        if self._closed:
            raise ResourceClosed(self._name)
        batch: list[T] = []
        for lane in tuple(self._lanes):
            try:
                batch += lane.drain_nowait(most - len(batch))
            except trio.EndOfChannel:
                self._lanes.remove(lane)
                continue
            if len(batch) == most:
                break
        if not self._lanes and not batch:
            raise trio.EndOfChannel
        return batch

    def close(self) -> None:
        """Stop reading: what waits is dropped and counted, writers get `ResourceBroken`. Idempotent."""
        self._closed = True
        for lane in self._lanes:
            lane.close()
        self._ring()

    def _ring(self) -> None:
        """Wake the reader, if it sleeps."""
        if self._bell:
            self._bell.unpark()

    def statistics(self) -> tuple[ChannelStatistics, ...]:
        """Return the counts of the lanes that are not gone, highest first."""
        return tuple(lane.statistics() for lane in self._lanes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
