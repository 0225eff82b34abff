"""The benchmark of a turn runs against the service as it is: a benchmark that fails measures nothing."""

from __future__ import annotations

import pytest

from benchmarks import bench_turn


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_turn, "ROUNDS", 1)
    monkeypatch.setattr(bench_turn, "TURNS", 2)


async def test_a_tool_turn_is_compared() -> None:
    """With the client alone: both loops end with the answer."""
    cost, ratio = await bench_turn.compare(bench_turn.talk(1))
    assert cost >= 0.0
    assert ratio >= 0.0


async def test_everything_on_is_compared() -> None:
    """With session, gateway, store and metrics: each turn ends as answered."""
    cost, ratio = await bench_turn.whole(())
    assert cost > 0.0
    assert ratio > 0.0
