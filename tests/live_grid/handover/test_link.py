"""The link to one region: seed, queue and circuit."""

from __future__ import annotations

import pytest

from live_grid.addresses import HostPolicy
from live_grid.circuit import Circuit
from live_grid.errors import RemoteProtocolError
from live_grid.handover.link import Link, WebKind, WebRequest
from live_grid.handover.tables import LinkInput, LinkState
from live_grid.llsd import write_llsd_xml
from live_grid.requests import Identity
from live_grid.requests.speaking import say
from live_grid.world import Region

ADDRESS = ("127.0.0.1", 9000)
SEED = "http://127.0.0.1:9000/seed"
QUEUE = "http://127.0.0.1:9000/queue"
POLICY = HostPolicy(hosts=frozenset({"127.0.0.1"}), http=True, loopback=True)
ME = Identity(agent_id=bytes(15) + b"\x01", session_id=b"\x5e" * 16, circuit_code=77, name="Mia Mine")


def a_link() -> Link:
    """A link with a seed that nobody has asked yet."""
    link = Link(ADDRESS, Circuit(ADDRESS, now=0.0), Region(), POLICY)
    link.set_seed(SEED)
    return link


def answer(link: Link, queue: str | None = QUEUE, *, now: float = 0.0, status: int = 200) -> None:
    """Ask the seed and answer it."""
    request = link.next_request(now)
    assert request is not None
    assert request.kind is WebKind.SEED
    body = write_llsd_xml({} if queue is None else {"EventQueueGet": queue})
    link.receive_seed(request.url, status, body, now)


def poll(link: Link, now: float = 0.0) -> WebRequest:
    """The poll to make now."""
    request = link.next_request(now)
    assert request is not None
    assert request.kind is WebKind.POLL
    return request


def test_the_seed_comes_before_the_poll_and_shows_no_address() -> None:
    """One request at a time; whoever knows an address acts as us. Spec: LIV-4."""
    link = a_link()
    assert link.next_request(0.0) is not None
    assert link.next_request(0.0) is None
    link = a_link()
    answer(link)
    request = poll(link)
    assert "queue" not in repr(request)
    assert "seed" not in repr(link)
    assert link.next_request(0.0) is None
    assert link.queue is not None


def test_a_seed_elsewhere_is_refused() -> None:
    """Nothing is kept of it. Fault: 10."""
    link = a_link()
    with pytest.raises(RemoteProtocolError):
        link.set_seed("http://169.254.169.254/")
    answer(link)


def test_a_seed_that_fails_is_asked_with_growing_pauses_and_then_seldom() -> None:
    """Errors, and answers that are none; one day it answers. Spec: LIV-4, LIV-12. Fault: 11."""
    link = a_link()
    pauses, now = [], 0.0
    for number in range(7):
        request = link.next_request(now)
        assert request is not None
        assert link.seed_failed is (number >= 5)
        if number % 2:
            link.receive_failure(request, now)
        else:
            link.receive_seed(request.url, 200 if number else 500, b"nonsense", now)
        assert link.next_request(now) is None
        waits = link._seed_waits_until
        assert waits is not None
        pauses.append(waits - now)
        now = waits
    assert pauses == [1.0, 2.0, 4.0, 8.0, 30.0, 30.0, 30.0]
    request = link.next_request(now)
    assert request is not None
    link.receive_seed(request.url, 200, write_llsd_xml({}), now)
    assert not link.seed_failed


def test_an_answer_that_is_not_waited_for_is_thrown_away() -> None:
    """Of an older seed, or twice. Spec: LIV-4."""
    link = a_link()
    old = link.next_request(0.0)
    assert old is not None
    link.set_seed(SEED + "/new")
    link.receive_seed(old.url, 200, write_llsd_xml({}), 0.0)
    assert link.capabilities is None
    link.receive_failure(old, 0.0)
    answer(link)
    found = link.capabilities
    link.receive_seed(SEED + "/new", 500, b"", 0.0)
    link.receive_failure(old, 0.0)
    assert link.capabilities is found
    link.set_seed(SEED + "/new")
    assert link.capabilities is found


def test_a_new_seed_keeps_a_queue_that_stays() -> None:
    """On the way back a region may name the same queue, whose poll is still on its way. Spec: LIV-4."""
    link = a_link()
    answer(link)
    held = poll(link)
    queue = link.queue
    link.set_seed(SEED + "/again")
    answer(link)
    assert link.queue is queue
    assert not link.receive_poll(held.url, 200, write_llsd_xml({"id": 1, "events": []}), 20.0)
    link.set_seed(SEED + "/other")
    answer(link, QUEUE + "/other", now=20.0)
    assert link.queue is not queue
    assert not link.receive_poll(held.url, 404, b"", 20.0)
    link.receive_failure(held, 20.0)
    assert link.queue is not None


def test_a_region_without_a_queue_has_lost_it() -> None:
    """A seed that offers none. Spec: LIV-4."""
    link = a_link()
    answer(link, None)
    assert link.queue_lost
    assert link.queue is None
    assert not link.receive_poll(QUEUE, 200, b"", 0.0)
    link.receive_failure(
        WebRequest(address=ADDRESS, kind=WebKind.POLL, url=QUEUE, body=b"", content_type="", timeout_s=1), 0.0
    )
    link.set_seed(SEED)
    assert not link.queue_lost


def test_a_queue_that_is_gone_is_asked_for_anew() -> None:
    """After a pause, a few times, and no more; events show that it is well. Spec: LIV-4. Fault: 11."""
    link = a_link()
    now = 0.0
    for number in range(4):
        answer(link, now=now)
        link.receive_poll(poll(link, now).url, 404, b"", now)
        assert link.queue is None
        now += 20.0
        assert link.queue_lost is (number == 3)
    link = a_link()
    for number in range(6):
        answer(link, now=20.0 * number)
        link.queue_is_well()
        link.receive_poll(poll(link, 20.0 * number).url, 404, b"", 20.0 * number)
    assert not link.queue_lost


def test_what_cannot_be_read_and_what_does_not_come_is_told_to_the_queue() -> None:
    """A page is malformed; a failure is waited out. Spec: LIV-4."""
    link = a_link()
    answer(link)
    assert link.receive_poll(poll(link).url, 200, b"<html>", 0.0)
    assert link.get_timer() == 1.0
    link.handle_timer(1.0)
    link.receive_failure(poll(link, 1.0), 2.0)
    assert link.queue is not None
    assert link.queue.statistics().errors_in_a_row == 2


def test_what_the_circuit_has_no_room_for_is_counted() -> None:
    """Our own messages are not worth an error. Spec: LIV-2."""
    link = a_link()
    assert len(link.send(say(ME, "hi"))) == 1
    link.circuit.close()
    assert link.send(say(ME, "hi")) == []
    assert link.dropped == 1


def test_a_closed_link_asks_nothing() -> None:
    """Closing twice does nothing."""
    link = a_link()
    answer(link)
    link.step(LinkInput.CODE_DELIVERED)
    link.close()
    link.close()
    assert link.state is LinkState.CLOSED
    assert link.next_request(0.0) is None
    link.circuit.close()
    link.circuit.datagrams_to_send(0.0)
    assert link.get_timer() is None
