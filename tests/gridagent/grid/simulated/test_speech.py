"""Who hears what, and how far."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Confirmed, Position, Volume
from gridagent.events import ChatHeard, SpeakerKind, TypingSeen
from gridagent.grid.simulated import Thing, World
from gridagent.grid.simulated.characters import Act, ObjectSay
from gridagent.grid.simulated.speech import RANGE_M
from gridagent.grid.simulated.witness import Witness


class Parrot:
    """A script that remembers what it heard and says one thing back on channel 7."""

    def __init__(self) -> None:
        self.heard: list[ChatHeard] = []

    def start(self, scene):
        return []

    def on_event(self, event, scene):
        self.heard.append(event)
        return [Act(action=ObjectSay(text="pieces of eight", volume=Volume.SHOUT))] if event.text == "talk" else []

    def on_wake(self, name, scene):
        return []


def put(who: Witness, x: float) -> None:
    """Stand somebody at a point east of (100, 100), at once."""
    body = who.world.avatar(who.avatar_id).body
    assert body is not None
    body.position = Position(x=x, y=100.0, z=22.0)


@pytest.mark.parametrize("volume", list(Volume))
@pytest.mark.parametrize(("beyond_m", "hears"), [(-0.1, True), (0.0, True), (0.1, False)])
def test_speech_carries_as_far_as_its_volume(
    ada: Witness, ben: Witness, volume: Volume, beyond_m: float, *, hears: bool
) -> None:
    """A whisper carries 10 m, speech 20 m and a shout 100 m, and no further.

    Spec: SIM-1
    """
    put(ben, 100.0 + {"whisper": 10.0, "say": 20.0, "shout": 100.0}[volume.value] + beyond_m)
    ada.do(asked.Say(text="hello", volume=volume))
    heard = ben.saw(ChatHeard)
    assert bool(heard) is hears
    assert all(event.distance_m == pytest.approx(RANGE_M[volume] + beyond_m) for event in heard)


def test_own_words_come_back_and_others_hear_the_same_utterance(ada: Witness, ben: Witness) -> None:
    """The echo is of kind self with the reference; others get no reference of somebody else's action.

    Spec: EFX-1
    """
    ada.do(asked.Emote(text="waves"))
    own, heard = ada.saw(ChatHeard)[0], ben.saw(ChatHeard)[0]
    assert (own.source.kind, own.text, own.reference) == (SpeakerKind.SELF, "/me waves", "w1")
    assert (heard.source.kind, heard.source.id, heard.reference) == (SpeakerKind.AVATAR, ada.avatar_id, "")


def test_nobody_hears_across_a_border(ada: Witness, dan: Witness) -> None:
    """Speech stays in its region, however near the neighbour is."""
    put(ada, 255.0)
    body = dan.world.avatar(dan.avatar_id).body
    assert body is not None
    body.position = Position(x=1.0, y=100.0)
    ada.do(asked.Say(text="anybody?", volume=Volume.SHOUT))
    assert dan.saw(ChatHeard) == []


def test_words_on_another_channel_reach_scripts_and_not_people(world: World, ada: Witness, ben: Witness) -> None:
    """Channel 5 is heard by objects only, and acknowledged to the speaker.

    Spec: EFX-1
    """
    parrot = Parrot()
    perch = world.add_object("Plaza", owner_id=ada.avatar_id, position=Position(x=105.0, y=100.0), thing=Thing())
    far = world.add_object("Plaza", owner_id=ada.avatar_id, position=Position(x=200.0, y=100.0), thing=Thing())
    world.script(perch, parrot)
    deaf = Parrot()
    world.script(far, deaf)
    outcome = ada.do(asked.Say(text="menu", chat_channel=5))
    assert isinstance(outcome, Confirmed)
    assert (outcome.evidence.value, ada.saw(ChatHeard), ben.saw(ChatHeard)) == ("delivered", [], [])
    assert [(event.text, event.chat_channel) for event in parrot.heard] == [("menu", 5)]
    assert deaf.heard == []


def test_an_object_speaks_as_itself_and_does_not_hear_itself(world: World, ada: Witness, ben: Witness) -> None:
    """An object's words name the object and its owner, and are never the owner's own words.

    Spec: SIM-1
    Fault: 15
    """
    parrot = Parrot()
    thing = Thing(name="Ada Actor")
    world.script(
        world.add_object("Plaza", owner_id=ada.avatar_id, position=Position(x=180.0, y=100.0), thing=thing), parrot
    )
    ada.do(asked.Say(text="talk", volume=Volume.SHOUT))
    ada.pass_time(1.0)
    heard = ben.saw(ChatHeard)[-1]
    assert (heard.text, heard.source.kind, heard.source.owner_id) == (
        "pieces of eight",
        SpeakerKind.OBJECT,
        ada.avatar_id,
    )
    assert ada.saw(ChatHeard)[-1].source.kind is SpeakerKind.OBJECT
    assert [event.text for event in parrot.heard] == ["talk"]


def test_typing_is_seen_in_earshot_only(ada: Witness, ben: Witness) -> None:
    """The typing indicator carries as far as speech."""
    ada.do(asked.SetTyping(typing=True))
    put(ben, 130.0)
    ada.do(asked.SetTyping(typing=False))
    assert [event.typing for event in ben.saw(TypingSeen)] == [True]
    assert ada.saw(TypingSeen) == []
