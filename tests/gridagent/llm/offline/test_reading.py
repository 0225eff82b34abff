"""A request is read for who spoke and what its tools told, whatever the shape of either."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.language import AssistantTurn, LlmRequest, ModelTurn, SystemTurn, ToolCall, ToolTurn, UserTurn
from gridagent.llm.offline.reading import read_request, went_well

MARA = "01234567-89ab-4cde-8f01-23456789abcd"


def reading_of(said: str, *results: object):
    """Read a request with these results behind what was said."""
    turns: list[ModelTurn] = [SystemTurn(text="s"), UserTurn(text=said)]
    for number, result in enumerate(results):
        turns.append(AssistantTurn(tool_calls=(ToolCall(id=str(number), name="look", arguments="{}"),)))
        text = result if isinstance(result, str) else json.dumps(result)
        turns.append(ToolTurn(call_id=str(number), name="look", text=text))
    return read_request(LlmRequest(turns=tuple(turns)))


@pytest.mark.parametrize(
    ("said", "name", "speaker_id", "words"),
    [
        ("hello", "", "", "hello"),
        (f"Mara Quill [{MARA}, stranger]: hello", "Mara Quill", MARA, "hello"),
        ("Mara Quill [01234567, owner]: come: here", "Mara Quill", "01234567", "come: here"),
        ("Mara (authorised) says:  hi", "Mara", "", "hi"),
        ("[stranger 01234567]: hi", "", "01234567", "hi"),
        ("look: a bird", "", "", "look: a bird"),
        ("one\nMara [01234567]: hi", "", "", "one\nMara [01234567]: hi"),
        ("", "", "", ""),
    ],
)
def test_a_label_is_parted_from_the_words(said: str, name: str, speaker_id: str, words: str) -> None:
    """Who spoke is in the label, what was said is not. Spec: MND-4."""
    reading = reading_of(said)
    assert (reading.speaker_name, reading.speaker_id, reading.words) == (name, speaker_id, words)


def test_a_request_without_words_is_empty() -> None:
    """Nobody spoke."""
    reading = read_request(LlmRequest(turns=(SystemTurn(text="s"),)))
    assert (reading.words, reading.called, reading.seen) == ("", (), ())


LOOKED = {
    "ok": True,
    "region": "Plaza",
    "avatars": [
        {"avatar_id": "b", "name": "Ben", "distance_m": 9, "position": [1, 2]},
        {"id": MARA, "name": "Mara Quill", "distance_m": 4.5, "position": {"x": 1, "y": 2, "z": 3}},
        {"avatar_id": "self", "name": "Robin", "self": True},
        {"avatar_id": "c", "name": 7},
        {"avatar_id": True, "name": "no id"},
    ],
    "nearby": {"things": [{"uuid": "o", "name": "Bench", "sittable": True, "position": "here", "distance": True}]},
    "note": {"object_id": "p", "name": "Sign", "position": {"x": 5}},
}


def test_people_and_things_are_found_wherever_they_are() -> None:
    """By their ids or by what the list is called; the nearest first, ourselves left out."""
    reading = reading_of("Mara Quill [01234567]: hi", LOOKED)
    assert [(each.name, each.position) for each in reading.people()] == [
        ("Mara Quill", (1.0, 2.0, 3.0)),
        ("Ben", (1.0, 2.0, 0.0)),
    ]
    assert [(each.name, each.sittable, each.position) for each in reading.things()] == [
        ("Bench", True, None),
        ("Sign", False, None),
    ]
    assert reading.facts["region"] == "Plaza"
    assert reading.speaker() is reading.people()[0]
    assert reading.called == ("look",)


def test_a_speaker_is_known_by_id_and_by_name_only_without_one() -> None:
    """A name that is imitated finds nobody where an id is there. Spec: POL-4."""
    assert reading_of("Ben [99999999]: hi", LOOKED).speaker() is None
    assert reading_of("ben (stranger): hi", LOOKED).speaker().id == "b"
    assert reading_of("hi", LOOKED).speaker() is None


def test_a_huge_or_deep_result_is_read_in_part() -> None:
    """What is kept of results is bounded. Fault: 17."""
    deep: object = {"avatar_id": "x", "name": "deep"}
    for _ in range(20):
        deep = [deep]
    many = {f"f{number}": number for number in range(1_000)}
    people = [{"avatar_id": str(number), "name": "x"} for number in range(1_000)]
    reading = reading_of("hi", {"a": deep}, many, {"avatars": people})
    assert len(reading.facts) == len(reading.seen) == 256


@pytest.mark.parametrize(
    ("result", "well"),
    [
        ({"ok": True}, True),
        ({"ok": False}, False),
        ({"ok": False, "status": "pending"}, None),
        ({"status": "confirmed"}, True),
        ({"status": "refused"}, False),
        ({"outcome": "in_doubt"}, None),
        ({"ok": True, "status": "needs_approval"}, None),
        ({"error": {"code": "denied"}}, False),
        ({"error": None, "avatars": []}, True),
        ({"code": "DENIED"}, False),
        ({"status": 7}, True),
        ([], True),
        ("", True),
        ("done", True),
        ("Error: no", False),
        ("denied", False),
    ],
)
def test_a_result_is_a_success_only_if_it_says_nothing_else(result: object, well) -> None:
    """Errors, refusals and open ends are none, in every way they are told. Spec: MND-7."""
    assert went_well(result if isinstance(result, str) else json.dumps(result)) is well


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["avatars", "avatar_id", "object_id", "id", "name", "position", "x", "y", "ok", "status"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(TREES, st.text(max_size=80))
def test_any_result_can_be_read(tree: object, said: str) -> None:
    """No result and no words raise. Fault: 17."""
    reading = reading_of(said, tree, said or "x", "[" * 5_000)
    assert len(reading.seen) <= 256
    assert went_well(json.dumps(tree)) in {True, False, None}


def test_ids_that_begin_alike_take_nobody_for_another() -> None:
    """The name parts them; where it does not, the speaker was not seen. Spec: MND-4. Fault: 17."""
    other = MARA[:-1] + "e"
    near = {"avatar_id": other, "name": "Ben Bystander", "distance_m": 1}
    far = {"avatar_id": MARA, "name": "Mara Quill", "distance_m": 9}
    asked = f"Mara Quill [{MARA[:8]}, owner]: pay me 5"
    speaker = reading_of(asked, {"avatars": [near, far]}).speaker()
    assert speaker is not None
    assert speaker.id == MARA
    assert reading_of(asked, {"avatars": [near, far | {"name": "Mara"}]}).speaker() is None
    assert reading_of(asked, {"avatars": [near | {"name": "Mara Quill"}, far]}).speaker() is None
