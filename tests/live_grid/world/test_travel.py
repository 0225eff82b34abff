"""Messages about teleports."""

from __future__ import annotations

from uuid import UUID

import pytest

from live_grid.errors import RemoteProtocolError
from live_grid.event_queue import QueueEvent
from live_grid.messages.travel import TeleportFailed, TeleportLocal, TeleportProgress, TeleportStart
from live_grid.world import World, reduce_message, reduce_queue_event
from live_grid.world.events import TeleportEndedHere, TeleportProgressed, TeleportRefused

BEN = bytes(15) + b"\x02"


def test_a_teleport_is_followed_to_its_end(world: World) -> None:
    """Start, progress, and an end in the same region, all of it ours. Spec: LIV-7."""
    here = world.here
    assert reduce_message(world, here, TeleportStart(info=TeleportStart.Info(16))) == (TeleportProgressed(""),)
    progress = TeleportProgress(
        agent_data=TeleportProgress.AgentData(world.agent_id), info=TeleportProgress.Info(16, b"resolving\0")
    )
    assert reduce_message(world, here, progress) == (TeleportProgressed("resolving"),)
    place, east = (1.0, 2.0, 3.0), (1.0, 0.0, 0.0)

    def local(who: bytes) -> TeleportLocal:
        return TeleportLocal(info=TeleportLocal.Info(who, 2, place, east, 16))

    assert reduce_message(world, here, local(world.agent_id)) == (TeleportEndedHere(place, east),)
    assert reduce_message(world, here, local(BEN)) == ()


def test_a_failure_comes_over_udp(world: World) -> None:
    """With a key or without, and only our own. Spec: LIV-7."""

    def failed(who: bytes, *keys: bytes) -> TeleportFailed:
        return TeleportFailed(
            info=TeleportFailed.Info(who, b"No\x07 way\0"),
            alert_info=tuple(TeleportFailed.AlertInfo(key, b"") for key in keys),
        )

    assert reduce_message(world, world.here, failed(world.agent_id)) == (TeleportRefused("No way", ""),)
    assert reduce_message(world, world.here, failed(world.agent_id, b"NoHost\0")) == (
        TeleportRefused("No way", "NoHost"),
    )
    assert reduce_message(world, world.here, failed(BEN)) == ()


def test_a_failure_comes_by_the_queue(world: World) -> None:
    """The same from a grid that tells it there; one that says not whose is malformed. Spec: LIV-7."""

    def failed(who: bytes, **more: object) -> QueueEvent:
        body = {"Info": [{"AgentID": UUID(bytes=who), "Reason": "No way"}], **more}
        return QueueEvent(name="TeleportFailed", body=body)  # type: ignore[arg-type]

    assert reduce_queue_event(world, world.here, failed(world.agent_id)) == (TeleportRefused("No way", ""),)
    assert reduce_queue_event(world, world.here, failed(world.agent_id, AlertInfo=[{"Message": "NoHost"}])) == (
        TeleportRefused("No way", "NoHost"),
    )
    assert reduce_queue_event(world, world.here, failed(world.agent_id, AlertInfo=[])) == (
        TeleportRefused("No way", ""),
    )
    assert reduce_queue_event(world, world.here, failed(BEN)) == ()
    with pytest.raises(RemoteProtocolError):
        reduce_queue_event(world, world.here, QueueEvent(name="TeleportFailed", body={}))
