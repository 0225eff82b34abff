"""A stage without a world: for trying a character out, and for testing one of your own.

Owns a `Scene` whose every property can be set, and `rehearse`, which lets a character act on it for a
while in virtual time and returns what it asked for, and when. Nothing on a stage has consequences: a
walk moves nobody, a payment changes no balance. Called by tests; the world hosts characters for real.

Invariant: one character, one stage and one seed give one rehearsal.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import attrs

from gridagent.actions import Action, Position
from gridagent.errors import LimitExceeded
from gridagent.events import AvatarView, GridEvent, ObjectView
from gridagent.grid.simulated.characters import Act, Character, ObjectAction, ObjectEvent, Request
from gridagent.ids import AvatarId, ObjectId

__all__ = ("Asked", "Stage", "rehearse")

STEPS_MAX: Final = 100_000
"""Requests and events of one rehearsal."""

Asked: TypeAlias = tuple[float, Action | ObjectAction]
"""When a character asked for something to be done, in seconds, and for what."""


@attrs.define(kw_only=True)
class Stage:
    """A `Scene` to be set by hand.

    Args:
        rng: the character's random stream.
        me: its id.
        name: its name.
    """

    rng: random.Random
    me: AvatarId | ObjectId
    name: str
    now: float = 0.0
    region: str = "Stage"
    region_size_m: int = 256
    position: Position = attrs.field(factory=lambda: Position(x=128.0, y=128.0, z=22.0))
    balance: int = 0
    people: list[AvatarView] = attrs.field(factory=list)
    """Who else is there, nearest first."""
    things: list[ObjectView] = attrs.field(factory=list)
    """What is there, nearest first."""

    def avatars(self) -> Sequence[AvatarView]:
        """Return who else is there."""
        return tuple(self.people)

    def objects(self) -> Sequence[ObjectView]:
        """Return what is there."""
        return tuple(self.things)


def rehearse(
    character: Character,
    stage: Stage,
    *,
    for_s: float,
    events: Iterable[tuple[float, GridEvent | ObjectEvent]] = (),
) -> list[Asked]:
    """Start a character, let it live for a while, and return what it asked for, in order of time.

    Args:
        character: who plays.
        stage: what it sees; its ``now`` moves on, nothing else does.
        for_s: how long, in virtual seconds.
        events: what happens to it, with the seconds after the start.

    Raises:
        LimitExceeded: it asked for more than 100,000 things.
    """
    begin = stage.now
    waiting: list[tuple[float, int, Request | GridEvent | ObjectEvent]] = []
    numbers = 0
    for after_s, event in events:
        numbers += 1
        waiting.append((begin + after_s, numbers, event))
    heapq.heapify(waiting)
    asked: list[Asked] = []
    new = character.start(stage)
    while True:
        for request in new:
            numbers += 1
            heapq.heappush(waiting, (stage.now + request.after_s, numbers, request))
        if numbers > STEPS_MAX:
            raise LimitExceeded("requests of a rehearsal", allowed=STEPS_MAX)
        if not waiting or waiting[0][0] > begin + for_s:
            stage.now = begin + for_s
            return asked
        stage.now, _, due = heapq.heappop(waiting)
        new = ()
        if isinstance(due, Act):
            asked.append((stage.now, due.action))
        elif isinstance(due, Request):
            new = character.on_wake(due.name, stage)
        else:
            new = character.on_event(due, stage)
