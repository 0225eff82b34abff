"""The command: ``python -m live_grid.check`` goes through a grid with a test account, one JSON line a step.

Owns the reading of arguments, passwords from files, and what is printed: a command line of its own, so it may use the
terminal. Scripts may rely on the lines, on the names of the steps and on the exit codes: 0 when nothing failed, 1 when
something did, 2 when the command was wrong (Spec: OPS-1, LIV-15).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import trio

from gridagent.config.files import read_file
from gridagent.config.load import secret_from
from gridagent.config.secrets import EndpointUrl, SecretStr, endpoint_problem
from gridagent.errors import ConfigError, OperatorError
from gridagent.limits import SECRET_FILE_MAX_BYTES
from gridagent.runtime.ports import Ports
from gridagent.runtime.system import system_ports
from live_grid.backend import LiveAccount, LiveSettings
from live_grid.check.course import Check
from live_grid.check.plan import Border, Hands, Plan, no_hands
from live_grid.check.steps import STEPS

__all__ = ("main",)

_OK: Final = 0
_FAILED: Final = 1
_USAGE: Final = 2
VERSION: Final = "live check"
_EPILOG: Final = """examples:
  python -m live_grid.check http://127.0.0.1:9000/ --account "Robin Resident" --password-file robin.secret
  python -m live_grid.check … --companion "Sam Second" --companion-password-file sam.secret \\
      --region "North Shore" --other-region "Old Harbour"
  python -m live_grid.check … --border east --hands 300      also walk over a border, and wait for an administrator
  python -m live_grid.check --list                           what the steps are

Passwords are read from files that only you can read (mode 600). Use accounts made for tests: they speak, build and
delete a box, give each other a landmark, and are thrown out if you say so.
"""

T = TypeVar("T")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m live_grid.check",
        description="Go through a grid with a test account, step by step, one JSON line each.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("login_url", nargs="?", metavar="LOGIN-URL", help="where the grid is logged in to")
    parser.add_argument("--account", metavar="'FIRST LAST'", help="who logs in")
    parser.add_argument("--password-file", type=Path, metavar="FILE", help="holds their password, alone on one line")
    parser.add_argument("--companion", metavar="'FIRST LAST'", help="a second account, to talk and to trade with")
    parser.add_argument("--companion-password-file", type=Path, metavar="FILE", help="holds the second password")
    parser.add_argument("--region", default="", metavar="NAME", help="where to begin (default: where you were last)")
    parser.add_argument("--other-region", default="", metavar="NAME", help="where to teleport to, three times and back")
    parser.add_argument(
        "--border", choices=[each.value for each in Border], help="the side on which a region lies to walk into"
    )
    parser.add_argument(
        "--hands",
        type=float,
        metavar="SECONDS",
        help="wait so long for an administrator in the steps that need one; each is asked for by a JSON line",
    )
    parser.add_argument(
        "--step", action="append", default=[], metavar="NAME", help="this step only; may be given again"
    )
    parser.add_argument("--agree-to-terms", action="store_true", help="you have read the grid's terms and accept them")
    parser.add_argument("--allow-plain-http", action="store_true", help="let the login go unencrypted over a network")
    parser.add_argument("--list", action="store_true", help="list the steps and end")
    return parser


def _given(value: T | None, option: str) -> T:
    if value is None:
        raise OperatorError(f"{option} is missing; see: python -m live_grid.check --help")
    return value


def _url(text: str, *, plain: bool) -> str:
    problem = endpoint_problem(text)
    if problem is not None:
        raise OperatorError(f"the login URL {problem}; give one as https://grid.example/ or http://127.0.0.1:9000/")
    url = EndpointUrl(text)
    if not (plain or url.is_encrypted or url.is_loopback):
        raise OperatorError("the login would go unencrypted over a network; add --allow-plain-http if that is meant")
    return text


def _password(file: Path, option: str) -> SecretStr:
    content = read_file(file.absolute(), max_bytes=SECRET_FILE_MAX_BYTES, holds_secret=True, where=option)
    secret = secret_from(content.data)
    if isinstance(secret, SecretStr):
        return secret
    raise OperatorError(f"the file of {option} {secret[0]}; {secret[1]}")


def _account(name: str, file: Path, option: str) -> LiveAccount:
    first, _, last = name.strip().partition(" ")
    return LiveAccount(first_name=first, last_name=last.strip() or "Resident", password=_password(file, option))


def _plan(asked: argparse.Namespace, hands: Hands) -> Plan:
    url = _url(_given(asked.login_url, "LOGIN-URL"), plain=asked.allow_plain_http)
    names = {step.name for step in STEPS}
    unknown = [name for name in asked.step if name not in names]
    if unknown:
        raise OperatorError(f"no step is called {unknown[0]!r}; see: python -m live_grid.check --list")
    companion = None
    if asked.companion is not None:
        file = _given(asked.companion_password_file, "--companion-password-file")
        companion = _account(asked.companion, file, "--companion-password-file")
    file = _given(asked.password_file, "--password-file")
    return Plan(
        account=_account(_given(asked.account, "--account"), file, "--password-file"),
        settings=LiveSettings(login_url=url, version=VERSION, agree_to_terms=asked.agree_to_terms),
        companion=companion,
        region=asked.region,
        other_region=asked.other_region,
        border=None if asked.border is None else Border(asked.border),
        hands=no_hands if asked.hands is None else hands,
        hand_s=asked.hands or 0.0,
        only=frozenset(asked.step),
    )


def _show(line: object) -> None:
    sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
    sys.stdout.flush()


async def _ask(step: str, what: str) -> bool:
    """Ask whoever reads the output for a hand."""
    await trio.lowlevel.checkpoint()
    _show({"step": step, "asks": what})
    return True


async def _check(plan: Plan, ports: Ports) -> bool:
    return await Check(plan, ports=ports, report=_show).run(STEPS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Perform the command.

    Returns:
        The exit code: 0 when nothing failed, 1 when something did, 2 when the command was wrong.
    """
    asked = _parser().parse_args(arguments)
    if asked.list:
        for step in STEPS:
            sys.stdout.write(f"{step.name:<20} {step.says}\n")
        return _OK
    try:
        plan = _plan(asked, _ask)
    except (ConfigError, OperatorError) as error:
        sys.stderr.write(f"live check: {error}\n")
        return _USAGE
    return _OK if trio.run(_check, plan, system_ports()) else _FAILED
