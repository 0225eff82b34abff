"""Questions about now: which there are, which only sound like it, and what is no answer."""
# ruff: noqa: E501 - a table is read by row

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.tools.catalogue import CATALOGUE
from gridagent.turn.clauses import sentences_of
from gridagent.turn.questions import LOOKS, Topic, asserts, near_claimed, topics_in

ASKED = {
    Topic.WHO: ["Who is here?", "who's around?", "Is anybody else here?", "How many people are here right now?", "Are we alone?", "Is Anna here?", "is Anna Resident nearby", "Who can you see?", "where is everybody?", "hey ruth, who else is near you?", "Is there anyone around?", "Hello! Who is here?", "who's that over there?", "is anyone there?", "WHO IS HERE", "ｗｈｏ is here?"],
    Topic.WHAT: ["What do you see?", "what's around here?", "Is there a bench here?", "What is that thing?", "how much does this cost?"],
    Topic.PLACE: ["Where are we?", "where am I?", "Which region is this?", "What's your position?", "where are you right now?"],
    Topic.LAND: ["Who owns this land?", "can I build here?"],
    Topic.MONEY: ["How much money do you have?", "What is your balance?", "how many lindens have you got?", "whats your balance", "your balance please", "how rich are you?"],
    Topic.ITEMS: ["What is in your inventory?", "do you have a red hat in your inventory?"],
    Topic.REGION: ["Is the region Sandbox region online?"],
    Topic.TIME: ["What time is it?", "what's the time", "do you have the time?", "what day is it?"],
}  # fmt: skip

NOT_NOW = """How are you?
Who are you?
Where are you from?
Was anyone here yesterday?
Who was here?
What time do you open?
Who is the president?
Do you have a favourite colour?
What can you do?
I was here last week
Is it fun here?
Is everything fine around here?
Where are you going?
What do you think?
Is this your first time here?
are you a bot?
Tell me a joke
who made you?
What is your name?
is there a meaning of life?
Are you there?
I paid you
Is it OK to dance here?
What is this about?
how much does a house cost usually
What is love?
will anyone be here tomorrow?
who usually comes here?""".splitlines()


@pytest.mark.parametrize(("topic", "text"), [(topic, text) for topic, texts in ASKED.items() for text in texts])
def test_a_question_about_now_is_found(topic: Topic, text: str) -> None:
    """What changes has to be looked at, however it is asked. Spec: MND-9."""
    assert topic in topics_in(text)


@pytest.mark.parametrize("text", NOT_NOW)
def test_other_questions_need_no_look(text: str) -> None:
    """Another time, an opinion, or the avatar itself is no matter of looking. Spec: MND-9."""
    assert topics_in(text) == frozenset()


def test_every_topic_has_its_questions_and_its_tools() -> None:
    """No topic goes untested, and each is answered by tools that only look."""
    assert set(ASKED) == set(Topic) == set(LOOKS)
    looking = {native.tool.name for native in CATALOGUE if native.tool.read_only}
    assert set().union(*LOOKS.values()) <= looking


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.", "Hello Alice!", "I can't tell right now, sorry.", "Let me look.", "Whom do you mean?",
        "I'm not sure who is here.", "I'd rather not say.", "Sorry, I can't see anybody.", "Hi there! What do you mean?",
        "*looks around*", "I have no idea, sorry.", "That is private.", "I am unable to check.", "",
    ],
)  # fmt: skip
def test_what_tells_nothing_is_no_answer(text: str) -> None:
    """Greetings, questions back, and owning up are never stale. Spec: MND-9."""
    assert not asserts(sentences_of(text), frozenset({"alice"}))


@pytest.mark.parametrize(
    "text",
    [
        "Anna and Bob.",
        "Just us two.",
        "I have L$500.",
        "It's three o'clock.",
        "Nobody.",
        "We're in Plaza.",
        "Yes.",
        "Hi! Anna is here.",
    ],
)
def test_an_answer_tells_something(text: str) -> None:
    """However short, an answer tells something. Spec: MND-9."""
    assert asserts(sentences_of(text), frozenset({"alice"}))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Anna and Bob are here.", {"anna", "bob"}),
        ("I see Anna Resident and Bob.", {"anna", "resident", "bob"}),
        ("I can see Dan.", {"dan"}),
        ("There's Carol by the fountain.", {"carol"}),
        ("Anna is standing next to you.", {"anna"}),
        ("Only Eve is nearby.", {"eve"}),
        ("Anna isn't here.", set()),
        ("Is Anna here?", set()),
        ("Anna was here.", set()),
        ("I see, Alice!", set()),
        ("I see what you mean.", set()),
        ("There is a bench near the Town Hall.", set()),
        ("There's a Christmas party here.", set()),
        ("Welcome to the Plaza!", set()),
        ("The fountain is over there.", {"fountain"} - {"fountain"}),
    ],
)
def test_who_is_said_to_be_near(text: str, names: set[str]) -> None:
    """Names in talk of who is near are found, and nothing else with a capital. Spec: MND-9."""
    assert {name for found in near_claimed(sentences_of(text), asked=True) for name in found} == names


def test_unasked_a_first_word_is_no_name() -> None:
    """``Dinner is here!`` is no visitor, unless somebody asked who is here."""
    assert [*near_claimed(sentences_of("Dinner is here!"), asked=False)] == [()]
    assert [*near_claimed(sentences_of("Look, Dan Stone is here!"), asked=False)] == [("dan", "stone")]


@given(st.text(max_size=300))
def test_any_text_can_be_asked(text: str) -> None:
    """Whatever is written, topics and names come out of it."""
    assert topics_in(text) <= set(Topic)
    assert all(name for names in near_claimed(sentences_of(text), asked=True) for name in names)
