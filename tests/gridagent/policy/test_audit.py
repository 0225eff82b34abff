"""An audit row is data that survives being written down."""

from __future__ import annotations

import msgspec

from gridagent.policy import AuditRecord


def test_rows_survive_json(bench, people) -> None:
    """Every kind of row reads back as it was written. Spec: POL-10."""
    world = bench(approvals={"money": "required"})
    world.ask()
    world.answer(world.pay().approval_id, allow=False)
    world.answer("made-up")
    world.gateway.hold(world.now)
    assert {row.kind.value for row in world.rows} == {"decision", "approval", "hold", "settlement"}
    for row in world.rows:
        assert msgspec.json.decode(msgspec.json.encode(row), type=AuditRecord) == row
