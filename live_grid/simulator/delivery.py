"""The way of answers to the clients of HTTP: at once, late, replaced or never.

Owns the answers that a fault holds back, at most `HTTP_HELD_MAX`; beyond that none is late (Spec: LIV-15, Fault: 9).
"""

from __future__ import annotations

from live_grid.simulator.faults import draw_http
from live_grid.simulator.http1 import HttpResponse
from live_grid.simulator.limits import HTTP_HELD_MAX
from live_grid.simulator.mailbox import Answer
from live_grid.simulator.stage import Stage

__all__ = ("Delivery",)


class Delivery:
    """Hands answers over, as the fault knobs have it.

    Args:
        stage: with the knobs, the chances and the clock.
    """

    __slots__ = ("_held", "_stage")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._held: list[tuple[float, Answer, HttpResponse]] = []  # at most `HTTP_HELD_MAX`

    def deliver(self, answer: Answer, response: HttpResponse) -> None:
        """Hand over one answer, exactly once, now or when `handle_timer` comes to it.

        Args:
            answer: takes it; a response with status 0 closes the connection silently.
            response: as it was meant.
        """
        stage = self._stage
        fate = draw_http(stage.faults, stage.rng, stage.counts)
        if fate.missing:
            answer(HttpResponse(status=0, close=True))
        elif fate.delay_s and len(self._held) < HTTP_HELD_MAX:
            self._held.append((stage.world.now + fate.delay_s, answer, response))
        else:
            answer(fate.instead or response)

    def handle_timer(self, now: float) -> None:
        """Hand over what was held back until now."""
        due = [(answer, response) for until, answer, response in self._held if now >= until]
        self._held = [entry for entry in self._held if now < entry[0]]
        for answer, response in due:
            answer(response)

    def get_timer(self) -> float | None:
        """Tell when to call `handle_timer`, if ever."""
        return min((until for until, _, _ in self._held), default=None)

    def close(self) -> None:
        """Hand over everything at once."""
        held, self._held = self._held, []
        for _, answer, response in held:
            answer(response)
