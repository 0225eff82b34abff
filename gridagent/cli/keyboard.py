"""Lines typed, or piped, into ``run`` while it runs.

Owns the reading and obeying of lines; what a line means is `gridagent.cli.commands`. Every order goes to
the avatar as a control, so the policy decides on it like on anything else (Spec: POL-1). Speech waits for
the avatar to be in the world: ``echo 'say hi' | gridagent run`` says hi.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import trio

from gridagent.cli.commands import Typed, parse_typed, typed_help
from gridagent.cli.safe_text import shown
from gridagent.cli.scene import summary
from gridagent.cli.terminal import Input
from gridagent.cli.view import View
from gridagent.cli.vocabulary import LOCAL, UsageProblem
from gridagent.cli.wording import Tone
from gridagent.errors import ConfigError, OperatorError, ResourceClosed
from gridagent.observations import AgentState
from gridagent.service.api import SessionHandle

__all__ = ("Keyboard",)

READY_WAIT_S: Final = 30.0
"""How long speech and actions wait for the avatar to be in the world."""
_LANDED: Final = tuple(state for state in AgentState if state is not AgentState.STARTING)


class Keyboard:
    """Obeys lines.

    Args:
        lines: where they come from.
        handles: the avatars.
        view: where answers are shown.
        leave: called for ``quit``.
    """

    __slots__ = ("_handles", "_leave", "_lines", "_view")

    def __init__(
        self, lines: Input, handles: Sequence[SessionHandle], *, view: View, leave: Callable[[], None]
    ) -> None:
        self._lines = lines
        self._handles = tuple(handles)
        self._view = view
        self._leave = leave

    async def run(self) -> None:
        """Obey every line until there are no more.

        Cancellation: the line being obeyed may have acted.
        """
        async for line in self._lines:
            try:
                await self._obey(line)
            except (OperatorError, ConfigError) as problem:
                await self._view.say(Tone.REFUSED, shown(str(problem)))
            self._view.line_was_typed()

    async def _obey(self, line: str | None) -> None:
        if line is None:
            raise UsageProblem("that line is too long")
        typed = parse_typed(line)
        if typed is None:
            return
        if typed.name in LOCAL:
            await self._answer(typed.name, self._chosen(typed.avatar, for_all=True))
            return
        for handle in self._chosen(typed.avatar, for_all=typed.for_all):
            await self._tell(handle, typed)

    async def _tell(self, handle: SessionHandle, typed: Typed) -> None:
        assert typed.control is not None  # noqa: S101 - every command that is not local is a control
        if typed.name in {"say", "act"}:
            with trio.move_on_after(READY_WAIT_S):
                await handle.wait_agent(*_LANDED)
        try:
            await handle.control(typed.control)  # its reply is an observation, so the view shows it
        except ResourceClosed:
            await self._view.say(Tone.REFUSED, f"{handle.key} has stopped")

    def _chosen(self, avatar: str | None, *, for_all: bool) -> tuple[SessionHandle, ...]:
        known = ", ".join(handle.key for handle in self._handles)
        if avatar is None:
            if for_all or len(self._handles) == 1:
                return self._handles
            raise UsageProblem(f"say whom you mean, as in: @{self._handles[0].key} say hello (there are: {known})")
        chosen = tuple(handle for handle in self._handles if handle.key == avatar)
        if not chosen:
            raise UsageProblem(f"there is no avatar {shown(avatar, 40)!r} here; there are: {known}")
        return chosen

    async def _answer(self, name: str, handles: Sequence[SessionHandle]) -> None:
        match name:
            case "quit":
                self._leave()
            case "help":
                for command, words in typed_help():
                    await self._view.say(Tone.HELP, f"{command:<16} {words}")
            case "status":
                for handle in handles:
                    await self._view.say(Tone.STATE, summary(handle.status()))
            case _:
                await self._approvals(handles)

    async def _approvals(self, handles: Sequence[SessionHandle]) -> None:
        waiting = [each for handle in handles for each in handle.status().gateway.approvals]
        for each in waiting:
            await self._view.say(Tone.ASKS, f"{each.approval_id}: {shown(each.summary)}")
        if not waiting:
            await self._view.say(Tone.HELP, "nothing waits for an answer")
