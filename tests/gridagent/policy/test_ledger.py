"""Effects move along their table, handles live once, and memory is bounded without forgetting a debt."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from gridagent.actions import (
    Confirmed,
    EvidenceKind,
    InDoubt,
    PayAvatar,
    Position,
    Refused,
    Resource,
    Say,
    WalkTo,
)
from gridagent.authority import DenialCode
from gridagent.errors import AuthorityRefused, IllegalTransition
from gridagent.limits import OPEN_EFFECTS_MAX, SETTLED_EFFECTS_MAX
from gridagent.policy import Authorized, Denied, RedeemRefusal
from gridagent.policy.ledger import EFFECT, EffectInput, EffectState

U = "00000000-0000-4000-8000-00000000000e"
YES = Confirmed(evidence=EvidenceKind.OWN_ECHO)
NO = Refused(reason="grid_said_no")
MAYBE = InDoubt(reason="deadline")

LEGAL = {
    ("reserved", "send"): "sent",
    ("reserved", "refuse"): "refused",
    ("sent", "confirm"): "confirmed",
    ("sent", "refuse"): "refused",
    ("sent", "doubt"): "in_doubt",
    ("in_doubt", "confirm"): "confirmed",
    ("in_doubt", "refuse"): "refused",
}


@pytest.mark.parametrize(("state", "given"), list(itertools.product(EffectState, EffectInput)))
def test_every_state_and_input_of_an_effect(state, given) -> None:
    """Each pair leads where the requirement says, or nowhere; sent is never done. Spec: EFX-1, EFX-2."""
    target = LEGAL.get((state.value, given.value))
    if target is None:
        with pytest.raises(IllegalTransition):
            EFFECT.step(state, given)
    else:
        assert EFFECT.step(state, given).value == target


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("first", [YES, NO, MAYBE], ids=["yes", "no", "maybe"])
@pytest.mark.parametrize("second", [YES, NO, MAYBE], ids=["yes", "no", "maybe"])
def test_an_effect_ends_once(bench, sent, first, second) -> None:
    """What was never sent can only be refused; an end stands; only doubt is settled later. Spec: EFX-1."""
    world = bench()
    decision = world.ask()
    if sent:
        world.redeem(decision)
    counts = sent or first is NO
    assert world.gateway.settle(decision.effect, first, world.now) is counts
    again = (first is MAYBE and second is not MAYBE) if counts else (sent or second is NO)
    assert world.gateway.settle(decision.effect, second, world.now) is again


def test_settling_what_nobody_knows_changes_nothing(bench) -> None:
    """An unknown effect is not made up."""
    world = bench()
    assert not world.gateway.settle("0" * 64, YES, world.now)
    assert world.gateway.action_in_doubt("0" * 64) is None
    assert world.gateway.abandon("0" * 64, "gone", world.now) is None
    assert world.rows == []


def test_a_refusal_before_sending_kills_the_handle(bench) -> None:
    """An effect that was settled first can't be sent afterwards."""
    world = bench()
    decision = world.ask()
    assert world.gateway.settle(decision.effect, NO, world.now)
    with pytest.raises(AuthorityRefused) as refused:
        world.redeem(decision)
    assert refused.value.reason == RedeemRefusal.SETTLED


@pytest.mark.parametrize(("sent", "outcome"), [(False, Refused(reason="gone")), (True, InDoubt(reason="gone"))])
def test_an_abandoned_effect_is_settled_by_what_the_ledger_knows(bench, sent, outcome) -> None:
    """Cancelled before sending it is refused and its handle dead; after it, in doubt; spent stays spent. Fault: 28."""
    world = bench(budgets={"calls.speak": [{"per": "global", "limit": 1, "window_s": 60}]})
    decision = world.ask()
    if sent:
        world.redeem(decision)
    assert world.gateway.abandon(decision.effect, "gone", world.now) == outcome
    assert world.gateway.abandon(decision.effect, "gone", world.now) is None
    with pytest.raises(AuthorityRefused):
        world.redeem(decision)
    assert world.ask().code is DenialCode.BUDGET_SPENT


def test_what_is_redeemed_comes_from_the_ledgers_own_bytes(bench) -> None:
    """Arguments changed after authorisation, in whichever copy, have no effect. Spec: POL-1. Fault: 29."""
    world = bench()
    walk = WalkTo(position=Position(x=1.0, y=2.0))
    request = world.request(walk)
    decision = world.gateway.decide(request, world.now)
    msgspec.structs.force_setattr(walk, "position", Position(x=9.0, y=9.0))
    msgspec.structs.force_setattr(request, "action", PayAvatar(to=U, amount=500))
    msgspec.structs.force_setattr(request, "generation", 2)
    msgspec.structs.force_setattr(decision.action.position, "x", 200.0)
    msgspec.structs.force_setattr(decision, "action", PayAvatar(to=U, amount=500))
    msgspec.structs.force_setattr(decision, "effect", "0" * 64)
    record = world.redeem(decision)
    assert record.action == WalkTo(position=Position(x=1.0, y=2.0))
    assert record.generation == 1
    assert record.effect != "0" * 64
    assert (record.capability.value, record.deadline_s, record.correlation) == ("move", 60.0, "c")


def test_open_effects_are_bounded(bench) -> None:
    """One more than the ceiling is denied without being charged; room comes back with an end. Spec: BND-16."""
    world = bench()
    decisions = [world.ask() for _ in range(OPEN_EFFECTS_MAX)]
    assert world.gateway.status().open_effects == OPEN_EFFECTS_MAX
    assert world.ask() == Denied(code=DenialCode.LEDGER_FULL, rule="ledger")
    used = {gauge.meter: gauge.used for gauge in world.gateway.status().budgets}
    assert used["calls.speak"] == OPEN_EFFECTS_MAX
    world.redeem(decisions[0])
    world.confirm(decisions[0])
    assert isinstance(world.ask(), Authorized)


def doubtful(world, action=None):
    """Authorise, send, and lose the evidence."""
    decision = world.ask(action)
    world.redeem(decision)
    world.gateway.settle(decision.effect, MAYBE, world.now)
    return decision


def test_debts_in_doubt_are_never_forgotten_and_never_silence_the_avatar(bench) -> None:
    """At the ceiling of payments in doubt no more is paid, and talk goes on. Spec: BND-16, EFX-4."""
    world = bench()
    debts = [doubtful(world, PayAvatar(to=U, amount=1)) for _ in range(OPEN_EFFECTS_MAX)]
    assert world.pay().code is DenialCode.LEDGER_FULL
    for _ in range(SETTLED_EFFECTS_MAX):
        doubtful(world)
    assert world.gateway.status().in_doubt == tuple(debt.effect for debt in debts)
    assert isinstance(world.ask(), Authorized)
    assert world.gateway.action_in_doubt(debts[0].effect) == PayAvatar(to=U, amount=1)
    assert world.gateway.settle(debts[0].effect, NO, world.now)
    assert world.gateway.action_in_doubt(debts[0].effect) is None
    assert isinstance(world.pay(), Authorized)


def test_chatter_does_not_push_a_payment_out_of_memory(bench) -> None:
    """Half of what is remembered is kept for what costs something; the oldest of each half goes first. Spec: BND-16."""
    world = bench()
    paid = world.pay(cause="paid")
    world.redeem(paid)
    world.confirm(paid)
    said = world.ask(cause="said")
    world.redeem(said)
    world.confirm(said)
    for _ in range(SETTLED_EFFECTS_MAX // 2 - 1):
        world.gateway.abandon(world.ask().effect, "gone", world.now)
    assert world.ask(cause="said").code is DenialCode.DUPLICATE
    world.gateway.abandon(world.ask().effect, "gone", world.now)
    assert isinstance(world.ask(cause="said"), Authorized)
    assert world.pay(cause="paid").code is DenialCode.DUPLICATE


def test_how_handles_died_is_remembered_for_a_bounded_while(bench) -> None:
    """Long after, a replay is only unknown; it is refused all the same. Spec: BND-16."""
    world = bench()
    first = world.ask()
    world.redeem(first)
    for _ in range(OPEN_EFFECTS_MAX):
        world.gateway.abandon(world.ask().effect, "gone", world.now)
    with pytest.raises(AuthorityRefused) as refused:
        world.redeem(first)
    assert refused.value.reason == RedeemRefusal.UNKNOWN


@pytest.mark.parametrize("end", ["confirm", "refuse", "doubt", "expire", "hold"])
def test_the_payment_slot_is_free_again_after_every_kind_of_end(bench, end) -> None:
    """However a payment ends, the next one can begin. Spec: EFX-5."""
    world = bench()
    decision = world.pay()
    if end in {"confirm", "refuse", "doubt"}:
        world.redeem(decision)
        outcome = {"confirm": Confirmed(evidence=EvidenceKind.BALANCE), "refuse": NO, "doubt": MAYBE}[end]
        world.gateway.settle(decision.effect, outcome, world.now)
    elif end == "expire":
        world.pass_time(11)
        world.gateway.expire(world.now)
    else:
        world.gateway.hold(world.now)
        world.gateway.release(world.now)
    assert isinstance(world.pay(), Authorized)
    assert isinstance(world.ask(Say(text="x"), busy=frozenset({Resource.PAYMENT})), Authorized)


def test_the_ledger_says_whether_an_end_counted(bench) -> None:
    """True or false, and the machine has its name. Spec: EFX-1."""
    world = bench()
    entry = world.gateway._ledger.find(world.ask().effect)
    assert world.gateway._ledger.settle(entry, YES) is False
    assert world.gateway._ledger.settle(entry, NO) is True
    assert EFFECT.name == "effect"
