"""A history cut between any two changes gives a gateway that forgets nothing that counts."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridagent.actions import Confirmed, EffectClass, EvidenceKind, InDoubt, PayAvatar, Refused, Say
from gridagent.authority import Origin, Principal
from gridagent.limits import SETTLED_EFFECTS_MAX
from gridagent.policy import Authorized, Denied, Gateway, Instant, NeedsApproval
from gridagent.policy.approvals import ApprovalInput, ApprovalState
from gridagent.policy.budgets import BudgetRow, BudgetSnapshot
from gridagent.policy.changes import (
    ApprovalMoved,
    ApprovalOpened,
    ApprovalTried,
    Change,
    EffectReserved,
    EffectSent,
    EffectSettled,
    GatewaySnapshot,
    GenerationOpened,
    GrantEnded,
    GrantGiven,
)
from gridagent.policy.decisions import AnswerCode
from gridagent.policy.grants import GrantState
from gridagent.policy.history import _FOLD, History, _counts
from tests.gridagent.policy.twins import Twins, policies

U = "00000000-0000-4000-8000-00000000000e"
OPERATOR = Principal(client="operator")


def folded(changes, since=None) -> GatewaySnapshot:
    """Fold changes."""
    history = History(since)
    for change in changes:
        history.apply(change)
    return history.snapshot()


def test_every_change_has_its_fold() -> None:
    """No change is forgotten by the table, and each can be written down and read back. Spec: EFX-2."""
    assert set(_FOLD) == set(Change.__args__)


class Life:
    """One history of the real gateway, with everything it gave out."""

    def __init__(self, seed, steps):
        self.twins = Twins(seed, policies(16), keeping=True)
        self.twins.run(steps, without={Twins.restart, Twins.replace})
        self.changes = self.twins.kept
        self.policy = self.twins.policy

    def cut(self, at) -> tuple[Gateway, list]:
        """Return the gateway that a cut before change ``at`` leaves, on a clock that went on a little."""
        kept = []
        gateway, _ = Gateway.restore(
            self.policy, folded(self.changes[:at]), Instant(self.twins.ticks + 1.0, 5.0),
            tokens=lambda: f"again-{len(kept)}-{at}", audit=lambda _: None, changes=kept.append,
        )  # fmt: skip
        return gateway, kept


LIVES = {"seed": st.integers(0, 2**32), "steps": st.integers(4, 24)}


@settings(max_examples=60)
@given(**LIVES)
def test_no_budget_is_counted_short_after_any_cut(seed, steps) -> None:
    """A crash never refunds what may have been spent: charges in their window still count. Spec: POL-6. Fault: 38."""
    life = Life(seed, steps)
    for at in range(len(life.changes) + 1):
        gateway, _ = life.cut(at)
        clock = gateway.budget_snapshot().clock_us
        spent: Counter = Counter()
        for change in life.changes[:at]:
            if isinstance(change, EffectReserved):
                for meter, amount in change.charge:
                    spent[meter, change.budgets.clock_us] += amount
        for gauge in gateway.status().budgets:
            if gauge.per.value == "global":
                since = clock - gauge.window_s * 1_000_000
                due = sum(amount for (meter, when), amount in spent.items() if meter is gauge.meter and when > since)
                assert gauge.used >= due, (at, gauge)


@settings(max_examples=60)
@given(**LIVES)
def test_no_effect_is_authorised_twice_across_any_cut(seed, steps) -> None:
    """Whatever was reserved in what was kept is known, and what was sent is in doubt or ended. Spec: EFX-2, EFX-3."""
    life = Life(seed, steps)
    for at in range(len(life.changes) + 1):
        gateway, kept = life.cut(at)
        gateway.open_generation(10_000)
        sent, ended = set(), set()
        for change in life.changes[:at]:
            if isinstance(change, EffectReserved):
                again = msgspec.structs.replace(change.request, generation=10_000, grant=None)
                assert isinstance(gateway.decide(again, Instant(life.twins.ticks + 2.0, 6.0)), Denied)
            elif isinstance(change, EffectSent):
                sent.add(change.effect)
            elif isinstance(change, EffectSettled):
                (sent.discard if isinstance(change.outcome, InDoubt) else ended.add)(change.effect)
        once = {
            change.effect
            for change in life.changes[:at]
            if isinstance(change, EffectReserved) and change.effect_class is EffectClass.ONCE
        }
        assert (sent & once) - ended <= set(gateway.status().in_doubt)
        assert gateway.status().open_effects == 0
        told = {change.effect: change.outcome for change in kept if isinstance(change, EffectSettled)}
        reserved = {change.effect for change in life.changes[:at] if isinstance(change, EffectReserved)}
        assert all(isinstance(told[effect], InDoubt) for effect in sent - ended if effect in told)
        settled = {change.effect for change in life.changes[:at] if isinstance(change, EffectSettled)}
        assert set(told) == reserved - settled


@settings(max_examples=60)
@given(**LIVES)
def test_no_yes_is_lost_or_used_twice_across_any_cut(seed, steps) -> None:  # noqa: C901 - one branch a fate
    """What waited waits or ran out; a recorded yes can be claimed once, a used one never. Spec: POL-7. Fault: 38."""
    life = Life(seed, steps)
    for at in range(len(life.changes) + 1):
        gateway, _ = life.cut(at)
        states: dict = {}
        for change in life.changes[:at]:
            if isinstance(change, ApprovalOpened):
                states[change.approval_id] = "waits"
            elif isinstance(change, ApprovalMoved):
                allowed = change.given == (ApprovalInput.ALLOW,)
                states[change.approval_id] = "allowed" if allowed else "over"
            elif isinstance(change, EffectReserved) and change.approval_id is not None:
                states[change.approval_id] = "over"
        shown = {view.approval_id: view for view in gateway.status().approvals}
        gateway.open_generation(10_000)
        gateway.release(Instant(life.twins.ticks + 2.0, 6.0))
        for approval_id, state in states.items():
            if approval_id in shown:
                assert state != "over"
                assert shown[approval_id].allowed is (state == "allowed")
            answer = gateway.claim(approval_id, Instant(life.twins.ticks + 2.0, 6.0))
            if state != "allowed":
                assert not answer.accepted
                assert answer.decision is None
            elif isinstance(answer.decision, Authorized):
                again = gateway.claim(approval_id, Instant(life.twins.ticks + 2.0, 6.0))
                assert (again.code, again.decision) == (AnswerCode.ALREADY_ANSWERED, None)
            late = gateway.answer(
                approval_id, allow=True, by=OPERATOR, via=Origin.OPERATOR_CONSOLE, nonce=None,
                now=Instant(life.twins.ticks + 2.0, 6.0),
            )  # fmt: skip
            if state == "over" or isinstance(answer.decision, Authorized):
                assert not isinstance(late.decision, Authorized)


@settings(max_examples=60)
@given(**LIVES)
def test_a_whole_history_says_what_the_gateway_says(seed, steps) -> None:
    """The fold and the gateway's own snapshot are one, but for the clock since the last charge. Spec: EFX-2."""
    life = Life(seed, steps)
    own, kept = life.twins.real.snapshot(), folded(life.changes)
    plain = {"budgets": None, "open_effects": ()}
    assert msgspec.structs.replace(own, **plain) == msgspec.structs.replace(kept, **plain)
    assert {each.effect: each for each in own.open_effects} == {each.effect: each for each in kept.open_effects}
    if kept.budgets is not None:
        counted = {(row.meter, row.per, row.window_s, row.key): row.buckets for row in kept.budgets.rows}
        for row in own.budgets.rows:
            assert set(row.buckets) <= set(counted[row.meter, row.per, row.window_s, row.key])


@settings(max_examples=100)
@given(**LIVES, start=st.integers(0, 30), size=st.integers(1, 12))
def test_taking_the_last_batch_in_twice_changes_nothing(seed, steps, start, size) -> None:
    """A batch whose outcome is not known may be written again, a change of policy in it or not. Spec: EFX-2."""
    twins = Twins(seed, policies(16), keeping=True)
    twins.run(steps, without={Twins.restart})
    begin = min(start, len(twins.kept))
    batch = twins.kept[begin : begin + size]
    history = History()
    for change in (*twins.kept[:begin], *batch, *batch):
        history.apply(change)
    assert history.snapshot() == folded(twins.kept[: begin + size])


@settings(max_examples=40)
@given(**LIVES, at=st.integers(0, 30))
def test_a_snapshot_and_what_follows_it_are_the_whole(seed, steps, at) -> None:
    """What a history came to may stand in for it, and all of it survives being written down. Spec: EFX-2."""
    life = Life(seed, steps)
    at = min(at, len(life.changes))
    raw = msgspec.json.encode(folded(life.changes[:at]))
    since = msgspec.json.decode(raw, type=GatewaySnapshot)
    rest = msgspec.json.decode(msgspec.json.encode(life.changes[at:]), type=list[Change])
    assert folded(rest, since) == folded(life.changes)


def test_the_first_ends_are_forgotten_first_and_money_last(bench) -> None:
    """A fold remembers as many ends of each half as the gateway does. Spec: BND-16."""
    world = bench()
    paid = world.pay(cause="paid")
    world.redeem(paid)
    world.confirm(paid)
    for number in range(SETTLED_EFFECTS_MAX // 2 + 1):
        world.gateway.abandon(world.ask(cause=f"said-{number}").effect, "gone", world.now)
    snapshot = folded(world.changes)
    assert snapshot == msgspec.structs.replace(world.gateway.snapshot(), budgets=snapshot.budgets)
    world.restart()
    assert isinstance(world.ask(cause="said-0", generation=2), Authorized)
    assert isinstance(world.ask(cause="said-1", generation=2), Denied)
    assert isinstance(world.pay(cause="paid", generation=2), Denied)


def test_what_is_not_known_is_left_alone() -> None:
    """A change about something that no kept change began makes nothing up. Spec: EFX-2."""
    strange = (
        EffectSent(effect="e", at=1.0),
        EffectSettled(effect="e", outcome=Confirmed(evidence=EvidenceKind.BALANCE), at=1.0),
        ApprovalMoved(approval_id="a", given=(ApprovalInput.ALLOW,), at=1.0),
        ApprovalTried(approval_id="a", wrong_nonces=3),
        GrantEnded(grant_id="g", state=GrantState.REVOKED, at=1.0),
    )
    assert folded(strange) == GatewaySnapshot()


def test_a_use_of_a_grant_nobody_gave_is_no_grant(bench) -> None:
    """The effect is kept, and nothing is made up about the grant."""
    world = bench()
    rent = PayAvatar(to=U, amount=10)
    world.fire(world.grant(rent).grant_id, rent)
    snapshot = folded([change for change in world.changes if not isinstance(change, GrantGiven)])
    assert (snapshot.grants, len(snapshot.open_effects)) == ((), 1)


def test_the_oldest_records_that_are_over_go_first(monkeypatch, bench) -> None:
    """A fold keeps as many approvals as the gateway does, and never lets a waiting one go. Spec: BND-12."""
    monkeypatch.setattr("gridagent.policy.history.APPROVAL_RECORDS_MAX", 3)
    world = bench(approvals={"money": "required"})
    ids = [world.pay(1, cause=f"turn-{number}").approval_id for number in range(5)]
    assert [each.opened.approval_id for each in folded(world.changes).approvals] == ids
    for approval_id in ids[:4]:
        world.answer(approval_id, allow=False)
    kept = folded(world.changes).approvals
    assert [each.opened.approval_id for each in kept] == [ids[2], ids[3], ids[4]]
    ids.append(world.pay(1, cause="turn-5").approval_id)
    kept = folded(world.changes).approvals
    assert [each.opened.approval_id for each in kept] == [ids[3], ids[4], ids[5]]


def test_numbers_of_connections_and_guesses_only_grow(bench) -> None:
    """An older word never takes back a newer one. Spec: SUP-5, POL-7."""
    world = bench(approvals={"money": "required"})
    approval_id = world.pay().approval_id
    extra = (
        GenerationOpened(generation=7),
        GenerationOpened(generation=3),
        ApprovalTried(approval_id=approval_id, wrong_nonces=4),
        ApprovalTried(approval_id=approval_id, wrong_nonces=2),
    )
    snapshot = folded([*world.changes, *extra])
    assert (snapshot.generation, snapshot.approvals[0].wrong_nonces) == (7, 4)


def test_windows_that_hold_nothing_any_more_are_let_go(bench, people) -> None:
    """What is kept does not grow with everybody who ever asked; the last moment that counts is kept. Spec: BND-13."""
    budgets = {"calls.speak": [{"per": "principal", "limit": 9, "window_s": 16}]}
    world = bench(budgets={**budgets, "speech_bytes": [{"per": "global", "limit": 1000, "window_s": 86_400}]})
    world.ask(Say(text="x"), who=people["owner"])
    for waited, kept in ((16, {people["owner"], people["trusted"]}), (1, {people["trusted"]})):
        world.pass_time(waited)
        world.ask(Say(text="x"), who=people["trusted"])
        rows = folded(world.changes).budgets.rows
        assert {row.key for row in rows if row.per.value == "principal"} == kept


def test_a_row_without_buckets_counts_nothing(bench) -> None:
    """It is let go like an empty window."""
    world = bench()
    world.ask()
    snapshot = folded(world.changes)
    rows = tuple(msgspec.structs.replace(row, buckets=()) for row in snapshot.budgets.rows)
    empty = BudgetSnapshot(clock_us=snapshot.budgets.clock_us, wall_high_us=0, rows=rows)
    assert folded((), msgspec.structs.replace(snapshot, budgets=empty)).budgets.rows == ()


def test_a_reservation_claims_its_approval_and_uses_its_grant(bench) -> None:
    """One change, three books. Spec: POL-7, POL-8, EFX-2."""
    world = bench(approvals={"money": "required"})
    grant_id = world.grant(PayAvatar(to=U, amount=10)).grant_id
    used = world.fire(grant_id, PayAvatar(to=U, amount=10))
    world.gateway.abandon(used.effect, "gone", world.now)
    approval_id = world.pay(20).approval_id
    world.answer(approval_id)
    snapshot = folded(world.changes)
    (approval,), (grant,) = snapshot.approvals, snapshot.grants
    assert (approval.state, approval.by) == (ApprovalState.CLAIMED, "client:operator")
    assert (grant.use.used, grant.state) == (1, GrantState.ACTIVE)
    assert any(isinstance(change, GrantGiven) for change in world.changes)


@pytest.mark.parametrize("outcome", [Refused(reason="no"), InDoubt(reason="late")])
def test_dry_runs_leave_an_end_and_a_charge(bench, outcome) -> None:
    """What a dry run decided is known and spent after a restart. Spec: POL-11, POL-6."""
    world = bench(dry_run=True, budgets={"linden": [{"per": "global", "limit": 10, "window_s": 60}]})
    decision = world.pay(10, cause="turn")
    assert decision.dry_run
    assert not world.gateway.settle(decision.effect, outcome, world.now)
    assert next(each for each in world.changes if isinstance(each, EffectReserved)).dry_run
    assert world.restart() == ()
    assert world.pay(10, cause="turn", generation=2).code.value == "duplicate"
    assert world.pay(1, generation=2).code.value == "budget_spent"
    assert not isinstance(world.pay(1, generation=2), NeedsApproval)


def test_windows_are_in_the_order_of_their_last_charge(bench, people) -> None:
    """Whoever was idle longest is first to make room after a restart, as before it. Spec: BND-13."""
    world = bench(budgets={"calls.speak": [{"per": "principal", "limit": 9, "window_s": 60}]})
    for who in ("owner", "trusted", "owner"):
        world.ask(Say(text="x"), who=people[who])
    keys = [row.key for row in folded(world.changes).budgets.rows if row.per.value == "principal"]
    assert keys == [people["trusted"], people["owner"]]


def test_a_window_counts_to_its_last_microsecond() -> None:
    """Sixteen buckets after its last one it holds something, a microsecond later it doesn't. Spec: POL-6."""
    row = BudgetRow(meter="linden", per="global", window_s=16, buckets=((999_999, 1),))
    assert _counts(row, 16_999_999)
    assert not _counts(row, 17_000_000)
    uneven = msgspec.structs.replace(row, window_s=1, buckets=((62_499, 1),))
    assert _counts(uneven, 62_499 + 16 * 62_500)
    assert not _counts(msgspec.structs.replace(row, buckets=()), 0)


@pytest.mark.parametrize("once", [True, False])
def test_an_effect_that_ended_is_not_opened_by_its_own_reservation(bench, once) -> None:
    """Read again out of order, it stays ended. Spec: EFX-2."""
    world = bench()
    decision = world.pay() if once else world.ask()
    world.redeem(decision)
    world.confirm(decision)
    reserved = next(change for change in world.changes if isinstance(change, EffectReserved))
    snapshot = folded([*world.changes, reserved])
    assert (snapshot.open_effects, len(snapshot.ended_once), len(snapshot.ended_light)) == ((), once, not once)
