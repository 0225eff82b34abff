"""The control endpoint over streams in memory, and over loopback sockets."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial

import pytest
import trio
import trio.testing

from gridagent.actions import PayAvatar
from gridagent.cli.embedding import open_service
from gridagent.config.secrets import SecretStr
from gridagent.controls import AnswerApproval, Hold, Pause, RequestAction, SayAsOperator, ShutDown
from gridagent.errors import OperatorError
from gridagent.fronts.control import (
    ControlClient,
    ControlLimits,
    ControlServer,
    Endpoint,
    EndpointRefused,
    NotRunning,
    open_client,
    serve_control,
)
from gridagent.fronts.control.words import Ended, Observed, StatusRow
from gridagent.observations import AgentState, ApprovalOpened, HoldChanged
from gridagent.runtime.deterministic import simulated_ports
from gridagent.runtime.system import SystemNetwork
from gridagent.service import Service

TOKEN = "canary-70ken-server"
GREETING = {"request": "hello", "id": 1, "protocol": 1, "token": TOKEN}
TWO = {
    "avatars": {"robin": {"first_name": "Robin"}, "wren": {"first_name": "Wren"}},
    "grid": {"simulated": {"scenario": "quiet-room"}},
    "session": {"login_stagger_s": 0.0},
}


class Bench:
    """A running service, its server, and connections to it."""

    def __init__(self, service: Service, server: ControlServer, nursery: trio.Nursery) -> None:
        self.service = service
        self.server = server
        self.nursery = nursery

    def connect(self) -> trio.StapledStream:
        """A connection that has said nothing."""
        ours, theirs = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self.server.handle, theirs)
        return ours

    async def client(self) -> ControlClient:
        """A connection that has shown the token."""
        client = ControlClient(self.connect())
        await client.greet(SecretStr(TOKEN), instance="inst")
        return client

    async def ask(self, *frames: object) -> list[dict]:
        """Send frames on a connection of their own and return everything that comes back until it is closed."""
        stream = self.connect()
        for frame in frames:
            await stream.send_all(frame if isinstance(frame, bytes) else json.dumps(frame).encode() + b"\n")
        await stream.send_stream.aclose()
        return [json.loads(line) for line in (await read_all(stream)).splitlines()]


async def read_all(stream: trio.abc.ReceiveStream) -> bytes:
    """Read until the other end closes."""
    received = b""
    while data := await stream.receive_some(4096):
        received += data
    return received


@asynccontextmanager
async def bench(
    limits: ControlLimits | None = None, config: object = None, *, scenario: str = "quiet-room"
) -> AsyncIterator[Bench]:
    """A service, in the quiet room unless told otherwise, with a server that nobody has connected to."""
    async with open_service(config, scenario=scenario, seed=1, ports=simulated_ports(1)) as service:
        server = ControlServer(service, token=SecretStr(TOKEN), version="9.9", instance="inst", limits=limits)
        async with trio.open_nursery() as nursery:
            for key in service.avatars:
                await service.avatar(key).wait_agent(AgentState.RUNNING)
            yield Bench(service, server, nursery)
            nursery.cancel_scope.cancel()


# --- the way in -----------------------------------------------------------------------------------


async def test_the_right_token_opens_and_a_wrong_one_closes(autojump_clock) -> None:
    """Authentication comes first, and a refusal is counted. Spec: OPS-6."""
    async with bench() as room:
        assert (await room.client()).service_version == "9.9"
        with pytest.raises(EndpointRefused, match="refused the connection"):
            await ControlClient(room.connect()).greet(SecretStr("wrong-wrong"), instance="inst")
        assert room.server.statistics.unauthenticated == 1


async def test_no_request_is_performed_before_the_token(autojump_clock) -> None:
    """Neither the kill switch nor a status comes before the token. Spec: OPS-6. Fault: 33."""
    async with bench() as room:
        for frame in ({"request": "hold_all"}, {"request": "status"}, b"GET / HTTP/1.0\r\n\r\n"):
            assert [each["code"] for each in await room.ask(frame, GREETING, {"request": "hold_all"})] == [
                "unauthenticated"
            ]
        assert not room.service.avatar().status().gateway.held


async def test_who_says_nothing_is_closed_after_the_hello_time(autojump_clock) -> None:
    """A connection without a token has seconds, not minutes. Spec: OPS-6. Fault: 34."""
    async with bench(ControlLimits(hello_timeout_s=5.0)) as room:
        began = trio.current_time()
        assert b"unauthenticated" in await read_all(room.connect())
        assert trio.current_time() - began == pytest.approx(5.0)


async def test_who_asks_nothing_is_closed_after_the_idle_time(autojump_clock) -> None:
    """A forgotten connection does not hold a place for ever. Spec: OPS-6."""
    async with bench(ControlLimits(idle_timeout_s=30.0)) as room:
        stream = room.connect()
        await stream.send_all(json.dumps(GREETING).encode() + b"\n")
        began = trio.current_time()
        assert b'"idle"' in await read_all(stream)
        assert trio.current_time() - began == pytest.approx(30.0)


async def test_a_malformed_frame_ends_the_connection_with_a_typed_reply(autojump_clock) -> None:
    """One broken rule, one reply, no second chance. Spec: OPS-6."""
    async with bench() as room:
        replies = await room.ask(GREETING, b"{oops\n", {"request": "hold_all"})
        assert [each["reply"] for each in replies] == ["welcome", "refused"]
        assert replies[1]["code"] == "malformed"
        assert room.server.statistics.broken_rules == 1
        assert not room.service.avatar().status().gateway.held


async def test_an_oversized_frame_ends_the_connection(autojump_clock) -> None:
    """64 KiB and no more, whether the end of the line has come or not. Spec: BND-7. Fault: 35."""
    async with bench() as room:
        replies = await room.ask(GREETING, b"x" * 70_000)
        assert replies[1]["code"] == "frame_too_large"


async def test_requests_beyond_the_rate_end_the_connection(autojump_clock) -> None:
    """A client in a loop is stopped. Spec: OPS-6."""
    async with bench(ControlLimits(requests_burst=3, requests_per_s=1.0)) as room:
        replies = await room.ask(GREETING, *[{"request": "approvals"}] * 5)
        assert [each["reply"] for each in replies] == ["welcome", "done", "done", "done", "refused"]
        assert replies[-1]["code"] == "too_fast"


async def test_strangers_cannot_keep_the_operator_out(autojump_clock) -> None:
    """When all places are taken, the oldest connection without a token makes room. Spec: OPS-6, POL-12."""
    async with bench(ControlLimits(connections_max=3)) as room:
        strangers = []
        for _ in range(3):
            strangers.append(room.connect())
            await trio.testing.wait_all_tasks_blocked()
        client = await room.client()
        assert await client.hold_all()
        assert await strangers[0].receive_some(10) == b""
        assert room.server.statistics.evicted == 1


async def test_too_many_connections_with_a_token_are_refused(autojump_clock) -> None:
    """Nobody with the token is thrown out for another; the newest is told why. Spec: OPS-6."""
    async with bench(ControlLimits(connections_max=2)) as room:
        clients = [await room.client() for _ in range(2)]
        with pytest.raises(EndpointRefused, match="close one and try again"):
            await room.client()
        assert len(await clients[0].status()) == 1
        assert room.server.statistics.refused == 1


# --- requests -------------------------------------------------------------------------------------


async def test_status_controls_and_audit_answer(autojump_clock) -> None:
    """What an operator asks is answered by the running service. Spec: OPS-6, SUP-8."""
    async with bench() as room:
        client = await room.client()
        (row,) = await client.status()
        assert (row.status.key, row.status.agent) == ("robin", AgentState.RUNNING)
        assert (await client.status("robin"))[0].status == (await client.status())[0].status
        key, answer = await client.control(SayAsOperator(text="hello"))
        assert (key, answer.accepted, answer.code) == ("robin", True, "authorized")
        await trio.sleep(5)
        records = await client.audit(most=2)
        assert [json.loads(bytes(each.record))["kind"] for each in records] == ["decision", "settlement"]
        assert len(await client.audit("robin", most=1)) == 1


async def test_the_policy_decides_on_what_the_operator_asks(autojump_clock) -> None:
    """The endpoint is no way around the gateway: a payment without a budget is denied. Spec: POL-1, POL-2, BND-13."""
    async with bench() as room:
        client = await room.client()
        to = "5eed0000-0000-4000-8000-000000000001"
        _, answer = await client.control(RequestAction(action=PayAvatar(to=to, amount=5)))
        assert (answer.accepted, answer.code) == (False, "budget_spent")


async def test_waiting_approvals_are_listed_and_answered(autojump_clock) -> None:
    """An approval shows its exact arguments, never its nonce, and can be denied from here. Spec: POL-7, POL-14."""
    config = {
        "roles": {"owners": ["5eed0000-0000-4000-8000-000000000001"]},
        "policy": {"preset": "shopkeeper", "approvals": {"move": "required"}},
    }
    async with bench(config=config, scenario="plaza") as room:
        async with aclosing((await room.client()).observe()) as seen:
            async for item in seen:
                if isinstance(item, Observed) and isinstance(item.observation.body, ApprovalOpened):
                    break
        client = await room.client()
        (row, *_) = await client.approvals("robin")
        assert (row.action, row.avatar) == ("walk_to", "robin")
        assert "position=" in row.summary
        assert 0 < row.expires_in_s <= 300
        (status,) = await client.status()
        assert status.approvals == 1
        _, answer = await client.control(AnswerApproval(approval_id=row.approval_id, allow=False))
        assert answer.accepted
        assert not await client.approvals()


async def test_unknown_avatars_are_refused_with_a_sentence(autojump_clock) -> None:
    """A wrong key names those that exist; the connection lives on."""
    async with bench() as room:
        client = await room.client()
        for ask in (
            client.status("nobody"),
            client.approvals("nobody"),
            client.audit("nobody"),
            client.control(Pause(), "nobody"),
        ):
            with pytest.raises(EndpointRefused, match="it has: robin"):
                await ask
        with pytest.raises(EndpointRefused, match="it has: robin"):
            async for _ in client.observe(("nobody",)):
                pass


async def test_hold_all_holds_every_avatar_at_once(autojump_clock, tmp_path) -> None:
    """The kill switch needs no names, and one avatar that has stopped keeps no other waiting. Spec: POL-12."""
    scenario = tmp_path / "two.json"
    spot = {"region": "Room", "x": 10, "y": 10}
    people = [{"name": "Robin Resident", "start": spot}, {"name": "Wren Resident", "start": spot}]
    scenario.write_text(json.dumps({"name": "two", "regions": [{"name": "Room"}], "avatars": people}), encoding="utf-8")
    async with open_service(TWO, scenario=str(scenario), ports=simulated_ports(1)) as service:
        server = ControlServer(service, token=SecretStr(TOKEN), version="9.9", instance="inst")
        async with trio.open_nursery() as nursery:
            room = Bench(service, server, nursery)
            for key in service.avatars:
                await service.avatar(key).wait_agent(AgentState.RUNNING)
            client = await room.client()
            with pytest.raises(EndpointRefused, match="name one avatar"):
                await client.control(Hold())
            await service.avatar("wren").shut_down()
            answers = dict(await client.hold_all())
            assert answers["robin"].accepted
            assert answers["wren"].code == "stopped"
            assert service.avatar("robin").status().gateway.held
            nursery.cancel_scope.cancel()


async def test_a_stopped_avatar_answers_so(autojump_clock) -> None:
    """A control that comes too late is refused, not lost. Spec: BND-2."""
    async with bench() as room:
        client = await room.client()
        assert (await client.control(ShutDown()))[1].accepted
        await room.service.wait_stopped()
        assert (await client.control(Hold()))[1].code == "stopped"


async def test_an_avatar_that_does_not_answer_in_time_is_said_to_be_slow(autojump_clock, monkeypatch) -> None:
    """No request waits for ever. Spec: OPS-6."""
    async with bench(ControlLimits(control_timeout_s=2.0)) as room:
        handle = room.service.avatar()

        async def never(control: object) -> None:
            await trio.sleep_forever()

        monkeypatch.setattr(type(handle), "control", lambda self, control: never(control))
        client = await room.client()
        assert (await client.control(Hold()))[1].code == "slow"


async def test_a_fault_of_our_own_ends_one_connection_and_is_logged(autojump_clock, monkeypatch) -> None:
    """Neither the service nor another connection ends by it. Spec: SUP-7."""
    logged: list[tuple[str, BaseException]] = []
    async with bench() as room:
        other = await room.client()
        room.server._log_error = lambda code, error: logged.append((code, error))
        for log in (room.server._log_error, None):
            room.server._log_error = log
            client = await room.client()
            with monkeypatch.context() as broken:
                broken.setattr(Service, "status", lambda self: 1 / 0)
                with pytest.raises(NotRunning, match="ended the connection"):
                    await client.status()
        assert [(code, type(error)) for code, error in logged] == [("control_connection_failed", ZeroDivisionError)]
        assert room.server.statistics.failed == 2
        assert len(await other.status()) == 1


# --- streams --------------------------------------------------------------------------------------


async def test_observing_begins_with_the_status_and_ends_with_the_avatar(autojump_clock) -> None:
    """A stream says how things are, what happens, and that it is over. Spec: OPS-6, BND-3."""
    async with bench() as room:
        watcher, client = await room.client(), await room.client()
        seen = []

        async def watch() -> None:
            seen.extend([item async for item in watcher.observe()])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            await trio.testing.wait_all_tasks_blocked()
            await client.control(Hold())
            await client.control(ShutDown())
        assert isinstance(seen[0], StatusRow)
        assert isinstance(seen[-1], Ended)
        bodies = [item.observation.body for item in seen if isinstance(item, Observed)]
        assert HoldChanged(held=True) in bodies


async def test_a_reader_that_lags_is_told_how_much_it_missed(autojump_clock) -> None:
    """Within the send time a slow reader loses observations and is told so. Spec: BND-3."""
    config = {"queues": {"observables": 4}}
    async with bench(ControlLimits(send_timeout_s=3_000.0), config=config, scenario="plaza") as room:
        stream = room.connect()
        await stream.send_all(json.dumps(GREETING).encode() + b"\n" + b'{"request":"observe"}\n')
        await trio.testing.wait_all_tasks_blocked()
        (connection,) = room.server._places.values()
        pump, read_again = connection.stream.send_stream.send_all_hook, trio.Event()

        async def hold_up() -> None:
            await read_again.wait()
            await pump()

        connection.stream.send_stream.send_all_hook = hold_up
        await trio.sleep(600)
        read_again.set()
        await room.service.shut_down()
        replies = [json.loads(line) for line in (await read_all(stream)).splitlines()]
        assert sum(each["missed"] for each in replies if each["reply"] == "lagged") > 4


async def test_a_reader_that_never_reads_is_dropped_and_others_are_not_touched(autojump_clock) -> None:
    """A send has a deadline; behind it the reader is gone and the place is free. Spec: OPS-6. Fault: 34."""
    async with bench(ControlLimits(send_timeout_s=5.0), scenario="plaza") as room:
        stream = room.connect()
        await stream.send_all(json.dumps(GREETING).encode() + b"\n" + b'{"request":"observe"}\n')
        await trio.testing.wait_all_tasks_blocked()
        (connection,) = room.server._places.values()
        connection.stream.send_stream.send_all_hook = trio.sleep_forever
        await trio.sleep(120)
        assert room.server.statistics.slow == 1
        assert not room.server._places
        assert room.server._streams == 0
        assert len(await (await room.client()).status()) == 1


async def test_a_reader_that_leaves_frees_its_place(autojump_clock) -> None:
    """Going away is no fault of anybody. Spec: OPS-6."""
    async with bench() as room:
        stream = room.connect()
        await stream.send_all(json.dumps(GREETING).encode() + b"\n" + b'{"request":"observe"}\n')
        await trio.testing.wait_all_tasks_blocked()
        assert room.server._streams == 1
        await stream.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert (room.server._streams, len(room.server._places)) == (0, 0)
        assert room.server.statistics.slow == 0


async def test_a_reader_that_is_gone_when_something_is_sent_frees_its_place(autojump_clock) -> None:
    """A broken connection is noticed by the send too."""
    async with bench(scenario="plaza") as room:
        stream = room.connect()
        await stream.send_all(json.dumps(GREETING).encode() + b"\n" + b'{"request":"observe"}\n')
        await trio.testing.wait_all_tasks_blocked()
        stream.receive_stream.close()
        await trio.sleep(120)
        assert (room.server._streams, len(room.server._places)) == (0, 0)


async def test_a_request_on_a_stream_ends_it(autojump_clock) -> None:
    """Who observes may only leave; another frame is answered with a code."""
    async with bench() as room:
        replies = await room.ask(GREETING, {"request": "observe", "id": 2}, {"request": "hold_all"})
        assert replies[-1]["code"] == "streaming"
        assert not room.service.avatar().status().gateway.held


async def test_streams_are_bounded(autojump_clock) -> None:
    """Beyond the bound a watcher is refused with a code, and the kill switch still works. Spec: OPS-6, POL-12."""
    async with bench(ControlLimits(streams_max=1)) as room:
        stream = room.connect()
        await stream.send_all(json.dumps(GREETING).encode() + b"\n" + b'{"request":"observe"}\n')
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(EndpointRefused, match="observe already"):
            async for _ in (await room.client()).observe():
                pass
        assert await (await room.client()).hold_all()


async def test_an_avatar_with_too_many_observers_says_so(autojump_clock) -> None:
    """The avatar's own bound on observers is a refusal on the stream. Spec: BND-3."""
    async with bench() as room:
        handle = room.service.avatar()
        for number in range(64):
            handle.observe(f"other-{number}")
        client = await room.client()
        with pytest.raises(EndpointRefused, match="64 subscriber places"):
            assert [item async for item in client.observe()] == []


async def test_a_stopped_avatar_can_be_observed_to_be_over(autojump_clock) -> None:
    """Observing what has stopped ends at once."""
    async with bench() as room:
        await room.service.shut_down()
        assert [type(item) async for item in (await room.client()).observe()] == [Ended]


# --- sockets --------------------------------------------------------------------------------------


async def test_it_serves_on_loopback() -> None:
    """The same over a real socket, on a port the system chose. Spec: OPS-6."""
    async with open_service(scenario="quiet-room") as service, trio.open_nursery() as nursery:
        server = ControlServer(service, token=SecretStr(TOKEN), version="9.9", instance="inst")
        network = SystemNetwork()
        port = await nursery.start(partial(serve_control, server, network, host="127.0.0.1", port=0))
        endpoint = Endpoint(host="127.0.0.1", port=port, pid=1, started_at=0.0, protocol=1, instance="inst")
        async with open_client(network, endpoint, SecretStr(TOKEN)) as client:
            assert (await client.status())[0].status.key == "robin"
        nursery.cancel_scope.cancel()


async def test_a_port_that_is_taken_is_one_sentence() -> None:
    """The operator is told what to change. Spec: OPS-1."""
    async with open_service(scenario="quiet-room") as service, trio.open_nursery() as nursery:
        server = ControlServer(service, token=SecretStr(TOKEN), version="9.9", instance="inst")
        network = SystemNetwork()
        port = await nursery.start(partial(serve_control, server, network, host="127.0.0.1", port=0))
        with pytest.raises(OperatorError, match=r"cannot listen on 127\.0\.0\.1 port \d+ .*set control\.port to 0"):
            await serve_control(server, network, host="127.0.0.1", port=port)
        nursery.cancel_scope.cancel()
