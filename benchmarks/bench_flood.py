"""An owner who gives orders while ten thousand hostile messages a second reach the avatar.

A whole session (gateway, the built-in model, presence, conversations) behind the live backend's own buffer of events;
five hundred strangers talk through it as fast as is asked for, in public and by IM, each line another one; then nobody
twice, so that no sender stands out, and a second's worth at a time, so that the buffer overflows. Meanwhile
the owner gives order after order by IM; the figure is the time from handing the order to the buffer until the answer
is performed, without the pause for typing. The built-in model takes no time worth naming. What the session cannot take
at that rate is shed by the buffer, by whoever talks most. The wire itself is not in the way: a circuit carries a few
thousand such messages a second on one core, so the flood comes in behind it.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Final
from unittest import mock

import trio

from gridagent.actions import Action, Confirmed, Outcome, SendIm
from gridagent.cli import compose
from gridagent.config.load import parse_config
from gridagent.controls import ShutDown
from gridagent.events import ChatHeard, GridEvent, ImReceived, Speaker, SpeakerKind
from gridagent.grid.base import EventSink
from gridagent.grid.buffer import EventBuffer
from gridagent.grid.puppet import Puppet, PuppetBackend, ready_event
from gridagent.ids import Generation
from gridagent.observations import LinkState
from gridagent.runtime.system import system_ports

HOSTILE_PER_S: Final = 10_000
STRANGERS: Final = 500
CROWD: Final = 10**9
"""More than there are lines."""
BURST_S: Final = 1.0
ORDERS: Final = 200
EVERY_S: Final = 0.2
PATIENCE_S: Final = 30.0
TICK_S: Final = 0.005
GOAL_S: Final = 5.0
AMPLE: Final = {"per": "global", "limit": 100_000, "window_s": 60}
OWNER: Final = "5eed0000-0000-4000-8000-000000000002"


class FloodedBackend(PuppetBackend):
    """Takes events through the buffer that the live backend has."""

    def __init__(self, puppet: Puppet, generation: Generation, redeem: object) -> None:
        super().__init__(puppet, generation, redeem)  # type: ignore[arg-type]
        self.buffer = EventBuffer(heeded={OWNER})
        self._wake = trio.Event()

    def put(self, event: GridEvent) -> None:
        """Take one event, as a session hands it over: without waiting."""
        self.buffer.put(event)
        self._wake.set()

    async def run(self, sink: EventSink) -> None:
        """Forward what is in the buffer."""
        self.logged_in = True
        await sink.send(ready_event())
        while True:
            batch = self.buffer.drain()
            if batch:
                await sink.send_many(batch)
            else:
                self._wake = trio.Event()
                await self._wake.wait()


class Flooded(Puppet):
    """Makes them."""

    def __call__(self, *, generation: Generation, redeem: object) -> FloodedBackend:
        """Make the backend of one generation."""
        backend = FloodedBackend(self, generation, redeem)
        self.backends.append(backend)
        return backend


def a_line(number: int, strangers: int) -> GridEvent:
    """What a stranger says: every third by IM, every fifth to the avatar by name."""
    who = f"00000000-0000-4000-8000-{number % strangers + 1:012x}"
    source = Speaker(kind=SpeakerKind.AVATAR, id=who, name=f"Stranger {number % strangers}")
    text = f"{'Robin, ' if number % 5 == 0 else ''}buy number {number} now"
    if number % 3 == 0:
        return ImReceived(utterance_id=f"h{number}", source=source, text=text)
    return ChatHeard(utterance_id=f"h{number}", source=source, text=text)


async def flooded(strangers: int, tick_s: float) -> tuple[list[float], float, int]:
    """Flood and order; return the seconds to each answer, the hostile lines a second, and how many were shed."""
    puppet, answered = Flooded(), trio.Event()

    async def perform(action: Action) -> Outcome:
        nonlocal answered
        await trio.lowlevel.checkpoint()
        if isinstance(action, SendIm) and action.to == OWNER:
            answered.set()
        return Confirmed(evidence=action.spec.evidence)

    puppet.applier = perform

    @asynccontextmanager
    async def grid(*_: object) -> AsyncIterator[tuple[None, dict[str, Puppet]]]:
        yield None, {"robin": puppet}

    sections = {
        "roles": {"owners": [OWNER]},
        # more orders than anybody gives in a minute: none may fail on a budget
        "policy": {"preset": "guide", "budgets": {key: [AMPLE] for key in ("ims", "calls.direct_message")}},
        "presence": {"speech_pause_max_s": 0.0, "show_typing": False},
    }
    config = parse_config(json.dumps(sections).encode())
    took: list[float] = []
    with mock.patch.object(compose, "_open_grid", grid):
        async with (
            compose.open_running(compose.prepare(config), ports=system_ports()) as running,
            trio.open_nursery() as nursery,
        ):
            avatar = running.service.avatar()
            await avatar.wait_link(LinkState.ONLINE)
            backend = puppet.now
            assert isinstance(backend, FloodedBackend)
            sent, began = 0, trio.current_time()

            async def flood() -> None:
                nonlocal sent
                while True:
                    due = int((trio.current_time() - began) * HOSTILE_PER_S)
                    for number in range(sent, min(due, sent + HOSTILE_PER_S)):
                        backend.put(a_line(number, strangers))
                    sent = max(sent, due)
                    await trio.sleep(tick_s)

            nursery.start_soon(flood)
            await trio.sleep(2.0)
            source = Speaker(kind=SpeakerKind.AVATAR, id=OWNER, name="Olive Owner")
            for number in range(ORDERS):
                answered = trio.Event()
                ordered = trio.current_time()
                backend.put(ImReceived(utterance_id=f"o{number}", source=source, text=f"What is the time? {number}"))
                with trio.move_on_after(PATIENCE_S):
                    await answered.wait()
                took.append(trio.current_time() - ordered)
                await trio.sleep(EVERY_S)
            passed = trio.current_time() - began
            nursery.cancel_scope.cancel()
            await avatar.control(ShutDown())
    return took, sent / passed, backend.buffer.shed_total


def figures() -> Iterator[dict[str, object]]:
    """Measure."""
    for name, strangers, tick_s in (("owner", STRANGERS, TICK_S), ("owner_in_a_crowd", CROWD, BURST_S)):
        took, rate, shed = trio.run(flooded, strangers, tick_s)
        p99 = statistics.quantiles(took, n=100)[-1]
        lost = sum(each >= PATIENCE_S for each in took)
        note = f"median {statistics.median(took):.3f} s, worst {max(took):.3f} s of {len(took)}, {lost} unanswered"
        note += f", at {rate:,.0f} messages/s, {shed:,} shed"
        yield {"name": f"flood.{name}.p99", "value": p99, "unit": "s", "goal": GOAL_S, "note": note}
