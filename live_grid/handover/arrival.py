"""Being let into a region: from the code that opens a circuit to the word of where we are.

Owns what is sent on the way in and in which order: code, movement, the answer to each handshake, throttle, the parcel
under us, and on the first arrival our name, our money and the messages that wait. On the way back from elsewhere a
simulator may send no handshake at all; then it is answered unasked, and asked (Spec: LIV-7).

Invariant: `RegionEntered` is told once an arrival, when the region has said what it is, or never will.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from live_grid.handover.body import Body
from live_grid.handover.events import How, Journey, JourneyEnded, RegionEntered, SessionEvent
from live_grid.handover.link import Link
from live_grid.handover.tables import LinkInput, LinkState, TravelState
from live_grid.handover.travel import Travel
from live_grid.requests import Identity, arriving, holding, speaking
from live_grid.world import Vector, World
from live_grid.world.events import AvatarChanged, AvatarLeft, MovementCompleted

__all__ = ("Arrival",)

ENTRY_PAUSE_S: Final = 0.5
"""Between code and movement of a login: some simulators are not ready sooner."""
DESCRIPTION_AFTER_S: Final = 2.0
"""A region that has not said what it is by then is asked."""
NAMELESS_AFTER_S: Final = 10.0
"""A region that does not say it even so is entered without a name."""


class Arrival:
    """The way into regions.

    Args:
        me: who we are.
        world: what we know.
        travel: where we are.
        body: ours.
        events: where to tell what happened.
    """

    __slots__ = (
        "_arrived_at",
        "_asked",
        "_body",
        "_events",
        "_me",
        "_position",
        "_throttles",
        "_travel",
        "_unsaid",
        "_world",
        "complete_at",
    )

    def __init__(self, me: Identity, world: World, travel: Travel, *, body: Body, events: deque[SessionEvent]) -> None:
        self._me = me
        self._world = world
        self._travel = travel
        self._body = body
        self._events = events
        self._throttles = 0
        self._arrived_at = 0.0
        self._position: Vector = (0.0, 0.0, 0.0)
        self._asked = False
        self._unsaid: How | None = None  # how we came, until the region has said what it is
        self.complete_at: float | None = None
        """When to ask the region of the login to be present."""

    def code_delivered(self, link: Link, now: float) -> None:
        """Go on: a region knows our code."""
        link.step(LinkInput.CODE_DELIVERED)
        if link is not self._travel.target:
            self._greet(link)
        elif self._travel.state is TravelState.ENTERING:
            self.complete_at = now + ENTRY_PAUSE_S
        else:
            self.complete()

    def complete(self) -> None:
        """Ask the region we are on the way to that we be present."""
        self.complete_at = None
        link = self._travel.target
        if link is not None and link.state is LinkState.CHILD:
            link.step(LinkInput.COMPLETE)
            self.ask_presence(link)

    def ask_presence(self, link: Link) -> None:
        """Send the movement, also once more: the journey's deadline decides when to give up, not the resends."""
        tokens = link.send(arriving.complete_movement(self._me))
        link.movement_token = tokens[0] if tokens else -1

    def _greet(self, link: Link) -> None:
        if not link.greeted:
            link.greeted = True
            self._throttles += 1
            link.send(arriving.set_throttle(self._me, self._throttles))

    def greet_again(self, link: Link) -> None:
        """Say once more what a region wants to hear before it shows itself; it may have lost it."""
        link.greeted = False
        self._greet(link)
        link.send(arriving.reply_to_handshake(self._me))
        if not link.region.described:
            link.send(arriving.ask_region_info(self._me))

    def present(self, link: Link, done: MovementCompleted, now: float) -> None:
        """Be in a region that we were on the way to; the word of any other changes nothing."""
        if link is not self._travel.target or link.state is not LinkState.ENTERING:
            return
        how = self._travel.how
        link.step(LinkInput.PRESENT)
        before = self._travel.arrive(now)
        if before is not None and before.state is LinkState.ROOT:
            before.step(LinkInput.STEP_BACK)
        left = self._world.here
        self._world.enter(link.region)
        self._body.arrive(done.look_at, now)
        self._greet(link)
        link.send(arriving.ask_parcel(self._me, done.position[0], done.position[1]))
        if how is How.LOGIN:
            link.send(arriving.ask_own_name(self._me))
            link.send(holding.ask_balance(self._me))
            link.send(speaking.ask_stored_messages(self._me))
        if left is not link.region:
            mine = self._me.agent_id
            self._events.extend(AvatarLeft(avatar_id) for avatar_id in left.avatars if avatar_id != mine)
            self._events.extend(AvatarChanged(avatar_id) for avatar_id in link.region.avatars if avatar_id != mine)
        self._arrived_at = now
        self._position = done.position
        self._asked = False
        self._unsaid = how
        if link.region.described:
            self._say_entered()

    def described(self, link: Link) -> None:
        """Answer a region that says what it is; the first word after arrival tells where we are."""
        link.send(arriving.reply_to_handshake(self._me))
        if link is self._travel.root:
            self._say_entered()

    def _say_entered(self) -> None:
        how, self._unsaid = self._unsaid, None
        if how is None:
            return
        here = self._world.here
        self._events.append(RegionEntered(how, here.name, self._position, here.size_x, here.size_y))
        if how is How.TELEPORT:
            self._events.append(JourneyEnded(Journey.ARRIVED, self._position))

    def description_due(self) -> float | None:
        """Tell when to call `ask_description`, if ever."""
        if self._unsaid is None:
            return None
        return self._arrived_at + (NAMELESS_AFTER_S if self._asked else DESCRIPTION_AFTER_S)

    def ask_description(self, root: Link) -> None:
        """Ask a region that has not said what it is; the second time do without."""
        if self._asked:
            self._say_entered()
            return
        self._asked = True
        # Without an answer to its handshake a simulator shows us nothing, and it may think it has sent one.
        root.send(arriving.reply_to_handshake(self._me))
        root.send(arriving.ask_region_info(self._me))
