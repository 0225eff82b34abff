"""Logging in: discovery, the login's posts, its pauses, and a one-time code where one is wanted.

Owns the performing of a `LoginMachine`, which decides everything. Nothing of a request, an answer or a secret is
logged or raised; a refusal carries the machine's own sorting of it (Spec: LIV-1; Fault: 13).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

import trio

from live_grid.addresses import HostPolicy
from live_grid.errors import LiveGridError, RemoteProtocolError
from live_grid.io.network import WebClient
from live_grid.io.web import WebFailed
from live_grid.login import GridInfo, LoginMachine, LoginRefused, LoginReply, LoginRequest, read_grid_info_untrusted
from live_grid.login.machine import TRIES_MAX, LoginState

__all__ = ("GiveToken", "LoginFailed", "Remember", "ask_grid", "find_login_url", "log_in")

GiveToken = Callable[[], str | None]
"""Hands out the one-time code that the operator gave; None where there is none."""
Remember = Callable[[str], Awaitable[None]]
"""Keeps the proof of a passed challenge for later logins; empty forgets it."""

POST_TIMEOUT_S: Final = 90.0
"""An inventory of a hundred thousand items takes its time."""
GRID_INFO_TIMEOUT_S: Final = 15.0
REMEMBER_S: Final = 2.0
"""Longest that keeping a proof may hold up a login, or its end."""
_OK: Final = 200


class LoginFailed(LiveGridError):
    """The grid did not let us in; ``refused`` says why and what follows."""

    code = "login_failed"

    def __init__(self, refused: LoginRefused) -> None:
        self.refused = refused
        super().__init__(f"the grid did not let us in: {refused.next.value}")


async def ask_grid(web: WebClient, url: str) -> GridInfo:
    """Ask a grid for its page of information.

    Args:
        web: to ask with.
        url: any address of the grid, from the operator.

    Raises:
        WebFailed: no whole response came.
        RemoteProtocolError: the response is no such page.
    """
    parts = urlsplit(url)
    page = await web.get(f"{parts.scheme}://{parts.netloc}/get_grid_info", timeout_s=GRID_INFO_TIMEOUT_S, policy=None)
    if page.status != _OK:
        raise RemoteProtocolError("there is no page of grid information")
    return read_grid_info_untrusted(page.body)


async def find_login_url(web: WebClient, url: str) -> str:
    """Ask a grid's page of information where to log in; the address itself if it has no such page.

    Args:
        web: to ask with.
        url: any address of the grid, from the operator.
    """
    try:
        return (await ask_grid(web, url)).login_url(url)
    except (WebFailed, RemoteProtocolError):
        return url


async def log_in(
    web: WebClient,
    request: LoginRequest,
    *,
    url: str,
    policy: HostPolicy,
    give_token: GiveToken | None = None,
    remember: Remember | None = None,
    tries: int = TRIES_MAX,
    waits: bool = True,
) -> LoginReply:
    """Log in, waiting out what can be waited out.

    Args:
        web: to ask with.
        request: who we are.
        url: the operator's own; not vetted.
        policy: where a redirect may lead.
        give_token: hands out a one-time code; without one a challenge is a refusal.
        remember: told of the proof of a challenge as often as it changes, whatever becomes of the login.
        tries: how often to ask, the first time included.
        waits: wait until a grid that is away is back, see `LoginMachine`.

    Raises:
        LoginFailed: the grid refused for good, or for too long.

    Cancellation: we may be logged in.
    """
    machine = LoginMachine(request, url=url, policy=policy, tries=tries, waits=waits)
    kept = machine.mfa_hash
    while machine.reply is None:
        post = machine.next_request()
        if post is not None:
            # The first address is the operator's own; where a redirect leads is the grid's word.
            vetted = None if post.url == url else policy
            try:
                response = await web.post(
                    post.url, post.body, content_type=post.content_type, timeout_s=POST_TIMEOUT_S, policy=vetted
                )
            except WebFailed:
                machine.receive_failure(trio.current_time())
            else:
                machine.receive_response(response.status, response.body, trio.current_time())
            if remember is not None and machine.mfa_hash != kept:
                kept = machine.mfa_hash
                # We may be logged in by now, and a grid gives such a proof once: a cancellation waits for it.
                with trio.CancelScope(shield=True, deadline=trio.current_time() + REMEMBER_S):
                    await remember(kept)
        elif machine.state is LoginState.PAUSED:
            await trio.sleep_until(machine.get_timer() or trio.current_time())
            machine.handle_timer(trio.current_time())
        elif machine.state is LoginState.CHALLENGED:
            token = give_token() if give_token is not None else None
            if token is None:
                machine.give_up()
            else:
                machine.give_token(token)
        else:
            assert machine.refused is not None  # noqa: S101 - a machine that has ended without a reply was refused
            raise LoginFailed(machine.refused)
    return machine.reply
