"""What a session asks the grid about and waits for: a region on the map, and items of ours.

Owns the questions that are out and who waits for each; asking causes nothing in the world. Implements
`gridagent.tools.ports.MapPort` and `InventoryPort` for `live_grid.backend.backend`, which feeds it the map's answers.
The map answers without saying whom, so an answer is told apart by the name that was asked for, and two askers of one
name share it. Whoever asks brings the deadline (Spec: MND-13, LIV-8).
"""

from __future__ import annotations

from typing import Final

import trio

from gridagent.errors import ResourceBusy
from gridagent.tools.ports import InventoryFound, RegionFound
from live_grid.backend.stage import Stage
from live_grid.backend.views import item_view, name_of
from live_grid.errors import LimitReached, LocalProtocolError
from live_grid.requests import travelling
from live_grid.world.events import RegionsFound
from live_grid.world.text import clean_words

__all__ = ("LookUps",)

ASKED_MAX: Final = 16
"""Names that are asked about at once."""
_DOWN: Final = 254
"""Access of a region that is on the map and cannot be entered now."""


class _Question:
    """One name that the map was asked about."""

    __slots__ = ("answer", "answered", "askers")

    def __init__(self) -> None:
        self.askers = 0
        self.answered = trio.Event()
        self.answer: RegionFound | None = None

    def settle(self, answer: RegionFound | None) -> None:
        self.answer = answer
        self.answered.set()


class LookUps:
    """Looks things up for one session.

    Args:
        stage: what it asks with.
    """

    __slots__ = ("_asked", "_stage")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._asked: dict[str, _Question] = {}  # at most ASKED_MAX

    async def find_region(self, region: str) -> RegionFound | None:
        """Return a region by its name, of whatever case; None where the map has none.

        Raises:
            ResourceBusy: too much is asked already, or is on its way.

        Cancellation: safe; a grid that never answers is waited for until then.
        """
        wanted = clean_words(region).casefold()
        question = self._asked.get(wanted)
        if question is None:
            question = self._ask(region)
            self._asked[wanted] = question
        question.askers += 1
        try:
            await question.answered.wait()
        finally:
            question.askers -= 1
            if not question.askers and self._asked.get(wanted) is question:
                del self._asked[wanted]
        return question.answer

    def _ask(self, region: str) -> _Question:
        if len(self._asked) >= ASKED_MAX:
            raise ResourceBusy("the map", "too many questions at once")
        try:
            self._stage.send(travelling.find_region(self._stage.me, region))
        except (LimitReached, LocalProtocolError) as error:
            raise ResourceBusy("the map", "the question cannot be sent now") from error
        return _Question()

    def on_regions_found(self, found: RegionsFound) -> None:
        """Settle the questions that the map's answer is about; rows of other names are for nobody."""
        for row in found.regions:
            question = self._asked.pop(row.name.casefold(), None)
            if question is not None:
                online = row.access < _DOWN
                question.settle(RegionFound(region=name_of(row.name), online=online, avatars=row.agents))
        question = self._asked.pop(found.asked.casefold(), None)
        if question is not None:
            question.settle(None)

    async def search(self, *, words: str, kind: str, limit: int) -> InventoryFound | None:
        """Return items whose name holds the words, of a kind or of any; None until the inventory was learnt.

        Cancellation: safe.
        """
        await trio.lowlevel.checkpoint()
        inventory = self._stage.world.inventory
        if not inventory.asked:
            return None
        wanted = words.casefold()
        views = map(item_view, inventory.items.values())
        found = [view for view in views if wanted in view.name.casefold() and kind in {"", view.kind}]
        return InventoryFound(items=tuple(found[:limit]), more=max(0, len(found) - limit))
