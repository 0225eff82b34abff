"""Bounded channels: every queue of the project, its bound, and what happens when it is full.

Which one to take: one reader of one queue → `open_channel`; one reader of several, by priority →
`gridagent.runtime.inbox`; many readers of the same items → `gridagent.runtime.broadcast`.

Owns the only call of `trio.open_memory_channel` and adds to it the overflow policy, batches, counts
and errors named by who must act. Knows nothing of what travels. Invariant, at every moment:
``sent == received + dropped + used`` and ``used <= limit`` (Spec: BND-1, BND-2, BND-3).

Await a batch, not an item: one wake-up for up to 64 items is ten times cheaper than 64 wake-ups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from types import TracebackType
from typing import Final, Generic, Literal, NoReturn, Self, TypeVar, cast, overload

import msgspec
import trio

from gridagent.errors import LimitExceeded, ResourceBroken, ResourceBusy, ResourceClosed
from gridagent.limits import DRAIN_BATCH_MAX, OBSERVABLE_QUEUE_MAX

__all__ = (
    "CHANNEL_LIMIT_MAX",
    "ChannelStatistics",
    "Lagged",
    "Overflow",
    "Receiver",
    "Sender",
    "open_channel",
)

CHANNEL_LIMIT_MAX: Final = OBSERVABLE_QUEUE_MAX
"""No channel holds more items than this."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Overflow(Enum):
    """What a full channel does; stated at every `open_channel` call."""

    WAIT = "wait"
    """The sender waits: nothing is lost, pressure goes back to the source."""
    DROP_OLDEST = "drop_oldest"
    """The oldest item goes, is counted, and the reader gets `Lagged`: for telemetry."""
    REFUSE = "refuse"
    """The sender gets `ResourceBusy`: for callers from outside who can come back later."""


class Lagged(msgspec.Struct, frozen=True):
    """Stands where ``missed`` items were dropped because the reader was slow."""

    missed: int


class ChannelStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """A channel at one moment; ``sent == received + dropped + used``."""

    name: str
    used: int
    """Items waiting now."""
    limit: int
    peak: int
    """Most items that ever waited at once; size ``limit`` from it."""
    sent: int
    """Items accepted; one handed to a reader that has not run yet is counted when it runs."""
    received: int
    dropped: int
    """Items given up for newer ones, or still waiting when the reader closed."""
    refused: int
    """Items `Overflow.REFUSE` turned away; these are not in ``sent``."""


class _Core(Generic[T]):
    """What both ends share: the trio channel and the counts trio does not keep."""

    __slots__ = ("dropped", "limit", "missed", "name", "overflow", "received", "refused", "rx", "tx")

    def __init__(self, limit: int, overflow: Overflow, name: str) -> None:
        tx: trio.MemorySendChannel[T]
        rx: trio.MemoryReceiveChannel[T]
        tx, rx = trio.open_memory_channel(limit)
        self.tx = tx
        self.rx = rx
        self.limit = limit
        self.overflow = overflow
        self.name = name
        self.received = 0
        self.dropped = 0
        self.missed = 0
        self.refused = 0

    def statistics(self) -> ChannelStatistics:
        inner = self.tx.statistics()
        used = inner.current_buffer_used
        return ChannelStatistics(
            name=self.name,
            used=used,
            limit=self.limit,
            peak=inner.peak_buffer_used,
            sent=self.received + self.dropped + used,
            received=self.received,
            dropped=self.dropped,
            refused=self.refused,
        )

    def translate(self, error: trio.ClosedResourceError | trio.BrokenResourceError) -> NoReturn:
        """Raise our own word for trio's."""
        if isinstance(error, trio.ClosedResourceError):
            raise ResourceClosed(self.name) from error
        raise ResourceBroken(self.name, "its reader is gone") from error


class Sender(Generic[T_contra]):
    """The writing end; several tasks may share it. Made by `open_channel` and `Inbox.open_lane` only."""

    __slots__ = ("_core", "_on_ready")

    def __init__(self, core: _Core[T_contra], on_ready: Callable[[], None] | None) -> None:
        self._core = core
        self._on_ready = on_ready

    def __repr__(self) -> str:
        return f"<Sender {self._core.name}>"

    async def send(self, item: T_contra) -> None:
        """Put one item, as the channel's `Overflow` says.

        Raises:
            ResourceBusy: the channel is full and refuses.
            ResourceClosed: this end was closed, before or while waiting.
            ResourceBroken: the reader is gone, before or while waiting.

        Cancellation: safe; a cancelled call has put nothing.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        try:
            self.send_nowait(item)
        except trio.WouldBlock:
            await self._send_waiting(item)
        else:
            await trio.lowlevel.cancel_shielded_checkpoint()

    def send_nowait(self, item: T_contra) -> None:
        """Put one item without waiting.

        Raises:
            trio.WouldBlock: the channel is full and `Overflow.WAIT`.
            ResourceBusy: the channel is full and refuses; counted.
            ResourceClosed: this end was closed.
            ResourceBroken: the reader is gone.
        """
        self._put(item)
        if self._on_ready is not None:
            self._on_ready()

    async def send_many(self, items: Sequence[T_contra]) -> None:
        """Put all items in order: no yield while there is room, one checkpoint a call.

        Raises:
            ResourceBusy: the channel refuses and has not room for all; none was put.
            ResourceClosed: this end was closed.
            ResourceBroken: the reader is gone.

        Cancellation: safe while the items fit: a cancelled call has put nothing. A call that had to
        wait may have put a prefix, each item once.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        done = self._put_some(items, 0)
        if done == len(items):
            await trio.lowlevel.cancel_shielded_checkpoint()
            return
        while done < len(items):
            await self._send_waiting(items[done])
            done = self._put_some(items, done + 1)

    def close(self) -> None:
        """Close this end: the reader drains what waits, then gets `trio.EndOfChannel`. Idempotent."""
        self._core.tx.close()
        if self._on_ready is not None:
            self._on_ready()

    def statistics(self) -> ChannelStatistics:
        """Return the channel's counts."""
        return self._core.statistics()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _put(self, item: T_contra) -> None:
        core = self._core
        try:
            core.tx.send_nowait(item)
        except trio.WouldBlock:
            if core.overflow is Overflow.WAIT:
                raise
            if core.overflow is Overflow.REFUSE:
                core.refused += 1
                raise ResourceBusy(core.name, f"all {core.limit} places are taken") from None
            core.rx.receive_nowait()
            core.dropped += 1
            core.missed += 1
            core.tx.send_nowait(item)
        except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
            core.translate(error)

    def _put_some(self, items: Sequence[T_contra], start: int) -> int:
        """Put from ``start`` while there is room; return how far it came. Wakes the reader once."""
        core = self._core
        if core.overflow is Overflow.REFUSE:
            inner = core.tx.statistics()
            room = core.limit - inner.current_buffer_used
            if len(items) > room and inner.open_send_channels and inner.open_receive_channels:
                core.refused += len(items)
                raise ResourceBusy(core.name, f"{len(items)} items need more than the {room} places left")
        done = start
        try:
            for done in range(start, len(items)):
                self._put(items[done])
            return len(items)
        except trio.WouldBlock:
            return done
        finally:
            if self._on_ready is not None:
                self._on_ready()

    async def _send_waiting(self, item: T_contra) -> None:
        """Wait for room. Full means not empty, so the reader needs no further call to wake."""
        try:
            await self._core.tx.send(item)
        except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
            self._core.translate(error)


class Receiver(Generic[T_co]):
    """The reading end; iterate over it, or read in batches. Made by `open_channel` only."""

    __slots__ = ("_core",)

    def __init__(self, core: _Core[T_co]) -> None:
        self._core = core

    def __repr__(self) -> str:
        return f"<Receiver {self._core.name}>"

    async def receive(self) -> T_co:
        """Wait for the next item, or for `Lagged` where items were dropped.

        Raises:
            trio.EndOfChannel: the sender closed and everything was read.
            ResourceClosed: this end was closed, before or while waiting.

        Cancellation: safe; a cancelled call has taken nothing.
        """
        return (await self.receive_batch(1))[0]

    def receive_nowait(self) -> T_co:
        """Take the next item, or `Lagged`, without waiting.

        Raises:
            trio.WouldBlock: nothing waits.
            trio.EndOfChannel: the sender closed and everything was read.
            ResourceClosed: this end was closed.
        """
        batch = self.drain_nowait(1)
        if not batch:
            raise trio.WouldBlock
        return batch[0]

    async def receive_batch(self, most: int = DRAIN_BATCH_MAX) -> list[T_co]:
        """Wait for one item, then take what else waits; `Lagged` stands where items were dropped.

        Args:
            most: length of the longest list wanted, from 1.

        Raises:
            trio.EndOfChannel: the sender closed and everything was read.
            ResourceClosed: this end was closed, before or while waiting.

        Cancellation: safe; a cancelled call has taken nothing.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        batch = self.drain_nowait(most)
        if batch:
            await trio.lowlevel.cancel_shielded_checkpoint()
            return batch
        core = self._core
        try:
            batch.append(await core.rx.receive())
        except trio.ClosedResourceError as error:
            core.translate(error)
        core.received += 1
        if most > 1:
            self._drain_into(batch, most)
        return batch

    def drain_nowait(self, most: int = DRAIN_BATCH_MAX) -> list[T_co]:
        """Take what waits, at most ``most`` items and possibly none; `Lagged` stands where items were dropped.

        Raises:
            trio.EndOfChannel: the sender closed and everything was read.
            ResourceClosed: this end was closed.
        """
        if most < 1:
            raise ValueError(f"{self._core.name}: a batch holds at least 1 item, not {most}")
        batch: list[T_co] = []
        ended = self._drain_into(batch, most)
        if ended and not batch:
            raise trio.EndOfChannel
        return batch

    def close(self) -> None:
        """Close this end: what waits is dropped and counted, senders get `ResourceBroken`. Idempotent."""
        core = self._core
        core.dropped += core.rx.statistics().current_buffer_used
        core.rx.close()

    def statistics(self) -> ChannelStatistics:
        """Return the channel's counts."""
        return self._core.statistics()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T_co:
        try:
            return await self.receive()
        except trio.EndOfChannel:
            raise StopAsyncIteration from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _drain_into(self, batch: list[T_co], most: int) -> bool:
        """Fill ``batch`` up to ``most``; tell whether the channel has ended."""
        core = self._core
        if core.missed:
            # Only a channel that drops gets here, and its items are typed `T | Lagged` by `open_channel`.
            batch.append(cast("T_co", Lagged(core.missed)))
            core.missed = 0
        before = len(batch)
        take = core.rx.receive_nowait
        try:
            while len(batch) < most:
                batch.append(take())
        except trio.WouldBlock:
            return False
        except trio.EndOfChannel:
            return True
        except trio.ClosedResourceError as error:
            core.translate(error)
        finally:
            core.received += len(batch) - before
        return False


@overload
def open_channel(
    limit: int,
    *,
    overflow: Literal[Overflow.DROP_OLDEST],
    name: str,
    on_ready: Callable[[], None] | None = None,
) -> tuple[Sender[T], Receiver[T | Lagged]]: ...
@overload
def open_channel(
    limit: int,
    *,
    overflow: Literal[Overflow.WAIT, Overflow.REFUSE],
    name: str,
    on_ready: Callable[[], None] | None = None,
) -> tuple[Sender[T], Receiver[T]]: ...
def open_channel(
    limit: int, *, overflow: Overflow, name: str, on_ready: Callable[[], None] | None = None
) -> tuple[Sender[T], Receiver[T]] | tuple[Sender[T], Receiver[T | Lagged]]:
    """Open a bounded channel; declare the types of both ends where they are assigned.

    Args:
        limit: most items that may wait, 1 to `CHANNEL_LIMIT_MAX`.
        overflow: what happens when it is full; the ends of a channel that drops read ``T | Lagged``.
        name: how errors and statistics call it.
        on_ready: called synchronously after each put and each close of the sender; how one task
            waits for several channels (`gridagent.runtime.inbox`). Must not raise or block.

    Raises:
        LimitExceeded: ``limit`` is over `CHANNEL_LIMIT_MAX`.
        ValueError: ``limit`` is under 1.
    """
    if limit > CHANNEL_LIMIT_MAX:
        raise LimitExceeded(f"channel {name}", allowed=CHANNEL_LIMIT_MAX, seen=limit)
    if limit < 1:
        raise ValueError(f"channel {name}: the limit is at least 1, not {limit}")
    core: _Core[T] = _Core(limit, overflow, name)
    return Sender(core, on_ready), Receiver(core)
