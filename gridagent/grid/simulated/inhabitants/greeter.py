"""The greeter: welcomes who comes near, by name, and answers a hello.

A friendly stranger: it orders nothing and asks for nothing. Remembers whom it greeted lately, so that
somebody who walks up and down is not greeted at each step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from gridagent.actions import Position
from gridagent.events import AvatarSeen, GridEvent
from gridagent.grid.simulated.characters import ObjectEvent, Request, Scene, Wake
from gridagent.grid.simulated.inhabitants.casting import Cast, CharacterParams, Lines, Seconds
from gridagent.grid.simulated.inhabitants.manners import (
    REMEMBERED_MAX,
    Recently,
    around,
    emote,
    fill,
    first_name,
    pick,
    say,
    thanks,
)
from gridagent.grid.simulated.inhabitants.speech import spoken_to

__all__ = ("Greeter", "GreeterParams")


class GreeterParams(CharacterParams, frozen=True, kw_only=True, tag="greeter"):
    """What a scenario may say about a greeter."""

    lines: Lines = (
        "Welcome, {name}! Make yourself at home.",
        "Hello {name}, good to see you here.",
        "{name}! Come in, have a look around.",
    )
    """Greetings."""
    answers: Lines = (
        "At your service, {name}. The shop is by the fountain.",
        "Hello {name}! Ask around, everybody is kind here.",
        "I only greet people, {name}, but I do it well.",
    )
    """What it says to who speaks to it."""
    radius_m: Annotated[float, Meta(ge=1.0, le=96.0)] = 15.0
    """How near somebody must come to be greeted."""
    again_after_s: Seconds = 600.0
    """How long a person is not greeted again."""
    smile_every_s: Seconds = 90.0
    """Mean pause between small gestures."""


class Greeter:
    """Says one line for each person that comes near, with a pause between two of them."""

    __slots__ = ("_answered", "_free_at", "_greeted", "_params")

    GAP_S = 4.0
    QUEUE_S = 60.0
    ANSWER_GAP_S = 20.0

    def __init__(self, params: GreeterParams, cast: Cast) -> None:
        del cast
        self._params = params
        self._greeted: dict[str, float] = {}  # at most REMEMBERED_MAX, in order of greeting
        self._answered = Recently()
        self._free_at = 0.0

    def start(self, scene: Scene) -> Sequence[Request]:
        """Stand ready, and greet those who are near already."""
        requests: list[Request] = [Wake(name="smile", after_s=around(scene.rng, self._params.smile_every_s))]
        for view in scene.avatars():
            requests += self._greet(view.avatar_id, view.name, view.position, scene)
        return requests

    def on_event(self, event: GridEvent | ObjectEvent, scene: Scene) -> Sequence[Request]:
        """Greet who comes near; answer who speaks to it; thank who pays."""
        if isinstance(event, AvatarSeen):
            return self._greet(event.avatar.avatar_id, event.avatar.name, event.avatar.position, scene)
        source = spoken_to(event, scene)
        if source is not None and self._answered.due(source.id, scene.now, self.ANSWER_GAP_S):
            line = fill(pick(scene.rng, self._params.answers), first_name(source.name))
            return [say(line, after_s=around(scene.rng, 2.0))]
        return thanks(event, scene)

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        """Make a small gesture now and then."""
        del name
        gesture = pick(scene.rng, ("smiles at everyone.", "straightens the welcome mat.", "waves."))
        return [emote(gesture), Wake(name="smile", after_s=around(scene.rng, self._params.smile_every_s))]

    def _greet(self, avatar_id: str, name: str, position: Position, scene: Scene) -> list[Request]:
        if scene.position.distance_to(position) > self._params.radius_m:
            return []
        if scene.now - self._greeted.get(avatar_id, -math.inf) < self._params.again_after_s:
            return []
        if self._free_at - scene.now > self.QUEUE_S:
            return []  # a crowd: who is still here when there is time again is greeted at their next move
        self._greeted.pop(avatar_id, None)
        self._greeted[avatar_id] = scene.now
        if len(self._greeted) > REMEMBERED_MAX:
            del self._greeted[next(iter(self._greeted))]
        at = max(scene.now + around(scene.rng, 2.0), self._free_at)
        self._free_at = at + self.GAP_S
        return [say(fill(pick(scene.rng, self._params.lines), first_name(name)), after_s=at - scene.now)]
