"""People who are asked for a yes over IM, and answer: rightly, wrongly, late, twice, or in somebody else's place.

Owns what becomes of an IM that asks. Whoever got it is an inhabitant of the world, and what they write is an
IM like any other: the avatar's side cannot tell it from a person's (Spec: POL-7; Fault: 27). Chance comes
from one stream; time from the world's own timers.

Invariant: at most two answers follow one question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Final

from gridagent.actions import SendIm
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId

__all__ = ("Approvers",)

_LINE: Final = re.compile(r"^(?:allow|deny) ([0-9A-Z]{4}(?:-[0-9A-Z]{4}){2})$", re.MULTILINE)
_SOON_S: Final = (1.0, 20.0)
_LATE_S: Final = (60.0, 400.0)


class Approvers:
    """Answers in the place of people.

    Args:
        world: where they live.
        rng: the stream of their moods.
        people: everybody with a character, in the scenario's order; some are owners, most are strangers.
    """

    __slots__ = ("_people", "_rng", "_world")

    def __init__(self, world: World, rng: Random, people: Sequence[AvatarId]) -> None:
        self._world = world
        self._rng = rng
        self._people = tuple(people)

    def on_message(self, agent: AvatarId, message: SendIm) -> None:
        """Read an IM of an agent's, and answer later if it asks something."""
        found = _LINE.search(message.text)
        if found is not None and self._people:
            self._rng.choices(_MOODS, _WEIGHTS)[0](self, agent, message.to, found[1])

    def _write(self, sender: AvatarId, to: AvatarId, text: str, after_s: tuple[float, float]) -> None:
        due = self._world.now + self._rng.uniform(*after_s)
        self._world.call_at(due, partial(self._send, sender, to, text))

    def _send(self, sender: AvatarId, to: AvatarId, text: str) -> None:
        if self._world.avatar(sender).body is not None:
            self._world.perform(sender, SendIm(to=to, text=text), self._world.now)

    # --- moods --------------------------------------------------------------------------------------

    def ignore(self, agent: AvatarId, asked: AvatarId, nonce: str) -> None:
        """Say nothing."""

    def allow(self, agent: AvatarId, asked: AvatarId, nonce: str) -> None:
        """Say yes."""
        self._write(asked, agent, f"allow {nonce}", _SOON_S)

    def deny(self, agent: AvatarId, asked: AvatarId, nonce: str) -> None:
        """Say no, in capitals."""
        self._write(asked, agent, f"DENY {nonce}", _SOON_S)

    def insist(self, agent: AvatarId, asked: AvatarId, nonce: str) -> None:
        """Say yes, and again much later."""
        self.allow(agent, asked, nonce)
        self._write(asked, agent, f"allow {nonce}", _LATE_S)

    def mistype(self, agent: AvatarId, asked: AvatarId, nonce: str) -> None:
        """Say yes to nothing, and then talk about it in a whole sentence."""
        wrong = nonce[::-1]
        self._write(asked, agent, f"allow {wrong}", _SOON_S)
        self._write(asked, agent, f"please allow {wrong} soon", _SOON_S)

    def leak(self, agent: AvatarId, asked: AvatarId, nonce: str) -> None:
        """Let somebody else say yes with the right nonce."""
        self._write(
            self._rng.choice([each for each in self._people if each != asked] or [asked]),
            agent,
            f"allow {nonce}",
            _SOON_S,
        )


_TABLE: Final[tuple[tuple[Callable[[Approvers, AvatarId, AvatarId, str], None], int], ...]] = (
    (Approvers.ignore, 3),
    (Approvers.allow, 5),
    (Approvers.deny, 1),
    (Approvers.insist, 1),
    (Approvers.mistype, 1),
    (Approvers.leak, 2),
)
_MOODS: Final = tuple(mood for mood, _ in _TABLE)
_WEIGHTS: Final = tuple(weight for _, weight in _TABLE)
