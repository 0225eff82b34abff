"""The avatar's own words."""

from gridagent.events import SpeakerKind
from gridagent.presence.rules.own_echo import judge
from tests.gridagent.presence.stage import ANN, ME, Around, Stage


def test_what_the_simulator_calls_our_own_is_no_utterance():
    """Spec: PRS-1 — neither by kind nor by UUID does the avatar answer itself."""
    stage = Stage()
    assert judge(stage.heard(stage.chat("Robin, hi", ME, kind=SpeakerKind.SELF)), stage.room) == "quiet:own_echo"
    assert judge(stage.heard(stage.chat("Robin, hi", ME)), stage.room) == "quiet:own_echo"


def test_others_and_an_avatar_that_does_not_know_itself_pass():
    """Before the grid told who we are, only its own mark counts; a look-alike name never does."""
    stage = Stage()
    assert judge(stage.heard(stage.chat("hi", ANN, name="Robin Resident")), stage.room) is None
    stage.around = Around(self_id=None)
    assert judge(stage.heard(stage.chat("hi", ME)), stage.room) is None
