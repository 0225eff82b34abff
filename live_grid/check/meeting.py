"""Steps that take two: seeing each other, talking, giving and taking."""

from __future__ import annotations

from functools import partial
from typing import Final

import attrs
import trio

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.events import ChatHeard, FriendChanged, FriendshipOffered, ImReceived, InventoryChanged, InventoryOffered
from gridagent.ids import AvatarId, ItemId
from live_grid.backend.views import text_id
from live_grid.check.course import Check
from live_grid.check.living import say_something
from live_grid.check.report import Evidence, StepFailed, StepSkipped
from live_grid.check.visit import Visit

__all__ = ("accept", "befriend", "bring", "hear", "im", "offer")

WITHIN_S: Final = 15.0
SEE_EVERY_S: Final = 0.5
SEE_TRIES: Final = 30
LANDMARK: Final = "Live check"


async def bring(check: Check) -> Evidence:
    """Log the companion in beside us and wait until each sees the other."""
    account = check.plan.companion
    if account is None:
        raise StepSkipped("needs a companion")
    assert check.ready is not None  # noqa: S101 - we have been in the world
    beside = _beside(check.ready.position, check.size_m)
    start = f"{check.ready.region}/{beside.x:.0f}/{beside.y:.0f}/{beside.z:.0f}"
    check.companion, ready = await check.enter(attrs.evolve(account, start=start))
    began = trio.current_time()
    for visit, other in ((check.here, ready.avatar_id), (check.friend, check.me_id)):
        await _see(visit, other)
    return {"seen_after_s": round(trio.current_time() - began, 3)}


def _beside(place: Position, size_m: int) -> Position:
    return Position(x=min(max(place.x, 8.0), size_m - 8.0), y=min(max(place.y + 3.0, 8.0), size_m - 8.0), z=place.z)


async def _see(visit: Visit, other: AvatarId) -> None:
    for _ in range(SEE_TRIES):
        if any(view.avatar_id == other for view in visit.backend.avatars()):
            return
        await trio.sleep(SEE_EVERY_S)
    raise StepFailed("one does not see the other")


def _says(text: str, words: ChatHeard | ImReceived) -> bool:
    return words.text == text


async def hear(check: Check) -> Evidence:
    """Have each hear the other."""
    for speaker, listener, text in ((check.friend, check.here, "One."), (check.here, check.friend, "Two.")):
        since = listener.mark
        await say_something(speaker, text)
        await listener.told(ChatHeard, partial(_says, text), since=since, within_s=WITHIN_S)
    return {"heard": 2}


async def im(check: Check) -> Evidence:
    """Have each get the other's message."""
    friend_id = _id_of(check.friend)
    for sender, to, receiver, text in (
        (check.friend, check.me_id, check.here, "Three."),
        (check.here, friend_id, check.friend, "Four."),
    ):
        since = receiver.mark
        await sender.do(asked.SendIm(to=to, text=text))
        await receiver.told(ImReceived, partial(_says, text), since=since, within_s=WITHIN_S)
    return {"received": 2}


def _id_of(visit: Visit) -> AvatarId:
    connection = visit.backend.connection
    assert connection is not None  # noqa: S101 - they are in the world
    return AvatarId(text_id(connection.client.session.me.agent_id))


async def befriend(check: Check) -> Evidence:
    """Offer friendship, have it accepted, and end it again."""
    friend_id = _id_of(check.friend)
    mine, theirs = check.here.mark, check.friend.mark
    await check.here.do(asked.OfferFriendship(to=friend_id))
    offered = await check.friend.told(FriendshipOffered, since=theirs, within_s=WITHIN_S)
    accepted = await check.friend.do(asked.AnswerFriendship(offer_id=offered.offer_id, accept=True))
    await check.here.told(FriendChanged, _is_friend, since=mine, within_s=WITHIN_S)
    return {"accepted": accepted, "ended": await check.here.do(asked.EndFriendship(avatar_id=friend_id))}


def _is_friend(changed: FriendChanged) -> bool:
    return changed.friend


async def _give(giver: Visit, item_id: ItemId, receiver: Visit) -> tuple[str, ItemId]:
    """Give something and have it accepted; return what proved it, and what the receiver holds now.

    Raises:
        StepFailed: it did not get there, or nothing proved it.
    """
    since = receiver.mark
    outcomes: list[str] = []

    async def give() -> None:
        outcomes.append(await giver.do(asked.GiveItem(item_id=item_id, to=_id_of(receiver))))

    failed: list[StepFailed] = []
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(give)
            offered = await receiver.told(InventoryOffered, since=since, within_s=WITHIN_S)
            await receiver.do(asked.AnswerInventoryOffer(offer_id=offered.offer_id, accept=True))
    except* StepFailed as group:
        failed += [each for each in group.exceptions if isinstance(each, StepFailed)]
    if failed:
        raise failed[0]
    changed = await receiver.told(InventoryChanged, since=since, within_s=WITHIN_S)
    return outcomes[0], changed.item.item_id


async def offer(check: Check) -> Evidence:
    """Make a landmark and give it to the companion."""
    since = check.here.mark
    made = await check.here.do(asked.CreateLandmark(name=LANDMARK))
    mine = await check.here.told(InventoryChanged, since=since, within_s=WITHIN_S)
    proof, check.item_id = await _give(check.here, mine.item.item_id, check.friend)
    return {"made": made, "given": proof}


async def accept(check: Check) -> Evidence:
    """Take it back from the companion."""
    if check.item_id is None:
        raise StepSkipped("the companion holds nothing of ours")
    proof, _ = await _give(check.friend, check.item_id, check.here)
    return {"taken": proof}
