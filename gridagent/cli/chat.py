"""``gridagent chat``: walk up to the avatar in the simulated plaza and talk to it.

Owns the course of a chat: the world, the service in it, the lines that are typed or read from a script, and what is
printed. The visitors act in the world like anybody else; only ``/op`` reaches the avatar otherwise, as an operator's
control. A script runs in virtual time where nothing outside is asked, each line waiting until the avatar is done
with the one before, so that the same script gives the same lines.

Invariant: everything that ran is ended in order before the command returns.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Final, TextIO, cast

import attrs
import trio

from gridagent.cli.chat_view import ChatView
from gridagent.cli.chat_words import CHAT_HELP, Wish, Wished, parse_line
from gridagent.cli.commands import parse_typed
from gridagent.cli.compose import Prepared, Running, open_running, prepare, sections_chosen
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.safe_text import shown
from gridagent.cli.terminal import Input, Output, is_terminal
from gridagent.cli.visitors import Visitors, quiet_story
from gridagent.cli.vocabulary import UsageProblem
from gridagent.cli.wording import Tone
from gridagent.config.files import absolute_path, read_file
from gridagent.config.load import load_config_and_secrets
from gridagent.config.model import LlmProvider
from gridagent.errors import ConfigError, OperatorError
from gridagent.events import GridEvent
from gridagent.ids import AvatarId
from gridagent.observations import (
    ActionDecided,
    ActionSettled,
    AgentState,
    LinkState,
    Observation,
    TurnEnded,
    TurnStarted,
    Verdict,
)
from gridagent.runtime.broadcast import Subscription
from gridagent.runtime.deterministic import run_deterministic, simulated_ports
from gridagent.runtime.ports import Ports
from gridagent.runtime.system import system_ports
from gridagent.service.api import Lagged, SessionHandle
from gridagent.storage.memory import MemoryStore

__all__ = ("ChatOptions", "chat_command")

SCRIPT_MAX_BYTES: Final = 1024 * 1024
QUIET_S: Final = 5.0
"""A line of a script is over when nothing happened for so long."""
LINE_MAX_S: Final = 180.0
"""However much happens."""
ENTRANCE_S: Final = 60.0
"""Time the avatar has to come into the world."""


@attrs.frozen(kw_only=True)
class ChatOptions:
    """What the command line says."""

    config: Path | None = None
    scenario: str | None = None
    seed: int | None = None
    script: Path | None = None
    json: bool = False


def chat_command(options: ChatOptions, *, stdin: TextIO | None, stdout: TextIO, environ: Mapping[str, str]) -> ExitCode:
    """Chat until the visitor leaves or the script ends.

    Raises:
        ConfigError: the configuration, or the script, cannot be used.
        OperatorError: it cannot be chatted to, or a line of the script is wrong.
    """
    loaded = load_config_and_secrets(options.config, environ)
    prepared = prepare(
        loaded.config,
        scenario=options.scenario,
        seed=options.seed,
        demonstrate=options.config is None,
        chosen=sections_chosen(environ),
        secrets=loaded.secrets,
    )
    script = None if options.script is None else _script(options.script)
    chat = _Chat(options, prepared, script=script, stdin=stdin, stdout=stdout, environ=environ)
    if script is not None and prepared.config.llm.provider is LlmProvider.OFFLINE:
        seed = prepared.seed
        return run_deterministic(chat.main, simulated_ports(seed), seed=seed).result
    return trio.run(chat.main, system_ports())


def _script(file: Path) -> tuple[str, ...]:
    path = absolute_path(str(file), base=Path.cwd(), environ={}) or file
    content = read_file(path, max_bytes=SCRIPT_MAX_BYTES, holds_secret=False, where="--script")
    lines = content.data.decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            parse_line(line)
        except UsageProblem as problem:
            raise UsageProblem(f"line {number} of the script: {problem}") from problem
    return tuple(lines)


class _Chat:
    """One chat, over as many lives of the service as it takes."""

    def __init__(
        self,
        options: ChatOptions,
        prepared: Prepared,
        *,
        script: tuple[str, ...] | None,
        stdin: TextIO | None,
        stdout: TextIO,
        environ: Mapping[str, str],
    ) -> None:
        story = prepared.scenario
        if story is None:
            raise OperatorError("chat needs a simulated grid; set grid.backend to simulated, or leave out --config")
        first = prepared.avatars[0]
        agent = next((each for each in story.agents() if story.avatar_id(each) == first.account_id), None)
        if agent is None or first.account_id is None:
            raise OperatorError(f"the scenario {story.name} has no account for {first.key}")
        self._key = first.key
        self._agent: AvatarId = first.account_id
        self._agent_name = agent.name
        self._roles = prepared.roles_by_id()
        played = {avatar.account_id for avatar in prepared.avatars}
        story = quiet_story(story, agent)
        self._cast = [
            (each.name, story.avatar_id(each)) for each in story.avatars if story.avatar_id(each) not in played
        ]
        self._prepared = attrs.evolve(prepared, scenario=story)
        self._options = options
        self._environ = environ
        self._script = script
        self._stdin = stdin
        self._out = Output(stdout)
        self._colour = is_terminal(stdout) and "NO_COLOR" not in environ and not options.json
        self._last = ""
        self._changed = trio.Event()

    async def main(self, ports: Ports) -> ExitCode:
        """Chat."""
        self._view = ChatView(
            json=self._options.json, colour=self._colour, roles=self._roles, began=trio.current_time()
        )
        self._open: set[str] = set()  # turns and actions that have not ended; bounded by the session
        store = MemoryStore(ports.clock)
        played, again = "", True
        async with aclosing(self._lines()) as lines:
            while again:
                async with open_running(self._prepared, ports=ports, environ=self._environ, store=store) as running:
                    again, played = await self._live(running, lines, played)
                await self._print()
        return ExitCode.OK

    async def _lines(self) -> AsyncGenerator[str | None]:
        if self._script is not None:
            for line in self._script:
                yield line
        elif self._stdin is not None:
            async with aclosing(cast("AsyncGenerator[str | None]", aiter(Input(self._stdin)))) as typed:
                async for each in typed:
                    yield each

    async def _live(self, running: Running, lines: AsyncIterator[str | None], played: str) -> tuple[bool, str]:
        """Chat for one life of the service; tells whether another is wanted, and who is played."""
        assert running.grid is not None  # noqa: S101 - it is a simulated one
        handle = running.service.avatar(self._key)
        with handle.observe("chat") as subscription:
            async with trio.open_nursery() as tasks:
                tasks.start_soon(self._follow, subscription)
                with trio.move_on_after(ENTRANCE_S):
                    await handle.wait_link(LinkState.ONLINE)
                visitors = Visitors(running.grid, self._cast, self._agent, self._perceived)
                if played:
                    visitors.become(played)
                visitors.enter()
                if not played:
                    self._greet(visitors)
                await self._settle()
                again = await self._obey_all(lines, handle, visitors)
                await self._settle()
                visitors.leave()
                running.service.close()
                await running.service.wait_stopped()
                tasks.cancel_scope.cancel(reason="the chat is over")
        return again, visitors.played

    def _greet(self, visitors: Visitors) -> None:
        if self._options.json:
            return
        self._say(Tone.STATE, f"{shown(self._agent_name)} is in the simulated plaza; you are {shown(visitors.played)}")
        self._say(Tone.HELP, "type what you want to say, /help for what else there is, /quit to leave")

    # --- what happens -----------------------------------------------------------------------------

    async def _follow(self, subscription: Subscription[Observation]) -> None:
        try:
            while True:
                for item in await subscription.receive_batch():
                    if isinstance(item, Lagged):
                        self._say(Tone.NOTE, f"{item.missed} observations were too many to be shown")
                    else:
                        self._observed(item)
                if self._script is None:
                    await self._print()
        except trio.EndOfChannel:
            return

    def _observed(self, item: Observation) -> None:
        body = item.body
        match body:
            case TurnStarted():
                self._open.add(f"turn {body.correlation}")
            case TurnEnded():
                self._open.discard(f"turn {body.correlation}")
            case ActionDecided(verdict=Verdict.AUTHORIZED):
                self._open.add(f"{body.action} {body.correlation}")
            case ActionSettled():
                self._open.discard(f"{body.action} {body.correlation}")
            case _:
                pass
        if self._view.observed(item.at, body):
            self._changed.set()

    def _perceived(self, name: str, event: GridEvent) -> None:
        if self._view.perceived(trio.current_time(), name, event, self._agent):
            self._changed.set()

    def _say(self, tone: Tone, text: str) -> None:
        self._view.say(trio.current_time(), tone, text)

    async def _print(self) -> None:
        text = self._view.take()
        if text:
            await self._out.write(text)

    async def _settle(self) -> None:
        """Wait, in a script, until the avatar has nothing more to say or do; print what happened."""
        if self._script is not None:
            with trio.move_on_after(LINE_MAX_S):
                quiet = False
                while not quiet or self._open:
                    self._changed = trio.Event()
                    with trio.move_on_after(QUIET_S) as waiting:
                        await self._changed.wait()
                    quiet = waiting.cancelled_caught
                    await self._print()
        await self._print()

    # --- lines ------------------------------------------------------------------------------------

    async def _obey_all(self, lines: AsyncIterator[str | None], handle: SessionHandle, visitors: Visitors) -> bool:
        """Obey line after line; tells whether the service is to begin anew."""
        async for line in lines:
            try:
                wished = parse_line(line)
                if wished.wish is Wish.AGAIN:
                    line, wished = self._last, parse_line(self._last)  # noqa: PLW2901 - it is as if it was typed
                elif wished.wish is not Wish.NOTHING:
                    self._last = line or ""
                if wished.wish in {Wish.QUIT, Wish.RESTART}:
                    return wished.wish is Wish.RESTART
                await self._obey(line or "", wished, handle, visitors)
            except (UsageProblem, ConfigError) as problem:
                self._say(Tone.REFUSED, shown(str(problem)))
            await self._settle()
            if handle.status().agent in {AgentState.STOPPED, AgentState.FAILED}:
                return False
        return False

    async def _obey(self, line: str, wished: Wished, handle: SessionHandle, visitors: Visitors) -> None:
        match wished.wish:
            case Wish.NOTHING:
                return
            case Wish.HELP:
                for words, meaning in CHAT_HELP.items():
                    self._say(Tone.HELP, f"{words:<12} {meaning}")
            case Wish.PEOPLE:
                self._say(Tone.HELP, ", ".join(self._people(visitors)))
            case Wish.HISTORY:
                for each in self._view.history(wished.number):
                    self._say(Tone.HELP, each.rstrip("\n"))
            case Wish.WAIT:
                await trio.sleep(wished.seconds)
            case Wish.AS:
                visitors.become(wished.text)
                self._say(Tone.HELP, f"you are {shown(visitors.played)} now")
            case Wish.OPERATOR:
                await self._operate(wished.text, handle)
            case _:
                self._view.typed(trio.current_time(), visitors.played, visitors.played_id, line)
                visitors.act(wished)

    def _people(self, visitors: Visitors) -> Iterator[str]:
        for name, avatar_id in self._cast:
            role = self._roles.get(avatar_id, "stranger")
            yield f"{shown(name)} [{role}]" + (" (you)" if name == visitors.played else "")

    async def _operate(self, text: str, handle: SessionHandle) -> None:
        typed = parse_typed(text)
        if typed is None or typed.control is None:
            raise UsageProblem("/op takes an operator's command, as in: /op hold")
        await handle.control(typed.control)  # its reply is an observation, so it is shown
