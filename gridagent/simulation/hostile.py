"""A backend with bad intentions round the simulated one: tricks with handles, late events, faults of its own.

Owns the tricks: redeeming twice, late, for an old generation, copies and forgeries; sending through a
sink that is over; raising; leaving slowly. What a trick achieves goes to the oracle, which judges it.
Wraps whatever backend it is given and reaches the world through nothing else (Spec: POL-1; Fault: 27).

Invariant: every event and action of the wrapped backend passes through unchanged, so that all else is as
it would be without it.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, cast

import msgspec
import trio

from gridagent.actions import Outcome
from gridagent.errors import AuthorityRefused, ResourceClosed
from gridagent.events import (
    AlertShown,
    AvatarView,
    BackendReady,
    GridEvent,
    ObjectView,
    PartDegraded,
    PartHealth,
    PartRecovered,
)
from gridagent.grid.base import BackendFactory, EventSink, GridBackend, Redeem, RedeemedAction, Traces
from gridagent.ids import Generation
from gridagent.limits import Label
from gridagent.policy import AuthorizedAction
from gridagent.simulation.account import Account

__all__ = ("HostileBackend", "HostileError", "HostileFactory", "Hostility")

_KEPT_MAX: Final = 16
_PART: Final = "event_queue"


class HostileError(Exception):
    """A fault that a hostile backend raised on purpose."""


class Hostility(msgspec.Struct, kw_only=True):
    """How hostile a backend is; chances are per action or per connection."""

    replay: float = 0.1
    forge: float = 0.03
    late: float = 0.05
    keep: float = 0.05
    """Hold a handle back until its generation is over."""
    fail: float = 0.01
    crash: float = 0.02
    sick: float = 0.3
    slow_logout: float = 0.2
    ambush: float = 0.1
    """Ask the operator to end the connection while a bundle of events is on its way."""
    betray: float = 0.3
    """Ask the operator to throw the kill switch while a handle waits to be used."""
    canary_every_s: float = 20.0

    def calm(self) -> None:
        """Do no harm from now on."""
        self.replay = self.forge = self.late = self.keep = self.fail = 0.0
        self.crash = self.sick = self.slow_logout = self.ambush = self.betray = 0.0


def _nothing() -> None:
    """Have nobody to ask."""


class HostileFactory:
    """Makes one hostile backend a generation; implements `gridagent.grid.base.BackendFactory`.

    Args:
        inner: makes the honest ones.
        account: the oracle's account of the avatar.
        rng: the stream of its tricks.
        hostility: how hostile; may be changed while it runs.
        on_refused_sink: told when a sink that is over refused an event.
    """

    def __init__(
        self,
        inner: BackendFactory,
        account: Account,
        rng: Random,
        hostility: Hostility,
        on_refused_sink: Callable[[], None],
    ) -> None:
        self.hostility = hostility
        self.force_crash = False
        """Let every backend break as soon as it runs."""
        self.fall_ill = False
        """Let a part of every new connection fall ill and stay so."""
        self.on_ambush: Callable[[], None] = _nothing
        """Called where events and a control are to race; set by whoever has an operator."""
        self.on_betrayal: Callable[[], None] = _nothing
        """Called where a handle waits and a hold is to race it; set by whoever has an operator."""
        self._inner = inner
        self._account = account
        self._rng = rng
        self._on_refused_sink = on_refused_sink
        self._kept: deque[tuple[int, AuthorizedAction, Redeem]] = deque(maxlen=_KEPT_MAX)
        self._old_sinks: deque[tuple[int, EventSink]] = deque(maxlen=2)

    def __call__(self, *, generation: Generation, redeem: Redeem) -> GridBackend:
        """Make the backend of one generation."""
        self._account.on_backend(generation)

        def watched(handle: AuthorizedAction) -> RedeemedAction:
            record = redeem(handle)
            self._account.on_redeemed(generation, record.effect)
            return record

        inner = self._inner(generation=generation, redeem=watched)
        return HostileBackend(self, inner, generation, watched)

    # --- what its backends use --------------------------------------------------------------------

    def strikes(self, chance: float) -> bool:
        """Draw whether a trick is tried."""
        return chance > 0 and self._rng.random() < chance

    @property
    def rng(self) -> Random:
        """The stream of its tricks."""
        return self._rng

    @property
    def account(self) -> Account:
        """The oracle's account of the avatar."""
        return self._account

    def keep(self, generation: int, handle: AuthorizedAction, redeem: Redeem) -> None:
        """Keep a handle for a later generation."""
        self._kept.append((generation, handle, redeem))

    def use_kept(self, generation: int, use: Redeem) -> None:
        """Try every handle of an earlier generation, through its own door and through the new one."""
        kept = tuple(self._kept)
        self._kept.clear()
        for number, handle, its_own in kept:
            if number >= generation:  # it was given out before this connection was on its way, and is still good
                continue
            self.expect_refusal(its_own, handle, "an old handle through its old door")
            self.expect_refusal(use, handle, "an old handle through a new door")

    def expect_refusal(self, use: Redeem, handle: AuthorizedAction, trick: str) -> None:
        """Try a handle that must not be honoured."""
        try:
            use(handle)
        except AuthorityRefused:
            return
        self._account.on_dishonest(trick)

    def remember_sink(self, generation: int, sink: EventSink) -> None:
        """Keep a sink to be misused when its generation is over."""
        self._old_sinks.append((generation, sink))

    async def misuse_old_sinks(self, generation: int) -> None:
        """Send events through the sinks of earlier generations."""
        for number, sink in tuple(self._old_sinks):
            if number < generation:
                try:
                    await sink.send(AlertShown(text=f"canary {number} late"))
                except ResourceClosed:
                    self._on_refused_sink()

    async def recover(self) -> None:
        """Let the part that fell ill be well again."""
        if self._old_sinks:
            try:
                await self._old_sinks[-1][1].send(PartRecovered(part=_PART))
            except ResourceClosed:
                self._on_refused_sink()


class _Sink:
    """Passes events on, and puts a marked one of its own among them now and then."""

    __slots__ = ("_factory", "_generation", "_inner", "_next_at")

    def __init__(self, factory: HostileFactory, inner: EventSink, generation: int) -> None:
        self._factory = factory
        self._inner = inner
        self._generation = generation
        self._next_at = 0.0

    async def send(self, event: GridEvent) -> None:
        """Put one event."""
        await self.send_many((event,))

    async def send_many(self, events: Sequence[GridEvent]) -> None:
        """Put several events."""
        mixed = list(events)
        now = trio.current_time()
        if now >= self._next_at:
            factory = self._factory
            self._next_at = now + factory.hostility.canary_every_s
            mixed += [AlertShown(text=f"canary {self._generation} {n}") for n in range(factory.rng.choice((1, 1, 20)))]
            if factory.strikes(factory.hostility.ambush):
                factory.on_ambush()
        if any(isinstance(event, BackendReady) for event in events):
            mixed += self._sickness()
        await self._inner.send_many(mixed)

    def _sickness(self) -> list[GridEvent]:
        factory = self._factory
        if factory.fall_ill:
            return [PartDegraded(part=_PART)]
        if not factory.strikes(factory.hostility.sick):
            return []
        if factory.strikes(0.5):
            return [PartDegraded(part=_PART)]
        return [PartDegraded(part=_PART), PartRecovered(part=_PART)]


class HostileBackend:
    """One connection; implements `gridagent.grid.base.GridBackend`."""

    __slots__ = ("_factory", "_generation", "_inner", "_use")

    def __init__(self, factory: HostileFactory, inner: GridBackend, generation: int, use: Redeem) -> None:
        self._factory = factory
        self._inner = inner
        self._generation = generation
        self._use = use

    async def run(self, sink: EventSink) -> None:
        """Run the wrapped backend, and misuse what earlier generations left.

        Raises:
            HostileError: a fault of its own.
        """
        factory = self._factory
        factory.account.on_connecting(self._generation)
        factory.use_kept(self._generation, self._use)
        await factory.misuse_old_sinks(self._generation)
        factory.remember_sink(self._generation, sink)
        if factory.force_crash or factory.strikes(factory.hostility.crash):
            raise HostileError("crashed before the login")
        if factory.strikes(factory.hostility.crash):
            with trio.move_on_after(factory.rng.uniform(0.5, 60.0)) as scope:
                await self._inner.run(_Sink(factory, sink, self._generation))
            if scope.cancelled_caught:
                raise HostileError("crashed in the world")
            return
        await self._inner.run(_Sink(factory, sink, self._generation))

    async def apply(self, authorized: AuthorizedAction) -> Outcome:
        """Apply an action after, or instead of, trying something with its handle.

        Raises:
            AuthorityRefused: the handle is not honoured.
            HostileError: a fault of its own.
        """
        factory, will = self._factory, self._factory.hostility
        if factory.strikes(will.forge):
            self._forge(authorized)
        if factory.strikes(will.keep):
            factory.keep(self._generation, authorized, self._use)
            await trio.sleep(factory.rng.uniform(0.0, 30.0))
        elif factory.strikes(will.late):
            if factory.strikes(will.betray):
                factory.on_betrayal()
            await trio.sleep(factory.rng.uniform(0.0, 15.0))
        if factory.strikes(will.fail):
            raise HostileError("failed before it was sent")
        outcome = await self._inner.apply(authorized)
        if factory.strikes(will.replay):
            factory.expect_refusal(self._use, authorized, "a handle used twice")
        if factory.strikes(will.fail):
            raise HostileError("failed after it was sent")
        return outcome

    def _forge(self, authorized: AuthorizedAction) -> None:
        factory = self._factory
        forged = object.__new__(type(authorized))
        factory.expect_refusal(self._use, forged, "an empty handle of the right class")
        look_alike = cast("AuthorizedAction", object())
        factory.expect_refusal(self._use, look_alike, "an object that is no handle")
        try:
            copied = copy.copy(authorized)
        except TypeError:
            return
        factory.expect_refusal(self._use, copied, "a copied handle")

    async def logout(self) -> None:
        """Log out, sometimes slowly, sometimes with an error afterwards.

        Raises:
            HostileError: a fault of its own.
        """
        factory = self._factory
        factory.account.on_logout(self._generation)
        await self._inner.logout()
        if factory.strikes(factory.hostility.slow_logout):
            await trio.sleep(factory.rng.uniform(0.1, 20.0))
        if factory.strikes(factory.hostility.fail):
            raise HostileError("the logout failed")

    def halt(self) -> None:
        """Cease what goes on by itself."""
        self._inner.halt()

    def avatars(self) -> Sequence[AvatarView]:
        """Return who is near."""
        return self._inner.avatars()

    def objects(self) -> Sequence[ObjectView]:
        """Return what is near."""
        return self._inner.objects()

    def vitals(self) -> Sequence[PartHealth]:
        """Return how the connection is."""
        return self._inner.vitals()

    def traces(self, reference: Label) -> Traces:
        """Return what is left of a deed."""
        return self._inner.traces(reference)
