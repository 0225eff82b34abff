"""Claims about speaking."""

import pytest

from gridagent.actions import Say, SendIm, SetTyping
from gridagent.authority import Origin, Provenance
from gridagent.config.presence import PresenceSection
from gridagent.thinking.mouth import SPEECH_ORDINAL, Mouth, Speech

ANN = "00000000-0000-4000-8000-0000000000b1"
BEN = "00000000-0000-4000-8000-0000000000b2"


def speech(text="hello", to=ANN, origin=Origin.PUBLIC_CHAT):
    """Build a speech."""
    return Speech(
        text=text, to=to, origin=origin, cause="u1", conversation="c", tainted=True, provenance=Provenance.MODEL
    )


def mouth(**section):
    """Build a mouth that types ten characters a second."""
    return Mouth(PresenceSection(**{"speech_characters_per_s": 10.0, **section}))


def test_a_speech_in_public_types_says_and_ceases_to_type():
    """Spec: PRS-3 — in that order, each part after its typing, each with an ordinal of its own."""
    spoken = mouth().plan(speech("hello"), 100.0)
    assert [(each.at, type(each.proposal.action)) for each in spoken] == [
        (100.0, SetTyping), (100.5, Say), (100.6, SetTyping),
    ]  # fmt: skip
    assert [each.proposal.ordinal for each in spoken] == [SPEECH_ORDINAL, SPEECH_ORDINAL + 1, SPEECH_ORDINAL + 2]
    assert {each.proposal.principal.avatar_id for each in spoken} == {ANN}
    assert all(each.proposal.tainted for each in spoken)


def test_an_im_goes_to_who_asked_without_a_sign():
    """Spec: MEM-1 — what is answered privately is said to one person alone."""
    (spoken,) = mouth().plan(speech("hello", BEN, Origin.DIRECT_IM), 100.0)
    assert spoken.proposal.action == SendIm(to=BEN, text="hello")


def test_one_place_is_spoken_in_one_after_the_other_and_others_at_once():
    """Spec: PRS-3 — two answers in public do not overlap; an IM waits for nobody else's."""
    of = mouth(show_typing=False)
    first = of.plan(speech("0123456789"), 100.0)
    second = of.plan(speech("0123456789"), 100.0)
    private = of.plan(speech("0123456789", BEN, Origin.DIRECT_IM), 100.0)
    assert [first[-1].at, second[-1].at, private[-1].at] == [101.0, 102.2, 101.0]
    of.hush()
    assert of.plan(speech("0123456789"), 100.0)[-1].at == 101.0
    assert of.plan(speech("0123456789"), 500.0)[-1].at == 501.0


@pytest.mark.parametrize("origin", [Origin.PUBLIC_CHAT, Origin.DIRECT_IM])
def test_nothing_to_say_is_nothing_proposed(origin):
    """A reply of white space is no utterance."""
    assert mouth().plan(speech(" \n ", origin=origin), 1.0) == ()


def test_how_many_places_are_remembered_is_bounded():
    """Spec: PRS-3 — IMs to a crowd leave a bounded trace."""
    of = mouth()
    for number in range(300):
        of.plan(speech("x", f"00000000-0000-4000-8000-{number + 1:012x}", Origin.DIRECT_IM), 1.0)
    assert len(of._busy_until) == 256
