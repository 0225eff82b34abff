"""A grid of one client in memory: regions with real circuits, seeds and event queues, and a clock turned by hand.

Regions do what a test tells them; by themselves they only let in whoever shows the code.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from uuid import UUID

from live_grid.addresses import HostPolicy
from live_grid.circuit import Address, Circuit, CircuitConfig, MessageReceived, Role
from live_grid.handover import GridSession, SessionEvent, SessionSettings, WebRequest
from live_grid.handover.link import WebKind
from live_grid.llsd import write_llsd_xml
from live_grid.login import LoginReply
from live_grid.messages import NIL, Message
from live_grid.messages.circuits import (
    AgentMovementComplete,
    CompleteAgentMovement,
    DisableSimulator,
    LogoutReply,
    LogoutRequest,
    UseCircuitCode,
)
from live_grid.messages.notation import AgentSession
from live_grid.messages.objects import ObjectUpdate
from live_grid.messages.regions import RegionHandshake
from live_grid.messages.travel import TeleportFailed, TeleportLocal, TeleportStart
from live_grid.world.sightings import PCODE_AVATAR

CLIENT = ("203.0.113.1", 40000)
ME = bytes(15) + b"\x01"
SESSION = b"\x5e" * 16
POLICY = HostPolicy(hosts=frozenset({"127.0.0.1"}), http=True, loopback=True)
STEP_S = 0.05


class FakeRegion:
    """One region of the fake grid."""

    def __init__(self, name: str, x: int, port: int) -> None:
        self.name = name
        self.handle = x << 32 | 256000
        self.address: Address = ("127.0.0.1", port)
        self.circuit: Circuit | None = None
        self.received: list[Message] = []
        self.handshakes = True
        self.lets_in = True
        self.shows_us = True
        self.seed = f"http://127.0.0.1:{port}/seed"
        self.seed_status = 200
        self.queue_path = "/queue"
        self.events: list[tuple[str, dict[str, object]]] = []
        self.queue_status = 200
        self.polls: list[WebRequest] = []
        self.offers_queue = True

    @property
    def queue(self) -> str:
        """Where its event queue is."""
        return f"http://127.0.0.1:{self.address[1]}{self.queue_path}"

    def names(self) -> list[str]:
        """What it has received."""
        return [type(message).__name__ for message in self.received]

    def send(self, message: Message) -> None:
        """Send reliably to the client."""
        assert self.circuit is not None
        self.circuit.send(message, reliable=True)

    # --- what it can say -------------------------------------------------------------------------
    def handshake(self) -> RegionHandshake:
        """What it is."""
        fields = dict.fromkeys(RegionHandshake.RegionInfo.__struct_fields__, 0)
        fields |= {name: NIL for name in fields if name.startswith(("terrain_base", "terrain_detail"))}
        fields |= {"sim_owner": NIL, "cache_id": NIL, "sim_name": self.name.encode() + b"\0"}
        return RegionHandshake(
            region_info=RegionHandshake.RegionInfo(**fields),  # type: ignore[arg-type]
            region_info2=RegionHandshake.RegionInfo2(NIL),
            region_info3=RegionHandshake.RegionInfo3(0, 0, b"", b"", b""),
        )

    def movement_complete(self) -> AgentMovementComplete:
        """We are present."""
        data = AgentMovementComplete.Data((10.0, 20.0, 30.0), (0.0, 1.0, 0.0), self.handle, 1)
        return AgentMovementComplete(
            agent_data=AgentSession(ME, SESSION), data=data, sim_data=AgentMovementComplete.SimData(b"fake\0")
        )

    def sight(self) -> ObjectUpdate:
        """What it shows of us."""
        fields = dict.fromkeys(ObjectUpdate.ObjectData.__struct_fields__, 0)
        fields |= dict.fromkeys(
            ("texture_entry", "texture_anim", "data", "text", "media_url", "ps_block", "extra_params", "name_value"),
            b"",
        )
        fields |= {"id": 77, "full_id": ME, "pcode": PCODE_AVATAR, "scale": (1.0, 1.0, 1.0)}
        fields |= {"text_color": bytes(4), "sound": NIL, "owner_id": NIL}
        fields |= dict.fromkeys(("joint_pivot", "joint_axis_or_anchor"), (0.0, 0.0, 0.0))
        fields |= {"object_data": struct.pack("<15f", 10, 20, 30, *[0] * 12)}
        return ObjectUpdate(
            region_data=ObjectUpdate.RegionData(self.handle, 65535),
            object_data=(ObjectUpdate.ObjectData(**fields),),  # type: ignore[arg-type]
        )

    def finish(self, **changes: object) -> tuple[str, dict[str, object]]:
        """The event that sends a client here by teleport."""
        info = {
            "AgentID": UUID(bytes=ME),
            "SimIP": bytes(map(int, self.address[0].split("."))),
            "SimPort": self.address[1],
            "RegionHandle": self.handle.to_bytes(8, "big"),
            "SeedCapability": self.seed,
            "SimAccess": 13,
            "TeleportFlags": 16,
        }
        return "TeleportFinish", {"Info": [info | changes]}

    def crossed(self, **changes: object) -> tuple[str, dict[str, object]]:
        """The event that sends a client here over the border."""
        region = {
            "SimIP": bytes(map(int, self.address[0].split("."))),
            "SimPort": self.address[1],
            "RegionHandle": self.handle.to_bytes(8, "big"),
            "SeedCapability": self.seed,
        }
        agent = {"AgentID": UUID(bytes=ME), "SessionID": UUID(bytes=SESSION)} | changes
        info = {"Position": [1.0, 2.0, 3.0], "LookAt": [1.0, 0.0, 0.0]}
        return "CrossedRegion", {"AgentData": [agent], "Info": [info], "RegionData": [region]}

    def neighbour(self, **changes: object) -> list[tuple[str, dict[str, object]]]:
        """The two events that announce it."""
        host, port = self.address
        found = {"Handle": self.handle.to_bytes(8, "big"), "IP": bytes(map(int, host.split("."))), "Port": port}
        ready = {
            "agent-id": UUID(bytes=ME),
            "sim-ip-and-port": f"{host}:{port}",
            "seed-capability": self.seed,
        }
        return [
            ("EnableSimulator", {"SimulatorInfo": [found]}),
            ("EstablishAgentCommunication", ready | changes),
        ]

    # --- what it does by itself ------------------------------------------------------------------
    def act(self, message: Message) -> None:
        """Let in whoever shows the code; say goodbye to whoever leaves."""
        self.received.append(message)
        if isinstance(message, UseCircuitCode) and self.handshakes:
            self.send(self.handshake())
        elif isinstance(message, CompleteAgentMovement) and self.lets_in:
            self.send(self.movement_complete())
            if self.shows_us:
                self.send(self.sight())
        elif isinstance(message, LogoutRequest):
            self.send(LogoutReply(agent_data=AgentSession(ME, SESSION)))


class FakeGrid:
    """A client, regions, and what goes between them."""

    def __init__(self, *, settings: SessionSettings | None = None, **reply: object) -> None:
        self.now = 100.0
        self.regions = {
            region.address: region for region in (FakeRegion("Plaza", 256000, 9000), FakeRegion("Garden", 256256, 9001))
        }
        self.plaza, self.garden = self.regions.values()
        fields: dict[str, object] = {
            "agent_id": ME,
            "session_id": SESSION,
            "secure_session_id": NIL,
            "circuit_code": 77,
            "sim_ip": "127.0.0.1",
            "sim_port": 9000,
            "seed_capability": self.plaza.seed,
            "region_x": 256000,
            "region_y": 256000,
            "first_name": "Mia",
            "last_name": "Mine",
        }
        self.session = GridSession(
            LoginReply(**(fields | reply)),  # type: ignore[arg-type]
            policy=POLICY,
            now=self.now,
            settings=settings,
        )
        self.events: list[SessionEvent] = []
        self.cut = False
        """Nothing gets through any more."""

    def add_region(self, name: str, x: int, port: int) -> FakeRegion:
        """One more region."""
        region = FakeRegion(name, x, port)
        self.regions[region.address] = region
        return region

    def run(self, seconds: float = 3.0, *, until: Callable[[], object] | None = None) -> None:
        """Let time go by, with everything it brings."""
        end = self.now + seconds
        while self.now < end and not (until is not None and until()):
            self.step()

    def step(self) -> None:
        """One turn of the clockwork."""
        session, now = self.session, self.now
        due = session.get_timer()
        if due is not None and now >= due:
            session.handle_timer(now)
        while (request := session.next_request(now)) is not None:
            self.answer(request)
        for data, address in session.datagrams_to_send(now):
            self.deliver(data, address)
        for region in self.regions.values():
            self.let_speak(region)
        while (event := session.next_event(now)) is not None:
            self.events.append(event)
        self.now += STEP_S

    def deliver(self, data: bytes, address: Address) -> None:
        """Take a datagram to a region; the first one opens a circuit there."""
        region = self.regions.get(address)
        if region is None or self.cut:
            return
        if region.circuit is None:
            config = CircuitConfig(ack_delay_s=0.0)
            region.circuit = Circuit(CLIENT, now=self.now, role=Role.SIMULATOR, config=config)
        region.circuit.receive_datagram_untrusted(data, CLIENT, self.now)
        while (event := region.circuit.next_event()) is not None:
            if isinstance(event, MessageReceived):
                region.act(event.message)

    def let_speak(self, region: FakeRegion) -> None:
        """Take what a region says to the client, and answer its poll if there is news."""
        for request in region.polls[:]:
            if region.events or region.queue_status != 200:
                region.polls.remove(request)
                events = [{"message": name, "body": body} for name, body in region.events]
                region.events.clear()
                body = write_llsd_xml({"id": int(self.now * 1000), "events": events})  # type: ignore[dict-item]
                self.session.receive_response(request, region.queue_status, body, self.now)
        circuit = region.circuit
        if circuit is None:
            return
        circuit.handle_timer(self.now)
        for data, _ in circuit.datagrams_to_send(self.now):
            if not self.cut:
                self.session.receive_datagram_untrusted(data, region.address, self.now)

    def answer(self, request: WebRequest) -> None:
        """Answer a seed at once, hold a poll."""
        region = self.regions[request.address]
        if request.kind is WebKind.SEED:
            found = {"EventQueueGet": region.queue} if region.offers_queue else {}
            self.session.receive_response(request, region.seed_status, write_llsd_xml(found), self.now)
        else:
            region.polls.append(request)

    # --- common scenes ---------------------------------------------------------------------------
    def enter(self) -> None:
        """Log in and be told where we are."""
        self.run(until=lambda: self.seen("RegionEntered"))
        assert self.seen("RegionEntered")

    def seen(self, name: str) -> list[SessionEvent]:
        """What happened of one kind."""
        return [event for event in self.events if type(event).__name__ == name]


def failed(reason: bytes = b"no way\0") -> TeleportFailed:
    """A teleport came to nothing."""
    return TeleportFailed(info=TeleportFailed.Info(ME, reason))


def started() -> TeleportStart:
    """A teleport has begun."""
    return TeleportStart(info=TeleportStart.Info(16))


def local() -> TeleportLocal:
    """A teleport ended in the same region."""
    return TeleportLocal(info=TeleportLocal.Info(ME, 2, (50.0, 60.0, 25.0), (1.0, 0.0, 0.0), 16))


def disabled() -> DisableSimulator:
    """A region closes the circuit."""
    return DisableSimulator()
