"""Reads the recordings under tests/vectors/: datagrams and HTTP exchanges out of packed pcap files.

Owns the file format and the order of bytes in a TCP stream; knows nothing of the protocols inside.
Used by tests and benchmarks, never by the product.
"""

from __future__ import annotations

import lzma
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

VECTORS: Final = Path(__file__).resolve().parent.parent / "tests" / "vectors"
NAMES: Final = (
    "crossing_on_foot",
    "return_teleport_new_socket",
    "return_teleport_reused_sequence",
    "two_clients",
)
SIMULATOR_PORTS: Final = frozenset({9000, 9001})


class Datagram(NamedTuple):
    """One UDP datagram; ``time`` in seconds from the start of the recording."""

    time: float
    source: int
    target: int
    data: bytes

    @property
    def from_simulator(self) -> bool:
        return self.source in SIMULATOR_PORTS


class Exchange(NamedTuple):
    """One HTTP request with its response; ``status`` is 0 if none was recorded."""

    time: float
    method: str
    path: str
    request: bytes
    status: int
    headers: dict[str, str]
    body: bytes


def _frames(name: str) -> Iterator[tuple[float, int, bytes]]:
    data = lzma.decompress((VECTORS / f"{name}.pcap.xz").read_bytes())
    order = "<" if data[:4] in {b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"} else ">"
    at, first = 24, None
    while at < len(data):
        seconds, micros, size, _ = struct.unpack_from(order + "4I", data, at)
        at += 16
        frame = data[at : at + size]
        at += size
        moment = seconds + micros / 1e6
        first = moment if first is None else first
        if frame[12:14] == b"\x08\0":
            (total,) = struct.unpack_from(">H", frame, 16)
            packet = frame[14 : 14 + total]
            yield moment - first, packet[9], packet[(packet[0] & 15) * 4 :]


@cache
def datagrams(name: str) -> tuple[Datagram, ...]:
    """All UDP datagrams of a recording, in order."""
    found = []
    for moment, protocol, payload in _frames(name):
        if protocol == 17:
            source, target = struct.unpack_from(">HH", payload)
            found.append(Datagram(moment, source, target, payload[8:]))
    return tuple(found)


def all_datagrams() -> tuple[Datagram, ...]:
    """All UDP datagrams of all recordings."""
    return tuple(datagram for name in NAMES for datagram in datagrams(name))


def _streams(name: str) -> dict[tuple[int, int], tuple[float, bytes]]:
    pieces: dict[tuple[int, int], dict[int, tuple[float, bytes]]] = {}
    for moment, protocol, payload in _frames(name):
        if protocol == 6:
            source, target, sequence = struct.unpack_from(">HHI", payload)
            data = payload[(payload[12] >> 4) * 4 :]
            if data:
                pieces.setdefault((source, target), {}).setdefault(sequence, (moment, data))
    return {
        ends: (min(moment for moment, _ in parts.values()), b"".join(parts[key][1] for key in sorted(parts)))
        for ends, parts in pieces.items()
    }


def _take(stream: bytes, at: int) -> tuple[str, dict[str, str], bytes, int]:
    head_end = stream.index(b"\r\n\r\n", at)
    first, *lines = stream[at:head_end].decode("latin-1").split("\r\n")
    headers = {key.strip().lower(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    start = head_end + 4
    if headers.get("transfer-encoding") == "chunked":
        body = bytearray()
        while True:
            line_end = stream.index(b"\r\n", start)
            size = int(stream[start:line_end], 16)
            start = line_end + 2
            body += stream[start : start + size]
            start += size + 2
            if not size:
                return first, headers, bytes(body), start
    size = int(headers.get("content-length", "0"))
    return first, headers, stream[start : start + size], start + size


@cache
def exchanges(name: str) -> tuple[Exchange, ...]:
    """All HTTP exchanges of a recording, in the order their connections opened."""
    streams = _streams(name)
    found = []
    for (client, port), (moment, sent) in streams.items():
        if port not in SIMULATOR_PORTS:
            continue
        _, answered = streams.get((port, client), (moment, b""))
        at = back = 0
        while at < len(sent):
            line, _, request, at = _take(sent, at)
            method, path, _ = line.split(" ", 2)
            status, headers, body = 0, {}, b""
            if back < len(answered):
                reply, headers, body, back = _take(answered, back)
                status = int(reply.split(" ")[1])
            found.append(Exchange(moment, method, path, request, status, headers, body))
    return tuple(sorted(found, key=lambda exchange: exchange.time))
