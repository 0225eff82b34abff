"""Events that say where a region is."""

from __future__ import annotations

from uuid import UUID

import pytest
from msgspec.structs import replace

from benchmarks.captures import exchanges
from live_grid.errors import RemoteProtocolError
from live_grid.event_queue import (
    NeighbourFound,
    NeighbourReady,
    QueueEvent,
    RegionCrossed,
    RegionEvent,
    TeleportFinished,
    read_region_event_untrusted,
)
from live_grid.event_queue.answer import read_answer_untrusted

NEXTLAND = (256256 << 32) | 256000
BOT = UUID("00000000-0000-0000-0000-0000000000bb").bytes
GUEST = UUID("00000000-0000-0000-0000-0000000000cc").bytes


def recorded(name: str) -> list[QueueEvent]:
    """All events of a recording."""
    return [
        event
        for one in exchanges(name)
        if one.path.startswith("/CE/")
        for event in read_answer_untrusted(one.status, one.body).events
    ]


def regions(name: str) -> list[RegionEvent]:
    """All events of a recording that say where a region is."""
    return [found for event in recorded(name) if (found := read_region_event_untrusted(event)) is not None]


def test_a_recorded_crossing_is_read() -> None:
    """Neighbour found, neighbour ready, border crossed: one region, one seed. Spec: LIV-7."""
    found, ready, crossed = regions("crossing_on_foot")
    assert found == NeighbourFound(address=("127.0.0.1", 9001), region_handle=NEXTLAND)
    assert isinstance(ready, NeighbourReady)
    assert isinstance(crossed, RegionCrossed)
    assert ready.address == crossed.address == ("127.0.0.1", 9001)
    assert ready.seed == crossed.seed
    assert ready.agent_id == crossed.agent_id == BOT
    assert (crossed.region_handle, crossed.look_at) == (NEXTLAND, (0.0, 0.0, 0.0))
    assert crossed.position == pytest.approx((1.428619, 128.0, 4.897127))
    assert (crossed.size_x, crossed.size_y) == (256, 256)


def test_a_recorded_teleport_is_read() -> None:
    """Address, handle, seed, access and flags. Spec: LIV-7."""
    finished = [event for event in regions("return_teleport_new_socket") if isinstance(event, TeleportFinished)]
    assert [event.region_handle for event in finished] == [NEXTLAND, (256000 << 32) | 256000]
    assert finished[0].address == ("127.0.0.1", 9001)
    assert (finished[0].agent_id, finished[0].sim_access, finished[0].teleport_flags) == (GUEST, 13, 0x10)


def test_events_show_no_seed() -> None:
    """Whoever knows it acts as us."""
    events = [*regions("crossing_on_foot"), *regions("return_teleport_new_socket")]
    assert len(events) == 7
    assert all(("CAPS" not in repr(event) and "9001" in repr(event)) or "9000" in repr(event) for event in events)


def test_other_events_say_nothing_of_the_kind() -> None:
    """They are for somebody else to read."""
    assert read_region_event_untrusted(QueueEvent(name="ParcelProperties", body={})) is None


def test_an_impossible_size_is_no_size() -> None:
    """A region without a size is 256 metres, as Second Life's are."""
    event = next(event for event in recorded("crossing_on_foot") if event.name == "EnableSimulator")
    (block,) = event.body["SimulatorInfo"]  # type: ignore[misc]
    for size, metres in ((b"\0\0\2\0", 512), (0, 256), (-1, 256)):
        body = {"SimulatorInfo": [block | {"RegionSizeX": size}]}  # type: ignore[operator]
        read = read_region_event_untrusted(replace(event, body=body))
        assert isinstance(read, NeighbourFound)
        assert (read.size_x, read.size_y) == (metres, 256)


@pytest.mark.parametrize("address", ["", "127.0.0.1", "256.0.0.1:9000", "127.0.0.1:0", "127.0.0.1:65536", "host:9000"])
def test_a_neighbour_without_an_address_is_refused(address: str) -> None:
    """Names are not resolved here, and impossible numbers lead nowhere. Fault: 12."""
    body = {"agent-id": UUID(int=1), "sim-ip-and-port": address, "seed-capability": "http://x/"}
    with pytest.raises(RemoteProtocolError, match="sim-ip-and-port"):
        read_region_event_untrusted(QueueEvent(name="EstablishAgentCommunication", body=body))


@pytest.mark.parametrize("name", ["EnableSimulator", "EstablishAgentCommunication", "TeleportFinish", "CrossedRegion"])
def test_an_empty_event_is_refused(name: str) -> None:
    """One that does not say where is malformed. Fault: 12."""
    with pytest.raises(RemoteProtocolError):
        read_region_event_untrusted(QueueEvent(name=name, body={}))
