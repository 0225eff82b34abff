"""The server's side of one connection, sans-IO: bytes in, requests and last words out.

Owns the order of things: the token first, then one request after another, then perhaps a stream; the
version of the protocol; the rate; and when a silent connection is over. Performs nothing and waits for
nothing: ``now`` is an argument. `gridagent.fronts.control.server` feeds it and does what it says.

Invariants: no request comes out before the token was right; before that, every fault gets the same words
(Fault: 33); after the first broken rule nothing comes out any more (Spec: OPS-6).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeAlias

import msgspec

from gridagent.config.secrets import SecretStr
from gridagent.errors import LimitExceeded, RemoteProtocolError
from gridagent.fronts.control.frames import LineBuffer, decode_hello, decode_request
from gridagent.fronts.control.limits import ControlLimits
from gridagent.fronts.control.words import PROTOCOL_VERSION, Observe, Refused, Request, Welcome
from gridagent.limits import clip
from gridagent.state_table import StateTable

__all__ = ("CONVERSATION", "ControlConversation", "Farewell", "Phase", "PhaseInput", "RequestRate")


class Phase(StrEnum):
    """How far a connection is."""

    GREETING = "greeting"
    """The token has not been shown."""
    ASKING = "asking"
    STREAMING = "streaming"
    """It observes, and may only leave."""
    OVER = "over"


class PhaseInput(StrEnum):
    """What moves a connection."""

    WELCOMED = "welcomed"
    OBSERVE = "observe"
    END = "end"


CONVERSATION: Final = StateTable(
    "control connection",
    initial=Phase.GREETING,
    terminal=frozenset({Phase.OVER}),
    transitions={
        (Phase.GREETING, PhaseInput.WELCOMED): Phase.ASKING,
        (Phase.GREETING, PhaseInput.END): Phase.OVER,
        (Phase.ASKING, PhaseInput.OBSERVE): Phase.STREAMING,
        (Phase.ASKING, PhaseInput.END): Phase.OVER,
        (Phase.STREAMING, PhaseInput.END): Phase.OVER,
    },
)
"""Nothing leads back to greeting: a connection keeps the token and the version it began with."""

_STRANGER: Final = Refused(code="unauthenticated", message="show the token of the runtime directory first")


class Farewell(msgspec.Struct, frozen=True):
    """Send this, then close."""

    last: Refused


Said: TypeAlias = Welcome | Request | Farewell


class RequestRate:
    """A bucket of requests that fills again with time.

    Args:
        burst: how many fit in.
        per_s: how many come back a second.
        now: monotonic seconds.
    """

    __slots__ = ("_at", "_burst", "_left", "_per_s")

    def __init__(self, burst: int, per_s: float, now: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._left = float(burst)
        self._at = now

    def take(self, now: float) -> bool:
        """Take one, if there is one."""
        self._left = min(self._burst, self._left + max(0.0, now - self._at) * self._per_s)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class ControlConversation:
    """One connection.

    Args:
        token: what the client must show.
        version: of the service, told in the welcome.
        instance: what the endpoint file says, told in the welcome.
        limits: sizes, rates and times.
        now: monotonic seconds.
    """

    __slots__ = ("_instance", "_limits", "_lines", "_rate", "_since", "_token", "_version", "phase")

    def __init__(self, token: SecretStr, *, version: str, instance: str, limits: ControlLimits, now: float) -> None:
        self._token = token
        self._version = version
        self._instance = instance
        self._limits = limits
        self._lines = LineBuffer(limits.frame_max_bytes)
        self._rate = RequestRate(limits.requests_burst, limits.requests_per_s, now)
        self._since = now
        self.phase: Phase = CONVERSATION.initial

    @property
    def trusted(self) -> bool:
        """Whether the token was shown."""
        return self.phase in {Phase.ASKING, Phase.STREAMING}

    def timer(self) -> float | None:
        """When `on_timer` is wanted, in monotonic seconds; a stream has no end of its own."""
        if self.phase is Phase.GREETING:
            return self._since + self._limits.hello_timeout_s
        return self._since + self._limits.idle_timeout_s if self.phase is Phase.ASKING else None

    def on_timer(self) -> Farewell:
        """End a connection from which nothing came in time."""
        if self.phase is Phase.GREETING:
            return self._end(_STRANGER)
        return self._end(Refused(code="idle", message="nothing was asked for too long; connect again"))

    def feed(self, data: bytes) -> None:
        """Take what was received; ask `next_said` until it has nothing before the next call."""
        self._lines.feed(data)

    def next_said(self, now: float) -> Said | None:
        """Return what the client's next line comes to, or None when more bytes are needed."""
        if self.phase is Phase.OVER:
            return None
        try:
            line = self._lines.next_line()
            if line is None:
                return None
            self._since = now
            if self.phase is Phase.GREETING:
                return self._greet(line)
            return self._hear(line, now)
        except LimitExceeded as error:
            return self._end(Refused(code="frame_too_large", message=f"a frame has at most {error.allowed:g} bytes"))
        except RemoteProtocolError as error:
            return self._end(Refused(code="malformed", message=clip(str(error), 256)))

    def _greet(self, line: bytes) -> Said:
        hello = decode_hello(line)
        if not self._token.matches(hello.token.encode()):
            return self._end(_STRANGER)
        if hello.protocol != PROTOCOL_VERSION:
            words = f"this service speaks version {PROTOCOL_VERSION} of the protocol; use the gridagent it belongs to"
            return self._end(Refused(id=hello.id, code="protocol_version", message=words))
        self.phase = CONVERSATION.step(self.phase, PhaseInput.WELCOMED)
        return Welcome(id=hello.id, protocol=PROTOCOL_VERSION, version=self._version, instance=self._instance)

    def _hear(self, line: bytes, now: float) -> Said:
        if not self._rate.take(now):
            return self._end(Refused(code="too_fast", message="too many requests; send them more slowly"))
        if self.phase is Phase.STREAMING:
            return self._end(Refused(code="streaming", message="a connection that observes takes no request"))
        request = decode_request(line)
        if isinstance(request, Observe):
            self.phase = CONVERSATION.step(self.phase, PhaseInput.OBSERVE)
        return request

    def _end(self, last: Refused) -> Farewell:
        # Whoever has not shown the token learns nothing: not what was wrong, not which version is spoken.
        said = last if self.trusted or last.code == "protocol_version" else _STRANGER
        self.phase = CONVERSATION.step(self.phase, PhaseInput.END)
        return Farewell(said)
