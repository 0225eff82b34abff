"""What an operator may want to know of a gateway, as one value.

Owns that value; causes nothing. Built by `gridagent.policy.gateway`, shown by status, fronts and
metrics. Its invariant: it holds no nonce, no handle and no text of people beyond what an approval shows.
"""

from __future__ import annotations

import msgspec

from gridagent.ids import EffectKey, Generation
from gridagent.policy.approvals import ApprovalView
from gridagent.policy.budgets import BudgetGauge
from gridagent.policy.grants import GrantView

__all__ = ("GatewayStatus",)


class GatewayStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator may want to know of a gateway."""

    policy: str
    """Version of the policy in force."""
    generation: Generation | None
    held: bool
    dry_run: bool
    safe_mode: bool = False
    """Storage failed: nothing that costs anything is done."""
    budgets: tuple[BudgetGauge, ...]
    principals: int
    """How many principals have budgets of their own just now."""
    approvals: tuple[ApprovalView, ...]
    grants: tuple[GrantView, ...] = ()
    open_effects: int
    in_doubt: tuple[EffectKey, ...]
    decisions: dict[str, int]
    """How often each answer was given: ``authorized``, ``needs_approval`` and each denial code."""
