"""An audit row is data that survives being written down."""

from __future__ import annotations

import msgspec

from gridagent.policy import AuditRecord
from gridagent.policy.audit import AuditKind


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


def test_a_row_says_nothing_that_it_was_not_told() -> None:
    """What concerns nobody in particular is empty, not made up. Spec: POL-10."""
    row = AuditRecord(seq=1, at=2.0, kind=AuditKind.HOLD, code="held")
    assert msgspec.structs.asdict(row) == {
        "seq": 1, "at": 2.0, "kind": AuditKind.HOLD, "code": "held", "rule": "", "who": "", "role": None,
        "origin": None, "conversation": "", "generation": 0, "action": "", "digest": "", "tainted": False,
        "budgets": (), "effect": None, "approval_id": None, "grant_id": None, "correlation": "", "cause": "",
        "ordinal": 0, "policy": "", "settled_by": None, "proof": "",
    }  # fmt: skip
