"""The client's side: whom it trusts, and what it says when something is wrong."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing

from gridagent.config.secrets import SecretStr
from gridagent.controls import Hold, ReloadConfig
from gridagent.errors import LimitExceeded, RemoteProtocolError
from gridagent.fronts.control import ControlClient, Endpoint, EndpointRefused, NotRunning, open_client
from gridagent.runtime.system import SystemNetwork

TOKEN = SecretStr("canary-70ken-client")
WELCOME = {"reply": "welcome", "id": 1, "protocol": 1, "version": "9.9", "instance": "inst"}
ENDPOINT = Endpoint(host="127.0.0.1", port=1, pid=99, started_at=0.0, protocol=1, instance="inst")


class Service:
    """The other end, under the test's control."""

    def __init__(self, *, timeout_s: float = 30.0) -> None:
        ours, self.theirs = trio.testing.memory_stream_pair()
        self.client = ControlClient(ours, timeout_s=timeout_s)

    async def say(self, *replies: object) -> None:
        """Send replies before they are asked for."""
        for reply in replies:
            await self.theirs.send_all(reply if isinstance(reply, bytes) else json.dumps(reply).encode() + b"\n")

    async def greeted(self) -> ControlClient:
        """Return the client after the greeting."""
        await self.say(WELCOME)
        await self.client.greet(TOKEN, instance="inst")
        return self.client


async def test_a_program_that_does_not_know_the_instance_is_not_believed() -> None:
    """Whoever took the port of a dead service cannot pretend that an avatar is held. Spec: OPS-6."""
    for reply in ({**WELCOME, "instance": "other"}, {"reply": "done", "id": 1, "count": 0}):
        service = Service()
        await service.say(reply)
        with pytest.raises(NotRunning, match="another program answers"):
            await service.client.greet(TOKEN, instance="inst")


async def test_a_refused_greeting_carries_the_services_words() -> None:
    """A wrong version comes with the sentence that mends it. Spec: OPS-6."""
    service = Service()
    await service.say({"reply": "refused", "id": 1, "code": "protocol_version", "message": "speak version 2"})
    with pytest.raises(EndpointRefused, match="speak version 2") as caught:
        await service.client.greet(TOKEN, instance="inst")
    assert caught.value.reason == "protocol_version"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (b"nonsense\n", RemoteProtocolError),
        (b"x" * 70_000, RemoteProtocolError),
        ({"reply": "done", "id": 1, "count": 0}, RemoteProtocolError),
        ({"reply": "refused", "id": 1, "code": "x", "message": "no"}, EndpointRefused),
    ],
)
async def test_what_is_no_answer_to_a_control_is_an_error(reply, error) -> None:
    """A control never counts as done because of a reply that is none. Spec: OPS-6."""
    service = Service()
    client = await service.greeted()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(service.say, reply)
        with pytest.raises(error):
            await client.control(Hold())
        nursery.cancel_scope.cancel()


async def leave(service: Service) -> None:
    """Close the service's end."""
    await service.theirs.aclose()


async def half(service: Service) -> None:
    """Say half a frame, then go."""
    await service.say(b'{"reply":')
    await service.theirs.aclose()


@pytest.mark.parametrize("end", [leave, half])
async def test_a_service_that_goes_away_is_not_running(end: Callable[[Service], Awaitable[None]]) -> None:
    """The end of the connection in the middle of a request is one sentence."""
    service = Service()
    client = await service.greeted()
    await end(service)
    with pytest.raises(NotRunning, match="look at its log"):
        await client.status()


async def test_a_connection_that_breaks_is_not_running() -> None:
    """An abrupt end reads like an orderly one."""
    service = Service()
    client = await service.greeted()

    def breaks() -> None:
        raise trio.BrokenResourceError

    service.client._stream.receive_stream.receive_some_hook = None
    service.client._stream.receive_stream.close_hook = None

    class Broken(trio.abc.Stream):
        async def send_all(self, data: bytes) -> None:
            await trio.lowlevel.checkpoint()

        async def wait_send_all_might_not_block(self) -> None:
            await trio.lowlevel.checkpoint()

        async def receive_some(self, max_bytes: int | None = None) -> bytes:
            await trio.lowlevel.checkpoint()
            breaks()
            return b""

        async def aclose(self) -> None:
            await trio.lowlevel.checkpoint()

    client._stream = Broken()
    with pytest.raises(NotRunning, match="ended the connection"):
        await client.status()


async def test_a_service_that_does_not_answer_is_not_waited_for_for_ever(autojump_clock) -> None:
    """A reply has a deadline. Spec: OPS-6."""
    service = Service(timeout_s=3.0)
    client = await service.greeted()
    began = trio.current_time()
    with pytest.raises(NotRunning, match="does not answer in time"):
        await client.status()
    assert trio.current_time() - began == pytest.approx(3.0)


async def test_a_control_that_does_not_fit_is_not_sent() -> None:
    """A configuration too large for a frame is refused on this side. Spec: BND-7."""
    client = await Service().greeted()
    with pytest.raises(LimitExceeded):
        await client.control(ReloadConfig(config_json=b" " * 64_000))


async def test_rows_of_another_kind_are_left_out() -> None:
    """A later service may say more than was asked."""
    service = Service()
    client = await service.greeted()
    await service.say({"reply": "ended", "id": 2, "avatar": "robin"}, {"reply": "done", "id": 2, "count": 1})
    assert await client.approvals() == ()


async def test_a_refusal_in_the_middle_of_a_stream_is_an_item_of_it() -> None:
    """One avatar that cannot be observed does not end the stream of the others."""
    service = Service()
    client = await service.greeted()
    refused = {"reply": "refused", "id": 2, "code": "too_many_observers", "message": "no"}
    ended = {"reply": "ended", "id": 2, "avatar": "robin"}
    await service.say(ended, refused, WELCOME, {"reply": "done", "id": 2, "count": 2})
    assert [type(item).__name__ async for item in client.observe()] == ["Ended", "Refused"]


async def test_nobody_listening_is_not_running() -> None:
    """The sentence names the place, the last process and the way to start one. Spec: OPS-1."""
    with pytest.raises(NotRunning, match=r"127\.0\.0\.1 port 1, .*process 99.*gridagent run"):
        async with open_client(SystemNetwork(), ENDPOINT, TOKEN):
            raise AssertionError("there is nobody")
