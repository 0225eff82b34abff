"""A grant admits exactly what it says, as often as it says, and no longer."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from gridagent.actions import GiveItem, PayAvatar, Say, StopMoving
from gridagent.authority import DenialCode, Origin, Principal
from gridagent.errors import IllegalTransition
from gridagent.policy import Authorized, Denied, NeedsApproval
from gridagent.policy.changes import EffectReserved
from gridagent.policy.grants import GRANT, Grant, GrantInput, GrantRecord, GrantState

U = "00000000-0000-4000-8000-00000000000e"
V = "00000000-0000-4000-8000-00000000000f"
ASKS = {"approvals": {"money": "required", "inventory": "required"}}
RENT = PayAvatar(to=U, amount=10, description="rent")

OVER_FIVE = {"action": "pay_avatar", "argument": "amount", "over": 5, "then": "deny"}

LEGAL = {("active", "revoke"): "revoked", ("active", "expire"): "expired", ("active", "supersede"): "superseded"}


@pytest.mark.parametrize(("state", "given"), list(itertools.product(GrantState, GrantInput)))
def test_every_state_and_input_of_a_grant(state, given) -> None:
    """A grant ends once, and what ended stays ended. Spec: POL-8."""
    target = LEGAL.get((state.value, given.value))
    if target is None:
        with pytest.raises(IllegalTransition):
            GRANT.step(state, given)
    else:
        assert GRANT.step(state, given).value == target


def granted(bench, *actions, **fields):
    """Open a bench on which a payment was granted to the operator's schedule."""
    world = bench(**ASKS)
    answer = world.grant(*(actions or (RENT,)), **fields)
    assert answer.grant_id is not None, answer
    return world, answer.grant_id


def finish(world, decision) -> None:
    """Carry an authorised payment out, so that the next can begin."""
    world.redeem(decision)
    world.confirm(decision)


def refusal(decision):
    """Return code and rule of a denial."""
    assert isinstance(decision, Denied), decision
    return decision.code.value, decision.rule


def test_what_was_granted_needs_no_yes(bench) -> None:
    """The exact action, for its principal, through the schedule's door, passes the approval gate. Spec: POL-8."""
    world, grant_id = granted(bench)
    assert isinstance(world.fire(None, RENT), NeedsApproval)
    decision = world.fire(grant_id, RENT)
    assert isinstance(decision, Authorized)
    assert decision.rule == "grant"
    assert world.redeem(decision).action == RENT
    row = next(row for row in world.rows if row.effect == decision.effect)
    assert (row.grant_id, row.rule, row.approval_id) == (grant_id, "grant", None)
    assert world.confirm(decision)
    assert world.rows[-1].grant_id == grant_id
    (view,) = world.gateway.status().grants
    assert (view.grant_id, view.used, view.used_in_all, view.times) == (grant_id, 1, 1, 2)


@pytest.mark.parametrize(
    "other",
    [
        PayAvatar(to=U, amount=11, description="rent"),
        PayAvatar(to=V, amount=10, description="rent"),
        PayAvatar(to=U, amount=10),
        PayAvatar(to=U, amount=10, description="rent "),
        GiveItem(item_id=V, to=U),
        StopMoving(),
    ],
)
def test_whatever_differs_in_one_argument_is_refused(bench, other) -> None:
    """Also what would have needed no yes at all: naming a grant is claiming to match it. Spec: POL-8."""
    world, grant_id = granted(bench)
    assert refusal(world.fire(grant_id, other)) == ("grant_refused", "grant.mismatch")
    assert world.gateway.status().grants[0].used_in_all == 0


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"client": "desk"}, "principal"),
        ({"who": U}, "principal"),
        ({"origin": Origin.GOAL}, "origin"),
        ({"origin": Origin.OPERATOR_CONSOLE, "verbatim": True}, "origin"),
        ({"grant": "made-up"}, "unknown"),
        ({"grant": ""}, "unknown"),
    ],
)
def test_whoever_else_or_wherever_else_is_refused(bench, fields, why) -> None:
    """Another principal, another door, another grant. Spec: POL-8, POL-4."""
    world, grant_id = granted(bench)
    assert refusal(world.fire(grant_id, RENT, **fields)) == ("grant_refused", f"grant.{why}")


def test_a_principal_must_be_the_very_same(bench, people) -> None:
    """An avatar that also carries a client's name is not the avatar the grant names. Spec: POL-8, POL-4."""
    world, grant_id = granted(bench, who=people["owner"])
    assert isinstance(world.fire(grant_id, RENT, who=people["owner"]), Authorized)
    request = world.request(
        RENT, origin=Origin.SCHEDULE, grant=grant_id, principal=Principal(avatar_id=people["owner"], client="operator")
    )
    assert refusal(world.gateway.decide(request, world.now)) == ("grant_refused", "grant.principal")


def test_a_grant_allows_a_set_of_arguments_and_nothing_between(bench) -> None:
    """Each listed action passes; a mixture of two does not. Spec: POL-8."""
    first, second = PayAvatar(to=U, amount=10), PayAvatar(to=V, amount=20)
    world, grant_id = granted(bench, first, second, times=5)
    for action in (second, first):
        finish(world, world.fire(grant_id, action))
    assert refusal(world.fire(grant_id, PayAvatar(to=U, amount=20))) == ("grant_refused", "grant.mismatch")
    assert world.gateway.status().grants[0].summary.endswith(" or 1 more")


def test_a_grant_is_used_as_often_as_it_says(bench) -> None:
    """Two within the window; the third is denied, and passes once the window has moved on. Spec: POL-8, POL-6."""
    world, grant_id = granted(bench, times=2, window_s=60)
    for _ in range(2):
        finish(world, world.fire(grant_id, RENT))
    assert refusal(world.fire(grant_id, RENT)) == ("grant_spent", "grant.times")
    world.pass_time(59)
    assert refusal(world.fire(grant_id, RENT)) == ("grant_spent", "grant.times")
    world.pass_time(5)
    assert isinstance(world.fire(grant_id, RENT), Authorized)


def test_a_use_is_never_given_back(bench) -> None:
    """Cancelled, expired or refused by the grid: a use is used. Spec: POL-8. Fault: 28."""
    world, grant_id = granted(bench, times=1)
    decision = world.fire(grant_id, RENT)
    world.gateway.abandon(decision.effect, "gone", world.now)
    assert refusal(world.fire(grant_id, RENT)) == ("grant_spent", "grant.times")


def test_a_denial_uses_nothing(bench) -> None:
    """Budget short, held or busy: the grant is as it was. Spec: POL-8."""
    world = bench(**ASKS, budgets={"linden": [{"per": "global", "limit": 15, "window_s": 60}]})
    grant_id = world.grant(RENT).grant_id
    first = world.fire(grant_id, RENT)
    assert world.fire(grant_id, RENT).code is DenialCode.RESOURCE_BUSY
    finish(world, first)
    assert world.fire(grant_id, RENT).code is DenialCode.BUDGET_SPENT
    world.gateway.hold(world.now)
    assert world.fire(grant_id, RENT).code is DenialCode.HELD
    assert world.gateway.status().grants[0].used_in_all == 1


def test_one_firing_of_a_schedule_is_one_effect(bench) -> None:
    """Running one cause again is a duplicate, also with the grant. Spec: POL-8, EFX-2."""
    world, grant_id = granted(bench)
    finish(world, world.fire(grant_id, RENT, cause="monday"))
    assert world.fire(grant_id, RENT, cause="monday").code is DenialCode.DUPLICATE
    assert world.gateway.status().grants[0].used_in_all == 1


@pytest.mark.parametrize(
    ("over", "code"),
    [
        ({"matrix": {"schedule": {"money": "deny"}}}, "origin_may_not"),
        ({"tainted": {"money": "deny"}}, "tainted"),
        ({"target_from": {"money": ["configuration"]}}, "target_not_authorised"),
        (
            {"patterns": {"x": {"action": "pay_avatar", "argument": "amount", "over": 5, "then": "deny"}}},
            "pattern_denied",
        ),
    ],
)
def test_a_grant_passes_approval_gates_and_nothing_else(bench, wide, over, code) -> None:
    """Matrix, taint, target and patterns bind as ever, also under a policy that came later. Spec: POL-8, POL-5."""
    world, grant_id = granted(bench)
    decision = world.fire(grant_id, RENT, tainted=True)
    assert isinstance(decision, Authorized)
    finish(world, decision)
    world.gateway.replace_policy(wide(**{**ASKS, **over}), world.now)
    assert world.fire(grant_id, RENT, tainted=True).code.value == code


def test_taint_and_patterns_that_ask_are_answered_by_the_grant(bench) -> None:
    """Every gate that would have asked a person is passed. Spec: POL-8, POL-5, POL-14."""
    ask = {"x": {"action": "pay_avatar", "argument": "amount", "over": 5, "then": "approve"}}
    world = bench(approvals={"money": "required"}, tainted={"money": "approve"}, patterns=ask)
    grant_id = world.grant(RENT).grant_id
    assert isinstance(world.fire(grant_id, RENT, tainted=True), Authorized)


@pytest.mark.parametrize(
    ("wait", "why"), [(0.0, "early"), (99.0, "early"), (100.0, None), (699.0, None), (700.0, "expired")]
)
def test_a_grant_counts_from_then_until_then(bench, wait, why) -> None:
    """Neither before nor after, by the wall clock. Spec: POL-8."""
    world, grant_id = granted(bench, start=100.0, valid_s=600.0)
    world.pass_time(wait)
    decision = world.fire(grant_id, RENT)
    if why is None:
        assert isinstance(decision, Authorized)
    else:
        assert refusal(decision) == ("grant_refused", f"grant.{why}")


def test_a_clock_set_back_revives_no_grant(bench) -> None:
    """Once its time was seen to be up, it stays up. Spec: POL-8. Fault: 30."""
    world, grant_id = granted(bench, valid_s=600.0)
    world.pass_time(601)
    assert refusal(world.fire(grant_id, RENT)) == ("grant_refused", "grant.expired")
    world.wall -= 86_400
    assert refusal(world.fire(grant_id, RENT)) == ("grant_refused", "grant.expired")
    (ended,) = world.gateway.expire(world.now)
    assert (ended.grant_id, ended.how, ended.action) == (grant_id, "expired", RENT)
    assert refusal(world.fire(grant_id, RENT)) == ("grant_refused", "grant.expired")
    assert world.gateway.expire(world.now) == ()


def test_a_clock_set_back_reopens_no_window(bench) -> None:
    """Uses are counted on the clock that budgets are read by. Spec: POL-8, POL-6. Fault: 30."""
    world, grant_id = granted(bench, times=1, window_s=60)
    finish(world, world.fire(grant_id, RENT))
    for wall in (-86_400, 3_600, -7_200):
        world.wall += wall
        world.monotonic += 1
        assert isinstance(world.fire(grant_id, RENT), Denied)


def test_a_use_goes_out_with_its_effect(bench) -> None:
    """Charge, use and reservation are one change. Spec: POL-8, POL-6."""
    world, grant_id = granted(bench)
    decision = world.fire(grant_id, RENT)
    change = next(each for each in world.changes if isinstance(each, EffectReserved))
    assert (change.effect, change.grant.grant_id, change.grant.used) == (decision.effect, grant_id, 1)
    assert dict(change.charge)["linden"] == 10
    assert sum(amount for _, amount in change.grant.buckets) == 1
    assert change.grant.at == world.wall


def test_what_others_do_to_the_terms_later_changes_nothing(bench) -> None:
    """A grant holds bytes of its own. Spec: POL-8. Fault: 29."""
    world = bench(**ASKS)
    rent = PayAvatar(to=U, amount=10)
    grant_id = world.grant(rent).grant_id
    msgspec.structs.force_setattr(rent, "amount", 999)
    assert refusal(world.fire(grant_id, rent)) == ("grant_refused", "grant.mismatch")
    assert isinstance(world.fire(grant_id, PayAvatar(to=U, amount=10)), Authorized)


def test_words_can_be_granted_too(bench) -> None:
    """What needs no yes can still be held to a grant. Spec: POL-8."""
    world, grant_id = granted(bench, Say(text="The shop is open."), times=1)
    assert isinstance(world.fire(grant_id, Say(text="The shop is open.")), Authorized)
    assert refusal(world.fire(grant_id, Say(text="The shop is open."))) == ("grant_spent", "grant.times")


def test_a_use_is_counted_at_its_moment() -> None:
    """Whoever counts need not have looked before; all machines have their names. Spec: POL-8, POL-6."""
    record = GrantRecord(
        grant_id="g", principal=Principal(client="operator"), action="say", allowed=(b"x",), summary="", times=2,
        window_s=16, valid_from=0.0, valid_until=1.0, given_by="", given_at=0.0, policy_version="",
    )  # fmt: skip
    grant = Grant(record)
    assert grant.count(5_500_000, 7.0).buckets == ((5_999_999, 1),)
    use = grant.count(6_500_000, 8.0)
    assert (use.used, use.at, use.buckets) == (2, 8.0, ((5_999_999, 1), (6_999_999, 1)))
    again = Grant(record, use=use)
    assert (again.used(6_600_000), again.used(22_500_000), again.used(23_500_000)) == (2, 1, 0)
    assert GRANT.name == "grant"
