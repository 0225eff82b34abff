"""What we ask a region on our own account: objects in full, their names, and the names of people.

Owns the pace and the memory of such questions: nothing is asked twice within a while, a flood of unknown things costs
a bounded number of questions, and one that brings no answer is not repeated.
Called by `live_grid.handover.session` (Fault: 6).
"""

from __future__ import annotations

from typing import Final

from live_grid.handover.link import Link
from live_grid.requests import Identity
from live_grid.requests.answering import NAMES_PER_REQUEST, ask_names
from live_grid.requests.building import ask_details, ask_objects
from live_grid.world import World

__all__ = ("Curiosity",)

EVERY_S: Final = 0.5
DETAILS_AT_ONCE: Final = 10
OBJECTS_AT_ONCE: Final = 100
OBJECTS_ASKED_MAX: Final = 1_024
"""Local ids of one region remembered as asked for; beyond, unknown ones wait to be named again."""
AGAIN_AFTER_S: Final = 10.0
AGAIN_AT_ONCE: Final = 4
_WAITING: Final = -1.0


class Curiosity:
    """Questions to be asked by and by.

    Args:
        now: seconds.
    """

    __slots__ = ("due",)

    def __init__(self, *, now: float) -> None:
        self.due = now
        """When to be asked for the next questions."""

    def wonder(self, link: Link, local_ids: tuple[int, ...], now: float) -> None:
        """Note objects that a region named by local id only."""
        asked = link.asked_objects
        for local_id in local_ids:
            if local_id in asked:
                continue
            if len(asked) >= OBJECTS_ASKED_MAX:
                _forget(asked, now)
                if len(asked) >= OBJECTS_ASKED_MAX:
                    return
            asked[local_id] = _WAITING
        self.due = min(self.due, now + EVERY_S)

    @staticmethod
    def ask_again(me: Identity, root: Link) -> None:
        """Ask once more for ourselves and for some of what we know, so that a region that still shows anything does."""
        mine = root.region.local_of(me.agent_id)
        known = [thing.local_id for thing in root.region.objects.values() if thing.local_id]
        wanted = known[:AGAIN_AT_ONCE] if mine is None else [mine, *known[:AGAIN_AT_ONCE]]
        if wanted:
            root.send(ask_objects(me, tuple(wanted)))

    def ask(self, me: Identity, world: World, root: Link, links: list[Link], now: float) -> None:
        """Send the questions that are due."""
        self.due = now + EVERY_S
        for link in links:
            waiting = [local_id for local_id, at in link.asked_objects.items() if at == _WAITING][:OBJECTS_AT_ONCE]
            if waiting:
                link.send(ask_objects(me, tuple(waiting)))
                link.asked_objects.update(dict.fromkeys(waiting, now))
            else:
                _forget(link.asked_objects, now)
        wanted = root.region.wanted
        for object_id in list(wanted)[:DETAILS_AT_ONCE]:
            del wanted[object_id]
            root.send(ask_details(me, object_id))
        names = tuple(world.names_wanted)[:NAMES_PER_REQUEST]
        if names:
            root.send(ask_names(names))
            for avatar_id in names:
                del world.names_wanted[avatar_id]


def _forget(asked: dict[int, float], now: float) -> None:
    """Forget questions that were asked long enough ago."""
    for local_id in [one for one, at in asked.items() if at != _WAITING and now - at >= AGAIN_AFTER_S]:
        del asked[local_id]
