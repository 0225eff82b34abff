"""The course of a session: what follows from each thing that regions say.

Owns the reactions: which message or event is a step of which table, and what ends the session; the way into a region is
`live_grid.handover.arrival`. Each kind of happening has one method and one row in a table. Buffers and time belong to
`live_grid.handover.session`, which calls it.

Invariant: at most one region has authority over us; a region that has none cannot move, kick or end us
(Spec: LIV-7; Fault: 8, 9, 10).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from live_grid.circuit import CircuitEnded, CircuitEvent, MessageDelivered, MessageLost, MessageReceived
from live_grid.circuit.events import CircuitEnd
from live_grid.errors import LimitReached, RemoteProtocolError
from live_grid.event_queue import (
    NeighbourFound,
    NeighbourReady,
    QueueEvent,
    RegionCrossed,
    TeleportFinished,
    read_region_event_untrusted,
)
from live_grid.handover.arrival import Arrival
from live_grid.handover.body import Body
from live_grid.handover.curiosity import Curiosity
from live_grid.handover.events import (
    EndCause,
    How,
    Journey,
    JourneyEnded,
    Part,
    PartDegraded,
    PartRecovered,
    RequestDelivered,
    RequestLost,
    SessionEnded,
    SessionEvent,
)
from live_grid.handover.link import Link
from live_grid.handover.links import Links
from live_grid.handover.tables import LinkInput, LinkState, TravelInput, TravelState
from live_grid.handover.travel import Travel
from live_grid.handover.watchdog import SIGHTS, Picture, Remedy, WorldWatch
from live_grid.messages.circuits import DisableSimulator
from live_grid.requests import Identity, arriving, moving
from live_grid.world import World, reduce_message, reduce_queue_event
from live_grid.world.events import (
    Describe,
    Kicked,
    LogoutConfirmed,
    MovementCompleted,
    RegionDescribed,
    SeatGiven,
    TeleportEndedHere,
    TeleportRefused,
    WorldEvent,
)

__all__ = ("Course",)

_GOING_DOWN: Final = "the simulator is going down"
"""What OpenSimulator kicks everybody with when a region restarts or a server is stopped."""
_ENDS: Final = MappingProxyType({CircuitEnd.SILENCE: EndCause.SILENCE, CircuitEnd.CLOSED_BY_PEER: EndCause.REGION_DOWN})


class Course:
    """What goes on in one session.

    Args:
        me: who we are.
        world: what we know.
        links: to regions.
        travel: where we are.
        body: ours.
        curiosity: ours.
        events: where to tell what happened; the caller sees to it that there is room.
        neighbours: whether to keep links to neighbouring regions.
        now: seconds.
    """

    __slots__ = (
        "_body",
        "_curiosity",
        "_degraded",
        "_events",
        "_links",
        "_me",
        "_neighbours",
        "_on_region",
        "_on_world",
        "_world",
        "arrival",
        "malformed",
        "pending",
        "refused",
        "travel",
        "world_watch",
    )

    def __init__(
        self,
        me: Identity,
        world: World,
        links: Links,
        travel: Travel,
        *,
        body: Body,
        curiosity: Curiosity,
        events: deque[SessionEvent],
        neighbours: bool,
        now: float,
    ) -> None:
        self._me = me
        self._world = world
        self._links = links
        self._body = body
        self._curiosity = curiosity
        self._events = events
        self._neighbours = neighbours
        self._degraded: set[Part] = set()
        self.travel = travel
        self.arrival = Arrival(me, world, travel, body=body, events=events)
        self.world_watch = WorldWatch(now=now)
        """Of the region we are in."""
        self.pending: dict[int, int] = {}
        """Tokens of our owner's requests, and how many messages of each are unacknowledged; bounded by the circuits."""
        self.refused = 0
        """News of regions that may not be asked, are not for us, or are too many."""
        self.malformed = 0
        """Events of the queue that could not be read."""
        self._on_world: Mapping[type[WorldEvent], Callable[..., None]] = MappingProxyType(
            {
                MovementCompleted: self._on_present,
                RegionDescribed: self._on_described,
                TeleportEndedHere: self._on_local,
                TeleportRefused: self._on_refused,
                SeatGiven: self._on_seat,
                Describe: self._on_unknown,
                Kicked: self._on_kicked,
                LogoutConfirmed: self._on_logout,
            }
        )
        self._on_region: Mapping[type[object], Callable[..., None]] = MappingProxyType(
            {
                NeighbourFound: self._on_neighbour_found,
                NeighbourReady: self._on_neighbour_ready,
                TeleportFinished: self._on_teleport_finished,
                RegionCrossed: self._on_crossed,
            }
        )

    # --- circuits ------------------------------------------------------------------------------
    def take(self, link: Link, event: CircuitEvent, now: float) -> None:
        """React to an event of a circuit."""
        if isinstance(event, MessageReceived):
            if isinstance(event.message, DisableSimulator):
                self._link_ends(link, EndCause.REGION_DOWN, now)
                return
            if link is self.travel.root and isinstance(event.message, SIGHTS):
                self.world_watch.heard(now)
            for change in reduce_message(self._world, link.region, event.message):
                self._tell(link, change, now)
        elif isinstance(event, MessageDelivered):
            if event.token == link.code_token and link.state is LinkState.OPENING:
                self.arrival.code_delivered(link, now)
            self._settle(link, event.token, delivered=True)
        elif isinstance(event, MessageLost):
            if event.token == link.movement_token and link.state is LinkState.ENTERING:
                self.arrival.ask_presence(link)
            self._settle(link, event.token, delivered=False)
        else:
            self._link_ends(link, _end_cause(event), now)

    def _tell(self, link: Link, change: WorldEvent, now: float) -> None:
        self._events.append(change)
        act = self._on_world.get(type(change))
        if act is not None:
            act(link, change, now)

    def _settle(self, link: Link, sent: int, *, delivered: bool) -> None:
        """Count an acknowledgement, or its absence, for the request it belongs to."""
        token = link.tokens.pop(sent, None)
        if token is None or token not in self.pending:
            return
        self.pending[token] -= 1
        if delivered and self.pending[token]:
            return
        del self.pending[token]
        self._events.append(RequestDelivered(token) if delivered else RequestLost(token))

    # --- journeys ------------------------------------------------------------------------------
    def _elsewhere(
        self, address: tuple[str, int], seed: str, how: How, now: float, *, handle: int, size: tuple[int, int]
    ) -> None:
        """Be sent to another region."""
        if not self.travel.allows(TravelInput.ELSEWHERE):
            return
        try:
            link = self._links.open(address, seed, now, handle=handle, size=size, instead_of_a_neighbour=True)
        except (RemoteProtocolError, LimitReached):
            self.refused += 1
            return
        if link is self.travel.root or link is self.travel.target:
            return  # said twice; or the grid contradicts itself, and the deadline decides
        self._give_up(self.travel.target)
        link.region.handle = handle
        link.region.size_x, link.region.size_y = size
        self.travel.go(link, how, now)
        if link.state is LinkState.CHILD:
            # It knows us already: the code once more, so that it need not look us up, and on its heels the movement.
            link.send(arriving.open_circuit(self._me))
            self.arrival.complete()

    def _give_up(self, link: Link | None) -> None:
        """Step back from a region that we were on the way to; one that is still opening becomes a neighbour's."""
        if link is not None and link.state is LinkState.ENTERING:
            link.step(LinkInput.STEP_BACK)

    def _on_local(self, link: Link, ended: TeleportEndedHere, now: float) -> None:
        if link is not self.travel.root or self.travel.state is TravelState.MOVING:
            return
        self._body.arrive(ended.look_at, now)
        if self.travel.allows(TravelInput.LOCAL):
            self._give_up(self.travel.turn_back(TravelInput.LOCAL, now))
        link.send(arriving.ask_parcel(self._me, ended.position[0], ended.position[1]))
        self._events.append(JourneyEnded(Journey.ARRIVED, ended.position))

    def _on_refused(self, link: Link, refused: TeleportRefused, now: float) -> None:
        """Stay, or be back; a refusal that comes after arrival is noise."""
        if link is not self.travel.root or not self.travel.allows(TravelInput.REFUSED):
            return
        self._give_up(self.travel.turn_back(TravelInput.REFUSED, now))
        self._events.append(JourneyEnded(Journey.REFUSED, self._world.position, refused.reason, refused.key))

    def late(self, now: float) -> None:
        """Draw the conclusion from a deadline of the journey that has passed."""
        state = self.travel.state
        if state is TravelState.ENTERING:
            self.end(EndCause.NO_ENTRY, now)
        elif state is TravelState.LEAVING:
            self.end(EndCause.LOGGED_OUT, now, given=TravelInput.FINISHED)
        elif state is not TravelState.DOUBTFUL:
            self.travel.step(TravelInput.LATE, now)
        elif self.travel.still_here(now):
            self.travel.turn_back(TravelInput.STILL_HERE, now)
            self._events.append(JourneyEnded(Journey.UNKNOWN, self._world.position))
        else:
            self.end(EndCause.STRANDED, now)

    # --- event queues --------------------------------------------------------------------------
    def take_queued(self, link: Link, event: QueueEvent, now: float) -> None:
        """React to an event of a region's queue."""
        link.queue_is_well()
        try:
            news = read_region_event_untrusted(event)
            changes = reduce_queue_event(self._world, link.region, event)
        except RemoteProtocolError:
            self.malformed += 1
            self.queue_broke(link, now)
            return
        if news is not None:
            # Only the region we are in may say where we go, and who its neighbours are.
            if link is self.travel.root or (link is self.travel.target and isinstance(news, NeighbourFound)):
                self._on_region[type(news)](link, news, now)
            else:
                self.refused += 1
        for change in changes:
            self._tell(link, change, now)

    def queue_broke(self, link: Link, now: float) -> None:
        """Take notice that an answer of a queue was lost; in the middle of a teleport that is doubt."""
        if link is self.travel.root and self.travel.allows(TravelInput.BROKEN):
            self.travel.step(TravelInput.BROKEN, now)

    def _on_neighbour_found(self, _: Link, found: NeighbourFound, __: float) -> None:
        self._links.announce(found)

    def _on_neighbour_ready(self, _: Link, ready: NeighbourReady, now: float) -> None:
        if not self._neighbours:
            return
        if ready.agent_id != self._me.agent_id:
            self.refused += 1
            return
        try:
            self._links.open(ready.address, ready.seed, now)
        except (RemoteProtocolError, LimitReached):
            self.refused += 1

    def _on_teleport_finished(self, _: Link, done: TeleportFinished, now: float) -> None:
        if done.agent_id != self._me.agent_id:
            self.refused += 1
            return
        size = (done.size_x, done.size_y)
        self._elsewhere(done.address, done.seed, How.TELEPORT, now, handle=done.region_handle, size=size)

    def _on_crossed(self, _: Link, crossed: RegionCrossed, now: float) -> None:
        if (crossed.agent_id, crossed.session_id) != (self._me.agent_id, self._me.session_id):
            self.refused += 1
            return
        size = (crossed.size_x, crossed.size_y)
        self._elsewhere(crossed.address, crossed.seed, How.CROSSING, now, handle=crossed.region_handle, size=size)

    def watch(self, link: Link, now: float) -> None:
        """Tell when a part of the region we are in falls sick or gets well; without a queue we are not there."""
        if link is not self.travel.root:
            return
        self._mark(Part.CAPABILITIES, sick=link.seed_failed)
        treated, link.treated = link.treated, None
        self._mark(Part.EVENT_QUEUE, sick=link.queue_sick and not link.seed_failed, remedy=treated)
        if link.queue_lost and self.travel.state is TravelState.PRESENT:
            self.end(EndCause.QUEUE_GONE, now)

    def look_around(self, root: Link, now: float) -> None:
        """Judge what we see of the region we are in, and do something about it (Spec: LIV-12)."""
        watch = self.world_watch
        me = self._world.me
        picture = Picture(
            described=root.region.described,
            shows_us=me is not None and not me.coarse,
            has_things=bool(root.region.objects),
        )
        remedy = watch.look(picture, now)
        self._mark(Part.WORLD, sick=watch.sick, remedy=remedy if watch.sick else None)
        if remedy is Remedy.RECONNECT:
            self.end(EndCause.BLIND, now)
        elif remedy is not None:
            if watch.sick:
                self.arrival.greet_again(root)
            self._curiosity.ask_again(self._me, root)

    def _mark(self, part: Part, *, sick: bool, remedy: Remedy | None = None) -> None:
        if sick and (remedy is not None or part not in self._degraded):
            self._degraded.add(part)
            self._events.append(PartDegraded(part, "" if remedy is None else remedy.value))
            return
        if sick or part not in self._degraded:
            return
        self._degraded.discard(part)
        self._events.append(PartRecovered(part))

    # --- smaller reactions ---------------------------------------------------------------------
    def _on_present(self, link: Link, done: MovementCompleted, now: float) -> None:
        self.arrival.present(link, done, now)
        if link is self.travel.root:
            self.world_watch.arrived(now)

    def _on_described(self, link: Link, _: RegionDescribed, __: float) -> None:
        self.arrival.described(link)

    def _on_seat(self, link: Link, given: SeatGiven, _: float) -> None:
        if given.object_id == self._body.seat_wanted:
            self._body.seat_wanted = None
            link.send(moving.take_seat(self._me))

    def _on_unknown(self, link: Link, unknown: Describe, now: float) -> None:
        self._curiosity.wonder(link, unknown.local_ids, now)

    def _on_kicked(self, _: Link, kicked: Kicked, now: float) -> None:
        """End the session; a grid that throws out everybody because it stops has nothing against us (Fault: 8)."""
        down = kicked.reason.casefold().startswith(_GOING_DOWN)
        self.end(EndCause.REGION_DOWN if down else EndCause.KICKED, now, reason=kicked.reason)

    def _on_logout(self, _: Link, __: LogoutConfirmed, now: float) -> None:
        if self.travel.state is TravelState.LEAVING:
            self.end(EndCause.LOGGED_OUT, now, given=TravelInput.FINISHED)

    # --- ends ----------------------------------------------------------------------------------
    def _link_ends(self, link: Link, cause: EndCause, now: float) -> None:
        """Lose a link: a neighbour's is no matter, that of the region we are in is all."""
        travel = self.travel
        self._links.close(link)
        if link is travel.target:
            if travel.state is TravelState.ENTERING:
                self.end(cause, now)
                return
            travel.lose_target()
            if travel.state is TravelState.MOVING:
                # The new region is gone before we were in it; the old one may say that it has us back.
                travel.step(TravelInput.LATE, now)
        elif link is travel.root and travel.state is TravelState.LEAVING:
            self.end(EndCause.LOGGED_OUT, now, given=TravelInput.FINISHED)
        elif link is travel.root and not travel.sent_away:
            self.end(cause, now)

    def end(self, cause: EndCause, now: float, *, reason: str = "", given: TravelInput = TravelInput.LOST) -> None:
        """End the session; nothing follows its last event."""
        self.travel.step(given, now)
        self._events.append(SessionEnded(cause, reason))


def _end_cause(event: CircuitEnded) -> EndCause:
    return _ENDS.get(event.end, EndCause.REGION_DOWN)
