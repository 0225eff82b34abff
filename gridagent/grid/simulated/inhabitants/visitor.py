"""The plain visitor: comes in, says hello, answers when spoken to, and may travel between regions.

The ordinary person of the simulated grid: has no plan for the agent, and makes the events that ordinary
people make — arriving, leaving, asking for friendship, taking friendship offers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from gridagent.actions import AnswerFriendship, OfferFriendship, Position, TeleportTo
from gridagent.events import FriendshipOffered, GridEvent, ImReceived
from gridagent.grid.simulated.characters import Act, ObjectEvent, Request, Scene, Wake
from gridagent.grid.simulated.inhabitants.casting import AvatarRefs, Cast, CharacterParams, Lines, Seconds, Spot
from gridagent.grid.simulated.inhabitants.manners import (
    Recently,
    around,
    fill,
    first_name,
    im,
    pick,
    present,
    say,
    thanks,
)
from gridagent.grid.simulated.inhabitants.speech import spoken_to
from gridagent.ids import AvatarId

__all__ = ("Visitor", "VisitorParams")


class VisitorParams(CharacterParams, frozen=True, kw_only=True, tag="visitor"):
    """What a scenario may say about a visitor."""

    hello: Lines = ("Hello everybody!", "Good day to all of you.")
    """What it says on arrival."""
    answers: Lines = ("I am new here myself, {name}.", "Nice to meet you, {name}.", "Oh, hello {name}.")
    """What it says to who speaks to it."""
    tour: Annotated[tuple[Spot, ...], Meta(max_length=16)] = ()
    """Places it travels to, one after the other and round again; none means it stays."""
    every_s: Seconds = 300.0
    """Mean stay at one place of its tour."""
    befriends: AvatarRefs = ()
    """Whom it asks for friendship, once each."""


class Visitor:
    """Says hello wherever it arrives."""

    __slots__ = ("_answered", "_asked", "_befriends", "_params", "_stop")

    def __init__(self, params: VisitorParams, cast: Cast) -> None:
        self._params = params
        self._befriends = cast.persons(params.befriends)
        self._answered = Recently()
        self._asked: set[str] = set()  # at most the 64 names of `befriends`
        self._stop = 0

    def start(self, scene: Scene) -> Sequence[Request]:
        """Say hello, look for friends, and plan the journey if there is one."""
        requests: list[Request] = [
            say(pick(scene.rng, self._params.hello), after_s=scene.rng.uniform(2.0, 10.0)),
            Wake(name="befriend", after_s=around(scene.rng, 30.0)),
        ]
        if self._params.tour:
            requests.append(Wake(name="travel", after_s=around(scene.rng, self._params.every_s)))
        return requests

    def on_event(self, event: GridEvent | ObjectEvent, scene: Scene) -> Sequence[Request]:
        """Take offered friendship; answer by the door through which it was spoken to."""
        if isinstance(event, FriendshipOffered):
            return [Act(action=AnswerFriendship(offer_id=event.offer_id, accept=True), after_s=around(scene.rng, 3.0))]
        source = spoken_to(event, scene)
        if source is None:
            return thanks(event, scene)
        if not self._answered.due(source.id, scene.now, 15.0):
            return ()
        line = fill(pick(scene.rng, self._params.answers), first_name(source.name))
        after_s = around(scene.rng, 3.0)
        if isinstance(event, ImReceived):
            return [im(AvatarId(source.id), line, after_s=after_s)]
        return [say(line, after_s=after_s)]

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        """Travel on, or ask somebody for friendship."""
        if name == "travel":
            place = self._params.tour[self._stop % len(self._params.tour)]
            self._stop += 1
            there = Position(x=place.x, y=place.y, z=place.z)
            return [
                say("I must be off. Goodbye!"),
                Act(action=TeleportTo(region=place.region, position=there), after_s=3.0),
                say(pick(scene.rng, self._params.hello), after_s=3.0 + around(scene.rng, 20.0)),
                Wake(name="travel", after_s=around(scene.rng, self._params.every_s) + 30.0),
            ]
        for view in present(self._befriends, scene):
            if view.avatar_id not in self._asked:
                self._asked.add(view.avatar_id)
                offer = OfferFriendship(to=view.avatar_id, message="Shall we be friends?")
                return [Act(action=offer), Wake(name="befriend", after_s=around(scene.rng, 30.0))]
        if len(self._asked) < len(self._befriends):
            return [Wake(name="befriend", after_s=around(scene.rng, 60.0))]
        return ()
