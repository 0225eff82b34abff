"""Conversations come back as they were written, and what is forgotten is gone from the file as well."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from gridagent.conversation.changes import ConversationsDropped, EntriesCompacted
from gridagent.conversation.entries import Heard, Summary, Used
from gridagent.conversation.keys import Channel
from gridagent.conversation.settings import ConversationSettings
from gridagent.conversation.store import ConversationStore
from gridagent.storage import conversations
from gridagent.storage.records import Learnt

KIB = 1024


def rows(ledger, make):
    """Return the stored entries of every conversation."""
    numbers = ledger.read(lambda connection: conversations.numbers(connection, make.robin))
    return ledger.read(lambda connection: conversations.entries_of(connection, make.robin, numbers))


def restored(ledger, make, *, settings=None, now=0.0, wall=0.0):
    """Return a store that starts again from what is stored."""
    store = ConversationStore(make.robin, settings)
    store.restore(rows(ledger, make), now=now, wall=wall)
    return store


def test_what_was_said_comes_back_in_order(ledger, make) -> None:
    """Spec: MEM-3 — each conversation is whole, the least recently used first, and text is untrusted."""
    ledger.write([make.learnt()])
    ledger.write([(make.added(6, make.heard("again")),)])
    assert [row.number for row in rows(ledger, make)] == [4, 5, 1, 2, 3, 6]
    store = restored(ledger, make)
    assert [type(each).__name__ for each in store.project(make.key(), 0.0)] == ["Heard", "Said", "Used", "Heard"]
    assert store.counts.restored == 6
    assert store.counts.orphans == store.counts.malformed == 0


def test_writing_a_batch_again_changes_nothing(ledger, make) -> None:
    """Spec: MEM-3 — a batch whose outcome was not known may be written again, wherever it was cut off."""
    ledger.write([make.learnt()])
    before = rows(ledger, make)
    ledger.write([make.learnt()])
    assert rows(ledger, make) == before


def test_each_change_says_whether_it_did_anything(ledger, make) -> None:
    """What is known or has nothing to change does not apply."""
    summary = Summary(at=1.0, tainted=False, text="s", covers=1, since=0.0)
    nothing = (
        EntriesCompacted(key=make.key(), through=9, summary=summary),
        ConversationsDropped(avatar=make.robin, through=((make.key().scope, 9),)),
    )
    assert ledger.write([[Learnt(avatar=make.robin, change=each) for each in nothing]]) == [(False, False)]
    assert ledger.write([(make.added(1, make.heard("x")), make.added(1, make.heard("y")))]) == [(True, False)]
    late = EntriesCompacted(key=make.key(), through=0, summary=summary)
    assert ledger.write([[Learnt(avatar=make.robin, change=late)]]) == [(False,)]
    assert ledger.write([[Learnt(avatar=make.robin, change=nothing[1])]]) == [(True,)]
    assert rows(ledger, make) == ()
    assert ledger.write([(make.forgot(),)]) == [(False,)]


def test_memory_and_disk_hold_the_same_however_much_is_said(ledger, make) -> None:
    """Spec: MEM-2, MEM-3, BND-9 — through compactions, evictions, expiry and forgetting, a restart finds the same."""
    rng = Random(11)
    settings = ConversationSettings(
        conversations_max=12,
        text_max_bytes=16 * KIB,
        one_text_max_bytes=8 * KIB,
        one_entries_max=8,
        keep_entries=2,
        expire_after_s=100.0,
    )
    store = ConversationStore(make.robin, settings)
    people = [f"0c0c0c0c-0000-4000-8000-{number:012x}" for number in range(16)]
    now = 0.0
    for step in range(1_500):
        now += rng.random() if step % 100 else 120.0
        key = make.key(people[min(rng.randrange(16), rng.randrange(16), rng.randrange(16))], rng.choice(list(Channel)))
        changes = [*store.hear(key, make.heard("x" * rng.randrange(300), at=now), now), *store.tend(now).changes]
        if rng.random() < 0.4:
            changes += store.use(key, make.looked(rng.choice(people), data="y" * rng.randrange(300), at=now), now)
        if step % 50 == 49:
            changes += store.forget(rng.choice(people))
            while store.tend(now).more:
                pass
        ledger.write([[Learnt(avatar=make.robin, change=change) for change in changes]])
    again = restored(ledger, make, settings=settings, now=now, wall=now)
    assert again.counts.orphans == again.counts.malformed == 0
    assert (len(again), again.size) == (len(store), store.size)
    for person in people:
        for channel in Channel:
            key = make.key(person, channel)
            kept, back = store.project(key, now), again.project(key, now)
            assert [getattr(each, "text", "") for each in kept] == [getattr(each, "text", "") for each in back]
    counts = store.counts
    assert min(counts.compactions, counts.evicted, counts.expired, counts.forgotten) > 5


def test_stored_rows_that_cannot_be_read_do_not_keep_an_avatar_from_starting(ledger, make) -> None:
    """Spec: MEM-3 — malformed evidence is dropped and counted; everything else is there."""
    ledger.write([make.learnt()])
    connection = ledger.database.connection
    connection.execute("UPDATE entry SET body = x'99' WHERE number = 3")
    connection.execute("UPDATE conversation SET key = x'7b7d' WHERE scope LIKE 'thread:%'")
    store = restored(ledger, make)
    assert store.counts.malformed == 2
    assert store.counts.restored == 3


def test_what_a_person_said_can_be_shown_and_forgotten(ledger, make) -> None:
    """Spec: MEM-5 — conversations on every channel and grid, and evidence about them with others."""
    ann, ben = make.key(make.ann), make.key(make.ben)
    ledger.write(
        [
            (
                make.added(1, make.heard("one"), ann),
                make.added(2, make.heard("two"), make.key(make.ann, Channel.PUBLIC)),
                make.added(3, make.heard("three"), make.key(make.ann, grid="h")),
                make.added(4, make.heard("four"), ben),
                make.added(5, make.looked(make.ann, after=4), ben),
                make.added(6, make.looked(data=f'{{"near":"{make.ann}"}}', after=5), ben),
                make.added(7, make.looked(make.ben, after=6), ben),
                make.added(8, make.heard("of another avatar"), make.key(make.ann, avatar="wren")),
            )
        ]
    )
    held = ledger.read(lambda connection: conversations.of_person(connection, make.robin, make.ann))
    assert [row.number for row in held] == [1, 2, 3]
    evidence = ledger.read(lambda connection: conversations.evidence_about(connection, make.robin, make.ann))
    assert [row.number for row in evidence] == [5, 6]
    assert ledger.write([(make.forgot(),)]) == [(True,)]
    assert [row.number for row in rows(ledger, make)] == [4, 7]
    assert ledger.read(lambda connection: conversations.of_person(connection, make.robin, make.ann)) == ()
    wren = ledger.read(lambda connection: conversations.numbers(connection, "wren"))
    assert len(wren) == 1, "another avatar of ours remembers on its own"


@pytest.mark.parametrize("forget", ["person", "eviction"])
def test_what_went_is_not_in_the_file_any_more(disk, ledger, make, forget) -> None:
    """Spec: MEM-5 — no byte of it lies on in a free page, a search index or the write-ahead log."""
    rng = Random(3)
    number = 0
    batches = []
    for round_ in range(60):
        ann, ben = make.key(make.ann), make.key(f"0c0c0c0c-0000-4000-8000-{round_:012x}")
        canary = f"canary{'x' * rng.randrange(900)} canary"
        batch = [
            make.added(number + 1, make.heard(canary), ann),
            make.added(number + 2, make.looked(make.ann, data=canary, after=number + 1), ann),
            make.added(number + 3, make.heard("y" * rng.randrange(900)), ben),
            make.added(number + 4, make.looked(make.ann, data="canary", after=number + 3), ben),
            make.fact(f"canary {round_} likes plums", key_=ann, told_by=make.ann),
            make.fact(f"word {round_} and {rng.random()}", key_=ben, told_by=make.ben),
        ]
        number += 4
        batches.append(batch)
        ledger.write([batch])
    assert b"canary" in disk.read(make.path, max_bytes=1 << 30) + disk.read(f"{make.path}-wal", max_bytes=1 << 30)
    if forget == "eviction":
        dropped = ConversationsDropped(avatar=make.robin, through=((make.key().scope, number),))
        ledger.write([[Learnt(avatar=make.robin, change=dropped)]])
    ledger.write([(make.forgot(),)])
    for name in disk.names("/state"):
        raw = disk.read(f"/state/{name}", max_bytes=1 << 30)
        assert b"canary" not in raw, name
        assert b"plums" not in raw, name
        assert make.ann.encode() not in raw, name
    assert len(rows(ledger, make)) == 60
    assert ledger.database.connection.execute("INSERT INTO fact_text (fact_text) VALUES ('integrity-check')")


def test_conversations_of_avatars_that_no_longer_run_go_as_well(ledger, make) -> None:
    """Spec: BND-16 — storage lets go what nobody expires any more, a bounded number at once."""
    ledger.write([make.learnt()])
    ledger.write([(make.added(9, make.heard("late", at=500 * 86_400.0), make.key(make.ben)),)])
    gone = 0
    for _ in range(4):
        gone += ledger.tend(500 * 86_400.0)
    assert gone == 5
    assert [row.number for row in rows(ledger, make)] == [9]


def test_entries_are_kept_as_they_were(ledger, make) -> None:
    """What is on the disk keeps its own labels; only who reads it back distrusts it."""
    ledger.write([(make.added(1, make.heard("x")), make.added(2, make.looked(make.ben, after=1)))])
    entries = [msgspec.msgpack.decode(row.body, type=Heard | Used) for row in rows(ledger, make)]
    assert entries == [make.heard("x"), make.looked(make.ben, after=1)]
