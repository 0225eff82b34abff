"""One circuit with one region: what is shown on it, and how much may wait."""

from __future__ import annotations

import pytest

from gridagent.actions import Position
from gridagent.grid.simulated import Thing, World
from live_grid.circuit import Circuit, CircuitEnded, MessageReceived
from live_grid.errors import IllegalTransition
from live_grid.messages.circuits import CloseCircuit, PacketAck
from live_grid.messages.objects import KillObject, ObjectUpdate, ObjectUpdateCached
from live_grid.simulator.local_ids import LocalIds
from live_grid.simulator.mailbox import Mailbox
from live_grid.simulator.places import Places
from live_grid.simulator.profiles import OPENSIM
from live_grid.simulator.visit import OPEN_MAX, VISIT_TABLE, Visit, VisitInput, VisitState

VIEWER, SIMULATOR = ("127.0.0.1", 50_000), ("127.0.0.1", 9_000)
SESSION = (b"a" * 16, b"s" * 16)


class Pair:
    """A visit and the viewer at its other end."""

    def __init__(self, world: World) -> None:
        place = Places(world.regions(), [SIMULATOR, ("127.0.0.1", 9_001), ("127.0.0.1", 9_002)])[0]
        self.ids = LocalIds(place.region, first=1)
        self.visit = Visit(place, self.ids, Mailbox(OPENSIM, first_id=1), seed="CAPS/x", now=0.0)
        self.visit.open_circuit(VIEWER, SESSION, (), 0.0, ack_delay_s=0.0)
        self.viewer = Circuit(SIMULATOR, now=0.0, session=SESSION)
        self.ada = world.avatars()[0]
        self.now = 0.0

    def show(self, *, cached_first: bool = False) -> list[object]:
        """Let everything be shown and acknowledged until nothing moves."""
        seen: list[object] = []
        for _ in range(20):
            self.now += 0.25
            while self.visit.waiting:
                self.visit.show(self.ada, self.now, cached_first=cached_first)
            for data, _ in self.visit.circuit.datagrams_to_send(self.now):
                self.viewer.receive_datagram_untrusted(data, SIMULATOR, self.now)
            for data, _ in self.viewer.datagrams_to_send(self.now + 0.2):
                self.visit.circuit.receive_datagram_untrusted(data, VIEWER, self.now)
            list(self.visit.heard())
            while (event := self.viewer.next_event()) is not None:
                if isinstance(event, MessageReceived):
                    seen.append(event.message)
        return seen


@pytest.fixture
def pair(world: World) -> Pair:
    """Return a visit of the Plaza."""
    return Pair(world)


def test_a_visit_without_a_circuit_says_nothing(world: World, pair: Pair) -> None:
    """Messages go nowhere, and nothing waits. Spec: LIV-15."""
    silent = Visit(pair.visit.place, pair.ids, pair.visit.mailbox, seed="CAPS/y", now=0.0)
    silent.mark_all(world.regions()[0])
    assert not silent.say(CloseCircuit())
    assert not silent.waiting
    assert list(silent.heard()) == []


def test_everything_is_shown_once(world: World, pair: Pair) -> None:
    """However often it is marked, each thing comes once, in full, and is known from then on. Spec: LIV-5, LIV-15."""
    for _ in range(3):
        pair.visit.mark_all(world.regions()[0])
    shown = [block.id for message in pair.show() if isinstance(message, ObjectUpdate) for block in message.object_data]
    assert sorted(shown) == [1, 2, 3, 4]
    assert [pair.visit.find(number) for number in shown] == list(world.regions()[0].objects)


def test_a_region_of_thousands_is_shown_as_acks_come_in(world: World, pair: Pair) -> None:
    """Never more than so many messages wait for an ack, and in the end everything was shown. Spec: LIV-15; Fault: 6."""
    for number in range(1_500):
        world.add_object(
            "Plaza", owner_id=pair.ada, position=Position(x=1.0, y=1.0, z=22.0), thing=Thing(name=f"T{number}")
        )
    pair.visit.mark_all(world.regions()[0])
    pair.visit.show(pair.ada, 0.0, cached_first=False)
    while pair.visit.waiting:
        pair.visit.show(pair.ada, 0.0, cached_first=False)
    assert pair.visit._open <= OPEN_MAX + 40
    shown = {block.id for message in pair.show() if isinstance(message, ObjectUpdate) for block in message.object_data}
    assert len(shown) == 1_504
    assert pair.visit.unsaid == 0


def test_objects_are_named_by_checksum_to_a_client_that_may_know_them(world: World, pair: Pair) -> None:
    """But in full when its cache is empty, and when it has just built them. Spec: LIV-5, LIV-15."""
    region = world.regions()[0]
    bench, bell, *_ = region.objects
    pair.visit.selected[bell] = None
    pair.visit.mark_all(region)
    seen = pair.show(cached_first=True)
    assert [len(message.object_data) for message in seen if isinstance(message, ObjectUpdateCached)] == [3]
    (full,) = [message for message in seen if isinstance(message, ObjectUpdate)]
    assert full.object_data[0].update_flags & 2
    pair.visit.mark(bench)
    assert [type(message) for message in pair.show(cached_first=True)] == [ObjectUpdate]
    pair.visit.show_again(bench)
    pair.visit.cache_is_empty = True
    assert [type(message) for message in pair.show(cached_first=True)] == [ObjectUpdate]


def test_what_goes_is_told_only_if_it_was_shown(world: World, pair: Pair) -> None:
    """And what went before it was shown never is. Spec: LIV-5."""
    bench, bell, *_ = world.regions()[0].objects
    pair.visit.mark(bench)
    pair.visit.mark(bell)
    pair.visit.forget(bell)
    pair.show()
    pair.visit.forget(bench)
    pair.visit.mark("nobody")
    assert [type(message) for message in pair.show()] == [KillObject]


def test_a_scene_can_be_forgotten_and_shown_anew(world: World, pair: Pair) -> None:
    """As when an avatar comes back. Spec: LIV-7."""
    pair.visit.mark_all(world.regions()[0])
    pair.show()
    pair.visit.forget_scene()
    pair.visit.mark_all(world.regions()[0])
    assert sum(len(message.object_data) for message in pair.show() if isinstance(message, ObjectUpdate)) == 4


def test_a_client_that_acknowledges_nothing_fills_no_memory(pair: Pair) -> None:
    """What finds no room on the circuit is counted and gone. Spec: LIV-15."""
    for _ in range(1_000):
        pair.visit.say(PacketAck(packets=(PacketAck.Packets(1),)))
    assert pair.visit.unsaid > 0
    assert pair.visit.circuit.statistics().waiting <= 1_024


def test_the_end_of_a_circuit_is_heard(pair: Pair) -> None:
    """The client says goodbye; afterwards nothing can be said. Spec: LIV-2."""
    pair.viewer.close()
    for data, _ in pair.viewer.datagrams_to_send(0.0):
        pair.visit.circuit.receive_datagram_untrusted(data, VIEWER, 0.0)
    assert [type(event) for event in pair.visit.heard()] == [CircuitEnded]
    assert not pair.visit.say(CloseCircuit())


def test_a_visit_closes_once() -> None:
    """From each state it can be closed, and then nothing more happens to it. Spec: LIV-15."""
    for state in (VisitState.AWAITED, VisitState.CHILD, VisitState.ROOT):
        assert VISIT_TABLE.step(state, VisitInput.CLOSE) is VisitState.CLOSED
    with pytest.raises(IllegalTransition):
        VISIT_TABLE.step(VisitState.CLOSED, VisitInput.CIRCUIT)
