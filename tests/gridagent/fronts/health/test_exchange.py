"""One HTTP connection, sans-IO: what is let through, what is refused, and that no bytes break it."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.fronts.health.exchange import Answer, Asked, Gone, HttpExchange, Spoiled
from gridagent.fronts.health.limits import HealthLimits

DATE = "Thu, 01 Jan 1970 00:00:00 GMT"
OK = Answer(status=200, body="ok\n")
GET = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
LIMITS = HealthLimits()


def exchange(limits: HealthLimits = LIMITS) -> HttpExchange:
    """A connection that was just made."""
    return HttpExchange(limits, 0.0)


def told(data: bytes, limits: HealthLimits = LIMITS) -> Asked | Spoiled | Gone | None:
    """What the first bytes of a connection come to."""
    one = exchange(limits)
    one.feed(data, 0.0)
    return one.next_said()


def converse(chunks: list[bytes]) -> tuple[list[int], bytes]:
    """Feed bytes as a server does, answering each request, and return what was said and sent."""
    one, sent, said = exchange(), b"", []
    for chunk in [*chunks, b""]:
        one.feed(chunk, 1.0)
        while not one.over and (got := one.next_said()) is not None:
            if isinstance(got, Gone):
                break
            status = got.status if isinstance(got, Spoiled) else 200
            said.append(status)
            sent += one.answer(Answer(status=status, body="x"), date=DATE, now=1.0)
    assert one.over
    return said, sent


def statuses(sent: bytes, methods: list[bytes]) -> list[int]:
    """Read a stream of answers as an independent client does."""
    client, found = h11.Connection(h11.CLIENT), []
    client.receive_data(sent)
    for method in methods:
        client.send(h11.Request(method=method, target="/", headers=[("Host", "x")]))
        client.send(h11.EndOfMessage())
        while not isinstance(event := client.next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                found.append(event.status_code)
        if client.our_state is h11.DONE and client.their_state is h11.DONE:
            client.start_next_cycle()
    return found


def test_a_request_comes_whole_or_byte_by_byte() -> None:
    """Method, target and headers, names in lower case; nothing is said before the head ends."""
    asked = told(GET)
    assert asked == Asked(method="GET", target="/livez", headers=((b"host", b"localhost"),))
    one = exchange()
    for byte in GET[:-1]:
        one.feed(bytes([byte]), 0.0)
        assert one.next_said() is None
    one.feed(GET[-1:], 0.0)
    assert one.next_said() == asked


def test_several_requests_of_one_connection_are_answered_in_order() -> None:
    """Also when they come in one piece; a client that says close gets it."""
    last = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    said, sent = converse([GET + GET, last, GET])
    assert said == [200] * 3
    assert statuses(sent, [b"GET"] * 3) == [200] * 3
    assert sent.count(b"Connection: close") == 1


def test_a_head_answer_has_the_length_and_no_body() -> None:
    """What GET would give, without it."""
    one = exchange()
    one.feed(GET.replace(b"GET", b"HEAD", 1), 0.0)
    one.next_said()
    sent = one.answer(OK, date=DATE, now=0.0)
    assert b"Content-Length: 3\r\n" in sent
    assert sent.endswith(b"\r\n\r\n")
    assert statuses(sent, [b"HEAD"]) == [200]
    assert not one.over


def test_every_answer_says_what_it_is() -> None:
    """Nobody keeps it, nobody guesses its type."""
    one = exchange()
    one.feed(GET, 0.0)
    one.next_said()
    sent = one.answer(Answer(status=503, body="unavailable\n", headers=(("X-A", "b"),)), date=DATE, now=0.0)
    head, _, body = sent.partition(b"\r\n\r\n")
    assert head.split(b"\r\n") == [
        b"HTTP/1.1 503 Service Unavailable",
        b"Date: " + DATE.encode(),
        b"Content-Type: text/plain; charset=utf-8",
        b"Content-Length: 12",
        b"Cache-Control: no-store",
        b"X-Content-Type-Options: nosniff",
        b"X-A: b",
    ]
    assert body == b"unavailable\n"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),  # no Host
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\nxxx", 413),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 2\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 20_000, 431),
        (b"GET " + b"/" * 20_000, 431),
        (b"GET / HTTP/9.9\r\nHost: a\r\n\r\n", 505),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),  # somebody speaks TLS
        (b'{"request": "hello"}\n\n', 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nA\x00: b\r\n\r\n", 400),
    ],
)
def test_what_breaks_a_rule_is_answered_once_and_closed(data: bytes, status: int) -> None:
    """No body is ever taken, and a head has its size. Spec: BND-7. Fault: 35."""
    said, sent = converse([data, GET, GET])
    assert said == [status]
    assert statuses(sent, [b"GET"]) == [status]
    assert b"Connection: close" in sent


def test_a_length_of_nothing_is_no_body() -> None:
    """Some clients say so with every request."""
    assert isinstance(told(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"), Asked)


def test_a_client_that_leaves_is_gone_without_a_word() -> None:
    """Before it said anything, and between two requests; what is half said is answered."""
    assert told(b"") == Gone()
    one = exchange()
    one.feed(GET, 0.0)
    one.feed(b"", 0.0)
    one.feed(b"late", 0.0)
    assert isinstance(one.next_said(), Asked)
    one.answer(OK, date=DATE, now=0.0)
    assert one.next_said() == Gone()
    assert one.next_said() == Gone()
    half = exchange()
    half.feed(GET[:9], 0.0)
    half.feed(b"", 0.0)
    assert half.next_said() == Spoiled(400)


def test_an_old_client_gets_its_answer_and_the_end() -> None:
    """HTTP/1.0 keeps no connection unless it says so."""
    one = exchange()
    one.feed(b"GET /livez HTTP/1.0\r\n\r\n", 0.0)
    assert isinstance(one.next_said(), Asked)
    one.answer(OK, date=DATE, now=0.0)
    assert one.over


def test_a_connection_has_so_many_requests() -> None:
    """Then it ends in order, and the client is told. Spec: BND-1."""
    one = exchange(HealthLimits(requests_max=2))
    sent = b""
    for _ in range(2):
        one.feed(GET, 0.0)
        assert isinstance(one.next_said(), Asked)
        sent += one.answer(OK, date=DATE, now=0.0)
    assert one.over
    assert sent.count(b"Connection: close") == 1


def test_the_first_request_has_to_be_there_soon_and_the_next_may_take_its_time() -> None:
    """A head that drips ends when the whole of it is late, not when it pauses. Fault: 34."""
    one = exchange()
    assert one.timer() == LIMITS.request_timeout_s
    one.feed(GET[:5], 4.0)
    assert one.timer() == LIMITS.request_timeout_s
    assert one.on_timer() == Spoiled(408)
    silent = exchange()
    assert silent.on_timer() == Gone()
    kept = exchange()
    kept.feed(GET, 1.0)
    kept.next_said()
    kept.answer(OK, date=DATE, now=2.0)
    assert kept.timer() == 2.0 + LIMITS.idle_timeout_s
    kept.feed(GET[:5], 50.0)
    kept.feed(GET[5:9], 53.0)
    assert kept.timer() == 50.0 + LIMITS.request_timeout_s
    assert kept.on_timer() == Spoiled(408)


def test_what_was_sent_ahead_counts_as_begun() -> None:
    """The rest of a pipelined request may not take the time of a pause. Fault: 34."""
    one = exchange()
    one.feed(GET + GET[:7], 1.0)
    one.next_said()
    one.answer(OK, date=DATE, now=3.0)
    assert one.timer() == 3.0 + LIMITS.request_timeout_s


TOKENS = st.sampled_from(
    [
        *(
            b"GET ",
            b"HEAD ",
            b"CONNECT ",
            b"/livez",
            b" HTTP/1.1",
            b" HTTP/1.0",
            b"\r\n",
            b"\n",
            b"\r",
            b":",
            b" ",
            b"\t",
        ),
        *(b"Host: localhost", b"Connection: close", b"Connection: keep-alive", b"Upgrade: h2c", b"Content-Length: 0"),
        *(b"Content-Length: 7", b"Transfer-Encoding: chunked", b"Expect: 100-continue", b"\x00", b"\xff", b"%s%s", GET),
    ]
)
HOSTILE = st.lists(st.one_of(st.binary(max_size=40), TOKENS, st.lists(TOKENS, max_size=8).map(b"".join)), max_size=24)


@given(HOSTILE)
def test_whatever_bytes_come_there_is_an_end_and_every_answer_reads(chunks: list[bytes]) -> None:
    """No exception, bounded answers, at most one refusal and that the last, and the connection ends. Spec: BND-7."""
    said, sent = converse(chunks)
    assert len(sent) <= 400 * len(said)
    assert all(status == 200 for status in said[:-1])
    assert sent.count(b"HTTP/1.1 ") == len(said)
    assert statuses(sent, [b"HEAD" if b"HEAD" in b"".join(chunks) else b"GET"] * bool(said))[:1] == said[:1]


@given(HOSTILE)
def test_cutting_the_bytes_elsewhere_changes_nothing(chunks: list[bytes]) -> None:
    """What is said depends on the bytes alone."""
    whole = b"".join(chunks)
    assert converse([whole])[0] == converse([whole[index : index + 1] for index in range(len(whole))])[0]
