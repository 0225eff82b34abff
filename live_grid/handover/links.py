"""All links of a session: opened to vetted addresses, found by address, closed one by one.

Owns the table of links and what is known of neighbours before they have one. Decides nothing about journeys. One
address has one link, whose circuit lives until the simulator ends it: its sequence numbers must never begin again
while the other side still counts (Spec: LIV-2, LIV-7; Fault: 10).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from live_grid.addresses import HostPolicy, vet_ip
from live_grid.circuit import Address, Circuit, CircuitConfig
from live_grid.errors import LimitReached
from live_grid.event_queue import NeighbourFound
from live_grid.handover.link import Link
from live_grid.handover.tables import LinkState
from live_grid.requests import Identity
from live_grid.requests.arriving import open_circuit
from live_grid.world import WANTED, Region, World
from live_grid.world.bounds import REGIONS_MAX

__all__ = ("Links",)

NEIGHBOURS_KNOWN_MAX: Final = 16
"""Neighbours that were announced and have no link yet; the oldest makes room."""


class Links:
    """The links of one session.

    Args:
        me: who we are, on every circuit the same.
        world: where their regions are kept.
        policy: whom addresses may lead to.
        config: of every circuit.
    """

    __slots__ = ("_by_address", "_config", "_me", "_neighbours", "_policy", "_world")

    def __init__(self, me: Identity, world: World, *, policy: HostPolicy, config: CircuitConfig) -> None:
        self._me = me
        self._world = world
        self._policy = policy
        self._config = config
        self._by_address: dict[Address, Link] = {}
        self._neighbours: dict[Address, NeighbourFound] = {}

    def __len__(self) -> int:
        return len(self._by_address)

    def __iter__(self) -> Iterator[Link]:
        return iter(tuple(self._by_address.values()))

    def get(self, address: Address) -> Link | None:
        """Find the link to an address."""
        return self._by_address.get(address)

    def announce(self, found: NeighbourFound) -> None:
        """Remember a neighbour for the day it gets a link."""
        if len(self._neighbours) >= NEIGHBOURS_KNOWN_MAX and found.address not in self._neighbours:
            del self._neighbours[next(iter(self._neighbours))]
        self._neighbours[found.address] = found

    def open(
        self,
        address: Address,
        seed: str,
        now: float,
        *,
        handle: int = 0,
        size: tuple[int, int] = (256, 256),
        instead_of_a_neighbour: bool = False,
    ) -> Link:
        """Find the link to an address, or open one; either way it has this seed from now on.

        Args:
            address: of the simulator.
            seed: of the region there.
            now: seconds.
            handle: of the region, if it is known.
            size: of the region, in metres.
            instead_of_a_neighbour: a neighbour's link makes room if there are too many.

        Raises:
            RemoteProtocolError: address or seed may not be asked; nothing was opened (Fault: 10).
            LimitReached: there are too many links.
        """
        vet_ip(address[0], self._policy)
        link = self._by_address.get(address)
        if link is not None:
            link.set_seed(seed)
            return link
        known = self._neighbours.get(address)
        if known is not None and not handle:
            handle, size = known.region_handle, (known.size_x, known.size_y)
        region = Region(handle=handle, size_x=size[0], size_y=size[1])
        session = (self._me.agent_id, self._me.session_id)
        circuit = Circuit(address, now=now, session=session, wanted=WANTED, config=self._config)
        link = Link(address, circuit, region, self._policy)
        link.set_seed(seed)
        if instead_of_a_neighbour and len(self._by_address) >= REGIONS_MAX:
            self._close_a_neighbour()
        if not self._world.open_region(region):
            raise LimitReached("regions", allowed=REGIONS_MAX)
        self._by_address[address] = link
        self._neighbours.pop(address, None)
        (link.code_token,) = link.send(open_circuit(self._me))
        return link

    def _close_a_neighbour(self) -> None:
        for link in self:
            if link.state in {LinkState.OPENING, LinkState.CHILD}:
                self.close(link)
                return

    def close(self, link: Link) -> None:
        """End a link and forget its region."""
        link.close()
        if self._by_address.get(link.address) is link:
            del self._by_address[link.address]
        self._world.close_region(link.region)
