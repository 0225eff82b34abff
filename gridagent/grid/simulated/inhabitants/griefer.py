"""The griefer: falls silent, then floods, again and again (Fault: 18).

A burst is many utterances within a few seconds, in public and by IM, some alike and some not, so that
rate limits and duplicate detection both have work. Bounds: one burst is at most 60 utterances, because a
character may have no more than 64 requests waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from gridagent.actions import Volume
from gridagent.events import GridEvent
from gridagent.grid.simulated.characters import ObjectEvent, Request, Scene, Wake
from gridagent.grid.simulated.inhabitants.casting import AvatarRefs, Cast, CharacterParams, Lines, Seconds, Share
from gridagent.grid.simulated.inhabitants.manners import around, im, pick, say
from gridagent.grid.simulated.inhabitants.speech import choose_target

__all__ = ("Griefer", "GrieferParams")


class GrieferParams(CharacterParams, frozen=True, kw_only=True, tag="griefer"):
    """What a scenario may say about a griefer."""

    targets: AvatarRefs = ()
    """Whom it floods with IMs; none means public flooding only."""
    burst: Annotated[int, Meta(ge=1, le=60)] = 40
    """Utterances in one burst."""
    over_s: Annotated[float, Meta(ge=0.0, le=60.0)] = 3.0
    """How long a burst lasts; 0 sends it at one moment."""
    every_s: Seconds = 180.0
    """Mean pause between two bursts."""
    im_share: Share = 0.5
    """Part of a burst that is IMs."""
    lines: Lines = ("SPAM SPAM SPAM", "FREE L$ at my place!!!", "LAG LAG LAG", "you all are bots")


class Griefer:
    """Floods; heeds nobody."""

    __slots__ = ("_params", "_targets")

    def __init__(self, params: GrieferParams, cast: Cast) -> None:
        self._params = params
        self._targets = cast.persons(params.targets)

    def start(self, scene: Scene) -> Sequence[Request]:
        """Wait before the first burst."""
        return [Wake(name="flood", after_s=around(scene.rng, self._params.every_s))]

    def on_event(self, event: GridEvent | ObjectEvent, scene: Scene) -> Sequence[Request]:
        """Heed nothing."""
        del event, scene
        return ()

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        """Send one burst."""
        del name
        params = self._params
        requests: list[Request] = []
        for number in range(params.burst):
            after_s = params.over_s * number / params.burst
            line = pick(scene.rng, params.lines)
            if scene.rng.random() < 0.5:  # noqa: PLR2004 - half of them alike, half of them not
                line = f"{line} {number}"
            target = choose_target(self._targets, scene) if scene.rng.random() < params.im_share else None
            if target is None:
                requests.append(say(line, after_s=after_s, volume=Volume.SHOUT))
            else:
                requests.append(im(target.avatar_id, line, after_s=after_s))
        requests.append(Wake(name="flood", after_s=params.over_s + around(scene.rng, params.every_s)))
        return requests
