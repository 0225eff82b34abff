"""The whole simulator without a socket: datagrams, requests and time in; datagrams and answers out.

Owns who is logged in over the wire, which datagram belongs to whose circuit, and the order in which things are done:
what came, what the world made of it, what was put off, what is shown. The shell feeds it and sends what comes out,
and decides nothing (Spec: LIV-15). The world runs by its own pump; what it tells is said here.

Invariant: a datagram that belongs to no circuit opens one only with a login's own ids and code, and nothing a stranger
sends ends the server (Fault: 1, 2, 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from gridagent.events import DisconnectCause
from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.sessions import Session
from live_grid.circuit import Address, CircuitEnded
from live_grid.messages.circuits import DisableSimulator, LogoutReply, LogoutRequest, PacketAck, UseCircuitCode
from live_grid.simulator import greeting, travel
from live_grid.simulator.accounts import Accounts
from live_grid.simulator.agent import Agent
from live_grid.simulator.capabilities import Capabilities
from live_grid.simulator.delivery import Delivery
from live_grid.simulator.faults import Air, Flight, WireFaultKind, WireFaults
from live_grid.simulator.heeding import HEEDED, heed
from live_grid.simulator.http1 import HttpRequest, HttpResponse
from live_grid.simulator.ids import wire_id
from live_grid.simulator.instant import kick
from live_grid.simulator.limits import AGENTS_MAX, UNPROVED_ARRIVAL_S, VISITS_MAX
from live_grid.simulator.local_ids import LocalIds
from live_grid.simulator.login_service import Door, LoginService
from live_grid.simulator.mailbox import Answer, Mailbox
from live_grid.simulator.openers import blind_ack, read_opener_untrusted
from live_grid.simulator.places import Place
from live_grid.simulator.refusals import Refusals
from live_grid.simulator.second_factors import SecondFactors
from live_grid.simulator.stage import Stage
from live_grid.simulator.statistics import SimulatorStatistics
from live_grid.simulator.visit import Visit, VisitInput, VisitState

__all__ = ("SimulatorCore",)

_COARSE_EVERY_S: Final = 4.5
_LINGER_S: Final = 3.0
"""A login that is over is still resent what it did not acknowledge for so long."""
_DEAD_STREAM_S: Final = 60.0
_LOGIN_PATHS: Final = frozenset({"/", "/login", "/cgi-bin/login.cgi"})
_CODE_MAX: Final = 0x7FFF_FFFE
"""XML-RPC has signed numbers only."""
_GOING_DOWN: Final = "The simulator is going down."


class SimulatorCore:
    """The simulator.

    Args:
        stage: what is shared; its address is known by now.
        accounts: who may log in.
        second_factors: whose logins want a one-time code; None is nobody's.
    """

    __slots__ = (
        "_agents",
        "_air_in",
        "_air_out",
        "_capabilities",
        "_delivery",
        "_lingering",
        "_local_ids",
        "_login",
        "_refusals",
        "_routes",
        "_strangers",
        "_unsaid",
        "_urgent",
        "second_factors",
        "stage",
    )

    def __init__(self, stage: Stage, accounts: Accounts, second_factors: SecondFactors | None = None) -> None:
        self.stage = stage
        self._capabilities = Capabilities(stage)
        self._delivery = Delivery(stage)
        self._refusals = Refusals(stage)
        self.second_factors = SecondFactors({}, new_id=stage.ids) if second_factors is None else second_factors
        """Whose logins want a one-time code."""
        self._login = LoginService(
            world=stage.world,
            accounts=accounts,
            places=stage.places,
            doors=self,
            profile=stage.profile,
            base_url=stage.base_url,
            second_factors=self.second_factors,
            refuse=self._refusals.draw,
        )
        first = stage.rng.randrange(1 << 8, 1 << 28)
        self._local_ids = [LocalIds(place.region, first=first + (place.number << 16)) for place in stage.places]
        self._agents: dict[bytes, Agent] = {}  # by session id, at most `AGENTS_MAX`
        self._routes: dict[tuple[int, Address], tuple[Agent, Visit]] = {}  # one a circuit
        self._lingering: list[tuple[float, Agent]] = []  # at most `AGENTS_MAX`
        self._urgent: list[Flight] = []  # acks of openers, one a datagram that came
        self._air_in = Air(stage.rng, stage.counts, stage.faults)
        self._air_out = Air(stage.rng, stage.counts, stage.faults)
        self._strangers = 0
        self._unsaid = 0

    # --- knobs -----------------------------------------------------------------------------------

    def set_faults(self, faults: WireFaults) -> None:
        """Change the knobs."""
        self.stage.faults = self._air_in.faults = self._air_out.faults = faults

    def refuse_next_login(self, cause: DisconnectCause) -> None:
        """Refuse the next login for a cause."""
        self._refusals.refuse_next(cause)

    # --- logins ----------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Tell whether one more avatar may come over the wire."""
        return len(self._agents) < AGENTS_MAX

    def open_door(self, avatar: Avatar, session: Session, place: Place, now: float) -> Door:
        """Prepare for the circuit of somebody who was just logged in."""
        stage = self.stage
        session_id = wire_id(stage.ids())
        code = stage.rng.randrange(1, _CODE_MAX)
        agent = Agent(
            stage,
            avatar,
            session,
            session_id=session_id,
            circuit_code=code,
            open_visit=lambda where, when: self._open_visit(agent, where, when),
            now=now,
        )
        self._agents[session_id] = agent
        visit = self._open_visit(agent, place, now)
        assert visit is not None  # noqa: S101 - a new login has room for its first region
        return Door(
            session_id=session_id,
            secure_session_id=wire_id(stage.ids()),
            circuit_code=code,
            seed=stage.base_url + visit.seed,
            place=place,
        )

    def _open_visit(self, agent: Agent, place: Place, now: float) -> Visit | None:
        stage = self.stage
        if len(agent.open_visits()) >= VISITS_MAX:
            return None
        closed = agent.visits.pop(place.number, None)
        if closed is not None:
            self._forget(closed)
        mailbox = Mailbox(
            stage.profile,
            first_id=stage.rng.randrange(1 << 20, 1 << 25),
            repeats=self._repeats,
        )
        seed = f"CAPS/{stage.ids()}{stage.profile.seed_suffix}"
        visit = Visit(place, self._local_ids[place.number], mailbox, seed=seed, now=now)
        agent.visits[place.number] = visit
        self._capabilities.give_out(agent, visit)
        return visit

    def _repeats(self) -> bool:
        return self.stage.strikes(self.stage.faults.event_repeated, WireFaultKind.EVENT_REPEATED)

    # --- HTTP ------------------------------------------------------------------------------------

    def handle_request(self, request: HttpRequest, now: float, answer: Answer) -> Callable[[], None]:
        """Answer a request, at once or later.

        Args:
            request: from outside, whole.
            now: seconds.
            answer: takes the response, exactly once; one with status 0 means that the connection closes silently.

        Returns:
            What to call when the connection is gone while the answer is outstanding.
        """
        self.stage.world.advance(now)
        deliver = partial(self._delivery.deliver, answer)
        if self._capabilities.handle(request, now, deliver):
            pass
        elif request.method == "POST" and request.path in _LOGIN_PATHS:
            deliver(self._login.answer(request, now))
        elif request.path == "/get_grid_info":
            deliver(self._login.info_page())
        elif request.path == "/json_grid_info":
            deliver(self._login.info_json())
        else:
            deliver(HttpResponse(status=404, close=True))
        self.stage.wake()
        return partial(self._forget_request, deliver)

    def _forget_request(self, deliver: Answer) -> None:
        for agent in self._agents.values():
            for visit in agent.visits.values():
                visit.mailbox.cancel(deliver)

    # --- datagrams -------------------------------------------------------------------------------

    def receive_datagram_untrusted(self, number: int, data: bytes, address: Address, now: float) -> None:
        """Take a datagram from outside; it never raises.

        Args:
            number: of the region whose socket it came to.
            data: the datagram.
            address: where it came from.
            now: seconds.
        """
        self.stage.world.advance(now)
        for flight in self._air_in.put((number, data, address), now):
            self._receive(flight, now)
        self.stage.wake()

    def _receive(self, flight: Flight, now: float) -> None:
        number, data, address = flight
        route = self._routes.get((number, address))
        settled = route is not None and route[0].live and route[1].state is not VisitState.CLOSED
        opener = None if settled else read_opener_untrusted(data)
        if opener is not None:
            route = self._open_circuit(number, opener, address, now)
        if route is None:
            self._strangers += 1
            ack = None if opener is None else blind_ack(data)
            if ack is not None and self.stage.profile.codes_acked_blindly:
                self._urgent.append((number, ack, address))
            return
        agent, visit = route
        circuit = visit.circuit
        assert circuit is not None  # noqa: S101 - a route is made with its circuit
        circuit.receive_datagram_untrusted(data, address, now)
        self._listen(agent, visit, now)

    def _open_circuit(
        self, number: int, opener: UseCircuitCode, address: Address, now: float
    ) -> tuple[Agent, Visit] | None:
        """Open a circuit for a login that was told to come here."""
        given = opener.circuit_code
        agent = self._agents.get(given.session_id)
        visit = None if agent is None else agent.visits.get(number)
        if agent is None or visit is None or (given.code, given.id) != (agent.circuit_code, agent.agent_id):
            return None
        if not agent.live or visit.state is VisitState.CLOSED:
            return None
        if visit.address is not None:
            # A second socket of the same client for the same region.
            self._routes.pop((number, visit.address), None)
            visit.say(DisableSimulator())
            self._flush(visit, now)
            if self.stage.profile.new_socket_ends_circuit:
                travel.close_visit(agent, visit)
                return None
        session = (agent.agent_id, agent.session_id)
        visit.open_circuit(address, session, HEEDED, now, ack_delay_s=self.stage.profile.ack_delay_s)
        self._routes[number, address] = (agent, visit)
        return agent, visit

    def _listen(self, agent: Agent, visit: Visit, now: float) -> None:
        """Do what came on a circuit."""
        for event in visit.heard():
            if isinstance(event, CircuitEnded):
                self._circuit_ended(agent, visit, now)
                continue
            message = event.message
            if isinstance(message, UseCircuitCode):
                visit.say(PacketAck(packets=(PacketAck.Packets(event.sequence),)), reliable=False)
                if not visit.handshake_sent and visit.state is not VisitState.CLOSED:
                    visit.step(VisitInput.CIRCUIT)
                    travel.opened_circuit(agent, visit, now)
            elif isinstance(message, LogoutRequest):
                self._log_out(agent, now)
            elif agent.live:
                heed(agent, visit, message, now)
            self.stage.do_deferred(now)

    # --- ends ------------------------------------------------------------------------------------

    def _log_out(self, agent: Agent, now: float) -> None:
        """Take a client out of the world that asks for it; every further request is counted and answered the same."""
        if agent.live or agent.session.ended_by == "logout":
            self.stage.world.logout(agent.avatar_id, now, agent.session)
        faults = self.stage.faults
        if not self.stage.strikes(faults.logout_reply_missing, WireFaultKind.LOGOUT_REPLY_MISSING):
            agent.say(LogoutReply(agent_data=agent.identity, inventory_data=(LogoutReply.InventoryData(bytes(16)),)))

    def _circuit_ended(self, agent: Agent, visit: Visit, now: float) -> None:
        """A client has closed a circuit or fallen silent: without its root it is gone."""
        was_root = visit is agent.root
        travel.close_visit(agent, visit)
        if was_root and agent.journey is None:
            self.stage.world.drop(agent.session, now)

    def _retire(self, agent: Agent, now: float) -> None:
        """Let go of a login that is over: its circuits linger until what was said has arrived, or long enough."""
        del self._agents[agent.session_id]
        if agent.ended is DisconnectCause.REGION_RESTART:
            agent.say(kick(agent, _GOING_DOWN))
        silent = agent.ended is not None
        lasts = _LINGER_S
        if silent and self.stage.strikes(self.stage.faults.dead_stream, WireFaultKind.DEAD_STREAM):
            lasts = _DEAD_STREAM_S
        for visit in agent.open_visits():
            visit.mailbox.close()
            self._capabilities.withdraw(visit)
            if visit is not agent.root:
                travel.close_visit(agent, visit)
        self._lingering = [*self._lingering[-(AGENTS_MAX - 1) :], (now + lasts, agent)]

    def _forget(self, visit: Visit) -> None:
        self._capabilities.withdraw(visit)
        self._routes = {key: route for key, route in self._routes.items() if route[1] is not visit}
        self._unsaid += visit.unsaid

    # --- time ------------------------------------------------------------------------------------

    def datagrams_to_send(self, now: float) -> list[Flight]:
        """Do what is due and take what is to leave now: region number, datagram, address."""
        self._attend(now)
        found, self._urgent = self._urgent, []
        for agent, visit in self._circuits():
            if visit.state is VisitState.ROOT and visit.scene_shown:
                while visit.waiting:
                    visit.blind = self.stage.strikes(self.stage.faults.sight_lost, WireFaultKind.SIGHT_LOST)
                    visit.show(agent.avatar_id, now, cached_first=self.stage.profile.cached_first)
                    visit.blind = False
            found += self._leaving(visit, now)
        flights: list[Flight] = []
        for flight in found:
            flights += self._air_out.put(flight, now)
        return self._air_out.arrived(now) + flights

    def _flush(self, visit: Visit, now: float) -> None:
        self._urgent += self._leaving(visit, now)

    @staticmethod
    def _leaving(visit: Visit, now: float) -> list[Flight]:
        circuit = visit.circuit
        if circuit is None:
            return []
        return [(visit.place.number, data, address) for data, address in circuit.datagrams_to_send(now)]

    def _circuits(self) -> list[tuple[Agent, Visit]]:
        agents = [*self._agents.values(), *(agent for _, agent in self._lingering)]
        return [(agent, visit) for agent in agents for visit in agent.visits.values() if visit.circuit is not None]

    def _attend(self, now: float) -> None:
        """Do everything that is due."""
        self.stage.world.advance(now)
        self.stage.do_deferred(now)
        for flight in self._air_in.arrived(now):
            self._receive(flight, now)
        self._delivery.handle_timer(now)
        for agent, visit in self._circuits():
            assert visit.circuit is not None  # noqa: S101 - that is what makes it one
            visit.circuit.handle_timer(now)
            self._listen(agent, visit, now)
        for agent in tuple(self._agents.values()):
            self._attend_agent(agent, now)
        self.stage.do_deferred(now)
        over = [agent for until, agent in self._lingering if now >= until or self._has_arrived(agent)]
        self._lingering = [(until, agent) for until, agent in self._lingering if agent not in over]
        for agent in over:
            for visit in agent.visits.values():
                self._forget(visit)

    @staticmethod
    def _has_arrived(agent: Agent) -> bool:
        """Tell whether a client has acknowledged everything, so that nothing is left to resend."""
        return all(
            visit.circuit is None or visit.circuit.statistics().unacked + visit.circuit.statistics().waiting == 0
            for visit in agent.visits.values()
        )

    def _attend_agent(self, agent: Agent, now: float) -> None:
        if not agent.live:
            self._retire(agent, now)
            return
        if agent.root is None and agent.journey is None and now >= agent.logged_in_at + UNPROVED_ARRIVAL_S:
            self.stage.world.drop(agent.session, now)
            agent.ended = agent.ended or DisconnectCause.CIRCUIT_LOST
            self._retire(agent, now)
            return
        travel.attend_deadlines(agent, now)
        for visit in tuple(agent.visits.values()):
            visit.mailbox.handle_timer(now)
            if visit.closed_at is not None and now >= visit.closed_at + _LINGER_S:
                del agent.visits[visit.place.number]
                self._forget(visit)
        if now >= agent.coarse_at:
            agent.coarse_at = now + _COARSE_EVERY_S
            for visit in agent.open_visits():
                if visit.handshake_answered:
                    visit.say(greeting.coarse_locations(visit.place.region, agent.avatar_id, now), reliable=False)

    def get_timer(self) -> float | None:
        """Tell when to call `datagrams_to_send` at the latest, if ever."""
        moments: list[float | None] = [self._air_in.next_due(), self._air_out.next_due(), self._delivery.get_timer()]
        moments += [until for until, _ in self._lingering]
        for _, visit in self._circuits():
            assert visit.circuit is not None  # noqa: S101 - that is what makes it one
            moments.append(visit.circuit.get_timer())
        for agent in self._agents.values():
            moments += [agent.coarse_at, None if agent.journey is None else agent.journey.deadline]
            for visit in agent.visits.values():
                closed = visit.closed_at
                moments += [
                    visit.greet_at,
                    visit.leave_at,
                    visit.mailbox.get_timer(),
                    None if closed is None else closed + _LINGER_S,
                ]
        return min((moment for moment in moments if moment is not None), default=None)

    def close(self, now: float) -> Sequence[Flight]:
        """End every login in order; return the last datagrams."""
        flights: list[Flight] = []
        for agent in tuple(self._agents.values()):
            agent.say(kick(agent, _GOING_DOWN))
            self.stage.world.drop(agent.session, now)
            for visit in agent.open_visits():
                visit.mailbox.close()
                flights += self._leaving(visit, now)
                if visit.circuit is not None:
                    visit.circuit.close()
                flights += self._leaving(visit, now)
        self._delivery.close()
        return flights

    def statistics(self) -> SimulatorStatistics:
        """Take the figures of this moment."""
        visits = [visit for agent in self._agents.values() for visit in agent.visits.values()]
        return SimulatorStatistics(
            agents=len(self._agents),
            circuits=len(self._routes),
            lingering=len(self._lingering),
            addresses=len(self._capabilities),
            strangers=self._strangers,
            malformed=self._login.malformed + self._capabilities.malformed,
            unsaid=self._unsaid + sum(visit.unsaid for visit in visits),
            overlooked=self.stage.overlooked,
            faults=self.stage.counts.snapshot(),
        )
