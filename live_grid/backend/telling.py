"""From what happens in a session to what the grid port tells: one to one, by a table.

Owns the translation of every session event into `GridEvent` values, and the small memory that keeps it from saying the
same thing twice. Evidence that the protocol carries no reference for is recognised by `Pending`. Texts are cut to
the structs' bounds here; text of the grid itself becomes one of our own words (Spec: SUP-10, SUP-12, EFX-1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import dist
from types import MappingProxyType
from typing import Final, TypeVar

from gridagent import events as told
from gridagent.actions import Volume
from gridagent.events import GridEvent, Posture
from gridagent.ids import AvatarId, ItemId, ObjectId, OfferId
from gridagent.limits import CHAT_MAX_BYTES, Label, clip_bytes
from live_grid.backend.causes import teleport_reason
from live_grid.backend.offering import offer_event
from live_grid.backend.pending import Pending, change_of
from live_grid.backend.views import (
    avatar_view,
    item_view,
    name_of,
    object_view,
    parcel_view,
    position_of,
    short,
    speaker,
    text_id,
)
from live_grid.handover import SessionEvent
from live_grid.handover import events as session_events
from live_grid.handover.events import How, Reached
from live_grid.handover.events import Journey as JourneyEnd
from live_grid.messages import NIL
from live_grid.world import SourceKind, World
from live_grid.world import events as world_events
from live_grid.world.bounds import AVATARS_MAX
from live_grid.world.packed import heading_of
from live_grid.world.people import SIT_ON_GROUND

__all__ = ("UNTOLD", "Teller")

E = TypeVar("E")
Told = tuple[GridEvent, ...]

UNTOLD: Final[Mapping[type[object], str]] = MappingProxyType(
    {
        world_events.RegionDescribed: "the session enters a region by itself",
        world_events.RegionsFound: "an answer to a question of ours",
        world_events.MovementCompleted: "the session enters a region by itself",
        world_events.SeatGiven: "the session takes the seat by itself",
        world_events.Describe: "the session asks by itself",
        world_events.LureAnswered: "nobody waits for it",
        world_events.FriendshipAnswered: "the change of the friends list is told",
        world_events.PayPriceShown: "an answer to a question of ours",
        world_events.TeleportProgressed: "the end is told",
        world_events.TeleportEndedHere: "the end of the journey is told",
        world_events.TeleportRefused: "the end of the journey is told",
        world_events.LogoutConfirmed: "the end of the session is told",
        session_events.RequestLost: "no evidence: what waits for it stays in doubt",
        session_events.SessionEnded: "the connection's end, by its cause",
    }
)
"""Session events that are no grid event, and why."""

_MOVED_M: Final = 0.25
"""Less is no news of an avatar."""
_OWN_MOVED_M: Final = 0.05
_TURNED_DEG: Final = 1.0
_MOVING_M_S: Final = 0.1
_VOLUMES: Final = {0: Volume.WHISPER, 2: Volume.SHOUT}


class Teller:
    """Translates the events of one session.

    Args:
        world: what the events speak of.
        pending: what is under way.
        walking: tells whether our body is on an errand.
    """

    __slots__ = ("_own", "_pending", "_posture", "_rows", "_seen", "_serial", "_walking", "_world")

    def __init__(self, world: World, pending: Pending, walking: Callable[[], bool]) -> None:
        self._world = world
        self._pending = pending
        self._walking = walking
        self._serial = 0
        self._own: told.SelfMoved | None = None
        self._posture = (Posture.STANDING, "")
        self._seen: dict[bytes, tuple[str, float, float, float]] = {}  # avatars told of; bounded
        self._rows: Mapping[type[object], Callable[..., Told]] = MappingProxyType(
            {
                # regions and ourselves
                session_events.RegionEntered: self._entered,
                world_events.RestartAnnounced: self._restart,
                world_events.ParcelDescribed: self._parcel,
                world_events.OwnMotion: self._own_motion,
                world_events.AnimationsPlayed: self._animations,
                session_events.JourneyEnded: self._journey_ended,
                session_events.WalkEnded: self._walk_ended,
                # people and things
                world_events.AvatarChanged: self._avatar,
                world_events.AvatarLeft: self._avatar_left,
                world_events.NameLearnt: self._name,
                world_events.ObjectChanged: self._object,
                world_events.ObjectGone: self._object_gone,
                world_events.FriendChanged: self._friend,
                # words
                world_events.ChatHeard: self._chat,
                world_events.TypingShown: self._typing,
                world_events.ImReceived: self._im,
                world_events.GroupImSeen: self._group,
                world_events.AlertShown: self._alert,
                world_events.UrlShown: self._url,
                world_events.Kicked: self._kicked,
                # offers
                world_events.OfferMade: self._offer,
                world_events.OfferLapsed: self._lapsed,
                world_events.TeleportAsked: self._asks_to_come,
                world_events.GiftAnswered: self._gift_answered,
                # money and inventory
                world_events.BalanceKnown: self._balance,
                world_events.ItemsMade: self._items,
                # the connection
                session_events.RequestDelivered: self._delivered,
                session_events.PartDegraded: self._degraded,
                session_events.PartRecovered: self._recovered,
            }
        )

    def tell(self, event: SessionEvent) -> Told:
        """Translate one event; nothing for one that is none of the port's."""
        row = self._rows.get(type(event))
        return () if row is None else row(event)

    # --- regions and ourselves -----------------------------------------------------------------
    def _entered(self, event: session_events.RegionEntered) -> Told:
        self._seen.clear()
        self._own = None
        size = max(1, min(8_192, event.size_x))
        entered = told.RegionEntered(
            region=name_of(event.name), position=position_of(event.position), size_m=size, how=event.how.value
        )
        return (entered,) if event.how is How.LOGIN else (entered, *self.posture())

    def _restart(self, event: world_events.RestartAnnounced) -> Told:
        return (told.RegionRestarting(region=name_of(self._world.here.name), seconds=event.seconds),)

    def _parcel(self, event: world_events.ParcelDescribed) -> Told:
        parcel = self._world.parcel
        return (told.ParcelSeen(parcel=parcel_view(self._world, parcel)),) if event.under_us and parcel else ()

    def _own_motion(self, _: world_events.OwnMotion) -> Told:
        return (*self.posture(), *self.motion())

    def motion(self, *, again: bool = False) -> tuple[told.SelfMoved, ...]:
        """Tell where we are, if that is news or is asked for again."""
        me = self._world.me
        if me is None or me.coarse:
            return ()
        position = position_of(self._world.position)
        heading = heading_of(me.motion.rotation)
        moving = dist(me.motion.velocity, (0.0, 0.0, 0.0)) > _MOVING_M_S or self._walking()
        own = self._own
        if not again and own is not None and own.moving is moving:
            off = abs((heading - own.heading_deg + 180.0) % 360.0 - 180.0)
            if position.distance_to(own.position) < _OWN_MOVED_M and off < _TURNED_DEG:
                return ()
        region = name_of(self._world.here.name)
        self._own = told.SelfMoved(region=region, position=position, heading_deg=heading, moving=moving)
        return (self._own,)

    def posture(self, *, again: bool = False) -> tuple[told.PostureChanged, ...]:
        """Tell how our body is held, if that is news or is asked for again."""
        me = self._world.me
        if me is None:
            return ()
        seat = self._world.here.by_local(me.seat) if me.seat else None
        if me.seat:
            # An object we do not know yet will be told of when it is.
            uuid = getattr(seat, "object_id", None)
            now = Posture.SITTING, "" if uuid is None else text_id(uuid)
        else:
            on_ground = bool(self._world.animations & SIT_ON_GROUND)
            now = Posture.SITTING_ON_GROUND if on_ground else Posture.STANDING, ""
        if now == self._posture and not again:
            return ()
        self._posture = now
        return (told.PostureChanged(posture=now[0], object_id=ObjectId(now[1]) if now[1] else None),)

    @property
    def seated(self) -> bool:
        """Whether we sit, on whatever it is."""
        return self._posture[0] is not Posture.STANDING

    def _animations(self, event: world_events.AnimationsPlayed) -> Told:
        names = self._pending.animations
        found = [
            told.AnimationChanged(animation_id=ItemId(names.get(asset) or text_id(asset)), playing=playing)
            for assets, playing in ((event.started, True), (event.stopped, False))
            for asset in assets
        ]
        return tuple(found)

    def _journey_ended(self, event: session_events.JourneyEnded) -> Told:
        journey, self._pending.journey = self._pending.journey, None
        if event.how is JourneyEnd.ARRIVED:
            here = told.TeleportFinished(region=name_of(self._world.here.name), position=position_of(event.position))
            taken = journey is not None and journey.offer_id
            closed = (_closed(journey.offer_id, accepted=True),) if journey is not None and taken else ()
            return (*closed, here)
        if event.how is JourneyEnd.REFUSED:
            return (told.TeleportFailed(reason=teleport_reason(event.reason, event.key)),)
        return ()  # unknown: what waits for it stays in doubt

    def _walk_ended(self, event: session_events.WalkEnded) -> Told:
        walk, self._pending.walk = self._pending.walk, None
        if event.how is Reached.THERE or walk is None:
            return self.motion(again=True)
        reason = "stuck" if event.how is Reached.STUCK else "not_here"
        return (told.ActionRefused(reference=walk.reference, reason=reason), *self.motion(again=True))

    # --- people and things ---------------------------------------------------------------------
    def _avatar(self, event: world_events.AvatarChanged) -> Told:
        avatar = self._world.here.avatars.get(event.avatar_id)
        if avatar is None:
            return ()
        view = avatar_view(self._world, avatar)
        at = view.position
        before = self._seen.get(event.avatar_id)
        if before is not None and before[0] == view.name and dist(before[1:], (at.x, at.y, at.z)) < _MOVED_M:
            return ()
        if before is None and len(self._seen) >= AVATARS_MAX:
            del self._seen[next(iter(self._seen))]
        self._seen[event.avatar_id] = (view.name, at.x, at.y, at.z)
        return (told.AvatarSeen(avatar=view),)

    def _avatar_left(self, event: world_events.AvatarLeft) -> Told:
        self._seen.pop(event.avatar_id, None)
        return (told.AvatarLeft(avatar_id=AvatarId(text_id(event.avatar_id))),)

    def _name(self, event: world_events.NameLearnt) -> Told:
        return self._avatar(world_events.AvatarChanged(event.avatar_id))

    def _object(self, event: world_events.ObjectChanged) -> Told:
        thing = self._world.here.objects.get(event.object_id)
        if thing is None:
            return ()
        told_of_seat = self.posture() if thing.local_id == getattr(self._world.me, "seat", 0) else ()
        view = object_view(self._world, thing, self._built(event.object_id) if event.described else "")
        return told_of_seat if view is None else (told.ObjectSeen(object=view), *told_of_seat)

    def _built(self, object_id: bytes) -> Label:
        """Recognise something we built, now that it has said what it is."""
        for built in self._pending.built:
            if built.object_id == object_id:
                self._pending.built.remove(built)
                return built.reference
        return ""

    def _object_gone(self, event: world_events.ObjectGone) -> Told:
        return (told.ObjectGone(object_id=ObjectId(text_id(event.object_id))),)

    def _friend(self, event: world_events.FriendChanged) -> Told:
        who = AvatarId(text_id(event.avatar_id))
        return (told.FriendChanged(avatar_id=who, friend=event.friend, online=event.online),)

    # --- words ---------------------------------------------------------------------------------
    def _utterance(self) -> Label:
        self._serial += 1
        return f"u{self._serial}"

    def _chat(self, event: world_events.ChatHeard) -> Told:
        mine = event.kind is SourceKind.SELF
        return (
            told.ChatHeard(
                utterance_id=self._utterance(),
                source=speaker(event.kind, event.source_id, event.owner_id, event.name),
                text=clip_bytes(event.text, CHAT_MAX_BYTES),
                volume=_VOLUMES.get(event.volume, Volume.SAY),
                distance_m=0.0 if mine else round(dist(event.position, self._world.position), 2),
                reference=self._pending.heard(event.text) if mine else "",
            ),
        )

    def _typing(self, event: world_events.TypingShown) -> Told:
        return (told.TypingSeen(avatar_id=AvatarId(text_id(event.avatar_id)), typing=event.typing),)

    def _im(self, event: world_events.ImReceived) -> Told:
        """Tell of an IM; our own, and those that a machine answers with, lead to nothing but loops."""
        if event.kind is SourceKind.SELF or event.automatic:
            return ()
        return (
            told.ImReceived(
                utterance_id=self._utterance(),
                source=speaker(event.kind, event.source_id, event.owner_id, event.name),
                text=clip_bytes(event.text, CHAT_MAX_BYTES),
                offline=event.offline,
            ),
        )

    def _group(self, event: world_events.GroupImSeen) -> Told:
        return (told.GroupImSeen(group=name_of(event.name)),)

    def _alert(self, event: world_events.AlertShown) -> Told:
        return (told.AlertShown(text=short(event.text or event.key), modal=event.modal),)

    def _url(self, event: world_events.UrlShown) -> Told:
        thing = ObjectId(text_id(event.object_id))
        return (told.UrlShown(object_id=thing, object_name=name_of(event.object_name), url=short(event.url)),)

    def _kicked(self, event: world_events.Kicked) -> Told:
        return (told.Kicked(reason=short(event.reason)),)

    # --- offers --------------------------------------------------------------------------------
    def _offer(self, event: world_events.OfferMade) -> Told:
        offer = self._world.offers.get(event.offer_id)
        return () if offer is None else (offer_event(offer),)

    def _lapsed(self, event: world_events.OfferLapsed) -> Told:
        return (told.OfferClosed(offer_id=OfferId(event.offer_id), accepted=False, answer="withdrawn"),)

    def _asks_to_come(self, event: world_events.TeleportAsked) -> Told:
        source = speaker(SourceKind.AVATAR, event.avatar_id, NIL, event.name)
        return (told.TeleportAsked(source=source, message=short(event.message)),)

    def _gift_answered(self, event: world_events.GiftAnswered) -> Told:
        """Tell of a gift's end, if it was ours and whoever answers is whom we gave it to."""
        given = self._pending.take_gift(event.transaction_id, text_id(event.avatar_id))
        if given is None:
            return ()
        item_id, to, reference = given
        return (
            told.GiftAnswered(item_id=ItemId(item_id), to=AvatarId(to), accepted=event.accepted, reference=reference),
        )

    # --- money and inventory -------------------------------------------------------------------
    def _balance(self, event: world_events.BalanceKnown) -> Told:
        """Tell of our balance, recognising a payment of ours by its reference, or by amount and receiver."""
        paid = self._pending.recognise_payment(event, self._world.agent_id)
        if paid is not None and not event.success:
            return (told.ActionRefused(reference=paid.reference, reason="payment_refused"),)
        change, counterpart = change_of(event, self._world.agent_id)
        if paid is not None:
            # An object is paid through: the grid may name its owner.
            change, counterpart = -paid.amount, paid.counterpart_id
        return (
            told.BalanceChanged(
                balance=event.balance,
                change=change if event.success else 0,
                counterpart_id=text_id(counterpart),
                description=short(event.description),
                # Recognised by amount and receiver alone it is evidence while it is waited for, and none later.
                reference="" if paid is None or paid.reference not in event.description else paid.reference,
            ),
        )

    def _items(self, event: world_events.ItemsMade) -> Told:
        found = []
        for item in event.items:
            making = self._pending.making.get(item.callback) if item.callback else None
            if making is not None:
                if making.text is not None:
                    continue  # an empty notecard is none: it is told when it is written
                del self._pending.making[item.callback]
            reference = making.reference if making is not None else ""
            found.append(told.InventoryChanged(item=item_view(item), reference=reference))
        return tuple(found)

    # --- the connection ------------------------------------------------------------------------
    def _delivered(self, event: session_events.RequestDelivered) -> Told:
        return self._pending.delivered(event.token)

    def _degraded(self, event: session_events.PartDegraded) -> Told:
        return (told.PartDegraded(part=event.part.value, remedy=event.remedy),)

    def _recovered(self, event: session_events.PartRecovered) -> Told:
        return (told.PartRecovered(part=event.part.value),)


def _closed(offer_id: str, *, accepted: bool) -> told.OfferClosed:
    return told.OfferClosed(
        offer_id=OfferId(offer_id), accepted=accepted, answer="accepted" if accepted else "declined"
    )
