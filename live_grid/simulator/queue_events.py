"""What travels by the event queue, as LLSD bodies: neighbours, handovers, parcels.

Owns the layout of each body; decides nothing. Unsigned numbers are big-endian binary in handovers; in parcels each
family writes them its own way (Spec: LIV-4, LIV-15).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, TypeAlias
from uuid import UUID

from gridagent.actions import Position
from gridagent.grid.simulated.parcels import Parcel
from gridagent.grid.simulated.region import Region
from gridagent.ids import AvatarId
from live_grid.llsd import LlsdGiven
from live_grid.messages import NIL
from live_grid.simulator.places import Place
from live_grid.simulator.profiles import WireProfile

__all__ = (
    "SIM_ACCESS",
    "Body",
    "crossed_region",
    "enable_simulator",
    "establish_communication",
    "parcel_properties",
    "teleport_failed",
    "teleport_finish",
)

Body: TypeAlias = "dict[str, LlsdGiven]"

SIM_ACCESS: Final = 13
"""General: everybody may come."""
LOCATION_ID: Final = 4
_ALLOW_FLY: Final = 1 << 0
_ALLOW_SCRIPTS: Final = 1 << 1
_ALLOW_LANDMARK: Final = 1 << 3
_CREATE_OBJECTS: Final = 1 << 6
_SCRIPTS_AND_FLIGHT: Final = _ALLOW_FLY | _ALLOW_LANDMARK
_CLAIMED: Final = datetime(2026, 1, 1, tzinfo=UTC)
_SQUARE_M: Final = 4
_BITMAP_SIZE_MAX_M: Final = 1_024


def _u32(value: int) -> bytes:
    return value.to_bytes(4, "big")


def _u64(value: int) -> bytes:
    return value.to_bytes(8, "big")


def _sizes(place: Place, profile: WireProfile) -> Body:
    if not profile.sizes_named:
        return {}
    size = _u32(place.region.size_m)
    return {"RegionSizeX": size, "RegionSizeY": size}


def enable_simulator(place: Place, profile: WireProfile) -> Body:
    """Announce a neighbour."""
    info: Body = {"Handle": _u64(place.handle), "IP": place.ip, "Port": place.address[1], **_sizes(place, profile)}
    return {"SimulatorInfo": [info]}


def establish_communication(avatar_id: AvatarId, place: Place, seed: str) -> Body:
    """Give a neighbour's seed."""
    host, port = place.address
    return {"agent-id": UUID(avatar_id), "sim-ip-and-port": f"{host}:{port}", "seed-capability": seed}


def teleport_finish(avatar_id: AvatarId, place: Place, seed: str, flags: int, profile: WireProfile) -> Body:
    """Say where a teleport goes on."""
    info: Body = {
        "AgentID": UUID(avatar_id),
        "LocationID": _u32(LOCATION_ID),
        "SimIP": place.ip,
        "SimPort": place.address[1],
        "RegionHandle": _u64(place.handle),
        "SeedCapability": seed,
        "SimAccess": SIM_ACCESS,
        "TeleportFlags": _u32(flags),
        **_sizes(place, profile),
    }
    return {"Info": [info]}


def teleport_failed(avatar_id: AvatarId, reason: str) -> Body:
    """Say that a teleport failed."""
    return {"Info": [{"AgentID": UUID(avatar_id), "Reason": reason}]}


def crossed_region(
    avatar_id: AvatarId, session_id: bytes, place: Place, seed: str, position: Position, profile: WireProfile
) -> Body:
    """Say that a border was crossed, and where."""
    return {
        "AgentData": [{"AgentID": UUID(avatar_id), "SessionID": UUID(bytes=session_id)}],
        "Info": [{"LookAt": [1.0, 0.0, 0.0], "Position": [position.x, position.y, position.z]}],
        "RegionData": [
            {
                "RegionHandle": _u64(place.handle),
                "SeedCapability": seed,
                "SimIP": place.ip,
                "SimPort": place.address[1],
                **_sizes(place, profile),
            }
        ],
    }


def parcel_flags(parcel: Parcel) -> int:
    """Write what everybody may do on a parcel as bits."""
    land = parcel.land
    flags = _SCRIPTS_AND_FLIGHT
    if land.runs_scripts:
        flags |= _ALLOW_SCRIPTS
    if land.anybody_builds:
        flags |= _CREATE_OBJECTS
    return flags


def _bitmap(region: Region, parcel: Parcel) -> bytes:
    """Mark the squares of four metres that belong to a parcel; too large a region has no map."""
    if region.size_m > _BITMAP_SIZE_MAX_M:
        return b""
    side = region.size_m // _SQUARE_M
    if len(region.parcels) == 1:
        return ((1 << side * side) - 1).to_bytes((side * side + 7) // 8, "little")
    bits = bytearray((side * side + 7) // 8)
    for row in range(side):
        for column in range(side):
            point = Position(x=column * _SQUARE_M + 0.5, y=row * _SQUARE_M + 0.5)
            if region.parcel_at(point) is parcel:
                at = row * side + column
                bits[at >> 3] |= 1 << (at & 7)
    return bytes(bits)


def parcel_properties(
    region: Region, parcel: Parcel, *, sequence_id: int, profile: WireProfile, snap: bool = False
) -> Body:
    """Describe a parcel.

    Args:
        region: where it lies.
        parcel: which.
        sequence_id: of the request this answers.
        profile: decides how unsigned numbers are written.
        snap: what the request said about its rectangle.
    """
    land, size = parcel.land, float(region.size_m)
    low = [land.x, land.y, 0.0]
    high = [min(land.x + land.width, size), min(land.y + land.depth, size), 0.0]
    flags = parcel_flags(parcel)
    data: Body = {
        "LocalID": region.parcels.index(parcel) + 1,
        "AABBMin": low,
        "AABBMax": high,
        "Area": int((high[0] - low[0]) * (high[1] - low[1])),
        "AuctionID": _u32(0) if profile.integers_as_binary else 0,
        "AuthBuyerID": UUID(bytes=NIL),
        "Bitmap": _bitmap(region, parcel),
        "Category": 0,
        "ClaimDate": _CLAIMED,
        "ClaimPrice": 0,
        "Desc": land.description,
        "GroupID": UUID(bytes=NIL),
        "GroupPrims": 0,
        "IsGroupOwned": False,
        "LandingType": 2,
        "MaxPrims": land.prim_limit,
        "MediaAutoScale": False,
        "MediaID": UUID(bytes=NIL),
        "MediaURL": "",
        "MusicURL": "",
        "Name": land.name,
        "OtherCleanTime": 0,
        "OtherCount": 0,
        "OtherPrims": 0,
        "OwnerID": UUID(parcel.owner_id),
        "OwnerPrims": parcel.prims,
        "ParcelFlags": _u32(flags),
        "ParcelPrimBonus": 1.0,
        "PassHours": 0.0,
        "PassPrice": 0,
        "PublicCount": 0,
        "RegionDenyAnonymous": False,
        "RegionDenyIdentified": False,
        "RegionDenyTransacted": False,
        "RegionPushOverride": False,
        "RentPrice": 0,
        "RequestResult": 0,
        "SalePrice": 0,
        "SelectedPrims": 0,
        "SelfCount": 0,
        "SequenceID": sequence_id,
        "SimWideMaxPrims": region.prim_limit,
        "SimWideTotalPrims": region.prims,
        "SnapSelection": snap,
        "SnapshotID": UUID(bytes=NIL),
        "Status": 0,
        "TotalPrims": parcel.prims,
        "UserLocation": [0.0, 0.0, 0.0],
        "UserLookAt": [0.0, 0.0, 0.0],
        "SeeAVs": True,
        "AnyAVSounds": True,
        "GroupAVSounds": True,
    }
    return {
        "ParcelData": [data],
        "MediaData": [
            {
                "MediaDesc": "",
                "MediaHeight": 0,
                "MediaWidth": 0,
                "MediaLoop": False,
                "MediaType": "none/none",
                "ObscureMedia": False,
                "ObscureMusic": False,
            }
        ],
        "ParcelExtendedFlags": [{"Flags": _u32(0)}],
        "AgeVerificationBlock": [{"RegionDenyAgeUnverified": False}],
        "ParcelEnvironmentBlock": [{"ParcelEnvironmentVersion": -1, "RegionAllowEnvironmentOverride": False}],
        "RegionAllowAccessBlock": [{"RegionAllowAccessOverride": True}],
    }
