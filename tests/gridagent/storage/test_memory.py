"""The store in memory fails and recovers on a test's word; everything else is the contract's."""

from __future__ import annotations

from gridagent.runtime.deterministic import SimulatedClock
from gridagent.storage.base import StorageFault
from gridagent.storage.memory import MemoryStore


async def test_a_test_can_break_it(autojump_clock, make) -> None:
    """Safe mode begins at once, with the moment it began. Spec: EFX-4."""
    store = MemoryStore(SimulatedClock(start_wall=50.0))
    store.break_down(StorageFault.STUCK)
    assert (store.safe_mode.fault, store.safe_mode.since) == (StorageFault.STUCK, 50.0)
    store.submit(make.audited(1))
    await store.leave_safe_mode()
    assert (store.status().commits, store.status().records) == (1, 1)
