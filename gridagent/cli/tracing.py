"""Traces of a run: from what avatars say to whoever collects spans (Spec: OPS-2, MND-18).

Owns the subscriptions, the task that hands spans over, its retries and its counts. Spans are
`gridagent.service.tracing`'s, queue and message `gridagent.observability.otlp`'s, the way out is in
`gridagent.cli.span_sinks`; what needs OpenTelemetry is imported only where traces are asked for. Called by
`gridagent.cli.run`.

Invariant: watching causes nothing. Nobody waits for a collector but the task that sends to it, and the end of a run at
most `LAST_S`; what cannot be handed over is dropped, counted, and said in the log once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import trio

from gridagent import __version__
from gridagent.cli.span_sinks import SpanCollector, SpanFile, SpanGoal, Unsent, token_header
from gridagent.config.model import Config
from gridagent.config.secrets import SecretStr
from gridagent.errors import ConfigError, ConfigProblem
from gridagent.observability import Log, Redactor, TextStream
from gridagent.observability.spans import otel_spans
from gridagent.observations import Observation
from gridagent.runtime.broadcast import Subscription
from gridagent.runtime.channels import Lagged
from gridagent.runtime.ports import Clock, Ports
from gridagent.service.api import SessionHandle

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

__all__ = ("LAST_S", "TOKEN", "Outbox", "Traces", "check_tracing", "span_goal")

TOKEN: Final = "tracing.token_file"  # noqa: S105 - the configuration's path
GATHER_S: Final = 2.0
"""How long spans are gathered before they go; a full message goes at once."""
RETRY_MIN_S: Final = 1.0
RETRY_MAX_S: Final = 60.0
"""Pauses after a failure: the first, and the longest; each is twice the one before."""
SAID_S: Final = 1.0
"""Longest that what was still said is waited for at the end."""
LAST_S: Final = 3.0
"""Longest that the end of a run is held up in all."""


def check_tracing(config: Config) -> None:
    """Look whether what traces need is there.

    Raises:
        ConfigError: traces are asked for, and the extra is not installed.
    """
    if config.tracing.enabled and not _is_installed():
        problem = ConfigProblem(
            path="$.tracing.enabled",
            what="needs OpenTelemetry, which is not installed",
            shape="",
            mend="install gridagent with the extra: gridagent[otel], or set it to false",
        )
        raise ConfigError((problem,))


def _is_installed() -> bool:
    try:
        import opentelemetry.sdk.trace  # noqa: F401, PLC0415 - an extra, imported on use
    except ModuleNotFoundError:
        return False
    return True


def span_goal(
    config: Config, token: SecretStr | None, *, ports: Ports, redactor: Redactor, complain: TextStream, stack: ExitStack
) -> SpanGoal | None:
    """Open what a configuration has spans handed to; None where nothing is traced.

    Args:
        config: the whole of it.
        token: for the collector.
        ports: where a file is written.
        redactor: learns what else of the token is secret.
        complain: told that a file cannot be set aside.
        stack: closes the file, also where nothing came to be traced.

    Raises:
        ConfigError: the file cannot be opened, or no header can carry the token.
    """
    section = config.tracing
    if not section.enabled:
        return None
    if section.endpoint is None:
        assert section.file is not None  # noqa: S101 - a rule of the configuration
        file = SpanFile(Path(section.file), config.log, complain, ports.blocking)
        stack.callback(file.close)
        return file
    try:
        return SpanCollector(section.endpoint, token_header(section.token_header, token, redactor))
    except ValueError as error:
        problem = ConfigProblem(
            path=f"$.{TOKEN}",
            what="holds what an HTTP header cannot carry",
            shape="",
            mend="put the token into it as the collector gave it, in ASCII",
        )
        raise ConfigError((problem,)) from error


class Outbox:
    """Hands over spans that ended, in their order, and keeps count.

    Args:
        goal: takes them.
        redactor: masks known secrets in every text.
        log: told of a first failure, and of the next one after it went well.

    Bounds: `gridagent.observability.otlp.SPANS_MAX` spans wait, and one message is on its way.
    """

    def __init__(self, goal: SpanGoal, redactor: Redactor, log: Log) -> None:
        from gridagent.observability.otlp import EndedSpans  # noqa: PLC0415 - an extra, imported on use

        self.ended = EndedSpans(self._arrive)
        self.exported = 0
        self._goal = goal
        self._clean = redactor.mask
        self._log = log
        self._in_hand: list[ReadableSpan] = []
        self._some = trio.Event()
        self._many = trio.Event()
        self._refused = 0
        self._unsent = 0
        self._complained = False

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many spans were not handed over, by reason."""
        return {"queue_full": self.ended.dropped, "refused": self._refused, "unsent": self._unsent}

    async def run(self) -> None:
        """Hand over spans as they end, until cancelled.

        Cancellation: safe; what waits is left to `flush`, and the message that was on its way with it.
        """
        pause = RETRY_MIN_S
        while True:
            await self._some.wait()
            with trio.move_on_after(GATHER_S):
                await self._many.wait()
            if await self._hand_over():
                pause = RETRY_MIN_S
            else:
                await trio.sleep(pause)
                pause = min(2 * pause, RETRY_MAX_S)

    async def flush(self) -> None:
        """Hand over what is left, without a second try.

        Cancellation: safe.
        """
        await self._hand_over()

    def give_up(self) -> None:
        """Count what is left as dropped."""
        self._unsent += len(self._in_hand) + len(self.ended)
        self._in_hand = []
        while self.ended.take():
            pass

    def _arrive(self) -> None:
        from gridagent.observability.otlp import BATCH_MAX  # noqa: PLC0415 - as above

        self._some.set()
        if len(self.ended) >= BATCH_MAX:
            self._many.set()

    async def _hand_over(self) -> bool:
        """Hand over everything; return whether nothing is left to be tried again."""
        from gridagent.observability.otlp import encode_spans, refused_spans  # noqa: PLC0415 - as above

        while batch := self._in_hand or self.ended.take():
            self._in_hand = batch
            try:
                refused = refused_spans(await self._goal.send(encode_spans(batch, self._clean)))
                self._complain(f"{refused} spans refused" if refused else "")
            except Unsent as error:
                self._complain(str(error))
                if error.again:
                    return False
                refused = len(batch)
            refused = min(refused, len(batch))
            self._in_hand = []
            self._refused += refused
            self.exported += len(batch) - refused
        self._some, self._many = trio.Event(), trio.Event()
        return True

    def _complain(self, why: str) -> None:
        if why and not self._complained:
            self._log.warning("traces_unsent", why=why)
        self._complained = bool(why)


class Traces:
    """Traces what avatars do, from when the block is entered; a context manager.

    Args:
        config: says what is told of them.
        handles: the avatars.
        goal: takes the spans.
        clock: joins observations to the time of day.
        redactor: masks known secrets in every text.
        log: told what went wrong, and how many spans went.
    """

    def __init__(
        self,
        config: Config,
        handles: Sequence[SessionHandle],
        goal: SpanGoal,
        *,
        clock: Clock,
        redactor: Redactor,
        log: Log,
    ) -> None:
        from gridagent.observability.otlp import provider_for  # noqa: PLC0415 - an extra, imported on use
        from gridagent.service.tracing import Tracing  # noqa: PLC0415 - only who asks pays for it

        section = config.tracing
        self.outbox = Outbox(goal, redactor, log)
        provider = provider_for(
            self.outbox.ended, name=section.service_name, version=__version__, sample=section.sample
        )
        offset = clock.wall() - clock.monotonic()
        self._tracing = Tracing(
            otel_spans(provider), wall_minus_monotonic=offset, content=section.content, clean=redactor.mask
        )
        self._handles = tuple(handles)
        self._goal = goal
        self._log = log
        self._stack = ExitStack()
        self.done = trio.Event()
        """Set when nothing is handed over any more."""

    def __enter__(self) -> Self:
        # what is said before anybody traces is traced later
        self._watched = [(each.key, self._stack.enter_context(each.observe("traces"))) for each in self._handles]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    async def run(self) -> None:
        """Trace until cancelled; then what was still said.

        Cancellation: safe; the last of it may take `LAST_S`.
        """
        try:
            async with trio.open_nursery(strict_exception_groups=True) as nursery:
                nursery.start_soon(self.outbox.run)
                await self._watch()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + LAST_S):
                with trio.move_on_after(SAID_S):
                    await self._watch()
                await self.outbox.flush()
            self.outbox.give_up()
            self.done.set()
            await self._goal.aclose()
            self._log.info("traces_ended", exported=self.outbox.exported, dropped=dict(self.outbox.dropped))

    async def _watch(self) -> None:
        async with trio.open_nursery(strict_exception_groups=True) as watching:
            for key, seen in self._watched:
                watching.start_soon(self._take_all, key, seen)

    async def _take_all(self, key: str, seen: Subscription[Observation]) -> None:
        async for observation in seen:
            if isinstance(observation, Lagged):
                self._log.warning("traces_lagged", avatar=key, missed=observation.missed)
            else:
                self._tracing.take(observation)
