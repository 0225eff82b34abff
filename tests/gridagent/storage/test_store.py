"""The store of a service: one database for its life, tended, verified, copied, and closed whatever happens."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random

import attrs
import pytest
import trio

from gridagent.errors import OperatorError, OutcomeUnknown
from gridagent.ids import EffectKey
from gridagent.policy.ledger import EffectState
from gridagent.runtime.deterministic import run_deterministic, simulated_ports
from gridagent.runtime.system import system_ports
from gridagent.storage import LedgerRefused, StorageFailed, StorageFault, StorageSettings, backup
from gridagent.storage.audit_chain import ChainReport, check_export
from gridagent.storage.database import Holder, open_database
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.store import SLICES_A_ROUND, open_store
from gridagent.storage.transactions import Ledger

HOLDER = Holder(pid=7, since="noon")
SMALL = StorageSettings(audit_segment_rows=16)


def _open(disk, path="/s/g.db", **how):
    ports = how.pop("ports", None) or simulated_ports("store")
    return open_store(path, ports=ports, holder=HOLDER, files=disk, **{"settings": SMALL} | how)


async def test_a_store_has_one_database_and_one_user(disk, autojump_clock) -> None:
    """While it is open nobody else opens it; afterwards anybody may. Spec: OPS-4."""
    async with _open(disk):
        with pytest.raises(LedgerRefused, match="in use by process 7"):
            async with _open(disk):
                pass
    async with _open(disk) as store:
        assert store.status().commits == 0


async def test_one_payment_costs_three_commits_at_most(disk, autojump_clock, make) -> None:
    """Reserved and sent share one, settled has one; audit rows and charges ride along. Spec: EFX-2."""
    async with _open(disk) as store:
        store.submit(make.audited(1))
        store.submit(make.kept(make.reserved()))
        await store.commit(make.kept(make.sent()))
        store.submit(make.kept(make.settled()), urgent=True)
        store.submit(make.audited(2))
        await trio.sleep(1)
        assert (store.status().commits, store.status().records) == (2, 5)
        row = await store.effect(make.robin, EffectKey("a"))
        assert row.state is EffectState.CONFIRMED
        assert await store.effect(make.robin, EffectKey("b")) is None


async def test_who_is_cancelled_still_has_the_last_word(disk, autojump_clock, make) -> None:
    """What a cancelled owner says while it cleans up is written: how what it had begun ended. Spec: EFX-2, SUP-2."""
    with trio.CancelScope() as scope:
        async with _open(disk) as store:
            await store.commit(make.kept(make.reserved()), make.kept(make.sent()))
            scope.cancel()
            try:
                await trio.sleep_forever()
            finally:
                store.submit(make.kept(make.settled()))
    async with _open(disk) as store:
        row = await store.effect(make.robin, EffectKey("a"))
        assert row.state is EffectState.CONFIRMED


async def test_doubts_can_be_looked_at(disk, autojump_clock, make) -> None:
    """With everything that was known when they were sent. Spec: EFX-2."""
    async with _open(disk) as store:
        store.submit(*map(make.kept, (make.reserved(), make.sent(), make.settled(outcome=make.in_doubt))))
        (row,) = await store.in_doubt()  # a question knows of everything that was said before it
        assert await store.in_doubt(make.robin) == (row,)
        assert (row.reserved, row.outcome) == (make.reserved(), make.in_doubt)


async def test_the_audit_trail_is_verified_between_commits(disk, autojump_clock, make) -> None:
    """A segment at a time, and a row that was changed is named. Spec: POL-10."""
    async with _open(disk) as store:
        await store.commit(*(make.audited(seq) for seq in range(1, 41)))
        report = await store.verify_audit()
        assert (report.segments, report.rows, report.problem) == (3, 40, "")
        exported = ChainReport()
        for number in await store.segments():
            check_export(await store.export_segment(number), exported)
        assert (exported.rows, exported.head, exported.problem) == (40, report.head, "")
        with pytest.raises(KeyError):
            await store.export_segment(99)
        store._ledger.database.connection.execute("DELETE FROM audit WHERE row = 5")
        assert "row 5 of segment 1 is missing" in (await store.verify_audit()).problem


async def test_a_backup_is_made_while_the_store_works(disk, autojump_clock, make) -> None:
    """What was committed before is in it, and nothing unfinished is left. Spec: EFX-4."""
    async with _open(disk) as store:
        store.submit(make.kept(make.reserved()))
        report = await store.back_up("/backups/one.backup")
        assert (report.effects, report.path) == (1, "/backups/one.backup")
        with pytest.raises(LedgerRefused, match="another name"):
            await store.back_up("/backups/one.backup")


async def test_a_backup_that_is_given_up_leaves_nothing(disk, autojump_clock, make, monkeypatch) -> None:
    """Cancelled at any moment, and cut short by a full disk; the store works on. Fault: 39."""
    monkeypatch.setattr(backup, "PAGES_A_STEP", 2)
    async with _open(disk) as store:
        await store.commit(*(make.audited(seq) for seq in range(1, 400)))
        for moment in range(1, 60, 4):
            with trio.move_on_after(moment / 1_000) as scope:
                await store.back_up(f"/backups/{moment}.backup")
            assert scope.cancelled_caught
            assert disk.names("/backups") == ()
        report = await store.back_up("/backups/whole.backup")
        assert report.audit_rows == 399
        disk.fail("full")
        with pytest.raises(StorageFailed):
            await store.back_up("/backups/full.backup")
        disk.heal()
        assert await store.commit(make.audited(400)) == (True,)


async def test_old_rows_go_by_themselves(disk, autojump_clock, make) -> None:
    """The store tends what it keeps, again and again, in small steps. Spec: BND-16."""
    settings = StorageSettings(audit_segment_rows=16, tend_every_s=60.0)
    async with _open(disk, settings=settings) as store:
        changes = (make.reserved(), make.sent(), make.settled(at=0.0))
        await store.commit(*map(make.kept, changes), *(make.audited(seq, at=0.0) for seq in range(1, 50)))
        await trio.sleep(61)
        assert await store.effect(make.robin, EffectKey("a")) is None
        assert await store.segments() == (4,)


async def test_tending_that_fails_is_reported_and_tried_again(disk, autojump_clock) -> None:
    """Nothing was promised, so it is no safe mode. Fault: 39."""
    reports = []
    settings = StorageSettings(tend_every_s=60.0)
    async with _open(disk, settings=settings, report=lambda code, _: reports.append(code)) as store:
        await store.commit()
        disk.fail("io_error")
        store._ledger.database.connection.execute("BEGIN")  # whatever makes a transaction fail
        await trio.sleep(130)
        assert reports == ["storage_tend", "storage_tend"]
        assert store.safe_mode is None
        disk.heal()


async def test_storage_that_still_fails_stays_in_safe_mode(disk, autojump_clock, make) -> None:
    """An operator's word is tried, not believed. Spec: EFX-4. Fault: 39."""
    async with _open(disk) as store:
        disk.fail("sync_error")
        with pytest.raises(StorageFailed):
            await store.commit(make.kept(make.reserved()))
        with pytest.raises(StorageFailed):
            await store.leave_safe_mode()
        assert store.safe_mode.fault is StorageFault.IO_ERROR
        with pytest.raises(StorageFailed):
            await store.effect(make.robin, EffectKey("a"))
        disk.heal()
        await store.leave_safe_mode()
        assert store.safe_mode is None
        assert await store.commit(make.kept(make.reserved())) == (True,)


async def test_a_failed_sync_is_never_taken_for_done(disk, autojump_clock, make) -> None:
    """What was not acknowledged may be there or not; what was acknowledged is. Spec: EFX-4. Fault: 39."""
    async with _open(disk) as store:
        await store.commit(make.kept(make.reserved("safe")))
        disk.fail("sync_error")
        with pytest.raises(StorageFailed):
            await store.commit(make.kept(make.reserved("unknown")))
        disk.cut_now()
    disk.reboot()
    async with _open(disk) as store:
        keys = {each.effect for each in (await store.open_avatar(make.robin)).snapshot.open_effects}
    assert keys in ({"safe"}, {"safe", "unknown"})


async def test_leaving_is_bounded_and_gives_the_lock_back(disk, autojump_clock, make) -> None:
    """A disk that fails at the end is reported, and the next service can start. Spec: SUP-3."""
    reports = []
    async with _open(disk, report=lambda code, _: reports.append(code)) as store:
        store.submit(make.kept(make.reserved()))
        disk.fail("io_error")
    assert reports == ["storage_safe_mode", "storage_flush", "storage_close"]
    disk.heal()
    async with _open(disk) as store:
        assert store.safe_mode is None


async def test_leaving_does_not_wait_for_a_disk_that_hangs(disk, autojump_clock) -> None:
    """A close that gets no turn is given up and reported; the process takes the lock with it. Spec: SUP-3."""

    class Hanging:
        def __init__(self, inner) -> None:
            self._inner = inner

        async def run(self, fn, *args, name):
            if name == "storage close":
                await trio.sleep_forever()
            return await self._inner.run(fn, *args, name=name)

    reports, ports = [], simulated_ports("hanging")
    ports = attrs.evolve(ports, blocking=Hanging(ports.blocking))
    async with _open(disk, ports=ports, report=lambda code, error: reports.append((code, error.fault))) as store:
        started = trio.current_time()
    assert reports == [("storage_close", StorageFault.STUCK)]
    assert trio.current_time() - started < 11
    store._ledger.database.close()


async def test_a_disk_that_cannot_be_written_to_is_found_at_start(disk, autojump_clock) -> None:
    """And not by the first payment; once it can be, the start goes through. Spec: EFX-4. Fault: 39."""
    async with _open(disk):
        pass
    database = open_database("/s/g.db", files=disk, holder=HOLDER, new_ledger="x")
    ledger = Ledger(database, SMALL)
    disk.fail("full")
    with pytest.raises(StorageFailed):
        ledger.probe()
    disk.heal()
    ledger.probe()
    assert database.connection.execute("SELECT value FROM meta WHERE name = 'opened'").fetchall() == [(2,)]
    database.close()


async def test_a_clock_that_jumps_ahead_does_not_empty_the_trail(disk, autojump_clock, make) -> None:
    """What is too old goes a few slices a round, so somebody may notice. Spec: BND-16."""
    settings = StorageSettings(audit_segment_rows=16, tend_every_s=60.0)
    async with _open(disk, settings=settings) as store:
        await store.commit(*(make.audited(seq, at=0.0) for seq in range(1, 400)))
        await trio.sleep(61)
        assert len(await store.segments()) == 25 - SLICES_A_ROUND
        await trio.sleep(60)
        assert len(await store.segments()) == 25 - 2 * SLICES_A_ROUND


class _Slow:
    """A blocking port on which each commit takes its time, or more than it may."""

    def __init__(self, inner) -> None:
        self._inner = inner
        self.seconds = 0.0

    async def run(self, fn, *args, name):
        if name == "storage commit" and self.seconds:
            with trio.CancelScope(shield=True):
                await trio.sleep(min(self.seconds, 30.0))
            if self.seconds > 30.0:
                raise OutcomeUnknown("it did not end")
        return await self._inner.run(fn, *args, name=name)


@pytest.mark.parametrize(
    ("seconds", "said"), [(1.0, ["storage_flush"]), (99.0, ["storage_flush", "storage_safe_mode"])]
)
async def test_leaving_does_not_wait_for_ever(disk, autojump_clock, make, seconds, said) -> None:
    """Neither for many slow commits, nor for one that does not end. Spec: SUP-3."""
    reports, ports = [], simulated_ports("slow")
    blocking = _Slow(ports.blocking)
    settings = StorageSettings(rows_per_commit_max=1, flush_timeout_s=10.0)
    ports = attrs.evolve(ports, blocking=blocking)
    how = {"ports": ports, "settings": settings, "report": lambda code, _: reports.append(code)}
    async with _open(disk, **how) as store:
        blocking.seconds = seconds
        for number in range(30):
            store.submit(make.kept(make.reserved(f"effect-{number}")))
        started = trio.current_time()
    assert reports == said
    assert trio.current_time() - started < 45.0
    async with _open(disk) as store:
        assert len((await store.open_avatar(make.robin)).snapshot.open_effects) < 30


async def test_what_the_block_raises_is_what_its_user_sees(disk, autojump_clock) -> None:
    """No group of exceptions hides it; two failures do come in a group."""
    with pytest.raises(OperatorError, match="mine"):
        async with _open(disk):
            raise OperatorError("mine")
    with trio.move_on_after(1) as scope:
        async with _open(disk):
            await trio.sleep_forever()
    assert scope.cancelled_caught

    def explode(batch):
        raise ZeroDivisionError(batch)

    with pytest.raises(ExceptionGroup) as raised:
        async with _open(disk) as store:
            store._writer._write = explode
            store.submit(urgent=True)
            await trio.sleep(1)
    assert raised.group_contains(ZeroDivisionError)


async def test_a_damaged_tail_gives_the_lock_back(disk, autojump_clock, make) -> None:
    """A start that is refused leaves nothing open. Fault: 41."""
    async with _open(disk) as store:
        await store.commit(*(make.audited(seq) for seq in range(1, 6)))
        store._ledger.database.connection.execute("DELETE FROM audit WHERE row = 5")
    for _ in range(2):
        with pytest.raises(LedgerRefused, match="audit trail: 4 of 5 rows are left"):
            async with _open(disk):
                pass


def test_the_same_seed_gives_the_same_steps(make) -> None:
    """Storage in a simulation takes the same way each time, power cut included. Spec: SIM-2, SIM-3."""

    async def life(seed):
        disk = SimulatedDisk(Random(f"{seed}/disk"), name="life")
        disk.cut_after(150)
        with suppress(StorageFailed):
            async with _open(disk, ports=simulated_ports(seed)) as store:
                await store.open_avatar(make.robin)
                for number in range(100):
                    store.submit(make.audited(number + 1))
                    await store.commit(make.kept(make.reserved(f"effect-{number}")))
        disk.reboot()
        async with _open(disk, ports=simulated_ports(seed)) as store:
            found = await store.open_avatar(make.robin)
        disk.close()
        return disk.counts, len(found.snapshot.open_effects)

    first, second, other = (run_deterministic(life, seed, seed=seed) for seed in (1, 1, 2))
    assert (first.step_hash, first.result) == (second.step_hash, second.result)
    assert first.step_hash != other.step_hash
    assert first.result[0].cuts == 1


@pytest.mark.slow
async def test_real_threads_and_a_real_disk(tmp_path, make) -> None:
    """The same with the ports of a service: many callers, one after the other restart."""
    path = str(tmp_path / "state" / "gridagent.db")
    async with open_store(path, ports=system_ports(), holder=HOLDER) as store:
        async with trio.open_nursery() as nursery:
            for number in range(100):
                nursery.start_soon(store.commit, make.kept(make.reserved(f"effect-{number}")))
        assert store.status().commits < 60
    async with open_store(path, ports=system_ports(), holder=HOLDER) as store:
        assert len((await store.open_avatar(make.robin)).snapshot.open_effects) == 100


PAYER = """
import os, sys, trio
sys.path[:0] = sys.argv[2:]
import conftest as make
from gridagent.runtime.system import system_ports
from gridagent.storage.database import Holder, open_database
from gridagent.storage.store import SLICES_A_ROUND, open_store
from gridagent.storage.transactions import Ledger

async def main():
    async with open_store(sys.argv[1], ports=system_ports(), holder=Holder(pid=os.getpid(), since="now")) as store:
        recovered = await store.open_avatar(make.ROBIN)
        number = 0
        while True:
            number += 1
            key = f"run-{recovered.run}-payment-{number}"
            store.submit(make.kept(make.reserved(key), run=recovered.run), make.audited(number, run=recovered.run))
            await store.commit(make.kept(make.sent(key), run=recovered.run))
            print("sent", key, flush=True)
            store.submit(make.kept(make.settled(key), run=recovered.run))
            if number % 3 == 0:
                await store.commit()
                print("settled", key, flush=True)

trio.run(main)
"""


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_kill_nine_in_the_middle_of_payments_loses_nothing_that_was_said(tmp_path, make) -> None:
    """A process that dies without warning: whatever it said was durable is, and the next one starts. Fault: 38."""
    here = Path(__file__).parent
    path = str(tmp_path / "state" / "gridagent.db")
    sent, settled = set(), set()
    for run in range(1, 4):
        command = [sys.executable, "-c", PAYER, path, str(here), str(here.parents[2])]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603, ASYNC220 - the point
            lines = [process.stdout.readline() for _ in range(10 + 7 * run)]
            process.kill()
            lines += process.stdout.readlines()
        for line in lines:
            what, _, key = line.strip().partition(" ")
            (sent if what == "sent" else settled).add(key)
        async with open_store(path, ports=system_ports(), holder=HOLDER) as store:
            found = (await store.open_avatar(make.robin)).snapshot
            doubtful = {each.effect for each in found.open_effects if each.state is EffectState.SENT}
            assert sent <= doubtful | set(found.ended_once)
            assert settled <= set(found.ended_once)
            await store.commit(*(make.kept(make.settled(each.effect, make.refused)) for each in found.open_effects))
            assert (await store.verify_audit()).problem == ""
    assert len(sent) > 40
    assert len(settled) > 10


async def test_reading_that_takes_too_long_is_unknown_and_no_safe_mode(disk, autojump_clock, make) -> None:
    """A question that does not end says so; commits tell whether storage works."""

    class Slow:
        def __init__(self, inner) -> None:
            self._inner = inner

        async def run(self, fn, *args, name):
            if name == "storage read":
                raise OutcomeUnknown("too slow")
            return await self._inner.run(fn, *args, name=name)

    ports = simulated_ports("slow")
    async with _open(disk, ports=attrs.evolve(ports, blocking=Slow(ports.blocking))) as store:
        with pytest.raises(OutcomeUnknown):
            await store.segments()
        assert await store.commit(make.kept(make.reserved())) == (True,)
