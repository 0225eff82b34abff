"""Claims about `gridagent.runtime.generation`."""

from __future__ import annotations

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import IllegalTransition, ResourceBusy
from gridagent.runtime.deterministic import ScheduleTrace, schedule_seed
from gridagent.runtime.generation import GENERATION_TABLE, FenceInput, FenceState, FenceStatistics, GenerationFence


def test_numbers_count_up_from_the_start_number():
    """Numbers go on where an earlier process stopped, so none is ever used twice. Spec: SUP-5."""
    fence = GenerationFence(41)
    assert (fence.number, fence.current) == (41, None)
    first = fence.open()
    assert (first.number, fence.number, fence.current) == (42, 42, first)
    fence.invalidate()
    fence.retire()
    assert fence.open().number == 43


def test_a_negative_start_number_is_refused():
    """A number is at least 0, which means "none yet"."""
    with pytest.raises(ValueError, match="at least 0"):
        GenerationFence(-1)


def test_a_new_generation_needs_the_old_one_fenced_and_cleaned_up():
    """There is one generation at a time, clean-up included. Spec: BND-5."""
    fence = GenerationFence(name="g")
    fence.open()
    with pytest.raises(ResourceBusy):
        fence.open()
    fence.invalidate()
    assert not fence.retired()
    with pytest.raises(ResourceBusy) as caught:
        fence.open()
    assert caught.value.why == "number 1 is fenced"
    fence.retire()
    assert fence.retired()
    assert fence.open().number == 2


def test_late_results_are_turned_away_and_counted():
    """Only the live number is admitted; everything else counts as fenced. Spec: SUP-5."""
    fence = GenerationFence()
    assert not fence.admits(0)
    old = fence.open()
    assert fence.admits(old.number)
    fence.invalidate()
    assert not fence.admits(old.number)
    fence.retire()
    new = fence.open()
    assert [fence.admits(number) for number in (old.number, new.number, new.number + 1)] == [False, True, False]
    stats = fence.statistics()
    assert (stats.state, stats.number, stats.opened, stats.fenced) == (FenceState.LIVE, 2, 2, 4)


def test_retiring_out_of_order_is_a_bug():
    """A live generation cannot be retired, and nothing can be retired twice. Spec: SUP-5."""
    fence = GenerationFence()
    with pytest.raises(IllegalTransition):
        fence.retire()
    fence.open()
    with pytest.raises(IllegalTransition):
        fence.retire()
    assert fence.current is not None


async def test_invalidating_cancels_what_runs_and_fences_before_clean_up():
    """Clean-up of the cancelled work already finds its number fenced. Spec: SUP-5."""
    fence = GenerationFence()
    generation = fence.open()
    seen: list[bool] = []

    async def work() -> None:
        with generation.scope:
            try:
                await trio.sleep_forever()
            finally:
                seen.append(fence.admits(generation.number))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        await trio.testing.wait_all_tasks_blocked()
        assert generation.live
        fence.invalidate()
        fence.invalidate()
    assert seen == [False]
    assert generation.scope.cancelled_caught
    assert not generation.live


async def test_a_generation_invalidated_before_it_ran_never_runs():
    """The scope may be cancelled before it is entered."""
    fence = GenerationFence()
    generation = fence.open()
    fence.invalidate()
    with generation.scope:
        await trio.lowlevel.checkpoint()
        pytest.fail("the body ran")
    assert generation.scope.cancelled_caught


def test_reprs_tell_number_and_state():
    """A log line tells which generation and whether it is over."""
    fence = GenerationFence(4, name="g")
    generation = fence.open()
    assert (repr(fence), repr(generation)) == ("<GenerationFence g 5 live>", "<Generation 5 live>")
    fence.invalidate()
    assert (repr(fence), repr(generation)) == ("<GenerationFence g 5 fenced>", "<Generation 5 over>")


def test_no_way_leads_from_live_to_idle():
    """The table itself keeps clean-up behind the fence. Spec: BND-5."""
    assert [row for row in GENERATION_TABLE.rows() if row[2] is FenceState.IDLE] == [
        (FenceState.FENCED, FenceInput.RETIRE, FenceState.IDLE)
    ]


@given(start=st.integers(0, 9), ops=st.lists(st.sampled_from(["open", "invalidate", "retire", "late"]), max_size=40))
def test_no_order_of_calls_admits_an_old_number(start, ops):
    """At most one number is admitted, and a number once fenced never again. Spec: SUP-5, BND-5."""
    fence = GenerationFence(start)
    over: set[int] = set()
    live: int | None = None
    cleaned = True
    for op in ops:
        if op == "open":
            if live is None and cleaned:
                live = fence.open().number
                assert live not in over
                cleaned = False
            else:
                with pytest.raises(ResourceBusy):
                    fence.open()
        elif op == "invalidate":
            fence.invalidate()
            if live is not None:
                over.add(live)
                live = None
        elif op == "retire":
            if live is None and not cleaned:
                fence.retire()
                cleaned = True
            else:
                with pytest.raises(IllegalTransition):
                    fence.retire()
        admitted = [number for number in range(start + len(ops) + 2) if fence.admits(number)]
        assert admitted == ([] if live is None else [live])


def test_no_output_of_an_old_generation_is_observed_under_any_schedule():
    """What is applied always carries the number that is live at that moment. Spec: SUP-5, BND-5.

    Workers of many generations race with their own invalidation, as late replies do.
    """
    schedules: set[str] = set()
    fenced = 0

    @given(lives=st.lists(st.integers(0, 5), min_size=1, max_size=5), seed=st.integers(0, 2**32))
    def explore(lives: list[int], seed: int) -> None:
        nonlocal fenced
        fence = GenerationFence()

        async def late_worker(number: int) -> None:
            # Not in the scope: like a reply that is already on its way when the generation ends.
            for _ in range(4):
                await trio.lowlevel.checkpoint()
                if fence.admits(number):
                    assert fence.current is not None
                    assert fence.current.number == number

        async def main() -> None:
            async with trio.open_nursery() as nursery:
                for life in lives:
                    generation = fence.open()
                    nursery.start_soon(late_worker, generation.number)
                    async with trio.open_nursery() as inner:

                        async def body() -> None:
                            with generation.scope:  # noqa: B023 - joined before the next turn
                                await trio.sleep_forever()

                        inner.start_soon(body)
                        for _ in range(life):
                            await trio.lowlevel.checkpoint()
                        fence.invalidate()
                    fence.retire()

        trace = ScheduleTrace()
        with schedule_seed(seed):
            trio.run(main, instruments=[trace])
        schedules.add(trace.digest)
        fenced += fence.statistics().fenced

    explore()
    assert len(schedules) > 1
    assert fenced > 0


def test_words_and_shape_of_a_fence_are_stable():
    """Its states and inputs stand in diagrams and errors; its statistics can't be changed. Spec: SUP-5."""
    assert [each.value for each in FenceState] == ["idle", "live", "fenced"]
    assert [each.value for each in FenceInput] == ["open", "invalidate", "retire"]
    assert GENERATION_TABLE.name == "generation"
    fence = GenerationFence()
    assert repr(fence) == "<GenerationFence generation 0 idle>"
    assert fence.statistics() == FenceStatistics(state=FenceState.IDLE, number=0, opened=0, fenced=0)
    assert FenceStatistics.__struct_config__.frozen
    with pytest.raises(TypeError, match="positional"):
        FenceStatistics(FenceState.IDLE, 0, 0, 0)
