"""One avatar's circuit with one region: from the seed that was given out to the end of the circuit.

Owns the state of a visit, what is to be shown on it and what was, and how much of it waits for an ack. A visit is a
child until its client asks for presence, the root while the avatar is there, and a child again when it has gone on.
What changed is kept as a set of ids and shown as it is at the moment of sending, so a flood of changes costs one
update (Spec: LIV-15).

Invariant: at most `OPEN_MAX` reliable messages of a visit wait for their ack before anything more is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final

from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.region import Region
from gridagent.ids import AvatarId, ObjectId
from live_grid.circuit import (
    Address,
    Circuit,
    CircuitConfig,
    CircuitEnded,
    MessageReceived,
    Role,
)
from live_grid.circuit.state import CircuitState
from live_grid.errors import LimitReached, LocalProtocolError
from live_grid.messages import Message
from live_grid.messages.objects import ObjectUpdate
from live_grid.simulator import scene
from live_grid.simulator.local_ids import LocalIds
from live_grid.simulator.mailbox import Mailbox
from live_grid.simulator.places import Place
from live_grid.state_table import StateTable

__all__ = ("VISIT_TABLE", "Visit", "VisitInput", "VisitState")

OPEN_MAX: Final = 192
"""Reliable messages without an ack; the circuit itself takes 512, the rest is for words."""
_PER_UPDATE: Final = 3
_PER_CACHED: Final = 40
_RATE_BYTES_S: Final = 640_000.0
_BURST_BYTES: Final = 128_000.0


class VisitState(Enum):
    """Where a visit stands."""

    AWAITED = "awaited"
    """A seed was given out; no circuit yet."""
    CHILD = "child"
    """A circuit stands; the avatar is elsewhere."""
    ROOT = "root"
    """The avatar is here."""
    CLOSED = "closed"


class VisitInput(Enum):
    """What can happen to it."""

    CIRCUIT = "circuit"
    PRESENCE = "presence"
    GONE_ON = "gone_on"
    CLOSE = "close"


_S, _I = VisitState, VisitInput
VISIT_TABLE: Final[StateTable[VisitState, VisitInput]] = StateTable(
    "visit of a region on the wire",
    initial=_S.AWAITED,
    transitions={
        (_S.AWAITED, _I.CIRCUIT): _S.CHILD,
        (_S.AWAITED, _I.CLOSE): _S.CLOSED,
        (_S.CHILD, _I.CIRCUIT): _S.CHILD,
        (_S.CHILD, _I.PRESENCE): _S.ROOT,
        (_S.CHILD, _I.CLOSE): _S.CLOSED,
        (_S.ROOT, _I.CIRCUIT): _S.ROOT,
        (_S.ROOT, _I.PRESENCE): _S.ROOT,
        (_S.ROOT, _I.GONE_ON): _S.CHILD,
        (_S.ROOT, _I.CLOSE): _S.CLOSED,
    },
    terminal=frozenset({_S.CLOSED}),
)


class Visit:
    """One visit.

    Args:
        place: of which region.
        local_ids: the region's numbers for what is in it.
        mailbox: its event queue.
        seed: the path of its seed.
        now: seconds.
    """

    __slots__ = (
        "_known",
        "_local_ids",
        "_open",
        "_pieces",
        "_stale",
        "address",
        "blind",
        "cache_is_empty",
        "circuit",
        "closed_at",
        "greet_at",
        "handshake_answered",
        "handshake_sent",
        "leave_at",
        "mailbox",
        "opened_at",
        "place",
        "scene_shown",
        "seed",
        "seed_asked",
        "selected",
        "state",
        "unsaid",
    )

    def __init__(self, place: Place, local_ids: LocalIds, mailbox: Mailbox, *, seed: str, now: float) -> None:
        self.place = place
        self.mailbox = mailbox
        self.seed = seed
        self.opened_at = now
        self.state = VISIT_TABLE.initial
        self.circuit: Circuit | None = None
        self.address: Address | None = None
        self.seed_asked = False
        self.greet_at: float | None = None
        """When the handshake is to be sent."""
        self.handshake_sent = False
        self.handshake_answered = False
        self.cache_is_empty = False
        self.blind = False
        """What is shown now gets lost."""
        self.scene_shown = False
        self.leave_at: float | None = None
        """When a child that is no neighbour any more is closed."""
        self.closed_at: float | None = None
        self.selected: dict[str, None] = {}
        """What its client has built and not been shown yet."""
        self.unsaid = 0
        """Messages that found no room on the circuit."""
        self._local_ids = local_ids
        self._known: dict[str, bool] = {}  # what was shown, and whether seated; as many as the region holds
        self._stale: dict[str, None] = {}  # as many as the region holds
        self._pieces: list[Message] = []  # one greeting's overlays and map pieces
        self._open = 0

    def step(self, given: VisitInput) -> None:
        """Take a step of the table."""
        self.state = VISIT_TABLE.step(self.state, given)

    # --- the circuit -----------------------------------------------------------------------------

    def open_circuit(
        self,
        address: Address,
        session: tuple[bytes, bytes],
        wanted: tuple[type[Message], ...],
        now: float,
        *,
        ack_delay_s: float,
    ) -> Circuit:
        """Begin a circuit with a client, in place of an earlier one."""
        config = CircuitConfig(send_rate_bytes_s=_RATE_BYTES_S, send_burst_bytes=_BURST_BYTES, ack_delay_s=ack_delay_s)
        self.circuit = Circuit(address, now=now, role=Role.SIMULATOR, session=session, wanted=wanted, config=config)
        self.address = address
        self.opened_at = now
        self._open = 0
        self.forget_scene()
        self.handshake_sent = self.handshake_answered = False
        return self.circuit

    def say(self, message: Message, *, reliable: bool = True) -> bool:
        """Send a message; tell whether the circuit took it. One without a circuit goes nowhere."""
        if self.circuit is None or self.circuit.state is not CircuitState.OPEN or self.blind:
            return False
        try:
            self.circuit.send(message, reliable=reliable)
        except (LimitReached, LocalProtocolError):
            # The client does not acknowledge what it gets, or is gone: what it misses is its loss, and counted.
            self.unsaid += 1
            return False
        if reliable:
            self._open += 1
        return True

    def heard(self) -> Iterator[MessageReceived | CircuitEnded]:
        """Yield what came on the circuit since the last time, and its end."""
        circuit = self.circuit
        while circuit is not None and (event := circuit.next_event()) is not None:
            if isinstance(event, MessageReceived | CircuitEnded):
                yield event
            else:
                self._open -= 1

    # --- showing ---------------------------------------------------------------------------------

    def greet(self, pieces: Iterable[Message]) -> None:
        """Send pieces of a greeting one after the other, as acks come in, in place of an earlier greeting's."""
        self._pieces = list(pieces)

    def forget_scene(self) -> None:
        """Show nothing more; everything is shown anew when the avatar comes back."""
        self.scene_shown = False
        self._known.clear()
        self._stale.clear()
        self._pieces.clear()

    def mark(self, thing_id: str) -> None:
        """Note that something is to be shown as it is now."""
        self._stale[thing_id] = None

    def mark_all(self, region: Region) -> None:
        """Note that everything in the region is to be shown."""
        self._stale.update(dict.fromkeys((*region.avatars, *region.objects)))

    def forget(self, thing_id: str) -> None:
        """Say that something is gone, if it was shown."""
        self._stale.pop(thing_id, None)
        if self._known.pop(thing_id, None) is not None:
            self.say(scene.kill([self._local_ids.of(thing_id)]))

    def show_again(self, thing_id: str) -> None:
        """Show in full what the client says it does not know."""
        self._known.pop(thing_id, None)
        self._stale[thing_id] = None

    def find(self, local_id: int) -> str | None:
        """Return what has a number in the region."""
        return self._local_ids.find(local_id)

    def show(self, viewer: AvatarId, now: float, *, cached_first: bool) -> None:
        """Send what is to be shown, as much as may wait for acks.

        Args:
            viewer: who looks.
            now: seconds.
            cached_first: name objects by checksum first, to a client whose cache is not empty.
        """
        self._send_pieces()
        things: list[ObjectId] = []
        while self._stale and self._open < OPEN_MAX:
            thing_id = next(iter(self._stale))
            del self._stale[thing_id]
            region = self.place.region
            avatar = region.avatars.get(AvatarId(thing_id))
            if avatar is not None:
                self._show_avatar(avatar, now)
            elif thing_id in region.objects:
                things.append(ObjectId(thing_id))
                if len(things) == _PER_CACHED:
                    break
        self._show_things(things, viewer, cached_first=cached_first)

    @property
    def waiting(self) -> bool:
        """Whether something is to be shown that may leave now."""
        return bool(self._stale or self._pieces) and self._open < OPEN_MAX and self.circuit is not None

    def _send_pieces(self) -> None:
        while self._pieces and self._open < OPEN_MAX:
            self.say(self._pieces.pop(0))

    def _show_avatar(self, avatar: Avatar, now: float) -> None:
        body = avatar.body
        assert body is not None  # noqa: S101 - who is in a region's list has a body
        handle, number = self.place.handle, self._local_ids.of(avatar.avatar_id)
        seated = body.seat is not None
        if self._known.get(avatar.avatar_id) is False and not seated:
            self.say(scene.terse(handle, [scene.terse_block(body, now, local_id=number)]))
            return
        seat = self._local_ids.of(body.seat) if body.seat is not None else 0
        self.say(scene.full(handle, [scene.avatar_block(avatar, body, now, local_id=number, seat=seat)]))
        self._known[avatar.avatar_id] = seated

    def _show_things(self, ids: list[ObjectId], viewer: AvatarId, *, cached_first: bool) -> None:
        objects = self.place.region.objects
        by_checksum = [
            thing_id
            for thing_id in ids
            if cached_first
            and not self.cache_is_empty
            and thing_id not in self._known
            and thing_id not in self.selected
        ]
        if by_checksum:
            blocks = [scene.cached_block(objects[one], viewer, local_id=self._local_ids.of(one)) for one in by_checksum]
            self.say(scene.update_cached(self.place.handle, blocks))
        in_full = [thing_id for thing_id in ids if thing_id not in by_checksum]
        for first in range(0, len(in_full), _PER_UPDATE):
            self.say(scene.full(self.place.handle, list(self._blocks(in_full[first : first + _PER_UPDATE], viewer))))
        self._known.update(dict.fromkeys(ids, False))

    def _blocks(self, ids: list[ObjectId], viewer: AvatarId) -> Iterator[ObjectUpdate.ObjectData]:
        for thing_id in ids:
            selected = self.selected.pop(thing_id, 0) is None
            thing = self.place.region.objects[thing_id]
            yield scene.object_block(thing, viewer, local_id=self._local_ids.of(thing_id), selected=selected)
