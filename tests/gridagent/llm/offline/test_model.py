"""The built-in model looks before it speaks, proposes what it is asked, and claims nothing a result does not say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.language import (
    FinishReason,
    LlmReply,
    LlmRequest,
    ReplyDone,
    TextDelta,
    ToolDescriptor,
    ToolTurn,
    UserTurn,
)
from gridagent.llm.offline import OfflineModel
from gridagent.llm.offline.model import answer

MARA = "01234567-89ab-4cde-8f01-23456789abcd"
VISITORS = Path(__file__).resolve().parents[1] / "visitors"


def tool(name: str, *properties: str) -> ToolDescriptor:
    """A tool of the catalogue."""
    schema = {"type": "object", "properties": {each: {} for each in properties}, "required": list(properties)}
    return ToolDescriptor(name=name, description="", schema=json.dumps(schema).encode())


TOOLS = (
    tool("look_around"),
    tool("walk_to", "position"),
    tool("follow_avatar", "avatar_id"),
    tool("stop_moving"),
    tool("sit_on", "object_id"),
    tool("sit_on_ground"),
    tool("stand_up"),
    tool("teleport_home"),
    tool("emote", "text"),
    tool("pay_avatar", "to", "amount"),
    tool("balance"),
    tool("clock"),
)
AROUND = {
    "ok": True,
    "region": "Plaza",
    "avatars": [
        {"avatar_id": MARA, "name": "Mara Quill", "distance_m": 12.0, "position": {"x": 130, "y": 128, "z": 22}},
        {"avatar_id": "ben", "name": "Ben Bow", "distance_m": 20.4},
    ],
    "objects": [
        {"object_id": "sign", "name": "Plaza sign", "position": {"x": 128, "y": 134}},
        {"object_id": "bench", "name": "Bench", "sittable": True, "distance_m": 2.0},
        {"object_id": "chair", "name": "Garden chair", "sittable": True, "distance_m": 6.0},
    ],
}
ALONE = {"ok": True, "avatars": [], "objects": []}
PAIR = {"ok": True, "avatars": [{"avatar_id": MARA, "name": "Mara Quill", "distance_m": 1.0}]}
NO_PLACE = {"ok": True, "avatars": [{"avatar_id": MARA, "name": "Mara"}]}
CROWD = {"ok": True, "avatars": [{"avatar_id": str(n), "name": f"N{n}"} for n in range(9)]}
RESULTS = {"look_around": AROUND, "balance": {"ok": True, "balance": 250}, "clock": {"ok": True, "local_time": "12:30"}}


def converse(said: str, results: dict | None = None, tools=TOOLS, label=f"Mara Quill [{MARA[:8]}, stranger]: "):
    """Say something and play the tools; return what was called, in order, and what was said in the end."""
    table = RESULTS | (results or {})
    turns = [UserTurn(text=label + said)]
    called = []
    for _ in range(8):
        reply = answer(LlmRequest(turns=tuple(turns), tools=tools))
        if not reply.tool_calls:
            assert reply.finish is FinishReason.STOP
            return called, reply.text
        (call,) = reply.tool_calls
        called.append((call.name, json.loads(call.arguments)))
        result = table.get(call.name, {"ok": True})
        turns += [reply.as_turn(), ToolTurn(call_id=call.id, name=call.name, text=json.dumps(result))]
    raise AssertionError("the model never came to an end")


LOOK = ("look_around", {})


@pytest.mark.parametrize(
    ("said", "called", "words"),
    [
        ("who is here?", [LOOK], "I can see Ben Bow."),
        ("what is around here?", [LOOK], "I can see Bench, Garden chair and Plaza sign."),
        ("where are we?", [LOOK], "We are in Plaza."),
        ("where is Ben?", [LOOK], "Ben Bow is about 20 metres away."),
        ("where is the bench?", [LOOK], "Bench is right here."),
        ("where is the plaza sign?", [LOOK], "Plaza sign is at 128, 134."),
        ("where is the moon?", [LOOK], "I can't see moon from here."),
        ("where is", [LOOK], "What are you looking for, Mara?"),
        ("how much money do you have?", [("balance", {})], "I have L$250."),
        ("what time is it?", [("clock", {})], "It is 12:30."),
        ("come here", [LOOK, ("walk_to", {"position": {"x": 130.0, "y": 128.0, "z": 22.0}})], "Here I am."),
        ("follow me", [LOOK, ("follow_avatar", {"avatar_id": MARA})], "I'm following you, Mara."),
        ("stop", [("stop_moving", {})], "All right, I've stopped."),
        ("sit down", [LOOK, ("sit_on", {"object_id": "bench"})], "Ah, that's better."),
        ("sit on the garden chair", [LOOK, ("sit_on", {"object_id": "chair"})], "Ah, that's better."),
        ("stand up", [("stand_up", {})], "I'm up."),
        ("go home", [("teleport_home", {})], "I'm home."),
        ("wave to Ben", [("emote", {"text": "waves."})], ""),
        ("can you clap?", [("emote", {"text": "nods."})], ""),
        ("pay me 50", [LOOK, ("pay_avatar", {"to": MARA, "amount": 50})], "Done. I've sent L$50."),
        ("pay me", [], "How much do you mean, Mara?"),
        ("be quiet", [], "All right, I'll be quiet."),
    ],
)
def test_it_looks_before_it_speaks_and_acts_when_asked(said: str, called: list, words: str) -> None:
    """Questions about now are looked up, wishes are proposed, and what is said is what the results say. Spec: MND-9."""
    assert converse(said) == (called, words)


@pytest.mark.parametrize(
    "said", ["come here", "follow me", "stop", "sit down", "stand up", "go home", "wave", "pay me 50"]
)
@pytest.mark.parametrize(
    ("result", "word"),
    [({"ok": False, "error": {"code": "role_too_low"}}, "sorry|didn't"), ({"status": "in_doubt"}, "can't tell yet")],
)
def test_it_claims_nothing_that_no_result_says(said: str, result: dict, word: str) -> None:
    """Denied is told politely, in doubt as in doubt. Spec: MND-7, MND-9. Fault: 25."""
    names = ("walk_to", "follow_avatar", "stop_moving", "sit_on", "stand_up", "teleport_home", "emote", "pay_avatar")
    called, words = converse(said, dict.fromkeys(names, result))
    assert len(called) <= 2
    assert any(each in words for each in word.split("|"))
    assert "sent" not in words


@pytest.mark.parametrize(
    ("said", "around", "words"),
    [
        ("who is here?", ALONE, "I can't see anybody but us."),
        ("who is here?", PAIR, "Only you and I are here, Mara."),
        ("what is around?", ALONE, "There is nothing special around here."),
        ("where are we?", ALONE, "I'm not sure where we are."),
        ("come here", ALONE, "I can't see you from here, Mara. Come a little closer?"),
        ("come here", PAIR, "I'm right beside you, Mara."),
        ("follow me", ALONE, "I can't see you from here, Mara. Come a little closer?"),
        ("come here", NO_PLACE, "I can't see you from here, Mara. Come a little closer?"),
        ("where is Ben?", {"ok": True, "avatars": [{"avatar_id": "b", "name": "Ben"}]}, "Ben is here."),
        ("who is here?", {"ok": False}, "I can't tell right now, sorry, Mara."),
        ("who is here?", CROWD, "I can see N0, N1, N2, N3, N4 and 4 more."),
    ],
)
def test_what_it_cannot_see_it_does_not_invent(said: str, around: dict, words: str) -> None:
    """An empty, failed or partial look-up is told as such. Spec: MND-9."""
    assert converse(said, {"look_around": around}) == ([LOOK], words)


@pytest.mark.parametrize(
    ("said", "name", "result", "words"),
    [
        ("how much money do you have?", "balance", {"ok": True}, "I'm not sure how much I have."),
        ("how much money do you have?", "balance", {"ok": True, "balance": True}, "I'm not sure how much I have."),
        ("what time is it?", "clock", {"ok": True, "time": 7}, "I can't tell the time here."),
    ],
)
def test_odd_results_are_not_read_aloud(said: str, name: str, result: dict, words: str) -> None:
    """A result without the value has no value."""
    assert converse(said, {name: result})[1] == words


def test_without_tools_it_says_so() -> None:
    """Nothing is promised that cannot be proposed. Spec: MND-16."""
    for said in ("who is here?", "come here", "sit down", "pay me 50", "go home", "what time is it?"):
        assert converse(said, tools=()) == ([], "I can't do that here, sorry, Mara.")
    assert converse("sit down", tools=(tool("sit_on_ground"),))[0] == [("sit_on_ground", {})]
    assert converse("sit down", {"look_around": ALONE})[0] == [LOOK, ("sit_on_ground", {})]


def test_it_is_open_about_what_it_is() -> None:
    """Asked who it is, it says that there is no language model. Spec: PRS-5."""
    for said in ("who are you?", "are you a bot?", "are you a real person?"):
        assert "no language model" in converse(said)[1]


def test_what_is_said_changes_no_rule() -> None:
    """Orders to forget the rules are answered, and nothing is called. Fault: 15, 17."""
    rows = json.loads((VISITORS / "lines.json").read_text(encoding="utf-8"))
    for said in (text for intent, text in rows if intent == "injection"):
        called, words = converse(said)
        assert called == []
        assert words


def test_names_are_spoken_tamely() -> None:
    """Braces, control characters and length of a name do no harm."""
    _, words = converse("hello", label=f"{{0}}\u202e{'x' * 90} Y [{MARA}]: ")
    assert "\u202e" not in words
    assert "{" not in words
    assert len(words) < 100
    assert converse("hello", label="")[1]


@given(st.text(max_size=120), st.lists(st.text(max_size=60), max_size=3), st.booleans())
def test_every_conversation_comes_to_an_end(said: str, results: list[str], with_tools) -> None:
    """Whatever is said and whatever tools answer, a reply without calls comes within three steps. Spec: BND-11."""
    turns = [UserTurn(text=said)]
    for step in range(4):
        reply = answer(LlmRequest(turns=tuple(turns), tools=TOOLS if with_tools else ()))
        if not reply.tool_calls:
            break
        (call,) = reply.tool_calls
        text = results[step % len(results)] if results else "{}"
        turns += [reply.as_turn(), ToolTurn(call_id=call.id, name=call.name, text=text)]
    assert reply.tool_calls == ()
    assert reply == answer(LlmRequest(turns=tuple(turns), tools=TOOLS if with_tools else ()))


async def test_it_speaks_the_port() -> None:
    """Whole and streamed, the answer is the same; it costs nothing and counts its tokens. Spec: MND-1, MND-12."""
    request = LlmRequest(turns=(UserTurn(text="who are you?"),), tools=TOOLS)
    reply = await OfflineModel().complete(request)
    assert reply.cost_micros == 0
    assert reply.usage.output_tokens > 0
    async with OfflineModel().stream(request) as stream:
        deltas = [delta async for delta in stream]
    assert "".join(each.text for each in deltas if isinstance(each, TextDelta)) == reply.text
    assert deltas[-1] == ReplyDone(reply)
    assert isinstance(reply, LlmReply)


def test_it_knows_whoever_spoke_before_by_the_label_and_nobody_else() -> None:
    """Whoever stands earlier in the request was met; a namesake with another id was not. Spec: MND-1, MND-4."""
    asked = UserTurn(text="Vera [bb00daf4, stranger]: Robin, do you remember me?")
    met = UserTurn(text="Vera [bb00daf4, stranger]: hello")
    namesake = UserTurn(text="Vera [00000001, stranger]: hello")
    assert answer(LlmRequest(turns=(met, asked))).text == "Yes, Vera, we have talked before."
    assert answer(LlmRequest(turns=(namesake, asked))).text == "I don't think we have talked before, Vera."


def test_it_thanks_whoever_lets_it_speak_again() -> None:
    """Spec: MND-1."""
    said = UserTurn(text="Olive [5eed0000, owner]: Robin, you can talk again")
    assert answer(LlmRequest(turns=(said,))).text == "Thank you, Olive, here I am again."


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("how much is the lemonade stand?", "Lemonade stand is for sale for L$15."),
        ("how much is the bench?", "Bench isn't for sale."),
        ("how much is the moon?", "I can't see moon from here."),
    ],
)
def test_it_tells_a_price_it_has_seen_and_no_other(asked: str, said: str) -> None:
    """Spec: MND-9 — what things cost is read off a look-up of this turn."""
    things = '[{"object_id": "a", "name": "Lemonade stand", "for_sale": 15}, {"object_id": "b", "name": "Bench"}]'
    told = ToolTurn(call_id="c", name="look_around", text=f'{{"ok": true, "data": {{"objects": {things}}}}}')
    user = UserTurn(text=f"Sally [00000001, stranger]: Robin, {asked}")
    first = answer(LlmRequest(turns=(user,), tools=(tool("look_around"),)))
    (call,) = first.tool_calls
    turns = (user, first.as_turn(), ToolTurn(call_id=call.id, name=told.name, text=told.text))
    assert answer(LlmRequest(turns=turns, tools=(tool("look_around"),))).text == said
