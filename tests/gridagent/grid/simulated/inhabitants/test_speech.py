"""Who is spoken to, and by which door."""

from __future__ import annotations

from gridagent.actions import Say, SendIm
from gridagent.events import SpeakerKind, TypingSeen
from gridagent.grid.simulated.inhabitants.speech import address, choose_target, spoken_to
from tests.gridagent.grid.simulated.inhabitants.company import CAST, ROBIN, ROBIN_SEEN, heard, received, stage


def test_only_avatars_who_mean_the_character_are_answered() -> None:
    """Objects, the system, bystanders and messages kept while away are no address. Fault: 15, 16."""
    scene = stage(ROBIN_SEEN, name="Minnie Me")
    assert spoken_to(heard("hello MINNIE"), scene) is not None
    assert spoken_to(received("hello"), scene) is not None
    assert spoken_to(heard("hello Greta"), scene) is None
    assert spoken_to(heard("a minniescule matter"), scene) is None
    assert spoken_to(heard("hello Minnie", kind=SpeakerKind.OBJECT), scene) is None
    assert spoken_to(received("hello", kind=SpeakerKind.SYSTEM), scene) is None
    assert spoken_to(received("hello", offline=True), scene) is None
    assert spoken_to(TypingSeen(avatar_id=ROBIN, typing=True), scene) is None


def test_nobody_is_addressed_who_is_not_there() -> None:
    """An absent target is not chosen, so that its mailbox does not fill up. Spec: SIM-1."""
    targets = CAST.persons(("Robin Resident",))
    assert choose_target(targets, stage()) is None
    assert choose_target(targets, stage(ROBIN_SEEN)) == ROBIN_SEEN


def test_an_address_names_its_target_in_public_and_not_twice() -> None:
    """Public words begin with the first name, unless the line has it already. Spec: SIM-1."""
    scene = stage(ROBIN_SEEN)
    assert address(ROBIN_SEEN, "look!", scene, im_share=0.0).action == Say(text="Robin, look!")
    assert address(ROBIN_SEEN, "look, {name}!", scene, im_share=0.0).action == Say(text="look, Robin!")
    assert address(ROBIN_SEEN, "look!", scene, im_share=1.0).action == SendIm(to=ROBIN, text="look!")
