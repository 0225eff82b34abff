"""What a session asks the grid about and waits for."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from gridagent.errors import ResourceBusy
from gridagent.tools.ports import InventoryFound, InventoryPort, MapPort, RegionFound
from live_grid.backend import LiveBackend
from live_grid.backend.look_ups import ASKED_MAX, LookUps
from live_grid.errors import LimitReached
from live_grid.messages.regions import MapNameRequest
from live_grid.world.events import RegionFound as Row
from live_grid.world.events import RegionsFound
from tests.live_grid.backend.hands import Hands

FAR = 300_032 << 32 | 256_000


@pytest.fixture
def hands() -> Hands:
    """Somebody in a region."""
    return Hands()


@pytest.fixture
def look_ups(hands: Hands) -> LookUps:
    """What they ask with."""
    return LookUps(hands.stage)


async def _asking(nursery: trio.Nursery, look_ups: LookUps, *names: str) -> list[RegionFound | None]:
    """Ask for some regions; the answers come in as they come."""
    answers: list[RegionFound | None] = []

    async def ask(name: str) -> None:
        answers.append(await look_ups.find_region(name))

    for name in names:
        nursery.start_soon(ask, name)
    await trio.testing.wait_all_tasks_blocked()
    return answers


def test_a_live_backend_answers_for_map_and_inventory() -> None:
    """Spec: MND-13 — so a mind on a live grid is offered both tools."""
    assert issubclass(LiveBackend, MapPort)
    assert issubclass(LiveBackend, InventoryPort)


async def test_a_region_is_found_by_its_name_in_any_case(hands, look_ups, autojump_clock) -> None:
    """Two who ask for one name share the question; rows of other names, and end marks of others, are not theirs.

    Spec: MND-13, LIV-5.
    """
    async with trio.open_nursery() as nursery:
        answers = await _asking(nursery, look_ups, "Far Shore", "far shore", "Sunken")
        assert [type(message) for message in hands.sent()] == [MapNameRequest, MapNameRequest]
        look_ups.on_regions_found(RegionsFound((Row("Far Shores", FAR, 13, 9),)))
        look_ups.on_regions_found(RegionsFound((), "Elsewhere"))
        await trio.testing.wait_all_tasks_blocked()
        assert answers == []
        rows = (Row("FAR SHORE", FAR, 13, 4), Row("Sunken", FAR, 254, 0))
        look_ups.on_regions_found(RegionsFound(rows, "far shore"))
    far = RegionFound(region="FAR SHORE", online=True, avatars=4)
    assert sorted(answers, key=repr) == sorted(
        [far, far, RegionFound(region="Sunken", online=False, avatars=0)], key=repr
    )


async def test_a_name_that_the_map_has_not(hands, look_ups, autojump_clock) -> None:
    """The end mark that repeats the name settles it, however the name was written. Spec: MND-13."""
    async with trio.open_nursery() as nursery:
        answers = await _asking(nursery, look_ups, " No \t where")
        look_ups.on_regions_found(RegionsFound((Row("Nowhere Else", FAR, 13, 0),), "no where"))
    assert answers == [None]


async def test_who_gives_up_leaves_nothing_behind(hands, look_ups, autojump_clock) -> None:
    """A grid that does not answer costs a place only while somebody waits; so many may. Spec: BND-1."""
    for _ in range(3):
        with trio.move_on_after(5):
            await look_ups.find_region("Silent")
    async with trio.open_nursery() as nursery:
        answers = await _asking(nursery, look_ups, *(f"Region {number}" for number in range(ASKED_MAX)))
        with pytest.raises(ResourceBusy):
            await look_ups.find_region("One more")
        shared = await _asking(nursery, look_ups, "region 0")
        for number in range(ASKED_MAX):
            look_ups.on_regions_found(RegionsFound((), f"Region {number}"))
    assert answers == [None] * ASKED_MAX
    assert shared == [None]


async def test_a_question_that_cannot_be_sent_is_refused(hands, look_ups, monkeypatch, autojump_clock) -> None:
    """Too long for the wire, or too much on its way. Spec: BND-1."""
    with pytest.raises(ResourceBusy):
        await look_ups.find_region("é" * 200)

    def full(_: object) -> int:
        raise LimitReached("unacked", allowed=1)

    monkeypatch.setattr(hands.stage, "send", full)
    with pytest.raises(ResourceBusy):
        await look_ups.find_region("Far")
    monkeypatch.undo()
    async with trio.open_nursery() as nursery:
        answers = await _asking(nursery, look_ups, "Far")
        look_ups.on_regions_found(RegionsFound((), "Far"))
    assert answers == [None]


async def test_items_are_found_once_they_are_known(hands, look_ups, autojump_clock) -> None:
    """By words and kind, so many of them; nothing is said of an inventory that was not learnt. Spec: MND-13, LIV-8."""
    for number, (kind, name) in enumerate([(6, "Red rose"), (6, "White rose"), (7, "Rose care"), (7, "Rules")]):
        hands.item(bytes(15) + bytes([number + 1]), kind, name=name)
    assert await look_ups.search(words="rose", kind="", limit=10) is None
    hands.world.inventory.asked = True
    found = await look_ups.search(words="ROSE", kind="", limit=2)
    assert isinstance(found, InventoryFound)
    assert ([item.name for item in found.items], found.more) == (["Red rose", "White rose"], 1)
    cards = await look_ups.search(words="", kind="notecard", limit=10)
    assert cards is not None
    assert [item.name for item in cards.items] == ["Rose care", "Rules"]
