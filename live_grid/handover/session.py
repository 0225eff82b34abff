"""One session in a grid, from the login's answer to the last goodbye, without a socket.

Owns the buffers and the clockwork: what comes in is handed to the link it belongs to, what follows from it is decided
in `live_grid.handover.course`. Verbs as in the circuit: datagrams and HTTP answers go in with the time; datagrams, HTTP
requests and events come out; `send` passes a request to where we are. The shell (`live_grid.io`) takes no decision.

Invariant: nothing that comes in raises, and every buffer keeps its ceiling; when nobody takes the events, the circuits
shed by class and go on acknowledging (Spec: LIV-7, LIV-9, LIV-14; Fault: 1, 6).
"""

from __future__ import annotations

from collections import deque
from typing import Final

import msgspec

from live_grid.addresses import HostPolicy
from live_grid.circuit import Address, CircuitConfig, CircuitStatistics
from live_grid.circuit.sequence import SEQUENCE_MASK
from live_grid.errors import LocalProtocolError
from live_grid.event_queue import QueueStatistics
from live_grid.handover.body import Body
from live_grid.handover.course import Course
from live_grid.handover.curiosity import Curiosity
from live_grid.handover.events import SessionEvent
from live_grid.handover.link import Link, WebKind, WebRequest
from live_grid.handover.links import Links
from live_grid.handover.tables import TravelInput
from live_grid.handover.travel import Travel, TravelTimes
from live_grid.login import LoginReply
from live_grid.messages.avatars import AgentRequestSit
from live_grid.packet import encode_packet
from live_grid.requests import Confirmation, Identity, Request
from live_grid.requests.arriving import log_out
from live_grid.world import World
from live_grid.world.bounds import FRIENDS_MAX
from live_grid.world.inventory import Inventory

__all__ = ("GridSession", "SessionSettings", "SessionStatistics")

EVENTS_WAITING_MAX: Final = 1_024
"""Untaken events at which nothing more is taken from the circuits, which shed by class then."""
EVENTS_MAX: Final = 16_384
"""Room for those, and for all that one message can bring on top: objects with all their parts going at once."""


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a session behaves; the defaults suit a bot on any grid."""

    neighbours: bool = True
    """Keep circuits to neighbouring regions, without which nobody walks over a border."""
    far_m: float = 64.0
    """How far we see."""
    circuit: CircuitConfig = CircuitConfig()
    times: TravelTimes = TravelTimes()


class SessionStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """A session's figures at one moment (Spec: LIV-12)."""

    links: int
    events_waiting: int
    foreign: int
    """Datagrams from addresses without a link (Fault: 1)."""
    refused_regions: int
    """News of regions that may not be asked, are not for us, or are too many (Fault: 10)."""
    malformed_events: int
    """Events of the queue that could not be read."""
    dropped: int
    """Messages of our own that no circuit had room for."""
    circuit: CircuitStatistics | None
    """Of the region we are in."""
    queue: QueueStatistics | None
    """Of the region we are in."""


class GridSession:
    """One session.

    Args:
        reply: the login's answer.
        policy: whom addresses may lead to.
        now: seconds.
        settings: how to behave.

    Raises:
        RemoteProtocolError: the region of the login may not be asked (Fault: 10).
    """

    __slots__ = ("_course", "_curiosity", "_events", "_foreign", "_links", "_serial", "body", "me", "travel", "world")

    def __init__(
        self, reply: LoginReply, *, policy: HostPolicy, now: float, settings: SessionSettings | None = None
    ) -> None:
        settings = SessionSettings() if settings is None else settings
        name = f"{reply.first_name} {reply.last_name}".strip()
        self.me = Identity(
            agent_id=reply.agent_id, session_id=reply.session_id, circuit_code=reply.circuit_code, name=name
        )
        self.world = World(reply.agent_id, name)
        self.world.friends = {buddy.avatar_id: False for buddy in reply.buddies[:FRIENDS_MAX]}
        self.world.inventory = Inventory(root=reply.inventory_root, folders=reply.inventory_skeleton)
        self._links = Links(self.me, self.world, policy=policy, config=settings.circuit)
        first = self._links.open(
            (reply.sim_ip, reply.sim_port),
            reply.seed_capability,
            now,
            handle=reply.region_handle,
            size=(reply.region_size_x, reply.region_size_y),
        )
        self.world.enter(first.region)
        self.travel = Travel(first, now=now, times=settings.times)
        self.body = Body(now=now, far=settings.far_m)
        self._curiosity = Curiosity(now=now)
        self._events: deque[SessionEvent] = deque(maxlen=EVENTS_MAX)
        self._course = Course(
            self.me,
            self.world,
            self._links,
            self.travel,
            body=self.body,
            curiosity=self._curiosity,
            events=self._events,
            neighbours=settings.neighbours,
            now=now,
        )
        self._serial = 0
        self._foreign = 0

    @property
    def present(self) -> bool:
        """Whether a region has authority over us, so that requests can be sent."""
        return self.travel.authority is not None

    def capability(self, name: str) -> str | None:
        """Find the vetted address of a capability of the region we are in; a secret."""
        link = self.travel.authority
        return None if link is None or link.capabilities is None else link.capabilities.get(name)

    # --- in ------------------------------------------------------------------------------------
    def receive_datagram_untrusted(self, data: bytes, address: Address, now: float) -> None:
        """Take a datagram from outside; it never raises (Fault: 1)."""
        link = self._links.get(address)
        if link is None:
            self._foreign += 1
            return
        link.circuit.receive_datagram_untrusted(data, address, now)

    def receive_response(self, request: WebRequest, status: int, body: bytes, now: float) -> None:
        """Take the answer to an HTTP request.

        Args:
            request: what `next_request` gave.
            status: of the response.
            body: of the response, whole.
            now: seconds.
        """
        link = self._links.get(request.address)
        if link is None or self.travel.ended:
            return
        if request.kind is WebKind.SEED:
            link.receive_seed(request.url, status, body, now)
        elif link.receive_poll(request.url, status, body, now):
            self._course.queue_broke(link, now)
        self._drain_queue(link, now)
        self._course.watch(link, now)

    def receive_failure(self, request: WebRequest, now: float) -> None:
        """Take notice that no answer came: a time-out or a broken connection."""
        link = self._links.get(request.address)
        if link is None or self.travel.ended:
            return
        link.receive_failure(request, now)
        if request.kind is WebKind.POLL:
            self._course.queue_broke(link, now)
        self._course.watch(link, now)

    # --- out -----------------------------------------------------------------------------------
    def datagrams_to_send(self, now: float) -> list[tuple[bytes, Address]]:
        """Take what is to leave now, each with its address."""
        return [datagram for link in self._links for datagram in link.circuit.datagrams_to_send(now)]

    def next_request(self, now: float) -> WebRequest | None:
        """Take an HTTP request to make now, if any; those of different links may be under way at once."""
        for link in self._links:
            request = link.next_request(now)
            if request is not None:
                return request
        return None

    def send(self, request: Request, now: float) -> int:
        """Send a request to the region that has authority; its outcome comes as an event.

        Returns:
            The token that names it in `RequestDelivered` and `RequestLost`.

        Raises:
            LocalProtocolError: no region has authority now, a journey is under way already, or a message
                cannot be written.
            LimitReached: too much is on its way; what was accepted of it is sent all the same.
        """
        link = self.travel.authority
        if link is None:
            raise LocalProtocolError("we are in no region that could be asked")
        journey = request.confirmed_by is Confirmation.TELEPORT
        if journey and not self.travel.allows(TravelInput.ASK):
            raise LocalProtocolError("a journey is under way already")
        self._serial += 1
        token = self._serial
        for message in request.messages:
            sent = link.circuit.send(message, reliable=request.reliable)
            if request.reliable:
                link.tokens[sent] = token
                self._course.pending[token] = self._course.pending.get(token, 0) + 1
            if isinstance(message, AgentRequestSit):
                self.body.seat_wanted = message.target_object.target_id
        if journey:
            self.body.stop(now)
            self.travel.ask(now)
        return token

    def log_out(self, now: float) -> None:
        """Begin to leave the grid; doing so twice, or after the end, does nothing."""
        if not self.travel.allows(TravelInput.LOG_OUT):
            return
        self.travel.step(TravelInput.LOG_OUT, now)
        for each in self._links:
            if each.queue is not None:
                each.queue.stop()
        self.travel.latest.send(log_out(self.me))

    def last_words(self) -> list[tuple[bytes, Address]]:
        """Write a logout past all circuits, after any other end: the grid may think that we are still there."""
        link = self.travel.latest
        # A number that no packet of ours has had yet; nothing follows it.
        sequence = (link.circuit.statistics().packets_out + 1) & SEQUENCE_MASK
        (message,) = log_out(self.me).messages
        return [(encode_packet(message, sequence=sequence), link.address)]

    # --- time ----------------------------------------------------------------------------------
    def get_timer(self) -> float | None:
        """Tell when to call `handle_timer`, and after it `datagrams_to_send` and `next_request`."""
        if self.travel.ended:
            return None
        moments = [link.get_timer() for link in self._links]
        moments += [self.travel.deadline, self._course.arrival.complete_at]
        if self.present:
            moments += [self.body.due, self._curiosity.due, self._course.arrival.description_due()]
            moments.append(self._course.world_watch.due)
        return min((moment for moment in moments if moment is not None), default=None)

    def handle_timer(self, now: float) -> None:
        """Take notice of the time."""
        if self.travel.ended:
            return
        course = self._course
        for link in self._links:
            link.handle_timer(now)
        arrival = course.arrival
        if arrival.complete_at is not None and now >= arrival.complete_at:
            arrival.complete()
        if self.travel.deadline is not None and now >= self.travel.deadline:
            course.late(now)
        root = self.travel.authority
        if root is not None:
            self._handle_presence(root, now)

    def _handle_presence(self, root: Link, now: float) -> None:
        """Do what is due while a region has authority over us."""
        course, arrival = self._course, self._course.arrival
        due = arrival.description_due()
        if due is not None and now >= due:
            arrival.ask_description(root)
        if now >= self.body.due:
            update, ended = self.body.next_update(self.me, self.world, now)
            root.send(update)
            if ended is not None:
                self._events.append(ended)
        if now >= self._curiosity.due:
            self._curiosity.ask(self.me, self.world, root, list(self._links), now)
        if now >= course.world_watch.due:
            course.look_around(root, now)

    # --- events --------------------------------------------------------------------------------
    def next_event(self, now: float) -> SessionEvent | None:
        """Take the next event, if any; circuits are read as far as there is room for what they bring."""
        if not self._events:
            self._drain(now)
        return self._events.popleft() if self._events else None

    def _drain(self, now: float) -> None:
        for link in self._links:
            self._drain_queue(link, now)
            while len(self._events) < EVENTS_WAITING_MAX and not self.travel.ended:
                event = link.circuit.next_event()
                if event is None:
                    break
                self._course.take(link, event, now)

    def _drain_queue(self, link: Link, now: float) -> None:
        while len(self._events) < EVENTS_WAITING_MAX and link.queue is not None and not self.travel.ended:
            event = link.queue.next_event()
            if event is None:
                break
            self._course.take_queued(link, event, now)

    def statistics(self) -> SessionStatistics:
        """Take the figures of this moment."""
        root = self.travel.root
        return SessionStatistics(
            links=len(self._links),
            events_waiting=len(self._events),
            foreign=self._foreign,
            refused_regions=self._course.refused,
            malformed_events=self._course.malformed,
            dropped=sum(link.dropped for link in self._links),
            circuit=root.circuit.statistics() if root is not None else None,
            queue=root.queue.statistics() if root is not None and root.queue is not None else None,
        )
