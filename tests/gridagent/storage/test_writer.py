"""Records are written in order, many in one commit, and a commit is reported after it is durable."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gridagent.errors import LimitExceeded, OutcomeUnknown, ResourceClosed
from gridagent.runtime.cancel_points import cancel_at_every_checkpoint
from gridagent.runtime.deterministic import SimulatedClock
from gridagent.storage.base import StorageFailed, StorageFault
from gridagent.storage.settings import StorageSettings
from gridagent.storage.writer import WATCHERS_MAX, Writer


class Disk:
    """A write function and a blocking port in one, told by the test what to do."""

    def __init__(self) -> None:
        self.batches = []
        self.failure = None
        self.gate = None

    def write(self, batch):
        if self.failure is not None:
            raise self.failure
        self.batches.append([list(records) for records in batch])
        return [tuple(record != "no" for record in records) for records in batch]

    async def run(self, fn, *args, name):
        await trio.lowlevel.checkpoint()
        with trio.CancelScope(shield=True):
            if self.gate is not None:
                await self.gate.wait()
            return fn(*args)


@pytest.fixture
def disk():
    """A disk that works."""
    return Disk()


@pytest.fixture
def reports():
    """What was reported."""
    return []


@pytest.fixture
async def writer(disk, reports, nursery):
    """A running writer."""
    made = _writer(disk, reports)
    nursery.start_soon(made.run)
    await wait_all_tasks_blocked()
    return made


def _writer(disk, reports=(), **settings):
    report = reports.append if isinstance(reports, list) else lambda _: None
    return Writer(
        disk.write,
        blocking=disk,
        clock=SimulatedClock(),
        settings=StorageSettings(**settings),
        report=lambda code, error: report((code, error)),
    )


async def test_a_commit_returns_what_applied_once_it_is_durable(writer, disk) -> None:
    """Not before the transaction is over, and with a word for each record. Spec: EFX-2."""
    disk.gate, results = trio.Event(), []

    async def commit():
        results.append(await writer.commit("yes", "no"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(commit)
        await wait_all_tasks_blocked()
        assert results == []
        disk.gate.set()
    assert results == [(True, False)]
    assert disk.batches == [[["yes", "no"]]]


async def test_many_waiting_callers_share_one_commit(writer, disk) -> None:
    """While one transaction runs others gather, and all of them go into the next."""
    disk.gate = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(writer.commit, "first")
        await wait_all_tasks_blocked()
        for number in range(50):
            nursery.start_soon(writer.commit, f"record-{number}")
        await wait_all_tasks_blocked()
        disk.gate.set()
    assert [len(batch) for batch in disk.batches] == [1, 50]
    assert (writer.status().commits, writer.status().records, writer.status().waiting) == (2, 51, 0)


async def test_order_is_kept_over_all_ways_in(writer, disk) -> None:
    """What was submitted before a commit is durable with it, and those of one call stay together."""
    writer.submit("a", "b")
    writer.submit("c", urgent=True)
    await writer.commit("d")
    writer.submit("e")
    await writer.commit()
    assert [record for batch in disk.batches for entry in batch for record in entry] == ["a", "b", "c", "d", "e"]
    assert disk.batches[0][0] == ["a", "b"]


async def test_rows_that_nobody_waits_for_gather_for_a_moment(writer, disk, autojump_clock) -> None:
    """They are written after the linger, all in one, and at once when something urgent comes."""
    started = trio.current_time()
    writer.submit("a")
    await trio.sleep(0.02)
    writer.submit("b")
    await wait_all_tasks_blocked()
    assert disk.batches == []
    await trio.sleep(0.04)
    assert disk.batches == [[["a"], ["b"]]]
    assert trio.current_time() - started < 0.1
    writer.submit("c")
    writer.submit("d", urgent=True)
    await wait_all_tasks_blocked()
    assert disk.batches[1] == [["c"], ["d"]]


async def test_whatever_waits_is_durable_after_four_commits(disk, nursery, autojump_clock) -> None:
    """A full queue is drained by as many transactions as it has thousands. Spec: BND-16."""
    writer = _writer(disk)
    for number in range(4_096):
        writer.submit(number)
    nursery.start_soon(writer.run)
    await writer.commit()
    assert [sum(map(len, batch)) for batch in disk.batches] == [1_024] * 4 + [0]
    assert writer.safe_mode is None


async def test_callers_that_wait_go_on_waiting_when_there_is_no_room(disk, nursery, autojump_clock) -> None:
    """Back-pressure, not loss: each gets its turn. Spec: BND-16."""
    writer = _writer(disk, queue_records_max=16, rows_per_commit_max=8)
    disk.gate = trio.Event()
    nursery.start_soon(writer.run)
    async with trio.open_nursery() as callers:
        for number in range(60):
            callers.start_soon(writer.commit, number)
        await wait_all_tasks_blocked()
        assert writer.status().waiting <= 16
        started = trio.current_time()
        disk.gate.set()
    assert trio.current_time() == started  # nobody who waits is made to wait for company
    assert sorted(record for batch in disk.batches for entry in batch for record in entry) == list(range(60))
    assert writer.safe_mode is None


async def test_one_call_has_so_many_records(writer) -> None:
    """More than one transaction takes is refused, whichever way it comes."""
    with pytest.raises(LimitExceeded):
        writer.submit(*range(1_025))
    with pytest.raises(LimitExceeded):
        await writer.commit(*range(1_025))


async def test_a_failure_begins_safe_mode_and_keeps_what_nobody_waited_for(writer, disk, reports) -> None:
    """Who waits is told, nothing is written until an operator says so, then what was kept. Spec: EFX-4. Fault: 39."""
    told = []
    unwatch = writer.watch(told.append)
    writer.submit("kept-1")
    disk.failure = StorageFailed(StorageFault.DISK_FULL, "no space")
    with pytest.raises(StorageFailed) as failed:
        await writer.commit("lost")
    assert failed.value.fault is StorageFault.DISK_FULL
    assert writer.safe_mode.fault is StorageFault.DISK_FULL
    assert told == [writer.safe_mode]
    assert [code for code, _ in reports] == ["storage_safe_mode"]
    disk.failure = None
    writer.submit("kept-2", urgent=True)
    with pytest.raises(StorageFailed, match="safe mode"):
        await writer.commit("also lost")
    await wait_all_tasks_blocked()
    assert (disk.batches, writer.status().waiting) == ([], 2)
    writer.leave_safe_mode()
    assert told[-1] is None
    unwatch()
    unwatch()
    await writer.commit("after")
    assert [entry for batch in disk.batches for entry in batch] == [["kept-1"], ["kept-2"], ["after"]]
    assert writer.safe_mode is None
    assert len(told) == 2


async def test_everybody_who_waits_hears_of_a_failure(disk, nursery) -> None:
    """In the transaction, behind it, and for room; none of their records comes later. Spec: EFX-4. Fault: 39."""
    writer = _writer(disk, queue_records_max=16, rows_per_commit_max=4)
    nursery.start_soon(writer.run)
    disk.gate, disk.failure = trio.Event(), StorageFailed(StorageFault.IO_ERROR)
    failed = []

    async def commit(number):
        try:
            await writer.commit(number)
        except StorageFailed as error:
            failed.append((number, error.fault))

    async with trio.open_nursery() as callers:
        for number in range(40):
            callers.start_soon(commit, number)
        await wait_all_tasks_blocked()
        disk.gate.set()
    assert sorted(failed) == [(number, StorageFault.IO_ERROR) for number in range(40)]
    disk.failure = None
    writer.leave_safe_mode()
    await writer.commit("after")
    assert disk.batches == [[["after"]]]


async def test_a_commit_that_never_ends_is_unknown(writer, disk) -> None:
    """Who waited is told so and no more than that, and nothing is taken for done. Spec: EFX-4. Fault: 39."""
    writer.submit("kept")
    disk.failure = OutcomeUnknown("it did not end")
    with pytest.raises(OutcomeUnknown):
        await writer.commit("unknown")
    assert writer.safe_mode.fault is StorageFault.STUCK
    disk.failure = None
    writer.leave_safe_mode()
    await writer.commit()
    assert disk.batches == [[["kept"], []]]


async def test_a_disk_that_does_not_keep_up_begins_safe_mode(disk, nursery) -> None:
    """What nobody waits for cannot wait for ever: beyond the bound it is dropped and counted. Spec: EFX-4, BND-16."""
    writer = _writer(disk, queue_records_max=16)
    disk.gate = trio.Event()
    nursery.start_soon(writer.run)
    for number in range(16):
        writer.submit(number, urgent=True)
    await wait_all_tasks_blocked()
    for number in range(17):
        writer.submit(number)
    assert writer.safe_mode.fault is StorageFault.BACKLOG
    writer.submit("x", "y")
    assert (writer.status().lost, writer.status().waiting) == (3, 16)
    disk.gate.set()
    await wait_all_tasks_blocked()
    assert len(disk.batches) == 1
    writer.leave_safe_mode()
    await writer.commit()
    assert [record for batch in disk.batches for entry in batch for record in entry] == [*range(16), *range(16)]


async def test_a_bug_is_no_safe_mode(disk) -> None:
    """What is not a failure of storage ends the writer, and who waits hears that it is closed."""
    writer = _writer(disk)
    disk.failure = ZeroDivisionError("a bug")
    with pytest.raises(ExceptionGroup) as raised:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.run)
            await wait_all_tasks_blocked()
            with pytest.raises(ResourceClosed):
                await writer.commit("x")
    assert raised.group_contains(ZeroDivisionError)
    assert writer.safe_mode is None


async def test_a_closed_writer_takes_nothing(disk) -> None:
    """Afterwards commits are refused and the rest is counted as lost."""
    writer = _writer(disk)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(writer.run)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    with pytest.raises(ResourceClosed):
        await writer.commit("x")
    writer.submit("y")
    assert writer.status().lost == 1
    assert writer.safe_mode is None


async def test_watchers_are_bounded(writer) -> None:
    """One an avatar."""
    for _ in range(WATCHERS_MAX):
        writer.watch(lambda _: None)
    with pytest.raises(LimitExceeded):
        writer.watch(lambda _: None)


def test_a_cancelled_commit_is_either_not_written_or_known(disk) -> None:
    """Cancelled at any checkpoint: withdrawn and never written, or written and its result returned. Spec: EFX-2."""
    seen = set()

    async def scenario(point):
        fresh = Disk()
        writer = _writer(fresh, queue_records_max=16)
        fresh.gate = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.run)
            for number in range(16):
                writer.submit(number)  # so that there is no room at first
            nursery.start_soon(_open_later, fresh.gate)
            result = await point.guard(writer.commit, "mine")
            fresh.gate.set()
            await writer.commit("after")
            nursery.cancel_scope.cancel()
        written = [record for batch in fresh.batches for entry in batch for record in entry]
        assert ("mine" in written) is (result == (True,))
        assert written[-1] == "after"
        assert writer.status().waiting == 0
        seen.add(result)

    assert cancel_at_every_checkpoint(scenario) >= 3
    assert seen == {None, (True,)}


async def _open_later(gate):
    await trio.sleep(1.0)
    gate.set()
