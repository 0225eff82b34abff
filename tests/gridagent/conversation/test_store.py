"""Claims about every conversation of one avatar."""

import random
import re

import msgspec
import pytest

from gridagent.authority import TextSource
from gridagent.conversation.changes import (
    DROPS_PER_CHANGE_MAX,
    ConversationsDropped,
    EntriesCompacted,
    EntryAdded,
    PersonForgotten,
    StoredEntry,
)
from gridagent.conversation.entries import Finding, Heard, Said, Summary, Used, text_bytes
from gridagent.conversation.keys import Channel, PersonKey, ThreadKey
from gridagent.conversation.settings import ConversationSettings
from gridagent.conversation.store import ConversationStore
from gridagent.errors import InternalError

ANN = "0a0a0a0a-0000-4000-8000-000000000001"
BEN = "0b0b0b0b-0000-4000-8000-000000000002"
KIB = 1024


def person(number):
    """Return a UUID of one of many people."""
    return f"0c0c0c0c-0000-4000-8000-{number:012x}"


def key(peer=ANN, channel=Channel.IM, grid="g"):
    """Return a key of ours."""
    return PersonKey(avatar="robin", grid=grid, peer=peer, channel=channel)


def heard(text, peer=ANN, at=0.0, source=TextSource.STRANGER):
    """Return something heard."""
    return Heard(at=at, tainted=True, who="Ann", avatar_id=peer, source=source, text=text)


def said(text, at=0.0):
    """Return something we answered."""
    return Said(at=at, tainted=False, text=text)


def used(*subjects, data=b"{}", at=0.0):
    """Return evidence about somebody."""
    finding = Finding(tool="look", arguments=b"{}", data=data, subjects=subjects, tainted=False)
    return Used(at=at, tainted=False, evidence=(finding,))


class Shelf:
    """Keeps what changes say in the plainest way there is; stands for storage."""

    def __init__(self):
        self.rows = {}  # scope → number → (key, entry)

    def take(self, changes):
        """Apply changes, twice each: that must make no difference."""
        for change in changes:
            for _ in range(2):
                self._apply(change)

    def _apply(self, change):
        match change:
            case EntryAdded():
                self.rows.setdefault(change.key.scope, {})[change.number] = (change.key, change.entry)
            case EntriesCompacted():
                self._drop(change.key.scope, change.through)
                self.rows.setdefault(change.key.scope, {})[change.through] = (change.key, change.summary)
            case ConversationsDropped():
                for scope, through in change.through:
                    self._drop(scope, through)
            case PersonForgotten():
                for number, (owner, entry) in self.all():
                    mine = isinstance(owner, PersonKey) and owner.peer == change.person
                    if mine or (isinstance(entry, Used) and entry.concerns(change.person)):
                        self.remove(owner.scope, number)

    def _drop(self, scope, through):
        for number in [each for each in self.rows.get(scope, ()) if each <= through]:
            self.remove(scope, number)

    def remove(self, scope, number):
        """Lose one row."""
        del self.rows[scope][number]
        if not self.rows[scope]:
            del self.rows[scope]

    def all(self):
        """Return all rows as storage hands them back: conversation after conversation."""
        order = sorted(self.rows.values(), key=max)
        return [(number, rows[number]) for rows in order for number in sorted(rows)]

    def page(self):
        """Return all rows as bytes."""
        return [
            StoredEntry(number=number, key=msgspec.json.encode(owner), body=msgspec.msgpack.encode(entry))
            for number, (owner, entry) in self.all()
        ]

    def entries(self):
        """Return all entries."""
        return [entry for _, (_, entry) in self.all()]


def packed(*fields):
    """Return fields as a stored entry has them."""
    return msgspec.msgpack.encode(fields)


def texts_of(entries):
    """Return the texts of a projection."""
    return [each.text for each in entries if not isinstance(each, Used)]


# --- apart from each other --------------------------------------------------------------------------


def test_a_projection_is_one_exact_key():
    """Spec: MEM-1 — the same person in public, in IM and on another grid are three conversations."""
    store = ConversationStore("robin")
    keys = [
        key(),
        key(channel=Channel.PUBLIC),
        key(grid="h"),
        key(BEN),
        ThreadKey(avatar="robin", principal="p", thread="t"),
    ]
    for number, each in enumerate(keys):
        store.hear(each, heard(f"canary {number}", getattr(each, "peer", None)), 0.0)
    for number, each in enumerate(keys):
        assert texts_of(store.project(each, 0.0)) == [f"canary {number}"]
    assert store.project(key(person(9)), 0.0) == ()


def test_words_of_one_person_never_get_into_the_conversation_of_another():
    """Spec: MEM-1 — whoever mixes them up has a bug, and it shows at once."""
    store = ConversationStore("robin")
    with pytest.raises(InternalError, match="another"):
        store.hear(key(ANN), heard("x", BEN), 0.0)
    with pytest.raises(InternalError, match="another"):
        store.hear(ThreadKey(avatar="robin", principal="p", thread="t"), heard("x", ANN), 0.0)
    with pytest.raises(InternalError, match="avatar"):
        store.hear(PersonKey(avatar="wren", grid="g", peer=ANN, channel=Channel.IM), heard("x"), 0.0)
    assert len(store) == 0


@pytest.mark.timeout(60)
def test_a_thousand_conversations_stay_apart_through_restarts_and_compactions():
    """Spec: MEM-1, MEM-7 — each key has canaries of its own; none ever shows in another key's projection."""
    rng = random.Random(4)
    settings = ConversationSettings(
        one_entries_max=8, keep_entries=2, ready_max=64, text_max_bytes=512 * KIB, one_text_max_bytes=16 * KIB
    )
    store, shelf = ConversationStore("robin", settings), Shelf()
    keys = [key(person(number // 2), Channel.IM if number % 2 else Channel.PUBLIC) for number in range(998)]
    keys += [ThreadKey(avatar="robin", principal=f"p{number}", thread="t") for number in range(2)]
    canary = {each: f"canary-{number:04d}" for number, each in enumerate(keys)}
    compactions = 0
    for step in range(12_000):
        each = rng.choice(keys)
        words = f"{canary[each]} {'x' * rng.randrange(120)}"
        if rng.random() < 0.7:
            shelf.take(store.hear(each, heard(words, getattr(each, "peer", None), at=float(step)), float(step)))
        else:
            shelf.take(store.say(each, said(words, at=float(step)), float(step)))
            shelf.take(store.use(each, used(data=canary[each].encode(), at=float(step)), float(step)))
        if step % 4_000 == 3_999:
            compactions += store.counts.compactions
            store = ConversationStore("robin", settings)
            shelf.take(store.restore(shelf.page(), now=0.0, wall=float(step)))
            assert store.counts.malformed == store.counts.orphans == 0
    seen = summaries = 0
    for each in keys:
        entries = store.project(each, 12_000.0)
        found = set(re.findall(r"canary-\d{4}", repr(entries)))
        assert found <= {canary[each]}
        seen += bool(found)
        summaries += any(isinstance(entry, Summary) for entry in entries)
    assert seen > 900, "most conversations are there to be mixed up"
    assert summaries > 500
    assert compactions > 1_000


# --- room -------------------------------------------------------------------------------------------


def test_a_long_conversation_is_compacted_and_keeps_its_latest_lines():
    """Spec: MEM-2, BND-9 — the older part becomes one summary, smaller than it was, and storage is told the same."""
    store, shelf = ConversationStore("robin", ConversationSettings(one_entries_max=8, keep_entries=3)), Shelf()
    for number in range(9):
        shelf.take(store.hear(key(), heard(f"line {number} {'x' * 50}", at=float(number)), float(number)))
    entries = store.project(key(), 9.0)
    assert isinstance(entries[0], Summary)
    assert entries[0].covers == 6
    assert [each.text[:6] for each in entries[1:]] == ["line 6", "line 7", "line 8"]
    assert store.counts.compactions == 1
    again = ConversationStore("robin")
    again.restore(shelf.page(), now=0.0, wall=9.0)
    assert texts_of(again.project(key(), 0.0)) == texts_of(entries)


def test_a_conversation_keeps_more_of_its_end_while_there_is_room():
    """Spec: MEM-2 — its own limit leaves the latest 24 entries; a full store leaves the latest 8."""
    settings = ConversationSettings(text_max_bytes=64 * KIB, one_text_max_bytes=64 * KIB)
    store = ConversationStore("robin", settings)
    for number in range(129):
        store.hear(key(), heard(f"{number} {'x' * 100}"), 0.0)
    assert len(store.project(key(), 0.0)) == 1 + 24
    while store.size < 58 * KIB:
        store.hear(key(BEN), heard("y" * 900, BEN), 0.0)
    while store.tend(0.0).more:
        pass
    assert len(store.project(key(), 0.0)) == 1 + 8
    assert store.project(key(), 0.0)[0].covers == 121


def test_evidence_goes_with_what_it_belongs_to():
    """Spec: MEM-3 — compaction never leaves evidence whose answer is gone."""
    store = ConversationStore("robin", ConversationSettings(one_entries_max=8, keep_entries=4))
    for _ in range(4):
        store.say(key(), said("x" * 60), 0.0)
        store.use(key(), used(data=b"y" * 60), 0.0)
    store.say(key(), said("the last"), 0.0)
    kinds = [type(each) for each in store.project(key(), 0.0)]
    assert kinds[0] is Summary
    assert kinds[1] is Said
    assert kinds.count(Used) < kinds.count(Said)


def test_what_cannot_shrink_goes_and_is_counted():
    """Spec: MEM-2 — a compaction that would save nothing fails typed; the oldest entries go, and it does not loop."""
    store, shelf = ConversationStore("robin", ConversationSettings(one_entries_max=8, keep_entries=2)), Shelf()
    for number in range(9):
        shelf.take(store.say(key(), said(str(number)), 0.0))
    assert texts_of(store.project(key(), 0.0)) == ["7", "8"]
    assert store.counts.unshrinkable == 1
    assert texts_of(shelf.entries()) == ["7", "8"]


def test_one_entry_leaves_room_for_the_others():
    """Spec: BND-9 — an over-long entry is cut to a quarter of its conversation, evidence to its latest findings."""
    settings = ConversationSettings(one_text_max_bytes=8 * KIB, text_max_bytes=8 * KIB)
    store = ConversationStore("robin", settings)
    store.hear(key(), heard("\N{SNOWMAN}" * 4_000), 0.0)
    first = store.project(key(), 0.0)[0]
    assert text_bytes(first) <= 2 * KIB
    assert first.text.endswith("…")
    findings = tuple(
        Finding(tool="look", arguments=b"{}", data=str(number).encode() * 900, tainted=False) for number in range(4)
    )
    store.use(key(), Used(at=0.0, tainted=False, evidence=findings), 0.0)
    kept = store.project(key(), 0.0)[-1]
    assert [each.data[:1] for each in kept.evidence] == [b"2", b"3"]
    assert store.counts.clipped == 2


def test_however_much_is_said_all_bounds_hold():
    """Spec: BND-9 — conversations, their text and the text of all are never over their ceilings, nor is storage."""
    rng = random.Random(7)
    settings = ConversationSettings(
        conversations_max=40,
        text_max_bytes=256 * KIB,
        one_text_max_bytes=16 * KIB,
        one_entries_max=16,
        keep_entries=4,
        ready_max=5,
    )
    store, shelf = ConversationStore("robin", settings), Shelf()
    now = 0.0
    for step in range(4_000):
        now += rng.random() * 100
        each = key(person(min(rng.randrange(80), rng.randrange(80), rng.randrange(80))))
        shelf.take(store.hear(each, heard("x" * rng.randrange(3_000), each.peer), now))
        if step % 3 == 0:
            shelf.take(store.use(each, used(data=b"y" * rng.randrange(3_000)), now))
        if step % 7 == 0:
            shelf.take(store.tend(now).changes)
        assert len(store) <= 40
        assert store.size <= 256 * KIB
    assert len(shelf.rows) == len(store)
    assert sum(map(text_bytes, shelf.entries())) == store.size
    counts = store.counts
    assert min(counts.compactions, counts.evicted) > 50
    for each in (key(person(number)) for number in range(80)):
        written = tuple(entry for _, (_, entry) in sorted(shelf.rows.get(each.scope, {}).items()))
        assert store.project(each, now) == written


def test_room_is_made_by_expiry_then_compaction_then_eviction():
    """Spec: BND-9 — what nobody needs any more goes before anything is shortened, and that before anything is lost."""
    settings = ConversationSettings(
        text_max_bytes=16 * KIB, one_text_max_bytes=16 * KIB, one_entries_max=64, keep_entries=2, expire_after_s=60.0
    )
    store = ConversationStore("robin", settings)
    store.hear(key(person(1)), heard("a" * 3_000, person(1)), 0.0)
    for _ in range(4):
        store.hear(key(person(2)), heard("b" * 2_000, person(2)), 50.0)
    for _ in range(2):
        store.hear(key(person(3)), heard("c" * 3_000, person(3)), 70.0)
    assert (store.counts.expired, store.counts.compactions, store.counts.evicted) == (1, 0, 0)
    store.hear(key(person(4)), heard("d" * 3_000, person(4)), 71.0)
    assert (store.counts.expired, store.counts.compactions, store.counts.evicted) == (1, 1, 0)
    store.hear(key(person(5)), heard("e" * 4_000, person(5)), 72.0)
    store.hear(key(person(6)), heard("f" * 4_000, person(6)), 73.0)
    assert (store.counts.expired, store.counts.compactions) == (1, 1)
    assert store.counts.evicted >= 1
    assert store.project(key(person(2)), 73.0) == ()


def test_many_small_conversations_that_make_room_are_few_changes():
    """Spec: BND-9 — however many go at once, storage is told in a bounded number of changes."""
    settings = ConversationSettings(text_max_bytes=8 * KIB, one_text_max_bytes=8 * KIB)
    store = ConversationStore("robin", settings)
    for number in range(1_000):
        store.say(key(person(number)), said("12345"), 0.0)
    changes = ()
    for _ in range(2):
        changes += store.hear(key(BEN), heard("x" * 2_000, BEN), 0.0)
    dropped = [each for each in changes if isinstance(each, ConversationsDropped)]
    assert sum(len(each.through) for each in dropped) > 100
    assert len(dropped) <= 1 + 1_000 // DROPS_PER_CHANGE_MAX
    assert store.size <= 8 * KIB


def test_the_only_conversation_stays_when_there_is_room_for_one():
    """A person is not forgotten while speaking, however small the room."""
    store = ConversationStore("robin", ConversationSettings(conversations_max=1))
    store.hear(key(ANN), heard("one"), 0.0)
    store.hear(key(BEN), heard("two", BEN), 0.0)
    assert store.project(key(ANN), 0.0) == ()
    assert texts_of(store.project(key(BEN), 0.0)) == ["two"]
    assert store.counts.evicted == 1


def test_each_step_of_compacting_a_full_store_is_one_conversation():
    """Spec: BND-9 — ahead of need the store is compacted one conversation at a time, until it has room again."""
    settings = ConversationSettings(text_max_bytes=256 * KIB, one_text_max_bytes=16 * KIB, one_entries_max=64)
    store = ConversationStore("robin", settings)
    number = 0
    while store.size < 240 * KIB:
        store.hear(key(person(number % 20)), heard("x" * 400, person(number % 20)), 0.0)
        number += 1
    assert store.due() == 0.0
    before, steps = store.counts.compactions, 0
    while True:
        step = store.tend(1.0)
        steps += 1
        assert store.counts.compactions - before == steps
        assert len(step.changes) == 1
        if not step.more:
            break
    assert store.size <= 224 * KIB
    assert store.due() == settings.expire_after_s
    assert store.tend(1.0).changes == ()


# --- time -------------------------------------------------------------------------------------------


def test_a_conversation_expires_on_the_monotonic_clock():
    """Spec: MEM-2 — what has not been used for so long is neither shown, nor gone on with, nor kept."""
    settings = ConversationSettings(expire_after_s=60.0)
    store, shelf = ConversationStore("robin", settings), Shelf()
    assert store.due() is None
    shelf.take(store.hear(key(ANN), heard("one", at=1e9), 0.0))
    shelf.take(store.hear(key(BEN), heard("two", BEN, at=0.0), 30.0))
    assert store.due() == 60.0
    assert store.tend(59.0).changes == ()
    assert store.project(key(ANN), 60.0) == ()
    shelf.take(store.tend(60.0).changes)
    assert texts_of(shelf.entries()) == ["two"]
    shelf.take(store.hear(key(BEN), heard("three", BEN), 90.0))
    assert texts_of(store.project(key(BEN), 90.0)) == ["three"]
    assert texts_of(shelf.entries()) == ["three"]
    assert store.counts.expired == 2


def test_one_step_lets_a_bounded_number_expire():
    """Many conversations that expire together go in steps."""
    store = ConversationStore("robin", ConversationSettings(expire_after_s=60.0))
    for number in range(DROPS_PER_CHANGE_MAX + 1):
        store.say(key(person(number)), said("x"), 0.0)
    first = store.tend(60.0)
    assert len(first.changes[0].through) == DROPS_PER_CHANGE_MAX
    assert first.more
    assert len(store.tend(60.0).changes[0].through) == 1
    assert len(store) == 0


# --- starting again ---------------------------------------------------------------------------------


def kept(*steps):
    """Return a shelf with what some verbs led to."""
    store, shelf = ConversationStore("robin"), Shelf()
    for verb, *arguments in steps:
        shelf.take(getattr(store, verb)(*arguments, 0.0))
    return shelf


def test_restored_text_is_untrusted():
    """Spec: MEM-3, MND-4 — after a restart an owner's words are text from memory, tainted, and nothing more."""
    shelf = kept(
        ("hear", key(), heard("x", source=TextSource.OWNER)), ("say", key(), said("y")), ("use", key(), used())
    )
    store = ConversationStore("robin")
    assert store.restore(shelf.page(), now=5.0, wall=0.0) == ()
    entries = store.project(key(), 5.0)
    assert len(entries) == store.counts.restored == 3
    assert all(each.tainted and each.restored for each in entries)
    assert entries[0].source is TextSource.MEMORY


def test_malformed_rows_are_dropped_and_counted():
    """Spec: MEM-3 — whatever stands in a row, the others are restored and the avatar starts."""
    shelf = kept(("hear", key(), heard("good")))
    good = shelf.page()[0]
    wren = msgspec.json.encode(PersonKey(avatar="wren", grid="g", peer=ANN, channel=Channel.IM))
    rows = [
        good,
        StoredEntry(number=2, key=good.key, body=b"not a list"),
        StoredEntry(number=3, key=good.key, body=b"\x9a\xa5heard"),
        StoredEntry(number=4, key=b'{"key":"group"}', body=good.body),
        StoredEntry(number=5, key=good.key, body=packed("heard", 0.0, True, False, "A", None, "god", "x", "")),
        StoredEntry(number=6, key=good.key, body=packed("heard", 0.0, True, False, "A", None, "owner", "x", "", 1)),
        StoredEntry(number=7, key=wren, body=good.body),
        StoredEntry(number=1, key=good.key, body=good.body),
        StoredEntry(number=8, key=good.key, body=b"\x91" * 100_000),
        StoredEntry(number=9, key=good.key, body=packed("said", 0.0, True, False, "x" * 300_000, "")),
        StoredEntry(number=10, key=good.key, body=b"\x96\xa4said\xca\x00\x00\x00\x00\xc3\xc2\xa2\xff\xfe\xa0"),
    ]
    store = ConversationStore("robin")
    store.restore(rows, now=0.0, wall=0.0)
    assert texts_of(store.project(key(), 0.0)) == ["good"]
    assert store.counts.malformed == len(rows) - 1
    (added,) = store.hear(key(), heard("next"), 0.0)
    assert added.number == 11, "no number is ever used twice"


def test_evidence_without_its_answer_is_dropped():
    """Spec: MEM-3 — conversation first, then evidence: evidence whose entry is not there is an orphan."""
    shelf = kept(("hear", key(), heard("x")), ("say", key(), said("y")), ("use", key(), used()))
    shelf.remove(key().scope, 2)
    store = ConversationStore("robin")
    store.restore(shelf.page(), now=0.0, wall=0.0)
    assert texts_of(store.project(key(), 0.0)) == ["x"]
    assert store.counts.orphans == 1
    assert store.use(key(BEN), used(), 0.0) == ()
    assert store.counts.orphans == 2


def test_how_long_ago_something_was_said_outlives_a_restart():
    """Spec: MEM-2 — across a restart the wall clock tells the age, and one set back makes nothing younger than now."""
    shelf = kept(("hear", key(ANN), heard("old", at=0.0)), ("hear", key(BEN), heard("future", BEN, at=5_000.0)))
    store = ConversationStore("robin", ConversationSettings(expire_after_s=100.0))
    store.restore(shelf.page(), now=1_000.0, wall=150.0)
    assert store.project(key(ANN), 1_000.0) == ()
    assert texts_of(store.project(key(BEN), 1_000.0)) == ["future"]
    assert store.project(key(BEN), 1_100.0) == ()


def test_less_room_than_before_a_restart_holds_as_well():
    """Spec: BND-9 — lowered bounds hold from the start, and storage is told what had to go."""
    shelf = kept(*(("hear", key(person(n)), heard("x" * 900, person(n))) for n in range(30)))
    store = ConversationStore("robin", ConversationSettings(text_max_bytes=8 * KIB, one_text_max_bytes=8 * KIB))
    shelf.take(store.restore(shelf.page(), now=0.0, wall=0.0))
    assert store.size <= 8 * KIB
    assert len(shelf.rows) == len(store) < 30


# --- people -----------------------------------------------------------------------------------------


def test_forgetting_removes_a_person_from_everywhere():
    """Spec: MEM-5 — conversations on every channel and grid, and evidence about the person in those of others."""
    store, shelf = ConversationStore("robin", ConversationSettings(ready_max=4)), Shelf()
    for channel in Channel:
        for grid in ("g", "h"):
            shelf.take(store.hear(key(ANN, channel, grid), heard("canary"), 0.0))
    others = [key(person(number)) for number in range(20)]
    for each in others:
        shelf.take(store.hear(each, heard("hello", each.peer), 0.0))
        shelf.take(store.use(each, used(ANN, data=b"canary"), 0.0))
        shelf.take(store.use(each, used(BEN, data=b"other"), 0.0))
    assert len(store.export(ANN)) == 4
    changes = store.forget(ANN)
    assert changes == (PersonForgotten(avatar="robin", person=ANN),)
    shelf.take(changes)
    assert store.export(ANN) == ()
    for each in others:
        assert [type(entry) for entry in store.project(each, 0.0)] == [Heard, Used], "gone from sight at once"
    assert store.due() == 0.0
    store.say(others[0], said("bye"), 0.0)
    store.forget(others[3].peer)
    steps = 0
    while store.tend(0.0).more:
        steps += 1
    assert 2 <= steps <= 8
    assert "canary" not in repr([store.project(each, 0.0) for each in others])
    assert store.size == sum(text_bytes(entry) for each in others for entry in store.project(each, 0.0))
    assert "canary" not in repr(shelf.rows)


def test_what_forgetting_made_short_is_not_compacted_any_more():
    """A conversation that lost its evidence may have nothing left that compaction could shorten."""
    settings = ConversationSettings(
        text_max_bytes=16 * KIB, one_text_max_bytes=16 * KIB, one_entries_max=64, keep_entries=2
    )
    store = ConversationStore("robin", settings)
    store.hear(key(BEN), heard("x" * 4_000, BEN), 0.0)
    store.hear(key(person(1)), heard("x" * 4_000, person(1)), 0.0)
    store.hear(key(person(2)), heard("x" * 4_000, person(2)), 0.0)
    store.use(key(BEN), used(ANN, data=b"y" * 50), 0.0)
    store.use(key(BEN), used(ANN, data=b"y" * 50), 0.0)
    store.forget(ANN)
    store.hear(key(person(3)), heard("x" * 2_800, person(3)), 0.0)
    assert store.counts.compactions == 0
    while store.tend(0.0).more:
        pass
    assert store.counts.compactions == 0
    assert texts_of(store.project(key(BEN), 0.0)) == ["x" * 4_000]


def test_forgetting_many_people_is_bounded():
    """However many are forgotten one after the other, what is still to be done does not grow."""
    store = ConversationStore("robin")
    for number in range(70):
        store.hear(key(person(number)), heard("x", person(number)), 0.0)
        store.use(key(person(number)), used(person(number + 1)), 0.0)
    for number in range(70):
        store.forget(person(number))
    while store.tend(0.0).more:
        pass
    assert len(store) == store.size == 0


def test_forgetting_somebody_unknown_still_tells_storage():
    """Storage may hold more than memory does, so it is told in any case."""
    store = ConversationStore("robin")
    assert store.forget(ANN) == (PersonForgotten(avatar="robin", person=ANN),)
    assert store.due() is None
