"""Facts are found by their words, by those who may see them, and by nobody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.authority import TextSource
from gridagent.conversation.keys import Channel, ThreadKey
from gridagent.limits import FACTS_PER_SCOPE_MAX
from gridagent.memory.recall import RecallQuestion
from gridagent.storage import facts


@pytest.fixture
def recall(ledger, make):
    """Ask for facts in a conversation."""

    def ask(words, key=None, limit=10):
        question = RecallQuestion(reader=make.reads(make.key() if key is None else key), words=words, limit=limit)
        return ledger.read(lambda connection: facts.recall(connection, make.robin, question))

    return ask


def test_the_best_fact_comes_first(ledger, make, recall) -> None:
    """Spec: MEM-4 — BM25: a rare word weighs more than a common one, more matches more than fewer."""
    said = ["the tea house is open", "the tea garden is shut", "the lemon tree by the tea house", "the harbour"]
    ledger.write([[make.fact(each) for each in said]])
    assert [each.text for each in recall("lemon tea")][:1] == ["the lemon tree by the tea house"]
    assert {each.text for each in recall("tea")} == set(said[:3])
    assert len(recall("tea", limit=2)) == 2
    assert [each.text for each in recall("lemo")] == [said[2]]
    assert recall("le") == ()


def test_accents_and_case_do_not_matter(ledger, make, recall) -> None:
    """Spec: MEM-4 — people write as they can."""
    ledger.write([[make.fact("Le café est fermé")]])
    assert len(recall("CAFE")) == len(recall("fermé")) == 1


def test_what_was_learnt_in_an_im_is_found_in_that_im_alone(ledger, make, recall) -> None:
    """Spec: MEM-7, MEM-1 — not in public, not in another's IM, not in a thread, not by another avatar."""
    ledger.write(
        [
            [
                make.fact("the canary is yellow", key_=make.key(make.ann)),
                make.fact("the canary is public", key_=make.key(make.ann, Channel.PUBLIC)),
                make.fact("the canary of wren", avatar="wren", key_=make.key(make.ann, avatar="wren")),
            ]
        ]
    )
    assert {each.text for each in recall("canary", make.key(make.ann))} == {
        "the canary is yellow",
        "the canary is public",
    }
    thread = ThreadKey(avatar=make.robin, principal="p", thread="t")
    for other in (make.key(make.ann, Channel.PUBLIC), make.key(make.ben), make.key(make.ann, grid="h"), thread):
        assert [each.text for each in recall("canary", other)] == ["the canary is public"]
        seen = ledger.read(lambda connection, key=other: facts.seen_by(connection, make.robin, make.reads(key)))
        assert [each.text for each in seen] == ["the canary is public"]


def test_a_fact_comes_back_with_everything_it_had(ledger, make, recall) -> None:
    """Spec: MEM-4, POL-5 — source, teller, subject, place, time and taint survive."""
    kept = make.fact(
        "likes plums", source=TextSource.STRANGER, told_by=make.ann, about=make.ben, at=5.0, region="Plaza"
    )
    ledger.write([[kept]])
    (found,) = recall("plums")
    assert found == kept.change.fact
    assert found.tainted


def test_the_same_fact_is_kept_once(ledger, make, recall) -> None:
    """Spec: MEM-4 — told again it is known, and the first teller's label stays."""
    assert ledger.write([[make.fact("likes tea"), make.fact("Likes  TEA", source=TextSource.STRANGER)]]) == [
        (True, False)
    ]
    assert [each.source for each in recall("tea")] == [TextSource.OWNER]


@pytest.mark.parametrize(
    "words",
    ['"', "tea OR", "NEAR(", "text:tea", "*", "^tea", "' OR 1=1 --", "a AND b", "\x00", "\ud800", "(((", "-tea"],
)
def test_no_operator_gets_into_the_search(ledger, make, recall, words) -> None:
    """Spec: MEM-4 — whatever a model writes, it is words; the search neither fails nor obeys."""
    ledger.write([[make.fact("plums, harbour")]])
    assert recall(words) == ()


@given(st.text(max_size=200))
def test_any_words_may_be_looked_for(words) -> None:
    """Spec: MEM-4 — no text breaks the search."""
    import apsw  # noqa: PLC0415 - only here

    from gridagent.memory.facts import Reader  # noqa: PLC0415
    from gridagent.storage.migrations import migrate  # noqa: PLC0415

    connection = apsw.Connection(":memory:")
    migrate(connection, found=0)
    question = RecallQuestion(reader=Reader(scope="im:x@g", private=True), words=words)
    assert facts.recall(connection, "robin", question) == ()
    connection.close()


def test_the_oldest_fact_goes_where_there_are_too_many(ledger, make, recall) -> None:
    """Spec: MEM-4 — one conversation cannot push out what others taught."""
    ledger.write([[make.fact("kept by ben", key_=make.key(make.ben))]])
    for start in range(0, FACTS_PER_SCOPE_MAX + 20, 100):
        ledger.write([[make.fact(f"number{n:05d}") for n in range(start, min(start + 100, FACTS_PER_SCOPE_MAX + 20))]])
    assert recall("number00019") == ()
    assert len(recall("number00020")) == 1
    assert len(recall("kept", make.key(make.ben))) == 1
    seen = ledger.read(lambda connection: facts.seen_by(connection, make.robin, make.reads(make.key())))
    assert len(seen) == FACTS_PER_SCOPE_MAX


def test_there_are_never_more_facts_than_may_be(ledger, make, monkeypatch, recall) -> None:
    """Spec: MEM-4 — over all conversations the oldest goes first."""
    monkeypatch.setattr(facts, "FACTS_MAX", 3)
    people = [f"0c0c0c0c-0000-4000-8000-{number:012x}" for number in range(5)]
    ledger.write([[make.fact("likes tea", key_=make.key(person)) for person in people]])
    assert [len(recall("tea", make.key(person))) for person in people] == [0, 0, 1, 1, 1]


def test_what_is_about_somebody_is_shown_and_forgotten(ledger, make, recall) -> None:
    """Spec: MEM-5 — told by them, about them, naming them, or learnt in an IM with them."""
    public = make.key(make.ben, Channel.PUBLIC)
    ledger.write(
        [
            [
                make.fact("one", key_=public, told_by=make.ann),
                make.fact("two", key_=public, about=make.ann),
                make.fact(f"three {make.ann}", key_=public),
                make.fact("four", key_=make.key(make.ann)),
                make.fact("five", key_=public, told_by=make.ben),
            ]
        ]
    )
    held = ledger.read(lambda connection: facts.about(connection, make.robin, make.ann))
    assert [each.text for each in held] == ["one", "two", f"three {make.ann}", "four"]
    assert all(each.concerns(make.ann) for each in held)
    assert ledger.write([(make.forgot(),)]) == [(True,)]
    assert ledger.read(lambda connection: facts.about(connection, make.robin, make.ann)) == ()
    assert [each.text for each in recall("one two three four five", public)] == ["five"]


def test_facts_older_than_they_are_kept_go(ledger, make, recall) -> None:
    """Spec: BND-16 — retention holds for facts too."""
    ledger.write([[make.fact("old tea", at=0.0), make.fact("new tea", at=3_000 * 86_400.0)]])
    ledger.tend(3_661 * 86_400.0)
    assert [each.text for each in recall("tea")] == ["new tea"]


def test_the_words_of_a_fact_leave_the_search_index_with_it(disk, ledger, make, recall) -> None:
    """Spec: MEM-5 — one fact among many: its words lie on in no segment of the index, and the others are found."""
    public = make.key(make.ben, Channel.PUBLIC)
    for number in range(20):
        ledger.write([[make.fact(f"ordinary {number} {n} words", key_=public, told_by=make.ben) for n in range(10)]])
        if number == 7:
            ledger.write([[make.fact("zebrafinch quicksilver", key_=public, told_by=make.ann)]])
    ledger.write([(make.forgot(),)])
    for name in disk.names("/state"):
        raw = disk.read(f"/state/{name}", max_bytes=1 << 30)
        assert b"zebrafinch" not in raw, name
        assert b"quicksilver" not in raw, name
    assert recall("zebrafinch", public) == ()
    assert len(recall("ordinary", public, limit=50)) == 50
