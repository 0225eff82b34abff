"""What an avatar learnt: every change has a row, and forgetting is whole or not at all."""

from __future__ import annotations

import re
from contextlib import suppress
from random import Random
from typing import get_args

import pytest
import trio

from gridagent.conversation.entries import Said, Summary
from gridagent.conversation.keys import Channel
from gridagent.conversation.settings import ConversationSettings
from gridagent.conversation.store import ConversationStore
from gridagent.memory.facts import PUBLIC
from gridagent.memory.recall import RecallQuestion
from gridagent.runtime.deterministic import simulated_ports
from gridagent.storage import conversations, facts
from gridagent.storage.base import StorageFailed, StorageFault
from gridagent.storage.database import Holder, open_database
from gridagent.storage.learning import LEARN, held_about, readable
from gridagent.storage.records import HeldAbout, Learning, Learnt
from gridagent.storage.settings import StorageSettings
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.store import open_store
from gridagent.storage.transactions import Ledger


def test_every_change_has_a_function() -> None:
    """The table is total, so a new kind of change cannot be forgotten. Spec: MEM-3."""
    assert set(LEARN) == set(get_args(Learning))


def test_one_conversation_is_asked_about_itself_and_what_it_sees(ledger, make) -> None:
    """Spec: MEM-7 — its own entries and facts, the public facts, and nothing of any other."""
    ledger.write([make.learnt()])
    mine = ledger.read(lambda connection: readable(connection, make.robin, make.reads(make.key())))
    assert [row.number for row in mine.entries] == [1, 2, 3]
    assert {each.text for each in mine.facts} == {"Ann likes tea", "the café is shut"}
    other = ledger.read(lambda connection: readable(connection, make.robin, make.reads(make.key(make.ben))))
    assert other.entries == ()
    assert [each.text for each in other.facts] == ["the café is shut"]


def test_a_power_cut_while_forgetting_leaves_all_or_nothing(make) -> None:
    """Spec: MEM-5 — wherever the power goes off, nothing half-forgotten is left. Fault: 40."""
    whole = nothing = 0
    for seed in range(60):
        disk = SimulatedDisk(Random(seed), name=f"forget-{seed}")
        ledger = opened(disk, make)
        ledger.write([make.learnt()])
        before = ledger.read(lambda connection: held_about(connection, make.robin, make.ann))
        disk.cut_after(1 + seed % 30)
        with pytest.raises(StorageFailed):
            for _ in range(40):
                ledger.write([(make.forgot(),)])
        ledger.database.abandon()
        disk.reboot()
        again = opened(disk, make)
        after = again.read(lambda connection: held_about(connection, make.robin, make.ann))
        assert after in {before, HeldAbout(entries=(), evidence=(), facts=())}
        whole += after == before
        nothing += after != before
        again.database.close()
        disk.close()
    assert min(whole, nothing) > 3, "both were seen"


def opened(disk, make):
    """Open the ledger on a disk."""
    database = open_database(make.path, files=disk, holder=Holder(pid=1, since="now"), new_ledger="l")
    return Ledger(database, StorageSettings())


def test_conversation_first_then_evidence_wherever_the_power_goes_off(make) -> None:
    """Spec: MEM-3 — what was answered may be there without what was looked up, and never the other way round."""
    seen = set()
    for seed in range(120):
        disk = SimulatedDisk(Random(seed), name=f"order-{seed}")
        ledger = opened(disk, make)
        store = ConversationStore(make.robin)
        ledger.write([learnings(make, store.hear(make.key(), make.heard("hello"), 0.0))])
        said = learnings(make, store.say(make.key(), Said(at=1.0, tainted=False, text="two are near"), 1.0))
        used = learnings(make, store.use(make.key(), make.looked(make.ben), 1.0))
        disk.cut_after(1 + seed % 12)
        with suppress(StorageFailed):
            if seed % 2:
                ledger.write([said, used])  # they shared a commit
            else:
                ledger.write([said])
                ledger.write([used])
        ledger.database.abandon()
        disk.reboot()
        again = opened(disk, make)
        kept = restart(again, make)
        kinds = tuple(type(each).__name__ for each in kept.project(make.key(), 0.0))
        assert kinds in {("Heard",), ("Heard", "Said"), ("Heard", "Said", "Used")}
        assert kept.counts.orphans == kept.counts.malformed == 0
        seen.add(kinds)
        again.database.close()
        disk.close()
    assert len(seen) == 3, "each outcome was seen"


async def test_a_write_that_fails_between_the_two_is_typed_and_consistent(make, autojump_clock) -> None:
    """Spec: MEM-3, EFX-4 — safe mode says so; what waited is written when it ends, in order, and nothing twice."""
    disk = SimulatedDisk(Random(5), name="between")
    ports = simulated_ports("between")
    holder = Holder(pid=1, since="now")
    async with open_store("/s/g.db", ports=ports, holder=holder, files=disk) as store:
        mind = ConversationStore(make.robin)
        await store.commit(*learnings(make, mind.hear(make.key(), make.heard("hello"), 0.0)))
        said = learnings(make, mind.say(make.key(), Said(at=1.0, tainted=False, text="two are near"), 1.0))
        used = learnings(make, mind.use(make.key(), make.looked(make.ben), 1.0))
        await store.commit(*said)
        disk.fail("io_error")
        store.submit(*used)
        await trio.sleep(1.0)
        assert store.safe_mode.fault is StorageFault.IO_ERROR
        with pytest.raises(StorageFailed):
            await store.commit()
        disk.heal()
        await store.leave_safe_mode()
        numbers = await store.conversations(make.robin)
        kept = ConversationStore(make.robin)
        kept.restore(await store.entries(make.robin, numbers), now=0.0, wall=0.0)
    assert [type(each).__name__ for each in kept.project(make.key(), 0.0)] == ["Heard", "Said", "Used"]
    disk.close()


@pytest.mark.timeout(60)
def test_canaries_of_a_thousand_conversations_stay_apart_on_the_disk(make) -> None:
    """Spec: MEM-1, MEM-7 — through compactions, restarts and recall, no text of one key shows in another's."""
    rng = Random(9)
    disk = SimulatedDisk(rng, name="canaries")
    ledger = opened(disk, make)
    settings = ConversationSettings(one_entries_max=8, keep_entries=2, ready_max=64)
    store = ConversationStore(make.robin, settings)
    people = [f"0c0c0c0c-0000-4000-8000-{number:012x}" for number in range(500)]
    keys = [make.key(person, channel) for person in people for channel in Channel]
    canary = {key: f"canary{number:04d}x" for number, key in enumerate(keys)}
    waiting = []
    for step in range(9_000):
        key = rng.choice(keys)
        changes = store.hear(key, make.heard(f"{canary[key]} {'y' * rng.randrange(60)}", at=float(step)), float(step))
        records = learnings(make, changes)
        if step % 4 == 0:
            records += (make.fact(f"{canary[key]} remembered {step}", key_=key, told_by=key.peer),)
        waiting.append(records)
        if step % 50 == 49:
            ledger.write(waiting)
            waiting = []
        if step % 3_000 == 2_999:
            ledger.database.close()
            ledger = opened(disk, make)
            store = restart(ledger, make, settings)
    compacted = remembered = 0
    words = "remembered canary " + " ".join(canary[key] for key in rng.sample(keys, 8))
    for key in keys:
        reader = make.reads(key)
        allowed = {canary[key]} | {canary[each] for each in keys if each.channel is Channel.PUBLIC}
        entries = store.project(key, 9_000.0)
        assert canaries(entries) <= {canary[key]}
        compacted += any(isinstance(each, Summary) for each in entries)
        question = RecallQuestion(reader=reader, words=words, limit=50)
        found = ledger.read(lambda connection, asked=question: facts.recall(connection, make.robin, asked))
        assert canaries(found) <= allowed, "an IM's facts are found in that IM alone"
        remembered += canary[key] in canaries(found) and key.private
    for key in rng.sample(keys, 40):
        reader = make.reads(key)
        mine = ledger.read(lambda connection, asked=reader: readable(connection, make.robin, asked))
        assert {each.text.split()[0] for each in mine.facts if each.scope != PUBLIC} <= {canary[key]}
        assert canaries(mine.entries) <= {canary[key]}
    assert compacted > 300
    assert remembered
    ledger.database.close()
    disk.close()


def canaries(values):
    """Return every canary in some values."""
    return set(re.findall(r"canary\d{4}x", repr(values)))


def learnings(make, changes):
    """Return changes as records."""
    return tuple(Learnt(avatar=make.robin, change=change) for change in changes)


def restart(ledger, make, settings=None):
    """Return a store that starts again from what is stored."""
    store = ConversationStore(make.robin, settings)
    numbers = ledger.read(lambda connection: conversations.numbers(connection, make.robin))
    rows = ledger.read(lambda connection: conversations.entries_of(connection, make.robin, numbers))
    store.restore(rows, now=0.0, wall=0.0)
    return store
