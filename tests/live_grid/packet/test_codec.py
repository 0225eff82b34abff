"""Framing of packets, against bytes made up and bytes recorded."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.captures import all_datagrams
from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.messages import LAYOUTS, NIL
from live_grid.messages.avatars import AgentUpdate
from live_grid.messages.circuits import CloseCircuit, PacketAck, StartPingCheck, UseCircuitCode
from live_grid.messages.notation import AgentSession
from live_grid.messages.speech import ChatFromViewer
from live_grid.packet import (
    RELIABLE,
    RESENT,
    ZEROCODED,
    Packet,
    decode_packet_untrusted,
    encode_message,
    encode_packet,
    read_message_untrusted,
)

PING = StartPingCheck(StartPingCheck.PingID(ping_id=7, oldest_unacked=9))
AHEAD = (0.0, 0.0, 0.0)
LOOK = AgentUpdate(AgentUpdate.AgentData(NIL, NIL, AHEAD, AHEAD, 0, AHEAD, AHEAD, AHEAD, AHEAD, 64.0, 0, 0))


@given(
    sequence=st.integers(0, 2**32 - 1),
    reliable=st.booleans(),
    resent=st.booleans(),
    acks=st.lists(st.integers(0, 2**32 - 1), max_size=255).map(tuple),
    message=st.sampled_from([PING, LOOK, CloseCircuit(), UseCircuitCode(UseCircuitCode.CircuitCode(1, NIL, NIL))]),
)
def test_a_packet_is_read_as_it_was_written(sequence, reliable, resent, acks, message) -> None:
    """Flags, sequence, acks and message survive the wire, zero-coded or not. Spec: LIV-3."""
    packet = decode_packet_untrusted(
        encode_packet(message, sequence=sequence, reliable=reliable, resent=resent, acks=acks)
    )
    assert (packet.sequence, packet.reliable, packet.resent, packet.acks) == (sequence, reliable, resent, acks)
    assert packet.name == type(message).__name__
    assert packet.extra_bytes == 0
    assert read_message_untrusted(packet) == message


@given(st.one_of(st.binary(max_size=80), st.binary(max_size=30).map(lambda tail: b"\xd0\0\0\0\1\0\xff\xff" + tail)))
def test_any_bytes_give_a_message_or_the_one_error(data: bytes) -> None:
    """No datagram raises anything but `RemoteProtocolError`. Fault: 5."""
    try:
        packet = decode_packet_untrusted(data)
        message = read_message_untrusted(packet)
    except RemoteProtocolError:
        return
    assert encode_packet(message, sequence=packet.sequence, acks=packet.acks)


def test_every_recorded_packet_is_written_again_byte_for_byte() -> None:
    """All 2,966 bodies come out the same; 344 frames differ, in the choice to zero-code alone. Spec: LIV-3."""
    datagrams = all_datagrams()
    frames: Counter[bool] = Counter()
    for datagram in datagrams:
        packet = decode_packet_untrusted(datagram.data)
        message = read_message_untrusted(packet)
        assert LAYOUTS[packet.number].write(message) == packet.body()
        again = encode_packet(
            message, sequence=packet.sequence, reliable=packet.reliable, resent=packet.resent, acks=packet.acks
        )
        frames[again == datagram.data] += 1
        if again != datagram.data:
            other = decode_packet_untrusted(again)
            assert other.flags ^ packet.flags == ZEROCODED
            assert other.body() == packet.body()
    assert frames == {True: len(datagrams) - 344, False: 344}


def test_recorded_messages_are_understood() -> None:
    """What was said, and what the wire left out or added, stands in the structs."""
    said: list[bytes] = []
    absent: Counter[tuple[str, int, int]] = Counter()
    for datagram in all_datagrams():
        message = read_message_untrusted(decode_packet_untrusted(datagram.data))
        if isinstance(message, ChatFromViewer):
            said.append(message.chat_data.message)
        if message.absent or message.extra:
            absent[type(message).__name__, message.absent, len(message.extra)] += 1
    assert b"hello after crossing\0" in said
    assert absent == {
        ("AvatarAppearance", 1, 0): 122,
        ("RegionInfo", 2, 0): 4,
        ("MapBlockReply", 0, 1): 5,
        ("ImprovedInstantMessage", 1, 0): 4,
    }


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0\0\1\0",
        bytes(8193),
        b"\0\0\0\0\1\0\xff",
        b"\0\0\0\0\1\0\xff\xff",
        b"\0\0\0\0\1\0\xff\xff\0",
        b"\x80\0\0\0\1\0\xff\xff\0",
        b"\x80\0\0\0\1\0\xff\xff\0\1",
        b"\0\0\0\0\1\4\1\0\0",
        b"\x10\0\0\0\1\0\1\xff",
    ],
)
def test_a_frame_that_contradicts_itself_is_refused(data: bytes) -> None:
    """Too short, too long, cut in its number, or with more acks than bytes. Fault: 5."""
    with pytest.raises(RemoteProtocolError):
        decode_packet_untrusted(data)


@pytest.mark.parametrize(
    ("coded", "number", "body"),
    [
        (b"\x04\0\x05", 0x04, bytes(5)),
        (b"\xff\x06\0\x02", 0xFF06, bytes(2)),
        (b"\xff\xff\0\x01\x94\0\x03", 0xFFFF_0094, bytes(3)),
        (b"\xff\xff\x01\0\x04", 0xFFFF_0100, bytes(3)),
        (b"\xff\xff\x01\x05\0\x02", 0xFFFF_0105, bytes(2)),
        (b"\xff\xff\xff\xfb\0\x01", 0xFFFF_FFFB, bytes(1)),
        (b"\xff\xff\0\x03\x07", 0xFFFF_0000, b"\0\x07"),
    ],
)
def test_the_number_is_read_without_expanding_the_body(coded: bytes, number: int, body: bytes) -> None:
    """A zero inside the number is coded as well, alone or in one run with the body's first bytes."""
    packet = decode_packet_untrusted(b"\x80\0\0\0\1\0" + coded)
    assert packet.number == number
    assert packet.body() == body


def test_an_extra_header_is_skipped_and_told() -> None:
    """It stands after the number; its length is kept to be counted."""
    packet = decode_packet_untrusted(b"\0\0\0\0\1\3\x02abc\x07")
    assert (packet.name, packet.body(), packet.extra_bytes) == ("CompletePingCheck", b"\x07", 3)
    coded = decode_packet_untrusted(b"\x80\0\0\0\1\2\x02\0\x02\x07")
    assert (coded.body(), coded.extra_bytes) == (b"\x07", 2)


def test_acks_stand_behind_the_body_and_are_no_part_of_it() -> None:
    """Stripped before expansion, big-endian, counted by the last byte."""
    packet = decode_packet_untrusted(b"\x90\0\0\0\1\0\x02\0\x01" + b"\0\0\0\5\0\0\0\6" + b"\2")
    assert packet.acks == (5, 6)
    assert packet.body() == b"\0"


def test_a_bomb_is_dropped_at_the_cap() -> None:
    """A zero-coded datagram that would grow 127 times is refused when it is read. Fault: 4."""
    packet = decode_packet_untrusted(b"\x80\0\0\0\1\0\x0c" + b"\0\xff" * 700)
    with pytest.raises(RemoteProtocolError, match="beyond"):
        read_message_untrusted(packet)


def test_a_message_without_a_layout_has_a_name_and_no_reading() -> None:
    """It can be acknowledged and skipped, not read. Fault: 5."""
    packet = Packet(flags=0, sequence=1, number=0xFFFF_0001, coded=b"", start=0, acks=(), extra_bytes=0)
    with pytest.raises(RemoteProtocolError, match="TestMessage has no layout"):
        read_message_untrusted(packet)


def test_what_does_not_fit_a_datagram_is_our_own_mistake() -> None:
    """Too long a message, or too many acks, raise before anything is sent."""
    long = ChatFromViewer(AgentSession(NIL, NIL), ChatFromViewer.ChatData(b"x" * 1200, 1, 0))
    with pytest.raises(LocalProtocolError, match="does not fit a datagram"):
        encode_message(long)
    with pytest.raises(LocalProtocolError, match="256 acks"):
        encode_packet(PING, sequence=1, acks=tuple(range(256)))


def test_zero_coding_is_left_out_where_it_does_not_help() -> None:
    """A message marked for it travels plain if that is shorter."""
    short = ChatFromViewer(AgentSession(b"\1" * 16, b"\1" * 16), ChatFromViewer.ChatData(b"x", 1, 0x01010101))
    assert encode_message(LOOK).flags == ZEROCODED
    assert encode_message(short).flags == 0
    assert encode_packet(PING, sequence=1, reliable=True, resent=True)[0] == RELIABLE | RESENT
    assert encode_packet(PacketAck((PacketAck.Packets(1),)), sequence=2)[0] == 0
