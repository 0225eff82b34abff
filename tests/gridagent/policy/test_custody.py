"""Between authorisation and end: intents, safe mode, and sinks that fail at the worst moment."""

from __future__ import annotations

import contextlib

import pytest

from gridagent.actions import Confirmed, EvidenceKind, InDoubt, PayAvatar, Refused, Say, SettledBy
from gridagent.authority import DenialCode
from gridagent.errors import AuthorityRefused
from gridagent.policy import Authorized, Denied, RedeemRefusal
from gridagent.policy.changes import EffectReserved, EffectSent, EffectSettled, GenerationOpened, HoldChanged
from gridagent.policy.decisions import AnswerCode

U = "00000000-0000-4000-8000-00000000000e"


def kinds(world):
    """List the changes that went out, but for the first of every bench."""
    return [type(change).__name__ for change in world.changes[1:]]


def refusal(world, decision, verb="redeem", generation=1):
    """Try a handle that must be refused, and return the reason."""
    with pytest.raises(AuthorityRefused) as refused:
        getattr(world.gateway, verb)(decision.handle, generation=generation, now=world.now)
    return refused.value.reason


def test_an_intent_goes_out_before_the_handle_is_used(bench) -> None:
    """Reserved, sent, then redeemed: whoever cuts in between finds it sent. Spec: EFX-2, EFX-3."""
    world = bench(intents=True)
    decision = world.pay()
    assert kinds(world) == ["EffectReserved"]
    world.pass_time(1)
    world.gateway.intend(decision.handle, generation=1, now=world.now)
    assert kinds(world) == ["EffectReserved", "EffectSent"]
    assert world.changes[-1] == EffectSent(effect=decision.effect, at=world.wall)
    assert world.redeem(decision).action == decision.action
    assert kinds(world) == ["EffectReserved", "EffectSent"]
    world.confirm(decision)
    settled = world.changes[-1]
    assert isinstance(settled, EffectSettled)
    assert (settled.effect, settled.at) == (decision.effect, world.wall)


def test_what_costs_nothing_needs_no_intent(bench) -> None:
    """Talk is redeemed at once, and says so then. Spec: EFX-3."""
    world = bench(intents=True)
    decision = world.ask()
    assert world.redeem(decision).action == Say(text="hello")
    assert kinds(world) == ["EffectReserved", "EffectSent"]


def test_what_costs_something_is_not_honoured_without_an_intent(bench) -> None:
    """A session that forgets to make it durable can't send it. Spec: EFX-2, EFX-3."""
    world = bench(intents=True)
    decision = world.pay()
    assert refusal(world, decision) == RedeemRefusal.NOT_INTENDED
    assert refusal(world, decision) == RedeemRefusal.NOT_INTENDED
    assert kinds(world) == ["EffectReserved", "EffectSettled"]
    assert world.changes[-1].outcome == Refused(reason="not_intended")
    plain = bench()
    assert plain.redeem(plain.pay()).action == PayAvatar(to=U, amount=10)


@pytest.mark.parametrize("how", ["expired", "stale_generation", "held", "cancelled", "replayed", "forged"])
def test_an_intent_is_refused_as_a_redemption_is(bench, how) -> None:
    """The same refusals, with the same end. Spec: POL-1, EFX-2."""
    world = bench()
    decision = world.pay(cause="turn")
    generation = 1
    if how == "expired":
        world.pass_time(10)
    elif how == "stale_generation":
        generation = 2
    elif how == "held":
        world.gateway.hold(world.now)
    elif how == "cancelled":
        world.gateway.cancel_cause("turn", world.now)
    elif how == "replayed":
        world.redeem(decision)
    else:
        with pytest.raises(AuthorityRefused, match="forged"):
            world.gateway.intend(object(), generation=1, now=world.now)
        return
    assert refusal(world, decision, "intend", generation) == how


def test_an_intent_without_a_redemption_ends_as_refused(bench) -> None:
    """Nothing was sent, and whoever keeps changes hears of it. Spec: EFX-2. Fault: 28."""
    world = bench(intents=True)
    decision = world.pay()
    world.gateway.intend(decision.handle, generation=1, now=world.now)
    world.pass_time(10)
    assert refusal(world, decision) == RedeemRefusal.EXPIRED
    assert world.changes[-1].outcome == Refused(reason="expired")
    second = world.pay()
    world.gateway.intend(second.handle, generation=1, now=world.now)
    assert world.gateway.abandon(second.effect, "storage_failed", world.now) == Refused(reason="storage_failed")
    assert refusal(world, second) == RedeemRefusal.SETTLED


def test_safe_mode_stops_what_costs_something_and_lets_talk_go_on(bench) -> None:
    """Handles of money die, words live; it shows, and ends when an operator says so. Spec: EFX-4. Fault: 39."""
    world = bench(approvals={"inventory": "required"})
    paying, talking = world.pay(cause="p"), world.ask()
    (ended,) = world.gateway.enter_safe_mode(world.now)
    assert (ended.effect, ended.how, ended.outcome) == (paying.effect, "safe_mode", Refused(reason="safe_mode"))
    assert world.gateway.enter_safe_mode(world.now) == ()
    assert world.gateway.status().safe_mode
    assert refusal(world, paying) == RedeemRefusal.SAFE_MODE
    assert world.redeem(talking).effect == talking.effect
    assert world.pay() == Denied(code=DenialCode.SAFE_MODE, rule="safe_mode")
    assert isinstance(world.ask(), Authorized)
    world.gateway.leave_safe_mode(world.now)
    world.gateway.leave_safe_mode(world.now)
    assert not world.gateway.status().safe_mode
    assert isinstance(world.pay(), Authorized)
    assert [row.code for row in world.rows if row.kind.value == "safe_mode"] == ["entered", "left"]


def test_a_yes_in_safe_mode_can_be_said_later(bench) -> None:
    """It is not used up by something that goes away. Spec: EFX-4, POL-7."""
    world = bench(approvals={"money": "required"})
    approval_id = world.pay().approval_id
    world.gateway.enter_safe_mode(world.now)
    answer = world.answer(approval_id)
    assert (answer.code, answer.decision.code) == (AnswerCode.NOT_NOW, DenialCode.SAFE_MODE)
    world.gateway.leave_safe_mode(world.now)
    assert world.answer(approval_id).code is AnswerCode.ALLOWED


def test_connections_and_the_switch_go_out_as_changes(bench) -> None:
    """What a restart must know of both. Spec: SUP-5, POL-12."""
    world = bench()
    world.gateway.hold(world.now)
    world.gateway.hold(world.now)
    world.gateway.release(world.now)
    world.gateway.release(world.now)
    assert world.changes == [
        GenerationOpened(generation=1),
        HoldChanged(held=True, at=world.wall),
        HoldChanged(held=False, at=world.wall),
    ]


class Full(Exception):
    """A sink has no room."""


def broken(world, sink, *, after=0):
    """Let a sink of the gateway fail from now on, after so many more."""
    left = [after]
    real = getattr(world.gateway._journal, sink)

    def fail(what) -> None:
        if not left[0]:
            raise Full
        left[0] -= 1
        real(what)

    setattr(world.gateway._journal, sink, fail)


ENDS = {
    "hold": lambda world: world.gateway.hold(world.now),
    "close": lambda world: world.gateway.close_generation(1, world.now),
    "cancel": lambda world: world.gateway.cancel_cause("turn", world.now),
    "expire": lambda world: world.gateway.expire(world.now),
    "safe mode": lambda world: world.gateway.enter_safe_mode(world.now),
    "replace": lambda world: world.gateway.replace_policy(world.other, world.now),
}


@pytest.mark.parametrize("sink", ["_sink", "_changes"])
@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("how", ENDS)
def test_a_sink_that_fails_leaves_no_handle_alive(bench, wide, how, after, sink) -> None:
    """Whatever ends handles ends all of them, also when the first record fails. Spec: POL-12, SUP-5, POL-10."""
    world = bench(handle_ttl_s=5.0)
    world.other = wide(dry_run=True)
    decisions = [world.pay(cause="turn"), world.ask(PayAvatar(to=U, amount=1), cause="turn", busy=frozenset())]
    decisions = [each for each in decisions if isinstance(each, Authorized)]
    decisions += [] if how == "safe mode" else [world.ask(cause="turn"), world.ask(cause="turn", ordinal=1)]
    if how == "expire":
        world.pass_time(5)
    broken(world, sink, after=after)
    with contextlib.suppress(Full):
        ENDS[how](world)
    setattr(world.gateway._journal, sink, lambda _: None)
    for decision in decisions:
        assert isinstance(refusal(world, decision), str)
    assert world.gateway.status().open_effects == 0


@pytest.mark.parametrize("sink", ["_sink", "_changes"])
def test_what_cannot_be_recorded_is_neither_reserved_nor_parked(bench, sink) -> None:
    """No handle, no approval, no sent effect; what was charged stays charged. Spec: POL-10, POL-6."""
    world = bench(approvals={"inventory": "required", "money": "required"})
    asked = world.pay().approval_id
    said = world.ask(Say(text="12345"))
    broken(world, sink)
    with pytest.raises(Full):
        world.ask(Say(text="123"))
    with pytest.raises(Full):
        world.pay()
    with pytest.raises(Full):
        world.answer(asked)
    if sink == "_changes":
        with pytest.raises(Full):
            world.redeem(said)
    status = world.gateway.status()
    assert status.open_effects == 1
    assert [view.approval_id for view in status.approvals] == [asked]
    assert {gauge.meter.value: gauge.used for gauge in status.budgets}["speech_bytes"] == 8
    setattr(world.gateway._journal, sink, lambda _: None)
    assert world.redeem(said).action == Say(text="12345")


def test_a_yes_whose_effect_could_not_be_recorded_is_used_once(bench) -> None:
    """Recorded as said and not as done: it can be said again, and counts once. Spec: POL-7, POL-10."""
    world = bench(approvals={"money": "required"})
    approval_id = world.pay().approval_id
    broken(world, "_changes", after=1)
    with pytest.raises(Full):
        world.answer(approval_id)
    world.gateway._journal._changes = world.changes.append
    assert world.gateway.status().approvals[0].allowed
    assert world.answer(approval_id).code is AnswerCode.ALLOWED
    assert world.answer(approval_id).code is AnswerCode.ALREADY_ANSWERED
    assert sum(isinstance(change, EffectReserved) for change in world.changes) == 1


def test_an_approval_of_a_policy_that_went_counts_no_more(bench, wide) -> None:
    """Also where the change of policy could not record every end. Spec: POL-7, SUP-8."""
    world = bench(approvals={"money": "required"})
    first, second = world.pay(1, cause="a").approval_id, world.pay(2, cause="b").approval_id
    broken(world, "_sink", after=1)
    with pytest.raises(Full):
        world.gateway.replace_policy(wide(approvals={"money": "required"}, dry_run=True), world.now)
    world.gateway._journal._sink = world.rows.append
    assert world.answer(first).code is AnswerCode.SUPERSEDED
    again = world.pay(2, cause="b")
    assert again.approval_id not in {first, second}
    assert world.answer(second).code is AnswerCode.SUPERSEDED


def test_a_release_that_cannot_be_recorded_releases_nothing(bench) -> None:
    """The switch stays where the last record says it is. Spec: POL-12."""
    world = bench()
    world.gateway.hold(world.now)
    world.gateway.enter_safe_mode(world.now)
    broken(world, "_sink")
    for verb in (world.gateway.release, world.gateway.leave_safe_mode):
        with pytest.raises(Full):
            verb(world.now)
    assert world.gateway.held
    assert world.gateway.status().safe_mode


def test_a_generation_that_cannot_be_kept_is_not_opened(bench) -> None:
    """Its number could be given to another one after a restart. Spec: SUP-5."""
    world = bench(live=False)
    broken(world, "_changes")
    with pytest.raises(Full):
        world.gateway.open_generation(1)
    assert world.gateway.status().generation is None
    assert world.ask().code is DenialCode.NOT_READY


@pytest.mark.parametrize("outcome", [Confirmed(evidence=EvidenceKind.BALANCE), Refused(reason="not_happened")])
@pytest.mark.parametrize("by", SettledBy)
def test_a_doubt_ends_late_once_and_says_by_whom(bench, outcome, by) -> None:
    """Found out or told: once, recorded with who and what, nothing refunded, nothing sent. Spec: EFX-2, POL-6."""
    world = bench(intents=True)
    decision = world.pay(amount=7)
    effect = decision.effect

    def settle(outcome=outcome, proof="nonce"):
        return world.gateway.settle_doubt(effect, outcome, world.now, by=by, proof=proof)

    assert not settle(), "nothing was sent"
    world.gateway.intend(decision.handle, generation=1, now=world.now)
    world.redeem(decision)
    assert not settle(), "it is on its way, and not in doubt"
    world.gateway.settle(effect, InDoubt(reason="no_evidence"), world.now)
    (doubt,) = world.gateway.doubts()
    assert (doubt.effect, doubt.action, doubt.generation, doubt.at) == (effect, decision.action, 1, world.wall)
    world.changes.clear()
    world.rows.clear()
    assert settle()
    assert not settle(), "a second end is none"
    assert not world.gateway.settle_doubt("0" * 64, outcome, world.now, by=by)
    assert kinds(world) == []
    assert [each.outcome for each in world.changes] == [outcome]
    (row,) = world.rows
    ended = "confirmed" if isinstance(outcome, Confirmed) else "refused"
    assert (row.code, row.settled_by, row.proof, row.effect) == (ended, by, "nonce", effect)
    assert world.gateway.doubts() == ()
    assert world.gateway.status().in_doubt == ()
    assert {gauge.meter.value: gauge.used for gauge in world.gateway.status().budgets}["linden"] == 7


def test_a_doubt_that_was_ended_is_over_after_a_restart_and_one_that_was_not_is_there(bench) -> None:
    """What a crash left in doubt can be ended after it, and stays ended. Spec: EFX-2, BND-16."""
    world = bench(intents=True)
    decision = world.pay()
    sent_at = world.wall
    world.gateway.intend(decision.handle, generation=1, now=world.now)
    world.redeem(decision)
    world.pass_time(50)
    world.restart(intents=True)
    (doubt,) = world.gateway.doubts()
    assert (doubt.effect, doubt.generation, doubt.at) == (decision.effect, 1, sent_at)
    end = {"now": world.now, "by": SettledBy.RECONCILIATION, "proof": "history"}
    assert world.gateway.settle_doubt(decision.effect, Confirmed(evidence=EvidenceKind.BALANCE), **end)
    world.restart(intents=True)
    assert world.gateway.doubts() == ()
    assert not world.gateway.settle_doubt(decision.effect, Refused(reason="no"), **end)


def test_a_doubt_that_a_person_ended_names_no_proof(bench) -> None:
    """A word is none. Spec: EFX-2, POL-10."""
    world = bench()
    decision = world.pay()
    world.redeem(decision)
    world.gateway.settle(decision.effect, InDoubt(reason="no_evidence"), world.now)
    assert world.gateway.settle_doubt(decision.effect, Refused(reason="no"), world.now, by=SettledBy.OPERATOR)
    assert (world.rows[-1].settled_by, world.rows[-1].proof) == (SettledBy.OPERATOR, "")
    assert {row.proof for row in world.rows} == {""}
