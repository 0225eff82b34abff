"""Claims about the catalogue of actions."""

import msgspec
import pytest

from gridagent.actions import (
    ACTIONS,
    Action,
    Capability,
    EffectClass,
    EvidenceKind,
    PayAvatar,
    Position,
    Resource,
    Say,
    action_name,
)

WHO = "0f2b4c6d-8e9f-4a1b-8c2d-3e4f5a6b7c8d"


def test_every_action_says_what_follows_from_it():
    """Spec: EFX-1, MND-13 — capability, effect, evidence, resource and a finite deadline stand beside each verb."""
    for kind in ACTIONS:
        spec = kind.spec
        assert spec.capability is not Capability.OBSERVE, kind
        assert 0 < spec.deadline_s <= 300, kind
        assert isinstance(spec.evidence, EvidenceKind)
    assert {kind.spec.capability for kind in ACTIONS} == set(Capability) - {Capability.OBSERVE}


def test_tags_are_unique_words():
    """An action's name in policy, audit and tools is its tag, and no two share one."""
    tags = [kind.__struct_config__.tag for kind in ACTIONS]
    assert len(set(tags)) == len(tags) == 36
    assert action_name(Say(text="hi")) == "say"


def test_money_gifts_and_building_are_never_repeatable():
    """Spec: EFX-3 — what must never be retried blindly is of class once; payments hold the one payment slot."""
    grave = {Capability.MONEY, Capability.INVENTORY, Capability.UPLOAD, Capability.BUILD, Capability.LAND}
    for kind in ACTIONS:
        if kind.spec.capability in grave:
            assert kind.spec.effect is EffectClass.ONCE, kind
        assert (kind.spec.resource is Resource.PAYMENT) is (kind.spec.capability is Capability.MONEY)


def test_only_what_withdraws_preempts():
    """Stopping and standing take the body from whoever holds it; nothing else does."""
    assert {kind.__name__ for kind in ACTIONS if kind.spec.preempts} == {"StopMoving", "StandUp"}


@pytest.mark.parametrize("amount", ["true", "1.0", "1e2", '"5"', "-1", "0", str(2**63), "1" + "0" * 30, "NaN", "null"])
def test_a_payment_is_a_small_positive_integer_and_nothing_else(amount):
    """Fault: 24 — every other spelling of an amount is refused when it comes from outside."""
    raw = f'{{"action":"pay_avatar","to":"{WHO}","amount":{amount}}}'
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(raw, type=Action)


def test_unknown_actions_and_fields_are_refused():
    """Fault: 25 — a name that isn't in the catalogue, or an argument that isn't in its schema, never decodes."""
    for raw in ('{"action":"Say","text":"x"}', '{"action":"__class__"}', '{"action":"say","text":"x","force":true}'):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(raw, type=Action)


def test_actions_survive_their_own_encoding():
    """The canonical form of an action decodes to an equal one."""
    for action in (Say(text="é"), PayAvatar(to=WHO, amount=5)):
        assert msgspec.json.decode(msgspec.json.encode(action), type=Action) == action


def test_distance_is_straight_and_in_metres():
    """Positions measure in three dimensions."""
    assert Position(x=0, y=0, z=0).distance_to(Position(x=2, y=3, z=6)) == 7.0
