"""One HTTP connection, from the first byte to the last."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
import trio
import trio.testing

from live_grid.simulator import http_shell
from live_grid.simulator.http1 import HttpRequest, HttpResponse
from live_grid.simulator.http_shell import serve_connection
from live_grid.simulator.limits import IDLE_CONNECTION_S

GET = b"GET /%s HTTP/1.1\r\n\r\n"


class Server:
    """Answers by path: at once, later, never, or by closing."""

    def __init__(self) -> None:
        self.held: list[Callable[[HttpResponse], None]] = []
        self.forgotten = 0
        self.seen: list[str] = []

    def handle(self, request: HttpRequest, answer: Callable[[HttpResponse], None]) -> Callable[[], None]:
        self.seen.append(request.path)
        if request.path == "/held":
            self.held.append(answer)
        elif request.path == "/missing":
            answer(HttpResponse(status=0))
        else:
            answer(HttpResponse(body=request.path.encode(), close=request.path == "/close"))
        return self._forget

    def _forget(self) -> None:
        self.forgotten += 1


class Talk:
    """A client at the other end of a connection."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.server = Server()
        self.stream, self._theirs = trio.testing.memory_stream_pair()
        self.over = trio.Event()
        self.got = b""
        nursery.start_soon(self._serve)
        nursery.start_soon(self._listen)

    async def _listen(self) -> None:
        with contextlib.suppress(trio.ClosedResourceError):
            while data := await self.stream.receive_some(65_536):
                self.got += data

    async def _serve(self) -> None:
        async with self._theirs:
            await serve_connection(self.server.handle, self._theirs)
        self.over.set()

    async def say(self, data: bytes) -> bytes:
        """Send something; return what is answered by the time everybody waits."""
        await self.stream.send_all(data)
        await trio.testing.wait_all_tasks_blocked()
        return self.got


async def test_requests_on_one_connection_are_answered_in_order(autojump_clock: trio.testing.MockClock) -> None:
    """Also when they come together; the connection stays. Spec: LIV-15."""
    async with trio.open_nursery() as nursery:
        talk = Talk(nursery)
        answers = await talk.say(GET % b"one" + GET % b"two")
        assert answers.count(b"HTTP/1.1 200 OK") == 2
        assert answers.index(b"/one") < answers.index(b"/two")
        assert not talk.over.is_set()
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("path", [b"close", b"missing"])
async def test_an_answer_can_be_the_last(path: bytes, autojump_clock: trio.testing.MockClock) -> None:
    """Said in the answer, or by saying nothing at all. Spec: LIV-15."""
    async with trio.open_nursery() as nursery:
        talk = Talk(nursery)
        answer = await talk.say(GET % path)
        await talk.over.wait()
        assert (b"Connection: close" in answer) is (path == b"close")
        assert (answer == b"") is (path == b"missing")


async def test_a_client_may_end_the_connection(autojump_clock: trio.testing.MockClock) -> None:
    """With its request, or by going. Spec: LIV-15."""
    async with trio.open_nursery() as nursery:
        talk = Talk(nursery)
        assert b"Connection: close" in await talk.say(b"GET /x HTTP/1.0\r\n\r\n")
        await talk.over.wait()
        talk = Talk(nursery)
        await talk.stream.aclose()
        await talk.over.wait()


async def test_a_held_answer_comes_when_it_comes(autojump_clock: trio.testing.MockClock) -> None:
    """What the client sends meanwhile is kept for after it. Spec: LIV-4, LIV-15."""
    async with trio.open_nursery() as nursery:
        talk = Talk(nursery)
        assert await talk.say(GET % b"held" + GET % b"next") == b""
        assert await talk.say(GET % b"third") == b""
        talk.server.held[0](HttpResponse(status=502))
        await trio.testing.wait_all_tasks_blocked()
        answers = talk.got
        assert answers.startswith(b"HTTP/1.1 502")
        assert answers.index(b"/next") < answers.index(b"/third")
        assert talk.server.forgotten == 0
        nursery.cancel_scope.cancel()


async def test_a_client_that_goes_while_its_answer_is_held_is_forgotten(autojump_clock: trio.testing.MockClock) -> None:
    """So that the next one's poll gets the events. Spec: LIV-4, LIV-15."""
    async with trio.open_nursery() as nursery:
        talk = Talk(nursery)
        await talk.say(GET % b"held")
        await talk.stream.aclose()
        await talk.over.wait()
        assert talk.server.forgotten == 1


async def test_a_connection_that_breaks_is_forgotten(autojump_clock: trio.testing.MockClock) -> None:
    """While reading, while an answer is held, and while it is written. Spec: LIV-15."""

    class Broken(trio.abc.Stream):
        def __init__(self, *pieces: bytes) -> None:
            self.pieces = list(pieces)

        async def send_all(self, data: bytes) -> None:
            raise trio.BrokenResourceError

        async def wait_send_all_might_not_block(self) -> None:
            raise trio.BrokenResourceError

        async def receive_some(self, max_bytes: int | None = None) -> bytes:
            await trio.lowlevel.checkpoint()
            if self.pieces:
                return self.pieces.pop(0)
            raise trio.BrokenResourceError

        async def aclose(self) -> None:
            await trio.lowlevel.checkpoint()

    server = Server()
    for pieces in ((), (GET % b"held",), (GET % b"x",), (b"nonsense\r\n\r\n",)):
        await serve_connection(server.handle, Broken(*pieces))
    assert (server.seen, server.forgotten) == (["/held", "/x"], 1)


async def test_what_is_no_request_is_told_so_and_ended(autojump_clock: trio.testing.MockClock) -> None:
    """A 400, and the connection closes. Spec: LIV-15; Fault: 34, 35."""
    async with trio.open_nursery() as nursery:
        talk = Talk(nursery)
        assert (await talk.say(b"nonsense\r\n\r\n")).startswith(b"HTTP/1.1 400")
        await talk.over.wait()


async def test_a_client_that_says_nothing_is_left(autojump_clock: trio.testing.MockClock) -> None:
    """After a stated time, also in the middle of a request. Spec: LIV-15; Fault: 34."""
    async with trio.open_nursery() as nursery:
        began = trio.current_time()
        talk = Talk(nursery)
        await talk.say(b"GET / HT")
        await talk.over.wait()
        assert trio.current_time() - began == pytest.approx(IDLE_CONNECTION_S)


async def test_a_client_that_floods_while_it_waits_is_left(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more is kept than a request may hold. Spec: LIV-15; Fault: 34."""
    monkeypatch.setattr(http_shell, "REQUEST_MAX_BYTES", 1_000)
    async with trio.open_nursery() as nursery:
        talk = Talk(nursery)
        await talk.say(GET % b"held" + b"x" * 100_000)
        await talk.over.wait()
        assert talk.server.forgotten == 1


async def test_a_client_that_does_not_read_is_left(autojump_clock: trio.testing.MockClock) -> None:
    """An answer waits so long and no longer. Spec: LIV-15; Fault: 34."""

    async def wait_for_ever() -> None:
        await trio.sleep_forever()

    client, theirs = trio.testing.memory_stream_pair()
    theirs.send_stream.send_all_hook = wait_for_ever
    await client.send_all(GET % b"x")
    began = trio.current_time()
    await serve_connection(Server().handle, theirs)
    assert trio.current_time() - began == pytest.approx(30.0)


async def test_a_connection_carries_only_so_many_requests(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is closed in order. Spec: LIV-15."""
    monkeypatch.setattr(http_shell, "REQUESTS_PER_CONNECTION_MAX", 2)
    async with trio.open_nursery() as nursery:
        talk = Talk(nursery)
        answers = await talk.say(GET % b"1" + GET % b"2" + GET % b"3")
        await talk.over.wait()
        assert answers.count(b"HTTP/1.1 200") == 2
