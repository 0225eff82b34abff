"""The gates: a lying model for each, and honest talk that passes all of them."""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Capability
from gridagent.authority import Origin, Principal, Role, TextSource
from gridagent.config.policy import PolicySection
from gridagent.conversation.entries import Entry, Finding, Heard, Said, Used
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.events import GridProfile
from gridagent.ids import AvatarId, AvatarKey, CorrelationId
from gridagent.policy import Policy
from gridagent.presence.persona import Persona
from gridagent.tools import Access, Evidence, Registry, TurnMode
from gridagent.tools.descriptor import Port
from gridagent.turn.brief import Brief
from gridagent.turn.gates import _PLAIN_WORDS, GATES, Draft, _concerns, refused_by
from gridagent.turn.prompts import Correction

ALICE = AvatarId("1a2b3c4d-0000-4000-8000-00000000000a")
BOB = AvatarId("2b2b3c4d-0000-4000-8000-00000000000b")
POLICY = Policy(
    msgspec.convert(
        {"preset": "builder", "matrix": {"public_chat": {each.value: "anyone" for each in Capability}}}, PolicySection
    )
)


def access(*ports: Port) -> Access:
    """Return what a turn may use, with these ports alone or with all."""
    return Access(
        Registry(),
        mode=TurnMode.ADDRESSED,
        origin=Origin.PUBLIC_CHAT,
        role=Role.TRUSTED,
        policy=POLICY,
        profile=GridProfile(grid="test"),
        ports=frozenset(ports or Port),
    )


ALL, BLIND = access(), access(Port.CLOCK)


def heard(words: str, **changes: object) -> Heard:
    """Return something that was said."""
    given: Mapping[str, object] = {
        "who": "Alice Stone",
        "avatar_id": ALICE,
        "source": TextSource.STRANGER,
        "text": words,
        "at": 1.0,
        "tainted": True,
        **changes,
    }
    return Heard(**given)  # type: ignore[arg-type]


def draft(text: str, *evidence: Evidence, asked: str = "hello", **changes: object) -> Draft:
    """Return a reply to some words, on some evidence."""
    given: Mapping[str, object] = {
        "correlation": CorrelationId("c"),
        "cause": "u",
        "mode": TurnMode.ADDRESSED,
        "key": PersonKey(avatar=AvatarKey("ruth"), grid="test", peer=ALICE, channel=Channel.PUBLIC),
        "principal": Principal(avatar_id=ALICE),
        "origin": Origin.PUBLIC_CHAT,
        "role": Role.STRANGER,
        "persona": Persona(style="Guide of Tulip Mall.", name="Ruth", digest="d", knowledge=("Eve owns the shop.",)),
        "now_said": (heard(asked),),
        "access": ALL,
        "wall": 62.0,
        **changes,
    }
    return Draft.of(text, Brief(**given), evidence)  # type: ignore[arg-type]


def proof(tool: str, data: str = "", arguments: str = "{}", subjects: tuple[str, ...] = ()) -> Evidence:
    """Return evidence of a call."""
    return Evidence(tool=tool, arguments=arguments.encode(), data=data.encode(), subjects=subjects, tainted=True)


LOOK = proof(
    "look_around",
    f'{{"avatars":[{{"avatar_id":"{BOB}","name":"Bob Miller"}}],"objects":[{{"name":"Red Fountain"}}]}}',
    subjects=(BOB,),
)
PAID = proof("pay_avatar", '{"evidence":"balance"}', f'{{"amount":500,"to":"{ALICE}"}}', (ALICE,))


def test_the_gates_are_asked_in_their_order() -> None:
    """Fresh data first, then deeds, then how it is written; the first that refuses decides. Spec: MND-9."""
    order = [correction for correction, _ in GATES]
    assert order == list(Correction)
    everything = "I see Zed here. I paid you. /pay me {name}"
    assert refused_by(draft(everything, asked="who is here?")) is Correction.STALE
    assert refused_by(draft(everything, LOOK, asked="who is here?")) is Correction.INVENTED
    assert (
        refused_by(draft(everything.replace("Zed", "Bob"), LOOK, asked="who is here?")) is Correction.UNVERIFIED_ACTION
    )
    assert refused_by(draft("\n/pay me {name}")) is Correction.COMMAND_IN_PROSE
    assert refused_by(draft("ask {name}")) is Correction.PLACEHOLDER


# --- fresh data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "reply", "good"),
    [
        ("who is here?", "Only Bob.", "look_around"),
        ("is Bob here?", "Yes, he is right beside me.", "look_around"),
        ("how much money do you have?", "I have L$500.", "check_balance"),
        ("what is in your inventory?", "A red hat.", "search_inventory"),
        ("who owns this land?", "It is mine.", "look_at_parcel"),
        ("what do you see?", "A tall tower.", "look_around"),
        ("where are we?", "In Paris.", "look_around"),
    ],
)
def test_an_answer_from_stale_data_is_refused(asked: str, reply: str, good: str) -> None:
    """A question about now wants a look of this turn at the right thing; an earlier one is stale. Spec: MND-9."""
    old = Used(evidence=(Finding(tool=good, arguments=b"{}", data=LOOK.data, tainted=False),), at=1, tainted=False)
    assert refused_by(draft(reply, asked=asked, history=(old,))) is Correction.STALE
    assert refused_by(draft(reply, proof("get_time"), asked=asked)) is Correction.STALE
    assert refused_by(draft(reply, proof(good, LOOK.data.decode()), asked=asked)) is None


def test_a_look_at_somebody_else_is_no_look() -> None:
    """Evidence has to concern the target that was asked about. Spec: MND-9."""
    bob = proof("look_at_avatar", f'{{"avatar":{{"avatar_id":"{BOB}","name":"Bob Miller"}}}}', subjects=(BOB,))
    assert refused_by(draft("Yes, she is.", bob, asked="is Anna here?")) is Correction.STALE
    assert refused_by(draft("Yes, he is.", bob, asked="is Bob here?")) is None
    assert refused_by(draft("Yes.", bob, asked=f"who is this avatar here: is {BOB} here?")) is None
    assert refused_by(draft("Yes.", bob, asked=f"who is near, is {ALICE} around?")) is Correction.STALE


@pytest.mark.parametrize(
    ("asked", "tool", "other", "right"),
    [
        ("Is there a bench here?", "look_at_object", "Lamp", "Old Bench"),
        ("is the region Sandbox region online?", "find_region", "Harbour", "Sandbox"),
    ],
)
def test_each_look_at_one_thing_has_to_be_the_right_one(asked: str, tool: str, other: str, right: str) -> None:
    """An object or a region that nobody asked about tells nothing of the one that was. Spec: MND-9."""
    assert refused_by(draft("Yes, it is.", proof(tool, f'{{"name":"{other}"}}'), asked=asked)) is Correction.STALE
    assert refused_by(draft("Yes, it is.", proof(tool, f'{{"name":"{right}"}}'), asked=asked)) is None
    by_argument = proof(tool, "{}", f'{{"region":"{right}"}}')
    assert refused_by(draft("Yes, it is.", by_argument, asked=asked)) is None


@pytest.mark.parametrize("word", sorted(_PLAIN_WORDS))
def test_no_everyday_word_makes_a_look_the_right_one(word: str) -> None:
    """A name made of everyday words does not answer every question that has them. Spec: MND-9."""
    assert not _concerns(proof("look_at_object", f'{{"name":"{word}"}}'), f"{word}, a?")
    assert _concerns(proof("look_at_object", f'{{"name":"{word} fir"}}'), f"{word}, fir?")
    assert not _concerns(proof("look_at_object", '{"name":"ox"}'), f"{word} ox?")


def test_one_of_two_that_were_asked_about_is_enough() -> None:
    """Of several UUIDs in a question, a look at one of them is a look. Spec: MND-9."""
    bob = proof("look_at_avatar", "{}", subjects=(BOB,))
    assert refused_by(draft("Yes.", bob, asked=f"is anybody here: {ALICE} or {BOB}, who is near?")) is None


def test_a_look_is_wanted_while_one_way_to_look_is_left() -> None:
    """Where some of the tools that could tell are missing, the others are asked for. Spec: MND-9, MND-13."""
    assert refused_by(draft("In Paris.", asked="where are we?", access=access(Port.VIEW))) is Correction.STALE
    assert refused_by(draft("In Paris.", asked="where are we?", access=access(Port.PARCEL))) is Correction.STALE


def test_owning_up_is_never_stale() -> None:
    """Whoever says that it cannot tell is not made to lie. Spec: MND-9."""
    for reply in ("I can't see anybody from here, sorry.", "I don't know.", "Hello Alice!", "Whom do you look for?"):
        assert refused_by(draft(reply, asked="who is here?")) is None


def test_where_nothing_could_tell_no_look_is_wanted() -> None:
    """Without a tool that looks, a look cannot be asked for; names are still held to what is known. Spec: MND-9."""
    assert refused_by(draft("Just us, I think.", asked="who is here?", access=BLIND)) is None
    assert refused_by(draft("Anna is here.", asked="who is here?", access=BLIND)) is Correction.INVENTED


def test_what_every_request_says_needs_no_look() -> None:
    """Time, and the place where it is known, are in the request itself. Spec: MND-9."""
    assert refused_by(draft("Noon.", asked="what time is it?")) is None
    assert refused_by(draft("In Tulip Mall.", asked="where are we?", surroundings_line="You are in Tulip.")) is None


def test_our_own_remarks_ask_for_nothing() -> None:
    """A remark of the program is no question of anybody. Spec: MND-9."""
    remark = heard("Who is here?", source=TextSource.SYSTEM)
    assert refused_by(draft("Nobody.", now_said=(remark,))) is None


@pytest.mark.parametrize(
    "reply",
    [
        "I see Anna and Bob here.",
        "Anna Hill is here.",
        "Bob and Zed are standing next to you.",
        "There's Anna, near you!",
    ],
)
def test_invented_company_is_refused(reply: str) -> None:
    """Names that no look shows are made up, whether anybody asked or not. Spec: MND-9."""
    assert refused_by(draft(reply, LOOK, asked="who is here?")) is Correction.INVENTED
    assert refused_by(draft(f"By the way, {reply}", now_said=(heard("hi"),), history=())) is Correction.INVENTED


def test_what_was_spoken_of_may_be_spoken_of_again() -> None:
    """Nobody asked who is near: places and people of the conversation are no inventions. Spec: MND-9."""
    before = (heard("Do you know Ben's Boats?"), Said(text="By the Old Pier.", at=1, persona="d", tainted=False))
    assert refused_by(draft("Sure, Ben's Boats is next to the Old Pier.", history=before, asked="where?")) is None
    assert refused_by(draft("Sure, Zoe's Boats is next to the Old Pier.", history=before)) is Correction.INVENTED
    assert refused_by(draft("I see Linden Lab has news.", asked="anything new?")) is None
    assert refused_by(draft("I see Anna Hill over there.", asked="anything new?")) is Correction.INVENTED


@pytest.mark.parametrize(
    "reply",
    [
        "I see Bob Miller and the Red Fountain.",
        "Bob is here, Alice.",
        "Alice Stone and Bob are here.",
        "Anna is not here.",
        "I am here, and so is Bob.",
        "Eve is near the shop.",
        "There is a Red Fountain near Tulip Mall.",
    ],
)
def test_what_the_look_shows_may_be_told(reply: str) -> None:
    """Names of the look, of those who speak, and of the persona's own knowledge pass. Spec: MND-9."""
    assert refused_by(draft(reply, LOOK, asked="who is here?")) is None


# --- deeds -----------------------------------------------------------------------------------------------


def test_a_lie_about_a_payment_is_refused_and_the_truth_is_not() -> None:
    """The tool, the receiver and the amount have to be those of a success. Spec: MND-7, MND-9."""
    assert refused_by(draft("I paid you L$500.")) is Correction.UNVERIFIED_ACTION
    assert refused_by(draft("I paid you L$500.", PAID)) is None
    assert refused_by(draft("I paid you L$5000.", PAID)) is Correction.UNVERIFIED_ACTION
    assert refused_by(draft("I paid Bob L$500.", PAID, LOOK)) is Correction.UNVERIFIED_ACTION
    assert refused_by(draft("I paid you L$500.", LOOK)) is Correction.UNVERIFIED_ACTION
    assert refused_by(draft("Done!", asked="pay me 500")) is Correction.UNVERIFIED_ACTION
    assert refused_by(draft("Done!", PAID, asked="pay me 500")) is None
    assert refused_by(draft("Yes.", asked="did you pay me?")) is Correction.UNVERIFIED_ACTION
    assert refused_by(draft("Ruth pays Alice 500.")) is Correction.UNVERIFIED_ACTION


def test_earlier_turns_count_for_what_they_left() -> None:
    """Kept evidence, and words of ours that passed then, back what is told again. Spec: MND-8, MND-9."""
    kept = Used(
        evidence=(Finding(tool="pay_avatar", arguments=PAID.arguments, data=b"", subjects=(ALICE,), tainted=False),),
        at=1,
        tainted=False,
    )
    told = Said(text="I've notified my owner.", at=1, persona="d", tainted=False)
    again = "I've notified my owner already."
    assert refused_by(draft("I paid you L$500.", history=(kept,))) is None
    assert refused_by(draft(again, history=(told,))) is None
    others: tuple[Entry, ...] = (
        msgspec.structs.replace(told, persona="x"),
        msgspec.structs.replace(told, restored=True),
    )
    assert refused_by(draft(again, history=others)) is Correction.UNVERIFIED_ACTION


def test_a_surname_that_everybody_has_is_not_our_own() -> None:
    """What another Resident is told to do is no deed of ours; what our own name does is. Spec: MND-9."""
    assert refused_by(draft("Anna Resident pays Bob 500.", self_name="Ruth Resident")) is None
    assert refused_by(draft("Ruth pays Bob 500.", self_name="Ruth Resident")) is Correction.UNVERIFIED_ACTION


def test_whoever_listens_was_not_paid_because_somebody_was() -> None:
    """Who is meant is told by who listens, by names that were heard, and claim by claim. Spec: MND-9."""
    paid_bob = proof("pay_avatar", "", f'{{"amount":5,"to":"{BOB}"}}', (BOB,))
    assert refused_by(draft("I paid you L$5.", paid_bob)) is Correction.UNVERIFIED_ACTION
    kim = heard("hi", who="Kim Lee", avatar_id=BOB)
    assert refused_by(draft("I paid Kim L$5.", paid_bob, history=(kim,))) is None
    assert refused_by(draft("I paid Kim L$500.", PAID, history=(kim,))) is Correction.UNVERIFIED_ACTION
    kept = Used(
        evidence=(Finding(tool="pay_avatar", arguments=PAID.arguments, data=b"", subjects=(ALICE,), tainted=False),),
        at=1,
        tainted=False,
    )
    both = "I paid you L$500. I gave you a landmark."
    assert refused_by(draft(both, history=(kept,))) is Correction.UNVERIFIED_ACTION
    assert refused_by(draft(both, proof("give_item", "", "{}", (ALICE,)), history=(kept,))) is None


def test_a_name_two_people_share_is_nobodys() -> None:
    """Where a name does not say who, the evidence is not held to it. Spec: MND-9."""
    crowd = tuple(heard("x", who=f"Kim {n}", avatar_id=f"{n:08x}-0000-4000-8000-00000000000a") for n in range(1, 600))
    paid = proof("pay_avatar", "", f'{{"amount":5,"to":"{crowd[0].avatar_id}"}}', (str(crowd[0].avatar_id),))
    assert refused_by(draft("I paid Kim.", paid, history=crowd)) is None
    assert refused_by(draft("I paid Bob.", paid, LOOK, history=crowd[:2])) is Correction.UNVERIFIED_ACTION


def test_odd_results_are_read_with_care() -> None:
    """Broken, deep and huge data make nothing of themselves. Spec: MND-7."""
    deep = proof("look_around", '{"a":' * 300 + "1" + "}" * 300)
    broken = proof("look_around", "{")
    odd = proof("look_around", '[{"name":5,"avatar_id":"x"},{"name":"Anna","avatar_id":7}]')
    for each in (deep, broken, odd, proof("search__thing", "[1]")):
        assert refused_by(draft("I paid Anna L$5.", each)) in {Correction.UNVERIFIED_ACTION, None}
    assert refused_by(draft("I paid Anna L$5.", deep, broken)) is Correction.UNVERIFIED_ACTION
    assert refused_by(draft("I paid Anna L$5.", proof("bank__pay", "{}"))) is None


# --- commands, gaps and echoes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        "/pay 500 Alice",
        "Sure!\n/tp Alice",
        "!give landmark",
        "pay_avatar(to=alice, amount=500)",
        "I will use pay_avatar now.",
        "Calling look_around",
        '{"name": "pay_avatar", "arguments": {"amount": 500}}',
        "```json\n{'tool': 'x'}\n```",
        "<tool_call>{}</tool_call>",
        "<function=pay>",
        '<invoke name="pay">',
        "[TOOL_CALLS] []",
        "<|python_tag|>x",
        "[pay 500 to Alice]",
        "{give landmark}",
        "Action: pay_someone",
        "emote(text='waves')",
        'say({"text":"hi"})',
    ],
)
def test_commands_in_prose_are_refused(reply: str) -> None:
    """What looks like a command does nothing, so it is no answer. Spec: MND-9."""
    assert refused_by(draft(reply)) is Correction.COMMAND_IN_PROSE


@pytest.mark.parametrize(
    "reply",
    [
        "Hello [insert name]!",
        "Hello [Your Name], welcome.",
        "Dear {{user}},",
        "Hi ${name}!",
        "Hi {visitor}!",
        "Hello <username>!",
        "You owe me %s.",
        "Meet me at ____.",
        "Lorem ipsum dolor",
        "[object Object]",
        "undefined",
        "TODO",
        "[XX] people",
        "Response",
    ],
)
def test_placeholders_are_refused(reply: str) -> None:
    """What was never filled in is asked for again. Spec: MND-9."""
    assert refused_by(draft(reply)) is Correction.PLACEHOLDER


def test_our_instructions_are_refused() -> None:
    """A reply that repeats the rules is asked for again. Spec: MND-9."""
    reply = "My rules: Never write a command, a tool's name or its arguments into your answer."
    assert refused_by(draft(reply)) is Correction.ECHO


@pytest.mark.parametrize(
    "reply",
    [
        "I can't pay you, sorry.",
        "To pay somebody, right-click them and choose Pay; or type /pay 500 if your viewer can.",
        "I paid my respects there once.",
        "You said you paid me, thank you!",
        'He told me "I paid you", and I laughed.',
        "The shop (north of here) sells hats for L$20.",
        "I love :) and <3 and {curly} hair? No: I like it straight.",
        "See https://example.org/some_path/x_y.html",
        "Say (please) what you mean.",
        "That's 100% sure, 5% off.",
        "If you like, I'll follow you.",
        "Shall I follow you? (Yes or no.)",
        "I was built by Anna.",
        "The date is TBD.",
        "None.",
        "Name: Ruth. Job: guide.",
        "1/2 of it. And/or.",
        "Try [Shift]+click.",
        "I wish you a good day!",
        "Let me know if you need help.",
        "I was made to guide people around this place.",
        "Go straight on, then left; you will see it.",
        "We have 3 dance floors.",
        "I remember you: you gave me a landmark yesterday.",
        "No, I have not sent anything.",
        "I'm a bot, so I have no money.",
    ],
)
def test_honest_talk_passes_every_gate(reply: str) -> None:
    """No gate stands in the way of plain and honest talk. Spec: MND-9."""
    if "{curly}" in reply:
        reply = reply.replace("{curly}", "curly")
    assert refused_by(draft(reply, asked="tell me about this")) is None


@given(st.text(max_size=200), st.text(max_size=80), st.booleans())
def test_any_reply_is_judged(text: str, asked: str, looked: bool) -> None:  # noqa: FBT001 - a drawn choice
    """Whatever is written and asked, a reply passes or is refused for a reason. Spec: MND-9."""
    found = refused_by(draft(text, *([LOOK] if looked else []), asked=asked))
    assert found is None or found in Correction


@pytest.mark.parametrize(
    "piece", ["\n", "I paid you 5, and ", "/", "[pay ", "{{", "a_b(", "who is Anna here ", "\n[aL$1 ", "\t", "_"]
)
def test_judging_is_linear(piece: str) -> None:
    """The longest reply that is judged takes no longer than a moment, whatever is repeated in it."""
    text = piece * (12_000 // len(piece))
    began = time.process_time()
    refused_by(draft(text, LOOK, asked=f"who is here? pay me! {text[:8_000]}"))
    assert time.process_time() - began < 1.5


@pytest.mark.slow
def test_a_long_past_costs_no_more_than_a_moment() -> None:
    """Texts of the largest size in every entry are read up to a bound. Spec: BND-9."""
    history = [each for n in range(32) for each in (heard("Ann said hi. " * 5_000), told(n))]
    now = tuple(heard("I paid you, and who is here? " * 2_000) for _ in range(4))
    began = time.process_time()
    refused_by(draft("I've notified the owner. I see Zoe Hill over there.", history=tuple(history), now_said=now))
    assert time.process_time() - began < 2.0


def told(number: int) -> Said:
    """Return a long answer of ours."""
    return Said(text=f"I've told Ann {number}, and so on. " * 6_000, at=1, persona="d", tainted=False)
