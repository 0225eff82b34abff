"""Journeys: teleports near and far, borders, neighbours, refusals, and what goes wrong on the way."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live_grid.circuit.state import CircuitState
from live_grid.handover import EndCause, Journey, SessionEnded, SessionSettings
from live_grid.handover.events import How, JourneyEnded, RegionEntered
from live_grid.handover.tables import LinkState, TravelState
from live_grid.messages import Message
from live_grid.messages.avatars import AvatarSitResponse
from live_grid.messages.objects import ImprovedTerseObjectUpdate
from live_grid.requests.moving import ask_seat
from live_grid.requests.speaking import say
from live_grid.requests.travelling import teleport
from live_grid.world.bounds import REGIONS_MAX
from live_grid.world.events import AvatarChanged, AvatarLeft
from tests.live_grid.handover.fake_grid import FakeGrid, FakeRegion, disabled, failed, local, started

BEN = bytes(15) + b"\x02"
CLEO = bytes(15) + b"\x03"
SOMEBODY = UUID(bytes=BEN)


def asked(grid: FakeGrid) -> None:
    """Ask for a teleport to the garden."""
    grid.session.send(teleport(grid.session.me, grid.garden.handle, (1.0, 2.0, 3.0)), grid.now)
    grid.run(0.5)


def entered(**changes: object) -> FakeGrid:
    """A grid, and us in its plaza."""
    grid = FakeGrid(**changes)
    grid.enter()
    grid.run(0.5)
    return grid


def where(grid: FakeGrid) -> str:
    """The region that has authority, if any."""
    link = grid.session.travel.authority
    return "" if link is None else grid.regions[link.address].name


def test_a_teleport_goes_to_another_region() -> None:
    """Code, movement, arrival; the old region is a neighbour then. Spec: LIV-7."""
    grid = entered()
    grid.session.world.here.add_avatar(BEN)
    asked(grid)
    grid.plaza.send(started())
    grid.plaza.events.append(grid.garden.finish())
    grid.run(until=lambda: grid.session.travel.state is TravelState.MOVING)
    assert where(grid) == ""
    grid.run(2.0)
    assert where(grid) == "Garden"
    assert grid.seen("RegionEntered")[-1] == RegionEntered(How.TELEPORT, "Garden", (10.0, 20.0, 30.0), 256, 256)
    assert grid.seen("JourneyEnded") == [JourneyEnded(Journey.ARRIVED, (10.0, 20.0, 30.0))]
    assert AvatarLeft(BEN) in grid.events
    assert grid.garden.names()[0] == "UseCircuitCode"
    assert "MoneyBalanceRequest" not in grid.garden.names()
    grid.session.send(say(grid.session.me, "hello"), grid.now)
    grid.run(0.5)
    assert grid.garden.names()[-1] == "ChatFromViewer"
    grid.plaza.send(disabled())
    grid.run(1.0)
    assert where(grid) == "Garden"
    assert grid.session.statistics().links == 1


def test_there_and_back_three_times_on_the_same_circuits() -> None:
    """A circuit that becomes root again goes on counting; no packet is taken for a duplicate. Spec: LIV-2, LIV-7."""
    grid = entered()
    circuits = None
    for here, there in [(grid.plaza, grid.garden), (grid.garden, grid.plaza)] * 3:
        grid.session.send(teleport(grid.session.me, there.handle, (1.0, 2.0, 3.0)), grid.now)
        grid.run(0.2)
        here.events.append(there.finish())
        grid.run(3.0)
        assert where(grid) == there.name
        circuits = circuits or (grid.plaza.circuit, grid.garden.circuit)
        assert (grid.plaza.circuit, grid.garden.circuit) == circuits
    assert grid.plaza.names().count("CompleteAgentMovement") == 4
    assert grid.plaza.circuit.statistics().duplicates == 0
    assert len(grid.seen("JourneyEnded")) == 6


def test_a_region_without_a_second_handshake_is_asked() -> None:
    """The way back may bring no handshake; it is answered unasked, and a name is asked for. Spec: LIV-7."""
    grid = entered()
    grid.garden.handshakes = False
    asked(grid)
    grid.plaza.events.append(grid.garden.finish())
    grid.run(4.0)
    names = grid.garden.names()
    assert "RegionHandshakeReply" in names
    assert "RequestRegionInfo" in names
    assert len(grid.seen("RegionEntered")) == 1
    grid.run(10.0)
    assert grid.seen("RegionEntered")[-1] == RegionEntered(How.TELEPORT, "", (10.0, 20.0, 30.0), 256, 256)
    assert grid.seen("JourneyEnded")


def test_a_teleport_can_end_in_the_same_region() -> None:
    """Asked for or not. Spec: LIV-7."""
    grid = entered()
    asked(grid)
    grid.plaza.send(local())
    grid.run(0.5)
    assert grid.seen("JourneyEnded") == [JourneyEnded(Journey.ARRIVED, (50.0, 60.0, 25.0))]
    assert grid.session.travel.state is TravelState.PRESENT
    grid.plaza.send(local())
    grid.run(0.5)
    assert len(grid.seen("JourneyEnded")) == 2
    assert grid.session.body.heading_deg == 0


def test_a_refusal_keeps_us_where_we_are() -> None:
    """It comes over UDP; one that nobody waits for is noise. Spec: LIV-7."""
    grid = entered()
    grid.plaza.send(failed())
    grid.run(0.5)
    assert not grid.seen("JourneyEnded")
    asked(grid)
    grid.plaza.send(failed())
    grid.run(0.5)
    (ended,) = grid.seen("JourneyEnded")
    assert isinstance(ended, JourneyEnded)
    assert (ended.how, ended.reason) == (Journey.REFUSED, "no way")
    assert where(grid) == "Plaza"


def test_a_refusal_after_the_news_brings_us_back() -> None:
    """The new region stays silent, and the old one has us again after its own time. Spec: LIV-7. Fault: 9."""
    grid = entered()
    grid.garden.lets_in = False
    asked(grid)
    grid.plaza.events.append(grid.garden.finish())
    grid.run(5.0)
    assert where(grid) == ""
    grid.plaza.send(failed())
    grid.run(0.5)
    assert where(grid) == "Plaza"
    garden = grid.session._links.get(grid.garden.address)
    assert garden is not None
    assert garden.state is LinkState.CHILD
    grid.garden.lets_in = True
    asked(grid)
    grid.plaza.events.append(grid.garden.finish())
    grid.run(3.0)
    assert where(grid) == "Garden"
    grid.plaza.send(failed())
    grid.run(1.0)
    assert where(grid) == "Garden"


def test_a_teleport_without_any_news_is_in_doubt_and_then_over() -> None:
    """The region goes on talking to us: we are still here, and nobody knows more. Spec: LIV-7. Fault: 9."""
    grid = entered()
    asked(grid)
    grid.run(61.0)
    assert grid.session.travel.state is TravelState.DOUBTFUL
    assert where(grid) == "Plaza"
    grid.run(31.0)
    (ended,) = grid.seen("JourneyEnded")
    assert isinstance(ended, JourneyEnded)
    assert ended.how is Journey.UNKNOWN
    assert grid.session.travel.state is TravelState.PRESENT


def test_a_broken_answer_in_the_middle_of_a_teleport_is_doubt_at_once() -> None:
    """It may have held the news; what comes after it still counts. Spec: LIV-7."""
    grid = entered()
    asked(grid)
    grid.session.receive_failure(grid.plaza.polls.pop(), grid.now)
    assert grid.session.travel.state is TravelState.DOUBTFUL
    grid.run(3.0)
    grid.plaza.events.append(grid.garden.finish())
    grid.run(3.0)
    assert where(grid) == "Garden"
    malformed = entered()
    asked(malformed)
    malformed.plaza.events.append(("TeleportFinish", {}))
    malformed.run(0.5)
    assert malformed.session.travel.state is TravelState.DOUBTFUL
    assert malformed.session.statistics().malformed_events == 1
    malformed.plaza.send(local())
    malformed.run(0.5)
    assert malformed.session.travel.state is TravelState.PRESENT
    unread = entered()
    asked(unread)
    unread.session.receive_response(unread.plaza.polls.pop(), 200, b"<html>", unread.now)
    assert unread.session.travel.state is TravelState.DOUBTFUL


def test_a_journey_into_nothing_ends_the_session() -> None:
    """Sent away, and the new region never answers, nor does the old one take us back. Fault: 9."""
    grid = entered()
    grid.garden.lets_in = False
    asked(grid)
    grid.plaza.events.append(grid.garden.finish())
    grid.run(80.0)
    assert grid.seen("SessionEnded") == [SessionEnded(EndCause.STRANDED)]


@pytest.mark.parametrize("back", [True, False])
def test_a_region_that_dies_before_we_are_in_it(*, back: bool) -> None:
    """The old region may have us back; if it says nothing, we are nowhere. Fault: 9."""
    grid = entered()
    grid.garden.lets_in = False
    asked(grid)
    grid.plaza.events.append(grid.garden.finish())
    grid.run(1.0)
    grid.garden.send(disabled())
    grid.run(1.0)
    assert grid.session.travel.state is TravelState.DOUBTFUL
    assert where(grid) == ""
    if back:
        grid.plaza.send(failed())
    grid.run(31.0)
    assert where(grid) == ("Plaza" if back else "")
    assert bool(grid.seen("SessionEnded")) is not back


def test_a_region_that_dies_while_we_doubt_is_not_waited_for() -> None:
    """Losing the target in doubt changes nothing but the target."""
    grid = entered()
    grid.garden.lets_in = False
    asked(grid)
    grid.plaza.events.append(grid.garden.finish())
    grid.run(45.0)
    assert grid.session.travel.state is TravelState.DOUBTFUL
    grid.garden.send(disabled())
    grid.run(1.0)
    assert grid.session.travel.target is None
    assert grid.session.travel.state is TravelState.DOUBTFUL


def test_the_old_region_may_hang_up_before_we_have_arrived() -> None:
    """Once we are sent away, its end is not ours. Spec: LIV-7."""
    grid = entered()
    grid.garden.lets_in = False
    asked(grid)
    grid.plaza.events.append(grid.garden.finish())
    grid.run(1.0)
    grid.plaza.send(disabled())
    grid.run(1.0)
    assert grid.session.travel.state is TravelState.MOVING
    grid.garden.send(grid.garden.movement_complete())
    grid.run(1.0)
    assert where(grid) == "Garden"


def test_a_border_is_crossed_on_foot() -> None:
    """The neighbour is known before; code and movement at once, no second handshake. Spec: LIV-7."""
    grid = entered()
    grid.plaza.events += grid.garden.neighbour()
    grid.run(1.0)
    assert grid.garden.names()[0] == "UseCircuitCode"
    assert set(grid.garden.names()[1:]) == {"RegionHandshakeReply", "AgentThrottle"}
    garden = grid.session._links.get(grid.garden.address)
    assert garden is not None
    assert garden.region.handle == grid.garden.handle
    garden.region.add_avatar(CLEO)
    assert len(grid.garden.polls) == 1
    grid.garden.handshakes = False
    grid.plaza.events.append(grid.garden.crossed())
    grid.run(1.0)
    assert where(grid) == "Garden"
    assert grid.seen("RegionEntered")[-1] == RegionEntered(How.CROSSING, "Garden", (10.0, 20.0, 30.0), 256, 256)
    assert not grid.seen("JourneyEnded")
    names = grid.garden.names()
    assert names[3:5] == ["UseCircuitCode", "CompleteAgentMovement"]
    assert names.count("AgentThrottle") == 1
    assert AvatarChanged(CLEO) in grid.events
    assert grid.session._links.get(grid.plaza.address).state is LinkState.CHILD  # type: ignore[union-attr]


def test_neighbours_can_be_left_alone() -> None:
    """Then no circuit is opened to them, and a border leads to a new one. Spec: LIV-7."""
    grid = entered(settings=SessionSettings(neighbours=False))
    grid.plaza.events += grid.garden.neighbour()
    grid.run(1.0)
    assert grid.garden.names() == []
    grid.plaza.events.append(grid.garden.crossed())
    grid.run(2.0)
    assert where(grid) == "Garden"


def test_a_neighbour_that_goes_is_no_matter() -> None:
    """Its circuit ends, ours lives. Spec: LIV-7."""
    grid = entered()
    grid.plaza.events += grid.garden.neighbour()
    grid.run(1.0)
    grid.garden.send(disabled())
    grid.run(1.0)
    assert where(grid) == "Plaza"
    assert grid.session.statistics().links == 1


@pytest.mark.parametrize("what", ["metadata", "seed", "stranger", "session"])
def test_news_that_may_not_be_followed_are_counted(what: str) -> None:
    """An address or seed elsewhere, and news for somebody else. Fault: 10."""
    grid = entered()
    away = {"SimIP": bytes((169, 254, 169, 254))} if what == "metadata" else {"SeedCapability": "file:///etc/passwd"}
    news = {
        "metadata": [grid.garden.finish(**away), grid.garden.neighbour(**{"sim-ip-and-port": "169.254.169.254:1"})[1]],
        "seed": [grid.garden.finish(**away), grid.garden.neighbour(**{"seed-capability": "http://example.com/"})[1]],
        "stranger": [grid.garden.finish(AgentID=SOMEBODY), grid.garden.neighbour(**{"agent-id": SOMEBODY})[1]],
        "session": [grid.garden.crossed(SessionID=SOMEBODY), grid.garden.crossed(AgentID=SOMEBODY)],
    }[what]
    grid.plaza.events += news
    grid.run(1.0)
    assert grid.session.statistics().refused_regions == 2
    assert grid.session.statistics().links == 1
    assert where(grid) == "Plaza"


def test_only_our_region_says_where_we_go() -> None:
    """A neighbour's queue cannot move us. Spec: LIV-7."""
    grid = entered()
    grid.plaza.events += grid.garden.neighbour()
    grid.run(1.0)
    third = grid.add_region("Third", 256512, 9002)
    grid.garden.events.append(third.finish())
    grid.run(1.0)
    assert grid.session.statistics().refused_regions == 1
    assert third.names() == []
    grid.plaza.events.append(grid.plaza.finish())
    grid.run(1.0)
    assert where(grid) == "Plaza"


def test_news_said_twice_and_news_that_change() -> None:
    """The same target again changes nothing; another one takes its place. Spec: LIV-7."""
    grid = entered()
    third = grid.add_region("Third", 256512, 9002)
    grid.garden.lets_in = False
    grid.plaza.events.append(grid.garden.finish())
    grid.run(1.0)
    grid.plaza.events += [grid.garden.finish(), third.finish()]
    grid.run(2.0)
    assert where(grid) == "Third"
    assert grid.session._links.get(grid.garden.address).state is LinkState.CHILD  # type: ignore[union-attr]


def test_a_journey_makes_room_among_neighbours() -> None:
    """One neighbour too many is not taken in; a journey takes a neighbour's place. Spec: BND-1."""
    grid = entered()
    neighbours = [grid.add_region(f"N {number}", 300000 + 256 * number, 9100 + number) for number in range(REGIONS_MAX)]
    for region in neighbours:
        grid.plaza.events += region.neighbour()
    grid.run(2.0)
    assert grid.session.statistics().links == REGIONS_MAX
    assert grid.session.statistics().refused_regions == 1
    asked(grid)
    grid.plaza.events.append(grid.garden.finish())
    grid.run(3.0)
    assert where(grid) == "Garden"
    assert grid.session.statistics().links == REGIONS_MAX


def test_news_during_a_logout_or_an_entry_are_not_followed() -> None:
    """Only somebody who is somewhere can be sent elsewhere."""
    grid = FakeGrid()
    grid.plaza.lets_in = False
    grid.run(0.5)
    grid.plaza.events += [*grid.garden.neighbour()[:1], grid.garden.finish()]
    grid.run(1.0)
    assert grid.garden.names() == []
    assert grid.session.statistics().refused_regions == 1
    grid.plaza.send(disabled())
    grid.run(1.0)
    assert grid.seen("SessionEnded") == [SessionEnded(EndCause.REGION_DOWN)]
    leaving = entered()
    leaving.plaza.events.append(leaving.garden.finish())
    leaving.cut = True
    leaving.session.log_out(leaving.now)
    leaving.run(1.0)
    assert leaving.garden.names() == []
    leaving.plaza.events.append(leaving.garden.finish())


def test_a_circuit_that_closes_during_the_logout_is_its_end() -> None:
    """Some simulators answer with the end of the circuit alone. Spec: SUP-9."""
    grid = entered()
    grid.session.log_out(grid.now)
    grid.plaza.send(disabled())
    grid.session.receive_datagram_untrusted(
        grid.plaza.circuit.datagrams_to_send(grid.now)[0][0], grid.plaza.address, grid.now
    )
    assert grid.session.next_event(grid.now) == SessionEnded(EndCause.LOGGED_OUT)


def seat_of(object_id: bytes) -> AvatarSitResponse:
    """A seat is given."""
    zero = (0.0, 0.0, 0.0)
    transform = AvatarSitResponse.SitTransform(False, zero, zero, zero, zero, False)
    return AvatarSitResponse(sit_object=AvatarSitResponse.SitObject(object_id), sit_transform=transform)


def test_a_seat_is_taken_only_while_it_is_wanted() -> None:
    """One that comes after we stood up, or that nobody asked for, is left. Spec: LIV-7."""
    grid = entered()
    grid.plaza.send(seat_of(BEN))
    grid.run(0.5)
    grid.session.send(ask_seat(grid.session.me, BEN), grid.now)
    grid.session.body.stand_up(grid.now)
    grid.plaza.send(seat_of(BEN))
    grid.run(0.5)
    assert "AgentSit" not in grid.plaza.names()
    grid.session.send(ask_seat(grid.session.me, BEN), grid.now)
    grid.plaza.send(seat_of(CLEO))
    grid.plaza.send(seat_of(BEN))
    grid.plaza.send(seat_of(BEN))
    grid.run(0.5)
    assert grid.plaza.names().count("AgentSit") == 1


def test_unknown_things_are_asked_for() -> None:
    """The objects a region only hints at. Spec: LIV-5. Fault: 6."""
    grid = entered()
    hint = ImprovedTerseObjectUpdate.ObjectData(b"\x09\0\0\0" + bytes(60), b"")
    region = ImprovedTerseObjectUpdate.RegionData(0, 0)
    grid.plaza.send(ImprovedTerseObjectUpdate(region_data=region, object_data=(hint,)))
    grid.run(1.0)
    assert "RequestMultipleObjects" in grid.plaza.names()


def ask_if_allowed(grid: FakeGrid) -> None:
    """Ask for a teleport, where that is possible."""
    if grid.session.travel.state is TravelState.PRESENT:
        grid.session.send(teleport(grid.session.me, grid.garden.handle, (1.0, 2.0, 3.0)), grid.now)


def speak(region: FakeRegion, message: Message) -> None:
    """Let a region say something, if it has a circuit."""
    if region.circuit is not None and region.circuit.state is CircuitState.OPEN:
        region.send(message)


def break_poll(grid: FakeGrid) -> None:
    """Lose an answer of the queue."""
    if grid.plaza.polls:
        grid.session.receive_failure(grid.plaza.polls.pop(), grid.now)


def cut(grid: FakeGrid) -> None:
    """Cut the wire, or mend it."""
    grid.cut = not grid.cut


DEEDS = {
    "ask": ask_if_allowed,
    "finish": lambda grid: grid.plaza.events.append(grid.garden.finish()),
    "finish back": lambda grid: grid.garden.events.append(grid.plaza.finish()),
    "cross": lambda grid: grid.plaza.events.append(grid.garden.crossed()),
    "neighbour": lambda grid: grid.plaza.events.extend(grid.garden.neighbour()),
    "local": lambda grid: speak(grid.plaza, local()),
    "fail": lambda grid: speak(grid.plaza, failed()),
    "disable": lambda grid: speak(grid.plaza, disabled()),
    "queue": break_poll,
    "cut": cut,
    "wait": lambda grid: grid.run(2.0),
    "long": lambda grid: grid.run(35.0),
}


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(DEEDS)), max_size=8))
def test_whatever_happens_at_most_one_region_has_authority(deeds: list[str]) -> None:
    """In any order of news, losses and silence: one root at most, and it is the one that has authority. Fault: 9."""
    grid = entered()
    seen: list[bool] = []

    def one_root() -> bool:
        roots = [link for link in grid.session._links if link.state is LinkState.ROOT]
        authority = grid.session.travel.authority
        seen.append(len(roots) <= 1 and (authority is None or authority in roots))
        return not seen[-1]

    for deed in deeds:
        DEEDS[deed](grid)
        grid.run(0.3, until=one_root)
    assert all(seen)
    assert len(grid.seen("SessionEnded")) <= 1


def test_a_neighbour_that_says_we_have_come_is_not_believed() -> None:
    """Where we are stays, and so does what is judged of what we see there. Spec: LIV-7, LIV-12."""
    grid = entered()
    grid.plaza.events += grid.garden.neighbour()
    grid.run()
    watch = grid.session._course.world_watch
    settles_at = watch._settles_at
    grid.garden.send(grid.garden.movement_complete())
    grid.run()
    assert where(grid) == "Plaza"
    assert grid.session.travel.state is TravelState.PRESENT
    assert watch._settles_at == settles_at
