"""Claims about moments."""

from hypothesis import given
from hypothesis import strategies as st

from gridagent.thinking.timers import Timers


def test_what_is_due_comes_in_order_and_what_was_taken_back_never():
    """By time, then by when it was put; nothing before its moment; an unknown number is nothing."""
    timers = Timers()
    numbers = [timers.put(at, what) for at, what in ((5, "c"), (1, "a"), (5, "d"), (3, "b"))]
    timers.take_back(numbers[3])
    timers.take_back(999)
    assert timers.due() == 1
    assert timers.pop(0.5) is None
    assert [timers.pop(9), timers.pop(9), timers.pop(9), timers.pop(9)] == ["a", "c", "d", None]
    assert timers.due() is None
    timers.put(1, "x")
    assert timers.clear() == ("x",)
    assert (timers.due(), len(timers)) == (None, 0)


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=300))
def test_memory_follows_what_is_live(wishes):
    """However many were put and taken back, the heap stays within twice the live ones and a little."""
    timers, live = Timers(), []
    for at, stays in wishes:
        number = timers.put(at, number_of := at)
        if stays:
            live.append(number_of)
        else:
            timers.take_back(number)
    assert len(timers._heap) <= 64 + 2 * len(live) + 1
    assert [timers.pop(99) for _ in live] == sorted(live)
