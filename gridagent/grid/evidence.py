"""Which event proves which action: "sent" is never "done" (Spec: EFX-1).

Owns one table, action class → matcher, and nothing else; pure, shared by every backend. A matcher looks
at one event and says confirmed, refused, or nothing. Where the grid carries the action's reference (the
first characters of its effect key) the match is exact; where it can't, the matcher compares what the
action asked for, so that evidence of somebody else's act, or of an earlier equal one with another
reference, never confirms this one. Invariant: every action of the catalogue has a row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeVar

import attrs

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Action, Confirmed, EvidenceKind, Position, Refused
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
    ObjectGone,
    ObjectSeen,
    OfferClosed,
    Posture,
    PostureChanged,
    SelfMoved,
    SpeakerKind,
    TeleportFailed,
    TeleportFinished,
    event_name,
)
from gridagent.ids import AvatarId
from gridagent.limits import Label

__all__ = ("ARRIVED_WITHIN_M", "MATCHERS", "EvidenceContext", "judge")

ARRIVED_WITHIN_M: Final = 1.0
"""A walk has arrived this near to the point asked for; heights are the ground's business."""
_HEADING_WITHIN_DEG: Final = 2.0
_PLACED_WITHIN_M: Final = 0.5

A = TypeVar("A", bound=Action)
Verdict = Confirmed | Refused | None


@attrs.frozen(kw_only=True)
class EvidenceContext:
    """What a matcher needs beside the action and the event."""

    me: AvatarId
    """The acting avatar."""
    where: Callable[[AvatarId], Position | None] = lambda avatar_id: None  # noqa: ARG005 - the name is the contract
    """Returns where another avatar is now, in the region frame, or None."""


Matcher = Callable[[A, Label, GridEvent, EvidenceContext], Verdict]


def judge(action: Action, effect_reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    """Say what one event means for one action that was sent before it.

    Args:
        action: what was asked for.
        effect_reference: the nonce it was sent with.
        event: something the grid told the acting avatar.
        context: who acts, and who is where.

    Returns:
        `Confirmed` or `Refused` when the event settles the action, else None.
    """
    if isinstance(event, ActionRefused):
        return Refused(reason=event.reason) if event.reference == effect_reference else None
    return MATCHERS[type(action)](action, effect_reference, event, context)


def _confirmed(action: Action, event: GridEvent, detail: str = "") -> Confirmed:
    return Confirmed(evidence=action.spec.evidence, detail=detail or event_name(event))


def _flat_distance(one: Position, other: Position) -> float:
    return math.hypot(one.x - other.x, one.y - other.y)


def _same_reference(carried: Label, reference: Label) -> bool | None:
    """Compare references: True or False where the grid carries one, None where it doesn't."""
    return None if not carried else carried == reference


# --- speech -----------------------------------------------------------------------------------


def _own_words(text: str, event: GridEvent, reference: Label) -> bool:
    if not isinstance(event, ChatHeard) or event.source.kind is not SpeakerKind.SELF:
        return False
    same = _same_reference(event.reference, reference)
    return event.text == text if same is None else same


def _say(action: asked.Say, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    if action.chat_channel != 0:
        # Words on another channel are never echoed; the acknowledgement is all a grid gives.
        return _with_kind(_delivered(action, reference, event, context), EvidenceKind.DELIVERED)
    return _confirmed(action, event) if _own_words(action.text, event, reference) else None


def _emote(action: asked.Emote, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del context
    return _confirmed(action, event) if _own_words(f"/me {action.text}", event, reference) else None


def _with_kind(verdict: Verdict, kind: EvidenceKind) -> Verdict:
    return Confirmed(evidence=kind, detail=verdict.detail) if isinstance(verdict, Confirmed) else verdict


def _delivered(action: Action, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del context
    return _confirmed(action, event) if isinstance(event, Delivered) and event.reference == reference else None


# --- body -------------------------------------------------------------------------------------


def _turned(action: asked.TurnTo, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    if not isinstance(event, SelfMoved):
        return None
    off = abs((event.heading_deg - action.heading_deg + 180.0) % 360.0 - 180.0)
    return _confirmed(action, event) if off <= _HEADING_WITHIN_DEG else None


def _walked(action: asked.WalkTo, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    if not isinstance(event, SelfMoved) or event.moving:
        return None
    return _confirmed(action, event) if _flat_distance(event.position, action.position) <= ARRIVED_WITHIN_M else None


def _caught_up(action: asked.FollowAvatar, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference
    if not isinstance(event, SelfMoved):
        return None
    target = context.where(action.avatar_id)
    if target is None or _flat_distance(event.position, target) > action.distance_m + ARRIVED_WITHIN_M:
        return None
    return _confirmed(action, event)


def _stopped(action: asked.StopMoving, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    return _confirmed(action, event) if isinstance(event, SelfMoved) and not event.moving else None


def _seated(action: asked.SitOn, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    if not isinstance(event, PostureChanged) or event.posture is not Posture.SITTING:
        return None
    return _confirmed(action, event) if event.object_id == action.object_id else None


def _held(posture: Posture) -> Matcher[Action]:
    def held(action: Action, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
        del reference, context
        return _confirmed(action, event) if isinstance(event, PostureChanged) and event.posture is posture else None

    return held


def _teleported(action: asked.TeleportTo, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    if isinstance(event, TeleportFinished) and event.region.casefold() == action.region.casefold():
        return _confirmed(action, event)
    return Refused(reason=event.reason) if isinstance(event, TeleportFailed) else None


def _home(action: asked.TeleportHome, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    if isinstance(event, TeleportFinished):
        return _confirmed(action, event, event.region)
    return Refused(reason=event.reason) if isinstance(event, TeleportFailed) else None


def _animated(playing: bool) -> Matcher[asked.PlayAnimation | asked.StopAnimation]:  # noqa: FBT001 - used twice below
    def animated(
        action: asked.PlayAnimation | asked.StopAnimation,
        reference: Label,
        event: GridEvent,
        context: EvidenceContext,
    ) -> Verdict:
        del reference, context
        if not isinstance(event, AnimationChanged) or event.animation_id != action.animation_id:
            return None
        return _confirmed(action, event) if event.playing is playing else None

    return animated


# --- offers -----------------------------------------------------------------------------------


def _answered(
    action: asked.AnswerFriendship | asked.AnswerInventoryOffer,
    reference: Label,
    event: GridEvent,
    context: EvidenceContext,
) -> Verdict:
    del reference, context
    if not isinstance(event, OfferClosed) or event.offer_id != action.offer_id:
        return None
    # Closed the other way: withdrawn by whoever made it, before the answer came.
    return (
        _confirmed(action, event, event.answer) if event.accepted is action.accept else Refused(reason=_closed(event))
    )


def _went_or_declined(
    action: asked.AnswerTeleportOffer, reference: Label, event: GridEvent, context: EvidenceContext
) -> Verdict:
    del reference, context
    if isinstance(event, TeleportFailed) and action.accept:
        return Refused(reason=event.reason)
    if not isinstance(event, OfferClosed) or event.offer_id != action.offer_id:
        return None
    return (
        _confirmed(action, event, event.answer) if event.accepted is action.accept else Refused(reason=_closed(event))
    )


def _pressed(action: asked.AnswerDialog, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    if not isinstance(event, OfferClosed) or event.offer_id != action.offer_id:
        return None
    if event.accepted and event.answer in {"", action.button}:
        return _confirmed(action, event, event.answer)
    return Refused(reason=_closed(event))


def _granted(action: asked.AnswerPermission, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    if not isinstance(event, OfferClosed) or event.offer_id != action.offer_id:
        return None
    if event.answer != "withdrawn" and event.accepted is bool(action.grant):
        return _confirmed(action, event, event.answer)
    return Refused(reason=_closed(event))


def _closed(event: OfferClosed) -> Label:
    return event.answer or "offer_closed"


def _unfriended(action: asked.EndFriendship, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    if not isinstance(event, FriendChanged) or event.avatar_id != action.avatar_id:
        return None
    return None if event.friend else _confirmed(action, event)


# --- inventory and money ----------------------------------------------------------------------


def _given(action: asked.GiveItem, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del context
    if not isinstance(event, GiftAnswered) or (event.item_id, event.to) != (action.item_id, action.to):
        return None
    if _same_reference(event.reference, reference) is False:
        return None
    return _confirmed(action, event) if event.accepted else Refused(reason="declined")


def _made(kind: str | None) -> Matcher[asked.CreateNotecard | asked.CreateLandmark | asked.UploadAsset]:
    def made(
        action: asked.CreateNotecard | asked.CreateLandmark | asked.UploadAsset,
        reference: Label,
        event: GridEvent,
        context: EvidenceContext,
    ) -> Verdict:
        del context
        if not isinstance(event, InventoryChanged):
            return None
        same = _same_reference(event.reference, reference)
        if same is None:
            wanted = action.kind if isinstance(action, asked.UploadAsset) else kind
            same = event.item.name == action.name and event.item.kind == wanted
        return _confirmed(action, event, event.item.item_id) if same else None

    return made


def _paid(counterpart_id: str, amount: int, reference: Label, event: GridEvent) -> bool:
    if not isinstance(event, BalanceChanged) or event.change != -amount or event.counterpart_id != counterpart_id:
        return False
    return _same_reference(event.reference, reference) is not False


def _paid_avatar(action: asked.PayAvatar, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del context
    return _confirmed(action, event) if _paid(action.to, action.amount, reference, event) else None


def _paid_object(action: asked.PayObject, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del context
    return _confirmed(action, event) if _paid(action.object_id, action.amount, reference, event) else None


# --- building and land ------------------------------------------------------------------------


def _rezzed(action: asked.RezObject, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    if not isinstance(event, ObjectSeen):
        return None
    seen = event.object
    same = _same_reference(seen.reference, reference)
    if same is None:
        near = _flat_distance(seen.position, action.position) <= _PLACED_WITHIN_M
        named = action.item_id is not None or seen.name == action.name
        same = near and named and seen.owner_id == context.me
    return _confirmed(action, event, seen.object_id) if same else None


def _edited(action: asked.EditObject, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del context
    if not isinstance(event, ObjectSeen) or event.object.object_id != action.object_id:
        return None
    seen = event.object
    same = _same_reference(seen.reference, reference)
    if same is None:
        same = (
            (action.name is None or seen.name == action.name)
            and (action.description is None or seen.description == action.description)
            and (action.position is None or _flat_distance(seen.position, action.position) <= _PLACED_WITHIN_M)
        )
    return _confirmed(action, event) if same else None


def _gone(
    action: asked.DeleteObject | asked.ReturnObject, reference: Label, event: GridEvent, context: EvidenceContext
) -> Verdict:
    del reference, context
    return _confirmed(action, event) if isinstance(event, ObjectGone) and event.object_id == action.object_id else None


def _ejected(action: asked.EjectAvatar, reference: Label, event: GridEvent, context: EvidenceContext) -> Verdict:
    del reference, context
    return _confirmed(action, event) if isinstance(event, AvatarLeft) and event.avatar_id == action.avatar_id else None


MATCHERS: Final[dict[type[Action], Callable[..., Verdict]]] = {
    asked.Say: _say,
    asked.Emote: _emote,
    asked.SetTyping: _delivered,
    asked.SendIm: _delivered,
    asked.TurnTo: _turned,
    asked.WalkTo: _walked,
    asked.FollowAvatar: _caught_up,
    asked.StopMoving: _stopped,
    asked.SitOn: _seated,
    asked.SitOnGround: _held(Posture.SITTING_ON_GROUND),
    asked.StandUp: _held(Posture.STANDING),
    asked.Touch: _delivered,
    asked.TeleportTo: _teleported,
    asked.TeleportHome: _home,
    asked.OfferTeleport: _delivered,
    asked.RequestTeleport: _delivered,
    asked.AnswerTeleportOffer: _went_or_declined,
    asked.PlayAnimation: _animated(playing=True),
    asked.StopAnimation: _animated(playing=False),
    asked.AnswerDialog: _pressed,
    asked.AnswerPermission: _granted,
    asked.OfferFriendship: _delivered,
    asked.AnswerFriendship: _answered,
    asked.EndFriendship: _unfriended,
    asked.GiveItem: _given,
    asked.AnswerInventoryOffer: _answered,
    asked.CreateNotecard: _made("notecard"),
    asked.CreateLandmark: _made("landmark"),
    asked.PayAvatar: _paid_avatar,
    asked.PayObject: _paid_object,
    asked.UploadAsset: _made(None),
    asked.RezObject: _rezzed,
    asked.EditObject: _edited,
    asked.DeleteObject: _gone,
    asked.ReturnObject: _gone,
    asked.EjectAvatar: _ejected,
}
"""Which event confirms or refuses which action."""

assert set(MATCHERS) == set(ACTIONS)  # noqa: S101 - the module's own promise
