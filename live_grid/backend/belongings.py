"""What takes more than one message: learning what we hold, and writing a notecard.

Owns the two exchanges with capabilities and their pace. What fails here fails alone: an inventory that cannot be
learnt leaves items unknown, a notecard that cannot be written is told as such (Spec: LIV-8).
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

import trio

from gridagent import events as told
from gridagent.events import GridEvent
from live_grid.backend.pending import Making
from live_grid.backend.views import item_view
from live_grid.errors import LimitReached, LocalProtocolError, RemoteProtocolError
from live_grid.io import GridClient, WebFailed
from live_grid.llsd import LlsdGiven, LlsdValue
from live_grid.requests.holding import ask_folder
from live_grid.world.events import ItemMade
from live_grid.world.inventory import read_folders_untrusted

__all__ = ("learn_inventory", "write_notecard")

FETCH: Final = "FetchInventoryDescendents2"
WRITE: Final = "UpdateNotecardAgentInventory"
FOLDERS_AT_ONCE: Final = 10
PAUSE_S: Final = 0.35
"""Grids allow about three such questions a second."""
AGAIN_AFTER_S: Final = (10.0, 60.0, 300.0, 0.0)
"""Pauses after each round of questions of which some came to nothing; items stay unknown until then."""
BY_ITEM_NAME: Final = 0


async def learn_inventory(client: GridClient) -> int:
    """Ask for the contents of every folder, by capability where there is one and over UDP where not.

    Returns:
        How many questions came to nothing, also when they were asked again.
    """
    folders = list(client.session.world.inventory.folders)
    left = [folders[at : at + FOLDERS_AT_ONCE] for at in range(0, len(folders), FOLDERS_AT_ONCE)]
    for pause_s in AGAIN_AFTER_S:
        left = [chunk for chunk in left if not await _learn(client, chunk)]
        client.session.world.inventory.asked = True
        if not left:
            break
        await trio.sleep(pause_s)
    return len(left)


async def _learn(client: GridClient, folders: list[bytes]) -> bool:
    """Ask for the contents of some folders and pause; tell whether an answer came, or over UDP whether it was asked."""
    session = client.session
    if session.capability(FETCH) is None:
        return not await _ask_over_udp(client, folders)
    learnt = True
    try:
        answer = await client.ask_capability(FETCH, _question(session.me.agent_id, folders))
        session.world.inventory.learn(read_folders_untrusted(answer))
    except (WebFailed, RemoteProtocolError):
        learnt = False
    await trio.sleep(PAUSE_S)
    return learnt


def _question(owner_id: bytes, folders: list[bytes]) -> LlsdGiven:
    return {
        "folders": [
            {
                "folder_id": UUID(bytes=folder_id),
                "owner_id": UUID(bytes=owner_id),
                "sort_order": BY_ITEM_NAME,
                "fetch_folders": False,
                "fetch_items": True,
            }
            for folder_id in folders
        ]
    }


async def _ask_over_udp(client: GridClient, folders: list[bytes]) -> int:
    missed = 0
    for folder_id in folders:
        try:
            client.send(ask_folder(client.session.me, folder_id))
        except (LimitReached, LocalProtocolError):
            missed += 1
        await trio.sleep(PAUSE_S)
    return missed


def notecard_asset(text: str) -> bytes:
    """Write a notecard's text in the form that grids keep."""
    raw = text.encode("utf-8", "replace")
    head = f"Linden text version 2\n{{\nLLEmbeddedItems version 1\n{{\ncount 0\n}}\nText length {len(raw)}\n"
    return head.encode() + raw + b"}\n"


async def write_notecard(client: GridClient, item: ItemMade, making: Making) -> GridEvent:
    """Write the text into a notecard that was just made.

    Returns:
        What is to be told: the item, or that it stayed empty.
    """
    done: LlsdValue = None
    text = notecard_asset(making.text or "")
    try:
        offered = await client.ask_capability(WRITE, {"item_id": UUID(bytes=item.item_id)})
        uploader = offered.get("uploader") if isinstance(offered, dict) else None
        if isinstance(uploader, str):
            done = await client.ask_address(uploader, text, content_type="application/octet-stream")
    except (WebFailed, RemoteProtocolError):
        done = None
    if isinstance(done, dict) and done.get("state") == "complete":
        return told.InventoryChanged(item=item_view(item), reference=making.reference)
    return told.ActionRefused(reference=making.reference, reason="not_written")
