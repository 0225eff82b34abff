"""The server's end of an event queue, as either family keeps it."""

from __future__ import annotations

import pytest

from live_grid.event_queue import EventQueue, QueueState
from live_grid.llsd import read_llsd_xml_untrusted
from live_grid.simulator.http1 import HttpResponse
from live_grid.simulator.limits import EVENTS_WAITING_MAX
from live_grid.simulator.mailbox import Mailbox
from live_grid.simulator.profiles import OPENSIM, SECOND_LIFE, WireProfile


class Client:
    """Polls, and keeps the answers."""

    def __init__(self, profile: WireProfile = OPENSIM, **knobs) -> None:
        self.mailbox = Mailbox(profile, first_id=100, **knobs)
        self.answers: list[HttpResponse] = []

    def poll(self, ack: int | None = None, now: float = 0.0, *, done: bool = False) -> None:
        self.mailbox.poll(ack, now, self.answers.append, done=done)

    def last(self) -> tuple[int, list[str]]:
        body = read_llsd_xml_untrusted(self.answers[-1].body)
        return body["id"], [event["message"] for event in body["events"]]


def test_what_waits_is_answered_at_once_and_in_order() -> None:
    """Events of before the poll come in one answer. Spec: LIV-4."""
    client = Client()
    client.mailbox.put("One", {"a": 1})
    client.mailbox.put("Two", {})
    client.poll()
    assert client.last() == (100, ["One", "Two"])
    assert (client.answers[0].status, client.answers[0].content_type) == (200, "application/xml")
    assert len(client.mailbox) == 0


def test_a_poll_is_held_until_something_happens() -> None:
    """Nothing is said until an event comes; then that one. Spec: LIV-4."""
    client = Client()
    client.poll()
    assert client.mailbox.held
    assert client.answers == []
    client.mailbox.put("Late", {})
    assert client.last() == (100, ["Late"])
    assert not client.mailbox.held


@pytest.mark.parametrize(("profile", "held_s"), [(OPENSIM, 58.0), (SECOND_LIFE, 25.0)])
def test_nothing_yet_is_a_502_after_the_familys_time(profile: WireProfile, held_s: float) -> None:
    """Held so long and no longer. Spec: LIV-4; Fault: 11."""
    client = Client(profile)
    assert client.mailbox.get_timer() is None
    client.poll(now=5.0)
    assert client.mailbox.get_timer() == 5.0 + held_s
    client.mailbox.handle_timer(4.9 + held_s)
    assert client.answers == []
    client.mailbox.handle_timer(5.0 + held_s)
    assert [answer.status for answer in client.answers] == [502]


def test_opensimulator_forgets_what_it_has_written_whatever_is_acknowledged() -> None:
    """An answer that got lost is lost. Spec: LIV-15."""
    client = Client()
    client.mailbox.put("Gone", {})
    client.poll()
    client.poll(ack=None)
    assert len(client.answers) == 1
    assert client.mailbox.held


def test_second_life_says_it_again_until_it_is_acknowledged() -> None:
    """The same id and events come again; after the ack, only what is new. Spec: LIV-15."""
    client = Client(SECOND_LIFE)
    client.mailbox.put("Kept", {})
    client.poll()
    client.poll(ack=None)
    assert client.answers[0] is client.answers[1]
    client.mailbox.put("New", {})
    client.poll(ack=100)
    assert client.last() == (101, ["New"])


def test_an_answer_can_come_twice_by_a_fault() -> None:
    """With one id, so that a client can tell. Spec: LIV-4."""
    draws = [True, False]
    client = Client(repeats=lambda: draws.pop(0))
    client.mailbox.put("Twice", {})
    client.poll()
    client.poll(ack=100)
    assert client.answers[0] is client.answers[1]
    client.mailbox.put("Once", {})
    client.poll(ack=100)
    client.poll(ack=101)
    assert [client.last(), len(client.answers)] == [(101, ["Once"]), 3]


def test_a_second_poll_ends_the_first() -> None:
    """Each poll gets exactly one answer. Spec: LIV-4."""
    client = Client()
    client.poll()
    client.poll()
    assert [answer.status for answer in client.answers] == [502]
    assert client.mailbox.held


def test_a_closed_queue_is_gone() -> None:
    """A held poll, a new one and a farewell are told so; what is put goes nowhere. Spec: LIV-4."""
    client = Client()
    client.poll()
    client.mailbox.close()
    client.poll()
    client.mailbox.put("Never", {})
    assert [answer.status for answer in client.answers] == [404, 404]
    assert len(client.mailbox) == 0
    farewell = Client()
    farewell.poll(done=True)
    assert (farewell.answers[0].status, farewell.mailbox.closed) == (404, True)


def test_a_client_of_second_life_may_come_back_to_its_queue() -> None:
    """What it acknowledged as it went does not come again; what came meanwhile does. Spec: LIV-4, LIV-15."""
    client = Client(SECOND_LIFE)
    client.mailbox.put("Old", {})
    client.poll()
    client.poll(100, done=True)
    assert (client.answers[-1].status, client.mailbox.closed) == (404, False)
    client.mailbox.put("New", {})
    client.poll()
    assert client.last() == (101, ["New"])
    client.poll(99, done=True)
    client.poll()
    assert client.last() == (101, ["New"])


def test_a_poll_whose_client_has_gone_loses_no_event() -> None:
    """Its events wait for the next poll; forgetting somebody else's poll does nothing. Spec: LIV-4."""
    client = Client()
    client.mailbox.poll(None, 0.0, answer := client.answers.append)
    client.mailbox.cancel(print)
    assert client.mailbox.held
    client.mailbox.cancel(answer)
    client.mailbox.put("Kept", {})
    assert client.answers == []
    client.poll()
    assert client.last() == (100, ["Kept"])


def test_a_full_queue_gives_up_the_oldest() -> None:
    """At most so many wait, and what is lost is counted. Spec: LIV-15."""
    client = Client()
    for number in range(EVENTS_WAITING_MAX + 3):
        client.mailbox.put(f"E{number}", {})
    assert (len(client.mailbox), client.mailbox.dropped) == (EVENTS_WAITING_MAX, 3)
    client.poll()
    assert client.last()[1][0] == "E3"


def test_a_text_that_xml_cannot_carry_takes_only_its_own_event_along() -> None:
    """The others of the same answer still come."""
    client = Client()
    client.mailbox.put("Bad", {"text": "\ud800"})
    client.mailbox.put("Good", {})
    client.poll()
    assert client.last() == (100, ["Good"])


def test_the_clients_own_queue_understands_it() -> None:
    """Poll after poll, the client's core takes each event once and in order. Spec: LIV-4."""
    mailbox, queue = Mailbox(OPENSIM, first_id=1), EventQueue("http://localhost/CE/x", now=0.0)
    taken = []
    for number in range(5):
        poll = queue.next_poll(float(number))
        assert poll is not None
        mailbox.put(f"E{number}", {})
        mailbox.poll(None, float(number), lambda answer: queue.receive_response(answer.status, answer.body, 1.0))
        while (event := queue.next_event()) is not None:
            taken.append(event.name)
    assert taken == [f"E{number}" for number in range(5)]
    assert queue.state is QueueState.READY
