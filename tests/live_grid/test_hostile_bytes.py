"""Recorded bytes, broken in many ways: every decoder gives a value or the one error, within bounds."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from random import Random

import pytest

from benchmarks.captures import NAMES, all_datagrams, exchanges
from live_grid.circuit import Circuit, Role
from live_grid.errors import RemoteProtocolError
from live_grid.event_queue import read_region_event_untrusted
from live_grid.event_queue.answer import read_answer_untrusted
from live_grid.limits import ACKS_PENDING_MAX
from live_grid.llsd import (
    read_llsd_binary_untrusted,
    read_llsd_notation_untrusted,
    read_llsd_untrusted,
    read_llsd_xml_untrusted,
    write_llsd_binary,
    write_llsd_notation,
)
from live_grid.login import read_grid_info_untrusted, read_login_reply_untrusted
from live_grid.login.xmlrpc import read_response_untrusted
from live_grid.packet import decode_packet_untrusted, read_message_untrusted

KIB = 1024
TOKENS = (
    *(b"<array>", b"<map>", b"<key>", b"</key>", b"<value>", b"<i4>", b"</struct>", b"<!DOCTYPE a>", b"&#0;", b"&lt;"),
    *(b"\xff\xff\xff\xff", b"\0\0", b"nan", b"i-", b"r1e999", b"[", b"{", b"'", b'b64"', b's(9)"', b"\x80"),
)
BODIES = [
    body for name in NAMES for one in exchanges(name) for body in (one.body, one.request) if body.startswith(b"<")
]
DOCUMENTS = [read_llsd_xml_untrusted(body) for body in BODIES if b"<llsd>" in body[:60]]
PACKETS = [one.data for one in all_datagrams()]


def broken(originals: list[bytes], seed: int, count: int) -> Iterator[bytes]:
    """Break originals: a byte, a token, a gap, a repeat or a cut, a few times each."""
    random = Random(seed)
    for _ in range(count):
        data = bytearray(random.choice(originals)[: 3 * KIB])
        for _ in range(random.randrange(1, 5)):
            at = random.randrange(len(data) + 1)
            match random.randrange(5):
                case 0:
                    data[at : at + 1] = random.randbytes(1)
                case 1:
                    data[at:at] = random.choice(TOKENS)
                case 2:
                    del data[at : at + random.randrange(20)]
                case 3:
                    data[at:at] = data[at // 2 : at // 2 + random.randrange(40)]
                case _:
                    del data[at + 7 :]
        yield bytes(data)


def read_packet(data: bytes) -> object:
    """Frame and message."""
    return read_message_untrusted(decode_packet_untrusted(data))


@pytest.mark.parametrize(
    ("read", "originals"),
    [
        (read_packet, PACKETS),
        (read_llsd_xml_untrusted, BODIES),
        (read_response_untrusted, BODIES),
        (read_login_reply_untrusted, BODIES),
        (read_grid_info_untrusted, BODIES),
        (read_llsd_notation_untrusted, [write_llsd_notation(document) for document in DOCUMENTS]),
        (read_llsd_binary_untrusted, [write_llsd_binary(document) for document in DOCUMENTS]),
        (read_llsd_untrusted, [*BODIES, *[write_llsd_binary(document) for document in DOCUMENTS]]),
    ],
)
def test_broken_recordings_give_a_value_or_the_one_error(
    read: Callable[[bytes], object], originals: list[bytes]
) -> None:
    """Nothing but `RemoteProtocolError` escapes a decoder. Spec: LIV-3. Fault: 5, 12, 13."""
    read_well = refused = 0
    for data in broken(originals, 5, 1500):
        try:
            read(data)
            read_well += 1
        except RemoteProtocolError:
            refused += 1
    assert read_well + refused == 1500
    assert refused > 100


def test_broken_answers_of_an_event_queue_have_a_meaning() -> None:
    """And events that say where a region is are read or refused. Fault: 11, 12."""
    events = refused = 0
    for data in broken([body for body in BODIES if b"<key>events" in body], 6, 1500):
        for event in read_answer_untrusted(200, data).events:
            events += 1
            try:
                read_region_event_untrusted(event)
            except RemoteProtocolError:
                refused += 1
    assert events > refused > 0


@pytest.mark.parametrize("role", Role)
def test_broken_packets_leave_a_circuit_alive(role: Role) -> None:
    """Whatever comes, it goes on until it is closed, and owes no more than it may. Fault: 5."""
    circuit = Circuit(("203.0.113.9", 9000), now=0.0, role=role)
    for number, data in enumerate(broken(PACKETS, 7, 3000)):
        circuit.receive_datagram_untrusted(data, ("203.0.113.9", 9000), number / 100)
        circuit.handle_timer(number / 100)
        assert all(len(out) <= 1200 for out, _ in circuit.datagrams_to_send(number / 100))
        while circuit.next_event() is not None:
            pass
    figures = circuit.statistics()
    assert figures.acks_owed <= ACKS_PENDING_MAX
    assert figures.malformed > 300
    assert figures.packets_in > 1000


def filled(unit: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    """As many units as 64 KiB hold."""
    return before + unit * ((64 * KIB - len(before) - len(after)) // len(unit)) + after


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "data"),
    [
        (read_llsd_notation_untrusted, filled(b"1,", b"[", b"1]")),
        (read_llsd_notation_untrusted, filled(b"\\n", b"'", b"'")),
        (read_llsd_notation_untrusted, filled(b"{},", b"[", b"!]")),
        (read_llsd_binary_untrusted, b"[" + (65_000).to_bytes(4, "big") + b"!" * 65_000 + b"]"),
        (read_llsd_xml_untrusted, filled(b"<map/>", b"<llsd><array>", b"</array></llsd>")),
        (read_llsd_xml_untrusted, filled(b"<uri/>", b"<llsd><array>", b"</array></llsd>")),
        (read_llsd_xml_untrusted, filled(b"&lt;", b"<llsd><string>", b"</string></llsd>")),
        (
            read_response_untrusted,
            filled(
                b"<value/>",
                b"<methodResponse><params><param><value><array><data>",
                b"</data></array></value></param></params></methodResponse>",
            ),
        ),
    ],
)
def test_sixty_four_kib_allocate_a_bounded_amount(read: Callable[[bytes], object], data: bytes) -> None:
    """The widest documents that fit stay within 16 MiB. Fault: 12."""
    tracemalloc.start()
    try:
        read(data)
        assert tracemalloc.get_traced_memory()[1] < 16 * KIB * KIB
    finally:
        tracemalloc.stop()
