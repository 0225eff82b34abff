"""What every character does alike: pausing, filling in names, remembering whom it dealt with lately.

Owns small pure functions and one bounded memory; holds no character of its own and draws only from the
random stream it is given (Spec: SIM-2). Called by the other modules of this folder.

Invariant: speech made here is never over the grid's 1,023 bytes, whatever was filled in, and a template
is filled by plain replacement, so a name like ``{0.__class__}`` stays text (Fault: 17).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from gridagent.actions import Emote, PayAvatar, Position, Say, SendIm, Volume, WalkTo
from gridagent.events import AvatarView, BalanceChanged, GridEvent
from gridagent.grid.simulated.characters import Act, ObjectEvent, ObjectIm, ObjectSay, Scene
from gridagent.grid.simulated.inhabitants.casting import Person
from gridagent.ids import AvatarId
from gridagent.limits import CHAT_MAX_BYTES, clip_bytes

__all__ = (
    "Recently",
    "around",
    "emote",
    "fill",
    "first_name",
    "im",
    "object_im",
    "object_say",
    "pay",
    "pick",
    "present",
    "say",
    "somewhere_near",
    "thanks",
    "walk_to",
)

T = TypeVar("T")
REMEMBERED_MAX: Final = 256
"""People one character remembers at once; the one dealt with longest ago goes first."""
CROWD_GAP_S: Final = 1.0
"""Shortest time between dealing with one person and with the next."""


def around(rng: random.Random, seconds: float) -> float:
    """Draw a pause of 0.6 to 1.4 times ``seconds``, so that nobody moves in step."""
    return seconds * rng.uniform(0.6, 1.4)


def pick(rng: random.Random, options: Sequence[T], *, but: T | None = None) -> T:
    """Draw one of ``options``, and not the last one again when there is a choice."""
    others = [option for option in options if option != but]
    return rng.choice(others or options)


def first_name(name: str) -> str:
    """Return what people call somebody: the first word of the name they show."""
    words = name.split()
    return words[0] if words else name


def fill(template: str, name: str) -> str:
    """Put ``name`` where the template says ``{name}``; nothing else in it is interpreted."""
    return template.replace("{name}", name)


def say(text: str, *, after_s: float = 0.0, volume: Volume = Volume.SAY) -> Act:
    """Speak in public, within the grid's byte limit."""
    return Act(action=Say(text=clip_bytes(text, CHAT_MAX_BYTES), volume=volume), after_s=after_s)


def emote(text: str, *, after_s: float = 0.0) -> Act:
    """Describe what one does."""
    return Act(action=Emote(text=clip_bytes(text, CHAT_MAX_BYTES - 4)), after_s=after_s)


def im(to: AvatarId, text: str, *, after_s: float = 0.0) -> Act:
    """Send an instant message, within the grid's byte limit."""
    return Act(action=SendIm(to=to, text=clip_bytes(text, CHAT_MAX_BYTES)), after_s=after_s)


def object_say(text: str, *, after_s: float = 0.0) -> Act:
    """Speak in public as an object."""
    return Act(action=ObjectSay(text=clip_bytes(text, CHAT_MAX_BYTES)), after_s=after_s)


def object_im(to: AvatarId, text: str, *, after_s: float = 0.0) -> Act:
    """Send an instant message as an object."""
    return Act(action=ObjectIm(to=to, text=clip_bytes(text, CHAT_MAX_BYTES)), after_s=after_s)


def pay(to: AvatarId, linden: int, description: str, *, after_s: float = 0.0) -> Act:
    """Pay an avatar."""
    return Act(action=PayAvatar(to=to, amount=linden, description=description), after_s=after_s)


def walk_to(position: Position, *, after_s: float = 0.0) -> Act:
    """Walk to a point of this region."""
    return Act(action=WalkTo(position=position), after_s=after_s)


def somewhere_near(centre: Position, radius_m: float, scene: Scene) -> Position:
    """Draw a point in the square of ``radius_m`` around ``centre``, a metre or more inside the region."""
    high = max(scene.region_size_m - 1.0, 1.0)
    x = centre.x + scene.rng.uniform(-radius_m, radius_m)
    y = centre.y + scene.rng.uniform(-radius_m, radius_m)
    return Position(x=round(min(max(x, 1.0), high), 2), y=round(min(max(y, 1.0), high), 2), z=centre.z)


def present(people: Iterable[Person], scene: Scene) -> list[AvatarView]:
    """Return who of ``people`` is in the region now, known by id and in the order of ``people``."""
    here = {view.avatar_id: view for view in scene.avatars()}
    return [here[person.avatar_id] for person in people if person.avatar_id in here]


def thanks(event: GridEvent | ObjectEvent, scene: Scene) -> list[Act]:
    """Thank by name whoever of those present just paid the character."""
    if not isinstance(event, BalanceChanged) or event.change <= 0:
        return []
    for view in scene.avatars():
        if view.avatar_id == event.counterpart_id:
            return [say(f"Thank you for the L${event.change}, {first_name(view.name)}!", after_s=1.0)]
    return []


class Recently:
    """When the character last dealt with somebody; bounded, forgets the longest ago first.

    A crowd that speaks at once gets one answer a second: a character has a bounded number of requests
    waiting, and its next wake must find room among them.
    """

    __slots__ = ("_free_at", "_when")

    def __init__(self) -> None:
        self._free_at = 0.0
        self._when: dict[str, float] = {}  # at most REMEMBERED_MAX, in order of last use

    def due(self, key: str, now: float, gap_s: float) -> bool:
        """Tell whether ``gap_s`` seconds have gone since the last time it was due, and note the new time."""
        last = self._when.get(key)
        if (last is not None and now - last < gap_s) or now < self._free_at:
            return False
        self._free_at = now + CROWD_GAP_S
        self._when.pop(key, None)
        self._when[key] = now
        if len(self._when) > REMEMBERED_MAX:
            del self._when[next(iter(self._when))]
        return True
