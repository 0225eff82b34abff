"""The benchmark of many conversations runs against the service as it is."""

from __future__ import annotations

from benchmarks import bench_thinking


async def test_what_is_added_is_measured(autojump_clock) -> None:
    """One figure an utterance, in order, and none of them negative."""
    added = await bench_thinking.added_ms(0.2, 3, 10)
    assert len(added) == 3
    assert added == sorted(added)
    assert added[0] >= -1e-6
