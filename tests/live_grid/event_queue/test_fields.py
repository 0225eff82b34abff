"""Single fields of event-queue bodies."""

from __future__ import annotations

from uuid import UUID

import pytest

from live_grid.errors import RemoteProtocolError
from live_grid.event_queue.fields import address_of, block_of, number_of, text_of_field, uuid_of, vector_of

ID = UUID("6f1c2b30-0000-4000-8000-000000000001")


def test_numbers_come_in_two_forms() -> None:
    """Binary as Second Life writes them, integers as OpenSimulator does; a negative one is an unsigned one."""
    block = {"a": b"\0\0\1\0", "b": 256, "c": -1, "d": b"\0\x03\xe9\0\0\x03\xe8\0"}
    assert [number_of(block, name) for name in "abcd"] == [256, 256, 0xFFFF_FFFF, (256256 << 32) | 256000]
    assert number_of(block, "e", 7) == 7


@pytest.mark.parametrize("value", [True, "1", 1.0, b"", bytes(9), None])
def test_what_is_no_number_is_refused(value) -> None:
    """Also when there is a default: it stands for a missing field only."""
    with pytest.raises(RemoteProtocolError, match="number n"):
        number_of({"n": value}, "n", 3)


def test_other_fields_are_read_by_their_kind() -> None:
    """Blocks, texts, ids, vectors and addresses."""
    body = {"B": [{"t": "x", "u": ID, "v": [1.0, 2.0, 3.0], "ip": b"\x7f\0\0\1", "port": 9000}, 5]}
    block = block_of(body, "B")
    assert text_of_field(block, "t") == "x"
    assert uuid_of(block, "u") == ID.bytes
    assert vector_of(block, "v") == (1.0, 2.0, 3.0)
    assert address_of(block, "ip", "port") == ("127.0.0.1", 9000)


@pytest.mark.parametrize(
    "read",
    [
        lambda: block_of({"B": []}, "B"),
        lambda: block_of({"B": {}}, "B"),
        lambda: block_of({}, "B"),
        lambda: text_of_field({"t": 5}, "t"),
        lambda: uuid_of({"u": str(ID)}, "u"),
        lambda: vector_of({"v": [1.0, 2.0]}, "v"),
        lambda: vector_of({"v": [1, 2, 3]}, "v"),
        lambda: address_of({"ip": b"\x7f\0\0", "port": 1}, "ip", "port"),
        lambda: address_of({"ip": b"\x7f\0\0\1", "port": 0}, "ip", "port"),
        lambda: address_of({"ip": b"\x7f\0\0\1", "port": 65536}, "ip", "port"),
        lambda: address_of({"ip": "127.0.0.1", "port": 1}, "ip", "port"),
    ],
)
def test_fields_of_another_kind_are_refused(read) -> None:
    """One typed error that names the field. Fault: 12."""
    with pytest.raises(RemoteProtocolError, match="event without"):
        read()
