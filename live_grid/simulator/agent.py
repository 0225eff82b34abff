"""One avatar that is logged in over the wire: who it is to its client, where it is, and what waits for its answer.

Owns the ids of the login, the visits of regions with the one that is the root, and the short memories that join what a
client says to what the world knows (offers, seats, own actions). Decides nothing: what the world tells is said by
`live_grid.simulator.hearing`, what the client says is done by the modules named ``heeding_…``, and the way between
regions is `live_grid.simulator.travel` (Spec: LIV-14, LIV-15).

Invariant: at most one visit is the root, and every memory here has a ceiling.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from enum import Enum
from typing import Final, Generic, TypeAlias, TypeVar

import attrs

from gridagent.actions import Action, Position
from gridagent.errors import LimitExceeded, OperatorError
from gridagent.events import DisconnectCause
from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.sessions import Session
from gridagent.ids import AvatarId, ObjectId, OfferId
from live_grid.messages import Message
from live_grid.messages.notation import AgentSession
from live_grid.messages.speech import ImprovedInstantMessage
from live_grid.simulator.ids import wire_id
from live_grid.simulator.movement import Steering
from live_grid.simulator.places import Place
from live_grid.simulator.stage import Stage
from live_grid.simulator.visit import Visit, VisitState

__all__ = ("Agent", "Journey", "JourneyKind", "Memory", "OpenVisit")

_REMEMBERED_MAX: Final = 128

OpenVisit: TypeAlias = Callable[[Place, float], Visit | None]

K = TypeVar("K")
V = TypeVar("V")


class Memory(Generic[K, V]):
    """A map of the newest entries."""

    __slots__ = ("_entries", "_limit")

    def __init__(self, limit: int = _REMEMBERED_MAX) -> None:
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._limit = limit

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, key: K, value: V) -> None:
        """Remember, in place of what was remembered under the key; the oldest makes room."""
        self._entries.pop(key, None)
        if len(self._entries) >= self._limit:
            self._entries.popitem(last=False)
        self._entries[key] = value

    def take(self, key: K) -> V | None:
        """Recall and forget."""
        return self._entries.pop(key, None)

    def get(self, key: K) -> V | None:
        """Recall."""
        return self._entries.get(key)


class JourneyKind(Enum):
    """How an avatar goes from region to region."""

    TELEPORT = "teleport"
    CROSSING = "crossing"


@attrs.frozen(eq=False, kw_only=True)
class Journey:
    """The world has put the body into another region; the client has not followed yet."""

    kind: JourneyKind
    start: Visit
    came_from: Position
    goal: Visit
    deadline: float


class Agent:
    """One login.

    Args:
        stage: what is shared.
        avatar: whose.
        session: the world's side of the login.
        session_id: sixteen bytes that every message carries.
        circuit_code: what opens a circuit.
        open_visit: makes a visit of a region with its seed, or returns None when there is no room for one.
        now: seconds.
    """

    __slots__ = (
        "_acted",
        "agent_id",
        "answers_friendship",
        "attached",
        "avatar",
        "circuit_code",
        "coarse_at",
        "dialogs",
        "dressed",
        "ended",
        "friends",
        "gifts",
        "journey",
        "logged_in_at",
        "makings",
        "open_visit",
        "permissions",
        "root",
        "seat_offered",
        "sees_far",
        "session",
        "session_id",
        "stage",
        "steering",
        "stored_ims",
        "teleport_flags",
        "visits",
    )

    def __init__(
        self,
        stage: Stage,
        avatar: Avatar,
        session: Session,
        *,
        session_id: bytes,
        circuit_code: int,
        open_visit: OpenVisit,
        now: float,
    ) -> None:
        self.stage = stage
        self.avatar = avatar
        self.session = session
        self.agent_id = wire_id(avatar.avatar_id)
        self.session_id = session_id
        self.circuit_code = circuit_code
        self.open_visit = open_visit
        self.logged_in_at = now
        self.attached = False
        self.ended: DisconnectCause | None = None
        """Why the grid ended the login; None while it is live or when the client ended it."""
        self.visits: dict[int, Visit] = {}  # one a region, at most `VISITS_MAX`
        self.root: Visit | None = None
        self.journey: Journey | None = None
        self.teleport_flags = 0
        self.sees_far = False
        """The client has said how far it looks, so neighbours are announced to it."""
        self.steering = Steering()
        self.seat_offered: ObjectId | None = None
        self.dialogs: Memory[tuple[bytes, int], OfferId] = Memory()
        """Open script dialogs by object and channel."""
        self.permissions: Memory[bytes, tuple[OfferId, tuple[str, ...]]] = Memory()
        """Open permission requests, with what was asked for, by the id that travels as the script's."""
        self.gifts: Memory[tuple[str, str], bytes] = Memory()
        """Transactions of gifts by item and receiver."""
        self.makings: Memory[tuple[str, str], int] = Memory()
        """Numbers under which the client makes items, by kind and name."""
        self.friends: dict[AvatarId, None] = dict(avatar.friends)
        """Friends that the client knows of."""
        self.answers_friendship = False
        """The client is answering an offer of friendship at this moment."""
        self.dressed = False
        """Asked to be seen in what it wears."""
        self.stored_ims: list[ImprovedInstantMessage] = []  # as many as the world keeps for somebody who is away
        self.coarse_at = now
        self._acted = 0

    @property
    def avatar_id(self) -> AvatarId:
        """The world's id."""
        return self.avatar.avatar_id

    @property
    def identity(self) -> AgentSession:
        """The block that says who and in which session."""
        return AgentSession(self.agent_id, self.session_id)

    @property
    def live(self) -> bool:
        """Whether the login still is one."""
        return self.session.live and self.ended is None

    # --- where -----------------------------------------------------------------------------------

    @property
    def here(self) -> Place | None:
        """Where the body is, as far as this map knows; None once it is out of the world."""
        body = self.avatar.body
        return None if body is None or not self.live else self.stage.places.named(body.region.name)

    @property
    def eyes(self) -> Visit | None:
        """The visit on which the region of the body is shown: none while the client is on its way there."""
        root, here = self.root, self.here
        if root is None or here is None or root.place is not here or not root.scene_shown:
            return None
        return root

    def visit(self, place: Place) -> Visit | None:
        """Return the visit of a region, if there is one that is not closed."""
        found = self.visits.get(place.number)
        return None if found is None or found.state is VisitState.CLOSED else found

    def open_visits(self) -> tuple[Visit, ...]:
        """Return the visits that are not closed."""
        return tuple(visit for visit in self.visits.values() if visit.state is not VisitState.CLOSED)

    # --- saying and doing ------------------------------------------------------------------------

    def say(self, message: Message, *, reliable: bool = True) -> bool:
        """Send a message on the root circuit; tell whether there was one that took it."""
        return self.root is not None and self.root.say(message, reliable=reliable)

    def do(self, verb: str, action: Action, now: float) -> None:
        """Let the avatar act in the world; the verb comes back with a refusal.

        Args:
            verb: a short word without a hyphen.
            action: what to do.
            now: seconds.
        """
        if not self.live or not self.attached:
            return
        self._acted += 1
        try:
            self.stage.world.perform(self.avatar_id, action, now, f"{verb}-{self._acted}")
        except (LimitExceeded, OperatorError):
            # The world is full, or what was due at this very moment has ended the login; a grid drops the request too.
            self.stage.overlooked += 1
