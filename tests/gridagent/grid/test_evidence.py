"""Which event proves which action, and which does not."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Action, Confirmed, EvidenceKind, Position, Refused
from gridagent.events import (
    ActionRefused,
    AlertShown,
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
from gridagent.grid.evidence import MATCHERS, EvidenceContext, judge
from gridagent.ids import AvatarId, ItemId, ObjectId, OfferId

ME = AvatarId("00000000-0000-4000-8000-000000000001")
YOU = AvatarId("00000000-0000-4000-8000-000000000002")
IT = ObjectId("00000000-0000-4000-8000-0000000000b1")
OTHER = ObjectId("00000000-0000-4000-8000-0000000000b2")
ITEM = ItemId("00000000-0000-4000-8000-0000000000c1")
OFFER = OfferId("offer-1")
REF = "ref-1"
THERE = Position(x=50.0, y=60.0)
CONTEXT = EvidenceContext(me=ME, where=lambda avatar_id: THERE if avatar_id == YOU else None)
SELF = Speaker(kind=SpeakerKind.SELF, id=ME, name="Ada")
STRANGER = Speaker(kind=SpeakerKind.AVATAR, id=YOU, name="Ada")


def heard(text: str, source: Speaker = SELF, reference: str = "") -> ChatHeard:
    """Return words that came as chat."""
    return ChatHeard(utterance_id="u1", source=source, text=text, reference=reference)


def moved(x: float, y: float, *, moving: bool = False, heading: float = 0.0) -> SelfMoved:
    """Return a report of the avatar's own place; heights differ on purpose."""
    return SelfMoved(region="Plaza", position=Position(x=x, y=y, z=33.0), moving=moving, heading_deg=heading)


def seen(object_id: str = IT, *, name: str = "Box", owner: str = ME, x: float = 50.0, **more: object) -> ObjectSeen:
    """Return the sight of an object."""
    position = Position(x=x, y=60.0, z=22.0)
    return ObjectSeen(
        object=ObjectView(object_id=object_id, name=name, owner_id=AvatarId(owner), position=position, **more)
    )


def item(name: str, kind: str, reference: str = "") -> InventoryChanged:
    """Return a new item."""
    return InventoryChanged(item=ItemView(item_id=ITEM, name=name, kind=kind), reference=reference)


def balance(change: int, counterpart: str, reference: str = "") -> BalanceChanged:
    """Return a change of the balance."""
    return BalanceChanged(balance=5, change=change, counterpart_id=counterpart, reference=reference)


def closed(*, accepted: bool, answer: str = "", offer: str = OFFER) -> OfferClosed:
    """Return the end of an offer."""
    return OfferClosed(offer_id=OfferId(offer), accepted=accepted, answer=answer)


SAY, EMOTE = asked.Say(text="hello"), asked.Emote(text="waves")
ASIDE = asked.Say(text="hello", chat_channel=5)
WALK = asked.WalkTo(position=THERE)
FOLLOW = asked.FollowAvatar(avatar_id=YOU, distance_m=3.0)
GO = asked.AnswerTeleportOffer(offer_id=OFFER, accept=True)
STAY = asked.AnswerTeleportOffer(offer_id=OFFER, accept=False)
BEFRIEND = asked.AnswerFriendship(offer_id=OFFER, accept=True)
TAKE = asked.AnswerInventoryOffer(offer_id=OFFER, accept=True)
LEAVE = asked.AnswerInventoryOffer(offer_id=OFFER, accept=False)
PRESS = asked.AnswerDialog(offer_id=OFFER, button="Red")
GRANT = asked.AnswerPermission(offer_id=OFFER, grant=("animate",))
DENY = asked.AnswerPermission(offer_id=OFFER)
GIVE = asked.GiveItem(item_id=ITEM, to=YOU)
PAY = asked.PayAvatar(to=YOU, amount=10)
TIP = asked.PayObject(object_id=IT, amount=10)
UPLOAD = asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64)
REZ = asked.RezObject(position=THERE, name="Box")
REZ_ITEM = asked.RezObject(position=THERE, item_id=ITEM)
EDIT = asked.EditObject(object_id=IT, name="Box", description="mine", position=THERE)

CONFIRMING: list[tuple[Action, GridEvent]] = [
    (SAY, heard("hello")),
    (SAY, heard("not even equal, but ours", reference=REF)),
    (ASIDE, Delivered(reference=REF)),
    (EMOTE, heard("/me waves")),
    (asked.SetTyping(typing=True), Delivered(reference=REF)),
    (asked.SendIm(to=YOU, text="psst"), Delivered(reference=REF)),
    (asked.TurnTo(heading_deg=359.0), moved(1.0, 1.0, heading=0.5)),
    (WALK, moved(50.5, 60.5)),
    (FOLLOW, moved(50.0, 56.5, moving=True)),
    (asked.StopMoving(), moved(1.0, 1.0)),
    (asked.SitOn(object_id=IT), PostureChanged(posture=Posture.SITTING, object_id=IT)),
    (asked.SitOnGround(), PostureChanged(posture=Posture.SITTING_ON_GROUND)),
    (asked.StandUp(), PostureChanged(posture=Posture.STANDING)),
    (asked.Touch(object_id=IT), Delivered(reference=REF)),
    (asked.TeleportTo(region="plaza", position=THERE), TeleportFinished(region="Plaza", position=THERE)),
    (asked.TeleportHome(), TeleportFinished(region="Anywhere", position=THERE)),
    (asked.OfferTeleport(to=YOU), Delivered(reference=REF)),
    (asked.RequestTeleport(to=YOU), Delivered(reference=REF)),
    (GO, closed(accepted=True)),
    (STAY, closed(accepted=False)),
    (asked.PlayAnimation(animation_id=ITEM), AnimationChanged(animation_id=ITEM, playing=True)),
    (asked.StopAnimation(animation_id=ITEM), AnimationChanged(animation_id=ITEM, playing=False)),
    (PRESS, closed(accepted=True, answer="Red")),
    (PRESS, closed(accepted=True)),
    (GRANT, closed(accepted=True)),
    (DENY, closed(accepted=False, answer="denied")),
    (asked.OfferFriendship(to=YOU), Delivered(reference=REF)),
    (BEFRIEND, closed(accepted=True)),
    (asked.EndFriendship(avatar_id=YOU), FriendChanged(avatar_id=YOU, friend=False)),
    (GIVE, GiftAnswered(item_id=ITEM, to=YOU, accepted=True)),
    (TAKE, closed(accepted=True)),
    (LEAVE, closed(accepted=False)),
    (asked.CreateNotecard(name="Diary", text=""), item("Diary", "notecard")),
    (asked.CreateLandmark(name="Here"), item("renamed by the grid", "landmark", REF)),
    (UPLOAD, item("Logo", "texture")),
    (PAY, balance(-10, YOU)),
    (PAY, balance(-10, YOU, REF)),
    (TIP, balance(-10, IT)),
    (REZ, seen()),
    (REZ, seen(name="another", owner=YOU, x=1.0, reference=REF)),
    (REZ_ITEM, seen(name="whatever it is called")),
    (EDIT, seen(description="mine")),
    (EDIT, seen(reference=REF)),
    (asked.EditObject(object_id=IT), seen()),
    (asked.DeleteObject(object_id=IT), ObjectGone(object_id=IT)),
    (asked.ReturnObject(object_id=IT), ObjectGone(object_id=IT)),
    (asked.EjectAvatar(avatar_id=YOU), AvatarLeft(avatar_id=YOU)),
]
REFUSING: list[tuple[Action, GridEvent, str]] = [
    (asked.TeleportTo(region="Plaza", position=THERE), TeleportFailed(reason="full"), "full"),
    (asked.TeleportHome(), TeleportFailed(reason="down"), "down"),
    (GO, TeleportFailed(reason="down"), "down"),
    (GO, closed(accepted=False), "offer_closed"),
    (BEFRIEND, closed(accepted=False, answer="withdrawn"), "withdrawn"),
    (PRESS, closed(accepted=False, answer="withdrawn"), "withdrawn"),
    (PRESS, closed(accepted=True, answer="Blue"), "Blue"),
    (GRANT, closed(accepted=False, answer="denied"), "denied"),
    (DENY, closed(accepted=False, answer="withdrawn"), "withdrawn"),
    (GIVE, GiftAnswered(item_id=ITEM, to=YOU, accepted=False), "declined"),
]
SILENT: list[tuple[Action, GridEvent]] = [
    # Somebody else's words, also under the avatar's own name, and one's own with another reference.
    (SAY, heard("hello", STRANGER)),
    (SAY, heard("hello", reference="ref-2")),
    (SAY, heard("something else")),
    (ASIDE, heard("hello")),
    (ASIDE, Delivered(reference="ref-2")),
    (EMOTE, heard("waves")),
    (asked.Touch(object_id=IT), Delivered(reference="ref-2")),
    (asked.TurnTo(heading_deg=90.0), moved(1.0, 1.0, heading=93.0)),
    (WALK, moved(50.0, 60.0, moving=True)),
    (WALK, moved(52.0, 60.0)),
    (FOLLOW, moved(40.0, 60.0)),
    (asked.FollowAvatar(avatar_id=ME), moved(50.0, 60.0)),
    (asked.StopMoving(), moved(1.0, 1.0, moving=True)),
    (asked.SitOn(object_id=IT), PostureChanged(posture=Posture.SITTING, object_id=OTHER)),
    (asked.SitOn(object_id=IT), PostureChanged(posture=Posture.SITTING_ON_GROUND)),
    (asked.StandUp(), PostureChanged(posture=Posture.SITTING, object_id=IT)),
    (asked.TeleportTo(region="Plaza", position=THERE), TeleportFinished(region="Annex", position=THERE)),
    (STAY, TeleportFailed(reason="down")),
    (GO, closed(accepted=True, offer="offer-2")),
    (asked.PlayAnimation(animation_id=ITEM), AnimationChanged(animation_id=ITEM, playing=False)),
    (asked.PlayAnimation(animation_id=ITEM), AnimationChanged(animation_id=ItemId(IT), playing=True)),
    (PRESS, closed(accepted=True, answer="Red", offer="offer-2")),
    (GRANT, closed(accepted=True, offer="offer-2")),
    (BEFRIEND, closed(accepted=True, offer="offer-2")),
    (asked.EndFriendship(avatar_id=YOU), FriendChanged(avatar_id=YOU, friend=True, online=True)),
    (asked.EndFriendship(avatar_id=YOU), FriendChanged(avatar_id=ME, friend=False)),
    (GIVE, GiftAnswered(item_id=ITEM, to=ME, accepted=True)),
    (GIVE, GiftAnswered(item_id=ITEM, to=YOU, accepted=True, reference="ref-2")),
    (asked.CreateNotecard(name="Diary", text=""), item("Diary", "landmark")),
    (asked.CreateNotecard(name="Diary", text=""), item("Diary", "notecard", "ref-2")),
    (UPLOAD, item("Logo", "sound")),
    # The right sum to somebody else, another sum, money coming in, and the same payment of an earlier try.
    (PAY, balance(-10, IT)),
    (PAY, balance(-11, YOU)),
    (PAY, balance(10, YOU)),
    (PAY, balance(-10, YOU, "ref-2")),
    (TIP, balance(-10, YOU)),
    (REZ, seen(owner=YOU)),
    (REZ, seen(name="Bench")),
    (REZ, seen(x=55.0)),
    (REZ, seen(reference="ref-2")),
    (EDIT, seen(OTHER, description="mine")),
    (EDIT, seen(description="yours")),
    (EDIT, seen(name="Bench", description="mine")),
    (EDIT, seen(description="mine", x=55.0)),
    (asked.DeleteObject(object_id=IT), ObjectGone(object_id=OTHER)),
    (asked.EjectAvatar(avatar_id=YOU), AvatarLeft(avatar_id=ME)),
]


def test_every_action_has_a_matcher_and_a_case() -> None:
    """The table and these tests cover the whole catalogue.

    Spec: EFX-1
    """
    assert set(MATCHERS) == set(ACTIONS)
    assert {type(action) for action, _ in CONFIRMING} == set(ACTIONS)


@pytest.mark.parametrize(("action", "event"), CONFIRMING)
def test_evidence_confirms(action: Action, event: GridEvent) -> None:
    """The event that an action names confirms it, with the kind of evidence it is.

    Spec: EFX-1, EFX-5
    """
    verdict = judge(action, REF, event, CONTEXT)
    assert isinstance(verdict, Confirmed)
    expected = EvidenceKind.DELIVERED if action is ASIDE else action.spec.evidence
    assert verdict.evidence is expected


@pytest.mark.parametrize(("action", "event", "reason"), REFUSING)
def test_counter_evidence_refuses(action: Action, event: GridEvent, reason: str) -> None:
    """The event that says it did not happen refuses it, with the grid's reason.

    Spec: EFX-1
    """
    assert judge(action, REF, event, CONTEXT) == Refused(reason=reason)


@pytest.mark.parametrize(("action", "event"), SILENT)
def test_what_only_looks_like_evidence_says_nothing(action: Action, event: GridEvent) -> None:
    """Somebody else's act, or another act of one's own, settles nothing.

    Spec: EFX-1
    """
    assert judge(action, REF, event, CONTEXT) is None


@pytest.mark.parametrize("action", [action for action, _ in CONFIRMING])
def test_a_refusal_refuses_the_action_it_names_and_no_other(action: Action) -> None:
    """`ActionRefused` is matched by reference for every action; unrelated events say nothing.

    Spec: EFX-1
    """
    refusal = ActionRefused(reference=REF, reason="no_way")
    assert judge(action, REF, refusal, CONTEXT) == Refused(reason="no_way")
    assert judge(action, "ref-2", refusal, CONTEXT) is None
    assert judge(action, REF, AlertShown(text="hello"), CONTEXT) is None


def test_a_context_without_eyes_confirms_no_following() -> None:
    """Without knowing where the other is, nothing proves that one has caught up."""
    assert judge(FOLLOW, REF, moved(50.0, 60.0), EvidenceContext(me=ME)) is None
