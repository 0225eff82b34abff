"""One story, told on the simulated backend and over the wire: it ends in the same world."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from gridagent import actions as asked
from gridagent.actions import Confirmed, InDoubt, Outcome, Position, Refused
from gridagent.events import ChatHeard, FriendshipOffered, ImReceived, InventoryOffered
from gridagent.grid.simulated import World
from gridagent.grid.simulated.scenario import parse_scenario
from gridagent.ids import AvatarId, ItemId, ObjectId
from live_grid.simulator import OPENSIM, SECOND_LIFE
from tests.live_grid.whole.life import ADA, OLIVE, Life, a_life, a_life_without_a_wire

STORY = {
    "name": "two-tellings",
    "seed": 5,
    "regions": [
        {"name": "Plaza", "x_m": 256000, "y_m": 256000, "owner": "Ada Actor"},
        {"name": "Annex", "x_m": 256256, "y_m": 256000, "size_m": 512, "owner": "Olive Owner"},
    ],
    "avatars": [
        {
            "name": "Ada Actor",
            "avatar_id": ADA,
            "start": {"region": "Plaza", "x": 100, "y": 100},
            "home": {"region": "Plaza", "x": 60, "y": 60},
            "balance": 200,
            "inventory": [{"name": "Pamphlet", "kind": "notecard"}],
        },
        {
            "name": "Olive Owner",
            "avatar_id": OLIVE,
            "start": {"region": "Plaza", "x": 104, "y": 100},
            "balance": 50,
        },
    ],
    "objects": [
        {
            "name": "Bench",
            "owner": "Olive Owner",
            "position": {"region": "Plaza", "x": 110, "y": 100},
            "sittable": True,
        },
        {"name": "Jar", "owner": "Olive Owner", "position": {"region": "Plaza", "x": 112, "y": 100}, "payable": True},
    ],
    "incidents": [
        {"kind": "region_restart", "at_s": 900, "region": "Plaza", "notice_s": 30, "down_s": 60},
    ],
}

Told = tuple[str, str]
TELLINGS = ("simulated", "opensim", "secondlife")


@asynccontextmanager
async def told(how: str, room: Path) -> AsyncIterator[Life]:
    """The service in the story, one way or the other."""
    file = room / "story.json"
    file.write_text(json.dumps(STORY), encoding="utf-8")
    if how == "simulated":
        async with a_life_without_a_wire(file) as life:
            yield life
        return
    story = parse_scenario(file.read_bytes(), "story")
    profile = OPENSIM if how == "opensim" else SECOND_LIFE
    async with a_life(room, story=story, profile=profile) as life:
        yield life


def object_named(world: World, name: str) -> object:
    """Find a thing in the world by its name."""
    return next(each for region in world.regions() for each in region.objects.values() if each.thing.name == name)


def owned(world: World) -> ObjectId:
    """Find the thing that is Ada's."""
    return next(
        each.object_id for region in world.regions() for each in region.objects.values() if each.owner_id == ADA
    )


def shown(outcome: Outcome) -> str:
    """How an action ended."""
    match outcome:
        case Confirmed():
            return outcome.evidence.value
        case Refused():
            return "refused"
        case InDoubt():
            return "in doubt"


async def live(life: Life) -> tuple[list[Told], list[str]]:
    """Live the story: what was done and how it ended, and what Olive heard of it."""
    began = life.grid.now()
    await life.online()
    await trio.sleep(15.0)
    olive, done = life.witness(OLIVE), []

    async def do(action: asked.Action) -> None:
        done.append((type(action).__name__, shown(await life.act(action))))

    async def answered(action: asked.Action, kind: type, answer: Callable[[object], asked.Action]) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(do, action)
            await life.until(lambda: olive.saw(kind))
            life.world.perform(OLIVE, answer(olive.saw(kind)[-1].offer_id), life.grid.now())

    spot = Position(x=120.0, y=120.0, z=22.0)
    pamphlet = next(each.item_id for each in life.world.inventory(ADA) if each.name == "Pamphlet")
    steps: tuple[Callable[[], Awaitable[None]], ...] = (
        lambda: do(asked.Say(text="Good day.")),
        lambda: do(asked.Emote(text="bows.")),
        lambda: do(asked.SendIm(to=OLIVE, text="A word?")),
        lambda: do(asked.WalkTo(position=Position(x=105.0, y=96.0, z=21.0))),
        lambda: do(asked.TurnTo(heading_deg=90.0)),
        lambda: do(asked.SitOn(object_id=object_named(life.world, "Bench").object_id)),
        lambda: do(asked.WalkTo(position=spot)),
        lambda: do(asked.StandUp()),
        lambda: do(asked.PayAvatar(to=OLIVE, amount=20)),
        lambda: do(asked.PayObject(object_id=object_named(life.world, "Jar").object_id, amount=5)),
        lambda: do(asked.PayAvatar(to=OLIVE, amount=400)),
        lambda: answered(
            asked.GiveItem(item_id=ItemId(pamphlet), to=OLIVE),
            InventoryOffered,
            lambda offer: asked.AnswerInventoryOffer(offer_id=offer, accept=True),
        ),
        lambda: answered(
            asked.OfferFriendship(to=OLIVE),
            FriendshipOffered,
            lambda offer: asked.AnswerFriendship(offer_id=offer, accept=True),
        ),
        lambda: do(asked.CreateNotecard(name="Diary", text="Today I met Olive.\nShe has a bench.")),
        lambda: do(asked.CreateLandmark(name="Where we met")),
        lambda: do(asked.RezObject(position=Position(x=104.0, y=98.0, z=22.0), name="Lantern")),
        lambda: do(asked.EditObject(object_id=owned(life.world), name="Lamp", description="It glows.")),
        lambda: do(asked.TeleportTo(region="Annex", position=spot)),
        lambda: do(asked.Say(text="Anybody here?")),
        lambda: do(asked.TeleportTo(region="Nowhere", position=spot)),
        lambda: do(asked.TeleportHome()),
        lambda: do(asked.TeleportTo(region="Plaza", position=Position(x=101.0, y=101.0, z=21.0))),
        lambda: do(asked.Say(text="Back again.")),
    )
    for step in steps:
        await step()
        await trio.sleep(2.0)
    await trio.sleep(began + 1_060.0 - life.grid.now())  # through the restart of the region and back again
    await life.online()
    back = life.witness(OLIVE) if not life.world.avatar(OLIVE).online else olive
    await do(asked.Say(text="Still here."))
    await trio.sleep(2.0)
    heard = [each.text for who in ({olive, back}) for each in who.saw(ChatHeard) if each.source.id == ADA]
    written = [each.text for each in olive.saw(ImReceived)]
    return done, [*sorted(heard), *written]


def digest(world: World) -> dict[str, object]:
    """Everything of the world that the story can change, without where exactly somebody stands."""

    def of(avatar_id: AvatarId) -> tuple[object, ...]:
        avatar = world.avatar(avatar_id)
        items = sorted((each.name, each.kind, each.text) for each in avatar.inventory.values())
        return (world.balance(avatar_id), items, sorted(avatar.friends), world.sessions.totals(avatar_id).logins)

    things = sorted(
        (region.name, each.thing.name, each.thing.description, each.owner_id)
        for region in world.regions()
        for each in region.objects.values()
    )
    return {"ada": of(ADA), "olive": of(OLIVE), "things": things}


@pytest.mark.slow
async def test_the_same_story_ends_in_the_same_world(tmp_path, autojump_clock) -> None:
    """What was done ended alike, was heard alike, and left the same behind, on each backend. Spec: LIV-15, EFX-1."""
    ends = {}
    for how in TELLINGS:
        room = tmp_path / how
        room.mkdir()
        async with told(how, room) as life:
            done, heard = await live(life)
            ends[how] = (done, heard, digest(life.world), life.where(), life.world.position(ADA))
    places = [each[4] for each in ends.values()]
    for how in TELLINGS[1:]:
        for told_here, told_there in zip(ends[how][:4], ends["simulated"][:4], strict=True):
            assert told_here == told_there, how
    assert max(places[0].distance_to(each) for each in places) < 3.0
    assert ends["simulated"][3] == "Annex"  # where it was put when its region went down
