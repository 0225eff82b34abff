"""The server's side of a connection, without any IO."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.config.secrets import SecretStr
from gridagent.controls import Hold
from gridagent.fronts.control.conversation import (
    CONVERSATION,
    ControlConversation,
    Farewell,
    Phase,
    PhaseInput,
    RequestRate,
)
from gridagent.fronts.control.limits import ControlLimits
from gridagent.fronts.control.words import PROTOCOL_VERSION, Observe, SendControl, ShowStatus, Welcome

TOKEN = "canary-5ecre7-token"


def begin(**limits: float) -> ControlConversation:
    """A fresh conversation at second 100."""
    return ControlConversation(
        SecretStr(TOKEN), version="9.9", instance="inst", limits=ControlLimits(**limits), now=100.0
    )


def line(**fields: object) -> bytes:
    """One frame."""
    return json.dumps(fields).encode() + b"\n"


def hello(token: str = TOKEN, protocol: int = PROTOCOL_VERSION) -> bytes:
    """A greeting."""
    return line(request="hello", id=1, protocol=protocol, token=token)


def greeted(**limits: float) -> ControlConversation:
    """A conversation after the greeting."""
    conversation = begin(**limits)
    conversation.feed(hello())
    assert isinstance(conversation.next_said(100.0), Welcome)
    return conversation


def test_the_table_lets_nobody_back_to_the_greeting() -> None:
    """Every pair of the table: only what is listed is allowed, and nothing follows the end. Spec: OPS-6."""
    assert {(state, given) for state, given, _ in CONVERSATION.rows()} == {
        (Phase.GREETING, PhaseInput.WELCOMED),
        (Phase.GREETING, PhaseInput.END),
        (Phase.ASKING, PhaseInput.OBSERVE),
        (Phase.ASKING, PhaseInput.END),
        (Phase.STREAMING, PhaseInput.END),
    }
    assert all(target is not Phase.GREETING for _, _, target in CONVERSATION.rows())


def test_the_right_token_is_welcomed_and_requests_come_out() -> None:
    """After the token, one request after another comes out in order. Spec: OPS-6."""
    conversation = begin()
    conversation.feed(
        hello() + line(request="status", id=2) + line(request="control", id=3, control={"control": "hold"})
    )
    assert conversation.next_said(100.0) == Welcome(id=1, protocol=PROTOCOL_VERSION, version="9.9", instance="inst")
    assert conversation.next_said(100.0) == ShowStatus(id=2)
    assert conversation.next_said(100.0) == SendControl(id=3, control=Hold())
    assert conversation.next_said(100.0) is None


@pytest.mark.parametrize(
    "wire",
    [
        hello("wrong"),
        hello(TOKEN + "x"),
        hello(TOKEN[:-1]),
        hello(""),
        hello("tökén"),
        hello("x" * 5_000),
        line(request="hello", protocol=PROTOCOL_VERSION),
        line(request="status"),
        line(request="hold_all"),
        line(request="control", control={"control": "hold"}),
        b"GET / HTTP/1.1\r\n",
        b'{"request":"hello","protocol":1,"token":"' + TOKEN.encode() + b'","token":"x"}\n',
        b"\xff\n",
        b"x" * 70_000,
        hello("wrong", protocol=99),
    ],
)
def test_everybody_without_the_token_gets_the_same_words(wire) -> None:
    """Wrong, absent, twice, too long, another protocol: one answer that tells nothing. Spec: OPS-6. Fault: 33."""
    conversation = begin()
    conversation.feed(wire)
    said = conversation.next_said(100.0)
    assert isinstance(said, Farewell)
    assert said.last.code == "unauthenticated"
    assert said.last.message == "show the token of the runtime directory first"
    assert conversation.phase is Phase.OVER


def test_nothing_comes_out_after_the_end() -> None:
    """A request behind a wrong token is never performed. Spec: OPS-6."""
    conversation = begin()
    conversation.feed(hello("wrong") + hello() + line(request="hold_all"))
    assert isinstance(conversation.next_said(100.0), Farewell)
    assert conversation.next_said(100.0) is None


def test_another_version_is_told_which_one_is_spoken_here() -> None:
    """Versions cannot be confused: the client is told, and the connection ends. Spec: OPS-6."""
    conversation = begin()
    conversation.feed(hello(protocol=PROTOCOL_VERSION + 1))
    said = conversation.next_said(100.0)
    assert isinstance(said, Farewell)
    assert (said.last.code, said.last.id) == ("protocol_version", 1)
    assert f"version {PROTOCOL_VERSION}" in said.last.message


@pytest.mark.parametrize(
    ("wire", "code"),
    [
        (b"nonsense\n", "malformed"),
        (line(request="status", wrong=1), "malformed"),
        (hello(), "malformed"),
        (b"x" * 70_000, "frame_too_large"),
    ],
)
def test_one_broken_rule_ends_the_connection_with_its_code(wire, code) -> None:
    """A malformed frame gets a typed reply and no second chance. Spec: OPS-6, BND-7."""
    conversation = greeted()
    conversation.feed(wire)
    said = conversation.next_said(100.0)
    assert isinstance(said, Farewell)
    assert said.last.code == code
    assert conversation.phase is Phase.OVER


def test_a_stream_takes_no_request() -> None:
    """Who observes may only leave."""
    conversation = greeted()
    conversation.feed(line(request="observe", id=2))
    assert conversation.next_said(100.0) == Observe(id=2)
    assert conversation.phase is Phase.STREAMING
    conversation.feed(line(request="status"))
    said = conversation.next_said(100.0)
    assert isinstance(said, Farewell)
    assert said.last.code == "streaming"


def test_too_many_requests_end_the_connection() -> None:
    """The rate is bounded, and time gives requests back. Spec: OPS-6."""
    conversation = greeted(requests_burst=2, requests_per_s=1.0)
    conversation.feed(line(request="status") * 4)
    assert [type(conversation.next_said(at)) for at in (100.0, 100.0, 101.0, 101.0)] == [
        ShowStatus,
        ShowStatus,
        ShowStatus,
        Farewell,
    ]


@given(st.lists(st.floats(0.0, 5.0), min_size=1, max_size=60))
def test_the_rate_never_gives_more_than_burst_and_time_allow(pauses) -> None:
    """Over any span the requests let through are at most the burst and what came back. Spec: OPS-6."""
    rate, now, taken = RequestRate(5, 2.0, 0.0), 0.0, 0
    for pause in pauses:
        now += pause
        taken += rate.take(now)
        assert taken <= 5 + 2.0 * now + 1e-6


def test_a_clock_that_steps_back_gives_nothing() -> None:
    """Time going back opens no room."""
    rate = RequestRate(1, 1.0, 100.0)
    assert rate.take(100.0)
    assert not rate.take(50.0)


def test_silence_has_an_end_before_the_token_and_between_requests() -> None:
    """Each phase has its own time; a stream has none. Spec: OPS-6. Fault: 34."""
    conversation = begin(hello_timeout_s=5.0, idle_timeout_s=60.0)
    assert conversation.timer() == 105.0
    assert conversation.on_timer().last.code == "unauthenticated"
    conversation = greeted(idle_timeout_s=60.0)
    assert conversation.timer() == 160.0
    assert conversation.on_timer().last.code == "idle"
    assert conversation.timer() is None
    conversation = greeted()
    conversation.feed(line(request="observe"))
    conversation.next_said(100.0)
    assert conversation.timer() is None


@given(st.binary(max_size=300), st.integers(1, 40))
def test_no_bytes_before_the_token_cause_anything(wire, step) -> None:
    """Whatever is sent without the token, no request comes out. Spec: OPS-6."""
    conversation = begin()
    for start in range(0, len(wire), step):
        conversation.feed(wire[start : start + step])
        while (said := conversation.next_said(100.0)) is not None:
            assert isinstance(said, Farewell)
            assert TOKEN not in str(said)
    assert not conversation.trusted
