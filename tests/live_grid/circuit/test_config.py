"""The numbers an owner may choose."""

from __future__ import annotations

from live_grid.circuit.config import CircuitConfig, Role
from live_grid.limits import ACK_DELAY_S, DEAD_AFTER_S, PING_EVERY_S


def test_the_defaults_suit_any_grid() -> None:
    """Acks leave within 250 ms, pings come well before silence kills, and both ends have a role."""
    config = CircuitConfig()
    assert (config.ack_delay_s, config.ping_every_s, config.dead_after_s) == (ACK_DELAY_S, PING_EVERY_S, DEAD_AFTER_S)
    assert config.ack_delay_s <= 0.25
    assert config.ping_every_s * 5 <= config.dead_after_s
    assert [role.value for role in Role] == ["viewer", "simulator"]
