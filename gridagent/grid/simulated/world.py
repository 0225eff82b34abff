"""The simulated world: what can be built, done and read in it.

Owns the surface of the sans-IO core: everybody outside this folder talks to `World` and to the records it
returns. It waits for nothing and reads no clock: every verb takes ``now``, and `next_timer` says when
`advance` is wanted next (Spec: SIM-1, SIM-2). Called by the trio shell in `gridagent.grid.simulated.grid`,
by scenarios, and by tests. Invariant: whatever is due before a verb's ``now`` has happened before it.

The first call that names a ``now`` sets the world's beginning; characters announced before come then.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from gridagent.actions import Action, Position, StopMoving
from gridagent.errors import LimitExceeded, OperatorError
from gridagent.events import AvatarView, DisconnectCause, ItemView, ObjectView
from gridagent.grid.base import Traces
from gridagent.grid.simulated import founding, incidents, presence, social
from gridagent.grid.simulated.avatars import Account, Avatar
from gridagent.grid.simulated.belongings import has_room, put_item
from gridagent.grid.simulated.book import Book, Movement
from gridagent.grid.simulated.characters import Character
from gridagent.grid.simulated.crossing import cross
from gridagent.grid.simulated.hosting import Hosting
from gridagent.grid.simulated.objects import Thing
from gridagent.grid.simulated.parcels import Land, Parcel
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.sessions import OnEnd, OnEvent, Session, SessionLog
from gridagent.grid.simulated.state import State, WorldSettings
from gridagent.grid.simulated.surroundings import avatars_near, objects_near
from gridagent.grid.simulated.traces import recall_movements, traces_of
from gridagent.grid.simulated.verbs import do
from gridagent.ids import NIL_UUID, AvatarId, ItemId, ObjectId
from gridagent.limits import Label

__all__ = ("World",)


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
        region = Region(
            name=name,
            x_m=x_m,
            y_m=y_m,
            size_m=size_m,
            owner_id=owner_id or AvatarId(NIL_UUID),
            capacity=capacity,
            prim_limit=prim_limit,
        )
        founding.found_region(self._state, region, land or Land(name=name))
        return region

    def add_parcel(self, region: str, *, owner_id: AvatarId, land: Land) -> Parcel:
        """Lay a parcel over a part of a region."""
        return founding.lay_parcel(self._state, self._state.region(region), owner_id, land)

    def add_avatar(self, account: Account) -> AvatarId:
        """Open an account.

        Raises:
            OperatorError: the id is taken, there is no region to live in, or the home's region is unknown.
            LimitExceeded: the world has as many accounts as it can.
        """
        return founding.open_account(self._state, account)

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
        return founding.stand_object(self._state, region, owner_id, position, thing, object_id)

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
        do(self._state, self._state.avatar(avatar_id), action, reference)

    def halt(self, avatar_id: AvatarId, now: float) -> None:
        """End walking and following, if the avatar is in the world and does either."""
        self._at(now)
        avatar = self._state.avatar(avatar_id)
        body = avatar.body
        if body is not None and (body.walk is not None or body.follow is not None):
            do(self._state, avatar, StopMoving(), "")

    def cross(self, avatar_id: AvatarId, region: str, position: Position, now: float) -> bool:
        """Let somebody who walks go on in another region, without a teleport; tell whether they may."""
        self._at(now)
        avatar = self._state.avatar(avatar_id)
        return cross(self._state, avatar, self._state.body(avatar), self._state.region(region), position)

    def _do_for(self, avatar: Avatar, action: Action) -> None:
        if avatar.body is not None:
            do(self._state, avatar, action, "")

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
    def book(self) -> Book:
        """Who paid whom."""
        return self._state.book

    def recall_book(self, movements: Iterable[Movement], *, since: float | None) -> None:
        """Take over who paid whom in an earlier world; see `gridagent.grid.simulated.traces.recall_movements`."""
        recall_movements(self._state, movements, since=since)

    def traces(self, avatar_id: AvatarId, reference: Label) -> Traces:
        """Return what somebody can still look up of one of their deeds."""
        return traces_of(self._state, self._state.avatar(avatar_id), reference)

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
        """Return where somebody is in their region; None while they are away, and of somebody nobody knows."""
        known = self._state.avatars.get(avatar_id)
        return None if known is None or known.body is None else known.body.position_at(self._state.now)

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
