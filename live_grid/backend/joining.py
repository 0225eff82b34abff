"""From an account to a session on the network: login, policy, socket.

Owns the way in and every error on it, each with its typed cause; and what has to be let go of at the end. What the grid
said goes into the error's detail, which only the redacted log sees (Spec: SUP-6, SUP-10, LIV-14).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import attrs
import trio

from gridagent.config.secrets import SecretStr
from gridagent.errors import BackendError
from gridagent.events import DisconnectCause
from gridagent.grid.second_factor import SecondFactor
from live_grid.backend.account import LiveAccount, LiveSettings, login_request
from live_grid.backend.causes import cause_of_refusal
from live_grid.errors import RemoteProtocolError
from live_grid.handover import GridSession, SessionEvent
from live_grid.io import GridClient, LoginFailed, Recorder, WebFailed, log_in, trust_in
from live_grid.io.network import Datagrams, WebClient

__all__ = ("Connection", "join")

CLOSE_S = 1.0
GHOST_TRIES = 3
"""Logins of one attempt while the grid says that we are in already."""


@attrs.frozen(kw_only=True, eq=False)
class Connection:
    """A session and what it stands on."""

    client: GridClient
    udp: Datagrams
    web: WebClient

    async def leave(self) -> None:
        """Tell the grid that we leave, and let go of the network.

        Cancellation: the grid has been told.
        """
        try:
            await self.client.leave()
        finally:
            self.udp.close()
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_S):
                await self.web.aclose()


async def join(account: LiveAccount, settings: LiveSettings, on_event: Callable[[SessionEvent], None]) -> Connection:
    """Log in and make a session of it.

    Args:
        account: who logs in.
        settings: how to reach the grid.
        on_event: takes each event of the session.

    Raises:
        BackendError: there is none.
        ConfigError: the account's start names no place.

    Cancellation: we may be logged in.
    """
    factor = settings.second_factor
    proof = None if factor is None else await factor.remembered()
    request = login_request(account, settings, proof)
    web = settings.network.open_web()
    joined = False
    try:
        with trio.fail_after(settings.login_timeout_s):
            policy = trust_in(settings.login_url, await web.resolve(settings.login_url, None))
            # A ghost of ours is gone in a moment; every longer wait is the reconnect table's (Spec: SUP-6).
            reply = await log_in(
                web,
                request,
                url=settings.login_url,
                policy=policy,
                give_token=None if factor is None else partial(_code, factor),
                remember=None if factor is None else partial(_remember, factor),
                tries=GHOST_TRIES,
                waits=False,
            )
        now = trio.current_time()
        session = GridSession(reply, policy=policy, now=now, settings=settings.session)
        with trio.CancelScope(
            shield=True
        ):  # we are logged in: from here on a cancellation must find a session to leave
            udp = await settings.network.open_datagrams(loopback=policy.loopback)
        joined = True
    except LoginFailed as failed:
        raise BackendError(cause_of_refusal(failed.refused), detail=failed.refused.message) from None
    except (trio.TooSlowError, WebFailed, RemoteProtocolError) as failed:
        raise BackendError(DisconnectCause.LOGIN_FAILED, detail=str(failed)) from None
    except OSError as failed:
        raise BackendError(DisconnectCause.BACKEND_FAULT, detail=str(failed)) from None
    finally:
        if not joined:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_S):
                await web.aclose()
    recorder = None if settings.record is None else Recorder(reply, now=now, write=settings.record)
    client = GridClient(
        session,
        udp=udp,
        web=web,
        policy=policy,
        on_event=on_event,
        recorder=recorder,
        read_large=settings.read_large,
    )
    return Connection(client=client, udp=udp, web=web)


def _code(factor: SecondFactor) -> str | None:
    code = factor.take_code()
    return None if code is None else code.reveal()


async def _remember(factor: SecondFactor, proof: str) -> None:
    await factor.remember(SecretStr(proof) if proof else None)
