"""What we ask a region on our own account."""

from __future__ import annotations

from live_grid.addresses import HostPolicy
from live_grid.circuit import Circuit
from live_grid.handover.curiosity import AGAIN_AFTER_S, DETAILS_AT_ONCE, OBJECTS_ASKED_MAX, OBJECTS_AT_ONCE, Curiosity
from live_grid.handover.link import Link
from live_grid.messages import Message
from live_grid.messages.objects import RequestMultipleObjects, RequestObjectPropertiesFamily
from live_grid.messages.people import UUIDNameRequest
from live_grid.packet import decode_packet_untrusted, read_message_untrusted
from live_grid.requests import Identity
from live_grid.world import Region, World

ADDRESS = ("127.0.0.1", 9000)
ME = Identity(agent_id=bytes(15) + b"\x01", session_id=b"\x5e" * 16, circuit_code=77, name="Mia Mine")


def scene() -> tuple[Curiosity, World, Link]:
    """Somebody curious in a region."""
    world = World(ME.agent_id)
    world.open_region(world.here)
    link = Link(ADDRESS, Circuit(ADDRESS, now=0.0), world.here, HostPolicy(hosts=frozenset()))
    return Curiosity(now=0.0), world, link


def asked(link: Link, now: float) -> list[Message]:
    """What leaves now."""
    packets = [decode_packet_untrusted(data) for data, _ in link.circuit.datagrams_to_send(now)]
    return [read_message_untrusted(packet) for packet in packets if packet.name != "StartPingCheck"]


def test_unknown_objects_are_asked_for_once_in_a_while() -> None:
    """Not twice within ten seconds, however often they are hinted at. Spec: LIV-5. Fault: 6."""
    curiosity, world, link = scene()
    curiosity.ask(ME, world, link, [link], 0.0)
    assert curiosity.due == 0.5
    curiosity.wonder(link, (5, 6, 5), 0.1)
    assert curiosity.due == 0.5
    curiosity.ask(ME, world, link, [link], 0.5)
    (message,) = asked(link, 0.5)
    assert isinstance(message, RequestMultipleObjects)
    assert [block.id for block in message.object_data] == [5, 6]
    curiosity.wonder(link, (5,), 1.0)
    curiosity.ask(ME, world, link, [link], 1.0)
    assert asked(link, 1.0) == []
    curiosity.ask(ME, world, link, [link], 0.5 + AGAIN_AFTER_S)
    curiosity.wonder(link, (5,), 11.0)
    curiosity.ask(ME, world, link, [link], 11.0)
    assert [type(message) for message in asked(link, 11.0)] == [RequestMultipleObjects]


def test_a_flood_of_hints_costs_a_bounded_number_of_questions() -> None:
    """A thousand are remembered, a hundred asked at once, the rest waits to be hinted at again. Fault: 6."""
    curiosity, world, link = scene()
    for number in range(100):
        curiosity.wonder(link, tuple(range(number * 100, number * 100 + 100)), 0.0)
    assert len(link.asked_objects) == OBJECTS_ASKED_MAX
    curiosity.ask(ME, world, link, [link], 0.0)
    (message,) = asked(link, 0.0)
    assert isinstance(message, RequestMultipleObjects)
    assert len(message.object_data) == OBJECTS_AT_ONCE
    curiosity.wonder(link, (77_777,), AGAIN_AFTER_S + 1)
    assert 77_777 in link.asked_objects


def test_names_of_things_and_people_are_asked_by_and_by() -> None:
    """Ten things and fifty people at once; what was asked is not asked again by itself. Spec: LIV-5."""
    curiosity, world, link = scene()
    for number in range(60):
        link.region.want(number.to_bytes(16, "big"))
        world.want_name((1000 + number).to_bytes(16, "big"))
    curiosity.ask(ME, world, link, [link], 0.0)
    kinds = [type(message) for message in asked(link, 0.0)]
    assert kinds == [RequestObjectPropertiesFamily] * DETAILS_AT_ONCE + [UUIDNameRequest]
    assert len(link.region.wanted) == 50
    assert len(world.names_wanted) == 10


def test_neighbours_are_asked_for_their_objects_only() -> None:
    """Names and prices over the border are nobody's business."""
    curiosity, world, link = scene()
    other = Link(("127.0.0.1", 9001), Circuit(("127.0.0.1", 9001), now=0.0), Region(), HostPolicy(hosts=frozenset()))
    other.region.want(bytes(16))
    curiosity.wonder(other, (9,), 0.0)
    curiosity.ask(ME, world, link, [link, other], 0.0)
    assert [type(message) for message in asked(other, 0.0)] == [RequestMultipleObjects]
