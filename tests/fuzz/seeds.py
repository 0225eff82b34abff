"""Seeds for each decoder, made from the recordings: what a campaign starts from beside the corpus."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from uuid import UUID

from benchmarks.captures import NAMES, all_datagrams, exchanges
from live_grid.llsd import read_llsd_xml_untrusted, write_llsd_binary, write_llsd_notation, write_llsd_xml
from live_grid.packet import decode_packet_untrusted
from live_grid.packet.zerocode import compress
from tests.fuzz.decoders import NUMBERS

SEEDS_MAX = 300


def _datagrams() -> list[bytes]:
    """Distinct kinds of packets first, then some more."""
    kinds: dict[int, bytes] = {}
    every = [one.data for one in all_datagrams()]
    for data in every:
        kinds.setdefault(decode_packet_untrusted(data).number, data)
    return [*kinds.values(), *random.Random(1).sample(every, min(len(every), 150))]


def _bodies(holding: bytes) -> Iterator[bytes]:
    for name in NAMES:
        for one in exchanges(name):
            for body in (one.body, one.request):
                if body.startswith(b"<") and holding in body:
                    yield body


def packet() -> Iterator[bytes]:
    """Distinct kinds of packets, and some more."""
    yield from _datagrams()


def zerocode() -> Iterator[bytes]:
    """Bodies, coded."""
    for data in _datagrams():
        yield compress(decode_packet_untrusted(data).body())


def messages() -> Iterator[bytes]:
    """Bodies, with the number of their layout before them."""
    for data in _datagrams():
        read = decode_packet_untrusted(data)
        if read.number in NUMBERS:
            yield bytes([NUMBERS.index(read.number) % 256]) + read.body()


def objects() -> Iterator[bytes]:
    """Nothing, in every size there is."""
    for size in (16, 32, 48, 60, 76, 44, 46, 58, 60, 84, 100):
        yield bytes(size)


def circuit() -> Iterator[bytes]:
    """Stretches of recorded conversations."""
    every = [one.data for one in all_datagrams() if one.from_simulator]
    for start in range(0, min(len(every), 1200), 24):
        yield b"".join(len(data).to_bytes(2, "big") + data for data in every[start : start + 24])


def llsd_xml() -> Iterator[bytes]:
    """Documents as they were recorded."""
    yield from _bodies(b"<llsd>")


def llsd_binary() -> Iterator[bytes]:
    """The same documents in binary."""
    for body in _bodies(b"<llsd>"):
        yield write_llsd_binary(read_llsd_xml_untrusted(body))


def llsd_notation() -> Iterator[bytes]:
    """The same documents as notation."""
    for body in _bodies(b"<llsd>"):
        yield write_llsd_notation(read_llsd_xml_untrusted(body))


def login() -> Iterator[bytes]:
    """Answers to logins, and a page about a grid."""
    yield from _bodies(b"<method")
    yield b"<gridinfo><platform>OpenSim</platform><login>http://127.0.0.1:9000/</login></gridinfo>"


def event_queue() -> Iterator[bytes]:
    """Answers to polls."""
    yield from _bodies(b"<key>events")


def capabilities() -> Iterator[bytes]:
    """Answers of capabilities; what a folder holds was not recorded."""
    yield from _bodies(b"<llsd>")
    item = {"item_id": UUID(int=1), "parent_id": UUID(int=2), "asset_id": UUID(int=3), "type": "landmark", "name": "A"}
    held = {"folders": [{"folder_id": UUID(int=2), "items": [item | {"permissions": {"owner_mask": b"\0\0\1\2"}}]}]}
    for write in (write_llsd_xml, write_llsd_binary, write_llsd_notation):
        yield write(held)


SEEDS: dict[str, Callable[[], Iterator[bytes]]] = {
    each.__name__: each
    for each in (
        packet,
        zerocode,
        messages,
        objects,
        circuit,
        llsd_xml,
        llsd_binary,
        llsd_notation,
        login,
        event_queue,
        capabilities,
    )
}


def seeds(name: str) -> list[bytes]:
    """Some distinct seeds for a decoder."""
    return list(dict.fromkeys(SEEDS[name]()))[:SEEDS_MAX]
