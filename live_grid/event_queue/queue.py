"""The event queue of one region: a long poll, over and over, without a socket.

Owns when to poll, with which acknowledgement, how long to wait after an error, and when to give up. The shell
makes the request it is given, one at a time, and hands in what came back; it never cancels a poll that
has begun to receive, because OpenSimulator forgets events as it writes them (Spec: LIV-4).

Invariant: there is one poll at a time, no poll while events wait to be taken, and no two polls at once after
an answer that brought nothing (Fault: 11).
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import Final

import msgspec

from live_grid.event_queue.answer import Meaning, QueueEvent, read_answer_untrusted
from live_grid.limits import EVENT_QUEUE_EVENTS_MAX
from live_grid.llsd import write_llsd_xml
from live_grid.state_table import StateTable

__all__ = ("EVENT_QUEUE_TABLE", "EventQueue", "Poll", "QueueInput", "QueueState", "QueueStatistics")

POLL_TIMEOUT_S: Final = 90.0
"""OpenSimulator answers after about 58 s; a shorter time-out would cut its answers."""
FAREWELL_TIMEOUT_S: Final = 2.0
HELD_S: Final = 10.0
"""An answer without events that was held so long is how a server says "nothing yet"."""
SILENT_POLLS_MAX: Final = 2
"""Polls in a row that were never answered in all of their time; a server that lives says at least "nothing yet"."""
ERRORS_MAX: Final = 10
ERRORS_SICK: Final = 3
"""Errors in a row that are no coincidence."""
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 20.0


class QueueState(Enum):
    """Where an event queue stands."""

    READY = "ready"
    POLLING = "polling"
    PAUSED = "paused"
    STOPPING = "stopping"
    """The farewell is to be sent; a poll may still be on its way back."""
    GONE = "gone"
    """The server has no such queue any more."""
    BROKEN = "broken"
    """Too many errors, or too much silence, in a row."""
    ENDED = "ended"


class QueueInput(Enum):
    """What can happen to it."""

    POLL = "poll"
    ANSWER = "answer"
    ERROR = "error"
    TIMER = "timer"
    NOT_THERE = "not_there"
    GIVE_UP = "give_up"
    STOP = "stop"
    FAREWELL = "farewell"


_S, _I = QueueState, QueueInput
EVENT_QUEUE_TABLE: Final[StateTable[QueueState, QueueInput]] = StateTable(
    "event queue",
    initial=_S.READY,
    transitions={
        (_S.READY, _I.POLL): _S.POLLING,
        (_S.READY, _I.STOP): _S.STOPPING,
        (_S.POLLING, _I.ANSWER): _S.READY,
        (_S.POLLING, _I.ERROR): _S.PAUSED,
        (_S.POLLING, _I.NOT_THERE): _S.GONE,
        (_S.POLLING, _I.GIVE_UP): _S.BROKEN,
        (_S.POLLING, _I.STOP): _S.STOPPING,
        (_S.PAUSED, _I.TIMER): _S.READY,
        (_S.PAUSED, _I.STOP): _S.STOPPING,
        (_S.STOPPING, _I.FAREWELL): _S.ENDED,
    },
    terminal=frozenset({_S.GONE, _S.BROKEN, _S.ENDED}),
)


class Poll(msgspec.Struct, frozen=True, kw_only=True):
    """An HTTP POST to make. The address is a secret."""

    url: str
    body: bytes
    timeout_s: float
    content_type: str = "application/llsd+xml"

    def __repr__(self) -> str:
        return f"Poll(timeout_s={self.timeout_s}, …)"


class QueueStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """An event queue's figures at one moment (Spec: LIV-12)."""

    polls: int
    events: int
    repeats: int
    """Answers that came twice; acknowledged again, taken once."""
    malformed: int
    errors_in_a_row: int
    waiting: int
    """Events nobody took yet."""
    answered_at: float
    """When the server last said anything sensible, on the caller's clock."""


class EventQueue:
    """The event queue of one region.

    Args:
        url: the vetted address of the capability.
        now: seconds.
    """

    __slots__ = (
        "_ack",
        "_answered_at",
        "_errors",
        "_events",
        "_in_flight",
        "_polled_at",
        "_polls",
        "_repeats",
        "_silent_polls",
        "_taken",
        "_timer",
        "_url",
        "malformed",
        "state",
    )

    def __init__(self, url: str, *, now: float) -> None:
        self._url = url
        self._ack: int | None = None
        self._events: deque[QueueEvent] = deque(maxlen=2 * EVENT_QUEUE_EVENTS_MAX)
        self._polled_at = now
        self._answered_at = now
        self._in_flight = False
        self._timer: float | None = None
        self._errors = 0
        self._silent_polls = 0
        self._polls = 0
        self._repeats = 0
        self._taken = 0
        self.malformed = 0
        """Answers and events that could not be read."""
        self.state = EVENT_QUEUE_TABLE.initial

    def _step(self, given: QueueInput) -> None:
        self.state = EVENT_QUEUE_TABLE.step(self.state, given)

    # --- polling -------------------------------------------------------------------------------
    def next_poll(self, now: float) -> Poll | None:
        """Take the poll to make now, if any: none while one is on its way, or while events wait to be taken.

        Args:
            now: seconds.
        """
        if self.state is QueueState.STOPPING:
            self._step(QueueInput.FAREWELL)
            return self._poll(done=True, timeout_s=FAREWELL_TIMEOUT_S)
        if self.state is not QueueState.READY or self._events:
            return None
        self._step(QueueInput.POLL)
        self._polled_at = now
        self._in_flight = True
        self._polls += 1
        return self._poll(done=False, timeout_s=POLL_TIMEOUT_S)

    def _poll(self, *, done: bool, timeout_s: float) -> Poll:
        return Poll(url=self._url, body=write_llsd_xml({"ack": self._ack, "done": done}), timeout_s=timeout_s)

    def receive_response(self, status: int, body: bytes, now: float) -> None:
        """Take what came back from the poll; events of one that comes back while we stop are still taken.

        Args:
            status: of the HTTP response.
            body: of the HTTP response, whole.
            now: seconds.
        """
        if not self._in_flight:
            return
        self._in_flight = False
        answer = read_answer_untrusted(status, body)
        self.malformed += answer.malformed
        fresh = answer.meaning is Meaning.EVENTS and (answer.id is None or answer.id != self._ack)
        if fresh:
            self._events.extend(answer.events)
        elif answer.meaning is Meaning.EVENTS:
            self._repeats += 1
        if answer.id is not None:
            self._ack = answer.id
        self._silent_polls = 0
        if self.state is not QueueState.POLLING:
            return
        if answer.meaning is Meaning.GONE:
            self._step(QueueInput.NOT_THERE)
        elif fresh or now - self._polled_at >= HELD_S:
            self._errors = 0
            self._answered_at = now
            self._step(QueueInput.ANSWER)
        else:
            self._fail(now)

    def receive_failure(self, now: float) -> None:
        """Take notice that nothing came back: a time-out or a broken connection. The old ack stands.

        Args:
            now: seconds.
        """
        if not self._in_flight:
            return
        self._in_flight = False
        if self.state is not QueueState.POLLING:
            return
        held_s = now - self._polled_at
        # A proxy may hang up on what was held for long; but nobody answers at all only when something is wrong.
        self._silent_polls = self._silent_polls + 1 if held_s >= POLL_TIMEOUT_S else 0
        if self._silent_polls >= SILENT_POLLS_MAX:
            self._step(QueueInput.GIVE_UP)
        elif held_s >= HELD_S:
            self._step(QueueInput.ANSWER)
        else:
            self._fail(now)

    def _fail(self, now: float) -> None:
        self._errors += 1
        if self._errors >= ERRORS_MAX:
            self._step(QueueInput.GIVE_UP)
            return
        self._timer = now + min(FIRST_PAUSE_S * 2.0 ** (self._errors - 1), LONGEST_PAUSE_S)
        self._step(QueueInput.ERROR)

    @property
    def well(self) -> bool:
        """Whether the last poll was answered, or nothing speaks against it yet."""
        return self._errors < ERRORS_SICK and not self._silent_polls

    # --- time and end --------------------------------------------------------------------------
    def get_timer(self) -> float | None:
        """Tell when to call `handle_timer`, if ever."""
        return self._timer

    def handle_timer(self, now: float) -> None:
        """End a pause that is over."""
        if self._timer is not None and now >= self._timer:
            self._timer = None
            self._step(QueueInput.TIMER)

    def stop(self) -> None:
        """End the queue: the next poll is a farewell, best effort. Stopping twice, or after the end, does nothing."""
        if EVENT_QUEUE_TABLE.allows(self.state, QueueInput.STOP):
            self._timer = None
            self._step(QueueInput.STOP)

    # --- events --------------------------------------------------------------------------------
    def next_event(self) -> QueueEvent | None:
        """Take the next event, in the server's order."""
        if not self._events:
            return None
        self._taken += 1
        return self._events.popleft()

    def statistics(self) -> QueueStatistics:
        """Take the figures of this moment."""
        return QueueStatistics(
            polls=self._polls,
            events=self._taken + len(self._events),
            repeats=self._repeats,
            malformed=self.malformed,
            errors_in_a_row=self._errors,
            waiting=len(self._events),
            answered_at=self._answered_at,
        )
