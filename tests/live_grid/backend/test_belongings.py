"""Learning what we hold, and writing notecards."""

from __future__ import annotations

from uuid import UUID

import pytest
import trio

from gridagent.events import ActionRefused, InventoryChanged
from live_grid.backend.belongings import learn_inventory, notecard_asset, write_notecard
from live_grid.backend.pending import Making
from live_grid.errors import RemoteProtocolError
from live_grid.io import WebFailed
from live_grid.llsd import LlsdGiven, LlsdValue
from live_grid.messages.holdings import FetchInventoryDescendents
from live_grid.requests import Request
from tests.live_grid.backend.hands import BEN, ITEM, Hands

FETCH = "FetchInventoryDescendents2"
FOLDERS = [number.to_bytes(16, "big") for number in range(1, 26)]


class Answers:
    """A client that answers what a test wants."""

    def __init__(self, *answers: LlsdValue | Exception, offered: bool = True) -> None:
        self.hands = Hands()
        self.session = self.hands.session
        self.answers = list(answers)
        self.asked: list[tuple[str, LlsdGiven | bytes]] = []
        link = self.session.travel.authority
        assert link is not None
        link.capabilities = {FETCH: "http://127.0.0.1/"} if offered else {}  # type: ignore[assignment]

    async def _answer(self, what: str, body: LlsdGiven | bytes) -> LlsdValue:
        await trio.lowlevel.checkpoint()
        self.asked.append((what, body))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ask_capability(self, name: str, body: LlsdGiven) -> LlsdValue:
        """Ask a capability."""
        return await self._answer(name, body)

    async def ask_address(self, url: str, body: bytes, *, content_type: str) -> LlsdValue:
        """Ask an address."""
        assert content_type == "application/octet-stream"
        return await self._answer(url, body)

    def send(self, request: Request) -> int:
        """Send something."""
        return self.session.send(request, self.hands.grid.now)


async def test_folders_are_asked_about_by_the_dozen(autojump_clock) -> None:
    """What fails is counted and leaves the rest alone. Spec: LIV-8."""
    rows = {"folders": [{"items": [{"item_id": UUID(bytes=ITEM), "name": "Rose", "type": 6}]}]}
    client = Answers(rows, WebFailed("x"), {"nonsense": 1}, rows, WebFailed("x"), rows)
    client.session.world.inventory.folders = FOLDERS
    assert await learn_inventory(client) == 0  # type: ignore[arg-type]
    assert [name for name, _ in client.asked] == [FETCH] * 6
    asked = [len(body["folders"]) for _, body in client.asked]
    assert asked == [10, 10, 5, 10, 5, 5]
    assert [item.name for item in client.session.world.inventory.items.values()] == ["Rose"]


async def test_without_the_capability_folders_are_asked_about_over_udp(autojump_clock) -> None:
    """One by one; where nothing can be sent it comes to nothing. Spec: LIV-8."""
    client = Answers(offered=False)
    client.session.world.inventory.folders = FOLDERS[:3]
    assert await learn_inventory(client) == 0  # type: ignore[arg-type]
    sent = client.hands.sent()
    assert [type(message) for message in sent] == [FetchInventoryDescendents] * 3
    client.session.log_out(client.hands.grid.now)
    assert await learn_inventory(client) == 1  # type: ignore[arg-type]


async def test_what_stays_unknown_is_left_in_the_end(autojump_clock) -> None:
    """A few rounds within minutes, and no more. Spec: LIV-8."""
    client = Answers(*[WebFailed("x")] * 8)
    client.session.world.inventory.folders = FOLDERS[:11]
    assert await learn_inventory(client) == 2  # type: ignore[arg-type]
    assert len(client.asked) == 8


async def test_a_notecard_is_written_in_two_steps() -> None:
    """The text goes to the address that was offered for it. Spec: LIV-8, EFX-1."""
    client = Answers({"uploader": "http://127.0.0.1/up"}, {"state": "complete"})
    item = client.hands.item(kind=7)
    told = await write_notecard(client, item, Making(reference="r1", text="héllo"))  # type: ignore[arg-type]
    assert isinstance(told, InventoryChanged)
    assert told.reference == "r1"
    assert client.asked[1] == ("http://127.0.0.1/up", notecard_asset("héllo"))
    assert b"Text length 6\nh\xc3\xa9llo}\n" in notecard_asset("héllo")


@pytest.mark.parametrize(
    "answers",
    [
        (WebFailed("x"),),
        ("no map",),
        ({"uploader": 5},),
        ({"uploader": "u"}, RemoteProtocolError("x")),
        ({"uploader": "u"}, {"state": "?"}),
    ],
    ids=["failed", "no map", "no address", "refused address", "not complete"],
)
async def test_a_notecard_that_cannot_be_written_is_told_so(answers: tuple[LlsdValue | Exception, ...]) -> None:
    """It is there and empty: the deed has failed. Spec: EFX-1."""
    client = Answers(*answers)
    told = await write_notecard(client, client.hands.item(kind=7), Making(reference="r1", text=None))  # type: ignore[arg-type]
    assert told == ActionRefused(reference="r1", reason="not_written")
    assert BEN not in client.session.world.inventory.items
