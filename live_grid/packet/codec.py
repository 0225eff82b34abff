"""Packets: six bytes of header, a message number, a body, and acks on the tail.

Owns the frame of a datagram in both directions. `decode_packet_untrusted` looks at the header, the number
and the acks and leaves the body alone, so that a message nobody handles costs no more than that;
`read_message_untrusted` expands and reads the body of one that somebody does. Called by the circuit.

Invariant: bytes from outside give a `Packet`, then a `Message`, or `RemoteProtocolError` (Spec: LIV-3, Fault: 5).
"""

from __future__ import annotations

import struct
from typing import Final

import msgspec

from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.limits import ACKS_APPENDED_MAX, BODY_MAX_BYTES, DATAGRAM_IN_MAX_BYTES, DATAGRAM_OUT_MAX_BYTES
from live_grid.messages.names import name_of
from live_grid.messages.notation import Message
from live_grid.messages.table import LAYOUTS, layout_of
from live_grid.packet.zerocode import compress, expand_untrusted

__all__ = (
    "APPENDED_ACKS",
    "HEADER_BYTES",
    "RELIABLE",
    "RESENT",
    "ZEROCODED",
    "Packet",
    "Payload",
    "assemble",
    "decode_packet_untrusted",
    "encode_message",
    "encode_packet",
    "read_message_untrusted",
)

ZEROCODED: Final = 0x80
RELIABLE: Final = 0x40
RESENT: Final = 0x20
APPENDED_ACKS: Final = 0x10
HEADER_BYTES: Final = 6
_SHORTEST: Final = HEADER_BYTES + 1
_ESCAPE: Final = 0xFF
_HEADER: Final = struct.Struct(">BIB")
_ACK_TAILS: Final = tuple(struct.Struct(f">{count}I") for count in range(ACKS_APPENDED_MAX + 1))


class Packet(msgspec.Struct, frozen=True, gc=False):
    """A datagram whose frame was read and whose body was not."""

    flags: int
    sequence: int
    number: int
    """The message's number in the template's own counting; see `live_grid.messages.names`."""
    coded: bytes
    """What holds the body: zero-coded still if the flag says so."""
    start: int
    """Where the body begins in the expanded bytes."""
    acks: tuple[int, ...]
    """Sequence numbers acknowledged on the tail."""
    extra_bytes: int
    """Length of the extra header, which is skipped; zero in practice, counted when not."""

    @property
    def reliable(self) -> bool:
        """Whether the sender waits for an ack."""
        return bool(self.flags & RELIABLE)

    @property
    def resent(self) -> bool:
        """Whether the sender sent it before."""
        return bool(self.flags & RESENT)

    @property
    def name(self) -> str:
        """The message's name, also of one we have no layout for."""
        return name_of(self.number)

    def body(self) -> bytes:
        """Expand the body.

        Raises:
            RemoteProtocolError: it expands beyond the cap, or ends inside a run.
        """
        if self.flags & ZEROCODED:
            return expand_untrusted(self.coded, BODY_MAX_BYTES + self.start)[self.start :]
        return self.coded


class Payload(msgspec.Struct, frozen=True, gc=False):
    """A message ready to travel: its number and body, zero-coded when that is shorter."""

    flags: int
    """`ZEROCODED` or nothing."""
    data: bytes


def _low_zerocoded(data: bytes) -> tuple[int, int]:
    """Read the two bytes of a Low number behind its two escapes while zeros are still coded."""
    high = data[8]
    if high:
        return high, data[9]  # a coded zero here is the number's own low byte and the body's first ones
    if data[9] == 1:
        return 0, data[10]
    return 0, 0


def decode_packet_untrusted(data: bytes) -> Packet:
    """Read the frame of a datagram from outside.

    Raises:
        RemoteProtocolError: it is too long, or too short for what its header says (Fault: 5).
    """
    size = len(data)
    if not _SHORTEST <= size <= DATAGRAM_IN_MAX_BYTES:
        raise RemoteProtocolError(f"a datagram of {size} bytes is no packet")
    flags, sequence, extra = _HEADER.unpack_from(data)
    acks: tuple[int, ...] = ()
    end = size
    if flags & APPENDED_ACKS:
        count = data[-1]
        end -= 1 + 4 * count
        if end < _SHORTEST:
            raise RemoteProtocolError(f"a packet of {size} bytes cannot carry {count} acks")
        acks = _ACK_TAILS[count].unpack_from(data, end)
    number = data[6]
    after = 7
    try:
        if number == _ESCAPE:
            number = data[7]
            if number != _ESCAPE:
                number |= 0xFF00
                after = 8
            else:
                high, low = _low_zerocoded(data) if flags & ZEROCODED else (data[8], data[9])
                number = 0xFFFF0000 | high << 8 | low
                after = 10
    except IndexError:
        raise RemoteProtocolError(f"a packet of {size} bytes ends inside its message number") from None
    after += extra
    if flags & ZEROCODED:
        return Packet(flags, sequence, number, data[HEADER_BYTES:end], after - HEADER_BYTES, acks, extra)
    if after > end:
        raise RemoteProtocolError(f"a packet of {size} bytes ends inside its header")
    return Packet(flags, sequence, number, data[after:end], 0, acks, extra)


def read_message_untrusted(packet: Packet) -> Message:
    """Expand and read the message of a packet.

    Raises:
        RemoteProtocolError: the body is malformed or no layout is known for it (Fault: 4, 5).
    """
    layout = LAYOUTS.get(packet.number)
    if layout is None:
        raise RemoteProtocolError(f"{packet.name} has no layout")
    return layout.read(packet.body())


def encode_message(message: Message) -> Payload:
    """Write a message with its number, zero-coded if its header asks for that and it gets shorter.

    Raises:
        LocalProtocolError: a value does not fit its field, or the whole does not fit a datagram.
    """
    layout = layout_of(message)
    data = layout.header.prefix + layout.write(message)
    flags = 0
    if layout.header.zerocoded:
        coded = compress(data)
        if len(coded) < len(data):
            data, flags = coded, ZEROCODED
    if len(data) > DATAGRAM_OUT_MAX_BYTES - HEADER_BYTES:
        raise LocalProtocolError(
            f"{layout.header.name} of {len(data)} bytes does not fit a datagram of {DATAGRAM_OUT_MAX_BYTES}"
        )
    return Payload(flags, data)


def assemble(payload: Payload, flags: int, sequence: int, acks: tuple[int, ...] = ()) -> bytes:
    """Frame a payload as a datagram.

    Args:
        payload: what `encode_message` made.
        flags: `RELIABLE` and `RESENT` as they apply.
        sequence: the packet's number in its direction of the circuit.
        acks: sequence numbers to acknowledge on the tail; the caller keeps the size within bounds.
    """
    if not acks:
        return _HEADER.pack(flags | payload.flags, sequence, 0) + payload.data
    tail = _ACK_TAILS[len(acks)].pack(*acks)
    return b"".join(
        (_HEADER.pack(flags | payload.flags | APPENDED_ACKS, sequence, 0), payload.data, tail, bytes((len(acks),)))
    )


def encode_packet(
    message: Message, *, sequence: int, reliable: bool = False, resent: bool = False, acks: tuple[int, ...] = ()
) -> bytes:
    """Write a message as a whole datagram.

    Raises:
        LocalProtocolError: see `encode_message`; or there are more acks than the tail can count.
    """
    if len(acks) > ACKS_APPENDED_MAX:
        raise LocalProtocolError(f"{len(acks)} acks given where at most {ACKS_APPENDED_MAX} fit")
    flags = (RELIABLE if reliable else 0) | (RESENT if resent else 0)
    return assemble(encode_message(message), flags, sequence, acks)
