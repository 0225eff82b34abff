"""Readers and writers made from layouts: round trips, tolerance, and one typed error for the rest."""

from __future__ import annotations

import math
import tracemalloc
from typing import get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.messages import LAYOUTS, Layout, Message
from live_grid.messages.circuits import KickUser, PacketAck, StartPingCheck
from live_grid.messages.compiling import kinds_of
from live_grid.messages.notation import NIL, AgentSession, Block, Kind
from live_grid.messages.people import UUIDNameReply
from live_grid.messages.regions import MapBlockReply, RegionInfo
from live_grid.messages.speech import ChatFromViewer, ImprovedInstantMessage

EVERY = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.header.name)
INTEGERS = {"B": (0, 255), "H": (0, 2**16 - 1), "I": (0, 2**32 - 1), "Q": (0, 2**64 - 1)}
INTEGERS |= {"b": (-128, 127), "h": (-(2**15), 2**15 - 1), "i": (-(2**31), 2**31 - 1)}


def values_of(kind: Kind) -> st.SearchStrategy[object]:
    """Everything a field of this kind can carry."""
    if kind.prefixed:
        return st.binary(max_size=40)
    if kind.code == "?":
        return st.booleans()
    if kind.code.endswith("s"):
        return st.binary(min_size=int(kind.code[:-1]), max_size=int(kind.code[:-1]))
    one: st.SearchStrategy[object] = (
        st.integers(*INTEGERS[kind.code])
        if kind.code in INTEGERS
        else st.floats(width=32 if kind.code == "f" else 64, allow_nan=False)
    )
    return st.tuples(*[one] * kind.values) if kind.values > 1 else one


def blocks_of(block: type[Block]) -> st.SearchStrategy[Block]:
    """Any block of this class."""
    return st.builds(block, *[values_of(kind) for _, kind in kinds_of(block)])


def messages_of(layout: Layout) -> st.SearchStrategy[Message]:
    """Any message of this layout, with unknown bytes behind it or without."""
    parts = []
    for field in structs.fields(layout.message):
        if field.name not in {"absent", "extra"}:
            if get_origin(field.type) is tuple:
                parts.append(st.lists(blocks_of(get_args(field.type)[0]), max_size=2).map(tuple))
            else:
                parts.append(blocks_of(field.type))
    return st.builds(layout.message, *parts, extra=st.binary(max_size=3))


@EVERY
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_every_message_is_read_as_it_was_written(layout: Layout, data: st.DataObject) -> None:
    """``decode(encode(m)) == m`` for each layout. Spec: LIV-3."""
    message = data.draw(messages_of(layout))
    assert layout.read(layout.write(message)) == message


@EVERY
@settings(max_examples=25, deadline=None)
@given(body=st.binary(max_size=200))
def test_any_bytes_give_a_message_or_the_one_error(layout: Layout, body: bytes) -> None:
    """Malformed bodies raise `RemoteProtocolError` and nothing else; what was read is written again. Fault: 5."""
    try:
        message = layout.read(body)
    except RemoteProtocolError:
        return
    again = layout.write(message)
    assert len(again) == len(body)
    assert layout.write(layout.read(again)) == again


@EVERY
def test_every_truncation_is_tolerated_or_refused(layout: Layout) -> None:
    """Cut anywhere, a body is a message with absent blocks or the one error. Fault: 5."""
    filler = bytes([1]) * 3000
    try:
        whole = layout.write(structs.replace(layout.read(filler), extra=b""))
    except RemoteProtocolError:
        pytest.fail("3,000 ones fill every layout")
    for end in range(min(len(whole), 400)):
        try:
            cut = layout.read(whole[:end])
        except RemoteProtocolError:
            continue
        assert cut.absent or end == 0
        assert layout.write(cut) == whole[:end]


def test_trailing_blocks_may_be_missing_and_read_as_nothing() -> None:
    """OpenSimulator leaves newer blocks out; they read as zeros or empty, and are left out again. Spec: LIV-3."""
    layout = LAYOUTS[0xFFFF_0000 + 254]
    full = ImprovedInstantMessage(
        agent_data=AgentSession(NIL, NIL),
        message_block=ImprovedInstantMessage.MessageBlock(
            from_group=False,
            to_agent_id=NIL,
            parent_estate_id=1,
            region_id=NIL,
            position=(0.0, 0.0, 0.0),
            offline=0,
            dialog=0,
            id=NIL,
            timestamp=0,
            from_agent_name=b"A\0",
            message=b"hi\0",
            binary_bucket=b"",
        ),
        estate_block=ImprovedInstantMessage.EstateBlock(estate_id=7),
        meta_data=(ImprovedInstantMessage.MetaData(data=b"x"),),
    )
    whole = layout.write(full)
    shorter = layout.read(whole[: -len(b"\x01\x01\x00x") - 4])
    assert isinstance(shorter, ImprovedInstantMessage)
    assert (shorter.absent, shorter.estate_block.estate_id, shorter.meta_data) == (2, 0, ())
    assert layout.write(shorter) == whole[: -len(b"\x01\x01\x00x") - 4]


def test_a_message_without_its_first_block_is_malformed() -> None:
    """Trailing blocks may be absent, the first may not."""
    with pytest.raises(RemoteProtocolError, match="StartPingCheck of 0 bytes"):
        LAYOUTS[1].read(b"")


def test_unknown_bytes_after_the_last_block_are_kept() -> None:
    """A simulator that knows more than the template is understood and written back. Spec: LIV-3."""
    reply = MapBlockReply(MapBlockReply.AgentData(agent_id=NIL, flags=2), data=(), extra=b"\0")
    layout = LAYOUTS[0xFFFF_0000 + 409]
    assert layout.read(layout.write(reply)) == reply


def test_addresses_stand_in_network_order() -> None:
    """An IP is four bytes and a port big-endian, inside a little-endian body."""
    kick = KickUser(
        KickUser.TargetBlock(target_ip=b"\x7f\0\0\1", target_port=9000), KickUser.UserInfo(NIL, NIL, b"no\0")
    )
    layout = LAYOUTS[0xFFFF_0000 + 163]
    assert layout.write(kick)[:6] == b"\x7f\0\0\1\x23\x28"
    assert layout.read(layout.write(kick)) == kick


@pytest.mark.parametrize(
    "message",
    [
        StartPingCheck(StartPingCheck.PingID(ping_id=256, oldest_unacked=0)),
        StartPingCheck(StartPingCheck.PingID(ping_id=-1, oldest_unacked=0)),
        StartPingCheck(StartPingCheck.PingID(ping_id="1", oldest_unacked=0)),
        StartPingCheck(StartPingCheck.PingID(1, 0), absent=1),
        StartPingCheck(StartPingCheck.PingID(1, 0), absent=-1),
        RegionInfo(AgentSession(NIL, NIL), None, None, absent=4, extra=b"x"),
        PacketAck(tuple(PacketAck.Packets(number) for number in range(256))),
        UUIDNameReply((UUIDNameReply.UUIDNameBlock(b"short", b"", b""),)),
        ChatFromViewer(AgentSession(NIL, NIL), ChatFromViewer.ChatData(b"x" * 65_536, 1, 0)),
        MapBlockReply(MapBlockReply.AgentData(NIL, 0), (MapBlockReply.Data(0, 0, b"x" * 256, 0, 0, 0, 0, NIL),)),
    ],
)
def test_a_value_its_field_cannot_carry_is_our_own_mistake(message: Message) -> None:
    """Numbers out of range, ids of the wrong length, too many blocks and too long fields raise `LocalProtocolError`."""
    layout = next(layout for layout in LAYOUTS.values() if layout.message is type(message))
    with pytest.raises(LocalProtocolError, match=layout.header.name):
        layout.write(message)


def test_a_float_too_large_for_the_wire_is_our_own_mistake() -> None:
    """F32 overflow is reported like any other value that does not fit."""
    layout = LAYOUTS[0xFFFF_0000 + 219]
    reply = layout.read(bytes(40))
    with pytest.raises(LocalProtocolError, match="ParcelDwellReply"):
        layout.write(structs.replace(reply, data=structs.replace(reply.data, dwell=1e300)))  # type: ignore[attr-defined]
    huge = structs.replace(reply, data=structs.replace(reply.data, dwell=math.inf))  # type: ignore[attr-defined]
    assert layout.read(layout.write(huge)) == huge


@EVERY
def test_counts_that_lie_cost_no_more_than_the_bytes_sent(layout: Layout) -> None:
    """A body of 8 KiB of 0xFF claims all it can; work and memory stay in proportion. Fault: 5."""
    body = b"\xff" * 8192
    _ = layout.read
    tracemalloc.start()
    try:
        try:
            message = layout.read(body)
            assert message.extra is not None
        except RemoteProtocolError:
            pass
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()
