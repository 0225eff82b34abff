"""What each verb draws on: a row for every action, and no meter twice."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from gridagent.actions import (
    ACTIONS,
    AnswerDialog,
    AnswerFriendship,
    AnswerInventoryOffer,
    AnswerPermission,
    AnswerTeleportOffer,
    CreateLandmark,
    CreateNotecard,
    DeleteObject,
    EditObject,
    EffectClass,
    EjectAvatar,
    Emote,
    EndFriendship,
    FollowAvatar,
    GiveItem,
    OfferFriendship,
    OfferTeleport,
    PayAvatar,
    PayObject,
    PlayAnimation,
    Position,
    RequestTeleport,
    ReturnObject,
    RezObject,
    Say,
    SendIm,
    SetTyping,
    SitOn,
    SitOnGround,
    StandUp,
    StopAnimation,
    StopMoving,
    TeleportHome,
    TeleportTo,
    Touch,
    TurnTo,
    UploadAsset,
    WalkTo,
)
from gridagent.config.policy import Meter
from gridagent.policy.verbs import UNKNOWN_WAY_M, VERBS

U = "00000000-0000-4000-8000-00000000000e"
HERE = Position(x=1.0, y=2.0)
CARD = "0" * 64

# Every action once, with what it must draw and whose consent its target needs, written down by hand.
TABLE = [
    (Say(text="héllo"), {"calls.speak": 1, "speech_bytes": 6}, None),
    (Emote(text="waves"), {"calls.speak": 1, "speech_bytes": 5}, None),
    (SetTyping(typing=True), {"calls.speak": 1}, None),
    (SendIm(to=U, text="psst"), {"calls.direct_message": 1, "ims": 1, "speech_bytes": 4}, U),
    (TurnTo(heading_deg=90.0), {"calls.move": 1}, None),
    (WalkTo(position=HERE), {"calls.move": 1, "metres": 256}, None),
    (FollowAvatar(avatar_id=U), {"calls.move": 1, "metres": 256}, U),
    (StopMoving(), {"withdrawals": 1}, None),
    (SitOn(object_id=U), {"calls.interact": 1}, U),
    (SitOnGround(), {"calls.interact": 1}, None),
    (StandUp(), {"withdrawals": 1}, None),
    (Touch(object_id=U), {"calls.interact": 1}, U),
    (TeleportTo(region="Plaza", position=HERE), {"calls.teleport": 1, "teleports": 1}, "Plaza"),
    (TeleportHome(), {"calls.teleport": 1, "teleports": 1}, None),
    (OfferTeleport(to=U, message="come"), {"calls.social": 1, "speech_bytes": 4}, U),
    (RequestTeleport(to=U), {"calls.social": 1}, U),
    (AnswerTeleportOffer(offer_id="o", accept=True), {"calls.teleport": 1, "teleports": 1}, "o"),
    (AnswerTeleportOffer(offer_id="o", accept=False), {"withdrawals": 1}, "o"),
    (PlayAnimation(animation_id=U), {"calls.animate": 1}, None),
    (StopAnimation(animation_id=U), {"withdrawals": 1}, None),
    (AnswerDialog(offer_id="o", button="Yes"), {"calls.interact": 1, "speech_bytes": 3}, None),
    (AnswerPermission(offer_id="o", grant=("animate",)), {"calls.interact": 1}, None),
    (AnswerPermission(offer_id="o"), {"withdrawals": 1}, None),
    (OfferFriendship(to=U, message="hi"), {"calls.social": 1, "speech_bytes": 2}, U),
    (AnswerFriendship(offer_id="o", accept=True), {"calls.social": 1}, None),
    (AnswerFriendship(offer_id="o", accept=False), {"withdrawals": 1}, None),
    (EndFriendship(avatar_id=U), {"calls.social": 1}, U),
    (GiveItem(item_id=U, to=U), {"calls.inventory": 1, "items": 1}, U),
    (AnswerInventoryOffer(offer_id="o", accept=True), {"calls.inventory": 1, "items": 1}, None),
    (AnswerInventoryOffer(offer_id="o", accept=False), {"withdrawals": 1}, None),
    (CreateNotecard(name="n", text="abc"), {"calls.inventory": 1, "items": 1, "speech_bytes": 4}, None),
    (CreateLandmark(name="here"), {"calls.inventory": 1, "items": 1}, None),
    (PayAvatar(to=U, amount=7, description="tip"), {"calls.money": 1, "linden": 7, "speech_bytes": 3}, U),
    (PayObject(object_id=U, amount=9), {"calls.money": 1, "linden": 9}, U),
    (UploadAsset(name="n", kind="k", sha256=CARD), {"calls.upload": 1, "uploads": 1}, None),
    (UploadAsset(name="n", kind="k", sha256=CARD, price=10), {"calls.upload": 1, "uploads": 1, "linden": 10}, None),
    (RezObject(position=HERE, name="Box"), {"calls.build": 1, "prims": 1, "speech_bytes": 3}, None),
    (EditObject(object_id=U, name="ab", description="c"), {"calls.build": 1, "speech_bytes": 3}, None),
    (EditObject(object_id=U), {"calls.build": 1}, None),
    (DeleteObject(object_id=U), {"calls.build": 1}, None),
    (ReturnObject(object_id=U), {"calls.land": 1}, U),
    (EjectAvatar(avatar_id=U), {"calls.land": 1}, U),
]


def test_the_table_of_this_test_is_complete() -> None:
    """Every action of the catalogue stands in it and in the product's table."""
    assert {type(action) for action, _, _ in TABLE} == set(ACTIONS) == set(VERBS)


@pytest.mark.parametrize(("action", "drawn", "target"), TABLE, ids=lambda value: type(value).__name__)
def test_what_each_action_draws_and_aims_at(action, drawn, target) -> None:
    """Each action draws exactly this, each meter once, and aims at exactly that. Spec: POL-6, POL-5."""
    verb = VERBS[type(action)]
    charges = verb.charges(action, None)
    assert {meter.value: amount for meter, amount in charges} == drawn
    assert max(Counter(meter for meter, _ in charges).values()) == 1
    assert (getattr(action, verb.target) if verb.target else None) == target


def test_only_harmless_actions_draw_on_withdrawals() -> None:
    """Stopping and declining draw on nothing else, so a spent budget never keeps an avatar walking."""
    for action, drawn, _ in TABLE:
        withdraws = VERBS[type(action)].withdraws(action)
        assert withdraws is (Meter.WITHDRAWALS.value in drawn)
        if action.spec.effect is EffectClass.REPEATABLE:
            assert withdraws


@pytest.mark.parametrize(
    ("way", "metres"),
    [
        (None, UNKNOWN_WAY_M),
        (0.0, 1),
        (0.2, 1),
        (12.0, 12),
        (12.1, 13),
        (math.nan, UNKNOWN_WAY_M),
        (-5.0, UNKNOWN_WAY_M),
        (math.inf, 10_000_001),
        (1e300, 10_000_001),
    ],
)
def test_a_way_is_rounded_up_and_nonsense_counts_as_long(way, metres) -> None:
    """No way is free, and what can't be told counts as one across a region. Spec: POL-6."""
    assert dict(VERBS[WalkTo].charges(WalkTo(position=HERE), way))[Meter.METRES] == metres


def test_following_counts_at_least_a_region() -> None:
    """A follow goes on after it began near, so its way is never taken as short."""
    follow = FollowAvatar(avatar_id=U)
    assert dict(VERBS[FollowAvatar].charges(follow, 3.0))[Meter.METRES] == UNKNOWN_WAY_M
    assert dict(VERBS[FollowAvatar].charges(follow, 300.0))[Meter.METRES] == 300


def test_the_longest_way_there_is_a_budget_for_counts_as_it_is() -> None:
    """Only beyond it a way counts as more than any budget. Spec: POL-6, BND-13."""
    for way, metres in ((10_000_000.0, 10_000_000), (10_000_000.5, 10_000_001), (1e12, 10_000_001)):
        assert dict(VERBS[WalkTo].charges(WalkTo(position=HERE), way))[Meter.METRES] == metres
