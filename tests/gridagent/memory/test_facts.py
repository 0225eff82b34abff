"""Claims about what is remembered, and who may be told."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.authority import TextSource
from gridagent.conversation.keys import Channel, PersonKey, ThreadKey
from gridagent.errors import LimitExceeded
from gridagent.memory.facts import FACT_MAX_CHARACTERS, PUBLIC, Fact, NotKept, Reader, learn
from gridagent.tools.ports import FactView

ANN = "0a0a0a0a-0000-4000-8000-000000000001"
BEN = "0b0b0b0b-0000-4000-8000-000000000002"


def reader(peer=ANN, channel=Channel.IM):
    """Return a conversation as a reader."""
    key = PersonKey(avatar="robin", grid="g", peer=peer, channel=channel)
    return Reader(scope=key.scope, private=key.private)


def learnt(text="Ann likes tea", **changes):
    """Learn something from an owner in an IM, changed as told."""
    given = {"reader": reader(), "source": TextSource.OWNER, "told_by": ANN, "about": None, "tainted": False, "at": 1.0}
    return learn(text, **{**given, **changes})


def test_what_is_learnt_in_private_stays_there():
    """Spec: MEM-7 — only the IM it was learnt in reads it: not another's IM, not public chat with the same person."""
    fact = learnt()
    assert fact.seen_by(reader())
    thread = ThreadKey(avatar="robin", principal="p", thread="t")
    for other in (reader(BEN), reader(ANN, Channel.PUBLIC), Reader(scope=thread.scope, private=thread.private)):
        assert not fact.seen_by(other)


def test_what_is_learnt_in_public_may_be_read_everywhere():
    """Spec: MEM-4 — what everybody could hear is memory of the place."""
    fact = learnt(reader=reader(channel=Channel.PUBLIC))
    assert fact.scope == PUBLIC
    assert all(fact.seen_by(each) for each in (reader(), reader(BEN), reader(BEN, Channel.PUBLIC)))


def test_no_conversation_has_the_public_scope():
    """Spec: MEM-7 — no choice of names makes a private conversation's scope the public one."""
    for grid in ("", "public", "@"):
        key = PersonKey(avatar="robin", grid=grid, peer=ANN, channel=Channel.PUBLIC)
        assert key.scope != PUBLIC
    assert ThreadKey(avatar="robin", principal="public", thread="public").scope != PUBLIC


@pytest.mark.parametrize("source", [each for each in TextSource if each is not TextSource.OBJECT])
def test_a_fact_keeps_label_and_taint(source):
    """Spec: POL-5, MEM-4 — whoever isn't authorised taints what is learnt from them, and so does a tainted turn."""
    fact = learnt(source=source)
    assert fact.source is source
    assert fact.tainted is (source not in {TextSource.OWNER, TextSource.AUTHORISED})
    assert learnt(source=source, tainted=True).tainted


def test_objects_teach_nothing():
    """Spec: POL-4 — what a script says may never cause anything, also not by way of memory."""
    assert learnt(source=TextSource.OBJECT) is NotKept.NOT_A_PERSON


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", NotKept.NOTHING),
        (" \u200b\n", NotKept.NOTHING),
        ("x" * 513, NotKept.TOO_LONG),
        ("x" * 9_999, NotKept.TOO_LONG),
    ],
)
def test_what_says_nothing_or_too_much_is_not_kept(text, why):
    """Spec: MEM-4 — a fact is one line of a bounded length."""
    assert learnt(text) is why


@given(st.text(max_size=600))
def test_a_fact_is_one_visible_line(text):
    """Nothing that is remembered can pretend to be more than one line."""
    fact = learnt(text)
    if isinstance(fact, Fact):
        assert fact.text.isprintable()
        assert 0 < len(fact.text) <= FACT_MAX_CHARACTERS
        assert learnt(fact.text) == fact


def test_the_same_words_are_one_fact():
    """Spec: MEM-4 — told again in other case or spacing it is the same, unless it is about another or elsewhere."""
    assert learnt("Ann  likes TEA").fact_id == learnt("ann likes tea").fact_id
    assert learnt(about=BEN).fact_id != learnt().fact_id
    assert learnt(reader=reader(BEN)).fact_id != learnt().fact_id
    assert learnt(told_by=BEN, at=9.0, source=TextSource.STRANGER).fact_id == learnt().fact_id


def test_a_fact_goes_with_whoever_told_it_or_is_in_it():
    """Spec: MEM-5 — told by, about, naming the UUID, or learnt in an IM with them."""
    assert learnt().concerns(ANN)
    assert not learnt().concerns(BEN)
    assert learnt(about=BEN).concerns(BEN)
    assert learnt(f"{BEN} owns the stand").concerns(BEN)
    assert learnt(told_by=None, reader=reader(BEN)).concerns(BEN)


def test_a_fact_fits_where_it_is_shown():
    """What a tool shows of a fact has room for every fact, and more cannot be built."""
    fact = learnt("x" * FACT_MAX_CHARACTERS)
    assert FactView(text=fact.text, source=fact.source.value, about=fact.about, days_ago=0.0)
    with pytest.raises(LimitExceeded):
        msgspec.structs.replace(fact, text="x" * (FACT_MAX_CHARACTERS + 1))
