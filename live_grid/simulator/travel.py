"""The way between regions: presence, teleports, crossings, neighbours, and what becomes of old circuits.

Owns the order of the handover as a running OpenSimulator does it: the world moves the body, the event queue of the old
region says where to go on, the client opens a circuit there and asks for presence, and only then is the new region
the root. A client that does not follow in time is put back and told (Spec: LIV-7, LIV-15; Fault: 9).

Invariant: a body is in one region of the world, and no two visits are root at once.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from gridagent.actions import Position, TeleportTo
from gridagent.events import DisconnectCause
from gridagent.events import TeleportFinished as WorldTeleportFinished
from live_grid.messages.circuits import DisableSimulator
from live_grid.messages.travel import TeleportFailed, TeleportLocal, TeleportStart
from live_grid.simulator import greeting, queue_events
from live_grid.simulator.agent import Agent, Journey, JourneyKind
from live_grid.simulator.faults import WireFaultKind
from live_grid.simulator.places import Place
from live_grid.simulator.visit import Visit, VisitInput, VisitState
from live_grid.simulator.wording import short_text

__all__ = (
    "BUSY",
    "VIA_HOME",
    "VIA_LOCATION",
    "VIA_LURE",
    "ask_teleport",
    "attend_deadlines",
    "close_visit",
    "complete_movement",
    "cross_border",
    "greet",
    "meet_neighbours",
    "opened_circuit",
    "show_scene",
    "start_teleport",
    "teleport_failed",
    "teleport_landed",
    "tell_parcel",
)

VIA_LURE: Final = 1 << 2
VIA_LOCATION: Final = 1 << 4
VIA_HOME: Final = 1 << 5
_HERE: Final = 2
_UNKNOWN_REGION: Final = "The region you tried to teleport to was not found."
BUSY: Final = "Previous teleport process incomplete.  Please retry shortly."
_NOT_FOLLOWED: Final = (
    "Problems connecting to destination {name}, reason: Connection between viewer and destination region could not be "
    "established."
)


# --- being greeted, and being present ------------------------------------------------------------


def greet(agent: Agent, visit: Visit) -> None:
    """Say what a region is to a client whose circuit stands."""
    visit.greet_at = None
    visit.handshake_sent = True
    visit.say(greeting.handshake(visit.place, agent.avatar_id))


def opened_circuit(agent: Agent, visit: Visit, now: float) -> None:
    """Greet a client that has just opened a circuit in a moment, unless the family waits for its presence."""
    journey = agent.journey
    arriving = journey is not None and journey.goal is visit and journey.kind is JourneyKind.TELEPORT
    if not (arriving and agent.stage.profile.handshake_for_arrivals_only_when_present):
        visit.greet_at = now + agent.stage.profile.greeting_delay_s


def complete_movement(agent: Agent, visit: Visit, now: float) -> bool:
    """Make a region the root for a client that asks for presence; tell whether it may.

    Args:
        agent: whose client asks.
        visit: on which circuit.
        now: seconds.
    """
    here = agent.here
    if here is None or visit.place is not here:
        # A child that claims presence without having come: ignored, as simulators do.
        return False
    journey = agent.journey
    arrived = journey if journey is not None and journey.goal is visit else None
    if visit is not agent.root:
        if agent.root is not None:
            agent.root.step(VisitInput.GONE_ON)
            agent.root.forget_scene()
        agent.root = visit
        visit.forget_scene()
    visit.step(VisitInput.PRESENCE)
    visit.leave_at = None
    agent.journey = None if arrived is not None else agent.journey
    position = agent.stage.world.position(agent.avatar_id)
    assert position is not None  # noqa: S101 - `here` is set only for a body in the world
    by_teleport = arrived is not None and arrived.kind is JourneyKind.TELEPORT
    if not visit.handshake_sent or (by_teleport and agent.stage.profile.handshake_for_arrivals_only_when_present):
        greet(agent, visit)
    visit.say(
        greeting.movement_complete(
            agent.identity,
            visit.place,
            position,
            timestamp=agent.stage.started_at_wall + int(now),
            version=agent.stage.profile.channel_version,
        )
    )
    show_scene(agent, visit)
    if arrived is not None:
        _settle_in(agent, visit, now)
    return True


def _settle_in(agent: Agent, visit: Visit, now: float) -> None:
    """Tell what comes with a new region, and let go of regions that are no neighbours of it."""
    agent.steering.direction = None  # keys that are still down begin a walk of this region
    tell_parcel(agent)
    near = {visit.place, *agent.stage.places.around(visit.place)}
    for other in agent.open_visits():
        if other.place not in near and other.leave_at is None:
            other.leave_at = now + agent.stage.profile.leave_child_s
    meet_neighbours(agent, now)


def tell_parcel(agent: Agent, *, sequence_id: int = 0) -> None:
    """Tell a client on which parcel its avatar is."""
    root, here = agent.root, agent.here
    position = agent.stage.world.position(agent.avatar_id)
    if root is None or root.place is not here or position is None:
        return
    region = root.place.region
    body = queue_events.parcel_properties(
        region, region.parcel_at(position), sequence_id=sequence_id, profile=agent.stage.profile
    )
    root.mailbox.put("ParcelProperties", body)


def show_scene(agent: Agent, visit: Visit) -> None:
    """Show the region, once its client has answered the handshake and fetched its seed.

    OpenSimulator shows nothing before both: a client without capabilities is blind.
    """
    if visit is not agent.root or visit.scene_shown or not (visit.handshake_answered and visit.seed_asked):
        return
    visit.scene_shown = True
    visit.greet(greeting.overlays(visit.place.region, agent.avatar_id))
    visit.mark(agent.avatar_id)
    visit.mark_all(visit.place.region)
    visit.say(greeting.standing(agent.avatar))
    agent.coarse_at = agent.stage.world.now
    agent.stage.wake()


def meet_neighbours(agent: Agent, now: float) -> None:
    """Announce the regions around to a client that has said how far it looks."""
    root = agent.root
    if root is None or not agent.sees_far or agent.here is not root.place:
        return
    for place in agent.stage.places.around(root.place):
        if agent.visit(place) is None and place.region.up:
            announce(agent, root, place, now)


def announce(agent: Agent, root: Visit, place: Place, now: float) -> None:
    """Announce a region with its seed on the event queue of another."""
    visit = agent.open_visit(place, now)
    if visit is not None:
        root.mailbox.put("EnableSimulator", queue_events.enable_simulator(place, agent.stage.profile))
        seed = agent.stage.base_url + visit.seed
        root.mailbox.put(
            "EstablishAgentCommunication", queue_events.establish_communication(agent.avatar_id, place, seed)
        )


# --- teleports -----------------------------------------------------------------------------------


def ask_teleport(
    agent: Agent, place: Place | None, position: Position, now: float, *, flags: int = VIA_LOCATION
) -> None:
    """Begin a teleport that a client asks for."""
    if place is None:
        teleport_failed(agent, _UNKNOWN_REGION)
    else:
        start_teleport(agent, flags)
        agent.do("teleport", TeleportTo(region=place.region.name, position=position), now)


def start_teleport(agent: Agent, flags: int) -> None:
    """Tell a client that its teleport has begun."""
    agent.teleport_flags = flags
    agent.steering.forget_border()
    agent.say(TeleportStart(info=TeleportStart.Info(flags)))


def teleport_failed(agent: Agent, reason: str) -> None:
    """Tell a client that its avatar stays where it is."""
    if agent.stage.profile.teleport_failure_over_udp:
        agent.say(TeleportFailed(info=TeleportFailed.Info(agent.agent_id, short_text(reason))))
    elif agent.root is not None:
        agent.root.mailbox.put("TeleportFailed", queue_events.teleport_failed(agent.avatar_id, reason))


def teleport_landed(agent: Agent, event: WorldTeleportFinished, now: float) -> None:
    """Take notice that the world has put the body elsewhere: in the same region, or on its way to another."""
    root, body = agent.root, agent.avatar.body
    place = agent.stage.places.named(event.region)
    if root is None or body is None or place is None:
        return
    if place is root.place:
        agent.journey = None  # whatever was under way has ended where it began
        spot = event.position
        agent.say(
            TeleportLocal(
                info=TeleportLocal.Info(
                    agent.agent_id, _HERE, (spot.x, spot.y, spot.z), (1.0, 0.0, 0.0), agent.teleport_flags
                )
            )
        )
        return
    # The body's record still says where it was; the world's next words are about the new region.
    _set_off(agent, root, place, body.position, JourneyKind.TELEPORT, now)


def _set_off(
    agent: Agent, start: Visit, place: Place, came_from: Position, kind: JourneyKind, now: float
) -> Journey | None:
    stage = agent.stage
    goal = agent.visit(place)
    if goal is None:
        if stage.profile.announces_target and kind is JourneyKind.TELEPORT:
            announce(agent, start, place, now)
        goal = agent.visit(place) or agent.open_visit(place, now)
    if goal is None:
        stage.defer(partial(_lose, agent))
        return None
    goal.leave_at = None
    if agent.journey is not None:
        came_from = agent.journey.came_from  # sent on before it arrived: the way back still leads to where it began
    agent.journey = Journey(
        kind=kind, start=start, came_from=came_from, goal=goal, deadline=now + stage.profile.arrival_s
    )
    if kind is JourneyKind.TELEPORT and not stage.strikes(
        stage.faults.teleport_finish_missing, WireFaultKind.TELEPORT_FINISH_MISSING
    ):
        body = queue_events.teleport_finish(
            agent.avatar_id, place, stage.base_url + goal.seed, agent.teleport_flags, stage.profile
        )
        start.mailbox.put("TeleportFinish", body)
    return agent.journey


# --- crossings -----------------------------------------------------------------------------------


def cross_border(agent: Agent, beyond: tuple[float, float], now: float) -> None:
    """Let a body that has walked to the border go on in the region beyond it, if there is one that takes it."""
    root, body, stage = agent.root, agent.avatar.body, agent.stage
    if root is None or body is None or agent.journey is not None or agent.here is not root.place:
        return
    found = stage.places.at(*beyond)
    if found is None:
        return
    place, position = found
    journey = _set_off(agent, root, place, body.position_at(now), JourneyKind.CROSSING, now)
    if journey is None:
        return
    if not stage.world.cross(agent.avatar_id, place.region.name, position, now):
        agent.journey = None
        return
    landed = stage.world.position(agent.avatar_id)
    assert landed is not None  # noqa: S101 - it has just come
    event = queue_events.crossed_region(
        agent.avatar_id, agent.session_id, place, stage.base_url + journey.goal.seed, landed, stage.profile
    )
    root.mailbox.put("CrossedRegion", event)


# --- ends ----------------------------------------------------------------------------------------


def attend_deadlines(agent: Agent, now: float) -> None:
    """Greet who is to be greeted, put back a client that has not followed, close circuits that are left."""
    journey = agent.journey
    if journey is not None and now >= journey.deadline:
        _put_back(agent, journey, now)
    for visit in agent.open_visits():
        if visit.greet_at is not None and now >= visit.greet_at:
            greet(agent, visit)
        if visit.leave_at is not None and now >= visit.leave_at:
            close_visit(agent, visit)


def _put_back(agent: Agent, journey: Journey, now: float) -> None:
    """End a journey whose client never came: the avatar is where it was, and is told so."""
    agent.journey = None
    region = journey.start.place.region
    back = journey.start.state is VisitState.ROOT and agent.stage.world.cross(
        agent.avatar_id, region.name, journey.came_from, now
    )
    if not back:
        _lose(agent, now)
        return
    if journey.kind is JourneyKind.TELEPORT:
        teleport_failed(agent, _NOT_FOLLOWED.format(name=journey.goal.place.region.name))
    journey.goal.leave_at = now  # recorded: neighbour or not, its circuit is closed
    journey.start.mark(agent.avatar_id)


def _lose(agent: Agent, now: float) -> None:
    """Give up a client for which there is no way on."""
    agent.stage.world.drop(agent.session, now)
    agent.ended = agent.ended or DisconnectCause.CIRCUIT_LOST


def close_visit(agent: Agent, visit: Visit) -> None:
    """End a circuit and its event queue; the message leaves with the next datagrams."""
    visit.say(DisableSimulator())
    visit.mailbox.close()
    visit.leave_at = None
    if visit.state is not VisitState.CLOSED:
        visit.step(VisitInput.CLOSE)
        visit.closed_at = agent.stage.world.now
    if agent.root is visit:
        agent.root = None
