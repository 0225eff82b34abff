"""One question to a server: what is asked, and what is made of every kind of answer."""

from __future__ import annotations

import functools

import pytest
import trio

from gridagent.cli import doctor_reach
from gridagent.cli.doctor_checks import Reached, Unreached
from gridagent.cli.doctor_reach import REACH_S, reach
from gridagent.config.secrets import EndpointUrl
from gridagent.runtime.system import SystemNetwork

URL = EndpointUrl("http://far.example:8002/login/?key=canary-canary")


class Line(trio.abc.Stream):
    """A connection whose other side has said everything already."""

    def __init__(self, *pieces: bytes, error: Exception | None = None) -> None:
        self.pieces = list(pieces)
        self.error = error
        self.sent = b""
        self.closed = False

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Keep what is sent."""
        await trio.lowlevel.checkpoint()
        self.sent += bytes(data)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """Give the next piece, then the error or the end."""
        assert max_bytes
        await trio.lowlevel.checkpoint()
        if not self.pieces and self.error is not None:
            raise self.error
        return self.pieces.pop(0) if self.pieces else b""

    async def wait_send_all_might_not_block(self) -> None:
        """Never waits."""
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        """Hang up."""
        self.closed = True
        await trio.lowlevel.checkpoint()


class Lines(SystemNetwork):
    """A network with one line, or none."""

    def __init__(self, line: Line | Exception | None = None) -> None:
        self.line = line
        self.asked: list[tuple[str, int]] = []

    async def connect_tcp(self, host: str, port: int, *, timeout_s: float) -> trio.abc.Stream:
        """Connect, fail, or wait for ever."""
        self.asked.append((host, port))
        assert timeout_s == REACH_S
        await trio.lowlevel.checkpoint()
        if self.line is None:
            await trio.sleep_forever()
        if isinstance(self.line, Exception):
            raise self.line
        assert self.line is not None
        return self.line


async def test_a_head_is_asked_for_without_query_or_credentials() -> None:
    """Pieces are put together, and the connection is closed. Spec: CFG-3, OPS-1."""
    line = Line(b"HTTP/1.1 405 Method", b" Not Allowed\r\nDate: Tue, 01 Dec 2026 04:00:00 GMT\r\n\r\n")
    network = Lines(line)
    assert await reach(URL, network) == Reached(405, 1_796_097_600.0)
    assert network.asked == [("far.example", 8002)]
    assert line.sent == (
        b"HEAD /login/ HTTP/1.1\r\nHost: far.example:8002\r\nUser-Agent: gridagent\r\nConnection: close\r\n\r\n"
    )
    assert line.closed


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"HTTP/1.0 200\r\n\r\n", Reached(200, None)),
        (b"HTTP/1.1 200 OK\r\ndate: Tue, 01 Dec 2026 04:00:00 -0000\r\n", Reached(200, 1_796_097_600.0)),
        (b"HTTP/1.1 200 OK\r\nDate: soon\r\n\r\n", Reached(200, None)),
        (b"HTTP/1.1 200 OK\r\nDate: Tue, 99 Dec 99999 04:00:00 GMT\r\n\r\n", Reached(200, None)),
        (b"HTTP/1.1 200 OK\r\nDate: \xff\xff\r\n\r\n", Reached(200, None)),
        (b"HTTP/1.1 200 OK\r\n\r\nDate: Tue, 01 Dec 2026 04:00:00 GMT\r\n", Reached(200, None)),
        (b"SSH-2.0-x\x1b[2J\r\n", Unreached("what answers there is no web server")),
        (b"HTTP/1.1 999 OK\r\n\r\n", Unreached("what answers there is no web server")),
        (b"", Unreached("what answers there is no web server")),
        (b"x" * 40_000, Unreached("what answers there is no web server")),
    ],
)
async def test_an_answer_is_a_number_and_perhaps_a_time(head, found) -> None:
    """Nothing else of it is ever shown; it has a bound. Spec: OPS-7, BND-7."""
    assert await reach(URL, Lines(Line(head, head))) == found


def caused(error: Exception, cause: BaseException) -> Exception:
    """An error with a cause."""
    error.__cause__ = cause
    return error


class BadCertificate(OSError):
    """As the library tells it."""

    verify_message = "certificate has expired"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (trio.TooSlowError(), "nobody answered within 10 s"),
        (UnicodeError("label empty"), "its host cannot be the name of a machine"),
        (OSError(111, "Connection refused"), "no connection (Connection refused)"),
        (
            caused(OSError("all attempts failed"), ExceptionGroup("all", [OSError(113, "No route to host")])),
            "no connection (No route to host)",
        ),
        (Line(error=trio.BrokenResourceError()), "the connection broke (it was closed)"),
        (
            Line(error=caused(trio.BrokenResourceError(), BadCertificate(1, "[SSL] x"))),
            "the connection broke (certificate has expired)",
        ),
        (None, "no answer within 10 s"),
    ],
)
async def test_each_way_to_fail_has_its_words(line, why, autojump_clock) -> None:
    """The innermost cause says it; nobody is waited for for ever. Spec: OPS-1."""
    assert await reach(URL, Lines(line)) == Unreached(why)


async def test_causes_are_followed_so_far_and_no_farther() -> None:
    """A chain without an end has one. Spec: BND-7."""
    first, second = OSError(1, "first"), OSError(2, "second")
    first.__cause__, second.__cause__ = second, first
    found = await reach(URL, Lines(first))
    assert isinstance(found, Unreached)
    assert found.why in {"no connection (first)", "no connection (second)"}


async def test_https_is_encrypted_on_its_own_port(monkeypatch) -> None:
    """Before a byte is sent; the name is the one of the address. Spec: CFG-3."""
    wrapped: list[tuple[trio.abc.Stream, str]] = []
    line = Line(b"HTTP/1.1 200 OK\r\n\r\n")

    def encrypted(stream: trio.abc.Stream, host: str) -> trio.abc.Stream:
        assert not line.sent
        wrapped.append((stream, host))
        return stream

    monkeypatch.setattr(doctor_reach, "encrypted", encrypted)
    network = Lines(line)
    assert await reach(EndpointUrl("https://far.example"), network) == Reached(200, None)
    assert (network.asked, wrapped) == ([("far.example", 443)], [(line, "far.example")])
    assert line.sent.startswith(b"HEAD / HTTP/1.1\r\nHost: far.example\r\n")
    plain = Lines(Line(b"HTTP/1.1 200 OK\r\n\r\n"))
    await reach(EndpointUrl("http://far.example"), plain)
    assert plain.asked == [("far.example", 80)]


async def test_a_server_that_does_not_encrypt_is_found_out() -> None:
    """Over a real connection on this machine. Spec: CFG-3."""

    async def plain(stream: trio.abc.Stream) -> None:
        await stream.receive_some(4_096)
        await stream.send_all(b"HTTP/1.1 200 OK\r\n\r\n")

    async with trio.open_nursery() as tasks:
        serve = functools.partial(trio.serve_tcp, plain, 0, host="127.0.0.1")
        (listener,) = await tasks.start(serve)
        port = listener.socket.getsockname()[1]
        assert await reach(EndpointUrl(f"http://127.0.0.1:{port}/"), SystemNetwork()) == Reached(200, None)
        found = await reach(EndpointUrl(f"https://127.0.0.1:{port}/"), SystemNetwork())
        tasks.cancel_scope.cancel()
    assert isinstance(found, Unreached)
    assert found.why.startswith("the connection broke (")
