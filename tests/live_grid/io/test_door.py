"""Logging in over HTTP."""

from __future__ import annotations

import msgspec
import pytest
import trio
import trio.testing

from benchmarks.captures import exchanges
from live_grid.addresses import HostPolicy
from live_grid.io.door import LoginFailed, find_login_url, log_in
from live_grid.io.web import Web
from live_grid.login import LoginRequest, NextStep, password_hash
from tests.live_grid.io.loopback import HttpServer

POLICY = HostPolicy(hosts=frozenset({"127.0.0.1"}), http=True, loopback=True)
REQUEST = LoginRequest(
    first="Bot",
    last="Avatar",
    password=password_hash("secret", second_life=False),
    channel="gridagent",
    version="0",
    mac="0" * 32,
    id0="0" * 32,
)
LET_IN = next(one.body for one in exchanges("two_clients") if one.path == "/" and b"login_to_simulator" in one.request)


def refusal(reason: str, message: str) -> bytes:
    """A refusal as grids write it."""
    fields = {"login": "false", "reason": reason, "message": message}
    members = "".join(
        f"<member><name>{name}</name><value><string>{text}</string></value></member>" for name, text in fields.items()
    )
    return (
        f"<?xml version='1.0'?><methodResponse><params><param><value><struct>{members}</struct></value></param>"
        "</params></methodResponse>"
    ).encode()


class Grid:
    """Answers each login with the next of its lines."""

    def __init__(self, *answers: bytes | int) -> None:
        self.answers = list(answers)
        self.bodies: list[bytes] = []
        self.server = HttpServer(self._answer)

    async def _answer(self, _: str, path: str, body: bytes) -> tuple[int, bytes, str]:
        self.bodies.append(body)
        answer = self.answers.pop(0)
        return (answer, b"", "") if isinstance(answer, int) else (200, answer, "")


@pytest.fixture
def fast() -> trio.testing.MockClock:
    """A clock on which pauses pass a hundred times as fast."""
    return trio.testing.MockClock(rate=100.0)


async def test_a_ghost_is_waited_out(fast, nursery) -> None:
    """The refusal that ends it, a moment, and we are let in. Spec: LIV-1."""
    grid = Grid(refusal("presence", "You appear to be already logged in."), LET_IN)
    await nursery.start(grid.server.serve)
    began = trio.current_time()
    reply = await log_in(Web(), REQUEST, url=grid.server.url(), policy=POLICY)
    assert reply.sim_port == 9000
    assert trio.current_time() - began >= 1.5
    assert len(grid.bodies) == 2
    nursery.cancel_scope.cancel()


async def test_a_wrong_password_is_not_tried_again(nursery) -> None:
    """The error says what follows and nothing of the secret. Spec: LIV-1. Fault: 13."""
    grid = Grid(refusal("key", "Could not authenticate your avatar."))
    await nursery.start(grid.server.serve)
    with pytest.raises(LoginFailed) as failed:
        await log_in(Web(), REQUEST, url=grid.server.url(), policy=POLICY)
    assert failed.value.refused.next is NextStep.FIX_CREDENTIALS
    assert REQUEST.password not in str(failed.value)
    assert len(grid.bodies) == 1
    nursery.cancel_scope.cancel()


@pytest.mark.slow
async def test_a_grid_that_is_away_is_asked_again(fast, nursery) -> None:
    """A page of maintenance, and no connection at all, are waited out until it is too long. Spec: LIV-1."""
    grid = Grid(503, 503, LET_IN)
    await nursery.start(grid.server.serve)
    reply = await log_in(Web(), REQUEST, url=grid.server.url(), policy=POLICY)
    assert reply.first_name
    with pytest.raises(LoginFailed) as failed:
        await log_in(Web(), REQUEST, url="http://127.0.0.1:9/", policy=POLICY)
    assert failed.value.refused.next is NextStep.WAIT
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize("token", ["123456", None])
async def test_a_challenge_is_answered_by_the_operator_or_not_at_all(nursery, token: str | None) -> None:
    """With a code we are let in, with a no, or nobody to ask, we are not. Spec: LIV-1."""
    grid = Grid(refusal("mfa_challenge", "Enter the code"), LET_IN, refusal("mfa_challenge", ""))
    await nursery.start(grid.server.serve)

    def give_token() -> str | None:
        return token

    if token is None:
        for ask in (give_token, None):
            grid.answers[:] = [refusal("mfa_challenge", "")]
            with pytest.raises(LoginFailed) as failed:
                await log_in(Web(), REQUEST, url=grid.server.url(), policy=POLICY, give_token=ask)
            assert failed.value.refused.next is NextStep.GIVE_TOKEN
    else:
        await log_in(Web(), REQUEST, url=grid.server.url(), policy=POLICY, give_token=give_token)
        assert token.encode() in grid.bodies[1]
    nursery.cancel_scope.cancel()


async def test_a_proof_is_handed_over_whenever_it_changes(nursery) -> None:
    """Forgotten when it is challenged, kept when a new one comes; not a word where nothing changed. Spec: LIV-1."""
    member = b"<member><name>mfa_hash</name><value><string>new-proof</string></value></member>"
    let_in = LET_IN.replace(b"<member>", member + b"<member>", 1)
    grid = Grid(refusal("mfa_challenge", ""), let_in, LET_IN)
    await nursery.start(grid.server.serve)
    kept: list[str] = []

    async def remember(proof: str) -> None:
        await trio.lowlevel.checkpoint()
        kept.append(proof)

    request = msgspec.structs.replace(REQUEST, mfa_hash="old-proof")
    ways = {"url": grid.server.url(), "policy": POLICY, "give_token": lambda: "246810", "remember": remember}
    await log_in(Web(), request, **ways)
    assert kept == ["", "new-proof"]
    await log_in(Web(), msgspec.structs.replace(REQUEST, mfa_hash="new-proof"), **ways)
    assert kept == ["", "new-proof"]
    nursery.cancel_scope.cancel()


async def test_a_redirect_is_followed_to_a_vetted_host(nursery) -> None:
    """Where it leads is the grid's word. Spec: LIV-1. Fault: 10."""
    grid = Grid()
    await nursery.start(grid.server.serve)
    sent_on = refusal("", "").replace(b"<string>false", b"<string>indeterminate")
    more = f"""<member><name>next_url</name><value><string>{grid.server.url("/there")}</string></value></member>
        <member><name>next_method</name><value><string>login_to_simulator</string></value></member></struct>"""
    grid.answers = [sent_on.replace(b"</struct>", more.encode()), LET_IN]
    reply = await log_in(Web(), REQUEST, url=grid.server.url(), policy=POLICY)
    assert reply.circuit_code
    assert grid.server.heads[1].startswith("POST /there ")
    nursery.cancel_scope.cancel()


async def test_a_grid_says_where_to_log_in(nursery) -> None:
    """A page that is none, or nobody who answers, leaves us with what we have. Spec: LIV-1."""
    grid = Grid(b"<gridinfo><login>http://127.0.0.1:8002/</login></gridinfo>", b"<html/>", 404)
    await nursery.start(grid.server.serve)
    url = grid.server.url("/somewhere")
    assert await find_login_url(Web(), url) == "http://127.0.0.1:8002/"
    assert grid.server.heads[0].startswith("GET /get_grid_info ")
    assert await find_login_url(Web(), url) == url
    assert await find_login_url(Web(), url) == url
    assert await find_login_url(Web(), "http://127.0.0.1:9/") == "http://127.0.0.1:9/"
    nursery.cancel_scope.cancel()
