"""Steps between regions: teleports there and back, one to nowhere, and a border crossed on foot."""

from __future__ import annotations

from typing import Final

import trio

from gridagent import actions as asked
from gridagent.actions import Position, Refused
from gridagent.events import RegionEntered, TeleportOffered
from live_grid.check.course import Check
from live_grid.check.living import say_something
from live_grid.check.plan import Border
from live_grid.check.report import Evidence, StepFailed, StepSkipped

__all__ = ("back", "cross", "follow_invitation", "nowhere", "there")

MIDDLE: Final = Position(x=128.0, y=128.0, z=30.0)
BEYOND_M: Final = 12.0
"""How far over the border we want to walk."""
CROSSED_WITHIN_S: Final = 60.0
OFFERED_WITHIN_S: Final = 15.0
NOWHERE: Final = "Live Check No Such Region"
_BEYOND: Final = {Border.EAST: (1, 0), Border.WEST: (-1, 0), Border.NORTH: (0, 1), Border.SOUTH: (0, -1)}


async def _go(check: Check, region: str) -> Evidence:
    began = trio.current_time()
    proof = await check.here.do(asked.TeleportTo(region=region, position=MIDDLE))
    took = trio.current_time() - began
    said = await say_something(check.here, f"Live check: in {region}.")
    return {"proof": proof, "region": region, "teleport_s": round(took, 3), "speaking": said}


def _other(check: Check) -> str:
    """Name the region to go to.

    Raises:
        StepSkipped: there is none.
    """
    assert check.ready is not None  # noqa: S101 - we have been in the world
    other = check.plan.other_region
    if not other:
        raise StepSkipped("no other region was named")
    if other.casefold() == check.ready.region.casefold():
        raise StepSkipped("we logged in to the other region; name the one to begin in")
    return other


async def there(check: Check) -> Evidence:
    """Teleport to the other region and speak there."""
    return await _go(check, _other(check))


async def back(check: Check) -> Evidence:
    """Teleport to where we logged in and speak there."""
    _other(check)
    assert check.ready is not None  # noqa: S101 - we have been in the world
    return await _go(check, check.ready.region)


async def follow_invitation(check: Check) -> Evidence:
    """Have the companion invite us to the other region, go there, and come back."""
    other = _other(check)
    await check.friend.do(asked.TeleportTo(region=other, position=MIDDLE))
    since = check.here.mark
    await check.friend.do(asked.OfferTeleport(to=check.me_id, message="Live check"))
    offered = await check.here.told(TeleportOffered, since=since, within_s=OFFERED_WITHIN_S)
    proof = await check.here.do(asked.AnswerTeleportOffer(offer_id=offered.offer_id, accept=True))
    entered = await check.here.told(RegionEntered, since=since, within_s=OFFERED_WITHIN_S)
    if entered.region.casefold() != other.casefold():
        raise StepFailed("the invitation led elsewhere", region=entered.region)
    return {"accepted": proof, "invited_to": entered.region, **await back(check)}


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
