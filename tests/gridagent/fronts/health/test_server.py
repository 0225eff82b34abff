"""The health endpoint over streams in memory, and over loopback sockets with independent clients."""

from __future__ import annotations

import http.client
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import httpx
import pytest
import trio
import trio.testing

from gridagent.cli.counting import Counting
from gridagent.cli.embedding import open_service
from gridagent.config.secrets import SecretStr
from gridagent.errors import OperatorError
from gridagent.fronts.health import HealthLimits, HealthServer, Pages, serve_health
from gridagent.observations import AgentState
from gridagent.runtime.deterministic import simulated_ports
from gridagent.runtime.system import SystemNetwork, system_ports
from gridagent.service import Service
from gridagent.service.progress import STALL_AFTER_S, Progress
from gridagent.session.actor import Session

TOKEN = "canary-70ken-health"
GET = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Bench:
    """A running service, its server, and connections to it."""

    def __init__(self, service: Service, server: HealthServer, nursery: trio.Nursery) -> None:
        self.service = service
        self.server = server
        self.errors: list[str] = []
        self._nursery = nursery

    def connect(self) -> trio.StapledStream:
        """A connection that has said nothing."""
        ours, theirs = trio.testing.memory_stream_pair()
        self._nursery.start_soon(self.server.handle, theirs)
        return ours

    async def ask(self, *data: bytes) -> bytes:
        """Send bytes on a connection of their own and return all that comes back."""
        stream = self.connect()
        for each in data:
            await stream.send_all(each)
        await stream.send_stream.aclose()
        return await read_all(stream)


async def read_all(stream: trio.abc.ReceiveStream) -> bytes:
    """Read until the other end closes."""
    received = b""
    while data := await stream.receive_some(4096):
        received += data
    return received


@asynccontextmanager
async def bench(limits: HealthLimits | None = None, *, real: bool = False) -> AsyncIterator[Bench]:
    """An avatar in the quiet room, its progress proved and its numbers counted."""
    ports = system_ports() if real else simulated_ports(1)
    async with open_service(scenario="quiet-room", seed=1, ports=ports) as service:
        with Counting([service.avatar()]) as counting:
            async with trio.open_nursery() as nursery:
                progress = Progress(service, store=None, clock=ports.clock)
                pages = Pages(service, progress, counting.exposition, token=SecretStr(TOKEN))
                server = HealthServer(
                    pages, clock=ports.clock, limits=limits, log_error=lambda code, _: room.errors.append(code)
                )
                room = Bench(service, server, nursery)
                nursery.start_soon(progress.run)
                nursery.start_soon(counting.run)
                await service.avatar().wait_agent(AgentState.RUNNING)
                yield room
                nursery.cancel_scope.cancel()


def status(answer: bytes) -> int:
    """Read the first status."""
    return int(answer.split(b" ", 2)[1])


async def test_a_probe_is_answered_and_let_go(autojump_clock) -> None:
    """One request, one word, and the connection ends with the client. Spec: OPS-3."""
    async with bench() as room:
        answer = await room.ask(GET)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\nDate: ")
        assert answer.endswith(b"\r\n\r\nok\n")
        assert (room.server.statistics.requests, room.errors) == (1, [])


async def test_a_wedged_avatar_makes_it_unavailable_and_an_idle_one_does_not(autojump_clock, monkeypatch) -> None:
    """Hours in which nothing happens are well; a loop that waits for something that never comes is not. Spec: OPS-3."""
    turn, stuck = Session._turn, trio.Event()

    async def wedge(session: Session, nursery: trio.Nursery) -> None:
        await turn(session, nursery)
        if stuck.is_set():
            await trio.sleep_forever()

    monkeypatch.setattr(Session, "_turn", wedge)
    async with bench() as room:
        await trio.sleep(6 * 3600)
        assert status(await room.ask(GET)) == 200
        stuck.set()
        await trio.sleep(STALL_AFTER_S + 10)
        assert status(await room.ask(GET)) == 503
        assert status(await room.ask(GET.replace(b"livez", b"readyz"))) == 503


async def test_a_connection_is_kept_for_the_next_question(autojump_clock) -> None:
    """A collector that asks once a minute connects once. Spec: OPS-2."""
    async with bench() as room:
        stream = room.connect()
        for _ in range(3):
            await stream.send_all(GET)
            assert (await stream.receive_some(4096)).endswith(b"ok\n")
            await trio.sleep(60)
        assert room.server.statistics.requests == 3
        began = trio.current_time()
        assert await stream.receive_some(10) == b""
        assert trio.current_time() - began == pytest.approx(HealthLimits().idle_timeout_s - 60)


async def test_who_says_nothing_or_drips_is_closed_in_time(autojump_clock) -> None:
    """One byte a second does not hold a place. Fault: 34."""
    async with bench() as room:
        began = trio.current_time()
        assert await read_all(room.connect()) == b""
        assert trio.current_time() - began == pytest.approx(5.0)
        stream = room.connect()
        answers: list[bytes] = []

        async def drip() -> None:
            try:
                for byte in GET:
                    await stream.send_all(bytes([byte]))
                    await trio.sleep(1)
            except trio.BrokenResourceError:
                answers.append(b"cut")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(drip)
            answers.append(await stream.receive_some(4096))
            began_again = trio.current_time()
        assert status(answers[0]) == 408
        assert began_again - began == pytest.approx(10.0)
        assert room.server.statistics.spoiled == 1


async def test_a_reader_that_does_not_read_is_dropped(autojump_clock) -> None:
    """Others are served meanwhile, and its place is free again. Fault: 34."""
    async with bench(HealthLimits(send_timeout_s=2.0)) as room:
        ours, theirs = trio.testing.lockstep_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(room.server.handle, theirs)
            await ours.send_all(GET)
            assert status(await room.ask(GET)) == 200
        assert room.server.statistics.slow == 1
        assert not room.server._places


async def test_a_broken_rule_of_one_that_does_not_read_is_let_go_too(autojump_clock) -> None:
    """Nothing is lingered for."""
    async with bench(HealthLimits(send_timeout_s=2.0)) as room:
        ours, theirs = trio.testing.lockstep_stream_pair()
        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(room.server.handle, theirs)
            await ours.send_all(b"nonsense\r\n\r\n")
        assert trio.current_time() - began == pytest.approx(2.0)


async def test_holding_connections_keeps_no_probe_out(autojump_clock) -> None:
    """The one that was idle longest makes room; whoever just asked stays. Spec: BND-1, OPS-3."""
    async with bench(HealthLimits(connections_max=3)) as room:
        active = room.connect()
        strangers = []
        for _ in range(2):
            strangers.append(room.connect())
            await trio.testing.wait_all_tasks_blocked()
        await active.send_all(GET)
        assert await active.receive_some(4096)
        assert status(await room.ask(GET)) == 200
        assert room.server.statistics.evicted == 1
        await trio.testing.wait_all_tasks_blocked()
        await active.send_all(GET)
        assert await active.receive_some(4096)
        assert await strangers[0].receive_some(10) == b""  # the older of the two
        assert len(room.server._places) == 2


async def test_a_body_is_not_read_and_its_sender_still_gets_the_answer(autojump_clock) -> None:
    """Whoever sends a hundred megabytes is told no, and nothing of it is kept. Fault: 35."""
    async with bench() as room:
        stream = room.connect()
        await stream.send_all(b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n")
        answer = await stream.receive_some(4096)
        assert status(answer) == 413
        with pytest.raises(trio.BrokenResourceError):
            for _ in range(100):
                await stream.send_all(b"x" * 65_536)
                await trio.testing.wait_all_tasks_blocked()


async def test_a_fault_of_our_own_ends_one_connection(autojump_clock, monkeypatch) -> None:
    """It is counted and in the log, and the next one is served. Spec: SUP-7."""
    async with bench() as room:
        with monkeypatch.context() as broken:
            broken.setattr(Pages, "answer", lambda *_: 1 / 0)
            assert await room.ask(GET) == b""
        assert (room.server.statistics.failed, room.errors) == (1, ["health_connection_failed"])
        assert status(await room.ask(GET)) == 200
        room.server._log_error = None
        monkeypatch.setattr(Pages, "answer", lambda *_: 1 / 0)
        assert await room.ask(GET) == b""


async def test_a_client_that_vanishes_is_no_fault(autojump_clock) -> None:
    """Between request and answer."""
    async with bench() as room:
        stream = room.connect()
        await stream.send_all(GET)
        await trio.aclose_forcefully(stream)
        await trio.testing.wait_all_tasks_blocked()
        assert (room.errors, room.server.statistics.failed, room.server._places) == ([], 0, {})


async def test_a_connection_that_was_answered_while_it_was_put_out_is_no_fault(autojump_clock) -> None:
    """Its place is gone before its request is read."""
    async with bench(HealthLimits(connections_max=1)) as room:
        stream = room.connect()
        await trio.testing.wait_all_tasks_blocked()
        room.server._places.clear()
        await stream.send_all(GET)
        assert status(await stream.receive_some(4096)) == 200
        assert room.server.statistics.failed == 0


async def test_a_stream_that_cannot_be_half_closed_is_simply_closed(autojump_clock) -> None:
    """What lingers needs a way to say that nothing more is coming."""

    class Plain(trio.abc.Stream):
        """A stream with one end."""

        def __init__(self, inner: trio.abc.Stream) -> None:
            self._inner = inner

        async def send_all(self, data: bytes) -> None:
            await self._inner.send_all(data)

        async def wait_send_all_might_not_block(self) -> None:
            await self._inner.wait_send_all_might_not_block()

        async def receive_some(self, max_bytes: int | None = None) -> bytes:
            return bytes(await self._inner.receive_some(max_bytes))

        async def aclose(self) -> None:
            await self._inner.aclose()

    async with bench() as room, trio.open_nursery() as nursery:
        ours, theirs = trio.testing.memory_stream_pair()
        nursery.start_soon(room.server.handle, Plain(theirs))
        await ours.send_all(b"nonsense\r\n\r\n")
        assert status(await read_all(ours)) == 400


# --- over sockets ---------------------------------------------------------------------------------


def _with_the_standard_library(port: int) -> list[tuple[int, str, str]]:
    """Ask on one connection, as a script does."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    found = []
    try:
        for method, path, headers in (
            ("GET", "/livez", {}),
            ("HEAD", "/readyz", {}),
            ("GET", "/metrics", {}),
            ("GET", "/metrics", {"Authorization": f"Bearer {TOKEN}"}),
            ("POST", "/livez", {}),
        ):
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            found.append((answer.status, answer.headers["Content-Type"], answer.read().decode()))
    finally:
        connection.close()
    return found


async def test_independent_clients_and_readers_agree() -> None:
    """The standard library, httpx and Prometheus' own parsers, over a socket. Spec: OPS-2, OPS-3."""
    async with bench(real=True) as room, trio.open_nursery() as nursery:
        network = SystemNetwork()
        port = await nursery.start(partial(serve_health, room.server, network, host="127.0.0.1", port=0))
        found = await trio.to_thread.run_sync(_with_the_standard_library, port)
        assert [each[0] for each in found] == [200, 200, 401, 200, 405]
        assert (found[0][2], found[1][2]) == ("ok\n", "")
        plain = pytest.importorskip("prometheus_client.parser")
        families = {family.name: family for family in plain.text_string_to_metric_families(found[3][2])}
        assert families["gridagent_connections"].samples[0].value == 1.0
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/openmetrics-text;version=1.0.0"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            answer = await client.get("/metrics", headers=headers)
            assert answer.headers["content-type"].startswith("application/openmetrics-text")
            strict = pytest.importorskip("prometheus_client.openmetrics.parser")
            again = {family.name: family for family in strict.text_string_to_metric_families(answer.text)}
            assert again.keys() >= families.keys()
            assert (await client.get("/livez", headers={"Host": "evil.example"})).status_code == 403
            body = await client.post("/livez", content=b"x" * 1_000)
            assert body.status_code == 413
        assert room.errors == []
        nursery.cancel_scope.cancel()


async def test_a_port_that_is_taken_is_one_sentence() -> None:
    """The operator is told what to change. Spec: OPS-1."""
    async with bench(real=True) as room, trio.open_nursery() as nursery:
        network = SystemNetwork()
        port = await nursery.start(partial(serve_health, room.server, network, host="127.0.0.1", port=0))
        with pytest.raises(
            OperatorError, match=r"health endpoint cannot listen on 127\.0\.0\.1 port \d+ .*health\.port"
        ):
            await serve_health(room.server, network, host="127.0.0.1", port=port)
        nursery.cancel_scope.cancel()
