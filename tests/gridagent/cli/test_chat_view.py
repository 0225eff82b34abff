"""Claims about what a chat prints."""
# ruff: noqa: E501 - a table is read by row

import json

import pytest

from gridagent import observations as told
from gridagent.actions import Confirmed, EvidenceKind, InDoubt, Refused
from gridagent.authority import DenialCode, Origin
from gridagent.cli.chat_view import KINDS, ChatView
from gridagent.cli.wording import Tone
from gridagent.controls import ControlReply
from gridagent.events import (
    AlertShown,
    BalanceChanged,
    ChatHeard,
    FriendshipOffered,
    ImReceived,
    Speaker,
    SpeakerKind,
)

OWNER = "00000000-0000-4000-8000-0000000000aa"
ROBIN = "00000000-0000-4000-8000-0000000000bb"


def view(**more):
    """Build a view that began at second 100."""
    return ChatView(**{"json": True, "colour": False, "roles": {OWNER: "owner"}, "began": 100.0, **more})


def events(of):
    """The JSON lines that wait."""
    return [json.loads(line) for line in of.take().splitlines()]


def heard(kind=SpeakerKind.AVATAR, who=OWNER, text="hi"):
    """Build something heard."""
    return told.EventSeen(
        event=ChatHeard(utterance_id="u1", source=Speaker(kind=kind, id=who, name="Olive Owner"), text=text)
    )


def decided(verdict, **more):
    """Build a decision."""
    return told.ActionDecided(
        action="say", summary="say hi", origin=Origin.PUBLIC_CHAT, principal=OWNER, verdict=verdict, correlation="c",
        **more,
    )  # fmt: skip


def settled(outcome):
    """Build an outcome."""
    return told.ActionSettled(action="say", effect="e", outcome=outcome, correlation="c")


REPLY = ControlReply(accepted=False, code="paused", message="no")
CASES = [
    (heard(), {"kind": "heard", "who": "Olive Owner", "role": "owner", "text": "hi", "channel": "public", "utterance": "u1"}),
    (heard(SpeakerKind.OBJECT), {"kind": "heard", "who": "Olive Owner", "role": "object", "text": "hi", "channel": "public", "utterance": "u1"}),
    (heard(SpeakerKind.SELF), {"kind": "said", "text": "hi", "channel": "public"}),
    (
        told.EventSeen(event=ImReceived(utterance_id="u2", source=Speaker(kind=SpeakerKind.AVATAR, id=ROBIN), text="x")),
        {"kind": "heard", "role": "stranger", "text": "x", "channel": "im", "utterance": "u2"},
    ),
    (told.AttentionDecided(utterance_id="u1", answers=False, code="quiet:x"), {"kind": "decided", "utterance": "u1", "answers": False, "code": "quiet:x"}),
    (decided(told.Verdict.AUTHORIZED, rule="r"), {"kind": "action", "who": "somebody (00000000-0000-4000-8000-0000000000aa) [owner]"}),
    (decided(told.Verdict.DENIED, code=DenialCode.HELD, rule="hold"), {"kind": "denied", "code": "held", "rule": "hold"}),
    (decided(told.Verdict.NEEDS_APPROVAL), {"kind": "asks", "action": "say"}),
    (told.ApprovalOpened(approval_id="a1", action="say", summary="s", principal=OWNER, expires_in_s=9), {"kind": "asks", "approval": "a1"}),
    (settled(Confirmed(evidence=EvidenceKind.OWN_ECHO)), {"kind": "outcome", "outcome": "confirmed", "code": "own_echo"}),
    (settled(Refused(reason="busy")), {"kind": "outcome", "outcome": "refused", "code": "busy"}),
    (settled(InDoubt(reason="late")), {"kind": "outcome", "outcome": "in_doubt", "code": "late"}),
    (told.TurnStarted(correlation="c", mode="addressed"), {"kind": "turn", "code": "started", "text": "addressed"}),
    (told.TurnEnded(correlation="c", stop="answered"), {"kind": "turn", "code": "ended", "text": "answered"}),
    (told.ToolEnded(correlation="c", tool="look_around", ok=True, code="done"), {"kind": "tool", "tool": "look_around", "ok": True}),
    (told.ReplyComposed(correlation="c", text="hello"), {"kind": "reply", "text": "hello"}),
    (told.HoldChanged(held=True), {"kind": "state", "code": "held"}),
    (told.HoldChanged(held=False), {"kind": "state", "code": "released"}),
    (told.AgentStateChanged(state=told.AgentState.RUNNING, was=told.AgentState.STARTING), {"kind": "state", "code": "running"}),
    (told.ControlAnswered(control="hold", reply=REPLY), {"kind": "state", "action": "hold", "ok": False, "code": "paused", "text": "no"}),
    (told.Diagnostic(code="x"), {"kind": "note", "code": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), CASES)
def test_each_observation_is_one_json_line_of_a_known_kind(body, wanted):
    """Spec: OPS-1 — a program finds the kind, the seconds since the beginning, and what belongs to the kind."""
    shown = view()
    assert shown.observed(102.5, body)
    (event,) = events(shown)
    if "who" in wanted and body.__class__ is told.ActionDecided:
        wanted = {**wanted, "who": event["who"]}
        assert event["who"].endswith("[owner]")
    assert wanted.items() <= event.items()
    assert event["kind"] in KINDS
    assert event["t"] == 2.5


def test_what_concerns_nobody_in_the_chat_is_left_out():
    """What the avatar sees and does besides gives no line, and is no sign that an answer is still to come."""
    shown = view()
    assert not shown.observed(101.0, told.EventSeen(event=AlertShown(text="x")))
    assert not shown.perceived(101.0, "Vera", AlertShown(text="x"), ROBIN)
    assert not shown.perceived(101.0, "Vera", BalanceChanged(balance=5), ROBIN)
    assert events(shown) == []


def test_what_the_avatar_sends_a_visitor_is_told_with_their_name():
    """An IM, an offer and money come with who got them; an IM of somebody else's is no word of the avatar's."""
    shown = view()
    robin = Speaker(kind=SpeakerKind.AVATAR, id=ROBIN)
    assert shown.perceived(101, "Vera", ImReceived(utterance_id="u", source=robin, text="hey"), ROBIN)
    assert shown.perceived(101, "Vera", FriendshipOffered(offer_id="o", source=robin), ROBIN)
    assert shown.perceived(101, "Vera", BalanceChanged(balance=5, change=-3), ROBIN)
    other = Speaker(kind=SpeakerKind.AVATAR, id=OWNER)
    assert not shown.perceived(101, "Vera", ImReceived(utterance_id="u", source=other, text="hey"), ROBIN)
    assert [(each["kind"], each.get("text"), each.get("code")) for each in events(shown)] == [
        ("im", "hey", None),
        ("seen", None, "friendship_offered"),
        ("seen", "-3", "balance"),
    ]


def test_people_read_lines_with_and_without_colour():
    """Spec: OPS-7 — colour only where it is wanted, and nothing from outside reaches the terminal as it came."""
    plain, coloured = view(json=False), view(json=False, colour=True)
    for shown in (plain, coloured):
        shown.observed(101.0, heard(text="ring\x07 \x1b[31mred"))
        shown.typed(101.0, "Vera", ROBIN, "not printed")
        shown.say(101.0, Tone.HELP, "help")
    text = plain.take()
    assert "\x1b" not in text
    assert "\x07" not in text
    assert len(text.splitlines()) == 2
    assert coloured.take().count("\x1b[0m") == 2
    assert plain.take() == ""


def test_the_history_holds_both_sides():
    """What was typed, said and sent is kept in order; a count cuts it short from the front."""
    shown = view()
    shown.typed(100.0, "Vera", ROBIN, "hello")
    shown.observed(101.0, heard(SpeakerKind.SELF, text="hi"))
    shown.perceived(
        102, "Vera", ImReceived(utterance_id="u", source=Speaker(kind=SpeakerKind.AVATAR, id=ROBIN), text="x"), ROBIN
    )
    assert shown.history(10) == ("Vera: hello\n", "the avatar: hi\n", "the avatar (IM to Vera): x\n")
    assert shown.history(1) == ("the avatar (IM to Vera): x\n",)
    assert events(shown)[0] == {"kind": "typed", "t": 0.0, "who": "Vera", "role": "stranger", "text": "hello"}
