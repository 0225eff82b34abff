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


def test_a_status_shows_no_trouble_that_nobody_told_of(bench) -> None:
    """Safe mode and grants are there only where there are any. Spec: EFX-4."""
    plain = {
        field.name: field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        for field in msgspec.structs.fields(GatewayStatus)
        if not field.required
    }
    assert plain == {"safe_mode": False, "grants": ()}
    assert not bench().gateway.status().safe_mode
