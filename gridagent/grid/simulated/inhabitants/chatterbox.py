"""The chatterbox: talks all the time, to everybody and to somebody, and answers when spoken to.

The main source of utterances in a crowded scenario: most go to nobody, a share is addressed to its
``targets`` by first name or by IM. Two chatterboxes that answer each other are kept from doing so without
end by a pause a person.
"""

from __future__ import annotations

from collections.abc import Sequence

from gridagent.events import GridEvent, ImReceived
from gridagent.grid.simulated.characters import ObjectEvent, Request, Scene, Wake
from gridagent.grid.simulated.inhabitants.casting import AvatarRefs, Cast, CharacterParams, Lines, Seconds, Share
from gridagent.grid.simulated.inhabitants.manners import Recently, around, fill, first_name, im, pick, say, thanks
from gridagent.grid.simulated.inhabitants.speech import address, choose_target, spoken_to
from gridagent.ids import AvatarId

__all__ = ("Chatterbox", "ChatterboxParams")


class ChatterboxParams(CharacterParams, frozen=True, kw_only=True, tag="chatterbox"):
    """What a scenario may say about a chatterbox."""

    every_s: Seconds = 20.0
    """Mean pause between two utterances."""
    targets: AvatarRefs = ()
    """Whom it speaks to by name."""
    addressed_share: Share = 0.3
    """Part of its utterances that go to a target who is here."""
    im_share: Share = 0.2
    """Part of the addressed ones that are IMs."""
    lines: Lines = (
        "Did you hear? They are building a lighthouse behind the hill.",
        "I had the strangest dream about a flying teapot.",
        "Nothing beats a rainy day indoors.",
        "My neighbour's parrot speaks three languages and lies in all of them.",
        "I am thinking of repainting my house. Green, perhaps.",
        "The market was empty this morning. Empty!",
        "They say the old mill turns at night without any wind.",
        "I once knew a man who collected clouds.",
    )
    """What it says to everybody."""
    questions: Lines = (
        "what do you make of all this?",
        "have you been here long?",
        "what time is it where you are?",
        "do you know who owns this place?",
        "what would you change here if you could?",
        "do you like music, {name}?",
        "who else is around today?",
    )
    """What it says to its targets; the name is put in front unless the line has it."""
    answers: Lines = (
        "Is that so, {name}?",
        "You don't say, {name}!",
        "Ha, {name}, that is exactly what my aunt would say.",
        "Tell me more, {name}.",
    )
    """What it says to who speaks to it."""
    answer_gap_s: Seconds = 20.0
    """How long it does not answer the same person again."""


class Chatterbox:
    """Talks; never answers an object."""

    __slots__ = ("_answered", "_last", "_params", "_targets")

    def __init__(self, params: ChatterboxParams, cast: Cast) -> None:
        self._params = params
        self._targets = cast.persons(params.targets)
        self._answered = Recently()
        self._last = ""

    def start(self, scene: Scene) -> Sequence[Request]:
        """Begin to talk within a few seconds."""
        return [Wake(name="talk", after_s=scene.rng.uniform(1.0, 6.0))]

    def on_event(self, event: GridEvent | ObjectEvent, scene: Scene) -> Sequence[Request]:
        """Answer by the door through which it was spoken to."""
        source = spoken_to(event, scene)
        if source is None:
            return thanks(event, scene)
        if not self._answered.due(source.id, scene.now, self._params.answer_gap_s):
            return ()
        line = fill(pick(scene.rng, self._params.answers), first_name(source.name))
        after_s = around(scene.rng, 3.0)
        if isinstance(event, ImReceived):
            return [im(AvatarId(source.id), line, after_s=after_s)]
        return [say(line, after_s=after_s)]

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        """Say the next thing."""
        del name
        again = Wake(name="talk", after_s=around(scene.rng, self._params.every_s))
        target = choose_target(self._targets, scene) if scene.rng.random() < self._params.addressed_share else None
        lines = self._params.lines if target is None else self._params.questions
        self._last = pick(scene.rng, lines, but=self._last)
        if target is None:
            return [say(self._last), again]
        return [address(target, self._last, scene, im_share=self._params.im_share), again]
