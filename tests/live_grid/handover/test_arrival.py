"""Being let into a region, step by step; the whole way is walked in the tests of the session and the course."""

from __future__ import annotations

from collections import deque

from live_grid.addresses import HostPolicy
from live_grid.circuit import CircuitConfig
from live_grid.handover.arrival import Arrival
from live_grid.handover.body import Body
from live_grid.handover.events import SessionEvent
from live_grid.handover.links import Links
from live_grid.handover.tables import LinkState
from live_grid.handover.travel import Travel, TravelTimes
from live_grid.requests import Identity
from live_grid.world import World
from live_grid.world.events import MovementCompleted

ME = Identity(agent_id=bytes(15) + b"\x01", session_id=b"\x5e" * 16, circuit_code=77, name="Mia Mine")
POLICY = HostPolicy(hosts=frozenset({"127.0.0.1"}), http=True, loopback=True)
SEED = "http://127.0.0.1:9000/seed"


def test_the_steps_of_an_arrival_come_in_order() -> None:
    """Each step waits for the one before; said out of turn it does nothing. Spec: LIV-7."""
    world = World(ME.agent_id)
    links = Links(ME, world, policy=POLICY, config=CircuitConfig())
    link = links.open(("127.0.0.1", 9000), SEED, 0.0)
    world.enter(link.region)
    events: deque[SessionEvent] = deque(maxlen=100)
    travel = Travel(link, now=0.0, times=TravelTimes())
    arrival = Arrival(ME, world, travel, body=Body(now=0.0, far=64.0), events=events)
    done = MovementCompleted((1.0, 2.0, 3.0), (1.0, 0.0, 0.0), 5)
    arrival.complete()
    arrival.present(link, done, 0.0)
    assert link.state is LinkState.OPENING
    arrival.code_delivered(link, 1.0)
    assert arrival.complete_at == 1.5
    arrival.complete()
    assert (arrival.complete_at, link.state) == (None, LinkState.ENTERING)
    arrival.described(link)
    assert not events
    link.circuit.close()
    arrival.ask_presence(link)
    assert link.movement_token == -1
    arrival.present(link, done, 2.0)
    assert arrival.description_due() == 4.0
    arrival.ask_description(link)
    assert arrival.description_due() == 12.0
    arrival.ask_description(link)
    assert arrival.description_due() is None
    assert [type(event).__name__ for event in events] == ["RegionEntered"]
    arrival.described(link)
    assert len(events) == 1
