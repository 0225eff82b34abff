"""What ``run`` shows: JSON lines for machines, plain lines for pipes, a picture for a terminal.

Owns one subscription an avatar and everything that is written to standard output; causes nothing. It
outlives the avatars a little, so that the end is shown too. Its invariants: with ``--json`` there is one
observation a line and nothing else; a terminal is as it was afterwards, whatever the way out.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final, TextIO

import msgspec
import trio

from gridagent.cli.safe_text import plain_json
from gridagent.cli.scene import Scene, plain_line, summary
from gridagent.cli.terminal import CLOSE_SCREEN, OPEN_SCREEN, Output
from gridagent.cli.wording import Tone
from gridagent.observations import AgentState, Observation, observation_name
from gridagent.runtime.broadcast import Subscription
from gridagent.service.api import Lagged, SessionHandle

__all__ = ("Look", "View", "observation_line")

PAINT_EVERY_S: Final = 0.25
_OVER: Final = frozenset({AgentState.STOPPED, AgentState.FAILED})
_ENCODER: Final = msgspec.json.Encoder()


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """How the view looks."""

    json: bool = False
    screen: bool = False
    """A picture that is drawn over and over; needs a terminal at both ends."""
    colour: bool = True


def observation_line(observation: Observation) -> str:
    """Return an observation as one line of JSON that no terminal takes for anything else."""
    try:
        encoded = _ENCODER.encode(observation)
    except UnicodeEncodeError:  # half of a surrogate pair, from a grid that does not check
        kind = observation_name(observation.body)
        encoded = _ENCODER.encode({"seq": observation.seq, "avatar": observation.avatar, "omitted": kind})
    return plain_json(encoded) + "\n"


class View:
    """Shows one run.

    Args:
        handles: the avatars; subscribed to at once, so that nothing is missed.
        look: how it looks.
        roles: UUID to the word shown behind a name.
        greeting: the first lines, safe to show.
        out: standard output.
        stderr: where the view speaks while standard output belongs to machines.
        ends_at: monotonic seconds at which the run stops by itself, or None.
    """

    def __init__(
        self,
        handles: Sequence[SessionHandle],
        *,
        look: Look,
        roles: Mapping[str, str],
        greeting: Sequence[str],
        out: Output,
        stderr: TextIO,
        ends_at: float | None,
    ) -> None:
        self.on_screen = False
        self._handles = tuple(handles)
        self._subscriptions = [(handle, handle.observe("view")) for handle in handles]
        self._look = look
        self._greeting = tuple(greeting)
        self._out = out
        self._stderr = stderr
        self._ends_at = ends_at
        self._scene = Scene([handle.key for handle in handles], roles=roles, began=trio.current_time())
        self._several = len(self._handles) > 1
        self._typed = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Show everything until every avatar is over.

        Cancellation: safe; the terminal is restored.
        """
        async with trio.open_nursery() as nursery:
            for handle, manager in self._subscriptions:
                nursery.start_soon(self._follow, handle.key, manager.__enter__())
            task_status.started()
            if self._look.screen:
                await self._paint()
            elif not self._look.json:
                await self._out.write("".join(f"{line}\n" for line in self._greeting))

    async def say(self, tone: Tone, text: str) -> None:
        """Show a line of the command's own; ``text`` is safe to show."""
        if self._look.json:
            self._stderr.write(f"gridagent: {text}\n")
            return
        stamped = self._scene.add(tone, text, at=trio.current_time())
        if not self.on_screen:
            await self._out.write(plain_line(stamped, several=False) + "\n")

    def line_was_typed(self) -> None:
        """Draw the prompt anew: the terminal has moved the cursor."""
        self._typed.set()

    def close(self) -> None:
        """Put the terminal back at once; for the way out that waits for nothing."""
        if self.on_screen:
            self.on_screen = False
            self._out.write_now(CLOSE_SCREEN)

    async def _follow(self, key: str, subscription: Subscription[Observation]) -> None:
        with subscription:
            async for batch in _batches(subscription):
                if self._look.json:
                    text = "".join(observation_line(each) for each in batch if isinstance(each, Observation))
                else:
                    stamped = [self._scene.note(item, key) for item in batch]
                    lines = [plain_line(each, several=self._several) for each in stamped if each is not None]
                    text = "" if self.on_screen else "".join(f"{line}\n" for line in lines)
                if text:
                    await self._out.write(text)

    async def _paint(self) -> None:
        from gridagent.cli import screen  # noqa: PLC0415 - rich is loaded only where it draws

        fresh, last = True, os.terminal_size((0, 0))
        self.on_screen = True
        await self._out.write(OPEN_SCREEN)
        try:
            while not all(handle.status().agent in _OVER for handle in self._handles):
                self._scene.statuses = tuple(handle.status() for handle in self._handles)
                size = shutil.get_terminal_size()
                lines = screen.draw(
                    self._scene,
                    title=self._greeting[0],
                    left_s=None if self._ends_at is None else self._ends_at - trio.current_time(),
                    width=size.columns,
                    height=size.lines,
                    colour=self._look.colour,
                )
                again = size != last  # what a larger picture left around the new one has to go
                await self._out.write(screen.repaint(lines, prompt=fresh or again, clear=again))
                last = size
                self._typed = trio.Event()
                with trio.move_on_after(PAINT_EVERY_S):
                    await self._typed.wait()
                fresh = self._typed.is_set()
        finally:
            self.close()
        await self._out.write("".join(f"{summary(handle.status())}\n" for handle in self._handles))


async def _batches(subscription: Subscription[Observation]) -> AsyncIterator[list[Observation | Lagged]]:
    try:
        while True:
            yield await subscription.receive_batch()
    except trio.EndOfChannel:
        return
