"""Claims about the hostile backend: each trick is tried, and what works is told to the oracle."""

from __future__ import annotations

import random

import attrs
import pytest
import trio

from gridagent.actions import Say
from gridagent.errors import AuthorityRefused, ResourceClosed
from gridagent.events import AlertShown, PartDegraded, PartRecovered
from gridagent.grid.puppet import Puppet, ready_event
from gridagent.policy.authorized import AuthorizedAction
from gridagent.simulation.account import Account
from gridagent.simulation.hostile import HostileError, HostileFactory, Hostility
from gridagent.simulation.oracle import Oracle

CALM = dict.fromkeys(
    ("replay", "forge", "late", "keep", "fail", "crash", "sick", "slow_logout", "ambush", "betray"), 0.0
)


@attrs.frozen
class Record:
    action: Say
    effect: str


class Ledger:
    """Honours each handle once, unless it is told to honour all."""

    def __init__(self, *, honours_all: bool = False) -> None:
        self.honours_all = honours_all
        self.used: list[object] = []
        self.handle = object.__new__(AuthorizedAction)

    def redeem(self, handle: object) -> Record:
        if not self.honours_all and (handle is not self.handle or handle in self.used):
            raise AuthorityRefused("unknown")
        self.used.append(handle)
        return Record(Say(text="x"), "e" * 64)


class Sink:
    def __init__(self) -> None:
        self.events: list = []
        self.closed = False

    async def send(self, event) -> None:
        await self.send_many((event,))

    async def send_many(self, events) -> None:
        await trio.lowlevel.checkpoint()
        if self.closed:
            raise ResourceClosed("sink")
        self.events += events


class Stage:
    def __init__(self, *, honours_all: bool = False, **chances: float) -> None:
        self.oracle = Oracle(seed=0, clock=lambda: 0.0)
        self.account = Account(self.oracle.new_history("robin"), "robin")
        self.puppet = Puppet()
        self.refused = 0
        self.ledger = Ledger(honours_all=honours_all)
        hostility = Hostility(**{**CALM, **chances})
        self.factory = HostileFactory(self.puppet, self.account, random.Random(3), hostility, self._count)

    def _count(self) -> None:
        self.refused += 1

    def backend(self, generation: int = 1):
        return self.factory(generation=generation, redeem=self.ledger.redeem)

    @property
    def details(self) -> list[str]:
        return [violation.detail for violation in self.oracle.violations if "trick" in violation.rule]


async def test_a_calm_backend_passes_everything_through(autojump_clock) -> None:
    """Without hostility it is the wrapped backend, and every generation and redemption is told."""
    stage = Stage()
    stage.factory.hostility.canary_every_s = 1e9
    backend, sink = stage.backend(), Sink()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(backend.run, sink)
        await trio.sleep(1)
        assert (await backend.apply(stage.ledger.handle)).evidence
        backend.halt()
        assert (backend.avatars(), backend.objects()) == ((), ())
        stage.puppet.now.end()
    await backend.logout()
    assert (stage.puppet.now.logouts, stage.puppet.now.halts) == (1, 1)
    assert [type(event).__name__ for event in sink.events if not isinstance(event, AlertShown)] == [
        "TransportUp",
        "BackendReady",
    ]
    assert stage.account.generation == 1
    assert stage.details == []


@pytest.mark.parametrize("chances", [{"replay": 1.0}, {"forge": 1.0}])
async def test_tricks_that_fail_are_no_violation_and_those_that_work_are(chances, autojump_clock) -> None:
    """A ledger that honours everything is found out. Fault: 27."""
    honest = Stage(**chances)
    await honest.backend().apply(honest.ledger.handle)
    assert honest.details == []
    fooled = Stage(honours_all=True, **chances)
    await fooled.backend().apply(fooled.ledger.handle)
    assert fooled.details


async def test_a_kept_handle_is_tried_by_the_next_generation(autojump_clock) -> None:
    """Through its old door and through the new one. Fault: 27."""
    stage = Stage(keep=1.0)
    with trio.move_on_after(0.0):
        await stage.backend(1).apply(stage.ledger.handle)
    stage.ledger.honours_all = True
    stage.puppet.become_ready = stage.puppet.log_in = False
    with trio.move_on_after(1.0):
        await stage.backend(2).run(Sink())
    assert stage.details == ["an old handle through its old door", "an old handle through a new door"]


async def test_a_late_handle_is_redeemed_late(autojump_clock) -> None:
    """It is kept waiting, then used like any other; meanwhile the operator may be asked to hold the avatar."""
    stage = Stage(late=1.0, betray=1.0)
    calls = []
    stage.factory.on_betrayal = lambda: calls.append(trio.current_time())
    await stage.backend().apply(stage.ledger.handle)
    assert calls == [0.0]
    assert trio.current_time() > 0


async def test_faults_are_raised_before_and_after_sending(autojump_clock) -> None:
    """Before, nothing was redeemed; after, it was; a logout fails after it was made."""
    stage = Stage(fail=1.0)
    with pytest.raises(HostileError, match="before"):
        await stage.backend(1).apply(stage.ledger.handle)
    assert stage.ledger.used == []
    with pytest.raises(HostileError, match="logout"):
        await stage.backend(2).logout()
    assert stage.puppet.now.logouts == 1
    stage.factory.hostility.fail = 0.5
    outcomes = set()
    for generation in range(3, 40):
        stage.ledger.used.clear()
        try:
            await stage.backend(generation).apply(stage.ledger.handle)
        except HostileError as error:
            outcomes.add(str(error))
    assert outcomes == {"failed before it was sent", "failed after it was sent"}


async def test_a_backend_crashes_before_the_login_or_in_the_world(autojump_clock) -> None:
    """By chance, or always when told to."""
    stage = Stage(crash=1.0)
    with pytest.raises(HostileError, match="before the login"):
        await stage.backend(1).run(Sink())
    stage.factory.hostility.crash = 0.5
    said = set()
    for generation in range(2, 30):
        try:
            with trio.move_on_after(100):
                await stage.backend(generation).run(Sink())
        except HostileError as error:
            said.add(str(error))
    assert said == {"crashed before the login", "crashed in the world"}
    stage.factory.hostility.calm()
    stage.factory.force_crash = True
    with pytest.raises(HostileError):
        await stage.backend(99).run(Sink())


async def test_a_connection_may_end_by_itself_while_a_crash_is_due(autojump_clock) -> None:
    """A crash that comes too late is none."""
    stage = Stage()
    stage.factory.hostility.crash = 0.5
    ends = []

    async def run(backend) -> None:
        try:
            await backend.run(Sink())
            ends.append("ended")
        except HostileError as error:
            ends.append(str(error))

    for generation in range(1, 20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run, stage.backend(generation))
            await trio.testing.wait_all_tasks_blocked()
            stage.puppet.now.end()
    assert set(ends) == {"ended", "crashed before the login"}


async def test_old_sinks_are_misused_and_sick_parts_recover(autojump_clock) -> None:
    """A sink that is over refuses; a part that fell ill is well again when told. Spec: SUP-5."""
    stage = Stage(sick=1.0)
    old, new = Sink(), Sink()
    with trio.move_on_after(1.0):
        await stage.backend(1).run(old)
    old.closed = True
    with trio.move_on_after(1.0):
        await stage.backend(2).run(new)
    assert stage.refused == 1
    assert any(isinstance(event, PartDegraded) for event in new.events)
    await stage.factory.recover()
    assert isinstance(new.events[-1], PartRecovered)
    new.closed = True
    await stage.factory.recover()
    assert stage.refused == 2
    await Stage().factory.recover()


async def test_a_part_falls_ill_and_stays_so_when_told(autojump_clock) -> None:
    """Then the link stays degraded."""
    stage = Stage()
    stage.factory.fall_ill = True
    sink = Sink()
    with trio.move_on_after(1.0):
        await stage.backend().run(sink)
    kinds = [type(event) for event in sink.events]
    assert PartDegraded in kinds
    assert PartRecovered not in kinds
    assert type(ready_event()) in kinds


async def test_an_ambush_is_sprung_with_a_bundle_of_events(autojump_clock) -> None:
    """Whoever has an operator is asked; nobody by default."""
    stage = Stage(ambush=1.0)
    calls = []
    with trio.move_on_after(1.0):
        await stage.backend(1).run(Sink())
    stage.factory.on_ambush = lambda: calls.append(1)
    with trio.move_on_after(1.0):
        await stage.backend(2).run(Sink())
    assert calls == [1]


async def test_a_slow_logout_takes_its_time(autojump_clock) -> None:
    """The wrapped backend is told first."""
    stage = Stage(slow_logout=1.0)
    await stage.backend().logout()
    assert stage.puppet.now.logouts == 1
    assert trio.current_time() > 0


async def test_a_handle_of_the_same_connection_is_good_and_not_tried(autojump_clock) -> None:
    """It was given out before the connection was on its way. Fault: 27."""
    stage = Stage(keep=1.0)
    backend = stage.backend(1)
    with trio.move_on_after(0.0):
        await backend.apply(stage.ledger.handle)
    stage.ledger.honours_all = True
    stage.puppet.become_ready = stage.puppet.log_in = False
    with trio.move_on_after(1.0):
        await backend.run(Sink())
    assert stage.details == []
