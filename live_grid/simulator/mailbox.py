"""The server's end of an event queue: events that wait, one poll that is held, and the answers.

Owns what a poll is answered with and when, with the quirks of both families: OpenSimulator forgets events as it writes
them and ignores acknowledgements, Second Life sends a batch again until it is acknowledged; both say "nothing yet"
with a 502 after holding the poll, and 404 once the queue is closed (Spec: LIV-4, LIV-15). Sans-IO: an answer goes to
the callback that came with the poll.

Invariant: at most one poll is held and `EVENTS_WAITING_MAX` events wait; every poll gets exactly one answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from live_grid.errors import LocalProtocolError
from live_grid.llsd import LlsdGiven, write_llsd_xml
from live_grid.simulator.http1 import HttpResponse
from live_grid.simulator.limits import EVENTS_WAITING_MAX
from live_grid.simulator.profiles import WireProfile

__all__ = ("Answer", "Mailbox")

Answer: TypeAlias = Callable[[HttpResponse], None]
"""Takes the answer to one request; called exactly once, at once or later."""

NOTHING: Final = HttpResponse(status=502, close=True)
GONE: Final = HttpResponse(status=404, close=True)


class Mailbox:
    """The event queue of one avatar in one region.

    Args:
        profile: how the family behaves.
        first_id: of the first answer.
        repeats: draws whether an answer comes again with its id, although it was taken.
    """

    __slots__ = ("_answer", "_deadline", "_next_id", "_profile", "_repeats", "_sent", "_waiting", "closed", "dropped")

    def __init__(self, profile: WireProfile, *, first_id: int, repeats: Callable[[], bool] = lambda: False) -> None:
        self._profile = profile
        self._next_id = first_id
        self._repeats = repeats
        self._waiting: deque[Mapping[str, LlsdGiven]] = deque(maxlen=EVENTS_WAITING_MAX)
        self._sent: tuple[int, HttpResponse] | None = None
        self._answer: Answer | None = None
        self._deadline = 0.0
        self.closed = False
        self.dropped = 0
        """Events that made room for newer ones."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def held(self) -> bool:
        """Whether a poll waits for its answer."""
        return self._answer is not None

    def put(self, name: str, body: Mapping[str, LlsdGiven]) -> None:
        """Add an event; one for a closed queue goes nowhere."""
        if self.closed:
            return
        if len(self._waiting) == EVENTS_WAITING_MAX:
            self.dropped += 1
        self._waiting.append({"message": name, "body": body})
        self._answer_held()

    def poll(self, ack: int | None, now: float, answer: Answer, *, done: bool = False) -> None:
        """Take a poll.

        Args:
            ack: the id of the last answer that the client took.
            now: seconds.
            answer: takes the response.
            done: the client polls no more.
        """
        if self._answer is not None:
            # A second poll takes the place of the first, which is told that nothing came.
            self._release(NOTHING)
        if done and self._profile.done_ends_queue:
            self.close()
        if done and self._repeated(ack) is None:
            self._sent = None
        if self.closed or done:
            answer(GONE)
            return
        repeated = self._repeated(ack)
        if repeated is not None:
            answer(repeated)
            return
        self._sent = None
        self._answer = answer
        self._deadline = now + self._profile.poll_hold_s
        self._answer_held()

    def cancel(self, answer: Answer) -> None:
        """Forget a poll whose connection is gone; its events wait for the next one."""
        if self._answer is answer:
            self._answer = None

    def _repeated(self, ack: int | None) -> HttpResponse | None:
        if self._sent is None:
            return None
        number, response = self._sent
        if self._profile.acks_honoured:
            return response if ack != number else None
        if not self._repeats():
            return None
        self._sent = None
        return response

    def _answer_held(self) -> None:
        if self._answer is None or not self._waiting:
            return
        events = list(self._waiting)
        self._waiting.clear()
        number = self._next_id
        self._next_id += 1
        try:
            body = write_llsd_xml({"events": events, "id": number})
        except LocalProtocolError:
            # A text that XML cannot carry stands in one of them; the others are not to suffer for it.
            body = write_llsd_xml({"events": [event for event in events if _sayable(event)], "id": number})
        response = HttpResponse(content_type="application/xml", body=body)
        self._sent = (number, response)
        self._release(response)

    def _release(self, response: HttpResponse) -> None:
        answer, self._answer = self._answer, None
        assert answer is not None  # noqa: S101 - asked for above
        answer(response)

    def close(self) -> None:
        """End the queue; a held poll is told. Closing twice does nothing."""
        self.closed = True
        self._waiting.clear()
        self._sent = None
        if self._answer is not None:
            self._release(GONE)

    def get_timer(self) -> float | None:
        """Tell when to call `handle_timer`, if ever."""
        return None if self._answer is None else self._deadline

    def handle_timer(self, now: float) -> None:
        """Tell a poll that was held long enough that nothing came."""
        if self._answer is not None and now >= self._deadline:
            self._release(NOTHING)


def _sayable(event: Mapping[str, LlsdGiven]) -> bool:
    try:
        write_llsd_xml(event)
    except LocalProtocolError:
        return False
    return True
