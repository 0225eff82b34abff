"""A viewer moved by hand, and the table it stands on: the whole simulator in one thread, without trio and sockets.

Owns a client made of this package's own cores (login reader, circuit, event queue), a clock that jumps from one thing
to the next, and the wire between client and core; decides nothing that a client would decide. For tests of the
simulator and of anything that wants a viewer's view of a world (Spec: LIV-15, SIM-2). A puppet answers pings and
handshakes and polls its queues; everything else is done by whoever moves it.

Invariant: it remembers the newest `REMEMBERED_MAX` messages and events.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId
from live_grid.circuit import Address, Circuit, MessageReceived
from live_grid.event_queue import EventQueue, QueueEvent, QueueState
from live_grid.llsd import LlsdGiven, LlsdValue, read_llsd_untrusted, write_llsd_xml
from live_grid.login import LoginReply, LoginRequest, StartLocation, password_hash, read_login_reply_untrusted
from live_grid.login.reply import LoginOutcome
from live_grid.login.request import split_name, write_login_request
from live_grid.messages import Message
from live_grid.messages.circuits import CompleteAgentMovement, UseCircuitCode
from live_grid.messages.notation import AgentSession
from live_grid.messages.regions import RegionHandshake, RegionHandshakeReply
from live_grid.simulator.accounts import DEFAULT_PASSWORD, Accounts
from live_grid.simulator.core import SimulatorCore
from live_grid.simulator.faults import WireFaultCounts, WireFaults
from live_grid.simulator.http1 import HttpRequest, HttpResponse
from live_grid.simulator.places import Places
from live_grid.simulator.profiles import OPENSIM, WireProfile
from live_grid.simulator.second_factors import SecondFactors
from live_grid.simulator.stage import Stage

__all__ = ("REMEMBERED_MAX", "Puppet", "Table")

REMEMBERED_MAX: Final = 8_192
_HOST: Final = "127.0.0.1"
_FIRST_PORT: Final = 9_000
_VIEWER_PORT: Final = 50_000
_ROUNDS_MAX: Final = 256
_KNOWS_EVERYTHING, _CACHE_IS_EMPTY = 0x5, 0x7
_CAPABILITIES: Final = (
    "EventQueueGet",
    "FetchInventory2",
    "FetchInventoryDescendents2",
    "GetDisplayNames",
    "ReadOfflineMsgs",
    "SimulatorFeatures",
)

M = TypeVar("M", bound=Message)


class Table:
    """A core, its world and its puppets, with a clock moved by hand.

    Args:
        world: what is served.
        profile: which family to be like.
        faults: knobs of the wire.
        rng: the wire's chance; a stream of the world by default.
        ids: returns a new canonical UUID a call; of the world by default.
        passwords: of avatars that have their own.
        code: one-time code that every login wants; None wants none.
    """

    __slots__ = ("_puppets", "core", "now", "stage", "world")

    def __init__(
        self,
        world: World,
        *,
        profile: WireProfile = OPENSIM,
        faults: WireFaults | None = None,
        rng: random.Random | None = None,
        ids: Callable[[], str] | None = None,
        passwords: dict[AvatarId, str] | None = None,
        code: str | None = None,
    ) -> None:
        self.world = world
        self.now = world.now
        regions = world.regions()
        addresses = [(_HOST, _FIRST_PORT + number) for number in range(len(regions))]
        self.stage = Stage(
            world=world,
            places=Places(regions, addresses),
            profile=profile,
            rng=rng or world.stream("wire"),
            ids=ids or world.new_id,
            counts=WireFaultCounts(),
            faults=faults or WireFaults(),
            base_url=f"http://{_HOST}:{_FIRST_PORT}/",
            started_at_wall=1_767_225_600,
        )
        factors = SecondFactors({}, new_id=self.stage.ids, everybodys=code)
        self.core = SimulatorCore(self.stage, Accounts(world, passwords), factors)
        self._puppets: list[Puppet] = []  # as many as a test makes

    def puppet(self, name: str, *, cache_empty: bool = True) -> Puppet:
        """Make a viewer for the account of that name; it does not log in by itself."""
        made = Puppet(self, name, (_HOST, _VIEWER_PORT + len(self._puppets)), cache_empty=cache_empty)
        self._puppets.append(made)
        return made

    def ask(self, request: HttpRequest, answer: Callable[[HttpResponse], None]) -> Callable[[], None]:
        """Let the core answer a request."""
        return self.core.handle_request(request, self.now, answer)

    # --- time ------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let everything happen that needs no time."""
        for _ in range(_ROUNDS_MAX):
            moved = False
            for number, data, address in self.core.datagrams_to_send(self.now):
                moved = True
                for puppet in self._puppets:
                    puppet.take(number, data, address)
            for puppet in self._puppets:
                moved = puppet.work() or moved
            if not moved:
                return
        raise AssertionError("client and simulator never come to rest")

    def pass_time(self, seconds: float) -> None:
        """Go from one thing that is due to the next, for so many seconds."""
        until = self.now + seconds
        self.settle()
        while True:
            timers = [self.core.get_timer(), self.world.next_timer(), *(puppet.timer() for puppet in self._puppets)]
            due = min((timer for timer in timers if timer is not None and timer <= until), default=None)
            if due is None:
                break
            self.now = max(self.now, due)
            self.world.advance(self.now)
            self.settle()
        self.now = until
        self.world.advance(until)
        self.settle()


class Puppet:
    """A viewer; made by `Table.puppet`."""

    __slots__ = (
        "_cache_empty",
        "_mailed",
        "_seeds",
        "_table",
        "address",
        "caps",
        "circuits",
        "events",
        "login_reply",
        "messages",
        "name",
        "queues",
    )

    def __init__(self, table: Table, name: str, address: Address, *, cache_empty: bool) -> None:
        self._table = table
        self._cache_empty = cache_empty
        self._mailed: deque[tuple[EventQueue, HttpResponse]] = deque(maxlen=REMEMBERED_MAX)
        self._seeds: dict[int, str] = {}
        self.name = name
        self.address = address
        self.circuits: dict[int, Circuit] = {}
        """Circuits by the number of the region."""
        self.queues: dict[int, EventQueue] = {}
        """Event queues by the number of the region."""
        self.caps: dict[int, dict[str, str]] = {}
        """Addresses of capabilities by the number of the region."""
        self.messages: deque[tuple[int, Message]] = deque(maxlen=REMEMBERED_MAX)
        """What came over UDP, with the number of the region, oldest first."""
        self.events: deque[tuple[int, QueueEvent]] = deque(maxlen=REMEMBERED_MAX)
        """What came by event queues, with the number of the region, oldest first."""
        self.login_reply: LoginReply | None = None

    # --- the way in ------------------------------------------------------------------------------

    def log_in(
        self, *, start: str = "last", password: str = DEFAULT_PASSWORD, token: str = "", mfa_hash: str = ""
    ) -> LoginOutcome:
        """Ask to be let in; keep the reply if the grid does."""
        first, last = split_name(self.name)
        request = LoginRequest(
            first=first,
            last=last,
            password=password_hash(password, second_life=False),
            start=StartLocation(text=start),
            channel="puppet",
            version="1.0",
            mac="00" * 16,
            id0="00" * 16,
            token=token,
            mfa_hash=mfa_hash,
        )
        response = self.fetch("/", write_login_request(request))
        outcome = read_login_reply_untrusted(response.body, status=response.status)
        if isinstance(outcome, LoginReply):
            self.login_reply = outcome
        return outcome

    def enter(self, *, start: str = "last", password: str = DEFAULT_PASSWORD) -> int:
        """Log in and be present; return the number of the region.

        Raises:
            AssertionError: the grid does not let it in.
        """
        outcome = self.log_in(start=start, password=password)
        assert isinstance(outcome, LoginReply), f"{self.name} was not let in: {outcome}"  # noqa: S101 - for tests
        number = self.number_of((outcome.sim_ip, outcome.sim_port))
        self.open_circuit(number)
        self.ask_seed(number, outcome.seed_capability)
        self.ask_presence(number)
        self._table.settle()
        return number

    def arrive(self, number: int, seed: str) -> None:
        """Follow to a region: circuit (if there is none), seed, presence."""
        if number not in self.circuits:
            self.open_circuit(number)
        if number not in self.caps:
            self.ask_seed(number, seed)
        self.ask_presence(number)
        self._table.settle()

    def number_of(self, address: Address) -> int:
        """Return the number of the region at an address."""
        return next(place.number for place in self._table.stage.places if place.address == address)

    @property
    def session(self) -> AgentSession:
        """The block that says who and in which session."""
        reply = self._reply()
        return AgentSession(reply.agent_id, reply.session_id)

    @property
    def agent_id(self) -> bytes:
        """Sixteen bytes."""
        return self._reply().agent_id

    def _reply(self) -> LoginReply:
        assert self.login_reply is not None, f"{self.name} has not logged in"  # noqa: S101 - for tests
        return self.login_reply

    def open_circuit(self, number: int, *, address: Address | None = None) -> None:
        """Open a circuit with a region, from another socket if an address is given."""
        if address is not None:
            self.address = address
        reply = self._reply()
        there = self._table.stage.places[number].address
        circuit = Circuit(there, now=self._table.now, session=(reply.agent_id, reply.session_id))
        self.circuits[number] = circuit
        code = UseCircuitCode.CircuitCode(reply.circuit_code, reply.session_id, reply.agent_id)
        circuit.send(UseCircuitCode(circuit_code=code), reliable=True)
        self._table.settle()

    def ask_presence(self, number: int) -> None:
        """Ask to be present in a region."""
        reply = self._reply()
        data = CompleteAgentMovement.AgentData(reply.agent_id, reply.session_id, reply.circuit_code)
        self.say(CompleteAgentMovement(agent_data=data), number)

    # --- HTTP ------------------------------------------------------------------------------------

    def ask_seed(self, number: int, seed: str) -> dict[str, str]:
        """Ask a seed for its capabilities, and begin to poll its event queue."""
        found = self.post(seed, list(_CAPABILITIES))
        assert isinstance(found, dict), "a seed answers with a map"  # noqa: S101 - for tests
        self._seeds[number] = seed
        caps = self.caps[number] = {name: str(url) for name, url in found.items()}
        self.queues[number] = EventQueue(caps["EventQueueGet"], now=self._table.now)
        return caps

    def post(self, url: str, body: LlsdGiven) -> LlsdValue:
        """Post LLSD and read the answer."""
        return read_llsd_untrusted(self.fetch(url, write_llsd_xml(body)).body)

    def fetch(self, url: str, body: bytes = b"", *, method: str = "POST") -> HttpResponse:
        """Make a request that is answered at once.

        Raises:
            AssertionError: the answer is held.
        """
        answers: list[HttpResponse] = []
        self._table.ask(self._request(url, body, method), answers.append)
        assert answers, "the answer is held"  # noqa: S101 - for tests
        return answers[0]

    def _request(self, url: str, body: bytes, method: str = "POST") -> HttpRequest:
        target = "/" + url.removeprefix(self._table.stage.base_url).removeprefix("/")
        return HttpRequest(method=method, target=target, body=body)

    # --- saying and hearing ----------------------------------------------------------------------

    def say(self, message: Message, number: int | None = None, *, reliable: bool = True) -> None:
        """Send a message to a region, the last one it went to by default, and let everything settle."""
        there = next(reversed(self.circuits)) if number is None else number
        self.circuits[there].send(message, reliable=reliable)
        self._table.settle()

    def saw(self, kind: type[M], number: int | None = None) -> list[M]:
        """Return the messages of a kind, oldest first."""
        return [one for where, one in self.messages if isinstance(one, kind) and number in {None, where}]

    def told(self, name: str, number: int | None = None) -> list[dict[str, LlsdValue]]:
        """Return the bodies of queue events of a name, oldest first."""
        return [event.body for where, event in self.events if event.name == name and number in {None, where}]

    def forget(self) -> None:
        """Forget what was heard so far."""
        self.messages.clear()
        self.events.clear()

    def vanish(self) -> None:
        """Say and hear nothing any more, as a client whose machine was switched off."""
        self.circuits.clear()
        self.queues.clear()

    # --- moved by the table ----------------------------------------------------------------------

    def take(self, number: int, data: bytes, address: Address) -> None:
        """Take a datagram, if it is for this viewer."""
        circuit = self.circuits.get(number)
        if address == self.address and circuit is not None:
            there = self._table.stage.places[number].address
            circuit.receive_datagram_untrusted(data, there, self._table.now)

    def work(self) -> bool:
        """Do what a viewer does by itself; tell whether anything moved."""
        moved = False
        for number, circuit in tuple(self.circuits.items()):
            moved = self._hear(number, circuit) or moved
            circuit.handle_timer(self._table.now)
            for data, _ in circuit.datagrams_to_send(self._table.now):
                moved = True
                self._table.core.receive_datagram_untrusted(number, data, self.address, self._table.now)
        return self._poll() or moved

    def _hear(self, number: int, circuit: Circuit) -> bool:
        moved = False
        while (event := circuit.next_event()) is not None:
            moved = True
            if not isinstance(event, MessageReceived):
                continue
            self.messages.append((number, event.message))
            if isinstance(event.message, RegionHandshake):
                flags = _CACHE_IS_EMPTY if self._cache_empty else _KNOWS_EVERYTHING
                reply = RegionHandshakeReply.RegionInfo(flags)
                circuit.send(RegionHandshakeReply(agent_data=self.session, region_info=reply), reliable=True)
        return moved

    def _poll(self) -> bool:
        moved = False
        while self._mailed:
            queue, response = self._mailed.popleft()
            moved = True
            queue.receive_response(response.status, response.body, self._table.now)
        for number, queue in tuple(self.queues.items()):
            queue.handle_timer(self._table.now)
            while (event := queue.next_event()) is not None:
                moved = True
                self.events.append((number, event))
            poll = queue.next_poll(self._table.now) if queue.state is QueueState.READY else None
            if poll is not None:
                moved = True
                self._table.ask(self._request(poll.url, poll.body), self._mail(queue))
        return moved

    def _mail(self, queue: EventQueue) -> Callable[[HttpResponse], None]:
        return lambda response: self._mailed.append((queue, response))

    def timer(self) -> float | None:
        """Tell when something of its own is due."""
        moments: Iterable[float | None] = [
            *(circuit.get_timer() for circuit in self.circuits.values()),
            *(queue.get_timer() for queue in self.queues.values()),
        ]
        return min((moment for moment in moments if moment is not None), default=None)
