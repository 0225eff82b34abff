"""Status is data for whoever shows it."""

from __future__ import annotations

import msgspec

from gridagent.policy import GatewayStatus


def test_status_survives_json(bench) -> None:
    """What the control endpoint sends reads back as it was. Spec: OPS-6."""
    world = bench(approvals={"money": "required"})
    world.ask()
    world.pay()
    status = world.gateway.status()
    assert msgspec.json.decode(msgspec.json.encode(status), type=GatewayStatus) == status
