"""Steps between regions: teleports there and back, one to nowhere, and a border crossed on foot."""

from __future__ import annotations

from typing import Final

import trio

from gridagent import actions as asked
from gridagent.actions import Position, Refused
from gridagent.events import RegionEntered
from live_grid.check.course import Check
from live_grid.check.living import say_something
from live_grid.check.plan import Border
from live_grid.check.report import Evidence, StepFailed, StepSkipped

__all__ = ("back", "cross", "nowhere", "there")

MIDDLE: Final = Position(x=128.0, y=128.0, z=30.0)
BEYOND_M: Final = 12.0
"""How far over the border we want to walk."""
CROSSED_WITHIN_S: Final = 60.0
NOWHERE: Final = "Live Check No Such Region"
_BEYOND: Final = {Border.EAST: (1, 0), Border.WEST: (-1, 0), Border.NORTH: (0, 1), Border.SOUTH: (0, -1)}


async def _go(check: Check, region: str) -> Evidence:
    began = trio.current_time()
    proof = await check.here.do(asked.TeleportTo(region=region, position=MIDDLE))
    took = trio.current_time() - began
    said = await say_something(check.here, f"Live check: in {region}.")
    return {"proof": proof, "region": region, "teleport_s": round(took, 3), "speaking": said}


async def there(check: Check) -> Evidence:
    """Teleport to the other region and speak there."""
    if not check.plan.other_region:
        raise StepSkipped("no other region was named")
    return await _go(check, check.plan.other_region)


async def back(check: Check) -> Evidence:
    """Teleport to where we logged in and speak there."""
    if not check.plan.other_region:
        raise StepSkipped("no other region was named")
    assert check.ready is not None  # noqa: S101 - we have been in the world
    return await _go(check, check.ready.region)


async def nowhere(check: Check) -> Evidence:
    """Teleport to a region that is not there; that has to be refused, and we stay and can speak."""
    outcome = await check.here.act(asked.TeleportTo(region=NOWHERE, position=MIDDLE))
    if not isinstance(outcome, Refused):
        raise StepFailed("it was not refused")
    return {"refused": outcome.reason, "speaking": await say_something(check.here, "Live check: still here.")}


async def cross(check: Check) -> Evidence:
    """Walk over the border; the port knows no walk out of a region, so this one is led from below it."""
    border = check.plan.border
    if border is None:
        raise StepSkipped("no border was named")
    connection = check.here.backend.connection
    assert connection is not None  # noqa: S101 - we are in the world
    session = connection.client.session
    x, y, z = session.world.position
    east, north = _BEYOND[border]
    size = check.size_m
    target = (
        {1: size + BEYOND_M, -1: -BEYOND_M, 0: x}[east],
        {1: size + BEYOND_M, -1: -BEYOND_M, 0: y}[north],
        z,
    )
    since, began = check.here.mark, trio.current_time()
    session.body.walk_to(target, trio.current_time())
    connection.client.nudge()
    entered = await check.here.told(RegionEntered, since=since, within_s=CROSSED_WITHIN_S)
    took = trio.current_time() - began
    said = await say_something(check.here, f"Live check: walked to {entered.region}.")
    return {"how": entered.how, "region": entered.region, "walk_s": round(took, 3), "speaking": said}
