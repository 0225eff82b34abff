"""What ``gridagent doctor`` makes of what it found: values in, findings out.

Owns the bounds and the sentences; looks at nothing by itself, which is `gridagent.cli.doctor`'s part. Pure. Its
invariant: a finding holds no secret, and each warning and problem says what, where and how to mend it (Spec: OPS-1,
CFG-3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import attrs
import msgspec

from gridagent.actions import Capability
from gridagent.authority import Origin, Role
from gridagent.config.files import shown_path
from gridagent.config.model import Backend, Config, LlmProvider
from gridagent.config.policy import Meter
from gridagent.config.secrets import EndpointUrl
from gridagent.errors import ConfigProblem
from gridagent.events import DisconnectCause
from gridagent.policy import Policy

__all__ = (
    "CLOCK_OFF_MAX_S",
    "FILES_EACH_AVATAR",
    "FILES_FOR_SERVICE",
    "SPACE",
    "SPACE_RUNTIME",
    "Directory",
    "Finding",
    "InWorld",
    "Reached",
    "Space",
    "Tried",
    "Unreached",
    "Verdict",
    "check_clock",
    "check_configuration",
    "check_database",
    "check_directory",
    "check_files",
    "check_instance",
    "check_llm",
    "check_login",
    "check_plain_http",
    "check_policy",
    "check_reach",
    "check_roles",
    "last_line",
    "out_of_time",
    "skipped",
    "unknown_instance",
)

_MIB: Final = 1 << 20
CLOCK_OFF_MAX_S: Final = 60.0
"""A clock that is farther off than this from a server's makes times in records and one-time codes wrong."""
FILES_FOR_SERVICE: Final = 64
FILES_EACH_AVATAR: Final = 16
"""Open files and sockets that one avatar may need at one time."""
_SERVER_ERRORS: Final = 500


class Verdict(StrEnum):
    """What a check came to."""

    OK = "ok"
    WARNING = "warning"
    """It runs, and an operator should look at it."""
    PROBLEM = "problem"
    """It will not run, or not as it should."""
    SKIPPED = "skipped"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report."""

    check: str
    verdict: Verdict
    sentence: str


@attrs.frozen
class Space:
    """How much room a directory wants, in bytes."""

    warning_below: int
    problem_below: int


SPACE: Final = Space(1024 * _MIB, 64 * _MIB)
"""Of a directory that grows: the database's and the log's."""
SPACE_RUNTIME: Final = Space(8 * _MIB, _MIB)
"""Of the runtime directory, often a small disk in memory: it holds a few short files."""


@attrs.frozen(kw_only=True)
class Directory:
    """One directory of the service, as it was found."""

    name: str
    key: str
    """Configuration path that moves it."""
    path: Path
    exists: bool = True
    failure: str = ""
    """Why it cannot be used, as the system says it; empty where it can."""
    free_bytes: int = 0
    space: Space = SPACE


@attrs.frozen
class Reached:
    """A server that answered."""

    status: int
    date: float | None
    """Its clock, in Unix seconds, where it told."""


@attrs.frozen
class Unreached:
    """A server that did not, and why."""

    why: str


class InWorld(NamedTuple):
    """A login that got there."""

    region: str


Tried: TypeAlias = InWorld | DisconnectCause | None
"""Where an avatar was, or why it did not get there; None where neither was known in time."""

_WAITS: Final[Mapping[DisconnectCause, str]] = {
    DisconnectCause.MFA_REQUIRED: "the grid wants a one-time code; start the service and give it one with:"
    " gridagent connect --code CODE",
    DisconnectCause.ALREADY_LOGGED_IN: "the grid says that it is logged in already; log it out elsewhere, or wait some"
    " minutes",
    DisconnectCause.MAINTENANCE: "the grid is under maintenance; try again later",
    DisconnectCause.REGION_RESTART: "its region restarts; try again later",
}
"""What passes, or what a running service asks for by itself."""
_WRONG: Final[Mapping[DisconnectCause, str]] = {
    DisconnectCause.BAD_CREDENTIALS: "the grid knows no such name and password; mend first_name, last_name or the file"
    " of password_file",
    DisconnectCause.TERMS_NOT_ACCEPTED: "the grid wants its terms accepted; read them, and set"
    " grid.live.accept_terms to true",
    DisconnectCause.BANNED: "the account is banned or closed; ask the grid's people",
    DisconnectCause.CIRCUIT_LOST: "it logged in, and then the region was not heard; see that a firewall lets UDP out",
    DisconnectCause.LOGIN_FAILED: "the login was not answered, or not in a way that is understood; see that"
    " grid.live.login_url is a login address",
}


def _ok(check: str, sentence: str) -> Finding:
    return Finding(check=check, verdict=Verdict.OK, sentence=sentence)


def _warning(check: str, sentence: str) -> Finding:
    return Finding(check=check, verdict=Verdict.WARNING, sentence=sentence)


def _problem(check: str, sentence: str) -> Finding:
    return Finding(check=check, verdict=Verdict.PROBLEM, sentence=sentence)


def skipped(check: str, sentence: str) -> Finding:
    """Say that a check was left out, and why."""
    return Finding(check=check, verdict=Verdict.SKIPPED, sentence=sentence)


def out_of_time(check: str, what: str, seconds: float) -> Finding:
    """Say that a disk did not answer."""
    return _problem(
        check, f"{what} did not answer within {seconds:g} s; see that its disk works (a network drive may hang)"
    )


def check_configuration(
    source: str, problems: Iterable[ConfigProblem] = (), *, avatars: Iterable[str] = (), where: str = ""
) -> Iterator[Finding]:
    """Say that a configuration can be used, or everything that is wrong with it."""
    found = [_problem("configuration", str(each)) for each in problems]
    yield from found or [
        _ok("configuration", f"{source} can be used: avatars {', '.join(avatars)}, {where}"),
    ]


def check_directory(found: Directory) -> Finding:
    """Say whether a directory can be written, and whether there is room."""
    check = f"{found.name} directory"
    where = shown_path(found.path)
    mend = f"let this user write there, or set {found.key} to another place"
    if found.failure:
        return _problem(check, f"{where} cannot be used ({found.failure}); {mend}")
    room = f"{found.free_bytes // _MIB} MiB free"
    if found.free_bytes < found.space.problem_below:
        return _problem(
            check,
            f"{where} has {room}, and needs {found.space.problem_below // _MIB} MiB;"
            f" free space there, or set {found.key} to another place",
        )
    if found.free_bytes < found.space.warning_below:
        return _warning(
            check,
            f"{where} has {room}, and should have {found.space.warning_below // _MIB} MiB;"
            f" free space there, or set {found.key} to another place",
        )
    return _ok(check, f"{where} can be {'written' if found.exists else 'made'}, {room}")


def check_database(path: Path, *, begun: bool, in_use: bool = False, refused: str = "") -> Finding:
    """Say whether the database can be used.

    Args:
        path: of its file.
        begun: whether there is one.
        in_use: whether a service has it open.
        refused: why it cannot be used, as the storage says it.
    """
    if refused:
        return _problem("database", refused)
    if in_use:
        return _ok("database", f"{shown_path(path)} is in use by a running service, which checked it when it started")
    if not begun:
        return _ok("database", f"there is none that is ready yet; the next start makes or upgrades {shown_path(path)}")
    return _ok("database", f"{shown_path(path)} can be used, and its tables are whole")


def check_instance(holders: Mapping[str, str]) -> Finding:
    """Say whether a service runs.

    Args:
        holders: who holds what, by what it is called.
    """
    if not holders:
        return _ok("instance", "no service runs here")
    held = "; ".join(f"{what} is running, held {who}" for what, who in holders.items())
    return _ok("instance", f"{held}; ask it with: gridagent status")


def unknown_instance(lock: str, why: str) -> Finding:
    """Say that a lock cannot be looked at."""
    return _problem("instance", f"the lock {lock} cannot be looked at ({why}); let this user read it, or remove it")


def check_roles(config: Config) -> Iterator[Finding]:
    """Say which avatars nobody in the world can command."""
    orphans = [key for key, avatar in config.avatars.items() if not (avatar.roles or config.roles).owners]
    if not orphans:
        yield _ok("roles", "every avatar has an owner")
    for key in orphans:
        yield _warning("roles", f"{key} has no owner, so nobody in the world can command it; set roles.owners")


def check_policy(policies: Mapping[str, Policy]) -> Iterator[Finding]:
    """Say which avatars may pay without anybody's yes, or may pay and have nothing to pay with."""
    sound = True
    for key, policy in policies.items():
        doors = [origin.value for origin in Origin if _pays(policy, origin)]
        if not doors or Capability.MONEY in policy.asks:
            continue
        sound = False
        how, mend = "up to its L$ budget", "set policy.approvals.money to required"
        if not policy.budgets.get(Meter.LINDEN):
            how, mend = "with no L$ budget, which counts as zero", f"{mend} and policy.budgets.linden"
        yield _warning(
            "policy", f"{key} may pay (through {', '.join(doors)}) without anybody's approval, {how}; {mend}"
        )
    if sound:
        yield _ok("policy", "no avatar may pay without somebody's approval")


def _pays(policy: Policy, origin: Origin) -> bool:
    """Tell whether somebody but the operator can have L$ paid through a door."""
    return origin is not Origin.OPERATOR_CONSOLE and policy.admits(origin, Capability.MONEY, Role.OWNER)


def check_llm(config: Config) -> Finding:
    """Say whether who thinks goes with where the avatars live."""
    if config.llm.provider is not LlmProvider.OFFLINE:
        return _ok("model", f"{config.llm.endpoint} thinks for the avatars")
    if config.grid.backend is Backend.LIVE:
        return _warning(
            "model",
            "the built-in offline model answers people on a live grid, from a few fixed lines;"
            " set llm.provider and llm.endpoint",
        )
    return _ok("model", "the built-in offline model thinks for the avatars")


def check_plain_http(grid: EndpointUrl | None, model: EndpointUrl | None) -> Iterator[Finding]:
    """Say what leaves this machine unencrypted."""
    sound = True
    for url, key, what in (
        (grid, "grid.live.login_url", "the login, as good as the password"),
        (model, "llm.endpoint", "conversations and the key"),
    ):
        if url is not None and not (url.is_encrypted or url.is_loopback):
            sound = False
            yield _warning(
                "encryption", f"{what}, go to {url} unencrypted; set {key} to an https:// address if there is one"
            )
    if sound:
        yield _ok("encryption", "nothing goes unencrypted to another machine")


def check_files(most: int | None, avatars: int) -> Finding:
    """Say whether enough files and sockets may be open.

    Args:
        most: the process's bound; None where this platform has none.
        avatars: how many there are.
    """
    wanted = FILES_FOR_SERVICE + FILES_EACH_AVATAR * avatars
    if most is None:
        return skipped("open files", "this platform does not say how many files may be open")
    if most < wanted:
        return _problem(
            "open files",
            f"a process here may open {most} files, and {avatars} avatars need {wanted};"
            f" raise it with ulimit -n {wanted}, or LimitNOFILE= in the unit of systemd",
        )
    return _ok("open files", f"{most} may be open, {wanted} are needed")


def check_reach(check: str, url: EndpointUrl, key: str, answer: Reached | Unreached) -> Finding:
    """Say whether a server answers."""
    if isinstance(answer, Unreached):
        return _problem(check, f"{url} cannot be reached: {answer.why}; see that {key} and this machine's network work")
    if answer.status >= _SERVER_ERRORS:
        return _warning(
            check, f"{url} answers, but with status {answer.status}; if avatars cannot use it, ask its people"
        )
    return _ok(check, f"{url} answers")


def check_login(key: str, tried: Tried) -> Finding:
    """Say whether an avatar gets into its grid."""
    match tried:
        case InWorld(region):
            return _ok("login", f"{key} was in {region}, and is logged out again")
        case None:
            return _problem(
                "login", f"{key} was not in the world in time; see that a firewall lets UDP out, or try again"
            )
        case cause if cause in _WAITS:
            return _warning("login", f"{key} does not get in now: {_WAITS[cause]}")
        case cause:
            why = _WRONG.get(cause, f"the connection ended ({cause.value}); try again, then look at the grid")
            return _problem("login", f"{key} does not get in: {why}")


def check_clock(dates: Mapping[str, tuple[float, float]]) -> Finding:
    """Compare this machine's clock with those of servers.

    Args:
        dates: by who told it: their clock, and ours at that moment.
    """
    for who, (theirs, ours) in dates.items():
        off = ours - theirs
        if abs(off) > CLOCK_OFF_MAX_S:
            way = "ahead of" if off > 0 else "behind"
            return _problem(
                "clock",
                f"this machine's clock is {abs(off):.0f} s {way} that of {who}; let it follow a time server"
                " (timedatectl set-ntp true)",
            )
    if not dates:
        return skipped("clock", "no server told its time")
    return _ok("clock", f"it agrees with {', '.join(dates)} within {CLOCK_OFF_MAX_S:.0f} s")


def last_line(findings: Iterable[Finding]) -> str:
    """Count what was found."""
    counts = dict.fromkeys(Verdict, 0)
    for finding in findings:
        counts[finding.verdict] += 1

    def plural(verdict: Verdict) -> str:
        return f"{counts[verdict]} {verdict.value}{'' if counts[verdict] == 1 else 's'}"

    return (
        f"{plural(Verdict.PROBLEM)}, {plural(Verdict.WARNING)}, {counts[Verdict.OK]} ok, "
        f"{counts[Verdict.SKIPPED]} skipped"
    )
