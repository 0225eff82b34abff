"""Who asks, and whether a request can travel."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from live_grid.messages import Message, header_of
from live_grid.packet import decode_packet_untrusted, encode_packet, read_message_untrusted
from live_grid.requests import Identity, Request

Travel = Callable[[Request], tuple[Message, ...]]


@pytest.fixture
def me() -> Identity:
    """Somebody with a session."""
    return Identity(agent_id=bytes(15) + b"\x01", session_id=b"\x5e" * 16, circuit_code=77, name="Mia Mine")


@pytest.fixture
def travel() -> Travel:
    """Send a request over the wire and read what arrives; nothing in it may come from simulators only."""

    def over_the_wire(request: Request) -> tuple[Message, ...]:
        for message in request.messages:
            header = header_of(type(message))
            assert not header.trusted
            assert not header.event_queue_only
        return tuple(
            read_message_untrusted(decode_packet_untrusted(encode_packet(message, sequence=1)))
            for message in request.messages
        )

    return over_the_wire
