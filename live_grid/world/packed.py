"""The packed forms inside object messages: where something is, how it moves, and what it is.

Owns the reading of the byte layouts: the motion block of a full update (in five sizes), a terse update, the head of
a compressed object, and the name values of an avatar. Quantised numbers become metres and metres a second.

Invariant: any bytes give a value or `RemoteProtocolError`; nothing that is not finite gets in (Spec: LIV-3, LIV-5).
"""

from __future__ import annotations

import re
import struct
from math import atan2, degrees, isfinite, sqrt
from typing import Final, TypeAlias

import msgspec

from live_grid.errors import RemoteProtocolError
from live_grid.world.text import clean_name

__all__ = (
    "FACING_EAST",
    "ORIGIN",
    "Compressed",
    "Motion",
    "Rotation",
    "Vector",
    "avatar_name",
    "heading_of",
    "read_compressed_untrusted",
    "read_motion_untrusted",
    "read_terse_untrusted",
    "rotation_of",
)

Vector: TypeAlias = tuple[float, float, float]
Rotation: TypeAlias = tuple[float, float, float, float]
"""x, y, z, w of a unit quaternion."""

ORIGIN: Final[Vector] = (0.0, 0.0, 0.0)
FACING_EAST: Final[Rotation] = (0.0, 0.0, 0.0, 1.0)


class Motion(msgspec.Struct, frozen=True, gc=False):
    """Where something is and how it moves, in the frame of its region, or of its seat."""

    position: Vector = ORIGIN
    """Metres."""
    velocity: Vector = ORIGIN
    """Metres a second."""
    rotation: Rotation = FACING_EAST


_FLOATS: Final = struct.Struct("<12f").unpack_from
_TERSE: Final = struct.Struct("<I2B").unpack_from
_TERSE_MOTION: Final = struct.Struct("<3f3H6x4H").unpack_from
_WORDS: Final = struct.Struct("<13H").unpack_from
_OCTETS: Final = struct.Struct("<13B").unpack_from
_COMPRESSED: Final = struct.Struct("<16sI2BI2B9fI16s").unpack_from
_COMPRESSED_BYTES: Final = struct.calcsize("<16sI2BI2B9fI16s")
_PLANE_BYTES: Final = 16
_LOCAL_ID_BYTES: Final = 4
_HAS_SPIN, _HAS_PARENT = 0x80, 0x20
_SPIN_BYTES: Final = 12
_U16_MAX: Final = 65_535.0
_U8_MAX: Final = 255.0
_REGION_EDGE: Final = 256.0
_NAME: Final = re.compile(rb"^(FirstName|LastName) [A-Z0-9]+ [A-Z]+ [A-Z]+ (.*)$", re.MULTILINE)


def rotation_of(x: float, y: float, z: float) -> Rotation:
    """Complete a rotation that travels without its w."""
    rest = 1.0 - x * x - y * y - z * z
    return x, y, z, sqrt(rest) if rest > 0.0 else 0.0


def heading_of(rotation: Rotation) -> float:
    """Tell which way something faces on the plane: degrees, 0 is east, 90 north."""
    x, y, z, w = rotation
    return degrees(atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))) % 360.0


def _quantised(values: tuple[int, ...], most: float) -> Motion:
    """Make a motion of quantised numbers: position, velocity, acceleration, rotation."""
    x, y, z, vx, vy, vz, _, _, _, *turn = (value / most for value in values)
    rx, ry, rz, rw = (value * 2.0 - 1.0 for value in turn)
    edge = 2.0 * _REGION_EDGE
    return Motion(
        (x * edge - 128.0, y * edge - 128.0, z * 4352.0 - _REGION_EDGE),
        (vx * edge - _REGION_EDGE, vy * edge - _REGION_EDGE, vz * edge - _REGION_EDGE),
        (rx, ry, rz, rw),
    )


def read_motion_untrusted(data: bytes) -> Motion:
    """Read the motion block of a full update; avatars have a plane of 16 bytes before it.

    Raises:
        RemoteProtocolError: it has none of the sizes there are, or holds a number that is none.
    """
    size = len(data)
    if size in {60, 76}:
        x, y, z, vx, vy, vz, _, _, _, rx, ry, rz = _FLOATS(data, size - 60)
        if isfinite(x + y + z + vx + vy + vz + rx + ry + rz):
            return Motion((x, y, z), (vx, vy, vz), rotation_of(rx, ry, rz))
    elif size in {32, 48}:
        return _quantised(_WORDS(data, size - 32), _U16_MAX)
    elif size == _PLANE_BYTES:
        return _quantised(_OCTETS(data), _U8_MAX)
    raise RemoteProtocolError("an object says nothing usable of its motion")


def read_terse_untrusted(data: bytes) -> tuple[int, int, Motion]:
    """Read a terse update.

    Returns:
        The local id, the state byte, and the motion.

    Raises:
        RemoteProtocolError: it is too short, or holds a number that is none.
    """
    try:
        local_id, state, of_avatar = _TERSE(data)
        x, y, z, vx, vy, vz, rx, ry, rz, rw = _TERSE_MOTION(data, 22 if of_avatar else 6)
    except struct.error:
        raise RemoteProtocolError("a terse update ends too early") from None
    if not isfinite(x + y + z):
        raise RemoteProtocolError("a terse update says nothing usable of its motion")
    return (
        local_id,
        state,
        Motion(
            (x, y, z),
            ((vx - 32767.5) / 255.99609375, (vy - 32767.5) / 255.99609375, (vz - 32767.5) / 255.99609375),
            ((rx - 32767.5) / 32767.5, (ry - 32767.5) / 32767.5, (rz - 32767.5) / 32767.5, (rw - 32767.5) / 32767.5),
        ),
    )


class Compressed(msgspec.Struct, frozen=True, gc=False):
    """The head of a compressed object: all we use of it."""

    object_id: bytes
    local_id: int
    pcode: int
    state: int
    click_action: int
    scale: Vector
    motion: Motion
    parent: int
    """Local id of what it is linked or attached to; 0 for nothing."""


def read_compressed_untrusted(data: bytes) -> Compressed:
    """Read the head of a compressed object; what follows is its shape and looks, which nobody here uses.

    Raises:
        RemoteProtocolError: it is too short, or holds a number that is none.
    """
    try:
        found = _COMPRESSED(data)
        at = _COMPRESSED_BYTES + (_SPIN_BYTES if found[16] & _HAS_SPIN else 0)
        parent = int.from_bytes(data[at : at + _LOCAL_ID_BYTES], "little") if found[16] & _HAS_PARENT else 0
    except struct.error:
        raise RemoteProtocolError("a compressed object ends too early") from None
    object_id, local_id, pcode, state, _, _, click, sx, sy, sz, x, y, z, rx, ry, rz, *_ = found
    if not isfinite(sx + sy + sz + x + y + z + rx + ry + rz):
        raise RemoteProtocolError("a compressed object holds a number that is none")
    return Compressed(
        object_id,
        local_id,
        pcode,
        state,
        click,
        (sx, sy, sz),
        Motion((x, y, z), ORIGIN, rotation_of(rx, ry, rz)),
        parent,
    )


def avatar_name(raw: bytes) -> str:
    """Read an avatar's name from its name values; nothing if they hold none."""
    parts = dict(_NAME.findall(raw.rstrip(b"\0")))
    return clean_name(parts.get(b"FirstName", b"") + b" " + parts.get(b"LastName", b""))
