"""Answers of an event queue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.captures import NAMES, exchanges
from live_grid.event_queue import QueueEvent
from live_grid.event_queue.answer import Meaning, read_answer_untrusted
from live_grid.llsd import write_llsd_xml


def test_recorded_answers_are_read() -> None:
    """Every event of a real simulator, in its order. Spec: LIV-4."""
    names = []
    for name in NAMES:
        for one in exchanges(name):
            if one.path.startswith("/CE/") and one.status:
                answer = read_answer_untrusted(one.status, one.body)
                assert answer.malformed == 0
                assert answer.meaning is {200: Meaning.EVENTS, 404: Meaning.GONE, 502: Meaning.NOTHING}[one.status]
                assert (answer.id is not None) is (one.status == 200)
                names += [event.name for event in answer.events]
    assert set(names) == {
        "ParcelProperties",
        "EnableSimulator",
        "EstablishAgentCommunication",
        "TeleportFinish",
        "CrossedRegion",
    }
    assert len(names) == 31


@pytest.mark.parametrize("status", [499, 500, 502, 503, 504, 403, 301])
def test_errors_are_how_servers_say_nothing(status: int) -> None:
    """Whatever the body. Fault: 11."""
    assert read_answer_untrusted(status, b"<html>Bad Gateway</html>").meaning is Meaning.NOTHING


@pytest.mark.parametrize("status", [404, 410])
def test_a_queue_can_be_gone(status: int) -> None:
    """For the main region that means we are not there any more."""
    assert read_answer_untrusted(status, b"").meaning is Meaning.GONE


@pytest.mark.parametrize(
    ("body", "malformed"),
    [
        (b"", 0),
        (b"<llsd><undef/></llsd>", 0),
        (b"<llsd><map><key>events</key><array/><key>id</key><integer>1</integer></map></llsd>", 0),
        (b"<html><body>502</body></html>", 1),
        (b"<llsd><map/></llsd>", 1),
        (b"<llsd><string>x</string></llsd>", 1),
        (write_llsd_xml({"events": [None] * 1025}), 1),
    ],
)
def test_a_body_without_events_is_nothing(body: bytes, malformed: int) -> None:
    """Empty, undef, HTML in a 200, too many events: nothing happened, and what was wrong is counted. Fault: 11."""
    answer = read_answer_untrusted(200, body)
    assert (answer.meaning, answer.events, answer.malformed) == (Meaning.NOTHING, (), malformed)


def test_events_that_are_none_are_counted_and_left_out() -> None:
    """The others are taken; an id that is no number is none."""
    entries = [{"message": "A", "body": {"x": 1}}, {"message": "", "body": {}}, {"message": "B"}, 5]
    answer = read_answer_untrusted(200, write_llsd_xml({"events": entries, "id": True}))
    assert answer.events == (QueueEvent(name="A", body={"x": 1}),)
    assert (answer.malformed, answer.id, answer.meaning) == (3, None, Meaning.EVENTS)


@given(st.integers(100, 599), st.binary(max_size=100))
def test_no_answer_raises(status: int, body: bytes) -> None:
    """Whatever comes has a meaning. Fault: 11."""
    assert read_answer_untrusted(status, b"<llsd>" + body + b"</llsd>").meaning in Meaning
