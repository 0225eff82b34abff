"""Every decoder of bytes from outside, as one function a name, and seeds made from recordings.

A decoder returns, or raises the one typed error, which counts as returning; anything else is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from live_grid.addresses import HostPolicy
from live_grid.caps.seed import read_seed_reply_untrusted
from live_grid.circuit import Circuit, MessageReceived
from live_grid.errors import RemoteProtocolError
from live_grid.event_queue import read_region_event_untrusted
from live_grid.event_queue.answer import read_answer_untrusted
from live_grid.limits import BODY_MAX_BYTES
from live_grid.llsd import (
    LlsdValue,
    read_llsd_binary_untrusted,
    read_llsd_notation_untrusted,
    read_llsd_untrusted,
    read_llsd_xml_untrusted,
    write_llsd_binary,
    write_llsd_notation,
    write_llsd_xml,
)
from live_grid.login import read_grid_info_untrusted, read_login_reply_untrusted
from live_grid.login.xmlrpc import read_response_untrusted
from live_grid.messages import LAYOUTS
from live_grid.packet import decode_packet_untrusted, read_message_untrusted
from live_grid.packet.zerocode import compress, expand_untrusted
from live_grid.world import World, reduce_message, reduce_queue_event
from live_grid.world.inventory import read_folders_untrusted
from live_grid.world.packed import avatar_name, read_compressed_untrusted, read_motion_untrusted, read_terse_untrusted

CORPUS = Path(__file__).resolve().parent / "corpus"
INPUT_MAX = 64 * 1024
PEER = ("203.0.113.9", 9000)
POLICY = HostPolicy(hosts=frozenset({"127.0.0.1"}), any_public_host=True, http=True, loopback=True, private=True)
SEED = "http://127.0.0.1:9000/CAPS/seed"
NUMBERS = sorted(LAYOUTS)
WRITERS = (write_llsd_xml, write_llsd_binary, write_llsd_notation)
READERS = (read_llsd_xml_untrusted, read_llsd_binary_untrusted, read_llsd_notation_untrusted)


def packet(data: bytes) -> None:
    """Header, zero-coding, message."""
    read_message_untrusted(decode_packet_untrusted(data))


def zerocode(data: bytes) -> None:
    """Runs of zeros: within the cap, and undone by their writer."""
    expanded = expand_untrusted(data, BODY_MAX_BYTES)
    assert len(expanded) <= BODY_MAX_BYTES
    assert expand_untrusted(compress(expanded), len(expanded)) == expanded


def messages(data: bytes) -> None:
    """One body under each layout in turn: the first byte names it."""
    if data:
        LAYOUTS[NUMBERS[data[0] % len(NUMBERS)]].read(data[1:])


def _llsd(number: int, data: bytes) -> None:
    value = READERS[number](data)
    assert equal(READERS[number](WRITERS[number](value)), value)


def equal(one: LlsdValue, other: LlsdValue) -> bool:
    """Tell whether two values are the same; a number that is none is equal to itself here."""
    return repr(one) == repr(other)


def llsd_xml(data: bytes) -> None:
    """LLSD as XML, and there and back again."""
    _llsd(0, data)


def llsd_binary(data: bytes) -> None:
    """LLSD in binary, and there and back again."""
    _llsd(1, data)


def llsd_notation(data: bytes) -> None:
    """LLSD as notation, and there and back again."""
    _llsd(2, data)


def login(data: bytes) -> None:
    """XML-RPC, the login's answer, the page about the grid."""
    for read in (read_response_untrusted, read_login_reply_untrusted, read_grid_info_untrusted):
        with suppress(RemoteProtocolError):
            read(data)


def event_queue(data: bytes) -> None:
    """The answer to a poll, and what its events do to the world."""
    world = World(bytes(16), "Ada Actor")
    for event in read_answer_untrusted(200, data).events:
        for read in (read_region_event_untrusted, partial(reduce_queue_event, world, world.here)):
            with suppress(RemoteProtocolError):
                read(event)


def capabilities(data: bytes) -> None:
    """The seed's answer, and folders of the inventory."""
    with suppress(RemoteProtocolError):
        read_seed_reply_untrusted(data, seed=SEED, policy=POLICY)
    read_folders_untrusted(read_llsd_untrusted(data))


def objects(data: bytes) -> None:
    """The packed parts of object updates."""
    for read in (read_motion_untrusted, read_terse_untrusted, read_compressed_untrusted, avatar_name):
        with suppress(RemoteProtocolError):
            read(data)


def circuit(data: bytes) -> None:
    """A stream of datagrams, each with its length before it: through the circuit into the world."""
    line = Circuit(PEER, now=0.0)
    world = World(bytes(16), "Ada Actor")
    at = turn = 0
    while at + 2 <= len(data) and turn < 64:
        size = int.from_bytes(data[at : at + 2], "big") % 1500
        line.receive_datagram_untrusted(data[at + 2 : at + 2 + size], PEER, turn * 0.1)
        line.handle_timer(turn * 0.1)
        line.datagrams_to_send(turn * 0.1)
        while (event := line.next_event()) is not None:
            if isinstance(event, MessageReceived):
                for _ in reduce_message(world, world.here, event.message):
                    pass
        at, turn = at + 2 + size, turn + 1


DECODERS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each
    for each in (
        packet,
        messages,
        objects,
        circuit,
        llsd_xml,
        llsd_binary,
        llsd_notation,
        login,
        event_queue,
        capabilities,
        zerocode,
    )
}


def feed(name: str, data: bytes) -> None:
    """Give bytes to a decoder; what it may not raise gets through."""
    with suppress(RemoteProtocolError):
        DECODERS[name](data)


def corpus(name: str) -> list[Path]:
    """What is kept for a decoder: every finding there ever was, and what reached something new."""
    folder = CORPUS / name
    return sorted(folder.iterdir()) if folder.is_dir() else []
