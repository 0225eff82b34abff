"""What a seed decides before anything runs: bounds, time-outs, policies and faults, drawn at random.

Owns the draws (BUGGIFY: each knob is at its default or somewhere wild, so that every bound is met and so
is the ordinary). Judges nothing and runs nothing. Used by `gridagent.simulation.trial` for each life of
the service. Invariant: whatever is drawn is a configuration an operator could have written; windows of
budgets never change while anybody remembers what they hold.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from random import Random
from typing import Final, TypeVar

import msgspec

from gridagent.actions import Capability
from gridagent.authority import Origin, Provenance
from gridagent.config.policy import METER_CEILINGS, PEER_METERS, BudgetScope, Meter
from gridagent.grid.simulated.faults import LOGIN_CAUSES, Faults
from gridagent.ids import AvatarKey
from gridagent.runtime.restart import RestartIntensity
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.session.reconnect import ReconnectDelays

__all__ = ("BudgetDraft", "PolicyDraft", "calm_policy", "draw_faults", "draw_policy", "draw_settings", "vary_policy")

T = TypeVar("T")

_ADMISSIONS: Final = ("deny", "owner", "trusted", "anyone", "anyone")
_WINDOWS_S: Final = (10, 60, 600, 3600)
_LIMITS: Final = {
    Meter.SPEECH_BYTES: (200, 4_000, 60_000),
    Meter.METRES: (50, 1_000, 100_000),
    Meter.LINDEN: (20, 100, 1_000),
}
_LIMITS_ELSE: Final = (2, 12, 200)


class BudgetDraft(msgspec.Struct, kw_only=True):
    """One budget as an operator writes it."""

    per: str
    limit: int
    window_s: int


class PolicyDraft(msgspec.Struct, kw_only=True):
    """A policy section that says everything: every cell, every meter, nothing left to a preset."""

    matrix: dict[str, dict[str, str]]
    tainted: dict[str, str]
    target_from: dict[str, list[str]]
    approvals: dict[str, str]
    patterns: dict[str, dict[str, object]]
    budgets: dict[str, list[BudgetDraft]]
    dry_run: bool
    handle_ttl_s: float
    approval_ttl_s: float
    approvers: str

    def written(self) -> bytes:
        """Return the section as JSON text."""
        return msgspec.json.encode(self)


def _maybe(rng: Random, default: T, wild: Sequence[T], chance: float = 0.4) -> T:
    return rng.choice(wild) if rng.random() < chance else default


def draw_settings(rng: Random, key: AvatarKey, *, last_generation: int, starts_connected: bool) -> SessionSettings:
    """Draw one session's bounds and habits."""
    shutdown_s = _maybe(rng, 10.0, (0.5, 2.0, 30.0))
    return SessionSettings(
        key=key,
        on_backend_failure=OnBackendFailure.RECONNECT,
        connect_at_start=starts_connected or rng.random() < 0.9,  # noqa: PLR2004 - mostly
        start_after_s=_maybe(rng, 0.0, (0.5, 5.0)),
        ask_over_im=_maybe(rng, default=True, wild=(False,)),
        grid_events_max=_maybe(rng, 1024, (1, 2, 8, 64)),
        controls_max=_maybe(rng, 64, (1, 2, 4)),
        observables_max=_maybe(rng, 1024, (1024, 4096)),
        workers_max=_maybe(rng, 16, (1, 2, 3)),
        shutdown_timeout_s=shutdown_s,
        logout_timeout_s=min(shutdown_s, _maybe(rng, 5.0, (0.2, 1.0))),
        delays=ReconnectDelays(
            short_wait_s=_maybe(rng, 2.0, (0.1, 10.0)),
            long_wait_s=_maybe(rng, 300.0, (5.0, 60.0)),
            stay_away_s=_maybe(rng, 3600.0, (10.0, 120.0), 0.8),
            backoff_base_s=_maybe(rng, 1.0, (0.1, 0.5)),
            backoff_cap_s=_maybe(rng, 60.0, (1.0, 10.0)),
            healthy_after_s=_maybe(rng, 60.0, (1.0, 300.0)),
        ),
        fault_intensity=RestartIntensity(
            max_restarts=_maybe(rng, 5, (1, 2, 20)), window_s=_maybe(rng, 300.0, (10.0, 60.0))
        ),
        last_generation=last_generation,
    )


def draw_policy(rng: Random, like: PolicyDraft | None = None) -> PolicyDraft:
    """Draw a policy: permissive enough that much succeeds, tight enough that much is refused.

    Args:
        rng: the stream of the draws.
        like: one whose windows it has to keep, as sums across others mean nothing.
    """
    capabilities = [each.value for each in Capability]
    matrix = {
        origin.value: {name: rng.choice(_ADMISSIONS) for name in capabilities}
        for origin in Origin
        if origin is not Origin.OBJECT_TEXT
    }
    matrix[Origin.OPERATOR_CONSOLE.value] = dict.fromkeys(capabilities, "owner")
    matrix[Origin.PUBLIC_CHAT.value][Capability.SPEAK.value] = "anyone"
    matrix[Origin.DIRECT_IM.value][Capability.DIRECT_MESSAGE.value] = "anyone"
    sources = [each.value for each in Provenance]
    return PolicyDraft(
        matrix=matrix,
        tainted={name: rng.choice(("allow", "allow", "allow", "approve", "deny")) for name in capabilities},
        target_from={name: rng.sample(sources, rng.choice((1, 2, 3, 3))) for name in capabilities},
        approvals={name: rng.choice(("required", *["not_required"] * 4)) for name in capabilities}
        | {Capability.MONEY.value: rng.choice(("required", "not_required"))},
        patterns={
            "big-payment": {
                "action": "pay_avatar",
                "argument": "amount",
                "over": rng.choice((5, 50, 500)),
                "then": rng.choice(("deny", "approve")),
            },
            "script-permissions": {
                "action": "answer_permission",
                "argument": "grant",
                "none_of": ["animate"],
                "then": "deny",
            },
            "no-help": {
                "action": "say",
                "argument": "text",
                "contains": ["follow simple rules"],
                "then": rng.choice(("deny", "approve", "off")),
            },
            "bad-words": {"action": "say", "argument": "text", "contains": ["forbidden"], "then": "deny"},
            "long-im": {"action": "send_im", "argument": "text", "longer_than": 160, "then": "approve"},
        },
        budgets={meter.value: _draw_budgets(rng, meter) for meter in Meter} if like is None else _redraw(rng, like),
        dry_run=rng.random() < 0.05,  # noqa: PLR2004 - seldom
        handle_ttl_s=_maybe(rng, 10.0, (0.1, 1.0, 3.0)),
        approval_ttl_s=_maybe(rng, 300.0, (1.0, 10.0, 60.0), 0.6),
        approvers=rng.choice(("owner", "trusted")),
    )


def _draw_budgets(rng: Random, meter: Meter) -> list[BudgetDraft]:
    scopes = [BudgetScope.GLOBAL]
    if rng.random() < 0.5:  # noqa: PLR2004 - half
        scopes.append(BudgetScope.PRINCIPAL)
    if rng.random() < 0.3:  # noqa: PLR2004 - a third
        scopes.append(BudgetScope.STRANGERS)
    if meter in PEER_METERS and rng.random() < 0.5:  # noqa: PLR2004 - half
        scopes.append(BudgetScope.PEER)
    return [
        BudgetDraft(
            per=scope.value, limit=rng.choice(_LIMITS.get(meter, _LIMITS_ELSE)), window_s=rng.choice(_WINDOWS_S)
        )
        for scope in scopes
    ]


def _redraw(rng: Random, like: PolicyDraft) -> dict[str, list[BudgetDraft]]:
    """Draw the limits of known windows anew."""
    return {
        meter.value: [
            BudgetDraft(per=old.per, limit=rng.choice(_LIMITS.get(meter, _LIMITS_ELSE)), window_s=old.window_s)
            for old in like.budgets[meter.value]
        ]
        for meter in Meter
    }


def vary_policy(rng: Random, policy: PolicyDraft) -> PolicyDraft:
    """Draw another policy for a reload; the windows of its budgets stay, as sums across others mean nothing."""
    varied = copy.deepcopy(policy)
    for meter in Meter:
        for budget in varied.budgets[meter.value]:
            if rng.random() < 0.3:  # noqa: PLR2004 - a third
                budget.limit = rng.choice(_LIMITS.get(meter, _LIMITS_ELSE))
    for origin in (Origin.PUBLIC_CHAT, Origin.DIRECT_IM, Origin.GOAL, Origin.MCP):
        capability = rng.choice([each.value for each in Capability])
        varied.matrix[origin.value][capability] = rng.choice(_ADMISSIONS)
    varied.handle_ttl_s = _maybe(rng, 10.0, (0.1, 1.0, 3.0))
    varied.approvals[Capability.MONEY.value] = rng.choice(("required", "not_required"))
    return varied


def calm_policy(policy: PolicyDraft) -> PolicyDraft:
    """Return a policy under which an owner's instant message can be answered whatever was spent before."""
    calm = copy.deepcopy(policy)
    message = Capability.DIRECT_MESSAGE.value
    for meter in Meter:
        for budget in calm.budgets[meter.value]:
            budget.limit = METER_CEILINGS[meter]
    calm.matrix[Origin.DIRECT_IM.value][message] = "anyone"
    calm.tainted[message] = "allow"
    calm.target_from[message] = [each.value for each in Provenance]
    calm.approvals[message] = "not_required"
    calm.patterns["long-im"]["then"] = "off"
    calm.dry_run = False
    calm.handle_ttl_s = 10.0
    return calm


def draw_faults(rng: Random, *, wild: bool) -> Faults:
    """Draw how connections misbehave for one life of the service.

    Args:
        rng: the stream of the draws.
        wild: everything may go wrong; otherwise a connection is only slow.
    """
    latency = _maybe(rng, (0.0, 0.0), ((0.02, 0.2), (0.05, 2.0)), 0.3)
    login_s = _maybe(rng, (0.2, 1.0), ((0.0, 0.0), (2.0, 20.0)))
    if not wild:
        return Faults(latency_s=latency, login_s=login_s)
    return Faults(
        login_s=login_s,
        latency_s=latency,
        login_refused=_maybe(rng, 0.0, (0.2, 0.5), 0.5),
        login_causes=tuple(rng.sample(LOGIN_CAUSES, rng.randint(1, len(LOGIN_CAUSES)))),
        request_lost=_maybe(rng, 0.0, (0.05, 0.3), 0.5),
        evidence_lost=_maybe(rng, 0.0, (0.05, 0.3), 0.5),
        event_duplicated=_maybe(rng, 0.0, (0.02, 0.2)),
        event_reordered=_maybe(rng, 0.0, (0.02, 0.2)),
        money_refused=_maybe(rng, 0.0, (0.1, 0.5)),
        teleport_failed=_maybe(rng, 0.0, (0.1, 0.5)),
        logout_lost=_maybe(rng, 0.0, (0.2, 1.0)),
        disconnect_mid_action=_maybe(rng, 0.0, (0.02, 0.1), 0.5),
        disconnects_per_hour=_maybe(rng, 0.0, (4.0, 30.0), 0.6),
        kicks_per_hour=_maybe(rng, 0.0, (6.0, 20.0)),
        restarts_per_hour=_maybe(rng, 0.0, (6.0, 20.0)),
        restart_notice_s=_maybe(rng, 30.0, (0.0, 5.0)),
        restart_down_s=_maybe(rng, 60.0, (1.0, 10.0)),
        stalls_per_hour=_maybe(rng, 0.0, (6.0, 30.0)),
        stall_s=(1.0, 20.0),
        floods_per_hour=_maybe(rng, 0.0, (6.0, 20.0)),
        flood_s=(1.0, 3.0),
        flood_per_s=_maybe(rng, 250.0, (20.0, 100.0)),
        flood_senders=_maybe(rng, 50, (1, 500)),
    )
