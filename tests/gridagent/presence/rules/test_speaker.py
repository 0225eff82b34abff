"""Only people who speak now are listened to."""

import pytest

from gridagent.events import SpeakerKind
from gridagent.ids import NIL_UUID
from gridagent.presence.rules.speaker import judge
from tests.gridagent.presence.stage import ANN, OWNER, Stage


@pytest.mark.parametrize(
    ("who", "keys", "code"),
    [
        (OWNER, {"kind": SpeakerKind.OBJECT}, "quiet:not_a_person"),
        (ANN, {"kind": SpeakerKind.SYSTEM}, "quiet:not_a_person"),
        (NIL_UUID, {}, "quiet:not_a_person"),
        (ANN.upper().replace("0", "A"), {}, "quiet:not_a_person"),
        (ANN, {"chat_channel": 7}, "quiet:other_channel"),
        (ANN, {"chat_channel": -1}, "quiet:other_channel"),
        (ANN, {}, None),
    ],
)
def test_objects_systems_and_channels_are_nobody(who, keys, code):
    """Spec: PRS-1 — an object that carries the owner's UUID is still an object."""
    stage = Stage()
    assert judge(stage.heard(stage.chat("Robin, hi", who, **keys)), stage.room) == code


@pytest.mark.parametrize("text", ["", "   ", "...", "⁂", "\u200b\u2060", "?!"])
def test_wordless_utterances_are_nothing(text):
    """Punctuation and invisible characters say nothing."""
    stage = Stage()
    assert judge(stage.heard(stage.im(text)), stage.room) == "quiet:nothing_said"


def test_a_message_from_before_is_not_answered_as_if_it_were_now():
    """Spec: LIV-6 — an offline IM is heard, not answered."""
    stage = Stage()
    assert judge(stage.heard(stage.im("are you there", offline=True)), stage.room) == "quiet:offline_message"
    assert judge(stage.heard(stage.im("are you there")), stage.room) is None
