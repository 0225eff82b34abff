"""Claims every set of ports keeps: the real and the simulated one are held to the same contract."""

from __future__ import annotations

import re
from collections.abc import Callable

import attrs
import pytest
import trio
import trio.testing

from gridagent.errors import LimitExceeded
from gridagent.ids import is_canonical_uuid
from gridagent.runtime.deterministic import simulated_ports
from gridagent.runtime.ports import STREAMS_MAX, TOKEN_BYTES_MAX, TOKEN_BYTES_MIN, Ports
from gridagent.runtime.system import system_ports


@pytest.fixture(params=["system", "simulated"])
def ports(request: pytest.FixtureRequest) -> Ports:
    """Give each set of ports in turn."""
    makers: dict[str, Callable[[], Ports]] = {"system": system_ports, "simulated": lambda: simulated_ports(7)}
    return makers[request.param]()


async def test_the_monotonic_clock_is_the_trio_clock(autojump_clock, ports):
    """Deadlines and `trio.sleep` agree with it. Spec: SIM-2."""
    before = ports.clock.monotonic()
    assert before == trio.current_time()
    await trio.sleep(5)
    assert ports.clock.monotonic() - before == pytest.approx(5)


async def test_the_wall_clock_tells_a_date_of_our_time(ports):
    """Unix seconds, not milliseconds and not an uptime."""
    assert 1_700_000_000 < ports.clock.wall() < 4_100_000_000


def test_streams_are_independent_and_advance(ports):
    """The same name is the same stream; a draw from one changes no other. Spec: SIM-2."""
    stream = ports.randomness.stream("a")
    assert ports.randomness.stream("a") is stream
    assert ports.randomness.stream("b") is not stream
    state = ports.randomness.stream("b").getstate()
    assert stream.random() != stream.random()
    assert ports.randomness.stream("b").getstate() == state


def test_the_number_of_streams_is_bounded(ports):
    """A name made from a request would be a leak; it becomes an error."""
    with pytest.raises(LimitExceeded):
        for number in range(STREAMS_MAX + 1):
            ports.randomness.stream(str(number))


def test_uuids_are_canonical_version_4_and_differ(ports):
    """Every id has the one printed form the vocabulary knows."""
    ids = [ports.ids.uuid() for _ in range(200)]
    assert len(set(ids)) == 200
    assert all(is_canonical_uuid(text) and text[14] == "4" and text[19] in "89ab" for text in ids)


@pytest.mark.parametrize("size", [TOKEN_BYTES_MIN, 24, TOKEN_BYTES_MAX])
def test_tokens_are_hex_of_the_size_asked_for(ports, size):
    """A token survives headers, paths and file names."""
    tokens = {ports.ids.token(size) for _ in range(50)}
    assert len(tokens) == 50
    assert all(re.fullmatch(rf"[0-9a-f]{{{2 * size}}}", token) for token in tokens)


@pytest.mark.parametrize("size", [0, TOKEN_BYTES_MIN - 1, TOKEN_BYTES_MAX + 1])
def test_tokens_that_could_be_guessed_are_refused(ports, size):
    """Nobody can ask for a short secret."""
    with pytest.raises(ValueError, match="a token has"):
        ports.ids.token(size)


async def test_blocking_work_returns_what_it_returns(ports):
    """Arguments go in, the result comes out."""
    assert await ports.blocking.run(divmod, 7, 2, name="divide") == (3, 1)


async def test_blocking_work_raises_what_it_raises(ports):
    """An error of the work is the caller's, and the next call runs."""
    with pytest.raises(ZeroDivisionError):
        await ports.blocking.run(divmod, 1, 0, name="divide")
    assert await ports.blocking.run(divmod, 1, 1, name="divide") == (1, 0)


async def test_blocking_work_runs_one_at_a_time_in_the_order_of_asking(ports):
    """Transactions never overlap and never overtake each other."""
    log: list[tuple[str, int]] = []
    asked: list[int] = []

    def work(number: int) -> None:
        log.append(("begin", number))
        log.append(("end", number))

    async def ask() -> None:
        number = len(asked)
        asked.append(number)
        await ports.blocking.run(work, number, name="work")

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(ask)
    assert log == [(verb, number) for number in range(5) for verb in ("begin", "end")]


async def test_a_call_cancelled_before_its_turn_never_runs(ports):
    """Waiting for the turn is safe to cancel."""
    ran: list[int] = []
    with trio.CancelScope() as scope:
        scope.cancel()
        await ports.blocking.run(ran.append, 1, name="append")
    assert scope.cancelled_caught
    assert ran == []


async def test_a_call_cancelled_after_it_started_returns_its_result(ports):
    """What happened is known: the result is returned although the scope is cancelled."""
    results: list[str] = []

    class Cancel(trio.abc.Instrument):
        steps = 0

        def after_task_step(self, task: trio.lowlevel.Task) -> None:
            # The first step takes the turn; the second one waits for the work.
            self.steps += task is me
            if self.steps == 2:
                scope.cancel()

    me = trio.lowlevel.current_task()
    with trio.CancelScope() as scope:
        trio.lowlevel.add_instrument(instrument := Cancel())
        results.append(await ports.blocking.run(str, "done", name="work"))
        trio.lowlevel.remove_instrument(instrument)
    assert results == ["done"]
    assert scope.cancel_called
    assert not scope.cancelled_caught


def test_a_set_of_ports_cannot_be_changed(ports):
    """The composition root chooses once."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        ports.clock = ports.clock
