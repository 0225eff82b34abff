"""Claims about `gridagent.runtime.supervisor`."""

from __future__ import annotations

import itertools
import math
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from random import Random

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import LimitExceeded, OperatorError, ResourceBusy, ResourceClosed
from gridagent.runtime.cancel_points import CancelPoint, cancel_at_every_checkpoint
from gridagent.runtime.deterministic import ScheduleTrace, SimulatedClock, schedule_seed
from gridagent.runtime.restart import Backoff, ChildState, RestartClass, RestartIntensity
from gridagent.runtime.supervisor import (
    CHILDREN_MAX,
    ChildExit,
    ChildSpec,
    EscalationError,
    Supervisor,
    open_supervisor,
)

Run = Callable[[], Awaitable[object]]


def supervising(
    exits: list[ChildExit],
    *,
    most: int = 3,
    window_s: float = 30.0,
    on_exit: Callable[[ChildExit], None] | None = None,
) -> AbstractAsyncContextManager[Supervisor]:
    """Open a supervisor whose reports go to ``exits``."""
    return open_supervisor(
        RestartIntensity(max_restarts=most, window_s=window_s),
        clock=SimulatedClock(),
        rng=Random(1),
        backoff=Backoff(1.0, 8.0, 60.0),
        on_exit=on_exit or exits.append,
        name="s",
    )


def child(
    name: str,
    run: Run,
    restart: RestartClass = RestartClass.TRANSIENT,
    *,
    shutdown_s: float = 5.0,
    ask: Callable[[], None] | None = None,
    intensity: RestartIntensity | None = None,
) -> ChildSpec:
    """Describe a child in one line."""
    return ChildSpec(name=name, run=run, restart=restart, shutdown_s=shutdown_s, ask=ask, intensity=intensity)


async def fail() -> None:
    """Fail after one second."""
    await trio.sleep(1)
    raise ZeroDivisionError


async def finish() -> None:
    """Return after one second."""
    await trio.sleep(1)


async def until_resting(supervisor: Supervisor, name: str) -> None:
    """Wait until the child that fails after one second waits to run again."""
    await trio.sleep(1)
    await trio.testing.wait_all_tasks_blocked()
    assert supervisor.state(name) is ChildState.BACKOFF


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Have Ctrl-C raise: a shell lets what it starts in the background ignore it, these tests included."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def told(exits: list[ChildExit]) -> list[tuple[str, str, str]]:
    """Reduce reports to name, reason and state."""
    return [(row.name, row.reason.value, row.state.value) for row in exits]


# --- restarting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("restart", "run", "runs"),
    [
        (RestartClass.PERMANENT, fail, 4),
        (RestartClass.PERMANENT, finish, 4),
        (RestartClass.TRANSIENT, fail, 4),
        (RestartClass.TRANSIENT, finish, 1),
        (RestartClass.TEMPORARY, fail, 1),
        (RestartClass.TEMPORARY, finish, 1),
    ],
)
async def test_the_class_and_the_intensity_decide_how_often_a_child_runs(autojump_clock, restart, run, runs):
    """A child runs again by its class, and escalates beyond three restarts in the window. Spec: SUP-7."""
    exits: list[ChildExit] = []
    escalated = None
    try:
        async with supervising(exits) as supervisor:
            supervisor.start(child("a", run, restart))
            await supervisor.wait_empty()
    except EscalationError as error:
        escalated = error
    assert len(exits) == runs
    assert (escalated is not None) is (runs == 4)
    assert exits[-1].state is (ChildState.ESCALATED if runs == 4 else ChildState.FINISHED)
    assert all((row.error is not None) is (run is fail) for row in exits)


async def test_failures_far_apart_never_escalate(autojump_clock):
    """The window slides: a child may fail for ever if it does so seldom. Spec: SUP-7."""
    exits: list[ChildExit] = []

    async def seldom() -> None:
        await trio.sleep(40)
        raise ZeroDivisionError

    async with supervising(exits, most=1) as supervisor:
        supervisor.start(child("a", seldom))
        await trio.sleep(1_000)
        assert supervisor.statistics().restarts > 10
    assert exits[-1].state is ChildState.STOPPED


async def test_waits_between_runs_grow_and_are_reported(autojump_clock):
    """Each report says when the child runs again, within its growing ceiling. Spec: SUP-6, SUP-7."""
    exits: list[ChildExit] = []
    began: list[float] = []

    async def run() -> None:
        began.append(trio.current_time())
        await fail()

    with pytest.raises(EscalationError):
        async with supervising(exits) as supervisor:
            supervisor.start(child("a", run))
            await trio.sleep_forever()
    waits = [row.restart_in_s for row in exits]
    assert waits[-1] is None
    for wait, ceiling, before, after in zip(waits, [1.0, 2.0, 4.0], began, began[1:], strict=False):
        assert wait is not None
        assert wait <= ceiling
        assert after - before == pytest.approx(1.0 + wait)
    assert [row.ran_s for row in exits] == pytest.approx([1.0] * 4)


async def test_waits_start_small_again_after_a_healthy_run(autojump_clock):
    """A run as long as ``healthy_after_s`` forgets the failures before it. Spec: SUP-6, SUP-7."""
    exits: list[ChildExit] = []
    lives = iter([1.0] * 5 + [60.0] + [1.0])
    ceilings = iter([1.0, 2.0, 4.0, 8.0, 8.0, 1.0, 2.0])

    class Top(Random):
        """Draws the ceiling itself."""

        def uniform(self, a: float, b: float) -> float:
            return b

    async def run() -> None:
        await trio.sleep(next(lives, 60.0))
        raise ZeroDivisionError

    async with open_supervisor(
        RestartIntensity(max_restarts=100, window_s=30.0),
        clock=SimulatedClock(),
        rng=Top(),
        backoff=Backoff(1.0, 8.0, 60.0),
        on_exit=exits.append,
    ) as supervisor:
        supervisor.start(child("a", run))
        await trio.sleep(150)
    assert [row.restart_in_s for row in exits[:7]] == list(ceilings)


async def test_a_child_that_fails_without_a_checkpoint_does_not_stop_the_others(autojump_clock):
    """One bad child takes neither the loop nor its neighbours. Spec: SUP-7."""
    exits: list[ChildExit] = []

    async def at_once() -> None:
        raise ZeroDivisionError

    async with supervising(exits) as supervisor:
        supervisor.start(child("good", trio.sleep_forever))
        supervisor.start(child("bad", at_once, RestartClass.TEMPORARY))
        await trio.testing.wait_all_tasks_blocked()
        assert supervisor.state("good") is ChildState.RUNNING
        assert supervisor.state("bad") is None
    assert told(exits) == [("bad", "failed", "finished"), ("good", "cancelled", "stopped")]


async def test_a_childs_own_intensity_wins(autojump_clock):
    """A child may be allowed fewer restarts than its neighbours. Spec: SUP-7."""
    exits: list[ChildExit] = []
    with pytest.raises(EscalationError) as caught:
        async with supervising(exits) as supervisor:
            supervisor.start(child("a", fail, intensity=RestartIntensity(max_restarts=0, window_s=5)))
            await trio.sleep_forever()
    assert len(exits) == 1
    assert str(caught.value) == "s: a needed more than 0 restarts in 5 s"
    assert caught.value.code == "escalated"


# --- escalating ---------------------------------------------------------------------------------


async def test_escalation_stops_the_others_in_reverse_start_order_and_carries_the_cause(autojump_clock):
    """The failure goes up with its cause once every other child was stopped, newest first. Spec: SUP-2, SUP-7."""
    exits: list[ChildExit] = []
    with pytest.raises(EscalationError) as caught:
        async with supervising(exits, most=0) as supervisor:
            for name in ("first", "second"):
                supervisor.start(child(name, trio.sleep_forever))
            supervisor.start(child("bad", fail))
            supervisor.start(child("third", trio.sleep_forever))
            await trio.sleep_forever()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert (caught.value.supervisor, caught.value.child) == ("s", "bad")
    assert told(exits) == [
        ("bad", "failed", "escalated"),
        ("third", "cancelled", "stopped"),
        ("second", "cancelled", "stopped"),
        ("first", "cancelled", "stopped"),
    ]


async def test_only_the_first_escalation_counts(autojump_clock):
    """While the supervisor goes down, further failures are reported and nothing restarts. Spec: SUP-7."""
    exits: list[ChildExit] = []

    async def fails_when_cancelled() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise KeyError("clean-up")

    with pytest.raises(EscalationError):
        async with supervising(exits, most=0) as supervisor:
            supervisor.start(child("slow", fails_when_cancelled))
            supervisor.start(child("bad", fail))
            supervisor.start(child("worse", fail))
            with pytest.raises(trio.Cancelled):
                await trio.sleep_forever()
            with pytest.raises(ResourceClosed):
                supervisor.start(child("late", finish))
            await trio.lowlevel.checkpoint()
    assert sorted(told(exits)) == [
        ("bad", "failed", "escalated"),
        ("slow", "failed", "stopped"),
        ("worse", "failed", "finished"),
    ] or sorted(told(exits)) == [
        ("bad", "failed", "finished"),
        ("slow", "failed", "stopped"),
        ("worse", "failed", "escalated"),
    ]


async def test_an_escalation_and_a_failing_block_both_come_out(autojump_clock):
    """Neither error hides the other."""
    with pytest.RaisesGroup(EscalationError, KeyError):
        async with supervising([], most=0) as supervisor:
            supervisor.start(child("bad", fail))
            try:
                await trio.sleep_forever()
            finally:
                raise KeyError


async def test_an_escalation_under_an_outer_cancellation_is_not_lost(autojump_clock):
    """A time-out outside does not hide that a child failed too often at the same moment."""
    exits: list[ChildExit] = []
    with pytest.RaisesGroup(EscalationError), trio.CancelScope() as outer:
        async with supervising(exits, most=0, on_exit=lambda _: outer.cancel()) as supervisor:
            supervisor.start(child("bad", fail))
            await trio.sleep_forever()
    assert outer.cancelled_caught


# --- stopping -----------------------------------------------------------------------------------


async def test_a_child_that_is_asked_ends_by_itself(autojump_clock):
    """Stop asks first, and a child that ends in time is not cancelled. Spec: SUP-2, SUP-3."""
    exits: list[ChildExit] = []
    signal_ = trio.Event()

    async def polite() -> None:
        await signal_.wait()
        await trio.sleep(3)

    async with supervising(exits) as supervisor:
        supervisor.start(child("a", polite, RestartClass.PERMANENT, ask=signal_.set))
        await trio.sleep(1)
        await supervisor.stop("a")
        assert trio.current_time() == pytest.approx(4.0)
        assert told(exits) == [("a", "stopped", "stopped")]
        assert supervisor.statistics().stopped == 1


async def test_a_child_that_does_not_listen_is_cancelled_after_its_shutdown_time(autojump_clock):
    """The wait is bounded, and stop returns only when the child is gone. Spec: SUP-3."""
    exits: list[ChildExit] = []
    asked: list[float] = []

    async def deaf() -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + 2):
                await trio.sleep(1)

    async with supervising(exits) as supervisor:
        supervisor.start(child("a", deaf, ask=lambda: asked.append(trio.current_time()), shutdown_s=5))
        await trio.sleep(1)
        await supervisor.stop("a")
        assert trio.current_time() == pytest.approx(7.0)
    assert asked == [1.0]
    assert told(exits) == [("a", "cancelled", "stopped")]


async def test_a_child_that_waits_to_run_again_is_stopped_at_once(autojump_clock):
    """Stopping in the middle of a back-off asks nobody and starts nothing. Spec: SUP-2."""
    exits: list[ChildExit] = []
    async with supervising(exits) as supervisor:
        supervisor.start(child("a", fail, ask=lambda: pytest.fail("nothing runs")))
        await until_resting(supervisor, "a")
        before = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.stop, "a")
            nursery.start_soon(supervisor.stop, "a")
        assert trio.current_time() == before
    assert told(exits) == [("a", "failed", "backoff"), ("a", "stopped", "stopped")]


async def test_a_child_stopped_before_it_ran_never_runs():
    """No half-started work: start and stop in one step run nothing."""
    exits: list[ChildExit] = []
    ran: list[int] = []

    async def run() -> None:
        ran.append(1)

    async with supervising(exits) as supervisor:
        supervisor.start(child("a", run))
        await supervisor.stop("a")
    assert (ran, told(exits)) == ([], [("a", "cancelled", "stopped")])


async def test_a_child_that_fails_while_stopping_is_reported_and_stays_stopped(autojump_clock):
    """A failure in clean-up is a report, never a restart. Spec: SUP-7."""
    exits: list[ChildExit] = []

    async def bad_end() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            try:
                await trio.sleep_forever()
            finally:
                raise KeyError("clean-up")

    async with supervising(exits) as supervisor:
        supervisor.start(child("a", bad_end, RestartClass.PERMANENT))
        await trio.sleep(1)
        await supervisor.stop("a")
    assert told(exits) == [("a", "failed", "stopped")]
    assert isinstance(exits[0].error, ExceptionGroup)


async def test_a_failing_ask_is_reported_and_the_child_cancelled_at_once(autojump_clock):
    """What cannot be asked is not waited for."""
    exits: list[ChildExit] = []

    def ask() -> None:
        raise KeyError("ask")

    async with supervising(exits) as supervisor:
        supervisor.start(child("a", trio.sleep_forever, ask=ask))
        await trio.sleep(1)
        await supervisor.stop("a")
        assert trio.current_time() == 1.0
    assert isinstance(exits[0].error, KeyError)


async def test_two_stops_ask_once_and_both_see_the_end(autojump_clock):
    """A second stop joins the first."""
    exits: list[ChildExit] = []
    asked: list[int] = []

    async with supervising(exits) as supervisor:
        supervisor.start(child("a", trio.sleep_forever, ask=lambda: asked.append(1), shutdown_s=5))
        await trio.sleep(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.stop, "a")
            nursery.start_soon(supervisor.stop, "a")
        assert supervisor.state("a") is None
    assert (asked, len(exits)) == ([1], 1)


async def test_a_cancelled_stop_can_be_called_again(autojump_clock):
    """A stop that was cancelled leaves a child that never runs again. Spec: SUP-3."""
    exits: list[ChildExit] = []
    asked: list[int] = []
    async with supervising(exits) as supervisor:
        supervisor.start(child("a", trio.sleep_forever, RestartClass.PERMANENT, ask=lambda: asked.append(1)))
        await trio.sleep(1)
        with trio.move_on_after(2) as scope:
            await supervisor.stop("a")
        assert scope.cancelled_caught
        assert supervisor.state("a") is ChildState.STOPPING
        await supervisor.stop("a")
        assert trio.current_time() == pytest.approx(8.0)
    assert (asked, told(exits)) == ([1], [("a", "cancelled", "stopped")])


async def test_a_name_is_free_when_its_child_is_gone(autojump_clock):
    """The report may start the successor under the same name; two living children cannot share one."""
    exits: list[ChildExit] = []

    def replace(row: ChildExit) -> None:
        exits.append(row)
        if len(exits) == 1:
            supervisor.start(child("a", trio.sleep_forever))

    async with supervising(exits, on_exit=replace) as supervisor:
        supervisor.start(child("a", finish))
        with pytest.raises(ResourceBusy):
            supervisor.start(child("a", finish))
        await trio.sleep(5)
        assert supervisor.state("a") is ChildState.RUNNING
        await supervisor.stop("a")
        with pytest.raises(OperatorError):
            await supervisor.stop("a")
    assert supervisor.statistics().started == 2


async def test_a_child_may_stop_itself():
    """A child that stops itself is cancelled instead of waiting for itself."""
    exits: list[ChildExit] = []

    async def suicidal() -> None:
        await supervisor.stop("a")

    async with supervising(exits) as supervisor:
        supervisor.start(child("a", suicidal))
        await supervisor.wait_empty()
    assert told(exits) == [("a", "cancelled", "stopped")]


# --- leaving the block --------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["normal", "error", "group", "cancelled"])
async def test_every_way_out_stops_all_children_in_reverse_order(autojump_clock, way):
    """Leaving the block, an error in it and an outer cancellation end the same way. Spec: SUP-2, SUP-3, BND-4.

    What the block raised comes out as it was.
    """
    exits: list[ChildExit] = []
    asked: list[str] = []

    async def work() -> None:
        async with supervising(exits) as supervisor:
            for name in ("first", "second", "third"):
                supervisor.start(
                    child(name, trio.sleep_forever, ask=lambda name=name: asked.append(name), shutdown_s=2)
                )
            await trio.sleep(1)
            if way == "error":
                raise KeyError("block")
            if way == "group":
                raise ExceptionGroup("block", [KeyError("block")])
            if way == "cancelled":
                await trio.sleep_forever()

    with trio.move_on_after(4) as scope:
        if way == "error":
            with pytest.raises(KeyError, match="block"):
                await work()
        elif way == "group":
            with pytest.RaisesGroup(KeyError):
                await work()
        else:
            await work()
    assert scope.cancelled_caught is (way == "cancelled")
    assert asked == ["third", "second", "first"]
    assert told(exits) == [(name, "cancelled", "stopped") for name in asked]
    assert trio.current_time() == pytest.approx(10.0 if way == "cancelled" else 7.0)


async def test_a_child_that_fails_while_others_stop_is_not_restarted(autojump_clock):
    """Once the block is left nothing starts again. Spec: SUP-2."""
    exits: list[ChildExit] = []
    async with supervising(exits) as supervisor:
        supervisor.start(child("fails", fail, RestartClass.PERMANENT))
        supervisor.start(child("deaf", trio.sleep_forever, ask=lambda: None, shutdown_s=5))
    assert told(exits) == [("fails", "failed", "finished"), ("deaf", "cancelled", "stopped")]
    with pytest.raises(ResourceClosed):
        supervisor.start(child("late", finish))


async def test_what_is_no_failure_goes_up_and_takes_all_children_along(autojump_clock):
    """`KeyboardInterrupt` and the like are never restarted. Spec: SUP-7."""
    exits: list[ChildExit] = []

    async def interrupted() -> None:
        await trio.sleep(1)
        raise KeyboardInterrupt

    with pytest.RaisesGroup(KeyboardInterrupt):
        async with supervising(exits) as supervisor:
            supervisor.start(child("a", trio.sleep_forever))
            supervisor.start(child("b", interrupted, RestartClass.PERMANENT))
            await trio.sleep_forever()
    assert told(exits) == [("b", "interrupted", "finished"), ("a", "cancelled", "stopped")]


async def test_an_interruption_while_stopping_ends_that_child_as_stopped(autojump_clock):
    """A child may be interrupted in its clean-up; it goes up all the same."""
    exits: list[ChildExit] = []

    async def interrupted() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise KeyboardInterrupt

    with pytest.RaisesGroup(KeyboardInterrupt):
        async with supervising(exits) as supervisor:
            supervisor.start(child("a", interrupted))
            await trio.sleep(1)
    assert told(exits) == [("a", "interrupted", "stopped")]


def test_an_interrupt_during_the_stop_ends_every_child_at_once(interruptible):
    """Ctrl-C while children are being asked cancels them all instead of waiting or hanging. Spec: SUP-2, BND-4."""
    exits: list[ChildExit] = []

    async def main() -> None:
        async with supervising(exits) as supervisor:
            supervisor.start(child("running", trio.sleep_forever))
            supervisor.start(child("resting", fail, RestartClass.PERMANENT))
            supervisor.start(child("asked", trio.sleep_forever, ask=lambda: signal.raise_signal(signal.SIGINT)))
            await until_resting(supervisor, "resting")

    with pytest.raises(KeyboardInterrupt):
        trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert sorted(told(exits[1:])) == [
        ("asked", "cancelled", "stopped"),
        ("resting", "stopped", "stopped"),
        ("running", "cancelled", "stopped"),
    ]


@pytest.mark.parametrize("run", [fail, finish])
async def test_a_report_that_raises_stops_the_supervisor(autojump_clock, run):
    """A bug in the report is not swallowed, and still nothing outlives the block."""
    reports: list[str] = []

    def report(row: ChildExit) -> None:
        reports.append(row.name)
        if row.name == "a":
            raise KeyError("report")

    with pytest.RaisesGroup(KeyError):
        async with supervising([], on_exit=report) as supervisor:
            supervisor.start(child("b", trio.sleep_forever))
            supervisor.start(child("a", run))
            await trio.sleep_forever()
    assert reports == ["a", "b"]


# --- bounds and statistics ----------------------------------------------------------------------


async def test_the_number_of_living_children_is_bounded():
    """One supervisor holds at most 1,024 children. Spec: BND-4."""
    async with supervising([]) as supervisor:
        for number in range(CHILDREN_MAX):
            supervisor.start(child(str(number), trio.sleep_forever))
        with pytest.raises(LimitExceeded):
            supervisor.start(child("more", trio.sleep_forever))
        assert repr(supervisor) == "<Supervisor s: 1024 children>"
    assert supervisor.statistics().stopped == CHILDREN_MAX


@pytest.mark.parametrize(("name", "shutdown_s"), [("", 1.0), ("a", -1.0), ("a", math.inf), ("a", math.nan)])
def test_an_impossible_child_is_refused(name, shutdown_s):
    """A child has a name, and its stop has an end."""
    with pytest.raises(ValueError, match=r"child has a name|shutdown_s"):
        child(name, finish, shutdown_s=shutdown_s)


async def test_statistics_tell_children_in_start_order(autojump_clock):
    """What an operator sees: who lives in which state, and what happened so far."""
    exits: list[ChildExit] = []
    async with supervising(exits) as supervisor:
        supervisor.start(child("b", trio.sleep_forever))
        supervisor.start(child("a", fail))
        await until_resting(supervisor, "a")
        stats = supervisor.statistics()
    assert stats.children == (("b", ChildState.RUNNING), ("a", ChildState.BACKOFF))
    assert (stats.name, stats.started, stats.restarts, stats.failures, stats.escalated) == ("s", 2, 1, 1, False)


# --- cancellation and schedules -----------------------------------------------------------------


def test_a_supervisor_cancelled_anywhere_leaves_no_task_and_reports_every_end():
    """At whichever checkpoint the block is cancelled, no task is left when it is over. Spec: SUP-2, BND-4.

    Every child that was started has exactly one last report.
    """

    async def scenario(point: CancelPoint) -> None:
        exits: list[ChildExit] = []
        alive = 0
        supervisors: list[Supervisor] = []

        async def run() -> None:
            nonlocal alive
            alive += 1
            try:
                await fail()
            finally:
                alive -= 1

        async def block() -> None:
            async with supervising(exits) as supervisor:
                supervisors.append(supervisor)
                supervisor.start(child("a", run))
                supervisor.start(child("b", run, RestartClass.PERMANENT, ask=lambda: None))
                await trio.sleep(1.5)
                await supervisor.stop("a")
                await trio.sleep(1)

        await point.guard(block)
        assert alive == 0
        for supervisor in supervisors:
            stats = supervisor.statistics()
            assert stats.children == ()
            ends = [row.name for row in exits if row.restart_in_s is None]
            assert sorted(ends) == ["a", "b"][: stats.started]

    assert cancel_at_every_checkpoint(scenario) > 4


def test_a_stop_cancelled_anywhere_leaves_a_child_that_never_runs_again():
    """`Supervisor.stop` may be cancelled at each checkpoint and be called again. Spec: SUP-3."""
    again: list[int] = []

    async def scenario(point: CancelPoint) -> None:
        exits: list[ChildExit] = []
        runs = 0

        async def run() -> None:
            nonlocal runs
            runs += 1
            await trio.sleep_forever()

        async with supervising(exits) as supervisor:
            supervisor.start(child("a", run, RestartClass.PERMANENT, ask=lambda: None))
            await trio.sleep(1)
            await point.guard(supervisor.stop, "a")
            state = supervisor.state("a")
            assert state is None or (point.cancelled and state is ChildState.STOPPING)
            await trio.sleep(100)
            if state is not None:
                await supervisor.stop("a")
                again.append(point.number)
        assert (runs, told(exits)) == (1, [("a", "cancelled", "stopped")])

    assert cancel_at_every_checkpoint(scenario) == 3
    assert again == [0, 1]


class _Family:
    """Children with drawn lives under one supervisor, some of them stopped in the middle."""

    def __init__(self, plans: list, stops: list, most: int) -> None:
        self.plans = plans
        self.stops = stops
        self.most = most
        self.exits: list[ChildExit] = []
        self.restarts: dict[str, list[float]] = {}
        self.alive: set[str] = set()
        self.escalated = False
        self.started = 0

    def report(self, row: ChildExit) -> None:
        self.exits.append(row)
        if row.restart_in_s is not None:
            moments = self.restarts.setdefault(row.name, [])
            moments.append(trio.current_time())
            assert len([moment for moment in moments if moments[-1] - moment < 10.0]) <= self.most

    def spec(self, name: str) -> ChildSpec:
        restart, lives, asks = self.plans[int(name)]
        turns = itertools.cycle(lives)
        asked = trio.Event()

        async def run() -> None:
            life, fails = next(turns)
            assert name not in self.alive
            self.alive.add(name)
            try:
                with trio.move_on_after(life):
                    await asked.wait()
            finally:
                self.alive.discard(name)
            if fails:
                raise ZeroDivisionError

        return child(name, run, restart, shutdown_s=1, ask=asked.set if asks else None)

    async def live(self) -> None:
        async with supervising([], most=self.most, window_s=10.0, on_exit=self.report) as supervisor:
            for number in range(len(self.plans)):
                supervisor.start(self.spec(str(number)))
                self.started += 1
            for gap, number in self.stops:
                await trio.sleep(gap)
                if supervisor.state(str(number)) is not None:
                    await supervisor.stop(str(number))
                    assert str(number) not in self.alive

    async def run(self) -> None:
        try:
            await self.live()
        except EscalationError:
            self.escalated = True
        assert self.alive == set()


def test_under_any_schedule_restarts_stay_within_the_intensity_and_nothing_survives():
    """No window holds more restarts than allowed and no task outlives the block. Spec: SUP-2, SUP-7, BND-4.

    For any mix of children, lives, stops and schedules every start has exactly one last report, and a
    name has one running task at a time.
    """
    schedules: set[str] = set()
    escalations: list[bool] = []
    lives = st.lists(st.tuples(st.floats(0.1, 8), st.booleans()), min_size=1, max_size=4)

    @given(
        plans=st.lists(st.tuples(st.sampled_from(RestartClass), lives, st.booleans()), min_size=1, max_size=4),
        stops=st.lists(st.tuples(st.floats(0, 5), st.integers(0, 3)), max_size=4),
        most=st.integers(0, 3),
        seed=st.integers(0, 2**32),
    )
    def explore(plans: list, stops: list, most: int, seed: int) -> None:
        family = _Family(plans, stops, most)
        trace = ScheduleTrace()
        with schedule_seed(seed):
            trio.run(family.run, clock=trio.testing.MockClock(autojump_threshold=0), instruments=[trace])
        schedules.add(trace.digest)
        escalations.append(family.escalated)
        ends = sorted(row.name for row in family.exits if row.restart_in_s is None)
        assert ends == [str(number) for number in range(family.started)]

    explore()
    assert len(schedules) > 1
    assert set(escalations) == {True, False}
