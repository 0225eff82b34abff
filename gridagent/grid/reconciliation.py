"""What can be known later of an action that was left in doubt: one rule a kind (Spec: EFX-1, EFX-2, EFX-5).

Owns the table action class → rule, the judging of events that come late, and the judging of what is looked up after
coming back; pure, shared by every backend. `gridagent.session.doubts` asks it and settles what it finds.

Invariant: a finding is never a guess. While an action is waited for, evidence that fits is taken for its own
(`gridagent.grid.evidence`); later, others have had time to bring the same about. So what fits counts only if it
carries the action's nonce where nobody else can write it, or if nobody but this avatar can bring it about and it asked
for nothing since that could have. The nonce is no secret (a payee reads it, and it can be computed), so it proves
nothing by itself: money must have left us, an item must have been made by us, an object must be ours.

Three things never prove anything: a balance, since somebody may have paid in or a script taken out meanwhile; that
something is *not* there, since it can be gone again; and where we are after a login, since the grid chooses the place.
A history that misses nothing proves both ways. A thing with an id of its own that was to be taken away and is still
there proves that it was not.
"""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Final

import attrs

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Action, Confirmed, EffectClass, Position, Refused
from gridagent.events import (
    ActionRefused,
    BalanceChanged,
    ChatHeard,
    Delivered,
    GiftAnswered,
    GridEvent,
    InventoryChanged,
    ObjectSeen,
    OfferClosed,
    TeleportFailed,
    TeleportFinished,
)
from gridagent.grid.base import Traces
from gridagent.grid.evidence import EvidenceContext, judge
from gridagent.ids import AvatarId, ObjectId
from gridagent.limits import Label, ShortText

__all__ = (
    "NOT_HAPPENED",
    "RULES",
    "Finding",
    "Late",
    "Look",
    "Proof",
    "Rule",
    "Seen",
    "advice",
    "hear",
    "look_up",
    "nonce_of",
)

LANDED_WITHIN_M: Final = 10.0
"""A teleport that came in this near to the point asked for went there; a land owner can only send us home."""
NOT_HAPPENED: Final = "not_happened"


class Late(StrEnum):
    """What an event that comes late must be like to prove that an action happened."""

    NONCE = "nonce"
    """It carries the action's nonce, and what it says can only have been our doing."""
    OURS = "ours"
    """Also without a nonce: on the connection the action was sent over, nobody but us can bring it about."""
    STATE = "state"
    """The same, of what asks for a state and no more: whoever brought it about, it is so."""
    NEVER = "never"
    """Somebody else can bring it about, so that it is so proves nothing."""


class Look(StrEnum):
    """What can be looked up."""

    NOTHING = "nothing"
    """It leaves no trace that lasts."""
    MARK = "mark"
    """What it made bears its nonce."""
    HISTORY = "history"
    """The grid's own record of our payments, which proves both ways if it misses nothing."""
    THERE = "there"
    """Whether the thing that was to go is still there, after long enough on a later connection."""


class Proof(StrEnum):
    """What a finding rests on; the code that is recorded."""

    NONCE = "nonce"
    OWN_DEED = "own_deed"
    STATE = "state"
    REFUSAL = "refusal"
    HISTORY = "history"
    MARK = "mark"
    NOT_IN_HISTORY = "not_in_history"
    STILL_THERE = "still_there"


@attrs.frozen(kw_only=True)
class Rule:
    """One row: what proves it late, what can be looked up, and what a person is told when neither helps."""

    late: Late
    look: Look = Look.NOTHING
    why: ShortText
    """Why it cannot be known without that."""
    look_at: ShortText
    """Where a person can see for themselves."""


@attrs.frozen(kw_only=True)
class Finding:
    """How an action in doubt ended after all, and what shows it."""

    outcome: Confirmed | Refused
    proof: Proof


@attrs.frozen(kw_only=True)
class Seen:
    """What is looked at for one action."""

    traces: Traces
    things: AbstractSet[ObjectId]
    """Objects that are near."""
    sent_at: float
    """Not sent before, by the wall clock."""
    settled: bool
    """This connection is not the one it was sent over, and has stood for long enough that nothing of that one is still
    on its way: only then does it mean anything that something is not so."""


_WORDS: Final = "whoever was there, or the region's chat log"
_RECEIVER: Final = "the receiver"
_HERE: Final = "where the avatar is now"
_INVENTORY: Final = "the avatar's inventory"
_HISTORY: Final = "the account's transaction history at the grid, at the time of the payment"
_PLACE: Final = "the place itself, for the object"
_ONLY_TOLD: Final = "the grid acknowledges it once and keeps no trace of it"
_ECHO: Final = "words leave no trace; an echo counts only with the nonce, or where nothing else was said alike"
_MOVES: Final = "a login comes in where the grid puts it, so where the avatar is now does not tell"
_BODY: Final = "how the body is held ends with the connection"
_ANSWERED: Final = "an offer that was answered is not told of again, and one that is gone may have been withdrawn"
_MADE: Final = "something by this name may be older, or somebody's gift, and what is not there may be gone again"
_PAID: Final = (
    "the balance alone does not tell: others can pay in and scripts can take out, and no history has the nonce"
)
_SENT_HOME: Final = "a land owner can send the avatar home as well"
_OTHERS_REMOVE: Final = "others can take it away as well, and what is out of sight may be there"

RULES: Final[dict[type[Action], Rule]] = {
    asked.Say: Rule(late=Late.OURS, why=_ECHO, look_at=_WORDS),
    asked.Emote: Rule(late=Late.OURS, why=_ECHO, look_at=_WORDS),
    asked.SetTyping: Rule(late=Late.NONCE, why=_ONLY_TOLD, look_at=_WORDS),
    asked.SendIm: Rule(late=Late.NONCE, why=_ONLY_TOLD, look_at=_RECEIVER),
    asked.TurnTo: Rule(late=Late.STATE, why=_MOVES, look_at=_HERE),
    asked.WalkTo: Rule(late=Late.OURS, why=_MOVES, look_at=_HERE),
    asked.FollowAvatar: Rule(late=Late.NEVER, why="who was followed can come near by themselves", look_at=_HERE),
    asked.StopMoving: Rule(late=Late.STATE, why=_BODY, look_at=_HERE),
    asked.SitOn: Rule(late=Late.OURS, why=_BODY, look_at=_HERE),
    asked.SitOnGround: Rule(late=Late.OURS, why=_BODY, look_at=_HERE),
    asked.StandUp: Rule(late=Late.STATE, why=_BODY, look_at=_HERE),
    asked.Touch: Rule(late=Late.NONCE, why=_ONLY_TOLD, look_at="the object, for what a touch does there"),
    asked.TeleportTo: Rule(late=Late.OURS, why=_MOVES, look_at=_HERE),
    asked.TeleportHome: Rule(late=Late.NEVER, why=_SENT_HOME, look_at=_HERE),
    asked.OfferTeleport: Rule(late=Late.NONCE, why=_ONLY_TOLD, look_at=_RECEIVER),
    asked.RequestTeleport: Rule(late=Late.NONCE, why=_ONLY_TOLD, look_at=_RECEIVER),
    asked.AnswerTeleportOffer: Rule(late=Late.OURS, why=_ANSWERED, look_at=_HERE),
    asked.PlayAnimation: Rule(late=Late.NEVER, why="a script or the grid can start it as well", look_at=_HERE),
    asked.StopAnimation: Rule(late=Late.STATE, why=_BODY, look_at=_HERE),
    asked.AnswerDialog: Rule(late=Late.OURS, why=_ANSWERED, look_at="the object, for what the button does"),
    asked.AnswerPermission: Rule(late=Late.OURS, why=_ANSWERED, look_at="the object, for what it does to the avatar"),
    asked.OfferFriendship: Rule(late=Late.NONCE, why=_ONLY_TOLD, look_at="the friends list, and the receiver"),
    asked.AnswerFriendship: Rule(late=Late.OURS, why=_ANSWERED, look_at="the friends list"),
    asked.EndFriendship: Rule(
        late=Late.NEVER, why="either side can end a friendship, and both can begin it anew", look_at="the friends list"
    ),
    asked.GiveItem: Rule(
        late=Late.NONCE,
        why="a grid keeps no list of what was given; an answer counts only with the nonce",
        look_at=_RECEIVER,
    ),
    asked.AnswerInventoryOffer: Rule(late=Late.OURS, why=_ANSWERED, look_at=_INVENTORY),
    asked.CreateNotecard: Rule(late=Late.NONCE, look=Look.MARK, why=_MADE, look_at=_INVENTORY),
    asked.CreateLandmark: Rule(late=Late.NONCE, look=Look.MARK, why=_MADE, look_at=_INVENTORY),
    asked.PayAvatar: Rule(late=Late.NONCE, look=Look.HISTORY, why=_PAID, look_at=_HISTORY),
    asked.PayObject: Rule(late=Late.NONCE, look=Look.HISTORY, why=_PAID, look_at=_HISTORY),
    asked.UploadAsset: Rule(late=Late.NONCE, look=Look.MARK, why=_MADE, look_at=_INVENTORY),
    asked.RezObject: Rule(late=Late.NONCE, look=Look.MARK, why=_MADE, look_at=_PLACE),
    asked.EditObject: Rule(
        late=Late.NONCE,
        look=Look.MARK,
        why="it may have been like this before, and others may have changed it since",
        look_at=_PLACE,
    ),
    asked.DeleteObject: Rule(late=Late.NEVER, look=Look.THERE, why=_OTHERS_REMOVE, look_at=_PLACE),
    asked.ReturnObject: Rule(late=Late.NEVER, look=Look.THERE, why=_OTHERS_REMOVE, look_at=_PLACE),
    asked.EjectAvatar: Rule(
        late=Late.NEVER, why="who was to go can go by themselves, and come back", look_at="the land's access log"
    ),
}
"""Every kind; ``docs/reference/reconciliation.md`` shows it."""

assert set(RULES) == set(ACTIONS)  # noqa: S101 - the module's own promise


def advice(action: Action) -> Rule:
    """Return what a person is to be told of an action in doubt."""
    return RULES[type(action)]


def hear(action: Action, reference: Label, event: GridEvent, *, me: AvatarId, alone: bool) -> Finding | None:
    """Say what an event that comes late proves of an action in doubt.

    Args:
        action: what was asked for.
        reference: the nonce it was sent with.
        event: something the grid tells this avatar now.
        me: this avatar.
        alone: this is the connection it was sent over, and nothing else was asked for on it that leads to the same.

    Returns:
        A finding, or None: then it stays in doubt.
    """
    carried = nonce_of(event)
    if carried and carried != reference:
        return None
    if isinstance(event, ActionRefused):
        return Finding(outcome=Refused(reason=event.reason), proof=Proof.REFUSAL)
    late = RULES[type(action)].late
    verdict = judge(action, reference, event, EvidenceContext(me=me)) if carried or alone else None
    if isinstance(verdict, Refused):
        # With the nonce it is this very gift that was declined; a journey of ours fails for nobody else. But an offer
        # is closed by others too: after our answer, or by whoever sent the same one again.
        no = bool(carried) or isinstance(event, TeleportFailed)
        return Finding(outcome=verdict, proof=Proof.REFUSAL) if no else None
    believed = late in {Late.OURS, Late.STATE} or (late is Late.NONCE and bool(carried))
    if verdict is None or not believed or not _our_doing(action, event, me):
        return None
    proof = Proof.NONCE if carried else Proof.STATE if late is Late.STATE else Proof.OWN_DEED
    return Finding(outcome=verdict, proof=proof)


def look_up(action: Action, reference: Label, seen: Seen, *, me: AvatarId) -> Finding | None:
    """Say what is to be seen of an action in doubt.

    Args:
        action: what was asked for.
        reference: the nonce it was sent with.
        seen: what was looked at.
        me: this avatar.

    Returns:
        A finding, or None: then it stays in doubt.
    """
    look = RULES[type(action)].look
    if look is Look.NOTHING:
        return None
    if look is Look.THERE:
        return _not_happened(Proof.STILL_THERE) if seen.settled and _target(action) in seen.things else None
    ours = [event for event in seen.traces.told if nonce_of(event) == reference]
    for event in ours:
        if hear(action, reference, event, me=me, alone=False) is not None:
            proof = Proof.HISTORY if look is Look.HISTORY else Proof.MARK
            return Finding(outcome=Confirmed(evidence=action.spec.evidence, detail=f"looked up: {proof}"), proof=proof)
    # Something with this nonce that is not what was asked for fits no story of ours: nothing is concluded then.
    since = seen.traces.money_since
    whole = look is Look.HISTORY and since is not None and since <= seen.sent_at
    return _not_happened(Proof.NOT_IN_HISTORY) if whole and seen.settled and not ours else None


def _not_happened(proof: Proof) -> Finding:
    return Finding(outcome=Refused(reason=NOT_HAPPENED), proof=proof)


def _target(action: Action) -> ObjectId | None:
    return action.object_id if isinstance(action, asked.DeleteObject | asked.ReturnObject) else None


def nonce_of(event: GridEvent) -> Label:
    """Return the nonce that an event carries; empty where it carries none."""
    if isinstance(event, ObjectSeen):
        return event.object.reference
    if isinstance(event, ChatHeard | InventoryChanged | BalanceChanged | GiftAnswered | Delivered | ActionRefused):
        return event.reference
    return ""


def _our_doing(action: Action, event: GridEvent, me: AvatarId) -> bool:
    """Tell whether what fits can only have been brought about by us."""
    match event:
        case InventoryChanged():
            return event.item.name == getattr(action, "name", None)
        case ObjectSeen():
            return event.object.owner_id == me
        case OfferClosed():
            return event.answer != "withdrawn"
        case TeleportFinished():
            wanted = action.position if isinstance(action, asked.TeleportTo) else None
            return wanted is not None and _flat_distance(event.position, wanted) <= LANDED_WITHIN_M
        case _:
            return True


def _flat_distance(one: Position, other: Position) -> float:
    return math.hypot(one.x - other.x, one.y - other.y)


assert all(  # noqa: S101 - what costs something is never believed to have happened without a mark that lasts
    rule.late in {Late.NONCE, Late.NEVER} or kind.spec.evidence is asked.EvidenceKind.OFFER_CLOSED
    for kind, rule in RULES.items()
    if kind.spec.effect is EffectClass.ONCE
)
