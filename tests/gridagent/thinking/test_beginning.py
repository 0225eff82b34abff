"""Claims about how a turn is begun that the thinker's tests do not make."""

import pytest

from gridagent.actions import Position
from gridagent.authority import Origin, Role, TextSource
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.conversation.keys import Channel
from gridagent.events import ChatHeard, ImReceived, Posture, Speaker, SpeakerKind
from gridagent.mind import Moment
from gridagent.policy import Policy
from gridagent.presence.decision import AttentionCode, PresenceDecision, PresenceMode
from gridagent.presence.persona import Persona
from gridagent.thinking.beginning import begin, heard_as
from gridagent.tools.registry import Registry
from gridagent.turn import TurnLimits

OWNER = "00000000-0000-4000-8000-0000000000aa"
FRIEND = "00000000-0000-4000-8000-0000000000ab"
ANN = "00000000-0000-4000-8000-0000000000b1"
NOW = Moment(1e9, 50.0)


class Around:
    """Nowhere yet, with an owner and a trusted friend."""

    self_id = name = None
    generation, region, posture, profile, position, balance = 3, "", None, None, None, None
    name = ""
    held = False
    policy = Policy(PolicySection(), RolesSection(owners=(OWNER,), trusted=(FRIEND,)))

    def avatars(self):
        return ()

    def objects(self):
        return ()


def asked(who=ANN, mode=PresenceMode.ADDRESSED, *, im=False, text="hi"):
    """What an utterance asks."""
    source = Speaker(kind=SpeakerKind.AVATAR, id=who, name="Olive Owner")
    event = (ImReceived if im else ChatHeard)(utterance_id=f"u-{text}", source=source, text=text)
    origin = Origin.DIRECT_IM if im else Origin.PUBLIC_CHAT
    decision = PresenceDecision(
        utterance_id=event.utterance_id, code=AttentionCode.ADDRESSED, mode=mode, origin=origin, rule="turn"
    )
    return heard_as(event, decision, avatar="robin", around=Around(), now=NOW)


def begun(*batch, around=None):
    """Begin a turn."""
    return begin(
        tuple(each for _, each in batch), key=batch[0][0], around=around or Around(), now=NOW,
        persona=Persona(style="x"), limits=TurnLimits(deadline_s=30.0),
        registry=Registry(), ports=frozenset(), parcel=lambda: None, read=tuple,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("who", "label", "tainted", "role"),
    [
        (OWNER, TextSource.OWNER, False, Role.OWNER),
        (FRIEND, TextSource.AUTHORISED, False, Role.TRUSTED),
        (ANN, TextSource.STRANGER, True, Role.STRANGER),
    ],
)
def test_who_speaks_follows_from_the_uuid(who, label, tainted, role):
    """Spec: POL-4, POL-5 — all three are called alike; label, taint and role are those of the UUID."""
    key, message = asked(who)
    assert (message.heard.source, message.heard.tainted, key.peer) == (label, tainted, who)
    running = begun((key, message))
    assert (running.role, running.principal.avatar_id) == (role, who)
    assert running.authorised is not tainted


def test_public_and_im_are_two_conversations():
    """Spec: MEM-1 — the key says through which door it was said."""
    assert [asked(im=im)[0].channel for im in (False, True)] == [Channel.PUBLIC, Channel.IM]


def test_a_turn_is_named_after_its_newest_message_and_connection():
    """Spec: MND-14 — the id that its actions will have in the audit trail; its time runs from now."""
    running = begun(asked(text="one"), asked(text="two"))
    assert (running.correlation, running.cause, running.ends_at) == ("3.u-two", "u-two", 80.0)


def test_whoever_was_addressed_stays_so():
    """Spec: MND-16 — a later overheard word does not take the answer's tools away."""
    assert begun(asked(), asked(mode=PresenceMode.AMBIENT, text="b")).mode.value == "addressed"
    assert begun(asked(mode=PresenceMode.AMBIENT)).mode.value == "ambient"


def test_where_it_is_is_told_in_a_sentence():
    """Spec: MND-4 — place and posture; nothing while it is nowhere."""
    around = Around()
    (errand,) = begun(asked(), around=around).turn.next_effects()
    assert "region" not in "".join(turn.text for turn in errand.request.turns[1:])
    around.region, around.position, around.posture = "Plaza", Position(x=1.4, y=2.0, z=3.0), Posture.SITTING_ON_GROUND
    (errand,) = begun(asked(), around=around).turn.next_effects()
    assert "region Plaza at (1, 2, 3), sitting on ground" in "".join(turn.text for turn in errand.request.turns)
