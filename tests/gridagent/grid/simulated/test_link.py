"""The line between a client and the world, where things go wrong."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.errors import BackendError
from gridagent.events import (
    ActionRefused,
    BalanceChanged,
    ChatHeard,
    DisconnectCause,
    GridEvent,
    ImReceived,
    Kicked,
    RegionRestarting,
    SelfMoved,
    TeleportFailed,
    TransportUp,
)
from gridagent.grid.simulated import World
from gridagent.grid.simulated import link as link_module
from gridagent.grid.simulated.faults import FaultCounts, FaultKind, Faults
from gridagent.grid.simulated.link import GHOST_S, Link
from gridagent.grid.simulated.witness import Witness


class Client:
    """One link and everything that came over it."""

    def __init__(self, world: World, faults: Faults, seed: int = 1) -> None:
        self.world = world
        self.events: list[tuple[float, GridEvent]] = []
        self.ends: list[DisconnectCause] = []
        self.counts = FaultCounts()
        self.link = Link(
            world,
            world.avatars()[1],
            faults=faults,
            counts=self.counts,
            rng=random.Random(seed),
            on_event=lambda event: self.events.append((world.now, event)),
            on_end=self.ends.append,
        )

    def open(self) -> Client:
        self.link.open(self.world.now)
        return self

    def pass_time(self, seconds: float) -> None:
        self.world.advance(self.world.now + seconds)

    def do(self, action: asked.Action, reference: str = "r") -> None:
        self.link.perform(action, self.world.now, reference)

    def saw(self, kind: type[GridEvent]) -> list[GridEvent]:
        return [event for _, event in self.events if isinstance(event, kind)]


def open_link(world: World, **knobs: object) -> Client:
    """Return Ben's open link in a world that has begun."""
    world.advance(max(world.now, 10.0))
    return Client(world, Faults(**knobs)).open()


def test_a_perfect_link_delivers_at_once_and_in_order(world: World, ada: Witness) -> None:
    """Without faults nothing stands between the world and the client.

    Spec: SIM-1
    """
    client = open_link(world)
    assert isinstance(client.events[0][1], TransportUp)
    ada.do(asked.Say(text="hello"))
    assert client.events[-1][0] == world.now
    assert sum(client.counts.snapshot().values()) == 0


def test_latency_delays_and_keeps_order(world: World, ada: Witness) -> None:
    """Every event takes its time, and none overtakes another; only the answer to the login has been waited for.

    Whoever is logged in must know it at once: a connection that is cut off in between would never log out.

    Spec: SIM-1, SIM-2, SUP-9
    """
    client = open_link(world, latency_s=(0.1, 3.0))
    assert [type(event) for _, event in client.events] == [TransportUp]
    client.pass_time(5.0)
    for number in range(20):
        ada.do(asked.Say(text=str(number)))
        ada.pass_time(0.2)
    client.pass_time(5.0)
    assert [event.text for event in client.saw(ChatHeard)] == [str(number) for number in range(20)]


def test_reordering_lets_some_events_come_late(world: World, ada: Witness) -> None:
    """All arrive, some out of order, and each is counted.

    Spec: SIM-3
    """
    client = open_link(world, event_reordered=0.3)
    for number in range(50):
        ada.do(asked.Say(text=str(number)))
        ada.pass_time(0.1)
    client.pass_time(2.0)
    texts = [int(event.text) for event in client.saw(ChatHeard)]
    assert sorted(texts) == list(range(50))
    assert texts != sorted(texts)
    assert client.counts[FaultKind.EVENT_REORDERED] > 5


def test_duplication_delivers_some_events_twice(world: World, ada: Witness) -> None:
    """Each copy is counted.

    Spec: SIM-3
    """
    client = open_link(world, event_duplicated=1.0)
    ada.do(asked.Say(text="once"))
    assert [event.text for event in client.saw(ChatHeard)] == ["once", "once"]
    assert client.counts[FaultKind.EVENT_DUPLICATED] == len(client.events) // 2


def test_lost_evidence_is_hidden_while_the_action_waits_and_no_longer(world: World, ada: Witness) -> None:
    """The act happens, its evidence doesn't come, other events do; long after, equal events come again.

    Spec: SIM-3, EFX-1
    """
    client = open_link(world, evidence_lost=1.0)
    client.do(asked.Say(text="hello"))
    client.do(asked.PayAvatar(to=ada.avatar_id, amount=5), "r2")
    assert ada.saw(ChatHeard)
    assert (world.balance(ada.avatar_id), client.saw(ChatHeard)) == (1_005, [])
    assert [event.change for event in client.saw(BalanceChanged)] == [0]
    ada.do(asked.Say(text="hello"))
    assert [event.source.id for event in client.saw(ChatHeard)] == [ada.avatar_id]
    assert client.counts[FaultKind.EVIDENCE_LOST] == 2
    client.pass_time(120.0)
    client.link.set_faults(Faults())
    client.do(asked.Say(text="hello"))
    assert len(client.saw(ChatHeard)) == 2


def test_a_lost_request_changes_nothing(world: World, ada: Witness) -> None:
    """Nothing is heard, nothing is paid, nothing comes back.

    Spec: SIM-3
    """
    client = open_link(world, request_lost=1.0)
    before = len(client.events)
    client.do(asked.Say(text="hello"))
    assert (ada.saw(ChatHeard), len(client.events), client.counts[FaultKind.REQUEST_LOST]) == ([], before, 1)


@pytest.mark.parametrize(
    ("knob", "action", "event"),
    [
        (
            "money_refused",
            lambda ada: asked.PayAvatar(to=ada, amount=1),
            ActionRefused(reference="r", reason="money_service_down"),
        ),
        (
            "teleport_failed",
            lambda ada: asked.TeleportTo(region="Annex", position=Position(x=1.0, y=1.0)),
            TeleportFailed(reason="interrupted"),
        ),
        (
            "teleport_failed",
            lambda ada: asked.AnswerTeleportOffer(offer_id="any", accept=True),
            TeleportFailed(reason="interrupted"),
        ),
    ],
)
def test_services_that_fail_say_so_and_change_nothing(
    world: World, ada: Witness, knob: str, action: Callable[..., asked.Action], event: GridEvent
) -> None:
    """A money service or teleport that is down refuses with the grid's words; other actions go on.

    Spec: SIM-3, EFX-1
    """
    client = open_link(world, **{knob: 1.0})
    client.do(action(ada.avatar_id))
    assert client.events[-1][1] == event
    assert world.balance(ada.avatar_id) == 1_000
    assert client.counts[FaultKind(knob)] == 1
    client.do(asked.AnswerTeleportOffer(offer_id="any", accept=False), "r2")
    assert client.events[-1][1] == ActionRefused(reference="r2", reason="unknown_offer")


def test_a_refused_login_has_one_of_the_causes_and_leaves_nobody_in_the_world(world: World) -> None:
    """Every cause that is listed is drawn sooner or later.

    Spec: SIM-3, SUP-6
    """
    causes = (DisconnectCause.BANNED, DisconnectCause.MFA_REQUIRED)
    world.advance(10.0)
    drawn = set()
    for seed in range(20):
        client = Client(world, Faults(login_refused=1.0, login_causes=causes), seed)
        with pytest.raises(BackendError) as refused:
            client.open()
        drawn.add(refused.value.cause)
        client.link.close(world.now)
        assert client.counts[FaultKind.LOGIN_REFUSED] == 1
    assert drawn == set(causes)
    assert world.sessions.recent() == ()


def test_a_broken_circuit_leaves_a_ghost_that_a_logout_or_time_removes(world: World, ada: Witness) -> None:
    """The grid does not notice at once; a late logout still counts and ends the ghost.

    Spec: SUP-9, SIM-3
    """
    client = open_link(world)
    assert client.link.disconnect()
    assert not client.link.disconnect()
    assert client.ends == [DisconnectCause.CIRCUIT_LOST]
    heard = len(client.events)
    ada.do(asked.Say(text="hello?"))
    assert len(client.events) == heard
    session = client.link.session
    assert session is not None
    assert session.live
    client.link.close(world.now)
    assert (session.live, session.logouts) == (False, 1)
    again = open_link(world)
    again.link.disconnect()
    again.pass_time(GHOST_S + 1.0)
    assert again.link.session is not None
    assert (again.link.session.live, again.link.session.ended_by) == (False, "circuit_lost")


def test_a_circuit_may_break_in_the_middle_of_an_action(world: World, ada: Witness) -> None:
    """Within a second after the action was sent, and counted apart.

    Spec: SIM-3
    """
    client = open_link(world, disconnect_mid_action=1.0)
    client.do(asked.WalkTo(position=Position(x=200.0, y=100.0)))
    client.pass_time(1.0)
    assert client.ends == [DisconnectCause.CIRCUIT_LOST]
    assert client.counts[FaultKind.DISCONNECT_MID_ACTION] == 1


@pytest.mark.parametrize(
    ("knob", "kind"),
    [
        ("disconnects_per_hour", FaultKind.DISCONNECT),
        ("kicks_per_hour", FaultKind.KICK),
        ("restarts_per_hour", FaultKind.REGION_RESTART),
        ("stalls_per_hour", FaultKind.STALL),
        ("floods_per_hour", FaultKind.FLOOD),
    ],
)
def test_a_rate_makes_its_incident_happen(world: World, ada: Witness, knob: str, kind: FaultKind) -> None:
    """Ten an hour happen within an hour, and none after the knobs are turned off.

    Spec: SIM-3
    """
    client = open_link(world, **{knob: 10.0}, stall_s=(1.0, 2.0), flood_s=(1.0, 2.0))
    client.pass_time(3_600.0)
    happened = client.counts[kind]
    ends = kind in {FaultKind.DISCONNECT, FaultKind.KICK, FaultKind.REGION_RESTART}
    assert happened == 1 if ends else 3 <= happened <= 25
    assert len(client.ends) == (1 if ends else 0)
    client.link.set_faults(Faults())
    client.pass_time(3_600.0)
    assert client.counts[kind] == happened
    assert set(client.counts.snapshot().values()) == {0, happened}


def test_turning_a_knob_arms_its_incident_on_an_open_link(world: World, ada: Witness) -> None:
    """Faults can begin in the middle of a session; on a closed link they don't."""
    client = open_link(world)
    client.link.set_faults(Faults(kicks_per_hour=3_600.0))
    client.link.set_faults(Faults(kicks_per_hour=3_600.0))
    client.pass_time(60.0)
    assert client.counts[FaultKind.KICK] == 1
    client.link.set_faults(Faults(kicks_per_hour=3_600.0))
    client.pass_time(60.0)
    assert client.counts[FaultKind.KICK] == 1


def test_a_restart_strikes_the_region_the_avatar_is_in(world: World, ada: Witness) -> None:
    """Warning, then the end; a second one on top is not counted.

    Spec: SIM-3
    Fault: 8
    """
    client = open_link(world, restart_notice_s=5.0)
    assert client.link.restart()
    assert not client.link.restart()
    client.pass_time(6.0)
    assert client.saw(RegionRestarting)
    assert client.ends == [DisconnectCause.REGION_RESTART]
    assert not client.link.restart()
    assert client.counts[FaultKind.REGION_RESTART] == 1


def test_what_the_grid_said_last_comes_before_the_end(world: World, ada: Witness) -> None:
    """A kick's reason arrives although events travel slowly or are stalled.

    Spec: SIM-1
    """
    for knobs, stalled in (({"latency_s": (2.0, 2.0)}, False), ({}, True)):
        client = open_link(world, **knobs)
        client.pass_time(3.0)
        if stalled:
            assert client.link.stall(60.0)
        assert client.link.kick("enough")
        assert client.saw(Kicked) == [Kicked(reason="enough")]
        assert client.ends == [DisconnectCause.KICKED]
        assert not client.link.kick()


def test_a_stall_holds_everything_and_lets_it_go_in_order(world: World, ada: Witness) -> None:
    """Nothing arrives for ten seconds, then all of it; a second stall lengthens the first.

    Spec: SIM-3
    """
    client = open_link(world)
    before = len(client.events)
    assert client.link.stall(5.0)
    assert client.link.stall(10.0)
    for number in range(5):
        ada.do(asked.Say(text=str(number)))
    client.pass_time(9.9)
    assert len(client.events) == before
    client.pass_time(0.2)
    assert [event.text for event in client.saw(ChatHeard)] == ["0", "1", "2", "3", "4"]
    assert client.counts[FaultKind.STALL] == 2


def test_a_flood_pours_as_many_words_as_it_says(world: World, ada: Witness) -> None:
    """Fifty a second for four seconds are two hundred, from as many accounts as asked for.

    Spec: SIM-3
    Fault: 18
    """
    client = open_link(world)
    assert client.link.flood(50.0, 4.0, 7)
    client.pass_time(2.0)
    half = [event for event in client.events if isinstance(event[1], ChatHeard | ImReceived)]
    assert 95 <= len(half) <= 110
    client.pass_time(5.0)
    poured = [event for _, event in client.events if isinstance(event, ChatHeard | ImReceived)]
    assert len(poured) == 200
    assert len({event.source.id for event in poured}) == 7


def test_a_flood_has_a_ceiling(world: World) -> None:
    """A slip of the keyboard does not stop the machine.

    Spec: BND-1
    """
    client = open_link(world)
    client.link.flood(1e9, 0.2)
    client.pass_time(1.0)
    assert len([event for _, event in client.events if isinstance(event, ChatHeard | ImReceived)]) == 2_000


def test_a_link_that_is_not_open_takes_no_incident(world: World) -> None:
    """Before the login and after the end nothing strikes.

    Spec: SIM-3
    """
    world.advance(10.0)
    client = Client(world, Faults())
    for _ in range(2):
        strikes = (client.link.disconnect, client.link.kick, client.link.restart)
        assert not any(strike() for strike in strikes)
        assert not client.link.stall(1.0)
        assert not client.link.flood(1.0, 1.0)
        client.link.open(world.now)
        client.link.close(world.now)
    assert sum(client.counts.snapshot().values()) == 0


@pytest.mark.parametrize("holding", ["flight", "stall"])
def test_a_client_that_would_lose_what_may_not_be_lost_is_cut_off(
    world: World, ada: Witness, monkeypatch: pytest.MonkeyPatch, holding: str
) -> None:
    """Words over the bound are shed on the way; money over it ends the connection.

    Spec: BND-1
    """
    monkeypatch.setattr(link_module, "GRID_EVENT_QUEUE_MAX", 50)
    client = open_link(world, latency_s=(30.0, 30.0) if holding == "flight" else (0.0, 0.0))
    if holding == "stall":
        client.link.stall(60.0)
        assert client.link._held is not None
        client.link._held.limit = 50
    client.link.flood(100.0, 1.0, 5)
    client.pass_time(2.0)
    assert client.ends == []
    for _ in range(60):
        world.perform(ada.avatar_id, asked.PayAvatar(to=client.link.avatar_id, amount=1), world.now)
    assert client.ends == [DisconnectCause.CIRCUIT_LOST]
    assert client.counts[FaultKind.OVERFLOW] == 1


def test_a_flood_that_breaks_the_link_stops(world: World, ada: Witness) -> None:
    """A client that ends the connection in the middle of a flood gets no more of it."""
    client = open_link(world)
    client.link._on_event = lambda event: client.link.disconnect()
    client.link.flood(1_000.0, 10.0)
    client.pass_time(20.0)
    assert client.ends == [DisconnectCause.CIRCUIT_LOST]
    assert world.next_timer() is not None  # the ghost's end


def test_a_logout_can_get_lost(world: World) -> None:
    """It is counted as asked for, and the session lives on as a ghost.

    Spec: SUP-9, SIM-3
    """
    client = open_link(world, logout_lost=1.0)
    client.link.close(world.now)
    session = client.link.session
    assert session is not None
    assert (session.live, session.logouts, client.counts[FaultKind.LOGOUT_LOST]) == (True, 1, 1)
    client.pass_time(GHOST_S + 1.0)
    assert not session.live


def test_following_evidence_is_recognised_by_where_the_other_is(world: World, ada: Witness) -> None:
    """Lost evidence of following needs eyes; the link has the world's."""
    client = open_link(world, evidence_lost=1.0)
    client.do(asked.FollowAvatar(avatar_id=ada.avatar_id))
    assert client.saw(SelfMoved) == []
    assert client.counts[FaultKind.EVIDENCE_LOST] == 1


def test_the_end_of_the_grid_reaches_a_link_once(world: World) -> None:
    """An orderly end after another end says nothing more."""
    client = open_link(world)
    client.link.end_in_order(DisconnectCause.GRID_CLOSED)
    client.link.end_in_order(DisconnectCause.GRID_CLOSED)
    assert client.ends == [DisconnectCause.GRID_CLOSED]
