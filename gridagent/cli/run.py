"""``gridagent run``: avatars in the foreground, with a view, a keyboard, signals and a control endpoint.

Owns the order of starting and stopping: locks, log, avatars, endpoints, view; then one reason to
end, an orderly stop within its time-out, and an exit code. What is built of what is `compose`; what is
shown is `view`; what is typed is `keyboard`. Its invariant: whatever the way out, the endpoint's files
are gone and the terminal is as it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

import attrs
import trio

from gridagent import __version__
from gridagent.cli.blocked import awaits_code, what_helps
from gridagent.cli.compose import Prepared, Running, open_running, prepare, sections_chosen
from gridagent.cli.counting import Counting
from gridagent.cli.exit_codes import Ending, ExitCode
from gridagent.cli.health import open_health, token_of, withdraw_token
from gridagent.cli.instance import Holder, InstanceLocks, avatar_locks_directory
from gridagent.cli.journal import audit_sink, library_logs_into, open_journal
from gridagent.cli.keeping import kept_in_words, last_word, open_kept, tell_doubts
from gridagent.cli.keyboard import Keyboard
from gridagent.cli.log_file import log_stream
from gridagent.cli.manager import ServiceManager
from gridagent.cli.metrics_file import keep_metrics, metrics_place
from gridagent.cli.notify import SOCKET_VARIABLE, Notifier, watchdog_seconds
from gridagent.cli.places import database_of, find_places
from gridagent.cli.safe_text import shown
from gridagent.cli.second_factor import SecondFactors
from gridagent.cli.signals import Summons, attend
from gridagent.cli.span_sinks import SpanGoal
from gridagent.cli.terminal import Input, Output, is_terminal
from gridagent.cli.tracing import TOKEN, Traces, span_goal
from gridagent.cli.view import Look, View
from gridagent.cli.wording import Tone, seconds_in_words
from gridagent.config.files import read_file
from gridagent.config.load import load_config_and_secrets
from gridagent.config.model import LogDestination
from gridagent.config.secrets import SecretStr
from gridagent.controls import Control, Hold, ReloadConfig
from gridagent.errors import ConfigError, ResourceClosed
from gridagent.fronts.control import ControlServer, Endpoint, RuntimeDirectory, serve_control
from gridagent.fronts.control.archive import Archive
from gridagent.fronts.control.words import PROTOCOL_VERSION
from gridagent.limits import CONFIG_FILE_MAX_BYTES
from gridagent.observability import Log, Redactor
from gridagent.observations import AgentState, LinkState
from gridagent.runtime.ports import Blocking, Ports
from gridagent.runtime.system import system_ports
from gridagent.service import AuditTrail, Service
from gridagent.service.api import Progress, SessionHandle

if TYPE_CHECKING:
    from gridagent.cli.archive import StoreArchive

__all__ = ("Process", "RunOptions", "Streams", "run_command")

WITHOUT_TERMINAL_S: Final = 60.0
"""How long it runs when nobody watches and nobody said how long."""
VIEW_END_S: Final = 2.0
"""Time the view has to show the end."""
RELOAD_S: Final = 15.0
"""Longest that a reload is waited for before the service manager is told that it is over."""
AFTER_AVATARS_S: Final = 45.0
"""Longest that the end may take once every avatar has stopped: writing what waits, and closing, on a stuck disk."""
_TOKEN_BYTES: Final = 32

Leave = Callable[[int], NoReturn]


@attrs.frozen(kw_only=True)
class Streams:
    """What the process was given."""

    stdin: TextIO | None
    stdout: TextIO
    stderr: TextIO


@attrs.frozen(kw_only=True)
class RunOptions:
    """What the command line says."""

    config: Path | None = None
    scenario: str | None = None
    seed: int | None = None
    for_s: float | None = None
    """Seconds to run; None until stopped, but see `WITHOUT_TERMINAL_S`."""
    forever: bool = False
    json: bool = False
    plain: bool = False
    """Lines also on a terminal."""
    metrics: str | None = None
    """File that holds what the service counts."""


def leave_at_once(code: int) -> NoReturn:
    """End the process without unwinding."""
    os._exit(code)


@attrs.frozen(kw_only=True)
class Process:
    """What a run takes from its process; tests put their own in its place."""

    leave: Leave = leave_at_once
    """Ends the process at a second signal."""
    clock: trio.abc.Clock | None = None
    """By which the run's seconds pass; None is the kernel's."""
    blocking: Blocking | None = None
    """Where what blocks is run; None is a thread."""


def run_command(
    options: RunOptions, streams: Streams, environ: Mapping[str, str], *, process: Process | None = None
) -> ExitCode:
    """Run avatars until there is a reason to end.

    Args:
        options: what the command line says.
        streams: what the process was given.
        environ: the environment.
        process: what is taken from the process; None takes the real thing.

    Raises:
        ConfigError: the configuration, or a file it names, cannot be used.
        OperatorError: the scenario or a directory cannot be used.
        AlreadyRunning: another service holds the directory or an avatar.
    """
    process = process or Process()
    loaded = load_config_and_secrets(options.config, environ)
    prepared = prepare(
        loaded.config,
        scenario=options.scenario,
        seed=options.seed,
        demonstrate=options.config is None,
        chosen=sections_chosen(environ),
        secrets=loaded.secrets,
    )
    config = prepared.config
    paths = find_places(config.paths)
    metrics = None if options.metrics is None else metrics_place(options.metrics, environ)
    ports = system_ports()
    if process.blocking is not None:
        ports = attrs.evolve(ports, blocking=process.blocking)
    with ExitStack() as stack:
        directory = stack.enter_context(RuntimeDirectory(paths.runtime_dir))
        state = stack.enter_context(RuntimeDirectory(avatar_locks_directory(paths.state_dir)))
        since = datetime.fromtimestamp(ports.clock.wall(), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        locks = stack.enter_context(InstanceLocks(Holder(pid=os.getpid(), since=since)))
        locks.take_service(directory)
        locks.take_avatars(state, prepared.keys)
        for withdraw in (directory.withdraw, partial(withdraw_token, directory)):
            withdraw()  # what a run that was killed left behind
            stack.callback(withdraw)
        to_file = config.log.destination is LogDestination.FILE
        file = stack.enter_context(log_stream(config.log, paths.log_file, streams.stderr))
        redactor = Redactor(loaded.secrets.forms())
        log = open_journal(config, redactor, stream=file, stderr=streams.stderr, clock=ports.clock)
        stack.enter_context(library_logs_into(log))
        run = _Run(
            options=options,
            streams=streams,
            environ=environ,
            prepared=prepared,
            ports=ports,
            directory=directory,
            database=None if prepared.demonstration else database_of(paths),
            since=since,
            log=log,
            redactor=redactor,
            state_dir=paths.state_dir,
            log_place=shown(str(paths.log_file)) if to_file else "this terminal's error output",
            leave=process.leave,
            metrics=metrics,
            health=token_of(loaded.secrets, directory, ports) if config.health.enabled else None,
            spans=span_goal(
                config, loaded.secrets.get(TOKEN), ports=ports, redactor=redactor, complain=streams.stderr, stack=stack
            ),
        )
        return trio.run(run.main, clock=process.clock)


def _is_stuck(handle: SessionHandle, *, reachable: bool) -> bool:
    """Tell whether an avatar is not in the world, and nobody can bring it back while the service runs.

    Args:
        handle: of the avatar.
        reachable: an operator can give it a one-time code.
    """
    status = handle.status()
    over = status.agent in {AgentState.STOPPED, AgentState.FAILED}
    return over or (status.link is LinkState.AUTHENTICATION_BLOCKED and not (reachable and awaits_code(status)))


class _Run:
    """One run, from its first task to its exit code."""

    def __init__(
        self,
        *,
        options: RunOptions,
        streams: Streams,
        environ: Mapping[str, str],
        prepared: Prepared,
        ports: Ports,
        directory: RuntimeDirectory,
        database: Path | None,
        since: str,
        log: Log,
        redactor: Redactor,
        state_dir: Path,
        log_place: str,
        leave: Leave,
        metrics: Path | None,
        health: SecretStr | None,
        spans: SpanGoal | None,
    ) -> None:
        self._spans = spans
        self._metrics = metrics
        self._health = health
        notifier = Notifier(environ.get(SOCKET_VARIABLE, ""), self._log_error)
        self._manager = ServiceManager(notifier, watchdog_s=watchdog_seconds(environ, os.getpid()), log=log)
        self._options = options
        self._streams = streams
        self._environ = environ
        self._config = prepared.config
        self._prepared = prepared
        self._ports = ports
        self._directory = directory
        self._database = database
        self._since = since
        self._log = log
        self._redactor = redactor
        self._state_dir = state_dir
        self._log_place = log_place
        self._leave = leave
        self._out = Output(streams.stdout)
        self._end = trio.Event()
        self._why: Ending | None = None

    async def main(self) -> ExitCode:
        """Run, end in order, and say how it went."""
        self._log.info("service_started", version=__version__, where=self._prepared.where)
        base = None if self._options.config is None else self._options.config.absolute().parent
        async with trio.open_nursery() as showing:
            async with (
                open_kept(
                    self._database,
                    ports=self._ports,
                    pid=os.getpid(),
                    since=self._since,
                    report=self._log_error,
                    keep=self._prepared.config.storage,
                ) as archive,
                open_running(
                    self._prepared,
                    ports=self._ports,
                    log_error=self._log_error,
                    audit=AuditTrail(partial(audit_sink, self._log)),
                    set_level=self._log.set_level,
                    environ=self._environ,
                    base=base,
                    store=None if archive is None else archive.store,
                    log=self._log,
                    second_factors=SecondFactors(
                        state_dir=self._state_dir,
                        blocking=self._ports.blocking,
                        learn=self._redactor.learn,
                        log_error=self._log_error,
                    ),
                ) as running,
            ):
                code = await self._serve(running, archive, showing)
                code = last_word(archive, code, log=self._log, stderr=self._streams.stderr)
            showing.cancel_scope.deadline = trio.current_time() + VIEW_END_S
        self._log.info("service_ended", why=self._why, exit_code=int(code))
        return code

    def _duration(self) -> float | None:
        if self._options.forever or self._options.for_s is not None:
            return self._options.for_s
        watched = is_terminal(self._streams.stdin) or is_terminal(self._streams.stdout)
        return None if watched else WITHOUT_TERMINAL_S

    async def _serve(self, running: Running, archive: StoreArchive | None, showing: trio.Nursery) -> ExitCode:
        service = running.service
        handles = [service.avatar(key) for key in service.avatars]
        duration = self._duration()
        ends_at = None if duration is None else trio.current_time() + duration
        view = self._view(handles, duration, ends_at)
        store = None if archive is None else archive.store
        progress = Progress(service, store=store, clock=self._ports.clock)
        async with AsyncExitStack() as stack, trio.open_nursery() as tasks:
            counting = Counting(handles)
            if self._metrics is not None or self._health is not None:
                stack.enter_context(counting)
                tasks.start_soon(counting.run)
            if self._spans is not None:
                self._open_traces(handles, self._spans, counting, stack, tasks)
            if self._metrics is not None:
                keep = partial(keep_metrics, blocking=self._ports.blocking, log_error=self._log_error)
                tasks.start_soon(keep, self._metrics, counting)
            # The view first, and without a wait before it subscribed: it misses nothing.
            await showing.start(view.run)
            await tell_doubts(view, handles, archive)
            await tasks.start(attend, partial(self._on_signal, handles, view, tasks))
            if self._config.control.enabled:
                await self._open_endpoint(running, archive, tasks)
            if self._health is not None:
                await view.say(Tone.HELP, await self._open_health(self._health, service, progress, counting, tasks))
            if self._health is not None or self._manager.heard:
                tasks.start_soon(progress.run)
            if self._manager.heard:
                tasks.start_soon(self._manager.run, handles, progress)
            if self._streams.stdin is not None:
                leave = partial(self._finish, Ending.QUIT)
                tasks.start_soon(Keyboard(Input(self._streams.stdin), handles, view=view, leave=leave).run)
            tasks.start_soon(self._when_stopped, running)
            tasks.start_soon(self._when_blocked, handles)
            tasks.start_soon(self._when_unread)
            with trio.CancelScope() as time_left:
                if ends_at is not None:
                    time_left.deadline = ends_at
                await self._end.wait()
            self._finish(Ending.TIME_UP)
            code = await self._stop(running)
            tasks.cancel_scope.cancel(reason="the run is over")
        return code

    def _view(self, handles: Sequence[SessionHandle], duration: float | None, ends_at: float | None) -> View:
        both = is_terminal(self._streams.stdin) and is_terminal(self._streams.stdout)
        able = self._environ.get("TERM", "") not in {"", "dumb"}
        look = Look(
            json=self._options.json,
            screen=both and able and not self._options.plain and not self._options.json,
            colour="NO_COLOR" not in self._environ,
        )
        return View(
            handles,
            look=look,
            roles=self._prepared.roles_by_id(),
            greeting=self._greeting(duration),
            out=self._out,
            stderr=self._streams.stderr,
            ends_at=ends_at,
        )

    def _greeting(self, duration: float | None) -> list[str]:
        prepared = self._prepared
        names = ", ".join(f"{each.first_name} {each.last_name} ({key})" for key, each in self._config.avatars.items())
        lines = [f"gridagent {__version__}: {shown(names)} {shown(prepared.where)}"]
        if prepared.demonstration:
            lines.append("no configuration file: the scenario says who lives there and who owns the avatar")
        lines.append(kept_in_words(self._database))
        ends = "until it is stopped" if duration is None else f"for {seconds_in_words(duration)}"
        lines.append(f"runs {ends}; type 'help' for what you can do here, 'quit' or Ctrl-C to stop in order")
        if self._config.control.enabled:
            lines.append("from another terminal: gridagent status, gridagent say TEXT, gridagent hold, gridagent stop")
        lines.append(f"the log is {self._log_place}")
        return lines

    async def _open_endpoint(self, running: Running, archive: Archive | None, tasks: trio.Nursery) -> None:
        token, instance = self._ports.ids.token(_TOKEN_BYTES), self._ports.ids.token()
        server = ControlServer(
            running.service,
            token=SecretStr(token),
            version=__version__,
            instance=instance,
            log_error=self._log_error,
            archive=archive,
        )
        control = self._config.control
        serve = partial(serve_control, server, self._ports.network, host=control.host, port=control.port)
        endpoint = Endpoint(
            host=control.host,
            port=await tasks.start(serve),
            pid=os.getpid(),
            started_at=self._ports.clock.wall(),
            protocol=PROTOCOL_VERSION,
            instance=instance,
        )
        self._directory.publish(endpoint, token)

    async def _open_health(
        self, token: SecretStr, service: Service, progress: Progress, counting: Counting, tasks: trio.Nursery
    ) -> str:
        """Open the health endpoint and say where it is."""
        from gridagent.fronts.health import Pages  # noqa: PLC0415 - only who asks pays for it

        pages = Pages(service, progress, counting.exposition, token=token)
        where = await open_health(self._config.health, pages, ports=self._ports, log_error=self._log_error, tasks=tasks)
        self._log.info("health_endpoint", where=where)
        return f"the health endpoint is {where}/livez, /readyz and /metrics"

    def _open_traces(
        self,
        handles: Sequence[SessionHandle],
        goal: SpanGoal,
        counting: Counting,
        stack: AsyncExitStack,
        tasks: trio.Nursery,
    ) -> None:
        """Trace what avatars do from now on, and let the numbers say what became of the spans."""
        traces = Traces(self._config, handles, goal, clock=self._ports.clock, redactor=self._redactor, log=self._log)
        outbox = traces.outbox
        counting.include(lambda meter: meter.spans(outbox.exported, outbox.dropped), until=traces.done)
        stack.enter_context(traces)
        tasks.start_soon(traces.run)

    # --- the end ------------------------------------------------------------------------------------

    def _finish(self, why: Ending) -> None:
        """Name the reason to end; the first one counts."""
        if self._why is None:
            self._why = why
            self._manager.stopping(self._config.session.shutdown_timeout_s + AFTER_AVATARS_S)
        self._end.set()

    async def _when_stopped(self, running: Running) -> None:
        await running.service.wait_stopped()
        self._finish(Ending.STOPPED)

    async def _when_blocked(self, handles: Sequence[SessionHandle]) -> None:
        """End once no avatar may log in any more: nobody tries again before an operator did something (Spec: SUP-6)."""
        reachable = self._config.control.enabled or is_terminal(self._streams.stdin)
        blocked = LinkState.AUTHENTICATION_BLOCKED
        others = tuple(state for state in LinkState if state is not blocked)
        while left := [handle for handle in handles if not _is_stuck(handle, reachable=reachable)]:
            await left[0].wait_link(*others if left[0].status().link is blocked else (blocked,))
            await trio.lowlevel.checkpoint()
        if any(handle.status().link is LinkState.AUTHENTICATION_BLOCKED for handle in handles):
            self._finish(Ending.BLOCKED)

    async def _when_unread(self) -> None:
        await self._out.closed.wait()
        self._finish(Ending.UNREAD)

    async def _stop(self, running: Running) -> ExitCode:
        """Stop every avatar within the shutdown time-out and choose the exit code."""
        service = running.service
        blocked = [status for status in service.status() if status.link is LinkState.AUTHENTICATION_BLOCKED]
        for status in blocked:
            why = status.last_error.replace("_", " ")
            self._streams.stderr.write(
                f"gridagent: {status.key} may not log in ({why}); {what_helps(status.last_error)}\n"
            )
        service.close()
        with trio.move_on_after(self._config.session.shutdown_timeout_s) as bound:
            await service.wait_stopped()
        if bound.cancelled_caught:
            self._log.warning("shutdown_late", timeout_s=self._config.session.shutdown_timeout_s)
        if self._why is Ending.INTERRUPT:
            return ExitCode.INTERRUPTED
        if self._why is Ending.TERMINATE and bound.cancelled_caught:
            return ExitCode.TERMINATED
        if service.failed:
            return ExitCode.AVATAR_FAILED
        return ExitCode.AUTHENTICATION_BLOCKED if blocked else ExitCode.OK

    def _log_error(self, code: str, error: BaseException) -> None:
        self._log.error(code, exc_info=error)

    # --- signals ------------------------------------------------------------------------------------

    def _on_signal(self, handles: Sequence[SessionHandle], view: View, tasks: trio.Nursery, summons: Summons) -> None:
        self._log.info("signal", meaning=summons.value)
        match summons:
            case Summons.INTERRUPT:
                self._end_or_leave(view, Ending.INTERRUPT, ExitCode.INTERRUPTED)
            case Summons.TERMINATE:
                self._end_or_leave(view, Ending.TERMINATE, ExitCode.TERMINATED)
            case Summons.HOLD:
                for handle in handles:
                    tasks.start_soon(self._tell, handle, Hold())
            case Summons.RELOAD:
                self._reload(handles, tasks)

    def _end_or_leave(self, view: View, why: Ending, code: ExitCode) -> None:
        if not self._end.is_set():
            self._finish(why)
            return
        # The second signal: nothing is waited for any more.
        self._directory.withdraw()
        withdraw_token(self._directory)
        view.close()
        self._streams.stderr.write("gridagent: ended at once; an avatar may still be seen in the world for a while\n")
        self._streams.stderr.flush()
        self._leave(code)

    def _reload(self, handles: Sequence[SessionHandle], tasks: trio.Nursery) -> None:
        file = self._options.config
        if file is None:
            self._log.warning("nothing_to_reload")
            return
        try:
            content = read_file(file.absolute(), max_bytes=CONFIG_FILE_MAX_BYTES, holds_secret=False, where="$")
        except ConfigError as error:
            self._log.error("reload_failed", exc_info=error)
            return
        tasks.start_soon(self._tell_all, handles, ReloadConfig(config_json=content.data))

    async def _tell_all(self, handles: Sequence[SessionHandle], control: Control) -> None:
        """Tell every avatar, and the service manager when each of them has answered."""
        with self._manager.reloading(), trio.move_on_after(RELOAD_S):
            async with trio.open_nursery() as telling:
                for handle in handles:
                    telling.start_soon(self._tell, handle, control)

    async def _tell(self, handle: SessionHandle, control: Control) -> None:
        try:
            await handle.control(control)
        except ResourceClosed:
            self._log.info("avatar_stopped_already", avatar=handle.key)
