"""The live grid's side of the grid port: one connection, one generation.

Owns the way of events from a session (which calls and does not wait) to the session's sink (which makes wait), and of
actions with their evidence; every error becomes a `BackendError` with a typed cause. Redeeming and sending happen
without a wait in between (Spec: POL-1); text of the grid goes to the log only (Spec: SUP-10). Made by
`live_grid.backend.factory`. Invariant: every handle that was redeemed gets exactly one outcome, and at most
`GRID_EVENT_QUEUE_MAX` events wait for the sink (Spec: EFX-1, BND-1).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, final

import trio

from gridagent.actions import InDoubt, Outcome, Position, Refused
from gridagent.errors import BackendError, LocalProtocolError, ResourceClosed
from gridagent.events import (
    AvatarView,
    BackendReady,
    DisconnectCause,
    EventsShed,
    GridEvent,
    ObjectView,
    PartDegraded,
    PartHealth,
    PartRecovered,
    TransportUp,
)
from gridagent.grid.base import EventSink, Redeem, Traces
from gridagent.grid.buffer import EventBuffer
from gridagent.grid.evidence import EvidenceContext
from gridagent.grid.homing import sent_home
from gridagent.ids import AvatarId
from gridagent.limits import Label
from gridagent.policy.authorized import AuthorizedAction
from gridagent.tools.ports import InventoryFound, RegionFound
from live_grid.backend.account import LiveAccount, LiveSettings
from live_grid.backend.acting import Actor
from live_grid.backend.appearance import show_outfit
from live_grid.backend.belongings import learn_inventory, write_notecard
from live_grid.backend.causes import END_CAUSES
from live_grid.backend.joining import Connection, join
from live_grid.backend.look_ups import LookUps
from live_grid.backend.pending import Making, Pending
from live_grid.backend.profile import profile_of
from live_grid.backend.refuge import Refuge
from live_grid.backend.stage import Stage
from live_grid.backend.telling import Teller
from live_grid.backend.views import avatar_view, name_of, object_view, position_of, raw, text_id
from live_grid.backend.vitals import vitals_of
from live_grid.backend.waiting import Wait, Waits
from live_grid.handover import SessionEnded, SessionEvent
from live_grid.handover.events import RegionEntered
from live_grid.io import GridClient, Health
from live_grid.world import World
from live_grid.world.events import ItemMade, ItemsMade, ObjectChanged, RegionsFound, RestartAnnounced

__all__ = ("LiveBackend",)

REFERENCE_CHARS: Final = 16
"""Characters of the effect key that go to the grid as the action's nonce: 64 bits of it."""
VIEWS_MAX: Final = 256
READY_WAIT_S: Final = 3.0
"""For capabilities and balance, from which the profile is made, once we are in a region."""
WATCH_EVERY_S: Final = 5.0
RECENT_LOOKS: Final = 13
"""Of the watch: what was sent again within the last minute is what makes the wire sick."""
RESTART_GRACE_S: Final = 300.0
"""An end within this time of an announced restart is that restart."""
_BY_RESTART: Final = frozenset({DisconnectCause.KICKED, DisconnectCause.CIRCUIT_LOST})


@final
class LiveBackend:
    """One connection to a real grid; see `gridagent.grid.base.GridBackend`.

    Args:
        account: who logs in.
        settings: how to reach the grid.
        redeem: the ledger's.
        new_id: makes ids nobody else has.
        refuge: the avatar's memory of a region that went down.
    """

    __slots__ = (
        "_account",
        "_actor",
        "_buffer",
        "_cause",
        "_connection",
        "_detail",
        "_entered",
        "_fault",
        "_look_ups",
        "_new_id",
        "_nursery",
        "_over",
        "_pending",
        "_ran",
        "_recent",
        "_redeem",
        "_refuge",
        "_restart_until",
        "_settings",
        "_shed",
        "_sick",
        "_teller",
        "_waits",
        "_wake",
    )

    def __init__(
        self,
        account: LiveAccount,
        settings: LiveSettings,
        *,
        redeem: Redeem,
        new_id: Callable[[], str],
        refuge: Refuge | None = None,
    ) -> None:
        self._account = account
        self._settings = settings
        self._redeem = redeem
        self._new_id = new_id
        self._refuge = Refuge(account.start) if refuge is None else refuge
        self._ran = False
        self._over = False
        self._connection: Connection | None = None
        self._actor: Actor | None = None
        self._look_ups: LookUps | None = None
        self._teller: Teller | None = None
        self._nursery: trio.Nursery | None = None
        self._pending = Pending()
        self._buffer = EventBuffer(heeded=account.heeded)
        self._wake = trio.Event()
        self._waits = Waits(EvidenceContext(me=AvatarId(""), where=self._where))
        self._cause: DisconnectCause | None = None
        self._detail = ""
        self._entered: RegionEntered | None = None
        self._restart_until = 0.0
        self._shed = 0
        self._sick: tuple[str, ...] = ()
        self._recent: deque[Health] = deque(maxlen=RECENT_LOOKS)
        self._fault: BaseException | None = None

    # --- the port --------------------------------------------------------------------------------
    async def run(self, sink: EventSink) -> None:
        """Log in, then put events until the connection ends; returns when the grid closed it in order.

        Raises:
            BackendError: the login was refused, or the connection ended otherwise.
            LocalProtocolError: called a second time.

        Cancellation: safe; the avatar stays in the world until `logout`.
        """
        if self._ran:
            raise LocalProtocolError("a backend runs once; make a new one for a new generation")
        self._ran = True
        try:
            client = await self._join()
            await self._live(client, sink)
        except BackendError as error:
            self._cause = DisconnectCause(error.cause)
            raise
        finally:
            self._over = True
            self._nursery = None
            self._waits.settle_all()
            if self._cause is not None:
                self._refuge.ended(self._cause, *self._whereabouts())
        if self._fault is not None:
            raise BackendError(DisconnectCause.BACKEND_FAULT, detail=type(self._fault).__name__) from self._fault
        if self._cause is not None and self._cause is not DisconnectCause.GRID_CLOSED:
            raise BackendError(self._cause, detail=self._detail)

    async def apply(self, authorized: AuthorizedAction) -> Outcome:
        """Redeem the handle, perform the action, and wait for its evidence until its deadline.

        Raises:
            AuthorityRefused: the handle is not honoured; nothing was sent.

        Bounds: at most `OPEN_EFFECTS_MAX` actions wait at once; one more is refused unsent.

        Cancellation: may have acted.
        """
        redeemed = self._redeem(authorized)
        action, reference = sent_home(redeemed.action, self._account.home), redeemed.effect[:REFERENCE_CHARS]
        unsent = self._why_not()
        wait = Wait(action, reference)
        if unsent is None:
            assert self._actor is not None  # noqa: S101 - `_why_not` has looked
            self._waits.add(wait)
            try:
                unsent, evident = self._actor.perform(action, reference)
                for event in evident:
                    self._put(event)
                if unsent is None:
                    with trio.move_on_after(action.spec.deadline_s):
                        await wait.settled.wait()
            finally:
                self._waits.remove(wait)
        if unsent is not None:
            await trio.lowlevel.checkpoint()
            return Refused(reason=unsent)
        return InDoubt(reason="no_evidence") if wait.outcome is None else wait.outcome

    async def logout(self) -> None:
        """Tell the grid that the avatar leaves, and let go of the network; what still waits is in doubt.

        Cancellation: the grid has been told.
        """
        self._waits.settle_all()
        if self._connection is None:
            await trio.lowlevel.checkpoint()
        else:
            await self._connection.leave()

    def halt(self) -> None:
        """Cease walking and following."""
        if self._connection is not None:
            client = self._connection.client
            self._pending.walk = None
            client.session.body.stop(trio.current_time())
            client.nudge()

    def avatars(self) -> Sequence[AvatarView]:
        """Return who is near now, nearest first; nobody before the arrival and after the end."""
        world = self._world()
        if world is None:
            return ()
        others = (avatar for avatar in world.here.avatars.values() if avatar.avatar_id != world.agent_id)
        views = (avatar_view(world, avatar) for avatar in others)
        return heapq.nsmallest(VIEWS_MAX, views, key=lambda view: view.distance_m)

    def objects(self) -> Sequence[ObjectView]:
        """Return what is near now, nearest first; nothing before the arrival and after the end."""
        world = self._world()
        if world is None:
            return ()
        views = (view for thing in world.here.objects.values() if (view := object_view(world, thing)) is not None)
        here = position_of(world.position)
        return heapq.nsmallest(VIEWS_MAX, views, key=lambda view: view.position.distance_to(here))

    def vitals(self) -> Sequence[PartHealth]:
        """Return the connection's figures, once there is one (Spec: LIV-12)."""
        health = self.health()
        if health is None:
            return ()
        return vitals_of(health.since(self._recent[0]) if self._recent else health)

    def traces(self, reference: Label) -> Traces:  # noqa: ARG002 - a protocol's shape
        """Return nothing: grids show what an account did on a web page, if at all."""
        return Traces()

    async def find_region(self, region: str) -> RegionFound | None:
        """Return a region by its name; None where the map has none, or the avatar is not in the world.

        Raises:
            ResourceBusy: too much is asked already.

        Cancellation: safe; a grid that never answers is waited for until then.
        """
        if self._look_ups is None or self._world() is None:
            await trio.lowlevel.checkpoint()
            return None
        return await self._look_ups.find_region(region)

    async def search(self, *, words: str, kind: str, limit: int) -> InventoryFound | None:
        """Return items whose name holds the words, of a kind or of any; None while they are not known.

        Cancellation: safe.
        """
        if self._look_ups is None or self._world() is None:
            await trio.lowlevel.checkpoint()
            return None
        return await self._look_ups.search(words=words, kind=kind, limit=limit)

    @property
    def connection(self) -> Connection | None:
        """What it stands on, once there is one: for whoever judges it from below the port."""
        return self._connection

    def health(self) -> Health | None:
        """Take the connection's figures, once there is one (Spec: LIV-12)."""
        return None if self._connection is None else self._connection.client.health()

    # --- living ----------------------------------------------------------------------------------
    async def _join(self) -> GridClient:
        """Log in and set the stage.

        Raises:
            BackendError: there is no session.
        """
        self._connection = connection = await join(self._account, self._settings, self._on_event)
        client = connection.client
        session = client.session
        self._waits = Waits(EvidenceContext(me=AvatarId(text_id(session.me.agent_id)), where=self._where))
        self._teller = Teller(session.world, self._pending, lambda: session.body.busy)
        stage = Stage(
            session,
            self._pending,
            self._teller,
            send=client.send,
            nudge=client.nudge,
            now=trio.current_time,
            new_id=self._new_id,
        )
        self._actor = Actor(stage, self._pending, is_waiting=self._waits.has)
        self._look_ups = LookUps(stage)
        return client

    async def _live(self, client: GridClient, sink: EventSink) -> None:
        """Perform the session and forward what it tells, until either ends."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                nursery.start_soon(client.run)
                await self._forward(client, sink)
                nursery.cancel_scope.cancel()
        except* Exception as group:  # noqa: BLE001 - a supervisor of its own children
            # A bug of ours, or of a library; the session may only learn that there was one (Spec: SUP-10).
            self._fault = group

    async def _forward(self, client: GridClient, sink: EventSink) -> None:
        me = client.session.me
        try:
            avatar_id, name = AvatarId(text_id(me.agent_id)), name_of(me.name)
            await sink.send(TransportUp(avatar_id=avatar_id, name=name))
            if await self._get_ready(client):
                await sink.send(self._ready(client, avatar_id, name))
                self._refuge.arrived(self._whereabouts()[0], trio.current_time())
                assert self._nursery is not None  # noqa: S101 - it is open around this call
                self._nursery.start_soon(self._watch, client)
                self._nursery.start_soon(show_outfit, client)
                if self._settings.fetch_inventory:
                    self._nursery.start_soon(learn_inventory, client)
            while True:
                batch = self._buffer.drain()
                if batch:
                    await sink.send_many(batch)
                elif self._cause is not None:
                    return
                else:
                    await self._woken()
        except ResourceClosed:
            # The session fenced this generation; ending quietly is what it wants.
            self._cause = DisconnectCause.GRID_CLOSED

    async def _woken(self) -> None:
        self._wake = trio.Event()
        await self._wake.wait()

    async def _get_ready(self, client: GridClient) -> bool:
        """Wait until we are in a region and, for a while, until we know what the grid can do."""
        session = client.session
        while self._entered is None and self._cause is None:
            await self._woken()
        with trio.move_on_after(READY_WAIT_S):
            while self._cause is None and (
                session.capability("EventQueueGet") is None or session.world.balance is None
            ):
                await self._woken()
        return self._cause is None

    def _ready(self, client: GridClient, avatar_id: AvatarId, name: str) -> BackendReady:
        """Say that we are in the world, and what can be done there (Spec: LIV-11)."""
        assert self._entered is not None  # noqa: S101 - waited for
        return BackendReady(
            avatar_id=avatar_id,
            name=name,
            region=name_of(self._entered.name),
            position=position_of(self._entered.position),
            profile=profile_of(client.session.world, self._settings.login_url),
        )

    async def _watch(self, client: GridClient) -> None:
        """Tell what was shed, and which parts fall sick or get well (Spec: LIV-9, LIV-12)."""
        while True:
            await trio.sleep(WATCH_EVERY_S)
            health = client.health()
            if health.shed > self._shed:
                self._put(EventsShed(kind="datagrams", count=health.shed - self._shed))
            self._shed = health.shed
            self._recent.append(health)
            sick = health.since(self._recent[0]).sick
            for part in sick:
                if part not in self._sick:
                    self._put(PartDegraded(part=part))
            for part in self._sick:
                if part not in sick:
                    self._put(PartRecovered(part=part))
            self._sick = sick
            if self._refuge.due(self._whereabouts()[0], trio.current_time()) and self._waits.idle:
                # The next login goes there; the session takes this end like any other (Spec: SUP-6).
                self._refuge.go_back()
                self._cause, self._detail = DisconnectCause.REQUESTED, "going back to where the region went down"
                self._wake.set()
                return

    # --- called by the session, synchronously ----------------------------------------------------
    def _on_event(self, event: SessionEvent) -> None:
        assert self._teller is not None  # noqa: S101 - made before the session runs
        assert self._actor is not None  # noqa: S101 - same
        if isinstance(event, SessionEnded):
            self._end(event)
            return
        if self._over:
            return  # what comes during the logout is for nobody
        if isinstance(event, RegionEntered):
            self._entered = event
        elif isinstance(event, RestartAnnounced):
            self._restart_until = trio.current_time() + event.seconds + RESTART_GRACE_S
        elif isinstance(event, ObjectChanged):
            self._actor.on_object(event)
        elif isinstance(event, RegionsFound):
            assert self._look_ups is not None  # noqa: S101 - same
            self._look_ups.on_regions_found(event)
            for evident in self._actor.on_regions_found(event):
                self._put(evident)
        for told in self._teller.tell(event):
            self._put(told)
        if isinstance(event, ItemsMade):
            self._write(event)
        self._wake.set()

    def _write(self, made: ItemsMade) -> None:
        """Begin to write the notecards among new items that were made to be written."""
        for item in made.items:
            making = self._pending.making.get(item.callback)
            if making is not None and making.text is not None and self._nursery is not None:
                del self._pending.making[item.callback]
                self._nursery.start_soon(self._write_one, item, making)

    async def _write_one(self, item: ItemMade, making: Making) -> None:
        assert self._connection is not None  # noqa: S101 - it told of the item
        self._put(await write_notecard(self._connection.client, item, making))

    def _end(self, ended: SessionEnded) -> None:
        cause = END_CAUSES[ended.cause]
        if cause in _BY_RESTART and trio.current_time() < self._restart_until:
            cause = DisconnectCause.REGION_RESTART
        if self._cause is None:
            self._cause = cause
            self._detail = ended.reason
        self._waits.settle_all()
        self._wake.set()

    def _put(self, event: GridEvent) -> None:
        self._waits.judge(event)
        if not self._buffer.put(event) and self._cause is None:
            # Going on would mean to lose what may not be lost.
            self._cause = DisconnectCause.CIRCUIT_LOST
        self._wake.set()

    def _whereabouts(self) -> tuple[str, Position | None]:
        """Tell the region and the place in it, also after the end; nothing before the first arrival."""
        if self._connection is None or self._entered is None:
            return "", None
        return name_of(self._entered.name), position_of(self._connection.client.session.world.position)

    def _world(self) -> World | None:
        connection = self._connection
        if connection is None or self._entered is None or self._cause is not None or self._over:
            return None
        return connection.client.session.world

    def _why_not(self) -> Label | None:
        """Say why nothing can be sent now, if so."""
        if self._connection is None or self._entered is None or self._cause is not None or self._over:
            return "not_connected"
        if self._waits.full:
            return "too_many_actions"
        return None if self._connection.client.session.present else "in_transit"

    def _where(self, avatar_id: AvatarId) -> Position | None:
        world = self._world()
        avatar = world.here.avatars.get(raw(avatar_id)) if world is not None else None
        if world is None or avatar is None:
            return None
        return position_of(world.here.position_of(avatar))
