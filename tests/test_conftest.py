"""Tests are the same in every run, whatever runs beside them."""

from __future__ import annotations

import subprocess
import sys

import pytest
import trio
from hypothesis import settings
from hypothesis.internal.conjecture import providers

DRAW = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import tests.conftest
from hypothesis import given, strategies as st
drawn = []
@given(st.lists(st.text() | st.integers()))
def test(values):
    drawn.append(values)
test()
print(hash(repr(drawn)))
"""


def test_examples_do_not_depend_on_what_is_imported() -> None:
    """The same property test draws the same examples beside other modules of ours as alone."""
    assert settings.default.derandomize
    assert not providers._get_local_constants()
    seen = set()
    for beside in ([], ["gridagent.limits", "gridagent.events", "live_grid.limits"]):
        command = [sys.executable, "-c", DRAW, *beside]
        run = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "0"})  # noqa: S603
        seen.add(run.stdout)
    assert len(seen) == 1


async def test_a_test_has_one_schedule(request: pytest.FixtureRequest) -> None:
    """The scheduler's stream is seeded by the test's own name, before the first task runs."""
    assert trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING
    drawn = trio._core._run._r.random()
    trio._core._run._r.seed(f"0/{request.node.nodeid}")
    assert 0.0 <= drawn < 1.0
    order = []
    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(_note, order, number)
    trio._core._run._r.seed(f"0/{request.node.nodeid}")
    again = []
    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(_note, again, number)
    assert order == again
    assert sorted(order) == list(range(8))


async def _note(order: list[int], number: int) -> None:
    await trio.lowlevel.checkpoint()
    order.append(number)
