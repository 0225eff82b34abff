"""The wanderer: walks from place to place around where it began, and remarks on what it sees.

Its walking gives everybody else `AvatarSeen` events; a wanderer that leaves hearing distance and comes
back is what "who is near" is tested with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from gridagent.actions import Position
from gridagent.events import GridEvent
from gridagent.grid.simulated.characters import ObjectEvent, Request, Scene, Wake
from gridagent.grid.simulated.inhabitants.casting import Cast, CharacterParams, Lines, Seconds, Share
from gridagent.grid.simulated.inhabitants.manners import around, emote, pick, say, somewhere_near, thanks, walk_to

__all__ = ("Wanderer", "WandererParams")


class WandererParams(CharacterParams, frozen=True, kw_only=True, tag="wanderer"):
    """What a scenario may say about a wanderer."""

    radius_m: Annotated[float, Meta(ge=1.0, le=512.0)] = 12.0
    """How far it goes from where it began, along each axis; the region's edge ends its way too."""
    every_s: Seconds = 25.0
    """Mean pause between two walks."""
    remark_share: Share = 0.4
    """Part of its walks that end with a remark."""
    lines: Lines = (
        "What a view from here.",
        "The light is lovely at this hour.",
        "I could swear that fountain was on the other side yesterday.",
        "Somebody has planted new trees.",
        "I have walked ten thousand steps and my feet don't hurt at all.",
    )
    """Its remarks."""


class Wanderer:
    """Walks, stops, looks, remarks, walks on."""

    __slots__ = ("_home", "_last", "_params")

    def __init__(self, params: WandererParams, cast: Cast) -> None:
        del cast
        self._params = params
        self._home: Position | None = None
        self._last = ""

    def start(self, scene: Scene) -> Sequence[Request]:
        """Take the first position as the middle of its ways."""
        if self._home is None:
            self._home = scene.position
        return [Wake(name="walk", after_s=scene.rng.uniform(2.0, 8.0))]

    def on_event(self, event: GridEvent | ObjectEvent, scene: Scene) -> Sequence[Request]:
        """Heed nothing but a gift of money."""
        return thanks(event, scene)

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        """Walk somewhere, perhaps remark on it there, and think of the next walk."""
        del name
        target = somewhere_near(self._home or scene.position, self._params.radius_m, scene)
        requests: list[Request] = [walk_to(target)]
        if scene.rng.random() < self._params.remark_share:
            self._last = pick(scene.rng, self._params.lines, but=self._last)
            requests.append(say(self._last, after_s=around(scene.rng, 5.0)))
        else:
            requests.append(emote(pick(scene.rng, ("looks around.", "hums a tune.")), after_s=around(scene.rng, 5.0)))
        requests.append(Wake(name="walk", after_s=around(scene.rng, self._params.every_s)))
        return requests
