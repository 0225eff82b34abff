"""The timeline at work: incidents of a scenario put on the world's timers.

Owns when an incident happens and whose hands carry it out: the world's own verbs (kick, restart, alert,
group notice) or the connections (disconnect, stall, flood). Decides nothing by chance. Called by whoever
begins a world that was built from a scenario.

Invariant: an incident that comes again has one timer at a time, so that a timeline never grows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Protocol

from gridagent.grid.simulated.scenario_build import cast_of
from gridagent.grid.simulated.scenario_format import Scenario
from gridagent.grid.simulated.scenario_incidents import (
    Alert,
    Disconnect,
    Flood,
    GroupIm,
    Incident,
    Kick,
    RegionRestart,
    Stall,
)
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId

__all__ = ("Links", "set_timeline")


class Links(Protocol):
    """What breaks connections: the part of an incident that the world itself cannot do."""

    def disconnect(self, avatar_id: AvatarId) -> None:
        """Break the avatar's connection without a word."""
        ...

    def stall(self, avatar_id: AvatarId, for_s: float) -> None:
        """Let the avatar's connection carry nothing for a while."""
        ...

    def flood(self, avatar_id: AvatarId, messages: int, senders: int, over_s: float) -> None:
        """Let strangers send the avatar many IMs."""
        ...


def set_timeline(scenario: Scenario, world: World, links: Links, *, now: float) -> None:
    """Put the scenario's incidents on the world's timers, counted from ``now``.

    Args:
        scenario: whose incidents.
        world: the world that was built from it.
        links: breaks connections.
        now: seconds on the world's clock; the moment the story begins.
    """
    people = cast_of(scenario).people
    for incident in scenario.incidents:
        target = people[incident.avatar].avatar_id if not isinstance(incident, RegionRestart) else None
        happen = partial(_HANDS[type(incident)], incident, target, world, links)
        due = now + incident.at_s
        world.call_at(due, partial(_once, world, happen, due, incident.every_s))


def _once(world: World, happen: Callable[[], None], due: float, every_s: float | None) -> None:
    if every_s is not None:
        again = due + every_s
        world.call_at(again, partial(_once, world, happen, again, every_s))
    happen()


def _kick(incident: Kick, avatar_id: AvatarId, world: World, links: Links) -> None:
    del links
    world.kick(avatar_id, world.now, reason=incident.reason)


def _restart(incident: RegionRestart, avatar_id: None, world: World, links: Links) -> None:
    del avatar_id, links
    world.restart_region(incident.region, world.now, notice_s=incident.notice_s, down_s=incident.down_s)


def _alert(incident: Alert, avatar_id: AvatarId, world: World, links: Links) -> None:
    del links
    world.alert(avatar_id, incident.text, world.now, modal=incident.modal)


def _group_im(incident: GroupIm, avatar_id: AvatarId, world: World, links: Links) -> None:
    del links
    world.group_im(avatar_id, incident.group, world.now)


def _disconnect(incident: Disconnect, avatar_id: AvatarId, world: World, links: Links) -> None:
    del incident, world
    links.disconnect(avatar_id)


def _stall(incident: Stall, avatar_id: AvatarId, world: World, links: Links) -> None:
    del world
    links.stall(avatar_id, incident.for_s)


def _flood(incident: Flood, avatar_id: AvatarId, world: World, links: Links) -> None:
    del world
    links.flood(avatar_id, incident.messages, incident.senders, incident.over_s)


_HANDS: Final[Mapping[type[Incident], Callable[..., None]]] = {
    Kick: _kick,
    RegionRestart: _restart,
    Alert: _alert,
    GroupIm: _group_im,
    Disconnect: _disconnect,
    Stall: _stall,
    Flood: _flood,
}
