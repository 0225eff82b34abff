"""The command line's grammar: every command with its help and examples.

Owns argparse and nothing else: no command is performed here, and nothing heavy is imported, so that help
and usage errors come at once. Each command's parser sets ``command``, which `gridagent.cli.main` looks up.
Invariant: a wrong command line raises `UsageProblem` with one sentence; every command's help has an example.
"""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from gridagent.cli.init_words import DEFAULT_FILE, INIT_EXAMPLES, INIT_FLAGS, INIT_MORE, INIT_SWITCHES
from gridagent.cli.vocabulary import COMMAND_WORDS, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ("AUDIT_KINDS", "Moment", "build_parser", "duration", "moment")

AUDIT_KINDS: Final = (
    "decision",
    "redeem_refused",
    "approval",
    "grant",
    "settlement",
    "hold",
    "policy",
    "safe_mode",
)
"""As `gridagent.policy.audit.AuditKind` names them; repeated, so that help imports no policy."""

DURATION_MAX_S: Final = 365 * 24 * 3600.0
_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h|d)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def duration(text: str) -> float:
    """Return the seconds of ``20s``, ``2m``, ``1h`` or ``1d``.

    Raises:
        argparse.ArgumentTypeError: it is none of these, zero, or more than a year.
    """
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0.0 < seconds <= DURATION_MAX_S:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no duration; write it as in 20s, 2m or 1h")
    return seconds


_OPTIONS: Final = {"code": "one-time code that the grid asks for; - reads it from standard input"}
_GRANT_EXAMPLE: Final = (
    """grants give '{"principal":{"client":"operator"},"actions":[{"action":"say","text":"Welcome!"}],"""
    """"times":1,"window_s":86400,"valid_s":2592000}'"""
)


class Moment(NamedTuple):
    """A moment of the wall clock, as it was written."""

    seconds: float
    ago: bool

    def at(self, now: float) -> float:
        """Return it in seconds of the wall clock."""
        return now - self.seconds if self.ago else self.seconds


def moment(text: str) -> Moment:
    """Return the moment of ``2h`` (ago), ``2026-11-30`` or ``2026-11-30T19:00`` (UTC unless it says otherwise).

    Raises:
        argparse.ArgumentTypeError: it is none of these.
    """
    if _DURATION.fullmatch(text.strip()):
        return Moment(duration(text), ago=True)
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is no moment; write it as in 2h (ago), 2026-11-30 or 2026-11-30T19:00"
        ) from None
    return Moment((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp(), ago=False)


def _run_for(text: str) -> float | None:
    return None if text == "ever" else duration(text)


def _natural(most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= most):  # noqa: PLR2004 - 2**63
            raise argparse.ArgumentTypeError(f"{text[:40]!r} is no whole number from 0 to {most}")
        return int(text)

    return parse


class _Parser(argparse.ArgumentParser):
    """argparse that raises one sentence instead of printing usage and leaving."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong.

        Raises:
            UsageProblem: always.
        """
        raise UsageProblem(f"{message}; see: {self.prog} --help")

    def parse_known_args(  # type: ignore[override]  # the namespace is always the plain one here
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Read arguments; those of a command that has a grammar of its own are taken as they are."""
        if self.get_default("rest") is None:
            return super().parse_known_args(args, namespace)
        return argparse.Namespace(command=self.get_default("command"), rest=tuple(args or ())), []


def build_parser(version: str) -> argparse.ArgumentParser:
    """Return the whole grammar."""
    top = _Parser(
        prog="gridagent",
        description="A supervised avatar for Second Life and OpenSimulator grids; offline in a simulated one.",
        epilog=_examples(
            "gridagent run                  # watch the built-in avatar in the simulated plaza",
            "gridagent run --for 20s --json # the same for a program",
            "gridagent chat                 # walk up to it and talk",
            "gridagent say hello            # from another terminal, to the running service",
            "gridagent hold                 # the kill switch",
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("-V", "--version", action="version", version=f"gridagent {version}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_chat(commands)
    _add_init(commands)
    _add_check(commands)
    _add_doctor(commands)
    _add_status(commands)
    _add_controls(commands)
    _add_approvals(commands)
    _add_watch(commands)
    _add_audit(commands)
    _add_backup(commands)
    _add_restore(commands)
    _add_storage(commands)
    _add_grants(commands)
    _add_memory(commands)
    _add_simulate(commands)
    _add_policy(commands)
    _add_grid(commands)
    return top


def _examples(*lines: str) -> str:
    return "examples:\n" + "\n".join(f"  {line}" for line in lines)


_Commands = argparse._SubParsersAction  # noqa: SLF001 - argparse gives the type of its own no public name


def _command(
    commands: _Commands[_Parser], name: str, help_: str, examples: Sequence[str], *, more: str = ""
) -> argparse.ArgumentParser:
    sentence = f"{help_[:1].upper()}{help_[1:]}."
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help_,
        description=f"{sentence}\n{more}".rstrip(),
        epilog=_examples(*(f"gridagent {each}" for each in examples)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=name)
    return parser


def _add_json(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--json", action="store_true", help=f"print {what}, for programs")


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="configuration file (or the variable GRIDAGENT_CONFIG)"
    )


def _add_reach(parser: argparse.ArgumentParser) -> None:
    """Add how a command finds the running service."""
    _add_config(parser)
    parser.add_argument(
        "--runtime-dir",
        type=Path,
        metavar="DIR",
        help="runtime directory of the service, whatever the configuration says",
    )


def _add_avatar(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--avatar", metavar="KEY", help="which avatar, where the service has several")


def _add_run(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "run",
        "run the avatars in the foreground",
        (
            "run",
            "run --config config.json",
            "run --scenario plaza-8 --seed 7 --for 2m",
            "run --json --for 20s > observations.jsonl",
            "echo 'say hi' | gridagent run --for 20s",
        ),
        more="On a terminal it shows a live view and takes typed lines ('help' lists them).\n"
        "Without a terminal and without --for it runs 60 s.",
    )
    _add_config(parser)
    parser.add_argument("--scenario", metavar="S", help="name of a built-in scenario, or path of a file")
    parser.add_argument("--seed", type=_natural(2**63 - 1), metavar="N", help="the same seed gives the same world")
    parser.add_argument(
        "--for",
        dest="for_s",
        type=_run_for,
        metavar="DURATION",
        default=0.0,
        help="20s, 2m, 1h, or 'ever': then stop in order",
    )
    parser.add_argument("--plain", action="store_true", help="print lines instead of a picture, also on a terminal")
    parser.add_argument(
        "--metrics", metavar="FILE", help="keep what the service counts in FILE, as Prometheus' text, for a collector"
    )
    _add_json(parser, "one observation a line and nothing else")


def _add_chat(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "chat",
        "walk up to the avatar in the simulated plaza and talk to it",
        (
            "chat",
            "chat --config config.json",
            "chat --script visit.txt",
            "chat --script visit.txt --json > events.jsonl",
        ),
        more="Type what you want to say; /help lists what else there is. Nobody else says anything there.\n"
        "A script has one such line each; with the built-in model it runs in virtual time, the same each time.",
    )
    _add_config(parser)
    parser.add_argument("--scenario", metavar="S", help="name of a built-in scenario, or path of a file")
    parser.add_argument("--seed", type=_natural(2**63 - 1), metavar="N", help="the same seed gives the same world")
    parser.add_argument("--script", type=Path, metavar="FILE", help="lines to type, one after the other")
    _add_json(parser, "one event a line and nothing else")


def _add_init(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands, "init", "ask a few questions and write a working configuration", INIT_EXAMPLES, more=INIT_MORE
    )
    parser.add_argument("file", nargs="?", type=Path, default=Path(DEFAULT_FILE), metavar="FILE", help=DEFAULT_FILE)
    for flag in INIT_FLAGS:
        parser.add_argument(f"--{flag.name}", metavar=flag.metavar, help=flag.help)
    for name, help_ in INIT_SWITCHES:
        parser.add_argument(f"--{name}", action="store_true", help=help_)
    _add_json(parser, "one object with file, secrets, avatars, grid, notes and next")


def _add_check(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "check-config",
        "check a configuration file without running it, offline",
        ("check-config config.json", "check-config --json config.json"),
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    _add_json(parser, "one object with ok, problems and notes")


def _add_doctor(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "doctor",
        "check the machine, the configuration, and the servers that it names",
        ("doctor --config config.json", "doctor --config config.json --live-check", "doctor --json | grep problem"),
        more="Changes nothing, and logs nobody in without --live-check. Exit code 10 where a check found a problem.",
    )
    _add_config(parser)
    parser.add_argument("--live-check", action="store_true", help="log each avatar of a live grid in and out once")
    _add_json(parser, "one object a check: check, verdict, sentence")


def _add_status(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands, "status", "show how every avatar of the running service is", ("status", "status --json")
    )
    _add_reach(parser)
    _add_avatar(parser)
    _add_json(parser, "one status a line")


def _add_controls(commands: _Commands[_Parser]) -> None:
    for words in COMMAND_WORDS:
        if words.name in {"allow", "deny"}:
            continue  # they are `approvals allow` and `approvals deny`
        parser = _command(commands, words.name, words.help, (words.example,))
        if words.argument == "TEXT":
            parser.add_argument("argument", metavar="TEXT", nargs="+")
        else:
            for name in words.argument.split():
                parser.add_argument("argument", metavar=name, nargs=1, action="extend")
        if words.option:
            parser.add_argument(f"--{words.option}", metavar=words.option.upper(), help=_OPTIONS[words.option])
        _add_reach(parser)
        _add_avatar(parser)
        parser.add_argument("--all", action="store_true", help="every avatar of the service")
        _add_json(parser, "one answer a line")


def _add_approvals(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "approvals",
        "list what waits for an answer, or answer it",
        ("approvals", "approvals allow 0f3a", "approvals deny 0f3a --avatar robin"),
    )
    parser.add_argument("verb", nargs="?", choices=("list", "allow", "deny"), default="list")
    parser.add_argument("id", nargs="?", metavar="ID")
    _add_reach(parser)
    _add_avatar(parser)
    _add_json(parser, "one approval or answer a line")


def _add_watch(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "watch",
        "show what happens in the running service, until it stops or Ctrl-C",
        ("watch", "watch --avatar robin", "watch --json | grep denied"),
    )
    _add_reach(parser)
    _add_avatar(parser)
    parser.add_argument("--for", dest="for_s", type=duration, metavar="DURATION", help="leave after 20s, 2m, 1h")
    _add_json(parser, "one observation a line")


def _add_audit(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "audit",
        "show decisions and outcomes, check that none was changed, or export them",
        (
            "audit",
            "audit --last 100 --json",
            "audit --since 2h --avatar robin --kind settlement",
            "audit --since 2026-11-30 --until 2026-12-01 --json",
            "audit verify",
            "audit export audit-2026.jsonl",
        ),
        more="Asks the running service; where none runs, it reads the database and changes nothing.",
    )
    parser.add_argument("verb", nargs="?", choices=("show", "verify", "export"), default="show")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="where export writes; it must not exist")
    _add_reach(parser)
    _add_avatar(parser)
    parser.add_argument("--last", type=_natural(4096), default=20, metavar="N", help="how many of the newest (20)")
    parser.add_argument("--since", type=moment, metavar="WHEN", help="2h (ago), 2026-11-30 or 2026-11-30T19:00, in UTC")
    parser.add_argument("--until", type=moment, metavar="WHEN", help="the same; this moment excluded")
    parser.add_argument("--kind", choices=AUDIT_KINDS, metavar="KIND", help=f"one of: {', '.join(AUDIT_KINDS)}")
    _add_json(parser, "one record a line")


def _add_backup(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "backup",
        "copy the database to a new file, while the service runs or when it is stopped",
        ("backup /var/backups/gridagent-2026-11-30.db",),
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="it must not exist")
    _add_reach(parser)
    _add_json(parser, "one object: file, bytes, effects, audit_rows")


def _add_restore(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "restore",
        "put a backup in the place of the database; the service must be stopped",
        ("restore /var/backups/gridagent-2026-11-30.db",),
        more="Checks the backup first, its audit trail included, and keeps what was there under another name. Every\n"
        "avatar is held afterwards, since a backup knows nothing of what was paid since: gridagent release.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the backup; it stays as it is")
    parser.add_argument("--no-hold", action="store_true", help="let the avatars act as soon as the service starts")
    _add_config(parser)
    _add_json(parser, "one object: file, backup, aside, effects, audit_rows, in_doubt, held")


def _add_storage(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "storage",
        "show how storage is, or leave safe mode by trying it anew",
        ("storage", "storage retry"),
    )
    parser.add_argument("verb", nargs="?", choices=("show", "retry"), default="show")
    _add_reach(parser)
    _add_json(parser, "one object")


def _add_grants(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "grants",
        "list what may recur without being asked for again, allow more of it, or take it back",
        (
            "grants",
            _GRANT_EXAMPLE,
            "grants revoke 0f3a",
        ),
    )
    parser.add_argument("verb", nargs="?", choices=("list", "give", "revoke"), default="list")
    parser.add_argument("what", nargs="?", metavar="JSON|ID", help="the terms to give, or the grant to take back")
    _add_reach(parser)
    _add_avatar(parser)
    _add_json(parser, "one grant or answer a line")


def _add_memory(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "memory",
        "show, export or forget what is remembered of a person",
        (
            "memory show 5eed0000-0000-4000-8000-000000000001",
            "memory export 5eed0000-0000-4000-8000-000000000001 olive.jsonl",
            "memory forget 5eed0000-0000-4000-8000-000000000001 --avatar robin",
        ),
        more="Asks the running service; where none runs, show and export read the database. Without --avatar it is\n"
        "about every avatar of the service.",
    )
    parser.add_argument("verb", choices=("show", "export", "forget"))
    parser.add_argument("person", metavar="UUID", help="of the person, in the grid")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="where export writes; it must not exist")
    _add_reach(parser)
    _add_avatar(parser)
    _add_json(parser, "one thing remembered a line, or one object")


def _add_simulate(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "simulate",
        "run the whole service under faults in simulated time, and judge it",
        ("simulate --seeds 4 --hours 1", "simulate --scenario plaza-8 --seeds 2 --hours 24 --verify --json"),
    )
    parser.add_argument("--scenario", metavar="S", help="name of a built-in scenario, or path of a file")
    parser.add_argument("--seeds", type=_natural(1_000_000), default=1, metavar="N", help="how many seeds (1)")
    parser.add_argument(
        "--first-seed",
        type=_natural(2**53),
        default=0,
        metavar="N",
        help="number of the first one (0)",
    )
    parser.add_argument("--hours", type=float, default=1.0, metavar="H", help="simulated hours for each seed (1)")
    parser.add_argument(
        "--verify", action="store_true", help="run each seed in two fresh processes and compare their step hashes"
    )
    parser.add_argument("--strict", action="store_true", help="fail when one of the faults never happened")
    parser.add_argument(
        "--no-crashes",
        action="store_true",
        help="keep nothing on a disk, and crash never: twice as fast",
    )
    _add_json(parser, "one JSON object a seed, and one for all of them last")


def _add_policy(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "policy",
        "show a policy preset on one screen, in the form a configuration has",
        ("policy show guide", "policy show base", "policy list"),
    )
    parser.add_argument("verb", choices=("show", "list"))
    parser.add_argument(
        "preset", nargs="?", metavar="PRESET", help="observer, greeter, guide, shopkeeper, builder, or base"
    )
    _add_json(parser, "the preset with everything it stands on")


def _add_grid(commands: _Commands[_Parser]) -> None:
    parser = _command(
        commands,
        "grid",
        "serve a simulated grid on this machine, as a real one would be served",
        ("grid --scenario two-regions --port 9000", "grid --fault datagram_lost=0.05", "grid --help"),
        more="Viewers and bots log in to it; it has a grammar and a help of its own.",
    )
    parser.set_defaults(rest=())
