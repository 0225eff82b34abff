"""Claims about one connection."""

import pytest
import trio

from gridagent.errors import ResourceClosed
from gridagent.events import AlertShown, DisconnectCause, TransportUp
from gridagent.grid.puppet import PUPPET_ID, Puppet, ready_event
from gridagent.runtime.channels import Overflow, open_channel
from gridagent.runtime.generation import GenerationFence
from gridagent.session.connection import Connection, GenerationSink

UP = TransportUp(avatar_id=PUPPET_ID, name="Robin")


class Wire:
    """A connection over a puppet, with its fence and lane in the test's hand."""

    def __init__(self, limit=8):
        self.fence = GenerationFence()
        self.generation = self.fence.open()
        self.tx, self.rx = open_channel(limit, overflow=Overflow.WAIT, name="events")
        self.sink = GenerationSink(self.generation, self.tx)
        self.puppet = Puppet()
        self.backend = self.puppet(generation=1, redeem=None)
        self.errors = []
        self.ends = []
        self.connection = Connection(
            generation=self.generation,
            backend=self.backend,
            sink=self.sink,
            logout_timeout_s=5.0,
            log_error=lambda code, error: self.errors.append(code),
        )

    async def run(self):
        await self.connection.run(self.ends.append)


@pytest.mark.parametrize("event", [UP, ready_event()])
async def test_a_login_cut_off_while_it_is_told_is_still_logged_in(event):
    """Spec: SUP-9 — the sink notes the login before it waits for room, so that it is undone in any case."""
    wire = Wire(limit=1)
    await wire.sink.send(AlertShown(text="fills the lane"))
    with trio.move_on_after(0):
        await wire.sink.send(event)
    assert wire.sink.logged_in


async def test_the_sink_of_an_ended_generation_takes_nothing():
    """Spec: SUP-5 — after the fence fell, nothing is put, and the backend is told to end."""
    wire = Wire()
    wire.fence.invalidate()
    with pytest.raises(ResourceClosed, match="generation 1 is over"):
        await wire.sink.send(AlertShown(text="late"))
    with pytest.raises(ResourceClosed):
        await wire.sink.send_many([AlertShown(text="late")])
    assert wire.rx.statistics().used == 0


async def test_a_backend_told_that_it_is_over_is_no_fault():
    """A backend that ends because its sink closed did what it should."""
    wire = Wire()

    async def run(sink):
        wire.fence._current = None  # the fence fell, and no cancellation has arrived yet
        await sink.send(AlertShown(text="late"))

    wire.backend.run = run
    await wire.run()
    assert wire.ends[0].cause is DisconnectCause.REQUESTED
    assert wire.errors == []


async def test_a_sink_that_breaks_under_a_live_backend_is_a_fault():
    """The same error while the generation lives is our own fault, and is logged."""
    wire = Wire()
    wire.tx.close()
    await wire.run()
    assert wire.ends[0].cause is DisconnectCause.BACKEND_FAULT
    assert wire.errors == ["backend_fault"]
    assert wire.ends[0].logged_out
    assert wire.backend.logouts == 1


async def test_an_orderly_end_of_the_grid_is_told_as_such(autojump_clock):
    """A backend that returns was closed by the grid."""
    wire = Wire()
    wire.backend.end()
    await wire.run()
    assert wire.ends[0].cause is DisconnectCause.GRID_CLOSED
    assert wire.ends[0].logged_out


async def test_workers_die_with_the_backend(autojump_clock):
    """Spec: BND-4 — when the backend ends, its workers are cancelled and joined before anything is reported."""
    wire = Wire()
    gone = []

    async def work():
        try:
            await trio.sleep_forever()
        finally:
            gone.append(not wire.ends)

    assert not wire.connection.start(work, "too early")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wire.run)
        await trio.testing.wait_all_tasks_blocked()
        assert wire.connection.start(work, "worker")
        await trio.testing.wait_all_tasks_blocked()
        wire.backend.end(DisconnectCause.KICKED)
    assert gone == [True]
    assert not wire.connection.start(work, "too late")
    assert [end.cause for end in wire.ends] == [DisconnectCause.KICKED]


async def test_the_end_is_reported_also_when_it_is_cancelled_from_outside(autojump_clock):
    """Spec: SUP-2 — logout first, then the report, then the cancellation goes on."""
    wire = Wire()
    wire.puppet.logout_takes_s = 2.0
    with trio.move_on_after(1) as scope:
        await wire.run()
    assert scope.cancelled_caught
    assert trio.current_time() == pytest.approx(trio.current_time())
    assert wire.backend.logouts == 1
    assert [end.logged_out for end in wire.ends] == [True]
