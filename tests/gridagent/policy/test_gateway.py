"""Generations, redemption, the kill switch, time, dry run and a change of policy."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from gridagent.actions import Confirmed, EvidenceKind, PayAvatar, Refused, Say, StopMoving
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal, Provenance
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.errors import AuthorityRefused, InternalError, OperatorError
from gridagent.grid.base import RedeemedAction
from gridagent.policy import Authorized, Denied, Gateway, Instant, NeedsApproval, Policy, RedeemRefusal

U = "00000000-0000-4000-8000-00000000000e"
LINDEN_10 = {"linden": [{"per": "global", "limit": 10, "window_s": 60}]}


def refusal(world, decision, generation=1) -> str:
    """Redeem something that must be refused, and return the reason."""
    with pytest.raises(AuthorityRefused) as refused:
        world.redeem(decision, generation=generation)
    return refused.value.reason


def test_an_authorised_action_is_redeemed_and_settled(bench) -> None:
    """Decide, redeem once, settle once: the whole way of one action. Spec: POL-1, EFX-1."""
    world = bench()
    decision = world.ask(Say(text="hello"))
    assert (decision.rule, decision.dry_run, decision.deadline_s) == ("matrix.public_chat.speak", False, 10.0)
    record: RedeemedAction = world.redeem(decision)
    assert (record.action, record.effect) == (Say(text="hello"), decision.effect)
    assert world.confirm(decision)
    assert world.kinds() == [("decision", "authorized"), ("settlement", "confirmed")]


def test_one_generation_is_live_and_the_next_is_newer(bench) -> None:
    """A second live generation, an older and a repeated one are bugs that are told. Spec: BND-5, SUP-5."""
    world = bench()
    for number in (1, 2):
        with pytest.raises(InternalError):
            world.gateway.open_generation(number)
    world.gateway.close_generation(1, world.now)
    with pytest.raises(InternalError):
        world.gateway.open_generation(1)
    world.gateway.open_generation(5)
    assert world.gateway.status().generation == 5


def test_closing_a_generation_ends_its_authorisations(bench) -> None:
    """Unredeemed handles die with the connection; what was sent stays to be settled. Spec: SUP-5, EFX-2. Fault: 7."""
    world = bench()
    sent, waiting = world.ask(), world.ask()
    world.redeem(sent)
    assert world.gateway.close_generation(7, world.now) == ()
    (ended,) = world.gateway.close_generation(1, world.now)
    assert (ended.effect, ended.how, ended.outcome) == (
        waiting.effect, "stale_generation", Refused(reason="stale_generation"),
    )  # fmt: skip
    world.gateway.open_generation(2)
    assert refusal(world, waiting, generation=2) == RedeemRefusal.STALE_GENERATION
    assert refusal(world, waiting, generation=1) == RedeemRefusal.STALE_GENERATION
    assert world.confirm(sent)
    assert world.gateway.close_generation(1, world.now) == ()


def test_a_backend_of_another_generation_is_refused(bench) -> None:
    """A handle counts for its own connection only, and dies when another tries it. Spec: SUP-5. Fault: 27."""
    world = bench()
    decision = world.ask()
    assert refusal(world, decision, generation=2) == RedeemRefusal.STALE_GENERATION
    assert refusal(world, decision, generation=1) == RedeemRefusal.STALE_GENERATION
    assert not world.confirm(decision)


@pytest.mark.parametrize(("waited", "passes"), [(9.9, True), (10.0, False), (1e9, False)])
def test_a_handle_expires(bench, waited, passes) -> None:
    """After its time a handle is refused, by the monotonic clock alone. Spec: POL-1. Fault: 27."""
    world = bench()
    decision = world.ask()
    world.monotonic += waited
    world.wall -= 86_400
    if passes:
        assert world.redeem(decision).effect == decision.effect
    else:
        assert refusal(world, decision) == RedeemRefusal.EXPIRED
        assert refusal(world, decision) == RedeemRefusal.EXPIRED
        assert world.kinds()[-3:] == [
            ("redeem_refused", "expired"), ("settlement", "refused"), ("redeem_refused", "expired"),
        ]  # fmt: skip


def test_expire_ends_what_is_due_and_says_when_next(bench) -> None:
    """Handles and approvals end on time, and the next deadline is the earliest. Spec: POL-7."""
    world = bench(approvals={"money": "required"}, approval_ttl_s=5.0)
    assert world.gateway.next_deadline() is None
    said = world.ask()
    assert world.gateway.next_deadline() == world.monotonic + 10
    world.pay()
    assert world.gateway.next_deadline() == world.monotonic + 5
    assert world.gateway.expire(world.now) == ()
    world.pass_time(5)
    (approval,) = world.gateway.expire(world.now)
    assert (approval.how, approval.effect, approval.outcome) == ("expired", None, None)
    assert world.gateway.next_deadline() == world.monotonic + 5
    world.pass_time(5)
    (handle,) = world.gateway.expire(world.now)
    assert (handle.effect, handle.approval_id) == (said.effect, None)
    assert world.gateway.next_deadline() is None


def test_the_kill_switch_stops_everything_at_once(bench) -> None:
    """While held nothing is authorised and nothing honoured, for anybody; approvals wait. Spec: POL-12."""
    world = bench(approvals={"money": "required"})
    sent, waiting, asked = world.ask(), world.ask(), world.pay()
    world.redeem(sent)
    (ended,) = world.gateway.hold(world.now)
    assert (ended.effect, ended.outcome) == (waiting.effect, Refused(reason="held"))
    assert world.gateway.held
    assert refusal(world, waiting) == RedeemRefusal.HELD
    operator = {"who": None, "client": "operator", "origin": Origin.OPERATOR_CONSOLE, "verbatim": True}
    for action, fields in itertools.product((Say(text="x"), StopMoving(), PayAvatar(to=U, amount=1)), ({}, operator)):
        assert world.ask(action, **fields).code is DenialCode.HELD
    assert world.gateway.hold(world.now) == ()
    assert world.confirm(sent)
    world.gateway.release(world.now)
    world.gateway.release(world.now)
    assert not world.gateway.held
    assert refusal(world, waiting) == RedeemRefusal.HELD
    assert isinstance(world.ask(), Authorized)
    assert world.answer(asked.approval_id).accepted
    assert [row.code for row in world.rows if row.kind.value == "hold"] == ["held", "released"]


def test_a_cancelled_turn_takes_its_handles_along(bench) -> None:
    """Cancelled between authorising and sending, a handle is dead and what it cost stays spent. Fault: 28."""
    world = bench(budgets=LINDEN_10)
    paid, other = world.pay(10, cause="turn"), world.ask(cause="other")
    (ended,) = world.gateway.cancel_cause("turn", world.now)
    assert (ended.effect, ended.outcome) == (paid.effect, Refused(reason="cancelled"))
    assert refusal(world, paid) == RedeemRefusal.CANCELLED
    assert world.pay(1).code is DenialCode.BUDGET_SPENT
    assert world.redeem(other).effect == other.effect


@pytest.mark.parametrize("end", ["refused by the grid", "expired", "stale", "held", "cancelled", "in doubt"])
def test_nothing_spent_ever_comes_back(bench, end) -> None:
    """A budget is charged for the authorisation, whatever became of it. Spec: POL-6. Fault: 28."""
    world = bench(budgets=LINDEN_10)
    decision = world.pay(10, cause="turn")
    if end == "refused by the grid":
        world.redeem(decision)
        assert world.gateway.settle(decision.effect, Refused(reason="no_funds"), world.now)
    elif end == "in doubt":
        world.redeem(decision)
        world.gateway.abandon(decision.effect, "deadline", world.now)
    elif end == "expired":
        world.pass_time(11)
        world.gateway.expire(world.now)
    elif end == "stale":
        world.gateway.close_generation(1, world.now)
        world.gateway.open_generation(2)
    elif end == "held":
        world.gateway.hold(world.now)
        world.gateway.release(world.now)
    else:
        world.gateway.cancel_cause("turn", world.now)
    generation = world.gateway.status().generation
    assert world.pay(1, generation=generation).code is DenialCode.BUDGET_SPENT


@pytest.mark.parametrize("order", list(itertools.permutations((5, 7, 9))))
def test_parallel_payments_cannot_overspend_together(bench, order) -> None:
    """Each fits alone, no two fit together: in any order exactly one passes. Spec: POL-6. Fault: 26."""
    world = bench(budgets=LINDEN_10)
    passed = []
    for amount in order:
        decision = world.pay(amount)
        if isinstance(decision, Authorized):
            passed.append(amount)
            world.gateway.abandon(decision.effect, "gone", world.now)  # the slot is free, the money is not
        else:
            assert decision.code is DenialCode.BUDGET_SPENT
    assert passed == [order[0]]


def test_two_payments_reserved_before_either_is_sent(bench) -> None:
    """The charge is made when it is decided, not when it is sent. Spec: POL-6. Fault: 26."""
    world = bench(budgets={"speech_bytes": [{"per": "global", "limit": 8, "window_s": 60}]})
    first = world.ask(Say(text="12345"))
    assert world.ask(Say(text="12345")).code is DenialCode.BUDGET_SPENT
    assert world.redeem(first).effect == first.effect


def test_dry_run_decides_everything_and_applies_nothing(bench) -> None:
    """Decided, charged and recorded; the handle is never honoured and the effect is settled. Spec: POL-11."""
    world = bench(dry_run=True, budgets=LINDEN_10)
    decision = world.pay(10, cause="turn")
    assert decision.dry_run
    assert refusal(world, decision) == RedeemRefusal.DRY_RUN
    assert refusal(world, decision) == RedeemRefusal.DRY_RUN
    assert world.kinds()[:2] == [("decision", "authorized"), ("settlement", "refused")]
    assert not world.gateway.settle(decision.effect, Confirmed(evidence=EvidenceKind.BALANCE), world.now)
    assert not world.gateway.settle(decision.effect, Refused(reason="dry_run"), world.now)
    assert world.pay(10, cause="turn").code is DenialCode.DUPLICATE
    assert world.pay(1).code is DenialCode.BUDGET_SPENT
    status = world.gateway.status()
    assert (status.dry_run, status.open_effects) == (True, 0)
    assert world.gateway.next_deadline() is None


def test_dry_run_asks_people_too(bench) -> None:
    """Approvals are opened and answered as ever, and nothing is applied. Spec: POL-11."""
    world = bench(dry_run=True, approvals={"money": "required"})
    answer = world.answer(world.pay().approval_id)
    assert answer.decision.dry_run
    assert refusal(world, answer.decision) == RedeemRefusal.DRY_RUN


def test_another_policy_counts_at_once(bench, wide) -> None:
    """Handles of the old policy die, budgets go on counting, and the new rules decide. Spec: SUP-8, POL-6."""
    world = bench(budgets=LINDEN_10)
    paid, waiting = world.pay(6), world.ask()
    world.redeem(paid)
    world.confirm(paid)
    tighter = wide(budgets=LINDEN_10, matrix={"public_chat": {"speak": "deny"}})
    assert world.gateway.replace_policy(tighter, world.now) == ()
    assert refusal(world, waiting) == RedeemRefusal.SUPERSEDED
    assert world.ask().code is DenialCode.ORIGIN_MAY_NOT
    assert world.pay(5).code is DenialCode.BUDGET_SPENT
    assert isinstance(world.pay(4), Authorized)
    assert world.gateway.policy.version == world.gateway.status().policy == tighter.version
    assert world.rows[-1].policy == tighter.version


def test_the_same_policy_again_changes_nothing(bench, wide) -> None:
    """A reload without a difference ends no authorisation."""
    world = bench()
    decision = world.ask()
    assert world.gateway.replace_policy(wide(), world.now) == ()
    assert world.redeem(decision).effect == decision.effect


def test_roles_never_change_live(bench) -> None:
    """A policy that names other avatars is refused whole. Spec: SUP-8."""
    world = bench()
    other = Policy(PolicySection(), RolesSection(owners=(U,)))
    with pytest.raises(OperatorError, match="restart"):
        world.gateway.replace_policy(other, world.now)
    assert isinstance(world.ask(), Authorized)


def test_budgets_go_on_after_a_restart(bench) -> None:
    """A new gateway with the old one's snapshot denies what the old one would have denied. Spec: POL-6."""
    world = bench(budgets=LINDEN_10)
    world.pay(10)
    again = bench(budgets=LINDEN_10, snapshot=world.gateway.budget_snapshot())
    again.pass_time(30)
    assert again.pay(1).code is DenialCode.BUDGET_SPENT
    again.pass_time(40)
    assert isinstance(again.pay(1), Authorized)


def test_the_clock_going_back_reopens_no_budget(bench) -> None:
    """A day back, a leap and daylight saving leave a spent budget spent. Spec: POL-6. Fault: 30."""
    world = bench(budgets=LINDEN_10)
    world.pay(10)
    for wall in (-86_400, +86_400, +3_600, -7_200, +1):
        world.wall += wall
        world.monotonic += 1
        assert world.pay(1).code is not None
        assert isinstance(world.pay(1), Denied)


def test_a_denial_leaves_no_trace_but_its_row(bench, people) -> None:
    """Denied: typed, recorded, and nothing in budgets, ledger or approvals moved. Spec: POL-3, POL-10."""
    world = bench(matrix={"public_chat": {"money": "owner"}})
    before = world.gateway.status()
    denied = world.pay(who=people["stranger"])
    after = world.gateway.status()
    assert (denied.code, len(world.rows)) == (DenialCode.ROLE_TOO_LOW, 1)
    assert msgspec.structs.replace(after, decisions={}) == msgspec.structs.replace(before, decisions={})


class Full(Exception):
    """The audit has no room."""


@pytest.mark.parametrize("dry", [False, True])
def test_what_cannot_be_recorded_does_not_happen(wide, dry) -> None:
    """An audit that fails stops the action: no handle comes out, none is alive, no approval waits. Spec: POL-10."""

    def fail(_) -> None:
        raise Full

    gateway = Gateway(wide(approvals={"money": "required"}, dry_run=dry), tokens=lambda: "t", audit=fail)
    gateway.open_generation(1)
    now = Instant(1.7e9, 1.0)
    request = {"origin": Origin.PUBLIC_CHAT, "generation": 1, "correlation": "c", "cause": "c"}
    for action in (Say(text="x"), PayAvatar(to=U, amount=1)):
        with pytest.raises(Full):
            gateway.decide(ask(action, **request), now)
    status = gateway.status()
    assert (status.open_effects, status.approvals, gateway.next_deadline()) == (0, (), None)


def ask(action, **fields):
    """Write a request of a stranger."""
    stranger = Principal(avatar_id="00000000-0000-4000-8000-00000000000d")
    return ActionRequest(action=action, principal=stranger, target_provenance=Provenance.CONFIGURATION, **fields)


def test_status_tells_what_an_operator_needs(bench) -> None:
    """Generation, switch, budgets, approvals, effects and counts by code. Spec: POL-3, OPS-2."""
    world = bench(approvals={"money": "required"}, matrix={"mcp": {"speak": "deny"}})
    world.ask()
    waiting = world.pay(cause="turn")
    world.ask(origin=Origin.MCP, who=None, client="desk")
    status = world.gateway.status()
    assert status.decisions == {"authorized": 1, "needs_approval": 1, "origin_may_not": 1}
    assert [view.approval_id for view in status.approvals] == [waiting.approval_id]
    assert (status.open_effects, status.in_doubt, status.held, status.generation) == (1, (), False, 1)
    assert {gauge.meter.value: gauge.used for gauge in status.budgets}["calls.speak"] == 1
    assert isinstance(waiting, NeedsApproval)
