"""Claims about `gridagent.runtime.system`; what it shares with the simulated ports is in test_ports.py."""

from __future__ import annotations

import threading
import time

import pytest
import trio
import trio.testing

from gridagent.errors import OutcomeUnknown
from gridagent.runtime.system import (
    SystemBlocking,
    SystemIds,
    SystemNetwork,
    SystemRandomness,
    cpu_seconds,
    system_ports,
)


def test_two_processes_worth_of_streams_differ():
    """The kernel seeds them: nobody can foretell a jitter or an id."""
    assert SystemRandomness().stream("a").random() != SystemRandomness().stream("a").random()
    assert SystemIds().token() != SystemIds().token()


async def test_wall_time_is_the_kernels():
    """The wall clock is the one people see."""
    assert system_ports().clock.wall() == pytest.approx(time.time(), abs=60)


def test_cpu_seconds_count_work_and_not_waiting():
    """What a figure is divided by grows with work done here."""
    before = cpu_seconds()
    assert sum(range(300_000)) > 0
    assert before < cpu_seconds() < before + 10


async def test_blocking_work_runs_in_a_thread_of_its_name():
    """The loop goes on while the work runs."""
    released = threading.Event()
    names: list[str] = []

    def work() -> None:
        names.append(threading.current_thread().name)
        released.wait(10)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: SystemBlocking().run(work, name="store"))
        while not names:
            await trio.lowlevel.checkpoint()
        released.set()
    assert names == ["store"]


async def test_a_call_over_the_bound_is_unknown_and_keeps_the_next_one_waiting():
    """A stuck call is given up as `OutcomeUnknown`; no other starts before it really ended."""
    blocking = SystemBlocking(bound_s=0.02)
    released = threading.Event()
    ended: list[str] = []

    def stuck() -> None:
        released.wait(10)
        ended.append("stuck")

    with pytest.raises(OutcomeUnknown, match="commit did not end within"):
        await blocking.run(stuck, name="commit")
    with trio.move_on_after(0.02) as scope:
        await blocking.run(ended.append, "overtook", name="next")
    assert scope.cancelled_caught
    assert ended == []
    released.set()
    await blocking.run(ended.append, "next", name="next")
    assert ended == ["stuck", "next"]


async def test_a_cancellation_does_not_shorten_the_bound():
    """A started call is waited for although its caller was cancelled, up to the bound."""
    blocking = SystemBlocking(bound_s=5)
    released = threading.Event()
    started: list[int] = []

    def work() -> str:
        started.append(1)
        released.wait(10)
        return "done"

    with trio.CancelScope() as scope:

        async def cancel() -> None:
            while not started:
                await trio.lowlevel.checkpoint()
            scope.cancel()
            released.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(cancel)
            result = await blocking.run(work, name="work")
            nursery.cancel_scope.cancel()
    assert (result, scope.cancel_called) == ("done", True)


@pytest.mark.parametrize("bound_s", [0.0, -1.0, float("nan")])
def test_a_bound_must_be_positive(bound_s):
    """Work that nobody waits for cannot be asked for."""
    with pytest.raises(ValueError, match="positive"):
        SystemBlocking(bound_s)


# --- network ------------------------------------------------------------------------------------


async def echo(stream: trio.abc.Stream) -> None:
    """Send back what comes until the other side has finished."""
    async for data in stream:
        await stream.send_all(data)


async def test_a_client_talks_to_a_server_over_loopback():
    """What one side sends the other gets, through the port of both."""
    network = SystemNetwork()
    async with trio.open_nursery() as nursery:
        port = await nursery.start(
            lambda task_status: network.serve_tcp(
                echo, host="127.0.0.1", port=0, connections_max=2, task_status=task_status
            )
        )
        client = await network.connect_tcp("127.0.0.1", port, timeout_s=5)
        async with client:
            await client.send_all(b"hello")
            assert await client.receive_some(5) == b"hello"
        nursery.cancel_scope.cancel()


async def test_one_connection_too_many_waits_until_another_ends():
    """A server holds a stated number of connections; further clients wait outside."""
    network = SystemNetwork()
    async with trio.open_nursery() as nursery:
        port = await nursery.start(
            lambda task_status: network.serve_tcp(
                echo, host="127.0.0.1", port=0, connections_max=1, task_status=task_status
            )
        )
        first = await network.connect_tcp("127.0.0.1", port, timeout_s=5)
        await first.send_all(b"1")
        assert await first.receive_some(1) == b"1"
        second = await network.connect_tcp("127.0.0.1", port, timeout_s=5)
        await second.send_all(b"2")
        with trio.move_on_after(0.05) as waited:
            await second.receive_some(1)
        assert waited.cancelled_caught
        await first.aclose()
        assert await second.receive_some(1) == b"2"
        await second.aclose()
        nursery.cancel_scope.cancel()


async def test_a_handler_that_raises_ends_the_server():
    """What a client can cause is the handler's to catch; a bug goes up."""
    network = SystemNetwork()

    async def bad(stream: trio.abc.Stream) -> None:
        raise ZeroDivisionError

    with pytest.RaisesGroup(ZeroDivisionError, flatten_subgroups=True):
        async with trio.open_nursery() as nursery:
            port = await nursery.start(
                lambda task_status: network.serve_tcp(
                    bad, host="127.0.0.1", port=0, connections_max=1, task_status=task_status
                )
            )
            client = await network.connect_tcp("127.0.0.1", port, timeout_s=5)
            async with client:
                await trio.sleep_forever()


@pytest.mark.parametrize(("host", "connections_max"), [("localhost", 1), ("127.0.0.1", 0)])
async def test_a_server_needs_a_numeric_address_and_a_place(host, connections_max):
    """A name may mean several addresses; a server without places would never answer."""
    with pytest.raises(ValueError, match=r"does not appear|at least 1"):
        await SystemNetwork().serve_tcp(echo, host=host, port=0, connections_max=connections_max)


async def test_connecting_to_nobody_is_an_os_error():
    """A closed port answers at once."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    with pytest.raises(OSError, match="all attempts to connect"):
        await SystemNetwork().connect_tcp("127.0.0.1", port, timeout_s=5)
