"""Whose answer counts, once, and what it leads to under the policy of the day."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.actions import PayAvatar
from gridagent.authority import DenialCode, Origin, Provenance
from gridagent.limits import APPROVALS_PER_PRINCIPAL_MAX
from gridagent.policy import Authorized, Denied, NeedsApproval
from gridagent.policy.decisions import AnswerCode

U = "00000000-0000-4000-8000-00000000000e"
ASKS = {"approvals": {"money": "required", "speak": "not_required"}}
IM = Origin.DIRECT_IM


def asked(bench, **over):
    """Open a bench on which the owner has asked to pay 10."""
    world = bench(**{**ASKS, **over})
    waiting = world.pay(10, cause="turn-1", origin=IM)
    assert isinstance(waiting, NeedsApproval)
    return world, waiting.approval_id


def test_the_operator_allows_and_it_is_authorised(bench) -> None:
    """A yes at the console gives the decision, the handle, and the exact arguments that were shown. Spec: POL-7."""
    world, approval_id = asked(bench)
    (view,) = world.gateway.status().approvals
    assert view.summary == f"pay_avatar amount=10 description='' to='{U}'"
    assert (view.approval_id, view.action, view.rule) == (approval_id, "pay_avatar", "approval.money")
    answer = world.answer(approval_id)
    assert (answer.code, answer.accepted) == (AnswerCode.ALLOWED, True)
    assert isinstance(answer.decision, Authorized)
    assert answer.decision.rule == "approval.money"
    assert answer.request.cause == "turn-1"
    assert world.redeem(answer.decision).action == PayAvatar(to=U, amount=10)
    assert world.gateway.status().approvals == ()


def test_a_no_is_a_no(bench) -> None:
    """A denied request is denied, and stays denied for that very effect. Spec: POL-7."""
    world, approval_id = asked(bench)
    answer = world.answer(approval_id, allow=False)
    assert (answer.code, answer.accepted) == (AnswerCode.DENIED, True)
    assert answer.decision == Denied(code=DenialCode.APPROVAL_DENIED, rule="approval")
    assert world.pay(10, cause="turn-1", origin=IM).code is DenialCode.APPROVAL_DENIED
    assert isinstance(world.pay(10, cause="turn-2", origin=IM), NeedsApproval)


def test_one_effect_has_one_approval(bench) -> None:
    """Asking again while it waits gives the same approval, so one answer answers one request. Spec: POL-7."""
    world, approval_id = asked(bench)
    again = world.pay(10, cause="turn-1", origin=IM)
    assert again.approval_id == approval_id
    other = world.pay(10, cause="turn-1", origin=IM, ordinal=1)
    assert other.approval_id != approval_id
    assert len(world.gateway.status().approvals) == 2


@pytest.mark.parametrize("allow", [True, False])
@pytest.mark.parametrize("again", [True, False])
def test_a_second_answer_does_nothing_and_says_so(bench, allow, again) -> None:
    """The first answer counts; no second one changes budgets, effects or state. Spec: POL-7."""
    world, approval_id = asked(bench)
    world.answer(approval_id, allow=allow)
    before = world.gateway.status()
    second = world.answer(approval_id, allow=again)
    assert (second.code, second.accepted, second.decision) == (AnswerCode.ALREADY_ANSWERED, False, None)
    assert world.gateway.status() == before


def test_nobody_knows_an_approval_that_never_was(bench) -> None:
    """An unknown id is told apart, to those who may answer. Spec: POL-7."""
    world, _ = asked(bench)
    assert world.answer("made-up").code is AnswerCode.UNKNOWN
    assert world.rows[-1].code == "unknown"


@pytest.mark.parametrize(
    ("who", "client", "via"),
    [
        ("stranger", "", IM),
        ("trusted", "", IM),
        ("owner", "", Origin.PUBLIC_CHAT),
        ("owner", "", Origin.OPERATOR_CONSOLE),
        ("owner", "", Origin.OBJECT_TEXT),
        ("owner", "", Origin.GOAL),
        (None, "operator", IM),
        (None, "operator", Origin.GOAL),
        (None, "operator", Origin.PUBLIC_CHAT),
        (None, "desk", Origin.AG_UI),
        (None, "operator", Origin.AG_UI),
        (None, "operator", Origin.MCP),
        (None, "Owner", IM),
    ],
)
def test_nobody_else_can_answer(bench, people, who, client, via) -> None:
    """Strangers, other doors, fronts and posers don't count, even with the nonce, and learn nothing. Spec: POL-7."""
    world, approval_id = asked(bench)
    nonce = world.gateway.nonce_of(approval_id)
    for target in (approval_id, "made-up"):
        answer = world.answer(target, who=who and people[who], client=client, via=via, nonce=nonce)
        assert (answer.code, answer.accepted) == (AnswerCode.WRONG_PERSON, False)
    assert world.gateway.status().approvals[0].approval_id == approval_id
    assert world.answer(approval_id).accepted


def test_the_owner_answers_over_im_with_the_nonce(bench, people) -> None:
    """Without the right nonce nothing happens; with it the owner's yes counts. Spec: POL-7."""
    world, approval_id = asked(bench)
    nonce = world.gateway.nonce_of(approval_id)
    for wrong in (None, "", "token-0", nonce.lower(), f"{nonce} "):
        answer = world.answer(approval_id, who=people["owner"], via=IM, nonce=wrong)
        assert answer.code is AnswerCode.WRONG_NONCE
        world.gateway._desk._book.find(approval_id).wrong_nonces = 0
    assert world.answer(approval_id, who=people["owner"], via=IM, nonce=nonce).code is AnswerCode.ALLOWED
    assert world.gateway.nonce_of(approval_id) is None


def test_a_nonce_of_another_approval_is_wrong(bench, people) -> None:
    """Each approval has its own nonce; a stale one opens nothing. Spec: POL-7."""
    world, first = asked(bench)
    second = world.pay(20, origin=IM).approval_id
    stale = world.gateway.nonce_of(first)
    world.answer(first, allow=False)
    assert world.answer(second, who=people["owner"], via=IM, nonce=stale).code is AnswerCode.WRONG_NONCE


def test_a_nonce_is_one_while_its_approval_waits(bench) -> None:
    """Of several that wait each is known, and nothing else; one that was answered is no secret. Spec: POL-7."""
    world, first = asked(bench)
    second = world.pay(20, origin=IM).approval_id
    nonces = [world.gateway.nonce_of(each) for each in (first, second)]
    assert [world.gateway.is_nonce(each) for each in (*nonces, "0123-4567-89AB")] == [True, True, False]
    world.answer(first, allow=False)
    assert [world.gateway.is_nonce(each) for each in nonces] == [False, True]


def test_guessing_nonces_ends_and_the_operator_still_answers(bench, people) -> None:
    """After a few wrong nonces the right one is too late over IM. Spec: POL-7."""
    world, approval_id = asked(bench)
    nonce = world.gateway.nonce_of(approval_id)
    codes = [world.answer(approval_id, who=people["owner"], via=IM, nonce="guess").code for _ in range(5)]
    assert set(codes) == {AnswerCode.WRONG_NONCE}
    assert world.answer(approval_id, who=people["owner"], via=IM, nonce=nonce).code is AnswerCode.NONCE_LOCKED
    assert world.answer(approval_id).code is AnswerCode.ALLOWED


def test_trusted_avatars_answer_where_the_policy_says_and_never_themselves(bench, people) -> None:
    """With ``approvers: trusted`` an authorised avatar answers for others, not for their own request. Spec: POL-7."""
    world = bench(**ASKS, approvers="trusted")
    own = world.pay(10, who=people["trusted"], origin=IM).approval_id
    for who, code in (("trusted", AnswerCode.WRONG_PERSON), ("other_trusted", AnswerCode.ALLOWED)):
        answer = world.answer(own, who=people[who], via=IM, nonce=world.gateway.nonce_of(own))
        assert answer.code is code


def test_an_answer_that_comes_too_late_does_nothing(bench) -> None:
    """An expired approval is expired, also when nobody had looked at the clock yet. Spec: POL-7."""
    world, approval_id = asked(bench, approval_ttl_s=30.0)
    world.pass_time(30)
    late = world.answer(approval_id)
    assert (late.code, late.accepted) == (AnswerCode.EXPIRED, False)
    assert world.answer(approval_id).code is AnswerCode.EXPIRED
    assert world.pay(10, cause="turn-1", origin=IM).code is DenialCode.APPROVAL_EXPIRED
    assert world.kinds().count(("approval", "expired")) == 3  # it expired, and two answers were turned away


def test_asking_again_after_the_time_is_up_finds_it_expired(bench) -> None:
    """A request whose approval ran out is told so, also when nobody had looked at the clock yet. Spec: POL-7."""
    world, approval_id = asked(bench, approval_ttl_s=30.0)
    world.pass_time(30)
    assert world.pay(10, cause="turn-1", origin=IM).code is DenialCode.APPROVAL_EXPIRED
    assert world.answer(approval_id).code is AnswerCode.EXPIRED


def test_a_wall_clock_set_back_keeps_no_approval_alive(bench) -> None:
    """Time is up by the monotonic clock. Spec: POL-7. Fault: 30."""
    world, approval_id = asked(bench, approval_ttl_s=30.0)
    world.monotonic += 31
    world.wall -= 86_400
    (ended,) = world.gateway.expire(world.now)
    assert (ended.approval_id, ended.how, ended.effect) == (approval_id, "expired", None)


def test_a_cancelled_turn_takes_its_approvals_along(bench) -> None:
    """No orphan is left to be answered; another turn's approval goes on waiting. Spec: POL-7."""
    world, approval_id = asked(bench)
    other = world.pay(20, cause="turn-2", origin=IM).approval_id
    (ended,) = world.gateway.cancel_cause("turn-1", world.now)
    assert (ended.approval_id, ended.how) == (approval_id, "cancelled")
    assert world.answer(approval_id).code is AnswerCode.CANCELLED
    assert world.pay(10, cause="turn-1", origin=IM).code is DenialCode.APPROVAL_CANCELLED
    assert world.answer(other).code is AnswerCode.ALLOWED


def test_another_policy_supersedes_what_waits(bench, wide) -> None:
    """An approval is bound to the policy it was opened under; the same effect can be asked for anew. Spec: POL-7."""
    world, approval_id = asked(bench)
    assert world.gateway.replace_policy(wide(**ASKS, dry_run=True), world.now) == (approval_id,)
    assert world.answer(approval_id).code is AnswerCode.SUPERSEDED
    assert isinstance(world.pay(10, cause="turn-1", origin=IM), NeedsApproval)


@pytest.mark.parametrize("obstacle", ["held", "not_ready", "resource_busy"])
def test_a_yes_at_a_bad_moment_is_not_used_up(bench, obstacle) -> None:
    """Held, not connected or busy: nothing changes, it says why, and the same yes counts later. Spec: POL-7."""
    world, approval_id = asked(bench)
    other = world.pay(20, origin=IM).approval_id
    if obstacle == "held":
        world.gateway.hold(world.now)
    elif obstacle == "not_ready":
        world.gateway.close_generation(1, world.now)
    else:
        first = world.answer(other).decision
    answer = world.answer(approval_id)
    assert (answer.code, answer.accepted, answer.decision.code.value) == (AnswerCode.NOT_NOW, False, obstacle)
    msgspec.structs.force_setattr(answer.request.action, "amount", 999)  # what is handed out is a copy
    if obstacle == "held":
        world.gateway.release(world.now)
    elif obstacle == "not_ready":
        world.gateway.open_generation(2)
    else:
        world.gateway.abandon(first.effect, "gone", world.now)
    answer = world.answer(approval_id)
    assert answer.code is AnswerCode.ALLOWED
    assert world.redeem(answer.decision, generation=answer.request.generation).action.amount == 10


def test_a_yes_is_decided_under_todays_budget(bench) -> None:
    """What was affordable when asked may not be when answered; the yes is then used up. Spec: POL-7."""
    world, approval_id = asked(bench, budgets={"linden": [{"per": "global", "limit": 15, "window_s": 60}]})
    other = world.pay(10, origin=IM).approval_id
    paid = world.answer(other).decision
    world.redeem(paid)
    world.confirm(paid)
    answer = world.answer(approval_id)
    assert (answer.code, answer.accepted) == (AnswerCode.REFUSED, True)
    assert answer.decision.code is DenialCode.BUDGET_SPENT
    assert world.answer(approval_id).code is AnswerCode.ALREADY_ANSWERED


def test_an_approved_action_survives_a_reconnect(bench) -> None:
    """The yes is about the action: it is authorised for the connection that is live now. Spec: POL-7, SUP-5."""
    world, approval_id = asked(bench)
    world.gateway.close_generation(1, world.now)
    world.gateway.open_generation(2)
    answer = world.answer(approval_id)
    assert answer.request.generation == 2
    assert world.redeem(answer.decision, generation=2).generation == 2


def test_what_was_asked_for_cannot_be_changed_while_it_waits(bench) -> None:
    """What is approved are the bytes that were shown, whatever the asker does meanwhile. Spec: POL-7. Fault: 29."""
    world = bench(**ASKS)
    request = world.request(PayAvatar(to=U, amount=10))
    waiting = world.gateway.decide(request, world.now)
    msgspec.structs.force_setattr(request.action, "amount", 500)
    msgspec.structs.force_setattr(request, "action", PayAvatar(to=U, amount=500))
    decision = world.answer(waiting.approval_id).decision
    assert world.redeem(decision).action == PayAvatar(to=U, amount=10)


def test_one_asker_cannot_fill_the_desk(bench, people) -> None:
    """A principal's approvals are bounded; others still get theirs. Spec: BND-12."""
    world = bench(**ASKS)
    for _ in range(APPROVALS_PER_PRINCIPAL_MAX):
        assert isinstance(world.pay(1, who=people["stranger"]), NeedsApproval)
    assert world.pay(1, who=people["stranger"]) == Denied(code=DenialCode.APPROVALS_FULL, rule="approvals")
    assert isinstance(world.pay(1), NeedsApproval)


def test_the_nonce_is_in_nothing_that_is_shown(bench) -> None:
    """Status, audit rows, decisions and answers hold no nonce. Spec: POL-7."""
    world = bench(**ASKS)
    waiting = world.pay(10, target_provenance=Provenance.CONFIGURATION)
    nonce = world.gateway.nonce_of(waiting.approval_id)
    shown = repr((waiting, world.gateway.status(), world.rows))
    shown += repr(world.answer(waiting.approval_id, allow=False))
    assert nonce not in shown
    assert world.gateway.nonce_of("made-up") is None


def test_only_the_nonce_of_what_waits_is_one(bench) -> None:
    """So that it can be kept from others; what is over has none that counts. Spec: POL-7."""
    world = bench(approvals={"money": "required"})
    first, second = world.pay().approval_id, world.pay().approval_id
    nonces = [world.gateway.nonce_of(each) for each in (first, second)]
    assert [world.gateway.is_nonce(nonce) for nonce in nonces] == [True, True]
    assert world.gateway.is_nonce("0000-0000-0000") is False
    world.answer(first, allow=False)
    assert [world.gateway.is_nonce(nonce) for nonce in nonces] == [False, True]
