"""Recorded viewers, played to the simulator byte for byte: it answers as the real OpenSimulator did.

What the viewers said (datagrams and login calls) comes from ``tests/vectors``; session ids and circuit codes of the
recording are put into the logins, so that no byte of a viewer needs to be changed.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from benchmarks.captures import Datagram, Exchange, datagrams, exchanges
from gridagent.actions import Position
from gridagent.grid.simulated import Account, Place, Thing, World, WorldSettings
from gridagent.ids import AvatarId
from gridagent.runtime.deterministic import simulated_ports
from live_grid.circuit import Address
from live_grid.event_queue import EventQueue, QueueState
from live_grid.llsd import read_llsd_untrusted, write_llsd_xml
from live_grid.login import LoginReply, read_login_reply_untrusted
from live_grid.messages import Message
from live_grid.packet import RESENT, decode_packet_untrusted, read_message_untrusted
from live_grid.simulator.agent import Agent
from live_grid.simulator.http1 import HttpRequest, HttpResponse
from live_grid.simulator.puppet import Table

PORTS = {9_000: 0, 9_001: 1}
FIRST_THING = 295_789_214
"""What the recorded region called the first of its three boxes."""
COMPARED = frozenset(
    {
        *(
            "RegionHandshake",
            "AgentMovementComplete",
            "ParcelOverlay",
            "RegionInfo",
            "ParcelDwellReply",
            "MapBlockReply",
        ),
        *("TeleportStart", "TeleportLocal", "ChatFromSimulator", "ImprovedInstantMessage", "AgentWearablesUpdate"),
        *("ObjectUpdateCached", "ObjectUpdateCompressed", "DisableSimulator", "KillObject", "TeleportFailed"),
    }
)
"""Answers to what a viewer says; what a server says by its own clock, and how avatars look and move, is left out."""


def recorded_world() -> World:
    """Build the place of the recordings: two regions side by side, three people, three boxes."""
    settings = WorldSettings(teleport_s=(0.0, 0.0), walk_speed_m_s=20.0)
    world = World(random.Random(1), simulated_ports(1).ids.uuid, settings=settings)
    owner, bot, guest = (AvatarId(f"00000000-0000-0000-0000-0000000000{tail}") for tail in ("aa", "bb", "cc"))
    world.add_region("Testland", x_m=256_000, y_m=256_000, owner_id=owner)
    world.add_region("Nextland", x_m=256_256, y_m=256_000, owner_id=owner)
    home = Place(region="Testland", position=Position(x=128.0, y=128.0))
    for name, avatar_id in (("Test Owner", owner), ("Bot Avatar", bot), ("Guest Visitor", guest)):
        world.add_avatar(Account(name=name, avatar_id=avatar_id, home=home))
    for number in range(3):
        spot = Position(x=126.0 + number, y=132.0, z=22.25)
        world.add_object("Testland", owner_id=owner, position=spot, thing=Thing(name=f"Box {number}"))
    return world


class Replay:
    """One recording, played to a simulator."""

    def __init__(self, name: str) -> None:
        self.world = recorded_world()
        self.table = Table(self.world, passwords=dict.fromkeys(self.world.avatars(), "secret"))
        ids = self.table.core._local_ids[0]
        ids._next = FIRST_THING
        for thing_id in self.world.regions()[0].objects:
            ids.of(thing_id)
        self.answers: dict[tuple[int, int], list[Message]] = {}
        self.events: list[str] = []
        self.queues: dict[str, EventQueue] = {}
        self.seen: set[tuple[int, int, int]] = set()
        recorded = [*datagrams(name), *(one for one in exchanges(name) if one.path == "/")]
        for one in sorted(recorded, key=lambda each: each.time):
            self.until(one.time)
            if isinstance(one, Exchange):
                self.log_in(one)
            elif not one.from_simulator:
                self.play(one)
        self.until(self.table.now + 1.0)

    def until(self, moment: float) -> None:
        """Let everything happen that is due."""
        core = self.table.core
        while True:
            self.world.advance(self.table.now)
            for number, data, address in core.datagrams_to_send(self.table.now):
                self.take(number, data, address)
            self.poll()
            due = min((one for one in (core.get_timer(), self.world.next_timer()) if one is not None), default=moment)
            if due > moment or due == self.table.now == moment:
                break
            if due <= self.table.now and not core._urgent:
                self.table.now = min(moment, self.table.now + 0.001)
                if self.table.now == moment:
                    break
            else:
                self.table.now = due
        self.table.now = max(self.table.now, moment)

    def log_in(self, exchange: Exchange) -> None:
        """Make the recorded login, and give it the recorded secrets."""
        recorded = read_login_reply_untrusted(exchange.body)
        if not isinstance(recorded, LoginReply):
            return
        before = set(self.table.core._agents)
        answers: list[HttpResponse] = []
        self.table.ask(HttpRequest(method="POST", target="/", body=exchange.request), answers.append)
        assert isinstance(read_login_reply_untrusted(answers[0].body), LoginReply)
        (fresh,) = set(self.table.core._agents) - before
        agent = self.table.core._agents.pop(fresh)
        agent.session_id, agent.circuit_code = recorded.session_id, recorded.circuit_code
        self.table.core._agents[recorded.session_id] = agent

    def play(self, datagram: Datagram) -> None:
        """Say what the viewer said, and fetch what it fetched."""
        address = ("127.0.0.1", datagram.source)
        self.table.core.receive_datagram_untrusted(PORTS[datagram.target], datagram.data, address, self.table.now)
        for agent in tuple(self.table.core._agents.values()):
            self.fetch(agent)

    def fetch(self, agent: Agent) -> None:
        """Ask each seed as soon as its circuit stands, and poll its queue."""
        for visit in agent.open_visits():
            if visit.circuit is None or visit.seed in self.queues:
                continue
            answers: list[HttpResponse] = []
            request = HttpRequest(method="POST", target="/" + visit.seed, body=write_llsd_xml(["EventQueueGet"]))
            self.table.ask(request, answers.append)
            caps = read_llsd_untrusted(answers[0].body)
            self.queues[visit.seed] = EventQueue(str(caps["EventQueueGet"]), now=self.table.now)

    def poll(self) -> None:
        """Keep every queue polled."""
        for queue in self.queues.values():
            queue.handle_timer(self.table.now)
            while (event := queue.next_event()) is not None:
                self.events.append(event.name)
            poll = queue.next_poll(self.table.now) if queue.state is QueueState.READY else None
            if poll is not None:
                target = "/" + poll.url.removeprefix(self.table.stage.base_url)
                request = HttpRequest(method="POST", target=target, body=poll.body)
                self.table.ask(
                    request, lambda answer, to=queue: to.receive_response(answer.status, answer.body, self.table.now)
                )

    def take(self, number: int, data: bytes, address: Address) -> None:
        """Note what the simulator says, each message once."""
        packet = decode_packet_untrusted(data)
        key = (number, address[1], packet.sequence)
        if packet.flags & RESENT or key in self.seen or packet.name not in COMPARED:
            return
        self.seen.add(key)
        self.answers.setdefault((address[1], number), []).append(read_message_untrusted(packet))

    def counted(self) -> dict[tuple[int, int], Counter[str]]:
        """Count the answers by circuit and name."""
        return {circuit: Counter(type(one).__name__ for one in said) for circuit, said in self.answers.items()}


def recorded_answers(name: str) -> dict[tuple[int, int], Counter[str]]:
    """Count what the real server said, by circuit and name, each message once."""
    found: dict[tuple[int, int], Counter[str]] = {}
    seen = set()
    for one in datagrams(name):
        packet = decode_packet_untrusted(one.data)
        key = (one.source, one.target, packet.sequence)
        if not one.from_simulator or packet.flags & RESENT or key in seen or packet.name not in COMPARED:
            continue
        seen.add(key)
        found.setdefault((one.target, PORTS[one.source]), Counter())[packet.name] += 1
    return found


DIFFERENT: dict[str, dict[tuple[int, int], Counter[str]]] = {
    # recording → circuit → what the real server said less (−) or more (+) often, and why
    "two_clients": {
        (49_581, 1): Counter({"KillObject": -1}),  # the guest is told that the bot has left; there it was not
    },
    "return_teleport_reused_sequence": {
        # a stream of before the recording, to a client that never logged out
        (32_918, 1): Counter({"TeleportFailed": 1, "DisableSimulator": 1}),
        (50_993, 1): Counter({"KillObject": 1}),  # of that client's avatar
    },
}
QUEUES = {
    "two_clients": {"TeleportFinish": 3, "EnableSimulator": 1, "EstablishAgentCommunication": 1},
    "crossing_on_foot": {"CrossedRegion": 1, "EnableSimulator": 1, "EstablishAgentCommunication": 1},
    "return_teleport_new_socket": {"TeleportFinish": 2, "EnableSimulator": 1, "EstablishAgentCommunication": 1},
    "return_teleport_reused_sequence": {"TeleportFinish": 2},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(QUEUES))
def test_a_recorded_viewer_gets_the_answers_that_it_got(name: str) -> None:
    """On each circuit the same answers as often; differences are named, and few. Spec: LIV-15."""
    replay = Replay(name)
    ours, theirs = replay.counted(), recorded_answers(name)
    different = DIFFERENT.get(name, {})
    for circuit in ours.keys() | theirs.keys():
        less = theirs.get(circuit, Counter()) - ours.get(circuit, Counter())
        more = ours.get(circuit, Counter()) - theirs.get(circuit, Counter())
        expected = different.get(circuit, Counter())
        assert (less, more) == (+expected, -expected), circuit
    assert replay.table.core.statistics().malformed == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(QUEUES))
def test_a_recorded_viewers_queue_says_what_it_said(name: str) -> None:
    """Handovers by the event queue as often as recorded; parcels come besides. Spec: LIV-4, LIV-15."""
    events = Counter(Replay(name).events)
    del events["ParcelProperties"]
    assert events == QUEUES[name]


@pytest.mark.slow
def test_recorded_words_and_places_are_the_same() -> None:
    """What was said, by whom and where; where everybody arrived; what map and region were called. Spec: LIV-15."""
    replay = Replay("two_clients")
    theirs: dict[tuple[int, int], list[Message]] = {}
    for one in datagrams("two_clients"):
        packet = decode_packet_untrusted(one.data)
        if one.from_simulator and packet.name in COMPARED and not packet.flags & RESENT:
            theirs.setdefault((one.target, PORTS[one.source]), []).append(read_message_untrusted(packet))
    for circuit, said in theirs.items():
        for kind, tell in FACTS.items():
            ours = [tell(one) for one in replay.answers[circuit] if type(one).__name__ == kind]
            assert ours == [tell(one) for one in said if type(one).__name__ == kind], (circuit, kind)


FACTS = {
    "ChatFromSimulator": lambda one: (one.chat_data.from_name, one.chat_data.source_id, one.chat_data.message),
    "ImprovedInstantMessage": lambda one: (one.agent_data.agent_id, one.message_block.id, one.message_block.message),
    "AgentMovementComplete": lambda one: (one.agent_data, one.data.region_handle),
    "RegionHandshake": lambda one: (one.region_info.sim_name, one.region_info.region_flags, one.region_info3),
    "RegionInfo": lambda one: (one.agent_data, one.region_info.sim_name, one.region_info.estate_id),
    "MapBlockReply": lambda one: ([(row.x, row.y, row.name, row.access) for row in one.data], one.extra),
    "TeleportLocal": lambda one: (one.info.agent_id, one.info.location_id, one.info.teleport_flags, one.info.look_at),
    "TeleportStart": lambda one: one.info,
    "ObjectUpdateCached": lambda one: sorted(row.id for row in one.object_data),
}
"""What of each answer is the same, ids and measured numbers left out."""
