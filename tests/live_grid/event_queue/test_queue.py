"""The long poll of one region."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.errors import IllegalTransition
from live_grid.event_queue import EVENT_QUEUE_TABLE, EventQueue, Poll, QueueEvent, QueueState
from live_grid.event_queue.queue import ERRORS_MAX, HELD_S, LONGEST_PAUSE_S, POLL_TIMEOUT_S, QueueInput
from live_grid.llsd import read_llsd_xml_untrusted, write_llsd_xml

URL = "http://sim.example.org:9000/CE/canary"


def queue() -> EventQueue:
    """A queue that was not asked yet."""
    return EventQueue(URL, now=0.0)


def answer(number: int | None, *names: str) -> bytes:
    """What a server answers."""
    return write_llsd_xml({"id": number, "events": [{"message": name, "body": {}} for name in names]})


def asked(poll: Poll | None) -> dict[str, object]:
    """Read a poll's body."""
    assert poll is not None
    body = read_llsd_xml_untrusted(poll.body)
    assert isinstance(body, dict)
    return dict(body)


def taken(one: EventQueue) -> list[str]:
    """Take all events."""
    return [event.name for event in iter(one.next_event, None)]


@pytest.mark.parametrize("state", QueueState)
@pytest.mark.parametrize("given", QueueInput)
def test_every_pair_is_legal_or_refused(state: QueueState, given: QueueInput) -> None:
    """The table lists what may happen; anything else is an error."""
    if EVENT_QUEUE_TABLE.allows(state, given):
        assert EVENT_QUEUE_TABLE.step(state, given) in QueueState
    else:
        with pytest.raises(IllegalTransition, match=state.value):
            EVENT_QUEUE_TABLE.step(state, given)


def test_events_come_in_order_and_are_acknowledged_with_the_next_poll() -> None:
    """One poll at a time, and none while events wait to be taken. Spec: LIV-4."""
    one = queue()
    poll = one.next_poll(0.0)
    assert asked(poll) == {"ack": None, "done": False}
    assert poll is not None
    assert (poll.url, poll.timeout_s, poll.content_type) == (URL, POLL_TIMEOUT_S, "application/llsd+xml")
    assert "canary" not in repr(poll)
    assert one.next_poll(1.0) is None
    one.receive_response(200, answer(7, "A", "B"), 2.0)
    assert one.next_poll(2.0) is None
    assert one.next_event() == QueueEvent(name="A", body={})
    assert taken(one) == ["B"]
    assert asked(one.next_poll(2.0)) == {"ack": 7, "done": False}
    figures = one.statistics()
    assert (figures.polls, figures.events, figures.answered_at, figures.waiting) == (2, 2, 2.0, 0)


def test_the_timeout_outlives_a_held_poll() -> None:
    """OpenSimulator holds a poll for about 58 s: cutting it would lose events."""
    assert POLL_TIMEOUT_S > 60


def test_an_answer_that_comes_twice_is_taken_once() -> None:
    """It is a resend; acknowledging it again is all it needs."""
    one = queue()
    for _ in range(2):
        one.next_poll(0.0)
        one.receive_response(200, answer(7, "A"), 20.0)
        taken(one)
    assert (one.statistics().repeats, one.statistics().events) == (1, 1)
    assert asked(one.next_poll(20.0))["ack"] == 7


def test_nothing_after_a_long_hold_is_asked_again_at_once() -> None:
    """By 502, HTML, an empty list or a time-out; the old ack stands. Fault: 11."""
    one = queue()
    one.next_poll(0.0)
    one.receive_response(200, answer(3, "A"), 0.1)
    taken(one)
    now = 0.1
    for status, body in ((502, b""), (200, b"<html/>"), (200, answer(None)), (0, b"")):
        poll = one.next_poll(now)
        assert asked(poll)["ack"] == 3
        now += HELD_S
        if status:
            one.receive_response(status, body, now)
        else:
            one.receive_failure(now)
        assert one.state is QueueState.READY
    assert (one.malformed, one.statistics().errors_in_a_row) == (1, 0)


def test_quick_errors_are_waited_out_with_growing_pauses_and_then_given_up() -> None:
    """A 502 storm makes no spin: one second, two, four … and ten in a row are the end. Fault: 11."""
    one, now, pauses = queue(), 0.0, []
    while one.next_poll(now) is not None:
        if len(pauses) % 2:
            one.receive_response(502, b"", now)
        else:
            one.receive_failure(now)
        timer = one.get_timer()
        if timer is not None:
            one.handle_timer(timer - 0.01)
            assert one.next_poll(timer - 0.01) is None
            pauses.append(timer - now)
            now = timer
            one.handle_timer(now)
    assert one.state is QueueState.BROKEN
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0, 20.0, 20.0]
    assert len(pauses) == ERRORS_MAX - 1
    assert max(pauses) == LONGEST_PAUSE_S


@pytest.mark.parametrize("body", [answer(5), answer(7, "A"), b"<llsd><undef/></llsd>"])
def test_quick_answers_that_bring_nothing_are_no_spin_either(body: bytes) -> None:
    """An empty list or a resend at once counts as an error; new events end the count. Fault: 11."""
    one = queue()
    one.next_poll(0.0)
    one.receive_response(200, answer(7, "A"), 0.0)
    taken(one)
    one.next_poll(0.0)
    one.receive_response(200, body, 0.1)
    assert (one.state, one.get_timer()) == (QueueState.PAUSED, 1.1)
    one.handle_timer(1.1)
    one.next_poll(1.1)
    one.receive_response(200, answer(9, "B"), 1.2)
    assert (taken(one), one.statistics().errors_in_a_row) == (["B"], 0)


def test_a_queue_that_is_gone_is_asked_no_more() -> None:
    """404 at once, not in a hot loop. Fault: 11."""
    one = queue()
    one.next_poll(0.0)
    one.receive_response(404, b"", 0.0)
    assert (one.state, one.next_poll(99.0), one.get_timer()) == (QueueState.GONE, None, None)
    one.stop()
    assert one.state is QueueState.GONE


def test_stopping_says_farewell_and_takes_what_is_on_its_way() -> None:
    """The open poll is not cancelled: its events are taken when it comes back. Spec: LIV-4."""
    one = queue()
    one.next_poll(0.0)
    one.stop()
    farewell = one.next_poll(1.0)
    assert asked(farewell) == {"ack": None, "done": True}
    assert farewell is not None
    assert farewell.timeout_s <= 2.0
    assert one.state is QueueState.ENDED
    one.receive_response(200, answer(1, "TeleportFinish"), 1.1)
    assert taken(one) == ["TeleportFinish"]
    one.receive_response(200, answer(2, "Late"), 1.2)
    one.receive_failure(1.3)
    one.stop()
    assert (taken(one), one.next_poll(2.0), one.state) == ([], None, QueueState.ENDED)


def test_stopping_ends_a_pause() -> None:
    """And a failure that comes after it changes nothing."""
    one = queue()
    one.next_poll(0.0)
    one.receive_failure(0.0)
    one.stop()
    one.handle_timer(99.0)
    assert (one.state, one.get_timer()) == (QueueState.STOPPING, None)
    other = queue()
    other.next_poll(0.0)
    other.stop()
    other.receive_failure(0.0)
    assert other.state is QueueState.STOPPING


@given(st.lists(st.tuples(st.sampled_from(["events", "empty", "502", "html", "fail", "stop"]), st.floats(0, 70))))
def test_no_pattern_of_answers_makes_two_polls_without_a_pause_or_an_event(steps) -> None:
    """Whatever a server does, polls are at least a second apart unless something was brought or held. Fault: 11."""
    one, now = queue(), 0.0
    for number, (kind, held) in enumerate(steps):
        if one.next_poll(now) is None:
            timer = one.get_timer()
            if timer is None:
                break
            assert timer - now >= 0.999
            now = timer
            one.handle_timer(now)
            assert one.next_poll(now) is not None
        now += held
        if kind == "stop":
            one.stop()
        elif kind == "fail":
            one.receive_failure(now)
        else:
            bodies = {"events": (200, answer(number, "A")), "empty": (200, answer(number)), "502": (502, b"")}
            one.receive_response(*bodies.get(kind, (200, b"<html/>")), now)
        assert len(taken(one)) <= 1
        if kind not in {"events", "stop"} and held < HELD_S:
            assert one.next_poll(now) is None
