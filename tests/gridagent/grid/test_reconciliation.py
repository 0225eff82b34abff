"""What is known later of an action in doubt: three ways for every kind, and an attacker who wants it believed."""

from __future__ import annotations

import msgspec
import pytest

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Action, Confirmed, Position, Refused
from gridagent.events import (
    ActionRefused,
    AnimationChanged,
    AvatarLeft,
    BalanceChanged,
    ChatHeard,
    Delivered,
    FriendChanged,
    GiftAnswered,
    GridEvent,
    InventoryChanged,
    ItemView,
    ObjectGone,
    ObjectSeen,
    ObjectView,
    OfferClosed,
    Posture,
    PostureChanged,
    SelfMoved,
    Speaker,
    SpeakerKind,
    TeleportFailed,
    TeleportFinished,
)
from gridagent.grid.base import Traces
from gridagent.grid.evidence import EvidenceContext, judge
from gridagent.grid.reconciliation import (
    NOT_HAPPENED,
    RULES,
    Finding,
    Late,
    Look,
    Proof,
    Seen,
    advice,
    hear,
    look_up,
)
from gridagent.ids import NIL_UUID, AvatarId, ItemId, ObjectId, OfferId

ME = AvatarId("00000000-0000-4000-8000-000000000001")
YOU = AvatarId("00000000-0000-4000-8000-000000000002")
IT = ObjectId("00000000-0000-4000-8000-0000000000b1")
ITEM = ItemId("00000000-0000-4000-8000-0000000000c1")
OFFER = OfferId("offer-1")
REF, ELSE = "ref-1", "ref-2"
THERE = Position(x=50.0, y=60.0)
SELF = Speaker(kind=SpeakerKind.SELF, id=ME, name="Ada")
PAY = asked.PayAvatar(to=YOU, amount=10)
TIP = asked.PayObject(object_id=IT, amount=10)
CARD = asked.CreateNotecard(name="Rules", text="none")
MARKER = asked.CreateLandmark(name="Here")
UPLOAD = asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64)
REZ = asked.RezObject(position=THERE, name="Box")
EDIT = asked.EditObject(object_id=IT, name="Box")
GIVE = asked.GiveItem(item_id=ITEM, to=YOU)
GO_THERE = asked.TeleportTo(region="Plaza", position=THERE)
DELETE, RETURN = asked.DeleteObject(object_id=IT), asked.ReturnObject(object_id=IT)


def heard(text: str, reference: str = "") -> ChatHeard:
    """Return our own words as they come back."""
    return ChatHeard(utterance_id="u1", source=SELF, text=text, reference=reference)


def moved(*, moving: bool = False, heading: float = 0.0) -> SelfMoved:
    """Return a report of our place."""
    return SelfMoved(region="Plaza", position=THERE, moving=moving, heading_deg=heading)


def money(change: int, counterpart: str, reference: str = "") -> BalanceChanged:
    """Return a change of our balance."""
    return BalanceChanged(balance=5, change=change, counterpart_id=counterpart, reference=reference)


def item(name: str, kind: str, reference: str = "") -> InventoryChanged:
    """Return a new item."""
    return InventoryChanged(item=ItemView(item_id=ITEM, name=name, kind=kind), reference=reference)


def thing(reference: str = "", owner: AvatarId = ME, object_id: ObjectId = IT) -> ObjectSeen:
    """Return the sight of a box."""
    view = ObjectView(object_id=object_id, name="Box", owner_id=owner, position=THERE, reference=reference)
    return ObjectSeen(object=view)


def closed(*, accepted: bool, answer: str = "") -> OfferClosed:
    """Return the end of the offer."""
    return OfferClosed(offer_id=OFFER, accepted=accepted, answer=answer)


def arrived(x: float = 50.0) -> TeleportFinished:
    """Return the end of a teleport."""
    return TeleportFinished(region="Plaza", position=Position(x=x, y=60.0, z=22.0))


DELIVERED = Delivered(reference=REF)
LOOKED_UP: dict[Action, GridEvent] = {
    PAY: money(-10, YOU, REF),
    TIP: money(-10, IT, REF),
    CARD: item("Rules", "notecard", REF),
    MARKER: item("Here", "landmark", REF),
    UPLOAD: item("Logo", "texture", REF),
    REZ: thing(REF),
    EDIT: thing(REF),
}
"""What a grid may still show of a deed that bore our nonce."""

WITH_NONCE: list[tuple[Action, GridEvent]] = [
    (asked.Say(text="hello"), heard("hello", REF)),
    (asked.Say(text="hello", chat_channel=5), DELIVERED),
    (asked.Emote(text="waves"), heard("/me waves", REF)),
    (asked.SetTyping(typing=True), DELIVERED),
    (asked.SendIm(to=YOU, text="psst"), DELIVERED),
    (asked.Touch(object_id=IT), DELIVERED),
    (asked.OfferTeleport(to=YOU), DELIVERED),
    (asked.RequestTeleport(to=YOU), DELIVERED),
    (asked.OfferFriendship(to=YOU), DELIVERED),
    (GIVE, GiftAnswered(item_id=ITEM, to=YOU, accepted=True, reference=REF)),
    *LOOKED_UP.items(),
]
"""Counts on any connection."""

OURS_ALONE: list[tuple[Action, GridEvent, Proof]] = [
    (asked.Say(text="hello"), heard("hello"), Proof.OWN_DEED),
    (asked.Emote(text="waves"), heard("/me waves"), Proof.OWN_DEED),
    (asked.TurnTo(heading_deg=0.0), moved(), Proof.STATE),
    (asked.WalkTo(position=THERE), moved(), Proof.OWN_DEED),
    (asked.StopMoving(), moved(), Proof.STATE),
    (asked.SitOn(object_id=IT), PostureChanged(posture=Posture.SITTING, object_id=IT), Proof.OWN_DEED),
    (asked.SitOnGround(), PostureChanged(posture=Posture.SITTING_ON_GROUND), Proof.OWN_DEED),
    (asked.StandUp(), PostureChanged(posture=Posture.STANDING), Proof.STATE),
    (GO_THERE, arrived(), Proof.OWN_DEED),
    (asked.AnswerTeleportOffer(offer_id=OFFER, accept=True), closed(accepted=True), Proof.OWN_DEED),
    (asked.AnswerTeleportOffer(offer_id=OFFER, accept=False), closed(accepted=False), Proof.OWN_DEED),
    (asked.StopAnimation(animation_id=ITEM), AnimationChanged(animation_id=ITEM, playing=False), Proof.STATE),
    (asked.AnswerDialog(offer_id=OFFER, button="Red"), closed(accepted=True, answer="Red"), Proof.OWN_DEED),
    (asked.AnswerPermission(offer_id=OFFER, grant=("animate",)), closed(accepted=True), Proof.OWN_DEED),
    (asked.AnswerPermission(offer_id=OFFER), closed(accepted=False, answer="denied"), Proof.OWN_DEED),
    (asked.AnswerFriendship(offer_id=OFFER, accept=True), closed(accepted=True), Proof.OWN_DEED),
    (asked.AnswerInventoryOffer(offer_id=OFFER, accept=False), closed(accepted=False), Proof.OWN_DEED),
]
"""Counts on the connection that the action was sent over, when nothing else of ours leads to the same."""

OTHERS_CAN: list[tuple[Action, GridEvent]] = [
    (asked.FollowAvatar(avatar_id=YOU), moved()),
    (asked.TeleportHome(), arrived()),
    (asked.PlayAnimation(animation_id=ITEM), AnimationChanged(animation_id=ITEM, playing=True)),
    (asked.EndFriendship(avatar_id=YOU), FriendChanged(avatar_id=YOU, friend=False)),
    (DELETE, ObjectGone(object_id=IT)),
    (RETURN, ObjectGone(object_id=IT)),
    (asked.EjectAvatar(avatar_id=YOU), AvatarLeft(avatar_id=YOU)),
]
"""What was asked for has come about, and that it was our doing can never be shown later."""

EVERY = {type(action): action for action, *_ in (*WITH_NONCE, *OURS_ALONE, *OTHERS_CAN)}
kinds = pytest.mark.parametrize("action", EVERY.values(), ids=lambda action: type(action).__name__)


def at_the_time(action: Action, event: GridEvent) -> bool:
    """Tell whether the event would have been taken for evidence while it was waited for."""
    context = EvidenceContext(me=ME, where=lambda _: THERE)
    return isinstance(judge(action, REF, event, context), Confirmed)


def late(action: Action, event: GridEvent, *, alone: bool = True) -> Finding | None:
    """Judge an event that came late."""
    return hear(action, REF, event, me=ME, alone=alone)


def looked(action: Action, *told: GridEvent, settled=True, since=None, things=()) -> Finding | None:
    """Judge what was looked up for what was sent at 100."""
    traces = Traces(told=told, money_since=since)
    seen = Seen(traces=traces, things=frozenset(things), sent_at=100.0, settled=settled)
    return look_up(action, REF, seen, me=ME)


def test_every_kind_is_here_and_has_its_rule() -> None:
    """No kind was left out, and each says why it can stay in doubt and where to look. Spec: EFX-1, EFX-2."""
    assert set(EVERY) == set(RULES) == set(ACTIONS)
    for kind, rule in RULES.items():
        assert advice(EVERY[kind]) is rule
        assert rule.why
        assert rule.look_at
    never = {kind for kind, rule in RULES.items() if rule.late is Late.NEVER}
    assert never == {type(action) for action, _ in OTHERS_CAN}
    looks = {kind for kind, rule in RULES.items() if rule.look in {Look.MARK, Look.HISTORY}}
    assert looks == {type(action) for action in LOOKED_UP}


# --- it happened ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("action", "event"), WITH_NONCE)
@pytest.mark.parametrize("alone", [True, False])
def test_what_bears_the_nonce_and_is_our_doing_happened(action, event, alone) -> None:
    """On any connection, however much else was done. Spec: EFX-2, EFX-5."""
    finding = late(action, event, alone=alone)
    assert finding is not None
    assert finding.proof is Proof.NONCE
    assert isinstance(finding.outcome, Confirmed)


@pytest.mark.parametrize(("action", "event", "proof"), OURS_ALONE)
def test_what_only_we_can_have_done_happened(action, event, proof) -> None:
    """On its own connection and with nothing else that leads to it; otherwise it proves nothing. Spec: EFX-2."""
    finding = late(action, event)
    assert finding is not None
    assert finding.proof is proof
    assert isinstance(finding.outcome, Confirmed)
    assert late(action, event, alone=False) is None


@pytest.mark.parametrize("action", LOOKED_UP)
def test_what_can_be_looked_up_happened(action) -> None:
    """The grid's own record bears the nonce; also while the connection is young. Spec: EFX-2, EFX-5."""
    finding = looked(action, LOOKED_UP[action], settled=False)
    assert finding is not None
    assert finding.proof is (Proof.HISTORY if isinstance(action, asked.PayAvatar | asked.PayObject) else Proof.MARK)
    assert isinstance(finding.outcome, Confirmed)
    assert finding.outcome.evidence is action.spec.evidence


# --- it didn't --------------------------------------------------------------------------------------


@kinds
def test_a_late_no_of_the_grid_means_that_it_did_not_happen(action) -> None:
    """To this very deed, on any connection; a no to another deed is none. Spec: EFX-1, EFX-2."""
    finding = late(action, ActionRefused(reference=REF, reason="no_room"), alone=False)
    assert finding == Finding(outcome=Refused(reason="no_room"), proof=Proof.REFUSAL)
    assert late(action, ActionRefused(reference=ELSE, reason="no_room")) is None


@pytest.mark.parametrize(
    "action", [GO_THERE, asked.TeleportHome(), asked.AnswerTeleportOffer(offer_id=OFFER, accept=True)]
)
def test_a_teleport_that_failed_late_did_not_happen(action) -> None:
    """The only journey of ours on this connection is the one that failed. Spec: EFX-2."""
    failed = TeleportFailed(reason="full")
    assert late(action, failed) == Finding(outcome=Refused(reason="full"), proof=Proof.REFUSAL)
    assert late(action, failed, alone=False) is None
    assert late(asked.WalkTo(position=THERE), failed) is None


def test_a_gift_that_was_declined_did_not_happen() -> None:
    """Whatever the connection, if it is this gift. Spec: EFX-2."""
    declined = GiftAnswered(item_id=ITEM, to=YOU, accepted=False, reference=REF)
    finding = late(GIVE, declined, alone=False)
    assert finding == Finding(outcome=Refused(reason="declined"), proof=Proof.REFUSAL)
    assert late(GIVE, msgspec.structs.replace(declined, reference="")) is None


@pytest.mark.parametrize("action", [PAY, TIP])
def test_a_payment_that_a_whole_history_does_not_have_was_not_made(action) -> None:
    """Only if nothing can be missing from it, and nothing can be on its way any more. Spec: EFX-2, EFX-5."""
    finding = looked(action, since=100.0)
    assert finding == Finding(outcome=Refused(reason=NOT_HAPPENED), proof=Proof.NOT_IN_HISTORY)
    assert looked(action, since=None) is None
    assert looked(action, since=100.1) is None, "the record begins after it was sent"
    assert looked(action, since=100.0, settled=False) is None
    other = money(-10, YOU, ELSE)
    assert looked(action, other, since=100.0) == finding


@pytest.mark.parametrize("action", [DELETE, RETURN])
def test_what_is_still_there_was_not_taken_away(action) -> None:
    """An object's id never comes again; what is not seen proves nothing. Spec: EFX-2."""
    finding = looked(action, things=(IT,))
    assert finding == Finding(outcome=Refused(reason=NOT_HAPPENED), proof=Proof.STILL_THERE)
    assert looked(action, things=(IT,), settled=False) is None, "it may be on its way still"
    assert looked(action) is None, "out of sight, or somebody else took it"


@pytest.mark.parametrize("action", [CARD, MARKER, UPLOAD, REZ, EDIT])
def test_what_is_not_found_may_have_been_there(action) -> None:
    """It can have been taken away again. Spec: EFX-2."""
    assert looked(action, since=100.0) is None


# --- it can't be known --------------------------------------------------------------------------------


@kinds
def test_silence_proves_nothing(action) -> None:
    """Nothing told, nothing found: it stays in doubt. Spec: EFX-2."""
    assert looked(action) is None
    assert late(action, AvatarLeft(avatar_id=ME)) is None
    assert late(action, money(0, NIL_UUID)) is None


@pytest.mark.parametrize(("action", "event"), OTHERS_CAN)
def test_what_somebody_else_can_bring_about_proves_nothing_later(action, event) -> None:
    """It was evidence while it was waited for, and is none any more. Spec: EFX-1, EFX-2."""
    assert at_the_time(action, event)
    assert late(action, event) is None


@pytest.mark.parametrize(("action", "event"), [pair for pair in WITH_NONCE if not isinstance(pair[1], Delivered)])
def test_another_deeds_nonce_is_never_ours(action, event) -> None:
    """However well the rest fits. Spec: EFX-5."""
    if isinstance(event, ObjectSeen):
        others = ObjectSeen(object=msgspec.structs.replace(event.object, reference=ELSE))
    else:
        others = msgspec.structs.replace(event, reference=ELSE)
    assert late(action, others) is None
    assert looked(action, others) is None


@pytest.mark.parametrize(
    ("action", "event"),
    [
        (PAY, money(-10, YOU)),
        (TIP, money(-10, IT)),
        (GIVE, GiftAnswered(item_id=ITEM, to=YOU, accepted=True)),
        (CARD, item("Rules", "notecard")),
        (MARKER, item("Here", "landmark")),
        (UPLOAD, item("Logo", "texture")),
        (REZ, thing()),
        (EDIT, thing()),
    ],
)
def test_what_costs_something_is_not_believed_without_the_nonce(action, event) -> None:
    """A script that may take money, somebody's gift, an older box: all of them look alike. Spec: EFX-2, EFX-5."""
    assert at_the_time(action, event)
    assert late(action, event) is None
    assert looked(action, event) is None


@pytest.mark.parametrize(
    ("action", "event"),
    [
        (PAY, money(10, YOU, REF)),
        (PAY, money(-9, YOU, REF)),
        (PAY, money(-10, IT, REF)),
        (PAY, money(0, NIL_UUID, REF)),
        (TIP, money(10, IT, REF)),
        (CARD, item("Rules, but for fools", "notecard", REF)),
        (REZ, thing(REF, owner=YOU)),
        (EDIT, thing(REF, owner=YOU)),
        (EDIT, thing(REF, object_id=ObjectId(str(ITEM)))),
        (GIVE, GiftAnswered(item_id=ITEM, to=ME, accepted=True, reference=REF)),
    ],
)
def test_who_writes_our_nonce_is_not_believed(action, event) -> None:
    """Money sent to us, a gift, an object of somebody else's that bears the nonce: no secret, no proof. Spec: EFX-5."""
    assert late(action, event) is None
    assert looked(action, event) is None


@pytest.mark.parametrize("action", [PAY, TIP])
def test_a_forged_entry_makes_a_whole_history_prove_nothing(action) -> None:
    """Something with our nonce that fits no story of ours: neither way is concluded. Spec: EFX-5."""
    assert looked(action, money(10, YOU, REF), since=100.0) is None


@pytest.mark.parametrize(
    ("action", "event"),
    [
        (asked.AnswerDialog(offer_id=OFFER, button="Red"), closed(accepted=False, answer="withdrawn")),
        (asked.AnswerFriendship(offer_id=OFFER, accept=True), closed(accepted=False, answer="withdrawn")),
        (asked.AnswerInventoryOffer(offer_id=OFFER, accept=False), closed(accepted=False, answer="withdrawn")),
    ],
)
def test_an_offer_that_was_withdrawn_says_nothing_of_our_answer(action, event) -> None:
    """Whoever made it can make it again under the same number, and withdraw that. Spec: EFX-2."""
    assert late(action, event) is None


def test_a_teleport_that_came_in_elsewhere_is_not_the_one_that_was_asked_for() -> None:
    """A land owner can send us home, into the very region we wanted to go to. Spec: EFX-2."""
    assert at_the_time(GO_THERE, arrived(x=200.0))
    assert late(GO_THERE, arrived(x=200.0)) is None
