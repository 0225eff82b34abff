"""Being seen as more than a cloud: asking the grid to dress us in what the account wears.

Owns one exchange. Where the grid bakes (Second Life) nobody sees us before we asked for our outfit to be baked; it
names the version of the outfit's folder that it wants, if ours is out of date. Where viewers bake (OpenSimulator) the
region keeps and sends the look that a viewer last gave the account, and half a look sent by us would take its place:
there we send nothing (Spec: LIV-10).
"""

from __future__ import annotations

from typing import Final

import trio

from live_grid.errors import RemoteProtocolError
from live_grid.io import GridClient, WebFailed

__all__ = ("show_outfit",)

BAKE: Final = "UpdateAvatarAppearance"
TRIES_MAX: Final = 5
PAUSE_S: Final = 5.0
_VERSION_MAX: Final = 2**31 - 1


async def show_outfit(client: GridClient) -> bool:
    """Ask the region to bake what we wear, where it is the region that bakes.

    Returns:
        Whether it said that it does.

    Cancellation: it may have been asked.
    """
    version = client.session.world.inventory.outfit_version
    if version is None or client.session.capability(BAKE) is None:
        await trio.lowlevel.checkpoint()
        return False
    for _ in range(TRIES_MAX):
        try:
            answer = await client.ask_capability(BAKE, {"cof_version": version})
        except (WebFailed, RemoteProtocolError):
            answer = None
        said = answer if isinstance(answer, dict) else {}
        if said.get("success") is True:
            return True
        expected = said.get("expected")
        if type(expected) is int and 0 <= expected <= _VERSION_MAX and expected != version:
            version = expected
        else:
            await trio.sleep(PAUSE_S)
    return False
