"""What messages about teleports do to our world: nothing; they are told, and the handover acts on them.

Owns the reducers of the family, for both ways a failure comes: over UDP, as OpenSimulator sends it, and by the event
queue, as Second Life may (Spec: LIV-7).
"""

from __future__ import annotations

from live_grid.errors import RemoteProtocolError
from live_grid.event_queue.fields import Fields, block_of, text_of_field, uuid_of
from live_grid.messages.travel import TeleportFailed, TeleportLocal, TeleportProgress, TeleportStart
from live_grid.world.bounds import LABEL_MAX_CHARACTERS, LONG_MAX_CHARACTERS
from live_grid.world.events import TeleportEndedHere, TeleportProgressed, TeleportRefused, WorldEvent
from live_grid.world.state import Region, World
from live_grid.world.text import clean_name, clean_text, clean_words

__all__ = ("reduce_failed", "reduce_local", "reduce_progress", "reduce_queued_failure", "reduce_start")


def reduce_start(world: World, region: Region, message: TeleportStart) -> tuple[WorldEvent, ...]:
    """Take notice that a teleport has begun."""
    del world, region, message
    return (TeleportProgressed(""),)


def reduce_progress(world: World, region: Region, message: TeleportProgress) -> tuple[WorldEvent, ...]:
    """Take notice that a teleport goes on."""
    del world, region
    return (TeleportProgressed(clean_name(message.info.message)),)


def reduce_local(world: World, region: Region, message: TeleportLocal) -> tuple[WorldEvent, ...]:
    """Take notice that we are elsewhere in the region."""
    del region
    info = message.info
    return (TeleportEndedHere(info.position, info.look_at),) if info.agent_id == world.agent_id else ()


def reduce_failed(world: World, region: Region, message: TeleportFailed) -> tuple[WorldEvent, ...]:
    """Take notice that a teleport failed, if it was ours."""
    del region
    info = message.info
    if info.agent_id != world.agent_id:
        return ()
    key = clean_name(message.alert_info[0].message, LABEL_MAX_CHARACTERS) if message.alert_info else ""
    return (TeleportRefused(clean_text(info.reason, LONG_MAX_CHARACTERS), key),)


def reduce_queued_failure(world: World, region: Region, body: Fields) -> tuple[WorldEvent, ...]:
    """Take the same from the event queue.

    Raises:
        RemoteProtocolError: it does not say whose teleport failed.
    """
    del region
    block = block_of(body, "Info")
    if uuid_of(block, "AgentID") != world.agent_id:
        return ()
    reason = clean_words(text_of_field(block, "Reason"), LONG_MAX_CHARACTERS)
    key = ""
    if "AlertInfo" in body:
        try:
            key = clean_words(text_of_field(block_of(body, "AlertInfo"), "Message"), LABEL_MAX_CHARACTERS)
        except RemoteProtocolError:
            key = ""
    return (TeleportRefused(reason, key),)
