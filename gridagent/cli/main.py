"""From arguments to an exit code: which command, and what is said when it cannot be done.

Owns the dispatch and the one place where errors become sentences: what happened, where, how to mend it,
on standard error, never a traceback (Spec: OPS-1). Commands are imported when they are called, so that
help costs no framework. Its invariant: whatever goes wrong, `main` returns a code of `ExitCode` (or the
simulation's own), and text from outside is safe to look at.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO, cast

from gridagent import __version__
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.parser import build_parser
from gridagent.cli.safe_text import shown
from gridagent.cli.vocabulary import COMMAND_WORDS, UsageProblem
from gridagent.errors import ConfigError, GridAgentError, OperatorError

if TYPE_CHECKING:
    from argparse import Namespace

    from gridagent.cli.remote import Reach
    from gridagent.cli.run import Process
    from gridagent.cli.stopped import StoppedDatabase

__all__ = ("main",)

CONFIG_VARIABLE: Final = "GRIDAGENT_CONFIG"


class Context:
    """What a command is given: its arguments, the process's streams and its environment."""

    __slots__ = ("arguments", "environ", "process", "stderr", "stdin", "stdout")

    def __init__(
        self,
        arguments: Namespace,
        *,
        stdin: TextIO | None,
        stdout: TextIO,
        stderr: TextIO,
        environ: Mapping[str, str],
        process: Process | None,
    ) -> None:
        self.arguments = arguments
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.environ = environ
        self.process = process

    @property
    def config(self) -> Path | None:
        """The configuration file: of the command line, else of the environment."""
        named = getattr(self.arguments, "config", None) or self.environ.get(CONFIG_VARIABLE)
        return Path(named) if named else None

    @property
    def json(self) -> bool:
        """Whether the output is for programs."""
        return bool(getattr(self.arguments, "json", False))


def main(
    argv: Sequence[str],
    *,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
    environ: Mapping[str, str],
    process: Process | None = None,
) -> int:
    """Perform one command line.

    Args:
        argv: the arguments, without the program's name.
        stdin: where ``run`` reads typed lines; None means nowhere.
        stdout: where answers go.
        stderr: where problems go.
        environ: the environment.
        process: what ``run`` takes from the process; None takes the real thing.

    Returns:
        The exit code.
    """
    out, err = stdout or sys.stdout, stderr or sys.stderr
    try:
        arguments = build_parser(__version__).parse_args(argv)
    except UsageProblem as problem:
        _complain(err, str(problem))
        return ExitCode.USAGE
    except SystemExit:  # argparse leaves so after --help and --version
        return ExitCode.OK
    context = Context(arguments, stdin=stdin, stdout=out, stderr=err, environ=environ, process=process)
    try:
        return _COMMANDS[arguments.command](context)
    except BaseException as error:  # noqa: BLE001 - the top: every error becomes a sentence and a code here
        return _explain(_the_one(error), context)


# --- errors -----------------------------------------------------------------------------------------


def _the_one(error: BaseException) -> BaseException:
    """Return the error inside groups of one; nurseries wrap what a task of theirs raised."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _explain(error: BaseException, context: Context) -> int:  # noqa: PLR0911 - one branch a kind of error
    match error:
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED
        case BrokenPipeError():
            return ExitCode.OK  # whoever read the output has seen enough
        case ConfigError():
            _complain(context.stderr, str(error))
            return ExitCode.CONFIGURATION
        case OperatorError():
            _complain(context.stderr, str(error))
            return _code_of(error, context.arguments.command)
        case GridAgentError(code="storage_failed"):
            _complain(
                context.stderr,
                f"{error}: see that the disk of paths.state_dir has room and can be written, then try again",
            )
            return ExitCode.STORAGE
        case ImportError():
            what = error.name or "one of its modules"
            _complain(
                context.stderr, f"this installation is not complete ({what} cannot be imported); install it again"
            )
            return ExitCode.INTERNAL
        case Exception():
            place = _record(error, context)
            _complain(
                context.stderr,
                f"something went wrong that never should ({type(error).__name__}); {place}, please report it",
            )
            return ExitCode.INTERNAL
        case _:
            raise error


def _code_of(error: OperatorError, command: str) -> ExitCode:
    by_code = {
        "usage": ExitCode.USAGE,
        "not_running": ExitCode.NOT_RUNNING,
        "endpoint_refused": ExitCode.REFUSED,
        "already_running": ExitCode.ALREADY_RUNNING,
        "ledger_in_use": ExitCode.ALREADY_RUNNING,
        "ledger_refused": ExitCode.STORAGE,
    }
    return by_code.get(error.code, ExitCode.CONFIGURATION if command in _LOCAL else ExitCode.REFUSED)


def _record(error: BaseException, context: Context) -> str:
    """Write the whole error to the log, and say where it is."""
    from gridagent.cli.journal import record_failure  # noqa: PLC0415 - only when something is wrong

    return record_failure(error, config=context.config, environ=context.environ)


def _complain(stderr: TextIO, sentence: str) -> None:
    lines = [shown(line, 1_000) for line in sentence.split("\n")]
    stderr.write("gridagent: " + "\n".join(lines) + "\n")
    stderr.flush()


# --- commands ---------------------------------------------------------------------------------------


def _run(context: Context) -> int:
    from gridagent.cli.run import RunOptions, Streams, run_command  # noqa: PLC0415 - on use

    given = context.arguments
    options = RunOptions(
        config=context.config,
        scenario=given.scenario,
        seed=given.seed,
        for_s=given.for_s or None,
        forever=given.for_s is None,
        json=given.json,
        plain=given.plain,
        metrics=given.metrics,
    )
    streams = Streams(stdin=context.stdin, stdout=context.stdout, stderr=context.stderr)
    return run_command(options, streams, context.environ, process=context.process)


def _chat(context: Context) -> int:
    from gridagent.cli.chat import ChatOptions, chat_command  # noqa: PLC0415 - on use

    given = context.arguments
    options = ChatOptions(
        config=context.config, scenario=given.scenario, seed=given.seed, script=given.script, json=given.json
    )
    return chat_command(options, stdin=context.stdin, stdout=context.stdout, environ=context.environ)


def _check_config(context: Context) -> int:
    from gridagent.cli.check import check_command  # noqa: PLC0415 - on use

    return check_command(context.arguments.file, context.environ, out=context.stdout, json=context.json)


def _doctor(context: Context) -> int:
    from gridagent.cli.doctor import doctor_command  # noqa: PLC0415 - on use

    log_in = context.arguments.live_check
    return doctor_command(context.config, context.environ, out=context.stdout, json=context.json, log_in=log_in)


def _reach(context: Context) -> Reach:
    from gridagent.cli.remote import find_service  # noqa: PLC0415 - on use

    return find_service(
        context.config, context.arguments.runtime_dir, context.environ, out=context.stdout, json=context.json
    )


def _init(context: Context) -> int:
    from gridagent.cli.init import InitOptions, init_command  # noqa: PLC0415 - on use
    from gridagent.cli.init_words import init_answers  # noqa: PLC0415 - on use

    given = context.arguments
    options = InitOptions(
        file=given.file, given=init_answers(given), yes=given.yes, force=given.force, json=context.json
    )
    return init_command(options, stdin=context.stdin, out=context.stdout, err=context.stderr, environ=context.environ)


def _status(context: Context) -> int:
    from gridagent.cli.records import stopped_doubts  # noqa: PLC0415 - on use
    from gridagent.cli.remote import Reach, show_status  # noqa: PLC0415 - on use

    def ask(kept: Reach | StoppedDatabase) -> ExitCode:
        if isinstance(kept, Reach):
            return show_status(kept, context.arguments.avatar)
        return stopped_doubts(kept, out=context.stdout, json=context.json)

    return _kept(context, ask)


def _kept(context: Context, ask: Callable[[Reach | StoppedDatabase], ExitCode]) -> ExitCode:
    from gridagent.cli.records import ask_kept  # noqa: PLC0415 - on use

    given = context.arguments
    return ask_kept(context.config, given.runtime_dir, context.environ, out=context.stdout, json=context.json, ask=ask)


def _control(context: Context) -> int:
    from gridagent.cli.commands import words_of  # noqa: PLC0415 - on use
    from gridagent.cli.remote import send_control  # noqa: PLC0415 - on use

    given = context.arguments
    words = words_of(given, context.stdin)
    if given.all and given.avatar is not None:
        raise UsageProblem("--avatar and --all exclude each other; give one of them")
    return send_control(_reach(context), given.command, words, avatar=given.avatar, every=given.all)


def _approvals(context: Context) -> int:
    from gridagent.cli.records import stopped_approvals  # noqa: PLC0415 - on use
    from gridagent.cli.remote import Reach, answer_approval, show_approvals  # noqa: PLC0415 - on use

    given = context.arguments

    def ask(kept: Reach | StoppedDatabase) -> ExitCode:
        if isinstance(kept, Reach):
            return show_approvals(kept, given.avatar)
        return stopped_approvals(kept, out=context.stdout, json=context.json)

    if given.verb == "list":
        return _kept(context, ask)
    if given.id is None:
        raise UsageProblem(f"approvals {given.verb}: ID is missing; gridagent approvals lists those that wait")
    return answer_approval(_reach(context), given.id, allow=given.verb == "allow", avatar=given.avatar)


def _watch(context: Context) -> int:
    from gridagent.cli.remote import watch  # noqa: PLC0415 - on use

    return watch(_reach(context), context.arguments.avatar, for_s=context.arguments.for_s)


def _audit(context: Context) -> int:
    from gridagent.cli import records  # noqa: PLC0415 - on use
    from gridagent.cli.remote import Reach, show_audit  # noqa: PLC0415 - on use

    given, out, json = context.arguments, context.stdout, context.json
    if given.verb == "export" and given.file is None:
        raise UsageProblem("audit export: FILE is missing; write it as in: audit export audit.jsonl")
    if given.verb != "export" and given.file is not None:
        raise UsageProblem(f"audit {given.verb}: takes no FILE; only audit export writes one")
    wanted = records.wanted_records(given.avatar, given.since, given.until, given.kind)
    newest = given.since is None and given.until is None and given.kind is None

    def ask(kept: Reach | StoppedDatabase) -> ExitCode:
        if given.verb == "verify":
            return records.check_audit(kept, out=out, json=json)
        if given.verb == "export":
            return records.export_audit(kept, given.file, out=out, json=json)
        if not newest:
            return records.search_audit(kept, wanted, out=out, json=json)
        most = max(1, given.last)
        if isinstance(kept, Reach):
            return show_audit(kept, given.avatar, most)
        return records.newest_audit(kept, wanted, most, out=out, json=json)

    return _kept(context, ask)


def _backup(context: Context) -> int:
    from gridagent.cli.records import back_up  # noqa: PLC0415 - on use

    file = context.arguments.file
    return _kept(context, lambda kept: back_up(kept, file, out=context.stdout, json=context.json))


def _restore(context: Context) -> int:
    from gridagent.cli.restoring import restore_command  # noqa: PLC0415 - on use

    given = context.arguments
    return restore_command(
        context.config, context.environ, given.file, hold=not given.no_hold, out=context.stdout, json=context.json
    )


def _storage(context: Context) -> int:
    from gridagent.cli.records import show_storage  # noqa: PLC0415 - on use

    return show_storage(_reach(context), retry=context.arguments.verb == "retry")


def _grants(context: Context) -> int:
    from gridagent.cli.grants import give_grant, revoke_grant, show_grants  # noqa: PLC0415 - on use

    given = context.arguments
    if given.verb == "list":
        return show_grants(_reach(context), given.avatar)
    if given.what is None:
        what = "the terms as JSON are" if given.verb == "give" else "ID is"
        raise UsageProblem(f"grants {given.verb}: {what} missing; gridagent grants --help has an example")
    order = give_grant if given.verb == "give" else revoke_grant
    return order(_reach(context), given.what, avatar=given.avatar)


def _memory(context: Context) -> int:
    from gridagent.cli import memory  # noqa: PLC0415 - on use

    given, out, json = context.arguments, context.stdout, context.json
    if (given.verb == "export") is (given.file is None):
        what = "FILE is missing" if given.file is None else "takes no FILE; only memory export writes one"
        raise UsageProblem(f"memory {given.verb}: {what}; gridagent memory --help has an example")
    about = memory.About(given.person, given.avatar)

    def ask(kept: Reach | StoppedDatabase) -> ExitCode:
        if given.verb == "export":
            return memory.export_held(kept, about, given.file, out=out, json=json)
        do = memory.show_held if given.verb == "show" else memory.forget_held
        return do(kept, about, out=out, json=json)

    return _kept(context, ask)


def _simulate(context: Context) -> int:
    from gridagent.cli.simulate import simulate_command  # noqa: PLC0415 - on use

    return simulate_command(context.arguments, out=context.stdout, err=context.stderr)


def _policy(context: Context) -> int:
    from gridagent.cli.presets import show_presets  # noqa: PLC0415 - on use

    given = context.arguments
    return show_presets(
        given.preset if given.verb == "show" else None, verb=given.verb, out=context.stdout, json=context.json
    )


def _grid(context: Context) -> int:
    from gridagent.cli.entry_points import COMMANDS, load_entry_point  # noqa: PLC0415 - on use

    serve = cast("Callable[[Sequence[str]], int]", load_entry_point(COMMANDS, "grid", extra="live"))
    try:
        return serve(context.arguments.rest)
    except SystemExit as left:  # argparse leaves so after --help, and from a usage error
        return int(left.code or 0)


_COMMANDS: Final[Mapping[str, Callable[[Context], int]]] = {
    "run": _run,
    "chat": _chat,
    "init": _init,
    "check-config": _check_config,
    "doctor": _doctor,
    "status": _status,
    "approvals": _approvals,
    "watch": _watch,
    "audit": _audit,
    "backup": _backup,
    "restore": _restore,
    "storage": _storage,
    "grants": _grants,
    "memory": _memory,
    "simulate": _simulate,
    "policy": _policy,
    "grid": _grid,
    # Allowing and denying are `approvals allow` and `approvals deny` here.
    **{words.name: _control for words in COMMAND_WORDS if words.name not in {"allow", "deny"}},
}
_LOCAL: Final = frozenset({"run", "chat", "init", "check-config", "doctor", "simulate", "policy", "grid"})
