"""A session as a whole: in, out, time and bounds."""

from __future__ import annotations

from uuid import UUID

import pytest

from live_grid.circuit import CircuitConfig
from live_grid.errors import LimitReached, LocalProtocolError, RemoteProtocolError
from live_grid.handover import EndCause, SessionEnded, SessionSettings
from live_grid.handover.events import (
    How,
    Part,
    PartDegraded,
    PartRecovered,
    Reached,
    RegionEntered,
    RequestDelivered,
    RequestLost,
    WalkEnded,
)
from live_grid.handover.link import WebKind, WebRequest
from live_grid.handover.session import EVENTS_WAITING_MAX
from live_grid.handover.tables import TravelState
from live_grid.login.reply import Buddy
from live_grid.messages.circuits import AgentMovementComplete, CloseCircuit, KickUser, LogoutReply, LogoutRequest
from live_grid.messages.notation import AgentSession
from live_grid.messages.speech import ChatFromSimulator
from live_grid.packet import decode_packet_untrusted
from live_grid.requests import Confirmation, Request
from live_grid.requests.moving import touch
from live_grid.requests.speaking import say
from live_grid.requests.travelling import teleport
from live_grid.world.events import ChatHeard
from tests.live_grid.handover.fake_grid import ME, SESSION, FakeGrid, disabled

BEN = bytes(15) + b"\x02"


def test_a_login_ends_in_a_region() -> None:
    """Code, pause, movement; the handshake is answered; all that a newcomer asks is asked. Spec: LIV-7."""
    grid = FakeGrid(buddies=(Buddy(avatar_id=BEN, rights_given=1, rights_had=1),))
    assert not grid.session.present
    began = grid.now
    grid.enter()
    assert grid.seen("RegionEntered") == [RegionEntered(How.LOGIN, "Plaza", (10.0, 20.0, 30.0), 256, 256)]
    assert grid.session.travel.state is TravelState.PRESENT
    grid.run(1.0)
    names = grid.plaza.names()
    assert names[:2] == ["UseCircuitCode", "RegionHandshakeReply"]
    movement = names.index("CompleteAgentMovement")
    assert set(names[movement + 1 :]) >= {
        *("AgentThrottle", "ParcelPropertiesRequest", "AgentDataUpdateRequest", "MoneyBalanceRequest"),
        *("RetrieveInstantMessages", "AgentUpdate"),
    }
    assert names.count("RegionHandshakeReply") == names.count("AgentThrottle") == 1
    assert grid.now - began >= 0.5
    assert grid.session.world.friends == {BEN: False}
    assert grid.session.body.heading_deg == pytest.approx(90)


def test_a_login_to_an_address_that_may_not_be_asked_is_refused() -> None:
    """Neither a metadata service nor a seed elsewhere. Fault: 10."""
    with pytest.raises(RemoteProtocolError):
        FakeGrid(sim_ip="169.254.169.254")
    with pytest.raises(RemoteProtocolError):
        FakeGrid(seed_capability="http://169.254.169.254/")


def test_a_region_that_never_lets_us_in_ends_the_session() -> None:
    """The deadline of the entry, not the number of resends, decides. Spec: LIV-7."""
    grid = FakeGrid()
    grid.plaza.lets_in = False
    grid.run(70)
    assert grid.seen("SessionEnded") == [SessionEnded(EndCause.NO_ENTRY)]
    assert grid.session.get_timer() is None
    grid.session.handle_timer(grid.now)
    assert not grid.session.present


def test_a_lost_movement_is_sent_again() -> None:
    """When every resend of it was lost, another one is made. Spec: LIV-7."""
    grid = FakeGrid(settings=SessionSettings(circuit=CircuitConfig(resends_max=1)))
    grid.run(until=lambda: "UseCircuitCode" in grid.plaza.names())
    grid.run(0.3)
    circuit = grid.plaza.circuit
    grid.cut = True
    grid.run(8.0)
    grid.cut = False
    grid.enter()
    assert grid.plaza.circuit is circuit


def test_requests_have_their_outcome() -> None:
    """Delivered when every message of it is; lost when one is; unreliable ones have none. Spec: LIV-2, EFX-1."""
    grid = FakeGrid()
    with pytest.raises(LocalProtocolError, match="no region"):
        grid.session.send(say(grid.session.me, "too early"), grid.now)
    grid.enter()
    both = grid.session.send(touch(grid.session.me, 5), grid.now)
    grid.run(1.0)
    assert grid.seen("RequestDelivered") == [RequestDelivered(both)]
    assert [name for name in grid.plaza.names() if "Grab" in name] == ["ObjectGrab", "ObjectDeGrab"]
    grid.cut = True
    lost = grid.session.send(touch(grid.session.me, 5), grid.now)
    grid.session.send(
        Request((LogoutRequest(agent_data=grid.session.me.session),), Confirmation.NOTHING, False), grid.now
    )
    grid.run(50.0)
    assert grid.seen("RequestLost") == [RequestLost(lost)]
    assert len(grid.seen("RequestDelivered")) == 1


def test_too_many_requests_are_refused() -> None:
    """The circuit's own bound is told to whoever asks. Spec: LIV-2."""
    grid = FakeGrid()
    grid.enter()
    with pytest.raises(LimitReached):
        for _ in range(2_000):
            grid.session.send(say(grid.session.me, "x" * 1000), grid.now)


def test_a_logout_ends_with_the_grids_word_or_without() -> None:
    """Once; with the reply at once, without it after five seconds. Spec: SUP-9, LIV-7."""
    grid = FakeGrid()
    grid.enter()
    grid.run(1.0)
    grid.session.log_out(grid.now)
    grid.session.log_out(grid.now)
    grid.run(2.0)
    assert grid.seen("SessionEnded") == [SessionEnded(EndCause.LOGGED_OUT)]
    assert grid.plaza.names().count("LogoutRequest") == 1
    assert any(b"<boolean>true" in poll.body or b"<boolean>1" in poll.body for poll in grid.plaza.polls)
    quiet = FakeGrid()
    quiet.enter()
    quiet.cut = True
    quiet.session.log_out(quiet.now)
    quiet.run(6.0)
    assert quiet.seen("SessionEnded") == [SessionEnded(EndCause.LOGGED_OUT)]
    quiet.session.log_out(quiet.now)
    assert quiet.session.travel.ended


def test_a_logout_is_possible_before_any_arrival() -> None:
    """Whoever gives up on the way in still says goodbye. Spec: SUP-9."""
    grid = FakeGrid()
    grid.session.log_out(grid.now)
    grid.run(1.0)
    assert "LogoutRequest" in grid.plaza.names()


def test_a_goodbye_nobody_asked_for_is_none() -> None:
    """A logout reply to somebody who stays ends nothing."""
    grid = FakeGrid()
    grid.enter()
    grid.plaza.send(LogoutReply(agent_data=AgentSession(ME, SESSION)))
    grid.run(1.0)
    assert grid.session.present


def test_last_words_go_past_a_dead_circuit() -> None:
    """After silence the grid may think we are still there: one logout under a number that is new. Fault: 7."""
    grid = FakeGrid()
    grid.enter()
    grid.cut = True
    grid.run(70)
    assert grid.seen("SessionEnded") == [SessionEnded(EndCause.SILENCE)]
    ((data, address),) = grid.session.last_words()
    packet = decode_packet_untrusted(data)
    assert (packet.name, address) == ("LogoutRequest", grid.plaza.address)
    assert packet.sequence > 1


@pytest.mark.parametrize(
    ("message", "cause"),
    [(disabled(), EndCause.REGION_DOWN), (CloseCircuit(), EndCause.REGION_DOWN)],
    ids=["disabled", "closed"],
)
def test_the_end_of_our_region_is_the_end(message, cause: EndCause) -> None:
    """A region that goes down, or hangs up. Fault: 8."""
    grid = FakeGrid()
    grid.enter()
    grid.plaza.send(message)
    grid.run(1.0)
    assert grid.seen("SessionEnded") == [SessionEnded(cause)]


def test_a_kick_is_the_end_with_its_reason() -> None:
    """Also before we are in. Fault: 8."""
    for early in (True, False):
        grid = FakeGrid()
        if early:
            grid.plaza.lets_in = False
            grid.run(0.3)
        else:
            grid.enter()
        user = KickUser.UserInfo(ME, SESSION, b"Out!\0")
        grid.plaza.send(KickUser(target_block=KickUser.TargetBlock(bytes(4), 0), user_info=user))
        grid.run(1.0)
        assert grid.seen("SessionEnded") == [SessionEnded(EndCause.KICKED, "Out!")]


def test_a_kick_because_the_region_goes_down_is_no_kick() -> None:
    """A running OpenSimulator throws out everybody so when it restarts; nobody is unwelcome. Fault: 8."""
    grid = FakeGrid()
    grid.enter()
    user = KickUser.UserInfo(ME, SESSION, b"The simulator is going down.\0")
    grid.plaza.send(KickUser(target_block=KickUser.TargetBlock(bytes(4), 0), user_info=user))
    grid.run(1.0)
    assert grid.seen("SessionEnded") == [SessionEnded(EndCause.REGION_DOWN, "The simulator is going down.")]


def test_datagrams_from_elsewhere_and_answers_for_nobody_are_dropped() -> None:
    """Unknown addresses are counted before anything is read. Fault: 1."""
    grid = FakeGrid()
    grid.session.receive_datagram_untrusted(b"?", ("127.0.0.9", 9000), grid.now)
    stray = WebRequest(
        address=("127.0.0.9", 1), kind=WebKind.POLL, url="http://127.0.0.1/", body=b"", content_type="", timeout_s=1.0
    )
    grid.session.receive_response(stray, 200, b"", grid.now)
    grid.session.receive_failure(stray, grid.now)
    assert grid.session.statistics().foreign == 1


@pytest.mark.slow
def test_nothing_is_taken_from_circuits_while_nobody_takes_events() -> None:
    """Then they shed by class, and go on acknowledging. Spec: LIV-9. Fault: 6."""
    grid = FakeGrid()
    grid.enter()
    data = ChatFromSimulator.ChatData(b"Ben\0", BEN, BEN, 1, 1, 1, (0.0, 0.0, 0.0), b"hi\0")
    session = grid.session
    for _ in range(60):
        for _ in range(100):
            grid.plaza.circuit.send(ChatFromSimulator(chat_data=data))
        grid.now += 1.0
        for sent, _ in grid.plaza.circuit.datagrams_to_send(grid.now):
            session.receive_datagram_untrusted(sent, grid.plaza.address, grid.now)
    assert session.next_event(grid.now) is not None
    figures = session.statistics()
    assert figures.events_waiting < EVENTS_WAITING_MAX + 1
    assert figures.circuit is not None
    assert figures.circuit.inbox >= 3_000
    taken = 0
    while (event := session.next_event(grid.now)) is not None:
        taken += isinstance(event, ChatHeard)
    assert taken >= 5_000


def test_a_seed_that_does_not_answer_is_asked_again_and_then_told() -> None:
    """The part is sick, the session goes on; when it answers after all it is well. Spec: LIV-12."""
    grid = FakeGrid()
    grid.plaza.seed_status = 500
    grid.run(40)
    assert grid.seen("PartDegraded") == [PartDegraded(Part.EVENT_QUEUE), PartDegraded(Part.CAPABILITIES)]
    assert grid.seen("PartRecovered") == [PartRecovered(Part.EVENT_QUEUE)]
    assert grid.session.present


def test_an_event_queue_that_is_gone_for_good_ends_the_session() -> None:
    """It is asked for anew a few times, with pauses; then we are not there any more. Spec: LIV-4. Fault: 11."""
    grid = FakeGrid()
    grid.enter()
    grid.plaza.queue_status = 404
    began = grid.now
    grid.run(30)
    assert grid.seen("SessionEnded") == [SessionEnded(EndCause.QUEUE_GONE)]
    assert grid.now - began >= 5
    remedies = [each.remedy for each in grid.seen("PartDegraded")]
    assert remedies == ["renewed", "renewed", "renewed", "reconnect"]


def test_an_event_queue_that_says_nothing_is_renewed_and_then_given_up() -> None:
    """Two polls without any answer are silence; what answers then is well again. Spec: LIV-12, SUP-7. Fault: 11."""
    grid = FakeGrid()
    grid.enter()

    def poll_in_vain() -> None:
        grid.run(10.0, until=lambda: grid.plaza.polls)
        grid.run(90.1)
        grid.session.receive_failure(grid.plaza.polls.pop(), grid.now)

    poll_in_vain()
    grid.run(0.2)
    assert grid.seen("PartDegraded") == [PartDegraded(Part.EVENT_QUEUE)]
    poll_in_vain()
    grid.run(0.2)
    assert grid.seen("PartDegraded")[1:] == [PartDegraded(Part.EVENT_QUEUE, "renewed")]
    grid.run(5.0, until=lambda: grid.plaza.polls)
    assert grid.seen("PartRecovered") == []
    grid.plaza.events.append(("Nothing", {}))
    grid.run(0.2)
    assert grid.seen("PartRecovered") == [PartRecovered(Part.EVENT_QUEUE)]
    for _ in range(8):
        poll_in_vain()
    grid.run(5.0)
    assert grid.seen("SessionEnded") == [SessionEnded(EndCause.QUEUE_GONE)]


def test_a_region_that_shows_nothing_is_asked_again_and_then_left() -> None:
    """Its handshake's answer, throttle and a question, three times half a minute apart. Spec: LIV-12, SUP-7."""
    grid = FakeGrid()
    grid.plaza.shows_us = False
    grid.enter()
    grid.run(35.0)
    assert grid.seen("PartDegraded") == [PartDegraded(Part.WORLD, "asked_again")]
    names = grid.plaza.names()
    assert (names.count("RegionHandshakeReply"), names.count("AgentThrottle")) == (2, 2)
    grid.plaza.send(grid.plaza.sight())
    grid.run(6.0)
    assert grid.seen("PartRecovered") == [PartRecovered(Part.WORLD)]
    grid = FakeGrid()
    grid.plaza.shows_us = grid.plaza.handshakes = False
    grid.run(160.0)
    assert [each.remedy for each in grid.seen("PartDegraded")] == [*["asked_again"] * 3, "reconnect"]
    assert grid.seen("SessionEnded") == [SessionEnded(EndCause.BLIND)]
    assert "RequestRegionInfo" in grid.plaza.names()


def test_a_region_that_shows_nothing_new_is_asked_for_what_we_know() -> None:
    """Seldom, and nothing follows while it never answered such a question. Spec: LIV-12."""
    grid = FakeGrid()
    grid.enter()
    grid.session.world.here.add_object(bytes(15) + b"\x0b", 5)
    grid.run(600.0)
    asked = grid.plaza.names().count("RequestMultipleObjects")
    assert 1 <= asked <= 4
    assert grid.seen("PartDegraded") == []


def test_an_event_queue_that_comes_back_is_polled_again() -> None:
    """One 404, as after a return, is no end. Spec: LIV-4."""
    grid = FakeGrid()
    grid.enter()
    grid.plaza.queue_status = 404
    grid.run(0.2)
    grid.plaza.queue_status, grid.plaza.queue_path = 200, "/another"
    grid.run(3.0)
    assert grid.seen("PartRecovered") == [PartRecovered(Part.EVENT_QUEUE)]
    assert grid.plaza.polls[-1].url == grid.plaza.queue
    assert grid.session.statistics().queue is not None


def test_a_seed_without_any_answer_is_sick() -> None:
    """A connection that breaks is told as a status is. Spec: LIV-12."""
    grid = FakeGrid()
    request = grid.session.next_request(grid.now)
    assert request is not None
    grid.session.receive_failure(request, grid.now)
    grid.run(0.9)
    assert grid.session.present
    request = grid.session.next_request(grid.now + 1.0)
    assert request is not None
    grid.session.receive_failure(request, grid.now)
    grid.run(0.2)
    assert grid.seen("PartDegraded") == [PartDegraded(Part.EVENT_QUEUE)]


def test_a_walk_and_its_end_go_through_the_session() -> None:
    """Steered by what the region shows of us, told when it ends. Spec: LIV-7."""
    grid = FakeGrid()
    grid.enter()
    me = grid.session.world.here.add_avatar(ME)
    assert me is not None
    grid.session.body.walk_to((0.5, 0.0, 0.0), grid.now)
    grid.run(1.0)
    assert grid.seen("WalkEnded") == [WalkEnded(Reached.THERE)]


def test_news_of_the_world_come_by_the_queue_too() -> None:
    """A parcel, for one. Spec: LIV-4, LIV-5."""
    grid = FakeGrid()
    grid.enter()
    nobody = UUID(int=0)
    parcel = {"LocalID": 1, "OwnerID": nobody, "GroupID": nobody, "ParcelFlags": 0, "Name": "Lawn"}
    grid.plaza.events.append(("ParcelProperties", {"ParcelData": [parcel]}))
    grid.run(0.5)
    assert grid.seen("ParcelDescribed")
    assert grid.session.world.parcel is not None


def test_capabilities_are_those_of_where_we_are() -> None:
    """None before we are anywhere, none that the region does not offer. Spec: LIV-4."""
    grid = FakeGrid()
    assert grid.session.capability("EventQueueGet") is None
    grid.enter()
    assert grid.session.capability("EventQueueGet") == grid.plaza.queue
    assert grid.session.capability("GetTexture") is None


def test_figures_are_there_before_anything_is() -> None:
    """A session that has not arrived has no circuit of its region."""
    figures = FakeGrid().session.statistics()
    assert (figures.circuit, figures.queue, figures.links) == (None, None, 1)


def test_a_journey_takes_the_errand_away() -> None:
    """Asking for a teleport stops a walk; a second one is refused while the first goes on. Spec: LIV-7."""
    grid = FakeGrid()
    grid.enter()
    grid.session.body.walk_to((100.0, 100.0, 0.0), grid.now)
    grid.session.send(teleport(grid.session.me, grid.garden.handle, (1.0, 2.0, 3.0)), grid.now)
    assert not grid.session.body.busy
    assert grid.session.travel.state is TravelState.ASKED
    with pytest.raises(LocalProtocolError, match="under way"):
        grid.session.send(teleport(grid.session.me, grid.garden.handle, (1.0, 2.0, 3.0)), grid.now)
    assert grid.session.send(say(grid.session.me, "still here"), grid.now)


def test_the_word_of_a_region_we_did_not_ask_changes_nothing() -> None:
    """Only the region we are on the way to can let us in. Spec: LIV-7."""
    grid = FakeGrid()
    grid.enter()
    grid.plaza.send(
        AgentMovementComplete(
            agent_data=AgentSession(ME, SESSION),
            data=AgentMovementComplete.Data((1.0, 1.0, 1.0), (1.0, 0.0, 0.0), 5, 1),
            sim_data=AgentMovementComplete.SimData(b""),
        )
    )
    grid.run(1.0)
    assert len(grid.seen("RegionEntered")) == 1
