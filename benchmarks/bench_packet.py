"""Packets: what one recorded packet costs, from a real simulator to a viewer.

Each figure is µs a packet over all recorded conversations, as a ratio to unpacking the very same packets with
plain `struct` calls in a loop (six bytes of header, and one 32-bit number for each four bytes of body): what no
Python codec can be faster than. Budgets: handling (header, acks, duplicate check, dispatch) 5 µs; handling with
every wanted message decoded 5 µs; decoding every message in full, duplicates left out, 12 µs.
"""

from __future__ import annotations

import statistics
import struct
import time
from collections import defaultdict
from collections.abc import Callable, Iterator

from benchmarks.captures import NAMES, datagrams
from live_grid.circuit import Circuit, CircuitConfig
from live_grid.messages import LAYOUTS
from live_grid.packet import decode_packet_untrusted, encode_packet, read_message_untrusted
from live_grid.packet.zerocode import compress, expand_untrusted

ROUNDS = 15
PEER = ("127.0.0.1", 9000)
OF = "struct.unpack over the same packets"

Flow = list[tuple[float, bytes]]


def flows() -> list[Flow]:
    """Each recorded conversation from simulator to viewer."""
    found: defaultdict[tuple[str, int, int], Flow] = defaultdict(list)
    for name in NAMES:
        for one in datagrams(name):
            if one.from_simulator:
                found[name, one.source, one.target].append((one.time, one.data))
    return list(found.values())


def compared(work: Callable[[], object], floor: Callable[[], object]) -> tuple[float, float]:
    """The shortest of several runs in seconds, and the middle one of its ratios to the floor measured beside it."""
    best, ratios = float("1e9"), []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        floor()
        between = time.perf_counter()
        work()
        took = time.perf_counter() - between
        best = min(best, took)
        ratios.append(took / (between - start))
    return best, statistics.median(ratios)


def plain(packets: list[bytes]) -> None:
    """The floor: nothing but the calls that take the bytes apart."""
    header = struct.Struct(">BIB").unpack_from
    bodies = [struct.Struct(f"<{size // 4}I").unpack_from for size in range(1501)]
    for data in packets:
        header(data)
        bodies[len(data) - 6](data, 6)


def handle(conversations: list[Flow], *, take: bool) -> None:
    """Feed circuits; with ``take``, read every message as its owner would."""
    config = CircuitConfig()
    for flow in conversations:
        circuit = Circuit(PEER, now=flow[0][0], config=config)
        receive, next_event = circuit.receive_datagram_untrusted, circuit.next_event
        for now, data in flow:
            receive(data, PEER, now)
            if take:
                while next_event() is not None:
                    pass


def figures() -> Iterator[dict]:
    """Yield the figures of packets."""
    conversations = flows()
    packets = [data for flow in conversations for _, data in flow]
    first: dict[tuple[int, int], bytes] = {}
    for number, flow in enumerate(conversations):
        for _, data in flow:
            first.setdefault((number, decode_packet_untrusted(data).sequence), data)
    distinct = list(first.values())
    messages = [read_message_untrusted(decode_packet_untrusted(data)) for data in distinct]
    coded = [packet for data in distinct if (packet := decode_packet_untrusted(data)).flags & 0x80]
    bodies = [packet.body() for packet in coded]

    def figure(name: str, work: Callable[[], object], count: int, goal: float | None = None) -> dict:
        took, times = compared(work, lambda: plain(packets))
        found = {"name": name, "value": took / count * 1e6, "unit": "µs/packet"}
        found |= {"ratio": times * len(packets) / count, "of": OF}
        return found if goal is None else found | {"goal": goal}

    yield figure("packet.frame", lambda: [decode_packet_untrusted(data) for data in packets], len(packets))
    yield figure("packet.handle", lambda: handle(conversations, take=False), len(packets), 5.0)
    yield figure("packet.handle_and_decode", lambda: handle(conversations, take=True), len(packets), 5.0)
    yield figure(
        "packet.decode",
        lambda: [read_message_untrusted(decode_packet_untrusted(data)) for data in distinct],
        len(distinct),
        12.0,
    )
    yield figure("packet.encode", lambda: [encode_packet(one, sequence=1) for one in messages], len(messages))
    yield figure("packet.expand", lambda: [expand_untrusted(one.coded, 0x3000) for one in coded], len(coded))
    yield figure("packet.compress", lambda: [compress(body) for body in bodies], len(bodies))
    kinds: defaultdict[int, list[bytes]] = defaultdict(list)
    for data in distinct:
        packet = decode_packet_untrusted(data)
        kinds[packet.number].append(packet.body())
    for number, group in sorted(kinds.items(), key=lambda item: -len(item[1]))[:8]:
        read = LAYOUTS[number].read
        name = f"packet.read.{LAYOUTS[number].header.name}"
        yield figure(name, lambda group=group, read=read: [read(body) for body in group], len(group))
