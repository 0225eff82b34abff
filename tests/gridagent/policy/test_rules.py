"""Each rule alone, and the order in which they are tried."""

from __future__ import annotations

import itertools

import pytest

from gridagent.actions import (
    AnswerTeleportOffer,
    FollowAvatar,
    PayAvatar,
    Position,
    Resource,
    Say,
    SendIm,
    StopMoving,
    TeleportHome,
    TeleportTo,
    WalkTo,
)
from gridagent.authority import DenialCode, Origin, Provenance
from gridagent.policy import Authorized, Denied, NeedsApproval
from gridagent.policy.rules import CAPACITY, RULES

HERE = Position(x=1.0, y=2.0)
U = "00000000-0000-4000-8000-00000000000e"


def test_the_order_of_the_rules_is_the_documented_one() -> None:
    """The order is part of the contract. Spec: OPS-8, POL-3."""
    assert [rule.__name__ for rule in (*RULES, *CAPACITY)] == [
        "not_held",
        "storage_keeps",
        "live_generation",
        "origin_may_cause",
        "matrix",
        "taint",
        "target",
        "patterns",
        "approvals",
        "grant",
        "unknown_effect",
        "room",
        "resource_free",
    ]


# One request that breaks as many rules as can be broken together; each is mended in turn.
BROKEN = [
    ("kind", DenialCode.UNKNOWN_ACTION),
    ("arguments", DenialCode.INVALID_ARGUMENTS),
    ("hold", DenialCode.HELD),
    ("generation", DenialCode.STALE_GENERATION),
    ("origin", DenialCode.ORIGIN_MAY_NOT),
    ("matrix.direct_im.money", DenialCode.ROLE_TOO_LOW),
    ("taint.money", DenialCode.TAINTED),
    ("target.money", DenialCode.TARGET_NOT_AUTHORISED),
    ("pattern.big", DenialCode.PATTERN_DENIED),
    ("budget.linden.global.60s", DenialCode.BUDGET_SPENT),
]


def test_the_first_broken_rule_is_the_one_that_is_told(bench, people) -> None:
    """Mending one rule after the other brings up the next, in order, and at last the action passes. Spec: POL-3."""
    world = bench(
        matrix={"direct_im": {"money": "trusted"}},
        tainted={"money": "deny"},
        target_from={"money": ["configuration"]},
        patterns={"big": {"action": "pay_avatar", "argument": "amount", "over": 50, "then": "deny"}},
        budgets={"linden": [{"per": "global", "limit": 40, "window_s": 60}]},
    )
    bad = PayAvatar(to=U, amount=60)
    wrong = {
        "action": "pay",
        "who": people["stranger"],
        "origin": Origin.OBJECT_TEXT,
        "generation": 7,
        "tainted": True,
        "target_provenance": Provenance.MODEL,
    }
    broken = SendIm(to="00000000-0000-0000-0000-000000000000", text="x")
    world.gateway.hold(world.now)
    mends = [
        {"action": broken},
        {"action": bad},
        "release",
        {"generation": 1},
        {"origin": Origin.DIRECT_IM},
        {"who": people["trusted"]},
        {"tainted": False},
        {"target_provenance": Provenance.CONFIGURATION},
        {"action": PayAvatar(to=U, amount=45)},
        {"action": PayAvatar(to=U, amount=40)},
    ]
    for (rule, code), mend in zip(BROKEN, mends, strict=True):
        assert world.ask(**wrong) == Denied(code=code, rule=rule)
        if mend == "release":
            world.gateway.release(world.now)
        else:
            wrong.update(mend)
    assert isinstance(world.ask(**wrong), Authorized)


def test_nothing_passes_before_a_generation_is_live(bench) -> None:
    """Without a connection the answer is not_ready, whatever generation is named. Spec: BND-6, SUP-5."""
    world = bench(live=False)
    assert world.ask(generation=1) == Denied(code=DenialCode.NOT_READY, rule="generation")
    world.gateway.open_generation(1)
    assert isinstance(world.ask(generation=1), Authorized)
    assert world.ask(generation=0).code is DenialCode.STALE_GENERATION
    assert world.ask(generation=2).code is DenialCode.STALE_GENERATION


@pytest.mark.parametrize("who", ["owner", "trusted", "stranger", None])
def test_object_text_never_causes_anything(bench, people, who) -> None:
    """Under a policy that lets everybody do everything, object text still does nothing. Spec: POL-4. Fault: 15."""
    world = bench()
    assert world.ask(who=who and people[who], origin=Origin.OBJECT_TEXT).rule == "origin"


@pytest.mark.parametrize("origin", [Origin.PUBLIC_CHAT, Origin.DIRECT_IM])
def test_words_without_an_avatar_behind_them_do_nothing(bench, origin) -> None:
    """A notice that poses as system, group or offline IM has no avatar, so no role, whatever door. Fault: 16."""
    world = bench()
    for name in ("", "Second Life", "system", "operator", "group notice"):
        assert world.ask(who=None, client=name, origin=origin).code is DenialCode.ROLE_TOO_LOW


def test_the_door_is_kept_as_it_was(bench, people) -> None:
    """An owner's cell in one door opens no other for them. Fault: 16."""
    world = bench(matrix={"public_chat": {"money": "deny"}, "direct_im": {"money": "owner"}})
    assert world.pay(origin=Origin.PUBLIC_CHAT).code is DenialCode.ORIGIN_MAY_NOT
    assert isinstance(world.pay(origin=Origin.DIRECT_IM), Authorized)


@pytest.mark.parametrize(("verdict", "kind"), [("allow", Authorized), ("approve", NeedsApproval), ("deny", Denied)])
def test_taint_can_be_let_pass_asked_about_or_denied(bench, verdict, kind) -> None:
    """A turn that has read a stranger's words is treated as the policy says; a clean one passes. Spec: POL-5."""
    world = bench(tainted={"money": verdict})
    decision = world.pay(tainted=True)
    assert isinstance(decision, kind)
    if verdict != "allow":
        assert decision.rule == "taint.money"
    world = bench(tainted={"money": verdict})
    assert isinstance(world.pay(tainted=False), Authorized)


@pytest.mark.parametrize(
    ("allowed", "came_from"), list(itertools.product(("configuration", "authorised_words", "model"), Provenance))
)
def test_a_target_must_come_from_where_the_policy_says(bench, allowed, came_from) -> None:
    """Payee and destination are refused when they come from elsewhere. Spec: POL-5."""
    for action, capability in (
        (PayAvatar(to=U, amount=1), "money"),
        (TeleportTo(region="Plaza", position=HERE), "teleport"),
        (AnswerTeleportOffer(offer_id="o", accept=True), "teleport"),
    ):
        world = bench(target_from={capability: [allowed]})
        decision = world.ask(action, target_provenance=came_from)
        if came_from.value == allowed:
            assert isinstance(decision, Authorized)
        else:
            assert decision == Denied(code=DenialCode.TARGET_NOT_AUTHORISED, rule=f"target.{capability}")


def test_an_action_without_a_target_needs_no_provenance(bench) -> None:
    """Going home and walking aim at nobody's words; declining an offer leads nowhere. Spec: POL-5."""
    world = bench(target_from={"teleport": [], "move": []}, tainted={"teleport": "deny"})
    model = {"target_provenance": Provenance.MODEL}
    assert isinstance(world.ask(TeleportHome(), **model), Authorized)
    assert isinstance(world.ask(WalkTo(position=HERE), **model), Authorized)
    declined = AnswerTeleportOffer(offer_id="o", accept=False)
    assert isinstance(world.ask(declined, tainted=True, **model), Authorized)
    assert world.ask(FollowAvatar(avatar_id=U), **model).rule == "target.move"


def test_a_pattern_can_deny_or_ask_and_denial_wins(bench) -> None:
    """Patterns look at the arguments; where two match, the one that denies is told. Spec: POL-14."""
    amount = {"action": "pay_avatar", "argument": "amount"}
    patterns = {
        "ask-over-10": {**amount, "over": 10, "then": "approve"},
        "never-over-100": {**amount, "over": 100, "then": "deny"},
    }
    assert isinstance(bench(patterns=patterns).pay(10), Authorized)
    world = bench(patterns=patterns)
    asked = world.pay(11)
    assert isinstance(asked, NeedsApproval)
    assert asked.rule == "pattern.ask-over-10"
    assert world.pay(101) == Denied(code=DenialCode.PATTERN_DENIED, rule="pattern.never-over-100")


def test_an_approval_is_asked_for_also_when_a_budget_allows(bench) -> None:
    """Enough budget is no consent. Spec: POL-14."""
    world = bench(approvals={"money": "required"})
    asked = world.pay(1)
    assert isinstance(asked, NeedsApproval)
    assert asked.rule == "approval.money"


def test_nobody_is_asked_for_what_would_be_denied_anyway(bench) -> None:
    """A spent budget, a denying pattern or a known effect is told at once; no approval is opened. Spec: POL-7."""
    world = bench(
        approvals={"money": "required"},
        budgets={"linden": [{"per": "global", "limit": 5, "window_s": 60}]},
        patterns={"big": {"action": "pay_avatar", "argument": "amount", "over": 50, "then": "deny"}},
    )
    assert world.pay(51).code is DenialCode.PATTERN_DENIED
    assert world.pay(6).code is DenialCode.BUDGET_SPENT
    assert world.gateway.status().approvals == ()


def test_a_cause_has_one_effect(bench) -> None:
    """The same action of the same cause is a duplicate, however it ended; another ordinal is another. Spec: EFX-2."""
    world = bench()
    first = world.ask(cause="same")
    assert world.ask(cause="same") == Denied(code=DenialCode.DUPLICATE, rule="ledger")
    world.redeem(first)
    assert world.ask(cause="same").code is DenialCode.DUPLICATE
    world.confirm(first)
    assert world.ask(cause="same").code is DenialCode.DUPLICATE
    assert isinstance(world.ask(cause="same", ordinal=1), Authorized)
    assert isinstance(world.ask(Say(text="other"), cause="same"), Authorized)


def test_one_payment_is_in_flight(bench) -> None:
    """A second payment waits for the end of the first, whatever the end is. Spec: EFX-5."""
    world = bench()
    first = world.pay()
    assert world.pay() == Denied(code=DenialCode.RESOURCE_BUSY, rule="resource.payment")
    world.redeem(first)
    assert world.pay().code is DenialCode.RESOURCE_BUSY
    world.gateway.abandon(first.effect, "deadline", world.now)
    second = world.pay()
    assert isinstance(second, Authorized)


def test_a_busy_body_is_refused_and_preempted(bench) -> None:
    """What the session says is busy is busy, except for what takes the body from its holder. Spec: LIV-7."""
    world = bench()
    busy = frozenset({Resource.BODY})
    walk = WalkTo(position=HERE)
    assert world.ask(walk, busy=busy) == Denied(code=DenialCode.RESOURCE_BUSY, rule="resource.body")
    assert isinstance(world.ask(StopMoving(), busy=busy), Authorized)
    assert isinstance(world.ask(busy=busy), Authorized)
    assert isinstance(world.ask(walk), Authorized)


@pytest.mark.parametrize(
    ("origin", "who", "client", "verbatim", "asked"),
    [
        (Origin.OPERATOR_CONSOLE, None, "operator", True, False),
        (Origin.OPERATOR_CONSOLE, None, "operator", False, True),
        (Origin.GOAL, None, "operator", True, True),
        (Origin.DIRECT_IM, "owner", "", True, True),
        (Origin.AG_UI, None, "desk", True, True),
        (Origin.OPERATOR_CONSOLE, "owner", "", True, True),
    ],
)
def test_only_what_the_operator_wrote_needs_no_second_yes(bench, people, origin, who, client, verbatim, asked) -> None:
    """The operator's very own request needs no approval by the operator; everybody else's words do. Spec: POL-14."""
    world = bench(approvals={"money": "required"}, target_from={"money": ["authorised_words"]})
    fields = {"who": who and people[who], "client": client, "origin": origin, "verbatim": verbatim}
    decision = world.pay(**fields)
    assert isinstance(decision, NeedsApproval if asked else Authorized)
    unnamed = world.pay(**fields, target_provenance=Provenance.MODEL)
    assert (unnamed.code is DenialCode.TARGET_NOT_AUTHORISED) is asked


def test_the_operators_own_request_is_not_above_the_other_rules(bench) -> None:
    """Hold, patterns and budgets bind the operator too; so does a target that must come from configuration."""
    operator = {"who": None, "client": "operator", "origin": Origin.OPERATOR_CONSOLE, "verbatim": True}
    world = bench(
        patterns={"big": {"action": "pay_avatar", "argument": "amount", "over": 50, "then": "deny"}},
        budgets={"linden": [{"per": "global", "limit": 10, "window_s": 60}]},
    )
    assert world.pay(51, **operator).code is DenialCode.PATTERN_DENIED
    assert world.pay(11, **operator).code is DenialCode.BUDGET_SPENT
    world.gateway.hold(world.now)
    assert world.pay(1, **operator).code is DenialCode.HELD
    strict = bench(target_from={"money": ["configuration"]})
    named = strict.pay(1, **operator, target_provenance=Provenance.MODEL)
    assert named.code is DenialCode.TARGET_NOT_AUTHORISED
