"""What is kept, and what goes, when events come faster than they are read."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Position
from gridagent.events import (
    AvatarSeen,
    AvatarView,
    BalanceChanged,
    ChatHeard,
    EventsShed,
    GridEvent,
    GroupImSeen,
    ImReceived,
    Kicked,
    ObjectSeen,
    ObjectView,
    Speaker,
    SpeakerKind,
    TeleportAsked,
    TypingSeen,
    UrlShown,
)
from gridagent.grid.buffer import EventBuffer, EventClass, class_of
from gridagent.ids import AvatarId, ObjectId

ME = AvatarId("00000000-0000-4000-8000-000000000001")
BOX = ObjectId("00000000-0000-4000-8000-0000000000b1")


def words(sender: str, text: str = "x", kind: SpeakerKind = SpeakerKind.AVATAR) -> ChatHeard:
    """Return something said."""
    return ChatHeard(utterance_id="u", source=Speaker(kind=kind, id=sender), text=text)


def sight(number: int = 0) -> AvatarSeen:
    """Return an avatar seen."""
    return AvatarSeen(avatar=AvatarView(avatar_id=ME, name=str(number), position=Position(x=1.0, y=1.0)))


def thing(reference: str = "") -> ObjectSeen:
    """Return an object seen."""
    where = Position(x=1.0, y=1.0)
    return ObjectSeen(object=ObjectView(object_id=BOX, name="", owner_id=ME, position=where, reference=reference))


def money(change: int = 1) -> BalanceChanged:
    """Return something that may not be lost."""
    return BalanceChanged(balance=0, change=change)


@pytest.mark.parametrize(
    ("event", "kind", "sender"),
    [
        (sight(), EventClass.CHATTER, ""),
        (TypingSeen(avatar_id=ME, typing=True), EventClass.CHATTER, ""),
        (GroupImSeen(group="Gardeners"), EventClass.CHATTER, ""),
        (thing(), EventClass.CHATTER, ""),
        (thing("r1"), EventClass.KEEP, ""),
        (words("a"), EventClass.WORDS, "a"),
        (words("b", kind=SpeakerKind.OBJECT), EventClass.WORDS, "b"),
        (words("a", kind=SpeakerKind.SELF), EventClass.KEEP, ""),
        (words("a", kind=SpeakerKind.SYSTEM), EventClass.KEEP, ""),
        (
            ImReceived(utterance_id="u", source=Speaker(kind=SpeakerKind.AVATAR, id="c"), text="x"),
            EventClass.WORDS,
            "c",
        ),
        (TeleportAsked(source=Speaker(kind=SpeakerKind.AVATAR, id="d")), EventClass.WORDS, "d"),
        (UrlShown(object_id=BOX, object_name="", url=""), EventClass.WORDS, BOX),
        (Kicked(), EventClass.KEEP, ""),
        (money(), EventClass.KEEP, ""),
    ],
)
def test_each_event_has_a_class(event: GridEvent, kind: EventClass, sender: str) -> None:
    """Evidence, kicks and money are kept; words have a sender; the rest is chatter.

    Spec: BND-1
    """
    assert class_of(event) == (kind, sender)


def test_events_come_out_in_order_and_in_batches() -> None:
    """Nothing is shed while there is room."""
    buffer = EventBuffer(limit=10)
    events = [money(1), words("a"), sight(), money(2)]
    assert all(map(buffer.put, events))
    assert buffer.drain(3) == events[:3]
    assert buffer.drain(3) == events[3:]
    assert (buffer.drain(), len(buffer), buffer.peak, buffer.shed_total) == ([], 0, 4, 0)


def test_the_oldest_chatter_goes_first_whatever_comes() -> None:
    """New chatter, words and evidence each push out the oldest sight."""
    buffer = EventBuffer(limit=3)
    for number in range(3):
        buffer.put(sight(number))
    for event in (sight(3), words("a"), money()):
        assert buffer.put(event)
    assert buffer.drain() == [EventsShed(kind="avatar_seen", count=3), sight(3), words("a"), money()]


def test_chatter_finds_no_room_among_what_is_worth_more() -> None:
    """When only words and evidence wait, new chatter goes itself."""
    buffer = EventBuffer(limit=2)
    for event in (words("a"), money(), sight()):
        assert buffer.put(event)
    assert buffer.drain() == [EventsShed(kind="avatar_seen", count=1), words("a"), money()]


def test_a_flood_sheds_its_own_words_and_a_quiet_person_keeps_theirs() -> None:
    """The one who has most waiting pays for everybody.

    Spec: BND-1
    Fault: 18
    """
    buffer = EventBuffer(limit=10)
    buffer.put(words("quiet", "please"))
    for number in range(100):
        buffer.put(words(f"griefer{number % 3}", str(number)))
    buffer.put(words("late", "me too"))
    texts = [event.text for event in buffer.drain() if isinstance(event, ChatHeard)]
    assert len(texts) == 10
    assert (texts[0], texts[-1]) == ("please", "me too")


def test_a_flood_from_as_many_senders_as_there_is_room_cannot_push_out_the_owner() -> None:
    """Nobody has most waiting then; whoever the avatar heeds keeps what came before, amid and after it all.

    Spec: BND-1
    Fault: 18
    """
    buffer = EventBuffer(limit=10, heeded={"owner"})
    for number in range(100):
        if number in {0, 50, 99}:
            buffer.put(words("owner", str(number)))
        buffer.put(words(f"stranger{number}"))
    heard = [event for event in buffer.drain() if isinstance(event, ChatHeard)]
    assert len(heard) == 10
    assert [event.text for event in heard if event.source.id == "owner"] == ["0", "50", "99"]


def test_heeded_words_make_room_for_evidence_and_for_each_other_only() -> None:
    """They are bounded like all else, and the one of them who has most waiting pays; a stranger finds no room.

    Spec: BND-1
    """
    buffer = EventBuffer(limit=3, heeded={"owner", "friend"})
    for event in (words("owner", "1"), words("owner", "2"), words("friend", "3"), words("stranger"), money()):
        assert buffer.put(event)
    assert buffer.put(words("friend", "4"))
    shed, *waiting = buffer.drain()
    assert shed == EventsShed(kind="chat_heard", count=3)
    assert waiting == [words("owner", "2"), money(), words("friend", "4")]


def test_a_thing_that_shows_an_owners_id_is_not_heeded() -> None:
    """Only an avatar is; a region can give its objects any id.

    Spec: BND-1
    """
    buffer = EventBuffer(limit=2, heeded={"owner"})
    for event in (words("owner", "box", kind=SpeakerKind.OBJECT), words("a"), words("b")):
        buffer.put(event)
    assert buffer.drain()[1:] == [words("a"), words("b")]


def test_shedding_costs_the_same_however_many_senders_wait() -> None:
    """A full buffer that looked at every sender for each event would be the flood's best ally.

    Fault: 18
    """

    def calls(limit: int) -> int:
        buffer, counted = EventBuffer(limit=limit), 0
        for number in range(limit):
            buffer.put(words(str(number)))
        late = words("late")

        def count(_frame: object, event: str, _arg: object) -> None:
            nonlocal counted
            counted += event in {"call", "c_call"}

        before = sys.getprofile()
        sys.setprofile(count)
        buffer.put(late)
        sys.setprofile(before)
        return counted

    assert 0 < calls(10) == calls(1_000)


def test_evidence_pushes_out_words_and_ends_when_there_are_none() -> None:
    """A buffer full of what may not be shed says so, and takes words no more.

    Spec: BND-1
    """
    buffer = EventBuffer(limit=2)
    buffer.put(words("a"))
    assert buffer.put(money(1))
    assert buffer.put(money(2))
    assert buffer.put(words("a"))
    assert not buffer.put(money(3))
    assert buffer.drain() == [EventsShed(kind="chat_heard", count=2), money(1), money(2)]


def test_a_cleared_buffer_is_as_new() -> None:
    """Nothing of the old connection is left."""
    buffer = EventBuffer(limit=2)
    for event in (words("a"), sight()):
        buffer.put(event)
    assert len(buffer) == 2
    buffer.clear()
    for event in (sight(1), words("a"), money()):
        buffer.put(event)
    assert buffer.drain()[1:] == [words("a"), money()]


kinds = st.one_of(
    st.builds(sight, st.integers(0, 9)),
    st.builds(words, st.sampled_from("abcdo")),
    st.builds(money, st.integers(1, 9)),
    st.just(None),
)


@given(st.lists(kinds, max_size=200), st.integers(1, 12))
def test_a_buffer_is_bounded_ordered_and_accounts_for_everything(steps: list[GridEvent | None], limit: int) -> None:
    """Over any mixture of puts and drains: never over the limit, evidence complete and in order, sums right.

    Spec: BND-1
    """
    buffer = EventBuffer(limit=limit, heeded={"o"})
    put: list[GridEvent] = []
    got: list[GridEvent] = []
    for step in steps:
        if step is None:
            got += buffer.drain(5)
        elif buffer.put(step):
            put.append(step)
        assert len(buffer) <= limit
        for piles in (buffer._words, buffer._heeded_words):
            sizes = {sender: len(pile) for sender, pile in piles._piles.items()}
            assert sum(sizes.values()) == piles.total
            assert all(sizes.values())
            assert {sender: size for size, alike in piles._by_size.items() for sender in alike} == sizes
            assert piles._largest == max(sizes.values(), default=0)
    while batch := buffer.drain(5):
        got += batch
    shed = sum(event.count for event in got if isinstance(event, EventsShed))
    events = [event for event in got if not isinstance(event, EventsShed)]
    assert shed == buffer.shed_total == len(put) - len(events)
    kept = [event for event in put if class_of(event)[0] is EventClass.KEEP]
    assert [event for event in events if class_of(event)[0] is EventClass.KEEP] == kept
