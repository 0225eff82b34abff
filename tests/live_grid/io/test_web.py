"""HTTP, bounded on every side."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from live_grid.addresses import HostPolicy
from live_grid.io.web import Web, WebFailed
from tests.live_grid.io.loopback import HttpServer

POLICY = HostPolicy(hosts=frozenset({"127.0.0.1", "localhost"}), http=True, loopback=True)
PUBLIC = HostPolicy(hosts=frozenset({"127.0.0.1", "localhost"}), http=True)


async def echo(method: str, path: str, body: bytes) -> tuple[int, bytes, str]:
    """Say what was asked, or misbehave as the path says."""
    match path:
        case "/hang":
            await trio.sleep_forever()
        case "/long":
            return 200, b"x" * 3_000, ""
        case "/endless":
            return (
                200,
                b"800\r\n" + b"x" * 2048 + b"\r\n800\r\n" + b"x" * 2048 + b"\r\n",
                "Transfer-Encoding: chunked\r\n",
            )
        case "/zip":
            return 200, b"?", "Content-Encoding: gzip\r\n"
        case "/cut":
            return 200, b"half", "Content-Length: 9\r\n"
        case "/moved":
            return 302, b"", "Location: http://169.254.169.254/\r\n"
    return 418, f"{method} {path} ".encode() + body, ""


@asynccontextmanager
async def served(web: Web) -> AsyncIterator[HttpServer]:
    """A server and whoever asks it."""
    server = HttpServer(echo)
    async with trio.open_nursery() as nursery:
        await nursery.start(server.serve)
        yield server
        await web.aclose()
        nursery.cancel_scope.cancel()


async def post(web: Web, server: HttpServer, path: str, *, timeout_s: float = 5.0) -> str:
    """Ask for a path; return why it failed."""
    with pytest.raises(WebFailed) as failed:
        await web.post(server.url(path), b"?", content_type="a/b", timeout_s=timeout_s, policy=POLICY)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
    return failed.value.why


async def test_a_response_comes_whole() -> None:
    """Status and body, whatever the status; our own headers only. Spec: LIV-4."""
    web = Web()
    async with served(web) as server:
        found = await web.post(server.url("/a?b"), b"hello", content_type="text/x", timeout_s=5.0, policy=POLICY)
        assert (found.status, found.body) == (418, b"POST /a?b hello")
        page = await web.get(server.url("/page"), timeout_s=5.0, policy=None)
        assert page.body == b"GET /page "
        heads = [line.lower() for line in server.heads[0].split("\r\n")[1:]]
        named = f"localhost:{server.port}"
        by_name = await web.get(f"http://{named}/", timeout_s=5.0, policy=POLICY)
        assert by_name.status == 418
        assert f"Host: {named}" in server.heads[2]
    assert {line.partition(":")[0] for line in heads} == {
        *("host", "accept", "accept-encoding", "connection", "content-type", "content-length"),
    }
    assert (web.requests, web.failures) == (3, 0)


async def test_redirects_are_not_followed() -> None:
    """They are answers like others. Fault: 10."""
    web = Web()
    async with served(web) as server:
        found = await web.get(server.url("/moved"), timeout_s=5.0, policy=POLICY)
    assert found.status == 302


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/long", "body too long"),
        ("/endless", "body too long"),
        ("/zip", "coding refused"),
        ("/cut", "connection failed"),
        pytest.param("/hang", "too slow", marks=pytest.mark.slow),
    ],
)
async def test_what_breaks_a_bound_is_a_failure(path: str, why: str) -> None:
    """Nothing of the address or of what came is in the error. Spec: BND-7. Fault: 11, 13."""
    web = Web(body_max_bytes=2_500)
    async with served(web) as server:
        assert await post(web, server, path, timeout_s=0.5 if path == "/hang" else 5.0) == why
    assert web.failures == 1


async def test_hosts_are_judged_by_where_they_live(monkeypatch) -> None:
    """A name that leads to this machine is refused where this machine is not meant. Fault: 10."""
    web = Web()
    async with served(web) as server:
        with pytest.raises(WebFailed, match="host refused"):
            await web.get(f"http://localhost:{server.port}/", timeout_s=5.0, policy=PUBLIC)
        assert server.heads == []
        for error in (None, socket.gaierror()):

            async def nobody(*_: object, error: Exception | None = error, **__: object) -> list[object]:
                await trio.lowlevel.checkpoint()
                if error is not None:
                    raise error
                return []

            with monkeypatch.context() as patch, pytest.raises(WebFailed, match="host unknown"):
                patch.setattr(trio.socket, "getaddrinfo", nobody)
                await web.get("http://nobody.example/", timeout_s=5.0, policy=POLICY)
        server_gone = server.url("/")
    with pytest.raises(WebFailed, match="connection failed"):
        await Web().get(server_gone, timeout_s=5.0, policy=POLICY)


async def test_a_request_can_be_cancelled() -> None:
    """Nothing is left behind. Spec: LIV-14."""
    web = Web()
    async with served(web) as server:
        with trio.move_on_after(0.2) as scope:
            await web.get(server.url("/hang"), timeout_s=60.0, policy=POLICY)
        assert scope.cancelled_caught
