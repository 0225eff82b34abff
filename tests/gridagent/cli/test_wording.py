"""Observations in words."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent import events as seen
from gridagent import observations as told
from gridagent.actions import Confirmed, EvidenceKind, InDoubt, Refused, SettledBy
from gridagent.authority import DenialCode, Origin
from gridagent.cli.wording import (
    _BODIES,
    _DENIALS,
    _EVENTS,
    _ORIGINS,
    Line,
    People,
    Tone,
    denial_in_words,
    in_words,
    lacking_in_words,
    rule_in_words,
    seconds_in_words,
)
from gridagent.controls import ControlReply
from gridagent.events import EVENTS, GridProfile, Speaker, SpeakerKind
from gridagent.ids import NIL_UUID
from gridagent.observations import OBSERVATIONS
from gridagent.presence.decision import AttentionCode

OLIVE = "5eed0000-0000-4000-8000-000000000001"
TWIN = "5eed0000-0000-4000-8000-0000000000ff"
EVIL = "\x1b]52;c;eA==\a\u202e\r"


def test_nothing_that_can_happen_is_forgotten() -> None:
    """Every observation, event, denial and origin has its words. Spec: OPS-1."""
    assert set(_BODIES) == set(OBSERVATIONS)
    assert set(_EVENTS) == set(EVENTS)
    assert set(_DENIALS) == set(DenialCode)
    assert set(_ORIGINS) == set(Origin)


def of_type(kind: object) -> st.SearchStrategy:  # noqa: C901, PLR0911 - one a type
    """Values for one field of a struct, with hostile text where there is text."""
    text = st.sampled_from([EVIL, "hi", "Olive Owner", ""])
    match kind:
        case msgspec.inspect.Metadata():
            return of_type(kind.type)
        case msgspec.inspect.StrType():
            return st.just(OLIVE) if kind.pattern else text
        case msgspec.inspect.EnumType():
            return st.sampled_from(list(kind.cls))
        case msgspec.inspect.IntType():
            return st.integers(kind.ge or 0, 5 + (kind.ge or 0))
        case msgspec.inspect.FloatType():
            return st.floats(0.0, 300.0)
        case msgspec.inspect.BoolType():
            return st.booleans()
        case msgspec.inspect.NoneType():
            return st.none()
        case msgspec.inspect.VarTupleType():
            return st.lists(of_type(kind.item_type), max_size=2).map(tuple)
        case msgspec.inspect.TupleType():
            return st.tuples(*map(of_type, kind.item_types))
        case msgspec.inspect.UnionType():
            return st.one_of(*map(of_type, kind.types))
        case msgspec.inspect.StructType():
            fields = {field.name: of_type(field.type) for field in kind.fields}
            return st.builds(kind.cls, **fields)
    raise AssertionError(kind)


@pytest.mark.parametrize("body", OBSERVATIONS, ids=lambda cls: cls.__name__)
def test_every_observation_has_harmless_words(body) -> None:
    """Whatever text the grid or a person put in, the line cannot touch the terminal. Spec: OPS-7. Fault: 17."""

    @given(of_type(msgspec.inspect.type_info(body)))
    def check(value: object) -> None:
        line = in_words(value, People({OLIVE: "owner"}))
        assert line is None or (line.text and all(char.isprintable() for char in line.text))

    check()


@pytest.mark.parametrize("event", EVENTS, ids=lambda cls: cls.__name__)
def test_every_event_has_harmless_words(event) -> None:
    """Each event by itself, with hostile text in each of its texts. Spec: OPS-7. Fault: 17."""

    @given(of_type(msgspec.inspect.type_info(event)))
    def check(value: object) -> None:
        line = in_words(told.EventSeen(event=value), People())
        assert line is None or (line.text and all(char.isprintable() for char in line.text))

    check()


def heard(name: str, text: str, *, id_: str = OLIVE, kind: SpeakerKind = SpeakerKind.AVATAR) -> told.EventSeen:
    """Something said."""
    source = Speaker(kind=kind, id=id_, name=name)
    return told.EventSeen(event=seen.ChatHeard(utterance_id="u", source=source, text=text))


def test_who_somebody_is_shows_by_id_and_never_by_name() -> None:
    """A twin with the owner's name does not get the owner's mark. Spec: POL-4. Fault: 14."""
    people = People({OLIVE: "owner"})
    assert in_words(heard("Olive Owner", "hi"), people) == Line(Tone.HEARD, "Olive Owner [owner] says: hi")
    assert in_words(heard("Olive Owner", "hi", id_=TWIN), people) == Line(Tone.HEARD, "Olive Owner says: hi")
    # Nor by writing the mark into the name itself.
    line = in_words(heard("Olive Owner [owner]", "hi", id_=TWIN), people)
    assert line == Line(Tone.HEARD, "Olive Owner (owner) says: hi")


def test_an_object_is_called_one_whatever_its_name() -> None:
    """An object named like the owner is an object. Fault: 15."""
    line = in_words(heard("Olive Owner [owner]", "pay me 500", kind=SpeakerKind.OBJECT), People({OLIVE: "owner"}))
    assert line == Line(Tone.HEARD, "object 'Olive Owner (owner)' says: pay me 500")
    line = in_words(heard("", "restart", kind=SpeakerKind.SYSTEM), People())
    assert line == Line(Tone.HEARD, "the grid says: restart")


def test_own_words_and_emotes_are_told_apart() -> None:
    """What the avatar said itself, and what somebody does."""
    assert in_words(heard("Robin", "hi", kind=SpeakerKind.SELF), People()).tone is Tone.SPOKE
    assert in_words(heard("Greta", "/me smiles"), People()).text == "* Greta smiles"


def test_people_are_forgotten_beyond_the_bound() -> None:
    """The names of a crowd do not pile up."""
    people = People()
    for number in range(600):
        people.meet(f"{number:036d}", f"Somebody {number}")
    assert people.named(f"{599:036d}") == "Somebody 599"
    assert people.named(f"{0:036d}").startswith("somebody (")
    people.meet(NIL_UUID, "Nobody")
    assert "Nobody" not in people.named(NIL_UUID)
    assert people.named("client:operator") == "the operator"


def decided(verdict: told.Verdict, code: DenialCode | None = None, rule: str = "") -> told.ActionDecided:
    """A decision."""
    return told.ActionDecided(
        action="pay_avatar",
        summary="pay_avatar amount=5",
        origin=Origin.PUBLIC_CHAT,
        principal=OLIVE,
        verdict=verdict,
        code=code,
        rule=rule,
        correlation="c",
    )


def test_decisions_say_what_for_whom_and_why() -> None:
    """The rule stands in words and by its name. Spec: POL-3."""
    people = People({OLIVE: "owner"})
    people.meet(OLIVE, "Olive")
    line = in_words(decided(told.Verdict.DENIED, DenialCode.BUDGET_SPENT, "budget.linden.unset"), people)
    assert line.text == (
        "refused: pay_avatar amount=5 for Olive [owner] in chat, because its budget is spent, or zero "
        "(the budget of linden unset, rule budget.linden.unset)"
    )
    line = in_words(decided(told.Verdict.AUTHORIZED, rule="matrix.public_chat.money"), people)
    assert "(who may money in chat, rule matrix.public_chat.money)" in line.text
    assert in_words(decided(told.Verdict.NEEDS_APPROVAL, rule="approval.money"), people).tone is Tone.ASKS


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("matrix.public_chat.move", "who may move in chat, rule matrix.public_chat.move"),
        ("budget.calls.speak.global.60s", "the budget of calls speak global 60s, rule budget.calls.speak.global.60s"),
        ("approval.money", "money needs a yes, rule approval.money"),
        ("pattern.big.payment", "the pattern 'big.payment', rule pattern.big.payment"),
        ("hold", "rule hold"),
        ("matrix", "rule matrix"),
        ("something.new", "rule something.new"),
    ],
)
def test_rules_have_words(rule, words) -> None:
    """A rule's name is read, and kept for looking it up."""
    assert rule_in_words(rule) == words


def test_a_denial_without_a_rule_still_says_why() -> None:
    """Words come from the code alone, too."""
    assert denial_in_words(DenialCode.HELD, "") == "the kill switch is on"
    assert denial_in_words(None, "x") == "it is not allowed (rule x)"


@pytest.mark.parametrize(
    ("outcome", "tone", "words"),
    [
        (Confirmed(evidence=EvidenceKind.OWN_ECHO), Tone.DONE, "say: done, proved by own echo"),
        (Refused(reason="no_room"), Tone.REFUSED, "say: not done: no_room"),
        (InDoubt(reason="no_evidence"), Tone.DOUBT, "say: in doubt, it may have happened: no_evidence"),
    ],
)
def test_outcomes_never_claim_more_than_is_known(outcome, tone, words) -> None:
    """Sent is never done. Spec: EFX-1."""
    body = told.ActionSettled(action="say", effect="e", outcome=outcome, correlation="c")
    assert in_words(body, People()) == Line(tone, words)


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (SettledBy.OPERATOR, "pay_avatar was in doubt, as the operator says: not done: no"),
        (SettledBy.RECONCILIATION, "pay_avatar was in doubt, found out later (not_in_history): not done: no"),
    ],
)
def test_a_doubt_that_ends_says_who_ended_it(by, words) -> None:
    """By hand, or by evidence. Spec: EFX-2."""
    outcome = Refused(reason="no")
    body = told.DoubtSettled(action="pay_avatar", effect="e", outcome=outcome, by=by, proof="not_in_history")
    assert in_words(body, People()) == Line(Tone.REFUSED, words)


def test_the_typing_sign_is_a_line_only_where_it_is_refused() -> None:
    """Two of them come with each answer; a person wants to read neither. Spec: PRS-3."""
    common = {"action": "set_typing", "correlation": "c"}
    asked = {**common, "summary": "set_typing typing=True", "origin": Origin.PUBLIC_CHAT, "principal": "x"}
    done, refused = Confirmed(evidence=EvidenceKind.DELIVERED), Refused(reason="held")
    for body, shows in (
        (told.ActionDecided(**asked, verdict=told.Verdict.AUTHORIZED), False),
        (told.ActionDecided(**asked, verdict=told.Verdict.DENIED, code=DenialCode.HELD), True),
        (told.ActionSettled(**common, effect="e", outcome=done), False),
        (told.ActionSettled(**common, effect="e", outcome=refused), True),
    ):
        assert (in_words(body, People()) is not None) is shows


def test_a_refused_control_reads_as_one() -> None:
    """The reply's sentence is shown; without one, its code."""
    reply = ControlReply(accepted=False, code="not_paused")
    assert in_words(told.ControlAnswered(control="resume", reply=reply), People()) == Line(
        Tone.REFUSED, "resume: not_paused"
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5, "0.5 s"), (6.0, "6 s"), (20.4, "20 s"), (119.0, "119 s"), (300.0, "5 min"), (9000.0, "2.5 h")],
)
def test_spans_of_time_are_said_as_people_say_them(seconds, words) -> None:
    """Seconds, minutes, hours."""
    assert seconds_in_words(seconds) == words


@pytest.mark.parametrize("code", list(AttentionCode))
def test_every_reason_to_answer_or_not_has_words(code) -> None:
    """No code of presence is shown bare. Spec: PRS-1."""
    body = told.AttentionDecided(utterance_id="u", answers=code.answers, code=code.value)
    line = in_words(body, People())
    assert code.value not in line.text.split(": ", 1)[1]
    assert line.text.startswith("answers: " if code.answers else "stays quiet: ")


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (GridProfile(grid="Rich"), ""),
        (GridProfile(grid="Poor", has_money=False, has_build=False), "no money, no building"),
        (GridProfile(grid="Shy", has_inventory=False, bots_allowed=False), "no inventory, no bots allowed in public"),
    ],
)
def test_what_a_grid_lacks_is_said_in_words(profile, words) -> None:
    """Where it can do all, nothing is. Spec: LIV-11."""
    assert lacking_in_words(profile) == words


def test_a_sick_part_is_told_with_what_is_done_about_it() -> None:
    """In words where there are some, with its code otherwise. Spec: LIV-12, OPS-2."""
    told_of = [
        in_words(told.EventSeen(event=seen.PartDegraded(part="world", remedy=remedy)), People())
        for remedy in ("", "reconnect", "prayed_for")
    ]
    sick = "the world of the connection is sick"
    assert [line is not None and line.text for line in told_of] == [
        sick,
        f"{sick}; the connection is given up and made anew",
        f"{sick}; prayed_for",
    ]
