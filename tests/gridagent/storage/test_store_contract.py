"""What every store promises, held against both of them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from random import Random

import pytest
import trio

from gridagent.errors import LimitExceeded
from gridagent.ids import AvatarKey
from gridagent.memory.recall import RecallQuestion
from gridagent.policy.approvals import ApprovalInput
from gridagent.policy.audit import AuditKind
from gridagent.policy.changes import GatewaySnapshot
from gridagent.runtime.deterministic import simulated_ports
from gridagent.storage import AuditQuery, MemoryStore, StorageFailed, StorageFault
from gridagent.storage.database import Holder
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.store import open_store
from gridagent.storage.writer import WATCHERS_MAX


class Place:
    """A kind of store, and how to break it and open it again."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.ports = simulated_ports("contract")
        self.disk = SimulatedDisk(Random("contract"), name="contract")
        self.memory = MemoryStore(self.ports.clock)

    @asynccontextmanager
    async def open(self):
        """Open the store: the same one each time."""
        if self.kind == "memory":
            yield self.memory
            return
        holder = Holder(pid=1, since="now")
        async with open_store("/s/g.db", ports=self.ports, holder=holder, files=self.disk) as store:
            yield store

    def break_down(self, store) -> None:
        """Let the next write fail."""
        if self.kind == "memory":
            store.break_down(StorageFault.DISK_FULL)
        else:
            self.disk.fail("full")

    def heal(self) -> None:
        """Let writes succeed again."""
        self.disk.heal()


@pytest.fixture(params=["memory", "sqlite"])
def place(request, autojump_clock):
    """Each kind of store."""
    made = Place(request.param)
    yield made
    made.disk.close()


async def _seqs(store, **wanted):
    return [row.record.seq for row in await store.audit(AuditQuery(**wanted))]


async def test_a_new_avatar_has_no_past(place, make) -> None:
    """Runs count up, each avatar for itself."""
    async with place.open() as store:
        first = await store.open_avatar(make.robin)
        assert (first.run, first.snapshot) == (1, GatewaySnapshot())
        assert (await store.open_avatar(make.robin)).run == 2
        assert (await store.open_avatar(AvatarKey("wren"))).run == 1


async def test_what_was_committed_comes_back_after_a_restart(place, make) -> None:
    """Effects, budgets, approvals, grants, generation and hold. Spec: EFX-2, POL-6, POL-7, POL-8."""
    async with place.open() as store:
        changes = (
            make.generation(3),
            make.hold(True),
            make.given(),
            make.opened(),
            make.moved(ApprovalInput.ALLOW),
            make.reserved("paid", approval="approval-1", grant=make.used(1)),
            make.sent("paid"),
            make.settled("paid"),
            make.reserved("doubt"),
            make.sent("doubt"),
        )
        assert await store.commit(*map(make.kept, changes)) == (True,) * len(changes)
    async with place.open() as store:
        found = (await store.open_avatar(make.robin)).snapshot
    assert (found.generation, found.held, found.ended_once) == (3, True, ("paid",))
    assert [(each.effect, each.state.value) for each in found.open_effects] == [("doubt", "sent")]
    assert [each.state.value for each in found.approvals] == ["claimed"]
    assert found.grants[0].use == make.used(1)
    assert found.budgets.rows == (make.window(),)


async def test_only_the_run_that_reserved_may_send(place, make) -> None:
    """A re-run of a cause that an earlier run knows is told so. Spec: EFX-2, EFX-3."""
    async with place.open() as store:
        assert await store.commit(make.kept(make.reserved()), make.kept(make.sent())) == (True, True)
        assert await store.commit(make.kept(make.sent())) == (True,)
        assert await store.commit(make.kept(make.reserved(), run=2), make.kept(make.sent(), run=2)) == (False, False)
        assert await store.commit(make.kept(make.settled(), run=2)) == (True,)
        assert await store.commit(make.kept(make.settled())) == (False,)


async def test_what_was_submitted_is_there_with_the_next_commit(place, make) -> None:
    """In order, and without waiting for it."""
    async with place.open() as store:
        store.submit(make.kept(make.reserved("a")))
        store.submit(make.kept(make.reserved("b")), make.kept(make.sent("b")), urgent=True)
        await store.commit()
        found = (await store.open_avatar(make.robin)).snapshot
        assert [(each.effect, each.state.value) for each in found.open_effects] == [("a", "reserved"), ("b", "sent")]


async def test_leaving_writes_what_waits(place, make) -> None:
    """What was submitted last survives an orderly end."""
    async with place.open() as store:
        store.submit(make.kept(make.reserved("a")))
    async with place.open() as store:
        assert len((await store.open_avatar(make.robin)).snapshot.open_effects) == 1


async def test_audit_rows_are_found_by_avatar_time_and_kind(place, make) -> None:
    """One page at a time, and a row that comes twice is one. Spec: POL-10."""
    async with place.open() as store:
        rows = [make.audited(seq) for seq in range(1, 8)]
        assert await store.commit(*rows, rows[-1]) == (*(True,) * 7, False)
        await store.commit(make.audited(1, avatar="wren", at=103.5, kind=AuditKind.HOLD))
        assert await _seqs(store, avatar="robin") == [1, 2, 3, 4, 5, 6, 7]
        assert await _seqs(store, since=103.0, until=105.0) == [3, 4, 1]
        assert await _seqs(store, kind=AuditKind.HOLD) == [1]
        for whose in ("robin", None):
            page = await store.audit(AuditQuery(avatar=whose, limit=3))
            assert [row.record.seq for row in page] == [1, 2, 3]
            following = await store.audit(AuditQuery(avatar=whose, limit=3, after=page[-1].cursor))
            assert [row.record.seq for row in following] == [4, 5, 6]


async def test_safe_mode_keeps_what_nobody_waits_for(place, make) -> None:
    """Commits fail, watchers are told, an operator's word writes what was kept. Spec: EFX-4. Fault: 39."""
    async with place.open() as store:
        told = []
        unwatch = store.watch(told.append)
        await store.commit(make.kept(make.reserved("a")))
        place.break_down(store)
        with pytest.raises(StorageFailed):
            await store.commit(make.kept(make.sent("a")))
        assert store.safe_mode.fault is StorageFault.DISK_FULL
        store.submit(make.kept(make.settled("a", make.refused)), make.audited(1))
        with pytest.raises(StorageFailed):
            await store.commit()
        status = store.status()
        assert (status.safe_mode, status.waiting, status.lost) == (store.safe_mode, 2, 0)
        place.heal()
        await store.leave_safe_mode()
        await store.leave_safe_mode()
        assert told == [status.safe_mode, None]
        unwatch()
        await store.commit(make.audited(2))
        assert (await store.open_avatar(make.robin)).snapshot.ended_once == ("a",)
        assert await _seqs(store) == [1, 2]
        assert store.status().safe_mode is None


async def test_what_finds_no_room_in_safe_mode_is_counted(place, make) -> None:
    """Memory stays bounded however long safe mode lasts. Spec: BND-16."""
    async with place.open() as store:
        place.break_down(store)
        with pytest.raises(StorageFailed):
            await store.commit(make.audited(1))
        for seq in range(2, 5_002):
            store.submit(make.audited(seq))
        status = store.status()
        assert (status.waiting, status.lost) == (4_096, 904)
        place.heal()


async def test_watchers_are_bounded(place) -> None:
    """One an avatar."""
    async with place.open() as store:
        for _ in range(WATCHERS_MAX):
            store.watch(lambda _: None)
        with pytest.raises(LimitExceeded):
            store.watch(lambda _: None)


async def test_a_cancelled_commit_can_be_made_again(place, make) -> None:
    """Before it begins nothing is written, and the store works on."""
    async with place.open() as store:
        with trio.CancelScope() as scope:
            scope.cancel()
            await store.commit(make.kept(make.reserved("a")))
        assert (await store.open_avatar(make.robin)).snapshot.open_effects == ()
        assert await store.commit(make.kept(make.reserved("a"))) == (True,)


async def test_what_was_learnt_comes_back_after_a_restart(place, make) -> None:
    """Spec: MEM-3, MEM-4, MEM-7 — conversations and facts ride in the same commits, and each avatar has its own."""
    async with place.open() as store:
        store.submit(*make.learnt())
        assert await store.commit(make.added(6, make.heard("more"))) == (True,)
    async with place.open() as store:
        numbers = await store.conversations(make.robin)
        assert [row.number for row in await store.entries(make.robin, numbers)] == [4, 5, 1, 2, 3, 6]
        assert await store.conversations(AvatarKey("wren")) == ()
        question = RecallQuestion(reader=make.reads(make.key()), words="tea")
        assert [each.text for each in await store.recall(make.robin, question)] == ["Ann likes tea"]
        assert await store.recall(AvatarKey("wren"), question) == ()
        other = await store.readable(make.robin, make.reads(make.key(make.ben)))
        assert (other.entries, [each.text for each in other.facts]) == ((), ["the café is shut"])


async def test_a_forgotten_person_stays_forgotten(place, make) -> None:
    """Spec: MEM-5 — export shows everything, and after forgetting, also after a restart, there is nothing to show."""
    async with place.open() as store:
        await store.commit(*make.learnt())
        held = await store.held_about(make.robin, make.ann)
        assert ([row.number for row in held.entries], len(held.facts)) == ([1, 2, 3, 4], 1)
        assert [row.number for row in (await store.held_about(make.robin, make.ben)).evidence] == [3]
        assert await store.commit(make.forgot()) == (True,)
    async with place.open() as store:
        held = await store.held_about(make.robin, make.ann)
        assert (held.entries, held.evidence, held.facts) == ((), (), ())
        assert len(await store.conversations(make.robin)) == 1
