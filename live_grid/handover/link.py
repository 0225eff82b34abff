"""The link to one region: its circuit, its seed, its event queue, and where all that stands.

Owns what belongs to one simulator and lives as long as its circuit; knows nothing of journeys. A circuit goes on
counting its packets however often it is root and child again, because the simulator does as well. Used by
`live_grid.handover.session` only, which decides what a link is for (Spec: LIV-4, LIV-7).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

from live_grid.addresses import HostPolicy
from live_grid.caps import Capabilities, read_seed_reply_untrusted, seed_request
from live_grid.circuit import Address, Circuit
from live_grid.errors import LimitReached, LocalProtocolError, RemoteProtocolError
from live_grid.event_queue import EventQueue, QueueState
from live_grid.handover.events import Part
from live_grid.handover.tables import LINK_TABLE, LinkInput, LinkState
from live_grid.handover.watchdog import Remedy, remedy_for
from live_grid.requests import Request
from live_grid.world import Region

__all__ = ("Link", "WebKind", "WebRequest")

SEED_TRIES_MAX: Final = 5
SEED_TIMEOUT_S: Final = 30.0
SEED_FIRST_PAUSE_S: Final = 1.0
SEED_LONGEST_PAUSE_S: Final = 30.0
_OK: Final = 200
_QUEUE: Final = "EventQueueGet"


class WebKind(Enum):
    """What an HTTP request is for."""

    SEED = "seed"
    POLL = "poll"


class WebRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An HTTP POST to make. The address is a secret."""

    address: Address
    """Of the link that it is for."""
    kind: WebKind
    url: str
    body: bytes
    content_type: str
    timeout_s: float

    def __repr__(self) -> str:
        return f"WebRequest(kind={self.kind.value!r}, timeout_s={self.timeout_s}, …)"


class Link:
    """What we have to one region.

    Args:
        address: of its simulator.
        circuit: to it; opened for this link.
        region: what the world knows of it.
        policy: whom its addresses may lead to.
    """

    __slots__ = (
        "_policy",
        "_proven",
        "_queue_url",
        "_queues_gone",
        "_seed",
        "_seed_asked",
        "_seed_tries",
        "_seed_waits_until",
        "address",
        "asked_objects",
        "capabilities",
        "circuit",
        "code_token",
        "dropped",
        "greeted",
        "movement_token",
        "queue",
        "queue_lost",
        "region",
        "seed_failed",
        "state",
        "tokens",
        "treated",
    )

    def __init__(self, address: Address, circuit: Circuit, region: Region, policy: HostPolicy) -> None:
        self.address = address
        self.circuit = circuit
        self.region = region
        self.state = LINK_TABLE.initial
        self.capabilities: Capabilities | None = None
        self.queue: EventQueue | None = None
        self.queue_lost = False
        """Its event queue is gone for good."""
        self.seed_failed = False
        """Its seed did not answer a few times; it is asked on, seldom."""
        self.code_token = -1
        """Which send of the circuit carries the code."""
        self.movement_token = -1
        self.greeted = False
        """It has had our throttle."""
        self.tokens: dict[int, int] = {}
        """Sends of the circuit that belong to a request of our owner; bounded by the circuit."""
        self.asked_objects: dict[int, float] = {}
        """Local ids asked for in full, and when; bounded by who fills it."""
        self.dropped = 0
        """Messages of our own that the circuit had no room for."""
        self._policy = policy
        self._seed = ""
        self._seed_asked = False
        self._seed_tries = 0
        self._seed_waits_until: float | None = None
        self._queue_url = ""
        self._queues_gone = 0
        self._proven = True  # a queue that took the place of another has answered
        self.treated: Remedy | None = None
        """What was done for its event queue and not told yet."""

    def __repr__(self) -> str:
        return f"Link({self.address!r}, {self.state.value})"

    def step(self, given: LinkInput) -> None:
        """Take a step of the table."""
        self.state = LINK_TABLE.step(self.state, given)

    def send(self, request: Request) -> list[int]:
        """Send our own messages; those the circuit has no room for are counted and dropped.

        Returns:
            The circuit's tokens of the reliable ones.
        """
        tokens = []
        for message in request.messages:
            try:
                token = self.circuit.send(message, reliable=request.reliable)
            except (LimitReached, LocalProtocolError):
                self.dropped += 1
                continue
            if request.reliable:
                tokens.append(token)
        return tokens

    # --- seed and event queue ------------------------------------------------------------------
    def set_seed(self, seed: str) -> None:
        """Take the seed that a login or a handover named, and ask it next; the same again changes nothing if it works.

        Raises:
            RemoteProtocolError: it may not be asked (Fault: 10).
        """
        seed_request(seed, self._policy)
        if seed == self._seed and not self.queue_lost and not self.seed_failed:
            return
        self._seed = seed
        self._ask_seed_again()

    def _ask_seed_again(self) -> None:
        self._seed_tries = 0
        self._seed_waits_until = None
        self.seed_failed = False
        self.queue_lost = False
        self.capabilities = None

    def next_request(self, now: float) -> WebRequest | None:
        """Take the HTTP request to make now, if any: the seed first; and one poll at a time, also beside it."""
        return self._next_seed(now) or self._next_poll(now)

    def _next_poll(self, now: float) -> WebRequest | None:
        poll = self.queue.next_poll(now) if self.queue is not None else None
        if poll is None:
            return None
        return WebRequest(
            address=self.address,
            kind=WebKind.POLL,
            url=poll.url,
            body=poll.body,
            content_type=poll.content_type,
            timeout_s=poll.timeout_s,
        )

    def _next_seed(self, now: float) -> WebRequest | None:
        waits = self._seed_waits_until
        if self.capabilities is not None or self._seed_asked or (waits is not None and now < waits):
            return None
        post = seed_request(self._seed, self._policy)
        self._seed_asked = True
        self._seed_waits_until = None
        return WebRequest(
            address=self.address,
            kind=WebKind.SEED,
            url=post.url,
            body=post.body,
            content_type=post.content_type,
            timeout_s=SEED_TIMEOUT_S,
        )

    def receive_seed(self, url: str, status: int, body: bytes, now: float) -> None:
        """Take the answer of a seed; an old one's is thrown away."""
        self._seed_asked = False
        if url != self._seed or self.capabilities is not None:
            return
        try:
            found = read_seed_reply_untrusted(body, seed=self._seed, policy=self._policy) if status == _OK else None
        except RemoteProtocolError:
            found = None
        if found is None:
            self._seed_missed(now)
            return
        self.capabilities = found
        self.seed_failed = False
        queue_url = found.get(_QUEUE)
        if queue_url is None:
            self.queue, self.queue_lost = None, True
        elif self.queue is None or queue_url != self._queue_url:
            self._queue_url = queue_url
            self.queue = EventQueue(queue_url, now=now)

    def _seed_missed(self, now: float) -> None:
        self._seed_tries += 1
        self.seed_failed = self._seed_tries >= SEED_TRIES_MAX
        # Never for good: a region whose web server was down for a minute would leave us without it for months.
        pause_s = SEED_LONGEST_PAUSE_S if self.seed_failed else SEED_FIRST_PAUSE_S * 2.0 ** (self._seed_tries - 1)
        self._seed_waits_until = now + pause_s

    def receive_poll(self, url: str, status: int, body: bytes, now: float) -> bool:
        """Take the answer of a poll; one of an earlier queue is thrown away.

        Returns:
            Whether something in it could not be read.
        """
        queue = self.queue
        if queue is None or url != self._queue_url:
            return False
        malformed = queue.malformed
        queue.receive_response(status, body, now)
        self._proven = self._proven or queue.state is QueueState.READY
        self._watch_queue(queue, now)
        return queue.malformed > malformed

    def receive_failure(self, request: WebRequest, now: float) -> None:
        """Take notice that nothing came back."""
        if request.kind is WebKind.SEED:
            self._seed_asked = False
            if request.url == self._seed and self.capabilities is None:
                self._seed_missed(now)
        elif self.queue is not None and request.url == self._queue_url:
            self.queue.receive_failure(now)
            self._watch_queue(self.queue, now)

    def _watch_queue(self, queue: EventQueue, now: float) -> None:
        """Ask the seed for another queue when this one is gone or broken, after a pause, a few times."""
        if queue.state not in {QueueState.GONE, QueueState.BROKEN}:
            return
        self.queue = None
        self._proven = queue.state is not QueueState.BROKEN
        self._queues_gone += 1
        self.treated = remedy_for(Part.EVENT_QUEUE, self._queues_gone)
        if self.treated is Remedy.RECONNECT:
            self.queue_lost = True
        else:
            self._ask_seed_again()
            self._seed_waits_until = now + SEED_FIRST_PAUSE_S * 2.0 ** (self._queues_gone - 1)

    @property
    def queue_sick(self) -> bool:
        """Whether its event queue is silent, fails, is waited for, or took the place of such a one and said nothing."""
        if self.queue is None:
            return self.queue_lost or self.capabilities is None
        return not (self._proven and self.queue.well)

    def queue_is_well(self) -> None:
        """Take notice that the event queue brings events."""
        self._queues_gone = 0

    # --- time and end --------------------------------------------------------------------------
    def get_timer(self) -> float | None:
        """Tell when to look at this link again, if ever."""
        moments = [self.circuit.get_timer(), self._seed_waits_until if not self._seed_asked else None]
        if self.queue is not None:
            moments.append(self.queue.get_timer())
        return min((moment for moment in moments if moment is not None), default=None)

    def handle_timer(self, now: float) -> None:
        """Take notice of the time."""
        self.circuit.handle_timer(now)
        if self.queue is not None:
            self.queue.handle_timer(now)

    def heard_within(self, seconds: float, now: float) -> bool:
        """Tell whether its simulator was heard lately."""
        return now - self.circuit.statistics().heard_at <= seconds

    def close(self) -> None:
        """End it, with all that belongs to it."""
        if self.state is not LinkState.CLOSED:
            self.step(LinkInput.CLOSE)
        self.queue = None
