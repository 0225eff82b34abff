"""The course of a login."""

from __future__ import annotations

import xmlrpc.client

import msgspec
import pytest

from benchmarks.captures import exchanges
from live_grid.addresses import HostPolicy
from live_grid.errors import IllegalTransition
from live_grid.login import LOGIN_TABLE, LoginMachine, LoginRequest, NextStep
from live_grid.login.machine import REDIRECTS_MAX, TRIES_MAX, LoginInput, LoginState
from live_grid.login.xmlrpc import write_response

REQUEST = LoginRequest(first="A", last="B", password="$1$canary", channel="c", version="1", mac="0", id0="0")
POLICY = HostPolicy(hosts=frozenset({"login.example.org", "next.example.org"}))
ACCEPTED = next(one.body for one in exchanges("two_clients") if one.path == "/")
GHOST = write_response({"login": "false", "reason": "presence", "message": "You appear to be already logged in."})


def machine() -> LoginMachine:
    """A login that has not begun."""
    return LoginMachine(REQUEST, url="https://login.example.org/", policy=POLICY)


def refusal(reason: str) -> bytes:
    """What a grid answers that does not let us in."""
    return write_response({"login": "false", "reason": reason, "message": ""})


def onward(url: str, method: str = "login_to_simulator") -> bytes:
    """What a grid answers that sends us elsewhere."""
    return write_response({"login": "indeterminate", "next_url": url, "next_method": method})


@pytest.mark.parametrize("state", LoginState)
@pytest.mark.parametrize("given", LoginInput)
def test_every_pair_is_legal_or_refused(state: LoginState, given: LoginInput) -> None:
    """The table lists what may happen; anything else is an error that names both."""
    if LOGIN_TABLE.allows(state, given):
        assert LOGIN_TABLE.step(state, given) in LoginState
        assert state not in LOGIN_TABLE.terminal
    else:
        with pytest.raises(IllegalTransition, match=state.value):
            LOGIN_TABLE.step(state, given)


def test_a_login_is_let_in() -> None:
    """One request, one reply; nothing more to send. Spec: LIV-1."""
    login = machine()
    post = login.next_request()
    assert post is not None
    assert (post.url, post.content_type) == ("https://login.example.org/", "text/xml")
    assert "canary" not in repr(post)
    assert login.next_request() is None
    login.receive_response(200, ACCEPTED, 1.0)
    assert login.state is LoginState.ACCEPTED
    assert login.reply is not None
    assert login.reply.sim_port == 9000
    assert login.next_request() is None
    assert login.get_timer() is None


def test_a_ghost_is_waited_out_and_asked_again() -> None:
    """The first refusal ended the stale session: a retry 1.5 s later gets in. Spec: LIV-1."""
    login = machine()
    login.next_request()
    login.receive_response(200, GHOST, 10.0)
    assert (login.state, login.get_timer()) == (LoginState.PAUSED, 11.5)
    assert login.refused is not None
    assert login.refused.next is NextStep.RETRY_SOON
    login.handle_timer(11.4)
    assert login.next_request() is None
    login.handle_timer(11.5)
    assert login.next_request() is not None
    login.receive_response(200, ACCEPTED, 12.0)
    assert login.state is LoginState.ACCEPTED


def test_a_grid_that_is_down_is_asked_with_growing_pauses_and_then_given_up() -> None:
    """No spin and no end without one: six tries. Fault: 13."""
    login, now, pauses = machine(), 0.0, []
    for _ in range(TRIES_MAX):
        assert login.next_request() is not None
        login.receive_failure(now)
        timer = login.get_timer()
        if timer is not None:
            pauses.append(timer - now)
            now = timer
            login.handle_timer(now)
    assert login.state is LoginState.REFUSED
    assert pauses == [5.0, 10.0, 20.0, 40.0, 80.0]


def test_who_has_a_plan_of_his_own_waits_for_a_ghost_only() -> None:
    """A grid that is away is told of at once; a stale session of ours is waited out, but not for ever. Spec: SUP-6."""

    def impatient() -> LoginMachine:
        return LoginMachine(REQUEST, url="https://login.example.org/", policy=POLICY, tries=2, waits=False)

    login = impatient()
    login.next_request()
    login.receive_failure(0.0)
    assert login.state is LoginState.REFUSED
    login = impatient()
    login.next_request()
    login.receive_response(200, GHOST, 0.0)
    assert login.get_timer() == 1.5
    login.handle_timer(1.5)
    login.next_request()
    login.receive_response(200, GHOST, 1.5)
    assert login.state is LoginState.REFUSED


@pytest.mark.parametrize("reason", ["key", "tos", "critical", "update", "unheard-of"])
def test_permanent_refusals_are_not_tried_again(reason: str) -> None:
    """The operator has to change something first. Fault: 13."""
    login = machine()
    login.next_request()
    login.receive_response(200, refusal(reason), 0.0)
    assert login.state is LoginState.REFUSED
    assert login.refused is not None
    assert login.refused.next.permanent
    assert (login.next_request(), login.get_timer()) == (None, None)


def test_a_malformed_reply_is_waited_out() -> None:
    """A body cut on the way may be whole the next time; a document type never gets in. Fault: 13."""
    login = machine()
    login.next_request()
    login.receive_response(200, b"<?xml version='1.0'?><!DOCTYPE x><methodResponse/>", 0.0)
    assert login.state is LoginState.PAUSED
    assert login.refused is not None
    assert login.refused.reason == "malformed"


def test_a_multi_factor_challenge_is_answered_with_a_token() -> None:
    """The token goes with the next request; without one the login ends. Spec: LIV-1, Fault: 13."""
    login = machine()
    login.next_request()
    login.receive_response(200, refusal("mfa_challenge"), 0.0)
    assert login.state is LoginState.CHALLENGED
    login.give_token("987654")
    post = login.next_request()
    assert post is not None
    (fields,), _ = xmlrpc.client.loads(post.body)
    assert fields["token"] == "987654"
    login.receive_response(200, refusal("mfa_challenge"), 0.0)
    assert login.state is LoginState.REFUSED
    assert login.refused is not None
    assert login.refused.next is NextStep.MEND_TOKEN
    with pytest.raises(IllegalTransition):
        login.give_token("1")


def sent(login: LoginMachine) -> dict[str, str]:
    """The fields of the next request."""
    post = login.next_request()
    assert post is not None
    (fields,), _ = xmlrpc.client.loads(post.body)
    return fields


def test_nobody_to_give_a_token_ends_the_login() -> None:
    """A challenge without an answer is a refusal that says what is wanted. Spec: LIV-1, Fault: 13."""
    login = machine()
    login.next_request()
    login.receive_response(200, refusal("mfa_challenge"), 0.0)
    login.give_up()
    assert login.state is LoginState.REFUSED
    assert login.refused is not None
    assert login.refused.next is NextStep.GIVE_TOKEN


def test_a_wrong_token_is_told_from_a_wrong_password() -> None:
    """Grids have one word for both; the password had passed before the challenge. Spec: LIV-1."""
    login = machine()
    login.next_request()
    login.receive_response(200, refusal("mfa_challenge"), 0.0)
    login.give_token("000000")
    login.next_request()
    login.receive_response(200, refusal("key"), 0.0)
    assert login.refused is not None
    assert login.refused.next is NextStep.MEND_TOKEN
    plain = machine()
    plain.next_request()
    plain.receive_response(200, refusal("key"), 0.0)
    assert plain.refused is not None
    assert plain.refused.next is NextStep.FIX_CREDENTIALS


def test_a_proof_that_is_challenged_is_forgotten() -> None:
    """It has expired: the next request goes without it, and the new proof takes its place. Spec: LIV-1."""
    request = msgspec.structs.replace(REQUEST, mfa_hash="old-proof")
    login = LoginMachine(request, url="https://login.example.org/", policy=POLICY)
    assert (sent(login)["mfa_hash"], login.mfa_hash) == ("old-proof", "old-proof")
    login.receive_response(200, refusal("mfa_challenge"), 0.0)
    assert login.mfa_hash == ""
    login.give_token("246810")
    fields = sent(login)
    assert (fields["token"], fields["mfa_hash"]) == ("246810", "")
    member = b"<member><name>mfa_hash</name><value><string>new-proof</string></value></member>"
    login.receive_response(200, ACCEPTED.replace(b"<member>", member + b"<member>", 1), 0.0)
    assert (login.state, login.mfa_hash) == (LoginState.ACCEPTED, "new-proof")


def test_a_proof_is_kept_through_every_other_refusal() -> None:
    """A wrong password or a grid that is away says nothing about it. Spec: LIV-1."""
    for reason in ("key", "maintenance", "tos"):
        request = msgspec.structs.replace(REQUEST, mfa_hash="old-proof")
        login = LoginMachine(request, url="https://login.example.org/", policy=POLICY)
        login.next_request()
        login.receive_response(200, refusal(reason), 0.0)
        assert login.mfa_hash == "old-proof"


def test_a_proof_that_comes_with_a_refusal_is_kept_and_the_token_is_spent() -> None:
    """The code was taken and the stale session is in the way: the retry shows the proof alone. Spec: LIV-1."""
    login = machine()
    login.next_request()
    login.receive_response(200, refusal("mfa_challenge"), 0.0)
    login.give_token("246810")
    login.next_request()
    ghost = {"login": "false", "reason": "presence", "message": "You are already logged in.", "mfa_hash": "proof"}
    login.receive_response(200, write_response(ghost), 10.0)
    assert login.mfa_hash == "proof"
    assert "proof" not in repr(login.refused)
    login.handle_timer(20.0)
    fields = sent(login)
    assert (fields["token"], fields["mfa_hash"]) == ("", "proof")


@pytest.mark.parametrize("proof", ["x" * 1_025, "two\nlines", "pr\u00f6\u00f6f"], ids=["long", "lines", "letters"])
def test_a_proof_that_no_file_could_hold_is_none(proof: str) -> None:
    """It would be kept and sent again for ever. Spec: LIV-1, LIV-3."""
    login = machine()
    login.next_request()
    login.receive_response(200, write_response({"login": "false", "reason": "tos", "mfa_hash": proof}), 0.0)
    assert login.mfa_hash == ""


def test_a_redirect_is_followed_to_a_host_of_the_policy() -> None:
    """The next request goes there, at once. Spec: LIV-1."""
    login = machine()
    login.next_request()
    login.receive_response(200, onward("https://next.example.org/login"), 0.0)
    post = login.next_request()
    assert post is not None
    assert post.url == "https://next.example.org/login"


@pytest.mark.parametrize(
    "body",
    [
        onward("http://next.example.org/"),
        onward("https://evil.example/"),
        onward(""),
        onward("https://next.example.org/", "x"),
    ],
)
def test_a_redirect_elsewhere_ends_the_login(body: bytes) -> None:
    """A password is sent to nobody the operator did not name. Fault: 13."""
    login = machine()
    login.next_request()
    login.receive_response(200, body, 0.0)
    assert login.state is LoginState.REFUSED
    assert login.refused is not None
    assert login.refused.reason == "redirect"


def test_redirects_in_a_circle_end() -> None:
    """Three are followed, a fourth is not."""
    login = machine()
    for _ in range(REDIRECTS_MAX + 1):
        assert login.next_request() is not None
        login.receive_response(200, onward("https://next.example.org/"), 0.0)
    assert login.state is LoginState.REFUSED
