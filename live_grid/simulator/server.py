"""The trio shell: a simulated grid served on a wire until the block is left.

Owns the sockets, one task that receives for each region, one that sends and keeps time, and one for each HTTP
connection, all in one nursery; takes no protocol decision. Binds loopback addresses only (Spec: LIV-14, LIV-15).
Made by `serve_grid`.

Invariant: leaving the block ends every login in order, sends what is left, and leaves no task and no socket.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import IPv4Address
from typing import Final, final

import trio

from gridagent.errors import OperatorError
from gridagent.events import DisconnectCause
from gridagent.grid.simulated.grid import SimulatedGrid
from gridagent.ids import AvatarId
from gridagent.runtime.ports import Clock, Ports
from live_grid.circuit import Address
from live_grid.simulator.accounts import DEFAULT_PASSWORD, Accounts
from live_grid.simulator.core import SimulatorCore
from live_grid.simulator.faults import WireFaultCounts, WireFaults
from live_grid.simulator.http1 import HttpRequest, HttpResponse
from live_grid.simulator.http_shell import serve_connection
from live_grid.simulator.limits import CONNECTIONS_MAX
from live_grid.simulator.places import Places
from live_grid.simulator.profiles import OPENSIM, WireProfile
from live_grid.simulator.second_factors import SecondFactors
from live_grid.simulator.sockets import SocketWire
from live_grid.simulator.stage import Stage
from live_grid.simulator.statistics import SimulatorStatistics
from live_grid.simulator.wire import DatagramPort, Wire

__all__ = ("LOOPBACK", "GridServer", "serve_grid")

LOOPBACK: Final = "127.0.0.1"
_FAREWELL_S: Final = 1.0
_PORT_MAX: Final = 65_535


@final
class GridServer:
    """A grid on the wire; made by `serve_grid`."""

    __slots__ = ("_clock", "_ports", "_wake", "core", "regions")

    def __init__(self, core: SimulatorCore, ports: tuple[DatagramPort, ...], clock: Clock) -> None:
        self.core = core
        """The sans-IO half, for its figures and knobs."""
        self.regions: dict[str, Address] = {place.region.name: place.address for place in core.stage.places}
        """UDP address of each region by name."""
        self._ports = ports
        self._clock = clock
        self._wake = trio.Event()
        core.stage.wake = self._on_wake

    @property
    def login_url(self) -> str:
        """Where clients log in, and ask for grid information."""
        return self.core.stage.base_url

    def set_faults(self, faults: WireFaults) -> None:
        """Change the wire's fault knobs."""
        self.core.set_faults(faults)

    def refuse_next_login(self, cause: DisconnectCause) -> None:
        """Refuse the next login for a cause."""
        self.core.refuse_next_login(cause)

    def forget_proofs(self) -> None:
        """Honour no proof of a one-time code any more: the next login of its account is challenged."""
        self.core.second_factors.forget_proofs()

    def statistics(self) -> SimulatorStatistics:
        """Take the figures of this moment."""
        return self.core.statistics()

    def _on_wake(self) -> None:
        self._wake.set()

    # --- tasks -----------------------------------------------------------------------------------

    async def receive(self, number: int) -> None:
        """Feed one region's datagrams to the core until cancelled."""
        port = self._ports[number]
        while True:
            data, address = await port.receive()
            self.core.receive_datagram_untrusted(number, data, address, self._clock.monotonic())

    async def pace(self) -> None:
        """Send what is to leave and keep time until cancelled."""
        while True:
            self._wake = trio.Event()
            for number, data, address in self.core.datagrams_to_send(self._clock.monotonic()):
                await self._ports[number].send(data, address)
            due = self.core.get_timer()
            if due is None:
                await self._wake.wait()
            else:
                with trio.move_on_at(due):
                    await self._wake.wait()

    def handle(self, request: HttpRequest, answer: Callable[[HttpResponse], None]) -> Callable[[], None]:
        """Let the core answer a request."""
        return self.core.handle_request(request, self._clock.monotonic(), answer)

    async def say_farewell(self) -> None:
        """End every login in order and send the last datagrams, within a second whatever happens."""
        with trio.CancelScope(shield=True, deadline=trio.current_time() + _FAREWELL_S):
            for number, data, address in self.core.close(self._clock.monotonic()):
                await self._ports[number].send(data, address)


def _checked(host: str, port: int, regions: int) -> None:
    try:
        loopback = IPv4Address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise OperatorError(f"the simulator serves this machine only; give a loopback IPv4 address instead of {host!r}")
    if not 0 <= port <= _PORT_MAX - regions:
        raise OperatorError(
            f"port {port} leaves no room for {regions} regions; give one from 1 to {_PORT_MAX - regions}, or 0"
        )


@asynccontextmanager
async def serve_grid(
    grid: SimulatedGrid,
    *,
    ports: Ports,
    host: str = LOOPBACK,
    port: int = 0,
    profile: WireProfile = OPENSIM,
    faults: WireFaults | None = None,
    passwords: Mapping[AvatarId, str] | None = None,
    default_password: str = DEFAULT_PASSWORD,
    codes: Mapping[AvatarId, str] | None = None,
    default_code: str | None = None,
    wire: Wire | None = None,
) -> AsyncIterator[GridServer]:
    """Serve a running simulated grid over LLUDP and capabilities until the block is left.

    Args:
        grid: what `open_simulated_grid` gave; regions that are added later are not on the wire.
        ports: clock, ids and chance; the network, if no wire is given.
        host: a loopback address.
        port: for HTTP, and for the first region's UDP; each further region takes the next one. 0 lets the
            system choose every port.
        profile: which server family to be like.
        faults: knobs of the wire; by default nothing goes wrong.
        passwords: of avatars that have their own.
        default_password: of everybody else.
        codes: one-time codes of avatars that have their own.
        default_code: of everybody else; None wants none.
        wire: what carries the bytes; sockets by default.

    Raises:
        OperatorError: the host is not loopback, or the port leaves no room for the regions.
        OSError: an address cannot be bound.
    """
    regions = grid.world.regions()
    _checked(host, port, len(regions))
    carrier = wire if wire is not None else SocketWire(ports.network)
    opened: list[DatagramPort] = []
    try:
        for number in range(len(regions)):
            end = await carrier.open_datagrams(host, port + number if port else 0)
            opened.append(end)
        async with trio.open_nursery() as nursery:
            holder: list[GridServer] = []

            async def connected(stream: trio.abc.Stream) -> None:
                await serve_connection(holder[0].handle, stream)

            http_port: int = await nursery.start(
                partial(carrier.serve_streams, connected, host=host, port=port, connections_max=CONNECTIONS_MAX)
            )
            stage = Stage(
                world=grid.world,
                places=Places(regions, [end.address for end in opened]),
                profile=profile,
                rng=ports.randomness.stream("wire"),
                ids=ports.ids.uuid,
                counts=WireFaultCounts(),
                faults=faults or WireFaults(),
                base_url=f"http://{host}:{http_port}/",
                started_at_wall=int(ports.clock.wall() - ports.clock.monotonic()),
            )
            core = SimulatorCore(
                stage,
                Accounts(grid.world, passwords, default=default_password),
                SecondFactors(codes or {}, new_id=ports.ids.uuid, everybodys=default_code),
            )
            server = GridServer(core, tuple(opened), ports.clock)
            holder.append(server)
            for number in range(len(regions)):
                nursery.start_soon(server.receive, number)
            nursery.start_soon(server.pace)
            try:
                yield server
            finally:
                await server.say_farewell()
                nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # The nursery is ours, not the caller's: what one task raised comes out as it was raised.
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from group.exceptions[0].__cause__
        raise
    finally:
        for end in opened:
            end.close()
