"""What an authorised action becomes on the wire: the actor, and the table of what it can do.

Owns the carrying out: synchronous, so that nothing happens between redeeming and sending (Spec: POL-1). An action that
cannot be sent is refused with a word of ours, and then nothing was sent. One body does one thing: a new errand of the
body ends the one before (Spec: LIV-7, EFX-1). What each action is stands in the families beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gridagent import actions as asked
from gridagent.actions import Action, Resource
from gridagent.events import ActionRefused, GridEvent, TeleportFailed
from gridagent.limits import Label
from live_grid.backend import acting_goods, acting_people, acting_self, acting_things
from live_grid.backend.pending import Pending
from live_grid.backend.stage import Stage
from live_grid.backend.views import OURS
from live_grid.errors import LimitReached, LocalProtocolError
from live_grid.requests import building, travelling
from live_grid.world import Thing
from live_grid.world.events import ObjectChanged, RegionsFound
from live_grid.world.text import clean_words

__all__ = ("ACTORS", "Actor")

NEAR_M: Final = 1.0
"""What appears this near to where we built is what we built."""

ACTORS: Final[dict[type[Action], Callable[..., Label | None]]] = {
    # words
    asked.Say: acting_people.say,
    asked.Emote: acting_people.emote,
    asked.SetTyping: acting_people.set_typing,
    asked.SendIm: acting_people.send_im,
    # our body
    asked.TurnTo: acting_self.turn_to,
    asked.WalkTo: acting_self.walk_to,
    asked.FollowAvatar: acting_self.follow,
    asked.StopMoving: acting_self.stop,
    asked.SitOn: acting_self.sit_on,
    asked.SitOnGround: acting_self.sit_on_ground,
    asked.StandUp: acting_self.stand_up,
    asked.PlayAnimation: acting_self.play,
    asked.StopAnimation: acting_self.cease,
    asked.TeleportTo: acting_self.teleport_to,
    asked.TeleportHome: acting_self.teleport_home,
    # people
    asked.OfferTeleport: acting_people.offer_teleport,
    asked.RequestTeleport: acting_people.request_teleport,
    asked.AnswerTeleportOffer: acting_people.answer_teleport_offer,
    asked.OfferFriendship: acting_people.offer_friendship,
    asked.AnswerFriendship: acting_people.answer_friendship,
    asked.EndFriendship: acting_people.end_friendship,
    asked.EjectAvatar: acting_people.eject,
    # things
    asked.Touch: acting_things.touch,
    asked.AnswerDialog: acting_things.answer_dialog,
    asked.AnswerPermission: acting_things.answer_permission,
    asked.RezObject: acting_things.rez,
    asked.EditObject: acting_things.edit,
    asked.DeleteObject: acting_things.delete,
    asked.ReturnObject: acting_things.give_back,
    # inventory and money
    asked.GiveItem: acting_goods.give,
    asked.AnswerInventoryOffer: acting_goods.answer_inventory_offer,
    asked.CreateNotecard: acting_goods.create_notecard,
    asked.CreateLandmark: acting_goods.create_landmark,
    asked.PayAvatar: acting_goods.pay_avatar,
    asked.PayObject: acting_goods.pay_object,
    asked.UploadAsset: acting_goods.upload,
}
"""What each action does; returns why it was refused unsent, or nothing."""


class Actor:
    """Carries out the actions of one session.

    Args:
        stage: what it acts with.
        pending: what is under way.
        is_waiting: tells whether somebody still waits for the evidence of a reference.
    """

    __slots__ = ("_is_waiting", "_pending", "_stage")

    def __init__(self, stage: Stage, pending: Pending, *, is_waiting: Callable[[Label], bool]) -> None:
        self._stage = stage
        self._pending = pending
        self._is_waiting = is_waiting

    def perform(self, action: Action, reference: Label) -> tuple[Label | None, list[GridEvent]]:
        """Carry out an action.

        Args:
            action: what to do.
            reference: its nonce.

        Returns:
            Why it was refused unsent, if it was; and what is evident at once.
        """
        stage, pending = self._stage, self._pending
        paid = pending.payment
        if paid is not None and not self._is_waiting(paid.reference):
            pending.payment = None  # in doubt for good; the next one may fly
        try:
            refused = ACTORS[type(action)](stage, action, reference)
        except LimitReached:
            refused = "too_much_on_its_way"
        except LocalProtocolError:
            refused = "unsendable"
        evident = stage.take_evident()
        if refused is not None:
            return refused, []
        if action.spec.resource is Resource.BODY:
            before, pending.body = pending.body, reference
            if before and self._is_waiting(before):
                evident.insert(0, ActionRefused(reference=before, reason="superseded"))
        return None, evident

    def on_regions_found(self, found: RegionsFound) -> list[GridEvent]:
        """Go on with a teleport that waited for the map."""
        journey = self._pending.journey
        if journey is None or not journey.region:
            return []
        wanted = clean_words(journey.region).casefold()
        for region in found.regions:
            if region.name.casefold() == wanted:
                journey.region = ""
                return self._set_off(region.handle, journey.position)
        if found.asked.casefold() != wanted:
            return []  # more rows may come, or somebody else asked
        self._pending.journey = None
        return [TeleportFailed(reason="region_not_found")]

    def _set_off(self, handle: int, position: tuple[float, float, float]) -> list[GridEvent]:
        stage = self._stage
        try:
            stage.send(travelling.teleport(stage.me, handle, position))
        except (LimitReached, LocalProtocolError):
            self._pending.journey = None
            return [TeleportFailed(reason="interrupted")]
        return []

    def on_object(self, change: ObjectChanged) -> None:
        """Recognise what we built, name it, and ask what it has become."""
        here = self._stage.world.here
        thing = here.objects.get(change.object_id)
        if thing is None or thing.details is not None or not thing.flags & OURS:
            return
        if any(built.object_id == change.object_id for built in self._pending.built):
            return
        for built in self._pending.built:
            if built.object_id is None and _near(thing, built.position):
                built.object_id = change.object_id
                if built.name:
                    self._name(thing, built.name)
                here.want(change.object_id)
                return

    def _name(self, thing: Thing, name: str) -> None:
        me = self._stage.me
        try:
            self._stage.send(building.rename_object(me, thing.local_id, name))
            self._stage.send(building.deselect(me, thing.local_id))
        except (LimitReached, LocalProtocolError):
            pass  # it stays nameless; that it is there is told all the same


def _near(thing: Thing, position: tuple[float, float, float]) -> bool:
    x, y, _ = thing.motion.position
    return abs(x - position[0]) <= NEAR_M and abs(y - position[1]) <= NEAR_M
