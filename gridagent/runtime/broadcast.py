"""One publisher, many readers: each has its own bound, and a slow one loses only its own items.

Owns the list of subscribers. Publishing is synchronous and never waits; a subscriber whose channel
is full loses its oldest items and reads `Lagged(n)` in their place. Nothing whose loss matters
(audit, effects, approvals) may depend on a broadcast (Spec: BND-3).

Invariant: memory is at most the sum of the subscribers' limits; a closed subscription is gone at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, Self, TypeVar

import msgspec

from gridagent.errors import LimitExceeded, ResourceBusy, ResourceClosed
from gridagent.limits import DRAIN_BATCH_MAX, SUBSCRIBERS_MAX
from gridagent.runtime.channels import ChannelStatistics, Lagged, Overflow, Receiver, Sender, open_channel

__all__ = ("Broadcast", "BroadcastStatistics", "Subscription")

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class BroadcastStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """A broadcast at one moment."""

    name: str
    published: int
    limit_subscribers: int
    refused: int
    """Subscriptions turned away because there were too many."""
    subscribers: tuple[ChannelStatistics, ...]


class Subscription(Generic[T_co]):
    """One reader's view of a broadcast; a context manager. Made by `Broadcast.subscribe` only."""

    __slots__ = ("_leave", "_receiver")

    def __init__(self, receiver: Receiver[T_co | Lagged], leave: Callable[[], None]) -> None:
        self._receiver = receiver
        self._leave = leave

    def __repr__(self) -> str:
        return f"<Subscription {self.statistics().name}>"

    async def receive_batch(self, most: int = DRAIN_BATCH_MAX) -> list[T_co | Lagged]:
        """Wait for one item, then take what else waits; `Lagged` stands where items were dropped.

        Raises:
            trio.EndOfChannel: the publisher closed and everything was read.
            ResourceClosed: the subscription was closed, before or while waiting.

        Cancellation: safe; a cancelled call has taken nothing.
        """
        return await self._receiver.receive_batch(most)

    def drain_nowait(self, most: int = DRAIN_BATCH_MAX) -> list[T_co | Lagged]:
        """Take what waits, at most ``most`` items and possibly none; `Lagged` stands where items were dropped.

        Raises:
            trio.EndOfChannel: the publisher closed and everything was read.
            ResourceClosed: the subscription was closed.
        """
        return self._receiver.drain_nowait(most)

    def statistics(self) -> ChannelStatistics:
        """Return this reader's counts."""
        return self._receiver.statistics()

    def close(self) -> None:
        """Leave: the place is free at once. Idempotent."""
        self._leave()
        self._receiver.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T_co | Lagged:
        return await self._receiver.__anext__()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class Broadcast(Generic[T]):
    """A publisher.

    Args:
        limit_subscribers: most subscriptions at a time, 1 to 64.
        name: how errors and statistics call it; a subscription is ``name.subscriber``.

    Raises:
        LimitExceeded: ``limit_subscribers`` is over 64.
        ValueError: ``limit_subscribers`` is under 1.
    """

    __slots__ = ("_closed", "_limit", "_name", "_published", "_refused", "_senders")

    def __init__(self, limit_subscribers: int = SUBSCRIBERS_MAX, *, name: str = "broadcast") -> None:
        if limit_subscribers > SUBSCRIBERS_MAX:
            raise LimitExceeded(f"subscribers of {name}", allowed=SUBSCRIBERS_MAX, seen=limit_subscribers)
        if limit_subscribers < 1:
            raise ValueError(f"{name}: at least 1 subscriber must be allowed, not {limit_subscribers}")
        self._limit = limit_subscribers
        self._name = name
        self._senders: list[Sender[T]] = []
        self._published = 0
        self._refused = 0
        self._closed = False

    def __repr__(self) -> str:
        return f"<Broadcast {self._name}: {len(self._senders)} of {self._limit} subscribers>"

    def publish(self, item: T) -> None:
        """Give one item to every subscriber; never waits.

        Raises:
            ResourceClosed: the broadcast was closed.
        """
        if self._closed:
            raise ResourceClosed(self._name)
        self._published += 1
        for sender in self._senders:
            sender.send_nowait(item)

    def publish_many(self, items: Sequence[T]) -> None:
        """Give all items, in order, to every subscriber; never waits.

        Raises:
            ResourceClosed: the broadcast was closed.
        """
        if self._closed:
            raise ResourceClosed(self._name)
        self._published += len(items)
        for sender in self._senders:
            for item in items:
                sender.send_nowait(item)

    def subscribe(self, limit: int, name: str) -> Subscription[T]:
        """Start reading from the next item on.

        Args:
            limit: most items that may wait for this reader; older ones are dropped beyond it.
            name: the reader's own name.

        Raises:
            ResourceBusy: every place is taken; counted.
            ResourceClosed: the broadcast was closed.
            LimitExceeded: ``limit`` is over the ceiling of a channel.
            ValueError: ``limit`` is under 1.
        """
        if self._closed:
            raise ResourceClosed(self._name)
        if len(self._senders) >= self._limit:
            self._refused += 1
            raise ResourceBusy(self._name, f"all {self._limit} subscriber places are taken")
        sender: Sender[T]
        receiver: Receiver[T | Lagged]
        sender, receiver = open_channel(limit, overflow=Overflow.DROP_OLDEST, name=f"{self._name}.{name}")
        self._senders.append(sender)

        def leave() -> None:
            if sender in self._senders:
                self._senders.remove(sender)

        return Subscription(receiver, leave)

    def close(self) -> None:
        """End every subscription after its reader drained it. Idempotent."""
        self._closed = True
        for sender in self._senders:
            sender.close()
        self._senders.clear()

    def statistics(self) -> BroadcastStatistics:
        """Return the counts of the publisher and of every subscriber."""
        return BroadcastStatistics(
            name=self._name,
            published=self._published,
            limit_subscribers=self._limit,
            refused=self._refused,
            subscribers=tuple(sender.statistics() for sender in self._senders),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
