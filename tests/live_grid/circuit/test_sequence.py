"""Sequence numbers and the duplicate window."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from live_grid.circuit.sequence import ANCIENT, DUPLICATE, NEW, SEQUENCE_MASK, DuplicateWindow, Sequence


def test_our_numbers_wrap_at_24_bits() -> None:
    """After the last comes zero, as the viewer counts."""
    sequence = Sequence(SEQUENCE_MASK)
    assert [sequence.take(), sequence.take(), sequence.take()] == [SEQUENCE_MASK, 0, 1]
    assert Sequence().take() == 1


def test_a_number_is_new_once() -> None:
    """Again, and late, it is told apart. Fault: 3."""
    window = DuplicateWindow(8)
    assert [window.admit(number) for number in (5, 5, 3, 3, 4, 6, 5)] == [
        NEW,
        DUPLICATE,
        NEW,
        DUPLICATE,
        NEW,
        NEW,
        DUPLICATE,
    ]


def test_what_lies_behind_the_window_is_neither_new_nor_known() -> None:
    """It is not remembered any more, so nothing is claimed about it. Fault: 3."""
    window = DuplicateWindow(8)
    window.admit(1)
    window.admit(9)
    assert window.admit(1) == ANCIENT
    assert window.admit(2) == NEW


def test_jumps_forget_what_they_pass() -> None:
    """Small ones clear part of the ring, around its end too; large ones all of it."""
    window = DuplicateWindow(8)
    for number in range(1, 9):
        assert window.admit(number) == NEW
    assert window.admit(14) == NEW
    assert [window.admit(number) for number in range(9, 14)] == [NEW] * 5
    assert window.admit(8) == DUPLICATE
    assert window.admit(1000) == NEW
    assert [window.admit(number) for number in range(993, 1000)] == [NEW] * 7
    assert window.admit(992) == ANCIENT


def test_the_wrap_is_no_border() -> None:
    """Numbers on both sides of it are told apart, and a peer that counts on to 32 bits folds onto the circle."""
    window = DuplicateWindow(8)
    assert [window.admit(n) for n in (SEQUENCE_MASK - 1, SEQUENCE_MASK, 0, 1, SEQUENCE_MASK)] == [NEW] * 4 + [DUPLICATE]
    assert window.admit(SEQUENCE_MASK + 3) == NEW
    assert window.admit(2) == DUPLICATE
    assert DuplicateWindow(8).admit(0) == NEW


@given(st.integers(0, SEQUENCE_MASK), st.lists(st.integers(0, 40), max_size=60))
def test_the_window_agrees_with_a_set(start: int, steps: list[int]) -> None:
    """Against remembering everything: new exactly once within the window, across the wrap as well. Fault: 3."""
    window, seen, newest = DuplicateWindow(16), set(), None
    for step in steps:
        at = start + step
        verdict = window.admit(at & SEQUENCE_MASK)
        if newest is not None and newest - at >= 16:
            assert verdict == ANCIENT
            continue
        assert verdict == (DUPLICATE if at in seen else NEW)
        seen.add(at)
        newest = at if newest is None else max(newest, at)
