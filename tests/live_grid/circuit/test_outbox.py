"""Messages that wait for the throttle."""

from __future__ import annotations

import pytest

from live_grid.circuit.outbox import Outbox, Waiting
from live_grid.errors import LimitReached
from live_grid.limits import OUTBOX_MAX_BYTES, OUTBOX_MAX_PACKETS
from live_grid.messages.circuits import CloseCircuit
from live_grid.packet import Payload


def waiting(token: int, size: int = 4, *, reliable: bool = True) -> Waiting:
    """A message of some size."""
    return Waiting(token, CloseCircuit(), Payload(0, bytes(size)), reliable)


def test_first_in_first_out() -> None:
    """Order is kept, and the figures with it."""
    outbox = Outbox()
    outbox.put(waiting(1))
    outbox.put(waiting(2, reliable=False))
    assert (len(outbox), outbox.bytes, outbox.reliable) == (2, 8, 1)
    assert [outbox.take().token, outbox.take().token] == [1, 2]
    assert (len(outbox), outbox.bytes, outbox.reliable) == (0, 0, 0)


def test_number_and_bytes_are_bounded() -> None:
    """One more is refused, and nothing of what waits is dropped for it. Spec: LIV-2."""
    outbox = Outbox()
    for token in range(OUTBOX_MAX_PACKETS):
        outbox.put(waiting(token, 1))
    with pytest.raises(LimitReached, match="messages waiting"):
        outbox.put(waiting(-1, 1))
    assert len(outbox) == OUTBOX_MAX_PACKETS
    large = Outbox()
    for token in range(OUTBOX_MAX_BYTES // 1024):
        large.put(waiting(token, 1024))
    with pytest.raises(LimitReached, match="bytes waiting"):
        large.put(waiting(-1, 1))
