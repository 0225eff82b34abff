"""The guard of `tests/conftest.py` really stands between a test and the network."""

from __future__ import annotations

import contextlib
import functools
import socket

import pytest
import trio
import trio.testing

OUTSIDE = ("192.0.2.1", 9)  # TEST-NET-1: never routed


@pytest.mark.parametrize(
    "reach",
    [
        lambda sock: sock.connect(OUTSIDE),
        lambda sock: sock.connect_ex(OUTSIDE),
        lambda sock: sock.bind(("0.0.0.0", 0)),  # noqa: S104 - refused, which is the point
        lambda sock: sock.bind(("", 0)),
        lambda sock: sock.sendto(b"x", OUTSIDE),
        lambda sock: sock.sendto(b"x", 0, OUTSIDE),
        lambda sock: sock.sendmsg([b"x"], [], 0, OUTSIDE),
        lambda _: socket.getaddrinfo("example.org", 80),
        lambda _: socket.create_connection(("example.org", 80)),
    ],
)
def test_every_way_out_is_refused(reach, network_attempts) -> None:
    """Connecting, binding, sending and resolving outside loopback raise before a byte leaves."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, pytest.raises(Exception, match="loopback"):
        reach(sock)
    assert len(network_attempts) == 1
    network_attempts.clear()


async def test_trio_meets_the_same_guard(network_attempts) -> None:
    """Trio's sockets and streams go through the guarded ones."""
    with pytest.raises(Exception, match="loopback"):
        await trio.open_tcp_stream("example.org", 80)
    sock = trio.socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sock, pytest.raises(Exception, match="loopback"):
        await sock.sendto(b"x", OUTSIDE)
    assert len(network_attempts) >= 2
    network_attempts.clear()


async def test_loopback_and_unix_sockets_work() -> None:
    """What stays on this machine is not hindered."""
    async with trio.open_nursery() as nursery:
        serve = functools.partial(trio.serve_tcp, lambda stream: stream.send_all(b"hi"), 0, host="127.0.0.1")
        listeners = await nursery.start(serve)
        stream = await trio.testing.open_stream_to_socket_listener(listeners[0])
        async with stream:
            assert await stream.receive_some() == b"hi"
        nursery.cancel_scope.cancel()
    left, right = socket.socketpair()
    with left, right:
        left.sendall(b"x")
        assert right.recv(1) == b"x"


def test_a_swallowed_attempt_still_shows(network_attempts) -> None:
    """An attempt is on record even when the code under test caught the refusal."""
    with socket.socket() as sock, contextlib.suppress(Exception):
        sock.connect(OUTSIDE)
    assert network_attempts == [f"connect {OUTSIDE!r}"]
    network_attempts.clear()
