"""Asking a grid about itself for whoever writes a configuration: the entry point.

Owns one look-up and the sentence for each way in which it fails. Found through the entry point ``live`` of the group
``gridagent.discovery``; performs one request and keeps nothing open (Spec: LIV-1).
"""

from __future__ import annotations

import trio

from gridagent.errors import OperatorError
from gridagent.grid.discovery import FoundGrid
from live_grid.errors import RemoteProtocolError
from live_grid.io import Web, WebFailed, ask_grid
from live_grid.limits import GRID_INFO_MAX_BYTES

__all__ = ("GridNotFound", "discover_grid")


class GridNotFound(OperatorError):
    """No grid tells about itself at an address."""

    code = "grid_not_found"


async def discover_grid(url: str) -> FoundGrid:
    """Ask a grid's page of information where to log in.

    Args:
        url: any http address of the grid, from the operator.

    Raises:
        GridNotFound: nobody answers there, or not as a grid does.

    Cancellation: safe.
    """
    web = Web(body_max_bytes=GRID_INFO_MAX_BYTES)
    try:
        info = await ask_grid(web, url)
    except WebFailed as failed:
        raise GridNotFound(f"nobody answers there ({failed.why}); see that the address is right") from None
    except RemoteProtocolError:
        raise GridNotFound("what answers there has no page about a grid; see that the address is right") from None
    finally:
        with trio.CancelScope(shield=True):
            await web.aclose()
    return FoundGrid(name=info.name, login_url=info.login_url(url))
