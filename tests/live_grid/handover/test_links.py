"""All links of a session."""

from __future__ import annotations

import pytest

from live_grid.addresses import HostPolicy
from live_grid.circuit import CircuitConfig
from live_grid.errors import LimitReached, RemoteProtocolError
from live_grid.event_queue import NeighbourFound
from live_grid.handover.links import NEIGHBOURS_KNOWN_MAX, Links
from live_grid.handover.tables import LinkInput
from live_grid.requests import Identity
from live_grid.world import World
from live_grid.world.bounds import REGIONS_MAX

ME = Identity(agent_id=bytes(15) + b"\x01", session_id=b"\x5e" * 16, circuit_code=77, name="Mia Mine")
POLICY = HostPolicy(hosts=frozenset({"127.0.0.1"}), http=True, loopback=True)
SEED = "http://127.0.0.1:9000/seed"


def some() -> Links:
    """No links yet."""
    return Links(ME, World(ME.agent_id), policy=POLICY, config=CircuitConfig())


def test_one_address_has_one_link() -> None:
    """Opening again finds it, and its circuit goes on counting. Spec: LIV-2, LIV-7."""
    links = some()
    link = links.open(("127.0.0.1", 9000), SEED, 0.0, handle=5, size=(512, 512))
    assert links.open(("127.0.0.1", 9000), SEED, 1.0) is link
    assert links.get(link.address) is link
    assert (link.region.handle, link.region.size_x) == (5, 512)
    assert len(links) == 1
    links.close(link)
    links.close(link)
    assert len(links) == 0
    assert links.get(link.address) is None


def test_a_neighbour_is_known_before_it_has_a_link() -> None:
    """Its place and size come first, its seed later; the list is bounded. Spec: LIV-5, BND-1."""
    links = some()
    for number in range(NEIGHBOURS_KNOWN_MAX + 1):
        found = NeighbourFound(address=("127.0.0.1", 9000 + number), region_handle=number + 1, size_x=512, size_y=1024)
        links.announce(found)
        links.announce(found)
    assert links.open(("127.0.0.1", 9000), SEED, 0.0).region.handle == 0
    region = links.open(("127.0.0.1", 9001), SEED, 0.0).region
    assert (region.handle, region.size_x, region.size_y) == (2, 512, 1024)


def test_nothing_is_opened_to_where_nobody_may_ask() -> None:
    """Neither by address nor by seed. Fault: 10."""
    links = some()
    with pytest.raises(RemoteProtocolError):
        links.open(("169.254.169.254", 9000), SEED, 0.0)
    with pytest.raises(RemoteProtocolError):
        links.open(("127.0.0.1", 9000), "http://192.0.2.1/", 0.0)
    assert len(links) == 0


def test_links_are_bounded() -> None:
    """A journey may take a neighbour's place, but not that of a region we are in or on the way to. Spec: BND-1."""
    links = some()
    for number in range(REGIONS_MAX):
        link = links.open(("127.0.0.1", 9000 + number), SEED, 0.0)
        link.step(LinkInput.CODE_DELIVERED)
        if number != 3:
            link.step(LinkInput.COMPLETE)
    with pytest.raises(LimitReached):
        links.open(("127.0.0.1", 9100), SEED, 0.0)
    links.open(("127.0.0.1", 9100), SEED, 0.0, instead_of_a_neighbour=True)
    assert links.get(("127.0.0.1", 9003)) is None
    for link in links:
        if link.address[1] == 9100:
            link.step(LinkInput.CODE_DELIVERED)
            link.step(LinkInput.COMPLETE)
    with pytest.raises(LimitReached):
        links.open(("127.0.0.1", 9101), SEED, 0.0, instead_of_a_neighbour=True)
