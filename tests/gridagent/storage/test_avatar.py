"""A session's view of its store: sinks that never raise, and one question before anything is sent."""

from __future__ import annotations

import itertools
from random import Random

import msgspec
import pytest
import trio

from gridagent.actions import Confirmed, EvidenceKind, PayAvatar, Say
from gridagent.authority import ActionRequest, Origin, Principal
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.errors import AuthorityRefused, OutcomeUnknown
from gridagent.ids import AvatarId, CorrelationId, Generation
from gridagent.policy import Authorized, Denied, Gateway, Instant, Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.storage import AuditQuery, AvatarStore, MemoryStore, StorageFault
from gridagent.storage.avatar import DUPLICATE, SAFE_MODE, STORAGE_UNKNOWN
from gridagent.storage.database import Holder
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.store import open_store

OWNER = AvatarId("11111111-2222-4333-8444-555555555555")
PAYEE = AvatarId("99999999-2222-4333-8444-555555555555")
MINUTE = [{"per": "global", "limit": 100, "window_s": 60}]
POLICY = Policy(
    msgspec.convert(
        {
            "preset": "shopkeeper",
            "matrix": {"direct_im": {"money": "owner"}},
            "target_from": {"money": ["model"]},
            "approvals": {"money": "not_required"},
            "budgets": {"linden": MINUTE, "calls.money": MINUTE},
        },
        PolicySection,
    ),
    RolesSection(owners=(OWNER,)),
)
PROOF = Confirmed(evidence=EvidenceKind.BALANCE)


class Session:
    """As much of a session as storage has to do with: a gateway that goes on from what was kept."""

    def __init__(self, keep: AvatarStore, clock) -> None:
        self.keep = keep
        self._clock = clock
        tokens = (f"{number:032x}" for number in itertools.count(keep.recovered.run << 64))
        self.gateway, self.ended = Gateway.restore(
            POLICY,
            keep.recovered.snapshot,
            self.now,
            tokens=tokens.__next__,
            audit=keep.audit,
            changes=keep.change,
            intents=True,
        )
        self.generation = Generation(keep.recovered.snapshot.generation + 1)
        self.gateway.open_generation(self.generation)

    @property
    def now(self) -> Instant:
        return Instant(wall=self._clock.wall(), monotonic=self._clock.monotonic())

    def ask(self, cause: str, action=None):
        request = ActionRequest(
            action=PayAvatar(to=PAYEE, amount=5) if action is None else action,
            principal=Principal(avatar_id=OWNER),
            origin=Origin.DIRECT_IM,
            generation=self.generation,
            correlation=CorrelationId(cause),
            cause=cause,
        )
        return self.gateway.decide(request, self.now)

    async def send(self, authorized: Authorized):
        """Intend, ask storage, redeem; return what the grid would be told, or how it ends."""
        self.gateway.intend(authorized.handle, generation=self.generation, now=self.now)
        refused = await self.keep.sending(authorized.effect, self.now.wall)
        if refused is not None:
            self.gateway.settle(authorized.effect, refused, self.now)
            return refused
        return self.gateway.redeem(authorized.handle, generation=self.generation, now=self.now)


@pytest.fixture
def ports(autojump_clock):
    """Simulated ports."""
    return simulated_ports("avatar")


@pytest.fixture
def store(ports):
    """A store in memory."""
    return MemoryStore(ports.clock)


async def _session(store, make, ports) -> Session:
    return Session(await AvatarStore.open(store, make.robin), ports.clock)


async def test_a_payment_is_kept_from_reservation_to_proof(store, make, ports) -> None:
    """One sink keeps everything, and the next run meets its key again. Spec: EFX-2, POL-6."""
    session = await _session(store, make, ports)
    assert session.keep.keeps
    record = await session.send(session.ask("cause"))
    assert session.gateway.settle(record.effect, PROOF, session.now)
    assert await session.keep.durable()
    again = await _session(store, make, ports)
    assert again.ended == ()
    assert again.keep.recovered.snapshot.ended_once == (record.effect,)
    assert again.generation == session.generation + 1
    assert [gauge.used for gauge in again.gateway.status().budgets if gauge.meter == "linden"] == [5]
    assert isinstance(again.ask("cause"), Denied)
    rows = await store.audit(AuditQuery(avatar=make.robin))
    assert [row.record.code for row in rows][:2] == ["authorized", "confirmed"]


async def test_a_crash_after_the_word_leaves_doubt_and_before_it_none(store, make, ports) -> None:
    """What may have been sent is in doubt, what was only reserved was not sent; neither is tried again. Spec: EFX-2."""
    session = await _session(store, make, ports)
    assert isinstance(await session.send(session.ask("sent")), msgspec.Struct)
    again = await _session(store, make, ports)
    assert [(each.how, each.outcome.reason) for each in again.ended] == [("crashed", "crashed")]
    assert again.gateway.status().in_doubt == tuple(each.effect for each in again.ended)
    assert isinstance(again.ask("sent"), Denied)
    assert isinstance(again.ask("reserved"), Authorized)
    third = await _session(store, make, ports)
    assert [each.how for each in third.ended] == ["not_sent"]
    assert len(third.gateway.status().in_doubt) == 1


async def test_in_safe_mode_nothing_that_costs_is_sent_and_talk_goes_on(store, make, ports) -> None:
    """The answer is a refusal, and the sinks keep quiet. Spec: EFX-4. Fault: 39."""
    session = await _session(store, make, ports)
    told = []
    unwatch = session.keep.watch(told.append)
    payment = session.ask("cause")
    store.break_down(StorageFault.IO_ERROR)
    assert await session.send(payment) is SAFE_MODE
    assert session.keep.safe_mode.fault is StorageFault.IO_ERROR
    assert told == [session.keep.safe_mode]
    assert not await session.keep.durable()
    spoken = session.ask("hello", Say(text="hello"))
    assert session.gateway.redeem(spoken.handle, generation=session.generation, now=session.now).action.text == "hello"
    unwatch()
    await store.leave_safe_mode()
    assert len(told) == 1
    snapshot = (await _session(store, make, ports)).keep.recovered.snapshot
    assert payment.effect in snapshot.ended_once


async def test_a_cause_from_longer_ago_than_the_gateway_remembers_is_not_paid_twice(make, ports) -> None:
    """The ledger remembers more than memory does: the re-run is refused before anything is sent. Spec: EFX-2, EFX-3."""
    disk = SimulatedDisk(Random(1), name="avatar-disk")
    holder = Holder(pid=1, since="now")
    async with open_store("/s/g.db", ports=ports, holder=holder, files=disk) as store:
        session = await _session(store, make, ports)
        record = await session.send(session.ask("cause"))
        session.gateway.settle(record.effect, PROOF, session.now)
        assert await session.keep.durable()
        keep = await AvatarStore.open(store, make.robin)
        forgetful = msgspec.structs.replace(keep.recovered.snapshot, ended_once=())
        keep.recovered = msgspec.structs.replace(keep.recovered, snapshot=forgetful)
        again = Session(keep, ports.clock)
        authorized = again.ask("cause")
        assert authorized.effect == record.effect
        assert await again.send(authorized) is DUPLICATE
        with pytest.raises(AuthorityRefused):
            again.gateway.redeem(authorized.handle, generation=again.generation, now=again.now)
        row = await store.effect(make.robin, record.effect)
        assert row.outcome == PROOF
    disk.close()


async def test_a_commit_that_does_not_end_sends_nothing(store, make, ports) -> None:
    """Unknown to storage is not sent to the grid. Spec: EFX-2, EFX-4."""

    class Unsure(MemoryStore):
        __slots__ = ()

        async def commit(self, *records):
            await trio.lowlevel.checkpoint()
            if records:
                raise OutcomeUnknown("it did not end")
            return await super().commit()

    session = await _session(Unsure(ports.clock), make, ports)
    assert await session.send(session.ask("cause")) is STORAGE_UNKNOWN


async def test_what_somebody_was_told_is_written_at_once(make, ports) -> None:
    """The kill switch does not wait for company; what nobody hears of does. Spec: POL-12."""
    disk = SimulatedDisk(Random(1), name="avatar-disk")
    async with open_store("/s/g.db", ports=ports, holder=Holder(pid=1, since="now"), files=disk) as store:
        session = await _session(store, make, ports)
        assert await session.keep.durable()
        before = store.status().commits
        session.ask("hello", Say(text="hello"))
        await trio.sleep(0.02)
        assert store.status().commits == before
        session.gateway.hold(session.now)
        await trio.sleep(0.02)
        assert store.status().commits == before + 1
        assert (await _session(store, make, ports)).gateway.held
    disk.close()


async def test_a_store_that_is_closed_promises_nothing(make, ports) -> None:
    """A session that outlives its store sends nothing that costs anything."""
    disk = SimulatedDisk(Random(1), name="avatar-disk")
    async with open_store("/s/g.db", ports=ports, holder=Holder(pid=1, since="now"), files=disk) as store:
        session = await _session(store, make, ports)
    assert await session.send(session.ask("cause")) is SAFE_MODE
    assert not await session.keep.durable()
    disk.close()
