"""The world: what one recorded packet costs until everything it says is known.

Each figure is µs a packet over all recorded conversations, as a ratio to unpacking the very same packets with plain
`struct` calls in a loop; see `benchmarks.bench_packet`. Budget: 5 µs from datagram to event, duplicates, acks and what
nobody wants included. The figures of single reducers take their messages decoded already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.bench_packet import OF, PEER, Flow, compared, flows, plain
from live_grid.circuit import Circuit, CircuitConfig
from live_grid.circuit.events import MessageReceived
from live_grid.messages import Message
from live_grid.world import WANTED, Region, World, reduce_message

ME: Final = bytes(15) + b"\xbb"


def _world() -> tuple[World, Region]:
    world, region = World(ME), Region()
    world.open_region(region)
    world.enter(region)
    return world, region


def reduce(conversations: list[Flow]) -> None:
    """Feed circuits, and a world with what they give."""
    config = CircuitConfig()
    for flow in conversations:
        world, region = _world()
        circuit = Circuit(PEER, now=flow[0][0], config=config, wanted=WANTED)
        receive, next_event = circuit.receive_datagram_untrusted, circuit.next_event
        for now, data in flow:
            receive(data, PEER, now)
            while (event := next_event()) is not None:
                if isinstance(event, MessageReceived):
                    reduce_message(world, region, event.message)


def reduce_messages(messages: list[Message]) -> None:
    """Feed one world with messages."""
    world, region = _world()
    for message in messages:
        reduce_message(world, region, message)


def _messages(conversations: list[Flow]) -> dict[str, list[Message]]:
    kinds: defaultdict[str, list[Message]] = defaultdict(list)
    for flow in conversations:
        circuit = Circuit(PEER, now=flow[0][0], config=CircuitConfig(), wanted=WANTED)
        for now, data in flow:
            circuit.receive_datagram_untrusted(data, PEER, now)
            while (event := circuit.next_event()) is not None:
                if isinstance(event, MessageReceived):
                    kinds[type(event.message).__name__].append(event.message)
    return kinds


def figures() -> Iterator[dict]:
    """Yield the figures of the world."""
    conversations = flows()
    packets = [data for flow in conversations for _, data in flow]

    def figure(name: str, work: Callable[[], object], count: int) -> dict:
        took, times = compared(work, lambda: plain(packets))
        found = {"name": name, "value": took / count * 1e6, "unit": "µs/packet"}
        return found | {"ratio": times * len(packets) / count, "of": OF}

    yield figure("world.handle_and_reduce", lambda: reduce(conversations), len(packets)) | {"goal": 5.0}
    kinds = sorted(_messages(conversations).items(), key=lambda item: -len(item[1]))
    for name, messages in kinds[:4]:
        yield figure(f"world.reduce.{name}", lambda messages=messages: reduce_messages(messages), len(messages))
