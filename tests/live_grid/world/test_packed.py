"""The packed forms inside object messages."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.errors import RemoteProtocolError
from live_grid.world.packed import (
    avatar_name,
    heading_of,
    read_compressed_untrusted,
    read_motion_untrusted,
    read_terse_untrusted,
    rotation_of,
)

NAN = float("nan")
FLOATS = struct.pack("<15f", 10, 20, 30, 1, 2, 3, 0, 0, 0, 0, 0, 0.7071068, 0, 0, 0)
OBJECT = bytes(range(16))


def compressed(flags: int = 0, tail: bytes = b"", *, x: float = 1.0) -> bytes:
    """A compressed object."""
    return struct.pack("<16sI2BI2B9fI16s", OBJECT, 7, 9, 3, 0, 0, 1, 1, 2, 3, x, 5, 6, 0, 0, 0, flags, bytes(16)) + tail


@pytest.mark.parametrize("before", [b"", bytes(16)])
def test_a_motion_in_full_is_read(before: bytes) -> None:
    """Sixty bytes, with or without the plane an avatar stands on. Spec: LIV-5."""
    motion = read_motion_untrusted(before + FLOATS)
    assert motion.position == (10, 20, 30)
    assert motion.velocity == (1, 2, 3)
    assert heading_of(motion.rotation) == pytest.approx(90, abs=0.01)


@pytest.mark.parametrize("before", [b"", bytes(16)])
def test_a_quantised_motion_is_read(before: bytes) -> None:
    """Thirty-two bytes count in 65,535ths of their ranges."""
    motion = read_motion_untrusted(before + struct.pack("<16H", 0, 32768, 65535, *[0] * 6, *[65535] * 4, 0, 0, 0))
    assert motion.position == pytest.approx((-128, 128, 4096), abs=0.01)
    assert motion.velocity == (-256, -256, -256)
    assert motion.rotation == (1, 1, 1, 1)


def test_a_coarsely_quantised_motion_is_read() -> None:
    """Sixteen bytes count in 255ths."""
    assert read_motion_untrusted(bytes([255] * 3 + [0] * 13)).position == (384, 384, 4096)


@pytest.mark.parametrize("data", [b"", bytes(61), struct.pack("<15f", NAN, *[0] * 14)])
def test_a_motion_that_says_nothing_is_refused(data: bytes) -> None:
    """Another size, or a number that is none, is the one error. Spec: LIV-3."""
    with pytest.raises(RemoteProtocolError):
        read_motion_untrusted(data)


def test_terse_updates_are_read() -> None:
    """An avatar's carries a plane, a prim's does not."""
    moving = struct.pack("<3f13H", 1, 2, 3, 65535, 0, 32768, 0, 0, 0, 32768, 32768, 32768, 65535, 0, 0, 0)
    local_id, state, motion = read_terse_untrusted(struct.pack("<I2B", 5, 8, 0) + moving)
    assert (local_id, state, motion.position) == (5, 8, (1, 2, 3))
    assert motion.velocity == pytest.approx((128, -128, 0), abs=0.01)
    assert read_terse_untrusted(struct.pack("<I2B", 5, 8, 1) + bytes(16) + moving)[2] == motion
    with pytest.raises(RemoteProtocolError, match="too early"):
        read_terse_untrusted(moving[:30])
    with pytest.raises(RemoteProtocolError, match="nothing usable"):
        read_terse_untrusted(struct.pack("<I2B3f13H", 5, 8, 0, NAN, 0, 0, *[0] * 13))


def test_compressed_objects_are_read() -> None:
    """The parent stands behind the spin, where there is one."""
    found = read_compressed_untrusted(compressed())
    assert (found.object_id, found.local_id, found.pcode, found.state, found.parent) == (OBJECT, 7, 9, 3, 0)
    assert (found.scale, found.motion.position, found.click_action) == ((1, 2, 3), (1, 5, 6), 1)
    assert read_compressed_untrusted(compressed(0x20, b"\x09\0\0\0")).parent == 9
    assert read_compressed_untrusted(compressed(0xA0, bytes(12) + b"\x09\0\0\0")).parent == 9
    for broken in (compressed()[:-1], compressed(x=NAN)):
        with pytest.raises(RemoteProtocolError):
            read_compressed_untrusted(broken)


def test_an_impossible_rotation_has_no_w() -> None:
    """x, y and z beyond length one leave nothing for w."""
    assert rotation_of(1.0, 1.0, 0.0) == (1.0, 1.0, 0.0, 0.0)


def test_names_stand_among_the_name_values() -> None:
    """First and last name are taken, the title is not."""
    raw = b"FirstName STRING RW SV Bot\nLastName STRING RW SV Avatar\nTitle STRING RW SV The Boss\0"
    assert avatar_name(raw) == "Bot Avatar"
    assert avatar_name(b"FirstName STRING RW SV Solo") == "Solo"
    assert avatar_name(b"\xff\n\n") == ""


@given(st.binary(max_size=120))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """No bytes raise anything but the one error, and what is read is finite. Spec: LIV-3."""
    for read in (read_motion_untrusted, read_terse_untrusted, read_compressed_untrusted):
        try:
            found = read(data)
        except RemoteProtocolError:
            continue
        motion = found[2] if isinstance(found, tuple) else getattr(found, "motion", found)
        assert all(abs(value) < 1e39 for value in motion.position)
    assert len(avatar_name(data)) <= 128
