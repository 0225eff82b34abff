"""Changes can be written down and read back, and hold no secret."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.actions import PayAvatar, Say
from gridagent.authority import DenialCode, Origin
from gridagent.config.policy import BudgetScope, Meter
from gridagent.policy import Denied
from gridagent.policy.changes import (
    ApprovalMoved,
    ApprovalOpened,
    Change,
    EffectReserved,
    GatewaySnapshot,
    GrantEnded,
    StoredApproval,
)
from gridagent.policy.grants import GrantState

U = "00000000-0000-4000-8000-00000000000e"


@pytest.fixture
def lived(bench):
    """Live through every kind of change."""
    world = bench(approvals={"money": "required"})
    grant_id = world.grant(PayAvatar(to=U, amount=10)).grant_id
    used = world.fire(grant_id, PayAvatar(to=U, amount=10))
    world.redeem(used)
    world.confirm(used)
    approval_id = world.pay(20).approval_id
    world.answer(approval_id, who="00000000-0000-4000-8000-00000000000a", via=Origin.DIRECT_IM, nonce="guess")
    world.nonce = world.gateway.nonce_of(approval_id)
    world.answer(approval_id, allow=False)
    world.gateway.hold(world.now)
    world.gateway.replace_policy(world.gateway.policy, world.now)
    world.pass_time(700)
    world.gateway.expire(world.now)
    world.restart()
    return world


def test_every_kind_of_change_survives_being_written(lived) -> None:
    """Whatever keeps them as JSON reads back the same. Spec: EFX-2."""
    assert {type(change) for change in lived.changes} >= set(Change.__args__) - {type(None)}
    raw = msgspec.json.encode(lived.changes)
    assert msgspec.json.decode(raw, type=list[Change]) == lived.changes


def test_no_change_holds_a_nonce(lived) -> None:
    """Only its hash is written down. Spec: POL-7."""
    assert lived.nonce not in repr(lived.changes)
    opened = next(change for change in lived.changes if isinstance(change, ApprovalOpened))
    assert len(opened.nonce_hash) == 32


def test_a_reservation_says_all_that_it_cost(bench, people) -> None:
    """Charge, windows, request, arguments, role and rule; later changes of copies don't show. Spec: EFX-2, POL-6."""
    budgets = {
        "calls.money": [
            {"per": "global", "limit": 9, "window_s": 60},
            {"per": "principal", "limit": 9, "window_s": 60},
            {"per": "peer", "limit": 9, "window_s": 60},
            {"per": "strangers", "limit": 9, "window_s": 60},
        ],
        "calls.speak": [{"per": "strangers", "limit": 9, "window_s": 60}, {"per": "peer", "limit": 9, "window_s": 1}],
    }
    del budgets["calls.speak"][1]
    world = bench(budgets=budgets)
    action = PayAvatar(to=U, amount=10)
    request = world.request(action, who=people["stranger"], cause="turn")
    decision = world.gateway.decide(request, world.now)
    msgspec.structs.force_setattr(action, "amount", 999)
    msgspec.structs.force_setattr(decision.action, "amount", 999)
    change = world.changes[-1]
    assert isinstance(change, EffectReserved)
    assert (change.effect, change.action, change.rule) == (decision.effect, "pay_avatar", decision.rule)
    assert (change.generation, change.role.value, change.at, change.dry_run) == (1, "stranger", world.wall, False)
    assert change.request == msgspec.structs.replace(request, action=PayAvatar(to=U, amount=10))
    assert msgspec.json.decode(change.canonical, type=PayAvatar).amount == 10
    assert dict(change.charge) == {Meter.CALLS_MONEY: 1, Meter.LINDEN: 10}
    assert (change.approval_id, change.grant, change.policy_version) == (None, None, world.gateway.policy.version)
    held = {(row.meter, row.per, row.key): sum(amount for _, amount in row.buckets) for row in change.budgets.rows}
    assert held == {
        (Meter.CALLS_MONEY, BudgetScope.GLOBAL, ""): 1,
        (Meter.CALLS_MONEY, BudgetScope.STRANGERS, ""): 1,
        (Meter.CALLS_MONEY, BudgetScope.PRINCIPAL, people["stranger"]): 1,
        (Meter.CALLS_MONEY, BudgetScope.PEER, U): 1,
        (Meter.LINDEN, BudgetScope.GLOBAL, ""): 10,
    }
    snapshot = world.gateway.budget_snapshot()
    assert (change.budgets.clock_us, change.budgets.wall_high_us) == (snapshot.clock_us, snapshot.wall_high_us)
    assert set(change.budgets.rows) == set(snapshot.rows)
    world.ask(Say(text="x"), who=people["owner"])
    rows = world.changes[-1].budgets.rows
    assert {row.per for row in rows} == {BudgetScope.GLOBAL}


def test_nobody_who_keeps_nothing_pays_for_it(bench) -> None:
    """Without a sink none is made. Spec: OPS-3."""
    world = bench()
    world.gateway._journal._changes = None
    before = len(world.changes)
    decision = world.ask()
    world.redeem(decision)
    world.confirm(decision)
    world.gateway.hold(world.now)
    assert len(world.changes) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [("cause", "x" * 65), ("ordinal", -1), ("conversation", "x" * 65), ("generation", 1.5), ("tainted", "no")],
)
def test_what_a_later_run_could_not_read_is_denied(bench, field, value) -> None:
    """A request made by force must not refuse the next start. Spec: EFX-4, POL-2. Fault: 41."""
    world = bench()
    request = world.request()
    msgspec.structs.force_setattr(request, field, value)
    denied = world.gateway.decide(request, world.now)
    assert denied == Denied(code=DenialCode.INVALID_ARGUMENTS, rule="request")
    assert len(world.changes) == 1


@pytest.mark.parametrize("way", [float("nan"), float("inf"), -1.0, None, 0.0, 12.5])
def test_a_way_that_is_no_way_is_kept_as_unknown(bench, way) -> None:
    """It is charged as unknown, and read back as unknown. Spec: POL-6."""
    world = bench()
    request = world.request()
    msgspec.structs.force_setattr(request, "travel_m", way)
    world.gateway.decide(request, world.now)
    assert world.changes[-1].request.travel_m == (way if way in {0.0, 12.5} else None)


def test_what_is_left_out_of_a_change_is_nothing() -> None:
    """Nobody answered, nothing was tried, no connection was before, and nothing is a dry run unless it is said."""
    assert GatewaySnapshot() == GatewaySnapshot(
        generation=0, held=False, budgets=None, open_effects=(), ended_once=(), ended_light=(), approvals=(), grants=()
    )
    assert ApprovalMoved(approval_id="a", given=(), at=1.0).by == ""
    assert GrantEnded(grant_id="g", state=GrantState.REVOKED, at=1.0).by == ""
    defaults = {field.name: field.default for field in msgspec.structs.fields(EffectReserved) if not field.required}
    assert defaults == {"approval_id": None, "grant": None, "dry_run": False}
    defaults = {field.name: field.default for field in msgspec.structs.fields(StoredApproval) if not field.required}
    assert defaults == {"wrong_nonces": 0, "by": ""}
