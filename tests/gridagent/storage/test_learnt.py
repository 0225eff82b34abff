"""What is kept without a disk is what a disk would keep."""

from __future__ import annotations

from random import Random

import pytest

from gridagent.conversation.changes import ConversationsDropped, EntriesCompacted
from gridagent.conversation.entries import Summary
from gridagent.conversation.keys import Channel, ThreadKey
from gridagent.limits import FACTS_PER_SCOPE_MAX
from gridagent.memory.recall import RecallQuestion
from gridagent.storage import conversations, facts, learning, learnt
from gridagent.storage.learnt import LearntInMemory
from gridagent.storage.records import Learnt

PEOPLE = [f"0c0c0c0c-0000-4000-8000-{number:012x}" for number in range(6)]
WORDS = ("tea", "plums", "harbour", "tower", "lantern")


def drawn(rng, make, number):
    """Draw one record of any kind."""
    key = make.key(rng.choice(PEOPLE), rng.choice(list(Channel)))
    if rng.random() < 0.1:
        key = ThreadKey(avatar=make.robin, principal="desk", thread=rng.choice(("a", "b")))
    lot = rng.random()
    if lot < 0.4:
        return make.added(number, make.heard(f"line {number}"), key)
    if lot < 0.6:
        return make.added(number, make.looked(rng.choice(PEOPLE), data=f'{{"x":"{rng.choice(PEOPLE)}"}}'), key)
    if lot < 0.8:
        about = rng.choice([None, *PEOPLE])
        return make.fact(f"{rng.choice(WORDS)} {rng.randrange(9)}", key_=key, about=about, told_by=rng.choice(PEOPLE))
    through = max(1, number - rng.randrange(40))
    if lot < 0.9:
        summary = Summary(at=1.0, tainted=True, text=f"sum {number}", covers=1, since=0.0)
        return Learnt(avatar=make.robin, change=EntriesCompacted(key=key, through=through, summary=summary))
    if lot < 0.97:
        scopes = tuple((make.key(person).scope, through) for person in rng.sample(PEOPLE, 2))
        return Learnt(avatar=make.robin, change=ConversationsDropped(avatar=make.robin, through=scopes))
    return make.forgot(rng.choice(PEOPLE))


@pytest.mark.parametrize("seed", range(8))
def test_memory_and_disk_agree(ledger, make, seed) -> None:
    """Spec: MEM-3, MEM-4, MEM-5, MEM-7 — the same changes, the same answers to every question."""
    rng = Random(seed)
    memory = LearntInMemory()
    ask = ledger.read
    for number in range(1, 250):
        record = drawn(rng, make, number)
        assert ledger.write([(record,)]) == [(memory.learn(record.change),)], record
    numbers = ask(lambda connection: conversations.numbers(connection, make.robin))
    on_disk = ask(lambda connection: conversations.entries_of(connection, make.robin, numbers))
    assert memory.entries_of(memory.numbers()) == on_disk
    assert memory.entries_of((10_000,)) == ()
    for person in PEOPLE:
        held = ask(lambda connection, person=person: learning.held_about(connection, make.robin, person))
        assert memory.held_about(person) == held
        for channel in Channel:
            reader = make.reads(make.key(person, channel))
            seen = ask(lambda connection, reader=reader: learning.readable(connection, make.robin, reader))
            assert memory.readable(reader) == seen
            for word in WORDS:
                question = RecallQuestion(reader=reader, words=word, limit=50)
                found = ask(lambda connection, asked=question: facts.recall(connection, make.robin, asked))
                assert set(memory.recall(question)) == set(found)


def test_more_matching_words_come_first(make) -> None:
    """Spec: MEM-4 — without a disk the count of words ranks, then the newest."""
    memory = LearntInMemory()
    for text in ("tea by the tower", "tea house", "a tower"):
        memory.learn(make.fact(text).change)
    question = RecallQuestion(reader=make.reads(make.key()), words="tower tea", limit=2)
    assert [each.text for each in memory.recall(question)] == ["tea by the tower", "a tower"]


def test_facts_are_bounded_without_a_disk_too(make, monkeypatch) -> None:
    """Spec: MEM-4 — the oldest of a conversation goes, then the oldest of all."""
    memory = LearntInMemory()
    for number in range(FACTS_PER_SCOPE_MAX + 1):
        memory.learn(make.fact(f"fact {number}").change)
    assert len(memory.readable(make.reads(make.key())).facts) == FACTS_PER_SCOPE_MAX
    monkeypatch.setattr(learnt, "FACTS_MAX", 2)
    memory.learn(make.fact("the newest", key_=make.key(make.ben)).change)
    assert [each.text for each in memory.readable(make.reads(make.key(make.ben))).facts] == ["the newest"]
    assert len(memory.readable(make.reads(make.key())).facts) == 1
