"""Asking to be seen in what we wear."""

from __future__ import annotations

import pytest

from live_grid.backend.appearance import BAKE, TRIES_MAX, show_outfit
from live_grid.errors import RemoteProtocolError
from live_grid.io import WebFailed
from live_grid.login.reply import Folder
from live_grid.world.inventory import Inventory

YES = {"success": True}


class Region:
    """A region that bakes, as far as asking goes: client, session and world in one."""

    def __init__(self, *answers: object, version: int | None = 7, offers: bool = True) -> None:
        self.answers = list(answers)
        self.asked: list[object] = []
        self.offers = offers
        folders = [
            Folder(folder_id=b"f" * 16, parent_id=b"r" * 16, name="Outfit", type_default=46, version=version or 0)
        ]
        self.inventory = Inventory(folders=[] if version is None else folders)
        self.session = self.world = self

    def capability(self, name: str) -> str | None:
        """Where it is asked."""
        return "http://127.0.0.1/bake" if self.offers and name == BAKE else None

    async def ask_capability(self, name: str, body: dict[str, object]) -> object:
        """Answer in turn."""
        assert name == BAKE
        self.asked.append(body["cof_version"])
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_the_outfit_of_the_login_is_asked_for() -> None:
    """By the version of its folder. Spec: LIV-10."""
    region = Region(YES)
    assert await show_outfit(region)
    assert region.asked == [7]


async def test_a_version_out_of_date_is_asked_for_anew() -> None:
    """By the one that the grid expects, at once. Spec: LIV-10."""
    region = Region({"success": False, "error": "stale", "expected": 9}, YES)
    assert await show_outfit(region)
    assert region.asked == [7, 9]


async def test_what_cannot_be_understood_is_asked_again_a_few_times(autojump_clock) -> None:
    """A page, nothing, nonsense: then it is left. Spec: LIV-10; Fault: 11."""
    nonsense = {"success": "yes", "expected": True}
    region = Region(WebFailed("too slow"), RemoteProtocolError("a page"), [], nonsense, {"expected": -1})
    assert not await show_outfit(region)
    assert len(region.asked) == TRIES_MAX
    assert set(region.asked) == {7}


@pytest.mark.parametrize("region", [Region(version=None), Region(offers=False)], ids=["no outfit", "viewers bake"])
async def test_where_there_is_nothing_to_ask_nothing_is_sent(region: Region) -> None:
    """The region keeps the look that a viewer gave us. Spec: LIV-10."""
    assert not await show_outfit(region)
    assert region.asked == []
