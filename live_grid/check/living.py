"""Steps that one account does by itself in a region: looking, speaking, moving, sitting, building."""

from __future__ import annotations

from typing import Final

from gridagent import actions as asked
from gridagent.actions import Confirmed, Position
from gridagent.events import ChatHeard, ObjectSeen, ParcelSeen, SelfMoved, SpeakerKind
from gridagent.ids import ObjectId
from live_grid.check.course import Check
from live_grid.check.report import Evidence, StepFailed, StepSkipped
from live_grid.check.visit import Visit

__all__ = ("build", "delete", "look", "say_something", "sit", "sit_on_ground", "speak", "touch", "turn", "walk")

SEEN_WITHIN_S: Final = 15.0
WALK_M: Final = 5.0
BUILD_M: Final = 2.0
BOX: Final = "Live check box"


async def say_something(visit: Visit, text: str) -> str:
    """Say something and hear it; return what proved it.

    Raises:
        StepFailed: it did not come back.
    """
    return await visit.do(asked.Say(text=text))


async def look(check: Check) -> Evidence:
    """Wait for what has to be known of any place, and count the rest."""
    me = check.here
    parcel = await me.told(ParcelSeen, since=0, within_s=SEEN_WITHIN_S)
    things, people = len(me.backend.objects()), len(me.backend.avatars())
    return {"parcel_named": bool(parcel.parcel.name), "objects": things, "avatars": people, "size_m": check.size_m}


async def speak(check: Check) -> Evidence:
    """Say something and have it come back as our own."""
    since = check.here.mark
    proof = await say_something(check.here, "Live check: good day.")
    heard = await check.here.told(ChatHeard, _is_own, since=since, within_s=1.0)
    return {"proof": proof, "heard_as": heard.source.kind.value}


def _is_own(heard: ChatHeard) -> bool:
    return heard.source.kind is SpeakerKind.SELF


async def turn(check: Check) -> Evidence:
    """Face north."""
    return {"proof": await check.here.do(asked.TurnTo(heading_deg=90.0))}


def _towards_the_middle(check: Check, here: Position, metres: float) -> Position:
    east = metres if here.x < check.size_m / 2 else -metres
    return Position(x=here.x + east, y=here.y, z=here.z)


def _where(check: Check) -> Position:
    assert check.ready is not None  # noqa: S101 - we have been in the world
    moved = check.here.newest(SelfMoved)
    return check.ready.position if moved is None else moved.position


async def walk(check: Check) -> Evidence:
    """Walk towards the middle of the region."""
    here = _where(check)
    proof = await check.here.do(asked.WalkTo(position=_towards_the_middle(check, here, WALK_M)))
    return {"proof": proof, "metres": round(here.distance_to(_where(check)), 2)}


async def build(check: Check) -> Evidence:
    """Make a box to sit on; a place where nobody may build has none."""
    place = _towards_the_middle(check, _where(check), BUILD_M)
    since = check.here.mark
    outcome = await check.here.act(asked.RezObject(position=place, name=BOX))
    if not isinstance(outcome, Confirmed):
        raise StepFailed(f"rez_object: {outcome.reason}")
    seen = await check.here.told(ObjectSeen, lambda seen: seen.object.name == BOX, since=since, within_s=SEEN_WITHIN_S)
    check.object_id = seen.object.object_id
    return {"proof": outcome.evidence.value, "off_m": round(seen.object.position.distance_to(place), 2)}


def _box(check: Check) -> ObjectId:
    if check.object_id is None:
        raise StepSkipped("nothing of ours is here")
    return check.object_id


async def sit(check: Check) -> Evidence:
    """Sit down on our box and stand up again."""
    seated = await check.here.do(asked.SitOn(object_id=_box(check)))
    return {"seated": seated, "stood": await check.here.do(asked.StandUp())}


async def touch(check: Check) -> Evidence:
    """Touch our box."""
    return {"proof": await check.here.do(asked.Touch(object_id=_box(check)))}


async def delete(check: Check) -> Evidence:
    """Delete our box."""
    proof = await check.here.do(asked.DeleteObject(object_id=_box(check)))
    check.object_id = None
    return {"proof": proof}


async def sit_on_ground(check: Check) -> Evidence:
    """Sit down where we are and stand up again."""
    seated = await check.here.do(asked.SitOnGround())
    return {"seated": seated, "stood": await check.here.do(asked.StandUp())}
