"""Claims about errands: places, waiting, time, giving up, and one end each."""

import pytest
import trio

from gridagent.errors import OperatorError
from gridagent.mind import Errand, ErrandFailed
from gridagent.runtime.generation import GenerationFence
from gridagent.session.effects import RunErrand
from gridagent.session.errands import WAITING_MAX, Errands


class Line:
    """A connection that starts what it is given in a nursery of the test's."""

    backend = "the backend"

    def __init__(self, generation, nursery):
        self.generation = generation
        self.nursery = nursery

    def start(self, work, name):
        if self.nursery is None:
            return False
        self.nursery.start_soon(work, name=name)
        return True


class Slow:
    """Answers after as many seconds as it is asked for, or raises what it is given."""

    def __init__(self):
        self.asked = []

    async def perform(self, what, backend):
        self.asked.append((what, backend))
        if isinstance(what, Exception):
            await trio.lowlevel.checkpoint()
            raise what
        await trio.sleep(what)
        return f"after {what}"


class Bench:
    """Errands over a slow faculty."""

    def __init__(self, limit=2):
        self.generation = GenerationFence().open()
        self.slow, self.ends, self.errors = Slow(), [], []
        self.errands = Errands(
            limit=limit,
            name="e",
            faculties=self.slow,
            report=self.ends.append,
            log_error=lambda code, error: self.errors.append(code),
        )

    def run(self, number, what, timeout_s=60.0):
        errand = Errand(errand_id=f"e{number}", what=what, timeout_s=timeout_s)
        return RunErrand(generation=self.generation, number=number, errand=errand)

    def start_all(self, line):
        while self.errands.startable:
            assert self.errands.start_next(line) is None

    def answers(self):
        return {end.number: end.answer for end in self.ends}


async def test_as_many_are_out_as_there_are_places_until_their_ends_are_read(autojump_clock):
    """Spec: BND-4 — a place is given back when an end was read, so ends that nobody read hold new work back."""
    b = Bench(limit=2)
    async with trio.open_nursery() as nursery:
        for number in range(3):
            assert b.errands.put(b.run(number, 1.0)) is None
        b.start_all(Line(b.generation, nursery))
        assert len(b.errands) == 2
        await trio.sleep(5)
        assert sorted(b.answers()) == [0, 1]
        assert not b.errands.startable
        b.errands.end_was_read()
        b.start_all(Line(b.generation, nursery))
        await trio.sleep(5)
    assert b.answers() == {0: "after 1.0", 1: "after 1.0", 2: "after 1.0"}
    assert b.slow.asked[0] == (1.0, "the backend")


async def test_waiting_counts_into_an_errands_time(autojump_clock):
    """The time-out runs from when it was wanted: one that waited it out ends as late without being asked."""
    b = Bench(limit=1)
    async with trio.open_nursery() as nursery:
        b.errands.put(b.run(0, 3.0))
        b.errands.put(b.run(1, 3.0, timeout_s=4.0))
        b.start_all(Line(b.generation, nursery))
        await trio.sleep(3.5)
        b.errands.end_was_read()
        b.start_all(Line(b.generation, nursery))
        await trio.sleep(1)
        assert b.answers()[1] == ErrandFailed(code="timeout")
        assert trio.current_time() == pytest.approx(4.5)


async def test_whatever_it_raises_one_end_comes_back(autojump_clock):
    """Spec: SUP-10 — an error of ours is handed on typed; anything else is logged and named by a code alone."""
    b = Bench()
    mine = OperatorError("no")
    async with trio.open_nursery() as nursery:
        b.errands.put(b.run(0, mine))
        b.errands.put(b.run(1, KeyError("secret")))
        b.start_all(Line(b.generation, nursery))
    assert b.answers() == {0: ErrandFailed(code="refused", error=mine), 1: ErrandFailed(code="broke")}
    assert b.errors == ["errand_failed"]


async def test_one_that_is_given_up_is_cancelled_or_never_begun(autojump_clock):
    """One that is out is cancelled and still gives its place back; one that waits is forgotten; others go on."""
    b = Bench(limit=1)
    async with trio.open_nursery() as nursery:
        for number in range(3):
            b.errands.put(b.run(number, 100.0 if number == 0 else 1.0))
        b.start_all(Line(b.generation, nursery))
        await trio.sleep(1)
        b.errands.give_up(0)
        b.errands.give_up(1)
        b.errands.give_up(99)
        await trio.sleep(1)
        assert [end.number for end in b.ends] == [0]
        b.errands.end_was_read()
        b.start_all(Line(b.generation, nursery))
        await trio.sleep(2)
    assert [end.number for end in b.ends] == [0, 2]
    assert [what for what, _ in b.slow.asked] == [100.0, 1.0]


async def test_an_errand_dies_with_its_connection_and_reports_once(autojump_clock):
    """Spec: BND-4, SUP-5 — cancelled from outside, its end is reported on the way out, and the cancellation goes on."""
    b = Bench()
    async with trio.open_nursery() as nursery:
        b.errands.put(b.run(0, 100.0))
        b.start_all(Line(b.generation, nursery))
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert len(b.ends) == 1
    assert len(b.errands) == 0


async def test_errands_of_another_generation_never_begin(autojump_clock):
    """Spec: SUP-5 — no connection, another one, or one that has just ended: refused, and no place is taken."""
    b = Bench()
    other = GenerationFence(5).open()
    for line in (None, Line(other, object()), Line(b.generation, None)):
        b.errands.put(b.run(0, 1.0))
        end = b.errands.start_next(line)
        assert (end.number, end.generation, end.answer) == (0, 1, ErrandFailed(code="refused"))
    assert (len(b.errands), b.ends) == (0, [])


async def test_too_many_that_wait_are_turned_away():
    """Spec: BND-4 — one over the bound ends at once as busy."""
    b = Bench()
    for number in range(WAITING_MAX):
        assert b.errands.put(b.run(number, 1.0)) is None
    end = b.errands.put(b.run(9_999, 1.0))
    assert (end.number, end.answer) == (9_999, ErrandFailed(code="busy"))
