"""The shell: a simulated grid served on a wire until the block is left."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from gridagent.errors import OperatorError
from gridagent.events import DisconnectCause
from gridagent.grid.simulated import Account, SimulatedGrid, Thing, World, open_simulated_grid
from gridagent.runtime.deterministic import run_deterministic, simulated_ports
from gridagent.runtime.ports import Ports
from gridagent.runtime.system import system_ports
from live_grid.circuit import Circuit, MessageReceived
from live_grid.llsd import read_llsd_untrusted, write_llsd_xml
from live_grid.login import LoginReply, LoginRequest, password_hash, read_login_reply_untrusted
from live_grid.login.request import write_login_request
from live_grid.messages import Message, text_of, wire_text
from live_grid.messages.circuits import CompleteAgentMovement, KickUser, UseCircuitCode
from live_grid.messages.notation import AgentSession
from live_grid.messages.objects import ObjectUpdate
from live_grid.messages.regions import RegionHandshake, RegionHandshakeReply
from live_grid.messages.speech import ChatFromSimulator, ChatFromViewer
from live_grid.simulator import GridServer, MemoryWire, WireFaultKind, WireFaults, serve_grid
from live_grid.simulator.profiles import SECOND_LIFE
from live_grid.simulator.sockets import SocketWire
from live_grid.simulator.wire import DatagramPort, Wire

HOST = "127.0.0.1"


class Client:
    """A small client with a socket of its own, on either wire."""

    def __init__(self, wire: Wire, server: GridServer) -> None:
        self.wire = wire
        self.server = server
        self.heard: list[Message] = []
        self.settled = trio.Event()

    async def post(self, url: str, body: bytes) -> tuple[int, bytes]:
        """Make a request on a connection of its own."""
        path = url.removeprefix(self.server.login_url)
        port = int(self.server.login_url.rsplit(":", 1)[1].strip("/"))
        if isinstance(self.wire, MemoryWire):
            stream: trio.abc.Stream = await self.wire.connect(HOST, port)
        else:
            stream = await trio.open_tcp_stream(HOST, port)
        async with stream:
            head = f"POST /{path} HTTP/1.1\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            await stream.send_all(head.encode() + body)
            answer = b""
            while data := await stream.receive_some(65_536):
                answer += data
        head_end = answer.index(b"\r\n\r\n")
        return int(answer.split(b" ", 2)[1]), answer[head_end + 4 :]

    async def log_in(self) -> LoginReply:
        """Log in as Ada."""
        request = LoginRequest(
            first="Ada",
            last="Actor",
            password=password_hash("simulated", second_life=False),
            channel="test",
            version="1",
            mac="0" * 32,
            id0="0" * 32,
        )
        status, body = await self.post(self.server.login_url, write_login_request(request))
        reply = read_login_reply_untrusted(body, status=status)
        assert isinstance(reply, LoginReply)
        return reply

    async def live(self, reply: LoginReply, port: DatagramPort, wanted: list[Message]) -> None:
        """Keep a circuit, answer handshakes, say what is wanted once present, until cancelled."""
        ids = AgentSession(reply.agent_id, reply.session_id)
        circuit = Circuit(
            (reply.sim_ip, reply.sim_port), now=trio.current_time(), session=(ids.agent_id, ids.session_id)
        )
        code = UseCircuitCode.CircuitCode(reply.circuit_code, reply.session_id, reply.agent_id)
        circuit.send(UseCircuitCode(circuit_code=code), reliable=True)
        data = CompleteAgentMovement.AgentData(reply.agent_id, reply.session_id, reply.circuit_code)
        circuit.send(CompleteAgentMovement(agent_data=data), reliable=True)
        while True:
            for datagram, address in circuit.datagrams_to_send(trio.current_time()):
                await port.send(datagram, address)
            with trio.move_on_after(0.05):
                datagram, address = await port.receive()
                circuit.receive_datagram_untrusted(datagram, address, trio.current_time())
            circuit.handle_timer(trio.current_time())
            while (event := circuit.next_event()) is not None:
                if not isinstance(event, MessageReceived):
                    continue
                self.heard.append(event.message)
                if self.saw(ChatFromSimulator) and len(self.saw(ObjectUpdate)) > 1:
                    self.settled.set()
                if isinstance(event.message, RegionHandshake):
                    flags = RegionHandshakeReply.RegionInfo(7)
                    circuit.send(RegionHandshakeReply(agent_data=ids, region_info=flags), reliable=True)
                    for message in wanted:
                        circuit.send(message, reliable=True)

    def saw(self, kind: type[Message]) -> list[Message]:
        """Return what was heard of a kind."""
        return [message for message in self.heard if isinstance(message, kind)]


@asynccontextmanager
async def served(world: World, ports: Ports, **knobs) -> AsyncIterator[tuple[SimulatedGrid, GridServer]]:
    """Run a world and serve it."""
    async with open_simulated_grid(world, ports=ports) as grid, serve_grid(grid, ports=ports, **knobs) as server:
        yield grid, server


async def visit(world: World, ports: Ports, wire: Wire, **knobs) -> Client:
    """Let Ada come, see, speak, and be thrown out when the server goes."""
    async with served(world, ports, wire=wire, **knobs) as (grid, server):
        client = Client(wire, server)
        reply = await client.log_in()
        status, body = await client.post(reply.seed_capability, write_llsd_xml(["EventQueueGet"]))
        assert (status, list(read_llsd_untrusted(body))) == (200, ["EventQueueGet"])
        port = await wire.open_datagrams(HOST, 0)
        chat = ChatFromViewer.ChatData(wire_text("hello, wire"), 1, 0)
        said = ChatFromViewer(agent_data=AgentSession(reply.agent_id, reply.session_id), chat_data=chat)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.live, reply, port, [said])
            with trio.fail_after(15):
                await client.settled.wait()
            assert grid.world.avatar(world.avatars()[0]).online
            assert server.statistics().agents == 1
            nursery.cancel_scope.cancel()
        port.close()
    return client


async def test_a_client_lives_in_the_grid_without_a_socket(
    autojump_clock: trio.testing.MockClock, world: World
) -> None:
    """Login, seed, circuit, scene and chat over the wire in memory, under a virtual clock. Spec: LIV-15, SIM-2."""
    wire = MemoryWire()
    client = await visit(world, simulated_ports(5), wire)
    assert text_of(client.saw(ChatFromSimulator)[0].chat_data.message) == "hello, wire"
    assert wire._ports == {}


@pytest.mark.slow
async def test_a_client_lives_in_the_grid_over_loopback_sockets(world: World) -> None:
    """The same over real ones. Spec: LIV-15."""
    ports = system_ports()
    client = await visit(world, ports, SocketWire(ports.network))
    assert text_of(client.saw(ChatFromSimulator)[0].chat_data.message) == "hello, wire"


def test_the_same_seed_takes_the_same_steps() -> None:
    """Client and server in one process, with a bad wire between them: two runs are one. Spec: LIV-15, SIM-2."""

    async def main() -> list[str]:
        ports = simulated_ports(11)
        world = World(random.Random(3), ports.ids.uuid)
        world.add_region("Plaza", x_m=256_000, y_m=256_000)
        ada = world.add_avatar(Account(name="Ada Actor"))
        for _ in range(3):
            world.add_object("Plaza", owner_id=ada, position=world.regions()[0].centre(), thing=Thing())
        knobs = WireFaults(datagram_lost=0.05, datagram_reordered=0.1, delay_s=(0.0, 0.05))
        client = await visit(world, ports, MemoryWire(), faults=knobs)
        return [repr(message) for message in client.heard]

    first, second = (run_deterministic(main, seed=11) for _ in range(2))
    assert first.result == second.result
    assert first.step_hash == second.step_hash


async def test_everybody_is_told_when_the_server_goes(autojump_clock: trio.testing.MockClock, world: World) -> None:
    """The last datagrams leave before the sockets close. Spec: LIV-15."""
    wire, ports = MemoryWire(), simulated_ports(5)
    port = await wire.open_datagrams(HOST, 0)
    async with trio.open_nursery() as nursery:
        async with served(world, ports, wire=wire) as (_, server):
            client = Client(wire, server)
            reply = await client.log_in()
            nursery.start_soon(client.live, reply, port, [])
            await trio.sleep(2.0)
        await trio.sleep(1.0)
        assert len(client.saw(KickUser)) == 1
        assert not world.avatar(world.avatars()[0]).online
        nursery.cancel_scope.cancel()


async def test_a_held_poll_ends_with_its_client_and_with_the_server(
    autojump_clock: trio.testing.MockClock, world: World
) -> None:
    """Nothing of either hangs. Spec: LIV-4, LIV-15."""
    wire, ports = MemoryWire(), simulated_ports(5)
    async with served(world, ports, wire=wire) as (_, server):
        client = Client(wire, server)
        reply = await client.log_in()
        _, body = await client.post(reply.seed_capability, write_llsd_xml(["EventQueueGet"]))
        url = str(read_llsd_untrusted(body)["EventQueueGet"])
        poll = write_llsd_xml({"ack": None, "done": False})
        with trio.move_on_after(5.0) as scope:
            await client.post(url, poll)
        assert scope.cancelled_caught
        began = trio.current_time()
        status, _ = await client.post(url, poll)
        assert status in {404, 502}
        assert trio.current_time() - began <= 60.0


async def test_knobs_and_refusals_are_turned_while_it_runs(
    autojump_clock: trio.testing.MockClock, world: World
) -> None:
    """From outside the core. Spec: LIV-15."""
    async with served(world, simulated_ports(5), wire=MemoryWire(), profile=SECOND_LIFE) as (_, server):
        server.set_faults(WireFaults(http_502=1.0))
        client = Client(MemoryWire(), server)
        server.refuse_next_login(DisconnectCause.BANNED)
        assert server.regions == {"Plaza": (HOST, 40_001), "Annex": (HOST, 40_002), "Far": (HOST, 40_003)}
        assert client.heard == []
        assert server.core.stage.faults.http_502 == 1.0
        assert server.statistics().faults[WireFaultKind.HTTP_502.value] == 0


async def test_a_port_is_the_first_of_a_row(autojump_clock: trio.testing.MockClock, world: World) -> None:
    """HTTP and the first region share the number, each further region takes the next. Spec: LIV-15."""
    async with served(world, simulated_ports(5), wire=MemoryWire(), port=9_000) as (_, server):
        assert server.login_url == "http://127.0.0.1:9000/"
        assert [port for _, port in server.regions.values()] == [9_000, 9_001, 9_002]


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::1", "localhost", ""])  # noqa: S104 - refused
async def test_only_this_machine_is_served(host: str, world: World) -> None:
    """Every other address is refused before anything is bound. Spec: LIV-15."""
    with pytest.raises(OperatorError, match="serves this machine only"):
        async with served(world, simulated_ports(5), wire=MemoryWire(), host=host):
            raise AssertionError("it was served")


@pytest.mark.parametrize("port", [-1, 65_534, 70_000])
async def test_a_port_leaves_room_for_every_region(port: int, world: World) -> None:
    """Or is refused in one sentence. Spec: LIV-15."""
    with pytest.raises(OperatorError, match="leaves no room for 3 regions"):
        async with served(world, simulated_ports(5), wire=MemoryWire(), port=port):
            raise AssertionError("it was served")


async def test_an_address_that_is_taken_lets_the_others_go(
    autojump_clock: trio.testing.MockClock, world: World
) -> None:
    """The error comes out as it is, and no socket stays. Spec: LIV-15."""
    wire = MemoryWire()
    taken = await wire.open_datagrams(HOST, 9_002)
    with pytest.raises(OSError, match="taken"):
        async with served(world, simulated_ports(5), wire=wire, port=9_000):
            raise AssertionError("it was served")
    assert list(wire._ports) == [taken.address]


async def test_an_error_inside_the_block_comes_out_as_it_was_raised(
    autojump_clock: trio.testing.MockClock, world: World
) -> None:
    """Not wrapped in a group. Spec: LIV-15."""
    with pytest.raises(ZeroDivisionError):
        async with served(world, simulated_ports(5), wire=MemoryWire()):
            _ = 1 / 0


async def test_two_errors_at_once_come_out_together(autojump_clock: trio.testing.MockClock, world: World) -> None:
    """One of the wire, one of the block. Spec: LIV-15."""
    broken = trio.Event()

    class BrokenPort:
        address = (HOST, 9)

        async def receive(self) -> tuple[bytes, tuple[str, int]]:
            await broken.wait()
            raise KeyError("a bug of the wire")

        def close(self) -> None:
            pass

    wire = MemoryWire()
    ports = iter([BrokenPort()])

    class Mixed:
        async def open_datagrams(self, host: str, port: int) -> DatagramPort:
            return next(ports, None) or await wire.open_datagrams(host, port)

        async def serve_streams(self, handler, **knobs) -> None:
            await wire.serve_streams(handler, **knobs)

    with pytest.raises(BaseExceptionGroup) as caught:
        async with served(world, simulated_ports(5), wire=Mixed()):
            await trio.sleep(1.0)
            broken.set()
            raise ZeroDivisionError
    assert {type(error) for error in caught.value.exceptions} == {KeyError, ZeroDivisionError}
