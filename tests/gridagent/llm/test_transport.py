"""The one module with httpx in it: exactly one URL, bounded pools, nothing of the library or the key coming out."""

from __future__ import annotations

import ast
from pathlib import Path

import httpx
import pytest
import trio
import trio.testing

from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.errors import InternalError
from gridagent.language import BadReply, FailureKind, LlmFailure
from gridagent.llm.base import WireRequest
from gridagent.llm.real_requests import RealRequests, allow_real_requests
from gridagent.llm.transport import POOL_CONNECTIONS_MAX, HttpTransport
from tests.gridagent.llm.llm_server import KEY, always, serve

ASK = WireRequest(body=b"{}")
PACKAGE = Path(__file__).resolve().parents[3] / "gridagent"


async def body_of(transport: HttpTransport, request: WireRequest = ASK) -> bytes:
    """Send and read to the end."""
    reply = await transport.post(request)
    try:
        pieces = []
        while piece := await reply.receive():
            pieces.append(piece)
        assert await reply.receive() == b""
        return b"".join(pieces)
    finally:
        await reply.aclose()
        await reply.aclose()


def test_httpx_is_imported_in_one_module() -> None:
    """Everything about HTTP clients is in one place. Spec: MND-1."""
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(alias.name == "httpx" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "httpx")
    }
    assert users == {"llm/transport.py"}


async def test_environment_proxies_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the surroundings decides where a request goes. Spec: MND-1."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with serve(always("ok")) as server:
        transport = HttpTransport(server.url)
        assert await body_of(transport) == b"ok"
        await transport.aclose()


async def test_the_query_of_the_url_is_sent_and_nothing_is_added() -> None:
    """The one exact URL, a key in its query included. Spec: MND-1."""
    async with serve(always("ok")) as server:
        transport = HttpTransport(EndpointUrl(f"http://127.0.0.1:{server.port}/a%20b/c?api-version=1&key=x"))
        await body_of(transport)
        await transport.aclose()
        (seen,) = server.seen
        assert seen.target == "/a%20b/c?api-version=1&key=x"
        assert seen.headers["host"] == f"127.0.0.1:{server.port}"
        assert seen.headers["content-length"] == "2"
        assert set(seen.headers) == {
            "host",
            "accept",
            "accept-encoding",
            "content-type",
            "user-agent",
            "content-length",
        }


async def test_cookies_are_not_kept() -> None:
    """What a server wants remembered is forgotten."""
    async with serve(always("ok", Set_Cookie="a=b")) as server:
        transport = HttpTransport(server.url)
        await body_of(transport)
        await body_of(transport)
        await transport.aclose()
        assert "cookie" not in server.seen[1].headers


async def test_nothing_shows_the_key() -> None:
    """Not the transport's own representation either. Spec: CFG-3."""
    async with serve(always("ok")) as server:
        transport = HttpTransport(server.url, headers={"x-api-key": SecretStr(KEY)})
        await body_of(transport)
        assert server.seen[0].headers["x-api-key"] == KEY
        assert repr(transport) == "<HttpTransport 1 connections>"
        await transport.aclose()


@pytest.mark.parametrize("key", [f"{KEY}é", f"{KEY}\r\nX-Evil: 1", f"{KEY}\0"])
def test_a_key_that_http_cannot_carry_is_refused_unseen(key: str) -> None:
    """At once, and without showing it. Spec: CFG-3."""
    with pytest.raises(ValueError, match="x-api-key") as caught:
        HttpTransport(EndpointUrl("http://127.0.0.1:1/"), headers={"x-api-key": SecretStr(key)})
    assert KEY not in repr(caught.value)


@pytest.mark.parametrize("url", ["https://127.0.0.1:1/", "http://[::1]:1/", "http://localhost:1/x"])
async def test_each_kind_of_endpoint_can_be_asked(url: str) -> None:
    """Encrypted or not, by address or by name; nobody listens there."""
    transport = HttpTransport(EndpointUrl(url))
    with pytest.raises(LlmFailure) as caught:
        await transport.post(ASK)
    assert caught.value.kind is FailureKind.UNREACHABLE
    assert transport.in_use == transport.connections == 0
    await transport.aclose()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx.LocalProtocolError("x"), FailureKind.REJECTED),
        (UnicodeError("a host that cannot be encoded"), FailureKind.UNREACHABLE),
        (RuntimeError("x"), FailureKind.UNREACHABLE),
        (httpx.PoolTimeout("x"), FailureKind.TIMEOUT),
    ],
)
def test_rare_errors_of_the_library_are_typed_too(error: Exception, kind: FailureKind) -> None:
    """What no server of a test can cause has its kind all the same."""
    transport = HttpTransport(EndpointUrl("http://127.0.0.1:1/"))
    assert transport.failure_of(error, replying=False).kind is kind


async def test_requests_spread_over_pools_of_sixteen() -> None:
    """Many at once take many pools; few stay on warm connections. Spec: BND-10."""
    go = trio.Event()
    many = POOL_CONNECTIONS_MAX * 2 + 1

    async def script(exchange) -> None:
        await go.wait()
        await exchange.reply("ok")

    async with serve(script) as server:
        transport = HttpTransport(server.url, concurrency_max=many)
        async with trio.open_nursery() as nursery:
            for _ in range(many):
                nursery.start_soon(body_of, transport)
            await server.has_seen(many)
            assert [pool.in_use for pool in transport._pools] == [16, 16, 1]
            go.set()
        assert transport.in_use == 0
        assert transport.connections == many
        await body_of(transport)
        assert server.connections == many
        await transport.aclose()


async def test_more_than_there_are_places_for_wait() -> None:
    """A transport for one pool carries more, one after another."""

    async def script(exchange) -> None:
        await trio.lowlevel.checkpoint()
        await exchange.reply("ok")

    async with serve(script) as server:
        transport = HttpTransport(server.url, concurrency_max=1)
        async with trio.open_nursery() as nursery:
            for _ in range(POOL_CONNECTIONS_MAX + 8):
                nursery.start_soon(body_of, transport)
        assert server.peak <= POOL_CONNECTIONS_MAX
        assert len(server.seen) == POOL_CONNECTIONS_MAX + 8
        await transport.aclose()


@pytest.mark.parametrize("allowed", [RealRequests.NOWHERE, RealRequests.LOOPBACK])
async def test_forbidden_requests_are_not_sent(allowed: RealRequests) -> None:
    """The switch is asked before anything goes out."""
    transport = HttpTransport(EndpointUrl("https://api.example.com/v1"))
    with allow_real_requests(allowed), pytest.raises(InternalError, match="forbidden"):
        await transport.post(ASK)
    assert transport.in_use == 0
    await transport.aclose()


async def test_a_closed_transport_sends_nothing() -> None:
    """Requests after the end are cancelled ones."""
    transport = HttpTransport(EndpointUrl("http://127.0.0.1:1/"))
    await transport.aclose()
    with pytest.raises(LlmFailure) as caught:
        await transport.post(ASK)
    assert caught.value.kind is FailureKind.CANCELLED


async def test_a_lower_bound_on_bodies_holds() -> None:
    """Configuration lowers the ceiling; the length that is announced counts already. Spec: BND-7."""
    async with serve(always("x" * 200)) as server:
        transport = HttpTransport(server.url, body_max_bytes=100)
        with pytest.raises(LlmFailure) as caught:
            await transport.post(ASK)
        assert caught.value.bad_reply is BadReply.TOO_LONG
        assert transport.in_use == transport.connections == 0
        await transport.aclose()


async def test_a_body_that_is_not_read_closes_its_connection() -> None:
    """Unread bytes are never taken for the next reply."""

    async def script(exchange) -> None:
        await exchange.head()
        for _ in range(100):
            await exchange.data(b"x" * 10_000)
        await exchange.end()

    async with serve(script) as server:
        transport = HttpTransport(server.url)
        reply = await transport.post(ASK)
        assert reply.status == 200
        assert await reply.receive()
        await reply.aclose()
        assert transport.connections == 0
        assert await reply.receive() == b""
        await transport.aclose()


async def test_closing_breaks_what_is_being_read() -> None:
    """A reader is told that the client was closed, and not that the provider failed."""

    async def script(exchange) -> None:
        await exchange.head()
        await exchange.data(b"x")
        await trio.sleep_forever()

    async with serve(script) as server:
        transport = HttpTransport(server.url)
        reply = await transport.post(ASK)
        assert await reply.receive() == b"x"
        kinds = []

        async def read() -> None:
            with pytest.raises(LlmFailure) as caught:
                await reply.receive()
            kinds.append(caught.value.kind)
            await reply.aclose()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await trio.testing.wait_all_tasks_blocked()
            await transport.aclose()
        assert kinds == [FailureKind.CANCELLED]
        assert transport.in_use == 0
