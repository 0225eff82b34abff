"""The course of a login: ask, follow redirects, wait out a ghost, ask the operator, be let in or give up.

Owns the transition table, the number of tries and the pauses between them. It sends nothing and reads no
clock: the shell asks for the request to send, hands in what came back, and wakes it at its timer.

Owns what is to be remembered of a passed challenge, too: the proof comes with a reply, or with a refusal for another
reason, and a challenge in spite of it says that it is worth nothing any more. A code goes with one request only, the
one that answers a challenge.

Invariant: a permanent refusal is never tried again without a change by the operator (Spec: LIV-1, Fault: 13).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import msgspec

from live_grid.addresses import HostPolicy, vet_url
from live_grid.errors import RemoteProtocolError
from live_grid.login.refusal import LoginRefused, NextStep, classify
from live_grid.login.reply import LoginRedirect, LoginReply, read_login_reply_untrusted
from live_grid.login.request import LOGIN_METHOD, LoginRequest, write_login_request
from live_grid.state_table import StateTable

__all__ = ("LOGIN_TABLE", "LoginInput", "LoginMachine", "LoginPost", "LoginState")

TRIES_MAX: Final = 6
REDIRECTS_MAX: Final = 3
GHOST_PAUSE_S: Final = 1.5
"""A stale session is gone by then; measured on OpenSimulator."""
FIRST_PAUSE_S: Final = 5.0
LONGEST_PAUSE_S: Final = 120.0


class LoginState(Enum):
    """Where a login stands."""

    READY = "ready"
    ASKED = "asked"
    PAUSED = "paused"
    CHALLENGED = "challenged"
    ACCEPTED = "accepted"
    REFUSED = "refused"


class LoginInput(Enum):
    """What can happen to it."""

    SEND = "send"
    ACCEPT = "accept"
    REDIRECT = "redirect"
    PAUSE = "pause"
    CHALLENGE = "challenge"
    REFUSE = "refuse"
    TIMER = "timer"
    TOKEN = "token"  # noqa: S105 - the name of an input


_S, _I = LoginState, LoginInput
LOGIN_TABLE: Final[StateTable[LoginState, LoginInput]] = StateTable(
    "login",
    initial=_S.READY,
    transitions={
        (_S.READY, _I.SEND): _S.ASKED,
        (_S.ASKED, _I.ACCEPT): _S.ACCEPTED,
        (_S.ASKED, _I.REDIRECT): _S.READY,
        (_S.ASKED, _I.PAUSE): _S.PAUSED,
        (_S.ASKED, _I.CHALLENGE): _S.CHALLENGED,
        (_S.ASKED, _I.REFUSE): _S.REFUSED,
        (_S.PAUSED, _I.TIMER): _S.READY,
        (_S.CHALLENGED, _I.TOKEN): _S.READY,
        (_S.CHALLENGED, _I.REFUSE): _S.REFUSED,
    },
    terminal=frozenset({_S.ACCEPTED, _S.REFUSED}),
)


class LoginPost(msgspec.Struct, frozen=True, kw_only=True):
    """An HTTP POST to make; its body is a secret."""

    url: str
    body: bytes
    content_type: str = "text/xml"

    def __repr__(self) -> str:
        return f"LoginPost(url={self.url!r}, …)"


class LoginMachine:
    """One login, from the first request to its end.

    Args:
        request: what to send.
        url: where to.
        policy: where a redirect may lead; the first address is the operator's own and is not vetted.
        tries: how often to ask, the first time included.
        waits: wait until a grid that is away is back; False leaves that to whoever has a plan for it, and waits only
            for a stale session to end.
    """

    __slots__ = (
        *("_policy", "_redirects", "_request", "_timer", "_tries", "_tries_max", "_url", "_waits"),
        *("mfa_hash", "refused", "reply", "state"),
    )

    def __init__(
        self, request: LoginRequest, *, url: str, policy: HostPolicy, tries: int = TRIES_MAX, waits: bool = True
    ) -> None:
        self._tries_max = min(tries, TRIES_MAX)
        self._waits = waits
        self._request = request
        self._url = url
        self._policy = policy
        self._tries = 0
        self._redirects = 0
        self._timer: float | None = None
        self.mfa_hash = request.mfa_hash
        """A secret: what is to be sent with later logins of this account; empty for nothing."""
        self.state = LOGIN_TABLE.initial
        self.reply: LoginReply | None = None
        """Set once we are let in."""
        self.refused: LoginRefused | None = None
        """The latest refusal, also one that is being waited out."""

    def _step(self, given: LoginInput) -> None:
        self.state = LOGIN_TABLE.step(self.state, given)

    def next_request(self) -> LoginPost | None:
        """Take the request that is to be sent now, if any."""
        if self.state is not LoginState.READY:
            return None
        self._step(LoginInput.SEND)
        self._tries += 1
        return LoginPost(url=self._url, body=write_login_request(self._request))

    def receive_response(self, status: int, body: bytes, now: float) -> None:
        """Take the answer to the request that was sent."""
        try:
            outcome = read_login_reply_untrusted(body, status=status)
        except RemoteProtocolError:
            outcome = classify("malformed")
        if isinstance(outcome, LoginReply):
            self.reply = outcome
            self.mfa_hash = outcome.mfa_hash or self.mfa_hash
            self._step(LoginInput.ACCEPT)
        elif isinstance(outcome, LoginRedirect):
            self._follow(outcome)
        else:
            self._refuse(outcome, now)

    def receive_failure(self, now: float) -> None:
        """Take notice that no answer came: no connection, or a time-out."""
        self._refuse(classify("unavailable"), now)

    def _follow(self, redirect: LoginRedirect) -> None:
        self._redirects += 1
        try:
            url = vet_url(redirect.url, self._policy)
        except RemoteProtocolError:
            url = ""
        if not url or redirect.method != LOGIN_METHOD or self._redirects > REDIRECTS_MAX:
            self.refused = classify("redirect")
            self._step(LoginInput.REFUSE)
            return
        self._url = url
        self._tries -= 1
        self._step(LoginInput.REDIRECT)

    def _refuse(self, refused: LoginRefused, now: float) -> None:
        refused = self._second_factor(refused)
        self.refused = refused
        if refused.next is NextStep.GIVE_TOKEN:
            self._step(LoginInput.CHALLENGE)
            return
        soon = refused.next is NextStep.RETRY_SOON
        if refused.next.permanent or self._tries >= self._tries_max or not (soon or self._waits):
            self._step(LoginInput.REFUSE)
        else:
            pause = GHOST_PAUSE_S if soon else FIRST_PAUSE_S
            self._timer = now + min(pause * 2 ** (self._tries - 1), LONGEST_PAUSE_S)
            self._step(LoginInput.PAUSE)

    def _second_factor(self, refused: LoginRefused) -> LoginRefused:
        """Take note of what a refusal says about a one-time code; tell a code that was not taken from one wanted."""
        code, challenge = self._request.token, refused.next is NextStep.GIVE_TOKEN
        if refused.mfa_hash or challenge:
            # The proof of a challenge that was passed; or the word that the proof we sent is none any more.
            self.mfa_hash = refused.mfa_hash
        self._request = msgspec.structs.replace(self._request, token="", mfa_hash=self.mfa_hash)
        if code and (challenge or refused.next is NextStep.FIX_CREDENTIALS):
            # A grid has one word for a wrong password and a wrong code, and the password passed before.
            return msgspec.structs.replace(refused, next=NextStep.MEND_TOKEN)
        return refused

    def give_token(self, token: str) -> None:
        """Answer a multi-factor challenge.

        Raises:
            IllegalTransition: none is open.
        """
        self._step(LoginInput.TOKEN)
        self._request = msgspec.structs.replace(self._request, token=token)

    def give_up(self) -> None:
        """Answer a multi-factor challenge with no.

        Raises:
            IllegalTransition: none is open, and nothing is on its way either.
        """
        self._step(LoginInput.REFUSE)

    def get_timer(self) -> float | None:
        """Tell when to call `handle_timer`, if ever."""
        return self._timer

    def handle_timer(self, now: float) -> None:
        """End a pause that is over."""
        if self._timer is not None and now >= self._timer:
            self._timer = None
            self._step(LoginInput.TIMER)
