"""Incidents happen when the file says, by the hands that can carry them out."""

from __future__ import annotations

import random
from itertools import count

from gridagent.events import AlertShown, DisconnectCause, GridEvent, GroupImSeen, Kicked, RegionRestarting
from gridagent.grid.simulated.inhabitants.casting import Spot
from gridagent.grid.simulated.scenario import load_shipped
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.grid.simulated.scenario_format import AvatarSpec, RegionSpec, Scenario, derived_id
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
from gridagent.grid.simulated.scenario_timeline import set_timeline
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId


class Recorder:
    """Links that only remember what was asked of them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.asked: list[tuple[object, ...]] = []

    def disconnect(self, avatar_id: AvatarId) -> None:
        self.asked.append((self.world.now, "disconnect", avatar_id))

    def stall(self, avatar_id: AvatarId, for_s: float) -> None:
        self.asked.append((self.world.now, "stall", avatar_id, for_s))

    def flood(self, avatar_id: AvatarId, messages: int, senders: int, over_s: float) -> None:
        self.asked.append((self.world.now, "flood", avatar_id, messages, senders, over_s))


class Story:
    """One agent in one region, and a timeline."""

    def __init__(self, *incidents: Incident, begins: float = 0.0) -> None:
        account = AvatarSpec(name="A", start=Spot(region="R", x=1, y=1))
        scenario = Scenario(name="s", regions=(RegionSpec(name="R"),), avatars=(account,), incidents=incidents)
        numbers = count()
        self.world = build_world(
            scenario, rng=random.Random(0), ids=lambda: derived_id("s", "made", str(next(numbers)))
        )
        self.agent = scenario.avatar_id(account)
        self.links = Recorder(self.world)
        self.events: list[tuple[float, GridEvent]] = []
        self.ends: list[tuple[float, DisconnectCause]] = []
        self.come(begins)
        set_timeline(scenario, self.world, self.links, now=begins)

    def come(self, now: float) -> None:
        """Log the agent in."""
        self.world.login(self.agent, now)
        self.world.attach(
            self.agent,
            lambda event: self.events.append((self.world.now, event)),
            lambda cause: self.ends.append((self.world.now, cause)),
            now=now,
        )

    def until(self, moment: float) -> None:
        """Let the story go on."""
        while (due := self.world.next_timer()) is not None and due <= moment:
            self.world.advance(due)
        self.world.advance(moment)

    def of(self, kind: type) -> list[tuple[float, GridEvent]]:
        """What the agent perceived of one kind, and when."""
        return [(at, event) for at, event in self.events if isinstance(event, kind)]


def test_a_kick_ends_the_session_with_its_reason() -> None:
    """At its moment the agent is told why and is out. Spec: SIM-1."""
    story = Story(Kick(at_s=30.0, avatar="A", reason="Too loud."), begins=100.0)
    story.until(129.0)
    assert story.ends == []
    story.until(131.0)
    assert story.of(Kicked) == [(130.0, Kicked(reason="Too loud."))]
    assert story.ends == [(130.0, DisconnectCause.KICKED)]


def test_a_restart_is_announced_and_the_region_comes_back() -> None:
    """Notice, end of session, and a region that is up again. Spec: SIM-1."""
    story = Story(RegionRestart(at_s=10.0, region="R", notice_s=20.0, down_s=30.0))
    story.until(31.0)
    assert story.of(RegionRestarting) == [(10.0, RegionRestarting(region="R", seconds=20.0))]
    assert story.ends == [(30.0, DisconnectCause.REGION_RESTART)]
    assert not story.world.regions()[0].up
    story.until(61.0)
    assert story.world.regions()[0].up


def test_alerts_and_group_notices_are_shown() -> None:
    """The grid's own words reach the avatar. Spec: SIM-1. Fault: 16."""
    story = Story(Alert(at_s=1.0, avatar="A", text="Beware.", modal=True), GroupIm(at_s=2.0, avatar="A", group="G"))
    story.until(3.0)
    assert story.of(AlertShown) == [(1.0, AlertShown(text="Beware.", modal=True))]
    assert story.of(GroupImSeen) == [(2.0, GroupImSeen(group="G"))]


def test_incidents_of_the_connection_go_to_the_links() -> None:
    """Disconnect, stall and flood are the links' work, with the file's sizes. Spec: SIM-1. Fault: 18."""
    story = Story(
        Flood(at_s=3.0, avatar="A", messages=9, senders=4, over_s=2.0),
        Disconnect(at_s=1.0, avatar="A"),
        Stall(at_s=2.0, avatar="A", for_s=7.0),
    )
    story.until(5.0)
    assert story.links.asked == [
        (1.0, "disconnect", story.agent),
        (2.0, "stall", story.agent, 7.0),
        (3.0, "flood", story.agent, 9, 4, 2.0),
    ]


def test_an_incident_with_a_pause_comes_back_and_never_doubles() -> None:
    """`every_s` repeats without drift; the next one is set before this one happens. Spec: SIM-1."""
    story = Story(Disconnect(at_s=5.0, every_s=10.0, avatar="A"), Stall(at_s=1.0, avatar="A"))
    story.until(100.0)
    assert [asked[0] for asked in story.links.asked if asked[1] == "disconnect"] == [5.0 + 10 * n for n in range(10)]
    assert len([asked for asked in story.links.asked if asked[1] == "stall"]) == 1


def test_incidents_for_somebody_who_is_away_pass_them_by() -> None:
    """A kick or alert without anybody there changes nothing, and the timeline goes on. Spec: SIM-1."""
    story = Story(Kick(at_s=1.0, every_s=10.0, avatar="A"), Alert(at_s=3.0, avatar="A", text="Hello?"))
    story.until(12.0)
    assert len(story.of(Kicked)) == 1
    assert story.of(AlertShown) == []
    story.come(12.0)
    story.until(30.0)
    assert [at for at, _ in story.of(Kicked)] == [1.0, 21.0]


def test_a_rough_night_is_rough() -> None:
    """In two hours every kind of incident of the shipped scenario happens. Spec: SIM-1."""
    scenario = load_shipped("rough-night")
    numbers = count()
    world = build_world(
        scenario, rng=random.Random(scenario.seed), ids=lambda: derived_id("s", "made", str(next(numbers)))
    )
    links, ends = Recorder(world), []
    agent = scenario.avatar_id(scenario.agents()[0])
    seen: set[type] = set()

    def come() -> None:
        world.login(agent, world.now)
        world.attach(agent, lambda event: seen.add(type(event)), ends.append, now=world.now)

    world.advance(0.0)
    set_timeline(scenario, world, links, now=0.0)
    while (due := world.next_timer()) is not None and due <= 7_200:
        if not world.avatar(agent).online:
            come()
        world.advance(due)
    assert {DisconnectCause.KICKED, DisconnectCause.REGION_RESTART} <= set(ends)
    assert {asked[1] for asked in links.asked} == {"disconnect", "stall", "flood"}
    assert {Kicked, AlertShown, GroupImSeen, RegionRestarting} <= seen
