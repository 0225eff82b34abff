"""The chain: its order, its bounds and what it forgets (Spec: PRS-1 … PRS-5)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Position
from gridagent.authority import Origin
from gridagent.config.presence import PresenceSection
from gridagent.events import BackendReady, GridProfile, RegionEntered, SpeakerKind
from gridagent.limits import Label
from gridagent.observations import AttentionDecided
from gridagent.presence.chain import RULES, PresenceChain
from gridagent.presence.decision import AttentionCode, PresenceMode
from gridagent.presence.protected import OwnAvatars, Protected
from gridagent.tools.access import TurnMode
from tests.gridagent.presence.stage import ANN, BEN, BOT, MANAGER, ME, OWNER, SISTER, Around, Stage, view

ORDER = (
    "own_echo",
    "speaker",
    "duplicates",
    "muted",
    "moderation",
    "quiet",
    "quiet_hours",
    "bots_denied",
    "addressed",
    "model_moderation",
    "loop_guard",
    "ambient",
    "turn",
)


def test_the_order_is_the_specified_one():
    """Spec: PRS-1 — own echo, duplicates, muted, moderation, quiet, addressed, model, loop guard, ambient, turn."""
    assert tuple(name for name, _ in RULES) == ORDER


@dataclass
class Case:
    """What makes a rule object to Ann's next utterance; several together still make one utterance."""

    code: str
    keys: dict = field(default_factory=dict)
    event: dict = field(default_factory=dict)
    text: str = ""
    before: object = None


def _flood(stage: Stage) -> None:
    for _ in range(20):
        stage.room.take_message(stage.room.meet(ANN, stage.now), stage.now)


def _crowd(stage: Stage) -> None:
    while stage.room.take_answer(stage.now):
        pass


def _closed(stage: Stage) -> None:
    stage.room.parcel_allows_bots = False


def _scripted(stage: Stage) -> None:
    stage.around = Around(view(ANN, scripted=True), view(BEN))


CASES = {
    "own_echo": Case("quiet:own_echo", event={"kind": SpeakerKind.SELF}),
    "speaker": Case("quiet:other_channel", event={"chat_channel": 5}),
    "duplicates": Case(
        "quiet:duplicate", event={"utterance_id": "x"}, before=lambda stage: stage.room.seen.update({"x": None})
    ),
    "muted": Case("quiet:muted", keys={"muted": (ANN,)}),
    "moderation": Case("quiet:flood", before=_flood),
    "quiet": Case("quiet:hushed", text="be quiet everyone"),
    "quiet_hours": Case("quiet:quiet_hours", keys={"quiet_hours": ("11:00-13:00",)}),
    "bots_denied": Case("quiet:bots_not_allowed", before=_closed),
    "addressed": Case("quiet:too_far", event={"distance_m": 101.0}),
    "model_moderation": Case("quiet:moderation", keys={"moderate_by_model": True}),
    "loop_guard": Case("quiet:scripted_agent", before=_scripted),
    "ambient": Case("quiet:not_addressed"),
    "turn": Case("quiet:crowded", keys={"ambient_probability": 1.0}, before=_crowd),
}
PAIRS = [
    (earlier, later)
    for position, earlier in enumerate(ORDER)
    for later in ORDER[position:]
    # joining in and "not addressed" exclude each other
    if (earlier, later) != ("ambient", "turn")
]


@pytest.mark.parametrize(("earlier", "later"), PAIRS)
def test_of_two_rules_that_object_the_earlier_decides(earlier, later):
    """Spec: PRS-1 — each pair of rules, each rule alone (paired with itself), and one stable code for each."""
    first, second = CASES[earlier], CASES[later]
    stage = Stage(**first.keys | second.keys)
    for case in (first, second):
        if case.before is not None:
            case.before(stage)
    event = stage.chat(first.text or second.text or "lovely weather today", ANN, **first.event | second.event)
    decision = stage.chain.judge(event, stage.around, stage.now, stage.wall)
    assert decision.rule == earlier
    assert decision.code == first.code
    assert not decision.answers


def test_who_passes_every_rule_is_answered():
    """The decision names the utterance, the door, and the turn that follows."""
    stage = Stage()
    decision = stage.judge(stage.chat("Robin, hi", utterance_id="u-1"))
    assert decision.answers
    assert decision.utterance_id == "u-1"
    assert decision.code is AttentionCode.ADDRESSED
    assert decision.mode is PresenceMode.ADDRESSED
    assert decision.origin is Origin.PUBLIC_CHAT
    assert decision.rule == "turn"
    assert not decision.disclose


def test_modes_are_those_of_the_turn():
    """Spec: MND-16 — each mode of presence is a mode of a turn, by value."""
    assert {mode.value for mode in PresenceMode} <= {mode.value for mode in TurnMode}


def test_each_code_fits_an_observation_and_tells_whether_it_answers():
    """Every decision can be shown to whoever watches."""
    for code in AttentionCode:
        shown = AttentionDecided(utterance_id="u", answers=code.answers, code=Label(code.value))
        assert shown.answers is not shown.code.startswith("quiet:")


# --- identity -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Olive Owner", "OLIVE OWNER", "Olive\u200b Owner", "Оlive Оwner", "Ｏｌｉｖｅ Owner"])
def test_a_twin_whose_name_imitates_the_owners_gets_nothing(name):
    """Spec: PRS-4, POL-4 — no exemption comes from a name: muted, flooding and far away it is treated as anybody."""
    far = Stage().say("Robin, hello", ANN, name=name, distance_m=150.0)
    assert far == "quiet:too_far"
    assert Stage(muted=(ANN,)).say("Robin, hello", ANN, name=name) == "quiet:muted"
    stage = Stage()
    codes = [stage.say(f"Robin, {number}", ANN, name=name, after=0.01) for number in range(40)]
    assert codes[-1] == "quiet:flood"
    stage = Stage()
    stage.say("Robin, be quiet", OWNER)
    assert stage.say("Robin, you may talk again", ANN, name=name) == "quiet:asked_to_be_quiet"
    assert stage.say("Robin, hello", OWNER, name="Nobody Known") == "addressed"


# --- disclosure ---------------------------------------------------------------------------------


def test_first_contact_is_told_once():
    """Spec: PRS-5 — until something was said to that person, in public or over IM; the exempt are never told."""
    stage = Stage(disclose=True)
    assert stage.judge(stage.chat("Robin, hi", ANN)).disclose
    assert stage.judge(stage.chat("Robin, are you there", ANN)).disclose
    stage.chain.replied(ANN, "Hi. I am a bot.", Origin.PUBLIC_CHAT, stage.now)
    assert not stage.judge(stage.im("and here", ANN)).disclose
    assert stage.judge(stage.im("hello", BEN)).disclose
    assert not stage.judge(stage.chat("Robin, hi", OWNER)).disclose
    assert not stage.judge(stage.chat("Robin, hi", BOT)).disclose
    assert not stage.judge(stage.chat("what a day", BEN)).disclose


# --- change and forgetting ----------------------------------------------------------------------


def test_a_changed_configuration_holds_from_the_next_utterance():
    """Spec: SUP-8, PRS-6 — names and bounds change while people stay known."""
    stage = Stage()
    assert stage.say("Wren, hi") == "quiet:not_addressed"
    stage.chain.configure(PresenceSection(muted=(BEN, MANAGER)), ("Wren",))
    assert stage.say("Wren, hi") == "addressed"
    assert stage.say("Robin, hi") == "quiet:not_addressed"
    assert stage.say("Wren, hi", BEN) == "quiet:muted"
    assert stage.say("Wren, hi", MANAGER) == "quiet:muted"
    assert stage.chain.people == 1


def test_forgetting_leaves_nothing_of_a_person():
    """Spec: MEM-5 — counters, times, sketches and the last reply go; afterwards they are a stranger."""
    stage = Stage(disclose=True, turns_per_person=2)
    for text in ("Robin, hi", "Robin, how are you doing", "Robin, what is new with you"):
        stage.say(text, ANN)
    stage.chain.replied(ANN, "All well.", Origin.PUBLIC_CHAT, stage.now)
    stage.say("Robin, be quiet", ANN)
    assert ANN in _texts_of(stage.chain)
    stage.chain.forget(ANN)
    assert ANN not in _texts_of(stage.chain)
    assert stage.chain.people == 0
    decision = stage.judge(stage.chat("Robin, hi", ANN))
    assert decision.answers
    assert decision.disclose
    stage.chain.replied(BEN, "Hello.", Origin.PUBLIC_CHAT, stage.now)
    stage.chain.forget(ANN)
    assert stage.room.replied_to == BEN


def test_what_was_said_is_kept_nowhere():
    """Presence keeps no words of anybody."""
    stage = Stage()
    stage.say("Robin, xylophone canary", ANN)
    stage.chain.replied(ANN, "marimba canary", Origin.PUBLIC_CHAT, stage.now)
    assert "canary" not in _texts_of(stage.chain)


def _texts_of(thing: object, seen: set[int] | None = None) -> str:
    """Return all texts that can be reached from an object of presence."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, Random | Protected | PresenceSection):
        return ""
    seen.add(id(thing))
    if isinstance(thing, str):
        return thing + " "
    if isinstance(thing, dict):
        return "".join(_texts_of(part, seen) for pair in thing.items() for part in pair)
    if isinstance(thing, tuple | list | frozenset):
        return "".join(_texts_of(part, seen) for part in thing)
    slots = [slot for cls in type(thing).__mro__ for slot in getattr(cls, "__slots__", ())]
    return "".join(_texts_of(getattr(thing, slot), seen) for slot in slots)


# --- anything at all ----------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(
            st.sampled_from([ME, OWNER, ANN, BEN, BOT, "x"]),
            st.text(max_size=40) | st.sampled_from(["Robin, hi", "robin be quiet for 1 hour", "you may talk again"]),
            st.booleans(),
            st.floats(min_value=0.0, max_value=500.0),
        ),
        max_size=30,
    )
)
def test_any_words_in_any_order_give_one_decision_each(utterances):
    """No text breaks a rule, a mode goes with an answer, and the same life gives the same decisions."""
    lives = []
    for _ in range(2):
        stage = Stage(ambient_probability=0.5, moderate_by_model=True)
        life = []
        for who, text, in_public, after in utterances:
            event = (stage.chat if in_public else stage.im)(text, who)
            decision = stage.judge(event, after=after)
            assert decision.answers is (decision.mode in {PresenceMode.ADDRESSED, PresenceMode.AMBIENT})
            if decision.answers:
                stage.chain.replied(who, text, decision.origin, stage.now)
            life.append(decision)
        lives.append(life)
    assert lives[0] == lives[1]


def test_a_rule_that_needs_nobody_looks_at_nobody():
    """Who is near is asked for at most once, and not at all for what is decided without it."""
    stage = Stage(muted=(ANN,))
    stage.say("Robin, hi", ANN)
    assert stage.around.looks == 0
    stage.say("hello there everybody around", BEN)
    assert stage.around.looks == 1


def test_avatars_of_one_service_know_each_other_from_their_login():
    """Spec: PRS-2, PRS-4 — nobody has to write the UUIDs of their own avatars down."""
    own = OwnAvatars()
    stages = [Stage(own=own, turns_per_bot=2) for _ in range(2)]
    profile = GridProfile(grid="G")
    here = Position(x=1, y=1)
    stages[0].chain.notice(BackendReady(avatar_id=SISTER, name="Wren", region="R", position=here, profile=profile))
    codes = [stages[1].say(f"Robin, {text}", SISTER) for text in ("hi", "how are you", "what is new")]
    assert codes == ["addressed", "addressed", "quiet:turn_ceiling"]


def test_where_the_avatar_goes_does_not_reset_people():
    """Spec: PRS-2 — a loop is not renewed by a region crossing."""
    stage = Stage(turns_per_person=1)
    assert stage.say("Robin, hi") == "addressed"
    stage.chain.notice(RegionEntered(region="S", position=Position(x=1, y=1)))
    assert stage.say("Robin, hello again") == "quiet:turn_ceiling"


def test_accents_and_compositions_of_a_name_are_one():
    """Spec: PRS-1 — composed and decomposed letters are the same name; another letter is not."""
    section = PresenceSection()
    chain = PresenceChain(section, ("Zoë",), Protected((), section), Random(1))
    stage = Stage()
    for text, code in (("zoe\u0308, hi", "addressed"), ("ZOË!", "addressed"), ("Zoe, hi", "quiet:not_addressed")):
        assert chain.judge(stage.chat(unicodedata.normalize("NFD", text)), stage.around, 1.0, 0.0).code == code


def test_the_next_connection_may_use_an_id_again():
    """Spec: PRS-1, SUP-5 — a grid counts from one after each login; its first words are no repetitions."""
    stage = Stage()
    assert stage.say("Robin, hi", utterance_id="u1") == "addressed"
    assert stage.say("Robin, hi again", utterance_id="u1") == "quiet:duplicate"
    stage.chain.fence()
    assert stage.say("Robin, hello there", utterance_id="u1") == "addressed"
