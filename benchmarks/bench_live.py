"""A live session: a burst of packets, a storm of objects, and what one costs that stands idle.

The burst goes over real sockets on this machine: 20,000 packets in a second from a simulator that wants each fourth one
acknowledged and asks a hundred times whether we are alive, while nobody hurries; the client is a whole one (socket,
circuit, world), on the same core as the sender. Answered is the share of acks and pings that came back.

The storm is 100,000 new objects a second for three seconds, again with nobody taking events: the ratio of the peak of
memory after it to the peak after its first second says whether anything grows.

Idle sessions are whole live backends, each with its sockets and its TLS, logged in to a grid of our own in the same
process: the grid's side is in the figure too, so it is an upper bound. Budget: 3 MiB each.
"""

from __future__ import annotations

import gc
import random
import struct
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import AsyncExitStack

import trio

from benchmarks.bench_session import resident_kib
from gridagent.actions import Position
from gridagent.config.secrets import SecretStr
from gridagent.grid.simulated import Account, Place, World, open_simulated_grid
from gridagent.runtime.system import system_ports
from live_grid.addresses import HostPolicy
from live_grid.backend import LiveAccount, LiveSettings
from live_grid.check.visit import Visit
from live_grid.circuit import CircuitConfig
from live_grid.handover import GridSession, SessionSettings
from live_grid.io import GridClient, UdpSocket, Web
from live_grid.login import LoginReply
from live_grid.messages.circuits import CompletePingCheck, PacketAck, StartPingCheck
from live_grid.messages.objects import ImprovedTerseObjectUpdate, ObjectUpdate
from live_grid.packet import decode_packet_untrusted, encode_packet, read_message_untrusted
from live_grid.simulator import serve_grid

PACKETS = 20_000
BURST_S = 1.0
PING_EVERY = 200
RELIABLE_EVERY = 4
CHUNK = 50
LOOKS = 100
"""Of 50 ms each, until everything is answered."""
STORM_S = 3
UPDATES = 100_000
IN_A_PACKET = 10
SESSIONS = (8, 32)
LOOPBACK = "127.0.0.1"
POLICY = HostPolicy(hosts=frozenset({LOOPBACK}), http=True, loopback=True)


def a_session(address: tuple[str, int], now: float) -> GridSession:
    """A session that was sent to a region at an address."""
    reply = LoginReply(
        agent_id=bytes(15) + b"\x01",
        session_id=b"\x5e" * 16,
        secure_session_id=bytes(16),
        circuit_code=77,
        sim_ip=address[0],
        sim_port=address[1],
        seed_capability=f"http://{address[0]}:9/seed",
        region_x=256_000,
        region_y=256_000,
        first_name="Ada",
        last_name="Actor",
    )
    settings = SessionSettings(circuit=CircuitConfig(dead_after_s=600.0))
    return GridSession(reply, policy=POLICY, now=now, settings=settings)


# --- a burst --------------------------------------------------------------------------------------


def moved(number: int) -> ImprovedTerseObjectUpdate:
    """Say that a thing has moved."""
    motion = struct.pack("<IBB3f", number % 1_000 + 1, 0, 0, number % 256, 100.0, 25.0) + b"\xff\x7f" * 13
    block = ImprovedTerseObjectUpdate.ObjectData(motion, b"")
    return ImprovedTerseObjectUpdate(ImprovedTerseObjectUpdate.RegionData(0, 0xFFFF), (block,))


def burst() -> list[bytes]:
    """A second's packets: movement, each fourth reliable, with pings between."""
    found = []
    for number in range(1, PACKETS + 1):
        if number % PING_EVERY == 0:
            message = StartPingCheck(StartPingCheck.PingID(number // PING_EVERY % 256, 0))
            found.append(encode_packet(message, sequence=number))
        else:
            found.append(encode_packet(moved(number), sequence=number, reliable=number % RELIABLE_EVERY == 0))
    return found


class Answers:
    """What came back."""

    def __init__(self) -> None:
        self.acks: set[int] = set()
        self.pings: set[int] = set()

    def take(self, data: bytes) -> None:
        packet = decode_packet_untrusted(data)
        self.acks.update(packet.acks)
        message = read_message_untrusted(packet)
        if isinstance(message, PacketAck):
            self.acks.update(entry.id for entry in message.packets)
        elif isinstance(message, CompletePingCheck):
            self.pings.add(message.ping_id.ping_id)


async def answered(packets: list[bytes]) -> tuple[float, float]:
    """Send a burst to a client on this machine; return the share that was answered, and the client's seconds."""
    answers, simulator, web = Answers(), UdpSocket(LOOPBACK), Web()
    udp = UdpSocket(LOOPBACK)
    session = a_session(simulator.address, trio.current_time())
    client = GridClient(session, udp=udp, web=web, policy=POLICY, on_event=lambda _: None)
    wanted = {number for number in range(1, PACKETS + 1) if number % PING_EVERY and number % RELIABLE_EVERY == 0}
    pings = PACKETS // PING_EVERY
    expected = len(wanted) + pings

    def count() -> int:
        return len(answers.acks & wanted) + len(answers.pings)

    async def hear() -> None:
        while True:
            for data, _ in await simulator.receive():
                answers.take(data)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(client.run)
        nursery.start_soon(hear)
        began, spent = trio.current_time(), time.process_time()
        for first in range(0, len(packets), CHUNK):
            await trio.sleep_until(began + BURST_S * first / len(packets))
            for data in packets[first : first + CHUNK]:
                simulator.send(data, udp.address)
        for _ in range(LOOKS):
            if count() >= expected:
                break
            await trio.sleep(0.05)
        spent = time.process_time() - spent
        nursery.cancel_scope.cancel()
    udp.close()
    simulator.close()
    await web.aclose()
    return count() / expected, spent


def carried(packets: list[bytes]) -> float:
    """Return the seconds that only carrying the same packets over this machine takes."""
    with UdpSocket(LOOPBACK) as one, UdpSocket(LOOPBACK) as other:
        other._socket.setblocking(True)  # noqa: SLF001 - the plainest way there is
        began = time.process_time()
        for data in packets:
            one.send(data, other.address)
            other._socket.recvfrom(2_048)  # noqa: SLF001 - same
        return time.process_time() - began


# --- a storm --------------------------------------------------------------------------------------


def appeared(first: int) -> ObjectUpdate:
    """Say that some new things are there."""
    fields = dict.fromkeys(ObjectUpdate.ObjectData.__struct_fields__, 0)
    fields |= dict.fromkeys(("texture_entry", "texture_anim", "name_value", "data", "text", "media_url"), b"")
    fields |= dict.fromkeys(("ps_block", "extra_params"), b"")
    fields |= {"sound": bytes(16), "owner_id": bytes(16), "text_color": bytes(4), "pcode": 9, "scale": (1.0, 1.0, 1.0)}
    fields |= {"object_data": struct.pack("<15f", 10.0, 20.0, 25.0, *[0.0] * 12)}
    fields |= {"joint_pivot": (0.0, 0.0, 0.0), "joint_axis_or_anchor": (0.0, 0.0, 0.0), "gain": 0.0, "radius": 0.0}
    blocks = tuple(
        ObjectUpdate.ObjectData(**(fields | {"id": number, "full_id": number.to_bytes(16, "big")}))
        for number in range(first, first + IN_A_PACKET)
    )
    return ObjectUpdate(ObjectUpdate.RegionData(0, 0xFFFF), blocks)


def storm(updates: int = UPDATES) -> list[float]:
    """Return the peak of a session's memory in MiB after each second of new objects, as a client takes them."""
    address = (LOOPBACK, 9)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        session, peaks = a_session(address, 0.0), []
        for number in range(1, STORM_S * updates // IN_A_PACKET + 1):
            now = number * IN_A_PACKET / updates
            data = encode_packet(appeared(number * IN_A_PACKET), sequence=number, reliable=True)
            session.receive_datagram_untrusted(data, address, now)
            if number % 64 == 0:
                session.handle_timer(now)
                session.datagrams_to_send(now)
                for _ in range(256):
                    if session.next_event(now) is None:
                        break
            if number % (updates // IN_A_PACKET) == 0:
                peaks.append((tracemalloc.get_traced_memory()[1] - before) / 2**20)
        return peaks
    finally:
        tracemalloc.stop()


# --- standing idle --------------------------------------------------------------------------------


async def idle(sessions: int) -> tuple[float, float]:
    """Return the resident and the traced KiB of a session that is logged in and stands there."""
    ports = system_ports()
    world = World(random.Random(1), ports.ids.uuid)
    world.add_region("Plaza", x_m=256_000, y_m=256_000)
    for number in range(sessions):
        home = Place(region="Plaza", position=Position(x=5.0 + number * 6.0, y=100.0))
        world.add_avatar(Account(name=f"Bot {number}", home=home))
    async with AsyncExitStack() as stack:
        grid = await stack.enter_async_context(open_simulated_grid(world, ports=ports))
        server = await stack.enter_async_context(serve_grid(grid, ports=ports))
        nursery = await stack.enter_async_context(trio.open_nursery())
        gc.collect()
        before, visits = resident_kib(), []
        traced = tracemalloc.get_traced_memory()[0]
        for number in range(sessions):
            account = LiveAccount(first_name="Bot", last_name=str(number), password=SecretStr("simulated"))
            visit = Visit(account, LiveSettings(login_url=server.login_url), ports=ports)
            visits.append(visit)
        async with trio.open_nursery() as entering:
            for visit in visits:
                entering.start_soon(visit.enter, nursery)
        await trio.sleep(5.0)
        gc.collect()
        each = (resident_kib() - before) / sessions
        traced_each = (tracemalloc.get_traced_memory()[0] - traced) / 1024 / sessions
        async with trio.open_nursery() as leaving:
            for visit in visits:
                leaving.start_soon(visit.leave)
        nursery.cancel_scope.cancel()
    return each, traced_each


def traced_idle(sessions: int) -> float:
    """Return the KiB that Python allocated for an idle session."""
    tracemalloc.start()
    try:
        return trio.run(idle, sessions)[1]
    finally:
        tracemalloc.stop()


def figures() -> Iterator[dict]:
    """Yield every figure."""
    few, many = SESSIONS
    yield {
        "name": "live.idle_session_resident",
        "value": trio.run(idle, many)[0],
        "unit": "KiB",
        "goal": 3_072,
        "note": f"{many} sessions with sockets and TLS, and the grid's side of each; the allocator keeps what it got",
    }
    alone, among = traced_idle(few), traced_idle(many)
    yield {
        "name": "live.idle_session",
        "value": among,
        "unit": "KiB",
        "ratio": among / alone,
        "of": f"the same among {few}",
        "goal": 3_072,
        "note": "as Python allocated it, the grid's side included",
    }
    packets = burst()
    share, spent = trio.run(answered, packets)
    carrying = min(carried(packets) for _ in range(3))
    yield {
        "name": "live.burst_answered",
        "value": share,
        "unit": "share",
        "ratio": share,
        "of": "the acks and pings owed for 20,000 packets in a second",
        "goal": 1.0,
        "better": "higher",
    }
    yield {
        "name": "live.burst_cost",
        "value": spent / PACKETS * 1e6,
        "unit": "µs/packet",
        "ratio": spent / carrying,
        "of": "carrying the same packets between two sockets",
        "goal": 50.0,
        "note": "the sender is in it",
    }
    peaks = storm()
    yield {
        "name": "live.memory_in_a_storm",
        "value": peaks[-1],
        "unit": "MiB",
        "ratio": peaks[-1] / peaks[0],
        "of": "the same after the first of three seconds of 100,000 new objects each",
        "goal": 32,
    }
