"""What a restart does to each thing that was kept."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.actions import InDoubt, PayAvatar, Refused, Resource, Say
from gridagent.authority import DenialCode, Origin
from gridagent.errors import AuthorityRefused, OperatorError
from gridagent.policy import Authorized, Denied, Gateway, NeedsApproval
from gridagent.policy.approval_im import ImAnswer
from gridagent.policy.approvals import ApprovalInput
from gridagent.policy.changes import ApprovalMoved, BudgetsReplaced, EffectSettled, GrantEnded
from gridagent.policy.decisions import AnswerCode
from gridagent.policy.grants import GrantState
from gridagent.policy.ledger import EffectState

U = "00000000-0000-4000-8000-00000000000e"
ASKS = {"approvals": {"money": "required"}}
LINDEN = {"linden": [{"per": "global", "limit": 10, "window_s": 60}]}


def test_what_was_not_sent_is_refused_and_known(bench) -> None:
    """Reserved when the process died: refused, told, recorded, never authorised again. Spec: EFX-2. Fault: 38."""
    world = bench(budgets=LINDEN)
    decision = world.pay(10, cause="turn")
    (ended,) = world.restart()
    assert (ended.effect, ended.how, ended.outcome) == (decision.effect, "not_sent", Refused(reason="not_sent"))
    assert ended.action == decision.action
    assert world.kinds()[0] == ("settlement", "refused")
    assert world.changes[-2] == EffectSettled(effect=decision.effect, outcome=ended.outcome, at=world.wall)
    assert world.pay(10, cause="turn", generation=2).code is DenialCode.DUPLICATE
    assert world.pay(1, generation=2).code is DenialCode.BUDGET_SPENT
    with pytest.raises(AuthorityRefused, match="unknown"):
        world.gateway.redeem(decision.handle, generation=2, now=world.now)


@pytest.mark.parametrize("how", ["redeemed", "intended"])
def test_what_may_have_been_sent_is_in_doubt(bench, how) -> None:
    """Sent, or about to be: in doubt, spent, never sent again, settled later by evidence. Spec: EFX-2. Fault: 38."""
    world = bench(budgets=LINDEN)
    decision = world.pay(10, cause="turn")
    verb = world.gateway.redeem if how == "redeemed" else world.gateway.intend
    verb(decision.handle, generation=1, now=world.now)
    world.pass_time(5)
    (ended,) = world.restart()
    assert (ended.how, ended.outcome) == ("crashed", InDoubt(reason="crashed"))
    assert world.gateway.status().in_doubt == (decision.effect,)
    assert world.gateway.action_in_doubt(decision.effect) == decision.action
    assert world.pay(10, cause="turn", generation=2).code is DenialCode.DUPLICATE
    assert world.pay(1, generation=2).code is DenialCode.BUDGET_SPENT
    assert world.restart() == ()
    assert world.gateway.status().in_doubt == (decision.effect,)
    assert world.confirm(decision)
    assert world.gateway.status().in_doubt == ()
    world.restart()
    assert world.gateway.status().in_doubt == ()
    assert not world.confirm(decision)
    assert world.pay(10, cause="turn", generation=4).code is DenialCode.DUPLICATE


@pytest.mark.parametrize("way", ["history", "snapshot"])
def test_talk_that_was_sent_is_not_said_again(bench, way) -> None:
    """Words in flight are told as in doubt once, and known for good. Spec: EFX-3."""
    world = bench()
    said = world.ask(cause="turn")
    world.redeem(said)
    (ended,) = world.restart(snapshot=world.gateway.snapshot() if way == "snapshot" else None)
    assert (ended.how, world.gateway.status().in_doubt) == ("crashed", ())
    assert world.ask(cause="turn", generation=2).code is DenialCode.DUPLICATE
    assert world.restart() == ()
    assert world.ask(cause="turn", generation=3).code is DenialCode.DUPLICATE


def test_the_payment_slot_is_free_after_a_restart(bench) -> None:
    """A payment in doubt is no longer in flight. Spec: EFX-5."""
    world = bench()
    world.redeem(world.pay())
    assert world.pay().code is DenialCode.RESOURCE_BUSY
    world.restart()
    assert isinstance(world.pay(generation=2), Authorized)
    assert isinstance(world.ask(Say(text="x"), generation=2, busy=frozenset({Resource.PAYMENT})), Authorized)


def test_the_number_of_a_connection_is_never_used_twice(bench) -> None:
    """The next one is higher than any that was opened. Spec: SUP-5."""
    world = bench()
    world.gateway.close_generation(1, world.now)
    world.gateway.open_generation(5)
    world.restart(live=False)
    assert world.gateway.status().generation is None
    with pytest.raises(Exception, match="generation 5"):
        world.gateway.open_generation(5)
    world.gateway.open_generation(6)
    assert isinstance(world.ask(generation=6), Authorized)


def test_a_restart_releases_no_kill_switch(bench) -> None:
    """Held before, held after, until somebody releases it. Spec: POL-12."""
    world = bench()
    world.gateway.hold(world.now)
    world.restart()
    assert world.gateway.held
    assert world.ask(generation=2).code is DenialCode.HELD
    world.gateway.release(world.now)
    world.restart()
    assert isinstance(world.ask(generation=3), Authorized)


@pytest.mark.parametrize(
    ("away", "waits"), [(0.0, True), (250.0, True), (269.0, True), (270.0, False), (9_999.0, False)]
)
def test_an_approval_waits_for_what_is_left_of_its_time(bench, people, away, waits) -> None:
    """By the wall clock, across the restart; the nonce in the IM still counts. Spec: POL-7. Fault: 38."""
    world = bench(**ASKS, approval_ttl_s=300.0)
    asked = world.pay(origin=Origin.DIRECT_IM, cause="turn")
    nonce = world.gateway.nonce_of(asked.approval_id)
    world.pass_time(30)
    world.wall += away
    world.monotonic = 3.0
    ended = world.restart()
    assert world.gateway.nonce_of(asked.approval_id) is None
    if not waits:
        assert [(each.approval_id, each.how) for each in ended] == [(asked.approval_id, "expired")]
        assert world.answer(asked.approval_id).code is AnswerCode.EXPIRED
        assert world.pay(cause="turn", generation=2, origin=Origin.DIRECT_IM).code is DenialCode.APPROVAL_EXPIRED
        return
    assert ended == ()
    (view,) = world.gateway.status().approvals
    assert (view.approval_id, view.allowed, view.summary) == (asked.approval_id, False, asked.summary)
    assert view.expires_at == pytest.approx(3.0 + 270.0 - away)
    assert world.gateway.next_deadline() == view.expires_at
    again = world.pay(cause="turn", generation=2, origin=Origin.DIRECT_IM)
    assert again.approval_id == asked.approval_id
    answer = world.gateway.answer_im(
        ImAnswer(allow=True, nonce=nonce), by=world.request(who=people["owner"]).principal, now=world.now
    )
    assert (answer.code, answer.request.generation) == (AnswerCode.ALLOWED, 2)
    assert world.redeem(answer.decision, generation=2).action == PayAvatar(to=U, amount=10)


def test_a_clock_set_back_over_a_restart_lengthens_nothing(bench) -> None:
    """The highest wall clock ever seen counts, and never more than the whole time. Spec: POL-7, POL-6. Fault: 30."""
    world = bench(**ASKS, approval_ttl_s=300.0)
    world.pay()
    world.pass_time(100)
    world.ask()  # a charge, so that the clock of now is kept
    world.wall -= 86_400
    world.restart()
    (view,) = world.gateway.status().approvals
    assert view.expires_at == pytest.approx(world.monotonic + 200.0)
    fresh = bench(**ASKS, approval_ttl_s=300.0)
    fresh.pay()
    fresh.wall -= 86_400
    fresh.restart()
    (view,) = fresh.gateway.status().approvals
    assert view.expires_at == pytest.approx(fresh.monotonic + 300.0)


def test_several_approvals_wait_in_the_order_in_which_they_expire(bench) -> None:
    """The next deadline is the earliest, whatever order they were kept in. Spec: POL-7."""
    world = bench(**ASKS, approval_ttl_s=300.0)
    ids = []
    for number in range(3):
        ids.append(world.pay(1, cause=f"turn-{number}").approval_id)
        world.pass_time(10)
    snapshot = world.gateway.snapshot()
    mixed = msgspec.structs.replace(snapshot, approvals=snapshot.approvals[::-1])
    world.restart(snapshot=mixed)
    assert [view.approval_id for view in world.gateway.status().approvals] == ids
    assert world.gateway.next_deadline() == pytest.approx(world.monotonic + 270.0)


def yes_recorded(world, approval_id):
    """Let somebody say yes, and cut before what it leads to was kept."""
    world.answer(approval_id)
    (cut,) = [at for at, change in enumerate(world.changes) if isinstance(change, ApprovalMoved)]
    assert world.changes[cut].given == (ApprovalInput.ALLOW,)
    del world.changes[cut + 1 :]


def test_a_yes_that_nothing_was_done_about_is_claimed_once(bench) -> None:
    """It is shown as allowed, gives one authorisation, and then is answered. Spec: POL-7. Fault: 38."""
    world = bench(**ASKS)
    approval_id = world.pay(cause="turn").approval_id
    yes_recorded(world, approval_id)
    assert world.restart() == ()
    (view,) = world.gateway.status().approvals
    assert view.allowed
    answer = world.gateway.claim(approval_id, world.now)
    assert (answer.code, answer.accepted, answer.approval_id) == (AnswerCode.ALLOWED, True, approval_id)
    assert world.redeem(answer.decision, generation=2).action == PayAvatar(to=U, amount=10)
    assert world.gateway.claim(approval_id, world.now).code is AnswerCode.ALREADY_ANSWERED
    assert world.answer(approval_id).code is AnswerCode.ALREADY_ANSWERED
    (row,) = [row for row in world.rows if row.kind.value == "approval" and row.code == "allowed"]
    assert (row.who, row.role, row.approval_id) == ("", None, approval_id)
    world.restart()
    assert world.gateway.claim(approval_id, world.now).code is AnswerCode.ALREADY_ANSWERED


@pytest.mark.parametrize("how", ["yes again", "no", "not now", "short", "expired", "asked again"])
def test_a_recorded_yes_can_still_be_answered(bench, how) -> None:
    """Said again it counts once, taken back not at all, and it stands no longer than it would. Spec: POL-7."""
    world = bench(**ASKS, budgets=LINDEN)
    approval_id = world.pay(cause="turn").approval_id
    yes_recorded(world, approval_id)
    world.restart()
    if how == "yes again":
        assert world.answer(approval_id).code is AnswerCode.ALLOWED
        assert world.gateway.claim(approval_id, world.now).code is AnswerCode.ALREADY_ANSWERED
    elif how == "no":
        assert world.answer(approval_id, allow=False).code is AnswerCode.DENIED
        assert world.changes[-1].given == (ApprovalInput.REFUSE,)
        assert world.gateway.claim(approval_id, world.now).code is AnswerCode.ALREADY_ANSWERED
    elif how == "not now":
        world.gateway.hold(world.now)
        answer = world.gateway.claim(approval_id, world.now)
        assert (answer.code, answer.accepted) == (AnswerCode.NOT_NOW, False)
        world.gateway.release(world.now)
        assert world.gateway.claim(approval_id, world.now).code is AnswerCode.ALLOWED
    elif how == "short":
        other = world.answer(world.pay(10, cause="other", generation=2).approval_id)
        world.gateway.abandon(other.decision.effect, "gone", world.now)
        answer = world.gateway.claim(approval_id, world.now)
        assert (answer.code, answer.decision.code) == (AnswerCode.REFUSED, DenialCode.BUDGET_SPENT)
        moved = [change for change in world.changes if isinstance(change, ApprovalMoved)][-1]
        assert (moved.given, moved.by) == ((ApprovalInput.REFUSE,), "client:operator")
    elif how == "expired":
        world.pass_time(300)
        assert world.gateway.claim(approval_id, world.now).code is AnswerCode.EXPIRED
    else:
        assert world.pay(cause="turn", generation=2).approval_id == approval_id


def test_nothing_can_be_claimed_that_nobody_allowed(bench) -> None:
    """An unknown approval and one that only waits are no yes. Spec: POL-7."""
    world = bench(**ASKS)
    approval_id = world.pay().approval_id
    for name in (approval_id, "made-up"):
        answer = world.gateway.claim(name, world.now)
        assert (answer.code, answer.accepted, answer.approval_id) == (AnswerCode.UNKNOWN, False, name)
    assert world.answer(approval_id).accepted


def test_ended_approvals_are_remembered(bench) -> None:
    """Denied, cancelled and claimed say so after a restart, and a denied effect stays denied. Spec: POL-7."""
    world = bench(**ASKS)
    denied, cancelled, claimed = (world.pay(n, cause=f"turn-{n}").approval_id for n in (1, 2, 3))
    world.answer(denied, allow=False)
    world.gateway.cancel_cause("turn-2", world.now)
    world.answer(claimed)
    world.restart()
    codes = [world.answer(each).code for each in (denied, cancelled, claimed)]
    assert codes == [AnswerCode.ALREADY_ANSWERED, AnswerCode.CANCELLED, AnswerCode.ALREADY_ANSWERED]
    assert world.pay(1, cause="turn-1", generation=2).code is DenialCode.APPROVAL_DENIED
    assert world.gateway.status().approvals == ()


def test_wrong_nonces_are_remembered(bench, people) -> None:
    """A restart is no new chance to guess. Spec: POL-7."""
    world = bench(**ASKS)
    approval_id = world.pay().approval_id
    nonce = world.gateway.nonce_of(approval_id)
    for _ in range(3):
        world.answer(approval_id, who=people["owner"], via=Origin.DIRECT_IM, nonce="guess")
    world.restart()
    codes = [
        world.answer(approval_id, who=people["owner"], via=Origin.DIRECT_IM, nonce=each).code
        for each in ("guess", "guess", nonce)
    ]
    assert codes == [AnswerCode.WRONG_NONCE, AnswerCode.WRONG_NONCE, AnswerCode.NONCE_LOCKED]


def test_an_approval_of_another_policy_is_superseded(bench, wide) -> None:
    """A restart with another configuration is a change of policy. Spec: POL-7."""
    world = bench(**ASKS)
    approval_id = world.pay(cause="turn").approval_id
    (ended,) = world.restart(policy=wide(**ASKS, handle_ttl_s=9.0))
    assert (ended.approval_id, ended.how) == (approval_id, "superseded")
    assert world.answer(approval_id).code is AnswerCode.SUPERSEDED
    assert isinstance(world.pay(cause="turn", generation=2), NeedsApproval)


def test_a_grant_goes_on_with_its_uses(bench) -> None:
    """What was used stays used, what was taken back stays taken back. Spec: POL-8. Fault: 38."""
    world = bench(**ASKS)
    rent = PayAvatar(to=U, amount=10)
    grant_id, gone = world.grant(rent, times=2).grant_id, world.grant(rent).grant_id
    world.gateway.abandon(world.fire(grant_id, rent).effect, "gone", world.now)
    order = {"by": world.request(who=None, client="operator").principal, "via": Origin.OPERATOR_CONSOLE}
    world.gateway.grants.revoke(gone, **order, now=world.now)
    assert world.restart() == ()
    assert world.fire(gone, rent, generation=2).rule == "grant.revoked"
    assert isinstance(world.fire(grant_id, rent, generation=2), Authorized)
    assert world.fire(grant_id, rent, generation=2).code is DenialCode.GRANT_SPENT
    (view,) = world.gateway.status().grants
    assert (view.used, view.used_in_all) == (2, 2)
    world.pass_time(65)
    world.restart()
    assert isinstance(world.fire(grant_id, rent, generation=3), Authorized)


def test_a_grant_ends_over_a_restart_as_it_would_have(bench, wide) -> None:
    """Run out of time, or no longer permitted by the policy that is in force now. Spec: POL-8."""
    world = bench(**ASKS)
    rent = PayAvatar(to=U, amount=10)
    short, long = world.grant(rent, valid_s=60).grant_id, world.grant(rent, valid_s=6_000).grant_id
    world.pass_time(60)
    ended = world.restart(policy=wide(**ASKS, matrix={"schedule": {"money": "deny"}}))
    assert [(each.grant_id, each.how) for each in ended] == [(short, "expired"), (long, "superseded")]
    assert world.gateway.status().grants == ()


def test_the_budgets_that_count_now_are_kept_at_once(bench, wide) -> None:
    """Windows of an earlier policy don't lie about beside the new ones. Spec: POL-6."""
    world = bench(budgets=LINDEN)
    world.pay(10)
    longer = {"linden": [{"per": "global", "limit": 10, "window_s": 3_600}]}
    world.changes.clear()
    world.restart(policy=wide(budgets=longer), snapshot=world.gateway.snapshot(), live=False)
    first = world.changes[0]
    assert isinstance(first, BudgetsReplaced)
    assert [(row.meter.value, row.window_s) for row in first.budgets.rows if row.meter.value == "linden"] == [
        ("linden", 3_600)
    ]
    world.gateway.open_generation(2)
    assert world.pay(1, generation=2).code is DenialCode.BUDGET_SPENT


def tampered(world, **over):
    """Change what was kept of the one open effect."""
    snapshot = world.gateway.snapshot()
    (effect,) = snapshot.open_effects
    return msgspec.structs.replace(snapshot, open_effects=(msgspec.structs.replace(effect, **over),))


@pytest.mark.parametrize(
    "over",
    [
        {"canonical": msgspec.json.encode(PayAvatar(to=U, amount=999), order="deterministic")},
        {"canonical": b'{"action":"no_such_verb"}'},
        {"canonical": b"not json"},
        {"canonical": b'{"action":"pay_avatar","to":"00000000-0000-0000-0000-000000000000","amount":1}'},
        {"canonical": b'{"action": "say", "text": "x"}'},
        {"effect": "0" * 64},
    ],
)
def test_an_effect_that_is_not_what_its_key_says_refuses_the_start(bench, over) -> None:
    """Changed, unknown or damaged: nothing is guessed about it. Spec: EFX-4, POL-2. Fault: 41."""
    world = bench()
    world.redeem(world.pay())
    with pytest.raises(OperatorError, match="cannot be read"):
        world.restart(snapshot=tampered(world, **over))


@pytest.mark.parametrize("ended", [False, True])
def test_an_approval_that_is_not_what_its_effect_says_does_not_count(bench, ended) -> None:
    """Other arguments than were shown are allowed by nobody's yes; what had ended just goes. Spec: POL-7, POL-2."""
    world = bench(**ASKS)
    approval_id = world.pay(10).approval_id
    if ended:
        world.answer(approval_id, allow=False)
    snapshot = world.gateway.snapshot()
    (kept,) = snapshot.approvals
    forged = msgspec.structs.replace(kept.opened, canonical=kept.opened.canonical.replace(b"10", b"99"))
    other = msgspec.structs.replace(snapshot, approvals=(msgspec.structs.replace(kept, opened=forged),))
    world.changes.clear()
    world.restart(snapshot=other)
    moved = [change for change in world.changes if isinstance(change, ApprovalMoved)]
    assert [change.given for change in moved] == ([] if ended else [(ApprovalInput.SUPERSEDE,)])
    assert world.gateway.status().approvals == ()
    assert world.answer(approval_id).code is AnswerCode.UNKNOWN


@pytest.mark.parametrize("raw", [b'{"action":"no_such_verb"}', b'{"action": "say", "text": "y"}', b"\xff"])
def test_a_grant_of_what_nobody_can_read_any_more_is_superseded(bench, raw) -> None:
    """It is kept as ended, and says so; bytes in another than the canonical form are none of ours. Spec: POL-8."""
    world = bench()
    grant_id = world.grant(Say(text="x")).grant_id
    snapshot = world.gateway.snapshot()
    (kept,) = snapshot.grants
    strange = msgspec.structs.replace(kept.grant, allowed=(*kept.grant.allowed, raw))
    world.changes.clear()
    world.restart(snapshot=msgspec.structs.replace(snapshot, grants=(msgspec.structs.replace(kept, grant=strange),)))
    assert world.fire(grant_id, Say(text="x"), generation=2).rule == "grant.superseded"
    change = next(each for each in world.changes if isinstance(each, GrantEnded))
    assert (change.grant_id, change.state) == (grant_id, GrantState.SUPERSEDED)


def test_a_snapshot_holds_what_counts_and_nothing_secret(bench) -> None:
    """Open effects with their state, and neither nonce nor handle. Spec: POL-7."""
    world = bench(**ASKS)
    nonce = world.gateway.nonce_of(world.pay().approval_id)
    said, meant = world.ask(), world.ask()
    world.redeem(said)
    world.gateway.intend(meant.handle, generation=1, now=world.now)
    snapshot = world.gateway.snapshot()
    assert {each.effect: each.state for each in snapshot.open_effects} == {
        said.effect: EffectState.SENT, meant.effect: EffectState.SENT,
    }  # fmt: skip
    text = msgspec.json.encode(snapshot).decode() + repr(world.changes)
    assert nonce not in text
    assert "token-" in text  # ids are there
    assert isinstance(world.ask(cause="next"), Authorized | Denied)


def test_windows_of_a_policy_that_went_do_not_stand_in_for_newer_ones(bench, wide) -> None:
    """Long, then short, then cut off, then long again: what the short one counted is not forgotten. Spec: POL-6."""
    long = {"linden": [{"per": "global", "limit": 10, "window_s": 3_600}]}
    short = {"linden": [{"per": "global", "limit": 10, "window_s": 60}]}
    world = bench(budgets=long)
    world.gateway.abandon(world.pay(4).effect, "gone", world.now)
    world.gateway.replace_policy(wide(budgets=short), world.now)
    world.gateway.abandon(world.pay(3).effect, "gone", world.now)
    world.restart(policy=wide(budgets=long))
    assert {gauge.meter.value: gauge.used for gauge in world.gateway.status().budgets}["linden"] == 7
    assert world.pay(4, generation=2).code is DenialCode.BUDGET_SPENT


def test_a_restored_gateway_asks_for_intents_only_where_it_was_told(bench) -> None:
    """As a new one does. Spec: EFX-2."""
    world = bench()
    again, _ = Gateway.restore(
        world.gateway.policy, world.gateway.snapshot(), world.now, tokens=lambda: "t", audit=lambda _: None
    )
    again.open_generation(2)
    decision = again.decide(world.request(PayAvatar(to=U, amount=1), generation=2), world.now)
    assert again.redeem(decision.handle, generation=2, now=world.now).effect == decision.effect
    world.restart(intents=True)
    with pytest.raises(AuthorityRefused, match="not_intended"):
        world.redeem(world.pay(generation=2), generation=2)
