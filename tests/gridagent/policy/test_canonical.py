"""Whatever an asker holds becomes one canonical form, or nothing."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import (
    ACTIONS,
    Action,
    FollowAvatar,
    PayAvatar,
    Position,
    Say,
    SendIm,
    SetTyping,
    TurnTo,
    UploadAsset,
    WalkTo,
)
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal
from gridagent.ids import NIL_UUID
from gridagent.policy.canonical import canonicalise, effect_key
from gridagent.policy.decisions import Denied

U = "00000000-0000-4000-8000-00000000000e"


def force(action, **fields):
    """Change a frozen struct, as code that ignores the rules could."""
    for name, value in fields.items():
        msgspec.structs.force_setattr(action, name, value)
    return action


def pay(amount):
    """Make a payment of anything at all."""
    return force(PayAvatar(to=U, amount=1), amount=amount)


class Liar(int):
    """An int that tells its own story."""

    def __index__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "amount",
    [
        True,
        False,
        1.0,
        1e2,
        "5",
        b"5",
        -1,
        0,
        2**63,
        2**64,
        10**30,
        math.nan,
        math.inf,
        None,
        [5],
        {"a": 1},
        Liar(7),
        object(),
    ],
)
def test_only_a_whole_number_within_bounds_is_money(amount) -> None:
    """Booleans, floats, texts, negative, zero and huge amounts, NaN and objects are denied. Fault: 24."""
    denied = canonicalise(pay(amount))
    assert isinstance(denied, Denied)
    assert (denied.code, denied.rule) == (DenialCode.INVALID_ARGUMENTS, "arguments")


def test_a_plain_amount_passes() -> None:
    """Whole numbers within the bounds are money, the bounds included."""
    for amount in (1, 500, 1_000_000):
        kept = canonicalise(pay(amount)).action.amount
        assert type(kept) is int
        assert kept == amount


@pytest.mark.parametrize(
    "action",
    [
        force(Say(text="x"), text="x" * 2_000),
        force(Say(text="x"), text="ü" * 600),
        force(Say(text="x"), text=""),
        force(Say(text="x"), text="\ud800"),
        force(Say(text="x"), text=5),
        force(Say(text="x"), volume="bellow"),
        force(Say(text="x"), chat_channel=2**31),
        force(SetTyping(typing=True), typing=1),
        force(SendIm(to=U, text="x"), to=f"{U}\n"),
        force(SendIm(to=U, text="x"), to=U.upper().replace("8", "A")),
        force(SendIm(to=U, text="x"), to=U.replace("-", "")),
        SendIm(to=NIL_UUID, text="x"),
        force(TurnTo(heading_deg=1.0), heading_deg=math.nan),
        force(TurnTo(heading_deg=1.0), heading_deg=360.0),
        force(WalkTo(position=Position(x=1.0, y=1.0)), position=None),
        WalkTo(position=Position(x=math.inf, y=1.0)),
        FollowAvatar(avatar_id=U, distance_m=1e9),
        force(UploadAsset(name="n", kind="k", sha256="0" * 64), sha256="0" * 64 + "\n"),
    ],
)
def test_arguments_out_of_shape_are_denied(action) -> None:
    """Over-long, empty and broken texts, other spellings of a UUID, nil, and numbers out of range are denied."""
    denied = canonicalise(action)
    assert isinstance(denied, Denied)
    assert denied.code is DenialCode.INVALID_ARGUMENTS


def test_nesting_without_end_is_denied() -> None:
    """A value that contains itself ends in a denial, not in a crash."""
    loop: list = []
    loop.append(loop)
    assert canonicalise(pay(loop)).code is DenialCode.INVALID_ARGUMENTS


class PayAvatarAsIs(PayAvatar, frozen=True, kw_only=True):
    """A subclass of an action."""


@pytest.mark.parametrize(
    "action",
    [PayAvatarAsIs(to=U, amount=1), None, "pay_avatar", {"action": "pay_avatar"}, PayAvatar, Position(x=1.0, y=1.0)],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_in_the_catalogue_does_not_exist(action) -> None:
    """Subclasses, names, dictionaries and other structs are unknown actions. Fault: 25."""
    denied = canonicalise(action)
    assert isinstance(denied, Denied)
    assert (denied.code, denied.rule) == (DenialCode.UNKNOWN_ACTION, "kind")


def test_equal_actions_have_equal_bytes_whatever_they_were_written_as() -> None:
    """An int where a float belongs gives the same effect as the float."""
    written = (TurnTo(heading_deg=5.0), force(TurnTo(heading_deg=1.0), heading_deg=5))
    one, other = (canonicalise(action) for action in written)
    assert one.raw == other.raw
    assert one.digest == other.digest


def test_the_copy_shares_nothing_with_the_original() -> None:
    """Changing the asker's object, or one copy, changes no other. Fault: 29."""
    walk = WalkTo(position=Position(x=1.0, y=2.0))
    canonical = canonicalise(walk)
    force(walk.position, x=200.0)
    force(canonical.action.position, x=100.0)
    assert canonical.decode() == WalkTo(position=Position(x=1.0, y=2.0))


def request(**fields) -> ActionRequest:
    """Write a request for the effect key."""
    values = {
        "action": Say(text="x"),
        "principal": Principal(avatar_id=U),
        "origin": Origin.PUBLIC_CHAT,
        "generation": 1,
        "correlation": "c",
        "cause": "cause",
    }
    return ActionRequest(**{**values, **fields})


def key(**fields) -> str:
    """Hash a request."""
    written = request(**fields)
    return effect_key(written, canonicalise(written.action))


def test_an_effect_is_known_by_what_it_is_and_why() -> None:
    """Action, arguments, principal, cause and ordinal make the key; door, generation and time do not. Spec: EFX-2."""
    assert key() == key(generation=9, origin=Origin.DIRECT_IM, correlation="other", tainted=True)
    different = {
        key(),
        key(action=Say(text="y")),
        key(principal=Principal(client=U)),
        key(cause="other"),
        key(ordinal=1),
        key(cause="cause\n1"),
        key(cause='cause",1', ordinal=0),
    }
    assert len(different) == 7
    assert all(len(each) == 64 for each in different)


VALUES = {
    "text": "x", "typing": True, "to": U, "heading_deg": 1.0, "position": Position(x=1.0, y=1.0), "avatar_id": U,
    "object_id": U, "region": "Plaza", "offer_id": "o", "accept": True, "animation_id": U, "button": "Yes",
    "item_id": U, "name": "n", "amount": 1, "kind": "k", "sha256": "0" * 64,
}  # fmt: skip


@given(st.sampled_from([kind for kind in ACTIONS if kind.__struct_fields__]), st.data())
def test_whatever_is_put_into_an_action_comes_out_typed_or_not_at_all(kind, data) -> None:
    """No value in any field survives unless strict decoding accepts it. Spec: POL-1."""
    junk = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.just(object()),
        st.lists(st.text(max_size=3), max_size=3), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    )  # fmt: skip
    needed = kind.__struct_fields__[: len(kind.__struct_fields__) - len(kind.__struct_defaults__)]
    action = kind(**{name: VALUES[name] for name in needed})
    force(action, **{name: data.draw(junk) for name in kind.__struct_fields__})
    found = canonicalise(action)
    if isinstance(found, Denied):
        assert found.code is DenialCode.INVALID_ARGUMENTS
    else:
        assert type(found.action) is kind
        assert msgspec.json.decode(found.raw, type=Action) == found.action
