"""What the event queue's word on parcels does to our world.

Owns the reading of ParcelProperties in both writings: unsigned numbers as big-endian binary (Second Life) and as
integers (OpenSimulator). A parcel that was asked for with a number of ours, or comes by itself when we walk onto it,
is the one under us; negative numbers are notices about other parcels (Spec: LIV-5).
"""

from __future__ import annotations

from live_grid.event_queue.fields import Fields, block_of, number_of, uuid_of
from live_grid.world.bounds import LONG_MAX_CHARACTERS
from live_grid.world.events import ParcelDescribed, WorldEvent
from live_grid.world.state import Parcel, Region, World
from live_grid.world.text import clean, clean_words

__all__ = ("reduce_parcel",)

_NO_DATA = -1
_SIGN = 0x8000_0000


def _signed(value: int) -> int:
    return value - 2 * _SIGN if value & _SIGN else value


def _text(block: Fields, name: str) -> str:
    value = block.get(name, "")
    return value if isinstance(value, str) else ""


def reduce_parcel(world: World, region: Region, body: Fields) -> tuple[WorldEvent, ...]:
    """Learn what a parcel is.

    Raises:
        RemoteProtocolError: it does not say which, or whose.
    """
    block = block_of(body, "ParcelData")
    if _signed(number_of(block, "RequestResult", 0)) == _NO_DATA:
        return ()
    parcel = Parcel(
        local_id=_signed(number_of(block, "LocalID")),
        name=clean_words(_text(block, "Name")),
        description=clean(_text(block, "Desc"), LONG_MAX_CHARACTERS),
        owner_id=uuid_of(block, "OwnerID"),
        group_id=uuid_of(block, "GroupID"),
        group_owned=block.get("IsGroupOwned") is True,
        flags=number_of(block, "ParcelFlags"),
        area=number_of(block, "Area", 0),
        sequence=_signed(number_of(block, "SequenceID", 0)),
    )
    under_us = parcel.sequence >= 0 and region is world.here
    if under_us:
        world.parcel = parcel
    return (ParcelDescribed(under_us),)
