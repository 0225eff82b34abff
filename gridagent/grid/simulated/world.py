"""The simulated world: its verbs, its reads, and the table that says which verb does which action.

Owns the surface of the sans-IO core: everybody outside this folder talks to `World` and to the records it
returns. It waits for nothing and reads no clock: every verb takes ``now``, and `next_timer` says when
`advance` is wanted next (Spec: SIM-1, SIM-2). Called by the trio shell in `gridagent.grid.simulated.grid`,
by scenarios, and by tests. Invariant: every action of the catalogue has a row in `HANDLERS`, and every
action performed leads to its evidence, to a refusal with a code, or to somebody else's answer.

The first call that names a ``now`` sets the world's beginning; characters announced before come then.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Action, Capability, Position
from gridagent.errors import LimitExceeded, OperatorError
from gridagent.events import AvatarView, DisconnectCause, GridProfile, ItemView, ObjectView
from gridagent.grid.simulated import (
    building,
    incidents,
    inventory,
    land,
    messages,
    money,
    postures,
    presence,
    scripts,
    social,
    speech,
    teleport,
    walking,
)
from gridagent.grid.simulated.avatars import Account, Avatar, Place
from gridagent.grid.simulated.belongings import has_room, put_item
from gridagent.grid.simulated.characters import Character
from gridagent.grid.simulated.hosting import Hosting
from gridagent.grid.simulated.objects import Thing
from gridagent.grid.simulated.parcels import Land, Parcel
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.sessions import OnEnd, OnEvent, Session, SessionLog
from gridagent.grid.simulated.state import AVATARS_MAX, State, WorldSettings
from gridagent.grid.simulated.surroundings import avatars_near, objects_near
from gridagent.ids import NIL_UUID, AvatarId, ItemId, ObjectId, ParcelId
from gridagent.limits import Label

__all__ = ("HANDLERS", "World")

HANDLERS: Final[dict[type[Action], Callable[..., None]]] = {
    asked.Say: speech.say,
    asked.Emote: speech.emote,
    asked.SetTyping: speech.set_typing,
    asked.SendIm: messages.send_im,
    asked.TurnTo: walking.turn_to,
    asked.WalkTo: walking.walk_to,
    asked.FollowAvatar: walking.follow_avatar,
    asked.StopMoving: walking.stop_moving,
    asked.SitOn: postures.sit_on,
    asked.SitOnGround: postures.sit_on_ground,
    asked.StandUp: postures.stand_up,
    asked.Touch: scripts.touch,
    asked.TeleportTo: teleport.teleport_to,
    asked.TeleportHome: teleport.teleport_home,
    asked.OfferTeleport: social.offer_teleport,
    asked.RequestTeleport: social.request_teleport,
    asked.AnswerTeleportOffer: teleport.answer_teleport_offer,
    asked.PlayAnimation: postures.play_animation,
    asked.StopAnimation: postures.stop_animation,
    asked.AnswerDialog: scripts.answer_dialog,
    asked.AnswerPermission: scripts.answer_permission,
    asked.OfferFriendship: social.offer_friendship,
    asked.AnswerFriendship: social.answer_friendship,
    asked.EndFriendship: social.end_friendship,
    asked.GiveItem: inventory.give_item,
    asked.AnswerInventoryOffer: inventory.answer_inventory_offer,
    asked.CreateNotecard: inventory.create_notecard,
    asked.CreateLandmark: inventory.create_landmark,
    asked.PayAvatar: money.pay_avatar,
    asked.PayObject: money.pay_object,
    asked.UploadAsset: inventory.upload_asset,
    asked.RezObject: building.rez_object,
    asked.EditObject: building.edit_object,
    asked.DeleteObject: building.delete_object,
    asked.ReturnObject: building.return_object,
    asked.EjectAvatar: land.eject_avatar,
}
"""Which verb does which action; each takes state, avatar, body, action and reference."""

_NEEDS: Final[dict[Capability, tuple[Callable[[GridProfile], bool], Refusal]]] = {
    Capability.MONEY: (lambda profile: profile.has_money, Refusal.NO_MONEY),
    Capability.INVENTORY: (lambda profile: profile.has_inventory, Refusal.NO_INVENTORY),
    Capability.BUILD: (lambda profile: profile.has_build, Refusal.NO_BUILD),
    Capability.UPLOAD: (lambda profile: profile.has_upload, Refusal.NO_UPLOAD),
}
"""What the grid's profile must have for a capability, and the code when it hasn't."""

assert set(HANDLERS) == set(ACTIONS)  # noqa: S101 - the module's own promise


class World:
    """One simulated world.

    Args:
        rng: the only source of chance.
        ids: returns a new canonical UUID a call.
        settings: how the grid behaves; the defaults are a grid with everything.
    """

    __slots__ = ("_advancing", "_begun", "_hosting", "_state")

    def __init__(self, rng: random.Random, ids: Callable[[], str], *, settings: WorldSettings | None = None) -> None:
        self._state = State(rng, ids, settings or WorldSettings())
        self._hosting = Hosting(self._state, self._do_for)
        self._advancing = False
        self._begun = False

    # --- building the world: before it begins, or while it runs ----------------------------------

    def add_region(
        self,
        name: str,
        *,
        x_m: int,
        y_m: int,
        size_m: int = 256,
        owner_id: AvatarId | None = None,
        land: Land | None = None,
        capacity: int = 100,
        prim_limit: int = 15_000,
    ) -> Region:
        """Add a region; its first parcel covers all of it.

        Args:
            name: what the map calls it; compared without regard to case.
            x_m: global metres of its west border.
            y_m: global metres of its south border.
            size_m: side in metres, 1 to 8,192.
            owner_id: who owns the land.
            land: rights on the first parcel.
            capacity: most avatars in it.
            prim_limit: most prims in it.

        Raises:
            OperatorError: the name or the ground is taken.
            LimitExceeded: the map is full, or the region too large.
        """
        if not 1 <= size_m <= Region.SIZE_MAX:
            raise LimitExceeded(f"side of region {name} in metres", allowed=Region.SIZE_MAX, seen=size_m)
        region = Region(
            name=name,
            x_m=x_m,
            y_m=y_m,
            size_m=size_m,
            owner_id=owner_id or AvatarId(NIL_UUID),
            capacity=capacity,
            prim_limit=prim_limit,
        )
        self._state.atlas.add(region)
        self.add_parcel(name, owner_id=region.owner_id, land=land or Land(name=name))
        return region

    def add_parcel(self, region: str, *, owner_id: AvatarId, land: Land) -> Parcel:
        """Lay a parcel over a part of a region."""
        parcel = Parcel(parcel_id=ParcelId(self._state.ids()), owner_id=owner_id, land=land)
        self._state.region(region).add_parcel(parcel)
        return parcel

    def add_avatar(self, account: Account) -> AvatarId:
        """Open an account.

        Raises:
            OperatorError: the id is taken, there is no region to live in, or the home's region is unknown.
            LimitExceeded: the world has as many accounts as it can.
        """
        state = self._state
        if len(state.avatars) >= AVATARS_MAX:
            raise LimitExceeded("avatars of the simulated world", allowed=AVATARS_MAX)
        avatar_id = account.avatar_id or AvatarId(state.ids())
        if avatar_id in state.avatars:
            raise OperatorError(f"avatar {avatar_id} is there already; give {account.name!r} another id")
        home = account.home
        if home is None:
            first = state.atlas.first_open()
            if first is None:
                raise OperatorError(f"{account.name!r} has nowhere to live; add a region with World.add_region first")
            home = Place(region=first.name, position=first.centre())
        else:
            state.region(home.region)
        state.avatars[avatar_id] = Avatar(
            avatar_id=avatar_id,
            name=account.name,
            scripted_agent=account.scripted_agent,
            home=home,
            last=home,
            balance=account.balance,
        )
        return avatar_id

    def add_object(
        self,
        region: str,
        *,
        owner_id: AvatarId,
        position: Position,
        thing: Thing,
        object_id: ObjectId | None = None,
    ) -> ObjectId:
        """Stand an object in a region, without asking the parcel for leave; nobody is told.

        Raises:
            OperatorError: region or owner is unknown, the point is outside, or the id is taken.
            LimitExceeded: region or parcel has no room.
        """
        state = self._state
        where = state.region(region)
        state.avatar(owner_id)
        if not where.contains(position):
            raise OperatorError(f"object {thing.name!r} would stand outside region {region!r}; move it")
        if object_id is not None and object_id in state.objects:
            raise OperatorError(f"object {object_id} is there already; give {thing.name!r} another id")
        if not where.has_prims(thing.prims) or not where.parcel_at(position).has_room(thing.prims):
            raise LimitExceeded(f"prims of region {region}", allowed=where.prim_limit)
        return building.place(state, where, owner_id, position, thing, object_id).object_id

    def give(
        self,
        avatar_id: AvatarId,
        *,
        name: str,
        kind: str,
        text: str = "",
        may_copy: bool = True,
        may_transfer: bool = True,
        item_id: ItemId | None = None,
    ) -> ItemId:
        """Put an item into an inventory.

        Raises:
            LimitExceeded: the inventory is full.
        """
        avatar = self._state.avatar(avatar_id)
        if not has_room(avatar):
            raise LimitExceeded(f"inventory of {avatar.name}", allowed=len(avatar.inventory))
        return put_item(
            self._state,
            avatar,
            name=name,
            kind=kind,
            text=text,
            may_copy=may_copy,
            may_transfer=may_transfer,
            item_id=item_id,
        ).item_id

    def befriend(self, one: AvatarId, other: AvatarId) -> None:
        """Make two avatars friends."""
        social.befriend(self._state, self._state.avatar(one), self._state.avatar(other))

    def inhabit(self, avatar_id: AvatarId, character: Character, *, after_s: float = 0.0) -> None:
        """Let a character live as this avatar, from ``after_s`` seconds on."""
        self._hosting.inhabit(self._state.avatar(avatar_id), character, after_s)

    def script(self, object_id: ObjectId, character: Character, *, after_s: float = 0.0) -> None:
        """Let a character live in this object, from ``after_s`` seconds on."""
        thing = self._state.objects.get(object_id)
        if thing is None:
            raise OperatorError(f"the simulated grid has no object {object_id}; add it with World.add_object")
        self._hosting.script(thing, character, after_s)

    # --- coming, acting, going -------------------------------------------------------------------

    def login(self, avatar_id: AvatarId, now: float) -> Session:
        """Put an avatar into the world; `attach` gives it senses.

        Raises:
            BackendError: ``already_logged_in`` (the stale session has ended with this refusal), or
                ``maintenance`` when no region takes it.
        """
        self._at(now)
        return presence.log_in(self._state, self._state.avatar(avatar_id))

    def attach(self, avatar_id: AvatarId, on_event: OnEvent, on_end: OnEnd | None = None, *, now: float) -> None:
        """Perceive what the avatar perceives, beginning with where it is.

        Args:
            avatar_id: somebody who is logged in and not attached yet.
            on_event: takes each event, synchronously; must not call the world.
            on_end: told once when the grid ends the session.
            now: seconds.
        """
        self._at(now)
        presence.attach(self._state, self._state.avatar(avatar_id), on_event, on_end)

    def logout(self, avatar_id: AvatarId, now: float, session: Session | None = None) -> None:
        """Take the avatar out of the world.

        Args:
            avatar_id: whose.
            now: seconds.
            session: the login this logout belongs to; the live one by default. A session that is over
                has its logout counted and nothing else.
        """
        self._at(now)
        avatar = self._state.avatar(avatar_id)
        closing = session or avatar.session
        if closing is not None:
            presence.log_out(self._state, avatar, closing)

    def drop(self, session: Session, now: float) -> None:
        """Give up a session whose client has fallen silent, if it is live still."""
        self._at(now)
        if session.live:
            presence.end_session(self._state, self._state.avatar(session.avatar_id), DisconnectCause.CIRCUIT_LOST)

    def perform(self, avatar_id: AvatarId, action: Action, now: float, reference: Label = "") -> None:
        """Do one action for somebody who is logged in; what comes of it is told as events.

        Raises:
            OperatorError: the avatar is away.
        """
        self._at(now)
        avatar = self._state.avatar(avatar_id)
        self._state.body(avatar)
        self._do(avatar, action, reference)

    def halt(self, avatar_id: AvatarId, now: float) -> None:
        """End walking and following, if the avatar is in the world and does either."""
        self._at(now)
        avatar = self._state.avatar(avatar_id)
        body = avatar.body
        if body is not None and (body.walk is not None or body.follow is not None):
            self._do(avatar, asked.StopMoving(), "")

    def _do_for(self, avatar: Avatar, action: Action) -> None:
        if avatar.body is not None:
            self._do(avatar, action, "")

    def _do(self, avatar: Avatar, action: Action, reference: Label) -> None:
        state = self._state
        need = _NEEDS.get(action.spec.capability)
        if need is not None and not need[0](state.settings.profile):
            state.refuse(avatar, reference, need[1])
            return
        HANDLERS[type(action)](state, avatar, avatar.body, action, reference)

    # --- incidents -------------------------------------------------------------------------------

    def restart_region(self, name: str, now: float, *, notice_s: float = 60.0, down_s: float = 120.0) -> bool:
        """Announce and carry out a restart; tell whether none was under way already."""
        self._at(now)
        return incidents.restart_region(self._state, self._state.region(name), notice_s, down_s)

    def kick(self, avatar_id: AvatarId, now: float, *, reason: str = "") -> bool:
        """End somebody's session with a reason; tell whether there was one."""
        self._at(now)
        return incidents.kick(self._state, self._state.avatar(avatar_id), reason)

    def alert(self, avatar_id: AvatarId, text: str, now: float, *, modal: bool = False) -> None:
        """Show somebody a text of the grid's."""
        self._at(now)
        incidents.alert(self._state, self._state.avatar(avatar_id), text, modal=modal)

    def group_im(self, avatar_id: AvatarId, group: str, now: float) -> None:
        """Let somebody see that a group talks."""
        self._at(now)
        incidents.group_im(self._state, self._state.avatar(avatar_id), group)

    # --- time ------------------------------------------------------------------------------------

    def next_timer(self) -> float | None:
        """Return when `advance` is wanted next, or None."""
        return self._state.timers.next_due()

    def advance(self, now: float) -> None:
        """Let everything happen that is due by ``now``, in order."""
        self._at(now)

    def call_at(self, due: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Call back at a moment, in order with everything else; return what cancels it."""
        return self._state.timers.at(due, callback).cancel

    def on_sooner(self, callback: Callable[[], object] | None) -> None:
        """Be told when something is set that is due before everything else."""
        self._state.timers.on_sooner = callback

    def _at(self, now: float) -> None:
        state = self._state
        if not self._begun:
            self._begun = True
            state.now = now
            self._hosting.begin()
        if self._advancing:
            return
        self._advancing = True
        try:
            while (due := state.timers.pop_due(now)) is not None:
                state.now = max(state.now, due[0])
                due[1]()
        finally:
            self._advancing = False
        state.now = max(state.now, now)

    # --- reads -----------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The last moment the world was told of, in seconds."""
        return self._state.now

    @property
    def settings(self) -> WorldSettings:
        """How the grid behaves."""
        return self._state.settings

    @property
    def sessions(self) -> SessionLog:
        """Every login and how it ended."""
        return self._state.sessions

    @property
    def treasury(self) -> int:
        """L$ that were paid to the grid itself."""
        return self._state.treasury

    @property
    def dropped_requests(self) -> int:
        """Requests of characters that had too many waiting."""
        return self._hosting.dropped

    @property
    def misfit_requests(self) -> int:
        """Requests of characters that could not be carried out at all."""
        return self._hosting.misfits

    def stream(self, name: str) -> random.Random:
        """Return a new random stream of this world's seed."""
        return self._state.stream(name)

    def new_id(self) -> str:
        """Return a new UUID of this world."""
        return self._state.ids()

    def regions(self) -> tuple[Region, ...]:
        """Return the map, in the order in which regions were added."""
        return tuple(self._state.atlas)

    def neighbours(self, name: str) -> tuple[Region, ...]:
        """Return the regions that share a border or a corner with one."""
        return self._state.atlas.neighbours(self._state.region(name))

    def avatar(self, avatar_id: AvatarId) -> Avatar:
        """Return an account's record, to look at."""
        return self._state.avatar(avatar_id)

    def avatars(self) -> tuple[AvatarId, ...]:
        """Return every account, in the order in which they were opened."""
        return tuple(self._state.avatars)

    def position(self, avatar_id: AvatarId) -> Position | None:
        """Return where somebody is in their region, or None while they are away."""
        body = self._state.avatar(avatar_id).body
        return None if body is None else body.position_at(self._state.now)

    def avatars_near(self, avatar_id: AvatarId) -> Sequence[AvatarView]:
        """Return who else is in somebody's region, nearest first; nobody while they are away."""
        body = self._state.avatar(avatar_id).body
        if body is None:
            return ()
        return avatars_near(self._state, body.region, body.position_at(self._state.now), avatar_id)

    def objects_near(self, avatar_id: AvatarId) -> Sequence[ObjectView]:
        """Return what is in somebody's region, nearest first; nothing while they are away."""
        body = self._state.avatar(avatar_id).body
        if body is None:
            return ()
        return objects_near(body.region, body.position_at(self._state.now), avatar_id)

    def balance(self, avatar_id: AvatarId) -> int:
        """Return somebody's L$."""
        return self._state.avatar(avatar_id).balance

    def inventory(self, avatar_id: AvatarId) -> tuple[ItemView, ...]:
        """Return what somebody carries, oldest first."""
        return tuple(item.view() for item in self._state.avatar(avatar_id).inventory.values())
