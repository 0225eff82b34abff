"""The handle is empty, and only the very object that was minted is ever honoured."""

from __future__ import annotations

import copy
import gc
import pickle
from unittest.mock import Mock

import pytest

from gridagent.errors import AuthorityRefused
from gridagent.policy import AuthorizedAction, RedeemRefusal


def refused(bench_, handle, generation=1) -> str:
    """Redeem something that must not be honoured, and return the reason."""
    with pytest.raises(AuthorityRefused) as caught:
        bench_.gateway.redeem(handle, generation=generation, now=bench_.now)
    return caught.value.reason


def test_a_handle_carries_nothing(bench) -> None:
    """A handle has no attribute that tells of the action, no place for one, and an empty text. Spec: POL-1."""
    handle = bench().ask().handle
    assert repr(handle) == str(handle) == "<AuthorizedAction>"
    assert not hasattr(handle, "__dict__")
    with pytest.raises(AttributeError):
        handle.action = "pay"
    with pytest.raises(AttributeError):
        object.__setattr__(handle, "action", "pay")


@pytest.mark.parametrize("mint", [None, object(), "mint", 1])
def test_nobody_else_can_construct_one(mint) -> None:
    """The constructor knows its one caller. Spec: POL-2."""
    with pytest.raises(TypeError, match="minted by the policy gateway only"):
        AuthorizedAction(mint)


def test_it_cannot_be_subclassed() -> None:
    """A subclass cannot be defined. Spec: POL-2."""
    with pytest.raises(TypeError, match="cannot be subclassed"):
        type("Mine", (AuthorizedAction,), {})


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_it_cannot_be_copied_or_serialised(bench, duplicate) -> None:
    """Copying and pickling are refused, and the original still counts. Spec: POL-1. Fault: 27."""
    world = bench()
    decision = world.ask()
    with pytest.raises(TypeError):
        duplicate(decision.handle)
    assert world.redeem(decision).effect == decision.effect


def test_a_forged_object_of_the_very_class_is_refused(bench) -> None:
    """An object made round the constructor was never minted. Spec: POL-1. Fault: 27."""
    world = bench()
    world.ask()
    assert refused(world, object.__new__(AuthorizedAction)) == RedeemRefusal.UNKNOWN


class Equal:
    """Claims to be whatever it is compared with."""

    __slots__ = ("_hash",)

    def __init__(self, other: object) -> None:
        self._hash = hash(other)

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return self._hash

    @property
    def __class__(self) -> type:
        return AuthorizedAction


@pytest.mark.parametrize("make", [lambda _: Mock(spec=AuthorizedAction), Equal, id, lambda _: None, repr])
def test_look_alikes_are_refused(bench, make) -> None:
    """A mock that passes isinstance, an object equal to all and with the same hash, and plain values are refused.

    Spec: POL-1. Fault: 27.
    """
    world = bench()
    decision = world.ask()
    assert refused(world, make(decision.handle)) == RedeemRefusal.FORGED
    assert world.redeem(decision).action == decision.action


def test_a_handle_of_another_gateway_is_refused(bench) -> None:
    """Each gateway honours only what it minted itself. Spec: POL-1."""
    mine, theirs = bench(), bench()
    assert refused(mine, theirs.ask().handle) == RedeemRefusal.UNKNOWN


def test_a_handle_is_honoured_once(bench) -> None:
    """The second use is a replay, also after the effect was settled. Spec: POL-1. Fault: 27."""
    world = bench()
    decision = world.ask()
    world.redeem(decision)
    assert refused(world, decision.handle) == RedeemRefusal.REPLAYED
    assert world.confirm(decision)
    assert refused(world, decision.handle) == RedeemRefusal.REPLAYED


def test_identity_is_not_reused_with_an_address(bench) -> None:
    """A dead handle that was dropped gives its address to no live one: the ledger holds what it knows."""
    world = bench()
    spent = world.ask()
    world.redeem(spent)
    effect = spent.effect
    del spent
    gc.collect()
    for _ in range(50):
        decision = world.ask()
        assert decision.effect != effect
        assert world.redeem(decision).effect == decision.effect
