"""What a circuit tells and counts."""

from __future__ import annotations

from live_grid.circuit.events import CircuitStatistics, Counters


def test_every_count_is_a_figure_of_the_statistics() -> None:
    """Nothing is counted that nobody can see. Spec: LIV-12."""
    counters = Counters()
    assert set(Counters.__slots__) <= set(CircuitStatistics.__struct_fields__)
    assert all(getattr(counters, name) == 0 for name in Counters.__slots__)
