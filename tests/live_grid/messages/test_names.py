"""Names and numbers of the whole template."""

from __future__ import annotations

from live_grid.messages import BY_NAME, BY_NUMBER, name_of


def test_every_number_of_the_template_has_one_name() -> None:
    """483 messages: 3 fixed, 32 high, 17 medium, 431 low, none twice. Spec: LIV-3."""
    assert len(BY_NAME) == len(BY_NUMBER) == 3 + 32 + 17 + 431
    widths = [len(header.prefix) for header in BY_NUMBER.values()]
    assert [widths.count(width) for width in (1, 2, 4)] == [32, 17, 434]


def test_numbers_stand_on_the_wire_as_the_facts_say() -> None:
    """One byte for High, an escape for Medium, two escapes for Low and Fixed."""
    assert BY_NAME["AgentUpdate"].prefix == b"\x04"
    assert BY_NAME["CoarseLocationUpdate"].prefix == b"\xff\x06"
    assert BY_NAME["RegionHandshake"].prefix == b"\xff\xff\x00\x94"
    assert BY_NAME["FindAgent"].prefix == b"\xff\xff\x01\x00"
    assert BY_NAME["PacketAck"].prefix == b"\xff\xff\xff\xfb"
    assert BY_NAME["ObjectBypassModUpdate"].number == 0xFFFF_0000 + 431
    for number, header in BY_NUMBER.items():
        assert int.from_bytes(header.prefix, "big") == number == header.number


def test_marks_are_read_from_the_table() -> None:
    """Trust, zero-coding and event-queue-only are facts of the header."""
    handshake, finish, update = BY_NAME["RegionHandshake"], BY_NAME["TeleportFinish"], BY_NAME["AgentUpdate"]
    assert (handshake.trusted, handshake.zerocoded, handshake.event_queue_only) == (True, True, False)
    assert (finish.trusted, finish.zerocoded, finish.event_queue_only) == (True, False, True)
    assert (update.trusted, update.zerocoded, update.event_queue_only) == (False, True, False)


def test_a_number_no_template_knows_has_a_name_too() -> None:
    """Nothing on the wire is nameless."""
    assert name_of(0xFFFF_0001) == "TestMessage"
    assert name_of(0xFFFF_FF00) == "message 0xffffff00"
