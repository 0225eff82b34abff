"""Claims about what one turn can look at."""

import pytest

from gridagent.actions import Position
from gridagent.authority import TextSource
from gridagent.conversation.entries import Heard, Said, Used
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.events import ParcelView
from gridagent.memory.facts import PUBLIC
from gridagent.thinking.sight import ALWAYS, Sight
from gridagent.thinking.words import AskGrid, AskMemory, AskSql, KeepFact
from gridagent.tools.envelope import Answered, Broke
from gridagent.tools.look import (
    LOOK,
    CheckBalance,
    FindRegion,
    GetTime,
    ListGoals,
    LookAround,
    LookAtParcel,
    QueryMemory,
    ReadConversation,
    RecallMemory,
    Remember,
    SearchInventory,
)

ME = "00000000-0000-4000-8000-0000000000ee"
ANN = "00000000-0000-4000-8000-0000000000b1"
WALL = 1e9


class Around:
    """A place with nobody in it."""

    self_id, name, region, position = ME, "Robin Resident", "Plaza", Position(x=1.0, y=1.0)
    posture, balance = None, 7

    def avatars(self):
        return ()

    def objects(self):
        return ()


def said(text, *, mine=False, tainted=False, at=WALL - 10):
    """Build a line of a conversation."""
    if mine:
        return Said(text=text, at=at, tainted=tainted)
    return Heard(who="Ann\u202e", avatar_id=ANN, source=TextSource.STRANGER, text=text, at=at, tainted=tainted)


def sight(*entries, channel=Channel.IM, source=TextSource.OWNER, parcel=None):
    """Build what a turn in one conversation sees."""
    return Sight(
        around=Around(),
        parcel=lambda: parcel,
        key=PersonKey(avatar="robin", grid="g", peer=ANN, channel=channel),
        read=lambda: entries,
        source=source,
        told_by=ANN,
    )


def ask(query, of=None, *, tainted=False):
    """Ask."""
    return (of or sight()).ask(query, WALL, tainted=tainted)


def test_what_the_session_knows_is_answered_at_once():
    """Spec: MND-13 — surroundings, balance, time and parcel need nobody else; an unknown parcel is not found."""
    assert ask(LookAround()).answer.region == "Plaza"
    assert ask(CheckBalance()).answer.balance == 7
    assert ask(GetTime()).answer.utc == "2001-09-09T01:46:40Z"
    assert ask(LookAtParcel()) == Answered(answer=None)
    parcel = ParcelView(parcel_id=ANN, name="Square", owner_id=ANN)
    assert ask(LookAtParcel(), sight(parcel=parcel)).answer.parcel is parcel


def test_the_latest_lines_are_read_with_who_and_when():
    """Spec: MND-13, POL-5 — both sides, clean names, how long ago; taint comes along; evidence is no line."""
    entries = (
        said("one"),
        said("two", mine=True),
        Used(at=WALL, tainted=False, evidence=()),
        said("three", tainted=True),
    )
    found = ask(ReadConversation(limit=2), sight(*entries))
    assert [(line.who, line.text, line.seconds_ago) for line in found.answer.lines] == [
        ("Robin Resident", "two", 10.0), ("Ann", "three", 10.0),
    ]  # fmt: skip
    assert (found.answer.more, found.tainted) == (1, True)
    assert not ask(ReadConversation(limit=5), sight(said("later", at=WALL + 50))).tainted
    assert ask(ReadConversation(limit=5), sight(said("later", at=WALL + 50))).answer.lines[0].seconds_ago == 0.0


def test_what_has_to_be_asked_elsewhere_says_so_for_this_conversation_alone():
    """Spec: MEM-7 — the map, the inventory and memory are errands; memory's reader is the turn's own conversation."""
    assert isinstance(ask(FindRegion(region="X")), AskGrid)
    assert isinstance(ask(SearchInventory()), AskGrid)
    private, public = (
        ask(RecallMemory(words="cake"), sight(channel=channel)) for channel in (Channel.IM, Channel.PUBLIC)
    )
    assert isinstance(private, AskMemory)
    assert private.question.reader.sees == (PUBLIC, f"im:{ANN}@g")
    assert public.question.reader.sees == (PUBLIC,)
    counted = ask(QueryMemory(sql="SELECT 1"), sight(channel=Channel.IM))
    assert counted == AskSql(private.question.reader, "SELECT 1")


@pytest.mark.parametrize(
    ("channel", "source", "tainted", "scope", "kept"),
    [
        (Channel.IM, TextSource.OWNER, False, f"im:{ANN}@g", False),
        (Channel.PUBLIC, TextSource.OWNER, False, PUBLIC, False),
        (Channel.PUBLIC, TextSource.STRANGER, False, PUBLIC, True),
        (Channel.PUBLIC, TextSource.OWNER, True, PUBLIC, True),
    ],
)
def test_a_fact_keeps_where_it_came_from(channel, source, tainted, scope, kept):
    """Spec: MEM-4, MEM-7 — scope, source and taint follow from the conversation and the turn, never from the model."""
    found = ask(Remember(text="Ann likes cake", about=ANN), sight(channel=channel, source=source), tainted=tainted)
    assert isinstance(found, KeepFact)
    assert (found.fact.scope, found.fact.source, found.fact.tainted) == (scope, source, kept)
    assert (found.fact.told_by, found.fact.about, found.fact.region) == (ANN, ANN, "Plaza")


def test_what_cannot_be_kept_or_answered_is_no_success():
    """Spec: MND-7 — an empty fact is not kept, and a port that nobody has is a broken call."""
    assert ask(Remember(text="\u200b")) == Answered(answer=None)
    assert ask(ListGoals()) == Broke()


def test_every_looking_tool_has_an_answer_or_a_port_of_its_own():
    """Spec: MND-13 — nothing in the catalogue of looks is forgotten here."""
    ports = {native.tool.port for native in LOOK}
    assert ports - ALWAYS <= {"map", "inventory", "memory", "sql", "goals"}
