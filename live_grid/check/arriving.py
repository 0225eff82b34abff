"""Steps about coming and going: discovery, logins that work and one that must not, logouts."""

from __future__ import annotations

from typing import Final

import attrs
import trio

from gridagent.config.secrets import SecretStr
from gridagent.events import DisconnectCause
from live_grid.check.course import Check
from live_grid.check.plan import HEIGHT_M, Border
from live_grid.check.report import Evidence, StepFailed
from live_grid.io import Web, find_login_url

__all__ = ("edge_of", "grid_info", "leave", "log_in", "log_in_at_place", "log_out", "wrong_password")

EDGE_M: Final = 8
"""How far from a border we log in to walk over it."""
NEAR_M: Final = 30.0
"""A grid may move whoever arrives to the next free place."""


async def grid_info(check: Check) -> Evidence:
    """Ask the grid where to log in."""
    web = Web()
    try:
        found = await find_login_url(web, check.plan.settings.login_url)
    finally:
        with trio.CancelScope(shield=True):
            await web.aclose()
    return {"login_url_same": found.rstrip("/") == check.plan.settings.login_url.rstrip("/")}


async def wrong_password(check: Check) -> Evidence:
    """Log in with a password that is not ours: that has to fail, and as what it is."""
    wrong = SecretStr(f"not {check.plan.account.password.reveal()}")
    try:
        visit, _ = await check.enter(attrs.evolve(check.plan.account, password=wrong))
    except StepFailed as failed:
        if failed.evidence["why"] != DisconnectCause.BAD_CREDENTIALS.value:
            raise
        return {"cause": DisconnectCause.BAD_CREDENTIALS.value}
    await visit.leave()
    raise StepFailed("a wrong password let us in")


async def log_in(check: Check) -> Evidence:
    """Log in where we were last."""
    return await check.arrive()


async def log_out(check: Check) -> Evidence:
    """Log out and in again: a grid that had not heard us would take us for logged in."""
    began = trio.current_time()
    await check.leave()
    took = trio.current_time() - began
    return {"logout_s": round(took, 3), **await check.arrive()}


async def leave(check: Check) -> Evidence:
    """Log out for good."""
    await check.leave()
    return {}


def edge_of(border: Border | None, size_m: int) -> tuple[int, int]:
    """Tell a place near a border; the middle if there is none to go to."""
    middle = size_m // 2
    return {
        Border.EAST: (size_m - EDGE_M, middle),
        Border.WEST: (EDGE_M, middle),
        Border.NORTH: (middle, size_m - EDGE_M),
        Border.SOUTH: (middle, EDGE_M),
        None: (middle, middle),
    }[border]


async def log_in_at_place(check: Check) -> Evidence:
    """Log in at a place: near the border, if there is one to walk over."""
    assert check.ready is not None  # noqa: S101 - we have been in the world
    region = check.ready.region
    x, y = edge_of(check.plan.border, check.size_m)
    await check.leave()
    evidence = await check.arrive(f"{region}/{x}/{y}/{HEIGHT_M}")
    place = check.ready.position
    if check.ready.region != region or abs(place.x - x) > NEAR_M or abs(place.y - y) > NEAR_M:
        raise StepFailed("we arrived elsewhere", asked=f"{region}/{x}/{y}", **evidence)
    return evidence
